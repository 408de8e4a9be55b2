"""What callbacks of `train` answer, and experts as arrays."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import adept

ROOT = Path(__file__).resolve().parents[3]
CONFIG = ROOT / "configs/tictactoe/single-40.toml"
SHORT = ["learn.td.games=2000", "evaluate.every=500"]
MIXTURE = ROOT / "configs/tictactoe/hme-2x40-st3.toml"


def train(out, answer=None, config=CONFIG, settings=SHORT, **more):
    return adept.train(config, out=out, settings=settings, on_progress=answer, **more)


def measured(answers):
    """A callback that answers to the measurements at these steps."""
    return lambda event: answers.get(event["step"]) if event["kind"] == "measured" else None


def bits(run):
    return run.open().weights().tobytes()


def test_stop_ends_a_run_that_goes_on_to_the_same_bits(tmp_path):
    assert repr(adept.STOP) == "adept.STOP" and pickle.loads(pickle.dumps(adept.STOP)) is adept.STOP
    events = []

    def stop(event):
        events.append(event)
        return adept.STOP if event["kind"] == "measured" and event["step"] == 1000 else None

    run = train(tmp_path / "run", stop)
    assert not run.finished and run.record["step"] == 1000 and run.open().values(["........."]).shape == (1,)
    assert events[-1] == {"kind": "ended", "step": 1000}
    with pytest.raises(adept.AdeptError, match="stopped after 1000 of 2000 games"):
        train(tmp_path / "run")
    whole = train(tmp_path / "run", resume=True)
    assert whole.finished and bits(whole) == bits(train(tmp_path / "whole"))
    # At the end there is nothing to stop.
    assert train(tmp_path / "end", measured({2000: adept.STOP})).finished


def test_other_answers_say_nothing(tmp_path):
    whole = bits(train(tmp_path / "whole"))
    for i, answer in enumerate([True, "adept.STOP", 0.5, [("learn.rate", 1)], {}]):
        run = train(tmp_path / str(i), lambda event, answer=answer: answer)
        assert run.finished and not run.changed and bits(run) == whole


def test_a_changed_rate_is_recorded_and_resumed(tmp_path):
    answers = {500: {"learn.rate": 0.001}, 1500: {"learn.rate": None, "learn.td.explore": 0.5}}
    run = train(tmp_path / "run", measured(answers))
    assert run.finished and "changed on the way" in repr(run)
    expected = [
        {"step": 500, "key": "learn.rate", "value": 0.001},
        {"step": 1500, "key": "learn.rate", "value": None},
        {"step": 1500, "key": "learn.td.explore", "value": 0.5},
    ]
    assert run.changed == run.record["changed"] == expected
    plain = train(tmp_path / "plain")
    assert not plain.changed and "changed" not in plain.record and bits(run) != bits(plain)
    # A measurement tells what it was learned with so far.
    rates = [line["rate"] for line in run.metrics()]
    usual = [line["rate"] for line in plain.metrics()]
    assert rates[0] == usual[0] and rates[1] == rates[2] == np.float32(0.001) and rates[3] == usual[3]
    assert [line["explore"] for line in run.metrics()][3] == 0.5
    # The same answers give the same bits, and so does a run that was stopped between them: it keeps the first change.
    assert bits(train(tmp_path / "again", measured(answers))) == bits(run)
    part = train(tmp_path / "parts", measured({**answers, 1000: adept.STOP}))
    assert part.changed == expected[:1]
    rest = train(tmp_path / "parts", measured(answers), resume=True)
    assert bits(rest) == bits(run) and rest.changed == expected
    # Without the callback the rate stays changed.
    train(tmp_path / "left", measured({**answers, 1000: adept.STOP}))
    left = train(tmp_path / "left", resume=True)
    assert left.changed == expected[:1] and left.metrics()[-1]["rate"] == np.float32(0.001)


def test_a_change_from_the_start_is_the_config_with_it(tmp_path):
    steer = lambda event: {"learn.rate": 0.005, "learn.td.explore": 0.25} if event["kind"] == "started" else None
    run = train(tmp_path / "run", steer)
    same = train(tmp_path / "same", settings=[*SHORT, "learn.rate=0.005", "learn.td.explore=0.25"])
    assert bits(run) == bits(same) and [change["step"] for change in run.changed] == [0, 0]


def test_games_played_ahead_keep_their_exploration(tmp_path):
    """With overlap, the games of the next batch were played before the change."""
    ahead = [*SHORT, "learn.batch=50", "learn.td.workers=2", "learn.td.overlap=true"]
    answers = {500: {"learn.td.explore": 0.9, "learn.rate": 0.002}}
    run = train(tmp_path / "run", measured(answers), settings=ahead)
    part = train(tmp_path / "parts", measured({500: answers[500], 1000: adept.STOP}), settings=ahead)
    assert bits(train(tmp_path / "parts", resume=True, settings=ahead)) == bits(run) and not part.finished
    assert [line["explore"] for line in run.metrics()][1:] == [0.9] * 3


def test_a_change_that_cannot_be_stops_the_run_with_a_checkpoint(tmp_path):
    for i, (answer, error, words) in enumerate(
        [
            ({"learn.rat": 0.1}, adept.AdeptError, "on_progress: `learn.rat` cannot be changed.*learn.rate, learn.td.explore can"),
            ({"learn.td.temperature": 0.1}, adept.AdeptError, "`learn.td.temperature` cannot be changed"),
            ({"learn.rate": -1}, adept.AdeptError, "learn.rate: must lie in 0..1000000000, found -1"),
            ({"learn.rate": float("nan")}, adept.AdeptError, "found NaN"),
            ({"learn.td.explore": 2}, adept.AdeptError, "must lie in 0..1, found 2"),
            ({"learn.rate": "fast"}, TypeError, "a key and a number, or None"),
            ({3: 1}, TypeError, "a key and a number, or None"),
        ]
    ):
        with pytest.raises(error, match=words):
            train(tmp_path / str(i), measured({500: answer}))
        stopped = adept.Run(tmp_path / str(i))
        assert not stopped.finished and stopped.record["step"] == 500 and not stopped.changed


def test_experts_are_arrays(tmp_path):
    run = train(tmp_path / "run", config=MIXTURE)
    experts, usage = run.experts(), run.usage()
    lines = [line for line in run.metrics() if "experts" in line]
    assert experts["shares"].shape == (len(lines), 2) and list(experts["step"]) == [line["step"] for line in lines]
    assert np.allclose(experts["shares"].sum(axis=1), 1) and experts["live"][-1] == lines[-1]["experts"]["live"]
    assert experts["multiply_adds"].shape == (len(lines),)
    assert usage["share"].shape == (4, 2) and usage["rows"].shape == (4,)
    single = train(tmp_path / "single")
    for of in (single.experts, single.usage):
        with pytest.raises(adept.AdeptError, match="no measurement of `single-40` tells of"):
            of()
    with pytest.raises(adept.AdeptError, match="has no experts"):
        single.open().gates(["X........@1"])


def test_gates_are_arrays(tmp_path):
    model = train(tmp_path / "run", config=MIXTURE).open()
    positions = ["X........@1", "XO.......@2", "X...O...X@9"]
    dense, index = model.encode(positions)
    gates = model.gates(positions)
    assert gates["experts"] == ["0", "1"] and gates["shares"].shape == gates["outputs"].shape == (3, 2)
    of_rows = model.gates(dense, index)
    assert all(np.array_equal(of_rows[key], gates[key], equal_nan=True) for key in ("shares", "outputs"))
    assert np.allclose(gates["shares"].sum(axis=1), 1)
    # What did not run has no share. The blend of the rest is the value.
    assert np.array_equal(np.isnan(gates["outputs"]), gates["shares"] == 0)
    blend = np.nansum(gates["shares"] * gates["outputs"], axis=1)
    assert np.allclose(blend, model.evaluate(dense, index), atol=1e-6)
    assert model.gates([])["shares"].shape == (0, 2)
    with pytest.raises(adept.AdeptError, match="this model needs"):
        model.gates(dense[:, :-1] if dense.shape[1] else np.zeros((3, 1)), index)
    with pytest.raises(TypeError, match="a list of texts"):
        model.gates("X........")


def test_gates_of_a_hierarchy_and_of_outcomes_have_names_and_classes(tmp_path):
    nested = """
name = "nested"
head = "outcomes"
game.rules = "tictactoe"
learn = { rate = 0.01, td = { games = 200 } }
evaluate = { every = 200, against = ["random"] }
[architecture.hme]
experts = 2
expert.meta_pi = { experts = 3, expert.mlp = { hidden = [4] } }
"""
    model = adept.train(nested, out=tmp_path / "run").open()
    rows = model.encode(["X........@1", "XO.......@2"])
    gates = model.gates(*rows)
    assert gates["experts"] == ["0.0", "0.1", "0.2", "1.0", "1.1", "1.2"]
    assert gates["shares"].shape == (2, 6) and gates["outputs"].shape == (2, 6, 3)
    assert np.allclose(gates["shares"].sum(axis=1), 1) and np.allclose(gates["outputs"].sum(axis=2), 1, atol=1e-5)
    blend = (gates["shares"][..., None] * gates["outputs"]).sum(axis=1)
    assert np.allclose(blend, model.outcomes(*rows), atol=1e-5)
    explained = model.explain("X........@1")["after"]
    assert np.allclose(gates["shares"][0].reshape(2, 3).sum(axis=1), explained["gates"], atol=1e-6)


def test_register_decorates_a_class():
    from tictactoe import TicTacToe

    @adept.register
    class Decorated(TicTacToe):
        name = "decorated"

    assert isinstance(Decorated, type) and "decorated" in [game["name"] for game in adept.games()]
