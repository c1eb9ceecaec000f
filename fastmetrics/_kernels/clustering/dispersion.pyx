"""Centers of clusters, distances of rows from them, and distances between them.

Rows are float32 or float64 and finite. `order` lists them cluster by cluster; cluster c ends before ends[c]. All
arithmetic is in double. Sums over rows are exact and rounded once (superaccumulator.pxd). Sums over dimensions have a
fixed order. So no result depends on the order of rows.
"""

from libc.math cimport INFINITY, NAN, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memset

from fastmetrics._kernels.numeric.length_checks cimport need_below, need_length, need_offsets
from fastmetrics._kernels.numeric.superaccumulator cimport (
    CHUNK, MINUS_INFINITIES, N_LIMBS, NANS, PLUS_INFINITIES, STATE_SIZE, add_chunk, add_value,
    carry_after, normalize, round_state,
)

cdef enum:
    COLUMNS_PER_PASS = 8               # columns that are read together: a cache line of doubles

ctypedef fused real_t:
    float
    double


cdef double round_signed_sum(int64_t* state) noexcept nogil:
    """The sum of a state, positive or negative, rounded once."""
    cdef Py_ssize_t limb
    normalize(state)
    if state[NANS] or (state[PLUS_INFINITIES] and state[MINUS_INFINITIES]):
        return NAN
    if state[PLUS_INFINITIES]:
        return INFINITY
    if state[MINUS_INFINITIES]:
        return -INFINITY
    if state[N_LIMBS - 1] >= 0:
        return round_state(state)
    for limb in range(N_LIMBS):
        state[limb] = -state[limb]
    normalize(state)
    return -round_state(state)


cdef void sum_columns(
    const real_t* column, Py_ssize_t stride, Py_ssize_t width, const int64_t* rows, Py_ssize_t n, int64_t* states,
    double* chunks, double* rest,
) noexcept nogil:
    """Add column[row * stride + j] over n rows to the j-th of `width` states, and normalize the states."""
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t length, i, j
    cdef const real_t* row
    while start < n:
        length = n - start if n - start < CHUNK else CHUNK
        for i in range(length):
            row = column + rows[start + i] * stride
            for j in range(width):
                chunks[j * CHUNK + i] = row[j]
        for j in range(width):
            add_chunk(states + j * STATE_SIZE, chunks + j * CHUNK, length, rest)
            carry_after(states + j * STATE_SIZE, start)
        start += length
    for j in range(width):
        normalize(states + j * STATE_SIZE)


cdef void average_columns(
    const real_t* column, Py_ssize_t stride, Py_ssize_t width, const int64_t* rows, Py_ssize_t n, int64_t* totals,
    double* out,
) noexcept nogil:
    """The means of `width` columns over n rows. The sums are also added to `totals`."""
    cdef int64_t states[COLUMNS_PER_PASS * STATE_SIZE]
    cdef double chunks[COLUMNS_PER_PASS * CHUNK]
    cdef double rest[CHUNK]
    cdef Py_ssize_t j, limb
    if n == 1:
        for j in range(width):
            out[j] = column[rows[0] * stride + j]
            add_value(totals + j * STATE_SIZE, out[j])
        return
    memset(states, 0, sizeof(states))
    sum_columns(column, stride, width, rows, n, states, chunks, rest)
    for j in range(width):
        for limb in range(STATE_SIZE):
            totals[j * STATE_SIZE + limb] += states[j * STATE_SIZE + limb]
        out[j] = round_signed_sum(states + j * STATE_SIZE) / <double>n


def compute_centers(
    const real_t[:, ::1] x, const int64_t[::1] order, const int64_t[::1] ends, double[:, ::1] out,
    double[::1] overall, int64_t[:, ::1] totals,
):
    """The mean row of each cluster, and the mean of all rows (`overall`): exact sums, rounded and divided.

    `totals` (dims, STATE_SIZE) is working memory. There must be fewer than 2**30 clusters.
    """
    cdef Py_ssize_t dims = x.shape[1]
    cdef Py_ssize_t cluster, width
    cdef Py_ssize_t dim = 0
    cdef int64_t start
    need_length(b"clusters of out", out.shape[0], ends.shape[0])
    need_length(b"columns", min(out.shape[1], overall.shape[0], totals.shape[0]), dims)
    need_length(b"words of a total", totals.shape[1], STATE_SIZE)
    if dims == 0 or order.shape[0] == 0:
        return
    need_below(b"order", &order[0], order.shape[0], x.shape[0])
    if ends.shape[0]:
        need_offsets(b"ends", &ends[0], ends.shape[0], order.shape[0])
    totals[:] = 0
    with nogil:
        while dim < dims:
            width = dims - dim if dims - dim < COLUMNS_PER_PASS else COLUMNS_PER_PASS
            start = 0
            for cluster in range(ends.shape[0]):
                average_columns(
                    &x[0, dim], dims, width, &order[start], ends[cluster] - start, &totals[dim, 0], &out[cluster, dim]
                )
                start = ends[cluster]
            dim += width
        for dim in range(dims):
            overall[dim] = round_signed_sum(&totals[dim, 0]) / <double>order.shape[0]


cdef void find_bounds(const real_t* x, Py_ssize_t rows, Py_ssize_t dims, real_t* low, real_t* high) noexcept nogil:
    cdef Py_ssize_t i, dim
    cdef real_t value
    for dim in range(dims):
        low[dim] = x[dim]
        high[dim] = x[dim]
    for i in range(rows):
        for dim in range(dims):
            value = x[i * dims + dim]
            low[dim] = value if value < low[dim] else low[dim]
            high[dim] = value if value > high[dim] else high[dim]
            low[dim] += value - value  # adds 0, or makes it NaN for good


def bounding_box(const real_t[:, ::1] x, real_t[::1] low, real_t[::1] high):
    """The least and the greatest value of every column. The least is NaN if any value is NaN or infinite."""
    need_length(b"low and high", min(low.shape[0], high.shape[0]), x.shape[1])
    if x.shape[0] == 0 or x.shape[1] == 0:
        return
    with nogil:
        find_bounds(&x[0, 0], x.shape[0], x.shape[1], &low[0], &high[0])


def distances_to_centers(
    const real_t[:, ::1] x, const int64_t[::1] codes, const double[:, ::1] centers, bint root, double[::1] out
):
    """The squared distance of every row from the center of its cluster, or with `root` the distance."""
    cdef Py_ssize_t i, dim, lane
    cdef int64_t cluster
    cdef double total, difference
    cdef double partial_sums[4]
    need_length(b"codes and out", min(codes.shape[0], out.shape[0]), x.shape[0])
    need_length(b"columns of centers", centers.shape[1], x.shape[1])
    if x.shape[0] == 0:
        return
    need_below(b"codes", &codes[0], x.shape[0], centers.shape[0])
    with nogil:
        for i in range(x.shape[0]):
            cluster = codes[i]
            for lane in range(4):
                partial_sums[lane] = 0
            dim = 0
            while dim + 4 <= x.shape[1]:
                for lane in range(4):
                    difference = <double>x[i, dim + lane] - centers[cluster, dim + lane]
                    partial_sums[lane] += difference * difference
                dim += 4
            total = (partial_sums[0] + partial_sums[1]) + (partial_sums[2] + partial_sums[3])
            while dim < x.shape[1]:
                difference = <double>x[i, dim] - centers[cluster, dim]
                total += difference * difference
                dim += 1
            out[i] = sqrt(total) if root else total


def largest_ratios(const double[:, ::1] centers, const double[::1] widths, double[::1] out) -> float:
    """For every cluster the largest (widths[i] + widths[j]) / distance of centers.

    Pairs of equal centers are left out. Returns the largest distance of two centers.
    """
    cdef Py_ssize_t i, j, dim
    cdef double total, difference, ratio
    cdef double largest_distance = 0
    need_length(b"widths and out", min(widths.shape[0], out.shape[0]), centers.shape[0])
    out[:] = 0
    with nogil:
        for i in range(centers.shape[0]):
            for j in range(i):
                total = 0
                for dim in range(centers.shape[1]):
                    difference = centers[i, dim] - centers[j, dim]
                    total += difference * difference
                if total > 0:
                    total = sqrt(total)
                    largest_distance = total if total > largest_distance else largest_distance
                    ratio = (widths[i] + widths[j]) / total
                    out[i] = ratio if ratio > out[i] else out[i]
                    out[j] = ratio if ratio > out[j] else out[j]
    return largest_distance
