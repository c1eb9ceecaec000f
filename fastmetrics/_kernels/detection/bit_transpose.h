/* Transpose of a 64 x 64 matrix of bits: bit j of word i becomes bit i of word j. */
#ifndef FASTMETRICS_BIT_TRANSPOSE_H
#define FASTMETRICS_BIT_TRANSPOSE_H

#include <stdint.h>

#include "numeric/bit_count.h"

/* Squares of half the size are swapped across the diagonal, from 32 x 32 down to single bits. */
static inline void fm_transpose_bits(uint64_t* words) {
    static const uint64_t low[6] = {
        0x00000000FFFFFFFFu, 0x0000FFFF0000FFFFu, 0x00FF00FF00FF00FFu,
        0x0F0F0F0F0F0F0F0Fu, 0x3333333333333333u, 0x5555555555555555u};
    int half = 32, step, i, j;
    for (step = 0; step < 6; step++, half >>= 1) {
        for (i = 0; i < 64; i += 2 * half) {
            for (j = i; j < i + half; j++) {
                uint64_t swapped = ((words[j] >> half) ^ words[j + half]) & low[step];
                words[j + half] ^= swapped;
                words[j] ^= swapped << half;
            }
        }
    }
}

#endif
