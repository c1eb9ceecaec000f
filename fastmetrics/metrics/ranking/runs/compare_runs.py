"""`compare_runs`: runs against a baseline on the same queries, with intervals and significance tests."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.comparison.comparison import Comparison
from fastmetrics._core.comparison.decided_differences import decide_tested
from fastmetrics._core.comparison.difference import Difference
from fastmetrics._core.comparison.mean_differences import MeanDifference, mean_difference
from fastmetrics._core.comparison.multiple_testing import read_correction
from fastmetrics._core.comparison.randomization_test import randomization_test
from fastmetrics._core.comparison.test_results import check_level, check_replicates, check_seed
from fastmetrics._core.distributions.student import student_pvalue
from fastmetrics._core.inference.difference_tests import IntervalAt
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.registry import list_metrics_of
from fastmetrics._version import __version__
from fastmetrics.metrics.ranking.lists import list_measures
from fastmetrics.metrics.ranking.runs.evaluate_ranking import evaluate_ranking
from fastmetrics.metrics.ranking.runs.join import MISSING, MOST_NAMED
from fastmetrics.metrics.ranking.runs.ranking_result import (
    DEFAULT_METRICS,
    MICRO,
    RankingResult,
    RunOptions,
    as_relevance_level,
    resolve_metrics,
)
from fastmetrics.metrics.ranking.runs.trec_files import TrecRun, read_qrels

if TYPE_CHECKING:
    from fastmetrics._core.registry import Metrics
    from fastmetrics._core.types.arrays import RankedRows
    from fastmetrics._core.types.options import Correction, Empty, Missing, RunTest, Ties
    from fastmetrics.metrics.ranking.runs.trec_files import TrecQrels

__all__ = ["compare_runs"]

SIGN_FLIP: Literal["sign-flip"] = "sign-flip"
TESTS = (SIGN_FLIP, "t")
NEGLIGIBLE = 1e-12  # two sums of the same terms in another order may differ by so much

Test = str | Callable[[np.ndarray, np.ndarray], Any]


class DifferenceTest(NamedTuple):
    """The significance test of differences, and the level of their intervals."""

    test: Test
    level: float | None
    replicates: int
    seed: int
    n_threads: int

    @property
    def name(self) -> str:
        return self.test if isinstance(self.test, str) else getattr(self.test, "__name__", "test")


@answers_unknown
def compare_runs(
    qrels: RankedRows | TrecQrels,
    runs: Mapping[str, Any] | Sequence[Any],
    metrics: Metrics | None = None,
    *,
    baseline: str | None = None,
    test: RunTest | Callable[[np.ndarray, np.ndarray], Any] = SIGN_FLIP,
    correction: Correction | None = "holm",
    ci: float | None = 0.95,
    replicates: int = 10_000,
    seed: int = 0,
    query: str = "query",
    item: str = "item",
    score: str = "score",
    relevance: str = "relevance",
    ties: Ties = "average",
    missing: Missing = "zero",
    empty: Empty = "zero",
    relevance_level: float = 1,
    n_threads: int | None = None,
) -> Comparison:
    """Compare runs with a baseline: differences paired by query, with significance tests.

    Every run is evaluated as by `evaluate_ranking`. Values are paired by query: d_q is the value of the run minus the
    value of the baseline. p-values are two-sided and corrected over all metrics and runs. M. D. Smucker, J. Allan,
    B. Carterette, "A comparison of statistical significance tests for information retrieval evaluation", CIKM 2007.

    Parameters
    ----------
    qrels : table, dict, path or TrecQrels
        One row for each judged item: query, item, relevance. A pyarrow table, a polars or pandas data frame, any object
        with ``__arrow_c_stream__``, a dict of columns, a dict of dicts ``{query: {item: relevance}}`` (as for
        pytrec_eval), a ``ranx.Qrels``, the path of a TREC qrels file (plain or gzip), or the result of `read_qrels`.
    runs : mapping of str to run, or sequence of TREC files
        Name to run, each as for `evaluate_ranking`; or a list of TREC runs (paths, or results of `read_run`), which are
        named by their files.
    metrics : str or sequence of str, optional
        Metric strings of ranked lists that are means over queries, as for `evaluate_ranking`.
    baseline : str, optional
        The name of the run that the others are compared with; by default the first.
    test : {"sign-flip", "t"} or callable
        Fisher's randomization test (`sign_flip_test`, without scipy), Student's paired t-test, or any function of two
        arrays, other and baseline, whose result has a `pvalue`, such as ``fm.wilcoxon``.
    correction : {"holm", "benjamini-hochberg", "none"} or None
        How p-values are adjusted for the number of differences, in each family: all rows, and each grouping set, of
        each task. Holm's method controls the probability of any false discovery; it decides every verdict. The method
        of Benjamini and Hochberg controls the share of false discoveries, and only adjusts p-values. "none": every
        difference is tested by itself.
    ci : float or None
        Level of the Student's t intervals of the mean difference; None for no intervals.
    replicates, seed : int
        Of the sign-flip test. It uses all assignments of signs if there are at most `replicates`.
    query, item, score, relevance : str
        The names of the columns. Queries and items are integers or strings, of the same kind in both tables.
    ties : {"average", "docid", "stable", "optimistic", "pessimistic"}
        How rows of equal score count. "average": the expected value over all orders of the tied rows. "docid": the
        greater item id first (integers as numbers, strings by their bytes), as trec_eval does. "stable": the earlier
        row first. "optimistic": the more relevant row first. "pessimistic": the less relevant row first.
    missing : {"zero", "drop", "raise"}
        A judged query without a row in the run. "zero": it counts as an empty list. "drop": it is left out. "raise": it
        is an error.

        A query is left out of all runs.
    empty : {"zero", "skip", "one", "nan", "raise"}
        A query without a relevant item. "zero": it counts as 0. "skip": it is left out. "one": it counts as 1. "nan":
        the mean is NaN. "raise": it is an error.
    relevance_level : float
        The smallest relevance of a relevant item. An item of negative relevance counts as not judged.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    Comparison
        A `Difference` for every metric and every run except the baseline: both values, difference, interval, standard
        error, p, adjusted p, queries won, lost and tied. Read one with ``comparison["map"]`` or
        ``comparison.difference("map", other="b")``.

    Raises
    ------
    ValueError
        There are fewer than two runs, two have the same name, the baseline is none of them, a metric is not a mean over
        queries (average=micro), no query is left, or `evaluate_ranking` raises.
    TypeError
        As for `evaluate_ranking`.

    Notes
    -----
    Queries without a judgment are left out; `notes` lists them and the missing queries. Values of a query that differ
    by less than 1e-12 are tied. With one query there is no interval. If no query differs, p is 1.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> qrels = {f"q{n}": {"d1": 1, "d2": 0} for n in range(6)}
    >>> first = {f"q{n}": {"d1": 0.1, "d2": 0.2} for n in range(6)}
    >>> second = {f"q{n}": {"d1": 0.3, "d2": 0.2} for n in range(5)} | {"q5": {"d1": 0.1, "d2": 0.2}}
    >>> comparison = fm.compare_runs(qrels, {"first": first, "second": second}, ["mrr", "p@1"])
    >>> one = comparison["mrr"]
    >>> one.baseline_value, round(one.other_value, 4), (one.won, one.lost, one.tied), one.pvalue, one.adjusted_pvalue
    (0.5, 0.9167, (5, 0, 1), 0.0625, 0.125)
    """
    started = perf_counter()
    correction_name = read_correction(correction)
    validation.check_option(missing, "missing", MISSING)
    check_level(ci)
    threads = count_threads(n_threads)
    if not callable(test):
        validation.check_option(test, "test", TESTS)
    testing = DifferenceTest(test, ci, check_replicates(replicates), check_seed(seed), threads)
    run_of_name = name_runs(runs)
    baseline_name = next(iter(run_of_name)) if baseline is None else baseline
    validation.check_option(baseline_name, "baseline", tuple(run_of_name))
    if isinstance(qrels, (str, os.PathLike)):
        qrels = read_qrels(qrels, n_threads=threads)
    metrics = list_metrics_of(DEFAULT_METRICS if metrics is None else metrics)
    arguments_of_metric = means_over_queries(
        metrics, RunOptions(ties, empty, as_relevance_level(relevance_level), missing)
    )
    results = {}
    for name, run in run_of_name.items():
        try:
            results[name] = evaluate_ranking(
                qrels, run, metrics, query=query, item=item, score=score, relevance=relevance, ties=ties,
                missing="raise" if missing == "raise" else "zero", empty=empty, relevance_level=relevance_level,
                n_threads=threads,
            )  # fmt: skip
        except (ValueError, TypeError) as error:
            if not str(error).startswith("run"):
                raise
            raise type(error)(f"runs[{name!r}]: {error}") from None
    notes = query_notes(results, missing)
    present = common_queries(results) if missing == "drop" else slice(None)
    differences = [
        compare_metric(
            metric, arguments, (baseline_name, name), results, present,
            comparison_signature(results[baseline_name].signature(metric), missing, testing), testing,
        )
        for metric, arguments in arguments_of_metric.items()
        for name in run_of_name
        if name != baseline_name
    ]  # fmt: skip
    directions = ["maximize"] * len(differences)  # of metrics of ranked lists
    return Comparison(
        decide_tested(differences, directions, ci, correction_name), level=ci, correction=correction_name, unit="query",
        version=__version__, notes=notes, seconds=perf_counter() - started,
    )  # fmt: skip


def means_over_queries(metrics: Metrics, options: RunOptions) -> dict[str, dict[str, Any]]:
    """The arguments of every metric. Raises if a metric is not a mean over queries."""
    arguments_of_metric = {name: arguments for name, (_, arguments) in resolve_metrics(metrics, options).items()}
    for name, arguments in arguments_of_metric.items():
        if arguments.get("average") == MICRO:
            raise ValueError(f"metric {name!r} is no mean over queries: compare_runs pairs values by query")
    return arguments_of_metric


def name_runs(runs: Any) -> dict[str, Any]:
    """The runs by name, at least two."""
    if isinstance(runs, Mapping):
        run_of_name = dict(runs)
    elif isinstance(runs, Iterable) and not isinstance(runs, (str, bytes)):
        files = list(runs)
        for index, run in enumerate(files):
            if not isinstance(run, (str, os.PathLike, TrecRun)):
                raise validation.OptionError(
                    f"runs has {type(run).__name__} at place {index}: a list is one of TREC files; other runs need "
                    "names: runs={'name': run, ...}"
                )
        paths = [os.fspath(run.path if isinstance(run, TrecRun) else run) for run in files]
        short = [os.path.basename(path) for path in paths]
        names = short if len(set(short)) == len(short) else paths
        for index, name in enumerate(names):
            if name in names[:index]:
                raise ValueError(f"runs has {name} twice, at places {names.index(name)} and {index}")
        run_of_name = dict(zip(names, files, strict=True))
    else:
        raise validation.OptionError(f"runs must map names to runs, or list TREC files; found {type(runs).__name__}")
    if len(run_of_name) < 2:
        raise ValueError(f"runs must hold at least two to compare; found {len(run_of_name)}")
    return run_of_name


def query_notes(results: Mapping[str, RankingResult], missing: str) -> list[str]:
    """Notes for every run: the missing and the unjudged queries."""
    notes = []
    how = "count as 0" if missing == "zero" else "left out of all runs"
    for name, result in results.items():
        for count, names, description in (
            ("queries_missing", "missing", f"judged but not in the run ({how})"),
            ("queries_unjudged", "unjudged", "of the run not judged (left out)"),
        ):
            if n := result.coverage[count]:
                few = ", ".join(map(str, result.coverage[names][:MOST_NAMED]))
                notes.append(f"{name}: {n:,} queries {description}: {few}{', ...' if n > MOST_NAMED else ''}")
    return notes


def common_queries(results: Mapping[str, RankingResult]) -> np.ndarray:
    """A mask of the rows of the tables: the queries that every run has."""
    missing = {key for result in results.values() for key in result.missing_queries()}
    keys = next(iter(results.values())).per_query["query"].tolist()
    present = np.fromiter((key not in missing for key in keys), bool, len(keys))
    if not present.any():
        raise ValueError("no query is in every run: nothing is left to compare with missing='drop'")
    return present


def compare_metric(
    metric: str,
    arguments: Mapping[str, Any],
    names: tuple[str, str],
    results: Mapping[str, RankingResult],
    present: Any,
    signature: str,
    testing: DifferenceTest,
) -> tuple[Difference, IntervalAt | None]:
    """One metric of two runs, the baseline first, over the queries at the rows `present`; intervals at any level."""
    a, b = (results[name].per_query[metric][present] for name in names)
    defined = ~(np.isnan(a) | np.isnan(b))
    n = int(np.count_nonzero(defined))
    if not n or (n < len(defined) and arguments.get("empty") == "nan"):
        reason = "a query has no relevant item" if n else "no query has a relevant item"
        undefined = Difference(
            metric, *names, math.nan, math.nan, n_units=len(defined), method=testing.name,
            signature=signature, reason=reason,
        )  # fmt: skip
        return undefined, None
    a, b = np.ascontiguousarray(a[defined]), np.ascontiguousarray(b[defined])
    differences = b - a
    differences[np.abs(differences) < NEGLIGIBLE] = 0.0
    won, lost = int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
    mean = mean_difference(differences)
    pvalue, method, reason_or_none = difference_pvalue(differences, b, a, mean, testing)
    found = Difference(
        metric,
        *names,
        list_measures.mean(a, None, "skip").value,
        list_measures.mean(b, None, "skip").value,
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
    return found, None if testing.level is None else mean.interval


def difference_pvalue(
    differences: np.ndarray, b: np.ndarray, a: np.ndarray, mean: MeanDifference, testing: DifferenceTest
) -> tuple[float, str, str | None]:
    """p, the name of the method, and a remark or None."""
    if not differences.any():
        return 1.0, testing.name, "no query differs"
    few = "one query: no interval" if mean.n < 2 else None
    if testing.test == SIGN_FLIP:
        flips = randomization_test(
            differences, replicates=testing.replicates, seed=testing.seed, n_threads=testing.n_threads
        )
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


def comparison_signature(signature: str, missing: str, testing: DifferenceTest) -> str:
    """The signature of the metric, extended by the options of the comparison."""
    *fields, version = signature.split("|")
    of_test = [f"test:{testing.name}"]
    if testing.test == SIGN_FLIP:
        of_test += [f"replicates:{testing.replicates}", f"seed:{testing.seed}"]
    if testing.level is not None:
        of_test += [f"ci:{testing.level:g}", "method:t"]
    fields = [f"missing:{missing}" if field.startswith("missing:") else field for field in fields]
    return "|".join([*fields, *of_test, version])
