"""Exact sums of the weights of rows, by cell of a table of label pairs or by label of indicators.

Weights are ordered by cell with a counting sort, and each cell's run is summed in one superaccumulator
(superaccumulator.pxd). So a million cells need no more memory than the rows and the result.
"""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset

from fastmetrics._kernels.numeric.length_checks cimport need_below, need_length, need_offsets, need_range
from fastmetrics._kernels.numeric.superaccumulator cimport (
    CHUNK, STATE_SIZE, add_chunk, add_value, carry_after, normalize, round_state,
)

cdef enum:
    FEW_VALUES = 64            # fewer values are added to the superaccumulator one by one


def order_weights(
    const int64_t[::1] first, const int64_t[::1] second or None, int64_t n_second, const double[::1] weights,
    int64_t[::1] starts, double[::1] ordered
):
    """Order the weights by cell. The cell is first * n_second + second, or first if second is None.

    `starts` has two more elements than there are cells. It becomes the start of each cell in `ordered`, and the
    end of the last.
    """
    cdef Py_ssize_t i
    cdef int64_t cell
    cdef Py_ssize_t n_cells = starts.shape[0] - 2
    cdef Py_ssize_t n = weights.shape[0]
    need_length(b"starts", starts.shape[0], 2)
    need_length(b"first and ordered", min(first.shape[0], ordered.shape[0]), n)
    if n and second is None:
        need_below(b"first", &first[0], n, n_cells)
    elif n:
        need_length(b"second", second.shape[0], n)
        need_below(b"second", &second[0], n, n_second)
        need_below(b"first", &first[0], n, n_cells // max(1, n_second))
    with nogil:
        starts[:] = 0
        for i in range(weights.shape[0]):
            cell = first[i] if second is None else first[i] * n_second + second[i]
            starts[cell + 2] += 1
        for i in range(2, n_cells + 2):
            starts[i] += starts[i - 1]
        for i in range(weights.shape[0]):
            cell = first[i] if second is None else first[i] * n_second + second[i]
            ordered[starts[cell + 1]] = weights[i]
            starts[cell + 1] += 1


cdef void add_run(int64_t* state, const double* values, Py_ssize_t n) noexcept nogil:
    cdef double chunk[CHUNK]
    cdef double rest[CHUNK]
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, length
    if n < FEW_VALUES:
        for i in range(n):
            add_value(state, values[i])
        start = n
    while start < n:
        length = n - start if n - start < CHUNK else CHUNK
        memcpy(chunk, values + start, length * sizeof(double))
        add_chunk(state, chunk, length, rest)
        start += length
        carry_after(state, start)
    normalize(state)


def sum_runs(const double[::1] ordered, const int64_t[::1] starts, double[::1] out):
    """out[cell] = the exact sum of ordered[starts[cell]:starts[cell + 1]] (not negative), rounded once."""
    cdef int64_t state[STATE_SIZE]
    cdef Py_ssize_t cell, n
    need_length(b"starts", starts.shape[0], out.shape[0] + 1)
    need_offsets(b"starts", &starts[0], out.shape[0] + 1, ordered.shape[0])
    with nogil:
        for cell in range(out.shape[0]):
            n = starts[cell + 1] - starts[cell]
            if n == 0:
                out[cell] = 0.0
            elif n == 1:
                out[cell] = ordered[starts[cell]]
            else:
                memset(state, 0, sizeof(state))
                add_run(state, &ordered[starts[cell]], n)
                out[cell] = round_state(state)


def sum_run_states(const double[::1] ordered, const int64_t[::1] starts, Py_ssize_t first_cell, int64_t[:, ::1] states):
    """Set states to the exact sums of the cells from first_cell on."""
    cdef Py_ssize_t i, cell
    need_length(b"words of a state", states.shape[1], STATE_SIZE)
    need_range(first_cell, first_cell + states.shape[0], starts.shape[0] - 1)
    if states.shape[0]:
        need_offsets(b"starts", &starts[first_cell], states.shape[0] + 1, ordered.shape[0])
    with nogil:
        for i in range(states.shape[0]):
            cell = first_cell + i
            memset(&states[i, 0], 0, STATE_SIZE * sizeof(int64_t))
            if starts[cell + 1] > starts[cell]:
                add_run(&states[i, 0], &ordered[starts[cell]], starts[cell + 1] - starts[cell])


cdef void add_state(int64_t* state, const int64_t* other) noexcept nogil:
    cdef int i
    for i in range(STATE_SIZE):
        state[i] += other[i]
    normalize(state)


cdef void subtract_state(int64_t* state, const int64_t* other) noexcept nogil:
    cdef int i
    for i in range(STATE_SIZE):
        state[i] -= other[i]
    normalize(state)


def round_counts(
    const int64_t[:, ::1] both, const int64_t[:, ::1] true, const int64_t[:, ::1] pred, const int64_t[::1] total,
    double[:, ::1] out
):
    """out[:, i] = tp, fp, fn, tn of label i, each rounded once, from the exact sums of its weights."""
    cdef int64_t state[STATE_SIZE]
    cdef Py_ssize_t i
    need_length(b"sums", min(true.shape[0], pred.shape[0], out.shape[1]), both.shape[0])
    need_length(b"words of a sum", min(both.shape[1], true.shape[1], pred.shape[1], total.shape[0]), STATE_SIZE)
    need_length(b"out", out.shape[0], 4)
    with nogil:
        for i in range(both.shape[0]):
            out[0, i] = round_state(&both[i, 0])
            memcpy(state, &pred[i, 0], sizeof(state))
            subtract_state(state, &both[i, 0])
            out[1, i] = round_state(state)
            memcpy(state, &true[i, 0], sizeof(state))
            subtract_state(state, &both[i, 0])
            out[2, i] = round_state(state)
            # tn = total - true - pred + both
            memcpy(state, &total[0], sizeof(state))
            subtract_state(state, &true[i, 0])
            subtract_state(state, &pred[i, 0])
            add_state(state, &both[i, 0])
            out[3, i] = round_state(state)


def weigh_indicators(
    const uint8_t[:, ::1] true, const uint8_t[:, ::1] pred, const double[::1] weights, int64_t[:, ::1] both,
    int64_t[:, ::1] first, int64_t[:, ::1] second
):
    """Add the weights of rows to the exact sums of their labels. At most 2**30 rows."""
    cdef Py_ssize_t i, j
    need_length(b"rows", min(pred.shape[0], weights.shape[0]), true.shape[0])
    need_length(b"labels", min(pred.shape[1], both.shape[0], first.shape[0], second.shape[0]), true.shape[1])
    need_length(b"words of a sum", min(both.shape[1], first.shape[1], second.shape[1]), STATE_SIZE)
    with nogil:
        for i in range(true.shape[0]):
            for j in range(true.shape[1]):
                if true[i, j]:
                    add_value(&first[j, 0], weights[i])
                    if pred[i, j]:
                        add_value(&both[j, 0], weights[i])
                if pred[i, j]:
                    add_value(&second[j, 0], weights[i])
        for j in range(true.shape[1]):
            normalize(&both[j, 0])
            normalize(&first[j, 0])
            normalize(&second[j, 0])
