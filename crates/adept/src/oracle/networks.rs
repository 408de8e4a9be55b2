//! Networks whose estimates `oracle cube` measures.

use adept_arena::{GameModel, Pool, naming, open};
use adept_builtin::backgammon::cube::study::{Estimate, Estimator};
use adept_builtin::backgammon::cube::{CLASSES, Chances};
use adept_builtin::backgammon::{Backgammon, Position, Rules, Stage, Stakes, State};
use adept_builtin::bearoff::two_sided::CubeEquities;
use adept_game::{Game, GameError};
use adept_model::checkpoint;
use anyhow::{Result, bail};
use std::path::Path;

/// What a network estimates of positions for the side to roll.
type OfPositions<'a> = Estimate<'a, Position, GameError>;

/// Opens the network of a checkpoint or run: one of this game with probabilities of its six results, or one of the game with the cube,
/// with or without the Jacoby rule, whose values are equities.
pub(super) fn estimator<'a>(
    game: &'a Backgammon,
    jacoby: bool,
    name: &str,
) -> Result<Estimator<'a, Position, GameError>> {
    let folder = naming::checkpoint_at(game, name, "a network")?;
    let learned = checkpoint::manifest(&checkpoint::locate(&folder, false)?)?.game;
    let short = Path::new(name).file_name().map_or(name.into(), |name| name.to_string_lossy().into_owned());
    let with_cube = Backgammon::with_rules(game.checkers(), Rules::Money { jacoby, beavers: false });
    let estimate = match with_cube {
        Some(money) if money.name() == learned => {
            let (network, _) = open::open(&money, &folder, false)?;
            if !network.encoder().derives() {
                bail!(
                    "`{name}`: its encoder `{}` does not see the owner of the cube",
                    network.encoder().name()
                );
            }
            equities(money, network)?
        }
        _ => chances(game, name, open::open(game, &folder, false)?.0)?,
    };
    Ok(Estimator { name: short, estimate })
}

/// The chances that a network with six classes gives.
fn chances<'a>(game: &'a Backgammon, name: &str, network: GameModel<Backgammon>) -> Result<OfPositions<'a>> {
    let classes = network.model.head().classes().unwrap_or_default();
    if !classes.iter().map(|class| &*class.name).eq(CLASSES) {
        bail!(
            "`{name}` has no probabilities of the six results, from which models of the cube compute equities: take a network with \
             `head = \"outcomes\"`, or one that has learned the game with the cube"
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

/// The equities that a network of a money game with the cube gives: the values of positions before the roll, for each owner of the cube.
fn equities<'a>(game: Backgammon, network: GameModel<Backgammon>) -> Result<OfPositions<'a>> {
    // In the middle, of the side to roll, of its opponent.
    let stakes = [(1, None), (2, Some(0)), (2, Some(1))]
        .map(|(cube, owner)| Stakes::new(cube, owner, [0; 2], false).map_err(anyhow::Error::msg));
    let [centred, own, theirs] = stakes;
    let stakes = [centred?, own?, theirs?];
    let networks = Pool::new(&game, network, |network| network)?;
    let equities = move |positions: &[Position]| -> Result<Vec<CubeEquities>, GameError> {
        let of = |&position: &Position| {
            stakes.map(|stakes| State { stage: Stage::Roll, stakes, ..State::to_roll(position) })
        };
        let states: Vec<State> = positions.iter().flat_map(of).collect();
        let (mut values, mut outcomes) = (Vec::new(), Vec::new());
        networks
            .with(&game, |network| network.afterstates(&game, &states, &mut values, &mut outcomes))
            .map_err(|error| GameError::new(error.to_string()))?;
        // Values are those of the side that has just moved, as a share of the most points.
        let points = |(value, state): (&f32, &State)| {
            -f64::from(*value) * game.scale() / f64::from(state.stakes.cube())
        };
        let points: Vec<f64> = values.iter().zip(&states).map(points).collect();
        Ok(points.as_chunks().0.iter().map(|&rolled| CubeEquities::new(rolled)).collect())
    };
    Ok(Estimate::Equities(Box::new(equities)))
}
