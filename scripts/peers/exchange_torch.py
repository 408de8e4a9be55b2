"""Exported checkpoints in PyTorch: loaded as they are, trained on, and brought back; and evaluations a second by every route.

The modules below are all that it takes: their parts have the names of docs/formats.md, so `load_state_dict` is strict. A network whose head
lists classes of outcomes gives their probabilities, others a value.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "crates/embed/examples"), str(ROOT / "scripts/exchange")]
import adept  # noqa: E402
from check import bearoff, drawn, noughts, off, positions, run, tictactoe  # noqa: E402

ACTIVATIONS = {"tanh": nn.Tanh, "sigmoid": nn.Sigmoid, "relu": nn.ReLU, "silu": nn.SiLU, "linear": nn.Identity}
ACTIVATIONS["softmax"] = lambda: nn.Softmax(dim=1)
PRIOR_LIMIT = 1 - 1e-6
TOLERANCE = 1e-5


class Layer(nn.Linear):
    def __init__(self, inputs, outputs, sensitive):
        super().__init__(inputs, outputs)
        if sensitive:
            self.sensitivity = nn.Parameter(torch.ones(outputs))

    def forward(self, x):
        net = super().forward(x)
        return net * self.sensitivity if hasattr(self, "sensitivity") else net


class Perceptron(nn.Module):
    def __init__(self, channels, inputs, widths, activations, sensitive=False):
        super().__init__()
        sizes = {c["name"]: c.get("size", 1) for c in channels}
        self.inputs = inputs or [c["name"] for c in channels if c["kind"] in ("dense", "bits")]
        widths = [sum(sizes[name] for name in self.inputs), *widths]
        pairs = zip(widths, widths[1:])
        self.layer = nn.ModuleList(Layer(a, b, sensitive) for a, b in pairs)
        self.f = [ACTIVATIONS[name]() for name in activations]

    def forward(self, row):
        x = torch.cat([row[name] for name in self.inputs], dim=1)
        for layer, f in zip(self.layer, self.f):
            x = f(layer(x))
        return x


class Table(nn.Module):
    """Logits by the value of an index channel."""

    def __init__(self, channels, by, experts):
        super().__init__()
        self.by = by
        self.table = nn.Parameter(torch.zeros(next(c["size"] for c in channels if c["name"] == by), experts))

    def forward(self, row):
        return self.table[row[self.by][:, 0]]


def all_of(experts, row):
    """The outputs of all experts: [rows, experts, outputs]."""
    return torch.stack([expert(row) for expert in experts], dim=1)


def selected(experts, row, number):
    """The output of one expert for each row."""
    y = all_of(experts, row)
    return y[torch.arange(len(y)), number]


class Mixture(nn.Module):
    def __init__(self, channels, spec, experts):
        super().__init__()
        gate = spec["gate"]
        activations = [*each(gate["activation"], gate["hidden"]), "linear"]
        if "by" in gate:
            self.gate = Table(channels, gate["by"], len(experts))
        else:
            self.gate = Perceptron(channels, gate.get("inputs"), [*gate["hidden"], len(experts)], activations)
        self.expert = nn.ModuleList(experts)
        self.threshold = spec["threshold"]

    def forward(self, row):
        weights = self.gate(row).softmax(dim=1)
        if self.threshold > 0:
            lone = nn.functional.one_hot(weights.argmax(dim=1), weights.shape[1]).bool()
            passes = weights > self.threshold
            weights = weights * torch.where(passes.any(dim=1, keepdim=True), passes, lone)
            weights = weights / weights.sum(dim=1, keepdim=True)
        return (weights[:, :, None] * all_of(self.expert, row)).sum(dim=1)


class Symbolic(nn.Module):
    def __init__(self, spec, experts):
        super().__init__()
        self.by, self.expert = spec["by"], nn.ModuleList(experts)

    def forward(self, row):
        return selected(self.expert, row, row[self.by][:, 0])


class Classes(nn.Module):
    """The tables of learned cells, which do not learn."""

    def __init__(self, channels, spec):
        super().__init__()
        sizes = [next(c["size"] for c in channels if c["name"] == by) for by in spec["by"]]
        self.classes = nn.ParameterList(nn.Parameter(torch.zeros(n), requires_grad=False) for n in sizes)
        shape = [min(n, spec["classes"]) for n in sizes]
        self.table = nn.Parameter(torch.zeros(*shape), requires_grad=False)


class Cells(nn.Module):
    def __init__(self, channels, spec, experts):
        super().__init__()
        self.by, self.gate = spec["by"], Classes(channels, spec)
        self.expert = nn.ModuleList(experts)

    def forward(self, row):
        first, second = (c[row[by][:, 0]].long() for c, by in zip(self.gate.classes, self.by))
        return selected(self.expert, row, self.gate.table[first, second].long())


class Frozen(nn.Module):
    def __init__(self, channels, spec, utilities):
        super().__init__()
        self.on = spec.get("on") or next(c["name"] for c in channels if c["kind"] == "value")
        self.utilities = utilities

    def forward(self, row):
        return row[self.on] if self.utilities is None else self.logits(row).softmax(dim=1)

    def logits(self, row):
        """The logits of a prior over two or three classes."""
        p = row[self.on].clamp(-PRIOR_LIMIT, PRIOR_LIMIT)
        if len(self.utilities) == 2:
            return torch.atanh(p) * self.utilities
        size = p.abs()
        return p.sign() * ((size + (4 - 3 * size**2).sqrt()) / (2 * (1 - size))).log() * self.utilities


class Residual(Frozen):
    def __init__(self, channels, spec, utilities):
        super().__init__(channels, spec, utilities)
        outputs = 1 if utilities is None else len(utilities)
        self.net = build(channels, spec["net"], outputs=outputs)

    def forward(self, row):
        if self.utilities is not None:
            return (self.logits(row) + self.net(row)).softmax(dim=1)
        prior = row[self.on].clamp(-PRIOR_LIMIT, PRIOR_LIMIT)
        return torch.tanh(torch.atanh(prior) + self.net(row))


def each(given, layers):
    return [given] * len(layers) if isinstance(given, str) else given


def build(channels, architecture, utilities=None, outputs=1):
    """The module of a node. With utilities it gives a distribution over as many classes, otherwise so many outputs as they are."""
    (kind, spec), = architecture.items()
    if kind == "mlp":
        last = spec["output"] if utilities is None else "softmax"
        outputs = outputs if utilities is None else len(utilities)
        activations = [*each(spec["activation"], spec["hidden"]), last]
        return Perceptron(channels, spec.get("inputs"), [*spec["hidden"], outputs], activations, "sensitivity" in spec)
    if kind == "residual":
        return Residual(channels, spec, utilities)
    if kind == "frozen":
        return Frozen(channels, spec, utilities)
    one, several = spec.get("expert"), spec.get("experts")
    if kind == "symbolic" and one:
        several = next(c["size"] for c in channels if c["name"] == spec["by"])
    experts = [build(channels, s, utilities, outputs) for s in ([one] * several if one else several)]
    if kind == "cells":
        return Cells(channels, spec, experts)
    return Symbolic(spec, experts) if kind == "symbolic" else Mixture(channels, spec, experts)


def rate(batch, call):
    """Evaluations a second: the median of seven measurements of 60 ms, after one that warms up."""
    rates = []
    for _ in range(8):
        start, calls = time.perf_counter(), 0
        while time.perf_counter() - start < 0.06:
            call()
            calls += 1
        rates.append(calls * batch / (time.perf_counter() - start))
    return sorted(rates[1:])[3]


def outputs_of(model, dense, index):
    """Probabilities of outcomes, or values: an array [rows, outputs]."""
    return model.outcomes(dense, index) if model.classes else model.evaluate(dense, index)[:, None]


def check(options, checkpoint, folder):
    name = checkpoint.name
    tensors, graph = folder / f"{name}.safetensors", folder / f"{name}.onnx"
    run(options.adept, "export", checkpoint, "--format", "safetensors", "--out", tensors)
    run(options.adept, "export", checkpoint, "--format", "onnx", "--out", graph)
    with safe_open(tensors, "pt") as file:
        manifest = json.loads(file.metadata()["adept"])
    head = manifest.get("head")
    utilities = torch.tensor([c["utility"] for c in head["outcomes"]]) if isinstance(head, dict) else None
    module = build(manifest["channels"], manifest["architecture"], utilities)
    module.load_state_dict(load_file(tensors))

    model = adept.Model(checkpoint)
    draw = {"bearoff": bearoff, "tictactoe": noughts}.get(model.about["game"])
    dense, index = model.encode(positions(draw, options.rows)) if draw else drawn(model.about, options.rows)
    inputs, native = model.inputs(dense, index), outputs_of(model, dense, index)
    row = {key: torch.from_numpy(value.copy()) for key, value in inputs.items()}
    with torch.inference_mode():
        as_exported = off(module(row).numpy(), native)

    # A user's own training: a few steps towards something else, then back.
    optimiser = torch.optim.Adam(module.parameters(), lr=1e-3)
    # Towards no preference: equal probabilities, or 0.
    target = torch.from_numpy(native) * 0.9 + (0 if utilities is None else 0.1 / len(utilities))
    for _ in range(20):
        optimiser.zero_grad()
        nn.functional.mse_loss(module(row), target).backward()
        optimiser.step()
    tuned, back = folder / f"{name}-tuned.safetensors", folder / f"{name}-tuned"
    save_file(module.state_dict(), tuned)
    run(options.adept, "import", tuned, "--like", checkpoint, "--out", back)
    with torch.inference_mode(), adept.Model(back) as returned:
        values = module(row).numpy()
        moved = float(np.abs(values - native).max())
        back = off(outputs_of(returned, dense, index), values)
    print(f"{name:<26}{as_exported:>12.2e}{back:>18.2e}{moved:>14.4f}", flush=True)
    # The routes in Rust and C draw positions of the bear-off.
    if model.about["game"] != "bearoff":
        model.close()
        return max(as_exported, back), []

    module.load_state_dict(load_file(tensors))
    session = onnxruntime.InferenceSession(graph, one_thread(), providers=["CPUExecutionProvider"])
    speeds = []
    for batch in (1, 512):
        part = {key: value[:batch].copy() for key, value in inputs.items()}
        feed = {i.name: part[i.name] for i in session.get_inputs()}
        small = {key: torch.from_numpy(value) for key, value in part.items()}
        d, i = dense[:batch].copy(), index[:batch].copy()
        speeds.append((name, "ctypes", batch, rate(batch, lambda: model.evaluate(d, i))))
        speeds.append((name, "onnxruntime", batch, rate(batch, lambda: session.run(["value"], feed))))
        with torch.inference_mode():
            speeds.append((name, "pytorch", batch, rate(batch, lambda: module(small))))
    model.close()
    for program in ([options.routes, checkpoint], [options.c, checkpoint]):
        lines = subprocess.run(program, check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()
        speeds += [line.split() for line in lines]
    return max(as_exported, back), speeds


def one_thread():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return options


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--adept", required=True, help="the program")
    options.add_argument("--routes", required=True, help="the example of that name of adept-embed")
    options.add_argument("--c", required=True, help="crates/embed/examples/speed.c, compiled")
    options.add_argument("--rows", type=int, default=10_000)
    options.add_argument("checkpoints", nargs="*", type=pathlib.Path, help="all published networks, and small ones of tic-tac-toe, if left out")
    options = options.parse_args()
    torch.set_num_threads(1)
    worst, speeds = 0.0, {}
    print(f"{'':<26}{'as exported':>12}{'trained and back':>18}{'moved by':>14}")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        checkpoints = options.checkpoints
        if not checkpoints:
            published = sorted(ROOT.glob("checkpoints/*/*/manifest.json"))
            # A table of positions is not a graph.
            checkpoints = [p.parent for p in published if json.loads(p.read_text())["kind"] == "network"]
            checkpoints += tictactoe(options.adept, folder)
        for checkpoint in checkpoints:
            difference, found = check(options, checkpoint, folder)
            worst = max(worst, difference)
            for name, route, batch, speed in found:
                speeds[name, route, int(batch)] = float(speed)
    print(f"largest difference over {options.rows} rows {worst:.2e}; allowed is {TOLERANCE:.0e}\n")
    routes = ["rust", "c", "tract", "onnxruntime", "pytorch", "ctypes"]
    print(f"{'evaluations/s, one thread':<32}" + "".join(f"{r:>14}" for r in routes))
    for name in dict.fromkeys(name for name, _, _ in speeds):
        for batch in (1, 512):
            cells = "".join(f"{speeds[name, r, batch]:>14,.0f}" for r in routes)
            print(f"{name:<26}{batch:>6}{cells}")
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
