"""Mean average precision by Pascal VOC's rule: the definition, all forms of input, files, invalid input."""

import json
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from oracles.detection import voc as oracle
from support.cases import assert_raises, each_case
from support.files.voc_folders import CLASSES, make, write_voc


def columns(truth, found):
    image, category, box, difficult = zip(*truth, strict=True) if truth else ([], [], [], [])
    ground_truth = {
        "image": np.array(image, "U6"),
        "category": np.array(category, "U10"),
        "box": np.array(box, float).reshape(-1, 4),
        "difficult": np.array(difficult, bool),
    }
    image, category, box, score = zip(*found, strict=True) if found else ([], [], [], [])
    return ground_truth, {
        "image": np.array(image, "U6"),
        "category": np.array(category, "U10"),
        "box": np.array(box, float).reshape(-1, 4),
        "score": np.array(score, float),
    }


def xywh(box):
    return [box[0], box[1], box[2] - box[0], box[3] - box[1]]


def coco_form(truth, found, flag="difficult"):
    """The same objects and detections in COCO's form."""
    category_ids = {name: number for number, name in enumerate(CLASSES, start=1)}
    annotations = [
        {"id": number, "image_id": int(image), "category_id": category_ids[name], "bbox": xywh(box), "area": 1.0,
         "iscrowd": 0, flag: int(difficult)}
        for number, (image, name, box, difficult) in enumerate(truth, start=1)
    ]  # fmt: skip
    results = [
        {"image_id": int(image), "category_id": category_ids[name], "bbox": xywh(box), "score": score}
        for image, name, box, score in found
    ]
    return {
        "images": [{"id": image} for image in sorted({int(each[0]) for each in [*truth, *found]} | {900})],
        "categories": [{"id": number, "name": name} for name, number in category_ids.items()],
        "annotations": annotations,
    }, results


def assert_matches_definition(result, truth, found, threshold=0.5, border=0, points=False):
    """Assert that every class has the values of the definition."""
    aps = []
    for name, row in result.per_class.items():
        wanted = oracle.evaluate_class(truth, found, name, threshold, border, points)
        assert row.ground_truths == wanted.n_truth
        assert row.detections == sum(each[1] == name for each in found)
        assert row.difficult == sum(each[1] == name and each[3] for each in truth)
        assert row.detections - row.ignored == len(wanted.hits)
        ratios = [hits / rank for hits, rank in zip(wanted.hits, wanted.ranks, strict=True)]
        assert row.precision.tolist() == ratios
        assert row.true_positives == (wanted.hits[-1] if wanted.hits else 0)
        if wanted.ap is None:
            assert math.isnan(row.ap)
            assert np.isnan(row.recall).all()
            assert name in result.undefined
        else:
            assert row.recall.tolist() == [hits / wanted.n_truth for hits in wanted.hits]
            assert math.isclose(row.ap, wanted.ap, rel_tol=1e-15)
            aps.append(wanted.ap)
    if aps:
        assert math.isclose(result.map, sum(aps) / len(aps), rel_tol=1e-15)
        assert float(result) == result.map
    else:
        assert math.isnan(result.map)


CASES = st.builds(
    make, st.integers(0, 10**6), st.integers(1, 40), st.integers(0, 65), st.integers(1, 6), st.sampled_from([3, 9, 40]),
    st.sampled_from([1, 5, 10**6]),
)  # fmt: skip


@given(CASES, st.sampled_from([0.3, 0.5, 1.0, 4 / 9]), st.booleans(), st.booleans(), st.sampled_from([1, 0.37]))
@pytest.mark.filterwarnings("ignore:voc_map is undefined")
def test_matches_definition(case, threshold, points, pixels, scale):
    """Corners are not computed from a size: an IoU equal to the threshold is enough."""
    case = [[(*row[:2], [scale * x for x in row[2]], row[3]) for row in rows] for rows in case]
    options = {"iou_threshold": threshold, "interpolation": "voc11" if points else "area", "pixel_boxes": pixels}
    assert_matches_definition(fm.voc_map(*columns(*case), **options), *case, threshold, int(pixels), points)


@given(CASES)
@pytest.mark.filterwarnings("ignore:voc_map is undefined")
def test_difficult_objects_that_count(case):
    truth, found = case
    not_difficult = [(*row, False) for *row, _ in truth]
    assert_matches_definition(fm.voc_map(*columns(truth, found), difficult="count"), not_difficult, found)


@pytest.mark.parametrize("flag", ["difficult", "ignore", "iscrowd"])
def test_coco_form(flag, tmp_path):
    case = make(3)
    truth, found = coco_form(*case, flag)
    wanted = fm.voc_map(*columns(*case))
    result = fm.voc_map(truth, found)
    assert list(result.per_class) == list(CLASSES)
    assert result.undefined == {"nothing": "no ground truth"}
    assert (result.coverage["images"], result.map) == (len(truth["images"]), wanted.map)
    assert_matches_definition(result, *case)
    for name, data in (("truth.json", truth), ("found.json", found)):
        (tmp_path / name).write_text(json.dumps(data), encoding="utf-8")
    read = fm.voc_map(tmp_path / "truth.json", str(tmp_path / "found.json"))
    assert str(read.to_dict()) == str(result.to_dict())


@pytest.mark.parametrize("area", [None, float("nan"), "large"])
def test_areas_of_objects_are_not_read(area, tmp_path):
    truth, found = coco_form(*make(4))
    wanted = fm.voc_map(truth, found)
    for row in truth["annotations"]:
        del row["area"]
        if area is not None:
            row["area"] = area
    assert str(fm.voc_map(truth, found).to_dict()) == str(wanted.to_dict())
    (tmp_path / "truth.json").write_text(json.dumps(truth), encoding="utf-8")
    assert str(fm.voc_map(tmp_path / "truth.json", found).to_dict()) == str(wanted.to_dict())


def test_eleven_points_are_whole_tenths():
    """3 of 10 objects reach a recall of 0.3; the rounded product 3 * 0.1 is larger than 0.3."""
    box = [[0.0, 0.0, 4.0, 4.0]]
    truth = {"image": np.arange(10), "category": ["a"] * 10, "box": box * 10}
    found = {"image": np.arange(3), "category": ["a"] * 3, "box": box * 3, "score": [3, 2, 1]}
    assert fm.voc_map(truth, found, interpolation="voc11").map == 4 / 11


def test_iou_equal_to_the_threshold_is_enough():
    truth = {"image": [1], "category": ["a"], "box": [[0, 0, 10, 10]]}
    found = {"image": [1], "category": ["a"], "box": [[0, 0, 10, 5]], "score": [1]}
    assert fm.voc_map(truth, found).map == 1
    assert fm.voc_map(truth, found, iou_threshold=math.nextafter(0.5, 1)).map == 0


def test_object_with_highest_iou_is_compared_even_if_found():
    truth = {"image": [1, 1], "category": ["a"] * 2, "box": [[0, 0, 10, 10], [0, 0, 10, 8]]}
    found = {"image": [1, 1], "category": ["a"] * 2, "box": [[0, 0, 10, 10], [0, 0, 10, 10]], "score": [2, 1]}
    row = fm.voc_map(truth, found).per_class["a"]
    assert (row.precision.tolist(), row.ap) == ([1.0, 0.5], 0.5)


def test_pixel_boxes():
    """Two pixels of three: 2/3 by pixels, 1/2 by lengths."""
    truth = {"image": [1], "category": ["a"], "box": [[1, 1, 3, 1]]}
    found = {"image": [1], "category": ["a"], "box": [[1, 1, 2, 1]], "score": [1]}
    assert fm.voc_map(truth, found, pixel_boxes=True, iou_threshold=2 / 3).map == 1
    assert fm.voc_map(truth, found).map == 0


def reordered(table, order):
    return {name: values[order] for name, values in table.items()}


def test_result_does_not_depend_on_threads_or_order():
    """If all scores are different, the order does not matter. The number of threads never matters."""
    truth, found = columns(*make(11, 4000, 70_000, 300, 200, 10**9))
    found["score"] = np.random.default_rng(1).permutation(len(found["score"])) / 7
    result = fm.voc_map(truth, found)
    rng = np.random.default_rng(0)
    shuffled = [reordered(table, rng.permutation(len(table["image"]))) for table in (truth, found)]
    for other in (fm.voc_map(truth, found, n_threads=1), fm.voc_map(truth, found, n_threads=3), fm.voc_map(*shuffled)):
        assert other.to_dict() == result.to_dict()
        for name, each in result.per_class.items():
            assert all(np.array_equal(a, b) for a, b in zip(each[1:4], other.per_class[name][1:4], strict=True))


def test_no_detections_and_no_objects():
    truth, found = columns(*make(5))
    result = fm.voc_map(truth, reordered(found, slice(0, 0)))
    assert result.map == 0
    assert {row.ap for row in result.per_class.values()} == {0.0}
    assert fm.voc_map(truth, []).to_dict() == result.to_dict()
    with pytest.warns(fm.UndefinedMetricWarning, match="no class has ground truth"):
        result = fm.voc_map(reordered(truth, slice(0, 0)), found)
    assert math.isnan(result.map)
    assert set(result.undefined) == set(found["category"].tolist())
    assert result.coverage["categories_with_ground_truth"] == 0
    assert "nan" in repr(result)


def test_a_class_of_difficult_objects_is_undefined():
    truth = {"image": [1, 1], "category": ["a", "b"], "box": [[0, 0, 4, 4]] * 2, "difficult": [1, 0]}
    found = {"image": [1, 1], "category": ["a", "b"], "box": [[0, 0, 4, 4]] * 2, "score": [1, 1]}
    result = fm.voc_map(truth, found)
    assert (result.undefined, result.map) == ({"a": "all of its objects are difficult"}, 1)
    assert result.per_class["a"].ignored == 1
    assert fm.voc_map(truth, found, difficult="count").undefined == {}


def test_some_classes_and_some_images():
    truth, found = make(8)
    result = fm.voc_map(*columns(truth, found), categories=["motor_bike", "car"])
    assert list(result.per_class) == ["motor_bike", "car"]
    assert_matches_definition(result, truth, found)
    images = ["000001", "000003", "000777"]
    result = fm.voc_map(*columns(truth, found), images=images)
    truth, found = ([row for row in rows if row[0] in images] for rows in (truth, found))
    assert_matches_definition(result, truth, found)
    assert result.coverage["images"] == 3
    assert_raises(
        ValueError, "images has 77, which ground_truth does not have",
        fm.voc_map, *coco_form(truth, found), images=np.array([1, 77]),
    )


def test_repr_and_signature():
    result = fm.voc_map(*coco_form(*make(3)), interpolation="voc11", iou_threshold=0.25)
    head, _, *rows, last = repr(result).splitlines()
    assert head.startswith(f"mAP = {result.map:.4f} (3 of 4 classes, ")
    assert [row.split()[0] for row in rows] == list(CLASSES)
    assert last == "not in the mean: nothing (no ground truth)"
    assert result.signature == (
        "voc_map(interpolation=voc11, iou_threshold=0.25)|difficult:ignore|pixel_boxes:no|ties:given_order|"
        f"v{fm.__version__}"
    )
    assert result.to_dict()["per_class"]["car"]["ap"] == result.per_class["car"].ap


# ---------------------------------------------------------------------------------------------------------------- files


@pytest.fixture
def devkit(tmp_path):
    truth, found = make(21)
    # Files are read class by class, so the order of equal scores is kept within a class only.
    write_voc(tmp_path, truth, found)
    return tmp_path, truth, found


def test_devkit_folders(devkit):
    folder, truth, found = devkit
    result = fm.voc_map(folder / "VOC", folder / "results")
    assert_matches_definition(result, truth, found, border=1)
    assert result.coverage["images"] == len({row[0] for row in [*truth, *found]}) + 1
    assert "pixel_boxes:yes" in result.signature
    for placeholder in ("{}", "{class}"):
        paths = f"{folder}/results/comp4_det_test_{placeholder}.txt"
        assert fm.voc_map(str(folder / "VOC" / "Annotations"), paths).to_dict() == result.to_dict()
    assert_matches_definition(fm.voc_map(folder / "VOC", folder / "results", pixel_boxes=False), truth, found)


def test_an_image_set(devkit):
    folder, truth, found = devkit
    (folder / "test.txt").write_text("000001  1\n000002 -1\n\n")
    result = fm.voc_map(folder / "VOC", folder / "results", images=folder / "test.txt")
    truth, found = ([row for row in rows if row[0] in ("000001", "000002")] for rows in (truth, found))
    assert_matches_definition(result, truth, found, border=1)
    assert result.coverage["images"] == 2


def test_columns_with_files(devkit):
    folder, truth, found = devkit
    ground_truth, detections = columns(truth, found)
    assert fm.voc_map(folder / "VOC", detections).map == fm.voc_map(folder / "VOC", folder / "results").map
    assert fm.voc_map(ground_truth, folder / "results").map == fm.voc_map(folder / "VOC", folder / "results").map


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("results/comp4_det_test_car.txt", "a 1 0 0 1 1\nb 1 0 0 1\n", "_car.txt, line 2: 5 fields where 6 are wanted"),
        ("results/comp4_det_test_car.txt", "\na x 0 0 1 1\n", "_car.txt, line 2: score is not a number: 'x'"),
        ("results/comp4_det_test_car.txt", "a nan 0 0 1 1\n", "_car.txt, line 1: the score is NaN"),
        ("results/comp4_det_test_car.txt", "\n\na 1 0 5 1 1\n", "_car.txt, line 3: [0.0, 5.0, 1.0, 1.0] are not two"),
        ("results/comp4_det_test_car.txt", "a 1 0 0 1 1\n", "1 image without annotations, the first is 'a'"),
        ("results/comp3_det_val_car.txt", "", "are both results of class 'car'"),
        ("VOC/Annotations/000900.xml", "<annotation", "000900.xml is no XML file"),
        ("VOC/Annotations/000900.xml", "<a><object/></a>", "000900.xml, object 1: it has no name"),
        ("VOC/Annotations/000900.xml", "<a><object><name>car</name></object></a>", "object 1: it has no bndbox"),
    ],
)
def test_broken_files_are_named(devkit, name, text, message):
    folder, _, _ = devkit
    (folder / name).write_text(text)
    assert_raises(ValueError, re.escape(message), fm.voc_map, folder / "VOC", folder / "results")


def test_folders_without_files(tmp_path, devkit):
    folder, _, _ = devkit
    (tmp_path / "empty").mkdir()
    assert_raises(
        ValueError, r"has no annotations: files that end in \.xml", fm.voc_map, tmp_path / "empty", folder / "results"
    )
    assert_raises(
        ValueError, r"no result files, such as comp4_det_test_car\.txt", fm.voc_map, folder / "VOC", tmp_path / "empty"
    )


# ------------------------------------------------------------------------------------------------------------ bad input


@each_case(
    ("options", "message"),
    [
        ({"interpolation": "voc07"}, "interpolation must be one of 'area', 'voc11'; found 'voc07'"),
        ({"iou_threshold": 0}, "iou_threshold must be above 0 and at most 1; found 0"),
        ({"iou_threshold": math.nan}, "iou_threshold must be above 0 and at most 1; found nan"),
        ({"iou_threshold": True}, "iou_threshold must be above 0 and at most 1; found True"),
        ({"iou_threshold": [0.5]}, "iou_threshold must be above 0 and at most 1; found [0.5]"),
        ({"difficult": True}, "difficult must be one of 'ignore', 'count'; found True"),
        ({"box": "yxyx"}, "box must be one of 'xyxy', 'xywh'; found 'yxyx'"),
        ({"box": "xywh", "pixel_boxes": True}, "pixel_boxes applies to corners only"),
        ({"pixel_boxes": "yes"}, "pixel_boxes must be True or False; found 'yes'"),
        ({"categories": ["cars"]}, "categories has 'cars', which is no class of the data: 'car', 'dog'"),
        ({"categories": "car"}, "categories must be a list; found 'car'"),
        ({"categories": []}, "categories is empty: at least one is needed"),
        ({"categories": [["car"]]}, "categories has ['car']: ids are integers or text"),
        ({"images": 3}, "images must be a list; found 3"),
        ({"n_threads": 0}, "n_threads must be an integer of at least 1, or -1 or None for all CPUs; found 0"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises((ValueError, TypeError)) as error:
        fm.voc_map(*columns(*make(1)), **options)
    assert message in str(error.value)
