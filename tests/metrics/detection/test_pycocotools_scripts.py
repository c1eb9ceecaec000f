"""Well-known evaluators' use of pycocotools, each in a few lines: its classes and ours give the same numbers."""

import contextlib
import copy
import io
import json
import pickle
from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pycocotools import coco as peer
from pycocotools import cocoeval as peer_evaluation

import fastmetrics as fm
from support.cases import each_case
from support.files.coco_data import HEIGHT, WIDTH, polygon

PEER = SimpleNamespace(COCO=peer.COCO, COCOeval=peer_evaluation.COCOeval)
OURS = SimpleNamespace(COCO=fm.COCO, COCOeval=fm.COCOeval)

N_IMAGES = 9
CATEGORIES = [3, 1, 8]


def make_data(seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    annotations = []
    for number in range(60):
        box = [float(value) for value in (*rng.integers(0, 20, 2), *rng.integers(4, 20, 2))]
        annotations.append({
            "id": number + 1, "image_id": int(rng.integers(N_IMAGES)) * 7 + 1, "bbox": box, "area": box[2] * box[3],
            "category_id": CATEGORIES[rng.integers(3)], "iscrowd": int(rng.random() < 0.1),
            "segmentation": [polygon(box)],
        })  # fmt: skip
    return {
        "info": {"description": "made up"},
        "images": [{"id": each * 7 + 1, "height": HEIGHT, "width": WIDTH} for each in range(N_IMAGES)],
        "categories": [{"id": each, "name": f"class {each}", "supercategory": "x"} for each in CATEGORIES],
        "annotations": annotations,
    }


def make_results(data: dict[str, Any], seed: int = 1) -> list[dict[str, Any]]:
    """Annotations moved a little, some with another class; the last image has no results."""
    rng = np.random.default_rng(seed)
    found = []
    for annotation in data["annotations"] * 2:
        if annotation["image_id"] == data["images"][-1]["id"]:
            continue
        box = (np.array(annotation["bbox"]) + rng.integers(0, 3, 4)).tolist()
        category = annotation["category_id"] if rng.random() < 0.8 else CATEGORIES[rng.integers(3)]
        score = float(rng.integers(1, 20)) / 20
        found.append({"image_id": annotation["image_id"], "category_id": category, "bbox": box, "score": score})
    return found


@pytest.fixture(scope="module")
def data():
    return make_data()


@pytest.fixture(scope="module")
def found(data):
    return make_results(data)


@pytest.fixture(scope="module")
def files(data, found, tmp_path_factory):
    folder = tmp_path_factory.mktemp("coco")
    (folder / "truth.json").write_text(json.dumps(data))
    (folder / "found.json").write_text(json.dumps(found))
    return str(folder / "truth.json"), str(folder / "found.json")


def run_both(script: Any, *args: Any) -> Any:
    """Run a script with the peer's classes and with ours. Assert equal results and return them."""
    answers = []
    for classes in (PEER, OURS):
        with contextlib.redirect_stdout(io.StringIO()):
            answers.append(script(classes, *copy.deepcopy(args)))
    np.testing.assert_equal(answers[1], answers[0])
    return answers[0]


def by_image(found: list[dict[str, Any]]) -> dict[int, list[dict[str, Any]]]:
    images = defaultdict(list)
    for row in found:
        images[row["image_id"]].append(row)
    return images


class TestYolo:
    """yolov5, ultralytics: two files, boxes, a list of images."""

    def script(self, classes, truth, results):
        annotations = classes.COCO(truth)
        evaluation = classes.COCOeval(annotations, annotations.loadRes(results), "bbox")
        evaluation.params.imgIds = [1, 8, 15, 22]
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
        mean, at_half = evaluation.stats[:2]
        return mean, at_half, evaluation.stats

    def test_same(self, files):
        assert run_both(self.script, *files)[0] > 0


class TestDetectron:
    """detectron2: a copy of the results, its own maxDets, precision by class."""

    def script(self, classes, truth, found):
        coco = classes.COCO(truth)
        assert len(coco.getAnnIds()) > 0
        evaluation = classes.COCOeval(coco, coco.loadRes(copy.deepcopy(found)), "bbox")
        evaluation.params.maxDets = [1, 10, 100]
        evaluation.params.imgIds = [image for image in coco.getImgIds() if image != 8]
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
        precisions = evaluation.eval["precision"]
        assert precisions.shape[2] == len(CATEGORIES)
        return evaluation.stats, [np.mean(each[each > -1]) for each in precisions[:, :, :, 0, -1].swapaxes(0, 2)]

    def test_same(self, files, found):
        run_both(self.script, files[0], found)

    def proposals(self, classes, truth):
        """detectron2 matches proposals itself and uses only the annotations of each image."""
        coco = classes.COCO(truth)
        rows = [coco.loadAnns(coco.getAnnIds(imgIds=image["id"])) for image in coco.loadImgs(coco.getImgIds())]
        return [[row["bbox"] for row in of_image if row["iscrowd"] == 0] for of_image in rows]

    def test_proposals(self, files):
        assert len(run_both(self.proposals, files[0])) == N_IMAGES


class TestMmdet:
    """mmdet's CocoMetric: classes in another order, proposals, other maxDets, a subclass of COCO."""

    def script(self, classes, truth, found, metric, with_masks):
        class WrappedCOCO(classes.COCO):
            def __init__(self, annotation_file=None):
                super().__init__(annotation_file=annotation_file)
                self.img_ann_map = self.imgToAnns
                self.cat_img_map = self.catToImgs

            def get_cat_ids(self, cat_names=(), sup_names=(), cat_ids=()):
                return self.getCatIds(list(cat_names), list(sup_names), list(cat_ids))

        api = WrappedCOCO(truth)
        if with_masks:
            for row in found:
                row["segmentation"] = [polygon(row["bbox"])]
                row["segmentation"] = api.annToRLE(row)
                row.pop("bbox")
        evaluation = classes.COCOeval(api, api.loadRes(found), "segm" if with_masks else "bbox")
        evaluation.params.catIds = api.get_cat_ids(cat_names=["class 8", "class 1"])
        evaluation.params.imgIds = api.getImgIds()
        evaluation.params.maxDets = [100, 300, 1000]
        evaluation.params.iouThrs = np.linspace(0.5, 0.95, 10)
        if metric == "proposal":
            evaluation.params.useCats = 0
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
        return evaluation.stats, evaluation.eval["precision"], len(api.img_ann_map), sorted(api.cat_img_map)

    @pytest.mark.parametrize("metric", ["bbox", "proposal"])
    @each_case("with_masks", [False, True], ids=["boxes", "masks"])
    def test_same(self, files, found, metric, with_masks):
        run_both(self.script, files[0], found, metric, with_masks)


class TestTorchvision:
    """torchvision's reference evaluator: evaluates batches, merges the matches of all processes, then accumulates."""

    def evaluate(self, evaluation):
        evaluation.evaluate()
        shape = -1, len(evaluation.params.areaRng), len(evaluation.params.imgIds)
        return evaluation.params.imgIds, np.asarray(evaluation.evalImgs).reshape(shape)

    def evaluate_by_steps(self, evaluation):
        """DETR and older versions of torchvision: the steps of evaluate(), written out."""
        params = evaluation.params
        params.imgIds = list(np.unique(params.imgIds))
        params.catIds = list(np.unique(params.catIds))
        params.maxDets = sorted(params.maxDets)
        evaluation.params = params
        evaluation._prepare()
        evaluation.ious = {
            (image, category): evaluation.computeIoU(image, category)
            for image in params.imgIds
            for category in params.catIds
        }
        images = [
            evaluation.evaluateImg(image, category, area, params.maxDets[-1])
            for category in params.catIds
            for area in params.areaRng
            for image in params.imgIds
        ]
        evaluation._paramsEval = copy.deepcopy(evaluation.params)
        return params.imgIds, np.asarray(images).reshape(len(params.catIds), len(params.areaRng), len(params.imgIds))

    def load(self, coco, classes, results, by_steps):
        if not by_steps:
            return coco.loadRes(results)
        loaded = classes.COCO()
        loaded.dataset["images"] = list(coco.dataset["images"])
        loaded.dataset["categories"] = copy.deepcopy(coco.dataset["categories"])
        for number, row in enumerate(results, start=1):
            row |= {"area": row["bbox"][2] * row["bbox"][3], "id": number, "iscrowd": 0}
        loaded.dataset["annotations"] = results
        loaded.createIndex()
        return loaded

    def script(self, classes, truth, found, by_steps):
        coco = copy.deepcopy(classes.COCO(truth))
        evaluation = classes.COCOeval(coco, iouType="bbox")
        batches, seen = [], []
        results = by_image(found)
        images = [image["id"] for image in coco.dataset["images"]]
        for batch in (images[6:], images[:4], images[3:6]):  # one image comes twice
            rows = [row for image in batch for row in results[image]]
            evaluation.cocoDt = self.load(coco, classes, rows, by_steps) if rows else classes.COCO()
            evaluation.params.imgIds = list(batch)
            batch_images, matched = (self.evaluate_by_steps if by_steps else self.evaluate)(evaluation)
            seen.extend(batch_images)
            batches.append(pickle.loads(pickle.dumps(matched)))  # as all_gather sends it
        merged, first_rows = np.unique(np.array(seen), return_index=True)
        evaluation.evalImgs = list(np.concatenate(batches, 2)[..., first_rows].flatten())
        evaluation.params.imgIds = list(merged)
        evaluation._paramsEval = copy.deepcopy(evaluation.params)
        evaluation.accumulate()
        evaluation.summarize()
        return evaluation.stats, evaluation.eval["precision"], evaluation.eval["recall"], evaluation.eval["scores"]

    @pytest.mark.parametrize("by_steps", [False, True], ids=["evaluate", "its steps"])
    def test_same(self, files, found, by_steps):
        stats, *_ = run_both(self.script, files[0], found, by_steps)
        # The same as all images at once: of the image that comes twice, the first results are used.
        whole = OURS.COCO(files[0])
        evaluation = OURS.COCOeval(whole, whole.loadRes(found), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        with contextlib.redirect_stdout(io.StringIO()):
            evaluation.summarize()
        assert np.array_equal(evaluation.stats, stats)

    def no_detections(self, classes, truth):
        """A batch without detections."""
        evaluation = classes.COCOeval(classes.COCO(truth), classes.COCO(), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
        return evaluation.stats, [row and (row["dtIds"], row["gtIds"]) for row in evaluation.evalImgs]

    def test_no_detections(self, files):
        stats, _ = run_both(self.no_detections, files[0])
        assert set(stats) <= {0, -1}


class TestErrorAnalysis:
    """Tools for error analysis: matches and IoU of every image, with classes and without."""

    def script(self, classes, truth, found):
        coco = classes.COCO(truth)
        answers = []
        for use_categories in (1, 0):
            evaluation = classes.COCOeval(coco, coco.loadRes(found), "bbox")
            evaluation.params.useCats = use_categories
            evaluation.evaluate()
            evaluation.accumulate()
            area = evaluation.params.areaRng[0]
            for row in evaluation.evalImgs:
                if row is None or row["aRng"] != area:
                    continue
                row["ious"] = evaluation.ious[row["image_id"], row["category_id"]]
                true = (row["dtMatches"] > 0) & ~row["dtIgnore"]
                answers.append((row["image_id"], row["gtIds"], row["dtIds"], true, row["gtMatches"], row["ious"]))
            answers.append(sorted((key, len(rows)) for key, rows in evaluation._gts.items() if rows))
            answers.append(sorted((key, len(rows)) for key, rows in evaluation._dts.items() if rows))
            evaluation.accumulate()  # from evalImgs, which the script has read
            answers.append(evaluation.eval["precision"])
        return answers

    def test_same(self, files, found):
        run_both(self.script, files[0], found)


def defined(evaluation):
    precision = evaluation.eval["precision"]
    return precision[precision > -1]


def test_files_are_columns_until_dicts_are_used(files, data, found):
    coco = fm.COCO(files[0])
    results = coco.loadRes(files[1])
    evaluation = fm.COCOeval(coco, results, "bbox")
    evaluation.evaluate()
    evaluation.accumulate()
    whole = fm.coco_map(coco, results)
    assert coco._columns is not None
    assert results._columns is not None
    assert np.array_equal(whole.precision[~np.isnan(whole.precision)], defined(evaluation))
    precision = evaluation.eval["precision"]
    assert coco.dataset == data
    assert [row["score"] for row in results.dataset["annotations"]] == [row["score"] for row in found]
    assert coco._columns is None
    assert results._columns is None
    evaluation.evaluate()
    evaluation.accumulate()
    assert np.array_equal(evaluation.eval["precision"], precision)
    # Changes of the dicts are evaluated.
    for row in results.anns.values():
        row["score"] = 1 - row["score"]
    evaluation.evaluate()
    evaluation.accumulate()
    assert not np.array_equal(evaluation.eval["precision"], precision)


def test_inputs_are_not_changed(data, found):
    document, results = copy.deepcopy(data), copy.deepcopy(found)
    coco = fm.COCO(document)
    loaded = coco.loadRes(results)
    evaluation = fm.COCOeval(coco, loaded, "segm")
    evaluation.evaluate()
    assert len(loaded.anns) == len(found)
    assert len(evaluation._gts) > 0
    assert document == data
    assert results == found
