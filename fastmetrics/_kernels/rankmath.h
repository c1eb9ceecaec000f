/* How many of `many` lie above, and tie with, each of a few scores: plain comparisons, which fill wide registers.
 *
 * Counts are added to what stands in `above` and `tied`. n_many is at most 2^31 - 1 (float) or any (double): the inner
 * counters are as wide as the scores, so that a register holds as many of both.
 */
#ifndef FASTMETRICS_RANKMATH_H
#define FASTMETRICS_RANKMATH_H

#include "vectormath.h"

#define FM_COUNT_ABOVE(NAME, TYPE, COUNTER)                                                                              \
    FM_WIDE static void NAME(                                                                                            \
        const TYPE* few, ptrdiff_t n_few, const TYPE* many, ptrdiff_t n_many, int64_t* above, int64_t* tied) {           \
        ptrdiff_t i, j;                                                                                                  \
        for (i = 0; i < n_few; i++) {                                                                                    \
            TYPE score = few[i];                                                                                         \
            COUNTER greater = 0, as_great = 0;                                                                           \
            for (j = 0; j < n_many; j++) {                                                                               \
                greater += many[j] > score;                                                                              \
                as_great += many[j] >= score;                                                                            \
            }                                                                                                            \
            above[i] += greater;                                                                                         \
            tied[i] += as_great - greater;                                                                               \
        }                                                                                                                \
    }

FM_COUNT_ABOVE(fm_count_above_f32, float, int32_t)
FM_COUNT_ABOVE(fm_count_above_f64, double, int64_t)

/* Short lists are sorted without a branch: every row's place is the number of keys that are greater, counted in wide
 * registers. A key has 25 bits of where a score stands between the list's least and greatest, then the row's own number, so
 * keys differ; scores that differ further down are put right afterwards, in a pass that finds nothing to do as a rule.
 */
#if defined(__GNUC__)
#define FM_ALIGNED __attribute__((aligned(64)))
#else
#define FM_ALIGNED
#endif

#define FM_SHORT 128           /* rows at most */
#define FM_KEY_BITS 25
#define FM_KEY_LANES 16        /* of a register of 64 bytes; compilers cut it into what the CPU has */

#if defined(__GNUC__)
typedef int32_t fm_lanes __attribute__((vector_size(4 * FM_KEY_LANES)));

#define FM_GREATER(KEYS, COUNTED, N, COUNTS, WIDTH)                                                                      \
    {                                                                                                                    \
        fm_lanes own[WIDTH], count[WIDTH];                                                                               \
        ptrdiff_t row;                                                                                                   \
        int block;                                                                                                       \
        for (block = 0; block < WIDTH; block++) {                                                                        \
            memcpy(&own[block], (KEYS) + FM_KEY_LANES * block, sizeof(fm_lanes));                                        \
            count[block] = own[block] ^ own[block];                                                                      \
        }                                                                                                                \
        for (row = 0; row < (N); row++)                                                                                  \
            for (block = 0; block < WIDTH; block++) count[block] -= (COUNTED)[row] > own[block];                         \
        for (block = 0; block < WIDTH; block++)                                                                          \
            memcpy((COUNTS) + FM_KEY_LANES * block, &count[block], sizeof(fm_lanes));                                    \
    }
#endif

/* places[i] of 0 .. n - 1: where values[i] stands when they descend, but for values that agree in the key's bits. n is at most
 * FM_SHORT, no value is NaN. */
FM_WIDE static void fm_short_places(const double* values, ptrdiff_t n, int32_t* places) {
    int64_t ordered[FM_SHORT];
    int32_t keys[FM_SHORT] FM_ALIGNED;
    int64_t low = INT64_MAX, high = INT64_MIN;
    uint64_t span;
    ptrdiff_t i;
    int shift = 0;
    for (i = 0; i < n; i++) {
        double value = values[i] + 0.0;
        int64_t bits;
        memcpy(&bits, &value, 8);
        bits ^= (int64_t)((uint64_t)(bits >> 63) >> 1);
        ordered[i] = bits;
        low = bits < low ? bits : low;
        high = bits > high ? bits : high;
    }
    if (n == 0) return;
    span = (uint64_t)high - (uint64_t)low;
    while ((span >> shift) >> FM_KEY_BITS) shift++;
    for (i = 0; i < n; i++) {
        uint32_t key = (uint32_t)(((uint64_t)ordered[i] - (uint64_t)low) >> shift) << 7;
        keys[i] = (int32_t)((key | (uint32_t)(FM_SHORT - 1 - i)) ^ UINT32_C(0x80000000));
    }
#if defined(__GNUC__)
    for (i = n; i & (FM_KEY_LANES - 1); i++) keys[i] = INT32_MIN;
    for (i = 0; i < n; i += 4 * FM_KEY_LANES) {
        switch ((n - i + FM_KEY_LANES - 1) / FM_KEY_LANES) {
            case 1: FM_GREATER(keys + i, keys, n, places + i, 1) break;
            case 2: FM_GREATER(keys + i, keys, n, places + i, 2) break;
            case 3: FM_GREATER(keys + i, keys, n, places + i, 3) break;
            default: FM_GREATER(keys + i, keys, n, places + i, 4)
        }
    }
#else
    for (i = 0; i < n; i++) {
        ptrdiff_t j;
        int32_t count = 0;
        for (j = 0; j < n; j++) count += keys[j] > keys[i];
        places[i] = count;
    }
#endif
}

/* Does each value lie below the one before? */
FM_WIDE static int fm_descends(const double* values, ptrdiff_t n) {
    ptrdiff_t i;
    int64_t found = 0;
    for (i = 1; i < n; i++) found += values[i] >= values[i - 1];
    return found == 0;
}

/* The greatest of grades that are all whole numbers from 0 to `most`, or -1 where one is not. */
FM_WIDE static int64_t fm_greatest_whole(const double* grades, ptrdiff_t n, double most) {
    int64_t others = 0, greatest = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        double small = grades[i] >= 0.0 && grades[i] <= most ? grades[i] : 0.0;
        int64_t number = (int64_t)small;
        others += (double)number != grades[i];
        greatest = number > greatest ? number : greatest;
    }
    return others ? -1 : greatest;
}

/* How many values are equal to one. */
FM_WIDE static int64_t fm_count_equal(const double* values, ptrdiff_t n, double value) {
    ptrdiff_t i;
    int64_t found = 0;
    for (i = 0; i < n; i++) found += values[i] == value;
    return found;
}

/* Columns of a short list as double. Scores: is any of them NaN? Grades: how many are not zero (below zero they are taken for
 * zero unless `negative`), does one lie outside of [least, greatest] (NaN does), and as greatest_whole their greatest. */
#define FM_SCORES(NAME, TYPE)                                                                                            \
    FM_WIDE static int64_t NAME##_scores(const TYPE* values, ptrdiff_t n, double* out) {                                 \
        int64_t nan = 0;                                                                                                 \
        ptrdiff_t i;                                                                                                     \
        for (i = 0; i < n; i++) {                                                                                        \
            double value = (double)values[i];                                                                            \
            nan += value != value;                                                                                       \
            out[i] = value;                                                                                              \
        }                                                                                                                \
        return nan;                                                                                                      \
    }

FM_SCORES(fm_widen_f32, float)
FM_SCORES(fm_widen_f64, double)

#define FM_GRADES(NAME, TYPE, NUMBER)                                                                                    \
    FM_WIDE static int64_t NAME##_grades(                                                                                \
        const TYPE* values, ptrdiff_t n, double least, double greatest, int negative, double* out, int64_t* outside,     \
        int64_t most, int64_t* whole) {                                                                                  \
        int64_t highest = 0, found = 0, bad = 0, others = 0;                                                             \
        ptrdiff_t i;                                                                                                     \
        for (i = 0; i < n; i++) {                                                                                        \
            double value = (double)values[i];                                                                            \
            int64_t number;                                                                                              \
            bad += !(value >= least) | !(value <= greatest);                                                             \
            value = negative || value > 0.0 ? value : 0.0;                                                               \
            found += value != 0.0;                                                                                       \
            NUMBER                                                                                                       \
            highest = number > highest ? number : highest;                                                               \
            out[i] = value;                                                                                              \
        }                                                                                                                \
        *outside += bad;                                                                                                 \
        *whole = others ? -1 : highest;                                                                                  \
        return found;                                                                                                    \
    }

/* Whole numbers are looked at as they came. */
#define FM_OF_WHOLE                                                                                                      \
    number = (int64_t)values[i];                                                                                         \
    others += (number > most) | (negative & (number < 0));
#define FM_OF_REAL                                                                                                       \
    number = value >= 0.0 && value <= (double)most ? (int64_t)value : -1;                                                \
    others += (double)number != value;

FM_GRADES(fm_widen_u8, uint8_t, FM_OF_WHOLE)
FM_GRADES(fm_widen_i64, int64_t, FM_OF_WHOLE)
FM_GRADES(fm_widen_f32, float, FM_OF_REAL)
FM_GRADES(fm_widen_f64, double, FM_OF_REAL)

#endif
