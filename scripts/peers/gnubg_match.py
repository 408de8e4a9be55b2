"""Plays sessions in GNU Backgammon against `adept serve gnubg`, in both seats, and checks that every answer was played.

    python3 scripts/peers/gnubg_match.py ADEPT AGENT [--games 1000] [--plies 0] [--seed 1] [--match N] [--port 4400]
        [--judge PLIES] [--record FOLDER]

Half the games have adept as player 0. From the log of adept: an answer that gnubg did not play shows in the next line, in which the
own checkers stand where the answer left them, but for those that were hit. Prints points a game with a 95 % interval. Exit status 1
if a turn was forfeited, a line was answered by an error, or gnubg complained.

With --judge, gnubg analyses each match, or each game of a session: all cube decisions of both sides at PLIES plies, cubeful and without noise,
and the luck of the dice at 0 plies. --record writes .mat files of what was played.
"""

import argparse
import collections
import math
import pathlib
import re
import subprocess
import sys
import tempfile

from backgammon_moves import PROGRAM, place_of

POINTS = re.compile(r"(\w+) wins a (?:single game|gammon|backgammon) and (\d+) points?\.")
COMPLAINT = re.compile(r"illegal|unparsable|badly formed|error \(|external player.*(?:fail|clos)", re.IGNORECASE)

# Rows of gnubg's statistics. A cell is a result, or the number of errors, what they lose in points of the cube (EMG), and in points or match winning chance.
CELL = re.compile(r"([-+]?[\d.]+)%?(?: \(\s*([-+]?[\d.]+)%?(?: \(\s*([-+]?[\d.]+)%?\))?\))?")
TAKES = ("Wrong takes", "Wrong passes")
DOUBLES = ("Missed doubles below CP", "Missed doubles above CP", "Wrong doubles below DP", "Wrong doubles above TG")
ROWS = (*TAKES, *DOUBLES, "Total cube decisions", "Takes", "Passes", "Actual result", "Luck adjusted result")

# Decisions, wrong ones, and what they lose in points of the cube, and in points or percent of match winning chance.
Cubes = collections.namedtuple("Cubes", "decisions wrong emg cost")


def own_checkers(line):
    """The own checkers by place, 25 the bar, and whether a move is asked for."""
    fields = line.split(":")
    numbers, turn = list(map(int, fields[6:32])), int(fields[32])
    if turn < 0:
        numbers = [-n for n in reversed(numbers)]
    return [0] + [max(n, 0) for n in numbers[1:]], fields[33] != "0", fields[40] == "1"


def moved(checkers, answer):
    for word in answer.split():
        places = list(map(place_of, word.split("/")))
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


class Analysis:
    """Cube decisions of adept and of gnubg in a match or a game, by gnubg's statistics, and the result of adept with and without luck."""

    def __init__(self, table, seat):
        rows = {}
        for line in table:
            for label in ROWS:
                if line.startswith(label + " "):
                    cells = CELL.findall(line.replace("(EMG (MWC))", "").replace("(EMG (Points))", "")[len(label) :])
                    rows[label] = [[float(number or 0) for number in cell] for cell in cells]
        if any(len(rows.get(label, [])) != 2 for label in ROWS):
            raise SystemExit("gnubg's statistics cannot be read:\n" + "\n".join(table))
        self.result, self.adjusted = rows["Actual result"][seat][0], rows["Luck adjusted result"][seat][0]
        self.doubles, self.takes = {}, {}
        for who, column in (("adept", seat), ("gnubg", 1 - seat)):
            takes = int(rows["Takes"][column][0] + rows["Passes"][column][0])
            doubles = int(rows["Total cube decisions"][column][0]) - takes
            for found, count, labels in ((self.doubles, doubles, DOUBLES), (self.takes, takes, TAKES)):
                # gnubg counts losses as negative.
                wrong, emg, cost = (sum(rows[label][column][n] for label in labels) for n in range(3))
                found[who] = Cubes(count, int(wrong), -emg, -cost)

    def cost(self, who):
        return self.doubles[who].cost + self.takes[who].cost


def play(args, seat, games, place):
    """The points of adept in each game, what gnubg complained of, the matches it won, and analyses."""
    other = 1 - seat
    lines = [f"set player {seat} external {place}", f"set player {seat} name adept", f"set player {other} gnubg"]
    names = ["adept", "gnubg"] if seat == 0 else ["gnubg", "adept"]
    # A match begins with the default names.
    lines += [f"set player {other} name gnubg", "set defaultnames " + " ".join(names)]
    for part in ("chequerplay", "cubedecision"):
        lines += [f"set player {other} {part} evaluation {setting}" for setting in (f"plies {args.plies}", "noise 0")]
    # gnubg 1.07 stands still when a beaver is taken.
    lines += ["set beavers 0", "set jacoby off", "set automatic roll on", "set automatic move on"]
    lines += [f"set automatic game {'on' if args.match else 'off'}", "set display off", "set confirm new off", "set rng mersenne"]
    judge = []
    if args.judge is not None:
        lines += ["set analysis moves off", "set analysis cube on", "set analysis luck on", "set analysis luckanalysis plies 0"]
        lines += [f"set analysis cubedecision evaluation {setting}" for setting in (f"plies {args.judge}", "noise 0", "cubeful on")]
        what = "match" if args.match else "game"
        judge = [f"analyse {what}", f"show statistics {what}"]
    results, complaints, matches, judged = [], [], [], []
    while len(matches if args.match else results) < games:
        # A match ends; the next one has other dice.
        seed = args.seed + seat + (1000 * len(results) + 1000 if results else 0)
        if args.match:
            script = [*lines, f"set seed {seed}", f"new match {args.match}", *judge]
        else:
            # A new session begins its first game.
            script = [*lines, f"set seed {seed}", "new session", *judge] + ["new game", *judge] * (games - 1)
        if args.record:
            args.record.mkdir(parents=True, exist_ok=True)
            number = f"-match-{len(matches) + 1}" if args.match else ""
            script.append(f'export match mat "{args.record.resolve()}/seed-{args.seed}-player-{seat}{number}.mat"')
        with tempfile.TemporaryFile("w+") as commands:
            commands.write("\n".join(script) + "\n")
            commands.seek(0)
            done = subprocess.run([PROGRAM, "-t", "-q"], stdin=commands, stdout=subprocess.PIPE, text=True)
        found = [int(points) * (1 if name == "adept" else -1) for name, points in POINTS.findall(done.stdout)]
        if not found:
            raise SystemExit("gnubg has played no game to its end")
        results += found
        complaints += [line.strip() for line in done.stdout.splitlines() if COMPLAINT.search(line)]
        judged += [Analysis(table.splitlines(), seat) for table in done.stdout.split("\nPlayer  ")[1:]]
        if args.match:
            matches.append(found[-1] > 0)
    return results, complaints, matches, judged


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("adept")
    parser.add_argument("agent")
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--plies", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--match", type=int, default=0, help="points of a match, in place of money sessions; --games counts matches")
    parser.add_argument("--port", type=int, default=4400)
    parser.add_argument("--judge", type=int, metavar="PLIES", help="let gnubg judge all cube decisions, and the luck of the dice")
    parser.add_argument("--record", type=pathlib.Path, metavar="FOLDER", help="write .mat files of what was played")
    args = parser.parse_args()
    place = f"127.0.0.1:{args.port}"
    with tempfile.TemporaryDirectory() as work:
        log = pathlib.Path(work, "log.txt")
        command = [args.adept, "serve", "gnubg", args.agent, "--listen", place, "--no-jacoby", "--log", log]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if server.stdout.readline() != f"listening on {place}\n":
            raise SystemExit(f"adept does not listen on {place}: run it by hand to see why")
        results, complaints, matches, judged = [], [], [], []
        try:
            for seat in (0, 1):
                found, said, won, seen = play(args, seat, args.games // 2, place)
                print(f"as player {seat}: {summary(found)}")
                results += found
                complaints += said
                matches += won
                judged += seen
        finally:
            server.terminate()
            server.wait()
        answers, doubles, errors, forfeited = check(log.read_text())
    print(f"together: {summary(results)}")
    if matches:
        share = sum(matches) / len(matches)
        error = 1.96 * math.sqrt(share * (1 - share) / len(matches))
        print(f"matches won: {100 * share:.1f} ± {100 * error:.1f} % of {len(matches)}")
    if judged:
        report(judged, args)
    print(f"{answers} answers, {doubles} doubles, {errors} errors, {forfeited} forfeited turns, {len(complaints)} complaints of gnubg")
    for line in complaints[:5]:
        print(f"  {line}", file=sys.stderr)
    raise SystemExit(bool(errors or forfeited or complaints))


def report(judged, args):
    """Prints what cube decisions lose, and results without luck."""
    unit, what = ("% of match winning chance", "match") if args.match else ("points", "game")
    print(f"cube decisions judged by gnubg at {args.judge} plies:")
    for who in ("adept", "gnubg"):
        mean, error = interval([analysis.cost(who) for analysis in judged])
        print(f"  {who} loses {mean:.4f} ± {error:.4f} {unit} a {what}")
        for name, parts in (("doubles", [a.doubles[who] for a in judged]), ("takes", [a.takes[who] for a in judged])):
            count, wrong = sum(part.decisions for part in parts), sum(part.wrong for part in parts)
            cost, error = interval([part.cost for part in parts])
            loss = sum(part.emg for part in parts) / max(count, 1)
            # The decisions of a match or game are not independent.
            spread = math.sqrt(sum((part.emg - loss * part.decisions) ** 2 for part in parts))
            each = f"{loss:.5f} ± {1.96 * spread / max(count, 1):.5f} EMG a decision"
            print(f"    {name}: {count} decisions, {wrong} wrong, {each}, {cost:.4f} ± {error:.4f} {unit} a {what}")
    results = [analysis.result for analysis in judged], [analysis.adjusted for analysis in judged]
    for label, values in zip(("by gnubg", "luck-adjusted"), results):
        mean, error = interval(values)
        if args.match:
            # gnubg counts a match as half a match won or lost.
            print(f"  {label}: {50 + mean:.2f} ± {error:.2f} % of {len(values)} matches")
        else:
            print(f"  {label}: {mean:+.4f} ± {error:.4f} points a game, {len(values)} games")


def interval(values):
    """The mean and the half of its 95 % interval."""
    n = len(values)
    mean = sum(values) / n
    return mean, 1.96 * math.sqrt(sum((value - mean) ** 2 for value in values) / max(n - 1, 1) / n)


def summary(results):
    mean, error = interval(results)
    return f"{mean:+.3f} ± {error:.3f} points a game, {len(results)} games"


main()
