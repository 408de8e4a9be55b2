#!/usr/bin/env bash
# Published checkpoints by ONNX Runtime, numpy, the C library and back, and by a reader written from docs/formats.md: run.sh [ADEPT].
# Without a program it is built, and adept-embed by itself. ADEPT_PYTHON names the Python, 3.10 or later; its packages go to target/exchange.
set -euo pipefail
cd "$(dirname "$0")/../.."

adept=${1:-target/release/adept}
built=(--built)
if (($# == 0)); then
  cargo build --release
  # By itself, as users build it: without burn.
  cargo build --release -p adept-embed
  built=()
fi
venv=target/exchange
[ -x $venv/bin/python ] || "${ADEPT_PYTHON:-python3}" -m venv $venv
$venv/bin/python -m pip install --quiet --disable-pip-version-check -r scripts/exchange/requirements.txt

$venv/bin/python scripts/exchange/check.py --adept "$adept"
$venv/bin/python scripts/exchange/reader.py --adept "$adept"
exec $venv/bin/python scripts/exchange/book.py "${built[@]}"
