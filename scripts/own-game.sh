#!/usr/bin/env bash
# Every command on a game that is not built in, in a new folder: own-game.sh [PROGRAM]. Without one, examples/own-game is built.
set -euo pipefail
cd "$(dirname "$0")/.."

nim=${1:-target/debug/own-game}
(($#)) || cargo build --locked -p own-game --target-dir target
nim=$(realpath "$nim")
cd examples/own-game
desk=$(mktemp -d)
trap 'rm -rf "$desk"' EXIT
cp nim.toml arena.toml "$desk"
cd "$desk"

# expects TEXT COMMAND…: the command succeeds and says that.
expects() {
  local text=$1 said
  shift
  echo "own-game $*"
  said=$("$nim" "$@" 2>&1) || { echo "$said"; return 1; }
  grep -qF -- "$text" <<< "$said" || { printf '%s\nnot found: %s\n' "$said" "$text"; return 1; }
}

expects nim list games
expects heaps list encoders
expects minimax list agents
expects 'nim is fine' config check nim.toml
"$nim" config new nim > starter.toml
expects 'my-nim is fine' config check starter.toml
# Stopped after its first checkpoint, a run goes on to the same end as one that was not.
expects run train nim.toml --out whole --json
"$nim" train nim.toml --out parts --set checkpoints.every=2000 --max-seconds 0.5 --json > /dev/null || true
expects '"finished": true' train nim.toml --out parts --set checkpoints.every=2000 --resume --json
cmp whole/checkpoints/000000040000/weights.safetensors parts/checkpoints/000000040000/weights.safetensors
expects 'run' train nim.toml --json
expects minimax evaluate checkpoints/runs/nim-1 --suite equity --json
expects heaps describe checkpoints/runs/nim-1
expects '"moves"' value checkpoints/runs/nim-1 '3 4 5 @1' --json
expects minimax arena arena.toml
printf 'quit\n' | "$nim" play checkpoints/runs/nim-1 --seed 1 > played.txt
grep -q '3 4 5' played.txt
expects rate sweep nim.toml --set learn.rate=0.02,0.05 --set learn.games=4000
expects nim.onnx export checkpoints/runs/nim-1 --format onnx --out nim.onnx
expects nim.h export checkpoints/runs/nim-1 --format c --out nim.h
echo "own-game: all commands work"
