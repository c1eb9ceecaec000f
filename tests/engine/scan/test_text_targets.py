"""Metrics of text in every door of the engine: how columns of texts are read, cut and counted.

The plumbing is tested with a metric of these tests alone: the share of rows whose hypothesis is one of its references,
and the code points of all texts. The registered metrics are then held against their functions.
"""

import copy
import json
import math
import pickle
import random

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
import text_logs
from hypothesis import given
from hypothesis import strategies as st
from test_state_nonsense import put_together, take_apart

import fastmetrics as fm
from fastmetrics._core import registry, texts
from fastmetrics._core.rows import ColumnPair
from fastmetrics._core.statistic import Statistic, Sums, Value
from fastmetrics._core.texts import TextRows
from fastmetrics.engine import batches, formats
from fastmetrics.engine.evaluate import make_report, read_names
from fastmetrics.engine.parts import Merger, scan_part
from fastmetrics.engine.plan import make_plan

ROWS = 400
WORDS = ["the", "cat", "sat", "", "on", "ein", "straße", "кошка", "猫", "🐈", "naïve", "e\u0301", "\0", "mat"]


class EqualTexts(Statistic):
    """How many hypotheses are one of their references, and all code points, of hypotheses and of references."""

    __slots__ = ("fold",)

    def __init__(self, fold: bool) -> None:
        self.fold = fold

    def new(self) -> Sums:
        return Sums(4, 0)

    def count_rows(self, rows: ColumnPair) -> np.ndarray:
        rows = TextRows(*rows)
        counts = []
        for block in rows.blocks():
            assert block.first_row == len(counts)
            found = ["".join(map(chr, block.points[start:stop])) for start, stop in pairs(block.offsets)]
            for first, last in pairs(block.segments):
                hypothesis, *references = found[first:last]
                assert references
                if self.fold:
                    hypothesis, references = hypothesis.casefold(), [own.casefold() for own in references]
                counts.append([1, hypothesis in references, len(hypothesis), sum(map(len, references))])
        assert len(counts) == rows.rows
        return np.array(counts, np.int64)

    def add(self, state: Sums, counts: np.ndarray) -> None:
        state.counts += counts.sum(axis=0)


def pairs(bounds):
    return zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)


def finalise(parameters, state):
    """The share of rows whose hypothesis is one of its references."""
    rows, equal, *points = map(state.count, range(4))
    coverage = {"rows": rows, "points": points}
    return Value(equal / rows, coverage) if rows else Value(math.nan, coverage, "no rows")


finalise.__module__ = "fastmetrics.metrics.text"


@pytest.fixture(autouse=True)
def _toy_metric():
    fm.list_metrics()
    known = dict(registry._specs)
    registry.metric(
        "sametext", exchange="none", target="text", statistics=lambda fold=False: (EqualTexts(fold),), function=None,
        undefined="", parameters={"fold": False},
    )(finalise)  # fmt: skip
    yield
    registry._specs.clear()
    registry._specs.update(known)


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


def rows_of(log, wanted):
    return {name: [value for value, own in zip(column, wanted, strict=True) if own] for name, column in log.items()}


def expected(log, label="reference", score="hypothesis"):
    """Share of equal texts, and the code points, in plain Python."""
    references = [[own] if isinstance(own, str) else [text for text in own if text is not None] for own in log[label]]
    equal = [text in own for text, own in zip(log[score], references, strict=True)]
    points = [sum(map(len, log[score])), sum(len(text) for own in references for text in own)]
    return sum(equal) / len(equal), {"rows": len(equal), "points": points}


def evaluate(log, metrics=("sametext",), **options):
    return fm.evaluate(log, list(metrics), **options)


def new(metrics=("sametext",), **options):
    return fm.Accumulator(list(metrics), **options)


def found(report, **where):
    result = report.result("sametext", **where)
    return result.value, {**result.coverage, "points": list(result.coverage["points"])}


def content(report):
    return {key: value for key, value in report.to_dict().items() if key != "seconds"}


def pieces(log, size):
    n_rows = len(log["domain"])
    return [{name: own[start : start + size] for name, own in log.items()} for start in range(0, n_rows, size)]


def table(log, kind=None):
    """The log as a table, its texts of a type of Arrow."""
    own = pa.table(log)
    if kind is None:
        return own
    for name in ("hypothesis", "other", "reference"):
        place = own.column_names.index(name)
        column = own[name].dictionary_encode() if kind == "dictionary" else own[name].cast(kind)
        own = own.set_column(place, name, column)
    return own


class TestColumns:
    @pytest.mark.parametrize("kind", [None, pa.large_string(), pa.string_view(), "dictionary"], ids=str)
    @pytest.mark.parametrize("label", ["reference", "several"])
    def test_any_type_of_text(self, log, kind, label):
        own = table(log, kind)
        for data in (own, own.slice(7, 100), own.to_reader(max_chunksize=13)):
            rows = slice(7, 107) if data.__class__ is pa.Table and data.num_rows == 100 else slice(None)
            wanted = expected({name: column[rows] for name, column in log.items()}, label)
            assert found(evaluate(data, label=label)) == wanted

    @pytest.mark.parametrize(
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
        lists = [[own[0], own[-1]] for own in log["several"]]
        column = pa.array(lists, kind)
        for start in (0, 5):
            own = {"reference": column[start:], "hypothesis": log["hypothesis"][start:]}
            assert found(evaluate(own)) == expected({**own, "reference": lists[start:]})

    def test_lists_of_nothing_but_nulls_in_a_batch(self):
        column = pa.chunked_array([pa.array([[None, "a"], ["b"]]), pa.array([["c"], None])])
        own = pa.table({"reference": column, "hypothesis": ["a", "c", "c", "d"]})
        assert found(evaluate(own, on_invalid="drop")) == (2 / 3, {"rows": 3, "points": [3, 3]})

    def test_any_container(self, log, tmp_path):
        wanted = expected(log)
        arrays = {name: np.array(log[name]) for name in ("hypothesis", "reference")}
        objects = {name: np.array(log[name], object) for name in ("hypothesis", "reference")}
        plain = {name: log[name] for name in ("hypothesis", "reference")}
        for data in (objects, plain, table(plain), table(log)):
            assert found(evaluate(data)) == wanted
        # NumPy's fixed width cannot end in a NUL.
        assert found(evaluate(arrays)) == expected({name: own.tolist() for name, own in arrays.items()})

    @pytest.mark.parametrize("name", ["log.parquet", "log.arrow", "log.csv"])
    @pytest.mark.parametrize("n_threads", [1, 3])
    def test_files(self, log, tmp_path, name, n_threads):
        names = ("hypothesis", "reference", "domain")
        own = {column: [text.replace("\0", "0") for text in log[column]] for column in names}
        path = tmp_path / name
        write = {"log.parquet": write_parquet, "log.arrow": pa.feather.write_feather, "log.csv": pa.csv.write_csv}
        write[name](pa.table(own), str(path))
        report = evaluate(str(path), by="domain", n_threads=n_threads)
        assert found(report, slice={}) == expected(own)

    @pytest.mark.parametrize("name", ["log.parquet", "log.arrow"])
    @pytest.mark.parametrize("n_threads", [1, 3])
    def test_lists_in_files(self, log, tmp_path, name, n_threads):
        path = tmp_path / name
        write = {"log.parquet": write_parquet, "log.arrow": pa.feather.write_feather}
        write[name](pa.table(log), str(path))
        report = evaluate([str(path)] * 2, label=["several", "reference"], n_threads=n_threads)
        twice = {column: 2 * own for column, own in log.items()}
        for label in ("several", "reference"):
            assert found(report, label=label) == expected(twice, label)

    def test_csv_has_no_types_and_texts_are_not_guessed(self, tmp_path):
        path = tmp_path / "log.csv"
        path.write_text("reference,hypothesis,day\n007,007,1\n1.50,1.5,1\n,,2\n10,010,2\n")
        report = evaluate(str(path), by="day")
        assert found(report, slice={}) == (0.5, {"rows": 4, "points": [9, 9]})
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
        own = {"hypothesis": [text for text, _ in rows], "reference": [texts for _, texts in rows]}
        assert found(evaluate(own)) == expected(own)

    def test_texts_longer_than_a_block_and_rows_of_many_references(self, log, monkeypatch):
        own = {name: log[name][:40] for name in ("hypothesis", "several")}
        own["hypothesis"][3] = "x" * 5000
        own["several"][5] = ["y"] * 300 + ["é" * 700]
        wanted = expected(own, "several")
        assert found(evaluate(own, label="several")) == wanted
        for points, texts_of_block, rows in ((1, 1, 1), (64, 3, 2), (7, 1000, 1000)):
            monkeypatch.setattr(texts, "BLOCK_POINTS", points)
            monkeypatch.setattr(texts, "BLOCK_TEXTS", texts_of_block)
            monkeypatch.setattr(texts, "BLOCK_ROWS", rows)
            assert found(evaluate(own, label="several")) == wanted

    def test_the_names_of_columns(self, log):
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


LETTERS = st.sampled_from("ΑΣσςİIıßÄ'. aB\u0307Ǆ") | st.characters(codec="utf-8")


@given(st.lists(st.text(LETTERS, max_size=6), max_size=5))
def test_lower_case_is_that_of_each_text(own):
    offsets = np.cumsum([0, *map(len, own)])
    points, bounds = texts.lowered(np.array([*map(ord, "".join(own))], np.uint32), offsets)
    assert points.dtype == np.uint32
    assert ["".join(map(chr, points[start:stop])) for start, stop in pairs(bounds)] == [text.lower() for text in own]


class TestOrderFree:
    """The same bits for any order, batches, threads and slices."""

    def test_any_order(self, log):
        wanted = content(evaluate(log, label="several", by=["domain", "day"]))
        for seed in range(3):
            order = random.Random(seed).sample(range(ROWS), ROWS)
            moved = {name: [column[row] for row in order] for name, column in log.items()}
            assert content(evaluate(moved, label="several", by=["domain", "day"])) == wanted

    @pytest.mark.parametrize("n_threads", [1, 2, 5])
    def test_any_batches_and_threads(self, log, n_threads, monkeypatch):
        monkeypatch.setattr(batches, "TEXT_ROWS", 31)
        wanted = expected(log, "several")
        for size in (1, 40, ROWS):
            reader = table(log).to_reader(max_chunksize=size)
            assert found(evaluate(reader, label="several", n_threads=n_threads)) == wanted

    def test_slices(self, log):
        report = evaluate(log, label="several", by=["domain", "day"])
        assert len(report.slices()) == 7
        for where in report.slices():
            wanted = [all(log[name][row] == value for name, value in where.items()) for row in range(ROWS)]
            assert found(report, slice=where) == expected(rows_of(log, wanted), "several")

    def test_batches_of_texts_are_short(self, log, tmp_path):
        sizes = []
        path = tmp_path / "log.parquet"
        pa.parquet.write_table(pa.table({name: 30 * log[name] for name in ("hypothesis", "reference")}), path)
        fm.evaluate(str(path), "sametext", n_threads=1, progress=lambda *told: sizes.append(told[1]))
        assert sizes[0] == batches.TEXT_ROWS

    @pytest.mark.parametrize("way", ["parquet", "reader"])
    def test_batches_of_long_texts_are_shorter_still(self, tmp_path, monkeypatch, way):
        monkeypatch.setattr(batches, "TEXT_BATCH_BYTES", 50_000)
        monkeypatch.setattr(formats, "TEXT_BATCH_BYTES", 50_000)
        texts = [f"{row} " * 500 for row in range(100)]
        long = {"hypothesis": texts, "reference": texts}
        path = tmp_path / "long.parquet"
        pa.parquet.write_table(pa.table(long), path, use_dictionary=False)
        data = str(path) if way == "parquet" else pa.table(long).to_reader(max_chunksize=3)
        rows = []
        report = fm.evaluate(data, "sametext", n_threads=1, progress=lambda stage, done, _: rows.append((stage, done)))
        steps = [done for stage, done in rows if stage == "scan"]
        assert max(np.diff([0, *steps])) <= 30
        assert len(set(steps)) > 3
        assert found(report) == expected(long)


class TestInvalid:
    @pytest.mark.parametrize(
        ("column", "reason"), [("hypothesis", "null or NaN score"), ("reference", "null or NaN label")]
    )
    @pytest.mark.parametrize("kind", ["plain", "dictionary", "dictionary of nulls"])
    def test_nulls(self, log, column, reason, kind):
        texts = [None if row in (7, 9) else text for row, text in enumerate(log[column])]
        array = pa.array(texts)
        if kind == "dictionary":
            array = array.dictionary_encode()
        if kind == "dictionary of nulls":
            array = pa.DictionaryArray.from_arrays(pa.array(range(ROWS)), array)
        role = "score" if column == "hypothesis" else "label"
        holes = {**log, column: array}
        with pytest.raises(ValueError, match=f"^{role} column '{column}' has a null at row 7; on_invalid='drop' lea"):
            evaluate(holes)
        report = evaluate(holes, on_invalid="drop", by="day")
        assert report.dropped == {reason: 2}
        assert found(report, slice={}) == expected(rows_of(log, [row not in (7, 9) for row in range(ROWS)]))

    def test_rows_without_a_reference(self, log):
        lists = list(log["several"])
        lists[5], lists[8], lists[11] = [], [None, None], None
        holes = {**log, "several": lists}
        with pytest.raises(ValueError, match=r"^label column 'several' has a null at row 11; on_invalid='drop' leaves"):
            evaluate(holes, label="several")
        lists[11] = ["there"]
        with pytest.raises(ValueError, match=r"^label column 'several' has no text at row 5; on_invalid='drop' leaves"):
            evaluate(holes, label="several")
        lists[11] = None
        report = evaluate(holes, label="several", on_invalid="drop")
        assert report.dropped == {"null or NaN label": 1, "no reference": 2}
        assert found(report) == expected(rows_of(log, [row not in (5, 8, 11) for row in range(ROWS)]), "several")

    def test_no_row_is_left(self):
        with pytest.raises(ValueError, match="no row is left of 2 read: 1 with null or NaN label, 1 with no reference"):
            evaluate({"hypothesis": ["a", "b"], "reference": [None, [None]]}, on_invalid="drop")
        with pytest.raises(ValueError, match="no row is left of 2 read: 2 with null or NaN label"):
            evaluate({"hypothesis": ["a", "b"], "reference": [None, None]}, on_invalid="drop")
        with pytest.raises(ValueError, match="data has no rows"):
            evaluate(pa.table({"hypothesis": pa.array([], pa.string()), "reference": pa.array([], pa.string())}))

    @pytest.mark.parametrize(
        ("column", "values", "message"),
        [
            ("hypothesis", [1, 2], "score column 'hypothesis' has Arrow type int64: texts are needed, as strings$"),
            ("hypothesis", [["a"], ["b"]], r"'hypothesis' has Arrow type list<\w+: string>: texts are needed, as str"),
            ("hypothesis", [b"a", b"b"], "'hypothesis' has Arrow type binary: texts are needed"),
            ("reference", [0.5, 1.5], "'reference' has Arrow type double: texts are needed, as strings, or a list of"),
            ("reference", [[1], [2]], r"'reference' has Arrow type list<\w+: int64>: texts are needed, as strings, or"),
            ("reference", [{"a": "b"}] * 2, "'reference' has Arrow type struct.*: texts are needed"),
            ("reference", pa.array([1, 2]).dictionary_encode(), "'reference' has Arrow type dictionary.*: texts are n"),
        ],
    )
    def test_what_is_no_text(self, column, values, message):
        own = {"hypothesis": ["a", "b"], "reference": ["a", "b"], column: values}
        for policy in ("raise", "drop"):
            with pytest.raises(TypeError, match=message):
                evaluate(own, on_invalid=policy)
            with pytest.raises(TypeError, match=message):
                new(on_invalid=policy).update(own)

    def test_texts_among_other_things(self):
        with pytest.raises(ValueError, match=r"data\['hypothesis'\] cannot be read as one column"):
            evaluate({"hypothesis": ["a", 1], "reference": ["a", "b"]})

    @pytest.mark.parametrize("column", ["hypothesis", "reference", "several"])
    def test_a_lone_surrogate(self, log, column):
        texts = list(log[column])
        texts[5] = "a\ud800" if column != "several" else ["a", "\udfff"]
        with pytest.raises(ValueError, match=rf"^data\['{column}'\] has .* at row 5: no valid Unicode text$"):
            evaluate({**log, column: texts}, label="several" if column == "several" else "reference")

    @pytest.mark.parametrize("column", ["hypothesis", "reference"])
    @pytest.mark.parametrize("by", [None, "day"])
    def test_bytes_that_are_not_utf8(self, log, column, by):
        texts = [text.encode() for text in log[column]]
        for row in (100, 333):
            texts[row] = [b"\xff", b"abc\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf5\x80\x80\x80"][row % 5]
        damaged = pa.Array.from_buffers(pa.string(), ROWS, pa.array(texts).buffers())
        role = "score" if column == "hypothesis" else "label"
        holes = [None, *log["hypothesis"][1:]] if column == "reference" else log["hypothesis"]
        for size in (ROWS, 60):
            own = pa.table({**log, "hypothesis": holes, column: damaged})
            message = f"^{role} column '{column}' has bytes at row 100 that are not UTF-8$"
            with pytest.raises(ValueError, match=message):
                evaluate(own.to_reader(max_chunksize=size), by=by, on_invalid="drop")

    def test_weights(self, log):
        message = r"^metrics of text \(sametext\) have no weights of rows; leave out weight='w'$"
        for make in (lambda **options: evaluate(log, **options), new):
            with pytest.raises(ValueError, match=message):
                make(weight="w")

    @pytest.mark.parametrize(
        ("metrics", "message"),
        [
            (["sametext", "auc"], r"of classes \(auc\) and of text \(sametext\) take"),
            (["mse", "sametext"], r"of numbers \(mse\) and of text \(sametext\) take"),
            (["ndcg", "auc", "sametext"], r"of classes \(auc\) and of grades \(ndcg\) and of text \(sametext\) take"),
        ],
    )
    def test_other_metrics_beside(self, log, metrics, message):
        for make in (lambda own: evaluate(log, own), new):
            with pytest.raises(ValueError, match=f"^metrics {message} labels and scores of different kinds; ask for"):
                make(metrics)

    def test_columns_have_to_be_named_for_other_metrics(self, log):
        for missing, options in (("label", {"score": "p"}), ("score", {"label": "y"})):
            for make in (lambda own, **named: evaluate(log, own, **named), new):
                with pytest.raises(TypeError, match=f"^{missing} is missing: name the column, {missing}=...$"):
                    make(["auc"], **options)

    def test_a_missing_column(self, log):
        with pytest.raises(ValueError, match=r"label: .*'reference'"):
            evaluate({"hypothesis": ["a"], "ref": ["a"]})
        with pytest.raises(ValueError, match=r"score: .*'hypothesis'"):
            new().update({"hypotheses": ["a"], "reference": ["a"]})

    @pytest.mark.parametrize("target", ["text"])
    @pytest.mark.parametrize("exchange", ["score", "group"])
    def test_texts_are_not_moved(self, exchange, target):
        with pytest.raises(ValueError, match="target 'text' goes without an exchange"):
            registry.metric("x", exchange=exchange, target=target, statistics=tuple, function=None, undefined="")


OPTIONS = [{}, {"by": "domain"}, {"label": ["reference", "several"], "score": ["other", "hypothesis"], "by": "day"}]


@pytest.mark.parametrize("options", OPTIONS)
class TestAccumulator:
    def test_pieces_that_travel_and_merge(self, log, options):
        states = []
        for number, piece in enumerate(pieces(log, 100)):
            state = new(**options)
            for part in pieces(piece, 15 + number):
                state.update(part)
            states.append(state)
        whole = new(**options)
        ways = [copy.copy, copy.deepcopy, lambda own: pickle.loads(pickle.dumps(own))]
        ways.append(lambda own: fm.Accumulator.from_bytes(own.to_bytes()))
        for state, way in zip(states, ways, strict=True):
            whole.merge(way(state))
        one = new(**options)
        one.update(log)
        assert whole.result() == one.result() == evaluate(log, **options)
        assert fm.Accumulator.from_bytes(whole.to_bytes()).to_bytes() == whole.to_bytes()
        assert len(whole.to_bytes()) < 20_000

    def test_what_is_refused_changes_nothing(self, log, options):
        state = new(**options)
        state.update(log)
        before = state.to_bytes()
        label, score = state.names.labels[0], state.names.scores[0]
        for column, values in ((label, [*log[label][:-1], None]), (score, [1] * ROWS)):
            with pytest.raises((ValueError, TypeError), match=f"column '{column}' has"):
                state.update({**log, column: values})
            assert state.to_bytes() == before

    def test_parts_as_spark_makes_them(self, log, options):
        plan = make_plan("sametext")
        names = read_names(plan, *(options.get(role) for role in ("label", "score", "group", "weight", "by")))
        merger = Merger(plan, names, "raise")
        parts = []
        for piece in pieces(log, 90):
            own = pa.table(piece).to_batches(max_chunksize=20)
            parts += [pickle.loads(pickle.dumps(part)) for part in scan_part(plan, names, "raise", own, None)]
        merger.add_parts(parts)
        assert make_report(merger.scan, merger.states, names, None) == evaluate(log, **options)


class TestStates:
    def test_types_of_text_may_follow_each_other(self, log):
        state = new(label="several")
        kinds = (None, pa.large_string(), pa.string_view(), "dictionary")
        for piece, kind in zip(pieces(log, 100), kinds, strict=True):
            state.update(table(piece, kind))
        assert found(state.result()) == expected(log, "several")

    def test_texts_and_lists_may_follow_each_other(self, log):
        state = new()
        state.update(pieces(log, 200)[0])
        second = pieces(log, 200)[1]
        state.update({"hypothesis": second["hypothesis"], "reference": second["several"]})
        assert found(state.result()) == expected({**log, "reference": log["reference"][:200] + log["several"][200:]})

    def test_the_batch_may_be_changed_afterwards(self):
        text = bytearray(b"abcabc")
        offsets = pa.array([0, 3, 6], pa.int32()).buffers()[1]
        column = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(text)])
        state = new()
        state.update({"hypothesis": column, "reference": ["abc", "abc"]})
        text[:] = b"------"
        assert state.result()["sametext"] == 1.0

    def test_an_approximate_state_of_texts_is_exact(self, log):
        state = new(approximate=True, by="day")
        state.update(log)
        assert state.result() == evaluate(log, by="day")

    def test_no_rows(self):
        with pytest.raises(ValueError, match="no rows"):
            new().result()

    def test_damaged_states(self, log):
        state = new(by="day")
        state.update(log)
        header, arrays = take_apart(state.to_bytes())
        assert fm.Accumulator.from_bytes(put_together(header, arrays)).result() == state.result()
        for change, message in (
            ({"seen": [1]}, "labels are not of one kind"),
            ({"types": None}, "rows without types"),
            ({"sums": [[5, 0, 0, 1, 2]]}, "no statistic"),
        ):
            with pytest.raises(ValueError, match=message):
                fm.Accumulator.from_bytes(put_together({**header, **change}, arrays))


TEXT = text_logs.text_metrics()


@pytest.fixture(scope="module")
def texts_log():
    columns = text_logs.text_columns(600, seed=2)
    several = text_logs.more_references(columns["reference"])
    return {name: own.tolist() for name, own in columns.items()} | {
        "several": several,
        "domain": random.Random(3).choices(["news", "web"], k=600),
    }


class TestRegistered:
    """Every registered metric of text is its function, to the last bit."""

    @pytest.mark.parametrize("metric", TEXT)
    def test_systems_references_and_slices(self, texts_log, metric):
        scores, labels = ["hypothesis", "worse"], ["reference", "several"]
        report = fm.evaluate(texts_log, metric, label=labels, score=scores, by="domain")
        for where in report.slices():
            wanted = [all(texts_log[name][row] == value for name, value in where.items()) for row in range(600)]
            part = rows_of(texts_log, wanted)
            for label in labels:
                for score in scores:
                    result = report.result(metric, label=label, score=score, slice=where)
                    assert result.value == text_logs.function_value(metric, part, label, score)
                    assert result.coverage["rows"] == sum(wanted)

    def test_together_as_alone(self, texts_log):
        report = fm.evaluate(texts_log, TEXT, label="several", by="domain")
        for metric in TEXT:
            alone = fm.evaluate(texts_log, metric, label="several", by="domain")
            assert [result for result in report if result.metric == alone.results[0].metric] == list(alone)

    def test_what_counts_alike_is_counted_once(self):
        for names, n_statistics in (
            ("bleu,bleu(smooth=floor),bleu(effective_order=True),bleu(smooth='add-k',smooth_value=2)", 1),
            ("rouge1,rouge2,rougeL", 1),
            ("rouge1,rouge1(stem=True),rougeLsum", 3),
            ("bleu,bleu(lowercase=True),bleu(max_order=2)", 3),
            ("meteor(modules=('exact',)),meteor(modules=('exact',),average=corpus)", 1),
        ):
            assert len(make_plan(names).statistics["none"]) == n_statistics

    def test_several_systems_of_real_translations(self, wmt):
        log = {"reference": wmt.reference[:300]} | {name: own[:300] for name, own in wmt.systems.items()}
        report = fm.evaluate(log, "bleu,chrf", score=list(wmt.systems))
        for name in wmt.systems:
            assert report.value("bleu", score=name) == fm.corpus_bleu(log[name], log["reference"]).score
            assert report.value("chrf", score=name) == fm.corpus_chrf(log[name], log["reference"]).score

    def test_what_stands_beside_the_value(self, texts_log):
        report = fm.evaluate(texts_log, "bleu,rouge2(stem=True)")
        result = fm.corpus_bleu(texts_log["hypothesis"], texts_log["reference"])
        coverage = report.result("bleu").coverage
        assert coverage["brevity_penalty"] == result.bp
        assert (coverage["sys_len"], coverage["ref_len"]) == (result.sys_len, result.ref_len)
        assert f" {coverage['precisions']} " in str(result)
        result = fm.rouge_score(texts_log["hypothesis"], texts_log["reference"], ["rouge2"], stem=True)["rouge2"]
        coverage = report.result("rouge2(stem=True)").coverage
        assert (coverage["precision"], coverage["recall"]) == (result.precision, result.recall)

    @pytest.mark.parametrize(
        ("metric", "message"),
        [
            ("bleu(tokenize=14b)", "tokenize"),
            ("bleu(smooth=most)", "smooth of metric 'bleu' must be one of exp, floor"),
            ("bleu(smooth_value=0.5)", "smooth='exp' takes no smooth_value"),
            ("bleu(smooth=floor, smooth_value='0.1')", "a number is needed; found '0.1'"),
            ("bleu(max_order=0)", "from 1 to 255; found 0"),
            ("bleu(lowercase=1)", "lowercase must be True or False; found 1"),
            ("chrf(char_order=0)", "both 0"),
            ("chrf(beta=[1])", r"a number is needed; found \[1\]"),
            ("chrf(beta=True)", "a number is needed; found True"),
            ("rouge1(beta=0)", "beta must be"),
            ("meteor(modules=['exact'])", r"modules must be a tuple of names, such as .* found \['exact'\]"),
            ("meteor(modules=exact)", "modules must be a tuple of names, such as"),
            ("meteor(modules=('exact', 'form'))", "modules must be one of 'exact', 'stem', 'synonym'; found 'form'"),
            ("meteor(modules=('exact',), alpha=2)", "alpha must be"),
            ("rouge1(tokenizer=own)", "tokenizer of metric 'rouge1' must be one of default, unicode"),
            ("rouge3", "unknown metric 'rouge3'; did you mean 'rouge"),
            ("bleu@4", "takes no cutoff"),
        ],
    )
    def test_bad_parameters(self, metric, message):
        with pytest.raises(ValueError, match=message):
            fm.evaluate({"hypothesis": ["a"], "reference": ["a"]}, metric)

    def test_what_a_thread_knows_of_words_is_kept(self, texts_log, monkeypatch):
        made = []
        (statistic,) = make_plan("bleu").statistics["none"]
        own = type(statistic.metric).new_counter
        monkeypatch.setattr(type(statistic.metric), "new_counter", lambda metric: made.append(metric) or own(metric))
        state = new(["bleu"])
        for piece in pieces(texts_log, 100):
            state.update(piece)
        assert len(made) == 1
        assert state.result()["bleu"] == text_logs.function_value("bleu", texts_log)

    def test_statistics_travel(self):
        for metric in TEXT:
            (statistic,) = make_plan(metric).statistics["none"]
            assert pickle.loads(pickle.dumps(statistic)) == statistic
            assert hash(pickle.loads(pickle.dumps(statistic))) == hash(statistic)

    def test_metrics_of_equal_options_are_not_the_same(self):
        """Options are tuples, and equal ones may belong to different metrics."""
        statistics = [own for metric in TEXT for own in make_plan(metric).statistics["none"]]
        for first in statistics:
            for second in statistics:
                assert first != second or first.name == second.name

    def test_parts_that_were_counted_otherwise_are_refused(self, texts_log):
        """As by an executor that finds another WordNet than the driver."""
        plans = [make_plan(own) for own in ("bleu", "bleu(max_order=3)")]
        names = read_names(plans[0], None, None, None, None, None)
        own = pa.table({name: texts_log[name] for name in ("hypothesis", "reference")}).to_batches()
        parts = list(scan_part(plans[0], names, "raise", own, None))
        with pytest.raises(ValueError, match=r"a part was counted by .*max_order=4.*; here there are .*max_order=3"):
            Merger(plans[1], names, "raise").add_parts(parts)

    def test_an_undefined_slice_is_told(self, texts_log):
        state = new(["bleu"], by="domain", on_invalid="drop")
        state.update({"hypothesis": ["a", "b"], "reference": ["a", None], "domain": ["x", "y"]})
        assert [result.slice for result in state.result()] == [{}, {"domain": "x"}]


def test_a_report_of_texts_is_json(log):
    report = evaluate(log, by="domain")
    assert json.loads(report.to_json())["columns"] == {"label": "reference", "score": "hypothesis", "by": "domain"}
    assert "sametext" in str(report)
