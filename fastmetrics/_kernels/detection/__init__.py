"""Kernels of object detection: IoU, matching, precision-recall curves, masks, and readers of COCO's JSON.

Imported by `fastmetrics.metrics.detection` only. They import `_kernels.exchange` (the stable descending sort) and
`_kernels.columns`. Start with `matching.pyx`.

Layout. Rows are grouped by image and category (`image_category_groups.pyx`): a group's rows are rows[starts[g]] to
rows[starts[g + 1]], and its IoU matrix is ious[iou_starts[g] + d * n_truth + t], detection d by object t. The box and
mask kernels fill these matrices (`group_iou.pyx`, and `masks.pyx` with `mask_iou.pxd`), and `matching.pyx` reads them
without knowing what was compared. `iou.pyx` has its own layout, coordinates in separate arrays, for the IoU of all
pairs and for Pascal VOC (`voc_matching.pyx`).

Criteria. COCO evaluates each detection at ten IoU thresholds in four area ranges. A pair of the two is a criterion, and
up to 64 criteria are the bits of one word. Matching then visits each candidate object once for all criteria, and
the precision-recall curves need one sort of a category for all criteria.

Numbers. Each kernel repeats the floating-point operations of pycocotools in the same order, so values are equal bit for
bit. Box sizes are at most 1e150, so areas and unions are finite. Mask pixels are counted in int64 and divided once.

Readers. `coco_json.pyx` and `coco_dicts.pyx` read the common forms only and stop at any other value. Python code then
reads that value or that file, and reports errors. The scanner of JSON is here because no library is as fast: from two
files of 36,000 objects and 500,000 detections to the result, `coco_map` takes 8 times as long with json.loads, 5 to 6
times with orjson.loads and 3.6 times with pyarrow.json, for which the detections were first rewritten as lines
(`pytest bench/detection/test_coco_files.py -k coco_map --rows 10000000`, the first two).

Threads. All loops but those over Python objects run without the GIL. A caller gives each thread its own range of groups
or rows, so results do not depend on the number of threads.
"""
