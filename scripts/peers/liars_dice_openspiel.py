"""CFR+ on liar's dice as a user of OpenSpiel writes it: seconds an iteration, value and exploitability."""

import argparse
import json
import time

import pyspiel
from open_spiel.python.algorithms import cfr, expected_game_score, exploitability

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--faces", type=int, default=6)
parser.add_argument("--iterations", type=int, default=5)
args = parser.parse_args()

game = pyspiel.load_game("liars_dice", {"dice_sides": args.faces})
solver = cfr.CFRPlusSolver(game)
start = time.perf_counter()
for _ in range(args.iterations):
    solver.evaluate_and_update_policy()
seconds = time.perf_counter() - start
policy = solver.average_policy()
value = expected_game_score.policy_value(game.new_initial_state(), [policy, policy])[0]
found = {
    "iterations": args.iterations,
    "iterations_per_second": args.iterations / seconds,
    "value": value,
    "exploitability": exploitability.exploitability(game, policy),
}
print(json.dumps(found))
