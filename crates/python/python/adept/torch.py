"""Networks of checkpoints as PyTorch modules: `import adept.torch`."""

import copy

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import adept

PRIOR_LIMIT = 1 - 1e-6
LEAST_PROBABILITY = 1e-30
ACTIVATIONS = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "silu": functional.silu,
    "linear": lambda x: x,
}


def load(path, best=False):
    """The network of a checkpoint, or of the latest (or best) checkpoint of a run."""
    return Network(adept.open(path, best))


class Network(nn.Module):
    """The network of an `adept.Model`, an `adept.Run` or an `adept.SelfPlay`.

    Parameters have the names and shapes of files from `adept export --format safetensors`. They are views of one array
    of NumPy, `flat`, as long as the module stays on the CPU.
    """

    def __init__(self, source):
        super().__init__()
        if isinstance(source, adept.Run):
            source = source.open()
        self.source = source
        self.program = source.program()
        self.flat = source.weights()
        self._parameters_of_program = []
        for param in self.program["params"]:
            self._add(param)

    def _add(self, param):
        size = int(np.prod(param["shape"]))
        part = torch.from_numpy(self.flat[param["offset"] : param["offset"] + size]).view(param["shape"])
        *parents, last = param["name"].split(".")
        part = nn.Parameter(part.t() if _is_turned(param) else part, requires_grad=not param["fixed"])
        module = self
        for name in parents:
            if name not in module._modules:
                module.add_module(name, nn.Module())
            module = module._modules[name]
        module.register_parameter(last, part)
        self._parameters_of_program.append((module, last))

    def parameter(self, number):
        """A parameter by its number in the program."""
        module, name = self._parameters_of_program[number]
        return getattr(module, name)

    def forward(self, dense, index=None):
        """Values of rows for the player who just moved, or with `head = "outcomes"` their distributions: `[rows, outputs]`."""
        return self._run(dense, index, None)[0]

    def log_density(self, dense, index, targets):
        """L, the log density of targets `[rows]` or `[rows, outputs]` up to a constant: `[rows]`. For a network without
        experts, −½(d − y)², or with `head = "outcomes"` the negated cross entropy."""
        return self._run(dense, index, targets)[1][:, 0]

    def loss(self, dense, index, targets, weights=None):
        """The loss that adept descends: −Σ weight · L."""
        density = self.log_density(dense, index, targets)
        if weights is not None:
            weights = self._tensor(weights)
            _must(weights.shape == density.shape, f"weights of shape {_shape(weights)}: {_shape(density)} is needed")
            density = density * weights
        return -density.sum()

    def groups(self, rate):
        """Parameter groups for an optimiser, with the learning-rate factors of the architecture."""
        found = {}
        for number, param in enumerate(self.program["params"]):
            if not param["fixed"]:
                found.setdefault(param["group"], []).append(self.parameter(number))
        groups = self.program["groups"]
        return [{"params": params, "lr": rate * groups[group]["rate"]} for group, params in found.items()]

    @torch.no_grad()
    def constrain(self):
        """Raises parameters with a lower bound to it: call it after each step of an optimiser."""
        for number, param in enumerate(self.program["params"]):
            if param["min"] is not None:
                self.parameter(number).clamp_(min=param["min"])

    @torch.no_grad()
    def weights(self):
        """The parameters as one array, as `SelfPlay.adopt` and `Model.save` take them."""
        parts = []
        for number, param in enumerate(self.program["params"]):
            part = self.parameter(number).detach()
            parts.append((part.t() if _is_turned(param) else part).reshape(-1).float().cpu().numpy())
        return np.concatenate(parts)

    def save(self, out):
        """Writes a checkpoint that `adept` opens, to a new folder. The network plays and learns there."""
        if self.source is None:
            raise ValueError("a network from a pickle has no source: save its weights() with Model.save or SelfPlay.save")
        return self.source.save(out, self.weights())

    def extra_repr(self):
        channels = ", ".join(channel["name"] for channel in self.program["channels"])
        outputs = self.program["widths"][self.program["body"]["results"][0]]
        return f"{channels} -> {outputs}, {len(self.flat)} parameters"

    def __deepcopy__(self, memo):
        # The source is shared: it is not part of the network.
        memo[id(self.source)] = self.source
        new = memo[id(self)] = self.__class__.__new__(self.__class__)
        new.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return new

    def __getstate__(self):
        return {**self.__dict__, "source": None}

    def _tensor(self, array, integer=False):
        device = self.parameter(0).device
        tensor = array if isinstance(array, torch.Tensor) else torch.from_numpy(np.ascontiguousarray(array))
        return tensor.to(device, torch.int64 if integer else self.parameter(0).dtype)

    def _run(self, dense, index, targets):
        dense = self._tensor(dense)
        rows, layout = len(dense) if dense.ndim else 0, self.program["layout"]
        index = self._tensor(torch.zeros((rows, 0)) if index is None else index, integer=True)
        _must(
            dense.shape == (rows, layout["dense"]) and index.shape == (rows, layout["index"]),
            f"rows of shapes {_shape(dense)} and {_shape(index)} given; "
            f"this network needs (n, {layout['dense']}) and (n, {layout['index']})",
        )
        self._check_index(index)
        if targets is not None:
            outputs = self.program["widths"][self.program["body"]["results"][0]]
            targets = self._tensor(targets)
            _must(
                targets.shape == (rows, outputs) or outputs == 1 and targets.shape == (rows,),
                f"targets of shape {_shape(targets)} given; this network needs ({rows}, {outputs})",
            )
            targets = targets.reshape(rows, outputs)
        return self._block(self.program["body"], dense, index, targets)

    def _check_index(self, index):
        """On the CPU, where it costs little. Elsewhere indices are not checked."""
        if index.device.type != "cpu" or not len(index):
            return
        for number, channel in enumerate(self.program["channels"]):
            if channel["kind"] == "index":
                column = index[:, self._column(number)]
                low, high = int(column.min()), int(column.max())
                _must(
                    0 <= low and high < channel["size"],
                    f"index {low if low < 0 else high} of `{channel['name']}`: must lie in 0..{channel['size'] - 1}",
                )

    def _block(self, block, dense, index, targets, above=None):
        """The results of a block. `above` gives values of the enclosing block, at the rows of this one."""
        values = {}
        for op in block["ops"]:
            if op["op"] == "outer":
                values[op["out"]] = above(op["x"])
            else:
                getattr(self, "_" + op["op"])(op, values, dense, index, targets)
        return [values.get(result) for result in block["results"]]

    def _column(self, channel):
        return self.program["layout"]["offsets"][channel]

    # Each of the following is one op of adept's programs.

    def _input(self, op, values, dense, index, targets):
        parts = []
        for channel in op["channels"]:
            first, size = self._column(channel), self.program["channels"][channel].get("size", 1)
            parts.append(dense[:, first : first + size])
        values[op["out"]] = torch.cat(parts, 1)

    def _concat(self, op, values, dense, index, targets):
        values[op["out"]] = torch.cat([values[x] for x in op["xs"]], 1)

    def _affine(self, op, values, dense, index, targets):
        weight = self.parameter(op["weight"])
        if not _is_turned(self.program["params"][op["weight"]]):
            weight = weight.t()
        values[op["out"]] = functional.linear(values[op["x"]], weight, self.parameter(op["bias"]))

    def _scale(self, op, values, dense, index, targets):
        values[op["out"]] = values[op["x"]] * self.parameter(op["beta"])

    def _activation(self, op, values, dense, index, targets):
        values[op["out"]] = ACTIVATIONS[op["f"]](values[op["x"]])

    def _log_softmax(self, op, values, dense, index, targets):
        values[op["out"]] = torch.log_softmax(values[op["x"]], 1)

    def _threshold(self, op, values, dense, index, targets):
        x = values[op["x"]]
        passes = x.exp() > op["threshold"]
        largest = functional.one_hot(x.argmax(1), x.shape[1]).bool()
        selected = torch.where(passes.any(1, keepdim=True), passes, largest)
        total = torch.where(selected, x, -torch.inf).logsumexp(1, keepdim=True)
        values[op["out"]] = torch.where(selected, x - total, -torch.inf)

    def _blend(self, op, values, dense, index, targets):
        weights = values[op["log_weights"]].exp()
        y = values[op["y"]].view(len(dense), weights.shape[1], self.program["widths"][op["out"]])
        values[op["out"]] = (weights[:, :, None] * y).sum(1)

    def _density(self, op, values, dense, index, targets):
        if targets is not None:
            square = (targets - values[op["y"]]).square().sum(1, keepdim=True)
            values[op["out"]] = -square / (2 * op["variance"])

    def _softmax(self, op, values, dense, index, targets):
        values[op["out"]] = torch.softmax(values[op["x"]], 1)

    def _categorical(self, op, values, dense, index, targets):
        if targets is not None:
            logs = values[op["p"]].clamp(min=LEAST_PROBABILITY).log()
            values[op["out"]] = (targets * logs).sum(1, keepdim=True)

    def _prior_logits(self, op, values, dense, index, targets):
        column = self._column(op["prior"])
        prior = dense[:, column : column + 1].clamp(-PRIOR_LIMIT, PRIOR_LIMIT)
        if op["tilt"] == "loss_win":
            tilt = torch.atanh(prior)
        else:
            size = prior.abs()
            tilt = ((size + (4 - 3 * size.square()).sqrt()) / (2 * (1 - size))).log() * prior.sign()
        logits = tilt * torch.tensor([op["utilities"]], dtype=prior.dtype, device=prior.device)
        values[op["out"]] = logits if op["x"] is None else values[op["x"]] + logits

    def _log_mix(self, op, values, dense, index, targets):
        if targets is not None:
            terms = values[op["log_weights"]] + values[op["densities"]]
            values[op["out"]] = terms.logsumexp(1, keepdim=True)

    def _route(self, op, values, dense, index, targets):
        select, branches = op["select"], op["branches"]
        together = []
        for number, branch in enumerate(branches):
            rows = self._selected(select, number, len(branches), values, index, len(dense))
            here = None if targets is None else targets[rows]
            found = self._block(branch, dense[rows], index[rows], here, lambda x, rows=rows: values[x][rows])
            spread = lambda value: None if value is None else value.new_zeros(len(dense), value.shape[1]).index_copy(0, rows, value)
            together.append([spread(value) for value in found])
        side_by_side = select == "all" or "mask" in select
        for out, parts in zip(op["out"], zip(*together)):
            if parts[0] is not None:
                values[out] = torch.cat(parts, 1) if side_by_side else torch.stack(parts).sum(0)

    def _selected(self, select, number, branches, values, index, rows):
        """The rows that run through a branch."""
        if select == "all":
            return torch.arange(rows, device=index.device)
        if "mask" in select:
            chosen = values[select["mask"]][:, number] > -torch.inf
        elif "index" in select:
            chosen = index[:, self._column(select["index"])] == number
        else:
            cells = select["cells"]
            first, second = (
                self.parameter(classes)[index[:, self._column(channel)]].long()
                for classes, channel in zip(cells["classes"], cells["channels"])
            )
            chosen = self.parameter(cells["table"])[first, second].long().clamp(max=branches - 1) == number
        return chosen.nonzero()[:, 0]

    def _gather(self, op, values, dense, index, targets):
        values[op["out"]] = self.parameter(op["table"])[index[:, self._column(op["channel"])]]

    def _residual(self, op, values, dense, index, targets):
        column = self._column(op["prior"])
        prior = dense[:, column : column + 1].clamp(-PRIOR_LIMIT, PRIOR_LIMIT)
        values[op["out"]] = torch.tanh(torch.atanh(prior) + values[op["x"]])


def _shape(tensor):
    return tuple(tensor.shape)


def _must(holds, otherwise):
    if not holds:
        raise ValueError(otherwise)


def _is_turned(param):
    """Whether a parameter is a weight, which PyTorch holds as `[outputs, inputs]`."""
    return param["name"].split(".")[-1] == "weight" and len(param["shape"]) == 2
