/* Sweeps over rows in descending order of score, for 64 replicates at once. Each replicate has one byte of a SIMD
 * register for its weight.
 *
 * A row is a code of 16 bits: its unit bucket (14 bits), FM_POSITIVE, and FM_LAST_OF_TIE on the last row of a tie.
 * Segments describe the ties: s > 0 stands for s rows of which none ties with a row of the other class, s < 0 for one
 * tie of -s rows of both classes. weights has 64 bytes per unit bucket, none greater than max_weight (at least 1).
 *
 * Weights are summed in bytes for at most 255 / max_weight rows, then in 32 bits for at most 65535 / max_weight rows,
 * then in 64 bits. All sums are integers or exact, so the blocks do not change the result. Compilers without vector
 * extensions have one loop for all sums, fm_sweep_ties, which returns the same numbers. CFLAGS=-DFM_HAS_VECTORS=0
 * selects it elsewhere.
 */
#ifndef FASTMETRICS_RESAMPLING_REPLICATE_BATCH_H
#define FASTMETRICS_RESAMPLING_REPLICATE_BATCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "numeric/vector_math.h"

#define FM_REPLICATES 64
#define FM_UNIT_BUCKET 0x3FFF
#define FM_POSITIVE 0x4000
#define FM_LAST_OF_TIE 0x8000

#if !defined(FM_HAS_VECTORS)
#if defined(__GNUC__)
#define FM_HAS_VECTORS 1
#else
#define FM_HAS_VECTORS 0
#endif
#endif

#if FM_HAS_VECTORS
typedef uint8_t fm_bytes __attribute__((vector_size(64), aligned(1), may_alias));
typedef uint16_t fm_shorts __attribute__((vector_size(64), aligned(1), may_alias));
typedef uint32_t fm_words32 __attribute__((vector_size(64), aligned(1), may_alias));
typedef int64_t fm_longs __attribute__((vector_size(64), aligned(1), may_alias));
typedef double fm_reals __attribute__((vector_size(64), aligned(1), may_alias));
#endif

/* (low, high) += one * other, for one below 2^32 and other below 2^63. */
static inline void fm_add_product_u32(uint64_t* low, uint64_t* high, uint64_t one, uint64_t other) {
    uint64_t below = one * (other & 0xFFFFFFFFu), above = one * (other >> 32), added;
    added = below + (above << 32);
    *high += (above >> 32) + (added < below);
    *low += added;
    *high += *low < added;
}

/* ---- Totals of the replicates: rows of each class, from the counts of the unit buckets ---- */

FM_WIDE static void fm_replicate_totals(
    const uint8_t* weights, const int64_t* counts, ptrdiff_t n_unit_buckets, int64_t* totals
) {
    ptrdiff_t unit_bucket;
    int replicate, label;
    for (unit_bucket = 0; unit_bucket < n_unit_buckets; unit_bucket++) {
        const uint8_t* bucket_weights = weights + unit_bucket * FM_REPLICATES;
        for (label = 0; label < 2; label++) {
            int64_t count = counts[2 * unit_bucket + label];
            int64_t* out = totals + label * FM_REPLICATES;
            if (!count) continue;
            for (replicate = 0; replicate < FM_REPLICATES; replicate++)
                out[replicate] += count * bucket_weights[replicate];
        }
    }
}

/* ---- Rows of each class in a segment ---- */

#if FM_HAS_VECTORS
/* Add bytes to four vectors of 32-bit sums: replicate 4 i + j is element i of vector j. */
#define FM_ADD_BYTES(INTO, BYTES)                                                                                      \
    do {                                                                                                               \
        fm_words32 all_ = (fm_words32)(BYTES);                                                                         \
        INTO[0] += all_ & 0xFF;                                                                                        \
        INTO[1] += (all_ >> 8) & 0xFF;                                                                                 \
        INTO[2] += (all_ >> 16) & 0xFF;                                                                                \
        INTO[3] += all_ >> 24;                                                                                         \
    } while (0)

/* The weights of a row in all replicates. */
#define FM_WEIGHTS_OF(CODE) (*(const fm_bytes*)(weights + (ptrdiff_t)((CODE) & FM_UNIT_BUCKET) * FM_REPLICATES))

/* A mask: all ones for a positive row, else zeros. */
#define FM_IS_POSITIVE(CODE) (*(const fm_bytes*)fm_class_masks[((CODE) >> 14) & 1])
static const uint8_t fm_class_masks[2][FM_REPLICATES] = {
    {0},
    {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
     255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
     255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}};

/* The 32-bit sum of one replicate. */
static inline uint32_t fm_replicate_value(const fm_words32* four, int replicate) {
    uint32_t value;
    memcpy(&value, (const char*)&four[replicate & 3] + 4 * (replicate >> 2), 4);
    return value;
}

FM_WIDE static void fm_count_classes(
    const uint16_t* codes, ptrdiff_t n, const uint8_t* weights, int max_weight, int64_t* negatives, int64_t* positives
) {
    const ptrdiff_t byte_rows = 255 / max_weight, short_rows = 65535 / max_weight;
    ptrdiff_t i = 0;
    int replicate;
    while (i < n) {
        ptrdiff_t stop = n - i < short_rows ? n : i + short_rows;
        fm_words32 all_sums[4] = {{0}, {0}, {0}, {0}}, positive_sums[4] = {{0}, {0}, {0}, {0}};
        while (i < stop) {
            ptrdiff_t end = stop - i < byte_rows ? stop : i + byte_rows;
            fm_bytes sum = {0}, sum_positive = {0};
            for (; i < end; i++) {
                fm_bytes weight = FM_WEIGHTS_OF(codes[i]);
                sum += weight;
                sum_positive += weight & FM_IS_POSITIVE(codes[i]);
            }
            FM_ADD_BYTES(all_sums, sum);
            FM_ADD_BYTES(positive_sums, sum_positive);
        }
        for (replicate = 0; replicate < FM_REPLICATES; replicate++) {
            int64_t current = fm_replicate_value(positive_sums, replicate);
            positives[replicate] += current;
            negatives[replicate] += (int64_t)fm_replicate_value(all_sums, replicate) - current;
        }
    }
}
#else
static void fm_count_classes(
    const uint16_t* codes, ptrdiff_t n, const uint8_t* weights, int max_weight, int64_t* negatives, int64_t* positives
) {
    ptrdiff_t i;
    int replicate;
    (void)max_weight;
    for (i = 0; i < n; i++) {
        const uint8_t* bucket_weights = weights + (ptrdiff_t)(codes[i] & FM_UNIT_BUCKET) * FM_REPLICATES;
        int64_t* out = codes[i] & FM_POSITIVE ? positives : negatives;
        for (replicate = 0; replicate < FM_REPLICATES; replicate++) out[replicate] += bucket_weights[replicate];
    }
}
#endif

/* Adds a tie with the given rows of each class to the state of a statistic; `totals` are all rows of each class. */
typedef void (*fm_add_tie)(const int64_t* negatives, const int64_t* positives, const int64_t* totals, int64_t* state);

/* Every sum, tie by tie. */
static inline void fm_sweep_ties(
    const uint16_t* codes, ptrdiff_t n, const uint8_t* weights, int max_weight, const int64_t* totals, int64_t* state,
    fm_add_tie add_tie
) {
    ptrdiff_t first = 0, i;
    for (i = 0; i < n; i++) {
        if (codes[i] & FM_LAST_OF_TIE) {
            int64_t class_counts[2 * FM_REPLICATES] = {0};
            fm_count_classes(
                codes + first, i + 1 - first, weights, max_weight, class_counts, class_counts + FM_REPLICATES
            );
            add_tie(class_counts, class_counts + FM_REPLICATES, totals, state);
            first = i + 1;
        }
    }
}

/* ---- Pairs won ----
 *
 * state has 64 numbers each: negatives so far, positives so far, and twice the pairs won (low word, high word). A
 * negative loses to all positives above it, and counts one half for each positive that it ties with.
 */

static void fm_add_tied_pairs(
    const int64_t* negatives, const int64_t* positives, const int64_t* totals, int64_t* state
) {
    uint64_t* low = (uint64_t*)(state + 2 * FM_REPLICATES);
    uint64_t* high = (uint64_t*)(state + 3 * FM_REPLICATES);
    int replicate;
    (void)totals;
    for (replicate = 0; replicate < FM_REPLICATES; replicate++) {
        uint64_t above = (uint64_t)(2 * state[FM_REPLICATES + replicate] + positives[replicate]);
        uint64_t n_negatives = (uint64_t)negatives[replicate];
        fm_add_product_u32(&low[replicate], &high[replicate], n_negatives & 0xFFFFFFFFu, above);
        if (n_negatives >> 32) { /* the product with the upper half has the weight 2^32 */
            uint64_t more_low = 0, more_high = 0;
            fm_add_product_u32(&more_low, &more_high, n_negatives >> 32, above);
            high[replicate] += (more_high << 32) + (more_low >> 32);
            more_low <<= 32;
            low[replicate] += more_low;
            high[replicate] += low[replicate] < more_low;
        }
        state[replicate] += negatives[replicate];
        state[FM_REPLICATES + replicate] += positives[replicate];
    }
}

#if FM_HAS_VECTORS
/* Add one chunk's 32-bit counts (rows of each class, pairs won, ties) to the 64-bit counts in state. */
static void fm_flush_pairs(
    fm_words32* negatives, fm_words32* positives, fm_words32* won, fm_words32* tied, int64_t* state
) {
    uint64_t* low = (uint64_t*)(state + 2 * FM_REPLICATES);
    uint64_t* high = (uint64_t*)(state + 3 * FM_REPLICATES);
    int replicate;
    for (replicate = 0; replicate < FM_REPLICATES; replicate++) {
        uint64_t n_negatives = fm_replicate_value(negatives, replicate);
        uint64_t inside = 2 * (uint64_t)fm_replicate_value(won, replicate) + fm_replicate_value(tied, replicate);
        fm_add_product_u32(
            &low[replicate], &high[replicate], n_negatives, 2 * (uint64_t)state[FM_REPLICATES + replicate]
        );
        low[replicate] += inside;
        high[replicate] += low[replicate] < inside;
        state[replicate] += (int64_t)n_negatives;
        state[FM_REPLICATES + replicate] += fm_replicate_value(positives, replicate);
    }
    memset(negatives, 0, 4 * sizeof(fm_words32));
    memset(positives, 0, 4 * sizeof(fm_words32));
    memset(won, 0, 4 * sizeof(fm_words32));
    memset(tied, 0, 4 * sizeof(fm_words32));
}

/* Rows of which none ties with the other class, in groups so small that counts fit bytes and products fit 16 bits (a
 * group has p positives and n negatives with p + n <= 255). */
#define FM_PAIRS_ROWS(N)                                                                                               \
    do {                                                                                                               \
        ptrdiff_t rest_ = (N);                                                                                         \
        while (rest_ > 0) {                                                                                            \
            ptrdiff_t end_ = rest_ < byte_rows ? rest_ : byte_rows;                                                    \
            fm_bytes above_ = {0}, sum_ = {0};                                                                         \
            fm_shorts even_ = {0}, odd_ = {0};                                                                         \
            ptrdiff_t i_;                                                                                              \
            int j_;                                                                                                    \
            for (i_ = 0; i_ < end_; i_++) {                                                                            \
                fm_bytes weight_ = FM_WEIGHTS_OF(codes[i_]);                                                           \
                fm_bytes positive_ = weight_ & FM_IS_POSITIVE(codes[i_]);                                              \
                fm_bytes negative_ = weight_ ^ positive_;                                                              \
                even_ += ((fm_shorts)negative_ & 0xFF) * ((fm_shorts)above_ & 0xFF);                                   \
                odd_ += ((fm_shorts)negative_ >> 8) * ((fm_shorts)above_ >> 8);                                        \
                above_ += positive_;                                                                                   \
                sum_ += negative_;                                                                                     \
            }                                                                                                          \
            won[0] += (fm_words32)even_ & 0xFFFF;                                                                      \
            won[1] += (fm_words32)odd_ & 0xFFFF;                                                                       \
            won[2] += (fm_words32)even_ >> 16;                                                                         \
            won[3] += (fm_words32)odd_ >> 16;                                                                          \
            for (j_ = 0; j_ < 4; j_++) {                                                                               \
                won[j_] += (((fm_words32)sum_ >> (8 * j_)) & 0xFF) * positives[j_];                                    \
            }                                                                                                          \
            FM_ADD_BYTES(negatives, sum_);                                                                             \
            FM_ADD_BYTES(positives, above_);                                                                           \
            codes += end_;                                                                                             \
            rest_ -= end_;                                                                                             \
        }                                                                                                              \
    } while (0)

FM_WIDE static void fm_sweep_pairs(
    const uint16_t* codes, ptrdiff_t n_codes, const int32_t* segments, ptrdiff_t n_segments, const uint8_t* weights,
    int max_weight, int64_t* state
) {
    const ptrdiff_t byte_rows = 255 / max_weight, short_rows = 65535 / max_weight;
    fm_words32 negatives[4] = {{0}, {0}, {0}, {0}}, positives[4] = {{0}, {0}, {0}, {0}};
    fm_words32 won[4] = {{0}, {0}, {0}, {0}}, tied[4] = {{0}, {0}, {0}, {0}};
    ptrdiff_t rows_left = short_rows;
    ptrdiff_t segment;
    int j;
    (void)n_codes;
    for (segment = 0; segment < n_segments; segment++) {
        ptrdiff_t n = segments[segment];
        if (n > 0) {
            while (n > 0) {
                ptrdiff_t n_rows = n < rows_left ? n : rows_left;
                FM_PAIRS_ROWS(n_rows);
                n -= n_rows;
                rows_left -= n_rows;
                if (rows_left == 0) {
                    fm_flush_pairs(negatives, positives, won, tied, state);
                    rows_left = short_rows;
                }
            }
            continue;
        }
        n = -n;
        if (n > rows_left) {
            fm_flush_pairs(negatives, positives, won, tied, state);
            rows_left = short_rows;
        }
        if (n > rows_left) {
            int64_t sums[2 * FM_REPLICATES] = {0};
            fm_count_classes(codes, n, weights, max_weight, sums, sums + FM_REPLICATES);
            fm_add_tied_pairs(sums, sums + FM_REPLICATES, NULL, state);
            codes += n;
            continue;
        }
        rows_left -= n;
        {
            fm_words32 own_negatives[4] = {{0}, {0}, {0}, {0}}, own_positives[4] = {{0}, {0}, {0}, {0}};
            while (n > 0) {
                ptrdiff_t end = n < byte_rows ? n : byte_rows, i;
                fm_bytes sum = {0}, sum_positive = {0};
                for (i = 0; i < end; i++) {
                    fm_bytes weight = FM_WEIGHTS_OF(codes[i]);
                    sum += weight;
                    sum_positive += weight & FM_IS_POSITIVE(codes[i]);
                }
                sum -= sum_positive;
                FM_ADD_BYTES(own_negatives, sum);
                FM_ADD_BYTES(own_positives, sum_positive);
                codes += end;
                n -= end;
            }
            for (j = 0; j < 4; j++) {
                won[j] += own_negatives[j] * positives[j];
                tied[j] += own_negatives[j] * own_positives[j];
                negatives[j] += own_negatives[j];
                positives[j] += own_positives[j];
            }
        }
    }
    fm_flush_pairs(negatives, positives, won, tied, state);
}
#else
static void fm_sweep_pairs(
    const uint16_t* codes, ptrdiff_t n_codes, const int32_t* segments, ptrdiff_t n_segments, const uint8_t* weights,
    int max_weight, int64_t* state
) {
    (void)segments, (void)n_segments;
    fm_sweep_ties(codes, n_codes, weights, max_weight, NULL, state, fm_add_tied_pairs);
}
#endif

/* ---- The crossing of the error rates ----
 *
 * With P positives and N negatives in all, fps * P + (tps - P) * N never decreases during the sweep; the rates cross
 * where it becomes non-negative. state has 64 numbers each: false and true positives so far, those before the tie of
 * the crossing, those at its end, and whether it was found. Totals as above.
 */

static inline int fm_has_crossed(int64_t fps, int64_t tps, int64_t negatives, int64_t positives) {
    return fps * positives >= (positives - tps) * negatives;
}

/* Find the tie in which the rates of one replicate cross. */
static void fm_find_crossing(
    const uint16_t* codes, ptrdiff_t n, const uint8_t* weights, const int64_t* totals, int64_t* state, int replicate
) {
    int64_t fps = state[replicate], tps = state[FM_REPLICATES + replicate], before_fps = fps, before_tps = tps;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        int64_t weight = weights[(ptrdiff_t)(codes[i] & FM_UNIT_BUCKET) * FM_REPLICATES + replicate];
        if (codes[i] & FM_POSITIVE) tps += weight;
        else fps += weight;
        if (!(codes[i] & FM_LAST_OF_TIE) || (fps == before_fps && tps == before_tps)) continue;
        if (fm_has_crossed(fps, tps, totals[replicate], totals[FM_REPLICATES + replicate])) {
            state[2 * FM_REPLICATES + replicate] = before_fps;
            state[3 * FM_REPLICATES + replicate] = before_tps;
            state[4 * FM_REPLICATES + replicate] = fps;
            state[5 * FM_REPLICATES + replicate] = tps;
            state[6 * FM_REPLICATES + replicate] = 1;
            return;
        }
        before_fps = fps;
        before_tps = tps;
    }
}

#define FM_CROSSING_ROWS 1024

static void fm_sweep_crossing(
    const uint16_t* codes, ptrdiff_t n, const uint8_t* weights, int max_weight, const int64_t* totals, int64_t* state
) {
    while (n > 0) {
        int64_t class_counts[2 * FM_REPLICATES] = {0};
        ptrdiff_t end = n < FM_CROSSING_ROWS ? n : FM_CROSSING_ROWS;
        int replicate;
        while (!(codes[end - 1] & FM_LAST_OF_TIE)) end++; /* the last row of a bucket ends its tie */
        fm_count_classes(codes, end, weights, max_weight, class_counts, class_counts + FM_REPLICATES);
        for (replicate = 0; replicate < FM_REPLICATES; replicate++) {
            int64_t fps = state[replicate] + class_counts[replicate];
            int64_t tps = state[FM_REPLICATES + replicate] + class_counts[FM_REPLICATES + replicate];
            if (!state[6 * FM_REPLICATES + replicate]
                && fm_has_crossed(fps, tps, totals[replicate], totals[FM_REPLICATES + replicate])) {
                fm_find_crossing(codes, end, weights, totals, state, replicate);
            }
            state[replicate] = fps;
            state[FM_REPLICATES + replicate] = tps;
        }
        codes += end;
        n -= end;
    }
}

#endif
