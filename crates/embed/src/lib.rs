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

use adept_arena::opened::{AnyModel, Opening};
use adept_game::{Kit, Visitor};
use std::path::Path;
use std::sync::Arc;

pub use adept_arena::inspect::{Choice, Input, MoveValue, Numbers, PositionValue, Searched};
#[doc(inline)]
pub use adept_arena::opened::{ChannelDescription, Description, Error, Network};
pub use adept_arena::search::{Budget, Filter, SearchOptions};
pub use adept_game::Reading;
pub use adept_model::{Explanation, Gates, Rows};

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
pub struct Model(Box<dyn AnyModel>);

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
    ///
    /// ```
    /// use adept_embed::{Error, Model};
    ///
    /// match Model::open("no/such/checkpoint".as_ref()) {
    ///     Err(Error::Missing(message)) => assert!(message.contains("no/such/checkpoint")),
    ///     other => panic!("{other:?}"),
    /// }
    /// ```
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::opened(path, false, None)
    }

    /// Opens a checkpoint folder, or the best checkpoint of a run folder.
    ///
    /// # Errors
    /// As for [`open`](Self::open), and if the run does not measure which checkpoint is best.
    pub fn open_best(path: &Path) -> Result<Self, Error> {
        Self::opened(path, true, None)
    }

    /// Opens a checkpoint folder, or the latest checkpoint of a run folder, to play this rule set. Networks of backgammon
    /// and hypergammon with the classes of results also play the rule sets with the doubling cube: `backgammon:money` and
    /// its variants, and `backgammon:match-N`.
    ///
    /// Positions are then XGIDs, or Position IDs with a Match ID, with their cube, score and offered double.
    /// [`values`](Self::values), [`moves`](Self::moves) and [`choose`](Self::choose) count the cube, and moves include
    /// `double`, `roll`, `take` and `drop`. Without a search, [`explain`](Self::explain) has the [`Reading`] of a position
    /// before a roll, or with an offered double. Rows stay those of the network, without the cube: they are for the
    /// opponent of the side to roll, and their values are in units of the network's own game.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// use adept_embed::Model;
    ///
    /// let model = Model::open_as("backgammon:match-7", "backgammon/small-88-24".as_ref())?;
    /// assert_eq!(model.describe().game, "backgammon:match-7");
    /// // The side to roll has 2 points, its opponent 4.
    /// let position = "XGID=-aA-CCC-B---cC----b-dc-b--:0:0:1:00:2:4:0:7:10";
    /// let reading = model.explain(position)?.reading.ok_or("no reading")?;
    /// assert_eq!(reading.advice, "double, pass");
    /// let (name, equity) = reading.figures[1];
    /// assert!(name == "no double" && equity > 0.9 && equity < 1.0);
    /// assert_eq!(model.moves(position)?[0].action, "double");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`open`](Self::open), and [`Error::Game`] if there is no such rule set, or the checkpoint does not play it.
    pub fn open_as(game: &str, path: &Path) -> Result<Self, Error> {
        Self::opened(path, false, Some(game))
    }

    /// Opens a checkpoint for a built-in rule set, by default its own.
    fn opened(path: &Path, best: bool, rules: Option<&str>) -> Result<Self, Error> {
        let opening = Opening::at(path, best)?;
        let game = rules.unwrap_or(opening.game()).to_string();
        let unknown = opening.unknown();
        let fault = |why: String| if rules.is_some() { Error::Game(why) } else { unknown(&why) };
        match adept_builtin::visit(&game, Open(opening)) {
            Some(Ok(opened)) => opened.map(Self),
            Some(Err(error)) => Err(fault(error.to_string())),
            None => Err(fault(format!("no built-in game named `{game}`: open it with `Model::open_for`"))),
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
        Opening::at(path, false)?.open(Arc::new(game)).map(Self)
    }

    /// Opens a checkpoint folder, or the best checkpoint of a run folder, of a game of your own.
    ///
    /// # Errors
    /// As for [`open_best`](Self::open_best), and if the checkpoint is for another game.
    pub fn open_best_for<G: Kit>(game: G, path: &Path) -> Result<Self, Error> {
        Opening::at(path, true)?.open(Arc::new(game)).map(Self)
    }

    /// Description of the model.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// let model = adept_embed::Model::open("checkpoints/bearoff/residual-10".as_ref())?;
    /// let about = model.describe();
    /// println!("{} of {}, {} parameters: {}", about.experiment, about.game, about.parameters, about.about);
    /// assert!(about.parameters > 0 && about.search.is_none());
    /// assert_eq!((&*about.game, about.range, about.scale), ("bearoff", Some([-1.0, 1.0]), 1.0));
    /// assert_eq!(about.channels.iter().map(|channel| channel.width).sum::<usize>(), about.dense_width);
    /// let last = about.channels.last().ok_or("no channels")?;
    /// assert_eq!((&*last.name, last.kind, last.width), ("prior", "value", 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn describe(&self) -> &Description {
        self.0.describe()
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
        self.0.values(positions)
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
        self.0.moves(position)
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
        self.0.choose(position)
    }

    /// Explains a position: with gates and experts, or with the plies, the positions valued and the principal line of a search. With the
    /// doubling cube, see [`open_as`](Self::open_as), it has the figures of a decision about the cube.
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
        self.0.explain(position)
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
        self.0.encode(positions)
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
        self.0.with_model(|model| {
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
        self.0.evaluate(count, dense, index)
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
        self.0.outcomes(count, dense, index)
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
        self.0.gates(count, dense, index)
    }

    /// The network, for use in other engines. None if the model is a table or an integer network.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// let model = adept_embed::Model::open("checkpoints/bearoff/plain-10".as_ref())?;
    /// let network = model.network()?.ok_or("a table has no network")?;
    /// assert_eq!(network.weights.len(), model.describe().parameters);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Memory`] or [`Error::Checkpoint`] if no more copies of the model can be made.
    pub fn network(&self) -> Result<Option<Network>, Error> {
        self.0.network()
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("description", self.describe()).finish_non_exhaustive()
    }
}

/// Opens a checkpoint for a built-in game.
struct Open(Opening);

impl Visitor for Open {
    type Output = Result<Box<dyn AnyModel>, Error>;

    fn visit<G: Kit>(self, game: G) -> Self::Output {
        self.0.open(Arc::new(game))
    }
}
