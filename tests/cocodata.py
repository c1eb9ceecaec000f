"""Data sets and results in COCO's format, small and full of ties."""

from typing import Any

from hypothesis import strategies as st

Rows = list[dict[str, Any]]

HEIGHT, WIDTH = 40, 60


@st.composite
def boxes(draw: Any) -> list[float]:
    """On a coarse grid, so that overlaps are often equal; some with decimals."""
    x, y = draw(st.integers(0, 4)) * 8, draw(st.integers(0, 3)) * 8
    width, height = draw(st.integers(1, 3)) * 8, draw(st.integers(1, 3)) * 8
    if draw(st.integers(0, 3)) == 0:
        return [x + draw(st.floats(0, 3)), y + 0.1, width - 0.3, height + draw(st.floats(0, 2))]
    return [x, y, width, height]


@st.composite
def data_sets(draw: Any, crowds: bool = True) -> dict[str, Any]:
    """Images, categories and annotations, their ids in no order."""
    image_ids = draw(st.lists(st.integers(1, 10**6), min_size=1, max_size=4, unique=True))
    category_ids = draw(st.lists(st.integers(1, 99), min_size=1, max_size=3, unique=True))
    annotations: Rows = []
    for _ in range(draw(st.integers(0, 12))):
        box = draw(boxes())
        annotation = {
            "id": 100 - len(annotations),
            "image_id": draw(st.sampled_from(image_ids)),
            "category_id": draw(st.sampled_from(category_ids)),
            "bbox": box,
            "area": draw(st.one_of(st.just(box[2] * box[3]), st.sampled_from([1024, 1023.5, 96**2, 20000]))),
            "iscrowd": int(crowds and draw(st.integers(0, 4)) == 0),
        }
        annotations.append(annotation)
    return {
        "images": [{"id": each, "height": HEIGHT, "width": WIDTH} for each in image_ids],
        "categories": [{"id": each, "name": f"class {each}", "supercategory": "thing"} for each in category_ids],
        "annotations": annotations,
    }


@st.composite
def results(draw: Any, data: dict[str, Any], least: int = 1) -> Rows:
    """Detections: boxes of the annotations, the same moved a little, and boxes of no annotation."""
    found: Rows = []
    for _ in range(draw(st.integers(least, 20))):
        result = {
            "image_id": draw(st.sampled_from(data["images"]))["id"],
            "category_id": draw(st.sampled_from(data["categories"]))["id"],
            "bbox": draw(boxes()),
            "score": draw(st.one_of(st.sampled_from([0.25, 0.5, 0.75]), st.floats(0, 1))),
        }
        if data["annotations"] and draw(st.booleans()):
            truth = draw(st.sampled_from(data["annotations"]))
            x, y, width, height = truth["bbox"]
            result |= {key: truth[key] for key in ("image_id", "category_id")}
            result["bbox"] = [x, y + draw(st.sampled_from([0, 0, 1])), width - draw(st.sampled_from([0, 1])), height]
        found.append(result)
    return found


def polygon(box: list[float]) -> list[float]:
    x, y, width, height = box
    return [x, y, x + width, y, x + width, y + height / 2, x + width / 2, y + height, x, y + height]
