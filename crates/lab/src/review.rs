//! Reviews of recorded games: each player's losses and luck, and the worst moves.

mod page;
mod session;

pub use session::{KindErrors, MatchPlayer, MatchReview, OpponentReview, Period, Rating, Session, Spread};

pub use crate::opinions::{BothJudges, DisagreedDecision, OtherJudge};
use adept_arena::naming::{self, Judge};
use adept_arena::review::{
    Account, CI95, Comparison, KINDS, Keep, Reviewed, Tally, judgements, mark_of, review,
};
pub use adept_arena::review::{Assessment, Depths, MARKS, Step, StepCandidate, StepKind, Verdict};
use adept_game::{Game, GameError, JudgedGame, Judgement, Kit, Turn, WholeGame};
use adept_ground::jobs;
use adept_ground::order::sort_by_highest;
use adept_ground::shown::clipped;
use adept_ground::work;
use adept_model::{ModelError, names};
use adept_trainer::run::{Cancel, TrainError};
pub use page::{PAGE_ACTIONS, page, page_data};
use rustc_hash::FxHashSet;
use serde::Serialize;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt::Display;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Options of a review.
#[derive(Clone, Debug)]
pub struct ReviewOptions {
    /// Files of whole games in the game's usual format, and folders of such files.
    pub files: Vec<PathBuf>,
    /// The agent whose values define losses: a checkpoint, a search, or a valuation.
    pub agent: String,
    /// Agents that judge again, one after another, the decisions that seem wrong to the one before.
    pub then: Vec<String>,
    /// Whether to use the best checkpoint of a run instead of the latest.
    pub best: bool,
    /// Reviews only this player; all if none.
    pub player: Option<String>,
    /// Number of worst moves to keep.
    pub worst: usize,
    /// Number of threads; 0 for all cores.
    pub threads: usize,
    /// Whether each file is read by the rule set that it tells, such as its match length, instead of the game's own.
    pub as_played: bool,
    /// Whether to write each file with the judgements, in a format in which another program shows them: [`Review::judged`].
    pub judged: bool,
    /// Keeps the steps of games with at most so many actions of players, forced ones too; none by default.
    pub steps: Option<usize>,
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

/// Errors as players of the game count them, in points. In backgammon, a point is worth the cube: of a match, what winning the game at the
/// present cube changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Errors {
    /// Thousandths of a point lost per decision that counts, as GNU Backgammon counts.
    pub error_rate: f64,
    /// Performance rating, as eXtreme Gammon counts: 500 times the points lost per decision that counts.
    pub performance_rating: f64,
    /// Thousandths of a point lost per move of both players, as Snowie counts. None for several players together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snowie: Option<f64>,
    /// The name that GNU Backgammon gives to the error rate.
    pub grade: &'static str,
    /// Number of moves, forced ones too.
    pub moves: u64,
    /// Number of moves with a choice.
    pub unforced_moves: u64,
    /// Number of decisions to double that were close or wrong, as GNU Backgammon counts.
    pub close_doubles: u64,
    /// The same, as eXtreme Gammon counts.
    pub non_obvious_doubles: u64,
    /// Number of answers to doubles.
    pub answers: u64,
    /// Points lost by moves.
    pub lost_by_moves: f64,
    /// Points lost by doubling and by not doubling.
    pub lost_by_doubles: f64,
    /// Points lost by answers to doubles.
    pub lost_by_answers: f64,
    /// Chance to win the match that was lost, in [0, 1] for each match; none outside matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_chance: Option<f64>,
    /// Number of decisions that lost at least .03 points, and less than .06.
    pub doubtful: u64,
    /// Number of decisions that lost at least .06 points, and less than .12.
    pub bad: u64,
    /// Number of decisions that lost at least .12 points.
    pub very_bad: u64,
    /// The luck of all rolls in points.
    pub luck: f64,
}

/// The names that GNU Backgammon gives to error rates below these.
const GRADES: [(f64, &str); 7] = [
    (2.0, "supernatural"),
    (5.0, "world class"),
    (8.0, "expert"),
    (12.0, "advanced"),
    (18.0, "intermediate"),
    (26.0, "casual player"),
    (35.0, "beginner"),
];

impl Errors {
    /// None if nothing counts. `both` is the number of moves of both players in the games of one.
    pub(crate) fn new(tally: &Tally, both: Option<u64>, is_match: bool) -> Option<Self> {
        let total = tally.total();
        let [gnubg, xg] = tally.counted();
        if tally.moves == 0 && gnubg == 0 {
            return None;
        }
        let error_rate = 1000.0 * total / gnubg.max(1) as f64;
        let grade = GRADES.iter().find(|(below, _)| error_rate < *below).map_or("awful", |(_, name)| name);
        let [doubtful, bad, very_bad] = tally.marks;
        Some(Self {
            error_rate,
            performance_rating: 500.0 * total / xg.max(1) as f64,
            snowie: both.map(|both| 1000.0 * total / both.max(1) as f64),
            grade,
            moves: tally.moves,
            unforced_moves: tally.unforced,
            close_doubles: tally.doubles[0],
            non_obvious_doubles: tally.doubles[1],
            answers: tally.answers,
            lost_by_moves: tally.lost[0],
            lost_by_doubles: tally.lost[1],
            lost_by_answers: tally.lost[2],
            lost_chance: is_match.then_some(tally.lost_utility / 2.0),
            doubtful,
            bad,
            very_bad,
            luck: tally.luck,
        })
    }
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
    /// Errors as players of the game count them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<Errors>,
    /// The decisions that another program judged too, in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub both: Option<BothJudges>,
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
    /// Loss in points, as players of the game count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<f64>,
    /// The mark of that loss: doubtful, bad or very bad.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<&'static str>,
    /// What players call an error other than a move, such as a missed double.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'static str>,
    /// What the search lacks, if it stopped before its depth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortfall: Option<String>,
    /// Rule set of the game.
    pub rules: String,
    /// The class of the position, such as contact; its number where classes have no names.
    pub class: String,
    /// The kind of decision: move, double, or answer to a double.
    pub decision: &'static str,
    /// The best actions, the best first, and the one that was played.
    pub candidates: Vec<Candidate>,
}

/// An action of a decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// The action.
    #[serde(rename = "move")]
    pub action: String,
    /// Its value for the player, in the unit of the game.
    pub equity: f64,
    /// The equity of the best action less this one.
    pub loss: f64,
    /// The standard error of the equity; 0 if it is not an estimate from samples.
    pub error: f64,
}

/// The names of the marks.
const MARK_NAMES: [&str; MARKS.len()] = ["doubtful", "bad", "very bad"];

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
    /// Rule set, or several.
    pub game: String,
    /// The agent whose values define losses.
    pub by: String,
    /// The agents that judge again what seems wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<String>,
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
    /// Errors of all players as players of the game count them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<Errors>,
    /// How far a search looked at these decisions; none if the agent does not search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<Depths>,
    /// The decisions of all players that another program judged too, in the files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub both: Option<BothJudges>,
    /// These programs; the one that judged most comes first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<OtherJudge>,
    /// The decisions that they judge most differently, at most as many as the worst moves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disagreements: Vec<DisagreedDecision>,
    /// The moves with the largest losses, worst first.
    pub worst: Vec<Worst>,
    /// Whether all games were reviewed.
    pub finished: bool,
    /// Errors by kind, match and opponent, and over time.
    #[serde(flatten)]
    pub session: Session,
    /// The text of each file with the judgements, if [`ReviewOptions::judged`] asks for them, and the index of the file. A file that could not
    /// be read, or whose games were not all reviewed, has none.
    #[serde(skip)]
    pub judged: Vec<(usize, String)>,
    /// All steps of each game, if [`ReviewOptions::steps`] asks for them.
    #[serde(skip)]
    pub steps: Vec<GameSteps>,
    /// The utility of the unit; 1 without one.
    #[serde(skip)]
    pub unit_size: f64,
}

/// All steps of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct GameSteps {
    /// The file.
    pub file: PathBuf,
    /// Index of the game in the file, from 1.
    pub game: usize,
    /// The rule set.
    pub rules: String,
    /// The names of the players.
    pub players: [String; 2],
    /// The utility of the result for player 1; of a game of a match, its share of the match. None for a game without a result.
    pub result: Option<f64>,
    /// The steps; with [`ReviewOptions::player`], only those of the player and of chance.
    pub steps: Vec<Step>,
}

/// Largest number of players that an error names.
const NAMED: usize = 20;

/// Largest number of characters of each name.
const LETTERS: usize = 40;

/// Most games per task, so that an agent is not opened for each of many. Results do not depend on it.
const CHUNK: usize = 4;

/// Number of games from which tasks have so many.
const MANY: usize = 64;

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

/// The files of games in a folder and its subfolders, by name.
fn files_in(
    folder: &Path,
    holds_games: &dyn Fn(&Path) -> bool,
    depth: usize,
    found: &mut Vec<PathBuf>,
) -> std::io::Result<()> {
    let mut entries =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            if depth < DEPTH && !path.is_symlink() {
                files_in(&path, holds_games, depth + 1, found)?;
            }
        } else if holds_games(&path) {
            found.push(path);
        }
    }
    Ok(())
}

/// Number of actions after which a review tells how far it is.
const NEWS: usize = 8;

/// Largest depth of nested folders.
const DEPTH: usize = 8;

/// Largest number of files of a review.
const FILES: usize = 100_000;

/// Reads the games of all files, each with the index of its file and its index there.
fn read_all<G: Kit>(game: &G, options: &ReviewOptions) -> Result<Read<G>, TrainError> {
    let none = || {
        GameError::new(format!(
            "{}: files of whole games cannot be read; `moves` judges the moves of a single position, and `play --hints` those of a game",
            game.name()
        ))
    };
    let records = game.records();
    let holds_games = |path: &Path| records.holds_games(path);
    let mut files = Vec::new();
    for path in &options.files {
        // Files that a folder has but cannot be read are faults, those that were named are errors.
        std::fs::metadata(path).map_err(GameError::file(path))?;
        match path.is_dir() {
            true => files_in(path, &holds_games, 0, &mut files).map_err(GameError::file(path))?,
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
    let read = |file: &Path| match options.as_played {
        true => records.read_as_played(game, file),
        false => Some(records.read(game, file)?.map(|games| (None, games))),
    };
    let mut faults = Vec::new();
    let mut fault = |at: usize, game, why: &dyn Display| {
        faults.push((at, Fault { file: files[at].clone(), game, why: why.to_string() }));
    };
    let mut read_files = Vec::new();
    for (at, file) in files.iter().enumerate() {
        match read(file).ok_or_else(none)? {
            Err(why) if is_single => return Err(why.into()),
            Err(why) => fault(at, None, &why),
            Ok((own, found)) => read_files.push((at, own, found)),
        }
    }
    // Results in points and matches won are not added.
    let rule_set = |own: &Option<G>| own.as_ref().unwrap_or(game).name().to_string();
    let has_unit = |own: &Option<G>| own.as_ref().unwrap_or(game).counting().unit().is_some();
    let with_unit = read_files.iter().filter(|(_, own, _)| has_unit(own)).count();
    let in_unit = 2 * with_unit > read_files.len();
    let most =
        read_files.iter().find(|(_, own, _)| has_unit(own) == in_unit).map(|(_, own, _)| rule_set(own));
    let (mut games, mut places) = (Vec::new(), Vec::new());
    let mut rules: Vec<Option<G>> = Vec::new();
    for (at, own, found) in read_files {
        let file = &files[at];
        if let Some(most) = most.as_ref().filter(|_| has_unit(&own) != in_unit) {
            let why = format!(
                "{}: a file of {}, whose results are not counted as those of {most}: review it by itself",
                file.display(),
                rule_set(&own),
            );
            fault(at, None, &why);
            continue;
        }
        let rule = match rules.iter().position(|known| rule_set(known) == rule_set(&own)) {
            Some(rule) => rule,
            None => {
                rules.push(own);
                rules.len() - 1
            }
        };
        for (i, one) in found.into_iter().enumerate() {
            if let Some(why) = &one.fault {
                fault(at, Some(i + 1), why);
            }
            places.push(PlaceInFiles { file: at, number: i + 1, rule });
            games.push(one);
        }
    }
    faults.sort_by_key(|(at, _)| *at);
    let faults: Vec<Fault> = faults.into_iter().map(|(_, fault)| fault).collect();
    if games.is_empty() {
        let why = match faults.first() {
            Some(fault) => fault.why.clone(),
            None => {
                let all: Vec<String> = options.files.iter().map(|path| path.display().to_string()).collect();
                format!("{}: no games; in folders files `.{}` are read", all.join(", "), records.suffix())
            }
        };
        return Err(GameError::new(why).into());
    }
    Ok(Read { files, games, places, rules, faults })
}

/// The games of all files.
struct Read<G: Kit> {
    files: Vec<PathBuf>,
    games: Vec<WholeGame<G::Action>>,
    /// The place of each game.
    places: Vec<PlaceInFiles>,
    /// The rule sets; none for that of the review.
    rules: Vec<Option<G>>,
    faults: Vec<Fault>,
}

/// The place of a game.
#[derive(Clone, Copy, Debug)]
struct PlaceInFiles {
    /// The index of its file.
    file: usize,
    /// Its number there, from 1.
    number: usize,
    /// The index of its rule set.
    rule: usize,
}

/// Games in tasks: of one rule set each, at most so many.
fn tasks_of(places: &[PlaceInFiles]) -> Vec<Range<usize>> {
    let most = if places.len() < MANY { 1 } else { CHUNK };
    let mut tasks: Vec<Range<usize>> = Vec::new();
    for (i, place) in places.iter().enumerate() {
        match tasks.last_mut() {
            Some(task) if task.len() < most && places[task.start].rule == place.rule => task.end = i + 1,
            _ => tasks.push(i..i + 1),
        }
    }
    tasks
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

/// The number of actions of one player, or of both, in a game; chance events do not count.
fn count_actions<G: Kit>(
    game: &G,
    whole: &WholeGame<G::Action>,
    counts: impl Fn(usize) -> bool,
) -> Result<usize, GameError> {
    let mut state = match &whole.from {
        Some(text) => game.parse_position(text)?.0,
        None => game.start(),
    };
    let mut count = 0;
    for (_, action) in &whole.actions {
        match game.turn(&state) {
            Turn::Player(player) => count += usize::from(counts(player)),
            Turn::Chance => {}
            Turn::Over => break,
        }
        game.apply(&mut state, action);
    }
    Ok(count)
}

/// The sums of one player.
#[derive(Default)]
struct PlayerSum {
    name: String,
    games: u64,
    account: Account,
    /// Moves of both players in these games.
    both: u64,
    /// The decisions that another program judged too.
    compared: Comparison,
}

/// The names of those who judge, one after another.
fn judges_of(options: &ReviewOptions) -> impl Iterator<Item = &String> {
    [&options.agent].into_iter().chain(&options.then)
}

/// Most actions, chance events included, of games whose judgements are written: they are kept until all are reviewed.
const JUDGED: usize = 400_000;

/// Refuses games whose judgements cannot be written.
fn check_judged<G: Kit>(game: &G, actions: usize) -> Result<(), GameError> {
    if game.records().write_judged(game, &[]).is_none() {
        return Err(GameError::new(format!("{} has no file format for games with judgements", game.name())));
    }
    if actions > JUDGED {
        return Err(GameError::new(format!("{actions} actions and rolls: at most {JUDGED} can be written")));
    }
    Ok(())
}

/// A review of a game, and its judgements if they are to be written.
type Found<G> = (Reviewed, Vec<Judgement<<G as Game>::Action>>);

/// The reviews and the judgements of games.
fn unzipped<A>(
    found: impl Iterator<Item = Option<(Reviewed, Vec<Judgement<A>>)>>,
) -> (Vec<Option<Reviewed>>, Vec<Vec<Judgement<A>>>) {
    found.map(|one| one.map_or_else(|| (None, Vec::new()), |(found, judged)| (Some(found), judged))).unzip()
}

/// Reviews the games of files. `progress` receives the finished share.
///
/// # Errors
/// If the game has no readable format for whole games, a single file is invalid, the agent has no values, or no player
/// has the name.
pub(crate) fn review_of<G: Kit>(
    game: &G,
    options: &ReviewOptions,
    cancel: &Cancel,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Review, TrainError> {
    naming::resolve(game, &options.agent, &[])?;
    if game.players() != 2 || !game.zero_sum() || game.hides() {
        return Err(GameError::new(format!(
            "{}: only games of two players, zero-sum, without hidden information can be reviewed",
            game.name()
        ))
        .into());
    }
    let Read { files, games, places, rules, faults } = read_all(game, options)?;
    let rules: Vec<&G> = rules.iter().map(|own| own.as_ref().unwrap_or(game)).collect();
    let judges = || judges_of(options);
    let agents = rules
        .iter()
        .map(|rules| judges().map(|name| naming::resolve(*rules, name, &[])).collect::<Result<Vec<_>, _>>());
    let agents = agents.collect::<Result<Vec<_>, _>>()?;
    let open =
        |rule: usize| Ok::<_, TrainError>(naming::judge_in_stages(rules[rule], &agents[rule], options.best)?);
    let mut players: Vec<PlayerSum> = Vec::new();
    let mut known = |name: &str| match players.iter().position(|known| known.name == name) {
        Some(i) => i,
        None => {
            players.push(PlayerSum { name: name.into(), ..PlayerSum::default() });
            players.len() - 1
        }
    };
    let seats: Vec<[usize; 2]> = games.iter().map(|game| names_of(game).map(|name| known(&name))).collect();
    let names: Vec<&str> = players.iter().map(|known| &*known.name).collect();
    let wanted = options.player.as_ref().map(|name| place_of(name, &names, &options.files[0])).transpose()?;
    let is_wanted = |player: usize| wanted.is_none_or(|wanted| wanted == player);
    let keeps_steps =
        |seats: &[usize; 2]| options.steps.is_some() && seats.iter().any(|player| is_wanted(*player));
    if let Some(most) = options.steps {
        let mut count = 0;
        for (i, whole) in games.iter().enumerate() {
            count += count_actions(rules[places[i].rule], whole, |seat| is_wanted(seats[i][seat]))?;
            if count > most {
                let why = format!(
                    "these games have more than {most} actions of players, which is the limit: review fewer files, or one player"
                );
                return Err(GameError::new(why).into());
            }
        }
    }
    // Opened before threads start, so that a valuation is solved once.
    let references = open(0)?.references;
    let all: usize = games.iter().map(|game| game.actions.len()).sum();
    if options.judged {
        check_judged(game, all)?;
    }
    let what = match games.len() {
        1 => "reviewing a game".to_string(),
        n => format!("reviewing {n} games"),
    };
    let done = AtomicUsize::new(0);
    work::share(&what, 0.0);
    let step = || {
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(NEWS) {
            progress(done as f64 / all as f64);
        }
        if done.is_multiple_of(64) {
            work::share(&what, done as f64 / all as f64);
        }
        cancel.requested()
    };
    let task = |task: Range<usize>| -> Result<Vec<Option<Found<G>>>, TrainError> {
        if cancel.requested() {
            return Ok(task.map(|_| None).collect());
        }
        let rule = places[task.start].rule;
        let Judge { mut values, mut luck, .. } = open(rule)?;
        let one = |i: usize| {
            let slips = if wanted.is_none() { options.worst } else { usize::MAX };
            let keep = Keep { slips, steps: options.judged || keeps_steps(&seats[i]) };
            let mut found = review(rules[rule], &games[i], (&mut *values, &mut luck), keep, step);
            let mut judged = Vec::new();
            if let (Ok(Some(found)), true) = (&mut found, options.judged) {
                judged = judgements(rules[rule], &games[i], &found.steps, &mut *values)?;
                if !keeps_steps(&seats[i]) {
                    found.steps.clear();
                }
            }
            if let (Ok(Some(found)), Some(wanted)) = (&mut found, wanted) {
                found.slips.retain(|slip| seats[i][slip.player] == wanted);
                found.slips.truncate(options.worst);
                found.opinions.disagreements.retain(|one| seats[i][one.player] == wanted);
                found.opinions.disagreements.truncate(options.worst);
                found.steps.retain(|step| step.player.is_none_or(|player| seats[i][player] == wanted));
            }
            let PlaceInFiles { file, number, .. } = places[i];
            let named =
                |e: GameError| GameError::new(format!("{}: game {number}: {e}", files[file].display()));
            Ok(found.map_err(named)?.map(|found| (found, judged)))
        };
        task.map(one).collect()
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build();
    let pool = pool.map_err(|e| ModelError::Unsupported(format!("threads: {e}")))?;
    let found = jobs::try_all(Some(&pool), tasks_of(&places), &task)?;
    let (mut found, judged) = unzipped(found.into_iter().flatten());
    work::share(&what, 1.0);
    let unit = rules[0].counting().unit();
    let size = unit.as_ref().map_or(1.0, |unit| unit.size);
    let classes = rules[0].positions().class_names;

    let (mut worst, mut steps, mut disagreements) = (Vec::new(), Vec::new(), Vec::new());
    let mut judges: Vec<OtherJudge> = Vec::new();
    for (i, (reviewed, seats)) in found.iter_mut().zip(&seats).enumerate() {
        let Some(reviewed) = reviewed else { continue };
        let both = reviewed.players.iter().map(|account| account.tally.moves).sum::<u64>();
        for (account, &player) in reviewed.players.iter().zip(seats) {
            let PlayerSum { games, account: sum, both: moves, .. } = &mut players[player];
            (*games, *sum, *moves) = (*games + 1, sum.and(*account), *moves + both);
        }
        let opinions = &reviewed.opinions;
        for (compared, &player) in opinions.players.iter().zip(seats) {
            players[player].compared = players[player].compared.and(*compared);
        }
        for (name, counts) in &opinions.judges {
            let wanted = counts.iter().zip(seats).filter(|(_, seat)| is_wanted(**seat));
            let decisions = wanted.map(|(count, _)| count).sum();
            match judges.iter_mut().find(|known| *known.name == **name) {
                Some(known) => known.decisions += decisions,
                None => judges.push(OtherJudge { name: name.to_string(), decisions }),
            }
        }
        let wanted = opinions.disagreements.iter().filter(|one| is_wanted(seats[one.player]));
        disagreements.extend(wanted.map(|one| {
            let PlaceInFiles { file, number, .. } = places[i];
            DisagreedDecision::new(one, &players[seats[one.player]].name, files[file].clone(), number)
        }));
        worst.extend(reviewed.slips.iter().filter(|slip| is_wanted(seats[slip.player])).map(|slip| Worst {
            file: files[places[i].file].clone(),
            game: places[i].number,
            number: slip.number,
            player: players[seats[slip.player]].name.clone(),
            position: slip.position.clone(),
            played: slip.played.clone(),
            best: slip.best.clone(),
            loss: slip.loss / size,
            loss_ci95: (slip.error > 0.0).then_some(CI95 * slip.error / size),
            points: slip.points,
            mark: slip.points.and_then(mark_of).map(|mark| MARK_NAMES[mark]),
            error: slip.name,
            shortfall: slip.shortfall.clone(),
            rules: rules[places[i].rule].name().into(),
            class: session::class_name(classes, slip.class),
            decision: KINDS[slip.kind],
            candidates: candidates_of(&slip.candidates, size),
        }));
        if keeps_steps(seats) {
            steps.push(GameSteps {
                file: files[places[i].file].clone(),
                game: places[i].number,
                rules: rules[places[i].rule].name().into(),
                players: seats.map(|seat| players[seat].name.clone()),
                result: (reviewed.players[0].games > 0).then_some(reviewed.players[0].result),
                steps: std::mem::take(&mut reviewed.steps),
            });
        }
    }
    sort_by_highest(&mut worst, &|slip| slip.points.unwrap_or(slip.loss));
    worst.truncate(options.worst);
    sort_by_highest(&mut disagreements, &DisagreedDecision::size);
    disagreements.truncate(options.worst);
    judges.retain(|judge| judge.decisions > 0);
    judges.sort_by_key(|judge| Reverse(judge.decisions));
    let decisions = |account: &Account| Decisions {
        decisions: account.decisions,
        loss_per_decision: account.loss / size / account.decisions.max(1) as f64,
        loss_ci95: account.ci95()[0].map(|half| half / size / account.decisions.max(1) as f64),
        wrong_share: account.wrong as f64 / account.decisions.max(1) as f64,
        undecided_share: account.undecided as f64 / account.decisions.max(1) as f64,
    };
    let shown = || players.iter().enumerate().filter(|(i, _)| is_wanted(*i)).map(|(_, player)| player);
    let total = shown().fold(Account::default(), |sum, player| sum.and(player.account));
    let compared = shown().fold(Comparison::default(), |sum, player| sum.and(player.compared));
    let by: Vec<&str> = judges_of(options).map(|name| &**name).collect();
    let by = by.join(" then ");
    let written = |judged: Vec<Vec<Judgement<G::Action>>>| -> Result<Vec<(usize, String)>, GameError> {
        let mut texts = Vec::new();
        let indices: Vec<usize> = (0..games.len()).collect();
        for part in indices.chunk_by(|&a, &b| places[a].file == places[b].file) {
            let PlaceInFiles { file, rule, .. } = places[part[0]];
            let of_file =
                part.iter().map(|&i| JudgedGame { whole: &games[i], judge: &by, judgements: &judged[i] });
            if part.iter().any(|&i| found[i].is_none()) {
                continue;
            }
            if let Some(text) = rules[rule].records().write_judged(rules[rule], &of_file.collect::<Vec<_>>())
            {
                texts.push((file, text?));
            }
        }
        Ok(texts)
    };
    // Matches have no unit: their utility is the chance to win.
    let is_match = unit.is_none();
    let date = |file: &PathBuf| rules[0].records().date(file);
    let dates: Vec<Option<String>> = files.iter().map(date).collect();
    let of_session = session::Games {
        files: &files,
        dates: &dates,
        reviewed: &found,
        places: &places,
        seats: &seats,
        names: &players.iter().map(|player| &*player.name).collect::<Vec<_>>(),
        wanted,
        classes,
        size,
    };
    let session = of_session.session();
    let names: Vec<&str> = rules.iter().map(|rules| rules.name()).collect();
    Ok(Review {
        file: files[0].clone(),
        faults,
        game: names.join(", "),
        by: options.agent.clone(),
        then: options.then.clone(),
        references,
        games: found.iter().flatten().count(),
        total: decisions(&total),
        errors: Errors::new(&total.tally, None, is_match),
        search: Some(total.depths).filter(|depths| depths.decisions > 0),
        players: shown()
            .map(|PlayerSum { name, games, account, both, compared }| PlayerReview {
                name: name.clone(),
                games: *games,
                errors: Errors::new(&account.tally, Some(*both), is_match),
                both: BothJudges::new(compared, is_match),
                decisions: decisions(account),
                luck: account.luck / size,
                luck_ci95: account.ci95()[1].map(|half| half / size),
                results: account.games,
                result: account.result / size,
                adjusted: account.adjusted / size,
            })
            .collect(),
        judged: if options.judged { written(judged)? } else { Vec::new() },
        unit: unit.map(|unit| unit.name),
        both: BothJudges::new(&compared, is_match),
        judges,
        disagreements,
        worst,
        files,
        finished: found.iter().all(Option::is_some),
        steps,
        unit_size: size,
        session,
    })
}

/// Actions of a decision, in the unit of this size.
fn candidates_of(all: &[adept_arena::review::Candidate], size: f64) -> Vec<Candidate> {
    let best = all.iter().map(|one| one.value).fold(f64::NEG_INFINITY, f64::max);
    let candidate = |one: &adept_arena::review::Candidate| Candidate {
        action: one.action.clone(),
        equity: one.value / size,
        loss: (best - one.value) / size,
        error: one.error / size,
    };
    all.iter().map(candidate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_builtin::backgammon::Backgammon;

    /// Ann begins and rolls a joker. Bo plays 9/4 where an anchor is best, and resigns.
    pub(super) const FIRST: &str = " 1 point match\n\n Game 1\n Ann : 0                           Bo : 0
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
    pub(super) fn reviewed(before: &str, text: &str, steps: Option<usize>) -> Review {
        try_review(before, text, steps).unwrap()
    }

    pub(super) fn try_review(before: &str, text: &str, steps: Option<usize>) -> Result<Review, TrainError> {
        let folder = tempfile::tempdir().unwrap();
        let network =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checkpoints/backgammon/single-256-32");
        let file = folder.path().join("one.mat");
        std::fs::write(&file, text).unwrap();
        let options = ReviewOptions {
            files: vec![file],
            agent: format!("{before}{}", network.display()),
            then: Vec::new(),
            best: false,
            player: None,
            worst: 10,
            threads: 1,
            as_played: false,
            judged: false,
            steps,
        };
        review_of(&Backgammon::default(), &options, &Cancel::default(), &|_| {})
    }

    /// The values of a search that had no time are those of the network, and the review says so.
    #[test]
    fn a_search_that_stops_early_is_no_search() {
        let (alone, stopped) = (reviewed("", FIRST, None), reviewed("search:1n:", FIRST, None));
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
        for (found, seats, number) in
            [(reviewed("", FIRST, None), [0, 1], 2), (reviewed("", SECOND, None), [1, 0], 3)]
        {
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
