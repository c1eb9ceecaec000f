/* Rows of the table of longest common subsequences, with 64 columns in a word.
 *
 * M. Crochemore, C. Iliopoulos, Y. Pinzon, J. Reid, "A fast and practical bit-vector algorithm for the longest common
 * subsequence problem", IPL 80 (2001); H. Hyyro, "Bit-parallel LCS-length computation revisited", AWOCA 2004.
 *
 * Bit j of a row V is 0 if the table grows by one from column j to column j + 1. The row of the empty text is all ones.
 * If M are the columns whose token is that of the new row, the next row is (V + (V & M)) | (V & ~M). The sum carries
 * from word to word. So columns can be processed in strips, each for all rows, if the carry of every row is stored.
 */
#ifndef FASTMETRICS_TEXT_LCS_BITS_H
#define FASTMETRICS_TEXT_LCS_BITS_H

#include "numeric/bit_count.h"

#include <stdint.h>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <immintrin.h>
#endif
#if defined(_MSC_VER)
#include <intrin.h>
#endif

#define FM_STRIP 4

/* A loop that needs all registers is not inlined. */
#if defined(__GNUC__)
#define FM_NOINLINE __attribute__((noinline))
#else
#define FM_NOINLINE
#endif

/* Returns the index of the highest bit set in a word that is not 0. */
static inline int fm_highest_bit(uint64_t word) {
#if defined(_MSC_VER)
    unsigned long index;
    _BitScanReverse64(&index, word);
    return (int)index;
#else
    return 63 - __builtin_clzll(word);
#endif
}

static inline unsigned char fm_add_carry(unsigned char carry, uint64_t one, uint64_t other, uint64_t* sum) {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
    unsigned long long total;
    carry = _addcarry_u64(carry, one, other, &total);
    *sum = total;
    return carry;
#else
    uint64_t total = one + other;
    unsigned char overflow = total < one;
    total += carry;
    overflow |= total < carry;
    *sum = total;
    return overflow;
#endif
}

/* Returns one word of the next row. `carry` comes from the word before and goes to the word after it. */
static inline uint64_t fm_lcs_step(uint64_t row, uint64_t match, unsigned char* carry) {
    uint64_t sum;
    *carry = fm_add_carry(*carry, row, row & match, &sum);
    return sum | (row & ~match);
}

/* Returns the last row of a table of up to 64 columns. */
static inline uint64_t fm_lcs_word(const uint64_t* masks, const int32_t* tokens, int64_t n) {
    uint64_t row = ~(uint64_t)0;
    int64_t i;
    for (i = 0; i < n; i++) {
        uint64_t both = row & masks[tokens[i]];
        row = (row + both) | (row - both);
    }
    return row;
}

/* Adds four words to four others, the lowest first, with a carry in. Returns the carry out. */
static inline unsigned char fm_add_strip(
    unsigned char carry, const uint64_t* add, uint64_t* a, uint64_t* b, uint64_t* c, uint64_t* d) {
#if defined(__x86_64__) && defined(__GNUC__)
    /* Compilers move the carry out of its flag between two additions. That costs more than the additions. */
    __asm__(
        "addb $-1, %[carry]\n\t"
        "adcq %[e], %[a]\n\tadcq %[f], %[b]\n\tadcq %[g], %[c]\n\tadcq %[h], %[d]\n\t"
        "setc %[carry]"
        : [a] "+&r"(*a), [b] "+&r"(*b), [c] "+&r"(*c), [d] "+&r"(*d), [carry] "+&q"(carry)
        : [e] "rm"(add[0]), [f] "rm"(add[1]), [g] "rm"(add[2]), [h] "rm"(add[3])
        : "cc");
    return carry;
#else
    carry = fm_add_carry(carry, *a, add[0], a);
    carry = fm_add_carry(carry, *b, add[1], b);
    carry = fm_add_carry(carry, *c, add[2], c);
    return fm_add_carry(carry, *d, add[3], d);
#endif
}

/* Moves four words of a row, `bits`, down over n rows. carries[r] is read and written for every row r. */
static FM_NOINLINE void fm_lcs_strip(
    const uint64_t* masks, const int32_t* tokens, int64_t n, uint8_t* carries, uint64_t* bits) {
    uint64_t a = bits[0], b = bits[1], c = bits[2], d = bits[3];
    int64_t i;
    for (i = 0; i < n; i++) {
        const uint64_t* match = masks + (int64_t)tokens[i] * FM_STRIP;
        const uint64_t both[FM_STRIP] = {a & match[0], b & match[1], c & match[2], d & match[3]};
        const uint64_t e = a ^ both[0], f = b ^ both[1], g = c ^ both[2], h = d ^ both[3];
        carries[i] = fm_add_strip(carries[i], both, &a, &b, &c, &d);
        a |= e;
        b |= f;
        c |= g;
        d |= h;
    }
    bits[0] = a;
    bits[1] = b;
    bits[2] = c;
    bits[3] = d;
}

/* Does the same if most rows have no token of the strip. present[token] is 1 for the tokens of the strip. */
static inline void fm_lcs_sparse_strip(
    const uint64_t* masks, const uint8_t* present, const int32_t* tokens, int64_t n, uint8_t* carries, uint64_t* bits) {
    int64_t i;
    int word;
    for (i = 0; i < n; i++) {
        const uint64_t* match;
        unsigned char carry = carries[i];
        if (!(present[tokens[i]] | carry)) continue;
        match = masks + (int64_t)tokens[i] * FM_STRIP;
        for (word = 0; word < FM_STRIP; word++) bits[word] = fm_lcs_step(bits[word], match[word], &carry);
        carries[i] = carry;
    }
}

#endif
