"""The Python module against the oracle and itself. Run by `scripts/python.sh`."""

import ast
import functools
import inspect
import pickle
import shutil
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import adept

ROOT = Path(__file__).resolve().parents[3]
BEAROFF = ROOT / "checkpoints/bearoff/residual-10"
CONFIG = ROOT / "configs/tictactoe/single-40.toml"
SHORT = ["learn.td.games=2000", "evaluate.every=500"]


def test_dice_are_a_text_or_two_numbers():
    oracle, position = adept.Oracle(3), "1,1,0,0,0,0/0,2,0,0,0,0"
    assert oracle.moves(position, (2, 1)) == oracle.moves(position, "21")
    with pytest.raises(adept.AdeptError, match="a die shows 1 to 6"):
        oracle.moves(position, (7, 1))
    with pytest.raises(TypeError, match="two numbers such as"):
        oracle.moves(position, 3)


def test_games_and_encoders_go_by_name():
    assert "tictactoe" in [game["name"] for game in adept.games()]
    assert "canonical" in [encoder["name"] for encoder in adept.encoders("tictactoe")]
    with pytest.raises(adept.AdeptError, match="tictactoe"):
        adept.encoders("tictactow")


def test_rows_positions_and_moves_agree(monkeypatch):
    monkeypatch.chdir(ROOT)
    model = adept.open(BEAROFF)
    assert model.game == "bearoff" and model.description["parameters"] > 0
    positions = ["1,1,0,0,0,0/0,2,0,0,0,0", "0,0,0,0,0,3/1,0,0,0,0,0"]
    dense, index = model.encode(positions)
    assert dense.dtype == np.float32 and dense.shape == (2, model.description["dense_width"])
    values = model.evaluate(dense, index)
    assert values.shape == (2,) and np.all(np.abs(values) <= 1)
    # Rows need not lie together in memory.
    wide = np.repeat(dense, 2, axis=0)[::2]
    assert not wide.flags.c_contiguous and np.array_equal(model.evaluate(wide, index), values)
    assert np.array_equal(model.evaluate(dense.astype(np.float64), index.astype(np.int32)), values)
    assert np.array_equal(model.evaluate(np.asfortranarray(dense), index), values)
    assert np.array_equal(model.evaluate(pd.DataFrame(dense), pd.DataFrame(index)), values)
    backwards = np.ascontiguousarray(dense[::-1])[::-1]
    assert np.array_equal(model.evaluate(backwards, index), values)
    # A row is for the player who just moved, a position for the one to move.
    assert np.allclose(model.values(positions), -values, atol=1e-6)
    moves = model.moves("1,1,0,0,0,0/0,2,0,0,0,0", dice="61")
    assert moves == sorted(moves, key=lambda move: -move["value"])


def test_a_published_network_has_its_priors_with_it(monkeypatch, tmp_path):
    packed = tmp_path / "a+b" / "net"
    shutil.copytree(ROOT / "crates/embed/tests/data/corrected", packed)
    monkeypatch.chdir(tmp_path)
    model = adept.open("a+b/net")
    assert "+prior:parts/second@" in model.encoder
    positions = ["1,1,0,0,0,0/0,0,0,1,0,0", "0,0,0,0,0,3/0,0,0,0,1,1"]
    assert np.allclose(model.values(positions), [0.8417233, -0.07112104], atol=1e-6)
    adept.export("a+b/net", "net.safetensors", format="safetensors")
    adept.import_checkpoint("net.safetensors", "again", like="a+b/net")
    shutil.rmtree(packed)
    assert np.allclose(adept.open("again").values(positions), [0.8417233, -0.07112104], atol=1e-6)


def test_a_model_looks_ahead(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    position = "1,1,0,0,0,1/0,0,0,0,0,2"
    plain, ahead = adept.open(BEAROFF), adept.open(f"search:2,keep=2:{BEAROFF}")
    assert ahead.description["search"] == "2,keep=2" and "search" not in plain.description
    # Worked out from values one ply deep: the mean over all rolls of the opponent, who takes the best reply.
    for move in ahead.moves(position, "65"):
        side, rolls = move["after"], [(a, b) for a in range(1, 7) for b in range(a, 7)]
        weights = np.array([1 if a == b else 2 for a, b in rolls]) / 36
        if side.split("/")[1] != "0,0,0,0,0,0":
            mean = -weights @ plain.values([f"{side} {b}{a}" for a, b in rolls])
            # `keep=2` leaves replies out, of which the evaluator thinks little.
            assert abs(move["value"] - mean) < 1e-3
    explained = ahead.explain(position + " 65")
    assert explained["value"] == ahead.values([position + " 65"])[0] == explained["moves"][0]["value"]
    assert explained["search"]["plies"] == 2 and explained["search"]["nodes"] > 21
    assert "search" not in plain.explain(position)
    # The line begins with a best move; of equal ones the list may begin with another.
    best = [move["move"] for move in explained["moves"] if move["value"] == explained["value"]]
    assert explained["search"]["line"][0] in best
    dense, index = plain.encode([position])
    assert np.array_equal(plain.evaluate(dense, index), ahead.evaluate(dense, index))
    # A copy of a model that looks ahead is one of its network.
    ahead.save(tmp_path / "copy", ahead.weights())
    assert np.array_equal(adept.open(tmp_path / "copy").values([position]), plain.values([position]))
    for path, why in [
        ("checkpoints/liars-dice/soar-net", "hides information"),
        (BEAROFF / "nothing", "nothing"),
    ]:
        with pytest.raises(adept.AdeptError, match=why):
            adept.open(f"search:2:{path}")
    with pytest.raises(adept.AdeptError, match="search:4:AGENT"):
        adept.open(f"search:two:{BEAROFF}")


# A match to 7 at 2 to 4, before the roll of the player with 2 points; the same at 4 to 2; and money, where that player owns a cube of 2.
MATCH = "XGID=-aA-CCC-B---cC----b-dc-b--:0:0:1:00:2:4:0:7:10"
LEADING = "XGID=-aA-CCC-B---cC----b-dc-b--:0:0:1:00:4:2:0:7:10"
MONEY = "XGID=-aA-CCC-B---cC----b-dc-b--:1:1:1:00:0:0:1:0:10"


def test_a_network_plays_with_cube_and_score(tmp_path, monkeypatch):
    network = ROOT / "checkpoints/backgammon/small-88-24"
    match, money = (adept.open(network, game=game) for game in ("backgammon:match-7", "backgammon:money"))
    assert (match.game, money.description["scale"]) == ("backgammon:match-7", 192)
    # The figures of `adept value --game`.
    names = ["cubeless", "no double", "double, take", "double, pass", "win the game", "win the match", "double from", "pass from"]
    for model, position, figures in [
        (match, MATCH, [0.69572, 0.92767, 1.35220, 1, 0.79576, 0.4285, 0.63842, 0.72817]),
        (match, LEADING, [0.75428, 0.93417, 1.25816, 1, 0.79576, 0.74359, 0.69413, 0.75349]),
        # The first position by gnubg's IDs.
        (match, "5p6BAyBydwYHAA:MAHgACAAIAAA", [0.69572, 0.92767, 1.35220, 1, 0.79576, 0.4285, 0.63842, 0.72817]),
        (money, MONEY, [0.72612, 0.93653, 1.31335, 1, 0.79576, None, 0.67692, 0.73697]),
    ]:
        told = model.explain(position)
        assert told["reading"]["advice"] == "double, pass" and told["moves"][0]["move"] == "double"
        expected = {name: figure for name, figure in zip(names, figures) if figure is not None}
        assert told["reading"]["figures"] == pytest.approx(expected, abs=1e-4)
    # Chances to win the match from −1 to 1, and points as a share of 192.
    rolled = [position.replace(":00:", ":31:") for position in (MATCH, LEADING)]
    values = match.values([MATCH, LEADING, *rolled])
    assert np.allclose(values, [2 * 0.4285 - 1, 2 * 0.74359 - 1, -0.146848, 0.486087], atol=1e-5)
    assert np.allclose(192 * money.values([MONEY]), 2, atol=1e-3)
    assert match.moves(rolled[0])[0]["action"] == "4/1 2/1*" and "reading" not in match.explain(rolled[0])
    # A double that waits for its answer; its row is that of the position before the roll.
    offered = MATCH.replace(":00:", ":D:")
    assert match.moves(offered)[0]["action"] == "drop" and match.explain(offered)["reading"]["advice"] == "pass"
    plain = adept.open(network)
    row = plain.encode(["5p6BAyBydwYHAA"])[0]
    assert np.array_equal(match.encode([MATCH, offered])[0], np.concatenate([row, row]))
    assert "reading" not in plain.explain("5p6BAyBydwYHAA")
    # A copy in another process is opened for the same rules.
    data = pickle.dumps(match)
    monkeypatch.chdir(tmp_path)
    twin = pickle.loads(data)
    assert twin.description == match.description and twin.explain(MATCH) == match.explain(MATCH)
    for game, why in [
        ("chess", "no game named `chess`"),
        ("backgammon:match-99", "1 to 25"),
        ("tictactoe", "expected `tictactoe`"),
    ]:
        with pytest.raises(adept.AdeptError, match=why):
            adept.open(network, game=game)
    with pytest.raises(adept.AdeptError, match="backgammon:money"):
        match.values([MONEY])


def test_a_network_is_near_the_oracle(monkeypatch):
    monkeypatch.chdir(ROOT)
    model, oracle = adept.open(BEAROFF), adept.Oracle(6)
    positions = ["1,1,0,0,0,0/0,2,0,0,0,0", "0,2,1,0,0,0/1,1,0,1,0,0", "0,0,0,0,0,3/1,0,2,0,0,0"]
    exact = [oracle.value(position) for position in positions]
    assert np.allclose(model.values(positions), exact, atol=0.01)
    assert oracle.moves(positions[0], "61")[0]["value"] == 1.0
    # IDs of gnubg and XGIDs, whose dice are the roll.
    xgid = "XGID=-AAAAAA------------b------:0:0:1:65:0:0:0:0:10"
    assert model.moves(xgid) == model.moves("YAAAqCoAAAAAAA", "65")
    assert oracle.moves(xgid)[0]["value"] == oracle.value(xgid) == oracle.value("1,1,1,1,1,1/0,0,0,0,0,2 65")
    with pytest.raises(adept.AdeptError, match="which roll"):
        oracle.moves("YAAAqCoAAAAAAA")
    with pytest.raises(adept.AdeptError, match="66 are given beside it"):
        oracle.moves(xgid, "66")


def test_a_network_gives_probabilities_of_outcomes(tmp_path):
    run = adept.train(CONFIG, out=tmp_path / "run", settings=[*SHORT, "head=outcomes"])
    model, positions = run.open(), ["X........@1", "XO.......@2", "X...O...X@9"]
    classes = model.description["head"]["outcomes"]
    assert [c["name"] for c in classes] == ["loss", "draw", "win"]
    dense, index = model.encode(positions)
    outcomes = model.outcomes(dense, index)
    assert outcomes.shape == (3, 3) and np.allclose(outcomes.sum(axis=1), 1) and outcomes.std(axis=0).min() > 0
    assert np.allclose(outcomes @ [c["utility"] for c in classes], model.evaluate(dense, index), atol=1e-6)
    moves = {move["move"]: move for move in model.explain("X........@1")["moves"]}
    assert np.allclose(moves["5"]["outcomes"], model.outcomes(*model.encode(["X...O....@5"]))[0], atol=1e-6)
    with pytest.raises(adept.AdeptError, match="not probabilities"):
        adept.open(BEAROFF).outcomes(np.zeros((1, adept.open(BEAROFF).description["dense_width"])))


def test_faults_say_what_and_where():
    model = adept.open(BEAROFF)
    with pytest.raises(adept.AdeptError, match="needs"):
        model.evaluate(np.zeros((2, 3), dtype=np.float32))
    with pytest.raises(TypeError, match="an array of shape"):
        model.evaluate(np.zeros(model.description["dense_width"]))
    with pytest.raises(adept.AdeptError):
        model.values(["nonsense"])
    model_of_fields = adept.SelfPlay(CONFIG)
    with pytest.raises(adept.AdeptError, match="seed"):
        adept.SelfPlay(CONFIG, seed=2**64 - 1)
    with pytest.raises(adept.AdeptError, match="from 0 to 1000000"):
        model_of_fields.play(2_000_000)
    endless = {}
    endless["name"] = endless
    with pytest.raises(adept.AdeptError, match="at most 64 parts"):
        adept.train(endless)
    with pytest.raises(TypeError, match="a list of texts"):
        model.values("1,1,0,0,0,0/0,2,0,0,0,0")
    with pytest.raises(adept.AdeptError, match="nosuch"):
        adept.open("nosuch")
    with pytest.raises(adept.AdeptError, match="learn.rat"):
        adept.train(CONFIG, settings=["learn.rat=1"])
    for wrong in ({"seed": 2**64 - 1}, {"seed": -1}, {"threads": 10**9}, {"threads": -1}, {"max_seconds": -1.0}):
        with pytest.raises(adept.AdeptError, match=next(iter(wrong))):
            adept.train(CONFIG, **wrong)
    with pytest.raises(adept.AdeptError, match="name: None"):
        adept.train({"name": None})
    with pytest.raises(adept.AdeptError, match="there is no run"):
        adept.Run("nosuch")
    learn = {"rate": 0.01, "td": {"games": 10, "lamda": 1}}
    config = {"name": "x", "game": {"rules": "tictactoe"}, "architecture": {"mlp": {"hidden": [4]}}, "learn": learn}
    with pytest.raises(adept.AdeptError, match="^the config: `learn.td.lamda`: unknown key `lamda`"):
        adept.train(config)
    with pytest.raises(adept.AdeptError, match="^settings: learn.rate=-1: "):
        adept.train(CONFIG, settings={"learn.rate": -1})


def test_a_text_is_a_config_and_its_run_is_measured(tmp_path):
    run = adept.train(adept.starter("tictactoe"), out=tmp_path / "run", settings=SHORT)
    found = adept.evaluate(run.path, ["equity", "matches"], against="random", samples=200)
    assert 0 < found["equity"]["equity"] < 1 and found["matches"]["opponents"]
    assert found["equity"]["equity"] == adept.evaluate(run.path, "equity", against=["random"])["equity"]["equity"]
    with pytest.raises(adept.AdeptError, match="unknown suite `equality`"):
        adept.evaluate(run.path, "equality")
    with pytest.raises(adept.AdeptError, match="samples = 0"):
        adept.evaluate(run.path, samples=0)
    with pytest.raises(adept.AdeptError, match="measure 1 to 10000000 positions"):
        adept.evaluate(BEAROFF, "rms", samples=10**11)


def test_a_started_run_always_tells_of_its_end(tmp_path):
    kinds = []

    def fails(event):
        kinds.append(event["kind"])
        if event["kind"] == "progress":
            raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        adept.train(CONFIG, out=tmp_path / "run", settings=SHORT, on_progress=fails)
    assert kinds[-1] == "ended" and kinds.count("ended") == 1


def test_ctrl_c_leaves_an_oracle_to_itself():
    interrupt = threading.Timer(0.02, signal.raise_signal, [signal.SIGINT])
    with pytest.raises(KeyboardInterrupt):
        interrupt.start()
        adept.Oracle(12)
        # Solved before the signal came: it still belongs to this test.
        interrupt.join()
        time.sleep(1)


def test_a_run_trains_reports_and_opens(tmp_path):
    events = []
    run = adept.train(CONFIG, out=tmp_path / "run", settings=SHORT, on_progress=events.append)
    assert run.finished and [line["step"] for line in run.metrics()] == [500, 1000, 1500, 2000]
    flat = run.metrics(flat=True)[-1]
    assert flat["step"] == 2000 and flat["equity/ttt/equity"] == dict(run.metrics()[-1]["equity"])["ttt"]["equity"]
    kinds = {event["kind"] for event in events}
    assert {"started", "progress", "measured", "ended"} <= kinds
    assert adept.Run(tmp_path / "run").record["seed"] == run.record["seed"]
    assert len(run.open().moves(".........")) == 9


def interrupts(event):
    if event["kind"] == "progress":
        signal.raise_signal(signal.SIGINT)


def test_exceptions_and_ctrl_c_stop_a_run_that_goes_on_to_the_same_bits(tmp_path):
    def bits(run):
        return run.open().values(["X........", "XO......."]).tobytes()

    whole = adept.train(CONFIG, out=tmp_path / "whole", settings=SHORT)

    def fails(event):
        if event["kind"] == "measured":
            raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        adept.train(CONFIG, out=tmp_path / "parts", settings=SHORT, on_progress=fails)
    assert not adept.Run(tmp_path / "parts").finished
    assert bits(adept.train(CONFIG, out=tmp_path / "parts", settings=SHORT, resume=True)) == bits(whole)

    long = ["learn.td.games=100000000", "evaluate.every=100000000"]
    with pytest.raises(KeyboardInterrupt, match="resume=True"):
        adept.train(CONFIG, out=tmp_path / "long", settings=long, on_progress=interrupts)


def test_the_interpreter_is_free_while_a_run_learns(tmp_path):
    ticks = 0
    done = threading.Event()

    def count():
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    adept.train(CONFIG, out=tmp_path / "run", settings=["learn.td.games=60000", "evaluate.every=60000"])
    done.set()
    thread.join()
    assert ticks > 20


def test_a_config_may_be_a_dict_and_a_starter_is_one(tmp_path):
    tomllib = pytest.importorskip("tomllib")

    config = tomllib.loads(adept.starter("tictactoe"))
    settings = {"learn.td.games": np.int64(200), "evaluate.every": 100, "learn.td.against": "ttt"}
    run = adept.train(config, out=tmp_path / "run", settings=settings)
    assert run.record["games"] == 200
    assert run.record["name"] == config["name"]
    with pytest.raises(adept.AdeptError, match="hiden"):
        adept.train({**config, "architecture": {"mlp": {"hiden": [4]}}})


def test_agents_meet_and_checkpoints_are_exported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = adept.train(CONFIG, out="run", settings=SHORT)
    agents = [{"name": "learned", "agent": "run"}, {"name": "random"}]
    config = {"name": "meeting", "game": "tictactoe", "games": 400, "agents": agents}
    seen = []
    table = adept.arena(config, out="arena", on_progress=seen.append)
    assert table["finished"] and table["pairs"][0]["score"] > 0.7
    assert [event["kind"] for event in seen] == ["played"]
    # Finished: the same table, and nothing is played.
    assert adept.arena(config, out="arena", on_progress=seen.append)["pairs"] == table["pairs"] and len(seen) == 1

    graph = adept.export(run.path, "net.onnx")
    assert graph["bytes"] == Path("net.onnx").stat().st_size > 0
    adept.export(run.path, "net.safetensors", format="safetensors")
    adept.import_checkpoint("net.safetensors", "back")
    positions = ["X........", "XO......."]
    assert np.array_equal(adept.open("back").values(positions), run.open().values(positions))
    with pytest.raises(adept.AdeptError, match="onnx"):
        adept.export(run.path, "net.pt", format="pt")


def test_event_files_say_what_the_metrics_say(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    def losses(path):
        events = EventAccumulator(str(path))
        events.Reload()
        assert "equity/ttt/equity" in events.Tags()["scalars"]
        return [(event.step, event.value) for event in events.Scalars("loss")]

    run = adept.train(CONFIG, out=tmp_path / "run", settings=SHORT, tensorboard=True)
    found = losses(run.path)
    assert found == [(line["step"], np.float32(line["loss"])) for line in run.metrics()] and len(found) == 4
    # A stopped run goes on with the same file.
    with pytest.raises(ZeroDivisionError):
        adept.train(
            CONFIG,
            out=tmp_path / "parts",
            settings=SHORT,
            tensorboard=True,
            on_progress=lambda event: event["kind"] == "measured" and 1 / 0,
        )
    adept.train(CONFIG, out=tmp_path / "parts", settings=SHORT, tensorboard=True, resume=True)
    assert losses(tmp_path / "parts") == found


def test_indices_are_whole_numbers(tmp_path):
    run = adept.train(CONFIG, out=tmp_path / "run", settings=SHORT)
    model = run.open()
    dense, index = model.encode(["X........@1"])
    for wrong in (index + 0.5, -1 - index.astype(np.int64)):
        with pytest.raises((TypeError, adept.AdeptError), match="index: (whole )?numbers"):
            model.evaluate(dense, wrong)
    with pytest.raises(adept.AdeptError, match="square"):
        model.evaluate(dense, index + np.uint64(9))


def documented(body, prefix=""):
    """The names with a docstring in a stub, with it."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            if ast.get_docstring(node):
                yield prefix + node.name, ast.get_docstring(node)
            if isinstance(node, ast.ClassDef):
                yield from documented(node.body, f"{node.name}.")


def test_help_says_what_the_stubs_say():
    stub = ast.parse((Path(adept.__file__).parent / "__init__.pyi").read_text())
    said = dict(documented(stub.body))
    assert len(said) > 30
    plain = lambda text: " ".join((text or "").split())
    for name, text in said.items():
        found = plain(inspect.getdoc(functools.reduce(getattr, name.split("."), adept)))
        assert plain(text) == found, f"{name}: {found}"
