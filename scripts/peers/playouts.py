"""Random games a second in OpenSpiel: a loop in Python, and its random bots in C++."""

import random
import time

import pyspiel

SECONDS = 3.0


def in_python(game):
    random.seed(1)
    count, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < SECONDS:
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(random.choice(state.legal_actions()))
        count += 1
    return count / (time.perf_counter() - begin)


def in_cpp(game):
    bots = [pyspiel.make_uniform_random_bot(player, 7 + player) for player in range(2)]
    count, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < SECONDS:
        pyspiel.evaluate_bots(game.new_initial_state(), bots, count)
        count += 1
    return count / (time.perf_counter() - begin)


for name, ours in [("tic_tac_toe", "tic-tac-toe"), ("connect_four", "connect-four"), ("breakthrough", "breakthrough")]:
    game = pyspiel.load_game(name)
    print(f"{ours} {in_python(game):.0f} {in_cpp(game):.0f}", flush=True)
