#!/usr/bin/env bash
# Checkpoints against GNU Backgammon's evaluators of the bear-off, on the same positions and the same decisions.
set -euo pipefail

usage() {
    cat <<'END'
usage: scripts/peers/decisions.sh CHECKPOINT… [options]

  --positions N      positions before the roll                               (2000)
  --distribution D   from which they are drawn: adept list distributions      (table)
  --seed N           of their draw                                            (1)
  --json FILE        also write the figures there

environment:
  ADEPT_BIN           a built adept, instead of `cargo build --release`
  ADEPT_PEERS_PYTHON  Python that compares, 3.10 or later              (python3)

Checkpoints are of the game `bearoff`. It installs gnubg from Debian if missing, which takes root. Exact values are
solved once a checkpoint, to 32 bits: 6 GB of memory. Exit status 1 if gnubg did not value positions by what it
was told to.
END
}

checkpoints=()
options=()
while (($#)); do
    case $1 in
        -h | --help) usage; exit ;;
        --positions | --distribution | --seed | --json)
            [[ -n ${2-} ]] || { echo "$1 takes a value" >&2; exit 2; }
            options+=("$1" "$2")
            shift 2
            ;;
        -*) usage >&2; exit 2 ;;
        *) checkpoints+=("$1"); shift ;;
    esac
done
((${#checkpoints[@]})) || { usage >&2; exit 2; }

. "$(dirname "$0")/gnubg.sh"
. "$(dirname "$0")/../adept.sh"

exec "${ADEPT_PEERS_PYTHON:-python3}" "$here/decisions.py" --adept "$adept" "${options[@]}" -- "${checkpoints[@]}"
