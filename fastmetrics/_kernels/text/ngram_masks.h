/* Clipped n-gram matches of two short texts, for all orders at once, by bit masks of positions.
 *
 * For a position i of the first text, E_n(i) is the set of positions of the second text where the same n symbols begin.
 * Sets are bit masks. E_1(i) is looked up by the symbol, and E_n(i) = E_1(i) & (E_(n-1)(i+1) >> 1). Positions are
 * visited from the last to the first; each order then costs one shift and one intersection. Masks are found by the
 * symbol itself, not by a hash, so there are no collisions.
 *
 * Clipping needs no counts. Equal n-grams have equal sets, so each position of the first text claims the first free
 * position of its set. If none is free, the n-gram is clipped. An n-gram so has min(count, count) matches.
 *
 * Orders 1 to 8 are the lanes of one vector of 64-bit numbers, and the step to the next order is a permutation of the
 * lanes. A set of W words is W vectors. FM_WIDE is explained in vector_math.h.
 */
#ifndef FASTMETRICS_TEXT_NGRAM_MASKS_H
#define FASTMETRICS_TEXT_NGRAM_MASKS_H

#include "numeric/vector_math.h"

#define FM_ORDERS 8
#define FM_MASK_WORDS 16

#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)

typedef uint64_t fm_orders __attribute__((vector_size(64)));
typedef int8_t fm_bytes __attribute__((vector_size(8)));

/* Matches position i. `row` is its E_1, and `sets` holds the sets of position i + 1. The lanes of `missed` count the
 * positions without a match. MARKED: the orders that match are set in the bits of matched_orders[i]. */
#define FM_MATCH_POSITION(W, MARKED)                                                                                   \
    {                                                                                                                  \
        fm_orders unmatched = ones;                                                                                    \
        for (w = 0; w < (W); w++) {                                                                                    \
            fm_orders set = sets[w] >> 1, claimed;                                                                     \
            if (w + 1 < (W)) set |= sets[w + 1] << 63;                                                                 \
            set = __builtin_shufflevector(set, ones, 8, 0, 1, 2, 3, 4, 5, 6) & row[w];                                 \
            sets[w] = set;                                                                                             \
            set &= unclaimed[w];                                                                                       \
            claimed = set & -set & unmatched;                                                                          \
            unclaimed[w] ^= claimed;                                                                                   \
            unmatched &= (fm_orders)(set == zeros);                                                                    \
        }                                                                                                              \
        missed -= unmatched;                                                                                           \
        if (MARKED) {                                                                                                  \
            fm_bytes bytes = __builtin_convertvector(~unmatched, fm_bytes) & bits;                                     \
            uint64_t packed;                                                                                           \
            memcpy(&packed, &bytes, 8);                                                                                \
            matched_orders[i] |= (uint16_t)(packed * UINT64_C(0x0101010101010101) >> 56);                              \
        }                                                                                                              \
    }

#define FM_MATCH_MASKS(NAME, W, MAX_WORDS, MARKED)                                                                     \
    FM_WIDE static void NAME(                                                                                          \
        const uint16_t* symbols, ptrdiff_t n, const uint64_t* masks, ptrdiff_t n_words, int64_t* matches,              \
        uint16_t* matched_orders) {                                                                                    \
        const fm_orders zeros = {0, 0, 0, 0, 0, 0, 0, 0};                                                              \
        const fm_orders ones = ~zeros;                                                                                 \
        const fm_bytes bits = {1, 2, 4, 8, 16, 32, 64, -128};                                                          \
        fm_orders sets[MAX_WORDS], unclaimed[MAX_WORDS], missed = zeros;                                               \
        ptrdiff_t i, w;                                                                                                \
        (void)n_words, (void)matched_orders, (void)bits;                                                               \
        for (w = 0; w < (W); w++) {                                                                                    \
            sets[w] = zeros;                                                                                           \
            unclaimed[w] = ones;                                                                                       \
        }                                                                                                              \
        for (i = n - 1; i >= 0; i--) {                                                                                 \
            const uint64_t* row = masks + (ptrdiff_t)symbols[i] * (W);                                                 \
            FM_MATCH_POSITION(W, MARKED)                                                                               \
        }                                                                                                              \
        for (w = 0; w < FM_ORDERS; w++) matches[w] = n - (int64_t)missed[w];                                           \
    }

#else

#define FM_MATCH_MASKS(NAME, W, MAX_WORDS, MARKED)                                                                     \
    static void NAME(                                                                                                  \
        const uint16_t* symbols, ptrdiff_t n, const uint64_t* masks, ptrdiff_t n_words, int64_t* matches,              \
        uint16_t* matched_orders) {                                                                                    \
        uint64_t sets[MAX_WORDS][FM_ORDERS] = {{0}}, claimed[MAX_WORDS][FM_ORDERS] = {{0}};                            \
        ptrdiff_t i, w;                                                                                                \
        int order;                                                                                                     \
        (void)n_words, (void)matched_orders;                                                                           \
        for (order = 0; order < FM_ORDERS; order++) matches[order] = 0;                                                \
        for (i = n - 1; i >= 0; i--) {                                                                                 \
            const uint64_t* row = masks + (ptrdiff_t)symbols[i] * (W);                                                 \
            for (order = FM_ORDERS - 1; order >= 0; order--) {                                                         \
                int is_matched = 0;                                                                                    \
                for (w = 0; w < (W); w++) {                                                                            \
                    uint64_t set = row[w], candidates;                                                                 \
                    if (order) {                                                                                       \
                        set &= sets[w][order - 1] >> 1 | (w + 1 < (W) ? sets[w + 1][order - 1] << 63 : 0);             \
                    }                                                                                                  \
                    sets[w][order] = set;                                                                              \
                    candidates = set & ~claimed[w][order];                                                             \
                    if (!is_matched) claimed[w][order] |= candidates & (0 - candidates);                               \
                    is_matched |= candidates != 0;                                                                     \
                }                                                                                                      \
                matches[order] += is_matched;                                                                          \
                if (MARKED) matched_orders[i] |= (uint16_t)(is_matched << order);                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

#endif

FM_MATCH_MASKS(fm_match_one_word, 1, 1, 0)
FM_MATCH_MASKS(fm_match_two_words, 2, 2, 0)
FM_MATCH_MASKS(fm_match_three_words, 3, 3, 0)
FM_MATCH_MASKS(fm_match_four_words, 4, 4, 0)
FM_MATCH_MASKS(fm_match_words, n_words, FM_MASK_WORDS, 0)
FM_MATCH_MASKS(fm_mark_one_word, 1, 1, 1)
FM_MATCH_MASKS(fm_mark_words, n_words, FM_MASK_WORDS, 1)

/* matches[n - 1] = the number of clipped n-gram matches of two texts of symbols, for n = 1 to 8.
 *
 * Row r of `masks` has n_words words: the positions of symbol r in the second text. Row 0 is empty. symbols[i] is the
 * row of the symbol at position i of the first text. matched_orders is NULL, or bit n - 1 of matched_orders[i] is set
 * if the n-gram at position i matches.
 */
static inline void fm_match_masks(
    const uint16_t* symbols, ptrdiff_t n, const uint64_t* masks, ptrdiff_t n_words, int64_t* matches,
    uint16_t* matched_orders) {
    if (matched_orders && n_words == 1) fm_mark_one_word(symbols, n, masks, n_words, matches, matched_orders);
    else if (matched_orders) fm_mark_words(symbols, n, masks, n_words, matches, matched_orders);
    else if (n_words == 1) fm_match_one_word(symbols, n, masks, n_words, matches, matched_orders);
    else if (n_words == 2) fm_match_two_words(symbols, n, masks, n_words, matches, matched_orders);
    else if (n_words == 3) fm_match_three_words(symbols, n, masks, n_words, matches, matched_orders);
    else if (n_words == 4) fm_match_four_words(symbols, n, masks, n_words, matches, matched_orders);
    else fm_match_words(symbols, n, masks, n_words, matches, matched_orders);
}

#endif
