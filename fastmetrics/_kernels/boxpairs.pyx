"""All pairs of two sets of boxes, and the matching of detections as Pascal VOC does it.

Boxes come as rows of four float64, either corners x1, y1, x2, y2 or x, y, width, height, and are laid out once as five
arrays in one (5, n): the corners and the area, so that the loop over the second set reads wide registers. The
arithmetic is that of boxpairs.h. Sizes are bounded by MOST_SIZE, so that areas and their sums stay finite.
"""

from libc.math cimport NAN
from libc.stdint cimport int8_t, int64_t, uint8_t

cdef extern from "boxpairs.h":
    double shared_area "fm_shared_area"(
        double x1, double y1, double x2, double y2,
        double other_x1, double other_y1, double other_x2, double other_y2, double extra
    ) noexcept nogil
    double overlap "fm_overlap"(double shared, double area, double other_area) noexcept nogil
    void overlaps_of "fm_overlaps_of"(
        const double* box, const double* others, Py_ssize_t n, double extra, double* out
    ) noexcept nogil
    void overlaps_with_crowds "fm_overlaps_with_crowds"(
        const double* box, const double* others, const uint8_t* crowd, Py_ssize_t n, double extra, double* out
    ) noexcept nogil

cdef double MOST = 1e150
MOST_SIZE = MOST

cdef enum:
    FALSE_ONE = 0
    TRUE_ONE = 1
    LEFT_OUT = 2

FALSE_POSITIVE = FALSE_ONE
TRUE_POSITIVE = TRUE_ONE
IGNORED = LEFT_OUT


cdef Py_ssize_t lay_out_rows(
    const double* boxes, Py_ssize_t n, bint corners, double extra, double* out
) noexcept nogil:
    cdef Py_ssize_t i
    cdef double x, y, right, bottom, width, height
    for i in range(n):
        x = boxes[4 * i]
        y = boxes[4 * i + 1]
        if corners:
            right = boxes[4 * i + 2]
            bottom = boxes[4 * i + 3]
            width = right - x
            height = bottom - y
        else:
            width = boxes[4 * i + 2]
            height = boxes[4 * i + 3]
            right = x + width
            bottom = y + height
        # NaN fails every comparison.
        if not (-MOST <= x <= MOST and -MOST <= y <= MOST and 0 <= width <= MOST and 0 <= height <= MOST):
            return i
        out[i] = x
        out[n + i] = y
        out[2 * n + i] = right
        out[3 * n + i] = bottom
        out[4 * n + i] = (width + extra) * (height + extra)
    return -1


def lay_out(const double[:, ::1] boxes, bint corners, double extra, double[:, ::1] out):
    """Corners and areas of (n, 4) boxes into (5, n). Returns the first row that is no box, or -1."""
    cdef Py_ssize_t n = boxes.shape[0]
    cdef Py_ssize_t bad = -1
    if n:
        with nogil:
            bad = lay_out_rows(&boxes[0, 0], n, corners, extra, &out[0, 0])
    return bad


cdef void overlap_rows(
    const double* first, Py_ssize_t n, const double* second, const uint8_t* crowd, Py_ssize_t m, double extra,
    Py_ssize_t start, Py_ssize_t stop, double* out
) noexcept nogil:
    cdef Py_ssize_t i, k
    cdef double box[5]
    for i in range(start, stop):
        for k in range(5):
            box[k] = first[k * n + i]
        if crowd == NULL:
            overlaps_of(box, second, m, extra, out + i * m)
        else:
            overlaps_with_crowds(box, second, crowd, m, extra, out + i * m)


def overlap_pairs(
    const double[:, ::1] first, const double[:, ::1] second, const uint8_t[::1] crowd, double extra,
    Py_ssize_t start, Py_ssize_t stop, double[:, ::1] out
):
    """Rows start to stop of the (n, m) overlaps of boxes as lay_out leaves them, no side empty; crowd may be None."""
    cdef const uint8_t* crowds = NULL
    if crowd is not None:
        crowds = &crowd[0]
    with nogil:
        overlap_rows(
            &first[0, 0], first.shape[1], &second[0, 0], crowds, second.shape[1], extra, start, stop, &out[0, 0]
        )


cdef Py_ssize_t first_of_image(const int64_t* images, Py_ssize_t start, Py_ssize_t stop, int64_t image) noexcept nogil:
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
    Py_ssize_t last, const double* found, const int64_t* found_images, const int64_t* order, Py_ssize_t start,
    Py_ssize_t stop, double threshold, double extra, uint8_t* taken, int8_t* verdicts
) noexcept nogil:
    cdef Py_ssize_t place, row, t, best
    cdef int64_t image
    cdef double value, most
    cdef const double* box
    for place in range(start, stop):
        row = order[place]
        image = found_images[row]
        box = found + 5 * row
        t = first_of_image(truth_images, first, last, image)
        best = -1
        most = -1
        while t < last and truth_images[t] == image:
            value = overlap(
                shared_area(
                    box[0], box[1], box[2], box[3],
                    truth[t], truth[n_truth + t], truth[2 * n_truth + t], truth[3 * n_truth + t], extra,
                ),
                box[4], truth[4 * n_truth + t],
            )
            if value > most:
                most = value
                best = t
            t += 1
        if best < 0 or not most >= threshold:
            verdicts[place] = FALSE_ONE
        elif difficult[best]:
            verdicts[place] = LEFT_OUT
        elif taken[best]:
            verdicts[place] = FALSE_ONE
        else:
            taken[best] = 1
            verdicts[place] = TRUE_ONE


def match(
    const double[:, ::1] truth, const int64_t[::1] truth_images, const uint8_t[::1] difficult, Py_ssize_t first,
    Py_ssize_t last, const double[:, ::1] found, const int64_t[::1] found_images, const int64_t[::1] order,
    Py_ssize_t start, Py_ssize_t stop, double threshold, double extra, uint8_t[::1] taken, int8_t[::1] verdicts
):
    """What becomes of the detections order[start:stop] of a class, by falling score.

    truth: boxes as lay_out leaves them, those of the class from first to last, images in rising order. Each detection
    goes to the box of its image with the greatest overlap (of equal ones the first); a box is found once. found: the
    same numbers, those of a box side by side (n, 5), for they are met in the order of scores. taken is zero before.
    """
    cdef bint some = truth.shape[1] > 0
    if start == stop:
        return
    with nogil:
        match_class(
            &truth[0, 0] if some else NULL, &truth_images[0] if some else NULL, &difficult[0] if some else NULL,
            truth.shape[1], first, last, &found[0, 0], &found_images[0], &order[0], start, stop,
            threshold, extra, &taken[0] if some else NULL, &verdicts[0],
        )


cdef Py_ssize_t follow(
    const int8_t* verdicts, Py_ssize_t start, Py_ssize_t stop, int64_t n_truth, double* precision, double* recall,
    int64_t* places
) noexcept nogil:
    cdef Py_ssize_t place, n = 0
    cdef int64_t hits = 0
    for place in range(start, stop):
        if verdicts[place] == LEFT_OUT:
            continue
        hits += verdicts[place] == TRUE_ONE
        precision[n] = <double>hits / <double>(n + 1)
        recall[n] = <double>hits / <double>n_truth if n_truth else NAN
        places[n] = place
        n += 1
    return n


cdef double area_below(const int8_t* verdicts, Py_ssize_t start, const int64_t* places, const double* precision,
                       Py_ssize_t n, int64_t n_truth) noexcept nogil:
    """Every true positive adds a step of recall, as high as the best precision from there on. A compensated sum."""
    cdef Py_ssize_t i = n
    cdef double best = 0, total = 0, lost = 0, term, moved
    while i > 0:
        i -= 1
        if precision[i] > best:
            best = precision[i]
        if verdicts[places[i]] == TRUE_ONE:
            term = best - lost
            moved = total + term
            lost = (moved - total) - term
            total = moved
    return total / <double>n_truth if n_truth else NAN


cdef double eleven_points(const int8_t* verdicts, const int64_t* places, const double* precision, Py_ssize_t n,
                          int64_t n_truth, int64_t hits) noexcept nogil:
    """The mean, over recalls of 0, 0.1 … 1, of the best precision from where that recall is reached, or 0.

    A recall of k tenths is reached by 10 hits >= k n_truth: whole numbers, no rounded tenths.
    """
    cdef Py_ssize_t i = n
    cdef int64_t tenth = 10
    cdef int64_t left = hits
    cdef double best = 0
    cdef double values[11]
    cdef double total = 0
    while tenth >= 0 and 10 * left < tenth * n_truth:
        values[tenth] = 0
        tenth -= 1
    while i > 0:
        # Walking back, a tenth is done where the row before it does not reach it any more.
        i -= 1
        if precision[i] > best:
            best = precision[i]
        left -= verdicts[places[i]] == TRUE_ONE
        while tenth >= 0 and (i == 0 or 10 * left < tenth * n_truth):
            values[tenth] = best
            tenth -= 1
    while tenth >= 0:
        values[tenth] = 0
        tenth -= 1
    for i in range(11):
        total += values[i]
    return total / 11


def curve(
    const int8_t[::1] verdicts, Py_ssize_t start, Py_ssize_t stop, int64_t n_truth, double[::1] precision,
    double[::1] recall, int64_t[::1] places, double[::1] averages
):
    """Precision and recall after each detection of start to stop that counts; how many these are is returned.

    places tells which they are. averages: the area below the envelope, and the mean of eleven points. Out arrays have
    stop - start slots. Without truth recalls and averages are NaN.
    """
    cdef Py_ssize_t n
    cdef int64_t hits = 0
    cdef Py_ssize_t place
    if start == stop:
        averages[0] = 0.0 if n_truth else NAN
        averages[1] = averages[0]
        return 0
    with nogil:
        for place in range(start, stop):
            hits += verdicts[place] == TRUE_ONE
        n = follow(&verdicts[0], start, stop, n_truth, &precision[0], &recall[0], &places[0])
        averages[0] = area_below(&verdicts[0], start, &places[0], &precision[0], n, n_truth)
        averages[1] = eleven_points(&verdicts[0], &places[0], &precision[0], n, n_truth, hits) if n_truth else NAN
    return n
