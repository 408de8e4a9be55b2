//! Measurements by play: games against opponents, and exploitability.

use adept_arena::cfr::{Decisions, Policy};
use adept_arena::matches::{Deals, Tally, compete_from, opening_plies, orders};
use adept_arena::search::{Search, SearchOptions};
use adept_arena::{Agent, Boltzmann, Evaluator, GameModel, Greedy, OpenError, open};
use adept_game::{Kit, Unit};
use adept_ground::work;
use adept_model::Head;
use adept_model::checkpoint::Manifest;
use adept_trainer::config::Config;
use adept_trainer::run::{Cancel, Match, TrainError};
use serde::Serialize;
use std::path::Path;

/// Results of games against opponents. The top-level figures are for the first one.
#[derive(Debug, Serialize)]
pub struct MatchesReport {
    /// The first opponent, and the result against it.
    #[serde(flatten)]
    pub first: Match,
    /// All opponents.
    pub opponents: Vec<Match>,
}

/// Gains of best responses.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ExploitabilityReport {
    /// (br₀ + br₁) / 2, in units of utility.
    pub exploitability: f64,
    /// Expected utility of player 0 if the checkpoint plays itself.
    pub value: f64,
    /// The exploitability of uniformly random play.
    pub random: f64,
    /// Number of decision points of both players.
    pub decisions: usize,
}

/// Plays against each opponent, which takes all other seats. The checkpoint takes every seat in turn, with the same
/// dice.
pub(super) fn matches<G: Kit>(
    game: &G,
    path: &Path,
    search: Option<&SearchOptions>,
    opponents: &[String],
    games: u64,
    cancel: &Cancel,
) -> Result<MatchesReport, TrainError> {
    let others = game.players() - 1;
    let least = Unit::least_games(game.players() as u64);
    if game.counting().unit().is_some() && games < least {
        return Err(TrainError::Suite(format!("measure at least {least} games, two deals in each seat")));
    }
    let play = |against: &String| -> Result<Match, OpenError> {
        let make = || Ok::<_, OpenError>(vec![player(game, path, search)?, open::agent(game, against)?]);
        let orders = orders(&[1, others]);
        let random_plies = opening_plies(game, &mut make()?, &orders[0], 1)?;
        let deals = Deals { seed: 1, random_plies };
        let make = || make().map(Into::into);
        let what = format!("playing games against {against}");
        let mut report = |tally: &Tally| {
            work::share(&what, tally.games as f64 / games.max(1) as f64);
            Ok(())
        };
        let (none, stop) = (Tally::new(2), || cancel.requested());
        let tally = compete_from(game, &make, &orders, games, deals, none, &stop, &mut report)?;
        work::share(&what, 1.0);
        Ok(Match::of(game, against, &tally, random_plies))
    };
    let all = opponents.iter().map(play).collect::<Result<Vec<_>, _>>()?;
    if cancel.requested() {
        return Err(TrainError::Suite("stopped before all games were played".into()));
    }
    Ok(MatchesReport { first: all[0].clone(), opponents: all })
}

/// The checkpoint as an agent that plays as its run measured it.
fn player<G: Kit>(
    game: &G,
    path: &Path,
    search: Option<&SearchOptions>,
) -> Result<Box<dyn Agent<G>>, OpenError> {
    let (bound, manifest) = open::open(game, path, false)?;
    if let Some(options) = search {
        let values: Box<dyn Evaluator<G>> = Box::new(bound);
        return Ok(Box::new(Greedy::new(Search::new(game, values, options.clone()))));
    }
    Ok(match temperature(&manifest) {
        Some(temperature) => Box::new(Boltzmann::new(bound, temperature)),
        None => Box::new(Greedy::new(bound)),
    })
}

/// Temperature of play at the checkpoint's step of the run; `None` for greedy play.
fn temperature(manifest: &Manifest) -> Option<f64> {
    match (Config::from_saved(manifest.config.clone()), &manifest.head) {
        (Ok(config), _) => config.learn.plays_at(manifest.step as f64 / config.learn.length().max(1) as f64),
        (_, Head::Policy) => Some(1.0),
        (_, Head::Value | Head::Outcomes(_)) => None,
    }
}

/// Computes the gains of best responses against the checkpoint.
pub(super) fn exploitability<G: Kit>(
    game: &G,
    bound: &mut GameModel<G>,
    manifest: &Manifest,
) -> Result<ExploitabilityReport, TrainError> {
    let decisions = Decisions::of(game, &**bound.encoder())?;
    let mut values = Vec::new();
    bound.model.evaluate(decisions.rows(), &mut values);
    let policy = decisions.play(&values, temperature(manifest));
    Ok(ExploitabilityReport {
        exploitability: policy.exploitability(),
        value: policy.value(),
        random: Policy::uniform(decisions.tree()).exploitability(),
        decisions: decisions.len(),
    })
}
