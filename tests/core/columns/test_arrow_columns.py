"""Decimals are the nearest floats, and keys by their exact values; bytes, runs and extension types are keys."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pytest

import fastmetrics as fm
from fastmetrics._core.columns.arrow_columns import decimals_to_floats, plain_column
from fastmetrics._core.columns.group_keys import as_keys
from fastmetrics._core.columns.key_types import dtype_of_arrow
from support.cases import each_case

TYPES = {
    "short": pa.decimal128(15, 4), "long": pa.decimal128(38, 18), "wide": pa.decimal256(60, 30),
    "small scale": pa.decimal128(38, 37), "whole": pa.decimal128(38, 0), "negative scale": pa.decimal128(12, -3),
}  # fmt: skip
if hasattr(pa, "decimal64"):
    TYPES |= {"decimal32": pa.decimal32(9, 4), "decimal64": pa.decimal64(18, 9)}


def decimals(kind, rows=2000):
    rng = np.random.default_rng(5)
    digits = rng.integers(1, kind.precision + 1, rows)
    whole = [int("".join(map(str, rng.integers(0, 10, n)))) * int(sign) for n, sign in
             zip(digits, rng.choice([-1, 1], rows), strict=True)]  # fmt: skip
    edges = [0, 1, -1, *(value for value in (2**53, 2**53 + 1, -(2**53) - 1) if abs(value) < 10**kind.precision)]
    return [Decimal(value).scaleb(-kind.scale, context=wide_context()) for value in whole + edges]


def wide_context():
    from decimal import Context

    return Context(prec=100)


@each_case("kind", TYPES)
def test_decimals_are_rounded_once(kind):
    values = decimals(TYPES[kind])
    column = pa.array(values, TYPES[kind])
    expected = [float(value) for value in values]  # Python rounds once
    assert decimals_to_floats(plain_column(column)).tolist() == expected
    assert decimals_to_floats(plain_column(column.slice(3, 50))).tolist() == expected[3:53]
    chunked = pa.chunked_array([column.slice(0, 7), column.slice(7)])
    zeros = np.zeros(len(column))
    assert fm.mean_absolute_error(zeros, chunked) == fm.mean_absolute_error(zeros, expected)


def test_arrows_own_cast_would_be_off():
    """The reason for a conversion of our own; if Arrow rounds once, it can go."""
    values = decimals(TYPES["long"])
    assert pa.array(values, TYPES["long"]).cast(pa.float64()).to_pylist() != [float(value) for value in values]


def test_decimals_in_functions():
    labels = [1, 0, 1, 0]
    scores = [Decimal("0.1"), Decimal("0.30"), Decimal("0.9"), Decimal("0.2")]
    expected = fm.log_loss(labels, [0.1, 0.3, 0.9, 0.2])
    assert fm.log_loss(labels, scores) == fm.log_loss(labels, pa.array(scores)) == expected
    assert fm.log_loss(pa.array([Decimal(label) for label in labels]), np.array(scores, object)) == expected
    with pytest.raises(ValueError, match="NaN"):
        fm.log_loss(labels, [*scores[:3], Decimal("NaN")])


KEYS = {
    "decimal": pa.array([Decimal("1.0"), Decimal("1.00"), Decimal("1.01"), Decimal("-1")]),
    "whole decimal": pa.array([Decimal(5), Decimal(5), Decimal(6), Decimal(-6)], pa.decimal128(18, 0)),
    "long decimal": pa.array([10**30, 10**30, 10**30 + 1, 0], pa.decimal128(38, 0)),
    "decimal256": pa.array([10**50, 10**50, 10**50 + 1, 0], pa.decimal256(60, 0)),
    "binary": pa.array([b"\xff\x00", b"\xff\x00", b"\xff", b""]),
    "large binary": pa.array([b"\xff\x00", b"\xff\x00", b"\xff", b""], pa.large_binary()),
    "binary view": pa.array([b"\xff\x00", b"\xff\x00", b"\xff", b""], pa.binary_view()),
    "fixed binary": pa.array([b"ab", b"ab", b"a\x00", b"\x00a"], pa.binary(2)),
    "dictionary of bytes": pa.array([b"ab", b"ab", b"a\x00", b"\x00a"]).dictionary_encode(),
    "runs": pa.compute.run_end_encode(pa.array([1, 1, 2, 3])),
    "runs of text": pa.compute.run_end_encode(pa.array(["a", "a", "b", "c"])),
    "time with a zone": pa.array([1, 1, 2, 3], pa.timestamp("us", "Europe/Berlin")),
    "duration": pa.array([1, 1, 2, 3], pa.duration("s")),
    "time of day": pa.array([1, 1, 2, 3], pa.time64("ns")),
    "date": pa.array([1, 1, 2, 3], pa.date32()),
    "half float": pa.array(np.array([1, 1, 2, 3], np.float16)),
}
if hasattr(pa, "uuid"):
    KEYS["uuid"] = pa.array([b"a" * 16, b"a" * 16, b"b" * 16, b"\x00" * 16], pa.uuid())


@each_case("kind", KEYS)
def test_keys_of_every_type(kind):
    """The same groups as those of integers: rows 0 and 1 are one."""
    column = KEYS[kind]
    for values in (column, pa.chunked_array([column.slice(0, 1), column.slice(1)])):
        keys = as_keys(values)
        _, numbers = np.unique(np.array([str(key) for key in keys.to_numpy()]), return_inverse=True)
        assert keys.rows == 4
        assert numbers[0] == numbers[1]
        assert len(set(numbers.tolist())) == 3
    plain = plain_column(column).type
    plain = plain.value_type if pa.types.is_dictionary(plain) else plain
    assert dtype_of_arrow(str(plain), "k") == as_keys(column).dtype


def test_bytes_as_keys_are_hexadecimal():
    assert as_keys(KEYS["binary"].slice(1)).to_numpy().tolist() == ["ff00", "ff", ""]
    assert as_keys(KEYS["fixed binary"]).to_numpy().tolist() == ["6162", "6162", "6100", "0061"]
