"""The examples run, and show what they say."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[3] / "examples/python"


def test_the_notebook_runs_from_top_to_bottom():
    import nbclient
    import nbformat

    notebook = nbformat.read(EXAMPLES / "experts.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = [key for output in outputs for key in output.get("data", {})]
    assert shown.count("image/png") == 3
    # The progress bar is a widget.
    assert "application/vnd.jupyter.widget-view+json" in shown


def test_nim_in_python_plays_perfectly(tmp_path):
    found = subprocess.run([sys.executable, EXAMPLES / "nim.py"], cwd=tmp_path, text=True, capture_output=True, check=True)
    assert "exact equity against minimax: -0.000" in found.stdout or "minimax: +0.000" in found.stdout
    assert "best first move: (0, 2)" in found.stdout


def test_the_configs_of_the_study_learn(tmp_path):
    import runpy

    import adept

    configs = runpy.run_path(str(EXAMPLES / "study.py"))
    three = {name: configs[name] for name in ("single", "meta_pi", "hme")}
    short = {"learn.supervised.samples": 200_000, "evaluate.every": 200_000}
    found = adept.study(three, seeds=2, settings=short, out=tmp_path / "study")
    assert found.finished and [row["n"] for row in found.compare()] == [2, 2, 2]
    # As the script says, the single network is not the cheaper one.
    assert all(run.experts()["multiply_adds"][-1] < 703 for run in found.runs[2:])
