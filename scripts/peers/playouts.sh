#!/usr/bin/env bash
# Random games a second of declared games, beside OpenSpiel. One core each, one after the other.
#   scripts/peers/playouts.sh        # a minute; OpenSpiel is installed into target/peers
set -euo pipefail
cd "$(dirname "$0")/../.."
venv=target/peers/openspiel
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -c 'import pyspiel' 2> /dev/null || "$venv/bin/pip" install --quiet open_spiel==2.0.2
cargo bench --quiet -p adept-declared --bench playouts -- tic-tac-toe connect-four breakthrough > target/peers/ours.txt
"$venv/bin/python" scripts/peers/playouts.py > target/peers/openspiel.txt
printf '%-14s %16s %18s %16s %8s %8s\n' game 'ours, games/s' 'OpenSpiel, Python' 'OpenSpiel, C++' ratio ratio
while read -r game python cpp; do
  ours=$(awk -v g="$game" '$1 == g { print $2 }' target/peers/ours.txt)
  awk -v g="$game" -v o="$ours" -v p="$python" -v c="$cpp" \
    'BEGIN { printf "%-14s %16d %18d %16d %8.0f %8.0f\n", g, o, p, c, o / p, o / c }'
done < target/peers/openspiel.txt
