"""Networks in PyTorch as graphs: compiled, exported, in ONNX, and without a look at what rows hold.

With `ADEPT_ALL_GRAPHS=1` every published network is compiled to machine code and written as ONNX: about ten minutes.
"""

import copy
import os
import shutil

import numpy as np
import pytest

import adept

torch = pytest.importorskip("torch")
import adept.torch  # noqa: E402
from test_torch import PUBLISHED, ROOT, hme, rows_of  # noqa: E402

ALL = "ADEPT_ALL_GRAPHS" in os.environ
NETWORKS = [path for path in PUBLISHED if path.name != "limit-2-rules"]
# A prior, cells that choose an expert, gates with a threshold, outcomes behind shared layers.
SOME = [path for path in NETWORKS if path.name in ("residual-10", "cells-16x8", "hme-4x16", "pips-256-16x32")]
published = lambda paths: pytest.mark.parametrize("path", paths, ids=lambda path: f"{path.parent.name}-{path.name}")  # noqa: E731


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.chdir(ROOT)
    torch._dynamo.reset()


def tensors(*arrays):
    return tuple(torch.from_numpy(a.astype(np.int64) if a.dtype == np.uint64 else a) for a in arrays)


def assert_equal_to(model, graph, sizes):
    """The largest difference between a graph and the model, which must not exceed 1e-5."""
    of = model.outcomes if "outcomes" in model.description["head"] else model.evaluate
    rows = rows_of(model)
    for size in sizes:
        part = [array[:size] for array in rows]
        with torch.no_grad():
            found = np.asarray(graph(*tensors(*part)))
        expected = of(*part)
        assert found.shape == expected.shape
        assert np.abs(found - expected).max() <= 1e-5


@published(NETWORKS)
def test_published_networks_are_exported_with_any_number_of_rows(path):
    model = adept.open(path)
    n = torch.export.Dim("n")
    rows = tensors(*rows_of(model))
    exported = torch.export.export(adept.torch.Network(model), rows, dynamic_shapes=({0: n}, {0: n}))
    assert_equal_to(model, exported.module(), (200, 37, 2, 1))


@published(NETWORKS if ALL else SOME)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_networks_are_compiled_as_one_graph(path, dynamic):
    model = adept.open(path)
    backend = "inductor" if ALL else "aot_eager"
    graph = torch.compile(adept.torch.Network(model), fullgraph=True, dynamic=dynamic, backend=backend)
    assert_equal_to(model, graph, (200, 37, 2, 1) if dynamic else (200,))


@pytest.mark.skipif(shutil.which("g++") is None, reason="no compiler of C++")
def test_a_network_is_compiled_to_machine_code(monkeypatch, tmp_path):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    model = adept.open(next(path for path in SOME if path.name == "hme-4x16"))
    assert_equal_to(model, torch.compile(adept.torch.Network(model), fullgraph=True), (200,))


def test_a_step_is_compiled_as_one_graph():
    games = adept.SelfPlay(hme(threshold=0.45))
    samples = games.play(16)
    plain, compiled = adept.torch.Network(games), adept.torch.Network(games)
    loss = torch.compile(compiled.loss, fullgraph=True, backend="inductor" if ALL else "aot_eager")
    losses = [plain.loss(**samples), loss(*tensors(*samples.values()))]
    for loss in losses:
        loss.backward()
    assert torch.allclose(*losses, rtol=1e-5)
    for one, other in zip(plain.parameters(), compiled.parameters()):
        assert torch.allclose(one.grad, other.grad, atol=1e-5)


@published(NETWORKS if ALL else [path for path in SOME if path.name in ("cells-16x8", "hme-4x16")])
def test_networks_are_written_as_onnx(path, tmp_path):
    pytest.importorskip("onnxscript")
    runtime = pytest.importorskip("onnxruntime")
    model = adept.open(path)
    # Without index channels there is no second input.
    rows = tuple(part for part in tensors(*rows_of(model)) if part.shape[1])
    n = torch.export.Dim("n")
    out = tmp_path / "network.onnx"
    network = adept.torch.Network(model).eval()
    torch.onnx.export(network, rows, out, dynamo=True, dynamic_shapes=({0: n},) * len(rows), verbose=False)
    session = runtime.InferenceSession(out)
    names = [one.name for one in session.get_inputs()]
    graph = lambda *rows: session.run(None, {name: part.numpy() for name, part in zip(names, rows)})[0]  # noqa: E731
    assert_equal_to(model, graph, (200, 37, 1))


def mlp(*hidden):
    return {"mlp": {"hidden": list(hidden)}}


NESTED = {"hme": {"experts": 2, "expert": mlp(3), "threshold": 0.5}}
ARCHITECTURES = {
    "nested": {"hme": {"experts": 4, "threshold": 0.3, "expert": NESTED}},
    "unlike": {"hme": {"experts": [mlp(5), NESTED, mlp(4, 3)], "threshold": 0.35}},
    "unlike, all": {"meta_pi": {"experts": [mlp(5), NESTED, mlp(4, 3)]}},
    "nested unlike": {"hme": {"experts": 2, "threshold": 0.5, "expert": {"hme": {"experts": [mlp(5), mlp(4, 3)]}}}},
    "symbolic": {"symbolic": {"by": "square", "experts": [mlp(3 + k % 2) for k in range(9)]}},
    "cells": {"cells": {"by": ["square", "position"], "experts": 3, "expert": NESTED}},
    "experts of cells": {
        "hme": {
            "experts": 2,
            "threshold": 0.5,
            "expert": {"cells": {"by": ["square", "position"], "experts": 3, "expert": mlp(4)}},
            "gate": {"inputs": ["fields"]},
        }
    },
    "shared": {"shared": {"hidden": [8], "top": {"symbolic": {"by": "square", "expert": NESTED}}}},
}


@pytest.mark.parametrize("head", ["value", "outcomes"])
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_graphs_learn_like_experts_on_their_own_rows(name, head):
    config = hme()
    config |= {"architecture": ARCHITECTURES[name], "head": head}
    config["learn"] |= {"optimiser": "adam"}
    games = adept.SelfPlay(config)
    samples = dict(zip(("dense", "index", "targets", "weights"), tensors(*games.play(8).values())))
    plain, free = adept.torch.Network(games), adept.torch.Network(games, check=False)
    compiled = head == "outcomes" and name in ("nested", "unlike", "shared")
    graph = torch.compile(free, fullgraph=True, backend="eager", dynamic=True) if compiled else free
    losses = [network.loss(**samples) for network in (plain, free)]
    for loss in losses:
        loss.backward()
    assert torch.allclose(*losses, rtol=1e-5)
    for one, other in zip(plain.parameters(), free.parameters()):
        # An expert without rows has no gradient, and a gradient of 0 in a graph.
        assert other.grad is None or torch.allclose(other.grad, torch.zeros(()) if one.grad is None else one.grad, atol=1e-5)
    for rows in (0, 1, 5, len(samples["dense"])):
        part = samples["dense"][:rows], samples["index"][:rows]
        values = plain(*part)
        assert torch.allclose(values, free(*part), atol=1e-6)
        assert torch.allclose(values, graph(*part), atol=1e-6)


def test_numbers_of_experts_that_are_not_chosen_do_not_matter():
    config = hme()
    expert = {"mlp": {"hidden": [4], "activation": "relu", "output": "linear"}}
    top = {"symbolic": {"by": "square", "expert": expert}}
    config["architecture"] = {"shared": {"hidden": [8], "activation": "sigmoid", "top": top}}
    games = adept.SelfPlay(config)
    network = adept.torch.Network(games, check=False)
    samples = games.play(4)
    others = samples["index"][:, 0] != 0
    samples = {key: value[others] for key, value in samples.items()}
    before = network(samples["dense"], samples["index"])
    first = [param for name, param in network.named_parameters() if "expert.0." in name and param.dim() == 2]
    with torch.no_grad():
        for param in first:
            # The sum of a few is infinite.
            param.fill_(3e38)
    assert len(first) == 2 and torch.equal(network(samples["dense"], samples["index"]), before)
    network.loss(**samples).backward()
    for param in network.parameters():
        assert param.grad is None or param.grad.isfinite().all()


def test_gradients_of_single_rows():
    games = adept.SelfPlay(hme(threshold=0.45))
    network = adept.torch.Network(games, check=False)
    dense, index, targets, _ = tensors(*games.play(4).values())
    params = dict(network.named_parameters())

    def loss(params, dense, target):
        value = torch.func.functional_call(network, params, (dense[None], index[:1]))
        return (value[0] - target) ** 2 / 2

    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(params, dense, targets)
    ((network(dense, index) - targets) ** 2 / 2).sum().backward()
    for name, param in params.items():
        assert torch.allclose(each[name].sum(0), param.grad, atol=1e-5)


def test_numbers_that_are_not_finite_are_refused():
    games = adept.SelfPlay(hme())
    network = adept.torch.Network(games)
    samples = games.play(4)
    for key, words in (
        ("dense", "dense: row 2: column 1 holds nan"),
        ("targets", "targets: row 2 holds nan"),
        ("weights", "weights: row 2 holds nan"),
    ):
        wrong = copy.deepcopy(samples)
        wrong[key][(2, 1)[: wrong[key].ndim]] = np.nan
        with pytest.raises(ValueError, match=words):
            network.loss(**wrong)
        free = adept.torch.Network(games, check=False)
        assert free.loss(**wrong).isnan()
    # Finite numbers may have a sum that is not.
    large = np.full_like(samples["dense"], 3e38)
    assert network(large, samples["index"]).isfinite().all()
    nan = tensors(np.full_like(samples["dense"], np.nan), samples["index"])
    assert torch.compile(network, fullgraph=True, backend="eager")(*nan).isnan().all()


@pytest.mark.parametrize("head", ["value", "outcomes"])
def test_losses_of_ones_own(head):
    games = adept.SelfPlay({**hme(), "head": head})
    network = adept.torch.Network(games)
    samples = games.play(8)
    dense, index, targets, weights = tensors(*samples.values())
    functional = torch.nn.functional
    if head == "value":
        functional.huber_loss(network(dense, index), targets).backward()
    else:
        logs = network.log_outcomes(dense, index)
        assert torch.allclose(functional.cross_entropy(logs, targets), -(targets * logs).sum(1).mean(), atol=1e-6)
        functional.kl_div(logs, targets, reduction="batchmean").backward()
    assert all(param.grad.isfinite().all() for param in network.parameters())
