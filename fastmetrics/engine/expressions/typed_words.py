"""The functions that expressions may call, as they are typed, and what to type in place of others.

sqlglot reads many names as one: `len`, `length` and `character_length`; and it passes over arguments that it does not
know. Only what docs/expressions.md has is accepted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from fastmetrics._core.suggestions import close_matches
from fastmetrics.engine.expressions.errors import ExpressionError
from fastmetrics.engine.expressions.tree import SLICE_FUNCTIONS

TIME_PARTS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
# Each has a line with an example in docs/expressions.md.
FUNCTION_WORDS = (
    "abs", "ceil", "ceiling", "exp", "floor", "ln", "mod", "power", "round", "sqrt", "greatest", "least",
    "coalesce", "nullif", "if", "char_length", "concat", "length", "lower", "substr", "substring", "upper",
    "date_part", "date_trunc", "extract", *TIME_PARTS, "cast", "try_cast", *SLICE_FUNCTIONS,
)  # fmt: skip
TWO_ARGUMENTS = ("mod", "date_trunc")  # sqlglot passes over further ones
NOW = "timestamp '2026-11-01 12:00:00'"
OTHER_WORDS = {
    "len": "length", "character_length": "length", "lcase": "lower", "ucase": "upper", "ifnull": "coalesce",
    "nvl": "coalesce", "iif": "if", "iff": "if", "pow": "power", "log": "ln", "log10": "ln", "log2": "ln",
    "safe_cast": "try_cast", "ilike": "lower(x) like", "datetrunc": "date_trunc", "datetime_trunc": "date_trunc",
    "timestamp_trunc": "date_trunc", "trunc": "date_trunc", "datepart": "date_part", "date": "cast(t as date)",
    "dayofmonth": "day", "day_of_month": "day", "weekofyear": "week", "week_of_year": "week",
    "dayofyear": "extract(doy from t)", "day_of_year": "extract(doy from t)", "doy": "extract(doy from t)",
    "dayofweek": "extract(dow from t)", "day_of_week": "extract(dow from t)", "dow": "extract(dow from t)",
    "weekday": "extract(dow from t)", "isodow": "extract(isodow from t)", "epoch": "extract(epoch from t)",
    "now": NOW, "today": NOW, "current_date": NOW, "current_timestamp": NOW, "getdate": NOW,
    "array": "[1, 2]", "list_value": "[1, 2]",
}  # fmt: skip
OTHER_SIGNS = {"@": "abs(x)", "^": "power(x, y)", "<=>": "is not distinct from", "!": "not"}
# Words before a parenthesis that call nothing; of queries and windows, the reader of the tree says what they are.
OTHER_THAN_CALLS = {
    "in", "and", "or", "not", "when", "then", "else", "case", "between", "like", "ilike", "is", "from", "escape", "as",
    "div", "any", "all", "exists", "select", "over", "filter", "group", "by", "values", "unnest", "to", "zone",
    "decimal", "numeric", "varchar", "char", "interval", "distinct",
}  # fmt: skip


def explain_function(name: str) -> str:
    """What to type in place of a function that there is not."""
    similar = [OTHER_WORDS[name]] if name in OTHER_WORDS else close_matches(name, FUNCTION_WORDS)[:3]
    ask = f"; did you mean {' or '.join(similar)}?" if similar else f"; known: {', '.join(sorted(FUNCTION_WORDS))}"
    return f"there is no function {name}{ask}"


def check_words(text: str, dialect: Any) -> None:
    """ExpressionError for a function or a sign that is not of the grammar, though sqlglot reads it."""
    tokens = dialect.tokenize(text)
    for number, (token, following) in enumerate(zip(tokens, [*tokens[1:], None], strict=True)):
        place = (token.start, token.end + 1)
        word = token.text.lower()
        if word in OTHER_SIGNS and token.token_type.name not in ("IDENTIFIER", "STRING"):
            raise ExpressionError(f"{word} is not known here; did you mean {OTHER_SIGNS[word]}?", text, place)
        if following is None or following.token_type.name != "L_PAREN" or token.token_type.name == "STRING":
            continue
        if token.token_type.name == "IDENTIFIER":
            raise ExpressionError(f"{word!r} is between quotes, so it is a column and calls nothing", text, place)
        if word in TWO_ARGUMENTS and (found := count_arguments(tokens[number + 1 :])) != 2:
            raise ExpressionError(f"{word} has two arguments; found {found}", text, place)
        if word in FUNCTION_WORDS or word in OTHER_THAN_CALLS or not word.isidentifier() or is_aggregate(word):
            continue
        raise ExpressionError(explain_function(word), text, place)


def count_arguments(behind: Sequence[Any]) -> int:
    """The arguments between a parenthesis, the first of these tokens, and the one that closes it."""
    depth, commas = 0, 0
    for token in behind:
        kind = token.token_type.name
        depth += kind in ("L_PAREN", "L_BRACKET")
        depth -= kind in ("R_PAREN", "R_BRACKET")
        commas += depth == 1 and kind == "COMMA"
        if depth == 0:
            break
    return commas + 1


@cache
def is_aggregate(word: str) -> bool:
    import sqlglot.expressions as exp

    found = exp.FUNCTION_BY_NAME.get(word.upper())
    return found is not None and issubclass(found, exp.AggFunc)
