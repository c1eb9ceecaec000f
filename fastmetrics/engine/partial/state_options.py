"""What a partial state has to know about the run, beside its question."""

from __future__ import annotations

from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.named_tuples import NamedTuple


class StateOptions(NamedTuple):
    """Options of a partial state, which are the same in all of its parts.

    Attributes
    ----------
    on_invalid : str
        "raise" or "drop".
    budget : MemoryBudget or None
        Blocks of rows and tables beyond it are spilled.
    expected_rows : int or None
        How many rows will come, if that is known.
    by_unit : bool
        The rows are only needed for intervals, so states by unit bucket may take their place.
    is_merged : bool
        The state is merged with others, and may be updated again. Partitions are the same, whatever the budget; the
        types of columns are part of it; and few rows wait for more of them.
    n_bins : int
        The bins of a histogram of scores in an approximate state; 0 if the state is exact.
    """

    on_invalid: str
    budget: MemoryBudget | None = None
    expected_rows: int | None = None
    by_unit: bool = False
    is_merged: bool = False
    n_bins: int = 0
