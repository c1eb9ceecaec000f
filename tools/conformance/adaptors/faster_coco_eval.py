"""faster-coco-eval's tests that compare it with pycocotools, with our `COCO` and `COCOeval` in place of its classes.

pycocotools itself is the other side. Boxes and masks are evaluated here; keypoints are not.
"""

import importlib
from typing import Any

import pytest

from tools.conformance.suite import Calls, Suite

WITHOUT_COUNTERPART = ("keypoints",)
ID_OF_ZERO = "an annotation has the id 0, which pycocotools takes for no match; here it is an id like any other"
COMPARED = (
    "bbox_detection_extensive_0_small_dataset",
    "bbox_detection_extensive_1_medium_dataset",
    "bbox_detection_extensive_2_large_dataset",
    "crowd_annotations_extensive_0_bbox",
    "crowd_annotations_extensive_1_segm",
    "edge_case_perfect_predictions",
    "mixed_object_sizes",
    "segmentation_extensive_0_small_dataset",
    "segmentation_extensive_1_medium_dataset",
    "segmentation_extensive_2_large_dataset",
)


def replace(calls: Calls) -> int:
    import fastmetrics as fm

    class OurEvaluation(fm.COCOeval):  # type: ignore[misc]
        """Our class, which takes the kinds of IoU that it knows."""

        def __init__(self, cocoGt: Any = None, cocoDt: Any = None, iouType: str = "segm", **options: Any) -> None:
            if iouType in WITHOUT_COUNTERPART:
                pytest.skip(f"iouType={iouType!r}: not in fastmetrics")
            super().__init__(cocoGt, cocoDt, iouType)

    package = importlib.import_module("faster_coco_eval")
    if not calls.plain:
        package.COCO, package.COCOeval_faster = fm.COCO, OurEvaluation
    return calls.replace(package.COCOeval_faster, "accumulate", package.COCOeval_faster.accumulate) + 1


SUITE = Suite(
    library="faster-coco-eval",
    source="sdist",
    repository="https://github.com/MiXaiLL76/faster_coco_eval",
    files=("tests/test_extensive_pycocotools_comparison.py",),
    requirements=("faster-coco-eval==1.8.0", "pycocotools==2.0.11", "parameterized", "pytest"),
    replace=replace,
    explained={f"test_{name}": ID_OF_ZERO for name in COMPARED},
)
