"""Intersection over union of two sets of boxes, all pairs."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._kernels import boxpairs as kernel

__all__ = ["box_iou"]

FORMS = ("xyxy", "xywh")
UNIT_CELLS = 1 << 16  # of the matrix, to a thread at a time
SERIAL_CELLS = 1 << 18  # below this, one thread is faster than two


def box_iou(
    boxes_a: Any,
    boxes_b: Any,
    *,
    box: str = "xyxy",
    crowd: Any = None,
    pixel_boxes: bool = False,
    n_threads: int | None = None,
) -> np.ndarray:
    """Intersection over union of every box of one set with every box of another.

    iou[i, j] = |a_i & b_j| / (|a_i| + |b_j| - |a_i & b_j|); where b_j is a crowd, |a_i & b_j| / |a_i|, as COCO has it
    (T.-Y. Lin et al., "Microsoft COCO: common objects in context", ECCV 2014).

    Parameters
    ----------
    boxes_a : array-like of shape (n, 4)
        Boxes, such as detections; of any type of number, computed in float64.
    boxes_b : array-like of shape (m, 4)
        Boxes, such as ground truth.
    box : {"xyxy", "xywh"}
        What the four columns are: two corners x1, y1, x2, y2 (torchvision, Pascal VOC), or a corner and the size x, y,
        width, height (COCO).
    crowd : array-like of shape (m,), optional
        Bools, or 0 and 1: which of boxes_b are crowds, regions of many objects.
    pixel_boxes : bool
        The corners of "xyxy" are pixels that belong to the box, so its width is x2 - x1 + 1, as the devkit of Pascal
        VOC has it.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    numpy.ndarray of shape (n, m)
        float64, in [0, 1]. Bits are those of torchvision's box_iou on float64 corners, and of maskUtils.iou of
        pycocotools on "xywh".

    Raises
    ------
    ValueError
        A box with NaN, infinity or a negative size; arrays that have not four columns; lengths that differ.

    Notes
    -----
    A box without area has an overlap of 0 with everything, itself included (0 / 0 in the formula).

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.box_iou([[0, 0, 10, 10]], [[0, 0, 10, 5], [5, 5, 15, 15], [20, 20, 30, 30]]).round(4)
    array([[0.5   , 0.1429, 0.    ]])
    >>> fm.box_iou([[0, 0, 10, 10]], [[5, 0, 100, 100]], box="xywh", crowd=[True])
    array([[0.5]])
    """
    extra = pixel_border(box, pixel_boxes)
    first, second = as_boxes(boxes_a, "boxes_a"), as_boxes(boxes_b, "boxes_b")
    laid = lay_out(first, "boxes_a", box, extra), lay_out(second, "boxes_b", box, extra)
    crowds = None if crowd is None else as_flags(crowd, second.shape[0], "boxes_b", "crowd")
    rows, columns = first.shape[0], second.shape[0]
    out = np.empty((rows, columns))
    if rows * columns < SERIAL_CELLS:
        if n_threads is not None:
            count_threads(n_threads)
        if out.size:
            kernel.overlap_pairs(*laid, crowds, extra, 0, rows, out)
        return out
    unit = max(1, UNIT_CELLS // columns)

    def work(number: int) -> None:
        kernel.overlap_pairs(*laid, crowds, extra, number * unit, min(rows, (number + 1) * unit), out)

    for_each(-(-rows // unit), lambda: work, count_threads(n_threads))
    return out


def pixel_border(box: str, pixel_boxes: bool) -> float:
    """What is added to differences of corners."""
    inputs.check_option(box, "box", FORMS)
    inputs.check_flag(pixel_boxes, "pixel_boxes")
    if pixel_boxes and box != "xyxy":
        raise inputs.OptionError('pixel_boxes says how corners are meant: it needs box="xyxy"')
    return 1.0 if pixel_boxes else 0.0


def as_boxes(values: Any, name: str) -> np.ndarray:
    """An (n, 4) array of float64."""
    if type(values) is np.ndarray and values.dtype == np.float64 and values.ndim == 2 and values.shape[1] == 4:
        return inputs.contiguous(values)
    array = inputs.as_floats(values, name, row_of_cell).astype(np.float64, copy=False)
    if array.ndim == 1 and not array.shape[0]:
        return np.empty((0, 4))
    if array.ndim != 2 or array.shape[1] != 4:
        raise ValueError(f"{name} must have four columns, one row a box; found shape {array.shape}")
    return array


def row_of_cell(cell: int) -> int:
    """The row of one of the four numbers of a box, counted through all boxes."""
    return cell // 4


def as_flags(values: Any, rows: int, first: str, name: str) -> np.ndarray:
    """A column of bools, or of 0 and 1, as uint8."""
    array = inputs.as_array(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension; found {array.ndim} (shape {array.shape})")
    inputs.check_lengths(rows, array.shape[0], first, name)
    if array.dtype.kind not in "biuf":
        if rows:
            array = inputs.as_floats(array, name)
        return array.astype(np.uint8) if not rows else checked_flags(array, name)
    return checked_flags(array, name)


def checked_flags(array: np.ndarray, name: str) -> np.ndarray:
    bad = (array != 0) & (array != 1)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        value = array[row]
        raise ValueError(f"{name} has {'NaN' if value != value else value} at row {row}: flags must be 0 or 1")
    return np.ascontiguousarray(array, np.uint8)


def lay_out(boxes: np.ndarray, name: str, box: str, extra: float) -> np.ndarray:
    """Checked boxes as the kernel reads them."""
    out = np.empty((5, boxes.shape[0]))
    row = kernel.lay_out(boxes, box == "xyxy", extra, out)
    if row >= 0:
        refuse_box(boxes[row], name, row, box)
    return out


def refuse_box(values: np.ndarray, name: str, row: int, box: str) -> NoReturn:
    """The error for the first row that is no box."""
    shown = values.tolist()
    if np.isnan(values).any():
        raise ValueError(f"{name} has NaN at row {row}: {shown}")
    if np.isinf(values).any():
        raise ValueError(f"{name} has infinity at row {row}: {shown}: finite numbers are needed")
    width, height = (values[2:] - values[:2] if box == "xyxy" else values[2:]).tolist()
    for size, what, axis in ((width, "width", "x"), (height, "height", "y")):
        if size < 0:
            if box == "xyxy":
                raise ValueError(
                    f"{name} has {axis}2 below {axis}1 at row {row}: {shown}: a negative {what}; are these boxes "
                    'x, y, width, height? Then say box="xywh"'
                )
            raise ValueError(f"{name} has a negative {what} at row {row}: {shown}")
    raise ValueError(f"{name} has a number beyond {kernel.MOST_SIZE:g} at row {row}: {shown}")
