/* Terms of mutual information and entropy, in natural logarithms: how far a count is from its expectation.
 *
 * All terms have one form. With k rows where m are expected,
 *
 *     G(k, m) = k log(k / m) - (k - m) >= 0, and G(0, m) = m.
 *
 * Over all cells, including empty ones, the sum of k - m is 0. So sums of G are sums of k log(k / m), but no term is
 * negative and nothing cancels, even for a table close to independence. The relative error of a sum is that of a term,
 * a few units in the last place. Near k = m the term is computed from the difference d = k - m, which the caller knows
 * exactly: with s = d / (k + m), log(k / m) = 2 atanh(s), and
 *
 *     G = d s + 2 k s (s^2/3 + s^4/5 + ...),
 *
 * with seventeen terms for |s| <= 1/3 (k from half of m to twice m). Beyond, logarithm and difference cancel at most
 * two bits. The order of IEEE operations is fixed, without fused multiply-add and without the logarithm of the C
 * library, so the result is the same on every machine.
 */
#ifndef FASTMETRICS_MUTUALINFO_H
#define FASTMETRICS_MUTUALINFO_H

#include "numeric/vector_math.h"

/* The mean from which expectations are computed by moments, and block sizes: see fm_expected_by_counts, _by_moments. */
#define FM_MOMENTS_MEAN 400.0
#define FM_BLOCK_COUNTS 8
#define FM_MOMENTS 22
#define FM_RECENT_TERMS 10

/* Unsigned integers of 128 bits, also for compilers without them. */
typedef struct {
    uint64_t high, low;
} fm_uint128;

static inline fm_uint128 fm_uint128_product(uint64_t x, uint64_t y) {
    fm_uint128 out;
#ifdef __SIZEOF_INT128__
    unsigned __int128 product = (unsigned __int128)x * y;
    out.high = (uint64_t)(product >> 64);
    out.low = (uint64_t)product;
#else
    const uint64_t mask = UINT64_C(0xffffffff);
    uint64_t low = (x & mask) * (y & mask);
    uint64_t first = (x >> 32) * (y & mask) + (low >> 32);
    uint64_t second = (x & mask) * (y >> 32) + (first & mask);
    out.high = (x >> 32) * (y >> 32) + (first >> 32) + (second >> 32);
    out.low = (second << 32) | (low & mask);
#endif
    return out;
}

static inline fm_uint128 fm_uint128_sum(fm_uint128 x, fm_uint128 y) {
    fm_uint128 out;
    out.low = x.low + y.low;
    out.high = x.high + y.high + (out.low < x.low);
    return out;
}

/* x - y as a double; both are below 2^127. */
static inline double fm_uint128_difference(fm_uint128 x, fm_uint128 y) {
    int below = x.high < y.high || (x.high == y.high && x.low < y.low);
    fm_uint128 big = below ? y : x, small = below ? x : y;
    double size = (double)(big.high - small.high - (big.low < small.low)) * 18446744073709551616.0
        + (double)(big.low - small.low);
    return below ? -size : size;
}

static inline double fm_uint128_to_double(fm_uint128 x) {
    return (double)x.high * 18446744073709551616.0 + (double)x.low;
}

/* (atanh(s) / s - 1) / s^2, as a function of z = s^2 <= 1/9. */
static inline double fm_atanh_rest(double z) {
    double r = 1.0 / 35;
    r = r * z + 1.0 / 33;
    r = r * z + 1.0 / 31;
    r = r * z + 1.0 / 29;
    r = r * z + 1.0 / 27;
    r = r * z + 1.0 / 25;
    r = r * z + 1.0 / 23;
    r = r * z + 1.0 / 21;
    r = r * z + 1.0 / 19;
    r = r * z + 1.0 / 17;
    r = r * z + 1.0 / 15;
    r = r * z + 1.0 / 13;
    r = r * z + 1.0 / 11;
    r = r * z + 1.0 / 9;
    r = r * z + 1.0 / 7;
    r = r * z + 1.0 / 5;
    return r * z + 1.0 / 3;
}

/* G for |s| <= 1/3, computed from the difference. */
static inline double fm_information_term_near(double count, double expected, double difference) {
    double s = difference / (count + expected);
    double z = s * s;
    return difference * s + 2.0 * count * s * z * fm_atanh_rest(z);
}

/* G for |s| > 1/3. A count of 0 gives the correct value (0 times a finite number), a negative count a finite value. */
static inline double fm_information_term_far(double count, double expected, double difference) {
    return -count * fm_negative_log(count / expected) - difference;
}

static inline double fm_information_term(double count, double expected, double difference) {
    double s = difference / (count + expected);
    double near = fm_information_term_near(count, expected, difference);
    double far = fm_information_term_far(count, expected, difference);
    return s * s <= 1.0 / 9 ? near : far;
}

/* Replace each count by its G. Expected counts are above 0; a count of 0 is allowed. */
FM_WIDE static void fm_information_terms(
    double* counts, const double* expected, const double* differences, ptrdiff_t n
) {
    ptrdiff_t i;
    for (i = 0; i < n; i++) counts[i] = fm_information_term(counts[i], expected[i], differences[i]);
}

/* Replace each size by size log(total / size). `rest` is total - size. */
FM_WIDE static void fm_entropy_terms(double* sizes, const double* rest, double total, ptrdiff_t n) {
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        double size = sizes[i];
        double s = rest[i] / (total + size);
        double z = s * s;
        double near = 2.0 * size * (s + s * z * fm_atanh_rest(z));
        double far = size * fm_negative_log(size / total);
        sizes[i] = z <= 1.0 / 9 ? near : far;
    }
}

/* A class of size a and a cluster of size b. By chance they have k rows in common, with k hypergeometric. */
typedef struct {
    int64_t a, b, total;
    int64_t outside; /* total - a - b, below 0 if they must have rows in common */
    double mean;     /* a b / total */
} fm_margins;

static inline fm_margins fm_make_margins(int64_t a, int64_t b, int64_t total) {
    fm_margins out;
    out.a = a;
    out.b = b;
    out.total = total;
    out.outside = total - a - b; /* a + b may overflow int64, total - a does not */
    out.mean = fm_uint128_to_double(fm_uint128_product((uint64_t)a, (uint64_t)b)) / (double)total;
    return out;
}

/* Add weight * G(k, mean) to sums[0] and weight to sums[1] for k = start + step, start + 2 step, ..., step 1 or -1. The
 * weight of start is 1. Each next weight is the last one times (fall_a - i)(fall_b - i) / ((rise_a + i)(rise_b + i))
 * for i = 0, 1, 2, ...
 *
 * The sum ends when weights fall below `least`. After the last possible k weights are 0, because one factor is 0; the
 * value computed there for G is finite and has no effect.
 */
FM_WIDE static void fm_sum_tail(
    double fall_a, double fall_b, double rise_a, double rise_b, double start, double step, double mean, double least,
    double* sums
) {
    double weight = 1.0, term_sums[FM_BLOCK_COUNTS], weight_sums[FM_BLOCK_COUNTS];
    double weights[FM_BLOCK_COUNTS], terms[FM_BLOCK_COUNTS];
    int32_t done, i;
    for (i = 0; i < FM_BLOCK_COUNTS; i++) {
        term_sums[i] = 0;
        weight_sums[i] = 0;
    }
    for (done = 0; weight >= least; done += FM_BLOCK_COUNTS) {
        const double first = start + step * (double)(done + 1), last = start + step * (double)(done + FM_BLOCK_COUNTS);
        const double low = first < last ? first : last, high = first < last ? last : first;
        for (i = 0; i < FM_BLOCK_COUNTS; i++) {
            double at = (double)(done + i);
            weights[i] = ((fall_a - at) * (fall_b - at)) / ((rise_a + at) * (rise_b + at));
        }
        for (i = 0; i < FM_BLOCK_COUNTS; i++) {
            weight *= weights[i];
            weights[i] = weight;
        }
        if (low >= 0.53125 * mean && high <= 1.875 * mean)
            for (i = 0; i < FM_BLOCK_COUNTS; i++) {
                double k = first + step * (double)i;
                terms[i] = fm_information_term_near(k, mean, k - mean);
            }
        else if (low >= 2.125 * mean || high <= 0.46875 * mean)
            for (i = 0; i < FM_BLOCK_COUNTS; i++) {
                double k = first + step * (double)i;
                terms[i] = fm_information_term_far(k, mean, k - mean);
            }
        else
            for (i = 0; i < FM_BLOCK_COUNTS; i++) {
                double k = first + step * (double)i;
                terms[i] = fm_information_term(k, mean, k - mean);
            }
        for (i = 0; i < FM_BLOCK_COUNTS; i++) {
            term_sums[i] += weights[i] * terms[i];
            weight_sums[i] += weights[i];
        }
    }
    for (i = 0; i < FM_BLOCK_COUNTS; i++) {
        sums[0] += term_sums[i];
        sums[1] += weight_sums[i];
    }
}

/* E G(k, mean) from the probabilities of single k, for means below FM_MOMENTS_MEAN.
 *
 * The probability of the count next to the mean is set to 1, and the others follow from ratios of neighboring
 * probabilities: without factorials, nothing overflows. The sum is divided by the sum of the probabilities at the end.
 * Both directions end when a probability falls below 2^-62 of the first one (times the mean, if the mean is below 1).
 * Standard deviations are below 20, and both tails fall at least as fast as those of the Poisson distribution, so at
 * most about 200 counts are needed.
 */
static double fm_expected_by_counts(const fm_margins* margins) {
    const double a = (double)margins->a, b = (double)margins->b, outside = (double)margins->outside;
    const double mean = margins->mean;
    const double least = 0x1p-62 * (mean < 1.0 ? mean : 1.0);
    int64_t lowest = margins->outside < 0 ? -margins->outside : 0;
    int64_t highest = margins->a < margins->b ? margins->a : margins->b;
    int64_t start = (int64_t)mean;
    double k, sums[2];
    if (start < lowest) start = lowest;
    if (start > highest) start = highest;
    k = (double)start;
    sums[0] = fm_information_term(k, mean, k - mean);
    sums[1] = 1.0;
    fm_sum_tail(a - k, b - k, k + 1.0, outside + k + 1.0, k, 1.0, mean, least, sums);
    fm_sum_tail(k, outside + k, a - k + 1.0, b - k + 1.0, k, -1.0, mean, least, sums);
    return sums[0] / sums[1];
}

/* E G(k, mean) from moments, for means of at least FM_MOMENTS_MEAN. The time does not depend on the number of rows.
 *
 * With x = k / mean - 1, G / mean = x^2/2 - x^3/6 + x^4/12 - ... = sum over r >= 2 of (-x)^r / (r (r - 1)). The
 * variance is at most the mean, so E x^r is about (r - 1)!! mean^(-r/2) at most. At a mean of 400 the term of r = 22 is
 * below 2^-60 of the first, and so is the part of the distribution where the series does not converge.
 *
 * Moments follow from E[k (outside + k) g(k - 1)] = E[(a - k)(b - k) g(k)], which holds for every polynomial g because
 * of the ratios of neighboring probabilities. With g(k - 1) = (k - mean)^r, V the value of both products at the mean,
 * and S = a + b - 2 mean,
 *
 *     (total - r) m(r+1) = r (V m(r-1) - S m(r)) + sum over i <= r - 2 of C(r, i) (m(i+2) - S m(i+1) + V m(i)).
 *
 * Here d(r) = m(r) / mean^r. Only the FM_RECENT_TERMS last terms of the sum are added: each earlier term is smaller by
 * a factor of the root of the mean, and the moments with more terms have little weight.
 */
static double fm_expected_by_moments(const fm_margins* margins) {
    const double a = (double)margins->a, b = (double)margins->b, total = (double)margins->total;
    const double without_a = (double)(margins->total - margins->a), without_b = (double)(margins->total - margins->b);
    const double unit = 1.0 / margins->mean;
    const double spread = (without_a / a) * (without_b / b);                    /* V / mean^2 */
    const double skew = (a * (without_b / total) + b * (without_a / total)) * unit; /* S / mean */
    double d[FM_MOMENTS + 1], u[FM_MOMENTS + 1], binomials[FM_MOMENTS + 1] = {1.0};
    double sum = 0, term, rest;
    int r, i;
    d[0] = 1.0;
    d[1] = 0.0;
    for (r = 1; r < FM_MOMENTS; r++) {
        for (i = r; i > 0; i--) binomials[i] += binomials[i - 1];
        if (r >= 2) u[r - 2] = d[r] - skew * d[r - 1] + spread * d[r - 2];
        rest = 0.0;
        for (i = r > FM_RECENT_TERMS + 1 ? r - FM_RECENT_TERMS - 1 : 0; i + 2 <= r; i++)
            rest = rest * unit + binomials[i] * u[i];
        d[r + 1] = ((double)r * (spread * d[r - 1] - skew * d[r]) + rest * unit) / (total - (double)r);
        term = d[r + 1] / ((double)(r + 1) * (double)r);
        sum += r % 2 ? term : -term;
        if (r % 2 && term <= 0x1p-62 * sum) break;
    }
    return sum * margins->mean;
}

/* The expectation of G(k, mean), in rows. */
static double fm_expected(int64_t a, int64_t b, int64_t total) {
    fm_margins margins = fm_make_margins(a, b, total);
    return margins.mean < FM_MOMENTS_MEAN ? fm_expected_by_counts(&margins) : fm_expected_by_moments(&margins);
}

/* The sum of squares, modulo 2^64. */
FM_WIDE static uint64_t fm_sum_squares(const int64_t* counts, ptrdiff_t n) {
    uint64_t sum = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) sum += (uint64_t)counts[i] * (uint64_t)counts[i];
    return sum;
}

/* For counts h * 2^32 + l, the sums of l^2, of h * l and of h^2 in 128 bits each, low words first. */
static inline void fm_sum_wide_squares(const int64_t* counts, ptrdiff_t n, uint64_t* sums) {
    ptrdiff_t i;
    int k;
    for (k = 0; k < 6; k++) sums[k] = 0;
    for (i = 0; i < n; i++) {
        uint64_t low = (uint64_t)counts[i] & UINT32_MAX, high = (uint64_t)counts[i] >> 32;
        uint64_t products[3];
        products[0] = low * low;
        products[1] = high * low;
        products[2] = high * high;
        for (k = 0; k < 3; k++) {
            sums[2 * k] += products[k];
            sums[2 * k + 1] += sums[2 * k] < products[k];
        }
    }
}

#endif
