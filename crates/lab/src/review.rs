//! Reviews of whole games in a file: what each player's decisions lost, the luck of each, and the worst moves.

use crate::own_games;
use crate::pairing::luck_of;
use adept_arena::OpenError;
use adept_arena::review::{Account, Reviewed, review};
use adept_game::{GameError, Kit, WholeGame};
use adept_ground::jobs;
use adept_ground::order::sort_by_highest;
use adept_ground::work;
use adept_model::{ModelError, names};
use adept_trainer::run::{Cancel, TrainError};
use serde::Serialize;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What to review, and how.
#[derive(Clone, Debug)]
pub struct ReviewOptions {
    /// A file of whole games in the usual format of the game.
    pub file: PathBuf,
    /// The agent whose values count: a checkpoint, a search, or a valuation.
    pub agent: String,
    /// Whether it is the best checkpoint of a run in place of the latest.
    pub best: bool,
    /// Only this player; all if none.
    pub player: Option<String>,
    /// Worst moves to keep.
    pub worst: usize,
    /// Threads; all cores if 0.
    pub threads: usize,
}

/// Decisions of a player, or of all together. Losses are in the unit of the game, otherwise utility.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Decisions {
    /// Decisions with more than one move.
    pub decisions: u64,
    /// Mean value that they lost.
    pub loss_per_decision: f64,
    /// Share of those that lost anything.
    pub wrong_share: f64,
}

/// A player's games.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlayerReview {
    /// The name.
    pub name: String,
    /// Games.
    pub games: u64,
    /// The decisions.
    #[serde(flatten)]
    pub decisions: Decisions,
    /// Sum of the luck of all rolls, in the unit of the game.
    pub luck: f64,
    /// Games with a result.
    pub results: u64,
    /// Sum of these results, with no cube.
    pub result: f64,
    /// Sum of these results less the luck of these games.
    pub adjusted: f64,
}

/// A move that lost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Worst {
    /// Number of the game in the file.
    pub game: usize,
    /// Number of the move in the game.
    #[serde(rename = "move")]
    pub number: u64,
    /// Name of the player.
    pub player: String,
    /// The position before it, with the roll.
    pub position: String,
    /// What was played.
    pub played: String,
    /// The best move.
    pub best: String,
    /// What it lost, in the unit of the game.
    pub loss: f64,
}

/// A reviewed file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Review {
    /// The file.
    pub file: PathBuf,
    /// Rule set.
    pub game: String,
    /// The agent whose values count.
    pub by: String,
    /// The unit, such as points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Cow<'static, str>>,
    /// Games that were reviewed.
    pub games: usize,
    /// The players, as the file names them first.
    pub players: Vec<PlayerReview>,
    /// The decisions of these players.
    pub total: Decisions,
    /// The moves that lost most, the worst first.
    pub worst: Vec<Worst>,
    /// Whether all games were reviewed.
    pub finished: bool,
}

/// Most players that an error names.
const NAMED: usize = 20;

/// Games per task. An agent that looks ahead keeps what it found, so tasks do not depend on threads.
const CHUNK: usize = 4;

/// The names of the players of a game; equal ones are told apart.
fn names_of<A>(game: &WholeGame<A>) -> [Cow<'_, str>; 2] {
    match &game.names[..] {
        [first, second] if first.is_empty() || second.is_empty() => {
            let named = |name: &'_ str, seat| {
                if name.is_empty() { format!("player {seat}") } else { name.to_string() }
            };
            [named(first, 1).into(), named(second, 2).into()]
        }
        [first, second] if first == second => [first.into(), format!("{second} (2)").into()],
        [first, second] => [first.into(), second.into()],
        _ => ["player 1".into(), "player 2".into()],
    }
}

/// Reviews the games of a file.
///
/// # Errors
/// If the game has no files of whole games that can be read, the file is wrong, the agent has no values, or nobody has the name.
pub fn review_of<G: Kit>(game: &G, options: &ReviewOptions, cancel: &Cancel) -> Result<Review, TrainError> {
    let none = || GameError::new(format!("{}: files of whole games cannot be read", game.name()));
    let open = || -> Result<_, OpenError> {
        let luck = luck_of(game, &options.agent, options.best)?;
        Ok((own_games::evaluator(game, &options.agent, options.best)?, luck))
    };
    let games = game.read_histories(&options.file).ok_or_else(none)??;
    if games.is_empty() {
        return Err(GameError::new(format!("{}: has no games", options.file.display())).into());
    }
    let mut players: Vec<(String, u64, Account)> = Vec::new();
    let mut known = |name: &str| match players.iter().position(|(known, ..)| known == name) {
        Some(i) => i,
        None => {
            players.push((name.into(), 0, Account::default()));
            players.len() - 1
        }
    };
    let seats: Vec<[usize; 2]> = games.iter().map(|game| names_of(game).map(|name| known(&name))).collect();
    let wanted = options.player.as_ref().map(|name| {
        let all: Vec<&str> = players.iter().map(|(known, ..)| &**known).collect();
        let found = all.iter().position(|known| known == name);
        found.ok_or_else(|| {
            let hint = match names::nearest(name, &all) {
                Some(near) => format!("; did you mean `{near}`?"),
                None => String::new(),
            };
            let all: Vec<&str> = all.iter().copied().take(NAMED).collect();
            let message = format!("no player is named `{name}`; players are {}{hint}", all.join(", "));
            GameError::new(format!("{}: {message}", options.file.display()))
        })
    });
    let wanted = wanted.transpose()?;
    // Before threads begin, so that a valuation is solved once.
    open()?;
    let all: usize = games.iter().map(|game| game.actions.len()).sum();
    let what = match games.len() {
        1 => "reviewing a game".to_string(),
        n => format!("reviewing {n} games"),
    };
    let done = AtomicUsize::new(0);
    work::share(&what, 0.0);
    let step = || {
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(64) {
            work::share(&what, done as f64 / all as f64);
        }
        cancel.requested()
    };
    let task =
        |(chunk, games): (usize, &[WholeGame<G::Action>])| -> Result<Vec<Option<Reviewed>>, TrainError> {
            if cancel.requested() {
                return Ok(vec![None; games.len()]);
            }
            let (mut values, mut luck) = open()?;
            let one = |(i, whole): (usize, &WholeGame<G::Action>)| {
                let most = if wanted.is_none() { options.worst } else { usize::MAX };
                let mut found = review(game, whole, (&mut *values, &mut luck), most, step);
                if let (Ok(Some(found)), Some(wanted)) = (&mut found, wanted) {
                    found.slips.retain(|slip| seats[chunk * CHUNK + i][slip.player] == wanted);
                    found.slips.truncate(options.worst);
                }
                let named = |e: GameError| GameError::new(format!("game {}: {e}", chunk * CHUNK + i + 1));
                Ok(found.map_err(named)?)
            };
            games.iter().enumerate().map(one).collect()
        };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build();
    let pool = pool.map_err(|e| ModelError::Unsupported(format!("threads: {e}")))?;
    let found = jobs::try_all(Some(&pool), games.chunks(CHUNK).enumerate(), &task)?;
    let found: Vec<Option<Reviewed>> = found.into_iter().flatten().collect();
    work::share(&what, 1.0);
    let is_wanted = |player: usize| wanted.is_none_or(|wanted| wanted == player);
    let unit = game.unit();
    let size = unit.as_ref().map_or(1.0, |unit| unit.size);
    let mut worst = Vec::new();
    for (i, (reviewed, seats)) in found.iter().zip(&seats).enumerate() {
        let Some(reviewed) = reviewed else { continue };
        for (account, &player) in reviewed.players.iter().zip(seats) {
            players[player].1 += 1;
            players[player].2 = players[player].2.and(*account);
        }
        worst.extend(reviewed.slips.iter().filter(|slip| is_wanted(seats[slip.player])).map(|slip| Worst {
            game: i + 1,
            number: slip.number,
            player: players[seats[slip.player]].0.clone(),
            position: slip.position.clone(),
            played: slip.played.clone(),
            best: slip.best.clone(),
            loss: slip.loss / size,
        }));
    }
    sort_by_highest(&mut worst, &|slip| slip.loss);
    worst.truncate(options.worst);
    let decisions = |account: &Account| Decisions {
        decisions: account.decisions,
        loss_per_decision: account.loss / size / account.decisions.max(1) as f64,
        wrong_share: account.wrong as f64 / account.decisions.max(1) as f64,
    };
    let shown = || players.iter().enumerate().filter(|(i, _)| is_wanted(*i)).map(|(_, player)| player);
    Ok(Review {
        file: options.file.clone(),
        game: game.name().into(),
        by: options.agent.clone(),
        games: found.iter().flatten().count(),
        total: decisions(&shown().fold(Account::default(), |sum, (.., account)| sum.and(*account))),
        players: shown()
            .map(|(name, games, account)| PlayerReview {
                name: name.clone(),
                games: *games,
                decisions: decisions(account),
                luck: account.luck / size,
                results: account.games,
                result: account.result / size,
                adjusted: account.adjusted / size,
            })
            .collect(),
        unit: unit.map(|unit| unit.name),
        worst,
        finished: found.iter().all(Option::is_some),
    })
}
