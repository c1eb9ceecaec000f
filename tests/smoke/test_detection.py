"""Boxes and masks: two cups in one image, of which one is found exactly."""

import numpy as np
import pytest

import fastmetrics as fm

from .cases import Case, near, of_type, plain

pytestmark = pytest.mark.smoke

CUPS = {"image": [1, 1], "category": ["cup"] * 2, "box": [[0, 0, 10, 10], [20, 0, 10, 10]]}
FOUND = {"image": [1], "category": ["cup"], "score": [0.9], "box": [[0, 0, 10, 10]]}

# Precision is 1 up to a recall of 1/2: at 51 of COCO's 101 levels, at 6 of the eleven of VOC 2007.
COCO_AP, VOC_2010_AP, VOC_2007_AP = 51 / 101, 1 / 2, 6 / 11

MASKS = [np.array(rows, np.uint8) for rows in ([[1, 0], [1, 1]], [[1, 1], [0, 0]])]
COCO_FILE = {
    "images": [{"id": 1, "height": 10, "width": 30}],
    "categories": [{"id": 7, "name": "cup"}],
    "annotations": [
        {"id": number, "image_id": 1, "category_id": 7, "bbox": box, "area": 100, "iscrowd": 0}
        for number, box in enumerate(CUPS["box"], start=1)
    ],
}
COCO_FOUND = [{"image_id": 1, "category_id": 7, "bbox": [0, 0, 10, 10], "score": 0.9}]


def loaded(kind):
    coco = kind()
    coco.dataset = COCO_FILE
    coco.createIndex()
    return coco


def evaluated(kind):
    """The twelve numbers of a script written for pycocotools."""
    truth = loaded(fm.COCO)
    evaluation = kind(truth, truth.loadRes(COCO_FOUND), "bbox")
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    return evaluation.stats


CASES: list[Case] = [
    ("box_iou", lambda function: function([[0, 0, 2, 2]], [[1, 0, 3, 2], [5, 5, 6, 6]]), [[2 / 6, 0]]),
    ("coco_map", lambda function: function(CUPS, FOUND).map, near(COCO_AP)),
    ("CocoResult", lambda kind: of_type(kind, fm.coco_map(CUPS, FOUND)).mar_100, near(1 / 2)),
    ("CategoryTable", lambda kind: of_type(kind, fm.coco_map(CUPS, FOUND).per_class)["ap"], near([COCO_AP])),
    ("COCO", lambda kind: loaded(kind).getAnnIds(imgIds=[1]), [1, 2]),
    ("COCOeval", lambda kind: evaluated(kind)[0], near(COCO_AP)),
    ("voc_map", lambda function: function(CUPS, FOUND, box="xywh").map, VOC_2010_AP),
    ("voc_map", lambda function: function(CUPS, FOUND, box="xywh", interpolation="voc11").map, near(VOC_2007_AP)),
    ("VocResult", lambda kind: of_type(kind, fm.voc_map(CUPS, FOUND, box="xywh")).per_class["cup"].true_positives, 1),
    # Runs outside and inside by turns, down the columns: the first mask begins inside.
    (
        "encode_masks",
        lambda function: function(MASKS, compressed=False),
        [{"size": [2, 2], "counts": [0, 2, 1, 1]}, {"size": [2, 2], "counts": [0, 1, 1, 1, 1]}],
    ),
    ("decode_masks", lambda function: function(fm.encode_masks(MASKS))[0], [[1, 0], [1, 1]]),
    ("mask_areas", lambda function: function(MASKS), [3, 2]),
    # One pixel is in both, four are in either.
    ("mask_iou", lambda function: function(MASKS[:1], MASKS), [[1, 1 / 4]]),
]


@pytest.mark.parametrize(("name", "call", "expected"), CASES, ids=[name for name, *_ in CASES])
def test_value(name, call, expected):
    assert plain(call(getattr(fm, name))) == expected
