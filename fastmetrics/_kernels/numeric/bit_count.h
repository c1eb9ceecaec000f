/* Number of set bits in a word, and the index of the lowest. */
#ifndef FASTMETRICS_NUMERIC_BIT_COUNT_H
#define FASTMETRICS_NUMERIC_BIT_COUNT_H

#include <stdint.h>

#if defined(_MSC_VER)
#include <intrin.h>
#endif

/* By portable arithmetic: not every x86-64 processor has POPCNT. */
static inline int fm_bit_count(uint64_t word) {
    word -= (word >> 1) & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return (int)((word * 0x0101010101010101u) >> 56);
}

/* The index of the lowest bit that is set; the word is not 0. */
static inline int fm_first_bit(uint64_t word) {
#if defined(_MSC_VER)
    unsigned long index;
    _BitScanForward64(&index, word);
    return (int)index;
#else
    return __builtin_ctzll(word);
#endif
}

#endif
