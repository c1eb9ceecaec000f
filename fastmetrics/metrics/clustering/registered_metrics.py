"""Registers the metrics of two partitions. Each is computed from the table of pairs, with the code of its function."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from fastmetrics._core.kinds import PARTITIONS
from fastmetrics._core.registry import metric
from fastmetrics._core.statistic import Value
from fastmetrics.metrics.clustering.fowlkes_mallows import fowlkes_mallows, fowlkes_mallows_score
from fastmetrics.metrics.clustering.mutual_info import (
    adjusted_mutual_info,
    adjusted_mutual_info_score,
    compute_information,
    mutual_info_score,
    normalized_mutual_info,
    normalized_mutual_info_score,
)
from fastmetrics.metrics.clustering.pair_jaccard import pair_jaccard, pair_jaccard_score
from fastmetrics.metrics.clustering.partition_table import PartitionCounts, PartitionTable
from fastmetrics.metrics.clustering.purity import purity, purity_score
from fastmetrics.metrics.clustering.rand_index import adjusted_rand, adjusted_rand_score, rand, rand_score
from fastmetrics.metrics.clustering.v_measure import (
    check_beta,
    completeness_score,
    homogeneity_completeness_v,
    homogeneity_score,
    v_measure_score,
)

NO_ROWS = "no rows"

MetricParameters = dict[str, tuple[Any, Any]]  # default; and allowed values, or a function that checks a value


def register_partition_metric(
    name: str,
    summary: str,
    function: Callable[..., float],
    score: Callable[..., float],
    parameters: MetricParameters | None = None,
    undefined: str = NO_ROWS,
    variants: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    scale: str = "share",
) -> None:
    """Register a metric of two partitions: its public function, and the score of a table and the metric's parameters.

    `undefined` is the reason if the value is NaN although there are rows.
    """
    own_parameters = parameters or {}

    def finalize(options: dict[str, Any], state: PartitionTable) -> Value:
        table = state.contingency()
        coverage = {"rows": table.total, "classes": len(table.classes), "clusters": len(table.clusters)}
        if not table.total:
            return Value(math.nan, coverage, NO_ROWS)
        value = float(score(table, **options))
        return Value(value, coverage, undefined if math.isnan(value) else None)

    finalize.__doc__ = summary
    metric(
        name,
        exchange="none",
        roles=PARTITIONS,
        statistics=lambda **options: (PartitionCounts(),),
        function=function,
        undefined=undefined,
        parameters={parameter: default for parameter, (default, _) in own_parameters.items()},
        checks={parameter: allowed for parameter, (_, allowed) in own_parameters.items()},
        default=False,
        scale=scale,
        variants=variants,
        aliases=aliases,
    )(finalize)


AVERAGE_METHOD = {"average_method": ("arithmetic", ("arithmetic", "geometric", "min", "max"))}

register_partition_metric(
    "rand",
    "Rand index: the share of pairs of rows that both partitions put together, or both apart.",
    rand_score,
    rand,
    aliases=("rand_score", "rand_index"),
)
register_partition_metric(
    "ari",
    "Adjusted Rand index: 1 for equal partitions, 0 as expected by chance, of fixed sizes of classes and clusters.",
    adjusted_rand_score,
    adjusted_rand,
    aliases=("adjusted_rand_score", "adjusted_rand_index", "adjusted_rand"),
    scale="correlation",
)
register_partition_metric(
    "pair_jaccard",
    "Jaccard index of pairs: pairs of rows together in both partitions, of those together in either.",
    pair_jaccard_score,
    pair_jaccard,
    undefined="no pair of rows is together in either partition",
    aliases=("pair_jaccard_score",),
)
register_partition_metric(
    "fowlkes_mallows",
    "Fowlkes-Mallows index: the geometric mean of precision and recall of pairs of rows put together.",
    fowlkes_mallows_score,
    fowlkes_mallows,
    aliases=("fowlkes_mallows_score",),
)
register_partition_metric(
    "purity",
    "Purity: the share of rows in the class that is the largest of their cluster.",
    purity_score,
    purity,
    aliases=("purity_score",),
)
register_partition_metric(
    "mutual_info",
    "Mutual information of classes and clusters, in nats.",
    mutual_info_score,
    lambda table: compute_information(table, n_threads=1).mutual,
    aliases=("mutual_info_score", "mutual_information"),
    scale="nonnegative",
)
register_partition_metric(
    "nmi",
    "Normalized mutual information: by a mean of the entropies of classes and of clusters.",
    normalized_mutual_info_score,
    partial(normalized_mutual_info, n_threads=1),
    AVERAGE_METHOD,
    variants=("nmi(average_method=max)",),
    aliases=("normalized_mutual_info_score", "normalized_mutual_info"),
)
register_partition_metric(
    "ami",
    "Adjusted mutual information: 1 for equal partitions, 0 as expected by chance, of fixed sizes.",
    adjusted_mutual_info_score,
    partial(adjusted_mutual_info, n_threads=1),
    AVERAGE_METHOD,
    variants=("ami(average_method=min)", "ami(average_method=geometric)"),
    aliases=("adjusted_mutual_info_score", "adjusted_mutual_info"),
    scale="explained",
)
register_partition_metric(
    "homogeneity",
    "Homogeneity: the share of the classes' entropy that clusters explain; 1 where each cluster is of one class.",
    homogeneity_score,
    lambda table: homogeneity_completeness_v(table, n_threads=1)[0],
    aliases=("homogeneity_score",),
)
register_partition_metric(
    "completeness",
    "Completeness: the share of the clusters' entropy that classes explain; 1 where each class is in one cluster.",
    completeness_score,
    lambda table: homogeneity_completeness_v(table, n_threads=1)[1],
    aliases=("completeness_score",),
)
register_partition_metric(
    "v_measure",
    "V-measure: the harmonic mean of homogeneity and completeness, this with the weight beta.",
    v_measure_score,
    lambda table, beta: homogeneity_completeness_v(table, beta, n_threads=1)[2],
    {"beta": (1.0, check_beta)},
    variants=("v_measure(beta=0.25)",),
    aliases=("v_measure_score",),
)
