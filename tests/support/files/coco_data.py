"""COCO data sets for tests, drawn by hypothesis or generated from a seed, and pycocotools' evaluation of them.

Ground truth and detections have the form that json.load returns. `coco_datasets` draws both. Its coordinates are on a
coarse grid and its scores have few values, so equal boxes, equal scores, boxes without area and areas at the bounds of
the ranges are common. `data_sets` and `results` draw them separately. There every box has an area and is almost inside
its image, so `polygon` can make a mask of it, and about half of the results are near an annotation.
"""

import contextlib
import copy
import io
from typing import Any

import numpy as np
from hypothesis import strategies as st

Truth = dict[str, Any]
Results = list[dict[str, Any]]

SIDE_LENGTHS = (0.0, 1.0, 8.0, 16.0, 31.5, 32.0, 64.0, 96.0, 128.0)
CORNERS = (0.0, 1.0, 4.0, 8.0, 16.0, 33.3)
SCORES = (0.0, -0.0, 0.1, 0.25, 0.5, 0.5000000000000001, 0.9, 1.0, -1.5)
IMAGE_IDS = (1, 2, 7, 397133, 2**40)
CATEGORY_IDS = (1, 3, 90)
SIZE = 256
HEIGHT, WIDTH = 40, 60  # of the images of data_sets

boxes = st.tuples(*(st.sampled_from(CORNERS),) * 2, *(st.sampled_from(SIDE_LENGTHS),) * 2).map(list)


@st.composite
def coco_datasets(draw: st.DrawFn, max_objects: int = 12, max_detections: int = 25) -> tuple[Truth, Results]:
    """Small data sets, few of them empty. They have at least one detection, because pycocotools needs one."""
    image_ids = draw(st.permutations(IMAGE_IDS))[: draw(st.integers(1, len(IMAGE_IDS)))]
    category_ids = draw(st.permutations(CATEGORY_IDS))[: draw(st.integers(1, len(CATEGORY_IDS)))]
    images, categories = st.sampled_from(image_ids), st.sampled_from(category_ids)
    crowds = st.sampled_from([0, 0, 0, 1])
    objects = draw(st.lists(st.tuples(images, categories, boxes, crowds, st.booleans()), max_size=max_objects))
    ids = draw(st.permutations(range(1, 2 * len(objects) + 1)))
    detections = draw(
        st.lists(st.tuples(images, categories, boxes, st.sampled_from(SCORES)), min_size=1, max_size=max_detections)
    )
    truth = make_truth(image_ids, category_ids)
    for id_, (image, category, box, crowd, exact) in zip(ids, objects, strict=False):
        area = box[2] * box[3] * (1.0 if exact else 0.5)
        truth["annotations"].append(
            {"id": id_, "image_id": image, "category_id": category, "bbox": box, "area": area, "iscrowd": crowd}
        )
    return truth, [
        {"image_id": image, "category_id": category, "bbox": box, "score": score}
        for image, category, box, score in detections
    ]


def make_truth(image_ids: Any, category_ids: Any) -> Truth:
    """Images and categories without annotations."""
    return {
        "images": [{"id": each, "height": SIZE, "width": SIZE} for each in image_ids],
        "categories": [{"id": each, "name": f"class {each}"} for each in category_ids],
        "annotations": [],
    }


def generate(
    seed: int, n_images: int = 20, n_categories: int = 5, n_objects: int = 150, n_detections: int = 1500,
    ties: bool = False,
) -> tuple[Truth, Results]:
    """A larger data set. Most detections are near an object of their category. One object in ten is a crowd.

    The last category has no objects, and one image has no rows. With `ties`, scores have two decimals.
    """
    random = np.random.default_rng(seed)
    image_ids = (random.permutation(10 * n_images)[:n_images] + 1).tolist()
    category_ids = (random.permutation(2 * n_categories)[:n_categories] + 1).tolist()
    truth = make_truth(image_ids, category_ids)
    detections: Results = []
    for id_ in (random.permutation(2 * n_objects)[:n_objects] + 1).tolist():
        box = random.uniform(0, [150, 150, 100, 100]).round(2).tolist()
        truth["annotations"].append({
            "id": id_,
            "image_id": image_ids[int(random.integers(n_images - 1))],
            "category_id": category_ids[int(random.integers(max(1, n_categories - 1)))],
            "bbox": box,
            "area": box[2] * box[3] * float(random.uniform(0.4, 1)),
            "iscrowd": int(random.random() < 0.1),
        })  # fmt: skip
    for _ in range(n_detections):
        if truth["annotations"] and random.random() < 0.6:
            near = truth["annotations"][int(random.integers(n_objects))]
            image, category = near["image_id"], near["category_id"]
            box = np.abs(np.array(near["bbox"]) + random.normal(0, 6, 4) * (random.random() < 0.9)).tolist()
        else:
            image = image_ids[int(random.integers(n_images - 1))]
            category = category_ids[int(random.integers(n_categories))]
            box = random.uniform(0, [150, 150, 100, 100]).tolist()
        score = float(random.random())
        detections.append({
            "image_id": image, "category_id": category, "bbox": box, "score": round(score, 2) if ties else score
        })  # fmt: skip
    return truth, detections


@st.composite
def grid_boxes(draw: Any) -> list[float]:
    """Boxes on a coarse grid, so that IoUs are often equal; some with decimals."""
    x, y = draw(st.integers(0, 4)) * 8, draw(st.integers(0, 3)) * 8
    width, height = draw(st.integers(1, 3)) * 8, draw(st.integers(1, 3)) * 8
    if draw(st.integers(0, 3)) == 0:
        return [x + draw(st.floats(0, 3)), y + 0.1, width - 0.3, height + draw(st.floats(0, 2))]
    return [x, y, width, height]


@st.composite
def data_sets(draw: Any) -> Truth:
    """Images, categories and annotations; ids are not sorted."""
    image_ids = draw(st.lists(st.integers(1, 10**6), min_size=1, max_size=4, unique=True))
    category_ids = draw(st.lists(st.integers(1, 99), min_size=1, max_size=3, unique=True))
    annotations: Results = []
    for _ in range(draw(st.integers(0, 12))):
        box = draw(grid_boxes())
        annotation = {
            "id": 100 - len(annotations),
            "image_id": draw(st.sampled_from(image_ids)),
            "category_id": draw(st.sampled_from(category_ids)),
            "bbox": box,
            "area": draw(st.one_of(st.just(box[2] * box[3]), st.sampled_from([1024, 1023.5, 96**2, 20000]))),
            "iscrowd": int(draw(st.integers(0, 4)) == 0),
        }
        annotations.append(annotation)
    return {
        "images": [{"id": each, "height": HEIGHT, "width": WIDTH} for each in image_ids],
        "categories": [{"id": each, "name": f"class {each}", "supercategory": "thing"} for each in category_ids],
        "annotations": annotations,
    }


@st.composite
def results(draw: Any, data: Truth, min_size: int = 1) -> Results:
    """Detections: boxes of the annotations, some of them moved a little, and other boxes."""
    detections: Results = []
    for _ in range(draw(st.integers(min_size, 20))):
        result = {
            "image_id": draw(st.sampled_from(data["images"]))["id"],
            "category_id": draw(st.sampled_from(data["categories"]))["id"],
            "bbox": draw(grid_boxes()),
            "score": draw(st.one_of(st.sampled_from([0.25, 0.5, 0.75]), st.floats(0, 1))),
        }
        if data["annotations"] and draw(st.booleans()):
            truth = draw(st.sampled_from(data["annotations"]))
            x, y, width, height = truth["bbox"]
            result |= {key: truth[key] for key in ("image_id", "category_id")}
            result["bbox"] = [x, y + draw(st.sampled_from([0, 0, 1])), width - draw(st.sampled_from([0, 1])), height]
        detections.append(result)
    return detections


def polygon(box: list[float]) -> list[float]:
    """A polygon inside a box."""
    x, y, width, height = box
    return [x, y, x + width, y, x + width, y + height / 2, x + width / 2, y + height, x, y + height]


def pycocotools_eval(truth: Truth, detections: Results, iou_type: str = "bbox", **params: Any) -> Any:
    """Run pycocotools' COCOeval without its output; summarize only with the default parameters that it needs.

    Keywords are attributes of params: iouThrs, recThrs, maxDets, areaRng, areaRngLbl, useCats, imgIds, catIds.
    """
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        objects = COCO()
        objects.dataset = copy.deepcopy(truth)
        objects.createIndex()
        evaluation = COCOeval(objects, objects.loadRes(copy.deepcopy(detections)), iou_type)
        for name, value in params.items():
            setattr(evaluation.params, name, value)
        evaluation.evaluate()
        evaluation.accumulate()
        if not {"iouThrs", "maxDets", "areaRng"} & set(params):
            evaluation.summarize()
    return evaluation
