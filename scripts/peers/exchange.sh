#!/usr/bin/env bash
# Exported checkpoints in PyTorch, and evaluations a second by every route. Checkpoints as arguments, all published ones if none.
# ADEPT_PYTHON names the Python, 3.10 or later; its packages, PyTorch among them, go to target/exchange-torch.
set -euo pipefail
cd "$(dirname "$0")/../.."

cargo build --release
cargo build --release -p adept-embed --features tract --example routes
cargo build --release -p adept-embed
cc -O2 -Icrates/embed/include crates/embed/examples/speed.c -Ltarget/release -ladept_embed -o target/release/speed-in-c
venv=target/exchange-torch
[ -x $venv/bin/python ] || "${ADEPT_PYTHON:-python3}" -m venv $venv
$venv/bin/python -m pip install --quiet --disable-pip-version-check \
  -r scripts/peers/requirements-torch.txt -r scripts/exchange/requirements.txt
export LD_LIBRARY_PATH=target/release${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
exec $venv/bin/python scripts/peers/exchange_torch.py --adept target/release/adept \
  --routes target/release/examples/routes --c target/release/speed-in-c "$@"
