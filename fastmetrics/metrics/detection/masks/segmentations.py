"""Segmentations in the forms of COCO's files -> masks in run-length encoding.

- polygons: a list of lists of numbers x, y, x, y, ...; the mask is the union of all polygons;
- RLE: {"size": [height, width], "counts": [...]}, or with counts compressed into a str or bytes;
- pixels: an array, height x width, of bools or of 0 and 1.

pycocotools accepts counts that do not add up to the mask's size, text that ends too early and polygons of a single
point, and returns undefined masks. Here these are errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from fastmetrics._kernels.detection import masks as kernel
from fastmetrics.metrics.detection.run_length_masks import Masks, addressable, for_mask_ranges

BAD_CHARACTER, CUT_SHORT, BAD_COUNT, BAD_TOTAL = 1, 2, 3, 4  # error codes of kernel.read_compressed
COUNT_PROBLEMS = {
    kernel.NOT_AN_INTEGER: "the RLE's counts must be integers; found {found!r}",
    CUT_SHORT: "the RLE's counts end within a number, after {found} characters",
    BAD_COUNT: f"the RLE's counts must lie between 0 and {kernel.MOST_PIXELS}; found {{found}}",
    BAD_TOTAL: "the RLE's counts add up to {found} pixels, but size {size} has {n_pixels}",
}
POLYGON_PROBLEMS = {
    kernel.NO_POLYGON: "it is empty; at least one polygon is needed",
    kernel.NOT_A_LIST: "polygons must be a list of lists of numbers; found {} in the outer list",
    kernel.TOO_SHORT: "a polygon needs at least 3 points, 6 numbers; found {} numbers",
    kernel.ODD_LENGTH: "a polygon's numbers must be pairs of x and y; found {} numbers",
    kernel.NOT_A_NUMBER: "a polygon's coordinates must be numbers; found {}",
}
FAR_POINT = "a polygon's coordinates must lie between -1e8 and 1e8; found {}"
ACCEPTED_FORMS = "polygons (a list of lists), an RLE (a dict with size and counts) or a mask of pixels is needed"


class SegmentationError(Exception):
    """The problem of one segmentation; the row is added to the message later."""


def read_masks(
    segmentations: Sequence[Any],
    sizes: np.ndarray | None,
    name_of_row: Callable[[int], str],
    n_threads: int | None = None,
) -> Masks:
    """Read segmentations of any form. `sizes` are the heights and widths of the images; -1 or None if unknown.

    `name_of_row` names a row in errors.
    """
    reader = SegmentationReader(list(segmentations), sizes, n_threads)
    masks = reader.read()
    if reader.problems:
        row, problem = min(reader.problems)
        raise ValueError(f"{name_of_row(row)}: {problem}")
    return masks


class SegmentationReader:
    """Reads segmentations in several steps. Each step records its first bad row; the caller raises the first of all."""

    def __init__(self, rows: list[Any], sizes: np.ndarray | None, n_threads: int | None) -> None:
        n = len(rows)
        self.rows = rows
        self.image_sizes = np.full((n, 2), -1, np.int64) if sizes is None else sizes
        self.n_threads = n_threads
        self.problems: list[tuple[int, str]] = []
        self.kinds = np.zeros(n, np.uint8)
        self.texts = kernel.MaskTexts(n)
        self.sizes = self.image_sizes.copy()
        self.polygon_starts = np.zeros(n + 1, np.int64)

    def read(self) -> Masks:
        """Return the masks; the rows in `problems` are invalid."""
        self.find_kinds()
        self.check_sizes()
        points, point_starts = self.read_points()
        n_counts = np.zeros(len(self.rows), np.int64)
        self.for_ranges(lambda start, stop: kernel.count_numbers(self.kinds, self.texts, n_counts, start, stop))
        self.for_ranges(
            lambda start, stop: kernel.count_boundaries(
                points, point_starts, self.polygon_starts, self.sizes, n_counts, start, stop
            )
        )
        starts = np.append(0, np.cumsum(n_counts))
        counts = addressable(np.empty(int(starts[-1]), np.uint32))
        self.for_ranges(lambda start, stop: self.read_compressed(starts, counts, start, stop))
        self.read_uncompressed(starts, counts)
        if len(points):
            self.for_ranges(
                lambda start, stop: kernel.draw(
                    points, point_starts, self.polygon_starts, self.sizes, starts, counts, n_counts, start, stop
                )
            )
            kernel.close_gaps(counts, starts, n_counts)
        return Masks(counts[: starts[-1]], starts, self.sizes)

    def for_ranges(self, work: Callable[[int, int], None]) -> None:
        for_mask_ranges(len(self.rows), self.n_threads, work)

    def record_problem(self, row: int, problem: str) -> None:
        """Record the problem of a row. Later steps skip this row and all rows after it."""
        self.problems.append((row, problem))
        self.kinds[row:] = kernel.UNKNOWN

    def find_kinds(self) -> None:
        """Find the kind of each row. Arrays and tuples become lists, and masks of pixels become RLEs."""
        self.texts = kernel.find_kinds(self.rows, self.kinds, self.sizes)
        unknown = np.flatnonzero(self.kinds == kernel.UNKNOWN).tolist()
        if not unknown:
            return
        bad = None
        for row in unknown:
            try:
                self.rows[row] = as_plain_form(self.rows[row])
            except SegmentationError as problem:
                bad = row, str(problem)
                break
        self.texts = kernel.find_kinds(self.rows, self.kinds, self.sizes)
        if bad is not None:
            self.record_problem(*bad)

    def check_sizes(self) -> None:
        """Check that the size of an RLE is that of its image, if known, and that images with polygons have a size."""
        known = self.image_sizes.min(axis=1, initial=1) >= 1
        polygons = self.kinds == kernel.POLYGONS
        bad = (known & (self.sizes != self.image_sizes).any(axis=1)) | (polygons & ~known)
        bad |= known & (self.image_sizes[:, 0] > kernel.MOST_PIXELS // np.maximum(self.image_sizes[:, 1], 1))
        rows = np.flatnonzero(bad & (self.kinds != kernel.UNKNOWN))
        if len(rows) == 0:
            return
        row = int(rows[0])
        size, image_size = self.sizes[row].tolist(), self.image_sizes[row].tolist()
        if not known[row]:
            problem = "polygons need the size of their image, which has no height and width"
        elif size != image_size:
            problem = f"its size is {size}, the image's {image_size} (height, width)"
        else:
            problem = f"the image's size {image_size} has more than {kernel.MOST_PIXELS} pixels"
        self.record_problem(row, problem)

    def read_points(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the points of all polygons, and the index of each polygon's first point."""
        while True:
            n_numbers = self.count_polygons()
            point_starts = np.zeros(int(self.polygon_starts[-1]) + 1, np.int64)
            points = np.empty(n_numbers)
            row, code, found = kernel.read_polygons(self.rows, self.kinds, self.polygon_starts, point_starts, points)
            if row < 0:
                return points, point_starts
            self.record_problem(row, POLYGON_PROBLEMS.get(code, FAR_POINT).format(shortened(found)))

    def count_polygons(self) -> int:
        """Return the number of coordinates of all polygons."""
        made_plain = False
        while True:
            row, code, found, n_numbers = kernel.count_polygons(self.rows, self.kinds, self.polygon_starts)
            if row < 0:
                return n_numbers
            if code == kernel.NOT_A_LIST and isinstance(found, (tuple, np.ndarray)) and not made_plain:
                self.rows = [as_plain_polygons(each) if isinstance(each, list) else each for each in self.rows]
                made_plain = True
            else:
                self.record_problem(row, POLYGON_PROBLEMS.get(code, FAR_POINT).format(shortened(found)))

    def read_compressed(self, starts: np.ndarray, counts: np.ndarray, start: int, stop: int) -> None:
        row, code, detail = kernel.read_compressed(self.kinds, self.texts, self.sizes, starts, counts, start, stop)
        if row >= 0:
            text = self.rows[row]["counts"]
            self.problems.append((row, count_problem(code, detail, self.sizes[row].tolist(), text)))

    def read_uncompressed(self, starts: np.ndarray, counts: np.ndarray) -> None:
        row, code, found = kernel.read_uncompressed(self.rows, self.kinds, self.sizes, starts, counts)
        if row >= 0:
            self.problems.append((row, count_problem(code, found, self.sizes[row].tolist(), "")))


def count_problem(code: int, found: Any, size: list[int], text: str | bytes) -> str:
    """Describe the problem of the counts of an RLE."""
    if code != BAD_CHARACTER:
        return COUNT_PROBLEMS[code].format(found=found, size=size, n_pixels=size[0] * size[1])
    encoded = text.encode("utf-8") if isinstance(text, str) else text
    character = encoded[found : found + 1]
    if b"0" <= character <= b"o":
        return f"the RLE's counts have a number of too many characters, up to position {found}"
    return f"the RLE's counts have a character {character!r} at position {found}, which is not in '0' to 'o'"


def shortened(value: Any) -> str:
    """Return the repr of a value, cut to 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def as_plain_form(row: Any) -> Any:
    """Convert a row to a form that the kernel reads; raise a SegmentationError if it is not a segmentation."""
    for array in (row, *row) if isinstance(row, (list, tuple)) else (row,):
        if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
            raise SegmentationError("the array has masked values")
    if isinstance(row, np.ndarray):
        return encode_pixels(row) if row.ndim == 2 and row.dtype.kind in "bu" else as_plain_polygons(row.tolist())
    if isinstance(row, tuple):
        return as_plain_polygons(list(row))
    if not isinstance(row, Mapping):
        raise SegmentationError(f"{ACCEPTED_FORMS}; found {shortened(row)}")
    for key in ("size", "counts"):
        if key not in row:
            raise SegmentationError(f"the RLE has no {key!r}; found {shortened(dict(row))}")
    counts = row["counts"]
    if isinstance(counts, (np.ndarray, tuple)):
        counts = list(counts) if isinstance(counts, tuple) else counts.tolist()
    if not isinstance(counts, (list, str, bytes)):
        raise SegmentationError(f"the RLE's counts must be a list of integers, str or bytes; found {shortened(counts)}")
    if isinstance(counts, str):
        counts = counts.encode("utf-8", "surrogatepass")
    return {"size": as_plain_size(row["size"]), "counts": counts}


def as_plain_size(size: Any) -> list[int]:
    """Return height and width as a list of Python integers."""
    problem = f"the RLE's size must be two positive integers (height, width); found {shortened(size)}"
    listed = size.tolist() if isinstance(size, np.ndarray) else size
    if not isinstance(listed, (list, tuple)) or len(listed) != 2:
        raise SegmentationError(problem)
    if any(isinstance(each, bool) or not isinstance(each, (int, np.integer)) or each < 1 for each in listed):
        raise SegmentationError(problem)
    height, width = map(int, listed)
    if height * width > kernel.MOST_PIXELS:
        raise SegmentationError(f"the RLE's size {[height, width]} has more than {kernel.MOST_PIXELS} pixels")
    return [height, width]


def as_plain_polygons(row: list[Any]) -> list[Any]:
    """Convert polygons that are tuples or arrays (also arrays of points) to lists of numbers."""
    return [np.asarray(each).ravel().tolist() if isinstance(each, (np.ndarray, tuple)) else each for each in row]


def encode_pixels(mask: np.ndarray) -> dict[str, Any]:
    """Encode a mask of pixels as RLE."""
    height, width = mask.shape
    if mask.dtype not in (np.bool_, np.uint8):
        raise SegmentationError(f"a mask of pixels must have dtype bool or uint8; found {mask.dtype}")
    if mask.size == 0 or mask.size > kernel.MOST_PIXELS:
        raise SegmentationError(f"a mask must have 1 to {kernel.MOST_PIXELS} pixels; found shape {mask.shape}")
    pixels = np.ascontiguousarray(mask.T).view(np.uint8).ravel()
    n_counts = kernel.count_runs(pixels)
    if n_counts < 0:
        raise SegmentationError(f"a mask's pixels must be 0 or 1; found {int(mask.max())}")
    counts = np.empty(n_counts, np.uint32)
    kernel.runs_of_pixels(pixels, counts)
    (text,) = write_compressed_counts(Masks(counts, np.array([0, n_counts]), np.array([[height, width]])), 1)
    return {"size": [height, width], "counts": text}


def write_compressed_counts(masks: Masks, n_threads: int | None = None) -> list[bytes]:
    """Return the counts of each mask in COCO's compressed form."""
    n, counts = len(masks.sizes), addressable(masks.counts)
    text_starts = np.zeros(n + 1, np.int64)
    for_mask_ranges(
        n, n_threads, lambda start, stop: kernel.text_lengths(counts, masks.starts, text_starts[1:], start, stop)
    )
    np.cumsum(text_starts, out=text_starts)
    text = np.empty(max(1, int(text_starts[-1])), np.uint8)
    for_mask_ranges(
        n, n_threads, lambda start, stop: kernel.write_texts(counts, masks.starts, text_starts, text, start, stop)
    )
    joined, bounds = text.tobytes(), text_starts.tolist()
    return [joined[start:stop] for start, stop in pairwise(bounds)]
