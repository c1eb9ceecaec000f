"""Joins a run with its qrels, query by query: finds the grade of each retrieved item.

1. Segments, which are runs of neighboring rows of one query, are found by comparing each row with the one before.
   Files and tables are nearly always written query by query, so only the first row of each segment is looked up in a
   table of all queries.
2. The queries of the segments are numbered. If a query has several segments, a stable counting sort brings its rows
   together.
3. Each query is joined separately: the items of the run are put into a small open-addressing table, which stays in the
   first-level cache, and the judged items are looked up in it.

An entry of a table has 64 bits: the upper half of a hash, and below it a number + 1 (0 is free). Equal halves do not
mean equal keys: texts are compared by their bytes, integers as integers. A table has at least twice as many entries as
keys and never fills. One table has less than 2**32 - 1 keys.

Text i is data[starts[i]:stops[i]], UTF-8. Chunks start..stop of rows or lists are independent.
Below, rows of a log are joined with those of a truth table in the same way, inside the groups of a partition.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from fastmetrics._kernels.columns.byte_spans cimport same_text
from fastmetrics._kernels.columns.column_blocks cimport memory_of
from fastmetrics._kernels.numeric.length_checks cimport need_below, need_length, need_offsets, need_range
from fastmetrics._kernels.numeric.table_hash cimport table_hash, table_hash_bytes, table_hash_pair, use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import SEEDS as _SEEDS

use_table_seeds(_SEEDS)

ctypedef fused offset_t:
    int32_t
    int64_t

ctypedef fused grade_t:
    float
    double

ctypedef fused integer_t:
    int32_t
    int64_t

# The keys of rows, that is, their queries or items: texts, or integers of 64 bits.
cdef struct Texts32:
    const uint8_t* data
    const int32_t* starts
    const int32_t* stops

cdef struct Texts64:
    const uint8_t* data
    const int64_t* starts
    const int64_t* stops

cdef struct Integers:
    const int64_t* values

ctypedef fused keys_t:
    Texts32
    Texts64
    Integers

cdef enum:
    LEAST_TABLE = 16
    SMALL_TABLE = 1024
    MANY_KEYS = 1 << 16         # from here on cache misses cost more than mispredicted branches
    RUN_START = 0
    RUN_STOP = 1
    JUDGED_START = 2
    JUDGED_STOP = 3


cdef inline const uint8_t* bytes_of(const uint8_t[::1] data) noexcept nogil:
    return &data[0] if data.shape[0] else NULL


cdef inline uint64_t make_entry(uint64_t hashed, int64_t number) noexcept nogil:
    return (hashed & <uint64_t>0xFFFFFFFF00000000) | <uint64_t>(number + 1)


cdef inline int64_t number_of_entry(uint64_t entry) noexcept nogil:
    return <int64_t>(entry & <uint64_t>0xFFFFFFFF) - 1


cdef inline bint same_hash_half(uint64_t entry, uint64_t hashed) noexcept nogil:
    return entry >> 32 == hashed >> 32


cdef inline uint64_t hash_key(const keys_t* keys, int64_t i) noexcept nogil:
    if keys_t is Integers:
        return table_hash(<uint64_t>keys.values[i])
    else:
        return table_hash_bytes(keys.data + keys.starts[i], keys.stops[i] - keys.starts[i])


cdef inline bint same_key(const keys_t* keys, int64_t i, const keys_t* other_keys, int64_t j) noexcept nogil:
    cdef int64_t length
    if keys_t is Integers:
        return keys.values[i] == other_keys.values[j]
    else:
        length = keys.stops[i] - keys.starts[i]
        return other_keys.stops[j] - other_keys.starts[j] == length and same_text(
            keys.data + keys.starts[i], other_keys.data + other_keys.starts[j], length)


cdef bint are_texts(
    const offset_t[::1] starts, const offset_t[::1] stops, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t n_bytes
) noexcept nogil:
    cdef Py_ssize_t i
    cdef bint found = True
    for i in range(start, stop):
        found &= 0 <= starts[i] <= stops[i] <= n_bytes
    return found


cdef int check_texts(
    const offset_t[::1] starts, const offset_t[::1] stops, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t n_bytes
) except -1:
    """Raise ValueError unless all texts start..stop are parts of n_bytes bytes."""
    need_length(b"stops", stops.shape[0], starts.shape[0])
    if not are_texts(starts, stops, start, stop, n_bytes):
        raise ValueError(f"a text is no part of {n_bytes} bytes")
    return 0


# ------------------------------------------------------------------------------------------------------- segments


def text_segments(
    const uint8_t[::1] data, const offset_t[::1] starts, const offset_t[::1] stops, Py_ssize_t start, Py_ssize_t stop,
    int64_t[::1] segment_starts
) -> int:
    """Write the rows start..stop that differ from the row before to segment_starts[start:]; return their number."""
    cdef const uint8_t* text = bytes_of(data)
    cdef Py_ssize_t i
    cdef Py_ssize_t position = start
    cdef int64_t length
    need_range(start, stop, starts.shape[0])
    need_length(b"segment_starts", segment_starts.shape[0], stop)
    check_texts(starts, stops, max(0, start - 1), stop, data.shape[0])
    if start >= stop:
        return 0
    with nogil:
        if start == 0:
            segment_starts[0] = 0
            position = 1
        for i in range(start if start else 1, stop):
            length = stops[i] - starts[i]
            if length == stops[i - 1] - starts[i - 1] and (
                    starts[i] == starts[i - 1] or same_text(text + starts[i], text + starts[i - 1], length)):
                continue
            segment_starts[position] = i
            position += 1
    return position - start


def integer_segments(
    const integer_t[::1] values, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] segment_starts
) -> int:
    """As text_segments, for integers."""
    cdef Py_ssize_t i
    cdef Py_ssize_t position = start
    need_range(start, stop, values.shape[0])
    need_length(b"segment_starts", segment_starts.shape[0], stop)
    if start >= stop:
        return 0
    with nogil:
        if start == 0:
            segment_starts[0] = 0
            position = 1
        for i in range(start if start else 1, stop):
            # Written at every row: a branch would be mispredicted once for every query.
            segment_starts[position] = i
            position += values[i] != values[i - 1]
    return position - start


# ------------------------------------------------------------------------------------------------------ numbering


cdef Py_ssize_t fill_numbers(
    const Texts64* texts, Py_ssize_t n, uint64_t[::1] table, int64_t[::1] numbers, int64_t[::1] firsts
) noexcept nogil:
    """Number the distinct texts in order of appearance; return how many there are."""
    cdef uint64_t mask = <uint64_t>table.shape[0] - 1
    cdef uint64_t hashed, slot, entry
    cdef int64_t n_found = 0
    cdef Py_ssize_t i
    for i in range(n):
        hashed = hash_key(texts, i)
        slot = hashed & mask
        while True:
            entry = table[slot]
            if entry == 0:
                table[slot] = make_entry(hashed, n_found)
                firsts[n_found] = i
                numbers[i] = n_found
                n_found += 1
                break
            if same_hash_half(entry, hashed) and same_key(texts, i, texts, firsts[number_of_entry(entry)]):
                numbers[i] = number_of_entry(entry)
                break
            slot = (slot + 1) & mask
    return n_found


cdef class NumberedTexts:
    """Texts, and their numbers in order of appearance: equal texts have equal numbers.

    numbers[i] is the number of text i, firsts[number] the first text with a number. `table` is the hash table, a power
    of two of at least twice as many entries as texts.
    """

    cdef readonly object numbers
    cdef readonly object firsts
    cdef readonly object table
    cdef const uint8_t[::1] data
    cdef const int64_t[::1] starts
    cdef const int64_t[::1] stops

    def __cinit__(
        self, const uint8_t[::1] data not None, const int64_t[::1] starts not None, const int64_t[::1] stops not None
    ):
        cdef Py_ssize_t n = starts.shape[0]
        cdef Py_ssize_t size = 32
        cdef Py_ssize_t n_found
        cdef Texts64 texts
        check_texts(starts, stops, 0, n, data.shape[0])
        while size < 2 * n:
            size *= 2
        self.data, self.starts, self.stops = data, starts, stops
        self.numbers, self.table, firsts = np.empty(n, np.int64), np.zeros(size, np.uint64), np.empty(n, np.int64)
        cdef int64_t[::1] own_numbers = self.numbers
        cdef int64_t[::1] own_firsts = firsts
        cdef uint64_t[::1] own_table = self.table
        texts = self.texts()
        with nogil:
            n_found = fill_numbers(&texts, n, own_table, own_numbers, own_firsts)
        self.firsts = firsts[:n_found]

    cdef Texts64 texts(self) noexcept:
        if self.starts.shape[0] == 0:
            return Texts64(NULL, NULL, NULL)
        return Texts64(bytes_of(self.data), &self.starts[0], &self.stops[0])

    def look_up(
        self, const uint8_t[::1] data, const int64_t[::1] starts, const int64_t[::1] stops
    ) -> NDArray[np.int64]:
        """The numbers of other texts, -1 for a text that has none."""
        cdef Py_ssize_t n = starts.shape[0]
        cdef const int64_t[::1] firsts = self.firsts
        cdef const uint64_t[::1] table = self.table
        cdef Texts64 texts = self.texts()
        cdef Texts64 others
        cdef uint64_t mask = <uint64_t>table.shape[0] - 1
        cdef uint64_t hashed, slot
        cdef Py_ssize_t i
        check_texts(starts, stops, 0, n, data.shape[0])
        found = np.full(n, -1, np.int64)
        cdef int64_t[::1] numbers = found
        if n:
            others = Texts64(bytes_of(data), &starts[0], &stops[0])
        with nogil:
            for i in range(n):
                hashed = hash_key(&others, i)
                slot = hashed & mask
                while table[slot]:
                    if same_hash_half(table[slot], hashed) and same_key(
                            &others, i, &texts, firsts[number_of_entry(table[slot])]):
                        numbers[i] = number_of_entry(table[slot])
                        break
                    slot = (slot + 1) & mask
        return found


def sort_by_query(
    const int64_t[::1] segment_starts, int64_t n_rows, const int64_t[::1] numbers, int64_t[::1] offsets,
    int64_t[::1] order
):
    """A stable counting sort of rows by the number of their segment.

    Segment s has the rows segment_starts[s]..segment_starts[s + 1] (the last one up to n_rows) and the number
    numbers[s]. offsets is one longer than there are numbers; it becomes the first position of each number.
    order[position] is the row at a position.
    """
    cdef Py_ssize_t n_segments = segment_starts.shape[0]
    cdef Py_ssize_t n_numbers = offsets.shape[0] - 1
    cdef Py_ssize_t i
    cdef int64_t row, position, end
    cdef int64_t total = 0
    need_length(b"offsets", offsets.shape[0], 1)
    need_length(b"order", order.shape[0], n_rows)
    need_length(b"numbers", numbers.shape[0], n_segments)
    if n_segments:
        need_below(b"numbers", &numbers[0], n_segments, n_numbers)
        need_offsets(b"segment_starts", &segment_starts[0], n_segments, n_rows)
    with nogil:
        offsets[:] = 0
        for i in range(n_segments):
            end = segment_starts[i + 1] if i + 1 < n_segments else n_rows
            offsets[numbers[i]] += end - segment_starts[i]
        for i in range(n_numbers):
            position = offsets[i]
            offsets[i] = total
            total += position
        for i in range(n_segments):
            end = segment_starts[i + 1] if i + 1 < n_segments else n_rows
            position = offsets[numbers[i]]
            for row in range(segment_starts[i], end):
                order[position] = row
                position += 1
            offsets[numbers[i]] = position
        # The cursors are now at the ends, which are the starts of the next numbers.
        for i in range(n_numbers, 0, -1):
            offsets[i] = offsets[i - 1]
        offsets[0] = 0


# --------------------------------------------------------------------------------------------------------- joining


cdef struct ListOutput:
    # The relevances, and the results of the join for one list.
    const double* relevance
    double* unretrieved
    int64_t n_unretrieved
    int64_t repeated_run
    int64_t repeated_judged


cdef inline uint64_t clear_table(uint64_t* table, int64_t n_keys) noexcept nogil:
    """Clear as many entries as the keys need; return the mask."""
    cdef uint64_t size = LEAST_TABLE
    cdef uint64_t wanted = <uint64_t>n_keys * (4 if n_keys < MANY_KEYS else 2)
    while size < wanted:
        size *= 2
    # While the table is in the first-level cache, twice the size costs less than a mispredicted branch at a used entry.
    if size <= SMALL_TABLE:
        size *= 2
    memset(table, 0, size * sizeof(uint64_t))
    return size - 1


cdef inline void join_list(
    const keys_t* run, const keys_t* judged, const int64_t* span, uint64_t* table, grade_t* grades, ListOutput* out
) noexcept nogil:
    cdef int64_t first = span[RUN_START]
    cdef int64_t n_run = span[RUN_STOP] - first
    cdef int64_t first_judged = span[JUDGED_START]
    cdef int64_t n_judged = span[JUDGED_STOP] - first_judged
    cdef uint64_t mask = clear_table(table, n_run + n_judged)
    cdef uint64_t hashed, slot, entry
    cdef int64_t i, number
    for i in range(n_run):
        hashed = hash_key(run, first + i)
        slot = hashed & mask
        grades[first + i] = -1
        while True:
            entry = table[slot]
            if entry == 0:
                table[slot] = make_entry(hashed, i)
                break
            if same_hash_half(entry, hashed) and same_key(run, first + i, run, first + number_of_entry(entry)):
                if out.repeated_run < 0:
                    out.repeated_run = first + i
                break
            slot = (slot + 1) & mask
    for i in range(n_judged):
        hashed = hash_key(judged, first_judged + i)
        slot = hashed & mask
        while True:
            entry = table[slot]
            if entry == 0:
                out.unretrieved[out.n_unretrieved] = out.relevance[first_judged + i]
                out.n_unretrieved += 1
                table[slot] = make_entry(hashed, n_run + i)
                break
            if same_hash_half(entry, hashed):
                number = number_of_entry(entry)
                if number < n_run:
                    if same_key(judged, first_judged + i, run, first + number):
                        grades[first + number] = <grade_t>out.relevance[first_judged + i]
                        # The entry now stands for the judged item, so that a second one is found as repeated.
                        table[slot] = make_entry(hashed, n_run + i)
                        break
                elif same_key(judged, first_judged + i, judged, first_judged + number - n_run):
                    if out.repeated_judged < 0:
                        out.repeated_judged = first_judged + i
                    break
            slot = (slot + 1) & mask


cdef enum ItemKind:
    INTEGERS
    SHORT_POSITIONS              # texts with positions of 32 bits
    LONG_POSITIONS


cdef class ItemColumn:
    """The items of rows: int64 (of unsigned integers the bits), or texts data[starts[i]:stops[i]] (int32 or int64)."""

    cdef readonly Py_ssize_t n_rows
    cdef ItemKind kind
    cdef list kept
    cdef Integers integers
    cdef Texts32 texts32
    cdef Texts64 texts64

    def __cinit__(self, values, starts=None, stops=None):
        cdef const int64_t[::1] integers
        cdef const uint8_t[::1] data
        cdef const int32_t[::1] starts32, stops32
        cdef const int64_t[::1] starts64, stops64
        self.kept = [values, starts, stops]
        if starts is None:
            integers = values
            self.kind, self.n_rows = INTEGERS, integers.shape[0]
            if self.n_rows:
                self.integers.values = &integers[0]
            return
        data = values
        self.n_rows = len(starts)
        if starts.dtype == np.int32:
            starts32, stops32 = starts, stops
            check_texts(starts32, stops32, 0, self.n_rows, data.shape[0])
            self.kind = SHORT_POSITIONS
            if self.n_rows:
                self.texts32 = Texts32(bytes_of(data), &starts32[0], &stops32[0])
        else:
            starts64, stops64 = starts, stops
            check_texts(starts64, stops64, 0, self.n_rows, data.shape[0])
            self.kind = LONG_POSITIONS
            if self.n_rows:
                self.texts64 = Texts64(bytes_of(data), &starts64[0], &stops64[0])


cdef bint join_lists(
    const keys_t* run, const keys_t* judged, const double* relevance, const int64_t[:, ::1] spans,
    const int64_t[::1] unretrieved_starts, Py_ssize_t start, Py_ssize_t stop, uint64_t* table, grade_t* grades,
    double* unretrieved, int64_t[::1] n_unretrieved, int64_t[:, ::1] repeated
) noexcept nogil:
    """Join the lists start..stop, as `join` describes."""
    cdef ListOutput out
    cdef Py_ssize_t i
    cdef bint has_repeated = False
    out.relevance = relevance
    for i in range(start, stop):
        out.unretrieved = unretrieved + unretrieved_starts[i] if unretrieved else NULL
        out.n_unretrieved = 0
        out.repeated_run = -1
        out.repeated_judged = -1
        join_list(run, judged, &spans[i, 0], table, grades, &out)
        n_unretrieved[i] = out.n_unretrieved
        repeated[i, 0] = out.repeated_run
        repeated[i, 1] = out.repeated_judged
        has_repeated |= out.repeated_run >= 0 or out.repeated_judged >= 0
    return has_repeated


cdef int64_t longest_list(
    const int64_t[:, ::1] spans, const int64_t[::1] unretrieved_starts, Py_ssize_t start, Py_ssize_t stop,
    int64_t n_run, int64_t n_judged, int64_t n_unretrieved
) noexcept nogil:
    """The most rows of a list, run and judged together; -1 if a list has rows that are none of the columns'."""
    cdef Py_ssize_t i
    cdef int64_t longest = 0
    for i in range(start, stop):
        if not (0 <= spans[i, RUN_START] <= spans[i, RUN_STOP] <= n_run
                and 0 <= spans[i, JUDGED_START] <= spans[i, JUDGED_STOP] <= n_judged
                and 0 <= unretrieved_starts[i] <= n_unretrieved - (spans[i, JUDGED_STOP] - spans[i, JUDGED_START])):
            return -1
        longest = max(
            longest, spans[i, RUN_STOP] - spans[i, RUN_START] + spans[i, JUDGED_STOP] - spans[i, JUDGED_START])
    return longest


def join(
    ItemColumn run not None, ItemColumn judged not None, const double[::1] relevance, const int64_t[:, ::1] spans,
    const int64_t[::1] unretrieved_starts, Py_ssize_t start, Py_ssize_t stop, grade_t[::1] grades,
    double[::1] unretrieved, int64_t[::1] n_unretrieved, int64_t[:, ::1] repeated
) -> bool:
    """Join the lists start..stop; return whether an item occurs twice in one of them.

    - List l has the rows spans[l, 0]..spans[l, 1] of the run and the judged rows spans[l, 2]..spans[l, 3].
    - grades gets the relevance of every row of the run, or -1 if the item is not judged. It may be float if float
      represents every relevance.
    - The relevances of judged items that the run does not have are written to unretrieved[unretrieved_starts[l]:],
      which has room for all judged rows of the list. n_unretrieved[l] is their number.
    - repeated[l] is the first row of the run, and the first judged row, whose item occurred before in the list; else
      -1.
    """
    cdef bint has_repeated
    cdef int64_t longest
    cdef uint64_t size = 2 * SMALL_TABLE
    cdef const double* relevances = &relevance[0] if relevance.shape[0] else NULL
    cdef grade_t* run_grades = &grades[0] if grades.shape[0] else NULL
    cdef double* others = &unretrieved[0] if unretrieved.shape[0] else NULL
    need_range(start, stop, spans.shape[0])
    if start == stop:
        return False
    need_length(b"grades", grades.shape[0], run.n_rows)
    need_length(b"relevance", relevance.shape[0], judged.n_rows)
    need_length(b"results", min(unretrieved_starts.shape[0], n_unretrieved.shape[0], repeated.shape[0]), stop)
    if spans.shape[1] != 4 or repeated.shape[1] != 2 or run.kind != judged.kind:
        raise ValueError("lists have two spans and two repeated rows, and the items of both sides one type")
    longest = longest_list(
        spans, unretrieved_starts, start, stop, run.n_rows, judged.n_rows, unretrieved.shape[0])
    if longest < 0:
        raise ValueError("a list has rows that a column has not")
    # As many entries as the longest list needs: clear_table takes fewer for each key from MANY_KEYS on.
    while size < 4 * <uint64_t>min(longest, <int64_t>MANY_KEYS) or size < 2 * <uint64_t>longest:
        size *= 2
    cdef uint64_t* table = <uint64_t*>malloc(size * sizeof(uint64_t))
    if table == NULL:
        raise MemoryError
    with nogil:
        if run.kind == INTEGERS:
            has_repeated = join_lists(
                &run.integers, &judged.integers, relevances, spans, unretrieved_starts, start, stop, table, run_grades,
                others, n_unretrieved, repeated)
        elif run.kind == SHORT_POSITIONS:
            has_repeated = join_lists(
                &run.texts32, &judged.texts32, relevances, spans, unretrieved_starts, start, stop, table, run_grades,
                others, n_unretrieved, repeated)
        else:
            has_repeated = join_lists(
                &run.texts64, &judged.texts64, relevances, spans, unretrieved_starts, start, stop, table, run_grades,
                others, n_unretrieved, repeated)
        free(table)
    return has_repeated


def close_gaps(
    const double[::1] values, const int64_t[::1] starts, const int64_t[::1] offsets, double[::1] out
):
    """Copy the values of lists to `out` without gaps: from values[starts[l]:] to out[offsets[l]:offsets[l + 1]]."""
    cdef Py_ssize_t i, n
    cdef int64_t k
    need_length(b"offsets", offsets.shape[0], starts.shape[0] + 1)
    need_offsets(b"offsets", &offsets[0], starts.shape[0] + 1, out.shape[0])
    for i in range(starts.shape[0]):
        if not 0 <= starts[i] <= values.shape[0] - (offsets[i + 1] - offsets[i]):
            raise ValueError(f"list {i} has values that are not there")
    with nogil:
        for i in range(starts.shape[0]):
            n = offsets[i + 1] - offsets[i]
            for k in range(n):
                out[offsets[i] + k] = values[starts[i] + k]


# ------------------------------------------------------------------------------------------------- log and truth

cdef inline Py_ssize_t find_slot(
    const uint32_t* table, uint64_t mask, const uint32_t* first, const int64_t* items, uint32_t number, int64_t item
) noexcept nogil:
    """The slot of the row with these numbers, or the free slot where it belongs."""
    cdef uint64_t slot = table_hash_pair(<uint64_t>item, number) & mask
    while table[slot] and not (first[table[slot] - 1] == number and items[table[slot] - 1] == item):
        slot = (slot + 1) & mask
    return <Py_ssize_t>slot


cdef struct Join:
    Py_ssize_t n_rows
    uint64_t mask
    const uint32_t* groups        # of every row
    const uint32_t* lists
    const int64_t* items
    const uint8_t* is_truth
    const double* grades
    uint32_t* judged              # the table of the truth
    uint32_t* shown               # the table of the log


cdef Py_ssize_t fill_tables(Join* join, int64_t* truth_counts, int64_t* row_counts) noexcept nogil:
    """Fill both tables, and count rows by group and by list. Returns the first row that is there twice, or -1."""
    cdef Py_ssize_t row, slot
    memset(join.judged, 0, 2 * (join.mask + 1) * sizeof(uint32_t))
    for row in range(join.n_rows):
        if join.is_truth[row]:
            slot = find_slot(join.judged, join.mask, join.groups, join.items, join.groups[row], join.items[row])
            if join.judged[slot]:
                return row
            join.judged[slot] = <uint32_t>(row + 1)
            truth_counts[join.groups[row]] += 1
        else:
            slot = find_slot(join.shown, join.mask, join.lists, join.items, join.lists[row], join.items[row])
            if join.shown[slot]:
                return row
            join.shown[slot] = <uint32_t>(row + 1)
            row_counts[join.lists[row]] += 1
    return -1


cdef void grade_rows(
    Join* join, double unjudged, int64_t* cursors, int64_t* order, double* grades, int64_t* truth_cursors,
    int64_t* truth_rows
) noexcept nogil:
    """Bring the log's rows of every list together, with their grades, and the truth's rows of every group."""
    cdef Py_ssize_t row, slot, place
    for row in range(join.n_rows):
        if join.is_truth[row]:
            truth_rows[truth_cursors[join.groups[row]]] = row
            truth_cursors[join.groups[row]] += 1
        else:
            place = cursors[join.lists[row]]
            cursors[join.lists[row]] += 1
            slot = find_slot(join.judged, join.mask, join.groups, join.items, join.groups[row], join.items[row])
            order[place] = row
            grades[place] = join.grades[<Py_ssize_t>join.judged[slot] - 1] if join.judged[slot] else unjudged


cdef int64_t find_unretrieved(
    Join* join, uint32_t list_number, const int64_t* truth_rows, int64_t n_rows, double* out
) noexcept nogil:
    """Write the grades of those of a group's items that a list does not show; return their number."""
    cdef int64_t i
    cdef int64_t n = 0
    for i in range(n_rows):
        if not join.shown[find_slot(
                join.shown, join.mask, join.lists, join.items, list_number, join.items[truth_rows[i]])]:
            out[n] = join.grades[truth_rows[i]]
            n += 1
    return n


cdef object starts_of(object counts):
    """Where segments of these lengths start, and the end of the last one."""
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def join_truth(
    groups, lists, const int64_t[::1] items, is_truth, const double[::1] grades, Py_ssize_t n_groups,
    Py_ssize_t n_lists, double unjudged
) -> tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(twice, kept, order, truth_rows, offsets, grades, unretrieved, unretrieved_offsets), see below.

    Rows have a group below n_groups and a list below n_lists; all rows of a list are of one group. `kept` are the lists
    with a row of the log, in order. The rows order[offsets[i]..offsets[i + 1]] are those of list kept[i], in their
    order, with their grades; a row that the truth lacks has the grade `unjudged`. The grades
    unretrieved[unretrieved_offsets[i]..unretrieved_offsets[i + 1]] are those of the items of its group that it lacks;
    all its items of the truth are truth_rows[i].

    `twice` is -1, or the first row whose item an earlier row of its table has in the same group or list; then no other
    result is valid. There are 1 to 2**29 - 1 rows.
    """
    cdef Join join
    cdef Py_ssize_t i, twice
    cdef Py_ssize_t n = items.shape[0]
    cdef Py_ssize_t size = 64
    cdef int64_t n_unretrieved = 0
    while size < 2 * n:
        size *= 2
    # What is checked is what is used: numbers that say where to read and to write are copied.
    numbers, marks, tables = np.array([groups, lists], np.uint32), np.array(is_truth, "u1"), np.empty(2 * size, "u4")
    need_length(b"rows", 0 if n >= 1 << 29 else n, 1)
    need_length(b"grades", grades.shape[0], n)
    join.n_rows, join.mask, join.groups = n, <uint64_t>(size - 1), <uint32_t*>memory_of(numbers, 2 * n, 4)
    join.lists = join.groups + n
    join.items, join.grades = &items[0], &grades[0]
    join.is_truth = <uint8_t*>memory_of(marks, n, 1)
    join.judged = <uint32_t*>memory_of(tables, 2 * size, 4)
    join.shown = join.judged + size
    need_below(b"groups", join.groups, n, n_groups)
    need_below(b"lists", join.lists, n, n_lists)
    truth_counts, row_counts = np.zeros(n_groups, np.int64), np.zeros(n_lists, np.int64)
    cdef int64_t* truth_cursors = <int64_t*>memory_of(truth_counts, n_groups, 8)
    cdef int64_t* cursors = <int64_t*>memory_of(row_counts, n_lists, 8)
    with nogil:
        twice = fill_tables(&join, truth_cursors, cursors)
    kept = np.flatnonzero(row_counts)
    group_of_list = np.zeros(n_lists, np.int64)
    group_of_list[numbers[1]] = numbers[0]
    list_groups = group_of_list[kept]
    of_kept = truth_counts[list_groups]
    offsets, starts, truth_starts = starts_of(row_counts[kept]), starts_of(row_counts), starts_of(truth_counts)
    order, truth_rows, first_rows = np.empty(n, np.int64), np.empty(n, np.int64), truth_starts[list_groups]
    graded, unretrieved, ends = np.empty(n), np.empty(int(of_kept.sum())), np.zeros(len(kept) + 1, np.int64)
    cdef Py_ssize_t n_kept = kept.shape[0]
    cdef int64_t* first = <int64_t*>memory_of(first_rows, n_kept, 8)
    cdef int64_t* lengths = <int64_t*>memory_of(of_kept, n_kept, 8)
    cdef int64_t* kept_lists = <int64_t*>memory_of(kept, n_kept, 8)
    cdef int64_t* rows = <int64_t*>memory_of(truth_rows, n, 8)
    cdef int64_t* order_out = <int64_t*>memory_of(order, n, 8)
    cdef int64_t* ends_out = <int64_t*>memory_of(ends, n_kept + 1, 8)
    cdef double* grades_out = <double*>memory_of(graded, n, 8)
    cdef double* unretrieved_out = <double*>memory_of(unretrieved, 0, 8)
    cursors = <int64_t*>memory_of(starts, n_lists, 8)
    truth_cursors = <int64_t*>memory_of(truth_starts, n_groups, 8)
    with nogil:
        if twice < 0:
            grade_rows(&join, unjudged, cursors, order_out, grades_out, truth_cursors, rows)
            for i in range(n_kept):
                n_unretrieved += find_unretrieved(
                    &join, <uint32_t>kept_lists[i], rows + first[i], lengths[i], unretrieved_out + n_unretrieved)
                ends_out[i + 1] = n_unretrieved
    return twice, kept, order[: offsets[-1]], of_kept, offsets, graded[: offsets[-1]], unretrieved[:n_unretrieved], ends
