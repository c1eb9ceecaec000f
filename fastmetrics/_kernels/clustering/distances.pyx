"""Sums of distances from rows to the rows of each cluster, and the mean distances from which silhouettes follow.

Rows are placed in slots, ordered by cluster; `rows` holds the row of each slot, -1 for an empty slot. Each lane of a
register is a pair of rows (distances.h). A *panel* of PANEL rows is stored transposed, [dims][PANEL], and a *tile* is
ROWS rows against a panel. So a distance depends only on its two rows, and is the same for both of them.

Sums do not depend on order either. A distance is split into two words, multiples of two powers of two (`make_words`).
The first word holds the 52 leading bits of the largest possible sum, the second the 52 bits below them, and each word
is added separately. The sum of a cluster stays below 2**53 units in both words, so all additions are exact. The rest of
a distance that is dropped is below 2**-80 of the largest sum; `exact_means` is for rows that need more.

`TileMemory` has space for the panels of a strip and for a pack of ROWS rows. It and the sums of strips are aligned to
64 bytes. Lengths of strips are multiples of PANEL. Functions may run in several threads if each has its own memory.
The register width is 0 up to `widest_registers()`; results do not depend on it.
"""

from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport fabs, frexp, ldexp
from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from fastmetrics._kernels.numeric.length_checks cimport need_below, need_length, need_offsets, need_range
from fastmetrics._kernels.numeric.superaccumulator cimport CHUNK, STATE_SIZE, add_chunk, normalize, round_state

cdef extern from "clustering/distances.h":
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
        const int64_t* run_starts
        const int64_t* run_lengths
        double* high
        double* low
    ctypedef struct fm_means:
        Py_ssize_t length
        const int64_t* clusters
        double* high
        double* low
        double* own_sums
        double* nearest_means
    int fm_widest_registers() noexcept nogil
    double fm_extremes_f32(const float* row, Py_ssize_t n, double* least) noexcept nogil
    double fm_extremes_f64(const double* row, Py_ssize_t n, double* least) noexcept nogil
    double fm_add_columns_f32(
        const float* row, const int64_t* columns, Py_ssize_t n, const fm_words* words
    ) noexcept nogil
    double fm_add_columns_f64(
        const double* row, const int64_t* columns, Py_ssize_t n, const fm_words* words
    ) noexcept nogil
    double fm_unshared(
        double* row, Py_ssize_t n, const double* sizes, double size, double least_share
    ) noexcept nogil
    void fm_square_roots(double* row, Py_ssize_t n) noexcept nogil
    void fm_finish_cluster(
        const fm_means* strip, Py_ssize_t start, Py_ssize_t length, int64_t cluster, int64_t size
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
    void fm_tile_distances_f64(
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


def widest_registers() -> int:
    """The register width to use: 2, 1 or 0."""
    return fm_widest_registers()


def sort_rows(const int64_t[::1] codes, int64_t[::1] sizes, int64_t[::1] ends, int64_t[::1] order):
    """Sort rows by their codes 0 .. k - 1. Writes the size and the end of each cluster, and the order."""
    cdef Py_ssize_t i
    cdef int64_t start = 0
    need_length(b"ends", ends.shape[0], sizes.shape[0])
    need_length(b"order", order.shape[0], codes.shape[0])
    if codes.shape[0]:
        need_below(b"codes", &codes[0], codes.shape[0], sizes.shape[0])
    with nogil:
        for i in range(sizes.shape[0]):
            sizes[i] = 0
        for i in range(codes.shape[0]):
            sizes[codes[i]] += 1
        for i in range(sizes.shape[0]):
            ends[i] = start
            start += sizes[i]
        for i in range(codes.shape[0]):
            order[ends[codes[i]]] = i
            ends[codes[i]] += 1


cdef double FAR = 2.0 ** 900  # sums of larger distances, and words for them, might overflow


cdef fm_words make_words(double max_distance, int64_t max_size) noexcept nogil:
    """The words for distances of at most `max_distance` (finite) in sums of at most `max_size` of them."""
    cdef fm_words words
    cdef int exponent = 0
    cdef int bits = 0
    frexp(max_distance, &exponent)
    while bits < 62 and (<int64_t>1 << bits) < max_size:
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
    """Pack the panels of n slots. Empty slots of the last panel are zeros."""
    cdef Py_ssize_t length
    cdef Py_ssize_t slot = 0
    if real_t is float:
        while slot < n:
            length = n - slot if n - slot < FM_PANEL_F32 else FM_PANEL_F32
            fm_pack_f32(x, dims, rows + slot, length, FM_PANEL_F32, panels + slot * dims)
            slot += FM_PANEL_F32
    else:
        while slot < n:
            length = n - slot if n - slot < FM_PANEL_F64 else FM_PANEL_F64
            fm_pack_f64(x, dims, rows + slot, length, FM_PANEL_F64, panels + slot * dims)
            slot += FM_PANEL_F64


cdef class PointDistances:
    """Points (float32 or float64), a kind of distance, an upper bound of all distances, and of the sizes of clusters.

    `width` is the register width.
    """

    cdef readonly Py_ssize_t n_points
    cdef readonly Py_ssize_t dims
    cdef readonly bint are_double
    cdef object points                    # it keeps their memory
    cdef const void* x
    cdef int kind
    cdef int width
    cdef fm_words words

    def __cinit__(self, points, int kind, double max_distance, int64_t max_size, int width):
        cdef Py_buffer view
        cdef bint are_points
        PyObject_GetBuffer(points, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
        are_points = view.ndim == 2 and view.format[0] in (c"f", c"d")
        if are_points:
            self.n_points, self.dims = view.shape[0], view.shape[1]
            self.are_double = view.format[0] == c"d"
            self.x = view.buf
        PyBuffer_Release(&view)
        if not are_points:
            raise ValueError("points are a matrix of float32 or float64")
        if not 0 <= width <= fm_widest_registers() or kind not in (FM_PLAIN, FM_ROOT, FM_ABSOLUTE):
            raise ValueError(f"no distance of kind {kind} for registers of width {width}")
        self.points = points
        self.kind, self.width = kind, width
        self.words = make_words(max_distance, max_size)

    cdef int check_rows(self, const int64_t[::1] rows, Py_ssize_t least) except -1:
        """Raise ValueError unless all are rows of points, or -1 if `least` is -1."""
        if rows.shape[0] and not are_between(rows, least, self.n_points):
            raise ValueError(f"a row is none of {self.n_points} points")
        return 0


cdef bint are_between(const int64_t[::1] rows, int64_t least, int64_t stop) noexcept nogil:
    cdef Py_ssize_t i
    cdef bint found = True
    for i in range(rows.shape[0]):
        found &= least <= rows[i] < stop
    return found


cdef class TileMemory:
    """One thread's working memory for strips of up to `length` slots."""

    cdef readonly Py_ssize_t length
    cdef Py_ssize_t dims
    cdef bint are_double
    cdef void* memory
    cdef void* panels
    cdef void* pack

    def __cinit__(self, PointDistances distances not None, Py_ssize_t length):
        cdef Py_ssize_t item_bytes = 8 if distances.are_double else 4
        cdef Py_ssize_t panel = FM_PANEL_F64 if distances.are_double else FM_PANEL_F32
        need_length(b"a strip", length, 0)
        self.length = (length + panel - 1) // panel * panel
        self.dims, self.are_double = distances.dims, distances.are_double
        cdef size_t panel_bytes = (<size_t>(self.length * self.dims * item_bytes) + 63) // 64 * 64
        self.memory = malloc(panel_bytes + <size_t>(FM_ROWS * self.dims * item_bytes) + 64)
        if self.memory == NULL:
            raise MemoryError
        self.panels = <char*>self.memory + (0 - <uintptr_t>self.memory) % 64
        self.pack = <char*>self.panels + panel_bytes

    def __dealloc__(self):
        free(self.memory)

    cdef int check(self, PointDistances distances, Py_ssize_t length) except -1:
        if self.length < length or self.dims != distances.dims or self.are_double != distances.are_double:
            raise ValueError(f"working memory of {self.length} slots, and a strip of {length}")
        if length % (FM_PANEL_F64 if self.are_double else FM_PANEL_F32):
            raise ValueError(f"a strip of {length} slots is not made of whole panels")
        return 0


cdef class PointStrip:
    """Slots with `rows` of points, -1 if empty; runs of clusters start at slots that are multiples of PANEL.

    run_lengths has the number of rows of each run.
    """

    cdef const int64_t[::1] rows
    cdef const int64_t[::1] run_starts
    cdef const int64_t[::1] run_lengths
    cdef bint fit_panels_f32              # runs start at panels of float32, too

    def __cinit__(
        self, const int64_t[::1] rows not None, const int64_t[::1] run_starts not None,
        const int64_t[::1] run_lengths not None
    ):
        cdef Py_ssize_t run
        cdef int64_t before = 0
        need_length(b"run_starts", run_starts.shape[0], run_lengths.shape[0])
        need_length(b"rows", rows.shape[0], 1)
        self.fit_panels_f32 = True
        for run in range(run_lengths.shape[0]):
            if run_starts[run] < before or run_lengths[run] < 0 or run_starts[run] % FM_PANEL_F64 or (
                    run_lengths[run] > rows.shape[0] - run_starts[run]):
                raise ValueError(f"run {run} of a strip is not in its {rows.shape[0]} slots")
            before = run_starts[run] + run_lengths[run]
            self.fit_panels_f32 &= run_starts[run] % FM_PANEL_F32 == 0
        self.rows, self.run_starts, self.run_lengths = rows, run_starts, run_lengths

    cdef fm_strip with_sums(self, double[:, :, ::1] sums, Py_ssize_t n_runs) except *:
        """The strip with its sums of two words for every run of the other strip."""
        if sums.shape[0] != 2 or sums.shape[1] != n_runs or sums.shape[2] != self.rows.shape[0] or n_runs == 0 or (
                <uintptr_t>&sums[0, 0, 0] % 64):
            raise ValueError(f"no aligned sums for {self.rows.shape[0]} slots and {n_runs} runs")
        return fm_strip(
            self.rows.shape[0], self.run_lengths.shape[0], &self.rows[0], &self.run_starts[0], &self.run_lengths[0],
            &sums[0, 0, 0], &sums[1, 0, 0],
        )


def pair_sums(
    PointDistances distances not None, PointStrip strip not None, double[:, :, ::1] sums, PointStrip other not None,
    double[:, :, ::1] other_sums, TileMemory memory not None
):
    """Add the distance of every pair of rows of two strips, or of one, to the sums of both its rows.

    The sums of the other strip's rows are added to `other_sums` (2, runs of the first strip, slots of the other), those
    of the first strip's rows to `sums`. If both strips are the same, so are both sums. The sums of empty slots are
    undefined.
    """
    cdef bint same = strip is other
    cdef fm_strip left = strip.with_sums(sums, other.run_lengths.shape[0])
    cdef fm_strip right = other.with_sums(other_sums, strip.run_lengths.shape[0])
    cdef Py_ssize_t dims = distances.dims
    if same and left.high != right.high:
        raise ValueError("the sums of one strip with itself are one array")
    if not distances.are_double and not (strip.fit_panels_f32 and other.fit_panels_f32):
        raise ValueError("a run of a strip begins inside of a panel")
    memory.check(distances, left.length)
    memory.check(distances, right.length)
    distances.check_rows(strip.rows, -1)
    distances.check_rows(other.rows, -1)
    with nogil:
        if distances.are_double:
            pack_panels[double](<const double*>distances.x, dims, right.rows, right.length, <double*>memory.panels)
            fm_pair_sums_f64(
                distances.width, <const double*>distances.x, dims, distances.kind, &distances.words, &left, &right,
                same, <const double*>memory.panels, <double*>memory.pack)
        else:
            pack_panels[float](<const float*>distances.x, dims, right.rows, right.length, <float*>memory.panels)
            fm_pair_sums_f32(
                distances.width, <const float*>distances.x, dims, distances.kind, &distances.words, &left, &right,
                same, <const float*>memory.panels, <float*>memory.pack)


def strip_means(
    PointDistances distances not None, const int64_t[::1] rows, const int64_t[::1] ends, const int64_t[::1] own_rows,
    const int64_t[::1] clusters, double[:, ::1] sums, double[::1] own_sums, double[::1] nearest_means,
    TileMemory memory not None
):
    """For the rows of one strip, the sum of distances to the own cluster and the least mean distance to another.

    `rows` are all rows, cluster by cluster; cluster c ends before ends[c]. The strip has `own_rows`, in `clusters`.
    `sums` (2, slots) are working memory. `own_sums` and `nearest_means` are written.
    """
    cdef Py_ssize_t n = own_rows.shape[0]
    cdef Py_ssize_t dims = distances.dims
    cdef Py_ssize_t i
    memory.check(distances, n)
    if n == 0:
        return
    need_length(b"results", min(own_sums.shape[0], nearest_means.shape[0], clusters.shape[0], sums.shape[1]), n)
    if ends.shape[0] == 0 or rows.shape[0] == 0 or sums.shape[0] != 2 or sums.shape[1] % FM_PANEL_F64 or (
            <uintptr_t>&sums[0, 0] % 64):
        raise ValueError("sums of a strip are two aligned rows of whole panels, and there are clusters and rows")
    need_offsets(b"ends", &ends[0], ends.shape[0], rows.shape[0])
    need_length(b"rows of clusters", ends[ends.shape[0] - 1], rows.shape[0])
    distances.check_rows(rows, 0)
    distances.check_rows(own_rows, -1)
    cdef fm_means strip = fm_means(n, &clusters[0], &sums[0, 0], &sums[1, 0], &own_sums[0], &nearest_means[0])
    with nogil:
        for i in range(n):
            nearest_means[i] = ldexp(1.0, 1023) * 2
            own_sums[i] = sums[0, i] = sums[1, i] = 0
        if distances.are_double:
            pack_panels[double](<const double*>distances.x, dims, &own_rows[0], n, <double*>memory.panels)
            fm_strip_means_f64(
                distances.width, <const double*>distances.x, dims, distances.kind, &distances.words, &rows[0], &ends[0],
                rows.shape[0], &strip, <const double*>memory.panels, <double*>memory.pack)
        else:
            pack_panels[float](<const float*>distances.x, dims, &own_rows[0], n, <float*>memory.panels)
            fm_strip_means_f32(
                distances.width, <const float*>distances.x, dims, distances.kind, &distances.words, &rows[0], &ends[0],
                rows.shape[0], &strip, <const float*>memory.panels, <float*>memory.pack)


def close_clusters(
    double[:, :, ::1] sums, const int64_t[::1] sizes, const int64_t[::1] clusters, Py_ssize_t start, Py_ssize_t stop,
    double[::1] own_sums, double[::1] nearest_means,
):
    """The results of strip_means from complete sums (2, clusters, slots), for the slots from `start` to `stop`."""
    cdef fm_means strip
    cdef Py_ssize_t cluster
    cdef Py_ssize_t n = own_sums.shape[0]
    need_range(start, stop, n)
    need_length(b"results", min(nearest_means.shape[0], clusters.shape[0]), n)
    if sums.shape[0] != 2 or sums.shape[1] < sizes.shape[0] or sums.shape[2] < n:
        raise ValueError(f"no sums for {sizes.shape[0]} clusters and {n} slots")
    if n == 0 or sizes.shape[0] == 0:
        return
    strip.length = n
    strip.clusters = &clusters[0]
    strip.own_sums = &own_sums[0]
    strip.nearest_means = &nearest_means[0]
    with nogil:
        for cluster in range(sizes.shape[0]):
            strip.high = &sums[0, cluster, 0]
            strip.low = &sums[1, cluster, 0]
            fm_finish_cluster(&strip, start, stop - start, cluster, sizes[cluster])


cdef double sum_exactly(double* values, Py_ssize_t n, int64_t* state, double* chunk, double* rest) noexcept nogil:
    """The correctly rounded sum of n values that are not negative."""
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
    normalize(state)
    return round_state(state)


cdef void exact_row(
    double* distances, const int64_t* ends, Py_ssize_t n_clusters, int64_t cluster, double* own_sum,
    double* nearest_mean,
) noexcept nogil:
    """The sum and the least mean of a row whose distances are ordered by cluster."""
    cdef int64_t state[STATE_SIZE]
    cdef double chunk[CHUNK]
    cdef double rest[CHUNK]
    cdef double total, mean
    cdef Py_ssize_t c
    cdef int64_t start = 0
    for c in range(n_clusters):
        total = sum_exactly(distances + start, ends[c] - start, state, chunk, rest)
        if c == cluster:
            own_sum[0] = total
        else:
            mean = total / <double>(ends[c] - start)
            if mean < nearest_mean[0]:
                nearest_mean[0] = mean
        start = ends[c]


def exact_means(
    PointDistances distances not None, const int64_t[::1] rows, const int64_t[::1] ends, const int64_t[::1] own_rows,
    const int64_t[::1] clusters, double[::1] own_sums, double[::1] nearest_means, TileMemory memory not None,
    double[:, ::1] between
):
    """strip_means of up to ROWS rows with sums that are rounded once, for rows with small distances.

    Points are float64. `between` is working memory: ROWS times all rows.
    """
    cdef Py_ssize_t n_rows = rows.shape[0]
    cdef Py_ssize_t n = own_rows.shape[0]
    cdef Py_ssize_t dims = distances.dims
    cdef const double* x = <const double*>distances.x
    cdef double* panels = <double*>memory.panels
    cdef double* pack = <double*>memory.pack
    cdef Py_ssize_t length, i
    cdef Py_ssize_t start = 0
    memory.check(distances, FM_PANEL_F64)
    if n == 0:
        return
    need_length(b"results", min(own_sums.shape[0], nearest_means.shape[0], clusters.shape[0]), n)
    if not distances.are_double or n > FM_ROWS or between.shape[0] < FM_ROWS or between.shape[1] < n_rows or (
            ends.shape[0] == 0 or n_rows == 0):
        raise ValueError(f"{n} rows of distances to {n_rows} rows; at most {FM_ROWS} of points in float64")
    need_offsets(b"ends", &ends[0], ends.shape[0], n_rows)
    distances.check_rows(rows, 0)
    distances.check_rows(own_rows, 0)
    with nogil:
        fm_pack_f64(x, dims, &own_rows[0], n, FM_ROWS, pack)
        while start < n_rows:
            length = n_rows - start if n_rows - start < FM_PANEL_F64 else FM_PANEL_F64
            fm_pack_f64(x, dims, &rows[start], length, FM_PANEL_F64, panels)
            fm_tile_distances_f64(
                distances.width, pack, panels, dims, distances.kind, n, length, between.shape[1], &between[0, start])
            start += FM_PANEL_F64
        for i in range(n):
            own_sums[i] = 0
            nearest_means[i] = ldexp(1.0, 1023) * 2
            exact_row(&between[i, 0], &ends[0], ends.shape[0], clusters[i], &own_sums[i], &nearest_means[i])


def row_means(
    const real_t[:, ::1] block, const int64_t[::1] columns, const int64_t[::1] ends, int64_t max_size,
    const int64_t[::1] clusters, double[::1] own_sums, double[::1] nearest_means, double[::1] copy, double small,
) -> int:
    """The results of strip_means for rows of a matrix of distances. columns[ends[c - 1]:ends[c]] belong to cluster c.

    The words of each row are made for its largest distance. Rows whose result is below `small` of that distance are
    summed exactly (`copy` has space for one row), and so are rows with distances above 2**900, in a smaller unit.
    Returns the first row with a value that is negative or not finite, or -1.
    """
    cdef Py_ssize_t n = block.shape[1]
    cdef Py_ssize_t i, j, c
    cdef int64_t start
    cdef double max_distance, least, total, unit
    cdef fm_words words
    cdef const real_t* row
    need_length(b"copy", copy.shape[0], n)
    need_length(
        b"results", min(own_sums.shape[0], nearest_means.shape[0], clusters.shape[0]), block.shape[0])
    if block.shape[0] == 0 or n == 0:
        return -1
    need_length(b"columns", columns.shape[0], n)
    need_below(b"columns", &columns[0], columns.shape[0], n)
    need_length(b"ends", ends.shape[0], 1)
    need_offsets(b"ends", &ends[0], ends.shape[0], n)
    for i in range(block.shape[0]):
        with nogil:
            row = &block[i, 0]
            if real_t is float:
                max_distance = fm_extremes_f32(row, n, &least)
            else:
                max_distance = fm_extremes_f64(row, n, &least)
            if not (least >= 0 and max_distance - max_distance == 0):
                with gil:
                    return i
            words = make_words(max_distance, max_size)
            start = 0
            for c in range(ends.shape[0]):
                if real_t is float:
                    total = fm_add_columns_f32(row, &columns[start], ends[c] - start, &words)
                else:
                    total = fm_add_columns_f64(row, &columns[start], ends[c] - start, &words)
                if c == clusters[i]:
                    own_sums[i] = total
                elif total / <double>(ends[c] - start) < nearest_means[i]:
                    nearest_means[i] = total / <double>(ends[c] - start)
                start = ends[c]
            unit = 1.0 if max_distance < FAR else ldexp(1.0, -128)
            if unit < 1 or not nearest_means[i] >= small * max_distance:
                nearest_means[i] = ldexp(1.0, 1023) * 2
                for j in range(n):
                    copy[j] = row[columns[j]] * unit
                exact_row(&copy[0], &ends[0], ends.shape[0], clusters[i], &own_sums[i], &nearest_means[i])
    return -1


cdef double CANCELLED = 1.0 / 64  # if a smaller share of the sizes of two rows is left, they are measured again


cdef inline double shared_size(double left, double right, int kind) noexcept nogil:
    """What two values of a column take from the sizes of their rows: half of it."""
    if kind != FM_ABSOLUTE:
        return left * right
    if (left > 0) != (right > 0):
        return 0
    left, right = fabs(left), fabs(right)
    return left if left < right else right


cdef double distance_by_differences(
    const double* left_values, const int64_t* left_columns, int64_t n_left, const double* right_values,
    const int64_t* right_columns, int64_t n_right, int kind,
) noexcept nogil:
    """The sum of differences (squared, or absolute) of two sparse rows whose columns ascend."""
    cdef double total = 0
    cdef double difference
    cdef int64_t i = 0
    cdef int64_t j = 0
    while i < n_left or j < n_right:
        if j == n_right or (i < n_left and left_columns[i] < right_columns[j]):
            difference = left_values[i]
            i += 1
        elif i == n_left or right_columns[j] < left_columns[i]:
            difference = right_values[j]
            j += 1
        else:
            difference = left_values[i] - right_values[j]
            i += 1
            j += 1
        total += fabs(difference) if kind == FM_ABSOLUTE else difference * difference
    return total


def sparse_distances(
    const double[::1] values, const int64_t[::1] columns, const int64_t[::1] row_starts,
    const double[::1] values_by_column, const int64_t[::1] rows, const int64_t[::1] column_starts,
    const double[::1] sizes, int kind, Py_ssize_t first_row, double[:, ::1] out,
):
    """Distances from the rows that start at `first_row` to all rows of a sparse matrix, in both its layouts.

    The sizes of both rows (sums of squares or magnitudes), less what they share, column by column. Where little is
    left, the distance is measured again from differences. `out` is zeros at the start.
    """
    cdef Py_ssize_t i, j
    cdef int64_t start, length, entry, other
    cdef double value, size, n_cancelled
    cdef double* row
    cdef Py_ssize_t n = out.shape[1]
    need_range(first_row, first_row + out.shape[0], n)
    if out.shape[0] == 0:
        return
    need_length(b"columns", columns.shape[0], values.shape[0])
    need_length(b"rows", rows.shape[0], values_by_column.shape[0])
    need_length(b"row_starts", row_starts.shape[0], n + 1)
    need_length(b"sizes", sizes.shape[0], n)
    need_length(b"column_starts", column_starts.shape[0], 1)
    need_offsets(b"row_starts", &row_starts[0], n + 1, values.shape[0])
    need_offsets(b"column_starts", &column_starts[0], column_starts.shape[0], values_by_column.shape[0])
    if values.shape[0]:
        need_below(b"columns", &columns[0], values.shape[0], column_starts.shape[0] - 1)
    if values_by_column.shape[0]:
        need_below(b"rows", &rows[0], values_by_column.shape[0], n)
    with nogil:
        for i in range(out.shape[0]):
            row = &out[i, 0]
            start = row_starts[first_row + i]
            length = row_starts[first_row + i + 1] - start
            for entry in range(start, start + length):
                value = values[entry]
                for other in range(column_starts[columns[entry]], column_starts[columns[entry] + 1]):
                    row[rows[other]] += shared_size(value, values_by_column[other], kind)
            size = sizes[first_row + i]
            n_cancelled = fm_unshared(row, out.shape[1], &sizes[0], size, CANCELLED)
            row[first_row + i] = 0
            for j in range(out.shape[1] if n_cancelled > 1 else 0):
                if row[j] < CANCELLED * (size + sizes[j]) and j != first_row + i:
                    row[j] = distance_by_differences(
                        &values[0] + start, &columns[0] + start, length, &values[0] + row_starts[j],
                        &columns[0] + row_starts[j], row_starts[j + 1] - row_starts[j], kind,
                    )
            if kind == FM_ROOT:
                fm_square_roots(row, out.shape[1])


def lengths(const real_t[:, ::1] x, double[::1] out):
    """The Euclidean length of every row, from the squares of its values divided by the largest magnitude."""
    cdef Py_ssize_t i, dim
    cdef double magnitude, value, total
    need_length(b"out", out.shape[0], x.shape[0])
    with nogil:
        for i in range(x.shape[0]):
            magnitude = 0
            for dim in range(x.shape[1]):
                value = x[i, dim] if x[i, dim] > 0 else -x[i, dim]
                magnitude = value if value > magnitude else magnitude
            total = 0
            if magnitude > 0:
                for dim in range(x.shape[1]):
                    value = x[i, dim] / magnitude
                    total += value * value
            out[i] = magnitude * total ** 0.5
