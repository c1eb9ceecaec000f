"""The report: precision, recall, F1 and support of every label and their averages, as text or as a dict."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.labels import MULTILABEL
from fastmetrics._core.parallel import count_threads
from fastmetrics.metrics.classification import ratios
from fastmetrics.metrics.classification.counts import ClassCounts, count_classes
from fastmetrics.metrics.classification.ratios import Counts

HEADERS = ("precision", "recall", "f1-score", "support")
LONGEST_AVERAGE = "weighted avg"

__all__ = ["classification_report"]


class Row(NamedTuple):
    """Precision, recall, F1 and support under a name."""

    name: Any
    scores: tuple[Any, Any, Any]
    support: Any


@overload
def classification_report(
    y_true: Any, y_pred: Any, *, output_dict: Literal[True], labels: Any = ..., target_names: Any = ...,
    sample_weight: Any = ..., digits: int = ..., zero_division: Any = ..., n_threads: int | None = ...,
) -> dict[str, Any]: ...  # fmt: skip
@overload
def classification_report(
    y_true: Any, y_pred: Any, *, output_dict: Literal[False] = ..., labels: Any = ..., target_names: Any = ...,
    sample_weight: Any = ..., digits: int = ..., zero_division: Any = ..., n_threads: int | None = ...,
) -> str: ...  # fmt: skip
def classification_report(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    target_names: Any = None,
    sample_weight: Any = None,
    digits: int = 2,
    output_dict: bool = False,
    zero_division: Any = "warn",
    n_threads: int | None = None,
) -> Any:
    """Precision, recall, F1 and support of every label and their averages, to be read or to be looked up.

    Below the labels stand the averages "macro" and "weighted", and before them "micro"; where every label is counted
    and a row has one, "micro" is the accuracy and called so. Sets of labels have the average over rows, "samples", too.
    The definitions are those of `precision_recall_fscore_support`, the text is scikit-learn's to the character.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, n_labels)
        True and predicted labels of any one kind: integers, texts, bools. With a column per label (0 or 1, dense or
        sparse), sets of labels.
    labels : array-like, optional
        The labels to report and their order; by default all that occur, sorted. For sets of labels, column numbers.
    target_names : array-like of str, optional
        What to call the labels, in their order.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero.
    digits : int of at least 0
        Digits behind the point in the text; the dict has the numbers as they are.
    output_dict : bool
        A dict of dicts instead of text.
    zero_division : "warn", 0, 1 or nan
        What stands for 0/0: "warn" is 0 with an UndefinedMetricWarning; nan is left out of averages.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    str or dict
        The dict has for every label and average {"precision", "recall", "f1-score", "support"}, all float; "accuracy"
        is a float alone.

    Raises
    ------
    ValueError
        Labels that are no class labels, of two kinds or of different lengths, no rows, an option not allowed, names
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
    zero = ratios.check_zero_division(zero_division)
    if n_threads is not None:
        count_threads(n_threads)
    counted = count_classes(y_true, y_pred, labels=labels, sample_weight=sample_weight, n_threads=n_threads)
    names = name_labels(counted, target_names, labels is not None)
    if not names:
        raise ValueError("labels is empty: at least one label is needed")
    warn = isinstance(zero_division, str)
    counts = Counts(counted.tp, counted.fp, counted.fn, counted.tn, None, counted.classes)
    support = ratios.support_of(counted)
    scores = score(counts, zero, warn, 3)
    columns = (part.tolist() for part in scores)
    rows = [Row(*row) for row in zip(names, zip(*columns, strict=True), support, strict=False)]
    total = sum_of(support)
    averages = [
        Row(name, tuple(ratios.finish(part, of) for part in parts), total)
        for name, of, parts in average(counts, scores, is_accuracy(counted, labels is not None), zero)
    ]
    if counted.kind == MULTILABEL:
        of = ratios.count(y_true, y_pred, labels, None, "samples", sample_weight, n_threads, 3)
        parts = score(of, zero, warn, 3)
        averages.append(Row("samples avg", tuple(ratios.finish(part, of) for part in parts), total))
    return as_dict(rows, averages) if output_dict else as_text(rows, averages, names, int(digits))


def check_options(target_names: Any, digits: Any, output_dict: Any) -> None:
    if not isinstance(digits, Integral) or digits < 0:
        raise inputs.OptionError(f"digits must be an integer of at least 0; found {digits!r}")
    if not isinstance(output_dict, (bool, np.bool_)):
        raise inputs.OptionError(f"output_dict must be True or False; found {output_dict!r}")
    if target_names is not None and (isinstance(target_names, str) or not inputs.has_rows(target_names)):
        raise inputs.OptionError(f"target_names must be an array of texts; found {target_names!r}")


def name_labels(counted: ClassCounts, target_names: Any, chosen: bool) -> list[Any]:
    """What the labels are called: as given, or as they print."""
    if target_names is None:
        return [str(label) for label in counted.classes]
    names = list(target_names)
    n_labels = counted.classes.shape[0]
    if len(names) != n_labels:
        if not chosen:
            raise ValueError(f"target_names has {len(names)} names but {n_labels} labels occur; labels= chooses some")
        warnings.warn(f"target_names has {len(names)} names but labels has {n_labels}", UserWarning, stacklevel=3)
    return names


def is_accuracy(counted: ClassCounts, chosen: bool) -> bool:
    """Is the micro average the accuracy? With one label per row, and all labels counted."""
    if counted.kind == MULTILABEL:
        return False
    return not chosen or set(counted.present.tolist()) <= set(counted.classes.tolist())


def score(counts: Counts, zero: float, warn: bool, stacklevel: int) -> tuple[Any, Any, Any]:
    """Precision, recall and F1."""
    precision = ratios.divide(ratios.precision_of(counts), counts, zero, warn, stacklevel + 1)
    recall = ratios.divide(ratios.recall_of(counts), counts, zero, warn, stacklevel + 1)
    return precision, recall, ratios.divide(ratios.fbeta_of(counts, 1.0), counts, zero, warn, stacklevel + 1)


def average(counts: Counts, scores: Any, accuracy: bool, zero: float) -> Iterator[tuple[str, Counts, Any]]:
    """The averages over labels: names, what they are made of and with what. Nothing here is 0/0 for the first time."""
    together = ratios.together(counts)
    yield "accuracy" if accuracy else "micro avg", together, score(together, zero, False, 0)
    yield "macro avg", counts._replace(average="macro"), scores
    yield "weighted avg", counts._replace(average="weighted"), scores


def sum_of(support: np.ndarray) -> Any:
    total = ratios.add(support)
    return np.float64(total) if support.dtype.kind == "f" else total


def as_dict(rows: list[Row], averages: list[Row]) -> dict[Any, Any]:
    report: dict[Any, Any] = {
        row.name: dict(zip(HEADERS, (*row.scores, float(row.support)), strict=True)) for row in [*rows, *averages]
    }
    if averages[0].name == "accuracy":
        report["accuracy"] = report["accuracy"]["precision"]
    return report


def as_text(rows: list[Row], averages: list[Row], names: list[Any], digits: int) -> str:
    width = max(max(len(name) for name in names), len(LONGEST_AVERAGE), digits)
    head = f"{{:>{width}s}} " + " {:>9}" * 4
    line = f"{{:>{width}s}} " + f" {{:>9.{digits}f}}" * 3 + " {:>9}\n"
    accuracy = f"{{:>{width}s}} " + " {:>9}" * 2 + f" {{:>9.{digits}f}}" + " {:>9}\n"
    parts = [head.format("", *HEADERS), "\n\n"]
    parts += [line.format(row.name, *row.scores, row.support) for row in rows]
    parts.append("\n")
    for row in averages:
        if row.name == "accuracy":
            parts.append(accuracy.format(row.name, "", "", row.scores[2], row.support))
        else:
            parts.append(line.format(row.name, *row.scores, row.support))
    return "".join(parts)
