"""Masks: pixels, runs, text and polygons against their definitions and pycocotools; errors for invalid masks."""

import json
import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics.metrics.detection.masks.segmentations import read_masks
from fastmetrics.metrics.detection.run_length_masks import Masks
from oracles.detection import masks as oracle
from support.cases import assert_raises, each_case

SIZE = [2, 3]
SIDES = st.sampled_from([1, 2, 3, 4, 7, 8, 9, 15, 16, 17])
INFINITE = float("inf")


def pixels_of(shape, seed, density=0.5, n=1):
    return (np.random.default_rng(seed).random((n, *shape)) < density).astype(np.uint8)


def positions(mask):
    """The set of positions inside the mask, in column order."""
    return set(np.flatnonzero(mask.T.ravel()).tolist())


def draw_counts(polygons, height, width):
    (encoded,) = fm.encode_masks([polygons], size=(height, width), compressed=False)
    assert encoded["size"] == [height, width]
    return encoded["counts"]


coordinates = st.one_of(
    st.integers(-4, 12),
    st.integers(-20, 60).map(lambda number: number / 5),
    st.integers(-40, 120).map(lambda number: number / 10),
    st.floats(-3, 12, width=32),
    st.floats(-60, 60),
)


@st.composite
def polygons(draw):
    polygon_lists = []
    for _ in range(draw(st.integers(1, 3))):
        n = draw(st.integers(3, 9))
        points = [(draw(coordinates), draw(coordinates)) for _ in range(n)]
        if draw(st.booleans()):
            points += points[:1]
        polygon_lists.append([float(number) for point in points for number in point])
    return polygon_lists


class TestPolygons:
    @given(polygons(), SIDES, SIDES)
    @example([[0.0] * 6], 1, 1)
    @example([[0.0, 0.0, 9.0, 0.0, 9.0, 9.0, 0.0, 9.0]], 9, 9)
    @example([[0.0, 0.0, 9.0, 0.0, 9.0, 9.0, 0.0, 9.0]] * 2, 9, 9)
    @example([[-50.0, -50.0, 50.0, -50.0, 50.0, 50.0, -50.0, 50.0]], 3, 4)
    def test_matches_definition(self, polygon_lists, height, width):
        union = oracle.union_of_polygons(polygon_lists, height, width)
        assert draw_counts(polygon_lists, height, width) == oracle.runs(union, height, width)

    @given(polygons(), SIDES, SIDES)
    def test_matches_pycocotools(self, polygon_lists, height, width):
        peer = pytest.importorskip("pycocotools.mask")
        # One polygon at a time: pycocotools reads a list whose first element has four numbers as boxes.
        merged = peer.merge([peer.frPyObjects([part], height, width)[0] for part in polygon_lists])
        (encoded,) = fm.encode_masks([polygon_lists], size=(height, width))
        assert encoded["counts"].encode() == merged["counts"]

    @each_case("seed", range(4))
    def test_many_points(self, seed):
        """Large polygons, partly outside the image on all sides. Some columns have more boundaries than insertion sort
        handles."""
        peer = pytest.importorskip("pycocotools.mask")
        rng = np.random.default_rng(seed)
        height, width = (97, 211) if seed % 2 else (211, 97)
        rows = [
            [(rng.normal(0.5, 0.6, (int(n), 2)) * [width, height]).ravel().tolist()]
            for n in rng.integers(3, 400, 60)
        ]
        rows += [[np.column_stack([rng.random(900) * 3, rng.random(900) * height]).ravel().tolist()]]
        theirs = [peer.frPyObjects(row, height, width)[0]["counts"].decode() for row in rows]
        for n_threads in (1, 2, 5):
            encoded = fm.encode_masks(rows * 3, size=(height, width), n_threads=n_threads)
            assert [each["counts"] for each in encoded] == theirs * 3

    def test_largest_coordinates(self):
        """The largest coordinates: the time does not depend on the length of an edge."""
        assert draw_counts([[-1e8, -1e8, 1e8, -1e8, 1e8, 1e8, -1e8, 1e8]], 4, 5) == [0, 20]
        assert draw_counts([[1e8, 1e8, 9e7, 1e8, 9e7, 9e7]], 4, 5) == [20]
        assert sum(draw_counts([[-1e8, -1e8, 1e8, 1e8, -1e8, 1e8]], 40, 40)[1::2]) == 40 * 41 // 2

    def test_a_long_thin_image(self):
        assert draw_counts([[0, 0, 70_000, 0, 70_000, 1, 0, 1]], 1, 65_535) == [0, 65_535]
        assert draw_counts([[0, 0, 1, 0, 1, 65_535, 0, 65_535]], 65_535, 65_537) == [0, 65_535, 65_535 * 65_536]


class TestRuns:
    @given(SIDES, SIDES, st.integers(0, 999), st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]))
    def test_round_trip(self, height, width, seed, density):
        peer = pytest.importorskip("pycocotools.mask")
        pixels = pixels_of((height, width), seed, density, 3)
        encoded = fm.encode_masks(pixels)
        plain = fm.encode_masks(pixels, compressed=False)
        for mask, text, counts in zip(pixels, encoded, plain, strict=True):
            assert counts["counts"] == oracle.runs(positions(mask), height, width)
            assert text["counts"] == oracle.text(counts["counts"])
            theirs = peer.encode(np.asfortranarray(mask))
            assert (text["size"], text["counts"].encode()) == (theirs["size"], theirs["counts"])
        for form in (encoded, plain, pixels, pixels.astype(bool), list(pixels)):
            assert np.array_equal(fm.decode_masks(form), pixels)
            assert fm.mask_areas(form).tolist() == pixels.sum(axis=(1, 2)).tolist()
            assert fm.encode_masks(form) == encoded

    @given(SIDES, SIDES, st.integers(0, 999), st.sampled_from([0.0, 0.05, 0.5, 1.0]))
    def test_boxes(self, height, width, seed, density):
        peer = pytest.importorskip("pycocotools.mask")
        rows = fm.encode_masks(pixels_of((height, width), seed, density, 4))
        areas, boxes = read_masks(rows, None, str).measure()
        assert boxes.tolist() == [
            oracle.box(oracle.pixels_of(row["counts"]), height) for row in fm.encode_masks(rows, compressed=False)
        ]
        assert np.array_equal(boxes, peer.toBbox(rows))
        assert np.array_equal(areas, peer.area(rows))

    @given(st.lists(st.integers(0, 2**31), min_size=1, max_size=9), st.integers(0, 2**15))
    def test_text_of_large_counts(self, counts, rest):
        height = sum(counts) + rest
        if not 0 < height < 2**32:
            return
        row = {"size": [height, 1], "counts": [*counts, rest]}
        (encoded,) = fm.encode_masks([row])
        assert encoded["counts"] == oracle.text(row["counts"])
        for form in (encoded, {**encoded, "counts": encoded["counts"].encode()}, row):
            assert fm.encode_masks([form], compressed=False) == [row]
            assert fm.mask_areas([form]).tolist() == [sum(row["counts"][1::2])]

    def test_largest_mask(self):
        size = [65_537, 65_535]
        assert size[0] * size[1] == 2**32 - 1
        assert fm.mask_areas([{"size": size, "counts": [0, 2**32 - 1]}]).tolist() == [2**32 - 1]
        assert fm.mask_iou([{"size": size, "counts": [0, 2**32 - 1]}], [{"size": size, "counts": [1, 2**32 - 2]}])[
            0, 0
        ] == (2**32 - 2) / (2**32 - 1)

    def test_empty_runs(self):
        """Counts of zero between others: pycocotools' IoU stops where both masks have one."""
        row = {"size": SIZE, "counts": [0, 1, 0, 1, 0, 0, 4]}
        assert fm.decode_masks([row])[0].tolist() == [[1, 0, 0], [1, 0, 0]]
        assert fm.mask_areas([row]).tolist() == [2]
        assert fm.mask_iou([row], [row, {"size": SIZE, "counts": [0, 2, 4]}]).tolist() == [[1, 1]]
        _, boxes = read_masks([row, {"size": SIZE, "counts": [6, 0]}], None, str).measure()
        assert boxes.tolist() == [[0, 0, 1, 2], [0, 0, 0, 0]]

    def test_no_masks(self):
        assert fm.encode_masks([]) == []
        assert fm.decode_masks([]).shape == (0, 0, 0)
        assert fm.decode_masks([], size=(2, 3)).shape == (0, 2, 3)
        assert fm.mask_areas([]).tolist() == []
        assert fm.mask_iou([], np.ones((2, 1, 1), bool)).shape == (0, 2)
        assert fm.mask_iou(np.ones((2, 1, 1), bool), []).shape == (2, 0)

    def test_forms(self):
        """Arrays and tuples for lists, NumPy integers for integers, JSON, memory layouts of pixels, a view."""
        wanted = fm.encode_masks([[[0, 0, 2, 0, 2, 2, 0, 2]]], size=(4, 4))
        square = [0, 0, 2, 0, 2, 2, 0, 2]
        points = np.array(square, np.float32).reshape(4, 2)
        for row in ([np.array(square)], [points], (square,), [tuple(square)], np.array([square])):
            assert fm.encode_masks([row], size=(4, 4)) == wanted
        (counts,) = fm.encode_masks(wanted, compressed=False)
        for row in ({**counts, "counts": np.array(counts["counts"], np.uint32)}, {**counts, "size": (4, 4)},
                    {**counts, "counts": tuple(counts["counts"])}, {**counts, "size": np.array([4, 4])},
                    {**counts, "counts": list(np.array(counts["counts"]))}):  # fmt: skip
            assert fm.encode_masks([row]) == wanted
        assert fm.encode_masks(json.loads(json.dumps(wanted))) == wanted
        pixels = fm.decode_masks(wanted)
        for array in (pixels, np.ascontiguousarray(pixels), np.repeat(pixels, 2, axis=2)[:, :, ::2], pixels[:, ::1]):
            assert fm.encode_masks(array) == wanted
        pixels.flags.writeable = False
        assert fm.encode_masks(pixels) == wanted


class TestIou:
    @given(SIDES, SIDES, st.integers(0, 4), st.integers(0, 4), st.integers(0, 999))
    def test_matches_definition_and_pycocotools(self, height, width, n, m, seed):
        peer = pytest.importorskip("pycocotools.mask")
        density = (0.02, 0.3, 0.9)[seed % 3]
        first, second = pixels_of((height, width), seed, density, n), pixels_of((height, width), seed + 1, density, m)
        crowd = np.random.default_rng(seed).integers(0, 2, m).astype(np.uint8)
        value = fm.mask_iou(first, second, crowd=crowd)
        assert (value.shape, value.dtype) == ((n, m), np.float64)
        truth = [(positions(mask), each) for mask, each in zip(second, crowd, strict=True)]
        assert value.tolist() == [[oracle.iou(positions(mask), *each) for each in truth] for mask in first]
        if n and m:
            assert np.array_equal(value, peer.iou(fm.encode_masks(first), fm.encode_masks(second), crowd))
            assert np.array_equal(fm.mask_iou(first, second), fm.mask_iou(second, first).T)

    def test_result_does_not_depend_on_threads_or_order(self):
        rng = np.random.default_rng(5)
        rows = [
            [(rng.random((9, 2)) * 30 + rng.integers(0, 90, 2)).ravel().tolist()]
            for _ in range(230)
        ]
        first, second = rows[:150], rows[90:]
        crowd = np.arange(len(second)) % 3 == 0
        value = fm.mask_iou(first, second, crowd=crowd, size=(120, 120))
        assert (value > 0).mean() > 0.1
        for n_threads in (1, 2, 7):
            assert np.array_equal(fm.mask_iou(first, second, crowd=crowd, size=(120, 120), n_threads=n_threads), value)
        reversed_result = fm.mask_iou(first[::-1], second[::-1], crowd=crowd[::-1], size=(120, 120))
        assert np.array_equal(reversed_result[::-1, ::-1], value)

    def test_long_runs_against_short_ones(self):
        first = np.zeros((2, 64, 64), bool)
        first[0, ::2] = True
        first[1, 40:44, 40:44] = True
        second = np.zeros((3, 64, 64), bool)
        second[0, 41, 60] = second[0, 40, 2] = second[1, :, 43] = second[2, 50:, 50:] = True
        expected = [[oracle.iou(positions(a), positions(b)) for b in second] for a in first]
        assert fm.mask_iou(first, second).tolist() == expected

    def test_masks_of_different_sizes(self):
        assert_raises(
            ValueError, r"masks_a has .*\[2, 3\] at row 0, but masks_b one of.*\[3, 2\] at row 1",
            fm.mask_iou, np.ones((1, 2, 3), bool), [np.ones((2, 3), bool), np.ones((3, 2), bool)],
        )
        assert_raises(
            ValueError, r"masks must be of one size; found \[2, 3\] at row 0 and \[3, 2\] at row",
            fm.decode_masks, [np.ones((2, 3), bool), np.ones((3, 2), bool)],
        )

    @pytest.mark.parametrize(
        ("crowd", "message"),
        [([1], "one value for each mask of masks_b, 2"), ([0, 2], "found 2 at row 1"), ([0.0, 1.0], "dtype float64")],
    )
    def test_bad_crowds(self, crowd, message):
        assert_raises(
            ValueError, re.escape(message), fm.mask_iou, np.ones((1, 2, 3), bool), np.ones((2, 2, 3), bool), crowd=crowd
        )


INVALID = [
    ({"size": SIZE, "counts": [1, 4]}, "the RLE's counts add up to 5 pixels, but size [2, 3] has 6"),
    ({"size": SIZE, "counts": [1, 6]}, "add up to 7 pixels"),
    ({"size": SIZE, "counts": []}, "add up to 0 pixels"),
    ({"size": SIZE, "counts": ""}, "add up to 0 pixels"),
    ({"size": SIZE, "counts": "14"}, "add up to 5 pixels"),
    ({"size": SIZE, "counts": b"16"}, "add up to 7 pixels"),
    ({"size": SIZE, "counts": [7, -1]}, "between 0 and 4294967295; found -1"),
    ({"size": SIZE, "counts": [2**80, 6]}, f"found {2**80}"),
    ({"size": SIZE, "counts": [2**63 - 1, 6]}, f"found {2**63 - 1}"),
    ({"size": SIZE, "counts": [1.0, 5]}, "counts must be integers; found 1.0"),
    ({"size": SIZE, "counts": [1, None]}, "counts must be integers; found None"),
    ({"size": SIZE, "counts": "6O"}, "between 0 and 4294967295; found -1"),
    ({"size": SIZE, "counts": "oooooo7"}, "between 0 and 4294967295; found 8589934591"),
    ({"size": SIZE, "counts": "1/"}, "character b'/' at position 1"),
    ({"size": SIZE, "counts": "1 5"}, "character b' ' at position 1"),
    ({"size": SIZE, "counts": "1p"}, "character b'p' at position 1"),
    ({"size": SIZE, "counts": b"1\x00"}, r"character b'\x00' at position 1"),
    ({"size": SIZE, "counts": "1\xe4"}, r"character b'\xc3' at position 1"),
    ({"size": SIZE, "counts": "1\ud800"}, r"character b'\xed' at position 1"),
    ({"size": SIZE, "counts": "1o"}, "end within a number, after 2 characters"),
    ({"size": SIZE, "counts": "1" + "o" * 40}, "number of too many characters, up to position 9"),
    ({"size": SIZE, "counts": 6}, "must be a list of integers, str or bytes; found 6"),
    ({"size": SIZE}, "the RLE has no 'counts'"),
    ({"counts": [6]}, "the RLE has no 'size'"),
    ({"size": [6], "counts": [6]}, "two positive integers (height, width); found [6]"),
    ({"size": [2.0, 3.0], "counts": [6]}, "two positive integers (height, width); found [2.0, 3.0]"),
    ({"size": [0, 6], "counts": []}, "two positive integers (height, width); found [0, 6]"),
    ({"size": [-2, -3], "counts": [6]}, "found [-2, -3]"),
    ({"size": [True, 6], "counts": [6]}, "found [True, 6]"),
    ({"size": None, "counts": [6]}, "found None"),
    ({"size": [2**16, 2**16], "counts": [2**32]}, "more than 4294967295 pixels"),
    ({"size": [2**70, 1], "counts": [6]}, "more than 4294967295 pixels"),
    ({"size": [3, 2], "counts": [6]}, "its size is [3, 2], the image's [2, 3] (height, width)"),
    (None, "polygons (a list of lists), an RLE (a dict with size and counts) or a mask of pixels is needed; found N"),
    ("6", "found '6'"),
    (7, "found 7"),
    ([], "it is empty"),
    ([[]], "at least 3 points, 6 numbers; found 0 numbers"),
    ([[1, 1, 2, 2]], "at least 3 points, 6 numbers; found 4 numbers"),
    ([[1, 1, 2, 2, 3, 3, 4]], "pairs of x and y; found 7 numbers"),
    ([1, 1, 2, 2, 3, 3], "must be a list of lists of numbers; found 1 in the outer list"),
    ([[1, 1, 2, 2, 3, 3], None], "must be a list of lists of numbers; found None"),
    ([[1, 1, 2, 2, 3, float("nan")]], "between -1e8 and 1e8; found nan"),
    ([[1, 1, 2, 2, 3, INFINITE]], "between -1e8 and 1e8; found inf"),
    ([[1, 1, 2, 2, 3, -1e9]], "found -1000000000.0"),
    ([[1, 1, 2, 2, 3, 10**400]], "between -1e8 and 1e8; found 1000"),
    ([[1, 1, 2, 2, 3, "3"]], "coordinates must be numbers; found '3'"),
    ([[1, 1, 2, 2, 3, None]], "coordinates must be numbers; found None"),
    ([[1, 1, 2, 2, 3, [3]]], "coordinates must be numbers; found [3]"),
    (np.full((2, 3), 255, np.uint8), "pixels must be 0 or 1; found 255"),
    (np.ones((2, 3), np.int64), "6 numbers; found 3 numbers"),
    (np.ones((2, 3), np.uint16), "dtype bool or uint8; found uint16"),
    (np.ones((0, 3), bool), "found shape (0, 3)"),
    (np.ones((3, 2), bool), "its size is [3, 2]"),
]


class TestBadInput:
    @each_case("number", range(len(INVALID)))
    def test_invalid_masks(self, number):
        row, message = INVALID[number]
        rle = {"size": SIZE, "counts": "15"}
        n_valid = [rle, [[0, 0, 1, 0, 1, 1]], np.ones(SIZE, bool), {"size": SIZE, "counts": [6]}]
        with pytest.raises(ValueError, match=re.escape(message)) as caught:
            fm.mask_areas([*n_valid, row, *n_valid], size=(2, 3))
        assert str(caught.value).startswith("masks has a bad segmentation at row 4: ")

    @pytest.mark.parametrize("n_threads", [1, 2, 7])
    def test_error_names_the_first_invalid_mask(self, n_threads):
        """The first invalid row, whatever the later rows are and whichever thread reads it."""
        rows = [{"size": SIZE, "counts": "15"}] * 400
        others = [row for row, _ in INVALID]
        for number, (row, message) in enumerate(INVALID):
            mixed = [*rows, row, *rows, *others[number:], *others[:number]]
            with pytest.raises(ValueError, match=re.escape(message)) as caught:
                fm.mask_areas(mixed, size=(2, 3), n_threads=n_threads)
            assert "at row 400: " in str(caught.value)

    def test_error_uses_the_name_of_the_row(self):
        assert_raises(
            ValueError, "ground_truth, row 70: it is empty",
            read_masks, [[]], np.array([[2, 3]]), lambda row: f"ground_truth, row {row + 70}",
        )

    def test_polygons_of_an_image_of_unknown_size(self):
        assert_raises(
            ValueError, "at row 1: polygons need the size of their image",
            fm.encode_masks, [{"size": SIZE, "counts": [6]}, [[0, 0, 1, 1, 2, 2]]],
        )

    def test_polygons_in_an_image_that_is_too_large(self):
        assert_raises(
            ValueError, "more than 4294967295 pixels", fm.encode_masks, [[[0, 0, 1, 1, 2, 2]]], size=(2**16, 2**16)
        )

    @each_case("size", [(2,), (2, 0), (2.0, 3.0), "23", 6, (True, 6)])
    def test_bad_sizes(self, size):
        assert_raises(ValueError, "size must be two positive integers", fm.encode_masks, [], size=size)

    @each_case("masks", [None, "text", {"size": SIZE, "counts": [6]}, 7])
    def test_argument_that_is_not_a_list(self, masks):
        assert_raises(TypeError, "masks must be a list of segmentations", fm.mask_areas, masks)
        assert_raises(
            ValueError, r"shape \(n, height, width\) as an array; found \(2, 3\)", fm.mask_areas, np.ones((2, 3), bool)
        )

    def test_inputs_are_not_changed(self):
        rows = [np.ones(SIZE, bool), ([0, 0, 1, 0, 1, 1],), {"size": (2, 3), "counts": (6,)}]
        before = list(rows)
        fm.encode_masks(rows, size=(2, 3))
        assert all(one is other for one, other in zip(rows, before, strict=True))


def test_random_bytes_are_read_or_rejected():
    """Texts of random characters: either an error, or counts that add up to the mask's size."""
    rng = np.random.default_rng(3)
    n_valid = 0
    for _ in range(3000):
        text = bytes(rng.integers(48, 112, rng.integers(0, 6), dtype=np.uint8))
        try:
            encoded = fm.encode_masks([{"size": [5, 7], "counts": text}], compressed=False)
        except ValueError:
            continue
        n_valid += 1
        assert sum(encoded[0]["counts"]) == 35
    assert n_valid > 0


def test_masks_as_columns():
    masks = read_masks([{"size": SIZE, "counts": [1, 5]}, {"size": SIZE, "counts": "15"}], None, str)
    assert isinstance(masks, Masks)
    assert (masks.counts.dtype, masks.starts.tolist()) == (np.uint32, [0, 2, 4])
    assert (masks.sizes.tolist(), masks.counts.tolist()) == ([SIZE, SIZE], [1, 5, 1, 5])
