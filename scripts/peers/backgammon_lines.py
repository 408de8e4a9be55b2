"""Checks what adept asks GNU Backgammon over a socket: gnubg must decide as it does where the position is set by XGID.

    python3 scripts/peers/backgammon_lines.py ADEPT [--games 100] [--seed 1]

ADEPT is the program. It plays `random` against gnubg at 0 ply; a relay between them records questions and answers. adept ends with an
error at an answer that is not a legal move. Each question is then read by code that shares nothing with adept's, and put to `hint` in
another gnubg. Prints the questions by kind, and every decision that loses by hint's values. Needs `gnubg` on the path, or at /usr/games/gnubg.
"""

import argparse
import collections
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading

from backgammon_moves import PROGRAM, after, free_port, gnubg, kinds

SETTINGS = "".join(f"set eval chequerplay evaluation {setting}\n" for setting in ("plies 0", "noise 0", "cubeful off", "prune off"))
TEXT = {0: "off", 25: "bar"}


def relay(door, port, seen):
    """Hands lines on between one adept and gnubg, and notes them."""
    adept = door.accept()[0]
    program = socket.create_connection(("127.0.0.1", port))
    questions, answers = adept.makefile("rb"), program.makefile("rb")
    for question in questions:
        program.sendall(question)
        answer = answers.readline()
        seen.append((question.decode().strip(), answer.decode().strip()))
        adept.sendall(answer)


def decision(question):
    """The position and the roll of a line, as adept writes them elsewhere."""
    fields = question.split(":")
    numbers, (turn, first, second) = list(map(int, fields[6:32])), map(int, fields[32:35])
    assert fields[0] == "board" and turn == 1, question
    own = {place: max(n, 0) for place, n in enumerate(numbers) if place > 0}
    opponent = {25 - place: max(-n, 0) for place, n in enumerate(numbers) if place < 25}
    for side, off in ((own, fields[45]), (opponent, fields[46])):
        side[0] = int(off)
        assert sum(side.values()) == 15, question
    text = lambda side: " ".join(f"{TEXT.get(place, place)}:{n}" for place, n in side.items() if n)
    return f"{text(own)}/{text(opponent)}", f"{max(first, second)}{min(first, second)}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("adept")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    port, seen = free_port(), []
    server = subprocess.Popen([PROGRAM, "-t", "-q"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    server.stdin.write(f"{SETTINGS}external 127.0.0.1:{port}\n")
    server.stdin.flush()
    for line in server.stdout:
        if "Waiting for a connection" in line:
            break
    # Its later lines are not of interest, but must not fill the pipe.
    threading.Thread(target=server.stdout.read, daemon=True).start()
    try:
        with socket.create_server(("127.0.0.1", 0)) as door, tempfile.TemporaryDirectory() as work:
            threading.Thread(target=relay, args=(door, port, seen), daemon=True).start()
            config = pathlib.Path(work, "arena.toml")
            config.write_text(
                f'name = "lines"\ngame = "backgammon"\ngames = {args.games}\nseed = {args.seed}\n'
                f'agents = [{{ name = "random" }}, {{ name = "gnubg", agent = "gnubg:127.0.0.1:{door.getsockname()[1]}" }}]\n'
            )
            subprocess.run([args.adept, "arena", config, "--out", f"{work}/out"], stdout=subprocess.DEVNULL, check=True)
    finally:
        server.kill()
    decisions = [decision(question) for question, _ in seen]
    hints = gnubg(decisions)
    count, differ, ties = collections.Counter(), 0, 0
    for (position, roll), (question, answer), hinted in zip(decisions, seen, hints):
        count.update(kinds(position, roll))
        lost = min((lost for move, lost in hinted if after(position, move) == after(position, answer)), default=None)
        if lost is None or lost > 0:
            differ += 1
            print(f"{position} {roll}: `{answer}` there, `{hinted[0][0]}` by hint", file=sys.stderr)
        elif after(position, answer) != after(position, hinted[0][0]):
            ties += 1
    print(", ".join(f"{name} {n}" for name, n in count.items()) + f"; {differ} decisions differ, {ties} by a tie")
    raise SystemExit(differ > 0)


main()
