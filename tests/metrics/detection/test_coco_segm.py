"""coco_map and COCOeval of masks: pycocotools' arrays for every form of segmentation; errors name the row."""

import contextlib
import copy
import io
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from support.cases import assert_raises, each_case
from support.files import coco_data

IMAGE_IDS = (3, 4, 9)
CATEGORY_IDS = (2, 5)
SIZES = ((9, 12), (24, 7), (1, 30))
RANGES = {"all": (0, 1e10), "one_object": (0, 12), "medium": (12, 40), "large": (40, 1e10)}
INTEGERS = st.integers(0, 10**6)
SCORES = st.sampled_from([0.1, 0.5, 0.5000000000000001, 0.9])


def rectangle(random, height, width):
    """A rectangle with corners on the pixel grid or next to it, partly outside the image."""
    x, y = random.integers(-2, width), random.integers(-2, height)
    across, down = random.integers(1, 9, 2)
    shift = random.choice([0, 0, 0.3])
    corners = np.array([[x, y], [x + across, y], [x + across, y + down], [x, y + down]]) + shift
    return corners.ravel().tolist()


def blob(random, height, width):
    return (random.random((int(random.integers(3, 8)), 2)) * [width, height] * 1.2).round(1).ravel().tolist()


def segmentation(seed, height, width, forms):
    """Polygons, or their RLE as a list, str or bytes; some have no pixels."""
    random = np.random.default_rng(seed)
    draw = rectangle if random.random() < 0.7 else blob
    polygons = [draw(random, height, width) for _ in range(random.choice([1, 1, 2, 3]))]
    chosen_form = forms[seed % len(forms)]
    if chosen_form == "polygons":
        return polygons
    (encoded,) = fm.encode_masks([polygons], size=(height, width), compressed=chosen_form != "list")
    if chosen_form == "bytes":
        return encoded | {"counts": encoded["counts"].encode()}
    return encoded


@st.composite
def mask_datasets(draw, found_forms=("str", "bytes"), boxes=(False, True)):
    """Few images, sizes and categories, so that masks intersect. Results may also have boxes."""
    sizes = dict(zip(IMAGE_IDS, SIZES, strict=True))
    truth = coco_data.make_truth(IMAGE_IDS, CATEGORY_IDS)
    for image in truth["images"]:
        image["height"], image["width"] = sizes[image["id"]]
    images, categories = st.sampled_from(IMAGE_IDS), st.sampled_from(CATEGORY_IDS)
    objects = draw(st.lists(st.tuples(images, categories, INTEGERS, st.sampled_from([0, 0, 0, 1])), max_size=10))
    for number, (image, category, seed, crowd) in enumerate(objects):
        forms = ("list", "str", "bytes") if crowd else ("polygons", "polygons", "list", "str")
        mask = segmentation(seed, *sizes[image], forms)
        (area,) = fm.mask_areas([mask], size=sizes[image]).tolist()
        truth["annotations"].append({
            "id": number + 1, "image_id": image, "category_id": category, "segmentation": mask,
            "area": area * (1.0 if seed % 3 else 0.7), "iscrowd": crowd, "bbox": [0, 0, 1, 1],
        })  # fmt: skip
    seeds = st.one_of(INTEGERS, st.sampled_from([seed for _, _, seed, _ in objects])) if objects else INTEGERS
    with_boxes = draw(st.sampled_from(boxes))
    results = st.lists(st.tuples(images, categories, seeds, SCORES), min_size=1, max_size=14)
    found = [
        {"image_id": image, "category_id": category, "score": score}
        | {"segmentation": segmentation(seed, *sizes[image], found_forms)}
        | ({"bbox": [1, 1, seed % 7 + 1, 3]} if with_boxes else {})
        for image, category, seed, score in draw(results)
    ]
    return truth, found


def as_minus_one(array):
    """-1 instead of NaN, as in pycocotools."""
    return np.where(np.isnan(array), -1, array)


def peer_arrays(truth, found, **params):
    pytest.importorskip("pycocotools")
    params = {"areaRng": list(RANGES.values()), "areaRngLbl": list(RANGES)} | params
    return coco_data.pycocotools_eval(truth, found, "segm", **params).eval


def assert_equals_peer(truth, found, expected, **options):
    options = {"iou_type": "segm", "area_ranges": RANGES} | options
    result = fm.coco_map(truth, found, **options)
    for name in ("precision", "recall", "scores"):
        assert np.array_equal(as_minus_one(getattr(result, name)), expected[name]), name
    return result


@pytest.mark.filterwarnings("ignore::fastmetrics.UndefinedMetricWarning")
class TestPycocotools:
    @given(mask_datasets())
    def test_all_arrays(self, data):
        assert_equals_peer(*data, peer_arrays(*data))

    @given(mask_datasets(), st.sampled_from([[1, 2, 3], [4]]))
    def test_without_categories_and_few_detections(self, data, most):
        assert_equals_peer(*data, peer_arrays(*data, useCats=0, maxDets=most), class_agnostic=True, max_detections=most)

    @given(mask_datasets(found_forms=("polygons", "list", "str"), boxes=(False,)))
    def test_every_form_of_results(self, data):
        """pycocotools reads compressed RLE only; it gets the other forms converted."""
        truth, found = data
        sizes = {image["id"]: (image["height"], image["width"]) for image in truth["images"]}
        encoded = [
            row | {"segmentation": fm.encode_masks([row["segmentation"]], size=sizes[row["image_id"]])[0]}
            for row in found
        ]
        assert_equals_peer(truth, found, peer_arrays(truth, encoded))

    @given(mask_datasets(boxes=(False,)))
    def test_results_of_masks_compared_as_boxes(self, data):
        """Results without boxes get the bounding boxes and areas of their masks."""
        truth, found = data
        sizes = {image["id"]: (image["height"], image["width"]) for image in truth["images"]}
        for each in truth["annotations"]:
            (pixels,) = fm.decode_masks([each["segmentation"]], size=sizes[each["image_id"]])
            rows, columns = np.nonzero(pixels)
            if len(rows):
                low, high = np.array([columns.min(), rows.min()]), np.array([columns.max(), rows.max()]) + 1
                each["bbox"] = [*low.tolist(), *(high - low).tolist()]
        params = {"areaRng": list(RANGES.values()), "areaRngLbl": list(RANGES)}
        assert_equals_peer(truth, found, coco_data.pycocotools_eval(truth, found, **params).eval, iou_type="bbox")

    @given(mask_datasets())
    def test_coco_eval(self, data):
        truth, found = data
        expected = coco_data.pycocotools_eval(truth, found, "segm")
        with contextlib.redirect_stdout(io.StringIO()):
            objects = fm.COCO()
            objects.dataset = copy.deepcopy(truth)
            objects.createIndex()
            evaluation = fm.COCOeval(objects, objects.loadRes(copy.deepcopy(found)), "segm")
            evaluation.evaluate()
            evaluation.accumulate()
            evaluation.summarize()
        for name in ("precision", "recall", "scores"):
            assert np.array_equal(evaluation.eval[name], expected.eval[name]), name
        assert np.array_equal(evaluation.stats, expected.stats)

    def test_generated(self):
        """More rows, images of one size, several threads, files."""
        truth, found = generate(11)
        expected = coco_data.pycocotools_eval(truth, found, "segm")
        for n_threads in (1, 2, 5):
            result = fm.coco_map(truth, found, iou_type="segm", n_threads=n_threads)
            assert np.array_equal(as_minus_one(result.precision), expected.eval["precision"])
            assert np.array_equal(as_minus_one(result.stats), expected.stats)
        assert result.map > 0.1

    def test_files(self, tmp_path):
        truth, found = generate(12, 60)
        paths = [tmp_path / "truth.json", tmp_path / "found.json"]
        for path, data in zip(paths, (truth, found), strict=True):
            path.write_text(json.dumps(data))
        expected = fm.coco_map(truth, found, iou_type="segm")
        assert np.array_equal(fm.coco_map(*paths, iou_type="segm").precision, expected.precision, equal_nan=True)


def generate(seed, n=400):
    """Objects as polygons, crowds as RLE, and results near them as compressed RLE."""
    random = np.random.default_rng(seed)
    height, width = 60, 80
    truth = coco_data.make_truth(range(1, 9), range(1, 5))
    for image in truth["images"]:
        image["height"], image["width"] = height, width
    found = []
    for number in range(n):
        middle, radius = random.random(2) * [width, height], random.uniform(3, 50, 2)
        angles = np.sort(random.random(12)) * 2 * np.pi
        points = middle + np.column_stack([np.cos(angles), np.sin(angles)]) * radius
        where = {"image_id": int(random.integers(1, 9)), "category_id": int(random.integers(1, 5))}
        if number % 8 == 0:
            crowd = number % 32 == 0
            mask = [points.ravel().tolist()]
            (area,) = fm.mask_areas([mask], size=(height, width)).tolist()
            if crowd:
                (mask,) = fm.encode_masks([mask], size=(height, width), compressed=False)
            annotation = {"id": number + 1, "segmentation": mask, "area": area, "iscrowd": int(crowd)}
            truth["annotations"].append(where | annotation | {"bbox": [0, 0, 1, 1]})
        else:
            if random.random() < 0.8:
                near = truth["annotations"][-1]
                where = {key: near[key] for key in where}
                mask = near["segmentation"]
                if isinstance(mask, list):
                    mask = [(np.array(mask[0]) + random.normal(0, 2, len(mask[0]))).tolist()]
            else:
                mask = [points.ravel().tolist()]
            (mask,) = fm.encode_masks([mask], size=(height, width))
            found.append(where | {"segmentation": mask, "score": round(random.random(), 2)})
    return truth, found


def one_object():
    """One object, one result."""
    truth = coco_data.make_truth([1], [1])
    truth["images"][0] |= {"height": 4, "width": 5}
    mask = {"size": [4, 5], "counts": [4, 8, 8]}
    truth["annotations"] = [
        {"id": 1, "image_id": 1, "category_id": 1, "segmentation": mask, "area": 8, "iscrowd": 0, "bbox": [1, 0, 2, 4]}
    ]
    return truth, [{"image_id": 1, "category_id": 1, "segmentation": mask, "score": 0.5}]


class TestColumns:
    def columns(self, truth, found):
        objects = truth["annotations"]
        return (
            {"image": [row["image_id"] for row in objects], "category": [row["category_id"] for row in objects],
             "mask": [row["segmentation"] for row in objects], "crowd": [row["iscrowd"] for row in objects],
             "area": [row["area"] for row in objects]},
            {"image": [row["image_id"] for row in found], "category": [row["category_id"] for row in found],
             "mask": [row["segmentation"] for row in found], "score": [row["score"] for row in found]},
        )  # fmt: skip

    def test_runs_and_pixels(self):
        truth, found = generate(13, 120)
        for row in truth["annotations"]:
            (row["segmentation"],) = fm.encode_masks([row["segmentation"]], size=(60, 80))
        expected = fm.coco_map(truth, found, iou_type="segm").precision
        columns = self.columns(truth, found)
        assert np.array_equal(fm.coco_map(*columns, iou_type="segm").precision, expected, equal_nan=True)
        for side in columns:
            side["mask"] = list(fm.decode_masks(side["mask"]).astype(bool))
        assert np.array_equal(fm.coco_map(*columns, iou_type="segm").precision, expected, equal_nan=True)

    def test_masks_of_two_sizes(self):
        truth, found = self.columns(*one_object())
        found["mask"] = [np.ones((5, 4), bool)]
        assert_raises(
            ValueError, r"detections .*\[5, 4\] at row 0, but ground_truth one of size \[4, 5\]",
            fm.coco_map, truth, found, iou_type="segm",
        )


class TestErrors:
    @each_case(
        ("mask", "message"),
        [
            ({"size": [4, 5], "counts": [4, 8, 9]}, "counts add up to 21 pixels, but size [4, 5] has 20"),
            ({"size": [4, 5], "counts": "480"}, "counts add up to 12 pixels"),
            ({"size": [5, 4], "counts": [20]}, "its size is [5, 4], the image's [4, 5]"),
            ([], "it is empty"),
            (None, "None"),
            ([[1, 2, 3, 4]], "found 4 numbers"),
        ],
    )
    def test_errors_name_the_row(self, mask, message):
        truth, found = one_object()
        found = [*found, found[0] | {"segmentation": mask}]
        with pytest.raises(ValueError, match=re.escape(message)) as caught:
            fm.coco_map(truth, found, iou_type="segm")
        assert re.match(r"detections\b.*\b1\b", str(caught.value))
        truth["annotations"].append(truth["annotations"][0] | {"id": 2, "segmentation": mask})
        with pytest.raises(ValueError, match=re.escape(message)) as caught:
            fm.coco_map(truth, one_object()[1], iou_type="segm")
        assert re.match(r"ground_truth\b.*\b1\b", str(caught.value))

    def test_polygons_of_an_image_without_a_size(self):
        truth, found = one_object()
        del truth["images"][0]["height"]
        assert fm.coco_map(truth, found, iou_type="segm").map == pytest.approx(1)
        truth["annotations"][0]["segmentation"] = [[0, 0, 3, 0, 3, 3]]
        assert_raises(
            ValueError, "the size of their image, which has no height and width",
            fm.coco_map, truth, found, iou_type="segm",
        )

    def test_no_segmentation(self):
        truth, found = one_object()
        del found[0]["segmentation"]
        assert_raises(ValueError, r"detections\[0\] has no 'segmentation'", fm.coco_map, truth, found, iou_type="segm")

    def test_no_detections(self):
        assert fm.coco_map(one_object()[0], [], iou_type="segm").map == 0


def test_boxes_are_used_as_masks():
    """Results with boxes only: pycocotools compares their rectangles."""
    truth, found = generate(14, 80)
    rows = [
        {key: row[key] for key in ("image_id", "category_id", "score")}
        | {"bbox": [float(number % 30), 5.5, 20.0, float(number % 17)]}
        for number, row in enumerate(found)
    ]
    for number in range(1, len(rows), 9):
        rows[number]["segmentation"] = found[number]["segmentation"]
    for results in (rows, [row for row in rows if "segmentation" not in row]):
        expected = coco_data.pycocotools_eval(truth, results, "segm").eval
        result = fm.coco_map(truth, results, iou_type="segm")
        assert np.array_equal(as_minus_one(result.precision), expected["precision"])
