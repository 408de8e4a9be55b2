# Sourced by what needs GNU Backgammon: installs Debian's package if it is missing, which takes root.

# Debian has games outside root's PATH.
PATH=$PATH:/usr/games
have_gnubg() { command -v gnubg >/dev/null && command -v makebearoff >/dev/null; }
install_gnubg() { DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends gnubg; }

if ! have_gnubg; then
    if ! command -v apt-get >/dev/null; then
        echo "no gnubg and makebearoff on PATH, and no apt-get to install them: install GNU Backgammon by hand" >&2
        exit 2
    elif ((EUID != 0)); then
        echo "no gnubg and makebearoff on PATH; as root: apt-get install -y gnubg" >&2
        exit 2
    fi
    echo "installing gnubg" >&2
    # Lists may be missing or old: fetch them before giving up.
    if ! { install_gnubg || { apt-get update && install_gnubg; }; } >&2 || ! have_gnubg; then
        echo "apt-get could not install gnubg: is there a network, and a Debian source with section main?" >&2
        exit 2
    fi
fi

# Starts gnubg as a server of evaluations: `serve_gnubg FOLDER PORT PLIES`, without cube, noise and pruning.
serve_gnubg() {
    mkfifo "$1/commands"
    gnubg -t -q < "$1/commands" > "$1/gnubg.txt" 2>&1 &
    gnubg_pid=$!
    # Its commands end when this is closed.
    exec {gnubg_commands}> "$1/commands"
    cat >&"$gnubg_commands" <<END
set threads 1
set eval chequerplay evaluation plies $3
set eval chequerplay evaluation noise 0
set eval chequerplay evaluation cubeful off
set eval chequerplay evaluation prune off
set jacoby off
external 127.0.0.1:$2
END
    for _ in $(seq 100); do
        grep -q 'Waiting for a connection' "$1/gnubg.txt" && return
        sleep 0.1
    done
    echo "gnubg does not listen on port $2:" >&2
    tail -n 3 "$1/gnubg.txt" >&2
    exit 1
}

stop_gnubg() { [[ -z ${gnubg_pid-} ]] || kill "$gnubg_pid" 2> /dev/null || true; }
