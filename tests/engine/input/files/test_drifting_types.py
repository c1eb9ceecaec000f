"""A column that has other types in later files or batches: its values are the same wherever one type holds them all."""

from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

import fastmetrics as fm
from support.cases import assert_raises, each_case

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
    first, second = tables((INTEGERS, decimals(["0.00", "1.00", "2.50", "3.00"], 5, 2)))
    error = r"batch 1 of the list of batches has column 'x' of Arrow type decimal128\(5, 2\).*have int64 \(.*give all"
    assert_raises(ValueError, error, fm.evaluate, [first, second], "auc", label="y", score="s", by="x")
    assert fm.evaluate([first, second], "auc", label="y", score="s")["auc"] == 1.0
