"""The matching of Pascal VOC, and its precision-recall curve. Boxes and their arithmetic are those of iou.pyx."""

from libc.math cimport NAN
from libc.stdint cimport int8_t, int64_t, uint8_t
from libc.string cimport memset

from fastmetrics._kernels.numeric.length_checks cimport need_below, need_length, need_range

cdef extern from "detection/iou.h":
    double intersection_area "fm_intersection_area"(
        double x1, double y1, double x2, double y2,
        double other_x1, double other_y1, double other_x2, double other_y2, double border
    ) noexcept nogil
    double iou "fm_iou"(double intersection, double area, double other_area) noexcept nogil

cdef enum:
    FP = 0
    TP = 1
    NOT_COUNTED = 2

FALSE_POSITIVE = FP
TRUE_POSITIVE = TP
IGNORED = NOT_COUNTED


cdef Py_ssize_t first_object_of_image(
    const int64_t* images, Py_ssize_t start, Py_ssize_t stop, int64_t image
) noexcept nogil:
    cdef Py_ssize_t middle
    while start < stop:
        middle = start + (stop - start) // 2
        if images[middle] < image:
            start = middle + 1
        else:
            stop = middle
    return start


cdef void match_class(
    const double* truth, const int64_t* truth_images, const uint8_t* difficult, Py_ssize_t n_truth, Py_ssize_t first,
    Py_ssize_t last, const double* detections, const int64_t* detection_images, const int64_t* order, Py_ssize_t n,
    double threshold, double border, uint8_t* matched, int8_t* outcomes
) noexcept nogil:
    cdef Py_ssize_t rank, row, t, best
    cdef int64_t image
    cdef double value, best_iou
    cdef const double* box
    for rank in range(n):
        row = order[rank]
        image = detection_images[row]
        box = detections + 5 * row
        t = first_object_of_image(truth_images, first, last, image)
        best = -1
        best_iou = -1
        while t < last and truth_images[t] == image:
            value = iou(
                intersection_area(
                    box[0], box[1], box[2], box[3],
                    truth[t], truth[n_truth + t], truth[2 * n_truth + t], truth[3 * n_truth + t], border,
                ),
                box[4], truth[4 * n_truth + t],
            )
            if value > best_iou:
                best_iou = value
                best = t
            t += 1
        if best < 0 or not best_iou >= threshold:
            outcomes[rank] = FP
        elif difficult[best]:
            outcomes[rank] = NOT_COUNTED
        elif matched[best]:
            outcomes[rank] = FP
        else:
            matched[best] = 1
            outcomes[rank] = TP


def match(
    const double[:, ::1] truth, const int64_t[::1] truth_images, const uint8_t[::1] difficult, Py_ssize_t first,
    Py_ssize_t last, const double[:, ::1] detections, const int64_t[::1] detection_images, const int64_t[::1] order,
    double threshold, double border, uint8_t[::1] matched, int8_t[::1] outcomes
):
    """Fill the outcome (FALSE_POSITIVE, TRUE_POSITIVE or IGNORED) of the detections of one class, listed by `order`.

    order lists detections by descending score. truth holds boxes from iou.to_corner_columns. The objects of the class
    are first to last, in ascending order of their images. A detection matches the object of its image with the highest
    IoU (the first of equal ones). An object is found once. detections has the same five numbers, those of a box side by
    side (n, 5), because detections are read in the order of scores. matched[first:last] are written.
    """
    cdef Py_ssize_t n_truth = truth.shape[1]
    cdef Py_ssize_t n = order.shape[0]
    need_length(b"numbers of an object", truth.shape[0], 5)
    need_length(b"numbers of a detection", detections.shape[1], 5)
    need_length(b"columns of objects", min(truth_images.shape[0], difficult.shape[0], matched.shape[0]), n_truth)
    need_length(b"outcomes", outcomes.shape[0], n)
    need_range(first, last, n_truth)
    if n == 0:
        return
    need_below(b"order", &order[0], n, min(detections.shape[0], detection_images.shape[0]))
    with nogil:
        if last > first:
            memset(&matched[first], 0, <size_t>(last - first))
        match_class(
            &truth[0, 0] if n_truth else NULL, &truth_images[0] if n_truth else NULL,
            &difficult[0] if n_truth else NULL, n_truth, first, last, &detections[0, 0], &detection_images[0],
            &order[0], n, threshold, border, &matched[0] if n_truth else NULL, &outcomes[0],
        )


cdef Py_ssize_t fill_curve(
    const int8_t* outcomes, Py_ssize_t start, Py_ssize_t stop, int64_t n_truth, double* precision, double* recall,
    int64_t* counted_ranks
) noexcept nogil:
    cdef Py_ssize_t rank, n = 0
    cdef int64_t hits = 0
    for rank in range(start, stop):
        if outcomes[rank] == NOT_COUNTED:
            continue
        hits += outcomes[rank] == TP
        precision[n] = <double>hits / <double>(n + 1)
        recall[n] = <double>hits / <double>n_truth if n_truth else NAN
        counted_ranks[n] = rank
        n += 1
    return n


cdef double area_under_envelope(
    const int8_t* outcomes, Py_ssize_t start, const int64_t* counted_ranks, const double* precision, Py_ssize_t n,
    int64_t n_truth
) noexcept nogil:
    """The area under the precision-recall curve with precision made non-increasing. The sum is compensated.

    Each true positive adds 1 / n_truth of recall, times the best precision at this recall or beyond.
    """
    cdef Py_ssize_t i = n
    cdef double best = 0, total = 0, compensation = 0, term, new_total
    while i > 0:
        i -= 1
        if precision[i] > best:
            best = precision[i]
        if outcomes[counted_ranks[i]] == TP:
            term = best - compensation
            new_total = total + term
            compensation = (new_total - total) - term
            total = new_total
    return total / <double>n_truth if n_truth else NAN


cdef double eleven_point_mean(
    const int8_t* outcomes, const int64_t* counted_ranks, const double* precision, Py_ssize_t n, int64_t n_truth,
    int64_t hits
) noexcept nogil:
    """The mean over the recall levels 0, 0.1 ... 1 of the best precision at that recall or beyond; 0 if never reached.

    Recall k/10 is reached if 10 * hits >= k * n_truth. Integers avoid the rounding of 0.1.
    """
    cdef Py_ssize_t i = n
    cdef int64_t tenth = 10
    cdef int64_t hits_left = hits
    cdef double best = 0
    cdef double values[11]
    cdef double total = 0
    while tenth >= 0 and 10 * hits_left < tenth * n_truth:
        values[tenth] = 0
        tenth -= 1
    while i > 0:
        # The scan goes backwards. A recall level is complete as soon as the row before does not reach it.
        i -= 1
        if precision[i] > best:
            best = precision[i]
        hits_left -= outcomes[counted_ranks[i]] == TP
        while tenth >= 0 and (i == 0 or 10 * hits_left < tenth * n_truth):
            values[tenth] = best
            tenth -= 1
    while tenth >= 0:
        values[tenth] = 0
        tenth -= 1
    for i in range(11):
        total += values[i]
    return total / 11


def curve(
    const int8_t[::1] outcomes, Py_ssize_t start, Py_ssize_t stop, int64_t n_truth, double[::1] precision,
    double[::1] recall, int64_t[::1] counted_ranks, double[::1] averages
) -> int:
    """Fill precision and recall after each counted detection of start to stop; return the number of these detections.

    counted_ranks holds the indices of these detections. averages holds the area under the envelope and the eleven-point
    mean. Output arrays have stop - start elements. Without truth, recall and averages are NaN.
    """
    cdef Py_ssize_t n
    cdef int64_t hits = 0
    cdef Py_ssize_t rank
    need_range(start, stop, outcomes.shape[0])
    need_length(b"averages", averages.shape[0], 2)
    need_length(b"results", min(precision.shape[0], recall.shape[0], counted_ranks.shape[0]), stop - start)
    if start == stop:
        averages[0] = 0.0 if n_truth else NAN
        averages[1] = averages[0]
        return 0
    with nogil:
        for rank in range(start, stop):
            hits += outcomes[rank] == TP
        n = fill_curve(&outcomes[0], start, stop, n_truth, &precision[0], &recall[0], &counted_ranks[0])
        averages[0] = area_under_envelope(&outcomes[0], start, &counted_ranks[0], &precision[0], n, n_truth)
        averages[1] = (
            eleven_point_mean(&outcomes[0], &counted_ranks[0], &precision[0], n, n_truth, hits) if n_truth else NAN
        )
    return n
