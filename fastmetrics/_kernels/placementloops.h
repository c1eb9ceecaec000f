/* Loops of placements.pyx that pay for wide registers (vectormath.h tells how FM_WIDE works): whole numbers only. */
#ifndef FM_PLACEMENTLOOPS_H
#define FM_PLACEMENTLOOPS_H

#include <stddef.h>
#include <stdint.h>

#include "vectormath.h"

/* From the cells of n keys to their slots, three steps from where the cell begins at most.
 *
 * found[i] is the cell of keys[i] (as cells[] is indexed) and becomes its slot. Returns whether a key had further to go:
 * its slot is then that of a key of `few` which is still below it. Not for wide registers: gathering costs more than
 * loads one by one.
 */
#define FM_WALK(NAME, TYPE)                                                                                             \
    static int NAME(                                                                                                    \
        const TYPE* restrict keys, ptrdiff_t n, const TYPE* restrict few, const uint32_t* restrict cells,               \
        uint32_t* restrict found) {                                                                                     \
        uint32_t further = 0;                                                                                           \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                             \
            TYPE key = keys[i];                                                                                         \
            uint32_t place = cells[found[i]];                                                                           \
            place += few[place] < key;                                                                                  \
            place += few[place] < key;                                                                                  \
            place += few[place] < key;                                                                                  \
            further |= few[place] < key;                                                                                \
            found[i] = 2 * place + (few[place] == key);                                                                 \
        }                                                                                                               \
        return further != 0;                                                                                            \
    }

FM_WALK(fm_walk_u32, uint32_t)
FM_WALK(fm_walk_u64, uint64_t)

/* The cells of keys, (key - low) >> shift held to 0 below low and to `above` above high. */
#define FM_CELLS(NAME, TYPE)                                                                                            \
    FM_WIDE static void NAME(                                                                                           \
        const TYPE* restrict keys, ptrdiff_t n, TYPE low, TYPE high, int shift, uint32_t above,                         \
        uint32_t* restrict found) {                                                                                     \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                             \
            TYPE key = keys[i];                                                                                         \
            uint32_t cell = 1 + (uint32_t)((TYPE)(key - low) >> shift);                                                 \
            cell = key >= low ? cell : 0;                                                                               \
            found[i] = key <= high ? cell : above;                                                                      \
        }                                                                                                               \
    }

FM_CELLS(fm_cells_u32, uint32_t)
FM_CELLS(fm_cells_u64, uint64_t)

/* Sums over rows in sums[0..5), over rows with label 1 in sums[5..10): rows, placements of either model, and the squares
 * of their differences, the lower halves of these and the upper. Up to 2^31 rows.
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
