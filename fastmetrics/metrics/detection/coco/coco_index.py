"""`COCO` as pycocotools has it: a data set's annotations by image, category and id, and results of a detector.

Files are read into columns (coco_files.py), and stay columns until somebody looks at an object: whoever only evaluates
files never makes the dicts.
"""

from __future__ import annotations

import copy
import os
from collections import defaultdict
from typing import Any

import numpy as np

from fastmetrics._core.inputs import InputError
from fastmetrics.metrics.detection import coco_files
from fastmetrics.metrics.detection.coco_files import Records

__all__ = ["COCO"]

Row = dict[str, Any]


class COCO:
    """A data set in COCO's format, with the interface of pycocotools.

    Code written for ``pycocotools.coco.COCO`` runs unchanged, but for ``download`` and ``showAnns``: they are not here.

    Parameters
    ----------
    annotation_file : path or dict, optional
        A JSON file with images, annotations and categories (T.-Y. Lin et al., "Microsoft COCO: common objects in
        context", ECCV 2014; cocodataset.org, "Data format"), or what json.load makes of one. Without it the data set
        is empty: set ``dataset``, then call ``createIndex``.

    Attributes
    ----------
    dataset : dict
        What the file holds.
    anns, imgs, cats : dict
        Annotations, images and categories by id.
    imgToAnns, catToImgs : dict of list
        Annotations of an image; for each annotation of a category its image.

    Raises
    ------
    ValueError
        The file is no JSON, or holds no object.

    Notes
    -----
    Nothing is printed. ``loadRes`` copies the results it is given, where pycocotools writes ``id``, ``area`` and
    ``iscrowd`` into them; no results at all are no error.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> coco = fm.COCO({
    ...     "images": [{"id": 1, "height": 4, "width": 6}, {"id": 2, "height": 4, "width": 6}],
    ...     "categories": [{"id": 7, "name": "cat", "supercategory": "animal"}],
    ...     "annotations": [
    ...         {"id": 3, "image_id": 1, "category_id": 7, "bbox": [1, 1, 3, 2], "area": 6, "iscrowd": 0}
    ...     ],
    ... })
    >>> coco.getCatIds(catNms=["cat"]), coco.getImgIds(), coco.getAnnIds(imgIds=[1])
    ([7], [1, 2], [3])
    >>> found = coco.loadRes([{"image_id": 2, "category_id": 7, "bbox": [0, 0, 2, 2], "score": 0.5}])
    >>> found.loadAnns([1])[0]["area"]
    4
    """

    def __init__(self, annotation_file: Any = None) -> None:
        # What a file holds, or results as they were given, while nobody has looked at an object.
        self._columns: Any = None
        self._template: Row = {}  # the data set around such results
        self._dataset: Row = {}
        self._index: tuple[Any, ...] = ({}, {}, {}, defaultdict(list), defaultdict(list))
        if annotation_file is None:
            return
        if isinstance(annotation_file, dict):
            self._dataset = annotation_file
            self.createIndex()
            return
        if not isinstance(annotation_file, (str, os.PathLike)):  # a number would be an open file
            found = type(annotation_file).__name__
            raise InputError(f"annotation_file must be the path of a JSON file, or a dict; found {found}")
        document = coco_files.read_json(annotation_file, "annotation_file")
        if not isinstance(document, dict):
            kind = "list" if isinstance(document, Records) else type(document).__name__
            raise ValueError(
                f"annotation_file: {os.fspath(annotation_file)} holds no object with images and annotations, but a "
                f"{kind}: a list of results is what loadRes reads"
            )
        if any(isinstance(value, Records) for value in document.values()):
            self._columns = document
            if type(self).createIndex is not COCO.createIndex:
                self.createIndex()
        else:
            self._dataset = document
            self.createIndex()

    def document(self) -> Any:
        """What there is to evaluate: a dict as `dataset`, its long lists columns, or a list of results of boxes."""
        return self._dataset if self._columns is None else self._columns

    @property
    def dataset(self) -> Row:
        if self._columns is not None:
            self._make_objects()
        return self._dataset

    @dataset.setter
    def dataset(self, dataset: Row) -> None:
        self._columns = None
        self._dataset = dataset

    def _make_objects(self) -> None:
        """Objects instead of columns, from now on: somebody may change them."""
        columns, self._columns = self._columns, None
        if not isinstance(columns, dict):
            rows = columns.objects() if isinstance(columns, Records) else columns
            columns = {**self._template, "annotations": completed(rows)}
        self._dataset = {
            key: value.objects() if isinstance(value, Records) else value for key, value in columns.items()
        }
        COCO.createIndex(self)

    def createIndex(self) -> None:
        """Index the data set's annotations, images and categories by id; again after `dataset` has changed."""
        dataset = self.dataset
        annotations, images, categories = (
            dataset.get(name) or [] for name in ("annotations", "images", "categories")
        )
        by_image: defaultdict[Any, list[Row]] = defaultdict(list)
        images_of: defaultdict[Any, list[Any]] = defaultdict(list)
        for row in annotations:
            by_image[row["image_id"]].append(row)
        if "categories" in dataset:
            for row in annotations:
                images_of[row["category_id"]].append(row["image_id"])
        by_id = [{row["id"]: row for row in rows} for rows in (annotations, images, categories)]
        self._index = (*by_id, by_image, images_of)

    def _part(self, place: int) -> Any:
        if self._columns is not None:
            self._make_objects()
        return self._index[place]

    def _set_part(self, place: int, value: Any) -> None:
        if self._columns is not None:
            self._make_objects()
        self._index = (*self._index[:place], value, *self._index[place + 1 :])

    anns = property(lambda self: self._part(0), lambda self, value: self._set_part(0, value))
    imgs = property(lambda self: self._part(1), lambda self, value: self._set_part(1, value))
    cats = property(lambda self: self._part(2), lambda self, value: self._set_part(2, value))
    imgToAnns = property(lambda self: self._part(3), lambda self, value: self._set_part(3, value))
    catToImgs = property(lambda self: self._part(4), lambda self, value: self._set_part(4, value))

    def info(self) -> None:
        """Print what the data set says of itself."""
        for key, value in self.dataset["info"].items():
            print(f"{key}: {value}")

    def getAnnIds(self, imgIds: Any = (), catIds: Any = (), areaRng: Any = (), iscrowd: Any = None) -> list[Any]:
        """Ids of the annotations of these images and categories, with an area between two bounds, crowds or not."""
        images, categories = as_list(imgIds), as_list(catIds)
        rows = self.dataset["annotations"]
        if images:
            rows = [row for image in images if image in self.imgToAnns for row in self.imgToAnns[image]]
        if categories:
            wanted = set(categories)
            rows = [row for row in rows if row["category_id"] in wanted]
        if len(areaRng):
            rows = [row for row in rows if areaRng[0] < row["area"] < areaRng[1]]
        if iscrowd is not None:
            rows = [row for row in rows if row["iscrowd"] == iscrowd]
        return [row["id"] for row in rows]

    def getCatIds(self, catNms: Any = (), supNms: Any = (), catIds: Any = ()) -> list[Any]:
        """Ids of the categories with these names, of these supercategories, or among these ids."""
        rows = self._rows_of("categories")
        for name, wanted in (("name", as_list(catNms)), ("supercategory", as_list(supNms)), ("id", as_list(catIds))):
            if wanted:
                rows = [row for row in rows if row[name] in wanted]
        return [row["id"] for row in rows]

    def _rows_of(self, name: str) -> Any:
        """Rows that a file's columns keep as objects, without making objects of the rest."""
        if isinstance(self._columns, dict) and not isinstance(self._columns.get(name), Records):
            return self._columns[name]
        return self.dataset[name]

    def getImgIds(self, imgIds: Any = (), catIds: Any = ()) -> list[Any]:
        """Ids of these images, those of them that have annotations of all these categories; without either, all."""
        images, categories = as_list(imgIds), as_list(catIds)
        if not images and not categories:
            if isinstance(self._columns, dict) and isinstance(self._columns.get("images"), Records):
                return list(dict.fromkeys(self._columns["images"].column("id").tolist()))
            return list(self.imgs)
        found = set(images)
        for place, category in enumerate(categories):
            of_category = set(self.catToImgs[category])
            found = found & of_category if place or found else of_category
        return list(found)

    def loadAnns(self, ids: Any = ()) -> list[Row]:
        """The annotations with these ids."""
        return [self.anns[each] for each in as_list(ids)]

    def loadCats(self, ids: Any = ()) -> list[Row]:
        """The categories with these ids."""
        return [self.cats[each] for each in as_list(ids)]

    def loadImgs(self, ids: Any = ()) -> list[Row]:
        """The images with these ids."""
        return [self.imgs[each] for each in as_list(ids)]

    def loadRes(self, resFile: Any) -> COCO:
        """The results of a detector, as a data set of the same images and categories.

        Parameters
        ----------
        resFile : path, list of dict, or array of shape (n, 7)
            Of each result ``image_id``, ``category_id``, ``score``, and ``bbox`` or ``segmentation``; an array has
            columns image, x, y, width, height, score, category.

        Returns
        -------
        results : COCO
            Ids are 1, 2, ...; areas those of the boxes, or of the masks where there are no boxes.

        Raises
        ------
        ValueError
            The file holds no list; a result of an image that the data set does not have.
        """
        found: Any = resFile
        if isinstance(resFile, list):
            found = list(resFile)
        elif isinstance(resFile, (str, os.PathLike)):
            found = coco_files.read_json(resFile, "resFile")
        elif isinstance(resFile, np.ndarray):
            found = self.loadNumpyAnnotations(resFile)
        if not isinstance(found, (list, Records)):
            raise ValueError(f"resFile must be a list of results, or a file of one; found {type(found).__name__}")
        results = COCO()
        known = self.getImgIds()
        template = {
            "info": copy.deepcopy(self._header("info", {})),
            "images": self._header("images", []),
            "categories": copy.deepcopy(self._header("categories", [])),
        }
        if isinstance(found, Records) and not all(found.has(name).all() for name in ("image_id", "bbox")):
            found = found.objects()
        if isinstance(found, Records):
            check_images(found.column("image_id"), known)
        else:
            for row, result in enumerate(found):
                if not isinstance(result, dict) or "image_id" not in result:
                    shown = "no image_id" if isinstance(result, dict) else f"a {type(result).__name__}"
                    raise ValueError(f"resFile must be a list of dicts with image_id; found {shown} at result {row}")
            check_images([result["image_id"] for result in found], known)
        if isinstance(found, Records) or are_boxes(found):
            results._columns, results._template = found, template
        else:
            results.dataset = {**template, "images": list(self.dataset["images"]), "annotations": completed(found)}
            results.createIndex()
        return results

    def _header(self, name: str, default: Any) -> Any:
        """A short part of the data set."""
        dataset = self._columns if isinstance(self._columns, dict) else self.dataset
        return dataset.get(name, default)

    def loadNumpyAnnotations(self, data: Any) -> list[Row]:
        """Rows of image, x, y, width, height, score, category as results."""
        table = np.asarray(data)
        if table.ndim != 2 or table.shape[1] != 7:
            raise ValueError(
                f"an array of results has seven columns (image, x, y, width, height, score, category); found shape "
                f"{table.shape}"
            )
        return [
            {"image_id": int(row[0]), "bbox": row[1:5], "score": row[5], "category_id": int(row[6])}
            for row in table.tolist()
        ]

    def annToRLE(self, ann: Row) -> Row:
        """An annotation's mask as COCO's run-length encoding."""
        from fastmetrics.metrics.detection.run_lengths import encode_masks

        segmentation = ann["segmentation"]
        if isinstance(segmentation, dict) and not isinstance(segmentation["counts"], list):
            return segmentation
        image = self.imgs[ann["image_id"]]
        [encoded] = encode_masks([segmentation], size=(image["height"], image["width"]))
        return encoded

    def annToMask(self, ann: Row) -> np.ndarray:
        """An annotation's mask as an array of 0 and 1, of the image's height and width."""
        from fastmetrics.metrics.detection.run_lengths import decode_masks

        pixels: np.ndarray = decode_masks([self.annToRLE(ann)])[0]
        return pixels


def as_list(ids: Any) -> list[Any]:
    """Ids, or one of them; a name is one."""
    if isinstance(ids, str) or not hasattr(ids, "__iter__"):
        return [ids]
    return list(ids)


def check_images(images: Any, known: list[Any]) -> None:
    """Every result is of an image that the data set has."""
    if isinstance(images, np.ndarray):
        strange = np.flatnonzero(~np.isin(images, np.array(known or [-1])))
    else:
        wanted = set(known)
        strange = np.flatnonzero([image not in wanted for image in images])
    if len(strange):
        row = int(strange[0])
        shown = images[row].item() if isinstance(images, np.ndarray) else images[row]
        raise ValueError(
            f"Results do not correspond to current coco set: result {row} is of image {shown!r}, which the data "
            "set does not have"
        )


def are_boxes(results: list[Row]) -> bool:
    """The first of the results decides."""
    return bool(results) and "caption" not in results[0] and len(results[0].get("bbox", ())) > 0


def completed(results: list[Row]) -> list[Row]:
    """Results with id, area, iscrowd, and bbox and segmentation where only one is given; the first row decides."""
    first = results[0] if results else {}
    rows = [dict(row) for row in results]
    if "caption" in first:
        pass
    elif are_boxes(results):
        for row in rows:
            x, y, width, height = row["bbox"]
            if "segmentation" not in row:
                row["segmentation"] = [[x, y, x, y + height, x + width, y + height, x + width, y]]
            row["area"] = width * height
            row["iscrowd"] = 0
    elif "segmentation" in first:
        measure(rows)
    elif "keypoints" in first:
        for row in rows:
            across, down = row["keypoints"][0::3], row["keypoints"][1::3]
            left, top = min(across), min(down)
            row["bbox"] = [left, top, max(across) - left, max(down) - top]
            row["area"] = row["bbox"][2] * row["bbox"][3]
    for place, row in enumerate(rows):
        row["id"] = place + 1
    return rows


def measure(rows: list[Row]) -> None:
    """The areas and boxes of masks."""
    from fastmetrics.metrics.detection.segmentations import read_masks

    areas, boxes = read_masks(
        [row["segmentation"] for row in rows], None, lambda row: f"resFile has a bad segmentation at result {row}"
    ).measure()
    for row, area, box in zip(rows, areas.tolist(), boxes.tolist(), strict=True):
        row["area"] = area
        row.setdefault("bbox", box)
        row["iscrowd"] = 0
