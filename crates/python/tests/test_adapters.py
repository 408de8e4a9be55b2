"""The adapters, by the tests and algorithms of the libraries themselves. Each is left out if its library is not there."""

import pickle
import string
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tictactoe import TicTacToe

import adept

ROOT = Path(__file__).parents[3]


class Words(adept.Game):
    """Two players write a word of five letters, of 40. It has more states than are walked through."""

    name, inputs, zero_sum = "words", 1, False

    def start(self):
        return ""

    def turn(self, state):
        return len(state) % 2 if len(state) < 5 else None

    def actions(self, state):
        return string.ascii_letters[:40]

    def apply(self, state, action):
        return state + action

    def utility(self, state, player):
        return float(state[player] == "a")

    def encode(self, state, player, action):
        return [float(len(state))]


# A game of each family.
GAMES = [
    "tictactoe",
    "connect-four",
    "bearoff:4",
    "backgammon",
    "hypergammon",
    "liars-dice:soar:2x2",
    "leduc",
    "kuhn",
    "holdem:limit:2",
    "declared:hexapawn-3x3",
    "declared:tic-tac-toe.kif",
    "tictactoe-in-python",
]
SAMPLED = ["bearoff:4", "holdem:limit:2"]


@pytest.fixture(autouse=True, scope="module")
def in_python():
    adept.register(TicTacToe())


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", GAMES)
def test_gymnasium_takes_the_environment(name):
    pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env

    import gymnasium

    import adept.gymnasium

    # The checker samples actions without the mask, and makes the environment once more for each render mode.
    check_env(gymnasium.make("adept/Game-v0", rules=name, render_mode="ansi").unwrapped)


def test_an_environment_is_played():
    pytest.importorskip("gymnasium")
    import adept.gymnasium

    env = adept.gymnasium.Env("tictactoe", against="ttt", seat=0, observe="state", encoder="stones")
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
    grows = adept.gymnasium.Env("tictactoe", seat=0, observe=lambda state, player: [1.0] * len(state.actions()))
    grows.reset(seed=1)
    with pytest.raises(ValueError, match=r"the first observation has the shape \(9,\), that of `.*` \(7,\)"):
        grows.step(0)


def test_an_action_that_is_not_legal_loses_or_raises():
    pytest.importorskip("gymnasium")
    import adept.gymnasium

    env = adept.gymnasium.Env("backgammon", against="random", seat=1)
    _, info = env.reset(seed=1)
    with pytest.warns(UserWarning, match="action 3059 is not legal in .*: see the action mask"):
        observation, reward, over, cut, after = env.step(3059)
    assert (reward, over, cut, after["illegal"]) == (-3.0, True, False, True) and env.observation_space.contains(observation)
    with pytest.raises(Exception, match="reset"):
        env.step(0)
    strict = adept.gymnasium.Env("tictactoe", against="random", seat=1, illegal="raise")
    _, info = strict.reset(seed=1)
    with pytest.raises(ValueError, match="is not legal in"):
        strict.step(int(np.flatnonzero(info["action_mask"] == 0)[0]))
    # It goes on after that.
    assert not strict.step(int(np.flatnonzero(info["action_mask"])[0]))[2]
    with pytest.raises(ValueError, match="illegal = 'win'"):
        adept.gymnasium.Env("tictactoe", illegal="win")


@pytest.mark.parametrize("seat", [0, 1])
def test_who_bears_off_last_is_rewarded_in_each_seat(seat):
    pytest.importorskip("gymnasium")
    pytest.importorskip("pettingzoo")
    import adept.gymnasium
    import adept.pettingzoo

    env, aec, wins = adept.gymnasium.Env("hypergammon", seat=seat), adept.pettingzoo.raw_env("hypergammon"), 0
    for seed in range(6):
        _, info = env.reset(seed=seed)
        over = False
        while not over:
            observation, reward, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
        own = env.state.just_acted == seat
        wins += own
        assert (reward >= 1 if own else reward <= -1) and env.state.returns()[seat] == reward
        aec.reset(seed=seed)
        for agent in aec.agent_iter():
            observation, reward, over, _, info = aec.last()
            if over:
                won = agent == f"player_{aec.state_now.just_acted}"
                assert reward >= 1 if won else reward <= -1
            elif (ends := observation["observation"][:, 0] == 1).any():
                # An action that ends the game wins it.
                assert (observation["observation"][ends, 1] >= 1 / 3).all()
            aec.step(None if over else int(np.flatnonzero(observation["action_mask"])[0]))
    assert 0 < wins < 6


def test_who_cannot_be_observed_is_refused(monkeypatch):
    pytest.importorskip("gymnasium")
    pytest.importorskip("pettingzoo")
    pytest.importorskip("pyspiel")
    import adept.gymnasium
    import adept.openspiel
    import adept.pettingzoo

    # Its 5,478 states are counted.
    assert adept.gymnasium.Env("tictactoe-in-python").action_space.n == 9
    monkeypatch.setattr("adept._observing.MOST_STATES", 2000)
    makers = (adept.gymnasium.Env, adept.pettingzoo.env, adept.openspiel.load_game)
    for make in makers:
        with pytest.raises(ValueError, match="words: how many legal actions .* is not known: set `most_actions` in its class"):
            make(Words())
    stated = type("Stated", (Words,), {"name": "stated", "most_actions": 50})()
    assert adept.gymnasium.Env(stated).action_space.n == 50 == adept.openspiel.load_game(stated).num_distinct_actions()
    for make in makers:
        with pytest.raises(ValueError, match="encoder = 'phase': has indices and no numbers"):
            make("bearoff:4", encoder="phase")
    with pytest.raises(ValueError, match="are too many: give a function"):
        adept.gymnasium.Env("liars-dice:soar:10x12")
    with pytest.raises(ValueError, match="render_mode = 'rgb_array'"):
        adept.gymnasium.Env("tictactoe", render_mode="rgb_array")


def test_a_person_sees_the_board_after_each_step(capsys):
    pytest.importorskip("gymnasium")
    pytest.importorskip("pettingzoo")
    import adept.gymnasium
    import adept.pettingzoo

    env = adept.gymnasium.Env("tictactoe", seat=0, render_mode="human")
    env.reset(seed=1)
    env.step(4)
    assert env.render() is None and "X" in capsys.readouterr().out
    aec = adept.pettingzoo.env("tictactoe", render_mode="human")
    aec.reset(seed=1)
    aec.step(4)
    assert "X" in capsys.readouterr().out


def test_a_move_that_wins_is_seen():
    pytest.importorskip("gymnasium")
    from adept._observing import Observer

    observer = Observer("tictactoe", "stones", "afterstates")
    seen = observer.observation(adept.game("tictactoe").from_text("XX.OO...."), 0)
    assert seen[2, :2].tolist() == [1, 1] and not seen[2, 2:].any() and not seen[[5, 6, 7, 8], :2].any() and seen[5, 2:].any()


@pytest.mark.parametrize("name", GAMES)
def test_pettingzoo_takes_the_environment(name):
    pytest.importorskip("pettingzoo")
    from pettingzoo.test import api_test, render_test, seed_test

    import adept.pettingzoo

    api_test(adept.pettingzoo.env(name), num_cycles=40)
    seed_test(lambda: adept.pettingzoo.env(name), num_cycles=10)
    render_test(lambda render_mode: adept.pettingzoo.env(name, render_mode=render_mode))


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


@pytest.mark.parametrize("name", GAMES)
def test_openspiel_takes_the_game(name):
    pyspiel = pytest.importorskip("pyspiel")
    from open_spiel.python.tests.games_sim_test import GamesSimTest

    import adept.openspiel

    game = adept.openspiel.load_game(name)
    mode = pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
    assert (game.get_type().chance_mode == mode) == (name in SAMPLED)
    # OpenSpiel cannot serialise games in Python whose chance is sampled; they are pickled.
    listed = name not in SAMPLED
    pyspiel.random_sim_test(game, num_sims=1, serialize=listed, verbose=False)
    np.random.seed(1)
    GamesSimTest().sim_game(game, check_pyspiel_serialization=listed)
    assert str(pyspiel.load_game(str(game))) == str(game)
    state = game.new_initial_state()
    assert game.observation_tensor_size() == len(state.observation_tensor(0)) == np.prod(game.observation_tensor_shape())


def test_openspiel_is_told_the_size_of_a_game():
    pyspiel = pytest.importorskip("pyspiel")
    import adept.openspiel

    theirs = {"kuhn": "kuhn_poker", "leduc": "leduc_poker", "tictactoe": "tic_tac_toe", "connect-four": "connect_four"}
    for name, known in theirs.items():
        ours, known = adept.openspiel.load_game(name), pyspiel.load_game(known)
        assert (ours.min_utility(), ours.max_utility()) == ((known.min_utility(), known.max_utility()) if name != "leduc" else (-13, 13))
        assert ours.get_type().chance_mode == known.get_type().chance_mode
        if name != "connect-four":  # it has too many states to walk through
            assert ours.max_game_length() == known.max_game_length()
    numbers = {"kuhn": 3, "connect-four": 7, "hypergammon": 15, "backgammon": 3060, "tictactoe-in-python": 9}
    assert {name: adept.openspiel.load_game(name).num_distinct_actions() for name in numbers} == numbers


def test_tensors_of_openspiel_tell_information_sets_apart():
    pyspiel = pytest.importorskip("pyspiel")
    import adept.openspiel

    game = adept.openspiel.load_game("kuhn")
    assert game.get_type().provides_information_state_tensor
    shown, states = {}, [game.new_initial_state()]
    while states:
        state = states.pop()
        if state.is_player_node():
            tensor = tuple(state.information_state_tensor())
            assert shown.setdefault(state.information_state_string(), tensor) == tensor
            # What is seen now is not all that is known.
            assert state.observation_string() != state.information_state_string()
        states += [state.child(action) for action in state.legal_actions()]
    assert len(shown) == 12 == len(set(shown.values()))
    assert not adept.openspiel.load_game("tictactoe").get_type().provides_information_state_tensor
    with pytest.raises(ValueError, match="an observer shows all that one player knows"):
        game.make_py_observer(pyspiel.IIGObservationType(public_info=False, perfect_recall=True))


def test_openspiel_samples_chance_that_cannot_be_listed():
    pyspiel = pytest.importorskip("pyspiel")
    from open_spiel.python.test_utils import random_playout

    import adept.openspiel

    game = pyspiel.load_game("adept(rules=holdem:limit:2,rng_seed=0)")
    for seed in range(2):
        # As in OpenSpiel's `SampledStochasticGamesTest`.
        random_playout(game.new_initial_state(), seed)
        copy = pickle.loads(pickle.dumps(game))
        one, two = (random_playout(which.new_initial_state(), seed) for which in (game, copy))
        assert str(one) == str(two) and one.returns() == two.returns()
        again = pickle.loads(pickle.dumps(one))
        assert str(again) == str(one) and again.history() == one.history() and again.adept == one.adept
    assert str(random_playout(adept.openspiel.load_game("bearoff:4", rng_seed=3).new_initial_state(), 1)) == str(
        random_playout(adept.openspiel.load_game("bearoff:4", rng_seed=3).new_initial_state(), 1)
    )


def test_openspiel_finds_a_rule_file_whatever_its_name(tmp_path):
    pyspiel = pytest.importorskip("pyspiel")
    import adept.openspiel

    path = tmp_path / "my game (1), a=b.game"
    path.write_text((ROOT / "crates/declared/games/hexapawn-3x3.game").read_text())
    game = adept.openspiel.load_game(f"file:{path}")
    state = game.new_initial_state()
    state.apply_action(state.legal_actions()[0])
    again, position = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))
    assert str(again) == str(game) and position.adept == state.adept and position.history() == state.history()


def test_python_ends_as_usual_after_openspiel():
    pytest.importorskip("pyspiel")
    code = "import adept.openspiel, pyspiel; pyspiel.load_game('adept(rules=kuhn)').new_initial_state()"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0
