"""Networks of checkpoints as PyTorch modules: `import adept.torch`."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from torch.nn import functional

import adept

PRIOR_LIMIT = 1 - 1e-6
LEAST_PROBABILITY = 1e-30


def load(path: str | PathLike[str], best: bool = False, *, check: bool = True) -> Network:
    """The network of a checkpoint, or of the latest (or best) checkpoint of a run."""
    return Network(adept.open(path, best), check=check)


class Network(nn.Module):
    """The network of an `adept.Model`, an `adept.Run` or an `adept.SelfPlay`.

    Parameters have the names and shapes of files from `adept export --format safetensors`. They are views of one array
    of NumPy, `flat`, as long as the module stays on the CPU.

    `torch.compile`, `torch.export` and `torch.onnx.export(..., dynamo=True)` take the module as it is. With `check`,
    numbers that are not finite and indices out of range raise `ValueError`; graphs leave that out. Without it nothing
    depends on what rows hold, as `torch.func` needs it, and a GPU is not waited for.
    """

    flat: NDArray[np.float32]
    check: bool
    _utilities: Tensor

    def __init__(self, source: adept.Model | adept.Run | adept.SelfPlay, *, check: bool = True) -> None:
        super().__init__()
        if isinstance(source, adept.Run):
            source = source.open()
        self.source: adept.Model | adept.SelfPlay | None = source
        self.program = source.program()
        self.flat = source.weights()
        self.check = check
        self.classes = _classes(self.program["head"])
        utilities = torch.tensor([one["utility"] for one in self.program["head"]["outcomes"]] if self.classes else [])
        self.register_buffer("_utilities", utilities, persistent=False)
        # By way of JSON all sequences are lists: tuples are numbers of several experts.
        body = json.loads(json.dumps(self.program["body"]))
        self._body = _planned(body, [tuple(param["shape"]) for param in self.program["params"]])
        self._parameters_of_program: list[tuple[nn.Module, str]] = []
        for param in self.program["params"]:
            self._add(param)

    if TYPE_CHECKING:

        def __call__(self, dense: Tensor | ArrayLike, index: Tensor | ArrayLike | None = None) -> Tensor: ...

    def _add(self, param: dict[str, Any]) -> None:
        size = math.prod(param["shape"])
        part = torch.as_tensor(self.flat[param["offset"] : param["offset"] + size]).view(param["shape"])
        *parents, last = param["name"].split(".")
        module: nn.Module = self
        for name in parents:
            if name not in module._modules:
                module.add_module(name, nn.Module())
            module = module.get_submodule(name)
        part = nn.Parameter(part.t() if _is_turned(param) else part, requires_grad=not param["fixed"])
        module.register_parameter(last, part)
        self._parameters_of_program.append((module, last))

    def parameter(self, number: int) -> nn.Parameter:
        """A parameter by its number in the program."""
        module, name = self._parameters_of_program[number]
        found: nn.Parameter = getattr(module, name)
        return found

    def forward(self, dense: Tensor | ArrayLike, index: Tensor | ArrayLike | None = None) -> Tensor:
        """Values of rows for the player who just moved, `(n,)`, as `Model.evaluate` gives them; with `head = "outcomes"`
        their distributions, `(n, classes)`, as `Model.outcomes` gives them."""
        output, _ = self._run(dense, index, None)
        return output if self.classes else output[:, 0]

    def values(self, dense: Tensor | ArrayLike, index: Tensor | ArrayLike | None = None) -> Tensor:
        """Values of rows as `Model.evaluate` gives them for every head, `(n,)`."""
        output, _ = self._run(dense, index, None)
        return output @ self._utilities if self.classes else output[:, 0]

    def outcomes(self, dense: Tensor | ArrayLike, index: Tensor | ArrayLike | None = None) -> Tensor:
        """Probabilities of the classes, `(n, classes)`, in the order of `classes`: the names of the outcomes."""
        if not self.classes:
            raise ValueError("this network gives values, and no outcomes")
        return self._run(dense, index, None)[0]

    def log_outcomes(self, dense: Tensor | ArrayLike, index: Tensor | ArrayLike | None = None) -> Tensor:
        """Logarithms of `outcomes`, for losses of your own: logits of `cross_entropy`, the input of `nll_loss` and
        `kl_div`. A probability below 1e-30 counts as that one."""
        return self.outcomes(dense, index).clamp(min=LEAST_PROBABILITY).log()

    def log_density(
        self, dense: Tensor | ArrayLike, index: Tensor | ArrayLike | None, targets: Tensor | ArrayLike
    ) -> Tensor:
        """L, the log density of targets `(n,)` or `(n, classes)` up to a constant: `(n,)`. For a network without
        experts, −½(d − y)², or with `head = "outcomes"` the negated cross entropy."""
        density = self._run(dense, index, targets)[1]
        assert density is not None
        return density[:, 0]

    def loss(
        self,
        dense: Tensor | ArrayLike,
        index: Tensor | ArrayLike | None,
        targets: Tensor | ArrayLike,
        weights: Tensor | ArrayLike | None = None,
    ) -> Tensor:
        """The loss that adept descends: −Σ weight · L."""
        density = self.log_density(dense, index, targets)
        if weights is not None:
            weights = self._tensor(weights)
            if weights.shape != density.shape:
                raise ValueError(f"weights of shape {_shape(weights)} given; {_shape(density)} is needed")
            self._check_finite("weights", weights)
            density = density * weights
        return -density.sum()

    def groups(self, rate: float) -> list[dict[str, Any]]:
        """Parameter groups for an optimiser, with the learning-rate factors of the architecture."""
        found: dict[int, list[nn.Parameter]] = {}
        for number, param in enumerate(self.program["params"]):
            if not param["fixed"]:
                found.setdefault(param["group"], []).append(self.parameter(number))
        groups = self.program["groups"]
        return [{"params": params, "lr": rate * groups[group]["rate"]} for group, params in found.items()]

    def constrain(self) -> None:
        """Raises parameters with a lower bound to it: call it after each step of an optimiser."""
        with torch.no_grad():
            for number, param in enumerate(self.program["params"]):
                if param["min"] is not None:
                    self.parameter(number).clamp_(min=param["min"])

    def weights(self) -> NDArray[np.float32]:
        """The parameters as one array, as `SelfPlay.adopt` and `Model.save` take them."""
        parts: list[NDArray[np.float32]] = []
        for number, param in enumerate(self.program["params"]):
            part = self.parameter(number).detach()
            parts.append((part.t() if _is_turned(param) else part).reshape(-1).float().cpu().numpy())
        return np.concatenate(parts)

    def save(self, out: str | PathLike[str]) -> dict[str, Any]:
        """Writes a checkpoint that `adept` opens, to a new folder. The network plays and learns there."""
        if self.source is None:
            raise ValueError("a network from a pickle has no source: save its weights() with Model.save or SelfPlay.save")
        return self.source.save(out, self.weights())

    def __repr__(self) -> str:
        channels = ", ".join(channel["name"] for channel in self.program["channels"])
        head = f"{len(self.classes)} outcomes" if self.classes else self.program["head"]
        return f"<adept.torch.Network {channels} -> {head}, {len(self.flat)} parameters>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Network:
        # The source is shared: it is not part of the network.
        memo[id(self.source)] = self.source
        new = memo[id(self)] = self.__class__.__new__(self.__class__)
        new.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return new

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "source": None}

    def _tensor(self, array: Tensor | ArrayLike, integer: bool = False) -> Tensor:
        first = self.parameter(0)
        tensor = array if isinstance(array, Tensor) else torch.as_tensor(np.ascontiguousarray(array))
        return tensor.to(first.device, torch.int64 if integer else first.dtype)

    def _run(
        self, dense: Tensor | ArrayLike, index: Tensor | ArrayLike | None, targets: Tensor | ArrayLike | None
    ) -> tuple[Tensor, Tensor | None]:
        """The output `[n, outputs]`, and with targets their log density `[n, 1]`."""
        layout, (output, density) = self.program["layout"], self._body["results"]
        dense = self._tensor(dense)
        n = dense.shape[0] if dense.dim() else 0
        index = dense.new_zeros((n, 0), dtype=torch.int64) if index is None else self._tensor(index, integer=True)
        if dense.shape != (n, layout["dense"]) or index.shape != (n, layout["index"]):
            raise ValueError(
                f"rows of shapes {_shape(dense)} and {_shape(index)} given; "
                f"this network needs (n, {layout['dense']}) and (n, {layout['index']})"
            )
        self._check_finite("dense", dense)
        self._check_index(index)
        if targets is not None:
            outputs = self.program["widths"][output]
            targets = self._tensor(targets)
            if targets.shape != (n, outputs) and (outputs > 1 or targets.shape != (n,)):
                raise ValueError(f"targets of shape {_shape(targets)} given; this network needs {(n, outputs)}")
            self._check_finite("targets", targets)
            targets = targets.reshape(n, outputs)
        values = self.block(self._body, Rows(dense, index, targets, {}, not self._in_graph()))
        return values[output], values.get(density)

    def _in_graph(self) -> bool:
        """Whether nothing may depend on what rows hold."""
        return not self.check or torch.compiler.is_compiling()

    def _check_finite(self, name: str, tensor: Tensor) -> None:
        # A finite sum, which is found ten times as fast, has finite parts. The reverse need not hold.
        if self._in_graph() or math.isfinite(tensor.sum().item()) or bool(tensor.isfinite().all()):
            return
        row, *columns = (int(k) for k in tensor.isfinite().logical_not().nonzero()[0])
        column = f": column {columns[0]}" if columns else ""
        raise ValueError(f"{name}: row {row}{column} holds {tensor[(row, *columns)].item()}")

    def _check_index(self, index: Tensor) -> None:
        if self._in_graph() or not len(index):
            return
        for number, channel in enumerate(self.program["channels"]):
            if channel["kind"] == "index":
                column = index[:, self.column(number)]
                low, high = int(column.min()), int(column.max())
                if low < 0 or high >= channel["size"]:
                    wrong = low if low < 0 else high
                    raise ValueError(f"index {wrong} of `{channel['name']}`: must lie in 0..{channel['size'] - 1}")

    # What follows runs the program. A value has the shape `[n, width]`. Where experts of equal shape run together, it
    # may have their number in front: `[experts, n, width]`, and one axis more for experts of experts.

    def column(self, channel: int) -> int:
        """The first column of a channel in its part of a row."""
        found: int = self.program["layout"]["offsets"][channel]
        return found

    def stacked(self, number: Numbers) -> Tensor:
        """A parameter, or one of several experts as one tensor."""
        return self.parameter(number) if isinstance(number, int) else torch.stack([self.stacked(n) for n in number])

    def block(self, block: Block, rows: Rows) -> Values:
        """Runs the ops of a block. Densities are left out where there are no targets."""
        values: Values = {}
        for op in block["ops"]:
            if op["op"] == "route":
                self._route(op, values, rows)
            elif rows.targets is not None or op["op"] not in DENSITIES:
                values[op["out"]] = OPS[op["op"]](self, op, values, rows)
        return values

    def _route(self, op: Op, values: Values, rows: Rows) -> None:
        select, branches, together = op["select"], op["branches"], op["together"]
        chosen = self._chosen(select, len(branches), values, rows)
        if chosen is not None and rows.sparse:
            return self._route_rows(op, values, rows, chosen)
        # Every expert runs on all rows.
        found: list[list[Tensor]] = []
        if together is not None:
            runs = self.block(together, self._all_rows(together, values, rows, chosen, stacked=True))
            found = [[runs[result]] if result in runs else [] for result in together["results"]]
        else:
            each = [
                self.block(branch, self._all_rows(branch, values, rows, None if chosen is None else chosen[..., k : k + 1]))
                for k, branch in enumerate(branches)
            ]
            for results in zip(*(branch["results"] for branch in branches)):
                found.append([run[result] for run, result in zip(each, results) if result in run])
        for out, parts in zip(op["out"], found):
            if not parts:
                continue
            experts = parts[0] if together is not None else torch.stack(_alike(parts), -3)
            if chosen is None:
                experts = experts.expand(_common(experts.shape, (len(branches), 1, 1)))
            else:
                experts = torch.where(_per_expert(chosen), experts, 0.0)
            values[out] = experts.movedim(-3, -2).flatten(-2) if _is_side_by_side(select) else experts.sum(-3)

    def _all_rows(
        self, branch: Block, values: Values, rows: Rows, chosen: Tensor | None, stacked: bool = False
    ) -> Rows:
        """What a branch reads if it runs on all rows. Where it is not chosen it reads zeros if there will be gradients:
        a number that is not finite would make NaN of the zero that comes back."""

        def here(value: Tensor) -> Tensor:
            if chosen is not None and torch.is_grad_enabled():
                if stacked:
                    return torch.where(_per_expert(chosen), value.unsqueeze(-3), 0.0)
                return torch.where(chosen, value, 0.0)
            return value.unsqueeze(-3) if stacked and value.dim() > 2 else value

        outer = {op["x"]: here(values[op["x"]]) for op in branch["ops"] if op["op"] == "outer"}
        return Rows(here(rows.dense), rows.index, rows.targets, outer, False)

    def _route_rows(self, op: Op, values: Values, rows: Rows, chosen: Tensor) -> None:
        """Every expert runs on its own rows. How many there are depends on the rows, so no graph is made of it.

        An expert without rows does not run and gets no gradient, so that optimisers leave its moments as they are, as
        those of adept do."""
        runs: list[tuple[int, Tensor, Values]] = []
        for k, branch in enumerate(op["branches"]):
            number = chosen[:, k].nonzero()[:, 0]
            if len(number) or not len(chosen):
                outer = {op["x"]: values[op["x"]][number] for op in branch["ops"] if op["op"] == "outer"}
                targets = None if rows.targets is None else rows.targets[number]
                here = Rows(rows.dense[number], rows.index[number], targets, outer, True)
                runs.append((k, number, self.block(branch, here)))
        for at, out in enumerate(op["out"]):
            results = [branch["results"][at] for branch in op["branches"]]
            found = [(k, number, run[results[k]]) for k, number, run in runs if results[k] in run]
            if not found:
                continue
            part = found[0][2]
            if _is_side_by_side(op["select"]):
                parts = [part.new_zeros(len(chosen), part.shape[1])] * len(results)
                for k, number, part in found:
                    parts[k] = parts[k].index_copy(0, number, part)
                values[out] = torch.cat(parts, 1)
            else:
                empty = part.new_zeros(len(chosen), part.shape[1])
                number = torch.cat([number for _, number, _ in found])
                values[out] = empty.index_copy(0, number, torch.cat([part for _, _, part in found]))

    def _chosen(self, select: Any, branches: int, values: Values, rows: Rows) -> Tensor | None:
        """Which branches each row runs through, `[n, branches]`; none for all of them."""
        if select == "all":
            return None
        if "mask" in select:
            return values[select["mask"]] > -torch.inf
        if "index" in select:
            number = rows.index[:, self.column(select["index"])]
        else:
            cells = select["cells"]
            first, second = (
                self.stacked(classes)[..., rows.index[:, self.column(channel)]].long()
                for classes, channel in zip(cells["classes"], cells["channels"])
            )
            table = self.stacked(cells["table"])
            number = table.flatten(-2).gather(-1, first * table.shape[-1] + second).long().clamp(max=branches - 1)
        return number.unsqueeze(-1) == torch.arange(branches, device=number.device)


@dataclass(frozen=True, eq=False)
class Rows:
    """What a block reads."""

    dense: Tensor
    index: Tensor
    targets: Tensor | None
    outer: Values
    """Values of the enclosing block, at these rows."""
    sparse: bool
    """Whether experts may run on the rows alone that chose them."""


Op = dict[str, Any]
Block = dict[str, Any]
Values = dict[int, Tensor]
# The number of a parameter, or those of all experts that run together.
Numbers = int | tuple["Numbers", ...]


# Each of the following is one op of adept's programs.


def _input(network: Network, op: Op, values: Values, rows: Rows) -> Tensor:
    parts: list[Tensor] = []
    for channel in op["channels"]:
        first, size = network.column(channel), network.program["channels"][channel].get("size", 1)
        parts.append(rows.dense[..., first : first + size])
    return torch.cat(parts, -1)


def _outer(network: Network, op: Op, values: Values, rows: Rows) -> Tensor:
    return rows.outer[op["x"]]


def _concat(network: Network, op: Op, values: Values, rows: Rows) -> Tensor:
    return torch.cat(_alike([values[x] for x in op["xs"]]), -1)


def _affine(network: Network, op: Op, values: Values, rows: Rows) -> Tensor:
    weight, bias = network.stacked(op["weight"]), network.stacked(op["bias"])
    weight = weight if _is_turned(network.program["params"][_first(op["weight"])]) else weight.mT
    if weight.dim() == 2:
        return functional.linear(values[op["x"]], weight, bias)
    return values[op["x"]] @ weight.mT + bias.unsqueeze(-2)


def _scale(network: Network, op: Op, values: Values, rows: Rows) -> Tensor:
    return values[op["x"]] * network.stacked(op["beta"]).unsqueeze(-2)


def _activation(network: Network, op: Op, values: Values, rows: Rows) -> Tensor:
    return ACTIVATIONS[op["f"]](values[op["x"]])


def _log_softmax(network: Network, op: Op, values: Values, rows: Rows) -> Tensor:
    return torch.log_softmax(values[op["x"]], -1)


def _threshold(network: Network, op: Op, values: Values, rows: Rows) -> Tensor:
    x = values[op["x"]]
    passes = x.exp() > op["threshold"]
    largest = x.argmax(-1, keepdim=True) == torch.arange(x.shape[-1], device=x.device)
    selected = passes | (largest & ~passes.any(-1, keepdim=True))
    total = torch.where(selected, x, -torch.inf).logsumexp(-1, keepdim=True)
    return torch.where(selected, x - total, -torch.inf)


def _blend(network: Network, op: Op, values: Values, rows: Rows) -> Tensor:
    weights = values[op["log_weights"]].exp()
    y, width = values[op["y"]], network.program["widths"][op["out"]]
    return (weights.unsqueeze(-1) * y.reshape(*y.shape[:-1], weights.shape[-1], width)).sum(-2)


def _density(network: Network, op: Op, values: Values, rows: Rows) -> Tensor:
    assert rows.targets is not None
    variance: float = op["variance"]
    return -(rows.targets - values[op["y"]]).square().sum(-1, keepdim=True) / (2 * variance)


def _softmax(network: Network, op: Op, values: Values, rows: Rows) -> Tensor:
    return torch.softmax(values[op["x"]], -1)


def _categorical(network: Network, op: Op, values: Values, rows: Rows) -> Tensor:
    assert rows.targets is not None
    logs = values[op["p"]].clamp(min=LEAST_PROBABILITY).log()
    return (rows.targets * logs).sum(-1, keepdim=True)


def _prior_logits(network: Network, op: Op, values: Values, rows: Rows) -> Tensor:
    prior = _prior(network, op, rows)
    if op["tilt"] == "loss_win":
        tilt = torch.atanh(prior)
    else:
        size = prior.abs()
        tilt = ((size + (4 - 3 * size.square()).sqrt()) / (2 * (1 - size))).log() * prior.sign()
    logits = tilt * torch.tensor(op["utilities"], dtype=prior.dtype, device=prior.device)
    return logits if op["x"] is None else values[op["x"]] + logits


def _log_mix(network: Network, op: Op, values: Values, rows: Rows) -> Tensor:
    return (values[op["log_weights"]] + values[op["densities"]]).logsumexp(-1, keepdim=True)


def _gather(network: Network, op: Op, values: Values, rows: Rows) -> Tensor:
    return network.stacked(op["table"])[..., rows.index[:, network.column(op["channel"])], :]


def _residual(network: Network, op: Op, values: Values, rows: Rows) -> Tensor:
    return torch.tanh(torch.atanh(_prior(network, op, rows)) + values[op["x"]])


def _prior(network: Network, op: Op, rows: Rows) -> Tensor:
    column = network.column(op["prior"])
    return rows.dense[..., column : column + 1].clamp(-PRIOR_LIMIT, PRIOR_LIMIT)


def _linear(x: Tensor) -> Tensor:
    return x


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "silu": functional.silu,
    "linear": _linear,
}
OPS: dict[str, Callable[[Network, Op, Values, Rows], Tensor]] = {
    "input": _input,
    "outer": _outer,
    "concat": _concat,
    "affine": _affine,
    "scale": _scale,
    "activation": _activation,
    "log_softmax": _log_softmax,
    "threshold": _threshold,
    "blend": _blend,
    "density": _density,
    "softmax": _softmax,
    "categorical": _categorical,
    "prior_logits": _prior_logits,
    "log_mix": _log_mix,
    "gather": _gather,
    "residual": _residual,
}
DENSITIES = ("density", "categorical", "log_mix")

# Keys of ops that hold numbers of parameters, and of values.
OF_PARAMETERS = ("weight", "bias", "beta", "table", "classes")
OF_VALUES = ("x", "y", "p", "xs", "out", "log_weights", "densities", "mask", "results")


def _planned(block: Block, shapes: list[Any]) -> Block:
    """A block in which each route has in `together` one block that runs all its branches at once, if they are alike."""
    ops: list[Op] = []
    for op in block["ops"]:
        if op["op"] == "route":
            branches = [_planned(branch, shapes) for branch in op["branches"]]
            firsts = [min((_first(op["out"]) for op in branch["ops"]), default=0) for branch in branches]
            try:
                together = _merged(branches, firsts, shapes)
            except _Unlike:
                together = None
            op = {**op, "branches": branches, "together": together}
        ops.append(op)
    return {"ops": ops, "results": block["results"]}


class _Unlike(Exception):
    """Branches that differ by more than their parameters."""


def _merged(parts: list[Any], firsts: list[int], shapes: list[Any], key: str = "") -> Any:
    """The first of equal parts of branches, with the parameters of all."""
    first = parts[0]
    if any(type(part) is not type(first) for part in parts):
        raise _Unlike
    if isinstance(first, dict):
        _must_be_one([part.keys() for part in parts])
        return {key: _merged([part[key] for part in parts], firsts, shapes, key) for key in parts[0]}
    if isinstance(first, list):
        _must_be_one([len(part) for part in parts])
        return [_merged(list(each), firsts, shapes, key) for each in zip(*parts)]
    if key in OF_PARAMETERS:
        _must_be_one([shapes[_first(part)] for part in parts])
        return tuple(parts)
    if key in OF_VALUES and first is not None and any(part != first for part in parts):
        # Each branch numbers its own values. Those that are read from outside have one number.
        parts = [part - begin for part, begin in zip(parts, firsts)]
    _must_be_one(parts)
    return first


def _must_be_one(parts: list[Any]) -> None:
    if any(part != parts[0] for part in parts):
        raise _Unlike


def _first(number: Any) -> int:
    """The first of the numbers of several experts."""
    return number if isinstance(number, int) else _first(number[0])


def _per_expert(chosen: Tensor) -> Tensor:
    """`[n, experts]` as `[experts, n, 1]`."""
    return chosen.mT.unsqueeze(-1)


def _is_side_by_side(select: Any) -> bool:
    """Whether results of branches stand side by side; otherwise each row has that of its only branch."""
    return select == "all" or "mask" in select


def _common(*shapes: Sequence[int]) -> torch.Size:
    """The shape that all these may be expanded to."""
    return torch.Size(torch.broadcast_shapes(*shapes))  # type: ignore[no-untyped-call] # pyright: ignore


def _alike(parts: list[Tensor]) -> list[Tensor]:
    """Parts with the same axes in front of their width."""
    shape = _common(*(part.shape[:-1] for part in parts))
    return [part.expand(*shape, part.shape[-1]) for part in parts]


def _classes(head: Any) -> tuple[str, ...]:
    return () if isinstance(head, str) else tuple(one["name"] for one in head["outcomes"])


def _shape(tensor: Tensor) -> tuple[int, ...]:
    return tuple(tensor.shape)


def _is_turned(param: dict[str, Any]) -> bool:
    """Whether a parameter is a weight, which PyTorch holds as `[outputs, inputs]`."""
    return param["name"].split(".")[-1] == "weight" and len(param["shape"]) == 2
