"""Two partitions of the same rows, counted against each other: what every score of them is made of.

A table holds the cells that are not empty. Nothing in it depends on the order of rows, and no score may depend on the
order of cells or on how labels are numbered.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import inputs, labels

__all__: list[str] = []


class Contingency(NamedTuple):
    """Rows of each pair of labels: cell i counts `counts[i]` rows of class `rows[i]` and cluster `columns[i]`.

    `row_sums` and `column_sums` are the sizes of classes and clusters, `total` the number of rows. All are int64;
    `total` is a Python integer, for its square is more.
    """

    rows: np.ndarray
    columns: np.ndarray
    counts: np.ndarray
    row_sums: np.ndarray
    column_sums: np.ndarray
    total: int
    classes: np.ndarray
    clusters: np.ndarray


def count_labels(labels_true: Any, labels_pred: Any) -> Contingency:
    """The table of two columns of labels."""
    true = labels.code_target(labels.open_column(labels_true, "labels_true"), "labels_true")
    pred = labels.code_target(labels.open_column(labels_pred, "labels_pred"), "labels_pred")
    inputs.check_lengths(true.shape[0], pred.shape[0], "labels_true", "labels_pred")
    n_clusters = pred.classes.shape[0]
    cells, counts = np.unique(true.codes * np.int64(n_clusters) + pred.codes, return_counts=True)
    rows, columns = np.divmod(cells, n_clusters)
    return Contingency(
        rows, columns, counts, np.bincount(true.codes), np.bincount(pred.codes), int(true.shape[0]),
        true.classes, pred.classes,
    )  # fmt: skip
