/* Sums of products in 128 bits, as two words (low, high). DeLong's squares of placements need them. */
#ifndef FASTMETRICS_NUMERIC_UINT128_SUMS_H
#define FASTMETRICS_NUMERIC_UINT128_SUMS_H

#include <stdint.h>

/* sum += a * b. The caller keeps the sum below 2^128. */
static inline void fm_add_product_u128(uint64_t* sum, uint64_t a, uint64_t b) {
    uint64_t low, high;
#if defined(__SIZEOF_INT128__)
    __uint128_t product = (__uint128_t)a * b;
    low = (uint64_t)product;
    high = (uint64_t)(product >> 64);
#else
    const uint64_t mask = UINT64_C(0xffffffff);
    uint64_t inner = (a & mask) * (b & mask);
    uint64_t first = (a >> 32) * (b & mask) + (inner >> 32);
    uint64_t second = (a & mask) * (b >> 32) + (first & mask);
    low = (second << 32) | (inner & mask);
    high = (a >> 32) * (b >> 32) + (first >> 32) + (second >> 32);
#endif
    sum[0] += low;
    sum[1] += high + (sum[0] < low);
}

#endif
