/* A loop over the rows of a batch that a filter reads. */
#ifndef FASTMETRICS_COLUMNS_FILTERED_ROWS_H
#define FASTMETRICS_COLUMNS_FILTERED_ROWS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "numeric/bit_count.h"

/* The rows whose bits are set, in order; at most `capacity` of them are written. Row i is bit first + i of the bitmap,
 * whose bytes are little-endian. Returns the number of rows written.
 */
static int64_t fm_rows_of_bitmap(
    const uint8_t* bitmap, int64_t first, int64_t rows, int64_t* out, int64_t capacity) {
    int64_t row = 0, found = 0;
    while (row < rows && found < capacity) {
        const int64_t bit = first + row;
        if (bit % 8 == 0 && rows - row >= 64) {
            uint64_t word;
            memcpy(&word, bitmap + bit / 8, 8);
            for (; word && found < capacity; word &= word - 1) out[found++] = row + fm_first_bit(word);
            row += 64;
        } else {
            if (bitmap[bit / 8] >> (bit % 8) & 1) out[found++] = row;
            row++;
        }
    }
    return found;
}

#endif
