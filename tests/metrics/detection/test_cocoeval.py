"""Scripts for pycocotools, run with its classes and with ours: all results that a script can read are equal."""

import contextlib
import copy
import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocotools import coco as peer
from pycocotools import cocoeval as peer_evaluation

import fastmetrics as fm
from oracles.detection import detection as oracle
from support.cases import assert_raises, each_case
from support.files.coco_data import data_sets, polygon, results


class Script:
    """COCO and COCOeval of pycocotools or of this package, used without output."""

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


def run(evaluation: Any, summarize: bool = True) -> tuple[Any, str]:
    """Run all steps. Return the evaluation and the output of summarize."""
    with contextlib.redirect_stdout(io.StringIO()):
        evaluation.evaluate()
        evaluation.accumulate()
    printed = io.StringIO()
    if summarize:
        with contextlib.redirect_stdout(printed):
            evaluation.summarize()
    return evaluation, printed.getvalue()


def assert_same_images(one: Any, other: Any) -> None:
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


def assert_same_arrays(one: Any, other: Any) -> None:
    assert one.eval["counts"] == other.eval["counts"]
    for key in ("precision", "recall", "scores"):
        assert one.eval[key].dtype == other.eval[key].dtype
        assert np.array_equal(one.eval[key], other.eval[key]), key


def assert_same(one: Any, other: Any) -> None:
    """Assert that all results of two finished evaluations are equal."""
    (mine, my_lines), (theirs, their_lines) = one, other
    assert my_lines == their_lines
    assert_same_arrays(mine, theirs)
    assert np.array_equal(mine.stats, theirs.stats)
    assert list(mine.ious) == list(theirs.ious)
    for key, value in theirs.ious.items():
        assert np.array_equal(mine.ious[key], value)
        assert isinstance(mine.ious[key], type(value))
    assert_same_images(mine.evalImgs, theirs.evalImgs)
    for name in ("imgIds", "catIds", "maxDets", "areaRng", "areaRngLbl", "useCats", "iouType", "useSegm"):
        assert getattr(mine.params, name) == getattr(theirs.params, name), name


@st.composite
def cases(draw: Any, min_size: int = 1) -> tuple[dict[str, Any], Any]:
    data = draw(data_sets())
    return data, draw(results(data, min_size))


def with_masks(case: tuple[dict[str, Any], Any]) -> tuple[dict[str, Any], Any]:
    """The same case with polygons made from the boxes."""
    data, found = case
    for row in [*data["annotations"], *found]:
        row["segmentation"] = [polygon(row["bbox"])]
    return data, found


def use_defaults(params: Any) -> None:
    pass


def use_subsets(params: Any) -> None:
    params.imgIds = params.imgIds[::-1][:2]
    params.catIds = params.catIds[1:] or params.catIds


def use_unknown_ids(params: Any) -> None:
    params.imgIds = [*params.imgIds, 10**7]
    params.catIds = [0, *params.catIds, 555]


def use_proposals(params: Any) -> None:
    params.useCats = 0
    params.catIds = params.catIds[::-1]
    params.maxDets = [300, 100, 1000]


def use_short_lists(params: Any) -> None:
    params.iouThrs = np.array([0.5])
    params.recThrs = [0.1, 0.5, 0.9]
    params.maxDets = [1, 2, 3]


def use_other_ranges(params: Any) -> None:
    params.areaRng = [[0, 500], [100, 1024], (0, 1e10)]
    params.areaRngLbl = ["small", "medium", "all"]
    params.iouThrs = np.linspace(0.05, 1, 70)


SETTINGS = [use_defaults, use_subsets, use_unknown_ids, use_proposals, use_short_lists, use_other_ranges]


@each_case("setting", SETTINGS, ids=lambda setting: setting.__name__)
@settings(max_examples=12)
@given(case=cases())
def test_all_results(setting, case):
    evaluations = []
    for script in (PEER, OURS, MIXED):
        evaluation = script.start(*case)
        setting(evaluation.params)
        evaluations.append(run(evaluation))
    assert_same(evaluations[1], evaluations[0])
    assert_same(evaluations[2], evaluations[0])


@settings(max_examples=12)
@given(case=cases())
def test_matches_definition(case):
    """The definition in plain Python, pycocotools and this package give the same values."""
    data, _ = case
    rows = OURS.load(OURS.open(data), case[1]).dataset["annotations"]
    axes = oracle.Settings(sorted(row["id"] for row in data["images"]), sorted(row["id"] for row in data["categories"]))
    evaluations = [run(script.start(*case))[0] for script in (PEER, OURS)]
    for (t, k, a, m), curve in oracle.curves(data["annotations"], rows, axes):
        for evaluation in evaluations:
            arrays = evaluation.eval
            assert arrays["recall"][t, k, a, m] == curve.recall
            if curve is not oracle.UNDEFINED:
                assert arrays["precision"][t, :, k, a, m].tolist() == curve.precision
                assert arrays["scores"][t, :, k, a, m].tolist() == curve.scores
    numbers = np.nan_to_num(oracle.twelve_numbers(data["annotations"], rows, axes), nan=-1)
    for evaluation in evaluations:
        assert np.allclose(evaluation.stats, numbers, rtol=0, atol=1e-12)


@settings(max_examples=15)
@given(case=cases())
def test_masks(case):
    case = with_masks(case)
    evaluations = [run(script.start(*case, "segm")) for script in (PEER, OURS)]
    assert_same(evaluations[1], evaluations[0])


@settings(max_examples=15)
@given(case=cases())
def test_masks_without_boxes(case):
    """Results with RLE only, and with boxes only, whose masks are the boxes."""
    data, found = with_masks(case)
    coco = PEER.open(data)
    masks_only = [
        {key: row[key] for key in ("image_id", "category_id", "score")} | {"segmentation": {**rle, "counts": counts}}
        for row, rle in zip(found, [coco.annToRLE({**row}) for row in found], strict=True)
        for counts in [rle["counts"].decode()]
    ]
    boxes_only = [{key: value for key, value in row.items() if key != "segmentation"} for row in found]
    for case_results in (masks_only, boxes_only):
        evaluations = [run(script.start(data, case_results, "segm")) for script in (PEER, OURS)]
        assert_same(evaluations[1], evaluations[0])


@settings(max_examples=15)
@given(case=cases(), data=st.data())
def test_accumulate_again(case, data):
    """Other levels of recall and fewer detections do not need another call of evaluate."""
    evaluations = []
    recalls = data.draw(st.lists(st.floats(0, 1), min_size=1, max_size=5).map(sorted))
    for script in (PEER, OURS):
        evaluation = script.start(*case)
        evaluation.params.maxDets = [2, 5, 10]
        run(evaluation, summarize=False)
        params = copy.deepcopy(evaluation.params)
        params.recThrs, params.maxDets = recalls, [2, 5]
        with contextlib.redirect_stdout(io.StringIO()):
            evaluation.accumulate(params)
        evaluations.append(evaluation)
    assert_same_arrays(evaluations[1], evaluations[0])


@each_case("names", ["imgIds", "catIds", "areaRng", "imgIds catIds areaRng"])
@settings(max_examples=10)
@given(case=cases())
def test_subsets_after_evaluation(names, case):
    """Images and categories are found by value: the result is the same as if only these had been evaluated."""
    data, found = case
    whole, subset = OURS.start(data, found), OURS.start(data, found)
    run(whole, summarize=False)
    params = copy.deepcopy(whole.params)
    for each in (params, subset.params):
        for name in names.split():
            setattr(each, name, getattr(each, name)[1:] or getattr(each, name))
    whole.accumulate(params)
    run(subset, summarize=False)
    assert_same_arrays(whole, subset)
    # A category that was not evaluated is undefined.
    params.catIds, params.maxDets = [555, *params.catIds], [1, 7, 100]
    whole.accumulate(params)
    assert (whole.eval["precision"][:, :, 0] == -1).all()
    assert (whole.eval["recall"][..., 1] == -1).all()
    assert np.array_equal(whole.eval["recall"][:, 1:, :, [0, 2]], subset.eval["recall"][..., [0, 2]])


@settings(max_examples=10)
@given(case=cases(), data=st.data())
def test_eval_imgs_that_callers_change(case, data):
    """accumulate reads a changed evalImgs: here detections are ignored at some thresholds only."""
    evaluations = []
    n_thresholds = data.draw(st.sampled_from([1, 3, 70]))
    seed = data.draw(st.integers(0, 99))
    for script in (PEER, OURS):
        evaluation = script.start(*case)
        evaluation.params.iouThrs = np.linspace(0.1, 0.9, n_thresholds)
        with contextlib.redirect_stdout(io.StringIO()):
            evaluation.evaluate()
            for number, row in enumerate(evaluation.evalImgs):
                if row is not None:
                    shape = row["dtIgnore"].shape
                    row["dtIgnore"] = np.random.default_rng([seed, number]).random(shape) < 0.5
            evaluation.accumulate()
        evaluations.append(evaluation)
    assert_same_arrays(evaluations[1], evaluations[0])


@settings(max_examples=15)
@given(case=cases())
def test_order_of_images_does_not_matter(case):
    """The order of images and of categories does not matter."""
    data, found = case
    reversed_data = data | {"images": data["images"][::-1], "categories": data["categories"][::-1]}
    assert_same(run(OURS.start(reversed_data, found)), run(OURS.start(data, found)))


def test_invalid_parameters_and_order_of_calls():
    assert_raises(NotImplementedError, "keypoints", fm.COCOeval, iouType="keypoints")
    assert_raises(ValueError, "iouType not supported: 'box'", fm.COCOeval, iouType="box")
    evaluation = fm.COCOeval(iouType="bbox")
    for step in (evaluation.accumulate, evaluation.summarize):
        assert_raises(RuntimeError, "Please run", step)
    assert_raises(ValueError, "cocoGt is None", evaluation.evaluate)


DATA = {
    "images": [{"id": 1, "height": 9, "width": 9}],
    "categories": [{"id": 2, "name": "a"}],
    "annotations": [{"id": 1, "image_id": 1, "category_id": 2, "bbox": [1, 1, 4, 4], "area": 16, "iscrowd": 0}],
}
RESULT = {"image_id": 1, "category_id": 2, "bbox": [1, 1, 4, 4], "score": 0.5}


def test_use_segm():
    """useSegm, the older form of iouType."""
    evaluations = []
    for script in (PEER, OURS):
        evaluation = script.start(DATA, [RESULT], "segm")
        evaluation.params.useSegm = 0
        evaluations.append(run(evaluation))
    assert_same(evaluations[1], evaluations[0])
    assert evaluations[1][0].params.iouType == "bbox"


@each_case(
    ("truth", "result", "message"),
    [
        ({}, {"score": float("nan")}, "cocoDt has NaN in score at annotation 0"),
        ({}, {"bbox": [1, float("nan"), 2, 3]}, "cocoDt has NaN in bbox at annotation 0"),
        ({"bbox": [1, 1, float("nan"), 1]}, {}, "cocoGt has NaN in bbox at annotation 0"),
        ({}, {"score": None}, "cocoDt has no score at annotation 0"),
        ({"area": None}, {}, "cocoGt has no area at annotation 0"),
        ({"bbox": None}, {}, "cocoGt has no bbox at annotation 0"),
        ({"area": "large"}, {}, r"cocoGt\[0\]\['area'\] must be a number; found 'large'"),
    ],
    ids=["nan score", "nan box", "nan truth", "no score", "no area", "no box", "text"],
)
def test_bad_rows(truth, result, message):
    def changed(row, changes):
        return {key: value for key, value in (row | changes).items() if value is not None}

    data = DATA | {"annotations": [changed(DATA["annotations"][0], truth)]}
    assert_raises(ValueError, message, OURS.start(data, [changed(RESULT, result)]).evaluate)


@pytest.mark.parametrize("given", [False, True])
def test_objects_without_masks(given):
    """Only a result gets the mask of its box. An object without a mask is an error, as in pycocotools."""
    row = {key: value for key, value in DATA["annotations"][0].items() if key != "segmentation"}
    data = DATA | {"annotations": [row | ({"segmentation": None} if given else {})]}
    with pytest.raises((KeyError, TypeError)):
        PEER.start(data, [RESULT], "segm").evaluate()
    message = "^cocoGt, annotation 0: .* found None" if given else "^cocoGt has no segmentation at annotation 0"
    assert_raises(ValueError, message, OURS.start(data, [RESULT], "segm").evaluate)


def test_thresholds_that_change_after_evaluation():
    evaluation, _ = run(OURS.start(DATA, [RESULT]))
    evaluation.params.iouThrs = [0.5]
    assert_raises(ValueError, "call evaluate", evaluation.accumulate)


def test_eval_imgs_with_missing_images():
    evaluation, _ = run(OURS.start(DATA, [RESULT]))
    evaluation.evalImgs = evaluation.evalImgs[1:]
    assert_raises(
        ValueError, "evalImgs has 3 elements, but 1 categories x 4 area ranges x 1 images", evaluation.accumulate
    )
