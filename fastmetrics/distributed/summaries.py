"""What states tell the driver: counts of rows, states by slice values, samples of scores, errors in the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from fastmetrics._core.columns.validation import InputError
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.resampling.resampling_units import UnitCounter
from fastmetrics.distributed.decisions import Decision, RangeTotals, Sample
from fastmetrics.engine.input.slice_values import SliceValues
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.row_counts import RowCounts
from fastmetrics.engine.partial.slice_counts import RowCount

# Errors of the data are returned in summaries: an engine would repeat a step that raises, which does not help.
DATA_ERRORS = (InputError, ValueError, TypeError, OverflowError, OSError)

# A statistic, the number of an output (in a range: of a label), and the values of a slice (None: all rows).
SliceStateKey = tuple[Any, int, SliceValues | None]
# The first error in the data: the number of its source, that of its class in DATA_ERRORS, and its text.
DataError = tuple[int, int, str]
Serialize = Callable[[Any], bytes]
NO_STATES: dict[SliceStateKey, Any] = {}


class RangeStates(NamedTuple):
    """The states of a range of a score column, or of the whole column; keys have the number of a label.

    `replicates` and `entries` are those of `IntervalStates`.
    """

    column: int
    number: int
    states: dict[SliceStateKey, Any]
    replicates: dict[SliceStateKey, Any]
    entries: dict[SliceStateKey, Any]


class PartSummary(NamedTuple):
    """What a state tells of a part of a task's plan; all but the numbers of both may be missing.

    Attributes
    ----------
    key : (int, int)
        The numbers of the task and the part.
    slices : list of SliceValues
        The slices that rows are in. Sources number them differently, so they are known by their values.
    counts, slice_counts : RowCounts or None, and dict
        The rows of a source, and those of every slice.
    types, float_keys, class_forms
        The types of its columns, and what `ColumnReader` found in them.
    states : dict
        Those of statistics by output and slice.
    replicates, entries : dict
        Those of `IntervalStates`.
    samples : list of Sample
        Some scores of every score column.
    units : UnitCounter or None
        The resampling units of a task, in its first part.
    ranges : list of RangeStates
    totals : RangeTotals or None
        Those of ranges, before their states are made.
    """

    key: tuple[int, int]
    slices: Sequence[SliceValues] = ()
    counts: RowCounts | None = None
    slice_counts: Mapping[SliceValues | None, RowCount] = {}
    types: tuple[str, ...] | None = None
    float_keys: frozenset[str] = frozenset()
    class_forms: frozenset[tuple[str, str]] = frozenset()
    states: dict[SliceStateKey, Any] = NO_STATES
    replicates: dict[SliceStateKey, Any] = NO_STATES
    entries: dict[SliceStateKey, Any] = NO_STATES
    samples: Sequence[Sample] = ()
    units: UnitCounter | None = None
    ranges: Sequence[RangeStates] = ()
    totals: RangeTotals | None = None


class Summary(NamedTuple):
    """What the state of a source, or of a target, tells the driver in a round.

    Attributes
    ----------
    round, number, attempt : int
        `number` is that of the source or the target.
    rows : tuple of int
        The rows of the log that a source has read, and those of it and of truth that it has kept for each task.
    error : DataError or None
    parts : list of PartSummary
    decision : Decision or None
        What was decided before, of the first target.
    """

    round: int
    number: int
    attempt: int
    rows: tuple[int, ...]
    error: DataError | None
    parts: Sequence[PartSummary]
    decision: Decision | None = None


class KeptError:
    """The first error in the data that a state has met."""

    def __init__(self) -> None:
        self.found: DataError | None = None

    @contextmanager
    def keep(self, source: int, place: str = "") -> Iterator[bool]:
        """Keep an error that is raised; its text ends with the place. The context tells if there was none before."""
        try:
            yield self.found is None
        except DATA_ERRORS as error:
            number = next(number for number, own in enumerate(DATA_ERRORS) if isinstance(error, own))
            self.found = self.found or (source, number, f"{error}{place}")


def key_by_slice_values(part: PartState, states: Mapping[Any, Any]) -> dict[SliceStateKey, Any]:
    """States by the values of slices in place of their numbers."""
    values = part.slices.values()
    return {
        (statistic, output, None if slice_number is None else values[slice_number]): state
        for (statistic, output, slice_number), state in states.items()
    }
