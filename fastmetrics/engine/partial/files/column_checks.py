"""The columns of stored rows: their types, and checks of numbers that a checksum does not make right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.columns.role_columns import is_allowed, stored_dtype
from fastmetrics._core.columns.row_blocks import (
    SCORE,
    WEIGHT,
    label_name,
    names_of,
    role_name,
    score_name,
    slice_code_name,
    vector_name,
)
from fastmetrics._core.exchange.hash_exchange import UNIT, HashExchange
from fastmetrics._core.kinds import ClassNumber, Distribution, Probability, Vector
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.tables.key_texts import TEXTS
from fastmetrics._kernels.columns import column_checks as kernels
from fastmetrics.engine.input.batch_validation import ColumnReader
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.partial.files.containers import require
from fastmetrics.engine.partial.part_state import PartState

if TYPE_CHECKING:
    from fastmetrics.engine.plan.column_names import ColumnNames
    from fastmetrics.engine.plan.metric_plan import Plan

SINGLE_SCORES = ("halffloat", "float")  # kept as float32; all other types as float64


def types_of_columns(part: PartState, exchange: HashExchange | None) -> dict[str, Any]:
    """The columns of the rows of an exchange beside their keys; without one, those of rows that only scores order."""
    names, kind = part.names, part.reader.label_kind
    label_dtype: Any = np.uint8 if part.plan.label_kinds.binary else np.float64
    if isinstance(kind, ClassNumber):
        label_dtype = stored_dtype(kind)
    n_labels = len(names.labels) or int(names.truth is not None)
    expected: dict[str, Any] = {label_name(number): label_dtype for number in range(n_labels)}
    for number, types in enumerate(part.types.of_models()):
        dtype = np.float32 if set(types) <= set(SINGLE_SCORES) and names.truth is None else np.float64
        scores = [score_name(number)]
        if part.reads_vectors:
            scores = [vector_name(score_name(number), entry) for entry in range(part.counts.n_classes or 0)]
        expected |= dict.fromkeys(scores, dtype)
    for role, _ in names.others:
        kind = part.plan.kinds.get(role)
        expected[role_name(role)] = np.int64 if kind is None else stored_dtype(kind)
    read = part.names
    if exchange is not None and exchange is part.group_exchange and read.unit not in (None, read.group):
        expected[UNIT] = np.uint64
    if names.weight is not None:
        expected[WEIGHT] = np.float64
    return expected | {slice_code_name(number): np.uint16 for number in range(len(part.slices.columns))}


def read_codes(slices: GroupingSets, columns: dict[str, np.ndarray], has_truth: bool) -> list[np.ndarray]:
    """The codes of rows. Every row of the log has to be in a slice of every grouping set."""
    found = codes = [columns[slice_code_name(number)] for number in range(len(slices.columns))]
    if has_truth:
        is_of_log = ~np.isnan(columns[score_name(0)])
        codes = [own[is_of_log] for own in codes]
        require(not any(own[~is_of_log].any() for own in found), "a row of truth is in a slice")
    for own, column in zip(slices.columns, codes, strict=True):
        require((column < len(own.values)).all(), "a code of a slice has no value")
    mark = slices.mark()
    for set_number in range(len(slices.sets)):
        slices.number_set(set_number, codes)
    if slices.mark() != mark:
        slices.restore(mark)
        require(False, "rows belong to slices that it does not count")
    return found


class ColumnChecks(NamedTuple):
    """Checks numbers that kernels use as indices, and numbers that they could not count with."""

    plan: Plan
    names: ColumnNames
    reader: ColumnReader
    n_classes: int

    def check(self, columns: dict[str, np.ndarray]) -> None:
        """Check the columns that are there."""
        plan, names, targets = self.plan, self.names, self.plan.label_kinds
        labels = [columns[name] for name in map(label_name, range(len(names.labels))) if name in columns]
        if isinstance(self.reader.model_kind, Vector):
            require(all(((own >= 0) & (own < self.n_classes)).all() for own in labels), "a label is of no class")
        elif targets.binary:
            require(all((column <= 1).all() for column in labels), "a label is neither 0 nor 1")
        else:
            require(all(np.isfinite(column).all() for column in labels), "a grade is not finite")
            least = 0 if targets.without_negative_grades else -np.inf
            require(all((column >= least).all() for column in labels), "a grade is negative")
            greatest, _ = self.reader.greatest_grade
            require(all((column <= greatest).all() for column in labels), "a grade is greater than its metrics take")
        scores = [columns[name] for name in names_of(columns, SCORE)]
        of_truth = [np.isnan(column) for column in scores]
        require(not any(own.any() for own in of_truth) or self.names.truth is not None, "a score is NaN")
        require(all((own == of_truth[0]).all() for own in of_truth[1:]), "a row is of the log and of truth")
        if isinstance(self.reader.model_kind, Distribution):
            require(all(is_allowed(Probability(), column) for column in scores), "a probability is out of range")
        for role in (role for role, _ in names.others if role_name(role) in columns):
            values = columns[role_name(role)]
            kind = plan.kinds.get(role)
            require(kind is None or is_allowed(kind, values), f"a number of role {role} is out of range")
            key_texts = self.reader.key_texts
            if role in key_texts.roles and key_texts.kind == TEXTS:
                require(((values >= 0) & (values < key_texts.size)).all(), f"a key of role {role} has no text")
        if WEIGHT in columns:
            weights = columns[WEIGHT]
            require(((weights > 0) & (weights <= kernels.MAX_WEIGHT)).all(), "a weight is out of range")
