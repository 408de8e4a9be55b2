"""Checkpoints by other routes: ONNX Runtime, numpy over safetensors, the C library, and back by import.

Every route has to give the values of the native engine on the same rows. Prints a table; exit status 1 where a value differs.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from safetensors.numpy import load_file, save_file

from networks import Network

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "crates/embed/examples"))
import adept  # noqa: E402

TOLERANCE = 1e-5


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--adept", required=True, help="the program")
    options.add_argument("--rows", type=int, default=10_000)
    options.add_argument("--json", type=pathlib.Path, help="also write the figures there")
    options.add_argument("checkpoints", nargs="*", help="all published ones, and small ones of tic-tac-toe, if left out")
    options = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        checkpoints = options.checkpoints
        if not checkpoints:
            published = sorted(ROOT.glob("checkpoints/*/*/manifest.json"))
            # A table of positions is not a graph.
            checkpoints = [p.parent for p in published if json.loads(p.read_text())["kind"] == "network"]
            checkpoints += tictactoe(options.adept, folder)
        rows = [check(options, pathlib.Path(c), folder) for c in checkpoints]
    columns = [key for key in rows[0] if key != "checkpoint"]
    print(f"{'largest difference':<24}" + "".join(f"{c:>16}" for c in columns))
    for row in rows:
        cells = (f"{row[c]:>16.2e}" if isinstance(row[c], float) else f"{row[c]:>16,}" for c in columns)
        print(f"{row['checkpoint']:<24}" + "".join(cells))
    if options.json:
        options.json.write_text(json.dumps({"rows": rows, "positions": options.rows}, indent=2) + "\n")
    looks_ahead(options.adept)
    worst = max(row[c] for row in rows for c in columns if isinstance(row[c], float))
    print(f"{options.rows} rows a checkpoint, the largest difference of all {worst:.2e}; allowed is {TOLERANCE:.0e}")
    return 0 if worst <= TOLERANCE else 1


def run(program, *arguments):
    subprocess.run([program, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def tictactoe(program, folder):
    """What no published checkpoint has: sensitivities, an index channel, thresholds that many rows pass, probabilities of outcomes."""
    found = []
    for name in ["symbolic-9x20", "hme-2x40-st3", "meta-pi-2x40"]:
        config = ROOT / f"configs/tictactoe/{name}.toml"
        for head in ["value", "outcomes"]:
            found.append(folder / (name if head == "value" else f"{name}-{head}"))
            run(program, "train", config, "--set", "learn.games=2000", "--set", f"head={head}", "--out", found[-1])
    return found


def positions(draw, count):
    generator = random.Random(1)
    return [draw(generator) for _ in range(count)]


def drawn(about, count):
    """Any rows of these channels: where players do not see all of a state, a position makes none."""
    generator = np.random.default_rng(1)
    dense = generator.uniform(-1, 1, (count, about["dense_width"])).astype(np.float32)
    sizes = [c["size"] for c in about["channels"] if c["kind"] == "index"]
    index = np.stack([generator.integers(0, n, count) for n in sizes], axis=1) if sizes else np.empty((count, 0))
    return dense, index.astype(np.uint64)


def bearoff(draw):
    def side():
        counts = [0] * 6
        for _ in range(draw.randint(1, 14)):
            counts[draw.randrange(6)] += 1
        return ",".join(map(str, counts))

    return f"{side()}/{side()}"


LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def noughts(draw):
    while True:
        board, squares = ["."] * 9, draw.sample(range(9), draw.randint(1, 8))
        for i, square in enumerate(squares):
            board[square] = "XO"[i % 2]
        if not any(board[a] != "." and board[a] == board[b] == board[c] for a, b, c in LINES):
            return f"{''.join(board)}@{squares[-1] + 1}"


def check(options, checkpoint, folder):
    name = checkpoint.name
    print(f"{name} ...", file=sys.stderr)
    graph, tensors = folder / f"{name}.onnx", folder / f"{name}.safetensors"
    run(options.adept, "export", checkpoint, "--format", "onnx", "--out", graph)
    run(options.adept, "export", checkpoint, "--format", "safetensors", "--out", tensors)
    with adept.Model(checkpoint) as model:
        draw = {"bearoff": bearoff, "tictactoe": noughts}.get(model.about["game"])
        dense, index = model.encode(positions(draw, options.rows)) if draw else drawn(model.about, options.rows)
        inputs, native = model.inputs(dense, index), model.evaluate(dense, index)
        classes = model.classes
        probabilities = model.outcomes(dense, index) if classes else native[:, None]

    onnx.checker.check_model(str(graph), full_check=True)
    described = {p.key for p in onnx.load(graph).metadata_props}
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    feed = {i.name: inputs[i.name] for i in session.get_inputs()}
    assert all(f"input.{i}" in described for i in feed), "an input without a description"
    found = dict(zip((o.name for o in session.get_outputs()), session.run(None, feed)))
    for gate in (g for g in found if g.endswith("gate")):
        assert np.allclose(found[gate].sum(axis=1), 1, atol=1e-5), gate
    by_graph = np.concatenate([found[f"outcome.{c}"] for c in classes], axis=1) if classes else found["value"]
    alone = session.run(["value"], {k: v[:1] for k, v in feed.items()})[0]

    network = Network(tensors)
    from_numpy, outputs = network(inputs), network.outputs(inputs)
    assert network.used == network.tensors.keys(), network.tensors.keys() - network.used

    # As it is, and as other programs write it, which leave out what it says of itself.
    again, anew = folder / f"{name}-again", folder / f"{name}-anew"
    run(options.adept, "import", tensors, "--out", again)
    bare = folder / f"{name}-bare.safetensors"
    save_file(load_file(tensors), bare)
    run(options.adept, "import", bare, "--like", checkpoint, "--out", anew)
    returned = []
    for path in (again, anew):
        with adept.Model(path) as model:
            returned.append(off(model.evaluate(dense, index), native))

    return {
        "checkpoint": name,
        "onnxruntime": max(off(found["value"][:, 0], native), off(by_graph, probabilities)),
        "one row": off(alone[:, 0], native[:1]),
        "numpy": max(off(from_numpy, native), off(outputs, probabilities)),
        "imported again": max(returned),
        "bytes onnx": graph.stat().st_size,
        "safetensors": tensors.stat().st_size,
    }


def looks_ahead(program):
    """A search by the C library is that of the command, which prints the values of 32 bits with more digits."""
    single = lambda number: float(np.float32(number))
    agent, position = f"search:2:{ROOT / 'checkpoints/bearoff/residual-10'}", "2,1,0,1,0,1/0,1,0,0,0,2 31"
    done = subprocess.run([program, "value", agent, position, "--json"], check=True, stdout=subprocess.PIPE)
    wanted = json.loads(done.stdout, parse_float=single)["values"][0]
    with adept.Model(agent) as model:
        found = json.loads(json.dumps(model.explain(position)), parse_float=single)
        assert found == wanted, (found, wanted)
        moves = [(m["action"], m["after"], single(m["value"])) for m in model.moves(position)]
        assert moves == [(m["move"], m["afterstate"], m["value"]) for m in wanted["moves"]], moves
        assert model.choose(position) == moves[0], model.choose(position)


def off(values, native):
    """The largest difference as a share of 1 + |value|, as logits may be large; a value that is not a number is a fault of its own."""
    assert values.shape == native.shape and np.isfinite(values).all()
    return float((np.abs(values - native) / (1 + np.abs(native))).max())


if __name__ == "__main__":
    sys.exit(main())
