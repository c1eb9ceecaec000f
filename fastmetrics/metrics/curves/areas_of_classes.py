"""AUC and average precision for probabilities of several classes: forms of the metrics of two classes.

Every problem of two classes has the state, and the value, that it has alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns.binary_probabilities import NO_WEIGHT
from fastmetrics._core.columns.vector_columns import check_labels
from fastmetrics._core.exchange.class_ranges import ALL_CLASSES, ONE_AGAINST_ONE, ONE_AGAINST_REST, OverClasses
from fastmetrics._core.exchange.weighted_ranges import WeightedPairs
from fastmetrics._core.kinds import CLASS_SCORES, PROBABILITIES
from fastmetrics._core.metric_spec import ClassesInfluence, ScoreInfluence
from fastmetrics._core.metric_strings import format_value
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import metric_form
from fastmetrics._core.resampling.contributions import Contributions
from fastmetrics._core.score_statistics.pair_counts import PairsWon, finalize_pairs, pair_influence
from fastmetrics._core.score_statistics.slice_pairs import PairCounts
from fastmetrics._core.statistic import Value
from fastmetrics.metrics.curves import auc  # noqa: F401 - it registers the metric
from fastmetrics.metrics.curves.average_precision import (
    Precisions,
    PrecisionSum,
    finalize_precisions,
    precision_influence,
)
from fastmetrics.metrics.curves.multiclass import weighted_mean

AVERAGES = ("macro", "weighted", "micro")
ONE_CLASS = "all rows are of one class"


def problems_of(average: str, multi_class: str = ONE_AGAINST_REST) -> str:
    """The problems of two classes that an average needs."""
    if average != ALL_CLASSES:
        return multi_class
    if multi_class == ONE_AGAINST_ONE:
        raise ValueError("average=micro is for multi_class=ovr: with ovo write average=macro or weighted")
    return ALL_CLASSES


def class_weight(state: PairCounts | WeightedPairs | Precisions) -> float:
    """The number of positive rows, or their weight, rounded once."""
    if isinstance(state, PairCounts):
        return float(state.positives)
    weight = state.weights[1] if isinstance(state, WeightedPairs) else state.positive_weight
    return exact.divide(weight, 1 << exact.EXPONENT)


def positive_rows(state: PairCounts | WeightedPairs | Precisions) -> int:
    return state.rows[1] if isinstance(state, WeightedPairs) else state.positives


def average_classes(
    finalize: Callable[[Any], Value], states: Sequence[Any], average: str, labels: Sequence[Any] | None
) -> Value:
    """The average over classes, each against the rest, or the value of all classes together."""
    rows = sum(map(positive_rows, states))
    if not rows:
        return Value(math.nan, {"rows": 0}, NO_WEIGHT)
    if average == ALL_CLASSES:
        value = finalize(states[0])
        return Value(value.value, {"rows": rows}, value.reason)
    values = [finalize(state) for state in states]
    weights = [class_weight(state) for state in states] if average == "weighted" else None
    mean = weighted_mean([value.value for value in values], weights)
    coverage = {"rows": rows, "classes": len(states)}
    if not math.isnan(mean):
        return Value(mean, coverage)
    number, reason = next((number, value.reason) for number, value in enumerate(values) if value.reason)
    label = format_value(number if labels is None else labels[number])
    return Value(math.nan, coverage, f"class {label}: {reason}")


def pairs_of(states: Sequence[Any]) -> list[tuple[int, int]]:
    """The pairs of a positive and a negative class that problems are of."""
    classes = range((1 + math.isqrt(1 + 4 * len(states))) // 2)
    return [(a, b) for a in classes for b in classes if a != b]


def average_pairs(states: Sequence[Any], average: str) -> Value:
    """The average over pairs of classes that have rows, in both directions (Hand and Till, 2001)."""
    pairs = pairs_of(states)
    n_classes = 1 + max((a for a, _ in pairs), default=0)
    against = dict(zip(pairs, states, strict=True))
    present: dict[int, tuple[int, float]] = {}
    for (positive, _), state in against.items():
        if positive_rows(state):
            present[positive] = positive_rows(state), class_weight(state)
    coverage = {"rows": sum(rows for rows, _ in present.values()), "classes": n_classes}
    if len(present) < 2:
        return Value(math.nan, coverage, ONE_CLASS if present else NO_WEIGHT)
    values, weights = [], []
    for a, b in pairs:
        if a < b and a in present and b in present:
            values.append((finalize_pairs(against[a, b]).value + finalize_pairs(against[b, a]).value) / 2)
            weights.append(present[a][1] + present[b][1])
    return Value(weighted_mean(values, weights if average == "weighted" else None), coverage)


def combine_classes(
    finalize: Callable[[Any], Value], average: str, states: Sequence[Any], found: Sequence[Contributions | None]
) -> Contributions:
    """The contributions to the average over classes, or to the value of all classes together."""
    own = [(state, of_class) for state, of_class in zip(states, found, strict=True) if of_class is not None]
    if average == ALL_CLASSES:
        return own[0][1]
    terms = []
    for state, of_class in own:
        weight = class_weight(state) if average == "weighted" else 1.0
        if weight:
            left = weight * (1 - shares_of(of_class)) if average == "weighted" else np.ones_like(of_class.changes)
            terms.append(MeanTerm(finalize(state).value, weight, left, of_class.changes))
    return contributions_to_mean(terms, [of_class for _, of_class in own])


def combine_pairs(average: str, states: Sequence[Any], found: Sequence[Contributions | None]) -> Contributions:
    """The contributions to the average over pairs of classes."""
    against = {pair: (state, own) for pair, state, own in zip(pairs_of(states), states, found, strict=True)}
    terms, used = [], []
    for (a, b), (state, own) in against.items():
        other_state, other = against[b, a]
        if a < b and own is not None and other is not None:
            value = (finalize_pairs(state).value + finalize_pairs(other_state).value) / 2
            weight, left = 1.0, np.ones_like(own.changes)
            if average == "weighted":
                weights = class_weight(state), class_weight(other_state)
                weight, left = sum(weights), weights[0] * (1 - shares_of(own)) + weights[1] * (1 - shares_of(other))
            terms.append(MeanTerm(value, weight, left, (own.changes + other.changes) / 2))
            used += [own, other]
    return contributions_to_mean(terms, used)


class MeanTerm(NamedTuple):
    """A value and its weight in a mean; without each entry, the weight left and the change of the value."""

    value: float
    weight: float
    left: np.ndarray
    changes: np.ndarray


def contributions_to_mean(terms: Sequence[MeanTerm], found: Sequence[Contributions]) -> Contributions:
    """The contributions to a mean of values; a value whose weight an entry has alone is left out with it."""
    mean = sum(own.weight * own.value for own in terms) / sum(own.weight for own in terms)
    with np.errstate(divide="ignore", invalid="ignore"):  # an entry that has all weight leaves none
        without = sum(np.where(own.left > 0, own.left * (own.value - own.changes), 0.0) for own in terms)
        changes = mean - without / sum(own.left for own in terms)
    counted = np.logical_or.reduce([own.counted for own in found])
    return Contributions(np.where(counted, changes, 0.0), counted, min(own.n_effective for own in found))


def shares_of(found: Contributions) -> np.ndarray:
    """The shares of the positive class that entries have."""
    if found.shares is None:
        raise ValueError("contributions to a problem have the shares of the positive class")
    return found.shares


def influence_of_areas(labels: Any, multi_class: str, average: str) -> ClassesInfluence:
    combine = partial(combine_classes, finalize_pairs, average)
    return ClassesInfluence(
        ScoreInfluence(pair_influence), partial(combine_pairs, average) if multi_class == ONE_AGAINST_ONE else combine
    )


def influence_of_precisions(labels: Any, average: str) -> ClassesInfluence:
    return ClassesInfluence(ScoreInfluence(precision_influence), partial(combine_classes, finalize_one, average))


def finalize_one(state: Precisions) -> Value:
    """Average precision of one class against the rest."""
    return finalize_precisions({}, state)


@metric_form(
    "auc",
    roles=PROBABILITIES,
    statistics=lambda labels, multi_class, average: (OverClasses(PairsWon(), problems_of(average, multi_class)),),
    undefined="a class without rows, or the only one with rows; with ovo or average=weighted one class only",
    parameters={"labels": None, "multi_class": ONE_AGAINST_REST, "average": "macro"},
    checks={"labels": check_labels, "multi_class": (ONE_AGAINST_REST, ONE_AGAINST_ONE), "average": AVERAGES},
    variants=(
        "auc(average=weighted)", "auc(average=micro)", "auc(multi_class=ovo)", "auc(multi_class=ovo, average=weighted)",
    ),
    default=True,
    influence=influence_of_areas,
)
def finalize_auc_of_classes(parameters: dict[str, Any], states: tuple[Any, ...]) -> Value:
    """Area under the ROC curve of every class against the rest, or of every pair of classes, averaged."""
    if parameters["multi_class"] == ONE_AGAINST_ONE:
        return average_pairs(states, parameters["average"])
    return average_classes(finalize_pairs, states, parameters["average"], parameters["labels"])


@metric_form(
    "ap",
    roles=CLASS_SCORES,
    statistics=lambda labels, average: (OverClasses(PrecisionSum(), problems_of(average)),),
    undefined="a class without rows, unless average=weighted or micro",
    parameters={"labels": None, "average": "macro"},
    checks={"labels": check_labels, "average": AVERAGES},
    variants=("ap(average=weighted)", "ap(average=micro)"),
    default=True,
    influence=influence_of_precisions,
)
def finalize_precisions_of_classes(parameters: dict[str, Any], states: tuple[Any, ...]) -> Value:
    """Average precision of every class against the rest, averaged."""
    return average_classes(finalize_one, states, parameters["average"], parameters["labels"])
