"""Tic-tac-toe in Python, move for move like the built-in game with its encoder `fields`."""

import adept

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]

# Settings under which both games give the same run.
SAME = {
    "tictactoe": ["learn.td.against=self"],
    "tictactoe-in-python": ["learn.td.against=self", "game.rules=tictactoe-in-python", "game.encoder=inputs"],
}


class TicTacToe(adept.Game):
    name = "tictactoe-in-python"
    inputs = 9
    small = True

    def start(self):
        return "........."

    def turn(self, state):
        if self.winner(state) is not None or "." not in state:
            return None
        return state.count("X") - state.count("O")

    def winner(self, state):
        for a, b, c in LINES:
            if state[a] == state[b] == state[c] != ".":
                return "XO".index(state[a])
        return None

    def actions(self, state):
        return [square for square in range(9) if state[square] == "."]

    def apply(self, state, square):
        return state[:square] + "XO"[self.turn(state)] + state[square + 1 :]

    def utility(self, state, player):
        winner = self.winner(state)
        return 0.0 if winner is None else 1.0 if winner == player else -1.0

    def encode(self, state, player, action):
        own = "XO"[player]
        return [0.0 if stone == "." else 1.0 if stone == own else -1.0 for stone in state]

    def just_acted(self, state):
        return None if state == self.start() else "XO".index("X" if state.count("X") > state.count("O") else "O")

    def text(self, state):
        return state

    def parse(self, text):
        if len(text) != 9 or set(text) - set("XO."):
            raise ValueError("write nine of X, O and .")
        return text
