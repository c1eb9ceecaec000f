"""What pip calls this project: `fastmetrics` on the package index is another one, so no file tells to install that."""

import re
import runpy
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from architecture.sources import PACKAGE, ROOT, listed, relative
from fastmetrics._core.optional_imports import DISTRIBUTION, EXTRAS
from support.cases import each_case

pytestmark = pytest.mark.skipif(not PACKAGE.is_dir(), reason=f"no sources to read: {PACKAGE} is not a directory")

FOLDERS = ("fastmetrics", "tests", "bench", "docs", "examples", "tools", ".github", ".ci")
SUFFIXES = {
    "",
    ".cff",
    ".cfg",
    ".css",
    ".html",
    ".in",
    ".ipynb",
    ".js",
    ".md",
    ".py",
    ".pyi",
    ".pyx",
    ".toml",
    ".txt",
    ".yml",
}
INSTALLER = re.compile(r"\b(?:pip3?|pipx|uv|poetry|pdm|conda|mamba)\b")
# What follows the verb, up to the end of the command: of a shell, or in prose between backquotes.
ARGUMENTS = re.compile(r"\b(?:install|add|download|wheel|inject|run|--with)\b([^`;&|]*)")
NAME = r"fastmetrics(?![\w.-])"
OWN_EXTRA = re.compile(rf"(?<![\w./-]){NAME}\\?\[(?:{'|'.join({*EXTRAS.values(), 'all', 'cli', 'test'})})\b")
PAGE = re.compile(rf"pypi(?:\.org)?/(?:project|simple|pypi|v|pyversions)/{NAME}")
NOT_READ = Path(__file__).name  # its cases are wrong


def complaints(text: str) -> Iterator[str]:
    """Lines that take the name of the import for that of the distribution."""
    for number, line in enumerate(text.splitlines(), 1):
        told = INSTALLER.search(line) is not None and any(
            re.match(rf"{NAME}(?:[\[=<>!~@]|$)", word)
            for arguments in ARGUMENTS.findall(line)
            for word in re.split(r"[\s'\"(),]+", arguments)
        )
        if told or OWN_EXTRA.search(line) or PAGE.search(line):
            yield f"line {number}: {line.strip()[:120]}"


def test_no_file_tells_to_install_another_project():
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")] + list(ROOT.glob("*"))
    files = [path for path in found if path.suffix in SUFFIXES and path.is_file() and path.name != NOT_READ]
    assert len(files) > 500
    wrong = [
        f"{relative(path)}, {complaint}"
        for path in sorted(files)
        for complaint in complaints(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert not wrong, listed(wrong)


@each_case(
    "line",
    [
        "pip install fastmetrics",
        "`python -m pip install -U fastmetrics` and then",
        "%pip install 'fastmetrics[cli]'",
        r"needs pyarrow: pip install 'fastmetrics\[arrow\]'",
        'Part("fastmetrics", "pip install fastmetrics")',
        "pip3 install numpy fastmetrics==0.2.0 && ls",
        "uv add fastmetrics",
        "uv run --with fastmetrics python",
        "pipx install fastmetrics",
        '"fastmetrics[cli,spark]",',
        "url: https://pypi.org/project/fastmetrics/",
    ],
)
def test_wrong_lines_are_found(line):
    assert list(complaints(f"\n{line}")) == [f"line 2: {line}"]
    right = line.replace("fastmetrics", DISTRIBUTION)
    assert list(complaints(right)) == []


@each_case(
    "line",
    [
        "python3 -m venv .venv && .venv/bin/pip install '.[cli]' && .venv/bin/fastmetrics demo",
        "`pip install .` installs the command `fastmetrics`",
        "pip install git+https://github.com/fastmetrics/fastmetrics",
        "import fastmetrics as fm  # needs pip",
        "fastmetrics evaluate log.csv",
    ],
)
def test_other_lines_are_not(line):
    assert list(complaints(line)) == []


def test_there_is_one_name():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == DISTRIBUTION
    assert project["scripts"] == {"fastmetrics": "fastmetrics.cli:main"}
    assert runpy.run_path(str(ROOT / "tools/check_release.py"))["DISTRIBUTION"] == DISTRIBUTION
    assert {*EXTRAS.values()} <= project["optional-dependencies"].keys()
