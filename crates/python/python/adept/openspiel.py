"""Games as games of OpenSpiel, so that its algorithms run on them: `import adept.openspiel`."""

import pyspiel

from ._adept import AdeptError
from ._stepping import game as find

LONGEST = 10_000
"""Moves that OpenSpiel is told a game may have."""
MOST_ACTIONS = 4096
"""Places of actions in games that do not number them."""
OUTCOMES = 4096


def load_game(rules):
    """A game of OpenSpiel with these rules: the name of a game, or rules."""
    return Game(find(rules))


class Game(pyspiel.Game):
    """The rules of a game. Actions have adept's numbers; outcomes of chance are numbered in adept's order."""

    def __init__(self, rules, params=None):
        self.rules = rules
        about = rules.description
        start = rules.start()
        sampled = start.is_chance and not _is_listed(start)
        if sampled:
            raise ValueError(f"{rules.name}: there are too many outcomes of chance to list, which OpenSpiel needs")
        players, scale = rules.players, float(about["scale"])
        kind = pyspiel.GameType
        information = kind.Information.IMPERFECT_INFORMATION if rules.hides else kind.Information.PERFECT_INFORMATION
        # Whether a game has chance later is not known; games without any pass as games with.
        game_type = kind(
            short_name="adept_" + "".join(c if c.isalnum() else "_" for c in rules.name),
            long_name=rules.name,
            dynamics=kind.Dynamics.SEQUENTIAL,
            chance_mode=kind.ChanceMode.EXPLICIT_STOCHASTIC if _has_chance(start) else kind.ChanceMode.DETERMINISTIC,
            information=information,
            utility=kind.Utility.ZERO_SUM if about["zero_sum"] else kind.Utility.GENERAL_SUM,
            reward_model=kind.RewardModel.TERMINAL,
            max_num_players=players,
            min_num_players=players,
            provides_information_state_string=True,
            provides_information_state_tensor=False,
            provides_observation_string=True,
            provides_observation_tensor=False,
        )
        info = pyspiel.GameInfo(
            num_distinct_actions=rules.action_space or MOST_ACTIONS,
            max_chance_outcomes=OUTCOMES if _has_chance(start) else 0,
            num_players=players,
            min_utility=-scale,
            max_utility=scale,
            utility_sum=0.0 if about["zero_sum"] else None,
            max_game_length=LONGEST,
        )
        super().__init__(game_type, info, params or {})

    def new_initial_state(self):
        return State(self, self.rules.start())

    def make_py_observer(self, iig_obs_type=None, params=None):
        return _Observer(params)


def _is_listed(state):
    try:
        return len(state.outcomes()) <= OUTCOMES
    except AdeptError:
        return False


def _has_chance(start):
    """Whether random play from the start meets chance: a short look, since OpenSpiel wants to know beforehand."""
    for seed in range(20):
        state, step = start, seed
        for _ in range(200):
            if state.is_over:
                break
            if state.is_chance:
                return True
            actions = state.actions()
            step = (step * 6364136223846793005 + 1442695040888963407) % 2**64
            state = state.apply(actions[(step >> 33) % len(actions)])
    return False


class State(pyspiel.State):
    """A state. `state.adept` is adept's own."""

    def __init__(self, game, state):
        super().__init__(game)
        self.adept = state

    def current_player(self):
        state = self.adept
        if state.is_over:
            return pyspiel.PlayerId.TERMINAL
        return pyspiel.PlayerId.CHANCE if state.is_chance else state.player

    def _legal_actions(self, player):
        return sorted(self.adept.actions().numbers().tolist()) if player == self.adept.player else []

    def chance_outcomes(self):
        return [(number, p) for number, (_, p) in enumerate(self.adept.outcomes())]

    def _apply_action(self, action):
        self.adept = self.adept.apply(self._action(action))

    def _action_to_string(self, player, action):
        return str(self._action(action))

    def _action(self, number):
        state = self.adept
        if state.is_chance:
            return state.outcomes()[number][0]
        return state.action(int(number))

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

    def __deepcopy__(self, memo):
        return State(self.get_game(), self.adept)


class _Observer:
    """What a player knows, as text."""

    def __init__(self, params):
        if params:
            raise ValueError(f"params = {params}: an observer has none")
        self.tensor, self.dict = None, {}

    def set_from(self, state, player):
        """There is no tensor."""

    def string_from(self, state, player):
        return state.information_state_string(player)

