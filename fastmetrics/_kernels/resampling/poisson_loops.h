/* Inner loops of poisson_weights.pyx over replicates: Poisson weights, and integers times weights. They are in C to use
 * wide SIMD registers. All arithmetic is on integers, so the bits are the same at every width. */
#ifndef FASTMETRICS_RESAMPLING_POISSON_LOOPS_H
#define FASTMETRICS_RESAMPLING_POISSON_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#include "numeric/splitmix64.h"
#include "numeric/vector_math.h"

#define FM_N_POISSON_THRESHOLDS 12
#define FM_WORDS_PER_BLOCK 256

static const uint32_t fm_poisson_thresholds[FM_N_POISSON_THRESHOLDS] = {
    1580030169u, 3160060337u, 3950075422u, 4213413783u, 4279248374u, 4292415292u,
    4294609778u, 4294923276u, 4294962463u, 4294966817u, 4294967253u, 4294967292u,
};

/* The weights of words first..first + n of a sequence: two per word, from its low and its high half. */
FM_WIDE static void fm_draw_weights(uint64_t start, int64_t first, ptrdiff_t n, uint8_t *out) {
    uint32_t numbers[2 * FM_WORDS_PER_BLOCK];
    uint32_t weights[2 * FM_WORDS_PER_BLOCK];
    for (ptrdiff_t done = 0; done < n; done += FM_WORDS_PER_BLOCK) {
        ptrdiff_t length = n - done < FM_WORDS_PER_BLOCK ? n - done : FM_WORDS_PER_BLOCK;
        for (ptrdiff_t i = 0; i < length; i++) {
            uint64_t word = fm_splitmix64_mix(start + (uint64_t)(first + done + i + 1) * FM_SPLITMIX64_INCREMENT);
            numbers[2 * i] = (uint32_t)word;
            numbers[2 * i + 1] = (uint32_t)(word >> 32);
        }
        for (ptrdiff_t i = 0; i < 2 * length; i++) {
            uint32_t number = numbers[i], weight = 0;
            for (int k = 0; k < FM_N_POISSON_THRESHOLDS; k++) weight += number >= fm_poisson_thresholds[k];
            weights[i] = weight;
        }
        for (ptrdiff_t i = 0; i < 2 * length; i++) out[2 * done + i] = (uint8_t)weights[i];
    }
}

/* out[r] += weights[r] * value. The halves of the value are multiplied separately: SIMD multiplies 32 by 32 bits. */
FM_WIDE static void fm_add_multiples(const uint32_t *weights, int64_t value, ptrdiff_t n, int64_t *out) {
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    uint32_t low = (uint32_t)magnitude, high = (uint32_t)(magnitude >> 32);
    uint64_t *sums = (uint64_t *)out;
    if (high) {
        for (ptrdiff_t r = 0; r < n; r++) {
            uint64_t product = (uint64_t)weights[r] * low + (((uint64_t)weights[r] * high) << 32);
            sums[r] += value < 0 ? 0 - product : product;
        }
    } else if (value < 0) {
        for (ptrdiff_t r = 0; r < n; r++) sums[r] -= (uint64_t)weights[r] * low;
    } else {
        for (ptrdiff_t r = 0; r < n; r++) sums[r] += (uint64_t)weights[r] * low;
    }
}

#endif
