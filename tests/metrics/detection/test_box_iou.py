"""IoU of all pairs of boxes: the formula, pycocotools' crowds, sizes around vector widths, invalid boxes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics.metrics.detection.box_iou import SERIAL_CELLS
from oracles.detection import voc as oracle
from support.cases import each_case


def corners(seed, n, levels=12, kind=np.float64):
    """Boxes with few different coordinates, so that edges touch, boxes are equal and some have no area."""
    low = np.random.default_rng(seed).integers(0, levels, (n, 2))
    return np.hstack([low, low + np.random.default_rng(seed + 1).integers(0, levels, (n, 2))]).astype(kind)


def with_sizes(boxes):
    return np.hstack([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]])


def expected(first, second, border=0):
    rows = [[oracle.iou(a, b, border) for b in second.tolist()] for a in first.tolist()]
    return np.array(rows, np.float64).reshape(len(first), len(second))


SIZES = (0, 1, 2, 3, 7, 8, 9, 63, 64, 65)


@given(st.sampled_from(SIZES), st.sampled_from(SIZES), st.integers(0, 999), st.booleans())
def test_matches_definition(n, m, seed, fractional):
    first, second = corners(seed, n), corners(seed + 7, m)
    if fractional:
        first, second = first * 0.37, second * 0.41
    for border in (0, 1):
        value = fm.box_iou(first, second, pixel_boxes=bool(border))
        assert (value.shape, value.dtype) == ((n, m), np.float64)
        assert np.array_equal(value, expected(first, second, border))


@given(st.sampled_from(SIZES), st.sampled_from(SIZES), st.integers(0, 999))
def test_matches_pycocotools(n, m, seed):
    mask = pytest.importorskip("pycocotools.mask")
    rng = np.random.default_rng(seed)
    first, second = (np.hstack([rng.random((k, 2)) * 20, rng.random((k, 2)) * 20 + 0.01]) for k in (n, m))
    crowd = rng.integers(0, 2, m).astype(np.uint8)
    value = fm.box_iou(first, second, box="xywh", crowd=crowd)
    assert value.shape == (n, m)
    if n and m:
        assert np.array_equal(value, mask.iou(first, second, crowd))
        assert np.array_equal(fm.box_iou(first, second, box="xywh"), mask.iou(first, second, [0] * m))


@each_case("kind", [np.float32, np.float64, np.int32, np.int64, np.uint8, np.float16, ">f8"])
def test_types_and_layouts(kind):
    first, second = corners(1, 40, kind=kind), corners(2, 30, kind=kind)
    wanted = fm.box_iou(first.astype(np.float64), second.astype(np.float64))
    for form in (first, np.asfortranarray(first), np.vstack([first, first])[::2][:0].tolist() or first.tolist()):
        assert np.array_equal(fm.box_iou(form, second), wanted)
    sized = [with_sizes(each.astype(np.int64)) for each in (first, second)]
    assert np.array_equal(fm.box_iou(*sized, box="xywh"), wanted)
    first.flags.writeable = False
    assert np.array_equal(fm.box_iou(first, second), wanted)


def test_result_does_not_depend_on_threads_or_order():
    first, second = corners(3, 1300) * 0.3, corners(4, 900) * 0.3
    assert first.shape[0] * second.shape[0] > SERIAL_CELLS
    value = fm.box_iou(first, second)
    for n_threads in (1, 2, 3, 7):
        assert np.array_equal(fm.box_iou(first, second, n_threads=n_threads), value)
    assert np.array_equal(fm.box_iou(first[::-1], second[::-1]), value[::-1, ::-1])
    assert np.array_equal(fm.box_iou(second, first), value.T)
    crowd = np.arange(900) % 3 == 0
    some = fm.box_iou(first, second, crowd=crowd)
    assert np.array_equal(some[:, ~crowd], value[:, ~crowd])
    assert np.array_equal(some[:7], fm.box_iou(first[:7], second, crowd=crowd))


def test_iou_of_boxes_without_area_is_zero():
    """0 / 0 in the formula."""
    assert fm.box_iou([[1, 1, 1, 1]], [[1, 1, 1, 1], [0, 0, 4, 4]]).tolist() == [[0.0, 0.0]]
    assert fm.box_iou([[1, 1, 0, 4]], [[1, 1, 3, 3]], box="xywh", crowd=[1]).tolist() == [[0.0]]
    # With the corners' pixels inside, it is one pixel.
    assert fm.box_iou([[1, 1, 1, 1]], [[1, 1, 1, 1], [1, 1, 2, 2]], pixel_boxes=True).tolist() == [[1.0, 0.25]]
    assert fm.box_iou([[0, 0, 1e-200, 1e-200]], [[0, 0, 1e-200, 1e-200]]).tolist() == [[0.0]]


def test_large_coordinates():
    assert fm.box_iou([[0, 0, 2.0**498, 2.0**498]], [[0, 0, 2.0**498, 2.0**497]]).tolist() == [[0.5]]


GOOD = [[0, 0, 1, 1], [1, 1, 2, 2]]


@each_case(
    ("first", "second", "options", "message"),
    [
        ([[0, 0, 1, 1], [3, 0, 2, 1]], GOOD, {}, "boxes_a has x2 below x1 at row 1: [3.0, 0.0, 2.0, 1.0]: a negative "),
        (GOOD, [[0, 5, 1, 1]], {}, "boxes_b has y2 below y1 at row 0"),
        (GOOD, [[0, 5, 1, -1]], {"box": "xywh"}, "boxes_b has a negative height at row 0: [0.0, 5.0, 1.0, -1.0]"),
        (GOOD, [[0, 0, 1, 1], [0, 0, np.nan, 1]], {}, "boxes_b has NaN at row 1"),
        ([[0, 0, np.inf, 1]], GOOD, {}, "boxes_a has infinity at row 0"),
        ([[0, 0, 2e150, 1]], GOOD, {}, "boxes_a has a number beyond 1e+150 at row 0"),
        ([[0, 0, 1]], GOOD, {}, "boxes_a must have four columns, one row a box; found shape (1, 3)"),
        ([0, 0, 1, 1], GOOD, {}, "boxes_a must have four columns, one row a box; found shape (4,)"),
        ([["a"] * 4], GOOD, {}, "boxes_a has 'a' at row 0"),
        (GOOD, [[0, 0, 1, 1], [0, 0, 2**60, 1]], {}, "boxes_b has 1152921504606846976 at row 1: integers beyond 2**53"),
        (None, GOOD, {}, "boxes_a must be an array of rows; found NoneType"),
        (GOOD, GOOD, {"box": "cxcywh"}, "box must be one of 'xyxy', 'xywh'; found 'cxcywh'"),
        (GOOD, GOOD, {"crowd": [1]}, "boxes_b has 2 rows but crowd has 1"),
        (GOOD, GOOD, {"crowd": [1, 2]}, "crowd has 2 at row 1: flags must be 0 or 1"),
        (GOOD, GOOD, {"crowd": [[1, 0]]}, "crowd must have one dimension"),
        (GOOD, GOOD, {"crowd": ["a", "b"]}, "crowd has 'a' at row 0"),
        (GOOD, GOOD, {"box": "xywh", "pixel_boxes": True}, 'pixel_boxes applies to corners only: it needs box='),
        (GOOD, GOOD, {"pixel_boxes": 1}, "pixel_boxes must be True or False; found 1"),
        (GOOD, GOOD, {"n_threads": 0}, "n_threads must be an integer of at least 1, or -1 or None for all CPUs"),
    ],
)
def test_errors_name_the_argument_and_the_row(first, second, options, message):
    with pytest.raises((ValueError, TypeError)) as error:
        fm.box_iou(first, second, **options)
    assert message in str(error.value)
