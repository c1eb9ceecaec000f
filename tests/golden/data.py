"""Input data of the stored values, made of integer arithmetic alone: no random stream and no library can change it."""

import functools
from typing import Any

import numpy as np

Columns = dict[str, Any]

CITIES = ["köln", "ulm", "", "rom", "a city with a longer name", "oslo", "Ulm", "🐈"]
SUBJECTS = ["The cat", "Der Hund", "Кошка", "他", "A naïve dog", "It's", "x", "The U.S.", "They"]
VERBS = ["sat", "SITS", "сидит", "坐在", "was sitting", "runs,", "ran ,", "cats running", "slept"]
ENDS = ["on the mat.", "auf der Matte!", "垫子上。", "at 3.50 (or so)", "", "again and again and again", "🐈"]


def integers(size: int, seed: int, below: int) -> np.ndarray:
    """Integers from 0 to `below` - 1, by the finalizer of SplitMix64."""
    with np.errstate(over="ignore"):
        state = (np.arange(size, dtype=np.uint64) + np.uint64(1 + 1_000_003 * seed)) * np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return (state % np.uint64(below)).astype(np.int64)


def uniform(size: int, seed: int) -> np.ndarray:
    """Multiples of 2**-40 between 0 and 1."""
    return integers(size, seed, 2**40) / 2.0**40


def click_log(rows: int, seed: int = 0) -> Columns:
    """Columns of every role, made once: scores have many ties, no probability is 0 or 1."""
    return dict(columns(rows, seed))


@functools.cache
def columns(rows: int, seed: int) -> Columns:
    prob = (integers(rows, seed + 1, 1022) + 1) / 1024.0
    label = (uniform(rows, seed + 2) < prob).astype(np.int8)
    group = integers(rows, seed + 3, max(1, rows // 7))
    target = integers(rows, seed + 4, 400) / 8.0 + 0.125
    classes = integers(rows, seed + 5, len(CITIES))
    clusters = np.where(uniform(rows, seed + 6) < 0.7, classes // 2, integers(rows, seed + 7, 9) - 2) * 10**12
    return {
        "label": label,
        "other": (uniform(rows, seed + 8) < 0.3).astype(np.int8),
        "score": integers(rows, seed + 9, 24) / 8.0 - 1.5 + label * 0.25,
        "prob": prob,
        "second": (integers(rows, seed + 10, 254) + 1) / 256.0,
        "pred": (integers(rows, seed + 11, 10) < 3 + 5 * label).astype(np.int8),
        "group": group,
        "target": target,
        "forecast": target * 0.75 + integers(rows, seed + 12, 128) / 16.0 + 0.0625,
        "grade": integers(rows, seed + 13, 4) * (integers(rows, seed + 14, 3) > 0),
        "by": np.array(["köln", "ulm", "rom"])[integers(rows, seed + 15, 3)],
        "day": integers(rows, seed + 16, 2),
        "whole": integers(rows, seed + 17, 5).astype(np.float64),
        "weight": (integers(rows, seed + 18, 4000) + 1) / 1000.0,
        "class": np.array(CITIES)[classes],
        "cluster": clusters,
        "rough": np.where(uniform(rows, seed + 19) < 0.9, clusters, 7).astype(str),
        "multi": integers(rows, seed + 20, 3),
        "multi_pred": np.where(uniform(rows, seed + 21) < 0.6, integers(rows, seed + 20, 3), 2),
        **text_columns(rows, seed),
    }


@functools.cache
def text_columns(rows: int, seed: int = 0) -> Columns:
    """References, and hypotheses of two systems that are like them or not, some empty."""

    def sentences(own: int) -> list[list[str]]:
        parts = [integers(rows, own + place, len(words)) for place, words in enumerate((SUBJECTS, VERBS, ENDS))]
        return [[SUBJECTS[i], VERBS[j], ENDS[k]] for i, j, k in zip(*parts, strict=True)]

    references = [" ".join(words) for words in sentences(seed + 30)]
    others = [" ".join(words) for words in sentences(seed + 33)]
    hypotheses, worse = [], []
    for text, other, how in zip(references, others, integers(rows, seed + 36, 6).tolist(), strict=True):
        words = text.split()
        changed = " ".join([*words[1:], words[0]]) if how % 2 else " ".join(words[: 1 + len(words) // 2])
        hypotheses.append([text, changed, changed, other, text.lower(), " ".join(words[1:])][how])
        worse.append([other, "", changed, text, other, changed][how])
    return {"reference": np.array(references), "hypothesis": np.array(hypotheses), "worse": np.array(worse)}


def ranking(n_queries: int = 12, n_items: int = 9, seed: int = 0) -> tuple[dict[str, Any], dict[str, Any]]:
    """A run and judgments as dicts: ties, items without judgments, a query without relevant items, one not run."""
    run: dict[str, Any] = {}
    qrels: dict[str, Any] = {}
    for query in range(n_queries):
        scores = integers(n_items, seed + 50 + query, 7) / 4.0
        grades = integers(n_items + 2, seed + 150 + query, 4) * (query != 3)
        if query != n_queries - 1:
            run[f"q{query}"] = {f"d{item}": float(scores[item]) for item in range(n_items - query % 3)}
        qrels[f"q{query}"] = {f"d{item}": int(grades[item]) for item in range(0, n_items + 2, 1 + query % 2)}
    return run, qrels


def coco(seed: int = 0, n_images: int = 6, n_objects: int = 40, n_found: int = 90) -> tuple[Any, Any]:
    """Annotations and detections as COCO's JSON has them; some crowds, some areas beyond the smallest range."""
    sides = integers(4 * n_objects, seed + 300, 120).reshape(-1, 4)
    annotations = []
    for place in range(n_objects):
        x, y, width, height = [int(side) for side in sides[place]]
        box = [float(x), float(y), float(8 + width), float(8 + height)]
        annotations.append(
            {
                "id": place + 1,
                "image_id": int(integers(n_objects, seed + 301, n_images)[place]) + 1,
                "category_id": int(integers(n_objects, seed + 302, 3)[place]) + 1,
                "bbox": box,
                "area": box[2] * box[3],
                "iscrowd": int(integers(n_objects, seed + 303, 10)[place] == 0),
                "segmentation": [polygon(box)],
            }
        )
    moves = integers(4 * n_found, seed + 304, 9).reshape(-1, 4) - 4
    near = integers(n_found, seed + 305, n_objects)
    scores = integers(n_found, seed + 306, 60) / 64.0
    wrong = integers(n_found, seed + 307, 6)
    found = []
    for place in range(n_found):
        truth = annotations[int(near[place])]
        box = [max(1.0, side + int(move)) for side, move in zip(truth["bbox"], moves[place], strict=True)]
        category = truth["category_id"] if wrong[place] else 1 + truth["category_id"] % 4
        found.append(
            {"image_id": truth["image_id"], "category_id": category, "bbox": box, "score": float(scores[place])}
        )
    return {
        "info": {},
        "images": [{"id": image, "height": 260, "width": 260} for image in range(1, n_images + 1)],
        "categories": [{"id": number, "name": f"class {number}"} for number in range(1, 5)],
        "annotations": annotations,
    }, found


def polygon(box: list[float]) -> list[float]:
    x, y, width, height = box
    return [x, y, x + width, y, x + width, y + height / 2, x + width / 2, y + height, x, y + height]


def voc(seed: int = 0, n_objects: int = 30, n_found: int = 70) -> tuple[Columns, Columns]:
    """Ground truth and detections as columns; corners are whole numbers."""
    low = integers(2 * n_objects, seed + 400, 40).reshape(-1, 2)
    boxes = np.hstack([low, low + 3 + integers(2 * n_objects, seed + 401, 30).reshape(-1, 2)]).astype(np.float64)
    images = np.array([f"{number:06d}" for number in range(1, 6)])[integers(n_objects, seed + 402, 5)]
    names = np.array(["car", "dog", "motor_bike"])[integers(n_objects, seed + 403, 3)]
    near = integers(n_found, seed + 404, n_objects)
    moved = boxes[near] + (integers(4 * n_found, seed + 405, 5).reshape(-1, 4) - 1) * np.array([-1.0, -1.0, 1.0, 1.0])
    found = {
        "image": images[near],
        "category": names[near],
        "box": moved,
        "score": integers(n_found, seed + 406, 32) / 32.0,
    }
    return {
        "image": images,
        "category": names,
        "box": boxes,
        "difficult": integers(n_objects, seed + 407, 4) == 0,
    }, found


def points(rows: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points of three dimensions about four centers, and their clusters."""
    clusters = integers(rows, seed + 500, 4)
    noise = integers(3 * rows, seed + 501, 64).reshape(-1, 3) / 16.0
    return noise + clusters[:, None] * np.array([2.0, -1.0, 0.5]), clusters


def masks(seed: int = 0, n: int = 4, height: int = 12, width: int = 9) -> np.ndarray:
    """Masks of pixels, each a rectangle without some of its pixels."""
    found = np.zeros((n, height, width), dtype=np.uint8)
    for place in range(n):
        top, left = integers(2, seed + 600 + place, 4).tolist()
        found[place, top : top + 7, left : left + 5] = 1
    return found * (integers(n * height * width, seed + 610, 9).reshape(n, height, width) > 0).astype(np.uint8)
