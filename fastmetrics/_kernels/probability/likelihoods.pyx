"""Log-probabilities of tokens: exact sums of -log p over all tokens, and its mean over every sequence.

Values are float32 or float64, masks uint8 or None: a token whose mask is 0 is not looked at, whatever stands there.
Every other one has to be at most 0; `found[1]` tells whether one is not, or is NaN, and the caller looks for it. Sums
are exact (superaccumulator.pxd) and quotients rounded once (quotient.pxd), so that results depend on neither the order
of the tokens nor the threads.
"""

from libc.math cimport HUGE_VAL, NAN
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memset

from fastmetrics._kernels.quotient cimport Pair, divide, specials
from fastmetrics._kernels.superaccumulator cimport (
    CHUNK, CHUNKS_PER_CARRY, STATE_SIZE, add_chunk, add_value, normalise,
)

ctypedef fused value_t:
    float
    double

cdef enum:
    FEW = 32                   # values that a state takes one by one as fast as a chunk


cdef inline Py_ssize_t take(
    const value_t* values, const uint8_t* mask, Py_ssize_t n, double* out, int64_t* found
) noexcept nogil:
    """-log p of the tokens that count, and how many these are."""
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
            # Written always, kept where the mask says so: no branch to guess.
            out[length] = 0.0 - <double>values[i]
            bad |= mask[i] != 0 and not values[i] <= 0
            length += mask[i] != 0
    found[0] += length
    found[1] |= bad
    return length


cdef inline void add_tokens(
    const value_t* values, const uint8_t* mask, Py_ssize_t n, int64_t* state, int64_t* found, double* chunk,
    double* rest
) noexcept nogil:
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, length, kept
    cdef Py_ssize_t n_chunks = 0
    while start < n:
        length = n - start if n - start < CHUNK else CHUNK
        kept = take(values + start, mask + start if mask != NULL else NULL, length, chunk, found)
        if kept <= FEW:
            for i in range(kept):
                add_value(state, chunk[i])
        else:
            add_chunk(state, chunk, kept, rest)
        start += length
        n_chunks += 1
        if n_chunks % CHUNKS_PER_CARRY == 0:
            normalise(state)
    normalise(state)


def add_log_probs(const value_t[::1] values, const uint8_t[::1] mask, int64_t[::1] state, int64_t[::1] found):
    """Add -log p of every token to the state; found[0] gains the tokens that count."""
    cdef double chunk[CHUNK]
    cdef double rest[CHUNK]
    cdef const uint8_t* first = NULL
    if values.shape[0] == 0:
        return
    if mask is not None:
        first = &mask[0]
    with nogil:
        add_tokens[value_t](&values[0], first, values.shape[0], &state[0], &found[0], chunk, rest)


def sequence_means(
    const value_t[::1] values, const uint8_t[::1] mask, const int64_t[::1] bounds, double[::1] means,
    int64_t[::1] uncertain, int64_t[::1] found
):
    """means[i] of the tokens from bounds[i] to bounds[i + 1]: NaN without any; returns how many are left to the caller.

    `uncertain` lists the sequences whose rounding is.
    """
    cdef double chunk[CHUNK]
    cdef double rest[CHUNK]
    cdef int64_t state[STATE_SIZE]
    cdef const uint8_t* first = NULL
    cdef Py_ssize_t n_uncertain = 0
    cdef Py_ssize_t i
    cdef int64_t before
    cdef Pair length
    if values.shape[0] and mask is not None:
        first = &mask[0]
    with nogil:
        length.low = 0
        for i in range(means.shape[0]):
            means[i] = NAN
            if bounds[i + 1] == bounds[i]:
                continue
            memset(state, 0, sizeof(state))
            before = found[0]
            add_tokens[value_t](
                &values[bounds[i]], first + bounds[i] if first != NULL else NULL, bounds[i + 1] - bounds[i], state,
                &found[0], chunk, rest)
            if found[0] == before:
                continue
            length.high = <double>(found[0] - before)
            if specials(state):
                means[i] = HUGE_VAL
            elif not divide(state, length, &means[i]):
                uncertain[n_uncertain] = i
                n_uncertain += 1
    return n_uncertain
