#!/usr/bin/env python3
"""Runs adept on several ranks of MPI: the same bits on any number of ranks, also after kills and signals.

usage: check.py PROGRAM [--part bits|tables|jobs|endings|kills] [--kills N] [--seed N]

PROGRAM is built with `--features mpi`, by the release profile. Needs mpirun. Writes to a temporary folder.
"""

import argparse
import contextlib
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
# One machine may have fewer cores than ranks.
LAUNCH = ["mpirun", "--oversubscribe", "--mca", "btl", "self,vader"]
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

WORKERS = ["learn.batch=64", "learn.td.workers=5"]
BURN = ["learn.engine=burn", "learn.optimiser=adam"]
# Name, config, settings: every game and method, both engines, shards that ranks divide evenly and not.
RUNS = [
    ("tic-tac-toe", "tictactoe/single-40.toml", ["learn.shards=4", "learn.batch=64", "learn.td.games=3000"]),
    ("tic-tac-toe, workers, overlap", "tictactoe/single-40.toml",
     [*WORKERS, "learn.shards=5", "learn.td.overlap=true", "learn.td.games=3000"]),
    ("tic-tac-toe, HME, burn", "tictactoe/hme-2x40.toml", [*WORKERS, *BURN, "learn.shards=4", "learn.td.games=960"]),
    ("tic-tac-toe, table", "tictactoe/lookup.toml", ["learn.td.games=2000"]),
    ("bear-off, TD", "bearoff/table2-td-simple.toml",
     [*WORKERS, "game.rules=bearoff:6", "learn.shards=3", "learn.td.overlap=true", "learn.td.games=6400"]),
    # Its rows have no indices: ranks exchange nothing of these at checkpoints.
    ("bear-off, dense inputs alone", "bearoff/table2-td-simple.toml",
     [*WORKERS, "game.rules=bearoff:6", "game.encoder=race+distribution:16", "learn.shards=4", "learn.td.overlap=true",
      "learn.td.games=6400", "checkpoints.every=1600"]),
    ("bear-off, expectation, SOAP", "bearoff/plain-64-32-no-oracle.toml",
     ["game.rules=bearoff:6", "learn.shards=4", "learn.expectation.samples=30000", "evaluate.every=15000"]),
    ("bear-off, HME", "bearoff/hme-4x16.toml",
     ["game.rules=bearoff:6", "learn.shards=3", "learn.supervised.samples=60000", "evaluate.every=30000"]),
    ("bear-off, learned cells", "bearoff/cells-16x8.toml",
     ["game.rules=bearoff:6", "learn.shards=4", "learn.supervised.samples=30000", "evaluate.every=15000"]),
    ("bear-off, burn", "bearoff/plain-96.toml",
     [*BURN, "game.rules=bearoff:6", "learn.shards=4", "learn.supervised.samples=30000", "evaluate.every=15000"]),
    ("liar's dice, HME", "liars-dice/soar-hme.toml",
     [*WORKERS, "learn.shards=4", "learn.td.games=1000", "evaluate.every=500", "evaluate.games=50"]),
    ("liar's dice, burn", "liars-dice/soar-hme.toml",
     [*WORKERS, *BURN, "learn.shards=4", "learn.td.games=640", "evaluate.every=640", "evaluate.games=50"]),
    ("liar's dice, regrets", "liars-dice/regrets-2v2-f3.toml",
     ["learn.shards=4", "learn.regrets.iterations=4", "evaluate.every=2"]),
    ("hold'em", "holdem/limit-2.toml",
     [*WORKERS, "learn.shards=4", "learn.td.games=1000", "evaluate.every=500", "evaluate.games=100"]),
    ("hold'em, burn", "holdem/limit-2.toml",
     [*WORKERS, *BURN, "learn.shards=5", "learn.td.games=640", "evaluate.every=640", "evaluate.games=100"]),
]
# A run that lasts some seconds, with a checkpoint every tenth of one.
LONG = ("tictactoe/single-40.toml",
        [*WORKERS, "learn.shards=4", "learn.td.overlap=true", "learn.td.games=60000", "evaluate.every=20000",
         "checkpoints.every=2000"])


def command(program, ranks, config, settings, out, *more):
    """The command of a run on this many ranks; without mpirun for 0."""
    launch = [*LAUNCH, "-n", str(ranks)] if ranks else []
    sets = [part for setting in settings for part in ("--set", setting)]
    return [*launch, program, "train", str(CONFIGS / config), *sets, "--out", str(out), "--json", *more]


def start(command):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env={**os.environ, **ROOT}, start_new_session=True)


def run(command):
    return finish(start(command), timeout=600)


def finish(process, timeout=None):
    said, _ = process.communicate(timeout=timeout)
    if process.returncode != 0:
        sys.exit(f"{' '.join(process.args)}\n{said}\nfailed with {process.returncode}")
    return said


def digest(run):
    """The bits of a run: its last checkpoint, and its measurements without their times."""
    record = json.loads((run / "run.json").read_text())
    assert record["finished"], f"{run} is not finished"
    found = hashlib.sha256()
    latest = run / "checkpoints" / record["latest"]
    tensors = sorted(latest.glob("*.safetensors"))
    assert tensors, f"{latest} has no tensors"
    for path in tensors:
        found.update(path.read_bytes())
    for line in (run / "metrics.jsonl").read_text().splitlines():
        measured = json.loads(line)
        measured.pop("seconds")
        found.update(json.dumps(measured).encode())
    return found.hexdigest()[:16]


def same_bits(program, desk):
    for name, config, settings in RUNS:
        one = desk / "alone"
        run(command(program, 0, config, settings, one, "--threads", "1"))
        bits = digest(one)
        two = desk / "threads"
        run(command(program, 0, config, settings, two, "--threads", "3"))
        assert digest(two) == bits, f"{name}: three threads give other bits than one"
        for ranks in (1, 2, 3, 4):
            out = desk / f"{ranks}"
            run(command(program, ranks, config, settings, out))
            assert digest(out) == bits, f"{name}: {ranks} ranks give other bits than one process"
        print(f"{name}: 1, 2, 3, 4 ranks, with and without MPI: {bits}", flush=True)
        for path in desk.iterdir():
            subprocess.run(["rm", "-rf", str(path)], check=True)


def ranks_of(process):
    """The processes that mpirun has started."""
    listed = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True)
    return [int(pid) for pid in listed.stdout.split()]


def when_learning(process, ranks, out, before, pause):
    """Waits until a run has gone on from its checkpoint `before`, and a little longer. False if it has ended."""
    while latest_of(out) == before or len(ranks_of(process)) < ranks:
        if process.poll() is not None:
            return False
        time.sleep(0.01)
    time.sleep(pause)
    return process.poll() is None


def latest_of(out):
    try:
        return json.loads((out / "run.json").read_text())["latest"]
    except (OSError, ValueError):
        return None


def interrupted(program, desk, draw, times, send):
    """A run that is interrupted this many times, each time on another number of ranks. Returns what was said each time."""
    out, said = desk / "interrupted", []
    subprocess.run(["rm", "-rf", str(out)], check=True)
    while len(said) < times:
        ranks = draw.choice((2, 3, 4))
        process = start(command(program, ranks, *LONG, out, "--resume"))
        if not when_learning(process, ranks, out, latest_of(out), draw.uniform(0, 0.3)):
            # It was faster than the signal: begin again.
            process.communicate()
            subprocess.run(["rm", "-rf", str(out)], check=True)
            continue
        began = time.monotonic()
        send(process, draw)
        heard = process.communicate(timeout=60)[0]
        took = time.monotonic() - began
        if json.loads((out / "run.json").read_text())["finished"]:
            # It had ended before the signal came.
            subprocess.run(["rm", "-rf", str(out)], check=True)
            continue
        said.append(heard)
        assert process.returncode != 0, "an interrupted run ended as if nothing had happened"
        assert took < 20, f"the other ranks ended after {took:.0f} s"
        left = subprocess.run(["pgrep", "-f", str(out)], capture_output=True, text=True).stdout.split()
        assert not left, f"processes are left: {left}"
    run(command(program, draw.choice((0, 1, 2, 3)), *LONG, out, "--resume"))
    return digest(out), said


def send_to(pids, number):
    """Sends a signal to processes that may have ended."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def kill(process, draw):
    # The ranks may have ended while mpirun has not.
    ranks = ranks_of(process)
    send_to(draw.sample(ranks, min(1, len(ranks))), signal.SIGKILL)


def terminate(process, draw):
    # As srun does at the time limit: every task gets the signal.
    send_to(ranks_of(process), signal.SIGTERM)


SWEEP = ["sweep", str(CONFIGS / "tictactoe/single-40.toml"), "--set", "learn.rate=0.005,0.01,0.02", "--set",
         "learn.td.games=400000", "--set", "evaluate.every=200000", "--seeds", "2"]
ARENA = ["arena", str(CONFIGS / "liars-dice/arena/soar-two.toml"), "--set", "games=200"]


def results(out):
    """What a sweep or a tournament has found, without times and folders."""
    def plain(value):
        if isinstance(value, dict):
            times = ("seconds", "games_per_second", "samples_per_second", "learning", "waiting")
            return {key: plain(value) for key, value in value.items() if key not in times}
        return [plain(one) for one in value] if isinstance(value, list) else value
    if (out / "arena.json").exists():
        return plain(json.loads((out / "arena.json").read_text()))
    return {path.name: digest(path) for path in sorted(out.iterdir()) if path.is_dir()}


def jobs(program, desk, draw):
    """Sweeps and tournaments find the same on several ranks, also if one of them is killed."""
    for name, job in (("sweep", SWEEP), ("arena", ARENA)):
        one = desk / f"{name}-alone"
        run([program, *job, "--out", str(one), "--json"])
        several = desk / f"{name}-ranks"
        run([*LAUNCH, "-n", "3", program, *job, "--threads", "1", "--out", str(several), "--json"])
        assert results(one) == results(several), f"{name}: three ranks find something else than one process"
        print(f"{name}: 3 ranks find the same as one process", flush=True)
    def with_signal(name, pick, number):
        """A sweep of which a rank gets a signal; what was said. The first rank, the parent's eldest child, has the list of jobs."""
        out = desk / name
        process = start([*LAUNCH, "--enable-recovery", "-n", "3", program, *SWEEP, "--threads", "1", "--out", str(out)])
        while len(list(out.glob("*/run.json"))) < 3:
            assert process.poll() is None, process.communicate()[0]
            time.sleep(0.01)
        os.kill(pick(sorted(ranks_of(process))[1:]), number)
        said, _ = process.communicate(timeout=120)
        # With --enable-recovery mpirun returns 0 whatever happens: the results count.
        assert results(desk / "sweep-alone") == results(out), f"{name}: another result than of one process:\n{said}"
        return said

    said = with_signal("sweep-killed", draw.choice, signal.SIGKILL)
    assert "its jobs are done again" in said, f"nobody says that a rank was lost:\n{said}"
    print("sweep: a killed rank costs its jobs, which are done again", flush=True)
    # A rank that is asked to stop leaves its jobs to the others.
    with_signal("sweep-left", max, signal.SIGTERM)
    print("sweep: a rank that is asked to stop leaves its jobs to others", flush=True)


def endings(program, desk):
    """Faults are said once, and nobody waits for a rank that has ended."""
    config = str(CONFIGS / "tictactoe/single-40.toml")
    for command, words in (
        (["train", "nosuch.toml"], "nosuch.toml"),
        (["train", config, "--set", "learn.shards=0"], "learn.shards"),
        (["sweep", "nosuch.toml"], "nosuch.toml"),
        (["oracle", "build", "--checkers", "3", "--out", "/proc/none"], "/proc"),
    ):
        process = start([*LAUNCH, "-n", "3", program, *command])
        said, _ = process.communicate(timeout=60)
        errors = [line for line in said.splitlines() if line.startswith("error")]
        assert process.returncode != 0 and len(errors) == 1 and words in errors[0], f"{command}:\n{said}"
    # The reader of the first rank's output is gone.
    train = f"trap '' PIPE; exec {program} train {config} --set learn.shards=2 --set learn.batch=8 " \
            f"--set learn.td.games=500 --out {desk}/pipe"
    process = start([*LAUNCH, "-n", "2", "sh", "-c", f"{train} | true"])
    process.communicate(timeout=60)
    print("faults are said once, and a closed pipe holds nobody up", flush=True)


def tables(program, desk):
    """An exact table that is spread over ranks has the bytes of one that is not."""
    def build(ranks, out):
        launch = [*LAUNCH, "-n", str(ranks)] if ranks else []
        return run([*launch, program, "oracle", "build", "--checkers", "10", "--threads", "1", "--out", str(out)])
    build(0, desk / "one.table")
    for ranks in (2, 3, 4):
        build(ranks, desk / "several.table")
        subprocess.run(["cmp", desk / "one.table", desk / "several.table"], check=True)
    print("bear-off of 10 checkers over 2, 3, 4 ranks: the same bytes as on one", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", choices=("bits", "tables", "jobs", "endings", "kills"), help="only this part")
    args = parser.parse_args()
    draw = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as desk:
        desk = Path(desk)
        if args.part in (None, "bits"):
            same_bits(args.program, desk)
        if args.part in (None, "tables"):
            tables(args.program, desk)
        if args.part in (None, "jobs"):
            jobs(args.program, desk, draw)
        if args.part in (None, "endings"):
            endings(args.program, desk)
        if args.part not in (None, "kills"):
            return
        whole = desk / "whole"
        run(command(args.program, 0, *LONG, whole))
        bits = digest(whole)
        for number in range(args.kills):
            found, said = interrupted(args.program, desk, draw, 1, kill)
            assert found == bits, "a run whose rank was killed goes on to other bits"
            assert any("ended without a word" in text for text in said), f"nobody says what has happened:\n{said}"
            print(f"kill {number + 1} of {args.kills}: the same bits", flush=True)
        found, said = interrupted(args.program, desk, draw, 2, terminate)
        assert found == bits, "a run that was terminated goes on to other bits"
        assert all("stopped before the end" in text for text in said), f"not a word of the stop:\n{said}"
        print("SIGTERM, twice: the same bits", flush=True)


if __name__ == "__main__":
    main()
