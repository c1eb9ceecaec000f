/* Intersection over union of boxes (x, y, width, height), many at a time.
 *
 * Where boxes do not overlap the value is 0; where one of the two is a crowd the union is the other's area alone. The order of
 * operations is that of pycocotools, whose values are therefore equal to the last bit.
 */
#ifndef FASTMETRICS_BOXMATH_H
#define FASTMETRICS_BOXMATH_H

#include "vectormath.h"

#define FM_BOXES 64            /* boxes that are compared at once at most */

/* Up to FM_BOXES boxes, a coordinate side by side. `whole` is 1 where the union has the box's own area, 0 for a crowd. */
typedef struct {
    double left[FM_BOXES], top[FM_BOXES], right[FM_BOXES], bottom[FM_BOXES], area[FM_BOXES];
    int64_t crowd[FM_BOXES];
} fm_boxes;

static inline void fm_put_box(fm_boxes* boxes, ptrdiff_t place, const double* box, int crowd) {
    boxes->left[place] = box[0];
    boxes->top[place] = box[1];
    boxes->right[place] = box[2] + box[0];
    boxes->bottom[place] = box[3] + box[1];
    boxes->area[place] = box[2] * box[3];
    boxes->crowd[place] = crowd != 0;
}

static inline double fm_least(double a, double b) { return a < b ? a : b; }
static inline double fm_most(double a, double b) { return a > b ? a : b; }

/* out[found * n_truth + truth] for the groups first..last: every detection of a group with every object of it.
 *
 * Rows of a group are rows[starts[group] .. starts[group + 1]]. `crowd` belongs to rows of truth.
 */
FM_WIDE static void fm_box_overlaps(
    ptrdiff_t first, ptrdiff_t last, const double* truth, const uint8_t* crowd, const double* found,
    const int64_t* truth_starts, const int64_t* truth_rows, const int64_t* found_starts, const int64_t* found_rows,
    const int64_t* overlap_starts, double* out) {
    ptrdiff_t group, start, i, j;
    fm_boxes boxes;
    for (group = first; group < last; group++) {
        ptrdiff_t n_truth = truth_starts[group + 1] - truth_starts[group];
        ptrdiff_t n_found = found_starts[group + 1] - found_starts[group];
        const int64_t* rows = truth_rows + truth_starts[group];
        if (n_found == 0) continue;
        for (start = 0; start < n_truth; start += FM_BOXES) {
            ptrdiff_t n = n_truth - start < FM_BOXES ? n_truth - start : FM_BOXES;
            for (j = 0; j < n; j++) fm_put_box(&boxes, j, truth + 4 * rows[start + j], crowd[rows[start + j]]);
            for (i = 0; i < n_found; i++) {
                const double* box = found + 4 * found_rows[found_starts[group] + i];
                double left = box[0], top = box[1], right = box[2] + box[0], bottom = box[3] + box[1];
                double area = box[2] * box[3];
                double* row = out + overlap_starts[group] + i * n_truth + start;
                for (j = 0; j < n; j++) {
                    double width = fm_least(right, boxes.right[j]) - fm_most(left, boxes.left[j]);
                    double height = fm_least(bottom, boxes.bottom[j]) - fm_most(top, boxes.top[j]);
                    double shared = width * height;
                    double both = boxes.crowd[j] ? area : area + boxes.area[j] - shared;
                    row[j] = (width <= 0) | (height <= 0) ? 0.0 : shared / both;
                }
            }
        }
    }
}

#endif
