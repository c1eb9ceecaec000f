"""From SQL text to a tree. sqlglot reads the text; whatever it knows beyond our grammar is refused, with the place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from functools import cache, lru_cache
from typing import Any

from fastmetrics._core.optional_imports import import_extra
from fastmetrics.engine.expressions.errors import ExpressionError
from fastmetrics.engine.expressions.time_zones import explain_zone
from fastmetrics.engine.expressions.tree import SLICE_FUNCTIONS, Call, Column, Expression, Literal, Node, Number, Place
from fastmetrics.engine.expressions.typed_words import TIME_PARTS, check_words, explain_function

MAX_CHARACTERS = 20_000
MAX_DEPTH = 200

# Classes of sqlglot -> our operators of two operands.
OPERATORS = {
    "Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "IntDiv": "//", "Mod": "%", "EQ": "=", "NEQ": "<>", "LT": "<",
    "LTE": "<=", "GT": ">", "GTE": ">=", "And": "and", "Or": "or", "DPipe": "concat", "NullSafeEQ": "is same",
    "NullSafeNEQ": "is distinct", "Pow": "power",
}  # fmt: skip
# Classes of sqlglot -> our functions; what a class holds beside `this`, `expression` and `expressions` is listed.
FUNCTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Abs": ("abs", ()), "Ceil": ("ceil", ()), "Exp": ("exp", ()), "Floor": ("floor", ()), "Ln": ("ln", ()),
    "Round": ("round", ("decimals",)), "Sqrt": ("sqrt", ()), "Coalesce": ("coalesce", ()), "Nullif": ("nullif", ()),
    "Greatest": ("greatest", ()), "Least": ("least", ()), "Length": ("length", ()), "Lower": ("lower", ()),
    "Upper": ("upper", ()), "Substring": ("substr", ("start", "length")), "Concat": ("concat", ()),
    "Pow": ("power", ()),
}  # fmt: skip
# Arguments of sqlglot's classes that only say how another dialect writes them.
FLAGS = {"safe", "coalesce", "ignore_nulls", "big_int", "typed", "integer", "negate", "requires_string", "nested"}
TYPES = {
    "BOOLEAN": "boolean", "TINYINT": "tinyint", "SMALLINT": "smallint", "INT": "int", "BIGINT": "bigint",
    "FLOAT": "double", "DOUBLE": "double", "DECIMAL": "decimal", "VARCHAR": "text", "TEXT": "text", "CHAR": "text",
    "DATE": "date", "TIMESTAMP": "timestamp", "TIMESTAMPNTZ": "timestamp", "DATETIME": "timestamp",
    "TIMESTAMPTZ": "timestamptz", "TIMESTAMPLTZ": "timestamptz",
}  # fmt: skip
TYPE_NAMES = "boolean, tinyint, smallint, int, bigint, double, decimal(p, s), text, date, timestamp, timestamptz"
TRUNCATED = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
EXTRACTED = ("year", "quarter", "month", "week", "day", "dow", "isodow", "doy", "hour", "minute", "second", "epoch")
DATE_FUNCTIONS = {
    **{part.capitalize(): part for part in TIME_PARTS}, "DayOfMonth": "day", "DayOfYear": "doy", "WeekOfYear": "week",
}  # fmt: skip
SECONDS = {"week": 604800, "day": 86400, "hour": 3600, "minute": 60, "second": 1}
WHAT_IS_NOT_HERE = "an expression is computed row by row"


def is_plain_name(text: str) -> bool:
    """Is it a name, or names with dots between them, or the number of a column, and no expression?"""
    return text.strip().isdecimal() or all(part.isidentifier() for part in text.strip().split("."))


@lru_cache(maxsize=256)  # an Accumulator reads its expressions with every update
def parse_expression(text: str) -> Expression:
    """The tree of an expression.

    Raises
    ------
    ExpressionError
        The text is no expression of the grammar; the message shows the place.
    ImportError
        sqlglot is not installed.
    """
    whole = (0, len(text))
    if not text.strip():
        raise ExpressionError("an expression is missing", text, (0, 1))
    if len(text) > MAX_CHARACTERS:
        raise ExpressionError(f"an expression has at most {MAX_CHARACTERS:,} characters", text, whole)
    sqlglot = import_extra("sqlglot", "reading expressions")
    try:
        # A condition and no statement: columns may be called show, set or update.
        parsed = sqlglot.parse_one(text, into=sqlglot.exp.Condition, dialect=dialect())
    except sqlglot.errors.ParseError as error:
        raise syntax_error(text, error) from error
    except sqlglot.errors.TokenError as error:
        raise ExpressionError("the expression cannot be read; is a quote not closed?", text, whole) from error
    except RecursionError as error:
        raise ExpressionError(f"an expression is nested at most {MAX_DEPTH} deep", text, whole) from error
    except Exception as error:  # of sqlglot, for arguments that one of its functions did not expect
        raise ExpressionError("the expression cannot be read", text, whole) from error
    check_words(text, dialect()())
    return Expression(text, Reader(text).read(parsed))


@cache
def dialect() -> Any:
    """DuckDB's dialect, in which names may also stand between backticks."""
    from sqlglot.dialects.duckdb import DuckDB

    words = type("Tokenizer", (DuckDB.Tokenizer,), {"IDENTIFIERS": ['"', "`"]})
    return type("ExpressionDialect", (DuckDB,), {"Tokenizer": words})


def syntax_error(text: str, error: Any) -> ExpressionError:
    """An error of sqlglot with the place that it names."""
    first = error.errors[0] if error.errors else {}
    line, column = first.get("line") or 1, first.get("col") or 1
    lines = text.splitlines(keepends=True) or [""]
    stop = sum(map(len, lines[: line - 1])) + column
    start = max(0, stop - len(first.get("highlight") or "?"))
    what = str(first.get("description") or "it cannot be read").split(" for <class")[0]
    if what.startswith("Required keyword"):
        what = "something is missing here"
    elif what.startswith("Invalid expression"):
        what = "this was not expected here; a name with spaces stands between quotes, as in \"my column\""
    return ExpressionError(f"the expression has a syntax error: {what[0].lower()}{what[1:]}", text, (start, stop))


class Reader:
    """Turns the nodes of sqlglot into ours."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.depth = 0

    def read(self, node: Any) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.refuse(node, f"an expression is nested at most {MAX_DEPTH} deep")
        name = type(node).__name__
        reader: Callable[[Any], Node] | None = getattr(self, f"read_{name.lower()}", None)
        if reader is not None:
            found = reader(node)
        elif name in OPERATORS:
            self.check_arguments(node, ("this", "expression"))
            found = self.call(node, OPERATORS[name], node.this, node.expression)
        elif name in FUNCTIONS:
            found = self.read_function(node)
        elif name in DATE_FUNCTIONS:
            self.check_arguments(node, ("this",))
            found = self.call(node, "extract", node.this, options=(DATE_FUNCTIONS[name],))
        else:
            raise self.refuse(node, self.explain_unknown(node))
        self.depth -= 1
        return found

    # --------------------------------------------------------------------------------------------------- places

    def place(self, node: Any) -> Place:
        """Where a node stands: from the first to the last word of it that sqlglot located."""
        spans = [
            (own.meta["start"], own.meta["end"] + 1) for own in node.walk() if own._meta and "start" in own._meta
        ]
        return (min(first for first, _ in spans), max(last for _, last in spans)) if spans else (0, len(self.text))

    def refuse(self, node: Any, what: str) -> ExpressionError:
        return ExpressionError(what, self.text, self.place(node))

    def call(self, node: Any, name: str, *arguments: Any, options: tuple[Any, ...] = ()) -> Call:
        return Call(name, tuple(map(self.read, arguments)), self.place(node), options)

    def check_arguments(self, node: Any, known: Sequence[str]) -> None:
        """Nothing that a class of sqlglot holds may be passed over in silence."""
        extra = [name for name, value in node.args.items() if value not in (None, [], False) and name not in known]
        for name in extra:
            if name not in FLAGS:
                raise self.refuse(node, f"{name.replace('_', ' ')} is not known here")

    def explain_unknown(self, node: Any) -> str:
        import sqlglot.expressions as exp

        if isinstance(node, exp.Query | exp.Subquery):
            return f"there are no queries inside expressions: {WHAT_IS_NOT_HERE}"
        if isinstance(node, exp.AggFunc | exp.Window):
            return f"there are no aggregates and no windows: {WHAT_IS_NOT_HERE}"
        if type(node).__name__ == "Block":
            return "one expression is wanted, without a semicolon"
        if isinstance(node, exp.Func):
            return explain_function(node.sql_name().lower())
        return f"{type(node).__name__.lower()} is not part of the grammar of expressions"

    # --------------------------------------------------------------------------------------------------- leaves

    def read_column(self, node: Any) -> Node:
        parts = [part for part in (node.args.get(key) for key in ("catalog", "db", "table", "this")) if part]
        if any(type(part).__name__ != "Identifier" for part in parts):
            raise self.refuse(node, "name one column; * is none")
        return Column(".".join(part.this for part in parts), self.place(node))

    def read_dot(self, node: Any) -> Node:
        names: list[str] = []
        inner = node
        while type(inner).__name__ == "Dot":
            if type(inner.expression).__name__ != "Identifier":
                raise self.refuse(node, "a nested field is named as in model.score")
            names.insert(0, inner.expression.this)
            inner = inner.this
        first = self.read(inner)
        if not isinstance(first, Column):
            raise self.refuse(node, "a nested field is named as in model.score")
        return Column(".".join([first.name, *names]), self.place(node))

    def read_paren(self, node: Any) -> Node:
        return self.read(node.this)

    def read_null(self, node: Any) -> Node:
        return Literal(None, self.place(node))

    def read_boolean(self, node: Any) -> Node:
        return Literal(bool(node.this), self.place(node))

    def read_literal(self, node: Any) -> Node:
        value = node.this
        if node.is_string:
            return Literal(value, self.place(node))
        if value.isascii() and value.isdecimal():
            return Literal(int(value), self.place(node))
        try:
            float(value)
        except ValueError:
            raise self.refuse(node, f"{value} is no number") from None
        return Literal(Number(value), self.place(node))

    def read_neg(self, node: Any) -> Node:
        inner = self.read(node.this)
        if isinstance(inner, Literal) and type(inner.value) in (int, Number):
            start, stop = inner.place
            start = max(self.text.rfind("-", 0, start), 0)
            negative = Number(f"-{inner.value.text}") if isinstance(inner.value, Number) else -inner.value
            return Literal(negative, (start, stop))
        return Call("negate", (inner,), self.place(node))

    def read_interval(self, node: Any) -> Node:
        unit = str(node.args.get("unit") or "").lower().removesuffix("s")
        amount = node.this
        text = amount.this if type(amount).__name__ == "Literal" else ""
        if unit not in SECONDS or not text.lstrip("-").isdecimal():
            raise self.refuse(
                node, f"write an interval as interval '7' day; its unit is one of {', '.join(SECONDS)}"
            )
        return Literal(timedelta(seconds=int(text) * SECONDS[unit]), self.place(node))

    # ------------------------------------------------------------------------------------------------ operators

    def read_not(self, node: Any) -> Node:
        return self.call(node, "not", node.this)

    def read_is(self, node: Any) -> Node:
        what = type(node.expression).__name__
        if what == "Null":
            return self.call(node, "is null", node.this)
        if what == "Boolean":
            return self.call(node, "is", node.this, options=(bool(node.expression.this),))
        raise self.refuse(node, "IS is followed by NULL, TRUE or FALSE")

    def read_between(self, node: Any) -> Node:
        self.check_arguments(node, ("this", "low", "high"))
        return self.call(node, "between", node.this, node.args["low"], node.args["high"])

    def read_in(self, node: Any) -> Node:
        if node.args.get("query") is not None:
            raise self.refuse(node, f"there are no queries inside expressions: {WHAT_IS_NOT_HERE}")
        self.check_arguments(node, ("this", "expressions"))
        if not node.expressions:
            raise self.refuse(node, "IN is followed by a list of values: x in (1, 2)")
        return self.call(node, "in", node.this, *node.expressions)

    def read_like(self, node: Any) -> Node:
        return self.like(node, node, None)

    def read_escape(self, node: Any) -> Node:
        escape = node.expression
        inner = node.this
        negated = type(inner).__name__ == "Not"
        inner = inner.this if negated else inner
        if type(inner).__name__ != "Like" or not (escape.is_string and len(escape.this) == 1):
            raise self.refuse(node, "ESCAPE stands behind LIKE, with one character: s like 'a!%' escape '!'")
        found = self.like(node, inner, escape.this)
        return Call("not", (found,), found.place) if negated else found

    def like(self, node: Any, like: Any, escape: str | None) -> Node:
        self.check_arguments(like, ("this", "expression"))
        if not (type(like.expression).__name__ == "Literal" and like.expression.is_string):
            raise self.refuse(like, "the pattern of LIKE is a text between quotes")
        pattern = tuple(self.pattern_pieces(like.expression, escape))
        found = self.call(node, "like", like.this, options=(pattern,))
        return Call("not", (found,), found.place) if like.args.get("negate") else found

    def pattern_pieces(self, literal: Any, escape: str | None) -> list[str | None]:
        """The pieces of a pattern: "%" and "_" as they are, any other text behind a "=": "a_%" is "=a", "_", "%"."""
        pieces: list[str | None] = []
        characters = iter(literal.this)
        for character in characters:
            if character == escape:
                escaped = next(characters, None)
                if escaped not in ("%", "_", escape):
                    raise self.refuse(literal, f"the escape {escape!r} stands before %, _ or itself")
                pieces.append(f"={escaped}")
            else:
                pieces.append(character if character in "%_" else f"={character}")
        return pieces

    def read_case(self, node: Any) -> Node:
        """CASE as pairs of condition and value, and the default at the end."""
        self.check_arguments(node, ("this", "ifs", "default"))
        subject = None if node.this is None else self.read(node.this)
        arguments: list[Node] = []
        for own in node.args["ifs"]:
            condition = self.read(own.this)
            if subject is not None:
                condition = Call("=", (subject, condition), self.place(own))
            arguments += [condition, self.read(own.args["true"])]
        default = node.args.get("default")
        place = self.place(node)
        arguments.append(Literal(None, place) if default is None else self.read(default))
        return Call("case", tuple(arguments), place)

    def read_if(self, node: Any) -> Node:
        otherwise = node.args.get("false")
        place = self.place(node)
        default = Literal(None, place) if otherwise is None else self.read(otherwise)
        return Call("case", (self.read(node.this), self.read(node.args["true"]), default), place)

    # ------------------------------------------------------------------------------------------------ functions

    def read_function(self, node: Any) -> Node:
        name, extra = FUNCTIONS[type(node).__name__]
        self.check_arguments(node, ("this", "expression", "expressions", *extra))
        arguments = [node.args.get("this"), node.args.get("expression"), *(node.args.get("expressions") or [])]
        arguments += [node.args.get(key) for key in extra]
        return self.call(node, name, *(argument for argument in arguments if argument is not None))

    def read_cast(self, node: Any) -> Node:
        return self.cast(node, "cast")

    def read_trycast(self, node: Any) -> Node:
        return self.cast(node, "try_cast")

    def cast(self, node: Any, name: str) -> Node:
        self.check_arguments(node, ("this", "to", "_type"))
        target = node.args["to"]
        kind = TYPES.get(str(getattr(target.this, "name", target.this)))
        if kind is None:
            raise self.refuse(node, f"values are cast to {TYPE_NAMES}; not to {target.sql()}")
        numbers = tuple(int(parameter.this.this) for parameter in target.expressions) if kind == "decimal" else ()
        if kind == "decimal" and not numbers:
            raise self.refuse(node, "a decimal has a precision and a scale: decimal(18, 4)")
        literal = node.this
        is_text = type(literal).__name__ == "Literal" and literal.is_string
        if name == "cast" and is_text and kind in EXAMPLES:
            return Literal(self.parse_time(node, literal.this, kind), self.place(node))
        return self.call(node, name, node.this, options=(kind, *numbers))

    def parse_time(self, node: Any, text: str, kind: str) -> date | datetime:
        found = parse_time(text, kind)
        if found is None:
            raise self.refuse(node, f"{text!r} is no {kind}; write it as {EXAMPLES[kind]}")
        return found

    def read_timestamptrunc(self, node: Any) -> Node:
        return self.date_call(node, "date_trunc", TRUNCATED, node.this, node.args.get("unit"), ("this", "unit"))

    read_datetrunc = read_datetimetrunc = read_timestamptrunc

    def read_extract(self, node: Any) -> Node:
        return self.date_call(node, "extract", EXTRACTED, node.expression, node.this, ("this", "expression"))

    def read_attimezone(self, node: Any) -> Node:
        """A time in the zone of a place; only names that every engine knows are taken."""
        self.check_arguments(node, ("this", "zone"))
        zone = node.args["zone"]
        if type(zone).__name__ != "Literal" or not zone.is_string:
            raise self.refuse(node, "AT TIME ZONE is followed by a name between quotes, as in 'Europe/Berlin'")
        if (wrong := explain_zone(zone.this)) is not None:
            raise self.refuse(node, wrong)
        return self.call(node, "at time zone", node.this, options=(zone.this,))

    def date_call(
        self, node: Any, name: str, units: Sequence[str], argument: Any, unit: Any, known: Sequence[str]
    ) -> Node:
        self.check_arguments(node, known)
        word = str(getattr(unit, "name", unit)).lower()
        if word not in units:
            raise self.refuse(node, f"the unit of {name} is one of {', '.join(units)}; found {word!r}")
        return self.call(node, name, argument, options=(word,))

    def read_anonymous(self, node: Any) -> Node:
        name = str(node.this).lower()
        if name in SLICE_FUNCTIONS:
            return self.call(node, name, *node.expressions)
        if name == "date_part" and len(node.expressions) == 2:
            unit, argument = node.expressions
            return self.date_call(node, "extract", EXTRACTED, argument, unit, ("this", "expressions"))
        raise self.refuse(node, explain_function(name))

    def read_array(self, node: Any) -> Node:
        """A list of values, which functions of slices have as edges."""
        return self.call(node, "list", *node.expressions)


EXAMPLES = {
    "date": "date '2026-11-01'",
    "timestamp": "timestamp '2026-11-01 12:00:00'",
    "timestamptz": "timestamptz '2026-11-01 12:00:00+01:00'",
}


def parse_time(text: str, kind: str) -> date | datetime | None:
    """A date, a time without a zone, or an instant (UTC where the text has no offset); None if the text is none."""
    import re
    from datetime import UTC

    if not text.isascii():
        return None
    try:
        if kind == "date":
            return date.fromisoformat(text) if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else None
        day_and_time = r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?"
        zone = r"( ?(Z|[+-]\d\d(:?\d\d)?))?" if kind == "timestamptz" else ""
        if not re.fullmatch(day_and_time + zone, text):
            return None
        found = datetime.fromisoformat(text.replace(" +", "+").replace(" -", "-").replace(" Z", "Z"))
    except ValueError:
        return None
    if kind == "timestamptz":
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    return found
