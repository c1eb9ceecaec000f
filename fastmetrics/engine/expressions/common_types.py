"""Values that stand beside each other, in one type: numbers, dates and timestamps, and texts between quotes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from fastmetrics.engine.expressions.errors import ExpressionError
from fastmetrics.engine.expressions.parser import parse_time
from fastmetrics.engine.expressions.primitives import (
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    INSTANT,
    INT64_MAX,
    INT64_MIN,
    INTEGER,
    MAX_PRECISION,
    NULL,
    NUMBERS,
    TEXT,
    TIMESTAMP,
    UINT64_MAX,
    UNSIGNED,
    Primitive,
    ValueType,
)
from fastmetrics.engine.expressions.time_zones import instant_of
from fastmetrics.engine.expressions.tree import Call, Literal, Node, Number

DECIMAL_DIGITS = {INTEGER: 19, UNSIGNED: 20}  # of the decimal that holds every value
BOOL, INT, UINT, FLOAT = ValueType(BOOLEAN), ValueType(INTEGER), ValueType(UNSIGNED), ValueType(DOUBLE)
STRING = ValueType(TEXT)
CASTS = "cast one of them, such as cast(x as double)"


class CommonTypes:
    """Makes the primitives of one expression, and brings those of several nodes to a common type."""

    def __init__(self, text: str) -> None:
        self.text = text

    def check(self, node: Node) -> Primitive:
        """The primitive of a node of any kind."""
        raise NotImplementedError

    # -------------------------------------------------------------------------------------------------- helpers

    def refuse(self, node: Node, what: str) -> ExpressionError:
        return ExpressionError(what, self.text, node.place)

    def source(self, node: Node) -> str:
        return self.text[slice(*node.place)]

    def make(
        self, node: Node, operation: str, kind: ValueType, *arguments: Primitive, options: tuple[Any, ...] = ()
    ) -> Primitive:
        return Primitive(operation, kind, arguments, options)

    def wanted(self, node: Node, value: Primitive, what: str, *kinds: str) -> Primitive:
        """The value, which has to be of one of the kinds."""
        if value.kind not in (*kinds, NULL):
            raise self.refuse(node, f"{what} is wanted here; this is {value.type}")
        return value

    def check_arity(self, node: Call, least: int, most: int | None = None) -> list[Primitive]:
        most = least if most is None else most
        if not least <= len(node.arguments) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            raise self.refuse(node, f"{node.name} takes {wanted} arguments; found {len(node.arguments)}")
        return [self.check(argument) for argument in node.arguments]

    def literal(self, node: Node, value: Any) -> Primitive:
        if value is None:
            kind = ValueType(NULL)
        elif isinstance(value, bool):
            kind = BOOL
        elif isinstance(value, int):
            kind = self.integer_type(node, value)
        elif isinstance(value, Number):
            kind, value = FLOAT, float(value.text)
            if math.isinf(value):
                raise self.refuse(node, "the number is too large for a float64")
        elif isinstance(value, str):
            kind = STRING
        elif isinstance(value, datetime):
            kind = ValueType(TIMESTAMP if value.tzinfo is None else INSTANT)
        elif isinstance(value, date):
            kind = ValueType(DATE)
        else:
            raise self.refuse(node, "an interval is added to a date or a timestamp, or taken from one")
        return self.make(node, "literal", kind, options=(value,))

    def integer_type(self, node: Node, value: int) -> ValueType:
        if INT64_MIN <= value <= INT64_MAX:
            return INT
        if 0 <= value <= UINT64_MAX:
            return UINT
        digits = len(str(abs(value)))
        if digits > MAX_PRECISION:
            raise self.refuse(node, f"a number has at most {MAX_PRECISION} digits; write it with a point for a float64")
        return ValueType(DECIMAL, digits, 0)

    # -------------------------------------------------------------------------------------------- common types

    def to_double(self, node: Node, value: Primitive) -> Primitive:
        if value.kind in (DOUBLE, NULL):
            return value
        if value.is_literal:
            return self.make(node, "literal", FLOAT, options=(float(value.options[0]),))
        return self.make(node, "to_double", FLOAT, value)

    def to_decimal(self, node: Node, value: Primitive, kind: ValueType | None = None) -> Primitive:
        """An integer as a decimal, and a decimal with more digits."""
        if value.kind == NULL:
            return value
        own = value.type
        if value.is_literal and value.kind in (INTEGER, UNSIGNED):
            own = ValueType(DECIMAL, len(str(abs(value.options[0]))), 0)
        elif value.kind in DECIMAL_DIGITS:
            own = ValueType(DECIMAL, DECIMAL_DIGITS[value.kind], 0)
        own = own if kind is None else kind
        if value.is_literal:
            return self.make(node, "literal", own, options=(Decimal(value.options[0]),))
        return value if own == value.type else self.make(node, "to_decimal", own, value)

    def decimal_literal(self, node: Node) -> Primitive | None:
        """A number with a point as a decimal of its digits; None if it is none, or has an exponent."""
        if not isinstance(node, Literal) or not isinstance(node.value, Number) or "e" in node.value.text.lower():
            return None
        exact = Decimal(node.value.text)
        digits, exponent = exact.as_tuple().digits, int(exact.as_tuple().exponent)
        precision = max(len(digits), -exponent)
        if precision > MAX_PRECISION:
            return None
        return self.make(node, "literal", ValueType(DECIMAL, precision, -exponent), options=(exact,))

    def common_zone(self, values: Sequence[Primitive]) -> str:
        """The zone of all instants; UTC if they have several."""
        zones = {value.type.name for value in values if value.kind == INSTANT and not value.is_literal}
        return zones.pop() if len(zones) == 1 else ""

    def as_time(self, node: Node, value: Primitive, kind: str, zone: str = "") -> Primitive:
        """A text between quotes beside dates and timestamps, as one of them: beside instants a time of their zone."""
        if not value.is_literal or value.kind != TEXT:
            return value
        text = value.options[0]
        if kind == DATE and parse_time(text, "date") is None:
            kind = TIMESTAMP
        words = {DATE: "date", TIMESTAMP: "timestamp", INSTANT: "timestamptz"}
        found = parse_time(text, words[kind])
        if found is None:
            raise self.refuse(node, f"{text!r} is no {words[kind]}: write '2026-11-01' or '2026-11-01 12:00:00'")
        if kind == INSTANT and zone and isinstance(local := parse_time(text, "timestamp"), datetime):
            try:
                found = instant_of(local, zone, first=parse_time(text, "date") is not None)
            except OverflowError:
                raise self.refuse(node, f"the time is out of range in zone {zone}") from None
        return self.make(node, "literal", ValueType(kind), options=(found,))

    def to_timestamp(self, node: Node, value: Primitive) -> Primitive:
        if value.kind != DATE:
            return value
        if value.is_literal:
            midnight = datetime.combine(value.options[0], datetime.min.time())
            return self.make(node, "literal", ValueType(TIMESTAMP), options=(midnight,))
        return self.make(node, "to_timestamp", ValueType(TIMESTAMP), value)

    def unify(self, node: Node, nodes: Sequence[Node]) -> list[Primitive]:
        """The values of several nodes in one type."""
        values = [self.check(own) for own in nodes]
        kinds = {value.kind for value in values} - {NULL}
        if DECIMAL in kinds and DOUBLE in kinds:
            # A number with a point is a decimal beside decimals.
            values = [self.decimal_literal(own) or value for own, value in zip(nodes, values, strict=True)]
            kinds = {value.kind for value in values} - {NULL}
        times = [kind for kind in (INSTANT, TIMESTAMP, DATE) if kind in kinds]
        if times and TEXT in kinds:
            zone = self.common_zone(values)
            values = [self.as_time(own, value, times[0], zone) for own, value in zip(nodes, values, strict=True)]
            kinds = {value.kind for value in values} - {NULL}
        if BOOLEAN in kinds and INTEGER in kinds:
            values = [self.as_boolean(own, value) for own, value in zip(nodes, values, strict=True)]
            kinds = {value.kind for value in values} - {NULL}
        if len(kinds) <= 1 and kinds != {DECIMAL}:
            return values
        if kinds <= set(NUMBERS):
            return self.unify_numbers(node, nodes, values, kinds)
        if kinds == {DATE, TIMESTAMP}:
            return [self.to_timestamp(own, value) for own, value in zip(nodes, values, strict=True)]
        first, second = self.differing(values)
        advice = ""
        if kinds == {TIMESTAMP, INSTANT} or kinds == {DATE, INSTANT}:
            advice = ": say in which zone, cast(... as timestamptz) reads it as UTC"
        elif TEXT in kinds and kinds & set(NUMBERS):
            advice = ": write texts between quotes and numbers without, or cast"
        raise self.refuse(node, f"{first.type} and {second.type} do not fit each other{advice}")

    def differing(self, values: Sequence[Primitive]) -> tuple[Primitive, Primitive]:
        present = [value for value in values if value.kind != NULL]
        return present[0], next(value for value in present if value.kind != present[0].kind)

    def as_boolean(self, node: Node, value: Primitive) -> Primitive:
        """0 and 1 beside booleans, as booleans."""
        if value.is_literal and value.kind == INTEGER and value.options[0] in (0, 1):
            return self.make(node, "literal", BOOL, options=(bool(value.options[0]),))
        return value

    def unify_numbers(
        self, node: Node, nodes: Sequence[Node], values: list[Primitive], kinds: set[str]
    ) -> list[Primitive]:
        pairs = list(zip(nodes, values, strict=True))
        if DOUBLE in kinds:
            return [self.to_double(own, value) for own, value in pairs]
        if kinds == {INTEGER, UNSIGNED} and all(
            value.kind != INTEGER or (value.is_literal and value.options[0] >= 0) for value in values
        ):
            return [value._replace(type=UINT) if value.kind == INTEGER else value for value in values]
        decimals = [self.to_decimal(own, value) for own, value in pairs]
        present = [value.type for value in decimals if value.kind == DECIMAL]
        scale = max(kind.scale for kind in present)
        precision = max(kind.precision - kind.scale for kind in present) + scale
        if precision > MAX_PRECISION:
            raise self.refuse(node, f"a decimal of {precision} digits is needed, more than {MAX_PRECISION}: {CASTS}")
        common = ValueType(DECIMAL, precision, scale)
        return [self.to_decimal(own, value, common) for (own, _), value in zip(pairs, decimals, strict=True)]
