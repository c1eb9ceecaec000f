"""Sets of labels, row by row: each label of either set once, with the sides it is on, and the sizes of the sets.

Labels are 64-bit integers. Small ones are found in an array; the others of a small row are compared with each other,
and those of a larger row are found in a hash table. Array and table say to which row an entry belongs, so nothing is
cleared between rows.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset

from fastmetrics._kernels.numeric.table_hash cimport table_hash, use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import SEEDS as _SEEDS

use_table_seeds(_SEEDS)

cdef enum:
    SMALL_LABELS = 1024  # labels below it are found in an array
    FEW_LABELS = 24  # of both sets of a row: comparing all pairs costs less than a hash
    TRUE_SIDE = 1
    PREDICTED_SIDE = 2
    SIZE_BITS = 32

TRUE_ONLY, PREDICTED_ONLY, BOTH = TRUE_SIDE, PREDICTED_SIDE, TRUE_SIDE + PREDICTED_SIDE
SIZE_SHIFT = SIZE_BITS


cdef struct Slot:
    int64_t row  # plus one; slots of other rows are empty
    int64_t entry


cdef struct Entries:
    Slot* small
    Slot* slots
    uint64_t mask
    int64_t* labels
    int64_t* sides


cdef inline int64_t find_entry(
    const Entries* entries, bint few, int64_t row, int64_t start, int64_t stop, int64_t label
) noexcept nogil:
    """The entry of a label of a row whose entries so far are start to stop; `stop`, which becomes its, if it is new."""
    cdef int64_t entry
    cdef uint64_t slot
    cdef Slot* found
    if <uint64_t>label < SMALL_LABELS:
        # Without a branch on what the row has: labels on both sides are hard to predict.
        found = &entries.small[label]
        entry = found.entry if found.row == row + 1 else stop
        found.row = row + 1
        found.entry = entry
        return entry
    elif few:
        for entry in range(start, stop):
            if entries.labels[entry] == label:
                return entry
        return stop
    else:
        slot = table_hash(<uint64_t>label) & entries.mask
        while entries.slots[slot].row == row + 1:
            if entries.labels[entries.slots[slot].entry] == label:
                return entries.slots[slot].entry
            slot = (slot + 1) & entries.mask
        found = &entries.slots[slot]
    found.row = row + 1
    found.entry = stop
    return stop


cdef int64_t match_row(
    const Entries* entries, int64_t row, const int64_t* true, int64_t n_true, const int64_t* pred, int64_t n_pred,
    int64_t start, int64_t* both, int64_t* sizes,
) noexcept nogil:
    """Write the entries of a row from `start` on, and its sizes. Returns the end of its entries."""
    cdef bint few = n_true + n_pred <= FEW_LABELS
    cdef int64_t i, entry, before, true_stop
    cdef int64_t stop = start
    cdef int64_t n_both = 0
    for i in range(n_true):
        entry = find_entry(entries, few, row, start, stop, true[i])
        entries.labels[entry] = true[i]
        entries.sides[entry] = TRUE_SIDE
        stop += entry == stop
    true_stop = stop
    for i in range(n_pred):
        entry = find_entry(entries, few, row, start, stop, pred[i])
        before = entries.sides[entry] if entry < true_stop else 0
        entries.labels[entry] = pred[i]
        entries.sides[entry] = before | PREDICTED_SIDE
        n_both += before == TRUE_SIDE
        stop += entry == stop
    both[0] = n_both
    sizes[0] = (true_stop - start) << SIZE_BITS | (stop - true_stop + n_both)
    return stop


cdef int raise_bad_row() except -1 nogil:
    with gil:
        raise ValueError("the labels of a row are not among the labels")


def match_sets(
    const int64_t[::1] true,
    const int64_t[::1] true_starts,
    const int64_t[::1] true_stops,
    const int64_t[::1] pred,
    const int64_t[::1] pred_starts,
    const int64_t[::1] pred_stops,
    int64_t first_row,
    int64_t[:, ::1] hash_slots,
    int64_t[::1] labels,
    int64_t[::1] sides,
    int64_t[::1] both,
    int64_t[::1] sizes,
) -> tuple[int, int]:
    """Write each label of a row once, with TRUE_ONLY, PREDICTED_ONLY or BOTH, for the rows from `first_row` on.

    Row i has the labels starts[i] to stops[i] of either side. both[i] is the number of labels on both sides; sizes[i]
    is the size of its true set times 2**SIZE_SHIFT, plus that of its predicted set.

    Returns the row after the last one that fits, and the number of labels written. A row fits if there is memory for
    all its labels, and, if these are more than 24, a power of two of empty slots that is at least twice their number.
    """
    cdef int64_t rows = both.shape[0]
    cdef int64_t row = first_row
    cdef int64_t stop = 0
    cdef int64_t n_true, n_pred
    cdef Slot small[SMALL_LABELS]
    cdef Entries entries
    if true_starts.shape[0] != rows or true_stops.shape[0] != rows or sizes.shape[0] != rows:
        raise ValueError("the columns have different lengths")
    if pred_starts.shape[0] != rows or pred_stops.shape[0] != rows:
        raise ValueError("the columns have different lengths")
    if not 0 <= first_row <= rows:
        raise ValueError("there is no such row")
    if labels.shape[0] == 0 or sides.shape[0] < labels.shape[0]:
        raise ValueError("there is no memory for labels")
    if hash_slots.shape[0] == 0 or hash_slots.shape[1] != 2 or hash_slots.shape[0] & (hash_slots.shape[0] - 1):
        raise ValueError("the number of slots is no power of two")
    if rows == 0:
        return 0, 0
    cdef const int64_t* true_labels = &true[0] if true.shape[0] else NULL
    cdef const int64_t* pred_labels = &pred[0] if pred.shape[0] else NULL
    entries.small = small
    entries.slots = <Slot*>&hash_slots[0, 0]
    entries.mask = <uint64_t>hash_slots.shape[0] - 1
    entries.labels = &labels[0]
    entries.sides = &sides[0]
    with nogil:
        memset(small, 0, sizeof(small))
        while row < rows:
            n_true = true_stops[row] - true_starts[row]
            n_pred = pred_stops[row] - pred_starts[row]
            if n_true < 0 or true_starts[row] < 0 or true_stops[row] > true.shape[0]:
                raise_bad_row()
            if n_pred < 0 or pred_starts[row] < 0 or pred_stops[row] > pred.shape[0]:
                raise_bad_row()
            if stop + n_true + n_pred > labels.shape[0]:
                break
            if n_true + n_pred > FEW_LABELS and 2 * (n_true + n_pred) > hash_slots.shape[0]:
                break
            stop = match_row(
                &entries, row, true_labels + true_starts[row], n_true, pred_labels + pred_starts[row], n_pred, stop,
                &both[row], &sizes[row],
            )
            row += 1
    return row, stop
