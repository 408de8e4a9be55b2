//! Opened checkpoints without the type of their game: values of positions and of rows, for programs.

use super::inspect::{self, Choice, MoveValue, PositionValue};
use crate::error::OpenError;
use crate::naming::{self, open};
use crate::search::{Search, SearchOptions};
use crate::values::{Decision, Evaluator, GameModel, Pool};
use adept_erased::erased;
use adept_game::{Kit, Turn};
use adept_model::checkpoint::{self, Checkpoint, Manifest};
use adept_model::program::Program;
use adept_model::{Channel, Gates, Head, Layout, ModelError, Predictor, Rows, RowsView};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// Why a call on a model failed.
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    /// Rule set.
    pub game: String,
    /// Encoder that fills the rows.
    pub encoder: String,
    /// Meaning of the outputs: a value, the logit of a policy, or outcome classes.
    pub head: Head,
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
#[derive(Clone, Debug)]
pub struct Network {
    /// Its operations.
    pub program: Arc<Program>,
    /// Its parameters as one vector, in the order of the program.
    pub weights: Vec<f32>,
}

/// A checkpoint that was read, and the search that its name asks for.
pub struct Opening {
    checkpoint: Checkpoint,
    search: Option<SearchOptions>,
}

impl Opening {
    /// Reads a checkpoint folder, or the latest or best checkpoint of a run folder. `search:BUDGET:PATH` adds a search.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Damaged`], [`Error::Checkpoint`] or [`Error::Memory`]; [`Error::Search`] for a wrong budget.
    pub fn at(path: &Path, best: bool) -> Result<Self, Error> {
        let (path, search) = naming::path_and_search(path).map_err(Error::Search)?;
        let located = checkpoint::locate(&path, best).map_err(|error| match error {
            ModelError::Checkpoint { .. } => Error::Missing(error.to_string()),
            other => other.into(),
        })?;
        Ok(Self { checkpoint: checkpoint::read(&located)?, search })
    }

    /// Name of the rule set.
    pub fn game(&self) -> &str {
        &self.checkpoint.manifest.game
    }

    /// Makes the error for a checkpoint whose game is not available, from the reason.
    pub fn unknown(&self) -> impl Fn(&str) -> Error + use<> {
        let path = self.checkpoint.path.clone();
        move |why| Error::Game(format!("{}: its game is unknown: {why}", path.display()))
    }

    /// Binds the checkpoint to its game.
    ///
    /// # Errors
    /// [`Error::Game`] if the checkpoint is for another game, [`Error::Search`] if no search is possible, and errors of priors and
    /// tables.
    pub fn open<G: Kit>(self, game: Arc<G>) -> Result<Box<dyn AnyModel>, Error> {
        let Self { mut checkpoint, search } = self;
        let path = checkpoint.path.display().to_string();
        let manifest = checkpoint.manifest.clone();
        open::with_usual_tables(&*game, &mut checkpoint.manifest);
        let (mut bound, _) = open::bind(&*game, checkpoint)?;
        if let Some(options) = &search {
            let values: Box<dyn Evaluator<G> + '_> = Box::new(&mut bound);
            naming::search_by(&*game, &path, (values, &manifest.head), options.clone())
                .map_err(|e| Error::Search(e.to_string()))?;
        }
        let search_text = search.as_ref().map(SearchOptions::to_string);
        let mut description =
            Description { search: search_text, ..describe(&bound, &manifest, game.scale()) };
        if game.results().adapted.is_some() {
            // The rule set that is played, not the one that the network has learned.
            description.game = game.name().into();
        }
        let pool = Pool::new(&*game, bound, |bound| bound)?;
        Ok(Box::new(Opened { game, pool, search, description }))
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

struct Opened<G: Kit> {
    game: Arc<G>,
    pool: Pool<G>,
    search: Option<SearchOptions>,
    description: Description,
}

impl<G: Kit> Opened<G> {
    /// Calls `f` with a copy of the evaluator.
    fn with<R>(&self, f: impl FnOnce(&mut GameModel<G>) -> Result<R, Error>) -> Result<R, Error> {
        self.pool.with(&self.game, f)?
    }

    /// A search by a copy of the evaluator. Its type is that of the searches of agents, so that the search is compiled once.
    fn searching<'a>(
        &self,
        bound: &'a mut GameModel<G>,
        options: &SearchOptions,
    ) -> Search<G, Box<dyn Evaluator<G> + 'a>> {
        Search::new(&*self.game, Box::new(bound), options.clone())
    }

    /// A position and all its moves. `outcomes` asks a search for the probability of each class.
    fn valued(&self, position: &str, outcomes: bool) -> Result<PositionValue, Error> {
        let (game, read) = (&*self.game, inspect::read(&*self.game, &[position]).map_err(of_position)?);
        let found = self.with(|bound| {
            Ok(match &self.search {
                Some(options) => {
                    let mut search = self.searching(bound, options);
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

/// A checkpoint bound to its game, without the type of the game. Any number of threads may use it at once.
#[erased(pub trait AnyModel: Send + Sync)]
impl<G: Kit> AnyModel for Opened<G> {
    /// Description of the model.
    fn describe(&self) -> &Description {
        &self.description
    }

    /// Values of positions for the player to move: that of the best move; before a chance event, that of the position; the exact result
    /// of a finished game.
    ///
    /// # Errors
    /// [`Error::Position`] that names the invalid text; [`Error::State`] if it lacks what is needed, such as a player to move.
    fn values(&self, positions: &[&str]) -> Result<Vec<f32>, Error> {
        let game = &*self.game;
        let read = inspect::read(game, positions).map_err(of_position)?;
        let mut values = Vec::new();
        let Some(options) = &self.search else {
            self.with(|bound| inspect::values(game, bound, &read, &mut values).map_err(of_position))?;
            return Ok(values);
        };
        self.with(|bound| {
            // Shared by all moves, so that its table and copies are made once.
            let mut search = self.searching(bound, options);
            for (position, text) in read.iter().zip(positions) {
                values.push(if game.turn(&position.0) == Turn::Over {
                    // The result is for the player who would move next.
                    inspect::over(game, &position.0)
                } else {
                    inspect::inspect_by(game, &mut search, position, (*text).into(), false)
                        .map_err(of_position)?
                        .value
                });
            }
            Ok(values)
        })
    }

    /// The legal moves of a position, best first.
    ///
    /// # Errors
    /// As for [`values`](Self::values).
    fn moves(&self, position: &str) -> Result<Vec<Choice>, Error> {
        // Also refuses positions without a player to move.
        let choices =
            self.with(|bound| inspect::choices(&*self.game, bound, position).map_err(of_position))?;
        if self.search.is_none() {
            return Ok(choices);
        }
        let choice =
            |m: MoveValue| Choice { action: m.action, after: m.afterstate, value: m.explanation.value };
        Ok(self.valued(position, false)?.moves.into_iter().map(choice).collect())
    }

    /// The best move of a position. With a search, only its value is exact. None without a legal move.
    ///
    /// # Errors
    /// As for [`values`](Self::values).
    fn choose(&self, position: &str) -> Result<Option<Choice>, Error> {
        let game = &*self.game;
        let Some(options) = &self.search else { return Ok(self.moves(position)?.into_iter().next()) };
        self.with(|bound| {
            let mut choices = inspect::choices(game, bound, position).map_err(of_position)?;
            let read = inspect::read(game, &[position]).map_err(of_position)?;
            let (state, Turn::Player(player)) = (&read[0].0, game.turn(&read[0].0)) else { return Ok(None) };
            let (mut actions, mut values) = (Vec::new(), Vec::new());
            self.searching(bound, options).weigh(
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

    /// Bytes that the texts of [`choose`](Self::choose) need at most: the action, and the position after it. None without a legal move.
    ///
    /// # Errors
    /// As for [`values`](Self::values).
    fn text_sizes(&self, position: &str) -> Result<Option<[usize; 2]>, Error> {
        let mut choices =
            self.with(|bound| inspect::choices(&*self.game, bound, position).map_err(of_position))?;
        // A search may return any of the moves, so the sizes must fit all.
        choices.truncate(if self.search.is_some() { usize::MAX } else { 1 });
        Ok(choices
            .iter()
            .map(|c| [c.action.len(), c.after.len()])
            .reduce(|a, b| [a[0].max(b[0]), a[1].max(b[1])]))
    }

    /// A position and all its moves, with gates and experts, or with what a search did.
    ///
    /// # Errors
    /// As for [`values`](Self::values).
    fn explain(&self, position: &str) -> Result<PositionValue, Error> {
        self.valued(position, true)
    }

    /// Rows of positions, for the player who just moved.
    ///
    /// # Errors
    /// As for [`values`](Self::values).
    fn encode(&self, positions: &[&str]) -> Result<Rows, Error> {
        let read = inspect::read(&*self.game, positions).map_err(of_position)?;
        self.with(|bound| {
            let mut rows = Rows::new(bound.model.channels());
            inspect::encode(&*self.game, bound, &read, &mut rows).map_err(of_position)?;
            Ok(rows)
        })
    }

    /// Calls `f` once, with a copy of the model, which knows nothing of the game.
    ///
    /// # Errors
    /// Those of `f`; [`Error::Memory`] or [`Error::Checkpoint`] if no more copies of the model can be made.
    fn lend(&self, f: &mut dyn FnMut(&mut dyn Predictor) -> Result<(), Error>) -> Result<(), Error> {
        self.with(|bound| f(&mut *bound.model))
    }
}

/// Methods on rows, which need no game. `dense` has shape `[count, dense_width]` and `index` has shape `[count, index_width]`, both row by
/// row.
impl dyn AnyModel {
    /// Calls `f` with a copy of the model.
    ///
    /// # Errors
    /// As for [`lend`](AnyModel::lend).
    pub fn with_model<R>(&self, f: impl FnOnce(&mut dyn Predictor) -> Result<R, Error>) -> Result<R, Error> {
        let (mut f, mut found) = (Some(f), None);
        self.lend(&mut |model| {
            found = f.take().map(|f| f(model)).transpose()?;
            Ok(())
        })?;
        Ok(found.unwrap_or_else(|| unreachable!("it is called once")))
    }

    /// Values of `count` rows for the player who just moved. Networks do not copy the rows.
    ///
    /// # Errors
    /// [`Error::Rows`] if the lengths do not match, a number is not finite, or an index lies outside its channel.
    pub fn evaluate(&self, count: usize, dense: &[f32], index: &[u64]) -> Result<Vec<f32>, Error> {
        self.with_model(|model| {
            let rows = checked(model.channels(), count, dense, index)?;
            let mut values = Vec::with_capacity(count);
            model.evaluate_view(rows, &mut values);
            Ok(values)
        })
    }

    /// Outcome probabilities of rows for the player who just moved, `[rows, classes]`.
    ///
    /// # Errors
    /// As for `evaluate`, and if the model only has values.
    pub fn outcomes(&self, count: usize, dense: &[f32], index: &[u64]) -> Result<Vec<f32>, Error> {
        if self.describe().head.classes().is_none() {
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

    /// The weight and the output of each expert on rows. None if the model has no experts.
    ///
    /// # Errors
    /// As for `evaluate`.
    pub fn gates(&self, count: usize, dense: &[f32], index: &[u64]) -> Result<Option<Gates>, Error> {
        self.with_model(|model| {
            let rows = checked(model.channels(), count, dense, index)?.to_rows();
            Ok(Gates::of(model, &rows))
        })
    }

    /// The network. None if the model is a table or an integer network.
    ///
    /// # Errors
    /// As for [`lend`](AnyModel::lend).
    pub fn network(&self) -> Result<Option<Network>, Error> {
        self.with_model(|model| {
            let Some(program) = model.program().cloned() else { return Ok(None) };
            let weights = model.tensors().and_then(|tensors| program.parameters_in(&tensors))?;
            Ok(Some(Network { program, weights }))
        })
    }
}

/// Borrows the caller's rows, if they fit the channels and are finite.
fn checked<'a>(
    channels: &[Channel],
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
