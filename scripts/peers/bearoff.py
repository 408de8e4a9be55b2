#!/usr/bin/env python3
"""Compares `adept oracle` with GNU Backgammon: time to solve, values, legal moves. Run by bearoff.sh."""

import argparse
import array
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

POINTS = 6
CHECKERS = 6  # a side, in the table that both programs make
MOST_CHECKERS = 15  # a side, in decisions

# Runs in gnubg's own Python, one process for all decisions. Plies 0 keeps every candidate, as no move filter
# applies; cubeless evaluation also works with a cubeless database installed.
INSIDE_GNUBG = """
import json, os

for setting in (
    "player 0 human", "player 1 human", "automatic game off", "automatic roll off", "automatic move off",
    "automatic bearoff off", "evaluation chequerplay evaluation plies 0",
    "evaluation chequerplay evaluation cubeful off",
):
    gnubg.command("set " + setting)
gnubg.command("new session")
gnubg.command("set turn 1")

answers = []
for own, opponent, dice in json.load(open(os.environ["DECISIONS"])):
    # Opponent's bar, points 1 to 24 with his as negative numbers, own bar.
    board = [0] + own + [0] * 12 + [-n for n in reversed(opponent)] + [0]
    gnubg.command("set board simple " + " ".join(map(str, board)))
    gnubg.command("set dice %d %d" % tuple(dice))
    theirs, ours = gnubg.board()
    state = gnubg.posinfo()
    answers.append({
        "own": ours, "opponent": theirs, "dice": sorted(state["dice"]), "turn": state["turn"],
        "moves": [hint["move"] for hint in gnubg.hint()["hint"]],
    })
with open(os.environ["ANSWERS"], "w") as out:
    json.dump(answers, out)
"""


class Failed(Exception):
    """Something that stops the comparison."""


def run(command, log, **more):
    """(standard output, CPU seconds of the child, wall seconds)"""
    with open(log, "w+") as errors, tempfile.TemporaryFile("w+") as output:
        start = time.perf_counter()
        try:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, **more)
        except OSError as error:
            raise Failed(f"{command[0]}: {error.strerror}") from None
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if child.returncode:
            tail = "".join((errors.readlines() or output.readlines())[-10:])
            raise Failed(f"{' '.join(command)[:200]} ended with status {child.returncode}:\n{tail}")
        return output.read(), usage.ru_utime + usage.ru_stime, wall


def run_json(command, log):
    output, cpu, wall = run(command, log)
    try:
        return json.loads(output), cpu, wall
    except ValueError:
        raise Failed(f"{' '.join(command)[:200]} printed no JSON:\n{output[:500]}") from None


# Positions are six numbers, the checkers on points 1 to 6.


def text(own, opponent):
    return ",".join(map(str, own)) + "/" + ",".join(map(str, opponent))


def parse(position):
    own, opponent = position.split("/")
    return tuple(map(int, own.split(","))), tuple(map(int, opponent.split(",")))


def dice_text(dice):
    return f"{dice[0]}-{dice[1]}"


def random_side(rng, most):
    side = [0] * POINTS
    for _ in range(rng.randint(1, most)):
        side[rng.randrange(POINTS)] += 1
    return side


def uniform_side(rng):
    """Each side of up to six checkers as likely as any other: bars drawn between the checkers."""
    bars = sorted(rng.sample(range(POINTS + CHECKERS), POINTS))
    return [bar - before - 1 for before, bar in zip([-1, *bars], bars)]


# gnubg's two-sided file, read by code of its own.


def index(side):
    """Number of a side: by checkers in all, then by those above point 1, above point 2, …"""
    number = 0
    for below in range(POINTS):
        width = POINTS - below  # points left
        number += math.comb(sum(side[below:]) + width - 1, width)
    return number


class TwoSided:
    """Cubeless equities in a file of makebearoff."""

    HEADER = 40

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        header = data[: self.HEADER]
        start = b"gnubg-TS-%02d-%02d-" % (POINTS, CHECKERS)
        if header[:-25] != start or header[15:16] not in b"01" or header[16:] != b"x" * 23 + b"\n":
            raise Failed(f"{path}: unexpected header {header!r}")
        self.numbers = 4 if header[15:16] == b"1" else 1  # an entry: cubeless first, then three with a cube
        self.sides = math.comb(POINTS + CHECKERS, POINTS)
        self.entries = array.array("H", data[self.HEADER :])
        if sys.byteorder == "big":
            self.entries.byteswap()
        if len(self.entries) != self.sides**2 * self.numbers:
            raise Failed(f"{path}: {len(data)} bytes are not {self.sides}² entries of {self.numbers} numbers")

    def value(self, own, opponent):
        return self.entries[(index(own) * self.sides + index(opponent)) * self.numbers] / 32767.5 - 1


# The three comparisons.


def compare_time(options, scratch):
    """Both make the table of six checkers. gnubg's file stays in scratch for the values."""
    size = f"{POINTS}x{CHECKERS}"
    _, cpu, wall = run([options.makebearoff, "-t", size, "-f", f"{scratch}/gnubg_ts.bd"], f"{scratch}/log")
    ours = []
    for _ in range(options.runs):
        out = f"{scratch}/table"
        build = [options.adept, "oracle", "build", "--checkers", str(CHECKERS), "--out", out, "--json"]
        found, process_cpu, process_wall = run_json(build, f"{scratch}/log")
        if os.path.isdir(out):
            shutil.rmtree(out)
        elif os.path.exists(out):
            os.remove(out)
        parts = found["cpu_seconds"]
        ours.append({
            "solve": parts["moves"] + parts["solve"],
            "process": process_cpu,
            "wall": process_wall,
            "parts": parts,
        })
    median = {key: statistics.median(one[key] for one in ours) for key in ("solve", "process", "wall")}
    return {
        "gnubg_cpu_seconds": cpu,
        "gnubg_wall_seconds": wall,
        "adept_solve_cpu_seconds": median["solve"],
        "adept_process_cpu_seconds": median["process"],
        "adept_process_wall_seconds": median["wall"],
        "runs": ours,
        "ratio": cpu / median["solve"],
        "ratio_of_processes": cpu / median["process"],
    }


def compare_values(options, scratch):
    """All pairs by `adept oracle verify`, and some of them by a reading of the file that shares no code with it."""
    file = f"{scratch}/gnubg_ts.bd"
    verify = [options.adept, "oracle", "verify", "--gnubg", file, "--tolerance", repr(options.tolerance), "--json"]
    verified, _, _ = run_json(verify, f"{scratch}/log")

    table = TwoSided(file)
    rng = random.Random(options.seed)
    pairs = []
    while len(pairs) < options.pairs:
        own, opponent = uniform_side(rng), uniform_side(rng)
        if any(own) and any(opponent):
            pairs.append((own, opponent))
    sum_of_squares = largest = 0.0
    for start in range(0, len(pairs), 500):
        some = pairs[start : start + 500]
        names = [text(*pair) for pair in some]
        answer, _, _ = run_json([options.adept, "oracle", "value", *names, "--json"], f"{scratch}/log")
        values = answer["values"]
        if [value["position"] for value in values] != names:
            raise Failed("adept oracle value answered for other positions than it was asked")
        for pair, value in zip(some, values):
            error = abs(table.value(*pair) - value["value"])
            largest = max(largest, error)
            sum_of_squares += error * error
    return {
        "rows": verified["rows"],
        "rows_expected": (table.sides - 1) ** 2,  # a side with no checkers has ended the game
        "max_abs_error": verified["max_abs_error"],
        "rms_error": verified["rms_error"],
        "sampled": len(pairs),
        "sampled_max_abs_error": largest,
        "sampled_rms_error": math.sqrt(sum_of_squares / max(1, len(pairs))),
    }


def play(side, move):
    """Where a side is after a move in gnubg's words, as in `5/4(2) 3/off`."""
    side = list(side)
    for part in move.split():
        times = 1
        if part.endswith(")"):
            part, times = part[:-1].split("(")
        # `6/4/off` is one checker in two steps.
        stops = part.split("/")
        side[int(stops[0]) - 1] -= int(times)
        if stops[-1] != "off":
            side[int(stops[-1]) - 1] += int(times)
    if min(side) < 0:
        raise Failed(f"gnubg's move {move} takes a checker that is not there")
    return tuple(side)


def gnubg_moves(options, scratch, decisions):
    """For each decision the set of sides that its legal moves lead to."""
    script, asked, answered = (f"{scratch}/{name}" for name in ("inside.py", "decisions.json", "answers.json"))
    with open(script, "w") as file:
        file.write(INSIDE_GNUBG)
    with open(asked, "w") as file:
        json.dump(decisions, file)
    # A preferences folder of its own: neither the user's settings count nor are they touched.
    preferences = f"{scratch}/gnubg"
    os.mkdir(preferences)
    command = [options.gnubg, "-t", "-q", "-r", "-s", preferences, "-p", script]
    output, _, _ = run(command, f"{scratch}/log", env={**os.environ, "DECISIONS": asked, "ANSWERS": answered})
    if not os.path.exists(answered):
        raise Failed("gnubg ended without an answer; is it built with Python?\n" + output[-1000:])
    with open(answered) as file:
        answers = json.load(file)
    sets = []
    for (own, opponent, dice), answer in zip(decisions, answers, strict=True):
        nothing = [0] * (25 - POINTS)
        state = [answer["own"], answer["opponent"], answer["dice"], answer["turn"]]
        if state != [own + nothing, opponent + nothing, sorted(dice), 1]:
            raise Failed(f"gnubg did not take the decision {text(own, opponent)} {dice_text(dice)}: {state}")
        found = [play(own, move) for move in answer["moves"]]
        if len(set(found)) != len(found):
            raise Failed(f"gnubg has a result twice in {text(own, opponent)} {dice_text(dice)}")
        sets.append(set(found))
    return sets


def adept_moves(options, scratch, own, opponent, dice):
    command = [options.adept, "oracle", "moves", text(own, opponent), dice_text(dice), "--legal", "--json"]
    found, _, _ = run_json(command, f"{scratch}/log")
    afterstates = [parse(move["afterstate"]) for move in found["moves"]]
    if any(other != tuple(opponent) for _, other in afterstates):
        raise Failed(f"{' '.join(command)}: a move changes the opponent's side")
    return [side for side, _ in afterstates]


def compare_decisions(options, scratch):
    rng = random.Random(options.seed + 1)
    decisions = [
        (random_side(rng, MOST_CHECKERS), random_side(rng, MOST_CHECKERS), [rng.randint(1, 6), rng.randint(1, 6)])
        for _ in range(options.decisions)
    ]
    different = []
    results = 0
    for decision, theirs in zip(decisions, gnubg_moves(options, scratch, decisions)):
        ours = adept_moves(options, scratch, *decision)
        results += len(theirs)
        # As a list: a result that comes twice is a difference too.
        if sorted(ours) != sorted(theirs):
            own, opponent, dice = decision
            different.append({
                "position": text(own, opponent),
                "dice": dice_text(dice),
                "only_gnubg": sorted(theirs - set(ours)),
                "only_adept": sorted(set(ours) - theirs),
                "twice": len(ours) - len(set(ours)),
            })
    return {"compared": len(decisions), "results": results, "different": len(different), "differences": different}


def report(options, found):
    """Prints the table; the reasons to fail."""
    cost, values, decisions = found["time"], found["values"], found["decisions"]
    spread = [one["solve"] for one in cost["runs"]]
    failures = []

    print(f"{'table of six checkers a side':<34}{'gnubg':>12}{'adept':>12}{'ratio':>10}")
    print(
        f"{'  solving, CPU s':<34}{cost['gnubg_cpu_seconds']:>12.2f}{cost['adept_solve_cpu_seconds']:>12.6f}"
        f"{cost['ratio']:>10,.0f}   adept {min(spread):.6f}–{max(spread):.6f} in {len(spread)} runs"
    )
    print(
        f"{'  whole process, CPU s':<34}{cost['gnubg_cpu_seconds']:>12.2f}{cost['adept_process_cpu_seconds']:>12.6f}"
        f"{cost['ratio_of_processes']:>10,.0f}"
    )
    print(
        f"{'  whole process, wall s':<34}{cost['gnubg_wall_seconds']:>12.2f}{cost['adept_process_wall_seconds']:>12.6f}"
        f"{cost['gnubg_wall_seconds'] / cost['adept_process_wall_seconds']:>10,.0f}"
    )
    if cost["ratio"] < options.at_least:
        failures.append(f"the ratio {cost['ratio']:,.0f} is below {options.at_least:,.0f}")

    print(f"\n{'equities in gnubg’s file':<34}{'compared':>12}{'max error':>12}{'rms':>10}")
    for name, rows, largest, rms in (
        ("  by `adept oracle verify`", values["rows"], values["max_abs_error"], values["rms_error"]),
        ("  by Python, random pairs", values["sampled"], values["sampled_max_abs_error"], values["sampled_rms_error"]),
    ):
        print(f"{name:<34}{rows:>12,}{largest:>12.2e}{rms:>10.1e}")
        if not largest <= options.tolerance:  # also catches NaN
            failures.append(f"a value is {largest:.2e} off, more than {options.tolerance:g}")
    if values["rows"] != values["rows_expected"]:
        failures.append(f"{values['rows']:,} pairs compared instead of {values['rows_expected']:,}")

    print(f"\n{'legal moves':<34}{'decisions':>12}{'results':>12}{'different':>10}")
    print(
        f"{'  up to 15 checkers a side':<34}{decisions['compared']:>12,}{decisions['results']:>12,}"
        f"{decisions['different']:>10,}"
    )
    if decisions["different"]:
        failures.append(f"{decisions['different']} decisions have other legal moves")
        for one in decisions["differences"][:5]:
            print(
                f"    {one['position']} {one['dice']}: only gnubg {one['only_gnubg']},"
                f" only adept {one['only_adept']}, {one['twice']} twice"
            )
    print(
        "\nSolving is all of makebearoff against the moves and the solving of adept; makebearoff also writes its"
        "\nfile and solves three equities with a cube (without them, option -C, it takes as long to a few percent)."
    )
    return failures


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adept", required=True, help="the program to compare")
    parser.add_argument("--gnubg", default="gnubg")
    parser.add_argument("--makebearoff", default="makebearoff")
    parser.add_argument("--json", metavar="FILE", help="also write the figures there")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--at-least", type=float, default=2000)
    parser.add_argument("--tolerance", type=float, default=2e-4)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--decisions", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.runs < 1 or options.pairs < 0 or options.decisions < 0:
        parser.error("at least one run, and no negative numbers")
    return options


def run_all(options, programs, measure, report):
    """Measures in a scratch folder, prints and writes what was found; the exit status."""
    for program in programs:
        if not shutil.which(program):
            print(f"no program {program}", file=sys.stderr)
            return 2
    with tempfile.TemporaryDirectory() as scratch:
        try:
            found = measure(options, scratch)
        except Failed as failed:
            print(failed, file=sys.stderr)
            return 1
        except KeyError as missing:
            print(f"the JSON of {options.adept} has no {missing}", file=sys.stderr)
            return 1
    failures = report(options, found)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({**found, "failures": failures}, file, indent=1)
            file.write("\n")
    for failure in failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    return 1 if failures else 0


def compare(options, scratch):
    found = {}
    for name, compared in (("time", compare_time), ("values", compare_values), ("decisions", compare_decisions)):
        print(f"{name} …", file=sys.stderr)
        found[name] = compared(options, scratch)
    return found


def main():
    options = arguments()
    return run_all(options, (options.adept, options.gnubg, options.makebearoff), compare, report)


if __name__ == "__main__":
    sys.exit(main())
