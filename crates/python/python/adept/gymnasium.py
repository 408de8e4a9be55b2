"""A game against an agent as an environment of Gymnasium: `import adept.gymnasium`."""

import operator

import gymnasium
import numpy as np
from gymnasium import spaces

from ._observing import BEGINNINGS, RENDER_MODES, Observer, check_render_mode


class Env(gymnasium.Env):
    """A seat of a game, all others of which an agent has.

    `rules` is the name of a game, or rules. `against` is an agent, such as "random", "uct:100" or a checkpoint. `seat` is the own seat from
    0; None changes it from game to game. `observe` is "afterstates" (a row of the encoder for every action), "state" or a function: see the
    book. The reward is the utility at the end of the game. `info["action_mask"]` and `action_masks()` tell the legal actions. An action that is
    not legal ends the game with the lowest reward, −scale, a warning, and `info["illegal"]`; `illegal="raise"` raises an exception instead.
    With `render_mode="ansi"`, `render()` returns the board as text; "human" prints it after each step.
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": 1}

    def __init__(self, rules, against="random", *, seat=None, encoder=None, observe="afterstates", illegal="lose", render_mode=None):
        self._observer = Observer(rules, encoder, observe)
        self.rules = self._observer.rules
        players = self.rules.players
        if seat is not None and operator.index(seat) not in range(players):
            raise ValueError(f"seat = {seat}: seats are 0 to {players - 1}")
        if illegal not in ("lose", "raise"):
            raise ValueError(f"illegal = {illegal!r}: 'lose' or 'raise' is needed")
        self.against = self.rules.agent(against)
        self.render_mode, self._fixed, self.seat = check_render_mode(render_mode), seat, seat or 0
        self._raises, self._is_lost = illegal == "raise", False
        self.observation_space = spaces.Box(-np.inf, np.inf, self._observer.shape, np.float32)
        self.action_space = spaces.Discrete(self._observer.actions)
        self.state = None

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._is_lost = False
        self.seat = int(self.np_random.integers(self.rules.players)) if self._fixed is None else self._fixed
        for _ in range(BEGINNINGS):
            self.state = self._to_own_move(self.rules.start())
            # A game may be over before the own first move.
            if not self.state.is_over:
                self._show()
                return self._observation(), self._info()
        raise RuntimeError(f"{self.rules.name}: seat {self.seat} was not to move in {BEGINNINGS} games")

    def step(self, action):
        if self.state is None or self.state.is_over or self._is_lost:
            raise gymnasium.error.ResetNeeded("reset() comes before the first step and after the end of a game")
        chosen = self._observer.action(self.state, action)
        if chosen is None:
            return self._lose(action)
        self.state = self._to_own_move(self.state.apply(chosen))
        self._show()
        over = self.state.is_over
        reward = self.state.returns()[self.seat] if over else 0.0
        return self._observation(), float(reward), over, False, self._info()

    def action_masks(self):
        """Which actions are legal, as `MaskablePPO` asks."""
        if self.state is None:
            raise gymnasium.error.ResetNeeded("reset() comes first")
        return self._observer.mask(self.state, self.seat).astype(bool)

    def render(self):
        return self.state.board(self.seat) if self.render_mode == "ansi" and self.state is not None else None

    def _show(self):
        if self.render_mode == "human":
            print(self.state.board(self.seat))

    def _lose(self, action):
        fault = f"action {action} is not legal in `{self.state}`: see the action mask"
        if self._raises:
            raise ValueError(fault)
        gymnasium.logger.warn(fault)
        self._is_lost = True
        return self._observation(), -float(self.rules.description["scale"]), True, False, {**self._info(), "illegal": True}

    def _to_own_move(self, state):
        while not state.is_over and state.player != self.seat:
            seed = int(self.np_random.integers(2**48))
            if state.is_chance:
                state = state.apply(state.sample(seed))
            else:
                state = state.apply(self.against.choose(state, seed))
        return state

    def _observation(self):
        return self._observer.observation(self.state, self.seat)

    def _info(self):
        return {"action_mask": self._observer.mask(self.state, self.seat), "seat": self.seat}


gymnasium.register("adept/Game-v0", f"{__name__}:Env", kwargs={"rules": "tictactoe"})
