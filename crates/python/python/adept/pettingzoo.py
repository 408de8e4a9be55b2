"""A game as an AEC environment of PettingZoo: `import adept.pettingzoo`."""

import gymnasium
import numpy as np
import pettingzoo
from gymnasium import spaces
from pettingzoo.utils import wrappers

from ._observing import RENDER_MODES, Observer, check_render_mode


def env(rules, **settings):
    """`raw_env` in PettingZoo's usual wrappers: an illegal move ends the game, and calls in a wrong order are faults."""
    made = raw_env(rules, **settings)
    made = wrappers.TerminateIllegalWrapper(made, illegal_reward=-made.scale)
    made = wrappers.AssertOutOfBoundsWrapper(made)
    return wrappers.OrderEnforcingWrapper(made)


class raw_env(pettingzoo.AECEnv):
    """A game of all its players, who are called `player_0`, `player_1`, …

    `rules` is the name of a game, or rules. Observations are dicts with `observation` and `action_mask`; `observe` is "afterstates" (a row of
    the encoder for every action), "state" or a function: see the book. Rewards are the utilities at the end of the game. With
    `render_mode="ansi"`, `render()` returns the board as text; "human" prints it after each step.
    """

    def __init__(self, rules, *, encoder=None, observe="afterstates", render_mode=None):
        super().__init__()
        self._observer = Observer(rules, encoder, observe)
        self.rules = self._observer.rules
        self.metadata = {"render_modes": RENDER_MODES, "name": self.rules.name, "is_parallelizable": False, "render_fps": 1}
        self.render_mode = check_render_mode(render_mode)
        self.scale = self.rules.description["scale"]
        self.possible_agents = [f"player_{seat}" for seat in range(self.rules.players)]
        shape, actions = self._observer.shape, self._observer.actions
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(-np.inf, np.inf, shape, np.float32),
                    "action_mask": spaces.Box(0, 1, (actions,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(actions) for agent in self.possible_agents}
        self._random = None

    def observation_space(self, agent):
        return self.observation_spaces[agent]

    def action_space(self, agent):
        return self.action_spaces[agent]

    def reset(self, seed=None, options=None):
        if seed is not None or self._random is None:
            self._random, _ = gymnasium.utils.seeding.np_random(seed)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.state_now = self._observer.first_decision(self._seed)
        self.agent_selection = self._name(self.state_now.player)
        self._show()

    def observe(self, agent):
        seat = self.possible_agents.index(agent)
        state = self.state_now
        return {
            "observation": self._observer.observation(state, seat),
            "action_mask": self._observer.mask(state, seat),
        }

    def step(self, action):
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[self.agent_selection] = 0.0
        self._clear_rewards()
        chosen = self._observer.action(self.state_now, action)
        if chosen is None:
            raise ValueError(f"action {action} is not legal in `{self.state_now}`: see the action mask")
        self.state_now = self._observer.after_chance(self.state_now.apply(chosen), self._seed)
        if self.state_now.is_over:
            for agent, utility in zip(self.possible_agents, self.state_now.returns()):
                self.rewards[agent] = float(utility)
                self.terminations[agent] = True
            self.agent_selection = self.agents[(self.agents.index(self.agent_selection) + 1) % len(self.agents)]
        else:
            self.agent_selection = self._name(self.state_now.player)
        self._accumulate_rewards()
        self._show()

    def render(self):
        return self.state_now.board() if self.render_mode == "ansi" else None

    def _show(self):
        if self.render_mode == "human":
            print(self.state_now.board())

    def close(self):
        pass

    def _name(self, seat):
        return self.possible_agents[seat]

    def _seed(self):
        return int(self._random.integers(2**48))
