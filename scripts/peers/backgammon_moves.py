"""Compares the legal moves of backgammon with GNU Backgammon's, along random games.

    python3 scripts/peers/backgammon_moves.py ADEPT CHECKPOINT [--games 40] [--turns 60] [--seed 1]

ADEPT is the program, CHECKPOINT any network of `backgammon` (its values play no role). Each decision is asked of `adept value` and of
`hint` in gnubg at 0 ply, which lists all moves; both answers are turned into boards here. Prints the decisions by kind, and every
decision whose boards differ. Needs `gnubg` on the path, or at /usr/games/gnubg.
"""

import argparse
import collections
import json
import random
import re
import shutil
import socket
import subprocess

START = "24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5"
NAMES = {"bar": 25, "off": 0}
PROGRAM = shutil.which("gnubg") or "/usr/games/gnubg"


def place_of(text):
    return NAMES[text] if text in NAMES else int(text)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as door:
        return door.getsockname()[1]


def side(text):
    """Checkers by place: 0 off, 1 to 24, 25 the bar."""
    counts = [0] * 26
    for word in text.split():
        place, count = word.split(":")
        counts[place_of(place)] = int(count)
    return tuple(counts)


def board(text):
    own, opponent = text.split("/")
    return side(own), side(opponent)


def xgid(position, roll):
    """The board with the side to roll in capital letters."""
    own, opponent = board(position)
    signs = ["-"] * 26
    for place in range(1, 26):
        if own[place]:
            signs[place] = chr(ord("A") + own[place] - 1)
        if opponent[place]:
            signs[25 - place] = chr(ord("a") + opponent[place] - 1)
    return f"XGID={''.join(signs)}:0:0:1:{roll}:0:0:0:0:10"


def after(position, move):
    """The board after a move as gnubg writes it: `bar/22 8/4*(2)`."""
    own, opponent = map(list, board(position))
    for word in move.split():
        word, times = re.fullmatch(r"([^(]+)(?:\((\d)\))?", word).groups()
        stops = [(place_of(s.rstrip("*")), "*" in s) for s in word.split("/")]
        for _ in range(int(times or 1)):
            own[stops[0][0]] -= 1
            own[stops[-1][0]] += 1
        for place, hits in stops[1:]:
            if hits:
                opponent[25 - place] -= 1
                opponent[25] += 1
    return tuple(own), tuple(opponent)


def adept(program, checkpoint, decisions):
    """The position after each move, seen by the side that moved, and as text with the other side to roll."""
    texts = [f"{position} {roll}" for position, roll in decisions]
    out = subprocess.run([program, "value", checkpoint, *texts, "--json"], capture_output=True, text=True, check=True)
    return [[move["afterstate"] for move in value["moves"]] for value in json.loads(out.stdout)["values"]]


def gnubg(decisions):
    """The moves that gnubg lists for each decision, best first, with what each loses; empty if nothing can move."""
    lines = ["set player 0 human", "set player 1 human", "set automatic roll off", "set automatic game off", "set automatic move off"]
    settings = ("plies 0", "noise 0", "cubeful off", "prune off")
    lines += [f"set evaluation chequerplay evaluation {setting}" for setting in settings]
    for position, roll in decisions:
        lines += [f"set xgid {xgid(position, roll)}", "hint 999"]
    out = subprocess.run([PROGRAM, "-t", "-q"], input="\n".join(lines) + "\n", capture_output=True, text=True)
    found = [[] for _ in decisions]
    number = -1
    for line in out.stdout.splitlines():
        # Each new position comes with dice.
        if "The dice have been set to" in line:
            number += 1
        elif move := re.match(r"\s*\d+\. \S.*?-ply\s+(.+?)\s+(?:Eq\.|MWC):\s*\S+(?: \((\S+)\))?", line):
            found[number].append((move.group(1), -float(move.group(2) or 0)))
    return found


def kinds(position, roll):
    own, opponent = board(position)
    yield "all"
    if roll[0] == roll[1]:
        yield "doubles"
    if own[25]:
        yield "from the bar"
    if not any(own[7:]):
        yield "bearing off"
    if max(p for p in range(26) if own[p] or not p) + max(p for p in range(26) if opponent[p] or not p) <= 24:
        yield "without contact"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("adept")
    parser.add_argument("checkpoint")
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    draw = random.Random(args.seed)
    positions = [START] * args.games
    count, moves, differ = collections.Counter(), 0, 0
    for turn in range(args.turns):
        decisions = [(p, "".join(map(str, sorted(draw.choices(range(1, 7), k=2), reverse=True)))) for p in positions]
        ours, theirs = adept(args.adept, args.checkpoint, decisions), gnubg(decisions)
        for k, ((position, roll), listed, hints) in enumerate(zip(decisions, ours, theirs)):
            # The afterstate has the other side first.
            own = {tuple(reversed(board(text))) for text in listed}
            other = {after(position, move) for move, _ in hints} or {board(position)}
            moves += len(own)
            count.update(kinds(position, roll))
            if own == {board(position)}:
                count["nothing can move"] += 1
            if own != other:
                differ += 1
                print(f"{position} {roll}: {len(own)} here, {len(other)} there")
            positions[k] = draw.choice(listed)
            if "off:15" in positions[k]:
                positions[k] = START
    print(", ".join(f"{name} {n}" for name, n in count.items()) + f"; {moves} positions after moves, {differ} decisions differ")
    raise SystemExit(differ > 0)


if __name__ == "__main__":
    main()
