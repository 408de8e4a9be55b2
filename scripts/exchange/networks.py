"""An exported safetensors file as a network in numpy: what its names and its `adept` entry mean, in code."""

import json

import numpy as np
from safetensors import safe_open

ACTIVATIONS = {
    "tanh": np.tanh,
    "sigmoid": lambda x: 0.5 + 0.5 * np.tanh(x / 2),
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
        head = manifest.get("head")
        # What each class of outcomes is worth; None for a network of values or a policy.
        self.utilities = np.float32([c["utility"] for c in head["outcomes"]]) if isinstance(head, dict) else None
        # Whether nodes give distributions: not those that correct the logits of a prior.
        self.gives_distributions = self.utilities is not None
        # The output of the shared layers that a node stands on.
        self.trunk = None
        self.used = set()

    def __call__(self, inputs):
        """Values of rows, given their channels by name."""
        outputs = self.outputs(inputs)
        return outputs[:, 0] if self.utilities is None else outputs @ self.utilities

    def outputs(self, inputs):
        """The probability of each class, [rows, classes]; without classes the values, [rows, 1]."""
        self.inputs = inputs
        return self.node(self.architecture, "")

    def node(self, architecture, name):
        (kind, spec), = architecture.items()
        return getattr(self, kind)(spec, name)

    def mlp(self, spec, name):
        hidden = spec["hidden"]
        given = spec["activation"]
        activations = [given] * len(hidden) if isinstance(given, str) else given
        if self.gives_distributions:
            return softmax(self.layers(spec.get("inputs"), [*activations, "linear"], name))
        return self.layers(spec.get("inputs"), [*activations, spec["output"]], name)

    def layers(self, inputs, activations, name):
        if inputs is None and self.trunk is not None:
            x = self.trunk
        else:
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

    def shared(self, spec, name):
        hidden, given = spec["hidden"], spec["activation"]
        activations = [given] * len(hidden) if isinstance(given, str) else given
        outer, self.trunk = self.trunk, self.layers(spec.get("inputs"), activations, f"{name}shared.")
        y = self.node(spec["top"], f"{name}top.")
        self.trunk = outer
        return y

    def meta_pi(self, spec, name):
        gate, threshold = spec["gate"], spec["threshold"]
        if "by" in gate:
            net = self.tensor(f"{name}gate.table")[self.inputs[gate["by"]][:, 0]]
        else:
            given = gate["activation"]
            hidden = [given] * len(gate["hidden"]) if isinstance(given, str) else given
            net = self.layers(gate.get("inputs"), [*hidden, "linear"], f"{name}gate.")
        weights = softmax(net)
        if threshold > 0:
            passes = weights > np.float32(threshold)
            lone = np.arange(weights.shape[1]) == weights.argmax(axis=1)[:, None]
            weights = np.where(np.where(passes.any(axis=1, keepdims=True), passes, lone), weights, 0)
            weights /= weights.sum(axis=1, keepdims=True)
        return (weights[:, :, None] * self.experts(spec, name)).sum(axis=1)

    hme = meta_pi

    def experts(self, spec, name):
        """The outputs of all experts: [rows, experts, outputs]."""
        one, several = spec.get("expert"), spec.get("experts")
        if one is None:
            specs = several
        elif isinstance(several, int):
            specs = [one] * several
        else:
            size = next(c["size"] for c in self.channels if c["name"] == spec["by"])
            specs = [one] * size
        return np.stack([self.node(s, f"{name}expert.{i}.") for i, s in enumerate(specs)], axis=1)

    def symbolic(self, spec, name):
        return self.selected(spec, name, self.inputs[spec["by"]][:, 0])

    def selected(self, spec, name, expert):
        y = self.experts(spec, name)
        return y[np.arange(len(y)), expert]

    def cells(self, spec, name):
        first, second = (
            self.tensor(f"{name}gate.classes.{k}")[self.inputs[by][:, 0]].astype(int)
            for k, by in enumerate(spec["by"])
        )
        return self.selected(spec, name, self.tensor(f"{name}gate.table")[first, second].astype(int))

    def residual(self, spec, name):
        gives_distributions, self.gives_distributions = self.gives_distributions, False
        z = self.node(spec["net"], f"{name}net.")
        self.gives_distributions = gives_distributions
        p = np.clip(self.prior(spec), -PRIOR_LIMIT, PRIOR_LIMIT)
        if self.utilities is not None:
            return softmax(self.logits(p) + z)
        t = np.tanh(z)
        return (p + t) / (1 + p * t)

    def frozen(self, spec, name):
        p = self.prior(spec)
        return p if self.utilities is None else softmax(self.logits(np.clip(p, -PRIOR_LIMIT, PRIOR_LIMIT)))

    def prior(self, spec):
        return self.inputs[spec.get("on") or next(c["name"] for c in self.channels if c["kind"] == "value")]

    def logits(self, p):
        """The logits of a prior over two or three classes."""
        size = np.abs(p)
        if len(self.utilities) == 2:
            tilt = np.arctanh(p)
        else:
            tilt = np.sign(p) * np.log((size + np.sqrt(4 - 3 * size**2)) / (2 * (1 - size)))
        return tilt * self.utilities

    def tensor(self, name):
        self.used.add(name)
        return self.tensors[name]


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
