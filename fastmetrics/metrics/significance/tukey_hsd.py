"""Tukey's honestly significant difference: all pairs of several systems."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.comparison.test_results import Estimate, SignificanceResult, check_level
from fastmetrics._core.distributions.studentized_range import studentized_range_pvalue, studentized_range_quantile
from fastmetrics._core.immutable import Immutable
from fastmetrics._core.results.table_columns import INTERVAL_ENDS
from fastmetrics._core.upper_layers import render
from fastmetrics.metrics.significance.paired_samples import MAX_MAGNITUDE, ROUNDING_UNITS, sum_exactly

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import NumericArrayLike, SupportsArrow

__all__ = ["TukeyResult", "tukey_hsd"]


class TukeyResult(Immutable):
    """The results of all pairs of systems, with one error rate for all of them; `print` shows a table.

    ``statistics, pvalues = result`` has those of all pairs, in the order of `pairs`.

    Attributes
    ----------
    statistic, pvalue : tuple of float
        Those of the pairs.
    names : tuple
        The systems: keys of the mapping, or numbers from 0.
    pairs : tuple of tuple
        (first, second) of each result, in the order of `names`.
    results : tuple of SignificanceResult
        One for each pair; differences are first minus second.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> result = fm.tukey_hsd({"a": [1.0, 2.0, 3.0], "b": [2.0, 3.0, 4.0], "c": [7.0, 8.0, 9.0]})
    >>> result.names, round(result.pair("a", "c").pvalue, 4)
    (('a', 'b', 'c'), 0.0008)
    """

    __slots__ = ("names", "pairs", "results")

    names: tuple[Any, ...]
    pairs: tuple[tuple[Any, Any], ...]
    results: tuple[SignificanceResult, ...]

    def __init__(
        self, names: tuple[Any, ...], pairs: tuple[tuple[Any, Any], ...], results: tuple[SignificanceResult, ...]
    ) -> None:
        self._set(names=names, pairs=pairs, results=results)

    @property
    def statistic(self) -> tuple[float, ...]:
        return tuple(result.statistic for result in self.results)

    @property
    def pvalue(self) -> tuple[float, ...]:
        return tuple(result.pvalue for result in self.results)

    def __iter__(self) -> Iterator[tuple[float, ...]]:
        """The statistics and the p-values of all pairs."""
        return iter((self.statistic, self.pvalue))

    def __hash__(self) -> int:
        return hash((self.names, self.results))

    def __repr__(self) -> str:
        return f"TukeyResult(names={self.names!r}, pairs={self.pairs!r}, results={self.results!r})"

    @answers_unknown
    def pair(self, first: Any, second: Any) -> SignificanceResult:
        """The result of two systems, first minus second, in either order.

        Parameters
        ----------
        first, second : object
            Two of `names`.

        Returns
        -------
        SignificanceResult

        Raises
        ------
        ValueError
            `first` or `second` is not in `names`, or both are the same.
        """
        for pair, result in zip(self.pairs, self.results, strict=True):
            if pair == (first, second):
                return result
            if pair == (second, first):
                return reverse_result(result)
        raise ValueError(f"no pair {first!r}, {second!r}; the systems are {', '.join(map(repr, self.names))}")

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [("pair", "difference", *INTERVAL_ENDS, "q", "p", "Cohen's d")]
        for (first, second), result in zip(self.pairs, self.results, strict=True):
            ends = ("", "") if result.interval is None else tuple(f"{end:.4g}" for end in result.interval)
            difference = f"{result.estimates[0].value:.4g}"
            numbers = (f"{result.statistic:.4g}", f"{result.pvalue:.4g}", f"{result.effect_size:.4g}")
            rows.append((f"{first} - {second}", difference, *ends, *numbers))
        return "\n".join(render("aligned lines", rows))


def reverse_result(result: SignificanceResult) -> SignificanceResult:
    """The result of the same pair, second minus first."""
    ends = None if result.interval is None else (-result.interval[1], -result.interval[0])
    estimates = tuple(Estimate(one.name, -one.value, ends) for one in result.estimates)
    return result._replace(effect_size=-result.effect_size, interval=ends, estimates=estimates)


@answers_unknown
def tukey_hsd(
    *samples: NumericArrayLike | Mapping[Any, NumericArrayLike] | SupportsArrow,
    paired: bool = False,
    ci: float | None = 0.95,
) -> TukeyResult:
    """Test all pairs of several systems for different means, with one error rate for all pairs.

    q = |difference of means| / sqrt(s^2 (1/n_i + 1/n_j) / 2), compared with the studentized range of k means, with the
    pooled variance s^2 of all systems: J. Tukey, "The problem of multiple comparisons", 1953; C. Kramer, Biometrics
    12, 1956, for unequal sizes; scipy.stats.tukey_hsd. The effect size is Cohen's d, difference / s.

    Parameters
    ----------
    *samples : array-like of shape (n_i,)
        A sample for each system, at least two of them with at least two values each; or one mapping of names to
        samples, such as a dict or a data frame.
    paired : bool
        Whether the samples have the same units (queries, users) in the same order. Then s^2 is the residual variance
        after the means of units and of systems, with (n - 1)(k - 1) degrees of freedom instead of N - k: B. Carterette,
        "Multiple testing in statistical analysis of systems-based information retrieval experiments", ACM TOIS 30,
        2012. Systems on the same queries are paired; otherwise the variance of the queries hides differences.
    ci : float or None
        Simultaneous level of all intervals of differences; None for no intervals.

    Returns
    -------
    TukeyResult
        One result per pair. The p-values need no further correction. `n` counts all values, or the units if paired.

    Raises
    ------
    ValueError
        Fewer than two samples, or fewer than two values in a sample; NaN or infinite values; paired samples of
        different lengths.

    Notes
    -----
    If no variance is left, p is 1 for every pair, without intervals, and `method` notes it. This happens if all values
    of every system are equal or, for paired samples, if the systems differ by constants.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> result = fm.tukey_hsd({
    ...     "bm25": [24.5, 23.5, 26.4, 27.1, 29.9], "dense": [28.4, 34.2, 29.5, 32.2, 30.1],
    ...     "both": [26.1, 28.3, 24.3, 26.2, 27.8],
    ... })
    >>> print(result)
    pair          difference  ci_low  ci_high       q        p  Cohen's d
    bm25 - dense        -4.6  -8.249  -0.9508   4.756  0.01445     -2.127
    bm25 - both        -0.26  -3.909    3.389  0.2688   0.9803    -0.1202
    dense - both        4.34  0.6908    7.989   4.487  0.02033      2.007
    >>> round(result.pair("dense", "bm25").pvalue, 5)
    0.01445
    """
    validation.check_flag(paired, "paired")
    check_level(ci)
    names, values, rounding, scale = read_samples(samples)
    if paired:
        check_equal_lengths(names, values)
    variance, df, method = residual_variance(values) if paired else pooled_variance(values)
    k = len(values)
    n = values[0].shape[0] if paired else sum(map(len, values))
    means = [sum_exactly(one) / one.shape[0] for one in values]
    same = variance <= rounding * rounding
    if same:
        method += "; no variance: p = 1"
    quantile = None if ci is None or same else studentized_range_quantile(1 - ci, k, df)
    results = []
    for i, j in combinations(range(k), 2):
        difference = means[i] - means[j]
        if same:
            differs = abs(difference) > rounding
            value = math.nan if differs else 0.0
            estimates = (Estimate("difference", math.ldexp(difference, scale) if differs else 0.0),)
            results.append(SignificanceResult(value, 1.0, df, value, None, n, method, "Cohen's d", "", estimates))
            continue
        error = math.sqrt(variance / 2 * (1 / values[i].shape[0] + 1 / values[j].shape[0]))
        q = abs(difference) / error
        margin = None if quantile is None else quantile * error
        interval = None
        if margin is not None:
            interval = math.ldexp(difference - margin, scale), math.ldexp(difference + margin, scale)
        results.append(
            SignificanceResult(
                q,
                studentized_range_pvalue(q, k, df),
                df,
                difference / math.sqrt(variance),
                interval,
                n,
                method,
                "Cohen's d",
                "difference",
                (Estimate("difference", math.ldexp(difference, scale), interval),),
            )
        )
    return TukeyResult(names, tuple(combinations(names, 2)), tuple(results))


def read_samples(samples: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[np.ndarray], float, int]:
    """Names, scaled values, the largest standard deviation that rounding can cause, and the exponent of the scale.

    Values are float64 below 1, divided by a power of 2, so that squares neither overflow nor underflow.
    """
    named = name_samples(samples)
    if len(named) < 2:
        raise ValueError(
            f"at least two samples are needed; found {len(named)}: give one argument for each system, or one mapping "
            "of names to samples"
        )
    values, rounding, greatest = [], 0.0, 0.0
    for name, sample in named.items():
        array = validation.as_numbers(sample, f"sample {name!r}")
        if array.shape[0] < 2:
            raise ValueError(f"sample {name!r} has one value: at least two are needed")
        largest = float(np.abs(array).max())
        if largest > MAX_MAGNITUDE:
            row = int(np.abs(array).argmax())
            raise ValueError(f"sample {name!r} has {array[row]} at row {row}: divide all values by the same number")
        greatest = max(greatest, largest)
        rounding = max(rounding, ROUNDING_UNITS * float(np.finfo(array.dtype).eps) * largest)
        values.append(array.astype(np.float64, copy=False))
    scale = math.frexp(greatest)[1]
    return tuple(named), [np.ldexp(one, -scale) for one in values], math.ldexp(rounding, -scale), scale


def name_samples(samples: tuple[Any, ...]) -> dict[Any, Any]:
    """Samples by name: from a mapping, the columns of a data frame, or by number."""
    if len(samples) == 1:
        only = samples[0]
        if isinstance(only, Mapping):
            return dict(only)
        names = getattr(only, "column_names", getattr(only, "columns", None))
        if names is not None:
            return {name: only[name] for name in names}
    return dict(enumerate(samples))


def pooled_variance(values: list[np.ndarray]) -> tuple[float, int, str]:
    """The variance within the samples, its degrees of freedom, and the method."""
    squares = [sum_exactly(np.square(one - sum_exactly(one) / one.shape[0])) for one in values]
    df = sum(map(len, values)) - len(values)
    method = "Tukey's HSD" if len({*map(len, values)}) == 1 else "Tukey's HSD (Tukey-Kramer)"
    return math.fsum(squares) / df, df, method


def check_equal_lengths(names: tuple[Any, ...], values: list[np.ndarray]) -> None:
    """Check that paired samples have the same length."""
    n = values[0].shape[0]
    for name, one in zip(names, values, strict=True):
        if one.shape[0] != n:
            raise ValueError(
                f"paired samples must have one length; found {n} values in {names[0]!r} and {one.shape[0]} in {name!r}"
            )


def residual_variance(values: list[np.ndarray]) -> tuple[float, int, str]:
    """The residual variance after the means of units and systems, its degrees of freedom, and the method."""
    n, k = values[0].shape[0], len(values)
    table = np.stack(values, axis=1)
    # Sorted, so that the result does not depend on the order of the systems.
    unit_means = np.sort(table, axis=1).sum(axis=1) / k
    residuals = table - unit_means[:, None]
    residuals -= np.array([sum_exactly(column) / n for column in residuals.T])
    df = (n - 1) * (k - 1)
    return sum_exactly(np.square(residuals).ravel()) / df, df, "Tukey's HSD of paired samples"
