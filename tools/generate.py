"""Write every generated file of the repository; with --check, only say which differ.

    python tools/generate.py            write
    python tools/generate.py --check    exit with 1 if a file is not as it would be written

The checkout that this file is in is read, and its kernels must be built. A module of `tools/generated/` has a function
`outputs()`, which returns what its files should contain, by path. A new module there needs no edit here.
"""

import argparse
import subprocess
import sys
from importlib import import_module
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
ROOT = TOOLS.parent
sys.path[:0] = [str(ROOT), str(TOOLS)]


def outputs() -> dict[Path, str]:
    """What every generated file should contain."""
    found: dict[Path, str] = {}
    for module in sorted(path.stem for path in (TOOLS / "generated").glob("[a-z]*.py")):
        texts = import_module(f"generated.{module}").outputs()
        if twice := texts.keys() & found.keys():
            raise SystemExit(f"two modules of tools/generated write {', '.join(map(str, sorted(twice)))}")
        found |= texts
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file differs")
    check = parser.parse_args().check
    differing = {
        path: text
        for path, text in outputs().items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    }
    for path, text in differing.items():
        print(f"{path.relative_to(ROOT).as_posix()} {'is out of date' if check else 'is written'}")
        if not check:
            path.write_text(text, encoding="utf-8", newline="\n")
    if check and differing:
        print("type: python tools/generate.py")
    elif any(path.suffix == ".py" for path in differing):
        return subprocess.run([sys.executable, __file__], check=False).returncode  # pages read the new docstrings
    return int(check and bool(differing))


if __name__ == "__main__":
    sys.exit(main())
