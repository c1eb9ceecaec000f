"""Check what would be published: a wheel and an archive of the sources, with every tool that knows a rule about them.

    python tools/check_release.py                   build both from this checkout in a temporary folder, and check them
    python tools/check_release.py --dist DIR        check what is in DIR; nothing is built
    python tools/check_release.py --twice           build twice, from two folders, and compare the bytes

The tools are those of the extra `release`: pip install '.[release]'. A missing tool is an error, never a skipped check.
The exit status is 1 if something was found.
"""

import argparse
import email
import itertools
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "fastmetrics"
DISTRIBUTION = "fastmetrics-engine"
LARGEST_WHEEL = 4_000_000  # bytes
NOT_IN_WHEELS = {".pyx", ".pxd", ".c", ".h", ".pyc", ".o"}
NOT_IN_SDISTS = {".c", ".so", ".pyd", ".pyc", ".o"}
IN_SDIST = ("LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "setup.py", "tests/conftest.py", "docs/README.md")
PYTHON_OF_ABI3 = "cp311"


def wheel_problems(path: Path) -> Iterator[str]:
    """What is wrong with a wheel that the tools of others do not look for."""
    if path.stat().st_size > LARGEST_WHEEL:
        yield f"{path.stat().st_size:,} bytes; at most {LARGEST_WHEEL:,} are allowed"
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        metadata = [name for name in names if name.endswith(".dist-info/METADATA")]
        if len(metadata) != 1:
            yield f"{len(metadata)} files METADATA; 1 is needed"
            return
        info = metadata[0].rpartition("/")[0]
        tags = email.message_from_bytes(wheel.read(f"{info}/WHEEL")).get_all("Tag", [])
        about = email.message_from_bytes(wheel.read(metadata[0]))
    yield from tag_problems(path, tags)
    yield from name_problems(path, about["Name"])
    version = about["Version"]
    if path.name.split("-")[1] != version:
        yield f"the name has version {path.name.split('-')[1]}, METADATA {version}"
    if f"{info}/licenses/LICENSE" not in names:
        yield "no LICENSE"
    if f"{PACKAGE}/py.typed" not in names:
        yield "no py.typed"
    for name in names:
        if not name.startswith((f"{PACKAGE}/", f"{info}/")):
            yield f"{name} is no file of the package"
        elif Path(name).suffix in NOT_IN_WHEELS:
            yield f"{name} is not for users"


def name_problems(path: Path, name: str = DISTRIBUTION) -> Iterator[str]:
    """On the package index the name of the import belongs to another project."""
    found = path.name.split("-")[0]
    if (found, name) != (DISTRIBUTION.replace("-", "_"), DISTRIBUTION):
        yield f"it is {found}, and of the project {name}; {DISTRIBUTION} is needed"


def tag_problems(path: Path, tags: list[str]) -> Iterator[str]:
    """The tags in the name are those inside, and kernels of a stable-ABI wheel are for the stable ABI."""
    python, abi, platform = path.stem.split("-")[-3:]
    named = {"-".join(tag) for tag in itertools.product(python.split("."), abi.split("."), platform.split("."))}
    if named != set(tags):
        yield f"the name has the tags {', '.join(sorted(named))}; the file WHEEL has {', '.join(sorted(tags))}"
    if platform == "any":
        yield "the tag 'any' in a wheel with compiled kernels"
    with zipfile.ZipFile(path) as wheel:
        kernels = [name for name in wheel.namelist() if name.endswith((".so", ".pyd"))]
    if not kernels:
        yield "no kernels"
    stable = [name for name in kernels if name.endswith(".abi3.so") or (name.endswith(".pyd") and ".cp3" not in name)]
    if abi == "abi3" and python != PYTHON_OF_ABI3:
        yield f"the tag {python}-abi3; kernels are built for {PYTHON_OF_ABI3}-abi3"
    if abi == "abi3" and len(stable) != len(kernels):
        yield f"{sorted(set(kernels) - set(stable))[0]} is not for the stable ABI"
    if abi != "abi3" and stable:
        yield f"{stable[0]} is for the stable ABI; the tag says {abi}"


def sdist_problems(path: Path) -> Iterator[str]:
    with tarfile.open(path) as archive:
        members = archive.getmembers()
    yield from name_problems(path)
    top = path.name.removesuffix(".tar.gz")
    names = {member.name.removeprefix(f"{top}/") for member in members}
    for name in IN_SDIST:
        if name not in names:
            yield f"no {name}"
    if not any(name.endswith(".pyx") for name in names):
        yield "no kernels"
    for member in members:
        if not member.name.startswith(f"{top}/"):
            yield f"{member.name} is outside of {top}/"
        elif Path(member.name).suffix in NOT_IN_SDISTS:
            yield f"{member.name} is made by a build"


def build(source: Path, folder: Path) -> list[Path]:
    """A wheel and an archive of the sources of `source`, which is not written to: the build runs in a copy."""
    copy = folder / "source"
    made = (".git", ".venv", "build", "dist", "site", "*.so", "*.egg-info", "__pycache__")
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns(*made))
    # C files are taken along, with the flags that they were made with: they need not be made again.
    if (source / "build/kernel_flags.json").is_file():
        (copy / "build").mkdir()
        shutil.copy2(source / "build/kernel_flags.json", copy / "build")
    dist = folder / "dist"
    run([sys.executable, "-m", "build", "--no-isolation", "--sdist", "--wheel", "--outdir", str(dist), str(copy)])
    shutil.rmtree(copy)
    return sorted(dist.iterdir())


def run(command: list[str], cwd: Path | None = None) -> str:
    """The output of a command that must succeed."""
    result = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{result.stdout}{result.stderr}")
    return result.stdout + result.stderr


def tool(name: str) -> str:
    """The path of a command of the extra `release`."""
    folder = sysconfig.get_path("scripts")
    found = shutil.which(name, path=folder) or shutil.which(name)
    if found is None:
        raise RuntimeError(f"{name} is missing: type pip install '.[release]'")
    return found


def commands(files: list[Path]) -> Iterator[list[str]]:
    """The checks of other tools. auditwheel knows Linux alone; abi3audit wheels of the stable ABI."""
    wheels = [path for path in files if path.suffix == ".whl"]
    yield [tool("twine"), "check", "--strict", *map(str, files)]
    for wheel in wheels:
        yield [tool("check-wheel-contents"), str(wheel)]
        if "-abi3-" in wheel.name:
            yield [tool("abi3audit"), "--strict", "--report", str(wheel)]
        if "linux" in wheel.name:
            yield [tool("auditwheel"), "show", str(wheel)]


def manylinux_problems(shown: str) -> Iterator[str]:
    """What `auditwheel show` says of the oldest system that the wheel runs on."""
    text = " ".join(shown.split())
    if not re.search(r'platform tag:? "(?:many|musl)linux_', text):
        yield f"no manylinux or musllinux tag fits: {text}"


def check(files: list[Path], with_tools: bool = True) -> list[str]:
    """All problems of these files, each with the name of its file."""
    problems = []
    for path in files:
        own = wheel_problems(path) if path.suffix == ".whl" else sdist_problems(path)
        problems += [f"{path.name}: {problem}" for problem in own]
    for command in commands(files) if with_tools else ():
        name = Path(command[0]).name
        try:
            output = run(command)
        except RuntimeError as error:
            problems.append(f"{name}: {error}")
            continue
        print(f"{name}: passed")
        if name == "auditwheel":
            problems += [f"auditwheel: {problem}" for problem in manylinux_problems(output)]
    return problems


def check_manifest() -> list[str]:
    """Is every file of the repository in the archive, or named as one that is not for it?"""
    if not (ROOT / ".git").exists():
        return []
    try:
        run([tool("check-manifest"), "--no-build-isolation", str(ROOT)])
    except RuntimeError as error:
        return [f"check-manifest: {error}"]
    print("check-manifest: passed")
    return []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, help="a folder with wheels and archives; nothing is built")
    parser.add_argument("--twice", action="store_true", help="build twice and compare the bytes")
    options = parser.parse_args()
    problems = []
    with tempfile.TemporaryDirectory(prefix="fastmetrics-release-") as name:
        if options.dist:
            files = sorted([*options.dist.glob("*.whl"), *options.dist.glob("*.tar.gz")])
            if not files:
                parser.error(f"no wheel and no .tar.gz in {options.dist}")
        else:
            files = build(ROOT, Path(name) / "first")
            if options.twice:
                again = build(ROOT, Path(name) / "another/folder")
                problems += [
                    f"{one.name}: two builds differ"
                    for one, other in zip(files, again, strict=True)
                    if one.read_bytes() != other.read_bytes()
                ]
        for path in files:
            print(f"{path.name}: {path.stat().st_size:,} bytes")
        problems += check(files) + check_manifest()
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
