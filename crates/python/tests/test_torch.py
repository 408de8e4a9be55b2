"""Networks as PyTorch modules: values, gradients and the way back."""

import copy
from pathlib import Path

import numpy as np
import pytest

import adept

torch = pytest.importorskip("torch")
import adept.torch  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
PUBLISHED = sorted(path.parent for path in ROOT.glob("checkpoints/*/*/manifest.json"))
POSITIONS = ["X........@1", "XO.......@2", "XOX.O....@5"]


assert PUBLISHED, "no published networks"


def rows_of(model, rows=200):
    """Random rows with the channels of a model."""
    draw, about = np.random.default_rng(1), model.description
    dense = draw.uniform(-1, 1, (rows, about["dense_width"])).astype(np.float32)
    index = np.zeros((rows, about["index_width"]), dtype=np.uint64)
    for channel in about["channels"]:
        if channel["kind"] == "index":
            index[:, channel["first"]] = draw.integers(0, channel["size"], rows)
    return dense, index


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_published_networks_give_the_same_values_in_pytorch(path, monkeypatch):
    monkeypatch.chdir(ROOT)
    model = adept.open(path)
    rows = rows_of(model)
    try:
        network = adept.torch.Network(model)
    except adept.AdeptError as error:
        assert "table" in str(error)
        return
    with torch.no_grad():
        found = network(*rows).numpy()
        values = network.values(*rows).numpy()
    assert np.allclose(values, model.evaluate(*rows), atol=1e-5) and values.shape == (200,)
    if network.classes:
        assert found.shape == (200, len(network.classes)) and np.allclose(found, model.outcomes(*rows), atol=1e-5)
        assert network.classes == tuple(one["name"] for one in model.description["head"]["outcomes"])
    else:
        assert np.array_equal(found, values)
        with pytest.raises(ValueError, match="no outcomes"):
            network.outcomes(*rows)


def test_parameters_are_views_of_one_array_with_the_names_of_exported_files(tmp_path, monkeypatch):
    from safetensors.torch import load_file

    monkeypatch.chdir(ROOT)
    path = next(path for path in PUBLISHED if path.parent.name == "bearoff")
    network = adept.torch.load(path)
    first = network.parameter(0)
    with torch.no_grad():
        first += 1
    assert np.array_equal(network.flat, network.weights())
    adept.export(path, tmp_path / "net.safetensors", format="safetensors")
    network.load_state_dict(load_file(tmp_path / "net.safetensors"), strict=True)
    assert np.array_equal(network.weights(), adept.open(path).weights())


def hme(**more):
    return {
        "name": "hme",
        "game": {"rules": "tictactoe", "encoder": "fields"},
        "architecture": {"hme": {"experts": 2, "expert": {"mlp": {"hidden": [8], "sensitivity": 3.0}}, **more}},
        "learn": {
            "rate": 0.01,
            "batch": 32,
            "optimiser": "sgd",
            "td": {"games": 32, "lambda": 0.7, "explore": {"from": 0.3, "to": 0.3}},
        },
        "evaluate": {"every": 32, "against": ["random"]},
    }


@pytest.mark.parametrize("head", ["value", "outcomes"])
@pytest.mark.parametrize("more", [{}, {"threshold": 0.45}, {"threshold": 0.6}], ids=["all experts", "threshold", "largest gate"])
def test_a_step_in_pytorch_is_a_step_of_adept(tmp_path, more, head):
    config = {**hme(**more), "head": head}
    games = adept.SelfPlay(config)
    network = adept.torch.Network(games)
    optimiser = torch.optim.SGD(network.groups(0.01))
    samples = games.play(32)
    assert games.played == 32 and len(samples["targets"]) == len(samples["dense"]) > 32
    if head == "outcomes":
        assert samples["targets"].shape == (len(samples["dense"]), 3) and np.allclose(samples["targets"].sum(axis=1), 1)
    network.loss(**samples).backward()
    optimiser.step()
    network.constrain()
    run = adept.train(config, out=tmp_path / "run")
    before, after = games.weights(), run.open().weights()
    assert np.abs(after - before).max() > 1e-3
    assert np.allclose(network.weights(), after, atol=2e-6)
    if head == "outcomes":
        model = run.open()
        rows = model.encode(POSITIONS)
        with torch.no_grad():
            found = adept.torch.Network(model)(*rows).numpy()
        assert found.shape == (3, 3) and np.allclose(found, model.outcomes(*rows), atol=1e-6)


EXPERT = {"mlp": {"hidden": [4]}}


@pytest.mark.parametrize(
    "architecture",
    [
        {"hme": {"experts": 4, "threshold": 0.6, "expert": EXPERT}},
        {"symbolic": {"by": "square", "expert": EXPERT}},
        {"cells": {"by": ["square", "position"], "experts": 8, "expert": EXPERT}},
    ],
    ids=lambda architecture: next(iter(architecture)),
)
def test_adam_of_pytorch_leaves_experts_without_rows_alone_like_adept(tmp_path, architecture):
    config = hme()
    config["architecture"] = architecture
    config["learn"] |= {"optimiser": "adam", "batch": 2}
    config["learn"]["td"]["games"] = config["evaluate"]["every"] = 16
    games = adept.SelfPlay(config)
    network = adept.torch.Network(games)
    optimiser = torch.optim.Adam(network.groups(0.01))
    without = 0
    for _ in range(8):
        optimiser.zero_grad()
        network.loss(**games.play(2)).backward()
        without += sum(param.requires_grad and param.grad is None for param in network.parameters())
        optimiser.step()
        games.adopt(network.weights())
    assert without > 0
    assert np.allclose(network.weights(), adept.train(config, out=tmp_path / "run").open().weights(), atol=1e-5)


def test_a_network_learns_in_pytorch_and_comes_back(tmp_path):
    config = hme()
    games = adept.SelfPlay(config, settings=["learn.td.games=6400"])
    network = adept.torch.Network(games)
    optimiser = torch.optim.Adam(network.groups(0.005))
    losses = []
    for _ in range(100):
        samples = games.play(32)
        optimiser.zero_grad()
        loss = network.loss(**samples) / len(samples["targets"])
        loss.backward()
        optimiser.step()
        network.constrain()
        games.adopt(network.weights())
        losses.append(loss.item())
    assert np.mean(losses[-20:]) < 0.8 * np.mean(losses[:5])
    network.save(tmp_path / "back")
    model = adept.open(tmp_path / "back")
    assert np.array_equal(model.weights(), network.weights())
    dense, index = model.encode(POSITIONS)
    with torch.no_grad():
        assert np.allclose(network(dense, index).numpy(), model.evaluate(dense, index), atol=1e-6)
    agents = [{"name": "ours", "agent": str(tmp_path / "back")}, {"name": "random"}]
    table = adept.arena({"name": "m", "game": "tictactoe", "games": 400, "agents": agents}, out=tmp_path / "arena")
    assert table["pairs"][0]["score"] > 0.8
    with pytest.raises(adept.AdeptError, match="already exists"):
        network.save(tmp_path / "back")
    with pytest.raises(adept.AdeptError, match="parameters given"):
        model.save(tmp_path / "other", np.zeros(3, dtype=np.float32))


def test_targets_need_games(tmp_path):
    config = hme()
    config["learn"]["td"]["traces"] = "online"
    config["architecture"] = {"mlp": {"hidden": [4]}}
    config["learn"]["batch"] = 1
    with pytest.raises(adept.AdeptError, match="backward"):
        adept.SelfPlay(config)


def test_nested_experts_run_on_any_number_of_rows():
    config = hme()
    nested = {"hme": {"experts": 2, "expert": {"mlp": {"hidden": [3]}}}}
    config["architecture"] = {"hme": {"experts": 4, "threshold": 0.6, "expert": nested}}
    games = adept.SelfPlay(config)
    network = adept.torch.Network(games)
    samples = games.play(3)
    for rows in (0, 1, 2, len(samples["dense"])):
        part = {key: value[:rows] for key, value in samples.items()}
        assert network(part["dense"], part["index"]).shape == (rows,)
        network.loss(**part).backward()
    twin = copy.deepcopy(network)
    with torch.no_grad():
        twin.parameter(0).add_(1)
    assert twin.source is games and not np.array_equal(twin.weights(), network.weights())


def test_self_play_begins_with_the_cells_of_a_run(tmp_path):
    config = hme()
    config["game"]["encoder"] = "fields"
    expert = {"mlp": {"hidden": [4], "inputs": ["fields"]}}
    config["architecture"] = {"cells": {"by": ["square", "position"], "experts": 3, "expert": expert}}
    config["learn"]["optimiser"] = "adam"
    games, run = adept.SelfPlay(config), adept.train(config, out=tmp_path / "run")
    gates = [p for p in games.program()["params"] if p["fixed"]]
    assert gates
    for gate in gates:
        part = slice(gate["offset"], gate["offset"] + int(np.prod(gate["shape"])))
        assert np.array_equal(games.weights()[part], run.open().weights()[part])


def test_experts_on_shared_layers_give_the_same_values(tmp_path):
    config = hme()
    config["game"]["encoder"] = "fields"
    inner = {"meta_pi": {"experts": 2, "expert": {"mlp": {"hidden": [4]}}, "threshold": 0.4}}
    config["architecture"] = {"shared": {"hidden": [8], "top": {"symbolic": {"by": "square", "expert": inner}}}}
    config["learn"]["optimiser"] = "adam"
    model = adept.train(config, out=tmp_path / "run").open()
    rows, network = rows_of(model), adept.torch.Network(model)
    with torch.no_grad():
        assert np.allclose(network(*rows).numpy(), model.evaluate(*rows), atol=1e-5)


def test_rows_of_other_shapes_are_refused():
    games = adept.SelfPlay(hme())
    network = adept.torch.Network(games)
    samples = games.play(3)
    n = len(samples["targets"])
    for wrong, words in (
        ({"dense": samples["dense"][:, 1:]}, "this network needs"),
        ({"dense": samples["dense"][0]}, "this network needs"),
        ({"index": np.zeros((n, 3), dtype=np.int64)}, "this network needs"),
        ({"targets": samples["targets"][1:]}, "targets of shape"),
        ({"weights": samples["weights"][:, None]}, "weights of shape"),
    ):
        with pytest.raises(ValueError, match=words):
            network.loss(**{**samples, **wrong})
    assert repr(network).endswith(f"-> value, {len(network.flat)} parameters>") and len(repr(network)) < 80
    assert network.double()(samples["dense"], samples["index"]).dtype == torch.float64


def test_an_index_out_of_range_is_refused(monkeypatch):
    monkeypatch.chdir(ROOT)
    for path in PUBLISHED:
        model = adept.open(path)
        dense, index = rows_of(model, 4)
        indices = [channel for channel in model.description["channels"] if channel["kind"] == "index"]
        if indices and "table" not in str(path):
            index[0, indices[0]["first"]] = indices[0]["size"]
            with pytest.raises(ValueError, match="must lie in"):
                adept.torch.Network(model)(dense, index)
            return
    pytest.skip("no published network has an index")


def test_the_notebook_of_optimisers_runs_from_top_to_bottom():
    import nbclient
    import nbformat

    notebook = nbformat.read(ROOT / "examples/python/optimisers.ipynb", as_version=4)
    folder = {"metadata": {"path": str(ROOT / "examples/python")}}
    nbclient.NotebookClient(notebook, timeout=300, resources=folder).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert [key for output in outputs for key in output.get("data", {})].count("image/png") == 1
    assert any("the curves differ by at most" in output.get("text", "") for output in outputs)
