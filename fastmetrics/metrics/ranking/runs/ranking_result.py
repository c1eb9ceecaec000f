"""What an evaluation of a run answers: values, a table of its queries, coverage, signatures."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastmetrics._core import registry
from fastmetrics._core.exact import divide
from fastmetrics._core.registry import Metric
from fastmetrics._core.text_table import aligned
from fastmetrics.metrics.ranking import measures
from fastmetrics.metrics.ranking.ids import Ids, Integers, Names, Texts
from fastmetrics.metrics.ranking.joined import NAMED, Joined
from fastmetrics.metrics.ranking.measures import Measure, Measured, MeasureTable

if TYPE_CHECKING:
    import pyarrow

TIES = ("average", "optimistic", "pessimistic", "docid", "stable")
OPTIONS = ("gain", "ideal", "normalize", "short_list", "relevance_level")
MICRO = "micro"
NOTHING: np.ndarray = np.empty(0)


class Options(NamedTuple):
    """How lists are measured: what is common to all metrics of a call."""

    ties: str
    empty: str
    relevance_level: float
    missing: str = "zero"

    def of(self, metric: Metric, given: Container[str]) -> dict[str, Any]:
        """A metric's arguments: those of the call, but for those that its string gives."""
        own = {
            name: value
            for name, value in self._asdict().items()
            if name in metric.spec.parameters and name not in given
        }
        return metric.arguments | own


class RankingTable:
    """A row for every query (or user), as columns sorted by query.

    Attributes
    ----------
    columns : dict of str to numpy.ndarray
        The key (strings: dtype object), ``n`` (retrieved items), ``n_judged`` and ``n_relevant`` (judged items and
        relevant ones, retrieved or not; int64), and a column of float64 for every metric.
    """

    __slots__ = ("columns",)

    def __init__(self, columns: dict[str, np.ndarray]) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, column: str) -> np.ndarray:
        return self.columns[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __repr__(self) -> str:
        names = list(self.columns)
        rows = [[shown(column[row]) for column in self.columns.values()] for row in range(min(len(self), 10))]
        more = [f"... {len(self):,} rows in all"] if len(self) > len(rows) else []
        return "\n".join([*aligned([names, *rows]), *more])

    def to_arrow(self) -> pyarrow.Table:
        """The same columns as an Arrow table.

        Returns
        -------
        pyarrow.Table
        """
        try:
            import pyarrow
        except ImportError as error:
            raise ImportError("RankingTable.to_arrow needs pyarrow: pip install 'fastmetrics[arrow]'") from error
        return pyarrow.table({name: pyarrow.array(column) for name, column in self.columns.items()})

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as lists.

        Returns
        -------
        dict of str to list
        """
        return {name: column.tolist() for name, column in self.columns.items()}


class RankingResult:
    """Values of several metrics, with what they are of.

    Attributes
    ----------
    values : dict of str to float
        The mean over queries for every metric, by the string that asked for it. ``result["ndcg@10"]`` is short for
        it, and finds other spellings of the same metric too.
    by_query : RankingTable
        A row per query, sorted by key: the key, ``n`` (retrieved), ``n_judged``, ``n_relevant``, a column per metric.
    coverage : dict
        ``queries`` (that the means are over), ``queries_in_both``, ``queries_unjudged`` (in the run, without a
        judgement: left out) and ``queries_missing`` (judged, not in the run), the first few of both by name
        (``unjudged``, ``missing``), ``missing_policy``, ``queries_empty`` (without a retrieved item),
        ``queries_without_relevant``, ``retrieved``, ``judged_retrieved``, ``relevant``, ``relevant_retrieved``,
        ``relevant_not_retrieved``, ``tied_pairs`` (the share of pairs of a relevant and another retrieved item
        whose scores tie) and ``candidates`` (items retrieved per query: mean, min, max).
    """

    __slots__ = ("_evaluation", "_table", "coverage", "values")

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._table: RankingTable | None = None
        self.values = evaluation.means()
        self.coverage = evaluation.coverage()

    @property
    def by_query(self) -> RankingTable:
        """The table of queries, made when it is first asked for."""
        if self._table is None:
            self._table = self._evaluation.table()
        return self._table

    def __getitem__(self, metric: str) -> float:
        return self.values[self._find(metric)]

    def __contains__(self, metric: object) -> bool:
        return metric in self.values

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def _find(self, metric: str) -> str:
        if metric in self.values:
            return metric
        try:
            wanted = registry.parse(metric)
        except ValueError:
            wanted = None
        found = [name for name, (own, _) in self._evaluation.metrics.items() if own == wanted]
        if not found:
            raise KeyError(f"no {metric!r} in this result; it holds: {', '.join(self.values)}")
        return found[0]

    def signature(self, metric: str) -> str:
        """All that is needed to compute a value again.

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
        """The judged queries that the run does not have, all of them.

        Returns
        -------
        list
        """
        return self._evaluation.join.coverage.missing.names()

    def to_dict(self) -> dict[str, Any]:
        """Values, signatures and coverage; plain types only.

        Returns
        -------
        dict
        """
        return {
            "values": dict(self.values),
            "signatures": {name: self.signature(name) for name in self.values},
            "coverage": self.coverage,
        }

    def __repr__(self) -> str:
        return "\n".join(
            [self._evaluation.head(self.coverage), *aligned([[n, shown(v)] for n, v in self.values.items()])]
        )


def no_items() -> Ids:
    return Integers(np.empty(0, np.int64))


def shown(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def resolve(wanted: Any, options: Options) -> dict[str, tuple[Metric, dict[str, Any]]]:
    """Metric strings to metrics and their arguments; a string that is given twice comes once."""
    texts = [wanted] if isinstance(wanted, str) else list(wanted)
    if not texts:
        raise ValueError("metrics is empty: name at least one")
    found = {}
    for text in texts:
        metric = registry.parse(text)
        if metric.spec.target != "graded":
            known = [spec.example for spec in registry.describe_metrics() if spec.target == "graded"]
            raise ValueError(f"metric {text!r} is not one of ranked lists: {', '.join(known)}")
        found[str(text).strip()] = metric, options.of(metric, given_in(text, metric))
    return found


def given_in(text: str | Metric, metric: Metric) -> Container[str]:
    """The parameters that a metric string spells out; of a Metric, those that differ from their defaults."""
    if isinstance(text, str):
        match = re.fullmatch(registry.METRIC_STRING, text)
        return registry.read_arguments(metric.spec, (match and match[2]) or "", text)
    return {name for name, value in metric.arguments.items() if value != metric.spec.parameters[name]}


def measures_of(metric: Metric, arguments: dict[str, Any], options: Options) -> tuple[Measure, ...]:
    """A metric's measure; the two sums of an average over hits."""
    level = arguments.get("relevance_level", options.relevance_level)
    if arguments.get("average") == MICRO:
        return (
            Measure.of("hits", metric.k, relevance_level=level),
            Measure.of("n_relevant", relevance_level=level),
        )
    given = {name: arguments[name] for name in OPTIONS if name in arguments}
    number = arguments.get("p", arguments.get("max_grade", 0.0))
    return (Measure.of(metric.spec.word, metric.k, **given | {"relevance_level": level}, number=number),)


class Evaluation:
    """Lists measured for some metrics, and what can be asked of that."""

    def __init__(
        self,
        join: Joined,
        metrics: dict[str, tuple[Metric, dict[str, Any]]],
        options: Options,
        weights: np.ndarray | None,
        n_threads: int,
        group: str = "query",
    ) -> None:
        # What is kept is what tables are made of, not the rows.
        self.join = join._replace(scores=NOTHING, grades=NOTHING, unretrieved=NOTHING, items=no_items)
        self.metrics = metrics
        self.options = options
        self.weights = weights
        self.group = group
        self.measured: dict[str, tuple[np.ndarray, ...]] = {}
        level = options.relevance_level
        counted = (
            Measure.of("n_relevant", relevance_level=level),
            Measure.of("n_relevant_retrieved", relevance_level=level),
        )
        own = {name: measures_of(*entry, options) for name, entry in metrics.items()}
        by_ties: dict[str, list[str]] = {}
        for name, (_, arguments) in metrics.items():
            by_ties.setdefault(arguments.get("ties", options.ties), []).append(name)
        for place, (ties, names) in enumerate(by_ties.items()):
            wanted = list(dict.fromkeys([*(counted if place == 0 else ()), *(m for name in names for m in own[name])]))
            found = measure_joined(join, MeasureTable(wanted), ties, n_threads)
            for name in names:
                self.measured[name] = tuple(found.values[wanted.index(measure)] for measure in own[name])
            if place == 0:
                self.counts, self.n_relevant, self.n_found = found.counts, found.values[0], found.values[1]
        self.refuse_empty()

    def __getstate__(self) -> dict[str, Any]:
        # Metrics are written as their strings: the registry has what cannot be pickled.
        plain = {name: (repr(metric), arguments) for name, (metric, arguments) in self.metrics.items()}
        return self.__dict__ | {"metrics": plain}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        self.metrics = {name: (registry.parse(text), arguments) for name, (text, arguments) in self.metrics.items()}

    def refuse_empty(self) -> None:
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
        values = {}
        weights = self.weights
        present: Any = slice(None)
        if weights is not None and not weights.all():
            # A list of weight zero is absent, also where an empty one would make the result NaN.
            present = weights > 0
            weights = weights[present]
        for name, (_, arguments) in self.metrics.items():
            parts = self.measured[name]
            if len(parts) == 1:
                empty = arguments.get("empty", self.options.empty)
                values[name] = measures.mean(np.ascontiguousarray(parts[0][present]), weights, empty).value
                continue
            hits, relevant = (measures.new_sums() for _ in parts)
            for part, sums in zip(parts, (hits, relevant), strict=True):
                measures.add_values(sums, part, self.weights, "zero")
            total = relevant.integer(0)
            values[name] = divide(hits.integer(0), total) if total else float("nan")
        return values

    def of_lists(self, name: str) -> np.ndarray:
        """A metric's value for every list, as the policy for lists without a relevant item says."""
        values = self.measured[name][0]
        if len(self.measured[name]) == 2:
            return values / np.where(self.measured[name][1] > 0, self.measured[name][1], np.nan)
        fill = {"zero": 0.0, "one": 1.0}.get(self.metrics[name][1].get("empty", self.options.empty))
        return values.copy() if fill is None else np.where(np.isnan(values), fill, values)

    def table(self) -> RankingTable:
        keys, order = sorted_keys(self.join.queries)
        counts = self.counts[order]
        columns = {
            self.group: keys,
            "n": np.diff(self.join.offsets)[order],
            "n_judged": counts[:, measures.JUDGED] + counts[:, measures.MISSING],
            "n_relevant": self.n_relevant[order].astype(np.int64),
        }
        return RankingTable(columns | {name: self.of_lists(name)[order] for name in self.metrics})

    def coverage(self) -> dict[str, Any]:
        join, counts = self.join, self.counts
        sizes = np.diff(join.offsets)
        relevant, found = int(self.n_relevant.sum()), int(self.n_found.sum())
        tied, pairs = (int(counts[:, column].sum()) for column in (measures.TIED_PAIRS, measures.PAIRS))
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
            "judged_retrieved": int(counts[:, measures.JUDGED].sum()),
            "relevant": relevant,
            "relevant_retrieved": found,
            "relevant_not_retrieved": relevant - found,
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

    def head(self, coverage: dict[str, Any]) -> str:
        """What was evaluated, in a line."""
        n_lists = self.join.offsets.shape[0] - 1
        plural = {"query": "queries"}.get(self.group, f"{self.group}s")
        parts = [f"{n_lists:,} {plural if n_lists != 1 else self.group}"]
        parts.append(f"{coverage['candidates']['mean']:.4g} items each")
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
        weight = None if self.weights is None else "weights"
        *parts, version = full.signature({"groups": self.join.offsets.shape[0] - 1}, weight).split("|")
        return "|".join([*parts[:-1], *(f"{option}:{value}" for option, value in common.items()), parts[-1], version])


def first_names(ids: Ids | Names) -> list[Any]:
    """The first few in order: the same ones whatever the order of rows."""
    names = ids.names()
    return sorted(names, key=sort_key)[:NAMED]


def sort_key(name: Any) -> tuple[bool, Any]:
    """Numbers before texts before anything else."""
    return isinstance(name, str), name if isinstance(name, (int, np.integer, str)) else repr(name)


def sorted_keys(queries: Ids | Names) -> tuple[np.ndarray, np.ndarray]:
    """Keys in order (integers as numbers, texts by code points) and where each stands."""
    names = queries.names()
    if all(isinstance(name, (int, np.integer)) for name in names):
        try:
            keys = np.array(names) if names else np.zeros(0, np.int64)
        except OverflowError:
            keys = np.array(names, object)
        order = np.argsort(keys, kind="stable")
        return keys[order], order
    order = np.array(sorted(range(len(names)), key=lambda place: sort_key(names[place])), np.int64)
    return np.fromiter((names[place] for place in order), object, len(names)), order


def measure_joined(join: Joined, table: MeasureTable, ties: str, n_threads: int) -> Measured:
    """Measures of the lists of a join."""
    order: Any = None
    if ties == "docid":
        if join.scores.shape[0]:
            order = docid_order(join.items())
        else:
            ties = "stable"
    lists = measures.Lists(join.scores, join.grades, join.offsets, join.unretrieved, join.unretrieved_offsets, order)
    return measures.measure_lists(lists, table, ties, n_threads)


def docid_order(items: Ids) -> Any:
    """What decides ties: text by its bytes, integers as numbers; the greatest comes first."""
    if isinstance(items, Texts):
        return tuple(items)
    return inverted(items)


def inverted(items: Integers) -> np.ndarray:
    """The smallest for the greatest integer."""
    words: np.ndarray = ~items.values.view(np.uint64)
    return words if items.is_unsigned else words ^ np.uint64(1 << 63)


def checked_level(value: Any) -> float:
    """A whole level is written as one."""
    level = measures.check_level(value)
    return int(level) if level.is_integer() else level
