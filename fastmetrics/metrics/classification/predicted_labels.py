"""Classification metrics for columns of predicted labels: any number of classes, labels of any type.

All metrics of a column share one table of the pairs of label and prediction. Each is computed from the table with the
code of its function. Weighted counts are exact sums, rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.kinds import PREDICTIONS
from fastmetrics._core.registry import metric_form
from fastmetrics._core.statistic import Value
from fastmetrics.metrics.classification import count_ratios, fixed_threshold
from fastmetrics.metrics.classification.balanced_accuracy import NO_CHANCE_LEVEL, mean_recall
from fastmetrics.metrics.classification.class_table import ClassCells, ClassTable, ClassTableCounts
from fastmetrics.metrics.classification.cohen_kappa import DisagreementCounts, kappa_of
from fastmetrics.metrics.classification.count_ratios import CountRatio, RatioCounts
from fastmetrics.metrics.classification.geometric_mean import check_correction, geometric_mean_of_recalls
from fastmetrics.metrics.classification.label_counts import counts_from_margins
from fastmetrics.metrics.classification.matthews_corrcoef import correlation_of
from fastmetrics.metrics.classification.precision_recall_fscore import f_of_means

NO_ROWS = "no rows"
ONE_CLASS = "one class only, in the labels or in the predictions"
SAME_CLASS = "one class only, the same in labels and predictions"
AVERAGES = ("binary", "micro", "macro", "weighted")
BINARY_CLASSES = 2

# A function of the counts and of the metric's parameters: the value, or why there is none.
Outcome = float | str


def register(
    name: str,
    summary: str,
    compute: Callable[..., Outcome],
    undefined: str,
    parameters: dict[str, tuple[Any, Any]] | None = None,
    variants: tuple[str, ...] = (),
) -> None:
    """Register a function of the cells (and of parameters: default and check) as a metric of predicted labels."""
    own_parameters = parameters or {}

    def finalise(options: dict[str, Any], table: ClassTable) -> Value:
        cells = table.class_cells()
        coverage = {"rows": cells.rows, "classes": len(cells.classes)}
        if not cells.rows:
            return Value(math.nan, coverage, NO_ROWS)
        outcome = compute(cells, **options)
        if isinstance(outcome, str):
            return Value(math.nan, coverage, outcome)
        return Value(float(outcome), coverage)

    finalise.__doc__ = summary
    metric_form(
        name,
        roles=PREDICTIONS,
        statistics=lambda **options: (ClassTableCounts(),),
        undefined=undefined,
        parameters={parameter: default for parameter, (default, _) in own_parameters.items()},
        checks={parameter: check for parameter, (_, check) in own_parameters.items()},
        variants=variants,
        default="average" not in own_parameters,
    )(finalise)


# ------------------------------------------------------------------------------------------------------ whole tables


def accuracy(cells: ClassCells) -> Outcome:
    return exact.divide(sum(cells.margins.both), cells.margins.total)


def balanced_accuracy(cells: ClassCells, adjusted: bool) -> Outcome:
    score = mean_recall(cells.margins, adjusted)
    return NO_CHANCE_LEVEL if math.isnan(score) else score


def mcc(cells: ClassCells) -> Outcome:
    total = cells.margins.total
    is_constant = total in cells.margins.true or total in cells.margins.pred
    return ONE_CLASS if is_constant else correlation_of(cells.margins)


def kappa(cells: ClassCells, weights: str | None) -> Outcome:
    both, true, pred, total = cells.margins
    by_distance = [sum(both), total - sum(both)]
    if weights is not None:
        by_distance = cells.sum_by(np.abs(cells.true - cells.predicted), slice(None))
    value = kappa_of(DisagreementCounts(true, pred, by_distance), weights)
    return SAME_CLASS if math.isnan(value) else value


def gmean(cells: ClassCells, labels: Any, correction: float, zero_division: float) -> Outcome:
    counts = class_counts(cells, labels, "multiclass")
    value = geometric_mean_of_recalls(counts, float(correction), float(zero_division), warn=False)
    return "no class has rows" if math.isnan(value) else value


# ------------------------------------------------------------------------------------------------- ratios of classes


def class_counts(cells: ClassCells, labels: Any, average: str) -> RatioCounts:
    """The counts of every class, or of `labels` in their order."""
    both, true, pred, total = cells.margins
    if labels is not None:
        position_of = {label: position for position, label in enumerate(cells.classes)}
        positions = [position_of.get(label) for label in labels]
        both, true, pred = (
            [0 if position is None else margin[position] for position in positions] for margin in (both, true, pred)
        )
    margins = np.array([both, true, pred], object)
    tp, fp, fn, tn = (cells.as_numbers(values.tolist()) for values in counts_from_margins(margins, total))
    return RatioCounts(tp, fp, fn, tn, average)


def counts_for_average(cells: ClassCells, average: str, labels: Any, pos_label: Any) -> RatioCounts | str:
    """The counts from which an average is computed, or why there are none."""
    if average == "micro":
        return count_ratios.micro_counts(class_counts(cells, labels, average))
    if average != "binary":
        return class_counts(cells, labels, average)
    how = "write average=macro, micro or weighted"
    if len(cells.classes) > BINARY_CLASSES:
        return f"average=binary is for two classes, and there are {len(cells.classes)}: {how}"
    if pos_label not in cells.classes and len(cells.classes) == BINARY_CLASSES:
        found = " and ".join(map(repr, cells.classes))
        return f"average=binary is for the label {pos_label!r}, and there are {found}: name it, pos_label=, or {how}"
    counts = class_counts(cells, (pos_label,), average)
    tp, fp, fn, tn = (values[0].item() for values in counts[:4])
    return RatioCounts(tp, fp, fn, tn, average)


def average_of(
    make_ratio: Callable[..., CountRatio],
    cells: ClassCells,
    average: str,
    labels: Any,
    pos_label: Any,
    zero_division: float,
    **options: Any,
) -> Outcome:
    """A ratio of one class, or averaged over classes. Classes without a ratio count as `zero_division`."""
    counts = counts_for_average(cells, average, labels, pos_label)
    if isinstance(counts, str):
        return counts
    ratio = make_ratio(counts, **options)
    if not isinstance(ratio.denominator, np.ndarray) and not ratio.denominator:
        return f"no {ratio.missing} row of the class" if average == "binary" else f"no {ratio.missing} row"
    value = count_ratios.average_ratios(count_ratios.divide_counts(ratio, counts, zero_division, False), counts)
    return f"no class has a {ratio.missing} row" if math.isnan(value) else value


def f_score(cells: ClassCells, macro: str = "mean_of_f", beta: float = 1.0, **options: Any) -> Outcome:
    """The F of one class, averaged, or of averages."""
    if macro == "mean_of_f":
        return average_of(count_ratios.fbeta_ratio, cells, beta=float(beta), **options)
    if options["average"] != "macro":
        return "macro=f_of_means needs average=macro"
    means = [average_of(ratio, cells, **options) for ratio in (count_ratios.precision_ratio, count_ratios.recall_ratio)]
    precision, recall = means
    if isinstance(precision, str) or isinstance(recall, str):
        return precision if isinstance(precision, str) else recall
    return f_of_means(precision, recall, float(beta))


def ratio_of(make_ratio: Callable[..., CountRatio]) -> Callable[..., Outcome]:
    return lambda cells, **options: average_of(make_ratio, cells, **options)


# --------------------------------------------------------------------------------------------------------- parameters


def check_labels(labels: Any) -> None:
    if labels is not None and (not isinstance(labels, tuple) or not labels):
        raise ValueError(f"labels must be a list of labels, such as labels=[a, b]; found {labels!r}")


def check_zero_division(value: Any) -> None:
    count_ratios.check_zero_division(None if isinstance(value, str) else value)


def check_label(label: Any) -> None:
    if not isinstance(label, (str, int, float)):
        raise ValueError(f"pos_label must be a label; found {label!r}")


OF_CLASSES = {
    "average": ("binary", AVERAGES),
    "labels": (None, check_labels),
    "pos_label": (1, check_label),
    "zero_division": (0, check_zero_division),
}
MACRO = {"macro": ("mean_of_f", ("mean_of_f", "f_of_means"))}
NO_RATIO = "average=binary with more than two classes or without the label; otherwise if all ratios are 0/0"

register("accuracy", "The share of rows whose prediction is right.", accuracy, NO_ROWS)
register(
    "balanced_accuracy",
    "The mean recall of the classes.",
    balanced_accuracy,
    "adjusted, and one class only",
    {"adjusted": (False, (False, True))},
    ("balanced_accuracy(adjusted=True)",),
)
register("mcc", "Matthews correlation coefficient, for any number of classes.", mcc, ONE_CLASS)
register(
    "kappa",
    "Cohen's kappa: agreement beyond what the margins alone would give.",
    kappa,
    SAME_CLASS,
    {"weights": (None, (None, "linear", "quadratic"))},
    ("kappa(weights=linear)", "kappa(weights=quadratic)"),
)
register(
    "gmean",
    "The geometric mean of the classes' recalls.",
    gmean,
    "zero_division is nan, and no class has rows",
    {"labels": (None, check_labels), "correction": (0.0, check_correction), "zero_division": (0, check_zero_division)},
    ("gmean(correction=0.25)",),
)
for name, summary, make_ratio in (
    ("precision", "The share of right rows among those predicted to be of a class.", count_ratios.precision_ratio),
    ("recall", "The share of right rows among those of a class.", count_ratios.recall_ratio),
    ("specificity", "The share of rows not predicted to be of a class among those of other classes.",
     count_ratios.specificity_ratio),
    ("jaccard", "Right rows of a class among those of the class or predicted so.", count_ratios.jaccard_ratio),
):  # fmt: skip
    register(
        name, summary, ratio_of(make_ratio), NO_RATIO, OF_CLASSES,
        tuple(f"{name}(average={average})" for average in AVERAGES[1:]),
    )  # fmt: skip
register(
    "f1",
    "The harmonic mean of precision and recall.",
    f_score,
    NO_RATIO,
    OF_CLASSES | MACRO,
    ("f1(average=macro)", "f1(average=macro, macro=f_of_means)", "f1(average=weighted)", "f1(average=micro)"),
)
register(
    "fbeta",
    "The harmonic mean of precision and recall, in which recall weighs beta^2 times as much.",
    f_score,
    NO_RATIO,
    OF_CLASSES | MACRO | {"beta": (1.0, fixed_threshold.check_beta)},
    ("fbeta(beta=0.5, average=macro)", "fbeta(beta=2, average=weighted, labels=[cat, bee])"),
)
