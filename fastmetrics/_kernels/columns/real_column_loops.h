/* Read columns of any numeric type as float64. real_columns.pxd declares these functions; vector_math.h has FM_WIDE. */
#ifndef FASTMETRICS_COLUMNS_REAL_COLUMN_LOOPS_H
#define FASTMETRICS_COLUMNS_REAL_COLUMN_LOOPS_H

#include "numeric/vector_math.h"

/* Types of columns. */
enum { FM_F64, FM_F32, FM_I8, FM_U8, FM_I16, FM_U16, FM_I32, FM_U32, FM_I64, FM_U64 };

#define FM_EXACT_INTEGER 9007199254740992.0 /* 2^53 */

/* out[i] = value i of a column, `stride` bytes apart, as float64. Addresses need not be aligned. */
#define FM_READ_REALS(NAME, TYPE)                                                                                      \
    FM_WIDE static void NAME(const char* data, ptrdiff_t stride, ptrdiff_t n, double* out) {                           \
        ptrdiff_t i;                                                                                                   \
        TYPE value;                                                                                                    \
        if (stride == (ptrdiff_t)sizeof(TYPE))                                                                         \
            for (i = 0; i < n; i++) {                                                                                  \
                memcpy(&value, data + i * (ptrdiff_t)sizeof(TYPE), sizeof(TYPE));                                      \
                out[i] = (double)value;                                                                                \
            }                                                                                                          \
        else                                                                                                           \
            for (i = 0; i < n; i++) {                                                                                  \
                memcpy(&value, data + i * stride, sizeof(TYPE));                                                       \
                out[i] = (double)value;                                                                                \
            }                                                                                                          \
    }

FM_READ_REALS(fm_read_f64, double)
FM_READ_REALS(fm_read_f32, float)
FM_READ_REALS(fm_read_i8, int8_t)
FM_READ_REALS(fm_read_u8, uint8_t)
FM_READ_REALS(fm_read_i16, int16_t)
FM_READ_REALS(fm_read_u16, uint16_t)
FM_READ_REALS(fm_read_i32, int32_t)
FM_READ_REALS(fm_read_u32, uint32_t)
FM_READ_REALS(fm_read_any_i64, int64_t)
FM_READ_REALS(fm_read_any_u64, uint64_t)

/* Contiguous integers of 64 bits from -2^51 to 2^51 - 1 as float64. Returns 0 if there are others: `out` is then invalid.
 * There is no vector instruction for integers of any size before AVX-512; an integer in the low bits of 2^52 needs none. */
FM_WIDE static int fm_read_small_i64(const char* data, ptrdiff_t n, double* out) {
    uint64_t beyond = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        uint64_t bits;
        double value;
        memcpy(&bits, data + 8 * i, 8);
        bits += UINT64_C(1) << 51;
        beyond |= bits >> 52;
        bits += UINT64_C(0x4330000000000000);
        memcpy(&value, &bits, 8);
        out[i] = value - (4503599627370496.0 + 2251799813685248.0);
    }
    return beyond == 0;
}

static inline void fm_read_i64(const char* data, ptrdiff_t stride, ptrdiff_t n, double* out) {
    if (stride != 8 || !fm_read_small_i64(data, n, out)) fm_read_any_i64(data, stride, n, out);
}

/* The bits of an integer of at least 2^63 are those of a negative one. */
static inline void fm_read_u64(const char* data, ptrdiff_t stride, ptrdiff_t n, double* out) {
    ptrdiff_t i;
    int negative = 1;
    if (stride == 8 && fm_read_small_i64(data, n, out))
        for (i = 0, negative = 0; i < n; i++) negative |= out[i] < 0.0;
    if (negative) fm_read_any_u64(data, stride, n, out);
}

/* Whether any value has a magnitude of at least 2^53. From there on, integers are rounded when they become float64. */
FM_WIDE static int fm_any_beyond(const double* values, ptrdiff_t n) {
    int64_t beyond = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) beyond += (int64_t)(fabs(values[i]) >= FM_EXACT_INTEGER);
    return beyond != 0;
}

static inline const double* fm_fetch_any(const char* data, ptrdiff_t stride, int type, ptrdiff_t n, double* out) {
    switch (type) {
        case FM_F64:
            if (stride == 8 && (uintptr_t)data % 8 == 0) return (const double*)data;
            fm_read_f64(data, stride, n, out);
            break;
        case FM_F32: fm_read_f32(data, stride, n, out); break;
        case FM_I8: fm_read_i8(data, stride, n, out); break;
        case FM_U8: fm_read_u8(data, stride, n, out); break;
        case FM_I16: fm_read_i16(data, stride, n, out); break;
        case FM_U16: fm_read_u16(data, stride, n, out); break;
        case FM_I32: fm_read_i32(data, stride, n, out); break;
        case FM_U32: fm_read_u32(data, stride, n, out); break;
        case FM_I64: fm_read_i64(data, stride, n, out); break;
        default: fm_read_u64(data, stride, n, out);
    }
    return out;
}

/* n values of a column as float64: the column's own memory if possible, else `out`. */
static inline const double* fm_fetch(const char* data, ptrdiff_t stride, int type, ptrdiff_t n, double* out) {
    if (stride == 0 && n > 1) { /* a constant */
        double scratch, value = *fm_fetch_any(data, 8, type, 1, &scratch);
        ptrdiff_t i;
        for (i = 0; i < n; i++) out[i] = value;
        return out;
    }
    return fm_fetch_any(data, stride, type, n, out);
}

/* A tile of a matrix, column by column: out[k * FM_TILE_ROWS + i] = value of row i and output k, as float64.
 *
 * Memory is read along the rows: a cache line of a C-ordered matrix has several outputs. `more` rows after the tile are
 * prefetched. */
enum { FM_TILE_ROWS = 256, FM_TILE_OUTPUTS = 8 };

#if defined(__GNUC__)
#define FM_PREFETCH_LINE(ADDRESS) __builtin_prefetch(ADDRESS, 0, 2)
#else
#define FM_PREFETCH_LINE(ADDRESS) (void)(ADDRESS)
#endif

#define FM_READ_TILE(NAME, TYPE)                                                                                       \
    static void NAME(                                                                                                  \
        const char* data, ptrdiff_t row_stride, ptrdiff_t output_stride, ptrdiff_t rows, ptrdiff_t outputs,            \
        ptrdiff_t more, double* out                                                                                    \
    ) {                                                                                                                \
        ptrdiff_t i, k;                                                                                                \
        TYPE value, values[FM_TILE_OUTPUTS];                                                                           \
        if (outputs == FM_TILE_OUTPUTS && output_stride == (ptrdiff_t)sizeof(TYPE))                                    \
            for (i = 0; i < rows; i++) {                                                                               \
                const char* row = data + i * row_stride;                                                               \
                if (i < more) FM_PREFETCH_LINE(row + rows * row_stride);                                               \
                memcpy(values, row, sizeof(values));                                                                   \
                for (k = 0; k < FM_TILE_OUTPUTS; k++) out[k * FM_TILE_ROWS + i] = (double)values[k];                   \
            }                                                                                                          \
        else                                                                                                           \
            for (i = 0; i < rows; i++) {                                                                               \
                const char* row = data + i * row_stride;                                                               \
                if (i < more) FM_PREFETCH_LINE(row + rows * row_stride);                                               \
                for (k = 0; k < outputs; k++) {                                                                        \
                    memcpy(&value, row + k * output_stride, sizeof(TYPE));                                             \
                    out[k * FM_TILE_ROWS + i] = (double)value;                                                         \
                }                                                                                                      \
            }                                                                                                          \
    }

FM_READ_TILE(fm_read_tile_f64, double)
FM_READ_TILE(fm_read_tile_f32, float)
FM_READ_TILE(fm_read_tile_i64, int64_t)

FM_ONE_COPY static void fm_fetch_tile(
    const char* data, ptrdiff_t row_stride, ptrdiff_t output_stride, int type, ptrdiff_t rows, ptrdiff_t outputs,
    ptrdiff_t more, double* out
) {
    double scratch[FM_TILE_OUTPUTS];
    ptrdiff_t i, k;
    switch (type) {
        case FM_F64: fm_read_tile_f64(data, row_stride, output_stride, rows, outputs, more, out); break;
        case FM_F32: fm_read_tile_f32(data, row_stride, output_stride, rows, outputs, more, out); break;
        case FM_I64: fm_read_tile_i64(data, row_stride, output_stride, rows, outputs, more, out); break;
        default:
            for (i = 0; i < rows; i++) {
                const double* values = fm_fetch(data + i * row_stride, output_stride, type, outputs, scratch);
                for (k = 0; k < outputs; k++) out[k * FM_TILE_ROWS + i] = values[k];
            }
    }
}

/* Rows of a matrix that are read together, all outputs of a row side by side. */
enum { FM_MATRIX_ROWS = 32, FM_MATRIX_OUTPUTS = 128 };

/* The bytes of a value of a column. */
static inline ptrdiff_t fm_size_of_type(int type) {
    switch (type) {
        case FM_I8: case FM_U8: return 1;
        case FM_I16: case FM_U16: return 2;
        case FM_F32: case FM_I32: case FM_U32: return 4;
        default: return 8;
    }
}

/* Prefetch memory that is read next. */
static inline void fm_prefetch(const char* data, ptrdiff_t n_bytes) {
#if defined(__GNUC__)
    ptrdiff_t i;
    for (i = 0; i < n_bytes; i += 64) __builtin_prefetch(data + i, 0, 2);
#else
    (void)data;
    (void)n_bytes;
#endif
}

#endif
