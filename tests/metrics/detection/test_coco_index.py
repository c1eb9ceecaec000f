"""COCO returns the same ids, objects and masks as pycocotools' COCO, for files, dicts and arrays."""

import contextlib
import copy
import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocotools import coco as peer

import fastmetrics as fm
from support.cases import assert_raises
from support.files.coco_data import data_sets, polygon, results


def without_output(work, *args):
    with contextlib.redirect_stdout(io.StringIO()):
        return work(*args)


def make_coco(kind, data):
    coco = kind()
    coco.dataset = copy.deepcopy(data)
    without_output(coco.createIndex)
    return coco


def make_both(data):
    return make_coco(fm.COCO, data), make_coco(peer.COCO, data)


@settings(max_examples=30)
@given(data=data_sets(), draw=st.data())
def test_ids_and_objects(data, draw):
    ours, theirs = make_both(data)
    images = draw.draw(st.lists(st.sampled_from([row["id"] for row in data["images"]]), max_size=3))
    categories = draw.draw(st.lists(st.sampled_from([*(row["id"] for row in data["categories"]), 555]), max_size=3))
    crowd = draw.draw(st.sampled_from([None, False, True, 0, 1]))
    area = draw.draw(st.sampled_from([[], [10, 1024], [0, float("inf")]]))
    for image in (images, images[:1], *images[:1]):
        assert ours.getAnnIds(image, categories, area, crowd) == theirs.getAnnIds(image, categories, area, crowd)
        assert ours.getImgIds(image, categories) == theirs.getImgIds(image, categories)
        assert ours.loadImgs(image) == theirs.loadImgs(image)
    names = [f"class {category}" for category in categories]
    assert ours.getCatIds(names) == theirs.getCatIds(names)
    assert ours.getCatIds("class 5", "thing") == theirs.getCatIds(["class 5"], ["thing"])
    assert ours.getCatIds(catIds=categories) == theirs.getCatIds(catIds=categories)
    ids = ours.getAnnIds()
    assert ours.loadAnns(ids) == theirs.loadAnns(ids)
    assert ours.loadAnns(ids[0] if ids else []) == theirs.loadAnns(ids[0] if ids else [])
    known = theirs.getCatIds()
    assert ours.loadCats(known) == theirs.loadCats(known)
    for name in ("anns", "imgs", "cats", "imgToAnns", "catToImgs"):
        assert getattr(ours, name) == getattr(theirs, name)


@settings(max_examples=30)
@given(data=data_sets(), draw=st.data())
def test_results(data, draw):
    ours, theirs = make_both(data)
    detections = draw.draw(results(data))
    form = draw.draw(st.sampled_from(["boxes", "masks", "keypoints", "both"]))
    coco = make_coco(peer.COCO, data)
    for row in detections:
        if form == "boxes":
            continue
        if form == "keypoints":
            x, y, width, height = row.pop("bbox")
            row["keypoints"] = [x, y, 2, x + width, y + height, 1]
            continue
        row["segmentation"] = [polygon(row["bbox"])]
        row["segmentation"] = coco.annToRLE(row)
        if form == "masks":
            del row["bbox"]
    ours_loaded, theirs_loaded = (without_output(each.loadRes, copy.deepcopy(detections)) for each in (ours, theirs))
    for one, other in zip(ours_loaded.dataset["annotations"], theirs_loaded.dataset["annotations"], strict=True):
        assert one.keys() == other.keys()
        for key, value in other.items():
            assert np.array_equal(one[key], value), key
    assert ours_loaded.dataset["images"] == theirs_loaded.dataset["images"]
    assert ours_loaded.dataset["categories"] == theirs_loaded.dataset["categories"]
    assert ours_loaded.getAnnIds() == theirs_loaded.getAnnIds()
    table = np.array([[row["image_id"], 1, 2, 3, 4, row["score"], row["category_id"]] for row in detections])
    ours_loaded, theirs_loaded = (without_output(each.loadRes, table).dataset["annotations"] for each in (ours, theirs))
    assert ours_loaded == theirs_loaded


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of pycocotools
@settings(max_examples=20)
@given(data=data_sets())
def test_masks(data):
    for number, row in enumerate(data["annotations"]):
        row["segmentation"] = [polygon(row["bbox"]), polygon([1, 2, 5, 9])][: 1 + number % 2]
    ours, theirs = make_both(data)
    for row in data["annotations"]:
        mask = theirs.annToMask(row)
        assert np.array_equal(ours.annToMask(row), mask)
        rle = ours.annToRLE(row)
        assert rle["size"] == theirs.annToRLE(row)["size"]
        assert rle["counts"] == theirs.annToRLE(row)["counts"].decode()
        for form in (rle, fm.encode_masks(mask[None], compressed=False)[0], theirs.annToRLE(row)):
            assert np.array_equal(ours.annToMask(row | {"segmentation": form}), mask)


DATA = {
    "info": {"year": 2017, "version": "1.0"},
    "images": [{"id": 1, "height": 9, "width": 9}, {"id": 5, "height": 9, "width": 9}],
    "categories": [{"id": 2, "name": "a"}],
    "annotations": [],
}
RESULT = {"image_id": 1, "category_id": 2, "bbox": [1, 1, 4, 4], "score": 0.5}


def test_info(capsys):
    fm.COCO(DATA).info()
    assert capsys.readouterr().out == "year: 2017\nversion: 1.0\n"


def test_files(tmp_path):
    path, other = tmp_path / "truth.json", tmp_path / "detections.json"
    path.write_text(json.dumps(DATA))
    other.write_text(json.dumps([RESULT] * 2))
    ours = fm.COCO(path)
    theirs = without_output(peer.COCO, path)
    assert ours.getImgIds() == theirs.getImgIds()
    assert ours.getCatIds() == theirs.getCatIds()
    assert ours.loadRes(str(other)).dataset == without_output(theirs.loadRes, str(other)).dataset
    assert (ours.dataset, ours.imgs) == (DATA, theirs.imgs)


def test_subclass_with_its_own_index(tmp_path):
    """The index of a subclass is created at once, as in pycocotools."""
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(DATA))

    class Panoptic(fm.COCO):
        def createIndex(self):  # noqa: N802 - pycocotools' name
            self.imgs = {row["id"]: "custom" for row in self.dataset["images"]}

    assert Panoptic(path).imgs == {1: "custom", 5: "custom"}


def test_empty_list_of_results():
    empty = fm.COCO(DATA).loadRes([])
    assert empty.anns == {}
    assert list(empty.imgs) == [1, 5]


@pytest.mark.parametrize("file", [1 << 20, [RESULT], b"no path".split()])
def test_argument_that_is_not_a_path(file):
    """open() would accept a number as a file descriptor."""
    assert_raises(TypeError, r"^annotation_file must be the path of .*; found (int|list)$", fm.COCO, file)


def test_results_that_are_not_dicts_with_image_id(tmp_path):
    path = tmp_path / "detections.json"
    for row, kind in (([1, 2], "a list"), ({"score": 1}, "no image_id")):
        path.write_text(json.dumps([RESULT, row]))
        for detections in ([RESULT, row], path):
            with pytest.raises(ValueError, match=f"^resFile must be a list of dicts .* found {kind} at result 1"):
                fm.COCO(DATA).loadRes(detections)


def test_invalid_files_and_results(tmp_path):
    path = tmp_path / "list.json"
    path.write_text("[]")
    assert_raises(ValueError, "holds no object with images and annotations, but a list", fm.COCO, path)
    path.write_text("[1, 2")
    assert_raises(ValueError, "is no JSON file", fm.COCO, path)
    coco = fm.COCO(DATA)
    assert_raises(ValueError, "result 1 is of image 3", coco.loadRes, [RESULT, RESULT | {"image_id": 3}])
    path.write_text(json.dumps([RESULT, RESULT | {"image_id": 3}]))
    assert_raises(ValueError, "result 1 is of image 3", coco.loadRes, path)
    assert_raises(ValueError, "found dict", coco.loadRes, {"annotations": []})
    assert_raises(ValueError, r"found shape \(2, 6\)", coco.loadRes, np.zeros((2, 6)))
    assert_raises(
        ValueError, "bad segmentation at result 0",
        coco.loadRes, [{"image_id": 1, "category_id": 2, "score": 1, "segmentation": {"size": [9, 9], "counts": [3]}}],
    )
