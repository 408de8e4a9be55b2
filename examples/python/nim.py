"""A game of your own in Python: Nim with heaps of 3, 4 and 5 things. Who takes the last thing wins.

python examples/python/nim.py
"""

from pathlib import Path

import adept


class Nim(adept.Game):
    name = "nim-in-python"
    inputs = 18  # for each heap, which of 0 to 5 things it has
    small = True  # all states can be listed, so play is measured exactly

    def start(self):
        return (3, 4, 5), 0  # the heaps, and who is to move

    def turn(self, state):
        heaps, mover = state
        return mover if any(heaps) else None

    def actions(self, state):
        return [(heap, taken) for heap in range(3) for taken in range(1, state[0][heap] + 1)]

    def apply(self, state, action):
        heaps, mover = state
        heap, taken = action
        return (*heaps[:heap], heaps[heap] - taken, *heaps[heap + 1 :]), 1 - mover

    def utility(self, state, player):
        return -1.0 if player == state[1] else 1.0

    def just_acted(self, state):
        return 1 - state[1]

    def encode(self, state, player, action):
        row = [0.0] * 18
        for heap, things in enumerate(state[0]):
            row[6 * heap + things] = 1.0
        return row


adept.register(Nim())

if __name__ == "__main__":
    config = Path(__file__).parents[1] / "own-game" / "nim.toml"
    mine = ["game.rules=nim-in-python", "game.encoder=inputs", "learn.td.games=10000"]
    run = adept.train(config, settings=mine, on_progress=adept.progress_bar())
    for opponent, found in run.metrics()[-1]["equity"]:
        print(f"exact equity against {opponent}: {found['equity']:+.3f}")
    print("best first move:", run.open().moves("((3, 4, 5), 0)")[0]["action"], "(exact: (0, 2))")
