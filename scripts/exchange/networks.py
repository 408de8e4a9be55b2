"""An exported safetensors file as a network in numpy: what its names and its `adept` entry mean, in code."""

import json

import numpy as np
from safetensors import safe_open

ACTIVATIONS = {
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "linear": lambda x: x,
}
PRIOR_LIMIT = np.float32(1 - 1e-6)


class Network:
    """The tensors of a file and the architecture that they belong to."""

    def __init__(self, path):
        with safe_open(path, "np") as file:
            self.tensors = {name: file.get_tensor(name) for name in file.keys()}
            manifest = json.loads(file.metadata()["adept"])
        self.architecture, self.channels = manifest["architecture"], manifest["channels"]
        self.used = set()

    def __call__(self, inputs):
        """Values of rows, given their channels by name."""
        self.inputs = inputs
        return self.node(self.architecture, "")[:, 0]

    def node(self, architecture, name):
        (kind, spec), = architecture.items()
        return getattr(self, kind)(spec, name)

    def mlp(self, spec, name):
        hidden = spec["hidden"]
        given = spec["activation"]
        activations = [given] * len(hidden) if isinstance(given, str) else given
        return self.layers(spec.get("inputs"), [*activations, spec["output"]], name)

    def layers(self, inputs, activations, name):
        if inputs is None:
            inputs = [c["name"] for c in self.channels if c["kind"] in ("dense", "bits")]
        x = np.concatenate([self.inputs[channel] for channel in inputs], axis=1)
        for i, activation in enumerate(activations):
            at = f"{name}layer.{i}"
            x = x @ self.tensor(f"{at}.weight").T + self.tensor(f"{at}.bias")
            if f"{at}.sensitivity" in self.tensors:
                x = x * self.tensor(f"{at}.sensitivity")
            x = ACTIVATIONS[activation](x)
        return x

    def meta_pi(self, spec, name):
        gate, threshold = spec["gate"], spec["threshold"]
        if "by" in gate:
            net = self.tensor(f"{name}gate.table")[self.inputs[gate["by"]][:, 0]]
        else:
            given = gate["activation"]
            hidden = [given] * len(gate["hidden"]) if isinstance(given, str) else given
            net = self.layers(gate.get("inputs"), [*hidden, "linear"], f"{name}gate.")
        weights = np.exp(net - net.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        if threshold > 0:
            passes = weights > np.float32(threshold)
            lone = np.arange(weights.shape[1]) == weights.argmax(axis=1)[:, None]
            weights = np.where(np.where(passes.any(axis=1, keepdims=True), passes, lone), weights, 0)
            weights /= weights.sum(axis=1, keepdims=True)
        return (weights * self.experts(spec, name)).sum(axis=1, keepdims=True)

    hme = meta_pi

    def experts(self, spec, name):
        one, several = spec.get("expert"), spec.get("experts")
        if one is None:
            specs = several
        elif isinstance(several, int):
            specs = [one] * several
        else:
            size = next(c["size"] for c in self.channels if c["name"] == spec["by"])
            specs = [one] * size
        return np.concatenate([self.node(s, f"{name}expert.{i}.") for i, s in enumerate(specs)], axis=1)

    def symbolic(self, spec, name):
        return np.take_along_axis(self.experts(spec, name), self.inputs[spec["by"]], axis=1)

    def cells(self, spec, name):
        first, second = (
            self.tensor(f"{name}gate.classes.{k}")[self.inputs[by][:, 0]].astype(int)
            for k, by in enumerate(spec["by"])
        )
        expert = self.tensor(f"{name}gate.table")[first, second].astype(int)
        return np.take_along_axis(self.experts(spec, name), expert[:, None], axis=1)

    def residual(self, spec, name):
        on = spec.get("on") or next(c["name"] for c in self.channels if c["kind"] == "value")
        p = np.clip(self.inputs[on], -PRIOR_LIMIT, PRIOR_LIMIT)
        t = np.tanh(self.node(spec["net"], f"{name}net."))
        return (p + t) / (1 + p * t)

    def frozen(self, spec, name):
        on = spec.get("on") or next(c["name"] for c in self.channels if c["kind"] == "value")
        return self.inputs[on]

    def tensor(self, name):
        self.used.add(name)
        return self.tensors[name]
