/* Intersection over union of boxes (x, y, width, height), many at a time.
 *
 * Boxes that do not intersect have 0. If the object is a crowd, the divisor is the area of the detection alone. The
 * order of operations is that of pycocotools, so values equal its values bit for bit.
 */
#ifndef FASTMETRICS_GROUP_IOU_H
#define FASTMETRICS_GROUP_IOU_H

#include "numeric/vector_math.h"

#define FM_BOXES 64            /* objects in one inner loop */

/* Up to FM_BOXES objects, one array for each coordinate. `crowd` is 1 for a crowd, else 0. */
typedef struct {
    double left[FM_BOXES], top[FM_BOXES], right[FM_BOXES], bottom[FM_BOXES], area[FM_BOXES];
    int64_t crowd[FM_BOXES];
} fm_boxes;

static inline void fm_put_box(fm_boxes* boxes, ptrdiff_t index, const double* box, int crowd) {
    boxes->left[index] = box[0];
    boxes->top[index] = box[1];
    boxes->right[index] = box[2] + box[0];
    boxes->bottom[index] = box[3] + box[1];
    boxes->area[index] = box[2] * box[3];
    boxes->crowd[index] = crowd != 0;
}

static inline double fm_lesser(double a, double b) { return a < b ? a : b; }
static inline double fm_greater(double a, double b) { return a > b ? a : b; }

/* out[detection * n_truth + object] for every detection and object of the groups first..last.
 *
 * The rows of a group are rows[starts[group]] to rows[starts[group + 1]]. `crowd` has a value for each row of `truth`.
 */
FM_WIDE static void fm_group_iou(
    ptrdiff_t first, ptrdiff_t last, const double* truth, const uint8_t* crowd, const double* detections,
    const int64_t* truth_starts, const int64_t* truth_rows, const int64_t* detection_starts,
    const int64_t* detection_rows, const int64_t* iou_starts, double* out) {
    ptrdiff_t group, start, i, j;
    fm_boxes boxes;
    for (group = first; group < last; group++) {
        ptrdiff_t n_truth = truth_starts[group + 1] - truth_starts[group];
        ptrdiff_t n_detections = detection_starts[group + 1] - detection_starts[group];
        const int64_t* rows = truth_rows + truth_starts[group];
        if (n_detections == 0) continue;
        for (start = 0; start < n_truth; start += FM_BOXES) {
            ptrdiff_t n = n_truth - start < FM_BOXES ? n_truth - start : FM_BOXES;
            for (j = 0; j < n; j++) fm_put_box(&boxes, j, truth + 4 * rows[start + j], crowd[rows[start + j]]);
            for (i = 0; i < n_detections; i++) {
                const double* box = detections + 4 * detection_rows[detection_starts[group] + i];
                double left = box[0], top = box[1], right = box[2] + box[0], bottom = box[3] + box[1];
                double area = box[2] * box[3];
                double* row = out + iou_starts[group] + i * n_truth + start;
                for (j = 0; j < n; j++) {
                    double width = fm_lesser(right, boxes.right[j]) - fm_greater(left, boxes.left[j]);
                    double height = fm_lesser(bottom, boxes.bottom[j]) - fm_greater(top, boxes.top[j]);
                    double intersection = width * height;
                    double divisor = boxes.crowd[j] ? area : area + boxes.area[j] - intersection;
                    row[j] = (width <= 0) | (height <= 0) ? 0.0 : intersection / divisor;
                }
            }
        }
    }
}

#endif
