"""What a call from Python costs: a row alone and 512 together, and the import."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import adept

ROOT = Path(__file__).resolve().parents[3]


def microseconds(call, times):
    """The least mean of five series: other processes only slow a call down."""
    best = float("inf")
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(times):
            call()
        best = min(best, (time.perf_counter() - began) / times)
    return 1e6 * best


os.chdir(ROOT)
model = adept.open("checkpoints/bearoff/residual-10")
dense, index = model.encode(["1,1,0,0,0,0/0,2,0,0,0,0"] * 512)
for rows in (1, 512):
    part = (np.ascontiguousarray(dense[:rows]), np.ascontiguousarray(index[:rows]))
    print(f"evaluate, {rows} rows: {microseconds(lambda: model.evaluate(*part), 100_000 // (rows + 9)):.2f} µs a call")
began = time.perf_counter()
subprocess.run([sys.executable, "-c", "import numpy"], check=True)
numpy_alone = time.perf_counter() - began
began = time.perf_counter()
subprocess.run([sys.executable, "-c", "import numpy, adept"], check=True)
print(f"import: {1000 * (time.perf_counter() - began - numpy_alone):.0f} ms beside NumPy's {1000 * numpy_alone:.0f} ms")
