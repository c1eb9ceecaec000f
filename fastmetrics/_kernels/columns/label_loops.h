/* Loops over columns of labels that gain from wide SIMD registers (see vector_math.h for FM_WIDE).
 *
 * Labels of any numeric type are widened to int64 in blocks that stay in the first-level cache. There they are
 * compared, their range is found, and pairs become cells of a table. Binary labels and the count of equal rows have
 * loops of their own in the columns' own width, because those loops are bound by memory.
 */
#ifndef FASTMETRICS_COLUMNS_LABEL_LOOPS_H
#define FASTMETRICS_COLUMNS_LABEL_LOOPS_H

#include <float.h>
#include <math.h>

#include "numeric/vector_math.h"

#define FM_NOT_AN_INTEGER (UINT64_C(1) << 63)

/* out[i] = labels[i]. Returns FM_NOT_AN_INTEGER if a label has no int64, else 0. */
#define FM_WIDEN(NAME, TYPE)                                                                                           \
    FM_WIDE static uint64_t NAME(const TYPE* labels, ptrdiff_t n, int64_t* out) {                                      \
        ptrdiff_t i;                                                                                                   \
        for (i = 0; i < n; i++) out[i] = (int64_t)labels[i];                                                           \
        return 0;                                                                                                      \
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

/* A fraction, NaN, infinity or a number beyond 64 bits has no int64. C's conversion is used only where it is defined.
 * If |x| < 2^51 (2^22 for float32), then x + 1.5 * 2^52 (2^23) has the integer in its last bits. Every SIMD unit can do
 * this conversion. */
#define FM_WIDEN_FLOATS(NAME, TYPE, BITS, UNSIGNED, MAGIC, LIMIT)                                                      \
    FM_WIDE static uint64_t NAME##_near(const TYPE* labels, ptrdiff_t n, int64_t* out) {                               \
        const TYPE magic = MAGIC;                                                                                      \
        UNSIGNED bad = 0, magic_bits;                                                                                  \
        ptrdiff_t i;                                                                                                   \
        memcpy(&magic_bits, &magic, sizeof(TYPE));                                                                     \
        for (i = 0; i < n; i++) {                                                                                      \
            TYPE value = labels[i];                                                                                    \
            TYPE sum = value + magic;                                                                                  \
            UNSIGNED bits;                                                                                             \
            memcpy(&bits, &sum, sizeof(TYPE));                                                                         \
            bad |= (UNSIGNED)!(sum - magic == value) | (UNSIGNED)!(value > -(LIMIT)) | (UNSIGNED)!(value < (LIMIT));   \
            out[i] = (int64_t)(BITS)(bits - magic_bits);                                                               \
        }                                                                                                              \
        return bad;                                                                                                    \
    }                                                                                                                  \
    static uint64_t NAME(const TYPE* labels, ptrdiff_t n, int64_t* out) {                                              \
        ptrdiff_t i;                                                                                                   \
        if (!NAME##_near(labels, n, out)) return 0;                                                                    \
        for (i = 0; i < n; i++) {                                                                                      \
            TYPE value = labels[i];                                                                                    \
            if (!(value >= (TYPE)-0x1p63 && value < (TYPE)0x1p63)) return FM_NOT_AN_INTEGER;                           \
            out[i] = (int64_t)value;                                                                                   \
            if ((TYPE)out[i] != value) return FM_NOT_AN_INTEGER;                                                       \
        }                                                                                                              \
        return 0;                                                                                                      \
    }

FM_WIDEN_FLOATS(fm_widen_f32, float, int32_t, uint32_t, 0x1.8p23f, 0x1p22f)
FM_WIDEN_FLOATS(fm_widen_f64, double, int64_t, uint64_t, 0x1.8p52, 0x1p51)

/* Widen range[0] .. range[1] to contain all labels. */
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

/* cells[i] = (first - low) * 2^bits + (second - low). Returns the union of the bits of all differences; the cells are
 * valid if it is below 2^bits. */
FM_WIDE static uint64_t fm_find_cells(
    const int64_t* first, const int64_t* second, ptrdiff_t n, int64_t low, int bits, uint32_t* cells
) {
    uint64_t all_bits = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        uint64_t first_offset = (uint64_t)first[i] - (uint64_t)low;
        uint64_t second_offset = (uint64_t)second[i] - (uint64_t)low;
        all_bits |= first_offset | second_offset;
        cells[i] = (uint32_t)((first_offset << bits) | second_offset);
    }
    return all_bits;
}

#define FM_BINARY_LANES(TYPE) (64 / (int)sizeof(TYPE))

/* Count the rows with 1 in the first column, in the second, and in both. Returns 1 if every label is 0 or 1; otherwise
 * 0, and the totals are invalid. SIMD lanes count in the columns' own width and are added to totals after MAX_VECTORS
 * steps. */
#define FM_COUNT_BINARY(NAME, TYPE, MAX_VECTORS)                                                                       \
    FM_WIDE static int NAME(const TYPE* first, const TYPE* second, ptrdiff_t n, int64_t* totals) {                     \
        enum { LANES = FM_BINARY_LANES(TYPE) };                                                                        \
        int64_t n_first = 0, n_second = 0, n_both = 0;                                                                 \
        TYPE all_bits = 0;                                                                                             \
        ptrdiff_t i = 0;                                                                                               \
        int lane;                                                                                                      \
        while (n - i >= LANES) {                                                                                       \
            TYPE firsts[LANES], seconds[LANES], both[LANES], bits[LANES];                                              \
            ptrdiff_t n_vectors = (n - i) / LANES, vector;                                                             \
            if (n_vectors > MAX_VECTORS) n_vectors = MAX_VECTORS;                                                      \
            for (lane = 0; lane < LANES; lane++) firsts[lane] = seconds[lane] = both[lane] = bits[lane] = 0;           \
            for (vector = 0; vector < n_vectors; vector++, i += LANES)                                                 \
                for (lane = 0; lane < LANES; lane++) {                                                                 \
                    TYPE a = first[i + lane], b = second[i + lane];                                                    \
                    firsts[lane] = (TYPE)(firsts[lane] + a);                                                           \
                    seconds[lane] = (TYPE)(seconds[lane] + b);                                                         \
                    both[lane] = (TYPE)(both[lane] + (a & b));                                                         \
                    bits[lane] = (TYPE)(bits[lane] | a | b);                                                           \
                }                                                                                                      \
            for (lane = 0; lane < LANES; lane++) {                                                                     \
                n_first += (int64_t)firsts[lane];                                                                      \
                n_second += (int64_t)seconds[lane];                                                                    \
                n_both += (int64_t)both[lane];                                                                         \
                all_bits = (TYPE)(all_bits | bits[lane]);                                                              \
            }                                                                                                          \
            if (all_bits > 1) return 0;                                                                                \
        }                                                                                                              \
        for (; i < n; i++) {                                                                                           \
            n_first += (int64_t)first[i];                                                                              \
            n_second += (int64_t)second[i];                                                                            \
            n_both += (int64_t)(first[i] & second[i]);                                                                 \
            all_bits = (TYPE)(all_bits | first[i] | second[i]);                                                        \
        }                                                                                                              \
        totals[0] += n_first;                                                                                          \
        totals[1] += n_second;                                                                                         \
        totals[2] += n_both;                                                                                           \
        return all_bits <= 1;                                                                                          \
    }

FM_COUNT_BINARY(fm_count_binary_8, uint8_t, 255)
FM_COUNT_BINARY(fm_count_binary_16, uint16_t, 255)
FM_COUNT_BINARY(fm_count_binary_32, uint32_t, 255)
FM_COUNT_BINARY(fm_count_binary_64, uint64_t, 255)

/* The number of rows whose two labels have the same bits. */
#define FM_COUNT_EQUAL(NAME, TYPE, MAX_VECTORS)                                                                        \
    FM_WIDE static int64_t NAME(const TYPE* first, const TYPE* second, ptrdiff_t n) {                                  \
        enum { LANES = FM_BINARY_LANES(TYPE) };                                                                        \
        int64_t total = 0;                                                                                             \
        ptrdiff_t i = 0;                                                                                               \
        int lane;                                                                                                      \
        while (n - i >= LANES) {                                                                                       \
            TYPE equal[LANES];                                                                                         \
            ptrdiff_t n_vectors = (n - i) / LANES, vector;                                                             \
            if (n_vectors > MAX_VECTORS) n_vectors = MAX_VECTORS;                                                      \
            for (lane = 0; lane < LANES; lane++) equal[lane] = 0;                                                      \
            for (vector = 0; vector < n_vectors; vector++, i += LANES)                                                 \
                for (lane = 0; lane < LANES; lane++)                                                                   \
                    equal[lane] = (TYPE)(equal[lane] + (first[i + lane] == second[i + lane]));                         \
            for (lane = 0; lane < LANES; lane++) total += (int64_t)equal[lane];                                        \
        }                                                                                                              \
        for (; i < n; i++) total += first[i] == second[i];                                                             \
        return total;                                                                                                  \
    }

FM_COUNT_EQUAL(fm_count_equal_8, uint8_t, 255)
FM_COUNT_EQUAL(fm_count_equal_16, uint16_t, 65535)
FM_COUNT_EQUAL(fm_count_equal_32, uint32_t, 65535)
FM_COUNT_EQUAL(fm_count_equal_64, uint64_t, 65535)

/* The number of equal rows; -1 if a label has no int64. Rounding to nearest shows whether there is a fraction. */
#define FM_COUNT_EQUAL_FLOATS(NAME, TYPE, ROUND)                                                                       \
    FM_WIDE static int64_t NAME(const TYPE* first, const TYPE* second, ptrdiff_t n) {                                  \
        int64_t total = 0, n_valid = 0;                                                                                \
        ptrdiff_t i;                                                                                                   \
        for (i = 0; i < n; i++) {                                                                                      \
            TYPE a = first[i], b = second[i];                                                                          \
            total += (int64_t)(a == b);                                                                                \
            n_valid += (int64_t)(ROUND(a) == a) & (int64_t)(ROUND(b) == b) & (int64_t)(a >= (TYPE)-0x1p63)             \
                & (int64_t)(b >= (TYPE)-0x1p63) & (int64_t)(a < (TYPE)0x1p63) & (int64_t)(b < (TYPE)0x1p63);           \
        }                                                                                                              \
        return n_valid == n ? total : -1;                                                                              \
    }

FM_COUNT_EQUAL_FLOATS(fm_count_equal_f32, float, rintf)
FM_COUNT_EQUAL_FLOATS(fm_count_equal_f64, double, rint)

/* Whether two rows have the same bytes. For a few words, calling memcmp takes longer than comparing. */
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

/* The number of a row's n scores that rank before the score of `column`: the highest first, and the last column first
 * among equal scores. Returns -1 if a score is NaN or infinite. */
#define FM_RANK_IN_ROW(NAME, TYPE, GREATEST)                                                                           \
    FM_WIDE static int64_t NAME(const TYPE* scores, ptrdiff_t n, ptrdiff_t column) {                                   \
        TYPE score = scores[column];                                                                                   \
        int64_t before = 0, finite = 0;                                                                                \
        ptrdiff_t i;                                                                                                   \
        for (i = 0; i < column; i++) {                                                                                 \
            before += (int64_t)(scores[i] > score);                                                                    \
            finite += (int64_t)(scores[i] >= -(GREATEST)) & (int64_t)(scores[i] <= (GREATEST));                        \
        }                                                                                                              \
        for (i = column; i < n; i++) {                                                                                 \
            before += (int64_t)(scores[i] >= score);                                                                   \
            finite += (int64_t)(scores[i] >= -(GREATEST)) & (int64_t)(scores[i] <= (GREATEST));                        \
        }                                                                                                              \
        return finite == n ? before - 1 : -1;                                                                          \
    }

FM_RANK_IN_ROW(fm_rank_in_row_f32, float, FLT_MAX)
FM_RANK_IN_ROW(fm_rank_in_row_f64, double, DBL_MAX)

#endif
