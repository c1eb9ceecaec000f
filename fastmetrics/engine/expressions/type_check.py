"""From a tree to primitives: types are checked, values are brought to common types, and shorthands are written out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal

from fastmetrics.engine.expressions.common_types import BOOL, CASTS, FLOAT, INT, STRING, CommonTypes
from fastmetrics.engine.expressions.primitives import (
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    FIRST,
    INSTANT,
    INT64_MAX,
    INT64_MIN,
    INTEGER,
    MAX_PRECISION,
    NULL,
    NUMBERS,
    OTHER,
    TEXT,
    TIMESTAMP,
    UINT64_MAX,
    UNSIGNED,
    Primitive,
    ValueType,
)
from fastmetrics.engine.expressions.time_zones import explain_zone, zone_of_column
from fastmetrics.engine.expressions.tree import SLICE_FUNCTIONS, Call, Column, Expression, Literal, Node, Number

COMPARISONS = {"=": "equal", "<>": "not_equal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"}
TURNED = {"less": "greater", "less_equal": "greater_equal", "greater": "less", "greater_equal": "less_equal"}
ARITHMETIC = {"+": "add", "-": "subtract", "*": "multiply"}
INTEGER_RANGES = {
    "tinyint": (-(1 << 7), (1 << 7) - 1), "smallint": (-(1 << 15), (1 << 15) - 1),
    "int": (-(1 << 31), (1 << 31) - 1), "bigint": (INT64_MIN, INT64_MAX),
}  # fmt: skip
EXACT_FLOATS = 1 << 53
TIMES = (DATE, TIMESTAMP, INSTANT)
CLOCK_UNITS = ("hour", "minute", "second")
MAX_ROUND_DIGITS = 15
MICROSECOND = timedelta(microseconds=1)
MIXED_SIGNS = "// is of integers that are all signed, or all unsigned"
CASTS_FROM = {
    BOOLEAN: (INTEGER, DOUBLE, TEXT),
    INTEGER: (INTEGER, DOUBLE, DECIMAL, TEXT, BOOLEAN),
    UNSIGNED: (INTEGER, DOUBLE, DECIMAL, TEXT),
    DOUBLE: (INTEGER,),
    DECIMAL: (INTEGER, DOUBLE, DECIMAL),
    TEXT: (INTEGER, DOUBLE, DECIMAL, DATE, TIMESTAMP, BOOLEAN),
    DATE: (TIMESTAMP, INSTANT, TEXT),
    TIMESTAMP: (DATE, INSTANT),
    INSTANT: (DATE, TIMESTAMP),
}


def check_types(expression: Expression, type_of: Callable[[str], ValueType]) -> Primitive:
    """The primitives of an expression; `type_of` gives the type of a column.

    Raises
    ------
    ExpressionError
        Types that do not fit; the message shows the place.
    """
    return Checker(expression.text, type_of).check(expression.root)


class Checker(CommonTypes):
    """Checks the nodes of one expression."""

    def __init__(self, text: str, type_of: Callable[[str], ValueType]) -> None:
        super().__init__(text)
        self.type_of = type_of

    def check(self, node: Node) -> Primitive:
        if isinstance(node, Column):
            return self.column(node)
        if isinstance(node, Literal):
            return self.literal(node, node.value)
        if node.name in COMPARISONS:
            return self.compare(node, COMPARISONS[node.name], *node.arguments)
        if node.name in ARITHMETIC:
            return self.arithmetic(node)
        return self.checker(node)(node)

    def column(self, node: Column) -> Primitive:
        """A column; a timestamp without a zone that is an instant for the caller, as one."""
        found = self.type_of(node.name)
        if found.kind == INSTANT and found.name and (wrong := explain_zone(found.name, of_column=True)) is not None:
            raise self.refuse(node, f"the column has a zone that is not known: {wrong}; cast it to another zone")
        if found.kind != TIMESTAMP or not found.name:
            return Primitive("column", found, (), (node.name,))
        column = Primitive("column", ValueType(TIMESTAMP), (), (node.name,))
        return self.make(node, "cast", ValueType(INSTANT, name=zone_of_column(found.name)), column)

    def checker(self, node: Call) -> Callable[[Call], Primitive]:
        methods: dict[str, Callable[[Call], Primitive]] = {
            "and": self.logic, "or": self.logic, "not": self.logic, "is null": self.is_null, "is": self.is_boolean,
            "is same": self.is_same, "is distinct": self.is_same, "in": self.in_list, "between": self.between,
            "like": self.like, "case": self.case, "coalesce": self.coalesce, "nullif": self.nullif,
            "greatest": self.extreme, "least": self.extreme, "/": self.divide, "//": self.int_divide,
            "%": self.modulo, "negate": self.negate, "abs": self.negate, "round": self.round, "floor": self.round,
            "ceil": self.round, "exp": self.mathematics, "ln": self.mathematics, "sqrt": self.mathematics,
            "power": self.mathematics, "length": self.of_text, "lower": self.of_text, "upper": self.of_text,
            "substr": self.substr, "concat": self.concat, "date_trunc": self.date_part, "extract": self.date_part,
            "cast": self.cast, "try_cast": self.cast, "at time zone": self.at_time_zone,
        }  # fmt: skip
        if node.name in SLICE_FUNCTIONS:
            raise self.refuse(node, f"{node.name} divides rows into slices: it stands alone in by=")
        if node.name not in methods:
            raise self.refuse(node, f"a {node.name} is no value of a row")
        return methods[node.name]

    # -------------------------------------------------------------------------------------------- comparisons

    def compare(self, node: Node, operation: str, left: Node, right: Node) -> Primitive:
        values = self.check(left), self.check(right)
        kinds = [value.kind for value in values]
        if OTHER in kinds:
            bad = left if kinds[0] == OTHER else right
            raise self.refuse(bad, f"values of type {values[kinds.index(OTHER)].type} are not compared")
        if DOUBLE in kinds and set(kinds) & {INTEGER, UNSIGNED}:
            if kinds[0] == DOUBLE:
                return self.compare_mixed(node, TURNED.get(operation, operation), (right, left), *reversed(values))
            return self.compare_mixed(node, operation, (left, right), *values)
        first, second = self.unify(node, (left, right))
        return self.make(node, operation, BOOL, first, second)

    def compare_mixed(
        self, node: Node, operation: str, nodes: tuple[Node, Node], whole: Primitive, number: Primitive
    ) -> Primitive:
        """An integer with a float, exactly: large integers are not floats."""
        left, right = nodes
        if whole.is_literal and abs(whole.options[0]) <= EXACT_FLOATS:
            turned = TURNED.get(operation, operation)
            return self.make(node, turned, BOOL, number, self.to_double(left, whole))
        if number.is_literal:
            written = right.value if isinstance(right, Literal) else None
            exact = Decimal(written.text if isinstance(written, Number) else number.options[0])
            return self.compare_with_number(node, operation, whole, exact)
        if whole.kind == UNSIGNED:
            whole = self.to_double(left, whole)
            return self.make(node, operation, BOOL, whole, number)
        return self.make(node, f"{operation}_mixed", BOOL, whole, number)

    def compare_with_number(self, node: Node, operation: str, whole: Primitive, number: Decimal) -> Primitive:
        """Integers with a number that has a point, as integers with an integer."""
        low, high = (INT64_MIN, INT64_MAX) if whole.kind == INTEGER else (0, UINT64_MAX)
        if operation in ("equal", "not_equal"):
            fits = low <= number <= high and number == int(number)
            bound = int(number) if fits else 0
        else:
            upwards = operation in ("less", "greater_equal")
            in_range = abs(number) < 2 * UINT64_MAX  # a number with a large exponent has too many digits
            bound = (math.ceil(number) if upwards else math.floor(number)) if in_range else high + 1
            fits = in_range and low <= bound <= high
        if fits:
            literal = self.make(node, "literal", whole.type, options=(bound,))
            return self.make(node, operation, BOOL, whole, literal)
        true_above = operation in ("less", "less_equal", "not_equal")
        true_below = operation in ("greater", "greater_equal", "not_equal")
        answer = true_above if number > 0 else true_below
        return self.make(node, "constant_unless_null", BOOL, whole, options=(answer,))

    def between(self, node: Call) -> Primitive:
        value, low, high = node.arguments
        above = self.compare(node, "greater_equal", value, low)
        return self.make(node, "and", BOOL, above, self.compare(node, "less_equal", value, high))

    def in_list(self, node: Call) -> Primitive:
        value, *candidates = node.arguments
        compared = [self.compare(node, "equal", value, candidate) for candidate in candidates]
        constants = [own.arguments[1] for own in compared if own.operation == "equal"]
        present = [own for own in constants if own.kind != NULL]
        sets = (TEXT, INTEGER, UNSIGNED, DATE)
        subjects = {own.arguments[0] for own in compared if own.arguments and own.arguments[0].kind != NULL}
        is_set = len(constants) == len(compared) and len(subjects) == 1 and bool(present) and present[0].kind in sets
        if is_set and all(own.is_literal and own.type == present[0].type for own in present):
            (subject,) = subjects
            found = self.make(node, "in_set", BOOL, subject, options=tuple(own.options[0] for own in present))
            if len(present) == len(constants):
                return found
            return self.make(node, "or", BOOL, found, self.make(node, "literal", BOOL, options=(None,)))
        joined = compared[0]
        for other in compared[1:]:
            joined = self.make(node, "or", BOOL, joined, other)
        return joined

    def is_same(self, node: Call) -> Primitive:
        left, right = node.arguments
        equal = self.compare(node, "equal", left, right)
        both = [self.make(node, "is_null", BOOL, self.check(own)) for own in (left, right)]
        # Equal, or both null. `equal` is null if one is.
        known = self.make(node, "coalesce", BOOL, equal, self.make(node, "literal", BOOL, options=(False,)))
        same = self.make(node, "or", BOOL, known, self.make(node, "and", BOOL, *both))
        return same if node.name == "is same" else self.make(node, "not", BOOL, same)

    def like(self, node: Call) -> Primitive:
        value = self.wanted(node.arguments[0], self.check(node.arguments[0]), "a text", TEXT)
        return self.make(node, "like", BOOL, value, options=node.options)

    # -------------------------------------------------------------------------------------------------- logic

    def condition(self, node: Node) -> Primitive:
        value = self.check(node)
        if value.kind in (BOOLEAN, NULL):
            return value
        advice = f"; write {self.source(node)} <> 0" if value.kind in NUMBERS else ""
        raise self.refuse(node, f"a condition is wanted here; this is {value.type}{advice}")

    def logic(self, node: Call) -> Primitive:
        return self.make(node, node.name, BOOL, *map(self.condition, node.arguments))

    def is_null(self, node: Call) -> Primitive:
        return self.make(node, "is_null", BOOL, self.check(node.arguments[0]))

    def is_boolean(self, node: Call) -> Primitive:
        value = self.condition(node.arguments[0])
        otherwise = self.make(node, "literal", BOOL, options=(False,))
        wanted = value if node.options[0] else self.make(node, "not", BOOL, value)
        return self.make(node, "coalesce", BOOL, wanted, otherwise)

    def case(self, node: Call) -> Primitive:
        conditions = [self.condition(own) for own in node.arguments[:-1:2]]
        values = self.unify(node, [*node.arguments[1:-1:2], node.arguments[-1]])
        pairs = [own for pair in zip(conditions, values, strict=False) for own in pair]
        return self.make(node, "case", self.type_of_values(values), *pairs, values[-1])

    def type_of_values(self, values: Sequence[Primitive]) -> ValueType:
        found = next((value.type for value in values if value.kind != NULL), ValueType(NULL))
        return ValueType(INSTANT, name=self.common_zone(values)) if found.kind == INSTANT else found

    def coalesce(self, node: Call) -> Primitive:
        values = self.unify(node, node.arguments)
        return self.make(node, "coalesce", self.type_of_values(values), *values)

    def nullif(self, node: Call) -> Primitive:
        self.check_arity(node, 2)
        value = self.check(node.arguments[0])
        equal = self.compare(node, "equal", *node.arguments)
        null = self.make(node, "literal", ValueType(NULL), options=(None,))
        return self.make(node, "case", value.type, equal, null, value)

    def extreme(self, node: Call) -> Primitive:
        """The greatest or the least of the values that are not null."""
        values = self.unify(node, node.arguments)
        kind = self.type_of_values(values)
        if kind.kind in (BOOLEAN, OTHER):
            raise self.refuse(node, f"{node.name} is of numbers, texts or times; this is {kind}")
        operation = "greater_equal" if node.name == "greatest" else "less_equal"
        found = values[0]
        for other in values[1:]:
            wins = self.make(node, operation, BOOL, found, other)
            missing = self.make(node, "is_null", BOOL, other)
            found = self.make(node, "case", kind, self.make(node, "or", BOOL, wins, missing), found, other)
        return found

    # --------------------------------------------------------------------------------------------- arithmetic

    def numbers(self, node: Call, *nodes: Node) -> list[Primitive]:
        return [self.wanted(own, self.check(own), "a number", *NUMBERS) for own in nodes]

    def arithmetic(self, node: Call) -> Primitive:
        left, right = node.arguments
        for own, other in ((right, left), (left, right)):
            if isinstance(own, Literal) and isinstance(own.value, timedelta):
                if node.name == "*" or (node.name == "-" and own is left):
                    raise self.refuse(node, "an interval is added to a date or a timestamp, or taken from one")
                return self.shift(node, other, own.value if node.name == "+" else -own.value)
        self.numbers(node, left, right)
        values = self.unify_operands(node, left, right)
        kind = self.type_of_values(values)
        if kind.kind == DECIMAL:
            kind = self.decimal_result(node, *values)
        return self.make(node, ARITHMETIC[node.name], kind, *values)

    def unify_operands(self, node: Call, left: Node, right: Node) -> list[Primitive]:
        """Operands of one kind. Decimals keep their own digits: only sums need one scale."""
        nodes = (left, right)
        values = [self.check(own) for own in nodes]
        kinds = {value.kind for value in values} - {NULL}
        if node.name != "*" or DECIMAL not in kinds:
            return self.unify(node, nodes)
        if DOUBLE in kinds:
            values = [self.decimal_literal(own) or value for own, value in zip(nodes, values, strict=True)]
            if any(value.kind == DOUBLE for value in values):
                return [self.to_double(own, value) for own, value in zip(nodes, values, strict=True)]
        return [self.to_decimal(own, value) for own, value in zip(nodes, values, strict=True)]

    def decimal_result(self, node: Call, left: Primitive, right: Primitive) -> ValueType:
        one = left.type if left.kind == DECIMAL else right.type
        two = right.type if right.kind == DECIMAL else one
        if node.name == "*":
            precision, scale = one.precision + two.precision + 1, one.scale + two.scale
        else:
            scale = max(one.scale, two.scale)
            precision = max(one.precision - one.scale, two.precision - two.scale) + scale + 1
        if precision > MAX_PRECISION:
            raise self.refuse(node, f"the result needs {precision} digits, more than {MAX_PRECISION}: {CASTS}")
        return ValueType(DECIMAL, precision, scale)

    def divide(self, node: Call) -> Primitive:
        numbers = zip(node.arguments, self.numbers(node, *node.arguments), strict=True)
        return self.make(node, "divide", FLOAT, *(self.to_double(own, value) for own, value in numbers))

    def int_divide(self, node: Call) -> Primitive:
        values = self.numbers(node, *node.arguments)
        for own, value in zip(node.arguments, values, strict=True):
            if value.kind not in (INTEGER, UNSIGNED, NULL):
                raise self.refuse(own, f"// is of integers; this is {value.type}: write floor(a / b)")
        values = self.unify(node, node.arguments)
        kind = self.type_of_values(values)
        if kind.kind == DECIMAL:
            raise self.refuse(node, f"{MIXED_SIGNS}: cast one of them")
        return self.make(node, "int_divide", kind, *values)

    def modulo(self, node: Call) -> Primitive:
        self.numbers(node, *node.arguments)
        values = self.unify(node, node.arguments)
        kind = self.type_of_values(values)
        if kind.kind == DECIMAL:
            raise self.refuse(node, f"% is of integers and floats; this is {kind}: {CASTS}")
        return self.make(node, "modulo", kind, *values)

    def negate(self, node: Call) -> Primitive:
        (value,) = self.check_arity(node, 1)
        self.wanted(node.arguments[0], value, "a number", *NUMBERS)
        if value.kind == UNSIGNED:
            if node.name == "abs":
                return value
            value = self.to_decimal(node, value)
        return self.make(node, node.name, value.type, value)

    def round(self, node: Call) -> Primitive:
        value, *digits = self.check_arity(node, 1, 2 if node.name == "round" else 1)
        self.wanted(node.arguments[0], value, "a number", *NUMBERS)
        n_digits = 0
        if digits:
            n_digits = self.constant(node.arguments[1], 0, MAX_ROUND_DIGITS)
        if value.kind in (INTEGER, UNSIGNED, NULL):
            return value
        if value.kind == DECIMAL:
            raise self.refuse(node, f"{node.name} is of floats; this is {value.type}: {CASTS}")
        return self.make(node, node.name, FLOAT, value, options=(n_digits,) if node.name == "round" else ())

    def constant(self, node: Node, least: int, most: int) -> int:
        if not isinstance(node, Literal) or type(node.value) is not int or not least <= node.value <= most:
            raise self.refuse(node, f"a whole number from {least} to {most} is wanted here")
        return node.value

    def mathematics(self, node: Call) -> Primitive:
        values = self.check_arity(node, 2 if node.name == "power" else 1)
        doubles = [
            self.to_double(own, self.wanted(own, value, "a number", *NUMBERS))
            for own, value in zip(node.arguments, values, strict=True)
        ]
        return self.make(node, node.name, FLOAT, *doubles)

    # -------------------------------------------------------------------------------------------------- texts

    def of_text(self, node: Call) -> Primitive:
        (value,) = self.check_arity(node, 1)
        self.wanted(node.arguments[0], value, "a text", TEXT)
        return self.make(node, node.name, INT if node.name == "length" else STRING, value)

    def substr(self, node: Call) -> Primitive:
        value, *_ = self.check_arity(node, 2, 3)
        self.wanted(node.arguments[0], value, "a text", TEXT)
        start = self.constant(node.arguments[1], 1, INT64_MAX)
        length = self.constant(node.arguments[2], 0, INT64_MAX) if len(node.arguments) > 2 else None
        return self.make(node, "substr", STRING, value, options=(start, length))

    def concat(self, node: Call) -> Primitive:
        values = [self.wanted(own, self.check(own), "a text", TEXT) for own in node.arguments]
        return self.make(node, "concat", STRING, *values)

    # -------------------------------------------------------------------------------------------------- times

    def shift(self, node: Call, moved: Node, interval: timedelta) -> Primitive:
        """A date or a timestamp moved by an interval."""
        value = self.wanted(moved, self.check(moved), "a date or a timestamp", *TIMES)
        if value.kind == DATE and interval % timedelta(days=1):
            value = self.to_timestamp(moved, value)
        if value.is_literal and value.kind != NULL:
            try:
                return self.literal(node, value.options[0] + interval)
            except OverflowError:
                raise self.refuse(node, "the time is out of range") from None
        if value.kind == DATE:
            return self.make(node, "shift_days", value.type, value, options=(interval.days,))
        return self.make(node, "shift", value.type, value, options=(interval // MICROSECOND,))

    def at_time_zone(self, node: Call) -> Primitive:
        """An instant as the local time of a zone, or a local time of that zone as an instant."""
        (value,) = self.check_arity(node, 1)
        if value.kind == DATE:
            raise self.refuse(node, "a date has no hour in a zone: cast it to timestamp first")
        self.wanted(node.arguments[0], value, "a timestamp", TIMESTAMP, INSTANT)
        if value.kind == NULL:
            return value
        name, kind = ("to_local", TIMESTAMP) if value.kind == INSTANT else ("from_local", INSTANT)
        return self.make(node, name, ValueType(kind), value, options=node.options)

    def to_local(self, node: Node, value: Primitive) -> Primitive:
        """An instant as the local time of its zone; other values as they are."""
        if value.kind != INSTANT or not value.type.name or value.is_literal:
            return value
        return self.make(node, "to_local", ValueType(TIMESTAMP), value, options=(value.type.name,))

    def date_part(self, node: Call) -> Primitive:
        value = self.wanted(node.arguments[0], self.check(node.arguments[0]), "a date or a timestamp", *TIMES)
        (unit,) = node.options
        local = self.to_local(node, value)
        if local is not value and node.name == "date_trunc":
            if unit in CLOCK_UNITS:
                return self.make(node, "clock_trunc", value.type, value, local, options=node.options)
            first = self.make(node, "date_trunc", local.type, local, options=node.options)
            return self.make(node, "from_local", value.type, first, options=(value.type.name, FIRST))
        if unit != "epoch":
            value = local
        if value.kind == DATE and unit in CLOCK_UNITS:
            if node.name == "date_trunc":
                raise self.refuse(node, f"a date has no {unit}: cast it to timestamp")
            value = self.to_timestamp(node.arguments[0], value)
        if node.name == "date_trunc":
            return self.make(node, "date_trunc", value.type, value, options=node.options)
        return self.make(node, "extract", FLOAT if unit == "epoch" else INT, value, options=node.options)

    # -------------------------------------------------------------------------------------------------- casts

    def cast(self, node: Call) -> Primitive:
        inner = node.arguments[0]
        value = self.check(inner)
        word = node.options[0]
        safe = ("safe",) if node.name == "try_cast" else ()
        target = self.target(node)
        if value.kind == NULL:
            return self.make(node, "literal", target, options=(None,))
        if value.kind == target.kind and value.kind != DECIMAL and word not in INTEGER_RANGES:
            return value
        if target.kind in (DATE, TIMESTAMP) and (local := self.to_local(inner, value)) is not value:
            return local if target.kind == TIMESTAMP else self.make(node, "cast", target, local, options=safe)
        allowed = CASTS_FROM.get(value.kind, ())
        if target.kind not in allowed:
            can = ", ".join(allowed) or "nothing"
            raise self.refuse(node, f"{value.type} is not cast to {word}; it is cast to {can}")
        if target.kind == DOUBLE and value.kind != TEXT:
            return self.to_double(inner, value) if value.kind != BOOLEAN else self.make(node, "to_double", FLOAT, value)
        if target.kind == TIMESTAMP and value.kind == DATE:
            return self.to_timestamp(inner, value)
        limits = INTEGER_RANGES.get(word, ())
        return self.make(node, "cast", target, value, options=(*safe, *limits))

    def target(self, node: Call) -> ValueType:
        word, *numbers = node.options
        kinds = {
            "boolean": BOOLEAN, "double": DOUBLE, "text": TEXT, "date": DATE, "timestamp": TIMESTAMP,
            "timestamptz": INSTANT,
        }  # fmt: skip
        if word == "decimal":
            precision, scale = numbers[0], numbers[1] if len(numbers) > 1 else 0
            if not 1 <= precision <= MAX_PRECISION or not 0 <= scale <= precision:
                raise self.refuse(
                    node, f"a decimal has 1 to {MAX_PRECISION} digits, and at most as many behind the point"
                )
            return ValueType(DECIMAL, precision, scale)
        return ValueType(kinds.get(word, INTEGER))
