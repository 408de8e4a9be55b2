"""A checkpoint as docs/formats.md describes it, in numpy. Written from that page alone: where this file and the page differ,
one of them is wrong.

    python3 scripts/exchange/reader.py [--adept PROGRAM] [CHECKPOINT…]

Compares with the C library on rows of any numbers, and prints the largest difference as a share of 1 + |value|: of values, and of the
probabilities of networks that give outcomes. Exit status 1 where it is more than 1e-5.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from safetensors.numpy import load_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOLERANCE = 1e-5

ACTIVATIONS = {
    "tanh": np.tanh,
    "sigmoid": lambda x: (1 + np.tanh(x / 2)) / 2,
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "linear": lambda x: x,
}
RANGES = {"tanh": (-1, 1), "sigmoid": (0, 1)}
ANY = (-np.inf, np.inf)


class Checkpoint:
    """The manifest and the tensors of a checkpoint folder."""

    def __init__(self, path):
        self.manifest, self.tensors = self.read(pathlib.Path(path))
        self.channels = {c["name"]: c for c in self.manifest["channels"]}
        head = self.manifest.get("head")
        # The classes of outcomes; None for a network of values or a policy.
        self.classes = head["outcomes"] if isinstance(head, dict) else None
        # Whether nodes give distributions: not those that correct the logits of a prior.
        self.gives_distributions = self.classes is not None
        # What the nodes in `top` of shared layers read.
        self.h = None
        self.used = set()

    def read(self, folder):
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        return manifest, load_file(folder / "weights.safetensors")

    def __call__(self, rows):
        """Values of rows: an array [rows, width] for each channel name."""
        if self.classes is None:
            return self.outputs(rows)[:, 0]
        return self.outputs(rows) @ self.utilities()

    def outputs(self, rows):
        """Probabilities of the classes, [rows, classes]; without classes the values, [rows, 1]."""
        self.rows = rows
        return self.node(self.manifest["architecture"], "")

    def utilities(self):
        return np.array([c["utility"] for c in self.classes])

    def bounds(self):
        """The range of its values."""
        policy = self.manifest.get("output") == "logits" or self.manifest.get("head") == "policy"
        if self.classes is not None:
            return min(self.utilities()), max(self.utilities())
        return ANY if policy else self.range(self.manifest["architecture"])

    def tensor(self, name):
        self.used.add(name)
        data = self.tensors[name]
        return data.astype(np.float64) if data.dtype == np.float32 else data

    def only(self, *kinds):
        (name,) = (name for name, c in self.channels.items() if c["kind"] in kinds)
        return name

    def inputs(self, names):
        if names is None and self.h is not None:
            return self.h
        if names is None:
            names = [name for name, c in self.channels.items() if c["kind"] in ("dense", "bits")]
        return np.concatenate([self.rows[name] for name in names], axis=1)

    def index(self, name):
        return self.rows[name][:, 0].astype(np.int64)

    # Nodes: each gives an array [rows, outputs], with an output for each class, or one.

    def node(self, architecture, name):
        ((kind, spec),) = architecture.items()
        return getattr(self, kind)(spec, name)

    def mlp(self, spec, name):
        if self.gives_distributions:
            return softmax(self.layers(spec, ["linear"], name))
        return self.layers(spec, [spec["output"]], name)

    def shared(self, spec, name):
        above, self.h = self.h, self.layers(spec, [], f"{name}shared.")
        y = self.node(spec["top"], f"{name}top.")
        self.h = above
        return y

    def layers(self, spec, output, name):
        hidden, activation = spec["hidden"], spec["activation"]
        functions = [activation] * len(hidden) if isinstance(activation, str) else list(activation)
        x = self.inputs(spec.get("inputs"))
        for i, f in enumerate([*functions, *output]):
            x = x @ self.tensor(f"{name}layer.{i}.weight") + self.tensor(f"{name}layer.{i}.bias")
            if f"{name}layer.{i}.sensitivity" in self.tensors:
                x = x * self.tensor(f"{name}layer.{i}.sensitivity")
            x = ACTIVATIONS[f](x)
        return x

    def experts(self, spec):
        several = spec.get("experts")
        if isinstance(several, list):
            return several
        if several is None:
            several = self.channels[spec["by"]]["size"]
        return [spec["expert"]] * several

    def all_experts(self, spec, name):
        return np.stack([self.node(e, f"{name}expert.{j}.") for j, e in enumerate(self.experts(spec))], axis=1)

    def hme(self, spec, name):
        gate, threshold = spec["gate"], spec["threshold"]
        if "by" in gate:
            a = self.tensor(f"{name}gate.table")[self.index(gate["by"])]
        else:
            a = self.layers(gate, ["linear"], f"{name}gate.")
        s = softmax(a)
        if threshold > 0:
            passes = s > np.float32(threshold)
            best = np.arange(s.shape[1]) == s.argmax(axis=1)[:, None]
            s = s * np.where(passes.any(axis=1, keepdims=True), passes, best)
            s = s / s.sum(axis=1, keepdims=True)
        return (s[:, :, None] * self.all_experts(spec, name)).sum(axis=1)

    meta_pi = hme

    def symbolic(self, spec, name):
        y = self.all_experts(spec, name)
        return y[np.arange(len(y)), self.index(spec["by"])]

    def cells(self, spec, name):
        first, second = (
            self.tensor(f"{name}gate.classes.{k}").astype(int)[self.index(by)] for k, by in enumerate(spec["by"])
        )
        expert = self.tensor(f"{name}gate.table").astype(int)[first, second]
        y = self.all_experts(spec, name)
        return y[np.arange(len(y)), expert]

    def modules(self, spec, name):
        wanted = spec.get("inputs") or [n for n, c in self.channels.items() if c["kind"] in ("dense", "bits")]
        left = list(wanted)
        wanted = set(wanted)
        while left:
            for part in self.channels[left.pop()].get("parts", []):
                if part not in wanted:
                    wanted.add(part)
                    left.append(part)
        units, estimates = {}, []
        for channel, about in self.channels.items():
            if channel in wanted:
                x = [self.rows[channel], *(units[part] for part in about.get("parts", []))]
                here = f"{name}module.{channel}."
                units[channel] = self.dense(np.concatenate(x, axis=1), here + "units")
                estimates.append(self.estimate(units[channel], here + "estimate"))
        together = np.concatenate(list(units.values()), axis=1)
        estimates.append(self.estimate(self.dense(together, f"{name}top.units"), f"{name}top.estimate"))
        gate = f"{name}gate.layer.0"
        s = softmax(together @ self.tensor(f"{gate}.weight") + self.tensor(f"{gate}.bias"))
        return (s[:, :, None] * np.stack(estimates, axis=1)).sum(axis=1)

    def linear(self, x, name):
        return x @ self.tensor(f"{name}.weight") + self.tensor(f"{name}.bias")

    def dense(self, x, name):
        return np.tanh(self.linear(x, name))

    def estimate(self, x, name):
        return softmax(self.linear(x, name)) if self.gives_distributions else self.dense(x, name)

    def residual(self, spec, name):
        p, is_value = self.prior(spec), self.classes is None
        self.gives_distributions = False
        z = self.node(spec["net"], f"{name}net.")
        self.gives_distributions = not is_value
        return np.tanh(np.arctanh(p) + z) if is_value else softmax(self.prior_logits(p) + z)

    def frozen(self, spec, name):
        if self.classes is not None:
            return softmax(self.prior_logits(self.prior(spec)))
        return self.rows[spec.get("on") or self.only("value")]

    def prior(self, spec):
        p = self.rows[spec.get("on") or self.only("value")].astype(np.float64)
        return np.clip(p, -(1 - 1e-6), 1 - 1e-6)

    def prior_logits(self, p):
        size = np.abs(p)
        if len(self.classes) == 2:
            tilt = np.arctanh(p)
        else:
            tilt = np.sign(p) * np.log((size + np.sqrt(4 - 3 * size**2)) / (2 * (1 - size)))
        return tilt * self.utilities()

    def lookup(self, spec, name):
        if self.manifest["kind"] != "table":
            table = self.tensor(f"{name}table")[self.index(spec.get("by") or self.only("index"))]
            return softmax(table) if self.gives_distributions else table
        keys = self.rows[spec.get("by") or self.only("index", "key")][:, 0].tolist()
        held = self.tensor("values")
        known = dict(zip(self.tensor("keys").tolist(), held.reshape(len(held), -1)))
        first = spec.get("initial_from")
        if self.classes is not None:
            others = np.full((len(keys), len(self.classes)), 1 / len(self.classes))
        elif first:
            others = self.rows[first]
        else:
            others = np.full((len(keys), 1), spec["initial"])
        return np.stack([known.get(key, other) for key, other in zip(keys, others)])

    def blind(self, spec, name):
        bits = self.rows[spec.get("input") or self.only("bits")] > 0.5
        n = bits.shape[1]
        held = [bits[:, k] for k in range(n)]
        variables = lists(self.tensor("variables"))
        held += [~bits[:, variables[int(v)]].any(axis=1) for v in self.tensor("none")]
        words = -(-n // 64)
        for odd in self.tensor("odd").reshape(-1, words):
            members = [k for k in range(n) if int(odd[k // 64]) >> (k % 64) & 1]
            held.append(bits[:, members].sum(axis=1) % 2 == 1)
        relations = np.concatenate([[0.0], self.tensor("relations")])
        total = np.zeros(len(bits))
        for literals, weight, member in zip(
            lists(self.tensor("sets")), self.tensor("weights"), self.tensor("member"), strict=True
        ):
            active = np.ones(len(bits), bool)
            for literal in literals:
                active &= held[literal]
            total += active * (weight + relations[int(member)])
        return np.tanh(total)[:, None]

    # Ranges.

    def range(self, architecture):
        ((kind, spec),) = architecture.items()
        if kind == "mlp":
            return RANGES.get(spec["output"], ANY)
        if kind == "lookup":
            return ANY
        if kind == "shared":
            return self.range(spec["top"])
        if kind in ("hme", "meta_pi", "symbolic", "cells"):
            ends = [self.range(e) for e in self.experts(spec)]
            return min(low for low, _ in ends), max(high for _, high in ends)
        return -1, 1


def softmax(a):
    e = np.exp(a - a.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def lists(flat):
    """Lists that are written one after the other, each after its length."""
    flat, found, at = [int(n) for n in flat], [], 0
    while at < len(flat):
        found.append(flat[at + 1 : at + 1 + flat[at]])
        at += 1 + flat[at]
    return found


def compare(folder, rows=2_000):
    """The largest difference from the engine as a share of 1 + |value|, on rows of any numbers."""
    sys.path.insert(0, str(ROOT / "crates/embed/examples"))
    import adept

    checkpoint, generator = Checkpoint(folder), np.random.default_rng(1)
    with adept.Model(folder) as model:
        about = model.about
        dense = generator.uniform(-1, 1, (rows, about["dense_width"])).astype(np.float32)
        index = np.zeros((rows, about["index_width"]), np.uint64)
        for c in about["channels"]:
            if c["kind"] == "index":
                index[:, c["first"]] = generator.integers(0, c["size"], rows)
            elif c["kind"] == "key":
                # Known positions and others by turns.
                known = checkpoint.tensors.get("keys", np.array([1], np.uint64))
                index[:, c["first"]] = generator.choice(known, rows) + (np.arange(rows) % 2).astype(np.uint64)
            elif c["kind"] == "bits":
                columns = slice(c["first"], c["first"] + c["width"])
                dense[:, columns] = dense[:, columns] > 0
        native = model.evaluate(dense, index)
        probabilities = model.outcomes(dense, index) if model.classes else native[:, None]
        assert model.classes == [c["name"] for c in checkpoint.classes or []], model.classes
        parts = {
            c["name"]: (index if c["kind"] in ("index", "key") else dense)[:, c["first"] : c["first"] + c["width"]]
            for c in about["channels"]
        }
    found = checkpoint(parts)
    assert found.shape == native.shape and np.isfinite(found).all() and native.std() > 0, folder
    outputs = checkpoint.outputs(parts)
    assert outputs.shape == probabilities.shape and probabilities.std(axis=0).min() > 0, folder
    assert checkpoint.classes is None or np.allclose(outputs.sum(axis=1), 1), folder
    low, high = checkpoint.bounds()
    assert about["range"] == (None if np.isinf(low) or np.isinf(high) else [low, high]), (about["range"], low, high)
    unread = checkpoint.tensors.keys() - checkpoint.used - {"pairs", "found"}
    assert not unread, f"{folder}: tensors that the page does not use: {sorted(unread)}"
    return max(float((np.abs(a - b) / (1 + np.abs(b))).max()) for a, b in ((found, native), (outputs, probabilities)))


# A network of each architecture that no published checkpoint has: a config and settings that make it small, or its text.
SMALL = {
    "modules": ("declared/informed", ["learn.td.games=200"]),
    "blind": ("declared/blind", ["learn.td.games=1500"]),
    "lookup": ("declared/table", ["learn.td.games=500"]),
    "sensitivities": ("tictactoe/symbolic-9x20", ["learn.games=2000"]),
    "thresholds": ("tictactoe/meta-pi-2x40-st3", ["learn.games=2000"]),
    "outcomes-modules": ("declared/informed", ["learn.td.games=200", "head=outcomes"]),
    "outcomes-lookup": ("tictactoe/lookup", ["learn.games=500", "head=outcomes"]),
    "outcomes-symbolic": ("tictactoe/symbolic-9x20", ["learn.games=2000", "head=outcomes"]),
    "outcomes-thresholds": ("tictactoe/hme-2x40-st3", ["learn.games=2000", "head=outcomes"]),
}
TEXTS = {
    "nested": """
name = "nested"
game = { rules = "bearoff:4", encoder = "race+distribution:12+prior:convolution+pace" }
evaluate = { every = 500, suites = ["rms"] }

[learn]
rate = 0.01
td.games = 500

[architecture.hme]
threshold = 0.2
gate = { hidden = [5], activation = "sigmoid" }
experts = [
  { frozen = {} },
  { lookup = { by = "pace_moved", initial = 0.1 } },
  { residual = { net = { mlp = { inputs = ["distribution", "prior"], hidden = [4, 3], activation = ["relu", "silu"], output = "linear" } } } },
  { meta_pi = { experts = 2, expert = { mlp = { hidden = [], output = "sigmoid", sensitivity = 2.0 } } } },
]
""",
    # Layers in layers, a gate that reads what the channels say, and one that does not.
    "shared": """
name = "shared"
game = { rules = "bearoff:4", encoder = "race+distribution:12" }
evaluate = { every = 500, suites = ["rms"] }

[learn]
rate = 0.01
td.games = 500

[architecture.shared]
hidden = [6, 5]
activation = ["relu", "tanh"]
inputs = ["distribution"]

[architecture.shared.top.hme]
gate = { hidden = [], inputs = ["one_sided"] }
experts = [
  { mlp = { hidden = [3], output = "sigmoid" } },
  { shared = { hidden = [4], top = { meta_pi = { experts = 2, gate = { hidden = [] }, expert = { mlp = { hidden = [], inputs = ["one_sided"], sensitivity = 2.0 } } } } } },
]
""",
    # Two classes, in every kind of node that a prior corrects.
    "outcomes-nested": """
name = "outcomes-nested"
head = "outcomes"
game = { rules = "bearoff:4", encoder = "race+distribution:12+prior:convolution+pace" }
evaluate = { every = 500, suites = ["rms"] }

[learn]
rate = 0.01
td = { games = 500, along = "both" }

[architecture.hme]
threshold = 0.2
gate = { hidden = [5], activation = "sigmoid" }
experts = [
  { frozen = {} },
  { lookup = { by = "pace_moved" } },
  { residual = { net = { mlp = { inputs = ["distribution", "prior"], hidden = [4, 3], activation = ["relu", "silu"], output = "linear" } } } },
  { residual = { net = { meta_pi = { experts = 2, expert = { mlp = { hidden = [3], output = "linear" } } } } } },
  { meta_pi = { experts = 2, expert = { mlp = { hidden = [], sensitivity = 2.0 } } } },
]
""",
}


def small(program, folder):
    """Trains the small networks; returns their checkpoints."""
    found = []
    for name in [*SMALL, *TEXTS]:
        config, settings = SMALL.get(name, (None, []))
        path = folder / f"{name}.toml" if config is None else ROOT / f"configs/{config}.toml"
        if config is None:
            path.write_text(TEXTS[name], encoding="utf-8")
        run = [program, "train", path, "--out", folder / name, *(x for s in settings for x in ("--set", s))]
        subprocess.run([str(part) for part in run], check=True, stdout=subprocess.DEVNULL)
        found.append(max((folder / name / "checkpoints").iterdir()))
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--adept", help="the program: also train and compare a network of each architecture")
    options.add_argument("checkpoints", nargs="*", help="all published ones if left out")
    options = options.parse_args()
    checkpoints = options.checkpoints or sorted(p.parent for p in ROOT.glob("checkpoints/*/*/manifest.json"))
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        if options.adept:
            checkpoints += small(options.adept, pathlib.Path(folder))
        for checkpoint in checkpoints:
            kind = next(iter(Checkpoint(checkpoint).manifest["architecture"]))
            difference = compare(checkpoint)
            worst = max(worst, difference)
            print(f"{kind:<10}{difference:>10.1e}  {checkpoint}", flush=True)
    print(f"the largest difference of all {worst:.1e}; allowed is {TOLERANCE:.0e}")
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
