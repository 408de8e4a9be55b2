"""Studies: several configs, seeds and settings at once."""

import json
import signal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tictactoe import TicTacToe

import adept

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "configs/tictactoe/single-40.toml").read_text()
SHORT = {"learn.td.games": 400, "learn.td.against": "self", "evaluate.every": 200, "evaluate.against": ["random"]}


def small(**more):
    import tomllib

    config = tomllib.loads(TEXT)
    config["architecture"]["mlp"]["hidden"] = [4]
    for key, value in more.items():
        config["learn"][key] = value
    return config


def study(out, **more):
    given = {"configs": {"large": TEXT, "small": small()}, "seeds": 2, "settings": SHORT, "processes": 2, **more}
    return adept.study(out=out, **given)


def test_a_study_is_a_tidy_frame_and_a_comparison(tmp_path):
    found = study(tmp_path / "study", seeds=3)
    assert found.finished and len(found.runs) == 6 and not found.failed
    frame = pd.DataFrame(found.frame())
    assert list(frame["config"]) == ["large"] * 3 + ["small"] * 3 and list(frame["seed"]) == [1, 2, 3] * 2
    assert (frame["step"] == 400).all() and (frame["seconds"] > 0).all()
    for run, row in zip(found.runs, frame.itertuples(), strict=True):
        assert str(run.path) == row.run and run.record["seed"] == row.seed
        flat = run.metrics(flat=True)[-1]
        assert frame.loc[row.Index, "equity/random/equity"] == flat["equity/random/equity"]
    curves = pd.DataFrame(found.frame("curves"))
    assert len(curves) == 12 and sorted(set(curves["step"])) == [200, 400]
    with pytest.raises(ValueError, match="curves"):
        found.frame("middle")

    rows = found.compare()
    assert rows.metric == "equity/random/equity" and [row["config"] for row in rows] == ["large", "small"]
    sides = [frame[frame["config"] == name]["equity/random/equity"].to_numpy() for name in ("large", "small")]
    for row, side in zip(rows, sides, strict=True):
        assert row["n"] == 3 and np.isclose(row["mean"], side.mean()) and np.isclose(row["sd"], side.std(ddof=1))
        # t of two degrees of freedom at 97.5 % is 4.302653.
        assert np.isclose(row["high"] - row["mean"], 4.302653 * row["sd"] / 3**0.5, rtol=1e-5)
    assert rows[0]["difference"] is None and rows[0]["p"] is None
    # The interval holds 0 just if p is above .05.
    assert np.isclose(rows[1]["difference"], sides[1].mean() - sides[0].mean()) and 0 <= rows[1]["p"] <= 1
    assert rows[1]["difference_low"] < rows[1]["difference"] < rows[1]["difference_high"]
    assert (rows[1]["difference_low"] < 0 < rows[1]["difference_high"]) == (rows[1]["p"] > 0.05)
    assert found.compare(baseline="small")[0]["difference"] == -rows[1]["difference"]
    assert list(pd.DataFrame(found.compare("loss"))["n"]) == [3, 3]
    with pytest.raises(adept.AdeptError, match="there is step"):
        found.compare("los")
    with pytest.raises(adept.AdeptError, match="there is large, small"):
        found.compare(baseline="medium")
    assert "6 of 6 runs finished" in repr(found) and "mean ± sd" in repr(found)
    assert "<table>" in found._repr_html_() and "equity/random/equity" in found._repr_html_()


def test_polars_takes_what_pandas_takes(tmp_path):
    polars = pytest.importorskip("polars")

    found = study(tmp_path / "study", grid={"learn.rate": [0.01, 0.02], "learn.td.lambda": [0.5]}, seeds=[7])
    frame = found.frame()
    assert {len(column) for column in frame.values()} == {4}
    ours, theirs = polars.DataFrame(frame), pd.DataFrame(frame)
    assert ours.columns == list(theirs.columns) and ours["config"].to_list() == list(theirs["config"])
    assert ours["learn.rate"].to_list() == [0.01, 0.02] * 2 and set(ours["learn.td.lambda"]) == {0.5}
    assert ours["config"].dtype == polars.String and ours["seed"].dtype == polars.Int64
    assert polars.DataFrame(found.compare()).shape == pd.DataFrame(found.compare()).shape == (4, 17)


def test_a_study_goes_on_where_it_was_stopped_and_grows(tmp_path):
    out, seen = tmp_path / "study", []

    def stop(event):
        seen.append(event["kind"])
        return adept.STOP if event["kind"] == "measured" and event["done"] >= 1 else None

    part = study(out, on_progress=stop, processes=1)
    assert not part.finished and 1 <= len(part.runs) < 4 and seen[0] == "study" and seen[-1] == "over"
    first = {run.path: run.path.joinpath("run.json").stat().st_mtime_ns for run in part.runs}
    whole = study(out)
    assert whole.finished and len(whole.runs) == 4
    again = []
    assert study(out, on_progress=again.append).finished
    assert [event["kind"] for event in again] == ["study", "over"] and again[0]["from"] == again[0]["total"] == 1600
    for path, time in first.items():
        assert path.joinpath("run.json").stat().st_mtime_ns == time
    # The same bits as without a stop.
    alone = study(tmp_path / "other")
    for ours, theirs in zip(whole.runs, alone.runs, strict=True):
        assert ours.open().weights().tobytes() == theirs.open().weights().tobytes()
    # More seeds, fewer, and another config are added.
    assert len(study(out, seeds=range(1, 4)).runs) == 6
    assert [run.record["seed"] for run in study(out, seeds=[3, 9]).runs] == [3, 9] * 2
    assert len(study(out, configs={"large": TEXT, "small": small(), "slow": small(rate=0.001)}).runs) == 6
    # The folder of a config is that of a sweep.
    plan = json.loads((out / "large" / "sweep.json").read_text())
    assert plan["first_seed"] == 1 and (out / "large" / "sweep.md").exists()


def test_another_config_of_the_same_name_is_refused(tmp_path):
    study(tmp_path / "study")
    with pytest.raises(adept.AdeptError, match="small: holds another sweep.*choose another folder"):
        study(tmp_path / "study", configs={"large": TEXT, "small": small(rate=0.5)})
    with pytest.raises(adept.AdeptError, match="holds another sweep"):
        study(tmp_path / "study", grid={"learn.rate": [0.01, 0.02]})
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "large").mkdir()
    (tmp_path / "taken" / "large" / "letter.txt").write_text("mine")
    with pytest.raises(adept.AdeptError, match="it holds `letter.txt`"):
        study(tmp_path / "taken")
    assert not (tmp_path / "taken" / "small").exists()


def test_what_cannot_be_is_refused_before_anything_starts(tmp_path):
    out = tmp_path / "study"
    for wrong, error, words in [
        ({"seeds": 10_001}, adept.AdeptError, "from 1 to 10000"),
        ({"seeds": []}, adept.AdeptError, "from 1 to 10000"),
        ({"seeds": [1, 2, 1]}, adept.AdeptError, "1 is listed twice"),
        ({"seeds": [-1]}, adept.AdeptError, "seed = -1"),
        ({"seeds": "12"}, TypeError, "seeds: a number, a range or a list"),
        ({"processes": -1}, adept.AdeptError, "processes = -1"),
        ({"configs": {}}, TypeError, "at least one"),
        ({"configs": {"a/b": TEXT}}, adept.AdeptError, "`a/b`: a name consists of"),
        ({"configs": {"a": TEXT, "A": TEXT}}, ValueError, "nothing but case"),
        ({"configs": {"a": {**small(), "name": "a", "about": 3}}}, adept.AdeptError, "a: the config"),
        ({"grid": {"learn.rate": 0.1}}, TypeError, "`learn.rate` needs a list"),
        ({"grid": {"learn.rate": []}}, adept.AdeptError, "`learn.rate` has no value"),
        ({"grid": {"learn.rat": [1, 2]}}, adept.AdeptError, "learn.rat"),
        ({"grid": {"learn.rate": range(1, 5000)}}, adept.AdeptError, "more than 4096"),
        ({"grid": {"learn.rate": range(1, 101), "learn.td.lambda": np.linspace(0, 1, 100)}}, adept.AdeptError, "10000 combinations"),
        ({"grid": {"learn.rate": range(1, 4001)}, "seeds": 100}, adept.AdeptError, r"800000 runs \(configs × combinations × seeds: 2 × 4000 × 100\)"),
        ({"grid": {"learn.rate": [0.01, 0.01]}}, adept.AdeptError, "same experiment"),
        ({"grid": {"seed": [1, 2]}}, adept.AdeptError, "seeds are not part of the grid"),
    ]:
        with pytest.raises(error, match=words):
            study(out, **wrong)
    assert not out.exists()


def test_a_run_that_fails_does_not_take_the_others_with_it(tmp_path):
    class Faulty(TicTacToe):
        name = "faulty"
        fails = False

        def apply(self, state, action):
            if Faulty.fails:
                raise RuntimeError("the board is gone")
            return super().apply(state, action)

    adept.register(Faulty(), games=2)
    faulty = {**small(), "game": {"rules": "faulty", "encoder": "inputs"}, "name": "faulty"}

    def breaks(event):
        Faulty.fails |= event["kind"] == "started" and event["config"] == "faulty"

    with pytest.warns(RuntimeWarning, match="faulty, seed 1: RuntimeError: the board is gone"):
        found = study(tmp_path / "study", configs={"fine": small(), "faulty": faulty}, seeds=1, on_progress=breaks)
    assert [run.record["name"] for run in found.runs] == ["single-40"] and not found.finished
    [failed] = found.failed
    assert failed["config"] == "faulty" and failed["seed"] == 1 and isinstance(failed["error"], RuntimeError)
    assert "faulty, seed 1: RuntimeError: the board is gone" in repr(found)
    Faulty.fails = False
    with pytest.raises(adept.AdeptError, match="the board is gone") as raised:
        study(tmp_path / "alone", configs={"faulty": faulty}, seeds=1, on_progress=breaks)
    assert isinstance(raised.value.__cause__, RuntimeError)
    # It is tried again.
    Faulty.fails = False
    assert study(tmp_path / "study", configs={"fine": small(), "faulty": faulty}, seeds=1).finished


def test_games_in_python_learn_the_same_bits_in_a_study(tmp_path):
    adept.register(TicTacToe())
    ours = {**small(), "game": {"rules": TicTacToe.name, "encoder": "inputs"}}
    found = study(tmp_path / "study", configs={"ours": ours}, seeds=2)
    alone = adept.train(ours, out=tmp_path / "alone", seed=2, settings=SHORT)
    assert found.runs[1].open().weights().tobytes() == alone.open().weights().tobytes()


def test_a_run_that_diverges_is_told_and_not_tried_again(tmp_path):
    configs = {"fine": small(), "wild": small(rate=1e8)}
    linear = {**SHORT, "architecture.mlp.output": "linear"}
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="wild, seed 1: .*diverged"):
            found = study(tmp_path / "study", configs=configs, settings=linear, seeds=1)
        assert len(found.runs) == 1 and found.failed[0]["error"] is None


def test_exceptions_in_the_callback_stop_a_study(tmp_path):
    kinds = []

    def fails(event):
        kinds.append(event["kind"])
        if event["kind"] == "measured":
            raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        study(tmp_path / "study", on_progress=fails)
    assert kinds.count("over") == 1 and kinds[-1] == "over" and "ended" not in kinds
    with pytest.raises(adept.AdeptError, match="a study compares configs as they are"):
        study(tmp_path / "study", on_progress=lambda event: {"learn.rate": 0.1} if event["kind"] == "started" else None)


def test_ctrl_c_stops_a_study_and_the_same_call_goes_on(tmp_path):
    def interrupts(event):
        if event["kind"] == "progress":
            signal.raise_signal(signal.SIGINT)

    long = {**SHORT, "learn.td.games": 100_000_000, "evaluate.every": 100_000_000}
    with pytest.raises(KeyboardInterrupt, match="stopped after 0 of 2 runs: call it again"):
        study(tmp_path / "study", settings=long, seeds=1, on_progress=interrupts)
    steps = [adept.Run(path.parent).record["step"] for path in (tmp_path / "study").glob("*/*/run.json")]
    assert len(steps) == 2 and all(step > 0 for step in steps)
    froms = []

    def stops(event):
        if event["kind"] == "started":
            froms.append(event["from"])
        return adept.STOP if event["kind"] == "progress" else None

    assert not study(tmp_path / "study", settings=long, seeds=1, on_progress=stops).finished
    assert sorted(froms) == sorted(steps)


def test_a_changed_run_is_not_part_of_a_study(tmp_path):
    study(tmp_path / "study", configs={"small": small()}, seeds=1)
    steer = lambda event: {"learn.rate": 0.001} if event["kind"] == "measured" else None
    adept.train(small(), out=tmp_path / "study/small/single-40-2", seed=2, settings=SHORT, on_progress=steer)
    with pytest.warns(RuntimeWarning, match="seed 2: .*changed while it learned"):
        found = study(tmp_path / "study", configs={"small": small()}, seeds=2)
    assert len(found.runs) == 1


def test_one_bar_shows_all_runs(tmp_path, capsys):
    pytest.importorskip("tqdm")
    study(tmp_path / "study", on_progress=adept.progress_bar(ncols=80, mininterval=0))
    shown = capsys.readouterr().err
    assert "4/4 runs: 100%" in shown and "0/4 runs" in shown


def test_usual_folders_and_the_command_agree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = adept.study({"a": small(), "b": small(rate=0.003)}, seeds=1, settings=SHORT)
    assert found.path == Path("checkpoints/studies/a_b")
    assert found.runs[0].path == Path("checkpoints/studies/a_b/a/single-40-1")
    assert found.compare()[1]["p"] is None and "n" in found.compare()[1]
