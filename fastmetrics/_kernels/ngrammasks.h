/* Clipped n-gram matches of two short texts, all orders at once, by masks of positions.
 *
 * For a position i of one text, E_n(i) is the set of positions of the other text at which the same n symbols begin, as bits.
 * E_1(i) is looked up by the symbol, and E_n(i) = E_1(i) & (E_(n-1)(i+1) >> 1): from the last position to the first, every order
 * takes one shift and one intersection. A symbol has its bits by identity, so nothing is hashed and nothing can collide.
 *
 * Clipping needs no counts. Equal n-grams have equal sets, so each position of the one text takes the first position of its set
 * that is still free; where none is left, the n-gram is clipped. What is taken is min(count, count) of every n-gram.
 *
 * Orders 1 to 8 are the lanes of one vector of 64-bit numbers: the step to the next order is a permutation of lanes. A set of W
 * words is W vectors. FM_WIDE: see vectormath.h.
 */
#ifndef FASTMETRICS_NGRAMMASKS_H
#define FASTMETRICS_NGRAMMASKS_H

#include "vectormath.h"

#define FM_ORDERS 8
#define FM_MASK_WORDS 16

#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)

typedef uint64_t fm_orders __attribute__((vector_size(64)));
typedef int8_t fm_bytes __attribute__((vector_size(8)));

/* Position i: `row` is its E_1, `sets` what the position after it has. Lanes of `missed` count positions that took nothing.
 * CREDITED: which orders took something goes to the bits of credits[i]. */
#define FM_TAKE(W, CREDITED)                                                                                                   \
    {                                                                                                                          \
        fm_orders nothing = ones;                                                                                              \
        for (w = 0; w < (W); w++) {                                                                                            \
            fm_orders set = sets[w] >> 1, taken;                                                                               \
            if (w + 1 < (W)) set |= sets[w + 1] << 63;                                                                         \
            set = __builtin_shufflevector(set, ones, 8, 0, 1, 2, 3, 4, 5, 6) & row[w];                                         \
            sets[w] = set;                                                                                                     \
            set &= unused[w];                                                                                                  \
            taken = set & -set & nothing;                                                                                      \
            unused[w] ^= taken;                                                                                                \
            nothing &= (fm_orders)(set == zeros);                                                                              \
        }                                                                                                                      \
        missed -= nothing;                                                                                                     \
        if (CREDITED) {                                                                                                        \
            fm_bytes bytes = __builtin_convertvector(~nothing, fm_bytes) & bits;                                               \
            uint64_t packed;                                                                                                   \
            memcpy(&packed, &bytes, 8);                                                                                        \
            credits[i] |= (uint16_t)(packed * UINT64_C(0x0101010101010101) >> 56);                                             \
        }                                                                                                                      \
    }

#define FM_MATCH_MASKS(NAME, W, MOST, CREDITED)                                                                                \
    FM_WIDE static void NAME(                                                                                                  \
        const uint16_t* symbols, ptrdiff_t n, const uint64_t* masks, ptrdiff_t n_words, int64_t* matches,                      \
        uint16_t* credits) {                                                                                                   \
        const fm_orders zeros = {0, 0, 0, 0, 0, 0, 0, 0};                                                                      \
        const fm_orders ones = ~zeros;                                                                                         \
        const fm_bytes bits = {1, 2, 4, 8, 16, 32, 64, -128};                                                                  \
        fm_orders sets[MOST], unused[MOST], missed = zeros;                                                                    \
        ptrdiff_t i, w;                                                                                                        \
        (void)n_words, (void)credits, (void)bits;                                                                              \
        for (w = 0; w < (W); w++) {                                                                                            \
            sets[w] = zeros;                                                                                                   \
            unused[w] = ones;                                                                                                  \
        }                                                                                                                      \
        for (i = n - 1; i >= 0; i--) {                                                                                         \
            const uint64_t* row = masks + (ptrdiff_t)symbols[i] * (W);                                                         \
            FM_TAKE(W, CREDITED)                                                                                               \
        }                                                                                                                      \
        for (w = 0; w < FM_ORDERS; w++) matches[w] = n - (int64_t)missed[w];                                                   \
    }

#else

#define FM_MATCH_MASKS(NAME, W, MOST, CREDITED)                                                                                \
    static void NAME(                                                                                                          \
        const uint16_t* symbols, ptrdiff_t n, const uint64_t* masks, ptrdiff_t n_words, int64_t* matches,                      \
        uint16_t* credits) {                                                                                                   \
        uint64_t sets[MOST][FM_ORDERS] = {{0}}, used[MOST][FM_ORDERS] = {{0}};                                                 \
        ptrdiff_t i, w;                                                                                                        \
        int order;                                                                                                             \
        (void)n_words, (void)credits;                                                                                          \
        for (order = 0; order < FM_ORDERS; order++) matches[order] = 0;                                                        \
        for (i = n - 1; i >= 0; i--) {                                                                                         \
            const uint64_t* row = masks + (ptrdiff_t)symbols[i] * (W);                                                         \
            for (order = FM_ORDERS - 1; order >= 0; order--) {                                                                 \
                int found = 0;                                                                                                 \
                for (w = 0; w < (W); w++) {                                                                                    \
                    uint64_t set = row[w], candidates;                                                                         \
                    if (order) {                                                                                               \
                        set &= sets[w][order - 1] >> 1 | (w + 1 < (W) ? sets[w + 1][order - 1] << 63 : 0);                     \
                    }                                                                                                          \
                    sets[w][order] = set;                                                                                      \
                    candidates = set & ~used[w][order];                                                                        \
                    if (!found) used[w][order] |= candidates & (0 - candidates);                                               \
                    found |= candidates != 0;                                                                                  \
                }                                                                                                              \
                matches[order] += found;                                                                                       \
                if (CREDITED) credits[i] |= (uint16_t)(found << order);                                                        \
            }                                                                                                                  \
        }                                                                                                                      \
    }

#endif

FM_MATCH_MASKS(fm_match_one_word, 1, 1, 0)
FM_MATCH_MASKS(fm_match_two_words, 2, 2, 0)
FM_MATCH_MASKS(fm_match_three_words, 3, 3, 0)
FM_MATCH_MASKS(fm_match_four_words, 4, 4, 0)
FM_MATCH_MASKS(fm_match_words, n_words, FM_MASK_WORDS, 0)
FM_MATCH_MASKS(fm_credit_one_word, 1, 1, 1)
FM_MATCH_MASKS(fm_credit_words, n_words, FM_MASK_WORDS, 1)

/* matches[n - 1] = how many n-grams of two texts of symbols match, clipped, for n = 1 to 8.
 *
 * Row r of `masks`, of n_words words, is the positions of symbol r in the one text; row 0 is empty. symbols[i] is the row of
 * position i of the other. credits: NULL, or bit n - 1 of credits[i] is set where the n-gram at i counts.
 */
static inline void fm_match_masks(
    const uint16_t* symbols, ptrdiff_t n, const uint64_t* masks, ptrdiff_t n_words, int64_t* matches, uint16_t* credits) {
    if (credits && n_words == 1) fm_credit_one_word(symbols, n, masks, n_words, matches, credits);
    else if (credits) fm_credit_words(symbols, n, masks, n_words, matches, credits);
    else if (n_words == 1) fm_match_one_word(symbols, n, masks, n_words, matches, credits);
    else if (n_words == 2) fm_match_two_words(symbols, n, masks, n_words, matches, credits);
    else if (n_words == 3) fm_match_three_words(symbols, n, masks, n_words, matches, credits);
    else if (n_words == 4) fm_match_four_words(symbols, n, masks, n_words, matches, credits);
    else fm_match_words(symbols, n, masks, n_words, matches, credits);
}

#endif
