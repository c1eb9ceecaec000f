"""Slow definitions of trec_eval's measures, for every topic of a run and averaged over topics.

C. Buckley and E. M. Voorhees (2005), Retrieval system evaluation, in TREC: Experiment and evaluation in information
retrieval, MIT Press, chapter 3; the definitions are those of the C sources of trec_eval 9.0.8 and 10.0.

Behavior of the sources that the documentation does not always mention:

- Rows are sorted by score, descending, then by docno as strcmp compares, descending. Version 9 keeps a score as a
  32-bit float (so do the Python bindings, which take a double), version 10 as a double: `single`.
- An item of a run without a judgment is "not in the pool"; an item with a negative judgment is "unjudged". Neither is
  relevant, and neither is a non-relevant item of bpref. A negative judgment does not count anywhere.
- The relevance level (-l) decides which items are relevant. NDCG ignores it: its gain is the grade.
- -M cuts the sorted run first; num_ret is the number of rows that remain, num_rel does not change. -J then drops rows
  without a judgment of zero or more; the other rows keep their order.
- A topic with judgments but without a relevant item counts, with 0 for everything. A topic without judgments is
  ignored. A judged topic that is not in the run is ignored, too, unless -c is given. Version 9 then only divides by the
  larger number of topics (in gm_map with the minimum). Version 10 evaluates the topic on one row without a judgment and
  sets num_ret, relstring, unj, rbp_resid and utility (its name without parameters) to nothing; here it is an empty list
  with a utility of 0, and num_q is that of version 10. Versions differ in utility with parameters only.
- With -c the summary of num_rel counts the judgments above 0 of all topics, whatever -l is, in both versions. The
  num_rel of a topic depends on -l.
- gm_map: exp of the mean of log(max(AP, 0.00001)).
- iprec_at_recall: the greatest precision at or below the row of the c-th relevant item. Version 9 takes
  c = floor(recall * R + 0.9), version 10 rounds recall * R to the nearest (halves away from zero): `rounding`.
  If c = 0 it is the greatest precision of all ranks. If nothing was retrieved this is 0 / 0, NaN in C and 0 here.
- P_k and similar measures divide by k also for shorter lists.
- The ideal list of NDCG has every judged item; without a cutoff it may be longer than the retrieved list.
- ndcg_cut does not terminate for a first topic whose judgments are all negative; here it is 0.
"""

import ctypes
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from oracles.ranking import ranking_lists, trec_further

GM_FLOOR = 0.00001
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
RECALLS = tuple(tenth / 10 for tenth in range(11))
COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret")
NOT_IN_POOL, UNJUDGED = trec_further.NOT_IN_POOL, trec_further.UNJUDGED

Run = Mapping[str, Mapping[str, float]]
Qrels = Mapping[str, Mapping[str, int]]


class Options(NamedTuple):
    level: int = 1  # -l
    judged_only: bool = False  # -J
    max_retrieved: int | None = None  # -M
    single: bool = False  # scores compared as 32-bit floats: version 9
    rounding: str = "nearest"  # of iprec's rank: "nearest", or "0.9" as in version 9


VERSION_10 = Options()
VERSION_9 = Options(single=True, rounding="0.9")


class Topic(NamedTuple):
    """One topic: the grades of retrieved rows in order, and of the judged items that were not retrieved."""

    ranked: list[float]
    unretrieved: list[float]

    def n_relevant(self, level: int) -> int:
        return ranking_lists.n_relevant(self.ranked, self.unretrieved, level)


def single(score: float) -> float:
    """The nearest 32-bit float."""
    return ctypes.c_float(score).value


def topic_of(scores: Mapping[str, float], judgments: Mapping[str, int], options: Options = VERSION_10) -> Topic:
    """A topic's rows in trec_eval's order."""
    keys = {item: single(score) if options.single else float(score) for item, score in scores.items()}
    order = sorted(keys, key=lambda item: (keys[item], item.encode()), reverse=True)[: options.max_retrieved]
    if options.judged_only:
        order = [item for item in order if judgments.get(item, NOT_IN_POOL) >= 0]
    ranked = [grade_of(item, judgments) for item in order]
    kept = set(order)
    unretrieved = [float(grade) for item, grade in judgments.items() if item not in kept and grade >= 0]
    return Topic(ranked, unretrieved)


def grade_of(item: str, judgments: Mapping[str, int]) -> float:
    if item not in judgments:
        return NOT_IN_POOL
    return UNJUDGED if judgments[item] < 0 else judgments[item]


def interpolated_precision(topic: Topic, recall: float, options: Options) -> Fraction:
    wanted = recall * topic.n_relevant(options.level)
    whole = math.floor(wanted)
    cut = math.floor(wanted + 0.9) if options.rounding == "0.9" else whole + int(wanted - whole >= 0.5)
    hits, precisions = 0, []
    reached = None
    for rank, grade in enumerate(topic.ranked, start=1):
        hits += ranking_lists.hits_in([grade], options.level)
        precisions.append(Fraction(hits, rank))
        if hits == cut and reached is None:
            reached = rank
    if cut == 0:
        reached = 1
    if reached is None or cut > hits:
        return Fraction(0)
    return max(precisions[reached - 1 :], default=Fraction(0))


def number(name: str) -> tuple[str, float | None]:
    """Stem and number of a name: ("P", 10) for "P_10", ("iprec_at_recall", 0.2) for "iprec_at_recall_0.20"."""
    stem, _, tail = name.rpartition("_")
    return (stem, float(tail)) if stem and tail.replace(".", "").isdigit() else (name, None)


def measure_topic(topic: Topic, name: str, options: Options = VERSION_10) -> Fraction | float | str:
    """One measure, by the name that trec_eval prints. gm_map is a logarithm for one topic, as in the C sources."""
    if name in WITHOUT_PARAMETERS:
        return WITHOUT_PARAMETERS[name](topic, options.level)
    stem, cutoff = number(name)
    ranked, unretrieved, level = topic.ranked, topic.unretrieved, options.level
    k = None if cutoff is None else int(cutoff)
    if stem == "num_q":
        return Fraction(1)
    if stem == "num_ret":
        return Fraction(len(ranked))
    if stem == "num_rel":
        return Fraction(topic.n_relevant(level))
    if stem == "num_rel_ret":
        return Fraction(ranking_lists.hits_in(ranked, level))
    if stem == "iprec_at_recall":
        assert cutoff is not None
        return interpolated_precision(topic, cutoff, options)
    if stem == "Rprec_mult":
        assert cutoff is not None
        return trec_further.precision_at_multiple(ranked, unretrieved, level, cutoff)
    if stem in ("ndcg", "ndcg_cut"):
        return ranking_lists.ndcg(ranked, unretrieved, k=k) or 0.0
    if stem in ("map", "map_cut", "gm_map"):
        value = ranking_lists.average_precision(ranked, unretrieved, k=k, normalize="relevant", level=level) or 0
        return math.log(max(float(value), GM_FLOOR)) if stem == "gm_map" else Fraction(value)
    if stem == "Rprec":
        return ranking_lists.r_precision(ranked, unretrieved, level=level) or Fraction(0)
    if stem == "bpref":
        return ranking_lists.bpref(ranked, unretrieved, level=level) or Fraction(0)
    if stem == "recip_rank":
        return ranking_lists.reciprocal_rank(ranked, unretrieved, level=level) or Fraction(0)
    if stem == "unj":
        assert k is not None
        return trec_further.unjudged_share(ranked, k)
    assert k is not None, f"not a measure of trec_eval: {name}"
    function = {"P": ranking_lists.precision, "recall": ranking_lists.recall, "success": ranking_lists.hit}[stem]
    return function(ranked, unretrieved, k=k, level=level) or Fraction(0)


# Measures of trec_further with their default parameters.
WITHOUT_PARAMETERS: dict[str, Callable[[Topic, int], Fraction | float | str]] = {
    "relstring": lambda topic, level: trec_further.relstring(topic.ranked),
    "infAP": lambda topic, level: trec_further.inferred_average_precision(*topic, level),
    "utility": lambda topic, level: trec_further.utility(*topic, level),
    "binG": lambda topic, level: trec_further.binary_g(*topic, level),
    "G": lambda topic, level: trec_further.normalized_g(*topic, {}),
    "dcg": lambda topic, level: trec_further.dcg(topic.ranked, {}),
    "ideal_dcg": lambda topic, level: trec_further.ideal_dcg(*topic, {}),
    "ndcg_rel": lambda topic, level: trec_further.ndcg_at_relevant(*topic, {}),
    "Rndcg": lambda topic, level: trec_further.ndcg_at_levels(*topic, level, {}),
    "yaap": lambda topic, level: trec_further.smoothed_average_precision(*topic, level),
    "rbp": lambda topic, level: trec_further.rank_biased_precision(*topic),
    "rbp_resid": lambda topic, level: trec_further.rank_biased_residual(topic.ranked),
}


def names(measures: Sequence[str]) -> list[str]:
    """The printed names of the measures: a measure with cutoffs has one for each of its default cutoffs."""
    cutoffs = dict.fromkeys(("P", "ndcg_cut", "map_cut", "recall"), CUTOFFS)
    cutoffs |= {"success": (1, 5, 10), "unj": (5, 10, 20)}
    found = []
    for name in measures:
        if name == "iprec_at_recall":
            found += [f"{name}_{recall:.2f}" for recall in RECALLS]
        elif name == "Rprec_mult":
            found += [f"{name}_{multiple:.2f}" for multiple in trec_further.MULTIPLES]
        else:
            found += [f"{name}_{k}" for k in cutoffs[name]] if name in cutoffs else [name]
    return found


# In trec_eval's order of output (after runid, which is a text).
OFFICIAL = (
    "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall",
    "P",
)  # fmt: skip
MORE = ("ndcg", "ndcg_cut", "map_cut", "recall", "success")
FURTHER = (
    "relstring", "infAP", "Rprec_mult", "utility", "binG", "G", "dcg", "ideal_dcg", "ndcg_rel", "Rndcg", "yaap", "rbp",
    "rbp_resid", "unj",
)  # fmt: skip


def by_topic(
    run: Run, qrels: Qrels, measures: Sequence[str], options: Options = VERSION_10, complete: bool = False
) -> dict[str, dict[str, Fraction | float | str]]:
    """Values of every topic that counts; with `complete` (-c) of every judged topic."""
    found = {}
    for topic_name in sorted(qrels):
        if topic_name in run or complete:
            topic = topic_of(run.get(topic_name, {}), qrels[topic_name], options)
            found[topic_name] = {name: measure_topic(topic, name, options) for name in names(measures)}
    return found


def add_in_order(values: Iterable[float]) -> float:
    """The sum with a rounding at each value, which decides the fourth decimal of a mean half way between two."""
    total = 0.0
    for value in values:
        total += value
    return total


def summary(
    run: Run, qrels: Qrels, measures: Sequence[str], options: Options = VERSION_10, complete: bool = False
) -> dict[str, Fraction | float]:
    """What trec_eval prints for "all": sums of counts, means of the others, the geometric mean of gm_map."""
    topics = by_topic(run, qrels, measures, options, complete)
    found: dict[str, Fraction | float] = {}
    for name in names(measures):
        if name == "relstring":
            continue
        if name == "num_rel" and complete:
            grades = [grade for judgments in qrels.values() for grade in judgments.values()]
            found[name] = Fraction(sum(grade > 0 for grade in grades))
        elif name in COUNTS:
            found[name] = sum((Fraction(values[name]) for values in topics.values()), Fraction(0))
        else:
            mean = add_in_order(float(values[name]) for values in topics.values()) / len(topics)
            found[name] = math.exp(mean) if name == "gm_map" else mean
    return found
