/* Tails of the normal distribution and of the range of normal variables; the nodes of the integrals of
 * tail_integrals.pyx.
 *
 * Loops run over whole registers of any width, and sums have FM_TAIL_LANES lanes that are added in order at the end:
 * the same operations on the same operands everywhere.
 */
#ifndef FASTMETRICS_SIGNIFICANCE_TAIL_LOOPS_H
#define FASTMETRICS_SIGNIFICANCE_TAIL_LOOPS_H

#include "numeric/elementary.h"

enum { FM_TAIL_LANES = 8, FM_N_NODES = 256, FM_NODES_AT_ONCE = 64 };
enum { FM_N_OFFSETS = 152, FM_OFFSETS_PER_UNIT = 8, FM_N_OFFSETS_OF_ALL = 480 };

#define FM_TAIL_SMALL 0.5 /* below it, what a function lacks to its first terms is the sum of a series */
#define FM_OFFSET_RANGE 9.0  /* normal variables beyond it do not count */
#define FM_GREATEST_RANGE 80.0 /* ranges beyond it have probability 0 */

/* `yes` or `no`. Both are computed: a branch would keep the compiler from using registers of several numbers. */
FM_INLINE double fm_select(int condition, double yes, double no) {
    uint64_t mask = (uint64_t)0 - (uint64_t)condition;
    return fm_double((fm_bits(yes) & mask) | (fm_bits(no) & ~mask));
}

/* The sum of n terms, a multiple of the lanes, with the rounding errors beside it. */
FM_WIDE static double fm_sum_terms(const double* terms, ptrdiff_t n) {
    double totals[FM_TAIL_LANES] = {0.0}, lost[FM_TAIL_LANES] = {0.0}, rest = 0.0;
    fm_double_double sum = {0.0, 0.0};
    ptrdiff_t start, lane;
    for (start = 0; start < n; start += FM_TAIL_LANES)
        for (lane = 0; lane < FM_TAIL_LANES; lane++) {
            fm_double_double next = fm_two_sum(totals[lane], terms[start + lane]);
            totals[lane] = next.high;
            lost[lane] += next.low;
        }
    for (lane = 0; lane < FM_TAIL_LANES; lane++) {
        sum = fm_two_sum(sum.high, totals[lane]);
        rest += sum.low + lost[lane];
    }
    return sum.high + rest;
}

/* e^-u - 1, for u >= 0. */
FM_INLINE double fm_fall(double u) { return fm_expm1_core(fm_select(u < 100.0, -u, -100.0)); }

/* e^-u - 1 + u, for u >= 0 and the fall of u. */
FM_INLINE double fm_fall_remainder(double u, double fall) {
    static const double factors[] = {
        1.0 / 20922789888000, -1.0 / 1307674368000, 1.0 / 87178291200, -1.0 / 6227020800, 1.0 / 479001600,
        -1.0 / 39916800, 1.0 / 3628800, -1.0 / 362880, 1.0 / 40320, -1.0 / 5040, 1.0 / 720, -1.0 / 120, 1.0 / 24,
        -1.0 / 6, 0.5,
    };
    double series = 0.0;
#pragma GCC unroll 15
    for (int k = 0; k < 15; k++) series = series * u + factors[k];
    return fm_select(u < FM_TAIL_SMALL, u * u * series, fall + u);
}

/* log(1 + w) - w, for finite w > -1. */
FM_INLINE double fm_log1p_remainder(double w) {
    double s = w / (2.0 + w), square = s * s, series = 1.0 / 41;
#pragma GCC unroll 19
    for (int k = 39; k > 1; k -= 2) series = series * square + 1.0 / k;
    return fm_select(fabs(w) < FM_TAIL_SMALL, s * (2.0 * square * series - w), fm_log1p_core(w) - w);
}

typedef void (*fm_terms_t)(double, double, double, double, const double*, const double*, double*);

#define FM_GAMMA_BELOW(u, fall) (slope * (u) - factor * fm_fall_remainder(u, fall))
#define FM_GAMMA_ABOVE(u, fall) ((void)(fall), slope * (u) + factor * fm_log1p_remainder(u))
#define FM_BETA_BELOW(u, fall)                                                                                         \
    (slope * (u) + factor * (fm_log1p_remainder(-odds * (fall)) - odds * fm_fall_remainder(u, fall)))

/* The terms of the integral over u > 0 of e^EXPONENT(u), which falls from 1. An exponent below -708 is none. */
#define FM_NODE_TERMS(NAME, EXPONENT)                                                                                  \
    FM_WIDE static void NAME(                                                                                          \
        double slope, double factor, double odds, double scale, const double* nodes, const double* weights,            \
        double* restrict terms                                                                                         \
    ) {                                                                                                                \
        for (ptrdiff_t i = 0; i < FM_NODES_AT_ONCE; i++) {                                                             \
            double u = fm_select(nodes[i] * scale < 1e300, nodes[i] * scale, 1e300), fall = fm_fall(u);                \
            double exponent = EXPONENT(u, fall);                                                                       \
            terms[i] = fm_select(exponent > -708.0, fm_exp_core(exponent) * weights[i], 0.0);                          \
        }                                                                                                              \
        (void)odds;                                                                                                    \
    }

FM_NODE_TERMS(fm_gamma_below_terms, FM_GAMMA_BELOW)
FM_NODE_TERMS(fm_gamma_above_terms, FM_GAMMA_ABOVE)
FM_NODE_TERMS(fm_beta_below_terms, FM_BETA_BELOW)

/* (1 + 2x) exp(x^2) erfc(x) for x = size / sqrt(2), in Chebyshev polynomials of (x - 3.75) / (x + 3.75), divided by
 * 1 + 2x: M. Shepherd and J. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x in 0 <= x < infinity",
 * Mathematics of Computation 36, 1981. */
FM_INLINE double fm_scaled_tail(double size) {
    static const double coefficients[] = {
        1.1775789345674017, -0.004590054580646478, -0.08424913336651792, 0.05920993999819189, -0.026658668435305753,
        0.009074997670705265, -0.002413163540417608, 0.0004907758365258086, -6.916973302501207e-05,
        4.13902798607301e-06, 7.74038306619849e-07, -2.1886401049234397e-07, 1.076499946567091e-08,
        4.521959811218287e-09, -7.754400208831351e-10, -6.318088340886684e-11, 2.86879501093067e-11,
        1.9455868545777347e-13, -9.65469674843344e-13, 3.25254814814874e-14, 3.3478119482868056e-14,
        -1.864562880419313e-15, -1.2507950530688648e-15, 7.418235256624044e-17, 5.068148904796111e-17,
    };
    double x = size / 1.4142135623730951, twice = 2.0 * ((x - 3.75) / (x + 3.75)), last = 0.0, value = coefficients[24];
#pragma GCC unroll 23
    for (int k = 23; k > 0; k--) { /* Clenshaw's recurrence */
        double earlier = value;
        value = twice * value - last + coefficients[k];
        last = earlier;
    }
    return (twice / 2.0 * value - last + coefficients[0]) / (1.0 + 2.0 * x);
}

/* Near 0 a tail is 1/2 less z times the density's integral, in powers of z^2 / 2. */
FM_INLINE double fm_normal_tail_near(double z) {
    static const double series[] = {
        -1.0 / 918086400, 1.0 / 76204800, -1.0 / 6894720, 1.0 / 685440, -1.0 / 75600, 1.0 / 9360, -1.0 / 1320,
        1.0 / 216, -1.0 / 42, 1.0 / 10, -1.0 / 3, 1.0,
    };
    double value = 0.0;
#pragma GCC unroll 12
    for (int k = 0; k < 12; k++) value = value * (z * z / 2.0) + series[k];
    return 0.5 - z / 2.5066282746310002 * value;
}

/* The upper 26 bits of a number. Their square is exact, so the rounding of z^2 is not multiplied by z^2. */
FM_INLINE double fm_upper_half(double size) {
    double multiple = 134217729.0 * size;
    return multiple - (multiple - size);
}

#define FM_HAS_NORMAL_TAIL(z) (fabs(z) <= 37.5)

FM_INLINE double fm_normal_tail_core(double z) {
    double size = fabs(z), high = fm_upper_half(size), rest = (size - high) * (size + high);
    double upper = fm_scaled_tail(size) * fm_exp_core(-high * high / 2.0) * fm_exp_core(-rest / 2.0) / 2.0;
    return fm_select(size < FM_TAIL_SMALL, fm_normal_tail_near(z), fm_select(z > 0.0, upper, 1.0 - upper));
}

/* The probability that a standard normal variable is above z. Beyond 40 it is 0. */
FM_ONE_COPY static double fm_normal_tail(double z) {
    double size, high, rest, upper;
    if (FM_HAS_NORMAL_TAIL(z)) return fm_normal_tail_core(z);
    size = fabs(z) < 40.0 ? fabs(z) : 40.0;
    high = fm_upper_half(size);
    rest = (size - high) * (size + high);
    upper = fm_scaled_tail(size) * fm_exp(-high * high / 2.0) * fm_exp(-rest / 2.0) / 2.0;
    return z > 0.0 ? upper : 1.0 - upper;
}

FM_ELEMENTWISE(fm_normal_tails, FM_HAS_NORMAL_TAIL, fm_normal_tail_core, fm_normal_tail)

/* At offsets of 1/8 from -9 on: the probability that a normal variable is below, and the density times sqrt(2 pi). */
static double fm_below_offset[FM_N_OFFSETS_OF_ALL], fm_density_at_offset[FM_N_OFFSETS_OF_ALL];

static void fm_fill_offsets(void) {
    for (int i = 0; i < FM_N_OFFSETS_OF_ALL; i++) {
        double z = (double)i / FM_OFFSETS_PER_UNIT - FM_OFFSET_RANGE;
        fm_below_offset[i] = fm_normal_tail(-z);
        fm_density_at_offset[i] = fm_exp(-z * z / 2.0);
    }
}

/* The densities times the probability that of `others` variables below an offset at least one is in the part `outside`.
 * It is below^others - rest^others for rest = below - outside, which is outside times the sum of
 * below^i rest^(others - 1 - i). This sum is made by doubling its number of terms, as powers are. */
FM_WIDE static void fm_range_terms(
    const double* below, const double* density, const double* tails, int others, double* restrict terms
) {
    double outside[FM_N_OFFSETS], rest[FM_N_OFFSETS], sums[FM_N_OFFSETS];
    double powers[FM_N_OFFSETS], powers_of_rest[FM_N_OFFSETS];
    int bit = 1;
    ptrdiff_t i;
    for (i = 0; i < FM_N_OFFSETS; i++) {
        outside[i] = tails[i] < below[i] ? tails[i] : below[i];
        rest[i] = powers_of_rest[i] = below[i] - outside[i];
        powers[i] = below[i];
        sums[i] = 1.0;
    }
    while (bit <= others / 2) bit *= 2;
    for (bit /= 2; bit; bit /= 2) {
        for (i = 0; i < FM_N_OFFSETS; i++) {
            sums[i] *= powers[i] + powers_of_rest[i];
            powers[i] *= powers[i];
            powers_of_rest[i] *= powers_of_rest[i];
        }
        if (others & bit)
            for (i = 0; i < FM_N_OFFSETS; i++) {
                sums[i] = sums[i] * below[i] + powers_of_rest[i];
                powers[i] *= below[i];
                powers_of_rest[i] *= rest[i];
            }
    }
    for (i = 0; i < FM_N_OFFSETS; i++) terms[i] = density[i] * outside[i] * sums[i];
}

/* P(range of k standard normals >= w), for w >= 0: k times an integral over the largest of them, whose integrand is
 * largest near w / 2. The trapezoidal rule converges faster than any power of its step: the integrand is analytic and
 * vanishes at both ends. */
static double fm_range_tail(double w, int k) {
    double outside[FM_N_OFFSETS], terms[FM_N_OFFSETS];
    ptrdiff_t first, i;
    if (!(w < FM_GREATEST_RANGE)) return 0.0;
    first = (ptrdiff_t)(w / 2.0 * FM_OFFSETS_PER_UNIT);
    for (i = 0; i < FM_N_OFFSETS; i++)
        outside[i] = w - ((double)(first + i) / FM_OFFSETS_PER_UNIT - FM_OFFSET_RANGE);
    fm_normal_tails(outside, FM_N_OFFSETS, outside);
    fm_range_terms(fm_below_offset + first, fm_density_at_offset + first, outside, k - 1, terms);
    return fm_sum_terms(terms, FM_N_OFFSETS) * (k / (FM_OFFSETS_PER_UNIT * 2.5066282746310002));
}

#endif
