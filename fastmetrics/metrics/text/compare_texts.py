"""`compare_texts`: significance tests of systems against a baseline, with sacrebleu's samples and p-values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.comparison.comparison import Comparison
from fastmetrics._core.comparison.decided_differences import decide_tested
from fastmetrics._core.comparison.difference import Difference
from fastmetrics._core.comparison.multiple_testing import read_correction
from fastmetrics._core.comparison.test_results import check_level, check_replicates, check_seed
from fastmetrics._core.immutable import FrozenDict
from fastmetrics._core.inference.difference_tests import IntervalAt
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.registry import Metric, list_metrics_of, parse
from fastmetrics._version import __version__
from fastmetrics.metrics.text.nist import corpus_nist
from fastmetrics.metrics.text.resampled_sums import SegmentStates, sum_bootstrap_samples, sum_random_exchanges
from fastmetrics.metrics.text.segment_statistics import segment_statistics

if TYPE_CHECKING:
    from fastmetrics._core.registry import Metrics
    from fastmetrics._core.types.arrays import ArrayLike
    from fastmetrics._core.types.options import Correction, TextTest

__all__ = ["SystemScore", "TextComparison", "compare_texts"]

BOOTSTRAP: Literal["bootstrap"] = "bootstrap"
RANDOMIZATION: Literal["randomization"] = "randomization"
TESTS = (BOOTSTRAP, RANDOMIZATION)
REPLICATES = {BOOTSTRAP: 1000, RANDOMIZATION: 10_000}  # sacrebleu's
NIST = "nist"  # no metric of a log
METRICS = ("bleu", "chrf", "meteor", NIST, "ter")


class SystemScore(NamedTuple):
    """A system's score, with mean and half-width of the 95% interval of its bootstrap samples (sacrebleu's "±").

    Examples
    --------
    >>> import fastmetrics as fm
    >>> references = [f"he bought {n} apples and a pear" for n in range(20)]
    >>> systems = {"first": references, "second": [text.replace("a pear", "pears") for text in references]}
    >>> comparison = fm.compare_texts(systems, references, "bleu")
    >>> round(comparison.systems["first"]["bleu"].score, 2)
    100.0
    """

    score: float
    mean: float | None = None
    half_width: float | None = None


class TextComparison(Comparison):
    """A :class:`Comparison` of systems, with the score of each system.

    Attributes
    ----------
    systems : dict
        System name to metric to `SystemScore`.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> references = [f"he bought {n} apples and a pear" for n in range(20)]
    >>> systems = {"first": references, "second": [text.replace("a pear", "pears") for text in references]}
    >>> comparison = fm.compare_texts(systems, references, "bleu")
    >>> comparison["bleu"].difference < 0, list(comparison.systems)
    (True, ['first', 'second'])
    """

    __slots__ = ("systems",)

    systems: Mapping[str, Mapping[str, SystemScore]]

    def __init__(
        self, differences: Sequence[Difference], *, systems: Mapping[str, Mapping[str, SystemScore]], **about: Any
    ) -> None:
        super().__init__(differences, **about)
        self._set(systems=FrozenDict(systems))

    def to_dict(self) -> dict[str, Any]:
        """Return the dict of a comparison, with the systems' scores under "systems"."""
        return super().to_dict() | {
            "systems": {
                name: {metric: dict(score._asdict()) for metric, score in by_metric.items()}
                for name, by_metric in self.systems.items()
            }
        }

    @classmethod
    def _more_of_document(cls, document: dict[str, Any]) -> dict[str, Any]:
        systems = document["systems"]
        return {"systems": {
            name: {metric: SystemScore(**score) for metric, score in by_metric.items()}
            for name, by_metric in systems.items()
        }}  # fmt: skip


class TextComparisonPlan(NamedTuple):
    """The options of a comparison, checked."""

    test: str
    replicates: int
    interval_replicates: int
    seed: int
    level: float | None
    n_threads: int

    @property
    def description(self) -> str:
        if self.test == BOOTSTRAP:
            return f"paired bootstrap ({self.replicates:,} samples)"
        return f"paired approximate randomization ({self.replicates:,} trials)"

    @property
    def signature(self) -> list[str]:
        fields = [f"seed:{self.seed}", f"{'bs' if self.test == BOOTSTRAP else 'ar'}:{self.replicates}"]
        if self.test == RANDOMIZATION and self.interval_replicates:
            fields.append(f"bs:{self.interval_replicates}")
        return fields


@answers_unknown
def compare_texts(
    systems: Mapping[str, Any],
    references: ArrayLike,
    metrics: Metrics = ("bleu", "chrf"),
    *,
    baseline: str | None = None,
    test: TextTest = BOOTSTRAP,
    replicates: int | None = None,
    interval_replicates: int = 0,
    seed: int = 12345,
    correction: Correction | None = "none",
    ci: float | None = 0.95,
    n_threads: int | None = None,
) -> TextComparison:
    """Test whether systems score better or worse than a baseline on the same segments.

    Paired bootstrap (P. Koehn, Statistical significance tests for machine translation evaluation, EMNLP 2004) or
    approximate randomization (S. Riezler, J. T. Maxwell, On some pitfalls in automatic evaluation and significance
    testing for MT, 2005). Samples are those that sacrebleu draws, so p-values are equal to its `PairedTest`'s.

    Parameters
    ----------
    systems : mapping of str to list
        System names to hypotheses, in the forms that corpus functions accept; at least two.
    references : list
        In the forms that corpus functions accept.
    metrics : str or sequence of str
        Metric strings: "bleu", "chrf", "ter", "nist", "meteor", with options such as "chrf(word_order=2)".
    baseline : str, optional
        The name of the system that all others are compared with; by default the first.
    test : {"bootstrap", "randomization"}
        "bootstrap": draw segments with replacement, the same for both systems. "randomization": exchange hypotheses
        between the two systems, each with probability 1/2.
    replicates : int, optional
        The number of bootstrap samples (by default 1000) or of random exchanges (by default 10000).
    interval_replicates : int
        With ``test="randomization"``: bootstrap samples for the mean and interval of each system; 0 for none.
    seed : int
        The seed of NumPy's default generator; sacrebleu's is 12345.
    correction : {"holm", "benjamini-hochberg", "none"} or None
        How p-values are adjusted for the number of differences, in each family: all rows, and each grouping set, of
        each task. Holm's method controls the probability of any false discovery; it decides every verdict. The method
        of Benjamini and Hochberg controls the share of false discoveries, and only adjusts p-values. "none": every
        difference is tested by itself.

        By default none, as in sacrebleu.
    ci : float or None
        The level of the interval of a difference: percentiles of its bootstrap samples. None for no interval.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    TextComparison
        A `Difference` for every metric and every system except the baseline, such as ``comparison["bleu"]``.
        ``comparison.systems`` has each system's score, with the mean and half-width of its 95% interval. These are
        sacrebleu's, and do not depend on `ci`.

    Raises
    ------
    ValueError, TypeError
        Fewer than two systems, an unknown baseline, a metric that is not among those above, no segment, or an error of
        the corpus functions, such as different numbers of segments.

    Notes
    -----
    p = (c + 1) / (R + 1). c is the number of R samples with |d_r| - mean |d_r| > |d| (bootstrap) or |d_r| > |d|
    (randomization), where d is the observed difference and d_r that of a sample. If the systems score the same in every
    sample, or if every bootstrap sample has the same difference (as with one segment), p is 1 and `reason` states why;
    sacrebleu's formula gives 1 / (R + 1).

    Sums are exact and scores are float64. sacrebleu's bootstrap computes in float32, so its means and intervals agree
    to about 6 digits only, and a p-value may differ if a sample's difference is that close to |d|.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> references = [f"the cat number {n} sat on the mat" for n in range(50)]
    >>> good = references[:40] + ["a dog"] * 10
    >>> poor = [text.replace("sat on", "was at") for text in references]
    >>> comparison = fm.compare_texts({"poor": poor, "good": good}, references, "chrf")
    >>> one = comparison["chrf"]
    >>> one.baseline, one.other, round(one.difference, 1), round(one.pvalue, 4)
    ('poor', 'good', 13.5, 0.004)
    """
    started = perf_counter()
    validation.check_option(test, "test", TESTS)
    correction_name = read_correction(correction)
    check_level(ci)
    drawn = check_replicates(REPLICATES[test] if replicates is None else replicates)
    if interval_replicates != 0:
        interval_replicates = check_replicates(interval_replicates)
        if test == BOOTSTRAP:
            raise validation.OptionError(
                "interval_replicates needs test='randomization'; a bootstrap uses its own samples for intervals"
            )
    plan = TextComparisonPlan(test, drawn, interval_replicates, check_seed(seed), ci, count_threads(n_threads))
    if not isinstance(systems, Mapping):
        raise validation.OptionError(f"systems must map names to hypotheses; found {type(systems).__name__}")
    if len(systems) < 2:
        raise ValueError(f"systems must hold at least two to compare; found {len(systems)}")
    first = next(iter(systems)) if baseline is None else baseline
    validation.check_option(first, "baseline", tuple(systems))
    names = [first, *(name for name in systems if name != first)]
    given = [metrics] if isinstance(metrics, str | Metric) or callable(metrics) else metrics
    metric_strings = list_metrics_of(NIST if metric is corpus_nist else metric for metric in given)
    tables = [
        SystemTable(metric, {name: segment_states(metric, systems[name], references, name, plan) for name in names})
        for metric in dict.fromkeys(map(str, metric_strings))
    ]
    run_test = paired_bootstrap if test == BOOTSTRAP else approximate_randomization
    differences, scores = run_test(tables, names, plan)
    directions = ["minimize" if parse_metric(one.metric)[0] == "ter" else "maximize" for one, _ in differences]
    return TextComparison(
        decide_tested(differences, directions, ci, correction_name), systems=scores, level=ci,
        correction=correction_name, unit="segment", version=__version__, seconds=perf_counter() - started,
    )  # fmt: skip


def segment_states(metric: str, hypotheses: Any, references: Any, name: str, plan: TextComparisonPlan) -> SegmentStates:
    """Count a system's segments for a metric; the system's name is added to errors about its hypotheses."""
    metric_name, options = parse_metric(metric)
    try:
        statistics = segment_statistics(metric_name, hypotheses, references, n_threads=plan.n_threads, **options)
    except (ValueError, TypeError) as error:
        if "hypotheses" not in str(error):
            raise
        raise type(error)(f"systems[{name!r}]: {error}") from None
    if not len(statistics):
        raise ValueError(f"systems[{name!r}] has no segment: at least one is needed")
    return SegmentStates(statistics)


def parse_metric(metric: str) -> tuple[Any, dict[str, Any]]:
    """Return the name and the options of a metric string."""
    if metric == NIST:
        return metric, {}
    parsed = parse(metric)
    if parsed.spec.base_name not in METRICS:
        raise ValueError(f"metric {metric!r} is not supported by compare_texts; choose among {', '.join(METRICS)}")
    return parsed.spec.base_name, dict(parsed.arguments)


class SystemTable:
    """The segment states of all systems for one metric, in the same columns of the state.

    `columns` are the columns that any system uses; `rows` and `totals` are the states of segments and their sums.
    """

    def __init__(self, metric: str, states: dict[str, SegmentStates]) -> None:
        self.metric = metric
        self.states = states
        self.columns = np.unique(np.concatenate([own.used_columns for own in states.values()]))
        self.rows = {name: self.align_columns(own) for name, own in states.items()}
        self.totals = {name: rows.sum(axis=0) for name, rows in self.rows.items()}
        self.results = {name: own.result(self.totals[name], self.columns) for name, own in states.items()}

    def align_columns(self, states: SegmentStates) -> np.ndarray:
        """Return the rows of a system with the columns of this table."""
        rows = np.zeros((len(states.rows), len(self.columns)), np.int64)
        rows[:, np.searchsorted(self.columns, states.used_columns)] = states.rows
        return rows

    def scores(self, name: str, sums: np.ndarray) -> np.ndarray:
        """Return a system's score for every row of sums."""
        return self.states[name].scores(sums, self.columns)

    def difference(self, first: str, other: str, plan: TextComparisonPlan, **tested: Any) -> Difference:
        """Return the difference of two systems, with the outcome of its test."""
        a, b = (self.results[name].score for name in (first, other))
        *fields, version = self.results[first].signature.split("|")
        return Difference(
            self.metric, first, other, a, b, method=plan.description, n_units=len(self.rows[first]),
            signature="|".join([*fields, *plan.signature, version]), **tested,
        )  # fmt: skip


TestedDifference = tuple[Difference, IntervalAt | None]
ComparedSystems = tuple[list[TestedDifference], dict[str, dict[str, SystemScore]]]
# Differences of scores (0 to 100) whose range is at most this are equal up to rounding.
MAX_ROUNDING_SPREAD = 1e-10


def paired_bootstrap(tables: list[SystemTable], names: list[str], plan: TextComparisonPlan) -> ComparedSystems:
    """Test with a paired bootstrap: all systems are scored on the same samples of segments."""
    samples = bootstrap_scores(tables, names, plan.replicates, np.random.default_rng(plan.seed), plan)
    first = names[0]
    differences: list[TestedDifference] = []
    for table in tables:
        for other in names[1:]:
            sampled = samples[table.metric, other] - samples[table.metric, first]
            sizes = np.abs(sampled)
            pvalue, reason = sampled_pvalue(sizes - sizes.mean(), sizes, table, first, other)
            error = float(np.std(sampled, ddof=1)) if len(sampled) > 1 else None
            interval_at = None if plan.level is None else partial(percentile_interval, sampled)
            interval = None if plan.level is None else percentile_interval(sampled, plan.level)
            tested = {"pvalue": pvalue, "reason": reason, "standard_error": error, "interval": interval}
            differences.append((table.difference(first, other, plan, **tested), interval_at))
    return differences, system_scores(tables, names, samples)


def approximate_randomization(tables: list[SystemTable], names: list[str], plan: TextComparisonPlan) -> ComparedSystems:
    """Test with approximate randomization: two systems are scored after they exchange hypotheses of random segments."""
    first, others = names[0], names[1:]
    row_differences = [table.rows[first] - table.rows[other] for table in tables for other in others]
    generator = np.random.default_rng(plan.seed)
    sums = sum_random_exchanges(np.concatenate(row_differences, axis=1), plan.replicates, generator, plan.n_threads)
    differences: list[TestedDifference] = []
    samples: dict[tuple[str, str], np.ndarray] = {}
    if plan.interval_replicates:
        # As in sacrebleu: the baseline's samples are the first draws of the seed; those of the others follow the
        # draws of the exchanges.
        baseline_generator = np.random.default_rng(plan.seed)
        samples = bootstrap_scores(tables, [first], plan.interval_replicates, baseline_generator, plan)
        samples |= bootstrap_scores(tables, others, plan.interval_replicates, generator, plan)
    start = 0
    for table in tables:
        for other in others:
            exchanged = sums[:, start : start + len(table.columns)]
            start += len(table.columns)
            scores = (
                table.scores(first, table.totals[other] + exchanged),
                table.scores(other, table.totals[first] - exchanged),
            )
            sizes = np.abs(scores[0] - scores[1])
            pvalue, reason = sampled_pvalue(sizes, sizes, table, first, other)
            differences.append((table.difference(first, other, plan, pvalue=pvalue, reason=reason), None))
    return differences, system_scores(tables, names, samples)


def bootstrap_scores(
    tables: list[SystemTable],
    names: list[str],
    replicates: int,
    generator: np.random.Generator,
    plan: TextComparisonPlan,
) -> dict[tuple[str, str], np.ndarray]:
    """Return the scores of bootstrap samples by (metric, system). All systems have the same samples of segments."""
    rows = [table.rows[name] for table in tables for name in names]
    sums = sum_bootstrap_samples(np.concatenate(rows, axis=1), replicates, generator, plan.n_threads)
    scores, start = {}, 0
    for table in tables:
        for name in names:
            scores[table.metric, name] = table.scores(name, sums[:, start : start + len(table.columns)])
            start += len(table.columns)
    return scores


def sampled_pvalue(
    values: np.ndarray, sizes: np.ndarray, table: SystemTable, first: str, other: str
) -> tuple[float, str | None]:
    """Return (c + 1) / (R + 1), where c of R values exceed the observed difference, with a reason or a remark.

    `sizes` are the absolute differences of samples. If they do not vary, p is 1. For randomization, which has no such
    rule, `values` is `sizes`.
    """
    difference = abs(table.results[first].score - table.results[other].score)
    if not difference and not sizes.any():
        return 1.0, "the systems score the same in every sample"
    remark = "one segment" if len(table.rows[first]) == 1 else None
    if values is not sizes and len(sizes) > 1 and np.ptp(sizes) <= MAX_ROUNDING_SPREAD:
        return 1.0, f"{remark or 'all samples differ by the same'}: no spread, so p is 1"
    count = int(np.count_nonzero(values > difference))
    return (count + 1) / (len(values) + 1), remark


def percentile_interval(sampled: np.ndarray, level: float) -> tuple[float, float]:
    """Return the percentile interval of a difference from those of bootstrap samples."""
    low, high = np.quantile(sampled, [(1 - level) / 2, 1 - (1 - level) / 2]).tolist()
    return low, high


def system_scores(
    tables: list[SystemTable], names: list[str], samples: Mapping[tuple[str, str], np.ndarray]
) -> dict[str, dict[str, SystemScore]]:
    """Return every system's scores, with means and intervals of samples as sacrebleu computes them."""
    scores: dict[str, dict[str, SystemScore]] = {}
    for name in names:
        scores[name] = {}
        for table in tables:
            sampled = samples.get((table.metric, name))
            score = table.results[name].score
            if sampled is None:
                scores[name][table.metric] = SystemScore(score)
                continue
            ordered = np.sort(sampled)
            n_cut = len(ordered) // 40
            half_width = 0.5 * float(ordered[len(ordered) - n_cut - 1] - ordered[n_cut])
            scores[name][table.metric] = SystemScore(score, float(ordered.mean()), half_width)
    return scores
