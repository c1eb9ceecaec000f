"""Which kernels a call runs: the calls in the tables of docs/internals/paths.md, traced or timed.

    python tests/support/kernel_paths.py            print the kernels of every call as JSON
    python tests/support/kernel_paths.py --time     print the time of every call, best of several

Kernels are wrapped in their modules before any other module of the package is imported, so that every caller gets the
wrapped function. Compiled code that calls compiled code is not seen; a table names the functions that Python calls.
"""

import json
import re
import sys
import time
import warnings
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from inspect import isbuiltin
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs" / "internals" / "paths.md"
# Every path reads columns and sums exactly.
NOT_LISTED = ("columns.", "numeric.")
# Sizes.
HELPERS = ("n_scratch_words", "pivot_table_cells", "widest_registers", "buckets_by_slice")
# Kernels that may decline their columns. They are listed where they answer.
DECLINING = {
    "short_curves.roc_auc", "short_curves.sum_precisions", "short_curves.ks_distance", "short_curves.equal_error_rate",
    "short_losses.sum_terms", "label_counts.small_matrix", "label_counts.small_counts", "label_counts.count_binary",
}  # fmt: skip


def rows_of_page() -> list[tuple[str, set[str]]]:
    """The call of every row, and the kernels that the row names."""
    page = PAGE.read_text(encoding="utf-8")
    step_rows = re.findall(r"^\| \*\*([^*]+)\*\* \| ([^|]*) \|", page, re.MULTILINE)
    steps = {step: quoted_names(kernels) for step, kernels in step_rows}
    return [
        (call, quoted_names(kernels).union(*(steps[step] for step in re.findall(r"\*\*([^*]+)\*\*", kernels))))
        for call, kernels in re.findall(r"^\| [^|*]+ \| `([^`]+)` \| ([^|]*) \|", page, re.MULTILINE)
    ]


def quoted_names(cell: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", cell))


def wrap_kernels(called: set[str]) -> None:
    """Let every function of a kernel module, and every method of its classes, add its name to `called`."""
    import fastmetrics._kernels as kernels

    def recording(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def record(*args: Any, **options: Any) -> Any:
            result = function(*args, **options)
            if name not in DECLINING or (result is not None and result != -1):
                called.add(name)
            return result

        return record

    def recording_class(name: str, own: type) -> type:
        recorded = {
            key: recording(f"{name}.{key}", value)
            for key, value in vars(own).items()
            if callable(value) and not key.startswith("_") and key not in HELPERS
        }
        return type(own.__name__, (own,), recorded) if recorded else own

    # All are imported first: a kernel looks up the classes of others when it is imported.
    modules = [import_module(found.name) for found in walk_packages(kernels.__path__, kernels.__name__ + ".")]
    for module in modules:
        name_below = module.__name__.removeprefix(kernels.__name__ + ".")
        if name_below.startswith(NOT_LISTED):
            continue
        for name, value in list(vars(module).items()):
            # A fused function has a type of Cython's own.
            is_function = isbuiltin(value) or "cython_function" in type(value).__name__
            full_name = f"{name_below.rpartition('.')[2]}.{name}"
            if is_function and value.__module__ == module.__name__ and name not in HELPERS:
                setattr(module, name, recording(full_name, value))
            if isinstance(value, type) and value.__module__ == module.__name__:
                setattr(module, name, recording_class(full_name, value))


def namespace() -> dict[str, Any]:
    """The names that the calls use; the page describes them."""
    import numpy as np
    import pyarrow as pa

    import fastmetrics as fm

    rng = np.random.default_rng(7)
    rows = 200_000
    y, s, w = rng.integers(0, 2, rows), rng.random(rows, np.float32), rng.integers(1, 9, rows) / 4
    u, t, p = rng.integers(0, 10_000, rows), rng.integers(0, 3, rows), rng.integers(0, 3, rows)
    d, log = s.astype(float), pa.table({"y": y, "s": s, "w": w, "u": u, "v": np.arange(rows), "t": t})
    few = log[:5000]
    columns = {"label": "y", "score": "s"}

    def evaluate(metric: str, data: Any = log, **options: Any) -> Any:
        return fm.evaluate(data, metric, **columns, **options)

    def accumulate(metric: str, **options: Any) -> Any:
        whole, half = (fm.Accumulator(metric, **columns, **options) for _ in range(2))
        whole.update(log[: rows // 2])
        half.update(log[rows // 2 :])
        return whole.merge(half).result()

    def spark(metric: str, **options: Any) -> Any:
        return run_tasks(log, metric, **columns, **options)

    def matrix(array: Any) -> Any:
        return array.reshape(-1, 10)

    own = {key: value for key, value in locals().items() if key not in ("fm", "pa", "rng", "rows", "columns", "np")}
    return {**own, "np": np, **{name: getattr(fm, name) for name in fm.__all__ if name not in own}}


def run_tasks(log: Any, metric: str, label: str, score: str, group: str | None = None) -> Any:
    """What Spark runs: the steps of a plan for two partitions of rows."""
    import fastmetrics as fm

    plan = fm.Evaluation(metric, label=label, score=score, group=group).plan(targets=2)
    states, decision = [plan.partial(number) for number in range(2)], plan.first
    for number, state in enumerate(states):
        state.update(log[number * len(log) // 2 : (number + 1) * len(log) // 2])
    while True:
        summaries = [state.summary(decision) for state in states]
        decision = plan.decide(summaries)
        if decision.is_final:
            return plan.resolve(summaries)[0].parts[0].states
        if decision.moves_rows:
            pieces = [piece for state in states for piece in state.pieces(decision)]
            states = list(plan.combine_targets(pieces, decision))


def trace() -> dict[str, list[str]]:
    called: set[str] = set()
    wrap_kernels(called)
    names, found = namespace(), {}
    for call, _ in rows_of_page():
        called.clear()
        eval(call, names)
        found[call] = sorted(called)
    return found


def print_times() -> None:
    names = namespace()
    for call, _ in rows_of_page():
        compiled, best, end = compile(call, PAGE.name, "eval"), float("inf"), time.perf_counter() + 0.5
        while time.perf_counter() < end:
            start = time.perf_counter()
            eval(compiled, names)
            best = min(best, time.perf_counter() - start)
        print(f"{best * 1e6:12,.1f} us  {call}")


if __name__ == "__main__":
    warnings.simplefilter("error")
    if "--time" in sys.argv:
        print_times()
    else:
        print(json.dumps(trace(), indent=1))
