"""Metrics of ranked lists: what stands above a function with `@list_metric` is all that one of them has of its own.

The decorator gives the function its body, and registers the metric. The options of the metric and their defaults are
those in the signature of the function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastmetrics._core.calls.compiled_functions import Function, computed_by, parameter_names
from fastmetrics._core.kinds import GRADES, SIGNED_GRADES
from fastmetrics._core.metric_spec import REQUIRED
from fastmetrics._core.registry import metric
from fastmetrics._core.state import Sums
from fastmetrics._core.statistic import Value
from fastmetrics.metrics.ranking.lists.list_inputs import ListFunction
from fastmetrics.metrics.ranking.lists.list_mean import PARAMETER_CHECKS, ListMean, finalize_mean, many_means
from fastmetrics.metrics.ranking.lists.list_measures import MEASURE_CHECKS, Measure


def list_function(measure: str, *, signed_gains: bool = False, least_width: int = 1) -> Callable[[Function], Function]:
    """Return a decorator of a function without a body: it computes the mean over lists of a measure.

    `signed_gains`: may grades be negative? `least_width`: the fewest columns of matrices.
    """

    def declare(declared: Function) -> Function:
        needs_cutoff, own = cutoff_of(declared) == REQUIRED, tuple(own_options(declared))
        function = ListFunction(declared.__name__, measure, own, needs_cutoff, signed_gains, least_width)
        return computed_by(function.mean)(declared)

    return declare


def list_metric(
    name: str,
    summary: str,
    *,
    negative_grades: bool = False,
    least_width: int = 1,
    scale: str | Callable[..., str] = "mean",
    **options: Any,
) -> Callable[[Function], Function]:
    """As `list_function` for the measure `name`; its mean over groups is registered as a metric of this name.

    `options` are further arguments of `metric`.
    """

    def statistics(ties: str, empty: str = "zero", k: int | None = None, **own: Any) -> tuple[ListMean]:
        return (ListMean(Measure.of(name, k, **own), ties, empty),)

    def finalize(parameters: dict[str, Any], state: Sums) -> Value:
        return finalize_mean(parameters, state)

    finalize.__doc__ = summary

    def declare(declared: Function) -> Function:
        function = list_function(name, signed_gains=negative_grades, least_width=least_width)(declared)
        defaults = defaults_of(declared)
        names = [*own_options(declared), *(common for common in PARAMETER_CHECKS if common in defaults)]
        register = metric(
            name, exchange="hash", statistics=statistics, function=function, undefined="no group",
            parameters={parameter: defaults[parameter] for parameter in names},
            checks=MEASURE_CHECKS | PARAMETER_CHECKS, default=False, cutoff=cutoff_of(declared),
            roles=SIGNED_GRADES if negative_grades else GRADES, scale=scale, many=many_means, **options,
        )  # fmt: skip
        register(finalize)
        return function

    return declare


def defaults_of(declared: Callable[..., Any]) -> dict[str, Any]:
    return declared.__kwdefaults__ or {}


def own_options(declared: Callable[..., Any]) -> list[str]:
    """The options of a function that are those of its measure."""
    return [name for name in defaults_of(declared) if name in MEASURE_CHECKS]


def cutoff_of(declared: Callable[..., Any]) -> bool | str:
    """May the function have a cutoff, must it, or neither? As `MetricSpec.cutoff`."""
    if "k" in defaults_of(declared):
        return True
    return REQUIRED if "k" in parameter_names(declared)[1] else False
