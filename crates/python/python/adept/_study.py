"""Studies: several configs, each with several seeds and settings, and what came out as tables."""

import collections.abc
import contextlib
import itertools
import math
import os
import warnings

import numpy as np

from . import _adept

# As in the command: seeds of a call.
MOST_SEEDS = 10_000
# Values of a key: combinations of a sweep.
MOST_VALUES = 4096


class Study:
    """What came of a study: made by `adept.study`.

    `path` is its folder, `runs` are the `adept.Run` of its finished runs, and `finished` tells whether all runs are. `failed` lists
    dicts of the others that failed: `config`, `settings`, `seed`, `run`, the `reason`, and the `error` if it was an exception in
    Python. Printed, a study is the table of `compare()`."""

    def __init__(self, found, grid):
        # Imported here: it would take most of the time of `import adept`.
        from pathlib import Path

        self.path = Path(found["out"])
        self._configs = found["configs"]
        self._runs = found["runs"]
        self._keys = list(grid)
        # A key with one value does not vary, and is no setting of a combination.
        self._constants = {key: _plain(values[0]) for key, values in grid.items() if len(values) == 1}
        self.runs = [_adept.Run(run["path"]) for run in self._runs if run["finished"]]
        keys = ("config", "settings", "seed", "reason", "error")
        self.failed = [
            {"run": str(run["path"]), **{key: run[key] for key in keys}} for run in self._runs if run["reason"] is not None
        ]

    @property
    def finished(self):
        return all(run["finished"] for run in self._runs)

    def frame(self, which="final"):
        """A dict of arrays of equal length, for `pandas.DataFrame(…)` and `polars.DataFrame(…)`. `final` has a row for each finished
        run, `curves` one for each measurement of each run, unfinished ones too. The columns are `config`, the keys of the
        grid, `seed`, all numbers of a measurement, such as `step`, `loss` and `equity/random/equity` (NaN where there is none), and
        `run`, the folder. `seconds` are those of the whole run, in `curves` those until the measurement."""
        if which not in ("final", "curves"):
            raise ValueError(f'which = {which!r}: "final" or "curves"')
        rows, names = [], {}
        for about in self._runs:
            if which == "final" and not about["finished"]:
                continue
            try:
                run = _adept.Run(about["path"])
            except _adept.AdeptError:
                if about["finished"]:
                    raise
                # Not started, or failed before its first measurement.
                continue
            lines = run.metrics(flat=True)
            if which == "final":
                lines = [{**(lines[-1] if lines else {"step": run.record["step"]}), "seconds": run.record["seconds"]}]
            for line in lines:
                names.update(dict.fromkeys(line))
                rows.append((about, line))
        settings = {
            key: _column([about["settings"].get(key, self._constants.get(key)) for about, _ in rows]) for key in self._keys
        }
        return {
            "config": _column([about["config"] for about, _ in rows], str),
            **settings,
            "seed": np.array([about["seed"] for about, _ in rows], dtype=np.int64),
            **{name: _column([line.get(name) for _, line in rows], float) for name in names},
            "run": _column([str(about["path"]) for about, _ in rows], str),
        }

    def compare(self, metric=None, baseline=None):
        """Compares the finished runs at their ends: a list of dicts, one for each config and combination of the grid, for
        `pandas.DataFrame(…)` and `polars.DataFrame(…)`.

        `metric` is a column of `frame()`, by default the figure by which the command ranks runs: exact equity, the error
        `rms/rms`, … `baseline` is the name of a config, by default the first, with which each row is compared that has the same settings; a
        dict such as `{"config": "single", "learn.rate": 0.01}` names one row for all.

        A row has `n`, `mean`, `sd` (n − 1), `low` and `high`, the 95 % interval of the mean by Student; and `difference` to the
        baseline with `difference_low`, `difference_high` and `p`, as `adept runs compare` has them: `test` is `paired` if
        both have the same seeds, which share dice and positions, else `welch`. `p_holm` is `p` after Holm for all rows,
        `bootstrap_low` and `bootstrap_high` are an interval of the difference by bootstrap. Numbers are None if there are too few runs, or
        if they do not vary."""
        metric = self._figure() if metric is None else metric
        frame = self.frame()
        if metric not in frame or frame[metric].dtype.kind not in "if":
            if not len(frame["seed"]):
                raise _adept.AdeptError(f"{self.path}: no run is finished yet")
            known = [name for name, column in frame.items() if column.dtype.kind in "if" and name != "seed"]
            raise _adept.AdeptError(f"metric = {metric!r}: there is {', '.join(known)}")
        groups = {}
        for about in self._runs:
            groups.setdefault(self._group(about), [])
        finished = [about for about in self._runs if about["finished"]]
        for about, seed, value in zip(finished, frame["seed"].tolist(), frame[metric].tolist(), strict=True):
            if value == value:
                groups[self._group(about)].append((seed, value))
        labels = {group: self._label(group) for group in groups}
        fixed, of_baseline = self._baseline(baseline, groups, labels)
        rows = Comparison()
        rows.metric = metric
        for group, values in groups.items():
            base = fixed or next((g for g in groups if g[0] == of_baseline and g[1] == group[1]), None)
            compared = base is not None and base != group
            alike = compared and (metric in ("seconds", "loss") or self._measured(group) == self._measured(base))
            found = _adept.change(groups[base] if compared else None, values, alike)
            low, high = found["interval"] or (None, None)
            difference_low, difference_high = found["ci95"] or (None, None)
            bootstrap_low, bootstrap_high = found["bootstrap95"] or (None, None)
            rows.append(
                {
                    **labels[group],
                    "n": found["n"],
                    "mean": found["mean"],
                    "sd": found["sd"],
                    "low": low,
                    "high": high,
                    "difference": found["difference"],
                    "difference_low": difference_low,
                    "difference_high": difference_high,
                    "p": found["p"],
                    "p_holm": None,
                    "test": found["test"],
                    "correlation": found["correlation"],
                    "bootstrap_low": bootstrap_low,
                    "bootstrap_high": bootstrap_high,
                }
            )
        tested = sorted((row for row in rows if row["p"] is not None), key=lambda row: row["p"])
        highest = 0.0
        for rank, row in enumerate(tested):
            highest = max(highest, min(1.0, (len(tested) - rank) * row["p"]))
            row["p_holm"] = highest
        return rows

    def _figure(self):
        figures = {about["figure"] for about in self._configs.values()}
        if len(figures) > 1:
            raise _adept.AdeptError(
                f"the configs are measured by {' and '.join(sorted(figures))}: name a metric, or set `evaluate.suites` and "
                "`evaluate.against` for all"
            )
        return figures.pop()

    def _measured(self, group):
        return self._configs[group[0]]["measured"]

    def _group(self, about):
        return about["config"], tuple((key, _plain(value)) for key, value in about["settings"].items())

    def _label(self, group):
        config, settings = group
        settings = dict(settings)
        return {"config": config, **{key: settings.get(key, self._constants.get(key)) for key in self._keys}}

    def _baseline(self, baseline, groups, labels):
        """The row for all, or the config."""
        if baseline is None:
            return None, next(iter(self._configs))
        if isinstance(baseline, str):
            if baseline not in self._configs:
                raise _adept.AdeptError(f"baseline = {baseline!r}: there is {', '.join(self._configs)}")
            return None, baseline
        wanted = {key: _plain(value) for key, value in dict(baseline).items()}
        fits = [group for group, label in labels.items() if all(label.get(key) == value for key, value in wanted.items())]
        if len(fits) != 1:
            raise _adept.AdeptError(f"baseline = {baseline!r} names {len(fits)} rows: give `config` and the keys of the grid that tell one")
        return fits[0], None

    def _state(self):
        done, failed = len(self.runs), len(self.failed)
        return f"{done} of {len(self._runs)} runs finished" + (f", {failed} failed" if failed else "")

    def _table(self):
        try:
            return self.compare()
        except _adept.AdeptError:
            return None

    def __repr__(self):
        lines = [f"<adept.Study {self.path}: {self._state()}>"]
        table = self._table()
        if table:
            lines.append(str(table))
        lines += [f"{_name(run)}: {run['reason']}" for run in self.failed]
        return "\n".join(lines)

    def _repr_html_(self):
        table = self._table()
        failed = "".join(f"<p>{_escaped(_name(run))}: {_escaped(run['reason'])}</p>" for run in self.failed)
        return f"<p>{_escaped(str(self.path))}: {self._state()}</p>{table._repr_html_() if table else ''}{failed}"


class Comparison(list):
    """The rows of `Study.compare`, which are shown as a table. `metric` is the column that was compared."""

    metric = ""

    def _cells(self):
        if not self:
            return [], []
        keys = list(self[0])[: list(self[0]).index("n")]
        header = [*keys, f"{self.metric}, mean ± sd", "95 % interval", "n", "difference", "95 % interval", "p"]
        places = _places(self)
        return header, [[*(_shown(row[key]) for key in keys), *_figures(row, places)] for row in self]

    def __str__(self):
        header, rows = self._cells()
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in [header, *rows])

    __repr__ = __str__

    def _repr_html_(self):
        header, rows = self._cells()
        line = lambda cells, tag: "<tr>" + "".join(f"<{tag}>{_escaped(cell)}</{tag}>" for cell in cells) + "</tr>"
        return f"<table><thead>{line(header, 'th')}</thead><tbody>{''.join(line(row, 'td') for row in rows)}</tbody></table>"


def _places(rows):
    """Decimal places that show the largest mean by four digits."""
    scale = max((abs(row["mean"]) for row in rows if row["mean"]), default=1.0)
    return min(9, max(0, 3 - math.floor(math.log10(scale))))


def _figures(row, places):
    number = lambda value, sign="": "–" if value is None else f"{value:{sign}.{places}f}"
    interval = lambda low, high, sign="": "–" if row[low] is None else f"{number(row[low], sign)} … {number(row[high], sign)}"
    spread = "" if row["sd"] is None else f" ± {number(row['sd'])}"
    p = row["p"]
    return [
        number(row["mean"]) + spread,
        interval("low", "high"),
        str(row["n"]),
        number(row["difference"], "+"),
        interval("difference_low", "difference_high", "+"),
        "–" if p is None else "< 0.0001" if p < 1e-4 else f"{p:.4f}",
    ]


def _escaped(text):
    import html

    return html.escape(text)


def _name(run):
    settings = "".join(f", {key}={_shown(_plain(value))}" for key, value in run["settings"].items())
    return f"{run['config']}{settings}, seed {run['seed']}"


def _shown(value):
    return "–" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _plain(value):
    """A setting that can be compared and hashed: a number, or the text of anything else."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _column(values, kind=None):
    """An array of one type: whole numbers, numbers (NaN for none), truths, or texts."""
    values = [_plain(value) for value in values]
    types = {type(value) for value in values}
    if kind is not str:
        if types <= {int} and (types or kind is None):
            return np.array(values, dtype=np.int64)
        if types <= {int, float, type(None)} and types & {int, float} or kind is float:
            return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        if types == {bool}:
            return np.array(values)
    return np.array(["" if value is None else str(value) for value in values], dtype=np.str_)


def study(configs, seeds=3, grid=None, *, out=None, processes=0, settings=None, on_progress=None):
    """Trains several configs with several seeds, and returns a `Study` that compares them.

    `configs` is a dict of names and configs, each as `train` takes it. `seeds` is a number (5: the seeds 1 to 5), a range or a
    list. `grid` has keys with lists of values to try, such as `{"learn.rate": [0.01, 0.02]}`: all combinations are trained with all seeds.
    `settings` are changes for all. More than 4,096 combinations or 100,000 runs are refused before anything starts. `out` is the
    folder, by default `checkpoints/studies/` with the names joined by `_`. In it each config has a folder, which is that of a
    sweep: `adept sweep` goes on with it, and `adept runs compare` and `adept report` read it.

    The same call again returns what is finished at once and goes on with the rest; other seeds, or another config beside, are
    added. If the config of a name or its grid has changed, the call is refused: choose another folder. Results do not
    depend on `processes`, how many runs there are at a time, 0 for one per core. As in the command, they are threads of this process,
    so games written in Python take part, one at a time.

    `on_progress` gets dicts. `kind` is `study` (at the start, with `from` and `total` steps), the kinds of `train`, `failed` (with the `reason`)
    or `over` (at the end). All have `runs` and how many are `done`; those of a run have `run`, `config` and `seed`.
    `progress_bar()` is such a callback. If it returns `adept.STOP`, runs at work save checkpoints, and the study is returned
    unfinished. So they do after Ctrl-C or an exception in it.

    A run that fails does not keep others from going on: `Study.failed` and a warning tell of it. If no run is left, `AdeptError` is
    raised."""
    if not isinstance(configs, collections.abc.Mapping) or not configs:
        raise TypeError("configs: a dict of names and configs is needed, at least one")
    names = [str(name) for name in configs]
    if len({name.lower() for name in names}) < len(names):
        raise ValueError("configs: two names differ in nothing but case, and cannot be folders beside each other")
    grid = {str(key): _values(values) for key, values in (grid or {}).items()}
    seeds = _seeds(seeds)
    if out is None:
        folder = "_".join(names)
        out = os.path.join("checkpoints/studies", folder)
        if len(folder) > 100:
            raise ValueError("out: the names are too long for a folder together: give one")
    told = {"runs": 0, "done": 0}

    def heard(event):
        told.update(runs=event["runs"], done=event["done"])
        return on_progress(event)

    callback = heard if on_progress is not None else None
    pairs = list(zip(names, configs.values(), strict=True))
    try:
        found = _adept.study(pairs, seeds, grid, os.fspath(out), processes, settings, callback)
    except BaseException:
        if told["runs"]:
            # The first exception counts.
            with contextlib.suppress(Exception):
                on_progress({"kind": "over", **told})
        raise
    if told["runs"]:
        on_progress({"kind": "over", **told})
    made = Study(found, grid)
    if made.failed and not made.runs:
        raise _adept.AdeptError("\n".join(f"{_name(run)}: {run['reason']}" for run in made.failed)) from made.failed[0]["error"]
    for run in made.failed:
        warnings.warn(f"{_name(run)}: {run['reason']}", RuntimeWarning, stacklevel=2)
    return made


def _values(values):
    """The values of a grid; what is not a list is refused later, by its key."""
    if isinstance(values, (str, dict)) or not isinstance(values, collections.abc.Iterable):
        return values
    return _listed(values, MOST_VALUES + 1)


def _listed(values, most):
    """At most so many of them: a longer list is refused in any case."""
    return list(itertools.islice(values, most))


def _seeds(seeds):
    if isinstance(seeds, (bool, str)) or not isinstance(seeds, (int, np.integer, collections.abc.Iterable)):
        raise TypeError(f"seeds: a number, a range or a list is needed, found {seeds!r}")
    if isinstance(seeds, (int, np.integer)):
        if not 1 <= seeds <= MOST_SEEDS:
            raise _adept.AdeptError(f"seeds = {seeds}: from 1 to {MOST_SEEDS}")
        return list(range(1, int(seeds) + 1))
    seeds = [int(seed) for seed in _listed(seeds, MOST_SEEDS + 1)]
    if not 1 <= len(seeds) <= MOST_SEEDS:
        raise _adept.AdeptError(f"seeds: a list has from 1 to {MOST_SEEDS}")
    if len(set(seeds)) < len(seeds):
        raise _adept.AdeptError(f"seeds: {next(seed for i, seed in enumerate(seeds) if seed in seeds[:i])} is listed twice")
    return seeds
