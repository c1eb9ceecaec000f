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
