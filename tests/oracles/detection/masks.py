"""The definitions of masks: sets of pixels, and polygons drawn point by point.

Polygons follow `rleFrPoly` of maskApi.c in the COCO API (P. Dollar and T.-Y. Lin, 2014-2015), whose runs are the
reference. Coordinates are multiplied by five, one half is added, and the result is rounded towards zero. Each edge has
one point for each step along its longer side. If two neighboring points are on two sides of the middle of a column of
pixels, the upper one is a boundary. Pixels after an odd number of boundaries are inside, counted through the whole
image in column order.
"""

import math
from collections.abc import Set
from itertools import pairwise
from typing import Any


def to_fine_grid(coordinate):
    return int(5.0 * coordinate + 0.5)


def edge_points(from_x, from_y, to_x, to_y):
    """The points of the fine grid along an edge, from its first to its last."""
    across, down = abs(to_x - from_x), abs(to_y - from_y)
    is_reversed = from_x > to_x if across >= down else from_y > to_y
    if is_reversed:
        from_x, from_y, to_x, to_y = to_x, to_y, from_x, from_y
    if across >= down:
        slope = (to_y - from_y) / across if across else 0.0
        points = [(from_x + step, int(from_y + slope * step + 0.5)) for step in range(across + 1)]
    else:
        slope = (to_x - from_x) / down
        points = [(int(from_x + slope * step + 0.5), from_y + step) for step in range(down + 1)]
    return points[::-1] if is_reversed else points


def boundaries(polygon, height, width):
    """The positions (pixels before, in column order) where a polygon's line crosses the middle of a column."""
    corners = [(to_fine_grid(x), to_fine_grid(y)) for x, y in zip(polygon[::2], polygon[1::2], strict=True)]
    line = []
    for (from_x, from_y), (to_x, to_y) in zip(corners, corners[1:] + corners[:1], strict=True):
        line += edge_points(from_x, from_y, to_x, to_y)
    positions = []
    for (x_before, y_before), (x, y) in pairwise(line):
        if x == x_before:
            continue
        left = x if x < x_before else x - 1
        column = (left + 0.5) / 5 - 0.5
        if column != math.floor(column) or not 0 <= column <= width - 1:
            continue
        row = math.ceil(min(max((min(y, y_before) + 0.5) / 5 - 0.5, 0), height))
        positions.append(int(column) * height + row)
    return positions


def polygon_pixels(polygon, height, width):
    """The set of positions inside."""
    counts = [0] * (height * width + 1)
    for position in boundaries(polygon, height, width):
        counts[position] += 1
    inside, n_boundaries = set(), 0
    for position in range(height * width):
        n_boundaries += counts[position]
        if n_boundaries % 2:
            inside.add(position)
    return inside


def union_of_polygons(polygons, height, width):
    return set().union(*(polygon_pixels(polygon, height, width) for polygon in polygons))


def runs(pixels, height, width):
    """The counts of a set of positions."""
    counts, value = [0], False
    for position in range(height * width):
        if (position in pixels) != value:
            counts.append(0)
            value = not value
        counts[-1] += 1
    return counts


def pixels_of(counts):
    """The set of positions inside."""
    positions, start = set(), 0
    for number, count in enumerate(counts):
        if number % 2:
            positions.update(range(start, start + count))
        start += count
    return positions


def text(counts):
    """The compressed counts. From the fourth count on, the difference to the count two before is written.

    Numbers have digits of five bits, the lowest first, as characters from '0' on; 32 is added if another digit follows.
    Negative numbers are in two's complement: the last digit has the sign.
    """
    written = ""
    for number, count in enumerate(counts):
        value = count - counts[number - 2] if number > 2 else count
        while True:
            digit, value = value % 32, value // 32
            last = value == (-1 if digit & 16 else 0)
            written += chr(48 + digit + (0 if last else 32))
            if last:
                break
    return written


def iou(found: Set[Any], truth: Set[Any], crowd: bool = False) -> float:
    intersection = len(found & truth)
    return intersection / len(found if crowd else found | truth) if intersection else 0.0


def box(pixels, height):
    """The bounding box of a set of positions. As in maskApi.c, a run that continues in the next column has all rows."""
    if not pixels:
        return [0, 0, 0, 0]
    columns, rows = [position // height for position in pixels], [position % height for position in pixels]
    if any(position % height == height - 1 and position + 1 in pixels for position in pixels):
        rows = [0, height - 1]
    return [min(columns), min(rows), max(columns) - min(columns) + 1, max(rows) - min(rows) + 1]
