//! What a game offers besides its rules: encoders, agents, exact values, files.

use crate::audit::{Audit, TraceStep};
use crate::deliberation::Deliberator;
use crate::encoder::{Afterstate, Encoder};
use crate::files;
use crate::game::{Game, GameError};
use crate::halves::Halves;
use crate::peer::Peer;
use crate::play::number_of;
use crate::public_tree::TreeVisitor;
use crate::recorded::Recorded;
use crate::rng::Stream;
use crate::sheet::Sheet;
use crate::suite::Suite;
use adept_ground::work;
use adept_rows::{OutcomeClass, OutcomeMask};
use rand::Rng;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// A name that users write, with a one-line description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name, or its form with parameters after colons.
    pub name: Cow<'static, str>,
    /// One-line description for lists.
    pub about: Cow<'static, str>,
}

impl Named {
    /// Builds a list from names and descriptions.
    pub fn list(entries: &[(&'static str, &'static str)]) -> Vec<Self> {
        entries.iter().map(|&(name, about)| Self { name: name.into(), about: about.into() }).collect()
    }
}

/// A game's own valuation of its states, such as an exact table or a formula.
pub trait Valuation<G: Game>: Send + Sync {
    /// Value of an afterstate for the player who acted, in [−1, 1] (utility divided by the game's scale). NaN if
    /// unknown.
    fn value(&self, game: &G, after: Afterstate<'_, G>) -> f64;

    /// The value, none if unknown. Appends the probability of each class of results for that player, as [`Kit::outcome_classes`] lists
    /// them, if it knows these too.
    fn tell(&self, game: &G, after: Afterstate<'_, G>, _outcomes: &mut Vec<f32>) -> Option<f64> {
        Some(self.value(game, after)).filter(|value| !value.is_nan())
    }

    /// Prefetches the memory that [`value`](Self::value) will read for this state.
    fn fetch(&self, _game: &G, _after: Afterstate<'_, G>) {}
}

/// A rule-based policy. Sets `probabilities[i]` for `actions[i]`; they sum to 1.
pub type Script<G> =
    Arc<dyn Fn(&G, &<G as Game>::State, &[<G as Game>::Action], &mut Vec<f64>) + Send + Sync>;

/// Result of a lookup by name: none if the name is unknown, an error if the item is not available.
pub type Found<T> = Option<Result<T, GameError>>;

/// Valuations with their names.
pub type References<G> = Vec<(Cow<'static, str>, Arc<dyn Valuation<G>>)>;

/// A parsed position, with the action that led to it if known.
pub type ParsedPosition<G> = (<G as Game>::State, Option<<G as Game>::Action>);

/// A labelled position of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Example<S> {
    /// The position, right after a move and before a chance event or the next player's move.
    pub state: S,
    /// Its value to the player who just acted, in [−1, 1].
    pub value: f64,
    /// The probability of each class of outcomes for that player; empty if only the value is known.
    pub outcomes: Vec<f64>,
    /// Its line in the file, from 1.
    pub line: u64,
}

/// A whole game read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeGame<A> {
    /// The name of each player.
    pub names: Vec<String>,
    /// All moves and chance outcomes from the start, each with the number that the file gives to the move, 0 if none. A game that was
    /// left or resigned ends before its end by the rules.
    pub actions: Vec<(u64, A)>,
    /// The utility of player 1, if the game was ended early with a result, such as by a resignation.
    pub result: Option<f64>,
    /// What is wrong with the file where the game breaks off, with the line and the text; none if all of it was read.
    pub fault: Option<String>,
}

/// Samples positions from a distribution: states right after a move, before a chance event and the next player's move.
pub type Draw<G> = Box<dyn Fn(&mut dyn Rng) -> <G as Game>::State + Send + Sync>;

/// A named distribution of positions.
pub struct Distribution<G: Game> {
    /// Its name and description.
    pub named: Named,
    /// Samples a position.
    pub draw: Draw<G>,
}

impl<G: Game> Distribution<G> {
    /// A distribution with this sampler.
    pub fn new(
        name: &'static str,
        about: &'static str,
        draw: impl Fn(&mut dyn Rng) -> G::State + Send + Sync + 'static,
    ) -> Self {
        Self { named: Named { name: name.into(), about: about.into() }, draw: Box::new(draw) }
    }
}

/// All positions of a class, so that errors can be measured on each class by itself.
pub struct PositionClass<G: Game> {
    /// The class, as [`Positions::class`] numbers it.
    pub class: u64,
    /// Number of its positions.
    pub count: u64,
    /// The position with each number below `count`. Different numbers have different positions.
    pub position: Box<dyn Fn(u64) -> G::State + Send + Sync>,
}

/// The positions of a game apart from its games.
pub struct Positions<G: Game> {
    /// Distributions of positions; the first is the default.
    pub distributions: Vec<Distribution<G>>,
    /// A unique number for each position that a distribution draws, or a hash that is the same in every process. It splits positions for training, validation and tests.
    pub number: fn(&G::State) -> u64,
    /// The class of a position. Reports group errors by class.
    pub class: fn(&G::State) -> u64,
    /// What the number of a class means, such as "stones on the board".
    pub class_name: &'static str,
    /// A name for each number of a class from 0, such as "race", by which benchmarks group decisions; none if numbers say enough.
    pub class_names: &'static [&'static str],
    /// The classes with all their positions, in ascending order. If none, errors by class are measured on positions of a
    /// distribution.
    pub classes: Vec<PositionClass<G>>,
}

impl<G: Game> Positions<G> {
    /// No positions apart from games. Those of games are numbered by a hash of their state.
    pub fn none() -> Self {
        Self::new(Vec::new(), number_of)
    }

    /// Positions of one class.
    pub fn new(distributions: Vec<Distribution<G>>, number: fn(&G::State) -> u64) -> Self {
        Self {
            distributions,
            number,
            class: |_| 0,
            class_name: "class",
            class_names: &[],
            classes: Vec::new(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.distributions.is_empty()
    }

    /// Names and descriptions of the distributions.
    pub fn names(&self) -> Vec<Named> {
        self.distributions.iter().map(|d| d.named.clone()).collect()
    }

    /// The sampler of the distribution named `name`.
    pub fn draw(self, name: &str) -> Option<Draw<G>> {
        self.distributions.into_iter().find(|d| d.named.name == name).map(|d| d.draw)
    }
}

/// A game with everything that the commands need besides its rules. Only [`encoders`](Self::encoders) and
/// [`encoder`](Self::encoder) are required. The other methods are optional.
pub trait Kit: Game + Sized {
    /// One-line description, with the forms of the name if it takes parameters. By default, the name.
    fn about(&self) -> String {
        self.name().into()
    }

    /// Its encoders; the first is the default.
    fn encoders(&self) -> Vec<Named>;

    /// The encoder named `name`. Some names take a parameter after a colon or can be joined by `+`.
    fn encoder(&self, name: &str) -> Option<Arc<dyn Encoder<Self>>>;

    /// Whether all its states can be enumerated: at most [`limits::STATES`](adept_ground::limits::STATES), two million. Exact equity,
    /// minimax, best responses and exact values need this.
    fn is_small(&self) -> bool {
        false
    }

    /// How many numbers its actions have, for learners with an output for each action. A number means the same in every state; in games
    /// from rule files, as the player to move sees the board. None if there are too many actions.
    fn action_space(&self) -> Option<usize> {
        None
    }

    /// The number of a player's action that is legal in this state, below [`action_space`](Self::action_space). Actions of one state
    /// have different numbers.
    fn action_number(&self, _state: &Self::State, _action: &Self::Action) -> usize {
        0
    }

    /// Upper bound on the legal actions of a state, for environments with a place for each. By default
    /// [`action_space`](Self::action_space). None if it is not known.
    fn most_actions(&self) -> Option<usize> {
        self.action_space()
    }

    /// Checks the rules by random games, as many as given. None for games whose rules are not in
    /// GDL or in a rule file.
    fn audit(&self, _games: u64) -> Option<Audit> {
        None
    }

    /// A random game in the words of the rules, to compare with other programs that read them. None for games whose rules are not in
    /// GDL.
    fn trace(&self, _seed: u64) -> Option<Vec<TraceStep>> {
        None
    }

    /// The sum of each player's utility over `games` random games from a state that is not over, if the game has a faster way to play
    /// them than by its own methods. All players choose uniformly among their actions. One game at least.
    fn random_games(&self, _state: &Self::State, _games: usize, _rng: &mut Stream) -> Option<Vec<f64>> {
        None
    }

    /// The state in which the first of several players who choose at the same time has not chosen yet; the state itself in a game
    /// that hides nothing. None if what a player does not know is more than such choices.
    fn before_choices(&self, state: &Self::State) -> Option<Self::State> {
        (!self.hides()).then(|| state.clone())
    }

    /// The classes that every finished game falls into, for models with the head `outcomes`.
    ///
    /// # Errors
    /// Why its results are not listed as classes.
    fn outcome_classes(&self) -> Result<Vec<OutcomeClass>, GameError> {
        Err(GameError::new(format!("{} does not list the classes of its results", self.name())))
    }

    /// The class of a finished game for a player: an index into [`outcome_classes`](Self::outcome_classes). None if its result
    /// is in no class. By default, the class that is worth what the result is.
    fn outcome_of(&self, classes: &[OutcomeClass], state: &Self::State, player: usize) -> Option<usize> {
        let worth = self.utility(state, player) / self.scale();
        classes.iter().position(|class| (f64::from(class.utility) - worth).abs() < 1e-6)
    }

    /// The classes that a player may still end in from this state, whatever the players do and chance gives. A model's probabilities of
    /// the others are set to 0. A class that was impossible stays so to the end of the game. Between two players whose utilities sum to
    /// zero, the classes of one mirror those of the other. Where the game hides information, the answer depends on what the
    /// player knows alone. By default, all classes.
    #[inline]
    fn possible_outcomes(
        &self,
        _classes: &[OutcomeClass],
        _state: &Self::State,
        _player: usize,
    ) -> OutcomeMask {
        OutcomeMask::ALL
    }

    /// The rule of [`possible_outcomes`](Self::possible_outcomes) in words, for those who evaluate an exported network themselves: one
    /// or more sentences about "the position". None if all classes are always possible.
    fn impossible_outcomes(&self) -> Option<&'static str> {
        None
    }

    /// What tells these rules from others of the same name, for games that change without a new version of the program. A run of
    /// other rules is not taken for one of these.
    fn fingerprint(&self) -> Option<String> {
        None
    }

    /// Suites to measure by default.
    fn usual_suites(&self) -> Vec<Suite> {
        match self.has_public_tree() {
            true => vec![Suite::Exploitability],
            false if self.is_small() && !self.hides() => vec![Suite::Equity],
            false if !self.positions().is_empty() => vec![Suite::Rms],
            false => vec![Suite::Matches],
        }
    }

    /// The rest of a starter config, beginning with the line `encoder = …` of section `[game]`, or before it with `head = …`. It
    /// should train in about a minute and show that learning works. None selects a general one.
    fn starter(&self) -> Option<String> {
        None
    }

    /// Its rule-based policies, such as fixed opponents.
    fn scripts(&self) -> Vec<Named> {
        Vec::new()
    }

    /// The rule-based policy named `name`.
    fn script(&self, _name: &str) -> Option<Script<Self>> {
        None
    }

    /// Its valuations, which can also play as agents. A valuation named `oracle` is exact and provides labels and
    /// reference values for errors.
    fn valuations(&self) -> Vec<Named> {
        Vec::new()
    }

    /// The valuation named `name`. Some names take a parameter after a colon.
    fn valuation(&self, _name: &str) -> Found<Arc<dyn Valuation<Self>>> {
        None
    }

    /// The valuation named `name`, as [`valuation`](Self::valuation), for these positions and what follows them alone: from the smallest
    /// table that holds them, where the game has tables of several sizes.
    fn valuation_for(&self, name: &str, _positions: &[Self::State]) -> Found<Arc<dyn Valuation<Self>>> {
        self.valuation(name)
    }

    /// Its tables: valuations that know part of the positions so well that they may stand for a network there. They have NaN elsewhere.
    fn tables(&self) -> Vec<Named> {
        Vec::new()
    }

    /// The table named `name`.
    fn table(&self, _name: &str) -> Found<Arc<dyn Valuation<Self>>> {
        None
    }

    /// The tables that stand for the network of a checkpoint which names none, joined by `+`. They are opened in less than a second.
    fn usual_tables(&self) -> Option<&'static str> {
        None
    }

    /// The strongest of its own agents, as matches show. None if tree search over random games is stronger, or nothing was measured.
    fn strongest(&self) -> Option<String> {
        None
    }

    /// The exact valuation that measures lost value. It must resolve differences of 1e-6. By default, `oracle`.
    fn judge(&self) -> Found<Arc<dyn Valuation<Self>>> {
        self.valuation("oracle")
    }

    /// Valuations with their names that judge games before any network where they know the value: exact ones and tables that are nearly
    /// exact. They must open within two seconds, or come from a file that is there. They have NaN elsewhere.
    fn references(&self) -> Result<References<Self>, GameError> {
        Ok(Vec::new())
    }

    /// Its deliberating agents.
    fn deliberators(&self) -> Vec<Named> {
        Vec::new()
    }

    /// The deliberating agent named `name`. `settings` is an object with the settings to change, or null. The error
    /// says which setting is wrong.
    fn deliberator(&self, _name: &str, _settings: &serde_json::Value) -> Found<Arc<dyn Deliberator<Self>>> {
        None
    }

    /// The other programs that can play as agents.
    fn peers(&self) -> Vec<Named> {
        Vec::new()
    }

    /// The program named `name`: one of [`peers`](Self::peers), and after a colon where it is found. It is reached at once, so
    /// that a program that is missing is an error here and not within a match.
    fn peer(&self, _name: &str) -> Found<Box<dyn Peer<Self>>> {
        None
    }

    /// Compares an agent with decisions of another program, recorded in a file. None if the game has no such agent or no
    /// records of it.
    fn recorded(&self, _agent: &str, _path: &Path) -> Found<Recorded> {
        None
    }

    /// What a player may want to know at a decision, for hints in play beside what the opponent thinks: lines that end with a line
    /// break.
    fn advice(&self, _state: &Self::State, _player: usize) -> Option<String> {
        None
    }

    /// Suffix of files that hold whole games in the usual format of this game, such as `phhs`, the hand histories of poker.
    /// None if it has none.
    fn history_suffix(&self) -> Option<&'static str> {
        None
    }

    /// A whole game in that format: its number in the file, from 1, the name of the agent in each seat, and all moves and
    /// chance outcomes from the start. The texts of several games, one after another, are a file.
    fn history(&self, _number: u64, _names: &[&str], _actions: &[Self::Action]) -> Found<String> {
        None
    }

    /// The same with the scores before the game: what the players in these seats have won in the games before in the file, in units of
    /// utility. By default they are left out.
    fn scored_history(
        &self,
        number: u64,
        names: &[&str],
        _scores: &[f64],
        actions: &[Self::Action],
    ) -> Found<String> {
        self.history(number, names, actions)
    }

    /// A whole game in that format that a player has given up after these actions, with the utility that player 1 gets for it. None if
    /// the format has no resignations.
    fn resigned_history(
        &self,
        _number: u64,
        _names: &[&str],
        _actions: &[Self::Action],
        _utility: f64,
    ) -> Found<String> {
        None
    }

    /// Adds a game, as [`history`](Self::history) writes it with number 1, to the text of a file, which may be empty. Returns the new text and
    /// the number of the game in it.
    ///
    /// # Errors
    /// If the text does not hold games in that format.
    fn add_history(&self, _text: &str, _game: &str) -> Found<(String, u64)> {
        None
    }

    /// Reads a file in that format. Every action is legal where it stands. A game that is wrong somewhere ends there, and says why; the
    /// others are read.
    ///
    /// # Errors
    /// An I/O error, or what is wrong with the file outside of games.
    fn read_histories(&self, _path: &Path) -> Found<Vec<WholeGame<Self::Action>>> {
        None
    }

    /// A position as text for lists, which [`parse_position`](Game::parse_position) reads. By default its usual text; shorter if the
    /// game has another.
    fn short_text(&self, state: &Self::State) -> String {
        self.position_text(state)
    }

    /// The suffix of files of whole games, if this game can be written in its format.
    ///
    /// # Errors
    /// Why not: the game has no such format, or these rules do not fit into it.
    fn writes_histories(&self) -> Result<&'static str, GameError> {
        // What does not fit depends on the rules alone, so a game without any move shows it.
        match (self.history_suffix(), self.history(1, &vec![""; self.players()], &[])) {
            (Some(suffix), Some(written)) => written.map(|_| suffix),
            _ => Err(GameError::new(format!("{} has no usual format of whole games", self.name()))),
        }
    }

    /// Its positions apart from games: to learn from, and to measure on. Games with a single start position have none, and then the
    /// distribution [`PLAY`](crate::PLAY) has positions of random games.
    fn positions(&self) -> Positions<Self> {
        Positions::none()
    }

    /// Its positions as pairs of halves with exact values, for games that can enumerate all of them.
    fn halves(&self) -> Found<Box<dyn Halves<Self>>> {
        None
    }

    /// Whether [`with_public_tree`](Self::with_public_tree) calls the visitor.
    fn has_public_tree(&self) -> bool {
        false
    }

    /// Calls the visitor if this game is a [`PublicTree`](crate::PublicTree): a small two-player game with hidden
    /// information.
    fn with_public_tree<V: TreeVisitor<Self>>(&self, _visitor: V) -> Option<V::Output> {
        None
    }

    /// The exact values of positions right after a move, to the player who just acted, in [−1, 1]; NaN where unknown. By default
    /// those of the valuation `oracle`. None if the game has none.
    fn exact_values(&self, states: &[Self::State]) -> Found<Vec<f64>> {
        let exact = |oracle: Arc<dyn Valuation<Self>>| {
            let value = |state| {
                let player = self.just_acted(state).unwrap_or(0);
                oracle.value(self, Afterstate { state, action: None, player })
            };
            work::each("looking up exact values", states).map(value).collect()
        };
        Some(self.valuation("oracle")?.map(exact))
    }

    /// Reads labelled positions from a table in a text file; see [`sheet`](crate::sheet). By default, its columns are `position`,
    /// in the game's text form, and `value` or `win`: the value, or the probability of winning, for the player to move.
    ///
    /// # Errors
    /// The place of the fault, or that the game has no labelled files: it has hidden information, or sums that are not zero.
    fn read_examples(&self, path: &Path) -> Result<Vec<Example<Self::State>>, GameError> {
        files::examples(self, path)
    }

    /// Whether a file has a value for each position, so that [`read_examples`](Self::read_examples) can read it.
    ///
    /// # Errors
    /// An I/O error, or a pipe, which could not be read again.
    fn has_values(&self, path: &Path) -> Result<bool, GameError> {
        files::has_values(self, path)
    }

    /// Reads positions from a file: one per line in the game's text form, or a table with a column `position`. Empty lines and lines
    /// that begin with # are skipped.
    ///
    /// # Errors
    /// The line that is not a position.
    fn read_positions(&self, path: &Path) -> Result<Vec<ParsedPosition<Self>>, GameError> {
        files::positions(self, &Sheet::read(path)?)
    }

    /// A CSV file of positions and their values to the player to move, in the format that
    /// [`read_positions`](Self::read_positions) reads.
    fn values_file(&self, positions: &[ParsedPosition<Self>], values: &[f32]) -> String {
        files::texts_with_values(self, positions, values)
    }
}

/// Code that works for any game.
pub trait Visitor {
    /// Result type.
    type Output;

    /// Called with the selected game.
    fn visit<G: Kit>(self, game: G) -> Self::Output;
}
