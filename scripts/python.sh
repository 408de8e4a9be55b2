#!/usr/bin/env bash
# The Python module: builds the wheel, installs it in a clean virtual environment, runs its tests, the examples and the notebook,
# and says what a call costs. PyTorch takes 6 GB of disk: with less than 12 GB free, or with `--without-torch`, it and its tests are left out.
set -euo pipefail
cd "$(dirname "$0")/../crates/python"
root=$(cd ../.. && pwd)
desk=$(mktemp -d)
packages=
clear_desk() {
  [ -z "$packages" ] || { kill -- "-$packages"; wait "$packages"; } 2> /dev/null || true
  rm -rf "$desk"
}
trap clear_desk EXIT
torch=(torch onnx onnxruntime onnxscript)
free=$(df --output=avail --block-size=1G "$desk" | tail -n 1)
if [ "${1-}" = --without-torch ] || ((free < 12)); then
  echo "note: the tests of adept.torch are left out"
  torch=()
fi

venv() {
  python3 -m venv "$1"
  "$1/bin/pip" install --quiet --disable-pip-version-check "${@:2}"
}
venv "$desk/build" 'maturin>=1.16,<2'
CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-$root/target}")
export CARGO_TARGET_DIR
# While the wheel is compiled, which brings its own requirements. In a process group of its own, so that it can be stopped.
set -m
venv "$desk/clean" "${torch[@]}" pdoc &
packages=$!
set +m
"$desk/build/bin/maturin" build --release --locked --compression-level 9 --out "$desk/wheels"
rust_call=$CARGO_TARGET_DIR/release/examples/rust_call
[ -x "$rust_call" ] || cargo build --release --locked -p adept-embed --example rust_call
ls -l "$desk"/wheels/*.whl
# A wheel of more than 15 MB is refused.
[ "$(stat -c %s "$desk"/wheels/*.whl)" -le 15000000 ]
wheel=("$desk"/wheels/*.whl)
wait "$packages"
packages=
"$desk/clean/bin/pip" install --quiet --disable-pip-version-check "${wheel[0]}[test]" "${torch[@]}"
cd "$desk"
"$desk/clean/bin/python" -m pytest -q -p no:cacheprovider -n 2 --dist loadfile --durations 10 "$root/crates/python/tests"
"$desk/clean/bin/python" "$root/crates/python/tests/overhead.py" "$rust_call"
# The reference of the module, from its stubs.
modules=(adept adept.gymnasium adept.pettingzoo adept.openspiel)
((${#torch[@]} == 0)) || modules+=(adept.torch)
"$desk/clean/bin/python" -m pdoc -o "$root/target/book-python" "${modules[@]}"
