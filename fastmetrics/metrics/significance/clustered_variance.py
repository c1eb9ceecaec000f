"""The variance of an AUC, or of the difference of two AUCs, for rows in clusters (Obuchowski, 1997)."""

from __future__ import annotations

import numpy as np

from fastmetrics._core.columns.row_blocks import block_bounds
from fastmetrics._core.score_statistics.delong_placements import (
    PlacementSums,
    Variance,
    two_word_integer,
    variance_reason,
)
from fastmetrics._core.score_statistics.row_placements import ModelPlacements, PlacementTable, make_reader
from fastmetrics._kernels.significance import delong_placements as kernels


def sum_groups(
    labels: np.ndarray, models: list[ModelPlacements | PlacementTable], codes: np.ndarray, n_groups: int
) -> np.ndarray:
    """A row for every group: negatives, positives, and the sums of placements of its negatives and of its positives.

    With two models, the differences of the placements are summed.
    """
    table = np.zeros((n_groups, 4), np.int64)
    read = make_reader(labels.shape[0], models)
    for start, stop in block_bounds(labels.shape[0]):
        kernels.sum_placements_by_group(labels[start:stop], codes[start:stop], *read(start, stop), table)
    return table


def clustered_variance(sums: PlacementSums, table: np.ndarray) -> Variance:
    """The variance after N. Obuchowski, Biometrics 53, 1997, from the table of `sum_groups`.

    Groups are independent, rows of one group need not be. Let d_k = (placements of a group's positives - its positives
    * AUC) / m, and e_k the same for negatives, divided by n. Let I1, I0 and I be the numbers of groups with positives,
    with negatives, and in all. The variance is the sum of I1 / (I1 - 1) d_k^2, I0 / (I0 - 1) e_k^2 and
    2 I / (I - 1) d_k e_k. Here d_k is an integer divided by 2 m^2 n, and e_k is an integer divided by 2 m n^2.
    """
    n, m, total = sums.negatives, sums.positives, sums.wins
    reason = variance_reason(n, m)
    with_negatives, with_positives = (table[:, :2] > 0).sum(0).tolist()
    groups = table.shape[0]
    if reason is None and min(with_negatives, with_positives) < 2:
        rare_class = "positive" if with_positives < 2 else "negative"
        reason = f"only one group has {rare_class} rows, so the variance is unknown"
    if reason:
        return Variance(0, 1, reason)
    words = np.zeros((10, 4), np.uint64)
    kernels.sum_products(table, words)
    n_n, n_m, n_e, n_d, m_m, m_e, m_d, e_e, e_d, d_d = (
        two_word_integer(product[:2]) - two_word_integer(product[2:]) for product in words.tolist()
    )
    positive_term = m * m * d_d - 2 * m * total * m_d + total * total * m_m
    negative_term = n * n * e_e - 2 * n * total * n_e + total * total * n_n
    cross_term = m * n * e_d - m * total * n_d - n * total * m_e + total * total * n_m
    positive_df, negative_df, group_df = with_positives - 1, with_negatives - 1, groups - 1
    numerator = (
        with_positives * positive_term * n * n * negative_df * group_df
        + with_negatives * negative_term * m * m * positive_df * group_df
        + 2 * groups * cross_term * m * n * positive_df * negative_df
    )
    if numerator < 0:
        return Variance(0, 1, "the groups are too few: their estimate of the variance is negative")
    return Variance(numerator, 4 * m**4 * n**4 * positive_df * negative_df * group_df)
