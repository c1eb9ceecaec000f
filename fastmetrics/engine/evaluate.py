"""The main door: one scan of a log, every metric asked for, a report."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from fastmetrics._core.parallel import count_threads
from fastmetrics._core.registry import Metric
from fastmetrics._version import __version__
from fastmetrics.engine.columns import ZERO_WEIGHT, ColumnNames
from fastmetrics.engine.feed import Progress, release_batches, run_scan
from fastmetrics.engine.plan import make_plan
from fastmetrics.engine.report import Report, Result
from fastmetrics.engine.resolve import resolve
from fastmetrics.engine.scan import Scan


def evaluate(
    data: Any,
    metrics: str | Sequence[str | Metric],
    *,
    label: str,
    score: str,
    group: str | None = None,
    weight: str | None = None,
    n_threads: int | None = None,
    on_invalid: str = "raise",
    progress: Progress | None = None,
) -> Report:
    """Evaluate a log: every metric, exactly, in one scan that reads only the columns it needs.

    Rows may come in any order, from any number of files, batches or threads: the results are the same to the last bit.
    A user whose rows are spread over several files is one user.

    Parameters
    ----------
    data : path, list of paths, Arrow data, data frame or dict of arrays
        Parquet, Arrow IPC or CSV files (also a glob, a list, a directory, hive-partitioned or not); a pyarrow Table,
        RecordBatchReader or Dataset; anything with ``__arrow_c_stream__`` (polars, pandas, DuckDB relations); a dict of
        arrays. CSV has no types: Arrow infers them, so that an id written 007 is read as the integer 7.
    metrics : sequence of str, or str
        Metric strings such as "auc", "gauc(weight=pairs)"; a single string is split at commas. `list_metrics` names
        them all.
    label : str
        The column of labels: 0 and 1 (any integer, bool or float type), or -1 and +1.
    score : str
        The column of scores or, for metrics of probabilities, of probabilities.
    group : str, optional
        The column of group (user) keys, integers or strings; needed by metrics inside groups.
    weight : str, optional
        The column of row weights, finite and not negative; a row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The results do not depend on it. With 1 all work
        is done in the calling thread; with more, Arrow may decode with threads of its own.
    on_invalid : {"raise", "drop"}
        A null or NaN in a column that is read: an error that names the row; or the row is left out and counted.
    progress : callable, optional
        Called as progress(stage, rows_done, rows_total) with stage "scan" then "resolve"; rows_total is None while
        unknown.

    Returns
    -------
    Report
        `report["auc"]` is a float; the report also prints, converts (`to_dict`, `to_arrow`, `to_pandas`) and tells rows
        read and dropped, groups used and left out, and a signature for every value. Undefined values are NaN with a
        reason.

    Raises
    ------
    ValueError
        An unknown metric or column (near names are given), bad values (column and row are named), an unreadable file
        (named), no rows.
    FileNotFoundError
        A file that does not exist.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> log = {"click": [1, 0, 0, 1], "pctr": [0.9, 0.3, 0.8, 0.2], "user": ["a", "b", "a", "b"]}
    >>> report = fm.evaluate(log, ["auc", "gauc", "logloss"], label="click", score="pctr", group="user")
    >>> report["auc"], report["gauc"]
    (0.5, 0.5)
    """
    from fastmetrics.engine.sources import open_source  # costs milliseconds that `import fastmetrics` need not pay

    started = time.perf_counter()
    plan = make_plan(metrics)
    check_names(label=label, score=score, group=group, weight=weight)
    if plan.needs("group") and group is None:
        name = next(metric for metric in plan.metrics if metric.spec.exchange == "group")
        raise ValueError(f"metric {name!r} is computed inside groups; say which column has their keys: group=...")
    threads = count_threads(n_threads)
    names = ColumnNames(label, score, group if plan.needs("group") else None, weight)
    source = open_source(data)
    for role, column in names.roles().items():
        source.require(column, role)
    scan = Scan(plan, names, on_invalid, source.rows)
    run_scan(scan, source, names.wanted(), threads, progress)
    scan.check_labels()
    if scan.kept == 0 and ZERO_WEIGHT not in scan.dropped:
        raise ValueError(why_empty(scan))
    if progress is not None:
        progress("scan", scan.rows, scan.rows)
    release_batches()
    states = resolve(scan, threads, progress)
    results = []
    for metric in plan.metrics:
        value = plan.finalise(metric, states)
        signature = metric.signature(value.coverage, weight)
        results.append(Result(repr(metric), score, {}, value.value, signature, value.coverage, value.reason))
    return Report(
        results,
        rows=scan.rows,
        dropped=dict(sorted(scan.dropped.items())),
        columns=ColumnNames(label, score, group, weight).roles(),
        version=__version__,
        seconds=time.perf_counter() - started,
    )


def check_names(**columns: Any) -> None:
    """Column names are strings; group and weight may be left out."""
    for role, name in columns.items():
        if not isinstance(name, str) and not (name is None and role in ("group", "weight")):
            raise TypeError(f"{role} must be the name of a column; found {name!r}")


def why_empty(scan: Scan) -> str:
    if scan.rows == 0:
        return "data has no rows: at least one is needed"
    reasons = ", ".join(f"{count} with {reason}" for reason, count in scan.dropped.items())
    return f"no row is left of {scan.rows} read: {reasons}"
