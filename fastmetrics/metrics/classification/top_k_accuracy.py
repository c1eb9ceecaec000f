"""Top-k accuracy: the share of rows whose true class is among the k highest scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import categorical, validation
from fastmetrics._core.columns import class_labels as targets
from fastmetrics._core.columns.binary_probabilities import NO_WEIGHT
from fastmetrics._core.columns.class_rows import ClassRows
from fastmetrics._core.columns.row_blocks import Rows, choose_thread_count
from fastmetrics._core.columns.vector_columns import check_labels
from fastmetrics._core.columns.weights import as_weights
from fastmetrics._core.kinds import CLASS_SCORES
from fastmetrics._core.metric_strings import GREATEST_CUTOFF
from fastmetrics._core.registry import metric
from fastmetrics._core.state import Fields, Sums, exact_sum
from fastmetrics._core.statistic import AdditiveStatistic, Value, many_quotients, rounded_quotient
from fastmetrics._core.undefined import UndefinedMetricWarning, warn_user
from fastmetrics._kernels.columns import label_encoding as kernel
from fastmetrics._kernels.numeric import sums
from fastmetrics.metrics.classification import label_counts as counting

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, MatrixLike, NumericArrayLike

__all__ = ["top_k_accuracy_score"]


@answers_unknown
def top_k_accuracy_score(
    y_true: MatrixLike,
    y_score: NumericArrayLike,
    *,
    k: int = 2,
    normalize: bool = True,
    sample_weight: NumericArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_threads: int | None = None,
) -> float:
    """The share of rows whose true class has one of the k highest scores.

    (1/W) sum_i w_i [fewer than k classes are ranked before class y_true_i]. The classes of a row are ranked by score,
    highest first; of equal scores the last column is first. A. Krizhevsky et al., "ImageNet classification with deep
    convolutional neural networks", 2012 (top-5 error).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels: integers, bools, whole floats or strings.
    y_score : array-like of shape (n,) or (n, n_classes)
        A finite score per class, with columns in the order of the sorted labels. For two classes one column, the score
        of the greater label, which is predicted if the score is above 0.5 (above 0 if any score is outside [0, 1]).
    k : int of at least 1
        How many of the highest scores are accepted.
    normalize : bool
        True: the share of correct rows. False: their number, or their total weight.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300.
    labels : array-like of shape (n_classes,), optional
        All classes, sorted. Needed if some of them do not occur in y_true.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        In [0, 1] if normalized.

    Raises
    ------
    ValueError
        Continuous or multilabel targets, labels that are not in `labels`, scores of a wrong shape, NaN or infinite
        scores, different lengths, no rows, invalid weights or no weight above zero, or `labels` that are not sorted and
        unique.

    Warns
    -----
    UndefinedMetricWarning
        k is not less than the number of classes, so every row is correct.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> y_score = [[0.5, 0.2, 0.2], [0.3, 0.4, 0.2], [0.2, 0.4, 0.3], [0.7, 0.2, 0.1]]
    >>> fm.top_k_accuracy_score([0, 1, 2, 2], y_score, k=2)
    0.75
    """
    validation.check_flag(normalize, "normalize")
    k = check_k(k)
    column = targets.read_label_column(y_true, "y_true")
    scores = as_class_scores(y_score)
    rows = column.shape[0]
    validation.check_lengths(rows, scores.shape[0], "y_true", "y_score")
    codes, classes = encode_true_labels(column, scores, labels)
    weights = None if sample_weight is None else as_weights(sample_weight, rows)
    threads = choose_thread_count(rows, n_threads)
    if k >= classes:
        warn_user(
            f"k={k} is not less than the number of classes ({classes}): every row is correct",
            UndefinedMetricWarning,
        )
    hits = None if weights is None else np.empty(rows, np.uint8)
    correct = count_hits(scores, codes, k, hits, threads)
    if weights is None or hits is None:
        return exact.divide(correct, rows) if normalize else float(correct)
    hit_weight, total = exact.integer_sum(weights[hits.view(np.bool_)]), exact.integer_sum(weights)
    if not normalize:
        return exact.divide(hit_weight, 1 << exact.EXPONENT)
    if total == 0:
        raise ValueError("sample_weight is zero at every row: at least one weight must be greater than 0")
    return exact.divide(hit_weight, total)


def check_k(k: Any) -> int:
    number = validation.check_integer(k, "k", "an integer of at least 1")
    return validation.check_integer(number, "k", f"at most {GREATEST_CUTOFF}", most=GREATEST_CUTOFF)


def as_class_scores(y_score: Any) -> np.ndarray:
    """Check scores with one column, or with one column per class."""
    if isinstance(y_score, (str, bytes)) or y_score is None or not validation.is_array_like(y_score):
        raise validation.OptionError(f"y_score must be an array of scores; found {type(y_score).__name__}")
    scores = validation.as_floats(y_score, "y_score")
    if scores.ndim not in (1, 2):
        raise ValueError(f"y_score must have one or two dimensions; found {scores.ndim} (shape {scores.shape})")
    return scores


def encode_true_labels(column: targets.Target, scores: np.ndarray, labels: Any) -> tuple[np.ndarray, int]:
    """Codes of the labels, and the number of classes, which must match the columns of the scores."""
    coded = targets.encode_target(column, "y_true")
    n_found = coded.classes.shape[0]
    selected = None if labels is None else check_sorted_labels(labels)
    is_binary = n_found < 3 and (selected is None or selected.shape[0] < 3)
    if is_binary and scores.ndim == 2 and scores.shape[1] != 1:
        raise ValueError(
            f"y_score has {scores.shape[1]} columns but y_true has {n_found} classes, which need one column; pass all "
            f"classes with labels="
        )
    if not is_binary and scores.ndim == 1:
        raise ValueError(f"y_score must have a column per class; found one dimension and {n_found} classes in y_true")
    columns = 2 if is_binary else scores.shape[1]
    classes = n_found if selected is None else selected.shape[0]
    if classes != columns:
        where = "y_true" if selected is None else "labels"
        raise ValueError(f"{where} has {classes} classes but y_score is for {columns}; pass all classes with labels=")
    if selected is None:
        return categorical.sort_classes(coded).codes, classes
    return targets.encode_with_labels(coded, selected, "y_true")[0], classes


def check_sorted_labels(labels: Any) -> np.ndarray:
    """The labels as an array. They must be sorted, because the columns of scores are."""
    classes = counting.as_label_array(labels)
    if classes.shape[0] and not np.array_equal(targets.sorted_classes(classes, "labels"), classes):
        raise ValueError(f"labels must be sorted and unique; found {classes[:5].tolist()!r}")
    return classes


def count_hits(scores: np.ndarray, codes: np.ndarray, k: int, hits: np.ndarray | None, n_threads: int) -> int:
    """Count the correct rows. If `hits` is given, mark them in it."""
    if scores.ndim == 2 and scores.shape[1] > 1:
        flat, columns = scores.reshape(-1), scores.shape[1]
        counts = counting.map_chunks(
            scores.shape[0],
            n_threads,
            lambda start, stop: kernel.mark_top_k(flat, columns, codes, k, start, stop, hits),
        )
        if min(counts) < 0:
            raise_not_finite(scores)
        return sum(counts)
    scores = scores.reshape(-1)
    if not np.isfinite(scores).all():
        raise_not_finite(scores)
    if k > 1:
        correct = np.ones(scores.shape[0], bool)
    else:
        threshold = 0.5 if scores.min() >= 0 and scores.max() <= 1 else 0
        correct = (scores > threshold) == codes
    if hits is not None:
        hits[:] = correct
    return int(np.count_nonzero(correct))


def raise_not_finite(scores: np.ndarray) -> None:
    bad = ~np.isfinite(scores)
    row = validation.first_bad_row(bad.reshape(scores.shape[0], -1).any(axis=1))
    value = scores[row][bad[row]].ravel()[0]
    raise ValueError(f"y_score has {'NaN' if value != value else value} at row {row}: scores must be finite")


class TopKHits(AdditiveStatistic):
    """Rows whose class has one of the k highest probabilities, and their weight if rows have weights."""

    __slots__ = ("k",)
    fields = Fields("hits", exact_sum("weight of hits"))

    def __init__(self, k: int) -> None:
        self.k = k

    def update(self, state: Sums, rows: Rows) -> None:
        n, n_classes = rows.scores.shape
        hits = np.empty(n, np.uint8)
        n_hits = kernel.mark_top_k(rows.scores.reshape(-1), n_classes, rows.labels, self.k, 0, n, hits)
        state.add_count("hits", n_hits)
        if rows.weights is not None:
            sums.sum_positive_weights(hits, rows.weights, state.sum_of("weight of hits"))


def hits_over_rows(parameters: dict[str, Any], rows: Any, hits: Any) -> tuple[Any, Any]:
    """The hits and the rows of a state, or of many."""
    return hits.number("weight of hits" if rows.is_set("weighted") else "hits"), ClassRows.total(rows)


@metric(
    "top_k_accuracy",
    exchange="none",
    statistics=lambda labels, k: (ClassRows(), TopKHits(k)),
    function=top_k_accuracy_score,
    undefined="never",
    parameters={"labels": None},
    checks={"labels": check_labels},
    default=False,
    cutoff="required",
    scale="share",
    roles=CLASS_SCORES,
    variants=("top_k_accuracy@1", "top_k_accuracy@2"),
    aliases=("top_k_accuracy_score",),
    many=many_quotients(hits_over_rows),
)
def finalize_top_k_accuracy(parameters: dict[str, Any], rows: Sums, hits: Sums) -> Value:
    """Top-k accuracy: the share of rows whose class has one of the k highest probabilities."""
    return rounded_quotient(*hits_over_rows(parameters, rows, hits), ClassRows.coverage(rows), NO_WEIGHT)


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {"top_k_accuracy_score": ({"k": 1}, {"k": 1, "normalize": False})}
