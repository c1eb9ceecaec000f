/* Sums of values and of their squares in double-doubles (double_double_sums.h). A product that underflows loses less
 * than 2^-1070.
 */
#ifndef FASTMETRICS_MOMENT_SUMS_H
#define FASTMETRICS_MOMENT_SUMS_H

#include "columns/real_column_loops.h"
#include "numeric/double_double_sums.h"
#include "numeric/two_product.h"

/* The sums of a chunk: of w y and w y^2; then of w d and w d^2, or of w d^2 alone, each term of it rounded. d = p - y. */
enum { FM_TOTAL, FM_SQUARES, FM_ERROR_TOTAL, FM_ERROR_SQUARES, FM_MOMENTS };
enum { FM_MOMENT_LANES = 8 };

typedef struct {
    double high[FM_MOMENTS][FM_MOMENT_LANES];
    double low[FM_MOMENTS][FM_MOMENT_LANES];
} fm_moment_lanes;

/* Add w v and w v^2. */
#define FM_ADD_MOMENTS(SUMS, FIRST, LANE, V)                                                                            \
    do {                                                                                                                \
        double value = (V), square = value * value, lost = fm_product_error(value, value, square);                      \
        FM_ADD_EXACTLY((SUMS)->high[FIRST][LANE], (SUMS)->low[FIRST][LANE], value);                                     \
        (SUMS)->low[(FIRST) + 1][LANE] += lost;                                                                         \
        FM_ADD_EXACTLY((SUMS)->high[(FIRST) + 1][LANE], (SUMS)->low[(FIRST) + 1][LANE], square);                        \
    } while (0)

#define FM_ADD_WEIGHTED_MOMENTS(SUMS, FIRST, LANE, W, V)                                                                \
    do {                                                                                                                \
        double weight = (W), value = (V), product = weight * value;                                                     \
        double lost = fm_product_error(weight, value, product), square = product * value;                               \
        (SUMS)->low[FIRST][LANE] += lost;                                                                               \
        FM_ADD_EXACTLY((SUMS)->high[FIRST][LANE], (SUMS)->low[FIRST][LANE], product);                                   \
        (SUMS)->low[(FIRST) + 1][LANE] += fm_product_error(product, value, square) + lost * value;                      \
        FM_ADD_EXACTLY((SUMS)->high[(FIRST) + 1][LANE], (SUMS)->low[(FIRST) + 1][LANE], square);                        \
    } while (0)

#define FM_ADD_SQUARED_ERROR(SUMS, LANE, W, D)                                                                          \
    do {                                                                                                                \
        double error = (D);                                                                                             \
        FM_ADD_EXACTLY(                                                                                                 \
            (SUMS)->high[FM_ERROR_SQUARES][LANE], (SUMS)->low[FM_ERROR_SQUARES][LANE], error * error W);                \
    } while (0)

/* One function for each combination, so that the loops hold no branch. */
#define FM_MOMENT_LOOP(NAME, ADD_TARGET, ADD_ERROR)                                                                     \
    FM_WIDE static void NAME(                                                                                           \
        const double* y, const double* p, const double* w, ptrdiff_t n, fm_moment_lanes* out                            \
    ) {                                                                                                                 \
        fm_moment_lanes sums;                                                                                           \
        ptrdiff_t i, whole = n - n % FM_MOMENT_LANES;                                                                   \
        int lane;                                                                                                       \
        memset(&sums, 0, sizeof(sums));                                                                                 \
        for (i = 0; i < whole; i += FM_MOMENT_LANES)                                                                    \
            for (lane = 0; lane < FM_MOMENT_LANES; lane++) {                                                            \
                ADD_TARGET(i + lane, lane);                                                                             \
                ADD_ERROR(i + lane, lane);                                                                              \
            }                                                                                                           \
        for (i = whole; i < n; i++) {                                                                                   \
            ADD_TARGET(i, 0);                                                                                           \
            ADD_ERROR(i, 0);                                                                                            \
        }                                                                                                               \
        *out = sums;                                                                                                    \
    }

#define FM_TARGET(I, LANE) FM_ADD_MOMENTS(&sums, FM_TOTAL, LANE, y[I])
#define FM_WEIGHTED_TARGET(I, LANE) FM_ADD_WEIGHTED_MOMENTS(&sums, FM_TOTAL, LANE, w[I], y[I])
#define FM_ERROR(I, LANE) FM_ADD_MOMENTS(&sums, FM_ERROR_TOTAL, LANE, p[I] - y[I])
#define FM_WEIGHTED_ERROR(I, LANE) FM_ADD_WEIGHTED_MOMENTS(&sums, FM_ERROR_TOTAL, LANE, w[I], p[I] - y[I])
#define FM_SQUARE(I, LANE) FM_ADD_SQUARED_ERROR(&sums, LANE, , p[I] - y[I])
#define FM_WEIGHTED_SQUARE(I, LANE) FM_ADD_SQUARED_ERROR(&sums, LANE, * w[I], p[I] - y[I])

FM_MOMENT_LOOP(fm_moments_squared, FM_TARGET, FM_SQUARE)
FM_MOMENT_LOOP(fm_moments_centered, FM_TARGET, FM_ERROR)
FM_MOMENT_LOOP(fm_weighted_moments_squared, FM_WEIGHTED_TARGET, FM_WEIGHTED_SQUARE)
FM_MOMENT_LOOP(fm_weighted_moments_centered, FM_WEIGHTED_TARGET, FM_WEIGHTED_ERROR)

/* The moments of the outputs of a matrix, side by side: rows are read in order, and strides are numbers of doubles. */
typedef struct {
    double high[FM_MOMENTS][FM_MATRIX_OUTPUTS];
    double low[FM_MOMENTS][FM_MATRIX_OUTPUTS];
} fm_matrix_moments;

#define FM_MATRIX_MOMENT_LOOP(NAME, ADD_TARGET, ADD_ERROR)                                                              \
    FM_WIDE static void NAME(                                                                                           \
        const double* y_rows, ptrdiff_t y_stride, const double* p_rows, ptrdiff_t p_stride, const double* weights,      \
        ptrdiff_t rows, ptrdiff_t outputs, fm_matrix_moments* restrict sums                                             \
    ) {                                                                                                                 \
        ptrdiff_t i, k;                                                                                                 \
        for (i = 0; i < rows; i++) {                                                                                    \
            const double *y = y_rows + i * y_stride, *p = p_rows + i * p_stride;                                        \
            double w = weights ? weights[i] : 1.0;                                                                      \
            (void)w;                                                                                                    \
            for (k = 0; k < outputs; k++) {                                                                             \
                ADD_TARGET;                                                                                             \
                ADD_ERROR;                                                                                              \
            }                                                                                                           \
        }                                                                                                               \
    }

FM_MATRIX_MOMENT_LOOP(
    fm_matrix_moments_squared, FM_ADD_MOMENTS(sums, FM_TOTAL, k, y[k]), FM_ADD_SQUARED_ERROR(sums, k, , p[k] - y[k]))
FM_MATRIX_MOMENT_LOOP(
    fm_matrix_moments_centered, FM_ADD_MOMENTS(sums, FM_TOTAL, k, y[k]),
    FM_ADD_MOMENTS(sums, FM_ERROR_TOTAL, k, p[k] - y[k]))
FM_MATRIX_MOMENT_LOOP(
    fm_weighted_matrix_moments_squared, FM_ADD_WEIGHTED_MOMENTS(sums, FM_TOTAL, k, w, y[k]),
    FM_ADD_SQUARED_ERROR(sums, k, * w, p[k] - y[k]))
FM_MATRIX_MOMENT_LOOP(
    fm_weighted_matrix_moments_centered, FM_ADD_WEIGHTED_MOMENTS(sums, FM_TOTAL, k, w, y[k]),
    FM_ADD_WEIGHTED_MOMENTS(sums, FM_ERROR_TOTAL, k, w, p[k] - y[k]))

/* Add the moments of rows of a matrix to totals[output][FM_MOMENTS][2]. */
static inline void fm_add_matrix_moments(
    const double* y, ptrdiff_t y_stride, const double* p, ptrdiff_t p_stride, const double* w, ptrdiff_t rows,
    ptrdiff_t outputs, int center_errors, double* totals
) {
    fm_matrix_moments sums;
    ptrdiff_t moment, k;
    memset(&sums, 0, sizeof(sums));
    if (center_errors)
        (w ? fm_weighted_matrix_moments_centered : fm_matrix_moments_centered)(
            y, y_stride, p, p_stride, w, rows, outputs, &sums);
    else
        (w ? fm_weighted_matrix_moments_squared : fm_matrix_moments_squared)(
            y, y_stride, p, p_stride, w, rows, outputs, &sums);
    for (k = 0; k < outputs; k++)
        for (moment = 0; moment < FM_MOMENTS; moment++)
            fm_add_double_double(totals + 2 * (FM_MOMENTS * k + moment), sums.high[moment][k], sums.low[moment][k]);
}

/* Add the moments of n rows to totals[FM_MOMENTS][2]. */
static inline void fm_add_moments(
    const double* y, const double* p, const double* w, ptrdiff_t n, int center_errors, double* totals
) {
    fm_moment_lanes sums;
    int moment, lane;
    if (center_errors) (w ? fm_weighted_moments_centered : fm_moments_centered)(y, p, w, n, &sums);
    else (w ? fm_weighted_moments_squared : fm_moments_squared)(y, p, w, n, &sums);
    for (moment = 0; moment < FM_MOMENTS; moment++) {
        double high = sums.high[moment][0], low = sums.low[moment][0];
        for (lane = 1; lane < FM_MOMENT_LANES; lane++) {
            FM_ADD_EXACTLY(high, low, sums.high[moment][lane]);
            low += sums.low[moment][lane];
        }
        fm_add_double_double(totals + 2 * moment, high, low);
    }
}

#endif
