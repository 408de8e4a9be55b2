#!/usr/bin/env bash
# Builds everything that a release consists of, from a clean clone of the last commit, and tries it out.
set -euo pipefail

# Bash reads all of this block before it begins, so the file may change meanwhile.
{

usage() {
  cat <<'EOF'
usage: scripts/release.sh [--dry-run] [--out DIR]

  --dry-run   build and check everything, and tag nothing
  --out DIR   folder of the files              (target/dist/VERSION)

Builds the program and the Python wheel for x86-64 and ARM64 Linux with glibc 2.17 or later, with manual pages, completions,
licences and checksums. Needs Rust with both targets (rustup target add aarch64-unknown-linux-gnu), Python 3.10 with pip, and
qemu-aarch64 with ARM's C library to run what it built for ARM64 (Debian: qemu-user libc6-arm64-cross).
EOF
}

dry= out=
while (($#)); do
  case $1 in
    -h | --help) usage; exit ;;
    --dry-run) dry=1; shift; continue ;;
    --out) [ $# -ge 2 ] || { usage >&2; exit 2; }; out=$2; shift 2; continue ;;
    *) usage >&2; exit 2 ;;
  esac
done
fail() { echo "error: $*" >&2; exit 1; }

# Relative to the folder of the caller.
[ -z "$out" ] || out=$(realpath -m "$out")
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
tag=v$version
out=${out:-$root/target/dist/$version}
grep -qFx "## $version" CHANGELOG.md || fail "CHANGELOG.md has no section \`## $version\`: move the unreleased changes there"
if [ -z "$dry" ]; then
  [ -z "$(git status --porcelain)" ] || fail "there are uncommitted changes: commit them, or give --dry-run"
  ! git rev-parse -q --verify "refs/tags/$tag" > /dev/null || fail "the tag $tag exists: raise the version in Cargo.toml"
elif [ -n "$(git status --porcelain)" ]; then
  echo "note: uncommitted changes are not in this build" >&2
fi
minimum=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
# What an earlier build left goes; other files of the folder are not ours.
if [ -d "$out" ]; then
  strange=$(find "$out" -mindepth 1 ! -name 'adept*.tar.gz' ! -name 'adept_games-*.whl' ! -name SHA256SUMS ! -name NOTES.md | head -n 1)
  [ -z "$strange" ] || fail "$strange is not a file of a release: choose another folder"
fi
command -v rustup > /dev/null || fail "there is no rustup"
targets=$(rustup target list --installed)
for target in x86_64 aarch64; do
  grep -qFx "$target-unknown-linux-gnu" <<< "$targets" ||
    fail "Rust has no target for $target: rustup target add $target-unknown-linux-gnu"
done
command -v qemu-aarch64 > /dev/null || fail "there is no qemu-aarch64: install qemu-user"
[ -e /usr/aarch64-linux-gnu/lib/libc.so.6 ] || fail "ARM's C library is missing: install libc6-arm64-cross"

desk=$(mktemp -d)
trap 'rm -rf "$desk"' EXIT
mkdir -p "$out"
rm -f "$out"/adept*.tar.gz "$out"/adept_games-*.whl "$out/SHA256SUMS" "$out/NOTES.md"
times=()
step() {
  local begin=$SECONDS
  printf '\n== %s\n' "$1"
  "${@:2}"
  times+=("$(printf '%5d s  %s' $((SECONDS - begin)) "$1")")
}

# What earlier releases compiled stays, so that a second one is quick; the sources are always those of the clone.
export CARGO_TARGET_DIR=$root/target/dist/build
source=$root/target/dist/source
rm -rf "$source"
git clone --quiet --no-hardlinks "$root" "$source"
cd "$source"
# No paths of this machine in the files.
separator=$'\x1f'
export CARGO_ENCODED_RUSTFLAGS="--remap-path-prefix=$source=adept$separator--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
commit=$(git rev-parse HEAD)
export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)

tools() {
  python3 -m venv "$desk/tools"
  "$desk/tools/bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.9,<2' 'cargo-zigbuild>=0.20' 'ziglang>=0.13'
}
step 'tools' tools
PATH=$desk/tools/bin:$PATH

program() { cargo zigbuild --locked --profile dist -p adept-cli --features http --target "$1-unknown-linux-gnu.2.17"; }
built() { echo "$CARGO_TARGET_DIR/$1-unknown-linux-gnu/dist/adept"; }
on() { case $1 in x86_64) shift; "$@" ;; aarch64) shift; qemu-aarch64 -L /usr/aarch64-linux-gnu "$@" ;; esac; }

pack() {
  local folder=adept-$version-$1-linux
  local at=$desk/$folder
  mkdir -p "$at/man/man1" "$at/completions"
  install -m 755 "$(built "$1")" "$at/adept"
  local adept
  adept=$(built x86_64)
  "$adept" man --out "$at/man/man1" > /dev/null
  "$adept" completions bash > "$at/completions/adept.bash"
  "$adept" completions zsh > "$at/completions/_adept"
  "$adept" completions fish > "$at/completions/adept.fish"
  cp -r README.md CHANGELOG.md LICENSE LICENSE-* configs "$at"
  mkdir "$at/checkpoints"
  cp -r checkpoints/README.md checkpoints/*/ "$at/checkpoints"
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$desk" -c "$folder" |
    gzip -9n > "$out/$folder.tar.gz"
}

# What a user does first: unpack, train, measure exactly, play out a published network.
try() {
  local folder=adept-$version-$1-linux
  rm -rf "$desk/try" && mkdir "$desk/try"
  tar -xzf "$out/$folder.tar.gz" -C "$desk/try"
  cd "$desk/try/$folder"
  on "$1" ./adept --version | grep -qx "adept $version"
  on "$1" ./adept train configs/tictactoe/single-40.toml --set learn.td.games=20000 --set evaluate.every=20000 --json > run.json
  python3 - <<'EOF'
import json
equity = json.load(open("run.json"))["final"]["equity"]
print(f"tic-tac-toe after 20,000 games: exact equity {equity:+.3f}")
assert equity > 0.3, equity
EOF
  on "$1" ./adept value checkpoints/bearoff/residual-10 1,1,0,0,0,0/0,2,0,0,0,0
  cd "$source"
}

wheel() { maturin build --release --locked --zig --target "$1-unknown-linux-gnu" --compatibility manylinux2014 -m crates/python/Cargo.toml --out "$out"; }
try_wheel() {
  python3 -m venv "$desk/wheel"
  local wheel=("$out"/*x86_64.whl)
  "$desk/wheel/bin/pip" install --quiet --disable-pip-version-check "${wheel[0]}[test]"
  cd "$desk"
  "$desk/wheel/bin/python" -c "import adept; assert adept.__version__ == '$version'"
  # Without PyTorch, whose tests are left out; scripts/python.sh runs them.
  "$desk/wheel/bin/python" -m pytest -q -p no:cacheprovider "$source/crates/python/tests"
  cd "$source"
}

echo "adept $version, commit $commit, $(rustc --version) (at least $minimum)"
for target in x86_64 aarch64; do
  step "program for $target" program "$target"
  step "archive for $target" pack "$target"
  step "trial on $target" try "$target"
done
for target in x86_64 aarch64; do
  step "wheel for $target" wheel "$target"
done
step 'trial of the wheel for x86_64' try_wheel
# The section of this version, for the page of the release.
awk -v head="## $version" '/^## / { on = $0 == head; next } on' CHANGELOG.md > "$out/NOTES.md"
(cd "$out" && sha256sum -- *.tar.gz *.whl > SHA256SUMS && sha256sum --check --quiet SHA256SUMS)

printf '\n'
printf '%s\n' "Time by step:" "${times[@]}" "$(printf '%5d s  in all' $SECONDS)"
printf '\nFiles in %s:\n' "${out#"$root/"}"
(cd "$out" && ls -l | awk 'NR > 1 { printf "%6.1f MB  %s\n", $5 / 1e6, $9 }')

cd "$root"
if [ -z "$dry" ]; then
  git tag --annotate "$tag" --message "adept $version" "$commit"
  cat <<EOF

Tagged $tag. What is left is to publish:
  git push origin $tag
  upload the files to the page of the release, with NOTES.md as its text
  twine upload ${out#"$root/"}/*.whl
  cargo publish --workspace
EOF
fi
exit
}
