#!/usr/bin/env bash
# Kills, interrupts and starves runs of `adept train`, and compares what becomes of them to the bit.
set -euo pipefail

usage() {
    cat <<'END'
usage: scripts/survival/run.sh [options]

  --kills N    runs that are killed, of the first variant; a fifth of it of the others  (100)
  --seed S     of the moments at which that happens                                     (1)
  --jobs N     runs at a time                                                           (one a core, at most 4)
  --only PART  only this part; may be given several times: killed, full-disk, read-only, two-processes,
               interrupted, unheard, clock
  --keep       leave the runs on disk, as happens to those that failed

environment:
  ADEPT_BIN              a built adept, instead of `cargo build --release`
  ADEPT_SURVIVAL_PYTHON  Python, 3.9 or later  (python3)
  TMPDIR                 where the runs are put; a real disk is a harder test than one in memory

It takes three to four minutes. Exit status 1 if anything failed.
END
}

options=()
while (($#)); do
    case $1 in
        -h | --help) usage; exit ;;
        --keep) options+=("$1"); shift; continue ;;
        --kills | --seed | --jobs | --only) ;;
        *) usage >&2; exit 2 ;;
    esac
    [[ -n ${2-} ]] || { echo "$1 takes a value" >&2; exit 2; }
    options+=("$1" "$2")
    shift 2
done

. "$(dirname "$0")/../adept.sh"

# Small disks are mounted where nobody else sees them, and are gone with the script whatever happens to it.
private=()
if unshare --mount true 2>/dev/null; then
    private=(unshare --mount)
elif unshare --mount --map-root-user true 2>/dev/null; then
    private=(unshare --mount --map-root-user)
fi

exec "${private[@]}" "${ADEPT_SURVIVAL_PYTHON:-python3}" "$here/survive.py" --adept "$adept" "${options[@]}"
