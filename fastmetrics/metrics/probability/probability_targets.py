"""Labels and probabilities as scikit-learn's functions take them: any two labels, a column per class, sets of labels.

One column of probabilities speaks of the greater of two labels; more columns speak of the sorted labels. What comes out
goes through the same additive statistics, and threads, as everything else.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from fastmetrics._core import exact, inputs
from fastmetrics._core.binary import as_given, present_rows, two_values
from fastmetrics._core.labels import (
    MULTILABEL,
    Target,
    as_column,
    as_label_weights,
    code_labels,
    has_fractions,
    indicators,
    kind_of_target,
    open_target,
    positive_mask,
)
from fastmetrics._core.statistic import Additive, Statistic, Sums, accumulate
from fastmetrics._kernels import classlosses, losses, sums

LEAST_EPS = 2.2250738585072014e-308  # the least normal float64: the logarithm's domain
SUM_TOLERANCE = 1e-8  # of the sum of a row beside the square root of its type's epsilon, as in scikit-learn
PART_VALUES = 1 << 18  # of a matrix, worked on at a time: they fit the second-level cache
FRACTIONS = "labels must be classes: integers, text or bools"


# -------------------------------------------------------------------------------------------------------- arguments


def is_float16(values: Any) -> bool:
    """Of NumPy (any byte order), Arrow, pandas or polars."""
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype):
        return dtype.kind == "f" and dtype.itemsize == 2
    return str(getattr(values, "type", "")) == "halffloat" or str(dtype).lower() == "float16"


def machine_epsilon(values: Any, predictions: np.ndarray) -> float:
    """Of the type the probabilities came in: float16 is widened, but its epsilon stays."""
    return float(np.finfo(np.float16 if is_float16(values) else predictions.dtype).eps)


def resolve_eps(eps: float | str, dtype: np.dtype) -> float:
    """The clip: a number, or "auto" for the machine epsilon of the type the probabilities came in."""
    if eps == "auto":
        return float(np.finfo(dtype).eps)
    return float(eps)


def check_eps(eps: Any) -> None:
    if isinstance(eps, str) and eps == "auto":
        return
    if isinstance(eps, (bool, str)) or not isinstance(eps, (int, float, np.number)) or not LEAST_EPS <= eps < 0.5:
        raise inputs.OptionError(f"eps must be 'auto' or a number from {LEAST_EPS:g} to below 0.5; found {eps!r}")


def check_boolean(value: Any, name: str) -> None:
    if not isinstance(value, (bool, np.bool_)):
        raise inputs.OptionError(f"{name} must be True or False; found {value!r}")


def check_pos_label(pos_label: Any) -> None:
    if pos_label is not None and not isinstance(pos_label, (bool, np.bool_, int, float, np.number, str)):
        raise inputs.OptionError(f"pos_label must be a number, a text, a bool or None; found {pos_label!r}")


def as_predictions(values: Any, name: str) -> np.ndarray:
    """One column of probabilities, or a C-contiguous matrix with several; their range is not looked at here."""
    predictions = inputs.as_floats(as_given(values, name, "an array of probabilities"), name)
    if predictions.ndim not in (1, 2):
        raise ValueError(f"{name} must have one or two dimensions; found {predictions.ndim} ({predictions.shape})")
    if 0 in predictions.shape:
        raise ValueError(f"{name} is empty (shape {predictions.shape}): at least one row and one column are needed")
    return predictions.reshape(-1) if predictions.ndim == 2 and predictions.shape[1] == 1 else predictions


def warn_user(message: str, category: type[Warning]) -> None:
    """A warning that names the line of the caller, whatever the depth here."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("fastmetrics."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def newer_name(y_proba: Any, y_pred: Any) -> Any:
    """The probabilities, under the one name or the other; the older one warns, as scikit-learn 1.9 does."""
    if isinstance(y_pred, str) and y_pred == "deprecated":
        return y_proba
    if y_proba is not None:
        raise ValueError("y_proba and y_pred are two names of one argument; give y_proba alone")
    warn_user("y_pred is the older name of y_proba; use y_proba", FutureWarning)
    return y_pred


# ------------------------------------------------------------------------------------------------- one column, binary


def greater_label(column: Target, labels: Any = None) -> tuple[np.ndarray, list[Any]]:
    """uint8, 1 where the label is the greater of two, and the sorted labels."""
    if labels is None and is_numeric(column):
        found = two_values(column)
        if found is not None:
            mask, values = found
            if any(value != int(value) for value in values):
                raise ValueError(f"y_true has labels {values!r}: {FRACTIONS}")
            return mask.view(np.uint8), values
    codes, classes = code_classes(column, labels)
    return (codes == len(classes) - 1).view(np.uint8), classes.tolist()


def is_numeric(column: Target) -> TypeGuard[np.ndarray]:
    """Of a type that the kernels read as labels, or float16."""
    return isinstance(column, np.ndarray) and column.dtype.kind in "biuf" and column.dtype.itemsize <= 8


def code_classes(column: Target, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """Codes and sorted classes of labels of any kind that is one: no objects but text, no fractions."""
    if isinstance(column, np.ndarray):
        if column.dtype == object and not isinstance(column[0], str):
            raise inputs.InputError(f"y_true has {column[0]!r} of type object at row 0: {FRACTIONS}")
        if column.dtype.kind == "f" and has_fractions(column, "y_true"):
            raise ValueError(f"y_true has numbers with fractions: {FRACTIONS}")
    codes, classes = code_labels(column, labels)
    if labels is not None:
        warn_unsorted(labels, classes)
    return codes, classes


def check_labels(labels: Any) -> None:
    if labels is not None:
        as_given(labels, "labels", "an array of classes or None")


def check_classes(classes: Sequence[Any], labels: Any, n_classes: int, columns: str) -> None:
    """As many classes as the columns of probabilities speak of, and at least two."""
    shown = f"{list(classes[:5])!r}"
    if len(classes) == 1 and labels is None:
        raise ValueError(f"y_true has one label only, {shown}; name all classes with labels=")
    if len(classes) == 1:
        raise ValueError(f"labels must hold at least two labels; found {shown}")
    if len(classes) != n_classes:
        where = "y_true has" if labels is None else "labels has"
        raise ValueError(f"{columns} but {where} {len(classes)} classes, {shown}; name them all with labels=")


def warn_unsorted(labels: Any, classes: np.ndarray) -> None:
    given = inputs.as_array(labels, "labels").reshape(-1)
    if given.shape != classes.shape:
        raise ValueError(f"labels must be distinct; found {given.tolist()!r}")
    if not (given == classes).all():
        columns = f"columns of probabilities are those of {classes.tolist()!r}"
        warn_user(f"labels {given.tolist()!r} are not sorted; {columns}", UserWarning)


def two_classes(column: Target, labels: Any, name: str) -> np.ndarray:
    """uint8 labels, 1 for the greater of exactly two."""
    mask, classes = greater_label(column, labels)
    check_classes(classes, labels, 2, f"{name} has one column, which speaks of two classes,")
    return mask


def positive_labels(column: Target, pos_label: Any) -> np.ndarray:
    """uint8 labels of at most two kinds, 1 for pos_label, by default the greater one.

    Labels 0 and 1, or -1 and 1, are not asked about: there 1 is positive even where it does not occur.
    """
    if pos_label is None and not is_numeric(column):
        code_classes(column, None)
        return positive_mask(column)
    mask, classes = greater_label(column)
    if len(classes) > 2:
        shown = f"{len(classes)} labels, {classes[:5]!r}"
        raise ValueError(f"y_true has {shown}, but one column of probabilities speaks of two")
    return mask if pos_label is None else positive_mask(column, pos_label)


class OneColumn(NamedTuple):
    """Labels of two classes beside one column of probabilities.

    Labels 0 and 1, or -1 and 1, are read as they are where `plain` allows. `settle` makes uint8 of any others, and of
    all when the rows do not show both classes although `both` are wanted.
    """

    column: Target
    scores: np.ndarray
    weights: np.ndarray | None
    name: str
    settle: Callable[[Target], np.ndarray]
    plain: bool
    both: bool

    def reduce(self, statistics: Sequence[Additive], n_threads: int) -> list[Sums]:
        """The statistics, of which the first is LabelCounts, over all rows."""
        column, scores = self.column, self.scores
        if self.plain and is_numeric(column):
            try:
                rows = present_rows(inputs.as_labels(column), scores, self.weights, self.name)
                states = rows.reduce(statistics, n_threads)
                if not self.both or 0 < states[0].count(1) < states[0].count(0):
                    return states
            except inputs.LabelError:
                pass
        return present_rows(self.settle(column), scores, self.weights, self.name).reduce(statistics, n_threads)


# ----------------------------------------------------------------------------------------------- a column per class


class Part(NamedTuple):
    """Rows of a matrix of probabilities; labels are codes of classes, or a matrix of 0 and 1 (any classes of a row)."""

    labels: np.ndarray
    predictions: np.ndarray
    weights: np.ndarray | None
    first_row: int
    tolerance: float
    # Where rows that do not sum to 1 are noted.
    off: list[tuple[int, float]]
    name: str

    def check(self) -> None:
        """Every value a probability; rows should sum to 1."""
        problem = np.zeros(1, np.int64)
        row = classlosses.check_matrix(self.predictions, self.tolerance, problem)
        if problem[0]:
            inputs.raise_bad_probability(self.predictions, self.name, self.first_row)
        if row >= 0:
            self.off.append((self.first_row + row, float(self.predictions[row].sum(dtype=np.float64))))

    def row_weights(self) -> np.ndarray | None:
        """The weight of every value of the matrix."""
        return None if self.weights is None else np.repeat(self.weights, self.predictions.shape[1])


class ClassLogTerms(Statistic):
    """The (weighted) sum of -log of the probability of every row's classes, and how many were clipped."""

    __slots__ = ("eps",)

    def __init__(self, eps: float) -> None:
        self.eps = eps

    def new(self) -> Sums:
        return Sums(1, 1)

    def update(self, state: Sums, part: Part) -> None:
        part.check()
        labels, predictions = part.labels, part.predictions
        if labels.ndim == 1:
            classlosses.log_loss_terms(labels, predictions, part.weights, self.eps, state.exact[0], state.counts)
            return
        happened = labels.reshape(-1).view(np.bool_)
        weights = part.row_weights()
        losses.likelihood_terms(
            predictions.reshape(-1)[happened], None if weights is None else weights[happened], False, self.eps,
            state.exact[0], state.counts, np.zeros(1, np.int64),
        )  # fmt: skip


class ClassSquaredErrors(Statistic):
    """The (weighted) sum of (p - y)^2 over rows and classes."""

    __slots__ = ()

    def new(self) -> Sums:
        return Sums(0, 1)

    def update(self, state: Sums, part: Part) -> None:
        part.check()
        if part.labels.ndim == 1:
            classlosses.squared_error_terms(part.labels, part.predictions, part.weights, state.exact[0])
            return
        losses.squared_error_terms(
            part.labels.reshape(-1), part.predictions.reshape(-1), part.row_weights(), 0.0, state.exact[0],
            np.zeros(1, np.int64),
        )  # fmt: skip


class SeveralColumns(NamedTuple):
    """A column of probabilities per class, checked against the labels (as in Part)."""

    labels: np.ndarray
    predictions: np.ndarray
    weights: np.ndarray | None
    tolerance: float
    name: str

    def reduce(self, statistics: Sequence[Additive], n_threads: int) -> list[Sums]:
        """The statistics over all rows, part by part. Warns of rows that do not sum to 1: they are taken as given."""
        n_rows, n_classes = self.predictions.shape
        step = max(1, PART_VALUES // n_classes)
        off: list[tuple[int, float]] = []

        def load(unit: int) -> tuple[Part]:
            rows = slice(unit * step, (unit + 1) * step)
            weights = None if self.weights is None else self.weights[rows]
            labels, predictions = self.labels[rows], self.predictions[rows]
            return (Part(labels, predictions, weights, unit * step, self.tolerance, off, self.name),)

        states = accumulate(statistics, -(-n_rows // step), lambda: load, n_threads)
        if off:
            row, total = min(off)
            warn_user(f"{self.name} sums to {total} at row {row}, not to 1; it is used as given", UserWarning)
        return states

    def total(self) -> int:
        """The sum of the weights, or the number of rows, times 2**EXPONENT."""
        if self.weights is None:
            return int(self.predictions.shape[0]) << exact.EXPONENT
        state = exact.new_states()
        sums.sum_values(self.weights, None, state)
        return exact.to_integer(state)

    def class_totals(self) -> list[int]:
        """The weight of every class, times 2**EXPONENT."""
        n_classes = self.predictions.shape[1]
        codes, weights = self.labels, self.weights
        if codes.ndim == 2:
            rows, codes = (np.ascontiguousarray(places) for places in np.nonzero(codes))
            weights = None if self.weights is None else self.weights[rows]
        if weights is None:
            return [int(n) << exact.EXPONENT for n in np.bincount(codes, minlength=n_classes)]
        states = exact.new_states(n_classes)
        classlosses.class_terms(codes, weights, states)
        return [exact.to_integer(state) for state in states]


def several_columns(
    target: Target, predictions: np.ndarray, weights: np.ndarray | None, labels: Any, eps: float, name: str
) -> SeveralColumns:
    """Labels of the columns' classes, or sets of labels. `eps` is the machine epsilon of the probabilities' type."""
    n_classes = predictions.shape[1]
    tolerance = eps**0.5 + SUM_TOLERANCE
    if isinstance(target, np.ndarray) and target.ndim == 2 and target.shape[1] > 1:
        kind = kind_of_target(target, "y_true")
        if kind != MULTILABEL:
            raise ValueError(f"y_true is a {kind} target: a matrix must tell with 0 and 1 which labels a row has")
        if labels is not None:
            raise ValueError("labels must not be given where y_true is a matrix: its columns are the labels")
        if target.shape[1] != n_classes:
            raise ValueError(f"{name} has {n_classes} columns but y_true has {target.shape[1]}")
        if not ((target == 0) | (target == 1)).all():
            raise ValueError("y_true is a matrix with other values than 0 and 1")
        return SeveralColumns(indicators(target), predictions, weights, tolerance, name)
    column = as_column(target, "y_true") if isinstance(target, np.ndarray) else target
    codes, classes = code_classes(column, labels)
    check_classes(classes.tolist(), labels, n_classes, f"{name} has {n_classes} columns")
    return SeveralColumns(codes, predictions, weights, tolerance, name)


def read_target(y_true: Any, predictions: np.ndarray, name: str) -> Target:
    """Labels of as many rows as there are predictions; a matrix with one column is a column."""
    target = open_target(as_given(y_true, "y_true", "an array of labels"), "y_true")
    inputs.check_lengths(target.shape[0], predictions.shape[0], "y_true", name)
    if isinstance(target, np.ndarray):
        if isinstance(y_true, (list, tuple)) and target.dtype.kind == "U" and target.ndim == 1:
            # NumPy makes text of a number beside text.
            raise_mixed_list(y_true)
        if target.ndim == 2 and target.shape[1] == 1:
            return target.reshape(-1)
        if target.ndim not in (1, 2):
            raise ValueError(f"y_true must have one or two dimensions; found {target.ndim} (shape {target.shape})")
    return target


def raise_mixed_list(labels: Sequence[Any]) -> None:
    for row, label in enumerate(labels):
        if not isinstance(label, str):
            raise inputs.InputError(f"y_true has {label!r} at row {row} beside text: labels must be of one kind")


def read_weights(sample_weight: Any, rows: int) -> np.ndarray | None:
    """Weights of rows, of which at least one is not zero."""
    if sample_weight is None:
        return None
    return as_label_weights(as_given(sample_weight, "sample_weight", "an array of weights or None"), rows)


def fewer_than_two(y_true: Any, y_proba: Any, sample_weight: Any) -> bool:
    """Less than two rows; lengths that differ are an error first."""
    given = {"y_true": y_true, "y_proba": y_proba, "sample_weight": sample_weight}
    lengths = {}
    for name, values in given.items():
        if name == "sample_weight" and values is None:
            continue
        lengths[name] = len(as_given(values, name, "an array of rows"))
    for name, length in lengths.items():
        inputs.check_lengths(lengths["y_true"], length, "y_true", name)
    return lengths["y_true"] < 2
