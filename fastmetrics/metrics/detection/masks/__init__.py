"""Masks: segmentations of any form read as run-length encoding, functions on masks, IoU of masks by group.

Imported by `metrics.detection` and its `coco` package. It imports the modules above it, such as
`run_length_masks.py`, which has the data type. Start with `segmentations.py`.
"""
