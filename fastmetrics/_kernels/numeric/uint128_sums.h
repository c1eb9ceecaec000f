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

/* The sum of three words and its carry, 0 to 2. */
static inline uint64_t fm_add_words(uint64_t a, uint64_t b, uint64_t c, uint64_t* carry) {
    uint64_t sum = a + b;
    *carry = sum < a;
    sum += c;
    *carry += sum < c;
    return sum;
}

/* sum += (a_low + a_high 2^64) (b_low + b_high 2^64). The caller keeps the sum below 2^256. No branches. */
static inline void fm_add_product_u256(
    uint64_t* sum, uint64_t a_low, uint64_t a_high, uint64_t b_low, uint64_t b_high) {
    uint64_t first_high, second_high, third_high, fourth_high, carry;
    uint64_t first = fm_multiply_u64(a_low, b_low, &first_high);
    uint64_t second = fm_multiply_u64(a_low, b_high, &second_high);
    uint64_t third = fm_multiply_u64(a_high, b_low, &third_high);
    uint64_t fourth = fm_multiply_u64(a_high, b_high, &fourth_high);
    uint64_t words[4];
    words[0] = first;
    words[1] = fm_add_words(first_high, second, third, &carry);
    words[2] = fm_add_words(second_high, third_high, fourth, &second_high);
    words[2] += carry;
    words[3] = fourth_high + second_high + (words[2] < carry);
    sum[0] += words[0];
    carry = sum[0] < words[0];
    sum[1] = fm_add_words(sum[1], words[1], carry, &carry);
    sum[2] = fm_add_words(sum[2], words[2], carry, &carry);
    sum[3] += words[3] + carry;
}

#endif
