"""A small input for every command: logs, texts, runs, detections of COCO and VOC."""

import json
from pathlib import Path
from xml.etree import ElementTree

BOXES = [[0, 0, 10, 10], [20, 0, 10, 10]]
FILES = {
    "log.csv": "click,old,new,user\n0,0.1,0.1,1\n0,0.4,0.2,1\n1,0.35,0.3,2\n1,0.8,0.9,2\n",
    # One word of six is another; of n-grams 5 of 6, 3 of 5, 1 of 4 and, as smoothed, 1/2 of 3 match.
    "system.txt": "the cat sat on the mat\n",
    "reference.txt": "the cat is on the mat\n",
    # The relevant item of the first query is second, that of the other is first.
    "qrels.txt": "1 0 a 1\n1 0 b 0\n2 0 a 1\n",
    "run.txt": "1 Q0 b 1 2.0 tag\n1 Q0 a 2 1.0 tag\n2 Q0 a 1 1.0 tag\n",
    # Two cups, of which one is found exactly.
    "instances.json": json.dumps(
        {
            "images": [{"id": 1, "height": 10, "width": 30}],
            "categories": [{"id": 7, "name": "cup"}],
            "annotations": [
                {"id": number, "image_id": 1, "category_id": 7, "bbox": box, "area": 100, "iscrowd": 0}
                for number, box in enumerate(BOXES, start=1)
            ],
        }
    ),
    "detections.json": json.dumps([{"image_id": 1, "category_id": 7, "bbox": BOXES[0], "score": 0.9}]),
    "results/comp4_det_test_cup.txt": "000001 0.9 1 1 10 10\n",
}


def write_command_files(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (folder / "voc" / "Annotations").mkdir(parents=True)
    ElementTree.ElementTree(annotated_image()).write(folder / "voc" / "Annotations" / "000001.xml")
    return folder


def annotated_image() -> ElementTree.Element:
    root = ElementTree.Element("annotation")
    for corners in ((1, 1, 10, 10), (21, 1, 30, 10)):
        one = ElementTree.SubElement(root, "object")
        ElementTree.SubElement(one, "name").text = "cup"
        box = ElementTree.SubElement(one, "bndbox")
        for name, value in zip(("xmin", "ymin", "xmax", "ymax"), corners, strict=True):
            ElementTree.SubElement(box, name).text = str(value)
    return root
