"""Lists of Python's numbers: the array that numpy.asarray makes of them, or None."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.columns import validation
from fastmetrics._kernels.columns.column_checks import read_numbers

NUMBERS = st.one_of(
    st.lists(st.floats()), st.lists(st.integers(-(2**63), 2**63 - 1)), st.lists(st.booleans()),
    st.lists(st.one_of(st.floats(), st.integers(-(2**63), 2**63 - 1))),
)  # fmt: skip


@given(values=NUMBERS)
def test_is_the_array_of_numpy(values):
    found = read_numbers(values)
    if not values:
        assert found is None
        return
    expected = np.asarray(values)
    assert found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes() or (np.isnan(expected) == np.isnan(found)).all()


class OwnFloat(float):
    """A subclass may convert itself."""


@pytest.mark.parametrize(
    "values",
    [
        ["1"], [1.0, "1"], [1, "1"], [1, None], [None], [1.0, None], [True, 1], [1, True], [1.0, True], [2**63],
        [1.0, 2**63], [1, -(2**63) - 1], [np.float64(1.0)], [1.0, np.float64(1.0)], [OwnFloat(1.0)], [1 + 1j],
        [[1.0], [2.0]], [1, 2.0, 2**70],
    ],
)  # fmt: skip
def test_anything_else_is_left_to_numpy(values):
    assert read_numbers(values) is None


def test_objects_are_the_numbers():
    for column in ([0.5, 1.5, -2.0], [3, 1, 2], [True, False], [1, 2.5], [2**53 + 1, 0.5]):
        objects = np.array(column, object)
        typed = validation.numbers_of_objects(objects, "y_true")
        assert (typed == np.array(column)).all()
        assert typed.dtype == np.array(column).dtype
    matrix = validation.numbers_of_objects(np.array([[1.0, 2.0], [3.0, 4.0]], object), "y_true")
    assert matrix.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(ValueError, match="y_true has None at row 1"):
        fm.mean_squared_error(np.array([1.0, None], object), [1.0, 2.0])
