"""Primitives as SQL for Spark.

The SQL means the same for every setting of a session: sums are checked whether ANSI mode is on or off, and times are
computed from microseconds or dates, never in the zone of the session.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from fastmetrics.engine.expressions.arrow_casts import DECIMAL_TEXT, FLOAT_TEXT, INTEGER_TEXT, describe, limits_of
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
    NULL,
    OTHER,
    TEXT,
    TIMESTAMP,
    UNSIGNED,
    Primitive,
    ValueType,
)

DAY, HOUR, MINUTE, SECOND = 86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000  # in microseconds
CLOCK = {"hour": HOUR, "minute": MINUTE, "second": SECOND}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
SIGNS = {
    "equal": "=", "not_equal": "<>", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
}  # fmt: skip
# Primitives that are a function of Spark, and those that are short SQL of their arguments and options.
FUNCTIONS = {"coalesce", "concat", "exp", "ln", "lower", "power", "upper"}
TEMPLATES = {
    "is_null": "({} is null)", "not": "(not {})", "divide": "({} / nullif({}, 0.0D))",
    "to_double": "cast({} as double)", "to_timestamp": "cast({} as timestamp_ntz)",
    "to_decimal": "cast({} as {type})", "length": "cast(char_length({}) as bigint)", "shift_days": "date_add({}, {})",
    "sqrt": "(case when {0} < 0.0D then null else sqrt({0}) end)",
}  # fmt: skip
ARITHMETIC = {"add": ("+", "try_add"), "subtract": ("-", "try_subtract"), "multiply": ("*", "try_multiply")}
# Marks the message of an error among what Spark says around it.
MARK = "fastmetrics::"
# Of these a value is null if an argument is, and never otherwise.
STRICT = {"add", "subtract", "multiply", "negate", "abs", "to_double", "to_decimal", "length"}
DATE_TEXT = r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}\z"
TIMESTAMP_TEXT = r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?\z"


def spark_type(data_type: Any) -> ValueType:
    """The type of a column's values in expressions, from Spark's type."""
    name = type(data_type).__name__
    if name == "DecimalType":
        return ValueType(DECIMAL, data_type.precision, data_type.scale)
    kinds = {
        "BooleanType": BOOLEAN, "ByteType": INTEGER, "ShortType": INTEGER, "IntegerType": INTEGER, "LongType": INTEGER,
        "FloatType": DOUBLE, "DoubleType": DOUBLE, "StringType": TEXT, "VarcharType": TEXT, "CharType": TEXT,
        "DateType": DATE, "TimestampType": INSTANT, "TimestampNTZType": TIMESTAMP, "NullType": NULL,
    }  # fmt: skip
    return ValueType(kinds[name]) if name in kinds else ValueType(OTHER, name=data_type.simpleString())


def to_spark_sql(value: Primitive, title: str, quote: Callable[[str], str]) -> str:
    """The SQL of a value. `title` begins the messages of errors, `quote` is the SQL of a column's name."""
    return Writer(title, quote).write(value)


def sql_type(kind: ValueType) -> str:
    names = {
        BOOLEAN: "boolean", INTEGER: "bigint", UNSIGNED: "decimal(20, 0)", DOUBLE: "double", TEXT: "string",
        DATE: "date", TIMESTAMP: "timestamp_ntz", INSTANT: "timestamp", NULL: "void",
    }  # fmt: skip
    return f"decimal({kind.precision}, {kind.scale})" if kind.kind == DECIMAL else names[kind.kind]


def text_literal(text: str) -> str:
    """A text in SQL that no setting of escapes changes."""
    if text.isascii() and text.isprintable() and not set(text) & {"'", "\\", "$"}:
        return f"'{text}'"
    return f"decode(unhex('{text.encode().hex()}'), 'utf-8')"


def without_zone(found: str) -> str:
    """An instant as the timestamp without a zone that it is in UTC."""
    seconds = f"cast(cast(unix_micros({found}) as decimal(20, 0)) / 1000000 as decimal(18, 6))"
    return f"(timestamp_ntz'1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, {seconds}))"


def call(function: str, *arguments: str) -> str:
    return f"{function}({', '.join(arguments)})"


class Writer:
    """Writes the primitives of one expression."""

    def __init__(self, title: str, quote: Callable[[str], str]) -> None:
        self.title = title
        self.quote = quote

    def write(self, value: Primitive) -> str:
        operation = value.operation.removesuffix("_mixed")
        if operation in SIGNS:
            return self.mixed(value) if operation != value.operation else self.compare(value)
        if operation in FUNCTIONS:
            return call(operation, *self.arguments(value))
        if operation in TEMPLATES:
            return TEMPLATES[operation].format(*self.arguments(value), *value.options, type=sql_type(value.type))
        if operation in ARITHMETIC:
            return self.arithmetic(value, *ARITHMETIC[operation])
        method: Callable[[Primitive], str] = getattr(self, f"write_{value.operation}")
        return method(value)

    def arguments(self, value: Primitive) -> list[str]:
        return [self.write(argument) for argument in value.arguments]

    def refuse(self, value: Primitive, what: str) -> str:
        """SQL that raises an error."""
        message = text_literal(f"{MARK}{self.title} has {what}{MARK}")
        return f"cast(raise_error({message}) as {sql_type(value.type)})"

    def checked(self, value: Primitive, found: str, what: str) -> str:
        """`found`, which is null although no argument is where a row is refused."""
        if "safe" in value.options:
            return found
        null = f"cast(null as {sql_type(value.type)})"
        missing = " or ".join(dict.fromkeys(test for own in value.arguments for test in self.null_tests(own)))
        return f"coalesce({found}, case when {missing or 'false'} then {null} else {self.refuse(value, what)} end)"

    def null_tests(self, value: Primitive) -> list[str]:
        """Tests of which one holds where a value is null."""
        if value.operation in STRICT:
            return [test for own in value.arguments for test in self.null_tests(own)]
        if value.is_literal and value.options[0] is not None:
            return []
        return [f"{self.write(value)} is null"]

    # ----------------------------------------------------------------------------------------- columns, literals

    def write_column(self, value: Primitive) -> str:
        name = self.quote(value.options[0])
        return f"cast({name} as {sql_type(value.type)})" if value.kind in (INTEGER, DOUBLE) else name

    def write_literal(self, value: Primitive) -> str:
        constant, kind = value.options[0], value.kind
        if constant is None:
            return f"cast(null as {sql_type(value.type)})"
        if kind == BOOLEAN:
            return "true" if constant else "false"
        if kind == TEXT:
            return text_literal(constant)
        if kind == DATE:
            return f"date'{constant.isoformat()}'"
        if kind == TIMESTAMP:
            return f"timestamp_ntz'{constant.isoformat(sep=' ')}'"
        if kind == INSTANT:
            return f"timestamp_micros({(constant - EPOCH) // MICROSECOND}L)"
        if kind == INTEGER and constant > INT64_MIN:
            return f"{constant}L" if constant >= 0 else f"(-{-constant}L)"
        text = repr(constant) if kind == DOUBLE else str(constant)
        return f"cast('{text}' as {sql_type(value.type)})"

    # ------------------------------------------------------------------------------------------------ comparisons

    def compare(self, value: Primitive) -> str:
        first, second = self.arguments(value)
        return f"({first} {SIGNS[value.operation]} {second})"

    def mixed(self, value: Primitive) -> str:
        """An integer with a float: rounded, and exactly where both are equal beyond 2**53."""
        whole, number = self.arguments(value)
        sign = SIGNS[value.operation.removesuffix("_mixed")]
        rounded = f"cast({whole} as double)"
        beyond = f"{number} >= 9223372036854775808.0D"  # which no integer reaches
        above = "true" if sign in ("<", "<=", "<>") else "false"
        unsure = f"{rounded} = {number} and abs({number}) >= 9007199254740992.0D"
        return (
            f"(case when {unsure} and {beyond} then {above} when {unsure} then {whole} {sign} cast({number} as bigint) "
            f"else {rounded} {sign} {number} end)"
        )

    def write_constant_unless_null(self, value: Primitive) -> str:
        (found,) = self.arguments(value)
        return f"(case when {found} is not null then {str(value.options[0]).lower()} end)"

    def write_in_set(self, value: Primitive) -> str:
        (found,) = self.arguments(value)
        kind = value.arguments[0].type
        literals = [self.write_literal(Primitive("literal", kind, (), (option,))) for option in value.options]
        return f"({found} in ({', '.join(literals)}))"

    def write_like(self, value: Primitive) -> str:
        (found,) = self.arguments(value)
        pieces = (f"!{piece[1:]}" if piece in ("=%", "=_", "=!") else piece[-1:] for piece in value.options[0])
        return f"({found} like {text_literal(''.join(pieces))} escape '!')"

    # ------------------------------------------------------------------------------------------------------ logic

    def write_and(self, value: Primitive) -> str:
        first, second = self.arguments(value)
        if value.arguments[1].can_fail():
            decided = f"{first} then true" if value.operation == "or" else f"{first} = false then false"
            return f"(case when {decided} else {first} {value.operation} {second} end)"
        return f"({first} {value.operation} {second})"

    write_or = write_and

    def write_case(self, value: Primitive) -> str:
        *pairs, default = self.arguments(value)
        whens = " ".join(
            f"when {condition} then {result}" for condition, result in zip(pairs[::2], pairs[1::2], strict=True)
        )
        return f"(case {whens} else {default} end)"

    # ------------------------------------------------------------------------------------------------- arithmetic

    def arithmetic(self, value: Primitive, sign: str, function: str) -> str:
        first, second = self.arguments(value)
        if value.kind == DOUBLE:
            return f"({first} {sign} {second})"
        if value.kind == DECIMAL:
            return f"cast({first} {sign} {second} as {sql_type(value.type)})"
        return self.checked(value, call(function, first, second), OVERFLOW)

    def write_negate(self, value: Primitive) -> str:
        (found,) = self.arguments(value)
        if value.kind == INTEGER:
            return self.checked(value, f"try_subtract(0L, {found})", OVERFLOW)
        return f"(-({found}))"

    def write_abs(self, value: Primitive) -> str:
        (found,) = self.arguments(value)
        if value.kind != INTEGER:
            return f"abs({found})"
        positive = f"(case when {found} >= 0L then {found} else try_subtract(0L, {found}) end)"
        return self.checked(value, positive, OVERFLOW)

    def write_int_divide(self, value: Primitive) -> str:
        first, second = self.arguments(value)
        if value.kind != INTEGER:
            return f"({first} div nullif({second}, 0))"
        least = f"cast('{INT64_MIN}' as bigint)"
        too_large = f"{second} = -1L and {first} = {least}"
        return f"(case when {too_large} then {self.refuse(value, OVERFLOW)} else {first} div nullif({second}, 0L) end)"

    def write_modulo(self, value: Primitive) -> str:
        first, second = self.arguments(value)
        return f"({first} % nullif({second}, {'0.0D' if value.kind == DOUBLE else '0L'}))"

    def write_floor(self, value: Primitive) -> str:
        """Spark's floor and ceil are integers, which large floats are not; these have no fraction."""
        (found,) = self.arguments(value)
        whole = f"cast({value.operation}({found}) as double)"
        return f"(case when abs({found}) < 4503599627370496.0D then {whole} else {found} end)"

    write_ceil = write_floor

    def write_round(self, value: Primitive) -> str:
        (found,) = self.arguments(value)
        power = f"{10 ** value.options[0]}.0D"
        return f"(round({found} * {power}, 0) / {power})" if value.options[0] else f"round({found}, 0)"

    # ------------------------------------------------------------------------------------------------------ texts

    def write_substr(self, value: Primitive) -> str:
        start, count = (None if own is None else min(own, (1 << 31) - 1) for own in value.options)
        return call("substring", *self.arguments(value), str(start), *([] if count is None else [str(count)]))

    # ------------------------------------------------------------------------------------------------------ times

    def day(self, value: Primitive) -> str:
        """The day of a time; of an instant, that in UTC."""
        found = self.write(value)
        if value.kind == DATE:
            return found
        if value.kind == TIMESTAMP:
            return f"cast({found} as date)"
        micros = f"unix_micros({found})"
        return f"date_from_unix_date(cast(({micros} - pmod({micros}, {DAY}L)) div {DAY}L as int))"

    def micros(self, value: Primitive) -> str:
        """Microseconds since 1970, of a time without a zone as if it were in UTC."""
        found = self.write(value)
        if value.kind == INSTANT:
            return f"unix_micros({found})"
        days = f"unix_date({self.day(value)}) * {DAY}L"
        if value.kind == DATE:
            return f"({days})"
        seconds = f"cast(extract(second from {found}) * 1000000 as bigint)"
        return f"({days} + hour({found}) * {HOUR}L + minute({found}) * {MINUTE}L + {seconds})"

    def write_to_local(self, value: Primitive) -> str:
        (found,), zone = self.arguments(value), text_literal(value.options[0])
        return without_zone(f"from_utc_timestamp({found}, {zone})")

    def write_from_local(self, value: Primitive) -> str:
        """The instant of a local time. Spark takes the earlier one of two; the later one has the offset of a day later.

        Only a local time that exists twice is also that of the second candidate.
        """
        zone = text_literal(value.options[0])
        micros = self.micros(value.arguments[0])
        local = f"timestamp_micros({micros})"
        earlier = f"to_utc_timestamp({local}, {zone})"
        if FIRST in value.options:
            return earlier
        next_day = f"unix_micros({earlier}) + {DAY}L"
        local_next_day = f"unix_micros(from_utc_timestamp(timestamp_micros({next_day}), {zone}))"
        later = f"timestamp_micros({micros} - ({local_next_day} - ({next_day})))"
        return f"(case when from_utc_timestamp({later}, {zone}) = {local} then {later} else {earlier} end)"

    def write_shift(self, value: Primitive) -> str:
        (micros,) = value.options
        if value.kind == INSTANT:
            return f"timestamp_micros({self.micros(value.arguments[0])} + ({micros}L))"
        seconds = f"cast('{micros // SECOND}.{micros % SECOND:06d}' as decimal(18, 6))"
        return f"({self.arguments(value)[0]} + make_dt_interval(0, 0, 0, {seconds}))"

    def write_date_trunc(self, value: Primitive) -> str:
        (unit,), (argument,) = value.options, value.arguments
        if unit in CLOCK and value.kind == INSTANT:
            micros = self.micros(argument)
            return f"timestamp_micros({micros} - pmod({micros}, {CLOCK[unit]}L))"
        if unit in CLOCK:
            found = self.write(argument)
            minutes = "0" if unit == "hour" else f"minute({found})"
            seconds = f"second({found})" if unit == "second" else "0"
            clock = f"make_dt_interval(0, hour({found}), {minutes}, {seconds})"
            return f"(cast(cast({found} as date) as timestamp_ntz) + {clock})"
        day = self.day(argument)
        first = day if unit == "day" else f"trunc({day}, '{unit}')"
        if value.kind == INSTANT:
            return f"timestamp_micros(unix_date({first}) * {DAY}L)"
        return f"cast({first} as {sql_type(value.type)})"

    def write_clock_trunc(self, value: Primitive) -> str:
        instant, local = map(self.micros, value.arguments)
        return f"timestamp_micros({instant} - pmod({local}, {CLOCK[value.options[0]]}L))"

    def write_extract(self, value: Primitive) -> str:
        (unit,), (argument,) = value.options, value.arguments
        if unit == "epoch":
            return f"(cast({self.micros(argument)} as double) / 1000000.0D)"
        if unit in CLOCK and argument.kind == INSTANT:
            larger = {"hour": DAY, "minute": HOUR, "second": MINUTE}[unit]
            return f"(pmod({self.micros(argument)}, {larger}L) div {CLOCK[unit]}L)"
        if unit in CLOCK:
            return f"cast({unit}({self.write(argument)}) as bigint)"
        day = self.day(argument)
        functions = {
            "week": "weekofyear({})", "dow": "dayofweek({}) - 1", "isodow": "weekday({}) + 1", "doy": "dayofyear({})",
        }  # fmt: skip
        return f"cast({functions.get(unit, unit + '({})').format(day)} as bigint)"

    # ------------------------------------------------------------------------------------------------------ casts

    def write_cast(self, value: Primitive) -> str:
        source, target = value.arguments[0], value.kind
        (found,) = self.arguments(value)
        if target in (TEXT,) or (source.kind, target) == (BOOLEAN, INTEGER):
            return f"cast({found} as {sql_type(value.type)})"
        if (source.kind, target) == (INTEGER, BOOLEAN):
            return f"({found} <> 0L)"
        if target == DATE and source.kind != TEXT:
            return self.day(source)
        if target == INSTANT:
            return f"timestamp_micros({self.micros(source)})"
        if target == TIMESTAMP and source.kind == INSTANT:
            return without_zone(found)
        return self.checked(value, self.admitted(value, found), f"a value that is no {describe(value)}")

    def admitted(self, value: Primitive, found: str) -> str:
        """The values that fit, null for others."""
        source, target = value.arguments[0], value.kind
        low, high = limits_of(value)
        if target == BOOLEAN:
            return f"(case {found} when 'true' then true when 'false' then false end)"
        converted = f"try_cast({found} as {sql_type(value.type)})"
        if source.kind == TEXT:
            patterns = {
                INTEGER: INTEGER_TEXT, DOUBLE: FLOAT_TEXT, DECIMAL: DECIMAL_TEXT, DATE: DATE_TEXT,
                TIMESTAMP: TIMESTAMP_TEXT,
            }  # fmt: skip
            converted = f"(case when {found} rlike {text_literal(patterns[target])} then {converted} end)"
        elif source.kind == DOUBLE:
            least = f"{found} >= {float(low)!r}D" if low == INT64_MIN else f"{found} > {float(low - 1)!r}D"
            converted = f"(case when {least} and {found} < {float(high + 1)!r}D then cast({found} as bigint) end)"
        if target != INTEGER or (low, high) == (INT64_MIN, INT64_MAX) or source.kind == DOUBLE:
            return converted
        return f"(case when {converted} between {low}L and {high}L then {converted} end)"


OVERFLOW = "a number that no 64-bit integer holds"

