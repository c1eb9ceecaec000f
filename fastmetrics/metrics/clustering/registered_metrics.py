"""Scores of two partitions in the registry: each is made of the table of pairs, by the code of its function."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from fastmetrics._core.registry import metric
from fastmetrics._core.statistic import Value
from fastmetrics.metrics.clustering.homogeneity import (
    check_beta,
    completeness,
    completeness_score,
    homogeneity,
    homogeneity_score,
    v_measure,
    v_measure_score,
)
from fastmetrics.metrics.clustering.mutual_information import (
    adjusted_mutual_info,
    adjusted_mutual_info_score,
    mutual_info,
    mutual_info_score,
    normalized_mutual_info,
    normalized_mutual_info_score,
)
from fastmetrics.metrics.clustering.pair_table import PairCounts, PairTable
from fastmetrics.metrics.clustering.pairs import (
    adjusted_rand,
    adjusted_rand_score,
    fowlkes_mallows,
    fowlkes_mallows_score,
    pair_jaccard,
    pair_jaccard_score,
    rand,
    rand_score,
)
from fastmetrics.metrics.clustering.purity import purity, purity_score

__all__: list[str] = []

NO_ROWS = "no rows"
NO_PAIR = "no pair of rows is together in either partition"

Parameters = dict[str, tuple[Any, Any]]  # default, and what is allowed: values, or a function that checks one


def enter(
    name: str,
    summary: str,
    function: Callable[..., float],
    score: Callable[..., float],
    parameters: Parameters | None = None,
    undefined: str = NO_ROWS,
) -> None:
    """Enter a score of two partitions: its function, and what makes it of a table and the metric's parameters.

    `undefined` says why it is NaN where there are rows.
    """
    known = parameters or {}

    def finalise(options: dict[str, Any], state: PairTable) -> Value:
        table = state.contingency()
        coverage = {"rows": table.total, "classes": len(table.classes), "clusters": len(table.clusters)}
        if not table.total:
            return Value(math.nan, coverage, NO_ROWS)
        value = float(score(table, **options))
        return Value(value, coverage, undefined if math.isnan(value) else None)

    finalise.__doc__ = summary
    metric(
        name,
        exchange="none",
        target="partition",
        statistics=lambda **options: (PairCounts(),),
        function=function,
        undefined=undefined,
        parameters={own: default for own, (default, _) in known.items()},
        checks={own: allowed for own, (_, allowed) in known.items()},
        default=False,
    )(finalise)


AVERAGES = {"average_method": ("arithmetic", ("arithmetic", "geometric", "min", "max"))}

enter(
    "rand", "Rand index: the share of pairs of rows that both partitions put together, or both apart.", rand_score, rand
)
enter(
    "ari",
    "Adjusted Rand index: 1 for equal partitions, 0 as expected by chance, of fixed sizes of classes and clusters.",
    adjusted_rand_score,
    adjusted_rand,
)
enter(
    "pair_jaccard",
    "Jaccard index of pairs: pairs of rows together in both partitions, of those together in either.",
    pair_jaccard_score,
    pair_jaccard,
    undefined=NO_PAIR,
)
enter(
    "fowlkes_mallows",
    "Fowlkes-Mallows index: the geometric mean of precision and recall of pairs of rows put together.",
    fowlkes_mallows_score,
    fowlkes_mallows,
)
enter("purity", "Purity: the share of rows in the class that is the largest of their cluster.", purity_score, purity)
enter(
    "mutual_info",
    "Mutual information of classes and clusters, in nats.",
    mutual_info_score,
    partial(mutual_info, n_threads=1),
)
enter(
    "nmi",
    "Normalized mutual information: by a mean of the entropies of classes and of clusters.",
    normalized_mutual_info_score,
    partial(normalized_mutual_info, n_threads=1),
    AVERAGES,
)
enter(
    "ami",
    "Adjusted mutual information: 1 for equal partitions, 0 as expected by chance, of fixed sizes.",
    adjusted_mutual_info_score,
    partial(adjusted_mutual_info, n_threads=1),
    AVERAGES,
)
enter(
    "homogeneity",
    "Homogeneity: the share of the classes' entropy that clusters explain; 1 where each cluster is of one class.",
    homogeneity_score,
    partial(homogeneity, n_threads=1),
)
enter(
    "completeness",
    "Completeness: the share of the clusters' entropy that classes explain; 1 where each class is in one cluster.",
    completeness_score,
    partial(completeness, n_threads=1),
)
enter(
    "v_measure",
    "V-measure: the harmonic mean of homogeneity and completeness, this with the weight beta.",
    v_measure_score,
    partial(v_measure, n_threads=1),
    {"beta": (1.0, check_beta)},
)
