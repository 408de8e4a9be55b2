"""The stubs and `adept.torch` are strictly typed, and so is what users write with them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import adept

pytest.importorskip("torch")

PACKAGE = Path(adept.__file__).parent
USE = """
import numpy as np
import torch

import adept
import adept.torch

network = adept.torch.load("run", best=True, check=False)
values: torch.Tensor = network(np.zeros((1, 9), dtype=np.float32))
values = network.log_outcomes(torch.zeros(1, 9), [[0]])
optimiser = torch.optim.Adam(network.groups(1e-3))
samples = adept.SelfPlay("config.toml").play(32)
loss: torch.Tensor = network.loss(**samples)
"""


def assert_passes(*command, cwd):
    found = subprocess.run(command, cwd=cwd, text=True, capture_output=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.fixture
def use(tmp_path):
    (tmp_path / "use.py").write_text(USE)
    return tmp_path


def test_mypy_is_content(use, monkeypatch):
    pytest.importorskip("mypy")
    monkeypatch.setenv("MYPYPATH", str(PACKAGE.parent) if "site-packages" not in PACKAGE.parts else "")
    strict = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(use / "cache")]
    assert_passes(*strict, "-m", "adept", "-m", "adept.torch", "-m", "use", cwd=use)


def test_pyright_is_content(use):
    pytest.importorskip("pyright")
    files = [os.path.relpath(PACKAGE / name, use) for name in ("__init__.pyi", "torch.py")]
    config = {"include": [*files, "use.py"], "typeCheckingMode": "strict", "extraPaths": [str(PACKAGE.parent)]}
    (use / "pyrightconfig.json").write_text(json.dumps({**config, "exclude": []}))
    assert_passes(sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", ".", cwd=use)
