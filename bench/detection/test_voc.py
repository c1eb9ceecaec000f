"""VOC's mean average precision compared with the usual loop in NumPy, and IoU compared with pycocotools and NumPy."""

import numpy as np
import pytest

import fastmetrics as fm
from bench.timing import format_count

N_IMAGES = 5000
CLASSES = [f"class{number:02d}" for number in range(20)]
Columns = dict[str, np.ndarray]


def corners(random, n):
    """Boxes with integer corners in an image of 500 x 375 pixels."""
    low = random.integers(0, (400, 300), (n, 2))
    return np.hstack([low, low + random.integers(4, (100, 75), (n, 2))]).astype(np.float64)


@pytest.fixture(scope="module")
def boxes(rows) -> tuple[Columns, Columns]:
    """Three objects for each image. Half of the detections are near an object of their class."""
    random = np.random.default_rng(20260101)
    n_truth, n_found = 3 * N_IMAGES, max(20_000, rows // 50)
    truth = {
        "image": random.integers(0, N_IMAGES, n_truth),
        "category": np.array(CLASSES)[random.integers(0, len(CLASSES), n_truth)],
        "box": corners(random, n_truth),
        "difficult": random.random(n_truth) < 0.1,
    }
    found = {
        "image": random.integers(0, N_IMAGES, n_found),
        "category": np.array(CLASSES)[random.integers(0, len(CLASSES), n_found)],
        "box": corners(random, n_found),
        "score": random.random(n_found),
    }
    near = np.flatnonzero(random.random(n_found) < 0.5)
    source = random.integers(0, n_truth, len(near))
    found["image"][near], found["category"][near] = truth["image"][source], truth["category"][source]
    moved = truth["box"][source] + random.normal(0, 6, (len(near), 4))
    found["box"][near] = np.hstack([moved[:, :2], np.maximum(moved[:, 2:], moved[:, :2] + 1)])
    found["score"][near] += 0.5
    return truth, found


def class_average_precision(truth: Columns, found: Columns, name: str, points: bool) -> float:
    """A class evaluated as in many repositories: a dictionary of images, then a loop over detections."""
    in_class = truth["category"] == name
    images: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
    for image in np.unique(truth["image"][in_class]).tolist():
        rows = np.flatnonzero(in_class & (truth["image"] == image))
        images[image] = truth["box"][rows], truth["difficult"][rows], np.zeros(len(rows), bool)
    n_truth = int(np.count_nonzero(in_class & ~truth["difficult"]))
    rows = np.flatnonzero(found["category"] == name)
    rows = rows[np.argsort(-found["score"][rows], kind="stable")]
    hit, miss = np.zeros(len(rows)), np.zeros(len(rows))
    for rank, (image, box) in enumerate(zip(found["image"][rows].tolist(), found["box"][rows], strict=True)):
        iou = 0.0
        if image in images:
            objects, difficult, matched = images[image]
            width = np.maximum(np.minimum(objects[:, 2], box[2]) - np.maximum(objects[:, 0], box[0]), 0)
            height = np.maximum(np.minimum(objects[:, 3], box[3]) - np.maximum(objects[:, 1], box[1]), 0)
            intersection = width * height
            areas = (objects[:, 2] - objects[:, 0]) * (objects[:, 3] - objects[:, 1])
            ious = intersection / ((box[2] - box[0]) * (box[3] - box[1]) + areas - intersection)
            best = np.argmax(ious)
            iou = ious[best]
        if iou < 0.5:
            miss[rank] = 1
        elif not difficult[best]:
            (miss if matched[best] else hit)[rank] = 1
            matched[best] = True
    hits = np.cumsum(hit)
    recall = hits / n_truth
    precision = hits / np.maximum(hits + np.cumsum(miss), np.finfo(np.float64).eps)
    if points:
        best_from = [precision[10 * hits >= tenth * n_truth] for tenth in range(11)]
        return float(np.mean([each.max() if len(each) else 0.0 for each in best_from]))
    recall = np.concatenate([[0.0], recall, [1.0]])
    precision = np.concatenate([[0.0], precision, [0.0]])
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    steps = np.flatnonzero(recall[1:] != recall[:-1])
    return float(np.sum((recall[steps + 1] - recall[steps]) * precision[steps + 1]))


@pytest.mark.parametrize("interpolation", ["area", "voc11"])
def test_voc_map(timing, boxes, interpolation):
    truth, found = boxes
    work = f"`voc_map`, {interpolation}, {format_count(len(found['image']))} detections, 20 classes, 5000 images"
    timing.compare(
        work,
        lambda: fm.voc_map(truth, found, interpolation=interpolation).map,
        "NumPy, a loop over detections",
        lambda: np.mean([class_average_precision(truth, found, name, interpolation == "voc11") for name in CLASSES]),
        within=1e-12,
    )


def broadcast(first, second):
    """torchvision's box_iou, in NumPy."""
    low = np.maximum(first[:, None, :2], second[:, :2])
    size = np.clip(np.minimum(first[:, None, 2:], second[:, 2:]) - low, 0, None)
    intersection = size[..., 0] * size[..., 1]
    areas = [(each[:, 2] - each[:, 0]) * (each[:, 3] - each[:, 1]) for each in (first, second)]
    return intersection / (areas[0][:, None] + areas[1] - intersection)


SIZES = [(10, 10, 1000), (100, 100, 100), (2000, 3000, 1)]


@pytest.mark.parametrize(("n", "m", "calls"), SIZES)
@pytest.mark.parametrize("peer", ["NumPy", "pycocotools"])
def test_box_iou(timing, n, m, calls, peer):
    random = np.random.default_rng(0)
    first, second = corners(random, n), corners(random, m)
    theirs = broadcast
    form = "xyxy"
    if peer == "pycocotools":
        mask = pytest.importorskip("pycocotools.mask")
        crowd = np.zeros(m, np.uint8)
        for each in (first, second):
            each[:, 2:] -= each[:, :2]
        form = "xywh"

        def theirs(first, second):
            return mask.iou(first, second, crowd)

    timing.compare(
        f"`box_iou`, {n:,} x {m:,}",
        lambda: fm.box_iou(first, second, box=form),
        peer,
        lambda: theirs(first, second),
        within=0,
        calls=calls,
    )
