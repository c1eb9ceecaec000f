"""pycocotools' tests, which are of masks.

Replaced are `encode`, `decode`, `area` and `iou` of `pycocotools.mask`, and the classes `COCO` and `COCOeval`. `toBbox`
and `merge` have no counterpart. The tests are in the repository of the maintained fork only.
"""

import importlib
from typing import Any

import numpy as np

from tools.conformance.suite import Calls, Suite


def encode(bimask: np.ndarray) -> Any:
    import fastmetrics as fm

    if bimask.ndim == 2:
        return fm.encode_masks(bimask[None])[0]
    return fm.encode_masks(np.moveaxis(bimask, 2, 0))


def decode(masks: Any) -> np.ndarray:
    import fastmetrics as fm

    if isinstance(masks, list):
        return np.moveaxis(fm.decode_masks(masks), 0, 2)
    return fm.decode_masks([masks])[0]


def area(masks: Any) -> Any:
    import fastmetrics as fm

    return fm.mask_areas(masks) if isinstance(masks, list) else fm.mask_areas([masks])[0]


def iou(detections: Any, truth: Any, crowd: Any) -> np.ndarray:
    import fastmetrics as fm

    if isinstance(detections, np.ndarray):
        return fm.box_iou(detections, truth, box="xywh", crowd=_flags(crowd))
    return fm.mask_iou(detections, truth, crowd=_flags(crowd))


def _flags(crowd: Any) -> np.ndarray:
    return np.asarray(crowd, np.bool_)


def replace(calls: Calls) -> int:
    import fastmetrics as fm

    masks = importlib.import_module("pycocotools.mask")
    number = sum(calls.replace(masks, function.__name__, function) for function in (encode, decode, area, iou))
    if not calls.plain:
        importlib.import_module("pycocotools.coco").COCO = fm.COCO  # type: ignore[attr-defined]
        importlib.import_module("pycocotools.cocoeval").COCOeval = fm.COCOeval  # type: ignore[attr-defined]
    return number + 2


SUITE = Suite(
    library="pycocotools",
    source="git",
    repository="https://github.com/ppwwyyxx/cocoapi",
    files=("tests",),
    requirements=("pycocotools==2.0.11", "pytest"),
    replace=replace,
)
