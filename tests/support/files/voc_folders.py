"""Objects and detections for Pascal VOC's rule, drawn from a seed, and folders of them in the form of the devkit."""

from xml.etree import ElementTree

import numpy as np

CLASSES = ("car", "dog", "motor_bike", "nothing")


def make(seed, n_objects=40, n_detections=120, n_images=6, levels=9, scores=10):
    """Objects and detections on a coarse grid: equal IoUs, several detections of an object, equal scores."""
    rng = np.random.default_rng(seed)

    def boxes(n):
        low = rng.integers(0, levels, (n, 2))
        return np.hstack([low, low + rng.integers(1, levels, (n, 2))]).astype(float).tolist()

    images = [f"{number:06d}" for number in rng.integers(0, n_images, n_objects + n_detections)]
    names = [CLASSES[index] for index in rng.integers(0, len(CLASSES) - 1, n_objects + n_detections)]
    difficult = (rng.random(n_objects) < 0.25).tolist()
    values = (rng.integers(0, scores, n_detections) / scores).tolist()
    truth = list(zip(images, names, boxes(n_objects), difficult, strict=False))
    detections = list(zip(images[n_objects:], names[n_objects:], boxes(n_detections), values, strict=True))
    # Half of the detections are near an object of their class.
    for row in rng.permutation(n_detections)[: n_detections // 2].tolist() if truth else []:
        image, name, box, _ = truth[rng.integers(len(truth))]
        moved = (np.array(box) + rng.integers(0, 2, 4) * [0, 0, 1, 1]).tolist()
        detections[row] = (image, name, moved, detections[row][3])
    return truth, detections


def write_voc(folder, truth, detections, prefix="comp4_det_test_"):
    """Write a folder of annotations and one of results; image 000900 has no object."""
    (folder / "VOC" / "Annotations").mkdir(parents=True)
    (folder / "results").mkdir()
    for image in {row[0] for row in [*truth, *detections]} | {"000900"}:
        root = ElementTree.Element("annotation")
        for _, name, box, difficult in (row for row in truth if row[0] == image):
            element = ElementTree.SubElement(root, "object")
            ElementTree.SubElement(element, "name").text = name
            ElementTree.SubElement(element, "difficult").text = str(int(difficult))
            inner = ElementTree.SubElement(element, "bndbox")
            for corner, value in zip(("xmin", "ymin", "xmax", "ymax"), box, strict=True):
                ElementTree.SubElement(inner, corner).text = str(int(value))
        ElementTree.ElementTree(root).write(folder / "VOC" / "Annotations" / f"{image}.xml")
    for name in CLASSES:
        rows = [row for row in detections if row[1] == name]
        lines = [f"{image} {score} {' '.join(map(str, box))}\n" for image, _, box, score in rows]
        (folder / "results" / f"{prefix}{name}.txt").write_text("".join(lines), encoding="utf-8")
