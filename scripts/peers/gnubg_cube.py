"""Lets GNU Backgammon judge the cube decisions of `adept serve gnubg`, at scores of matches and in money games.

    python3 scripts/peers/gnubg_cube.py ADEPT AGENT [--positions 600] [--seed 1] [--plies 2] [--money SHARE]

Positions before a roll come from games of the network small-88-24 with itself, one of each hundred, with random scores of matches to 5 to
11 points and a cube that is centred or, at 2 or 4, the roller's. Each is asked twice of adept, as a line of gnubg: whether the player to roll doubles, and
whether the other takes. gnubg evaluates no double and double, take at 0 plies and at --plies. Prints the mean loss of a decision in points of the
cube (EMG), of adept and of gnubg at 0 plies, by the judge.
"""

import argparse
import base64
import math
import pathlib
import random
import re
import socket
import subprocess
import sys
import tempfile
import time

from backgammon_moves import PROGRAM, free_port
from backgammon_moves import side as counts_of

SETUP = """set automatic game off
set automatic roll off
set output digits 6
set output mwc off
set output matchpc off
set output winpc off
set display off
set evaluation cubedecision evaluation cubeful on
set evaluation cubedecision evaluation noise 0
set evaluation chequerplay evaluation cubeful on
new match 7
"""


def side(text):
    """Checkers on points 1 to 24 and the bar."""
    return list(counts_of(text)[1:])


def position_id(own, other):
    bits, place = 0, 0
    for count in other + own:
        bits |= ((1 << count) - 1) << place
        place += count + 1
    return base64.b64encode(bits.to_bytes(11, "little")[:10]).decode().rstrip("=")


class Setting:
    """A position, the cube and the score, seen by the player to roll."""

    def __init__(self, own, other, rng, money):
        self.own, self.other = own, other
        self.length = 0 if rng.random() < money else rng.randint(5, 11)
        self.scores = [rng.randrange(self.length), rng.randrange(self.length)] if self.length else [0, 0]
        self.owned = rng.random() < 0.35
        self.cube = rng.choice([2, 2, 4]) if self.owned else 1
        self.jacoby = self.length == 0 and rng.random() < 0.5

    def away(self):
        return [self.length - score for score in self.scores]

    def may_double(self):
        return not self.length or self.away()[0] > self.cube

    def kind(self):
        if not self.length:
            return "money, Jacoby" if self.jacoby else "money"
        return "after Crawford" if 1 in self.away() else "match"

    def match_id(self):
        """Player 0 is to roll."""
        bits = self.cube.bit_length() - 1 | (0 if self.owned else 3) << 4 | 1 << 8
        bits |= self.length << 21 | self.scores[0] << 36 | self.scores[1] << 51 | (not self.jacoby) << 66
        return base64.b64encode(bits.to_bytes(9, "little")).decode()

    def line(self, asks_take):
        """The question to player 1 of gnubg: whether it doubles, or takes the double of player 0."""
        mine, theirs = (self.other, self.own) if asks_take else (self.own, self.other)
        board = [-theirs[24]] + [mine[n] - theirs[23 - n] for n in range(24)] + [mine[24]]
        roller, waits = self.scores
        turn, may = (-1, [not self.owned, True]) if asks_take else (1, [True, not self.owned])
        # Player 0's score comes first at a player's own turn, player 1's when a double is offered.
        scores = [waits, roller]
        fields = ["board", "a", "b", self.length, *scores, *board, turn, 0, 0, 0, 0, self.cube]
        fields += [int(flag) for flag in may] + [int(asks_take), 1, -1, 0, 25] + [0] * 7 + [1]
        return ":".join(str(field) for field in fields)


def judged(settings, plies):
    """No double and double, take of each setting, in points of the cube."""
    text = SETUP + "".join(
        f"set evaluation {kind} evaluation plies {plies}\n" for kind in ("cubedecision", "chequerplay")
    )
    for setting in settings:
        text += f"set gnubgid {position_id(setting.own, setting.other)}:{setting.match_id()}\neval\n"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([PROGRAM, "-t", "-q"], input=text, capture_output=True, text=True, cwd=folder, check=True)
    values = []
    for part in done.stdout.split("Evaluator:")[1:]:
        found = {}
        for name, number in re.findall(r"^\d\. (No (?:re)?double|(?:Red|D)ouble, take|(?:Red|D)ouble, beaver)\s+([-+.\d]+)", part, re.MULTILINE):
            found["nd" if name.startswith("No") else "dt"] = float(number)
        values.append((found["nd"], found["dt"]) if len(found) == 2 else None)
    if len(values) != len(settings):
        sys.exit(f"gnubg answered {len(values)} of {len(settings)} settings")
    return values


def answers(program, agent, settings):
    """Of each setting: whether adept doubles, and whether it takes."""
    found = [[None, None] for _ in settings]
    for jacoby in (True, False):
        flags = [] if jacoby else ["--no-jacoby"]
        port = free_port()
        command = [program, "serve", "gnubg", agent, "--listen", f"127.0.0.1:{port}", *flags]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for asks_take in (False, True):
                for attempt in range(200):
                    try:
                        connection = socket.create_connection(("127.0.0.1", port))
                        break
                    except OSError:
                        time.sleep(0.1)
                else:
                    sys.exit("adept does not answer")
                with connection, connection.makefile() as lines:
                    for at, setting in enumerate(settings):
                        if setting.jacoby == jacoby:
                            connection.sendall((setting.line(asks_take) + "\n\0").encode())
                            answer = lines.readline().strip("\0\n")
                            if answer not in ("double", "roll", "take", "drop"):
                                sys.exit(f"adept answered {answer} to {setting.line(asks_take)}")
                            found[at][asks_take] = answer in ("double", "take")
        finally:
            server.terminate()
            server.wait()
    return found


def mean(losses):
    if not losses:
        return "none"
    average = sum(losses) / len(losses)
    spread = math.sqrt(sum((x - average) ** 2 for x in losses) / max(len(losses) - 1, 1) / len(losses))
    return f"{average:.4f} ± {1.96 * spread:.4f}, {sum(x > 1e-6 for x in losses)} wrong"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("agent")
    parser.add_argument("--positions", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plies", type=int, default=2)
    parser.add_argument("--money", type=float, default=0.15)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "positions.csv"
        count = 100 * args.positions
        command = [args.program, "data", "build", "--with", "small-88-24", "--seed", str(args.seed), "--count", str(count), "--out", table]
        subprocess.run(command, check=True, capture_output=True)
        rows = [row.split(",")[0] for row in table.read_text().splitlines() if not row.startswith("#")][1:]
    settings = []
    for place in range(0, len(rows), 100):
        setting = Setting(*map(side, rows[place + rng.randrange(100)].split("/")), rng, args.money) if place + 100 <= len(rows) else None
        if setting and setting.may_double():
            settings.append(setting)
    judge, quick, found = judged(settings, args.plies), judged(settings, 0), answers(args.program, args.agent, settings)
    kinds = sorted({setting.kind() for setting in settings})
    print(f"{len(settings)} settings, judge gnubg at {args.plies} plies; loss of a decision in EMG")
    for kind in [None, *kinds]:
        doubles, takes = {"adept": [], "gnubg 0 ply": []}, {"adept": [], "gnubg 0 ply": []}
        for setting, values, fast, (doubled, took) in zip(settings, judge, quick, found):
            if values is None or fast is None or (kind and setting.kind() != kind):
                continue
            nd, dt = values
            best = max(nd, min(dt, 1.0))
            fast_doubles = min(fast[1], 1.0) > fast[0]
            for who, doubles_now, takes_now in (("adept", doubled, took), ("gnubg 0 ply", fast_doubles, fast[1] <= 1.0)):
                doubles[who].append(best - (min(dt, 1.0) if doubles_now else nd))
                # Takes count where a double is not far from right.
                if min(dt, 1.0) > nd - 0.1:
                    takes[who].append(max(dt - 1.0, 0.0) if takes_now else max(1.0 - dt, 0.0))
        print(kind or "all")
        for who in doubles:
            print(f"  {who:12} doubles ({len(doubles[who])}): {mean(doubles[who])}")
            print(f"  {who:12} takes ({len(takes[who])}): {mean(takes[who])}")


if __name__ == "__main__":
    main()
