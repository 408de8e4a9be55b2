"""A study: do experts pay in the bear-off? Mixtures of four small networks against a single network that costs as much.

python examples/python/study.py [PICTURE]
"""

import sys

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
    if len(sys.argv) > 1:
        import matplotlib.pyplot as plt

        curves = study.frame("curves")
        for name in ["single", "meta-pi", "hme"]:
            own = curves["config"] == name
            steps = sorted(set(curves["step"][own]))
            errors = [curves["rms/rms"][own & (curves["step"] == step)] for step in steps]
            plt.plot(steps, [error.mean() for error in errors], label=name)
            plt.fill_between(steps, [error.min() for error in errors], [error.max() for error in errors], alpha=0.2)
        plt.yscale("log")
        plt.xlabel("positions")
        plt.ylabel("RMS error of V")
        plt.legend()
        plt.savefig(sys.argv[1], bbox_inches="tight")
