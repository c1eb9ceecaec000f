"""Cohen's kappa, plain and weighted by the distance of the labels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import accumulate, chain, count, repeat
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.option_numbers import real_value
from fastmetrics._core.undefined import UndefinedMetricWarning, warn_user
from fastmetrics.metrics.classification import label_counts as counting
from fastmetrics.metrics.classification.confusion_matrix import SINGLE_LABEL, count_class_margins, count_or_match, dot
from fastmetrics.metrics.classification.label_weights import weights_by_code

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, NumericArrayLike
    from fastmetrics._core.types.options import KappaWeights

__all__ = ["cohen_kappa_score"]

ANNOTATORS = ("y1", "y2")


@answers_unknown
def cohen_kappa_score(
    y1: ArrayLike,
    y2: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    weights: KappaWeights | None = None,
    sample_weight: NumericArrayLike | None = None,
    replace_undefined_by: float = math.nan,
    n_threads: int | None = None,
) -> float:
    """Cohen's kappa: the agreement of two annotators beyond the agreement expected by chance.

    kappa = 1 - sum_ij f_ij n_ij / sum_ij f_ij e_ij with n_ij the rows labeled i and j, e_ij = n_i. n_.j / n the rows
    expected by chance, and f_ij = 1 for i != j, |i - j| ("linear") or (i - j)^2 ("quadratic") for the i-th and j-th
    label; J. Cohen, "A coefficient of agreement for nominal scales", 1960, and "Weighted kappa", 1968. Computed in
    integers of any size, rounded once.

    Parameters
    ----------
    y1 : array-like of shape (n,)
        Labels of the first annotator: integers, bools, floats without fractions, text.
    y2 : array-like of shape (n,)
        Labels of the second annotator.
    labels : array-like of shape (n_classes,), optional
        The labels to include and, for `weights`, their order; rows with other labels are left out. By default all
        labels, sorted.
    weights : {"linear", "quadratic"}, optional
        How the cost of a disagreement grows with the distance of the labels. By default all disagreements cost 1.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero.
    replace_undefined_by : float in [-1, 1] or NaN
        The result where kappa is undefined.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        At most 1. `replace_undefined_by`, with an UndefinedMetricWarning, if no rows are left or if both annotators
        used the same single label.

    Raises
    ------
    ValueError
        Continuous or multilabel targets, targets of two kinds, different lengths, no rows, invalid weights, or no label
        of `labels` in y1.

    Warns
    -----
    UserWarning
        Only one class occurs.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.cohen_kappa_score(["no", "yes", "no", "maybe", "yes"], ["no", "yes", "no", "maybe", "no"])
    0.6875
    """
    if weights is not None:
        validation.check_option(weights, "weights", ("linear", "quadratic", None))
    check_replacement(replace_undefined_by)
    if weights is None and labels is None:
        margins = count_class_margins(y1, y2, sample_weight, n_threads, ANNOTATORS)
        agreeing = sum(margins.both)
        counts = DisagreementCounts(margins.true, margins.pred, [agreeing, margins.total - agreeing])
    else:
        counts = count_disagreements(y1, y2, labels, sample_weight, n_threads)
    if len(counts.first) == 1:
        warn_user(SINGLE_LABEL, UserWarning)
    total = sum(counts.first)
    if total == 0:
        reason = "y2 has no label that is in y1 and in labels"
    else:
        kappa = kappa_of(counts, weights)
        if not math.isnan(kappa):
            return kappa
        reason = "y1 and y2 have only one label, the same"
    warn_user(
        f"cohen_kappa_score is undefined: {reason}; the result is replace_undefined_by={replace_undefined_by}",
        UndefinedMetricWarning,
    )
    return replace_undefined_by


def kappa_of(counts: DisagreementCounts, weights: str | None) -> float:
    """Kappa of counts that are not all 0; NaN if no disagreement is expected."""
    total = sum(counts.first)
    observed = dot(counts.by_distance, disagreement_costs(weights))
    expected = expected_disagreement(counts.first, counts.second, total, weights)
    return exact.divide(expected - observed * total, expected) if expected else math.nan


def check_replacement(value: Any) -> None:
    number = real_value(value)
    if not isinstance(value, Real) or not (math.isnan(number) or -1 <= number <= 1):
        raise validation.OptionError(f"replace_undefined_by must be a number in [-1, 1] or NaN; found {value!r}")


def disagreement_costs(weights: str | None) -> Iterator[int]:
    """The cost f of a disagreement by a distance of 0, 1, 2, ... labels."""
    if weights is None:
        return chain((0,), repeat(1))
    return (distance * distance for distance in count()) if weights == "quadratic" else count()


def expected_disagreement(first: list[int], second: list[int], total: int, weights: str | None) -> int:
    """sum_ij f_ij first_i second_j. Each of the two columns sums to `total`."""
    if weights is None:
        return total * total - dot(first, second)
    if weights == "quadratic":
        # (i - j)^2 = i^2 + j^2 - 2 i j
        squares = [label * label for label in range(len(first))]
        sum_of_squares = total * (dot(squares, first) + dot(squares, second))
        return sum_of_squares - 2 * dot(count(), first) * dot(count(), second)
    # |i - j| is the number of boundaries between neighboring labels that lie between i and j.
    return sum(
        first_below * (total - second_below) + second_below * (total - first_below)
        for first_below, second_below in zip(accumulate(first), accumulate(second), strict=True)
    )


class DisagreementCounts(NamedTuple):
    """Rows per label of the first and the second annotator, and per distance of their labels; or exact weights."""

    first: list[int]
    second: list[int]
    by_distance: list[int]


def disagreements_of_cells(cells: np.ndarray) -> DisagreementCounts:
    by_distance = [int(cells.trace())]
    by_distance += [int(cells.trace(distance)) + int(cells.trace(-distance)) for distance in range(1, cells.shape[0])]
    return DisagreementCounts(cells.sum(axis=1).tolist(), cells.sum(axis=0).tolist(), by_distance)


def count_small_disagreements(y1: np.ndarray, y2: np.ndarray) -> DisagreementCounts | None:
    cells = counting.count_small_cells(y1, y2)
    return None if cells is None else disagreements_of_cells(cells)


@small_inputs(count_small_disagreements)
def count_disagreements(
    y1: Any, y2: Any, labels: Any = None, sample_weight: Any = None, n_threads: int | None = None
) -> DisagreementCounts:
    """Count two columns of labels, in the order of `labels`."""
    found = count_or_match(y1, y2, labels, sample_weight, n_threads, ANNOTATORS)
    if isinstance(found, counting.ConfusionCounts):
        return disagreements_of_cells(found.counts)
    if isinstance(found, counting.WeighedCells):
        return DisagreementCounts(*found.weights.margins()[1:], found.weights.by_distance())
    n, first, second, weights = found
    columns = first, second, np.abs(first - second)
    if weights is None:
        return DisagreementCounts(*(np.bincount(column, minlength=n).tolist() for column in columns))
    return DisagreementCounts(*(weights_by_code(column, n, weights) for column in columns))


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {"cohen_kappa_score": ({}, {"weights": "linear"}, {"weights": "quadratic"})}
