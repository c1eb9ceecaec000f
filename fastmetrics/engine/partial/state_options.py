"""What a partial state has to know about the run, beside its question; which questions have a state that merges."""

from __future__ import annotations

from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.score_statistics.score_histogram import BIN_BYTES
from fastmetrics._core.statistic import Bounded
from fastmetrics.engine.plan.tasks import PlannedTask

# Of a state of at least so many bytes, a 64th is left for everything beside its bins.
LARGE_STATE = 1 << 16
OTHER_SHARE = 64


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
    keeps_sample : bool
        With `by_unit`, the rows of a sample of units are kept nevertheless: those of which models win some units.
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
    keeps_sample: bool = False


def count_bins(state_size: int) -> int:
    """Bins of an approximate state's histogram."""
    return (state_size - (state_size // OTHER_SHARE if state_size >= LARGE_STATE else 0)) // BIN_BYTES


def check_approximate(task: PlannedTask) -> None:
    """Refuse intervals, which need rows, and metrics that have no approximate state."""
    plan = task.plan
    if task.resampling is not None:
        raise ValueError("approximate=True keeps no rows to resample; leave out ci=, or approximate=")
    if plan.needs("hash"):
        metric = plan.first_metric("hash")
        raise ValueError(f"approximate=True: metric {metric!r} is computed inside groups and needs every row")
    if task.names.weight is not None and plan.needs("range"):
        metric = plan.first_metric("range")
        raise ValueError(f"approximate=True: metric {metric!r} has no certified interval for weighted rows")
    for metric in plan.metrics:
        if metric.spec.exchange == "range" and not all(isinstance(own, Bounded) for own in metric.statistics()):
            raise ValueError(f"approximate=True: metric {metric!r} has no certified interval")
