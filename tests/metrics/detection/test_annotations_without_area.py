"""COCO's annotations without `area` have the area of their box, or of their mask where masks are compared."""

import json

import pytest

import fastmetrics as fm
from support.cases import each_case
from support.command_line import run

SIDES = [10, 40, 50, 100, 200]


def square(side):
    return [0, 0, side, 0, side, side, 0, side]


def truth(*, keep=(), as_text=False, drop_crowd=False):
    rows = []
    for number, side in enumerate(SIDES, start=1):
        row = {
            "id": number, "image_id": number, "category_id": 1, "bbox": [0, 0, side, side], "iscrowd": 0,
            "segmentation": [square(side)], "area": side * side,
        }  # fmt: skip
        if number not in keep:
            del row["area"]
        if drop_crowd:
            del row["iscrowd"]
        if as_text:
            row |= {"image_id": f"i{number}", "category_id": "cup"}
        rows.append(row)
    images = [{"id": f"i{n}" if as_text else n, "height": 300, "width": 300} for n in range(1, len(SIDES) + 1)]
    return {"images": images, "categories": [{"id": "cup" if as_text else 1, "name": "cup"}], "annotations": rows}


def found(iou_type, *, as_text=False):
    region = {"bbox": [0, 0, 40, 40]} if iou_type == "bbox" else {"segmentation": [square(40)]}
    return [{"image_id": "i2" if as_text else 2, "category_id": "cup" if as_text else 1, "score": 0.9, **region}]


def values(result):
    return result.map, result.map_small, result.map_medium, result.map_large


@each_case("iou_type", ["bbox", "segm"])
@each_case("keep", [(), (1, 3), (2,)])
@each_case("as_text", [False, True])
@each_case("drop_crowd", [False, True])
def test_the_area_is_computed(iou_type, keep, as_text, drop_crowd):
    whole = truth(keep=range(1, len(SIDES) + 1), as_text=as_text)
    detections = found(iou_type, as_text=as_text)
    wanted = values(fm.coco_map(whole, detections, iou_type=iou_type))
    assert wanted[2] > 0.3
    partly = truth(keep=keep, as_text=as_text, drop_crowd=drop_crowd)
    assert values(fm.coco_map(partly, detections, iou_type=iou_type)) == wanted


def test_a_given_area_is_used():
    given = truth(keep=(2,))
    given["annotations"][1]["area"] = 9.0  # small, as that of a mask may be
    assert fm.coco_map(given, found("bbox")).map_small > 0.3
    given["annotations"][1]["area"] = float("nan")
    with pytest.raises(ValueError, match=r"\[1\]\['area'\] is NaN"):
        fm.coco_map(given, found("bbox"))


def test_no_annotations():
    empty = truth() | {"annotations": []}
    with pytest.warns(fm.UndefinedMetricWarning):
        assert fm.coco_map(empty, found("bbox")).map != 0


def test_the_command_line(tmp_path):
    pytest.importorskip("typer")
    (tmp_path / "truth.json").write_text(json.dumps(truth()))
    (tmp_path / "found.json").write_text(json.dumps(found("bbox")))
    done = run("coco", "truth.json", "found.json", "--json", folder=tmp_path)
    (system,) = json.loads(done.stdout)["systems"]
    assert system["values"]["map"] == fm.coco_map(truth(), found("bbox")).map
