#!/usr/bin/env python3
"""The networks of `adept bench speed` in PyTorch, ONNX Runtime, tract and burn-flex, interleaved with ours, on one core.

    pip install torch onnx onnxscript onnxruntime tract
    taskset -c 0 python scripts/peers/torch_speed.py target/release/adept

Each is written as its users write it: PyTorch eager with fused Adam; evaluation also of the model in bfloat16; the loss by `torch.compile` with the same Adam; the whole step,
Adam by hand, as one compiled graph; ONNX Runtime and tract on the exported network. In each round, network by network, ours runs all its
cells, then the others do, one program after the other. Printed are medians over the rounds, how many times as long as ours the fastest way of
PyTorch takes, and which share of a core's multiply-adds ours does, as if no input were 0. The share is of floats.
"""

import argparse
import copy
import io
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time

import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
# Each network and batch is a compilation of its own.
torch._dynamo.config.recompile_limit = 1000
torch._dynamo.config.accumulated_recompile_limit = 1000
RATE, BETA1, BETA2, EPSILON = 1e-5, 0.9, 0.999, 1e-8


def mlp(inputs, hidden, activation, classes):
    widths, layers = [inputs, *hidden], []
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b), activation()]
    layers.append(nn.Linear(widths[-1], classes or 1))
    if not classes:
        layers.append(nn.Tanh())
    return nn.Sequential(*layers)


class Cells(nn.Module):
    """64 experts 68-8-1; an index chooses."""

    def __init__(self):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(64, 68, 8) / 68**0.5)
        self.b1 = nn.Parameter(torch.zeros(64, 8))
        self.w2 = nn.Parameter(torch.randn(64, 8) / 8**0.5)
        self.b2 = nn.Parameter(torch.zeros(64))

    def forward(self, x, cell):
        h = torch.tanh(torch.bmm(x.unsqueeze(1), self.w1[cell]).squeeze(1) + self.b1[cell])
        return torch.tanh((h * self.w2[cell]).sum(1) + self.b2[cell]).unsqueeze(1)


class Mixture(nn.Module):
    """16 experts 68-64-1 and a linear gate."""

    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(68, 16 * 64)
        self.w2 = nn.Parameter(torch.randn(16, 64) / 8)
        self.b2 = nn.Parameter(torch.zeros(16))
        self.gate = nn.Linear(68, 16)

    def forward(self, x, apart: bool = False):
        h = torch.tanh(self.hidden(x)).view(-1, 16, 64)
        y, gate = torch.tanh((h * self.w2).sum(2) + self.b2), self.gate(x)
        return (y, gate) if apart else (torch.softmax(gate, 1) * y).sum(1, keepdim=True)


# Network, share of inputs that are not 0, classes: as in crates/lab/src/bench.rs.
NETWORKS = {
    "68-10-1": (lambda: mlp(68, [10], nn.Tanh, 0), 68, 0.5, 0),
    "200-256-1": (lambda: mlp(200, [256], nn.ReLU, 0), 200, 0.1, 0),
    "202-128-6": (lambda: mlp(202, [128], nn.ReLU, 6), 202, 0.1, 6),
    "202-512-64-6": (lambda: mlp(202, [512, 64], nn.ReLU, 6), 202, 0.1, 6),
    "400-512-512-1": (lambda: mlp(400, [512, 512], nn.ReLU, 0), 400, 0.5, 0),
    "cells 64x8": (Cells, 68, 0.5, 0),
    "hme 16x64": (Mixture, 68, 0.5, 0),
}


class Cell:
    """One network and batch in all programs but ours."""

    def __init__(self, name, batch, compiles):
        make, inputs, density, self.classes = NETWORKS[name]
        torch.manual_seed(1)
        self.model = make().eval()
        x = torch.rand(batch, inputs) * 2 - 1
        x = x * (torch.rand(batch, inputs) < density)
        self.x = (x, torch.randint(64, (batch,))) if name.startswith("cells") else (x,)
        self.target = torch.randint(self.classes, (batch,)) if self.classes else torch.rand(batch, 1) * 2 - 1
        self.adam = torch.optim.Adam(self.model.parameters(), lr=RATE, fused=True)
        self.compiles = compiles
        if compiles:
            self.values = torch.compile(self.model, dynamic=False, fullgraph=True)
            self.state = [
                {k: p.detach().clone() for k, p in self.model.named_parameters()},
                {k: torch.zeros_like(p) for k, p in self.model.named_parameters()},
                {k: torch.zeros_like(p) for k, p in self.model.named_parameters()},
                torch.zeros(()),
            ]
            self.compiled_loss = torch.compile(lambda: self.loss(self.model), dynamic=False, fullgraph=True)
            self.whole_step = torch.compile(self.functional_step, dynamic=False, fullgraph=True)

    def loss(self, model):
        if isinstance(self.model, Mixture):
            y, gate = model(*self.x, apart=True)
            return -torch.logsumexp(torch.log_softmax(gate, 1) - (self.target - y) ** 2 / 2, 1).mean()
        y = model(*self.x)
        return F.cross_entropy(y, self.target) if self.classes else F.mse_loss(y, self.target) / 2

    def functional_step(self, parameters, first, second, step):
        def loss(parameters):
            return self.loss(lambda *x, **how: torch.func.functional_call(self.model, parameters, x, how))

        step += 1
        rate = RATE * torch.sqrt(1 - BETA2**step) / (1 - BETA1**step)
        for k, g in torch.func.grad(loss)(parameters).items():
            first[k].lerp_(g, 1 - BETA1)
            second[k].mul_(BETA2).addcmul_(g, g, value=1 - BETA2)
            parameters[k].sub_(rate * first[k] / (second[k].sqrt() + EPSILON))

    def eager_step(self):
        self.adam.zero_grad()
        self.loss(self.model).backward()
        self.adam.step()

    def compiled_step(self):
        self.adam.zero_grad()
        self.compiled_loss().backward()
        self.adam.step()

    def graph_step(self):
        with torch.no_grad():
            self.whole_step(*self.state)

    def works(self):
        """(operation, program) → what one call does."""

        def eager():
            with torch.inference_mode():
                return self.model(*self.x)

        def compiled():
            with torch.inference_mode():
                return self.values(*self.x)

        half, x = copy.deepcopy(self.model).bfloat16(), [x.bfloat16() if x.is_floating_point() else x for x in self.x]

        def half_eager():
            with torch.inference_mode():
                return half(*x)

        works = {("evaluate", "eager"): eager, ("update", "eager"): self.eager_step, ("bf16", "eager"): half_eager}
        if self.compiles:
            half_values = torch.compile(half, dynamic=False, fullgraph=True)

            def half_compiled():
                with torch.inference_mode():
                    return half_values(*x)

            works["bf16", "compiled"] = half_compiled
            works |= {("evaluate", "compiled"): compiled, ("update", "compiled"): self.compiled_step}
            works["update", "graph"] = self.graph_step
        return works | {("evaluate", k): v for k, v in self.runtimes().items()}

    def runtimes(self):
        import onnxruntime
        import tract

        file = io.BytesIO()
        torch.onnx.export(self.model, self.x, file, input_names=["x", "cell"][: len(self.x)], dynamo=True, verbose=False)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(file.getvalue(), options, providers=["CPUExecutionProvider"])
        feed = {i.name: x.numpy() for i, x in zip(session.get_inputs(), self.x)}
        found = {"onnxruntime": lambda: session.run(None, feed)}
        try:
            with tempfile.NamedTemporaryFile(suffix=".onnx") as to:
                to.write(file.getvalue())
                to.flush()
                model = tract.onnx().load(to.name).into_model().into_runnable()
            arrays = [x.numpy() for x in self.x]
            model.run(arrays)
            found["tract"] = lambda: model.run(arrays)
        except Exception as error:  # tract does not know every op
            print(f"note: tract: {str(error)[:200]}", file=sys.stderr)
        return found


def microseconds(call, seconds):
    """The median of calls, after three for warming up."""
    for _ in range(3):
        call()
    begin = time.perf_counter()
    call()
    # As adept does: the clock is read every ten microseconds at most.
    group = max(1, math.ceil(1e-5 / max(time.perf_counter() - begin, 1e-8)))
    times, end = [], time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        begin = time.perf_counter()
        for _ in range(group):
            call()
        times.append((time.perf_counter() - begin) / group)
    return 1e6 * statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adept", help="the program")
    parser.add_argument("--network", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--batch", nargs="+", type=int, default=[1, 8, 512, 8192])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.15, help="time of one measurement")
    parser.add_argument("--eager", action="store_true", help="leave out torch.compile, which takes minutes to compile")
    parser.add_argument("--json", help="write all medians to this file")
    args = parser.parse_args()

    cells = {}
    for name in args.network:
        for batch in args.batch:
            print(f"preparing {name}, {batch} rows", file=sys.stderr)
            works = Cell(name, batch, not args.eager).works()
            for work in works.values():
                work()
            cells[name, batch] = works

    ours = [args.adept, "bench", "speed", "--json", "--device", "cpu", "--device", "flex"]
    ours += [word for batch in args.batch for word in ("--batch", str(batch))]
    found, peak, machine = {}, 0.0, {}
    for round in range(args.rounds):
        for name in args.network:
            print(f"round {round + 1} of {args.rounds}: {name}", file=sys.stderr)
            printed = subprocess.run([*ours, "--network", name], capture_output=True, text=True, check=True).stdout
            bench = json.loads(printed)
            peak, machine = max(peak, bench["peak"]["multiply_adds"]), bench["machine"]
            for c in bench["cells"]:
                program = "ours" if c["device"] == "cpu" else "flex"
                key = c["network"], c["operation"], c["batch"]
                found.setdefault(key, {}).setdefault(program, []).append(c["median_us"])
                if program == "ours":
                    found[key]["work"] = [c["multiply_adds"] * c["batch"]]
            for batch in args.batch:
                for (operation, program), work in cells[name, batch].items():
                    if (name, operation, batch) not in found:
                        continue  # small networks gain nothing by bfloat16
                    times = found[name, operation, batch].setdefault(program, [])
                    times.append(microseconds(work, args.seconds))

    pytorch = ("eager", "compiled", "graph")
    programs = ["ours", *pytorch, "onnxruntime", "tract", "flex"]
    print(f"{machine['processor']}, {machine['vectors']}; {peak / 1e9:.0f} billion multiply-adds a second; PyTorch {torch.__version__}")
    print(f"{'microseconds':<14} {'':<8} {'rows':>5}" + "".join(f"{p:>12}" for p in programs) + f"{'ratio':>8}{'peak':>7}")
    table = []
    for (name, operation, batch), times in found.items():
        work = times.pop("work")[0]
        medians = {p: statistics.median(t) for p, t in times.items()}
        ratio = min(v for p, v in medians.items() if p in pytorch) / medians["ours"]
        share = work / (medians["ours"] * 1e-6) / peak
        shown = "".join(f"{medians[p]:>12.2f}" if p in medians else f"{'-':>12}" for p in programs)
        of_peak = "-" if operation == "bf16" else f"{100 * share:.0f}%"
        print(f"{name:<14} {operation:<8} {batch:>5}{shown}{ratio:>8.2f}{of_peak:>7}")
        table.append({"network": name, "operation": operation, "batch": batch, "us": medians, "ratio": ratio, "peak": share})
    if args.json:
        with open(args.json, "w") as to:
            json.dump({"machine": machine, "peak": peak, "cells": table}, to, indent=1)


if __name__ == "__main__":
    main()
