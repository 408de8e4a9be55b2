"""Pickles: models, self-play and games in Python in other processes."""

import pickle
import sys

from . import _adept


def reduced_model(path, game, rules):
    return model, (path, game, packed(game), rules)


def model(path, name, game, rules=None):
    know(name, game)
    return _adept.open(path, game=rules)


def reduced_self_play(state, game):
    return self_play, (state, game, packed(game))


def self_play(state, name, game):
    know(name, game)
    return _adept.restored(state)


def packed(name):
    """A game that Python registered, as bytes; None for a built-in one."""
    game = _adept.registered_game(name)
    if game is None:
        return None
    kind = type(game)
    # A class of the main program, or of a function, cannot be imported elsewhere: cloudpickle, with which joblib works, takes it along.
    cloud = sys.modules.get("cloudpickle") or sys.modules.get("joblib.externals.cloudpickle")
    try:
        if cloud is not None and (kind.__module__ == "__main__" or "<locals>" in kind.__qualname__):
            return cloud.dumps(game)
        return pickle.dumps(game)
    except Exception as error:
        raise _adept.AdeptError(f"the game `{name}` cannot be pickled: {error}: {_HINT}") from error


_HINT = "define its class at the top of a module that other processes can import, with attributes that can be pickled"


def know(name, game):
    """Registers a game that a pickle brought along, unless this process has one of that name."""
    if game is None or _adept.registered_game(name) is not None:
        return
    try:
        found = pickle.loads(game)
    except Exception as error:
        raise _adept.AdeptError(f"the game `{name}` of this pickle is unknown here: {error}: {_HINT}, or call adept.register first") from error
    # Its module may have registered it. The process that made the pickle has checked it.
    if _adept.registered_game(name) is None:
        _adept.add_game(found)
