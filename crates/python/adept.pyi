"""Train, measure and play evaluation functions for games."""

from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str

class AdeptError(Exception):
    """A fault, with what is wrong and what to do: the same texts as in the command `adept`."""

def games() -> list[dict[str, str]]:
    """The built-in games: `name` and `about` of each."""

def encoders(game: str) -> list[dict[str, str]]:
    """The encoders of a game: `name` and `about` of each."""

def open(path: str | PathLike[str], best: bool = False) -> Model:
    """Opens a checkpoint folder, or the latest (or best) checkpoint of a run folder."""

def train(
    config: str | PathLike[str],
    *,
    out: str | PathLike[str] | None = None,
    seed: int | None = None,
    settings: list[str] = ...,
    resume: bool = False,
    on_progress: Callable[[dict[str, Any]], object] | None = None,
    threads: int = 0,
) -> Run:
    """Trains by a config file, and returns the run.

    `settings` change keys of the config, such as `["learn.td.games=10000"]`. `out` is the run folder; by default
    `checkpoints/runs/NAME-SEED`. `on_progress` gets dicts: `kind` is `progress` (with `step` and `rate` per second), `measured` (a line of
    `Run.metrics`) or `preparing`. Ctrl-C, or an exception in `on_progress`, stops the run after it has saved a checkpoint; `resume=True`
    goes on to the same bits. The interpreter lock is free meanwhile.
    """

class Run:
    """A run folder."""

    path: str
    finished: bool
    record: dict[str, Any]
    """What the run says of itself: config, steps, the final and the best measurement."""

    def __init__(self, path: str | PathLike[str]) -> None: ...
    def metrics(self) -> list[dict[str, Any]]:
        """The measurements, for `pandas.DataFrame(run.metrics())`."""

    def open(self, best: bool = False) -> Model:
        """Opens the latest, or the best, checkpoint."""

class Model:
    """An opened checkpoint. Several threads may use it at once."""

    game: str
    encoder: str
    description: dict[str, Any]
    """Game, encoder, channels with the meaning of each input, parameters, seed."""

    def evaluate(self, dense: NDArray[np.float32], index: NDArray[np.uint64] | None = None) -> NDArray[np.float32]:
        """Values of rows `(n, dense_width)` and `(n, index_width)` for the player who just moved, shape `(n,)`, in [−1, 1]."""

    def encode(self, positions: list[str]) -> tuple[NDArray[np.float32], NDArray[np.uint64]]:
        """The rows of positions for the player who just moved."""

    def values(self, positions: list[str]) -> NDArray[np.float32]:
        """Values of positions for the player to move, shape `(n,)`."""

    def moves(self, position: str, dice: str | None = None) -> list[dict[str, Any]]:
        """The legal moves, best first: `action`, the position `after` it, and its `value` for the player who makes it."""

    def explain(self, position: str) -> dict[str, Any]:
        """What gates and experts think of a position."""

class Oracle:
    """Exact values of the bear-off."""

    checkers: int

    def __init__(self, checkers: int = 6, file: str | PathLike[str] | None = None) -> None:
        """Solves the table of at most this many checkers a side, or opens a file of `adept oracle build`."""

    def value(self, position: str) -> float:
        """P(win) − P(lose) of the side to roll, as in `1,1,0,0,0,0/0,2,0,0,0,0`."""

    def moves(self, position: str, dice: str) -> list[dict[str, Any]]:
        """The sides after each move, best first: `after` and its `value` for the side that moves."""
