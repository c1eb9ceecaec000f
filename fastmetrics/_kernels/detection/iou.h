/* IoU of one box with many boxes, in a loop that the compiler vectorizes (FM_WIDE: see vector_math.h).
 *
 * A box is its corners x1 <= x2, y1 <= y2 and its area. Many boxes are five arrays of length n, one after the other:
 * x1, y1, x2, y2, area. `border` is 1 if corners are pixels that belong to the box (the width of [3, 5] is 3), else 0;
 * adding 0 changes no value. Boxes that do not intersect have 0, also if both have no area.
 */
#ifndef FASTMETRICS_IOU_H
#define FASTMETRICS_IOU_H

#include "numeric/vector_math.h"

static inline double fm_intersection_area(
    double x1, double y1, double x2, double y2, double other_x1, double other_y1, double other_x2, double other_y2,
    double border) {
    const double left = x1 > other_x1 ? x1 : other_x1, right = x2 < other_x2 ? x2 : other_x2;
    const double top = y1 > other_y1 ? y1 : other_y1, bottom = y2 < other_y2 ? y2 : other_y2;
    double width = (right - left) + border, height = (bottom - top) + border;
    width = width > 0 ? width : 0;
    height = height > 0 ? height : 0;
    return width * height;
}

/* Intersection over union, with the operations of pycocotools, torchvision and the VOC devkit in the same order. */
static inline double fm_iou(double intersection, double area, double other_area) {
    const double union_area = (area + other_area) - intersection;
    return intersection / (union_area > 0 ? union_area : 1);
}

FM_WIDE static void fm_iou_with_all(const double* box, const double* others, ptrdiff_t n, double border, double* out) {
    const double x1 = box[0], y1 = box[1], x2 = box[2], y2 = box[3], area = box[4];
    const double *a = others, *b = others + n, *c = others + 2 * n, *d = others + 3 * n, *areas = others + 4 * n;
    ptrdiff_t j;
    for (j = 0; j < n; j++) {
        const double intersection = fm_intersection_area(x1, y1, x2, y2, a[j], b[j], c[j], d[j], border);
        out[j] = fm_iou(intersection, area, areas[j]);
    }
}

/* A crowd is a region of many objects: its value is the intersection divided by the area of the box alone. */
static void fm_iou_with_crowds(
    const double* box, const double* others, const uint8_t* crowd, ptrdiff_t n, double border, double* out) {
    const double *a = others, *b = others + n, *c = others + 2 * n, *d = others + 3 * n, *areas = others + 4 * n;
    ptrdiff_t j;
    for (j = 0; j < n; j++) {
        const double intersection =
            fm_intersection_area(box[0], box[1], box[2], box[3], a[j], b[j], c[j], d[j], border);
        out[j] = crowd[j] ? intersection / (box[4] > 0 ? box[4] : 1) : fm_iou(intersection, box[4], areas[j]);
    }
}

#endif
