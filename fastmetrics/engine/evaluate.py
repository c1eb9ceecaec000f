"""The main door: one scan of a log, every metric asked for, a report."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from fastmetrics._core.blocks import Room
from fastmetrics._core.inputs import check_flag
from fastmetrics._core.memory import parse_size
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.registry import Metric
from fastmetrics._core.spill import SpillFile, as_path
from fastmetrics._core.statistic import Value
from fastmetrics._version import __version__
from fastmetrics.engine.batches import Source
from fastmetrics.engine.columns import ZERO_WEIGHT, ColumnNames
from fastmetrics.engine.feed import Progress, release_batches, run_scan
from fastmetrics.engine.intervals import Analytic, Replicates, added_to, read_resampling, resolve_intervals
from fastmetrics.engine.pictures import Bands, add_pictures, plan_pictures, sample_pictures
from fastmetrics.engine.plan import Plan, first_of, make_plan
from fastmetrics.engine.report import Report, Result
from fastmetrics.engine.resolve import States, resolve
from fastmetrics.engine.scan import Scan, StateKey


def evaluate(
    data: Any,
    metrics: str | Sequence[str | Metric],
    *,
    label: str | Sequence[str] | None = None,
    score: str | Sequence[str] | None = None,
    group: str | None = None,
    weight: str | None = None,
    by: str | Sequence[str] | None = None,
    memory_limit: int | str | None = None,
    spill_dir: str | os.PathLike[str] | None = None,
    n_threads: int | None = None,
    on_invalid: str = "raise",
    progress: Progress | None = None,
    ci: float | None = None,
    ci_method: str = "bootstrap",
    replicates: int = 1000,
    seed: int = 0,
    unit: str | None = None,
    curves: bool = False,
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
    label : str or list of str
        The column of labels: 0 and 1 (any integer, bool or float type), or -1 and +1. Metrics whose target is "real"
        (`describe_metrics` tells) take any finite numbers, those of "graded" any that are not negative; but only 0 and
        1 when they are asked for together with metrics of classes. With several columns, every score is judged against
        every label. For those of "text" it is the column of references, "reference" if left out: strings, or lists of
        strings where rows have several references (a null in a list is a missing one). For those of "partition" it is
        the column of classes, "label" if left out: integers, strings, dates or any other labels.
    score : str or list of str
        The column of scores or, for metrics of probabilities, of probabilities. Several models are compared in one
        scan, in which every user is looked up once. For metrics of "text" it is the column of hypotheses, strings;
        "hypothesis" if left out; for those of "partition" the column of clusters, labels of any type; "cluster" if left
        out. Metrics of either target go without others, and without weights.
    group : str, optional
        The column of group (user) keys, integers or strings; needed by metrics inside groups.
    weight : str, optional
        The column of row weights, finite and not negative; a row of weight zero is absent.
    by : str or list of str, optional
        Columns whose values cut the log into slices (integers, strings, booleans or dates; at most 10,000
        combinations): every metric for every slice, and for all rows. A slice takes memory of its own, beside the
        limit: some kilobytes for every label, score and thread.
    memory_limit : int or str, optional
        Bytes, or text such as "2GiB": rows that the metrics hold on to beyond half of it are written to a spill file,
        and brought back part by part. By default half of the memory available to the process. The results do not
        depend on it. What reading takes comes on top: about 100 MiB for Parquet. Pairs of labels of partitions are held
        in memory, some 50 to 100 bytes for each that is different; more than half of the limit is an error.
    spill_dir : path, optional
        Folder for the spill file, by default the system's for temporary files. The file has no name: nothing is left
        of it, however the process ends.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The results do not depend on it. With 1 all work
        is done in the calling thread; with more, Arrow may decode with threads of its own.
    on_invalid : {"raise", "drop"}
        A null or NaN in a column that is read: an error that names the row; or the row is left out and counted.
    progress : callable, optional
        Called as progress(stage, rows_done, rows_total) with stage "scan", "resolve" and, with ci, "resample";
        rows_total is None while unknown.
    ci : float, optional
        The level of the intervals, between 0 and 1, 0.95 say: every `Result` then has an `interval` and a
        `standard_error`. Where there is none (fewer than two units, more than one replicate in twenty undefined),
        `coverage["interval"]` says why.
    ci_method : {"bootstrap", "normal", "delong"}
        Percentiles of the replicates; the value and its normal quantiles, with the replicates' standard deviation; or
        DeLong's variance, for the AUC of rows that are independent of each other.
    replicates : int
        How often the units are drawn again: each counts Poisson(1) times in a replicate. All come from one pass, but
        those of AUC, average precision, KS and EER of rows with `weight`: they take as long as so many evaluations.
    seed : int
        From 0 to 2**64 - 1. Weights depend on the seed, the replicate and the unit's key alone, so that intervals are
        the same in any order of rows, and with any number of threads.
    unit : str, optional
        The column whose values are drawn again with all of their rows: users, days. By default the group, where there
        is one; else every row by itself, which "row" asks for too. Rows are told by their place in the log. Groups have
        to be inside units: metrics of groups need whole ones.
    curves : bool
        Also collect what `Report.plot` and `Report.pictures` show: ROC, precision and recall, DET, lift, calibration
        and, with `group`, how AUC differs between groups; every score column is a line. Pictures are of all rows, not
        of slices, and need metrics of classes; `Report.missing_pictures` says why one is not there.

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
        (named), no rows, more different pairs of labels than the memory limit has room for; ci outside (0, 1), no
        replicates, a method that a metric does not have, units that do not have whole groups.
    TypeError
        A column of another type than its metrics need; `label` or `score` left out where metrics need them.
    FileNotFoundError
        A file that does not exist.
    OSError
        The spill folder cannot be used or has no space left; the message names it, and the bytes needed.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> log = {"click": [1, 0, 0, 1], "pctr": [0.9, 0.3, 0.8, 0.2], "user": ["a", "b", "a", "b"]}
    >>> report = fm.evaluate(log, ["auc", "gauc", "logloss"], label="click", score="pctr", group="user")
    >>> report["auc"], report["gauc"]
    (0.5, 0.5)
    """
    started = time.perf_counter()
    check_flag(curves, "curves")
    plan = make_plan(metrics)
    names = read_names(plan, label, score, group, weight, by)
    resampling = read_resampling(ci, ci_method, replicates, seed, unit, group, plan, weight)
    plan = added_to(plan, resampling)
    pictures = plan_pictures(plan, names) if curves else None
    if pictures is not None:
        plan = pictures.added_to(plan)
    threads = count_threads(n_threads)
    room = make_room(memory_limit, spill_dir, threads)
    read = names
    if resampling is not None:
        names, read = (names._replace(unit=unit) for unit in (resampling.unit, resampling.drawn_unit))
    with scanned(data, plan, read, on_invalid, room, threads, progress) as scan:
        intervals: Replicates | Analytic | None = None
        if resampling is None:
            states = resolve(scan, threads, progress)
        else:
            states, intervals = resolve_intervals(scan, resampling, threads, progress)
        bands: Bands = {}
        if isinstance(intervals, Replicates) and pictures is not None:
            bands = sample_pictures(scan, pictures, states, intervals, threads)
    report = make_report(scan, states, names, time.perf_counter() - started, intervals=intervals)
    return report if pictures is None else add_pictures(report, pictures, scan.views, states, bands, ci or 0)


@contextmanager
def scanned(
    data: Any,
    plan: Plan,
    names: ColumnNames,
    on_invalid: str,
    room: Room,
    n_threads: int,
    progress: Progress | None,
) -> Iterator[Scan]:
    """A log that was read, with all that the scan holds of it until it is closed."""
    from fastmetrics.engine.sources import open_source  # costs milliseconds that `import fastmetrics` need not pay

    read = names if plan.needs("group") else names._replace(group=None)
    source = open_source(data)
    for role, column in read.parts():
        source.require(column, role)
    prepare(source, plan, read)
    scan = Scan(plan, read, on_invalid, source.rows, room)
    try:
        run_scan(scan, source, read.wanted(), n_threads, progress)
        check_rows(scan)
        if progress is not None:
            progress("scan", scan.rows, scan.rows)
        release_batches()
        yield scan
    finally:
        scan.close()


def read_names(
    plan: Plan,
    label: str | Sequence[str] | None,
    score: str | Sequence[str] | None,
    group: str | None,
    weight: str | None,
    by: str | Sequence[str] | None,
) -> ColumnNames:
    """Column names as given: one or several labels, scores and slices; group and weight may be left out.

    Columns of what is no number have names of their own unless others are given.
    """
    alone = plan.targets.alone
    if alone is not None:
        label = alone.label if label is None else label
        score = alone.score if score is None else score
        if weight is not None:
            raise ValueError(
                f"metrics of {alone.word} ({first_of(plan.metrics)}) have no weights of rows; leave out "
                f"weight={weight!r}"
            )
    for role, name in (("group", group), ("weight", weight)):
        if not isinstance(name, str) and name is not None:
            raise TypeError(f"{role} must be the name of a column; found {name!r}")
    names = ColumnNames(
        several("label", label), several("score", score), group, weight, () if by is None else several("by", by)
    )
    if plan.needs("group") and group is None:
        metric = next(metric for metric in plan.metrics if metric.spec.exchange == "group")
        raise ValueError(f"metric {metric!r} is computed inside groups; say which column has their keys: group=...")
    return names


def prepare(source: Source, plan: Plan, names: ColumnNames) -> None:
    """Tell a source which of its columns have few values, and which have long texts."""
    alone = plan.targets.alone
    if alone is None:
        source.keep_dictionaries(names.by)
    else:
        alone.prepare(source, names.labels + names.scores, names.by)


def several(role: str, names: str | Sequence[str] | None) -> tuple[str, ...]:
    """One column name or several, each once."""
    if names is None:
        raise TypeError(f"{role} is missing: name the column, {role}=...")
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{role} must be the name of a column or a list of names; found {names!r}")
    if not names and role != "by":
        raise ValueError(f"{role} is an empty list: name at least one column")
    return tuple(dict.fromkeys(names))


def make_room(
    memory_limit: int | str | None, spill_dir: str | os.PathLike[str] | None, n_threads: int, processes: int = 1
) -> Room:
    """The memory that rows may take; a default limit is shared by so many processes.

    A folder that cannot be used is found before anything is read.
    """
    limit = parse_size(memory_limit, "memory_limit")
    folder = None if spill_dir is None else as_path(spill_dir)
    if folder is not None:
        SpillFile(folder).check_folder()
    return Room(limit, folder, n_threads, processes)


Bounds = dict[StateKey, tuple[Any, Any]]


def check_rows(scan: Scan) -> None:
    """Labels are of one kind, and there is something to evaluate."""
    scan.check_labels()
    if scan.kept == 0 and ZERO_WEIGHT not in scan.dropped:
        raise ValueError(why_empty(scan))


def why_empty(scan: Scan) -> str:
    if scan.rows == 0:
        return "data has no rows: at least one is needed"
    reasons = ", ".join(f"{count} with {reason}" for reason, count in scan.dropped.items())
    return f"no row is left of {scan.rows} read: {reasons}"


def between(
    metric: Metric, bounds: Bounds, view: int, number: int | None
) -> tuple[Value, tuple[float, float] | None]:
    """The midpoint of the values of two states, and those values as an interval."""
    pairs = [bounds[own, view, number] for own in metric.statistics()]
    ends = [metric.finalise(*(pair[side] for pair in pairs)) for side in (0, 1)]
    if ends[0].reason is not None:
        return ends[0], None
    low, high = sorted(end.value for end in ends)
    return ends[0]._replace(value=low + (high - low) / 2), (low, high)


def make_report(
    scan: Scan,
    states: States,
    names: ColumnNames,
    seconds: float | None,
    bounds: Bounds | None = None,
    intervals: Replicates | Analytic | None = None,
) -> Report:
    """Every metric of every view: for all rows first, then slice by slice in the order of their values.

    With `bounds`, those of the exchange by score are known to lie between two states; with `intervals`, values have
    replicates.
    """
    results = []
    slices = scan.reader.slices.numbers
    wanted: list[tuple[int | None, dict[str, Any]]] = [(None, {})]
    wanted += [(slices[values], dict(zip(names.by, values, strict=True))) for values in sorted(slices)]
    for number, values in wanted:
        for view_number, view in enumerate(scan.views):
            for metric in scan.plan.metrics:
                interval, error, suffix = None, None, ""
                if bounds is not None and metric.spec.exchange == "score":
                    value, interval = between(metric, bounds, view_number, number)
                else:
                    value = metric.finalise(*states.of(metric.statistics(), view_number, number))
                if intervals is not None:
                    found = intervals.interval(metric, view_number, number, value)
                    interval, error, suffix = found.bounds, found.standard_error, intervals.resampling.suffix
                    value = value._replace(coverage=value.coverage | found.coverage)
                approximate = bounds is not None and interval is not None
                signature = metric.signature(value.coverage, names.weight, approximate)
                result = Result(
                    repr(metric), names.scores[view.score], values, value.value, signature + suffix, value.coverage,
                    value.reason, label=names.labels[view.label], interval=interval, standard_error=error,
                )  # fmt: skip
                results.append(result)
    return Report(
        results,
        rows=scan.rows,
        dropped=dict(sorted(scan.dropped.items())),
        columns=names.roles(),
        version=__version__,
        seconds=seconds,
    )
