"""Metrics of text in every entry point: how columns of texts are read, batched and counted.

These tests register a metric: the share of rows whose hypothesis is one of its references, and the code points of all
texts.
"""

import json
import math
import random

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core import registry
from fastmetrics._core.columns import text_columns
from fastmetrics._core.kinds import TEXTS
from fastmetrics._core.statistic import Value
from fastmetrics.engine.input import batches
from fastmetrics.engine.input.files import parquet_reading
from support.cases import assert_raises, each_case
from support.registry_cases import own_metrics
from support.states.accumulators import merged, pieces, updated
from support.states.state_bytes_parts import put_together, take_apart
from support.states.toy_engine import distributed_report
from support.text_logs import EqualTexts, select_rows

ROWS = 400
WORDS = ["the", "cat", "sat", "", "on", "ein", "straße", "кошка", "猫", "🐈", "naïve", "e\u0301", "\0", "mat"]


def finalize(parameters, state):
    """The share of rows whose hypothesis is one of its references."""
    rows, equal, *points = state.counts.tolist()
    coverage = {"rows": rows, "points": points}
    return Value(equal / rows, coverage) if rows else Value(math.nan, coverage, "no rows")


finalize.__module__ = "fastmetrics.metrics.text"


@pytest.fixture(autouse=True)
def _toy_metric():
    with own_metrics():
        registry.metric(
            "sametext", exchange="none", roles=TEXTS, statistics=lambda fold=False: (EqualTexts(fold),),
            function=None, undefined="", parameters={"fold": False},
        )(finalize)  # fmt: skip
        yield


def text_log(rows=ROWS, seed=5):
    chance = random.Random(seed)

    def sentence():
        return " ".join(chance.choices(WORDS, k=chance.randrange(12)))

    references = [[sentence() for _ in range(chance.randrange(1, 4))] for _ in range(rows)]
    return {
        "hypothesis": [chance.choice(own) if chance.random() < 0.6 else sentence() for own in references],
        "other": [sentence().upper() for _ in references],
        "reference": [own[0] for own in references],
        "several": [own + [None] * chance.randrange(2) for own in references],
        "domain": chance.choices(["news", "web", "law"], k=rows),
        "day": chance.choices([1, 2], k=rows),
    }


@pytest.fixture(scope="module")
def log():
    return text_log()


def expected(log, label="reference", score="hypothesis"):
    """The share of equal texts and the code points, in plain Python."""
    references = [[row] if isinstance(row, str) else [text for text in row if text is not None] for row in log[label]]
    equal = [text in texts for text, texts in zip(log[score], references, strict=True)]
    points = [sum(map(len, log[score])), sum(len(text) for texts in references for text in texts)]
    return sum(equal) / len(equal), {"rows": len(equal), "points": points}


def evaluate(log, metrics=("sametext",), **options):
    return fm.evaluate(log, list(metrics), **options)


def new_accumulator(metrics=("sametext",), **options):
    return fm.Accumulator(list(metrics), **options)


def found(report, **where):
    result = report.result("sametext", **where)
    return result.value, {**result.coverage, "points": list(result.coverage["points"])}


def to_table(log, kind=None):
    """The log as an Arrow table, with its texts as an Arrow type or as a dictionary."""
    table = pa.table(log)
    if kind is None:
        return table
    for name in ("hypothesis", "other", "reference"):
        column = table[name].dictionary_encode() if kind == "dictionary" else table[name].cast(kind)
        table = table.set_column(table.column_names.index(name), name, column)
    return table


class TestColumns:
    @each_case("kind", [None, pa.large_string(), pa.string_view(), "dictionary"], ids=str)
    @each_case("label", ["reference", "several"])
    def test_any_type_of_text(self, log, kind, label):
        table = to_table(log, kind)
        for data in (table, table.slice(7, 100), table.to_reader(max_chunksize=13)):
            rows = slice(7, 107) if data.__class__ is pa.Table and data.num_rows == 100 else slice(None)
            selected = {name: column[rows] for name, column in log.items()}
            assert found(evaluate(data, label=label)) == expected(selected, label)

    @each_case(
        "kind",
        [
            pa.list_(pa.large_string()),
            pa.large_list(pa.string()),
            pa.list_(pa.string_view()),
            pa.list_(pa.dictionary(pa.int8(), pa.string())),
            pa.list_(pa.string(), 2),
        ],
        ids=str,
    )
    def test_any_type_of_list(self, log, kind):
        lists = [[texts[0], texts[-1]] for texts in log["several"]]
        column = pa.array(lists, kind)
        for start in (0, 5):
            data = {"reference": column[start:], "hypothesis": log["hypothesis"][start:]}
            assert found(evaluate(data)) == expected({**data, "reference": lists[start:]})

    def test_lists_of_nulls_only_in_a_batch(self):
        column = pa.chunked_array([pa.array([[None, "a"], ["b"]]), pa.array([["c"], None])])
        table = pa.table({"reference": column, "hypothesis": ["a", "c", "c", "d"]})
        assert found(evaluate(table, on_invalid="drop")) == (2 / 3, {"rows": 3, "points": [3, 3]})

    def test_any_container(self, log, tmp_path):
        wanted = expected(log)
        arrays = {name: np.array(log[name]) for name in ("hypothesis", "reference")}
        objects = {name: np.array(log[name], object) for name in ("hypothesis", "reference")}
        plain = {name: log[name] for name in ("hypothesis", "reference")}
        for data in (objects, plain, to_table(plain), to_table(log)):
            assert found(evaluate(data)) == wanted
        # NumPy's fixed-width text cannot end in a NUL.
        assert found(evaluate(arrays)) == expected({name: own.tolist() for name, own in arrays.items()})

    @pytest.mark.parametrize("name", ["log.parquet", "log.arrow", "log.csv"])
    @each_case("n_threads", [1, 3])
    def test_files(self, log, tmp_path, name, n_threads):
        names = ("hypothesis", "reference", "domain")
        texts = {column: [text.replace("\0", "0") for text in log[column]] for column in names}
        path = tmp_path / name
        write = {"log.parquet": write_parquet, "log.arrow": pa.feather.write_feather, "log.csv": pa.csv.write_csv}
        write[name](pa.table(texts), str(path))
        assert found(evaluate(str(path), by="domain", n_threads=n_threads), slice={}) == expected(texts)

    @pytest.mark.parametrize("name", ["log.parquet", "log.arrow"])
    @each_case("n_threads", [1, 3])
    def test_lists_in_files(self, log, tmp_path, name, n_threads):
        paths = [str(tmp_path / name), str(tmp_path / f"second_{name}")]
        for path in paths:
            {"log.parquet": write_parquet, "log.arrow": pa.feather.write_feather}[name](pa.table(log), path)
        report = evaluate(paths, label=["several", "reference"], n_threads=n_threads)
        twice = {name: 2 * column for name, column in log.items()}
        for label in ("several", "reference"):
            assert found(report, label=label) == expected(twice, label)

    def test_texts_in_csv_are_not_converted(self, tmp_path):
        path = tmp_path / "log.csv"
        path.write_text("reference,hypothesis,day\n007,007,1\n1.50,1.5,1\n,,2\n10,010,2\n")
        assert found(evaluate(str(path), by="day"), slice={}) == (0.5, {"rows": 4, "points": [9, 9]})
        path.write_text("reference,hypothesis,day\n,1,1\n2,2,1\n")
        assert found(evaluate(str(path))) == (0.5, {"rows": 2, "points": [2, 1]})

    def test_polars_and_pandas(self, log):
        polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
        plain = {name: log[name] for name in ("hypothesis", "reference", "several")}
        for label in ("reference", "several"):
            for frame in (polars.DataFrame(plain), pandas.DataFrame(plain)):
                assert found(evaluate(frame, label=label)) == expected(log, label)

    @given(st.lists(st.tuples(st.text(max_size=4), st.lists(st.text(max_size=3), min_size=1, max_size=3)), min_size=1))
    def test_any_text(self, rows):
        data = {"hypothesis": [text for text, _ in rows], "reference": [texts for _, texts in rows]}
        assert found(evaluate(data)) == expected(data)

    def test_texts_longer_than_a_block_and_rows_of_many_references(self, log, monkeypatch):
        data = {name: log[name][:40] for name in ("hypothesis", "several")}
        data["hypothesis"][3] = "x" * 5000
        data["several"][5] = ["y"] * 300 + ["é" * 700]
        wanted = expected(data, "several")
        assert found(evaluate(data, label="several")) == wanted
        for points, texts_of_block, rows in ((1, 1, 1), (64, 3, 2), (7, 1000, 1000)):
            monkeypatch.setattr(text_columns, "BLOCK_POINTS", points)
            monkeypatch.setattr(text_columns, "BLOCK_TEXTS", texts_of_block)
            monkeypatch.setattr(text_columns, "BLOCK_ROWS", rows)
            assert found(evaluate(data, label="several")) == wanted

    def test_names_of_columns(self, log):
        named = {"ref": log["reference"], "system": log["hypothesis"]}
        assert found(evaluate(named, label="ref", score="system")) == expected(log)
        report = evaluate(log)
        assert report.columns == {"label": "reference", "score": "hypothesis"}
        assert (report.results[0].label, report.results[0].score) == ("reference", "hypothesis")

    def test_several_systems_and_references(self, log):
        report = evaluate(log, label=["reference", "several"], score=["hypothesis", "other"], by="domain")
        for label in ("reference", "several"):
            for score in ("hypothesis", "other"):
                assert found(report, label=label, score=score, slice={}) == expected(log, label, score)

    def test_parameters(self, log):
        upper = {**log, "hypothesis": [text.upper() for text in log["hypothesis"]]}
        report = evaluate(upper, ["sametext", "sametext(fold=True)"])
        folded = {name: [text.casefold() for text in upper[name]] for name in ("hypothesis", "reference")}
        assert report["sametext(fold=True)"] == expected(folded)[0] > report["sametext"]
        assert report.result("sametext(fold=True)").signature == f"sametext|fold:True|v:{fm.__version__}"


def write_parquet(table, path):
    pa.parquet.write_table(table, path, row_group_size=50)


class TestOrderFree:
    """The same bits for any batches and threads."""

    @pytest.mark.parametrize("n_threads", [1, 2, 5])
    def test_any_batches_and_threads(self, log, n_threads, monkeypatch):
        monkeypatch.setattr(batches, "TEXT_BATCH_ROWS", 31)
        wanted = expected(log, "several")
        for size in (1, 40, ROWS):
            reader = to_table(log).to_reader(max_chunksize=size)
            assert found(evaluate(reader, label="several", n_threads=n_threads)) == wanted

    def test_batches_of_texts_are_short(self, log, tmp_path):
        sizes = []
        path = tmp_path / "log.parquet"
        pa.parquet.write_table(pa.table({name: 30 * log[name] for name in ("hypothesis", "reference")}), path)
        fm.evaluate(str(path), "sametext", n_threads=1, progress=lambda *progress: sizes.append(progress[1]))
        assert sizes[0] == batches.TEXT_BATCH_ROWS

    @pytest.mark.parametrize("source", ["parquet", "reader"])
    def test_batches_of_long_texts_are_shorter_still(self, tmp_path, monkeypatch, source):
        monkeypatch.setattr(batches, "TEXT_BATCH_BYTES", 50_000)
        monkeypatch.setattr(parquet_reading, "TEXT_BATCH_BYTES", 50_000)
        texts = [f"{row} " * 500 for row in range(100)]
        long = {"hypothesis": texts, "reference": texts}
        path = tmp_path / "long.parquet"
        pa.parquet.write_table(pa.table(long), path, use_dictionary=False)
        data = str(path) if source == "parquet" else pa.table(long).to_reader(max_chunksize=3)
        rows = []
        report = fm.evaluate(data, "sametext", n_threads=1, progress=lambda stage, done, _: rows.append((stage, done)))
        steps = [done for stage, done in rows if stage == "scan"]
        assert max(np.diff([0, *steps])) <= 30
        assert len(set(steps)) > 3
        assert found(report) == expected(long)


class TestInvalid:
    @each_case(
        ("column", "reason"), [("hypothesis", "null or NaN score"), ("reference", "null or NaN label")]
    )
    @each_case("kind", ["plain", "dictionary", "dictionary of nulls"])
    def test_nulls(self, log, column, reason, kind):
        array = pa.array([None if row in (7, 9) else text for row, text in enumerate(log[column])])
        if kind == "dictionary":
            array = array.dictionary_encode()
        if kind == "dictionary of nulls":
            array = pa.DictionaryArray.from_arrays(pa.array(range(ROWS)), array)
        role = "score" if column == "hypothesis" else "label"
        holes = {**log, column: array}
        assert_raises(
            ValueError, f"^{role} column '{column}' has a null at row 7; on_invalid='drop' lea", evaluate, holes
        )
        report = evaluate(holes, on_invalid="drop", by="day")
        assert report.dropped == {reason: 2}
        assert found(report, slice={}) == expected(select_rows(log, [row not in (7, 9) for row in range(ROWS)]))

    def test_rows_without_a_reference(self, log):
        lists = list(log["several"])
        lists[5], lists[8], lists[11] = [], [None, None], None
        holes = {**log, "several": lists}
        assert_raises(
            ValueError, r"^label column 'several' has a null at row 11; on_invalid='drop' leaves",
            evaluate, holes, label="several",
        )
        lists[11] = ["there"]
        assert_raises(
            ValueError, r"^label column 'several' has no text at row 5; on_invalid='drop' leaves",
            evaluate, holes, label="several",
        )
        lists[11] = None
        report = evaluate(holes, label="several", on_invalid="drop")
        assert report.dropped == {"null or NaN label": 1, "no reference": 2}
        assert found(report) == expected(select_rows(log, [row not in (5, 8, 11) for row in range(ROWS)]), "several")

    def test_no_row_is_left(self):
        assert_raises(
            ValueError, "no row is left of 2 read: 1 with null or NaN label, 1 with no reference",
            evaluate, {"hypothesis": ["a", "b"], "reference": [None, [None]]}, on_invalid="drop",
        )
        assert_raises(
            ValueError, "no row is left of 2 read: 2 with null or NaN label",
            evaluate, {"hypothesis": ["a", "b"], "reference": [None, None]}, on_invalid="drop",
        )
        assert_raises(
            ValueError, "data has no rows",
            evaluate, pa.table({"hypothesis": pa.array([], pa.string()), "reference": pa.array([], pa.string())}),
        )

    @each_case(
        ("column", "values", "message"),
        [
            ("hypothesis", [1, 2], "score column 'hypothesis' has Arrow type int64: texts are needed, as strings$"),
            ("hypothesis", [["a"], ["b"]], r"'hypothesis' has Arrow type list<\w+: string>: texts are needed, as str"),
            ("hypothesis", [b"a", b"b"], "'hypothesis' has Arrow type binary: texts are needed"),
            ("reference", [0.5, 1.5], "'reference' has Arrow type double: texts are needed, as strings, or lists of"),
            ("reference", [[1], [2]], r"'reference' has Arrow type list<\w+: int64>: texts are needed, as strings, or"),
            ("reference", [{"a": "b"}] * 2, "'reference' has Arrow type struct.*: texts are needed"),
            ("reference", pa.array([1, 2]).dictionary_encode(), "'reference' has Arrow type int64: texts are needed"),
        ],
    )
    def test_values_that_are_not_text(self, column, values, message):
        data = {"hypothesis": ["a", "b"], "reference": ["a", "b"], column: values}
        for policy in ("raise", "drop"):
            assert_raises(TypeError, message, evaluate, data, on_invalid=policy)
            assert_raises(TypeError, message, new_accumulator(on_invalid=policy).update, data)

    def test_texts_among_other_things(self):
        assert_raises(
            ValueError, r"data\['hypothesis'\] cannot be read as one column",
            evaluate, {"hypothesis": ["a", 1], "reference": ["a", "b"]},
        )

    @pytest.mark.parametrize("column", ["hypothesis", "reference", "several"])
    def test_a_lone_surrogate(self, log, column):
        texts = list(log[column])
        texts[5] = "a\ud800" if column != "several" else ["a", "\udfff"]
        assert_raises(
            ValueError, rf"^data\['{column}'\] has .* at row 5, which is not valid Unicode$",
            evaluate, {**log, column: texts}, label="several" if column == "several" else "reference",
        )

    @each_case("column", ["hypothesis", "reference"])
    @each_case("by", [None, "day"])
    def test_bytes_that_are_not_utf8(self, log, column, by):
        texts = [text.encode() for text in log[column]]
        for row in (100, 333):
            texts[row] = [b"\xff", b"abc\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf5\x80\x80\x80"][row % 5]
        damaged = pa.Array.from_buffers(pa.string(), ROWS, pa.array(texts).buffers())
        role = "score" if column == "hypothesis" else "label"
        holes = [None, *log["hypothesis"][1:]] if column == "reference" else log["hypothesis"]
        for size in (ROWS, 60):
            table = pa.table({**log, "hypothesis": holes, column: damaged})
            message = f"^{role} column '{column}' has bytes at row 100 that are not UTF-8$"
            assert_raises(
                ValueError, message, evaluate, table.to_reader(max_chunksize=size), by=by, on_invalid="drop"
            )

    def test_weights(self, log):
        message = r"^metrics of text \(sametext\) have no weights of rows; leave out weight='w'$"
        for make in (lambda **options: evaluate(log, **options), new_accumulator):
            assert_raises(ValueError, message, make, weight="w")

    @pytest.mark.parametrize(
        ("metrics", "message"),
        [
            (["sametext", "auc"], r"of classes \(auc\) and of text \(sametext\) take"),
            (["mse", "sametext"], r"of numbers \(mse\) and of text \(sametext\) take"),
            (["ndcg", "auc", "sametext"], r"of classes \(auc\) and of grades \(ndcg\) and of text \(sametext\) take"),
        ],
    )
    def test_metrics_of_other_targets(self, log, metrics, message):
        for make in (lambda names: evaluate(log, names), new_accumulator):
            assert_raises(
                ValueError, f"^metrics {message} labels and scores of different kinds; ask for", make, metrics
            )

    def test_other_metrics_have_no_default_columns(self, log):
        for missing, options in (("label", {"score": "p"}), ("score", {"label": "y"})):
            for make in (lambda names, **columns: evaluate(log, names, **columns), new_accumulator):
                assert_raises(
                    TypeError, f"^{missing} is missing: name the column, {missing}=...$", make, ["auc"], **options
                )

    def test_a_missing_column(self, log):
        assert_raises(ValueError, r"label: .*'reference'", evaluate, {"hypothesis": ["a"], "ref": ["a"]})
        assert_raises(
            ValueError, r"score: .*'hypothesis'", new_accumulator().update, {"hypotheses": ["a"], "reference": ["a"]}
        )


OPTIONS = [{}, {"by": "domain"}, {"label": ["reference", "several"], "score": ["other", "hypothesis"], "by": "day"}]


@pytest.mark.parametrize("options", OPTIONS)
class TestAccumulator:
    def test_states_that_are_sent_and_merged(self, log, options):
        whole, one = merged(lambda: new_accumulator(**options), log, 100), updated(new_accumulator(**options), log)
        assert whole.result() == one.result() == evaluate(log, **options)
        assert fm.Accumulator.from_bytes(whole.to_bytes()).to_bytes() == whole.to_bytes()
        assert len(whole.to_bytes()) < 20_000

    def test_refused_batches_change_nothing(self, log, options):
        state = updated(new_accumulator(**options), log)
        before = state.to_bytes()
        label, score = state._state.states[0].names.labels[0], state._state.states[0].names.scores[0]
        for column, values in ((label, [*log[label][:-1], None]), (score, [1] * ROWS)):
            assert_raises((ValueError, TypeError), f"column '{column}' has", state.update, {**log, column: values})
            assert state.to_bytes() == before

    def test_partitions_as_spark_makes_them(self, log, options):
        assert distributed_report("sametext", options, pieces(log, 90)) == evaluate(log, **options)


class TestStates:
    def test_batches_of_different_text_types(self, log):
        state = new_accumulator(label="several")
        kinds = (None, pa.large_string(), pa.string_view(), "dictionary")
        for piece, kind in zip(pieces(log, 100), kinds, strict=True):
            state.update(to_table(piece, kind))
        assert found(state.result()) == expected(log, "several")

    def test_batches_of_texts_and_of_lists(self, log):
        state = updated(new_accumulator(), pieces(log, 200)[0])
        second = pieces(log, 200)[1]
        state.update({"hypothesis": second["hypothesis"], "reference": second["several"]})
        assert found(state.result()) == expected({**log, "reference": log["reference"][:200] + log["several"][200:]})

    def test_the_batch_may_be_changed_afterwards(self):
        text = bytearray(b"abcabc")
        offsets = pa.array([0, 3, 6], pa.int32()).buffers()[1]
        column = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(text)])
        state = updated(new_accumulator(), {"hypothesis": column, "reference": ["abc", "abc"]})
        text[:] = b"------"
        assert state.result()["sametext"] == 1.0

    def test_an_approximate_state_of_texts_is_exact(self, log):
        assert updated(new_accumulator(approximate=True, by="day"), log).result() == evaluate(log, by="day")

    def test_no_rows(self):
        assert_raises(ValueError, "no rows", new_accumulator().result)

    def test_damaged_states(self, log):
        state = updated(new_accumulator(by="day"), log)
        header, arrays, sections = take_apart(state.to_bytes())
        assert fm.Accumulator.from_bytes(put_together(header, arrays, sections)).result() == state.result()
        for change, message in (
            ({"seen": [1]}, "labels are not of one kind"),
            ({"types": None}, "rows without types"),
            ({"sums": [[5, 0, 0, 1, 2]]}, "no statistic"),
        ):
            bad = put_together({**header, **change}, arrays, sections)
            assert_raises(ValueError, message, fm.Accumulator.from_bytes, bad)


def test_a_report_as_json(log):
    report = evaluate(log, by="domain")
    assert json.loads(report.to_json())["columns"] == {"label": "reference", "score": "hypothesis", "by": "domain"}
    assert "sametext" in str(report)
