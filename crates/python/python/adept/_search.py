"""Search from Python."""

import os

from . import _adept


def search(path, position, *, plies=None, seconds=None, nodes=None, best=False):
    """What a checkpoint, or the latest (or best) checkpoint of a run, finds in a position when it looks ahead: as `Model.explain`, with
    `moves` best first, and `search` with its `plies`, `nodes`, `solved` and `line`. Give one limit: a depth in plies, a time, or a
    number of valued positions. A search cannot be interrupted: prefer a time."""
    limits = {"plies": plies, "seconds": seconds, "nodes": nodes}
    given = {name: limit for name, limit in limits.items() if limit is not None}
    if len(given) != 1:
        raise TypeError(f"search: give one of plies, seconds and nodes, found {', '.join(given) or 'none'}")
    if seconds is not None:
        if not 0 < seconds <= 3600:
            raise ValueError(f"seconds = {seconds}: must be positive, at most 3600")
        limit = f"{max(1, round(seconds * 1000))}ms"
    else:
        limit = f"{plies}" if plies is not None else f"{nodes}n"
    return _adept.open(f"search:{limit}:{os.fspath(path)}", best).explain(str(position))
