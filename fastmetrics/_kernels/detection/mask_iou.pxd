"""The IoU of masks in run-length encoding (masks.h): of one pair, and of all pairs of a group.

The counts of all masks are one uint32 array; those of mask m are starts[m] to starts[m + 1].
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t

cdef extern from "detection/masks.h":
    ctypedef struct Extent "fm_extent":
        int64_t area, first, end, top, bottom, left
    Extent fm_measure(const uint32_t* counts, int64_t n, int64_t height, uint32_t* ends) noexcept nogil
    int64_t fm_intersection(
        const uint32_t* first, int64_t n_first, const uint32_t* second, int64_t n_second, int64_t begin, int64_t end
    ) noexcept nogil
    int64_t fm_intersection_by_column(
        const uint32_t* first, int64_t n_first, int64_t first_left,
        const uint32_t* second, int64_t n_second, int64_t second_left
    ) noexcept nogil


cdef struct MaskRows:
    const uint32_t* counts
    const int64_t* starts
    const int64_t* sizes
    const int64_t* rows


cdef inline int64_t n_counts_of(const MaskRows* side, int64_t row) noexcept nogil:
    return side.starts[row + 1] - side.starts[row]


cdef inline double mask_iou(
    const Extent* detection, const uint32_t* detection_ends, int64_t n_detection_ends,
    const Extent* truth, const uint32_t* truth_ends, int64_t n_truth_ends, bint crowd
) noexcept nogil:
    """Pixels in both masks, divided by pixels in either; for a crowd, divided by the pixels of the detection."""
    cdef int64_t begin = max(detection.first, truth.first)
    cdef int64_t end = min(detection.end, truth.end)
    cdef int64_t intersection, divisor
    if begin >= end or detection.top >= truth.bottom or truth.top >= detection.bottom:
        return 0.0
    if detection.left >= 0 and truth.left >= 0:
        intersection = fm_intersection_by_column(
            detection_ends, n_detection_ends // 2, detection.left, truth_ends, n_truth_ends // 2, truth.left
        )
    else:
        intersection = fm_intersection(
            detection_ends, n_detection_ends // 2, truth_ends, n_truth_ends // 2, begin, end
        )
    if intersection == 0:
        return 0.0
    divisor = detection.area if crowd else detection.area + truth.area - intersection
    return <double>intersection / <double>divisor


cdef inline int64_t iou_of_group(
    const MaskRows* detections, const MaskRows* truth, const uint8_t* crowd, int64_t detection_start,
    int64_t detection_stop, int64_t truth_start, int64_t truth_stop, Extent* extents, uint32_t* ends, double* out
) noexcept nogil:
    """Fill the IoU of every detection of a group with every object. Return the first pair of different sizes, or -1."""
    cdef int64_t d, t, row, detection_row, n_counts
    cdef int64_t position = 0
    cdef int64_t n_truth = truth_stop - truth_start
    cdef Extent extent
    cdef uint32_t* detection_ends
    for t in range(n_truth):
        row = truth.rows[truth_start + t]
        extents[t] = fm_measure(
            truth.counts + truth.starts[row], n_counts_of(truth, row), truth.sizes[2 * row], ends + position
        )
        position += n_counts_of(truth, row)
    detection_ends = ends + position
    for d in range(detection_start, detection_stop):
        detection_row = detections.rows[d]
        n_counts = n_counts_of(detections, detection_row)
        extent = fm_measure(
            detections.counts + detections.starts[detection_row], n_counts, detections.sizes[2 * detection_row],
            detection_ends
        )
        position = 0
        for t in range(n_truth):
            row = truth.rows[truth_start + t]
            if (
                detections.sizes[2 * detection_row] != truth.sizes[2 * row]
                or detections.sizes[2 * detection_row + 1] != truth.sizes[2 * row + 1]
            ):
                return (d - detection_start) * n_truth + t
            out[(d - detection_start) * n_truth + t] = mask_iou(
                &extent, detection_ends, n_counts, &extents[t], ends + position, n_counts_of(truth, row), crowd[row]
            )
            position += n_counts_of(truth, row)
    return -1
