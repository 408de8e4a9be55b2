#!/usr/bin/env python3
"""Steps a second from Python: adept beside OpenSpiel, one game after another, and beside pgx, 1,024 games side by side.

    pip install ./crates/python open_spiel pgx
    taskset -c 0 python scripts/peers/stepping.py

Each is written as its users write it, all play random games, and rounds alternate. pgx runs 100 steps in one compiled call, with its random
choice and its automatic restart inside. A step of pgx's backgammon moves one checker, a step of adept's a whole turn.
"""

import argparse
import random
import statistics
import time

import adept


def adept_loop(game, games):
    steps = 0
    choice, start = random.choice, game.start()
    for _ in range(games):
        state = start
        while not state.is_over:
            state = state.apply(choice(state.actions()))
            steps += 1
    return steps


def open_spiel_loop(game, games):
    steps = 0
    choice = random.choice
    for _ in range(games):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(choice(state.legal_actions()))
            steps += 1
    return steps


def adept_batch(batch, steps):
    for _ in range(steps):
        batch.step()
    return steps * len(batch)


def pgx_batch(name, n, inside):
    """A function that runs so many calls of `inside` steps, and its state."""
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental.wrappers import auto_reset

    env = pgx.make(name)
    step = auto_reset(env.step, env.init)

    def one(carry, _):
        state, key = carry
        key, choose, chance = jax.random.split(key, 3)
        logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
        action = jax.random.categorical(choose, logits, axis=-1)
        return (jax.vmap(step)(state, action, jax.random.split(chance, n)), key), None

    run = jax.jit(lambda carry: jax.lax.scan(one, carry, None, length=inside)[0])
    key = jax.random.PRNGKey(1)
    carry = [(jax.vmap(env.init)(jax.random.split(key, n)), key)]

    def call(calls):
        for _ in range(calls):
            carry[0] = run(carry[0])
        carry[0][0].rewards.block_until_ready()
        return calls * inside * n

    call(1)
    return call


def compared(title, contestants, seconds, rounds):
    """Steps a second of each, in rounds that alternate."""
    found = {name: [] for name, _, _ in contestants}
    for round_number in range(rounds + 1):
        for name, run, amount in contestants:
            begin, steps = time.perf_counter(), 0
            while time.perf_counter() - begin < seconds:
                steps += run(amount)
            if round_number:
                found[name].append(steps / (time.perf_counter() - begin))
    medians = {name: statistics.median(values) for name, values in found.items()}
    least = list(medians.values())[-1]
    for name, values in found.items():
        spread = f"{min(values):,.0f} to {max(values):,.0f}"
        print(f"{title:<28} {name:<12} {medians[name]:>14,.0f}  {spread:<28} {medians[name] / least:6.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="of a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--games", type=int, default=1024, help="side by side")
    parser.add_argument("--without", default="", help="peers to leave out: open_spiel, pgx")
    options = parser.parse_args()
    print(f"{'':<28} {'':<12} {'steps/s':>14}  {'spread':<28} {'ratio':>6}")
    at_a_time = (options.seconds, options.rounds)
    for name in ["tictactoe", "connect-four"]:
        game = adept.game(name)
        contestants = [("adept", lambda n, game=game: adept_loop(game, n), 100)]
        if "open_spiel" not in options.without:
            import pyspiel

            other = pyspiel.load_game({"tictactoe": "tic_tac_toe", "connect-four": "connect_four"}[name])
            contestants.append(("OpenSpiel", lambda n, other=other: open_spiel_loop(other, n), 100))
        compared(f"{name}, a loop", contestants, *at_a_time)
    for name in ["tictactoe", "connect-four", "backgammon"]:
        batch = adept.game(name).batch(options.games, seed=1)
        contestants = [("adept", lambda n, batch=batch: adept_batch(batch, n), 10)]
        if "pgx" not in options.without:
            other = {"tictactoe": "tic_tac_toe", "connect-four": "connect_four"}.get(name, name)
            contestants.append(("pgx", pgx_batch(other, options.games, 100), 1))
        compared(f"{name}, {options.games} games", contestants, *at_a_time)


if __name__ == "__main__":
    main()
