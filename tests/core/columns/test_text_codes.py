"""Texts numbered by their bytes, in the order in which they are met: a hash is never an identity."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fastmetrics._kernels.textnumbers import TextNumbers

LENGTHS = [0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 300]
EDGES = st.builds(bytes.__mul__, st.sampled_from([b"\0", b"a", b"\xff"]), st.sampled_from(LENGTHS))


def spans(texts):
    """Texts one behind the other, exactly: no byte follows the last."""
    stops = np.cumsum([len(text) for text in texts], dtype=np.int64)
    return np.frombuffer(b"".join(texts), np.uint8), stops - np.array([len(text) for text in texts], np.int64), stops


def number(table, texts):
    numbers = np.empty(len(texts), np.int64)
    table.number(*spans(texts), numbers)
    return numbers.tolist()


def kept(table):
    data, offsets = table.texts()
    return [data[start:stop].tobytes() for start, stop in itertools.pairwise(offsets.tolist())]


@given(st.lists(st.lists(st.binary(max_size=20) | EDGES, max_size=80), max_size=4))
@example([[b"", b"\0", b"\0\0"], [b"\0", b""]])
def test_as_a_dictionary(batches):
    table, known = TextNumbers(), {}
    for texts in batches:
        assert number(table, texts) == [known.setdefault(text, len(known)) for text in texts]
        assert table.size == len(known)
    assert kept(table) == list(known)


def test_it_grows_in_every_way():
    """Many short texts, long ones, and both at once; every text keeps its number."""
    table = TextNumbers()
    texts = [f"{i}".encode() * (1 + i % 40) for i in range(30_000)]
    distinct = list(dict.fromkeys(texts))
    places = {text: place for place, text in enumerate(distinct)}
    before = table.n_bytes
    assert number(table, texts) == [places[text] for text in texts]
    assert number(table, texts[::-1]) == [places[text] for text in texts[::-1]]
    assert kept(table) == distinct
    assert table.n_bytes > before + sum(map(len, distinct))
    assert number(table, [b"x" * 1_000_000]) == [len(distinct)]


def test_texts_that_differ_in_one_byte():
    base = bytearray(b"0123456789abcdefghijklmnopqrstuvwxyz" * 4)
    texts = [bytes(base)]
    for place in range(len(base)):
        base[place] ^= 1
        texts.append(bytes(base))
        base[place] ^= 1
    assert number(TextNumbers(), texts) == list(range(len(texts)))


def test_columns_of_other_lengths():
    table = TextNumbers()
    with pytest.raises(ValueError, match="one length"):
        table.number(*spans([b"a", b"b"]), np.empty(1, np.int64))
    assert number(table, []) == []
    assert kept(table) == []
