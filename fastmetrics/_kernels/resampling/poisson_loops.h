/* Inner loops of resampling.pyx over replicates: weights of a Poisson distribution, and integers times weights. In C for
 * the wide registers; all of it is integer arithmetic, so every width gives the same bits. */
#ifndef FASTMETRICS_RESAMPLEMATH_H
#define FASTMETRICS_RESAMPLEMATH_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__) \
    && !defined(__SANITIZE_ADDRESS__)
#define FM_WIDE_RESAMPLE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FM_WIDE_RESAMPLE
#endif

#define FM_N_THRESHOLDS 12
#define FM_DRAWN 256 /* words at a time */

static const uint32_t fm_thresholds[FM_N_THRESHOLDS] = {
    1580030169u, 3160060337u, 3950075422u, 4213413783u, 4279248374u, 4292415292u,
    4294609778u, 4294923276u, 4294962463u, 4294966817u, 4294967253u, 4294967292u,
};

static inline uint64_t fm_mixed(uint64_t word) {
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
    return word ^ (word >> 31);
}

/* The weights that words first..first + n of a sequence stand for: two of each word, its low half first. */
FM_WIDE_RESAMPLE
static void fm_draw_words(uint64_t start, int64_t first, ptrdiff_t n, uint8_t *out) {
    uint32_t numbers[2 * FM_DRAWN];
    uint32_t weights[2 * FM_DRAWN];
    for (ptrdiff_t done = 0; done < n; done += FM_DRAWN) {
        ptrdiff_t length = n - done < FM_DRAWN ? n - done : FM_DRAWN;
        for (ptrdiff_t i = 0; i < length; i++) {
            uint64_t word = fm_mixed(start + (uint64_t)(first + done + i + 1) * 0x9E3779B97F4A7C15u);
            numbers[2 * i] = (uint32_t)word;
            numbers[2 * i + 1] = (uint32_t)(word >> 32);
        }
        for (ptrdiff_t i = 0; i < 2 * length; i++) {
            uint32_t number = numbers[i], weight = 0;
            for (int k = 0; k < FM_N_THRESHOLDS; k++) weight += number >= fm_thresholds[k];
            weights[i] = weight;
        }
        for (ptrdiff_t i = 0; i < 2 * length; i++) out[2 * done + i] = (uint8_t)weights[i];
    }
}

/* out[r] += weights[r] * value: the halves of the value one by one, for registers multiply 32 bits by 32. */
FM_WIDE_RESAMPLE
static void fm_add_weighted(const uint32_t *weights, int64_t value, ptrdiff_t n, int64_t *out) {
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
