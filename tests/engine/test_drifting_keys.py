"""Batches whose keys are integers here and decimals there: equal numbers are one group, other numbers never are."""

from decimal import Decimal

import pyarrow as pa
import pytest

import fastmetrics as fm
from support.cases import each_case

NAMES = {"label": "y", "score": "s"}
DRIFTS = {
    "int64 and uint64": (pa.int64(), pa.uint64()),
    "uint64 and int8": (pa.uint64(), pa.int8()),
    "integers and decimals": (pa.int64(), pa.decimal128(5, 2)),
    "decimals and integers": (pa.decimal128(5, 2), pa.int64()),
    "two scales": (pa.decimal128(5, 1), pa.decimal128(7, 3)),
    "two widths": (pa.decimal128(20, 0), pa.decimal256(40, 0)),
}


def batch(values, arrow_type, labels):
    keys = [Decimal(value) if pa.types.is_decimal(arrow_type) else value for value in values]
    return pa.table({"y": labels, "s": [0.4, 0.3, 0.2, 0.1], "g": pa.array(keys, arrow_type)})


@each_case("role", ["group", "by"])
@each_case("drift", DRIFTS.values(), ids=DRIFTS.keys())
def test_equal_numbers_are_one_key(drift, role):
    first, second = (batch([7, 7, 8, 9], kind, [1, 0, 1, 0]) for kind in drift)
    metric = "gauc" if role == "group" else "auc"
    drifting, same = (fm.Accumulator([metric], **NAMES, **{role: "g"}) for _ in range(2))
    drifting.update(first)
    drifting = fm.Accumulator.from_bytes(drifting.to_bytes())
    drifting.update(second)
    same.update(first)
    same.update(first)
    assert drifting.result() == same.result()


@each_case("drift", [(pa.int64(), pa.uint64(), 2**64 - 1), (pa.int64(), pa.decimal128(5, 2), Decimal("1.5"))])
def test_a_number_that_the_first_type_does_not_hold_is_an_error(drift):
    first, second, value = drift
    accumulator = fm.Accumulator(["gauc"], **NAMES, group="g")
    accumulator.update(batch([-1, -1, 1, 1], first, [1, 0, 1, 0]))
    before = accumulator.result()
    with pytest.raises(TypeError, match=r"column 'g' has Arrow type .*, but int64 in earlier batches"):
        accumulator.update(batch([value] * 4, second, [1, 0, 1, 0]))
    assert accumulator.result() == before
