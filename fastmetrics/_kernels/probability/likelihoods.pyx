"""Log-probabilities of tokens: exact sums of -log p over all tokens, and its mean over every sequence.

Values are float32 or float64. Masks are uint8, or None. A token with mask 0 is ignored, whatever its value. Every other
value must be at most 0. `token_counts` has two numbers: the tokens that count, and 1 if a value is above 0 or NaN; the
caller then searches for it. Sums are exact (superaccumulator.pxd) and quotients are rounded once (quotient.pxd), so
results depend neither on the order of the tokens nor on threads.
"""

from libc.math cimport HUGE_VAL, NAN
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memset

from fastmetrics._kernels.numeric.length_checks cimport need_length, need_offsets
from fastmetrics._kernels.numeric.quotient cimport DoubleDouble, divide_state, count_non_finite
from fastmetrics._kernels.numeric.superaccumulator cimport (
    CHUNK, STATE_SIZE, add_chunk, add_value, carry_after, normalize,
)

ctypedef fused value_t:
    float
    double

cdef enum:
    FEW_TOKENS = 32            # adding so few values one by one is as fast as adding a chunk


cdef inline Py_ssize_t load_tokens(
    const value_t* values, const uint8_t* mask, Py_ssize_t n, double* out, int64_t* token_counts
) noexcept nogil:
    """Write -log p of the tokens that count. Return how many there are."""
    cdef Py_ssize_t i
    cdef Py_ssize_t length = 0
    cdef int64_t bad = 0
    if mask == NULL:
        for i in range(n):
            bad |= not values[i] <= 0
            out[i] = 0.0 - <double>values[i]
        length = n
    else:
        for i in range(n):
            # The value is always written, and overwritten next if its mask is 0. This avoids a branch.
            out[length] = 0.0 - <double>values[i]
            bad |= mask[i] != 0 and not values[i] <= 0
            length += mask[i] != 0
    token_counts[0] += length
    token_counts[1] |= bad
    return length


cdef inline void add_tokens(
    const value_t* values, const uint8_t* mask, Py_ssize_t n, int64_t* state, int64_t* token_counts, double* chunk,
    double* rest
) noexcept nogil:
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, length, n_kept
    while start < n:
        length = n - start if n - start < CHUNK else CHUNK
        n_kept = load_tokens(values + start, mask + start if mask != NULL else NULL, length, chunk, token_counts)
        if n_kept <= FEW_TOKENS:
            for i in range(n_kept):
                add_value(state, chunk[i])
        else:
            add_chunk(state, chunk, n_kept, rest)
        start += length
        carry_after(state, start)
    normalize(state)


def add_log_probs(
    const value_t[::1] values, const uint8_t[::1] mask or None, int64_t[::1] state, int64_t[::1] token_counts
):
    """Add -log p of every token to the state, and the number of tokens that count to token_counts[0]."""
    cdef double chunk[CHUNK]
    cdef double rest[CHUNK]
    cdef const uint8_t* first = NULL
    need_length(b"state", state.shape[0], STATE_SIZE)
    need_length(b"token_counts", token_counts.shape[0], 1)
    if mask is not None:
        need_length(b"mask", mask.shape[0], values.shape[0])
    if values.shape[0] == 0:
        return
    if mask is not None:
        first = &mask[0]
    with nogil:
        add_tokens[value_t](&values[0], first, values.shape[0], &state[0], &token_counts[0], chunk, rest)


def sequence_means(
    const value_t[::1] values, const uint8_t[::1] mask or None, const int64_t[::1] bounds, double[::1] means,
    int64_t[::1] uncertain, int64_t[::1] token_counts
) -> int:
    """Write to means[i] the mean over the tokens from bounds[i] to bounds[i + 1]; NaN if no token counts.

    Return the number of sequences whose rounding is uncertain. `uncertain` lists them; the caller computes these means.
    """
    cdef double chunk[CHUNK]
    cdef double rest[CHUNK]
    cdef int64_t state[STATE_SIZE]
    cdef const uint8_t* first = NULL
    cdef Py_ssize_t n_uncertain = 0
    cdef Py_ssize_t i
    cdef int64_t before
    cdef DoubleDouble length
    need_length(b"token_counts", token_counts.shape[0], 1)
    need_length(b"bounds", bounds.shape[0], means.shape[0] + 1)
    need_length(b"uncertain", uncertain.shape[0], means.shape[0])
    need_offsets(b"bounds", &bounds[0], means.shape[0] + 1, values.shape[0])
    if mask is not None:
        need_length(b"mask", mask.shape[0], values.shape[0])
    if values.shape[0] and mask is not None:
        first = &mask[0]
    with nogil:
        length.low = 0
        for i in range(means.shape[0]):
            means[i] = NAN
            if bounds[i + 1] == bounds[i]:
                continue
            memset(state, 0, sizeof(state))
            before = token_counts[0]
            add_tokens[value_t](
                &values[bounds[i]], first + bounds[i] if first != NULL else NULL, bounds[i + 1] - bounds[i], state,
                &token_counts[0], chunk, rest)
            if token_counts[0] == before:
                continue
            length.high = <double>(token_counts[0] - before)
            if count_non_finite(state):
                means[i] = HUGE_VAL
            elif not divide_state(state, length, &means[i]):
                uncertain[n_uncertain] = i
                n_uncertain += 1
    return n_uncertain
