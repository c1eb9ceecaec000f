"""The tie-aware rank sum of one class against the other, in cache.

Given the keys of the rarer class ("few") and of the other ("many"), we need, summed over the many,

    2 * (how many few are greater) + (how many few are equal)

which is twice the number of pairs won (ties count one half), an integer. Nothing has to be sorted but the few. The
range [min, max] of the few is cut into a power of two of equal cells, about sixteen to one key. A cell's entry holds
twice the number of few in the cells above it, and a flag: does the cell itself hold any few? For a key of the many, one
look-up gives its count; only when the flag is up (a rare case by construction) the key is put aside and found among the
few of its cell by binary search. When the range is narrow enough that a cell holds a single key value, the ties enter
the table too and no key is ever put aside: heavily tied scores are the fastest case, not the slowest.

Layout: cells[0] is for keys below the least of the few, cells[n_cells + 1] for keys above the greatest. An entry is
(doubled count << 1) | flag in 32 bits, so at most 2**29 few: callers with more pass them in portions, whose counts add
up.

Overflow: counts are uint64. A call for `n` many adds at most 2 * n_few * n, so callers keep n_few * n below 2**62 per
call (slices of a block do so) and carry between calls in 128 bits.
"""

from libc.stdint cimport uint32_t, uint64_t

ctypedef fused key_t:
    uint32_t
    uint64_t

cdef enum:
    SMALL_SORT = 24       # insertion sort up to here
    FIRST_RUN = 12        # then runs that are merged, up to here:
    MERGE_SORT = 96
    CELLS_PER_KEY = 16
    MIN_CELLS = 64
    MAX_CELLS = 65536     # 256 KiB of entries: second-level cache everywhere
    CONFLICTS = 1024      # keys put aside before they are looked up


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
    """Sorted runs, merged without branches that the keys decide."""
    cdef Py_ssize_t width = FIRST_RUN
    cdef Py_ssize_t start, middle, stop, i, j, out
    cdef key_t one, two
    cdef bint lower
    cdef key_t* source = keys
    cdef key_t* target = scratch
    cdef key_t* swap
    start = 0
    while start < n:
        insertion_sort[key_t](keys + start, FIRST_RUN if n - start > FIRST_RUN else n - start)
        start += FIRST_RUN
    while width < n:
        start = 0
        while start < n:
            middle = start + width if start + width < n else n
            stop = middle + width if middle + width < n else n
            i = out = start
            j = middle
            while i < middle and j < stop:
                one = source[i]
                two = source[j]
                lower = one <= two
                target[out] = one if lower else two
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
    """Ascending, in place. `scratch` has room for n.

    Least-significant-digit radix sort over the bytes that differ; few keys are compared instead.
    """
    cdef Py_ssize_t i
    cdef key_t key, first, differing
    cdef key_t* source
    cdef key_t* target
    cdef key_t* swap
    cdef Py_ssize_t counts[256]
    cdef Py_ssize_t total, count
    cdef int digit_shift, digit

    if n <= SMALL_SORT:
        insertion_sort[key_t](keys, n)
        return
    if n <= MERGE_SORT:
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


cdef inline Py_ssize_t count_cells(Py_ssize_t n_few) noexcept nogil:
    """How many cells a table for n_few keys has at most; its buffer needs two entries more."""
    cdef Py_ssize_t n_cells = MIN_CELLS
    while n_cells < CELLS_PER_KEY * n_few and n_cells < MAX_CELLS:
        n_cells *= 2
    return n_cells


cdef inline int build_table(const key_t* few, Py_ssize_t n_few, uint32_t* cells, Py_ssize_t n_cells) noexcept nogil:
    """Fill `cells` (n_cells + 2 entries) from the sorted few (at least one); returns the shift from key to cell."""
    cdef key_t low = few[0]
    cdef key_t span = few[n_few - 1] - low
    cdef int shift = 0
    cdef Py_ssize_t i, cell
    cdef uint32_t above, here

    while (span >> shift) >= <key_t>n_cells:
        shift += 1
    for i in range(n_cells + 2):
        cells[i] = 0
    for i in range(n_few):
        cells[1 + <Py_ssize_t>((few[i] - low) >> shift)] += 1
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


cdef inline uint64_t count_conflicts(
    const key_t* few, Py_ssize_t n_few, const uint32_t* cells, int shift, const key_t* conflicts, Py_ssize_t n
) noexcept nogil:
    """What the keys put aside still lack: the few of their own cell that are greater (twice) or equal (once)."""
    cdef Py_ssize_t i, cell, begin, end, length, half, lower, upper
    cdef key_t key
    cdef key_t low = few[0]
    cdef uint64_t total = 0
    for i in range(n):
        key = conflicts[i]
        cell = 1 + <Py_ssize_t>((key - low) >> shift)
        end = n_few - <Py_ssize_t>(cells[cell] >> 2)
        begin = n_few - <Py_ssize_t>(cells[cell - 1] >> 2)
        lower = begin
        length = end - begin
        while length > 0:
            half = length >> 1
            if few[lower + half] < key:
                lower += half + 1
                length -= half + 1
            else:
                length = half
        upper = lower
        length = end - lower
        while length > 0:
            half = length >> 1
            if few[upper + half] <= key:
                upper += half + 1
                length -= half + 1
            else:
                length = half
        total += <uint64_t>(2 * (end - upper) + (upper - lower))
    return total


cdef inline uint64_t count_above(
    const key_t* few, Py_ssize_t n_few, const uint32_t* cells, Py_ssize_t n_cells, int shift,
    const key_t* many, Py_ssize_t n, key_t* conflicts
) noexcept nogil:
    """Twice the pairs (few, many) with the few greater, plus the ties. `conflicts` has room for CONFLICTS keys."""
    cdef key_t low = few[0]
    cdef key_t high = few[n_few - 1]
    cdef key_t key
    cdef Py_ssize_t i, stop, cell
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t n_conflicts
    cdef uint32_t entry
    cdef uint64_t total = 0
    while start < n:
        stop = start + CONFLICTS
        if stop > n:
            stop = n
        n_conflicts = 0
        for i in range(start, stop):
            key = many[i]
            cell = 1 + <Py_ssize_t>((key - low) >> shift)
            cell = cell if key >= low else 0
            cell = cell if key <= high else n_cells + 1
            entry = cells[cell]
            total += entry >> 1
            conflicts[n_conflicts] = key
            n_conflicts += entry & 1
        if n_conflicts:
            total += count_conflicts(few, n_few, cells, shift, conflicts, n_conflicts)
        start = stop
    return total
