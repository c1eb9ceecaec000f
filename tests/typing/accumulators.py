"""Types of `Accumulator`, as a type checker reveals them. Read by mypy, never run."""

import copy
from typing import reveal_type

import numpy as np

import fastmetrics as fm

state = fm.Accumulator(
    ["auc", "gauc(weight=pairs)"],
    label="click",
    score=["old", "new"],
    group="user_id",
    weight="weight",
    by=["country"],
    on_invalid="drop",
    n_threads=2,
)
reveal_type(state)  # reveals: Accumulator
bounded = fm.Accumulator("auc, ks", label="y", score="p", approximate=True, state_size="1MiB")
reveal_type(bounded)  # reveals: Accumulator

state.update({"click": np.array([0, 1]), "pctr": [0.1, 0.9]})
revealed: list[object] = [
    reveal_type(state.merge(state.copy())),  # reveals: Accumulator
    reveal_type(copy.deepcopy(state)),  # reveals: Accumulator
    reveal_type(state.to_bytes()),  # reveals: bytes
    reveal_type(fm.Accumulator.from_bytes(state.to_bytes(), n_threads=1)),  # reveals: Accumulator
    reveal_type(fm.Accumulator.load("day.state", memory_limit="1GiB")),  # reveals: Accumulator
    reveal_type(fm.Accumulator("bleu")),  # reveals: Accumulator
    reveal_type(fm.Accumulator(fm.Evaluation("bleu"), memory_limit="1GiB")),  # reveals: Accumulator
    reveal_type(fm.Evaluation("auc", label="y", score="p").replace(seed=1)),  # reveals: Evaluation
    reveal_type(state.rows),  # reveals: int
    reveal_type(state.result()),  # reveals: Report
    reveal_type(state.result().result("auc").interval),  # reveals: tuple[float, float] | None
]

# Wrong uses are errors: under --strict an ignore that nothing needs is itself an error.
fm.Accumulator([1])  # type: ignore[list-item]
fm.Accumulator(["auc"], label="y", score=0.5)  # type: ignore[arg-type]
fm.Accumulator(["auc"], label="y", score="p", state_size=4.0)  # type: ignore[arg-type]
state.merge(state.to_bytes())  # type: ignore[arg-type]
state.rows = 3  # type: ignore[misc]
task = fm.Task(label="click", score=["old", "new"], where="country = 'DE'")
reveal_type(fm.Accumulator("auc", tasks={"germany": task}))  # reveals: Accumulator
