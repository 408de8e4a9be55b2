"""What environments show of a state, shared by the adapters."""

import functools
import operator
from typing import NamedTuple

import numpy as np

from . import _adept
from ._stepping import game as find

MOST_NUMBERS = 1 << 22
"""Numbers in an observation."""
MOST_STATES = 20_000
"""States that a survey walks through."""
BEGINNINGS = 10_000
"""Games that end before somebody is to move, one after the other."""


RENDER_MODES = ["ansi", "human"]


class Survey(NamedTuple):
    """The largest numbers of a game: legal actions of a state, outcomes of a chance event, decisions and chance events in a game."""

    actions: int
    outcomes: int
    decisions: int
    events: int


def survey(rules, look=lambda state: None):
    """Walks through all states, and calls `look` with each decision. None if there are more than `MOST_STATES`, counted at each place in a
    game at which they come up, or chance events whose outcomes cannot be listed."""
    actions = outcomes = decisions = events = walked = 0
    # The states after so many actions and outcomes, with the most decisions and the most chance events on the way.
    level = {rules.start(): (0, 0)}
    while level:
        walked += len(level)
        following = {}
        for state, (acted, drawn) in level.items():
            decisions, events = max(decisions, acted), max(events, drawn)
            if state.is_over:
                continue
            if state.is_chance:
                try:
                    listed = [outcome for outcome, _ in state.outcomes()]
                except _adept.AdeptError:
                    return None
                outcomes, drawn = max(outcomes, len(listed)), drawn + 1
            else:
                look(state)
                listed = state.actions()
                actions, acted = max(actions, len(listed)), acted + 1
            for action in listed:
                after = state.apply(action)
                before = following.get(after, (0, 0))
                following[after] = max(before[0], acted), max(before[1], drawn)
            if walked + len(following) > MOST_STATES:
                return None
        level = following
    return Survey(actions, outcomes, decisions, events)


@functools.lru_cache(maxsize=64)
def _counted(rules):
    found = survey(rules)
    return found and found.actions


def places(rules):
    """How many places for actions an observation needs: actions with the same number in every state, or else the most of a state."""
    known = rules.action_space or rules.most_actions or _counted(rules)
    if not known:
        raise ValueError(f"{rules.name}: how many legal actions a state may have is not known: set `most_actions` in its class")
    return known


def check_render_mode(mode):
    if mode not in (None, *RENDER_MODES):
        raise ValueError(f"render_mode = {mode!r}: 'ansi' or 'human' is needed")
    return mode


class Observer:
    """Observations as arrays.

    `observe` is "afterstates": for every action whether it ends the game, its exact value if it does, and the dense row of the encoder,
    `(actions, 2 + width)`, zeros for those that are not legal; "state":
    the row of the state itself for the player to move, `(width,)`, in games without chance in which nothing is hidden; or a function of
    a state and a player that returns an array of `float32`, always of the same shape.
    """

    def __init__(self, rules, encoder, observe):
        self.rules, self.encoder, self.observe = find(rules), encoder, observe
        self.actions = places(self.rules)
        start = self.first_decision(iter(range(BEGINNINGS)).__next__)
        if callable(observe):
            self.shape = np.asarray(observe(start, start.player), np.float32).shape
        elif observe in ("afterstates", "state"):
            # Of one action, since a state may have very many.
            width = self.rules.encode([start], encoder, actions=start.actions()[:1]).dense.shape[1]
            if width == 0:
                raise ValueError(f"encoder = {encoder!r}: has indices and no numbers, which an observation needs: take another encoder")
            self.shape = (self.actions, 2 + width) if observe == "afterstates" else (width,)
        else:
            raise ValueError(f"observe = {observe!r}: 'afterstates', 'state' or a function of state and player is needed")
        if observe == "state" and (self.rules.hides or self.rules.start().is_chance):
            raise ValueError("observe = 'state' is for games without chance in which nothing is hidden: take 'afterstates'")
        if observe == "afterstates" and self.actions * self.shape[1] > MOST_NUMBERS:
            raise ValueError(
                f"observe = 'afterstates': {self.actions} actions of {width} numbers are too many: give a function of state and player"
            )
        # What cannot be observed is refused before a game begins.
        self.observation(start, start.player)

    def first_decision(self, seed):
        """A state in which a player is to move first. `seed()` draws seeds of chance events."""
        for _ in range(BEGINNINGS):
            state = self.after_chance(self.rules.start(), seed)
            # Chance alone may end a game.
            if not state.is_over:
                return state
        raise RuntimeError(f"{self.rules.name}: {BEGINNINGS} games were over before anyone was to move")

    def after_chance(self, state, seed):
        """The state when chance has acted."""
        while state.is_chance:
            state = state.apply(state.sample(seed()))
        return state

    def observation(self, state, player):
        found = np.zeros(self.shape, np.float32)
        if callable(self.observe):
            shown = np.asarray(self.observe(state, player), np.float32)
            if shown.shape != self.shape:
                raise ValueError(f"observe: the first observation has the shape {self.shape}, that of `{state}` {shown.shape}")
            found[...] = shown
        elif self.observe == "state":
            # Its own view; zeros at the end, where there is nothing to decide.
            found[...] = self.rules.encode([state], self.encoder, player=player).dense[0]
        elif state.player == player:
            rows, numbers = state.rows(self.encoder), self.numbers(state)
            ends = ~np.isnan(rows.exact)
            found[numbers, 0], found[numbers, 1] = ends, np.where(ends, rows.exact, 0)
            found[numbers, 2:] = rows.dense
        return found

    def numbers(self, state):
        numbers = state.actions().numbers()
        if len(numbers) and numbers.max() >= self.actions:
            raise ValueError(f"`{state}` has {len(numbers)} actions, but `most_actions` is {self.actions}")
        return numbers

    def mask(self, state, player):
        mask = np.zeros(self.actions, np.int8)
        if state.player == player:
            mask[self.numbers(state)] = 1
        return mask

    def action(self, state, number):
        """The legal action with this number. None if the number is that of an action which is not legal now."""
        number = operator.index(number)
        if number not in range(self.actions):
            raise ValueError(f"action {number} is not legal: actions are 0 to {self.actions - 1}")
        places = np.flatnonzero(self.numbers(state) == number)
        return state.actions()[int(places[0])] if len(places) else None
