"""COCO's mean average precision: every number and array equals that of pycocotools bit for bit."""

import copy
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._kernels.detection import image_category_groups as kernel
from oracles.detection import detection as oracle
from support.cases import each_case
from support.files.coco_data import Results, Truth, coco_datasets, generate, make_truth, pycocotools_eval

# If every detection is right, precision is slightly below 1: it has numpy.spacing(1) in its denominator.
ONE = pytest.approx(1.0, abs=1e-15)
ARRAYS = ("precision", "recall", "scores")


def coco_map(*data, **options) -> fm.CocoResult:
    """Call fm.coco_map without the warning for data sets in which no object counts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fm.UndefinedMetricWarning)
        return fm.coco_map(*data, **options)


def as_nan(values) -> np.ndarray:
    """NaN instead of pycocotools' -1 for undefined values."""
    values = np.asarray(values)
    return np.where(values == -1, np.nan, values)


def assert_same(result: fm.CocoResult, peer) -> None:
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(result, name), as_nan(peer.eval[name]), err_msg=name)
    if len(peer.stats):
        np.testing.assert_array_equal(result.stats, as_nan(peer.stats))


def are_equal(one: fm.CocoResult, other: fm.CocoResult) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True) for name in (*ARRAYS, "stats"))


def options_of(params: dict) -> dict:
    """Our options for pycocotools' params."""
    ours = {}
    for name, value in params.items():
        if name == "areaRng":
            ours["area_ranges"] = {f"range {number}": bounds for number, bounds in enumerate(value)}
        elif name == "useCats":
            ours["class_agnostic"] = not value
        else:
            option = {
                "iouThrs": "iou_thresholds", "recThrs": "recall_thresholds", "maxDets": "max_detections",
                "imgIds": "images", "catIds": "categories",
            }[name]  # fmt: skip
            ours[option] = value
    return ours


class TestPycocotools:
    @settings(max_examples=60)
    @given(coco_datasets())
    def test_usual_parameters(self, data):
        assert_same(coco_map(*data), pycocotools_eval(*data))

    @settings(max_examples=30)
    @given(coco_datasets(), st.data())
    def test_any_parameters(self, data, draw):
        ious = [0.0, 0.1, 1 / 3, 0.5, 0.75, 0.9, 1.0]
        thresholds = draw.draw(st.lists(st.sampled_from(ious), min_size=1, max_size=4))
        levels = [[0.0, 0.5, 1.0], [0.3], [1 / 3, 2 / 3], np.linspace(0, 1, 11)]
        areas = [(0, 1e10), (0, 1024), (1024, 1024), (500, 4000), (1e5, 1e6)]
        params = {
            "iouThrs": np.array(thresholds),
            "recThrs": np.array(draw.draw(st.sampled_from(levels))),
            "maxDets": sorted(draw.draw(st.sets(st.integers(1, 6), min_size=1, max_size=3))),
            "areaRng": draw.draw(st.lists(st.sampled_from(areas), min_size=1, max_size=3, unique=True)),
            "useCats": draw.draw(st.sampled_from([0, 1])),
        }
        assert_same(coco_map(*data, **options_of(params)), pycocotools_eval(*data, **params))

    @each_case("ties", [False, True])
    @each_case("n_images", [3, 30])
    def test_more_than_a_hundred_detections(self, n_images, ties):
        data = generate(n_images, n_images, ties=ties)
        result = coco_map(*data)
        assert (result.coverage["detections_used"] < 1500) == (n_images == 3)
        assert_same(result, pycocotools_eval(*data))

    def test_all_categories_as_one(self):
        data = generate(5, ties=True)
        assert_same(coco_map(*data, class_agnostic=True), pycocotools_eval(*data, useCats=0))

    def test_more_criteria_than_a_word_has_bits(self):
        """63, 64, 65 and 200 criteria: split by thresholds, by area ranges, or not at all."""
        data = generate(1, 6, 3, 40, 200)
        for n, areas in ((63, 1), (64, 1), (65, 1), (32, 2), (33, 3), (13, 5), (200, 2)):
            ranges = [(0, 1e10), (0, 2000), (500, 3000), (2000, 1e10), (0, 100)][:areas]
            params = {"iouThrs": np.linspace(0.01, 1, n), "areaRng": ranges, "maxDets": [2, 50]}
            assert_same(coco_map(*data, **options_of(params)), pycocotools_eval(*data, **params))

    def test_some_images_and_categories(self):
        data = generate(2, ties=True)
        images = [each["id"] for each in data[0]["images"]][3:9]
        categories = [each["id"] for each in data[0]["categories"]][1:3]
        params = {"imgIds": images, "catIds": categories}
        result = coco_map(*data, **options_of(params))
        assert_same(result, pycocotools_eval(*data, **params))
        assert result.category_ids.tolist() == sorted(categories)

    def test_no_detections(self):
        """pycocotools does not accept an empty list. Here all defined values are 0."""
        truth, _ = generate(0)
        result = coco_map(truth, [])
        counted = result.per_class["ground_truths"] > 0
        assert counted.sum() == 4
        assert (result.per_class["ap"][counted] == 0).all()
        assert np.isnan(result.per_class["ap"][~counted]).all()
        assert (result.map, result.map_50, result.mar_100) == (0.0, 0.0, 0.0)
        assert result.scores[:, :, counted, 0].max() == 0


class TestDefinition:
    @settings(max_examples=25)
    @given(coco_datasets(8, 12))
    def test_twelve_numbers(self, data):
        truth, found = data
        wanted = oracle.twelve_numbers(
            truth["annotations"], [row | {"area": row["bbox"][2] * row["bbox"][3]} for row in found],
            oracle.Settings(*(sorted(each["id"] for each in truth[key]) for key in ("images", "categories"))),
        )  # fmt: skip
        np.testing.assert_allclose(coco_map(*data).stats, wanted, rtol=1e-12)

    def test_values_computed_by_hand(self):
        """Two objects, found in the order wrong, right, right: precision 0.5 and 2/3, so 2/3 at every recall."""
        truth = {"image": [1, 1], "category": [1, 1], "box": [[0, 0, 100, 100], [200, 0, 100, 100]]}
        found = {
            "image": [1, 1, 1], "category": [1, 1, 1], "score": [0.9, 0.8, 0.7],
            "box": [[500, 0, 100, 100], [0, 0, 100, 100], [200, 0, 100, 100]],
        }  # fmt: skip
        result = fm.coco_map(truth, found)
        assert result.map == pytest.approx(2 / 3, abs=1e-15)
        assert (result.mar_1, result.mar_10, result.mar_100) == (0.0, 1.0, 1.0)

    def test_ignored_object_counts_neither_as_found_nor_as_missed(self):
        truth = {"image": [1, 1], "category": [1, 1], "box": [[0, 0, 50, 50], [200, 0, 50, 50]], "ignore": [0, 1]}
        found = {"image": [1, 1], "category": [1, 1], "score": [0.5, 0.9], "box": [[0, 0, 50, 50], [200, 0, 50, 50]]}
        assert fm.coco_map(truth, found).map == ONE
        # A second detection of the same object is a false positive, unless the object is a crowd.
        found = {name: [*values, values[1]] for name, values in found.items()}
        assert fm.coco_map(truth, found).map == pytest.approx(0.5, abs=1e-15)
        assert fm.coco_map(truth | {"crowd": [0, 1]}, found).map == ONE

    def test_object_with_id_zero_can_be_found(self):
        truth = make_truth([1], [1])
        truth["annotations"] = [
            {"id": 0, "image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9], "area": 81, "iscrowd": 0}
        ]
        found = [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9], "score": 1.0}]
        assert fm.coco_map(truth, found).map == ONE
        assert pycocotools_eval(truth, found).stats[0] == 0.0

    def test_last_object_of_equal_iou_is_matched(self):
        boxes = [[0, 0, 10, 10], [0, 5, 10, 10]]
        found = {"image": [1, 1], "category": [1, 1], "score": [0.9, 0.8], "box": [[0, 2.5, 10, 10], boxes[1]]}
        recalls = [
            fm.coco_map({"image": [1, 1], "category": [1, 1], "box": ordered}, found).recall[0, 0, 0, 2]
            for ordered in (boxes, boxes[::-1])
        ]
        assert recalls == [0.5, 1.0]


def shuffled(data: tuple[Truth, Results], seed: int) -> tuple[Truth, Results]:
    """Images, categories, annotations and detections in another order; detections of an image keep their order."""
    random = np.random.default_rng(seed)
    truth, found = copy.deepcopy(data)
    for rows in truth.values():
        random.shuffle(rows)
    key = {each["id"]: index for index, each in enumerate(truth["images"])}
    return truth, sorted(found, key=lambda row: key[row["image_id"]])


def scores_of(kind: str, n: int) -> np.ndarray:
    random = np.random.default_rng(n)
    values = random.random(n)
    return {
        "any": values * 10.0 ** random.integers(-5, 5, n) * random.choice([-1, 1], n),
        "few": random.choice([-1.0, -0.0, 0.0, 0.3, 1.0], n),
        "close": 0.5 + values * 1e-9,  # the upper half of the bits is equal
        "descending": -np.sort(values),
        "ascending": np.sort(values),
        "closely ascending": np.sort(0.5 + values * 1e-9),
        "equal": np.full(n, 0.25),
    }[kind]


class TestSorting:
    @each_case("n", [0, 1, 2, 11, 12, 13, 24, 25, 100, 511, 512, 513, 3000])
    @each_case("kind", ["any", "few", "close", "descending", "ascending", "closely ascending", "equal"])
    def test_descending_scores_equal_ones_in_input_order(self, kind, n):
        scores = scores_of(kind, n)
        rows = np.random.default_rng(0).permutation(n).astype(np.int64)
        expected = rows[np.argsort(-scores[rows], kind="stable")]
        kernel.sort_groups(0, 1, np.array([0, n]), scores, rows)
        np.testing.assert_array_equal(rows, expected)

    @pytest.mark.parametrize("kind", ["few", "close"])
    def test_large_categories(self, kind):
        """More detections of a category than the merge sort handles: radix sort is used."""
        truth, found = generate(9, 5, 2, 60, 1200)
        for row, score in zip(found, scores_of(kind, len(found)).tolist(), strict=True):
            row["score"] = score
        assert_same(coco_map(truth, found), pycocotools_eval(truth, found))


class TestInvariances:
    @pytest.mark.parametrize("seed", range(3))
    def test_order_of_images_does_not_matter(self, seed):
        data = generate(seed, ties=True)
        truth, found = shuffled(data, seed)
        # Only the order of objects with equal IoU may matter, and this data set has none.
        assert are_equal(coco_map(*data), coco_map(truth, found))

    def test_order_of_rows_does_not_matter_without_ties(self):
        truth, found = generate(4)
        reversed_rows = truth | {"annotations": truth["annotations"][::-1]}
        assert are_equal(coco_map(truth, found), coco_map(reversed_rows, found[::-1]))

    @each_case("n_threads", [1, 2, 3, 8])
    def test_number_of_threads_does_not_matter(self, n_threads, monkeypatch):
        monkeypatch.setattr("fastmetrics.metrics.detection.image_category_groups.MIN_ROWS_PER_RANGE", 50)
        data = generate(6, ties=True)
        assert are_equal(coco_map(*data, n_threads=n_threads), coco_map(*data, n_threads=1))
        assert_same(coco_map(*data, n_threads=n_threads), pycocotools_eval(*data))

    def test_input_is_not_changed(self):
        data = generate(7, 5, 3, 20, 60)
        before = copy.deepcopy(data)
        fm.coco_map(*data)
        assert data == before


class TestResult:
    @pytest.fixture
    def result(self):
        return coco_map(*generate(0))

    def test_names_and_order_of_values(self, result):
        names = [f"map{each}" for each in ("", "_50", "_75", "_small", "_medium", "_large")]
        names += [f"mar_{each}" for each in (1, 10, 100, "small", "medium", "large")]
        assert list(result.keys()) == names
        np.testing.assert_array_equal([result[name] for name in names], result.stats)
        assert result.map_50 == result["map_50"] == dict(result)["map_50"]
        assert len(result) == 12

    def test_unknown_names(self, result):
        with pytest.raises(AttributeError, match=r"no 'mar_300'; there are map, .*mar_100"):
            result.mar_300  # noqa: B018 - the access raises the error
        with pytest.raises(KeyError, match="map_90"):
            result["map_90"]

    def test_a_row_for_each_category(self, result):
        table = result.per_class
        assert list(table.keys()) == ["category", "name", "ap", "ap50", "ap75", "ar", "ground_truths", "detections"]
        kept = table["ground_truths"] > 0
        assert np.mean(table["ap"][kept]) == pytest.approx(result.map, abs=1e-15)
        assert np.mean(table["ap50"][kept]) == pytest.approx(result.map_50, abs=1e-15)
        assert np.mean(table["ar"][kept]) == pytest.approx(result.mar_100, abs=1e-15)
        assert table["detections"].sum() == 1500
        assert table["ground_truths"].sum() == result.coverage["ground_truths"]
        assert len(table) == len(repr(table).splitlines()) - 1
        assert table.to_dict()["category"] == result.category_ids.tolist()
        assert table.to_arrow().column_names == list(table.keys())

    def test_categories_without_ground_truth_are_named(self, result):
        without = result.coverage["without_ground_truth"]
        assert len(without) == 1
        assert np.isnan(result.precision[:, :, result.per_class["name"].tolist().index(without[0])]).all()
        assert without[0] in repr(result)

    def test_undefined_values_are_named(self, result):
        assert np.isnan(result.map_large)
        assert "9216" in result.undefined["map_large"]
        assert set(result.undefined) == {name for name, value in result.items() if np.isnan(value)}

    def test_no_object_counts(self):
        truth = make_truth([1], [1, 2])
        with pytest.warns(fm.UndefinedMetricWarning, match="no ground truth counts"):
            result = fm.coco_map(truth, [])
        assert np.isnan(result.stats).all()
        assert result.coverage["without_ground_truth"] == ["class 1", "class 2"]

    def test_no_category(self):
        result = coco_map({"images": [], "categories": [], "annotations": []}, [])
        assert np.isnan(result.stats).all()
        assert (result.precision.shape, len(result.per_class)) == ((10, 101, 0, 4, 3), 0)
        assert "0 categories" in repr(result)

    def test_other_thresholds(self):
        result = coco_map(*generate(1), iou_thresholds=[0.5, 0.6])
        assert result.map_50 > result.map
        assert np.isnan(result.map_75)
        assert "0.75" in result.undefined["map_75"]
        assert np.isnan(result.per_class["ap75"]).all()
        assert coco_map(*generate(1), iou_thresholds=0.5).map == result.map_50

    def test_other_max_detections(self):
        data = generate(3, 4)
        result = coco_map(*data, max_detections=(300, 5))
        assert result.max_detections == (5, 300)
        assert result.stats[6:9].tolist()[:2] == [result.mar_5, result.mar_300]
        assert np.isnan(result.stats[8])
        # AP uses the largest number of detections.
        alone = coco_map(*data, max_detections=300)
        assert result.map == alone.map
        np.testing.assert_array_equal(result.precision[..., 1], alone.precision[..., 0])

    def test_other_areas(self):
        data = generate(3)
        result = coco_map(*data, area_ranges={"all": (0, 1e10), "tiny": (0, 400)})
        assert list(result.keys())[3] == "map_tiny"
        assert result.map == coco_map(*data).map
        assert np.isnan(result.stats[3])

    def test_to_dict_has_plain_types(self, result):
        plain = result.to_dict()
        assert plain["values"] == {name: None if np.isnan(own) else own for name, own in result.items()}
        assert plain["signature"].startswith("coco_map|iou_type:bbox|iou:0.5,")
        assert type(plain["per_class"]["ap"][0]) is float

    def test_repr(self, result):
        lines = repr(result).splitlines()
        n_truth = result.coverage["ground_truths"]
        assert lines[0] == f"COCO bbox: 20 images, 5 categories, {n_truth} ground truths, 1,500 detections"
        assert lines[2].split() == ["AP", "0.50:0.95", "all", "100", f"{result.map:.4f}"]
        assert lines[10].split() == ["AR", "0.50:0.95", "all", "100", f"{result.mar_100:.4f}"]
        assert lines[13].split()[2] == "large"
