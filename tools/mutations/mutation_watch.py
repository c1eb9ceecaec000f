"""A pytest plugin that notes what run.py asks of a test run: the first test that failed, and where fastmetrics is.

The notes go to the file that MUTATION_NOTES names. They are written when a test begins, too, so that they are there
when the interpreter crashes. Hypothesis does not shrink what it finds: which test fails is all that is asked.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

NOTES: dict[str, Any] = {
    "running": None, "failed": None, "not_collected": None, "passed": 0, "skipped": 0, "origin": None,
}  # fmt: skip


def write() -> None:
    Path(os.environ["MUTATION_NOTES"]).write_text(json.dumps(NOTES), encoding="utf-8")


def pytest_sessionstart() -> None:
    try:
        from hypothesis import Phase, settings
    except ImportError:
        return
    # What conftest.py chose, without the phases that take long once a test has failed.
    settings.register_profile("mutations", parent=settings(), phases=(Phase.explicit, Phase.generate), database=None)
    settings.load_profile("mutations")


def pytest_runtest_logstart(nodeid: str) -> None:
    NOTES["running"] = nodeid
    write()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed and NOTES["failed"] is None:
        NOTES["failed"] = report.nodeid
    elif report.when == "call" and report.passed:
        NOTES["passed"] += 1
    elif report.skipped:
        NOTES["skipped"] += 1


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed and NOTES["not_collected"] is None:
        NOTES["not_collected"] = f"{report.nodeid}: {str(report.longrepr).strip().splitlines()[-1]}"


def pytest_sessionfinish() -> None:
    try:
        import fastmetrics
    except Exception as error:  # noqa: BLE001 - a mutation may break the import in any way
        NOTES["not_collected"] = NOTES["not_collected"] or f"import fastmetrics: {error}"
    else:
        NOTES["origin"] = fastmetrics.__file__
    NOTES["running"] = None
    write()
