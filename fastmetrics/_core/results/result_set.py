"""What the results of an evaluation and of a comparison have in common: a sequence of items, of which one is looked up.

An item has a `metric` and other attributes, such as the score and the slice. A look-up that no item or more than one
matches says which attributes to name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, cast

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.immutable import Immutable
from fastmetrics._core.kinds import MODEL_ROLES, SCORE_ROLE
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.results.json_results import as_json_value, read_document, restored
from fastmetrics._core.results.table_rows import ReadByName, TableRow, refuse_place, row_class
from fastmetrics._core.upper_layers import ENTRY_POINTS, load, render

if TYPE_CHECKING:
    from os import PathLike

    from fastmetrics._core.registry import Metric

Item = TypeVar("Item")
MAX_INDENT = 64  # of JSON
MAX_CHOICES = 10  # in the message of a look-up
MOST_ROWS_OF_REPR = 100


class TaskRows(NamedTuple):
    """Which rows a task of an evaluation reads: `rows` that it keeps, `dropped` rows by reason, `columns` by role.

    `filtered` are the rows that its filter left out, which are not among those dropped; None without a filter.
    """

    rows: int
    dropped: Mapping[str, int]
    columns: Mapping[str, str | tuple[str, ...]]
    filtered: int | None = None


class ItemRow(TableRow):
    """A row of a report or comparison: a named tuple of the columns of its table, with all attributes of its item."""

    _item: Any

    def of(self, item: Any) -> ItemRow:
        self._item = item
        return self

    def __getattr__(self, name: str) -> Any:
        item = vars(self).get("_item")
        return getattr(item, name) if hasattr(item, name) else super().__getattr__(name)

    def __eq__(self, other: object) -> bool:
        own = other._item if isinstance(other, ItemRow) else other
        return bool(self._item == own) if type(own) is type(self._item) else super().__eq__(other)

    def __hash__(self) -> int:
        return hash(self._item)

    def __reduce__(self) -> tuple[Any, ...]:
        return make_item_row, (self._fields, tuple(self), self._item)


def make_item_row(fields: tuple[str, ...], cells: tuple[Any, ...], item: Any) -> ItemRow:
    row: ItemRow = row_class(ItemRow, fields)(cells)
    return row.of(item)


class ResultSet(Immutable, ReadByName[Any], Generic[Item]):
    """An immutable sequence of items that prints itself as text, as JSON and in notebooks."""

    __slots__ = ()
    _noun: ClassVar[str]  # of the whole; the name of its renderers
    _item_noun: ClassVar[str]
    _lookup: ClassVar[str]  # the call that looks up one item, in messages
    _items_key: ClassVar[str]  # of the items in JSON
    _schema: ClassVar[int]  # the version of its JSON

    @property
    def _items(self) -> Sequence[Any]:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Item]:
        """The rows of `to_arrow` as named tuples, which also have the attributes of their item."""
        columns = self._table_columns()
        make = row_class(ItemRow, tuple(column.name for column in columns))
        rows = zip(*(column.values for column in columns), strict=True)
        return (cast("Item", make(row).of(item)) for row, item in zip(rows, self._items, strict=True))

    def keys(self) -> list[str]:
        """The metrics with one value of all rows: ``dict(...)`` has these values."""
        whole = Counter(item.metric for item in self._items if not item.slice)
        return [metric for metric, number in whole.items() if number == 1]

    def __contains__(self, metric: object) -> bool:
        from fastmetrics._core.registry import Metric

        return isinstance(metric, (str, Metric)) and bool(self._of_metric(metric))

    def _of_metric(self, metric: str | Metric) -> list[Any]:
        """The items of a metric, in any spelling, by its name or an alias."""
        exact = [item for item in self._items if item.metric == metric]
        if exact:
            return exact
        names = {canonical_metric(metric, role) for role in MODEL_ROLES}
        same = {known for known in self._metrics() if canonical_metric(known) in names}
        return [item for item in self._items if item.metric in same]

    def _metrics(self) -> list[str]:
        return list(dict.fromkeys(item.metric for item in self._items))

    def _only(self, metric: str | Metric, wanted: Mapping[str, Any]) -> Any:
        """The only item of a metric with the wanted attributes; None matches every value."""
        of_metric = self._of_metric(metric)
        if not of_metric:
            raise KeyError(self._explain_missing(metric))
        matching = [item for item in of_metric if count_matches(item, wanted) == len(wanted)]
        if len(matching) != 1:
            raise KeyError(self._explain_choice(metric, of_metric, matching, wanted))
        return matching[0]

    def _slices_of(self, metric: str | Metric, wanted: Mapping[str, Any]) -> list[Any]:
        """The items of a metric in slices that have the wanted attributes; None matches every value."""
        found = [
            item
            for item in self._of_metric(metric)
            if item.slice and all(value in (None, getattr(item, name)) for name, value in wanted.items())
        ]
        if not found and not self._of_metric(metric):
            raise KeyError(self._explain_missing(metric))
        return found

    def _in_order_of(self, slices: Sequence[Any]) -> tuple[Any, ...]:
        """All items: those of all rows, then those of each slice in the order in which items of slices are given."""
        order = {repr(item.slice): number for number, item in reversed([*enumerate(slices)])}
        return tuple(sorted(self._items, key=lambda own: (bool(own.slice), order.get(repr(own.slice), len(order)))))

    def _explain_missing(self, metric: object) -> str:
        from difflib import get_close_matches

        refuse_place(metric, self._noun)
        present = self._metrics()
        base_name = re.split(r"[(@]", canonical_metric(str(metric)))[0]
        variants = [name for name in present if re.split(r"[(@]", name)[0] == base_name]
        near = variants or get_close_matches(str(metric), present, n=3)
        question = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
        return f"no {metric!r} in this {self._noun}{question} It holds: {', '.join(present) or 'nothing'}"

    def _explain_choice(
        self, metric: str | Metric, of_metric: list[Any], matching: list[Any], wanted: Mapping[str, Any]
    ) -> str:
        """How to choose one item: by the attributes that were asked for or that differ; the nearest items first."""
        found = f"{len(matching):,} {self._item_noun}s" if matching else f"no {self._item_noun}"
        attributes = [
            name
            for name, value in wanted.items()
            if value not in (None, {}) or any(getattr(item, name) != getattr(of_metric[0], name) for item in of_metric)
        ]
        near = matching or sorted(of_metric, key=lambda item: -count_matches(item, wanted))
        choices = [
            ", ".join(f"{name}={plain_repr(getattr(item, name))}" for name in attributes) for item in near[:MAX_CHOICES]
        ]
        if len(near) > len(choices):
            choices.append(f"and {len(near) - len(choices):,} more")
        how = ", ".join(f"{name}=..." for name in attributes)
        call = f"{self._lookup}({of_metric[0].metric!r}, {how})"
        unlike = "" if matching else near_value(of_metric, wanted)
        return f"{found} for {metric!r}{unlike}: choose with {call}: {'; '.join(choices)}"

    def to_dict(self) -> dict[str, Any]:
        """The content as plain Python with types of JSON only."""
        raise NotImplementedError

    @answers_unknown
    def to_json(self, indent: int | None = None) -> str:
        """The content of `to_dict` as strict JSON."""
        import json

        if indent is not None:
            file = "None for one line; to write a file: path.write_text(result.to_json())"
            check_count(indent, "indent", 0, MAX_INDENT, file)
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    @classmethod
    @answers_unknown
    def from_json(cls, source: str | bytes | PathLike[str]) -> Self:
        """The result that `to_json` wrote: equal to it, undefined and infinite values included.

        Run time and plots are not in JSON.

        Parameters
        ----------
        source : str, bytes or path-like
            The text of `to_json`, or the path of a file of it: ``from_json(Path("report.json"))``.

        Raises
        ------
        ValueError
            The text is no JSON of such a result, or of another schema.
        """
        document = read_document(source, cls._noun, cls._items_key, cls._schema)
        try:
            return cls._of_document(document)
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"this JSON of a {cls._noun} is damaged: {type(error).__name__} {error}") from error

    @classmethod
    def _of_document(cls, document: dict[str, Any]) -> Self:
        raise NotImplementedError

    @answers_unknown
    def to_markdown(self, digits: int | None = None) -> str:
        """The table of ``print`` as Markdown, with its notes below it.

        Parameters
        ----------
        digits : int, optional
            Significant digits of the greatest value of a column; by default all digits.

        Returns
        -------
        str
            A table, as GitHub shows it.
        """
        if digits is not None:
            check_count(digits, "digits", 1, 17, "None for all digits")
        return str(render("markdown", render(f"{self._noun} document", self, digits)))

    def __str__(self) -> str:
        return str(render("text", render(f"{self._noun} document", self)))

    def __repr__(self) -> str:
        return str(render("text", render(f"{self._noun} document", self), MOST_ROWS_OF_REPR))

    def _repr_html_(self) -> str:
        """A table for notebooks. Its only color is a gray that is readable on light and dark pages."""
        return str(render("notebook", render(f"{self._noun} document", self)))


def canonical_metric(metric: str | Metric, model_role: str = SCORE_ROLE) -> str:
    """The canonical metric string. Other text is returned unchanged: no item has it."""
    from fastmetrics._core.registry import parse

    try:
        return str(parse(metric, (model_role,)))
    except (KeyError, TypeError, ValueError):
        return str(metric)


def near_value(items: Sequence[Any], wanted: Mapping[str, Any]) -> str:
    """The first wanted attribute that no item has, with the value that is like it; empty if there is none."""
    from difflib import get_close_matches

    for name, value in wanted.items():
        known = {plain_repr(getattr(item, name)): item for item in items}
        near = get_close_matches(plain_repr(value), known, n=1, cutoff=0.7)
        if value is not None and plain_repr(value) not in known and near:
            return f" with {name}={plain_repr(value)} (did you mean {name}={near[0]}?)"
    return ""


def count_matches(item: Any, wanted: Mapping[str, Any]) -> int:
    """How many of the wanted attributes the item has."""
    return sum(value in (None, getattr(item, name)) for name, value in wanted.items())


def plain_repr(value: Any) -> str:
    return repr(dict(value) if isinstance(value, Mapping) else value)


def tasks_as_dicts(tasks: Mapping[str, TaskRows]) -> dict[str, Any]:
    """The rows of tasks as plain Python for JSON; nothing if there are none."""
    return {"tasks": {name: task_as_dict(rows) for name, rows in tasks.items()}} if tasks else {}


def question_as_dict(question: Any) -> dict[str, Any]:
    """The question of a report for its JSON, under its key; a question that no file can hold says why."""
    if question is None:
        return {}
    try:
        return {"evaluation": question.to_dict()}
    except TypeError as error:
        return {"evaluation": None, "no_evaluation": str(error)}


def task_as_dict(rows: TaskRows) -> dict[str, Any]:
    fields = rows._asdict()
    if rows.filtered is None:
        del fields["filtered"]
    return {name: as_json_value(value) for name, value in fields.items()}


def about_of_document(document: dict[str, Any]) -> dict[str, Any]:
    """What reports and comparisons say of their rows, as arguments of `__init__`."""
    types = document.get("types", {})
    names = ("columns", "dropped", "bins", "small_slices", "notes")
    about = {name: restored(document[name], types.get(name)) for name in names if name in document}
    tasks = restored(document.get("tasks", {}))
    question = document.get("evaluation")
    return about | {
        "version": document["version"],
        "filtered": document.get("filtered"),
        "tasks": {name: TaskRows(**rows) for name, rows in tasks.items()},
        "evaluation": None if question is None else load(ENTRY_POINTS["question"]).from_dict(question),
    }


def check_count(value: Any, name: str, least: int, most: int, other: str) -> None:
    """ValueError unless the value is an integer in these bounds."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or not least <= int(value) <= most:
        raise ValueError(f"{name} must be an integer from {least} to {most}, or {other}; found {value!r}")
