#!/usr/bin/env bash
# The bear-off oracle against GNU Backgammon: time to solve, values, legal moves.
set -euo pipefail

usage() {
    cat <<'END'
usage: scripts/peers/bearoff.sh [options]

  --json FILE       also write the figures there
  --runs N          runs of `adept oracle build`                       (5)
  --at-least R      ratio of CPU seconds to reach                      (2000)
  --tolerance T     largest difference of two values                   (2e-4)
  --pairs N         values compared by the Python reading of the file  (2000)
  --decisions N     decisions whose legal moves are compared           (400)
  --seed N          of those pairs and decisions                       (1)

environment:
  ADEPT_BIN           a built adept, instead of `cargo build --release`
  ADEPT_PEERS_PYTHON  Python that compares, 3.10 or later              (python3)

It installs gnubg from Debian if missing, which takes root. Then it runs half a minute. Exit status 1 if the
ratio is missed, or a value or a legal move differs.
END
}

options=()
while (($#)); do
    case $1 in
        -h | --help) usage; exit ;;
        --json | --runs | --at-least | --tolerance | --pairs | --decisions | --seed) ;;
        *) usage >&2; exit 2 ;;
    esac
    [[ -n ${2-} ]] || { echo "$1 takes a value" >&2; exit 2; }
    options+=("$1" "$2")
    shift 2
done

. "$(dirname "$0")/gnubg.sh"
. "$(dirname "$0")/../adept.sh"

exec "${ADEPT_PEERS_PYTHON:-python3}" "$here/bearoff.py" --adept "$adept" "${options[@]}"
