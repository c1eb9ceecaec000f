"""Write tests/lowest/versions.txt: every dependency of users in pyproject.toml at the lowest version that it allows.

    python tools/lowest_versions.py            write
    python tools/lowest_versions.py --check    exit with 1 if a file is not as it would be written

`pip install '.[arrow,cli,pandas,polars,duckdb,stats,plot,lake,spark,ray,dask]' -c tests/lowest/versions.txt` installs
them.
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "lowest"
EXTRAS = {
    "versions.txt": ("arrow", "cli", "pandas", "polars", "duckdb", "stats", "plot", "lake", "spark", "ray", "dask"),
}
REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[\w, -]+\])?>=([\d.]+)")


def lowest(project: dict, extras: tuple[str, ...]) -> dict[str, str]:
    """The lowest version of each dependency that holds for these extras together."""
    requirements = [*project["dependencies"]]
    for extra in extras:
        requirements += project["optional-dependencies"][extra]
    found: dict[str, str] = {}
    for requirement in requirements:
        match = REQUIREMENT.fullmatch(requirement)
        if match is None:
            raise SystemExit(f"pyproject.toml: {requirement!r} is not of the form name>=version")
        name, version = match.groups()
        if name not in found or numbers(version) > numbers(found[name]):
            found[name] = version
    return found


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def outputs(project: dict) -> dict[str, str]:
    """The text of each file."""
    return {
        name: f"# Written by tools/lowest_versions.py, of the extras {', '.join(extras)}.\n"
        + "".join(f"{package}=={version}\n" for package, version in sorted(lowest(project, extras).items()))
        for name, extras in EXTRAS.items()
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file differs")
    check = parser.parse_args().check
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    differing = 0
    for name, text in outputs(project).items():
        path = FOLDER / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        differing = 1
        if check:
            print(f"tests/lowest/{name} is out of date: type python tools/lowest_versions.py")
        else:
            FOLDER.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
    return differing if check else 0


if __name__ == "__main__":
    sys.exit(main())
