"""Integers of 128 bits, which polars has and Arrow and NumPy do not: decimals without a fraction."""

from __future__ import annotations

from typing import Any

from fastmetrics._core.optional_imports import pyarrow

WIDE_DIGITS = 39  # of the greatest integer of 128 bits


def is_wide_integer(data_type: Any) -> bool:
    """Is it the type of such integers in polars?"""
    return str(data_type) in ("Int128", "UInt128")


def wide_integers(values: Any) -> Any | None:
    """A column of polars that has such a type, as a pyarrow array of decimals; None for any other data."""
    if type(values).__module__.partition(".")[0] != "polars" or not is_wide_integer(getattr(values, "dtype", "")):
        return None
    import polars

    return decimals_of_texts(values.cast(polars.String).to_arrow())


def decimals_of_texts(texts: Any) -> Any:
    """Integers as decimals, exactly, from their texts."""
    return texts.cast(pyarrow.string()).cast(pyarrow.decimal256(WIDE_DIGITS, 0))
