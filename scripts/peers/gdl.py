#!/usr/bin/env python3
"""Rules in GDL: adept beside clingo, position by position along random games.

    python3 -m venv target/gdl && target/gdl/bin/pip install clingo
    target/gdl/bin/python scripts/peers/gdl.py FOLDER [--adept target/release/adept] [--games 20] [--jobs 2]

FOLDER is searched for `.kif` files. Each is translated into an answer-set program, whose grounder and solver know nothing of adept.
adept plays random games (`adept rules --trace`); clingo is given the facts of each position and the moves made there, and says what is
legal, what follows, whether the game is over, and the goals. Printed are files that are accepted and agree, that differ, and that are
refused, with the reason.

--ground compares times instead: adept reads the file, tries it by 8 random games and plays one; gringo, clingo's grounder, grounds the
same rules for all positions at once, with everything that can hold or be done as a choice.
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

WORDS = re.compile(r"[()]|[^\s()]+")


def read(text):
    """The expressions of a file as nested lists."""
    text = "\n".join(line.split(";")[0] for line in text.lower().replace("\ufeff", "").split("\n"))
    stack = [[]]
    for word in WORDS.findall(text):
        if word == "(":
            stack.append([])
        elif word == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(word)
    return stack[0]


class Translator:
    """Rules of GDL as rules of clingo. Names become `n_` and their letters; other characters become their codes."""

    def __init__(self):
        self.names = {}

    def name(self, word):
        safe = "".join(c if c.isascii() and c.isalnum() else f"_{ord(c)}_" for c in word)
        self.names[f"n_{safe}"] = word
        return f"n_{safe}"

    def term(self, expression):
        if isinstance(expression, list):
            if len(expression) == 1:
                return self.term(expression[0])
            return f"{self.name(expression[0])}({','.join(map(self.term, expression[1:]))})"
        if expression.startswith("?"):
            return "V_" + "".join(c if c.isascii() and c.isalnum() else f"_{ord(c)}_" for c in expression[1:])
        return self.name(expression)

    def atom(self, expression):
        words = expression if isinstance(expression, list) else [expression]
        arguments = ",".join(map(self.term, words[1:]))
        safe = "".join(c if c.isascii() and c.isalnum() else f"_{ord(c)}_" for c in words[0])
        return f"p_{safe}({arguments})" if arguments else f"p_{safe}"

    def cases(self, condition, negated=False):
        """The condition as a list of alternatives, each a list of literals."""
        words = condition if isinstance(condition, list) else [condition]
        if words[0] == "not":
            return self.cases(words[1], not negated)
        if words[0] in ("or", "and"):
            parts = [self.cases(part, negated) for part in words[1:]]
            if (words[0] == "or") != negated:
                return [case for part in parts for case in part]
            found = [[]]
            for part in parts:
                found = [a + b for a in found for b in part]
            return found
        if words[0] == "distinct":
            sign = "=" if negated else "!="
            return [[f"{self.term(words[1])} {sign} {self.term(words[2])}"]]
        return [[("not " if negated else "") + self.atom(condition)]]

    def rules(self, expressions):
        out = []
        for expression in expressions:
            words = expression if isinstance(expression, list) else [expression]
            head, body = (words[1], words[2:]) if words[0] == "<=" else (expression, [])
            for case in self.cases(["and", *body]) if body else [[]]:
                out.append(f"{self.atom(head)} :- {', '.join(case)}." if case else f"{self.atom(head)}.")
        return out

    def shown(self, symbol):
        """A term of clingo as GDL."""
        name = self.names[symbol.name]
        if not symbol.arguments:
            return name
        return f"({name} {' '.join(map(self.shown, symbol.arguments))})"


def needed(expressions):
    """Without the rules that only describe what could be (`base`, `input`), where no other rule asks for them."""
    used = set()

    def visit(expression):
        words = expression if isinstance(expression, list) else [expression]
        used.add(words[0])
        if words[0] in ("not", "or", "and"):
            for part in words[1:]:
                visit(part)

    def head(expression):
        words = expression if isinstance(expression, list) else [expression]
        top = words[1] if words[0] == "<=" else expression
        return top[0] if isinstance(top, list) else top

    for expression in expressions:
        if isinstance(expression, list) and expression[0] == "<=":
            for condition in expression[2:]:
                visit(condition)
    return [one for one in expressions if head(one) not in {"base", "input"} - used]


def answer(program, translator, facts, moves, roles):
    """What clingo says of a position: legal moves of each role, what holds next, the end, and the goals."""
    import clingo

    control = clingo.Control(["--warn=none"], message_limit=0)
    given = [f"p_true({translator.term(read(fact)[0])})." for fact in facts]
    given += [f"p_does({translator.name(role)},{translator.term(read(move)[0])})." for role, move in zip(roles, moves)]
    control.add("base", [], "\n".join(program + given))
    control.ground([("base", [])])
    found = {"legal": {role: set() for role in roles}, "init": set(), "next": set(), "over": False, "goals": {role: set() for role in roles}}
    with control.solve(yield_=True) as handle:
        model = next(iter(handle), None)
        if model is None:
            raise ValueError("no model")
        for symbol in model.symbols(atoms=True):
            if symbol.name == "p_legal":
                found["legal"].setdefault(translator.shown(symbol.arguments[0]), set()).add(translator.shown(symbol.arguments[1]))
            elif symbol.name == "p_init":
                found["init"].add(translator.shown(symbol.arguments[0]))
            elif symbol.name == "p_next":
                found["next"].add(translator.shown(symbol.arguments[0]))
            elif symbol.name == "p_terminal":
                found["over"] = True
            elif symbol.name == "p_goal":
                found["goals"].setdefault(translator.shown(symbol.arguments[0]), set()).add(translator.shown(symbol.arguments[1]))
    return found


def compare(path, adept, games, seconds):
    """The result for a file: what, and why."""
    begin = time.time()
    expressions = read(Path(path).read_text(errors="replace"))
    translator = Translator()
    program = translator.rules(needed(expressions))
    # Predicates that no rule defines are false, without a word.
    roles = [one[1] for one in expressions if isinstance(one, list) and one[0] == "role"]
    roles = list(dict.fromkeys(roles))
    positions = 0
    took = None
    for seed in range(1, games + 1):
        if seed > 1 and time.time() - begin > seconds:
            return "agrees", f"{seed - 1} games, {positions} positions", took
        call = time.time()
        run = subprocess.run([adept, "rules", f"file:{path}", "--trace", str(seed)], capture_output=True, text=True)
        took = took or time.time() - call
        if run.returncode:
            said = [line for line in re.split(r"[\r\n]+", run.stderr.strip()) if "file:" in line]
            return "refused", (said or [run.stderr.strip()])[-1].replace(f"file:{path}: ", "")[:220], took
        steps = [json.loads(line) for line in run.stdout.splitlines()]
        before = None
        for number, step in enumerate(steps):
            # Of long games, positions at the beginning, at the end and here and there between.
            if len(steps) > 60 and 20 < number < len(steps) - 5 and number % max(1, len(steps) // 30):
                before = None
                continue
            said = answer(program, translator, step["facts"], step["moves"], roles)
            positions += 1
            where = f"seed {seed}, step {number + 1}"
            if number == 0 and set(step["facts"]) != said["init"]:
                return "differs", f"{where}: init {sorted(set(step['facts']) ^ said['init'])[:6]}", took
            if before is not None and set(step["facts"]) != before["next"]:
                return "differs", f"{where}: facts {sorted(set(step['facts']) ^ before['next'])[:6]}", took
            if step["over"] != said["over"]:
                return "differs", f"{where}: over {step['over']}", took
            for role, legal, goals in zip(roles, step["legal"], step["goals"]):
                if not step["over"] and set(legal) != said["legal"][role]:
                    return "differs", f"{where}: legal for {role} {sorted(set(legal) ^ said['legal'][role])[:6]}", took
                if step["over"] and {str(goal) for goal in goals} != {str(int(g)) for g in said["goals"][role]}:
                    return "differs", f"{where}: goals of {role} {goals} {said['goals'][role]}", took
            before = said if not step["over"] else None
            if time.time() - begin > 3 * seconds:
                return "agrees", f"{seed} games, {positions} positions", took
    return "agrees", f"{games} games, {positions} positions", took


CHOICES = """
{p_true(F)} :- p_init(F).
{p_true(F)} :- p_next(F).
{p_does(R,M)} :- p_legal(R,M).
"""

GROUND = """
import sys, clingo
control = clingo.Control(["--warn=none"], message_limit=0)
control.add("base", [], sys.stdin.read())
control.ground([("base", [])])
"""


def timed(command, given, seconds):
    """Seconds of a command; None if it fails or takes longer."""
    begin = time.time()
    try:
        done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    return time.time() - begin if done.returncode == 0 else None


def ground(path, adept, seconds):
    """Seconds of adept and of gringo."""
    translator = Translator()
    program = "\n".join(translator.rules(needed(read(Path(path).read_text(errors="replace"))))) + CHOICES
    ours = timed([adept, "rules", f"file:{path}", "--games", "1"], "", seconds)
    theirs = timed([sys.executable, "-c", GROUND], program, seconds)
    return ours, theirs


def compare_times(files, folder, adept, seconds):
    empty = timed([sys.executable, "-c", GROUND], "", seconds)
    both, ours_alone, theirs_alone = [], 0, 0
    for path in files:
        ours, theirs = ground(path, adept, seconds)
        shown = ["-" if one is None else f"{one:.2f}" for one in (ours, theirs)]
        print(f"{path.relative_to(folder)}  adept {shown[0]} s, gringo {shown[1]} s", flush=True)
        if ours is not None and theirs is not None:
            both.append((ours, theirs))
        ours_alone += ours is not None and theirs is None
        theirs_alone += ours is None and theirs is not None
    a, b = (sum(pair[i] for pair in both) for i in (0, 1))
    print(f"files of both: {len(both)}; adept {a:.1f} s, gringo {b:.1f} s, of which {empty * len(both):.1f} s are its start in Python")
    print(f"within {seconds:.0f} s only by adept: {ours_alone}, only by gringo: {theirs_alone}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--adept", default="target/release/adept")
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60, help="for each file, after which no further game is begun")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="files whose name contains this")
    parser.add_argument("--depth", type=int, default=1, help="folders below FOLDER that are searched")
    parser.add_argument("--all", action="store_true", help="fail unless all files agree")
    parser.add_argument("--ground", action="store_true", help="compare the times to ground instead")
    arguments = parser.parse_args()
    pattern = "/".join(["*"] * arguments.depth + ["*.kif"]) if arguments.depth else "*.kif"
    files = sorted(path for path in arguments.folder.glob(pattern) if arguments.only in str(path))
    if not files:
        sys.exit(f"{arguments.folder}: no .kif files {arguments.depth} folders below")
    adept = str(Path(arguments.adept).resolve())
    if arguments.ground:
        return compare_times(files, arguments.folder, adept, arguments.seconds)
    counts = {}
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        tasks = [pool.submit(compare, path, adept, arguments.games, arguments.seconds) for path in files]
        for path, task in zip(files, tasks):
            try:
                what, why, took = task.result()
            except Exception as error:  # The peer's own trouble with a file.
                what, why, took = "clingo fails", f"{type(error).__name__}: {error}"[:200], None
            counts[what] = counts.get(what, 0) + 1
            print(f"{what:<12} {path.relative_to(arguments.folder)}  {why}" + (f"  ({took:.2f} s)" if took else ""), flush=True)
    print(", ".join(f"{what}: {count}" for what, count in sorted(counts.items())), f"of {len(files)}")
    return 1 if counts.get("differs") or arguments.all and set(counts) != {"agrees"} else 0


if __name__ == "__main__":
    sys.exit(main())
