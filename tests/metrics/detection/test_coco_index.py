"""COCO beside pycocotools': the same ids, objects and masks, from files, dicts and arrays."""

import contextlib
import copy
import io
import json

import numpy as np
import pytest
from coco_data import data_sets, polygon, results
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocotools import coco as peer

import fastmetrics as fm


def quiet(work, *args):
    with contextlib.redirect_stdout(io.StringIO()):
        return work(*args)


def opened(kind, data):
    coco = kind()
    coco.dataset = copy.deepcopy(data)
    quiet(coco.createIndex)
    return coco


def pair(data):
    return opened(fm.COCO, data), opened(peer.COCO, data)


IDS = st.one_of(st.integers(1, 99), st.lists(st.integers(1, 99), max_size=3))


@settings(max_examples=30)
@given(data=data_sets(), draw=st.data())
def test_ids(data, draw):
    ours, theirs = pair(data)
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
    ours, theirs = pair(data)
    found = draw.draw(results(data))
    form = draw.draw(st.sampled_from(["boxes", "masks", "keypoints", "both"]))
    coco = opened(peer.COCO, data)
    for row in found:
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
    mine, wanted = (quiet(each.loadRes, copy.deepcopy(found)) for each in (ours, theirs))
    for one, other in zip(mine.dataset["annotations"], wanted.dataset["annotations"], strict=True):
        assert one.keys() == other.keys()
        for key, value in other.items():
            assert np.array_equal(one[key], value), key
    assert mine.dataset["images"] == wanted.dataset["images"]
    assert mine.dataset["categories"] == wanted.dataset["categories"]
    assert mine.getAnnIds() == wanted.getAnnIds()
    table = np.array([[row["image_id"], 1, 2, 3, 4, row["score"], row["category_id"]] for row in found])
    mine, wanted = (quiet(each.loadRes, table).dataset["annotations"] for each in (ours, theirs))
    assert mine == wanted


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of pycocotools
@settings(max_examples=20)
@given(data=data_sets())
def test_masks(data):
    for number, row in enumerate(data["annotations"]):
        row["segmentation"] = [polygon(row["bbox"]), polygon([1, 2, 5, 9])][: 1 + number % 2]
    ours, theirs = pair(data)
    for row in data["annotations"]:
        mask = theirs.annToMask(row)
        assert np.array_equal(ours.annToMask(row), mask)
        rle = ours.annToRLE(row)
        assert rle["size"] == theirs.annToRLE(row)["size"]
        assert rle["counts"] == theirs.annToRLE(row)["counts"].decode()
        counts = fm.encode_masks(mask[None], compressed=False)[0]
        for form in (rle, counts, theirs.annToRLE(row)):
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
    path, other = tmp_path / "truth.json", tmp_path / "found.json"
    path.write_text(json.dumps(DATA))
    other.write_text(json.dumps([RESULT] * 2))
    ours = fm.COCO(path)
    theirs = quiet(peer.COCO, path)
    assert ours.getImgIds() == theirs.getImgIds()
    assert ours.getCatIds() == theirs.getCatIds()
    assert ours.loadRes(str(other)).dataset == quiet(theirs.loadRes, str(other)).dataset
    assert ours.dataset == DATA
    assert ours.imgs == theirs.imgs


def test_own_index(tmp_path):
    """A subclass that indexes in its own way is asked at once, as pycocotools does."""
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(DATA))

    class Panoptic(fm.COCO):
        def createIndex(self):  # noqa: N802 - pycocotools' name
            self.imgs = {row["id"]: "own" for row in self.dataset["images"]}

    assert Panoptic(path).imgs == {1: "own", 5: "own"}


def test_no_results():
    empty = fm.COCO(DATA).loadRes([])
    assert empty.anns == {}
    assert list(empty.imgs) == [1, 5]


@pytest.mark.parametrize("file", [1 << 20, [RESULT], b"no path".split()])
def test_what_is_no_file(file):
    """A number would be read as an open file's."""
    with pytest.raises(TypeError, match=r"^annotation_file must be the path of .*; found (int|list)$"):
        fm.COCO(file)


def test_what_is_no_result(tmp_path):
    path = tmp_path / "found.json"
    for row, shown in (([1, 2], "a list"), ({"score": 1}, "no image_id")):
        path.write_text(json.dumps([RESULT, row]))
        for found in ([RESULT, row], path):
            with pytest.raises(ValueError, match=f"^resFile must be a list of dicts .* found {shown} at result 1"):
                fm.COCO(DATA).loadRes(found)


def test_what_is_refused(tmp_path):
    path = tmp_path / "list.json"
    path.write_text("[]")
    with pytest.raises(ValueError, match="holds no object with images and annotations, but a list"):
        fm.COCO(path)
    path.write_text("[1, 2")
    with pytest.raises(ValueError, match="is no JSON file"):
        fm.COCO(path)
    coco = fm.COCO(DATA)
    with pytest.raises(ValueError, match="result 1 is of image 3"):
        coco.loadRes([RESULT, RESULT | {"image_id": 3}])
    path.write_text(json.dumps([RESULT, RESULT | {"image_id": 3}]))
    with pytest.raises(ValueError, match="result 1 is of image 3"):
        coco.loadRes(path)
    with pytest.raises(ValueError, match="found dict"):
        coco.loadRes({"annotations": []})
    with pytest.raises(ValueError, match=r"found shape \(2, 6\)"):
        coco.loadRes(np.zeros((2, 6)))
    with pytest.raises(ValueError, match="bad segmentation at result 0"):
        coco.loadRes([{"image_id": 1, "category_id": 2, "score": 1, "segmentation": {"size": [9, 9], "counts": [3]}}])
