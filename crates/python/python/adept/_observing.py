"""What environments show of a state, shared by the adapters for Gymnasium and PettingZoo."""

import operator

import numpy as np

from ._stepping import game as find

MOST_ACTIONS = 4096
"""Places of actions in games that do not number them."""
MOST_NUMBERS = 1 << 22


class Observer:
    """Observations as arrays.

    `observe` is "afterstates": for every action whether it ends the game, its exact value if it does, and the row of the encoder, `(actions,
    2 + width)`, zeros for those that are not legal; "state":
    the row of the state itself for the player to move, `(width,)`, in games without chance in which nothing is hidden; or a function of
    a state and a player that returns an array of `float32`, always of the same shape.
    """

    def __init__(self, rules, encoder, observe):
        self.rules, self.encoder, self.observe = find(rules), encoder, observe
        self.actions = self.rules.action_space or MOST_ACTIONS
        start = self.decision(self.rules.start(), 0)
        self.first = start.player
        width = start.rows(encoder).dense.shape[1]
        if observe == "afterstates":
            shape = (self.actions, 2 + width)
            if self.actions * (2 + width) > MOST_NUMBERS:
                raise ValueError(
                    f"observe = 'afterstates': {self.actions} actions of {width} numbers are too many: give a function of state and player"
                )
        elif observe == "state":
            if self.rules.hides or self.rules.start().is_chance:
                raise ValueError("observe = 'state' is for games without chance in which nothing is hidden: take 'afterstates'")
            shape = (width,)
        elif callable(observe):
            shape = np.asarray(observe(start, self.first), np.float32).shape
        else:
            raise ValueError(f"observe = {observe!r}: 'afterstates', 'state' or a function of state and player is needed")
        self.shape = shape

    def decision(self, state, seed):
        """The state when chance has acted, drawn by this seed."""
        step = 0
        while state.is_chance:
            state = state.apply(state.sample((seed + 7919 * step) % 2**48))
            step += 1
        return state

    def observation(self, state, player):
        found = np.zeros(self.shape, np.float32)
        if callable(self.observe):
            found[...] = self.observe(state, player)
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
            raise ValueError(f"`{state}` has {len(numbers)} actions, more than {self.actions}")
        return numbers

    def mask(self, state, player):
        mask = np.zeros(self.actions, np.int8)
        if state.player == player:
            mask[self.numbers(state)] = 1
        return mask

    def action(self, state, number):
        """The legal action with this number."""
        places = np.flatnonzero(self.numbers(state) == operator.index(number))
        if len(places) != 1:
            raise ValueError(f"action {number} is not legal in `{state}`: see the action mask")
        return state.actions()[int(places[0])]
