"""Segmentations in the forms that COCO's files have -> masks as runs.

- polygons: a list of lists of numbers x, y, x, y, ...; several are one object in parts, their union is the mask;
- run-length encoding: {"size": [height, width], "counts": [...]}, or with counts compressed into a str or bytes;
- an array of pixels, height x width, of bools or of 0 and 1.

pycocotools takes counts that fill too little or too much of the mask, text that ends too early and polygons of a single
point, and counts whatever comes of it. Here these are errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from fastmetrics._kernels import masks as kernel
from fastmetrics.metrics.detection.masks import Masks, in_parts, room

READ_CHARACTER, READ_SHORT, READ_COUNT, READ_TOTAL = 1, 2, 3, 4
FORMS = "polygons (a list of lists), an RLE (a dict with size and counts) or a mask of pixels is needed"


class SegmentationError(Exception):
    """What is wrong with one segmentation, before it is known which one it is."""


def read_masks(
    segmentations: Sequence[Any],
    sizes: np.ndarray | None,
    name: Callable[[int], str],
    n_threads: int | None = None,
) -> Masks:
    """Read segmentations of any form, each row's mask of the size (height, width) given; -1 or None where not known.

    Errors name the row, as `name` does, and what was found.
    """
    reader = Reader(list(segmentations), sizes, n_threads)
    masks = reader.read()
    if reader.problems:
        row, problem = min(reader.problems)
        raise ValueError(f"{name(row)}: {problem}")
    return masks


class Reader:
    """Segmentations on their way to masks. Every step remembers the first bad one that it meets."""

    def __init__(self, rows: list[Any], sizes: np.ndarray | None, n_threads: int | None) -> None:
        n = len(rows)
        self.rows = rows
        self.wanted = np.full((n, 2), -1, np.int64) if sizes is None else sizes
        self.n_threads = n_threads
        self.problems: list[tuple[int, str]] = []
        self.kinds = np.zeros(n, np.uint8)
        self.addresses = np.zeros(n, np.uint64)
        self.lengths = np.zeros(n, np.int64)
        self.sizes = self.wanted.copy()
        self.polygon_starts = np.zeros(n + 1, np.int64)

    def read(self) -> Masks:
        held = self.gather()
        self.check_sizes()
        points, point_starts = self.points()
        n_counts = np.zeros(len(self.rows), np.int64)
        self.in_parts(
            lambda start, stop: kernel.count_numbers(self.kinds, self.addresses, self.lengths, n_counts, start, stop)
        )
        self.in_parts(
            lambda start, stop: kernel.count_boundaries(
                points, point_starts, self.polygon_starts, self.sizes, n_counts, start, stop
            )
        )
        starts = np.append(0, np.cumsum(n_counts))
        counts = room(np.empty(int(starts[-1]), np.uint32))
        self.in_parts(lambda start, stop: self.compressed(starts, counts, start, stop))
        self.uncompressed(starts, counts)
        if len(points):
            self.in_parts(
                lambda start, stop: kernel.draw(
                    points, point_starts, self.polygon_starts, self.sizes, starts, counts, n_counts, start, stop
                )
            )
            kernel.close_gaps(counts, starts, n_counts)
        del held
        return Masks(counts[: starts[-1]], starts, self.sizes)

    def in_parts(self, work: Callable[[int, int], None]) -> None:
        in_parts(len(self.rows), self.n_threads, work)

    def refuse(self, row: int, problem: str) -> None:
        """Remember what is wrong with a row: only those before it are of interest from now on."""
        self.problems.append((row, problem))
        self.kinds[row:] = kernel.UNKNOWN

    def gather(self) -> list[Any]:
        """What each row is; arrays and tuples become lists, masks of pixels become RLE."""
        held = kernel.gather(self.rows, self.kinds, self.addresses, self.lengths, self.sizes)
        unknown = np.flatnonzero(self.kinds == kernel.UNKNOWN).tolist()
        if not unknown:
            return held
        bad = None
        for row in unknown:
            try:
                self.rows[row] = plain(self.rows[row])
            except SegmentationError as problem:
                bad = row, str(problem)
                break
        held = kernel.gather(self.rows, self.kinds, self.addresses, self.lengths, self.sizes)
        if bad is not None:
            self.refuse(*bad)
        return held

    def check_sizes(self) -> None:
        """RLE has a size of its own: it must be the image's where that is known. Polygons have none."""
        known = self.wanted.min(axis=1, initial=1) >= 1
        polygons = self.kinds == kernel.POLYGONS
        bad = (known & (self.sizes != self.wanted).any(axis=1)) | (polygons & ~known)
        bad |= known & (self.wanted[:, 0] > kernel.MOST_PIXELS // np.maximum(self.wanted[:, 1], 1))
        rows = np.flatnonzero(bad & (self.kinds != kernel.UNKNOWN))
        if len(rows) == 0:
            return
        row = int(rows[0])
        size, wanted = self.sizes[row].tolist(), self.wanted[row].tolist()
        if not known[row]:
            problem = "polygons need the size of their image, which has no height and width"
        elif size != wanted:
            problem = f"its size is {size}, the image's {wanted} (height, width)"
        else:
            problem = f"the image's size {wanted} has more than {kernel.MOST_PIXELS} pixels"
        self.refuse(row, problem)

    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """Points of all polygons, and where each polygon's begin."""
        while True:
            n_numbers = self.count_polygons()
            point_starts = np.zeros(int(self.polygon_starts[-1]) + 1, np.int64)
            points = np.empty(n_numbers)
            row, code, found = kernel.read_polygons(self.rows, self.kinds, self.polygon_starts, point_starts, points)
            if row < 0:
                return points, point_starts
            self.refuse(row, polygon_problem(code, found))

    def count_polygons(self) -> int:
        """How many numbers polygons have."""
        made_plain = False
        while True:
            row, code, found, n_numbers = kernel.count_polygons(self.rows, self.kinds, self.polygon_starts)
            if row < 0:
                return n_numbers
            if code == kernel.NOT_A_LIST and isinstance(found, (tuple, np.ndarray)) and not made_plain:
                self.rows = [plain_polygons(each) if isinstance(each, list) else each for each in self.rows]
                made_plain = True
            else:
                self.refuse(row, polygon_problem(code, found))

    def compressed(self, starts: np.ndarray, counts: np.ndarray, start: int, stop: int) -> None:
        row, code, detail = kernel.read_compressed(
            self.kinds, self.addresses, self.lengths, self.sizes, starts, counts, start, stop
        )
        if row >= 0:
            text = self.rows[row]["counts"]
            self.problems.append((row, run_problem(code, detail, self.sizes[row].tolist(), text)))

    def uncompressed(self, starts: np.ndarray, counts: np.ndarray) -> None:
        row, code, found = kernel.read_uncompressed(self.rows, self.kinds, self.sizes, starts, counts)
        if row >= 0:
            self.problems.append((row, run_problem(code, found, self.sizes[row].tolist(), "")))


def run_problem(code: int, found: Any, size: list[int], text: str | bytes) -> str:
    """What is wrong with the counts of an RLE."""
    if code == kernel.NOT_AN_INTEGER:
        return f"the RLE's counts must be integers; found {found!r}"
    if code == READ_CHARACTER:
        encoded = text.encode("utf-8") if isinstance(text, str) else text
        character = encoded[found : found + 1]
        if b"0" <= character <= b"o":
            return f"the RLE's counts have a number of too many characters, up to place {found}"
        return f"the RLE's counts have a character {character!r} at place {found}, which is not in '0' to 'o'"
    if code == READ_SHORT:
        return f"the RLE's counts end within a number, after {found} characters"
    if code == READ_COUNT:
        return f"the RLE's counts must lie between 0 and {kernel.MOST_PIXELS}; found {found}"
    return f"the RLE's counts add up to {found} pixels, but size {size} has {size[0] * size[1]}"


def polygon_problem(code: int, found: Any) -> str:
    """What is wrong with a polygon."""
    if code == kernel.NO_POLYGON:
        return "it is empty; at least one polygon is needed"
    if code == kernel.NOT_A_LIST:
        return f"polygons must be a list of lists of numbers; found {short(found)} in the outer list"
    if code == kernel.TOO_SHORT:
        return f"a polygon needs at least 3 points, 6 numbers; found {found} numbers"
    if code == kernel.ODD_LENGTH:
        return f"a polygon's numbers must be pairs of x and y; found {found} numbers"
    if code == kernel.NOT_A_NUMBER:
        return f"a polygon's coordinates must be numbers; found {short(found)}"
    return f"a polygon's coordinates must lie between -1e8 and 1e8; found {short(found)}"


def short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def plain(row: Any) -> Any:
    """A row in a form that the kernel reads, or the reason why there is none."""
    if isinstance(row, np.ndarray):
        return of_pixels(row) if row.ndim == 2 and row.dtype.kind in "bu" else plain_polygons(row.tolist())
    if isinstance(row, tuple):
        return plain_polygons(list(row))
    if not isinstance(row, Mapping):
        raise SegmentationError(f"{FORMS}; found {short(row)}")
    for key in ("size", "counts"):
        if key not in row:
            raise SegmentationError(f"the RLE has no {key!r}; found {short(dict(row))}")
    counts = row["counts"]
    if isinstance(counts, (np.ndarray, tuple)):
        counts = list(counts) if isinstance(counts, tuple) else counts.tolist()
    if not isinstance(counts, (list, str, bytes)):
        raise SegmentationError(f"the RLE's counts must be a list of integers, str or bytes; found {short(counts)}")
    if isinstance(counts, str):
        counts = counts.encode("utf-8", "surrogatepass")
    return {"size": plain_size(row["size"]), "counts": counts}


def plain_size(size: Any) -> list[int]:
    """Height and width."""
    problem = f"the RLE's size must be two positive integers (height, width); found {short(size)}"
    listed = size.tolist() if isinstance(size, np.ndarray) else size
    if not isinstance(listed, (list, tuple)) or len(listed) != 2:
        raise SegmentationError(problem)
    if any(isinstance(each, bool) or not isinstance(each, (int, np.integer)) or each < 1 for each in listed):
        raise SegmentationError(problem)
    height, width = map(int, listed)
    if height * width > kernel.MOST_PIXELS:
        raise SegmentationError(f"the RLE's size {[height, width]} has more than {kernel.MOST_PIXELS} pixels")
    return [height, width]


def plain_polygons(row: list[Any]) -> list[Any]:
    """Polygons that are lists of numbers, of which they may be arrays, also of points."""
    return [np.asarray(each).ravel().tolist() if isinstance(each, (np.ndarray, tuple)) else each for each in row]


def of_pixels(mask: np.ndarray) -> dict[str, Any]:
    """A mask of pixels as RLE."""
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
    (text,) = write_texts(Masks(counts, np.array([0, n_counts]), np.array([[height, width]])), 1)
    return {"size": [height, width], "counts": text}


def write_texts(masks: Masks, n_threads: int | None = None) -> list[bytes]:
    """The counts of each mask in COCO's compressed form."""
    n, counts = len(masks.sizes), room(masks.counts)
    text_starts = np.zeros(n + 1, np.int64)
    in_parts(
        n, n_threads, lambda start, stop: kernel.text_lengths(counts, masks.starts, text_starts[1:], start, stop)
    )
    np.cumsum(text_starts, out=text_starts)
    text = np.empty(max(1, int(text_starts[-1])), np.uint8)
    in_parts(
        n, n_threads, lambda start, stop: kernel.write_texts(counts, masks.starts, text_starts, text, start, stop)
    )
    whole, bounds = text.tobytes(), text_starts.tolist()
    return [whole[start:stop] for start, stop in pairwise(bounds)]
