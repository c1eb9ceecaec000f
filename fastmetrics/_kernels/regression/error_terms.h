/* What a row of targets and predictions adds to a sum: errors, deviances, exact products. In C for the wide registers.
 *
 * Terms are computed in float64, every operation rounded once, in the order written here; contraction is forbidden
 * by the build, so the bits do not depend on the registers. `pow` and, in rare cases, `log` are those of the C library.
 */
#ifndef FASTMETRICS_ERRORTERMS_H
#define FASTMETRICS_ERRORTERMS_H

#include <float.h>

#include "vectormath.h"

/* Types of columns. */
enum { FM_F64, FM_F32, FM_I8, FM_U8, FM_I16, FM_U16, FM_I32, FM_U32, FM_I64, FM_U64 };

/* Kinds of terms. `parameter` is alpha of the pinball loss, the power of a Tweedie deviance. */
enum {
    FM_SIGNED, FM_SQUARED, FM_ABSOLUTE, FM_PERCENTAGE, FM_PINBALL, FM_SQUARED_LOG, FM_POISSON, FM_GAMMA, FM_TWEEDIE
};

#define FM_EXACT_INTEGER 9007199254740992.0 /* 2^53 */

/* Values of one type, `stride` bytes apart, as float64. Addresses need not be aligned. */
#define FM_WIDEN(NAME, TYPE)                                                                                            \
    FM_WIDE static void NAME(const char* data, ptrdiff_t stride, ptrdiff_t n, double* out) {                            \
        ptrdiff_t i;                                                                                                    \
        TYPE value;                                                                                                     \
        if (stride == (ptrdiff_t)sizeof(TYPE))                                                                          \
            for (i = 0; i < n; i++) {                                                                                   \
                memcpy(&value, data + i * (ptrdiff_t)sizeof(TYPE), sizeof(TYPE));                                       \
                out[i] = (double)value;                                                                                 \
            }                                                                                                           \
        else                                                                                                            \
            for (i = 0; i < n; i++) {                                                                                   \
                memcpy(&value, data + i * stride, sizeof(TYPE));                                                        \
                out[i] = (double)value;                                                                                 \
            }                                                                                                           \
    }

FM_WIDEN(fm_widen_f64, double)
FM_WIDEN(fm_widen_f32, float)
FM_WIDEN(fm_widen_i8, int8_t)
FM_WIDEN(fm_widen_u8, uint8_t)
FM_WIDEN(fm_widen_i16, int16_t)
FM_WIDEN(fm_widen_u16, uint16_t)
FM_WIDEN(fm_widen_i32, int32_t)
FM_WIDEN(fm_widen_u32, uint32_t)
FM_WIDEN(fm_widen_i64, int64_t)
FM_WIDEN(fm_widen_u64, uint64_t)

/* Does any value reach 2^53? Beyond it, integers become float64 by rounding. */
FM_WIDE static int fm_any_beyond(const double* values, ptrdiff_t n) {
    int64_t beyond = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) beyond += (int64_t)(fabs(values[i]) >= FM_EXACT_INTEGER);
    return beyond != 0;
}

/* n values of a column as float64: where they are, or in `out`. */
static inline const double* fm_fetch(const char* data, ptrdiff_t stride, int type, ptrdiff_t n, double* out) {
    switch (type) {
        case FM_F64:
            if (stride == 8 && (uintptr_t)data % 8 == 0) return (const double*)data;
            fm_widen_f64(data, stride, n, out);
            break;
        case FM_F32: fm_widen_f32(data, stride, n, out); break;
        case FM_I8: fm_widen_i8(data, stride, n, out); break;
        case FM_U8: fm_widen_u8(data, stride, n, out); break;
        case FM_I16: fm_widen_i16(data, stride, n, out); break;
        case FM_U16: fm_widen_u16(data, stride, n, out); break;
        case FM_I32: fm_widen_i32(data, stride, n, out); break;
        case FM_U32: fm_widen_u32(data, stride, n, out); break;
        case FM_I64: fm_widen_i64(data, stride, n, out); break;
        default: fm_widen_u64(data, stride, n, out);
    }
    return out;
}

/* Ask for memory that is read next, while something else is computed. */
static inline void fm_prefetch(const char* data, ptrdiff_t n_bytes) {
#if defined(__GNUC__)
    ptrdiff_t i;
    for (i = 0; i < n_bytes; i += 64) __builtin_prefetch(data + i, 0, 2);
#else
    (void)data;
    (void)n_bytes;
#endif
}

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

/* A difference that is NaN takes the second branch and stays NaN. */
FM_WIDE static void fm_pinball(const double* y, const double* p, ptrdiff_t n, double alpha, double* out) {
    double below = 1.0 - alpha;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        double difference = y[i] - p[i];
        out[i] = difference >= 0.0 ? alpha * difference : below * -difference;
    }
}

/* log(1 + x) for finite x > -1. With u = 1 + x rounded, log(1 + x) = log(u) + (what the rounding lost) / u. */
static inline double fm_log1p(double x) {
    double u = 1.0 + x;
    double lost = x >= 1.0 ? 1.0 - (u - x) : x - (u - 1.0);
    return lost / u - fm_negative_log(u);
}

/* (log(1 + y) - log(1 + p))^2. Returns whether any value is not in (-1, infinity). */
FM_WIDE static int fm_squared_log(const double* y, const double* p, ptrdiff_t n, double* out) {
    int64_t good = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        double difference = fm_log1p(y[i]) - fm_log1p(p[i]);
        good += (int64_t)(y[i] > -1.0) & (int64_t)(y[i] <= DBL_MAX) & (int64_t)(p[i] > -1.0)
            & (int64_t)(p[i] <= DBL_MAX);
        out[i] = difference * difference;
    }
    return good != n;
}

/* 2 (y log(y / p) - y + p) for y >= 0, p > 0. Returns whether any value is outside, 2 or more where a quotient is no
 * normal number: the logarithm has to be taken otherwise then. */
FM_WIDE static int fm_poisson(const double* y, const double* p, ptrdiff_t n, double* out) {
    int64_t good = 0, normal = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        double prediction = p[i];
        double target = y[i] == 0.0 ? prediction : y[i]; /* 0 log 0 = 0: a quotient of 1 will do */
        double quotient = target / prediction;
        double product = y[i] * -fm_negative_log(quotient);
        good += (int64_t)(y[i] >= 0.0) & (int64_t)(y[i] <= DBL_MAX) & (int64_t)(p[i] > 0.0) & (int64_t)(p[i] <= DBL_MAX);
        normal += (int64_t)(quotient >= DBL_MIN) & (int64_t)(quotient <= DBL_MAX);
        out[i] = 2.0 * (product - y[i] + p[i]);
    }
    return (good != n) | (normal != n) << 1;
}

/* 2 (log(p / y) + y / p - 1) for y > 0, p > 0; returns as fm_poisson does. */
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

/* Rows whose quotient under- or overflowed: the logarithm of each part. */
static inline void fm_poisson_apart(const double* y, const double* p, ptrdiff_t n, double* out) {
    ptrdiff_t i;
    for (i = 0; i < n; i++)
        if (y[i] != 0.0 && !fm_is_normal(y[i] / p[i])) out[i] = 2.0 * (y[i] * (log(y[i]) - log(p[i])) - y[i] + p[i]);
}

static inline void fm_gamma_apart(const double* y, const double* p, ptrdiff_t n, double* out) {
    ptrdiff_t i;
    for (i = 0; i < n; i++)
        if (!fm_is_normal(p[i] / y[i])) out[i] = 2.0 * (log(p[i]) - log(y[i]) + y[i] / p[i] - 1.0);
}

/* The deviance of any other power: y real for a negative one, y >= 0 below 2, else y > 0; p > 0. Returns whether any value is
 * outside. */
static inline int fm_tweedie(const double* y, const double* p, ptrdiff_t n, double power, double* out) {
    double one = 1.0 - power, two = 2.0 - power;
    double least = power < 0.0 ? -DBL_MAX : power < 2.0 ? 0.0 : DBL_TRUE_MIN;
    int64_t good = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        double base = power < 0.0 && y[i] < 0.0 ? 0.0 : y[i];
        good += (int64_t)(y[i] >= least) & (int64_t)(y[i] <= DBL_MAX) & (int64_t)(p[i] > 0.0) & (int64_t)(p[i] <= DBL_MAX);
        out[i] = 2.0 * (pow(base, two) / (one * two) - y[i] * pow(p[i], one) / one + pow(p[i], two) / two);
    }
    return good != n;
}

/* The terms of n rows; nonzero where a value is outside of what the kind of term is defined for. */
static inline int fm_error_terms(
    int kind, double parameter, const double* y, const double* p, ptrdiff_t n, double* out
) {
    int found = 0;
    switch (kind) {
        case FM_SIGNED: fm_signed(y, p, n, out); break;
        case FM_SQUARED: fm_squared(y, p, n, out); break;
        case FM_ABSOLUTE: fm_absolute(y, p, n, out); break;
        case FM_PERCENTAGE: fm_percentage(y, p, n, out); break;
        case FM_PINBALL: fm_pinball(y, p, n, parameter, out); break;
        case FM_SQUARED_LOG: return fm_squared_log(y, p, n, out);
        case FM_POISSON:
            found = fm_poisson(y, p, n, out);
            if (found == 2) fm_poisson_apart(y, p, n, out);
            return found & 1;
        case FM_GAMMA:
            found = fm_gamma(y, p, n, out);
            if (found == 2) fm_gamma_apart(y, p, n, out);
            return found & 1;
        default: return fm_tweedie(y, p, n, parameter, out);
    }
    return 0;
}

/* The split sums of a whole chunk (vectormath.h) as its rows are read, so that memory does not wait for the sums.
 *
 * The binary places have to be known beforehand: they are those of the chunk before, three of them, so that chunks may differ.
 * `greatest` tells whether they would do; where they do not, or where anything is left of any value (the result is
 * nonzero, as it is for NaN and infinity), the chunk is summed again in the usual way. n is a multiple of FM_LANES.
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

/* Is there a fused sum of this kind of term for two columns, next to each other in memory and aligned? */
static inline int fm_is_fused(
    int kind, const char* y, ptrdiff_t y_stride, int y_type, const char* p, ptrdiff_t p_stride, int p_type
) {
    ptrdiff_t y_size = y_type == FM_F64 ? 8 : 4, p_size = p_type == FM_F64 ? 8 : 4;
    return (kind == FM_SQUARED || kind == FM_ABSOLUTE) && y_type <= FM_F32 && p_type <= FM_F32 && y_stride == y_size
        && p_stride == p_size && (uintptr_t)y % 8 == 0 && (uintptr_t)p % 8 == 0;
}

static inline int fm_fused_sums(
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

/* The greatest |y - p|; -1 where a value is not finite. n > 0. */
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

/* Exact products. A product of two doubles is the sum of two: the rounded product and its error (T. J. Dekker, 1971, A floating-
 * point technique for extending the available precision). Exact while nothing over- or underflows: FM_LEAST and
 * FM_MOST leave room for w y y, whose last bit may be 2^-156 of its first.
 */
#define FM_LEAST 0x1p-300
#define FM_MOST 0x1p300

static inline double fm_high_part(double x) {
    double t = 134217729.0 * x; /* 2^27 + 1 */
    return t - (t - x);
}

static inline double fm_product_error(double x, double y, double product) {
    double x_high = fm_high_part(x), y_high = fm_high_part(y);
    double x_low = x - x_high, y_low = y - y_high;
    return ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low;
}

/* Is every value zero or between the bounds in size? Not so where one is NaN. */
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
