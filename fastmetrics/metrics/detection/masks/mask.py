"""Functions on masks, like those of pycocotools' `mask` module: encode, decode, area and IoU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.array_types import plain_values
from fastmetrics._core.parallel import count_threads
from fastmetrics._kernels.detection import masks as kernel
from fastmetrics.metrics.detection.group_ious import fill_mask_ious
from fastmetrics.metrics.detection.image_category_groups import ImageCategoryGroups
from fastmetrics.metrics.detection.masks.segmentations import read_masks, write_compressed_counts
from fastmetrics.metrics.detection.run_length_masks import Masks, addressable, for_mask_ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastmetrics._core.types.arrays import ArrayLike, Floats, Ints, NumericArrayLike

__all__ = ["decode_masks", "encode_masks", "mask_areas", "mask_iou"]

DETECTIONS_PER_GROUP = 128


@answers_unknown
def encode_masks(
    masks: ArrayLike, *, size: tuple[int, int] | None = None, compressed: bool = True, n_threads: int | None = None
) -> list[dict[str, Any]]:
    """Masks of any form as COCO's run-length encoding.

    The pixels of a mask are in column order, columns from the left. Counts are the lengths of runs outside, inside,
    outside, and so on. The mask of several polygons is their union. The same as `encode`, `frPyObjects` and `merge` of
    `pycocotools.mask` (P. Dollar and T.-Y. Lin, maskApi, 2014). Polygons give the same runs: their edges are drawn on a
    grid five times as fine as the pixels, point by point, and the boundary in a column is where an edge passes the
    column's middle.

    Parameters
    ----------
    masks : array of shape (n, height, width), or sequence of segmentations
        Pixels (bool, or uint8 of 0 and 1). Or a list whose elements are polygons (a list of lists x, y, x, y, ... in
        pixels, from -1e8 to 1e8), an RLE (a dict of size and counts, compressed or not), or a mask of pixels.
    size : tuple of int, optional
        Height and width of the image. Required for polygons; other forms must have this size.
    compressed : bool
        If True, counts are text, as in JSON files; if False, a list of integers.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    list of dict
        For each mask {"size": [height, width], "counts": str or list of int}.

    Raises
    ------
    ValueError
        A segmentation has none of these forms, the counts of an RLE do not add up to the mask's size, a polygon has
        less than 3 points or a coordinate that is not finite, or a mask has more than 2**32 - 1 pixels.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.encode_masks([[[1, 1, 3, 1, 3, 3, 1, 3]]], size=(4, 5))
    [{'size': [4, 5], 'counts': '52207'}]
    >>> fm.encode_masks([[[1, 1, 3, 1, 3, 3, 1, 3]]], size=(4, 5), compressed=False)
    [{'size': [4, 5], 'counts': [5, 2, 2, 2, 9]}]
    """
    validation.check_flag(compressed, "compressed")
    rle = as_masks(masks, "masks", size, n_threads)
    all_counts: list[Any]
    if compressed:
        all_counts = [text.decode() for text in write_compressed_counts(rle, n_threads)]
    else:
        all_counts = [counts.tolist() for counts in np.split(rle.counts, rle.starts[1:-1])[: len(rle.sizes)]]
    return [{"size": size, "counts": counts} for size, counts in zip(rle.sizes.tolist(), all_counts, strict=True)]


@answers_unknown
def decode_masks(
    masks: ArrayLike, *, size: tuple[int, int] | None = None, n_threads: int | None = None
) -> NDArray[np.uint8]:
    """The pixels of masks that all have the same size.

    The same as `pycocotools.mask.decode`, but the masks are along the first axis.

    Parameters
    ----------
    masks : sequence of segmentations
        Polygons, RLEs or masks of pixels; see `encode_masks`.
    size : tuple of int, optional
        Height and width of the image. Required for polygons; other forms must have this size.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    ndarray of uint8, shape (n, height, width)
        1 inside, 0 outside. Without masks and size the shape is (0, 0, 0).

    Raises
    ------
    ValueError
        Masks have different sizes, or one is invalid; see `encode_masks`.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.decode_masks([{"size": [2, 3], "counts": [1, 3, 2]}])
    array([[[0, 1, 0],
            [1, 1, 0]]], dtype=uint8)
    """
    rle = as_masks(masks, "masks", size, n_threads)
    n = len(rle.sizes)
    if n == 0:
        height, width = check_size(size) if size is not None else (0, 0)
    else:
        check_same_size(rle, "masks")
        height, width = rle.sizes[0].tolist()
    pixels = np.empty(n * height * width, np.uint8)
    counts = addressable(rle.counts)
    for_mask_ranges(
        n, n_threads, lambda start, stop: kernel.fill_pixels(counts, rle.starts, height * width, pixels, start, stop)
    )
    return pixels.reshape(n, width, height).transpose(0, 2, 1)


@answers_unknown
def mask_areas(masks: ArrayLike, *, size: tuple[int, int] | None = None, n_threads: int | None = None) -> Ints:
    """The number of pixels of each mask.

    The same as `pycocotools.mask.area`, in 64 bits.

    Parameters
    ----------
    masks : array of shape (n, height, width), or sequence of segmentations
        Pixels, or a list of polygons, RLEs or masks of pixels; see `encode_masks`.
    size : tuple of int, optional
        Height and width of the image. Required for polygons; other forms must have this size.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    ndarray of int64, shape (n,)
        Pixels inside.

    Raises
    ------
    ValueError
        A mask is invalid; see `encode_masks`.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.mask_areas([{"size": [2, 3], "counts": [1, 3, 2]}, {"size": [9, 9], "counts": [81]}])
    array([3, 0])
    """
    return as_masks(masks, "masks", size, n_threads).measure(n_threads)[0]


@answers_unknown
def mask_iou(
    masks_a: ArrayLike,
    masks_b: ArrayLike,
    *,
    crowd: NumericArrayLike | None = None,
    size: tuple[int, int] | None = None,
    n_threads: int | None = None,
) -> Floats:
    """Intersection over union of masks: pixels in both, divided by pixels in either.

    IoU(a, b) = |a and b| / |a or b|. If b is a crowd, a region of many objects, it is |a and b| / |a|, because a
    detection a covers only one of these objects (T.-Y. Lin et al., Microsoft COCO, ECCV 2014). Equal bit for bit to
    `pycocotools.mask.iou`.

    Parameters
    ----------
    masks_a : array of shape (n, height, width), or sequence of segmentations
        Pixels, or a list of polygons, RLEs or masks of pixels; see `encode_masks`.
    masks_b : array of shape (m, height, width), or sequence of segmentations
        The same.
    crowd : array-like of shape (m,), optional
        Bools, or 0 and 1: 1 if a mask of masks_b is a crowd. By default there are no crowds.
    size : tuple of int, optional
        Height and width of the image. Required for polygons; other forms must have this size.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    ndarray of float64, shape (n, m)
        In [0, 1].

    Raises
    ------
    ValueError
        Masks have different sizes, a mask is invalid (see `encode_masks`), or the length of crowd is not m.

    Notes
    -----
    Integers, divided once. Two masks without pixels have an IoU of 0, as in pycocotools.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> detections = [{"size": [2, 3], "counts": [0, 4, 2]}]
    >>> truth = [{"size": [2, 3], "counts": [2, 4]}, {"size": [2, 3], "counts": [5, 1]}]
    >>> fm.mask_iou(detections, truth)
    array([[0.33333333, 0.        ]])
    >>> fm.mask_iou(detections, truth, crowd=[True, False])
    array([[0.5, 0. ]])
    """
    first = as_masks(masks_a, "masks_a", size, n_threads)
    second = as_masks(masks_b, "masks_b", size, n_threads)
    n, m = len(first.sizes), len(second.sizes)
    crowds = check_crowd(crowd, m)
    ious = np.empty(n * m)
    if n * m == 0:
        return ious.reshape(n, m)
    # Groups of some rows of masks_a with all rows of masks_b, so that threads get equal shares.
    bounds = np.append(np.arange(0, n, DETECTIONS_PER_GROUP), n)
    n_groups = len(bounds) - 1
    unused = np.zeros(n_groups, np.int64)
    groups = ImageCategoryGroups(
        unused, unused, np.arange(n_groups + 1) * m, np.tile(np.arange(m), n_groups), bounds, np.arange(n), bounds * m
    )
    different = fill_mask_ious(first, second, crowds, groups, ious, n_threads)
    if different is not None:
        row, other_row = different
        raise ValueError(
            f"masks_a has a mask of size {first.sizes[row].tolist()} at row {row}, but masks_b one of size "
            f"{second.sizes[other_row].tolist()} at row {other_row}: masks of one size can be compared"
        )
    return ious.reshape(n, m)


def as_masks(masks: Any, name: str, size: Any, n_threads: int | None) -> Masks:
    """Read the argument `name` of a user, which has several masks."""
    count_threads(n_threads)
    image_size = None if size is None else check_size(size)
    if isinstance(masks, Masks):
        return masks
    masks = plain_values(masks, name)
    if isinstance(masks, np.ndarray) and masks.dtype != object:
        if masks.ndim != 3:
            raise ValueError(f"{name} must have the shape (n, height, width) as an array; found {masks.shape}")
    elif isinstance(masks, (str, bytes, dict)) or not isinstance(masks, (Sequence, np.ndarray)):
        raise validation.InputError(f"{name} must be a list of segmentations; found {type(masks).__name__}")
    sizes = np.tile(np.array([image_size or (-1, -1)], np.int64), (len(masks), 1))
    return read_masks(list(masks), sizes, lambda row: f"{name} has a bad segmentation at row {row}", n_threads)


def check_size(size: Any) -> tuple[int, int]:
    """Return the height and width of an image."""
    listed = list(size) if isinstance(size, (tuple, list, np.ndarray)) else []
    if len(listed) != 2 or any(
        isinstance(each, bool) or not isinstance(each, (int, np.integer)) or each < 1 for each in listed
    ):
        raise validation.OptionError(f"size must be two positive integers (height, width); found {size!r}")
    return int(listed[0]), int(listed[1])


def check_same_size(masks: Masks, name: str) -> None:
    """Raise an error if masks have different sizes."""
    others = (masks.sizes != masks.sizes[0]).any(axis=1)
    if others.any():
        row = int(np.argmax(others))
        raise ValueError(
            f"{name} must be of one size; found {masks.sizes[0].tolist()} at row 0 and {masks.sizes[row].tolist()} "
            f"at row {row}"
        )


def check_crowd(crowd: Any, n: int) -> np.ndarray:
    """Return the flags of crowds as 0 and 1."""
    if crowd is None:
        return np.zeros(max(n, 1), np.uint8)
    flags = validation.as_array(crowd, "crowd")
    if flags.ndim != 1 or len(flags) != n:
        raise ValueError(f"crowd must have one value for each mask of masks_b, {n}; found shape {flags.shape}")
    if n and flags.dtype.kind not in "bui":
        raise validation.InputError(f"crowd must be bools, or 0 and 1; found dtype {flags.dtype}")
    bad = np.flatnonzero((flags != 0) & (flags != 1))
    if len(bad):
        raise ValueError(f"crowd must be bools, or 0 and 1; found {flags[bad[0]]} at row {bad[0]}")
    return flags.astype(np.uint8)
