"""`tools/check_release.py` accepts a good wheel and a good archive, and names what is wrong with broken ones.

The wheels are made here, with kernels of a few bytes. Those that other tools look at hold a compiled module.
"""

import base64
import hashlib
import io
import runpy
import shutil
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "check_release.py"
INFO = "fastmetrics_engine-0.2.0.dist-info"
ABI3 = "cp311-abi3-manylinux_2_17_x86_64"
KERNEL = "fastmetrics/_kernels/ranking/lists.abi3.so"
METADATA = """\
Metadata-Version: 2.4
Name: fastmetrics-engine
Version: 0.2.0
Summary: Metrics.
License-Expression: BSD-3-Clause
License-File: LICENSE
Description-Content-Type: text/markdown

# fastmetrics
"""
TOOLS_OF_OTHERS = ("twine", "check-wheel-contents", "abi3audit", "auditwheel")


@pytest.fixture(scope="module")
def tool():
    return runpy.run_path(str(TOOL))


def good_files(tag=ABI3):
    return {
        "fastmetrics/__init__.py": b"",
        "fastmetrics/py.typed": b"",
        KERNEL: b"\x7fELF",
        f"{INFO}/METADATA": METADATA.encode(),
        f"{INFO}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
        f"{INFO}/licenses/LICENSE": b"BSD 3-Clause License\n",
    }


def write_wheel(folder, files, tag=ABI3, version="0.2.0", name="fastmetrics_engine"):
    path = folder / f"{name}-{version}-{tag}.whl"
    lines = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}")
    record = "\n".join([*lines, f"{INFO}/RECORD,,", ""]).encode()
    with zipfile.ZipFile(path, "w") as wheel:
        for name, data in {**files, f"{INFO}/RECORD": record}.items():
            wheel.writestr(name, data)
    return path


def problems(tool, path):
    return list(tool["wheel_problems"](path))


def test_a_good_wheel(tool, tmp_path):
    assert problems(tool, write_wheel(tmp_path, good_files())) == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"notes.txt": b""}, ["notes.txt is no file of the package"]),
        ({"tests/test_auc.py": b""}, ["tests/test_auc.py is no file of the package"]),
        ({"fastmetrics/_kernels/ranking/lists.pyx": b""}, ["fastmetrics/_kernels/ranking/lists.pyx is not for users"]),
        ({f"{INFO}/licenses/LICENSE": None}, ["no LICENSE"]),
        ({"fastmetrics/py.typed": None}, ["no py.typed"]),
        ({f"{INFO}/METADATA": None}, ["0 files METADATA; 1 is needed"]),
        ({KERNEL: None}, ["no kernels"]),
        (
            {"fastmetrics/_kernels/sums.cpython-311-x86_64-linux-gnu.so": b""},
            ["fastmetrics/_kernels/sums.cpython-311-x86_64-linux-gnu.so is not for the stable ABI"],
        ),
        (
            {f"{INFO}/WHEEL": b"Tag: py3-none-any\n"},
            [f"the name has the tags {ABI3}; the file WHEEL has py3-none-any"],
        ),
    ],
)
def test_a_broken_wheel(tool, tmp_path, change, found):
    files = {name: data for name, data in (good_files() | change).items() if data is not None}
    assert problems(tool, write_wheel(tmp_path, files)) == found


@pytest.mark.parametrize(
    ("tag", "found"),
    [
        ("cp312-abi3-win_amd64", ["the tag cp312-abi3; kernels are built for cp311-abi3"]),
        ("cp314-cp314t-win_amd64", [f"{KERNEL} is for the stable ABI; the tag says cp314t"]),
        ("cp311-abi3-any", ["the tag 'any' in a wheel with compiled kernels"]),
    ],
)
def test_a_wrong_tag(tool, tmp_path, tag, found):
    assert problems(tool, write_wheel(tmp_path, good_files(tag), tag)) == found


def test_another_version(tool, tmp_path):
    path = write_wheel(tmp_path, good_files(), version="0.3.0")
    assert problems(tool, path) == ["the name has version 0.3.0, METADATA 0.2.0"]


def test_another_name(tool, tmp_path):
    """On the package index `fastmetrics` is another project."""
    files = good_files()
    files[f"{INFO}/METADATA"] = METADATA.replace("fastmetrics-engine", "fastmetrics").encode()
    needed = "; fastmetrics-engine is needed"
    path = write_wheel(tmp_path, files, name="fastmetrics")
    assert problems(tool, path) == [f"it is fastmetrics, and of the project fastmetrics{needed}"]
    path = write_wheel(tmp_path, files)
    assert problems(tool, path) == [f"it is fastmetrics_engine, and of the project fastmetrics{needed}"]
    path = write_sdist(tmp_path, [], name="fastmetrics")
    assert f"it is fastmetrics, and of the project fastmetrics-engine{needed}" in list(tool["sdist_problems"](path))


def test_a_large_wheel(tool, tmp_path):
    path = write_wheel(tmp_path, good_files() | {"fastmetrics/large.bin": bytes(tool["LARGEST_WHEEL"])})
    (found,) = problems(tool, path)
    assert found.endswith("bytes; at most 4,000,000 are allowed")


def write_sdist(folder, names, name="fastmetrics_engine"):
    path = folder / f"{name}-0.2.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    return path


def test_archives_of_sources(tool, tmp_path):
    top = "fastmetrics_engine-0.2.0"
    good = [f"{top}/{name}" for name in (*tool["IN_SDIST"], "fastmetrics/_kernels/sums.pyx")]
    assert list(tool["sdist_problems"](write_sdist(tmp_path, good))) == []
    bad = [name for name in good if not name.endswith(("LICENSE", ".pyx"))]
    bad += [f"{top}/fastmetrics/_kernels/sums.c", "elsewhere/setup.py"]
    assert list(tool["sdist_problems"](write_sdist(tmp_path, bad))) == [
        "no LICENSE",
        "no kernels",
        f"{top}/fastmetrics/_kernels/sums.c is made by a build",
        f"elsewhere/setup.py is outside of {top}/",
    ]


def test_the_oldest_system_is_read(tool):
    shown = 'is consistent with the\nfollowing platform tag:\n"{}_x86_64".\n'
    assert list(tool["manylinux_problems"](shown.format("manylinux_2_17"))) == []
    assert len(list(tool["manylinux_problems"](shown.format("linux")))) == 1


def missing_tools():
    folder = sysconfig.get_path("scripts")
    return [name for name in TOOLS_OF_OTHERS if not (shutil.which(name, path=folder) or shutil.which(name))]


OF_OTHERS = [
    ({}, None),
    ({"another_package/__init__.py": b""}, "check-wheel-contents"),
    ({f"{INFO}/METADATA": METADATA.replace("Version: 0.2.0\n", "").encode()}, "twine"),
    ({KERNEL: b"no ELF file at all"}, "auditwheel"),
]


@pytest.mark.release
@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="auditwheel knows Linux alone")
@pytest.mark.parametrize(("change", "refused_by"), OF_OTHERS)
def test_tools_of_others(tool, tmp_path, change, refused_by):
    """They accept a good wheel, and the one that knows the rule refuses a broken one."""
    if missing := missing_tools():
        pytest.skip(f"not installed: {', '.join(missing)}")
    kernels = sorted((ROOT / "fastmetrics/_kernels").rglob("*.abi3.so"))
    if not kernels:
        pytest.skip("no kernel of the stable ABI beside the tests")
    kernel = min(kernels, key=lambda path: path.stat().st_size).read_bytes()
    tag = ABI3.replace("manylinux_2_17", "linux")
    found = tool["check"]([write_wheel(tmp_path, good_files(tag) | {KERNEL: kernel} | change, tag)])
    if refused_by is None:
        assert found == []
    else:
        assert any(problem.startswith(refused_by) for problem in found), found
