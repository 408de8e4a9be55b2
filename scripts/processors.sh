#!/usr/bin/env bash
# Checkpoints on other processors: compiles adept-embed for 64-bit ARM, which an emulator runs, and for WebAssembly with SIMD, which
# Node runs. Every value must be that of this machine, but for rounding; those of whole numbers to the bit before their last
# step. Prints rows per second of all three. For Debian 12 on x86-64, with Node 20 or newer. The tests of learning run by arm.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/debian-rust.sh
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
example=(--quiet --locked --release -p adept-embed --example rows)
cargo build "${example[@]}"
linker=$(rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld
debian_rust "$target/debian-rust"
debian_arm
library=$debian/usr/lib/rustlib
if [[ ! -f $library/wasm32-wasip1/lib/self-contained/libc.a ]]; then
  unpacked amd64 rust-web-src wasi-libc
  # Cargo looks for the source where the package links to it. The compiler's own is large.
  find "$debian"/usr/src/rustc-* -mindepth 1 -maxdepth 1 ! -name library -exec rm -rf {} +
  mkdir -p "$library/wasm32-wasip1/lib/self-contained"
  cp "$debian"/usr/lib/wasm32-wasi/{crt1-command.o,crt1-reactor.o,libc.a} "$library/wasm32-wasip1/lib/self-contained"
fi

CARGO_TARGET_DIR=$target/arm cargo build --target aarch64-unknown-linux-gnu "${example[@]}"
# Debian's C library for WebAssembly is older than the standard library: wasm.mjs stands in for what it lacks.
RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$target/wasm CARGO_TARGET_WASM32_WASIP1_LINKER=$linker \
  CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS='-Ctarget-feature=+simd128 -Clink-arg=--allow-undefined' \
  cargo build --target wasm32-wasip1 -Zbuild-std=std,panic_abort "${example[@]}"

desk=$(mktemp -d)
trap 'rm -rf "$desk"' EXIT
networks=(checkpoints/bearoff/{residual-10,residual-96-64,meta-pi-4x16,hme-4x16,cells-64x8} crates/embed/tests/data/plain-10-i8)
for network in "${networks[@]}"; do
  "$target/release/examples/rows" "$network" > "$desk/here"
  qemu-aarch64 -L /usr/aarch64-linux-gnu "$target/arm/aarch64-unknown-linux-gnu/release/examples/rows" "$network" > "$desk/arm"
  node --no-warnings scripts/wasm.mjs "$target/wasm/wasm32-wasip1/release/examples/rows.wasm" "$network" > "$desk/wasm"
  # The last lines are the speeds.
  paste -d ' ' "$desk/here" "$desk/arm" "$desk/wasm" | awk -v network="$(basename "$network")" '
    function far(a, b) { return !(a - b <= 1e-6 && b - a <= 1e-6) }
    NF == 6 { if (far($1, $3) || far($1, $5) || $2 != $4 || $2 != $6) { print network ": " $0; wrong = 1 }; values++ }
    NF == 12 { printf "%s: %d values agree; rows per second: %d here, %d emulated, %d in WebAssembly\n", network, values, $1, $5, $9; speeds = 1 }
    END { exit wrong || values != 512 || !speeds }'
done
