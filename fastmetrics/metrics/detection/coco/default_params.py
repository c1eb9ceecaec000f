"""pycocotools' default parameters, which `coco_map` and `COCOeval` share."""

import numpy as np

LARGEST_AREA = 1e5**2
# The first range is the one that all objects belong to. The numbers keep pycocotools' types: users see them in Params.
AREA_RANGES = {
    "all": (0, LARGEST_AREA),
    "small": (0, 32**2),
    "medium": (32**2, 96**2),
    "large": (96**2, LARGEST_AREA),
}
# linspace gives the same floats as pycocotools; adding up 0.05 would not.
IOU_THRESHOLDS = np.linspace(0.5, 0.95, 10)
RECALL_THRESHOLDS = np.linspace(0.0, 1.0, 101)
MAX_DETECTIONS = (1, 10, 100)
