#!/usr/bin/env python3
"""Kills, interrupts and starves runs of `adept train`, and compares what becomes of them to the bit. Run by run.sh.

The tests of the trainer let a run die at each file operation within one process. Here real processes meet real signals
and real disks, so that what the system itself does is in it too: locks, partial writes, signal handlers, messages.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Checkpoints, milestones and measurements fall on the same games and on different ones. Most of the time goes
# into files, so that most kills meet one.
EXPERIMENT = """\
name = "survival"

[game]
rules   = "tictactoe"
encoder = "fields"

[architecture.mlp]
hidden      = [20]
sensitivity = 3.0

[learn]
rate      = { from = 0.005, to = 0.0005 }
optimiser = { adam = {} }

[learn.td]
against = "ttt"
games   = 75_000
lambda  = 0.3
explore = { from = 0.4, to = 0.05 }

[evaluate]
every  = 3_500
suites = ["equity"]

[checkpoints]
every      = 1_500
keep       = 2
milestones = 25_000
"""

HANG = 60  # seconds after which a process of a second or two counts as hanging
FULL = "free some space, then continue with --resume"
READ_ONLY = "make the folder writable, or choose another with --out"
TAKEN = "another process is using this run"
GO_ON = "error: stopped before the end: continue with --resume"
STOPPING = "stopping: writing a checkpoint (again to stop at once)"


class Failed(Exception):
    """The program did not do what it should."""


class Skipped(Exception):
    """This machine does not let us try."""


class Variant:
    """The experiment, or another one by settings on the command line."""

    def __init__(self, name, *arguments):
        self.name = name
        self.arguments = arguments
        self.seconds = 0.0  # of a run without a break
        self.expected = None  # what that leaves behind


NATIVE = Variant("mlp with adam")
AHEAD = Variant(
    "two workers, games ahead", *(f"--set=learn.{s}" for s in ("workers=2", "overlap=true", "batch=8")),
    "--set=checkpoints.every=1_000",
)
# Engine and batch make it slower: as many checkpoints in fewer games.
BURN = Variant(
    "engine burn", "--engine=burn", "--set=learn.batch=8", "--set=learn.games=24_000", "--set=evaluate.every=750",
    "--set=checkpoints.every=500", "--set=checkpoints.milestones=5_000",
)  # fmt: skip
# A batch takes a while, and until its end the program cannot stop in order.
LONG_BATCHES = Variant("long batches", "--set=learn.batch=50_000", "--set=learn.games=150_000")
SHORT = Variant("short", "--set=learn.games=2_500")


class Process:
    """A started command. Its output goes to files: nobody waits for a reader, and a look does not disturb it."""

    def __init__(self, command, errors=None):
        self.command = " ".join(map(str, command))
        self.output, self.errors = tempfile.TemporaryFile(), errors or tempfile.TemporaryFile()
        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.errors)

    def ended(self, within):
        """Whether it ends in that many seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.child.wait(within)
        return self.child.returncode is not None

    def kill(self):
        self.child.kill()
        self.child.wait()

    def said(self):
        return self._text(self.errors)

    def printed(self):
        return self._text(self.output)

    @staticmethod
    def _text(file):
        # The child shares our offset in the file, so it must not move.
        try:
            return os.pread(file.fileno(), 1 << 20, 0).decode(errors="replace")
        except OSError:
            return ""  # one that cannot be read

    def expect(self, status, *texts):
        """Waits for its end, which must come with that status and with these texts on standard error."""
        if not self.ended(HANG):
            self.kill()
            raise Failed(f"hangs: {self.command}\n{self.said()}")
        wrong = [f"no `{text}`" for text in texts if text not in self.said()]
        if self.child.returncode != status:
            wrong.insert(0, f"status {self.child.returncode}, expected {status}")
        if "panicked" in self.said():
            wrong.append("a panic")
        if wrong:
            raise Failed(f"{', '.join(wrong)}: {self.command}\n{self.said()}")
        return self


class Bench:
    """The program, a folder to work in, and how runs are started there."""

    def __init__(self, options, folder):
        self.adept, self.options, self.folder = options.adept, options, folder
        self.config = folder / "survival.toml"
        self.config.write_text(EXPERIMENT)

    def rng(self, *purpose):
        return random.Random("/".join(map(str, (self.options.seed, *purpose))))

    def train(self, variant, run, *more, before=(), errors=None):
        command = [*before, self.adept, "train", self.config, "--out", run, *variant.arguments, *more]
        return Process(command, errors)

    def go_on(self, variant, run):
        """Resumes a run to its end and compares it with that without a break."""
        self.train(variant, run, "--resume").expect(0)
        self.compare(variant, run)

    def compare(self, variant, run):
        differences = differ(self.whole(variant), left_behind(run))
        if differences:
            raise Failed(f"{run}: {differences}")

    def whole(self, variant):
        """What runs without a break leave behind: as many at a time as later, so that the duration is that of later."""
        if variant.expected is None:
            runs = [self.folder / f"whole-{variant.name}-{i}".replace(" ", "-") for i in range(self.options.jobs)]
            start = time.perf_counter()
            processes = [self.train(variant, run) for run in runs]
            for process in processes:
                process.expect(0)
            variant.seconds = time.perf_counter() - start
            expected = left_behind(runs[0])
            for run in runs[1:]:
                differences = differ(expected, left_behind(run))
                if differences:
                    raise Failed(f"{run}: two runs without a break: {differences}")
            variant.expected = expected
        return variant.expected

    def started(self, variant, run, share):
        """A run that is about that far."""
        process = self.train(variant, run, "--resume")
        wait_for(lambda: process.ended(0) or progress(run) >= max(share, 1e-9), f"{run} to begin")
        if process.ended(0):
            raise Failed(f"{run}: ended too early, {process.child.returncode}\n{process.said()}")
        return process

    def check_reading(self, run):
        """Who looks at a run that was broken off finds its last whole checkpoint, or hears that there is none."""
        process = Process([self.adept, "evaluate", run, "--json"])
        record = record_of(run)
        if record is None:
            why = "neither a checkpoint nor a run folder" if run.exists() else "does not exist"
            return process.expect(1, str(run), why)
        if record["latest"] is None:
            return process.expect(1, str(run), "has no checkpoint yet")
        found = json.loads(process.expect(0).printed())
        if found["step"] != record["step"] or Path(found["checkpoint"]).name != record["latest"]:
            raise Failed(f"{run}: evaluates {found['checkpoint']}, the record names {record['latest']}")

    def in_parallel(self, work, count):
        """[work(0), work(1), …], some at a time; one that fails waits for the others."""
        with ThreadPoolExecutor(self.options.jobs) as pool:
            return list(pool.map(work, range(count)))


# What a run leaves behind.


def record_of(run):
    try:
        return json.loads((run / "run.json").read_text())
    except FileNotFoundError:
        return None


def progress(run):
    """Share of its games that are on disk."""
    record = record_of(run)
    return record["step"] / record["games"] if record else 0.0


def left_behind(run):
    """{file or folder: content}, all of it but what tells of time."""
    found = {}
    for path in sorted(run.rglob("*")):
        name = str(path.relative_to(run))
        found[name] = "a folder" if path.is_dir() else path.read_bytes()
    metrics = found.get("metrics.jsonl", b"")
    found["metrics.jsonl"] = [without(json.loads(line), "seconds") for line in metrics.splitlines()]
    record = without(json.loads(found["run.json"]), "seconds")
    # Seconds make lines longer and shorter.
    if record.pop("metrics_bytes") != len(metrics):
        raise Failed(f"{run}: metrics.jsonl has {len(metrics)} bytes, its record says otherwise")
    if "timing" in record:
        record["timing"] = record["timing"]["samples"]
    found["run.json"] = record
    return found


def without(record, key):
    return {name: value for name, value in record.items() if name != key}


def differ(expected, found):
    """In which files two runs differ, as a text; empty if they do not."""
    texts = [f"no {name}" for name in expected if name not in found]
    texts += [f"{name} is left" for name in found if name not in expected]
    texts += [f"{name} is another" for name in expected if name in found and expected[name] != found[name]]
    return ", ".join(texts[:5]) + (f" and {len(texts) - 5} more" if len(texts) > 5 else "")


def is_half_done(run):
    """Whether more is in the folder than the record knows: the kill came in the middle of a checkpoint."""
    record = record_of(run)
    if record is None:
        return run.exists()
    names = [path.name for folder in (run, run / "checkpoints") if folder.exists() for path in folder.iterdir()]
    steps = [name for name in names if name.isdigit()]
    metrics = run / "metrics.jsonl"
    return (
        any(name.startswith(".") for name in names)
        or any(record["latest"] is None or name > record["latest"] for name in steps)
        or (metrics.exists() and metrics.stat().st_size > record["metrics_bytes"])
    )


def wait_for(condition, what):
    end = time.perf_counter() + HANG
    while not condition():
        if time.perf_counter() > end:
            raise Failed(f"waited {HANG} s for {what}")
        time.sleep(0.001)


# Parts.


def killed(bench, variant, runs):
    """Runs killed once or several times at any moment, by a signal that cannot be caught."""
    bench.whole(variant)

    def one(number):
        rng = bench.rng("killed", variant.name, number)
        run = bench.folder / f"killed-{variant.name}-{number}".replace(" ", "-")
        kills, half_done, without_checkpoint = 0, 0, 0
        while kills == 0 or rng.random() < 0.5:
            process = bench.train(variant, run, "--resume")
            if process.ended(rng.uniform(0, variant.seconds * (1 - progress(run)))):
                process.expect(0)
                if kills:
                    break
                # It was faster than without a break, and came to its end: once more.
                shutil.rmtree(run)
                continue
            process.kill()
            kills += 1
            half_done += is_half_done(run)
            without_checkpoint += (record_of(run) or {}).get("latest") is None
            bench.check_reading(run)
        bench.go_on(variant, run)
        if not bench.options.keep:
            shutil.rmtree(run)
        return kills, half_done, without_checkpoint

    def attempt(number):
        try:
            return one(number)
        except Failed as failed:
            return failed

    results = bench.in_parallel(attempt, runs)
    failures = [result for result in results if isinstance(result, Failed)]
    good = [result for result in results if not isinstance(result, Failed)]
    kills, half_done, without_checkpoint = (sum(column) for column in zip((0, 0, 0), *good))
    text = (
        f"{len(good)} of {runs} went on to the same bits; {kills} kills in {len(good)} runs of"
        f" {variant.seconds:.1f} s, {half_done} in the middle of writing,"
        f" {without_checkpoint} before the first checkpoint"
    )
    if failures:
        raise Failed("\n".join([text, *map(str, failures[:5])]))
    return text


def mount(*arguments):
    try:
        done = subprocess.run(["mount", *map(str, arguments)], capture_output=True, text=True)
    except OSError as error:
        raise Skipped(f"no mount: {error.strerror}") from None
    if done.returncode:
        raise Skipped((done.stderr.strip() or "mount is not permitted").splitlines()[0])


@contextlib.contextmanager
def small_disk(folder, size):
    """A disk of its own in that folder."""
    folder.mkdir()
    mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False)


PAGE = 4096  # the unit in which such a disk is taken


def fill(path, leave=0):
    """Takes all space of a disk but a few pages, also what has become free since."""
    with open(path, "ab", buffering=0) as file:
        for size in (1 << 20, PAGE, 1):
            with contextlib.suppress(OSError):
                while file.write(bytes(size)):
                    pass
    if leave:
        os.truncate(path, max(0, path.stat().st_size - leave * PAGE))


def full_disk(bench):
    """A disk that something else fills, at whatever moment, and then gives room again."""
    bench.whole(NATIVE)
    times, met = 20, {}
    for number in range(times):
        rng = bench.rng("full", number)
        with small_disk(bench.folder / f"full-{number}", "8m") as disk:
            run, filler = disk / "run", disk / "filler"
            process = bench.started(NATIVE, run, rng.uniform(0, 0.8))
            # With a page or two of room another of the files of a checkpoint is the first that does not fit.
            wait_for(lambda: fill(filler, rng.randrange(5)) or process.ended(0.002), f"{run} to stop")
            process.expect(1, f"error: {run}", FULL)
            name = Path(process.said().split("error: ")[1].split(": ")[0]).name.lstrip(".")
            name = name if name[-1].isalpha() else name.rsplit(".", 1)[0]
            name = "a checkpoint's folder" if name.isdigit() else name
            met[name] = met.get(name, 0) + 1
            bench.check_reading(run)
            # Not before there is room.
            before = record_of(run)["step"]
            process = bench.train(NATIVE, run, "--resume")
            wait_for(lambda: fill(filler) or process.ended(0.002), f"{run} to stop again")
            process.expect(1, f"error: {run}", FULL)
            if record_of(run)["step"] < before:
                raise Failed(f"{run}: lost a checkpoint that it had")
            bench.check_reading(run)
            filler.unlink()
            bench.go_on(NATIVE, run)
    with small_disk(bench.folder / "full-before", "64k") as disk:
        fill(disk / "filler")
        bench.train(NATIVE, disk / "run").expect(1, f"error: {disk}", "free some space")
    names = ", ".join(f"{name} ({count})" for name, count in sorted(met.items()))
    return f"{times} of {times} stopped with the reason and went on to the same bits; what did not fit: {names}"


def full_disk_again(bench):
    """Tries on a disk with a little room: what one leaves behind must not take the room of the next."""
    tries = 6
    with small_disk(bench.folder / "again", "8m") as disk:
        run, filler = disk / "run", disk / "filler"
        bench.train(NATIVE, run, "--max-seconds", "0.02").expect(0)
        for _ in range(tries):
            # Room for the first file of a checkpoint.
            fill(filler, 1)
            process = bench.train(NATIVE, run, "--resume")
            process.expect(1, FULL)
        rests = [path.name for path in (run / "checkpoints").iterdir() if path.name.startswith(".")]
        filler.unlink()
        bench.go_on(NATIVE, run)
    if len(rests) > 1:
        raise Failed(f"after {tries} tries the rests of {len(rests)} take room: {', '.join(sorted(rests))}")
    return f"after {tries} tries the rest of {len(rests)} takes room"


def free_space(bench):
    """A run is compared with the room on its own disk, not on the one around that."""
    with small_disk(bench.folder / "free", "8m") as disk:
        found = json.loads(bench.train(NATIVE, disk / "run", "--estimate", "--json").expect(0).printed())["free_bytes"]
        free = shutil.disk_usage(disk).free
    if found != free:
        raise Failed(f"{free} bytes are free on {disk} (tmpfs), --estimate says {found}")
    return f"{free} bytes, as the system says"


@contextlib.contextmanager
def not_writable(folder):
    """Takes away the right to write there, by the mount or else by the mode."""
    if folder.is_mount():
        mount("-o", "remount,bind,ro", folder)
        try:
            yield "mounted so"
        finally:
            mount("-o", "remount,bind,rw", folder)
        return
    if os.geteuid() == 0:
        raise Skipped("no mount, and root may write whatever the mode says")
    modes = {path: path.stat().st_mode for path in [folder, *folder.rglob("*")]}
    for path, mode in modes.items():
        path.chmod(mode & ~0o222)
    try:
        yield "by mode"
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


def read_only(bench):
    """A folder that can be read and not written: a run that should begin there, and one that should go on."""
    with contextlib.ExitStack() as stack:
        disk = bench.folder / "read-only"
        try:
            stack.enter_context(small_disk(disk, "8m"))
        except Skipped:
            pass
        run = disk / "run"
        stopped = bench.train(NATIVE, run, "--max-seconds", "0.05").expect(0)
        if "continue with --resume" not in stopped.printed():
            raise Failed(f"{run}: --max-seconds did not stop it:\n{stopped.printed()}")
        with not_writable(disk) as how:
            bench.train(NATIVE, disk / "new").expect(1, f"error: {disk / 'new'}", READ_ONLY)
            bench.train(NATIVE, run, "--resume").expect(1, f"error: {run}", READ_ONLY)
            bench.check_reading(run)
        bench.go_on(NATIVE, run)
    return f"({how}) refused with the reason, read, and went on to the same bits"


def two_processes(bench):
    """Two processes that want the same run: one after the other, and at the same moment."""
    run = bench.folder / "two"
    first = bench.started(NATIVE, run, 0.05)
    refused, slowest = 0, 0.0
    while progress(run) < 0.8 and not first.ended(0.02):
        for more in ((), ("--resume",)):
            start = time.perf_counter()
            second = bench.train(NATIVE, run, *more)
            if not second.ended(HANG) or (first.ended(0) and second.child.returncode == 0):
                break
            second.expect(1, f"error: {run}", TAKEN)
            refused += 1
            slowest = max(slowest, time.perf_counter() - start)
    first.expect(0)
    if not refused:
        raise Failed("the first was over before a second could try")
    bench.compare(NATIVE, run)

    bench.whole(SHORT)
    races = 30
    for number in range(races):
        run = bench.folder / f"race-{number}"
        both = [bench.train(SHORT, run) for _ in range(2)]
        for process in both:
            if not process.ended(HANG):
                process.expect(0)
        # Who comes after the end of the other hears so, with status 0.
        both.sort(key=lambda process: process.child.returncode)
        both[0].expect(0)
        if both[1].child.returncode:
            both[1].expect(1, f"error: {run}", TAKEN)
        bench.compare(SHORT, run)
    return (
        f"{refused} of {refused} refused in at most {1000 * slowest:.0f} ms, and one of two in each of {races} races;"
        " the others came undisturbed to the same bits"
    )


def interrupted(bench):
    """Ctrl-C and its like: once asks for a checkpoint, twice for the end."""
    times = 5
    # Also the end of a terminal; and the request of a system that shuts down.
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    bench.whole(NATIVE)

    def once(number):
        kind = signals[number % len(signals)]
        run = bench.folder / f"{kind.name}-{number}"
        # In the first half: a checkpoint that is kept only because it is among the newest must be gone at the end.
        process = bench.started(NATIVE, run, bench.rng("interrupted", number).uniform(0, 0.5))
        before, start = record_of(run), time.perf_counter()
        process.child.send_signal(kind)
        process.expect(1, STOPPING, GO_ON)
        seconds, record = time.perf_counter() - start, record_of(run)
        if record["finished"] or record["step"] <= before["step"]:
            raise Failed(f"{run}: {kind.name} wrote no checkpoint")
        if f"stopped after {record['step']} of {record['games']} games: continue with --resume" not in process.printed():
            raise Failed(f"{run}: does not say how far it came:\n{process.printed()}")
        bench.check_reading(run)
        bench.go_on(NATIVE, run)
        return seconds

    def twice(number):
        run = bench.folder / f"twice-{number}"
        process = bench.train(LONG_BATCHES, run)
        wait_for(lambda: record_of(run) or process.ended(0), f"{run} to begin")
        process.child.send_signal(signal.SIGINT)
        # Signals of a kind do not queue: two of them too close are one.
        wait_for(lambda: STOPPING in process.said() or process.ended(0), "the answer to the first Ctrl-C")
        start = time.perf_counter()
        process.child.send_signal(signal.SIGINT)
        process.expect(130, STOPPING)
        seconds = time.perf_counter() - start
        bench.check_reading(run)
        bench.go_on(LONG_BATCHES, run)
        return seconds

    bench.whole(LONG_BATCHES)
    stopped = bench.in_parallel(once, times * len(signals))
    ended = [twice(number) for number in range(times)]
    return (
        f"{len(stopped)} of {len(stopped)} stopped with a checkpoint in at most {1000 * max(stopped):.0f} ms"
        f" ({', '.join(s.name for s in signals)}), {times} of {times} ended at once (Ctrl-C twice) in at most"
        f" {1000 * max(ended):.0f} ms; all went on to the same bits"
    )


def nohup(bench):
    """A run that was started to outlive its terminal: what was ignored at the start stays ignored."""
    run = bench.folder / "nohup"
    process = bench.train(NATIVE, run, before=["sh", "-c", 'trap "" HUP; exec "$@"', "sh"])
    wait_for(lambda: progress(run) > 0 or process.ended(0), f"{run} to begin")
    process.child.send_signal(signal.SIGHUP)
    process.expect(0)
    bench.compare(NATIVE, run)
    return "SIGHUP was ignored, as asked; the same bits"


def unheard(bench):
    """Nobody reads standard error any more, or the disk of the log is full: no reason to end a run of hours."""
    bench.whole(NATIVE)
    read, write = os.pipe()
    os.close(read)
    wrong = []
    with open(write, "wb") as closed, open("/dev/full", "wb") as full:
        for name, errors in (("a closed pipe", closed), ("a full disk", full)):
            for what, more in (
                ("the title", ()),
                # Lines of progress come after two seconds.
                ("progress", ("--json", "--max-seconds", "3", "--set=learn.games=100_000_000")),
            ):
                run = bench.folder / f"unheard-{what}-{name}".replace(" ", "-")
                process = bench.train(NATIVE, run, *more, errors=errors)
                try:
                    process.expect(0)
                    if not more:
                        bench.compare(NATIVE, run)
                except Failed:
                    wrong.append(f"{what} to {name}: status {process.child.returncode}")
    if wrong:
        raise Failed("; ".join(wrong))
    return "title and progress to a closed pipe and to a full disk: the runs went on, to the same bits"


def clock(bench):
    """A clock that goes wrong, if there is a program that lies to a process about the time."""
    if not shutil.which("faketime"):
        raise Skipped("no faketime; the tests of the trainer do this within one process")
    run = bench.folder / "clock"
    far = ["faketime", "-f", "@2040-01-01 00:00:00 x1000"]
    bench.train(NATIVE, run, "--max-seconds", "100", before=far).expect(0)
    if not 0 < progress(run) < 1:
        raise Failed(f"{run}: a fast clock did not stop it early")
    bench.train(NATIVE, run, "--resume", before=["faketime", "-f", "@1980-01-01 00:00:00"]).expect(0)
    bench.compare(NATIVE, run)
    return "a fast clock in the future, then one in the past: the same bits"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adept", required=True, help="the program")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 4))
    parser.add_argument("--only", action="append", metavar="PART")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if options.kills < 1 or options.jobs < 1:
        parser.error("at least one kill, and one job")
    return options


def main():
    options = arguments()
    options.adept = shutil.which(options.adept) and os.path.abspath(shutil.which(options.adept))
    if not options.adept:
        print("there is no such program: set ADEPT_BIN, or build it", file=sys.stderr)
        return 2
    folder = Path(tempfile.mkdtemp(prefix="adept-survival-"))
    bench = Bench(options, folder)
    fewer = max(options.kills // 5, 1)
    parts = [
        ("killed", NATIVE.name, lambda: killed(bench, NATIVE, options.kills)),
        ("killed", AHEAD.name, lambda: killed(bench, AHEAD, fewer)),
        ("killed", BURN.name, lambda: killed(bench, BURN, fewer)),
        ("full-disk", "", lambda: full_disk(bench)),
        ("full-disk", "again and again", lambda: full_disk_again(bench)),
        ("full-disk", "free space", lambda: free_space(bench)),
        ("read-only", "", lambda: read_only(bench)),
        ("two-processes", "", lambda: two_processes(bench)),
        ("interrupted", "", lambda: interrupted(bench)),
        ("interrupted", "nohup", lambda: nohup(bench)),
        ("unheard", "", lambda: unheard(bench)),
        ("clock", "", lambda: clock(bench)),
    ]
    unknown = set(options.only or []) - {name for name, _, _ in parts}
    if unknown:
        print(f"no part {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    begin, failures = time.perf_counter(), 0
    for name, variant, work in parts:
        if options.only and name not in options.only:
            continue
        start = time.perf_counter()
        try:
            verdict, text = "PASS", work()
        except Skipped as skipped:
            verdict, text = "SKIP", skipped
        except Failed as failed:
            verdict, text = "FAIL", failed
            failures += 1
        title = f"{name} ({variant})" if variant else name
        print(f"{verdict}  {title}: {text}  [{time.perf_counter() - start:.1f} s]", flush=True)
    print(f"{failures} failed" if failures else "nothing failed", f"in {time.perf_counter() - begin:.0f} s")
    if failures or options.keep:
        print(f"the runs are in {folder}")
    else:
        shutil.rmtree(folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
