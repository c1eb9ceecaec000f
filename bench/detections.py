"""Generated objects and detections with the proportions of COCO's validation set.

There are many images with few objects, and a hundred detections in each image, most of a category that the image has.
"""

from typing import Any, NamedTuple

import numpy as np

N_CATEGORIES = 80
OBJECTS_PER_IMAGE = 7.2
DETECTIONS_PER_IMAGE = 100
SIZE = 640.0


class Workload(NamedTuple):
    """The two files, as json.load returns them."""

    truth: dict[str, Any]
    found: list[dict[str, Any]]


def boxes_workload(n_images: int, seed: int = 20260101) -> Workload:
    """Categories follow a power law, and sizes of objects are log-normal. One object in a hundred is a crowd.

    Six of ten detections are near an object, shifted by up to a fifth of its size; a smaller shift has a higher score.
    The others are anywhere, of any category, with low scores.
    """
    random = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, N_CATEGORIES + 1)
    weights /= weights.sum()
    n_objects, n_found = int(n_images * OBJECTS_PER_IMAGE), n_images * DETECTIONS_PER_IMAGE
    image_ids = np.sort(random.choice(600_000, n_images, replace=False)) + 1
    categories = random.choice(N_CATEGORIES, n_objects, p=weights) + 1
    images = np.sort(random.integers(0, n_images, n_objects))
    boxes = random_boxes(random, n_objects)
    areas = boxes[:, 2] * boxes[:, 3] * random.uniform(0.4, 0.9, n_objects)
    crowds = random.random(n_objects) < 0.01
    near = random.random(n_found) < 0.6
    near_object = random.integers(0, n_objects, n_found)
    shift = random.exponential(0.08, n_found)
    moved = boxes[near_object]
    moved[:, :2] += random.normal(0, 1, (n_found, 2)) * shift[:, None] * moved[:, 2:]
    moved[:, 2:] *= np.exp(random.normal(0, 1, (n_found, 2)) * shift[:, None])
    found_boxes = np.where(near[:, None], moved, random_boxes(random, n_found)).round(2)
    found_images = np.where(near, images[near_object], random.integers(0, n_images, n_found))
    found_categories = np.where(near, categories[near_object], random.integers(1, N_CATEGORIES + 1, n_found))
    scores = np.where(near, 1 / (1 + np.exp(8 * shift - 1 + random.normal(0, 1, n_found))), random.beta(1, 12, n_found))
    order = np.argsort(found_images, kind="stable")
    truth = {
        "images": [{"id": each, "height": int(SIZE), "width": int(SIZE)} for each in image_ids.tolist()],
        "categories": [{"id": each, "name": f"category {each}"} for each in range(1, N_CATEGORIES + 1)],
        "annotations": [
            {
                "id": row + 1, "image_id": image, "category_id": category, "bbox": box, "area": area,
                "iscrowd": int(crowd),
            }
            for row, (image, category, box, area, crowd) in enumerate(
                zip(image_ids[images].tolist(), categories.tolist(), boxes.round(2).tolist(), areas.tolist(),
                    crowds.tolist(), strict=True)
            )
        ],
    }  # fmt: skip
    found = [
        {"image_id": image, "category_id": category, "bbox": box, "score": score}
        for image, category, box, score in zip(
            image_ids[found_images[order]].tolist(), found_categories[order].tolist(), found_boxes[order].tolist(),
            scores[order].round(6).tolist(), strict=True,
        )
    ]  # fmt: skip
    return Workload(truth, found)


def random_boxes(random: np.random.Generator, n: int) -> np.ndarray:
    sizes = np.minimum(np.exp(random.normal(4.0, 1.0, (n, 2))), SIZE - 1)
    return np.concatenate([random.random((n, 2)) * (SIZE - sizes), sizes], axis=1)


def as_columns(rows: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """The same rows as arrays."""
    names = [name for name in ("image_id", "category_id", "bbox", "area", "iscrowd", "score") if name in rows[0]]
    return {name: np.array([row[name] for row in rows]) for name in names}
