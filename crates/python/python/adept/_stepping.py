"""Games to step: `adept.game`, and what its methods return."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from . import _adept
from ._game import Game, register
from ._processes import know, packed

Sequence.register(_adept.Actions)

__all__ = ["BatchRows", "Rows", "Step", "game"]


@dataclass(frozen=True, eq=False)
class Rows:
    """Encoded states, for the player who acted. `model.evaluate(rows.dense, rows.index)` values them."""

    dense: object
    index: object
    exact: object


@dataclass(frozen=True, eq=False)
class BatchRows(Rows):
    """The rows of all legal actions of a batch. Those of game i are `first[i]` to `first[i + 1]`, in the order of `Batch.legal`."""

    first: object


class Step(NamedTuple):
    """What a step of a batch brought."""

    rewards: object
    over: object
    truncated: object


def game(rules):
    """The rules of a game: by name, such as `"backgammon"` or `"file:PATH"`, or of a `Game`, which is registered first."""
    if isinstance(rules, _adept.Rules):
        return rules
    if isinstance(rules, Game):
        if _adept.registered_game(rules.name) is not rules:
            register(rules)
        rules = rules.name
    if not isinstance(rules, str):
        raise TypeError(f"game: a name, such as 'tictactoe', or an adept.Game is needed, found {type(rules).__name__}")
    return _adept.find_game(rules)


# For pickles.


def _rules(name, packed, source):
    know(name, packed)
    rules = _adept.find_game(name)
    if rules._source() != source:
        raise _adept.AdeptError(f"{name}: the rules have changed since this pickle was made")
    return rules


def _reduced(rules):
    return _rules, (rules.name, packed(rules.name), rules._source())


def _state(rules, text, moves):
    state = rules.start() if text is None else rules.from_text(text)
    for place in moves:
        state = state.apply(_adept.action_at(state, place))
    return state


def _action(state, place):
    return _adept.action_at(state, place)


def _agent(rules, name):
    return rules.agent(name)
