//! Games by name. Rules are generic inside and meet their names only here.

use crate::bearoff::Bearoff;
use crate::deliberation::Deliberator;
use crate::encoder::{Afterstate, Channel, Encoder};
use crate::game::{Game, GameError};
use crate::halves::Halves;
use crate::liars_dice::LiarsDice;
use crate::public_tree::PublicTree;
use crate::tictactoe::TicTacToe;
use rand::Rng;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// What lists and error messages say about a game.
#[derive(Clone, Debug)]
pub struct GameInfo {
    /// Name of the rule set.
    pub name: String,
    /// One line about it.
    pub about: &'static str,
    /// Its encoders: name, one line, channels.
    pub encoders: Vec<(&'static str, &'static str, Vec<Channel>)>,
    /// Its scripted agents: name, one line.
    pub scripts: &'static [(&'static str, &'static str)],
    /// Its valuations, which also play: name, one line.
    pub valuations: &'static [(&'static str, &'static str)],
    /// Its deliberating agents: name, one line.
    pub deliberators: &'static [(&'static str, &'static str)],
    /// Its distributions of positions: name, one line.
    pub distributions: &'static [(&'static str, &'static str)],
    /// Whether its start can be listed, which everything exact needs: equity, minimax, best responses.
    pub start_is_listed: bool,
}

/// What a game itself knows of the value of its states: exact tables, formulas.
pub trait Valuation<G: Game>: Send + Sync {
    /// Value of a state right after an action for the player who acted, in [−1, 1] (utility divided by the
    /// game's scale); NaN where nothing is known.
    fn value(&self, game: &G, after: Afterstate<'_, G>) -> f64;

    /// Asks memory for what [`value`](Self::value) of this state will read.
    fn fetch(&self, _game: &G, _after: Afterstate<'_, G>) {}
}

/// A valuation that was asked for by name.
pub type FoundValuation<G> = Option<Result<Arc<dyn Valuation<G>>, GameError>>;

/// A deliberator that was asked for by name.
pub type FoundDeliberator<G> = Option<Result<Arc<dyn Deliberator<G>>, GameError>>;

/// The positions of a game as pairs of halves, if they are such.
pub type FoundHalves<G> = Option<Result<Box<dyn Halves<G>>, GameError>>;

/// A position that was read, with the action that led to it where that is known.
pub type Read<G> = (<G as Game>::State, Option<<G as Game>::Action>);

/// Draws states in which chance is to come and then a player, after a move of another.
pub type Draw<G> = Box<dyn Fn(&mut dyn Rng) -> <G as Game>::State + Send + Sync>;

/// A game with its encoders: what the registry hands out.
pub trait Registered: Game + Sized {
    /// One line about the game.
    const ABOUT: &'static str;

    /// Names of its encoders, with a line about each; the first is the default.
    fn encoders() -> &'static [(&'static str, &'static str)];

    /// The encoder of that name; some names take a parameter behind a colon, or may be joined.
    fn encoder(name: &str) -> Option<Box<dyn Encoder<Self>>>;

    /// Names of its distributions of positions, with a line about each; the first is the default. Games that begin
    /// in one place have none.
    fn distributions() -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Draws positions of the distribution of that name.
    fn draw(&self, _distribution: &str) -> Option<Draw<Self>> {
        None
    }

    /// A number of its own for each position that [`draw`](Self::draw) may give.
    fn number(&self, _state: &Self::State) -> u64 {
        0
    }

    /// What [`class`](Self::class) counts.
    const CLASS: &'static str = "";

    /// The class of a position that [`draw`](Self::draw) may give: reports show errors by it.
    fn class(&self, _state: &Self::State) -> u64 {
        0
    }

    /// Reads positions from a CSV file, and their values to the player who just acted, in [−1, 1].
    ///
    /// # Errors
    /// The place of what cannot be read, or that the game has no such files.
    fn read_examples(&self, path: &Path) -> Result<Vec<(Self::State, f64)>, GameError> {
        Err(GameError(format!("{}: {} has no files of examples", path.display(), self.name())))
    }

    /// Whether a file has a value beside each position, so that [`read_examples`](Self::read_examples) reads it.
    ///
    /// # Errors
    /// What the system refused.
    fn has_values(&self, _path: &Path) -> Result<bool, GameError> {
        Ok(false)
    }

    /// Reads the positions of a file: one a line in the game's text form, where empty lines and those that begin with # are
    /// passed over, or a CSV file whose first column is `position`.
    ///
    /// # Errors
    /// The line of what is no position.
    fn read_positions(&self, path: &Path) -> Result<Vec<Read<Self>>, GameError> {
        lines_of_positions(self, path)
    }

    /// A CSV file of positions and their values to the player to move, which
    /// [`read_positions`](Self::read_positions) reads.
    fn values_file(&self, positions: &[Read<Self>], values: &[f32]) -> String {
        texts_with_values(self, positions, values)
    }

    /// Names of its valuations, with a line about each.
    fn valuations() -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The valuation of that name; some take a parameter behind a colon. An error says why it cannot be had.
    fn valuation(&self, _name: &str) -> FoundValuation<Self> {
        None
    }

    /// Names of its deliberating agents, with a line about each.
    fn deliberators() -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The deliberating agent of that name, with some of its settings changed: an object, or null. An error says which of
    /// them cannot be.
    fn deliberator(&self, _name: &str, _settings: &serde_json::Value) -> FoundDeliberator<Self> {
        None
    }

    /// Its positions as pairs of halves with exact values, for games in which all can be gone through. An error says
    /// why the values cannot be had.
    fn halves(&self) -> FoundHalves<Self> {
        None
    }
}

/// Positions of a file in the game's text form: one a line, or the column `position` of a CSV file.
pub(crate) fn lines_of_positions<G: Game>(game: &G, path: &Path) -> Result<Vec<Read<G>>, GameError> {
    let fault = |what: String| GameError(format!("{}: {what}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| fault(e.to_string()))?;
    let text = text.trim_start_matches('\u{feff}');
    if text.lines().next().is_some_and(|first| first.split(',').next() == Some("position")) {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let read = |record: csv::Result<csv::StringRecord>| {
            let record = record.map_err(|e| fault(e.to_string()))?;
            let line = record.position().map_or(0, csv::Position::line);
            game.parse_position(record.get(0).unwrap_or("")).map_err(|e| fault(format!("line {line}: {e}")))
        };
        return reader.records().map(read).collect();
    }
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let read = |(number, line)| game.parse_position(line).map_err(|e| fault(format!("line {number}: {e}")));
    lines.map(read).collect()
}

/// Positions in the game's text form and their values as CSV.
pub(crate) fn texts_with_values<G: Game>(game: &G, positions: &[Read<G>], values: &[f32]) -> String {
    let mut text = String::from("position,value\n");
    for ((state, action), value) in positions.iter().zip(values) {
        let _ = writeln!(text, "\"{}\",{value:.9}", game.afterstate_text(state, action.as_ref()));
    }
    text
}

/// Code that works for any game.
pub trait Visitor {
    /// What it gives.
    type Output;

    /// Is called with the game that was asked for.
    fn visit<G: Registered>(self, game: G) -> Self::Output;
}

/// Calls the visitor with the game of that name; `None` if there is none, with the visitor unused.
pub fn with_game<V: Visitor>(name: &str, visitor: V) -> Option<V::Output> {
    match name {
        "tictactoe" => Some(visitor.visit(TicTacToe)),
        _ => match LiarsDice::named(name) {
            Some(game) => Some(visitor.visit(game)),
            None => Some(visitor.visit(Bearoff::named(name)?)),
        },
    }
}

/// Code that works for any game that has a public tree.
pub trait TreeVisitor {
    /// What it gives.
    type Output;

    /// Is called with the game that was asked for.
    fn visit<G: PublicTree + Registered>(self, game: G) -> Self::Output;
}

/// Calls the visitor with the game of that name if it has a public tree: small games with hidden information.
pub fn with_public_tree<V: TreeVisitor>(name: &str, visitor: V) -> Option<V::Output> {
    let game = LiarsDice::named(name).filter(LiarsDice::has_public_tree)?;
    Some(visitor.visit(game))
}

/// Whether the game of that name has a public tree.
pub fn has_public_tree(name: &str) -> bool {
    LiarsDice::named(name).is_some_and(|game| game.has_public_tree())
}

/// What there is to say about the game of that name; some names take a parameter behind a colon.
pub fn info(name: &str) -> Option<GameInfo> {
    struct Describe;
    impl Visitor for Describe {
        type Output = GameInfo;
        fn visit<G: Registered>(self, game: G) -> Self::Output {
            let encoder = |&(name, about): &(&'static str, &'static str)| {
                G::encoder(name).map(|e| (name, about, e.channels().to_vec()))
            };
            GameInfo {
                name: game.name().into(),
                about: G::ABOUT,
                encoders: G::encoders().iter().filter_map(encoder).collect(),
                distributions: G::distributions(),
                scripts: game.scripts(),
                deliberators: G::deliberators(),
                valuations: G::valuations(),
                start_is_listed: game.start_is_listed(),
            }
        }
    }
    with_game(name, Describe)
}

/// All games, in the order of the list above.
pub fn games() -> Vec<GameInfo> {
    ["tictactoe", "bearoff", "liars-dice"].into_iter().filter_map(info).collect()
}
