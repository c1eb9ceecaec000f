"""Do what a newcomer does, as written in tests/docs/newcomer/transcript.txt: from a clone to a number of an own CSV.

    python tools/newcomer.py                in a new folder, all commands; needs a C compiler, git and the network
    python tools/newcomer.py --here CLONE   only the last command, in a clone in which the others were run

The clone is made from this checkout. What is printed has to be what the transcript shows; commands that show nothing
have to succeed. The exit code is 1 otherwise.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests" / "docs" / "newcomer"
SECONDS = re.compile(r"\d[\d.]*(?= s\b)")
# A bare environment: what a shell of a new user has.
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "PIP_INDEX_URL", "PIP_CONFIG_FILE", "PIP_NO_COMPILE")


class Step(NamedTuple):
    """A command, and what it has to print; nothing if it only has to succeed."""

    command: str
    printed: str


def read_transcript(text: str) -> list[Step]:
    steps = (part.partition("\n") for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:])
    return [Step(command, printed.strip()) for command, _, printed in steps]


def bare_environment() -> dict[str, str]:
    """The environment of a new user, in which git takes the clone from this checkout."""
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    url = re.search(r"git clone (\S+)", (FOLDER / "transcript.txt").read_text(encoding="utf-8"))
    if url is None:
        raise SystemExit("the first command of the transcript is: git clone URL")
    return environment | {
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": f"url.file://{ROOT}.insteadOf", "GIT_CONFIG_VALUE_0": url[1],
        "GIT_CONFIG_KEY_1": "safe.directory", "GIT_CONFIG_VALUE_1": "*",
    }  # fmt: skip


def run(step: Step, folder: Path) -> str | None:
    """What is wrong with a step; None if nothing is."""
    started = time.monotonic()
    shell = ["bash", "-euo", "pipefail", "-c", step.command]
    done = subprocess.run(shell, cwd=folder, env=bare_environment(), capture_output=True, text=True)
    print(f"$ {step.command}\n# {time.monotonic() - started:.1f} s", flush=True)
    if done.returncode != 0:
        return f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
    found, wanted = (SECONDS.sub("#", text.strip()) for text in (done.stdout, step.printed))
    return None if wanted in ("", found) else f"it printed\n{done.stdout}\nand not\n{step.printed}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--here", type=Path, metavar="CLONE", help="a clone in which all but the last command were run")
    arguments = parser.parse_args()
    steps = read_transcript((FOLDER / "transcript.txt").read_text(encoding="utf-8"))
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fastmetrics-newcomer-") as temporary:
        folder = arguments.here or Path(temporary)
        for step in steps[-1:] if arguments.here else steps:
            if "mine.csv" in step.command:
                shutil.copy(FOLDER / "mine.csv", folder)
            wrong = run(step, folder)
            if wrong is not None:
                print(wrong)
                return 1
            if step.command.startswith("git clone"):
                folder = next(path for path in folder.iterdir() if path.is_dir())
    ran = "the last of five commands" if arguments.here else f"{len(steps)} commands"
    print(f"{ran} in {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
