"""Objects in other processes and threads: pickles, copies, fork, spawn, joblib."""

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import adept

sys.path.insert(0, str(Path(__file__).parent))
ROOT = Path(__file__).resolve().parents[3]
BEAROFF = ROOT / "checkpoints/bearoff/residual-10"
POSITION = "1,1,0,0,0,0/0,2,0,0,0,0"
# A process that hangs must not hang the tests.
PATIENCE = 300


def config(rules="tictactoe", **td):
    return {
        "name": "processes",
        "game": {"rules": rules},
        "architecture": {"mlp": {"hidden": [4]}},
        "learn": {"rate": 0.01, "td": {"games": 400, "lambda": {"from": 0.9, "to": 0.1}, "explore": {"from": 0.5, "to": 0.1}, **td}},
        "evaluate": {"every": 200, "suites": ["matches"], "against": ["random"], "games": 100},
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return adept.train(config(), out=tmp_path_factory.mktemp("runs") / "run")


def test_models_and_runs_come_back(run, tmp_path, monkeypatch):
    monkeypatch.chdir(run.path.parent)
    for model in (run.open(), adept.open("run"), adept.open(f"search:2:{run.path}"), adept.open("search:2:run")):
        assert copy.copy(model) is model and copy.deepcopy([model])[0] is model
        data = pickle.dumps(model)
        # Paths do not depend on the folder of the process.
        with monkeypatch.context() as there:
            there.chdir(tmp_path)
            twin = pickle.loads(data)
        assert twin.description == model.description
        assert twin.moves(".........") == model.moves(".........")
    relative = adept.Run("run")
    data = pickle.dumps(relative)
    monkeypatch.chdir(tmp_path)
    twin = pickle.loads(data)
    assert twin.record == run.record and twin.metrics() == run.metrics()
    assert copy.deepcopy(run) is run and copy.copy(run) is run


def test_a_model_whose_checkpoint_is_gone_says_so(tmp_path):
    games = adept.SelfPlay(config())
    games.save(tmp_path / "mine", games.weights())
    data = pickle.dumps(adept.open(tmp_path / "mine"))
    (tmp_path / "mine").rename(tmp_path / "other")
    with pytest.raises(adept.AdeptError, match="mine"):
        pickle.loads(data)


def test_oracles_come_back():
    oracle = adept.Oracle(3)
    twin = pickle.loads(pickle.dumps(oracle))
    assert twin.checkers == 3 and twin.value(POSITION) == oracle.value(POSITION)
    assert copy.deepcopy(oracle) is oracle


def test_faults_come_back():
    try:
        adept.open("nowhere")
    except adept.AdeptError as error:
        twin = pickle.loads(pickle.dumps(error))
        assert isinstance(twin, adept.AdeptError) and str(twin) == str(error)


SELF_PLAY = {
    "self": config(),
    "an agent": config(against="ttt"),
    "a field": config(field=["self", "ttt", "random"]),
    "dice": config("declared:pig"),
    "search": config(search="2"),
}


@pytest.mark.parametrize("about", SELF_PLAY.values(), ids=SELF_PLAY.keys())
@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda games: pickle.loads(pickle.dumps(games))], ids=["copy", "deepcopy", "pickle"])
def test_self_play_goes_on_with_the_same_games(about, way):
    games = adept.SelfPlay(about, seed=5)
    games.play(30)
    games.adopt(games.weights() * np.float32(1.5))
    twin = way(games)
    assert twin.played == 30 and np.array_equal(twin.weights(), games.weights())
    for count in (20, 300):
        one, other = games.play(count), twin.play(count)
        assert all(np.array_equal(one[name], other[name]) for name in one)
    # A copy has parameters and games of its own.
    before = games.weights()
    twin.adopt(np.zeros_like(before))
    twin.play(5)
    assert np.array_equal(games.weights(), before) and games.played == 350


def test_paths_of_a_config_lead_to_the_same_agents(run, tmp_path, monkeypatch):
    monkeypatch.chdir(run.path.parent)
    games = adept.SelfPlay(config(against="./run"))
    data = pickle.dumps(games)
    monkeypatch.chdir(tmp_path)
    twin = pickle.loads(data)
    # Of another folder once more.
    twin = pickle.loads(pickle.dumps(twin))
    assert np.array_equal(twin.play(20)["targets"], games.play(20)["targets"])


def test_a_table_plays_on():
    about = config()
    about["game"]["rules"] = "declared:tic-tac-toe"
    about["game"]["encoder"] = "bits"
    about["architecture"] = {"lookup": {"by": "position"}}
    games = adept.SelfPlay(about)
    games.play(10)
    one, other = copy.deepcopy(games).play(10), games.play(10)
    assert np.array_equal(one["targets"], other["targets"])


def of_model(model):
    dense, index = model.encode([POSITION])
    return model.evaluate(dense, index)[0].item()


def of_games(games):
    played = games.play(40, trajectories=True)
    return played.lambda_returns().sum().item(), played


def of_copied_games(games):
    return of_games(copy.copy(games))[0]


def measured(where):
    """Training with measurements, and matches: work for pools of threads."""
    where, number = where
    folder = Path(where) / f"{number}-{os.getpid()}"
    run = adept.train(config(), out=folder / "run", threads=2)
    report = adept.evaluate(folder / "run", "matches", samples=100, against=["random"])
    agents = [{"name": "ours", "agent": str(folder / "run")}, {"name": "random"}]
    table = adept.arena({"name": "m", "game": "tictactoe", "games": 100, "agents": agents}, out=folder / "arena", threads=2)
    return run.record["step"], report["matches"]["score"], table["pairs"][0]["score"], adept.Oracle(4).value(POSITION)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_work(method, tmp_path):
    model, games = adept.open(BEAROFF), adept.SelfPlay(config())
    # What the process before has used, above all the pools of threads.
    expected = measured((tmp_path, 0))
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        assert list(pool.map(of_model, [model] * 4, timeout=PATIENCE)) == [of_model(model)] * 4
        (sum_of_one, one), (sum_of_other, other) = pool.map(of_games, [games] * 2, timeout=PATIENCE)
        assert sum_of_one == sum_of_other and one.states == other.states
        assert of_games(games)[0] == sum_of_one
        for found in pool.map(measured, [(tmp_path, 1), (tmp_path, 2)], timeout=PATIENCE):
            assert found == expected


def grandchild(where):
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.map_async(measured, [(where, "grandchild")]).get(PATIENCE)[0]


def test_a_fork_of_a_fork_works(tmp_path):
    expected = measured((tmp_path, 0))
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        assert pool.submit(measured, (tmp_path, "child")).result(PATIENCE) == expected
        assert pool.submit(grandchild, tmp_path).result(PATIENCE) == expected


def test_joblib_works(tmp_path):
    joblib = pytest.importorskip("joblib")
    model, games = adept.open(BEAROFF), adept.SelfPlay(config())
    for backend in ("loky", "threading", "multiprocessing"):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            found = joblib.Parallel(timeout=PATIENCE)(joblib.delayed(of_model)(model) for _ in range(4))
            assert found == [of_model(model)] * 4
            found = joblib.Parallel(timeout=PATIENCE)(joblib.delayed(of_copied_games)(games) for _ in range(2))
            assert found[0] == found[1]


def test_threads_share_objects():
    model, games = adept.open(BEAROFF), adept.SelfPlay(config())
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(of_model, [model] * 40)) == [of_model(model)] * 40
        played = list(pool.map(lambda _: games.play(10, trajectories=True), range(40)))
    # Each game is played once.
    numbers = np.concatenate([one.number for one in played])
    assert sorted(numbers) == list(range(400)) and games.played == 400


def test_a_fork_while_others_play_goes_on():
    """Another thread plays at the time of the fork. The child has objects of its own."""
    games, stop = adept.SelfPlay(config()), threading.Event()

    def play():
        while not stop.is_set():
            games.play(20)

    thread = threading.Thread(target=play)
    thread.start()
    try:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
            found = pool.submit(of_games, adept.SelfPlay(config())).result(PATIENCE)[0]
    finally:
        stop.set()
        thread.join()
    assert found == of_games(adept.SelfPlay(config()))[0]


def own_game():
    from tictactoe import TicTacToe

    adept.register(TicTacToe())
    about = config("tictactoe-in-python")
    about["game"]["encoder"] = "inputs"
    return adept.SelfPlay(about)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_games_in_python_come_along(method, tmp_path):
    games = own_game()
    games.save(tmp_path / "own", games.weights())
    model = adept.open(tmp_path / "own")
    twin = pickle.loads(pickle.dumps(games))
    start = _start()
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        found = pool.submit(_of_own_game, model, games, start).result(PATIENCE)
    assert found == _of_own_game(model, twin, start)


def _start():
    from tictactoe import TicTacToe

    game = TicTacToe()
    return game.text(game.start())


def _of_own_game(model, games, start):
    return model.moves(start)[0]["value"], games.play(10)["targets"].tolist()


def test_a_game_that_cannot_be_imported_says_so(tmp_path):
    games = own_game()
    script = tmp_path / "other.py"
    script.write_text("import pickle, sys\npickle.load(sys.stdin.buffer)\n")
    environment = {**os.environ, "PYTHONPATH": str(Path(adept.__file__).parents[1])}
    # In the folder of the tests there is the module of the game.
    call = [sys.executable, str(script)]
    done = subprocess.run(call, input=pickle.dumps(games), capture_output=True, env=environment, cwd=tmp_path, timeout=PATIENCE)
    said = done.stderr.decode()
    assert done.returncode and "the game `tictactoe-in-python` of this pickle is unknown here" in said and "adept.register" in said


def test_a_game_of_a_function_says_that_it_has_no_pickle(monkeypatch):
    from tictactoe import TicTacToe

    class Local(TicTacToe):
        name = "local-in-python"

    adept.register(Local())
    about = config("local-in-python")
    about["game"]["encoder"] = "inputs"
    games = adept.SelfPlay(about)
    for name in ("cloudpickle", "joblib.externals.cloudpickle"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(adept.AdeptError, match="`local-in-python` cannot be pickled.*module"):
        pickle.dumps(games)


def test_a_config_of_the_wrong_kind_is_named():
    for call in (adept.train, adept.SelfPlay, adept.arena):
        with pytest.raises(TypeError, match="a file, a dict or the text of a TOML file is needed, found 5"):
            call(5)
