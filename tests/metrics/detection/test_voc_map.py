"""Mean average precision by Pascal VOC's rule: against the definition, in all forms of input; files; bad input."""

import json
import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from oracles import voc as oracle

CLASSES = ("car", "dog", "motor_bike", "nothing")


def make(seed, n_objects=40, n_found=120, n_images=6, levels=9, scores=10):
    """Objects and detections on a coarse grid: overlaps tie, boxes are found twice, scores are equal."""
    rng = np.random.default_rng(seed)

    def boxes(n):
        low = rng.integers(0, levels, (n, 2))
        return np.hstack([low, low + rng.integers(1, levels, (n, 2))]).astype(float).tolist()

    images = [f"{number:06d}" for number in rng.integers(0, n_images, n_objects + n_found)]
    names = [CLASSES[place] for place in rng.integers(0, len(CLASSES) - 1, n_objects + n_found)]
    difficult = (rng.random(n_objects) < 0.25).tolist()
    points = (rng.integers(0, scores, n_found) / scores).tolist()
    truth = list(zip(images, names, boxes(n_objects), difficult, strict=False))
    found = list(zip(images[n_objects:], names[n_objects:], boxes(n_found), points, strict=True))
    # Half of the detections are near an object of theirs.
    for place in rng.permutation(n_found)[: n_found // 2].tolist() if truth else []:
        image, name, box, _ = truth[rng.integers(len(truth))]
        moved = (np.array(box) + rng.integers(0, 2, 4) * [0, 0, 1, 1]).tolist()
        found[place] = (image, name, moved, found[place][3])
    return truth, found


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
    """The same as COCO's JSON."""
    place = {name: number for number, name in enumerate(CLASSES, start=1)}
    annotations = [
        {"id": number, "image_id": int(image), "category_id": place[name], "bbox": xywh(box), "area": 1.0,
         "iscrowd": 0, flag: int(difficult)}
        for number, (image, name, box, difficult) in enumerate(truth, start=1)
    ]  # fmt: skip
    results = [
        {"image_id": int(image), "category_id": place[name], "bbox": xywh(box), "score": score}
        for image, name, box, score in found
    ]
    images = sorted({int(each[0]) for each in [*truth, *found]} | {900})
    return {
        "images": [{"id": image} for image in images],
        "categories": [{"id": number, "name": name} for name, number in place.items()],
        "annotations": annotations,
    }, results


def check(result, truth, found, least=0.5, border=0, points=False):
    """Every class is what the definition says."""
    aps = []
    for name, own in result.per_class.items():
        wanted = oracle.evaluate_class(truth, found, name, least, border, points)
        assert own.ground_truths == wanted.n_truth
        assert own.detections == sum(each[1] == name for each in found)
        assert own.difficult == sum(each[1] == name and each[3] for each in truth)
        assert own.detections - own.ignored == len(wanted.hits)
        ratios = [hits / rank for hits, rank in zip(wanted.hits, wanted.ranks, strict=True)]
        assert own.precision.tolist() == ratios
        assert own.true_positives == (wanted.hits[-1] if wanted.hits else 0)
        if wanted.ap is None:
            assert math.isnan(own.ap)
            assert np.isnan(own.recall).all()
            assert name in result.undefined
        else:
            assert own.recall.tolist() == [hits / wanted.n_truth for hits in wanted.hits]
            assert math.isclose(own.ap, wanted.ap, rel_tol=1e-15)
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
def test_the_definition(case, least, points, pixels, scale):
    """Corners are compared as they are, not made of a size: an overlap that is the threshold is enough."""
    case = [[(*own[:2], [scale * x for x in own[2]], own[3]) for own in rows] for rows in case]
    options = {"iou_threshold": least, "interpolation": "voc11" if points else "area", "pixel_boxes": pixels}
    check(fm.voc_map(*columns(*case), **options), *case, least, int(pixels), points)


@given(CASES)
@pytest.mark.filterwarnings("ignore:voc_map is undefined")
def test_difficult_objects_that_count(case):
    truth, found = case
    plain = [(*own, False) for *own, _ in truth]
    check(fm.voc_map(*columns(truth, found), difficult="count"), plain, found)


@pytest.mark.parametrize("flag", ["difficult", "ignore", "iscrowd"])
def test_coco_form(flag, tmp_path):
    case = make(3)
    truth, found = coco_form(*case, flag)
    wanted = fm.voc_map(*columns(*case))
    result = fm.voc_map(truth, found)
    assert list(result.per_class) == list(CLASSES)
    assert result.undefined == {"nothing": "no ground truth"}
    assert result.coverage["images"] == len(truth["images"])
    assert result.map == wanted.map
    check(result, *case)
    for name, data in (("truth.json", truth), ("found.json", found)):
        (tmp_path / name).write_text(json.dumps(data), encoding="utf-8")
    read = fm.voc_map(tmp_path / "truth.json", str(tmp_path / "found.json"))
    assert str(read.to_dict()) == str(result.to_dict())


@pytest.mark.parametrize("area", [None, float("nan"), "large"])
def test_areas_of_objects_are_not_looked_at(area, tmp_path):
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
    """3 of 10 objects reach a recall of 0.3, which a rounded 3 * 0.1 would not be."""
    box = [[0.0, 0.0, 4.0, 4.0]]
    truth = {"image": np.arange(10), "category": ["a"] * 10, "box": box * 10}
    found = {"image": np.arange(3), "category": ["a"] * 3, "box": box * 3, "score": [3, 2, 1]}
    assert fm.voc_map(truth, found, interpolation="voc11").map == 4 / 11


def test_an_overlap_equal_to_the_threshold_is_enough():
    truth = {"image": [1], "category": ["a"], "box": [[0, 0, 10, 10]]}
    found = {"image": [1], "category": ["a"], "box": [[0, 0, 10, 5]], "score": [1]}
    assert fm.voc_map(truth, found).map == 1
    assert fm.voc_map(truth, found, iou_threshold=math.nextafter(0.5, 1)).map == 0


def test_the_most_overlapped_object_not_the_free_one():
    truth = {"image": [1, 1], "category": ["a"] * 2, "box": [[0, 0, 10, 10], [0, 0, 10, 8]]}
    found = {"image": [1, 1], "category": ["a"] * 2, "box": [[0, 0, 10, 10], [0, 0, 10, 10]], "score": [2, 1]}
    own = fm.voc_map(truth, found).per_class["a"]
    assert own.precision.tolist() == [1.0, 0.5]
    assert own.ap == 0.5


def test_pixels_that_belong_to_the_box():
    """Two pixels of three: 2/3 by pixels, 1/2 by lengths."""
    truth = {"image": [1], "category": ["a"], "box": [[1, 1, 3, 1]]}
    found = {"image": [1], "category": ["a"], "box": [[1, 1, 2, 1]], "score": [1]}
    assert fm.voc_map(truth, found, pixel_boxes=True, iou_threshold=2 / 3).map == 1
    assert fm.voc_map(truth, found).map == 0


def rearranged(table, order):
    return {name: values[order] for name, values in table.items()}


def test_order_and_threads():
    """With scores that are all different no order matters, and threads never do."""
    truth, found = columns(*make(11, 4000, 70_000, 300, 200, 10**9))
    found["score"] = np.random.default_rng(1).permutation(len(found["score"])) / 7
    result = fm.voc_map(truth, found)
    rng = np.random.default_rng(0)
    shuffled = [rearranged(table, rng.permutation(len(table["image"]))) for table in (truth, found)]
    for own in (fm.voc_map(truth, found, n_threads=1), fm.voc_map(truth, found, n_threads=3), fm.voc_map(*shuffled)):
        assert own.to_dict() == result.to_dict()
        for name, each in result.per_class.items():
            assert all(np.array_equal(a, b) for a, b in zip(each[1:4], own.per_class[name][1:4], strict=True))


def test_no_detections_and_no_objects():
    truth, found = columns(*make(5))
    nothing = rearranged(found, slice(0, 0))
    result = fm.voc_map(truth, nothing)
    assert result.map == 0
    assert {own.ap for own in result.per_class.values()} == {0.0}
    assert fm.voc_map(truth, []).to_dict() == result.to_dict()
    with pytest.warns(fm.UndefinedMetricWarning, match="no class has ground truth"):
        result = fm.voc_map(rearranged(truth, slice(0, 0)), found)
    assert math.isnan(result.map)
    assert set(result.undefined) == set(found["category"].tolist())
    assert result.coverage["categories_with_ground_truth"] == 0
    assert "nan" in repr(result)


def test_a_class_of_difficult_objects_is_undefined():
    truth = {"image": [1, 1], "category": ["a", "b"], "box": [[0, 0, 4, 4]] * 2, "difficult": [1, 0]}
    found = {"image": [1, 1], "category": ["a", "b"], "box": [[0, 0, 4, 4]] * 2, "score": [1, 1]}
    result = fm.voc_map(truth, found)
    assert result.undefined == {"a": "all of its objects are difficult"}
    assert result.map == 1
    assert result.per_class["a"].ignored == 1
    assert fm.voc_map(truth, found, difficult="count").undefined == {}


def test_some_classes_and_some_images():
    truth, found = make(8)
    result = fm.voc_map(*columns(truth, found), categories=["motor_bike", "car"])
    assert list(result.per_class) == ["motor_bike", "car"]
    check(result, truth, found)
    images = ["000001", "000003", "000777"]
    result = fm.voc_map(*columns(truth, found), images=images)
    truth, found = ([own for own in rows if own[0] in images] for rows in (truth, found))
    check(result, truth, found)
    assert result.coverage["images"] == 3
    with pytest.raises(ValueError, match="images has 77, of which ground_truth knows nothing"):
        fm.voc_map(*coco_form(truth, found), images=np.array([1, 77]))


def test_what_a_result_says():
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


def write_voc(folder, truth, found, prefix="comp4_det_test_"):
    """A folder of annotations and one of results; image 000900 has no object."""
    (folder / "VOC" / "Annotations").mkdir(parents=True)
    (folder / "results").mkdir()
    for image in {own[0] for own in [*truth, *found]} | {"000900"}:
        root = ElementTree.Element("annotation")
        for _, name, box, difficult in (own for own in truth if own[0] == image):
            each = ElementTree.SubElement(root, "object")
            ElementTree.SubElement(each, "name").text = name
            ElementTree.SubElement(each, "difficult").text = str(int(difficult))
            inner = ElementTree.SubElement(each, "bndbox")
            for corner, value in zip(("xmin", "ymin", "xmax", "ymax"), box, strict=True):
                ElementTree.SubElement(inner, corner).text = str(int(value))
        ElementTree.ElementTree(root).write(folder / "VOC" / "Annotations" / f"{image}.xml")
    for name in CLASSES:
        lines = [f"{image} {score} {' '.join(map(str, box))}\n" for image, own, box, score in found if own == name]
        (folder / "results" / f"{prefix}{name}.txt").write_text("".join(lines), encoding="utf-8")


@pytest.fixture
def devkit(tmp_path):
    truth, found = make(21)
    # Files are read class by class: only inside one the order of equal scores is kept.
    write_voc(tmp_path, truth, found)
    return tmp_path, truth, found


def test_folders_of_the_devkit(devkit):
    folder, truth, found = devkit
    result = fm.voc_map(folder / "VOC", folder / "results")
    check(result, truth, found, border=1)
    assert result.coverage["images"] == len({own[0] for own in [*truth, *found]}) + 1
    assert "pixel_boxes:yes" in result.signature
    for place in ("{}", "{class}"):
        paths = f"{folder}/results/comp4_det_test_{place}.txt"
        assert fm.voc_map(str(folder / "VOC" / "Annotations"), paths).to_dict() == result.to_dict()
    lengths = fm.voc_map(folder / "VOC", folder / "results", pixel_boxes=False)
    check(lengths, truth, found)


def test_an_image_set(devkit):
    folder, truth, found = devkit
    (folder / "test.txt").write_text("000001  1\n000002 -1\n\n")
    result = fm.voc_map(folder / "VOC", folder / "results", images=folder / "test.txt")
    truth, found = ([own for own in rows if own[0] in ("000001", "000002")] for rows in (truth, found))
    check(result, truth, found, border=1)
    assert result.coverage["images"] == 2


def test_columns_beside_files(devkit):
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
    with pytest.raises(ValueError, match=re.escape(message)):
        fm.voc_map(folder / "VOC", folder / "results")


def test_folders_without_files(tmp_path, devkit):
    folder, _, _ = devkit
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"has no annotations: files that end in \.xml"):
        fm.voc_map(tmp_path / "empty", folder / "results")
    with pytest.raises(ValueError, match=r"no result files, such as comp4_det_test_car\.txt"):
        fm.voc_map(folder / "VOC", tmp_path / "empty")


# ------------------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"interpolation": "voc07"}, "interpolation must be one of 'area', 'voc11'; found 'voc07'"),
        ({"iou_threshold": 0}, "iou_threshold must be above 0 and at most 1; found 0"),
        ({"iou_threshold": math.nan}, "iou_threshold must be above 0 and at most 1; found nan"),
        ({"iou_threshold": True}, "iou_threshold must be above 0 and at most 1; found True"),
        ({"iou_threshold": [0.5]}, "iou_threshold must be above 0 and at most 1; found [0.5]"),
        ({"difficult": True}, "difficult must be one of 'ignore', 'count'; found True"),
        ({"box": "yxyx"}, "box must be one of 'xyxy', 'xywh'; found 'yxyx'"),
        ({"box": "xywh", "pixel_boxes": True}, "pixel_boxes says how corners are meant"),
        ({"pixel_boxes": "yes"}, "pixel_boxes must be True or False; found 'yes'"),
        ({"categories": ["cars"]}, "categories has 'cars', which is no class of the data: 'car', 'dog'"),
        ({"categories": "car"}, "categories must be a list; found 'car'"),
        ({"categories": []}, "categories is empty: at least one is needed"),
        ({"categories": [["car"]]}, "categories has ['car']: ids are integers or text"),
        ({"images": 3}, "images must be a list; found 3"),
        ({"n_threads": 0}, "n_threads must be None or an integer of at least 1; found 0"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises((ValueError, TypeError)) as error:
        fm.voc_map(*columns(*make(1)), **options)
    assert message in str(error.value)
