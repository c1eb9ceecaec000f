"""The command line as a subprocess, in this process or in a terminal; checks of its error messages."""

import io
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

ESCAPE = "\x1b"
# Variables that make a pipe look like a terminal, or the reverse.
TERMINAL_VARIABLES = {"FORCE_COLOR", "NO_COLOR", "GITHUB_ACTIONS", "PY_COLORS", "COLUMNS", "TTY_COMPATIBLE"}
CLICK_COLUMNS = ["--label", "click", "--score", "pctr", "--group", "user_id"]


def environment(**changes: str) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if name not in TERMINAL_VARIABLES},
        "PYTHONWARNINGS": "error::ResourceWarning,error::RuntimeWarning",
        "PYTHONIOENCODING": "utf-8",
        **changes,
    }


def run_subprocess(*arguments: object, folder: Path, standard_input: bytes = b"") -> subprocess.CompletedProcess[str]:
    """Run a command in a subprocess."""
    done = subprocess.run(
        [sys.executable, "-m", "fastmetrics", *map(str, arguments)],
        cwd=folder,
        env=environment(),
        capture_output=True,
        input=standard_input,
        timeout=120,
    )
    output, errors = (stream.decode("utf-8").replace("\r\n", "\n") for stream in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, output, errors)


def run(
    *arguments: object, folder: Path, standard_input: bytes | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in this process, which takes a second less. Without `standard_input` it looks like a terminal."""
    from fastmetrics.cli import main

    words = list(map(str, arguments))
    stream = SimpleNamespace(buffer=io.BytesIO(standard_input or b""), isatty=lambda: standard_input is None)
    before, sys.stdin = sys.stdin, stream
    try:
        with chdir(folder), redirect_stdout(io.StringIO()) as output, redirect_stderr(io.StringIO()) as errors:
            code = main(words)
    finally:
        sys.stdin = before
    return subprocess.CompletedProcess(words, code, output.getvalue(), errors.getvalue())


def run_python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment(), capture_output=True, encoding="utf-8", timeout=120
    )


def run_in_terminal(*arguments: object, folder: Path, columns: int = 100) -> tuple[int, str]:
    """Exit code, and the text of both streams on a terminal of that width. The command runs in this process."""
    from fastmetrics.cli import main

    ours, theirs = open_terminal(columns)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.extend(until_closed(ours)))
    reader.start()
    with pytest.MonkeyPatch.context() as patch, chdir(folder), standard_streams(theirs, patch):
        for name in TERMINAL_VARIABLES:
            patch.delenv(name, raising=False)
        patch.setenv("TERM", "xterm-256color")
        code = main(list(map(str, arguments)))
    reader.join(timeout=60)
    os.close(ours)
    return code, b"".join(received).decode("utf-8")


def run_subprocess_in_terminal(*arguments: object, folder: Path, columns: int = 100) -> tuple[int, str]:
    """As `run_in_terminal`, in a subprocess."""
    ours, theirs = open_terminal(columns)
    process = subprocess.Popen(
        [sys.executable, "-m", "fastmetrics", *map(str, arguments)],
        cwd=folder, env=environment(TERM="xterm-256color"), stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    received = b"".join(until_closed(ours))
    os.close(ours)
    return process.wait(timeout=60), received.decode("utf-8")


def open_terminal(columns: int) -> tuple[int, int]:
    """The descriptors of a terminal's two ends: what is written to the second can be read from the first."""
    fcntl = pytest.importorskip("fcntl")
    pty = pytest.importorskip("pty")
    termios = pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, np.array([40, columns, 0, 0], dtype=np.uint16).tobytes())
    return ours, theirs


@contextmanager
def standard_streams(terminal: int, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """The three standard streams, and their descriptors, are the terminal; it is closed at the end."""
    saved = [os.dup(descriptor) for descriptor in range(3)]
    try:
        for descriptor in range(3):
            os.dup2(terminal, descriptor)
        with (
            open(terminal, "w", encoding="utf-8", buffering=1) as output,
            open(os.dup(terminal), encoding="utf-8") as standard_input,
        ):
            patch.setattr(sys, "stdin", standard_input)
            with redirect_stdout(output), redirect_stderr(output):
                yield
    finally:
        for descriptor, own in enumerate(saved):
            os.dup2(own, descriptor)
            os.close(own)


def until_closed(descriptor: int) -> Iterator[bytes]:
    while True:
        try:
            received = os.read(descriptor, 65_536)
        except OSError:  # on Linux: the other end is closed
            return
        if not received:
            return
        yield received


def plain(text: str) -> str:
    return re.sub(rf"{ESCAPE}\[[?0-9;]*[A-Za-z]", "", text).replace("\r", "")


def write_log(path: Path, **columns: object) -> Path:
    pytest.importorskip("pyarrow.parquet").write_table(pytest.importorskip("pyarrow").table(columns), path)
    return path


def assert_refused(done: subprocess.CompletedProcess[str], code: int, message: str) -> None:
    """The exit code, a message on standard error, in a box or not, and nothing else."""
    assert done.returncode == code, done.stderr
    assert message in " ".join(re.sub(r"[│╭╮╰╯─]", " ", done.stderr).split())
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def assert_is_a_message(done: subprocess.CompletedProcess[str], *parts: str) -> None:
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert ESCAPE not in done.stderr
    for part in parts:
        assert part in done.stderr
