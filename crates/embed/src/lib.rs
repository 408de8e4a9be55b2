//! Use checkpoints in your own programs.
//!
//! ```no_run
//! let model = adept_embed::Model::open("checkpoints/bearoff/residual-10".as_ref())?;
//! let moves = model.moves("1,1,1,1,1,1/0,0,0,0,0,2 65")?;
//! println!("{} leaves {}, worth {:+.4}", moves[0].action, moves[0].after, moves[0].value);
//! # Ok::<(), adept_embed::Error>(())
//! ```
//!
//! `search:4:PATH` in place of a path looks ahead: see [`Model::open`].
//!
//! Any number of threads may use a [`Model`] at once. The C interface is in `include/adept.h`, backed by the
//! functions of [`ffi`].

pub mod ffi;

use adept_arena::search::Search;
use adept_arena::{Decision, Evaluator, GameModel, OpenError, Pool, inspect, naming, open};
use adept_game::{Kit, ParsedPosition, Turn, Visitor};
use adept_model::checkpoint::{self, Checkpoint, Manifest};
use adept_model::program::Program;
use adept_model::{Layout, ModelError, RowsView};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

pub use adept_arena::inspect::{Choice, Input, MoveValue, Numbers, PositionValue, Searched};
pub use adept_arena::search::{Budget, Filter, SearchOptions};
pub use adept_model::{Explanation, Gates, Rows};

/// Why a call on a model failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The checkpoint cannot be opened, or cannot look ahead.
    #[error("{0}")]
    Checkpoint(String),
    /// A text is not a position, or not of the required kind.
    #[error("{0}")]
    Position(String),
    /// Rows do not fit the encoder.
    #[error("{0}")]
    Rows(String),
}

/// Description of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    /// Rule set.
    pub game: String,
    /// Encoder that fills the rows.
    pub encoder: String,
    /// Meaning of the outputs: a value, the logit of a policy, or the classes of outcomes.
    pub head: adept_model::Head,
    /// Lowest and highest value that the network can compute, by its last layer: [−1, 1] for tanh. None if nothing bounds
    /// it, as for networks that end in a linear layer, for logits and for tables.
    pub range: Option<[f32; 2]>,
    /// Largest result of the game. A value is a result divided by it: 1 where a game is won or lost, else in units of the
    /// game, such as chips.
    pub scale: f64,
    /// The channels of a row.
    pub channels: Vec<ChannelDescription>,
    /// Floats per row.
    pub dense_width: usize,
    /// Integers per row.
    pub index_width: usize,
    /// Name of the experiment.
    pub experiment: String,
    /// Description in a sentence.
    pub about: String,
    /// Training seed.
    pub seed: u64,
    /// Games or samples it learned from.
    pub step: u64,
    /// Parameters.
    pub parameters: usize,
    /// Checksum of the checkpoint.
    pub checksum: String,
    /// How far the model looks ahead, as in its name: `4`, `100ms`, `10000n,keep=8/4`. None if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
}

/// A channel and its columns in a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelDescription {
    /// Name.
    pub name: String,
    /// `dense`, `bits` and `value` are among the floats, `index` and `key` among the integers.
    pub kind: &'static str,
    /// First column there.
    pub first: usize,
    /// Number of columns.
    pub width: usize,
    /// Number of possible values of an index (0 to one less); `None` for other kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// What each input means.
    pub about: String,
}

/// A network for other engines.
#[derive(Clone, Debug)]
pub struct Network {
    /// What it computes.
    pub program: Arc<Program>,
    /// Its parameters as one vector, in the order of the program.
    pub weights: Vec<f32>,
}

/// An opened checkpoint.
pub struct Model {
    bound: Box<dyn AnyModel>,
    description: Description,
}

impl Model {
    /// Opens a checkpoint folder, or the latest checkpoint of a run folder. If its prior is another checkpoint, that is in the
    /// same folder, where `adept publish` puts it, or at its path from the current folder. Where nothing is at the path, published
    /// checkpoints are searched as by all commands: `backgammon/small-88-24`, or the name of a game for its best one.
    ///
    /// Positions that the tables of a game know, such as races of backgammon, have their values; rows have those of the network.
    ///
    /// `search:BUDGET:PATH` looks ahead: `search:4:PATH` by plies, `search:100ms:PATH` by time, `search:10000n:PATH` by valued
    /// positions, and with settings such as `search:3,keep=8/4:PATH`. The budget is for one position. [`values`](Self::values),
    /// [`moves`](Self::moves), [`choose`](Self::choose) and [`explain`](Self::explain) then search; what works on rows does not.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if it is not a checkpoint, is damaged, or has a newer version; for a wrong budget, and where a search is
    /// not possible: in games that hide information, and by a policy.
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
        let fault = |e: ModelError| Error::Checkpoint(e.to_string());
        let (path, search) = naming::path_and_search(path).map_err(Error::Checkpoint)?;
        let located = checkpoint::locate(&path, best).map_err(fault)?;
        let read = checkpoint::read(&located).map_err(fault)?;
        let game = read.manifest.game.clone();
        let unknown =
            |why: &str| Error::Checkpoint(format!("{}: its game is unknown: {why}", located.display()));
        match adept_builtin::visit(&game, Opening(read, search)) {
            Some(Ok(opened)) => opened,
            Some(Err(error)) => Err(unknown(&error.to_string())),
            None => Err(unknown(&format!("no built-in game named `{game}`: open it with `Model::of`"))),
        }
    }

    /// Opens a checkpoint folder, or the latest checkpoint of a run folder, of a game of your own.
    ///
    /// # Errors
    /// As for [`open`](Self::open), and if the checkpoint is for another game.
    pub fn of<G: Kit>(game: G, path: &Path) -> Result<Self, Error> {
        Self::of_either(game, path, false)
    }

    /// Opens a checkpoint folder, or the best checkpoint of a run folder, of a game of your own.
    ///
    /// # Errors
    /// As for [`open_best`](Self::open_best), and if the checkpoint is for another game.
    pub fn best_of<G: Kit>(game: G, path: &Path) -> Result<Self, Error> {
        Self::of_either(game, path, true)
    }

    fn of_either<G: Kit>(game: G, path: &Path, best: bool) -> Result<Self, Error> {
        let fault = |e: ModelError| Error::Checkpoint(e.to_string());
        let (path, search) = naming::path_and_search(path).map_err(Error::Checkpoint)?;
        let located = checkpoint::locate(&path, best).map_err(fault)?;
        Opening(checkpoint::read(&located).map_err(fault)?, search).visit(game)
    }

    /// Description of the model.
    pub fn describe(&self) -> &Description {
        &self.description
    }

    /// Values of positions in the game's text form for the player to move, in the [`range`](Description::range) of the
    /// model. Positions of the bear-off may also be gnubg Position IDs and XGIDs, whose dice are the roll to play. The value
    /// is that of the best move; if a roll is next, of the position; if the game is over, the exact result, in [−1, 1].
    /// Without a legal move it is 0.
    ///
    /// # Errors
    /// [`Error::Position`] that names the invalid text.
    pub fn values(&self, positions: &[&str]) -> Result<Vec<f32>, Error> {
        self.bound.values(positions)
    }

    /// The legal moves of a position, best first.
    ///
    /// # Errors
    /// [`Error::Position`] if the text is not a position, or nobody is to move.
    pub fn moves(&self, position: &str) -> Result<Vec<Choice>, Error> {
        self.bound.moves(position)
    }

    /// The best move of a position. With a search, this is faster than [`moves`](Self::moves), because only the value of the
    /// best move is exact; of equally good moves another one may be found. None without a legal move.
    ///
    /// # Errors
    /// As for [`moves`](Self::moves).
    pub fn choose(&self, position: &str) -> Result<Option<Choice>, Error> {
        self.bound.choose(position)
    }

    /// Explains a position: with gates and experts, or with the plies, the positions valued and the principal line of a search.
    ///
    /// # Errors
    /// [`Error::Position`] if the text is not a position.
    pub fn explain(&self, position: &str) -> Result<PositionValue, Error> {
        self.bound.explain(position)
    }

    /// The rows of positions, for the player who just moved.
    ///
    /// # Errors
    /// [`Error::Position`] that names a text that is invalid or lacks information for the encoder.
    pub fn encode(&self, positions: &[&str]) -> Result<Rows, Error> {
        self.bound.encode(positions)
    }

    /// Builds rows from numbers: `dense` has shape `[count, dense_width]` and `index` has shape `[count,
    /// index_width]`, both row by row.
    ///
    /// # Errors
    /// [`Error::Rows`] if the lengths do not match.
    pub fn rows(&self, count: usize, dense: Vec<f32>, index: Vec<u64>) -> Result<Rows, Error> {
        self.bound.rows(count, dense, index)
    }

    /// Values of rows for the player who just moved, in the [`range`](Description::range) of the model.
    ///
    /// # Errors
    /// [`Error::Rows`] if the rows are from another encoder, a number is not finite, or an index lies outside
    /// its channel.
    pub fn evaluate(&self, rows: &Rows) -> Result<Vec<f32>, Error> {
        self.bound.evaluate(rows.len(), &rows.dense, &rows.index)
    }

    /// Like [`evaluate`](Self::evaluate), for `count` rows in memory of the caller: `dense` has shape `[count,
    /// dense_width]` and `index` has shape `[count, index_width]`, both row by row. Networks do not copy them.
    ///
    /// # Errors
    /// As for [`evaluate`](Self::evaluate), and if the lengths do not match.
    pub fn evaluate_slices(&self, count: usize, dense: &[f32], index: &[u64]) -> Result<Vec<f32>, Error> {
        self.bound.evaluate(count, dense, index)
    }

    /// The probabilities of the outcomes after rows, for the player who just moved, `[rows, classes]`, in the order of the
    /// classes of [`head`](Description::head). A row does not tell which outcomes are impossible, so that these have a probability
    /// here and count in [`evaluate`](Self::evaluate). [`values`](Self::values), [`moves`](Self::moves) and
    /// [`explain`](Self::explain) know the position, and leave them out.
    ///
    /// # Errors
    /// As for [`evaluate_slices`](Self::evaluate_slices), and if the model gives values alone.
    pub fn outcomes(&self, count: usize, dense: &[f32], index: &[u64]) -> Result<Vec<f32>, Error> {
        if self.description.head.classes().is_none() {
            return Err(Error::Rows(
                "the model gives one number a row, not probabilities of outcomes".into(),
            ));
        }
        self.bound.outcomes(count, dense, index)
    }

    /// The weight and the output of each expert on `count` rows, as for [`evaluate_slices`](Self::evaluate_slices). None if the model
    /// has no experts.
    ///
    /// # Errors
    /// As for [`evaluate_slices`](Self::evaluate_slices).
    pub fn gates(&self, count: usize, dense: &[f32], index: &[u64]) -> Result<Option<Gates>, Error> {
        self.bound.gates(count, dense, index)
    }

    /// The network. None if the model is a table or in whole numbers.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if no more copies of the model can be made.
    pub fn network(&self) -> Result<Option<Network>, Error> {
        self.bound.network()
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("description", &self.description).finish_non_exhaustive()
    }
}

/// A checkpoint bound to its game, without the game's type.
trait AnyModel: Send + Sync {
    fn values(&self, positions: &[&str]) -> Result<Vec<f32>, Error>;
    fn moves(&self, position: &str) -> Result<Vec<Choice>, Error>;
    fn choose(&self, position: &str) -> Result<Option<Choice>, Error>;
    fn text_sizes(&self, position: &str) -> Result<Option<[usize; 2]>, Error>;
    fn explain(&self, position: &str) -> Result<PositionValue, Error>;
    fn encode(&self, positions: &[&str]) -> Result<Rows, Error>;
    fn rows(&self, count: usize, dense: Vec<f32>, index: Vec<u64>) -> Result<Rows, Error>;
    fn evaluate(&self, count: usize, dense: &[f32], index: &[u64]) -> Result<Vec<f32>, Error>;
    fn outcomes(&self, count: usize, dense: &[f32], index: &[u64]) -> Result<Vec<f32>, Error>;
    fn gates(&self, count: usize, dense: &[f32], index: &[u64]) -> Result<Option<Gates>, Error>;
    fn network(&self) -> Result<Option<Network>, Error>;
}

struct Opened<G: Kit> {
    game: G,
    pool: Pool<G>,
    search: Option<SearchOptions>,
}

impl<G: Kit> Opened<G> {
    /// Calls `f` with a copy of the evaluator.
    fn with<R>(&self, f: impl FnOnce(&mut GameModel<G>) -> Result<R, Error>) -> Result<R, Error> {
        self.pool.with(&self.game, f).map_err(|e| Error::Checkpoint(e.to_string()))?
    }

    /// A position and all its moves by looking ahead.
    fn searched(
        &self,
        search: &mut Search<G, &mut GameModel<G>>,
        read: &ParsedPosition<G>,
        position: &str,
        outcomes: bool,
    ) -> Result<PositionValue, Error> {
        inspect::inspect_by(&self.game, search, read, position.into(), outcomes).map_err(of_position)
    }
}

fn of_position(error: OpenError) -> Error {
    Error::Position(error.to_string())
}

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
            // One for all of them: its table and copies are made once.
            let mut search = Search::new(game, bound, options.clone());
            for (position, text) in read.iter().zip(positions) {
                found.push(if game.turn(&position.0) == Turn::Over {
                    // Here a result is for the player who would move next.
                    inspect::values(game, search.evaluator, std::slice::from_ref(position), &mut exact)
                        .map_err(of_position)?;
                    exact.first().copied().unwrap_or_default()
                } else {
                    self.searched(&mut search, position, text, false)?.value
                });
            }
            Ok(found)
        })
    }

    fn moves(&self, position: &str) -> Result<Vec<Choice>, Error> {
        self.with(|bound| {
            // It also refuses positions without a player to move.
            let choices = inspect::choices(&self.game, bound, position).map_err(of_position)?;
            let Some(options) = &self.search else { return Ok(choices) };
            let read = inspect::read(&self.game, &[position]).map_err(of_position)?;
            let mut search = Search::new(&self.game, bound, options.clone());
            let found = self.searched(&mut search, &read[0], position, false)?;
            let choice =
                |m: MoveValue| Choice { action: m.action, after: m.afterstate, value: m.explanation.value };
            Ok(found.moves.into_iter().map(choice).collect())
        })
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
            // The first of the highest.
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
        // A search may find any move the best one, so that the sizes fit all.
        choices.truncate(if self.search.is_some() { usize::MAX } else { 1 });
        Ok(choices
            .iter()
            .map(|c| [c.action.len(), c.after.len()])
            .reduce(|a, b| [a[0].max(b[0]), a[1].max(b[1])]))
    }

    fn explain(&self, position: &str) -> Result<PositionValue, Error> {
        let read = inspect::read(&self.game, &[position]).map_err(of_position)?;
        self.with(|bound| match &self.search {
            Some(options) => {
                let mut search = Search::new(&self.game, bound, options.clone());
                self.searched(&mut search, &read[0], position, true)
            }
            None => {
                inspect::inspect(&self.game, bound, &read[0], position.into(), inspect::Detail::default())
                    .map_err(of_position)
            }
        })
    }

    fn encode(&self, positions: &[&str]) -> Result<Rows, Error> {
        let read = inspect::read(&self.game, positions).map_err(of_position)?;
        self.with(|bound| {
            let mut rows = Rows::new(bound.model.channels());
            inspect::encode(&self.game, bound, &read, &mut rows).map_err(of_position)?;
            Ok(rows)
        })
    }

    fn rows(&self, count: usize, dense: Vec<f32>, index: Vec<u64>) -> Result<Rows, Error> {
        self.with(|bound| {
            let mut rows = Rows::new(bound.model.channels());
            rows.fill(count, dense, index).map_err(|e| Error::Rows(e.to_string()))?;
            Ok(rows)
        })
    }

    fn evaluate(&self, count: usize, dense: &[f32], index: &[u64]) -> Result<Vec<f32>, Error> {
        self.with(|bound| {
            let rows = checked(bound.model.channels(), count, dense, index)?;
            let mut values = Vec::with_capacity(count);
            bound.model.evaluate_view(rows, &mut values);
            Ok(values)
        })
    }

    fn outcomes(&self, count: usize, dense: &[f32], index: &[u64]) -> Result<Vec<f32>, Error> {
        self.with(|bound| {
            let rows = checked(bound.model.channels(), count, dense, index)?.to_rows();
            let mut outcomes = Vec::new();
            bound.model.outputs(&rows, &mut outcomes);
            Ok(outcomes)
        })
    }

    fn gates(&self, count: usize, dense: &[f32], index: &[u64]) -> Result<Option<Gates>, Error> {
        self.with(|bound| {
            let rows = checked(bound.model.channels(), count, dense, index)?.to_rows();
            Ok(Gates::of(&mut *bound.model, &rows))
        })
    }

    fn network(&self) -> Result<Option<Network>, Error> {
        self.with(|bound| {
            let Some(program) = bound.model.program().cloned() else { return Ok(None) };
            let weights = bound.model.tensors().and_then(|tensors| program.parameters_in(&tensors));
            let weights = weights.map_err(|e| Error::Checkpoint(e.to_string()))?;
            Ok(Some(Network { program, weights }))
        })
    }
}

/// Rows in memory of the caller, if they fit the channels and are finite.
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

struct Opening(Checkpoint, Option<SearchOptions>);

impl Visitor for Opening {
    type Output = Result<Model, Error>;

    fn visit<G: Kit>(self, game: G) -> Self::Output {
        let Self(mut checkpoint, search) = self;
        let fault = |e: OpenError| Error::Checkpoint(e.to_string());
        let path = checkpoint.path.display().to_string();
        let manifest = checkpoint.manifest.clone();
        open::with_usual_tables(&game, &mut checkpoint.manifest);
        let (mut bound, _) = open::bind(&game, checkpoint).map_err(fault)?;
        if let Some(options) = &search {
            naming::search_by(&game, &path, (&mut bound, &manifest.head), options.clone()).map_err(fault)?;
        }
        let search_text = search.as_ref().map(SearchOptions::to_string);
        let description = Description { search: search_text, ..describe(&bound, &manifest, game.scale()) };
        let pool = Pool::new(&game, bound, |bound| bound).map_err(|e| Error::Checkpoint(e.to_string()))?;
        Ok(Model { bound: Box::new(Opened { game, pool, search }), description })
    }
}

fn describe<G: Kit>(bound: &GameModel<G>, manifest: &Manifest, scale: f64) -> Description {
    use adept_model::ChannelKind as Kind;
    let channels = bound.model.channels();
    let layout = Layout::of(channels);
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
