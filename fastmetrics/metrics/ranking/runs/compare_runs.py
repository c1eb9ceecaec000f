"""Runs against a baseline on the same queries: differences, their intervals, and whether they are more than chance."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.comparison import Comparison, Difference
from fastmetrics._core.differences import adjusted, read_correction
from fastmetrics._core.mean_differences import MeanDifference, mean_difference
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.sign_flips import flip_signs
from fastmetrics._core.significance import check_level, check_replicates, check_seed, student_pvalue
from fastmetrics._version import __version__
from fastmetrics.metrics.ranking import measures
from fastmetrics.metrics.ranking.joined import MISSING, NAMED
from fastmetrics.metrics.ranking.results import MICRO, Options, RankingResult, checked_level, resolve
from fastmetrics.metrics.ranking.runs import evaluate_ranking
from fastmetrics.metrics.ranking.trec_files import TrecRun, read_qrels

__all__ = ["compare_runs"]

SIGN_FLIP = "sign-flip"
TESTS = (SIGN_FLIP, "t")
NEGLIGIBLE = 1e-12  # of values in 0..1: what two sums in another order may differ by

Test = str | Callable[[np.ndarray, np.ndarray], Any]


class Testing(NamedTuple):
    """How differences are tested."""

    test: Test
    level: float | None
    replicates: int
    seed: int
    n_threads: int

    @property
    def name(self) -> str:
        return self.test if isinstance(self.test, str) else getattr(self.test, "__name__", "test")


def compare_runs(
    qrels: Any,
    runs: Mapping[str, Any] | Sequence[Any],
    metrics: str | Sequence[str],
    *,
    baseline: str | None = None,
    test: Test = SIGN_FLIP,
    correction: str | None = "holm",
    ci: float | None = 0.95,
    replicates: int = 10_000,
    seed: int = 0,
    query: str = "query",
    item: str = "item",
    score: str = "score",
    relevance: str = "relevance",
    ties: str = "average",
    missing: str = "zero",
    empty: str = "zero",
    relevance_level: float = 1,
    n_threads: int | None = None,
) -> Comparison:
    """Are runs better than a baseline, query by query, or is it chance?

    Every run is evaluated as by `evaluate_ranking`, and values are paired by query: d_q is the run's minus that of the
    baseline. p is two-sided, corrected over all metrics and runs. M. D. Smucker, J. Allan, B. Carterette, "A comparison
    of statistical significance tests for information retrieval evaluation", CIKM 2007.

    Parameters
    ----------
    qrels : table, dict, path or TrecQrels
        The judgements, as for `evaluate_ranking`.
    runs : mapping of str to run, or sequence of TREC files
        Name to run, each as for `evaluate_ranking`; or paths of TREC runs and what `read_run` returns, which are called
        as their files.
    metrics : str or sequence of str
        Metric strings of ranked lists that are means over queries.
    baseline : str, optional
        The name of the run that all others are compared with; by default the first.
    test : {"sign-flip", "t"} or callable
        Fisher's randomisation test (`sign_flip_test`, without scipy), Student's paired t-test, or any function of two
        arrays, other and baseline, whose result has a `pvalue`: ``fm.wilcoxon``.
    correction : {"holm", "benjamini-hochberg", "none"} or None
        How p-values are adjusted for the number of differences.
    ci : float or None
        Level of the intervals, Student's t intervals of the mean difference; None for none.
    replicates, seed : int
        Of the sign-flip test, which goes through all assignments where these are at most `replicates`.
    query, item, score, relevance : str
        The names of the columns.
    ties : {"average", "optimistic", "pessimistic", "docid", "stable"}
        Items of equal score, as for `evaluate_ranking`.
    missing : {"zero", "drop", "raise"}
        A judged query that a run does not have counts as an empty list; is left out of all runs; is an error.
    empty : {"zero", "skip", "one", "nan", "raise"}
        A query without a relevant item, as for `evaluate_ranking`.
    relevance_level : float
        The smallest relevance that is relevant.
    n_threads : int, optional
        Threads to use; the result does not depend on it.

    Returns
    -------
    Comparison
        A `Difference` for every metric and run but the baseline: both values, difference, interval, standard error, p,
        adjusted p, queries won, lost and tied. ``comparison["map"]``, or ``comparison.difference("map", other="b")``.

    Raises
    ------
    ValueError
        Fewer than two runs, two of one name, a baseline that is none of them, a metric that is no mean over queries
        (one with average=micro), no query left, and what `evaluate_ranking` refuses.
    TypeError
        As `evaluate_ranking`.

    Notes
    -----
    Queries without a judgement are left out; they and missing ones are told in `notes`. Values of a query that differ
    by less than 1e-12 are tied. One query: no interval. Runs that are the same at every query: p is 1.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> qrels = {f"q{n}": {"d1": 1, "d2": 0} for n in range(6)}
    >>> first = {f"q{n}": {"d1": 0.1, "d2": 0.2} for n in range(6)}
    >>> second = {f"q{n}": {"d1": 0.3, "d2": 0.2} for n in range(5)} | {"q5": {"d1": 0.1, "d2": 0.2}}
    >>> comparison = fm.compare_runs(qrels, {"first": first, "second": second}, ["mrr", "p@1"])
    >>> one = comparison["mrr"]
    >>> one.value_a, round(one.value_b, 4), (one.won, one.lost, one.tied), one.pvalue, one.adjusted_pvalue
    (0.5, 0.9167, (5, 0, 1), 0.0625, 0.125)
    """
    started = perf_counter()
    correction = read_correction(correction)
    inputs.check_option(missing, "missing", MISSING)
    check_level(ci)
    threads = count_threads(n_threads)
    if not callable(test):
        inputs.check_option(test, "test", TESTS)
    testing = Testing(test, ci, check_replicates(replicates), check_seed(seed), threads)
    named = named_runs(runs)
    first = next(iter(named)) if baseline is None else baseline
    inputs.check_option(first, "baseline", tuple(named))
    if isinstance(qrels, (str, os.PathLike)):
        qrels = read_qrels(qrels, n_threads=threads)
    wanted = means_over_queries(metrics, Options(ties, empty, checked_level(relevance_level), missing))
    results = {}
    for name, run in named.items():
        try:
            results[name] = evaluate_ranking(
                run, qrels, metrics, query=query, item=item, score=score, relevance=relevance, ties=ties,
                missing="raise" if missing == "raise" else "zero", empty=empty, relevance_level=relevance_level,
                n_threads=threads,
            )  # fmt: skip
        except (ValueError, TypeError) as error:
            if not str(error).startswith("run"):
                raise
            raise type(error)(f"runs[{name!r}]: {error}") from None
    notes = notes_of(results, missing)
    present = common_queries(results) if missing == "drop" else slice(None)
    base = Run(first, results[first])
    found = [
        difference_of(
            metric, arguments, base, Run(name, results[name]), present,
            signature_of(base.result.signature(metric), missing, testing), testing,
        )
        for metric, arguments in wanted.items()
        for name in named
        if name != first
    ]  # fmt: skip
    return Comparison(
        adjusted(found, correction), level=ci, correction=correction, unit="query", version=__version__, notes=notes,
        seconds=perf_counter() - started,
    )  # fmt: skip


class Run(NamedTuple):
    name: str
    result: RankingResult


def means_over_queries(metrics: str | Sequence[str], options: Options) -> dict[str, dict[str, Any]]:
    """The arguments of every metric, if each is a mean over queries."""
    wanted = {name: arguments for name, (_, arguments) in resolve(metrics, options).items()}
    for name, arguments in wanted.items():
        if arguments.get("average") == MICRO:
            raise ValueError(f"metric {name!r} is no mean over queries: compare_runs pairs queries")
    return wanted


def named_runs(runs: Any) -> dict[str, Any]:
    """Name to run, at least two."""
    if isinstance(runs, Mapping):
        named = dict(runs)
    elif isinstance(runs, Iterable) and not isinstance(runs, (str, bytes)):
        files = list(runs)
        for place, run in enumerate(files):
            if not isinstance(run, (str, os.PathLike, TrecRun)):
                raise inputs.OptionError(
                    f"runs has {type(run).__name__} at place {place}: a list is one of TREC files; other runs need "
                    "names: runs={'name': run, ...}"
                )
        paths = [os.fspath(run.path if isinstance(run, TrecRun) else run) for run in files]
        short = [os.path.basename(path) for path in paths]
        names = short if len(set(short)) == len(short) else paths
        for place, name in enumerate(names):
            if name in names[:place]:
                raise ValueError(f"runs has {name} twice, at places {names.index(name)} and {place}")
        named = dict(zip(names, files, strict=True))
    else:
        raise inputs.OptionError(f"runs must map names to runs, or list TREC files; found {type(runs).__name__}")
    if len(named) < 2:
        raise ValueError(f"runs must hold at least two to compare; found {len(named)}")
    return named


def notes_of(results: Mapping[str, RankingResult], missing: str) -> list[str]:
    """What is not in both: said of every run, never passed over."""
    notes = []
    how = "count as 0" if missing == "zero" else "left out of all runs"
    for name, result in results.items():
        for count, names, what in (
            ("queries_missing", "missing", f"judged but not in the run ({how})"),
            ("queries_unjudged", "unjudged", "of the run not judged (left out)"),
        ):
            if n := result.coverage[count]:
                few = ", ".join(map(str, result.coverage[names][:NAMED]))
                notes.append(f"{name}: {n:,} queries {what}: {few}{', ...' if n > NAMED else ''}")
    return notes


def common_queries(results: Mapping[str, RankingResult]) -> np.ndarray:
    """Which rows of the tables are queries that every run has."""
    lacking = {key for result in results.values() for key in result.missing_queries()}
    table = next(iter(results.values())).by_query
    keys = table["query"].tolist()
    present = np.fromiter((key not in lacking for key in keys), bool, len(keys))
    if not present.any():
        raise ValueError("no query is in every run: nothing is left to compare with missing='drop'")
    return present


def difference_of(
    metric: str, arguments: Mapping[str, Any], first: Run, other: Run, present: Any, signature: str, testing: Testing
) -> Difference:
    """One metric of a run and the baseline, over the queries at the rows `present`."""
    a, b = (run.result.by_query[metric][present] for run in (first, other))
    defined = ~(np.isnan(a) | np.isnan(b))
    n = int(np.count_nonzero(defined))
    if not n or (n < len(defined) and arguments.get("empty") == "nan"):
        reason = "a query has no relevant item" if n else "no query has a relevant item"
        return Difference(
            metric, first.name, other.name, math.nan, math.nan, n_units=len(defined), method=testing.name,
            signature=signature, reason=reason,
        )  # fmt: skip
    a, b = np.ascontiguousarray(a[defined]), np.ascontiguousarray(b[defined])
    apart = b - a
    apart[np.abs(apart) < NEGLIGIBLE] = 0.0
    won, lost = int(np.count_nonzero(apart > 0)), int(np.count_nonzero(apart < 0))
    mean = mean_difference(apart)
    pvalue, method, reason_or_none = tested(apart, b, a, mean, testing)
    return Difference(
        metric,
        first.name,
        other.name,
        measures.mean(a, None, "skip").value,
        measures.mean(b, None, "skip").value,
        interval=None if testing.level is None else mean.interval(testing.level),
        standard_error=None if n < 2 else mean.standard_error,
        pvalue=pvalue,
        won=won,
        lost=lost,
        tied=n - won - lost,
        n_units=n,
        method=method,
        signature=signature,
        reason=reason_or_none,
    )


def tested(
    apart: np.ndarray, b: np.ndarray, a: np.ndarray, mean: MeanDifference, testing: Testing
) -> tuple[float, str, str | None]:
    """p, how it was found, and what there is to say about it."""
    if not apart.any():
        return 1.0, testing.name, "no query differs"
    few = "one query: no interval" if mean.n < 2 else None
    if testing.test == SIGN_FLIP:
        flips = flip_signs(apart, replicates=testing.replicates, seed=testing.seed, n_threads=testing.n_threads)
        how = f"all {flips.total:,} assignments" if flips.is_exact else f"{flips.total:,} random assignments"
        return flips.pvalue, f"sign-flip test ({how} of signs)", few
    if callable(testing.test):
        result = testing.test(b, a)
        return float(result.pvalue), str(getattr(result, "method", testing.name)), few
    if mean.n < 2:
        return math.nan, "paired t-test", "one query: no t test"
    if not mean.standard_error:
        return 1.0, "paired t-test", "all differences are the same: no variance, so p is 1"
    return student_pvalue(mean.mean / mean.standard_error, mean.n - 1, "two-sided"), "paired t-test", few


def signature_of(signature: str, missing: str, testing: Testing) -> str:
    """That of the metric, and how it was compared."""
    *parts, version = signature.split("|")
    own = [f"test:{testing.name}"]
    if testing.test == SIGN_FLIP:
        own += [f"replicates:{testing.replicates}", f"seed:{testing.seed}"]
    if testing.level is not None:
        own += [f"ci:{testing.level:g}", "method:t"]
    parts = [f"missing:{missing}" if part.startswith("missing:") else part for part in parts]
    return "|".join([*parts, *own, version])
