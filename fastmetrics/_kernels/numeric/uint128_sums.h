/* Products of words and of pairs of words, and their sums in 128 and 256 bits: words from the lowest on. DeLong's squares
   of placements and pairs of weighted rows need them. */
#ifndef FASTMETRICS_NUMERIC_UINT128_SUMS_H
#define FASTMETRICS_NUMERIC_UINT128_SUMS_H

#include <stdint.h>

static inline uint64_t fm_multiply_u64(uint64_t a, uint64_t b, uint64_t* high) {
#if defined(__SIZEOF_INT128__)
    __uint128_t product = (__uint128_t)a * b;
    *high = (uint64_t)(product >> 64);
    return (uint64_t)product;
#else
    const uint64_t mask = UINT64_C(0xffffffff);
    uint64_t inner = (a & mask) * (b & mask);
    uint64_t first = (a >> 32) * (b & mask) + (inner >> 32);
    uint64_t second = (a & mask) * (b >> 32) + (first & mask);
    *high = (a >> 32) * (b >> 32) + (first >> 32) + (second >> 32);
    return (second << 32) | (inner & mask);
#endif
}

/* sum += a * b. The caller keeps the sum below 2^128. */
static inline void fm_add_product_u128(uint64_t* sum, uint64_t a, uint64_t b) {
    uint64_t high;
    uint64_t low = fm_multiply_u64(a, b, &high);
    sum[0] += low;
    sum[1] += high + (sum[0] < low);
}

/* sum += a * b * 2^(64 place), for a sum of four words and place <= 2. The caller keeps the sum below 2^256. */
static inline void fm_add_product_at(uint64_t* sum, int place, uint64_t a, uint64_t b) {
    uint64_t high;
    uint64_t low = fm_multiply_u64(a, b, &high);
    sum[place] += low;
    high += sum[place] < low;
    sum[place + 1] += high;
    if (place < 2 && sum[place + 1] < high && ++sum[place + 2] == 0 && place < 1) ++sum[3];
}

/* sum += (a_low + a_high 2^64) (b_low + b_high 2^64). The caller keeps the sum below 2^256. */
static inline void fm_add_product_u256(
    uint64_t* sum, uint64_t a_low, uint64_t a_high, uint64_t b_low, uint64_t b_high) {
    fm_add_product_at(sum, 0, a_low, b_low);
    fm_add_product_at(sum, 1, a_low, b_high);
    fm_add_product_at(sum, 1, a_high, b_low);
    fm_add_product_at(sum, 2, a_high, b_high);
}

#endif
