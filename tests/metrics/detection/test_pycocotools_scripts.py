"""How well-known evaluators use pycocotools, each in a few lines, with its classes and with ours: the same numbers."""

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
from coco_data import HEIGHT, WIDTH, polygon
from pycocotools import coco as peer
from pycocotools import cocoeval as peer_evaluation

import fastmetrics as fm

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
    """Annotations found again, moved a little, some as another class; the last image has none."""
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


def both(flow: Any, *args: Any) -> Any:
    """What a flow gives with the peer's classes, asserted to be the same with ours."""
    answers = []
    for classes in (PEER, OURS):
        with contextlib.redirect_stdout(io.StringIO()):
            answers.append(flow(classes, *copy.deepcopy(args)))
    np.testing.assert_equal(answers[1], answers[0])
    return answers[0]


def by_image(found: list[dict[str, Any]]) -> dict[int, list[dict[str, Any]]]:
    images = defaultdict(list)
    for row in found:
        images[row["image_id"]].append(row)
    return images


class TestYolo:
    """yolov5, ultralytics: two files, boxes, the images of the file names."""

    def flow(self, classes, truth, results):
        annotations = classes.COCO(truth)
        predictions = annotations.loadRes(results)
        evaluation = classes.COCOeval(annotations, predictions, "bbox")
        evaluation.params.imgIds = [1, 8, 15, 22]
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
        mean, at_half = evaluation.stats[:2]
        return mean, at_half, evaluation.stats

    def test_same(self, files):
        assert both(self.flow, *files)[0] > 0


class TestDetectron:
    """detectron2: a copy of the results, maxDets of its own, precision by class."""

    def flow(self, classes, truth, found):
        coco = classes.COCO(truth)
        assert len(coco.getAnnIds()) > 0
        coco_dt = coco.loadRes(copy.deepcopy(found))
        evaluation = classes.COCOeval(coco, coco_dt, "bbox")
        evaluation.params.maxDets = [1, 10, 100]
        evaluation.params.imgIds = [image for image in coco.getImgIds() if image != 8]
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
        precisions = evaluation.eval["precision"]
        assert precisions.shape[2] == len(CATEGORIES)
        return evaluation.stats, [np.mean(part[part > -1]) for part in precisions[:, :, :, 0, -1].swapaxes(0, 2)]

    def test_same(self, files, found):
        both(self.flow, files[0], found)

    def proposals(self, classes, truth):
        """Proposals are matched by detectron2 itself, with annotations by image."""
        coco = classes.COCO(truth)
        rows = [coco.loadAnns(coco.getAnnIds(imgIds=image["id"])) for image in coco.loadImgs(coco.getImgIds())]
        return [[row["bbox"] for row in of_image if row["iscrowd"] == 0] for of_image in rows]

    def test_proposals(self, files):
        assert len(both(self.proposals, files[0])) == N_IMAGES


class TestMmdet:
    """mmdet's CocoMetric: classes of their own order, proposals, lists of thresholds, a subclass of COCO."""

    def flow(self, classes, truth, found, metric, with_masks):
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
    @pytest.mark.parametrize("with_masks", [False, True], ids=["boxes", "masks"])
    def test_same(self, files, found, metric, with_masks):
        both(self.flow, files[0], found, metric, with_masks)


class TestTorchvision:
    """torchvision's reference evaluator: a batch at a time; matches are merged over processes, then accumulated."""

    def evaluate(self, evaluation):
        evaluation.evaluate()
        shape = -1, len(evaluation.params.areaRng), len(evaluation.params.imgIds)
        return evaluation.params.imgIds, np.asarray(evaluation.evalImgs).reshape(shape)

    def evaluate_by_parts(self, evaluation):
        """As DETR and older versions of torchvision do it: the steps of evaluate(), written out."""
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

    def load(self, coco, classes, results, by_parts):
        if not by_parts:
            return coco.loadRes(results)
        own = classes.COCO()
        own.dataset["images"] = list(coco.dataset["images"])
        own.dataset["categories"] = copy.deepcopy(coco.dataset["categories"])
        for place, row in enumerate(results):
            row |= {"area": row["bbox"][2] * row["bbox"][3], "id": place + 1, "iscrowd": 0}
        own.dataset["annotations"] = results
        own.createIndex()
        return own

    def flow(self, classes, truth, found, by_parts):
        coco = copy.deepcopy(classes.COCO(truth))
        evaluation = classes.COCOeval(coco, iouType="bbox")
        batches, seen = [], []
        results = by_image(found)
        images = [image["id"] for image in coco.dataset["images"]]
        for batch in (images[6:], images[:4], images[3:6]):  # one image comes twice
            rows = [row for image in batch for row in results[image]]
            evaluation.cocoDt = self.load(coco, classes, rows, by_parts) if rows else classes.COCO()
            evaluation.params.imgIds = list(batch)
            own, matched = (self.evaluate_by_parts if by_parts else self.evaluate)(evaluation)
            seen.extend(own)
            batches.append(pickle.loads(pickle.dumps(matched)))  # all_gather sends it so
        merged, place = np.unique(np.array(seen), return_index=True)
        evaluation.evalImgs = list(np.concatenate(batches, 2)[..., place].flatten())
        evaluation.params.imgIds = list(merged)
        evaluation._paramsEval = copy.deepcopy(evaluation.params)
        evaluation.accumulate()
        evaluation.summarize()
        return evaluation.stats, evaluation.eval["precision"], evaluation.eval["recall"], evaluation.eval["scores"]

    @pytest.mark.parametrize("by_parts", [False, True], ids=["evaluate", "its parts"])
    def test_same(self, files, found, by_parts):
        stats, *_ = both(self.flow, files[0], found, by_parts)
        # The same as all images at once, but for the image that came twice: its first results are kept.
        whole = OURS.COCO(files[0])
        evaluation = OURS.COCOeval(whole, whole.loadRes(found), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        with contextlib.redirect_stdout(io.StringIO()):
            evaluation.summarize()
        assert np.array_equal(evaluation.stats, stats)

    def nothing(self, classes, truth):
        """A batch in which nothing was found."""
        coco = classes.COCO(truth)
        evaluation = classes.COCOeval(coco, classes.COCO(), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
        return evaluation.stats, [row and (row["dtIds"], row["gtIds"]) for row in evaluation.evalImgs]

    def test_nothing_found(self, files):
        stats, _ = both(self.nothing, files[0])
        assert set(stats) <= {0, -1}


class TestErrorAnalysis:
    """Tools that look for confusions: matches and overlaps of every image, with classes and without."""

    def flow(self, classes, truth, found):
        coco = classes.COCO(truth)
        answers = []
        for use_categories in (1, 0):
            evaluation = classes.COCOeval(coco, coco.loadRes(found), "bbox")
            evaluation.params.useCats = use_categories
            evaluation.evaluate()
            evaluation.accumulate()
            area = evaluation.params.areaRng[0]
            for own in evaluation.evalImgs:
                if own is None or own["aRng"] != area:
                    continue
                own["ious"] = evaluation.ious[own["image_id"], own["category_id"]]
                true = (own["dtMatches"] > 0) & ~own["dtIgnore"]
                answers.append((own["image_id"], own["gtIds"], own["dtIds"], true, own["gtMatches"], own["ious"]))
            answers.append(sorted((key, len(rows)) for key, rows in evaluation._gts.items() if rows))
            answers.append(sorted((key, len(rows)) for key, rows in evaluation._dts.items() if rows))
            evaluation.accumulate()  # from the list, now that somebody has it
            answers.append(evaluation.eval["precision"])
        return answers

    def test_same(self, files, found):
        both(self.flow, files[0], found)


def defined(evaluation):
    precision = evaluation.eval["precision"]
    return precision[precision > -1]


def test_files_are_columns_until_somebody_looks(files, data, found):
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
    # What is changed then is what is evaluated.
    for row in results.anns.values():
        row["score"] = 1 - row["score"]
    evaluation.evaluate()
    evaluation.accumulate()
    assert not np.array_equal(evaluation.eval["precision"], precision)


def test_nothing_is_changed(data, found):
    given, results = copy.deepcopy(data), copy.deepcopy(found)
    coco = fm.COCO(given)
    loaded = coco.loadRes(results)
    evaluation = fm.COCOeval(coco, loaded, "segm")
    evaluation.evaluate()
    assert len(loaded.anns) == len(found)
    assert len(evaluation._gts) > 0
    assert given == data
    assert results == found
