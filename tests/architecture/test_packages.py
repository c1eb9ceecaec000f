"""Packages: few modules each, a docstring that leads the reader, tests and benches where the code they belong to is."""

import ast
import re
from functools import cache, partial
from pathlib import Path

import pytest

from architecture.sources import (
    ALL_FILES,
    HEADER_SUFFIXES,
    PACKAGE,
    ROOT,
    SOURCE_SUFFIXES,
    complaints_over,
    listed,
    read,
    relative,
    source_files,
)
from support.cases import each_case

pytestmark = pytest.mark.skipif(not PACKAGE.is_dir(), reason=f"no sources to read: {PACKAGE} is not a directory")

MOST_MODULES = 20
LONGEST_FILE = 500
LONGEST_KERNEL = 700  # to divide a kernel costs a module, or makes its loops less plain
SHORTEST_DOCSTRING = 2  # lines
# Folders of tests that belong to no one package.
TESTS_OF_ALL = {
    "architecture", "common", "golden", "docs", "extend", "fuzz", "oracles", "parity", "smoke", "support",
    "tools", "typing",
}  # fmt: skip


def packages() -> list[Path]:
    return sorted({path.parent for path in source_files("fastmetrics")})


def modules_in(folder: Path) -> set[str]:
    """Names of the modules of a package: a kernel's .pyx, .pxd and .pyi are one, and so is a header of that name."""
    suffixes = {".py", ".pyx", ".pxd", ".h"}
    return {path.stem for path in folder.iterdir() if path.suffix in suffixes} - {"__init__"}


def too_many_modules(folder: Path) -> list[str]:
    modules = modules_in(folder)
    return [f"{folder}: {len(modules)} modules, more than {MOST_MODULES}"] if len(modules) > MOST_MODULES else []


def missing_guidance(docstring: str | None) -> list[str]:
    """A package's docstring says what it is for, what may import it, and where to start reading."""
    if docstring is None:
        return ["no docstring"]
    complaints = []
    if len(docstring.splitlines()) < SHORTEST_DOCSTRING:
        complaints.append("the docstring is one line")
    if not re.search(r"\bimport", docstring):
        complaints.append("the docstring does not say what may import the package")
    if not re.search(r"\b(Start|Read)\b", docstring):
        complaints.append('the docstring does not say where to start ("Start with `x.py`.")')
    return complaints


def forbidden_marks(text: str) -> list[str]:
    """Work that is left is an issue, not a mark in the code."""
    mark = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
    lines = enumerate(text.splitlines(), start=1)
    return [f"line {number}: {match[0]}" for number, line in lines if (match := mark.search(line))]


def too_long(text: str, longest: int = LONGEST_FILE) -> list[str]:
    n_lines = len(text.splitlines())
    return [f"{n_lines} lines, more than {longest}: two ideas in one file?"] if n_lines > longest else []


def vague_name(path: Path) -> list[str]:
    stems = {part.partition(".")[0].strip("_") for part in path.parts}
    return ["a file or folder named utils names no idea"] if stems & {"util", "utils"} else []


def without_package(folder: str, ignored: set[str]) -> list[str]:
    """Folders of tests or benches that have no package of their name."""
    here = ROOT / folder
    return [
        f"{folder}/{own.as_posix()} has no package of that name"
        for own in sorted({path.parent.relative_to(here) for path in here.rglob("test_*.py")})
        if own.parts and own.parts[0] not in ignored
        if not any((PACKAGE / candidate).is_dir() for candidate in candidates(own))
    ]


def paths_named(text: str) -> list[str]:
    """Paths of sources, headers and pages in backticks."""
    return re.findall(r"`([\w./<>-]+\.(?:py|pyx|pxd|h|md))`", text)


def missing_paths(text: str) -> list[str]:
    """Paths in a page that name no file. `<family>` in a path stands for any name."""
    complaints = []
    for path in paths_named(text):
        pattern = re.sub(r"<\w+>", "*", path)
        found = any(True for folder in (ROOT, PACKAGE) for _ in folder.glob(pattern))
        if not found and not ("/" not in path and path in file_names()):
            complaints.append(f"{path} does not exist")
    return complaints


@cache
def file_names() -> frozenset[str]:
    folders = ("fastmetrics", "tests", "bench")
    return frozenset(path.name for path in source_files(*folders, suffixes=SOURCE_SUFFIXES | HEADER_SUFFIXES | {".md"}))


def pages_that_name_files() -> list[Path]:
    docs = ROOT / "docs"
    pages = [docs / "architecture.md", ROOT / "CONTRIBUTING.md", *sorted((docs / "internals").glob("*.md"))]
    return [page for page in pages if page.is_file()]


def candidates(folder: Path) -> list[Path]:
    """The packages a folder of tests may stand for: tests/core is fastmetrics/_core, bench/text is metrics/text."""
    first, *rest = folder.parts
    return [folder, Path(f"_{first}", *rest), Path("metrics") / folder, Path("_kernels") / folder]


def test_every_package_is_small():
    complaints = [complaint for folder in packages() for complaint in too_many_modules(folder)]
    assert not complaints, listed(complaints)


def test_every_folder_of_tests_is_small():
    folders = sorted({path.parent for path in source_files("tests", "bench")})
    complaints = [complaint for folder in folders for complaint in too_many_modules(folder)]
    assert not complaints, listed(complaints)


def test_every_package_says_what_it_is_for():
    complaints = []
    for folder in packages():
        init = folder / "__init__.py"
        if not init.is_file():
            complaints.append(f"{relative(folder)} has no __init__.py")
            continue
        found = missing_guidance(ast.get_docstring(ast.parse(read(init))))
        complaints += [f"{relative(init)}: {complaint}" for complaint in found if folder != PACKAGE]
    assert not complaints, listed(complaints)


def test_tests_and_benches_mirror_the_packages():
    complaints = without_package("tests", TESTS_OF_ALL) + without_package("bench", set())
    assert not complaints, listed(complaints)


def test_a_worker_has_whole_files(request):
    """`-n 2 --dist loadgroup`: pytest-xdist deals tests out by the group at the end of their names."""
    if getattr(request.config.option, "loadgroup", False):
        folder = request.path.relative_to(request.config.rootpath)
        assert request.node.nodeid.endswith(f"@{folder.as_posix()}")


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="no docs beside the tests")
def test_every_path_in_the_docs_exists():
    pages = pages_that_name_files()
    assert sum(len(paths_named(read(page))) for page in pages) > 100
    complaints = [f"{relative(page)}: {complaint}" for page in pages for complaint in missing_paths(read(page))]
    assert not complaints, listed(complaints)


def test_no_file_is_named_utils():
    complaints = [f"{relative(p)}: {c}" for p in ALL_FILES for c in vague_name(p.relative_to(ROOT))]
    assert not complaints, listed(complaints)


def test_no_file_is_too_long():
    python = [path for path in ALL_FILES if path.suffix == ".py"]
    kernels = [path for path in ALL_FILES if path not in python]
    complaints = complaints_over(python, too_long) + complaints_over(kernels, partial(too_long, longest=LONGEST_KERNEL))
    assert not complaints, listed(complaints)


def test_no_marks_are_left():
    complaints = complaints_over(ALL_FILES, forbidden_marks)
    assert not complaints, listed(complaints)


# ---------------------------------------------------------------------------------------- every rule can fail


@pytest.mark.parametrize("mark", ["TO" + "DO", "FIX" + "ME", "XX" + "X"])
def test_mark_is_found(mark):
    assert forbidden_marks(f"x = 1  # {mark}: later")
    assert not forbidden_marks(f"x = 1  # {mark.lower()}s are mentioned")


def test_long_file_is_found():
    assert too_long("x\n" * (LONGEST_FILE + 1))
    assert not too_long("x\n" * LONGEST_FILE)
    assert not too_long("x\n" * (LONGEST_FILE + 1), LONGEST_KERNEL)


def test_file_named_utils_is_found():
    for name in ["fastmetrics/utils.py", "tests/_utils.pyx", "fastmetrics/util/sums.py", "bench/utils.pyi"]:
        assert vague_name(Path(name))
    assert not vague_name(Path("fastmetrics/_kernels/_cyutility.pyi"))


def test_large_package_is_found(tmp_path):
    for number in range(MOST_MODULES):
        (tmp_path / f"module_{number}.pyx").touch()
        (tmp_path / f"module_{number}.pyi").touch()
    assert not too_many_modules(tmp_path)
    (tmp_path / "one_more.h").touch()
    assert too_many_modules(tmp_path)


def test_poor_docstring_is_found():
    assert missing_guidance(None)
    assert len(missing_guidance("Columns.")) == 3
    good = "Columns: values in, checked.\n\nEvery layer above may import it. Start with `validation.py`."
    assert not missing_guidance(good)


def test_folder_without_package_is_found():
    assert not any((PACKAGE / candidate).is_dir() for candidate in candidates(Path("no_such_package")))
    assert any((PACKAGE / candidate).is_dir() for candidate in candidates(Path("core/columns")))


@each_case(
    "path", ["_core/no_such_module.py", "no_such_kernel.pyx", "metrics/<family>/no_such_metric.py", "core/statistic.py"]
)
def test_path_that_does_not_exist_is_found(path):
    assert missing_paths(f"The code is in `{path}`.")


@each_case(
    "path",
    [
        "fastmetrics/_core/statistic.py",
        "_core/statistic.py",
        "statistic.py",
        "metrics/<family>/auc.py",
        "vector_math.h",
    ],
)
def test_path_that_exists_is_allowed(path):
    assert paths_named(f"The code is in `{path}`.") == [path]
    assert not missing_paths(f"The code is in `{path}`.")
