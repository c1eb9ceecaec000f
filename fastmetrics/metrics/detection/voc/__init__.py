"""Pascal VOC's mean average precision, and the files of its devkit.

Imported by `metrics.detection` only. It imports `coco`, whose readers accept the same columns and files, and the
modules above it. Start with `voc_map.py`.
"""
