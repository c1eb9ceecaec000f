"""Sums of distances from rows to the rows of each cluster, and the mean distances that silhouettes are made of.

Rows are placed side by side, sorted by cluster; `rows` says which row of the matrix stands at a place, -1 for none. A
lane of a register is a pair of rows (distances.h): a *panel* of PANEL rows lies transposed, [dims][PANEL], and a *tile*
is ROWS rows against a panel. So a distance depends on its two rows alone, and is the same from either side.

Sums do not depend on order either: a distance is cut into two words, multiples of two powers of two (`words`, from
`cut_words`), the first of which holds the 52 leading bits of the largest sum that can be, the second the 52 below them,
and each word is added by itself. A cluster's sum then stays below 2**53 units in either word: all additions are exact.
What is cut off of a distance is below 2**-80 of the largest sum; whoever needs more asks `exact_means`.

Memory is the caller's: `panels` has room for the places of a strip times dims, `pack` for ROWS times dims, both aligned
to 64 bytes, and so are the sums of strips; lengths of strips are multiples of PANEL. Every function may run in several
threads, each with memory of its own. `width` is that of the registers: 0, or up to `widest()`; results do not depend on
it.
"""

from libc.math cimport frexp, ldexp
from libc.stdint cimport int64_t
from libc.string cimport memset

from fastmetrics._kernels.superaccumulator cimport CHUNK, STATE_SIZE, add_chunk, normalise, rounded

cdef extern from "distances.h":
    cdef enum:
        FM_ROWS
        FM_PANEL_F32
        FM_PANEL_F64
        FM_PLAIN
        FM_ROOT
        FM_ABSOLUTE
    ctypedef struct fm_words:
        double first
        double second
    ctypedef struct fm_strip:
        Py_ssize_t length
        Py_ssize_t n_runs
        const int64_t* rows
        const int64_t* bounds
        const int64_t* filled
        double* high
        double* low
    ctypedef struct fm_means:
        Py_ssize_t length
        const int64_t* clusters
        double* high
        double* low
        double* own
        double* best
    int fm_widest() noexcept nogil
    double fm_extremes_f32(const float* row, Py_ssize_t n, double* least) noexcept nogil
    double fm_extremes_f64(const double* row, Py_ssize_t n, double* least) noexcept nogil
    double fm_add_places_f32(
        const float* row, const int64_t* places, Py_ssize_t n, const fm_words* words
    ) noexcept nogil
    double fm_add_places_f64(
        const double* row, const int64_t* places, Py_ssize_t n, const fm_words* words
    ) noexcept nogil
    void fm_close_cluster(
        const fm_means* strip, Py_ssize_t place, Py_ssize_t length, int64_t cluster, int64_t size
    ) noexcept nogil
    void fm_pack_f32(
        const float* x, Py_ssize_t dims, const int64_t* rows, Py_ssize_t n, Py_ssize_t width, float* out
    ) noexcept nogil
    void fm_pack_f64(
        const double* x, Py_ssize_t dims, const int64_t* rows, Py_ssize_t n, Py_ssize_t width, double* out
    ) noexcept nogil
    void fm_pair_sums_f32(
        int width, const float* x, Py_ssize_t dims, int kind, const fm_words* words, const fm_strip* left,
        const fm_strip* right, int same, const float* panels, float* pack
    ) noexcept nogil
    void fm_pair_sums_f64(
        int width, const double* x, Py_ssize_t dims, int kind, const fm_words* words, const fm_strip* left,
        const fm_strip* right, int same, const double* panels, double* pack
    ) noexcept nogil
    void fm_strip_means_f32(
        int width, const float* x, Py_ssize_t dims, int kind, const fm_words* words, const int64_t* rows,
        const int64_t* ends, Py_ssize_t n_rows, const fm_means* strip, const float* panels, float* pack
    ) noexcept nogil
    void fm_strip_means_f64(
        int width, const double* x, Py_ssize_t dims, int kind, const fm_words* words, const int64_t* rows,
        const int64_t* ends, Py_ssize_t n_rows, const fm_means* strip, const double* panels, double* pack
    ) noexcept nogil
    void fm_spread_f64(
        int width, const double* pack, const double* panel, Py_ssize_t dims, int kind, Py_ssize_t n_rows,
        Py_ssize_t n_lanes, Py_ssize_t stride, double* out
    ) noexcept nogil

ROWS = FM_ROWS
PANEL_F32 = FM_PANEL_F32
PANEL_F64 = FM_PANEL_F64
PLAIN = FM_PLAIN
ROOT = FM_ROOT
ABSOLUTE = FM_ABSOLUTE

ctypedef fused real_t:
    float
    double


def widest():
    """The width of registers to use: 2, 1 or 0."""
    return fm_widest()


def sort_rows(const int64_t[::1] codes, int64_t[::1] sizes, int64_t[::1] ends, int64_t[::1] order):
    """Rows by their codes 0 .. k - 1: how many have each (`sizes` are zeros), where each ends, all rows in order."""
    cdef Py_ssize_t i
    cdef int64_t place = 0
    with nogil:
        for i in range(codes.shape[0]):
            sizes[codes[i]] += 1
        for i in range(sizes.shape[0]):
            ends[i] = place
            place += sizes[i]
        for i in range(codes.shape[0]):
            order[ends[codes[i]]] = i
            ends[codes[i]] += 1


cdef double FAR = 2.0 ** 900  # sums of greater distances, and words for them, might overflow


cdef fm_words cut_words(double greatest, int64_t most) noexcept nogil:
    """The words for distances of at most `greatest` (finite) in sums of at most `most` of them."""
    cdef fm_words words
    cdef int exponent = 0
    cdef int bits = 0
    frexp(greatest, &exponent)
    while bits < 62 and (<int64_t>1 << bits) < most:
        bits += 1
    if bits < 2:
        bits = 2
    # The unit of the first word is 2**(exponent + bits - 52); a rest is at most half of it, 2**(exponent + bits - 53).
    words.first = ldexp(1.5, exponent + bits)
    words.second = ldexp(1.5, exponent + bits - 53 + bits)
    return words


cdef inline void pack_panels(
    const real_t* x, Py_ssize_t dims, const int64_t* rows, Py_ssize_t n, real_t* panels
) noexcept nogil:
    """The panels of n places; what is missing of the last one are zeros."""
    cdef Py_ssize_t length
    cdef Py_ssize_t place = 0
    if real_t is float:
        while place < n:
            length = n - place if n - place < FM_PANEL_F32 else FM_PANEL_F32
            fm_pack_f32(x, dims, rows + place, length, FM_PANEL_F32, panels + place * dims)
            place += FM_PANEL_F32
    else:
        while place < n:
            length = n - place if n - place < FM_PANEL_F64 else FM_PANEL_F64
            fm_pack_f64(x, dims, rows + place, length, FM_PANEL_F64, panels + place * dims)
            place += FM_PANEL_F64


def pair_sums(
    const real_t[:, ::1] x, int kind, double greatest, int64_t most, const int64_t[::1] rows,
    const int64_t[::1] bounds, const int64_t[::1] filled, double[:, :, ::1] sums,
    const int64_t[::1] other_rows, const int64_t[::1] other_bounds, const int64_t[::1] other_filled,
    double[:, :, ::1] other_sums, bint same, real_t[::1] panels, real_t[::1] pack, int width,
):
    """Distances of every pair of two strips, added for both rows of it.

    A strip has `rows`, the places `bounds` where runs of a cluster start (multiples of PANEL) and how many places of
    each run are `filled`. `other_sums` (2, runs of the first strip, places of the other) gains the sums for the other
    strip's rows, `sums` those of the first; with `same` both strips and both sums are one. Places that are not filled
    get anything.
    """
    cdef fm_words words = cut_words(greatest, most)
    cdef fm_strip left, right
    cdef Py_ssize_t dims = x.shape[1]
    left = fm_strip(rows.shape[0], filled.shape[0], &rows[0], &bounds[0], &filled[0], &sums[0, 0, 0], &sums[1, 0, 0])
    right = fm_strip(
        other_rows.shape[0], other_filled.shape[0], &other_rows[0], &other_bounds[0], &other_filled[0],
        &other_sums[0, 0, 0], &other_sums[1, 0, 0],
    )
    with nogil:
        pack_panels(&x[0, 0], dims, right.rows, right.length, &panels[0])
        if real_t is float:
            fm_pair_sums_f32(width, &x[0, 0], dims, kind, &words, &left, &right, same, &panels[0], &pack[0])
        else:
            fm_pair_sums_f64(width, &x[0, 0], dims, kind, &words, &left, &right, same, &panels[0], &pack[0])


def strip_means(
    const real_t[:, ::1] x, int kind, double greatest, int64_t most, const int64_t[::1] rows, const int64_t[::1] ends,
    const int64_t[::1] own_rows, const int64_t[::1] clusters, double[:, ::1] sums, double[::1] own, double[::1] best,
    real_t[::1] panels, real_t[::1] pack, int width,
):
    """The sum of distances to the own cluster, and the least mean distance to another, of the rows of one strip.

    `rows` are all rows, cluster by cluster, and cluster c ends before ends[c]. The strip has `own_rows` of `clusters`;
    `sums` (2, places) are zeros, `own` and `best` are written, best over infinities.
    """
    cdef fm_words words = cut_words(greatest, most)
    cdef fm_means strip = fm_means(own_rows.shape[0], &clusters[0], &sums[0, 0], &sums[1, 0], &own[0], &best[0])
    cdef Py_ssize_t dims = x.shape[1]
    with nogil:
        pack_panels(&x[0, 0], dims, &own_rows[0], strip.length, &panels[0])
        if real_t is float:
            fm_strip_means_f32(
                width, &x[0, 0], dims, kind, &words, &rows[0], &ends[0], rows.shape[0], &strip, &panels[0], &pack[0]
            )
        else:
            fm_strip_means_f64(
                width, &x[0, 0], dims, kind, &words, &rows[0], &ends[0], rows.shape[0], &strip, &panels[0], &pack[0]
            )


def close_clusters(
    double[:, :, ::1] sums, const int64_t[::1] sizes, const int64_t[::1] clusters, Py_ssize_t start, Py_ssize_t stop,
    double[::1] own, double[::1] best,
):
    """What strip_means gives, of sums that are complete: (2, clusters, places), from place `start` to `stop`."""
    cdef fm_means strip
    cdef Py_ssize_t cluster
    strip.length = own.shape[0]
    strip.clusters = &clusters[0]
    strip.own = &own[0]
    strip.best = &best[0]
    with nogil:
        for cluster in range(sizes.shape[0]):
            strip.high = &sums[0, cluster, 0]
            strip.low = &sums[1, cluster, 0]
            fm_close_cluster(&strip, start, stop - start, cluster, sizes[cluster])


cdef double sum_exactly(double* values, Py_ssize_t n, int64_t* state, double* chunk, double* rest) noexcept nogil:
    """The correctly rounded sum of n values, not negative."""
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t length, i
    cdef double total
    if n < 3:
        total = 0
        for i in range(n):
            total += values[i]
        return total
    memset(state, 0, STATE_SIZE * sizeof(int64_t))
    while start < n:
        length = n - start if n - start < CHUNK else CHUNK
        for i in range(length):
            chunk[i] = values[start + i]
        add_chunk(state, chunk, length, rest)
        start += length
    normalise(state)
    return rounded(state)


cdef void exact_row(
    double* distances, const int64_t* ends, Py_ssize_t n_clusters, int64_t cluster, double* own, double* best
) noexcept nogil:
    """own and best of a row whose distances stand cluster by cluster."""
    cdef int64_t state[STATE_SIZE]
    cdef double chunk[CHUNK]
    cdef double rest[CHUNK]
    cdef double total, mean
    cdef Py_ssize_t c
    cdef int64_t start = 0
    for c in range(n_clusters):
        total = sum_exactly(distances + start, ends[c] - start, state, chunk, rest)
        if c == cluster:
            own[0] = total
        else:
            mean = total / <double>(ends[c] - start)
            if mean < best[0]:
                best[0] = mean
        start = ends[c]


def exact_means(
    const double[:, ::1] x, int kind, const int64_t[::1] rows, const int64_t[::1] ends, const int64_t[::1] own_rows,
    const int64_t[::1] clusters, double[::1] own, double[::1] best, double[::1] panels, double[::1] pack,
    double[:, ::1] distances, int width,
):
    """strip_means of up to ROWS rows, the sums rounded once: for rows whose distances are small beside the largest.

    `panels` has room for one panel, `distances` for ROWS times all rows.
    """
    cdef Py_ssize_t n_rows = rows.shape[0]
    cdef Py_ssize_t dims = x.shape[1]
    cdef Py_ssize_t length, i
    cdef Py_ssize_t place = 0
    with nogil:
        fm_pack_f64(&x[0, 0], dims, &own_rows[0], own_rows.shape[0], FM_ROWS, &pack[0])
        while place < n_rows:
            length = n_rows - place if n_rows - place < FM_PANEL_F64 else FM_PANEL_F64
            fm_pack_f64(&x[0, 0], dims, &rows[place], length, FM_PANEL_F64, &panels[0])
            fm_spread_f64(
                width, &pack[0], &panels[0], dims, kind, own_rows.shape[0], length, distances.shape[1],
                &distances[0, place],
            )
            place += FM_PANEL_F64
        for i in range(own_rows.shape[0]):
            exact_row(&distances[i, 0], &ends[0], ends.shape[0], clusters[i], &own[i], &best[i])


def row_means(
    const real_t[:, ::1] block, const int64_t[::1] places, const int64_t[::1] ends, int64_t most,
    const int64_t[::1] clusters, double[::1] own, double[::1] best, double[::1] copy, double small,
):
    """What strip_means gives, of rows of distances: places[ends[c - 1]:ends[c]] are the columns of cluster c.

    Words are cut for each row by its greatest distance; rows whose answer is below `small` of that are summed exactly
    (`copy` has room for one), and so are rows that reach beyond 2**900, in a smaller unit. Returns the first row with a
    value that is negative or not finite, or -1.
    """
    cdef Py_ssize_t n = block.shape[1]
    cdef Py_ssize_t i, j, c
    cdef int64_t start
    cdef double greatest, least, total, unit
    cdef fm_words words
    cdef const real_t* row
    for i in range(block.shape[0]):
        with nogil:
            row = &block[i, 0]
            if real_t is float:
                greatest = fm_extremes_f32(row, n, &least)
            else:
                greatest = fm_extremes_f64(row, n, &least)
            if not (least >= 0 and greatest - greatest == 0):
                with gil:
                    return i
            words = cut_words(greatest, most)
            start = 0
            for c in range(ends.shape[0]):
                if real_t is float:
                    total = fm_add_places_f32(row, &places[start], ends[c] - start, &words)
                else:
                    total = fm_add_places_f64(row, &places[start], ends[c] - start, &words)
                if c == clusters[i]:
                    own[i] = total
                elif total / <double>(ends[c] - start) < best[i]:
                    best[i] = total / <double>(ends[c] - start)
                start = ends[c]
            unit = 1.0 if greatest < FAR else ldexp(1.0, -128)
            if unit < 1 or not best[i] >= small * greatest:
                best[i] = ldexp(1.0, 1023) * 2
                for j in range(n):
                    copy[j] = row[places[j]] * unit
                exact_row(&copy[0], &ends[0], ends.shape[0], clusters[i], &own[i], &best[i])
    return -1


def lengths(const real_t[:, ::1] x, double[::1] out):
    """The Euclidean length of every row: squares of what is divided by the row's greatest magnitude, added in order."""
    cdef Py_ssize_t i, dim
    cdef double greatest, share, total
    with nogil:
        for i in range(x.shape[0]):
            greatest = 0
            for dim in range(x.shape[1]):
                share = x[i, dim] if x[i, dim] > 0 else -x[i, dim]
                greatest = share if share > greatest else greatest
            total = 0
            if greatest > 0:
                for dim in range(x.shape[1]):
                    share = x[i, dim] / greatest
                    total += share * share
            out[i] = greatest * total ** 0.5
