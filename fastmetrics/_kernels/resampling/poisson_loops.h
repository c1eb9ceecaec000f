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

#define FM_WEIGHED_ROWS 256    /* unit buckets whose weighted values are summed as doubles */
#define FM_WEIGHED_COLUMNS 4
#define FM_WEIGHED_BITS 36     /* values below 2^36 in magnitude: 256 of them times 255 are below 2^52, so sums are exact */
#define FM_WEIGHED_LANES 8

#if defined(__GNUC__)
typedef double fm_four_doubles __attribute__((vector_size(32)));
typedef int32_t fm_four_integers __attribute__((vector_size(16)));
#endif

/* out[k][r] += sum over i of weights[buckets[i], r] * values[i, k], for COLUMNS columns k and all replicates r. Values are
 * integers as doubles. The sums of eight replicates stay in registers. */
#if defined(__GNUC__)
#define FM_WEIGH_EIGHT(COLUMNS)                                                                                        \
    fm_four_doubles low[COLUMNS], high[COLUMNS];                                                                       \
    for (int k = 0; k < COLUMNS; k++) low[k] = high[k] = (fm_four_doubles){0, 0, 0, 0};                                \
    for (ptrdiff_t i = 0; i < n; i++) {                                                                                \
        const uint8_t *own = weights + buckets[i] * stride + first;                                                    \
        fm_four_integers a = {own[0], own[1], own[2], own[3]}, b = {own[4], own[5], own[6], own[7]};                   \
        fm_four_doubles x = __builtin_convertvector(a, fm_four_doubles);                                               \
        fm_four_doubles y = __builtin_convertvector(b, fm_four_doubles);                                               \
        for (int k = 0; k < COLUMNS; k++) {                                                                            \
            low[k] += x * values[FM_WEIGHED_COLUMNS * i + k];                                                          \
            high[k] += y * values[FM_WEIGHED_COLUMNS * i + k];                                                         \
        }                                                                                                              \
    }                                                                                                                  \
    for (int k = 0; k < COLUMNS; k++) {                                                                                \
        for (int r = 0; r < 4; r++) {                                                                                  \
            out[k][first + r] += (int64_t)low[k][r];                                                                   \
            out[k][first + 4 + r] += (int64_t)high[k][r];                                                              \
        }                                                                                                              \
    }
#else
#define FM_WEIGH_EIGHT(COLUMNS)                                                                                        \
    for (int k = 0; k < COLUMNS; k++) {                                                                                \
        double sums[FM_WEIGHED_LANES] = {0};                                                                           \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                            \
            const uint8_t *own = weights + buckets[i] * stride + first;                                                \
            for (int r = 0; r < FM_WEIGHED_LANES; r++) sums[r] += own[r] * values[FM_WEIGHED_COLUMNS * i + k];         \
        }                                                                                                              \
        for (int r = 0; r < FM_WEIGHED_LANES; r++) out[k][first + r] += (int64_t)sums[r];                              \
    }
#endif

#define FM_ADD_WEIGHED_COLUMNS(NAME, COLUMNS)                                                                          \
    FM_WIDE static void NAME(                                                                                          \
        const uint8_t *weights, ptrdiff_t stride, const int32_t *buckets, ptrdiff_t n, const double *values,           \
        ptrdiff_t n_replicates, int64_t *const *out                                                                    \
    ) {                                                                                                                \
        ptrdiff_t first = 0;                                                                                           \
        for (; first + FM_WEIGHED_LANES <= n_replicates; first += FM_WEIGHED_LANES) {                                  \
            FM_WEIGH_EIGHT(COLUMNS)                                                                                    \
        }                                                                                                              \
        for (; first < n_replicates; first++) {                                                                        \
            for (int k = 0; k < COLUMNS; k++) {                                                                        \
                double sum = 0;                                                                                        \
                for (ptrdiff_t i = 0; i < n; i++) {                                                                    \
                    sum += weights[buckets[i] * stride + first] * values[FM_WEIGHED_COLUMNS * i + k];                  \
                }                                                                                                      \
                out[k][first] += (int64_t)sum;                                                                         \
            }                                                                                                          \
        }                                                                                                              \
    }

FM_ADD_WEIGHED_COLUMNS(fm_add_one_column, 1)
FM_ADD_WEIGHED_COLUMNS(fm_add_two_columns, 2)
FM_ADD_WEIGHED_COLUMNS(fm_add_four_columns, 4)

#endif
