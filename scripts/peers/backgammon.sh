#!/usr/bin/env bash
# Matches of backgammon against GNU Backgammon, which answers over a socket, and the speed of both evaluators.
set -euo pipefail

usage() {
    cat <<'END'
usage: scripts/peers/backgammon.sh CHECKPOINT… [options]

  --games N     games of each pair                                    (2000)
  --plies N     how far gnubg looks ahead                             (0)
  --seed N      seed of the dice                                      (1)
  --threads N   threads that play; one gnubg answers all of them      (all cores)
  --luck AGENT  adjust results for luck by the values of this agent
  --port N      where gnubg listens                                   (4321)
  --out DIR     the tournament; goes on where an earlier call ended   (target/peers/backgammon)
  --json FILE   also write the figures there

environment:
  ADEPT_BIN    a built adept, instead of `cargo build --release`

Checkpoints are of the game `backgammon`; any agent will do. Games are for money without the cube. All pairs play, `pubeval` among
them where adept has it, each deal in both seats. gnubg evaluates without the cube, noise and pruning. It is installed from Debian if
missing, which takes root. Another --plies, --luck, --games or --seed is another tournament: give it another --out.
END
}

agents=() games=2000 plies=0 seed=1 threads='' luck='' port=4321 out='' json=''
while (($#)); do
    case $1 in
        -h | --help) usage; exit ;;
        --games | --plies | --seed | --threads | --luck | --port | --out | --json)
            [[ -n ${2-} ]] || { echo "$1 takes a value" >&2; exit 2; }
            declare "${1#--}=$2"
            shift 2
            ;;
        -*) usage >&2; exit 2 ;;
        *) agents+=("$1"); shift ;;
    esac
done
((${#agents[@]})) || { usage >&2; exit 2; }

. "$(dirname "$0")/gnubg.sh"
. "$(dirname "$0")/../adept.sh"
out=${out:-$root/target/peers/backgammon}

work=$(mktemp -d)
trap 'stop_gnubg; rm -rf "$work"' EXIT

# Of the first agent alone; gnubg must not work for others meanwhile.
gnubg_speed=$(printf 'set threads 1\ncalibrate 10\nquit\ny\n' | gnubg -t -q | sed -n 's/.*result: \([0-9]*\) static.*/\1/p')
"$adept" evaluate "${agents[0]}" --suite speed --json > "$work/speed.json" 2> /dev/null || echo '{}' > "$work/speed.json"

serve_gnubg "$work" "$port" "$plies"
gnubg=gnubg:127.0.0.1:$port
entrants=$(for agent in "${agents[@]}"; do printf '{ name = "%s" }, ' "$agent"; done)
if "$adept" list agents --game backgammon | grep -q '^pubeval\b'; then entrants+='{ name = "pubeval" }, '; fi
{
    printf 'name = "backgammon"\ngame = "backgammon"\ngames = %s\nseed = %s\n' "$games" "$seed"
    [[ -z $luck ]] || printf 'luck = "%s"\n' "$luck"
    printf 'agents = [%s{ name = "gnubg-%s", agent = "%s" }]\n' "$entrants" "$plies" "$gnubg"
} > "$work/arena.toml"
"$adept" arena "$work/arena.toml" --out "$out" --resume ${threads:+--threads "$threads"} --json > "$work/arena.json"

python3 - "$work" "$gnubg_speed" "$json" <<'END'
import json, sys

work, gnubg_speed, out = sys.argv[1], int(sys.argv[2] or 0), sys.argv[3]
pairs = json.load(open(f"{work}/arena.json"))["pairs"]
cells = json.load(open(f"{work}/speed.json")).get("speed", [])
interval = lambda score, ci95: f"{score:+.4f} ± {(ci95[1] - ci95[0]) / 2:.4f}"
adjusted = any("adjusted" in pair for pair in pairs)
print(f"{'points a game, 95 % interval':<48}{'games':>8}{'':>4}{'raw':<18}" + ("adjusted" if adjusted else "") + "   games/s")
for pair in pairs:
    row = f"{pair['a'][-22:]} – {pair['b'][-22:]}"
    text = interval(pair["adjusted"], pair["adjusted_ci95"]) if "adjusted" in pair else ""
    text = f"{text:<18}" if adjusted else ""
    print(f"{row:<48}{pair['games']:>8}{'':>4}{interval(pair['score'], pair['ci95']):<18}{text}{pair['games_per_second']:>9.1f}")
print(f"\nevaluations a second, one thread: gnubg {gnubg_speed:,} (its `calibrate`)", end="")
for cell in cells:
    print(f", ours {cell['evaluations_per_second']:,.0f} ({cell['batch']} a call)", end="")
print()
if out:
    json.dump({"pairs": pairs, "gnubg_evaluations_per_second": gnubg_speed, "speed": cells}, open(out, "w"), indent=1)
END
