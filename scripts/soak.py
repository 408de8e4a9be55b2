#!/usr/bin/env python3
"""Sessions that come to a server, play and vanish: no request may fail, and memory has to stay as it is.

    adept serve http &
    python3 scripts/soak.py 127.0.0.1:8080 --sessions 200 --seconds 3600 --pid $!

Each session plays one game with pauses like those of a person. One in four leaves in the middle of a game, and one in ten within an answer.
Prints a line a minute, with the memory of the process. Exit status 1 if a request failed.
"""

import argparse
import http.client
import json
import pathlib
import random
import sys
import threading
import time

GAMES = [("tictactoe", "minimax"), ("connect-four", "random"), ("bearoff", "residual-16-8"), ("backgammon", "small-88-24")]
counts = {"games": 0, "moves": 0, "left": 0, "failed": 0, "kept": 0}
lock = threading.Lock()


def note(what):
    with lock:
        counts[what] += 1


class Session:
    def __init__(self, address, draw):
        self.connection, self.draw = http.client.HTTPConnection(address, timeout=60), draw

    def ask(self, method, path, body=None):
        headers = {"Content-Type": "application/json"}
        self.connection.request(method, f"/api/v1{path}", body and json.dumps(body), headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 400:
            raise OSError(f"{answer.status}: {text[:200]}")
        return json.loads(text)

    def play(self, pause):
        game, opponent = self.draw.choice(GAMES)
        play = self.ask("POST", "/plays", {"game": game, "opponent": opponent, "seat": 1, "seed": self.draw.randrange(1 << 30)})
        note("games")
        path, leaves = f"/plays/{play['id']}", self.draw.random()
        turns = 0
        while not play["over"]:
            time.sleep(self.draw.uniform(0, 2 * pause))
            if leaves < 0.25 and self.draw.random() < 0.1:
                note("left")
                if leaves < 0.1:
                    # Without waiting for the answer.
                    self.connection.request("GET", f"/api/v1{path}/hints")
                    self.connection.close()
                return
            move = {"move": self.draw.choice(play["moves"])["move"], "turn": play["turn"]}
            found = self.ask("POST", f"{path}/moves", move)
            turns += 1
            # The answer knows all that was played.
            if [event["move"] for event in found["events"][: len(play["events"])]] != [e["move"] for e in play["events"]]:
                raise OSError("moves are lost")
            play = found
            note("moves")
        if self.ask("GET", path)["events"] == play["events"]:
            note("kept")
        else:
            raise OSError("the game is another one")


def run(address, number, until, pause):
    draw = random.Random(number)
    while time.time() < until:
        session = Session(address, draw)
        try:
            session.play(pause)
        except Exception as error:  # whatever goes wrong counts
            note("failed")
            print(f"session {number}: {error!r}", file=sys.stderr, flush=True)
            time.sleep(1)
        finally:
            session.connection.close()


def memory(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmRSS"))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("address")
    options.add_argument("--sessions", type=int, default=200)
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--pause", type=float, default=1.0, help="seconds before a move, on average")
    options.add_argument("--pid", type=int, required=True, help="of the server")
    options = options.parse_args()
    begin = time.time()
    until = begin + options.seconds
    for number in range(options.sessions):
        arguments = (options.address, number, until, options.pause)
        threading.Thread(target=run, args=arguments, daemon=True).start()
    while time.time() < until:
        time.sleep(min(60, max(0, until - time.time())))
        print(f"{time.time() - begin:.0f} s, {memory(options.pid)} MB: {counts}", flush=True)
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
