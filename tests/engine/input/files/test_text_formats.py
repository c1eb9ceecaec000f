"""CSV, TSV and JSON lines: options, blocks whose ends are exact, types, errors that name the row."""

import csv
import gzip
import io
import json
import random

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import fastmetrics as fm
from fastmetrics.engine.input.files import text_blocks
from fastmetrics.engine.input.files.text_blocks import NOT_CLOSED, TEXT_BEHIND, Quoting, end_of_rows, read_blocks
from fastmetrics.engine.input.input_options import InputOptions
from fastmetrics.engine.input.sources import open_source
from support.cases import assert_raises, each_case


def read(path, columns, use_threads=True, **options):
    source = open_source(path, InputOptions(**options))
    return pa.Table.from_batches(list(source.batches(columns, use_threads=use_threads)))


def write(folder, content, name="log.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# -------------------------------------------------------------------------------------------------------- options


@each_case(
    "content, options, expected",
    [
        ("a;b\n1;x\n2;y\n", {"delimiter": ";"}, {"a": [1, 2], "b": ["x", "y"]}),
        ("a,b\n'1,5',x\n", {"quote": "'"}, {"a": ["1,5"], "b": ["x"]}),
        ('a,b\n"1",x\n', {"quote": None}, {"a": ['"1"'], "b": ["x"]}),
        ("a,b\n1\\,5,x\n", {"escape": "\\", "quote": None}, {"a": ["1,5"], "b": ["x"]}),
        ("1,x\n2,y\n", {"header": False}, {"f0": [1, 2], "f1": ["x", "y"]}),
        ("1,x\n2,y\n", {"header": ["a", "b"]}, {"a": [1, 2], "b": ["x", "y"]}),
        ("a,b\n1,x\n-,-\n", {"null_values": ["-"]}, {"a": [1, None], "b": ["x", None]}),
        ("a,b\n1,x\n,NA\n", {}, {"a": [1, None], "b": ["x", "NA"]}),
        ("a,b\n007,1\n", {"column_types": {"a": "string"}}, {"a": ["007"], "b": [1]}),
        ("a,b\n007,1\n", {}, {"a": [7], "b": [1]}),
        ("a;b\n1,5;2\n", {"delimiter": ";", "decimal_point": ","}, {"a": [1.5], "b": [2]}),
        ('a,b\n"x\ny",1\n', {}, {"a": ["x\ny"], "b": [1]}),
        ("\ufeffa,b\n1,2\n", {"encoding": "UTF-8"}, {"a": [1], "b": [2]}),
        ("a,b\r\n1,2\r\n3,4", {}, {"a": [1, 3], "b": [2, 4]}),
        ("a,b\r1,2\r3,4\r", {}, {"a": [1, 3], "b": [2, 4]}),
    ],
)
def test_options_of_csv(content, options, expected, tmp_path):
    for use_threads in (False, True):
        found = read(write(tmp_path, content), list(expected), use_threads, format_options=options)
        assert found.to_pydict() == expected


TYPES = {
    "string": pa.string(), "int64": pa.int64(), "float32": pa.float32(), "double": pa.float64(), "date": pa.date32(),
    "decimal(10, 2)": pa.decimal128(10, 2), "timestamp": pa.timestamp("us"),
    "bool": pa.bool_(),
}  # fmt: skip


@each_case("name", TYPES)
def test_types_of_columns(name, tmp_path):
    value = {"date": "2026-11-01", "timestamp": "2026-11-01 10:00:00"}.get(name, "1")
    path = write(tmp_path, f"a,b\n{value},2\n")
    for given in (name, TYPES[name]):
        assert read(path, ["a"], format_options={"column_types": {"a": given}}).schema.field("a").type == TYPES[name]


@each_case(
    "name, options, message",
    [
        ("csv", {"delimeter": ";"}, r"csv has no option 'delimeter'; did you mean 'delimiter'\? Its options are delim"),
        ("parquet", {"delimiter": ";"}, r"parquet has no option 'delimiter'; it has none"),
        ("jsonl", {"delimiter": ";"}, r"jsonl has no option 'delimiter'; its options are column_types, encoding"),
        ("csv", {"delimiter": ";;"}, r"delimiter must be one ASCII character; found ';;'"),
        ("csv", {"quote": ","}, r"delimiter, quote and escape must be different"),
        ("csv", {"header": "a"}, r"header must be True, False or a list"),
        ("csv", {"null_values": 0}, r"null_values must be a list of texts; found 0"),
        ("csv", {"column_types": {"a": "strin"}}, r"column_types has 'strin' for column 'a'; types are string, int64"),
        ("csv", {"column_types": {"aa": "string"}}, r"column_types: no column 'aa' in .*did you mean 'a'"),
        ("csv", {"column_types": ["a"]}, r"column_types must be a dict"),
        ("csv", {"encoding": "latin-x"}, r"encoding must be a name such as utf-8, utf-16, latin-1 or cp1252"),
        ("exel", {}, r"format must be one of csv, tsv, jsonl, parquet, orc, arrow; found 'exel'"),
    ],
)
def test_options_that_do_not_exist(name, options, message, tmp_path):
    path = write(tmp_path, "a,b\n1,2\n")
    assert_raises(ValueError, message, open_source, path, InputOptions(format=name, format_options=options))


def test_an_option_of_another_format(tmp_path):
    path = tmp_path / "log.parquet"
    pa.parquet.write_table(pa.table({"a": [1]}), path)
    message = "parquet has no option 'delimiter'"
    assert_raises(ValueError, message, open_source, path, InputOptions(format_options={"delimiter": ";"}))
    assert_raises(TypeError, "format_options must be a dict", open_source, path, InputOptions(format_options=[1]))


# --------------------------------------------------------------------------------------------------------- blocks


def rows_of(data, quoting):
    """Where rows end and what the last quote is, character by character: the definition."""
    delimiter, quote, escape = quoting[:3]
    ends, place, at_start, opened = [0], 0, True, None
    while place < len(data):
        byte = data[place : place + 1]
        if escape is not None and byte == escape:
            place += 2
            at_start = False
            continue
        if opened is not None:
            if byte == quote and data[place + 1 : place + 2] == quote:
                place += 1
            elif byte == quote and data[place + 1 : place + 2] not in (b"", delimiter, b"\n", b"\r"):
                return ends, (TEXT_BEHIND, opened, place)
            elif byte == quote:
                opened = None
        elif byte == quote and at_start:
            opened, at_start = place, False
        elif byte == delimiter:
            at_start = True
        elif byte in (b"\n", b"\r"):
            at_start = True
            ends.append(place + 1)
        else:
            at_start = False
        place += 1
    return ends, None if opened is None else (NOT_CLOSED, opened, None)


QUOTINGS = [Quoting(b",", b'"'), Quoting(b",", None), Quoting(b"\t", b"'", b"\\"), Quoting(b",", None, b"\\")]


@each_case("quoting", QUOTINGS, ids=repr)
def test_blocks_end_with_rows(quoting):
    """Random bytes of the characters that matter, by all ways of the kernel."""
    choices = random.Random(7)
    alphabets = [b'ab,\t"\'\\\n\n\r', b'aaaaaaaaaaaaaa,\t"\'\n', b'a,\t"\'\n' + b"\\" * (quoting.escape is not None)]
    for draw in range(4500):
        data = bytes(choices.choices(alphabets[draw % 3], k=choices.randrange(1, (25, 200, 12)[draw % 3])))
        ends, problem = rows_of(data, quoting)
        found, field = end_of_rows(data, quoting._replace(is_given=True))
        assert found in ends, (data, found, ends)
        newlines = [end for end in ends if data[end - 1 : end] == b"\n"]
        assert found >= max(newlines, default=0), (data, found, ends)
        if problem is None or problem[0] == NOT_CLOSED:
            assert (field and field[:2]) == (problem and problem[:2]), (data, field, problem)
        else:
            assert field == problem, (data, field, problem)


ROWS = "y,s,t\n" + "1,0.5,a\n0,0.25,b\n" * 100


@each_case("ending", ["\n", "\r\n", ""])
@each_case(
    "rows, line, words",
    [
        ('0,0.5,"best pizza\n1,0.7,shoes', 202, "is not closed"),
        ('0,"0.5,best pizza\n1,0.7,shoes', 202, "is not closed"),
        ('"0,0.5,best pizza\n1,0.7,shoes', 202, "is not closed"),
        ('0,0.5,"a ""quoted"" word\n1,0.7,shoes', 202, "is not closed"),
        ('0,0.5,"best pizza\n1,0.7,shoes\n1,0.9,"cars"', 202, "has text behind the quote that closes it in line 204"),
        ('0,0.5,"best pizza\n1,0.7,shoes\n1,0.9,"cars', 202, "has text behind the quote that closes it in line 204"),
        ('0,0.5,"best" pizza', 202, "has text behind the quote that closes it in line 202"),
        ('0,0.5,"best"" pizza"x', 202, "has text behind the quote that closes it in line 202"),
        ('1,0.1,"x\ny"\n0,0.5,"best" pizza', 204, "has text behind the quote that closes it in line 204"),
        ('0,0.5,"best pizza\n1,0.7,shoes\n1,0.9,tv 55"', 202, "goes on to line 204, over lines that look like rows"),
        ('0,0.5,"tv 55"\n0,0.5,"best pizza\n1,0.9,tv 55"', 203, "goes on to line 204, over lines that look like rows"),
    ],
)
def test_a_quote_takes_no_rows(rows, line, words, ending, tmp_path, monkeypatch):
    """Also in files of many blocks, compressed, read by several threads, and where the column is not read."""
    content = (ROWS + rows).replace("\n", ending or "\n") + ending
    shown = "line " + str(line) + " the quoted field that begins with '\""
    for size in (1000, 1 << 20):
        monkeypatch.setattr(text_blocks, "BLOCK_BYTES", size)
        escaped = write(tmp_path, content.replace(",a", ",\\a"), "escaped.csv")
        for name, data in (("log.csv", content.encode()), ("log.csv.gz", gzip.compress(content.encode()))):
            path = write(tmp_path, data, name)
            for use_threads in (False, True):
                message = rf"cannot be read as CSV.*in {shown}.*{words}.*type quote=None: .*or --quote ''"
                assert_raises(ValueError, rf"{name} {message}", read, path, ["y"], use_threads)
                options = {"format_options": {"escape": "\\"}}
                assert_raises(ValueError, rf"escaped.csv {message}", read, escaped, ["y"], use_threads, **options)
                if rows[0] != '"' and '"x\ny"' not in rows:
                    found = read(path, ["y"], use_threads, format_options={"quote": None})
                    assert found.num_rows == len(content.splitlines()) - 1


@each_case("is_given", [False, True])
def test_lines_of_a_text_are_no_rows(is_given, tmp_path):
    """Lines without the row's fields, or without its numbers, are texts; a quote that is named is never doubted."""
    texts = ["a\nb", "x,y,z\nx,y,z", 'one, two\n"1,0.5"', "\n\n", "a,\nb"]
    rows = [(number % 2, number / 8, text) for number, text in enumerate(texts)]
    if is_given:
        rows.append((1, 0.5, "a\n1,0.5,b\n0,1,c"))
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("y", "s", "t"), *rows])
    options = {"quote": '"'} if is_given else {}
    found = read(write(tmp_path, text.getvalue()), ["y", "s", "t"], format_options=options)
    assert [tuple(row.values()) for row in found.to_pylist()] == rows


def test_quotes_of_one_column(tmp_path):
    """Each line of a column is a row of one field, so lines of a text are no sign of a quote that is not closed."""
    assert read(write(tmp_path, 's\n0.5\n"0.25\n0.75"\n'), ["s"])["s"].to_pylist() == ["0.5", "0.25\n0.75"]


def test_a_quote_behind_the_mark_of_utf8(tmp_path):
    path = write(tmp_path, '\ufeff"a\nb",c\n1,2\n')
    assert read(path, ["a\nb", "c"]).to_pydict() == {"a\nb": [1], "c": [2]}


def test_errors_of_earlier_rows_come_first(tmp_path, monkeypatch):
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 64)
    path = write(tmp_path, "a,b\n" + "1,2\n" * 50 + "1,x\n" + "1,2\n" * 10 + '1,"2\n')
    for use_threads in (False, True):
        assert_raises(ValueError, "column 'b' has 'x' at row #52", read, path, ["b"], use_threads)


@each_case("quoted", ["none", "all", "stray", "escaped"])
def test_small_blocks_give_the_same_rows(quoted, tmp_path, monkeypatch):
    """Fields with quotes, delimiters and line breaks, cut at every place."""
    choices = random.Random(3)
    alphabet = {"none": "ab", "all": 'ab,"\n', "stray": 'ab"', "escaped": 'ab,"\n\\'}[quoted]
    rows = [["".join(choices.choices(alphabet, k=choices.randrange(1, 6))), str(number)] for number in range(200)]
    options, text = {}, io.StringIO()
    if quoted == "stray":
        rows = [["x" + first, second] for first, second in rows]
        text.write("".join(f"{first},{second}\n" for first, second in [["a", "n"], *rows]))
    else:
        escape = {"escapechar": "\\", "doublequote": False} if quoted == "escaped" else {}
        options = {"escape": "\\"} if quoted == "escaped" else {}
        style = csv.QUOTE_NONE if quoted == "none" else csv.QUOTE_ALL
        csv.writer(text, quoting=style, lineterminator="\n", **escape).writerows([["a", "n"], *rows])
    path = write(tmp_path, text.getvalue())
    for size in (37, 64, 100, 257, 1 << 20):
        monkeypatch.setattr(text_blocks, "BLOCK_BYTES", size)
        types = {"column_types": {"a": "string", "n": "string"}}
        found = read(path, ["a", "n"], format_options=options | types)
        assert found.to_pylist() == [{"a": first, "n": second} for first, second in rows]


def test_a_stream_may_give_few_bytes_at_a_time(monkeypatch):
    class Trickle(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(size, 3))

    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 10)
    blocks = [bytes(block.data) for block in read_blocks(Trickle(b"ab,c\nd,e\nf,g\nh"), Quoting())]
    assert blocks == [b"ab,c\nd,e\n", b"f,g\n", b"h\n"]


HARD = [
    "0.1", "1e-5", "9007199254740993", "2.2250738585072011e-308", "4.9e-324", "0.30000000000000004",
    "8.41e+21", "123456789012345678901234567890.5", "6.929001713869936e+236", "1.7976931348623157e308",
    "0.500000000000000166533453693773481063544750213623046875", "3.2378839133029012895883524125015321748630094585454",
]  # fmt: skip


@each_case("name", ["log.csv", "log.tsv", "log.jsonl"])
def test_texts_are_rounded_once(name, tmp_path):
    if name == "log.jsonl":
        content = "".join(f'{{"p": {text}}}\n' for text in ["0.5", *HARD])
    else:
        content = "p\n" + "\n".join(["0.5", *HARD]) + "\n"
    found = read(write(tmp_path, content, name), ["p"])["p"].to_pylist()
    assert found == [0.5, *map(float, HARD)]


# ---------------------------------------------------------------------------------------------------------- types


def test_a_first_block_of_nulls(tmp_path, monkeypatch):
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 64)
    path = write(tmp_path, "a,b,c\n" + "1,,\n" * 50 + "1,0.5,\n" * 50)
    found = read(path, ["a", "b"])
    assert found["b"].to_pylist() == [None] * 50 + [0.5] * 50
    assert read(path, ["c"])["c"].to_pylist() == [None] * 100
    rows = [{"a": 1, "b": None}] * 50 + [{"a": 1, "b": 0.5}] * 50
    path = write(tmp_path, "\n".join(map(json.dumps, rows)), "log.jsonl")
    assert read(path, ["a", "b"])["b"].to_pylist() == [None] * 50 + [0.5] * 50


@each_case(
    "row, message",
    [
        ("1,0.5", r"column 'b' has '0.5' at row #52, but its first values have the type int64.*'b': 'double'"),
        ("1,word", r"column 'b' has 'word' at row #52, .*'column_types': {'b': 'string'}}, or --column-type b=string"),
        ("1", r"CSV parse error: Row #52: Expected 2 columns, got 1"),
    ],
)
def test_rows_that_do_not_fit_are_named(row, message, tmp_path, monkeypatch):
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 64)
    path = write(tmp_path, "a,b\n" + "1,2\n" * 50 + row + "\n" + "1,2\n" * 50)
    for use_threads in (False, True):
        assert_raises(ValueError, rf"log\.csv cannot be read as CSV; .*{message}", read, path, ["b"], use_threads)


@each_case(
    "row, message",
    [
        ('{"a": 0.5}', r"column 'a' has 0.5 at row 50, a number, but its type is int64.*--column-type a=double"),
        ('{"a": "x"}', r"column 'a' has \"x\" at row 50, a text, but its type is int64"),
        ('{"a": 1', r"row 50 is no JSON"),
        ("[1]", r"row 50 is no object, but list"),
    ],
)
def test_lines_of_json_that_do_not_fit_are_named(row, message, tmp_path, monkeypatch):
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 64)
    path = write(tmp_path, '{"a": 1}\n' * 50 + row + "\n" + '{"a": 1}\n' * 50, "log.jsonl")
    assert_raises(ValueError, rf"log\.jsonl cannot be read as JSON lines; .*{message}", read, path, ["a"])


@each_case(
    "content, message",
    [
        ('[{"a": 1}]', r"it is an array, not one object in each line: convert it with jq -c '.\[\]'"),
        ('{\n  "a": 1\n}\n', "an object has several lines"),
        ("a,b\n", "does not begin with an object"),
        ("", "the file is empty"),
    ],
)
def test_json_that_is_not_lines(content, message, tmp_path):
    assert_raises(ValueError, rf"log\.json cannot be read as JSON lines.*{message}", open_source,
                  write(tmp_path, content, "log.json"))  # fmt: skip


def test_lines_of_json(tmp_path):
    rows = [{"click": 1, "m": {"p": 0.5, "tags": ["a"]}}, {"click": 0, "m": {"p": 0.25}}, {"click": 0, "m": {"p": 1}}]
    content = "\n".join(map(json.dumps, rows)) + '\n\n{"later": 1, "click": 1, "m": null}\n'
    path = write(tmp_path, content, "log.ndjson")
    assert read(path, ["m.p", "click"]).to_pydict() == {"m.p": [0.5, 0.25, 1.0, None], "click": [1, 0, 0, 1]}
    assert read(path, ["m.tags"])["m.tags"].to_pylist() == [["a"], None, None, None]
    given = {"column_types": {"click": "double"}}
    assert read(path, ["click"], format_options=given).schema.field("click").type == pa.float64()
    unknown = {"column_types": {"x": "int8"}}
    assert_raises(ValueError, "column_types: no column 'x'", read, path, ["m.p"], format_options=unknown)


def test_times_with_fractions_behind_times_without(tmp_path, monkeypatch):
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 64)
    path = write(tmp_path, "a,t\n" + "1,2026-11-01 10:00:00\n" * 5 + "1,2026-11-01 10:00:00.5\n")
    words = r"column 't' has '2026-11-01 10:00:00.5' at row #7, .*'column_types': {'t': 'timestamp'}"
    assert_raises(ValueError, words, read, path, ["t"])
    given = {"column_types": {"t": "timestamp"}}
    assert read(path, ["t"], format_options=given)["t"].to_pylist()[-1].microsecond == 500_000


def test_empty_csv(tmp_path):
    assert_raises(ValueError, "log.csv cannot be read as CSV.*Empty CSV file", open_source, write(tmp_path, ""))
    source = open_source(write(tmp_path, "click,p\n"))
    assert source.column_names == ["click", "p"]
    assert_raises(ValueError, "no rows", fm.evaluate, tmp_path / "log.csv", ["auc"], label="click", score="p")


def test_a_log_with_ids_of_texts(tmp_path):
    """007 and 7 are two users, where the column is one of texts."""
    path = write(tmp_path, "click,p,user\n1,0.5,007\n0,0.25,7\n0,0.75,007\n1,0.9,7\n")
    options = {"label": "click", "score": "p", "group": "user"}
    one = fm.evaluate(path, ["gauc"], **options)
    two = fm.evaluate(path, ["gauc"], **options, format_options={"column_types": {"user": "string"}})
    texts = {"click": [1, 0, 0, 1], "p": [0.5, 0.25, 0.75, 0.9], "user": ["007", "7", "007", "7"]}
    assert two["gauc"] == fm.evaluate(texts, ["gauc"], **options)["gauc"] != one["gauc"]


def test_memory_is_bounded_by_blocks(tmp_path, monkeypatch):
    """The reader never holds more than a few blocks."""
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 1 << 16)
    path = write(tmp_path, b"a\n" + b"12345678\n" * 200_000)
    before = pa.total_allocated_bytes()
    most = 0
    for _ in open_source(path).batches(["a"], use_threads=False):
        most = max(most, pa.total_allocated_bytes() - before)
    assert most < 8 * (1 << 20)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_rows_are_the_same_for_any_number_of_threads(n_threads, tmp_path, monkeypatch):
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 1000)
    rng = np.random.default_rng(0)
    log = {"click": rng.integers(0, 2, 5000), "p": rng.random(5000), "user": rng.integers(0, 50, 5000)}
    pa.csv.write_csv(pa.table(log), tmp_path / "log.csv")
    options = {"label": "click", "score": "p", "group": "user"}
    metrics = ["auc", "gauc", "logloss"]
    found = fm.evaluate(tmp_path / "log.csv", metrics, n_threads=n_threads, **options)
    expected = fm.evaluate(log, metrics, **options)
    assert [result.value for result in found] == [result.value for result in expected]
