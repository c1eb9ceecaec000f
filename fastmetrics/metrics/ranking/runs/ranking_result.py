"""`RankingResult`: the values of an evaluated run, its table of queries, coverage and signatures."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from itertools import chain
from typing import Any

import numpy as np

from fastmetrics._core import registry
from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.exact import divide
from fastmetrics._core.metric_spec import MetricSpec
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import Metric, Metrics
from fastmetrics._core.results.column_table import ColumnTable, format_cell
from fastmetrics._core.results.json_results import as_json_value
from fastmetrics._core.results.table_columns import TableColumn
from fastmetrics._core.results.table_rows import NamedValues, refuse_place
from fastmetrics._core.upper_layers import render
from fastmetrics.metrics.ranking.lists import list_measures
from fastmetrics.metrics.ranking.lists.ids import DictKeys, Ids, docid_order, no_ids
from fastmetrics.metrics.ranking.lists.list_measures import Measure, MeasuredLists, MeasureTable
from fastmetrics.metrics.ranking.runs.join import MOST_NAMED, JoinedLists

__all__ = ["RankingResult", "RankingTable"]

TIES = ("average", "optimistic", "pessimistic", "docid", "stable")
MICRO = "micro"
DEFAULT_METRICS = ("ndcg@10", "map", "mrr", "p@10", "recall@10")
NO_VALUES: np.ndarray = np.empty(0)


class RunOptions(NamedTuple):
    """The options of a call that apply to all its metrics."""

    ties: str
    empty: str
    relevance_level: float
    missing: str = "zero"

    def arguments_of(self, metric: Metric, in_string: Container[str]) -> dict[str, Any]:
        """The arguments of a metric: those of its string (`in_string` are their names), else those of the call."""
        from_call = {
            name: value
            for name, value in self._asdict().items()
            if name in metric.spec.parameters and name not in in_string
        }
        return metric.arguments | from_call


class RankingTable(ColumnTable):
    """A table with one row for every query (or user), as columns sorted by query.

    Attributes
    ----------
    columns : dict of str to numpy.ndarray
        The key (strings have dtype object), ``n`` (retrieved items), ``n_judged`` and ``n_relevant`` (judged items and
        relevant items, retrieved or not; int64), and a float64 column for every metric.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 1}}
    >>> run = {"q1": {"d1": 0.3, "d2": 0.9}, "q2": {"d3": 0.5}}
    >>> table = fm.evaluate_ranking(qrels, run, "mrr").per_query
    >>> table["query"].tolist(), table["mrr"].tolist()
    (['q1', 'q2'], [0.5, 1.0])
    """

    __slots__ = ()


class RankingResult(NamedValues[float]):
    """The values of several metrics, with the table of queries and the coverage.

    ``result["ndcg@10"]`` is the mean over queries of a metric, by any spelling of it; ``dict(result)`` has all of them,
    by the strings that were passed. Rows are a metric, its value and its signature.

    Attributes
    ----------
    per_query : RankingTable
        One row for each query, sorted by key: the key, ``n`` (retrieved), ``n_judged``, ``n_relevant``, and a column
        for each metric.
    coverage : dict
        ``queries`` (the number that the means are over), ``queries_in_both``, ``queries_unjudged`` (in the run without
        a judgment: left out), ``queries_missing`` (judged, but not in the run), the names of the first few of both
        (``unjudged``, ``missing``), ``missing_policy``, ``queries_empty`` (without a retrieved item),
        ``queries_without_relevant``, ``retrieved``, ``judged_retrieved``, ``relevant``, ``relevant_retrieved``,
        ``relevant_not_retrieved``, ``tied_pairs`` (of the pairs of a relevant and another retrieved item, the share
        whose scores tie) and ``candidates`` (retrieved items per query: mean, min, max).

    Examples
    --------
    >>> import fastmetrics as fm
    >>> qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 1}}
    >>> result = fm.evaluate_ranking(qrels, {"q1": {"d1": 0.3, "d2": 0.9}}, "mrr")
    >>> result["mrr"], result.coverage["queries_missing"]
    (0.25, 1)
    """

    __slots__ = ("_evaluation", "_table", "_values", "coverage")

    def __init__(self, evaluation: RunEvaluation) -> None:
        self._evaluation = evaluation
        self._table: RankingTable | None = None
        self._values = evaluation.means()
        self.coverage = evaluation.coverage()

    @property
    def per_query(self) -> RankingTable:
        """The table of queries, computed when it is first read."""
        if self._table is None:
            self._table = self._evaluation.table()
        return self._table

    def __getitem__(self, metric: str) -> float:
        refuse_place(metric, type(self).__name__)
        return self._values[self._find(metric)]

    def __contains__(self, metric: object) -> bool:
        try:
            return bool(self._find(metric))
        except (KeyError, TypeError):
            return False

    def _named(self) -> dict[str, float]:
        return self._values

    def _table_columns(self) -> list[TableColumn]:
        names = list(self._values)
        return [
            TableColumn("metric", "text", names),
            TableColumn("value", "number", list(self._values.values())),
            TableColumn("signature", "text", [self.signature(name) for name in names]),
        ]

    def _content(self) -> tuple[Any, ...]:
        return self.to_dict(), self.per_query._content()

    def _find(self, metric: Any) -> str:
        if metric in self._values:
            return str(metric)
        try:
            wanted = registry.parse(metric)
        except ValueError:
            wanted = None
        names = [name for name, (known, _) in self._evaluation.metrics.items() if known == wanted]
        if not names:
            raise KeyError(f"no {metric!r} in this RankingResult; it has {', '.join(self._values)}")
        return names[0]

    @answers_unknown
    def signature(self, metric: str) -> str:
        """The signature of a value: all that is needed to compute it again.

        Parameters
        ----------
        metric : str
            One of the metrics of the result.

        Returns
        -------
        str
        """
        return self._evaluation.signature(self._find(metric))

    def missing_queries(self) -> list[Any]:
        """All judged queries that the run does not have.

        Returns
        -------
        list
        """
        return self._evaluation.join.coverage.missing.to_list()

    def to_dict(self) -> dict[str, Any]:
        """Values, signatures and coverage as plain Python for JSON. NaN becomes None.

        Returns
        -------
        dict
        """
        plain: dict[str, Any] = as_json_value({
            "values": dict(self._values),
            "signatures": {name: self.signature(name) for name in self._values},
            "coverage": self.coverage,
        })  # fmt: skip
        return plain

    def __repr__(self) -> str:
        rows = [[name, format_cell(value)] for name, value in self._values.items()]
        return "\n".join([self._evaluation.headline(self.coverage), *render("aligned lines", rows)])


def resolve_metrics(metrics: Metrics | None, options: RunOptions) -> dict[str, tuple[Metric, dict[str, Any]]]:
    """The metric and the arguments of every metric of a list, by its text, without duplicates."""
    graded = [spec for spec in registry.list_metrics().values() if spec.target == "graded"]
    known = [spec for spec in graded if spec.base_name in list_measures.KINDS]
    found = {}
    for text in registry.list_metrics_of(DEFAULT_METRICS if metrics is None else metrics):
        metric = registry.parse(text)
        if metric.spec not in known:
            examples = ", ".join(spec.example for spec in known)
            raise ValueError(f"metric {text!r} is not one of ranked lists{advice_of_lists(metric, known)}: {examples}")
        if metric.group_stat is not None:
            raise ValueError(f"metric {text!r}: stat= is for evaluate; here per_query has the value of every query")
        found[str(text).strip()] = metric, options.arguments_of(metric, metric.written)
    return found


def advice_of_lists(metric: Metric, known: Sequence[MetricSpec]) -> str:
    """What to type for a metric of all rows that has the name of one of ranked lists."""
    names = (metric.spec.base_name, *metric.spec.aliases)
    own = next((spec for spec in known if {spec.base_name, *spec.aliases} & {f"{name}@k" for name in names}), None)
    own = own or next((spec for spec in known if spec.base_name in names), None)
    return "" if own is None else f", without a cutoff; write {own.example!r}"


def kernel_measures(metric: Metric, arguments: dict[str, Any], options: RunOptions) -> tuple[Measure, ...]:
    """The measure of a metric; for average="micro" the measures of numerator and denominator."""
    level = arguments.get("relevance_level", options.relevance_level)
    if arguments.get("average") == MICRO:
        return Measure.of_micro_hits(metric.k, level)
    own = {name: arguments[name] for name in list_measures.MEASURE_CHECKS if name in arguments}
    return (Measure.of(metric.spec.base_name, metric.k, relevance_level=level, **own),)


def measure_metrics(
    metrics: dict[str, tuple[Metric, dict[str, Any]]],
    options: RunOptions,
    counted: list[Measure],
    measure: Callable[[MeasureTable, str], MeasuredLists],
) -> tuple[dict[str, tuple[np.ndarray, ...]], MeasuredLists]:
    """The measures of every metric; and a result of `measure(table, ties)`, which begins with those `counted`."""
    names_of_ties: dict[str, list[str]] = {}
    for name, (_, arguments) in metrics.items():
        names_of_ties.setdefault(arguments.get("ties", options.ties), []).append(name)
    values_of_metric = {}
    for ties, names in names_of_ties.items():
        measures = {name: kernel_measures(*metrics[name], options) for name in names}
        distinct = list(dict.fromkeys([*counted, *chain.from_iterable(measures.values())]))
        measured = measure(MeasureTable(distinct), ties)
        for name, needed in measures.items():
            values_of_metric[name] = tuple(measured.values[distinct.index(each)] for each in needed)
    return values_of_metric, measured


def list_values(measured: tuple[np.ndarray, ...], empty: str) -> np.ndarray:
    """The value of a metric for every list, with the policy for lists without a relevant item.

    A micro-averaged metric has two measures: its value is their ratio, NaN without a relevant item.
    """
    if len(measured) == 2:
        return measured[0] / np.where(measured[1] > 0, measured[1], np.nan)
    return list_measures.fill_empty(measured[0], empty)


class RunEvaluation:
    """The lists of a join, measured for some metrics: means, tables, coverage and signatures."""

    def __init__(
        self,
        join: JoinedLists,
        metrics: dict[str, tuple[Metric, dict[str, Any]]],
        options: RunOptions,
        weights: np.ndarray | None,
        n_threads: int,
        group: str = "query",
    ) -> None:
        # The rows are not kept: the tables need only what follows.
        self.join = join._replace(scores=NO_VALUES, grades=NO_VALUES, unretrieved=NO_VALUES, items=no_ids)
        self.metrics = metrics
        self.options = options
        self.weights = weights
        self.group = group
        counted = [
            Measure.of(name, relevance_level=options.relevance_level)
            for name in ("n_relevant", "n_relevant_retrieved")
        ]
        self.measured, first = measure_metrics(
            metrics, options, counted, lambda table, ties: measure_joined(join, table, ties, n_threads)
        )
        self.counts = first.counts
        self.n_relevant, self.n_relevant_retrieved = first.values[:2]
        self.check_no_query_is_empty()

    def __getstate__(self) -> dict[str, Any]:
        # Metrics are pickled as strings: their entries in the registry hold functions that cannot be pickled.
        texts = {name: (repr(metric), arguments) for name, (metric, arguments) in self.metrics.items()}
        return self.__dict__ | {"metrics": texts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        self.metrics = {name: (registry.parse(text), arguments) for name, (text, arguments) in self.metrics.items()}

    def check_no_query_is_empty(self) -> None:
        """Raise for the first query without a relevant item if the policy of a metric is "raise"."""
        for name, (_, arguments) in self.metrics.items():
            if arguments.get("empty", self.options.empty) != "raise":
                continue
            empty = np.isnan(self.measured[name][0])
            if self.weights is not None:
                empty &= self.weights > 0
            if empty.any():
                key = self.join.queries.at(int(np.flatnonzero(empty)[0]))
                raise ValueError(f"{self.group} {key!r} has no relevant item for {name!r}, and empty='raise'")

    def means(self) -> dict[str, float]:
        """The mean over queries of every metric."""
        values = {}
        weights = self.weights
        present: Any = slice(None)
        if weights is not None and not weights.all():
            # A list of weight 0 is left out: an empty one must not make the result NaN.
            present = weights > 0
            weights = weights[present]
        for name, (_, arguments) in self.metrics.items():
            measured = self.measured[name]
            if len(measured) == 1:
                empty = arguments.get("empty", self.options.empty)
                values[name] = list_measures.mean(np.ascontiguousarray(measured[0][present]), weights, empty).value
                continue
            hits, relevant = (list_measures.new_mean_sums() for _ in measured)
            for list_values, sums in zip(measured, (hits, relevant), strict=True):
                list_measures.add_values(sums, list_values, self.weights, "zero")
            total = relevant.integer("w value")
            values[name] = divide(hits.integer("w value"), total) if total else float("nan")
        return values

    def table(self) -> RankingTable:
        keys, order = sorted_keys(self.join.queries)
        counts = self.counts[order]
        columns = {
            self.group: keys,
            "n": np.diff(self.join.offsets)[order],
            "n_judged": counts[:, list_measures.JUDGED] + counts[:, list_measures.MISSING],
            "n_relevant": self.n_relevant[order].astype(np.int64),
        }
        return RankingTable(
            columns
            | {
                name: list_values(self.measured[name], arguments.get("empty", self.options.empty))[order]
                for name, (_, arguments) in self.metrics.items()
            }
        )

    def coverage(self) -> dict[str, Any]:
        join, counts = self.join, self.counts
        sizes = np.diff(join.offsets)
        relevant, retrieved = int(self.n_relevant.sum()), int(self.n_relevant_retrieved.sum())
        tied, pairs = (int(counts[:, column].sum()) for column in (list_measures.TIED_PAIRS, list_measures.PAIRS))
        n_lists = sizes.shape[0]
        covered: dict[str, Any] = {"queries": n_lists}
        if self.group == "query":
            covered |= {
                "queries_in_both": join.coverage.matched,
                "queries_unjudged": join.coverage.unjudged.rows,
                "unjudged": first_names(join.coverage.unjudged),
                "queries_missing": join.coverage.missing.rows,
                "missing": first_names(join.coverage.missing),
                "missing_policy": self.options.missing,
            }
        covered |= {
            "queries_empty": int(np.count_nonzero(sizes == 0)),
            "queries_without_relevant": int(np.count_nonzero(self.n_relevant == 0)),
            "retrieved": int(sizes.sum()),
            "judged_retrieved": int(counts[:, list_measures.JUDGED].sum()),
            "relevant": relevant,
            "relevant_retrieved": retrieved,
            "relevant_not_retrieved": relevant - retrieved,
            "tied_pairs": tied / pairs if pairs else 0.0,
            "candidates": {
                "mean": int(sizes.sum()) / n_lists if n_lists else float("nan"),
                "min": int(sizes.min(initial=np.iinfo(np.int64).max)) if n_lists else 0,
                "max": int(sizes.max(initial=0)),
            },
        }
        if self.group == "query":
            return covered
        return {name.replace("queries", "users"): value for name, value in covered.items()}

    def headline(self, coverage: dict[str, Any]) -> str:
        """One line that says what was evaluated."""
        n_lists = self.join.offsets.shape[0] - 1
        plural = {"query": "queries"}.get(self.group, f"{self.group}s")
        parts = [f"{n_lists:,} {plural if n_lists != 1 else self.group}"]
        n_items = f"{coverage['candidates']['mean']:.4g}"
        parts.append(f"{n_items} item{'s' * (n_items != '1')} each")
        if n_missing := coverage.get("queries_missing", 0):
            how = "count as 0" if self.options.missing == "zero" else "left out"
            parts.append(f"{n_missing:,} judged but not in the run ({how})")
        if n_unjudged := coverage.get("queries_unjudged", 0):
            parts.append(f"{n_unjudged:,} of the run not judged (left out)")
        if n_empty := coverage.get(f"{plural}_without_relevant", 0):
            parts.append(f"{n_empty:,} without a relevant item")
        return ", ".join(parts)

    def signature(self, name: str) -> str:
        metric, arguments = self.metrics[name]
        full = Metric(metric.spec, arguments, metric.k)
        common = {
            option: value for option, value in self.options._asdict().items()
            if option not in metric.spec.parameters and (option != "missing" or self.group == "query")
        }  # fmt: skip
        weight = None if self.weights is None else "sample_weight"
        *fields, version = full.signature({"groups": self.join.offsets.shape[0] - 1}, weight).split("|")
        return "|".join([*fields[:-1], *(f"{option}:{value}" for option, value in common.items()), fields[-1], version])


def first_names(ids: Ids | DictKeys) -> list[Any]:
    """The first few ids in sorted order, which does not depend on the order of rows."""
    return sorted(ids.to_list(), key=sort_key)[:MOST_NAMED]


def sort_key(name: Any) -> tuple[bool, Any]:
    """Sorts integers before texts; other keys are compared by their repr."""
    return isinstance(name, str), name if isinstance(name, (int, np.integer, str)) else repr(name)


def sorted_keys(queries: Ids | DictKeys) -> tuple[np.ndarray, np.ndarray]:
    """The sorted keys (integers as numbers, texts by code points), and the index of each in `queries`."""
    names = queries.to_list()
    if all(isinstance(name, (int, np.integer)) for name in names):
        try:
            keys = np.array(names) if names else np.zeros(0, np.int64)
        except OverflowError:
            keys = np.array(names, object)
        order = np.argsort(keys, kind="stable")
        return keys[order], order
    order = np.array(sorted(range(len(names)), key=lambda index: sort_key(names[index])), np.int64)
    return np.fromiter((names[index] for index in order), object, len(names)), order


def measure_joined(join: JoinedLists, table: MeasureTable, ties: str, n_threads: int) -> MeasuredLists:
    """The measures of the lists of a join."""
    order: Any = None
    if ties == "docid":
        if join.scores.shape[0]:
            order = docid_order(join.items())
        else:
            ties = "stable"
    lists = list_measures.Lists(
        join.scores, join.grades, join.offsets, join.unretrieved, join.unretrieved_offsets, order
    )
    try:
        return list_measures.measure_lists(lists, table, ties, n_threads)
    except list_measures.InvalidRowError:
        validation.raise_changed()  # the join has checked every row


def as_relevance_level(value: Any) -> float:
    """A checked level; a whole number is an int, so that signatures show it without a point."""
    level = list_measures.check_level(value)
    return int(level) if level.is_integer() else level
