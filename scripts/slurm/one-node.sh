#!/usr/bin/env bash
# Starts a Slurm of one node on this machine, as root, and submits the batch files: a run that meets its time limit and is
# queued again, a job array, a tournament.
#
#   apt-get install slurm-wlm munge libopenmpi-dev openmpi-bin libclang-dev
#   cargo build --release --features mpi && scripts/slurm/one-node.sh target/release/adept
#
# Takes five to ten minutes: Slurm waits two before it starts a job again.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
ADEPT=$(realpath "$1")
export ADEPT
desk=$(mktemp -d)
cd "$desk"
mkdir state spool
host=$(hostname)
cat > slurm.conf <<CONF
ClusterName=one
SlurmctldHost=$host
AuthType=auth/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$desk/state
SlurmdSpoolDir=$desk/spool
SlurmctldPidFile=$desk/slurmctld.pid
SlurmdPidFile=$desk/slurmd.pid
SlurmctldLogFile=$desk/slurmctld.log
SlurmdLogFile=$desk/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
KillWait=20
NodeName=$host CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
CONF
export SLURM_CONF=$desk/slurm.conf
pgrep -x munged > /dev/null || {
  mkdir -p /run/munge
  chown munge /run/munge
  runuser -u munge -- munged
}
slurmctld
slurmd
trap 'pkill -F slurmd.pid; pkill -F slurmctld.pid; rm -rf "$desk"' EXIT
SECONDS=0
until [ "$(sinfo --noheader --format=%t)" = idle ]; do
  sleep 1
  [ "$SECONDS" -lt 60 ] || { echo 'the node does not come up'; cat slurmctld.log slurmd.log; exit 1; }
done

cat > run.toml <<CONFIG
name = "run"
[game]
rules = "tictactoe"
[architecture.mlp]
hidden = [40]
[learn]
batch  = 64
shards = 4
rate   = 0.01
[learn.td]
games   = 24_000_000
workers = 4
overlap = true
[evaluate]
every = 8_000_000
CONFIG
printf -- '--set learn.td.games=20000 --set learn.rate=%s\n' 0.005 0.01 0.02 > options
cat > match.toml <<CONFIG
name   = "match"
game   = "tictactoe"
games  = 2000
agents = [{ name = "ttt" }, { name = "minimax" }, { name = "random" }]
CONFIG

# A minute of time, of which 50 seconds are left for saving: the run is stopped after 10 seconds and queued again.
run=$(sbatch --parsable --ntasks=2 --time=1 --signal=B:USR1@50 "$here/run.sbatch" run.toml run)
sweep=$(sbatch --parsable --array=1-3 "$here/sweep.sbatch" run.toml options sweep)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
match=$(sbatch --parsable --ntasks=2 "$here/match.sbatch" match.toml match)
while [ -n "$(squeue --noheader --jobs="$run,$sweep,$match" 2> /dev/null)" ]; do
  sleep 2
  [ "$SECONDS" -lt 1800 ] || { echo 'the jobs do not end'; squeue; exit 1; }
done
grep -h "queued\|stopped after\|error" slurm-*.out || true

done_as_asked() {
  grep -q '"finished": true' "$1" || { echo "$1 is not finished"; cat slurm-*.out; exit 1; }
}
done_as_asked run/run.json
for task in 1 2 3; do done_as_asked "sweep/$task/run.json"; done
done_as_asked match/arena.json
grep -q 'stopped before the end' "slurm-$run.out" || { echo 'the run never met its time limit'; exit 1; }
# The same bits as without a cluster.
"$ADEPT" train run.toml --out alone --json > /dev/null 2>&1
latest=$(sed -n 's/.*"latest": "\(.*\)".*/\1/p' alone/run.json)
cmp "alone/checkpoints/$latest/weights.safetensors" "run/checkpoints/$latest/weights.safetensors"
echo 'a run over its time limit, a job array and a tournament: finished; the run has the bits of one process'
