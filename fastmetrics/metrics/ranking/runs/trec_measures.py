"""trec_eval's measures: their names, parameters and order of output, and how each is computed here.

All follow trec_eval 9 (NIST; C. Buckley, 2008): which values are shown for each query, which only in the summary, and
whether the summary is a mean, a sum or a geometric mean.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastmetrics.metrics.ranking.lists.list_measures import Measure

__all__ = ["trec_measure_names"]

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
RECALLS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
# Kinds of parameters that a measure has.
NONE, EACH_CUTOFF, EACH_RECALL, RECALL_LIST, NUMBER, GAINS_OF_SETS = range(6)
# Kinds of summaries.
MEAN, SUM, GEOMETRIC, QUERIES, TAG = range(5)

# A count that the kernel returns beside its measures: retrieved items that were judged.
JUDGED_RETRIEVED = Measure(-1)

MeasureValues = dict[Measure, np.ndarray]
ComputeValues = Callable[..., np.ndarray]  # of the values of the needed measures, each by query


class TrecValue(NamedTuple):
    """A value that trec_eval shows, and how it is computed from the kernel's measures."""

    name: str
    summary: int
    needs: tuple[Measure, ...] = ()
    compute: ComputeValues | None = None

    @property
    def is_count(self) -> bool:
        return self.summary in (SUM, QUERIES)

    @property
    def is_per_query(self) -> bool:
        return self.summary in (MEAN, SUM)

    def values(self, measured: MeasureValues) -> np.ndarray:
        """The value of every query; 0 if a query has no relevant item."""
        needed = [measured[need] for need in self.needs]
        return needed[0] if self.compute is None else self.compute(*needed)


class TrecMeasure(NamedTuple):
    """A measure of trec_eval: its name, its kind of parameters, their defaults, and a function that makes its values.

    The function takes the name, the parameters, the relevance level, and the text of the parameters ("" for defaults).
    """

    name: str
    parameters: int
    defaults: tuple[float, ...]
    make_values: Callable[[str, tuple[float, ...], float, str], list[TrecValue]]


def kernel_value(measure: str, summary: int = MEAN, **options: Any) -> Callable[..., list[TrecValue]]:
    """One value: a measure of the kernel without a cutoff."""
    return lambda name, parameters, level, text: [
        TrecValue(name, summary, (Measure.of(measure, relevance_level=level, **options),))
    ]


def values_at_cutoffs(measure: str, **options: Any) -> Callable[..., list[TrecValue]]:
    """A value for every cutoff."""
    return lambda name, parameters, level, text: [
        TrecValue(f"{name}_{k:.0f}", MEAN, (Measure.of(measure, int(k), relevance_level=level, **options),))
        for k in parameters
    ]


def interpolated_precision(recall: float, level: float) -> Measure:
    return Measure.of("iprec", relevance_level=level, number=recall)


def values_at_recalls(name: str, parameters: tuple[float, ...], level: float, text: str) -> list[TrecValue]:
    return [TrecValue(f"{name}_{recall:.2f}", MEAN, (interpolated_precision(recall, level),)) for recall in parameters]


def mean_over_recalls(name: str, parameters: tuple[float, ...], level: float, text: str) -> list[TrecValue]:
    needs = tuple(interpolated_precision(recall, level) for recall in parameters)
    # Values are added from the last recall on, as in trec_eval.
    return [
        TrecValue(f"{name}_{text}" if text else name, MEAN, needs, lambda *values: sum(reversed(values)) / len(values))
    ]


class SetSizes(NamedTuple):
    """The sizes of the sets of items, for every query."""

    retrieved: np.ndarray
    relevant: np.ndarray
    both: np.ndarray


def set_value(formula: Callable[[SetSizes, tuple[float, ...]], np.ndarray]) -> Callable[..., list[TrecValue]]:
    """A value computed from the numbers of retrieved and relevant items."""

    def make_values(name: str, parameters: tuple[float, ...], level: float, text: str) -> list[TrecValue]:
        kinds = ("n_retrieved", "n_relevant", "n_relevant_retrieved")
        needs = tuple(Measure.of(kind, relevance_level=level) for kind in kinds)
        value_name = f"{name}_{text}" if text else name
        return [TrecValue(value_name, MEAN, needs, lambda *sizes: formula(SetSizes(*sizes), parameters))]

    return make_values


def ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """numerator / denominator, and 0 if the denominator is 0."""
    out = np.zeros(numerator.shape)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def set_f(sets: SetSizes, parameters: tuple[float, ...]) -> np.ndarray:
    precision, recall = ratio(sets.both, sets.retrieved), ratio(sets.both, sets.relevant)
    return ratio((parameters[0] + 1.0) * precision * recall, parameters[0] * precision + recall)


def utility(sets: SetSizes, parameters: tuple[float, ...]) -> np.ndarray:
    hit_gain, other_gain, missed_gain = parameters[:3]
    others, missed = sets.retrieved - sets.both, sets.relevant - sets.both
    total: np.ndarray = hit_gain * sets.both + other_gain * others + missed_gain * missed
    return total


def relative_precision(name: str, parameters: tuple[float, ...], level: float, text: str) -> list[TrecValue]:
    relevant = Measure.of("n_relevant", relevance_level=level)

    def value_at(k: int) -> TrecValue:
        needs = Measure.of("hits", k, relevance_level=level), relevant
        return TrecValue(
            f"{name}_{k}", MEAN, needs, lambda n_hits, n_relevant: ratio(n_hits, np.minimum(n_relevant, k))
        )

    return [value_at(int(k)) for k in parameters]


def judged_irrelevant(name: str, parameters: tuple[float, ...], level: float, text: str) -> list[TrecValue]:
    needs = JUDGED_RETRIEVED, Measure.of("n_relevant_retrieved", relevance_level=level)
    return [TrecValue(name, SUM, needs, lambda judged, relevant: judged - relevant)]


# In trec_eval's order of output.
TREC_MEASURES = {
    measure.name: measure
    for measure in (
        TrecMeasure("runid", NONE, (), lambda name, *_: [TrecValue(name, TAG)]),
        TrecMeasure("num_q", NONE, (), lambda name, *_: [TrecValue(name, QUERIES)]),
        TrecMeasure("num_ret", NONE, (), kernel_value("n_retrieved", SUM)),
        TrecMeasure("num_rel", NONE, (), kernel_value("n_relevant", SUM)),
        TrecMeasure("num_rel_ret", NONE, (), kernel_value("n_relevant_retrieved", SUM)),
        TrecMeasure("map", NONE, (), kernel_value("map", normalize="relevant")),
        TrecMeasure("gm_map", NONE, (), kernel_value("map", GEOMETRIC, normalize="relevant")),
        TrecMeasure("Rprec", NONE, (), kernel_value("rprec")),
        TrecMeasure("bpref", NONE, (), kernel_value("bpref")),
        TrecMeasure("recip_rank", NONE, (), kernel_value("mrr")),
        TrecMeasure("iprec_at_recall", EACH_RECALL, RECALLS, values_at_recalls),
        TrecMeasure("P", EACH_CUTOFF, CUTOFFS, values_at_cutoffs("p")),
        TrecMeasure("recall", EACH_CUTOFF, CUTOFFS, values_at_cutoffs("recall")),
        TrecMeasure("gm_bpref", NONE, (), kernel_value("bpref", GEOMETRIC)),
        TrecMeasure("utility", GAINS_OF_SETS, (1.0, -1.0, 0.0, 0.0), set_value(utility)),
        TrecMeasure("11pt_avg", RECALL_LIST, RECALLS, mean_over_recalls),
        TrecMeasure("ndcg", NONE, (), kernel_value("ndcg")),
        TrecMeasure("ndcg_cut", EACH_CUTOFF, CUTOFFS, values_at_cutoffs("ndcg")),
        TrecMeasure("map_cut", EACH_CUTOFF, CUTOFFS, values_at_cutoffs("map", normalize="relevant")),
        TrecMeasure("relative_P", EACH_CUTOFF, CUTOFFS, relative_precision),
        TrecMeasure("success", EACH_CUTOFF, (1, 5, 10), values_at_cutoffs("hr")),
        TrecMeasure("set_P", NONE, (), set_value(lambda sets, _: ratio(sets.both, sets.retrieved))),
        TrecMeasure(
            "set_relative_P", NONE, (),
            set_value(lambda sets, _: ratio(sets.both, np.minimum(sets.retrieved, sets.relevant))),
        ),
        TrecMeasure("set_recall", NONE, (), set_value(lambda sets, _: ratio(sets.both, sets.relevant))),
        TrecMeasure(
            "set_map", NONE, (), set_value(lambda sets, _: ratio(sets.both**2, sets.retrieved * sets.relevant)),
        ),
        TrecMeasure("set_F", NUMBER, (1.0,), set_value(set_f)),
        TrecMeasure("num_nonrel_judged_ret", NONE, (), judged_irrelevant),
    )
}  # fmt: skip

OFFICIAL = (
    "runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank",
    "iprec_at_recall", "P",
)  # fmt: skip
MEASURE_SETS = {
    "official": OFFICIAL,
    "all_trec": tuple(TREC_MEASURES),
    "set": (*OFFICIAL[:5], "utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F"),
}
# Measures of trec_eval that fastmetrics does not have.
UNSUPPORTED = (
    "relstring", "infAP", "Rprec_mult", "binG", "G", "ndcg_rel", "Rndcg", "yaap", "rbp", "rbp_resid", "prefs",
    "all_prefs", "qrels_jg",
)  # fmt: skip


def trec_measure_names(measures: str | Iterable[str] | None = None) -> tuple[str, ...]:
    """The names of the values of trec_eval's measures, in trec_eval's order of output.

    A measure is named as in trec_eval's option -m: ``map``, ``P.5,10`` with parameters, or a set of measures:
    ``official`` (the default), ``set``, or ``all_trec`` (all that fastmetrics has). The name of a value, such as
    ``P_5``, is accepted too. Names and order are those of trec_eval 9 (NIST).

    Parameters
    ----------
    measures : str, iterable of str, or None
        One or several measures; None: ``official``.

    Returns
    -------
    names : tuple of str
        The names of the values, such as ``P_5``.

    Raises
    ------
    ValueError
        A measure is unknown (the message names the nearest ones), or a parameter is invalid.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.trec_measure_names(["P.10,5", "ndcg_cut.10", "map"])
    ('map', 'P_5', 'P_10', 'ndcg_cut_10')
    """
    return tuple(value.name for value in parse_measures(measures, 1))


def parse_measures(measures: str | Iterable[str] | None, level: float) -> list[TrecValue]:
    """The values of the measures in trec_eval's order. Parameters in a name replace the defaults."""
    names = ["official"] if measures is None else [measures] if isinstance(measures, str) else list(measures)
    if not names:
        raise ValueError("measures is empty: name at least one, or None for the official ones")
    parameters_of: dict[str, list[str]] = {}
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"a measure must be a string; found {name!r}")
        head, text = split_name(name.strip())
        for member in MEASURE_SETS.get(head, (head,)):
            parameters_of.setdefault(member, [])
        if text:
            parameters_of[head].append(text)
    trec_values = []
    for name, measure in TREC_MEASURES.items():
        if name in parameters_of:
            text = ",".join(parameters_of[name])
            parameters = read_parameters(measure, text) if text else measure.defaults
            trec_values += measure.make_values(name, parameters, level, text)
    return trec_values


def split_name(name: str) -> tuple[str, str]:
    """The measure (or set of measures) that a name means, and the text of its parameters."""
    head, point, text = name.partition(".")
    if head in MEASURE_SETS and not point:
        return head, ""
    if head in TREC_MEASURES:
        if point and TREC_MEASURES[head].parameters == NONE:
            raise ValueError(f"the measure {head!r} takes no parameters here; found {name!r}")
        if point and not text:
            raise ValueError(f"{name!r} has no parameters behind the point")
        return head, text
    value = re.fullmatch(r"(\w+?)_([\d.]+)", name)  # the name of a value in trec_eval's output
    if value and value[1] in TREC_MEASURES and TREC_MEASURES[value[1]].parameters in (EACH_CUTOFF, EACH_RECALL):
        return value[1], value[2]
    if head in UNSUPPORTED:
        known = ", ".join(TREC_MEASURES)
        raise ValueError(f"trec_eval's measure {head!r} is not one that fastmetrics has; it has {known}")
    names = [*TREC_MEASURES, *MEASURE_SETS]
    by_lower_case = {known.lower(): known for known in names}
    close = [by_lower_case[known] for known in difflib.get_close_matches(head.lower(), by_lower_case, n=3, cutoff=0.5)]
    nearest = f"; nearest: {', '.join(close)}" if close else ""
    raise ValueError(f"unknown measure {name!r}{nearest}. trec_eval's measures here: {', '.join(names)}")


def read_parameters(measure: TrecMeasure, text: str) -> tuple[float, ...]:
    """The parameters of a measure as trec_eval reads them: cutoffs and recalls are sorted, without duplicates."""
    texts = text.split(",")
    if measure.parameters == EACH_CUTOFF:
        cutoffs = {int(number) if re.fullmatch(r"\d{1,15}", number) else 0 for number in texts}
        if min(cutoffs) < 1:
            raise ValueError(f"cutoffs of {measure.name!r} must be whole numbers of at least 1; found {text!r}")
        return tuple(sorted(cutoffs))
    numbers = tuple(float(number) for number in texts if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", number))
    if len(numbers) < len(texts):
        raise ValueError(f"parameters of {measure.name!r} must be numbers, separated by commas; found {text!r}")
    if measure.parameters in (EACH_RECALL, RECALL_LIST):
        if not all(0 <= number <= 1 for number in numbers):
            raise ValueError(f"recalls of {measure.name!r} must lie between 0 and 1; found {text!r}")
        return tuple(sorted(set(numbers))) if measure.parameters == EACH_RECALL else numbers
    if len(numbers) != len(measure.defaults):
        wanted = len(measure.defaults)
        raise ValueError(f"{measure.name!r} takes {wanted} number{'s' * (wanted > 1)}; found {text!r}")
    if measure.parameters == GAINS_OF_SETS and numbers[3] != 0:
        raise ValueError(
            f"the fourth parameter of {measure.name!r} needs the size of the collection, which is not known here: it "
            f"must be 0; found {text!r}"
        )
    return numbers


def kernel_measures(trec_values: Sequence[TrecValue]) -> list[Measure]:
    """The distinct measures of the kernel that the values need."""
    distinct = dict.fromkeys(measure for value in trec_values for measure in value.needs)
    return [measure for measure in distinct if measure != JUDGED_RETRIEVED]
