"""The classification report: precision, recall, F1 and support of all labels, with averages, as text or as a dict."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.class_labels import MULTILABEL
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.undefined import warn_user
from fastmetrics.metrics.classification import count_ratios
from fastmetrics.metrics.classification.label_counts import ClassCounts, count_classes

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, MatrixLike, NumericArrayLike
    from fastmetrics._core.types.options import ZeroDivision

MOST_DIGITS = 1074  # every float ends there
HEADERS = ("precision", "recall", "f1-score", "support")

__all__ = ["classification_report"]


class ReportRow(NamedTuple):
    """Precision, recall, F1 and support of one label or average."""

    name: Any
    scores: tuple[Any, Any, Any]
    support: Any


@overload
def classification_report(
    y_true: MatrixLike, y_pred: MatrixLike, *, labels: ArrayLike | None = ..., target_names: ArrayLike | None = ...,
    sample_weight: NumericArrayLike | None = ..., digits: int = ..., output_dict: Literal[True],
    zero_division: ZeroDivision = ..., n_threads: int | None = ...,
) -> dict[str, Any]: ...  # fmt: skip
@overload
def classification_report(
    y_true: MatrixLike, y_pred: MatrixLike, *, labels: ArrayLike | None = ..., target_names: ArrayLike | None = ...,
    sample_weight: NumericArrayLike | None = ..., digits: int = ..., output_dict: Literal[False] = ...,
    zero_division: ZeroDivision = ..., n_threads: int | None = ...,
) -> str: ...  # fmt: skip
@answers_unknown
def classification_report(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    labels: ArrayLike | None = None,
    target_names: ArrayLike | None = None,
    sample_weight: NumericArrayLike | None = None,
    digits: int = 2,
    output_dict: bool = False,
    zero_division: ZeroDivision = "warn",
    n_threads: int | None = None,
) -> str | dict[str, Any]:
    """Precision, recall, F1 and support of every label, with averages, as text or as a dict.

    The labels are followed by the averages "micro", "macro" and "weighted". If every label is included and each row has
    one label, the micro average is the accuracy and is named so. Multilabel input also has the average over rows,
    "samples". The definitions are those of `precision_recall_fscore_support`. The text is identical to scikit-learn's.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, n_labels)
        True and predicted labels, both of one kind: integers, strings or bools. Multilabel input has one column per
        label, with 0 and 1 (dense or sparse).
    labels : array-like, optional
        The labels to report and their order. By default all labels that occur, sorted. For multilabel input, column
        numbers.
    target_names : array-like of str, optional
        The names of the labels, in their order.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero.
    digits : int from 0 to 1074
        Digits after the decimal point in the text. The numbers of the dict are not rounded.
    output_dict : bool
        Return a dict of dicts instead of text.
    zero_division : "warn", 0, 1 or nan
        The value of 0/0. "warn" gives 0 with an UndefinedMetricWarning; nan is left out of averages.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    str or dict
        The dict has, for every label and average, a dict of floats with the keys "precision", "recall", "f1-score" and
        "support"; "accuracy" is a single float.

    Raises
    ------
    ValueError
        Values that are not class labels, labels of two kinds, different lengths, no rows, an invalid option, or names
        that do not match the labels found.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> print(fm.classification_report(["cat", "dog", "dog", "cat"], ["cat", "dog", "cat", "cat"]))
                  precision    recall  f1-score   support
    <BLANKLINE>
             cat       0.67      1.00      0.80         2
             dog       1.00      0.50      0.67         2
    <BLANKLINE>
        accuracy                           0.75         4
       macro avg       0.83      0.75      0.73         4
    weighted avg       0.83      0.75      0.73         4
    <BLANKLINE>
    >>> fm.classification_report([1, 0], [1, 1], zero_division=0, output_dict=True)["macro avg"]["recall"]
    0.5
    """
    check_options(target_names, digits, output_dict)
    zero = count_ratios.check_zero_division(zero_division)
    counted = count_classes(y_true, y_pred, labels=labels, sample_weight=sample_weight, n_threads=n_threads)
    names = name_labels(counted, target_names, labels is not None)
    if not names:
        raise ValueError("labels is empty: at least one label is needed")
    warn = isinstance(zero_division, str)
    counts = count_ratios.RatioCounts(counted.tp, counted.fp, counted.fn, counted.tn, None, counted.classes)
    support = count_ratios.label_support(counted)
    scores = compute_scores(counts, zero, warn)
    columns = (ratios.tolist() for ratios in scores)
    rows = [ReportRow(*row) for row in zip(names, zip(*columns, strict=True), support, strict=False)]
    total = total_support(support)
    averages = [
        ReportRow(name, tuple(count_ratios.average_ratios(ratios, averaged) for ratios in ratios_of_scores), total)
        for name, averaged, ratios_of_scores in average_scores(
            counts, scores, micro_is_accuracy(counted, labels is not None), zero
        )
    ]
    if counted.kind == MULTILABEL:
        of_rows = count_ratios.count_for_average(y_true, y_pred, labels, None, "samples", sample_weight, n_threads)
        row_scores = tuple(
            count_ratios.average_ratios(ratios, of_rows) for ratios in compute_scores(of_rows, zero, warn)
        )
        averages.append(ReportRow("samples avg", row_scores, total))
    return format_dict(rows, averages) if output_dict else format_text(rows, averages, names, int(digits))


def check_options(target_names: Any, digits: Any, output_dict: Any) -> None:
    if not isinstance(digits, Integral) or not 0 <= int(digits) <= MOST_DIGITS:
        raise validation.OptionError(f"digits must be an integer from 0 to {MOST_DIGITS}; found {digits!r}")
    validation.check_flag(output_dict, "output_dict")
    if target_names is not None and (isinstance(target_names, str) or not validation.is_array_like(target_names)):
        raise validation.OptionError(f"target_names must be an array of strings; found {target_names!r}")


def name_labels(counted: ClassCounts, target_names: Any, has_labels_option: bool) -> list[Any]:
    """The names of the labels: `target_names`, or the labels as strings."""
    if target_names is None:
        return [str(label) for label in counted.classes]
    names = list(target_names)
    n_labels = counted.classes.shape[0]
    if len(names) != n_labels:
        if not has_labels_option:
            raise ValueError(
                f"target_names has {len(names)} names but {n_labels} labels occur; select the labels with labels="
            )
        warn_user(f"target_names has {len(names)} names but labels has {n_labels}", UserWarning)
    return names


def micro_is_accuracy(counted: ClassCounts, has_labels_option: bool) -> bool:
    """Is the micro average the accuracy? It is if each row has one label and all labels are counted."""
    if counted.kind == MULTILABEL:
        return False
    return not has_labels_option or set(counted.present.tolist()) <= set(counted.classes.tolist())


def compute_scores(counts: count_ratios.RatioCounts, zero: float, warn: bool) -> tuple[Any, Any, Any]:
    """The ratios of precision, recall and F1."""
    return (
        count_ratios.divide_counts(count_ratios.precision_ratio(counts), counts, zero, warn),
        count_ratios.divide_counts(count_ratios.recall_ratio(counts), counts, zero, warn),
        count_ratios.divide_counts(count_ratios.fbeta_ratio(counts, 1.0), counts, zero, warn),
    )


def average_scores(
    counts: count_ratios.RatioCounts, scores: Any, is_accuracy: bool, zero: float
) -> Iterator[tuple[str, count_ratios.RatioCounts, Any]]:
    """Name, counts and ratios of each average over labels. Warnings about 0/0 were given before."""
    micro = count_ratios.micro_counts(counts)
    yield "accuracy" if is_accuracy else "micro avg", micro, compute_scores(micro, zero, False)
    yield "macro avg", counts._replace(average="macro"), scores
    yield "weighted avg", counts._replace(average="weighted"), scores


def total_support(support: np.ndarray) -> Any:
    total = count_ratios.exact_total(support)
    return np.float64(total) if support.dtype.kind == "f" else total


def format_dict(rows: list[ReportRow], averages: list[ReportRow]) -> dict[Any, Any]:
    report: dict[Any, Any] = {
        row.name: dict(zip(HEADERS, (*row.scores, float(row.support)), strict=True)) for row in [*rows, *averages]
    }
    if averages[0].name == "accuracy":
        report["accuracy"] = report["accuracy"]["precision"]
    return report


def format_text(rows: list[ReportRow], averages: list[ReportRow], names: list[Any], digits: int) -> str:
    width = max(max(len(name) for name in names), len("weighted avg"), digits)
    head = f"{{:>{width}s}} " + " {:>9}" * 4
    line = f"{{:>{width}s}} " + f" {{:>9.{digits}f}}" * 3 + " {:>9}\n"
    accuracy = f"{{:>{width}s}} " + " {:>9}" * 2 + f" {{:>9.{digits}f}}" + " {:>9}\n"
    lines = [head.format("", *HEADERS), "\n\n"]
    lines += [line.format(row.name, *row.scores, row.support) for row in rows]
    lines.append("\n")
    for row in averages:
        if row.name == "accuracy":
            lines.append(accuracy.format(row.name, "", "", row.scores[2], row.support))
        else:
            lines.append(line.format(row.name, *row.scores, row.support))
    return "".join(lines)


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {
    "classification_report": ({"labels": [0, 1]}, {"output_dict": True, "labels": [0, 1]}),
}
