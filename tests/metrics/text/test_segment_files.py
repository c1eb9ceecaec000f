"""read_segments: ends of lines, sources, invalid text, and that a file gives the same blocks as a list of its lines."""

import gzip
import io
import os
import threading
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.columns.row_blocks import Scratch
from fastmetrics._core.state import Fields
from fastmetrics.metrics.text import text_metric
from fastmetrics.metrics.text.inputs import random_access_bytes, segment_files, segments
from fastmetrics.metrics.text.inputs.argument_forms import segments_from_parallel, segments_from_streams
from fastmetrics.metrics.text.text_metric import TextMetric
from support.cases import assert_raises, each_case

# str.splitlines and universal newlines end lines at these; read_segments does not.
OTHER_SEPARATORS = ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\r"]
LETTERS = ["a", "B", "ß", "İ", "Σ", "ς", "ё", "字", "\U0001f642", " ", "\t", "\0", "\ufeff", *OTHER_SEPARATORS]
lines_of_text = st.lists(st.text(st.sampled_from(LETTERS), max_size=6), min_size=1, max_size=6)


class Lengths(TextMetric):
    """A metric that counts the characters of texts."""

    columns = ("hypothesis", "references")
    fields = Fields(*columns)
    lowercase = False

    def new_counter(self):
        return self.count

    def count(self, block, out):
        lengths = np.diff(block.offsets)
        first = block.segments[:-1]
        out[:, 0] = lengths[first]
        out[:, 1] = np.add.reduceat(lengths, first) - out[:, 0]

    def add(self, sums, counts):
        sums.counts += counts.sum(axis=0)

    def score(self, sums, n_references):
        """Tests read the counts."""


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def load_blocks(source, lowercase=False):
    source.lowercase = lowercase
    return [[array.copy() for array in source.load(block, Scratch(), {})] for block in range(source.n_blocks)]


def assert_same_blocks(found, expected):
    assert len(found) == len(expected)
    for block, expected_block in zip(found, expected, strict=True):
        for array, expected_array in zip(block, expected_block, strict=True):
            np.testing.assert_array_equal(array, expected_array)


# ---------------------------------------------------------------------------------------------------------------- lines


@each_case("end", OTHER_SEPARATORS)
def test_only_newlines_end_lines(tmp_path, end):
    path = write(tmp_path / "a.txt", f"one{end}two\nthree\n")
    assert list(fm.read_segments(path)) == [f"one{end}two", "three"]


@each_case(
    ("text", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"\n\n", ["", ""]),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\n\n", ["a", ""]),
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"\r\n\r\n", ["", ""]),
        (b"a\r\r\n\n\rb\r", ["a\r", "", "\rb"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),
        (b"\xef\xbb\xbf", []),
        (b"\xef\xbb\xbf\n", [""]),
        (b"a\0b\n", ["a\0b"]),
        (b" a \t\n", [" a \t"]),
    ],
)
def test_ends_of_files_and_of_lines(tmp_path, text, lines):
    packed = write(tmp_path / "a.gz", gzip.compress(text))
    for source in (write(tmp_path / "a.txt", text), packed, io.BytesIO(text), io.BytesIO(gzip.compress(text))):
        found = fm.read_segments(source)
        assert list(found) == lines
        assert len(found) == len(lines)
        assert found[:] == lines


@each_case("long", [8192, 3])
@each_case("n_lines", [1, 15, 16, 17, 255, 256, 257, 512, 1000])
@each_case("end", ["", "\n", "\r\n"])
def test_lines_are_found_at_any_position(tmp_path, monkeypatch, n_lines, end, long):
    monkeypatch.setattr(segment_files, "CHUNK_BYTES", 97)
    monkeypatch.setattr(segment_files, "LONG_LINE_BYTES", long)
    lines = [f"line {number} \u00e4" * (number % 3) for number in range(n_lines)]
    lines[-1] = "last"
    found = fm.read_segments(write(tmp_path / "a.txt", "\n".join(lines) + end))
    assert len(found) == n_lines
    assert list(found) == lines
    assert found[-1] == found[n_lines - 1] == "last"
    assert found[n_lines // 2 : n_lines // 2 + 300] == lines[n_lines // 2 : n_lines // 2 + 300]
    assert found[::-7] == lines[::-7]
    assert found[5:2] == []
    with pytest.raises(IndexError, match=f"a.txt has {n_lines} lines"):
        found[n_lines]


@given(lines_of_text, lines_of_text, st.booleans())
def test_blocks_of_files_are_those_of_lists(tmp_path_factory, first, second, lowercase):
    n_lines = min(len(first), len(second))
    streams = [first[:n_lines], second[:n_lines], first[:n_lines][::-1]]
    # A carriage return before a newline is part of the line's end.
    streams = [[line.rstrip("\r") for line in stream] for stream in streams]
    folder = tmp_path_factory.mktemp("streams")
    opened = [
        fm.read_segments(write(folder / str(number), "".join(f"{line}\n" for line in lines)))
        for number, lines in enumerate(streams)
    ]
    of_files = segments_from_streams(opened[0], opened[1:])
    assert isinstance(of_files, segments.FileSegments)
    assert of_files.n_references == 2
    lists = [list(lines) for lines in opened]
    of_lists = segments_from_streams(lists[0], lists[1:])
    assert_same_blocks(load_blocks(of_files, lowercase), load_blocks(of_lists, lowercase))


def test_many_blocks_and_threads(tmp_path):
    generator = np.random.default_rng(1)
    words = np.array(["the", "Катя", "字", "ß", "", "Ünï"])
    streams = [[" ".join(words[generator.integers(0, 6, 5)]) for _ in range(1300)] for _ in range(3)]
    opened = [
        fm.read_segments(write(tmp_path / f"{number}.txt", "\n".join(lines))) for number, lines in enumerate(streams)
    ]
    of_files = segments_from_parallel(opened[0], opened[1:])
    of_lists = segments_from_streams(streams[0], streams[1:])
    for lowercase in (False, True):
        assert_same_blocks(load_blocks(of_files, lowercase), load_blocks(of_lists, lowercase))
    for n_threads in (1, 3):
        counts = text_metric.count_segments(Lengths(), of_files, n_threads)
        np.testing.assert_array_equal(counts, text_metric.count_segments(Lengths(), of_lists, 1))
        sums = text_metric.accumulate_segments(Lengths(), of_files, n_threads)
        assert sums.counts.tolist() == counts.sum(axis=0).tolist()


@each_case("length", [100, 1000, 3000, 20_000, 200_000])
def test_long_lines_make_smaller_blocks(tmp_path, length):
    lines = [f"{number} " + "ä" * (length // 2) for number in range(60)]
    file = fm.read_segments(write(tmp_path / "h", "\n".join(lines)))
    source = segments_from_streams(file, file)
    assert source.block_size == 1 or source.block_size * length <= segments.BLOCK_LENGTH
    points = [source.load(block, Scratch(), {}).points for block in range(source.n_blocks)]
    assert sum(map(len, points)) == 2 * sum(map(len, lines))
    assert file[7] == lines[7]
    assert file[:] == lines


def test_one_reference_needs_no_list(tmp_path):
    opened = [fm.read_segments(write(tmp_path / name, "a\nb\n")) for name in ("h", "r")]
    for convert in (segments_from_streams, segments_from_parallel):
        of_lists = convert(["a", "b"], ["a", "b"])
        assert_same_blocks(load_blocks(convert(opened[0], opened[1])), load_blocks(of_lists))


def test_files_and_lists_can_be_mixed(tmp_path):
    file = fm.read_segments(write(tmp_path / "h", "a\nb\n"))
    for mixed, lists in (
        ((file, [["c", "d"]]), (["a", "b"], [["c", "d"]])),
        ((["c", "d"], [file]), (["c", "d"], [["a", "b"]])),
    ):
        assert_same_blocks(load_blocks(segments_from_streams(*mixed)), load_blocks(segments_from_streams(*lists)))


# -------------------------------------------------------------------------------------------------------------- sources


def write_to_pipe(pipe, content):
    with open(pipe, "wb") as end:
        end.write(content)


def test_a_pipe_is_copied(tmp_path):
    text = "".join(f"line {number}\n" for number in range(700)).encode()
    for content in (text, gzip.compress(text), b"x", b""):
        reading, writing = os.pipe()
        thread = threading.Thread(target=write_to_pipe, args=(writing, content))
        thread.start()
        with open(reading, "rb") as pipe:
            found = fm.read_segments(pipe, name="standard input")
        thread.join()
        expected = {b"x": ["x"], b"": []}.get(content, text.decode().split("\n")[:-1])
        assert found[:] == expected
        assert list(found) == expected


def test_an_open_file_is_read_from_its_position(tmp_path):
    with open(write(tmp_path / "a.txt", "one\ntwo\nthree\n"), "rb") as file:
        assert file.readline() == b"one\n"
        assert fm.read_segments(file)[:] == ["two", "three"]
    with gzip.open(write(tmp_path / "a.gz", gzip.compress(b"one\ntwo\n")), "rb") as file:
        assert fm.read_segments(file)[:] == ["one", "two"]


def test_large_compressed_content_goes_to_a_temporary_file(tmp_path, monkeypatch):
    monkeypatch.setattr(random_access_bytes, "MAX_BYTES_IN_MEMORY", 1000)
    monkeypatch.setattr(random_access_bytes, "CHUNK_BYTES", 300)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    lines = [f"line {number}" for number in range(900)]
    path = write(tmp_path / "a.txt.gz", gzip.compress("\n".join(lines).encode()))
    with fm.read_segments(path) as found:
        assert list(found) == lines
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt.gz"]


def test_several_gzip_members_are_one_file(tmp_path):
    path = write(tmp_path / "a.gz", gzip.compress(b"one\nt") + gzip.compress(b"wo\n"))
    assert fm.read_segments(path)[:] == ["one", "two"]


def test_memory_does_not_grow_with_the_file(tmp_path):
    n_lines, line = 60_000, b"These words are as many as those of most sentences, and a few more. " * 3
    paths = [write(tmp_path / name, (line + b"\n") * n_lines) for name in ("h.txt", "r.txt")]
    tracemalloc.start()
    try:
        source = segments_from_streams(*map(fm.read_segments, paths))
        sums = text_metric.accumulate_segments(Lengths(), source, 2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sums.counts.tolist() == [n_lines * len(line)] * 2
    assert peak < n_lines * len(line) // 2


def test_progress(tmp_path):
    paths = [write(tmp_path / name, "a line\n" * 1000) for name in ("h.txt", "r.txt")]
    calls = []
    hypotheses = fm.read_segments(paths[0], progress=lambda *call: calls.append(call))
    assert calls == [("reading h.txt", 1000, None), ("reading h.txt", 1000, 1000)]
    del calls[0]
    text_metric.accumulate_segments(Lengths(), segments_from_streams(hypotheses, fm.read_segments(paths[1])), 1)
    assert calls[1:] == [("scoring h.txt", done, 1000) for done in (256, 512, 768, 1000)]
    calls.clear()
    text_metric.accumulate_segments(Lengths(), segments_from_streams(hypotheses, fm.read_segments(paths[1])), 2)
    assert calls[-1] == ("scoring h.txt", 1000, 1000)


# -------------------------------------------------------------------------------------------------------- bad input


@each_case(
    ("line", "byte", "value"),
    [
        (b"\xff", 1, "0xff"),
        (b"ab\xc3", 3, "0xc3"),
        ("ä".encode() + b"\x80", 3, "0x80"),
        (b"\xc0\x80", 1, "0xc0"),
        (b"a\xed\xa0\x80", 2, "0xed"),
        (b"\xf4\x90\x80\x80", 1, "0xf4"),
        (b"abcdefghij\xe4", 11, "0xe4"),
    ],
)
def test_invalid_text_is_named(tmp_path, line, byte, value):
    good = write(tmp_path / "hyp.txt", b"fine\n" * 300)
    bad = write(tmp_path / "ref.txt", b"fine\n" * 270 + line + b"\n" + b"fine\n" * 29)
    message = f"ref.txt, line 271, byte {byte}: {value} is not valid UTF-8"
    for lowercase in (False, True):
        source = segments_from_streams(fm.read_segments(good), fm.read_segments(bad))
        assert_raises(ValueError, message, load_blocks, source, lowercase)
    with pytest.raises(ValueError, match=message):
        list(fm.read_segments(bad))
    source = segments_from_streams(fm.read_segments(bad), fm.read_segments(good))
    assert_raises(ValueError, message, text_metric.accumulate_segments, Lengths(), source, 2)


def test_utf_16_is_recognized(tmp_path):
    path = write(tmp_path / "a.txt", "text\n".encode("utf-16"))
    with pytest.raises(ValueError, match=r"line 1, byte 1: 0xf. is not valid UTF-8 .*; the file begins like UTF-16"):
        list(fm.read_segments(path))


def test_different_numbers_of_lines(tmp_path):
    texts = {"hyp.txt": "a\nb\n", "ref0.txt": "a\n", "ref1.txt": "a\nb"}
    hypotheses, *references = (fm.read_segments(write(tmp_path / name, text)) for name, text in texts.items())
    message = r"the same number of lines: .*hyp\.txt has 2, .*ref0\.txt has 1, .*ref1\.txt has 2$"
    for convert in (segments_from_streams, segments_from_parallel):
        assert_raises(ValueError, message, convert, hypotheses, references)
        assert_raises(
            ValueError, r"empty\.txt is empty: it has no lines to read",
            convert, fm.read_segments(empty := write(tmp_path / "empty.txt", "")), [fm.read_segments(empty)],
        )


def test_damaged_compression(tmp_path):
    whole = gzip.compress(b"some text that goes on\n" * 1000)
    assert_raises(
        ValueError, r"a\.gz ends too early: its gzip data is truncated",
        fm.read_segments, write(tmp_path / "a.gz", whole[:-20]),
    )
    assert_raises(
        ValueError, r"b\.gz has damaged gzip data",
        fm.read_segments, write(tmp_path / "b.gz", whole[:40] + b"x" + whole[41:]),
    )


def test_files_that_cannot_be_read(tmp_path):
    assert_raises(FileNotFoundError, r"no\.txt", fm.read_segments, tmp_path / "no.txt")
    with pytest.raises(IsADirectoryError):
        fm.read_segments(tmp_path)
    assert_raises(TypeError, r"source must be a path or a binary file object; found int", fm.read_segments, 3)
    write(tmp_path / "a.txt", "a\n")
    with open(tmp_path / "a.txt", encoding="utf-8") as file, pytest.raises(TypeError, match=r"is open in text"):
        fm.read_segments(file)
    assert_raises(
        TypeError, r"hypotheses must be a list of strings; .*; open a file with read_segments",
        segments_from_streams, tmp_path / "a.txt", [["a"]],
    )


def test_a_changed_file_is_an_error(tmp_path):
    path = write(tmp_path / "a.txt", "one\ntwo\n")
    found = fm.read_segments(path)
    write(path, "one")
    with pytest.raises(ValueError, match=r"a\.txt was changed while it was read"):
        found[:]


def test_repr(tmp_path):
    found = fm.read_segments(write(tmp_path / "a.txt", "one\ntwo\n"), name="output")
    assert repr(found) == "TextFile('output', 2 lines)"
    assert found.name == "output"
