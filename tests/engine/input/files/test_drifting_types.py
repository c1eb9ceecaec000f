"""A column that has other types in later files or batches: its values are the same wherever one type holds them all."""

import io
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

import fastmetrics as fm
from fastmetrics.engine.input.column_types import convert_exactly, type_named
from support.cases import assert_raises, each_case
from support.peers import pandas

LABELS, SCORES = [1, 0, 1, 0], [0.9, 0.1, 0.8, 0.3]


def moments(unit, zone=None):
    return pa.array([0, 1, 2, 3], pa.int64()).cast(pa.timestamp("s", zone)).cast(pa.timestamp(unit, zone))


def decimals(texts, precision, scale):
    return pa.array(list(map(Decimal, texts)), pa.decimal128(precision, scale))


INTEGERS = pa.array([0, 1, 2, 3])
# Two columns of the same four values, and whether batches that come one by one may have both, in this order.
PAIRS = {
    "int64, decimal": (INTEGERS, decimals(["0.00", "1.00", "2.00", "3.00"], 5, 2), True),
    "decimal, int8": (decimals("0123", 10, 2), INTEGERS.cast("int8"), True),
    "decimal, uint64": (decimals("0123", 38, 10), INTEGERS.cast("uint64"), True),
    "decimals": (decimals("0123", 5, 2), decimals("0123", 9, 5), True),
    "int64, double": (INTEGERS, INTEGERS.cast("double"), False),
    "float, double": (INTEGERS.cast("float"), INTEGERS.cast("double"), False),
    "double, half": (INTEGERS.cast("double"), INTEGERS.cast("halffloat"), True),
    "units": (moments("us"), moments("ms"), True),
    "finer units": (moments("s"), moments("ns"), True),
    "zones": (moments("us", "UTC"), moments("ms", "Asia/Tokyo"), True),
    "dictionary, plain": (pa.array(list("abcd")).dictionary_encode(), pa.array(list("abcd")), True),
    "plain, dictionary of numbers": (INTEGERS, INTEGERS.dictionary_encode(), True),
    "views": (pa.array(list("abcd"), pa.string_view()), pa.array(list("abcd")), True),
    "nulls, int64": (pa.nulls(4, pa.null()), INTEGERS, True),
}


def tables(pair):
    return [pa.table({"y": LABELS, "s": SCORES, "x": column}) for column in pair[:2]]


def write(table, path):
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    return path


@each_case("name", PAIRS)
@each_case("suffix", [".parquet", ".arrow"])
def test_files_of_several_types_have_one_column(name, suffix, tmp_path):
    paths = [write(own, tmp_path / f"{number}{suffix}") for number, own in enumerate(tables(PAIRS[name]))]
    assert fm.evaluate(paths, "auc", label="y", score="s")["auc"] == 1.0
    report = fm.evaluate(paths, "auc", label="y", score="s", by="x")
    assert len({result.slice["x"] for result in report if result.slice}) == (5 if "nulls" in name else 4)


@each_case("name", [name for name, pair in PAIRS.items() if pair[2]])
def test_batches_of_several_types_have_one_column(name):
    batches = tables(PAIRS[name])
    for data in (batches, iter(batches)):
        report = fm.evaluate(data, "auc", label="y", score="s", by="x")
        assert len({result.slice["x"] for result in report if result.slice}) == (5 if "nulls" in name else 4)


def test_values_that_the_first_type_does_not_hold_are_an_error():
    batches = tables((INTEGERS, decimals(["0.00", "1.00", "2.50", "3.00"], 5, 2)))
    error = (
        r"batch 1 of the list_iterator of batches has column 'x' of Arrow type decimal128\(5, 2\), but .* have int64, "
        "which does not hold 2.50 at row 6; give all batches one type"
    )
    assert_raises(ValueError, error, fm.evaluate, iter(batches), "auc", label="y", score="s", by="x")
    assert fm.evaluate(iter(batches), "auc", label="y", score="s")["auc"] == 1.0
    report = fm.evaluate(batches, "auc", label="y", score="s", by="x")  # the types of a list are known before
    assert [result.slice["x"] for result in report if result.slice] == list(map(Decimal, ["0", "1", "2", "2.5", "3"]))


# Two types of eight values in a role, and the values of one column that has them.
EIGHT = [0, 1, 2, 3, 1, 2, 3, 4]
ROLES = {
    "score": ("s", [
        ("int8", "double"), ("double", "int64"), ("double", "float"), ("float", "int8"), ("double", "bool"),
    ]),
    "label": ("y", [("bool", "int64"), ("int8", "double"), ("double", "bool"), ("uint64", "int8")]),
    "weight": ("w", [("int32", "double"), ("float", "double"), ("double", "decimal128(5, 2)")]),
    "group": ("g", [
        ("int64", "double"), ("double", "int32"), ("int32", "uint64"), ("int64", "decimal128(9, 3)"),
        ("decimal128(5, 2)", "uint16"), ("date32[day]", "date64[ms]"), ("date64[ms]", "date32[day]"),
        ("timestamp[s]", "timestamp[ns]"), ("timestamp[us]", "timestamp[ms]"),
        ("timestamp[us, tz=UTC]", "timestamp[ms, tz=Asia/Tokyo]"), ("halffloat", "double"), ("float", "int64"),
    ]),
}  # fmt: skip
DRIFTS = [(role, column, *pair) for role, (column, pairs) in ROLES.items() for pair in pairs]


def values_of(report):
    return [repr(result.value) for result in report]


def column_of(values, name):
    if name == "bool":
        return pa.array([value > 0 for value in values])
    kind = type_named(name)
    if pa.types.is_date(kind):
        return pa.array(values, pa.int32()).cast(pa.date32()).cast(kind)
    if pa.types.is_timestamp(kind):
        return pa.array(values).cast(pa.timestamp("s")).cast(pa.timestamp(kind.unit)).cast(pa.int64()).cast(kind)
    return convert_exactly(pa.array(values), kind)


@each_case("role, column, first, second", DRIFTS)
@each_case("by_key", [False, True])
def test_batches_and_files_have_the_values_of_one_frame(role, column, first, second, by_key, tmp_path):
    few = [0, 1, 0, 1, 1, 0, 0, 1]
    values = few if role == "label" or "bool" in (first, second) else EIGHT
    log = {
        "y": pa.array(few),
        "s": pa.array([0.5, 0.25, 0.5, 1, 0, 0.5, 1, 0.25]),
        "g": pa.array([1, 1, 1, 1, 2, 2, 2, 2]),
    }
    log["w"] = pa.array([1.0, 2, 1, 2, 1, 2, 1, 2])
    names = {"label": "y", "score": "s", "group": "g", "weight": "w", **({"by": "g"} if by_key else {})}
    whole = {**log, column: convert_exactly(pa.array(values), pa.float64()) if role != "group" else pa.array(values)}
    expected = fm.evaluate(whole, ["gauc", "auc"], **names)
    kinds = ((first, slice(0, 4)), (second, slice(4, 8)))
    batches = [
        pa.table({name: own[part] for name, own in {**log, column: column_of(values, kind)}.items()})
        for kind, part in kinds
    ]
    state = fm.Accumulator(["gauc", "auc"], **names)
    for number, own in enumerate(batches):
        write(own, tmp_path / f"{number}.parquet")
        state.update(own)
    reports = [fm.evaluate(data, ["gauc", "auc"], **names) for data in (batches, iter(batches), str(tmp_path))]
    for report in [*reports, state.result()]:
        assert values_of(report) == values_of(expected)


def test_chunks_of_pandas_have_the_types_that_their_values_need():
    """As `read_csv(chunksize=...)` gives them: integers here, floats where one is missing."""
    read = pandas().read_csv
    texts = "y,s,g\n" + "".join(
        f"{n % 2},{(n * 7) % 5 if n < 50 else n / 100},{n % 3 if n != 60 else ''}\n" for n in range(100)
    )
    options = {"label": "y", "score": "s", "group": "g", "on_invalid": "drop"}
    chunks = list(read(io.StringIO(texts), chunksize=50))
    assert chunks[0]["g"].dtype != chunks[1]["g"].dtype
    expected = fm.evaluate(io.BytesIO(texts.encode()), ["gauc", "auc"], format="csv", **options)
    state = fm.Accumulator(["gauc", "auc"], **options)
    for chunk in chunks:
        state.update(chunk)
    for report in (
        fm.evaluate(iter(chunks), ["gauc", "auc"], **options),
        fm.evaluate(chunks, ["gauc", "auc"], **options),
    ):
        assert values_of(report) == values_of(expected)
    assert values_of(state.result()) == values_of(expected)


def test_floats_beyond_integers_are_not_taken_for_ids():
    batches = [pa.table({"y": LABELS, "s": SCORES, "x": pa.array([1, 2, 3, 4], kind)}) for kind in ("int64", "double")]
    batches[1] = batches[1].set_column(2, "x", pa.array([1.0, 2.0**53, 3.0, 4.0]))
    error = r"double, but .* have int64, which does not hold 9007199254740992.0 at row 5"
    assert_raises(ValueError, error, fm.evaluate, iter(batches), "gauc", label="y", score="s", group="x")


@each_case("first, second", [("int64", "double"), ("double", "int8"), ("float", "uint64"), ("bool", "int64")])
def test_labels_of_classes_are_compared_by_value(first, second, tmp_path):
    labels, found = [1, 0, 1, 1, 0, 1, 0, 0], [1, 0, 0, 1, 0, 0, 1, 0]
    names = {"label": "y", "prediction": "p"}
    expected = fm.evaluate({"y": labels, "p": found}, ["accuracy", "mcc"], **names)
    kinds = ((first, slice(0, 4)), (second, slice(4, 8)))
    batches = [pa.table({"y": column_of(labels[own], kind), "p": column_of(found[own], kind)}) for kind, own in kinds]
    for number, own in enumerate(batches):
        write(own, tmp_path / f"{number}.parquet")
    for data in (batches, iter(batches), str(tmp_path)):
        assert values_of(fm.evaluate(data, ["accuracy", "mcc"], **names)) == values_of(expected)


@each_case("first, second", [("float", "double"), ("double", "float"), ("int64", "double")])
def test_lists_of_numbers(first, second):
    rows = {"float": [[0.5, 0.5], [0.25, 0.75]], "double": [[0.3, 0.7], [0.1, 0.9]], "int64": [[1, 0], [0, 1]]}
    batches = [
        pa.table({"y": [0, 1], "p": pa.array(rows[kind], pa.list_(type_named(kind)))}) for kind in (first, second)
    ]
    names = {"label": "y", "probabilities": "p"}
    whole = {"y": [0, 1, 0, 1], "p": rows[first] + rows[second]}
    expected = fm.evaluate(whole, ["logloss"], **names)["logloss"]
    assert fm.evaluate(batches, ["logloss"], **names)["logloss"] == expected
    if first == "float":
        error = r"list<.*double>, but .* list<.*float>, which does not hold \[0.3, 0.7\] at row 2"
        assert_raises(ValueError, error, fm.evaluate, iter(batches), ["logloss"], **names)
    else:
        assert fm.evaluate(iter(batches), ["logloss"], **names)["logloss"] == expected
