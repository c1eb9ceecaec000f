"""The build: a small package without debug information, and no kernel is compiled when nothing has changed."""

import json
import os
import shutil
import struct
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from architecture.sources import PACKAGE, ROOT, listed, relative

SETUP = ROOT / "setup.py"
LARGEST_PACKAGE = 11_650_000  # bytes
NOT_INSTALLED = {".pyx", ".pxd", ".h", ".c", ".pyc"}
SWITCHES = ("FASTMETRICS_DEBUG", "FASTMETRICS_SANITIZE")

# Two kernels. `one` is built from two headers, the second included by the first; `two` is built from a .pxd file.
SMALL_PROJECT = {
    "numeric/deep.h": "static inline int fm_deep(int x) { return x + 1; }\n",
    "numeric/first.h": '#include "numeric/deep.h"\nstatic inline int fm_first(int x) { return 2 * fm_deep(x); }\n',
    "numeric/shared.pxd": "cdef inline int twice(int x) noexcept nogil:\n    return 2 * x\n",
    "numeric/one.pyx": (
        'cdef extern from "numeric/first.h":\n    int first "fm_first"(int x) noexcept nogil\n\n\n'
        "def call(int x):\n    return first(x)\n"
    ),
    "numeric/two.pyx": (
        "from fastmetrics._kernels.numeric.shared cimport twice\n\n\n"
        "def item(const int[::1] x, int i):\n    return twice(x[i])\n"
    ),
}


def is_installed(path: Path) -> bool:
    """Whether a wheel has the file: no Cython or C sources, no stubs of kernels, no caches."""
    stub_of_kernel = path.suffix == ".pyi" and "_kernels" in path.parts
    return path.is_file() and path.suffix not in NOT_INSTALLED and not stub_of_kernel


def installed_size(folder: Path) -> int:
    """Bytes of the files that are installed."""
    return sum(path.stat().st_size for path in folder.rglob("*") if is_installed(path))


def elf_section_names(data: bytes) -> list[str]:
    """Names of the sections of a 64-bit little-endian ELF file."""
    (headers_start,) = struct.unpack_from("<Q", data, 0x28)
    header_size, n_sections, names_index = struct.unpack_from("<3H", data, 0x3A)
    headers = [struct.unpack_from("<2I4Q", data, headers_start + i * header_size) for i in range(n_sections)]
    names_start = headers[names_index][4]
    starts = [names_start + header[0] for header in headers]
    return [data[start : data.index(b"\0", start)].decode() for start in starts]


release_only = pytest.mark.skipif(
    any(os.environ.get(switch) == "1" for switch in SWITCHES), reason="this build was asked for debug information"
)


@release_only
def test_the_package_is_small():
    size = installed_size(PACKAGE)
    assert size <= LARGEST_PACKAGE, f"{size:,} bytes would be installed"


@release_only
def test_kernels_have_no_debug_information():
    kernels = {path: path.read_bytes() for path in PACKAGE.rglob("*.so")}
    elf = {path: data for path, data in kernels.items() if data[:6] == b"\x7fELF\x02\x01"}
    if not elf:
        pytest.skip("no kernel is a 64-bit ELF file on this system")
    sections = {path: elf_section_names(data) for path, data in elf.items()}
    assert all(".text" in names for names in sections.values())
    found = [relative(path) for path, names in sections.items() if ".debug_info" in names]
    assert not found, listed(found)


@pytest.fixture(scope="module", autouse=True)
def fast_compiler(tmp_path_factory):
    """On Linux, compilers that do not optimize: what they build is not run for long."""
    if not sys.platform.startswith("linux"):
        yield
        return
    script = tmp_path_factory.mktemp("compiler") / "cc"
    script.write_text(f'#!/bin/sh\nexec {sysconfig.get_config_var("CC")} "$@" -O0\n')
    script.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", str(script))
        yield


def build(project: Path, **switches: str) -> str:
    """Build the project's kernels in place; the output of setup.py."""
    env = {name: value for name, value in os.environ.items() if name not in SWITCHES} | switches
    command = [sys.executable, "setup.py", "build_ext", "--inplace"]
    result = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


def built_modules(project: Path) -> dict[str, int]:
    """The time of each built module."""
    modules = [path for ending in ("so", "pyd") for path in project.rglob(f"*.{ending}")]
    return {path.name.split(".")[0]: path.stat().st_mtime_ns for path in modules}


def rebuilt(project: Path, **switches: str) -> set[str]:
    """Which modules does another build write again?"""
    before = built_modules(project)
    build(project, **switches)
    after = built_modules(project)
    assert after.keys() == before.keys()
    return {name for name in after if after[name] != before[name]}


@pytest.fixture(scope="module")
def built_project(tmp_path_factory):
    """The small project, built. All its files are an hour old, so that a changed file is newer than all of them."""
    if not SETUP.is_file():
        pytest.skip(f"no build to test: {SETUP} is missing")
    pytest.importorskip("Cython")
    pytest.importorskip("setuptools")
    project = tmp_path_factory.mktemp("built") / "project"
    for name, text in SMALL_PROJECT.items():
        path = project / "fastmetrics/_kernels" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for folder in ("fastmetrics", "fastmetrics/_kernels", "fastmetrics/_kernels/numeric"):
        (project / folder / "__init__.py").touch()
    shutil.copy(SETUP, project)
    build(project)
    for path in project.rglob("*"):
        if path.is_file():
            times = path.stat()
            os.utime(path, ns=(times.st_atime_ns - 3600 * 10**9, times.st_mtime_ns - 3600 * 10**9))
    return project


@pytest.fixture
def project(built_project, tmp_path):
    return Path(shutil.copytree(built_project, tmp_path / "project"))


def test_kernels_are_built_in_place(project):
    assert built_modules(project).keys() == {"one", "two", "_cyutility"}
    program = (
        "from array import array; from fastmetrics._kernels.numeric import one, two; "
        "print(one.call(4), two.item(array('i', [3, 5]), 1))"
    )
    result = subprocess.run([sys.executable, "-c", program], cwd=project, capture_output=True, text=True, check=False)
    assert result.stdout.split() == ["10", "10"], result.stderr


def test_a_second_build_compiles_nothing(project):
    c_files = {path: path.stat().st_mtime_ns for path in project.rglob("*.c")}
    assert c_files
    assert rebuilt(project) == set()
    assert {path: path.stat().st_mtime_ns for path in c_files} == c_files


@pytest.mark.parametrize(("changed", "kernel"), [("deep.h", "one"), ("shared.pxd", "two")])
def test_a_changed_file_builds_the_kernels_that_use_it(project, changed, kernel):
    os.utime(project / "fastmetrics/_kernels/numeric" / changed)
    assert rebuilt(project) == {kernel}


def test_other_flags_build_all_kernels(project):
    assert rebuilt(project, FASTMETRICS_DEBUG="1") == {"one", "two", "_cyutility"}
    flags = json.loads((project / "build/kernel_flags.json").read_text())
    assert flags["directives"]["boundscheck"] is True
    if sys.platform != "win32":
        assert "-g" in flags["compile"]
        assert "-O1" in flags["compile"]


PYPROJECT = """\
[build-system]
requires = ["setuptools>=77", "Cython>=3.2"]
[project]
name = "fastmetrics"
version = "1.0"
[tool.setuptools.packages.find]
include = ["fastmetrics*"]
"""


def archives(project: Path, umask: int) -> dict[str, bytes]:
    """A wheel and an archive of the sources, as somebody with this umask builds them."""
    env = {name: value for name, value in os.environ.items() if name not in (*SWITCHES, "SOURCE_DATE_EPOCH")}
    command = [sys.executable, "setup.py", "-q", "sdist", "--formats=gztar", "bdist_wheel"]
    result = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, check=False, umask=umask)
    assert result.returncode == 0, result.stdout + result.stderr
    return {path.name: path.read_bytes() for path in (project / "dist").iterdir()}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the compilers of other systems were not tried")
def test_two_builds_have_the_same_bytes(built_project, tmp_path):
    """Other folders, other times, another umask, and C files that Cython writes again."""
    found = []
    for name, umask, left_out in (("one", 0o022, ()), ("another/folder", 0o077, ("*.c",))):
        ignore = shutil.ignore_patterns("*.so", *left_out)
        project = Path(shutil.copytree(built_project, tmp_path / name, ignore=ignore))
        (project / "pyproject.toml").write_text(PYPROJECT)
        for path in project.rglob("*.py"):
            path.chmod(0o666 & ~umask)
        found.append(archives(project, umask))
    assert sorted(found[0]) == sorted(found[1])
    assert {name.split(".")[-1] for name in found[0]} == {"whl", "gz"}
    assert [name for name in found[0] if found[0][name] != found[1][name]] == []


def test_debug_information_is_found():
    names = b"\0.text\0.debug_info\0"
    header = b"\x7fELF\x02\x01" + bytes(0x22) + struct.pack("<Q", 64) + bytes(10) + struct.pack("<3H", 64, 3, 2)
    sections = [struct.pack("<2I4Q", name, 0, 0, 0, 64 + 3 * 64, len(names)).ljust(64, b"\0") for name in (1, 7, 0)]
    assert elf_section_names(header.ljust(64, b"\0") + b"".join(sections) + names) == [".text", ".debug_info", ""]


def test_only_installed_files_count(tmp_path):
    (tmp_path / "_kernels").mkdir()
    sizes = {"a.py": 3, "a.pyx": 5, "a.c": 7, "a.abi3.so": 11, "a.h": 13, "a.pyi": 17, "_kernels/a.pyi": 19}
    for name, size in sizes.items():
        (tmp_path / name).write_bytes(bytes(size))
    assert installed_size(tmp_path) == 3 + 11 + 17
