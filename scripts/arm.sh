#!/usr/bin/env bash
# The engine on 64-bit ARM: compiles the tests of the networks for it, and runs them in an emulator. They compare what NEON
# computes with the reference and with finite differences. `--all` adds the comparison of all engines op by op, which takes
# minutes. For Debian 12 on x86-64.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/debian-rust.sh
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
debian_rust "$target/debian-rust"
debian_arm

tests=(native engines residual pairwise checkpoints onnx quantised)
[[ ${1-} != --all ]] || tests+=(agreement)
export CARGO_TARGET_DIR=$target/arm CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0
for package in adept-model adept-embed; do
  [[ $package == adept-model ]] || tests=(facade)
  # Without optimisation gemm-f16 does not compile for ARM: its half-precision instructions must be inlined.
  cargo test --quiet --locked --config profile.dev.package.gemm-f16.opt-level=1 --target aarch64-unknown-linux-gnu -p "$package" --lib
  cargo test --quiet --locked --config profile.dev.package.gemm-f16.opt-level=1 --target aarch64-unknown-linux-gnu -p "$package" --test it \
    -- "${tests[@]/%/::}"
done
