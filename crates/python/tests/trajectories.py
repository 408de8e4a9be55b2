"""How many games a second a loop of TD(λ) in PyTorch learns from: `SelfPlay` plays, a network of PyTorch learns from trajectories.

python tests/trajectories.py [--games 256] [--steps 300] [--config CONFIG] [--set KEY=VALUE …] [--network adept]

One thread does everything. A step plays games with the present parameters, takes λ-returns, and takes one step of Adam on all rows.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch

import adept
import adept.torch

ROOT = Path(__file__).resolve().parents[3]


class Own(torch.nn.Module):
    """A forward as people write it themselves, with the parameters of the config's network: dense inputs, layers of tanh."""

    def __init__(self, network):
        super().__init__()
        self.network = network
        self.ops = [op for op in network.program["body"]["ops"] if op["op"] in ("affine", "scale", "activation")]

    def forward(self, x, index):
        for op in self.ops:
            if op["op"] == "affine":
                x = torch.nn.functional.linear(x, self.network.parameter(op["weight"]), self.network.parameter(op["bias"]))
            elif op["op"] == "scale":
                x = x * self.network.parameter(op["beta"])
            else:
                x = torch.tanh(x)
        return x[:, 0]


class Times(dict):
    """Seconds of the parts of a step."""

    def __call__(self, part, call):
        began = time.perf_counter()
        found = call()
        self[part] = self.get(part, 0) + time.perf_counter() - began
        return found


def learn(games, value, network, optimiser, steps, count, times):
    for _ in range(steps):
        played = times("games", lambda: games.play(count, trajectories=True))
        targets = times("returns", lambda: torch.from_numpy(played.lambda_returns()))
        rows = times("tensors", lambda: played.torch())
        loss = times("forward", lambda: 0.5 * (value(rows["dense"], rows["index"]) - targets).square().sum())
        optimiser.zero_grad()
        times("backward", loss.backward)
        times("step", optimiser.step)
        times("constrain", network.constrain)
        times("adopt", lambda: games.adopt(network.weights()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", default=ROOT / "configs/tictactoe/single-80.toml")
    parser.add_argument("--set", action="append", default=[], help="a change of the config")
    parser.add_argument("--games", type=int, default=256, help="games of a step")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--series", type=int, default=5, help="the best series counts: other processes only slow it down")
    parser.add_argument("--network", choices=["own", "adept"], default="own", help="a forward written by hand, or that of adept.torch.Network")
    options = parser.parse_args()
    torch.set_num_threads(1)
    games = adept.SelfPlay(options.config, settings=options.set)
    network = adept.torch.Network(games)
    value = Own(network) if options.network == "own" else network
    rows = games.play(10, trajectories=True)
    with torch.no_grad():
        near = np.allclose(value(torch.from_numpy(rows.dense), torch.from_numpy(rows.index)), rows.value, atol=1e-5)
    if not near:
        parser.error("the forward written by hand is not that of this network: --network adept")
    optimiser = torch.optim.Adam(network.groups(1e-3), fused=True)
    learn(games, value, network, optimiser, 30, options.games, Times())
    best, parts = 0, {}
    for _ in range(options.series):
        times, began = Times(), time.perf_counter()
        learn(games, value, network, optimiser, options.steps, options.games, times)
        rate = options.steps * options.games / (time.perf_counter() - began)
        if rate > best:
            best, parts = rate, times
    shown = ", ".join(f"{part} {1000 * seconds / options.steps:.2f}" for part, seconds in parts.items())
    print(f"{best:,.0f} games a second, {options.games} a step; milliseconds a step: {shown}")


if __name__ == "__main__":
    main()
