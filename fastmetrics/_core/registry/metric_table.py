"""`list_metrics`: the names of all metrics, which evaluate as they are, with their entries and a table of them."""

from __future__ import annotations

from collections.abc import Iterator

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.kinds import MODEL_ROLES
from fastmetrics._core.metric_spec import EXCHANGES, MetricSpec
from fastmetrics._core.registry.parsed_metric import parse
from fastmetrics._core.registry.registration import known_specs, load_plugins
from fastmetrics._core.results.table_columns import TableColumn
from fastmetrics._core.results.table_rows import NamedValues, TableRow, refuse_place
from fastmetrics._core.suggestions import suggest
from fastmetrics._core.types.options import Exchange
from fastmetrics._core.upper_layers import render

__all__ = ["MetricTable", "list_metrics"]

COLUMNS = ("metric", "family", "target", "exchange", "direction", "parameters", "aliases", "summary")
SHOWN = ("metric", "family", "target", "direction", "summary")  # as text: lines that a screen has room for


class MetricTable(NamedValues[MetricSpec]):
    """Metrics: iteration gives their names, which evaluate as they are, and `print` shows a line for each.

    ``table["ndcg@10"]`` is the entry of a metric, by any way to write it; ``"ndcg" in table`` says whether it is there,
    ``dict(table)`` and ``table.values()`` have all entries. `to_pandas`, `to_polars`, `to_arrow` are the table as data
    frames.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> metrics = fm.list_metrics()
    >>> [name for name in metrics if name.startswith("recall")]
    ['recall', 'recall@10']
    >>> metrics["roc_auc"].direction, metrics["gauc"].parameters["weight"]
    ('maximize', 'impressions')
    >>> print(fm.list_metrics(family="calibration"))
    metric  family       target  direction       summary
    copc    calibration  binary  closest_to_one  Clicks observed over clicks predicted.
    ece     calibration  binary  minimize        Expected calibration error over bins of equal width.
    pcoc    calibration  binary  closest_to_one  Clicks predicted over clicks observed.
    """

    __slots__ = ("_entries",)

    def __init__(self, specs: tuple[MetricSpec, ...]) -> None:
        self._entries = {spec.example: spec for spec in specs}

    def _named(self) -> dict[str, MetricSpec]:
        return self._entries

    def __iter__(self) -> Iterator[str]:
        """The names, with a cutoff where they need one: "ndcg@10"."""
        return iter(self._entries)

    @property
    def rows(self) -> tuple[TableRow, ...]:
        """A record for every metric: named tuples of the columns of `to_arrow`, as other tables iterate."""
        return tuple(super().__iter__())

    def __getitem__(self, name: str) -> MetricSpec:
        refuse_place(name, type(self).__name__)
        try:
            found = entry_of(name)
        except ValueError as error:
            raise KeyError(str(error)) from None
        if found.example not in self._entries:
            raise KeyError(f"metric {found.example!r} is not in this table; it has {', '.join(self)}")
        return self._entries[found.example]

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and entry_of(name).example in self._entries
        except ValueError:
            return False

    def _table_columns(self) -> list[TableColumn]:
        cells = {name: [cells_of(spec)[name] for spec in self.values()] for name in COLUMNS}
        return [TableColumn(name, "text", cells[name]) for name in COLUMNS]

    def to_dict(self) -> dict[str, dict[str, str]]:
        """The table's cells by metric and column.

        Returns
        -------
        dict of str to dict
        """
        return {name: cells_of(spec) for name, spec in self.items()}

    def __repr__(self) -> str:
        cells = [[cells_of(spec)[name] for name in SHOWN] for spec in self.values()]
        return "\n".join(render("aligned lines", [list(SHOWN), *cells], range(len(SHOWN))))

    def _repr_html_(self) -> str:
        """The whole table for notebooks."""
        return str(render("notebook rows", COLUMNS, self.rows))


def entry_of(name: str) -> MetricSpec:
    """The entry of a metric by its name, that of an alias, or any metric string. ValueError: nothing has the name."""
    specs = known_specs()
    for spec in specs.values():
        if name in (spec.name, *spec.aliases):
            return spec
    try:
        return parse(name, MODEL_ROLES).spec
    except ValueError as error:
        try:
            return parse(f"{name}@10", MODEL_ROLES).spec
        except ValueError:
            raise error from None


def cells_of(spec: MetricSpec) -> dict[str, str]:
    """A metric's cells by column."""
    options = ", ".join(f"{name}={default}" for name, default in spec.parameters.items())
    cells = (
        spec.example, spec.family, spec.target, spec.exchange, spec.direction, options, ", ".join(spec.aliases),
        spec.summary,
    )  # fmt: skip
    return dict(zip(COLUMNS, cells, strict=True))


@answers_unknown
def list_metrics(
    *, family: str | None = None, target: str | None = None, exchange: Exchange | None = None
) -> MetricTable:
    """All metrics that `evaluate` and the command line can compute, or some of them, with their entries.

    Parameters
    ----------
    family : str, optional
        Only the metrics of this family: "ranking", "calibration" and others. That of a metric of your own is the module
        that registers it.
    target : str, optional
        Only the metrics of these labels: "binary", "real", "graded", "text", "partition", "prediction",
        "probabilities", "sets", or "columns" for metrics without a label.
    exchange : {"none", "range", "hash"}, optional
        Only the metrics for which these rows have to meet: none, those with neighboring scores, those of a group.

    Returns
    -------
    MetricTable
        Sorted by name. Iteration gives metric strings with the default options.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> "gauc" in fm.list_metrics()
    True
    >>> list(fm.list_metrics(family="calibration"))
    ['copc', 'ece', 'pcoc']
    >>> log = {"label": [1, 0], "score": [0.75, 0.5]}
    >>> fm.evaluate(log, fm.list_metrics(family="calibration"), label="label", score="score")["copc"]
    0.8
    """
    load_plugins()
    specs = [spec for _, spec in sorted(known_specs().items())]
    for option, value, allowed in (
        ("family", family, sorted({spec.family for spec in specs})),
        ("target", target, sorted({form.target for spec in specs for form in spec.forms} | {"columns"})),
        ("exchange", exchange, list(EXCHANGES)),
    ):
        if value is None:
            continue
        if value not in allowed:
            raise ValueError(f"there is no {option} {value!r}; {suggest(str(value), allowed)}")
        specs = [spec for spec in specs if any(getattr(form, option) == value for form in spec.forms)]
    return MetricTable(tuple(specs))
