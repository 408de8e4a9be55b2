//! The method `td`: temporal differences along games.

use super::Examples;
use crate::config::fault::{
    Fault, check_distribution, check_range, check_schedule, check_values, fault, first_of,
};
use crate::config::{Config, HeadName, Schedule, is_one, is_usual, one, usize_of};
use adept_arena::search::{Budget, SearchOptions};
use adept_game::GameInfo;
use adept_ground::limits;
use adept_model::{Engine, Form, Optimiser};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the method `td`: TD(λ) along games against itself or other agents (Sutton 1988).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TdSettings {
    /// Games of the whole run.
    pub games: u64,
    /// Opponent: `self`, or a fixed agent such as `ttt`, `random`, `minimax`, or a checkpoint (its path relative to the config
    /// file).
    #[serde(default = "itself")]
    pub against: String,
    /// Agents and checkpoints from which one is drawn for every other seat in every game; `self` is the learner. Replaces
    /// `against`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<Vec<String>>,
    /// Distribution of examples and starting positions, in games that have distributions. Default: games start
    /// as the rules say, and examples come from the game's first distribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<String>,
    /// A fixed set of positions with exact values, shown between games: how many to draw, or a CSV or `.labels`
    /// file (its path relative to the config file).
    /// Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examples: Option<Examples>,
    /// Examples shown per game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examples_per_game: Option<f64>,
    /// λ of TD(λ), in [0, 1].
    #[serde(default = "lambda")]
    pub lambda: Schedule,
    /// γ, the discount from one decision to the next, in [0, 1].
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub discount: f64,
    /// What is learned: the outcome alone, or also rewards during the game.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub rewards: Rewards,
    /// Counts of internal decisions, as in Soar: from one action to the next, and before a reward. γ is applied
    /// once more for each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_discount: Option<GapDiscount>,
    /// Largest absolute value of a target, above 0 and at most 1. Default: no limit. It keeps a tanh or sigmoid output out of
    /// saturation, where its gradient is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip: Option<f64>,
    /// What the target takes from the next decision: the highest value (Q-learning), or the value of the chosen
    /// action (SARSA).
    #[serde(default, skip_serializing_if = "is_usual")]
    pub next: Next,
    /// Whose decisions a return runs along: those of one player, or those of both in turn, where the value of a reply counts
    /// with the opposite sign. `both` is for self-play in two-player zero-sum games. Values then reach back twice as fast, and
    /// an exploring reply does not change what its opponent learns. Default: `own`.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub along: Along,
    /// ε of ε-greedy play, in [0, 1]. An exploring move that is not greedy cuts the trace.
    #[serde(default = "Schedule::exploration")]
    pub explore: Schedule,
    /// Temperature of Boltzmann play, in units of the value. Replaces ε-greedy play, also in measured games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Schedule>,
    /// How TD(λ) is computed: λ-returns backwards at the end of a game, or online eligibility traces.
    #[serde(default)]
    pub traces: TraceKind,
    /// How far the learner looks ahead when it decides: plies such as `"3"`, or positions such as `"2000n"`, with the settings of the agent
    /// `search:`. It learns from the values that it finds. Default: it does not look ahead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    /// Workers that play side by side, each with its own random generator; they share every batch. Results
    /// depend on this number, but not on the number of threads.
    #[serde(default = "usize_of::<1>")]
    pub workers: usize,
    /// Whether the games of the next batch are played while the network learns from this one. They use the
    /// parameters from before that step. Default: only with the burn engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<bool>,
}

/// The key of the search.
pub(crate) const SEARCH: &str = "learn.td.search";

/// Name of the learner as its own opponent.
pub const SELF: &str = "self";

/// Which rewards count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rewards {
    /// The outcome of the game.
    #[default]
    Outcome,
    /// The outcome, and rewards of the game on the way, such as a challenge won.
    Steps,
}

/// What a target takes from the next decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// The highest value if the move is exploring: Watkins' Q(λ).
    #[default]
    Highest,
    /// The value of the chosen action: SARSA(λ).
    Chosen,
}

/// Whose decisions a return runs along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Along {
    /// Those of the player who learns.
    #[default]
    Own,
    /// Those of both players, in turn.
    Both,
}

/// Internal decisions of a deliberating agent. A return is discounted once more for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GapDiscount {
    /// From one action to the next.
    pub turn: u32,
    /// From an action to its reward.
    pub reward: u32,
}

/// How TD(λ) is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TraceKind {
    /// λ-returns at the end of the game.
    #[default]
    Backward,
    /// Eligibility traces, with a step at every move.
    Online,
}

impl TdSettings {
    pub(super) fn check(&self, config: &Config, game: &GameInfo) -> Result<(), Fault> {
        let online = self.traces == TraceKind::Online;
        self.check_field()?;
        check_distribution("learn.td.distribution", self.distribution.as_deref(), game)?;
        self.check_examples(game)?;
        check_schedule("learn.td.lambda", &self.lambda, 0.0, 1.0)?;
        check_schedule("learn.td.explore", &self.explore, 0.0, 1.0)?;
        if let Some(temperature) = &self.temperature {
            check_schedule("learn.td.temperature", temperature, 1e-6, 1e6)?;
        }
        if !(0.0..=1.0).contains(&self.discount) {
            return fault("learn.td.discount", format!("must lie in 0..1, found {:?}", self.discount));
        }
        first_of(
            "learn.td.clip",
            &[
                (self.clip.is_some_and(|clip| !(clip > 0.0 && clip <= 1.0)), "must be above 0 and at most 1"),
                (
                    online && self.clip.is_some(),
                    "needs returns computed backwards: leave it out, or leave out `traces`",
                ),
            ],
        )?;
        let plain = self.discount == 1.0 && self.rewards == Rewards::Outcome && self.next == Next::Highest;
        let why = "`discount`, `rewards`, `gap_discount`, `next` and `temperature` need returns computed backwards: \
                   leave them out, or write `traces = \"backward\"`";
        let is_plain = plain && self.temperature.is_none() && self.gap_discount.is_none();
        first_of("learn.td", &[(online && !is_plain, why)])?;
        if online {
            self.check_online(config)?;
        }
        self.check_along(game)?;
        self.check_search(config)?;
        self.check_workers(config)
    }

    /// How the learner looks ahead.
    pub fn search_options(&self) -> Option<SearchOptions> {
        let mut options: SearchOptions = self.search.as_ref()?.parse().ok()?;
        // Only then are values of actions used that are not the best.
        options.all = self.temperature.is_some() || self.next == Next::Chosen;
        Some(options)
    }

    fn check_search(&self, config: &Config) -> Result<(), Fault> {
        let Some(text) = &self.search else { return Ok(()) };
        let options: SearchOptions = text.parse().map_err(|e| (SEARCH.to_string(), e))?;
        let plain = self.rewards == Rewards::Outcome && self.discount == 1.0 && self.gap_discount.is_none();
        let by_plies = matches!(options.budget, Budget::Plies(_));
        first_of(
            SEARCH,
            &[
                (
                    matches!(options.budget, Budget::Time(_)),
                    "a run must not depend on the machine: write plies, `3`, or positions, `2000n`",
                ),
                (
                    options.threads > 1,
                    "games are played side by side already (`workers`): leave `threads` out",
                ),
                (
                    !plain,
                    "a search values results of games: leave it out, or leave out `rewards`, `discount` and `gap_discount`",
                ),
                (
                    config.head == HeadName::Outcomes && !by_plies,
                    "probabilities of outcomes are searched to a fixed depth: write plies, such as `\"3\"`",
                ),
                (
                    self.traces == TraceKind::Online,
                    "needs returns computed backwards: leave it out, or leave out `traces`",
                ),
                (
                    matches!(config.architecture.form(), Form::Blind(_)),
                    "the blind learner learns from the candidates of its own decisions: leave it out",
                ),
            ],
        )
    }

    /// What to try where the learner loses every game.
    pub(crate) fn against_collapse(&self) -> &'static str {
        match self.rewards {
            Rewards::Outcome => {
                "games that are all lost teach nothing: learn from rewards on the way too (`learn.td.rewards = \"steps\"`, with \
                 `output = \"linear\"`), or put weaker agents and `self` into `learn.td.field`"
            }
            Rewards::Steps => {
                "put weaker agents and `self` into `learn.td.field`, lower `learn.rate`, or check that the output is linear"
            }
        }
    }

    fn check_along(&self, game: &GameInfo) -> Result<(), Fault> {
        if self.along == Along::Own {
            return Ok(());
        }
        if !game.zero_sum || game.hides {
            let message = format!(
                "`both` is for zero-sum games of two players without hidden information, and {} is not one: leave it out",
                game.name
            );
            return fault("learn.td.along", message);
        }
        let plain =
            self.rewards == Rewards::Outcome && self.next == Next::Highest && self.gap_discount.is_none();
        first_of(
            "learn.td.along",
            &[
                (
                    self.against != SELF || self.field.is_some(),
                    "`both` learns from self-play: leave out `against` and `field`",
                ),
                (
                    self.traces == TraceKind::Online || !plain,
                    "`both` needs returns of the outcome, computed backwards from the highest values: leave out `traces`, \
                     `rewards`, `next` and `gap_discount`",
                ),
            ],
        )
    }

    fn check_field(&self) -> Result<(), Fault> {
        let is_wrong = self.field.as_ref().is_some_and(|field| field.is_empty() || self.against != SELF);
        first_of("learn.td.field", &[(is_wrong, "name at least one agent, and leave `against` out")])
    }

    fn check_examples(&self, game: &GameInfo) -> Result<(), Fault> {
        if let Some(examples) = &self.examples {
            check_values("learn.td.examples", examples.file().is_some(), game)?;
            examples.check("learn.td.examples")?;
            let why = "online traces step at every move, but examples come in batches: write `backward`";
            first_of("learn.td.traces", &[(self.traces == TraceKind::Online, why)])?;
        }
        let is_alone = self.examples.is_some() != self.examples_per_game.is_some();
        let why = "`examples` and `examples_per_game` belong together: give both or none";
        first_of("learn.td", &[(is_alone, why)])?;
        let is_far = self.examples_per_game.is_some_and(|rate| !(rate > 0.0 && rate <= 1e6));
        first_of("learn.td.examples_per_game", &[(is_far, "must be above 0 and at most a million")])
    }

    /// Checks for online traces, which take plain steps at every move on this machine.
    fn check_online(&self, config: &Config) -> Result<(), Fault> {
        let learn = &config.learn;
        first_of(
            "learn.td.traces",
            &[
                (
                    config.architecture.learns_by_likelihood(),
                    "online traces need the gradient of the value, but an HME learns by likelihood: write `backward`, or \
                     take `meta_pi`",
                ),
                (
                    matches!(config.architecture.form(), Form::Blind(_)),
                    "the blind learner learns from returns: write `backward`",
                ),
            ],
        )?;
        let why = "online traces step at every move: leave `batch` out";
        first_of("learn.batch", &[(learn.batch > 1, why)])?;
        let why = "online traces take plain steps: leave `optimiser` out";
        first_of("learn.optimiser", &[(learn.optimiser != Optimiser::default(), why)])?;
        let why = "online traces step at every move, which is too slow on a device: leave `engine` out";
        first_of("learn.engine", &[(learn.engine == Engine::Burn, why)])
    }

    fn check_workers(&self, config: &Config) -> Result<(), Fault> {
        check_range("learn.td.workers", self.workers, 1..=limits::WORKERS)?;
        let (workers, batch) = (self.workers, config.learn.batch);
        if workers as u64 > batch {
            let message = format!("{workers} workers share a batch of {batch}: raise `learn.batch`");
            return fault("learn.td.workers", message);
        }
        let (path, apart) = match workers {
            1 => ("learn.td.overlap", config.learn.overlaps()),
            _ => ("learn.td.workers", true),
        };
        let grows = config.architecture.grows() && config.learn.engine == Engine::Native;
        let online = self.traces == TraceKind::Online;
        first_of(
            path,
            &[
                (apart && grows, "a table, or the blind learner, grows while it plays: leave this out"),
                (apart && online, "online traces step at every move: leave this out"),
            ],
        )
    }
}

fn itself() -> String {
    SELF.into()
}

fn lambda() -> Schedule {
    Schedule::constant(0.8)
}
