"""The adapters, by the tests and algorithms of the libraries themselves. Each is left out if its library is not there."""

import numpy as np
import pytest

import adept


def test_gymnasium_takes_the_environment():
    pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env

    import adept.gymnasium

    env = adept.gymnasium.Env("tictactoe", against="ttt", seat=0, observe="state", encoder="stones")
    # The checker samples actions without the mask, so it gets a game in which every action is legal first.
    check_env(env, skip_render_check=True)
    assert env.observation_space.shape == (18,)
    wins, rng = 0, np.random.default_rng(1)
    for seed in range(20):
        observation, info = env.reset(seed=seed)
        over = False
        while not over:
            assert env.observation_space.contains(observation)
            assert (env.action_masks() == info["action_mask"]).all()
            action = rng.choice(np.flatnonzero(info["action_mask"]))
            observation, reward, over, truncated, info = env.step(int(action))
        wins += reward == -1
    # TTT mostly beats random moves.
    assert wins > 8
    with pytest.raises(Exception, match="reset"):
        env.step(0)


def test_an_environment_repeats_by_its_seed():
    pytest.importorskip("gymnasium")
    import adept.gymnasium

    def rewards():
        env, found = adept.gymnasium.Env("leduc", against="random"), []
        for seed in range(10):
            _, info = env.reset(seed=seed)
            over = False
            while not over:
                _, reward, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
            found.append((info["seat"], reward))
        return found

    first = rewards()
    assert first == rewards() and len({seat for seat, _ in first}) == 2


def test_observations_are_what_was_asked_for():
    pytest.importorskip("gymnasium")
    import adept.gymnasium

    env = adept.gymnasium.Env("connect-four", seat=0, encoder="cells")
    observation, info = env.reset(seed=1)
    assert observation.shape == (7, 2 + adept.game("connect-four").start().rows("cells").dense.shape[1])
    rows = env.state.rows("cells")
    assert (observation[env.state.actions().numbers(), 2:] == rows.dense).all() and not observation[:, :2].any()
    with pytest.raises(ValueError, match="is not legal"):
        env.step(7)
    own = adept.gymnasium.Env("hypergammon", seat=0, observe=lambda state, player: [len(state.actions()), player])
    observation, info = own.reset(seed=2)
    assert observation[0] == info["action_mask"].sum() >= 1
    with pytest.raises(ValueError, match="without chance"):
        adept.gymnasium.Env("hypergammon", observe="state")
    with pytest.raises(ValueError, match="seats are 0 to 1"):
        adept.gymnasium.Env("tictactoe", seat=2)


def test_a_move_that_wins_is_seen():
    pytest.importorskip("gymnasium")
    from adept._observing import Observer

    observer = Observer("tictactoe", "stones", "afterstates")
    seen = observer.observation(adept.game("tictactoe").from_text("XX.OO...."), 0)
    assert seen[2, :2].tolist() == [1, 1] and not seen[2, 2:].any() and not seen[[5, 6, 7, 8], :2].any() and seen[5, 2:].any()


@pytest.mark.parametrize("name", ["tictactoe", "connect-four", "leduc", "declared:pig"])
def test_pettingzoo_takes_the_environment(name):
    pytest.importorskip("pettingzoo")
    from pettingzoo.test import api_test, seed_test

    import adept.pettingzoo

    api_test(adept.pettingzoo.env(name), num_cycles=60)
    seed_test(lambda: adept.pettingzoo.env(name), num_cycles=20)


def test_rewards_of_pettingzoo_are_the_utilities():
    pytest.importorskip("pettingzoo")
    import adept.pettingzoo

    env = adept.pettingzoo.env("tictactoe")
    env.reset(seed=1)
    rewards = {}
    moves = iter([0, 3, 1, 4, 2])
    for agent in env.agent_iter():
        observation, reward, over, cut, info = env.last()
        if over:
            rewards[agent] = reward
        env.step(None if over or cut else next(moves))
    assert rewards == {"player_0": 1.0, "player_1": -1.0}


def test_algorithms_of_openspiel_run():
    pyspiel = pytest.importorskip("pyspiel")
    from open_spiel.python.algorithms import cfr, exploitability, mcts

    import adept.openspiel

    game = adept.openspiel.load_game("kuhn")
    solver = cfr.CFRSolver(game)
    for _ in range(100):
        solver.evaluate_and_update_policy()
    assert exploitability.exploitability(game, solver.average_policy()) < 0.02
    # Both libraries know the value of random play.
    theirs = pyspiel.load_game("kuhn_poker")
    from open_spiel.python import policy

    one = exploitability.exploitability(game, policy.UniformRandomPolicy(game))
    two = exploitability.exploitability(theirs, policy.UniformRandomPolicy(theirs))
    assert one == pytest.approx(two) == pytest.approx(adept.game("kuhn").exploitability("random"))
    board = adept.openspiel.load_game("tictactoe")
    state = board.new_initial_state()
    for action in (0, 3, 1, 4):
        state.apply_action(action)
    bot = mcts.MCTSBot(board, 2, 100, mcts.RandomRolloutEvaluator(1, np.random.RandomState(1)), random_state=np.random.RandomState(2))
    assert bot.step(state) == 2
    assert str(state) == "XX.OO...." and state.clone().legal_actions() == [2, 5, 6, 7, 8]


@pytest.mark.parametrize("name", ["tictactoe", "connect-four", "leduc", "declared:pig", "declared:small-backgammon"])
def test_openspiel_plays_random_games(name):
    pyspiel = pytest.importorskip("pyspiel")
    import adept.openspiel

    pyspiel.random_sim_test(adept.openspiel.load_game(name), num_sims=3, serialize=False, verbose=False)


def test_openspiel_needs_listed_chance():
    pytest.importorskip("pyspiel")
    import adept.openspiel

    with pytest.raises(ValueError, match="too many outcomes"):
        adept.openspiel.load_game("holdem:limit:2")
