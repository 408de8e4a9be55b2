"""Games as games of OpenSpiel, so that its algorithms run on them: `import adept.openspiel`."""

import functools
import random
from typing import NamedTuple
from urllib.parse import quote, unquote

import numpy as np
import pyspiel

from ._adept import AdeptError
from ._observing import Observer, places, survey
from ._stepping import game as find

NAME = "adept"
LONGEST = 10_000
"""Decisions, and chance events, that OpenSpiel is told of a game whose states are too many to walk through."""
OUTCOMES = 4096
"""Outcomes of a chance event at most."""
LOOKS = 20
"""Random games that show what chance a game has, if its states are too many to walk through."""
LOOK = 200
"""Actions and outcomes of such a game."""


def load_game(rules, encoder=None, *, observe=None, rng_seed=None):
    """A game of OpenSpiel with these rules: the name of a game, or rules.

    `pyspiel.load_game("adept(rules=kuhn)")` finds it by its name, too. Tensors are the observations of `adept.gymnasium`, by this encoder:
    `observe` is "state" or "afterstates", by default the first if it fits. Chance events of too many outcomes to list are sampled, from `rng_seed`.
    """
    return Game(find(rules), encoder, observe, rng_seed)


class Game(pyspiel.Game):
    """The rules of a game. Actions have adept's numbers; outcomes of chance are numbered in adept's order."""

    def __init__(self, rules, encoder=None, observe=None, rng_seed=None):
        self.rules, self._settings = rules, (encoder, observe, rng_seed)
        actions, self.facts = places(rules), _facts(rules, encoder, observe)
        self._random = random.Random(rng_seed)
        scale, players = self.facts.scale, rules.players
        params = {"rules": quote(rules.name, safe=":/.-_"), "encoder": quote(encoder or "", safe=":.-_"), "observe": observe, "rng_seed": rng_seed}
        game_type = _type(
            long_name=rules.name,
            chance_mode=self.facts.chance,
            hides=rules.hides,
            zero_sum=self.facts.zero_sum,
            players=[players, players],
            tensors=[self.facts.observer is not None, self.facts.tells_infos],
        )
        info = pyspiel.GameInfo(
            num_distinct_actions=actions,
            max_chance_outcomes=self.facts.outcomes,
            num_players=players,
            min_utility=-scale,
            max_utility=scale,
            utility_sum=0.0 if self.facts.zero_sum else None,
            max_game_length=self.facts.decisions,
        )
        super().__init__(game_type, info, {name: value for name, value in params.items() if value not in ("", None)})

    def new_initial_state(self):
        return State(self, self.rules.start())

    def max_chance_nodes_in_history(self):
        return self.facts.events

    def make_py_observer(self, iig_obs_type=None, params=None):
        return _Observer(self, iig_obs_type, params)

    def drawn_seed(self):
        """A seed for a chance event whose outcomes cannot be listed."""
        return self._random.getrandbits(48)

    def __reduce__(self):
        return _game, (self.rules, self._settings, self._random.getstate())


class State(pyspiel.State):
    """A state. `state.adept` is adept's own."""

    def __init__(self, game, state):
        super().__init__(game)
        self.adept = state
        # Seeds of sampled chance events: so far, and to come when a history is played again.
        self.drawn, self.given = (), ()

    def current_player(self):
        state = self.adept
        if state.is_over:
            return pyspiel.PlayerId.TERMINAL
        return pyspiel.PlayerId.CHANCE if state.is_chance else state.player

    def _legal_actions(self, player):
        return sorted(self.adept.actions().numbers().tolist()) if player == self.adept.player else []

    def chance_outcomes(self):
        if self._is_sampled():
            return [(0, 1.0)]
        return [(number, p) for number, (_, p) in enumerate(self.adept.outcomes())]

    def _is_sampled(self):
        facts = self.get_game().facts
        return facts.chance == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC and not _is_listed(self.adept)

    def _apply_action(self, action):
        self.adept = self.adept.apply(self._action(action))

    def _action_to_string(self, player, action):
        return "sampled" if self.adept.is_chance and self._is_sampled() else str(self._action(action))

    def _action(self, number):
        state = self.adept
        if not state.is_chance:
            return state.action(int(number))
        if not self._is_sampled():
            return state.outcomes()[number][0]
        seed, self.given = (self.given[0], self.given[1:]) if self.given else (self.get_game().drawn_seed(), ())
        self.drawn = (*self.drawn, seed)
        return state.sample(seed)

    def is_terminal(self):
        return self.adept.is_over

    def returns(self):
        return self.adept.returns() if self.adept.is_over else [0.0] * self.num_players()

    def information_state_string(self, player=None):
        return str(self.adept.info(self.current_player() if player is None else player))

    def observation_string(self, player=None):
        return str(self.adept.shown_to(self.current_player() if player is None else player))

    def __str__(self):
        return str(self.adept)

    def __reduce__(self):
        return _state, (self.get_game(), self.history(), self.drawn)


def _game(rules, settings, draws):
    made = Game(rules, *settings)
    made._random.setstate(draws)
    return made


def _state(game, history, drawn):
    state = game.new_initial_state()
    state.given = drawn
    for action in history:
        state.apply_action(action)
    return state


class _Observer:
    """What a player knows, as text, and as a tensor: zeros for who is not to move, unless the state is shown."""

    def __init__(self, game, kind, params):
        if isinstance(kind, dict):
            kind, params = None, kind
        if params:
            raise ValueError(f"params = {params}: an observer has none")
        if kind and not (kind.public_info and kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER):
            raise ValueError("an observer shows all that one player knows: public_info, and private_info = SINGLE_PLAYER")
        self._recalls = kind is not None and kind.perfect_recall
        facts = game.facts
        self._observer = facts.observer if facts.tells_infos or not self._recalls else None
        self.tensor, self.dict = None, {}
        if self._observer is not None:
            shape = self._observer.shape
            self.tensor = np.zeros(int(np.prod(shape)), np.float32)
            self.dict["observation"] = self.tensor.reshape(shape)

    def set_from(self, state, player):
        if self._observer is not None:
            self.dict["observation"][...] = self._observer.observation(state.adept, player)

    def string_from(self, state, player):
        return state.information_state_string(player) if self._recalls else state.observation_string(player)


class _Facts(NamedTuple):
    """What OpenSpiel wants to know before a game begins."""

    observer: Observer | None
    # Whether observations tell apart whatever a player can tell apart.
    tells_infos: bool
    chance: pyspiel.GameType.ChanceMode
    outcomes: int
    decisions: int
    events: int
    scale: float
    zero_sum: bool


@functools.lru_cache(maxsize=64)
def _facts(rules, encoder, observe):
    mode, observer, shown = pyspiel.GameType.ChanceMode, _observer(rules, encoder, observe), {}
    tells = observer is not None and rules.hides

    def look(state):
        nonlocal tells
        if tells:
            player = state.player
            key, info = (player, observer.observation(state, player).tobytes()), state.info(player)
            tells = shown.setdefault(key, info) == info

    about = rules.description
    of_game = float(about["scale"]), about["zero_sum"]
    found = survey(rules, look)
    if found is not None and found.outcomes <= OUTCOMES:
        chance = mode.EXPLICIT_STOCHASTIC if found.outcomes else mode.DETERMINISTIC
        return _Facts(observer, tells, chance, found.outcomes, found.decisions, found.events, *of_game)
    chance = _chance(rules)
    met = chance != mode.DETERMINISTIC
    return _Facts(observer, False, chance, OUTCOMES if met else 0, LONGEST, LONGEST if met else 0, *of_game)


def _observer(rules, encoder, observe):
    """By default that of the state, or that of afterstates. None if neither fits."""
    if encoder is not None or observe is not None:
        if observe not in (None, "state", "afterstates"):
            raise ValueError(f"observe = {observe!r}: 'state' or 'afterstates' is needed")
    for kind in [observe] if observe else ["state", "afterstates"]:
        try:
            return Observer(rules, encoder, kind)
        except (ValueError, AdeptError):
            if kind == observe or encoder is not None and kind == "afterstates":
                raise
    return None


def _is_listed(state):
    try:
        return len(state.outcomes()) <= OUTCOMES
    except AdeptError:
        return False


def _chance(rules):
    """Which chance random games meet."""
    mode, draw = pyspiel.GameType.ChanceMode, random.Random(1)
    met = mode.DETERMINISTIC
    for _ in range(LOOKS):
        state = rules.start()
        for _ in range(LOOK):
            if state.is_over:
                break
            if state.is_chance:
                if not _is_listed(state):
                    return mode.SAMPLED_STOCHASTIC
                met = mode.EXPLICIT_STOCHASTIC
                state = state.apply(state.sample(draw.getrandbits(48)))
            else:
                state = state.apply(draw.choice(state.actions()))
    return met


def _type(long_name, chance_mode, hides, zero_sum, players, tensors):
    kind = pyspiel.GameType
    return kind(
        short_name=NAME,
        long_name=long_name,
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=chance_mode,
        information=kind.Information.IMPERFECT_INFORMATION if hides else kind.Information.PERFECT_INFORMATION,
        utility=kind.Utility.ZERO_SUM if zero_sum else kind.Utility.GENERAL_SUM,
        reward_model=kind.RewardModel.TERMINAL,
        max_num_players=players[1],
        min_num_players=players[0],
        provides_information_state_string=True,
        provides_information_state_tensor=tensors[1],
        provides_observation_string=True,
        provides_observation_tensor=tensors[0],
        parameter_specification={"rules": "tictactoe", "encoder": "", "observe": "", "rng_seed": -1},
    )


class _Loaded(Game):
    """The game of these parameters, for `pyspiel.load_game`. A class, because OpenSpiel's registry outlives the interpreter: the last
    reference to a function would be dropped then, which aborts."""

    def __init__(self, params):
        seed, encoder, observe = int(params["rng_seed"]), unquote(str(params["encoder"])), str(params["observe"])
        super().__init__(find(unquote(str(params["rules"]))), encoder or None, observe or None, None if seed < 0 else seed)


# All games under one name, whose parameter says which: then OpenSpiel loads them by it, also from what it has serialised.
pyspiel.register_game(
    _type("a game of adept", pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC, True, False, [1, 64], [True, True]), _Loaded
)
