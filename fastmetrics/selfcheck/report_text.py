"""The report of a self-check as text."""

from __future__ import annotations

from collections.abc import Iterator

import fastmetrics
from fastmetrics.reporting.text_tables import aligned_lines
from fastmetrics.selfcheck.outcomes import SelfCheckReport


def report_lines(report: SelfCheckReport) -> Iterator[str]:
    """A table by family, then each failure, and what was left out."""
    rows = [("family", "checks", "failures", "seconds")]
    rows += [(own.family, str(own.checks), str(len(own.failures)), f"{own.seconds:.1f}") for own in report.families]
    checks, seconds = (
        sum(values) for values in zip(*((own.checks, own.seconds) for own in report.families), strict=True)
    )
    rows.append(("all", str(checks), str(len(report.failures)), f"{seconds:.1f}"))
    yield from aligned_lines(rows, range(4))
    for name, reason in report.skipped.items():
        yield f"skipped: {name}: {reason}"
    for name, text in report.failures.items():
        yield f"failed: {name}: {text}"
    outcome = f"{len(report.failures)} checks failed" if report.failures else "all checks passed"
    yield f"fastmetrics {fastmetrics.__version__}, seed {report.seed}: {outcome}"
