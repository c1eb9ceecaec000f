"""Keys in Python's lists, objects and decimals: equal values are one key, and no id passes through a float."""

import datetime
import uuid
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.columns.group_keys import as_keys
from support.cases import each_case
from support.peers import pandas

LABELS, SCORES = [1, 0, 1, 0, 1, 0], [0.4, 0.3, 0.2, 0.1, 0.9, 0.8]
THREE_KEYS = {
    "int64 and uint64": (2**63 + 1, 2**63 + 2, -1),
    "uint64": (2**63 + 1, 2**63 + 2, 5),
    "22 digits": (10**21 + 1, 10**21 + 2, -5),
    "beside a float": (2**53 + 1, 2**53, 0.5),
    "beside infinity": (10**400, 10**400 + 1, float("inf")),
    "NumPy's integers": (np.uint64(2**63 + 1), np.uint64(2**63 + 2), np.int64(-1)),
    "long decimals": (Decimal("1700000000.123456789"), Decimal("1700000000.123456788"), 5),
    "bytes": (b"a", b"a\0", b"b"),
    "times": (datetime.time(1), datetime.time(2), datetime.time(1, 0, 0, 1)),
    "times with a zone": tuple(datetime.datetime(2026, 1, day, tzinfo=datetime.UTC) for day in (1, 2, 3)),
    "UUIDs": tuple(uuid.UUID(int=number) for number in (2**100, 2**100 + 1, 3)),
}

CONTAINERS = [
    list, tuple, lambda keys: np.fromiter(keys, object, len(keys)), lambda keys: pandas().Series(keys, dtype=object),
]  # fmt: skip
NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70), st.integers(-3, 3), st.floats(allow_nan=False, allow_infinity=False)
)
DECIMALS = st.decimals(-(10**20), 10**20, allow_nan=False, allow_infinity=False)


def in_pairs(keys):
    return [key for key in keys for _ in range(2)]


@each_case("keys", THREE_KEYS.values(), ids=THREE_KEYS.keys())
@each_case("container", CONTAINERS)
def test_every_value_is_a_key_of_its_own(container, keys):
    groups = container(in_pairs(keys))
    assert fm.gauc_score(LABELS, SCORES, groups) == 1.0
    assert len(fm.auc_by_group(LABELS, SCORES, groups)) == 3
    assert len(fm.errors_by_group(SCORES, SCORES, groups)) == 3
    assert fm.gauc_score(LABELS, SCORES, {"one": groups, "other": [0] * 6}) == 1.0


@pytest.mark.parametrize(
    "equal",
    [
        [Decimal("1.50"), Decimal("1.5"), Decimal("15e-1")],
        [Decimal("2.00"), Decimal(2), 2],
        [Decimal("-0.0"), Decimal(0), 0],
        [2**60, float(2**60), np.int64(2**60)],
        [2**64, float(2**64), 2**64],
    ],
)
def test_equal_numbers_are_one_key(equal):
    assert len(set(as_keys(equal).to_numpy().tolist())) == 1


@given(st.lists(NUMBERS, min_size=1))
def test_numbers_are_compared_as_fractions(values):
    keys = as_keys(values).to_numpy().tolist()
    expected = [Fraction(value) for value in values]
    assert [keys.index(key) for key in keys] == [expected.index(value) for value in expected]


@given(st.lists(DECIMALS, min_size=1))
def test_decimals_are_compared_by_value(values):
    keys = as_keys(values).to_numpy().tolist()
    expected = [Fraction(value) for value in values]
    assert [keys.index(key) for key in keys] == [expected.index(value) for value in expected]


@given(st.lists(st.integers(-(10**20), 10**20), min_size=1), st.integers(1, 12))
def test_decimals_of_arrow_have_the_texts_of_decimals_of_python(unscaled, scale):
    values = [Decimal(number).scaleb(-scale) for number in unscaled]
    column = pa.array(values, pa.decimal128(38, scale))
    keys = as_keys(column).to_numpy().tolist()
    assert keys == as_keys([*values, Decimal("0.5")]).to_numpy().tolist()[:-1]


def test_periods_and_intervals_are_their_texts():
    periods = pandas().Series(pandas().PeriodIndex(in_pairs(["2026-01", "2026-02", "2026-03"]), freq="M"))
    cuts = pandas().Series(pandas().cut(pandas().Series(in_pairs([1, 2, 3])), [0, 1, 2, 3]))
    for keys, first in ((periods, "2026-01"), (cuts, "(0, 1]")):
        for container in (keys, keys.astype(object)):
            assert as_keys(container).to_numpy().tolist()[0] == first
            assert fm.gauc_score(LABELS, SCORES, container) == 1.0


def test_values_of_two_kinds_name_the_row():
    for values in (["a", 1], [1, "a"], [datetime.date(2026, 1, 1), 1], [Decimal("0.5"), 0.5]):
        with pytest.raises(TypeError, match=r"groups has .* at row [01]: group keys must be"):
            as_keys(values, "groups")
