#!/usr/bin/env bash
# Published checkpoints by ONNX Runtime, numpy, the C library and back, and by a reader written from docs/formats.md. Options go to check.py.
# ADEPT_PYTHON names the Python, 3.10 or later; its packages go to target/exchange.
set -euo pipefail
cd "$(dirname "$0")/../.."

cargo build --release
# By itself, as users build it: without burn.
cargo build --release -p adept-embed
venv=target/exchange
[ -x $venv/bin/python ] || "${ADEPT_PYTHON:-python3}" -m venv $venv
$venv/bin/python -m pip install --quiet --disable-pip-version-check -r scripts/exchange/requirements.txt

$venv/bin/python scripts/exchange/check.py --adept target/release/adept "$@"
$venv/bin/python scripts/exchange/reader.py --adept target/release/adept
exec $venv/bin/python scripts/exchange/book.py
