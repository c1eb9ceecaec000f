"""COCO's JSON files: reading, and whole evaluations, compared with other readers of JSON and with pycocotools."""

import contextlib
import io
import json
from functools import partial

import numpy as np
import pytest

import fastmetrics as fm
from bench.detections import boxes_workload
from bench.timing import format_count
from fastmetrics.metrics.detection.coco.json_files import read_json

IMAGES_OF_ROWS = 2000  # 10M rows of the other benches are 5000 images here: 36k objects, 500k detections


@pytest.fixture(scope="module")
def files(rows, tmp_path_factory):
    """The paths of objects and detections, and the number of each."""
    folder = tmp_path_factory.mktemp("coco")
    workload = boxes_workload(max(50, rows // IMAGES_OF_ROWS))
    for name, content in (("truth.json", workload.truth), ("found.json", workload.found)):
        (folder / name).write_text(json.dumps(content))
    return folder / "truth.json", folder / "found.json", len(workload.truth["annotations"]), len(workload.found)


def load_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def assert_same_columns(records, rows):
    for name in ("image_id", "category_id", "bbox", "score", "area"):
        if name in rows[0]:
            assert np.array_equal(records.column(name), np.array([row[name] for row in rows]))


def test_read_detections(timing, files):
    path = files[1]
    assert_same_columns(read_json(path, "detections"), load_json(path))
    work = f"a JSON file of {format_count(files[3])} detections, read into columns"
    timing.compare(work, partial(read_json, path, "detections"), "json.load", partial(load_json, path), within=None)


def test_read_objects(timing, files):
    path = files[0]
    assert_same_columns(read_json(path, "truth")["annotations"], load_json(path)["annotations"])
    work = f"a JSON file of {format_count(files[2])} objects, read into columns"
    timing.compare(work, partial(read_json, path, "truth"), "json.load", partial(load_json, path), within=None)


@pytest.mark.parametrize("reader", ["json", "orjson"])
def test_coco_map(timing, files, reader):
    """What the scanner of JSON buys for a whole evaluation, from two files to the mean average precision."""
    loads = pytest.importorskip(reader).loads

    def theirs():
        return fm.coco_map(*(loads(path.read_bytes()) for path in files[:2])).map

    work = f"`coco_map`, from two files of {format_count(files[2])} objects and {format_count(files[3])} detections"
    peer = f"`{reader}.loads`, then `coco_map`"
    timing.compare(work, lambda: fm.coco_map(*files[:2]).map, peer, theirs, within=0)


def run_script(coco_class, eval_class, truth, found):
    """yolov5's script: from two files to twelve numbers."""
    with contextlib.redirect_stdout(io.StringIO()):
        coco = coco_class(str(truth))
        evaluation = eval_class(coco, coco.loadRes(str(found)), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return evaluation.stats


def test_script(timing, files):
    coco = pytest.importorskip("pycocotools.coco")
    evaluation = pytest.importorskip("pycocotools.cocoeval")
    theirs = partial(run_script, coco.COCO, evaluation.COCOeval, *files[:2])
    ours = partial(run_script, fm.COCO, fm.COCOeval, *files[:2])
    work = f"`COCOeval`, from two files of {format_count(files[2])} objects and {format_count(files[3])} detections"
    timing.compare(work, ours, "pycocotools", theirs, within=0, rounds=1)
