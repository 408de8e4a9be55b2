"""Train, measure and play evaluation functions for games."""

# pdoc runs this file, in which names are used before they are defined.
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar, TypedDict, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

__version__: str

class AdeptError(Exception):
    """A fault, with what is wrong and what to do."""

CHANCE: str
"""Returned by `Game.turn` where dice, cards or lots decide."""

@final
class _Stop: ...

STOP: Final[_Stop]
"""Returned by an `on_progress` callback: save a checkpoint and end."""

_Path = str | PathLike[str]
_Config = _Path | dict[str, Any]
_Settings = str | list[str] | dict[str, Any] | None
_Callback = Callable[[dict[str, Any]], object] | None

def games() -> list[dict[str, str]]:
    """The games: dicts with `name` and `about`."""

def game(rules: str | Game | Rules) -> Rules:
    """The rules of a game: by name, such as `"backgammon"` or `"file:PATH"`, or of a `Game`, which is registered first."""

def encoders(game: str) -> list[dict[str, str]]:
    """The encoders of a game: dicts with `name` and `about`."""

def starter(game: str, method: str | None = None) -> str:
    """A config to start from, as the text of a TOML file: what `adept config new` prints."""

def open(path: _Path, best: bool = False, game: str | None = None) -> Model:
    """Opens a checkpoint folder, or the latest (or best) checkpoint of a run folder.

    With `search:4:PATH` (plies), `search:100ms:PATH` (time) or `search:10000n:PATH` (valued positions), `values`, `moves`
    and `explain` look ahead. A search cannot be interrupted: prefer a time.

    `game` is the rule set to play, if it is not the checkpoint's own: networks of backgammon and hypergammon that give
    outcomes play those with the doubling cube, such as `backgammon:money` and `backgammon:match-7`. Positions are then
    XGIDs, or Position IDs with a Match ID, with their cube, score and offered double. Rows stay those of the network,
    without the cube."""

def train(
    config: _Config,
    *,
    out: _Path | None = None,
    seed: int | None = None,
    settings: _Settings = None,
    resume: bool = False,
    on_progress: _Callback = None,
    threads: int = 0,
    max_seconds: float | None = None,
    tensorboard: bool = False,
    fresh: bool = False,
) -> Run:
    """Trains by a config and returns the run.

    `config` is a file, a dict, or the text of a TOML file. `settings` change keys of it, such as `{"learn.td.games":
    10000}` or `["learn.td.games=10000"]`; `seed` replaces its seed. `out` is the run folder, by default
    `checkpoints/runs/NAME-SEED`. A run there that is finished, with the same config and seed, is returned as it is.
    `threads` compute shards, all cores by default; `max_seconds` stops the run after a time; `tensorboard` adds an
    event file to its folder. `fresh=True` starts anew in place of an unfinished run.

    `on_progress` gets dicts. `kind` is `started` (with `from`, `total`, `unit`), `progress` (with `step` and `rate`
    per second), `measured` (a line of `Run.metrics`), `preparing`, `set_back` (a damaged checkpoint was left for an
    older one) or `ended`, which always follows on `started`. `progress_bar()` is such a callback.

    If it returns `adept.STOP`, the run saves a checkpoint and ends, and is returned unfinished; `resume=True` goes on. If it
    returns a dict such as `{"learn.rate": 1e-4}`, the run goes on with that from the next batch: `learn.rate`, `learn.td.explore`,
    `learn.td.temperature` and `learn.expectation.explore` may be changed, and None goes back to the schedule of the config.
    `Run.changed` lists the changes, and a resumed run keeps them. Answers to `measured` come at fixed steps, so the same
    answers give the same bits; `progress` comes by the clock.

    Ctrl-C, or an exception in `on_progress`, stops the run after it has saved a checkpoint; `resume=True` goes on to
    the same bits. The interpreter lock is free meanwhile. Raises `AdeptError`."""

def study(
    configs: Mapping[str, _Config],
    seeds: int | Iterable[int] = 3,
    grid: Mapping[str, Iterable[Any]] | None = None,
    *,
    out: _Path | None = None,
    processes: int = 0,
    settings: _Settings = None,
    on_progress: _Callback = None,
) -> Study:
    """Trains several configs with several seeds, and returns a `Study` that compares them.

    `configs` is a dict of names and configs, each as `train` takes it. `seeds` is a number (5: the seeds 1 to 5), a range or a
    list. `grid` has keys with lists of values to try, such as `{"learn.rate": [0.01, 0.02]}`: all combinations are trained with all seeds.
    `settings` are changes for all. More than 4,096 combinations or 100,000 runs are refused before anything starts. `out` is the
    folder, by default `checkpoints/studies/` with the names joined by `_`. In it each config has a folder, which is that of a
    sweep: `adept sweep` goes on with it, and `adept runs compare` and `adept report` read it.

    The same call again returns what is finished at once and goes on with the rest; other seeds, or another config beside, are
    added. If the config of a name or its grid has changed, the call is refused: choose another folder. Results do not
    depend on `processes`, how many runs there are at a time, 0 for one per core. As in the command, they are threads of this process,
    so games written in Python take part, one at a time.

    `on_progress` gets dicts. `kind` is `study` (at the start, with `from` and `total` steps), the kinds of `train`, `failed` (with the `reason`)
    or `over` (at the end). All have `runs` and how many are `done`; those of a run have `run`, `config` and `seed`.
    `progress_bar()` is such a callback. If it returns `adept.STOP`, runs at work save checkpoints, and the study is returned
    unfinished. So they do after Ctrl-C or an exception in it.

    A run that fails does not keep others from going on: `Study.failed` and a warning tell of it. If no run is left, `AdeptError` is
    raised."""

class Study:
    """What came of a study: made by `adept.study`.

    `path` is its folder, `runs` are the `adept.Run` of its finished runs, and `finished` tells whether all runs are. `failed` lists
    dicts of the others that failed: `config`, `settings`, `seed`, `run`, the `reason`, and the `error` if it was an exception in
    Python. Printed, a study is the table of `compare()`."""

    path: Path
    runs: list[Run]
    failed: list[dict[str, Any]]
    @property
    def finished(self) -> bool: ...
    def frame(self, which: Literal["final", "curves"] = "final") -> dict[str, NDArray[Any]]:
        """A dict of arrays of equal length, for `pandas.DataFrame(…)` and `polars.DataFrame(…)`. `final` has a row for each finished
        run, `curves` one for each measurement of each run, unfinished ones too. The columns are `config`, the keys of the
        grid, `seed`, all numbers of a measurement, such as `step`, `loss` and `equity/random/equity` (NaN where there is none), and
        `run`, the folder. `seconds` are those of the whole run, in `curves` those until the measurement."""

    def compare(self, metric: str | None = None, baseline: str | Mapping[str, Any] | None = None) -> Comparison:
        """Compares the finished runs at their ends: a list of dicts, one for each config and combination of the grid, for
        `pandas.DataFrame(…)` and `polars.DataFrame(…)`.

        `metric` is a column of `frame()`, by default the figure by which the command ranks runs: exact equity, the error
        `rms/rms`, … `baseline` is the name of a config, by default the first, with which each row is compared that has the same settings; a
        dict such as `{"config": "single", "learn.rate": 0.01}` names one row for all.

        A row has `n`, `mean`, `sd` (n − 1), `low` and `high`, the 95 % interval of the mean by Student; and `difference` to the
        baseline with `difference_low`, `difference_high` and `p`, as `adept runs compare` has them: `test` is `paired` if
        both have the same seeds, which share dice and positions, else `welch`. `p_holm` is `p` after Holm for all rows,
        `bootstrap_low` and `bootstrap_high` are an interval of the difference by bootstrap. Numbers are None if there are too few runs, or
        if they do not vary."""

class Comparison(list[dict[str, Any]]):
    """The rows of `Study.compare`, which are shown as a table. `metric` is the column that was compared."""

    metric: str

def arena(
    config: _Config,
    *,
    out: _Path | None = None,
    settings: _Settings = None,
    resume: bool = False,
    on_progress: _Callback = None,
    threads: int = 0,
) -> dict[str, Any]:
    """Plays the matches of a tournament: a file, a dict, or the text of a TOML file.

    Returns `pairs`, each with its score and interval, and `standings`. `on_progress` gets dicts: `kind` is `played`
    (with a pair), `learns` (with an `agent`), or `opens` (with `random_plies`, if games would repeat each other). After Ctrl-C, `resume=True` goes on with the remaining pairs."""

def evaluate(
    path: _Path,
    suites: str | list[str] | None = None,
    *,
    against: str | list[str] | None = None,
    samples: int | None = None,
    distribution: str | None = None,
    best: bool = False,
) -> dict[str, Any]:
    """Measures a checkpoint, or the latest (or best) checkpoint of a run, as `adept evaluate` does.

    `suites` are `equity`, `grade`, `rms`, `move-loss`, `matches`, `exploitability` and `speed`; by default the main
    suite of the game. `against` are opponents; `samples` is the number of positions, or of games per opponent;
    `distribution` is that of the positions. Returns a dict with an entry for each suite, such as `move_loss`. Ctrl-C
    ends matches, and leaves other suites to end by themselves."""

def export(path: _Path, out: _Path, *, format: str = "onnx", best: bool = False) -> dict[str, Any]:
    """Exports a checkpoint to a file for other programs: `onnx`, `safetensors` in the layout of PyTorch, or source text in `c` or
    `rust`; or to a new folder, as a checkpoint that plays faster and does not learn: `quantised` in whole numbers, `bf16` with
    large layers in bfloat16."""

def search(
    path: _Path,
    position: str | State,
    *,
    plies: int | None = None,
    seconds: float | None = None,
    nodes: int | None = None,
    best: bool = False,
) -> dict[str, Any]:
    """What a checkpoint, or the latest (or best) checkpoint of a run, finds in a position when it looks ahead: as `Model.explain`, with
    `moves` best first, and `search` with its `plies`, `nodes`, `solved` and `line`. Give one limit: a depth in plies, a time, or a number
    of valued positions. A search cannot be interrupted: prefer a time."""

def rollout(
    positions: str | State | Iterable[str | State],
    by: _Path,
    *,
    game: str | None = None,
    trials: int = 1296,
    truncate: int | None = None,
    seed: int = 1,
    threads: int = 0,
    best: bool = False,
    on_progress: _Callback = None,
) -> list[dict[str, Any]]:
    """Plays positions out, `trials` times each, with luck taken out of the results: `adept rollout`. `by` plays both sides: a checkpoint, a
    search such as `search:1:PATH`, or a valuation, for which `game` is named. `truncate` cuts games off after so many moves. Returns a dict for
    each position: `equity` for the player to move, its interval `ci95`, `raw`, `classes` and more. `on_progress` gets dicts with
    `kind` `progress` and the finished `share`."""

def import_checkpoint(
    file: _Path, out: _Path, *, like: _Path | None = None, strip: str | None = None
) -> dict[str, Any]:
    """Creates a checkpoint from a safetensors file. `like` is a checkpoint or a config of the same network; a file from
    `export` needs none. `strip` is left out at the start of tensor names, such as `module.`."""

def progress_bar(**options: Any) -> Callable[[dict[str, Any]], None]:
    """A callback for `on_progress` of `train` and `study` that draws a bar with tqdm, as a widget in a notebook. A study has one
    bar over the steps of all runs, which also counts the runs. `options` go to tqdm."""

def register(game: _Registered, games: int = 20) -> _Registered:
    """Makes a game known to `train`, `open`, `arena` and the others. Plays `games` random games first, and raises an
    exception if the game does something that it must not. A game of the same name is replaced. A class is called without
    arguments for its game, so that `@adept.register` may stand before a class, and is returned."""

def check(game: Game, games: int = 20) -> dict[str, Any]:
    """Plays random games, and raises an exception at the first thing that a `Game` must not do: a value of a wrong type, a
    state that is changed in place. Then checks the laws of all games along as many others, and returns a dict: `games`,
    `states`, and `breaches`, a list with the first breach of each law, with `law`, `found`, `seed`, `ply` and `position`.
    The list is empty if no law is broken. An exception in a method is raised as it is."""

class Game:
    """A game of your own: subclass it, set `name` and `inputs`, write the methods, and call `adept.register`.

    States, actions and chance outcomes are immutable values with `==` and `hash`, such as tuples, strings and frozen
    dataclasses (which need their own `text` and `parse`). All methods are pure: `apply` returns a new state. Players are numbered from 0.
    """

    name: str
    about: str
    players: int
    inputs: int | dict[str, int]
    indices: dict[str, int]
    scale: float
    unit: str | None
    small: bool
    zero_sum: bool | None
    hides: bool
    needs_action: bool
    most_actions: int | None
    scripts: dict[str, Callable[[Any, list[Any]], Any]]

    def start(self) -> Any: ...
    def turn(self, state: Any) -> int | str | None: ...
    def actions(self, state: Any) -> Iterable[Any]: ...
    def apply(self, state: Any, action: Any) -> Any: ...
    def utility(self, state: Any, player: int) -> float: ...
    def encode(self, state: Any, player: int, action: Any) -> Sequence[float] | NDArray[Any]: ...
    def outcomes(self, state: Any) -> Iterable[tuple[Any, float]]: ...
    def info(self, state: Any, player: int) -> Any: ...
    def just_acted(self, state: Any) -> int | None: ...
    def text(self, state: Any) -> str: ...
    def parse(self, text: str) -> Any: ...
    def action_text(self, state: Any, action: Any) -> str: ...

_Registered = TypeVar("_Registered", Game, type[Game])

@dataclass(frozen=True, eq=False)
class Rows:
    """Encoded states, for the player who acted. `model.evaluate(rows.dense, rows.index)` values them."""

    dense: NDArray[np.float32]
    """Shape `(n, dense_width)`; zeros for a finished game."""
    index: NDArray[np.uint64]
    """Shape `(n, index_width)`."""
    exact: NDArray[np.float32]
    """Shape `(n,)`: the utility divided by the game's scale where the game is over, for the player who acted; NaN elsewhere."""

@dataclass(frozen=True, eq=False)
class BatchRows(Rows):
    """The rows of all legal actions of a batch. Those of game i are `first[i]` to `first[i + 1]`, in the order of `Batch.legal`."""

    first: NDArray[np.int64]
    """Shape `(games + 1,)`."""

class Step(NamedTuple):
    """What a step of a batch brought."""

    rewards: NDArray[np.float32]
    """Shape `(games, players)`: the utilities of games that ended, 0 elsewhere."""
    over: NDArray[np.bool_]
    """Games that ended and began anew."""
    truncated: NDArray[np.bool_]
    """Games that were cut off at `longest` and began anew."""

@final
class Rules:
    """The rules of a game, as `adept.game` finds them. Equal rules compare equal; they are pickled by name."""

    name: str
    players: int
    hides: bool
    """Whether players do not see everything."""
    action_space: int | None
    """How many actions have a number that means the same in every state (in rule files, as the player to move sees the board). None if
    there are too many: the number of an action is then its place among the legal ones."""
    most_actions: int | None
    """Upper bound on the legal actions of a state. None if it is not known, in games written in Python."""
    description: dict[str, Any]
    """`about`, `scale`, `zero_sum`, `small`, `unit`, `encoders`, `agents`, `outcomes` and more."""

    def start(self) -> State: ...
    def from_text(self, text: str) -> State:
        """The state with this text, as `str(state)` gives it, or in any form that the command reads: a gnubg Position ID, an XGID."""

    def encode(
        self,
        states: Iterable[State],
        encoder: str | None = None,
        actions: Iterable[Action | str] | None = None,
        *,
        player: int | None = None,
    ) -> Rows:
        """The rows of states for the player who just acted, as a network values them. With `actions`, one for each state, the rows of the
        states after them. `player` encodes them for this player instead. Without an encoder, by the game's first."""

    def batch(self, n: int, seed: int = 1, *, longest: int = 10_000, threads: int = 1) -> Batch:
        """Begins `n` games side by side, at most 1,048,576. A game that takes `longest` moves is cut off."""

    def agent(self, name: _Path) -> Agent:
        """Opens an agent: `random`, a script, `minimax`, `uct:1000`, `search:2:PATH`, or the path of a checkpoint or a run."""

    def equity(self, agents: Iterable[_Path | Agent]) -> list[float]:
        """The exact expected utility of each player, with one agent in each seat. For small games."""

    def best_responses(self, agent: _Path | Agent) -> list[float]:
        """The exact expected utility of the best response in each seat, where the agent has all other seats. For small games, with
        hidden information too: `info` must then have perfect recall."""

    def exploitability(self, agent: _Path | Agent) -> float:
        """The mean of both best responses in a zero-sum game of two players: 0 at an equilibrium."""

@final
class State:
    """A state of a game, chance and hidden parts included. It never changes: `apply` gives another. States hash, compare, copy and pickle."""

    rules: Rules
    player: int | None
    """The player to move, from 0; None before chance and at the end."""
    is_chance: bool
    is_over: bool
    short_text: str
    """The shortest text of the position: in backgammon the gnubg Position ID, which `from_text` reads too."""
    just_acted: int | None
    """The player whose action led here, if the state shows it."""

    def actions(self) -> Actions:
        """The legal actions of the player to move, always in the same order; none before chance and at the end."""

    def outcomes(self) -> list[tuple[Action, float]]:
        """The outcomes of chance with their probabilities. Raises `AdeptError` if there are too many to list."""

    def sample(self, seed: int | None = None) -> Action:
        """An outcome of chance. One seed serves a whole game: it draws anew at each chance event. Without a seed, one is drawn from
        `random`."""

    def action(self, number: int) -> Action:
        """The legal action with this number."""

    def apply(self, action: Action | str) -> State:
        """The state after an action or an outcome of this state. A text is read as people write it."""

    def returns(self) -> list[float]:
        """The utility of each player, in ± `scale`, at the end of the game."""

    def minimax(self) -> float:
        """The exact utility under optimal play, for the player to move (before chance and at the end: for player 0). For small zero-sum games
        of two players in which nothing is hidden; chance is allowed."""

    def info(self, player: int) -> Info: ...
    def shown_to(self, player: int) -> State:
        """The state without what this player cannot see, to look at: what is hidden is gone from it, so it cannot be played on."""

    def board(self, player: int | None = None) -> str:
        """A drawing in several lines; for a player, of what the player sees."""

    def rows(self, encoder: str | None = None) -> Rows:
        """The rows of all legal actions, in their order, for the player to move."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...

@final
class Action:
    """A player's action, or an outcome of chance. `str(action)` is how people write it."""

    text: str
    number: int | None
    """Its number in the action space; without one, its place among the legal actions. None for outcomes of chance."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...

@final
class Actions(Sequence[Action]):
    """The legal actions of a state. An action is made when it is taken from the sequence."""

    @overload
    def __getitem__(self, place: int) -> Action: ...
    @overload
    def __getitem__(self, place: slice) -> list[Action]: ...
    def __len__(self) -> int: ...
    def texts(self) -> list[str]: ...
    def numbers(self) -> NDArray[np.int64]:
        """The number of each action."""

    def __eq__(self, other: object) -> bool: ...

@final
class Info:
    """What a player knows: an information set. Two are equal if the player cannot tell the states apart."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...

@final
class Agent:
    """Chooses actions. Threads may share one; they wait for each other. Ctrl-C leaves a search to end by itself."""

    name: str
    rules: Rules

    def choose(self, state: State, seed: int | None = None) -> Action:
        """An action, drawn from the agent's policy by this seed; without one, by a seed from `random`."""

    def policy(self, state: State) -> NDArray[np.float64]:
        """The probability of each legal action, in their order."""

@final
class Batch:
    """Games side by side, stepped without the interpreter's lock. Chance acts by itself, and a game that is over begins anew. Each game draws
    from a stream of its own, so results depend on the seed alone."""

    player: NDArray[np.int8]
    """The player to move in each game: shape `(games,)`."""
    counts: NDArray[np.int32]
    """The number of legal actions in each game."""
    finished: int
    """Games that have ended or were cut off so far."""

    def __len__(self) -> int: ...
    def mask(self) -> NDArray[np.bool_]:
        """Which action numbers are legal: shape `(games, action_space)`, or without an action space `(games, most actions now)`."""

    def legal(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """`(first, numbers)`: the legal actions of game i are `numbers[first[i]:first[i + 1]]`."""

    def random(self, places: bool = False) -> NDArray[np.int64]:
        """A legal action for each game, drawn uniformly."""

    def step(self, actions: ArrayLike | None = None, places: bool = False) -> Step:
        """Makes an action in each game: shape `(games,)`, their numbers, or with `places` their places among the legal actions; without
        `actions`, those that `random` would draw. An action that is not legal raises `AdeptError`, and nothing changes."""

    def rows(self, encoder: str | None = None) -> BatchRows:
        """The rows of all legal actions of all games, for the players to move."""

    def state(self, game: int) -> State: ...

class SelfPlay:
    """Plays the games of a config with `[learn.td]`, and hands out TD(λ) targets, or the games themselves, for a learner elsewhere.

    A pickle or a copy has the config, the parameters and the place in the games: it goes on with the same games. Agents that learn
    or remember across games begin anew."""

    played: int
    """Number of games played."""

    def __init__(self, config: _Config, *, seed: int | None = None, settings: _Settings = None) -> None: ...
    @overload
    def play(self, games: int, *, trajectories: Literal[False] = False) -> Samples: ...
    @overload
    def play(self, games: int, *, trajectories: Literal[True]) -> Trajectories: ...
    @overload
    def play(self, games: int, *, trajectories: bool) -> Samples | Trajectories:
        """Plays games with the present parameters, at most a million. Returns the rows, `dense` `(n, dense_width)`
        and `index` `(n, index_width)`; `targets`, the λ-returns for the player who just moved, and `weights`, both of
        shape `(n,)`. With `head = "outcomes"` targets are distributions of shape `(n, classes)`. Schedules of the config
        go on over all games.

        With `trajectories=True`, returns the same games as `Trajectories`, with all that was done in them."""

    def adopt(self, weights: ArrayLike) -> None:
        """Plays with these parameters from now on."""

    def weights(self) -> NDArray[np.float32]:
        """A copy of the parameters as one array, in the order of the program."""

    def program(self) -> dict[str, Any]:
        """The program of the network, as dicts and lists."""

    def save(self, out: _Path, weights: ArrayLike) -> dict[str, Any]:
        """Writes a checkpoint of the network with these parameters."""

class Samples(TypedDict):
    """Rows with targets: what `adept.torch.Network.loss` takes."""

    dense: NDArray[np.float32]
    index: NDArray[np.uint64] | NDArray[np.int64]
    targets: NDArray[np.float32]
    weights: NDArray[np.float32]

class Trajectories:
    """Games that `SelfPlay.play` wrote down: what the learner saw, did and got, a row for each move that did not end its game.

    Rows stand in the order of play, game after game. An object has these arrays, of `n` rows and `g` games; numbers of rows, games and
    players count from 0:

    - `dense` `(n, dense_width)` and `index` `(n, index_width)`: the input of the network for the position after the move, as the
      player who made it sees it. `index` is `int64`; keys of tables have 64 bits, so that some are negative.
    - `game`, `ply`, `player`: the game of a row, the moves of players before it in the game, and who moved.
    - `value`: of the row, by the network of the time when it was played. `best`: the highest value among the moves that
      `player` had, which this one has too unless it explored.
    - `explored`: whether the move was drawn at random (which may draw the best one), or with a temperature was not the best.
    - `reward`: what `player` got after the row, until `next`: the rewards on the way, if `learn.td.rewards = "steps"`. In the last row of
      a player in a game it is with the result, utility / scale, times `learn.td.discount` if the player's own move ends the game. Without
      rewards on the way it is 0 but for the last row.
    - `next`: the row after the same player's next move, −1 if the game ends before that or with it. `reply`: the next row of the game,
      whoever moved.
    - `weights`: 1 for each row.
    - `utility` `(g, players)`: what a game was worth; `outcome` `(g, players)`: the number of its class in `classes`, −1 where the
      game has no classes, or ended because a table knew its value. `number` `(g,)`: of the game in its self-play.
    - `starts` `(g + 1,)`: rows `starts[i]` to `starts[i + 1] − 1` are those of game `i`.

    Its length is the number of games. `trajectories[3]`, `[2:5]`, `[[1, 4]]` and a mask select games. Only moves of the learner have
    rows, not those of other agents in `learn.td.against` or `field`. A pickle has all arrays and texts.
    """

    dense: NDArray[np.float32]
    index: NDArray[np.int64]
    game: NDArray[np.int64]
    ply: NDArray[np.int64]
    player: NDArray[np.int64]
    value: NDArray[np.float32]
    best: NDArray[np.float32]
    reward: NDArray[np.float32]
    explored: NDArray[np.bool_]
    next: NDArray[np.int64]
    reply: NDArray[np.int64]
    weights: NDArray[np.float32]
    starts: NDArray[np.int64]
    number: NDArray[np.int64]
    utility: NDArray[np.float64]
    outcome: NDArray[np.int64]
    classes: list[str]

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Trajectories]: ...
    def __getitem__(self, games: int | slice | Sequence[int] | NDArray[Any]) -> Trajectories:
        """The trajectories of one game, of a slice, or of several games by number or mask."""

    def games(self) -> Iterator[Trajectories]:
        """The games one by one, each as trajectories of its own that share the arrays."""

    def split(self, fraction: float = 0.8, seed: int = 0) -> tuple[Trajectories, Trajectories]:
        """Two parts without a game in common, such as training and validation: `fraction` of the games, drawn at random by `seed`,
        and the others. The games of each part stay in order."""

    def lambda_returns(
        self, lam: float | None = None, *, along: Literal["player", "both"] | None = None, values: Any = None
    ) -> NDArray[np.float32]:
        """λ-returns of all rows for the player who moved: `(n,)`, or with `head = "outcomes"` distributions `(n, classes)`.

        `lam` is λ, by default that of the config when each game was played. The return runs along the decisions of each player,
        `"player"`, or of both in turn, `"both"`, where the value of a reply counts with the opposite sign; by default as
        `learn.td.along` says. The discount, `learn.td.next` and `learn.td.clip` are those of the config. So
        `lambda_returns()` are the targets of `SelfPlay.play`. A move that explored and was not the best ends a return, and
        leaves the highest value of the time (Watkins), unless `learn.td.next = "chosen"`.

        `values` are outputs of a network for all rows, in place of those of the time: `(n,)`, or `(n, classes)`, from which
        impossible classes are taken."""

    def samples(
        self, lam: float | None = None, *, along: Literal["player", "both"] | None = None, values: Any = None
    ) -> Samples:
        """What `SelfPlay.play` returns without trajectories, in the order of play: `dense`, `index`, `targets` and `weights`, for
        `Network.loss(**samples)`. Arguments are those of `lambda_returns`."""

    def torch(self) -> dict[str, Any]:
        """The arrays with a number for each row, as tensors of PyTorch that share their memory. Indices are `int64`."""

    def state_text(self, row: int) -> str:
        """The position in which the move of a row was made."""

    def action_text(self, row: int) -> str:
        """The move of a row."""

    def after_text(self, row: int) -> str:
        """The position after the move of a row: `Model.encode` has its row, where the text tells all that the encoder reads."""

    @property
    def states(self) -> list[str]:
        """The positions in which moves were made, as a list of texts: made anew each time."""

    @property
    def actions(self) -> list[str]:
        """The moves, as a list of texts: made anew each time."""

    @property
    def afterstates(self) -> list[str]:
        """The positions after the moves, as a list of texts: made anew each time."""

class Run(PathLike[str]):
    """A run folder. Functions take it as a path."""

    path: Path
    finished: bool
    record: dict[str, Any]
    """What the run says of itself: config, steps, the final and the best measurement."""

    def __init__(self, path: _Path) -> None: ...
    def __fspath__(self) -> str: ...
    def metrics(self, flat: bool = False) -> list[dict[str, Any]]:
        """The measurements as a list of dicts, for `pandas.DataFrame(run.metrics())`. With `flat`, all numbers of a
        measurement stand side by side, under names such as `equity/random/equity`."""

    changed: list[dict[str, Any]]
    """Settings that a callback changed while the run learned: dicts with `step`, `key` and `value`, which is None for the
    schedule of the config."""

    def experts(self) -> dict[str, NDArray[Any]]:
        """How the experts share positions, at ten points of the run, as arrays: `step` `(n,)`; `shares` `(n, experts)`, the
        share of the positions that each expert wins; `live` `(n,)`, how many win at least 1 %; `multiply_adds` `(n,)`, the
        mean cost of a position. Raises `AdeptError` for a network without experts."""

    def usage(self) -> dict[str, NDArray[Any]]:
        """How often experts ran during each measurement, as arrays: `step` `(n,)`; `rows` `(n,)`, the rows that reached the
        outermost gate that picks among experts; `share` `(n, experts)`, the share of them on which each expert ran. Raises
        `AdeptError` for a network whose experts all run."""

    def open(self, best: bool = False) -> Model:
        """Opens the latest, or the best, checkpoint."""

class Model:
    """An opened checkpoint. Several threads may use it at once."""

    game: str
    encoder: str
    description: dict[str, Any]
    """Game, encoder, channels with the meaning of each input, parameters, seed."""

    def evaluate(self, dense: ArrayLike, index: ArrayLike | None = None) -> NDArray[np.float32]:
        """Values of rows for the player who just moved: shape `(n,)`, in the `range` of `description`.

        `dense` has shape `(n, dense_width)` and `index` has shape `(n, index_width)`, as `encode` returns them. Dense
        rows of `float32` are not copied if they are contiguous; other types are converted. Raises `AdeptError` for
        other shapes, and for numbers that are not finite or out of range: dense numbers are refused if they are
        infinite or not a number, and an index if it is not from 0 to `size − 1` of its channel in
        `description["channels"]`."""

    def outcomes(self, dense: ArrayLike, index: ArrayLike | None = None) -> NDArray[np.float32]:
        """Probabilities of the outcomes after rows, for the player who just moved: shape `(n, classes)`, in the order of
        `description["head"]["outcomes"]`. Rows are those of `evaluate`. A row does not tell which classes are impossible, so that
        these have a probability here too; in `explain` they have none. Raises `AdeptError` for a model that gives values
        alone."""

    def encode(self, positions: list[str]) -> tuple[NDArray[np.float32], NDArray[np.uint64]]:
        """The rows of positions for the player who just moved: `(dense, index)`."""

    def values(self, positions: list[str]) -> NDArray[np.float32]:
        """Values of positions for the player to move, shape `(n,)`, in the `range` of `description`: that of the best
        move. A position before a chance event has its value for the opponent of the player who has just acted. A
        finished game has its exact result, for that opponent too, or for the first player if `just_acted` does not
        tell. Raises `AdeptError` that names a text that is not a position."""

    def moves(self, position: str, dice: str | tuple[int, int] | None = None) -> list[dict[str, Any]]:
        """The legal moves of a position, best first: dicts with `action`, the position `after` it, and its `value`
        for the player who makes it."""

    def gates(self, positions: list[str] | ArrayLike, index: ArrayLike | None = None) -> dict[str, Any]:
        """Weights and outputs of the experts on positions, or on rows as `evaluate` takes them: a dict with `experts`, their
        names; `shares` `(n, experts)`, the weight of each expert in the blend; and `outputs` `(n, experts)`, what each gives,
        or `(n, experts, classes)` if the model gives outcomes. An expert that did not run has the share 0 and the output NaN.
        With nested gates an expert is a leaf such as `1.0`, the first below the second, and its share is the product of the
        gates on its path. Raises `AdeptError` for a model without experts."""

    def weights(self) -> NDArray[np.float32]:
        """A copy of the parameters as one array, in the order of the program."""

    def program(self) -> dict[str, Any]:
        """The program of the network, as dicts and lists. `adept.torch.Network` runs it."""

    def save(self, out: _Path, weights: ArrayLike) -> dict[str, Any]:
        """Writes a checkpoint of the same network with other parameters, to a new folder."""

    def explain(self, position: str) -> dict[str, Any]:
        """What gates and experts think of a position, or what a search found: `search` has its `plies`, `nodes`, `solved`
        and `line`. `to_move` counts players from 1. The value of a finished game is that for the first player. With the
        doubling cube, before a roll and without a search, `reading` has the `advice`, such as `double, take`, and the
        `figures` by name, such as `no double` and `double, take`, in points for each unit of the cube (in a match,
        EMG)."""

class Oracle:
    """Exact values of the bear-off: solves the table of at most `checkers` checkers a side, or opens a `file` of
    `adept oracle build`."""

    checkers: int

    def __init__(self, checkers: int = 6, file: _Path | None = None) -> None: ...

    def value(self, position: str) -> float:
        """P(win) − P(lose) of the side to roll, as in `1,1,0,0,0,0/0,2,0,0,0,0`, in a gnubg Position ID or in an XGID.
        With a roll behind it, or dice in the XGID, the value of the best move."""

    def moves(self, position: str, dice: str | tuple[int, int] | None = None) -> list[dict[str, Any]]:
        """The sides after each move, best first: dicts with `after`, and its `value` for the side that moves. `dice`
        may be left out if the position has them."""
