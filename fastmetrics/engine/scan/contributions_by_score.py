"""The contributions of units to metrics of the order of scores, of two classes or of several.

A metric over several classes has the contributions to its problems of two classes; they are joined when the states of
all problems are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import Output
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.class_ranges import OfClasses, OutputReduction, split_problems
from fastmetrics._core.metric_spec import ClassesInfluence, PairInfluence, ScoreInfluence
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import Metric
from fastmetrics._core.resampling.additive_replicates import JackknifeUnits
from fastmetrics._core.resampling.contributions import Contributions
from fastmetrics._core.score_statistics.pair_contributions import find_pair_contributions
from fastmetrics._core.score_statistics.score_classes import ScoreClasses
from fastmetrics._core.score_statistics.score_contributions import ScoredRows, find_score_contributions
from fastmetrics.engine.scan.intervals import ReplicateKey
from fastmetrics.engine.scan.resolve import FinalStates

KnownClasses = dict[Output, tuple[ScoreClasses, np.ndarray]]
FoundContributions = Iterator[tuple[Any, int | None, Contributions]]


def reads_all(statistic: Any) -> bool:
    return True


class ScoreContributions(NamedTuple):
    """Contributions to compute of some metrics: of all rows together (0), or of so many slices, for each of `sizes`.

    `n_classes` is 0 if models have no probabilities of classes. `has` says which statistics read the rows. `known` is
    that of `ScoredRows`.
    """

    metrics: Sequence[Metric]
    sizes: Sequence[int]
    units: JackknifeUnits
    n_classes: int
    has: Callable[[Any], bool] = reads_all
    known: KnownClasses | None = None

    def find(self, store: BlockStore, output: Output, weighted: bool, n_threads: int) -> FoundContributions:
        """The contributions to metrics, and to the problems (`OfClasses`) of those over several classes."""
        rows = ScoredRows(store, output, weighted, n_threads, known=self.known)
        plain = {
            own: own.influence
            for own in self.metrics
            if isinstance(own.influence, ScoreInfluence) and all(map(self.has, own.statistics()))
        }
        if plain:
            yield from self.of_rows(rows, plain, False)
        for own in self.metrics:
            if isinstance(own.influence, PairInfluence):
                for slice_number, found in find_pair_contributions(rows, own.influence, self.sizes, self.units):
                    yield own, slice_number, found
        over_classes = {own.inner: influence.of_problem for own, influence in statistics_over_classes(self.metrics)}
        parts = split_problems([own for own, _ in statistics_over_classes(self.metrics)], self.n_classes)
        reduction = OutputReduction(store, output, weighted, list(filter(self.has, parts)), n_threads)
        for problem, whole in reduction.reductions():
            of_problem = rows._replace(source=problem.source, output=problem.output, known=None)
            yield from self.of_rows(of_problem, {part: over_classes[inner] for inner, part in whole.items()}, True)

    def of_rows(
        self, rows: ScoredRows, influences: Mapping[Any, ScoreInfluence], with_shares: bool
    ) -> FoundContributions:
        """The contributions to what has these influences."""
        names, own = list(influences), list(influences.values())
        for number, slice_number, found in find_score_contributions(rows, own, self.sizes, self.units, with_shares):
            yield names[number], slice_number, found


def statistics_over_classes(metrics: Sequence[Metric]) -> Iterator[tuple[Any, ClassesInfluence]]:
    """The statistics over several classes, and what rows add to each of their problems."""
    for metric in metrics:
        if isinstance(metric.influence, ClassesInfluence):
            yield metric.statistics()[0], metric.influence


def join_classes(
    metrics: Sequence[Metric], states: FinalStates, found: Mapping[Any, Contributions], n_classes: int
) -> dict[ReplicateKey, Contributions]:
    """The contributions to all metrics from those to metrics of two classes and to problems, by output and slice."""
    joined = {key: own for key, own in found.items() if isinstance(key[0], Metric)}
    places = dict.fromkeys(key[1:] for key in found if isinstance(key[0], OfClasses))
    for metric in metrics:
        if not isinstance(metric.influence, ClassesInfluence):
            continue
        (statistic,) = metric.statistics()
        for output, number in places:
            (of_problems,) = states.select((statistic,), output, number)
            if metric.finalize(of_problems).reason is None:
                own = [found.get((part, output, number)) for part in statistic.parts(n_classes)]
                joined[metric, output, number] = metric.influence.combine(of_problems, own)
    return joined
