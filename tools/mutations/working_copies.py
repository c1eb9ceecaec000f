"""Copies of the repository, each with one mutation at a time: built, tested and judged."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mutation_list import HERE, ROOT, Mutation

PACKAGE = "fastmetrics"
KERNEL_SUFFIXES = (".pyx", ".pxd", ".h")
KILLED, SURVIVED, BROKEN = "killed", "survived", "broken"
BUILD_TIMEOUT = 1200.0


class Outcome(NamedTuple):
    """What came of a mutation; `why` is the test that failed first, or what went wrong.

    `origin` is the fastmetrics that the tests imported, within the working copy.
    """

    name: str
    kind: str
    path: str
    verdict: str
    why: str
    build_seconds: float
    test_seconds: float
    origin: str | None = None


class Kernels:
    """Which files every kernel is built from, found by reading imports and includes of .pyx, .pxd and .h files."""

    CIMPORT = re.compile(r"^\s*from\s+([\w.]+)\s+cimport\s+(?:\(([^)]*)\)|([^#\n]*))", re.MULTILINE)
    PLAIN_CIMPORT = re.compile(r"^\s*cimport\s+([\w., ]+)", re.MULTILINE)
    INCLUDE = re.compile(r"""^\s*(?:\#\s*include|include|cdef\s+extern\s+from)\s+["']([^"']+)["']""", re.MULTILINE)

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = {path for suffix in KERNEL_SUFFIXES for path in (root / PACKAGE).rglob(f"*{suffix}")}
        self.needed = {path: self.named_in(path) for path in self.files}

    def named_in(self, path: Path) -> set[Path]:
        """The files that a file names, and a kernel's own declarations."""
        text = path.read_text(encoding="utf-8")
        found = {path.with_suffix(".pxd")} if path.suffix == ".pyx" else set()
        for module, *names in self.CIMPORT.findall(text):
            folder = self.folder_of(module, path)
            found |= {folder.with_suffix(".pxd")} if folder.suffix == "" else set()
            found |= {folder / f"{name.split()[0]}.pxd" for part in names for name in part.split(",") if name.strip()}
        for modules in self.PLAIN_CIMPORT.findall(text):
            found |= {self.folder_of(name.split()[0], path).with_suffix(".pxd") for name in modules.split(",") if name}
        for name in self.INCLUDE.findall(text):
            near = (path.parent / name).resolve()
            found |= {near} if near in self.files else {own for own in self.files if own.name == Path(name).name}
        return found & self.files

    def folder_of(self, module: str, path: Path) -> Path:
        dots = len(module) - len(module.lstrip("."))
        base = path.parents[dots - 1] if dots else self.root
        return base.joinpath(*[part for part in module.lstrip(".").split(".") if part])

    def sources(self, kernel: Path) -> set[Path]:
        """All files that a kernel is built from, itself included."""
        found, waiting = {kernel}, [kernel]
        while waiting:
            new = self.needed[waiting.pop()] - found
            found |= new
            waiting += new
        return found

    def all(self) -> list[Path]:
        return sorted(path for path in self.files if path.suffix == ".pyx")

    def built_from(self, path: Path) -> list[Path]:
        return [kernel for kernel in self.all() if path in self.sources(kernel)]


def modules_of(kernel: Path) -> list[Path]:
    """The built modules of a kernel, whatever their suffix is on this system."""
    return sorted(path for ending in ("so", "pyd") for path in kernel.parent.glob(f"{kernel.stem}.*{ending}"))


def run_command(
    command: Sequence[str], cwd: Path, env: dict[str, str], timeout: float, stop: threading.Event
) -> tuple[int | None, str]:
    """Exit status (None: it took too long) and output; the command's children end with it."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        process = subprocess.Popen(
            command, cwd=cwd, env=env, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        until = time.monotonic() + timeout
        status: int | None = None
        try:
            while status is None and time.monotonic() < until and not stop.is_set():
                try:
                    status = process.wait(timeout=0.2)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            if process.poll() is None:
                end_process(process)
        output.seek(0)
        return status, output.read()


def end_process(process: subprocess.Popen[bytes]) -> None:
    """End a process and, where the system knows groups, what it started."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


class Copy:
    """A copy of the repository in a folder of its own, with one mutation at a time."""

    def __init__(self, folder: Path, n_compilers: int, stop: threading.Event) -> None:
        self.folder = folder
        self.root = folder / "repository"
        self.saved = folder / "saved"
        self.plugin = folder / "plugin"
        self.notes = folder / "notes.json"
        self.n_compilers = n_compilers
        self.stop = stop

    def fill(self, source: Path) -> None:
        """Take over all files that git does not ignore, built modules and Cython's C files."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=source, check=True, capture_output=True,
        ).stdout.decode()  # fmt: skip
        # The flags of the last build come along: without this file, setup.py would build every kernel again.
        names = {"build/kernel_flags.json"} | {name for name in listed.split("\0") if name}
        for pattern in ("*.so", "*.pyd", "*.c"):
            names |= {path.relative_to(source).as_posix() for path in (source / PACKAGE).rglob(pattern)}
        for name in sorted(names):
            if (source / name).is_file():
                target = self.root / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source / name, target)
        self.add_plugin()

    def add_plugin(self) -> None:
        self.plugin.mkdir()
        self.saved.mkdir()
        shutil.copy2(HERE / "mutation_watch.py", self.plugin)

    def make_current(self) -> list[str]:
        """Built modules that are newer than all of their sources become newer than Cython's own files, too.

        Cython would else write every C file again where it was installed after the kernels were built. Returns the
        kernels that are older than a source, or not built: these are built now.
        """
        kernels, stale = Kernels(self.root), []
        now = time.time()
        for kernel in kernels.all():
            own, c_file = modules_of(kernel), kernel.with_suffix(".c")
            newest = max(path.stat().st_mtime for path in kernels.sources(kernel))
            if own and min(path.stat().st_mtime for path in own) >= newest:
                for path in [c_file] * c_file.is_file() + own:
                    os.utime(path, (now, now))
                continue
            stale.append(kernel.stem)
            for path in [*own, c_file]:
                path.unlink(missing_ok=True)
        for path in (self.root / PACKAGE).rglob("_cyutility.*"):
            os.utime(path, (now, now))
        self.build()
        return stale

    def build(self) -> None:
        """Build what is missing; RuntimeError with the compiler's words if that fails."""
        command = [sys.executable, "setup.py", "build_ext", "--inplace", f"--parallel={self.n_compilers}"]
        status, output = run_command(command, self.root, self.environment(), BUILD_TIMEOUT, self.stop)
        if status != 0:
            lines = output.splitlines()
            # The compilers' own words stand far above the end, which is how setuptools came to run them.
            raise RuntimeError("\n".join([line for line in lines if " error: " in line][:10] or lines[-20:]))

    def environment(self) -> dict[str, str]:
        env = dict(os.environ)
        env["PYTHONPATH"] = os.pathsep.join([str(self.root), str(self.plugin)])
        env["MUTATION_NOTES"] = str(self.notes)
        data = ROOT.parent / "shared" / "data"
        if data.is_dir():
            env.setdefault("FASTMETRICS_DATA", str(data))
        return env

    def test(self, tests: Iterable[str], timeout: float) -> tuple[int | None, str, dict[str, Any]]:
        """pytest's exit status (None: too long), its output, and what mutation_watch.py noted."""
        self.notes.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "mutation_watch"]
        status, output = run_command([*command, *tests], self.root, self.environment(), timeout, self.stop)
        notes = json.loads(self.notes.read_text(encoding="utf-8")) if self.notes.is_file() else {}
        origin = notes.get("origin")
        if origin is not None and not Path(origin).resolve().is_relative_to(self.root.resolve()):
            raise SystemExit(f"the tests imported {origin}, not the copy in {self.root}: no result means anything")
        return status, output, notes

    def apply(self, own: Mutation) -> Callable[[], None]:
        """Change the file, put aside what was built from it; returns what brings both back."""
        path = self.root / own.path
        times = path.stat().st_atime_ns, path.stat().st_mtime_ns
        before = path.read_text(encoding="utf-8")
        if before.count(own.old) != 1:
            # The repository changed after it was looked at.
            raise RuntimeError(f"the text occurs {before.count(own.old)} times in {own.path}")
        moved: list[tuple[Path, Path]] = []
        affected: list[Path] = []
        if own.kind == "kernels":
            affected = Kernels(self.root).built_from(path)
            if not affected:
                raise RuntimeError(f"no kernel is built from {own.path}")
        for kernel in affected:
            for built in modules_of(kernel):
                moved.append((built, self.saved / built.name))
                shutil.move(built, self.saved / built.name)
            c_file = kernel.with_suffix(".c")
            if c_file.is_file():
                moved.append((c_file, self.saved / c_file.name))
                shutil.copy2(c_file, self.saved / c_file.name)
                # A changed header asks for another compilation only, everything else for Cython as well.
                if path.suffix != ".h":
                    c_file.unlink()
        path.write_text(before.replace(own.old, own.new), encoding="utf-8")
        forget_bytecode(path)

        def restore() -> None:
            path.write_text(before, encoding="utf-8")
            os.utime(path, ns=times)
            forget_bytecode(path)
            for built, place in moved:
                built.unlink(missing_ok=True)
                shutil.move(place, built)

        return restore

    def judge(self, own: Mutation, timeout: float) -> Outcome:
        """One mutation from beginning to end."""
        started = time.monotonic()
        build_seconds = 0.0
        try:
            restore = self.apply(own)
        except RuntimeError as error:
            return Outcome(own.name, own.kind, own.path, BROKEN, str(error), 0.0, 0.0)
        try:
            if own.kind == "kernels":
                try:
                    self.build()
                except RuntimeError as error:
                    seconds = time.monotonic() - started
                    return Outcome(own.name, own.kind, own.path, BROKEN, f"it does not build:\n{error}", seconds, 0.0)
                build_seconds = time.monotonic() - started
            status, output, notes = self.test(own.tests, timeout)
        finally:
            restore()
        verdict, why = verdict_of(status, output, notes, timeout)
        test_seconds = time.monotonic() - started - build_seconds
        origin = notes.get("origin")
        if origin is not None:
            origin = Path(origin).resolve().relative_to(self.root.resolve()).as_posix()
        return Outcome(own.name, own.kind, own.path, verdict, why, build_seconds, test_seconds, origin)


def forget_bytecode(path: Path) -> None:
    """A file's bytecode: Python tells it by the second and the size, which a mutation may leave alike."""
    for cached in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        cached.unlink()


def verdict_of(status: int | None, output: str, notes: dict[str, Any], timeout: float) -> tuple[str, str]:
    last = (output.strip().splitlines() or ["no output"])[-1]
    if status is None:
        return KILLED, f"the tests took more than {timeout:.0f} s, in {notes.get('running')}"
    if notes.get("not_collected"):
        return BROKEN, notes["not_collected"]
    if notes.get("failed"):
        return KILLED, notes["failed"]
    if status < 0 or not notes.get("origin"):
        if notes.get("running"):
            return KILLED, f"the interpreter ended with status {status} in {notes['running']}"
        return BROKEN, last
    if status == 0 and notes["passed"]:
        return SURVIVED, f"{notes['passed']} tests passed, {notes['skipped']} were skipped"
    return BROKEN, f"no test ran: {last}"
