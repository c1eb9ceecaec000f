"""The entry point for rows that come batch by batch: states that travel between processes, and merge."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns.validation import check_option
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.registry import Metrics
from fastmetrics.engine.evaluation.evaluation import Evaluation, check_same_question, question_of_call
from fastmetrics.engine.evaluation.options.option import ACCUMULATOR
from fastmetrics.engine.input.input_options import InputOptions
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.partial_state import PartialState
from fastmetrics.engine.partial.state_options import StateOptions, check_approximate, count_bins
from fastmetrics.engine.plan.resampling_options import Resampling
from fastmetrics.engine.plan.tasks import Task, name_task_in_errors
from fastmetrics.engine.results.report import Report
from fastmetrics.engine.scan.final_report import ResolvedPart, ResolvedTask, make_report, resolve_part
from fastmetrics.engine.scan.read_log import TABLES, check_rows, make_memory_budget, update_state, update_truth
from fastmetrics.engine.scan.resolve import FinalStates, merge_slices

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ColumnName, Log
    from fastmetrics._core.types.options import Format, IntervalMethod, MissingColumns, OnInvalid

__all__ = ["Accumulator"]


class Accumulator:
    """Metrics of rows that come batch by batch, perhaps in several processes.

    Each worker updates an accumulator of its own. They are merged in any order, and the result is equal, to the last
    bit, to that of one `evaluate` over all rows. Metrics of global order and of groups need all rows in one place: for
    them a state keeps 9 bytes per row (label and float64 score) and 8 more for an integer group key, in memory or,
    beyond half of `memory_limit`, in a spill file. With ``approximate=True`` the size of a state is bounded instead,
    and `auc` has a certified interval.

    An accumulator can be saved, pickled and copied. Two threads must not use it at the same time.

    Parameters
    ----------
    metrics : sequence of str, or str, optional
        Metric strings such as "auc", "gauc(weight=pairs)", or public functions, `roc_auc_score`. A string is split at
        commas. None: the default metrics of the columns that are given, as on the command line. `list_metrics` lists
        them all. A metric string may name its own columns, "rmse(label=minutes, score=forecast)" or
        "ndcg(group=[user,day])@10": metrics of different columns, kinds and groups share one scan. A metric by group
        takes another statistic of the groups than their mean: "ndcg(stat=p10)@10", also min, max, and "stat=below,
        at=0.5" for the share of groups below 0.5; the `rule` of quantiles is linear, lower or higher.
    label : str or list of str, optional
        The column of labels: 0 and 1 (any integer, bool or float type), or -1 and +1. Other metrics read other labels;
        `list_metrics` has the target of each. Target "real": any finite numbers. Target "graded": finite numbers that
        are not negative. Together with metrics of classes, both read only 0 and 1. Target "text": the column of
        references, by default "reference"; strings, or lists of strings if rows have several references (a null in a
        list is a missing reference). Target "partition": the column of classes, by default "label"; integers, strings,
        dates or any other labels. With several columns, every score is evaluated against every label.
    score : str or list of str, optional
        The column of scores; metrics of probabilities read probabilities in [0, 1]. Several models are evaluated in one
        scan, in which every user is looked up once. Target "text": the column of hypotheses, strings; by default
        "hypothesis". Target "partition": the column of clusters, labels of any type; by default "cluster". Metrics of
        these two targets take no weights. Together with metrics of other targets, either has to name its columns in the
        metric string.
    group : str or list of str, optional
        The column of group (user) keys: integers, strings, booleans, dates, times, decimals, bytes or floats; -0.0 is
        0.0. Several columns are one key, ``["user_id", "session_id"]``: rows with equal values in all of them are one
        group. Metrics that are computed inside groups need it, and intervals resample by it; others do not read it.
    weight : str, optional
        The column of row weights, from 0 to 1e300; a row of weight zero is left out.
    where : str, expression or mask, optional
        Which rows are evaluated: a condition in SQL, such as ``"clicked = 1 and country in ('DE', 'FR')"``; an
        expression of polars or pyarrow; or a mask, a boolean for each row of the log in the order of its rows. Rows for
        which it is false or null are left out before anything else is checked. Wherever a column is named, an
        expression of columns may stand too, such as ``score="p_ctr * p_cvr"`` or ``score=pl.col("p_ctr") *
        pl.col("p_cvr")``: docs/expressions.md has the grammar.
    by : str, list of str or list of lists, optional
        Columns whose values divide the rows into slices (numbers, strings, booleans or dates; at most 10,000
        combinations). Every metric is computed for every slice and for all rows. Nulls are a slice, None, and so are
        NaN. A list of lists has grouping sets, ``[["channel"], ["channel", "day"]]``: the slices of each, in one scan,
        at most 10,000 of each set. ``"cut(price, [0, 10])"`` makes slices of numbers by intervals that are closed on
        the left, the first and the last without end; ``"qcut(price, 10)"`` has as many rows in each as ties allow: edge
        i of n is the least value that i of n parts of the rows do not exceed, and the log is read once more for the
        edges. Slices take memory beyond the limit: some kilobytes per slice for every label, score and thread.
    min_rows : int
        Slices of fewer rows have no results; `small_slices` of the report counts them and their rows.
    on_invalid : {"raise", "drop"}
        For a null or NaN in a column that is read: raise an error that names the row, or drop the row and count it.

        Rows are counted from the beginning of the batch.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.
    memory_limit : int or str, optional
        Bytes, or text such as "2GiB". When the rows that metrics keep take half of it, further rows are written to a
        spill file and read back partition by partition. By default half of the memory available to the process. The
        results do not depend on it. Reading takes memory on top: about 100 MiB for Parquet. The different labels of
        classes and of partitions stay in memory; if they take more than half of the limit, it is an error.
    spill_dir : path, optional
        Folder for the spill file, by default the system's folder for temporary files. The file has no name: nothing is
        left of it, however the process ends.
    approximate : bool
        Keep scores in histograms over their ordered bits, of at most `state_size` for every label, score and slice. The
        value of a metric of global order is then the midpoint of `Result.interval`, which contains the exact value.
        Metrics without an exchange stay exact. Group metrics, and weights with metrics of global order, are errors.
    state_size : int or str
        Bytes, or text such as "4MiB", for the histogram of an approximate state. Larger states give narrower intervals.
    ci : float, optional
        The level of the intervals, between 0 and 1, such as 0.95. Every `Result` then has an `interval` and a
        `standard_error`. If there is no interval (fewer than two units, or more than one replicate in twenty
        undefined), `coverage["interval"]` has the reason.

        For resampling, a state keeps the rows with their units.
    ci_method : {"linearized", "bootstrap", "normal", "delong", "anytime"}, optional
        "linearized": what leaving each unit out changes gives the standard error, and Student's distribution the
        interval, without a seed. "bootstrap": percentiles of the replicates. "normal": the value plus and minus normal
        quantiles times the standard deviation of the replicates. "delong": DeLong's variance, for the AUC of
        independent rows. "anytime": linearized, for a log that grows and is looked at again and again: all its
        intervals together hold at the level. By default linearized where a metric has it, else the bootstrap; with
        `replicates` or `seed` the bootstrap. Signatures name the method.
    replicates : int, optional
        Number of bootstrap replicates, at least 1. In each, a unit counts Poisson(1) times. All replicates are computed
        in one pass, except those of AUC, average precision, KS and EER of rows with `weight`: they take as long as that
        many evaluations. By default 1,000, if there are any.
    seed : int, optional
        From 0 to 2**64 - 1. Weights depend only on the seed, the replicate and the unit's key, so intervals are the
        same for any order of rows and any number of threads.
    unit : str or list of str, optional
        The column of resampling units, such as users or days: the rows of a unit are resampled together. By default the
        group, if there is one, else every row by itself, which is also the meaning of "row". Rows are identified by
        their number in the log. Every group has to be inside one unit. If users have several rows, resample users, not
        rows: rows of one user are alike, and intervals would be too narrow.

        Rows of batches have no number in a log, so the unit has to be a column.
    prediction : str or list of str, optional
        The column of predicted labels, of the type of the labels: integers, strings, booleans or dates. Metrics such as
        accuracy, f1 and kappa are then of predicted labels, any number of classes. Several models are evaluated in one
        scan. If there are scores too, a metric is of predictions if its string says so, such as
        "accuracy(prediction=pred)" or "f1(average=macro)".
    probabilities : str or list of str, optional
        The probability of every class: a column of lists, or a list of columns, one for each class. They lie in [0, 1]
        and sum to 1 in every row, to within 1e-8 and the greatest of: the square root of the epsilon of their type
        (float64 1.5e-8, float32 3.5e-4, float16 0.03); 5e-7 for each class, as rounding to six digits leaves; 2**-7 in
        rows that have only the digits of bfloat16, and 2**-10 in those of float16. They are used as they are, and a sum
        that is not 1 is noted in the report. For ap and top_k_accuracy they may be any scores. Metrics such as logloss,
        brier, auc, ap, ece and top_k_accuracy are then of several classes, and labels of any type; the parameter
        `labels` names the classes in the order of the probabilities, "logloss(labels=[ant, bee, cat])". Without it,
        labels are the numbers 0, 1, 2 and so on. A list of lists of columns has several models. With `score` or
        `prediction`, a metric is of probabilities if its string says so, such as "logloss(probabilities=probs)".
    item, treatment, propensity : str, optional
        Columns of other roles, for metrics that read them: `list_metrics` has the roles of each metric.
    roles : dict of str and str, optional
        Columns of any other role, such as ``{"reward": "revenue"}``. Metrics of your own may have any roles:
        `fastmetrics.extend`.
    tasks : dict of str and Task, optional
        Several questions of one log, answered in one scan: ``{"ctr": Task(label="click", score="pctr"), "cvr": ...}``.
        What a task does not name is that of the call. Every `Result` has the name of its `task`.
    time_zone : str, optional
        The zone in which expressions count days and hours, such as "Asia/Tokyo" or "+09:00": `date_trunc`, `extract`,
        casts to dates and timestamps, and texts beside times. Timestamps without a zone are then instants in UTC. By
        default those of a zone are in their own zone, and those without one are as they are written; those of Spark are
        in UTC.
    truth_columns : dict of str and str, optional
        The columns of the truth table by role, ``{"label": "rating", "group": "user", "item": "movie"}``: which items
        of every group are relevant, with their grades. Rows of the log are joined with it by `group` and `item`, so
        that metrics of ranked lists also know the items that the log does not show. Groups and items have the names of
        the log by default, and without a label every item of the table is relevant. The table is `truth` of a run.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> whole = fm.Accumulator(["auc", "logloss"], label="click", score="pctr")
    >>> part = fm.Accumulator(["auc", "logloss"], label="click", score="pctr")
    >>> whole.update({"click": [1, 0], "pctr": [0.9, 0.3]})
    >>> part.update({"click": [0, 1], "pctr": [0.8, 0.2]})
    >>> whole.merge(fm.Accumulator.from_bytes(part.to_bytes())).result()["auc"]
    0.5

    """

    @answers_unknown
    def __init__(
        self,
        metrics: Metrics | Evaluation | None = None,
        *,
        label: ColumnName | Sequence[ColumnName] | None = None,
        score: ColumnName | Sequence[ColumnName] | None = None,
        group: ColumnName | Sequence[ColumnName] | None = None,
        weight: ColumnName | None = None,
        where: object = None,
        min_rows: int = 0,
        by: ColumnName | Sequence[ColumnName] | Sequence[Sequence[ColumnName]] | None = None,
        on_invalid: OnInvalid = "raise",
        n_threads: int | None = None,
        memory_limit: int | str | None = None,
        spill_dir: str | os.PathLike[str] | None = None,
        approximate: bool = False,
        state_size: int | str = "4MiB",
        ci: float | None = None,
        ci_method: IntervalMethod | None = None,
        replicates: int | None = None,
        seed: int | None = None,
        unit: ColumnName | Sequence[ColumnName] | None = None,
        item: ColumnName | None = None,
        treatment: ColumnName | None = None,
        propensity: ColumnName | None = None,
        prediction: ColumnName | Sequence[ColumnName] | None = None,
        probabilities: ColumnName | Sequence[ColumnName] | Sequence[Sequence[ColumnName]] | None = None,
        roles: Mapping[str, ColumnName] | None = None,
        tasks: Mapping[str, Task] | None = None,
        time_zone: str | None = None,
        truth_columns: Mapping[str, ColumnName] | None = None,
    ) -> None:
        question = question_of_call(Accumulator.__init__, locals())
        self.evaluation = question
        self.n_threads = n_threads
        self.memory_limit = memory_limit
        self.spill_dir = spill_dir
        budget = make_memory_budget(memory_limit, spill_dir, count_threads(n_threads))
        planned = question.plan_for(ACCUMULATOR)
        for task in planned if question.approximate else ():
            with name_task_in_errors(task.name):
                check_approximate(task)
        n_bins = count_bins(question.state_size) if question.approximate else 0
        self._state = PartialState(planned, StateOptions(question.on_invalid, budget, is_merged=True, n_bins=n_bins))

    def __repr__(self) -> str:
        metrics = ", ".join(dict.fromkeys(str(metric) for task in self._state.tasks for metric in task.plan.metrics))
        kind = "approximate, " if self.evaluation.approximate else ""
        return f"Accumulator({metrics}; {kind}{self.rows:,} rows)"

    @property
    def rows(self) -> int:
        """Rows taken in so far, the dropped ones included."""
        return self._state.rows

    @answers_unknown
    def update(
        self,
        batch: Log,
        table: Literal["log", "truth"] = "log",
        *,
        filesystem: object = None,
        storage_options: Mapping[str, str] | None = None,
        version: int | str | None = None,
        timestamp: str | datetime | None = None,
        format: Format | None = None,  # noqa: A002
        format_options: Mapping[str, Any] | None = None,
        missing_columns: MissingColumns = "raise",
    ) -> None:
        """Take in rows. If they are refused, the accumulator is unchanged.

        Parameters
        ----------
        batch : Arrow data, data frame, dict of arrays or path
            Anything that `evaluate` reads, with the columns named. Column types have to stay the same from batch to
            batch.
        table : {"log", "truth"}
            Whose rows they are: of the log, or of the truth table that the question has `truth_columns` of. Both may
            come in any order.
        filesystem, storage_options, version, timestamp, format, format_options : optional
            How a batch of paths is read: as for `evaluate`.
        missing_columns : {"raise", "null"}
            As for `evaluate`. A column that no file of the batch has is an error also with ``"null"``.

        Raises
        ------
        ValueError
            As `evaluate`; rows are counted from the beginning of the batch.
        TypeError
            A column whose type differs from that of earlier batches. Keys that are integers or decimals may differ, if
            the earlier type holds them exactly.
        OverflowError
            More than 2**63 - 1 rows in all.
        """
        options = InputOptions.of_call(locals(), self.evaluation.time_zone)
        check_option(table, "table", TABLES)
        take_in = update_truth if table == "truth" else update_state
        take_in(self._state, batch, options, count_threads(self.n_threads))

    def flush(self) -> None:
        """Move waiting rows to where they are kept. It is never needed: `result`, `save` and `to_bytes` do it."""
        self._state.flush(count_threads(self.n_threads))

    @answers_unknown
    def merge(self, other: Accumulator) -> Accumulator:
        """Take in all rows of another accumulator, which stays as it is.

        Returns
        -------
        Accumulator
            This one.

        Raises
        ------
        TypeError
            Not an accumulator, or one whose columns have other types.
        ValueError
            Other metrics, columns or options; rows that are in both: of a copy, or of a state that was merged before.
        OverflowError
            More than 2**63 - 1 rows in all.
        """
        if not isinstance(other, Accumulator):
            raise TypeError(f"an Accumulator merges with another one; found {type(other).__name__}")
        check_same_question(self.evaluation, other.evaluation)
        self.flush()
        other.flush()
        self._state.merge(other._state)
        return self

    def copy(self) -> Accumulator:
        """An accumulator of the same rows; blocks of rows are shared, for they never change."""
        self.flush()
        new = object.__new__(Accumulator)
        new.__dict__.update(self.__dict__ | {"_state": self._state.copy()})
        return new

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Accumulator:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (self.to_bytes(), self.n_threads, self.memory_limit, self.spill_dir)

    def result(self) -> Report:
        """The metrics of all rows so far; more rows may follow.

        Returns
        -------
        Report
            Equal to that of `evaluate` over the same rows.

        Raises
        ------
        ValueError
            No rows were taken in, or all were dropped.
        """
        started = time.perf_counter()
        self._state.settle(count_threads(self.n_threads))
        check_rows(self._state)
        resolved = []
        for task, state in zip(self._state.tasks, self._state.states, strict=True):
            with name_task_in_errors(task.name):
                parts = [self._resolve_part(part, task.resampling) for part in state.parts]
            resolved.append(ResolvedTask(task, state, parts))
        return make_report(resolved, time.perf_counter() - started, self.evaluation)

    def _resolve_part(self, part: PartState, resampling: Resampling | None) -> ResolvedPart:
        """The final states of a part of the plan, with intervals if they were asked for."""
        if self.evaluation.approximate:
            return ResolvedPart(part, FinalStates(merge_slices(part)), bounds=part.bounds())
        n_threads = count_threads(self.n_threads)
        with part.flushed(n_threads):
            return resolve_part(part, resampling, n_threads, None, last=False)

    @answers_unknown
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, for `load`.

        A file of that name stays as it is until the new one is complete, whatever happens. Rows are written as they are
        kept, without a copy of all: docs/internals/state-files.md has the layout.

        Parameters
        ----------
        path : str or Path
            The file.

        Raises
        ------
        TypeError
            The filter is an expression of pyarrow or polars: files hold filters in SQL.
        OSError
            The file cannot be written, such as in a folder that is not there, or on a full disk.
        """
        from fastmetrics._core.results.output_files import complete_or_nothing
        from fastmetrics.engine.partial.files.containers import path_of_state

        with complete_or_nothing(path_of_state(path)) as temporary, temporary.open("wb") as file:
            self._write(file)

    @classmethod
    @answers_unknown
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        n_threads: int | None = None,
        memory_limit: int | str | None = None,
        spill_dir: str | os.PathLike[str] | None = None,
    ) -> Accumulator:
        """The state that `save` wrote.

        Rows that take more than a sixteenth of `memory_limit` stay in the file, which stays open. They are read when
        they are needed, range by range: so many files are merged without a copy. The file may be renamed, replaced or
        deleted meanwhile; one that somebody has written to is an error. Rows of slices are read at once, and spilled if
        they do not fit the limit.

        Parameters
        ----------
        path : str or Path
            The file; or a file of the bytes that `to_bytes` returned.
        n_threads, memory_limit, spill_dir : optional
            As for the class.

        Raises
        ------
        ValueError
            Not a state, a damaged one, or one of another format than this version of the library reads.
        OSError
            The file cannot be read.
        """
        from fastmetrics.engine.partial.files.containers import StateError, open_state

        with open_state(path) as file:
            try:
                return cls._read(file, n_threads, memory_limit, spill_dir)
            except StateError as error:
                raise StateError(f"{os.fspath(path)}: {error}") from error

    def to_bytes(self) -> bytes:
        """The state for another process: what `save` writes, as bytes.

        Returns
        -------
        bytes
            `from_bytes` of every version of the library with the same format reads them, on any machine, with the same
            result; another version is an error that names both.

        Raises
        ------
        TypeError
            The filter is an expression of pyarrow or polars: bytes hold filters in SQL.
        """
        file = BytesIO()
        self._write(file)
        return file.getvalue()

    @classmethod
    @answers_unknown
    def from_bytes(
        cls,
        data: bytes,
        *,
        n_threads: int | None = None,
        memory_limit: int | str | None = None,
        spill_dir: str | os.PathLike[str] | None = None,
    ) -> Accumulator:
        """The state that `to_bytes` wrote.

        Parameters
        ----------
        data : bytes
            Also a bytearray or memoryview; the content of a file that `save` wrote.
        n_threads, memory_limit, spill_dir : optional
            As for the class.

        Raises
        ------
        ValueError
            Not a state, a damaged one, or one of another format than this version of the library reads.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"a state is bytes, as to_bytes gives them; found {type(data).__name__}")
        return cls._read(BytesIO(data), n_threads, memory_limit, spill_dir)

    def _write(self, file: BinaryIO) -> None:
        from fastmetrics.engine.partial.files.writing import write_states

        self.flush()
        write_states(file, self._state, self.evaluation, count_threads(self.n_threads))

    @classmethod
    def _read(
        cls,
        file: BinaryIO,
        n_threads: int | None,
        memory_limit: int | str | None,
        spill_dir: str | os.PathLike[str] | None,
    ) -> Accumulator:
        from fastmetrics.engine.partial.files.containers import StateReader
        from fastmetrics.engine.partial.files.reading import fill_states

        reader = StateReader(file, count_threads(n_threads))
        question = reader.question(ACCUMULATOR)
        new = cls(question, n_threads=n_threads, memory_limit=memory_limit, spill_dir=spill_dir)
        fill_states(new._state, reader)
        return new


def restore(
    data: bytes, n_threads: int | None, memory_limit: int | str | None, spill_dir: str | os.PathLike[str] | None
) -> Accumulator:
    """Unpickle an accumulator."""
    return Accumulator.from_bytes(data, n_threads=n_threads, memory_limit=memory_limit, spill_dir=spill_dir)
