"""adept's C library from Python: ctypes and numpy, nothing else.

    cargo build --release -p adept-embed
    python3 crates/embed/examples/adept.py checkpoints/bearoff/residual-10 "1,1,1,1,1,1/0,0,0,0,0,2 65"

The library is looked for in target/release, or where ADEPT_LIBRARY says.
"""

import ctypes
import json
import os
import pathlib
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
NAME = {"darwin": "libadept_embed.dylib", "win32": "adept_embed.dll"}.get(sys.platform, "libadept_embed.so")
FLOATS, INTEGERS = (ctypes.POINTER(t) for t in (ctypes.c_float, ctypes.c_uint64))


class AdeptError(Exception):
    """What the library says of a call that failed."""


def load():
    """The library, with the types of its functions."""
    lib = ctypes.CDLL(os.environ.get("ADEPT_LIBRARY", ROOT / "target/release" / NAME))
    text, texts, model, size = ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p), ctypes.c_void_p, ctypes.c_size_t
    for name, result, arguments in [
        ("adept_last_error", text, []),
        ("adept_open", ctypes.c_int, [text, ctypes.POINTER(model)]),
        ("adept_open_as", ctypes.c_int, [text, text, ctypes.POINTER(model)]),
        ("adept_close", None, [model]),
        ("adept_describe", text, [model]),
        ("adept_values", ctypes.c_int, [model, texts, size, FLOATS]),
        ("adept_choose_sizes", ctypes.c_int, [model, text, ctypes.POINTER(size), ctypes.POINTER(size)]),
        ("adept_choose", ctypes.c_int, [model, text, text, size, text, size, FLOATS]),
        ("adept_moves", ctypes.c_int, [model, text, ctypes.POINTER(ctypes.c_void_p)]),
        ("adept_explain", ctypes.c_int, [model, text, ctypes.POINTER(ctypes.c_void_p)]),
        ("adept_encode", ctypes.c_int, [model, texts, size, FLOATS, INTEGERS]),
        ("adept_evaluate", ctypes.c_int, [model, FLOATS, INTEGERS, size, FLOATS]),
        ("adept_outcomes", ctypes.c_int, [model, FLOATS, INTEGERS, size, FLOATS]),
        ("adept_free", None, [ctypes.c_void_p]),
    ]:
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


class Model:
    """An opened checkpoint; any number of threads may use it at once. `search:4:PATH` in place of a path looks ahead. `game` is the
    rule set to play, if it is not the checkpoint's own: `backgammon:match-7`."""

    def __init__(self, path, game=None):
        self.lib, self.handle = load(), ctypes.c_void_p()
        path, handle = os.fsencode(path), ctypes.byref(self.handle)
        self._check(
            self.lib.adept_open(path, handle) if game is None else self.lib.adept_open_as(path, game.encode(), handle)
        )
        self.about = json.loads(self.lib.adept_describe(self.handle))
        head = self.about["head"]
        # Names of the classes of outcomes; none for a network of values or a policy.
        self.classes = [c["name"] for c in head["outcomes"]] if isinstance(head, dict) else []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Frees the model."""
        self.lib.adept_close(self.handle)
        self.handle = ctypes.c_void_p()

    def _check(self, code):
        if code:
            raise AdeptError(self.lib.adept_last_error().decode())

    def values(self, positions):
        """Values for the player to move, in the range of `about["range"]`; None there means that nothing bounds them."""
        values = np.empty(len(positions), np.float32)
        self._check(self.lib.adept_values(self.handle, _texts(positions), len(positions), _floats(values)))
        return values

    def choose(self, position):
        """The best move, the position after it, and its value for the player who makes it."""
        sizes, value = (ctypes.c_size_t(), ctypes.c_size_t()), ctypes.c_float()
        at = position.encode()
        self._check(self.lib.adept_choose_sizes(self.handle, at, *(ctypes.byref(size) for size in sizes)))
        move, after = (ctypes.create_string_buffer(size.value) for size in sizes)
        self._check(
            self.lib.adept_choose(self.handle, at, move, sizes[0], after, sizes[1], ctypes.byref(value))
        )
        return move.value.decode(), after.value.decode(), value.value

    def moves(self, position):
        """All moves, best first: dicts with action, after and value."""
        return self._json(self.lib.adept_moves, position)

    def explain(self, position):
        """A dict: value, moves with gates and experts; with a model that looks ahead, search has plies, nodes and the expected line;
        with the doubling cube, reading has the advice and the figures by name."""
        return self._json(self.lib.adept_explain, position)

    def _json(self, function, position):
        found = ctypes.c_void_p()
        self._check(function(self.handle, position.encode(), ctypes.byref(found)))
        try:
            return json.loads(ctypes.string_at(found))
        finally:
            self.lib.adept_free(found)

    def encode(self, positions):
        """Rows of positions as they stand, for the player who just moved: floats and integers."""
        dense = np.empty((len(positions), self.about["dense_width"]), np.float32)
        index = np.empty((len(positions), self.about["index_width"]), np.uint64)
        texts = _texts(positions)
        self._check(self.lib.adept_encode(self.handle, texts, len(positions), _floats(dense), _integers(index)))
        return dense, index

    def evaluate(self, dense, index):
        """Values of rows, for the player who just moved."""
        return self._of_rows(self.lib.adept_evaluate, dense, index, ())

    def outcomes(self, dense, index):
        """Probabilities of `classes` after rows, for the player who just moved: an array [rows, classes]."""
        return self._of_rows(self.lib.adept_outcomes, dense, index, (len(self.classes),))

    def _of_rows(self, function, dense, index, width):
        dense, index = np.ascontiguousarray(dense, np.float32), np.ascontiguousarray(index, np.uint64)
        widths = self.about["dense_width"], self.about["index_width"]
        if (dense.shape, index.shape) != tuple((len(dense), width) for width in widths):
            raise AdeptError(f"rows need {widths[0]} floats and {widths[1]} integers")
        found = np.empty((len(dense), *width), np.float32)
        self._check(function(self.handle, _floats(dense), _integers(index), len(dense), _floats(found)))
        return found

    def inputs(self, dense, index):
        """The channels of rows by name, as an ONNX file of the same checkpoint takes them."""
        parts = {}
        for c in self.about["channels"]:
            columns = slice(c["first"], c["first"] + c["width"])
            whole = c["kind"] in ("index", "key")
            parts[c["name"]] = index[:, columns].astype(np.int64) if whole else dense[:, columns]
        return parts


def _texts(positions):
    return (ctypes.c_char_p * len(positions))(*(p.encode() for p in positions))


def _floats(array):
    return array.ctypes.data_as(FLOATS)


def _integers(array):
    return array.ctypes.data_as(INTEGERS)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: adept.py CHECKPOINT POSITION")
    try:
        with Model(sys.argv[1]) as model:
            for move in model.moves(sys.argv[2]):
                print(f"{move['action']:<16} {move['value']:+.4f}  {move['after']}")
    except AdeptError as error:
        sys.exit(f"error: {error}")
