#!/usr/bin/env bash
# Whole matches under the game manager of ggp-base, `adept serve ggp` against players of ggp-base or others: see ggp/Matches.java.
set -euo pipefail

usage() {
    cat <<'END_USAGE'
usage: GGP_BASE=FOLDER scripts/peers/ggp.sh [options] [RULES.kif…]

  --agent NAME         what adept plays with                        (its own choice, by the clock)
  --player NAME        as --opponent, instead of adept
  --opponent NAME      RandomGamer, SampleMonteCarloGamer or another of ggp-base's samples, or HOST:PORT;
                       once for each other role, or one kind for all (SampleMonteCarloGamer)
  --matches N          matches of each file, the player in each seat in turn (10)
  --start S            start clock, seconds                         (10)
  --play S             play clock, seconds; samples search for one second less (2)
  --port N             the port adept listens on                    (9147)
  --scramble           sends other words for those of the rules, as the graphical server can
  --transcript FILE    appends all requests and answers, byte for byte
  RULES.kif…           rules in GDL                                 (tic-tac-toe and connect-four of adept)

environment:
  GGP_BASE     a clone of https://github.com/ggp-org/ggp-base
  ADEPT_BIN    a built adept, instead of `cargo build --release`

It needs javac and java 8 or later, Debian's default-jdk-headless. An answer is late if it comes after the clock; the manager itself
waits a second more for a move. Failed are answers that did not come or were not READY or DONE where they should.
Exit status 1 if the player was late, illegal or failed; 2 if a match could not be played.
END_USAGE
}

agent='' player='' opponents=() matches=10 start=10 play=2 port=9147 words=plain transcript=- rules=()
while (($#)); do
    case $1 in
        -h | --help) usage; exit ;;
        --agent) agent=${2:?--agent takes a value}; shift 2 ;;
        --player) player=${2:?--player takes a value}; shift 2 ;;
        --opponent) opponents+=("${2:?--opponent takes a value}"); shift 2 ;;
        --matches) matches=${2:?--matches takes a value}; shift 2 ;;
        --start) start=${2:?--start takes a value}; shift 2 ;;
        --play) play=${2:?--play takes a value}; shift 2 ;;
        --port) port=${2:?--port takes a value}; shift 2 ;;
        --scramble) words=scrambled; shift ;;
        --transcript) transcript=${2:?--transcript takes a value}; shift 2 ;;
        -*) usage >&2; exit 2 ;;
        *) rules+=("$1"); shift ;;
    esac
done
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
((${#opponents[@]})) || opponents=(SampleMonteCarloGamer)
((${#rules[@]})) || rules=("$root"/crates/declared/games/{tic-tac-toe,connect-four}.kif)
base=${GGP_BASE:-}
[[ -f $base/src/main/java/org/ggp/base/server/GameServer.java ]] || {
    echo "GGP_BASE must name a clone of https://github.com/ggp-org/ggp-base" >&2
    exit 2
}
[[ $matches =~ ^[1-9][0-9]*$ && $start =~ ^[1-9][0-9]*$ && $play =~ ^[1-9][0-9]*$ ]] || {
    echo "--matches, --start and --play take whole numbers from 1" >&2
    exit 2
}
command -v javac > /dev/null || { echo "javac is missing: install default-jdk-headless" >&2; exit 2; }

work=$(mktemp -d)
server=''
trap '[[ -z $server ]] || kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT

# The samples are found by name while it runs, so they are named here. Its sources are those of Java 7, and do not compile as later ones.
guava=$base/lib/Guava/guava-14.0.1.jar
samples=$base/src/main/java/org/ggp/base/player/gamer/statemachine
mkdir "$work/classes"
javac --release 8 -nowarn -encoding UTF-8 -d "$work/classes" -cp "$guava" -sourcepath "$base/src/main/java" \
    "$here/ggp/Matches.java" "$samples"/{random,sample}/*.java > "$work/javac" 2>&1 || { cat "$work/javac" >&2; exit 2; }

# The one place that knows how adept is started.
serve() {
    exec "$adept" serve ggp ${agent:+"$agent"} --listen "127.0.0.1:$port"
}

if [[ -z $player ]]; then
    . "$here/../adept.sh"
    serve > "$work/adept" 2>&1 &
    server=$!
    for _ in $(seq 300); do
        player=$(sed -n 's/.*listening on \([0-9.]*:[0-9]*\).*/\1/p' "$work/adept" | head -n 1)
        if [[ -n $player ]] || ! kill -0 "$server" 2> /dev/null; then break; fi
        sleep 0.1
    done
    [[ -n $player ]] || { cat "$work/adept" >&2; echo "adept does not listen" >&2; exit 2; }
fi

printf '%-24s%8s%8s%8s%6s%9s%8s%9s%8s\n' file matches player others late illegal failed slowest errors
status=0
for file in "${rules[@]}"; do
    java -Djava.awt.headless=true -cp "$work/classes:$guava" Matches \
        "$file" "$matches" "$start" "$play" "$words" "$transcript" "$player" "${opponents[@]}" > "$work/lines" || {
        [[ -z $server ]] || tail -n 20 "$work/adept" >&2
        echo "$file: not played to the end" >&2
        exit 2
    }
    # Columns of ggp/Matches.java. The last is of the errors of the others.
    awk -F '\t' -v file="$(basename "$file" .kif)" '
        { goal += $4; others += $5; late += $6; illegal += $7; failed += $8; if ($9 > slowest) slowest = $9; errors += $10 }
        END {
            printf "%-24s%8d%8.1f%8s%6d%9d%8d%8.3fs%8d\n", file, NR, goal / NR, $5 == "-" ? "-" : sprintf("%.1f", others / NR),
                late, illegal, failed, slowest, errors
            exit late + illegal + failed > 0
        }' "$work/lines" || status=1
done
exit "$status"
