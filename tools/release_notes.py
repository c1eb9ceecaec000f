"""Print the release notes of a version: its section of CHANGELOG.md, with links that work outside of the repository.

    python tools/release_notes.py                     of the version in fastmetrics/_version.py
    python tools/release_notes.py --tag v0.2.0        the same, and an error unless the tag names this version
    python tools/release_notes.py --output FILE       into a file

The version must be the same in fastmetrics/_version.py, CHANGELOG.md and CITATION.cff. For a tag, the section must have
a date.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REPOSITORY = "https://github.com/fastmetrics/fastmetrics"
SECTION = re.compile(r"^## \[(?P<version>[^\]]+)\](?: - (?P<date>.+))?$", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?://|#)([^)]+)\)")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class ReleaseError(Exception):
    """What has to be changed before this version can be released."""


def version_of_package(root: Path) -> str:
    text = (root / "fastmetrics/_version.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)[1]


def version_of_citation(root: Path) -> str:
    return re.search(r"^version: (.+)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)[1]


def sections(changelog: str) -> dict[str, tuple[str | None, str]]:
    """Date and text of each version."""
    found = list(SECTION.finditer(changelog))
    ends = [match.start() for match in found[1:]] + [len(changelog)]
    return {
        match["version"]: (match["date"], changelog[match.end() : end].strip())
        for match, end in zip(found, ends, strict=True)
    }


def notes(root: Path, tag: str | None = None) -> str:
    """The text of the release, or a ReleaseError."""
    version = version_of_package(root)
    if tag is not None and tag != f"v{version}":
        raise ReleaseError(f"the tag is {tag}; fastmetrics/_version.py says {version}: v{version} is needed")
    if (cited := version_of_citation(root)) != version:
        raise ReleaseError(f"CITATION.cff has version {cited}; fastmetrics/_version.py says {version}")
    known = sections((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    if version not in known:
        raise ReleaseError(f"CHANGELOG.md has no section [{version}]; it has {', '.join(known)}")
    date, text = known[version]
    if tag is not None and not DATE.fullmatch(date or ""):
        raise ReleaseError(f"CHANGELOG.md: [{version}] has the date {date!r}; a day such as 2026-11-30 is needed")
    if not text:
        raise ReleaseError(f"CHANGELOG.md: the section [{version}] is empty")
    return LINK.sub(rf"]({REPOSITORY}/blob/v{version}/\1)", text) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", help="the tag that is released")
    parser.add_argument("--output", type=Path, help="the file to write, in place of the terminal")
    options = parser.parse_args()
    try:
        text = notes(ROOT, options.tag)
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return 1
    if options.output:
        options.output.write_text(text, encoding="utf-8", newline="\n")
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
