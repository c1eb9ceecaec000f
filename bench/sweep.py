"""Every function that scikit-learn has too, beside it: types, weights, numbers of rows, of columns and of classes.

A cell is one call of both libraries with the same arguments and default options. Their answers are compared first. Then
they take turns, and the ratio is the median of the pairs: above 1, fastmetrics is faster.
"""

import argparse
import json
import math
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from sklearn import metrics as scikit_learn

import fastmetrics
from bench.machine import describe_machine

SIZES = (1, 100, 1_000, 10_000, 100_000, 1_000_000)
COLUMNS = (2, 10, 100, 1_000)
MOST_VALUES = 10_000_000
DTYPES = ("int8", "int32", "int64", "bool", "float16", "float32", "float64")
CONTAINERS = ("object", "str", "list", "pandas", "polars", "arrow")
WEIGHTS = ("none", "int64", "float64", "float32")
TURN_SECONDS = 0.02
WITHIN = 1e-6
EXAMPLES = """\
examples:
  python -m bench.sweep                                   everything: hours
  python -m bench.sweep --sizes 100 100000 --pairs 3      two sizes
  python -m bench.sweep --only r2_score --json r2.json    one function
  python -m bench.sweep --table r2.json                   a table of measured cells, in Markdown
"""


class Family(NamedTuple):
    """Functions of the same columns."""

    names: tuple[str, ...]
    columns: Callable[[np.random.Generator, int, int], tuple[np.ndarray, ...]]  # of a generator, rows, columns
    widths: tuple[int, ...]  # outputs or classes
    label_kinds: tuple[str, ...]  # types of the first column
    weighted: bool = True
    options: dict[str, Any] | None = None


def labels_and_scores(rng: np.random.Generator, rows: int, width: int) -> tuple[np.ndarray, ...]:
    labels = rng.integers(0, 2, rows)
    labels[:2] = [0, 1][: len(labels[:2])]
    return labels, np.clip(rng.random(rows) * 0.8 + labels * 0.2, 1e-6, 1 - 1e-6)


def two_columns_of_labels(rng: np.random.Generator, rows: int, width: int) -> tuple[np.ndarray, ...]:
    labels = rng.integers(0, width, rows)
    return labels, np.where(rng.random(rows) < 0.6, labels, rng.integers(0, width, rows))


def labels_and_shares(rng: np.random.Generator, rows: int, width: int) -> tuple[np.ndarray, ...]:
    labels = np.arange(rows) % width
    shares = rng.random((rows, width)) + np.eye(width)[labels]
    return rng.permutation(labels), shares / shares.sum(axis=1, keepdims=True)


def two_columns_of_numbers(rng: np.random.Generator, rows: int, width: int) -> tuple[np.ndarray, ...]:
    shape = (rows, width) if width > 1 else (rows,)
    targets = rng.integers(1, 100, shape).astype(np.float64)
    return targets, np.abs(targets + rng.normal(size=shape)) + 0.5


def two_matrices(rng: np.random.Generator, rows: int, width: int) -> tuple[np.ndarray, ...]:
    relevant = (rng.random((rows, width)) < 0.2).astype(np.int64)
    relevant[:, 0] = 1
    relevant[:, 1] = 0
    return relevant, rng.random((rows, width))


NUMBER_KINDS = (*DTYPES[:3], *DTYPES[4:], "object", "list", "pandas", "polars", "arrow")
LABEL_KINDS = (*DTYPES, *CONTAINERS)
FAMILIES = (
    Family(
        ("roc_auc_score", "average_precision_score", "roc_curve", "precision_recall_curve", "det_curve", "log_loss",
         "brier_score_loss", "d2_log_loss_score", "d2_brier_score"),
        labels_and_scores, (1,), (*DTYPES, "list", "pandas", "polars", "arrow"),
    ),
    Family(
        ("accuracy_score", "balanced_accuracy_score", "cohen_kappa_score", "confusion_matrix", "hamming_loss",
         "jaccard_score", "matthews_corrcoef", "multilabel_confusion_matrix", "zero_one_loss"),
        two_columns_of_labels, (2,), LABEL_KINDS,
    ),
    Family(
        ("f1_score", "precision_score", "recall_score", "precision_recall_fscore_support", "jaccard_score"),
        two_columns_of_labels, (2, 10, 100, 1000), LABEL_KINDS, options={"average": "macro"},
    ),
    Family(
        ("accuracy_score", "balanced_accuracy_score", "cohen_kappa_score", "confusion_matrix", "matthews_corrcoef"),
        two_columns_of_labels, (10, 100, 1000), LABEL_KINDS,
    ),
    Family(
        ("log_loss", "brier_score_loss", "top_k_accuracy_score"), labels_and_shares, (3, 10, 100, 1000), ("int64",),
    ),
    Family(("roc_auc_score",), labels_and_shares, (3, 10, 100), ("int64",), options={"multi_class": "ovr"}),
    Family(
        ("mean_squared_error", "root_mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error",
         "mean_pinball_loss", "mean_squared_log_error", "root_mean_squared_log_error", "median_absolute_error",
         "r2_score", "explained_variance_score", "d2_absolute_error_score", "d2_pinball_score"),
        two_columns_of_numbers, (1, 2, 10, 100, 1000), NUMBER_KINDS,
    ),
    Family(("max_error",), two_columns_of_numbers, (1,), NUMBER_KINDS, weighted=False),
    Family(
        ("mean_poisson_deviance", "mean_gamma_deviance", "mean_tweedie_deviance", "d2_tweedie_score"),
        two_columns_of_numbers, (1,), NUMBER_KINDS,
    ),
    Family(
        ("mean_tweedie_deviance", "d2_tweedie_score"), two_columns_of_numbers, (1,), ("float64",),
        options={"power": 1.5},
    ),
    Family(
        ("adjusted_rand_score", "rand_score", "adjusted_mutual_info_score", "normalized_mutual_info_score",
         "mutual_info_score", "homogeneity_score", "completeness_score", "v_measure_score", "fowlkes_mallows_score",
         "homogeneity_completeness_v_measure", "pair_confusion_matrix"),
        two_columns_of_labels, (2, 10, 100, 1000), LABEL_KINDS, weighted=False,
    ),
    Family(
        ("label_ranking_average_precision_score", "label_ranking_loss", "coverage_error"),
        two_matrices, (2, 10, 100, 1000), ("int64", "bool", "float64"),
    ),
    Family(("ndcg_score", "dcg_score"), two_matrices, (2, 10, 100, 1000), ("int64", "float64")),
    Family(("ndcg_score", "dcg_score"), two_matrices, (10, 100), ("int64",), options={"ignore_ties": True}),
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One comparison. Seconds are medians of one call; the ratio is that of scikit-learn's time to ours."""

    function: str
    options: str
    kind: str
    weights: str
    rows: int
    columns: int
    ours: float
    theirs: float
    ratio: float


def cast(column: np.ndarray, kind: str) -> Any:
    """The column as an array of a type, or in a container."""
    if kind in DTYPES:
        return column if column.dtype.kind == "f" and kind in DTYPES[:4] else column.astype(kind)
    if kind == "list":
        return column.tolist()
    if kind == "object":
        return column.astype(object)
    if kind == "str":
        return np.array([f"class {value}" for value in range(int(column.max()) + 1)])[column]
    if column.ndim == 2:
        return pd.DataFrame(column)
    return {"pandas": pd.Series, "polars": pl.Series, "arrow": pa.array}[kind](column)


def calls_of(
    name: str, family: Family, kind: str, weights: str, rows: int, width: int
) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """The same call of fastmetrics and of scikit-learn."""
    rng = np.random.default_rng(7)
    numbers = family.columns is two_columns_of_numbers
    columns = family.columns(rng, rows, width)
    same_kind = numbers or family.columns is two_columns_of_labels
    first = columns[0].astype(np.int64) if numbers and kind.startswith("int") else columns[0]
    values = [cast(first, kind), cast(columns[1], kind) if same_kind else columns[1]]
    options = dict(family.options or {})
    if weights != "none":
        drawn = rng.integers(1, 10, rows) if weights == "int64" else rng.random(rows) + 0.1
        options["sample_weight"] = drawn.astype(weights)
    ours, theirs = getattr(fastmetrics, name), getattr(scikit_learn, name)
    return lambda: ours(*values, **options), lambda: theirs(*values, **options)


def cells(only: list[str], sizes: tuple[int, ...], plain: bool) -> Iterator[tuple[str, Family, str, str, int, int]]:
    """All cells; with `plain`, other types only without weights and with the fewest columns, and the like."""
    for family in FAMILIES:
        for name in family.names:
            if only and name not in only:
                continue
            for width in family.widths:
                for rows in sizes:
                    if rows * width > MOST_VALUES or rows < 2:
                        continue
                    for kind in family.label_kinds:
                        for weights in WEIGHTS if family.weighted else WEIGHTS[:1]:
                            usual = (kind in ("int64", "float64")) + (weights == "none") + (width == family.widths[0])
                            if plain and usual < 2:
                                continue
                            yield name, family, kind, weights, rows, width


def seconds(call: Callable[[], Any], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if theirs is None:
        return ours is None
    a, b = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    return a.shape == b.shape and np.allclose(a, b, rtol=WITHIN, atol=1e-9, equal_nan=True)


def measure(ours: Callable[[], Any], theirs: Callable[[], Any], pairs: int) -> tuple[float, float, float]:
    """Median seconds of both, and the median ratio of the pairs."""
    calls = [max(1, min(1000, math.ceil(TURN_SECONDS / max(seconds(call, 1), 1e-7)))) for call in (ours, theirs)]
    times = [(seconds(ours, calls[0]), seconds(theirs, calls[1])) for _ in range(pairs)]
    own, peer = (statistics.median(column) for column in zip(*times, strict=True))
    return own, peer, statistics.median(b / a for a, b in times)


def describe_cell(cell: Cell) -> str:
    weights = "" if cell.weights == "none" else f", {cell.weights} weights"
    columns = "" if cell.columns == 1 else f" x {cell.columns:,}"
    options = f", {cell.options}" if cell.options else ""
    return f"{cell.ratio:.2f} ({cell.rows:,}{columns} rows, {cell.kind}{weights}{options})"


def table_of(cells: list[Cell]) -> str:
    """A line for each function: its number of cells, the median ratio, and the least ratios with their cells."""
    lines = ["| function | cells | median | least of all | least of NumPy columns from 10,000 rows on |"]
    lines.append("|---|---|---|---|---|")
    for function in sorted({cell.function for cell in cells}):
        own = sorted((cell for cell in cells if cell.function == function), key=lambda cell: cell.ratio)
        long = [cell for cell in own if cell.rows >= 10_000 and cell.kind in DTYPES]
        least = describe_cell(long[0]) if long else ""
        median = statistics.median(cell.ratio for cell in own)
        lines.append(f"| `{function}` | {len(own)} | {median:.1f} | {describe_cell(own[0])} | {least} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", nargs="*", default=[], help="names of functions")
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES, help="numbers of rows")
    parser.add_argument("--pairs", type=int, default=5, help="turns of both libraries")
    parser.add_argument("--plain", action="store_true", help="no cells that differ from the usual in two ways")
    parser.add_argument("--json", type=Path, help="write the cells there")
    parser.add_argument("--table", type=Path, metavar="JSON", help="print a table of measured cells")
    arguments = parser.parse_args()
    if arguments.table:
        print(table_of([Cell(**cell) for cell in json.loads(arguments.table.read_text())["cells"]]))
        return 0
    warnings.simplefilter("ignore")
    found: list[Cell] = []
    for name, family, kind, weights, rows, width in cells(arguments.only, tuple(arguments.sizes), arguments.plain):
        ours, theirs = calls_of(name, family, kind, weights, rows, width)
        options = ", ".join(f"{key}={value}" for key, value in (family.options or {}).items())
        label = f"{name}({options}) {kind} weights {weights} {rows} x {width}"
        try:
            expected = theirs()
        except (ValueError, TypeError, IndexError) as error:
            print(f"{'peer fails':>10} {label}: {type(error).__name__}", file=sys.stderr)
            continue
        if not same(ours(), expected):
            print(f"{'differs':>10} {label}", flush=True)
            continue
        own, peer, ratio = measure(ours, theirs, arguments.pairs)
        found.append(Cell(name, options, kind, weights, rows, width, own, peer, ratio))
        print(f"{ratio:10.2f} {label}   {own * 1e6:.1f} us, {peer * 1e6:.1f} us", flush=True)
        if arguments.json:
            document = {"machine": describe_machine(), "cells": [asdict(cell) for cell in found]}
            arguments.json.write_text(json.dumps(document, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
