"""Texts encoded by their bytes, in order of first occurrence. Equal hashes alone do not make texts equal."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fastmetrics._kernels.columns.text_codes import TextCodes

LENGTHS = [0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 300]
EDGES = st.builds(bytes.__mul__, st.sampled_from([b"\0", b"a", b"\xff"]), st.sampled_from(LENGTHS))


def spans(texts):
    """Texts one after the other, without a byte after the last."""
    stops = np.cumsum([len(text) for text in texts], dtype=np.int64)
    return np.frombuffer(b"".join(texts), np.uint8), stops - np.array([len(text) for text in texts], np.int64), stops


def encode(table, texts):
    codes = np.empty(len(texts), np.int64)
    table.encode(*spans(texts), codes)
    return codes.tolist()


def texts_of(table):
    data, offsets = table.texts()
    return [data[start:stop].tobytes() for start, stop in itertools.pairwise(offsets.tolist())]


@given(st.lists(st.lists(st.binary(max_size=20) | EDGES, max_size=80), max_size=4))
@example([[b"", b"\0", b"\0\0"], [b"\0", b""]])
def test_equals_a_dictionary(batches):
    table, code_of = TextCodes(), {}
    for texts in batches:
        assert encode(table, texts) == [code_of.setdefault(text, len(code_of)) for text in texts]
        assert table.size == len(code_of)
    assert texts_of(table) == list(code_of)


def test_growth():
    """Many short texts, long texts, and both together. Every text keeps its code."""
    table = TextCodes()
    texts = [f"{i}".encode() * (1 + i % 40) for i in range(30_000)]
    distinct = list(dict.fromkeys(texts))
    code_of = {text: code for code, text in enumerate(distinct)}
    before = table.n_bytes
    assert encode(table, texts) == [code_of[text] for text in texts]
    assert encode(table, texts[::-1]) == [code_of[text] for text in texts[::-1]]
    assert texts_of(table) == distinct
    assert table.n_bytes > before + sum(map(len, distinct))
    assert encode(table, [b"x" * 1_000_000]) == [len(distinct)]


def test_texts_that_differ_in_one_byte():
    base = bytearray(b"0123456789abcdefghijklmnopqrstuvwxyz" * 4)
    texts = [bytes(base)]
    for place in range(len(base)):
        base[place] ^= 1
        texts.append(bytes(base))
        base[place] ^= 1
    assert encode(TextCodes(), texts) == list(range(len(texts)))


def test_columns_of_different_lengths():
    table = TextCodes()
    with pytest.raises(ValueError, match="equal lengths"):
        table.encode(*spans([b"a", b"b"]), np.empty(1, np.int64))
    assert encode(table, []) == []
    assert texts_of(table) == []
