"""Masks by their definitions: sets of pixels, and polygons drawn point by point.

Polygons: P. Dollar and T.-Y. Lin, maskApi.c of the COCO API (2014-2015), `rleFrPoly`, whose runs are the reference. Its
steps: coordinates times five, plus one half, towards zero; each edge as one point a step along its longer side; of
every two neighbouring points that pass the middle of a column of pixels, the upper one is a boundary; a column's pixels
are inside after an odd number of boundaries, counted through the whole image column by column.
"""

import math
from itertools import pairwise


def fine(coordinate):
    return int(5.0 * coordinate + 0.5)


def edge_points(from_x, from_y, to_x, to_y):
    """Points of the fine grid along an edge, from its first to its last."""
    across, down = abs(to_x - from_x), abs(to_y - from_y)
    turned = from_x > to_x if across >= down else from_y > to_y
    if turned:
        from_x, from_y, to_x, to_y = to_x, to_y, from_x, from_y
    if across >= down:
        slope = (to_y - from_y) / across if across else 0.0
        points = [(from_x + step, int(from_y + slope * step + 0.5)) for step in range(across + 1)]
    else:
        slope = (to_x - from_x) / down
        points = [(int(from_x + slope * step + 0.5), from_y + step) for step in range(down + 1)]
    return points[::-1] if turned else points


def boundaries(polygon, height, width):
    """Places (pixels before, down the columns) where a polygon's line passes the middle of a column."""
    corners = [(fine(x), fine(y)) for x, y in zip(polygon[::2], polygon[1::2], strict=True)]
    line = []
    for (from_x, from_y), (to_x, to_y) in zip(corners, corners[1:] + corners[:1], strict=True):
        line += edge_points(from_x, from_y, to_x, to_y)
    places = []
    for (x_before, y_before), (x, y) in pairwise(line):
        if x == x_before:
            continue
        left = x if x < x_before else x - 1
        column = (left + 0.5) / 5 - 0.5
        if column != math.floor(column) or not 0 <= column <= width - 1:
            continue
        row = math.ceil(min(max((min(y, y_before) + 0.5) / 5 - 0.5, 0), height))
        places.append(int(column) * height + row)
    return places


def polygon_pixels(polygon, height, width):
    """The set of places inside."""
    counts = [0] * (height * width + 1)
    for place in boundaries(polygon, height, width):
        counts[place] += 1
    inside, passed = set(), 0
    for place in range(height * width):
        passed += counts[place]
        if passed % 2:
            inside.add(place)
    return inside


def union_of_polygons(polygons, height, width):
    return set().union(*(polygon_pixels(polygon, height, width) for polygon in polygons))


def runs(pixels, height, width):
    """Counts of a set of places."""
    counts, value = [0], False
    for place in range(height * width):
        if (place in pixels) != value:
            counts.append(0)
            value = not value
        counts[-1] += 1
    return counts


def pixels_of(counts):
    """The set of places inside."""
    places, start = set(), 0
    for number, count in enumerate(counts):
        if number % 2:
            places.update(range(start, start + count))
        start += count
    return places


def text(counts):
    """Compressed counts: from the fourth on the difference to the one two before; digits of five bits, the lowest
    first, 32 more where another follows, from the character '0'; two's complement, whose sign the last digit shows."""
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


def overlap(found, truth, crowd=False):
    shared = len(found & truth)
    return shared / len(found if crowd else found | truth) if shared else 0.0


def box(pixels, height):
    """x, y, width, height around a set of places. As in maskApi.c a run that goes on in another column has all rows."""
    if not pixels:
        return [0, 0, 0, 0]
    columns, rows = [place // height for place in pixels], [place % height for place in pixels]
    if any(place % height == height - 1 and place + 1 in pixels for place in pixels):
        rows = [0, height - 1]
    return [min(columns), min(rows), max(columns) - min(columns) + 1, max(rows) - min(rows) + 1]
