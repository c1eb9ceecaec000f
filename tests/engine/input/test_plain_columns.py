"""Arrow's types of other layouts (runs, views, extensions) in every role: they mean what their plain form means."""

import random
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import fastmetrics as fm
from fastmetrics._core.columns.arrow_columns import plain_column, plain_type
from support.cases import assert_raises, each_case
from support.peers import polars

LABELS = [1, 0, 1, 0, 1, 0, 1, 0]
SCORES = [0.9, 0.1, 0.8, 0.3, 0.2, 0.4, 0.7, 0.6]
GROUPS = [1, 1, 1, 1, 2, 2, 2, 2]
BASE = {"y": pa.array(LABELS), "s": pa.array(SCORES), "g": pa.array(GROUPS)}
ROWS = [[0.9, 0.1], [0.2, 0.8], [0.3, 0.7], [0.6, 0.4], [0.5, 0.5], [0.1, 0.9], [0.8, 0.2], [0.7, 0.3]]


def runs(array):
    return pc.run_end_encode(array)


def dictionary(values):
    return pa.DictionaryArray.from_arrays(pa.array([0, 1] * 4, pa.int32()), values)


def runs_of(values):
    return pa.RunEndEncodedArray.from_arrays(pa.array([4, 8], pa.int32()), values)


COLUMNS = {
    "list view": pa.array([[1], [2]] * 4, pa.list_view(pa.int64())),
    "large list view": pa.array([[1], None] * 4, pa.large_list_view(pa.int64())),
    "runs": runs(pa.array(GROUPS)),
    "runs of texts": runs(pa.array(list("aabbccdd"))),
    "runs of views": runs_of(pa.array(["a", None], pa.string_view())),
    "runs of lists": runs_of(pa.array([[1, 2], []])),
    "runs of dictionaries": runs_of(pa.array(["a", "b"]).dictionary_encode()),
    "string view": pa.array([*"aabbccd", None], pa.string_view()),
    "binary view": pa.array([b"a"] * 8, pa.binary_view()),
    "dictionary of views": dictionary(pa.array(["a", "b"], pa.string_view())),
    "dictionary of binary views": dictionary(pa.array([b"a", None], pa.binary_view())),
    "struct of list views": pa.StructArray.from_arrays(
        [pa.array([[1], [2]] * 4, pa.list_view(pa.int64()))], ["a"], mask=pa.array([False, True] * 4)
    ),
    "list of views": pa.array([["a"], ["b", None]] * 4, pa.list_(pa.string_view())),
    "fixed lists of views": pa.array([["a", "b"], None] * 4, pa.list_(pa.string_view(), 2)),
    "list view of views": pa.array([["a"], ["b"], None, []] * 2, pa.list_view(pa.string_view())),
    "list of lists of views": pa.array([[["a"], None], []] * 4, pa.list_(pa.list_view(pa.string_view()))),
    "uuid": pa.array([bytes(16)] * 8, pa.uuid()),
    "decimal32": pa.array([Decimal("1.50"), None] * 4, pa.decimal32(5, 2)),
    "runs of decimal64": runs_of(pa.array([Decimal("1.50"), None], pa.decimal64(15, 2))),
    "map": pa.array([[("a", 1)]] * 8, pa.map_(pa.string(), pa.int64())),
}


@each_case("name", COLUMNS)
def test_the_plain_form_has_the_same_values(name):
    column = COLUMNS[name]
    for part in (column, column.slice(3, 4), column.slice(5, 0), pa.chunked_array([column, column.slice(1)])):
        plain = plain_column(part)
        plain.validate(full=True)
        assert plain.to_pylist() == (part.to_pylist() if name != "uuid" else [bytes(16)] * len(part))
        assert plain.type == plain_type(part.type)
        assert plain_type(plain.type) == plain.type


def test_list_views_may_overlap_and_stand_in_any_order():
    generator = random.Random(0)
    starts = [generator.randrange(5) for _ in range(40)]
    column = pa.ListViewArray.from_arrays(starts, [3] * 40, pa.array(range(8)), mask=pa.array([False, True] * 20))
    assert plain_column(column.slice(7)).to_pylist() == column.slice(7).to_pylist()


@each_case("name", COLUMNS)
def test_columns_that_are_not_read_may_have_any_layout(name, tmp_path):
    table = pa.table({**BASE, "other": COLUMNS[name]})
    path = tmp_path / "log.arrow"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    state = fm.Accumulator(["auc"], label="y", score="s")
    state.update(table)
    assert state.result()["auc"] == 0.8125
    for data in (table, path, table.to_reader(), [table, table], iter([table]), table.to_batches()):
        assert fm.evaluate(data, "auc", label="y", score="s", where="g < 3")["auc"] == 0.8125


TEXTS = pa.array(map(str, SCORES))
READ = {
    "label of runs": {"y": runs(BASE["y"])},
    "label of runs of booleans": {"y": runs(pa.array(LABELS).cast("bool"))},
    "label as decimals": {"y": pa.array(map(Decimal, LABELS), pa.decimal256(40, 0))},
    "label as half floats": {"y": pa.array(np.array(LABELS, np.float16))},
    "score of runs": {"s": runs(BASE["s"])},
    "score as decimal32": {"s": TEXTS.cast(pa.decimal32(5, 2))},
    "score as decimal256": {"s": TEXTS.cast(pa.decimal256(30, 2))},
    "score of runs of half floats": {
        "s": pa.RunEndEncodedArray.from_arrays(
            pa.array(range(1, 9), pa.int32()), pa.array(np.array(SCORES, np.float16))
        )
    },
    "group of runs": {"g": runs(BASE["g"])},
    "group as decimal64": {"g": pa.array([Decimal("1.5")] * 4 + [Decimal("2.25")] * 4, pa.decimal64(9, 2))},
    "group as text views": {"g": pa.array(map(str, GROUPS)).cast(pa.string_view())},
    "group as byte views": {"g": pa.array([b"a"] * 4 + [b"b"] * 4, pa.binary_view())},
    "group of dictionaries": {
        "g": pa.DictionaryArray.from_arrays(pa.array([0] * 4 + [1] * 4), pa.array([b"a", b"b"], pa.binary_view()))
    },
    "group of runs of views": {"g": runs_of(pa.array(["a", "b"], pa.string_view()))},
}


@each_case("name", READ)
def test_columns_that_are_read_may_have_any_layout(name):
    table = pa.table({**BASE, **READ[name]})
    report = fm.evaluate(table, "auc,gauc", label="y", score="s", group="g", by="g")
    assert report["auc"] == 0.8125
    assert report["gauc"] == 0.75
    state = fm.Accumulator(["auc", "gauc"], label="y", score="s", group="g")
    for piece in (table.slice(0, 3), table.slice(3)):
        state.update(piece)
    assert state.result()["gauc"] == 0.75


@each_case("score", [runs(BASE["s"]), TEXTS.cast(pa.decimal32(5, 2)), TEXTS.cast(pa.decimal256(30, 2))], ids=str)
def test_expressions_read_any_layout(score):
    table = pa.table({**BASE, "s": score})
    assert fm.evaluate(table, "auc", label="y", score="s * 2")["auc"] == 0.8125
    assert fm.evaluate(table, "auc", label="y", score="s", where="s > 0.15")["auc"] == 0.75


@each_case(
    "kind",
    [
        pa.list_view(pa.float64()),
        pa.large_list_view(pa.float64()),
        pa.list_(pa.float64(), 2),
        pa.list_view(pa.float32()),
        pa.list_view(pa.decimal128(4, 2)),
    ],
    ids=str,
)
def test_vectors_of_any_layout(kind):
    rows = [[Decimal(str(own)) for own in row] for row in ROWS] if "decimal" in str(kind) else ROWS
    wanted = fm.evaluate({**BASE, "p": ROWS}, "log_loss", label="y", probabilities="p")
    found = fm.evaluate(pa.table({**BASE, "p": pa.array(rows, kind)}), "log_loss", label="y", probabilities="p")
    assert found["log_loss"] == pytest.approx(wanted["log_loss"], rel=1e-6)


@each_case(
    "kind", [pa.list_view(pa.string()), pa.large_list_view(pa.string_view()), pa.list_(pa.string_view(), 2)], ids=str
)
def test_label_sets_of_any_layout(kind):
    sets, found = [["a", "b"], ["c", "a"]] * 4, [["a", "b"], ["b", "c"]] * 4
    plain = fm.evaluate({"y": sets, "p": found}, "hamming_loss", label="y", prediction="p")
    table = pa.table({"y": pa.array(sets, kind), "p": pa.array(found, kind)})
    assert fm.evaluate(table, "hamming_loss", label="y", prediction="p")["hamming_loss"] == plain["hamming_loss"]


# ------------------------------------------------------------------------------------------------- integers of 128 bits


def wide_frame(kind="Int128"):
    pl = polars()
    if not hasattr(pl, kind):
        pytest.skip(f"this polars has no {kind}")
    frame = pl.DataFrame({"y": LABELS, "s": SCORES, "g": GROUPS})
    return frame.with_columns(id=(pl.col("g").cast(getattr(pl, kind)) + 2**70))


@each_case("kind", ["Int128", "UInt128"])
def test_integers_of_128_bits_that_are_not_read_do_not_matter(kind):
    frame = wide_frame(kind)
    for data in (frame, frame.lazy(), [frame, frame], iter([frame])):
        assert fm.evaluate(data, "auc", label="y", score="s")["auc"] == 0.8125
    state = fm.Accumulator(["auc"], label="y", score="s")
    state.update(frame)
    assert state.result()["auc"] == 0.8125


@each_case("kind", ["Int128", "UInt128"])
def test_integers_of_128_bits_that_are_read_are_exact(kind):
    frame = wide_frame(kind)
    dtype = frame["id"].dtype
    narrow = frame.with_columns(polars().col("y", "g").cast(dtype))
    for data in (narrow, narrow.lazy(), {name: narrow[name] for name in narrow.columns}):
        assert fm.evaluate(data, "auc,gauc", label="y", score="s", group="g", where="g < 3")["gauc"] == 0.75
    assert fm.evaluate(frame, "auc", label="y", score="id")["auc"] == 0.5
    assert fm.evaluate(frame, "gauc", label="y", score="s", group="id", where=f"id > {2**70}")["gauc"] == 0.75
    assert fm.roc_auc_score(narrow["y"], frame["s"]) == 0.8125
    error = f"y_score has {2**70 + 1} at row 0, which has more than 64 bits; cast numbers to Float64"
    assert_raises(ValueError, error, fm.roc_auc_score, frame["y"], frame["id"])


def test_a_number_of_more_digits_than_expressions_have_names_its_row():
    frame = wide_frame("UInt128")
    wide = frame.with_columns(id=polars().Series([2**128 - 1] * 8, dtype=polars().UInt128))
    with pytest.raises(ValueError, match=r" has more than 38 digits, at row 0"):
        fm.evaluate(wide, "auc", label="y", score="s", where="id > 5")
