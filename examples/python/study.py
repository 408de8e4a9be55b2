"""A study: do experts pay in the bear-off? Mixtures of four small networks against a single network that costs as much.

python examples/python/study.py
"""

import adept

RUN = {
    "game": {"rules": "bearoff", "encoder": "race+distribution:12+rolls"},
    "learn": {
        "batch": 512,
        "optimiser": "soap",
        "rate": {"from": 0.006, "to": 0.000006, "shape": "cosine"},
        "supervised": {"samples": 8_000_000, "distribution": "checkers"},  # exact values of positions, all new
    },
    "evaluate": {"suites": ["rms"], "every": 2_000_000},  # the error on positions that are never examples
}

SIDES = ["one_sided", "distribution"]  # what networks see of both sides
EXPERTS = {
    "experts": 4,
    "expert": {"mlp": {"inputs": SIDES, "hidden": [16], "init": 0.2}},
    "gate": {"inputs": ["rolls"], "clusters": 3.0},  # by the mean rolls of both sides; begins as clusters
    "threshold": 0.3,  # only experts with such a weight run
}

# 19 hidden units cost 703 multiply-adds, a little more than the gate and the experts that run for a position.
single = {**RUN, "name": "single", "architecture": {"mlp": {"inputs": SIDES, "hidden": [19], "init": 0.2}}}
single["learn"] = {**RUN["learn"], "rate": {"from": 0.01, "to": 0.00001, "shape": "cosine"}}  # the best of several
meta_pi = {**RUN, "name": "meta-pi", "architecture": {"meta_pi": EXPERTS}}
hme = {**RUN, "name": "hme", "architecture": {"hme": {**EXPERTS, "gate": {**EXPERTS["gate"], "rate": 0.1}}}}

if __name__ == "__main__":
    study = adept.study({"single": single, "meta-pi": meta_pi, "hme": hme}, seeds=5, on_progress=adept.progress_bar())
    print(study.compare())
    for run in study.runs[5:]:
        experts = run.experts()
        print(run, f"{experts['live'][-1]:.0f} of 4 experts live, {experts['multiply_adds'][-1]:.0f} multiply-adds")
