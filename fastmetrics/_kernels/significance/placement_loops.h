/* Integer loops of delong_placements.pyx that gain from wide SIMD registers (see vector_math.h for FM_WIDE). */
#ifndef FASTMETRICS_SIGNIFICANCE_PLACEMENT_LOOPS_H
#define FASTMETRICS_SIGNIFICANCE_PLACEMENT_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#include "numeric/vector_math.h"

/* From the cells of n keys to their slots, at most three moves from the start of the cell.
 *
 * slots[i] is the cell of keys[i] on entry and its slot on return. The result is whether a key is unresolved: its slot
 * is then that of a minority key which is still below it. No FM_WIDE here: a SIMD gather costs more than single loads.
 */
#define FM_FIND_SLOTS(NAME, TYPE)                                                                                      \
    static int NAME(                                                                                                   \
        const TYPE* restrict keys, ptrdiff_t n, const TYPE* restrict minority, const uint32_t* restrict cells,         \
        uint32_t* restrict slots) {                                                                                    \
        uint32_t unresolved = 0;                                                                                       \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                            \
            TYPE key = keys[i];                                                                                        \
            uint32_t position = cells[slots[i]];                                                                       \
            position += minority[position] < key;                                                                      \
            position += minority[position] < key;                                                                      \
            position += minority[position] < key;                                                                      \
            unresolved |= minority[position] < key;                                                                    \
            slots[i] = 2 * position + (minority[position] == key);                                                     \
        }                                                                                                              \
        return unresolved != 0;                                                                                        \
    }

FM_FIND_SLOTS(fm_find_slots_u32, uint32_t)
FM_FIND_SLOTS(fm_find_slots_u64, uint64_t)

/* The cells of keys: 1 + ((key - low) >> shift), or 0 below low, or `above` above high. */
#define FM_FIND_CELLS(NAME, TYPE)                                                                                      \
    FM_WIDE static void NAME(                                                                                          \
        const TYPE* restrict keys, ptrdiff_t n, TYPE low, TYPE high, int shift, uint32_t above,                        \
        uint32_t* restrict found_cells) {                                                                              \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                            \
            TYPE key = keys[i];                                                                                        \
            uint32_t cell = 1 + (uint32_t)((TYPE)(key - low) >> shift);                                                \
            cell = key >= low ? cell : 0;                                                                              \
            found_cells[i] = key <= high ? cell : above;                                                               \
        }                                                                                                              \
    }

FM_FIND_CELLS(fm_find_cells_u32, uint32_t)
FM_FIND_CELLS(fm_find_cells_u64, uint64_t)

/* Sums over all rows in sums[0..5), over rows with label 1 in sums[5..10): rows, placements of either model, and the
 * squares of their differences as sums of the lower and of the upper 32 bits. Up to 2^31 rows.
 */
FM_WIDE static void fm_sum_placements(
    const uint8_t* restrict labels, const uint32_t* restrict one, const uint32_t* restrict two, ptrdiff_t n,
    uint64_t* restrict sums) {
    uint64_t first = 0, second = 0, low = 0, high = 0;
    uint64_t rows = 0, own_first = 0, own_second = 0, own_low = 0, own_high = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        uint32_t a = one[i], b = two[i];
        uint32_t mask = 0u - labels[i];
        uint32_t distance = a > b ? a - b : b - a;
        uint64_t square = (uint64_t)distance * distance;
        uint64_t wide = (uint64_t)(int64_t)(int32_t)mask;
        first += a;
        second += b;
        low += square & UINT64_C(0xffffffff);
        high += square >> 32;
        rows += labels[i];
        own_first += a & mask;
        own_second += b & mask;
        square &= wide;
        own_low += square & UINT64_C(0xffffffff);
        own_high += square >> 32;
    }
    sums[0] = (uint64_t)n;
    sums[1] = first;
    sums[2] = second;
    sums[3] = low;
    sums[4] = high;
    sums[5] = rows;
    sums[6] = own_first;
    sums[7] = own_second;
    sums[8] = own_low;
    sums[9] = own_high;
}

#endif
