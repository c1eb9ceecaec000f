"""A run and its ground truth, joined query by query: which retrieved item has which grade.

Three steps. Neighbouring rows of one query are found by comparing each row with the one before (segments): files and
tables are nearly always written query by query, so only the heads of segments need a table of the whole input. The
heads are numbered, and where a query has several segments a stable counting sort brings its rows together. Then each
query is joined on its own: a small open-addressing table, which stays in the first-level cache, takes the run's items
and is asked for the judged ones.

An entry of a table is 64 bits: the upper half of a hash, and below it a number + 1 (0 is free). Equal halves say
nothing: text is compared by its bytes, integers as integers. A table has at least twice as many entries as keys and
never fills. Keys are fewer than 2**32 - 1 in one table.

Text is data[starts[i]:stops[i]], UTF-8. All arrays belong to the caller; units start..stop of rows or lists are
independent of each other.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memset

from fastmetrics._kernels.spans cimport hash_text, same_text

ctypedef fused offset_t:
    int32_t
    int64_t

ctypedef fused grade_t:
    float
    double

ctypedef fused integer_t:
    int32_t
    int64_t

cdef extern from "vectormath.h":
    uint64_t hash_integer "fm_hash_integer"(uint64_t key) noexcept nogil

cdef enum:
    LEAST_TABLE = 16
    SMALL_TABLE = 1024
    MANY_KEYS = 1 << 16
    RUN_START = 0
    RUN_STOP = 1
    JUDGED_START = 2
    JUDGED_STOP = 3

KEYS_OF_LARGE_TABLES = MANY_KEYS  # from here on memory counts more than branches


cdef inline const uint8_t* bytes_of(const uint8_t[::1] data) noexcept nogil:
    return &data[0] if data.shape[0] else NULL


cdef inline uint64_t entry_of(uint64_t hashed, int64_t number) noexcept nogil:
    return (hashed & <uint64_t>0xFFFFFFFF00000000) | <uint64_t>(number + 1)


cdef inline int64_t number_in(uint64_t entry) noexcept nogil:
    return <int64_t>(entry & <uint64_t>0xFFFFFFFF) - 1


cdef inline bint same_half(uint64_t entry, uint64_t hashed) noexcept nogil:
    return entry >> 32 == hashed >> 32


# ------------------------------------------------------------------------------------------------------- segments


def text_segments(
    const uint8_t[::1] data, const offset_t[::1] starts, const offset_t[::1] stops, Py_ssize_t start, Py_ssize_t stop,
    int64_t[::1] heads
):
    """The rows start..stop that differ from the row before, written from heads[start] on; returns how many."""
    cdef const uint8_t* text = bytes_of(data)
    cdef Py_ssize_t i
    cdef Py_ssize_t place = start
    cdef int64_t length
    if start >= stop:
        return 0
    with nogil:
        if start == 0:
            heads[0] = 0
            place = 1
        for i in range(start if start else 1, stop):
            length = stops[i] - starts[i]
            if length == stops[i - 1] - starts[i - 1] and (
                    starts[i] == starts[i - 1] or same_text(text + starts[i], text + starts[i - 1], length)):
                continue
            heads[place] = i
            place += 1
    return place - start


def integer_segments(const integer_t[::1] values, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] heads):
    """As text_segments, for integers."""
    cdef Py_ssize_t i
    cdef Py_ssize_t place = start
    if start >= stop:
        return 0
    with nogil:
        if start == 0:
            heads[0] = 0
            place = 1
        for i in range(start if start else 1, stop):
            # Written at every row: a branch that is taken once per query would be guessed wrongly once per query.
            heads[place] = i
            place += values[i] != values[i - 1]
    return place - start


# ------------------------------------------------------------------------------------------------------ numbering


def number_texts(
    const uint8_t[::1] data, const int64_t[::1] starts, const int64_t[::1] stops, uint64_t[::1] table,
    int64_t[::1] numbers, int64_t[::1] firsts
):
    """Number the distinct texts in order of appearance; returns how many there are.

    numbers[i] is text i's number, firsts[number] the first text of a number. table is all 0, of a power of two of at
    least 2 n entries; it stays valid for look_up_texts.
    """
    cdef const uint8_t* text = bytes_of(data)
    cdef uint64_t mask = <uint64_t>table.shape[0] - 1
    cdef uint64_t hashed, slot, entry
    cdef int64_t length, first
    cdef int64_t n_found = 0
    cdef Py_ssize_t i
    with nogil:
        for i in range(starts.shape[0]):
            length = stops[i] - starts[i]
            hashed = hash_text(text + starts[i], length)
            slot = hashed & mask
            while True:
                entry = table[slot]
                if entry == 0:
                    table[slot] = entry_of(hashed, n_found)
                    firsts[n_found] = i
                    numbers[i] = n_found
                    n_found += 1
                    break
                if same_half(entry, hashed):
                    first = firsts[number_in(entry)]
                    if stops[first] - starts[first] == length and same_text(
                            text + starts[first], text + starts[i], length):
                        numbers[i] = number_in(entry)
                        break
                slot = (slot + 1) & mask
    return n_found


def look_up_texts(
    const uint8_t[::1] data, const int64_t[::1] starts, const int64_t[::1] stops, const uint64_t[::1] table,
    const int64_t[::1] firsts, const uint8_t[::1] other_data, const int64_t[::1] other_starts,
    const int64_t[::1] other_stops, int64_t[::1] numbers
):
    """numbers[i] becomes the number that number_texts gave to the other text i, -1 where it met none like it."""
    cdef const uint8_t* text = bytes_of(data)
    cdef const uint8_t* other_text = bytes_of(other_data)
    cdef uint64_t mask = <uint64_t>table.shape[0] - 1
    cdef uint64_t hashed, slot, entry
    cdef int64_t length, first
    cdef Py_ssize_t i
    with nogil:
        for i in range(other_starts.shape[0]):
            length = other_stops[i] - other_starts[i]
            hashed = hash_text(other_text + other_starts[i], length)
            slot = hashed & mask
            numbers[i] = -1
            while table[slot]:
                entry = table[slot]
                if same_half(entry, hashed):
                    first = firsts[number_in(entry)]
                    if stops[first] - starts[first] == length and same_text(
                            text + starts[first], other_text + other_starts[i], length):
                        numbers[i] = number_in(entry)
                        break
                slot = (slot + 1) & mask


def bring_together(
    const int64_t[::1] heads, int64_t n_rows, const int64_t[::1] numbers, int64_t[::1] offsets, int64_t[::1] order
):
    """A stable counting sort of rows by their segment's number.

    Segment s has the rows heads[s]..heads[s + 1], the last one up to n_rows, and the number numbers[s]. offsets, one
    more than there are numbers and all 0, become where each number's rows begin. order[place] is the row to go there.
    """
    cdef Py_ssize_t n_segments = heads.shape[0]
    cdef Py_ssize_t n_numbers = offsets.shape[0] - 1
    cdef Py_ssize_t i
    cdef int64_t row, place, end
    cdef int64_t total = 0
    with nogil:
        for i in range(n_segments):
            end = heads[i + 1] if i + 1 < n_segments else n_rows
            offsets[numbers[i]] += end - heads[i]
        for i in range(n_numbers):
            place = offsets[i]
            offsets[i] = total
            total += place
        for i in range(n_segments):
            end = heads[i + 1] if i + 1 < n_segments else n_rows
            place = offsets[numbers[i]]
            for row in range(heads[i], end):
                order[place] = row
                place += 1
            offsets[numbers[i]] = place
        # The cursors now stand at the ends: one number further they are the beginnings.
        for i in range(n_numbers, 0, -1):
            offsets[i] = offsets[i - 1]
        offsets[0] = 0


# --------------------------------------------------------------------------------------------------------- joining


cdef struct Judged:
    # What a join writes for one list.
    const double* relevance
    double* unretrieved
    int64_t n_unretrieved
    int64_t repeated_run
    int64_t repeated_judged


cdef inline uint64_t clear_table(uint64_t* table, int64_t n_keys) noexcept nogil:
    """Free as many entries as the keys need; returns the mask."""
    cdef uint64_t size = LEAST_TABLE
    cdef uint64_t wanted = <uint64_t>n_keys * (4 if n_keys < MANY_KEYS else 2)
    while size < wanted:
        size *= 2
    # A wrongly guessed branch, at an entry that is taken, costs more than a table of twice the size: while that is in
    # the first-level cache.
    if size <= SMALL_TABLE:
        size *= 2
    memset(table, 0, size * sizeof(uint64_t))
    return size - 1


cdef inline void join_text_list(
    const uint8_t* data, const offset_t* starts, const offset_t* stops, const uint8_t* other_data,
    const offset_t* other_starts, const offset_t* other_stops, const int64_t* span, uint64_t* table, grade_t* grades,
    Judged* out
) noexcept nogil:
    cdef int64_t first = span[RUN_START]
    cdef int64_t n_run = span[RUN_STOP] - first
    cdef int64_t first_judged = span[JUDGED_START]
    cdef int64_t n_judged = span[JUDGED_STOP] - first_judged
    cdef uint64_t mask = clear_table(table, n_run + n_judged)
    cdef uint64_t hashed, slot, entry
    cdef const uint8_t* text
    cdef int64_t i, length, number
    starts += first
    stops += first
    other_starts += first_judged
    other_stops += first_judged
    for i in range(n_run):
        text = data + starts[i]
        length = stops[i] - starts[i]
        hashed = hash_text(text, length)
        slot = hashed & mask
        grades[first + i] = -1
        while True:
            entry = table[slot]
            if entry == 0:
                table[slot] = entry_of(hashed, i)
                break
            if same_half(entry, hashed):
                number = number_in(entry)
                if stops[number] - starts[number] == length and same_text(data + starts[number], text, length):
                    if out.repeated_run < 0:
                        out.repeated_run = first + i
                    break
            slot = (slot + 1) & mask
    for i in range(n_judged):
        text = other_data + other_starts[i]
        length = other_stops[i] - other_starts[i]
        hashed = hash_text(text, length)
        slot = hashed & mask
        while True:
            entry = table[slot]
            if entry == 0:
                out.unretrieved[out.n_unretrieved] = out.relevance[first_judged + i]
                out.n_unretrieved += 1
                table[slot] = entry_of(hashed, n_run + i)
                break
            if same_half(entry, hashed):
                number = number_in(entry)
                if number < n_run:
                    if stops[number] - starts[number] == length and same_text(data + starts[number], text, length):
                        grades[first + number] = <grade_t>out.relevance[first_judged + i]
                        # From now on the entry is the judged item: the same one again is a repetition.
                        table[slot] = entry_of(hashed, n_run + i)
                        break
                else:
                    number -= n_run
                    if other_stops[number] - other_starts[number] == length and same_text(
                            other_data + other_starts[number], text, length):
                        if out.repeated_judged < 0:
                            out.repeated_judged = first_judged + i
                        break
            slot = (slot + 1) & mask


cdef inline void join_integer_list(
    const int64_t* items, const int64_t* other_items, const int64_t* span, uint64_t* table, grade_t* grades, Judged* out
) noexcept nogil:
    cdef int64_t first = span[RUN_START]
    cdef int64_t n_run = span[RUN_STOP] - first
    cdef int64_t first_judged = span[JUDGED_START]
    cdef int64_t n_judged = span[JUDGED_STOP] - first_judged
    cdef uint64_t mask = clear_table(table, n_run + n_judged)
    cdef uint64_t hashed, slot, entry
    cdef int64_t i, number
    items += first
    other_items += first_judged
    for i in range(n_run):
        hashed = hash_integer(<uint64_t>items[i])
        slot = hashed & mask
        grades[first + i] = -1
        while True:
            entry = table[slot]
            if entry == 0:
                table[slot] = entry_of(hashed, i)
                break
            if same_half(entry, hashed) and items[number_in(entry)] == items[i]:
                if out.repeated_run < 0:
                    out.repeated_run = first + i
                break
            slot = (slot + 1) & mask
    for i in range(n_judged):
        hashed = hash_integer(<uint64_t>other_items[i])
        slot = hashed & mask
        while True:
            entry = table[slot]
            if entry == 0:
                out.unretrieved[out.n_unretrieved] = out.relevance[first_judged + i]
                out.n_unretrieved += 1
                table[slot] = entry_of(hashed, n_run + i)
                break
            if same_half(entry, hashed):
                number = number_in(entry)
                if number < n_run:
                    if items[number] == other_items[i]:
                        grades[first + number] = <grade_t>out.relevance[first_judged + i]
                        table[slot] = entry_of(hashed, n_run + i)
                        break
                elif other_items[number - n_run] == other_items[i]:
                    if out.repeated_judged < 0:
                        out.repeated_judged = first_judged + i
                    break
            slot = (slot + 1) & mask


cdef inline void start_list(Judged* out, double* unretrieved) noexcept nogil:
    out.unretrieved = unretrieved
    out.n_unretrieved = 0
    out.repeated_run = -1
    out.repeated_judged = -1


cdef inline bint end_list(Judged* out, int64_t* n_unretrieved, int64_t* repeated) noexcept nogil:
    n_unretrieved[0] = out.n_unretrieved
    repeated[0] = out.repeated_run
    repeated[1] = out.repeated_judged
    return out.repeated_run >= 0 or out.repeated_judged >= 0


def join_texts(
    const uint8_t[::1] data, const offset_t[::1] starts, const offset_t[::1] stops, const uint8_t[::1] other_data,
    const offset_t[::1] other_starts, const offset_t[::1] other_stops, const double[::1] relevance,
    const int64_t[:, ::1] spans, const int64_t[::1] room, Py_ssize_t start, Py_ssize_t stop, uint64_t[::1] table,
    grade_t[::1] grades, double[::1] unretrieved, int64_t[::1] n_unretrieved, int64_t[:, ::1] repeated
):
    """Join the lists start..stop; returns whether an item was met twice in one of them.

    List l is the run's rows spans[l, 0]..spans[l, 1] and the judged rows spans[l, 2]..spans[l, 3]. grades gets the
    relevance of every row of the run, -1 where the item is not judged; float may be its type where that holds every
    relevance. The relevances of judged items that the run does not have are written from unretrieved[room[l]] on, where
    there is room for all of the list's judged rows; n_unretrieved[l] says how many. repeated[l] is the first row of the
    run, and the first judged one, whose item was met before in the list, else -1. table has a power of two of at least
    max(32, 8 n) entries, n the most rows that a list has, of the run and judged together; 2 n from KEYS_OF_LARGE_TABLES
    rows on.
    """
    cdef Judged out
    cdef grade_t* own_grades = NULL
    cdef Py_ssize_t i
    cdef bint found = False
    if start >= stop:
        return False
    out.relevance = &relevance[0] if relevance.shape[0] else NULL
    if grades.shape[0]:
        own_grades = &grades[0]
    with nogil:
        for i in range(start, stop):
            start_list(&out, &unretrieved[0] + room[i] if unretrieved.shape[0] else NULL)
            join_text_list(
                bytes_of(data), &starts[0] if starts.shape[0] else NULL, &stops[0] if stops.shape[0] else NULL,
                bytes_of(other_data), &other_starts[0] if other_starts.shape[0] else NULL,
                &other_stops[0] if other_stops.shape[0] else NULL, &spans[i, 0], &table[0], own_grades, &out)
            found |= end_list(&out, &n_unretrieved[i], &repeated[i, 0])
    return found


def join_integers(
    const int64_t[::1] items, const int64_t[::1] other_items, const double[::1] relevance,
    const int64_t[:, ::1] spans, const int64_t[::1] room, Py_ssize_t start, Py_ssize_t stop, uint64_t[::1] table,
    grade_t[::1] grades, double[::1] unretrieved, int64_t[::1] n_unretrieved, int64_t[:, ::1] repeated
):
    """As join_texts, for integers of 64 bits (signed or not: they are compared bit by bit)."""
    cdef Judged out
    cdef grade_t* own_grades = NULL
    cdef Py_ssize_t i
    cdef bint found = False
    if start >= stop:
        return False
    out.relevance = &relevance[0] if relevance.shape[0] else NULL
    if grades.shape[0]:
        own_grades = &grades[0]
    with nogil:
        for i in range(start, stop):
            start_list(&out, &unretrieved[0] + room[i] if unretrieved.shape[0] else NULL)
            join_integer_list(
                &items[0] if items.shape[0] else NULL, &other_items[0] if other_items.shape[0] else NULL, &spans[i, 0],
                &table[0], own_grades, &out)
            found |= end_list(&out, &n_unretrieved[i], &repeated[i, 0])
    return found


def close_gaps(
    const double[::1] values, const int64_t[::1] room, const int64_t[::1] offsets, double[::1] out
):
    """List l's values, values[room[l]:] as many as offsets say, one list right after the other."""
    cdef Py_ssize_t i, n
    cdef int64_t k
    with nogil:
        for i in range(room.shape[0]):
            n = offsets[i + 1] - offsets[i]
            for k in range(n):
                out[offsets[i] + k] = values[room[i] + k]
