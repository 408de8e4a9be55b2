"""Does what docs/bots.md says, as it stands there: writes its files, runs its commands, and compares what they print.

Blocks of `sh` are run; others are written to the file that their first line names.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/bots.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
BEST = "worth -0.5085"


def main():
    environment = os.environ | {
        "ADEPT": str(ROOT),
        "CARGO_TARGET_DIR": str(ROOT / "target"),
        "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    plays = 0
    with tempfile.TemporaryDirectory() as folder:
        for language, text in BLOCK.findall(PAGE.read_text()):
            if language != "sh":
                name = re.match(r"(?://|/\*|#) (\S+)", text)[1]
                (pathlib.Path(folder) / name).parent.mkdir(exist_ok=True)
                (pathlib.Path(folder) / name).write_text(text)
                continue
            print(text, end="", flush=True)
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=environment, text=True, stdout=subprocess.PIPE
            )
            print(done.stdout, flush=True)
            if done.returncode:
                sys.exit(f"exit status {done.returncode} of:\n{text}")
            plays += BEST in done.stdout
    if plays != 4:
        sys.exit(f"{plays} of the four ways found the move that is {BEST}")


if __name__ == "__main__":
    main()
