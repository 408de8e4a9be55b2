"""Plays sessions in GNU Backgammon against `adept serve gnubg`, in both seats, and checks that every answer was played.

    python3 scripts/peers/gnubg_match.py ADEPT AGENT [--games 1000] [--plies 0] [--seed 1] [--match N] [--port 4400]

Half the games have adept as player 0. From the log of adept: an answer that gnubg did not play shows in the next line, in which the
own checkers stand where the answer left them, but for those that were hit. Prints points a game with a 95 % interval. Exit status 1
if a turn was forfeited, a line was answered by an error, or gnubg complained.
"""

import argparse
import math
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = shutil.which("gnubg") or "/usr/games/gnubg"
POINTS = re.compile(r"(\w+) wins a (?:single game|gammon|backgammon) and (\d+) points?\.")
COMPLAINT = re.compile(r"illegal|unparsable|badly formed|error \(|external player.*(?:fail|clos)", re.IGNORECASE)


def own_checkers(line):
    """The own checkers by place, 25 the bar, and whether a move is asked for."""
    fields = line.split(":")
    numbers, turn = list(map(int, fields[6:32])), int(fields[32])
    if turn < 0:
        numbers = [-n for n in reversed(numbers)]
    return [0] + [max(n, 0) for n in numbers[1:]], fields[33] != "0", fields[40] == "1"


def moved(checkers, answer):
    for word in answer.split():
        places = [{"bar": 25, "off": 0}.get(p) if p in ("bar", "off") else int(p) for p in word.split("/")]
        checkers[places[0]] -= 1
        checkers[places[1]] += 1
    return checkers


def check(log):
    """Answers, doubles, lines answered by errors, and turns that gnubg did not play."""
    answers = errors = forfeited = doubles = 0
    expected = line = None
    for text in log.splitlines():
        # Each line begins with the number of its session.
        what, _, text = text.partition(": ")
        what = what.rpartition(" ")[2]
        if what == "from":
            line = text
            if expected and text.startswith("board:"):
                found, _, doubled = own_checkers(text)
                # A new game begins with all checkers on the board; an offered double has the other's turn.
                begins = found == START and expected != START
                hits = [(p, n) for p, n in enumerate(expected) if 0 < p < 25 and found[p] != n]
                played = all(n == 1 and found[p] == 0 for p, n in hits) and found[25] == expected[25] + len(hits)
                forfeited += not (begins or doubled or played)
                if not doubled:
                    expected = None
        elif what == "to":
            answers += 1
            errors += text.startswith("Error")
            doubles += text == "double"
            if line.startswith("board:"):
                checkers, asked, _ = own_checkers(line)
                if asked:
                    expected = moved(checkers, text)
        else:
            expected = None
    return answers, doubles, errors, forfeited


START = [0] * 26
for place, count in ((24, 2), (13, 5), (8, 3), (6, 5)):
    START[place] = count


def play(args, seat, games, place):
    """The points of adept in each game, and what gnubg complained of."""
    other = 1 - seat
    lines = [f"set player {seat} external {place}", f"set player {seat} name adept", f"set player {other} gnubg"]
    names = ["adept", "gnubg"] if seat == 0 else ["gnubg", "adept"]
    # A match begins with the default names.
    lines += [f"set player {other} name gnubg", "set defaultnames " + " ".join(names)]
    for part in ("chequerplay", "cubedecision"):
        lines += [f"set player {other} {part} evaluation {setting}" for setting in (f"plies {args.plies}", "noise 0")]
    # gnubg 1.07 stands still when a beaver is taken.
    lines += ["set beavers 0", "set jacoby off", "set automatic roll on", "set automatic game on", "set automatic move on"]
    lines += ["set display off", "set confirm new off", "set rng mersenne", f"set seed {args.seed + seat}"]
    lines += [f"new match {args.match}" if args.match else "new session"]
    results, complaints, matches = [], [], []
    while len(matches if args.match else results) < games:
        before = len(results)
        gnubg = subprocess.Popen([PROGRAM, "-t", "-q"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        gnubg.stdin.write("\n".join(lines) + "\n")
        if args.match:
            # A match ends; the next one has other dice.
            gnubg.stdin.close()
            lines[-2] = f"set seed {args.seed + seat + 1000 * len(results) + 1000}"
        else:
            gnubg.stdin.flush()
        for line in gnubg.stdout:
            if won := POINTS.search(line):
                results.append(int(won.group(2)) * (1 if won.group(1) == "adept" else -1))
            if COMPLAINT.search(line):
                complaints.append(line.strip())
            if not args.match and len(results) >= games:
                break
        if args.match and len(results) > before:
            matches.append(results[-1] > 0)
        gnubg.kill()
        gnubg.wait()
        if len(results) == before:
            raise SystemExit("gnubg has played no game to its end")
    return results, complaints, matches


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("adept")
    parser.add_argument("agent")
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--plies", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--match", type=int, default=0, help="points of a match, in place of money sessions; --games counts matches")
    parser.add_argument("--port", type=int, default=4400)
    args = parser.parse_args()
    place = f"127.0.0.1:{args.port}"
    with tempfile.TemporaryDirectory() as work:
        log = pathlib.Path(work, "log.txt")
        command = [args.adept, "serve", "gnubg", args.agent, "--listen", place, "--no-jacoby", "--log", log]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if server.stdout.readline() != f"listening on {place}\n":
            raise SystemExit(f"adept does not listen on {place}: run it by hand to see why")
        results, complaints, matches = [], [], []
        try:
            for seat in (0, 1):
                found, said, won = play(args, seat, args.games // 2, place)
                print(f"as player {seat}: {summary(found)}")
                results += found
                complaints += said
                matches += won
        finally:
            server.terminate()
            server.wait()
        answers, doubles, errors, forfeited = check(log.read_text())
    print(f"together: {summary(results)}")
    if matches:
        share = sum(matches) / len(matches)
        error = 1.96 * math.sqrt(share * (1 - share) / len(matches))
        print(f"matches won: {100 * share:.1f} ± {100 * error:.1f} % of {len(matches)}")
    print(f"{answers} answers, {doubles} doubles, {errors} errors, {forfeited} forfeited turns, {len(complaints)} complaints of gnubg")
    for line in complaints[:5]:
        print(f"  {line}", file=sys.stderr)
    raise SystemExit(bool(errors or forfeited or complaints))


def summary(results):
    n = len(results)
    mean = sum(results) / n
    error = math.sqrt(sum((r - mean) ** 2 for r in results) / max(n - 1, 1) / n)
    return f"{mean:+.3f} ± {1.96 * error:.3f} points a game, {n} games"


main()
