/* Loops over pairs of labels that are compiled for wide registers (see FM_WIDE in vector_math.h). */
#ifndef FASTMETRICS_LABELPAIRS_H
#define FASTMETRICS_LABELPAIRS_H

#include "numeric/vector_math.h"

/* cells[i] = (first - low) * other_width + (second - other_low). Widths are at least 1 and less than 2^63. Returns 0 if
 * all labels are in their ranges; otherwise the cells are invalid. */
FM_WIDE static uint64_t fm_table_cells(
    const int64_t* first, const int64_t* second, ptrdiff_t n, int64_t low, int64_t width, int64_t other_low,
    int64_t other_width, uint32_t* cells
) {
    uint64_t sign_bits = 0, last = (uint64_t)width - 1, other_last = (uint64_t)other_width - 1;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        uint64_t row = (uint64_t)first[i] - (uint64_t)low;
        uint64_t column = (uint64_t)second[i] - (uint64_t)other_low;
        sign_bits |= row | column | (last - row) | (other_last - column);
        cells[i] = (uint32_t)row * (uint32_t)other_width + (uint32_t)column;
    }
    return sign_bits >> 63;
}

#endif
