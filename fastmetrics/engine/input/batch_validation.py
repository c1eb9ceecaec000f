"""From record batches to validated rows: nulls, NaN, labels, weights, keys, and the policy for invalid rows.

Batches are validated one by one. Messages name a row by its number in the whole log.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, NoReturn, cast

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.columns.arrow_columns import EXACT_INTEGER, LISTS, entry_type, widened_epsilon
from fastmetrics._core.columns.group_keys import as_keys, keys_of_columns
from fastmetrics._core.columns.key_columns import Keys, NumberKeys, TupleKeys
from fastmetrics._core.columns.role_columns import Locate, read_classes, read_column, read_numbers
from fastmetrics._core.columns.row_blocks import RowBlock
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.kinds import ITEM_ROLE, LABEL_ROLE, Binary, ClassLabel, ClassNumber, Vector
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import compute, pyarrow
from fastmetrics._core.tables.key_texts import KeyTexts
from fastmetrics._kernels.columns import column_checks as kernels
from fastmetrics.engine.input.row_hashes import hash_arrays, hash_column
from fastmetrics.engine.input.row_selection import (
    SelectedBatch,
    may_be_dictionary,
)
from fastmetrics.engine.plan.column_names import (
    ROW_UNITS,
    ColumnNames,
    Key,
    describe_column,
    format_key,
    key_columns,
)
from fastmetrics.engine.plan.metric_plan import Plan, list_metric_names

FIRST_ROWS = 256
ADVICE_FOR_CLASSES = (
    "For labels of more classes name what the model predicts in place of score=: prediction='COLUMN' (--prediction "
    "COLUMN) of predicted labels, or probabilities=['COLUMN', ...] (--probabilities) with a column for each class; for "
    "one class against the rest: label=\"{} = CLASS\""
)


class ValidatedBatch(NamedTuple):
    """The valid rows of a batch, with the columns of one part of a plan.

    Attributes
    ----------
    columns : RowBlock or None
        None if no row is left.
    keys : Keys or None
        The group of every row.
    rows_read : int
        Rows of the batch before any was dropped.
    dropped : dict
        Reason -> dropped rows.
    filtered : int
        Rows that the filter left out, which are no dropped rows.
    label_kinds_seen : tuple of int
        SAW_ bits of every label column and of every other column of two classes; empty without a valid row.
    minus_one_rows : tuple of int or None
        The first row of the log with label -1, for every such column.
    unit_keys : Keys or None
        The resampling unit of every row.
    n_classes : int or None
        How many probabilities every row has, if metrics read probabilities of classes.
    sum_distances : tuple of float
        How far the probabilities of a row of every model are from the sum 1, at most, if that is noted; otherwise 0.
    differing : tuple of bool
        Whether every model has another value than the first one in any row; empty for one model.
    """

    columns: RowBlock | None
    keys: Keys | None
    rows_read: int
    dropped: dict[str, int]
    label_kinds_seen: tuple[int, ...] = ()
    minus_one_rows: tuple[int | None, ...] = ()
    unit_keys: Keys | None = None
    n_classes: int | None = None
    filtered: int = 0
    sum_distances: tuple[float, ...] = ()
    differing: tuple[bool, ...] = ()


class ColumnReader:
    """Reads and checks the columns of one part of a plan, in any order and by any thread."""

    def __init__(self, plan: Plan, names: ColumnNames, budget: MemoryBudget | None = None) -> None:
        self.plan = plan
        self.names = names
        roles = plan.key_roles if names.truth is None else (ITEM_ROLE,)
        self.key_texts = KeyTexts(roles, plan.takes_text_keys, budget)
        self.numerals: frozenset[str] = frozenset()  # the columns in which texts write numbers
        self.class_forms: set[tuple[str, str]] = set()  # whether columns of text files have numbers, texts, or both
        self.float_keys: set[str] = set()  # columns of keys with floats that may stand for several integers
        self.label_titles = tuple(describe_column(LABEL_ROLE, name) for name in names.labels)
        self.score_titles = tuple(describe_column(names.model_role, name) for name in names.scores)
        self.label_kinds = plan.label_kinds
        self.greatest_grade = self.label_kinds.greatest_grade
        self.label_kind = plan.kinds.get(LABEL_ROLE)
        self.model_kind = plan.kinds.get(names.model_role)

    def read(self, rows: SelectedBatch) -> ValidatedBatch:
        """The columns of selected rows."""
        if rows.kept == 0:
            return ValidatedBatch(None, None, rows.rows_read, rows.dropped, filtered=rows.filtered)
        names = self.names
        columns = RowBlock(
            (), (), first_row=rows.first_row, names=self.score_titles, row_numbers=rows.row_numbers,
            label_names=self.label_titles,
        )  # fmt: skip
        if self.plan.is_numeric:
            columns, seen, minus_one_rows, sum_distances = self.read_numbers(rows, columns)
        else:
            columns, seen, minus_one_rows = self.read_non_numeric(rows, columns)
            sum_distances = ()
        models: Sequence[Any] = columns.scores or columns.score_columns
        n_classes = models[0].shape[1] if isinstance(self.model_kind, Vector) else None
        columns = columns._replace(slice_codes=rows.slice_codes, weights=rows.weights)
        key_column = None if names.group is None else self.read_keys(rows, "group", names.group)
        unit_keys = self.read_unit_keys(rows, key_column, columns)
        if rows.present is not None:
            columns = select_present_rows(columns, rows.present)
            is_group = unit_keys is key_column
            key_column = None if key_column is None else key_column.select(rows.present)
            unit_keys = None if unit_keys is None else unit_keys.select(rows.present)
            unit_keys = key_column if is_group else unit_keys
        batch = ValidatedBatch(
            None, None, rows.rows_read, rows.dropped, seen, minus_one_rows, n_classes=n_classes, filtered=rows.filtered,
            sum_distances=sum_distances, differing=self.find_differing(rows),
        )  # fmt: skip
        return batch if columns.rows == 0 else batch._replace(columns=columns, keys=key_column, unit_keys=unit_keys)

    def find_differing(self, rows: SelectedBatch) -> tuple[bool, ...]:
        """Whether every model has another value than the first one in any row; empty for one model."""
        if len(self.names.scores) < 2:
            return ()
        is_dictionary = not self.plan.is_numeric and may_be_dictionary(self.plan.kind(self.names.model_role))
        models = [[rows.columns[name, is_dictionary] for name in key_columns(model)] for model in self.names.scores]
        return tuple(not all(map(has_same_values, models[0], own)) for own in models)

    def read_keys(self, rows: SelectedBatch, role: str, key: Key) -> Keys:
        """The keys of all rows, of one column or of several."""
        columns = key_columns(key)
        values = [rows.columns[name, False] for name in columns]
        if len(columns) == 1:
            keys = as_keys(values[0], describe_column(role, key))
        else:
            keys = keys_of_columns(list(zip(columns, values, strict=True)), role)
        for name, part in zip(columns, keys.parts if isinstance(keys, TupleKeys) else [keys], strict=False):
            if isinstance(part, NumberKeys) and part.dtype.kind == "f" and has_wide_floats(part.values):
                self.float_keys.add(name)
        return keys

    def read_unit_keys(self, rows: SelectedBatch, group_keys: Keys | None, columns: RowBlock) -> Keys | None:
        """The keys of resampling units. Rows as units have hashes of what is in their columns, but for slices."""
        unit = self.names.unit
        if unit is None or unit == self.names.group:
            return group_keys if unit is not None else None
        if unit != ROW_UNITS:
            return self.read_keys(rows, "unit", unit)
        arrays = list(columns._replace(slice_codes=()).arrays().values())
        if not self.plan.is_numeric:
            for role, names in ((LABEL_ROLE, self.names.labels), (self.names.model_role, self.names.scores)):
                is_coded = may_be_dictionary(self.plan.kind(role))
                arrays += [hash_column(rows.columns[name, is_coded]) for name in names]
        return NumberKeys(hash_arrays(arrays, rows.kept))

    def read_non_numeric(
        self, rows: SelectedBatch, columns: RowBlock
    ) -> tuple[RowBlock, tuple[int, ...], tuple[int | None, ...]]:
        """Label and score columns that are not numeric; their labels have no kinds to record."""
        names = self.names

        def read(role: str, name: str) -> Any:
            kind = self.plan.kind(role)
            column = rows.columns[name, may_be_dictionary(kind)]
            if self.numerals and isinstance(kind, ClassLabel):
                self.class_forms.update((name, form) for form in forms_of_labels(column, name in self.numerals))
            return read_column(kind, column, describe_column(role, name), rows.locate, name in self.numerals)

        columns = columns._replace(
            label_columns=tuple(read(LABEL_ROLE, name) for name in names.labels),
            score_columns=tuple(read(names.model_role, name) for name in names.scores),
        )
        if isinstance(self.plan.kind(names.model_role), ClassLabel):
            check_types_of_labels(names, columns)
        return columns, (0,) * len(names.labels), (None,) * len(names.labels)

    def check_class_forms(self) -> None:
        """Check that labels and predictions are not numbers on one side and texts on the other."""
        for label in self.names.labels:
            for model in self.names.scores:
                first, second = ({form for name, form in self.class_forms if name == own} for own in (label, model))
                if first and second and first.isdisjoint(second):
                    raise_other_types(label, first.pop(), model, second.pop())

    def read_numbers(
        self, rows: SelectedBatch, columns: RowBlock
    ) -> tuple[RowBlock, tuple[int, ...], tuple[int | None, ...], tuple[float, ...]]:
        """Label and score columns, the kinds of labels seen, the first row with label -1, and distances of sums."""
        names = self.names
        classes: list[tuple[np.ndarray, int, int | None]]
        if isinstance(self.label_kind, ClassNumber):
            # How many classes there are is known by the probabilities.
            scores, sum_distances = self.read_models(rows)
            classes = [(self.read_class_numbers(name, rows, scores), 0, None) for name in names.labels]
        else:
            classes = [self.read_label_column(rows, name) for name in names.labels]
            scores, sum_distances = self.read_models(rows)
        labels = tuple(column for column, _, _ in classes)
        eps = tuple(
            widened_epsilon([str(entry_type(rows.columns[name, False].type)) for name in key_columns(model)])
            for model in names.scores
        )
        others = {}
        for role, name in names.others:
            kind = self.plan.kinds.get(role)
            column = rows.columns[name, False]
            if isinstance(kind, Binary):
                classes.append(read_classes(column, describe_column(role, name), rows.locate))
                others[role] = classes[-1][0]
            elif kind is None or role in self.key_texts.roles:
                others[role] = self.key_texts.read(column, describe_column(role, name), rows.locate)
            else:
                others[role] = read_numbers(kind, column, describe_column(role, name), rows.locate)
        seen, minus_one_rows = tuple(kinds for _, kinds, _ in classes), tuple(row for _, _, row in classes)
        if names.truth is not None:  # the labels are in the rows of the truth, which have scores of this type
            labels = (np.zeros(rows.kept),)
            scores = tuple(own.astype(np.float64, copy=False) for own in scores)
        columns = columns._replace(labels=labels, scores=scores, eps=eps, others=others)
        return columns, seen, minus_one_rows, sum_distances

    def read_models(self, rows: SelectedBatch) -> tuple[tuple[np.ndarray, ...], tuple[float, ...]]:
        """The scores of every model, or its probabilities as a matrix, and `sum_distances` of a `ValidatedBatch`."""
        names, kind = self.names, self.model_kind
        if not isinstance(kind, Vector):
            return tuple(
                validation.as_scores(column, describe_column("score", name), rows.locate)
                for name, column in ((name, read_number_column(rows, "score", name)) for name in names.scores)
            ), ()
        from fastmetrics._core.columns.vector_columns import read_checked_matrix

        matrices, distances = [], []
        for model in names.scores:
            columns = [rows.columns[name, False] for name in key_columns(model)]
            each = [describe_column(names.model_role, name) for name in key_columns(model)]
            title = describe_column(names.model_role, model)
            matrix, distance = read_checked_matrix(kind, columns, each, title, rows.locate)
            self.check_length(matrix.shape[1], title, rows.locate)
            matrices.append(matrix)
            distances.append(distance)
        lengths = {format_key(own): matrix.shape[1] for own, matrix in zip(names.scores, matrices, strict=True)}
        if len(set(lengths.values())) > 1:
            found = ", ".join(f"{own!r}: {length}" for own, length in lengths.items())
            raise ValueError(f"models have {names.model_role} of different numbers of classes: {found}")
        return tuple(matrices), tuple(distances)

    def check_length(self, length: int, title: str, locate: Locate) -> None:
        """There are as many probabilities as the metrics name classes."""
        labels = self.label_kind.labels if isinstance(self.label_kind, ClassNumber) else None
        if labels is not None and len(labels) != length:
            from fastmetrics._core.columns.vector_columns import format_labels

            raise ValueError(
                f"there are {length} probabilities at row {locate(0)} of {title}, but labels={format_labels(labels)} "
                f"names {len(labels)} classes"
            )

    def read_class_numbers(self, name: str, rows: SelectedBatch, scores: tuple[np.ndarray, ...]) -> np.ndarray:
        """The number of the class of every row."""
        from fastmetrics._core.columns.label_columns import as_classes
        from fastmetrics._core.columns.vector_columns import propose_labels, read_class_numbers

        kind = cast("ClassNumber", self.label_kind)
        model, n_classes = self.names.scores[0], scores[0].shape[1]

        def advise(column: Any) -> str:
            labels = propose_labels(column, key_columns(model), n_classes)
            metric = self.plan.metrics[0].spec.base_name
            return f"name the labels in the order of the probabilities, {metric}(labels={labels})"

        column = rows.columns[name, True]
        found = as_classes(column, describe_column("label", name), rows.locate, name in self.numerals)
        return read_class_numbers(
            found, column, kind.labels, n_classes, describe_column("label", name), rows.locate, advise
        )

    def read_label_column(self, rows: SelectedBatch, name: str) -> tuple[np.ndarray, int, int | None]:
        """See `read_labels`. Where labels of two classes are needed, errors of others say how classes are given."""
        try:
            return self.read_labels(name, read_number_column(rows, LABEL_ROLE, name), rows.locate)
        except (validation.LabelError, validation.InputError) as error:
            kinds = self.label_kinds
            if not kinds.binary or kinds.shares_labels or not may_be_classes(rows.columns[name, False]):
                raise
            raise type(error)(f"{error}. {ADVICE_FOR_CLASSES.format(name)}") from error

    def read_labels(self, name: str, column: Any, locate: Locate) -> tuple[np.ndarray, int, int | None]:
        """Labels as uint8 (numbers if no metric needs classes), the kinds seen, and the first row with label -1.

        Grades become float64 whatever their type: blocks of all batches, files and states are put together.
        """
        title = describe_column("label", name)
        kinds = self.label_kinds
        if not kinds.binary:
            numbers = validation.as_numbers(column, title, locate)
            if not self.plan.keeps_rows:
                return numbers, 0, None
            if kinds.graded:
                self.check_grades(numbers, title, locate)
            return numbers.astype(np.float64, copy=False), 0, None
        explanation = kinds.explain_shared_labels() if kinds.shares_labels else None
        out, seen, minus_one_row = read_classes(column, title, locate, explanation)
        if kinds.graded:
            self.check_grades(out, title, locate)
        return out, seen, minus_one_row

    def check_grades(self, grades: np.ndarray, name: str, locate: Locate) -> None:
        """Check labels that are grades against the limits of the plan's metrics."""
        refusing = list_metric_names(self.label_kinds.without_negative_grades)

        validation.check_grades(grades, name, locate, refusing, *self.greatest_grade)


def check_types_of_labels(names: ColumnNames, columns: RowBlock) -> None:
    """Check that labels and predictions of a batch are of one type, and both lists or none."""
    from fastmetrics._core.columns.label_codes import common_type
    from fastmetrics._core.columns.label_columns import LabelSets

    def kind_of(column: Any) -> tuple[str, str]:
        return LISTS if isinstance(column, LabelSets) else "", column.type_name

    for label, own in zip(names.labels, map(kind_of, columns.label_columns), strict=True):
        for model, other in zip(names.scores, map(kind_of, columns.score_columns), strict=True):
            if own[0] != other[0] or common_type(own[1], other[1]) is None:
                raise_other_types(label, f"of type {''.join(own)}", model, f"of type {''.join(other)}")


def raise_other_types(label: str, label_type: str, prediction: Key, prediction_type: str) -> NoReturn:
    raise ValueError(
        f"labels of column {label!r} are {label_type}, and those of column {prediction!r} are {prediction_type}: both "
        "have to be of one type; cast one of the columns"
    )


def forms_of_labels(column: Any, are_numerals: bool) -> set[str]:
    """Whether labels are numbers or texts; some of the texts of text files write numbers."""
    from fastmetrics._core.columns.label_columns import NUMBER_TEXT

    if not are_numerals:
        return {"numbers" if pyarrow.types.is_integer(column.type) else "texts"}
    are_numbers = compute.match_substring_regex(column.unique(), NUMBER_TEXT).unique().to_pylist()
    return {"numbers" if found else "texts" for found in are_numbers}


def may_be_classes(column: Any) -> bool:
    """Is a column one of texts, or of whole numbers with others than -1 to 1?"""
    types = pyarrow.types
    if not (types.is_integer(column.type) or types.is_floating(column.type)):
        return not types.is_nested(column.type)
    numbers = validation.as_labels(column)
    return bool((numbers == np.floor(numbers)).all() and (np.abs(numbers) > 1).any())


def has_wide_floats(bits: np.ndarray) -> bool:
    """Whether keys that are floats reach 2**53: an integer that became a float may have been another one."""
    floats = bits.view(np.float64)
    return bool(floats.shape[0]) and bool(max(floats.max(), -floats.min()) >= EXACT_INTEGER)


def read_number_column(rows: SelectedBatch, role: str, name: str) -> Any:
    """A column that has a number in every row."""
    column = rows.columns[name, False]
    check_numbers(column, describe_column(role, name), name, rows.locate)
    return column


def check_numbers(column: Any, title: str, name: str, locate: Locate) -> None:
    """Raise TypeError for a column of texts, lists or structs where numbers are needed, and say what to type."""
    kind, types = column.type, pyarrow.types
    if types.is_string(kind) or types.is_large_string(kind):
        advice = f"if its texts are numbers, name the column as cast({name} as double)"
        found = f"{title} has {column[0].as_py()!r} at row {locate(0)}"
        raise validation.InputError(f"{found}: numbers are needed; {advice}")
    if types.is_struct(kind):
        fields = " or ".join(repr(f"{name}.{field.name}") for field in kind) if kind.num_fields else "a column"
        raise TypeError(f"{title} has Arrow type {kind}: name a field of it, {fields}")
    if types.is_nested(kind):
        raise TypeError(f"{title} has Arrow type {kind}: one number in every row is needed, not a list")


def select_present_rows(columns: RowBlock, present: np.ndarray) -> RowBlock:
    """The rows where `present` is true. `row_numbers` keeps their positions in the batch."""
    row_numbers = np.arange(present.shape[0]) if columns.row_numbers is None else columns.row_numbers
    return columns.move(itemgetter(present))._replace(row_numbers=row_numbers[present])


def mixes_zero_and_minus_one(label_kinds: int) -> bool:
    return bool(label_kinds & kernels.SAW_MINUS_ONE and label_kinds & kernels.SAW_ZERO)


def has_same_values(first: Any, other: Any) -> bool:
    """Are all values of two columns equal? Most differ in their first rows."""
    return first is other or (first[:FIRST_ROWS].equals(other[:FIRST_ROWS]) and first.equals(other))
