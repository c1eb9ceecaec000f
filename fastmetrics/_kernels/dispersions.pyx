"""Centres of clusters, how far rows lie from them, and how far they lie from each other.

Rows are float32 or float64 and finite; `order` names them cluster by cluster, cluster c before ends[c]. All arithmetic
is in double. Sums over rows are exact and rounded once (superaccumulator.pxd), sums over dimensions run in their order:
no result depends on the order of rows.
"""

from libc.math cimport INFINITY, NAN, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memset

from fastmetrics._kernels.superaccumulator cimport (
    CHUNK, CHUNKS_PER_CARRY, MINUS_INFINITIES, N_LIMBS, NANS, PLUS_INFINITIES, STATE_SIZE, add_chunk, normalise,
    rounded,
)

ctypedef fused real_t:
    float
    double


cdef double close_sum(int64_t* state) noexcept nogil:
    """The sum of a state, of either sign, rounded once."""
    cdef Py_ssize_t limb
    normalise(state)
    if state[NANS] or (state[PLUS_INFINITIES] and state[MINUS_INFINITIES]):
        return NAN
    if state[PLUS_INFINITIES]:
        return INFINITY
    if state[MINUS_INFINITIES]:
        return -INFINITY
    if state[N_LIMBS - 1] >= 0:
        return rounded(state)
    for limb in range(N_LIMBS):
        state[limb] = -state[limb]
    normalise(state)
    return -rounded(state)


cdef double column_sum(
    const real_t* column, Py_ssize_t stride, const int64_t* rows, Py_ssize_t n, int64_t* state, double* chunk,
    double* rest,
) noexcept nogil:
    """The sum of column[row * stride] over n rows."""
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t n_chunks = 0
    cdef Py_ssize_t length, i
    if n == 1:
        return column[rows[0] * stride]
    memset(state, 0, STATE_SIZE * sizeof(int64_t))
    while start < n:
        length = n - start if n - start < CHUNK else CHUNK
        for i in range(length):
            chunk[i] = column[rows[start + i] * stride]
        add_chunk(state, chunk, length, rest)
        start += length
        n_chunks += 1
        if n_chunks % CHUNKS_PER_CARRY == 0:
            normalise(state)
    return close_sum(state)


def centres(const real_t[:, ::1] x, const int64_t[::1] order, const int64_t[::1] ends, double[:, ::1] out):
    """The mean of each cluster's rows, column by column: exact sums, rounded, divided."""
    cdef int64_t state[STATE_SIZE]
    cdef double chunk[CHUNK]
    cdef double rest[CHUNK]
    cdef Py_ssize_t dims = x.shape[1]
    cdef Py_ssize_t cluster, dim
    cdef int64_t start = 0
    cdef int64_t size
    with nogil:
        for cluster in range(ends.shape[0]):
            size = ends[cluster] - start
            for dim in range(dims):
                out[cluster, dim] = (
                    column_sum(&x[0, 0] + dim, dims, &order[start], size, state, chunk, rest) / <double>size
                )
            start = ends[cluster]


def spreads(const real_t[:, ::1] x, const int64_t[::1] codes, const double[:, ::1] centre, bint root, double[::1] out):
    """The squared distance of every row from its cluster's centre, or the distance itself (`root`)."""
    cdef Py_ssize_t i, dim
    cdef int64_t cluster
    cdef double total, difference
    with nogil:
        for i in range(x.shape[0]):
            cluster = codes[i]
            total = 0
            for dim in range(x.shape[1]):
                difference = <double>x[i, dim] - centre[cluster, dim]
                total += difference * difference
            out[i] = sqrt(total) if root else total


def worst_ratios(const double[:, ::1] centre, const double[::1] spread, double[::1] out):
    """For every cluster the greatest (spread_i + spread_j) / distance of centres; `out` holds zeros.

    Centres in one place give nothing. Returns the greatest distance.
    """
    cdef Py_ssize_t i, j, dim
    cdef double total, difference, ratio
    cdef double greatest = 0
    with nogil:
        for i in range(centre.shape[0]):
            for j in range(i):
                total = 0
                for dim in range(centre.shape[1]):
                    difference = centre[i, dim] - centre[j, dim]
                    total += difference * difference
                if total > 0:
                    total = sqrt(total)
                    greatest = total if total > greatest else greatest
                    ratio = (spread[i] + spread[j]) / total
                    out[i] = ratio if ratio > out[i] else out[i]
                    out[j] = ratio if ratio > out[j] else out[j]
    return greatest
