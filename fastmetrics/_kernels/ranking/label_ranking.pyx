"""Label ranking: average precision, ranking loss and coverage of every row.

A row has n_labels scores (float32 or float64) and labels (uint8, 1 if relevant, else 0). For every relevant label,
average precision and ranking loss need the number of labels, and of relevant labels, that score at least as high. Up to
MOST_COMPARED relevant labels are compared with all labels: loops without branches, nothing is sorted. With more, the
scores of the relevant labels are sorted as keys (ordered_bits.pxd), and every label is searched among them. Coverage
needs the least relevant score and the number of labels that reach it.

The value of a row is computed from integers. Average precision adds its ratios as multiples of 2**-62, so that it does
not depend on the order of the labels.
"""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memset

from fastmetrics._kernels.columns.ordered_bits cimport score_t, sort_key
from fastmetrics._kernels.numeric.length_checks cimport need_length, need_range
from fastmetrics._kernels.sweep.rank_table cimport sort_keys
from fastmetrics._kernels.numeric.superaccumulator cimport CHUNK, STATE_SIZE, add_chunk, normalize
from fastmetrics._kernels.numeric.whole_numbers cimport divide_by_count

cdef extern from "ranking/label_rank_counts.h":
    void count_reached_f32 "fm_count_reached_f32"(
        const float* scores, Py_ssize_t n, const float* thresholds, Py_ssize_t n_thresholds, int64_t* counts
    ) noexcept nogil
    void count_reached_f64 "fm_count_reached_f64"(
        const double* scores, Py_ssize_t n, const double* thresholds, Py_ssize_t n_thresholds, int64_t* counts
    ) noexcept nogil
    bint count_relevant_f32 "fm_count_relevant_f32"(
        const float* scores, const uint8_t* labels, Py_ssize_t n, int allow_infinite, int64_t* n_relevant
    ) noexcept nogil
    bint count_relevant_f64 "fm_count_relevant_f64"(
        const double* scores, const uint8_t* labels, Py_ssize_t n, int allow_infinite, int64_t* n_relevant
    ) noexcept nogil
    float least_relevant_f32 "fm_least_relevant_f32"(
        const float* scores, const uint8_t* labels, Py_ssize_t n
    ) noexcept nogil
    double least_relevant_f64 "fm_least_relevant_f64"(
        const double* scores, const uint8_t* labels, Py_ssize_t n
    ) noexcept nogil

cdef extern from "columns/binary_labels.h":
    int decode_labels "fm_decode_labels"(char letter, const void* labels, Py_ssize_t n, uint8_t* out) noexcept nogil

cdef enum:
    OF_PRECISION = 0
    OF_LOSS = 1
    OF_COVERAGE = 2
    MOST_COMPARED = 64
    SHORT_CELLS = 1 << 16       # of a call: one thread is done before a second one would start

PRECISION = OF_PRECISION
LOSS = OF_LOSS
COVERAGE = OF_COVERAGE
MOST_COMPARED_LABELS = MOST_COMPARED


cdef inline void count_reached(
    const score_t* scores, Py_ssize_t n, const score_t* thresholds, Py_ssize_t n_thresholds, int64_t* counts
) noexcept nogil:
    if score_t is float:
        count_reached_f32(scores, n, thresholds, n_thresholds, counts)
    else:
        count_reached_f64(scores, n, thresholds, n_thresholds, counts)


cdef inline bint count_relevant(
    const score_t* scores, const uint8_t* labels, Py_ssize_t n, bint allow_infinite, int64_t* n_relevant
) noexcept nogil:
    if score_t is float:
        return count_relevant_f32(scores, labels, n, allow_infinite, n_relevant)
    else:
        return count_relevant_f64(scores, labels, n, allow_infinite, n_relevant)


cdef inline score_t least_relevant(const score_t* scores, const uint8_t* labels, Py_ssize_t n) noexcept nogil:
    if score_t is float:
        return least_relevant_f32(scores, labels, n)
    else:
        return least_relevant_f64(scores, labels, n)


cdef struct Ratios:
    uint64_t high               # multiples of 2**-30
    uint64_t low                # multiples of 2**-62: the low 32 bits of every ratio
    int64_t n


cdef inline void add_ratio(Ratios* ratios, int64_t numerator, int64_t denominator) noexcept nogil:
    """Add a ratio in (0, 1]. At most 2**32 ratios."""
    cdef uint64_t whole = <uint64_t>(<double>numerator / <double>denominator * 2.0 ** 62)
    ratios.high += whole >> 32
    ratios.low += whole & 0xFFFFFFFFu
    ratios.n += 1


cdef inline double mean_ratio(const Ratios* ratios) noexcept nogil:
    cdef uint64_t high = ratios.high + (ratios.low >> 32)
    cdef uint64_t low = ratios.low & 0xFFFFFFFFu
    return (<double>high * 2.0 ** -30 + <double>low * 2.0 ** -62) / <double>ratios.n


cdef double value_by_comparison(
    const score_t* scores, const uint8_t* labels, Py_ssize_t n, int64_t n_relevant, int measure
) noexcept nogil:
    """The value of a row with 1 to MOST_COMPARED relevant labels."""
    cdef score_t few[MOST_COMPARED + 1]
    cdef int64_t above[MOST_COMPARED]
    cdef int64_t relevant_above[MOST_COMPARED]
    cdef Ratios ratios
    cdef int64_t lost = 0
    cdef Py_ssize_t i
    cdef Py_ssize_t found = 0
    for i in range(n):
        few[found] = scores[i]
        found += labels[i]
    count_reached[score_t](scores, n, few, n_relevant, above)
    count_reached[score_t](few, n_relevant, few, n_relevant, relevant_above)
    if measure == OF_LOSS:
        for i in range(n_relevant):
            lost += above[i] - relevant_above[i]
        return <double>lost / (<double>n_relevant * <double>(n - n_relevant))
    memset(&ratios, 0, sizeof(Ratios))
    for i in range(n_relevant):
        add_ratio(&ratios, relevant_above[i], above[i])
    return mean_ratio(&ratios)


cdef inline int64_t count_at_most(const uint64_t* few, int64_t n_few, uint64_t key) noexcept nogil:
    """How many of the sorted keys `few` are at most `key`; a binary search without branches."""
    cdef int64_t below = 0
    cdef int64_t half
    while n_few > 1:
        half = n_few >> 1
        below += half & -<int64_t>(few[below + half - 1] <= key)
        n_few -= half
    return below + (few[below] <= key)


cdef double value_by_search(
    const score_t* scores, const uint8_t* labels, Py_ssize_t n, int64_t n_relevant, int measure, uint64_t* memory
) noexcept nogil:
    """As value_by_comparison, for 1 to n - 1 relevant labels. `memory` has 3 n words.

    The keys of relevant labels are sorted. Every label is counted at the first of them that it does not reach.
    """
    cdef uint64_t* few = memory
    cdef uint64_t* counts = memory + n
    cdef Ratios ratios
    cdef int64_t lost = 0
    cdef int64_t first = 0
    cdef int64_t found = 0
    cdef int64_t above = n
    cdef int64_t i
    for i in range(n):
        few[found] = sort_key(scores[i])
        found += labels[i]
    sort_keys[uint64_t](few, n_relevant, memory + 2 * n)
    memset(counts, 0, (n_relevant + 1) * sizeof(uint64_t))
    for i in range(n):
        counts[count_at_most(few, n_relevant, sort_key(scores[i]))] += 1
    memset(&ratios, 0, sizeof(Ratios))
    for i in range(n_relevant):
        if few[i] != few[first]:
            first = i
        above -= <int64_t>counts[i]
        if measure == OF_LOSS:
            lost += above - (n_relevant - first)
        else:
            add_ratio(&ratios, n_relevant - first, above)
    if measure == OF_LOSS:
        return <double>lost / (<double>n_relevant * <double>(n - n_relevant))
    return mean_ratio(&ratios)


cdef inline bint measure_row(
    const score_t* scores, const uint8_t* labels, Py_ssize_t n, int measure, bint allow_infinite, uint64_t* keys,
    double* out
) noexcept nogil:
    """Compute the value of a row; return 0 if a score is NaN, or infinite unless that is allowed.

    Without a pair to rank precision is 1 and loss 0. Without a relevant label coverage is 0.
    """
    cdef int64_t n_relevant = 0
    cdef int64_t reached
    cdef score_t least
    if not count_relevant[score_t](scores, labels, n, allow_infinite, &n_relevant):
        return 0
    if n_relevant == 0 or n_relevant == n:
        out[0] = 1.0 if measure == OF_PRECISION else <double>n_relevant if measure == OF_COVERAGE else 0.0
    elif measure == OF_COVERAGE:
        least = least_relevant[score_t](scores, labels, n)
        count_reached[score_t](scores, n, &least, 1, &reached)
        out[0] = <double>reached
    elif n_relevant <= MOST_COMPARED:
        out[0] = value_by_comparison[score_t](scores, labels, n, n_relevant, measure)
    else:
        out[0] = value_by_search[score_t](scores, labels, n, n_relevant, measure, keys)
    return 1


def measure_rows(
    const score_t[:, ::1] scores, const uint8_t[::1] labels, Py_ssize_t start, Py_ssize_t stop, int measure,
    uint64_t[::1] keys, double[::1] values, int64_t[::1] has_bad, bint allow_infinite=True
):
    """values[row] of the rows start to stop. `labels` has the labels of these rows only.

    `keys` has three words for each label of a row if there are more than MOST_COMPARED_LABELS labels. has_bad[0] is set
    to 1 if a score is NaN, or infinite unless that is allowed.
    """
    cdef Py_ssize_t n = scores.shape[1]
    cdef Py_ssize_t row
    cdef uint64_t* memory = NULL
    cdef bint good = 1
    need_range(start, stop, min(scores.shape[0], values.shape[0]))
    need_length(b"labels", labels.shape[0], (stop - start) * n)
    need_length(b"has_bad", has_bad.shape[0], 1)
    if n > MOST_COMPARED_LABELS:
        need_length(b"keys", keys.shape[0], 3 * n)
    if n == 0:
        return
    if stop <= start:
        return
    if keys.shape[0]:
        memory = &keys[0]
    with nogil:
        for row in range(start, stop):
            if not measure_row(
                &scores[row, 0], &labels[(row - start) * n], n, measure, allow_infinite, memory, &values[row]
            ):
                good = 0
                break
    if not good:
        has_bad[0] = 1


cdef struct Matrices:
    Py_buffer labels
    Py_buffer scores


cdef inline bint is_short_matrix(Py_buffer* view) noexcept nogil:
    """Two dimensions, C-contiguous, native byte order; at most MOST_COMPARED labels and SHORT_CELLS cells."""
    if view.ndim != 2 or view.format[0] == 0 or view.format[1] != 0 or view.itemsize < 1:
        return 0
    if view.strides[1] != view.itemsize or view.strides[0] != view.itemsize * view.shape[1]:
        return 0
    if not (1 < view.shape[1] <= MOST_COMPARED and 0 < view.shape[0] * view.shape[1] <= SHORT_CELLS):
        return 0
    return <size_t>view.buf % <size_t>view.itemsize == 0


cdef bint sum_short_rows(Matrices* matrices, int measure, int64_t* state) noexcept nogil:
    """Add the values of all rows to the state; return 0 if a label is not 0 or 1 or a score is not finite."""
    cdef uint8_t labels[CHUNK]
    cdef double values[CHUNK]
    cdef double rest[CHUNK]
    cdef Py_ssize_t rows = matrices.scores.shape[0]
    cdef Py_ssize_t n = matrices.scores.shape[1]
    cdef Py_ssize_t rows_per_chunk = CHUNK // n
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t row, length
    cdef bint double_wide = matrices.scores.itemsize == 8
    cdef const double* doubles = <const double*>matrices.scores.buf
    cdef const float* floats = <const float*>matrices.scores.buf
    cdef const char* label_bytes = <const char*>matrices.labels.buf
    cdef int seen
    while start < rows:
        length = rows - start if rows - start < rows_per_chunk else rows_per_chunk
        seen = decode_labels(
            matrices.labels.format[0], label_bytes + start * n * matrices.labels.itemsize, length * n, labels)
        if seen == 0 or seen > 3:
            return 0
        for row in range(length):
            if double_wide:
                if not measure_row(doubles + (start + row) * n, labels + row * n, n, measure, 0, NULL, values + row):
                    return 0
            elif not measure_row(floats + (start + row) * n, labels + row * n, n, measure, 0, NULL, values + row):
                return 0
        add_chunk(state, values, length, rest)
        start += length
    normalize(state)
    return 1


def mean_of_short(object y_true, object y_score, int measure) -> float | None:
    """The mean over rows of small, plain matrices; None for all other input, also for invalid input.

    The buffers are inspected directly, which takes a tenth of the time of typed memoryviews.
    """
    cdef Matrices matrices
    cdef int64_t state[STATE_SIZE]
    cdef bint good = 0
    cdef Py_ssize_t rows
    try:
        PyObject_GetBuffer(y_true, &matrices.labels, PyBUF_STRIDES | PyBUF_FORMAT)
    except (BufferError, TypeError, ValueError):
        return None
    try:
        PyObject_GetBuffer(y_score, &matrices.scores, PyBUF_STRIDES | PyBUF_FORMAT)
    except (BufferError, TypeError, ValueError):
        PyBuffer_Release(&matrices.labels)
        return None
    rows = matrices.labels.shape[0] if matrices.labels.ndim == 2 else 0
    if is_short_matrix(&matrices.labels) and is_short_matrix(&matrices.scores):
        if matrices.scores.format[0] in (c"d", c"f") and matrices.scores.shape[0] == rows:
            if matrices.scores.shape[1] == matrices.labels.shape[1]:
                with nogil:
                    memset(state, 0, sizeof(state))
                    good = sum_short_rows(&matrices, measure, state)
    PyBuffer_Release(&matrices.labels)
    PyBuffer_Release(&matrices.scores)
    return divide_by_count(state, <uint64_t>rows) if good else None
