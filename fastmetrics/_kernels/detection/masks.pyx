"""Masks in run-length encoding (masks.h): read from COCO's forms, measured, drawn, and compared by group.

The counts of all masks are one uint32 array; those of mask m are starts[m] to starts[m + 1]. A function that reads
masks returns its first bad row, an error code, and a value for the error message; the row is -1 if all are valid. A
function with `start` and `stop` processes these rows only. Several threads may call it, because it writes only to the
data of these rows.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memmove

from fastmetrics._kernels.columns.growing_memory cimport reallocate
from fastmetrics._kernels.detection.image_category_groups cimport GroupedRows
from fastmetrics._kernels.detection.mask_iou cimport Extent, MaskRows, fm_measure, iou_of_group, n_counts_of
from fastmetrics._kernels.numeric.length_checks cimport need_length, need_offsets, need_range

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL
    int PyBytes_AsStringAndSize(object text, char** buffer, Py_ssize_t* length) except -1
    int64_t PyLong_AsLongLongAndOverflow(object number, int* overflow) except? -1

cdef extern from "detection/masks.h":
    const int64_t LARGEST_MASK "FM_MOST_PIXELS"
    const double LARGEST_COORDINATE "FM_LARGEST_COORDINATE"
    const int BAD_COUNT "FM_BAD_COUNT"
    const int BAD_TOTAL "FM_BAD_TOTAL"
    ctypedef struct Scratch "fm_scratch":
        uint32_t* positions
        uint32_t* columns
        uint32_t* sorted
        uint32_t* joined
        uint32_t* other
        int64_t* column_starts
    int64_t fm_count_numbers(const char* text, int64_t length) noexcept nogil
    int fm_read_counts(
        const char* text, int64_t length, int64_t pixels, uint32_t* counts, int64_t* detail
    ) noexcept nogil
    int64_t fm_write_counts(const uint32_t* counts, int64_t n, char* text, int64_t capacity) noexcept nogil
    void fm_box(const Extent* extent, int64_t height, double* box) noexcept nogil
    void fm_fill_pixels(const uint32_t* counts, int64_t n, uint8_t* pixels) noexcept nogil
    int64_t fm_count_runs(const uint8_t* pixels, int64_t n) noexcept nogil
    int fm_runs_of_pixels(const uint8_t* pixels, int64_t n, uint32_t* counts, int64_t capacity) noexcept nogil
    int64_t fm_count_boundaries(const double* points, int64_t n, int64_t width) noexcept nogil
    int64_t fm_polygons(
        const double* points, const int64_t* starts, int64_t n_polygons, int64_t height, int64_t width,
        Scratch* scratch, uint32_t* counts
    ) noexcept nogil

MOST_PIXELS = LARGEST_MASK

UNKNOWN = 0
COMPRESSED = 1
UNCOMPRESSED = 2
POLYGONS = 3

NOT_AN_INTEGER = 16
NO_POLYGON = 17
NOT_A_LIST = 18
TOO_SHORT = 19
ODD_LENGTH = 20
NOT_A_NUMBER = 21
BAD_COORDINATE = 22


cdef int64_t read_side(object number):
    """Return an integer from 1 to MOST_PIXELS; 0 for any other value."""
    cdef int64_t side
    cdef int overflow = 0
    if not isinstance(number, int) or isinstance(number, bool):
        return 0
    side = PyLong_AsLongLongAndOverflow(number, &overflow)
    return 0 if overflow or side < 1 or side > LARGEST_MASK else side


cdef bint read_size(object size, int64_t* pixels):
    """Read height and width: two positive integers whose product is at most MOST_PIXELS. Return False for others."""
    if not isinstance(size, (list, tuple)) or len(size) != 2:
        return False
    pixels[0] = read_side(size[0])
    pixels[1] = read_side(size[1])
    return pixels[0] > 0 and pixels[1] > 0 and pixels[0] <= LARGEST_MASK // pixels[1]


cdef class MaskTexts:
    """The texts of compressed RLEs, and the numbers of counts of others, by row. It keeps the texts."""

    cdef readonly Py_ssize_t rows
    cdef list owners
    cdef const char** starts
    cdef int64_t* lengths

    def __cinit__(self, Py_ssize_t rows):
        self.rows = rows
        self.owners = []
        self.starts = <const char**>calloc(<size_t>rows + 1, sizeof(char*))
        self.lengths = <int64_t*>calloc(<size_t>rows + 1, sizeof(int64_t))
        if self.starts == NULL or self.lengths == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.starts)
        free(self.lengths)


def find_kinds(list rows not None, uint8_t[::1] kinds, int64_t[:, ::1] sizes) -> MaskTexts:
    """Find the kind of each segmentation, the size of an RLE, and the text of a compressed RLE.

    A row that is none of the three kinds, or whose size is bad, is UNKNOWN: the caller makes the error message.
    """
    cdef MaskTexts texts = MaskTexts(len(rows))
    cdef Py_ssize_t i
    cdef Py_ssize_t length = 0
    cdef const char* text
    cdef char* buffer
    cdef object row, counts
    need_length(b"kinds and sizes", min(kinds.shape[0], sizes.shape[0]), texts.rows)
    need_length(b"sides of a size", sizes.shape[1], 2)
    for i in range(texts.rows):
        row = rows[i]
        kinds[i] = 0
        if isinstance(row, dict):
            counts = (<dict>row).get("counts")
            if not read_size((<dict>row).get("size"), &sizes[i, 0]):
                continue
            if isinstance(counts, str):
                try:
                    text = PyUnicode_AsUTF8AndSize(counts, &length)
                except UnicodeEncodeError:
                    continue
            elif isinstance(counts, bytes):
                PyBytes_AsStringAndSize(counts, &buffer, &length)
                text = buffer
            elif isinstance(counts, list):
                kinds[i] = 2
                texts.lengths[i] = len(<list>counts)
                continue
            else:
                continue
            texts.owners.append(counts)
            kinds[i] = 1
            texts.starts[i], texts.lengths[i] = text, length
        elif isinstance(row, list):
            kinds[i] = 3
    return texts


cdef int check_masks(
    const uint32_t[::1] counts, const int64_t[::1] starts, Py_ssize_t start, Py_ssize_t stop
) except -1:
    """Raise ValueError unless the masks start..stop have these counts."""
    need_range(start, stop, starts.shape[0] - 1)
    return need_offsets(b"starts", &starts[start], stop - start + 1, counts.shape[0])


def count_numbers(
    const uint8_t[::1] kinds, MaskTexts texts not None, int64_t[::1] out, Py_ssize_t start, Py_ssize_t stop
):
    """out[row] = the number of counts of a compressed or uncompressed RLE; other rows are left unchanged."""
    cdef Py_ssize_t i
    need_range(start, stop, min(kinds.shape[0], texts.rows, out.shape[0]))
    with nogil:
        for i in range(start, stop):
            if kinds[i] == 1:
                out[i] = fm_count_numbers(texts.starts[i], texts.lengths[i])
            elif kinds[i] == 2:
                out[i] = texts.lengths[i]


def read_compressed(
    const uint8_t[::1] kinds, MaskTexts texts not None, const int64_t[:, ::1] sizes, const int64_t[::1] starts,
    uint32_t[::1] counts, Py_ssize_t start, Py_ssize_t stop
) -> tuple[int, int, int]:
    """Write the counts of compressed rows at their starts. Return the first bad row, the error code and its detail."""
    cdef Py_ssize_t i
    cdef Py_ssize_t bad = -1
    cdef int64_t detail = 0
    cdef int code = 0
    cdef uint32_t nothing
    need_range(start, stop, min(kinds.shape[0], texts.rows, sizes.shape[0], starts.shape[0] - 1))
    need_length(b"sides of a size", sizes.shape[1], 2)
    check_masks(counts, starts, start, stop)
    with nogil:
        for i in range(start, stop):
            if kinds[i] == 1:
                code = fm_read_counts(
                    texts.starts[i], texts.lengths[i], sizes[i, 0] * sizes[i, 1],
                    &counts[starts[i]] if starts[i + 1] > starts[i] else &nothing, &detail,
                )
                if code:
                    bad = i
                    break
    return bad, code, detail


def read_uncompressed(
    list rows, const uint8_t[::1] kinds, const int64_t[:, ::1] sizes, const int64_t[::1] starts, uint32_t[::1] counts
) -> tuple[int, int, Any]:
    """Write the counts of uncompressed rows at their starts. Return the first bad row, the error code and the value."""
    cdef Py_ssize_t i, k
    cdef int64_t number, total
    cdef int overflow = 0
    cdef list listed
    cdef object value
    cdef Py_ssize_t n = len(rows)
    need_length(b"kinds and sizes", min(kinds.shape[0], sizes.shape[0]), n)
    need_length(b"sides of a size", sizes.shape[1], 2)
    need_length(b"starts", starts.shape[0], n + 1)
    need_offsets(b"starts", &starts[0], n + 1, counts.shape[0])
    for i in range(n):
        if kinds[i] != 2:
            continue
        listed = rows[i]["counts"]
        total = 0
        if len(listed) != starts[i + 1] - starts[i]:
            raise RuntimeError("a segmentation changed while it was read")
        for k in range(len(listed)):
            value = listed[k]
            if not isinstance(value, int):
                if not hasattr(value, "__index__"):
                    return i, NOT_AN_INTEGER, value
                value = value.__index__()
            number = PyLong_AsLongLongAndOverflow(value, &overflow)
            if overflow or number < 0 or number > LARGEST_MASK:
                return i, BAD_COUNT, value
            counts[starts[i] + k] = <uint32_t>number
            total += number
        if total != sizes[i, 0] * sizes[i, 1]:
            return i, BAD_TOTAL, total
    return -1, 0, 0


def count_polygons(list rows, const uint8_t[::1] kinds, int64_t[::1] starts) -> tuple[int, int, Any, int]:
    """starts[row + 1] = the number of polygons up to this row.

    Returns the first bad row, the error code, the value, and the number of coordinates.
    """
    cdef Py_ssize_t i, k, length
    cdef int64_t n_polygons = 0
    cdef int64_t n_numbers = 0
    cdef list row
    cdef object polygon
    need_length(b"kinds", kinds.shape[0], len(rows))
    need_length(b"starts", starts.shape[0], len(rows) + 1)
    starts[0] = 0
    for i in range(len(rows)):
        if kinds[i] == 3:
            row = rows[i]
            if len(row) == 0:
                return i, NO_POLYGON, None, 0
            for k in range(len(row)):
                polygon = row[k]
                if not isinstance(polygon, list):
                    return i, NOT_A_LIST, polygon, 0
                length = len(<list>polygon)
                if length < 6:
                    return i, TOO_SHORT, length, 0
                if length % 2:
                    return i, ODD_LENGTH, length, 0
                n_polygons += 1
                n_numbers += length
        starts[i + 1] = n_polygons
    return -1, 0, None, n_numbers


def read_polygons(
    list rows, const uint8_t[::1] kinds, const int64_t[::1] starts, int64_t[::1] point_starts, double[::1] points
) -> tuple[int, int, Any]:
    """Write all points into one array; those of polygon p begin at point_starts[p].

    Returns the first bad row, the error code and the value.
    """
    cdef Py_ssize_t i, k, j
    cdef Py_ssize_t position = 0
    cdef Py_ssize_t n_polygons = 0
    cdef double number
    cdef list polygon
    cdef object value
    cdef Py_ssize_t n = len(rows)
    need_length(b"kinds", kinds.shape[0], n)
    need_length(b"starts", starts.shape[0], n + 1)
    need_offsets(b"starts", &starts[0], n + 1, point_starts.shape[0] - 1)
    point_starts[0] = 0
    for i in range(n):
        if kinds[i] != 3:
            continue
        if len(rows[i]) != starts[i + 1] - starts[i]:
            raise RuntimeError("a segmentation changed while it was read")
        for k in range(starts[i + 1] - starts[i]):
            polygon = rows[i][k]
            if len(polygon) > points.shape[0] - position:
                raise RuntimeError("a segmentation changed while it was read")
            for j in range(len(polygon)):
                value = polygon[j]
                if not isinstance(value, (float, int)) and not hasattr(value, "__float__"):
                    return i, NOT_A_NUMBER, value
                try:
                    number = value
                except (TypeError, ValueError):
                    return i, NOT_A_NUMBER, value
                except OverflowError:
                    return i, BAD_COORDINATE, value
                if not -LARGEST_COORDINATE <= number <= LARGEST_COORDINATE:
                    return i, BAD_COORDINATE, value
                points[position] = number
                position += 1
            n_polygons += 1
            point_starts[n_polygons] = position // 2
    return -1, 0, None


cdef int64_t most_counts(
    const double[::1] points, const int64_t[::1] point_starts, int64_t start, int64_t stop, int64_t width
) noexcept nogil:
    """The largest number of counts of the union of the polygons start..stop."""
    cdef int64_t k
    cdef int64_t total = 1
    for k in range(start, stop):
        total += fm_count_boundaries(&points[2 * point_starts[k]], point_starts[k + 1] - point_starts[k], width)
    return total


cdef int check_polygons(
    const double[::1] points, const int64_t[::1] point_starts, const int64_t[::1] starts,
    const int64_t[:, ::1] sizes, Py_ssize_t start, Py_ssize_t stop
) except -1:
    """Raise ValueError unless the rows start..stop have polygons, and these points."""
    need_range(start, stop, min(starts.shape[0] - 1, sizes.shape[0]))
    need_length(b"sides of a size", sizes.shape[1], 2)
    need_offsets(b"starts", &starts[start], stop - start + 1, point_starts.shape[0] - 1)
    return need_offsets(
        b"point_starts", &point_starts[starts[start]], starts[stop] - starts[start] + 1, points.shape[0] // 2)


def count_boundaries(
    const double[::1] points, const int64_t[::1] point_starts, const int64_t[::1] starts, const int64_t[:, ::1] sizes,
    int64_t[::1] out, Py_ssize_t start, Py_ssize_t stop
):
    """out[row] = the largest number of counts of the union of a row's polygons; other rows are left unchanged."""
    cdef Py_ssize_t i
    check_polygons(points, point_starts, starts, sizes, start, stop)
    need_length(b"out", out.shape[0], stop)
    with nogil:
        for i in range(start, stop):
            if starts[i + 1] > starts[i]:
                out[i] = most_counts(points, point_starts, starts[i], starts[i + 1], sizes[i, 1])


def draw(
    const double[::1] points, const int64_t[::1] point_starts, const int64_t[::1] polygon_starts,
    const int64_t[:, ::1] sizes, const int64_t[::1] starts, uint32_t[::1] counts, int64_t[::1] lengths,
    Py_ssize_t start, Py_ssize_t stop
):
    """Write the counts of each row's polygons from starts[row]; lengths[row] is their number.

    starts leave as many counts as count_boundaries gave.
    """
    cdef Py_ssize_t i
    cdef int64_t most = 0
    cdef int64_t n
    cdef bint fits = True
    cdef Scratch scratch
    cdef void* memory
    check_polygons(points, point_starts, polygon_starts, sizes, start, stop)
    need_length(b"lengths", lengths.shape[0], stop)
    check_masks(counts, starts, start, stop)
    with nogil:
        for i in range(start, stop):
            if polygon_starts[i + 1] > polygon_starts[i]:
                n = most_counts(points, point_starts, polygon_starts[i], polygon_starts[i + 1], sizes[i, 1])
                fits &= n <= starts[i + 1] - starts[i] and sizes[i, 0] > 0
                most = max(most, n)
    if not fits:
        raise ValueError("starts leave too few counts for a mask, or its height is 0")
    if most == 0:
        return
    most = (most + 3) // 2 * 2
    memory = reallocate(NULL, most * (sizeof(int64_t) + 5 * sizeof(uint32_t)))
    scratch.column_starts = <int64_t*>memory
    scratch.positions = <uint32_t*>(scratch.column_starts + most)
    scratch.columns = scratch.positions + most
    scratch.sorted = scratch.columns + most
    scratch.joined = scratch.sorted + most
    scratch.other = scratch.joined + most
    with nogil:
        for i in range(start, stop):
            if polygon_starts[i + 1] > polygon_starts[i]:
                lengths[i] = fm_polygons(
                    &points[0], &point_starts[polygon_starts[i]], polygon_starts[i + 1] - polygon_starts[i],
                    sizes[i, 0], sizes[i, 1], &scratch, &counts[starts[i]],
                )
    free(memory)


def close_gaps(uint32_t[::1] counts, int64_t[::1] starts, const int64_t[::1] lengths):
    """Move the counts of the masks, lengths[m] of them from starts[m], together; update starts."""
    cdef Py_ssize_t i
    cdef int64_t position = 0
    cdef int64_t begin
    cdef bint fits = True
    need_length(b"starts", starts.shape[0], lengths.shape[0] + 1)
    with nogil:
        for i in range(lengths.shape[0]):
            begin = starts[i]
            fits = lengths[i] >= 0 and position <= begin and begin <= counts.shape[0] - lengths[i]
            if not fits:
                break
            if begin != position and lengths[i]:
                memmove(&counts[position], &counts[begin], lengths[i] * sizeof(uint32_t))
            starts[i] = position
            position += lengths[i]
        if fits:
            starts[lengths.shape[0]] = position
    if not fits:
        raise ValueError(f"mask {i} has no {lengths[i]} counts from {begin} on, behind those of the masks before")


def count_runs(const uint8_t[::1] pixels) -> int:
    """Return the number of counts of a mask of 0 and 1; -1 if it has another value."""
    cdef int64_t total
    if pixels.shape[0] == 0:
        return 1
    with nogil:
        total = fm_count_runs(&pixels[0], pixels.shape[0])
    return total


def runs_of_pixels(const uint8_t[::1] pixels, uint32_t[::1] out):
    """Write the counts of a mask; count_runs returned their number. Pixels are column by column."""
    cdef bint fits
    need_length(b"out", out.shape[0], 1)
    if pixels.shape[0] == 0:
        out[0] = 0
        return
    with nogil:
        fits = fm_runs_of_pixels(&pixels[0], pixels.shape[0], &out[0], out.shape[0])
    if not fits:
        raise ValueError(f"a mask has more than {out.shape[0]} counts, or a pixel that is neither 0 nor 1")


cdef int64_t sum_of(const uint32_t* counts, int64_t n) noexcept nogil:
    cdef int64_t i
    cdef int64_t total = 0
    for i in range(n):
        total += counts[i]
    return total


def fill_pixels(
    const uint32_t[::1] counts, const int64_t[::1] starts, int64_t n_pixels, uint8_t[::1] out, Py_ssize_t start,
    Py_ssize_t stop
):
    """Write the pixels of masks that all have n_pixels, column by column, one mask after the other."""
    cdef Py_ssize_t i
    cdef bint fits = True
    check_masks(counts, starts, start, stop)
    if not 0 <= n_pixels <= LARGEST_MASK:
        raise ValueError(f"masks of {n_pixels} pixels")
    need_length(b"out", out.shape[0], stop * n_pixels)
    with nogil:
        for i in range(start, stop):
            if starts[i + 1] > starts[i]:
                fits = sum_of(&counts[starts[i]], starts[i + 1] - starts[i]) <= n_pixels
                if not fits:
                    break
                fm_fill_pixels(&counts[starts[i]], starts[i + 1] - starts[i], &out[i * n_pixels])
    if not fits:
        raise ValueError(f"mask {i} has more than {n_pixels} pixels")


def text_lengths(
    const uint32_t[::1] counts, const int64_t[::1] starts, int64_t[::1] out, Py_ssize_t start, Py_ssize_t stop
):
    """out[m] = the number of characters of the compressed counts of mask m."""
    cdef Py_ssize_t i
    check_masks(counts, starts, start, stop)
    need_length(b"out", out.shape[0], stop)
    with nogil:
        for i in range(start, stop):
            out[i] = fm_write_counts(&counts[0] + starts[i], starts[i + 1] - starts[i], NULL, 0)


def write_texts(
    const uint32_t[::1] counts, const int64_t[::1] starts, const int64_t[::1] text_starts, uint8_t[::1] out,
    Py_ssize_t start, Py_ssize_t stop
):
    """Write the compressed counts of each mask from text_starts, which are the sums of text_lengths."""
    cdef Py_ssize_t i
    check_masks(counts, starts, start, stop)
    need_range(start, stop, text_starts.shape[0] - 1)
    need_offsets(b"text_starts", &text_starts[start], stop - start + 1, out.shape[0])
    with nogil:
        for i in range(start, stop):
            fm_write_counts(
                &counts[0] + starts[i], starts[i + 1] - starts[i], <char*>&out[0] + text_starts[i],
                text_starts[i + 1] - text_starts[i])


cdef bint have_heights(const int64_t[:, ::1] sizes, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    cdef Py_ssize_t i
    cdef bint found = True
    for i in range(start, stop):
        found &= sizes[i, 0] > 0
    return found


def measure(
    const uint32_t[::1] counts, const int64_t[::1] starts, const int64_t[:, ::1] sizes, int64_t[::1] areas,
    double[:, ::1] boxes, Py_ssize_t start, Py_ssize_t stop
):
    """Compute the area of each mask and its bounding box (x, y, width, height), all 0 for an empty mask."""
    cdef Py_ssize_t i
    cdef Extent extent
    check_masks(counts, starts, start, stop)
    need_length(b"sizes, areas and boxes", min(sizes.shape[0], areas.shape[0], boxes.shape[0]), stop)
    need_length(b"sides of a size", sizes.shape[1], 2)
    need_length(b"numbers of a box", boxes.shape[1], 4)
    if not have_heights(sizes, start, stop):
        raise ValueError("a mask's height must be 1 or more")
    with nogil:
        for i in range(start, stop):
            extent = fm_measure(
                &counts[0] + starts[i], starts[i + 1] - starts[i], sizes[i, 0], NULL
            )
            areas[i] = extent.area
            fm_box(&extent, sizes[i, 0], &boxes[i, 0])


cdef class MaskColumns:
    """Masks: the counts of mask m are counts[starts[m]:starts[m + 1]]; sizes (m, 2) have height and width."""

    cdef readonly Py_ssize_t n_masks
    cdef const uint32_t[::1] counts
    cdef const int64_t[::1] starts
    cdef const int64_t[:, ::1] sizes

    def __cinit__(
        self, const uint32_t[::1] counts not None, const int64_t[::1] starts not None,
        const int64_t[:, ::1] sizes not None
    ):
        self.n_masks = starts.shape[0] - 1
        need_length(b"starts", starts.shape[0], 1)
        need_length(b"sizes", sizes.shape[0], self.n_masks)
        need_offsets(b"starts", &starts[0], self.n_masks + 1, counts.shape[0])
        if sizes.shape[1] != 2:
            raise ValueError(f"sizes have {sizes.shape[1]} numbers for each mask, not height and width")
        if not have_heights(sizes, 0, self.n_masks):
            raise ValueError("a mask's height must be 1 or more")
        self.counts, self.starts, self.sizes = counts, starts, sizes

    cdef MaskRows rows(self, const int64_t[::1] numbers) noexcept:
        """The masks of these rows."""
        cdef MaskRows found
        found.counts = &self.counts[0] if self.counts.shape[0] else NULL
        found.starts = &self.starts[0]
        found.sizes = &self.sizes[0, 0] if self.n_masks else NULL
        found.rows = &numbers[0] if numbers.shape[0] else NULL
        return found


def mask_iou_by_group(
    MaskColumns detection_masks not None, MaskColumns truth_masks not None, const uint8_t[::1] crowd,
    GroupedRows groups not None, double[::1] out, Py_ssize_t start, Py_ssize_t stop
) -> tuple[int, int]:
    """Fill the IoU of groups start to stop: out[iou_starts[g] + d * n_truth + t] for detection d and object t.

    Returns the group and the pair in it whose masks differ in size, or -1 and -1. Pixels are counted in int64 and
    divided once, as in pycocotools.
    """
    cdef MaskRows detections = detection_masks.rows(groups.detection_rows)
    cdef MaskRows truth = truth_masks.rows(groups.truth_rows)
    cdef Py_ssize_t g, i
    cdef int64_t n_ends, longest
    cdef int64_t max_ends = 0
    cdef int64_t max_truth = 0
    cdef int64_t bad = -1
    cdef Py_ssize_t bad_group = -1
    cdef char* memory = NULL
    groups.check(start, stop, min(truth_masks.n_masks, crowd.shape[0]), detection_masks.n_masks, out.shape[0])
    with nogil:
        for g in range(start, stop):
            if groups.iou_starts[g + 1] == groups.iou_starts[g]:
                continue
            n_ends = 0
            longest = 0
            for i in range(groups.truth_starts[g], groups.truth_starts[g + 1]):
                n_ends += n_counts_of(&truth, truth.rows[i])
            for i in range(groups.detection_starts[g], groups.detection_starts[g + 1]):
                longest = max(longest, n_counts_of(&detections, detections.rows[i]))
            max_ends = max(max_ends, n_ends + longest)
            max_truth = max(max_truth, groups.truth_starts[g + 1] - groups.truth_starts[g])
    if max_truth == 0:
        return -1, -1
    memory = <char*>reallocate(NULL, max_truth * sizeof(Extent) + (max_ends + 1) * sizeof(uint32_t))
    with nogil:
        for g in range(start, stop):
            if groups.iou_starts[g + 1] == groups.iou_starts[g]:
                continue
            bad = iou_of_group(
                &detections, &truth, &crowd[0], groups.detection_starts[g], groups.detection_starts[g + 1],
                groups.truth_starts[g], groups.truth_starts[g + 1], <Extent*>memory,
                <uint32_t*>(memory + max_truth * sizeof(Extent)), &out[groups.iou_starts[g]],
            )
            if bad >= 0:
                bad_group = g
                break
    free(memory)
    return bad_group, bad
