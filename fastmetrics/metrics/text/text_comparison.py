"""Systems against a baseline on the same segments: paired bootstrap and approximate randomisation, as sacrebleu's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.comparison import Comparison, Difference
from fastmetrics._core.differences import adjusted, read_correction
from fastmetrics._core.fixed import FrozenDict
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.registry import parse
from fastmetrics._core.significance import check_level, check_replicates, check_seed
from fastmetrics._version import __version__
from fastmetrics.metrics.text.named_statistics import segment_statistics
from fastmetrics.metrics.text.resampled import States, sum_exchanges, sum_samples

__all__ = ["SystemScore", "TextComparison", "compare_texts"]

BOOTSTRAP, RANDOMISATION = "bootstrap", "randomisation"
METHODS = (BOOTSTRAP, RANDOMISATION)
REPLICATES = {BOOTSTRAP: 1000, RANDOMISATION: 10_000}  # sacrebleu's
METRICS = ("bleu", "chrf", "meteor", "nist", "ter")


class SystemScore(NamedTuple):
    """A system's score, and of its bootstrap samples the mean and half of what 95% of them span (sacrebleu's "±")."""

    score: float
    mean: float | None = None
    ci: float | None = None


class TextComparison(Comparison):
    """A :class:`Comparison` of systems, which also tells what each of them scores.

    Attributes
    ----------
    systems : dict
        Name -> metric -> `SystemScore`.
    """

    __slots__ = ("systems",)

    systems: Mapping[str, Mapping[str, SystemScore]]

    def __init__(
        self, differences: Sequence[Difference], *, systems: Mapping[str, Mapping[str, SystemScore]], **about: Any
    ) -> None:
        super().__init__(differences, **about)
        self._set(systems=FrozenDict(systems))

    def _content(self) -> tuple[object, ...]:
        return *super()._content(), self.systems

    def to_dict(self) -> dict[str, Any]:
        """As of a comparison, with the systems' scores."""
        return super().to_dict() | {
            "systems": {
                name: {metric: dict(own._asdict()) for metric, own in of_metrics.items()}
                for name, of_metrics in self.systems.items()
            }
        }


class Plan(NamedTuple):
    """How systems are compared."""

    method: str
    replicates: int
    interval_replicates: int
    seed: int
    level: float | None
    n_threads: int

    @property
    def text(self) -> str:
        if self.method == BOOTSTRAP:
            return f"paired bootstrap ({self.replicates:,} samples)"
        return f"paired approximate randomisation ({self.replicates:,} trials)"

    @property
    def signature(self) -> list[str]:
        parts = [f"seed:{self.seed}", f"{'bs' if self.method == BOOTSTRAP else 'ar'}:{self.replicates}"]
        if self.method == RANDOMISATION and self.interval_replicates:
            parts.append(f"bs:{self.interval_replicates}")
        return parts


def compare_texts(
    systems: Mapping[str, Any],
    references: Any,
    metrics: str | Sequence[str] = ("bleu", "chrf"),
    *,
    baseline: str | None = None,
    method: str = BOOTSTRAP,
    replicates: int | None = None,
    interval_replicates: int = 0,
    seed: int = 12345,
    correction: str | None = "none",
    ci: float | None = 0.95,
    n_threads: int | None = None,
) -> TextComparison:
    """Do systems score better than a baseline on the same segments, or is it chance?

    Paired bootstrap (P. Koehn, Statistical significance tests for machine translation evaluation, EMNLP 2004) or
    approximate randomisation (S. Riezler, J. T. Maxwell, On some pitfalls in automatic evaluation and significance
    testing for MT, 2005), with the samples that sacrebleu draws: p-values are those of its `PairedTest`.

    Parameters
    ----------
    systems : mapping of str to list
        Name to hypotheses, as corpus functions take them; at least two.
    references : list
        As corpus functions take them.
    metrics : str or sequence of str
        Metric strings: "bleu", "chrf", "ter", "nist", "meteor", with options such as "chrf(word_order=2)".
    baseline : str, optional
        The name of the system that all others are compared with; by default the first.
    method : {"bootstrap", "randomisation"}
        Segments drawn with replacement, the same ones of both systems; or hypotheses exchanged between the two, each
        with probability 1/2.
    replicates : int, optional
        Bootstrap samples (by default 1000) or random exchanges (by default 10000).
    interval_replicates : int
        With ``method="randomisation"``: bootstrap samples for the mean and interval of each system; 0 for none.
    seed : int
        Of NumPy's default generator; sacrebleu's is 12345.
    correction : {"none", "holm", "benjamini-hochberg"} or None
        How p-values are adjusted for the number of differences; by default they are not, as in sacrebleu.
    ci : float or None
        Level of the interval of a difference: percentiles of its bootstrap samples. None for none.
    n_threads : int, optional
        Threads to use; the result does not depend on it.

    Returns
    -------
    TextComparison
        A `Difference` for every metric and system but the baseline, ``comparison["bleu"]``; ``comparison.systems`` has
        each system's score, and mean and half-width of its 95% interval (those of sacrebleu, whatever `ci`).

    Raises
    ------
    ValueError, TypeError
        Fewer than two systems, a baseline that is none of them, a metric that is not of those above, no segment, and
        what the corpus functions refuse: lengths that differ, and so on.

    Notes
    -----
    p = (c + 1) / (R + 1). Bootstrap: c of R samples have |d_r| - mean |d_r| above the difference found, |d|;
    randomisation: |d_r| above it. Both compare strictly, as sacrebleu does. Systems that score the same in every
    sample, or differ by the same in every bootstrap sample (one segment), have p = 1, which is said (sacrebleu's
    formula gives 1 / (R + 1)).

    Sums are exact and scores float64. sacrebleu's bootstrap computes in float32, so its means and intervals agree to
    about 6 digits only, and a p-value may differ where a sample's difference is that close to |d|.

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
    inputs.check_option(method, "method", METHODS)
    correction = read_correction(correction)
    check_level(ci)
    drawn = check_replicates(REPLICATES[method] if replicates is None else replicates)
    if interval_replicates != 0:
        interval_replicates = check_replicates(interval_replicates)
        if method == BOOTSTRAP:
            raise inputs.OptionError("interval_replicates is for method='randomisation': a bootstrap has its samples")
    plan = Plan(method, drawn, interval_replicates, check_seed(seed), ci, count_threads(n_threads))
    if not isinstance(systems, Mapping):
        raise inputs.OptionError(f"systems must map names to hypotheses; found {type(systems).__name__}")
    if len(systems) < 2:
        raise ValueError(f"systems must hold at least two to compare; found {len(systems)}")
    first = next(iter(systems)) if baseline is None else baseline
    inputs.check_option(first, "baseline", tuple(systems))
    names = [first, *(name for name in systems if name != first)]
    wanted = [metrics] if isinstance(metrics, str) else list(metrics)
    if not wanted:
        raise ValueError("metrics is empty: name at least one")
    tables = [
        Table(metric, {name: states_of(metric, systems[name], references, name, plan) for name in names})
        for metric in dict.fromkeys(wanted)
    ]
    found, scores = (bootstrapped if method == BOOTSTRAP else exchanged)(tables, names, plan)
    return TextComparison(
        adjusted(found, correction), systems=scores, level=ci, correction=correction, unit="segment",
        version=__version__, seconds=perf_counter() - started,
    )  # fmt: skip


def states_of(metric: str, hypotheses: Any, references: Any, name: str, plan: Plan) -> States:
    """What every segment of a system adds to the state of a metric."""
    word, arguments = named_metric(metric)
    try:
        statistics = segment_statistics(word, hypotheses, references, n_threads=plan.n_threads, **arguments)
    except (ValueError, TypeError) as error:
        if "hypotheses" not in str(error):
            raise
        raise type(error)(f"systems[{name!r}]: {error}") from None
    if not len(statistics):
        raise ValueError(f"systems[{name!r}] has no segment: at least one is needed")
    return States(statistics)


def named_metric(metric: str) -> tuple[str, dict[str, Any]]:
    """The name and the options of a metric string."""
    if metric == "nist":
        return metric, {}
    parsed = parse(metric)
    if parsed.spec.word not in METRICS:
        raise ValueError(f"metric {metric!r} is not one that compare_texts knows: {', '.join(METRICS)}")
    return parsed.spec.word, dict(parsed.arguments)


class Table:
    """The states of all systems for one metric, in columns that they have in common."""

    def __init__(self, metric: str, states: dict[str, States]) -> None:
        self.metric = metric
        self.states = states
        self.kept = np.unique(np.concatenate([own.kept for own in states.values()]))
        self.rows = {name: self.common(own) for name, own in states.items()}
        self.totals = {name: rows.sum(axis=0) for name, rows in self.rows.items()}
        self.results = {name: own.result(self.totals[name], self.kept) for name, own in states.items()}

    def common(self, own: States) -> np.ndarray:
        rows = np.zeros((len(own.rows), len(self.kept)), np.int64)
        rows[:, np.searchsorted(self.kept, own.kept)] = own.rows
        return rows

    def scores(self, name: str, sums: np.ndarray) -> np.ndarray:
        return self.states[name].scores(sums, self.kept)

    def difference(self, first: str, other: str, plan: Plan, **found: Any) -> Difference:
        a, b = (self.results[name].score for name in (first, other))
        *parts, version = self.results[first].signature.split("|")
        return Difference(
            self.metric, first, other, a, b, method=plan.text, n_units=len(self.rows[first]),
            signature="|".join([*parts, *plan.signature, version]), **found,
        )  # fmt: skip


Found = tuple[list[Difference], dict[str, dict[str, SystemScore]]]
# Scores of 0 to 100 that are nearer than this differ by rounding.
NO_SPREAD = 1e-10


def bootstrapped(tables: list[Table], names: list[str], plan: Plan) -> Found:
    """The paired bootstrap: every system's scores over the same samples."""
    samples = bootstrap_scores(tables, names, plan.replicates, np.random.default_rng(plan.seed), plan)
    first = names[0]
    found = []
    for table in tables:
        for other in names[1:]:
            apart = samples[table.metric, other] - samples[table.metric, first]
            size = np.abs(apart)
            pvalue, reason = share_above(size - size.mean(), size, table, first, other)
            found.append(table.difference(first, other, plan, pvalue=pvalue, reason=reason, **spread(apart, plan)))
    return found, system_scores(tables, names, samples)


def exchanged(tables: list[Table], names: list[str], plan: Plan) -> Found:
    """Approximate randomisation: scores of two systems that exchanged the hypotheses of random segments."""
    first, others = names[0], names[1:]
    apart = [table.rows[first] - table.rows[other] for table in tables for other in others]
    generator = np.random.default_rng(plan.seed)
    sums = sum_exchanges(np.concatenate(apart, axis=1), plan.replicates, generator, plan.n_threads)
    found = []
    samples: dict[tuple[str, str], np.ndarray] = {}
    if plan.interval_replicates:
        # The baseline's samples are the first that the seed gives, the others' come after the exchanges.
        fresh = np.random.default_rng(plan.seed)
        samples = bootstrap_scores(tables, [first], plan.interval_replicates, fresh, plan)
        samples |= bootstrap_scores(tables, others, plan.interval_replicates, generator, plan)
    start = 0
    for table in tables:
        for other in others:
            own = sums[:, start : start + len(table.kept)]
            start += len(table.kept)
            scores = (
                table.scores(first, table.totals[other] + own),
                table.scores(other, table.totals[first] - own),
            )
            size = np.abs(scores[0] - scores[1])
            pvalue, reason = share_above(size, size, table, first, other)
            found.append(table.difference(first, other, plan, pvalue=pvalue, reason=reason))
    return found, system_scores(tables, names, samples)


def bootstrap_scores(
    tables: list[Table], names: list[str], replicates: int, generator: np.random.Generator, plan: Plan
) -> dict[tuple[str, str], np.ndarray]:
    """(metric, system) -> the scores of bootstrap samples, the same segments for all of them."""
    rows = [table.rows[name] for table in tables for name in names]
    sums = sum_samples(np.concatenate(rows, axis=1), replicates, generator, plan.n_threads)
    found, start = {}, 0
    for table in tables:
        for name in names:
            found[table.metric, name] = table.scores(name, sums[:, start : start + len(table.kept)])
            start += len(table.kept)
    return found


def share_above(
    values: np.ndarray, sizes: np.ndarray, table: Table, first: str, other: str
) -> tuple[float, str | None]:
    """(c + 1) / (R + 1), c of R values above the difference found, as sacrebleu counts; 1 where nothing differs."""
    difference = abs(table.results[first].score - table.results[other].score)
    if not difference and not sizes.any():
        return 1.0, "the systems score the same in every sample"
    few = "one segment" if len(table.rows[first]) == 1 else None
    if values is not sizes and len(sizes) > 1 and np.ptp(sizes) <= NO_SPREAD:
        return 1.0, f"{few or 'all samples differ by the same'}: no spread, so p is 1"
    count = int(np.count_nonzero(values > difference))
    return (count + 1) / (len(values) + 1), few


def spread(apart: np.ndarray, plan: Plan) -> dict[str, Any]:
    """Standard error and percentile interval of a difference, of its bootstrap samples."""
    error = float(np.std(apart, ddof=1)) if len(apart) > 1 else None
    if plan.level is None:
        return {"standard_error": error}
    low, high = np.quantile(apart, [(1 - plan.level) / 2, 1 - (1 - plan.level) / 2]).tolist()
    return {"standard_error": error, "interval": (low, high)}


def system_scores(
    tables: list[Table], names: list[str], samples: Mapping[tuple[str, str], np.ndarray]
) -> dict[str, dict[str, SystemScore]]:
    """Every system's scores; mean and interval as sacrebleu makes them of samples."""
    scores: dict[str, dict[str, SystemScore]] = {}
    for name in names:
        scores[name] = {}
        for table in tables:
            own = samples.get((table.metric, name))
            score = table.results[name].score
            if own is None:
                scores[name][table.metric] = SystemScore(score)
                continue
            ordered = np.sort(own)
            edge = len(ordered) // 40
            half = 0.5 * float(ordered[len(ordered) - edge - 1] - ordered[edge])
            scores[name][table.metric] = SystemScore(score, float(ordered.mean()), half)
    return scores
