"""Run scikit-learn's own tests of its metrics with the functions of fastmetrics in place of its own.

The installed scikit-learn brings the tests. Each function of `sklearn.metrics` and `sklearn.metrics.cluster` that
fastmetrics has by the same name is replaced, in all modules below `sklearn.metrics` and in its named scorers. A run is
a test that calls one of these functions: tests of distances, say, do not count. With --plain
nothing is replaced, which shows the runs that fail by themselves.

Errors and warnings are compared by kind. Their texts are fastmetrics' own, which name the argument and the row: with
--texts a run also fails if scikit-learn's text is missing.

Exit status: 0 if at least --least percent of the runs pass, otherwise 1.
"""

import argparse
import collections
import functools
import importlib
import os
import pkgutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import pytest

EXAMPLES = """examples:
  python tools/sklearn_suite.py                                      all runs; about two minutes
  python tools/sklearn_suite.py --only metrics/tests/test_ranking.py -k ndcg
  python tools/sklearn_suite.py --show test_regression               also the reports of failures
  python tools/sklearn_suite.py --plain                              scikit-learn's own functions
"""
PACKAGES = ("sklearn.metrics", "sklearn.metrics.cluster")
FILES = (
    "metrics/tests/test_classification.py",
    "metrics/tests/test_common.py",
    "metrics/tests/test_ranking.py",
    "metrics/tests/test_regression.py",
    "metrics/tests/test_score_objects.py",
    "metrics/cluster/tests/test_common.py",
    "metrics/cluster/tests/test_supervised.py",
    "metrics/cluster/tests/test_unsupervised.py",
    "metrics/_plot/tests",
)


class Suite:
    """A plugin of pytest that replaces functions and counts the outcomes of the tests that use them."""

    def __init__(self, plain: bool, texts: bool) -> None:
        self.plain = plain
        self.texts = texts
        self.used = False
        self.outcomes: dict[str, list[str]] = collections.defaultdict(list)

    def counted(self, theirs: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
        """Our function, which says when it is called, as a function of their module: scorers are pickled by name."""

        @functools.wraps(ours)
        def call(*args: Any, **options: Any) -> Any:
            self.used = True
            return ours(*args, **options)

        call.__module__ = theirs.__module__
        return call

    def replacements(self) -> dict[Any, Callable[..., Any]]:
        """Each function of scikit-learn that fastmetrics has, and what stands in its place."""
        import fastmetrics

        found = {}
        for package in PACKAGES:
            module = importlib.import_module(package)
            for name in set(module.__all__).intersection(fastmetrics.__all__):
                theirs = getattr(module, name)
                if theirs not in found:
                    found[theirs] = self.counted(theirs, theirs if self.plain else getattr(fastmetrics, name))
        return found

    def pytest_configure(self) -> None:
        if not self.texts:
            pytest.raises = without_texts(pytest.raises)
            pytest.warns = without_texts(pytest.warns)
        modules = list(modules_of_metrics())
        replacements = self.replacements()
        for module in modules:
            for name, value in list(vars(module).items()):
                if callable(value) and getattr(value, "__hash__", None) and value in replacements:
                    setattr(module, name, replacements[value])
        scorers = importlib.import_module("sklearn.metrics._scorer")._SCORERS
        for scorer in scorers.values():
            scorer._score_func = replacements.get(scorer._score_func, scorer._score_func)
        print(f"{len(replacements)} functions {'counted' if self.plain else 'replaced'}")

    def pytest_runtest_setup(self) -> None:
        self.used = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and (self.used or report.outcome == "failed"):
            crash = getattr(report.longrepr, "reprcrash", None)
            reason = " ".join(crash.message.split())[:300] if crash else ""
            self.outcomes[report.outcome].append(f"{report.nodeid}  {reason}".rstrip())
        elif report.when == "setup" and report.outcome != "passed":
            self.outcomes[report.outcome].append(report.nodeid)


def without_texts(check: Callable[..., Any]) -> Callable[..., Any]:
    """pytest.raises or pytest.warns, by kind alone."""

    @functools.wraps(check)
    def by_kind(*args: Any, match: object = None, **options: Any) -> Any:
        return check(*args, **options)

    return by_kind


def modules_of_metrics() -> Iterable[ModuleType]:
    """sklearn.metrics and the modules below it, without their tests."""
    top = importlib.import_module("sklearn.metrics")
    yield top
    for module in pkgutil.walk_packages(top.__path__, "sklearn.metrics."):
        if ".tests" not in module.name:
            yield importlib.import_module(module.name)


def run(only: Iterable[str], chosen: str, plain: bool, texts: bool, show: str) -> dict[str, list[str]]:
    """The tests by outcome: passed, failed, skipped."""
    home = os.path.dirname(importlib.import_module("sklearn").__file__ or "")
    suite = Suite(plain, texts)
    files = [os.path.join(home, *name.split("/")) for name in only]
    reports = ["-rN", "-q", "--no-header", "--disable-warnings", f"--tb={'short' if show else 'no'}"]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        settings = os.path.join(folder, "pytest.ini")
        with open(settings, "w") as file:
            file.write("[pytest]\n")
        options = ["-c", settings, f"--rootdir={home}", "-p", "no:cacheprovider", "-k", show or chosen]
        pytest.main([*reports, *options, *files], plugins=[suite])
    return suite.outcomes


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=FILES, metavar="FILE", help="files or folders below sklearn/")
    parser.add_argument("-k", dest="chosen", default="", metavar="WORDS", help="tests, as pytest's -k chooses them")
    parser.add_argument("--show", default="", metavar="WORDS", help="tests to run with the reports of their failures")
    parser.add_argument("--plain", action="store_true", help="replace nothing")
    parser.add_argument("--texts", action="store_true", help="compare the texts of errors and warnings too")
    parser.add_argument("--least", type=float, default=99.0, metavar="PERCENT", help="passed, of passed and failed")
    options = parser.parse_args()
    outcomes = run(options.only, options.chosen, options.plain, options.texts, options.show)
    passed, failed, skipped = (outcomes.get(name, []) for name in ("passed", "failed", "skipped"))
    for name in failed:
        print("failed:", name)
    percent = 100 * len(passed) / max(1, len(passed) + len(failed))
    print(f"{len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped: {percent:.2f} % of the runs pass")
    return int(percent < options.least)


if __name__ == "__main__":
    sys.exit(main())
