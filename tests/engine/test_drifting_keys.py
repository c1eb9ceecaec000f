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


BY_VALUE = {
    **DRIFTS,
    "uint64 and decimals": (pa.uint64(), pa.decimal128(20, 0)),
    "wide decimals and integers": (pa.decimal256(60, 2), pa.int32()),
}


def state_of(*logs, **names):
    state = fm.Accumulator(["auc" if "by" in names else "gauc"], **NAMES, **names)
    for log in logs:
        state.update(log)
    return fm.Accumulator.from_bytes(state.to_bytes())


@each_case("types", BY_VALUE.values(), ids=BY_VALUE.keys())
def test_states_of_slices_merge_by_value(types):
    first, second = (batch([7, 7, 8, 9], kind, [1, 0, 1, 0]) for kind in types)
    merged, same = state_of(first, by="g"), state_of(first, first, by="g")
    merged.merge(state_of(second, by="g"))
    assert merged.result() == same.result()
    assert fm.Accumulator.from_bytes(merged.to_bytes()).result() == same.result()


@each_case("types", [(pa.int64(), pa.decimal128(5, 0)), DRIFTS["two scales"], DRIFTS["two widths"]])
def test_states_of_groups_merge_if_keys_are_stored_alike(types):
    first, second = (batch([7, 7, 8, 9], kind, [1, 0, 1, 0]) for kind in types)
    merged = state_of(first, group="g")
    merged.merge(state_of(second, group="g"))
    assert merged.result() == state_of(first, first, group="g").result()


@each_case("types", [(pa.int64(), pa.uint64()), (pa.int64(), pa.decimal128(20, 0)), (pa.float64(), pa.int64())])
def test_states_of_other_groups_name_the_column(types):
    states = [state_of(batch([7, 7, 8, 9], kind, [1, 0, 1, 0]), group="g") for kind in types]
    for here, there in (states, states[::-1]):
        with pytest.raises(TypeError, match=r"do not merge: 'g' is \w+.* here, \w+.* there; cast each to one type"):
            here.merge(there)


def test_slices_of_a_text_file_are_in_the_bytes_of_a_state(tmp_path):
    """Numbers of any width and texts, which Arrow has no type for."""
    values = [10**21 + 1, "x", "1.50", 7]
    rows = "".join(f"{label},0.5,{value}\n" for value in values for label in (0, 1))
    (tmp_path / "log.csv").write_text("y,s,g\n" + rows)
    state = state_of(tmp_path / "log.csv", by="g")
    found = [one["g"] for one in state.result().slices() if one]
    assert found == [Decimal("1.5"), 7, 10**21 + 1, "x"]
    other = state_of(batch([7, 7, 8, 8], pa.int64(), [1, 0, 1, 0]), by="g")
    state.merge(other)
    assert state.result().value("auc", slice={"g": 7}) == 0.625


@each_case("kind", [pa.decimal128(5, 2), pa.decimal256(60, 4)])
def test_slices_of_decimals_are_shown_as_in_a_text_file(kind, tmp_path):
    values = ["1.50", "1.5", "2.00", "2"]
    table = pa.table({"y": [1, 0, 1, 0], "s": [0.1, 0.2, 0.3, 0.4], "g": pa.array(map(Decimal, values), kind)})
    (tmp_path / "log.csv").write_text("y,s,g\n1,.1,1.50\n0,.2,1.5\n1,.3,2.00\n0,.4,2\n")
    for log in (table, tmp_path / "log.csv"):
        slices = [one["g"] for one in fm.evaluate(log, ["auc"], by="g", **NAMES).slices() if one]
        assert list(map(repr, slices)) == ["Decimal('1.5')", "2"]
