#!/usr/bin/env bash
# The page in a real browser, beside a server on a free port: scripts/browser/run.sh [ADEPT]. Installs Debian's Chromium, and Node.js, if
# they are missing, which takes root.
set -euo pipefail
cd "$(dirname "$0")/../.."
adept=${1:-target/release/adept}

packages=()
command -v chromium > /dev/null || packages+=(chromium fonts-dejavu-core)
command -v npm > /dev/null || packages+=(nodejs npm)
if ((${#packages[@]})); then
  sudo=; [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}"
fi

# Node finds packages beside the scripts.
work=target/browser
mkdir -p "$work"
cp scripts/browser/*.mjs scripts/browser/package.json "$work"
npm install --prefix "$work" --no-audit --no-fund --no-package-lock --silent

# Keep test runs out of this folder.
served=$work/served
rm -rf "$served"
mkdir -p "$served/checkpoints"
for game in checkpoints/*/; do
  case $game in checkpoints/runs/ | checkpoints/plays/) continue ;; esac
  ln -s "$PWD/${game%/}" "$served/checkpoints/"
done
adept=$(realpath "$adept")
(cd "$served" && exec "$adept" serve http --listen 127.0.0.1:0) > "$work/server.txt" 2>&1 &
server=$!
trap 'kill "$server" 2> /dev/null || true' EXIT
for _ in $(seq 100); do
  address=$(sed -n 's/^listening on //p' "$work/server.txt")
  [ -z "$address" ] || break
  sleep 0.1
done
[ -n "$address" ] || { cat "$work/server.txt" >&2; exit 1; }

export ADEPT_URL=http://$address
node "$work/review.mjs" write > "$work/review.mat"
for script in games positions training views faults reviews; do
  node "$work/$script.mjs"
done

# A server of its own, which is killed.
mkdir -p "$served/killed/checkpoints"
for game in "$served"/checkpoints/*/; do
  case $game in */runs/ | */plays/) continue ;; esac
  ln -s "$(realpath "$game")" "$served/killed/checkpoints/"
done
ADEPT=$adept SERVED=$served/killed node "$work/restart.mjs"

# A review is a file.
"$adept" review "$work/review.mat" --by checkpoints/backgammon/small-88-24 --html "$work/review.html" > "$work/review.txt"
ADEPT_URL=file://$PWD/$work node "$work/review.mjs"
