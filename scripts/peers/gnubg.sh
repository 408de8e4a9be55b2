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
