"""The Mann-Whitney count with ties, in cache: how often keys of one class exceed keys of the other.

For the keys of the minority class (fewer rows) and of the majority class, it is the sum over all majority keys of

    2 * (minority keys that are greater) + (minority keys that are equal)

This is twice the number of pairs that the minority wins, where a tie counts one half. It is an integer. Only the
minority keys are sorted. Their range [min, max] is divided into a power of two of equal cells, about sixteen per key.
The entry of a cell holds twice the number of minority keys in the cells above it, and a flag that is set if the cell
itself contains minority keys. For a majority key, one look-up gives its count. Only if the flag is set, which is rare
by construction, the key is appended to `conflicts` and found by binary search among the minority keys of its cell. If
the range is so narrow that a cell is a single key value, ties are in the table as well and there are no conflicts:
heavily tied scores are the fastest case.

Layout: cells[0] is for keys below all minority keys, cells[n_cells + 1] for keys above all of them. An entry is
(doubled count << 1) | flag in 32 bits, so a table holds at most 2**29 minority keys. Callers with more make several
tables and add the counts.

Overflow: counts are uint64. A call with n majority keys adds at most 2 * n_minority * n. Callers keep n_minority * n
below 2**62 per call and add the results of several calls in 128 bits.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from fastmetrics._kernels.columns.ordered_bits cimport score_t, sort_key

ctypedef fused key_t:
    uint32_t
    uint64_t

cdef enum:
    INSERTION_SORT_KEYS = 24    # up to so many keys: insertion sort
    FIRST_RUN_KEYS = 12         # length of the first runs of the merge sort
    MERGE_SORT_KEYS = 96        # up to so many keys: merge sort; above: radix sort
    CELLS_PER_KEY = 16
    MIN_CELLS = 64
    MAX_CELLS = 65536           # 256 KiB of entries, which fits every second-level cache
    CONFLICT_CAPACITY = 1024    # conflicts collected before they are resolved


cdef inline Py_ssize_t write_keys_by_class(
    const uint8_t* labels, const score_t* scores, Py_ssize_t n, key_t* keys, bint* has_nan
) noexcept nogil:
    """Write the keys of negatives from the front, those of positives from the back; return the number of negatives."""
    cdef Py_ssize_t i
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t last = n
    cdef key_t key
    cdef int nan = 0
    for i in range(n):
        nan |= scores[i] != scores[i]
        key = <key_t>sort_key(scores[i])
        if labels[i]:
            last -= 1
            keys[last] = key
        else:
            keys[first] = key
            first += 1
    has_nan[0] = nan != 0
    return first


cdef inline void insertion_sort(key_t* keys, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef key_t key
    for i in range(1, n):
        key = keys[i]
        j = i - 1
        while j >= 0 and keys[j] > key:
            keys[j + 1] = keys[j]
            j -= 1
        keys[j + 1] = key


cdef inline void merge_sort(key_t* keys, Py_ssize_t n, key_t* scratch) noexcept nogil:
    """Merge sort. The merge has no branches that depend on the keys."""
    cdef Py_ssize_t width = FIRST_RUN_KEYS
    cdef Py_ssize_t start, middle, stop, i, j, out
    cdef key_t left_key, right_key
    cdef bint lower
    cdef key_t* source = keys
    cdef key_t* target = scratch
    cdef key_t* swap
    start = 0
    while start < n:
        insertion_sort[key_t](keys + start, FIRST_RUN_KEYS if n - start > FIRST_RUN_KEYS else n - start)
        start += FIRST_RUN_KEYS
    while width < n:
        start = 0
        while start < n:
            middle = start + width if start + width < n else n
            stop = middle + width if middle + width < n else n
            i = out = start
            j = middle
            while i < middle and j < stop:
                left_key = source[i]
                right_key = source[j]
                lower = left_key <= right_key
                target[out] = left_key if lower else right_key
                out += 1
                i += lower
                j += 1 - lower
            while i < middle:
                target[out] = source[i]
                out += 1
                i += 1
            while j < stop:
                target[out] = source[j]
                out += 1
                j += 1
            start = stop
        swap = source
        source = target
        target = swap
        width *= 2
    if source != keys:
        for i in range(n):
            keys[i] = source[i]


cdef inline void sort_keys(key_t* keys, Py_ssize_t n, key_t* scratch) noexcept nogil:
    """Sort ascending, in place. `scratch` has n elements.

    Many keys are sorted by a least-significant-digit radix sort over the bytes that differ, few keys by comparison.
    """
    cdef Py_ssize_t i
    cdef key_t key, first, differing
    cdef key_t* source
    cdef key_t* target
    cdef key_t* swap
    cdef Py_ssize_t counts[256]
    cdef Py_ssize_t total, count
    cdef int digit_shift, digit

    if n <= INSERTION_SORT_KEYS:
        insertion_sort[key_t](keys, n)
        return
    if n <= MERGE_SORT_KEYS:
        merge_sort[key_t](keys, n, scratch)
        return

    first = keys[0]
    differing = 0
    for i in range(1, n):
        differing |= keys[i] ^ first
    source = keys
    target = scratch
    digit_shift = 0
    while digit_shift < <int>(8 * sizeof(key_t)):
        if (differing >> digit_shift) & 255:
            for i in range(256):
                counts[i] = 0
            for i in range(n):
                counts[<Py_ssize_t>((source[i] >> digit_shift) & 255)] += 1
            total = 0
            for i in range(256):
                count = counts[i]
                counts[i] = total
                total += count
            for i in range(n):
                key = source[i]
                digit = <int>((key >> digit_shift) & 255)
                target[counts[digit]] = key
                counts[digit] += 1
            swap = source
            source = target
            target = swap
        digit_shift += 8
    if source != keys:
        for i in range(n):
            keys[i] = source[i]


cdef inline Py_ssize_t n_table_cells(Py_ssize_t n_minority) noexcept nogil:
    """The greatest number of cells of a table for n_minority keys. Its buffer needs two entries more."""
    cdef Py_ssize_t n_cells = MIN_CELLS
    while n_cells < CELLS_PER_KEY * n_minority and n_cells < MAX_CELLS:
        n_cells *= 2
    return n_cells


cdef inline int build_table(
    const key_t* minority, Py_ssize_t n_minority, uint32_t* cells, Py_ssize_t n_cells
) noexcept nogil:
    """Fill `cells` (n_cells + 2 entries) from at least one sorted minority key; return the shift from key to cell."""
    cdef key_t low = minority[0]
    cdef key_t span = minority[n_minority - 1] - low
    cdef int shift = 0
    cdef Py_ssize_t i, cell
    cdef uint32_t above, here

    while (span >> shift) >= <key_t>n_cells:
        shift += 1
    for i in range(n_cells + 2):
        cells[i] = 0
    for i in range(n_minority):
        cells[1 + <Py_ssize_t>((minority[i] - low) >> shift)] += 1
    above = 0
    cell = n_cells + 1
    while cell >= 0:
        here = cells[cell]
        if shift == 0:
            cells[cell] = (2 * above + here) << 1
        else:
            cells[cell] = (above << 2) | (here != 0)
        above += here
        cell -= 1
    return shift


cdef inline Py_ssize_t first_not_below(const key_t* keys, Py_ssize_t start, Py_ssize_t stop, key_t key) noexcept nogil:
    """The first of the ascending keys start..stop that is not less than `key`, or stop."""
    cdef Py_ssize_t half
    cdef Py_ssize_t length = stop - start
    while length > 0:
        half = length >> 1
        if keys[start + half] < key:
            start += half + 1
            length -= half + 1
        else:
            length = half
    return start


cdef inline uint64_t resolve_conflicts(
    const key_t* minority, Py_ssize_t n_minority, const uint32_t* cells, int shift, const key_t* conflicts, Py_ssize_t n
) noexcept nogil:
    """The counts that conflicts still lack: twice the greater and once the equal minority keys of their own cells."""
    cdef Py_ssize_t i, cell, begin, end, length, half, lower, upper
    cdef key_t key
    cdef key_t low = minority[0]
    cdef uint64_t total = 0
    for i in range(n):
        key = conflicts[i]
        cell = 1 + <Py_ssize_t>((key - low) >> shift)
        end = n_minority - <Py_ssize_t>(cells[cell] >> 2)
        begin = n_minority - <Py_ssize_t>(cells[cell - 1] >> 2)
        lower = first_not_below[key_t](minority, begin, end, key)
        upper = lower
        length = end - lower
        while length > 0:
            half = length >> 1
            if minority[upper + half] <= key:
                upper += half + 1
                length -= half + 1
            else:
                length = half
        total += <uint64_t>(2 * (end - upper) + (upper - lower))
    return total


cdef inline uint64_t count_doubled_wins(
    const key_t* minority, Py_ssize_t n_minority, const uint32_t* cells, Py_ssize_t n_cells, int shift,
    const key_t* majority, Py_ssize_t n, key_t* conflicts
) noexcept nogil:
    """Twice the pairs in which the minority key is greater, plus the ties. `conflicts`: CONFLICT_CAPACITY elements."""
    cdef key_t low = minority[0]
    cdef key_t high = minority[n_minority - 1]
    cdef key_t key
    cdef Py_ssize_t i, stop, cell
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t n_conflicts
    cdef uint32_t entry
    cdef uint64_t total = 0
    while start < n:
        stop = start + CONFLICT_CAPACITY
        if stop > n:
            stop = n
        n_conflicts = 0
        for i in range(start, stop):
            key = majority[i]
            cell = 1 + <Py_ssize_t>((key - low) >> shift)
            cell = cell if key >= low else 0
            cell = cell if key <= high else n_cells + 1
            entry = cells[cell]
            total += entry >> 1
            conflicts[n_conflicts] = key
            n_conflicts += entry & 1
        if n_conflicts:
            total += resolve_conflicts(minority, n_minority, cells, shift, conflicts, n_conflicts)
        start = stop
    return total
