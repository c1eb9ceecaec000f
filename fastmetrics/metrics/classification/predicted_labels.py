"""Classification metrics for columns of predicted labels: any number of classes, labels of any type, or sets of labels.

All metrics of a column share one table of the pairs of label and prediction. Each is computed from the table with the
code of its function. Weighted counts are exact sums, rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.kinds import PREDICTIONS
from fastmetrics._core.registry import metric, metric_form
from fastmetrics._core.statistic import Value
from fastmetrics.metrics.classification import count_ratios, fixed_threshold
from fastmetrics.metrics.classification.balanced_accuracy import NO_CHANCE_LEVEL, mean_recall
from fastmetrics.metrics.classification.class_cells import ClassCells, CountedLabels, SetCounts
from fastmetrics.metrics.classification.class_table import ClassTable, ClassTableCounts
from fastmetrics.metrics.classification.cohen_kappa import DisagreementCounts, kappa_of
from fastmetrics.metrics.classification.count_ratios import CountRatio, RatioCounts
from fastmetrics.metrics.classification.geometric_mean import check_correction, geometric_mean_of_recalls
from fastmetrics.metrics.classification.hamming_loss import hamming_loss
from fastmetrics.metrics.classification.label_counts import counts_from_margins
from fastmetrics.metrics.classification.matthews_corrcoef import correlation_of
from fastmetrics.metrics.classification.precision_recall_fscore import f_of_means

NO_ROWS = "no rows"
ONE_CLASS = "one class only, in the labels or in the predictions"
SAME_CLASS = "one class only, the same in labels and predictions"
OF_LABELS = ("micro", "macro", "weighted")
AVERAGES = ("binary", *OF_LABELS, "samples")
BINARY_CLASSES = 2

NEEDS_SETS = (
    "average=samples is a mean over rows with sets of labels, and these rows have one class each: write average=macro, "
    "micro or weighted"
)

# A function of the counts and of the metric's parameters: the value, or why there is none.
Outcome = float | str


def make_finalizer(
    name: str, summary: str, compute: Callable[..., Outcome], takes_sets: bool
) -> Callable[[dict[str, Any], ClassTable], Value]:
    """A finalizer from a function of the cells and of parameters."""

    def finalize(options: dict[str, Any], table: ClassTable) -> Value:
        cells = table.class_cells()
        coverage = {"rows": cells.rows, "labels" if cells.holds_sets else "classes": len(cells.classes)}
        if not cells.rows:
            return Value(math.nan, coverage, NO_ROWS)
        if cells.holds_sets and not takes_sets:
            return Value(math.nan, coverage, f"{name} is of single classes, and these rows have sets of labels")
        outcome = compute(cells, **options)
        if isinstance(outcome, str):
            return Value(math.nan, coverage, outcome)
        return Value(float(outcome), coverage)

    finalize.__doc__ = summary
    return finalize


def count_labels(**options: Any) -> tuple[ClassTableCounts]:
    """The statistics of every metric, whatever its parameters."""
    return (ClassTableCounts(),)


def register(
    name: str,
    summary: str,
    compute: Callable[..., Outcome],
    undefined: str,
    parameters: dict[str, tuple[Any, Any]] | None = None,
    variants: tuple[str, ...] = (),
    takes_sets: bool = True,
) -> None:
    """Register a function of the cells (and of parameters: default and check) as a metric of predicted labels."""
    own_parameters = parameters or {}
    metric_form(
        name,
        roles=PREDICTIONS,
        statistics=count_labels,
        undefined=undefined,
        parameters={parameter: default for parameter, (default, _) in own_parameters.items()},
        checks={parameter: check for parameter, (_, check) in own_parameters.items()},
        variants=variants,
        default="average" not in own_parameters,
    )(make_finalizer(name, summary, compute, takes_sets))


# ------------------------------------------------------------------------------------------------------ whole tables


def accuracy(cells: CountedLabels) -> Outcome:
    if isinstance(cells, SetCounts):
        is_right = (cells.both == cells.true) & (cells.both == cells.predicted)
        return exact.divide(cells.sum_where(is_right), cells.margins.total)
    return exact.divide(sum(cells.margins.both), cells.margins.total)


def hamming(cells: CountedLabels, labels: Any) -> Outcome:
    both, true, pred, total = cells.margins
    if not isinstance(cells, SetCounts):
        return WITHOUT_LABELS if labels is not None else exact.divide(total - sum(both), total)
    both, true, pred = select_margins(cells, labels)
    n_labels = len(both)
    if not n_labels:
        return "no row has a label"
    return exact.divide(sum(true) + sum(pred) - 2 * sum(both), n_labels * total)


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
        by_distance = cells.by_distance()
    value = kappa_of(DisagreementCounts(true, pred, by_distance), weights)
    return SAME_CLASS if math.isnan(value) else value


def gmean(cells: CountedLabels, labels: Any, correction: float, zero_division: float) -> Outcome:
    counts = class_counts(cells, labels, "multiclass")
    value = geometric_mean_of_recalls(counts, float(correction), float(zero_division), warn=False)
    return "no class has rows" if math.isnan(value) else value


# ------------------------------------------------------------------------------------------------- ratios of classes


def select_margins(cells: CountedLabels, labels: Any) -> Sequence[list[int]]:
    """The margins of every label, or of `labels` in their order."""
    margins = cells.margins[:3]
    if labels is None:
        return margins
    position_of = {label: position for position, label in enumerate(cells.classes)}
    positions = [position_of.get(label) for label in labels]
    return [[0 if position is None else margin[position] for position in positions] for margin in margins]


def class_counts(cells: CountedLabels, labels: Any, average: str) -> RatioCounts:
    """The counts of every class, or of `labels` in their order."""
    margins = np.array(select_margins(cells, labels), object if cells.is_weighted else np.int64).reshape(3, -1)
    tp, fp, fn, tn = (cells.as_numbers(values.tolist()) for values in counts_from_margins(margins, cells.margins.total))
    return RatioCounts(tp, fp, fn, tn, average)


def row_counts(cells: SetCounts) -> RatioCounts:
    """The counts of rows, one of each sizes of sets that occur."""
    both, true, predicted = cells.both, cells.true, cells.predicted
    tn = len(cells.classes) - true - predicted + both
    return RatioCounts(both, predicted - both, true - both, tn, "samples")


def counts_for_average(cells: CountedLabels, average: str, labels: Any, pos_label: Any) -> RatioCounts | str:
    """The counts from which an average is computed, or why there are none."""
    if average == "micro":
        return count_ratios.micro_counts(class_counts(cells, labels, average))
    if average != "binary":
        return class_counts(cells, labels, average)
    if cells.holds_sets:
        return "average=binary is for two classes, and rows have sets of labels: write average=samples, macro, micro " \
            "or weighted"
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
    cells: CountedLabels,
    average: str,
    labels: Any,
    pos_label: Any,
    zero_division: float,
    **options: Any,
) -> Outcome:
    """A ratio of one class, or averaged over classes or rows. Those without a ratio count as `zero_division`."""
    zero_division = float(zero_division)  # a metric string has "nan" as a word
    if average == "samples":
        return mean_over_sets(make_ratio, cells, labels, zero_division, **options)
    counts = counts_for_average(cells, average, labels, pos_label)
    if isinstance(counts, str):
        return counts
    ratio = make_ratio(counts, **options)
    if not isinstance(ratio.denominator, np.ndarray) and not ratio.denominator:
        return f"no {ratio.missing} row of the class" if average == "binary" else f"no {ratio.missing} row"
    value = count_ratios.average_ratios(count_ratios.divide_counts(ratio, counts, zero_division, False), counts)
    return f"no class has a {ratio.missing} row" if math.isnan(value) else value


def mean_over_sets(
    make_ratio: Callable[..., CountRatio], cells: CountedLabels, labels: Any, zero_division: float, **options: Any
) -> Outcome:
    """The mean of a ratio over rows of sets. Its two sums are rounded once, as in `count_ratios.mean_over_rows`."""
    if not isinstance(cells, SetCounts):
        return NEEDS_SETS
    if labels is not None:
        return "average=samples is of all labels of a row: labels= is for the other averages"
    counts = row_counts(cells)
    values = count_ratios.divide_counts(make_ratio(counts, **options), counts, zero_division, False)
    present = values == values
    total = cells.sum_where(present)
    if not total:
        return "no row has a ratio"
    ratios = [exact.to_fixed(value) for value in np.where(present, values, 0.0).tolist()]
    scaled = sum(amount * ratio for amount, ratio in zip(cells.amounts, ratios, strict=True))
    return exact.divide(scaled, cells.scale << exact.EXPONENT) / exact.divide(total, cells.scale)


def f_score(cells: CountedLabels, macro: str = "mean_of_f", beta: float = 1.0, **options: Any) -> Outcome:
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
    count_ratios.check_zero_division(math.nan if value == "nan" else None if isinstance(value, str) else value)


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
WITHOUT_LABELS = "labels= is for sets of labels, and these rows have one class each"
NO_RATIO = "average=binary with more than two classes or without the label; otherwise if all ratios are 0/0"

register("accuracy", "The share of rows whose prediction is right.", accuracy, NO_ROWS)
metric(
    "hamming",
    exchange="none",
    roles=PREDICTIONS,
    statistics=count_labels,
    function=hamming_loss,
    undefined="no row has a label",
    parameters={"labels": None},
    checks={"labels": check_labels},
    default=False,
    direction="minimize",
    scale="share",
    aliases=("hamming_loss",),
    near_names={
        "hamming_score": "the word has two meanings; write 'hamming', which is the loss, or 'jaccard(average=samples)'",
        "hamming_distance": "it is 'hamming', times the number of labels for a number of labels in a row",
    },
)(make_finalizer("hamming", "The share of labels that are predicted wrongly.", hamming, True))
register(
    "balanced_accuracy",
    "The mean recall of the classes.",
    balanced_accuracy,
    "adjusted, and one class only",
    {"adjusted": (False, (False, True))},
    ("balanced_accuracy(adjusted=True)",),
    takes_sets=False,
)
register("mcc", "Matthews correlation coefficient, for any number of classes.", mcc, ONE_CLASS, takes_sets=False)
register(
    "kappa",
    "Cohen's kappa: agreement beyond what the margins alone would give.",
    kappa,
    SAME_CLASS,
    {"weights": (None, (None, "linear", "quadratic"))},
    ("kappa(weights=linear)", "kappa(weights=quadratic)"),
    takes_sets=False,
)
register(
    "gmean",
    "The geometric mean of the classes' recalls.",
    gmean,
    "zero_division is nan, and no class has rows",
    {"labels": (None, check_labels), "correction": (0.0, check_correction), "zero_division": (0, check_zero_division)},
    ("gmean(correction=0.25)",),
    takes_sets=False,
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
        tuple(f"{name}(average={average})" for average in (*OF_LABELS, "samples")),
    )  # fmt: skip
register(
    "f1",
    "The harmonic mean of precision and recall.",
    f_score,
    NO_RATIO,
    OF_CLASSES | MACRO,
    (
        "f1(average=macro)", "f1(average=macro, macro=f_of_means)", "f1(average=weighted)", "f1(average=micro)",
        "f1(average=samples)",
    ),
)
register(
    "fbeta",
    "The harmonic mean of precision and recall, in which recall weighs beta^2 times as much.",
    f_score,
    NO_RATIO,
    OF_CLASSES | MACRO | {"beta": (1.0, fixed_threshold.check_beta)},
    ("fbeta(beta=0.5, average=macro)", "fbeta(beta=2, average=weighted, labels=[cat, bee])"),
)
