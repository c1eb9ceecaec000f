"""Labels and probabilities in every form that scikit-learn accepts: any two labels, a column per class, sets of labels.

One column of probabilities belongs to the greater of two labels; several columns belong to the sorted labels. The
encoded rows go through the additive statistics that the engine also uses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.array_types import SUM_TOLERANCE, machine_epsilon
from fastmetrics._core.columns.binary_probabilities import (
    LabelCounts,
    check_sampling_rate,
    drop_zero_weight_rows,
    kernel_sampling_rate,
    require_sequence,
    split_two_values,
)
from fastmetrics._core.columns.class_labels import (
    MULTILABEL,
    Target,
    as_column,
    as_indicators,
    as_label_weights,
    encode_labels,
    has_fractions,
    positive_mask,
    read_labels,
    type_of_target,
)
from fastmetrics._core.columns.row_blocks import Rows, map_reduce
from fastmetrics._core.columns.weights import scale_tiny_weights
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.state import Fields, Sums, exact_sum
from fastmetrics._core.statistic import AdditiveStatistic
from fastmetrics._core.undefined import warn_user
from fastmetrics._kernels.probability import class_losses, losses

MIN_EPS = 2.2250738585072014e-308  # the least normal float64; the kernel's logarithm needs normal numbers
BLOCK_VALUES = 1 << 18  # values of a matrix per block; they fit the second-level cache
LABELS_MUST_BE_CLASSES = "labels must be classes: integers, text or bools"


# -------------------------------------------------------------------------------------------------------- arguments


def resolve_eps(eps: float | str, dtype: np.dtype) -> float:
    """Return the clip: the number, or for "auto" the machine epsilon of the type of the probabilities."""
    return float(np.finfo(dtype).eps if eps == "auto" else eps)


def check_eps(eps: Any) -> None:
    if isinstance(eps, str) and eps == "auto":
        return
    wanted = f"'auto' or a number from {MIN_EPS:g} to below 0.5"
    validation.check_number(eps, "eps", wanted, lambda eps: MIN_EPS <= eps < 0.5)


def check_predictions(values: Any, name: str) -> np.ndarray:
    """Return one column of probabilities, or a C-contiguous matrix of several. Their range is checked later."""
    predictions = validation.as_floats(require_sequence(values, name, "an array of probabilities"), name)
    if predictions.ndim not in (1, 2):
        raise ValueError(f"{name} must have one or two dimensions; found {predictions.ndim} ({predictions.shape})")
    if 0 in predictions.shape:
        raise ValueError(f"{name} is empty (shape {predictions.shape}): at least one row and one column are needed")
    return predictions.reshape(-1) if predictions.ndim == 2 and predictions.shape[1] == 1 else predictions


def resolve_y_pred(y_proba: Any, y_pred: Any) -> Any:
    """Return the probabilities, passed by either name. The older name warns, as in scikit-learn 1.9."""
    if isinstance(y_pred, str) and y_pred == "deprecated":
        return y_proba
    if y_proba is not None:
        raise ValueError("y_proba and y_pred are two names of one argument; give y_proba alone")
    warn_user("y_pred is the older name of y_proba; use y_proba", FutureWarning)
    return y_pred


# ------------------------------------------------------------------------------------------------- one column, binary


def encode_greater_label(column: Target, labels: Any = None) -> tuple[np.ndarray, list[Any]]:
    """Return uint8 labels, 1 for the greatest label, and the sorted labels."""
    if labels is None and is_numeric(column):
        found = split_two_values(column)
        if found is not None:
            mask, values = found
            if any(value != int(value) for value in values):
                raise ValueError(f"y_true has labels {values!r}: {LABELS_MUST_BE_CLASSES}")
            return mask.view(np.uint8), values
    codes, classes = encode_classes(column, labels)
    return (codes == len(classes) - 1).view(np.uint8), classes.tolist()


def is_numeric(column: Target) -> TypeGuard[np.ndarray]:
    """Whether a column has a type that the kernels read as labels, or float16."""
    return isinstance(column, np.ndarray) and column.dtype.kind in "biuf" and column.dtype.itemsize <= 8


def encode_classes(column: Target, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return codes and sorted classes of labels. Objects other than text, and numbers with fractions, raise."""
    if isinstance(column, np.ndarray):
        if column.dtype == object and not isinstance(column[0], str):
            raise validation.InputError(f"y_true has {column[0]!r} of type object at row 0: {LABELS_MUST_BE_CLASSES}")
        if column.dtype.kind == "f" and has_fractions(column, "y_true"):
            raise ValueError(f"y_true has numbers with fractions: {LABELS_MUST_BE_CLASSES}")
    codes, classes = encode_labels(column, labels)
    if labels is not None:
        warn_unsorted(labels, classes)
    return codes, classes


def check_labels(labels: Any) -> None:
    if labels is not None:
        require_sequence(labels, "labels", "an array of classes or None")


def check_classes(classes: Sequence[Any], labels: Any, n_classes: int, columns: str) -> None:
    """Check that there are as many classes as columns of probabilities, and at least two."""
    first_classes = f"{list(classes[:5])!r}"
    if len(classes) == 1 and labels is None:
        raise ValueError(f"y_true has one label only, {first_classes}; name all classes with labels=")
    if len(classes) == 1:
        raise ValueError(f"labels must hold at least two labels; found {first_classes}")
    if len(classes) != n_classes:
        where = "y_true has" if labels is None else "labels has"
        raise ValueError(f"{columns} but {where} {len(classes)} classes, {first_classes}; name them all with labels=")


def warn_unsorted(labels: Any, classes: np.ndarray) -> None:
    label_column = validation.as_array(labels, "labels").reshape(-1)
    if label_column.shape != classes.shape:
        raise ValueError(f"labels must be distinct; found {label_column.tolist()!r}")
    if not (label_column == classes).all():
        columns = f"columns of probabilities belong to {classes.tolist()!r}"
        warn_user(f"labels {label_column.tolist()!r} are not sorted; {columns}", UserWarning)


def encode_two_classes(column: Target, labels: Any, name: str) -> np.ndarray:
    """Return uint8 labels, 1 for the greater of exactly two labels."""
    mask, classes = encode_greater_label(column, labels)
    check_classes(classes, labels, 2, f"{name} has one column, which needs two classes,")
    return mask


def encode_positive_label(column: Target, pos_label: Any) -> np.ndarray:
    """Return uint8 labels, 1 for pos_label; the column has at most two labels. The default is the greater one.

    Labels 0 and 1, or -1 and 1, need no pos_label: 1 is positive even if it does not occur.
    """
    if pos_label is None and not is_numeric(column):
        encode_classes(column, None)
        return positive_mask(column)
    mask, classes = encode_greater_label(column)
    if len(classes) > 2:
        found = f"{len(classes)} labels, {classes[:5]!r}"
        raise ValueError(f"y_true has {found}, but one column of probabilities needs two")
    return mask if pos_label is None else positive_mask(column, pos_label)


# ----------------------------------------------------------------------------------------------- a column per class


class ClassLogTerms(AdditiveStatistic):
    """The (weighted) sum of -log of the probabilities of each row's classes, and the number of clipped ones.

    Scores are a matrix of probabilities. Labels are numbers of classes, or a matrix of 0 and 1 for sets of labels.
    """

    __slots__ = ("eps",)
    fields = Fields("clipped rows", exact_sum("terms"))

    def __init__(self, eps: float | str) -> None:
        self.eps = eps

    def update(self, state: Sums, rows: Rows) -> None:
        eps = rows.eps if self.eps == "auto" and rows.eps is not None else resolve_eps(self.eps, rows.scores.dtype)
        if rows.labels.ndim == 1:
            class_losses.log_loss_terms(
                rows.labels, rows.scores, rows.weights, eps, state.sum_of("terms"), state.counts
            )
            return
        is_set = rows.labels.reshape(-1).view(np.bool_)
        weights = weights_of_entries(rows)
        losses.likelihood_terms(
            rows.scores.reshape(-1)[is_set], None if weights is None else weights[is_set], False, eps,
            state.sum_of("terms"), state.counts, np.zeros(1, np.int64),
        )  # fmt: skip


class ClassSquaredErrors(AdditiveStatistic):
    """The (weighted) sum of (p - y)^2 over rows and classes. Labels and scores are as in `ClassLogTerms`."""

    __slots__ = ()
    fields = Fields(exact_sum("terms"))

    def update(self, state: Sums, rows: Rows) -> None:
        if rows.labels.ndim == 1:
            class_losses.squared_error_terms(rows.labels, rows.scores, rows.weights, state.sum_of("terms"))
            return
        losses.add_terms(
            losses.SQUARED_ERROR_TERMS, rows.labels.reshape(-1), rows.scores.reshape(-1), weights_of_entries(rows), 0.0,
            0.0, state.sum_of("terms"),
        )  # fmt: skip


def weights_of_entries(rows: Rows) -> np.ndarray | None:
    """The weight of every value of a matrix."""
    return None if rows.weights is None else np.repeat(rows.weights, rows.scores.shape[1])


class ClassProbabilities(NamedTuple):
    """A matrix of probabilities, one column per class, and its labels as in `ClassLogTerms`."""

    labels: np.ndarray
    predictions: np.ndarray
    weights: np.ndarray | None
    tolerance: float
    name: str

    def reduce(self, statistics: Sequence[AdditiveStatistic], n_threads: int) -> list[Sums]:
        """Return the states of the statistics. Warn if a row does not sum to 1; it is used as given."""
        n_rows, n_classes = self.predictions.shape
        step = max(1, BLOCK_VALUES // n_classes)
        bad_sums: list[tuple[int, float]] = []

        def load(chunk: int) -> tuple[Rows]:
            where = slice(chunk * step, (chunk + 1) * step)
            weights = None if self.weights is None else self.weights[where]
            rows = Rows(self.labels[where], self.predictions[where], weights, chunk * step, self.name)
            problem = np.zeros(1, np.int64)
            bad = class_losses.check_matrix(rows.scores, self.tolerance, problem)
            if problem[0]:
                rows.raise_bad_probability()
            if bad >= 0:
                bad_sums.append((rows.first_row + bad, float(rows.scores[bad].sum(dtype=np.float64))))
            return (rows,)

        states = map_reduce(statistics, -(-n_rows // step), lambda: load, n_threads)
        if bad_sums:
            row, total = min(bad_sums)
            warn_user(f"{self.name} sums to {total} at row {row}, not to 1; it is used as given", UserWarning)
        return states

    def total(self) -> int:
        """Return the sum of the weights, or the number of rows, times 2**EXPONENT."""
        if self.weights is None:
            return int(self.predictions.shape[0]) << exact.EXPONENT
        return exact.integer_sum(self.weights)

    def class_totals(self) -> list[int]:
        """Return the weight of every class, times 2**EXPONENT."""
        n_classes = self.predictions.shape[1]
        codes, weights = self.labels, self.weights
        if codes.ndim == 2:
            rows, codes = (np.ascontiguousarray(indices) for indices in np.nonzero(codes))
            weights = None if self.weights is None else self.weights[rows]
        if weights is None:
            return [int(n) << exact.EXPONENT for n in np.bincount(codes, minlength=n_classes)]
        states = exact.new_states(n_classes)
        class_losses.add_by_class(codes, weights, states)
        return [exact.to_integer(state) for state in states]


def check_class_probabilities(
    target: Target, predictions: np.ndarray, weights: np.ndarray | None, labels: Any, eps: float, name: str
) -> ClassProbabilities:
    """Check and encode labels for a matrix of probabilities. `eps` is the machine epsilon of their type."""
    n_classes = predictions.shape[1]
    tolerance = math.sqrt(eps) + SUM_TOLERANCE
    if isinstance(target, np.ndarray) and target.ndim == 2 and target.shape[1] > 1:
        kind = type_of_target(target, "y_true")
        if kind != MULTILABEL:
            raise ValueError(f"y_true is a {kind} target: a matrix must mark the labels of a row with 0 and 1")
        if labels is not None:
            raise ValueError("labels must not be given if y_true is a matrix: its columns are the labels")
        if target.shape[1] != n_classes:
            raise ValueError(f"{name} has {n_classes} columns but y_true has {target.shape[1]}")
        if not ((target == 0) | (target == 1)).all():
            raise ValueError("y_true is a matrix with other values than 0 and 1")
        return ClassProbabilities(as_indicators(target), predictions, weights, tolerance, name)
    column = as_column(target, "y_true") if isinstance(target, np.ndarray) else target
    codes, classes = encode_classes(column, labels)
    check_classes(classes.tolist(), labels, n_classes, f"{name} has {n_classes} columns")
    return ClassProbabilities(codes, predictions, weights, tolerance, name)


def read_target(y_true: Any, predictions: np.ndarray, name: str) -> Target:
    """Return the labels of all rows. A matrix with one column becomes a column."""
    target = read_labels(require_sequence(y_true, "y_true", "an array of labels"), "y_true")
    validation.check_lengths(target.shape[0], predictions.shape[0], "y_true", name)
    if isinstance(target, np.ndarray):
        if isinstance(y_true, (list, tuple)) and target.dtype.kind == "U" and target.ndim == 1:
            # NumPy converts numbers in a list with text to text.
            raise_mixed_list(y_true)
        if target.ndim == 2 and target.shape[1] == 1:
            return target.reshape(-1)
        if target.ndim not in (1, 2):
            raise ValueError(f"y_true must have one or two dimensions; found {target.ndim} (shape {target.shape})")
    return target


def raise_mixed_list(labels: Sequence[Any]) -> None:
    for row, label in enumerate(labels):
        if not isinstance(label, str):
            raise validation.InputError(f"y_true has {label!r} at row {row} beside text: labels must be of one kind")


def read_weights(sample_weight: Any, rows: int) -> np.ndarray | None:
    """Return the weights of the rows. At least one must be positive."""
    if sample_weight is not None:
        sample_weight = require_sequence(sample_weight, "sample_weight", "an array of weights or None")
    return as_label_weights(sample_weight, rows)


def has_fewer_than_two_rows(y_true: Any, y_proba: Any, sample_weight: Any) -> bool:
    """Whether there are fewer than two rows. Different lengths raise first."""
    columns = {"y_true": y_true, "y_proba": y_proba}
    if sample_weight is not None:
        columns["sample_weight"] = sample_weight
    lengths = {name: len(require_sequence(values, name, "an array of rows")) for name, values in columns.items()}
    for name, length in lengths.items():
        validation.check_lengths(lengths["y_true"], length, "y_true", name)
    return lengths["y_true"] < 2


# ------------------------------------------------------------------------------------------------------------ losses


class TwoClassReading(NamedTuple):
    """How the labels of one column of probabilities are read.

    Attributes
    ----------
    encode : callable
        From labels of any kind to uint8.
    read_as_is : bool
        Are numbers that are 0 and 1, or -1 and +1, read without encoding?
    needs_both_classes : bool
        Only if both occur? Then a matrix of labels is read as well, beside the two columns of the classes.
    """

    encode: Callable[[Target], np.ndarray]
    read_as_is: bool
    needs_both_classes: bool


class LossSums(NamedTuple):
    """Sums over all rows: the terms of the loss, and the weights of the rows and of each class.

    Weights are multiplied by 2**EXPONENT. `total` is the weight of the rows; a row may have several classes.
    """

    terms: Sums
    total: int
    n_columns: int
    classes: Sequence[int]


def sum_losses(
    y_true: Any,
    y_proba: Any,
    sample_weight: Any,
    labels: Any,
    sampling_rate: float | None,
    n_threads: int | None,
    reading: TwoClassReading,
    statistics: Callable[[float], tuple[AdditiveStatistic, AdditiveStatistic]],
    want_classes: bool = False,
    is_mean: bool = True,
) -> LossSums:
    """Sum the losses of labels of any kind, with the checks of scikit-learn.

    `statistics` makes, of the epsilon of the probabilities' type, the statistics of one column and of a column for each
    class. If only a mean is wanted, which one factor for all weights does not change, tiny weights are scaled up.
    """
    check_sampling_rate(sampling_rate)
    check_labels(labels)
    threads = count_threads(n_threads)
    predictions = check_predictions(y_proba, "y_proba")
    target = read_target(y_true, predictions, "y_proba")
    weights = read_weights(sample_weight, target.shape[0])
    if weights is not None and is_mean:
        weights = scale_tiny_weights(weights)
    type_eps = machine_epsilon(y_proba, predictions)
    of_column, of_classes = statistics(type_eps)
    if predictions.ndim == 1 and len(target.shape) == 1:
        counts, terms = reduce_column(target, predictions, weights, (LabelCounts(), of_column), threads, reading)
        total, positive = LabelCounts.totals(counts)
        return LossSums(terms, total, 1, (total - positive, positive))
    if predictions.ndim == 1 and not reading.needs_both_classes:
        raise ValueError(f"y_true must have one dimension if y_proba has one column; found {target.shape}")
    if kernel_sampling_rate(sampling_rate):
        raise validation.OptionError("sampling_rate is for one column of probabilities, those of the positive class")
    if predictions.ndim == 1:
        predictions = np.column_stack((1 - predictions, predictions))
    matrix = check_class_probabilities(target, predictions, weights, labels, type_eps, "y_proba")
    (terms,) = matrix.reduce((of_classes,), threads)
    return LossSums(terms, matrix.total(), predictions.shape[1], matrix.class_totals() if want_classes else ())


def reduce_column(
    column: Target,
    scores: np.ndarray,
    weights: np.ndarray | None,
    statistics: Sequence[AdditiveStatistic],
    n_threads: int,
    reading: TwoClassReading,
) -> list[Sums]:
    """The states of statistics over labels of two classes and one column of probabilities.

    The first statistic must be LabelCounts.
    """

    def reduce(labels: np.ndarray) -> list[Sums]:
        rows = drop_zero_weight_rows(labels, scores, weights, "y_proba", validation.check_probabilities)
        return rows.reduce(statistics, n_threads)

    if reading.read_as_is and is_numeric(column):
        try:
            states = reduce(validation.as_labels(column))
            if not reading.needs_both_classes or 0 < states[0].count("positives") < states[0].count("rows"):
                return states
        except validation.LabelError:
            pass
    return reduce(reading.encode(column))
