#!/usr/bin/env python3
"""Measures what MPI costs and what a second rank brings on one machine: learning in large batches, and self-play of the bear-off.

usage: scaling.py PROGRAM [--rounds N] [--only learning|self-play]

PROGRAM is built with `--features mpi`, by the release profile. Needs mpirun and two idle cores. Each round runs, in turn:

- one process without MPI;
- one rank of one thread;
- two ranks of one thread each;
- two separate processes at once, without MPI, each with the whole work: what the cores can do together, whoever uses them.

Rates are samples a second, from the times of learning alone in run.json. Prints medians and quartiles.
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from check import finish, start

LAUNCH = ["mpirun", "--oversubscribe", "--bind-to", "core", "--mca", "btl", "self,vader"]

WORKS = {
    "learning": """
[game]
rules   = "bearoff"
encoder = "race+distribution:27+counts+haste:27+simple"   # 200 inputs

[architecture.mlp]
hidden     = [256]
activation = "silu"
init       = "fan_in"

[learn]
batch     = 8192
shards    = 4
optimiser = "adam"
rate      = 0.001

[learn.supervised]
samples = 16_384_000

[evaluate]
every = 16_384_000
""",
    "self-play": """
[game]
rules   = "bearoff"
encoder = "race+distribution:16+counts+haste:16+simple"   # 156 inputs

[architecture.mlp]
hidden     = [64]
activation = "silu"
init       = "fan_in"

[learn]
batch     = 512
shards    = 4
optimiser = "adam"
rate      = 0.001

[learn.td]
games   = 1_000_000
lambda  = 0.3
workers = 4
overlap = true

[evaluate]
every = 1_000_000
""",
}


def rate(out):
    """Samples a second of a finished run."""
    record = json.loads((out / "run.json").read_text())
    assert record["finished"], f"{out} is not finished"
    timing = record["timing"]
    return timing["samples"] / (timing["learning"] + timing["waiting"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=WORKS)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as desk:
        desk = Path(desk)
        for name, text in WORKS.items():
            if args.only not in (None, name):
                continue
            config = desk / f"{name}.toml"
            config.write_text(f"name = \"{name}\"\n{text}")
            rates = {"without MPI": [], "one rank": [], "two ranks": [], "two processes": []}
            for number in range(args.rounds):
                def train(out):
                    return [args.program, "train", str(config), "--threads", "1", "--json", "--out", str(desk / name / out)]
                for ranks, kind in ((0, "without MPI"), (1, "one rank"), (2, "two ranks")):
                    out = f"{number}-{ranks}"
                    launch = [*LAUNCH, "-n", str(ranks)] if ranks else ["taskset", "-c", "0"]
                    finish(start([*launch, *train(out)]))
                    rates[kind].append(rate(desk / name / out))
                both = [f"{number}-{core}-alone" for core in (0, 1)]
                for process in [start(["taskset", "-c", str(core), *train(out)]) for core, out in enumerate(both)]:
                    finish(process)
                rates["two processes"].append(sum(rate(desk / name / out) for out in both))
                print(f"{name} {number + 1} of {args.rounds}: "
                      + ", ".join(f"{kind} {found[-1]:,.0f}" for kind, found in rates.items()), file=sys.stderr, flush=True)
            print(f"{name}, samples a second, median of {args.rounds}")
            for kind, found in rates.items():
                ratios = [one / alone for one, alone in zip(found, rates["one rank"])]
                low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
                print(f"  {kind:14} {statistics.median(found):11,.0f}  {middle:.2f} times one rank "
                      f"(quartiles {low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()
