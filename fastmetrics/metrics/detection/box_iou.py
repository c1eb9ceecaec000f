"""Intersection over union of two sets of boxes, all pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._kernels.detection import iou as kernel

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import Floats, NumericArrayLike
    from fastmetrics._core.types.options import Box

__all__ = ["box_iou"]

BOX_FORMS = ("xyxy", "xywh")
CELLS_PER_TASK = 1 << 16  # elements of the IoU matrix in one task of a thread
SERIAL_CELLS = 1 << 18  # below this, one thread is faster than two


@answers_unknown
def box_iou(
    boxes_a: NumericArrayLike,
    boxes_b: NumericArrayLike,
    *,
    box: Box = "xyxy",
    crowd: NumericArrayLike | None = None,
    pixel_boxes: bool = False,
    n_threads: int | None = None,
) -> Floats:
    """Intersection over union of every box of one set with every box of another.

    iou[i, j] = |a_i & b_j| / (|a_i| + |b_j| - |a_i & b_j|). If b_j is a crowd, it is |a_i & b_j| / |a_i|, as in COCO
    (T.-Y. Lin et al., "Microsoft COCO: common objects in context", ECCV 2014).

    Parameters
    ----------
    boxes_a : array-like of shape (n, 4)
        Boxes, such as detections. Any numeric type; computed in float64.
    boxes_b : array-like of shape (m, 4)
        Boxes, such as ground truth.
    box : {"xyxy", "xywh"}
        The four columns. "xyxy": two corners x1, y1, x2, y2 (torchvision, Pascal VOC). "xywh": a corner and the size x,
        y, width, height (COCO).
    crowd : array-like of shape (m,), optional
        Bools, or 0 and 1: 1 if a box of boxes_b is a crowd, a region of many objects.
    pixel_boxes : bool
        If True, the corners of "xyxy" are pixels that belong to the box, so its width is x2 - x1 + 1, as in the devkit
        of Pascal VOC.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    numpy.ndarray of shape (n, m)
        float64, in [0, 1]. Equal bit for bit to torchvision's box_iou on float64 corners, and to maskUtils.iou of
        pycocotools on "xywh".

    Raises
    ------
    ValueError
        A box has NaN, infinity or a negative size; an array does not have four columns; lengths differ.

    Notes
    -----
    A box without area has an IoU of 0 with every box, also with itself (0 / 0 in the formula).

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.box_iou([[0, 0, 10, 10]], [[0, 0, 10, 5], [5, 5, 15, 15], [20, 20, 30, 30]]).round(4)
    array([[0.5   , 0.1429, 0.    ]])
    >>> fm.box_iou([[0, 0, 10, 10]], [[5, 0, 100, 100]], box="xywh", crowd=[True])
    array([[0.5]])
    """
    border = pixel_border(box, pixel_boxes)
    first, second = as_boxes(boxes_a, "boxes_a"), as_boxes(boxes_b, "boxes_b")
    converted = corner_columns(first, "boxes_a", box, border), corner_columns(second, "boxes_b", box, border)
    crowds = None if crowd is None else as_flags(crowd, second.shape[0], "boxes_b", "crowd")
    rows, columns = first.shape[0], second.shape[0]
    out = np.empty((rows, columns))
    if rows * columns < SERIAL_CELLS:
        if n_threads is not None:
            count_threads(n_threads)
        if out.size:
            kernel.pairwise_iou(*converted, crowds, border, 0, rows, out)
        return out
    rows_per_task = max(1, CELLS_PER_TASK // columns)

    def work(number: int) -> None:
        start = number * rows_per_task
        kernel.pairwise_iou(*converted, crowds, border, start, min(rows, start + rows_per_task), out)

    for_each(-(-rows // rows_per_task), lambda: work, count_threads(n_threads))
    return out


def pixel_border(box: str, pixel_boxes: bool) -> float:
    """Return the number that is added to differences of corners, after checking the two options."""
    validation.check_option(box, "box", BOX_FORMS)
    validation.check_flag(pixel_boxes, "pixel_boxes")
    if pixel_boxes and box != "xyxy":
        raise validation.OptionError('pixel_boxes applies to corners only: it needs box="xyxy"')
    return 1.0 if pixel_boxes else 0.0


def as_boxes(values: Any, name: str) -> np.ndarray:
    """Return boxes as an (n, 4) array of float64."""
    if type(values) is np.ndarray and values.dtype == np.float64 and values.ndim == 2 and values.shape[1] == 4:
        return validation.contiguous(values)
    # Errors name the row of a box, not the number of one of its four cells.
    array = validation.as_floats(values, name, lambda cell: cell // 4).astype(np.float64, copy=False)
    if array.ndim == 1 and not array.shape[0]:
        return np.empty((0, 4))
    if array.ndim != 2 or array.shape[1] != 4:
        raise ValueError(f"{name} must have four columns, one row a box; found shape {array.shape}")
    return array


def as_flags(values: Any, rows: int, first: str, name: str) -> np.ndarray:
    """Return a column of bools, or of 0 and 1, as uint8. Its length must be that of the column `first`."""
    array = validation.as_array(values, name)
    validation.check_one_dimension(array, name)
    validation.check_lengths(rows, array.shape[0], first, name)
    if not rows:
        return np.empty(0, np.uint8)
    if array.dtype.kind not in "biuf":
        array = validation.as_floats(array, name)
    bad = (array != 0) & (array != 1)
    if bad.any():
        row = validation.first_bad_row(bad)
        value = array[row]
        raise ValueError(f"{name} has {'NaN' if value != value else value} at row {row}: flags must be 0 or 1")
    return np.ascontiguousarray(array, np.uint8)


def corner_columns(boxes: np.ndarray, name: str, box: str, border: float) -> np.ndarray:
    """Return checked boxes in the layout of the kernel: (5, n), two corners and the area."""
    out = np.empty((5, boxes.shape[0]))
    row = kernel.to_corner_columns(boxes, box == "xyxy", border, out)
    if row >= 0:
        raise_bad_box(boxes[row], name, row, box)
    return out


def raise_bad_box(values: np.ndarray, name: str, row: int, box: str) -> NoReturn:
    """Raise the error for a row with an invalid box."""
    numbers = values.tolist()
    if np.isnan(values).any():
        raise ValueError(f"{name} has NaN at row {row}: {numbers}")
    if np.isinf(values).any():
        raise ValueError(f"{name} has infinity at row {row}: {numbers}: finite numbers are needed")
    width, height = (values[2:] - values[:2] if box == "xyxy" else values[2:]).tolist()
    for size, what, axis in ((width, "width", "x"), (height, "height", "y")):
        if size < 0:
            if box == "xyxy":
                raise ValueError(
                    f"{name} has {axis}2 below {axis}1 at row {row}: {numbers}: a negative {what}; are these boxes "
                    'x, y, width, height? Then say box="xywh"'
                )
            raise ValueError(f"{name} has a negative {what} at row {row}: {numbers}")
    raise ValueError(f"{name} has a number beyond {kernel.MOST_SIZE:g} at row {row}: {numbers}")
