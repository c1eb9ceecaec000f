"""trec_eval's measures: their names, parameters and order of output, and what each is here.

The facts are those of trec_eval 9 (NIST; C. Buckley, 2008): which values are shown per query, which in the summary
only, and whether the summary is a mean, a sum or a geometric mean.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastmetrics.metrics.ranking.measures import Measure

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
RECALLS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
# Kinds of parameters, and what their families want.
NONE, EACH_CUTOFF, EACH_RECALL, RECALL_LIST, NUMBER, GAINS_OF_SETS = range(6)
# Kinds of summaries.
MEAN, SUM, GEOMETRIC, QUERIES, TAG = range(5)

# Not a measure of the kernel's but one of its counts: retrieved items that were judged.
JUDGED_RETRIEVED = Measure(-1)

Columns = dict[Measure, np.ndarray]
Make = Callable[[Columns], np.ndarray]


class Column(NamedTuple):
    """A value that trec_eval shows, and how it is made of the kernel's measures."""

    name: str
    summary: int
    needs: tuple[Measure, ...] = ()
    make: Make | None = None

    @property
    def is_count(self) -> bool:
        return self.summary in (SUM, QUERIES)

    @property
    def is_per_query(self) -> bool:
        return self.summary in (MEAN, SUM)

    def values(self, columns: Columns) -> np.ndarray:
        """The value of every query; 0 where a query has nothing relevant."""
        if self.make is not None:
            return self.make(columns)
        return columns[self.needs[0]]


class Family(NamedTuple):
    """A measure as trec_eval lists it: its name, its kind of parameters with their defaults, its columns."""

    name: str
    parameters: int
    defaults: tuple[float, ...]
    columns: Callable[[str, tuple[float, ...], float, str], list[Column]]


def of_kernel(measure: str, summary: int = MEAN, **options: Any) -> Callable[..., list[Column]]:
    """One column: a measure of the kernel, without a cutoff."""

    def columns(name: str, values: tuple[float, ...], level: float, given: str) -> list[Column]:
        return [Column(name, summary, (Measure.of(measure, relevance_level=level, **options),))]

    return columns


def at_cutoffs(measure: str, **options: Any) -> Callable[..., list[Column]]:
    """A column for every cutoff."""

    def columns(name: str, values: tuple[float, ...], level: float, given: str) -> list[Column]:
        measures = [Measure.of(measure, int(k), relevance_level=level, **options) for k in values]
        return [Column(f"{name}_{own.k}", MEAN, (own,)) for own in measures]

    return columns


def of_run(summary: int) -> Callable[..., list[Column]]:
    """What is said of the run as a whole."""

    def columns(name: str, values: tuple[float, ...], level: float, given: str) -> list[Column]:
        return [Column(name, summary)]

    return columns


def interpolated(recall: float, level: float) -> Measure:
    return Measure.of("iprec", relevance_level=level, number=recall)


def at_recalls(name: str, values: tuple[float, ...], level: float, given: str) -> list[Column]:
    return [Column(f"{name}_{recall:.2f}", MEAN, (interpolated(recall, level),)) for recall in values]


def mean_of_recalls(name: str, values: tuple[float, ...], level: float, given: str) -> list[Column]:
    needs = tuple(interpolated(recall, level) for recall in values)

    def make(columns: Columns) -> np.ndarray:
        total = np.zeros(columns[needs[0]].shape)
        for need in reversed(needs):
            total += columns[need]
        total /= len(needs)
        return total

    return [Column(f"{name}_{given}" if given else name, MEAN, needs, make)]


class Sets(NamedTuple):
    """Sizes of the sets of one query each."""

    retrieved: np.ndarray
    relevant: np.ndarray
    both: np.ndarray


def of_sets(formula: Callable[[Sets, tuple[float, ...]], np.ndarray]) -> Callable[..., list[Column]]:
    """A column made of the numbers of retrieved and relevant items."""

    def columns(name: str, values: tuple[float, ...], level: float, given: str) -> list[Column]:
        kinds = ("n_retrieved", "n_relevant", "n_relevant_retrieved")
        needs = tuple(Measure.of(kind, relevance_level=level) for kind in kinds)

        def make(columns: Columns) -> np.ndarray:
            return formula(Sets(*(columns[need] for need in needs)), values)

        return [Column(f"{name}_{given}" if given else name, MEAN, needs, make)]

    return columns


def ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole, 0 where the whole is 0."""
    out = np.zeros(part.shape)
    np.divide(part, whole, out=out, where=whole != 0)
    return out


def set_f(sets: Sets, values: tuple[float, ...]) -> np.ndarray:
    precision, recall = ratio(sets.both, sets.retrieved), ratio(sets.both, sets.relevant)
    return ratio((values[0] + 1.0) * precision * recall, values[0] * precision + recall)


def utility(sets: Sets, values: tuple[float, ...]) -> np.ndarray:
    of_hits, of_others, of_missed = values[:3]
    others, missed = sets.retrieved - sets.both, sets.relevant - sets.both
    total: np.ndarray = of_hits * sets.both + of_others * others + of_missed * missed
    return total


def relative_precision(name: str, values: tuple[float, ...], level: float, given: str) -> list[Column]:
    relevant = Measure.of("n_relevant", relevance_level=level)

    def column(k: int) -> Column:
        hits = Measure.of("hits", k, relevance_level=level)

        def make(columns: Columns) -> np.ndarray:
            return ratio(columns[hits], np.minimum(columns[relevant], k))

        return Column(f"{name}_{k}", MEAN, (hits, relevant), make)

    return [column(int(k)) for k in values]


def judged_irrelevant(name: str, values: tuple[float, ...], level: float, given: str) -> list[Column]:
    both = Measure.of("n_relevant_retrieved", relevance_level=level)
    return [Column(name, SUM, (both, JUDGED_RETRIEVED), lambda columns: columns[JUDGED_RETRIEVED] - columns[both])]


# In trec_eval's order, which is that of its output.
FAMILIES = {
    family.name: family
    for family in (
        Family("runid", NONE, (), of_run(TAG)),
        Family("num_q", NONE, (), of_run(QUERIES)),
        Family("num_ret", NONE, (), of_kernel("n_retrieved", SUM)),
        Family("num_rel", NONE, (), of_kernel("n_relevant", SUM)),
        Family("num_rel_ret", NONE, (), of_kernel("n_relevant_retrieved", SUM)),
        Family("map", NONE, (), of_kernel("map", normalize="relevant")),
        Family("gm_map", NONE, (), of_kernel("map", GEOMETRIC, normalize="relevant")),
        Family("Rprec", NONE, (), of_kernel("rprec")),
        Family("bpref", NONE, (), of_kernel("bpref")),
        Family("recip_rank", NONE, (), of_kernel("mrr")),
        Family("iprec_at_recall", EACH_RECALL, RECALLS, at_recalls),
        Family("P", EACH_CUTOFF, CUTOFFS, at_cutoffs("p")),
        Family("recall", EACH_CUTOFF, CUTOFFS, at_cutoffs("recall")),
        Family("gm_bpref", NONE, (), of_kernel("bpref", GEOMETRIC)),
        Family("utility", GAINS_OF_SETS, (1.0, -1.0, 0.0, 0.0), of_sets(utility)),
        Family("11pt_avg", RECALL_LIST, RECALLS, mean_of_recalls),
        Family("ndcg", NONE, (), of_kernel("ndcg")),
        Family("ndcg_cut", EACH_CUTOFF, CUTOFFS, at_cutoffs("ndcg")),
        Family("map_cut", EACH_CUTOFF, CUTOFFS, at_cutoffs("map", normalize="relevant")),
        Family("relative_P", EACH_CUTOFF, CUTOFFS, relative_precision),
        Family("success", EACH_CUTOFF, (1, 5, 10), at_cutoffs("hr")),
        Family("set_P", NONE, (), of_sets(lambda sets, _: ratio(sets.both, sets.retrieved))),
        Family(
            "set_relative_P", NONE, (),
            of_sets(lambda sets, _: ratio(sets.both, np.minimum(sets.retrieved, sets.relevant))),
        ),
        Family("set_recall", NONE, (), of_sets(lambda sets, _: ratio(sets.both, sets.relevant))),
        Family("set_map", NONE, (), of_sets(lambda sets, _: ratio(sets.both**2, sets.retrieved * sets.relevant))),
        Family("set_F", NUMBER, (1.0,), of_sets(set_f)),
        Family("num_nonrel_judged_ret", NONE, (), judged_irrelevant),
    )
}  # fmt: skip

OFFICIAL = (
    "runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank",
    "iprec_at_recall", "P",
)  # fmt: skip
NICKNAMES = {
    "official": OFFICIAL,
    "all_trec": tuple(FAMILIES),
    "set": (*OFFICIAL[:5], "utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F"),
}
# trec_eval's own that are not here.
ABSENT = (
    "relstring", "infAP", "Rprec_mult", "binG", "G", "ndcg_rel", "Rndcg", "yaap", "rbp", "rbp_resid", "prefs",
    "all_prefs", "qrels_jg",
)  # fmt: skip


def trec_measure_names(measures: str | Iterable[str] | None = None) -> tuple[str, ...]:
    """Names of the values that trec_eval's measures have, in the order in which it shows them.

    A measure is named as for trec_eval's option -m: ``map``, ``P.5,10`` with parameters, or a set of measures:
    ``official`` (the default), ``set``, and ``all_trec``, all of trec_eval's that fastmetrics has. A value's name, as
    ``P_5``, is understood too. Names and order are those of trec_eval 9 (NIST).

    Parameters
    ----------
    measures : str, iterable of str, or None
        One measure or several; None: ``official``.

    Returns
    -------
    names : tuple of str
        The values' names, as ``P_5``.

    Raises
    ------
    ValueError
        An unknown measure, answered with the nearest ones, or a parameter that is none.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.trec_measure_names(["P.10,5", "ndcg_cut.10", "map"])
    ('map', 'P_5', 'P_10', 'ndcg_cut_10')
    """
    return tuple(column.name for column in parse_measures(measures, 1))


def parse_measures(measures: str | Iterable[str] | None, level: float) -> list[Column]:
    """The columns of the measures, in trec_eval's order; parameters that are given replace a family's defaults."""
    names = ["official"] if measures is None else [measures] if isinstance(measures, str) else list(measures)
    if not names:
        raise ValueError("measures is empty: name at least one, or None for the official ones")
    wanted: dict[str, list[str]] = {}
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"a measure must be a string; found {name!r}")
        head, given = split_name(name.strip())
        for member in NICKNAMES.get(head, (head,)):
            wanted.setdefault(member, [])
        if given:
            wanted[head].append(given)
    columns = []
    for name, family in FAMILIES.items():
        if name in wanted:
            given = ",".join(wanted[name])
            values = read_parameters(family, given) if given else family.defaults
            columns += family.columns(name, values, level, given)
    return columns


def split_name(name: str) -> tuple[str, str]:
    """The family (or set of families) that a name means, and its parameters."""
    head, point, given = name.partition(".")
    if head in NICKNAMES and not point:
        return head, ""
    if head in FAMILIES:
        if point and FAMILIES[head].parameters == NONE:
            raise ValueError(f"the measure {head!r} takes no parameters here; found {name!r}")
        if point and not given:
            raise ValueError(f"{name!r} has no parameters behind the point")
        return head, given
    value = re.fullmatch(r"(\w+?)_([\d.]+)", name)  # the name of a value, as trec_eval shows it
    if value and value[1] in FAMILIES and FAMILIES[value[1]].parameters in (EACH_CUTOFF, EACH_RECALL):
        return value[1], value[2]
    if head in ABSENT:
        raise ValueError(f"trec_eval's measure {head!r} is not one that fastmetrics has; it has {', '.join(FAMILIES)}")
    known = [*FAMILIES, *NICKNAMES]
    by_letters = {each.lower(): each for each in known}
    near = [by_letters[each] for each in difflib.get_close_matches(head.lower(), by_letters, n=3, cutoff=0.5)]
    nearest = f"; nearest: {', '.join(near)}" if near else ""
    raise ValueError(f"unknown measure {name!r}{nearest}. trec_eval's measures here: {', '.join(known)}")


def read_parameters(family: Family, given: str) -> tuple[float, ...]:
    """Parameters as trec_eval reads them: cutoffs and recalls in ascending order, each once."""
    texts = given.split(",")
    if family.parameters == EACH_CUTOFF:
        cutoffs = {int(text) if re.fullmatch(r"\d{1,15}", text) else 0 for text in texts}
        if min(cutoffs) < 1:
            raise ValueError(f"cutoffs of {family.name!r} must be whole numbers of at least 1; found {given!r}")
        return tuple(sorted(cutoffs))
    values = [float(text) if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", text) else None for text in texts]
    numbers = tuple(value for value in values if value is not None)
    if len(numbers) < len(values):
        raise ValueError(f"parameters of {family.name!r} must be numbers, apart by commas; found {given!r}")
    if family.parameters in (EACH_RECALL, RECALL_LIST):
        if not all(0 <= number <= 1 for number in numbers):
            raise ValueError(f"recalls of {family.name!r} must lie between 0 and 1; found {given!r}")
        return tuple(sorted(set(numbers))) if family.parameters == EACH_RECALL else numbers
    if len(numbers) != len(family.defaults):
        wanted = len(family.defaults)
        raise ValueError(f"{family.name!r} takes {wanted} number{'s' * (wanted > 1)}; found {given!r}")
    if family.parameters == GAINS_OF_SETS and numbers[3] != 0:
        raise ValueError(
            f"the fourth parameter of {family.name!r} counts items of the whole collection, whose size is not known "
            f"here: it must be 0; found {given!r}"
        )
    return numbers


def needed(columns: Sequence[Column]) -> list[Measure]:
    """The kernel's measures of all columns, each once."""
    every = dict.fromkeys(measure for column in columns for measure in column.needs)
    return [measure for measure in every if measure != JUDGED_RETRIEVED]
