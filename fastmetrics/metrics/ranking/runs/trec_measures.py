"""trec_eval's metrics: their names, parameters and order of output, and how each is computed here.

All follow trec_eval 9 (NIST; C. Buckley, 2008): which values are shown for each query, which only in the summary, and
whether the summary is a mean, a sum or a geometric mean. `dcg`, `ideal_dcg`, `rbp`, `rbp_resid` and `unj` are those of
version 10.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.metrics.ranking.lists.list_measures import Measure
from fastmetrics.metrics.ranking.runs.graded_rankings import GainedRankings, GradedRankings, ratio

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
RECALLS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
# Kinds of summaries.
MEAN, SUM, GEOMETRIC, QUERIES, TAG, NO_SUMMARY = range(6)
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")

# A count that the kernel returns beside its measures: retrieved items that were judged.
JUDGED_RETRIEVED = Measure(-1)

MeasureValues = dict[Measure, np.ndarray]
ComputeValues = Callable[..., np.ndarray]  # of the values of the needed measures, each by query
Parameters = tuple[Any, ...]  # numbers, or pairs of a grade and its gain


class MeasureOptions(NamedTuple):
    """What all measures depend on: the least relevance of a relevant item, and the size of the collection."""

    level: float = 1
    collection_size: int | None = 0


class TrecValue(NamedTuple):
    """A value that trec_eval shows, and how it is computed: from the kernel's measures, or from graded rankings.

    `missing_is_zero`: of a query that the run lacks, the value is 0, whatever the value of an empty list is.
    """

    name: str
    summary: int
    needs: tuple[Measure, ...] = ()
    compute: ComputeValues | None = None
    from_rankings: Callable[[GradedRankings], np.ndarray] | None = None
    missing_is_zero: bool = False

    @property
    def is_count(self) -> bool:
        return self.summary in (SUM, QUERIES)

    @property
    def is_computed(self) -> bool:
        """Whether it has a value for every query, shown or not."""
        return bool(self.needs) or self.from_rankings is not None

    @property
    def is_per_query(self) -> bool:
        return self.summary in (MEAN, SUM, NO_SUMMARY)

    def values(self, measured: MeasureValues, rankings: GradedRankings | None) -> np.ndarray:
        """The value of every query; 0 if a query has no relevant item."""
        if self.from_rankings is not None and rankings is not None:
            return self.from_rankings(rankings)
        needed = [measured[need] for need in self.needs]
        return needed[0] if self.compute is None else self.compute(*needed)


MakeValues = Callable[[str, Parameters, MeasureOptions, str], list[TrecValue]]


class TrecMeasure(NamedTuple):
    """A measure of trec_eval: its name, a function that makes its values, and its parameters.

    The function takes the name, the parameters, the options, and the text of the parameters ("" for defaults).
    `read_parameters` reads the parameters from the name of the measure and their text; None if there are none.
    """

    name: str
    make_values: MakeValues
    read_parameters: Callable[[str, str], Parameters] | None = None
    defaults: Parameters = ()


# ----------------------------------------------------------------------------------------------------------- parameters


def read_cutoffs(name: str, text: str) -> tuple[int, ...]:
    """Cutoffs, sorted, without duplicates."""
    cutoffs = {int(number) if re.fullmatch(r"\d{1,15}", number) else 0 for number in text.split(",")}
    if min(cutoffs) < 1:
        raise ValueError(f"cutoffs of {name!r} must be whole numbers of at least 1; found {text!r}")
    return tuple(sorted(cutoffs))


def read_numbers(name: str, text: str) -> tuple[float, ...]:
    texts = text.split(",")
    numbers = tuple(float(number) for number in texts if NUMBER.fullmatch(number))
    if len(numbers) < len(texts):
        raise ValueError(f"parameters of {name!r} must be numbers, separated by commas; found {text!r}")
    return numbers


def read_recall_list(name: str, text: str) -> tuple[float, ...]:
    """Recalls, in any order."""
    numbers = read_numbers(name, text)
    if not all(0 <= number <= 1 for number in numbers):
        raise ValueError(f"recalls of {name!r} must lie between 0 and 1; found {text!r}")
    return numbers


def read_recalls(name: str, text: str) -> tuple[float, ...]:
    """Recalls, sorted, without duplicates."""
    return tuple(sorted(set(read_recall_list(name, text))))


def read_multiples(name: str, text: str) -> tuple[float, ...]:
    """Multiples of R, sorted, without duplicates."""
    numbers = read_numbers(name, text)
    if min(numbers) < 0:
        raise ValueError(f"multiples of {name!r} must be at least 0; found {text!r}")
    return tuple(sorted(set(numbers)))


def exactly(n: int) -> Callable[[str, str], tuple[float, ...]]:
    """A reader of n numbers."""

    def read_exactly(name: str, text: str) -> tuple[float, ...]:
        numbers = read_numbers(name, text)
        if len(numbers) != n:
            raise ValueError(f"{name!r} takes {n} number{'s' * (n > 1)}; found {text!r}")
        return numbers

    return read_exactly


def read_length(name: str, text: str) -> tuple[int]:
    if not re.fullmatch(r"\d{1,15}", text) or int(text) < 1:
        raise ValueError(f"the parameter of {name!r} must be one whole number of at least 1; found {text!r}")
    return (int(text),)


def read_gains(name: str, text: str) -> tuple[tuple[int, float], ...]:
    """Pairs of a grade and its gain."""
    pairs = [re.fullmatch(rf"(\d{{1,15}})=({NUMBER.pattern})", pair) for pair in text.split(",")]
    if not all(pairs):
        raise ValueError(
            f"parameters of {name!r} must be gains of relevances, such as 1=3,2=9.5, with commas; found {text!r}"
        )
    return tuple((int(pair[1]), float(pair[2])) for pair in pairs if pair)


def read_persistence(name: str, text: str) -> tuple[float]:
    pair = re.fullmatch(rf"p=({NUMBER.pattern})", text)
    if not pair or not 0 < float(pair[1]) < 1:
        raise ValueError(f"the parameter of {name!r} must be p=, a number between 0 and 1; found {text!r}")
    return (float(pair[1]),)


# --------------------------------------------------------------------------------------------------------------- values


def name_with(name: str, text: str) -> str:
    """The name of a value: that of the measure, and the text of parameters if there are any."""
    return f"{name}_{text}" if text else name


def kernel_value(measure: str, summary: int = MEAN, **more: Any) -> MakeValues:
    """One value: a measure of the kernel without a cutoff."""
    return lambda name, parameters, options, text: [
        TrecValue(name, summary, (Measure.of(measure, relevance_level=options.level, **more),))
    ]


def values_at_cutoffs(measure: str, **more: Any) -> MakeValues:
    """A value for every cutoff."""
    return lambda name, parameters, options, text: [
        TrecValue(f"{name}_{k:.0f}", MEAN, (Measure.of(measure, int(k), relevance_level=options.level, **more),))
        for k in parameters
    ]


def graded_value(compute: Callable[..., np.ndarray], summary: int = MEAN) -> MakeValues:
    """One value, of graded rankings and the parameters."""
    return lambda name, parameters, options, text: [
        TrecValue(name_with(name, text), summary, from_rankings=lambda rankings: compute(rankings, *parameters))
    ]


def graded_values(compute: Callable[..., np.ndarray], name_format: str) -> MakeValues:
    """A value for every parameter, of graded rankings and the parameter."""

    def value_at(name: str, parameter: float) -> TrecValue:
        return TrecValue(
            f"{name}_{parameter:{name_format}}", MEAN, from_rankings=lambda rankings: compute(rankings, parameter)
        )

    return lambda name, parameters, options, text: [value_at(name, parameter) for parameter in parameters]


def gained_value(compute: Callable[[GainedRankings], np.ndarray], measure: str | None = None) -> MakeValues:
    """One value, of graded rankings with gains; without parameters that of the kernel, if it has the measure."""

    def make_values(name: str, parameters: Parameters, options: MeasureOptions, text: str) -> list[TrecValue]:
        if measure is not None and not parameters:
            return kernel_value(measure)(name, parameters, options, text)
        return [
            TrecValue(
                name_with(name, text), MEAN, from_rankings=lambda rankings: compute(rankings.gained(parameters))
            )
        ]

    return make_values


def interpolated_precision(recall: float, options: MeasureOptions) -> Measure:
    return Measure.of("iprec", relevance_level=options.level, number=recall)


def values_at_recalls(name: str, parameters: Parameters, options: MeasureOptions, text: str) -> list[TrecValue]:
    return [
        TrecValue(f"{name}_{recall:.2f}", MEAN, (interpolated_precision(recall, options),)) for recall in parameters
    ]


def mean_over_recalls(name: str, parameters: Parameters, options: MeasureOptions, text: str) -> list[TrecValue]:
    needs = tuple(interpolated_precision(recall, options) for recall in parameters)
    return [TrecValue(name_with(name, text), MEAN, needs, mean_from_the_last)]


def mean_from_the_last(*values: Any) -> Any:
    """The mean; values are added from the last on, as in trec_eval, one by one (`sum` depends on Python's version)."""
    return functools.reduce(operator.add, reversed(values)) / len(values)


class SetSizes(NamedTuple):
    """The sizes of the sets of items, for every query."""

    retrieved: np.ndarray
    relevant: np.ndarray
    both: np.ndarray


def needed_sizes(options: MeasureOptions) -> tuple[Measure, ...]:
    """The measures that are the fields of SetSizes."""
    kinds = ("n_retrieved", "n_relevant", "n_relevant_retrieved")
    return tuple(Measure.of(kind, relevance_level=options.level) for kind in kinds)


def set_value(formula: Callable[[SetSizes, Parameters], np.ndarray]) -> MakeValues:
    """A value computed from the numbers of retrieved and relevant items."""
    return lambda name, parameters, options, text: [
        TrecValue(
            name_with(name, text), MEAN, needed_sizes(options), lambda *sizes: formula(SetSizes(*sizes), parameters)
        )
    ]


def set_f(sets: SetSizes, parameters: Parameters) -> np.ndarray:
    precision, recall = ratio(sets.both, sets.retrieved), ratio(sets.both, sets.relevant)
    return ratio((parameters[0] + 1.0) * precision * recall, parameters[0] * precision + recall)


def utility(name: str, parameters: Parameters, options: MeasureOptions, text: str) -> list[TrecValue]:
    hit_gain, other_gain, missed_gain, rest_gain = parameters
    collection_size = options.collection_size
    if rest_gain != 0 and collection_size is None:
        raise ValueError(
            f"the fourth parameter of {name!r} needs the size of the collection: pass collection_size (-N); found "
            f"{text!r}"
        )

    def compute(*sizes: np.ndarray) -> np.ndarray:
        retrieved, relevant, both = sizes
        total: np.ndarray = hit_gain * both + other_gain * (retrieved - both) + missed_gain * (relevant - both)
        if rest_gain != 0:
            total = total + rest_gain * (collection_size + both - retrieved - relevant)
        return total

    return [TrecValue(name_with(name, text), MEAN, needed_sizes(options), compute, missing_is_zero=True)]


def relative_precision(name: str, parameters: Parameters, options: MeasureOptions, text: str) -> list[TrecValue]:
    relevant = Measure.of("n_relevant", relevance_level=options.level)

    def value_at(k: int) -> TrecValue:
        needs = Measure.of("hits", k, relevance_level=options.level), relevant
        return TrecValue(
            f"{name}_{k}", MEAN, needs, lambda n_hits, n_relevant: ratio(n_hits, np.minimum(n_relevant, k))
        )

    return [value_at(int(k)) for k in parameters]


def judged_irrelevant(name: str, parameters: Parameters, options: MeasureOptions, text: str) -> list[TrecValue]:
    needs = JUDGED_RETRIEVED, Measure.of("n_relevant_retrieved", relevance_level=options.level)
    return [TrecValue(name, SUM, needs, lambda judged, relevant: judged - relevant)]


# In trec_eval's order of output.
TREC_MEASURES = {
    measure.name: measure
    for measure in (
        TrecMeasure("runid", lambda name, *_: [TrecValue(name, TAG)]),
        TrecMeasure("num_q", lambda name, *_: [TrecValue(name, QUERIES)]),
        TrecMeasure("num_ret", kernel_value("n_retrieved", SUM)),
        TrecMeasure("num_rel", kernel_value("n_relevant", SUM)),
        TrecMeasure("num_rel_ret", kernel_value("n_relevant_retrieved", SUM)),
        TrecMeasure("map", kernel_value("map", normalize="relevant")),
        TrecMeasure("gm_map", kernel_value("map", GEOMETRIC, normalize="relevant")),
        TrecMeasure("Rprec", kernel_value("rprec")),
        TrecMeasure("bpref", kernel_value("bpref")),
        TrecMeasure("recip_rank", kernel_value("mrr")),
        TrecMeasure("iprec_at_recall", values_at_recalls, read_recalls, RECALLS),
        TrecMeasure("P", values_at_cutoffs("p"), read_cutoffs, CUTOFFS),
        TrecMeasure("relstring", graded_value(GradedRankings.relevance_strings, NO_SUMMARY), read_length, (10,)),
        TrecMeasure("recall", values_at_cutoffs("recall"), read_cutoffs, CUTOFFS),
        TrecMeasure("infAP", graded_value(GradedRankings.inferred_average_precision)),
        TrecMeasure("gm_bpref", kernel_value("bpref", GEOMETRIC)),
        TrecMeasure(
            "Rprec_mult", graded_values(GradedRankings.precision_at_multiple, ".2f"), read_multiples, MULTIPLES
        ),
        TrecMeasure("utility", utility, exactly(4), (1.0, -1.0, 0.0, 0.0)),
        TrecMeasure("11pt_avg", mean_over_recalls, read_recall_list, RECALLS),
        TrecMeasure("binG", graded_value(GradedRankings.binary_g)),
        TrecMeasure("G", gained_value(GainedRankings.normalized_g), read_gains),
        TrecMeasure("dcg", gained_value(GainedRankings.dcg, "dcg"), read_gains),
        TrecMeasure("ideal_dcg", gained_value(GainedRankings.ideal_dcg, "idcg"), read_gains),
        TrecMeasure("ndcg", gained_value(GainedRankings.ndcg, "ndcg"), read_gains),
        TrecMeasure("ndcg_rel", gained_value(GainedRankings.ndcg_at_relevant), read_gains),
        TrecMeasure("Rndcg", gained_value(GainedRankings.ndcg_at_levels), read_gains),
        TrecMeasure("ndcg_cut", values_at_cutoffs("ndcg"), read_cutoffs, CUTOFFS),
        TrecMeasure("map_cut", values_at_cutoffs("map", normalize="relevant"), read_cutoffs, CUTOFFS),
        TrecMeasure("relative_P", relative_precision, read_cutoffs, CUTOFFS),
        TrecMeasure("success", values_at_cutoffs("hr"), read_cutoffs, (1, 5, 10)),
        TrecMeasure("set_P", set_value(lambda sets, _: ratio(sets.both, sets.retrieved))),
        TrecMeasure(
            "set_relative_P", set_value(lambda sets, _: ratio(sets.both, np.minimum(sets.retrieved, sets.relevant)))
        ),
        TrecMeasure("set_recall", set_value(lambda sets, _: ratio(sets.both, sets.relevant))),
        TrecMeasure("set_map", set_value(lambda sets, _: ratio(sets.both**2, sets.retrieved * sets.relevant))),
        TrecMeasure("set_F", set_value(set_f), exactly(1), (1.0,)),
        TrecMeasure("num_nonrel_judged_ret", judged_irrelevant),
        TrecMeasure("yaap", graded_value(GradedRankings.smoothed_average_precision)),
        TrecMeasure("rbp", graded_value(GradedRankings.rank_biased_precision), read_persistence, (0.9,)),
        TrecMeasure("rbp_resid", graded_value(GradedRankings.rank_biased_residual), read_persistence, (0.9,)),
        TrecMeasure("unj", graded_values(GradedRankings.unjudged_share, "d"), read_cutoffs, (5, 10, 20)),
    )
}

OFFICIAL = (
    "runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank",
    "iprec_at_recall", "P",
)  # fmt: skip
# Measures that trec_eval 9 lacks or leaves out of all_trec.
NOT_IN_ALL = ("dcg", "ideal_dcg", "yaap", "rbp", "rbp_resid", "unj")
MEASURE_SETS = {
    "official": OFFICIAL,
    "all_trec": tuple(name for name in TREC_MEASURES if name not in NOT_IN_ALL),
    "set": (*OFFICIAL[:5], "utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F"),
}
# Measures, and sets of measures, of trec_eval that need another format of judgments.
PREFERENCES = (
    "prefs", "all_prefs", "prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret", "prefs_simp",
    "prefs_pair", "prefs_avgjg", "prefs_avgjg_Rnonrel", "prefs_simp_ret", "prefs_pair_ret", "prefs_avgjg_ret",
    "prefs_avgjg_Rnonrel_ret", "prefs_simp_imp", "prefs_pair_imp", "prefs_avgjg_imp",
)  # fmt: skip
JUDGMENT_GROUPS = ("qrels_jg", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg")
OTHER_FORMATS = {
    **dict.fromkeys(PREFERENCES, "preferences (-R prefs, -R qrels_prefs)"),
    **dict.fromkeys(JUDGMENT_GROUPS, "groups of judgments (-R qrels_jg)"),
}


def kernel_measures(trec_values: Sequence[TrecValue]) -> list[Measure]:
    """The distinct measures of the kernel that the values need."""
    distinct = dict.fromkeys(measure for value in trec_values for measure in value.needs)
    return [measure for measure in distinct if measure != JUDGED_RETRIEVED]
