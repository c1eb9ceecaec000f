"""Pairs of rows whose scores stand the other way round than their targets, by merging.

Rows come in ascending order of their targets, those of equal targets in ascending order of their scores. Sorting the
scores by merging then moves a score past all those that are greater and stood before it: these are the discordant
pairs (W. R. Knight, 1966, A computer method for calculating Kendall's tau). Scores are keys, unsigned integers in the
order of the scores.

With weights a pair counts for the product of its rows' weights. A weight is a whole number of one or two words (uint64,
least first; the columns of an array), a sum of weights has a word more, a count COUNT_WORDS: as many as two sums
together. Without weights a count is an integer below 2**64.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

ctypedef fused key_t:
    uint32_t
    uint64_t

cdef enum:
    FIRST_RUN = 8               # so many rows are sorted without merging
    FEW_ROWS = 64               # so many rows of different targets are too
    MANY_ROWS = 1 << 16         # so many of one target are merged; more are sorted elsewhere, faster
    WEIGHT_LIMIT = 2
    SUM_LIMIT = 3
    COUNT_LIMIT = 6

COUNT_WORDS = COUNT_LIMIT
ROOM_ROWS = MANY_ROWS

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


cdef inline void take_weight(uint64_t* total, const uint64_t* weight, int n_words) noexcept nogil:
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


cdef inline void sort_first(key_t* keys, uint64_t* count) noexcept nogil:
    """FIRST_RUN keys: the place of each is how many come before it. No branch is to be guessed."""
    cdef key_t own[FIRST_RUN]
    cdef uint32_t places[FIRST_RUN]
    cdef uint32_t passed = 0
    cdef uint32_t discordant
    cdef int i, j
    for i in range(FIRST_RUN):
        own[i] = keys[i]
        places[i] = 0
    for i in range(1, FIRST_RUN):
        for j in range(i):
            discordant = own[j] > own[i]
            places[j] += discordant
            places[i] += 1 - discordant
            passed += discordant
    for i in range(FIRST_RUN):
        keys[places[i]] = own[i]
    count[0] += passed


cdef void insert_sorted(
    key_t* keys, uint64_t* weights, int n_words, Py_ssize_t n, uint64_t* count
) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef int word
    cdef key_t key
    cdef uint64_t weight[WEIGHT_LIMIT]
    cdef uint64_t passed[SUM_LIMIT]
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
            clear_sum(passed)
            while j > 0 and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                for word in range(n_words):
                    weights[j * n_words + word] = weights[(j - 1) * n_words + word]
                add_weight(passed, weights + j * n_words, n_words)
                j -= 1
            memcpy(weights + j * n_words, weight, n_words * sizeof(uint64_t))
            add_product(count, weight, n_words, passed, n_words + 1)
        keys[j] = key


cdef inline uint64_t merge_halves(const key_t* keys, Py_ssize_t half, key_t* out) noexcept nogil:
    """Merge two sorted runs of one length from both ends at once: neither waits for the other.

    The front counts, for a key of the right, all of the left that are not yet taken; the back, for a key of the left,
    all of the right: too many by those that the front has taken in the end.
    """
    cdef Py_ssize_t left = 0
    cdef Py_ssize_t right = half
    cdef Py_ssize_t last_left = half - 1
    cdef Py_ssize_t last_right = 2 * half - 1
    cdef Py_ssize_t i
    cdef key_t left_key, right_key
    cdef Py_ssize_t take_right, take_left
    cdef uint64_t front = 0
    cdef uint64_t back = 0
    for i in range(half):
        left_key = keys[left]
        right_key = keys[right]
        take_right = right_key < left_key
        out[i] = right_key if take_right else left_key
        front += <uint64_t>((half - left) & -take_right)
        right += take_right
        left += 1 - take_right
        left_key = keys[last_left]
        right_key = keys[last_right]
        take_left = left_key > right_key
        out[2 * half - 1 - i] = left_key if take_left else right_key
        back += <uint64_t>((last_right - half + 1) & -take_left)
        last_left -= take_left
        last_right -= 1 - take_left
    return front + back - <uint64_t>(half - left) * <uint64_t>(right - half)


cdef void merge_runs(
    const key_t* keys, const uint64_t* weights, int n_words, Py_ssize_t n_left, Py_ssize_t n, key_t* out,
    uint64_t* out_weights, uint64_t* count
) noexcept nogil:
    """Merge the sorted runs [0, n_left) and [n_left, n); of equal keys those of the left come first."""
    cdef Py_ssize_t left = 0
    cdef Py_ssize_t right = n_left
    cdef Py_ssize_t place = 0
    cdef Py_ssize_t i
    cdef int word
    cdef key_t left_key, right_key
    cdef bint take_right
    cdef uint64_t pairs = 0
    cdef uint64_t rest[SUM_LIMIT]
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
            take_right = right_key < left_key
            out[place] = right_key if take_right else left_key
            pairs += <uint64_t>(n_left - left) & (0 - <uint64_t>take_right)
            right += take_right
            left += not take_right
            place += 1
        count[0] += pairs
    else:
        clear_sum(rest)
        for i in range(n_left):
            add_weight(rest, weights + i * n_words, n_words)
        while left < n_left and right < n:
            take_right = keys[right] < keys[left]
            i = right if take_right else left
            out[place] = keys[i]
            for word in range(n_words):
                out_weights[place * n_words + word] = weights[i * n_words + word]
            if take_right:
                add_product(count, weights + i * n_words, n_words, rest, n_words + 1)
                right += 1
            else:
                take_weight(rest, weights + i * n_words, n_words)
                left += 1
            place += 1
    memcpy(out + place, keys + left, (n_left - left) * sizeof(key_t))
    memcpy(out_weights + place * n_words, weights + left * n_words, (n_left - left) * n_words * sizeof(uint64_t))
    place += n_left - left
    memcpy(out + place, keys + right, (n - right) * sizeof(key_t))
    memcpy(out_weights + place * n_words, weights + right * n_words, (n - right) * n_words * sizeof(uint64_t))


cdef void sort_counting(
    key_t* keys, uint64_t* weights, int n_words, Py_ssize_t n, key_t* room, uint64_t* weight_room, uint64_t* count
) noexcept nogil:
    """Sort in place, and count what was passed."""
    cdef Py_ssize_t run = FIRST_RUN
    cdef Py_ssize_t start = 0
    cdef key_t* source = keys
    cdef key_t* target = room
    cdef key_t* swap
    cdef uint64_t* source_weights = weights
    cdef uint64_t* target_weights = weight_room
    cdef uint64_t* swap_weights
    while start < n:
        if n_words == 0 and n - start >= FIRST_RUN:
            sort_first[key_t](keys + start, count)
        else:
            insert_sorted[key_t](
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


def count_discordant(
    key_t[::1] keys, uint64_t[:, ::1] weights, Py_ssize_t start, Py_ssize_t stop, key_t[::1] room,
    uint64_t[:, ::1] weight_room, uint64_t[::1] count
):
    """Sort rows start..stop in place; count gains their discordant pairs. The rooms are as long as the rows."""
    cdef int n_words = 0 if weights is None else <int>weights.shape[1]
    cdef uint64_t none = 0
    cdef uint64_t* first_weight = &none if weights is None else &weights[start, 0]
    cdef uint64_t* first_room = &none if weights is None else &weight_room[0, 0]
    with nogil:
        sort_counting[key_t](&keys[start], first_weight, n_words, stop - start, &room[0], first_room, &count[0])


def merge_discordant(
    const key_t[::1] keys, const uint64_t[:, ::1] weights, Py_ssize_t start, Py_ssize_t middle, Py_ssize_t stop,
    key_t[::1] out, uint64_t[:, ::1] out_weights, uint64_t[::1] count
):
    """Merge the sorted rows start..middle and middle..stop into the same places of `out`, counting discordant pairs."""
    cdef int n_words = 0 if weights is None else <int>weights.shape[1]
    cdef uint64_t none = 0
    cdef const uint64_t* first_weight = &none
    cdef uint64_t* first_out = &none
    if weights is not None:
        first_weight = &weights[start, 0]
        first_out = &out_weights[start, 0]
    with nogil:
        merge_runs[key_t](
            &keys[start], first_weight, n_words, middle - start, stop - start, &out[start], first_out, &count[0])


def gather_rows(
    const uint64_t[::1] packed, uint64_t mask, const uint64_t[::1] targets, const uint64_t[::1] scores,
    const uint64_t[:, ::1] weights, Py_ssize_t start, Py_ssize_t stop, uint64_t[::1] out_targets,
    uint64_t[::1] out_scores, uint64_t[:, ::1] out_weights
):
    """Rows start..stop of the order whose row numbers are packed & mask."""
    cdef Py_ssize_t i, row, word
    cdef Py_ssize_t n_words = 0 if weights is None else weights.shape[1]
    with nogil:
        for i in range(start, stop):
            row = <Py_ssize_t>(packed[i] & mask)
            out_targets[i] = targets[row]
            out_scores[i] = scores[row]
            for word in range(n_words):
                out_weights[i, word] = weights[row, word]


cdef inline bint is_after(uint64_t target, uint64_t score, uint64_t other_target, uint64_t other_score) noexcept nogil:
    return target > other_target or (target == other_target and score > other_score)


cdef void sort_few(uint64_t* targets, uint64_t* scores, uint64_t* weights, int n_words, Py_ssize_t n) noexcept nogil:
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


def settle_rows(
    uint64_t[::1] targets, uint64_t[::1] scores, uint64_t[:, ::1] weights, int shift, uint64_t[::1] room,
    uint64_t[:, ::1] weight_room, int64_t[:, ::1] unsettled
):
    """Rows are in the order of target >> shift: bring those where that is equal into the order of target and score.

    Runs that are better sorted otherwise are listed in `unsettled`, (start, stop) each; returns how many. It has a row
    for every FEW_ROWS rows; the rooms have ROOM_ROWS, or as many as there are.
    """
    cdef Py_ssize_t n = targets.shape[0]
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t n_unsettled = 0
    cdef Py_ssize_t stop
    cdef uint64_t differ
    cdef uint64_t ignored[COUNT_LIMIT]
    cdef uint64_t none = 0
    cdef int n_words = 0 if weights is None else <int>weights.shape[1]
    cdef uint64_t* first_weight = &none if weights is None else &weights[0, 0]
    cdef uint64_t* first_room = &none if weights is None else &weight_room[0, 0]
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
                    sort_few(&targets[start], &scores[start], first_weight + start * n_words, n_words, stop - start)
                elif differ or stop - start > MANY_ROWS:
                    unsettled[n_unsettled, 0] = start
                    unsettled[n_unsettled, 1] = stop
                    n_unsettled += 1
                else:
                    sort_counting[uint64_t](
                        &scores[start], first_weight + start * n_words, n_words, stop - start, &room[0], first_room,
                        ignored)
            start = stop
    return n_unsettled


def add_tie_squares(
    const key_t[::1] keys, const key_t[::1] others, const uint64_t[:, ::1] weights, uint64_t[::1] count
):
    """Add the square of the weight of every run of rows with equal keys (and equal others, where given)."""
    cdef Py_ssize_t n = keys.shape[0]
    cdef Py_ssize_t i
    cdef bint ends
    cdef int n_words = 1 if weights is None else <int>weights.shape[1]
    cdef uint64_t total[SUM_LIMIT]
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
