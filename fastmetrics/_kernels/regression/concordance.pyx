"""Discordant pairs of rows, counted by merge sort. The scores of a discordant pair are ordered against its targets.

Rows come in ascending order of (target, score). A merge sort of the scores then moves each score past the larger scores
before it. Each such move is one discordant pair (W. R. Knight, 1966, A computer method for calculating Kendall's tau).
Scores are keys: unsigned integers with the order of the scores.

With weights, a pair counts as the product of the weights of its two rows. A weight is an integer of one or two words
(uint64, least significant first; the columns of an array). A sum of weights has one word more. A count has COUNT_WORDS
words, as many as two sums together. Without weights, a count is an integer below 2**64.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from fastmetrics._kernels.numeric.length_checks cimport need_length, need_range


ctypedef fused key_t:
    uint32_t
    uint64_t

cdef enum:
    FIRST_RUN_ROWS = 8          # the first runs; sorted without merging
    FEW_ROWS = 64               # up to here, rows of different targets are sorted by insertion
    MANY_ROWS = 1 << 16         # up to here, rows of one target are merge sorted; the caller sorts longer ranges
    WEIGHT_LIMIT = 2
    SUM_LIMIT = 3
    COUNT_LIMIT = 6

COUNT_WORDS = COUNT_LIMIT
SCRATCH_ROWS = MANY_ROWS

cdef extern from *:
    """
    #include <stdint.h>
    /* The low word of a * b + c + carry, whose high word is the next carry. */
    static inline uint64_t fm_multiply_add(uint64_t a, uint64_t b, uint64_t c, uint64_t* carry) {
    #if defined(__SIZEOF_INT128__)
        __uint128_t sum = (__uint128_t)a * b + c + *carry;
        *carry = (uint64_t)(sum >> 64);
        return (uint64_t)sum;
    #else
        uint64_t a_low = a & 0xFFFFFFFFu, a_high = a >> 32, b_low = b & 0xFFFFFFFFu, b_high = b >> 32;
        uint64_t low = a_low * b_low, middle = a_high * b_low + (low >> 32);
        uint64_t other = a_low * b_high + (middle & 0xFFFFFFFFu);
        uint64_t high = a_high * b_high + (middle >> 32) + (other >> 32);
        low = (other << 32) | (low & 0xFFFFFFFFu);
        low += c;
        high += low < c;
        low += *carry;
        high += low < *carry;
        *carry = high;
        return low;
    #endif
    }
    """
    uint64_t multiply_add "fm_multiply_add"(uint64_t a, uint64_t b, uint64_t c, uint64_t* carry) noexcept nogil


cdef void add_product(
    uint64_t* count, const uint64_t* one, int n_one, const uint64_t* other, int n_other
) noexcept nogil:
    cdef int i, j
    cdef uint64_t carry
    for i in range(n_one):
        carry = 0
        for j in range(n_other):
            count[i + j] = multiply_add(one[i], other[j], count[i + j], &carry)
        j = i + n_other
        while carry and j < COUNT_LIMIT:
            count[j] += carry
            carry = count[j] < carry
            j += 1


cdef inline void add_weight(uint64_t* total, const uint64_t* weight, int n_words) noexcept nogil:
    cdef uint64_t carry = 0
    cdef int i
    for i in range(n_words):
        total[i] = multiply_add(weight[i], 1, total[i], &carry)
    total[n_words] += carry


cdef inline void subtract_weight(uint64_t* total, const uint64_t* weight, int n_words) noexcept nogil:
    cdef uint64_t borrow = 0
    cdef uint64_t before
    cdef int i
    for i in range(n_words):
        before = total[i]
        total[i] = before - weight[i] - borrow
        borrow = before < weight[i] or (borrow and before == weight[i])
    total[n_words] -= borrow


cdef inline void clear_sum(uint64_t* total) noexcept nogil:
    cdef int i
    for i in range(SUM_LIMIT):
        total[i] = 0


cdef inline void sort_first_run(key_t* keys, uint64_t* count) noexcept nogil:
    """Sort FIRST_RUN_ROWS keys: the rank of a key is the number of keys before it. No branch depends on the keys."""
    cdef key_t unsorted[FIRST_RUN_ROWS]
    cdef uint32_t ranks[FIRST_RUN_ROWS]
    cdef uint32_t n_passed = 0
    cdef uint32_t discordant
    cdef int i, j
    for i in range(FIRST_RUN_ROWS):
        unsorted[i] = keys[i]
        ranks[i] = 0
    for i in range(1, FIRST_RUN_ROWS):
        for j in range(i):
            discordant = unsorted[j] > unsorted[i]
            ranks[j] += discordant
            ranks[i] += 1 - discordant
            n_passed += discordant
    for i in range(FIRST_RUN_ROWS):
        keys[ranks[i]] = unsorted[i]
    count[0] += n_passed


cdef void sort_by_insertion(
    key_t* keys, uint64_t* weights, int n_words, Py_ssize_t n, uint64_t* count
) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef int word
    cdef key_t key
    cdef uint64_t weight[WEIGHT_LIMIT]
    cdef uint64_t n_passed[SUM_LIMIT]
    for i in range(1, n):
        key = keys[i]
        j = i
        if n_words == 0:
            while j > 0 and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                j -= 1
            count[0] += <uint64_t>(i - j)
        elif keys[i - 1] > key:
            memcpy(weight, weights + i * n_words, n_words * sizeof(uint64_t))
            clear_sum(n_passed)
            while j > 0 and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                for word in range(n_words):
                    weights[j * n_words + word] = weights[(j - 1) * n_words + word]
                add_weight(n_passed, weights + j * n_words, n_words)
                j -= 1
            memcpy(weights + j * n_words, weight, n_words * sizeof(uint64_t))
            add_product(count, weight, n_words, n_passed, n_words + 1)
        keys[j] = key


cdef inline uint64_t merge_halves(const key_t* keys, Py_ssize_t half, key_t* out) noexcept nogil:
    """Merge two sorted runs of equal length from both ends at once, as two independent chains of instructions.

    The front counts, for each key of the right run, the keys of the left run that are not merged yet. The back counts,
    for each key of the left run, the keys of the right run. The pairs counted by both are subtracted at the end.
    """
    cdef Py_ssize_t left = 0
    cdef Py_ssize_t right = half
    cdef Py_ssize_t last_left = half - 1
    cdef Py_ssize_t last_right = 2 * half - 1
    cdef Py_ssize_t i
    cdef key_t left_key, right_key
    cdef Py_ssize_t from_right, from_left
    cdef uint64_t front = 0
    cdef uint64_t back = 0
    for i in range(half):
        left_key = keys[left]
        right_key = keys[right]
        from_right = right_key < left_key
        out[i] = right_key if from_right else left_key
        front += <uint64_t>((half - left) & -from_right)
        right += from_right
        left += 1 - from_right
        left_key = keys[last_left]
        right_key = keys[last_right]
        from_left = left_key > right_key
        out[2 * half - 1 - i] = left_key if from_left else right_key
        back += <uint64_t>((last_right - half + 1) & -from_left)
        last_left -= from_left
        last_right -= 1 - from_left
    return front + back - <uint64_t>(half - left) * <uint64_t>(right - half)


cdef void merge_runs(
    const key_t* keys, const uint64_t* weights, int n_words, Py_ssize_t n_left, Py_ssize_t n, key_t* out,
    uint64_t* out_weights, uint64_t* count
) noexcept nogil:
    """Merge the sorted runs [0, n_left) and [n_left, n). If keys are equal, those of the left run come first."""
    cdef Py_ssize_t left = 0
    cdef Py_ssize_t right = n_left
    cdef Py_ssize_t out_row = 0
    cdef Py_ssize_t i
    cdef int word
    cdef key_t left_key, right_key
    cdef bint from_right
    cdef uint64_t pairs = 0
    cdef uint64_t left_weight[SUM_LIMIT]
    if n_left == n or keys[n_left - 1] <= keys[n_left]:
        memcpy(out, keys, n * sizeof(key_t))
        memcpy(out_weights, weights, n * n_words * sizeof(uint64_t))
        return
    if n_words == 0 and 2 * n_left == n:
        count[0] += merge_halves[key_t](keys, n_left, out)
        return
    if n_words == 0:
        while left < n_left and right < n:
            left_key = keys[left]
            right_key = keys[right]
            from_right = right_key < left_key
            out[out_row] = right_key if from_right else left_key
            pairs += <uint64_t>(n_left - left) & (0 - <uint64_t>from_right)
            right += from_right
            left += not from_right
            out_row += 1
        count[0] += pairs
    else:
        clear_sum(left_weight)
        for i in range(n_left):
            add_weight(left_weight, weights + i * n_words, n_words)
        while left < n_left and right < n:
            from_right = keys[right] < keys[left]
            i = right if from_right else left
            out[out_row] = keys[i]
            for word in range(n_words):
                out_weights[out_row * n_words + word] = weights[i * n_words + word]
            if from_right:
                add_product(count, weights + i * n_words, n_words, left_weight, n_words + 1)
                right += 1
            else:
                subtract_weight(left_weight, weights + i * n_words, n_words)
                left += 1
            out_row += 1
    memcpy(out + out_row, keys + left, (n_left - left) * sizeof(key_t))
    memcpy(out_weights + out_row * n_words, weights + left * n_words, (n_left - left) * n_words * sizeof(uint64_t))
    out_row += n_left - left
    memcpy(out + out_row, keys + right, (n - right) * sizeof(key_t))
    memcpy(out_weights + out_row * n_words, weights + right * n_words, (n - right) * n_words * sizeof(uint64_t))


cdef void sort_counting(
    key_t* keys, uint64_t* weights, int n_words, Py_ssize_t n, key_t* scratch, uint64_t* weight_scratch, uint64_t* count
) noexcept nogil:
    """Sort in place and count the discordant pairs."""
    cdef Py_ssize_t run = FIRST_RUN_ROWS
    cdef Py_ssize_t start = 0
    cdef key_t* source = keys
    cdef key_t* target = scratch
    cdef key_t* swap
    cdef uint64_t* source_weights = weights
    cdef uint64_t* target_weights = weight_scratch
    cdef uint64_t* swap_weights
    while start < n:
        if n_words == 0 and n - start >= FIRST_RUN_ROWS:
            sort_first_run[key_t](keys + start, count)
        else:
            sort_by_insertion[key_t](
                keys + start, weights + start * n_words, n_words, run if n - start > run else n - start, count)
        start += run
    while run < n:
        start = 0
        while start < n:
            merge_runs[key_t](
                source + start, source_weights + start * n_words, n_words, run if n - start > run else n - start,
                2 * run if n - start > 2 * run else n - start, target + start, target_weights + start * n_words, count)
            start += 2 * run
        swap = source
        source = target
        target = swap
        swap_weights = source_weights
        source_weights = target_weights
        target_weights = swap_weights
        run *= 2
    if source != keys:
        memcpy(keys, source, n * sizeof(key_t))
        memcpy(weights, source_weights, n * n_words * sizeof(uint64_t))


cdef int check_weights(Py_ssize_t rows_found, Py_ssize_t words_found, Py_ssize_t rows, int n_words) except -1:
    """Raise ValueError unless there are weights of so many words for every row."""
    if rows_found < rows or words_found != n_words or not 1 <= n_words <= WEIGHT_LIMIT:
        raise ValueError(f"{rows_found} weights of {words_found} words, and not of {n_words} for {rows} rows")
    return 0


cdef bint are_rows(
    const uint64_t[::1] packed, uint64_t mask, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t rows
) noexcept nogil:
    cdef Py_ssize_t i
    cdef bint found = True
    for i in range(start, stop):
        found &= (packed[i] & mask) < <uint64_t>rows
    return found


def count_discordant(
    key_t[::1] keys, uint64_t[:, ::1] weights or None, Py_ssize_t start, Py_ssize_t stop, key_t[::1] scratch,
    uint64_t[:, ::1] weight_scratch or None, uint64_t[::1] count
):
    """Sort rows start..stop in out_row; add their discordant pairs to count. Each scratch array has as many rows."""
    cdef int n_words = 0 if weights is None else <int>weights.shape[1]
    cdef uint64_t none = 0
    cdef uint64_t* first_weight = &none
    cdef uint64_t* first_scratch = &none
    need_range(start, stop, keys.shape[0])
    need_length(b"scratch", scratch.shape[0], stop - start)
    need_length(b"count", count.shape[0], COUNT_LIMIT)
    if weights is not None and weight_scratch is None:
        raise ValueError("weights need working memory")
    if weights is not None:
        check_weights(weights.shape[0], weights.shape[1], stop, n_words)
        check_weights(weight_scratch.shape[0], weight_scratch.shape[1], stop - start, n_words)
    if start == stop:
        return
    if weights is not None:
        first_weight, first_scratch = &weights[start, 0], &weight_scratch[0, 0]
    with nogil:
        sort_counting[key_t](&keys[start], first_weight, n_words, stop - start, &scratch[0], first_scratch, &count[0])


def merge_discordant(
    const key_t[::1] keys, const uint64_t[:, ::1] weights or None, Py_ssize_t start, Py_ssize_t middle, Py_ssize_t stop,
    key_t[::1] out, uint64_t[:, ::1] out_weights or None, uint64_t[::1] count
):
    """Merge the sorted rows start..middle and middle..stop into the same places of `out`, counting discordant pairs."""
    cdef int n_words = 0 if weights is None else <int>weights.shape[1]
    cdef uint64_t none = 0
    cdef const uint64_t* first_weight = &none
    cdef uint64_t* first_out = &none
    need_range(start, stop, min(keys.shape[0], out.shape[0]))
    need_range(start, middle, stop)
    need_length(b"count", count.shape[0], COUNT_LIMIT)
    if weights is not None and out_weights is None:
        raise ValueError("weights need a place")
    if weights is not None:
        check_weights(weights.shape[0], weights.shape[1], stop, n_words)
        check_weights(out_weights.shape[0], out_weights.shape[1], stop, n_words)
    if start == stop:
        return
    if weights is not None:
        first_weight, first_out = &weights[start, 0], &out_weights[start, 0]
    with nogil:
        merge_runs[key_t](
            &keys[start], first_weight, n_words, middle - start, stop - start, &out[start], first_out, &count[0])


def gather_rows(
    const uint64_t[::1] packed, uint64_t mask, const uint64_t[::1] targets, const uint64_t[::1] scores,
    const uint64_t[:, ::1] weights or None, Py_ssize_t start, Py_ssize_t stop, uint64_t[::1] out_targets,
    uint64_t[::1] out_scores, uint64_t[:, ::1] out_weights or None
):
    """Rows start..stop of the order whose row numbers are packed & mask."""
    cdef Py_ssize_t i, row, word
    cdef Py_ssize_t n_words = 0 if weights is None else weights.shape[1]
    cdef Py_ssize_t n_sources = min(targets.shape[0], scores.shape[0])
    need_range(start, stop, min(packed.shape[0], out_targets.shape[0], out_scores.shape[0]))
    if weights is not None and out_weights is None:
        raise ValueError("weights need a place")
    if weights is not None:
        check_weights(weights.shape[0], weights.shape[1], n_sources, <int>n_words)
        check_weights(out_weights.shape[0], out_weights.shape[1], stop, <int>n_words)
    if not are_rows(packed, mask, start, stop, n_sources):
        raise ValueError(f"a packed row is none of {n_sources}")
    with nogil:
        for i in range(start, stop):
            row = <Py_ssize_t>(packed[i] & mask)
            out_targets[i] = targets[row]
            out_scores[i] = scores[row]
            for word in range(n_words):
                out_weights[i, word] = weights[row, word]


cdef inline bint is_after(uint64_t target, uint64_t score, uint64_t other_target, uint64_t other_score) noexcept nogil:
    return target > other_target or (target == other_target and score > other_score)


cdef void sort_rows_by_insertion(
    uint64_t* targets, uint64_t* scores, uint64_t* weights, int n_words, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef int word
    cdef uint64_t target, score
    cdef uint64_t weight[WEIGHT_LIMIT]
    for i in range(1, n):
        target = targets[i]
        score = scores[i]
        memcpy(weight, weights + i * n_words, n_words * sizeof(uint64_t))
        j = i
        while j > 0 and is_after(targets[j - 1], scores[j - 1], target, score):
            targets[j] = targets[j - 1]
            scores[j] = scores[j - 1]
            for word in range(n_words):
                weights[j * n_words + word] = weights[(j - 1) * n_words + word]
            j -= 1
        targets[j] = target
        scores[j] = score
        memcpy(weights + j * n_words, weight, n_words * sizeof(uint64_t))


def sort_within_prefixes(
    uint64_t[::1] targets, uint64_t[::1] scores, uint64_t[:, ::1] weights or None, int shift, uint64_t[::1] scratch,
    uint64_t[:, ::1] weight_scratch or None, int64_t[:, ::1] unsorted_ranges
) -> int:
    """Sort rows by (target, score). They come sorted by target >> shift, so only rows with equal prefixes are moved.

    The function leaves some long ranges to a faster sort of the caller. It lists them in `unsorted_ranges` as (start,
    stop) and returns how many. `unsorted_ranges` has a row for every FEW_ROWS rows. Each scratch array has SCRATCH_ROWS
    rows, or as many as there are.
    """
    cdef Py_ssize_t n = targets.shape[0]
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t n_unsorted = 0
    cdef Py_ssize_t stop
    cdef uint64_t differ
    cdef uint64_t ignored[COUNT_LIMIT]
    cdef uint64_t none = 0
    cdef int n_words = 0 if weights is None else <int>weights.shape[1]
    cdef uint64_t* first_weight = &none if weights is None else &weights[0, 0]
    cdef uint64_t* first_scratch = &none if weights is None else &weight_scratch[0, 0]
    need_length(b"scores", scores.shape[0], n)
    need_length(b"scratch", scratch.shape[0], min(n, <Py_ssize_t>MANY_ROWS))
    need_length(b"unsorted_ranges", unsorted_ranges.shape[0], n // (FEW_ROWS + 1))
    need_length(b"ends of unsorted_ranges", unsorted_ranges.shape[1], 2)
    if weights is not None:
        need_length(b"weight_scratch", 0 if weight_scratch is None else weight_scratch.shape[0], scratch.shape[0])
        check_weights(weights.shape[0], weights.shape[1], n, n_words)
        need_length(b"words of weight_scratch", weight_scratch.shape[1], n_words)
    if not 0 <= shift < 64:
        raise ValueError(f"a shift by {shift} bits")
    with nogil:
        for stop in range(COUNT_LIMIT):
            ignored[stop] = 0
        while start < n:
            stop = start + 1
            differ = 0
            while stop < n and (targets[stop] ^ targets[start]) >> shift == 0:
                differ |= targets[stop] ^ targets[start]
                stop += 1
            if stop - start > 1:
                if stop - start <= FEW_ROWS:
                    sort_rows_by_insertion(
                        &targets[start], &scores[start], first_weight + start * n_words, n_words, stop - start)
                elif differ or stop - start > MANY_ROWS:
                    unsorted_ranges[n_unsorted, 0] = start
                    unsorted_ranges[n_unsorted, 1] = stop
                    n_unsorted += 1
                else:
                    sort_counting[uint64_t](
                        &scores[start], first_weight + start * n_words, n_words, stop - start, &scratch[0],
                        first_scratch, ignored)
            start = stop
    return n_unsorted


def add_tie_squares(
    const key_t[::1] keys, const key_t[::1] others or None, const uint64_t[:, ::1] weights or None, uint64_t[::1] count
):
    """Add the squared weight of every run of rows with equal keys, and equal others unless these are None."""
    cdef Py_ssize_t n = keys.shape[0]
    cdef Py_ssize_t i
    cdef bint ends
    cdef int n_words = 1 if weights is None else <int>weights.shape[1]
    cdef uint64_t total[SUM_LIMIT]
    need_length(b"count", count.shape[0], COUNT_LIMIT)
    if others is not None:
        need_length(b"others", others.shape[0], n)
    if weights is not None:
        check_weights(weights.shape[0], weights.shape[1], n, n_words)
    with nogil:
        clear_sum(total)
        for i in range(n):
            if weights is None:
                total[0] += 1
            else:
                add_weight(total, &weights[i, 0], n_words)
            ends = i + 1 == n or keys[i + 1] != keys[i]
            if not ends and others is not None:
                ends = others[i + 1] != others[i]
            if ends:
                add_product(&count[0], total, n_words + 1, total, n_words + 1)
                clear_sum(total)
