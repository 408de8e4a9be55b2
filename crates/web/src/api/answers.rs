//! Schemas of answers whose types come from other crates, for the OpenAPI document. Tests validate real answers against
//! them.

#![allow(dead_code, reason = "nothing makes these types: only their schemas are used")]

use crate::registry::Entry;
use crate::training::Starter;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Information about the server.
#[derive(Serialize, ToSchema)]
pub(crate) struct Status {
    /// Version of adept.
    version: String,
    /// Number of games.
    games: u64,
    /// Number of cached agent names of earlier requests.
    agents: u64,
    /// Number of games in progress.
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
    /// Value for the player, as a share of the scale.
    #[schema(minimum = -1, maximum = 1)]
    utility: f32,
    /// Index of the opponent's class.
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
    /// The node, by the prefix of its tensor names; empty for the root.
    node: String,
    /// All nodes with this map.
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

/// An agent's values of positions.
#[derive(Serialize, ToSchema)]
pub(crate) struct Values {
    values: Vec<PositionValue>,
}

/// An agent's values of a position.
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
    /// Figures of the position in words of the game, such as those of the cube.
    reading: Option<Reading>,
    /// Names of the classes, in the order of each `outcomes`.
    class_names: Option<Vec<String>>,
    /// Each legal move, best first.
    moves: Vec<MoveValue>,
    search: Option<Searched>,
}

/// What to do in a position, and figures by name.
#[derive(Serialize, ToSchema)]
pub(crate) struct Reading {
    advice: String,
    figures: BTreeMap<String, f64>,
}

/// A legal move and its value for the player who makes it.
#[derive(Serialize, ToSchema)]
pub(crate) struct MoveValue {
    #[serde(rename = "move")]
    move_: String,
    /// Same as `move`.
    action: String,
    /// The position after the move, with the next player's side first if the game's texts do so.
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
    /// Output of each expert; none for one that did not run.
    experts: Option<Vec<Option<Explanation>>>,
}

/// Output of a node of a network.
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
    /// Output of each expert; none for one that did not run.
    experts: Option<Vec<Option<Explanation>>>,
}

/// Depth of a search.
#[derive(Serialize, ToSchema)]
pub(crate) struct Searched {
    /// Number of completed plies. At 1 ply nothing was searched: the values are those of the evaluator.
    plies: u64,
    /// Requested plies; none for a search limited by time or positions.
    asked_plies: Option<u64>,
    /// Whether the search reached its requested depth.
    finished: bool,
    /// Description of what is missing.
    shortfall: Option<String>,
    /// Number of evaluated positions.
    nodes: u64,
    /// Whether every line was searched to the end of the game.
    solved: bool,
    /// Principal variation.
    line: Option<Vec<String>>,
}

/// The moves of one position or several.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum MovesFound {
    /// For a single `position`.
    One(Decision),
    /// For `positions`.
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

/// The moves of one of several positions.
#[derive(Serialize, ToSchema)]
pub(crate) struct ShortDecision {
    position: String,
    #[schema(required)]
    to_move: Option<u64>,
    moves: Vec<ShortMove>,
    search: Option<Searched>,
}

/// A move of one of several positions.
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

/// A game from the person's view. Players are counted from 1.
#[derive(Serialize, ToSchema)]
pub(crate) struct Play {
    id: String,
    game: String,
    /// The agent in all other seats.
    opponent: String,
    /// The person's seat.
    seat: u64,
    players: u64,
    /// None while the game hides what follows from it.
    #[schema(required)]
    seed: Option<u64>,
    /// Changes with every move and every undo.
    turn: u64,
    events: Vec<PlayEvent>,
    /// The starting position.
    begin: String,
    begin_board: Option<String>,
    position: String,
    /// A multi-line drawing of the position.
    board: String,
    /// Player to move; none if the game is over.
    #[schema(required)]
    to_move: Option<u64>,
    /// The side that comes first in texts of positions, in games with two sides.
    #[schema(required)]
    next: Option<u64>,
    your_turn: bool,
    /// The person's legal moves.
    moves: Vec<PlayMove>,
    over: bool,
    #[schema(required)]
    outcome: Option<PlayOutcome>,
    can_undo: bool,
    /// Classes of results available for resignation, smallest loss first.
    resignations: Vec<String>,
    /// Suffix of files of whole games of this kind; none while the game hides something from the person.
    #[schema(required)]
    history: Option<String>,
    /// The game as text that repeats it; none while it hides something from the person.
    #[schema(required)]
    record: Option<PlayRecord>,
    /// Whether the game survives a restart of the server.
    stored: bool,
}

/// A game as text that repeats it: chance follows from the seed.
#[derive(Serialize, ToSchema)]
pub(crate) struct PlayRecord {
    /// `adept-game-1`.
    format: String,
    game: String,
    opponent: String,
    /// The person's seat, from 1.
    seat: u64,
    seed: u64,
    /// The starting position, unless it is the start of the game.
    #[schema(required)]
    from: Option<String>,
    turn: u64,
    /// What the players did, in order.
    actions: Vec<String>,
    /// The class of results with which the person resigned.
    #[schema(required)]
    resigned: Option<String>,
    over: bool,
    /// The position to which all this leads.
    position: String,
}

/// A game in the usual format of its kind.
#[derive(Serialize, ToSchema)]
pub(crate) struct PlayHistory {
    /// Suffix of such files, such as `mat`.
    suffix: String,
    text: String,
}

/// A chance event or a move.
#[derive(Serialize, ToSchema)]
pub(crate) struct PlayEvent {
    /// Player who moved; none for a chance event.
    #[schema(required)]
    player: Option<u64>,
    #[serde(rename = "move")]
    move_: String,
    /// The event as a sentence.
    text: String,
    /// The position after the event.
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
    /// The position after the move, if there are few moves.
    position: Option<String>,
}

/// Result of a game for the person.
#[derive(Serialize, ToSchema)]
pub(crate) struct PlayOutcome {
    /// The result in the unit of the game, otherwise its utility.
    utility: f64,
    text: String,
    class: Option<String>,
}

/// An agent's hints about the person's moves.
#[derive(Serialize, ToSchema)]
pub(crate) struct Hints {
    #[schema(required)]
    value: Option<PositionValue>,
    /// Hints as text.
    #[schema(required)]
    text: Option<String>,
}

/// Loss of each decision of a game and luck of each player.
#[derive(Serialize, ToSchema)]
pub(crate) struct Analysis {
    /// The agent whose values define losses.
    by: String,
    /// The rule set.
    game: String,
    #[schema(required)]
    unit: Option<String>,
    /// The utility of the unit; 1 without one.
    unit_size: f64,
    /// The utility of the result for player 1.
    #[schema(required)]
    result: Option<f64>,
    /// Whether its values are exact.
    exact: bool,
    /// The game's exact tables, which replace its values where they know the position.
    references: Option<Vec<String>>,
    /// The players in order; their losses and luck are in the unit of the game.
    players: Vec<PlayerAnalysis>,
    steps: Vec<ReviewStep>,
}

/// An action or a chance event of a game. Values, losses and luck are in units of utility; what is not known is missing.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReviewStep {
    /// Its index among all actions and chance events.
    place: u64,
    /// `move`, `double`, `answer`, `forced` or `chance`.
    kind: String,
    /// The player, from 1; none for a chance event.
    player: Option<u64>,
    /// The number that a file gives to the move.
    number: Option<u64>,
    /// The position before an action of a player.
    position: Option<String>,
    /// The player whose side this text shows first.
    side: Option<u64>,
    /// What was played, or what chance gave.
    played: String,
    /// The value of the position for player 1 before it.
    value: Option<f64>,
    /// The utility of a point, if players of the game count errors in points.
    point: Option<f64>,
    /// The luck of a chance event for player 1.
    luck: Option<f64>,
    /// The best actions of a decision, the best first, and the one that was played.
    candidates: Option<Vec<ReviewCandidate>>,
    /// `right`, `undecided`, if the loss lies within the error of the estimates, or `wrong`.
    verdict: Option<String>,
    loss: Option<f64>,
    /// The loss in points.
    points: Option<f64>,
    /// The standard error of the loss, if values are estimates from samples.
    error: Option<f64>,
    /// 0, 1 or 2 for an error that is doubtful, bad or very bad.
    mark: Option<u64>,
    /// What players call the error, such as `missed double`.
    name: Option<String>,
    /// The judge, from 0, if several judge one after another.
    judge: Option<u64>,
    /// What a search lacks that stopped before its depth.
    shortfall: Option<String>,
}

/// An action that a decision allows.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReviewCandidate {
    action: String,
    /// Its value for the player.
    value: f64,
    /// The value of the best action less this one.
    loss: f64,
    points: Option<f64>,
}

/// The review of a file of games, as the page of the command `review` has it.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReviewFound {
    /// The rule set, or several.
    game: String,
    by: String,
    references: Vec<String>,
    #[schema(required)]
    unit: Option<String>,
    /// The utility of the unit; 1 without one.
    unit_size: f64,
    /// What is wrong with the file: games are read up to there.
    faults: Vec<ReviewFault>,
    /// The players, as `adept review --json` tells them.
    #[schema(value_type = Vec<Object>)]
    players: Vec<serde_json::Value>,
    played: Vec<ReviewedGame>,
    /// Whether all games were reviewed.
    finished: bool,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ReviewFault {
    game: Option<u64>,
    why: String,
}

/// A game of a file.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReviewedGame {
    /// Its number in the file.
    game: u64,
    rules: String,
    players: Vec<String>,
    /// The utility of the result for player 1; of a game of a match, its share of the match.
    result: Option<f64>,
    steps: Vec<ReviewStep>,
}

/// One player's statistics.
#[derive(Serialize, ToSchema)]
pub(crate) struct PlayerAnalysis {
    player: u64,
    /// Number of decisions between several moves.
    decisions: u64,
    /// Sum of the losses of wrong decisions.
    loss: f64,
    /// Half the width of its 95 % interval, if the values are estimates from samples.
    loss_ci95: Option<f64>,
    #[schema(required)]
    loss_per_decision: Option<f64>,
    /// Number of decisions with a loss beyond the error of the estimates.
    wrong: u64,
    /// Number of decisions with a loss within the error of the estimates.
    undecided: u64,
    /// Sum of the luck of all chance events.
    luck: f64,
    /// Half the width of its 95 % interval, if the values are estimates from samples.
    luck_ci95: Option<f64>,
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
    /// Mean result of that player minus luck: in the unit of the game, otherwise utility.
    equity: f64,
    /// Its 95 % interval.
    ci95: Vec<f64>,
    /// Mean raw result.
    raw: f64,
    raw_ci95: Vec<f64>,
    unit: Option<String>,
    /// Number of games.
    trials: u64,
    /// Probability of each class of results, variance-reduced.
    classes: BTreeMap<String, f64>,
    classes_ci95: BTreeMap<String, Vec<f64>>,
}

/// A search's result.
#[derive(Serialize, ToSchema)]
pub(crate) struct SearchFound {
    value: PositionValue,
    plies: u64,
}

/// Result of a job: a rollout, a search or a review.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum JobResult {
    /// Result of a rollout.
    Rollout(Rollouts),
    /// Result of a search.
    Search(Box<SearchFound>),
    /// Result of a review.
    Review(Box<ReviewFound>),
}

/// Identifier of a started game, job or run.
#[derive(Serialize, ToSchema)]
pub(crate) struct Begun {
    id: String,
}

/// Empty answer.
#[derive(Serialize, ToSchema)]
pub(crate) struct Done {}

/// The starter configs.
#[derive(Serialize, ToSchema)]
pub(crate) struct Starters {
    starters: Vec<Starter>,
    /// Whether this server allows starting runs.
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
    /// `id` without the seed.
    group: String,
    name: String,
    seed: u64,
    /// Its game; empty if unknown.
    game: String,
    /// `preparing`, `running`, `stopped`, `finished` or `failed`, or why it cannot be read.
    status: String,
    /// Games learned from.
    step: u64,
    /// Number of games of the whole run.
    games: u64,
    seconds: f64,
    /// Name of the reported figure.
    #[schema(required)]
    figure: Option<String>,
    /// The same with the opponent, as on the axis of its curve.
    #[schema(required)]
    measure: Option<String>,
    #[schema(required)]
    r#final: Option<f64>,
    #[schema(required)]
    best: Option<f64>,
    /// The last measurement of a run that is learning in this server.
    #[schema(required)]
    latest: Option<f64>,
    /// Whether the run is learning in this server.
    here: bool,
    can_resume: bool,
    /// Error of a run that failed in this server.
    #[schema(required)]
    failed: Option<String>,
    /// Points `[step, number]`. This and the following fields exist only in answers about a single run.
    curve: Option<Vec<Vec<f64>>>,
    /// 95 % intervals `[step, low, high]` of points that are estimates.
    intervals: Option<Vec<Vec<f64>>>,
    /// Whether lower is better.
    is_error: Option<bool>,
    /// Values to compare the curve with, such as that of random play.
    marks: Option<Vec<Mark>>,
    /// Quantity of the loss.
    loss_measure: Option<String>,
    /// Points `[step, number]`.
    loss: Option<Vec<Vec<f64>>>,
    /// Points `[step, [share of each expert, …]]`.
    shares: Option<Vec<Vec<Share>>>,
    /// The maps of learned cells in the last checkpoint.
    maps: Option<Vec<CellMap>>,
    /// The config, as TOML.
    config: Option<String>,
}

/// A value to compare with.
#[derive(Serialize, ToSchema)]
pub(crate) struct Mark {
    name: String,
    value: f64,
}

/// A step, or the share of each expert at that step.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Share {
    /// Number of games or samples.
    Step(u64),
    /// Shares from 0 to 1.
    Shares(Vec<f64>),
}

/// Error of a refused request.
#[derive(Serialize, ToSchema)]
pub(crate) struct Refused {
    error: Refusal,
}

/// The error, for programs and for people.
#[derive(Serialize, ToSchema)]
pub(crate) struct Refusal {
    /// `request`, `name`, `game`, `busy`, `forbidden` or `failed`.
    kind: String,
    message: String,
}
