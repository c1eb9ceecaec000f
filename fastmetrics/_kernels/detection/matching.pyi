# Written by tools/generate.py from matching.pyx.

import numpy as np
from numpy.typing import NDArray
from fastmetrics._kernels.detection.image_category_groups import GroupedRows

MAX_CRITERIA: int

def match_groups(
    first: int,
    last: int,
    groups: GroupedRows,
    ious: NDArray[np.float64],
    objects: ObjectColumns,
    detection_areas: NDArray[np.float64],
    own_criteria: Criteria,
    matched: NDArray[np.uint64],
    ignored: NDArray[np.uint64],
    truth_of_detection: NDArray[np.int32],
    detection_of_truth: NDArray[np.int32],
) -> None: ...
def accumulate(
    first: int,
    last: int,
    detections: RankedDetections,
    matched: NDArray[np.uint64],
    ignored: NDArray[np.uint64],
    n_truth: NDArray[np.int64],
    recalls: NDArray[np.float64],
    max_detections: NDArray[np.int64],
    n_thresholds: int,
    tables: RecallTables,
) -> None: ...

class Criteria:
    def __init__(self, thresholds: NDArray[np.float64], ranges: NDArray[np.float64]) -> None: ...

class ObjectColumns:
    def __init__(self, areas: NDArray[np.float64], crowd: NDArray[np.uint8], ignore: NDArray[np.uint8]) -> None: ...

class RankedDetections:
    def __init__(self, starts: NDArray[np.int64], scores: NDArray[np.float64], ranks: NDArray[np.int32]) -> None: ...

class RecallTables:
    def __init__(
        self,
        precision: NDArray[np.float64],
        recall: NDArray[np.float64],
        score_at: NDArray[np.float64],
        undefined: float,
    ) -> None: ...
