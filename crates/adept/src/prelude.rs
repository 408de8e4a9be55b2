//! Names that most programs need: `use adept::prelude::*;`.
//!
//! Rules are values, and so are positions:
//!
//! ```
//! use adept::prelude::*;
//! use adept::tictactoe::TicTacToe;
//!
//! let (mut state, _) = TicTacToe.parse_position("XX.OO....")?;
//! let winning = TicTacToe.parse_action(&state, "3")?;
//! TicTacToe.apply(&mut state, &winning);
//! assert_eq!((TicTacToe.turn(&state), TicTacToe.utility(&state, 0)), (Turn::Over, 1.0));
//! # Ok::<(), GameError>(())
//! ```
//!
//! [`Catalogue`]s find games by name, as commands do. A pair of them has the games of both:
//!
//! ```
//! use adept::prelude::*;
//! use adept::game::tiny::Nim;
//!
//! let games = (Builtin, One(Nim::default()));
//! assert_eq!(games.find("nim")?.info().players, 2);
//! assert!(games.find("bearoff:4").is_ok() && games.find("chess").is_err());
//! # Ok::<(), GameError>(())
//! ```
//!
//! An [`Agent`] chooses actions. [`Random`] and an agent from a name need no network:
//!
//! ```
//! use adept::prelude::*;
//! use adept::tictactoe::TicTacToe;
//!
//! let mut minimax = open::agent(&TicTacToe, "minimax")?;
//! let found = equity(&TicTacToe, &mut *minimax, &mut Random)?; // exact: all games are gone through
//! assert!(found.equity > 0.5 && found.seats[0] > found.seats[1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An [`Evaluator`] gives each action a value. [`Greedy`] and [`EpsilonGreedy`] make agents of it:
//!
//! ```
//! use adept::prelude::*;
//! use adept::tictactoe::{Position, TicTacToe};
//!
//! /// The middle first, then the corners.
//! struct Squares;
//! impl Evaluator<TicTacToe> for Squares {
//!     fn values(&mut self, _: Decision<'_, TicTacToe>, squares: &[u8], values: &mut Vec<f32>) {
//!         values.clear();
//!         values.extend(squares.iter().map(|s| if *s == 4 { 1.0 } else { f32::from(1 - s % 2) / 2.0 }));
//!     }
//! }
//! let start = Position::default();
//! let (at, mut rng) = (Decision::new(&TicTacToe, &start, 0), stream(1, "play", 0));
//! assert_eq!(Greedy::new(Squares).choose(at, &mut Default::default(), &mut rng)?, 4);
//! let explored = equity(&TicTacToe, &mut EpsilonGreedy::new(Squares, 0.5), &mut Random)?.equity;
//! assert!(equity(&TicTacToe, &mut Greedy::new(Squares), &mut Random)?.equity > explored);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Learner`] is a network, or a table, with its optimiser. [`GameModel`] makes an evaluator of it:
//!
//! ```
//! use adept::model::{Head, build};
//! use adept::prelude::*;
//! use adept::tictactoe::{Position, TicTacToe};
//!
//! let encoder = TicTacToe.encoders().open("fields").ok_or("no such encoder")?;
//! let (channels, optimiser) = (encoder.channels().to_vec(), Optimiser::default());
//! let architecture: Architecture = serde_json::from_str(r#"{ "mlp": { "hidden": [8] } }"#)?;
//! let network = build(&architecture, &channels, &Head::Value, optimiser, &mut stream(1, "init", 0))?;
//! let (mut model, mut values) = (GameModel::new(&TicTacToe, encoder, network), Vec::new());
//! model.values(Decision::new(&TicTacToe, &Position::default(), 0), &[0, 4], &mut values);
//! assert!(values.len() == 2 && values.iter().all(|value| value.abs() <= 1.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A learner learns from [`Samples`]: rows with targets and weights:
//!
//! ```
//! use adept::model::{Head, build};
//! use adept::prelude::*;
//!
//! let channels = [Channel::fixed("sign", ChannelKind::Dense(1), "−1 or 1")];
//! let architecture: Architecture = serde_json::from_str(r#"{ "mlp": { "hidden": [4] } }"#)?;
//! let optimiser = Optimiser::default();
//! let mut network = build(&architecture, &channels, &Head::Value, optimiser, &mut stream(1, "init", 0))?;
//! let mut samples = Samples::new(&channels);
//! for sign in [-1.0, 1.0] {
//!     samples.rows.push().dense[0] = sign;
//!     samples.targets.push(-0.5 * sign);
//!     samples.weights.push(1.0);
//! }
//! let losses: Vec<f64> = (0..100).map(|_| network.update(&samples, 0.1)).collect::<Result<_, _>>()?;
//! assert!(losses[99] < losses[0] / 10.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`parse`] reads a [`Config`]. Errors name the place and the nearest valid key:
//!
//! ```
//! use adept::prelude::*;
//!
//! let read = |text: &str| {
//!     parse(&Source { file: "mine.toml".into(), text: text.into(), set: vec![] }, &Builtin)
//! };
//! let text = "name = \"mine\"\ngame.rules = \"tictactoe\"\narchitecture.mlp.hidden = [8]\n\
//!             [learn]\nrate = 0.01\n[learn.td]\ngames = 50\n";
//! assert_eq!(read(text)?.game.rules, "tictactoe");
//! let error = read(&text.replace("games", "gamse")).unwrap_err().to_string();
//! assert!(error.starts_with("mine.toml:7:1: ") && error.contains("games"), "{error}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`train`] runs a config into a folder, whose checkpoint [`open::open`] opens:
//!
//! ```
//! use adept::prelude::*;
//! use adept::tictactoe::TicTacToe;
//!
//! # let folder = std::env::temp_dir().join(format!("adept-prelude-{}", std::process::id()));
//! let text = "name = \"mine\"\ngame.rules = \"tictactoe\"\narchitecture.mlp.hidden = [8]\n\
//!             [learn]\nrate = 0.01\n[learn.td]\ngames = 50\n";
//! let source = Source { file: "mine.toml".into(), text: text.into(), set: vec![] };
//! let config = parse(&source, &One(TicTacToe))?;
//! let options = TrainOptions { out: Some(folder.clone()), ..TrainOptions::default() };
//! let (run, record) = train(&TicTacToe, &config, 1, &options, &Silent, &Cancel::default())?;
//! let (network, manifest) = open::open(&TicTacToe, &run, false)?;
//! assert_eq!((record.step, &*manifest.game), (50, "tictactoe"));
//! assert!(equity(&TicTacToe, &mut Greedy::new(network), &mut Random)?.equity.abs() <= 1.0);
//! # std::fs::remove_dir_all(folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Valuation`] is what a game itself knows of its values, such as an exact table:
//!
//! ```
//! use adept::bearoff::Bearoff;
//! use adept::prelude::*;
//!
//! let game = Bearoff::new(4).ok_or("at most 14 checkers a side")?;
//! let oracle = game.values().valuations.open("oracle").ok_or("no oracle")??;
//! let (state, _) = game.parse_position("1,0,0,0,0,0/4,0,0,0,0,0")?; // the other side rolls, and takes two
//! let value = oracle.value(&game, Afterstate { state: &state, action: None, player: 1 });
//! assert_eq!(value, -1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use crate::{Builtin, Catalogue, One};
pub use adept_arena::{Agent, Decision, EpsilonGreedy, Evaluator, GameModel, Greedy, Random, equity, open};
pub use adept_game::rand::{Rng, RngExt};
pub use adept_game::{
    Afterstate, Agents, Card, Channel, ChannelKind, Counting, Distribution, Encoder, EncoderFn, Encoders,
    Found, Game, GameError, Kit, Listing, Named, Numbering, ParsedPosition, PositionFiles, Positions,
    RandomPlay, Records, Results, RowMut, RuleText, Script, Suite, Texts, Turn, Unit, Valuation, Values,
    stream,
};
pub use adept_model::{Architecture, Learner, Optimiser, Predictor, Rows, Samples};
pub use adept_trainer::config::{Config, Source, parse};
pub use adept_trainer::run::{Cancel, Record, Silent, TrainOptions, train};
