#!/usr/bin/env bash
# CFR+ on liar's dice, one die each: adept against OpenSpiel's Python, one after the other on one core.
set -euo pipefail

usage() {
    cat <<'END'
usage: scripts/peers/liars_dice.sh [--faces N] [--iterations N]

  --faces N        faces of a die                    (6)
  --iterations N   iterations, the same for both     (5)

environment:
  ADEPT_BIN           a built adept, instead of `cargo build --release`
  ADEPT_PEERS_PYTHON  Python with open_spiel; if left out a virtual environment below target/ with it from PyPI

Both begin at uniform play, so that after the same iterations value and exploitability must agree. Exit status 1 if they do
not, to 1e-6.
END
}

faces=6
iterations=5
while (($#)); do
    case $1 in
        -h | --help) usage; exit ;;
        --faces) faces=${2:?--faces takes a value}; shift 2 ;;
        --iterations) iterations=${2:?--iterations takes a value}; shift 2 ;;
        *) usage >&2; exit 2 ;;
    esac
done

. "$(dirname "$0")/../adept.sh"
if [[ -z ${ADEPT_PEERS_PYTHON-} ]]; then
    venv=$root/target/venv-openspiel
    [[ -x $venv/bin/python ]] || python3 -m venv "$venv"
    "$venv/bin/python" -c 'import pyspiel' 2>/dev/null || "$venv/bin/pip" install --quiet open_spiel
    ADEPT_PEERS_PYTHON=$venv/bin/python
fi

ours=$("$adept" solve "liars-dice:openspiel:1-1:$faces" --iterations "$iterations" --json)
speed=$("$adept" solve "liars-dice:openspiel:1-1:$faces" --iterations 1000 --json)
theirs=$("$ADEPT_PEERS_PYTHON" "$here/liars_dice_openspiel.py" --faces "$faces" --iterations "$iterations")

python3 - "$ours" "$speed" "$theirs" <<'END'
import json, sys

ours, speed, theirs = map(json.loads, sys.argv[1:])
for name, found in [("adept", ours), ("OpenSpiel", theirs)]:
    print(f"{name:<10} {found['iterations']} iterations: value {found['value']:+.6f}, exploitability {found['exploitability']:.6f}")
rates = speed["iterations_per_second"], theirs["iterations_per_second"]
print(f"iterations a second: adept {rates[0]:.0f} (over 1000), OpenSpiel {rates[1]:.3f}: {rates[0] / rates[1]:.0f} times")
apart = max(abs(ours[key] - theirs[key]) for key in ("value", "exploitability"))
sys.exit(f"they differ by {apart:.1e}" if apart > 1e-6 else 0)
END
