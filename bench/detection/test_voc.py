"""VOC's mean average precision beside the usual loop in NumPy, and overlaps beside pycocotools and NumPy."""

import numpy as np
import pytest

import fastmetrics as fm
from bench.race import at_least, count

N_IMAGES = 5000
CLASSES = [f"class{number:02d}" for number in range(20)]
Columns = dict[str, np.ndarray]


def corners(random, n):
    """Boxes in an image of 500 x 375 pixels, whole numbers."""
    low = random.integers(0, (400, 300), (n, 2))
    return np.hstack([low, low + random.integers(4, (100, 75), (n, 2))]).astype(np.float64)


@pytest.fixture(scope="module")
def boxes(rows) -> tuple[Columns, Columns]:
    """Three objects an image; of the detections half are near an object of their class."""
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


def of_class(truth: Columns, found: Columns, name: str, points: bool) -> float:
    """The evaluation of a class as many repositories have it: a dictionary of images, then a loop over detections."""
    own = truth["category"] == name
    images: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
    for image in np.unique(truth["image"][own]).tolist():
        rows = np.flatnonzero(own & (truth["image"] == image))
        images[image] = truth["box"][rows], truth["difficult"][rows], np.zeros(len(rows), bool)
    n_truth = int(np.count_nonzero(own & ~truth["difficult"]))
    rows = np.flatnonzero(found["category"] == name)
    rows = rows[np.argsort(-found["score"][rows], kind="stable")]
    hit, miss = np.zeros(len(rows)), np.zeros(len(rows))
    for place, (image, box) in enumerate(zip(found["image"][rows].tolist(), found["box"][rows], strict=True)):
        overlap = 0.0
        if image in images:
            objects, difficult, taken = images[image]
            width = np.maximum(np.minimum(objects[:, 2], box[2]) - np.maximum(objects[:, 0], box[0]), 0)
            height = np.maximum(np.minimum(objects[:, 3], box[3]) - np.maximum(objects[:, 1], box[1]), 0)
            shared = width * height
            areas = (objects[:, 2] - objects[:, 0]) * (objects[:, 3] - objects[:, 1])
            overlaps = shared / ((box[2] - box[0]) * (box[3] - box[1]) + areas - shared)
            best = np.argmax(overlaps)
            overlap = overlaps[best]
        if overlap < 0.5:
            miss[place] = 1
        elif not difficult[best]:
            (miss if taken[best] else hit)[place] = 1
            taken[best] = True
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
def test_voc_map(race, boxes, interpolation):
    truth, found = boxes
    work = f"`voc_map`, {interpolation}, {count(len(found['image']))} detections, 20 classes, 5000 images"
    race.against(
        work,
        lambda: fm.voc_map(truth, found, interpolation=interpolation).map,
        "NumPy, a loop over detections",
        lambda: np.mean([of_class(truth, found, name, interpolation == "voc11") for name in CLASSES]),
        within=1e-12,
        target=at_least(10),
    )


def broadcast(first, second):
    """torchvision's box_iou, in NumPy."""
    low = np.maximum(first[:, None, :2], second[:, :2])
    size = np.clip(np.minimum(first[:, None, 2:], second[:, 2:]) - low, 0, None)
    shared = size[..., 0] * size[..., 1]
    areas = [(each[:, 2] - each[:, 0]) * (each[:, 3] - each[:, 1]) for each in (first, second)]
    return shared / (areas[0][:, None] + areas[1] - shared)


SIZES = [(10, 10, 1000), (100, 100, 100), (2000, 3000, 1)]


@pytest.mark.parametrize(("n", "m", "calls"), SIZES)
@pytest.mark.parametrize("peer", ["NumPy", "pycocotools"])
def test_box_iou(race, n, m, calls, peer):
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

    race.against(
        f"`box_iou`, {n:,} x {m:,}",
        lambda: fm.box_iou(first, second, box=form),
        peer,
        lambda: theirs(first, second),
        within=0,
        calls=calls,
    )
