"""Does what docs/bots.md says, as it stands there: writes its files, runs its commands, and compares what they print.

Blocks of `sh` are run; a block of `text` is what the one before it has to print; others are written to the file that their first
line names, and a later block has to run them. After a new checkpoint some digits are others: `book.py --write` puts in what is printed.
With `--built` the builds of this repository are left out: they are there.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/bots.md"
BUILD = re.compile(r"^\(cd \$ADEPT && cargo build .*\)$", re.M)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def main():
    environment = os.environ | {
        "ADEPT": str(ROOT),
        "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    page, printed, wrong, unused = PAGE.read_text(), "", 0, set()
    with tempfile.TemporaryDirectory() as folder:
        for language, text in BLOCK.findall(page):
            if language == "text":
                wrong += text != printed
                page = page.replace(f"```text\n{text}```", f"```text\n{printed}```", 1) if text != printed else page
                continue
            if language != "sh":
                path = pathlib.Path(folder) / re.match(r"(?://|/\*|#) (\S+)", text)[1]
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
                unused.add(path)
                continue
            # `cargo run` compiles all that is in `src`.
            unused -= {path for path in unused if path.name in text or (path.parent.name == "src" and "cargo run" in text)}
            if "--built" in sys.argv[1:]:
                text = BUILD.sub("", text)
            print(text, end="", flush=True)
            # Programs of another workspace have a folder of their own: cargo gives the library of adept-embed one name for all
            # workspaces, so that they would overwrite it for the builds of this one.
            own = {"CARGO_TARGET_DIR": str(ROOT / ("target/exchange/build" if "cargo run" in text else "target"))}
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=environment | own, text=True, stdout=subprocess.PIPE
            )
            printed = done.stdout
            print(printed, flush=True)
            if done.returncode:
                sys.exit(f"exit status {done.returncode} of:\n{text}")
    if unused:
        sys.exit(f"nothing runs {', '.join(sorted(path.name for path in unused))}")
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page)
    elif wrong:
        sys.exit(f"{wrong} blocks of text are not what is printed")


if __name__ == "__main__":
    main()
