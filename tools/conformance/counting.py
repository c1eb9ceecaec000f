"""A plugin of pytest that replaces functions and counts the outcomes of the tests that call them."""

from __future__ import annotations

import collections
import functools
import os
import tempfile
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tools.conformance.suite import Calls, Suite

Outcomes = dict[str, dict[str, str]]  # passed, failed, skipped: test -> reason
REASON_LENGTH = 300


class Choice(NamedTuple):
    """Which tests to run, and how."""

    files: Sequence[str]
    words: str = ""
    show: str = ""
    plain: bool = False
    texts: bool = False


class Counting:
    """The plugin."""

    def __init__(self, suite: Suite, choice: Choice) -> None:
        self.suite = suite
        self.choice = choice
        self.calls = Calls(choice.plain)
        self.outcomes: Outcomes = collections.defaultdict(dict)
        self.other_tests = 0
        self.calling_modules: set[str] = set()

    def pytest_configure(self) -> None:
        if not self.choice.texts:
            pytest.raises = without_texts(pytest.raises)
            pytest.warns = without_texts(pytest.warns)
        number = self.suite.replace(self.calls)
        print(f"{number} functions {'counted' if self.choice.plain else 'replaced'}")

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, Any]:
        """A module may call functions while it is imported: then all of its tests look at what they returned."""
        self.calls.used = False
        report = yield
        if self.calls.used:
            self.calling_modules.add(collector.nodeid)
        return report

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.calls.used = item.nodeid.partition("::")[0] in self.calling_modules

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown" or (report.when == "setup" and report.outcome == "passed"):
            return
        if report.when == "call" and not self.calls.used and report.outcome == "passed":
            self.other_tests += 1
            return
        self.outcomes[report.outcome][report.nodeid] = reason_of(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.outcome != "passed":
            self.outcomes[report.outcome][report.nodeid] = reason_of(report)


def reason_of(report: Any) -> str:
    """Why a test failed or was skipped, in one line."""
    if isinstance(report.longrepr, tuple):  # a skip: file, line, reason
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    return " ".join(str(crash.message if crash else report.longrepr or "").split())[:REASON_LENGTH]


def without_texts(check: Callable[..., Any]) -> Callable[..., Any]:
    """pytest.raises or pytest.warns, by kind alone."""

    @functools.wraps(check)
    def by_kind(*args: Any, match: object = None, **options: Any) -> Any:
        return check(*args, **options)

    return by_kind


def run_tests(suite: Suite, folder: Path, choice: Choice) -> Counting:
    """Run the tests below `folder`, which becomes the working directory."""
    plugin = Counting(suite, choice)
    reports = ["-rN", "-q", "--no-header", "--disable-warnings", f"--tb={'short' if choice.show else 'no'}"]
    left_out = [f"--deselect={name}" for name in suite.deselect]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as temporary:
        settings = Path(temporary, "pytest.ini")
        settings.write_text(
            "[pytest]\npython_files = test_*.py *_test.py *_tests.py\nmarkers = slow\n", encoding="utf-8"
        )
        options = [
            "-c",
            str(settings),
            f"--rootdir={folder}",
            "-p",
            "no:cacheprovider",
            "-k",
            choice.show or choice.words,
        ]
        os.chdir(folder)
        try:
            pytest.main([*reports, *left_out, *options, *map(str, choice.files)], plugins=[plugin])
        finally:
            os.chdir(before)
    return plugin
