"""What a call from Python costs beside the same call in Rust, in turn; what a game in Python costs; and the import.

python tests/overhead.py RUST_CALL, the path of the example `rust_call`.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import adept

ROOT = Path(__file__).resolve().parents[3]
MODEL = "checkpoints/bearoff/residual-10"
POSITION = "1,1,0,0,0,0/0,2,0,0,0,0"
TURNS = 9


def microseconds(call, times):
    """The least mean of five series: other processes only slow a call down."""
    best = float("inf")
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(times):
            call()
        best = min(best, (time.perf_counter() - began) / times)
    return 1e6 * best


def calls(rust_call):
    model = adept.open(MODEL)
    dense, index = model.encode([POSITION] * 512)
    python, rust = {1: [], 512: []}, {1: [], 512: []}
    for _ in range(TURNS):
        for line in subprocess.run([rust_call, MODEL, POSITION], check=True, text=True, stdout=subprocess.PIPE).stdout.split("\n"):
            if line:
                rows, cost = line.split()
                rust[int(rows)].append(float(cost))
        for rows in python:
            part = (np.ascontiguousarray(dense[:rows]), np.ascontiguousarray(index[:rows]))
            python[rows].append(microseconds(lambda: model.evaluate(*part), 100_000 // (rows + 9)))
    for rows in python:
        more = sorted(p - r for p, r in zip(python[rows], rust[rows]))
        middle, quartiles = statistics.median(more), statistics.quantiles(more, n=4)
        there = statistics.median(rust[rows])
        print(
            f"evaluate, {rows} rows: {statistics.median(python[rows]):.2f} µs from Python, {there:.2f} µs from Rust: "
            f"{middle:+.2f} µs (quartiles {quartiles[0]:+.2f} to {quartiles[2]:+.2f}), {100 * middle / there:+.1f} %"
        )


def games():
    """Games per second of tic-tac-toe, in Python and built in, with the same config, network and moves."""
    sys.path.insert(0, str(Path(__file__).parent))
    from tictactoe import SAME, TicTacToe

    adept.register(TicTacToe())
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        rates = {}
        for rules, length in (("tictactoe", 40_000), ("tictactoe-in-python", 2_000)):
            settings = [*SAME[rules], f"learn.td.games={length}", f"evaluate.every={length}"]
            began = time.perf_counter()
            adept.train(ROOT / "configs/tictactoe/single-40.toml", out=f"{folder}/{rules}", settings=settings)
            rates[rules] = length / (time.perf_counter() - began)
    slow, fast = rates["tictactoe-in-python"], rates["tictactoe"]
    print(f"games a second: {slow:,.0f} of tic-tac-toe in Python, {fast:,.0f} built in: {fast / slow:.0f} times as many")


def importing():
    def seconds(code):
        best = float("inf")
        for _ in range(5):
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            best = min(best, time.perf_counter() - began)
        return best

    alone = seconds("import numpy")
    print(f"import: {1000 * (seconds('import numpy, adept') - alone):.0f} ms beside NumPy's {1000 * alone:.0f} ms")


if __name__ == "__main__":
    os.chdir(ROOT)
    calls(sys.argv[1])
    games()
    importing()
