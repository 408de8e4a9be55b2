#!/usr/bin/env bash
# Checkpoints in WebAssembly: compiles adept-embed for it, with SIMD, and runs it in Node. Every value must be that of this
# machine, but for rounding. Prints rows per second of both. For Debian 12 on x86-64, with Node 20 or newer.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/debian-rust.sh
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
example=(--quiet --locked --release -p adept-embed --example rows)
cargo build "${example[@]}"
linker=$(rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld
debian_rust "$target/debian-rust"
library=$debian/usr/lib/rustlib
if [[ ! -f $library/wasm32-wasip1/lib/self-contained/libc.a ]]; then
  unpacked amd64 rust-web-src wasi-libc
  # Cargo looks for the source where the package links to it. The compiler's own is large.
  find "$debian"/usr/src/rustc-* -mindepth 1 -maxdepth 1 ! -name library -exec rm -rf {} +
  mkdir -p "$library/wasm32-wasip1/lib/self-contained"
  cp "$debian"/usr/lib/wasm32-wasi/{crt1-command.o,crt1-reactor.o,libc.a} "$library/wasm32-wasip1/lib/self-contained"
fi

# Debian's C library for WebAssembly is older than the standard library: wasm.mjs stands in for what it lacks.
RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$target/wasm CARGO_TARGET_WASM32_WASIP1_LINKER=$linker \
  CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS='-Ctarget-feature=+simd128 -Clink-arg=--allow-undefined' \
  cargo build --target wasm32-wasip1 -Zbuild-std=std,panic_abort "${example[@]}"

desk=$(mktemp -d)
trap 'rm -rf "$desk"' EXIT
for network in residual-10 residual-96-64 meta-pi-4x16 hme-4x16 cells-64x8; do
  "$target/release/examples/rows" "checkpoints/bearoff/$network" > "$desk/here"
  node --no-warnings scripts/wasm.mjs "$target/wasm/wasm32-wasip1/release/examples/rows.wasm" "checkpoints/bearoff/$network" > "$desk/wasm"
  # The last lines are the speeds.
  paste -d ' ' "$desk/here" "$desk/wasm" | awk -v network="$network" '
    NF == 4 { gap = $1 - $3; if (gap < 0) gap = -gap; if (!(gap <= 1e-6) || $2 != $4) { print network ": " $0; wrong = 1 }; values++ }
    NF == 8 { printf "%s: %d values agree; rows per second: %d here, %d in WebAssembly\n", network, values, $1, $5; speeds = 1 }
    END { exit wrong || values != 512 || !speeds }'
done
