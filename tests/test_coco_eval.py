"""Scripts written for pycocotools, run with it and with our classes: all that they can look at is the same."""

import contextlib
import copy
import io
from typing import Any

import numpy as np
import pytest
from cocodata import data_sets, polygon, results
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocotools import coco as peer
from pycocotools import cocoeval as peer_evaluation

import fastmetrics as fm
from oracles import detection as oracle


class Script:
    """A peer's classes or ours, quiet, and what a run of `evaluate accumulate summarize` leaves."""

    def __init__(self, coco: Any, evaluation: Any) -> None:
        self.coco = coco
        self.evaluation = evaluation

    def open(self, data: dict[str, Any]) -> Any:
        coco = self.coco()
        coco.dataset = copy.deepcopy(data)
        with contextlib.redirect_stdout(io.StringIO()):
            coco.createIndex()
        return coco

    def load(self, coco: Any, found: Any) -> Any:
        with contextlib.redirect_stdout(io.StringIO()):
            return coco.loadRes(copy.deepcopy(found))

    def start(self, data: dict[str, Any], found: Any, iou_type: str = "bbox") -> Any:
        coco = self.open(data)
        return self.evaluation(coco, self.load(coco, found), iou_type)


PEER = Script(peer.COCO, peer_evaluation.COCOeval)
OURS = Script(fm.COCO, fm.COCOeval)
MIXED = Script(peer.COCO, fm.COCOeval)


def finish(evaluation: Any, summarize: bool = True) -> tuple[Any, str]:
    """The evaluation after all of its steps, and what the last one printed."""
    with contextlib.redirect_stdout(io.StringIO()):
        evaluation.evaluate()
        evaluation.accumulate()
    printed = io.StringIO()
    if summarize:
        with contextlib.redirect_stdout(printed):
            evaluation.summarize()
    return evaluation, printed.getvalue()


def same_images(one: Any, other: Any) -> None:
    assert len(one) == len(other)
    for mine, theirs in zip(one, other, strict=True):
        if theirs is None:
            assert mine is None
            continue
        assert list(mine) == list(theirs)
        for key, value in theirs.items():
            if isinstance(value, np.ndarray):
                assert mine[key].shape == value.shape, key
                assert np.array_equal(mine[key], value), key
            else:
                assert type(mine[key]) is type(value), key
                assert mine[key] == value, key


def same_results(one: Any, other: Any) -> None:
    assert one.eval["counts"] == other.eval["counts"]
    for key in ("precision", "recall", "scores"):
        assert one.eval[key].dtype == other.eval[key].dtype
        assert np.array_equal(one.eval[key], other.eval[key]), key


def same(one: Any, other: Any) -> None:
    """Everything there is to see of two finished evaluations."""
    (mine, my_lines), (theirs, their_lines) = one, other
    assert my_lines == their_lines
    same_results(mine, theirs)
    assert np.array_equal(mine.stats, theirs.stats)
    assert list(mine.ious) == list(theirs.ious)
    for key, value in theirs.ious.items():
        assert np.array_equal(mine.ious[key], value)
        assert isinstance(mine.ious[key], type(value))
    same_images(mine.evalImgs, theirs.evalImgs)
    for name in ("imgIds", "catIds", "maxDets", "areaRng", "areaRngLbl", "useCats", "iouType", "useSegm"):
        assert getattr(mine.params, name) == getattr(theirs.params, name), name


@st.composite
def cases(draw: Any, least: int = 1) -> tuple[dict[str, Any], Any]:
    data = draw(data_sets())
    return data, draw(results(data, least))


def with_masks(case: tuple[dict[str, Any], Any]) -> tuple[dict[str, Any], Any]:
    """Polygons for boxes."""
    data, found = case
    for row in [*data["annotations"], *found]:
        row["segmentation"] = [polygon(row["bbox"])]
    return data, found


def set_nothing(params: Any) -> None:
    pass


def set_subsets(params: Any) -> None:
    params.imgIds = params.imgIds[::-1][:2]
    params.catIds = params.catIds[1:] or params.catIds


def set_unknown(params: Any) -> None:
    params.imgIds = [*params.imgIds, 10**7]
    params.catIds = [0, *params.catIds, 555]


def set_proposals(params: Any) -> None:
    params.useCats = 0
    params.catIds = params.catIds[::-1]
    params.maxDets = [300, 100, 1000]


def set_lists(params: Any) -> None:
    params.iouThrs = np.array([0.5])
    params.recThrs = [0.1, 0.5, 0.9]
    params.maxDets = [1, 2, 3]


def set_ranges(params: Any) -> None:
    params.areaRng = [[0, 500], [100, 1024], (0, 1e10)]
    params.areaRngLbl = ["small", "medium", "all"]
    params.iouThrs = np.linspace(0.05, 1, 70)


SETTINGS = [set_nothing, set_subsets, set_unknown, set_proposals, set_lists, set_ranges]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.__name__)
@settings(max_examples=25)
@given(case=cases())
def test_everything(setting, case):
    finished = []
    for script in (PEER, OURS, MIXED):
        evaluation = script.start(*case)
        setting(evaluation.params)
        finished.append(finish(evaluation))
    same(finished[1], finished[0])
    same(finished[2], finished[0])


@settings(max_examples=25)
@given(case=cases())
def test_oracle(case):
    """The definition in plain Python says the same as pycocotools, and so do we."""
    data, _ = case
    rows = OURS.load(OURS.open(data), case[1]).dataset["annotations"]
    axes = oracle.Settings(sorted(row["id"] for row in data["images"]), sorted(row["id"] for row in data["categories"]))
    finished = [finish(script.start(*case))[0] for script in (PEER, OURS)]
    for (t, k, a, m), curve in oracle.curves(data["annotations"], rows, axes):
        for evaluation in finished:
            found = evaluation.eval
            assert found["recall"][t, k, a, m] == curve.recall
            if curve is not oracle.UNDEFINED:
                assert found["precision"][t, :, k, a, m].tolist() == curve.precision
                assert found["scores"][t, :, k, a, m].tolist() == curve.scores
    numbers = np.nan_to_num(oracle.twelve_numbers(data["annotations"], rows, axes), nan=-1)
    for evaluation in finished:
        assert np.allclose(evaluation.stats, numbers, rtol=0, atol=1e-12)
