"""Masks for users: COCO's run-length encoding made of anything, pixels made of it, and masks compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.parallel import count_threads
from fastmetrics._kernels import masks as kernel
from fastmetrics.metrics.detection.groups import Groups
from fastmetrics.metrics.detection.masks import Masks, compare_masks, in_parts, room
from fastmetrics.metrics.detection.segmentations import read_masks, write_texts

__all__ = ["decode_masks", "encode_masks", "mask_areas", "mask_iou"]

DETECTIONS_OF_PART = 128


def encode_masks(
    masks: Any, *, size: tuple[int, int] | None = None, compressed: bool = True, n_threads: int | None = None
) -> list[dict[str, Any]]:
    """Masks of any form as COCO's run-length encoding.

    The pixels of a mask go down its columns, from the left one; counts are the lengths of runs outside, inside,
    outside, and so on. Several polygons of one object are joined. What `pycocotools.mask` does by `encode`,
    `frPyObjects` and `merge` (P. Dollar and T.-Y. Lin, maskApi, 2014), polygons to the same runs: their edges are drawn
    on a grid five times as fine as the pixels.

    Parameters
    ----------
    masks : array of shape (n, height, width), or sequence of segmentations
        Pixels (bool, or uint8 of 0 and 1); or a list of which each is polygons (a list of lists x, y, x, y, ... in
        pixels, from -1e8 to 1e8), an RLE (a dict of size and counts, compressed or not), or a mask of pixels.
    size : tuple of int, optional
        Height and width of the image; needed for polygons, and checked with all others.
    compressed : bool
        Counts as text, as JSON files have them (True), or as a list of integers (False).
    n_threads : int, optional
        Threads to use; by default as many as the process may run on.

    Returns
    -------
    list of dict
        Of each mask {"size": [height, width], "counts": str or list of int}.

    Raises
    ------
    ValueError
        A segmentation of no known form, an RLE whose counts do not fill the mask, a polygon of less than 3 points or
        with coordinates that are not finite, more than 2**32 - 1 pixels.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.encode_masks([[[1, 1, 3, 1, 3, 3, 1, 3]]], size=(4, 5))
    [{'size': [4, 5], 'counts': '52207'}]
    >>> fm.encode_masks([[[1, 1, 3, 1, 3, 3, 1, 3]]], size=(4, 5), compressed=False)
    [{'size': [4, 5], 'counts': [5, 2, 2, 2, 9]}]
    """
    inputs.check_flag(compressed, "compressed")
    read = as_masks(masks, "masks", size, n_threads)
    every: list[Any]
    if compressed:
        every = [text.decode() for text in write_texts(read, n_threads)]
    else:
        every = [counts.tolist() for counts in np.split(read.counts, read.starts[1:-1])[: len(read.sizes)]]
    sizes = read.sizes.tolist()
    return [{"size": each, "counts": counts} for each, counts in zip(sizes, every, strict=True)]


def decode_masks(masks: Any, *, size: tuple[int, int] | None = None, n_threads: int | None = None) -> np.ndarray:
    """The pixels of masks that are all of one size.

    What `pycocotools.mask.decode` does, with the masks along the first axis.

    Parameters
    ----------
    masks : sequence of segmentations
        Each polygons, an RLE, or a mask of pixels; see `encode_masks`.
    size : tuple of int, optional
        Height and width of the image; needed for polygons, and checked with all others.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on.

    Returns
    -------
    ndarray of uint8, shape (n, height, width)
        1 inside, 0 outside. Of no masks and no size the shape is (0, 0, 0).

    Raises
    ------
    ValueError
        Masks of several sizes, or what is no mask; see `encode_masks`.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.decode_masks([{"size": [2, 3], "counts": [1, 3, 2]}])
    array([[[0, 1, 0],
            [1, 1, 0]]], dtype=uint8)
    """
    read = as_masks(masks, "masks", size, n_threads)
    n = len(read.sizes)
    if n == 0:
        height, width = check_size(size) if size is not None else (0, 0)
    else:
        check_one_size(read, "masks")
        height, width = read.sizes[0].tolist()
    pixels = np.empty(n * height * width, np.uint8)
    counts = room(read.counts)
    in_parts(
        n, n_threads, lambda start, stop: kernel.fill_pixels(counts, read.starts, height * width, pixels, start, stop)
    )
    return pixels.reshape(n, width, height).transpose(0, 2, 1)


def mask_areas(masks: Any, *, size: tuple[int, int] | None = None, n_threads: int | None = None) -> np.ndarray:
    """How many pixels each mask has.

    What `pycocotools.mask.area` says, in 64 bits.

    Parameters
    ----------
    masks : array of shape (n, height, width), or sequence of segmentations
        Pixels, or a list of polygons, RLE, masks of pixels; see `encode_masks`.
    size : tuple of int, optional
        Height and width of the image; needed for polygons, and checked with all others.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on.

    Returns
    -------
    ndarray of int64, shape (n,)
        Pixels inside.

    Raises
    ------
    ValueError
        What is no mask; see `encode_masks`.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.mask_areas([{"size": [2, 3], "counts": [1, 3, 2]}, {"size": [9, 9], "counts": [81]}])
    array([3, 0])
    """
    return as_masks(masks, "masks", size, n_threads).measure(n_threads)[0]


def mask_iou(
    masks_a: Any,
    masks_b: Any,
    *,
    crowd: Any = None,
    size: tuple[int, int] | None = None,
    n_threads: int | None = None,
) -> np.ndarray:
    """How far masks cover each other: pixels in both, divided by pixels in either.

    IoU(a, b) = |a and b| / |a or b|, and |a and b| / |a| where b is a crowd: a region of many objects, of which a
    detection a needs to cover only its own (T.-Y. Lin et al., Microsoft COCO, ECCV 2014). Bit for bit what
    `pycocotools.mask.iou` gives.

    Parameters
    ----------
    masks_a : array of shape (n, height, width), or sequence of segmentations
        Pixels, or a list of polygons, RLE, masks of pixels; see `encode_masks`.
    masks_b : array of shape (m, height, width), or sequence of segmentations
        The same.
    crowd : array-like of shape (m,), optional
        Which of masks_b are crowds: bools, or 0 and 1. None of them by default.
    size : tuple of int, optional
        Height and width of the image; needed for polygons, and checked with all others.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    ndarray of float64, shape (n, m)
        In [0, 1].

    Raises
    ------
    ValueError
        Masks of several sizes, what is no mask (see `encode_masks`), or a length of crowd that is not m.

    Notes
    -----
    Two masks without pixels have IoU 0, as in pycocotools.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> found = [{"size": [2, 3], "counts": [0, 4, 2]}]
    >>> truth = [{"size": [2, 3], "counts": [2, 4]}, {"size": [2, 3], "counts": [5, 1]}]
    >>> fm.mask_iou(found, truth)
    array([[0.33333333, 0.        ]])
    >>> fm.mask_iou(found, truth, crowd=[True, False])
    array([[0.5, 0. ]])
    """
    found = as_masks(masks_a, "masks_a", size, n_threads)
    truth = as_masks(masks_b, "masks_b", size, n_threads)
    n, m = len(found.sizes), len(truth.sizes)
    crowds = check_crowd(crowd, m)
    overlaps = np.empty(n * m)
    if n * m == 0:
        return overlaps.reshape(n, m)
    bounds = np.append(np.arange(0, n, DETECTIONS_OF_PART), n)
    parts = len(bounds) - 1
    none = np.zeros(parts, np.int64)
    groups = Groups(
        none, none, np.arange(parts + 1) * m, np.tile(np.arange(m), parts), bounds, np.arange(n), bounds * m
    )
    different = compare_masks(found, truth, crowds, groups, overlaps, n_threads)
    if different is not None:
        row, other = different
        raise ValueError(
            f"masks_a has a mask of size {found.sizes[row].tolist()} at row {row}, but masks_b one of size "
            f"{truth.sizes[other].tolist()} at row {other}: masks of one size can be compared"
        )
    return overlaps.reshape(n, m)


def as_masks(masks: Any, name: str, size: Any, n_threads: int | None) -> Masks:
    """Masks of what a user gives as several of them."""
    count_threads(n_threads)
    wanted = None if size is None else check_size(size)
    if isinstance(masks, Masks):
        return masks
    if isinstance(masks, np.ndarray) and masks.dtype != object:
        if masks.ndim != 3:
            raise ValueError(f"{name} must have the shape (n, height, width) as an array; found {masks.shape}")
    elif isinstance(masks, (str, bytes, dict)) or not isinstance(masks, (Sequence, np.ndarray)):
        raise inputs.InputError(f"{name} must be a list of segmentations; found {type(masks).__name__}")
    sizes = np.tile(np.array([wanted or (-1, -1)], np.int64), (len(masks), 1))
    return read_masks(list(masks), sizes, lambda row: f"{name} has a bad segmentation at row {row}", n_threads)


def check_size(size: Any) -> tuple[int, int]:
    """Height and width of an image."""
    listed = list(size) if isinstance(size, (tuple, list, np.ndarray)) else []
    if len(listed) != 2 or any(
        isinstance(each, bool) or not isinstance(each, (int, np.integer)) or each < 1 for each in listed
    ):
        raise inputs.OptionError(f"size must be two positive integers (height, width); found {size!r}")
    return int(listed[0]), int(listed[1])


def check_one_size(masks: Masks, name: str) -> None:
    others = (masks.sizes != masks.sizes[0]).any(axis=1)
    if others.any():
        row = int(np.argmax(others))
        raise ValueError(
            f"{name} must be of one size; found {masks.sizes[0].tolist()} at row 0 and {masks.sizes[row].tolist()} "
            f"at row {row}"
        )


def check_crowd(crowd: Any, n: int) -> np.ndarray:
    """Which objects are crowds, as 0 and 1."""
    if crowd is None:
        return np.zeros(max(n, 1), np.uint8)
    flags = inputs.as_array(crowd, "crowd")
    if flags.ndim != 1 or len(flags) != n:
        raise ValueError(f"crowd must have one value for each mask of masks_b, {n}; found shape {flags.shape}")
    if n and flags.dtype.kind not in "bui":
        raise inputs.InputError(f"crowd must be bools, or 0 and 1; found dtype {flags.dtype}")
    bad = np.flatnonzero((flags != 0) & (flags != 1))
    if len(bad):
        raise ValueError(f"crowd must be bools, or 0 and 1; found {flags[bad[0]]} at row {bad[0]}")
    return flags.astype(np.uint8)
