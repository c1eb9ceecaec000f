"""What the public functions of ranked lists have in common: measures at every cutoff, averaged over lists."""

from __future__ import annotations

from typing import Any

from fastmetrics._core.columns import validation
from fastmetrics.metrics.ranking.lists import list_measures
from fastmetrics.metrics.ranking.lists.list_inputs import ListArguments, check_options, score_lists, unwrap_means
from fastmetrics.metrics.ranking.lists.list_measures import Measure

GAIN_PARAMETER = {"gain": ("linear", tuple(list_measures.GAINS))}

IDEAL_PARAMETER = {"ideal": ("judged", tuple(list_measures.IDEALS))}


def gain_means(
    function: str,
    measure: str,
    arguments: ListArguments,
    k: Any,
    gain: str,
    ideal: str,
    relevance_level: float,
    **options: Any,
) -> Any:
    """The mean over lists of a measure of gains, for every cutoff."""
    cutoffs, is_sequence = list_measures.check_cutoffs(k)
    validation.check_option(gain, "gain", tuple(list_measures.GAINS))
    validation.check_option(ideal, "ideal", tuple(list_measures.IDEALS))
    level = list_measures.check_level(relevance_level)
    measures = [Measure.of(measure, cutoff, gain=gain, ideal=ideal, relevance_level=level) for cutoff in cutoffs]
    return unwrap_means(function, score_lists(arguments, measures, check_options(**options)), is_sequence)


def relevance_means(
    function: str,
    measure: str,
    arguments: ListArguments,
    k: Any,
    needs_cutoff: bool,
    relevance_level: float,
    measure_options: dict[str, Any],
    **options: Any,
) -> Any:
    """The mean over lists of a measure of relevant rows, for every cutoff."""
    cutoffs, is_sequence = list_measures.check_cutoffs(k, needs_cutoff)
    level = list_measures.check_level(relevance_level)
    measures = [Measure.of(measure, cutoff, relevance_level=level, **measure_options) for cutoff in cutoffs]
    return unwrap_means(function, score_lists(arguments, measures, check_options(**options)), is_sequence)
