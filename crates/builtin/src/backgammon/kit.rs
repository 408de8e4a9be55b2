//! Backgammon's [`Kit`].

use super::cubeful::adapted;
use super::encoders::stakes_by_owner;
use super::exact::Table;
use super::exact::with_cube::{CubefulExact, cubeful_table};
use super::game::Words;
use super::gnubg::Gnubg;
use super::mat::FewCheckers;
use super::{
    Action, Backgammon, Classed, Expert, LONGEST_MATCH, Phase, Points, Position, Rules, Side, Stage, State,
    Win, WithCube, WithScore, known, pubeval, rare,
};
use crate::Family;
use crate::shared::Shared;
use adept_game::{
    Afterstate, Agents, Card, Distribution, Encoders, Found, Game, GameError, Kit, Listing, Named, Numbering,
    OutcomeClass, OutcomeMask, Peer, Positions, Records, Reduction, Reference, Resignation, Results, Suite,
    Texts, Valuation, Values,
};
use adept_ground::{notes, places};
use rand::{Rng, RngExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use xxhash_rust::xxh3::xxh3_64;

impl Family for Backgammon {
    const USUAL: &str = "backgammon";
    const OTHERS: &[&str] = &["hypergammon", "backgammon:money", "backgammon:match-7"];

    fn named(name: &str) -> Found<Self> {
        let ours = ["backgammon", "hypergammon"]
            .iter()
            .any(|own| name.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with(':')));
        let wrong = || {
            GameError::new(format!(
                "`{name}`: write backgammon, hypergammon, which has 3 checkers a side, or backgammon:K with K checkers, 1 to 5; with the \
                 cube, backgammon:money or a match to 1 to {LONGEST_MATCH} points such as backgammon:match-7, and the same of hypergammon"
            ))
        };
        ours.then(|| Self::named(name).ok_or_else(wrong))
    }
}

/// The cube multiplies results, so that classes say little.
fn no_classes(game: &Backgammon) -> Result<Vec<OutcomeClass>, GameError> {
    Err(GameError::new(format!(
        "{} does not list the classes of its results: the cube multiplies them, and values of the cube game come from the classes of {}",
        game.name(),
        if game.checkers() == 3 { "hypergammon" } else { "backgammon" }
    )))
}

/// The ways in which a player may give a game with the cube up.
fn resignations(game: &Backgammon, _: &State, player: usize) -> Vec<Resignation<Action>> {
    let names = ["loss", "loss_gammon", "loss_backgammon"];
    names
        .into_iter()
        .zip(game.resignations(player))
        .map(|(name, action)| Resignation { name, action })
        .collect()
}

/// A state without the cube, or of a match that is valued by its score after the present game.
fn reduced(game: &Backgammon, state: &State, reduction: Reduction) -> Result<State, GameError> {
    game.reduced(state, reduction)
}

/// Losses and wins of three sizes.
fn classes(_: &Backgammon) -> Result<Vec<OutcomeClass>, GameError> {
    let names = ["loss_backgammon", "loss_gammon", "loss", "win", "win_gammon", "win_backgammon"];
    let points = [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0];
    let class = |(k, (name, points)): (usize, (&str, f32))| OutcomeClass::new(name, points / 3.0, 5 - k);
    Ok(names.into_iter().zip(points).enumerate().map(class).collect())
}

/// A side that has borne off a checker loses a single game. Once the sides have passed each other, a side without a checker in the
/// winner's home or on the bar loses no backgammon, since no checker comes back.
#[inline]
fn possible(_: &Backgammon, classes: &[OutcomeClass], state: &State, player: usize) -> OutcomeMask {
    let [own, other] = [player, 1 - player].map(|player| state.sides[player]);
    let is_whole = |side: Side| side.off() == 0 && side.reaches(19);
    if is_whole(own) && is_whole(other) {
        return OutcomeMask::ALL;
    }
    let is_race = !Position { own, opponent: other }.has_contact();
    let most = |loser: Side| match loser {
        _ if loser.off() > 0 => Win::Single,
        _ if is_race && !loser.reaches(19) => Win::Gammon,
        _ => Win::Backgammon,
    };
    let (lost, won) = (most(own), most(other));
    if (lost, won) == (Win::Backgammon, Win::Backgammon) {
        return OutcomeMask::ALL;
    }
    let points = |win: Win| (f32::from(win.points()) + 0.5) / 3.0;
    let range = -points(lost)..points(won);
    OutcomeMask::from_classes(classes, |class| range.contains(&class.utility))
}

/// A config that is measured against the strongest script. None with the cube, where results have no classes.
fn starter(game: &Backgammon) -> Option<String> {
    let text = include_str!("starter.toml");
    match *game == Backgammon::default() {
        true => Some(text.into()),
        false => (!game.has_cube()).then(|| text.replace(r#"["pubeval", "random"]"#, r#"["random"]"#)),
    }
}

impl Kit for Backgammon {
    fn card(&self) -> Card {
        Card {
            about: "backgammon with gammons and backgammons, without the cube; hypergammon, with 3 checkers a side; backgammon:K, with K \
         checkers a side, 1 to 5; with the cube, backgammon:money and backgammon:match-N, N 1 to 25, and the same of hypergammon"
            .into(),
            suites: vec![Suite::Matches],
            starter: starter(self),
        }
    }

    #[inline]
    fn results(&self) -> Results<Self> {
        if self.has_cube() {
            return Results {
                possible,
                resignations,
                reduced,
                adapted: adapted(self),
                ..Results::of(no_classes)
            };
        }
        let impossible = "A side that has borne off a checker loses no gammon and no backgammon. Once the sides have passed each other, a side \
             without a checker on the bar or in the other's home loses no backgammon.";
        Results { possible, impossible: Some(impossible), reduced, ..Results::of(classes) }
    }

    /// A double moves checkers four times, and how often each moves decides the result: C(K + 3, 4) ways. Two dice choose a checker
    /// each, and one checker may move by both in two orders: K (K + 1) ways.
    fn action_numbers(&self) -> Numbering<Self> {
        let k = usize::from(self.checkers());
        Numbering::at_most((k * (k + 1) * (k + 2) * (k + 3) / 24).max(k * (k + 1)))
    }

    fn texts(&self) -> &dyn Texts<Self> {
        &Words
    }

    fn encoders(&self) -> Encoders<'_, Self> {
        let all = Encoders::<Self>::default()
            .with(
                "points",
                "202 inputs: checkers on each point in units, on the bar and off, of both sides",
                || Arc::new(Points),
            )
            .with(
                "expert",
                "252 inputs: points, and of each side 25 counts such as shots, primes and timing",
                || Arc::new(Expert),
            )
            .with(
                "points+classes",
                "points, and the phase and the pips of both sides, by which gates choose experts",
                || Arc::new(Classed::new(Points)),
            )
            .with("expert+classes", "expert, and the same", || Arc::new(Classed::new(Expert)));
        match self.rules {
            Rules::Cubeless => all,
            Rules::Money { .. } => all
                .with(
                    "points+cube",
                    "points, and where the cube is: for networks whose output is an equity before a roll, for each unit of the cube",
                    || Arc::new(WithCube::new(Points)),
                )
                .with("expert+cube", "expert, and the same", || Arc::new(WithCube::new(Expert))),
            Rules::Match { .. } => all
                .with(
                    "points+score",
                    "points, where the cube is, and what points are worth at the score: for networks whose output is an equity before a roll",
                    || Arc::new(WithScore::new(Points)),
                )
                .with("expert+score", "expert, and the same", || Arc::new(WithScore::new(Expert))),
        }
    }

    fn agents(&self) -> Agents<'_, Self> {
        let mut agents = Agents::none();
        if *self == Self::default() {
            let about = "Tesauro's linear evaluator of 1993, a common benchmark";
            agents.scripts = Listing::one("pubeval", about, Arc::new(pubeval::play));
        }
        if self.checkers() == 15 && !self.has_cube() {
            let about = "GNU Backgammon, where its command `external HOST:PORT` listens";
            agents.peers = Listing::new(Named::list(&[("gnubg:HOST:PORT", about)]), gnubg);
        }
        agents
    }

    fn values(&self) -> Values<'_, Self> {
        // Tables know chances without the cube, as networks do.
        let tables = || Listing::new(known::names(), |name| known::table(self, name));
        let usual_tables = Some(if self.checkers() == 15 { "bearoff-8+race" } else { "bearoff-8+race-6" });
        if self.has_cube() {
            let about = "exact values with the cube; oracle:FILE reads a table; default: datasets/hypergammon-cube.table";
            let all = if self.has_cubeful_table() { vec![("oracle", about)] } else { Vec::new() };
            let exact = Listing::new(Named::list(&all), |name| cubeful_exact(self, name));
            return Values { tables: tables(), usual_tables, ..Values::of(exact) };
        }
        let about =
            "exact values; oracle:FILE reads a table; default: datasets/GAME.table, or solved in memory";
        let listed = if self.checkers() <= Table::MOST { vec![("oracle", about)] } else { Vec::new() };
        Values {
            tables: tables(),
            usual_tables,
            references: Some(Box::new(|| references(self))),
            ..Values::of(Listing::new(Named::list(&listed), |name| exact(self, name)))
        }
    }

    /// Files `.mat` are for 15 checkers a side.
    fn records(&self) -> &dyn Records<Self> {
        if self.checkers() == 15 { &self.rules } else { &FewCheckers }
    }

    fn positions(&self) -> Positions<Self> {
        let checkers = self.checkers();
        if checkers == Self::default().checkers() {
            let about = "positions of games of random moves, after 1 to 80 of them";
            let mut all = vec![Distribution::new("random", about, played_at_random)];
            all.extend(rare::distributions());
            let named = match self.rules {
                Rules::Cubeless => Positions::new(all, hashed),
                Rules::Money { .. } => {
                    let about = "positions of games of pubeval with itself, before a roll, with each owner of the cube";
                    all.insert(0, Distribution::new("pubeval", about, played_by_pubeval));
                    let distributions = all.into_iter().map(of_any_owner).collect();
                    Positions { distributions, ..Positions::none() }
                }
                Rules::Match { .. } => Positions::none(),
            };
            return Positions {
                class: |state| state.position().class(),
                class_name: Position::CLASSES,
                class_names: &["bear-off", "race", "crashed", "contact", "back-game"],
                ..named
            };
        }
        let about = "all positions equally often, reached in play or not";
        let named = match self.rules {
            Rules::Cubeless => {
                let draw = move |rng: &mut dyn Rng| any_position(checkers, rng);
                Positions::new(vec![Distribution::new("all", about, draw)], number)
            }
            Rules::Money { .. } => {
                let about = "all positions before a roll equally often, with each owner of the cube";
                let draw = move |rng: &mut dyn Rng| with_any_owner(any_position(checkers, rng), rng);
                Positions::new(vec![Distribution::new("all", about, draw)], number_with_cube)
            }
            Rules::Match { .. } => Positions::none(),
        };
        Positions {
            // With few checkers every side is crashed.
            class: |state| state.position().phase().min(Phase::Crashed) as u64,
            class_name: "phase: 0 bear-off, 1 race, 2 contact",
            class_names: &["bear-off", "race", "contact"],
            ..named
        }
    }
}

/// The program `gnubg:HOST:PORT`.
fn gnubg(name: &str) -> Found<Box<dyn Peer<Backgammon>>> {
    let (program, place) = name.split_once(':').unwrap_or((name, ""));
    (program == "gnubg").then(|| Ok(Box::new(Gnubg::open(place)?) as _))
}

/// The exact valuation `oracle` or `oracle:FILE`.
fn exact(game: &Backgammon, name: &str) -> Found<Arc<dyn Valuation<Backgammon>>> {
    let file = match name.split_once(':') {
        Some(("oracle", file)) => Some(PathBuf::from(file)),
        None if name == "oracle" => None,
        _ => return None,
    };
    if game.checkers() > Table::MOST {
        return Some(Err(GameError::new(format!(
            "{} has no exact values: hypergammon, backgammon:1 and backgammon:2 have them",
            game.name()
        ))));
    }
    Some(table(game, file).map(|table| Arc::new(Exact(table)) as _))
}

/// The exact valuation `oracle` or `oracle:FILE` of a money game with the cube.
fn cubeful_exact(game: &Backgammon, name: &str) -> Found<Arc<dyn Valuation<Backgammon>>> {
    let file = match name.split_once(':') {
        Some(("oracle", file)) => Some(PathBuf::from(file)),
        None if name == "oracle" => None,
        _ => return None,
    };
    if !game.has_cubeful_table() {
        return Some(Err(GameError::new(format!(
            "{} has no exact values: hypergammon:money and hypergammon:money-no-jacoby have them",
            game.name()
        ))));
    }
    Some(cubeful_table(game, file, 0).map(|table| Arc::new(CubefulExact(table)) as _))
}

/// The exact table, or else the tables of bear-offs and races.
fn references(game: &Backgammon) -> Result<Vec<Reference<Backgammon>>, GameError> {
    // The exact table of three checkers takes half a minute to solve.
    let is_solved = match game.checkers() {
        0..=2 => true,
        checkers => checkers <= Table::MOST && usual_file(game).exists(),
    };
    match is_solved.then(|| exact(game, "oracle")).flatten() {
        Some(oracle) => Ok(vec![Reference { name: "oracle".into(), valuation: oracle? }]),
        None => known::references(game),
    }
}

/// A number of a position with 15 checkers a side. There are more positions than numbers, so it is a hash.
fn hashed(state: &State) -> u64 {
    let Position { own, opponent } = state.position();
    xxh3_64(&[own.places(), opponent.places()].concat())
}

/// A position after 1 to 80 random moves from the start, before the next roll. A game that ends earlier is played anew.
fn played_at_random(rng: &mut dyn Rng) -> State {
    played(|_, actions: &[Action], rng: &mut dyn Rng| rng.random_range(0..actions.len()), rng)
}

/// A position after 1 to 80 moves, which `choose` chooses by their number, from the start.
fn played(choose: impl Fn(&State, &[Action], &mut dyn Rng) -> usize, rng: &mut dyn Rng) -> State {
    let (game, mut actions) = (Backgammon::default(), Vec::new());
    'game: loop {
        let mut state = game.start();
        for _ in 0..rng.random_range(1..=80) {
            let roll = game.sample(&state, rng);
            game.apply(&mut state, &roll);
            game.actions(&state, &mut actions);
            let action = actions[choose(&state, &actions, rng)];
            game.apply(&mut state, &action);
            if state.position().is_over() {
                continue 'game;
            }
        }
        return state;
    }
}

/// A position after 1 to 80 moves of `pubeval` from the start, before the next roll. A game that ends earlier is played anew.
fn played_by_pubeval(rng: &mut dyn Rng) -> State {
    let choose =
        |state: &State, actions: &[Action], _: &mut dyn Rng| pubeval::best(state.position(), actions);
    played(choose, rng)
}

/// The same positions, with a cube that is in the middle, owned by this side, or by the opponent.
fn of_any_owner(distribution: Distribution<Backgammon>) -> Distribution<Backgammon> {
    let Distribution { named, draw } = distribution;
    Distribution { named, draw: Box::new(move |rng: &mut dyn Rng| with_any_owner(draw(rng), rng)) }
}

/// The number of a position of a game with up to five checkers a side, each on one of 26 places.
fn number(state: &State) -> u64 {
    let number = |side: Side| {
        let places = (0u64..).zip(side.places());
        places.fold(0, |number, (place, count)| (0..count).fold(number, |number, _| number * 26 + place))
    };
    let Position { own, opponent } = state.position();
    number(own) * 26u64.pow(5) + number(opponent)
}

/// The same, with the owner of the cube.
fn number_with_cube(state: &State) -> u64 {
    let owner = state.stakes.owner().map_or(0, |owner| 1 + u64::from(owner == state.player));
    3 * number(state) + owner
}

/// A position before a roll with a cube that is in the middle, owned by this side, or by the opponent.
fn with_any_owner(state: State, rng: &mut dyn Rng) -> State {
    let stakes = stakes_by_owner()[rng.random_range(0..3)];
    let stage = if stakes.may_double(state.player) { Stage::Rolling } else { Stage::Roll };
    State { stage, stakes, ..state }
}

/// A position drawn uniformly from all that are not over.
pub(super) fn any_position(checkers: u8, rng: &mut dyn Rng) -> State {
    // Places with repeats are as many as distinct numbers below 26 + n − 1, each less the number of those below it.
    let count = usize::from(checkers);
    let mut side = || {
        let mut numbers = Vec::with_capacity(count);
        while numbers.len() < count {
            let number = rng.random_range(0..25 + count);
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        numbers.sort_unstable();
        let mut places = [0; 26];
        (0..).zip(numbers).for_each(|(below, number)| places[number - below] += 1);
        Side::new(places)
    };
    loop {
        let position = Position { own: side(), opponent: side() };
        if position.check(checkers).is_ok() && !position.is_over() {
            return State::to_roll(position);
        }
    }
}

/// The default folder of tables.
const FOLDER: &str = "datasets";

/// The default file of the table of a game.
pub fn usual_file(game: &Backgammon) -> PathBuf {
    Path::new(FOLDER).join(format!("{}.table", game.name().replace(':', "-")))
}

/// The exact table of a file, of the default file if it is there, or a new one, which is kept while the program runs.
///
/// # Errors
/// The system's reason, what is wrong with the file, or that it is the table of another game.
pub fn table(game: &Backgammon, file: Option<PathBuf>) -> Result<Arc<Table>, GameError> {
    static TABLES: Shared<(u8, Option<PathBuf>), Table> = Shared::new();
    let checkers = game.checkers();
    let file = file.or_else(|| places::find(&usual_file(game)));
    // A table that was solved is kept: agents come and go.
    static SOLVED: Mutex<Vec<Arc<Table>>> = Mutex::new(Vec::new());
    let is_solved = file.is_none();
    let table = TABLES.get((checkers, file.clone()), || {
        let Some(path) = file else {
            if checkers == Table::MOST {
                notes::note(&format!(
                    "`adept oracle build --game {}` keeps the table for all commands",
                    game.name()
                ));
            }
            return Table::solve(checkers, Table::CHANGE, 0);
        };
        let table = Table::open(&path)?;
        match table.checkers() == checkers {
            true => Ok(table),
            false => Err(GameError::Table(format!(
                "{}: its sides have {} checkers and not {checkers}",
                path.display(),
                table.checkers()
            ))),
        }
    })?;
    let mut solved = SOLVED.lock().unwrap_or_else(PoisonError::into_inner);
    if is_solved && !solved.iter().any(|kept| Arc::ptr_eq(kept, &table)) {
        solved.push(table.clone());
    }
    Ok(table)
}

/// Exact values.
struct Exact(Arc<Table>);

impl Valuation<Backgammon> for Exact {
    fn value(&self, game: &Backgammon, after: Afterstate<'_, Backgammon>) -> f64 {
        let state = after.state;
        let position = state.position();
        if position.is_over() {
            return game.utility(state, after.player) / game.scale();
        }
        let equity = match state.stage {
            Stage::Roll => self.0.value(position).unwrap_or(f64::NAN),
            _ => f64::NAN,
        };
        (if after.player == state.player { equity } else { -equity }) / game.scale()
    }
}
