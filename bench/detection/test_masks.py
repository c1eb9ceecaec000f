"""Masks, compared with pycocotools and faster-coco-eval: COCO's numbers for RLE, IoU of all pairs, drawn polygons."""

import contextlib
import copy
import io
import warnings
from functools import partial

import numpy as np
import pytest

import fastmetrics as fm
from bench.timing import format_count

HEIGHT, WIDTH = 480, 640
N_IMAGES, N_CATEGORIES, N_OBJECTS, N_FOUND = 500, 80, 3_600, 50_000


def outline(random):
    """A polygon of 12 to 40 corners, of any size."""
    angles = np.sort(random.random(int(random.integers(12, 41)))) * 2 * np.pi
    radius = np.exp(random.normal(0, 0.15, len(angles)))[:, None] * np.exp(random.uniform(2, 5, 2))
    points = random.random(2) * [WIDTH, HEIGHT] + np.column_stack([np.cos(angles), np.sin(angles)]) * radius
    return np.clip(points, 0, [WIDTH, HEIGHT]).round(2)


@pytest.fixture(scope="module")
def outlines():
    random = np.random.default_rng(7)
    return [outline(random) for _ in range(N_OBJECTS)]


@pytest.fixture(scope="module")
def data(outlines):
    """A tenth of COCO's validation set. Six of ten results are near an object, others anywhere. 2% are crowds."""
    random = np.random.default_rng(8)

    def any_ids():
        return {
            "image_id": int(random.integers(N_IMAGES)) + 1, "category_id": int(random.integers(N_CATEGORIES)) + 1
        }  # fmt: skip

    objects = fm.encode_masks([[points.ravel().tolist()] for points in outlines], size=(HEIGHT, WIDTH))
    areas = fm.mask_areas(objects).tolist()
    truth = {
        "images": [{"id": number + 1, "height": HEIGHT, "width": WIDTH} for number in range(N_IMAGES)],
        "categories": [{"id": number + 1, "name": f"class {number}"} for number in range(N_CATEGORIES)],
        "annotations": [
            any_ids() | {"id": number + 1, "segmentation": mask, "area": area, "iscrowd": int(random.random() < 0.02)}
            for number, (mask, area) in enumerate(zip(objects, areas, strict=True))
        ],
    }
    near = random.integers(N_OBJECTS, size=N_FOUND)
    polygons = [
        [np.clip(outlines[row] + random.normal(0, 4, outlines[row].shape), 0, [WIDTH, HEIGHT]).ravel().tolist()]
        for row in near
    ]

    def ids_of(row):
        return {key: truth["annotations"][row][key] for key in ("image_id", "category_id")}

    found = [
        (any_ids() if random.random() < 0.4 else ids_of(row))
        | {"segmentation": mask, "score": float(random.random())}
        for row, mask in zip(near, fm.encode_masks(polygons, size=(HEIGHT, WIDTH)), strict=True)
    ]
    return truth, found


def ours(data):
    return fm.coco_map(*data, iou_type="segm").stats


def with_interface_of(module, evaluation, data):
    """The twelve numbers of a script, without its output. loadRes gets copies, because it changes the results."""
    truth, found = data
    objects = module.COCO()
    with contextlib.redirect_stdout(io.StringIO()):
        objects.dataset = truth
        objects.createIndex()
        results = objects.loadRes([row.copy() for row in found])
        run = evaluation(objects, results, "segm")
        run.evaluate()
        run.accumulate()
        run.summarize()
    return np.asarray(run.stats[:12])


def test_pycocotools(timing, data):
    module = pytest.importorskip("pycocotools.coco")
    evaluation = pytest.importorskip("pycocotools.cocoeval").COCOeval
    work = f"`coco_map`, masks as RLE, {N_IMAGES} images, {format_count(N_FOUND)} detections"
    theirs = partial(with_interface_of, module, evaluation, data)
    timing.compare(work, partial(ours, data), "pycocotools", theirs, within=0, rounds=2)


def test_faster_coco_eval(timing, data):
    module = pytest.importorskip("faster_coco_eval")
    work = f"`coco_map`, masks as RLE, {N_IMAGES} images, {format_count(N_FOUND)} detections"
    theirs = partial(with_interface_of, module, module.COCOeval_faster, copy.deepcopy(data))
    timing.compare(work, partial(ours, data), "faster-coco-eval", theirs, within=0, rounds=2)


def test_overlaps(timing, data):
    mask = pytest.importorskip("pycocotools.mask")
    first, second = ([row["segmentation"] for row in data[1][start : start + 1000]] for start in (0, 1000))
    theirs = partial(mask.iou, first, second, [0] * 1000)
    timing.compare("`mask_iou`, RLE, 1000 x 1000", partial(fm.mask_iou, first, second), "pycocotools", theirs, within=0)


def test_polygons(timing, outlines):
    mask = pytest.importorskip("pycocotools.mask")
    rows = [[points.ravel().tolist()] for points in outlines]

    def mine():
        return [row["counts"] for row in fm.encode_masks(rows, size=(HEIGHT, WIDTH))]

    def theirs():
        return [mask.frPyObjects(row, HEIGHT, WIDTH)[0]["counts"].decode() for row in rows]

    assert mine() == theirs()
    work = f"`encode_masks`, {format_count(N_OBJECTS)} polygons"
    timing.compare(work, mine, "pycocotools", theirs, within=None)


def test_pixels(timing, data):
    mask = pytest.importorskip("pycocotools.mask")
    rows = [row["segmentation"] for row in data[1][:200]]

    def theirs():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy 2 warns about the way it creates arrays
            return mask.decode(rows).transpose(2, 0, 1)

    work = f"`decode_masks`, 200 masks of {HEIGHT} x {WIDTH}"
    timing.compare(work, partial(fm.decode_masks, rows), "pycocotools", theirs, within=0)
