"""The slices of two logs that are compared: each slice of the second log has that of the first beside it.

Both logs are read as one, with the number of the log as a further column of slices. So a unit that is in both has its
rows in both slices, and leaving it out leaves out all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.partial.slices_and_rests import PairedSlices
from fastmetrics.engine.plan.column_names import LOG_COLUMN

BEFORE, AFTER = 0, 1  # the numbers of the logs


def add_log_column(by: Any) -> tuple[tuple[str, ...], ...]:
    """The grouping sets of `by`, in its canonical form, by log: those of all rows come first."""
    sets: tuple[tuple[str, ...], ...] = ()
    if by:
        is_sets = isinstance(by, tuple) and isinstance(by[0], tuple)
        sets = by if is_sets else ((by,) if isinstance(by, str) else tuple(by),)
    return ((LOG_COLUMN,), *((*own, LOG_COLUMN) for own in sets if own))


class SlicesOfLogs(PairedSlices):
    """The slices of a scan of two logs that is over.

    Attributes
    ----------
    logs : tuple of str
        What the logs are called.
    relation : str
        Whether their units are independent, for the description of tests.
    is_paired : bool
        Are units in both?
    before : dict
        The slice of the first log by that of the second.
    whole : dict
        The slice of all rows of each log, by its number.
    n_alone : int
        Slices that one log has alone.
    """

    def __init__(self, slices: GroupingSets, names: tuple[str, str]) -> None:
        self.__dict__.update(slices.__dict__)
        self.logs, self.relation, self.is_paired = names, "", False
        of_logs: dict[Any, dict[int, int]] = {}
        for number, values in slices.in_order():
            if number is not None:
                log = values.pop(LOG_COLUMN)
                of_logs.setdefault(tuple(values.items()), {})[log] = number
        self.before = {own[AFTER]: own[BEFORE] for own in of_logs.values() if len(own) > 1}
        self.after = {first: number for number, first in self.before.items()}
        self.whole = of_logs.get((), {})
        self.n_alone = sum(len(own) == 1 for own in of_logs.values())

    def slice_of(self, number: int | None) -> int | None:
        return None if number is None else number if number in self.before else self.after.get(number)

    def log_of_set(self, local: int) -> int:
        """The log of a slice of the first set, which is by log alone."""
        return next(log for log, number in self.whole.items() if number == self.sets[0].numbers[local])

    def select(self, slices: Iterable[tuple[int | None, dict[str, Any]]]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Of some slices in order those of the second log, without the log, if that of the first is there too."""
        kept = {number: values for number, values in slices if number is not None}
        for number, values in kept.items():
            if number in self.before and self.before[number] in kept:
                yield number, {name: value for name, value in values.items() if name != LOG_COLUMN}

    def name_logs(self, score: str, has_several: bool) -> tuple[str, str]:
        """What the values of a score in both logs are called."""
        before, after = (f"{score} {name}" if has_several else name for name in self.logs)
        return before, after

    def notes(self, row_count: Callable[[int], Any]) -> Iterator[str]:
        rows = [f"{name} {row_count(self.whole[number]).rows:,}" for number, name in enumerate(self.logs)]
        yield f"rows of the logs: {', '.join(rows)}"
        if self.relation:
            yield f"the logs are {self.relation}"
        if self.n_alone:
            yield f"slices that only one of the logs has are left out: {self.n_alone:,}"
