"""Keys in CSV and JSON lines are what is written: no id passes through a float, and no value depends on other rows."""

import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.object_keys import value_of_numeral
from fastmetrics.engine.input.files.numerals.numeral_texts import shorten_numerals
from oracles.numerals import identity
from support.cases import each_case

LABELS, SCORES = [1, 0, 1, 0, 1, 0], [0.4, 0.3, 0.2, 0.1, 0.9, 0.8]
NAMES = {"label": "y", "score": "s"}
IDS = {
    "beyond 64 bits, signed": (2**63 + 1, 2**63 + 2, 5),
    "22 digits": (10**21 + 1, 10**21 + 2, 5),
    "long decimals": ("1700000000.123456789", "1700000000.123456788", 5),
    "too large for a float": ("7e400", "8e400", 5),
    "beside a float": (2**53 + 1, 2**53, 0.5),
}
FORMATS = ("csv", "tsv", "jsonl")


def write_log(path, ids, labels=LABELS, scores=SCORES, before=0):
    """A log with the ids as they are written, behind rows of one score whose ids are 0 to 6."""
    rows = [(0, 0.5, row % 7) for row in range(before)] + list(zip(labels, scores, ids, strict=True))
    if path.suffix == ".jsonl":
        path.write_text("".join(f'{{"y": {y}, "s": {s}, "g": {g}}}\n' for y, s, g in rows))
    else:
        mark = "\t" if path.suffix == ".tsv" else ","
        path.write_text("".join(mark.join(map(str, row)) + "\n" for row in [("y", "s", "g"), *rows]))
    return str(path)


def in_pairs(ids):
    return [one for one in ids for _ in range(2)]


@each_case("form", FORMATS)
@each_case("ids", IDS.values(), ids=IDS.keys())
def test_every_id_is_a_group_a_slice_and_a_unit_of_its_own(tmp_path, form, ids):
    log = write_log(tmp_path / f"log.{form}", in_pairs(ids))
    assert fm.evaluate(log, ["gauc"], group="g", **NAMES)["gauc"] == 1.0
    slices = [result.slice["g"] for result in fm.evaluate(log, ["ctr"], by="g", **NAMES) if result.slice]
    assert {identity(str(value)) for value in slices} == {identity(str(one)) for one in ids}
    assert len(slices) == 3
    report = fm.evaluate(log, ["ctr"], unit="g", ci=0.95, seed=1, **NAMES)
    codes = {"y": LABELS, "s": SCORES, "g": in_pairs([0, 1, 2])}
    assert report["ctr"] == fm.evaluate(codes, ["ctr"], unit="g", ci=0.95, seed=1, **NAMES)["ctr"]
    accumulator = fm.Accumulator(["gauc"], group="g", **NAMES)
    accumulator.update(log)
    assert accumulator.result()["gauc"] == 1.0


@each_case("form", FORMATS)
@each_case("ids", IDS.values(), ids=IDS.keys())
def test_filters_compare_ids_exactly(tmp_path, form, ids):
    log = write_log(tmp_path / f"log.{form}", in_pairs(ids))
    quote = "'" if "e" in str(ids[0]) else ""
    report = fm.evaluate(log, ["ctr", "gauc"], where=f"g = {quote}{ids[0]}{quote}", group="g", **NAMES)
    assert [result.coverage["rows"] for result in report] == [2, 2]


@pytest.mark.slow
@each_case("form", ["csv", "jsonl"])
@each_case("ids", [IDS["22 digits"], IDS["long decimals"]])
def test_ids_that_first_occur_after_the_first_block(tmp_path, form, ids):
    """The rows before are more than the 4 MiB of which types are inferred."""
    before = 400_000
    log = write_log(tmp_path / f"log.{form}", in_pairs(ids), before=before)
    report = fm.evaluate(log, ["gauc"], group="g", **NAMES)
    assert report["gauc"] == 1.0
    assert report.rows == before + 6
    slices = [result.slice["g"] for result in fm.evaluate(log, ["ctr"], by="g", **NAMES) if result.slice]
    assert {identity(str(value)) for value in slices} == {identity(str(one)) for one in (*range(7), *ids)}
    kept = fm.evaluate(log, ["ctr"], where=f"g = {ids[0]}", **NAMES)
    assert next(iter(kept)).coverage["rows"] == 2
    accumulator = fm.Accumulator(["gauc"], group="g", **NAMES)
    accumulator.update(log)
    assert accumulator.result()["gauc"] == 1.0


def test_a_value_does_not_depend_on_other_rows(tmp_path):
    alone = fm.evaluate(write_log(tmp_path / "alone.csv", [5, 5, 7, 7, 8, 8]), ["ctr"], by="g", **NAMES)
    others = write_log(tmp_path / "beside.csv", [5, 5, "7e400", "a", "1.50", "1.5"])
    beside = fm.evaluate(others, ["ctr"], by="g", **NAMES)
    assert alone.value("ctr", slice={"g": 5}) == beside.value("ctr", slice={"g": 5}) == 0.5
    assert [result.slice["g"] for result in beside if result.slice] == [Decimal("1.5"), 5, "7e400", "a"]


def test_several_files_and_types(tmp_path):
    files = [
        write_log(tmp_path / f"{number}.csv", ids)
        for number, ids in enumerate([[1, 1, 2, 2, 3, 3], ["1.0", "1.00", "2.5", "2.50", "x", "x"]])
    ]
    report = fm.evaluate(files, ["ctr"], by="g", **NAMES)
    rows = {result.slice["g"]: result.coverage["rows"] for result in report if result.slice}
    assert rows == {1: 4, 2: 2, 3: 2, Decimal("2.5"): 2, "x": 2}


def test_given_types_hold(tmp_path):
    log = write_log(tmp_path / "log.csv", ["007", "7", "1.50", "1.5", "+3", "3"])
    options = {"column_types": {"g": "string"}}
    report = fm.evaluate(log, ["ctr"], by="g", format_options=options, **NAMES)
    assert [result.slice["g"] for result in report if result.slice] == ["+3", "007", "1.5", "1.50", "3", "7"]


def test_a_text_among_numbers_of_json_is_an_error(tmp_path):
    log = write_log(tmp_path / "log.jsonl", [1.5, 1.5, json.dumps("1.5"), 2, 2, 3])
    with pytest.raises(ValueError, match=r"'g'|/g"):
        fm.evaluate(log, ["gauc"], group="g", **NAMES)


def test_json_with_huge_numbers_in_other_keys(tmp_path):
    """Arrow reads no row of a block with a number that is too big for a float."""
    path = tmp_path / "log.jsonl"
    rows = zip(LABELS, SCORES, in_pairs("abc"), strict=True)
    others = '"t": "x: 7e400, ", "big": 7e400'
    path.write_text("".join(f'{{"y": {y}, "s": {s}, "g": "{g}", {others}}}\n' for y, s, g in rows))
    assert fm.evaluate(str(path), ["gauc"], group="g", **NAMES)["gauc"] == 1.0
    with pytest.raises(ValueError, match="big"):
        fm.evaluate(str(path), ["auc"], label="y", score="big")


def test_nulls_among_numbers(tmp_path):
    log = write_log(tmp_path / "log.csv", ["1.5", "", "NA", "2.5", "2.5", "1.5"])
    report = fm.evaluate(log, ["ctr"], by="g", **NAMES)
    assert [result.slice["g"] for result in report if result.slice] == [Decimal("1.5"), Decimal("2.5"), None]


def test_a_decimal_comma(tmp_path):
    path = tmp_path / "log.csv"
    rows = zip(LABELS, SCORES, ["1,5", "1,50", "2", "2,0", "3,25", "3,25"], strict=True)
    path.write_text("y;s;g\n" + "".join(f"{y};{str(s).replace('.', ',')};{g}\n" for y, s, g in rows))
    options = {"delimiter": ";", "decimal_point": ","}
    report = fm.evaluate(str(path), ["gauc"], group="g", format_options=options, **NAMES)
    assert report["gauc"] == 1.0


NUMBERS = st.from_regex(r"[ ]?[+-]?[0-9]{0,5}(\.[0-9]{0,4})?([eE][+-]?[0-9]{1,3})?[ ]?", fullmatch=True)
TEXTS = st.text(st.sampled_from("0123456789.eE+-xX _"), max_size=12)


@given(st.lists(NUMBERS | TEXTS, max_size=20))
def test_equal_numbers_have_one_text(texts):
    shortened = shorten_numerals(pa.array(texts, pa.string())).to_pylist()
    for text, short in zip(texts, shortened, strict=True):
        value, wanted = value_of_numeral(short), identity(text)
        assert isinstance(value, str) == isinstance(wanted, str)
        assert (value if isinstance(value, str) else Fraction(value)) == wanted
    of_text = dict(zip(texts, shortened, strict=True))
    for one in texts:
        for other in texts:
            assert (of_text[one] == of_text[other]) == (identity(one) == identity(other))


def test_exponents_of_any_length():
    texts = ["1e9999999999999999999", "1e-9999999999999999999", "0e9999999999999", "0.0E-9999999999", "1e00000000002"]
    shortened = shorten_numerals(pa.array(texts, pa.string())).to_pylist()
    assert shortened == [*texts[:2], "0", "0", "100"]


def test_parts_of_arrays():
    texts = pa.array(["x", "1.0", None, "2.50", "y"])
    assert shorten_numerals(texts.slice(1, 3)).to_pylist() == ["1", None, "2.5"]
    assert shorten_numerals(texts.slice(2, 0)).to_pylist() == []


def test_the_number_of_texts_is_checked():
    from fastmetrics._kernels.formats.numerals import mark_long_numerals

    with pytest.raises(ValueError, match="leave the data"):
        mark_long_numerals(np.zeros(3, np.uint8), np.array([0, 4], np.int32), 46, np.zeros(1, np.uint8))
    with pytest.raises(ValueError, match="one more"):
        mark_long_numerals(np.zeros(3, np.uint8), np.array([0, 3], np.int64), 46, np.zeros(2, np.uint8))
