"""Masks as runs (masks.h): read from the forms COCO has, measured, drawn, and compared in groups.

Counts of all masks stand behind each other as uint32, mask m from starts[m] to starts[m + 1]. Functions that read give
the first bad row of theirs, with a code and a number that says what was found; -1 if there is none. Those that take
`start` and `stop` work on these rows alone and may run in several threads: they write only what belongs to the rows.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memmove

from fastmetrics._kernels.memory cimport resized

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL
    int PyBytes_AsStringAndSize(object text, char** buffer, Py_ssize_t* length) except -1
    int64_t PyLong_AsLongLongAndOverflow(object number, int* overflow) except? -1

cdef extern from "masks.h":
    const int64_t MOST "FM_MOST_PIXELS"
    const double LARGEST "FM_LARGEST_COORDINATE"
    const int BAD_COUNT "FM_BAD_COUNT"
    const int BAD_TOTAL "FM_BAD_TOTAL"
    ctypedef struct Extent "fm_extent":
        int64_t area, first, end, top, bottom, left
    ctypedef struct Drawing "fm_drawing":
        uint32_t* places
        uint32_t* columns
        uint32_t* sorted
        uint32_t* joined
        uint32_t* other
        int64_t* heads
    int64_t fm_count_numbers(const char* text, int64_t length) noexcept nogil
    int fm_read_counts(
        const char* text, int64_t length, int64_t pixels, uint32_t* counts, int64_t* detail
    ) noexcept nogil
    int64_t fm_write_counts(const uint32_t* counts, int64_t n, char* text) noexcept nogil
    Extent fm_measure(const uint32_t* counts, int64_t n, int64_t height, uint32_t* ends) noexcept nogil
    void fm_box(const Extent* extent, int64_t height, double* box) noexcept nogil
    void fm_fill_pixels(const uint32_t* counts, int64_t n, uint8_t* pixels) noexcept nogil
    int64_t fm_count_runs(const uint8_t* pixels, int64_t n) noexcept nogil
    void fm_runs_of_pixels(const uint8_t* pixels, int64_t n, uint32_t* counts) noexcept nogil
    int64_t fm_shared_pixels(
        const uint32_t* first, int64_t n_first, const uint32_t* second, int64_t n_second, int64_t begin, int64_t end
    ) noexcept nogil
    int64_t fm_shared_of_columns(
        const uint32_t* first, int64_t n_first, int64_t first_left,
        const uint32_t* second, int64_t n_second, int64_t second_left
    ) noexcept nogil
    int64_t fm_count_boundaries(const double* points, int64_t n, int64_t width) noexcept nogil
    int64_t fm_polygons(
        const double* points, const int64_t* starts, int64_t n_polygons, int64_t height, int64_t width,
        Drawing* drawing, uint32_t* counts
    ) noexcept nogil

MOST_PIXELS = MOST

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


cdef int64_t side_of(object number):
    """An integer from 1 to MOST; 0 if it is none."""
    cdef int64_t side
    cdef int overflow = 0
    if not isinstance(number, int) or isinstance(number, bool):
        return 0
    side = PyLong_AsLongLongAndOverflow(number, &overflow)
    return 0 if overflow or side < 1 or side > MOST else side


cdef bint get_size(object size, int64_t* pixels):
    """Is it a pair of sides with a product of at most MOST? They become height and width."""
    if not isinstance(size, (list, tuple)) or len(size) != 2:
        return False
    pixels[0] = side_of(size[0])
    pixels[1] = side_of(size[1])
    return pixels[0] > 0 and pixels[1] > 0 and pixels[0] <= MOST // pixels[1]


def gather(
    list rows, uint8_t[::1] kinds, uint64_t[::1] addresses, int64_t[::1] lengths, int64_t[:, ::1] sizes
):
    """The kind of each segmentation; of RLE its size; of compressed RLE the address and length of its text.

    Returns what the addresses lie in, to be held while they are used. A row that is none of the three kinds, or whose
    size is bad, is UNKNOWN: the caller says why.
    """
    cdef list held = []
    cdef Py_ssize_t i
    cdef Py_ssize_t length = 0
    cdef const char* text
    cdef char* buffer
    cdef object row, counts
    for i in range(len(rows)):
        row = rows[i]
        kinds[i] = 0
        lengths[i] = 0
        if isinstance(row, dict):
            counts = (<dict>row).get("counts")
            if not get_size((<dict>row).get("size"), &sizes[i, 0]):
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
                lengths[i] = len(<list>counts)
                continue
            else:
                continue
            held.append(counts)
            kinds[i] = 1
            addresses[i] = <uint64_t><size_t>text
            lengths[i] = length
        elif isinstance(row, list):
            kinds[i] = 3
    return held


def count_numbers(
    const uint8_t[::1] kinds, const uint64_t[::1] addresses, const int64_t[::1] lengths, int64_t[::1] out,
    Py_ssize_t start, Py_ssize_t stop
):
    """out[row] = how many counts a compressed or uncompressed RLE has; other rows are left as they are."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            if kinds[i] == 1:
                out[i] = fm_count_numbers(<const char*><size_t>addresses[i], lengths[i])
            elif kinds[i] == 2:
                out[i] = lengths[i]


def read_compressed(
    const uint8_t[::1] kinds, const uint64_t[::1] addresses, const int64_t[::1] lengths,
    const int64_t[:, ::1] sizes, const int64_t[::1] starts, uint32_t[::1] counts, Py_ssize_t start, Py_ssize_t stop
):
    """Counts of the compressed rows, at their starts. Returns the first bad row, what is wrong, and a number of it."""
    cdef Py_ssize_t i
    cdef Py_ssize_t bad = -1
    cdef int64_t detail = 0
    cdef int code = 0
    cdef uint32_t nothing
    with nogil:
        for i in range(start, stop):
            if kinds[i] == 1:
                code = fm_read_counts(
                    <const char*><size_t>addresses[i], lengths[i], sizes[i, 0] * sizes[i, 1],
                    &counts[starts[i]] if starts[i + 1] > starts[i] else &nothing, &detail,
                )
                if code:
                    bad = i
                    break
    return bad, code, detail


def read_uncompressed(
    list rows, const uint8_t[::1] kinds, const int64_t[:, ::1] sizes, const int64_t[::1] starts, uint32_t[::1] counts
):
    """Counts of the uncompressed rows, at their starts. Returns the first bad row, what is wrong and what was found."""
    cdef Py_ssize_t i, k
    cdef int64_t number, total
    cdef int overflow = 0
    cdef list listed
    cdef object value
    for i in range(len(rows)):
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
            if overflow or number < 0 or number > MOST:
                return i, BAD_COUNT, value
            counts[starts[i] + k] = <uint32_t>number
            total += number
        if total != sizes[i, 0] * sizes[i, 1]:
            return i, BAD_TOTAL, total
    return -1, 0, 0


def count_polygons(list rows, const uint8_t[::1] kinds, int64_t[::1] starts):
    """starts[row + 1] = polygons up to this row. Returns the first bad row and what is wrong; how many numbers."""
    cdef Py_ssize_t i, k, length
    cdef int64_t n_polygons = 0
    cdef int64_t n_numbers = 0
    cdef list row
    cdef object polygon
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
):
    """All points behind each other, those of a polygon from point_starts. Returns the first bad row, and so on."""
    cdef Py_ssize_t i, k, j
    cdef Py_ssize_t at = 0
    cdef Py_ssize_t n_polygons = 0
    cdef double number
    cdef list polygon
    cdef object value
    point_starts[0] = 0
    for i in range(len(rows)):
        if kinds[i] != 3:
            continue
        if len(rows[i]) != starts[i + 1] - starts[i]:
            raise RuntimeError("a segmentation changed while it was read")
        for k in range(starts[i + 1] - starts[i]):
            polygon = rows[i][k]
            if len(polygon) > points.shape[0] - at:
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
                if not -LARGEST <= number <= LARGEST:
                    return i, BAD_COORDINATE, value
                points[at] = number
                at += 1
            n_polygons += 1
            point_starts[n_polygons] = at // 2
    return -1, 0, None


def count_boundaries(
    const double[::1] points, const int64_t[::1] point_starts, const int64_t[::1] starts, const int64_t[:, ::1] sizes,
    int64_t[::1] out, Py_ssize_t start, Py_ssize_t stop
):
    """out[row] = the most counts the union of a row's polygons has; rows without polygons are left as they are."""
    cdef Py_ssize_t i, k
    cdef int64_t total
    with nogil:
        for i in range(start, stop):
            if starts[i + 1] == starts[i]:
                continue
            total = 1
            for k in range(starts[i], starts[i + 1]):
                total += fm_count_boundaries(
                    &points[2 * point_starts[k]], point_starts[k + 1] - point_starts[k], sizes[i, 1]
                )
            out[i] = total


def draw(
    const double[::1] points, const int64_t[::1] point_starts, const int64_t[::1] polygon_starts,
    const int64_t[:, ::1] sizes, const int64_t[::1] starts, uint32_t[::1] counts, int64_t[::1] lengths,
    Py_ssize_t start, Py_ssize_t stop
):
    """Counts of each row's polygons from starts[row], lengths[row] of them: at most what count_boundaries said."""
    cdef Py_ssize_t i
    cdef int64_t most = 0
    cdef Drawing drawing
    cdef void* memory
    for i in range(start, stop):
        if polygon_starts[i + 1] > polygon_starts[i] and starts[i + 1] - starts[i] > most:
            most = starts[i + 1] - starts[i]
    if most == 0:
        return
    most = (most + 3) // 2 * 2
    memory = resized(NULL, most * (sizeof(int64_t) + 5 * sizeof(uint32_t)))
    drawing.heads = <int64_t*>memory
    drawing.places = <uint32_t*>(drawing.heads + most)
    drawing.columns = drawing.places + most
    drawing.sorted = drawing.columns + most
    drawing.joined = drawing.sorted + most
    drawing.other = drawing.joined + most
    with nogil:
        for i in range(start, stop):
            if polygon_starts[i + 1] > polygon_starts[i]:
                lengths[i] = fm_polygons(
                    &points[0], &point_starts[polygon_starts[i]], polygon_starts[i + 1] - polygon_starts[i],
                    sizes[i, 0], sizes[i, 1], &drawing, &counts[starts[i]],
                )
    free(memory)


def close_gaps(uint32_t[::1] counts, int64_t[::1] starts, const int64_t[::1] lengths):
    """Move each mask's counts, lengths[m] of them from starts[m], behind those before; starts follow."""
    cdef Py_ssize_t i
    cdef int64_t at = 0
    cdef int64_t begin
    with nogil:
        for i in range(lengths.shape[0]):
            begin = starts[i]
            if begin != at and lengths[i]:
                memmove(&counts[at], &counts[begin], lengths[i] * sizeof(uint32_t))
            starts[i] = at
            at += lengths[i]
        starts[lengths.shape[0]] = at


def count_runs(const uint8_t[::1] pixels):
    """How many counts a mask of 0 and 1 has; -1 if another value is there."""
    cdef int64_t total
    if pixels.shape[0] == 0:
        return 1
    with nogil:
        total = fm_count_runs(&pixels[0], pixels.shape[0])
    return total


def runs_of_pixels(const uint8_t[::1] pixels, uint32_t[::1] out):
    """The counts of a mask, of which count_runs told the number. Pixels go down the columns."""
    if pixels.shape[0] == 0:
        out[0] = 0
        return
    with nogil:
        fm_runs_of_pixels(&pixels[0], pixels.shape[0], &out[0])


def fill_pixels(
    const uint32_t[::1] counts, const int64_t[::1] starts, int64_t n_pixels, uint8_t[::1] out, Py_ssize_t start,
    Py_ssize_t stop
):
    """The pixels of masks that all have n_pixels, each column by column, behind each other."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            if starts[i + 1] > starts[i]:
                fm_fill_pixels(&counts[starts[i]], starts[i + 1] - starts[i], &out[i * n_pixels])


def text_lengths(
    const uint32_t[::1] counts, const int64_t[::1] starts, int64_t[::1] out, Py_ssize_t start, Py_ssize_t stop
):
    """How many characters the compressed counts of each mask have."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            out[i] = fm_write_counts(&counts[0] + starts[i], starts[i + 1] - starts[i], NULL)


def write_texts(
    const uint32_t[::1] counts, const int64_t[::1] starts, const int64_t[::1] text_starts, uint8_t[::1] out,
    Py_ssize_t start, Py_ssize_t stop
):
    """The compressed counts of each mask, from text_starts; text_lengths told how long they are."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            fm_write_counts(&counts[0] + starts[i], starts[i + 1] - starts[i], <char*>&out[0] + text_starts[i])


def measure(
    const uint32_t[::1] counts, const int64_t[::1] starts, const int64_t[:, ::1] sizes, int64_t[::1] areas,
    double[:, ::1] boxes, Py_ssize_t start, Py_ssize_t stop
):
    """Pixels inside each mask and the box around them (x, y, width, height), all 0 where there are none."""
    cdef Py_ssize_t i
    cdef Extent extent
    with nogil:
        for i in range(start, stop):
            extent = fm_measure(
                &counts[0] + starts[i], starts[i + 1] - starts[i], sizes[i, 0], NULL
            )
            areas[i] = extent.area
            fm_box(&extent, sizes[i, 0], &boxes[i, 0])


cdef struct Side:
    const uint32_t* counts
    const int64_t* starts
    const int64_t* sizes
    const int64_t* rows


cdef inline int64_t runs_of(const Side* side, int64_t row) noexcept nogil:
    return side.starts[row + 1] - side.starts[row]


cdef double overlap(
    const Extent* found, const uint32_t* found_ends, int64_t n_found,
    const Extent* truth, const uint32_t* truth_ends, int64_t n_truth, bint crowd
) noexcept nogil:
    """Pixels in both, divided by those in either, or by those of what was found if the truth is a crowd."""
    cdef int64_t begin = max(found.first, truth.first)
    cdef int64_t end = min(found.end, truth.end)
    cdef int64_t shared, whole
    if begin >= end or found.top >= truth.bottom or truth.top >= found.bottom:
        return 0.0
    if found.left >= 0 and truth.left >= 0:
        shared = fm_shared_of_columns(
            found_ends, n_found // 2, found.left, truth_ends, n_truth // 2, truth.left
        )
    else:
        shared = fm_shared_pixels(found_ends, n_found // 2, truth_ends, n_truth // 2, begin, end)
    if shared == 0:
        return 0.0
    whole = found.area if crowd else found.area + truth.area - shared
    return <double>shared / <double>whole


cdef int64_t group_overlaps(
    const Side* found, const Side* truth, const uint8_t* crowd, int64_t found_start, int64_t found_stop,
    int64_t truth_start, int64_t truth_stop, Extent* extents, uint32_t* ends, double* out
) noexcept nogil:
    """IoU of every detection of a group with every object. The first pair of different sizes, or -1."""
    cdef int64_t d, t, row, found_row, n_runs
    cdef int64_t at = 0
    cdef int64_t n_truth = truth_stop - truth_start
    cdef Extent extent
    cdef uint32_t* own
    for t in range(n_truth):
        row = truth.rows[truth_start + t]
        extents[t] = fm_measure(truth.counts + truth.starts[row], runs_of(truth, row), truth.sizes[2 * row], ends + at)
        at += runs_of(truth, row)
    own = ends + at
    for d in range(found_start, found_stop):
        found_row = found.rows[d]
        n_runs = runs_of(found, found_row)
        extent = fm_measure(found.counts + found.starts[found_row], n_runs, found.sizes[2 * found_row], own)
        at = 0
        for t in range(n_truth):
            row = truth.rows[truth_start + t]
            if (
                found.sizes[2 * found_row] != truth.sizes[2 * row]
                or found.sizes[2 * found_row + 1] != truth.sizes[2 * row + 1]
            ):
                return (d - found_start) * n_truth + t
            out[(d - found_start) * n_truth + t] = overlap(
                &extent, own, n_runs, &extents[t], ends + at, runs_of(truth, row), crowd[row]
            )
            at += runs_of(truth, row)
    return -1


def overlaps(
    const uint32_t[::1] found_counts, const int64_t[::1] found_starts, const int64_t[:, ::1] found_sizes,
    const uint32_t[::1] truth_counts, const int64_t[::1] truth_starts, const int64_t[:, ::1] truth_sizes,
    const uint8_t[::1] crowd, const int64_t[::1] group_found, const int64_t[::1] found_rows,
    const int64_t[::1] group_truth, const int64_t[::1] truth_rows, const int64_t[::1] overlap_starts, double[::1] out,
    Py_ssize_t start, Py_ssize_t stop
):
    """The overlaps of the groups from start to stop (groups.py says how they lie in out).

    Returns the group and the pair in it whose masks differ in size, or -1 and -1. Pixels are counted in int64 and
    divided once, as pycocotools does it.
    """
    cdef Side found, truth
    cdef Py_ssize_t g, i
    cdef int64_t n_ends, longest
    cdef int64_t most_ends = 0
    cdef int64_t most_truth = 0
    cdef int64_t bad = -1
    cdef Py_ssize_t bad_group = -1
    cdef char* memory = NULL
    if start >= stop or out.shape[0] == 0:
        return -1, -1
    found = Side(&found_counts[0], &found_starts[0], &found_sizes[0, 0], &found_rows[0])
    truth = Side(&truth_counts[0], &truth_starts[0], &truth_sizes[0, 0], &truth_rows[0])
    with nogil:
        for g in range(start, stop):
            if overlap_starts[g + 1] == overlap_starts[g]:
                continue
            n_ends = 0
            longest = 0
            for i in range(group_truth[g], group_truth[g + 1]):
                n_ends += runs_of(&truth, truth_rows[i])
            for i in range(group_found[g], group_found[g + 1]):
                longest = max(longest, runs_of(&found, found_rows[i]))
            most_ends = max(most_ends, n_ends + longest)
            most_truth = max(most_truth, group_truth[g + 1] - group_truth[g])
    if most_truth == 0:
        return -1, -1
    memory = <char*>resized(NULL, most_truth * sizeof(Extent) + (most_ends + 1) * sizeof(uint32_t))
    with nogil:
        for g in range(start, stop):
            if overlap_starts[g + 1] == overlap_starts[g]:
                continue
            bad = group_overlaps(
                &found, &truth, &crowd[0], group_found[g], group_found[g + 1], group_truth[g], group_truth[g + 1],
                <Extent*>memory, <uint32_t*>(memory + most_truth * sizeof(Extent)), &out[overlap_starts[g]],
            )
            if bad >= 0:
                bad_group = g
                break
    free(memory)
    return bad_group, bad
