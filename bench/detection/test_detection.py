"""COCO's evaluation of boxes beside pycocotools and faster-coco-eval, from what json.load gives: files are read before.

The peers begin where their COCO objects are made (their index, and results loaded); ours begins with the dicts.
"""

import contextlib
import copy
import io
from functools import partial

import numpy as np
import pytest

import fastmetrics as fm
from bench.detections import as_columns, boxes_workload
from bench.race import at_least, count

IMAGES_OF_ROWS = 2000  # 10M rows of the other benches are 5000 images here: 36k objects, 500k detections


@pytest.fixture(scope="module")
def workload(rows):
    return boxes_workload(max(50, rows // IMAGES_OF_ROWS))


def loaded(workload, coco_class):
    """A library's objects of the ground truth and the results."""
    with contextlib.redirect_stdout(io.StringIO()):
        truth = coco_class()
        truth.dataset = copy.deepcopy(workload.truth)
        truth.createIndex()
        return truth, truth.loadRes(copy.deepcopy(workload.found))


def run_evaluation(eval_class, objects):
    with contextlib.redirect_stdout(io.StringIO()):
        evaluation = eval_class(*objects, "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return np.asarray(evaluation.stats)[:12]


def ours(truth, found, **options):
    return fm.coco_map(truth, found, **options).stats


def with_pycocotools(workload):
    module = pytest.importorskip("pycocotools.cocoeval")
    return partial(run_evaluation, module.COCOeval, loaded(workload, pytest.importorskip("pycocotools.coco").COCO))


def with_faster_coco_eval(workload):
    module = pytest.importorskip("faster_coco_eval")
    return partial(run_evaluation, module.COCOeval_faster, loaded(workload, module.COCO))


def work_of(workload, what):
    return f"`coco_map`, {count(len(workload.truth['images']))} images, {count(len(workload.found))} detections, {what}"


def test_dicts(race, workload):
    theirs = with_pycocotools(workload)
    work = work_of(workload, "dicts")
    race.against(work, partial(ours, *workload), "pycocotools", theirs, within=0, rounds=1, target=at_least(10))


def test_dicts_beside_faster(race, workload):
    theirs = with_faster_coco_eval(workload)
    work = work_of(workload, "dicts")
    race.against(work, partial(ours, *workload), "faster-coco-eval", theirs, within=1e-12, target=at_least(2))


def test_one_thread(race, workload):
    theirs = with_faster_coco_eval(workload)
    work = work_of(workload, "dicts, one thread of ours")
    race.against(work, partial(ours, *workload, n_threads=1), "faster-coco-eval", theirs, within=1e-12)


def test_columns(race, workload):
    theirs = with_faster_coco_eval(workload)
    columns = [as_columns(workload.truth["annotations"]), as_columns(workload.found)]
    work = work_of(workload, "arrays")
    race.against(work, partial(ours, *columns), "faster-coco-eval", theirs, within=1e-12)
