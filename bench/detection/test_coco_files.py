"""COCO's JSON files: read beside json.load, and evaluated from end to end beside pycocotools."""

import contextlib
import io
import json
from functools import partial

import numpy as np
import pytest

import fastmetrics as fm
from bench.detections import boxes_workload
from bench.race import at_least, count
from fastmetrics.metrics.detection.coco_files import read_json

IMAGES_OF_ROWS = 2000  # 10M rows of the other benches are 5000 images here: 36k objects, 500k detections


@pytest.fixture(scope="module")
def files(rows, tmp_path_factory):
    """Objects and detections, and how many of each."""
    folder = tmp_path_factory.mktemp("coco")
    workload = boxes_workload(max(50, rows // IMAGES_OF_ROWS))
    for name, content in (("truth.json", workload.truth), ("found.json", workload.found)):
        (folder / name).write_text(json.dumps(content))
    return folder / "truth.json", folder / "found.json", len(workload.truth["annotations"]), len(workload.found)


def by_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def same_columns(records, rows):
    for name in ("image_id", "category_id", "bbox", "score", "area"):
        if name in rows[0]:
            assert np.array_equal(records.column(name), np.array([row[name] for row in rows]))


def test_read_detections(race, files):
    path = files[1]
    same_columns(read_json(path, "detections"), by_json(path))
    work = f"a JSON file of {count(files[3])} detections, read into columns"
    race.against(work, partial(read_json, path, "detections"), "json.load", partial(by_json, path), within=None)


def test_read_objects(race, files):
    path = files[0]
    same_columns(read_json(path, "truth")["annotations"], by_json(path)["annotations"])
    work = f"a JSON file of {count(files[2])} objects, read into columns"
    race.against(work, partial(read_json, path, "truth"), "json.load", partial(by_json, path), within=None)


def evaluated(coco_class, eval_class, truth, found):
    """A script as yolov5 has it, from two files to twelve numbers."""
    with contextlib.redirect_stdout(io.StringIO()):
        coco = coco_class(str(truth))
        evaluation = eval_class(coco, coco.loadRes(str(found)), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return evaluation.stats


def test_script(race, files):
    coco = pytest.importorskip("pycocotools.coco")
    evaluation = pytest.importorskip("pycocotools.cocoeval")
    theirs = partial(evaluated, coco.COCO, evaluation.COCOeval, *files[:2])
    ours = partial(evaluated, fm.COCO, fm.COCOeval, *files[:2])
    work = f"`COCOeval`, from two files of {count(files[2])} objects and {count(files[3])} detections"
    race.against(work, ours, "pycocotools", theirs, within=0, rounds=1, target=at_least(10))
