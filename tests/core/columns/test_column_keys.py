"""The keys of stored columns say which columns they are, also after a journey to another process."""

import pickle

import numpy as np

from fastmetrics._core.columns.row_blocks import (
    LABEL,
    ROLE,
    SCORE,
    SLICE_CODE,
    WEIGHT,
    label_name,
    loaded_column,
    names_of,
    other_columns,
    role_name,
    score_name,
    slice_code_name,
    stored_columns,
    vector_length,
)


def test_columns_are_found_by_kind():
    matrix, numbers = np.arange(6.0).reshape(2, 3), np.arange(2)
    columns = {
        label_name(0): numbers, **stored_columns(score_name(0), numbers), **stored_columns(score_name(1), matrix),
        role_name("score 7"): numbers, slice_code_name(0): numbers, WEIGHT: numbers,
        **stored_columns(role_name("item.1"), matrix),
    }  # fmt: skip
    for found in (columns, pickle.loads(pickle.dumps(columns))):
        assert names_of(found, LABEL) == ["label 0"]
        assert names_of(found, SCORE) == ["score 0", "score 1.0", "score 1.1", "score 1.2"]
        assert names_of(found, LABEL, SLICE_CODE) == [label_name(0), slice_code_name(0)]
        assert len(names_of(found, ROLE)) == 4
        assert [vector_length(found, score_name(number)) for number in range(3)] == [0, 3, 0]
        np.testing.assert_array_equal(loaded_column(found, score_name(1)), matrix)
        others = other_columns(found)
        assert list(others) == ["score 7", "item.1"]
        np.testing.assert_array_equal(others["item.1"], matrix)


def test_a_plain_text_is_no_key():
    assert not names_of(["label 0", "score 0", WEIGHT], LABEL, SCORE)
