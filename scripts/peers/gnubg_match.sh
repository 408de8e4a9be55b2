#!/usr/bin/env bash
# Whole sessions in GNU Backgammon against `adept serve gnubg`: see gnubg_match.py.
set -euo pipefail

if (($# == 0)) || [[ $1 == -h || $1 == --help ]]; then
    echo "usage: scripts/peers/gnubg_match.sh AGENT [--games 1000] [--plies 0] [--seed 1] [--match N] [--port 4400]"
    echo "       [--judge PLIES] [--record FOLDER]"
    exit $(($# == 0 ? 2 : 0))
fi
. "$(dirname "$0")/gnubg.sh"
. "$(dirname "$0")/../adept.sh"
exec python3 "$here/gnubg_match.py" "$adept" "$@"
