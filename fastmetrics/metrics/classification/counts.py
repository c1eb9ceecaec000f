"""True and false positives and negatives of every label: what precision, recall, F and their kin are made of."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core import labels as targets
from fastmetrics._core.labels import MULTILABEL, LabelPair
from fastmetrics._kernels import sums

__all__: list[str] = []


class ClassCounts(NamedTuple):
    """Counts per label, or per row (samplewise): int64, or with weights float64, each sum exact and rounded once.

    `classes` are the labels counted, in order; `present` those found in the data, sorted.
    """

    tp: np.ndarray
    fp: np.ndarray
    fn: np.ndarray
    tn: np.ndarray
    classes: np.ndarray
    present: np.ndarray
    kind: str
    rows: int


def count_classes(
    y_true: Any, y_pred: Any, *, labels: Any = None, sample_weight: Any = None, samplewise: bool = False
) -> ClassCounts:
    """Count every label against the rest: those found in the data, sorted, or `labels` in the order given."""
    pair = targets.pair_labels(y_true, y_pred, sample_weight)
    if samplewise and pair.kind != MULTILABEL:
        raise ValueError(f"counts per row need a column per label; found {pair.kind} targets")
    chosen, wanted = choose(pair, labels)
    if samplewise:
        return count_rows(pair, chosen, wanted)
    if pair.kind == MULTILABEL:
        true, pred = pair.true[:, chosen].T.astype(bool), pair.pred[:, chosen].T.astype(bool)
    else:
        true = np.array([pair.true == code for code in chosen], bool).reshape(len(chosen), pair.rows)
        pred = np.array([pair.pred == code for code in chosen], bool).reshape(len(chosen), pair.rows)
    cells = [true & pred, pred & ~true, true & ~pred]
    counted = [np.array([total(cell, pair.weights) for cell in of], dtype=object) for of in cells]
    rest = total(np.ones(pair.rows, bool), pair.weights) - counted[0] - counted[1] - counted[2]
    tp, fp, fn, tn = (finish(values, pair.weights) for values in (*counted, rest))
    return ClassCounts(tp, fp, fn, tn, wanted, pair.classes, pair.kind, pair.rows)


def choose(pair: LabelPair, wanted: Any) -> tuple[np.ndarray, np.ndarray]:
    """The codes of the labels wanted (-1: not in the data), and those labels."""
    if wanted is None:
        return np.arange(pair.classes.shape[0]), pair.classes
    wanted = targets.as_target(wanted, "labels")
    if wanted.ndim != 1:
        raise ValueError(f"labels must have one dimension; found {wanted.ndim} (shape {wanted.shape})")
    if pair.kind == MULTILABEL:
        columns = pair.classes.shape[0]
        if wanted.size and (wanted.min() < 0 or wanted.max() >= columns):
            bad = int(wanted[(wanted < 0) | (wanted >= columns)][0])
            raise ValueError(f"labels must be column numbers in [0, {columns}) for multilabel targets; found {bad}")
        return wanted.astype(np.int64), wanted
    codes = {label: code for code, label in enumerate(pair.classes.tolist())}
    return np.array([codes.get(label, -1) for label in wanted.tolist()], np.int64), wanted


def total(rows: np.ndarray, weights: np.ndarray | None) -> int:
    """How many rows are marked; with weights, the exact sum of theirs times 2**EXPONENT."""
    if weights is None:
        return int(np.count_nonzero(rows))
    state = exact.new_states()
    sums.sum_where(np.ascontiguousarray(rows).view(np.uint8), weights, state)
    return exact.to_integer(state)


def finish(values: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    if weights is None:
        return values.astype(np.int64)
    return np.array([exact.divide(value, 1 << exact.EXPONENT) for value in values], np.float64)


def count_rows(pair: LabelPair, chosen: np.ndarray, wanted: np.ndarray) -> ClassCounts:
    """The counts of each row's own set of labels."""
    true, pred = pair.true[:, chosen], pair.pred[:, chosen]
    tp = (true & pred).sum(axis=1, dtype=np.int64)
    fp = pred.sum(axis=1, dtype=np.int64) - tp
    fn = true.sum(axis=1, dtype=np.int64) - tp
    tn = true.shape[1] - tp - fp - fn
    if pair.weights is not None:
        tp, fp, fn, tn = (pair.weights * count for count in (tp, fp, fn, tn))
    return ClassCounts(tp, fp, fn, tn, wanted, pair.classes, pair.kind, pair.rows)
