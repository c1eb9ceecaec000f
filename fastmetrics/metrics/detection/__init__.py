"""Object detection: COCO's and Pascal VOC's mean average precision, IoU of boxes and masks, COCO's run-length encoding.

Imported by users through `fastmetrics`; no other metric family imports it, and it imports only `_core` and
`_kernels.detection`. Inside, the modules of this folder (data types, ids, tables, groups) are below `masks`, `masks` is
below `coco`, and `coco` is below `voc`. Start with `dataset.py`: every reader makes its `Dataset`, and every evaluation
takes it.
"""
