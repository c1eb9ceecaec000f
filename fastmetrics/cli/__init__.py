"""The command line: ``fastmetrics``, or ``python -m fastmetrics``. One file per command.

A command reads its options, calls the public function, and writes the result; tables and pages come from
`fastmetrics.reporting`. Nothing imports this package. Importing it loads neither typer nor rich nor pyarrow: the extra
`cli` is needed only when a command runs. Read `app.py` first: it lists the commands.
"""

import os
import sys
import threading
from collections.abc import Sequence

from fastmetrics.selfcheck.standard_streams import checked_streams, flush

CLI_MODULES = ("typer", "rich", "pyarrow")
INTERRUPTED = 130
WAITING_THREAD = "fastmetrics-open"  # `engine/input/path_sources.py` waits for stores in it


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 error, 2 wrong usage, 3 gate failed, 130 interrupted."""
    with checked_streams():
        return run_and_flush(sys.argv[1:] if arguments is None else list(arguments))


def run_and_flush(arguments: list[str]) -> int:
    try:
        code = run_command(arguments)
        code = flush() or code
    except KeyboardInterrupt:
        # CPython ends by SIGINT if an interrupt ever left code that was compiled from text (namedtuple and dataclass do
        # that while modules are imported), even if it was caught later. Running a text without an error resets that.
        exec("")
        code = INTERRUPTED
    if code == INTERRUPTED and any(thread.name == WAITING_THREAD for thread in threading.enumerate()):
        # Python's end would wait for a store that does not answer.
        sys.stderr.flush()
        os._exit(code)
    return code


def run_command(arguments: list[str]) -> int:
    try:
        from fastmetrics.cli.app import run

        return run(arguments)
    except (ImportError, AttributeError, TypeError) as error:
        problem = problem_of_packages(error)
        if problem is None:
            raise
        if arguments == ["doctor"]:
            return print_environment()
        from fastmetrics._core.optional_imports import install_command

        sys.stderr.write(f"error: this needs {problem}; type: {install_command('cli')}\n")
        return 1


def problem_of_packages(error: Exception) -> str | None:
    """The package of the extra `cli` that is missing or too old, which may be why a command failed; None if none is."""
    from importlib import metadata

    from fastmetrics._core.optional_imports import LEAST_VERSIONS, version_key

    if isinstance(error, ModuleNotFoundError) and (missing := (error.name or "").partition(".")[0]) in CLI_MODULES:
        return f"{missing}, which is not installed"
    for package in CLI_MODULES:
        try:
            found = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
        if version_key(found) < version_key(LEAST_VERSIONS[package]):
            return f"{package} {LEAST_VERSIONS[package]} or later, and {found} is installed"
    return None


def print_environment() -> int:
    """`fastmetrics doctor` where the extra `cli` is not installed."""
    from fastmetrics.cli.installation.environment import describe_environment, environment_lines

    sys.stdout.write("\n".join([*environment_lines(describe_environment()), ""]))
    return 0
