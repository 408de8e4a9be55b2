//! The laws of games: what every [`Game`](crate::Game) and [`Kit`] promises, checked along random games.
//!
//! ```
//! # let game = adept_game::tiny::Nim::default();
//! let report = adept_game::laws::check(&game, &adept_game::laws::Budget::default());
//! assert!(report.holds(), "{report}");
//! ```
//!
//! A breach names the law, the seed of the game, the ply, the position and what was found. A law that is not broken in these games
//! may still be broken in others: the check is a test, not a proof.

use crate::agents::Script;
use crate::derived::{outcome_classes, possible_outcomes};
use crate::encoder::{Afterstate, Encoder};
use crate::game::Turn;
use crate::kit::Kit;
use crate::results::outcome_of;
use crate::rng::{Stream, stream};
use adept_rows::{Channel, ChannelKind, OutcomeClass, OutcomeMask, Rows};
use rand::RngExt;
use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// How much is played.
///
/// ```
/// use adept_game::{laws::{Budget, check}, tiny::Nim};
///
/// let budget = Budget { games: 5, ..Budget::short() };
/// assert_eq!(check(&Nim::default(), &budget).games, 5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Seed of the first game; each game has the next one.
    pub seed: u64,
    /// Random games at most.
    pub games: u64,
    /// Actions and outcomes of chance in a game at most. A longer game is left there, and its result is not checked.
    pub plies: usize,
    /// States that are looked at in all games at most. 20 games more are played to their end without looking.
    pub states: usize,
}

impl Default for Budget {
    /// 200 games of up to 1,000 plies, 20,000 states in all.
    fn default() -> Self {
        Self { seed: 1, games: 200, plies: 1_000, states: 20_000 }
    }
}

impl Budget {
    /// A check of less than a second for most games, before something that takes longer: 20 games, 400 states.
    pub fn short() -> Self {
        Self { games: 20, states: 400, ..Self::default() }
    }
}

/// What games promise.
///
/// ```
/// use adept_game::laws::Law;
///
/// assert_eq!(Law::Ends.about(), "games end");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Law {
    /// No method fails.
    NoPanic,
    /// Methods are pure functions: a second call gives the same, and the same seed the same game.
    Repeats,
    /// A turn belongs to a player below the number of players, and `just_acted` names the one who acted, or nobody.
    Turns,
    /// A player to move has an action; actions are distinct; nobody has any when it is not a player's turn.
    Actions,
    /// Listed outcomes of chance are distinct, with positive probabilities that sum to 1, and contain what is sampled.
    Outcomes,
    /// Utilities are finite, within the scale, and sum to zero where the game says so.
    Utilities,
    /// A position or action as text is one line, and reads back to the same.
    Texts,
    /// What a player knows follows from what the player is shown, decides the legal actions, and hides something in a game that
    /// says so.
    Info,
    /// Encoders fill the rows that they declare with finite numbers, from what the player is shown.
    Encoders,
    /// Rule-based policies give each action a probability, and these sum to 1.
    Scripts,
    /// Where classes of outcomes are listed, every finished game is in one, for each player. It was possible all along, and a class that
    /// was impossible stays so.
    Classes,
    /// Games end. A random game of [`LONGEST`] actions and outcomes of chance is taken for endless.
    Ends,
}

impl Law {
    /// The law in words.
    pub fn about(self) -> &'static str {
        match self {
            Self::NoPanic => "no method fails",
            Self::Repeats => {
                "methods are pure: a second call gives the same, and the same seed the same game"
            }
            Self::Turns => "a turn belongs to a player of the game, and `just_acted` names who acted",
            Self::Actions => "a player to move has an action, actions are distinct, nobody else has one",
            Self::Outcomes => "outcomes of chance are distinct, their probabilities positive with sum 1",
            Self::Utilities => "utilities are finite, within the scale, and sum to zero in a zero-sum game",
            Self::Texts => "a position or action as text is one line and reads back to the same",
            Self::Info => "`info` follows from what the player is shown, and decides the legal actions",
            Self::Encoders => {
                "encoders fill the declared rows with finite numbers, from what the player is shown"
            }
            Self::Scripts => "rule-based policies give probabilities that sum to 1",
            Self::Classes => {
                "every finished game is in a class of `results`, if there are any, which was possible all along"
            }
            Self::Ends => "games end",
        }
    }
}

/// Where a law is broken.
#[derive(Clone, Debug, PartialEq)]
pub struct Breach {
    /// The law.
    pub law: Law,
    /// Seed of the random game.
    pub seed: u64,
    /// Actions and outcomes of chance before it.
    pub ply: usize,
    /// The position as text; empty if it cannot be written.
    pub position: String,
    /// What was found.
    pub found: String,
}

/// What a check has found.
///
/// ```
/// use adept_game::{laws::{Budget, check}, tiny::Bluff};
///
/// let report = check(&Bluff, &Budget::short());
/// assert!(report.holds() && report.breaches.is_empty());
/// assert!(report.to_string().starts_with("bluff keeps all laws (20 random games, "));
/// assert_eq!(report.ends.length(), 2.0); // a claim and an answer
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Name of the rule set.
    pub game: String,
    /// Games that were played to their end.
    pub games: u64,
    /// Games that were left, because they were too long.
    pub left: u64,
    /// States that were looked at.
    pub states: usize,
    /// How the games that were played to their end, ended.
    pub ends: Ends,
    /// The first breach of each law, in the order in which they were found.
    pub breaches: Vec<Breach>,
}

/// How random games ended.
///
/// ```
/// use adept_game::laws::Ends;
///
/// let ends = Ends { games: 4, wins: vec![2, 1], draws: 1, moves: 22 };
/// assert_eq!((ends.shares(), ends.drawn(), ends.length()), (vec![0.5, 0.25], 0.25, 5.5));
/// assert_eq!(ends.to_string(), "won by each player 50.0, 25.0 %, drawn 25.0 %, 5.5 moves on average");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ends {
    /// Games.
    pub games: u64,
    /// Games that each player won alone or with others: nobody has a higher utility, and somebody a lower one. With one player, those
    /// with a utility above 0.
    pub wins: Vec<u64>,
    /// Games in which all players have the same utility; with one player, 0.
    pub draws: u64,
    /// Moves of players in all these games.
    pub moves: u64,
}

impl Ends {
    fn add(&mut self, utilities: &[f64], moves: u64) {
        let most = utilities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = match utilities {
            [_] => 0.0,
            all => all.iter().copied().fold(f64::INFINITY, f64::min),
        };
        self.wins.resize(utilities.len(), 0);
        for (wins, utility) in self.wins.iter_mut().zip(utilities) {
            *wins += u64::from(*utility == most && most > least);
        }
        self.draws += u64::from(most == least);
        self.games += 1;
        self.moves += moves;
    }

    /// The share of the games that each player won, in [0, 1].
    pub fn shares(&self) -> Vec<f64> {
        self.wins.iter().map(|wins| *wins as f64 / self.games.max(1) as f64).collect()
    }

    /// The share of draws, in [0, 1].
    pub fn drawn(&self) -> f64 {
        self.draws as f64 / self.games.max(1) as f64
    }

    /// Mean number of moves of a game.
    pub fn length(&self) -> f64 {
        self.moves as f64 / self.games.max(1) as f64
    }
}

impl fmt::Display for Ends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shares: Vec<String> = self.shares().iter().map(|share| format!("{:.1}", 100.0 * share)).collect();
        let (shares, drawn) = (shares.join(", "), 100.0 * self.drawn());
        let who = if self.wins.len() == 1 { "won" } else { "won by each player" };
        write!(f, "{who} {shares} %, drawn {drawn:.1} %, {:.1} moves on average", self.length())
    }
}

impl Report {
    /// Whether no law was broken.
    pub fn holds(&self) -> bool {
        self.breaches.is_empty()
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (seed {}, ply {}", self.law.about(), self.found, self.seed, self.ply)?;
        match &*self.position {
            "" => f.write_str(")"),
            position => write!(f, ", position `{position}`)"),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { game, games, left, states, ends, breaches } = self;
        let left = if *left > 0 { format!(" and {left} too long ones") } else { String::new() };
        let ended = if ends.games > 0 { format!("; {ends}") } else { String::new() };
        let what = format!("{games} random games{left}, {states} states{ended}");
        if breaches.is_empty() {
            return write!(f, "{game} keeps all laws ({what})");
        }
        write!(f, "{game} breaks {} of {LAWS} laws ({what}):", breaches.len())?;
        breaches.iter().try_for_each(|breach| write!(f, "\n- {breach}"))
    }
}

/// Number of laws.
const LAWS: usize = 12;
/// A random game of more actions and outcomes of chance than this is taken for one that does not end.
pub const LONGEST: usize = 10_000;
/// Games that are played to their end for this at most.
const ENDED: u64 = 20;
/// How far probabilities may sum from 1, and utilities from 0 in units of the scale.
const ROUNDING: f64 = 1e-6;
/// Rows are encoded for this many actions of a decision at most, and texts are read back for as many.
const ACTIONS: usize = 24;
/// Outcomes of a chance event whose infos are compared at most.
const OUTCOMES: usize = 24;

/// Checks the laws along random games. A law that is broken is reported once, with the first place. Never fails: a panic of the game is
/// a breach of [`Law::NoPanic`]; it ends the check, and the panic hook may print it.
pub fn check<G: Kit>(game: &G, budget: &Budget) -> Report {
    check_with(game, budget, &|_| true)
}

/// As [`check`], with the listed encoders of these names alone. Some read tables that take long to make.
///
/// ```
/// use adept_game::{laws::{Budget, check_with}, tiny::Nim};
///
/// assert!(check_with(&Nim::default(), &Budget::short(), &|encoder| encoder != "slow-table").holds());
/// ```
pub fn check_with<G: Kit>(game: &G, budget: &Budget, encoders: &dyn Fn(&str) -> bool) -> Report {
    let mut checker = Checker::new(game);
    let outcome = catch_unwind(AssertUnwindSafe(|| checker.run(budget, encoders)));
    if let Err(payload) = outcome {
        let found = format!("a method panicked: {}", message(payload));
        // The state may be what cannot be written, so it is not asked for again.
        let position = std::mem::take(&mut checker.position);
        let (seed, ply) = (checker.seed, checker.ply);
        checker.report.breaches.push(Breach { law: Law::NoPanic, seed, ply, position, found });
    }
    checker.report
}

/// The text of a panic. What has none, such as an exception of another language, goes on to its catcher.
fn message(payload: Box<dyn Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => match payload.downcast::<&'static str>() {
            Ok(text) => (*text).into(),
            Err(other) => resume_unwind(other),
        },
    }
}

struct Checker<'a, G: Kit> {
    game: &'a G,
    encoders: Vec<(String, Arc<dyn Encoder<G>>)>,
    scripts: Vec<(String, Script<G>)>,
    report: Report,
    seed: u64,
    ply: usize,
    /// Moves of players in the game so far.
    moves: u64,
    position: String,
    /// The legal actions by what the player to move knows.
    known: HashMap<(usize, G::Info), Vec<G::Action>>,
    /// Whether states that differ were compared by what a player knows, and whether some looked alike.
    compared: bool,
    alike: bool,
}

impl<'a, G: Kit> Checker<'a, G> {
    fn new(game: &'a G) -> Self {
        let report = Report {
            game: String::new(),
            games: 0,
            left: 0,
            states: 0,
            ends: Ends::default(),
            breaches: Vec::new(),
        };
        Self {
            game,
            encoders: Vec::new(),
            scripts: Vec::new(),
            report,
            seed: 0,
            ply: 0,
            moves: 0,
            position: String::new(),
            known: HashMap::new(),
            compared: false,
            alike: false,
        }
    }

    /// Notes a breach, unless this law is broken already.
    fn breach(&mut self, law: Law, found: impl Into<String>) {
        if self.report.breaches.iter().all(|breach| breach.law != law) {
            let (seed, ply, position) = (self.seed, self.ply, self.position.clone());
            self.report.breaches.push(Breach { law, seed, ply, position, found: found.into() });
        }
    }

    /// Notes a breach if this does not hold.
    fn law(&mut self, law: Law, holds: bool, found: impl FnOnce() -> String) {
        if !holds {
            self.breach(law, found());
        }
    }

    fn run(&mut self, budget: &Budget, encoders: &dyn Fn(&str) -> bool) {
        let game = self.game;
        self.seed = budget.seed;
        self.report.game = game.name().into();
        let (players, scale) = (game.players(), game.scale());
        self.law(Law::Turns, players > 0, || "the game has no players".into());
        self.law(Law::Utilities, scale > 0.0 && scale.is_finite(), || format!("the scale is {scale}"));
        self.law(Law::Utilities, !game.zero_sum() || players == 2, || {
            format!("a zero-sum game has two players, and this has {players}")
        });
        self.open(encoders);
        if budget.games == 0 {
            return;
        }
        for seed in budget.seed..=budget.seed.saturating_add(budget.games - 1) {
            if self.report.states >= budget.states {
                break;
            }
            self.seed = seed;
            let Some((end, whole)) = self.play(seed, budget) else { return };
            match whole {
                true => self.report.games += 1,
                false => self.report.left += u64::from(self.report.states < budget.states),
            }
            let plies = self.ply;
            let again = self.replay(seed, plies);
            self.law(Law::Repeats, again.as_ref() == Some(&end), || {
                "another game with the same seed ends in another position".into()
            });
        }
        self.check_ends(budget);
        let hides_nothing = game.hides() && self.compared && !self.alike;
        self.law(Law::Info, !hides_nothing, || {
            "the game says that it hides something, but every player can tell all positions apart".into()
        });
    }

    /// Opens encoders and scripts.
    fn open(&mut self, encoders: &dyn Fn(&str) -> bool) {
        let game = self.game;
        // Without its parameter, which only people know.
        let is_form = |name: &str| name.split(':').skip(1).any(|part| part.chars().all(char::is_uppercase));
        let listed = game.encoders();
        self.law(Law::Encoders, !listed.names().is_empty(), || "the game lists no encoder".into());
        for named in listed.names().iter().filter(|named| encoders(&named.name)) {
            match listed.open(&named.name) {
                Some(encoder) if encoder.fits(game).is_ok() => {
                    self.check_channels(&named.name, encoder.channels());
                    self.encoders.push((named.name.to_string(), encoder));
                }
                Some(_) => {}
                None => self.law(Law::Encoders, is_form(&named.name), || {
                    format!("the encoder `{}` is listed, but cannot be opened", named.name)
                }),
            }
        }
        let listed = game.agents().scripts;
        for named in listed.names() {
            match listed.open(&named.name) {
                Some(script) => self.scripts.push((named.name.to_string(), script)),
                None => self.law(Law::Scripts, is_form(&named.name), || {
                    format!("the script `{}` is listed, but cannot be opened", named.name)
                }),
            }
        }
    }

    fn check_channels(&mut self, encoder: &str, channels: &[Channel]) {
        let mut names = HashSet::new();
        let twice = channels.iter().find(|channel| !names.insert(&*channel.name));
        self.law(Law::Encoders, !channels.is_empty(), || format!("`{encoder}` declares no channels"));
        self.law(Law::Encoders, twice.is_none(), || {
            format!("`{encoder}` declares the channel `{}` twice", twice.map_or("", |channel| &channel.name))
        });
    }

    /// Plays a random game and looks at every state. Returns where it ends and whether that is its end; none if it cannot go on.
    fn play(&mut self, seed: u64, budget: &Budget) -> Option<(G::State, bool)> {
        let game = self.game;
        let (mut rng, mut looks) = (stream(seed, "laws", 0), stream(seed, "laws looks", 0));
        let mut state = game.start();
        self.law(Law::Repeats, state == game.start(), || "`start` gives another position each time".into());
        (self.ply, self.moves, self.position) = (0, 0, String::new());
        let mut last = None;
        let classes = outcome_classes(game).unwrap_or_default();
        let mut possible = vec![OutcomeMask::ALL; game.players()];
        loop {
            self.report.states += 1;
            self.position = game.position_text(&state);
            let turn = self.turn(&state, last)?;
            self.check_possible(&state, &classes, &mut possible);
            let is_over = turn == Turn::Over;
            if is_over || self.ply >= budget.plies || self.report.states >= budget.states {
                if is_over {
                    self.check_end(&state, &classes, &possible);
                }
                return Some((state, is_over));
            }
            let action = match turn {
                Turn::Player(player) => {
                    let actions = self.check_decision(&state, player, &mut looks)?;
                    last = Some(player);
                    self.moves += 1;
                    actions[rng.random_range(0..actions.len())].clone()
                }
                _ => {
                    self.check_chance(&state, &mut looks)?;
                    last = None;
                    game.sample(&state, &mut rng)
                }
            };
            let (mut after, mut again) = (state.clone(), state.clone());
            game.apply(&mut after, &action);
            game.apply(&mut again, &action);
            self.law(Law::Repeats, after == again, || {
                format!("`{}` leads to different positions", game.action_text(&state, &action))
            });
            state = after;
            self.ply += 1;
        }
    }

    /// Plays random games to their end, without looking at their states.
    fn check_ends(&mut self, budget: &Budget) {
        let game = self.game;
        for seed in budget.seed..=budget.seed.saturating_add(budget.games.clamp(1, ENDED) - 1) {
            (self.seed, self.ply, self.position) = (seed, 0, String::new());
            if let Some(state) = self.replay(seed, LONGEST)
                && game.turn(&state) != Turn::Over
            {
                (self.ply, self.position) = (LONGEST, game.position_text(&state));
                self.breach(
                    Law::Ends,
                    format!("a random game is not over after {LONGEST} actions and outcomes of chance; end it, for example by counting them in the state"),
                );
                return;
            }
        }
    }

    /// The state after as many plies of the game with this seed, without looking at any; none if it ends before.
    fn replay(&self, seed: u64, plies: usize) -> Option<G::State> {
        let game = self.game;
        let (mut rng, mut state, mut actions) = (stream(seed, "laws", 0), game.start(), Vec::new());
        for _ in 0..plies {
            let action = match game.turn(&state) {
                Turn::Player(_) => {
                    game.actions(&state, &mut actions);
                    let place = (!actions.is_empty()).then(|| rng.random_range(0..actions.len()))?;
                    actions.swap_remove(place)
                }
                Turn::Chance => game.sample(&state, &mut rng),
                Turn::Over => return None,
            };
            game.apply(&mut state, &action);
        }
        Some(state)
    }

    /// Whose turn it is; none if the game cannot go on.
    fn turn(&mut self, state: &G::State, last: Option<usize>) -> Option<Turn> {
        let game = self.game;
        let turn = game.turn(state);
        self.law(Law::Repeats, turn == game.turn(state), || "`turn` changes between two calls".into());
        let named = game.just_acted(state);
        self.law(Law::Turns, last.is_none() || named.is_none() || named == last, || {
            format!("`just_acted` says player {}, but player {} acted", named.unwrap_or(0), last.unwrap_or(0))
        });
        if let Turn::Player(player) = turn {
            if player >= game.players() {
                self.breach(Law::Turns, format!("it is the turn of player {player} of {}", game.players()));
                return None;
            }
            return Some(turn);
        }
        let mut actions = Vec::new();
        game.actions(state, &mut actions);
        self.law(Law::Actions, actions.is_empty(), || {
            format!("there are {} actions, though it is no player's turn", actions.len())
        });
        Some(turn)
    }

    /// Checks a decision; returns its actions, or none if there are none.
    fn check_decision(
        &mut self,
        state: &G::State,
        player: usize,
        rng: &mut Stream,
    ) -> Option<Vec<G::Action>> {
        let game = self.game;
        let (mut actions, mut again) = (Vec::new(), Vec::new());
        game.actions(state, &mut actions);
        game.actions(state, &mut again);
        if actions.is_empty() {
            self.breach(Law::Actions, format!("player {player} is to move and has no action"));
            return None;
        }
        self.law(Law::Repeats, actions == again, || "`actions` lists others at a second call".into());
        let twice = twice(&actions);
        self.law(Law::Actions, twice.is_none(), || {
            format!(
                "`{}` is listed twice",
                twice.map_or(String::new(), |action| game.action_text(state, action))
            )
        });
        self.check_action_numbers(state, &actions);
        self.check_texts(state, &actions);
        self.check_info(state, player, &actions);
        self.check_scripts(state, &actions);
        let some = some_of(&actions, ACTIONS, rng);
        self.check_rows(state, player, &some);
        self.check_reward(state, &some);
        Some(actions)
    }

    fn check_action_numbers(&mut self, state: &G::State, actions: &[G::Action]) {
        let game = self.game;
        let numbers = game.action_numbers();
        let most = numbers.most.unwrap_or(usize::MAX);
        self.law(Law::Actions, actions.len() <= most, || {
            format!("there are {} actions, but `most_actions` is {most}", actions.len())
        });
        let Some(size) = numbers.space else { return };
        let mut numbers: Vec<usize> =
            actions.iter().map(|action| numbers.number(game, state, action)).collect();
        let beyond = numbers.iter().copied().find(|&number| number >= size);
        self.law(Law::Actions, beyond.is_none(), || {
            format!("an action has number {}, but there are {size}", beyond.unwrap_or(0))
        });
        numbers.sort_unstable();
        let twice = numbers.windows(2).find(|pair| pair[0] == pair[1]);
        self.law(Law::Actions, twice.is_none(), || {
            format!("two actions have number {}", twice.map_or(0, |pair| pair[0]))
        });
    }

    fn check_texts(&mut self, state: &G::State, actions: &[G::Action]) {
        let game = self.game;
        let text = self.position.clone();
        let is_line = |text: &str| !text.trim().is_empty() && !text.contains(['\n', '\r']);
        self.law(Law::Texts, is_line(&text), || format!("the position as text is not one line: {text:?}"));
        match game.parse_position(&text) {
            Ok((read, _)) => {
                let written = game.position_text(&read);
                self.law(Law::Texts, written == text, || format!("the position reads back as `{written}`"));
                let mut others = Vec::new();
                game.actions(&read, &mut others);
                // The text may leave the seat out, where positions look the same from each.
                let same = matches!(game.turn(&read), Turn::Player(_)) && others == actions;
                self.law(Law::Texts, same, || "the position reads back with other actions".into());
            }
            Err(error) => self.breach(Law::Texts, format!("the position cannot be read back: {error}")),
        }
        for action in actions.iter().take(ACTIONS) {
            let text = game.action_text(state, action);
            self.law(Law::Texts, is_line(&text), || format!("an action as text is not one line: {text:?}"));
            match game.parse_action(state, &text) {
                Ok(read) => self.law(Law::Texts, read == *action, || {
                    format!("the action `{text}` reads back as `{}`", game.action_text(state, &read))
                }),
                Err(error) => {
                    self.breach(Law::Texts, format!("the action `{text}` cannot be read back: {error}"))
                }
            }
        }
    }

    fn check_info(&mut self, state: &G::State, player: usize, actions: &[G::Action]) {
        let game = self.game;
        for seat in 0..game.players() {
            let info = game.info(state, seat);
            self.law(Law::Repeats, info == game.info(state, seat), || {
                "`info` changes between two calls".into()
            });
            let without = game.shown_to(state, seat);
            let shown = game.info(&without, seat);
            self.alike |= without != *state && shown == info;
            self.law(Law::Info, shown == info, || {
                format!(
                    "player {seat} knows more, or less, than `shown_to` shows: {info:?} instead of {shown:?}"
                )
            });
        }
        if !game.hides() {
            return;
        }
        let info = game.info(state, player);
        let known = self.known.entry((player, info)).or_insert_with(|| actions.to_vec());
        let same = known == actions;
        self.law(Law::Info, same, || {
            format!("player {player} knows the same as in an earlier position, and has other actions")
        });
        // What another player's action tells.
        let after = |action: &G::Action| {
            let mut after = state.clone();
            game.apply(&mut after, action);
            after
        };
        let others: Vec<G::State> = actions.iter().take(OUTCOMES).map(after).collect();
        self.compare(&others, Some(player));
    }

    /// Compares what players know in states of which only one comes to be; `except` is who chose among them.
    fn compare(&mut self, states: &[G::State], except: Option<usize>) {
        let game = self.game;
        for seat in (0..game.players()).filter(|seat| Some(*seat) != except) {
            let mut by_shown: HashMap<G::State, G::Info> = HashMap::new();
            let mut infos = HashSet::new();
            for state in states {
                let info = game.info(state, seat);
                infos.insert(info.clone());
                let first = by_shown.entry(game.shown_to(state, seat)).or_insert_with(|| info.clone());
                let same = *first == info;
                self.law(Law::Info, same, || {
                    format!("player {seat} is shown the same after two outcomes, but `info` tells them apart")
                });
            }
            let distinct: HashSet<&G::State> = states.iter().collect();
            self.compared |= distinct.len() > 1;
            self.alike |= infos.len() < distinct.len();
        }
    }

    fn check_scripts(&mut self, state: &G::State, actions: &[G::Action]) {
        for (name, script) in self.scripts.clone() {
            let mut probabilities = Vec::new();
            script(self.game, state, actions, &mut probabilities);
            let (found, sum) = (probabilities.len(), probabilities.iter().sum::<f64>());
            self.law(Law::Scripts, found == actions.len(), || {
                format!("`{name}` gives {found} probabilities for {} actions", actions.len())
            });
            let fits = probabilities.iter().all(|p| (0.0..=1.0 + ROUNDING).contains(p))
                && (sum - 1.0).abs() < ROUNDING;
            self.law(Law::Scripts, fits, || format!("`{name}` gives probabilities with sum {sum}"));
        }
    }

    fn check_reward(&mut self, state: &G::State, actions: &[G::Action]) {
        let game = self.game;
        for action in actions {
            let reward = game.results().reward;
            let wrong = (0..game.players()).find(|player| !reward(game, state, action, *player).is_finite());
            self.law(Law::Utilities, wrong.is_none(), || {
                format!("the reward of `{}` is not finite", game.action_text(state, action))
            });
        }
    }

    /// Encodes afterstates, or in games that hide something the state before each action.
    fn check_rows(&mut self, state: &G::State, player: usize, actions: &[G::Action]) {
        let game = self.game;
        for (name, encoder) in self.encoders.clone() {
            let mut rows = Rows::new(encoder.channels());
            let mut shown = rows.empty();
            for action in actions {
                let mut after = state.clone();
                if !game.hides() {
                    game.apply(&mut after, action);
                    if game.turn(&after) == Turn::Over {
                        continue;
                    }
                }
                let encode = |state: &G::State, rows: &mut Rows| {
                    encoder.encode(game, Afterstate { state, action: Some(action), player }, rows.push());
                };
                encode(&after, &mut rows);
                encode(&game.shown_to(&after, player), &mut shown);
            }
            if encoder.decides() {
                let mut candidates = Vec::new();
                let mut own = rows.empty();
                encoder.decide(game, state, player, &mut candidates, &mut own);
                let mut legal = Vec::new();
                game.actions(state, &mut legal);
                let fits = !candidates.is_empty()
                    && candidates.len() == own.len()
                    && candidates.iter().all(|candidate| legal.contains(candidate));
                self.law(Law::Encoders, fits, || {
                    format!(
                        "`{name}` lists {} candidates in {} rows, or illegal ones",
                        candidates.len(),
                        own.len()
                    )
                });
                self.check_numbers(&name, encoder.channels(), &own);
            } else {
                self.check_numbers(&name, encoder.channels(), &rows);
                self.law(Law::Encoders, rows == shown, || {
                    format!("`{name}` reads what player {player} is not shown")
                });
            }
        }
    }

    fn check_numbers(&mut self, encoder: &str, channels: &[Channel], rows: &Rows) {
        if let Err(error) = rows.check(channels) {
            self.breach(Law::Encoders, format!("`{encoder}`: {error}"));
            return;
        }
        for row in 0..rows.len() {
            let mut at = 0;
            for channel in channels {
                let numbers = &rows.dense_row(row)[at..at + channel.kind.dense_width()];
                at += numbers.len();
                let fits = |number: &f32| match channel.kind {
                    ChannelKind::Bits(_) => *number == 0.0 || *number == 1.0,
                    ChannelKind::Value => (-1.0..=1.0).contains(number),
                    _ => number.is_finite(),
                };
                if let Some((place, number)) = numbers.iter().enumerate().find(|(_, number)| !fits(number)) {
                    let what = match channel.kind {
                        ChannelKind::Bits(_) => "0 or 1",
                        ChannelKind::Value => "in −1..1",
                        _ => "finite",
                    };
                    self.breach(
                        Law::Encoders,
                        format!(
                            "`{encoder}`: input {place} of channel `{}` is {number}, not {what}",
                            channel.name
                        ),
                    );
                }
            }
        }
    }

    /// Checks a chance event; none if the game cannot go on.
    fn check_chance(&mut self, state: &G::State, rng: &mut Stream) -> Option<()> {
        let game = self.game;
        let (mut outcomes, mut again) = (Vec::new(), Vec::new());
        let is_listed = game.outcomes(state, &mut outcomes);
        let repeats = game.outcomes(state, &mut again) == is_listed && (!is_listed || outcomes == again);
        self.law(Law::Repeats, repeats, || "`outcomes` lists others at a second call".into());
        let after = |outcome: &G::Action| {
            let mut after = state.clone();
            game.apply(&mut after, outcome);
            after
        };
        let mut some: Vec<G::Action> = Vec::new();
        if is_listed {
            if outcomes.is_empty() {
                self.breach(Law::Outcomes, "chance is to move and has no outcome");
                return None;
            }
            let sum: f64 = outcomes.iter().map(|(_, p)| p).sum();
            self.law(Law::Outcomes, (sum - 1.0).abs() < ROUNDING, || {
                format!("the probabilities sum to {sum}")
            });
            let wrong = outcomes.iter().find(|(_, p)| !(*p > 0.0 && *p <= 1.0 + ROUNDING));
            self.law(Law::Outcomes, wrong.is_none(), || {
                let (outcome, p) =
                    wrong.map_or((String::new(), 0.0), |(o, p)| (game.action_text(state, o), *p));
                format!("`{outcome}` has the probability {p}")
            });
            let all: Vec<G::Action> = outcomes.into_iter().map(|(outcome, _)| outcome).collect();
            let twice = twice(&all);
            self.law(Law::Outcomes, twice.is_none(), || {
                format!("`{}` is listed twice", twice.map_or(String::new(), |o| game.action_text(state, o)))
            });
            let sampled = game.sample(state, rng);
            self.law(Law::Outcomes, all.contains(&sampled), || {
                format!("`sample` gives `{}`, which is not listed", game.action_text(state, &sampled))
            });
            some.extend(some_of(&all, OUTCOMES, rng));
        } else {
            some.extend((0..4).map(|_| game.sample(state, rng)));
        }
        if game.hides() {
            let states: Vec<G::State> = some.iter().map(after).collect();
            self.compare(&states, None);
        }
        Some(())
    }

    /// Checks which classes are possible in a state, and takes those that are not out of the `possible` ones of each player.
    fn check_possible(&mut self, state: &G::State, classes: &[OutcomeClass], possible: &mut [OutcomeMask]) {
        let game = self.game;
        let found = |player| possible_outcomes(game, classes, state, player);
        for (player, before) in possible.iter_mut().enumerate() {
            let now = found(player);
            let back = (0..classes.len()).find(|&k| now.allows(k) && !before.allows(k));
            self.law(Law::Classes, back.is_none(), || {
                let name = &classes[back.unwrap_or(0)].name;
                format!("`{name}` is possible for player {player}, which it was not before")
            });
            *before = before.and(now);
        }
        if game.zero_sum() && game.players() == 2 {
            let (first, second) = (found(0), found(1).mirrored(classes));
            let other = (0..classes.len()).find(|&k| first.allows(k) != second.allows(k));
            self.law(Law::Classes, other.is_none(), || {
                let OutcomeClass { name, mirror, .. } = &classes[other.unwrap_or(0)];
                format!(
                    "one of `{name}` for player 0 and `{}` for player 1 is possible, and the other is not",
                    classes[*mirror].name
                )
            });
        }
    }

    fn check_end(&mut self, state: &G::State, classes: &[OutcomeClass], possible: &[OutcomeMask]) {
        let game = self.game;
        let scale = game.scale();
        let mut all = Vec::new();
        game.utilities(state, &mut all);
        let each: Vec<f64> = (0..game.players()).map(|player| game.utility(state, player)).collect();
        self.law(Law::Utilities, each == all, || format!("`utilities` gives {all:?}, `utility` {each:?}"));
        let most = scale * (1.0 + ROUNDING);
        let beyond = each.iter().find(|utility| !(-most..=most).contains(utility));
        self.law(Law::Utilities, beyond.is_none(), || {
            format!("a utility is {}, outside −{scale}..{scale}", beyond.unwrap_or(&0.0))
        });
        for (player, possible) in possible.iter().enumerate().filter(|_| !classes.is_empty()) {
            let class = outcome_of(game, classes, state, player);
            self.law(Law::Classes, class.is_some(), || {
                format!("the result of player {player} is in no class of `results`")
            });
            if let Some(class) = class {
                self.law(Law::Classes, possible.allows(class), || {
                    format!(
                        "the game ended for player {player} with `{}`, which was not possible in a state on the way",
                        classes[class].name
                    )
                });
            }
        }
        self.report.ends.add(&each, self.moves);
        let sum: f64 = each.iter().sum();
        let is_zero = sum.abs() <= ROUNDING * scale.abs();
        self.law(Law::Utilities, !game.zero_sum() || is_zero, || {
            format!("the utilities {each:?} of a zero-sum game sum to {sum}")
        });
    }
}

/// The first item that is in the list before.
fn twice<T: Eq + Hash>(all: &[T]) -> Option<&T> {
    let mut seen = HashSet::new();
    all.iter().find(|item| !seen.insert(*item))
}

/// This many items of a list at most, the first and some others.
fn some_of<T: Clone>(all: &[T], most: usize, rng: &mut Stream) -> Vec<T> {
    if all.len() <= most {
        return all.to_vec();
    }
    let first = rng.random_range(0..all.len());
    (0..most).map(|i| all[(first + i * all.len() / most) % all.len()].clone()).collect()
}

#[cfg(test)]
mod tests;
