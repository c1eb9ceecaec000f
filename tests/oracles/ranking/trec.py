"""trec_eval's measures as trec_eval computes them, in plain Python: for topics in a run, and averaged.

C. Buckley and E. M. Voorhees (2005), Retrieval system evaluation, in TREC: Experiment and evaluation in information
retrieval, MIT Press, chapter 3; the definitions are those of the C sources of trec_eval 9.0.8 and 10.0.

What its sources do, and its documentation does not always say:

- Rows are sorted by score, descending, then by docno as strcmp compares, descending. Version 9 keeps a score as a
  32-bit float (so do the Python bindings, which take a double), version 10 as a double: `single`.
- An item of a run that has no judgment is "not in the pool", one with a judgment below zero is "unjudged": neither is
  relevant, neither is a non-relevant item of bpref, and a judgment below zero does not count anywhere.
- The relevance level (-l) decides who is relevant. NDCG does not know it: its gain is the grade, whatever the level.
- -M cuts the sorted run before anything else is done; num_ret is what remains, num_rel does not change. -J then drops
  rows without a judgment of zero or more; the others close ranks, in the order that they had.
- A topic with judgments and no relevant one counts, with 0 for everything. A topic without judgments is ignored, and
  so is a judged topic that is not in the run, unless -c: then it counts with 0 (in gm_map with the floor). num_rel of
  such a topic counts in version 10 (which evaluates it on one unjudged row), not in version 9 (which only divides by
  the larger number of topics, and leaves num_q as it was: `num_q` here is that of version 10).
- gm_map: exp of the mean of log(max(AP, 0.00001)).
- iprec_at_recall: the greatest precision at or below the row of the c-th relevant item. Version 9 takes
  c = floor(recall * R + 0.9), version 10 rounds recall * R to the nearest (halves away from zero): `rounding`.
  Where c = 0 it is the greatest precision of all; where nothing was retrieved that is 0 / 0, a NaN in all of C, here 0.
- P_k and its relatives divide by k, however short the list is.
- NDCG's ideal list holds every judged item; without a cutoff it goes on below the last retrieved row.
- ndcg_cut never ends for a first topic whose judgments are all below zero; here it is 0.
"""

import ctypes
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from . import ranking_lists

GM_FLOOR = 0.00001
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
RECALLS = tuple(tenth / 10 for tenth in range(11))
COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret")
NOT_IN_POOL = -1

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
    """One topic: grades of retrieved rows in their order, and of the judged items that were not retrieved."""

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
    ranked = [float(max(judgments.get(item, NOT_IN_POOL), NOT_IN_POOL)) for item in order]
    kept = set(order)
    unretrieved = [float(grade) for item, grade in judgments.items() if item not in kept and grade >= 0]
    return Topic(ranked, unretrieved)


def interpolated_precision(topic: Topic, recall: float, options: Options) -> Fraction:
    relevant = topic.n_relevant(options.level)
    wanted = recall * relevant
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
    """Stem and number: "P_10" is P at 10, "iprec_at_recall_0.20" iprec_at_recall at 0.2; "map" has no number."""
    stem, _, tail = name.rpartition("_")
    return (stem, float(tail)) if stem and tail.replace(".", "").isdigit() else (name, None)


def measure_topic(topic: Topic, name: str, options: Options = VERSION_10) -> Fraction | float:
    """One measure, by the name that trec_eval prints; gm_map is its logarithm, as the C sources hold it for a topic."""
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
    assert k is not None, f"not a measure of trec_eval: {name}"
    function = {"P": ranking_lists.precision, "recall": ranking_lists.recall, "success": ranking_lists.hit}[stem]
    return function(ranked, unretrieved, k=k, level=level) or Fraction(0)


def names(measures: Sequence[str]) -> list[str]:
    """The names as printed: a measure that takes cutoffs stands for all of its default ones."""
    cutoffs = {"success": (1, 5, 10)} | dict.fromkeys(("P", "ndcg_cut", "map_cut", "recall"), CUTOFFS)
    found = []
    for name in measures:
        if name == "iprec_at_recall":
            found += [f"{name}_{recall:.2f}" for recall in RECALLS]
        else:
            found += [f"{name}_{k}" for k in cutoffs[name]] if name in cutoffs else [name]
    return found


# In the order in which trec_eval prints them (after runid, which is a text).
OFFICIAL = (
    "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall",
    "P",
)  # fmt: skip
MORE = ("ndcg", "ndcg_cut", "map_cut", "recall", "success")


def by_topic(
    run: Run, qrels: Qrels, measures: Sequence[str], options: Options = VERSION_10, complete: bool = False
) -> dict[str, dict[str, Fraction | float]]:
    """Values of every topic that counts; with `complete` (-c) of every judged topic."""
    found = {}
    for topic_name in sorted(qrels):
        if topic_name in run or complete:
            topic = topic_of(run.get(topic_name, {}), qrels[topic_name], options)
            found[topic_name] = {name: measure_topic(topic, name, options) for name in names(measures)}
    return found


def summary(
    run: Run, qrels: Qrels, measures: Sequence[str], options: Options = VERSION_10, complete: bool = False
) -> dict[str, Fraction | float]:
    """What trec_eval prints for "all": sums of counts, means of the others, the geometric mean of gm_map."""
    topics = by_topic(run, qrels, measures, options, complete)
    found: dict[str, Fraction | float] = {}
    for name in names(measures):
        total = sum((Fraction(values[name]) for values in topics.values()), Fraction(0))
        if name in COUNTS:
            found[name] = total
        else:
            mean = total / len(topics)
            found[name] = math.exp(mean) if name == "gm_map" else mean
    return found
