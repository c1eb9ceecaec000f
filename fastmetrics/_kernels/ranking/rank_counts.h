/* Vectorized loops that rank a list (list_ranks.pxd): counting scores above and tied, and sorting short lists by counting.
 *
 * fm_count_above: for each of a few scores, add to `above` and `tied` how many of `many` are greater and equal. n_many is at
 * most 2^31 - 1 for float. The counters are as wide as the scores, so that a register holds as many of both.
 */
#ifndef FASTMETRICS_RANK_COUNTS_H
#define FASTMETRICS_RANK_COUNTS_H

#include "numeric/vector_math.h"

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

/* Short lists are sorted without branches: the rank of a row is the number of greater keys, counted in wide registers. A key
 * has 24 bits for the position of the score between the least and the greatest of the list, then the row number, so keys are
 * distinct. Scores that differ only in lower bits are put in order by a later pass, which is rarely needed.
 */
#define FM_SHORT 128           /* rows at most */
#define FM_KEY_BITS 24

/* ranks[i]: how many keys are greater than keys[i]. Keys are not negative. `keys` and `ranks` have FM_SHORT elements. */
FM_WIDE static void fm_count_greater(const int32_t* keys, ptrdiff_t n, int32_t* ranks) {
    ptrdiff_t i, j;
    for (i = 0; i < n; i++) {
        int32_t key = keys[i], count = 0;
        for (j = 0; j < n; j++) count += keys[j] > key;
        ranks[i] = count;
    }
}

/* With registers of 64 bytes, four of them hold the keys of 64 rows; the signs of differences are counted. The loop is written
 * for these registers: with shorter ones its values would be spilled to memory. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define FM_KEY_LANES 16
#define FM_REGISTERS 4
typedef int32_t fm_lanes __attribute__((vector_size(4 * FM_KEY_LANES)));

__attribute__((target("arch=x86-64-v4"))) static void fm_count_greater_v4(
    const int32_t* keys, ptrdiff_t n, int32_t* ranks) {
    ptrdiff_t i, j;
    int k;
    for (i = 0; i < n; i += FM_REGISTERS * FM_KEY_LANES) {
        fm_lanes block[FM_REGISTERS], count[FM_REGISTERS];
        for (k = 0; k < FM_REGISTERS; k++) {
            memcpy(&block[k], keys + i + FM_KEY_LANES * k, sizeof(fm_lanes));
            count[k] = block[k] ^ block[k];
        }
        for (j = 0; j < n; j++)
            for (k = 0; k < FM_REGISTERS; k++) count[k] -= (block[k] - keys[j]) >> 31;
        for (k = 0; k < FM_REGISTERS; k++) memcpy(ranks + i + FM_KEY_LANES * k, &count[k], sizeof(fm_lanes));
    }
}
#define FM_COUNT_GREATER(KEYS, N, PLACES)                                                                                \
    (__builtin_cpu_supports("x86-64-v4") ? fm_count_greater_v4(KEYS, N, PLACES) : fm_count_greater(KEYS, N, PLACES))
#else
#define FM_COUNT_GREATER(KEYS, N, PLACES) fm_count_greater(KEYS, N, PLACES)
#endif

/* ranks[i] in 0 .. n - 1: the position of values[i] in descending order, exact up to values that agree in the bits of the key.
 * n is at most FM_SHORT; no value is NaN. */
FM_WIDE static void fm_short_ranks(const double* values, ptrdiff_t n, int32_t* ranks) {
    int64_t ordered[FM_SHORT];
    int32_t keys[FM_SHORT];
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
        keys[i] = (int32_t)(key | (uint32_t)(FM_SHORT - 1 - i));
    }
    for (i = n; i < FM_SHORT; i++) keys[i] = 0;
    FM_COUNT_GREATER(keys, n, ranks);
}

/* Is each value less than the one before? */
FM_WIDE static int fm_is_descending(const double* values, ptrdiff_t n) {
    ptrdiff_t i;
    int64_t found = 0;
    for (i = 1; i < n; i++) found += values[i] >= values[i - 1];
    return found == 0;
}

/* The greatest grade if all are whole numbers from 0 to `most`, else -1. */
FM_WIDE static int64_t fm_greatest_whole_grade(const double* grades, ptrdiff_t n, double most) {
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

/* How many values are equal to `value`. */
FM_WIDE static int64_t fm_count_equal(const double* values, ptrdiff_t n, double value) {
    ptrdiff_t i;
    int64_t found = 0;
    for (i = 0; i < n; i++) found += values[i] == value;
    return found;
}

/* The columns of a short list as double. Scores: returns how many are NaN. Grades: returns how many are not zero (negative
 * ones become zero unless `negative`); adds to `outside` how many are outside [least, greatest] or NaN; sets `whole` as
 * fm_greatest_whole_grade does. */
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

/* NUMBER: the whole number of a grade. Integers are tested in their own type. */
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
