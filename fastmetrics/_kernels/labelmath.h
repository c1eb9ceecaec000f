/* Loops over columns of labels that pay for wide registers (vectormath.h tells how FM_WIDE works).
 *
 * Labels of any numeric type become int64 in blocks that stay in the first-level cache; there they are compared, ranged
 * and turned into cells of a table. Two labels 0 and 1, and equality, have loops of their own in the columns' own width:
 * those read memory once and do little else.
 */
#ifndef FASTMETRICS_LABELMATH_H
#define FASTMETRICS_LABELMATH_H

#include <float.h>
#include <math.h>

#include "vectormath.h"

#define FM_NOT_AN_INTEGER (UINT64_C(1) << 63)

/* out[i] = labels[i]. Returns FM_NOT_AN_INTEGER if any has no int64, else 0. */
#define FM_WIDEN(NAME, TYPE)                                                                                             \
    FM_WIDE static uint64_t NAME(const TYPE* labels, ptrdiff_t n, int64_t* out) {                                       \
        ptrdiff_t i;                                                                                                    \
        for (i = 0; i < n; i++) out[i] = (int64_t)labels[i];                                                            \
        return 0;                                                                                                       \
    }

FM_WIDEN(fm_widen_i8, int8_t)
FM_WIDEN(fm_widen_u8, uint8_t)
FM_WIDEN(fm_widen_i16, int16_t)
FM_WIDEN(fm_widen_u16, uint16_t)
FM_WIDEN(fm_widen_i32, int32_t)
FM_WIDEN(fm_widen_u32, uint32_t)

FM_WIDE static uint64_t fm_widen_u64(const uint64_t* labels, ptrdiff_t n, int64_t* out) {
    uint64_t seen = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        seen |= labels[i];
        out[i] = (int64_t)labels[i];
    }
    return seen & FM_NOT_AN_INTEGER;
}

/* A fraction, NaN, infinity or anything beyond 64 bits has no int64; the conversion is asked for only where it is defined.
 * Below 2^51 in size (2^22 for float32) a number plus 1.5 * 2^52 (2^23) has its integer in its last bits: a conversion
 * every vector unit can do. */
#define FM_WIDEN_FLOATS(NAME, TYPE, BITS, UNSIGNED, MAGIC, LIMIT)                                                        \
    FM_WIDE static uint64_t NAME##_near(const TYPE* labels, ptrdiff_t n, int64_t* out) {                                \
        const TYPE magic = MAGIC;                                                                                       \
        UNSIGNED bad = 0, magic_bits;                                                                                   \
        ptrdiff_t i;                                                                                                    \
        memcpy(&magic_bits, &magic, sizeof(TYPE));                                                                      \
        for (i = 0; i < n; i++) {                                                                                       \
            TYPE value = labels[i];                                                                                     \
            TYPE moved = value + magic;                                                                                 \
            UNSIGNED bits;                                                                                              \
            memcpy(&bits, &moved, sizeof(TYPE));                                                                        \
            bad |= (UNSIGNED)!(moved - magic == value) | (UNSIGNED)!(value > -(LIMIT)) | (UNSIGNED)!(value < (LIMIT));  \
            out[i] = (int64_t)(BITS)(bits - magic_bits);                                                                \
        }                                                                                                               \
        return bad;                                                                                                     \
    }                                                                                                                   \
    static uint64_t NAME(const TYPE* labels, ptrdiff_t n, int64_t* out) {                                               \
        ptrdiff_t i;                                                                                                    \
        if (!NAME##_near(labels, n, out)) return 0;                                                                     \
        for (i = 0; i < n; i++) {                                                                                       \
            TYPE value = labels[i];                                                                                     \
            if (!(value >= (TYPE)-0x1p63 && value < (TYPE)0x1p63)) return FM_NOT_AN_INTEGER;                            \
            out[i] = (int64_t)value;                                                                                    \
            if ((TYPE)out[i] != value) return FM_NOT_AN_INTEGER;                                                        \
        }                                                                                                               \
        return 0;                                                                                                       \
    }

FM_WIDEN_FLOATS(fm_widen_f32, float, int32_t, uint32_t, 0x1.8p23f, 0x1p22f)
FM_WIDEN_FLOATS(fm_widen_f64, double, int64_t, uint64_t, 0x1.8p52, 0x1p51)

/* range[0] and range[1] become the least and the greatest of themselves and the labels. */
FM_WIDE static void fm_range_i64(const int64_t* labels, ptrdiff_t n, int64_t* range) {
    int64_t low = range[0], high = range[1];
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        low = labels[i] < low ? labels[i] : low;
        high = labels[i] > high ? labels[i] : high;
    }
    range[0] = low;
    range[1] = high;
}

/* cells[i] = (first - low) * 2^bits + (second - low), and the union of the bits of all differences: the cells are good if
 * it is below 2^bits. */
FM_WIDE static uint64_t fm_pair_cells(
    const int64_t* first, const int64_t* second, ptrdiff_t n, int64_t low, int bits, uint32_t* cells
) {
    uint64_t seen = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        uint64_t one = (uint64_t)first[i] - (uint64_t)low;
        uint64_t other = (uint64_t)second[i] - (uint64_t)low;
        seen |= one | other;
        cells[i] = (uint32_t)((one << bits) | other);
    }
    return seen;
}

#define FM_BINARY_LANES(TYPE) (64 / (int)sizeof(TYPE))

/* How many rows have 1 in the first column, in the second, in both. Returns 1 if every label is 0 or 1; else 0, and the
 * totals mean nothing. Lanes count in the columns' own width, for at most MOST steps before they are emptied. */
#define FM_COUNT_BINARY(NAME, TYPE, MOST)                                                                                \
    FM_WIDE static int NAME(const TYPE* first, const TYPE* second, ptrdiff_t n, int64_t* totals) {                      \
        enum { LANES = FM_BINARY_LANES(TYPE) };                                                                         \
        int64_t ones = 0, others = 0, boths = 0;                                                                        \
        TYPE rest = 0;                                                                                                  \
        ptrdiff_t i = 0;                                                                                                \
        int lane;                                                                                                       \
        while (n - i >= LANES) {                                                                                        \
            TYPE one[LANES], other[LANES], both[LANES], seen[LANES];                                                    \
            ptrdiff_t steps = (n - i) / LANES, step;                                                                    \
            if (steps > MOST) steps = MOST;                                                                             \
            for (lane = 0; lane < LANES; lane++) one[lane] = other[lane] = both[lane] = seen[lane] = 0;                 \
            for (step = 0; step < steps; step++, i += LANES)                                                            \
                for (lane = 0; lane < LANES; lane++) {                                                                  \
                    TYPE a = first[i + lane], b = second[i + lane];                                                     \
                    one[lane] = (TYPE)(one[lane] + a);                                                                  \
                    other[lane] = (TYPE)(other[lane] + b);                                                              \
                    both[lane] = (TYPE)(both[lane] + (a & b));                                                          \
                    seen[lane] = (TYPE)(seen[lane] | a | b);                                                            \
                }                                                                                                       \
            for (lane = 0; lane < LANES; lane++) {                                                                      \
                ones += (int64_t)one[lane];                                                                             \
                others += (int64_t)other[lane];                                                                         \
                boths += (int64_t)both[lane];                                                                           \
                rest = (TYPE)(rest | seen[lane]);                                                                       \
            }                                                                                                           \
            if (rest > 1) return 0;                                                                                     \
        }                                                                                                               \
        for (; i < n; i++) {                                                                                            \
            ones += (int64_t)first[i];                                                                                  \
            others += (int64_t)second[i];                                                                               \
            boths += (int64_t)(first[i] & second[i]);                                                                   \
            rest = (TYPE)(rest | first[i] | second[i]);                                                                 \
        }                                                                                                               \
        totals[0] += ones;                                                                                              \
        totals[1] += others;                                                                                            \
        totals[2] += boths;                                                                                             \
        return rest <= 1;                                                                                               \
    }

FM_COUNT_BINARY(fm_count_binary_8, uint8_t, 255)
FM_COUNT_BINARY(fm_count_binary_16, uint16_t, 255)
FM_COUNT_BINARY(fm_count_binary_32, uint32_t, 255)
FM_COUNT_BINARY(fm_count_binary_64, uint64_t, 255)

/* How many rows are equal, bit by bit. */
#define FM_COUNT_EQUAL(NAME, TYPE, MOST)                                                                                 \
    FM_WIDE static int64_t NAME(const TYPE* first, const TYPE* second, ptrdiff_t n) {                                   \
        enum { LANES = FM_BINARY_LANES(TYPE) };                                                                         \
        int64_t total = 0;                                                                                              \
        ptrdiff_t i = 0;                                                                                                \
        int lane;                                                                                                       \
        while (n - i >= LANES) {                                                                                        \
            TYPE equal[LANES];                                                                                          \
            ptrdiff_t steps = (n - i) / LANES, step;                                                                    \
            if (steps > MOST) steps = MOST;                                                                             \
            for (lane = 0; lane < LANES; lane++) equal[lane] = 0;                                                       \
            for (step = 0; step < steps; step++, i += LANES)                                                            \
                for (lane = 0; lane < LANES; lane++)                                                                    \
                    equal[lane] = (TYPE)(equal[lane] + (first[i + lane] == second[i + lane]));                          \
            for (lane = 0; lane < LANES; lane++) total += (int64_t)equal[lane];                                         \
        }                                                                                                               \
        for (; i < n; i++) total += first[i] == second[i];                                                              \
        return total;                                                                                                   \
    }

FM_COUNT_EQUAL(fm_count_equal_8, uint8_t, 255)
FM_COUNT_EQUAL(fm_count_equal_16, uint16_t, 65535)
FM_COUNT_EQUAL(fm_count_equal_32, uint32_t, 65535)
FM_COUNT_EQUAL(fm_count_equal_64, uint64_t, 65535)

/* How many rows are equal; -1 if any label is no integer of 64 bits (the fraction is found by rounding to nearest). */
#define FM_COUNT_EQUAL_FLOATS(NAME, TYPE, ROUND)                                                                         \
    FM_WIDE static int64_t NAME(const TYPE* first, const TYPE* second, ptrdiff_t n) {                                   \
        int64_t total = 0, good = 0;                                                                                    \
        ptrdiff_t i;                                                                                                    \
        for (i = 0; i < n; i++) {                                                                                       \
            TYPE a = first[i], b = second[i];                                                                           \
            total += (int64_t)(a == b);                                                                                 \
            good += (int64_t)(ROUND(a) == a) & (int64_t)(ROUND(b) == b) & (int64_t)(a >= (TYPE)-0x1p63)                 \
                & (int64_t)(b >= (TYPE)-0x1p63) & (int64_t)(a < (TYPE)0x1p63) & (int64_t)(b < (TYPE)0x1p63);            \
        }                                                                                                               \
        return good == n ? total : -1;                                                                                  \
    }

FM_COUNT_EQUAL_FLOATS(fm_count_equal_f32, float, rintf)
FM_COUNT_EQUAL_FLOATS(fm_count_equal_f64, double, rint)

/* Have two rows the same bytes? For rows of a few words a call of memcmp would take longer than the comparison. */
static inline int fm_same_bytes(const char* first, const char* second, ptrdiff_t width) {
    uint64_t differ = 0, one, other;
    ptrdiff_t i = 0;
    if (width > 256) return memcmp(first, second, (size_t)width) == 0;
    for (; i + 8 <= width; i += 8) {
        memcpy(&one, first + i, 8);
        memcpy(&other, second + i, 8);
        differ |= one ^ other;
    }
    for (; i < width; i++) differ |= (uint64_t)(first[i] ^ second[i]);
    return differ == 0;
}

/* How many of a row's n scores stand before that of class own, the highest first and of equal ones the last. Returns -1 if
 * a score is NaN or infinite. */
#define FM_PLACE_IN_ROW(NAME, TYPE, GREATEST)                                                                            \
    FM_WIDE static int64_t NAME(const TYPE* scores, ptrdiff_t n, ptrdiff_t own) {                                       \
        TYPE score = scores[own];                                                                                       \
        int64_t before = 0, finite = 0;                                                                                 \
        ptrdiff_t i;                                                                                                    \
        for (i = 0; i < own; i++) {                                                                                     \
            before += (int64_t)(scores[i] > score);                                                                     \
            finite += (int64_t)(scores[i] >= -(GREATEST)) & (int64_t)(scores[i] <= (GREATEST));                         \
        }                                                                                                               \
        for (i = own; i < n; i++) {                                                                                     \
            before += (int64_t)(scores[i] >= score);                                                                    \
            finite += (int64_t)(scores[i] >= -(GREATEST)) & (int64_t)(scores[i] <= (GREATEST));                         \
        }                                                                                                               \
        return finite == n ? before - 1 : -1;                                                                           \
    }

FM_PLACE_IN_ROW(fm_place_in_row_f32, float, FLT_MAX)
FM_PLACE_IN_ROW(fm_place_in_row_f64, double, DBL_MAX)

#endif
