"""The entry point for training loops: metrics of arrays that come batch by batch, in one process or in several."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.kinds import MODEL_ROLES
from fastmetrics._core.registry import Metrics, list_metrics_of, parse
from fastmetrics.engine.accumulator import Accumulator
from fastmetrics.engine.evaluation.options import OPTIONS
from fastmetrics.engine.evaluation.options.option import COLUMN, COLUMNS, MODELS
from fastmetrics.engine.results.report import Report

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, KeysLike, NumericArrayLike

__all__ = ["TrainingMetrics"]

STATE_KEY = "state"
# Roles that are options of a question; any other stands in its `roles`.
USUAL_ROLES = {own.name for own in OPTIONS if own.kind in (COLUMN, COLUMNS, MODELS)}


class TrainingMetrics:
    """Metrics of a training or validation loop: `update` with arrays, `result`, `reset`.

    It needs no torch. The values are exact and do not depend on the size
    or order of batches, nor on how rows are divided among processes: they equal those of one `evaluate` over all rows.
    Each process (rank) updates its own object; `to_bytes` of one merges into another.

    An object can be pickled and copied. Two threads must not use it at the same time.

    Parameters
    ----------
    metrics : sequence of str, or str
        Metric strings such as "auc", "gauc(weight=pairs)". A single string is split at commas. `list_metrics` lists
        them all.
    approximate : bool
        Keep scores in histograms over their ordered bits, of at most `state_size` for every label, score and slice. The
        value of a metric of global order is then the midpoint of `Result.interval`, which contains the exact value.
        Metrics without an exchange stay exact. Group metrics, and weights with metrics of global order, are errors.
    state_size : int or str
        Bytes, or text such as "4MiB", for the histogram of an approximate state. Larger states give narrower intervals.
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

    Examples
    --------
    >>> import fastmetrics as fm
    >>> metrics = fm.TrainingMetrics("auc,gauc")
    >>> metrics.update(label=[1, 0, 1], score=[0.9, 0.3, 0.4], group=["ann", "ann", "bob"])
    >>> metrics.update(label=[0, 1], score=[0.6, 0.8], group=["bob", "ann"])
    >>> {name: round(value, 4) for name, value in dict(metrics.result()).items()}
    {'auc': 0.8333, 'gauc': 0.6}

    Another process sends the bytes of its state:

    >>> other = fm.TrainingMetrics("auc,gauc")
    >>> other.update(label=[0, 1], score=[0.2, 0.7], group=["cid", "cid"])
    >>> metrics.merge(other.to_bytes()).rows
    7
    """

    @answers_unknown
    def __init__(
        self,
        metrics: Metrics | None = None,
        *,
        approximate: bool = False,
        state_size: int | str = "4MiB",
        n_threads: int | None = None,
        memory_limit: int | str | None = None,
        spill_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        # A wrong name is an error here, not in the first epoch. Forms depend on the arrays that come.
        self._metrics = None if metrics is None else list_metrics_of(metrics)
        for metric in self._metrics or ():
            parse(metric, MODEL_ROLES)
        self._question: dict[str, Any] = {"approximate": approximate, "state_size": state_size}
        self._run: dict[str, Any] = {"n_threads": n_threads, "memory_limit": memory_limit, "spill_dir": spill_dir}
        self._rows: Accumulator | None = None
        self._roles: list[str] = []  # of every batch, if there are rows

    def __repr__(self) -> str:
        return f"TrainingMetrics({self._metrics!r}; {self.rows:,} rows)"

    @property
    def rows(self) -> int:
        """Rows since the last `reset`, those that were merged included."""
        return 0 if self._rows is None else self._rows.rows

    @answers_unknown
    def update(
        self,
        *,
        label: ArrayLike | None = None,
        score: NumericArrayLike | None = None,
        group: KeysLike | None = None,
        weight: NumericArrayLike | None = None,
        prediction: ArrayLike | None = None,
        probabilities: NumericArrayLike | None = None,
        item: ArrayLike | None = None,
        roles: Mapping[str, Any] | None = None,
    ) -> None:
        """Take in the rows of a batch. If they are refused, the object is unchanged.

        Parameters
        ----------
        label : array-like of shape (n,)
            Labels: 0 and 1, or what else the metrics read.
        score : array-like of shape (n,), optional
            Scores, or probabilities of class 1.
        group : array-like of shape (n,), optional
            Keys of users or queries, for metrics inside groups.
        weight : array-like of shape (n,), optional
            Weights of rows.
        prediction : array-like of shape (n,), optional
            Predicted labels.
        probabilities : array-like of shape (n, n_classes), optional
            The probability of every class.
        item : array-like of shape (n,), optional
            Keys of items.
        roles : dict of str and array-like, optional
            Values of any other role.

        Raises
        ------
        ValueError
            Bad values, named with their row in the batch; an array that a metric needs is missing; other arrays than in
            the batch before.
        TypeError
            Values whose type differs from that of earlier batches.
        """
        given = {
            "label": label, "score": score, "group": group, "weight": weight, "prediction": prediction,
            "probabilities": probabilities, "item": item,
        }  # fmt: skip
        columns = {role: values for role, values in given.items() if values is not None}
        for role in columns.keys() & (roles or {}).keys():
            raise ValueError(f"{role} is given twice: as {role}=, and in roles=")
        columns |= dict(roles or {})
        names = sorted(columns)
        if self._rows is not None and names != self._roles:
            before, now = ", ".join(self._roles), ", ".join(names)
            raise ValueError(f"every batch has the same arrays: {before} before, {now} now")
        rows = self._make_accumulator(names) if self._rows is None else self._rows
        rows.update(columns)
        self._rows, self._roles = rows, names

    def _make_accumulator(self, columns: Iterable[str]) -> Accumulator:
        """An accumulator whose columns have the names of their roles."""
        usual: dict[str, Any] = {role: role for role in columns if role in USUAL_ROLES}
        others = {role: role for role in columns if role not in USUAL_ROLES}
        return Accumulator(self._metrics, **self._question, **self._run, **usual, roles=others or None)

    def result(self) -> Report:
        """The values over all rows since the last `reset`; more rows may follow.

        Returns
        -------
        Report
            Equal to that of `evaluate` over the same rows; ``dict(...)`` of it has the value of every metric.

        Raises
        ------
        ValueError
            No rows were taken in.
        """
        if self._rows is None:
            raise ValueError("there are no rows yet: call update(label=..., score=...) first")
        return self._rows.result()

    def reset(self) -> None:
        """Forget all rows: the beginning of an epoch. The next batch may have other arrays."""
        self._rows = None

    @answers_unknown
    def merge(self, other: TrainingMetrics | bytes) -> TrainingMetrics:
        """Take in all rows of another object, or of the bytes of one. The order of merges does not matter.

        Parameters
        ----------
        other : TrainingMetrics or bytes
            It stays as it is. Without rows it changes nothing.

        Returns
        -------
        TrainingMetrics
            This one.

        Raises
        ------
        TypeError
            Neither of the two, or arrays of other types.
        ValueError
            Other metrics, arrays or options; bytes that are damaged or no state.
        """
        if isinstance(other, TrainingMetrics):
            rows = other._rows
        elif isinstance(other, bytes | bytearray | memoryview):
            rows = self._read(bytes(other))
        else:
            raise TypeError(f"TrainingMetrics merge with another one or its bytes; found {type(other).__name__}")
        if rows is None:
            return self
        if self._rows is None:
            self._adopt(rows)
        else:
            self._rows.merge(rows)
        return self

    def _read(self, data: bytes) -> Accumulator | None:
        return Accumulator.from_bytes(data, **self._run) if data else None

    def _adopt(self, rows: Accumulator) -> None:
        """Take the rows of another process in place of all own ones: its metrics and options have to be ours."""
        roles = sorted([*(USUAL_ROLES & rows.evaluation.options().keys()), *(rows.evaluation.roles or ())])
        self._rows, self._roles = self._make_accumulator(roles).merge(rows), roles

    def to_bytes(self) -> bytes:
        """The state for another process, to `merge` there; empty without rows.

        Returns
        -------
        bytes
            This and every later version of the library reads them, on any machine.
        """
        return b"" if self._rows is None else self._rows.to_bytes()

    def state_dict(self) -> dict[str, bytes]:
        """The state for a checkpoint: a dict of bytes, which pickle and ``torch.save`` write.

        Returns
        -------
        dict of str and bytes
        """
        return {STATE_KEY: self.to_bytes()}

    @answers_unknown
    def load_state_dict(self, state: Mapping[str, bytes]) -> None:
        """Go on from a checkpoint: the rows are those of `state_dict` and no others.

        Parameters
        ----------
        state : dict of str and bytes
            What `state_dict` returned.

        Raises
        ------
        ValueError
            Not such a dict, or one of other metrics or options.
        """
        if STATE_KEY not in state:
            raise ValueError(f"state is what state_dict() returned, a dict with {STATE_KEY!r}; found {sorted(state)}")
        rows = self._read(state[STATE_KEY])
        if rows is None:
            self.reset()
        else:
            self._adopt(rows)
