# Sourced by what compiles for other processors: Debian 12 has the standard library for ARM, and its source, for a newer Rust
# than its own. They are unpacked into a folder, so that they do not displace the Rust of this machine.

# needs PACKAGE…: installs what is missing of these packages.
needs() {
  local missing=() package sudo=()
  for package; do
    [[ $(dpkg-query -Wf '${db:Status-Status}' "$package" 2> /dev/null) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  ((EUID == 0)) || sudo=(sudo)
  echo "installing ${missing[*]}" >&2
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
}

# apt_of ARCHITECTURE COMMAND…: apt-get with lists of its own, for packages that are not installed. Needs no root.
apt_of() {
  local own=$debian/apt-$1
  mkdir -p "$own/lists/partial" "$own/cache/archives/partial"
  apt-get -qq -o APT::Architecture="$1" -o APT::Architectures="$1" -o Dir::State::status=/dev/null -o Dir::State::lists="$own/lists" \
    -o Dir::Cache="$own/cache" -o APT::Sandbox::User="$(id -un)" "${@:2}"
}

# unpacked ARCHITECTURE PACKAGE…: the newest versions of packages, in $debian.
unpacked() {
  local desk
  desk=$(mktemp -d "$debian/unpack.XXXXXX")
  (cd "$desk" && apt_of "$1" download "${@:2}" && for file in *.deb; do dpkg -x "$file" ..; done)
  rm -rf "$desk"
}

# debian_rust FOLDER: Debian's rustc as FOLDER/rustc. Sets $debian and RUSTC. Empties the folder if there is a newer version.
debian_rust() {
  local version
  debian=$(realpath -m "$1")
  if ((EUID == 0)); then apt-get -qq update; else sudo apt-get -qq update; fi
  version=$(apt-cache show --no-all-versions rustc-web | sed -n 's/^Version: //p')
  if [[ $version != "$(cat "$debian/version" 2> /dev/null)" ]]; then
    rm -rf "$debian"
    mkdir -p "$debian"
    apt_of amd64 update
    local library
    library=$(apt-cache depends libstd-rust-web-dev | sed -n 's/^ *Depends: \(libstd-rust-web-[0-9.]*\)$/\1/p' | head -n 1)
    unpacked amd64 rustc-web libstd-rust-web-dev "$library"
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%s/usr/lib/x86_64-linux-gnu exec %s/usr/bin/rustc "$@"\n' "$debian" "$debian" > "$debian/rustc"
    chmod +x "$debian/rustc"
    echo "$library" > "$debian/library"
    echo "$version" > "$debian/version"
  fi
  # It loads the LLVM of this machine.
  needs "$(apt-cache depends "$(cat "$debian/library")" | sed -n 's/^ *Depends: \(libllvm[0-9]*\)$/\1/p')"
  export RUSTC=$debian/rustc
}

# debian_arm: what compiles for 64-bit ARM and runs it.
debian_arm() {
  needs gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
  if [[ ! -d $debian/usr/lib/rustlib/aarch64-unknown-linux-gnu/lib ]]; then
    apt_of arm64 update
    unpacked arm64 libstd-rust-web-dev
  fi
  export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
  export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER='qemu-aarch64 -L /usr/aarch64-linux-gnu'
}
