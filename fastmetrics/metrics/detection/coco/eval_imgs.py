"""pycocotools' results by image: the dicts of `evalImgs` and the matrices of `ious`.

`list_images` makes the dicts from matches: the arrays of all images are computed at once, and each dict holds views of
them. Callers merge such lists from several processes, so `accumulate_images` accepts any list of these dicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.detection.matching import MAX_CRITERIA
from fastmetrics.metrics.detection.coco.matching import Accumulated, CriteriaMatches, Matches, accumulate
from fastmetrics.metrics.detection.dataset import Dataset
from fastmetrics.metrics.detection.image_category_groups import ImageCategoryGroups

ImageResult = dict[str, Any]


class EvaluatedAxes(NamedTuple):
    """The evaluated parameters, as the user gave them: the dicts contain these objects."""

    images: Sequence[Any]
    categories: Sequence[Any]  # [-1] if categories are not used
    areas: Sequence[Any]
    max_detections: int


def list_ious(axes: EvaluatedAxes, groups: ImageCategoryGroups, ious: np.ndarray) -> dict[tuple[Any, Any], Any]:
    """Return the IoU matrix of each image and category; an empty list if there are no detections or no objects.

    Rows of a matrix are the detections by descending score, columns are the objects.
    """
    keys = ((image, category) for image in axes.images for category in axes.categories)
    listed: dict[tuple[Any, Any], Any] = {key: [] for key in keys}
    n_truth, n_detections = np.diff(groups.truth_starts), np.diff(groups.detection_starts)
    some = np.flatnonzero(n_truth * n_detections)
    for group, rows, columns in zip(some.tolist(), n_detections[some].tolist(), n_truth[some].tolist(), strict=True):
        start = int(groups.iou_starts[group])
        key = axes.images[groups.images[group]], axes.categories[groups.categories[group]]
        listed[key] = ious[start : start + rows * columns].reshape(rows, columns)
    return listed


def list_images(
    axes: EvaluatedAxes, dataset: Dataset, groups: ImageCategoryGroups, matches: Matches, area_ranges: np.ndarray
) -> list[ImageResult | None]:
    """Return one dict for each category, area range and image, in this order; None for an image without rows."""
    n_images, n_areas = len(axes.images), len(axes.areas)
    listed: list[ImageResult | None] = [None] * (len(axes.categories) * n_areas * n_images)
    detection_ids = dataset.detections.ids[groups.detection_rows]
    listed_ids, listed_scores = detection_ids.tolist(), dataset.detections.scores[groups.detection_rows].tolist()
    truth_starts, detection_starts = groups.truth_starts.tolist(), groups.detection_starts.tolist()
    images, categories = groups.images.tolist(), groups.categories.tolist()
    for index, area in enumerate(axes.areas):
        truth_ids, truth_ignored, detection_ignored, matched_truth, matched_detections = area_range_columns(
            dataset, groups, matches, index, area_ranges[index], detection_ids
        )
        for group, (image, category) in enumerate(zip(images, categories, strict=True)):
            truth = slice(truth_starts[group], truth_starts[group + 1])
            detections = slice(detection_starts[group], detection_starts[group + 1])
            listed[(category * n_areas + index) * n_images + image] = {
                "image_id": axes.images[image],
                "category_id": axes.categories[category],
                "aRng": area,
                "maxDet": axes.max_detections,
                "dtIds": listed_ids[detections],
                "gtIds": truth_ids[truth],
                "dtMatches": matched_truth[:, detections],
                "gtMatches": matched_detections[:, truth],
                "dtScores": listed_scores[detections],
                "gtIgnore": truth_ignored[truth],
                "dtIgnore": detection_ignored[:, detections],
            }
    return listed


def area_range_columns(
    dataset: Dataset, groups: ImageCategoryGroups, matches: Matches, area: int, area_range: np.ndarray,
    detection_ids: np.ndarray,
) -> tuple[list[int], np.ndarray, np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Return the columns of one area range, group by group; ignored objects are the last of their group.

    They are the ids of objects, which objects and which detections are ignored, and the ids of matched objects and of
    matched detections.
    """
    truth, rows = dataset.ground_truth, groups.truth_rows
    lowest, highest = area_range.tolist()
    ignored = (truth.ignore[rows] | truth.crowd[rows]).astype(bool)
    ignored |= (truth.areas[rows] < lowest) | (truth.areas[rows] > highest)
    order = np.lexsort((ignored, np.repeat(np.arange(len(groups.images)), np.diff(groups.truth_starts))))
    ids = truth.ids[rows]
    truth_of_detection = matches.truth_of_detection[:, area].T
    detection_of_truth = matches.detection_of_truth[:, area].T
    first_truth = starts_of_other_side(groups.detection_starts, groups.truth_starts)
    first_detection = starts_of_other_side(groups.truth_starts, groups.detection_starts)
    areas = dataset.detections.areas[groups.detection_rows]
    outside = (areas < lowest) | (areas > highest)
    matches_ignored = np.zeros(truth_of_detection.shape, bool)
    if len(ids):
        matches_ignored = ignored[np.where(truth_of_detection < 0, 0, first_truth + truth_of_detection)]
    return (
        ids[order].tolist(),
        ignored[order].astype(np.int64),
        np.where(truth_of_detection < 0, outside, matches_ignored),
        matched_ids(truth_of_detection, ids, first_truth),
        matched_ids(detection_of_truth, detection_ids, first_detection)[:, order],
    )


def starts_of_other_side(starts: np.ndarray, other_starts: np.ndarray) -> np.ndarray:
    """Return, for each row of one side (ground truth or detections), where the other side of its group starts."""
    return np.repeat(other_starts[:-1], np.diff(starts))


def matched_ids(indices: np.ndarray, ids: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the ids of matched rows as floats, 0 for no match. `indices` are relative to `starts`."""
    if not len(ids):
        return np.zeros(indices.shape)
    return np.where(indices < 0, 0.0, ids.astype(np.float64)[np.where(indices < 0, 0, starts + indices)])


def accumulate_images(
    listed: Sequence[Sequence[Sequence[ImageResult | None]]],
    recalls: np.ndarray,
    max_detections: np.ndarray,
    n_thresholds: int,
) -> Accumulated:
    """Accumulate dicts of images; listed[category][area] are the dicts of the images, in their order."""
    n_categories, n_areas = len(listed), len(listed[0]) if len(listed) else 0
    n_recalls, n_maxima = len(recalls), len(max_detections)
    result = Accumulated(
        np.full((n_thresholds, n_recalls, n_categories, n_areas, n_maxima), -1.0),
        np.full((n_thresholds, n_categories, n_areas, n_maxima), -1.0),
        np.full((n_thresholds, n_recalls, n_categories, n_areas, n_maxima), -1.0),
    )
    for area in range(n_areas):
        rows = [[each for each in of_category[area] if each is not None] for of_category in listed]
        of_area = accumulate_area_range(rows, recalls, max_detections, n_thresholds)
        for out, values in zip(result, of_area, strict=True):
            out[..., area, :] = values[..., 0, :]
    return result


def accumulate_area_range(
    rows: Sequence[Sequence[ImageResult]], recalls: np.ndarray, max_detections: np.ndarray, n_thresholds: int
) -> Accumulated:
    """Accumulate the dicts of each category, all of one area range."""
    flat = [each for of_category in rows for each in of_category]
    lengths = np.array([len(each["dtScores"]) for each in flat], np.int64)
    starts = np.append(0, np.cumsum(lengths))
    scores = np.array([score for each in flat for score in each["dtScores"]], np.float64)
    matched = join_images([each["dtMatches"] for each in flat], n_thresholds, "dtMatches") != 0
    ignored = join_images([each["dtIgnore"] for each in flat], n_thresholds, "dtIgnore").astype(bool)
    categories = np.repeat(np.arange(len(rows)), [len(of_category) for of_category in rows])
    counted = [np.count_nonzero(np.asarray(each["gtIgnore"]) == 0) for each in flat]
    n_truth = np.bincount(categories, counted, minlength=len(rows)).astype(np.int64)[:, None]
    # Of the groups, `accumulate` reads the categories and the detections only; all other columns may be empty.
    no_integers = np.empty(0, np.int64)
    groups = ImageCategoryGroups(
        categories, no_integers, np.zeros_like(starts), no_integers, starts, np.arange(len(scores)), no_integers
    )
    # The kernel takes a detection without any match as ignored under all thresholds of a word or under none.
    unmatched = ignored[:, ~matched.any(axis=0)]
    step = MAX_CRITERIA if (unmatched == unmatched[:1]).all() else 1
    no_rows = np.empty((0, 1, n_thresholds), np.int32)
    criteria = [
        CriteriaMatches(
            slice(start, min(start + step, n_thresholds)), slice(0, 1), min(step, n_thresholds - start),
            pack_bits(matched[start : start + step]), pack_bits(ignored[start : start + step]),
        )
        for start in range(0, n_thresholds, step)
    ]  # fmt: skip
    return accumulate(
        scores, groups, Matches(criteria, n_truth, no_rows, no_rows), n_thresholds, recalls, max_detections
    )


def join_images(tables: list[Any], n_thresholds: int, name: str) -> np.ndarray:
    """Join the tables of all images into one, with a row for each IoU threshold."""
    if not tables:
        return np.zeros((n_thresholds, 0))
    table = np.concatenate(tables, axis=1)
    if len(table) != n_thresholds:
        raise ValueError(
            f"{name} in evalImgs has {len(table)} thresholds, but iouThrs has {n_thresholds}: call evaluate() again "
            "after iouThrs has changed"
        )
    return table


def pack_bits(table: np.ndarray) -> np.ndarray:
    """Return one word for each column; row i of the table, at most 64 rows, is bit i."""
    words = np.zeros(table.shape[1], np.uint64)
    for bit, row in enumerate(table):
        words |= row.astype(np.uint64) << np.uint64(bit)
    return words
