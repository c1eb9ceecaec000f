"""The result of `coco_map`: COCO's numbers, a row for each category, arrays, and reasons for undefined values."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.results.column_table import MAX_LISTED_ROWS, ColumnTable, format_cell
from fastmetrics._core.results.json_results import as_json_value
from fastmetrics._core.results.table_columns import TableColumn
from fastmetrics._core.results.table_rows import NamedValues
from fastmetrics._core.upper_layers import render
from fastmetrics._version import __version__
from fastmetrics.metrics.detection.coco.matching import Accumulated
from fastmetrics.metrics.detection.dataset import Dataset

__all__ = ["CategoryTable", "CocoResult"]

NAN = float("nan")


class CocoOptions(NamedTuple):
    """The options of an evaluation."""

    iou_type: str
    iou_thresholds: np.ndarray
    recall_thresholds: np.ndarray
    max_detections: tuple[int, ...]
    area_ranges: dict[str, tuple[float, float]]
    class_agnostic: bool


class CategoryTable(ColumnTable):
    """A row for every category.

    Attributes
    ----------
    columns : dict of str to numpy.ndarray
        ``category`` (the id), ``name`` (if names are known), ``ap``, ``ap50``, ``ap75``, ``ar`` (NaN if no object of
        the category counts), ``ground_truths`` (number of objects that count: no crowds) and ``detections``.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> truth = {"image": [1, 1], "category": ["cat", "dog"], "box": [[0, 0, 40, 40], [50, 50, 20, 20]]}
    >>> found = {"image": [1, 1], "category": ["cat", "dog"], "score": [0.9, 0.8],
    ...          "box": [[0, 0, 40, 38], [50, 52, 20, 20]]}
    >>> table = fm.coco_map(truth, found).per_class
    >>> table["category"].tolist(), table["ap"].round(2).tolist()
    (['cat', 'dog'], [1.0, 0.7])
    """

    __slots__ = ()


class CocoResult(NamedValues[float]):
    """COCO's numbers for detections, and the arrays they are computed from.

    Undefined values are NaN; `undefined` has the reasons. ``result["map_50"]`` and ``result.map_50`` are the same;
    ``dict(result)`` has all.

    Attributes
    ----------
    stats : numpy.ndarray of shape (12,)
        pycocotools' twelve numbers in its order: AP, AP at IoU 0.50 and 0.75, AP of small, medium and large objects; AR
        at the first three of `max_detections`, AR of small, medium and large objects.
    map, map_50, map_75, map_small, map_medium, map_large : float
        Average precision with the largest number of detections: the mean over IoU thresholds, levels of recall and
        categories that have ground truth; at one IoU threshold; of one area range.
    mar_1, mar_10, mar_100, mar_small, mar_medium, mar_large : float
        Average recall with a maximum number of detections of an image (a name for each of `max_detections`), and of one
        area range.
    undefined : dict of str to str
        The values that are NaN, each with the reason.
    per_class : CategoryTable
        A row for every category.
    coverage : dict
        ``images``, ``categories``, ``categories_with_ground_truth``, ``without_ground_truth`` (names, or ids, of the
        categories that are excluded from all means), ``ground_truths`` (number of objects that count), ``ignored``
        (number of the others, such as crowds), ``detections`` and ``detections_used`` (those with the highest scores of
        an image and category, at most the last of `max_detections`).
    precision : numpy.ndarray of shape (T, R, K, A, M)
        By IoU threshold, level of recall, category, area range and maximum number of detections; NaN if a category has
        no ground truth in the range.
    recall : numpy.ndarray of shape (T, K, A, M)
        The highest recall that is reached.
    scores : numpy.ndarray of shape (T, R, K, A, M)
        The score at which the level of recall is reached, 0 if it is not reached.
    category_ids : numpy.ndarray of shape (K,)
        Ids of the categories, sorted.
    iou_thresholds, recall_thresholds, max_detections, area_ranges
        The values along the other axes of the arrays.
    signature : str
        The options and the version as one line.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> truth = {"image": [1, 1], "category": ["cat", "dog"], "box": [[0, 0, 40, 40], [50, 50, 20, 20]]}
    >>> found = {"image": [1, 1], "category": ["cat", "dog"], "score": [0.9, 0.8],
    ...          "box": [[0, 0, 40, 38], [50, 52, 20, 20]]}
    >>> result = fm.coco_map(truth, found)
    >>> round(result.map, 2), round(result["map_50"], 2)
    (0.85, 1.0)
    """

    map: float
    map_50: float
    map_75: float
    map_small: float
    map_medium: float
    map_large: float
    mar_1: float
    mar_10: float
    mar_100: float
    mar_small: float
    mar_medium: float
    mar_large: float

    def __init__(
        self, dataset: Dataset, options: CocoOptions, arrays: Accumulated, n_truth: np.ndarray, n_used: int
    ) -> None:
        self.precision, self.recall, self.scores = arrays
        self.iou_type = options.iou_type
        self.iou_thresholds, self.recall_thresholds = options.iou_thresholds, options.recall_thresholds
        self.max_detections, self.area_ranges = options.max_detections, options.area_ranges
        self.category_ids = np.array(["all"]) if options.class_agnostic else dataset.category_ids
        self._class_agnostic = options.class_agnostic
        self._n_truth = n_truth
        names = None if options.class_agnostic else dataset.category_names
        self.per_class = self._categories(dataset, names)
        self.coverage = self._coverage(dataset, names, n_used)
        self._values, self.undefined = self._summarize()
        self.stats = np.array([self._values.get(name, NAN) for name in self._stat_names()])

    def __getattr__(self, name: str) -> Any:
        values: dict[str, float] = self.__dict__.get("_values", {})
        if name in values:
            return values[name]
        if name.startswith(("map", "mar")):
            raise AttributeError(f"CocoResult has no {name!r}; there are {', '.join(values)}")
        return super().__getattr__(name)

    def _named(self) -> dict[str, float]:
        return self._values

    def _table_columns(self) -> list[TableColumn]:
        kinds, thresholds, areas, numbers = map(list, zip(*map(self.describe, self._values), strict=True))
        return [
            TableColumn("name", "text", list(self._values)),
            TableColumn("value", "number", list(self._values.values())),
            TableColumn("metric", "text", kinds),
            TableColumn("iou", "text", thresholds),
            TableColumn("area", "text", areas),
            TableColumn("max_detections", "count", list(map(int, numbers))),
        ]

    def _content(self) -> tuple[Any, ...]:
        return self.to_dict(), self.precision, self.recall, self.scores

    def _categories(self, dataset: Dataset, names: list[str] | None) -> CategoryTable:
        """The row of each category: the first area range, the largest number of detections."""
        n = len(self.category_ids)
        columns: dict[str, np.ndarray] = {"category": self.category_ids}
        if names is not None:
            columns["name"] = np.array(names, dtype=object)
        precision = np.ascontiguousarray(self.precision[:, :, :, 0, -1].transpose(2, 0, 1))
        columns["ap"] = precision.mean(axis=(1, 2))
        for threshold in (0.5, 0.75):
            indices = self._find_iou_threshold(threshold)
            columns[f"ap{threshold * 100:.0f}"] = (
                precision[:, indices[0]].mean(axis=1) if len(indices) else np.full(n, NAN)
            )
        columns["ar"] = np.ascontiguousarray(self.recall[:, :, 0, -1].T).mean(axis=1)
        columns["ground_truths"] = self._n_truth[:, 0]
        categories = dataset.detections.categories
        categories = np.zeros_like(categories) if self._class_agnostic else categories
        columns["detections"] = np.bincount(categories, minlength=n)
        return CategoryTable(columns)

    def _coverage(self, dataset: Dataset, names: list[str] | None, n_used: int) -> dict[str, Any]:
        labels = self.category_ids.tolist() if names is None else names
        without = [labels[index] for index in np.flatnonzero(self._n_truth[:, 0] == 0).tolist()]
        ignored = int(np.count_nonzero(dataset.ground_truth.ignore | dataset.ground_truth.crowd))
        return {
            "images": len(dataset.image_ids),
            "categories": len(labels),
            "categories_with_ground_truth": len(labels) - len(without),
            "without_ground_truth": without,
            "ground_truths": len(dataset.ground_truth.images) - ignored,
            "ignored": ignored,
            "detections": len(dataset.detections.images),
            "detections_used": n_used,
        }

    def _find_iou_threshold(self, threshold: float) -> np.ndarray:
        return np.flatnonzero(np.abs(self.iou_thresholds - threshold) < 1e-9)

    def _stat_names(self) -> list[str]:
        recalls = [f"mar_{number}" for number in self.max_detections[:3]]
        recalls += ["mar_"] * (3 - len(recalls))
        areas = ("small", "medium", "large")
        return [
            "map", "map_50", "map_75", *(f"map_{each}" for each in areas), *recalls, *(f"mar_{each}" for each in areas)
        ]  # fmt: skip

    def _summarize(self) -> tuple[dict[str, float], dict[str, str]]:
        """All values by name, and the reasons for undefined ones."""
        areas = list(self.area_ranges)
        values, undefined = {}, {}

        def record(name: str, array: np.ndarray, area: int) -> None:
            kept = array[..., self._n_truth[:, area] > 0]
            if kept.size:
                # ravel copies in the order of the axes. NumPy's sum depends on it, and must be that of pycocotools.
                values[name] = float(np.mean(kept.ravel()))
                return
            values[name] = NAN
            if len(array):
                least, greatest = self.area_ranges[areas[area]]
                where = "" if area == 0 else f" whose area is {least:g} to {greatest:g}"
                undefined[name] = f"no ground truth{where} counts"
            else:
                undefined[name] = f"{int(name[-2:]) / 100:.2f} is none of iou_thresholds"

        record("map", self.precision[:, :, :, 0, -1], 0)
        record("map_50", self.precision[self._find_iou_threshold(0.5), :, :, 0, -1], 0)
        record("map_75", self.precision[self._find_iou_threshold(0.75), :, :, 0, -1], 0)
        for area, label in list(enumerate(areas))[1:]:
            record(f"map_{label}", self.precision[:, :, :, area, -1], area)
        for index, number in enumerate(self.max_detections):
            record(f"mar_{number}", self.recall[:, :, 0, index], 0)
        for area, label in list(enumerate(areas))[1:]:
            record(f"mar_{label}", self.recall[:, :, area, -1], area)
        return values, undefined

    @property
    def signature(self) -> str:
        """The options and the version as one line."""
        thresholds = ",".join(f"{each:.6g}" for each in self.iou_thresholds.tolist())
        areas = ",".join(f"{name}={low:g}..{high:g}" for name, (low, high) in self.area_ranges.items())
        parts = {
            "iou_type": self.iou_type,
            "iou": thresholds,
            "recalls": len(self.recall_thresholds),
            "max_detections": ",".join(map(str, self.max_detections)),
            "areas": areas,
            "classes": "one" if self._class_agnostic else len(self.category_ids),
            "v": __version__,
        }
        return "coco_map|" + "|".join(f"{key}:{value}" for key, value in parts.items())

    def to_dict(self) -> dict[str, Any]:
        """Values, rows by category, coverage, undefined values and the signature, as plain Python for JSON.

        NaN becomes None.

        Returns
        -------
        dict
        """
        plain: dict[str, Any] = as_json_value({
            "values": dict(self._values),
            "stats": self.stats.tolist(),
            "per_class": self.per_class.to_dict(),
            "coverage": dict(self.coverage),
            "undefined": dict(self.undefined),
            "signature": self.signature,
        })  # fmt: skip
        return plain

    @answers_unknown
    def describe(self, name: str) -> tuple[str, str, str, str]:
        """The description of a value in the words of a table.

        Parameters
        ----------
        name : str
            One of the names in `values`.

        Returns
        -------
        tuple of str
            ``AP`` or ``AR``, the IoU thresholds, the area range, the maximum number of detections of an image.
        """
        kind, _, rest = name.partition("_")
        first, last = float(self.iou_thresholds[0]), float(self.iou_thresholds[-1])
        thresholds = f"{first:.2f}" if len(self.iou_thresholds) == 1 else f"{first:.2f}:{last:.2f}"
        (area, *others), max_detections = self.area_ranges, str(self.max_detections[-1])
        if rest in others:
            area = rest
        elif kind == "mar":
            max_detections = rest
        elif rest:
            thresholds = f"{int(rest) / 100:.2f}"
        return kind[1:].upper(), thresholds, area, max_detections

    def __repr__(self) -> str:
        counts = self.coverage
        classes = "all classes as one" if self._class_agnostic else f"{counts['categories']:,} categories"
        lines = [
            f"COCO {self.iou_type}: {counts['images']:,} images, {classes}, {counts['ground_truths']:,} ground truths, "
            f"{counts['detections']:,} detections",
            *self.lines(),
        ]
        if without := counts["without_ground_truth"]:
            names = ", ".join(map(str, without[:MAX_LISTED_ROWS])) + (", ..." if len(without) > MAX_LISTED_ROWS else "")
            lines.append(f"left out, without ground truth: {names}")
        return "\n".join(lines)

    def lines(self) -> list[str]:
        """The values as lines of a table, each with its IoU thresholds, area range and number of detections."""
        rows = [("", "IoU", "area", "detections", "")]
        rows += [(*self.describe(name), format_cell(value)) for name, value in self._values.items()]
        lines: list[str] = render("aligned lines", rows, left=(0, 1, 2, 4))
        return lines
