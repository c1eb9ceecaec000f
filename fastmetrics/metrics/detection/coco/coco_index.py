"""`COCO` with pycocotools' interface: an index of annotations by image, category and id, and results of a detector.

Files are read into columns (json_files.py). They stay columns until the caller uses a dict of the data set, so a
program that only evaluates files never creates the dicts.
"""

from __future__ import annotations

import copy
import os
from collections import defaultdict
from typing import Any

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns.validation import InputError
from fastmetrics.metrics.detection.coco.json_files import JsonRecords, read_json
from fastmetrics.metrics.detection.masks.mask import decode_masks, encode_masks
from fastmetrics.metrics.detection.masks.segmentations import read_masks

__all__ = ["COCO"]

Row = dict[str, Any]


class COCO:
    """A data set in COCO's format, with the interface of pycocotools.

    Code written for ``pycocotools.coco.COCO`` runs unchanged, except ``download`` and ``showAnns``, which do not exist
    here.

    Parameters
    ----------
    annotation_file : path or dict, optional
        A JSON file with images, annotations and categories (T.-Y. Lin et al., "Microsoft COCO: common objects in
        context", ECCV 2014; cocodataset.org, "Data format"), or the dict that json.load returns for one. Without it the
        data set is empty: set ``dataset``, then call ``createIndex``.

    Attributes
    ----------
    dataset : dict
        The content of the file.
    anns, imgs, cats : dict
        Annotations, images and categories by id.
    imgToAnns, catToImgs : dict of list
        The annotations of each image, and the image of each annotation of a category.

    Raises
    ------
    ValueError
        The file is not JSON, or its content is not an object.

    Notes
    -----
    Nothing is printed. ``loadRes`` copies the results; pycocotools writes ``id``, ``area`` and ``iscrowd`` into them.
    An empty list of results is not an error.

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
    >>> results = coco.loadRes([{"image_id": 2, "category_id": 7, "bbox": [0, 0, 2, 2], "score": 0.5}])
    >>> results.loadAnns([1])[0]["area"]
    4
    """

    @answers_unknown
    def __init__(self, annotation_file: Any = None) -> None:
        # The content of a file, or unchanged results, until the caller uses a dict of the data set.
        self._columns: Any = None
        self._template: Row = {}  # info, images and categories of the data set of such results
        self._dataset: Row = {}
        self._index: tuple[Any, ...] = ({}, {}, {}, defaultdict(list), defaultdict(list))
        if annotation_file is None:
            return
        document = annotation_file if isinstance(annotation_file, dict) else read_document(annotation_file)
        if any(isinstance(value, JsonRecords) for value in document.values()):
            self._columns = document
            if type(self).createIndex is COCO.createIndex:  # it is called when the caller uses a dict
                return
        else:
            self._dataset = document
        self.createIndex()

    def document(self) -> Any:
        """Return the data to evaluate: a dict like `dataset`, perhaps with columns for lists, or a list of results."""
        return self._dataset if self._columns is None else self._columns

    @property
    def dataset(self) -> Row:
        self._make_dicts()
        return self._dataset

    @dataset.setter
    def dataset(self, dataset: Row) -> None:
        self._columns = None
        self._dataset = dataset

    def _make_dicts(self) -> None:
        """Replace columns, if any, by dicts for good, because the caller may change the dicts."""
        columns, self._columns = self._columns, None
        if columns is None:
            return
        if not isinstance(columns, dict):
            rows = columns.objects() if isinstance(columns, JsonRecords) else columns
            columns = {**self._template, "annotations": complete_results(rows)}
        self._dataset = {
            key: value.objects() if isinstance(value, JsonRecords) else value for key, value in columns.items()
        }
        COCO.createIndex(self)

    def createIndex(self) -> None:
        """Index annotations, images and categories by id. Call it again after `dataset` has changed."""
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

    def _get_index(self, number: int) -> Any:
        self._make_dicts()
        return self._index[number]

    def _set_index(self, number: int, value: Any) -> None:
        self._make_dicts()
        self._index = (*self._index[:number], value, *self._index[number + 1 :])

    anns = property(lambda self: self._get_index(0), lambda self, value: self._set_index(0, value))
    imgs = property(lambda self: self._get_index(1), lambda self, value: self._set_index(1, value))
    cats = property(lambda self: self._get_index(2), lambda self, value: self._set_index(2, value))
    imgToAnns = property(lambda self: self._get_index(3), lambda self, value: self._set_index(3, value))
    catToImgs = property(lambda self: self._get_index(4), lambda self, value: self._set_index(4, value))

    def info(self) -> None:
        """Print the data set's ``info``."""
        for key, value in self.dataset["info"].items():
            print(f"{key}: {value}")

    @answers_unknown
    def getAnnIds(self, imgIds: Any = (), catIds: Any = (), areaRng: Any = (), iscrowd: Any = None) -> list[Any]:
        """Return ids of annotations of these images and categories, with an area between two bounds, crowds or not."""
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

    @answers_unknown
    def getCatIds(self, catNms: Any = (), supNms: Any = (), catIds: Any = ()) -> list[Any]:
        """Return ids of categories with these names, of these supercategories and with these ids."""
        rows = self._lists()["categories"]
        for name, wanted in (("name", as_list(catNms)), ("supercategory", as_list(supNms)), ("id", as_list(catIds))):
            if wanted:
                rows = [row for row in rows if row[name] in wanted]
        return [row["id"] for row in rows]

    def _lists(self) -> Row:
        """Return the data set without converting columns. ``info`` and ``categories`` are never columns."""
        return self._columns if isinstance(self._columns, dict) else self.dataset

    @answers_unknown
    def getImgIds(self, imgIds: Any = (), catIds: Any = ()) -> list[Any]:
        """Return ids of the images, of those listed if any, that have annotations of all listed categories."""
        images, categories = as_list(imgIds), as_list(catIds)
        if not images and not categories:
            if isinstance(self._columns, dict) and isinstance(self._columns.get("images"), JsonRecords):
                return list(dict.fromkeys(self._columns["images"].column("id").tolist()))
            return list(self.imgs)
        selected = set(images)
        for number, category in enumerate(categories):
            of_category = set(self.catToImgs[category])
            selected = selected & of_category if number or selected else of_category
        return list(selected)

    @answers_unknown
    def loadAnns(self, ids: Any = ()) -> list[Row]:
        """Return the annotations with these ids."""
        return [self.anns[each] for each in as_list(ids)]

    @answers_unknown
    def loadCats(self, ids: Any = ()) -> list[Row]:
        """Return the categories with these ids."""
        return [self.cats[each] for each in as_list(ids)]

    @answers_unknown
    def loadImgs(self, ids: Any = ()) -> list[Row]:
        """Return the images with these ids."""
        return [self.imgs[each] for each in as_list(ids)]

    @answers_unknown
    def loadRes(self, resFile: Any) -> COCO:
        """Return the results of a detector as a data set of the same images and categories.

        Parameters
        ----------
        resFile : path, list of dict, or array of shape (n, 7)
            Each result has ``image_id``, ``category_id``, ``score``, and ``bbox`` or ``segmentation``. An array has the
            columns image, x, y, width, height, score, category.

        Returns
        -------
        results : COCO
            Ids are 1, 2, ...; areas are those of the boxes, or of the masks if there are no boxes.

        Raises
        ------
        ValueError
            The file does not hold a list, or the data set does not have the image of a result.
        """
        loaded: Any = resFile
        if isinstance(resFile, list):
            loaded = list(resFile)
        elif isinstance(resFile, (str, os.PathLike)):
            loaded = read_json(resFile, "resFile")
        elif isinstance(resFile, np.ndarray):
            loaded = self.loadNumpyAnnotations(resFile)
        if not isinstance(loaded, (list, JsonRecords)):
            raise ValueError(f"resFile must be a list of results, or a file of one; found {type(loaded).__name__}")
        results = COCO()
        image_ids = self.getImgIds()
        lists = self._lists()
        template = {
            "info": copy.deepcopy(lists.get("info", {})),
            "images": lists.get("images", []),
            "categories": copy.deepcopy(lists.get("categories", [])),
        }
        if isinstance(loaded, JsonRecords) and not all(loaded.has(name).all() for name in ("image_id", "bbox")):
            loaded = loaded.objects()
        if isinstance(loaded, JsonRecords):
            check_images(loaded.column("image_id"), image_ids)
        else:
            for row, result in enumerate(loaded):
                if not isinstance(result, dict) or "image_id" not in result:
                    kind = "no image_id" if isinstance(result, dict) else f"a {type(result).__name__}"
                    raise ValueError(f"resFile must be a list of dicts with image_id; found {kind} at result {row}")
            check_images([result["image_id"] for result in loaded], image_ids)
        if isinstance(loaded, JsonRecords) or have_boxes(loaded):
            results._columns, results._template = loaded, template
        else:
            annotations = complete_results(loaded)
            results.dataset = {**template, "images": list(self.dataset["images"]), "annotations": annotations}
            results.createIndex()
        return results

    @answers_unknown
    def loadNumpyAnnotations(self, data: Any) -> list[Row]:
        """Return an array with columns image, x, y, width, height, score, category as a list of results."""
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

    @answers_unknown
    def annToRLE(self, ann: Row) -> Row:
        """Return the mask of an annotation in COCO's run-length encoding."""
        segmentation = ann["segmentation"]
        if isinstance(segmentation, dict) and not isinstance(segmentation["counts"], list):
            return segmentation
        image = self.imgs[ann["image_id"]]
        [encoded] = encode_masks([segmentation], size=(image["height"], image["width"]))
        return encoded

    @answers_unknown
    def annToMask(self, ann: Row) -> np.ndarray:
        """Return the mask of an annotation as an array of 0 and 1, of the image's height and width."""
        pixels: np.ndarray = decode_masks([self.annToRLE(ann)])[0]
        return pixels


def read_document(path: Any) -> dict[str, Any]:
    """Read a file of images, annotations and categories."""
    if not isinstance(path, (str, os.PathLike)):  # a number would be an open file
        raise InputError(f"annotation_file must be the path of a JSON file, or a dict; found {type(path).__name__}")
    document = read_json(path, "annotation_file")
    if not isinstance(document, dict):
        kind = "list" if isinstance(document, JsonRecords) else type(document).__name__
        raise ValueError(
            f"annotation_file: {os.fspath(path)} holds no object with images and annotations, but a {kind}; use "
            "loadRes to read a list of results"
        )
    return document


def as_list(ids: Any) -> list[Any]:
    """Return a list of ids (or names) as a list, and a single one as a list of one."""
    if isinstance(ids, str) or not hasattr(ids, "__iter__"):
        return [ids]
    return list(ids)


def check_images(images: Any, known_images: list[Any]) -> None:
    """Raise an error if the data set does not have the image of a result."""
    if isinstance(images, np.ndarray):
        unknown = np.flatnonzero(~np.isin(images, np.array(known_images or [-1])))
    else:
        known = set(known_images)
        unknown = np.flatnonzero([image not in known for image in images])
    if len(unknown):
        row = int(unknown[0])
        image_id = images[row].item() if isinstance(images, np.ndarray) else images[row]
        raise ValueError(
            f"Results do not correspond to current coco set: result {row} is of image {image_id!r}, which the data "
            "set does not have"
        )


def have_boxes(results: list[Row]) -> bool:
    """Return whether the first result has a box. As in pycocotools, it decides for all."""
    return bool(results) and "caption" not in results[0] and len(results[0].get("bbox", ())) > 0


def complete_results(results: list[Row]) -> list[Row]:
    """Return copies of results with id, area and iscrowd, and with both bbox and segmentation.

    As in pycocotools, the first result decides which of these are computed.
    """
    first = results[0] if results else {}
    rows = [dict(row) for row in results]
    if "caption" in first:
        pass
    elif have_boxes(results):
        for row in rows:
            x, y, width, height = row["bbox"]
            if "segmentation" not in row:
                row["segmentation"] = [[x, y, x, y + height, x + width, y + height, x + width, y]]
            row["area"] = width * height
            row["iscrowd"] = 0
    elif "segmentation" in first:
        add_areas_and_boxes(rows)
    elif "keypoints" in first:
        for row in rows:
            all_x, all_y = row["keypoints"][0::3], row["keypoints"][1::3]
            left, top = min(all_x), min(all_y)
            row["bbox"] = [left, top, max(all_x) - left, max(all_y) - top]
            row["area"] = row["bbox"][2] * row["bbox"][3]
    for number, row in enumerate(rows, start=1):
        row["id"] = number
    return rows


def add_areas_and_boxes(rows: list[Row]) -> None:
    """Set the area, box and iscrowd of results from their masks."""
    areas, boxes = read_masks(
        [row["segmentation"] for row in rows], None, lambda row: f"resFile has a bad segmentation at result {row}"
    ).measure()
    for row, area, box in zip(rows, areas.tolist(), boxes.tolist(), strict=True):
        row["area"] = area
        row.setdefault("bbox", box)
        row["iscrowd"] = 0
