"""TREC run and qrels files: rows are read as they were written; a bad line is named."""

import gzip
import math
import os
import struct
import threading

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics.metrics.ranking.runs import trec_files
from support.cases import assert_raises, each_case

BLANKS = " \t\r\x0b\x0c"
# All characters that C does not treat as blank: all of Unicode without ASCII blanks and surrogates.
names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\x0b\x0c"), min_size=1, max_size=40
).filter(lambda name: not name.startswith(("#", "\ufeff")))
gaps = st.text(st.sampled_from(BLANKS), min_size=1, max_size=4)
edges = st.text(st.sampled_from(BLANKS), max_size=3)
queries = st.sampled_from(["1", "2", "q", "301", "query-with-a-long-name", "query-with-a-long-nama", "ä", "q\x00"])
numbers = st.floats(allow_nan=False).map(repr)
integers = st.integers(-(10**18) + 1, 10**18 - 1)
NUMBER_TEXTS = [
    "0", "-0", "+0.0", "1.", ".5", "-.5e-3", "1E5", "1e+05", "inf", "-Infinity", "+INF", "1" * 400, "5e-324",
    "2.2250738585072011e-308", "1.7976931348623159e308", "9007199254740993", "9007199254740992.5", "1e23",
    "0.000000000000000000000000000000123", "18446744073709551615", "18446744073709551616", "1e-400",
    "9999999999999999999", "0.1234567890123456789", "123456789.12345678901", "1e22", "1e-22", "1e-23", "4.35",
    "0e999999999", "00000000000000000000001.5", "8.5e99999999999999999999", "1.00000000000000011102230246251565",
]  # fmt: skip


def bits(values):
    return [struct.pack("<d", value) for value in values]


@pytest.fixture
def chunks(monkeypatch):
    """Sets the size of chunks to a few bytes, so that lines cross chunks and some chunks have no line."""

    def set_bytes(n_bytes):
        monkeypatch.setattr(trec_files, "CHUNK_BYTES", n_bytes)

    return set_bytes


def write(folder, text, name="a.run"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


def texts(spans):
    return [spans.at(place) for place in range(len(spans.starts))]


# ---------------------------------------------------------------------------------------------------------- round trips


@st.composite
def run_files(draw):
    """The text of a run, and its rows."""
    rows = draw(st.lists(st.tuples(queries, names, st.one_of(numbers, st.sampled_from(NUMBER_TEXTS))), min_size=1))
    lines = []
    for query, item, score in rows:
        between = draw(st.lists(gaps, min_size=5, max_size=5))
        fields = (query, "Q0", item, "1", score, "tag")
        line = "".join(part for pair in zip(fields, [*between, ""], strict=True) for part in pair)
        lines.append(draw(edges) + line + draw(edges))
        if draw(st.booleans()):
            lines.append(draw(st.sampled_from(["", " \t", "\r", "# a comment", " #x y z"])))
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\r\n", "\n\n"]))
    return text, rows


@settings(max_examples=60, deadline=None)
@given(run_files(), st.integers(1, 3), st.sampled_from([7, 16, 50, 1 << 22]))
def test_a_run_is_read_as_it_was_written(tmp_path_factory, file, n_threads, chunk_bytes):
    text, rows = file
    path = write(tmp_path_factory.mktemp("run"), text)
    before, trec_files.CHUNK_BYTES = trec_files.CHUNK_BYTES, chunk_bytes
    try:
        run = fm.read_run(path, n_threads=n_threads)
    finally:
        trec_files.CHUNK_BYTES = before
    assert texts(run.query) == [query for query, _, _ in rows]
    assert texts(run.item) == [item for _, item, _ in rows]
    assert bits(run.score) == bits([float(score) for _, _, score in rows])
    assert (run.tag, run.path, len(run)) == ("tag", str(path), len(rows))
    changes = [i for i in range(len(rows)) if i == 0 or rows[i][0] != rows[i - 1][0]]
    assert run.segments.tolist() == [*changes, len(rows)]
    assert texts(run.segment_query) == [rows[i][0] for i in changes]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(queries, names, integers), min_size=1), st.sampled_from(["\n", "\r\n"]), st.integers(1, 3))
def test_qrels_are_read_as_they_were_written(tmp_path_factory, rows, newline, n_threads):
    text = newline.join(f"{query}\t0 {item}\t{relevance:+d}" for query, item, relevance in rows)
    qrels = fm.read_qrels(write(tmp_path_factory.mktemp("qrels"), text), n_threads=n_threads)
    assert texts(qrels.query) == [query for query, _, _ in rows]
    assert texts(qrels.item) == [item for _, item, _ in rows]
    assert qrels.relevance.tolist() == [relevance for _, _, relevance in rows]
    assert qrels.relevance.dtype == np.int64


@settings(max_examples=60, deadline=None)
@given(st.floats(allow_nan=False, width=64), st.integers(0, 25))
@example(1e22, 3)
def test_decimals_are_rounded_as_python_does(tmp_path_factory, value, decimals):
    texts_of_numbers = [repr(value), f"{value:.{decimals}e}", f"{value:.17g}", f"{value:g}"]
    if math.isfinite(value):
        texts_of_numbers.append(f"{math.fmod(value, 1e6):.{decimals}f}")
    path = write(tmp_path_factory.mktemp("run"), "".join(f"q Q0 d 1 {number} t\n" for number in texts_of_numbers))
    assert bits(fm.read_run(path).score) == bits(map(float, texts_of_numbers))


@each_case("text", NUMBER_TEXTS)
def test_every_format_of_a_number(tmp_path, text):
    assert bits(fm.read_run(write(tmp_path, f"q Q0 d 1 {text} t")).score) == bits([float(text)])


def test_many_digits_at_many_places(tmp_path):
    """Numbers that need the double-double quotient: 16 to 19 digits, any position of the point, and halfway cases."""
    generator = np.random.default_rng(5)
    digits = [str(n) for n in generator.integers(10**15, 2**63 - 1, 20_000)]
    places = generator.integers(0, 48, 20_000)
    texts_of_numbers = [f"{number}e-{place}" for number, place in zip(digits, places, strict=True)]
    halves = [repr(int(n) * 2 + 1) for n in generator.integers(2**52, 2**53, 2_000)]  # 54 bits: between two doubles
    texts_of_numbers += [f"{number}e{place % 6}" for number, place in zip(digits, places, strict=True)]
    texts_of_numbers += halves + [f"{half}0e-1" for half in halves]
    path = write(tmp_path, "".join(f"q Q0 d 1 {number} t\n" for number in texts_of_numbers))
    assert (fm.read_run(path).score == np.array([float(number) for number in texts_of_numbers])).all()


def test_chunks_cut_anywhere_give_the_same(tmp_path, chunks):
    text = "".join(f"q{i // 3} Q0 item{'x' * (i % 40)} 1 {i / 7!r} tag\n{'' if i % 5 else chr(10)}" for i in range(60))
    path = write(tmp_path, text)
    whole = fm.read_run(path)
    for n_bytes in [*range(1, 40), 100, 1000]:
        chunks(n_bytes)
        for n_threads in (1, 3):
            run = fm.read_run(path, n_threads=n_threads)
            assert texts(run.item) == texts(whole.item)
            assert texts(run.query) == texts(whole.query)
            assert (run.score == whole.score).all()
            assert run.segments.tolist() == whole.segments.tolist()
            assert run.item.starts.flags.c_contiguous
            assert run.tag == "tag"


def test_lines_of_every_length(tmp_path):
    """Lines of up to 64 bytes are split by another method than longer ones."""
    lengths = range(1, 150)
    lines = [f"q{n % 3} Q0 {'i' * n} {n} {n}.5 tag" for n in lengths] + [f"q Q0 j 1 {n}.5 t{' ' * n}" for n in lengths]
    run = fm.read_run(write(tmp_path, "\n".join(lines) + "\n"))
    assert texts(run.item) == [line.split()[2] for line in lines]
    assert run.score.tolist() == [n + 0.5 for n in lengths] * 2
    qrels = fm.read_qrels(write(tmp_path, "\n".join(f"q 0 {'i' * n}{' ' * (n % 7 + 1)}{n} " for n in lengths)))
    assert texts(qrels.item) == ["i" * n for n in lengths]
    assert qrels.relevance.tolist() == list(lengths)
    for n in range(130):
        assert_raises(
            ValueError, "line 1: 5 fields", fm.read_run, write(tmp_path, f"q Q0 d{' ' * n} 1 0.5{' ' * (n // 2)}")
        )
        assert_raises(ValueError, "line 1: 5 fields", fm.read_qrels, write(tmp_path, f"q 0 d 1{' ' * n} more"))


def test_segments_join_across_chunks_and_a_query_may_come_back(tmp_path, chunks):
    path = write(tmp_path, "".join(f"{query} 0 d{i} 1\n" for i, query in enumerate("aaaaabbbbbbbbbaab")))
    for n_bytes in range(1, 90):
        chunks(n_bytes)
        qrels = fm.read_qrels(path)
        assert qrels.segments.tolist() == [0, 5, 14, 16, 17]
        assert texts(qrels.segment_query) == ["a", "b", "a", "b"]


# ------------------------------------------------------------------------------------------------------- kinds of files


TEXT = "q1 Q0 d1 1 2.5 bm25\nq1 Q0 d2 2 1.5 bm25\n"


@each_case(
    "contents",
    [
        TEXT.encode(),
        TEXT.strip().encode(),
        TEXT.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + TEXT.encode(),
        b"# made by hand\n\n  \n" + TEXT.encode() + b"\n\n",
        gzip.compress(TEXT.encode(), mtime=0),
        gzip.compress(TEXT[:20].encode(), mtime=0) + gzip.compress(TEXT[20:].encode(), mtime=0),
        TEXT.replace(" ", "\t  ").encode(),
    ],
)
@pytest.mark.parametrize("name", ["a.run", "a.run.gz", "without an ending"])
def test_compression_is_found_from_the_contents(tmp_path, contents, name):
    run = fm.read_run(write(tmp_path, contents, name))
    assert (texts(run.item), run.score.tolist(), run.tag) == (["d1", "d2"], [2.5, 1.5], "bm25")


def test_a_pipe_is_read(tmp_path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes")
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(TEXT,))
    writer.start()
    run = fm.read_run(path)
    writer.join()
    assert run.score.tolist() == [2.5, 1.5]


def test_the_tag_is_that_of_the_last_line(tmp_path):
    assert fm.read_run(write(tmp_path, "q Q0 a 1 1 first\nq Q0 b 2 0 lást\n\n")).tag == "lást"


@each_case("text", ["more", "made by hand, 12 fields # in all", "x" * 200, "\t", "ÿ \x00"])
@each_case("chunk_bytes", [7, 40, 1 << 22])
def test_text_behind_the_tag_is_ignored(tmp_path, chunks, text, chunk_bytes):
    """Lines with and without it, shorter and longer than 64 bytes, the last one without a newline."""
    chunks(chunk_bytes)
    lines = [f"q{n % 2} Q0 item{'i' * n} 1 {n}.5 tag{n}{' ' * (n % 5)}" for n in range(50)]
    path = write(tmp_path, "\n".join(f"{line} {text}" if n % 3 else line for n, line in enumerate(lines, 1)))
    run = fm.read_run(path, n_threads=2)
    assert texts(run.item) == [line.split()[2] for line in lines]
    assert run.score.tolist() == [n + 0.5 for n in range(50)]
    assert run.tag == "tag49"


def test_progress_ends_with_all_rows(tmp_path, chunks):
    chunks(100)
    seen = []
    path = write(tmp_path, "".join(f"q Q0 d{i} 1 {i} t\n" for i in range(100)))
    fm.read_run(path, n_threads=2, progress=lambda *call: seen.append(call))
    stages, done, total = zip(*seen, strict=True)
    assert set(stages) == {"reading a.run"}
    assert max(done) == 100
    assert set(total) == {100}


def test_arrow_tables(tmp_path):
    pa = pytest.importorskip("pyarrow")
    table = fm.read_run(write(tmp_path, "q1 Q0 dé 1 2.5 t\n\nq2 Q0 d2 2 1.5 t\nq2 Q0 長い 2 1 t")).to_arrow()
    assert table.schema == pa.schema({"query": pa.large_string(), "item": pa.large_string(), "score": pa.float64()})
    assert table.to_pydict() == {"query": ["q1", "q2", "q2"], "item": ["dé", "d2", "長い"], "score": [2.5, 1.5, 1.0]}
    table.validate(full=True)
    qrels = fm.read_qrels(write(tmp_path, "q1 0 d 2\nq1 0 e -1"))
    assert qrels.to_arrow().to_pydict() == {"query": ["q1", "q1"], "item": ["d", "e"], "relevance": [2, -1]}


def test_invalid_utf8_is_read_but_rejected_as_arrow(tmp_path):
    pytest.importorskip("pyarrow")
    run = fm.read_run(write(tmp_path, b"q1 Q0 d1 1 2.5 t\nq1 Q0 d\xff 1 2.5 t\n"))
    assert bytes(run.item.data[run.item.starts[1] : run.item.stops[1]]) == b"d\xff"
    assert_raises(ValueError, r"a\.run, line 2: 'd\\\\xff' is no valid UTF-8", run.to_arrow)


def test_repr(tmp_path):
    run = fm.read_run(write(tmp_path, TEXT))
    assert repr(run) == f"TrecRun({run.path!r}, 2 rows)"


# ------------------------------------------------------------------------------------------------------------ bad input


@each_case(
    ("line", "problem"),
    [
        ("q Q0 d 1 0.5", "5 fields where 6 are wanted (query Q0 item rank score tag)"),
        ("q", "1 field where 6 are wanted"),
        ("q Q0 d 1 x t more", "the score 'x' is not a number"),
        ("q Q0 d 1 1.2.3 t", "the score '1.2.3' is not a number"),
        ("q Q0 d 1 nan t", "the score 'nan' is not a number"),
        ("q Q0 d 1 -NaN t", "the score '-NaN' is not a number"),
        ("q Q0 d 1 1_000 t", "the score '1_000' is not a number"),
        ("q Q0 d 1 0x1p3 t", "the score '0x1p3' is not a number"),
        ("q Q0 d 1 1e t", "the score '1e' is not a number"),
        ("q Q0 d 1 1e+ t", "the score '1e+' is not a number"),
        ("q Q0 d 1 1e5.5 t", "the score '1e5.5' is not a number"),
        ("q Q0 d 1 . t", "the score '.' is not a number"),
        ("q Q0 d 1 - t", "the score '-' is not a number"),
        ("q Q0 d 1 --1 t", "the score '--1' is not a number"),
        ("q Q0 d 1 1,5 t", "the score '1,5' is not a number"),
        ("q Q0 d 1 ١ t", "the score '١' is not a number"),
        ("q Q0 d 1 infinit t", "the score 'infinit' is not a number"),
        ("q Q0 d 1 1234567890123x t", "the score '1234567890123x' is not a number"),
    ],
)
@each_case("chunk_bytes", [30, 1 << 22])
def test_a_bad_line_of_a_run_is_named(tmp_path, chunks, line, problem, chunk_bytes):
    chunks(chunk_bytes)
    good = "q Q0 d 1 1.5 t\n"
    path = write(tmp_path, f"# comment\n{good}\n{good}{line}\n{good}q\n")
    with pytest.raises(ValueError, match=r"a\.run") as error:
        fm.read_run(path, n_threads=2)
    assert str(error.value).startswith(f"{path}, line 5: {problem}")
    assert str(error.value).endswith(f": {line!r}")


@each_case(
    ("line", "problem"),
    [
        ("q 0 d", "3 fields where 4 are wanted (query iteration item relevance)"),
        ("q 0 d 1 1", "5 fields where 4 are wanted"),
        ("q 0 d 1.0", "the relevance '1.0' is not an integer"),
        ("q 0 d one", "the relevance 'one' is not an integer"),
        ("q 0 d -", "the relevance '-' is not an integer"),
        ("q 0 d 1234567890123456789", "the relevance '1234567890123456789' is not an integer"),
        *[(f"q 0 d {mark}", f"the relevance {mark!r} is not an integer") for mark in "\0\x1c\x1f\x7f\x85\xa0"],
        ("q\x1e 0 d 1\x1c", r"the relevance '1\x1c' is not an integer"),
    ],
)
def test_a_bad_line_of_qrels_is_named(tmp_path, line, problem):
    path = write(tmp_path, f"q 0 d 1\r\n{line}", "qrels")
    with pytest.raises(ValueError, match="qrels") as error:
        fm.read_qrels(path)
    assert str(error.value).startswith(f"{path}, line 2: {problem}")


def test_a_long_line_is_shown_in_part(tmp_path):
    with pytest.raises(ValueError, match=r"…'$") as error:
        fm.read_run(write(tmp_path, "x" * 100_000))
    assert len(str(error.value)) < len(str(tmp_path)) + 300


@each_case("contents", [b"", b"\n", b" \n# only this\n\n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
@each_case("read", [fm.read_run, fm.read_qrels])
def test_an_empty_file_is_an_error_that_names_it(tmp_path, read, contents):
    assert_raises(ValueError, r"a\.run is empty: it has no lines to read", read, write(tmp_path, contents))


def test_damaged_gzip_data(tmp_path):
    whole = gzip.compress("".join(f"q Q0 d{i} 1 {i / 7} t\n" for i in range(1000)).encode())
    for n_bytes in (2, 9, 15, len(whole) // 2, len(whole) - 1):
        assert_raises(
            ValueError, r"a\.run (ends too early: its gzip data is truncated|has damaged)",
            fm.read_run, write(tmp_path, whole[:n_bytes]),
        )
    for place in (5_00, len(whole) - 6):
        broken = bytearray(whole)
        broken[place] ^= 0x55
        assert_raises(ValueError, r"a\.run has damaged gzip data", fm.read_run, write(tmp_path, bytes(broken)))


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        fm.read_run(tmp_path / "no.run")


@each_case("n_threads", [0, -2, 1.5, True])
def test_threads_are_checked(tmp_path, n_threads):
    assert_raises(ValueError, "n_threads", fm.read_run, write(tmp_path, TEXT), n_threads=n_threads)
