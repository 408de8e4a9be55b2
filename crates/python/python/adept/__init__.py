"""Train, measure and play evaluation functions for games."""

from ._adept import (
    AdeptError,
    Model,
    Oracle,
    Run,
    SelfPlay,
    __version__,
    arena,
    encoders,
    evaluate,
    export,
    games,
    import_checkpoint,
    open,
    starter,
    train,
)
from ._game import CHANCE, Game, check, register
from ._progress import progress_bar

__all__ = [
    "CHANCE",
    "AdeptError",
    "Game",
    "Model",
    "Oracle",
    "Run",
    "SelfPlay",
    "__version__",
    "arena",
    "check",
    "encoders",
    "evaluate",
    "export",
    "games",
    "import_checkpoint",
    "open",
    "progress_bar",
    "register",
    "starter",
    "train",
]
