/* Rows in falling order of score, walked by 64 replicates side by side: a lane is a replicate, a byte its weight.
 *
 * A row is a code of 16 bits: its lot (14 bits), FM_POSITIVE, and FM_LAST on the last row of a tie. Segments, one after
 * the other, say how ties stand: s > 0 are s rows none of which ties with one of the other class, s < 0 is one tie of -s
 * rows of both classes. weights has 64 bytes a lot, none greater than `most` (at least 1).
 *
 * Sums of weights are taken in bytes for as many rows as cannot exceed 255 (255 / most), in 32 bits for as many as cannot
 * exceed 65535, and in 64 bits from there on. All numbers are whole, or exact sums, so how they are cut is not seen.
 * Compilers without vectors have the plain loops; they give the same numbers, and tests run them everywhere.
 */
#ifndef FASTMETRICS_SCORELANES_H
#define FASTMETRICS_SCORELANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "vectormath.h"

#define FM_ABREAST 64
#define FM_LOT 0x3FFF
#define FM_POSITIVE 0x4000
#define FM_LAST 0x8000

#if defined(__GNUC__)
#define FM_HAS_VECTORS 1
typedef uint8_t fm_bytes __attribute__((vector_size(64), aligned(1), may_alias));
typedef uint16_t fm_shorts __attribute__((vector_size(64), aligned(1), may_alias));
typedef uint32_t fm_words32 __attribute__((vector_size(64), aligned(1), may_alias));
typedef int64_t fm_longs __attribute__((vector_size(64), aligned(1), may_alias));
typedef double fm_reals __attribute__((vector_size(64), aligned(1), may_alias));
#else
#define FM_HAS_VECTORS 0
#endif

/* low, high += one * other; one is below 2^32, other below 2^63. */
static inline void fm_add_product(uint64_t* low, uint64_t* high, uint64_t one, uint64_t other) {
    uint64_t below = one * (other & 0xFFFFFFFFu), above = one * (other >> 32), added;
    added = below + (above << 32);
    *high += (above >> 32) + (added < below);
    *low += added;
    *high += *low < added;
}

/* ---- Totals of lanes: rows of each class, from how many each lot has ---- */

FM_WIDE static void fm_lane_totals(const uint8_t* weights, const int64_t* counts, ptrdiff_t n_lots, int64_t* totals) {
    ptrdiff_t lot;
    int lane, label;
    for (lot = 0; lot < n_lots; lot++) {
        const uint8_t* own = weights + lot * FM_ABREAST;
        for (label = 0; label < 2; label++) {
            int64_t count = counts[2 * lot + label];
            int64_t* out = totals + label * FM_ABREAST;
            if (!count) continue;
            for (lane = 0; lane < FM_ABREAST; lane++) out[lane] += count * own[lane];
        }
    }
}

/* ---- Rows of a segment, class by class ---- */

static void fm_count_plain(
    const uint16_t* codes, ptrdiff_t n, const uint8_t* weights, int64_t* negatives, int64_t* positives
) {
    ptrdiff_t i;
    int lane;
    for (i = 0; i < n; i++) {
        const uint8_t* own = weights + (ptrdiff_t)(codes[i] & FM_LOT) * FM_ABREAST;
        int64_t* out = codes[i] & FM_POSITIVE ? positives : negatives;
        for (lane = 0; lane < FM_ABREAST; lane++) out[lane] += own[lane];
    }
}

#if FM_HAS_VECTORS
/* Bytes lane by lane into four vectors of 32 bits: lane 4 i + j is element i of vector j. */
#define FM_ADD_BYTES(INTO, BYTES)                                                                                       \
    do {                                                                                                                \
        fm_words32 all_ = (fm_words32)(BYTES);                                                                          \
        INTO[0] += all_ & 0xFF;                                                                                         \
        INTO[1] += (all_ >> 8) & 0xFF;                                                                                  \
        INTO[2] += (all_ >> 16) & 0xFF;                                                                                 \
        INTO[3] += all_ >> 24;                                                                                          \
    } while (0)

/* What a row weighs in every lane. */
#define FM_WEIGHTS_OF(CODE) (*(const fm_bytes*)(weights + (ptrdiff_t)((CODE) & FM_LOT) * FM_ABREAST))

/* All ones for a positive, else zeros. */
#define FM_IS_POSITIVE(CODE) (*(const fm_bytes*)fm_class_masks[((CODE) >> 14) & 1])
static const uint8_t fm_class_masks[2][FM_ABREAST] = {
    {0},
    {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
     255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
     255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}};

/* 32 bits of lane l, of four vectors. */
static inline uint32_t fm_lane_of(const fm_words32* four, int lane) {
    uint32_t value;
    memcpy(&value, (const char*)&four[lane & 3] + 4 * (lane >> 2), 4);
    return value;
}

FM_WIDE static void fm_count_wide(
    const uint16_t* codes, ptrdiff_t n, const uint8_t* weights, int most, int64_t* negatives, int64_t* positives
) {
    const ptrdiff_t group = 255 / most, chunk = 65535 / most;
    ptrdiff_t i = 0;
    int lane;
    while (i < n) {
        ptrdiff_t stop = n - i < chunk ? n : i + chunk;
        fm_words32 all[4] = {{0}, {0}, {0}, {0}}, own[4] = {{0}, {0}, {0}, {0}};
        while (i < stop) {
            ptrdiff_t end = stop - i < group ? stop : i + group;
            fm_bytes sum = {0}, sum_positive = {0};
            for (; i < end; i++) {
                fm_bytes weight = FM_WEIGHTS_OF(codes[i]);
                sum += weight;
                sum_positive += weight & FM_IS_POSITIVE(codes[i]);
            }
            FM_ADD_BYTES(all, sum);
            FM_ADD_BYTES(own, sum_positive);
        }
        for (lane = 0; lane < FM_ABREAST; lane++) {
            int64_t here = fm_lane_of(own, lane);
            positives[lane] += here;
            negatives[lane] += (int64_t)fm_lane_of(all, lane) - here;
        }
    }
}
#endif

static void fm_count(
    const uint16_t* codes, ptrdiff_t n, const uint8_t* weights, int most, int plain, int64_t* negatives,
    int64_t* positives
) {
#if FM_HAS_VECTORS
    if (!plain) {
        fm_count_wide(codes, n, weights, most, negatives, positives);
        return;
    }
#endif
    fm_count_plain(codes, n, weights, negatives, positives);
}

/* ---- Pairs won ----
 *
 * state: 64 each of negatives so far, positives so far, and twice the pairs won (low, high): every negative has lost to
 * the positives above it, and by half to those it ties with.
 */

static void fm_pairs_tie(const int64_t* negatives, const int64_t* positives, int64_t* state) {
    uint64_t* low = (uint64_t*)(state + 2 * FM_ABREAST);
    uint64_t* high = (uint64_t*)(state + 3 * FM_ABREAST);
    int lane;
    for (lane = 0; lane < FM_ABREAST; lane++) {
        uint64_t above = (uint64_t)(2 * state[FM_ABREAST + lane] + positives[lane]);
        uint64_t own = (uint64_t)negatives[lane];
        fm_add_product(&low[lane], &high[lane], own & 0xFFFFFFFFu, above);
        if (own >> 32) { /* the upper half of the product is 2^32 times as much */
            uint64_t more_low = 0, more_high = 0;
            fm_add_product(&more_low, &more_high, own >> 32, above);
            high[lane] += (more_high << 32) + (more_low >> 32);
            more_low <<= 32;
            low[lane] += more_low;
            high[lane] += low[lane] < more_low;
        }
        state[lane] += negatives[lane];
        state[FM_ABREAST + lane] += positives[lane];
    }
}

static void fm_pairs_plain(
    const uint16_t* codes, const int32_t* segments, ptrdiff_t n_segments, const uint8_t* weights, int64_t* state
) {
    ptrdiff_t segment, i;
    for (segment = 0; segment < n_segments; segment++) {
        ptrdiff_t n = segments[segment] < 0 ? -(ptrdiff_t)segments[segment] : segments[segment];
        ptrdiff_t step = segments[segment] < 0 ? n : 1;
        for (i = 0; i < n; i += step) {
            int64_t sums[2 * FM_ABREAST] = {0};
            fm_count_plain(codes + i, step, weights, sums, sums + FM_ABREAST);
            fm_pairs_tie(sums, sums + FM_ABREAST, state);
        }
        codes += n;
    }
}

#if FM_HAS_VECTORS
/* One chunk's numbers, in 32 bits: rows of each class, pairs won, ties. Into those of 64 bits. */
static void fm_pairs_flush(fm_words32* negatives, fm_words32* positives, fm_words32* won, fm_words32* tied, int64_t* state) {
    uint64_t* low = (uint64_t*)(state + 2 * FM_ABREAST);
    uint64_t* high = (uint64_t*)(state + 3 * FM_ABREAST);
    int lane;
    for (lane = 0; lane < FM_ABREAST; lane++) {
        uint64_t own = fm_lane_of(negatives, lane);
        uint64_t inside = 2 * (uint64_t)fm_lane_of(won, lane) + fm_lane_of(tied, lane);
        fm_add_product(&low[lane], &high[lane], own, 2 * (uint64_t)state[FM_ABREAST + lane]);
        low[lane] += inside;
        high[lane] += low[lane] < inside;
        state[lane] += (int64_t)own;
        state[FM_ABREAST + lane] += fm_lane_of(positives, lane);
    }
    memset(negatives, 0, 4 * sizeof(fm_words32));
    memset(positives, 0, 4 * sizeof(fm_words32));
    memset(won, 0, 4 * sizeof(fm_words32));
    memset(tied, 0, 4 * sizeof(fm_words32));
}

/* Rows of which none ties with the other class: in groups of few enough for bytes, and for products in 16 bits (a group
 * has p and n with p + n <= 255). */
#define FM_PAIRS_ROWS(N)                                                                                                \
    do {                                                                                                                \
        ptrdiff_t rest_ = (N);                                                                                          \
        while (rest_ > 0) {                                                                                             \
            ptrdiff_t end_ = rest_ < group ? rest_ : group;                                                             \
            fm_bytes above_ = {0}, sum_ = {0};                                                                          \
            fm_shorts even_ = {0}, odd_ = {0};                                                                          \
            ptrdiff_t i_;                                                                                               \
            int j_;                                                                                                     \
            for (i_ = 0; i_ < end_; i_++) {                                                                             \
                fm_bytes weight_ = FM_WEIGHTS_OF(codes[i_]);                                                            \
                fm_bytes positive_ = weight_ & FM_IS_POSITIVE(codes[i_]);                                               \
                fm_bytes negative_ = weight_ ^ positive_;                                                               \
                even_ += ((fm_shorts)negative_ & 0xFF) * ((fm_shorts)above_ & 0xFF);                                    \
                odd_ += ((fm_shorts)negative_ >> 8) * ((fm_shorts)above_ >> 8);                                         \
                above_ += positive_;                                                                                    \
                sum_ += negative_;                                                                                      \
            }                                                                                                           \
            won[0] += (fm_words32)even_ & 0xFFFF;                                                                       \
            won[1] += (fm_words32)odd_ & 0xFFFF;                                                                        \
            won[2] += (fm_words32)even_ >> 16;                                                                          \
            won[3] += (fm_words32)odd_ >> 16;                                                                           \
            for (j_ = 0; j_ < 4; j_++) {                                                                                \
                won[j_] += (((fm_words32)sum_ >> (8 * j_)) & 0xFF) * positives[j_];                                     \
            }                                                                                                           \
            FM_ADD_BYTES(negatives, sum_);                                                                              \
            FM_ADD_BYTES(positives, above_);                                                                            \
            codes += end_;                                                                                              \
            rest_ -= end_;                                                                                              \
        }                                                                                                               \
    } while (0)

FM_WIDE static void fm_pairs_wide(
    const uint16_t* codes, const int32_t* segments, ptrdiff_t n_segments, const uint8_t* weights, int most,
    int64_t* state
) {
    const ptrdiff_t group = 255 / most, chunk = 65535 / most;
    fm_words32 negatives[4] = {{0}, {0}, {0}, {0}}, positives[4] = {{0}, {0}, {0}, {0}};
    fm_words32 won[4] = {{0}, {0}, {0}, {0}}, tied[4] = {{0}, {0}, {0}, {0}};
    ptrdiff_t room = chunk;
    ptrdiff_t segment;
    int j;
    for (segment = 0; segment < n_segments; segment++) {
        ptrdiff_t n = segments[segment];
        if (n > 0) {
            while (n > 0) {
                ptrdiff_t part = n < room ? n : room;
                FM_PAIRS_ROWS(part);
                n -= part;
                room -= part;
                if (room == 0) {
                    fm_pairs_flush(negatives, positives, won, tied, state);
                    room = chunk;
                }
            }
            continue;
        }
        n = -n;
        if (n > room) {
            fm_pairs_flush(negatives, positives, won, tied, state);
            room = chunk;
        }
        if (n > room) {
            int64_t sums[2 * FM_ABREAST] = {0};
            fm_count_wide(codes, n, weights, most, sums, sums + FM_ABREAST);
            fm_pairs_tie(sums, sums + FM_ABREAST, state);
            codes += n;
            continue;
        }
        room -= n;
        {
            fm_words32 own_negatives[4] = {{0}, {0}, {0}, {0}}, own_positives[4] = {{0}, {0}, {0}, {0}};
            while (n > 0) {
                ptrdiff_t end = n < group ? n : group, i;
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
    fm_pairs_flush(negatives, positives, won, tied, state);
}
#endif

static void fm_pairs(
    const uint16_t* codes, const int32_t* segments, ptrdiff_t n_segments, const uint8_t* weights, int most, int plain,
    int64_t* state
) {
#if FM_HAS_VECTORS
    if (!plain) {
        fm_pairs_wide(codes, segments, n_segments, weights, most, state);
        return;
    }
#endif
    fm_pairs_plain(codes, segments, n_segments, weights, state);
}

/* ---- Extremes of D = (positives so far) * all negatives - (negatives so far) * all positives ----
 *
 * state: 64 each of D, its greatest and its least value; totals are all negatives and all positives, both together below
 * 2^32, so that D stays below 2^62. Inside a tie of one class D moves in one direction: looking at it there as well does
 * no harm.
 */

static void fm_extremes_tie(const int64_t* negatives, const int64_t* positives, const int64_t* totals, int64_t* state) {
    int lane;
    for (lane = 0; lane < FM_ABREAST; lane++) {
        int64_t difference = state[lane] + positives[lane] * totals[lane] - negatives[lane] * totals[FM_ABREAST + lane];
        state[lane] = difference;
        if (difference > state[FM_ABREAST + lane]) state[FM_ABREAST + lane] = difference;
        if (difference < state[2 * FM_ABREAST + lane]) state[2 * FM_ABREAST + lane] = difference;
    }
}

static void fm_extremes_plain(
    const uint16_t* codes, const int32_t* segments, ptrdiff_t n_segments, const uint8_t* weights, const int64_t* totals,
    int64_t* state
) {
    ptrdiff_t segment, i;
    for (segment = 0; segment < n_segments; segment++) {
        ptrdiff_t n = segments[segment] < 0 ? -(ptrdiff_t)segments[segment] : segments[segment];
        ptrdiff_t step = segments[segment] < 0 ? n : 1;
        for (i = 0; i < n; i += step) {
            int64_t sums[2 * FM_ABREAST] = {0};
            fm_count_plain(codes + i, step, weights, sums, sums + FM_ABREAST);
            fm_extremes_tie(sums, sums + FM_ABREAST, totals, state);
        }
        codes += n;
    }
}

#if FM_HAS_VECTORS
/* Element i of vector j is lane 8 i + j: bytes are taken out of 64 bits by shifts. */
static void fm_spread_lanes(const int64_t* lanes, fm_longs* eight) {
    int lane;
    for (lane = 0; lane < FM_ABREAST; lane++) memcpy((char*)&eight[lane & 7] + 8 * (lane >> 3), &lanes[lane], 8);
}

static void fm_gather_lanes(const fm_longs* eight, int64_t* lanes) {
    int lane;
    for (lane = 0; lane < FM_ABREAST; lane++) memcpy(&lanes[lane], (const char*)&eight[lane & 7] + 8 * (lane >> 3), 8);
}

/* C has no conditional of vectors: masks of all ones or zeros. */
#define FM_CHOSEN(MASK, ONE, OTHER) (((MASK) & (ONE)) | (~(MASK) & (OTHER)))

#define FM_LONGS_OF(BYTES, J) (((fm_longs)(BYTES) >> (8 * (J))) & 0xFF)

FM_WIDE static void fm_extremes_wide(
    const uint16_t* codes, const int32_t* segments, ptrdiff_t n_segments, const uint8_t* weights, int most,
    const int64_t* totals, int64_t* state
) {
    const ptrdiff_t group = 255 / most;
    fm_longs all_negatives[8], all_positives[8], difference[8], greatest[8], least[8];
    fm_longs zero = {0};
    ptrdiff_t segment, i;
    int j;
    fm_spread_lanes(totals, all_negatives);
    fm_spread_lanes(totals + FM_ABREAST, all_positives);
    fm_spread_lanes(state, difference);
    fm_spread_lanes(state + FM_ABREAST, greatest);
    fm_spread_lanes(state + 2 * FM_ABREAST, least);
    for (segment = 0; segment < n_segments; segment++) {
        ptrdiff_t n = segments[segment];
        if (n < 0 && -n > group) {
            int64_t own[2 * FM_ABREAST] = {0};
            fm_longs own_negatives[8], own_positives[8];
            fm_count_wide(codes, -n, weights, most, own, own + FM_ABREAST);
            fm_spread_lanes(own, own_negatives);
            fm_spread_lanes(own + FM_ABREAST, own_positives);
            for (j = 0; j < 8; j++) {
                fm_longs here = difference[j] + own_positives[j] * all_negatives[j] - own_negatives[j] * all_positives[j];
                difference[j] = here;
                greatest[j] = FM_CHOSEN(here > greatest[j], here, greatest[j]);
                least[j] = FM_CHOSEN(here < least[j], here, least[j]);
            }
            codes -= n;
            continue;
        }
        while (n != 0) {
            ptrdiff_t end = n < 0 ? -n : n < group ? n : group;
            fm_longs beyond = zero;
            fm_bytes sum = {0}, sum_positive = {0};
            for (i = 0; i < end; i++) {
                fm_bytes weight = FM_WEIGHTS_OF(codes[i]);
                sum += weight;
                sum_positive += weight & FM_IS_POSITIVE(codes[i]);
            }
            sum -= sum_positive;
            if (n > 0) {
                /* Can D have passed an extreme anywhere among these rows? */
                for (j = 0; j < 8; j++) {
                    fm_longs up = difference[j] + FM_LONGS_OF(sum_positive, j) * all_negatives[j];
                    fm_longs down = FM_LONGS_OF(sum, j) * all_positives[j];
                    beyond |= (up > greatest[j]) | (difference[j] - down < least[j]);
                }
            }
            if (n > 0 && (beyond[0] | beyond[1] | beyond[2] | beyond[3] | beyond[4] | beyond[5] | beyond[6] | beyond[7])) {
                for (i = 0; i < end; i++) {
                    fm_bytes weight = FM_WEIGHTS_OF(codes[i]);
                    if (codes[i] & FM_POSITIVE) {
                        for (j = 0; j < 8; j++) {
                            fm_longs here = difference[j] + FM_LONGS_OF(weight, j) * all_negatives[j];
                            difference[j] = here;
                            greatest[j] = FM_CHOSEN(here > greatest[j], here, greatest[j]);
                        }
                    } else {
                        for (j = 0; j < 8; j++) {
                            fm_longs here = difference[j] - FM_LONGS_OF(weight, j) * all_positives[j];
                            difference[j] = here;
                            least[j] = FM_CHOSEN(here < least[j], here, least[j]);
                        }
                    }
                }
            } else {
                for (j = 0; j < 8; j++) {
                    fm_longs up = FM_LONGS_OF(sum_positive, j) * all_negatives[j];
                    fm_longs here = difference[j] + up - FM_LONGS_OF(sum, j) * all_positives[j];
                    difference[j] = here;
                    greatest[j] = FM_CHOSEN(here > greatest[j], here, greatest[j]);
                    least[j] = FM_CHOSEN(here < least[j], here, least[j]);
                }
            }
            codes += end;
            n = n < 0 ? 0 : n - end;
        }
    }
    fm_gather_lanes(difference, state);
    fm_gather_lanes(greatest, state + FM_ABREAST);
    fm_gather_lanes(least, state + 2 * FM_ABREAST);
}
#endif

static void fm_extremes(
    const uint16_t* codes, const int32_t* segments, ptrdiff_t n_segments, const uint8_t* weights, int most, int plain,
    const int64_t* totals, int64_t* state
) {
#if FM_HAS_VECTORS
    if (!plain) {
        fm_extremes_wide(codes, segments, n_segments, weights, most, totals, state);
        return;
    }
#endif
    fm_extremes_plain(codes, segments, n_segments, weights, totals, state);
}

/* ---- The crossing of the error rates ----
 *
 * lead = fps * P + (tps - P) * N, with all positives P and all negatives N, never falls on the way down. state: 64 each of
 * false and true positives so far, those before the first tie at whose end lead >= 0, those at its end, and whether that
 * tie was met. Totals as above.
 */

static inline int fm_has_crossed(int64_t fps, int64_t tps, int64_t negatives, int64_t positives) {
    return fps * positives >= (positives - tps) * negatives;
}

static void fm_crossing_tie(const int64_t* negatives, const int64_t* positives, const int64_t* totals, int64_t* state) {
    int lane;
    for (lane = 0; lane < FM_ABREAST; lane++) {
        int64_t fps = state[lane] + negatives[lane], tps = state[FM_ABREAST + lane] + positives[lane];
        if (!state[6 * FM_ABREAST + lane] && negatives[lane] + positives[lane]
            && fm_has_crossed(fps, tps, totals[lane], totals[FM_ABREAST + lane])) {
            state[2 * FM_ABREAST + lane] = state[lane];
            state[3 * FM_ABREAST + lane] = state[FM_ABREAST + lane];
            state[4 * FM_ABREAST + lane] = fps;
            state[5 * FM_ABREAST + lane] = tps;
            state[6 * FM_ABREAST + lane] = 1;
        }
        state[lane] = fps;
        state[FM_ABREAST + lane] = tps;
    }
}

/* One lane down some rows, to the tie in which the rates cross. */
static void fm_cross_lane(
    const uint16_t* codes, ptrdiff_t n, const uint8_t* weights, const int64_t* totals, int64_t* state, int lane
) {
    int64_t fps = state[lane], tps = state[FM_ABREAST + lane], before_fps = fps, before_tps = tps;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        int64_t own = weights[(ptrdiff_t)(codes[i] & FM_LOT) * FM_ABREAST + lane];
        if (codes[i] & FM_POSITIVE) tps += own;
        else fps += own;
        if (!(codes[i] & FM_LAST) || (fps == before_fps && tps == before_tps)) continue;
        if (fm_has_crossed(fps, tps, totals[lane], totals[FM_ABREAST + lane])) {
            state[2 * FM_ABREAST + lane] = before_fps;
            state[3 * FM_ABREAST + lane] = before_tps;
            state[4 * FM_ABREAST + lane] = fps;
            state[5 * FM_ABREAST + lane] = tps;
            state[6 * FM_ABREAST + lane] = 1;
            return;
        }
        before_fps = fps;
        before_tps = tps;
    }
}

#define FM_CROSSING_ROWS 1024

static void fm_crossing(
    const uint16_t* codes, ptrdiff_t n, const uint8_t* weights, int most, int plain, const int64_t* totals, int64_t* state
) {
    while (n > 0) {
        int64_t own[2 * FM_ABREAST] = {0};
        ptrdiff_t end = n < FM_CROSSING_ROWS ? n : FM_CROSSING_ROWS;
        int lane;
        while (!(codes[end - 1] & FM_LAST)) end++; /* the last row of a bucket ends its tie */
        fm_count(codes, end, weights, most, plain, own, own + FM_ABREAST);
        for (lane = 0; lane < FM_ABREAST; lane++) {
            int64_t fps = state[lane] + own[lane], tps = state[FM_ABREAST + lane] + own[FM_ABREAST + lane];
            if (!state[6 * FM_ABREAST + lane] && fm_has_crossed(fps, tps, totals[lane], totals[FM_ABREAST + lane])) {
                fm_cross_lane(codes, end, weights, totals, state, lane);
            }
            state[lane] = fps;
            state[FM_ABREAST + lane] = tps;
        }
        codes += end;
        n -= end;
    }
}

#endif
