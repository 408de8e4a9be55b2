#!/usr/bin/env python3
"""TD(λ) on tic-tac-toe in PyTorch: the peer that `tictactoe.sh` times against `adept train`.

The learner plays first and second in turn against TTT (wins if it can, else blocks if it must, else
random). It looks one ply ahead with V, a 9-80-1 network over the afterstate as the player who just
moved sees it:

    h = tanh(s1 ∘ (W1 x + b1))      x: (k, 9), own +1, the other's −1, empty 0;  W1: (80, 9);  b1, s1: (80)
    V = tanh(s2 ∘ (W2 h + b2))      W2: (1, 80);  b2, s2: (1);  the sensitivities s are learned, ≥ 1e-3

and takes one SGD step a game on Σ ½ (G − V)² over its non-terminal afterstates, G the λ-returns.
"""

import argparse
import json
import math
import random
import sys
import time
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F

HIDDEN = 80
INIT = 0.4  # weights and biases ~ U(−INIT, INIT)
SENSITIVITY = (3.0, 1.0)  # first s1, s2
SENSITIVITY_RATE, SENSITIVITY_MIN = 0.2, 1e-3
LAMBDA = 0.3
EPSILON = (0.4, 0.05)  # first, last; linear over the run
RATE = (0.005, 0.00005)  # likewise

# --- The game: positions are codes Σ 3^s d(s), d = 0 empty, 1 the learner's stone, 2 TTT's. All rules are
# tables over the 3⁹ codes, so that a move costs an index.

POW3 = 3 ** np.arange(9)
LINES = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]])
CODES = np.arange(3**9)
DIGITS = CODES[:, None] // POW3 % 3  # (19683, 9), like the next two
EMPTY = DIGITS == 0
INPUTS = np.array([0, 1, -1], np.float32)[DIGITS]


def has_line(player: int) -> np.ndarray:
    return (DIGITS == player)[:, LINES].all(2).any(1)


# Outcome for the learner, NaN while the game goes on.
OUTCOME = np.select([has_line(1), has_line(2), ~EMPTY.any(1)], [1.0, -1.0, 0.0], np.nan).astype(np.float32)
# Positions that can come about and are not over.
LEAD = (DIGITS == 1).sum(1) - (DIGITS == 2).sum(1)
GOING = np.isnan(OUTCOME) & (abs(LEAD) <= 1)


def ttt_moves(own: int, other: int) -> np.ndarray:
    """(19683, 9): the squares among which TTT draws uniformly: those that win, else block, else all."""

    def completes(player: int) -> np.ndarray:
        return EMPTY & has_line(player)[np.where(EMPTY, CODES[:, None] + player * POW3, 0)]

    wins, blocks = completes(own), completes(other)
    return np.select([wins.any(1)[:, None], blocks.any(1)[:, None]], [wins, blocks], EMPTY)


TTT = ttt_moves(2, 1)

# --- The network


def network() -> list[torch.nn.Parameter]:
    """W1, b1, s1, W2, b2, s2."""
    parameters = []
    for rows, columns, sensitivity in ((HIDDEN, 9, SENSITIVITY[0]), (1, HIDDEN, SENSITIVITY[1])):
        weight = torch.empty(rows, columns).uniform_(-INIT, INIT)
        bias = torch.empty(rows).uniform_(-INIT, INIT)
        parameters += [weight, bias, torch.full((rows,), sensitivity)]
    return [torch.nn.Parameter(p) for p in parameters]


def values(parameters: list[torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """(k, 9) → (k)"""
    w1, b1, s1, w2, b2, s2 = parameters
    h = torch.tanh(s1 * F.linear(x, w1, b1))
    return torch.tanh(s2 * F.linear(h, w2, b2)).squeeze(1)


def exact_values(parameters: list[torch.Tensor]) -> np.ndarray:
    """(19683): what a greedy learner compares, terminal positions by their outcome."""
    with torch.inference_mode():
        v = values(parameters, torch.from_numpy(INPUTS)).numpy()
    return np.where(np.isnan(OUTCOME), v, OUTCOME)


class Eager:
    """Autograd and fused SGD."""

    def __init__(self, parameters: list[torch.nn.Parameter]):
        self.parameters = parameters
        self.sensitivities = [parameters[2], parameters[5]]
        weights = [parameters[i] for i in (0, 1, 3, 4)]
        groups = [
            {"params": weights, "factor": 1.0},
            {"params": self.sensitivities, "factor": SENSITIVITY_RATE},
        ]
        self.optimizer = torch.optim.SGD(groups, lr=RATE[0], fused=True)

    def values(self, x: torch.Tensor) -> torch.Tensor:
        return values(self.parameters, x)

    def step(self, codes: list[int] | np.ndarray, targets: list[float] | np.ndarray, rate: float) -> None:
        x, g = torch.from_numpy(INPUTS[codes]), torch.as_tensor(targets, dtype=torch.float32)
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["factor"]
        v = values(self.parameters, x)
        v.backward(v.detach() - g)  # the gradient of Σ ½ (G − V)² by V
        self.optimizer.step()
        self.optimizer.zero_grad()
        with torch.no_grad():
            for s in self.sensitivities:
                s.clamp_(min=SENSITIVITY_MIN)


def loss_of(parameters, x, g, mask):
    return 0.5 * (mask * (g - values(parameters, x)).square()).sum()


def sgd_step(parameters, x, g, mask, rate):
    """The whole step as one graph: forward, backward, update, clamp."""
    gradients = torch.func.grad(loss_of)(parameters, x, g, mask)
    for i, (parameter, gradient) in enumerate(zip(parameters, gradients)):
        if i in (2, 5):
            parameter.sub_(SENSITIVITY_RATE * rate * gradient).clamp_(min=SENSITIVITY_MIN)
        else:
            parameter.sub_(rate * gradient)


STEP_ROWS = 4  # non-terminal afterstates of one game, at most
LOCKSTEP_ROWS = 64  # in lockstep shapes are dynamic, rows a multiple of this
COMPILED_STEP = torch.compile(sgd_step, dynamic=False)
LOCKSTEP_STEP = torch.compile(sgd_step, dynamic=True)
LOCKSTEP_VALUES = torch.compile(values, dynamic=True)


class Compiled:
    """`torch.compile`: of the whole step, and in lockstep of the forward too.

    One decision of one game is a forward of at most nine rows, and that is faster eagerly.
    """

    def __init__(self, parameters: list[torch.nn.Parameter], lockstep: bool):
        self.parameters = [p.detach() for p in parameters]
        self.compiled_values = LOCKSTEP_VALUES if lockstep else values
        self.compiled_step = LOCKSTEP_STEP if lockstep else COMPILED_STEP
        self.rows = LOCKSTEP_ROWS if lockstep else STEP_ROWS
        self.rate = torch.zeros(())
        self.allocate(self.rows)

    def allocate(self, rows: int) -> None:
        self.x, self.g, self.mask = (np.zeros(shape, np.float32) for shape in ((rows, 9), rows, rows))
        self.tensors = [torch.from_numpy(a) for a in (self.x, self.g, self.mask)]

    def values(self, x: torch.Tensor) -> torch.Tensor:
        return self.compiled_values(self.parameters, x)

    def step(self, codes: list[int] | np.ndarray, targets: list[float] | np.ndarray, rate: float) -> None:
        n = len(codes)
        rows = math.ceil(n / self.rows) * self.rows
        if rows != len(self.g):
            self.allocate(rows)
        self.x[:n], self.g[:n], self.mask[:n], self.mask[n:] = INPUTS[codes], targets, 1, 0
        self.rate.fill_(rate)
        with torch.no_grad():
            self.compiled_step(self.parameters, *self.tensors, self.rate)


# --- Playing and training


def schedule(ends: tuple[float, float], progress: float) -> float:
    return ends[0] + (ends[1] - ends[0]) * progress


class Decision(NamedTuple):
    """Afterstates among which the learner chooses: those V is for, then the terminal ones."""

    codes: list[int]
    inputs: torch.Tensor | None  # (live, 9); None if there are none
    exact: list[float]  # values of the terminal ones


def decision(code: int) -> Decision:
    after = code + POW3[EMPTY[code]]
    live, over = after[GOING[after]], after[~GOING[after]]
    inputs = torch.from_numpy(INPUTS[live]) if len(live) else None
    return Decision([*live.tolist(), *over.tolist()], inputs, OUTCOME[over].tolist())


class OneAtATime:
    """The algorithm of `adept train`: one game, one step."""

    def __init__(self, seed: int):
        self.random = random.Random(seed).random
        self.decisions = [decision(c) if GOING[c] and LEAD[c] <= 0 else None for c in CODES]
        # Positions in which TTT may leave the learner, and outcomes, as Python numbers.
        self.replies = [(c + 2 * POW3[TTT[c]]).tolist() if GOING[c] else None for c in CODES]
        self.outcome = [None if math.isnan(o) else o for o in OUTCOME.tolist()]

    def choose(self, options: list):
        return options[int(self.random() * len(options))]

    def play(self, net: Eager | Compiled, first: bool, epsilon: float):
        """Afterstates of the learner's moves as (code, V, greedy V if the move is not greedy), and the outcome."""
        code = 0 if first else self.choose(self.replies[0])
        moves = []
        while True:
            codes, inputs, exact = self.decisions[code]
            vs = exact if inputs is None else net.values(inputs).tolist() + exact
            best = max(vs)
            if self.random() < epsilon:
                pick = int(self.random() * len(vs))
            elif vs.count(best) == 1:
                pick = vs.index(best)
            else:
                pick = self.choose([i for i, v in enumerate(vs) if v == best])
            code = codes[pick]
            moves.append((code, vs[pick], None if vs[pick] == best else best))
            if (outcome := self.outcome[code]) is not None:
                return moves, outcome
            code = self.choose(self.replies[code])
            if (outcome := self.outcome[code]) is not None:
                return moves, outcome

    def train(self, net: Eager | Compiled, games: int) -> None:
        for game in range(games):
            with torch.inference_mode():
                moves, g = self.play(net, game % 2 == 0, schedule(EPSILON, game / games))
            codes, targets = [], []
            for code, v, best in reversed(moves):
                if self.outcome[code] is None:
                    codes.append(code)
                    targets.append(g)
                # What the afterstate before is to predict: the λ-return, cut where the learner explored.
                g = (1 - LAMBDA) * v + LAMBDA * g if best is None else best
            net.step(codes, targets, schedule(RATE, game / games))


class Lockstep:
    """N games side by side, N/2 from each seat; one forward for each of the learner's moves, one step a round.

    A different algorithm: one network plays all games of a round, and one step serves N games, its loss
    their sum / √N (by N it learns too slowly, the plain sum diverges).
    """

    def __init__(self, seed: int, n: int, rows: int):
        self.random = np.random.default_rng(seed)
        self.n = n
        self.rows = rows  # of a forward: a multiple of this
        # (19683, 9): squares of TTT's moves, the first `counts` of them.
        self.squares, self.counts = np.argsort(~TTT, axis=1, kind="stable"), TTT.sum(1)

    def replied(self, codes: np.ndarray) -> np.ndarray:
        """Positions after a move of TTT."""
        pick = (self.random.random(len(codes)) * self.counts[codes]).astype(int)
        return codes + 2 * POW3[self.squares[codes, pick]]

    def moved(self, net: Eager | Compiled, codes: np.ndarray, epsilon: float):
        """(m) positions → (m) afterstates, their V, greedy V."""
        m = len(codes)
        after, empty = codes[:, None] + POW3, EMPTY[codes]  # (m, 9)
        after[~empty] = 0
        vs = np.where(empty, OUTCOME[after], -np.inf)
        live = np.isnan(vs)
        k = int(live.sum())
        if k:
            x = np.zeros((math.ceil(k / self.rows) * self.rows, 9), np.float32)
            x[:k] = INPUTS[after[live]]
            vs[live] = net.values(torch.from_numpy(x)).numpy()[:k]
        best = vs.max(1)
        # A uniform draw among the candidates: that with the largest of their uniform numbers.
        explore = self.random.random(m) < epsilon
        candidates = np.where(explore[:, None], empty, vs == best[:, None])
        pick = np.where(candidates, self.random.random((m, 9), np.float32), -1).argmax(1)
        rows = np.arange(m)
        return after[rows, pick], vs[rows, pick], best

    def train(self, net: Eager | Compiled, games: int) -> None:
        for start in range(0, games, self.n):
            self.round(net, min(self.n, games - start), start / games)

    def round(self, net: Eager | Compiled, n: int, progress: float) -> None:
        codes = np.zeros(n, int)
        codes[1::2] = self.replied(codes[1::2])
        g = np.zeros(n, np.float32)
        going = np.arange(n)  # games that are not over
        moves = []
        with torch.inference_mode():
            while len(going):
                after, v, best = self.moved(net, codes[going], schedule(EPSILON, progress))
                moves.append((going, after, v, best))
                live = GOING[after]
                left = after.copy()
                left[live] = self.replied(after[live])
                codes[going] = left
                g[going] = OUTCOME[left]
                going = going[GOING[left]]
        rows, targets = [], []
        for going, after, v, best in reversed(moves):
            live = GOING[after]
            rows.append(after[live])
            targets.append(g[going[live]])
            g[going] = np.where(v < best, best, (1 - LAMBDA) * v + LAMBDA * g[going])
        net.step(np.concatenate(rows), np.concatenate(targets), schedule(RATE, progress) / math.sqrt(n))


# --- Measuring


def equity(policy) -> float:
    """Exact mean outcome against TTT over both seats.

    `policy(code, after, us)` weighs the afterstates of a position; `us` are their exact utilities.
    """
    known: dict[int, float] = {}

    def after_ours(code: int) -> float:
        if not GOING[code]:
            return OUTCOME[code]
        return np.mean([before_ours(c) for c in code + 2 * POW3[TTT[code]]])

    def before_ours(code: int) -> float:
        if not GOING[code]:
            return OUTCOME[code]
        if code not in known:
            after = code + POW3[EMPTY[code]]
            us = np.array([after_ours(c) for c in after])
            known[code] = np.average(us, weights=policy(code, after, us))
        return known[code]

    return float(before_ours(0) + after_ours(0)) / 2


def self_check() -> None:
    """Known equities: of a random player, of TTT itself, of the best player."""
    as_learner = ttt_moves(1, 2)
    for policy, known in (
        (lambda code, after, us: np.ones(len(after)), -0.760626),
        (lambda code, after, us: as_learner[code][EMPTY[code]], 0.0),
        (lambda code, after, us: us == us.max(), 637 / 960),
    ):
        found = equity(policy)
        if abs(found - known) > 1e-6:
            sys.exit(f"self-check: equity {found:.6f} where {known:.6f} is known")


def run(games: int, seed: int, compiled: bool, games_at_once: int, warm_up: int) -> dict:
    lockstep = games_at_once > 1

    def start(seed: int):
        torch.manual_seed(seed)
        parameters = network()
        if lockstep:
            learner = Lockstep(seed, games_at_once, LOCKSTEP_ROWS if compiled else 1)
        else:
            learner = OneAtATime(seed)
        return parameters, Compiled(parameters, lockstep) if compiled else Eager(parameters), learner

    # Compiles and touches everything once, on a network thrown away.
    clock = time.perf_counter()
    _, net, learner = start(seed + 1)
    learner.train(net, warm_up * games_at_once)
    warm_up_seconds = time.perf_counter() - clock

    parameters, net, learner = start(seed)
    # Nothing compiles any more, and the shapes are known: no need to check them at each call.
    torch.compiler.set_stance("fail_on_recompile", skip_guard_eval_unsafe=True)
    clock = time.perf_counter()
    learner.train(net, games)
    seconds = time.perf_counter() - clock

    v = exact_values(parameters)
    return {
        "variant": ("compiled" if compiled else "eager") + f", {games_at_once} games a step" * lockstep,
        "games": games,
        "seconds": seconds,
        "games_per_second": games / seconds,
        "equity": equity(lambda code, after, us: v[after] == v[after].max()),
        "warm_up_seconds": warm_up_seconds,
        "torch": torch.__version__,
    }


def main() -> None:
    def positive(text: str) -> int:
        if (n := int(text)) < 1:
            raise argparse.ArgumentTypeError("must be at least 1")
        return n

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=positive, default=5000, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--compile", action="store_true", help="torch.compile")
    parser.add_argument(
        "--games-at-once", type=positive, default=1, metavar="N",
        help="N games in lockstep and one step for all of them; changes the algorithm",
    )  # fmt: skip
    parser.add_argument("--warm-up", type=positive, default=200, metavar="STEPS", help="steps before the clock starts")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()

    torch.set_num_threads(1)
    self_check()
    result = run(args.games, args.seed, args.compile, args.games_at_once, args.warm_up)
    if args.json:
        print(json.dumps(result))
    else:
        print(
            f"{result['variant']}: {result['games_per_second']:,.0f} games/s "
            f"({args.games:,} games in {result['seconds']:.2f} s), equity {result['equity']:+.4f} "
            "(random −0.7606, TTT 0, best +0.6635)"
        )


if __name__ == "__main__":
    main()
