#!/usr/bin/env bash
# The Python module: builds the wheel, installs it in a clean virtual environment, and runs its tests.
set -euo pipefail
cd "$(dirname "$0")/../crates/python"
root=$(cd ../.. && pwd)
desk=$(mktemp -d)
trap 'rm -rf "$desk"' EXIT

venv() {
  python3 -m venv "$1"
  "$1/bin/pip" install --quiet --disable-pip-version-check "${@:2}"
}
venv "$desk/build" 'maturin>=1.9,<2'
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target/python}
"$desk/build/bin/maturin" build --release --locked --out "$desk/wheels"
ls -l "$desk"/wheels/*.whl
# A wheel of more than 15 MB is refused.
[ "$(stat -c %s "$desk"/wheels/*.whl)" -le 15000000 ]
venv "$desk/clean" "$desk"/wheels/*.whl pytest pandas
cd "$desk"
"$desk/clean/bin/python" -m pytest -q "$root/crates/python/tests"
# What a call costs beside the same call in Rust.
"$desk/clean/bin/python" "$root/crates/python/tests/overhead.py"
