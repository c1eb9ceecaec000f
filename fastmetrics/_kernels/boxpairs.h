/* Overlaps of one box with many, in a loop that pays for wide registers (vectormath.h tells how FM_WIDE works).
 *
 * A box is its corners x1 <= x2, y1 <= y2 and its area; of many boxes each stands in an array of its own, n apart. `extra` is 1
 * where corners are pixels that belong to the box (the width of [3, 5] is 3), else 0, whose addition changes nothing.
 * Of boxes that share nothing the overlap is 0, also where both have no area.
 */
#ifndef FASTMETRICS_BOXPAIRS_H
#define FASTMETRICS_BOXPAIRS_H

#include "vectormath.h"

static inline double fm_shared_area(
    double x1, double y1, double x2, double y2, double other_x1, double other_y1, double other_x2, double other_y2, double extra) {
    const double left = x1 > other_x1 ? x1 : other_x1, right = x2 < other_x2 ? x2 : other_x2;
    const double top = y1 > other_y1 ? y1 : other_y1, bottom = y2 < other_y2 ? y2 : other_y2;
    double width = (right - left) + extra, height = (bottom - top) + extra;
    width = width > 0 ? width : 0;
    height = height > 0 ? height : 0;
    return width * height;
}

/* Intersection over union: the operations, and their order, of pycocotools, torchvision and the VOC devkit. */
static inline double fm_overlap(double shared, double area, double other_area) {
    const double joint = (area + other_area) - shared;
    return shared / (joint > 0 ? joint : 1);
}

FM_WIDE static void fm_overlaps_of(const double* box, const double* others, ptrdiff_t n, double extra, double* out) {
    const double x1 = box[0], y1 = box[1], x2 = box[2], y2 = box[3], area = box[4];
    const double *a = others, *b = others + n, *c = others + 2 * n, *d = others + 3 * n, *areas = others + 4 * n;
    ptrdiff_t j;
    for (j = 0; j < n; j++) {
        const double shared = fm_shared_area(x1, y1, x2, y2, a[j], b[j], c[j], d[j], extra);
        out[j] = fm_overlap(shared, area, areas[j]);
    }
}

/* A crowd is a region of many objects: what of the box lies in it, over the area of the box alone. */
static void fm_overlaps_with_crowds(
    const double* box, const double* others, const uint8_t* crowd, ptrdiff_t n, double extra, double* out) {
    const double *a = others, *b = others + n, *c = others + 2 * n, *d = others + 3 * n, *areas = others + 4 * n;
    ptrdiff_t j;
    for (j = 0; j < n; j++) {
        const double shared = fm_shared_area(box[0], box[1], box[2], box[3], a[j], b[j], c[j], d[j], extra);
        out[j] = crowd[j] ? shared / (box[4] > 0 ? box[4] : 1) : fm_overlap(shared, box[4], areas[j]);
    }
}

#endif
