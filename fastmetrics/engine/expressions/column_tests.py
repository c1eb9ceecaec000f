"""What a filter says about single columns: whether a row group or a file can have a row that the filter keeps.

Only conditions that are joined by AND and compare a column with constants are used. None of them holds for a null. An
answer "no" is certain; where bounds are unknown, or could mislead, as they leave out NaN, the answer is "perhaps".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.engine.expressions.primitives import BOOLEAN, COMPARED, DOUBLE, TEXT, Primitive, ValueType
from fastmetrics.engine.expressions.type_check import TURNED


class ColumnRange(NamedTuple):
    """What is known of a column's values in some rows: bounds of those that are not null, or that all are null."""

    low: Any = None
    high: Any = None
    all_null: bool = False


class ColumnTest(NamedTuple):
    """A condition on a column, which holds for no null. Without an `operation` it says only that."""

    column: str
    type: ValueType
    operation: str = ""
    constants: tuple[Any, ...] = ()

    def may_hold(self, found: ColumnRange) -> bool:
        """May the condition hold for a value in this range?"""
        if found.all_null:
            return False
        low, high = found.low, found.high
        if low is None or high is None or not self.operation:
            return True
        # NaN is in no bounds: it is greater than all floats, and different from them.
        has_hidden = self.type.kind == DOUBLE
        if self.operation == "equal":
            return any(low <= constant <= high for constant in self.constants)
        (constant,) = self.constants
        if self.operation == "not_equal":
            # Bounds of texts may be cut off.
            return has_hidden or self.type.kind == TEXT or not low == high == constant
        answers: dict[str, Callable[[], bool]] = {
            "less": lambda: low < constant, "less_equal": lambda: low <= constant,
            "greater": lambda: has_hidden or high > constant, "greater_equal": lambda: has_hidden or high >= constant,
        }  # fmt: skip
        return answers[self.operation]()


def tests_of(condition: Primitive) -> list[ColumnTest]:
    """The tests of which each has to hold for a row that a filter keeps."""
    operation, arguments = condition.operation, condition.arguments
    if operation == "and":
        return [test for argument in arguments for test in tests_of(argument)]
    if operation == "column" and condition.kind == BOOLEAN:
        return [ColumnTest(condition.options[0], condition.type, "equal", (True,))]
    if operation == "not":
        return tests_of_negation(arguments[0])
    if operation == "in_set" and arguments[0].operation == "column":
        return [ColumnTest(arguments[0].options[0], arguments[0].type, "equal", condition.options)]
    if operation in ("like", "constant_unless_null") and arguments[0].operation == "column":
        return [ColumnTest(arguments[0].options[0], arguments[0].type)]
    if operation in COMPARED:
        return tests_of_comparison(operation, *arguments)
    return []


def tests_of_negation(condition: Primitive) -> list[ColumnTest]:
    if not condition.arguments:
        if condition.operation == "column":
            return [ColumnTest(condition.options[0], condition.type, "equal", (False,))]
        return []
    argument = condition.arguments[0]
    if condition.operation in ("is_null", "in_set", "like") and argument.operation == "column":
        return [ColumnTest(argument.options[0], argument.type)]
    return []


def tests_of_comparison(operation: str, first: Primitive, second: Primitive) -> list[ColumnTest]:
    if first.is_literal:
        first, second, operation = second, first, TURNED.get(operation, operation)
    if first.operation != "column" or not second.is_literal or second.options[0] is None:
        return []
    return [ColumnTest(first.options[0], first.type, operation, second.options)]


def may_keep_rows(filters: Sequence[Sequence[ColumnTest]], range_of: Callable[[ColumnTest], ColumnRange]) -> bool:
    """May any of several filters keep a row, given the ranges of columns? A filter without tests may."""
    return any(all(test.may_hold(range_of(test)) for test in tests) for tests in filters)
