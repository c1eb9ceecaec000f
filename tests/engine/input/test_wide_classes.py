"""Labels of classes in columns of any source: numbers of any width are classes, compared by value."""

import csv
import json
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastmetrics as fm
from support.cases import each_case

NAMES = {"label": "y", "prediction": "p"}
METRICS = ["accuracy", "kappa", "f1(average=macro)"]
WIDE = 10**21 + 1
CLASSES = {
    "beyond int64": (2**63 + 1, 2**63 + 2, 2**63),
    "22 digits": (WIDE, WIDE + 1, WIDE + 2),
    "22 digits and small": (WIDE, 3, WIDE + 1),
    "negative": (-(2**63) - 1, -(2**63), -(2**63) - 2),
    "next to 2**63": (2**63 - 1, 2**63, -(2**63)),
    "90 digits": (10**90, 10**90 + 1, 10**90 + 2),
}
TRUE, PREDICTED = [0, 1, 2, 0, 1, 2, 0, 0], [0, 1, 2, 1, 1, 0, 0, 2]
LONGEST = 76  # digits of Arrow's decimals


def as_dict(columns, folder):
    return columns


def as_csv(columns, folder):
    with (folder / "log.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return folder / "log.csv"


def as_jsonl(columns, folder):
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / "log.jsonl"


def as_parquet(columns, folder):
    longest = max(len(str(value)) for values in columns.values() for value in values)
    kind = pa.decimal128(38, 0) if longest <= 38 else pa.decimal256(LONGEST, 0)
    table = {name: pa.array(list(map(Decimal, values)), kind) for name, values in columns.items()}
    pq.write_table(pa.table(table), folder / "log.parquet")
    return folder / "log.parquet"


def values_of(log, **names):
    report = fm.evaluate(log, METRICS, **NAMES, **names)
    return [report[name] for name in METRICS]


def columns_of(classes, true=TRUE, predicted=PREDICTED):
    return {"y": [classes[code] for code in true], "p": [classes[code] for code in predicted]}


@each_case("make", [as_dict, as_csv, as_jsonl, as_parquet], ids=["dict", "csv", "jsonl", "parquet"])
@each_case("classes", CLASSES.values(), ids=CLASSES.keys())
def test_wide_integers_are_classes(make, classes, tmp_path):
    if make is as_parquet and len(str(max(classes))) > LONGEST:
        return  # no type of Arrow holds them
    expected = values_of({"y": TRUE, "p": PREDICTED})
    assert values_of(make(columns_of(classes), tmp_path)) == pytest.approx(expected, rel=1e-15)


@each_case("make", [as_dict, as_csv, as_jsonl, as_parquet], ids=["dict", "csv", "jsonl", "parquet"])
def test_one_side_alone_is_wide(make, tmp_path):
    columns = {"y": [WIDE, WIDE + 1, 3, 4], "p": [1, 2, 3, 4]}
    assert values_of(make(columns, tmp_path)) == values_of({"y": [10, 11, 3, 4], "p": [1, 2, 3, 4]})


@each_case("make", [as_csv, as_jsonl], ids=["csv", "jsonl"])
def test_a_wide_class_may_come_late(make, tmp_path):
    n = 150_000
    columns = {"y": [7] * n + [WIDE, WIDE + 1], "p": [7] * n + [WIDE, WIDE]}
    report = fm.evaluate(make(columns, tmp_path), ["accuracy"], **NAMES)
    assert report["accuracy"] == (n + 1) / (n + 2)


def test_classes_are_in_the_order_of_numbers(tmp_path):
    classes = (WIDE, 7, -WIDE)
    for make in (as_dict, as_csv, as_jsonl, as_parquet):
        log = make(columns_of(classes), tmp_path)
        (matrix,) = fm.evaluate(log, ["accuracy"], **NAMES).confusion_matrices
        assert list(matrix.classes) == [-WIDE, 7, WIDE]


def test_a_class_is_chosen_by_its_value(tmp_path):
    columns = {"y": [WIDE, 3, WIDE, 3], "p": [WIDE, WIDE, 3, 3]}
    metric = f"recall(pos_label={WIDE})"
    for make in (as_dict, as_csv, as_parquet):
        assert fm.evaluate(make(columns, tmp_path), [metric], **NAMES)[metric] == 0.5


TYPES = {
    "two scales": (pa.decimal128(5, 2), pa.decimal256(40, 1)),
    "decimals and integers": (pa.decimal128(5, 2), pa.int16()),
    "integers of two kinds": (pa.uint64(), pa.int8()),
    "floats and decimals": (pa.float64(), pa.decimal128(4, 0)),
    "booleans and decimals": (pa.bool_(), pa.decimal128(4, 1)),
}


@each_case("types", TYPES.values(), ids=TYPES.keys())
def test_numbers_of_two_types_are_equal_by_value(types):
    columns = []
    for kind in types:
        values = [Decimal(value) if pa.types.is_decimal(kind) else value for value in (1, 0, 1, 0)]
        values = list(map(bool, values)) if kind == pa.bool_() else values
        columns.append(pa.array(values, kind))
    for label, prediction in (columns, columns[::-1]):
        assert values_of(pa.table({"y": label, "p": prediction})) == [1.0, 1.0, 1.0]


def test_decimals_with_fractions_are_classes():
    label = pa.array([Decimal("1.50"), Decimal("2.00"), Decimal("3.25")], pa.decimal128(5, 2))
    prediction = pa.array([Decimal("1.5"), Decimal("2.0"), Decimal("3.2")], pa.decimal128(5, 1))
    assert fm.evaluate(pa.table({"y": label, "p": prediction}), ["accuracy"], **NAMES)["accuracy"] == 2 / 3


def test_floats_beyond_64_bits_are_their_integers():
    table = pa.table({"y": pa.array([2**63, 5], pa.uint64()), "p": [2.0**63, 5.0]})
    assert values_of(table) == [1.0, 1.0, 1.0]


@each_case("wide", [False, True])
def test_classes_of_a_text_file_may_be_numbers_and_texts(wide, tmp_path):
    number = WIDE if wide else 7
    columns = {"y": [number, "other", f"00{number}", "b"], "p": [f"{number}.0", "other", number, "c"]}
    assert fm.evaluate(as_csv(columns, tmp_path), ["accuracy"], **NAMES)["accuracy"] == 0.75


def test_small_numbers_beside_texts_in_many_rows(tmp_path):
    """The first texts and the first numbers stay apart where pairs are counted in a square."""
    classes = [0, 1, 2, "a", "b", "c"]
    true, predicted = [0, 3, 1, 4, 2, 5, 0, 3] * 5_000, [3, 0, 1, 4, 5, 2, 0, 3] * 5_000
    expected = values_of({"y": true, "p": predicted})
    assert values_of(as_csv(columns_of(classes, true, predicted), tmp_path)) == pytest.approx(expected, rel=1e-15)


@each_case("make", [as_csv, as_jsonl], ids=["csv", "jsonl"])
@each_case("texts", [["a", "b"], ["a1", "2b"]])
def test_numbers_and_texts_are_never_one_class(make, texts, tmp_path):
    for columns in ({"y": [1, 2], "p": texts}, {"y": texts, "p": ["1.0", 2]}):
        if make is as_jsonl and "1.0" in columns["p"]:
            continue
        with pytest.raises(ValueError, match="both have to be of one type; cast one of the columns"):
            values_of(make(columns, tmp_path))


@each_case("make", [as_dict, as_csv, as_jsonl], ids=["dict", "csv", "jsonl"])
def test_scores_are_no_classes(make, tmp_path):
    with pytest.raises(ValueError, match=r"prediction column 'p' has 0.25 at row 1: labels of classes have no frac"):
        values_of(make({"y": [1, 0], "p": [1.0, 0.25]}, tmp_path))


def test_probabilities_have_wide_classes(tmp_path):
    metric = f"logloss(labels=[{WIDE}, {WIDE + 1}, 5])"
    columns = {"y": [WIDE, WIDE + 1, 5], "a": [0.5, 0.2, 0.3], "b": [0.25, 0.7, 0.3], "c": [0.25, 0.1, 0.4]}
    expected = fm.evaluate(columns | {"y": [0, 1, 2]}, ["logloss"], label="y", probabilities=["a", "b", "c"])["logloss"]
    for make in (as_dict, as_csv, as_jsonl):
        report = fm.evaluate(make(columns, tmp_path), [metric], label="y", probabilities=["a", "b", "c"])
        assert report[metric] == expected


@each_case("make", [as_dict, as_csv, as_jsonl], ids=["dict", "csv", "jsonl"])
def test_partitions_have_wide_labels(make, tmp_path):
    columns = {"label": [WIDE, WIDE + 1, WIDE, WIDE + 1], "cluster": ["7e400", "8e400", "7e400", "8e400"]}
    assert fm.evaluate(make(columns, tmp_path), ["ari"])["ari"] == 1.0


def test_sets_have_wide_labels():
    label = pa.array([[2**63 + 1, 1], [2]], pa.list_(pa.uint64()))
    table = pa.table({"y": label, "p": [[1, 2], [2]]})
    assert fm.evaluate(table, ["f1(average=micro)"], **NAMES)["f1(average=micro)"] == pytest.approx(2 / 3)


def test_states_take_classes_of_several_widths(tmp_path):
    logs = [
        {"y": [1, 2, 3], "p": [1, 2, 2]},
        {"y": [WIDE, 2, 3], "p": [WIDE, 3, 3]},
        pa.table({"y": pa.array([2**63 + 1, 2], pa.uint64()), "p": pa.array([2**63 + 1, 2], pa.decimal128(21, 1))}),
        as_csv({"y": [WIDE, 3], "p": [WIDE, 3]}, tmp_path),
    ]
    whole = {"y": [1, 2, 3, 10, 2, 3, 11, 2, 10, 3], "p": [1, 2, 2, 10, 3, 3, 11, 2, 10, 3]}
    expected = [result.value for result in fm.evaluate(whole, METRICS, **NAMES)]
    for order in (logs, logs[::-1]):
        one, merged = (fm.Accumulator(METRICS, **NAMES) for _ in range(2))
        for log in order:
            one.update(log)
            other = fm.Accumulator(METRICS, **NAMES)
            other.update(log)
            merged.merge(fm.Accumulator.from_bytes(other.to_bytes()))
        for state in (one, merged, fm.Accumulator.from_bytes(merged.to_bytes())):
            assert [result.value for result in state.result()] == pytest.approx(expected, rel=1e-15)


def test_states_of_numbers_and_of_texts_do_not_merge():
    states = [fm.Accumulator(METRICS, **NAMES) for _ in range(2)]
    states[0].update({"y": [1, WIDE], "p": [1, 2]})
    states[1].update({"y": ["a", "b"], "p": ["a", "a"]})
    before = states[0].result()
    with pytest.raises(TypeError, match="states of different column types do not merge"):
        states[0].merge(states[1])
    with pytest.raises(TypeError, match="column 'p' has Arrow type text, but number in earlier batches"):
        states[0].update({"y": ["a", "b"], "p": ["a", "a"]})
    assert states[0].result() == before
