#!/usr/bin/env bash
# Whole matches of hold'em at a dealer of the Annual Computer Poker Competition, and its scores beside those of the players.
set -euo pipefail

usage() {
    cat <<'END'
usage: scripts/peers/acpc.sh DEALER [--hands N] [--game GAME] [AGENT…]

  DEALER       the program `dealer` of the competition's server, built on this machine
  --hands N    hands of the match                         (1000)
  --game GAME  hold'em with fixed limits                  (holdem:limit:2)
  AGENT…       one for each seat                          (soarbot always-call)

environment:
  ADEPT_BIN    a built adept, instead of `cargo build --release`

Exit status 1 if a player's result differs from the dealer's score by more than odd chips.
END
}

dealer='' hands=1000 game=holdem:limit:2 agents=()
while (($#)); do
    case $1 in
        -h | --help) usage; exit ;;
        --hands) hands=${2:?--hands takes a value}; shift 2 ;;
        --game) game=${2:?--game takes a value}; shift 2 ;;
        -*) usage >&2; exit 2 ;;
        *) if [ -z "$dealer" ]; then dealer=$1; else agents+=("$1"); fi; shift ;;
    esac
done
[ -n "$dealer" ] || { usage >&2; exit 2; }
[ -x "$dealer" ] || { echo "$dealer is not a program: build the dealer first" >&2; exit 2; }
((${#agents[@]})) || agents=(soarbot always-call)
. "$(dirname "$0")/../adept.sh"
dealer=$(cd "$(dirname "$dealer")" && pwd)/$(basename "$dealer")

work=$(mktemp -d)
trap 'kill $(jobs -p) 2> /dev/null || true; rm -rf "$work"' EXIT
"$adept" serve gamedef "$game" > "$work/match.game"
names=()
for i in "${!agents[@]}"; do names+=("player$((i + 1))"); done

# The dealer prints the ports of its players on the first line, and waits for them.
(cd "$work" && exec "$dealer" match match.game "$hands" 1 "${names[@]}" > ports 2> dealer.err) &
for _ in $(seq 100); do
    [ -s "$work/ports" ] && break
    sleep 0.1
done
read -r -a ports < "$work/ports" || { cat "$work/dealer.err" >&2; exit 1; }
players=()
for i in "${!agents[@]}"; do
    (cd "$root" && exec "$adept" serve acpc 127.0.0.1 "${ports[$i]}" "${agents[$i]}" --gamedef "$work/match.game" \
        --hands "$hands" --json > "$work/$i.json") &
    players+=($!)
done
for player in "${players[@]}"; do wait "$player"; done
wait

python3 - "$work" "$hands" "${agents[@]}" <<'END'
import json, sys

work, hands, agents = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
last = [line for line in open(f"{work}/match.log") if line.startswith("SCORE:")][-1]
scores = [float(score) for score in last.split(":")[1].split("|")]
allowed = hands / 20 if len(agents) > 2 else 0
wrong = False
print(f"{'agent':<24}{'hands':>8}{'dealer':>10}{'player':>10}{'mbb a hand':>12}")
for i, agent in enumerate(agents):
    found = json.load(open(f"{work}/{i}.json"))
    wrong |= found["hands"] != hands or abs(found["chips"] - scores[i]) > allowed
    print(f"{agent:<24}{found['hands']:>8}{scores[i]:>10.0f}{found['chips']:>10}{found['mbb']:>12.0f}")
sys.exit(wrong)
END
