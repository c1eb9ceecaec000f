"""COCO's evaluation of boxes, compared with pycocotools and faster-coco-eval. Reading files is not timed.

The peers start with their COCO objects (the index exists, and results are loaded). This package starts with the dicts.
"""

import contextlib
import copy
import io
from functools import partial

import numpy as np
import pytest

import fastmetrics as fm
from bench.detections import as_columns, boxes_workload
from bench.timing import format_count

IMAGES_OF_ROWS = 2000  # 10M rows of the other benches are 5000 images here: 36k objects, 500k detections


@pytest.fixture(scope="module")
def workload(rows):
    return boxes_workload(max(50, rows // IMAGES_OF_ROWS))


def loaded(workload, coco_class):
    """The COCO objects of a library, for the ground truth and the results."""
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
    images, detections = (format_count(len(rows)) for rows in (workload.truth["images"], workload.found))
    return f"`coco_map`, {images} images, {detections} detections, {what}"


def test_dicts(timing, workload):
    theirs = with_pycocotools(workload)
    work = work_of(workload, "dicts")
    timing.compare(work, partial(ours, *workload), "pycocotools", theirs, within=0, rounds=1)


def test_dicts_beside_faster(timing, workload):
    theirs = with_faster_coco_eval(workload)
    work = work_of(workload, "dicts")
    timing.compare(work, partial(ours, *workload), "faster-coco-eval", theirs, within=1e-12)


def test_one_thread(timing, workload):
    theirs = with_faster_coco_eval(workload)
    work = work_of(workload, "dicts, one thread of ours")
    timing.compare(work, partial(ours, *workload, n_threads=1), "faster-coco-eval", theirs, within=1e-12)


def test_columns(timing, workload):
    theirs = with_faster_coco_eval(workload)
    columns = [as_columns(workload.truth["annotations"]), as_columns(workload.found)]
    work = work_of(workload, "arrays")
    timing.compare(work, partial(ours, *columns), "faster-coco-eval", theirs, within=1e-12)
