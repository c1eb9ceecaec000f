"""Texts as code points in lower case."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fastmetrics._core.columns import text_columns
from support.text_logs import pairs

LETTERS = st.sampled_from("ΑΣσςİIıßÄ'. aB\u0307Ǆ") | st.characters(codec="utf-8")


@given(st.lists(st.text(LETTERS, max_size=6), max_size=5))
def test_every_text_is_lower_cased_by_itself(texts):
    offsets = np.cumsum([0, *map(len, texts)])
    points, bounds = text_columns.lower_texts(np.array([*map(ord, "".join(texts))], np.uint32), offsets)
    assert points.dtype == np.uint32
    assert ["".join(map(chr, points[start:stop])) for start, stop in pairs(bounds)] == [text.lower() for text in texts]
