//! Reviews of recorded games: each player's losses and luck, and the worst moves.

use adept_arena::naming::{self, Judge};
pub use adept_arena::review::Depths;
use adept_arena::review::{Account, CI95, Reviewed, review};
use adept_game::{GameError, Kit, WholeGame};
use adept_ground::jobs;
use adept_ground::order::sort_by_highest;
use adept_ground::shown::clipped;
use adept_ground::work;
use adept_model::{ModelError, names};
use adept_trainer::run::{Cancel, TrainError};
use rustc_hash::FxHashSet;
use serde::Serialize;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Options of a review.
#[derive(Clone, Debug)]
pub struct ReviewOptions {
    /// Files of whole games in the game's usual format, and folders of such files.
    pub files: Vec<PathBuf>,
    /// The agent whose values define losses: a checkpoint, a search, or a valuation.
    pub agent: String,
    /// Whether to use the best checkpoint of a run instead of the latest.
    pub best: bool,
    /// Reviews only this player; all if none.
    pub player: Option<String>,
    /// Number of worst moves to keep.
    pub worst: usize,
    /// Number of threads; 0 for all cores.
    pub threads: usize,
}

/// Decision statistics of one or all players. Losses are in the unit of the game, otherwise utility.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Decisions {
    /// Number of decisions with more than one move.
    pub decisions: u64,
    /// Mean loss per decision.
    pub loss_per_decision: f64,
    /// Half the width of its 95 % interval, if the values are estimates from samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_ci95: Option<f64>,
    /// Share of decisions with a loss beyond the error of the estimates.
    pub wrong_share: f64,
    /// Share of decisions with a loss within the error of the estimates.
    pub undecided_share: f64,
}

/// Results of one player.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlayerReview {
    /// The name.
    pub name: String,
    /// Number of games.
    pub games: u64,
    /// Decision statistics.
    #[serde(flatten)]
    pub decisions: Decisions,
    /// Sum of the luck of all rolls, in the unit of the game.
    pub luck: f64,
    /// Half the width of its 95 % interval, if the values are estimates from samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub luck_ci95: Option<f64>,
    /// Number of games with a result.
    pub results: u64,
    /// Sum of these results. Rule sets without the cube leave it out; a game of a match counts its share of the match.
    pub result: f64,
    /// Sum of these results minus the luck of these games.
    pub adjusted: f64,
}

/// A losing move.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Worst {
    /// The file.
    pub file: PathBuf,
    /// Index of the game in the file.
    pub game: usize,
    /// Index of the move in the game.
    #[serde(rename = "move")]
    pub number: u64,
    /// Name of the player.
    pub player: String,
    /// The position before the move, with the roll.
    pub position: String,
    /// The move that was played.
    pub played: String,
    /// The best move.
    pub best: String,
    /// Loss in the unit of the game.
    pub loss: f64,
    /// Half the width of its 95 % interval, if the values are estimates from samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_ci95: Option<f64>,
    /// What the search lacks, if it stopped before its depth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortfall: Option<String>,
}

/// An error in a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fault {
    /// The file.
    pub file: PathBuf,
    /// Index of the game that ends at the error; none for a file that could not be read at all.
    pub game: Option<usize>,
    /// The error, with the line and its text.
    pub why: String,
}

/// Result of a review.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Review {
    /// The first file.
    pub file: PathBuf,
    /// All files, those in folders by name.
    pub files: Vec<PathBuf>,
    /// Errors in games and files: each was read up to there.
    pub faults: Vec<Fault>,
    /// Rule set.
    pub game: String,
    /// The agent whose values define losses.
    pub by: String,
    /// The game's exact tables, which replace its values where they know the position.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// The unit, such as points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Cow<'static, str>>,
    /// Number of reviewed games.
    pub games: usize,
    /// The players, in order of appearance.
    pub players: Vec<PlayerReview>,
    /// Statistics of all decisions.
    pub total: Decisions,
    /// How far a search looked at these decisions; none if the agent does not search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<Depths>,
    /// The moves with the largest losses, worst first.
    pub worst: Vec<Worst>,
    /// Whether all games were reviewed.
    pub finished: bool,
}

/// Largest number of players that an error names.
const NAMED: usize = 20;

/// Largest number of characters of each name.
const LETTERS: usize = 40;

/// Games per task. A searching agent keeps a cache, so results must not depend on threads.
const CHUNK: usize = 4;

/// The names of a game's players; equal ones are distinguished.
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

/// The files with this suffix in a folder and its subfolders, by name.
fn files_in(folder: &Path, suffix: &str, depth: usize, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            if depth < DEPTH && !path.is_symlink() {
                files_in(&path, suffix, depth + 1, found)?;
            }
        } else if path.extension().is_some_and(|end| end.eq_ignore_ascii_case(suffix)) {
            found.push(path);
        }
    }
    Ok(())
}

/// Largest depth of nested folders.
const DEPTH: usize = 8;

/// Largest number of files of a review.
const FILES: usize = 100_000;

/// Reads the games of all files, each with the index of its file and its index there.
fn read_all<G: Kit>(game: &G, options: &ReviewOptions) -> Result<Read<G>, TrainError> {
    let none = || GameError::new(format!("{}: files of whole games cannot be read", game.name()));
    let records = game.records();
    let suffix = records.map_or("", |records| records.suffix());
    let mut files = Vec::new();
    for path in &options.files {
        // Files that a folder has but cannot be read are faults, those that were named are errors.
        std::fs::metadata(path).map_err(GameError::file(path))?;
        match path.is_dir() {
            true => files_in(path, suffix, 0, &mut files).map_err(GameError::file(path))?,
            false => files.push(path.clone()),
        }
    }
    // A file may be named, and be in a folder that is named.
    let mut seen = FxHashSet::default();
    files.retain(|file| seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone())));
    if files.len() > FILES {
        return Err(GameError::new(format!("{} files: at most {FILES} can be reviewed", files.len())).into());
    }
    let is_single = options.files.len() == 1 && files.len() == 1;
    let (mut games, mut places, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    for (at, file) in files.iter().enumerate() {
        match records.and_then(|records| records.read(game, file)).ok_or_else(none)? {
            Err(why) if is_single => return Err(why.into()),
            Err(why) => faults.push(Fault { file: file.clone(), game: None, why: why.to_string() }),
            Ok(found) => {
                for (i, one) in found.into_iter().enumerate() {
                    if let Some(why) = &one.fault {
                        faults.push(Fault { file: file.clone(), game: Some(i + 1), why: why.clone() });
                    }
                    places.push((at, i + 1));
                    games.push(one);
                }
            }
        }
    }
    if games.is_empty() {
        let why = match faults.first() {
            Some(fault) => fault.why.clone(),
            None => {
                let all: Vec<String> = options.files.iter().map(|path| path.display().to_string()).collect();
                format!("{}: no games; in folders files `.{suffix}` are read", all.join(", "))
            }
        };
        return Err(GameError::new(why).into());
    }
    Ok(Read { files, games, places, faults })
}

/// The games of all files.
struct Read<G: Kit> {
    files: Vec<PathBuf>,
    games: Vec<WholeGame<G::Action>>,
    /// For each game, the index of its file and its index there.
    places: Vec<(usize, usize)>,
    faults: Vec<Fault>,
}

/// The place of a player among the names in files, of which this is the first.
fn place_of(name: &str, all: &[&str], file: &Path) -> Result<usize, GameError> {
    all.iter().position(|known| *known == name).ok_or_else(|| {
        let hint = match names::nearest(name, all) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        };
        let all: Vec<Cow<'_, str>> = all.iter().take(NAMED).map(|name| clipped(name, LETTERS)).collect();
        let message = format!("no player is named `{name}`; players are {}{hint}", all.join(", "));
        GameError::new(format!("{}: {message}", file.display()))
    })
}

/// Reviews the games of files.
///
/// # Errors
/// If the game has no readable format for whole games, a single file is invalid, the agent has no values, or no player
/// has the name.
pub(crate) fn review_of<G: Kit>(
    game: &G,
    options: &ReviewOptions,
    cancel: &Cancel,
) -> Result<Review, TrainError> {
    let agent = naming::resolve(game, &options.agent, &[])?;
    let open = || naming::judge(game, &agent, options.best);
    let Read { files, games, places, faults } = read_all(game, options)?;
    let mut players: Vec<(String, u64, Account)> = Vec::new();
    let mut known = |name: &str| match players.iter().position(|(known, ..)| known == name) {
        Some(i) => i,
        None => {
            players.push((name.into(), 0, Account::default()));
            players.len() - 1
        }
    };
    let seats: Vec<[usize; 2]> = games.iter().map(|game| names_of(game).map(|name| known(&name))).collect();
    let names: Vec<&str> = players.iter().map(|(known, ..)| &**known).collect();
    let wanted = options.player.as_ref().map(|name| place_of(name, &names, &options.files[0])).transpose()?;
    // Opened before threads start, so that a valuation is solved once.
    let references = open()?.references;
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
            let Judge { mut values, mut luck, .. } = open()?;
            let one = |(i, whole): (usize, &WholeGame<G::Action>)| {
                let most = if wanted.is_none() { options.worst } else { usize::MAX };
                let mut found = review(game, whole, (&mut *values, &mut luck), most, step);
                if let (Ok(Some(found)), Some(wanted)) = (&mut found, wanted) {
                    found.slips.retain(|slip| seats[chunk * CHUNK + i][slip.player] == wanted);
                    found.slips.truncate(options.worst);
                }
                let (file, number) = places[chunk * CHUNK + i];
                let named =
                    |e: GameError| GameError::new(format!("{}: game {number}: {e}", files[file].display()));
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
    let unit = game.counting().unit();
    let size = unit.as_ref().map_or(1.0, |unit| unit.size);
    let mut worst = Vec::new();
    for (i, (reviewed, seats)) in found.iter().zip(&seats).enumerate() {
        let Some(reviewed) = reviewed else { continue };
        for (account, &player) in reviewed.players.iter().zip(seats) {
            players[player].1 += 1;
            players[player].2 = players[player].2.and(*account);
        }
        worst.extend(reviewed.slips.iter().filter(|slip| is_wanted(seats[slip.player])).map(|slip| Worst {
            file: files[places[i].0].clone(),
            game: places[i].1,
            number: slip.number,
            player: players[seats[slip.player]].0.clone(),
            position: slip.position.clone(),
            played: slip.played.clone(),
            best: slip.best.clone(),
            loss: slip.loss / size,
            loss_ci95: (slip.error > 0.0).then_some(CI95 * slip.error / size),
            shortfall: slip.shortfall.clone(),
        }));
    }
    sort_by_highest(&mut worst, &|slip| slip.loss);
    worst.truncate(options.worst);
    let decisions = |account: &Account| Decisions {
        decisions: account.decisions,
        loss_per_decision: account.loss / size / account.decisions.max(1) as f64,
        loss_ci95: account.ci95()[0].map(|half| half / size / account.decisions.max(1) as f64),
        wrong_share: account.wrong as f64 / account.decisions.max(1) as f64,
        undecided_share: account.undecided as f64 / account.decisions.max(1) as f64,
    };
    let shown = || players.iter().enumerate().filter(|(i, _)| is_wanted(*i)).map(|(_, player)| player);
    let total = shown().fold(Account::default(), |sum, (.., account)| sum.and(*account));
    Ok(Review {
        file: files[0].clone(),
        faults,
        game: game.name().into(),
        by: options.agent.clone(),
        references,
        games: found.iter().flatten().count(),
        total: decisions(&total),
        search: Some(total.depths).filter(|depths| depths.decisions > 0),
        players: shown()
            .map(|(name, games, account)| PlayerReview {
                name: name.clone(),
                games: *games,
                decisions: decisions(account),
                luck: account.luck / size,
                luck_ci95: account.ci95()[1].map(|half| half / size),
                results: account.games,
                result: account.result / size,
                adjusted: account.adjusted / size,
            })
            .collect(),
        unit: unit.map(|unit| unit.name),
        worst,
        files,
        finished: found.iter().all(Option::is_some),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_builtin::backgammon::Backgammon;

    /// Ann begins and rolls a joker. Bo plays 9/4 where an anchor is best, and resigns.
    const FIRST: &str = " 1 point match\n\n Game 1\n Ann : 0                           Bo : 0
  1) 31: 8/5 6/5                   41: 24/23 13/9
  2) 66: 24/18(2) 13/7(2)          32: 9/6 6/4
  3) 21: 13/11 6/5                 Resigns\n      Wins 1 point and the match\n";

    /// The same game with Ann in the second column.
    const SECOND: &str = " 1 point match\n\n Game 1\n Bo : 0                            Ann : 0
  1)                               31: 8/5 6/5
  2) 41: 24/23 13/9                66: 24/18(2) 13/7(2)
  3) 32: 9/6 6/4                   21: 13/11 6/5
  4) Resigns\n                                   Wins 1 point and the match\n";

    /// A review of this file by the network, behind `before`.
    fn reviewed(before: &str, text: &str) -> Review {
        let folder = tempfile::tempdir().unwrap();
        let network =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checkpoints/backgammon/single-256-32");
        let file = folder.path().join("one.mat");
        std::fs::write(&file, text).unwrap();
        let options = ReviewOptions {
            files: vec![file],
            agent: format!("{before}{}", network.display()),
            best: false,
            player: None,
            worst: 10,
            threads: 1,
        };
        review_of(&Backgammon::default(), &options, &Cancel::default()).unwrap()
    }

    /// The values of a search that had no time are those of the network, and the review says so.
    #[test]
    fn a_search_that_stops_early_is_no_search() {
        let (alone, stopped) = (reviewed("", FIRST), reviewed("search:1n:", FIRST));
        assert_eq!((alone.search, alone.worst[0].shortfall.clone()), (None, None));
        assert_eq!(stopped.search, Some(Depths { decisions: 5, unsearched: 5, plies: None }));
        assert!(stopped.worst[0].shortfall.as_ref().unwrap().contains("without a search"), "{stopped:?}");
        for (one, other) in stopped.players.iter().zip(&alone.players) {
            let [one, other] =
                [one, other].map(|of| [of.decisions.loss_per_decision, of.decisions.wrong_share, of.luck]);
            assert!(one.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-6), "{one:?} {other:?}");
        }
    }

    #[test]
    fn loss_and_luck_belong_to_the_player_in_either_column() {
        for (found, seats, number) in [(reviewed("", FIRST), [0, 1], 2), (reviewed("", SECOND), [1, 0], 3)] {
            assert!(found.faults.is_empty(), "{found:?}");
            let [ann, bo] = seats.map(|seat: usize| &found.players[seat]);
            assert_eq!((&*ann.name, &*bo.name), ("Ann", "Bo"));
            assert_eq!((ann.result, bo.result), (1.0, -1.0), "{found:?}");
            assert_eq!((ann.decisions.decisions, ann.decisions.loss_per_decision), (3, 0.0), "{found:?}");
            assert_eq!((bo.decisions.decisions, bo.decisions.wrong_share), (2, 0.5), "{found:?}");
            let lost = bo.decisions.loss_per_decision * 2.0;
            assert!((0.2..0.3).contains(&lost), "{found:?}");
            assert!((0.3..0.45).contains(&ann.luck) && (bo.luck + ann.luck).abs() < 1e-9, "{found:?}");
            assert!((ann.adjusted - 1.0 + ann.luck).abs() < 1e-9, "{found:?}");
            assert!((bo.adjusted + 1.0 + bo.luck).abs() < 1e-9, "{found:?}");
            let [worst] = &found.worst[..] else { panic!("{found:?}") };
            assert_eq!((&*worst.player, worst.number, &*worst.played), ("Bo", number, "9/4"));
            assert_eq!((&*worst.best, &*worst.position), ("24/21 23/21", "sLfBwQDgc+EBKA 32"));
            assert!((worst.loss - lost).abs() < 1e-9, "{worst:?}");
        }
    }
}
