/* Terms of rows: errors, deviances, exact products. In C, so that the compiler can vectorize the loops (FM_WIDE).
 *
 * Terms are computed in float64. Each operation is rounded once, in the order written here. The build forbids contraction,
 * so results do not depend on the width of the registers.
 */
#ifndef FASTMETRICS_ERRORTERMS_H
#define FASTMETRICS_ERRORTERMS_H

#include <float.h>

#include "columns/real_column_loops.h"
#include "numeric/double_double_sums.h"
#include "numeric/powers.h"
#include "numeric/two_product.h"
#include "numeric/vector_math.h"

/* Products of three numbers within these bounds are exact in double-doubles. */
#define FM_LEAST 0x1p-300
#define FM_MOST 0x1p300

/* Kinds of terms. `parameter` is alpha of the pinball loss, or the power of a Tweedie deviance. */
enum {
    FM_SIGNED, FM_SQUARED, FM_ABSOLUTE, FM_PERCENTAGE, FM_PINBALL, FM_SQUARED_LOG, FM_POISSON, FM_GAMMA, FM_TWEEDIE
};

FM_WIDE static void fm_signed(const double* y, const double* p, ptrdiff_t n, double* out) {
    ptrdiff_t i;
    for (i = 0; i < n; i++) out[i] = p[i] - y[i];
}

FM_WIDE static void fm_squared(const double* y, const double* p, ptrdiff_t n, double* out) {
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        double difference = y[i] - p[i];
        out[i] = difference * difference;
    }
}

FM_WIDE static void fm_absolute(const double* y, const double* p, ptrdiff_t n, double* out) {
    ptrdiff_t i;
    for (i = 0; i < n; i++) out[i] = fabs(y[i] - p[i]);
}

FM_WIDE static void fm_percentage(const double* y, const double* p, ptrdiff_t n, double* out) {
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        double size = fabs(y[i]);
        size = size > DBL_EPSILON ? size : DBL_EPSILON;
        out[i] = fabs(p[i] - y[i]) / size;
    }
}

/* The factor is selected, not the product: the loop has no branch. NaN stays NaN. */
FM_WIDE static void fm_pinball(const double* y, const double* p, ptrdiff_t n, double alpha, double* out) {
    double below = -(1.0 - alpha);
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        double difference = y[i] - p[i];
        out[i] = (difference >= 0.0 ? alpha : below) * difference;
    }
}

/* out[i] = log(1 + values[i]). Returns the number of values in (-1, infinity). */
FM_WIDE static int64_t fm_log1p_block(const double* values, ptrdiff_t n, double* restrict out) {
    int64_t good = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        good += (int64_t)FM_IS_ABOVE_MINUS_ONE(values[i]);
        out[i] = fm_log1p_rounded(values[i]);
    }
    return good;
}

/* (log(1 + y) - log(1 + p))^2. Returns whether any value is outside (-1, infinity). One logarithm at a time: compilers
 * vectorize no loop with two of them for AVX2. */
static inline int fm_squared_log(const double* y, const double* p, ptrdiff_t n, double* out) {
    enum { BLOCK = 256 };
    double logs[BLOCK], other_logs[BLOCK];
    int64_t good = 0;
    ptrdiff_t start, i;
    for (start = 0; start < n; start += BLOCK) {
        ptrdiff_t length = n - start < BLOCK ? n - start : BLOCK;
        good += fm_log1p_block(y + start, length, logs) + fm_log1p_block(p + start, length, other_logs);
        for (i = 0; i < length; i++) {
            double difference = logs[i] - other_logs[i];
            out[start + i] = difference * difference;
        }
    }
    return good != 2 * n;
}

/* 2 (y log(y / p) - y + p) for y >= 0, p > 0. Bit 0 of the result: a value is outside. Bit 1: a quotient is not a
 * normal number, so its logarithm must be computed in another way. */
FM_WIDE static int fm_poisson(const double* y, const double* p, ptrdiff_t n, double* out) {
    int64_t good = 0, normal = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        double prediction = p[i];
        double target = y[i] == 0.0 ? prediction : y[i]; /* 0 log 0 = 0: use a quotient of 1 */
        double quotient = target / prediction;
        double product = y[i] * -fm_negative_log(quotient);
        good += (int64_t)(y[i] >= 0.0) & (int64_t)(y[i] <= DBL_MAX) & (int64_t)(p[i] > 0.0) & (int64_t)(p[i] <= DBL_MAX);
        normal += (int64_t)(quotient >= DBL_MIN) & (int64_t)(quotient <= DBL_MAX);
        out[i] = 2.0 * (product - y[i] + p[i]);
    }
    return (good != n) | (normal != n) << 1;
}

/* 2 (log(p / y) + y / p - 1) for y > 0, p > 0. The result is as in fm_poisson. */
FM_WIDE static int fm_gamma(const double* y, const double* p, ptrdiff_t n, double* out) {
    int64_t good = 0, normal = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        double quotient = p[i] / y[i];
        double logarithm = -fm_negative_log(quotient);
        good += (int64_t)(y[i] > 0.0) & (int64_t)(y[i] <= DBL_MAX) & (int64_t)(p[i] > 0.0) & (int64_t)(p[i] <= DBL_MAX);
        normal += (int64_t)(quotient >= DBL_MIN) & (int64_t)(quotient <= DBL_MAX);
        out[i] = 2.0 * (logarithm + y[i] / p[i] - 1.0);
    }
    return (good != n) | (normal != n) << 1;
}

static inline int fm_is_normal(double x) { return x >= DBL_MIN && x <= DBL_MAX; }

/* Rows whose quotient under- or overflowed: subtract two logarithms instead. */
static inline void fm_poisson_split_log(const double* y, const double* p, ptrdiff_t n, double* out) {
    ptrdiff_t i;
    for (i = 0; i < n; i++)
        if (y[i] != 0.0 && !fm_is_normal(y[i] / p[i])) out[i] = 2.0 * (y[i] * (fm_log(y[i]) - fm_log(p[i])) - y[i] + p[i]);
}

static inline void fm_gamma_split_log(const double* y, const double* p, ptrdiff_t n, double* out) {
    ptrdiff_t i;
    for (i = 0; i < n; i++)
        if (!fm_is_normal(p[i] / y[i])) out[i] = 2.0 * (fm_log(p[i]) - fm_log(y[i]) + y[i] / p[i] - 1.0);
}

/* The deviance of one row, of any other power: y may be any number if power < 0; y >= 0 if power < 2; else y > 0. Always
 * p > 0. Bit 0 of the flags: a value is outside. Bit 1: a power is not a normal number, so bits may be lost. */
static inline double fm_tweedie_row(double y, double p, double power, int* flags) {
    double one = 1.0 - power, two = 2.0 - power;
    double least = power < 0.0 ? -DBL_MAX : power < 2.0 ? 0.0 : DBL_TRUE_MIN;
    double base = power < 0.0 && y < 0.0 ? 0.0 : y;
    double of_target = fm_pow(base, two), of_both = fm_pow(p, one), of_prediction = fm_pow(p, two);
    int is_normal = (fm_is_normal(of_target) | (base == 0.0)) & fm_is_normal(of_both) & fm_is_normal(of_prediction);
    int is_good = (y >= least) & (y <= DBL_MAX) & (p > 0.0) & (p <= DBL_MAX);
    *flags |= (is_good ? 0 : 1) | (is_normal ? 0 : 2);
    return 2.0 * (of_target / (one * two) - y * of_both / one + of_prediction / two);
}

#define FM_LARGEST_BINARY_LOGARITHM 995.0 /* of a power, in size: powers within are normal numbers */

/* Rows whose powers fm_power_terms computes: predictions and positive targets between low and high, and targets at or
 * above `least` whose power is 0. */
typedef struct {
    double low, high, least;
} fm_power_bounds;

static inline fm_power_bounds fm_bounds_of_powers(double power) {
    double largest = fabs(1.0 - power) > fabs(2.0 - power) ? fabs(1.0 - power) : fabs(2.0 - power);
    double bits = largest <= 1.0 ? FM_LARGEST_BINARY_LOGARITHM : floor(FM_LARGEST_BINARY_LOGARITHM / largest);
    fm_power_bounds bounds;
    bounds.low = ldexp(1.0, -(int)bits);
    bounds.high = ldexp(1.0, (int)bits);
    bounds.least = power < 0.0 ? -DBL_MAX : power < 2.0 ? 0.0 : bounds.low;
    return bounds;
}

static inline int fm_is_within(double y, double p, fm_power_bounds bounds) {
    return (p >= bounds.low) & (p <= bounds.high) & (y >= bounds.least) & (y <= bounds.high)
        & ((y >= bounds.low) | (y <= 0.0));
}

/* Targets and predictions of rows within the bounds; 1 in place of the others, and of targets whose power is 0. Returns
 * the number of rows within. */
FM_WIDE static int64_t fm_power_bases(
    const double* y, const double* p, ptrdiff_t n, fm_power_bounds bounds, double* restrict targets,
    double* restrict predictions
) {
    double low = bounds.low, high = bounds.high, least = bounds.least;
    int64_t within = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        int64_t good_p = (int64_t)(p[i] >= low) & (int64_t)(p[i] <= high);
        int64_t positive = (int64_t)(y[i] >= low) & (int64_t)(y[i] <= high);
        within += good_p & (positive | ((int64_t)(y[i] >= least) & (int64_t)(y[i] <= 0.0)));
        targets[i] = positive ? y[i] : 1.0;
        predictions[i] = good_p ? p[i] : 1.0;
    }
    return within;
}

/* 2 (y^two / (one two) - y p^one / one + p^two / two) from the powers. */
FM_WIDE static void fm_power_terms(
    const double* y, const double* of_target, const double* of_both, const double* of_prediction, ptrdiff_t n,
    double power, double* restrict out
) {
    double one = 1.0 - power, two = 2.0 - power, factor = one * two;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        double target = y[i] > 0.0 ? of_target[i] : 0.0;
        out[i] = 2.0 * (target / factor - y[i] * of_both[i] / one + of_prediction[i] / two);
    }
}

/* p^one, from p^two where the power is no short one: p^one = p^two / p. */
FM_WIDE static void fm_quotients(const double* of_prediction, const double* p, ptrdiff_t n, double* restrict out) {
    ptrdiff_t i;
    for (i = 0; i < n; i++) out[i] = of_prediction[i] / p[i];
}

/* p^two and p^one. */
static inline void fm_powers_of_predictions(double* p, ptrdiff_t n, double power, double* of_both) {
    double own[256];
    double one = 1.0 - power, two = 2.0 - power;
    if (fm_is_short_power(one) && fm_is_short_power(two)) {
        fm_whole_powers(p, n, (int)one, of_both);
        fm_whole_powers(p, n, (int)two, p);
        return;
    }
    memcpy(own, p, (size_t)n * sizeof(double));
    fm_powers(p, n, two);
    fm_quotients(p, own, n, of_both);
}

static inline int fm_is_constant(const double* values, ptrdiff_t n) {
    ptrdiff_t i;
    for (i = 1; i < n; i++)
        if (values[i] != values[0]) return 0;
    return 1;
}

/* The deviances of n rows. The result is as the flags of fm_tweedie_row. A row's term does not depend on other rows. */
static inline int fm_tweedie(const double* y, const double* p, ptrdiff_t n, double power, double* out) {
    enum { BLOCK = 256 };
    double targets[BLOCK], predictions[BLOCK], of_both[BLOCK];
    double two = 2.0 - power;
    fm_power_bounds bounds = fm_bounds_of_powers(power);
    int flags = 0;
    ptrdiff_t start, i;
    for (start = 0; start < n; start += BLOCK) {
        ptrdiff_t length = n - start < BLOCK ? n - start : BLOCK;
        int64_t within = fm_power_bases(y + start, p + start, length, bounds, targets, predictions);
        fm_powers(targets, length, two);
        if (fm_is_constant(predictions, length)) {
            fm_powers_of_predictions(predictions, 1, power, of_both);
            for (i = 1; i < length; i++) {
                predictions[i] = predictions[0];
                of_both[i] = of_both[0];
            }
        } else {
            fm_powers_of_predictions(predictions, length, power, of_both);
        }
        fm_power_terms(y + start, targets, of_both, predictions, length, power, out + start);
        if (within < length)
            for (i = start; i < start + length; i++)
                if (!fm_is_within(y[i], p[i], bounds)) out[i] = fm_tweedie_row(y[i], p[i], power, &flags);
    }
    return flags;
}

/* 1 / sqrt(x) for a normal x, with an error below 0.51 ulp: a step of Newton's method with the exact remainder. */
static inline double fm_inverse_root(double root, double x) {
    double inverse = 1.0 / root, product = x * inverse, lost = fm_product_error(x, inverse, product);
    double square = product * inverse;
    double remainder = ((1.0 - square) - fm_product_error(product, inverse, square)) - lost * inverse;
    return inverse + 0.5 * inverse * remainder;
}

/* The terms for power 1.5: square roots in place of powers. Returns the number of rows with y >= 0 and p within bounds. */
FM_WIDE static int64_t fm_terms_of_roots(const double* y, const double* p, ptrdiff_t n, double* out) {
    int64_t within = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        double root = sqrt(p[i]);
        within += (int64_t)(y[i] >= 0.0) & (int64_t)(y[i] <= DBL_MAX) & (int64_t)(p[i] >= FM_LEAST)
            & (int64_t)(p[i] <= FM_MOST);
        out[i] = 2.0 * (sqrt(y[i]) / -0.25 - y[i] * fm_inverse_root(root, p[i]) / -0.5 + root / 0.5);
    }
    return within;
}

/* fm_tweedie for power 1.5. A row's term does not depend on the other rows: only rows outside the bounds get powers. */
static inline int fm_tweedie_of_roots(const double* y, const double* p, ptrdiff_t n, double* out) {
    int flags = 0;
    ptrdiff_t i;
    if (fm_terms_of_roots(y, p, n, out) < n)
        for (i = 0; i < n; i++)
            if (!((y[i] >= 0.0) & (y[i] <= DBL_MAX) & (p[i] >= FM_LEAST) & (p[i] <= FM_MOST)))
                out[i] = fm_tweedie_row(y[i], p[i], 1.5, &flags);
    return flags;
}

/* The terms of n rows. Bit 0 of the result: a value is outside the domain of the kind. Bit 1: terms may have lost bits. */
FM_ONE_COPY static int fm_error_terms(
    int kind, double parameter, const double* y, const double* p, ptrdiff_t n, double* out
) {
    int flags = 0;
    switch (kind) {
        case FM_SIGNED: fm_signed(y, p, n, out); break;
        case FM_SQUARED: fm_squared(y, p, n, out); break;
        case FM_ABSOLUTE: fm_absolute(y, p, n, out); break;
        case FM_PERCENTAGE: fm_percentage(y, p, n, out); break;
        case FM_PINBALL: fm_pinball(y, p, n, parameter, out); break;
        case FM_SQUARED_LOG: return fm_squared_log(y, p, n, out);
        case FM_POISSON:
            flags = fm_poisson(y, p, n, out);
            if (flags == 2) fm_poisson_split_log(y, p, n, out);
            return flags & 1;
        case FM_GAMMA:
            flags = fm_gamma(y, p, n, out);
            if (flags == 2) fm_gamma_split_log(y, p, n, out);
            return flags & 1;
        default:
            if (parameter == 1.5) return fm_tweedie_of_roots(y, p, n, out);
            return fm_tweedie(y, p, n, parameter, out);
    }
    return 0;
}

/* The split sums of a whole chunk (vector_math.h), computed while its rows are read: one pass over memory.
 *
 * The three binary levels must be known before the chunk is read, so they come from the chunk before. `greatest` shows
 * whether they fit. If they do not, or if bits of a value are left (the result is nonzero, also for NaN and infinity), the
 * chunk is summed again by add_chunk. n is a multiple of FM_LANES.
 */
#define FM_FUSED(NAME, Y, P, TERM)                                                                                      \
    FM_WIDE static int NAME(                                                                                            \
        const Y* y, const P* p, ptrdiff_t n, const double* sigmas, double* totals, double* greatest                     \
    ) {                                                                                                                 \
        double first[FM_LANES], second[FM_LANES], third[FM_LANES], most[FM_LANES];                                      \
        double sigma_first = sigmas[0], sigma_second = sigmas[1], sigma_third = sigmas[2];                              \
        uint64_t left[FM_LANES];                                                                                        \
        uint64_t any = 0;                                                                                               \
        ptrdiff_t i;                                                                                                    \
        int lane;                                                                                                       \
        for (lane = 0; lane < FM_LANES; lane++) {                                                                       \
            first[lane] = 0;                                                                                            \
            second[lane] = 0;                                                                                           \
            third[lane] = 0;                                                                                            \
            most[lane] = 0;                                                                                             \
            left[lane] = 0;                                                                                             \
        }                                                                                                               \
        for (i = 0; i < n; i += FM_LANES)                                                                               \
            for (lane = 0; lane < FM_LANES; lane++) {                                                                   \
                double difference = (double)y[i + lane] - (double)p[i + lane];                                          \
                double x = TERM;                                                                                        \
                double part = (sigma_first + x) - sigma_first;                                                          \
                uint64_t bits;                                                                                          \
                most[lane] = x > most[lane] ? x : most[lane];                                                           \
                first[lane] += part;                                                                                    \
                x -= part;                                                                                              \
                part = (sigma_second + x) - sigma_second;                                                               \
                second[lane] += part;                                                                                   \
                x -= part;                                                                                              \
                part = (sigma_third + x) - sigma_third;                                                                 \
                third[lane] += part;                                                                                    \
                x -= part;                                                                                              \
                memcpy(&bits, &x, 8);                                                                                   \
                left[lane] |= bits << 1;                                                                                \
            }                                                                                                           \
        *greatest = 0;                                                                                                  \
        for (lane = 0; lane < FM_LANES; lane++) {                                                                       \
            totals[lane] = first[lane];                                                                                 \
            totals[FM_LANES + lane] = second[lane];                                                                     \
            totals[2 * FM_LANES + lane] = third[lane];                                                                  \
            *greatest = most[lane] > *greatest ? most[lane] : *greatest;                                                \
            any |= left[lane];                                                                                          \
        }                                                                                                               \
        return any != 0;                                                                                                \
    }

FM_FUSED(fm_fused_squared_f64_f64, double, double, difference * difference)
FM_FUSED(fm_fused_squared_f64_f32, double, float, difference * difference)
FM_FUSED(fm_fused_squared_f32_f64, float, double, difference * difference)
FM_FUSED(fm_fused_squared_f32_f32, float, float, difference * difference)
FM_FUSED(fm_fused_absolute_f64_f64, double, double, fabs(difference))
FM_FUSED(fm_fused_absolute_f64_f32, double, float, fabs(difference))
FM_FUSED(fm_fused_absolute_f32_f64, float, double, fabs(difference))
FM_FUSED(fm_fused_absolute_f32_f32, float, float, fabs(difference))

/* The sums of outputs side by side, in double-doubles (double_double_sums.h): rows are read in order. Without weights
 * `weights` is NULL. Strides are numbers of doubles. There are at most FM_MATRIX_ROWS rows and FM_MATRIX_OUTPUTS outputs.
 */
enum { FM_ROWS_AHEAD = 6 };

#define FM_MATRIX_SUMS(NAME, TERM)                                                                                      \
    FM_WIDE static void NAME(                                                                                           \
        const double* y, ptrdiff_t y_stride, const double* p, ptrdiff_t p_stride, const double* weights, double alpha,  \
        ptrdiff_t rows, ptrdiff_t outputs, double* restrict high, double* restrict low                                  \
    ) {                                                                                                                 \
        double below = -(1.0 - alpha);                                                                                  \
        ptrdiff_t i, k;                                                                                                 \
        (void)below;                                                                                                    \
        for (k = 0; k < outputs; k++) high[k] = low[k] = 0;                                                             \
        for (i = 0; i < rows; i++) {                                                                                    \
            const double* y_row = y + i * y_stride;                                                                     \
            const double* p_row = p + i * p_stride;                                                                     \
            double weight = weights ? weights[i] : 1.0;                                                                 \
            if (i + FM_ROWS_AHEAD < rows) {                                                                             \
                fm_prefetch((const char*)(y_row + FM_ROWS_AHEAD * y_stride), outputs * 8);                              \
                fm_prefetch((const char*)(p_row + FM_ROWS_AHEAD * p_stride), outputs * 8);                              \
            }                                                                                                           \
            for (k = 0; k < outputs; k++) {                                                                             \
                double target = y_row[k], difference = target - p_row[k], size = fabs(target);                          \
                size = size > DBL_EPSILON ? size : DBL_EPSILON;                                                         \
                FM_ADD_EXACTLY(high[k], low[k], (TERM) * weight);                                                       \
            }                                                                                                           \
        }                                                                                                               \
    }

FM_MATRIX_SUMS(fm_matrix_squared, difference * difference)
FM_MATRIX_SUMS(fm_matrix_absolute, fabs(difference))
FM_MATRIX_SUMS(fm_matrix_percentage, fabs(difference) / size)
FM_MATRIX_SUMS(fm_matrix_pinball, (difference >= 0.0 ? alpha : below) * difference)

/* Whether this kind of term has sums of outputs side by side. */
static inline int fm_is_matrix_kind(int kind) {
    return kind == FM_SQUARED || kind == FM_ABSOLUTE || kind == FM_PERCENTAGE || kind == FM_PINBALL;
}

static inline void fm_matrix_sums(
    int kind, double alpha, const double* y, ptrdiff_t y_stride, const double* p, ptrdiff_t p_stride,
    const double* weights, ptrdiff_t rows, ptrdiff_t outputs, double* high, double* low
) {
    (kind == FM_SQUARED ? fm_matrix_squared : kind == FM_ABSOLUTE ? fm_matrix_absolute
     : kind == FM_PERCENTAGE ? fm_matrix_percentage : fm_matrix_pinball)(
        y, y_stride, p, p_stride, weights, alpha, rows, outputs, high, low);
}

/* Whether a fused sum exists for this kind of term and for two columns that are contiguous and aligned. */
static inline int fm_is_fused(
    int kind, const char* y, ptrdiff_t y_stride, int y_type, const char* p, ptrdiff_t p_stride, int p_type
) {
    ptrdiff_t y_size = y_type == FM_F64 ? 8 : 4, p_size = p_type == FM_F64 ? 8 : 4;
    return (kind == FM_SQUARED || kind == FM_ABSOLUTE) && y_type <= FM_F32 && p_type <= FM_F32 && y_stride == y_size
        && p_stride == p_size && (uintptr_t)y % 8 == 0 && (uintptr_t)p % 8 == 0;
}

FM_ONE_COPY static int fm_fused_sums(
    int kind, int y_type, const char* y, int p_type, const char* p, ptrdiff_t n, const double* sigmas, double* totals,
    double* greatest
) {
#define FM_CALL_FUSED(TYPES, Y, P)                                                                                      \
    (kind == FM_SQUARED ? fm_fused_squared_##TYPES : fm_fused_absolute_##TYPES)(                                        \
        (const Y*)y, (const P*)p, n, sigmas, totals, greatest)
    if (y_type == FM_F64) {
        if (p_type == FM_F64) return FM_CALL_FUSED(f64_f64, double, double);
        return FM_CALL_FUSED(f64_f32, double, float);
    }
    if (p_type == FM_F64) return FM_CALL_FUSED(f32_f64, float, double);
    return FM_CALL_FUSED(f32_f32, float, float);
#undef FM_CALL_FUSED
}

/* The largest |y - p|; -1 if a value is not finite. n > 0. */
FM_WIDE static double fm_greatest_error(const double* y, const double* p, ptrdiff_t n) {
    double greatest[FM_LANES];
    double result = 0;
    int64_t good = 0;
    ptrdiff_t i, whole = n - n % FM_LANES;
    int lane;
    for (lane = 0; lane < FM_LANES; lane++) greatest[lane] = 0;
    for (i = 0; i < n; i++) good += (int64_t)(fabs(y[i]) <= DBL_MAX) & (int64_t)(fabs(p[i]) <= DBL_MAX);
    for (i = 0; i < whole; i += FM_LANES)
        for (lane = 0; lane < FM_LANES; lane++) {
            double size = fabs(y[i + lane] - p[i + lane]);
            greatest[lane] = size > greatest[lane] ? size : greatest[lane];
        }
    for (i = whole; i < n; i++) {
        double size = fabs(y[i] - p[i]);
        result = size > result ? size : result;
    }
    for (lane = 0; lane < FM_LANES; lane++) result = greatest[lane] > result ? greatest[lane] : result;
    return good == n ? result : -1.0;
}

/* Exact products. The product of two doubles is the sum of two doubles: the rounded product and its error (T. J. Dekker,
 * 1971, A floating-point technique for extending the available precision). This is exact unless something over- or
 * underflows. Within FM_LEAST and FM_MOST, w y y is safe: its last bit may be 2^-156 of its first.
 */

/* Whether the absolute value of every value is zero or between the bounds. NaN is not. */
FM_WIDE static int fm_all_moderate(const double* values, ptrdiff_t n) {
    int64_t good = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        double size = fabs(values[i]);
        good += ((int64_t)(size >= FM_LEAST) & (int64_t)(size <= FM_MOST)) | (int64_t)(size == 0.0);
    }
    return good == n;
}

/* y^2 = high + low. */
FM_WIDE static void fm_exact_squares(const double* y, ptrdiff_t n, double* high, double* low) {
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        double square = y[i] * y[i];
        high[i] = square;
        low[i] = fm_product_error(y[i], y[i], square);
    }
}

/* w y = high + low. */
FM_WIDE static void fm_exact_products(const double* w, const double* y, ptrdiff_t n, double* high, double* low) {
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        double product = w[i] * y[i];
        high[i] = product;
        low[i] = fm_product_error(w[i], y[i], product);
    }
}

#endif
