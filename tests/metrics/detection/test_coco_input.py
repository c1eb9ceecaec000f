"""The inputs of COCO's evaluation: files, dicts, objects, columns of every library; and errors for invalid input."""

import copy
import json
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fastmetrics as fm
from fastmetrics._core.columns.validation import InputError, OptionError
from support.cases import assert_raises, each_case
from support.files.coco_data import generate, make_truth


def columns_of(rows):
    names = [name for name in ("image_id", "category_id", "bbox", "area", "iscrowd", "id", "score") if name in rows[0]]
    return {name: [row[name] for row in rows] for name in names}


def as_arrays(columns):
    return {name: np.array(values) for name, values in columns.items()}


def with_our_names(columns):
    names = {"image_id": "image", "category_id": "category", "bbox": "box", "iscrowd": "crowd"}
    return {names.get(name, name): values for name, values in columns.items()}


def fixed_lists(columns):
    return pa.table(columns | {"bbox": pa.array(columns["bbox"], pa.list_(pa.float64(), 4))})


class OfOtherLibrary:
    """Columns of a library that is not known, with one of the methods of Arrow's interface."""

    def __init__(self, columns, method):
        setattr(type(self), method, lambda self, schema=None: getattr(pa.record_batch(columns), method)(schema))


def stream_of_other_library(columns):
    return type("Stream", (OfOtherLibrary,), {})(columns, "__arrow_c_stream__")


def array_of_other_library(columns):
    return type("Array", (OfOtherLibrary,), {})(columns, "__arrow_c_array__")


FORMS = {
    "lists": dict, "arrays": as_arrays, "our names": with_our_names, "pandas": pd.DataFrame, "polars": pl.DataFrame,
    "arrow": pa.table, "fixed lists": fixed_lists, "batch": pa.RecordBatch.from_pydict,
    "reader": lambda columns: pa.table(columns).to_reader(), "stream of another library": stream_of_other_library,
    "array of another library": array_of_other_library,
}  # fmt: skip


def all_values(result):
    return np.concatenate([result.stats, result.precision.ravel(), result.scores.ravel()])


def assert_same(one, other):
    np.testing.assert_array_equal(all_values(one), all_values(other))


@pytest.fixture(scope="module")
def data():
    return generate(0, 8, 3, 40, 200, ties=True)


@pytest.fixture(scope="module")
def expected(data):
    return fm.coco_map(*data)


class TestForms:
    @each_case("form", FORMS)
    def test_columns(self, data, expected, form):
        truth, found = (FORMS[form](columns_of(rows)) for rows in (data[0]["annotations"], data[1]))
        ids = {name: [each["id"] for each in data[0][name]] for name in ("images", "categories")}
        assert_same(fm.coco_map(truth, found, **ids), expected)

    def test_ids_are_those_that_occur_in_columns(self, data, expected):
        truth, found = (columns_of(rows) for rows in (data[0]["annotations"], data[1]))
        assert_same(fm.coco_map(truth, found), expected)

    @each_case("form", ["arrays", "pandas", "polars", "arrow"])
    def test_detection_columns_with_a_data_set(self, data, expected, form):
        assert_same(fm.coco_map(data[0], FORMS[form](columns_of(data[1]))), expected)

    @each_case("form", ["lists", "arrays", "pandas", "polars", "arrow"])
    def test_ids_that_are_text(self, data, expected, form):
        """Text that sorts like the numbers."""
        truth, found = (columns_of(rows) for rows in (data[0]["annotations"], data[1]))
        for columns in (truth, found):
            for name in ("image_id", "category_id"):
                columns[name] = [f"{value:09d}" for value in columns[name]]
        result = fm.coco_map(FORMS[form](truth), FORMS[form](found))
        assert_same(result, expected)
        assert result.category_ids.tolist() == [f"{value:09d}" for value in expected.category_ids.tolist()]

    def test_text_in_dicts(self, data, expected):
        truth, found = copy.deepcopy(data)
        for rows in (truth["images"], truth["categories"]):
            for row in rows:
                row["id"] = f"{row['id']:09d}"
        for row in truth["annotations"] + found:
            row["image_id"], row["category_id"] = f"{row['image_id']:09d}", f"{row['category_id']:09d}"
        assert_same(fm.coco_map(truth, found), expected)

    def test_files(self, data, expected, tmp_path):
        paths = tmp_path / "truth.json", tmp_path / "found.json"
        for path, content in zip(paths, data, strict=True):
            path.write_text(json.dumps(content))
        assert_same(fm.coco_map(*paths), expected)
        assert_same(fm.coco_map(str(paths[0]), data[1]), expected)

    def test_objects_with_a_dataset(self, data, expected):
        """Detections of a data set have areas and ids."""
        found = [
            row | {"area": row["bbox"][2] * row["bbox"][3], "id": 7 + index} for index, row in enumerate(data[1])
        ]
        truth = SimpleNamespace(dataset=data[0])
        assert_same(fm.coco_map(truth, SimpleNamespace(dataset={"annotations": found, "images": []})), expected)
        assert_same(fm.coco_map(truth, {"annotations": data[1]}), expected)
        large = [row | {"area": 1e9} for row in found]
        assert fm.coco_map(truth, {"annotations": large}).map_small > expected.map_small

    def test_numbers_of_other_types(self, data, expected):
        truth, found = copy.deepcopy(data)
        for row in truth["annotations"]:
            row["bbox"], row["iscrowd"] = np.array(row["bbox"]), bool(row["iscrowd"])
            row["id"], row["image_id"] = np.int64(row["id"]), np.uint16(row["image_id"])
        for row in found:
            row["bbox"], row["score"] = tuple(row["bbox"]), np.float64(row["score"])
        assert_same(fm.coco_map(truth, tuple(found)), expected)

    def test_corners(self, data):
        truth, found = (as_arrays(columns_of(rows)) for rows in (data[0]["annotations"], data[1]))
        for columns in (truth, found):
            columns["bbox"] = columns["bbox"].round(0)
        sized = fm.coco_map(truth, found)
        for columns in (truth, found):
            columns["bbox"] = columns["bbox"] + np.pad(columns["bbox"][:, :2], ((0, 0), (2, 0)))
        assert_same(fm.coco_map(truth, found, box="xyxy"), sized)

    def test_optional_columns(self):
        truth = {"image": [1], "category": [1], "box": [[0, 0, 40, 40]]}
        found = {"image": [1], "category": [1], "box": [[0, 0, 40, 40]], "score": [0.5]}
        assert np.isnan(fm.coco_map(truth, found).map_small)
        assert fm.coco_map(truth | {"area": [900]}, found).map_small > 0.99

    @pytest.mark.parametrize("empty", [{"image": [], "category": [], "box": [], "score": []}, []])
    def test_no_detections(self, data, empty):
        assert fm.coco_map(data[0], empty).map == 0.0

    def test_no_detections_as_columns(self):
        truth = {"image": [1], "category": ["a"], "box": [[0, 0, 40, 40]]}
        found = {"image": np.empty(0, int), "category": np.empty(0, "U1")}
        found |= {"box": np.empty((0, 4)), "score": np.empty(0)}
        assert fm.coco_map(truth, found).map == 0.0
        kinds = {"image": pa.int64(), "category": pa.string(), "box": pa.list_(pa.float64()), "score": pa.float64()}
        table = pa.table({name: pa.array([], kind) for name, kind in kinds.items()})
        assert fm.coco_map(truth, table).map == 0.0


def make_ground_truth(**fields):
    truth = make_truth([1, 2], [1, 2])
    row = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9], "area": 81, "iscrowd": 0}
    truth["annotations"] = [row, row | {"id": 2} | fields]
    return truth


def make_detections(**fields):
    row = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9], "score": 0.5}
    return [row, row, row | fields]


NAN = float("nan")
BAD_ROWS = {
    "negative width": ({"bbox": [0, 0, -1, 2]}, r"\[2\]\['bbox'\] has a negative width: \[0.0, 0.0, -1.0, 2.0\]"),
    "negative height": ({"bbox": [0, 0, 1, -2]}, r"\[2\]\['bbox'\] has a negative height"),
    "NaN in a box": ({"bbox": [0, NAN, 1, 2]}, r"\[2\]\['bbox'\] has NaN"),
    "infinity in a box": ({"bbox": [0, 0, float("inf"), 2]}, r"\[2\]\['bbox'\] has a number beyond 1e\+150"),
    "three numbers": ({"bbox": [0, 0, 1]}, r"\[2\]\['bbox'\] must be four numbers; found \[0, 0, 1\]"),
    "text in a box": ({"bbox": [0, 0, "1", 2]}, r"\[2\]\['bbox'\] must be four numbers; found '1'"),
    "unknown image": ({"image_id": 3}, r"\[2\]\['image_id'\] is 3: the ground truth has no such image"),
    "unknown category": ({"category_id": 9}, r"\[2\]\['category_id'\] is 9: the ground truth has no such category"),
    "image that is text": ({"image_id": "1"}, r"\[2\]\['image_id'\] must be an integer, as the first ones are"),
    "image that is a fraction": ({"image_id": 1.5}, r"\[2\]\['image_id'\] must be an integer or text; found 1.5"),
    "image beyond int64": ({"image_id": 1 << 64}, r"\[2\]\['image_id'\] must be an integer of 64 bits"),
}


class TestBadRows:
    @each_case("case", BAD_ROWS)
    def test_detections(self, case):
        fields, message = BAD_ROWS[case]
        assert_raises(
            ValueError, r"^detections" + message, fm.coco_map, make_ground_truth(), make_detections(**fields)
        )

    @each_case("case", BAD_ROWS)
    def test_ground_truth(self, case):
        fields, message = BAD_ROWS[case]
        assert_raises(
            ValueError, r"^ground_truth\['annotations'\]" + message.replace("[2", "[1", 1),
            fm.coco_map, make_ground_truth(**fields), make_detections(),
        )

    @each_case("case", BAD_ROWS)
    def test_files_give_the_same_error(self, case, tmp_path):
        fields, message = BAD_ROWS[case]
        path = tmp_path / "found.json"
        path.write_text(json.dumps(make_detections(**fields)))
        assert_raises(ValueError, r"^detections" + message, fm.coco_map, make_ground_truth(), path)

    @pytest.mark.parametrize("score", [NAN, float("inf"), -float("inf")])
    def test_scores(self, score):
        text = "NaN" if score != score else str(score)
        assert_raises(
            ValueError, rf"^detections\[2\]\['score'\] is {text}: finite numbers are needed",
            fm.coco_map, make_ground_truth(), make_detections(score=score),
        )
        assert_raises(
            InputError, r"^detections\[2\]\['score'\] must be a number; found None",
            fm.coco_map, make_ground_truth(), make_detections(score=None),
        )

    @each_case("key", ["id", "image_id", "category_id", "bbox"])
    def test_missing_keys_of_annotations(self, key):
        truth = make_ground_truth()
        del truth["annotations"][1][key]
        assert_raises(
            ValueError, rf"^ground_truth\['annotations'\]\[1\] has no '{key}'", fm.coco_map, truth, make_detections()
        )

    @each_case("key", ["image_id", "category_id", "bbox", "score"])
    def test_missing_keys_of_detections(self, key):
        found = make_detections(extra=1)
        del found[2][key]
        assert_raises(ValueError, rf"^detections\[2\] has no '{key}'", fm.coco_map, make_ground_truth(), found)

    @pytest.mark.parametrize("key", ["images", "annotations", "categories"])
    def test_ids_that_occur_twice(self, key):
        truth = make_ground_truth()
        truth[key].append(truth[key][0])
        assert_raises(
            ValueError, rf"^ground_truth\['{key}'\]\[2\] has the id 1 of an earlier one",
            fm.coco_map, truth, make_detections(),
        )

    def test_area_that_is_nan(self):
        assert_raises(
            ValueError, r"^ground_truth\['annotations'\]\[1\]\['area'\] is NaN",
            fm.coco_map, make_ground_truth(area=NAN), make_detections(),
        )


class TestBadShapes:
    @pytest.mark.parametrize("key", ["images", "annotations", "categories"])
    def test_data_set_without_a_key(self, key):
        truth = make_ground_truth()
        del truth[key]
        assert_raises(ValueError, f"^ground_truth has no '{key}'", fm.coco_map, truth, make_detections())

    def test_lists_of_other_types(self):
        assert_raises(
            InputError, r"^detections\[1\] must be a dict; found list",
            fm.coco_map, make_ground_truth(), [make_detections()[0], [1, 2]],
        )
        assert_raises(
            InputError, r"^ground_truth\['images'\] must be a list of dicts; found dict",
            fm.coco_map, make_ground_truth() | {"images": {}}, make_detections(),
        )

    def test_ids_of_two_kinds(self):
        first, second, *_ = (dict(row) for row in make_detections())
        for value, other, wanted in (("1", 1, "an integer"), (1, "1", "text")):
            found = [first | {"image_id": other}, first | {"image_id": other}, second | {"image_id": value}]
            message = rf"^detections\[2\]\['image_id'\] must be {wanted}, as the first ones are; found {value!r}$"
            assert_raises(InputError, message, fm.coco_map, make_ground_truth(), found)
        message = r"^detections\[0\]\['score'\] must be a number, integers not beyond 2\*\*53; found 1000"
        assert_raises(InputError, message, fm.coco_map, make_ground_truth(), [first | {"score": 10**400}])

    def test_a_list_in_a_file_of_ground_truth(self, tmp_path):
        path = tmp_path / "found.json"
        path.write_text(json.dumps(make_detections()))
        assert_raises(
            InputError, r"^ground_truth must be a dict of images, .* found list$",
            fm.coco_map, path, make_detections(),
        )

    @each_case("value", [None, 3, [{"image_id": 1}], np.zeros((3, 4))])
    def test_ground_truth_of_another_type(self, value):
        assert_raises(
            InputError, r"^ground_truth must be a dict of images, annotations and categories",
            fm.coco_map, value, make_detections(),
        )

    @pytest.mark.parametrize("value", [None, 3, np.zeros((3, 7))])
    def test_detections_of_another_type(self, value):
        assert_raises(
            InputError, r"^detections must be a list of dicts, the path of a COCO JSON file",
            fm.coco_map, make_ground_truth(), value,
        )

    def test_dict_without_annotations(self):
        assert_raises(
            ValueError, r"^detections has no 'annotations'", fm.coco_map, make_ground_truth(), {"images": []}
        )

    def test_file_that_is_not_json(self, tmp_path):
        path = tmp_path / "truth.json"
        path.write_text("{'images': []}")
        assert_raises(
            ValueError, r"^ground_truth: .*truth\.json is no JSON file", fm.coco_map, path, make_detections()
        )
        with pytest.raises(FileNotFoundError):
            fm.coco_map(make_ground_truth(), tmp_path / "none.json")


class TestBadColumns:
    truth = MappingProxyType({"image": [1, 1], "category": [1, 1], "box": [[0, 0, 9, 9], [0, 0, 9, 9]]})

    @pytest.mark.parametrize(("name", "value", "message"), [
        ("image", [1], "detections['image'] has 1 rows but detections['category'] has 2"),
        ("score", [0.5], "detections['image'] has 2 rows but detections['score'] has 1"),
        ("box", [[0, 0, 1, 1]], "detections['image'] has 2 rows but detections['box'] has 1"),
        ("box", [[0, 0, 1, 1], [0, 0, 1]], "detections['box'] has [0, 0, 1] at row 1: a box is four numbers"),
        ("box", np.zeros((2, 5)), "detections['box'] must have four columns"),
        ("box", [[0, 0, 1, 1], [0, 0, -1, 1]], "detections['box'] has a negative width at row 1"),
        ("score", [0.5, NAN], "detections['score'] has NaN at row 1"),
        ("score", [0.5, np.inf], "detections['score'] has inf at row 1"),
        ("image", [1.5, 1.0], "detections['image'] has dtype float64: ids are integers or text"),
        ("image", ["a", "b"], "ground_truth and detections must have ids of one kind in their image columns"),
        ("image", [True, False], "detections['image'] has dtype bool"),
        ("crowd", [0, 2], None),
    ])  # fmt: skip
    def test_values(self, name, value, message):
        found = self.truth | {"score": [0.5, 0.6], name: value}
        if message is None:  # detections have no crowds, so the column is not read
            fm.coco_map(self.truth, found)
            return
        with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole text is compared below
            fm.coco_map(self.truth, found)
        assert str(caught.value).startswith(message)

    @pytest.mark.parametrize("name", ["image", "category", "box", "score"])
    def test_missing_columns(self, name):
        found = self.truth | {"score": [0.5, 0.6]}
        del found[name]
        assert_raises(ValueError, f"^no column '{name}' in detections", fm.coco_map, self.truth, found)

    def test_flags_and_ids(self):
        found = self.truth | {"score": [0.5, 0.6]}
        assert_raises(
            ValueError, r"^ground_truth\['crowd'\] has 2 at row 1: flags must be 0 or 1",
            fm.coco_map, self.truth | {"crowd": [0, 2]}, found,
        )
        assert_raises(
            ValueError, r"^ground_truth\['id'\] has 4 at row 1 and before it: ids must differ",
            fm.coco_map, self.truth | {"id": [4, 4]}, found,
        )
        assert_raises(
            ValueError, r"^ground_truth has columns 'image' and 'image_id': one of them",
            fm.coco_map, self.truth | {"image_id": [1, 1]}, found,
        )

    def test_nulls(self):
        table = pa.table(self.truth | {"score": [0.5, None]})
        assert_raises(ValueError, r"^detections\['score'\] has a null at row 1", fm.coco_map, self.truth, table)
        table = pa.table({**self.truth, "box": [[0.0, 0, 1, 1], None], "score": [0.5, 0.6]})
        assert_raises(ValueError, r"^detections\['box'\] has a null at row 1", fm.coco_map, self.truth, table)

    def test_unknown_ids_with_a_data_set(self):
        found = {"image": [1, 5], "category": [1, 1], "box": [[0, 0, 9, 9]] * 2, "score": [0.5, 0.6]}
        assert_raises(
            ValueError, r"^detections\['image'\] has 5 at row 1: the ground truth has no such",
            fm.coco_map, make_ground_truth(), found,
        )


class TestBadOptions:
    @each_case(("option", "value", "message"), [
        ("iou_type", "keypoints", "iou_type must be one of 'bbox', 'segm'; found 'keypoints'"),
        ("iou_thresholds", [0.5, 1.5], "iou_thresholds has 1.5 at row 1: thresholds lie between 0 and 1"),
        ("iou_thresholds", [], "iou_thresholds is empty"),
        ("iou_thresholds", [NAN], "iou_thresholds has NaN"),
        ("recall_thresholds", [0.5, 0.4], "recall_thresholds must not decrease; found 0.4 at row 1 after 0.5"),
        ("max_detections", 0, "max_detections must be different positive integers"),
        ("max_detections", [1, 1], "max_detections must be different positive integers"),
        ("max_detections", [1.5], "max_detections must be positive integers"),
        ("max_detections", [], "max_detections must be different positive integers"),
        ("area_ranges", {"all": (1, 0)}, "area_ranges['all'] must have least <= greatest; found (1, 0)"),
        ("area_ranges", {"all": 3}, "area_ranges['all'] must be (least, greatest); found 3"),
        ("area_ranges", [(0, 1)], "area_ranges must be a dict"),
        ("area_ranges", {"50": (0, 1)}, "area_ranges has the name '50'"),
        ("categories", [], "categories is empty"),
        ("images", [1.5], "images has 1.5 at row 0: ids are integers or text"),
        ("class_agnostic", 1, "class_agnostic must be True or False; found 1"),
        ("box", "xyxy", 'box must be "xywh" where ground_truth is COCO\'s; found \'xyxy\''),
        ("n_threads", 0, "n_threads must be an integer of at least 1, or -1 or None for all CPUs; found 0"),
    ])  # fmt: skip
    def test_options(self, option, value, message):
        with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole text is compared below
            fm.coco_map(make_ground_truth(), make_detections(), **{option: value})
        assert str(caught.value).startswith(message)

    def test_box_of_columns(self):
        truth = {"image": [1], "category": [1], "box": [[0, 0, 9, 9]]}
        assert_raises(OptionError, r"^box must be one of", fm.coco_map, truth, truth | {"score": [1]}, box="cxcywh")


def test_categories_of_a_file_are_listed_by_id_or_name():
    truth = {
        "images": [{"id": 1}],
        "categories": [{"id": 7, "name": "cat"}, {"id": 8, "name": "dog"}, {"id": 9}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 7, "bbox": [0, 0, 40, 40], "area": 1600, "iscrowd": 0},
            {"id": 2, "image_id": 1, "category_id": 8, "bbox": [50, 50, 20, 20], "area": 400, "iscrowd": 0},
        ],
    }
    found = [{"image_id": 1, "category_id": 7, "bbox": [0, 0, 40, 38], "score": 0.9}]
    by_id = fm.coco_map(truth, found, categories=[7])
    assert fm.coco_map(truth, found, categories=["cat"]) == by_id
    assert by_id.map > fm.coco_map(truth, found, categories=["cat", "dog"]).map
    assert fm.coco_map(truth, found, categories=["dog", "cat"]) == fm.coco_map(truth, found, categories={7, 8})
    for unknown in (["cta"], [7, 10], [1]):
        message = r"which is no category of ground_truth; it has 7 \(cat\), 8 \(dog\), 9"
        with pytest.raises(ValueError, match=rf"^categories has {unknown[-1]!r}, {message}"):
            fm.coco_map(truth, found, categories=unknown)
