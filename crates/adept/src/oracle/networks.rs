//! Networks whose estimates `oracle cube` measures.

use adept_arena::{GameModel, Pool, naming, open};
use adept_builtin::backgammon::cube::study::{Estimate, Estimator};
use adept_builtin::backgammon::cube::{CLASSES, Chances};
use adept_builtin::backgammon::{Backgammon, Position, State};
use adept_game::GameError;
use anyhow::{Result, bail};
use std::path::Path;

/// Opens the network of a checkpoint or run.
pub(super) fn estimator<'a>(game: &'a Backgammon, name: &str) -> Result<Estimator<'a, Position, GameError>> {
    let folder = naming::checkpoint_at(game, name, "a network")?;
    let (network, _) = open::open(game, &folder, false)?;
    let short = Path::new(name).file_name().map_or(name.into(), |name| name.to_string_lossy().into_owned());
    Ok(Estimator { name: short, estimate: estimate(game, name, network)? })
}

/// The estimates of a network, by what its outputs mean.
fn estimate<'a>(
    game: &'a Backgammon,
    name: &str,
    network: GameModel<Backgammon>,
) -> Result<Estimate<'a, Position, GameError>> {
    let classes = network.model.head().classes().unwrap_or_default();
    if !classes.iter().map(|class| &*class.name).eq(CLASSES) {
        bail!(
            "`{name}` has no probabilities of the six results, from which models of the cube compute equities: take a network with \
             `head = \"outcomes\"`"
        );
    }
    let networks = Pool::new(game, network, |network| network)?;
    let chances = move |positions: &[Position]| -> Result<Vec<Chances>, GameError> {
        let states: Vec<State> = positions.iter().map(|&position| State::to_roll(position)).collect();
        let (mut values, mut outcomes) = (Vec::new(), Vec::new());
        networks
            .with(game, |network| network.afterstates(game, &states, &mut values, &mut outcomes))
            .map_err(|error| GameError::new(error.to_string()))?;
        // Networks take the view of the side that has just moved.
        let of = |p: &[f32; CLASSES.len()]| Chances::of_classes(p.map(f64::from)).other();
        Ok(outcomes.as_chunks().0.iter().map(of).collect())
    };
    Ok(Estimate::Chances(Box::new(chances)))
}
