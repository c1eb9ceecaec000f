"""Numbers as text, for tables, pages and terminals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from fastmetrics._core.elementary import exp

UNDEFINED = "undefined"
MINUS = "−"
LARGE, SMALL = 1e6, 1e-4  # from here on an exponent is easier to read
ALL_DIGITS = 17  # of a float64
TABLE_DIGITS = 5  # of values in tables for people; files have all digits
LOG_TEN = 2.302585092994046
ONE_DECIMAL = 1000  # coverage numbers from here on have one decimal


def counted(n: int, noun: str) -> str:
    """A count with its noun: "1 row", "2,000 rows"."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def format_counts(counts: Mapping[str, int]) -> str:
    """Reasons and counts: "null label: 3, null score: 1"."""
    return ", ".join(f"{reason}: {n:,}" for reason, n in counts.items())


def format_fixed(value: float | int | str, digits: int | None, undefined: str = "nan") -> str:
    """A value with so many decimals, or with all digits if `digits` is None. Integers and texts stay as they are."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return repr(value)
    if math.isnan(value):
        return undefined
    return repr(value) if digits is None else f"{value:.{digits}f}"


def number_formatter(values: Sequence[float], digits: int | None) -> Callable[[float], str]:
    """How to write the values of a column: the greatest has so many digits, and all have as many decimals.

    Without `digits`, or with 17 and more, every value has the shortest decimals that mean exactly it.
    """
    if digits is None or digits >= ALL_DIGITS:
        return repr
    decimals = decimals_for(values, digits)
    return lambda value: (
        f"{value:.{digits}g}" if decimals is None or not math.isfinite(value) else f"{value:.{decimals}f}"
    )


def format_coverage_value(value: object) -> str:
    """A value of a coverage record, for people. Means and shares are rounded; `to_dict` has the exact ones."""
    if isinstance(value, Mapping):
        return f"({format_counts(value)})"
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= ONE_DECIMAL else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def format_megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB"


def format_row_rate(rows: int, seconds: float) -> str:
    """Rows per second in three digits: 31.2M rows/s."""
    per_second = rows / seconds if seconds > 0 else 0.0
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if per_second >= size:
            return f"{per_second / size:.3g}{unit} rows/s"
    return f"{per_second:.0f} rows/s"


# --------------------------------------------------------------------------- with thousands separators and a real minus


def decimals_for(values: Sequence[float], digits: int = 5) -> int | None:
    """The decimals that give the greatest of the values `digits` digits. None if an exponent is easier to read."""
    greatest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    if greatest == 0:
        return digits - 1
    if not SMALL <= greatest < LARGE:
        return None
    return max(0, digits - 1 - math.floor(math.log10(greatest)))


def format_value(value: float, decimals: int | None) -> str:
    """A value of a metric on a page, with so many decimals or four digits; "undefined" for NaN, signs of infinities."""
    if math.isnan(value):
        return UNDEFINED
    if math.isinf(value):
        return "+∞" if value > 0 else f"{MINUS}∞"
    text = f"{value:.4g}" if decimals is None else f"{value:,.{decimals}f}"
    return text.replace("-", MINUS)


def format_interval(interval: Sequence[float], decimals: int | None) -> str:
    return f"{format_value(interval[0], decimals)} to {format_value(interval[1], decimals)}"


def format_signed(value: float, decimals: int | None) -> str:
    """A difference with its sign."""
    text = format_value(value, decimals)
    return f"+{text}" if value > 0 and not text.startswith("+") else text


def format_pvalue(value: float, digits: int = 3) -> str:
    """A p-value; empty for NaN. No p-value is 0: one that is was below the least number above 0."""
    return "" if math.isnan(value) else f"{value:.{digits}g}" if value > 0 else "below 1e-323"


def format_log_pvalue(value: float, logarithm: float, digits: int = 3) -> str:
    """A p-value as `format_pvalue`, also one below the least number above 0; `logarithm` is the natural one."""
    if value > 0 or math.isnan(value) or math.isinf(logarithm):
        return format_pvalue(value, digits)
    exponent = math.floor(logarithm / LOG_TEN)
    return f"{exp(logarithm - exponent * LOG_TEN):.1f}e{exponent}"
