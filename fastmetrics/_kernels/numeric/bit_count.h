/* Number of set bits in a word, by portable arithmetic: not every x86-64 processor has POPCNT. */
#ifndef FASTMETRICS_NUMERIC_BIT_COUNT_H
#define FASTMETRICS_NUMERIC_BIT_COUNT_H

#include <stdint.h>

static inline int fm_bit_count(uint64_t word) {
    word -= (word >> 1) & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return (int)((word * 0x0101010101010101u) >> 56);
}

#endif
