"""Checks of whole columns that compilers make from loops over several values at once: one bad value at any place."""

import numpy as np

from fastmetrics._kernels.columns import column_checks
from support.cases import assert_raises, each_case

SIZES = (1, 2, 7, 8, 15, 16, 17, 33, 100)
BAD = {"nan": np.nan, "minus nan": -np.nan, "inf": np.inf, "minus inf": -np.inf}
LARGEST = np.finfo(np.float64).max


@each_case("dtype", [np.float32, np.float64])
@each_case("kind", BAD)
def test_one_bad_value_is_found_at_any_place(dtype, kind):
    for size in SIZES:
        for place in range(size):
            values = np.full(size, np.finfo(dtype).max, dtype)
            values[::2] = -values[0]
            values[place] = BAD[kind]
            found = np.zeros(1, np.int64)
            column_checks.any_nan(values, 0, size, found)
            assert found[0] == ("nan" in kind), (size, place)
            column_checks.any_nan(values, place + 1, size, found)
            column_checks.any_nan(values, 0, place, found)
            assert found[0] == ("nan" in kind)  # what was found stays
            found[0] = 0
            column_checks.any_nan(values, place + 1, size, found)
            column_checks.any_nan(values, 0, place, found)
            assert found[0] == 0
            if dtype == np.float64:
                assert column_checks.any_not_finite(values)
                values[place] = 5e-324
                assert not column_checks.any_not_finite(values)


def test_no_values():
    found = np.zeros(1, np.int64)
    column_checks.any_nan(np.empty(0), 0, 0, found)
    assert found[0] == 0
    assert not column_checks.any_not_finite(np.empty(0))
    assert not column_checks.any_not_finite(np.array([LARGEST, -LARGEST, 0.0, -0.0]))


class TestWidenedIntegers:
    @each_case("dtype", ["int64", "uint64", "int32", "uint8"])
    def test_exact_integers(self, dtype):
        limits = np.iinfo(dtype)
        values = [-(2**53) + 1, -(2**51) - 1, -(2**51), -1, 0, 1, 2**51 - 1, 2**51, 2**52 + 1, 2**53 - 1]
        column = np.array([value for value in values if limits.min <= value <= limits.max] * 700, dtype)
        out = np.empty(column.shape[0])
        assert column_checks.widen_integers(column, out)
        assert out.tolist() == column.tolist()

    @each_case("value", [2**53, -(2**53), 2**53 + 1, 2**63, 2**64 - 1, -(2**63)])
    def test_integers_beyond(self, value):
        column = np.zeros(5000, np.uint64 if value >= 2**63 else np.int64)
        column[3000] = value
        assert not column_checks.widen_integers(column, np.empty(5000))

    def test_lengths(self):
        assert_raises(ValueError, "different lengths", column_checks.widen_integers, np.zeros(3, int), np.empty(2))
