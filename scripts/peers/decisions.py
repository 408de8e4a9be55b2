#!/usr/bin/env python3
"""Compares checkpoints with GNU Backgammon's evaluators of the bear-off. Run by decisions.sh."""

import argparse
import csv
import json
import os
import socket
import subprocess
import sys
import time

from backgammon_moves import free_port
from bearoff import POINTS, Failed, run_all, run_json

COLUMNS = [f"{side}{point}" for side in ("own", "opp") for point in range(1, POINTS + 1)] + ["value"]
ROLLS = [(a, b) for a in range(1, 7) for b in range(1, a + 1)]
CHECKERS = 15  # a side, borne off or not
TICKS = os.sysconf("SC_CLK_TCK")

# What gnubg calls the ways in which it values a position.
TWO_SIDED, ONE_SIDED, RACE = 4, 6, 8
WAYS = {TWO_SIDED: "two-sided file of six checkers", ONE_SIDED: "one-sided database", RACE: "race network"}

# Runs of gnubg: what it is told, how it may value positions, the RMS error of V on `table` that is known of it.
RUNS = {
    "gnubg-network": (["-b"], {RACE}, 0.0203),
    "gnubg-database": ([], {TWO_SIDED, ONE_SIDED}, 0.0017),
}

# Runs in gnubg's own Python: says how it will value the positions, then waits for questions. Its function `evaluate`
# would give the same values, but waits 10 ms for each.
INSIDE_GNUBG = """
import json, os

nothing = [0] * 19
with open(os.environ["POSITIONS"]) as file:
    positions = json.load(file)
ways = {}
for own, opponent in positions:
    way = gnubg.classifypos((tuple(opponent + nothing), tuple(own + nothing)), 0)
    ways[way] = ways.get(way, 0) + 1
with open(os.environ["WAYS"], "w") as file:
    json.dump(ways, file)
gnubg.command("external 127.0.0.1:" + os.environ["PORT"])
"""

# Positions are two sides of six numbers, the checkers on points 1 to 6; `own` is to roll.


def move(side, die):
    """The sides that one die may lead to, with all checkers on points 1 to 6."""
    highest = max(point for point in range(1, POINTS + 1) if side[point - 1])
    for point in range(1, POINTS + 1):
        # A die that is too high for every checker takes off the one that is farthest away.
        if side[point - 1] and (point >= die or point == highest):
            after = list(side)
            after[point - 1] -= 1
            if point > die:
                after[point - die - 1] += 1
            yield tuple(after)


def afterstates(side, roll):
    """The sides that a roll may lead to. A die can always be played while there is a checker, so all are."""
    first, second = roll
    orders = [[first] * 4] if first == second else [[first, second], [second, first]]
    found = set()
    for dice in orders:
        sides = {side}
        for die in dice:
            sides = {after for before in sides for after in (move(before, die) if any(before) else [before])}
        found |= sides
    return found


def needed(positions):
    """The positions and all that an unforced decision leads to, each once, without those where somebody has won."""
    all_after = {}  # a side comes in several positions
    found = dict.fromkeys(positions)
    for own, opponent in positions:
        if own not in all_after:
            decisions = [afterstates(own, roll) for roll in ROLLS]
            all_after[own] = set().union(*(sides for sides in decisions if len(sides) > 1))
        found.update(dict.fromkeys((opponent, after) for after in all_after[own] if any(after)))
    return list(found)


def read_positions(path):
    with open(path, newline="") as file:
        rows = csv.reader(file)
        if next(rows) != COLUMNS:
            raise Failed(f"{path}: unexpected columns")
        read = [tuple(int(n) for n in row[:-1]) for row in rows]
    return [(row[:POINTS], row[POINTS:]) for row in read]


def question(own, opponent):
    """Asks gnubg for its static evaluation without a cube: a board in the words of FIBS, for money."""
    bar, outside = [0], [0] * 12
    points = bar + list(own) + outside + [-n for n in reversed(opponent)] + bar
    # Names, match length (money), scores; then the side to roll, dice, cube, who may double, colour, direction, home
    # and bar, checkers off, and what does not matter here.
    off = [CHECKERS - sum(own), CHECKERS - sum(opponent)]
    numbers = [0, 0, 0, *points, 1, 0, 0, 0, 0, 1, 1, 1, 0, 1, -1, 0, 25, *off, 0, 0, 0, 0, 0, 0]
    return f"evaluation fibsboard board:own:opponent:{':'.join(map(str, numbers))} plies 0 cubeless\n".encode()


class Gnubg:
    """A running gnubg that answers questions."""

    def __init__(self, options, scratch, name, positions):
        self.log = f"{scratch}/{name}.log"
        script, asked, self.ways = (f"{scratch}/{name}{end}" for end in (".py", ".json", "-ways.json"))
        with open(script, "w") as file:
            file.write(INSIDE_GNUBG)
        with open(asked, "w") as file:
            json.dump(positions, file)
        # A preferences folder of its own: neither the user's settings count nor are they touched.
        preferences = f"{scratch}/{name}"
        os.mkdir(preferences)
        self.port = free_port()
        command = [options.gnubg, "-t", "-q", "-r", *RUNS[name][0], "-s", preferences, "-p", script]
        environment = {**os.environ, "POSITIONS": asked, "WAYS": self.ways, "PORT": str(self.port)}
        with open(self.log, "w") as log:
            self.child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=environment
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # It would wait for the next one to ask.
        self.child.kill()
        self.child.wait()

    def fail(self, what):
        with open(self.log) as log:
            raise Failed(f"{what}; is gnubg built with Python and sockets?\n{log.read()[-2000:]}")

    def connect(self):
        """Waits until it listens; how many positions it will value in which way."""
        while True:
            try:
                self.connection = socket.create_connection(("127.0.0.1", self.port), timeout=60)
                break
            except ConnectionRefusedError:
                if self.child.poll() is not None:
                    self.fail("gnubg ended before it listened")
                time.sleep(0.05)
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers = self.connection.makefile("rb")
        with open(self.ways) as file:
            return {int(way): count for way, count in json.load(file).items()}

    def cpu_seconds(self):
        """In user mode and in the system's."""
        with open(f"/proc/{self.child.pid}/stat") as file:
            user, system = file.read().rpartition(")")[2].split()[11:13]
        return int(user) / TICKS, int(system) / TICKS

    def ask(self, questions):
        """(answers, seconds that it took: wall, and CPU of gnubg in user mode and in all)"""
        found = []
        (user, system), wall = self.cpu_seconds(), time.perf_counter()
        for text in questions:
            # One at a time: gnubg drops what comes behind a line.
            self.connection.sendall(text)
            found.append(self.answers.readline())
        wall = time.perf_counter() - wall
        now_user, now_system = self.cpu_seconds()
        user, system = now_user - user, now_system - system
        return found, {"wall_seconds": wall, "user_seconds": user, "cpu_seconds": user + system}


def value_by_gnubg(options, scratch, name, positions):
    """Asks gnubg: (the file of its values, what there is to say of the run)."""
    questions = [question(*position) for position in positions]
    with Gnubg(options, scratch, name, positions) as gnubg:
        ways = gnubg.connect()
        try:
            answers, seconds = gnubg.ask(questions)
        except OSError as error:
            gnubg.fail(f"gnubg gave no answer: {error}")
    values = f"{scratch}/{name}.csv"
    with open(values, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        for (own, opponent), answer in zip(positions, answers, strict=True):
            try:
                win, *gammons, equity = map(float, answer.split())
            except ValueError:
                raise Failed(f"gnubg on {own} {opponent}: {answer!r}") from None
            # Everybody has borne off a checker: to win and to lose is all there is.
            if len(gammons) != 4 or any(gammons) or abs(equity - (2 * win - 1)) > 3e-6:
                raise Failed(f"gnubg on {own} {opponent}: unexpected values {answer!r}")
            out.writerow([*own, *opponent, equity])
    return values, {"ways": ways, "evaluations": len(answers), **seconds}


def compare(options, scratch):
    """Values by gnubg, then all figures by `adept evaluate`, for each checkpoint."""
    log, positions = f"{scratch}/log", f"{scratch}/positions.csv"
    sample = [options.adept, "oracle", "sample", "--distribution", options.distribution, "--count", str(options.positions)]
    run_json([*sample, "--seed", str(options.seed), "--out", positions, "--json"], log)
    wanted = needed(read_positions(positions))
    runs, peers = {}, []
    for name in RUNS:
        print(f"{name} …", file=sys.stderr)
        values, runs[name] = value_by_gnubg(options, scratch, name, wanted)
        peers += ["--peer", f"{name}={values}"]
    checkpoints = {}
    for checkpoint in options.checkpoints:
        print(f"{checkpoint} …", file=sys.stderr)
        evaluate = [options.adept, "evaluate", checkpoint, "--decisions", positions, *peers, "--json"]
        found, _, _ = run_json(evaluate, log)
        checkpoints[checkpoint] = found["decisions"]
    return {"gnubg": runs, "checkpoints": checkpoints}


def report(options, found):
    """Prints the tables; the reasons to fail."""
    failures = []
    print(f"{'gnubg':<18}{'evaluations':>12}{'wall s':>9}{'CPU s':>9}{'user s':>9}{'a second':>11}   valued by")
    for name, one in found["gnubg"].items():
        ways = ", ".join(f"{WAYS.get(way, way)} {count:,}" for way, count in sorted(one["ways"].items()))
        times = "".join(f"{one[key]:>9.2f}" for key in ("wall_seconds", "cpu_seconds", "user_seconds"))
        rate = one["evaluations"] / max(one["user_seconds"], 1 / TICKS)
        print(f"{name:<18}{one['evaluations']:>12,}{times}{rate:>11,.0f}   {ways}")
        if not set(one["ways"]) <= RUNS[name][1]:
            failures.append(f"{name} valued positions by something else: {ways}")

    print(
        "time in which gnubg answers questions over a socket, one by one, to six digits; a second: of its time in user"
        "\nmode, which leaves the socket out and reading the question in"
    )

    first, *_ = found["checkpoints"].values()
    others = [row for row in first["rows"] if row["name"] != "checkpoint"]
    rows = [
        {**row, "name": checkpoint}
        for checkpoint, one in found["checkpoints"].items()
        for row in one["rows"]
        if row["name"] == "checkpoint"
    ] + others
    width = max(34, *(len(row["name"]) + 2 for row in rows))
    print(f"\n{'values by':<{width}}{'RMS error of V':>16}{'lost a decision':>18}{'wrong':>10}")
    for row in rows:
        print(
            f"{row['name']:<{width}}{row['rms']:>16.5f}{row['loss_per_decision']:>18.2e}"
            f"{100 * row['wrong_share']:>8.3f} %"
        )
    print(f"{first['positions']:,} positions with all rolls: {first['decisions']:,} unforced decisions")

    for row in others:
        if row["name"] in RUNS and options.distribution == "table":
            _, _, known = RUNS[row["name"]]
            # Draws differ, evaluators more.
            if not known / 2 <= row["rms"] <= known * 2:
                failures.append(f"{row['name']}: the RMS error is {row['rms']:.5f}, known is {known}")
    return failures


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoints", nargs="+", metavar="CHECKPOINT", help="checkpoint or run folder")
    parser.add_argument("--adept", required=True, help="the program that measures")
    parser.add_argument("--gnubg", default="gnubg")
    parser.add_argument("--json", metavar="FILE", help="also write the figures there")
    parser.add_argument("--positions", type=int, default=2000)
    parser.add_argument("--distribution", default="table")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.positions < 1:
        parser.error("at least one position")
    return options


def main():
    options = arguments()
    return run_all(options, (options.adept, options.gnubg), compare, report)


if __name__ == "__main__":
    sys.exit(main())
