#!/usr/bin/env bash
# Games per second of `adept train` and of its PyTorch peer on tic-tac-toe, one core each, in turn.
set -euo pipefail

usage() {
    cat <<'EOF'
usage: scripts/peers/tictactoe.sh [options]

  --eager N            games of the eager variant         (5000; 0 leaves a variant out)
  --compiled N         games of the compiled variant      (5000)
  --lockstep N         games of the two lockstep variants (200000)
  --games-at-once N    games a step in lockstep           (256)
  --repetitions N      (3)
  --core N             core everything is pinned to       (0)
  --peers-only         leave out `adept train`, and its build

environment:
  ADEPT_PEERS_VENV     virtual environment, made if missing (target/peers-venv)
  ADEPT_PEERS_PYTHON   Python that makes it, 3.11 or later  (python3)
  ADEPT_BIN            a built adept, instead of `cargo build --release`
EOF
}

eager=5000 compiled=5000 lockstep=200000 at_once=256 repetitions=3 core=0 ours=1
while (($#)); do
    case $1 in
        -h | --help) usage; exit ;;
        --peers-only) ours=0; shift; continue ;;
        --eager | --compiled | --lockstep | --games-at-once | --repetitions | --core) ;;
        *) usage >&2; exit 2 ;;
    esac
    [[ ${2-} =~ ^[0-9]+$ ]] || { echo "$1 takes a number" >&2; exit 2; }
    case $1 in
        --eager) eager=$2 ;;
        --compiled) compiled=$2 ;;
        --lockstep) lockstep=$2 ;;
        --games-at-once) at_once=$2 ;;
        --repetitions) repetitions=$2 ;;
        --core) core=$2 ;;
    esac
    shift 2
done

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."
venv=${ADEPT_PEERS_VENV:-target/peers-venv}
python=$venv/bin/python
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

pinned=()
if command -v taskset >/dev/null; then pinned=(taskset -c "$core"); else echo "no taskset: not pinned to a core" >&2; fi

# How our program is run, and the JSON keys of its games and seconds on standard output.
adept=${ADEPT_BIN:-target/release/adept}
games_key=steps seconds_key=seconds
run_adept() {
    "${pinned[@]}" "$adept" train configs/tictactoe/single-80.toml --json --out "$(mktemp -d -p "$scratch")/run"
}
run_torch() {
    "${pinned[@]}" "$python" "$here/tictactoe_torch.py" --json "$@"
}

[[ -x $python ]] || "${ADEPT_PEERS_PYTHON:-python3}" -m venv "$venv"
"$python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements-torch.txt"
# What torch.compile writes stays in the environment.
TORCHINDUCTOR_CACHE_DIR=$(cd "$venv" && pwd)/inductor
export TORCHINDUCTOR_CACHE_DIR
if ((ours)) && [[ -z ${ADEPT_BIN-} ]]; then cargo build --release; fi

# measure NAME COMMAND…: standard output goes to a file of its own; a failure is a row of the table.
measure() {
    local name=$1 log=$scratch/log
    shift
    mkdir -p "$scratch/results/$name"
    if "$@" >"$scratch/results/$name/$repetition" 2>"$log"; then
        echo "  $name"
    else
        echo "  $name failed:" >&2
        tail -n 20 "$log" >&2
        : >"$scratch/results/$name/$repetition"
    fi
}

for ((repetition = 1; repetition <= repetitions; repetition++)); do
    echo "repetition $repetition of $repetitions"
    if ((ours)); then measure "adept" run_adept; fi
    if ((eager)); then measure "PyTorch eager" run_torch --games "$eager" --seed "$repetition"; fi
    if ((compiled)); then measure "PyTorch compiled" run_torch --games "$compiled" --seed "$repetition" --compile; fi
    if ((lockstep)); then
        step=(--games "$lockstep" --seed "$repetition" --games-at-once "$at_once")
        measure "PyTorch eager, $at_once games a step" run_torch "${step[@]}"
        measure "PyTorch compiled, $at_once games a step" run_torch "${step[@]}" --compile
    fi
done

echo
"$python" - "$scratch/results" "$games_key" "$seconds_key" <<'EOF'
import json, os, statistics, sys

results, games_key, seconds_key = sys.argv[1:]


def read(name, run):
    """(games/s, games, equity or None) from the last JSON object on standard output that has the keys."""
    path, games_of = os.path.join(results, name, run), games_key if name == "adept" else "games"
    text = open(path).read()
    for part in [text, *reversed(text.splitlines())]:
        try:
            found = json.loads(part)
            games = found[games_of]
            return games / found[seconds_key], games, found.get("equity")
        except (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError):
            continue
    return None


rows = []
for name in sorted(os.listdir(results), key=lambda n: (n != "adept", "step" in n, "compiled" in n)):
    runs = [read(name, run) for run in sorted(os.listdir(os.path.join(results, name)))]
    rows.append((name, [r for r in runs if r], sum(r is None for r in runs)))
ours = next((statistics.median(r[0] for r in runs) for name, runs, _ in rows if name == "adept" and runs), None)

print(f"{'variant':<36}{'games':>10}{'games/s':>10}  {'(min–max)':<20}{'of ours':>9}{'equity':>9}")
for name, runs, failed in rows:
    if not runs:
        print(f"{name:<36}{'failed':>10}")
        continue
    rates = [r[0] for r in runs]
    rate = statistics.median(rates)
    spread = f"({min(rates):,.0f}–{max(rates):,.0f})"
    ratio = f"{rate / ours:.4f}" if ours else "—"
    equities = [r[2] for r in runs if isinstance(r[2], float)]
    equity = f"{statistics.median(equities):+.3f}" if equities else "—"
    print(f"{name:<36}{runs[0][1]:>10,}{rate:>10,.0f}  {spread:<20}{ratio:>9}{equity:>9}" + f"  {failed} failed" * bool(failed))
print("\ngames/s and equity: medians. Equity: exact, of the final network's greedy play against TTT;")
print("random −0.761, TTT 0, best play +0.664. Several games a step is a different algorithm.")
if any(failed for _, _, failed in rows):
    sys.exit(1)
EOF
