/* Rows of the table of longest common subsequences, 64 columns a word.
 *
 * M. Crochemore, C. Iliopoulos, Y. Pinzon, J. Reid, "A fast and practical bit-vector algorithm for the longest common
 * subsequence problem", IPL 80 (2001); H. Hyyro, "Bit-parallel LCS-length computation revisited", AWOCA 2004. Bit j of
 * a row is 0 where the table grows by one from column j to column j + 1: a row of ones is that of the empty text. With M
 * the columns whose token is that of the new row, the next row is (V + (V & M)) | (V & ~M); sums run through words, so
 * columns may be gone through in strips, each down all rows, when the carry of every row is kept.
 */
#ifndef FASTMETRICS_LCSBITS_H
#define FASTMETRICS_LCSBITS_H

#include "bitcount.h"

#include <stdint.h>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <immintrin.h>
#endif
#if defined(_MSC_VER)
#include <intrin.h>
#endif

#define FM_STRIP 4

/* A loop that needs all registers stays in a function of its own. */
#if defined(__GNUC__)
#define FM_APART __attribute__((noinline))
#else
#define FM_APART
#endif

/* The highest bit set of a word that is not 0. */
static inline int fm_last_bit(uint64_t word) {
#if defined(_MSC_VER)
    unsigned long place;
    _BitScanReverse64(&place, word);
    return (int)place;
#else
    return 63 - __builtin_clzll(word);
#endif
}

static inline unsigned char fm_add_carry(unsigned char carry, uint64_t one, uint64_t other, uint64_t* sum) {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
    unsigned long long found;
    carry = _addcarry_u64(carry, one, other, &found);
    *sum = found;
    return carry;
#else
    uint64_t found = one + other;
    unsigned char over = found < one;
    found += carry;
    over |= found < carry;
    *sum = found;
    return over;
#endif
}

/* One word of a row; `carry` is that of the word before and becomes that for the next. */
static inline uint64_t fm_lcs_step(uint64_t row, uint64_t match, unsigned char* carry) {
    uint64_t sum;
    *carry = fm_add_carry(*carry, row, row & match, &sum);
    return sum | (row & ~match);
}

/* The last row of a table of up to 64 columns. */
static inline uint64_t fm_lcs_word(const uint64_t* masks, const int32_t* tokens, int64_t n) {
    uint64_t row = ~(uint64_t)0;
    int64_t place;
    for (place = 0; place < n; place++) {
        uint64_t both = row & masks[tokens[place]];
        row = (row + both) | (row - both);
    }
    return row;
}

/* Adds four words to four others, from the lowest on, with the carry that comes in; the one that goes out. */
static inline unsigned char fm_add_strip(
    unsigned char carry, const uint64_t* add, uint64_t* a, uint64_t* b, uint64_t* c, uint64_t* d) {
#if defined(__x86_64__) && defined(__GNUC__)
    /* Compilers take the carry out of its flag between any two additions, which costs more than they do. */
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

/* Four words of a row, `bits`, down all rows that follow: `carries[r]` is read and written for every row. */
static FM_APART void fm_lcs_strip(
    const uint64_t* masks, const int32_t* tokens, int64_t n, uint8_t* carries, uint64_t* bits) {
    uint64_t a = bits[0], b = bits[1], c = bits[2], d = bits[3];
    int64_t place;
    for (place = 0; place < n; place++) {
        const uint64_t* match = masks + (int64_t)tokens[place] * FM_STRIP;
        const uint64_t both[FM_STRIP] = {a & match[0], b & match[1], c & match[2], d & match[3]};
        const uint64_t e = a ^ both[0], f = b ^ both[1], g = c ^ both[2], h = d ^ both[3];
        carries[place] = fm_add_strip(carries[place], both, &a, &b, &c, &d);
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

/* The same where most rows have no token of the strip: `present[token]` says which have. */
static inline void fm_lcs_sparse_strip(
    const uint64_t* masks, const uint8_t* present, const int32_t* tokens, int64_t n, uint8_t* carries, uint64_t* bits) {
    int64_t place;
    int word;
    for (place = 0; place < n; place++) {
        const uint64_t* match;
        unsigned char carry = carries[place];
        if (!(present[tokens[place]] | carry)) continue;
        match = masks + (int64_t)tokens[place] * FM_STRIP;
        for (word = 0; word < FM_STRIP; word++) bits[word] = fm_lcs_step(bits[word], match[word], &carry);
        carries[place] = carry;
    }
}

#endif
