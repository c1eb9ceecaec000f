/* Inner loops of poisson_weights.pyx over replicates: Poisson weights, and integers times weights. They are in C to use
 * wide SIMD registers. All arithmetic is on integers, so the bits are the same at every width. */
#ifndef FASTMETRICS_RESAMPLING_POISSON_LOOPS_H
#define FASTMETRICS_RESAMPLING_POISSON_LOOPS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
#define FM_WEIGHED_COLUMNS 4   /* columns that are summed at once */
#define FM_WEIGHED_BITS 36     /* values below 2^36 in magnitude: 256 of them times 255 are below 2^52, so sums are exact */
#define FM_WEIGHED_LANES 8

#if defined(__GNUC__)
typedef double fm_four_doubles __attribute__((vector_size(32)));
typedef uint64_t fm_four_words __attribute__((vector_size(32)));

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define FM_SHIFT_OF_BYTE(R) (56 - 8 * (R))
#else
#define FM_SHIFT_OF_BYTE(R) (8 * (R))
#endif
#define FM_FOUR_SHIFTS(R)                                                                                              \
    {FM_SHIFT_OF_BYTE(R), FM_SHIFT_OF_BYTE(R + 1), FM_SHIFT_OF_BYTE(R + 2), FM_SHIFT_OF_BYTE(R + 3)}

/* Eight bytes as doubles: a byte in the low bits of the double 2^52 is their sum. */
#define FM_WIDEN_EIGHT(BYTES, OUT)                                                                                     \
    do {                                                                                                               \
        const fm_four_doubles magic_ = {0x1p52, 0x1p52, 0x1p52, 0x1p52};                                               \
        uint64_t bytes_;                                                                                               \
        fm_four_words all_;                                                                                            \
        fm_four_doubles low_, high_;                                                                                   \
        memcpy(&bytes_, BYTES, sizeof(bytes_));                                                                        \
        all_ = (fm_four_words){bytes_, bytes_, bytes_, bytes_};                                                        \
        low_ = (fm_four_doubles)(((all_ >> (fm_four_words)FM_FOUR_SHIFTS(0)) & 255) | (fm_four_words)magic_) - magic_; \
        high_ = (fm_four_doubles)(((all_ >> (fm_four_words)FM_FOUR_SHIFTS(4)) & 255) | (fm_four_words)magic_) - magic_;\
        memcpy(OUT, &low_, sizeof(low_));                                                                              \
        memcpy((OUT) + 4, &high_, sizeof(high_));                                                                      \
    } while (0)

/* out[k][first + r] += sum over i of lanes[i][r] * values[i][k], for COLUMNS columns k and eight replicates r, whose sums
 * stay in registers. */
#define FM_WEIGH_EIGHT(COLUMNS)                                                                                        \
    do {                                                                                                               \
        fm_four_doubles low_[COLUMNS], high_[COLUMNS];                                                                 \
        for (int k_ = 0; k_ < COLUMNS; k_++) low_[k_] = high_[k_] = (fm_four_doubles){0, 0, 0, 0};                     \
        for (ptrdiff_t i_ = 0; i_ < n; i_++) {                                                                         \
            fm_four_doubles x_, y_;                                                                                    \
            memcpy(&x_, lanes[i_], sizeof(x_));                                                                        \
            memcpy(&y_, lanes[i_] + 4, sizeof(y_));                                                                    \
            for (int k_ = 0; k_ < COLUMNS; k_++) {                                                                     \
                low_[k_] += x_ * own[FM_WEIGHED_COLUMNS * i_ + k_];                                                    \
                high_[k_] += y_ * own[FM_WEIGHED_COLUMNS * i_ + k_];                                                   \
            }                                                                                                          \
        }                                                                                                              \
        for (int k_ = 0; k_ < COLUMNS; k_++) {                                                                         \
            for (int r_ = 0; r_ < 4; r_++) {                                                                           \
                out[c + k_][first + r_] += (int64_t)low_[k_][r_];                                                      \
                out[c + k_][first + 4 + r_] += (int64_t)high_[k_][r_];                                                 \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)
#else
#define FM_WIDEN_EIGHT(BYTES, OUT)                                                                                     \
    for (int r_ = 0; r_ < FM_WEIGHED_LANES; r_++) (OUT)[r_] = (BYTES)[r_]

#define FM_WEIGH_EIGHT(COLUMNS)                                                                                        \
    for (int k_ = 0; k_ < COLUMNS; k_++) {                                                                             \
        double sums_[FM_WEIGHED_LANES] = {0};                                                                          \
        for (ptrdiff_t i_ = 0; i_ < n; i_++) {                                                                         \
            for (int r_ = 0; r_ < FM_WEIGHED_LANES; r_++)                                                              \
                sums_[r_] += lanes[i_][r_] * own[FM_WEIGHED_COLUMNS * i_ + k_];                                        \
        }                                                                                                              \
        for (int r_ = 0; r_ < FM_WEIGHED_LANES; r_++) out[c + k_][first + r_] += (int64_t)sums_[r_];                   \
    }
#endif

/* out[c][r] += sum over i of weights[buckets[i], r] * values of row i, for all columns c and replicates r. Values are
 * integers as doubles: a panel of n rows for every FM_WEIGHED_COLUMNS columns. The weights of eight replicates are made
 * doubles once for all columns. */
FM_WIDE static void fm_add_weighed_columns(
    const uint8_t *weights, ptrdiff_t stride, const int32_t *buckets, ptrdiff_t n, const double *values, ptrdiff_t n_columns,
    ptrdiff_t n_replicates, int64_t *const *out
) {
    double lanes[FM_WEIGHED_ROWS][FM_WEIGHED_LANES];
    ptrdiff_t first = 0;
    for (; first + FM_WEIGHED_LANES <= n_replicates; first += FM_WEIGHED_LANES) {
        for (ptrdiff_t i = 0; i < n; i++) {
            FM_WIDEN_EIGHT(weights + buckets[i] * stride + first, lanes[i]);
        }
        for (ptrdiff_t c = 0; c < n_columns; c += FM_WEIGHED_COLUMNS) {
            const double *own = values + c * n;
            switch (n_columns - c) {
                case 1: FM_WEIGH_EIGHT(1); break;
                case 2: FM_WEIGH_EIGHT(2); break;
                case 3: FM_WEIGH_EIGHT(3); break;
                default: FM_WEIGH_EIGHT(4);
            }
        }
    }
    for (; first < n_replicates; first++) {
        for (ptrdiff_t c = 0; c < n_columns; c++) {
            const double *own = values + c / FM_WEIGHED_COLUMNS * FM_WEIGHED_COLUMNS * n + c % FM_WEIGHED_COLUMNS;
            double sum = 0;
            for (ptrdiff_t i = 0; i < n; i++) sum += weights[buckets[i] * stride + first] * own[FM_WEIGHED_COLUMNS * i];
            out[c][first] += (int64_t)sum;
        }
    }
}

#endif
