"""The same question on an engine that moves rows itself: rounds of pure steps on partial states. Provisional.

`Evaluation.plan(targets=...)` gives a `DistributedPlan`. Workers turn the rows of their sources into states, which
tell the driver a little (`summary`); the driver decides (`decide`) where rows move; states are cut into pieces, which
the engine moves to their targets, and `combine` makes states of them again. `fastmetrics.spark`, `fastmetrics.ray`,
`fastmetrics.dask` and `fastmetrics.distributed.processes` are such engines. An entry point beside the command line: it
may import the engine, and only those import it. Read `plan` first, then `runner`.
"""

from fastmetrics._core.suggestions import list_public
from fastmetrics.distributed.decisions import Decision
from fastmetrics.distributed.plan import DistributedPlan
from fastmetrics.distributed.source_state import SourceState
from fastmetrics.distributed.target_state import TargetState

__all__ = ["Decision", "DistributedPlan", "SourceState", "TargetState"]
__dir__ = list_public(globals())
