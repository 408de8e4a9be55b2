//! Use checkpoints in your own programs.
//!
//! ```
//! # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
//! let model = adept_embed::Model::open("checkpoints/bearoff/residual-10".as_ref())?;
//! let moves = model.moves("1,1,1,1,1,1/0,0,0,0,0,2 65")?;
//! println!("{} leaves {}, worth {:+.4}", moves[0].action, moves[0].after, moves[0].value);
//! assert_eq!(moves[0].action, "6/off 5/off");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `search:4:PATH` instead of a path adds a search: see [`Model::open`].
//!
//! Any number of threads may use a [`Model`] at once. The C interface is in `include/adept.h`, backed by the functions
//! of [`ffi`].

pub mod ffi;

use adept_arena::search::Search;
use adept_arena::{Decision, Evaluator, GameModel, OpenError, Pool, inspect, naming, open};
use adept_erased::erased;
use adept_game::{Kit, Turn, Visitor};
use adept_model::checkpoint::{self, Checkpoint, Manifest};
use adept_model::program::Program;
use adept_model::{Layout, ModelError, Predictor, RowsView};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

pub use adept_arena::inspect::{Choice, Input, MoveValue, Numbers, PositionValue, Searched};
pub use adept_arena::search::{Budget, Filter, SearchOptions};
pub use adept_model::{Explanation, Gates, Rows};

/// Why a call on a model failed.
///
/// ```
/// use adept_embed::{Error, Model};
///
/// match Model::open("no/such/checkpoint".as_ref()) {
///     Err(Error::Missing(message)) => assert!(message.contains("no/such/checkpoint")),
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No checkpoint is at the path, and none is published by this name.
    #[error("{0}")]
    Missing(String),
    /// A file of the checkpoint changed since it was written.
    #[error("{0}")]
    Damaged(String),
    /// The checkpoint cannot be read, or has a newer version.
    #[error("{0}")]
    Checkpoint(String),
    /// The game of the checkpoint is unknown, or the checkpoint is for another game or another version of its encoder.
    #[error("{0}")]
    Game(String),
    /// The budget of a search is wrong, or no search is possible.
    #[error("{0}")]
    Search(String),
    /// The machine has too little memory.
    #[error("{0}")]
    Memory(String),
    /// A text is not a position.
    #[error("{0}")]
    Position(String),
    /// A position is not in a state that the call needs: the game is over, no player is to move, or the encoder reads what it lacks.
    #[error("{0}")]
    State(String),
    /// Rows do not fit the encoder.
    #[error("{0}")]
    Rows(String),
}

impl From<ModelError> for Error {
    fn from(error: ModelError) -> Self {
        let kind = match error {
            ModelError::Damaged { .. } => Self::Damaged,
            ModelError::Memory { .. } => Self::Memory,
            _ => Self::Checkpoint,
        };
        kind(error.to_string())
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Model(error) => error.into(),
            OpenError::Mismatch { .. } => Self::Game(error.to_string()),
            _ => Self::Checkpoint(error.to_string()),
        }
    }
}

/// Description of a model.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// let model = adept_embed::Model::open("checkpoints/bearoff/plain-10".as_ref())?;
/// let about = model.describe();
/// assert_eq!((&*about.game, about.range, about.scale), ("bearoff", Some([-1.0, 1.0]), 1.0));
/// assert_eq!(about.channels.iter().map(|channel| channel.width).sum::<usize>(), about.dense_width);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    /// Rule set.
    pub game: String,
    /// Encoder that fills the rows.
    pub encoder: String,
    /// Meaning of the outputs: a value, the logit of a policy, or outcome classes.
    pub head: adept_model::Head,
    /// Range of the network's values, determined by its last layer: [−1, 1] for tanh. None if unbounded, as for
    /// networks with a linear last layer, for logits and for tables.
    pub range: Option<[f32; 2]>,
    /// Largest result of the game. Values are results divided by it: 1 for a win without units, otherwise in units of
    /// the game, such as chips.
    pub scale: f64,
    /// The channels of a row.
    pub channels: Vec<ChannelDescription>,
    /// Floats per row.
    pub dense_width: usize,
    /// Integers per row.
    pub index_width: usize,
    /// Name of the experiment.
    pub experiment: String,
    /// One-sentence description.
    pub about: String,
    /// Training seed.
    pub seed: u64,
    /// Number of games or samples it learned from.
    pub step: u64,
    /// Number of parameters.
    pub parameters: usize,
    /// Checksum of the checkpoint.
    pub checksum: String,
    /// Search budget as in the model's name: `4`, `100ms`, `10000n,keep=8/4`. None without a search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
}

/// A channel and its columns in a row.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// let model = adept_embed::Model::open("checkpoints/bearoff/residual-10".as_ref())?;
/// let last = model.describe().channels.last().ok_or("no channels")?;
/// assert_eq!((&*last.name, last.kind, last.width), ("prior", "value", 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelDescription {
    /// Name.
    pub name: String,
    /// `dense`, `bits` and `value` are among the floats, `index` and `key` among the integers.
    pub kind: &'static str,
    /// Index of the first column.
    pub first: usize,
    /// Number of columns.
    pub width: usize,
    /// Number of possible values of an index (0 to one less); `None` for other kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Meaning of each input.
    pub about: String,
}

/// A network for use in other engines.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// let model = adept_embed::Model::open("checkpoints/bearoff/plain-10".as_ref())?;
/// let network = model.network()?.ok_or("a table has no network")?;
/// assert_eq!(network.weights.len(), model.describe().parameters);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Network {
    /// Its operations.
    pub program: Arc<Program>,
    /// Its parameters as one vector, in the order of the program.
    pub weights: Vec<f32>,
}

/// An opened checkpoint.
///
/// One model serves all threads:
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// let model = adept_embed::Model::open("checkpoints/bearoff/plain-10".as_ref())?;
/// let value = || model.values(&["1,1,1,1,1,1/0,0,0,0,0,2"]).unwrap();
/// std::thread::scope(|threads| {
///     let other = threads.spawn(value);
///     assert_eq!(value(), other.join().unwrap());
/// });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Model {
    bound: Box<dyn AnyModel>,
    description: Description,
}

impl Model {
    /// Opens a checkpoint folder, or the latest checkpoint of a run folder. A prior that is another checkpoint is
    /// looked up in the same folder, where `adept publish` puts it, or relative to the current folder. If the path does
    /// not exist, it may name a published checkpoint: `backgammon/small-88-24`, or a game for its best one.
    ///
    /// Positions that the game's tables know, such as backgammon races, have table values; rows always have network
    /// values.
    ///
    /// `search:BUDGET:PATH` adds a search: `search:4:PATH` by plies, `search:100ms:PATH` by time, `search:10000n:PATH`
    /// by evaluated positions, optionally with settings such as `search:3,keep=8/4:PATH`. The budget applies to each
    /// position. [`values`](Self::values), [`moves`](Self::moves), [`choose`](Self::choose) and
    /// [`explain`](Self::explain) then search; functions on rows do not.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// use adept_embed::Model;
    ///
    /// let model = Model::open("bearoff/plain-10".as_ref())?; // a published checkpoint by its name
    /// assert_eq!(model.describe().experiment, "plain-10");
    /// let ahead = Model::open("search:2:bearoff/plain-10".as_ref())?;
    /// assert_eq!(ahead.describe().search.as_deref(), Some("2"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Damaged`], [`Error::Checkpoint`] or [`Error::Memory`]; [`Error::Game`] if its game is not built in;
    /// [`Error::Search`] for a wrong budget, and where a search is not possible: in games that hide information, and by a policy.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::opened(path, false)
    }

    /// Opens a checkpoint folder, or the best checkpoint of a run folder.
    ///
    /// # Errors
    /// As for [`open`](Self::open), and if the run does not measure which checkpoint is best.
    pub fn open_best(path: &Path) -> Result<Self, Error> {
        Self::opened(path, true)
    }

    fn opened(path: &Path, best: bool) -> Result<Self, Error> {
        let opening = Opening::at(path, best)?;
        let (located, game) = (opening.0.path.clone(), opening.0.manifest.game.clone());
        let unknown = |why: &str| Error::Game(format!("{}: its game is unknown: {why}", located.display()));
        match adept_builtin::visit(&game, opening) {
            Some(Ok(opened)) => opened,
            Some(Err(error)) => Err(unknown(&error.to_string())),
            None => Err(unknown(&format!("no built-in game named `{game}`: open it with `Model::open_for`"))),
        }
    }

    /// Opens a checkpoint folder, or the latest checkpoint of a run folder, of a game of your own.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// use adept_builtin::bearoff::Bearoff; // or a game of your own
    /// use adept_embed::Model;
    ///
    /// let model = Model::open_for(Bearoff::default(), "checkpoints/bearoff/plain-10".as_ref())?;
    /// assert_eq!(model.describe().game, "bearoff");
    /// let other = Model::open_for(adept_builtin::tictactoe::TicTacToe, "checkpoints/bearoff/plain-10".as_ref());
    /// assert!(other.is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`open`](Self::open), and [`Error::Game`] if the checkpoint is for another game.
    pub fn open_for<G: Kit>(game: G, path: &Path) -> Result<Self, Error> {
        Opening::at(path, false)?.visit(game)
    }

    /// Opens a checkpoint folder, or the best checkpoint of a run folder, of a game of your own.
    ///
    /// # Errors
    /// As for [`open_best`](Self::open_best), and if the checkpoint is for another game.
    pub fn open_best_for<G: Kit>(game: G, path: &Path) -> Result<Self, Error> {
        Opening::at(path, true)?.visit(game)
    }

    /// Description of the model.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// let model = adept_embed::Model::open("checkpoints/bearoff/hme-4x16".as_ref())?;
    /// let about = model.describe();
    /// println!("{} of {}, {} parameters: {}", about.experiment, about.game, about.parameters, about.about);
    /// assert!(about.parameters > 0 && about.search.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn describe(&self) -> &Description {
        &self.description
    }

    /// Computes the values of positions in the game's text form for the player to move, in the
    /// [`range`](Description::range) of the model. Positions of the bear-off may also be gnubg Position IDs and XGIDs,
    /// whose dice are the roll to play. The value is that of the best move; if a roll is next, of the position; if the
    /// game is over, the exact result, in [−1, 1]. Without a legal move it is 0.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// let model = adept_embed::Model::open("checkpoints/bearoff/plain-10".as_ref())?;
    /// // Before a roll, with a roll, and after the end, each for the player to move.
    /// let bare = "0,1,0,0,0,0/3,0,0,0,0,0";
    /// let values = model.values(&[bare, &format!("{bare} 66"), "1,0,0,0,0,0/0,0,0,0,0,0"])?;
    /// assert!(values[0] > 0.9);
    /// assert_eq!(values[1..], [1.0, -1.0]); // wins at once, has lost
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Position`] that names the invalid text; [`Error::State`] if the player who is to move after a chance event is not known.
    pub fn values(&self, positions: &[&str]) -> Result<Vec<f32>, Error> {
        self.bound.values(positions)
    }

    /// Lists the legal moves of a position, best first.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// let model = adept_embed::Model::open("checkpoints/bearoff/plain-10".as_ref())?;
    /// let moves = model.moves("1,1,1,1,1,1/0,0,0,0,0,2 65")?;
    /// assert!(moves.len() == 2 && moves[0].value >= moves[1].value);
    /// assert_eq!(moves[0].action, "6/off 5/off");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Position`] if the text is not a position, [`Error::State`] if nobody is to move.
    pub fn moves(&self, position: &str) -> Result<Vec<Choice>, Error> {
        self.bound.moves(position)
    }

    /// Finds the best move of a position. With a search, this is faster than [`moves`](Self::moves), because only the
    /// value of the best move is exact; among equal moves, the result may differ. None without a legal move.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// let model = adept_embed::Model::open("search:2:bearoff/plain-10".as_ref())?;
    /// let best = model.choose("1,1,1,1,1,1/0,0,0,0,0,2 65")?.ok_or("no legal move")?;
    /// assert_eq!((&*best.action, &*best.after), ("6/off 5/off", "0,0,0,0,0,2/1,1,1,1,0,0"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`moves`](Self::moves).
    pub fn choose(&self, position: &str) -> Result<Option<Choice>, Error> {
        self.bound.choose(position)
    }

    /// Explains a position: with gates and experts, or with the plies, the positions valued and the principal line of a search.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// let model = adept_embed::Model::open("checkpoints/bearoff/hme-4x16".as_ref())?;
    /// let told = model.explain("1,1,1,1,1,1/0,0,0,0,0,2 65")?;
    /// let gates = &told.moves[0].explanation.gates;
    /// assert_eq!(gates.len(), 4); // the weight of each expert
    /// assert!((gates.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`values`](Self::values).
    pub fn explain(&self, position: &str) -> Result<PositionValue, Error> {
        self.bound.explain(position)
    }

    /// Encodes positions as rows, for the player who just moved.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// let model = adept_embed::Model::open("checkpoints/bearoff/plain-10".as_ref())?;
    /// let position = "1,1,1,1,1,1/0,0,0,0,0,2";
    /// let rows = model.encode(&[position])?;
    /// // A row is for the player who just moved, a value for the one to move.
    /// assert_eq!(model.evaluate(&rows)?[0], -model.values(&[position])?[0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Position`] that names the invalid text; [`Error::State`] if it lacks what the encoder reads.
    pub fn encode(&self, positions: &[&str]) -> Result<Rows, Error> {
        self.bound.encode(positions)
    }

    /// Builds rows from numbers: `dense` has shape `[count, dense_width]` and `index` has shape `[count,
    /// index_width]`, both row by row.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// let model = adept_embed::Model::open("checkpoints/bearoff/plain-10".as_ref())?;
    /// let width = model.describe().dense_width;
    /// assert_eq!(model.rows(2, vec![0.0; 2 * width], vec![])?.len(), 2);
    /// assert!(model.rows(2, vec![0.0; 3], vec![]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Rows`] if the lengths do not match.
    pub fn rows(&self, count: usize, dense: Vec<f32>, index: Vec<u64>) -> Result<Rows, Error> {
        self.with_model(|model| {
            let mut rows = Rows::new(model.channels());
            rows.fill(count, dense, index).map_err(|e| Error::Rows(e.to_string()))?;
            Ok(rows)
        })
    }

    /// Computes the values of rows for the player who just moved, in the [`range`](Description::range) of the model.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// let model = adept_embed::Model::open("checkpoints/bearoff/plain-10".as_ref())?;
    /// let mut rows = model.encode(&["1,1,1,1,1,1/0,0,0,0,0,2", "0,2,0,0,0,0/3,0,0,0,0,0"])?;
    /// assert_eq!(model.evaluate(&rows)?.len(), 2);
    /// rows.dense[0] = f32::NAN;
    /// assert_eq!(model.evaluate(&rows).unwrap_err().to_string(), "row 0: column 0 holds NaN");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Rows`] if the rows are from another encoder, a number is not finite, or an index lies outside its
    /// channel.
    pub fn evaluate(&self, rows: &Rows) -> Result<Vec<f32>, Error> {
        self.evaluate_slices(rows.len(), &rows.dense, &rows.index)
    }

    /// Like [`evaluate`](Self::evaluate), for `count` rows in the caller's memory: `dense` has shape `[count,
    /// dense_width]` and `index` has shape `[count, index_width]`, both row by row. Networks do not copy them.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// let model = adept_embed::Model::open("checkpoints/bearoff/plain-10".as_ref())?;
    /// let rows = model.encode(&["1,1,1,1,1,1/0,0,0,0,0,2", "0,2,0,0,0,0/3,0,0,0,0,0"])?;
    /// let width = model.describe().dense_width;
    /// let second = model.evaluate_slices(1, &rows.dense[width..], &[])?; // any part of a buffer
    /// assert!((second[0] - model.evaluate(&rows)?[1]).abs() < 1e-5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`evaluate`](Self::evaluate), and if the lengths do not match.
    pub fn evaluate_slices(&self, count: usize, dense: &[f32], index: &[u64]) -> Result<Vec<f32>, Error> {
        self.with_model(|model| {
            let rows = checked(model.channels(), count, dense, index)?;
            let mut values = Vec::with_capacity(count);
            model.evaluate_view(rows, &mut values);
            Ok(values)
        })
    }

    /// Computes outcome probabilities of rows for the player who just moved, `[rows, classes]`, in the order of the
    /// classes of [`head`](Description::head). A row does not determine which outcomes are impossible, so these have a
    /// probability here and count in [`evaluate`](Self::evaluate). [`values`](Self::values), [`moves`](Self::moves) and
    /// [`explain`](Self::explain) know the position and exclude them.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// let model = adept_embed::Model::open("checkpoints/backgammon/small-88-24".as_ref())?;
    /// let classes = model.describe().head.classes().ok_or("it gives values alone")?;
    /// let rows = model.encode(&["1:1 off:14/1:15"])?; // the player to move wins a gammon; rows are for the other
    /// let chances = model.outcomes(1, &rows.dense, &rows.index)?;
    /// let lost = classes.iter().position(|class| class.name == "loss_gammon").ok_or("no such class")?;
    /// assert!(chances.len() == classes.len() && chances[lost] > 0.9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`evaluate_slices`](Self::evaluate_slices), and if the model only has values.
    pub fn outcomes(&self, count: usize, dense: &[f32], index: &[u64]) -> Result<Vec<f32>, Error> {
        if self.description.head.classes().is_none() {
            return Err(Error::Rows(
                "the model gives one number a row, not probabilities of outcomes".into(),
            ));
        }
        self.with_model(|model| {
            let rows = checked(model.channels(), count, dense, index)?.to_rows();
            let mut outcomes = Vec::new();
            model.outputs(&rows, &mut outcomes);
            Ok(outcomes)
        })
    }

    /// Computes the weight and the output of each expert on `count` rows, as for
    /// [`evaluate_slices`](Self::evaluate_slices). None if the model has no experts.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// use adept_embed::Model;
    ///
    /// let experts = Model::open("checkpoints/bearoff/hme-4x16".as_ref())?;
    /// let rows = experts.encode(&["1,1,1,1,1,1/0,0,0,0,0,2"])?;
    /// assert!(experts.gates(rows.len(), &rows.dense, &rows.index)?.is_some());
    /// let plain = Model::open("checkpoints/bearoff/plain-10".as_ref())?;
    /// let rows = plain.encode(&["1,1,1,1,1,1/0,0,0,0,0,2"])?;
    /// assert!(plain.gates(rows.len(), &rows.dense, &rows.index)?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`evaluate_slices`](Self::evaluate_slices).
    pub fn gates(&self, count: usize, dense: &[f32], index: &[u64]) -> Result<Option<Gates>, Error> {
        self.with_model(|model| {
            let rows = checked(model.channels(), count, dense, index)?.to_rows();
            Ok(Gates::of(model, &rows))
        })
    }

    /// The network. None if the model is a table or an integer network.
    ///
    /// # Errors
    /// [`Error::Memory`] or [`Error::Checkpoint`] if no more copies of the model can be made.
    pub fn network(&self) -> Result<Option<Network>, Error> {
        self.with_model(|model| {
            let Some(program) = model.program().cloned() else { return Ok(None) };
            let weights = model.tensors().and_then(|tensors| program.parameters_in(&tensors))?;
            Ok(Some(Network { program, weights }))
        })
    }

    /// Calls `f` with a copy of the model.
    fn with_model<R>(&self, f: impl FnOnce(&mut dyn Predictor) -> Result<R, Error>) -> Result<R, Error> {
        let (mut f, mut found) = (Some(f), None);
        self.bound.with_model(&mut |model| {
            found = f.take().map(|f| f(model)).transpose()?;
            Ok(())
        })?;
        Ok(found.unwrap_or_else(|| unreachable!("it is called once")))
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("description", &self.description).finish_non_exhaustive()
    }
}

struct Opened<G: Kit> {
    game: G,
    pool: Pool<G>,
    search: Option<SearchOptions>,
}

impl<G: Kit> Opened<G> {
    /// Calls `f` with a copy of the evaluator.
    fn with<R>(&self, f: impl FnOnce(&mut GameModel<G>) -> Result<R, Error>) -> Result<R, Error> {
        self.pool.with(&self.game, f)?
    }

    /// A position and all its moves. `outcomes` asks a search for the probability of each class.
    fn valued(&self, position: &str, outcomes: bool) -> Result<PositionValue, Error> {
        let (game, read) = (&self.game, inspect::read(&self.game, &[position]).map_err(of_position)?);
        let found = self.with(|bound| {
            Ok(match &self.search {
                Some(options) => {
                    let mut search = Search::new(game, bound, options.clone());
                    inspect::inspect_by(game, &mut search, &read[0], position.into(), outcomes)
                }
                None => inspect::inspect(game, bound, &read[0], position.into(), inspect::Detail::default()),
            })
        });
        found?.map_err(of_position)
    }
}

fn of_position(error: OpenError) -> Error {
    let kind = if matches!(error, OpenError::Game(_)) { Error::Position } else { Error::State };
    kind(error.to_string())
}

/// A checkpoint bound to its game, with the game's type erased.
#[erased(trait AnyModel: Send + Sync)]
impl<G: Kit> AnyModel for Opened<G> {
    fn values(&self, positions: &[&str]) -> Result<Vec<f32>, Error> {
        let game = &self.game;
        let read = inspect::read(game, positions).map_err(of_position)?;
        let mut values = Vec::new();
        let Some(options) = &self.search else {
            self.with(|bound| inspect::values(game, bound, &read, &mut values).map_err(of_position))?;
            return Ok(values);
        };
        self.with(|bound| {
            let (mut found, mut exact) = (Vec::with_capacity(read.len()), Vec::new());
            // Shared by all moves, so that its table and copies are made once.
            let mut search = Search::new(game, bound, options.clone());
            for (position, text) in read.iter().zip(positions) {
                found.push(if game.turn(&position.0) == Turn::Over {
                    // The result is for the player who would move next.
                    inspect::values(game, search.evaluator, std::slice::from_ref(position), &mut exact)
                        .map_err(of_position)?;
                    exact.first().copied().unwrap_or_default()
                } else {
                    inspect::inspect_by(game, &mut search, position, (*text).into(), false)
                        .map_err(of_position)?
                        .value
                });
            }
            Ok(found)
        })
    }

    fn moves(&self, position: &str) -> Result<Vec<Choice>, Error> {
        // Also refuses positions without a player to move.
        let choices =
            self.with(|bound| inspect::choices(&self.game, bound, position).map_err(of_position))?;
        if self.search.is_none() {
            return Ok(choices);
        }
        let choice =
            |m: MoveValue| Choice { action: m.action, after: m.afterstate, value: m.explanation.value };
        Ok(self.valued(position, false)?.moves.into_iter().map(choice).collect())
    }

    fn choose(&self, position: &str) -> Result<Option<Choice>, Error> {
        let game = &self.game;
        let Some(options) = &self.search else { return Ok(self.moves(position)?.into_iter().next()) };
        self.with(|bound| {
            let mut choices = inspect::choices(game, bound, position).map_err(of_position)?;
            let read = inspect::read(game, &[position]).map_err(of_position)?;
            let (state, Turn::Player(player)) = (&read[0].0, game.turn(&read[0].0)) else { return Ok(None) };
            let (mut actions, mut values) = (Vec::new(), Vec::new());
            Search::new(game, bound, options.clone()).weigh(
                Decision::new(game, state, player),
                &mut actions,
                &mut values,
            );
            // The first one of the highest.
            let best = actions.iter().zip(&values).rev().max_by(|a, b| a.1.total_cmp(b.1));
            Ok(best.and_then(|(action, &value)| {
                let text = game.action_text(state, action);
                let at = choices.iter().position(|choice| choice.action == text)?;
                Some(Choice { value, ..choices.swap_remove(at) })
            }))
        })
    }

    fn text_sizes(&self, position: &str) -> Result<Option<[usize; 2]>, Error> {
        let mut choices =
            self.with(|bound| inspect::choices(&self.game, bound, position).map_err(of_position))?;
        // A search may return any of the moves, so the sizes must fit all.
        choices.truncate(if self.search.is_some() { usize::MAX } else { 1 });
        Ok(choices
            .iter()
            .map(|c| [c.action.len(), c.after.len()])
            .reduce(|a, b| [a[0].max(b[0]), a[1].max(b[1])]))
    }

    fn explain(&self, position: &str) -> Result<PositionValue, Error> {
        self.valued(position, true)
    }

    fn encode(&self, positions: &[&str]) -> Result<Rows, Error> {
        let read = inspect::read(&self.game, positions).map_err(of_position)?;
        self.with(|bound| {
            let mut rows = Rows::new(bound.model.channels());
            inspect::encode(&self.game, bound, &read, &mut rows).map_err(of_position)?;
            Ok(rows)
        })
    }

    /// Calls `f` with a copy of the model, which knows nothing of the game.
    fn with_model(&self, f: &mut dyn FnMut(&mut dyn Predictor) -> Result<(), Error>) -> Result<(), Error> {
        self.with(|bound| f(&mut *bound.model))
    }
}

/// Borrows the caller's rows, if they fit the channels and are finite.
fn checked<'a>(
    channels: &[adept_model::Channel],
    count: usize,
    dense: &'a [f32],
    index: &'a [u64],
) -> Result<RowsView<'a>, Error> {
    let rows = RowsView::new(channels, count, dense, index).map_err(|e| Error::Rows(e.to_string()))?;
    if let Some(at) = dense.iter().position(|v| !v.is_finite()) {
        let (row, column) = (at / rows.dense_width(), at % rows.dense_width());
        return Err(Error::Rows(format!("row {row}: column {column} holds {}", dense[at])));
    }
    Ok(rows)
}

/// A checkpoint that was read, and the search that its name asks for.
struct Opening(Checkpoint, Option<SearchOptions>);

impl Opening {
    fn at(path: &Path, best: bool) -> Result<Self, Error> {
        let (path, search) = naming::path_and_search(path).map_err(Error::Search)?;
        let located = checkpoint::locate(&path, best).map_err(|error| match error {
            ModelError::Checkpoint { .. } => Error::Missing(error.to_string()),
            other => other.into(),
        })?;
        Ok(Self(checkpoint::read(&located)?, search))
    }
}

impl Visitor for Opening {
    type Output = Result<Model, Error>;

    fn visit<G: Kit>(self, game: G) -> Self::Output {
        let Self(mut checkpoint, search) = self;
        let path = checkpoint.path.display().to_string();
        let manifest = checkpoint.manifest.clone();
        open::with_usual_tables(&game, &mut checkpoint.manifest);
        let (mut bound, _) = open::bind(&game, checkpoint)?;
        if let Some(options) = &search {
            naming::search_by(&game, &path, (&mut bound, &manifest.head), options.clone())
                .map_err(|e| Error::Search(e.to_string()))?;
        }
        let search_text = search.as_ref().map(SearchOptions::to_string);
        let description = Description { search: search_text, ..describe(&bound, &manifest, game.scale()) };
        let pool = Pool::new(&game, bound, |bound| bound)?;
        Ok(Model { bound: Box::new(Opened { game, pool, search }), description })
    }
}

fn describe<G: Kit>(bound: &GameModel<G>, manifest: &Manifest, scale: f64) -> Description {
    use adept_model::ChannelKind as Kind;
    let channels = bound.model.channels();
    let layout = Layout::new(channels);
    let abouts = bound.encoder().channels().iter().map(|c| c.about.to_string());
    let described = channels.iter().zip(&layout.offsets).zip(abouts).map(|((channel, &first), about)| {
        ChannelDescription {
            name: channel.name.to_string(),
            kind: match channel.kind {
                Kind::Dense(_) => "dense",
                Kind::Bits(_) => "bits",
                Kind::Value => "value",
                Kind::Index(_) => "index",
                Kind::Key => "key",
            },
            first,
            width: channel.kind.dense_width() + channel.kind.index_width(),
            size: match channel.kind {
                Kind::Index(n) => Some(n),
                _ => None,
            },
            about,
        }
    });
    Description {
        game: manifest.game.clone(),
        encoder: manifest.encoder.clone(),
        head: manifest.head.clone(),
        range: manifest.range(),
        scale,
        channels: described.collect(),
        dense_width: layout.dense,
        index_width: layout.index,
        experiment: manifest.experiment("name").into(),
        about: manifest.experiment("about").into(),
        seed: manifest.seed,
        step: manifest.step,
        parameters: bound.model.describe().parameters,
        checksum: manifest.checksum.clone(),
        search: None,
    }
}
