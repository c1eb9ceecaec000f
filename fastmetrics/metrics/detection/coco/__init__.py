"""COCO's evaluation: `coco_map`, and `COCO` and `COCOeval` with the interface of pycocotools.

Imported by `metrics.detection` and its `voc` package. It imports `masks` and the modules above it. The `read_*` modules
and `*_records` modules make a `Dataset`; `group_ious.py` compares its rows, and `matching.py` matches and accumulates.
Start with `coco_map.py`.
"""
