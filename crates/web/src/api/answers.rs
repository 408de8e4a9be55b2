//! The schemas of answers whose types come from other crates, for the document of the API. Tests hold real answers against them.

#![allow(dead_code, reason = "nothing makes these types: only their schemas are used")]

use crate::shelf::Entry;
use crate::training::Starter;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// What the server is.
#[derive(Serialize, ToSchema)]
pub(crate) struct Status {
    /// Version of adept.
    version: String,
    /// Number of games.
    games: u64,
    /// Names of agents that are kept from earlier requests.
    agents: u64,
    /// Games that are being played.
    plays: u64,
}

/// The rule sets.
#[derive(Serialize, ToSchema)]
pub(crate) struct Games {
    games: Vec<Game>,
}

/// A rule set.
#[derive(Serialize, ToSchema)]
pub(crate) struct Game {
    name: String,
    about: String,
    players: u64,
    /// Whether it hides information.
    hides: bool,
    /// Whether it is a two-player zero-sum game.
    zero_sum: bool,
    /// The unit of its results, such as points.
    #[schema(required)]
    unit: Option<String>,
    /// The largest result, in that unit.
    scale: f64,
    /// The classes of its results; empty if it lists none.
    classes: Vec<OutcomeClass>,
    /// The rules in short.
    #[schema(required)]
    rules: Option<String>,
}

/// A class of results, for one player.
#[derive(Serialize, ToSchema)]
pub(crate) struct OutcomeClass {
    name: String,
    /// What it is worth to the player, as a share of the scale.
    #[schema(minimum = -1, maximum = 1)]
    utility: f32,
    /// Place of the class that the other player is in.
    mirror: u64,
}

/// The agents.
#[derive(Serialize, ToSchema)]
pub(crate) struct Agents {
    agents: Vec<Entry>,
}

/// The maps of learned cells.
#[derive(Serialize, ToSchema)]
pub(crate) struct CellMaps {
    maps: Vec<CellMap>,
}

/// A map of learned cells.
#[derive(Serialize, ToSchema)]
pub(crate) struct CellMap {
    /// The node, by the prefix of its tensor names; empty at the top.
    node: String,
    /// All nodes that have this map.
    nodes: Vec<String>,
    /// The index channels, down and across.
    channels: Vec<String>,
    /// Number of experts.
    experts: u64,
    /// Expert of each pair of classes: a row for each class of the first channel.
    cells: Vec<Vec<u64>>,
    /// First value of each class, for both channels.
    starts: Vec<Vec<u64>>,
}

/// What an agent thinks of positions.
#[derive(Serialize, ToSchema)]
pub(crate) struct Values {
    values: Vec<PositionValue>,
}

/// What an agent thinks of a position.
#[derive(Serialize, ToSchema)]
pub(crate) struct PositionValue {
    position: String,
    /// Value for the player to move, in the range of the network: of the best move, or of the position itself before a chance event. For a
    /// finished game the exact result for player 1.
    value: f32,
    /// The value in the unit of the game, such as points; none for a policy.
    equity: Option<f64>,
    /// The probability that the player to move wins, in games that always have one winner.
    win_probability: Option<f64>,
    /// The value in the unit of the game.
    score: Option<f64>,
    /// The name of the unit.
    unit: Option<String>,
    /// The probability of each class of results for the player to move, with the best move.
    classes: Option<BTreeMap<String, f32>>,
    /// Player to move, at once or after a chance event, from 1. None if the game is over.
    #[schema(required)]
    to_move: Option<u64>,
    /// The position itself, for the player who made the last move.
    after: Option<Explanation>,
    /// Names of the classes, in the order of each `outcomes`.
    class_names: Option<Vec<String>>,
    /// Each legal move, best first.
    moves: Vec<MoveValue>,
    search: Option<Searched>,
}

/// A legal move and its value for the player who makes it.
#[derive(Serialize, ToSchema)]
pub(crate) struct MoveValue {
    #[serde(rename = "move")]
    move_: String,
    /// The same as `move`.
    action: String,
    /// The position after the move, which shows the player to move next first if the game's texts do.
    afterstate: String,
    /// The value in the unit of the game, such as points; none for a policy.
    equity: Option<f64>,
    /// Half the width of the 95 % interval of `equity`, if the value is an estimate from samples.
    ci95: Option<f64>,
    win_probability: Option<f64>,
    score: Option<f64>,
    unit: Option<String>,
    /// The probability of each class of results for the player who makes the move.
    classes: Option<BTreeMap<String, f32>>,
    /// Probability of the move by a policy.
    probability: Option<f64>,
    /// Value in the range of the network; for a policy the logit.
    value: f32,
    /// The probabilities in the order of `class_names`.
    outcomes: Option<Vec<f32>>,
    name: Option<String>,
    /// Weight of each expert.
    gates: Option<Vec<f32>>,
    cell: Option<Vec<u64>>,
    node: Option<String>,
    /// What each expert says; none for one that did not run.
    experts: Option<Vec<Option<Explanation>>>,
}

/// What a node of a network says.
#[derive(Serialize, ToSchema)]
#[schema(no_recursion)]
pub(crate) struct Explanation {
    value: f32,
    /// The value in the unit of the game, such as points.
    equity: Option<f64>,
    /// Its distribution over the classes of outcomes.
    outcomes: Option<Vec<f32>>,
    /// Its name, if it is a module.
    name: Option<String>,
    /// Weight of each expert.
    gates: Option<Vec<f32>>,
    /// The class of the row in each of the two channels of learned cells.
    cell: Option<Vec<u64>>,
    /// The node of these cells.
    node: Option<String>,
    /// What each expert says; none for one that did not run.
    experts: Option<Vec<Option<Explanation>>>,
}

/// How far a search looked.
#[derive(Serialize, ToSchema)]
pub(crate) struct Searched {
    /// Plies searched completely. At 1 ply nothing was searched: the values are those of the evaluator alone.
    plies: u64,
    /// Plies that were asked for; none for a search that ends by time or by positions.
    asked_plies: Option<u64>,
    /// Whether it looked as far as it was asked to.
    finished: bool,
    /// What is missing, in words.
    shortfall: Option<String>,
    /// Positions valued.
    nodes: u64,
    /// Whether every line was searched to the end of the game.
    solved: bool,
    /// The moves that it expects.
    line: Option<Vec<String>>,
}

/// The moves of one position, or of many.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum MovesFound {
    /// Of one `position`.
    One(Decision),
    /// Of `positions`.
    Many(Decisions),
}

/// The moves of a position.
#[derive(Serialize, ToSchema)]
pub(crate) struct Decision {
    position: String,
    #[schema(required)]
    to_move: Option<u64>,
    moves: Vec<MoveValue>,
    search: Option<Searched>,
}

/// The moves of several positions.
#[derive(Serialize, ToSchema)]
pub(crate) struct Decisions {
    /// The classes of results, in the order of each `outcomes`.
    class_names: Option<Vec<String>>,
    decisions: Vec<ShortDecision>,
}

/// The moves of one of many positions.
#[derive(Serialize, ToSchema)]
pub(crate) struct ShortDecision {
    position: String,
    #[schema(required)]
    to_move: Option<u64>,
    moves: Vec<ShortMove>,
    search: Option<Searched>,
}

/// A move of one of many positions.
#[derive(Serialize, ToSchema)]
pub(crate) struct ShortMove {
    #[serde(rename = "move")]
    move_: String,
    afterstate: String,
    value: f32,
    #[schema(required)]
    equity: Option<f64>,
    /// Half the width of the 95 % interval of `equity`, if the value is an estimate from samples.
    ci95: Option<f64>,
    outcomes: Option<Vec<f32>>,
}

/// A game as the person sees it. Players are counted from 1.
#[derive(Serialize, ToSchema)]
pub(crate) struct Play {
    id: String,
    game: String,
    /// The agent in all other seats.
    opponent: String,
    /// The person's seat.
    seat: u64,
    players: u64,
    seed: u64,
    /// Changes with every move, also when one is taken back.
    turn: u64,
    events: Vec<PlayEvent>,
    /// The position in which it began.
    begin: String,
    begin_board: Option<String>,
    position: String,
    /// A drawing of the position in several lines.
    board: String,
    /// Who is to move; none if the game is over.
    #[schema(required)]
    to_move: Option<u64>,
    /// The side that texts of positions show first, in games of two sides.
    #[schema(required)]
    next: Option<u64>,
    your_turn: bool,
    /// The person's legal moves.
    moves: Vec<PlayMove>,
    over: bool,
    #[schema(required)]
    outcome: Option<PlayOutcome>,
    can_undo: bool,
    /// Classes of results as which the person can give up, the smallest loss first.
    resignations: Vec<String>,
}

/// A chance event or a move.
#[derive(Serialize, ToSchema)]
pub(crate) struct PlayEvent {
    /// Who moved; none for a chance event.
    #[schema(required)]
    player: Option<u64>,
    #[serde(rename = "move")]
    move_: String,
    /// It as a sentence.
    text: String,
    /// The position after it.
    position: String,
    #[schema(required)]
    next: Option<u64>,
    board: Option<String>,
}

/// A legal move.
#[derive(Serialize, ToSchema)]
pub(crate) struct PlayMove {
    #[serde(rename = "move")]
    move_: String,
    /// The position after it, if there are few moves.
    position: Option<String>,
}

/// How a game ended for the person.
#[derive(Serialize, ToSchema)]
pub(crate) struct PlayOutcome {
    /// The result in the unit of the game, otherwise its utility.
    utility: f64,
    text: String,
    class: Option<String>,
}

/// What an agent thinks of the person's moves.
#[derive(Serialize, ToSchema)]
pub(crate) struct Hints {
    #[schema(required)]
    value: Option<PositionValue>,
    /// In words.
    #[schema(required)]
    text: Option<String>,
}

/// What each decision of a game lost, and the luck of each player, in the unit of the game.
#[derive(Serialize, ToSchema)]
pub(crate) struct Analysis {
    /// The agent whose values judge.
    by: String,
    #[schema(required)]
    unit: Option<String>,
    /// Whether its values are exact.
    exact: bool,
    /// The game's exact tables, which stand for its values where they know the value.
    references: Option<Vec<String>>,
    players: Vec<PlayerAnalysis>,
    decisions: Vec<DecisionAnalysis>,
    rolls: Vec<RollAnalysis>,
}

/// One player's part of an analysis.
#[derive(Serialize, ToSchema)]
pub(crate) struct PlayerAnalysis {
    player: u64,
    /// Decisions between several moves.
    decisions: u64,
    /// Sum of what the wrong ones lost.
    loss: f64,
    /// Half the width of its 95 % interval, if the values are estimates from samples.
    loss_ci95: Option<f64>,
    #[schema(required)]
    loss_per_decision: Option<f64>,
    /// Decisions that lost something, and more than the error of the estimates.
    wrong: u64,
    /// Decisions whose loss lies within the error of the estimates.
    undecided: u64,
    /// Luck of all chance events.
    luck: f64,
    /// Half the width of its 95 % interval, if the values are estimates from samples.
    luck_ci95: Option<f64>,
}

/// A decision in an analysis.
#[derive(Serialize, ToSchema)]
pub(crate) struct DecisionAnalysis {
    /// Its place among the events.
    event: u64,
    player: u64,
    position: String,
    #[serde(rename = "move")]
    move_: String,
    best: String,
    loss: f64,
    /// Half the width of its 95 % interval, if the values are estimates from samples.
    loss_ci95: Option<f64>,
    /// Whether the loss lies within its error, so that it is not known whether the move was wrong.
    undecided: bool,
    /// The best moves, best first.
    moves: Vec<Candidate>,
}

/// A candidate move, and its value for the player.
#[derive(Serialize, ToSchema)]
pub(crate) struct Candidate {
    #[serde(rename = "move")]
    move_: String,
    equity: f64,
}

/// A chance event in an analysis.
#[derive(Serialize, ToSchema)]
pub(crate) struct RollAnalysis {
    /// Its place among the events.
    event: u64,
    /// Its luck for player 1.
    luck: f64,
}

/// A rollout's result.
#[derive(Serialize, ToSchema)]
pub(crate) struct Rollouts {
    rollouts: Vec<Rollout>,
    /// Whether all games were played.
    finished: bool,
}

/// The rollout of a position.
#[derive(Serialize, ToSchema)]
pub(crate) struct Rollout {
    position: String,
    /// The player, from 1.
    to_move: u64,
    /// Mean result of that player less luck: in the unit of the game, otherwise utility.
    equity: f64,
    /// Its 95 % interval.
    ci95: Vec<f64>,
    /// Mean result as it was.
    raw: f64,
    raw_ci95: Vec<f64>,
    unit: Option<String>,
    /// Games.
    trials: u64,
    /// The probability of each class of results, less luck.
    classes: BTreeMap<String, f64>,
    classes_ci95: BTreeMap<String, Vec<f64>>,
}

/// A search's result.
#[derive(Serialize, ToSchema)]
pub(crate) struct SearchFound {
    value: PositionValue,
    plies: u64,
}

/// What a job has come to: as a rollout, or as a search.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum JobResult {
    /// Of a rollout.
    Rollout(Rollouts),
    /// Of a search.
    Search(Box<SearchFound>),
}

/// The name of what was begun.
#[derive(Serialize, ToSchema)]
pub(crate) struct Begun {
    id: String,
}

/// Nothing more.
#[derive(Serialize, ToSchema)]
pub(crate) struct Done {}

/// The starter configs.
#[derive(Serialize, ToSchema)]
pub(crate) struct Starters {
    starters: Vec<Starter>,
    /// Whether runs may be started here.
    may_train: bool,
}

/// The runs.
#[derive(Serialize, ToSchema)]
pub(crate) struct Runs {
    runs: Vec<Run>,
}

/// A run.
#[derive(Serialize, ToSchema)]
pub(crate) struct Run {
    id: String,
    /// The `id` without the seed.
    group: String,
    name: String,
    seed: u64,
    /// `preparing`, `running`, `stopped`, `finished` or `failed`, or why it cannot be read.
    status: String,
    /// Games learned from.
    step: u64,
    /// Games of the whole run.
    games: u64,
    seconds: f64,
    /// Which figure is reported.
    #[schema(required)]
    figure: Option<String>,
    #[schema(required)]
    r#final: Option<f64>,
    #[schema(required)]
    best: Option<f64>,
    /// Whether it learns in this server.
    here: bool,
    can_resume: bool,
    /// Why it failed here.
    #[schema(required)]
    failed: Option<String>,
    /// What the curve shows. Only where one run is asked for, as are all below.
    measure: Option<String>,
    /// Points `[step, number]`.
    curve: Option<Vec<Vec<f64>>>,
    /// Points `[step, number]`.
    loss: Option<Vec<Vec<f64>>>,
    /// Points `[step, [share of each expert, …]]`.
    shares: Option<Vec<Vec<Share>>>,
    /// The config, as TOML.
    config: Option<String>,
}

/// A step, or the share of each expert at it.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Share {
    /// Games or samples learned from.
    Step(u64),
    /// Shares from 0 to 1.
    Shares(Vec<f64>),
}

/// Why a request is refused.
#[derive(Serialize, ToSchema)]
pub(crate) struct Refused {
    error: Refusal,
}

/// What is wrong, for programs and for people.
#[derive(Serialize, ToSchema)]
pub(crate) struct Refusal {
    /// `request`, `name`, `game`, `busy`, `forbidden` or `failed`.
    kind: String,
    message: String,
}
