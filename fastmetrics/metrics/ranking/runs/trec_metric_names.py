"""The names of trec_eval's metrics: as in its option -m, as in its output, and as metric strings.

"P.5,10" and "P_5" are trec_eval's own names; "P@5", "ndcg@10" and "mrr" are the metric strings of the same numbers.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.registry import Metric, explain_names, list_metrics_of, parse, split_metrics
from fastmetrics.metrics.ranking.lists.list_measures import KINDS, MEASURE_CHECKS, Measure
from fastmetrics.metrics.ranking.runs.trec_measures import (
    MEAN,
    MEASURE_SETS,
    OTHER_FORMATS,
    TREC_MEASURES,
    MeasureOptions,
    TrecValue,
    read_cutoffs,
)

if TYPE_CHECKING:
    from fastmetrics._core.registry import Metrics

__all__ = ["trec_metric_names"]

# Those of one number over all cutoffs or of whole lists are metrics; metric strings do not have the others.
ARE_METRICS = (
    "map", "Rprec", "bpref", "recip_rank", "P", "recall", "dcg", "ideal_dcg", "ndcg", "ndcg_cut", "map_cut", "success",
    "rbp",
)  # fmt: skip
explain_names(
    {
        name: f"it is trec_eval's alone: fm.evaluate_trec(qrels, run, {name!r}), or fastmetrics trec -m {name}"
        for name in TREC_MEASURES
        if name not in ARE_METRICS
    }
)
# The rules of trec_eval for ties and for queries without a relevant item.
RULES = {"ties": "docid", "empty": "zero"}


@answers_unknown
def trec_metric_names(metrics: Metrics | None = None) -> tuple[str, ...]:
    """The names of the values of trec_eval's metrics, in trec_eval's order of output.

    A metric is named as in trec_eval's option -m: ``map``, ``P.5,10`` with parameters, or a set of metrics:
    ``official`` (the default), ``set``, or ``all_trec`` (all that trec_eval 9 calls so). The name of a value, such as
    ``P_5``, is accepted too, and the metric string of the same number, such as ``P@5`` or ``mrr``. Names and order are
    those of trec_eval 9 (NIST).

    Parameters
    ----------
    metrics : str or sequence of str, optional
        One or several metrics, also with commas between them; None: ``official``.

    Returns
    -------
    names : tuple of str
        The names of the values, such as ``P_5``.

    Raises
    ------
    ValueError
        A metric is unknown (the message names the nearest ones), or a parameter is invalid.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.trec_metric_names(["P.10,5", "ndcg_cut.10", "map"])
    ('map', 'P_5', 'P_10', 'ndcg_cut_10')
    >>> fm.trec_metric_names("P@10,ndcg@10,mrr")
    ('recip_rank', 'P_10', 'ndcg_cut_10')
    """
    return tuple(value.name for value in parse_metrics(metrics, MeasureOptions()))


def parse_metrics(metrics: Metrics | None, options: MeasureOptions) -> list[TrecValue]:
    """The values of the metrics in trec_eval's order. Parameters in a name replace the defaults."""
    parameters_of: dict[str, list[str]] = {}
    asked = ["official"] if metrics is None else list_metrics_of(metrics, "metrics", split_trec_names)
    for name in asked:
        head, text = split_name(name, options)
        for member in MEASURE_SETS.get(head, (head,)):
            parameters_of.setdefault(member, [])
        if text:
            parameters_of[head].append(text)
    trec_values = []
    for name, metric in TREC_MEASURES.items():
        if name in parameters_of:
            text = ",".join(parameters_of[name])
            parameters = metric.read_parameters(name, text) if text and metric.read_parameters else metric.defaults
            trec_values += metric.make_values(name, parameters, options, text)
    return trec_values


def split_trec_names(text: str) -> list[str]:
    """Cut "map,P.5,10" at the commas before a name."""
    names: list[str] = []
    for part in split_metrics(text, repeat=False):
        is_name = not names or re.match(r"11pt|(?!p=)[A-Za-z]", part)
        names += [part] if is_name else []
        names[-1] += "" if is_name else f",{part}"
    return names


def split_name(name: str | Metric, options: MeasureOptions) -> tuple[str, str]:
    """The metric (or set of metrics) that a name means, and the text of its parameters."""
    if isinstance(name, Metric):
        return measure_of_metric(name, options)
    head, point, text = name.partition(".")
    if head in MEASURE_SETS and not point:
        return head, ""
    if head in TREC_MEASURES:
        if point and TREC_MEASURES[head].read_parameters is None:
            raise ValueError(f"the metric {head!r} takes no parameters here; found {name!r}")
        if point and not text:
            raise ValueError(f"{name!r} has no parameters behind the point")
        return head, text
    if value := split_value_name(name):
        return value
    for absent, needed in OTHER_FORMATS.items():
        if head == absent or head.startswith(f"{absent}_"):
            raise ValueError(f"trec_eval's {head!r} needs {needed}, which fastmetrics does not read")
    try:
        metric = parse(name)
    except ValueError as error:
        raise ValueError(str(error) if "(" in name else explain_unknown(name, head)) from None
    return measure_of_metric(metric, options)


def explain_unknown(name: str, head: str) -> str:
    names = [*TREC_MEASURES, *MEASURE_SETS]
    by_lower_case = {known.lower(): known for known in names}
    close = [by_lower_case[known] for known in difflib.get_close_matches(head.lower(), by_lower_case, n=3, cutoff=0.5)]
    nearest = f"; nearest: {', '.join(close)}" if close else ""
    return f"unknown metric {name!r}{nearest}. trec_eval's metrics here: {', '.join(names)}"


def split_value_name(name: str) -> tuple[str, str] | None:
    """The metric and the text of parameters that the name of a value in trec_eval's output has, or None."""
    stems = [
        stem for stem, metric in TREC_MEASURES.items()
        if metric.read_parameters and re.match(rf"{stem}_([-+.\d]|p=)", name)
    ]  # fmt: skip
    return (stems[0], name[len(stems[0]) + 1 :]) if stems else None


def measure_of_metric(metric: Metric, options: MeasureOptions) -> tuple[str, str]:
    """The metric of trec_eval that has the number of a metric of ranked lists, and its cutoff as text."""
    of_lists = metric.spec.target == "graded" and metric.spec.base_name in KINDS
    if of_lists and metric.group_stat is None:
        own = {name: value for name, value in metric.arguments.items() if name in MEASURE_CHECKS}
        level = metric.arguments["relevance_level"] if "relevance_level" in metric.written else options.level
        own |= {"normalize": "relevant"} if "normalize" in own and metric.k is None else {}
        wanted = Measure.of(metric.spec.base_name, metric.k, **own | {"relevance_level": level})
        follows = all(metric.arguments[rule] == value for rule, value in RULES.items() if rule in metric.written)
        for name, own_metric in TREC_MEASURES.items() if follows else ():
            has_cutoff = own_metric.read_parameters is read_cutoffs
            if has_cutoff != (metric.k is not None) or (own_metric.defaults and not has_cutoff):
                continue
            (value,) = own_metric.make_values(name, (metric.k,) if has_cutoff else (), options, "")
            if value.needs == (wanted,) and value.compute is None and value.summary == MEAN:
                return name, "" if metric.k is None else str(metric.k)
    cut = f"{metric.spec.base_name}_cut"
    near = f"; write '{cut}_{metric.k}', which is trec_eval's" if cut in TREC_MEASURES and metric.k else ""
    where = "fm.evaluate_ranking" if of_lists else "fm.evaluate"
    raise ValueError(f"trec_eval has no metric of the number of {metric!r}, which {where} computes{near}")
