//! Tournaments: every pair of agents plays, in all seat orders, with the same dice.

mod config;
mod learners;

use adept_trainer::settings::differences;
pub use config::{Entrant, Seats, Tournament};

use crate::catalogue::{AnyGame, Catalogue};
use crate::farm::{self, on_one_thread, pool_of};
use crate::pairing::{Pairing, Player};
use crate::seeds::in_turn;
use adept_arena::OpenError;
use adept_arena::matches::{self, ByClass, Deals, Order, Score, Tally, holm, ratings};
use adept_game::{GameInfo, OutcomeClass, Unit};
use adept_ground::{files::Files, limits, notes};
use adept_model::ModelError;
use adept_trainer::run::{Cancel, TrainError, lock_of};
use learners::players;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Options of a tournament.
#[derive(Clone, Debug, Default)]
pub struct TournamentOptions {
    /// Folder of its files.
    pub out: PathBuf,
    /// Resumes an earlier call.
    pub resume: bool,
    /// Number of threads; 0 for all cores.
    pub threads: usize,
    /// Number of games of each pair to write in the game's usual format, at most [`limits::HISTORIES`].
    pub histories: u64,
}

/// Result of a pair of agents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairScore {
    /// The first agent: X in orders, or the one with a single seat.
    pub a: String,
    /// The second agent.
    pub b: String,
    /// Games played.
    pub games: u64,
    /// Points of the first agent per game, 1 for a win, less for a shared win; or its mean utility in the unit.
    pub score: f64,
    /// 95 % interval of the score, between deals.
    pub ci95: [f64; 2],
    /// The variance-reduced score. A game without a unit then counts (1 + utility / scale) / 2 points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjusted: Option<f64>,
    /// 95 % interval of the adjusted score, between deals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjusted_ci95: Option<[f64; 2]>,
    /// Two-sided p of the hypothesis that only seats matter, between deals; of the adjusted score where there is one.
    pub p: f64,
    /// p after Holm's correction for all pairs of the tournament.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_holm: Option<f64>,
    /// Number of standard errors by which the score, variance-reduced if possible, exceeds that of the seats alone.
    /// None in tables of versions that did not measure the spread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<f64>,
    /// Number of distinct games. None in tables of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct: Option<u64>,
    /// Whether too few games differ, in a game without chance, to tell which agent is stronger.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeated: bool,
    /// Expected score of the first agent if only seats mattered.
    pub share: f64,
    /// Games won only by seats of the first agent.
    pub wins: u64,
    /// Games won only by seats of the second agent.
    pub losses: u64,
    /// The first agent's share of each class of results; empty if the game has no classes.
    #[serde(default, skip_serializing_if = "ByClass::is_empty")]
    pub classes: ByClass<f64>,
    /// Games per second on all threads.
    pub games_per_second: f64,
}

impl Tournament {
    /// Checks that an agent can be a gated newcomer, which must win against all others.
    ///
    /// # Errors
    /// If there is no agent of this name, seats are not shared equally, or agents still learn.
    pub fn check_gate(&self, name: &str) -> Result<(), TrainError> {
        let names: Vec<&str> = self.agents.iter().map(|one| &*one.name).collect();
        let why = if !names.contains(&name) {
            format!("no agent has the name `{name}`; it has {}", names.join(", "))
        } else if self.seats != Seats::Half || self.orders.is_some() {
            "a gate is for agents that share the seats: leave `seats` and `orders` out".into()
        } else if self.agents.iter().any(|one| one.learns.is_some()) {
            "a gate is for agents that do not learn: name checkpoints instead of `learns`".into()
        } else {
            return Ok(());
        };
        Err(TrainError::Open(OpenError::Unknown(format!("{}: {why}", self.name))))
    }
}

/// An agent's row in the standings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Name.
    pub name: String,
    /// Mean score over the pairs in which it is first.
    pub score: f64,
    /// Elo rating with mean 0 (Bradley and Terry); `None` if pairs share the seats unequally.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<f64>,
}

/// A pair's games so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Begun {
    /// Their results.
    pub tally: Tally,
    /// Seconds of play.
    pub seconds: f64,
}

/// Result of a tournament.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standings {
    /// The tournament.
    pub tournament: Tournament,
    /// The folder that paths in the tournament are relative to, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// The unit of the scores; `None` for points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Number of random decisions at the start of each game. None before the first game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_plies: Option<u32>,
    /// Pairs in order of play.
    pub pairs: Vec<PairScore>,
    /// The pair in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun: Option<Begun>,
    /// Agents, sorted by mean score.
    pub standings: Vec<Standing>,
    /// Whether all pairs were played.
    pub finished: bool,
    /// Seconds of play.
    pub seconds: f64,
}

/// Events of a tournament.
#[derive(Clone, Copy, Debug)]
pub enum TournamentEvent<'a> {
    /// The agent with this name starts or resumes learning.
    Learns(&'a str),
    /// Games start with this many random decisions, because agents would otherwise repeat the same game.
    Opens(u32),
    /// A pair has finished its games; with the unit of the scores.
    Played(&'a PairScore, Option<&'a str>),
}

/// Interval of saving the table of the same pair.
const BETWEEN_SAVES: Duration = Duration::from_secs(20);

/// File name of the table.
const FILE: &str = "arena.json";

/// Runs or resumes a tournament. Every few seconds of play and after every pair, writes the table to `arena.json` and `arena.md` in its
/// folder.
///
/// # Errors
/// If the folder is in use, an agent is not available, or the table cannot be written.
pub fn tournament(
    games: &dyn Catalogue,
    tournament: &Tournament,
    options: &TournamentOptions,
    watch: &dyn Fn(TournamentEvent<'_>),
    cancel: &Cancel,
) -> Result<Standings, TrainError> {
    let game = games.find(&tournament.game)?;
    // Fail early, before anything is played or created.
    let suffix = match options.histories {
        0 => None,
        _ => Some(game.writes_histories()?),
    };
    let Some(_lock) = lock_of(&options.out)? else {
        let message = "another process is using this tournament: wait for it, or choose another folder";
        return Err(TrainError::Folder { path: options.out.clone(), message: message.into() });
    };
    let GameInfo { unit, scale, players: seats, outcomes, .. } = game.info();
    let classes = outcomes.unwrap_or_default();
    let mut table = begin(games, tournament, options, unit.as_ref())?;
    let players = players(tournament, &options.out, games)?;
    let orders = orders(tournament, seats);
    let meetings = meetings(tournament, &players);
    if table.pairs.len() < meetings.len() {
        for entrant in tournament.agents.iter().filter(|entrant| entrant.learns.is_some()) {
            watch(TournamentEvent::Learns(&entrant.name));
            if !learners::learn(games, entrant, tournament.seed, &options.out, cancel)? {
                return Ok(table);
            }
        }
    }
    let mut play = Play {
        game: &*game,
        options,
        terms: Terms { tournament, players: &players, orders, random_plies: 0 },
        meetings: &meetings,
        results: Results { unit: unit.as_ref(), scale, classes: &classes },
        watch,
        cancel,
    };
    let random_plies = match table.random_plies.or(tournament.random_plies) {
        Some(plies) => plies,
        // One pair that repeats itself is enough: all play under the same conditions.
        None => meetings.iter().try_fold(0, |plies, meeting| match plies {
            0 => game.opening_plies(&play.terms.pairing(meeting)),
            _ => Ok(plies),
        })?,
    };
    (table.random_plies, play.terms.random_plies) = (Some(random_plies), random_plies);
    if tournament.random_plies.is_none() && random_plies > 0 && table.pairs.is_empty() {
        watch(TournamentEvent::Opens(random_plies));
    }
    if farm::is_open() {
        play.play_on_ranks(&mut table)?;
    } else {
        play.play_here(&mut table)?;
    }
    if let (Some(suffix), false) = (suffix, cancel.requested()) {
        play.write_histories(suffix)?;
    }
    Ok(table)
}

/// How results count in a game.
#[derive(Clone, Copy)]
struct Results<'a> {
    unit: Option<&'a Unit>,
    scale: f64,
    classes: &'a [OutcomeClass],
}

/// The terms on which all pairs play.
struct Terms<'a> {
    tournament: &'a Tournament,
    players: &'a [Player],
    orders: Vec<Order>,
    random_plies: u32,
}

impl Terms<'_> {
    /// The games of two players.
    fn pairing(&self, meeting: &(usize, usize)) -> Pairing {
        let (a, b) = meeting;
        Pairing {
            players: [self.players[*a].clone(), self.players[*b].clone()],
            orders: self.orders.clone(),
            games: self.tournament.games,
            deals: Deals { seed: self.tournament.seed, random_plies: self.random_plies },
            luck: self.tournament.luck.clone(),
        }
    }
}

/// Plays the games of a tournament.
struct Play<'a> {
    game: &'a dyn AnyGame,
    options: &'a TournamentOptions,
    terms: Terms<'a>,
    meetings: &'a [(usize, usize)],
    results: Results<'a>,
    watch: &'a dyn Fn(TournamentEvent<'_>),
    cancel: &'a Cancel,
}

impl Play<'_> {
    /// The meetings that a table does not have.
    fn left(&self, table: &Standings) -> &[(usize, usize)] {
        &self.meetings[table.pairs.len().min(self.meetings.len())..]
    }

    /// Adds a pair that has finished its games.
    fn add(
        &self,
        table: &mut Standings,
        pairing: &Pairing,
        tally: &Tally,
        seconds: f64,
    ) -> Result<(), TrainError> {
        let pair = pair(pairing, tally, seconds, self.results);
        (self.watch)(TournamentEvent::Played(&pair, table.unit.as_deref()));
        table.pairs.push(pair);
        let adjusted = holm(&table.pairs.iter().map(|pair| pair.p).collect::<Vec<_>>());
        table.pairs.iter_mut().zip(adjusted).for_each(|(pair, p)| pair.p_holm = Some(p));
        table.seconds += seconds;
        let Terms { tournament, players, .. } = self.terms;
        table.standings = standings(tournament, players, &table.pairs, self.results.unit.is_some());
        table.finished = table.pairs.len() == self.meetings.len();
        table.begun = None;
        save(&self.options.out, table)
    }

    /// Plays one pair per thread and slot of another rank.
    fn play_on_ranks(&self, table: &mut Standings) -> Result<(), TrainError> {
        let Self { game, options, ref terms, cancel, .. } = *self;
        let (left, failed) = (self.left(table), AtomicBool::new(false));
        let play = |meeting: &(usize, usize)| {
            if cancel.requested() || failed.load(Ordering::Relaxed) {
                return (Ok(None), 0.0);
            }
            let (start, pairing) = (Instant::now(), terms.pairing(meeting));
            let here = || {
                let played = on_one_thread(|| game.play_pair(&pairing, None, cancel, &mut |_| ()))?;
                Ok(Some(played?).filter(|_| !cancel.requested()))
            };
            let there = farm::play_pair(&terms.tournament.game, &pairing);
            let played = there.map_or_else(here, |played| played.map(Some));
            (played, start.elapsed().as_secs_f64())
        };
        // This thread writes the tables.
        let (send, receive) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Without a reader, the remaining results do not matter.
                in_turn(left, options.threads, play, move |played| drop(send.send(played)));
            });
            let mut whole: Result<bool, TrainError> = Ok(true);
            for (meeting, (played, seconds)) in left.iter().zip(receive) {
                if matches!(whole, Ok(true)) {
                    whole = played.and_then(|played| match played {
                        Some(played) => {
                            self.add(table, &terms.pairing(meeting), &played, seconds).map(|()| true)
                        }
                        None => Ok(false),
                    });
                    failed.store(whole.is_err(), Ordering::Relaxed);
                }
            }
            whole.map(drop)
        })
    }

    /// Plays one pair after another, each on all threads.
    fn play_here(&self, table: &mut Standings) -> Result<(), TrainError> {
        let Self { game, options, cancel, .. } = *self;
        let pool = pool_of(options.threads)?;
        for meeting in self.left(table) {
            let (start, pairing) = (Instant::now(), self.terms.pairing(meeting));
            let (tally, seconds) = table
                .begun
                .take()
                .filter(|begun| begun.tally.games < pairing.games && begun.tally.has_deals())
                .map_or((None, 0.0), |begun| (Some(begun.tally), begun.seconds));
            let mut saved = Instant::now();
            let mut report = |tally: &Tally| {
                let seconds = seconds + start.elapsed().as_secs_f64();
                table.begun = Some(Begun { tally: tally.clone(), seconds });
                if saved.elapsed() >= BETWEEN_SAVES && tally.games < pairing.games {
                    saved = Instant::now();
                    // Continue: there may be space again at the end.
                    if let Err(error) = save(&options.out, table) {
                        notes::warn(&error.to_string());
                    }
                }
            };
            let played = pool.install(|| game.play_pair(&pairing, tally, cancel, &mut report))?;
            if played.games < pairing.games {
                // Stopped: another call resumes here.
                return save(&options.out, table);
            }
            self.add(table, &pairing, &played, seconds + start.elapsed().as_secs_f64())?;
        }
        Ok(())
    }

    /// Records the first games of each pair: replays them from their seeds, so that recording does not slow down the tournament.
    fn write_histories(&self, suffix: &str) -> Result<(), TrainError> {
        let (files, folder) = (Files::default(), self.options.out.join("histories"));
        files.create_folder(&folder)?;
        for (number, meeting) in self.meetings.iter().enumerate() {
            let games = self.options.histories.min(self.terms.tournament.games);
            let pairing = Pairing { games, ..self.terms.pairing(meeting) };
            let text = self.game.histories(&pairing, self.cancel)?;
            if self.cancel.requested() {
                let message = "not all games were recorded: ask for them again".into();
                return Err(TrainError::Interrupted { path: folder, message });
            }
            let [a, b] = pairing.players.each_ref().map(|player| plain(&player.name));
            let name = format!("{:03}-{a}-{b}.{suffix}", number + 1);
            files.replace(&folder.join(name), text.as_bytes())?;
        }
        Ok(())
    }
}

/// A name as part of a file name.
fn plain(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
    name.chars().map(|c| if fits(c) { c } else { '-' }).take(60).collect()
}

/// An empty table, or that of an earlier call.
fn begin(
    games: &dyn Catalogue,
    tournament: &Tournament,
    options: &TournamentOptions,
    unit: Option<&Unit>,
) -> Result<Standings, TrainError> {
    let path = options.out.join(FILE);
    let taken =
        |message: &str| Err(TrainError::Folder { path: options.out.clone(), message: message.into() });
    let empty = Standings {
        tournament: tournament.clone(),
        folder: tournament.folder_of_paths(games),
        unit: unit.map(|unit| unit.name.to_string()),
        random_plies: None,
        pairs: Vec::new(),
        begun: None,
        standings: Vec::new(),
        finished: false,
        seconds: 0.0,
    };
    let text = match limits::read(&path, limits::RECORD_BYTES) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            let is_there = |file: &&&str| options.out.join(file).exists();
            return match ["run.json", "sweep.json", "manifest.json"].iter().find(is_there) {
                Some(file) => taken(&format!("holds something else ({file}): choose another folder")),
                None => Ok(empty),
            };
        }
        Err(source) => return Err(ModelError::io(path)(source).into()),
    };
    let Ok(mut table) = serde_json::from_slice::<Standings>(&text) else {
        return taken("its arena.json is not the table of a tournament: choose another folder");
    };
    // Earlier versions used random openings only if the tournament says so.
    if table.begun.is_some() || !table.pairs.is_empty() {
        table.random_plies = table.random_plies.or(Some(table.tournament.random_plies.unwrap_or(0)));
    }
    // Its paths may be relative to another folder.
    let then = match &table.folder {
        Some(folder) if table.folder != empty.folder => {
            table.tournament.with_paths_of(folder, tournament, games)
        }
        _ => table.tournament.clone(),
    };
    let same = Tournament { about: tournament.about.clone(), ..then.clone() } == *tournament;
    match (same, table.finished || options.resume) {
        (true, true) => Ok(Standings { tournament: empty.tournament, folder: empty.folder, ..table }),
        (true, false) => {
            taken("holds this tournament, which is not finished: resume it, or choose another folder")
        }
        (false, _) => {
            let value = |t: &Tournament| serde_json::to_value(t).unwrap_or_default();
            let all = differences(&value(&then), &value(tournament));
            let shown = all.iter().filter(|d| d.key != "about").take(3).map(|d| {
                let [key, here, there] = d.cells();
                format!("{key} {here} → {there}")
            });
            let shown = shown.collect::<Vec<_>>().join(", ");
            taken(&format!("holds another tournament ({shown}): choose another folder"))
        }
    }
}

/// Pairs of player indices. A learner does not meet itself after another block.
fn meetings(tournament: &Tournament, players: &[Player]) -> Vec<(usize, usize)> {
    let n = players.len();
    let all = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
    let meet = |(a, b): &(usize, usize)| players[*a].entrant != players[*b].entrant;
    all.filter(meet).filter(|(a, b)| tournament.seats == Seats::One || a < b).collect()
}

fn orders(tournament: &Tournament, seats: usize) -> Vec<Order> {
    if let Some(orders) = &tournament.orders {
        return orders.iter().map(|order| order.chars().map(|c| usize::from(c == 'Y')).collect()).collect();
    }
    shares(tournament.seats, seats).iter().flat_map(|share| matches::orders(share)).collect()
}

/// Possible numbers of seats of each of two agents.
pub(super) fn shares(rule: Seats, seats: usize) -> Vec<[usize; 2]> {
    let half = seats / 2;
    match rule {
        Seats::One => vec![[1, seats - 1]],
        Seats::Half if seats.is_multiple_of(2) => vec![[half, half]],
        Seats::Half => vec![[half, seats - half], [seats - half, half]],
    }
}

fn pair(pairing: &Pairing, tally: &Tally, seconds: f64, results: Results<'_>) -> PairScore {
    let Results { unit, scale, classes } = results;
    let adjusted = tally.without_luck(unit, scale);
    let ([a, b], share) = (&pairing.players, pairing.share());
    let [wins, losses] = [tally.wins[0], tally.wins[1]];
    let plain = tally.uncertainty(unit, scale, share);
    // The gate and p judge the same score.
    let Score { p, errors, .. } = adjusted.map_or(plain, |(_, found)| found);
    PairScore {
        a: a.name.clone(),
        b: b.name.clone(),
        games: tally.games,
        score: tally.score(unit),
        ci95: plain.ci95,
        adjusted: adjusted.map(|(score, _)| score),
        adjusted_ci95: adjusted.map(|(_, found)| found.ci95),
        p,
        p_holm: None,
        errors: Some(errors),
        distinct: Some(tally.distinct.count()),
        repeated: tally.distinct.is_few(),
        share,
        wins,
        losses,
        classes: tally.ends.shares(classes, scale),
        games_per_second: tally.games as f64 / seconds.max(1e-9),
    }
}

fn standings(
    tournament: &Tournament,
    players: &[Player],
    pairs: &[PairScore],
    in_units: bool,
) -> Vec<Standing> {
    let names: Vec<&str> = players.iter().map(|p| p.name.as_str()).collect();
    let place = |name: &str| names.iter().position(|n| *n == name).unwrap_or(0);
    let mut points = vec![vec![0.0; names.len()]; names.len()];
    let mut scores: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
    for pair in pairs {
        let (a, b) = (place(&pair.a), place(&pair.b));
        points[a][b] += pair.score * pair.games as f64;
        points[b][a] += (1.0 - pair.score) * pair.games as f64;
        scores[a].push(pair.score);
        if tournament.seats == Seats::Half {
            scores[b].push(other(pair, in_units));
        }
    }
    let equal = pairs.iter().all(|pair| (pair.share - 0.5).abs() < 1e-9);
    let rated = (tournament.seats == Seats::Half && equal && !in_units).then(|| ratings(&points));
    let standing = |i: usize| Standing {
        name: names[i].into(),
        score: scores[i].iter().sum::<f64>() / scores[i].len().max(1) as f64,
        rating: rated.as_ref().map(|r| r[i]),
    };
    let mut all: Vec<Standing> = (0..names.len()).map(standing).collect();
    all.sort_by(|a, b| b.score.total_cmp(&a.score));
    all
}

/// The second agent's score: the rest of a point, or the negated utility by seat.
fn other(pair: &PairScore, in_units: bool) -> f64 {
    if in_units { -pair.score * pair.share / (1.0 - pair.share) } else { 1.0 - pair.score }
}

/// Writes a table to its folder.
fn save(out: &Path, table: &Standings) -> Result<(), TrainError> {
    let files = Files::default();
    let json = serde_json::to_string_pretty(table).map_err(ModelError::from)? + "\n";
    files.replace(&out.join(FILE), json.as_bytes())?;
    files.replace(&out.join("arena.md"), table.markdown().as_bytes())?;
    Ok(())
}

impl Standings {
    /// The score of one agent against another.
    fn score(&self, a: &str, b: &str) -> Option<f64> {
        let one = self.pairs.iter().find(|p| p.a == a && p.b == b).map(|p| p.score);
        let other =
            || self.pairs.iter().find(|p| p.a == b && p.b == a).map(|p| other(p, self.unit.is_some()));
        one.or_else(|| if self.tournament.seats == Seats::Half { other() } else { None })
    }

    /// Number of standard errors by which an agent wins against each other one, variance-reduced if requested.
    ///
    /// # Errors
    /// As for [`Tournament::check_gate`], if a pair is missing, or if too few of their games differ.
    pub fn wins_of(&self, name: &str) -> Result<Vec<(String, f64)>, TrainError> {
        self.tournament.check_gate(name)?;
        let refused = |message: String| {
            TrainError::Open(OpenError::Unknown(format!("{}: {message}", self.tournament.name)))
        };
        let others = self.tournament.agents.iter().filter(|other| other.name != name);
        others
            .map(|other| {
                let of = |a: &str, b: &str| self.pairs.iter().find(|pair| pair.a == a && pair.b == b);
                let (pair, sign) = of(name, &other.name)
                    .map(|pair| (pair, 1.0))
                    .or(of(&other.name, name).map(|pair| (pair, -1.0)))
                    .ok_or_else(|| refused(format!("{name} has not met {}", other.name)))?;
                if pair.repeated {
                    return Err(refused(format!(
                        "only {} of {} games of {name} and {} differ, too few for a gate: set `random_plies` to {} or more",
                        pair.distinct.unwrap_or_default(),
                        pair.games,
                        other.name,
                        self.random_plies.unwrap_or_default() + 1
                    )));
                }
                let errors = pair.errors.ok_or_else(|| {
                    refused("this table is of an earlier version, without the spread of the games: play it again, in another folder".into())
                })?;
                Ok((other.name.clone(), sign * errors))
            })
            .collect()
    }

    /// Formats a score: in points, 1 for a win and ½ for a draw, or in the unit.
    pub(crate) fn shown(&self, score: f64) -> String {
        shown(score, self.unit.is_some())
    }

    /// The cross table, best agent first, and every pair, as Markdown.
    pub fn markdown(&self) -> String {
        let names: Vec<&str> = self.standings.iter().map(|s| s.name.as_str()).collect();
        let mut text = format!("# {}\n\n", self.tournament.name);
        let _ = writeln!(
            text,
            "{}: {} games per pair, seed {}{}. Each score is for the row against the column, in {}.\n",
            self.tournament.game,
            self.tournament.games,
            self.tournament.seed,
            match self.random_plies.unwrap_or_default() {
                0 => String::new(),
                1 => ", after one random move".into(),
                plies => format!(", after {plies} random moves"),
            },
            self.unit.as_deref().map_or("points a game: 1 for a win, ½ for a draw".into(), |unit| format!(
                "{unit} a game and seat"
            ))
        );
        let _ = writeln!(text, "| | {} | mean | rating |", names.join(" | "));
        let _ = writeln!(text, "|---|{}---:|---:|", "---:|".repeat(names.len()));
        for row in &self.standings {
            let cell = |other: &&str| self.score(&row.name, other).map_or("–".into(), |s| self.shown(s));
            let cells: Vec<String> = names.iter().map(cell).collect();
            let rating = row.rating.map_or(String::new(), |r| format!("{r:+.0}"));
            let _ = writeln!(
                text,
                "| {} | {} | {} | {rating} |",
                row.name,
                cells.join(" | "),
                self.shown(row.score)
            );
        }
        let several = self.pairs.len() > 1;
        let _ = writeln!(
            text,
            "\n| pair | games | differ | {} | 95 % interval | p | {}games/s |\n|---|---:|---:|---:|---|---:|{}---:|",
            self.unit.as_deref().map_or("score a game".into(), |unit| format!("score {unit}")),
            if several { "p (Holm) | " } else { "" },
            if several { "---:|" } else { "" },
        );
        for p in &self.pairs {
            let [low, high] = p.ci95.map(|x| self.shown(x));
            let _ = writeln!(
                text,
                "| {} – {} | {} | {} | {} | {low} to {high} | {} | {}{:.0} |",
                p.a,
                p.b,
                p.games,
                p.distinct.map_or("?".into(), |distinct| distinct.to_string()),
                self.shown(p.score),
                p_text(p.p),
                if several { p.p_holm.map_or("? | ".into(), |p| p_text(p) + " | ") } else { String::new() },
                p.games_per_second
            );
        }
        for p in self.pairs.iter().filter(|pair| pair.repeated) {
            let _ = writeln!(
                text,
                "\n{} – {}: the games repeat. The score is that of {} games: set `random_plies`.",
                p.a,
                p.b,
                p.distinct.unwrap_or_default()
            );
        }
        let names: Option<Vec<String>> = self
            .pairs
            .iter()
            .find(|p| !p.classes.is_empty())
            .map(|p| p.classes.0.iter().map(|(name, _)| name.replace('_', " ")).collect());
        if let Some(names) = &names {
            let _ = writeln!(
                text,
                "\nHow games end for the first agent of each pair, in per cent:\n\n| pair | {} |\n|---|{}",
                names.join(" | "),
                "---:|".repeat(names.len())
            );
        }
        for p in self.pairs.iter().filter(|p| !p.classes.is_empty()) {
            let shares: Vec<String> = p.classes.0.iter().map(|(_, share)| percent(*share)).collect();
            let _ = writeln!(text, "| {} – {} | {} |", p.a, p.b, shares.join(" | "));
        }
        if let Some(luck) = &self.tournament.luck {
            let _ = writeln!(
                text,
                "\nLess the luck of each game, as `{luck}` values it:\n\n| pair | score | 95 % interval |\n|---|---:|---|"
            );
        }
        for p in &self.pairs {
            if let (Some(score), Some(ci95)) = (p.adjusted, p.adjusted_ci95) {
                let [score, low, high] = [score, ci95[0], ci95[1]].map(|x| self.shown(x));
                let _ = writeln!(text, "| {} – {} | {score} | {low} to {high} |", p.a, p.b);
            }
        }
        text
    }
}

/// Formats a score in points, or in the unit of a game. Units may be thousandths of a bet or whole games.
pub fn shown(score: f64, in_units: bool) -> String {
    match in_units {
        true => adept_game::score_text(score, 4),
        false => format!("{score:.4}"),
    }
}

/// Formats a share in per cent with one decimal place.
pub fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// Formats a p value.
pub fn p_text(p: f64) -> String {
    if p < 1e-4 { "< .0001".into() } else { format!("{p:.4}").trim_start_matches('0').into() }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn scores_show_what_differs() {
        assert_eq!(
            [-0.0, -0.04, 1.0, 9.5].map(|s| shown(s, true)),
            ["+0.0000", "-0.0400", "+1.0000", "+9.5000"]
        );
        assert_eq!([-561.4, 12.0].map(|s| shown(s, true)), ["-561", "+12"]);
        assert_eq!(shown(0.8281, false), "0.8281");
    }
}
