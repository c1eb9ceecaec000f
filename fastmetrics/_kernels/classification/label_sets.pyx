"""Sets of labels, row by row: each label of either set once, with the sides it is on, and the sizes of the sets.

Labels are 64-bit integers. The labels of a small row are compared with each other; those of a larger row are found in
a hash table, which belongs to the row by its number: nothing is cleared between rows.
"""

from libc.stdint cimport int64_t, uint64_t

import numpy as np

cdef enum:
    FEW_LABELS = 24  # of both sets of a row: comparing all pairs costs less than a hash
    TRUE_SIDE = 1
    PREDICTED_SIDE = 2
    SIZE_BITS = 32

TRUE_ONLY, PREDICTED_ONLY, BOTH = TRUE_SIDE, PREDICTED_SIDE, TRUE_SIDE + PREDICTED_SIDE
SIZE_SHIFT = SIZE_BITS
MAX_SIZE = (<int64_t>1 << (SIZE_BITS - 1)) - 1


cdef struct Slot:
    int64_t row  # plus one; slots of other rows are empty
    int64_t entry


cdef inline int64_t find_linear(const int64_t* labels, int64_t start, int64_t stop, int64_t label) noexcept nogil:
    """The entry of a label among those of a row; `stop` if it has none."""
    cdef int64_t entry
    for entry in range(start, stop):
        if labels[entry] == label:
            return entry
    return stop


cdef inline int64_t find_hashed(
    Slot* slots, uint64_t mask, int64_t row, const int64_t* labels, int64_t stop, int64_t label
) noexcept nogil:
    """The entry of a label of a row; `stop`, which becomes its entry, if it has none."""
    cdef uint64_t hashed = <uint64_t>label * <uint64_t>0x9E3779B97F4A7C15
    cdef uint64_t slot = (hashed ^ (hashed >> 32)) & mask
    while slots[slot].row == row + 1:
        if labels[slots[slot].entry] == label:
            return slots[slot].entry
        slot = (slot + 1) & mask
    slots[slot].row = row + 1
    slots[slot].entry = stop
    return stop


cdef int64_t match_rows(
    const int64_t* true, const int64_t* true_offsets, const int64_t* pred, const int64_t* pred_offsets, int64_t rows,
    Slot* slots, uint64_t mask, int64_t* labels, int64_t* sides, int64_t* both, int64_t* sizes,
) noexcept nogil:
    """Write the entries and the sizes of all rows; returns the number of entries."""
    cdef int64_t row, i, entry, start, n_true, n_both
    cdef int64_t stop = 0
    cdef bint few
    for row in range(rows):
        start = stop
        few = true_offsets[row + 1] - true_offsets[row] + pred_offsets[row + 1] - pred_offsets[row] <= FEW_LABELS
        for i in range(true_offsets[row], true_offsets[row + 1]):
            if few:
                entry = find_linear(labels, start, stop, true[i])
            else:
                entry = find_hashed(slots, mask, row, labels, stop, true[i])
            if entry == stop:
                labels[stop] = true[i]
                sides[stop] = TRUE_SIDE
                stop += 1
        n_true = stop - start
        n_both = 0
        for i in range(pred_offsets[row], pred_offsets[row + 1]):
            if few:
                entry = find_linear(labels, start, stop, pred[i])
            else:
                entry = find_hashed(slots, mask, row, labels, stop, pred[i])
            if entry == stop:
                labels[stop] = pred[i]
                sides[stop] = PREDICTED_SIDE
                stop += 1
            elif sides[entry] == TRUE_SIDE:
                sides[entry] = TRUE_SIDE + PREDICTED_SIDE
                n_both += 1
        both[row] = n_both
        sizes[row] = n_true << SIZE_BITS | (stop - start - n_true + n_both)
    return stop


def match_sets(
    const int64_t[::1] true,
    const int64_t[::1] true_offsets,
    const int64_t[::1] pred,
    const int64_t[::1] pred_offsets,
    int64_t[::1] labels,
    int64_t[::1] sides,
    int64_t[::1] both,
    int64_t[::1] sizes,
) -> int:
    """Write each label of a row once, with TRUE_ONLY, PREDICTED_ONLY or BOTH. Returns the number of labels written.

    both[i] is the number of labels on both sides in row i; sizes[i] is the size of its true set times 2**SIZE_SHIFT,
    plus that of its predicted set. So row i has both[i] entries less than its two sets have labels.
    """
    cdef int64_t rows = both.shape[0]
    cdef int64_t most = true.shape[0] + pred.shape[0]
    cdef int64_t n_slots = 1
    cdef int64_t found = 0
    if true_offsets.shape[0] != rows + 1 or pred_offsets.shape[0] != rows + 1 or sizes.shape[0] != rows:
        raise ValueError("the columns have different lengths")
    if labels.shape[0] < most or sides.shape[0] < most:
        raise ValueError("there is no room for all labels")
    if rows == 0 or most == 0:
        both[:] = 0
        sizes[:] = 0
        return 0
    if true_offsets[0] or pred_offsets[0] or true_offsets[rows] != true.shape[0] or pred_offsets[rows] != pred.shape[0]:
        raise ValueError("the offsets do not match the labels")
    longest = (np.diff(true_offsets) + np.diff(pred_offsets)).max()
    if longest > MAX_SIZE:
        raise ValueError("a set has too many labels")
    if longest > FEW_LABELS:
        n_slots = 1 << (2 * int(longest)).bit_length()
    scratch = np.zeros((n_slots, 2), np.int64)
    cdef int64_t[:, ::1] slots = scratch
    cdef const int64_t* true_labels = &true[0] if true.shape[0] else NULL
    cdef const int64_t* pred_labels = &pred[0] if pred.shape[0] else NULL
    with nogil:
        found = match_rows(
            true_labels, &true_offsets[0], pred_labels, &pred_offsets[0], rows, <Slot*>&slots[0, 0],
            <uint64_t>n_slots - 1, &labels[0], &sides[0], &both[0], &sizes[0],
        )
    return found
