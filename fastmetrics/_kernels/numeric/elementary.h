/* Elementary functions of fixed IEEE operations: the same bits on every processor, in every system, at every SIMD width.
 *
 * Only additions, multiplications, divisions, square roots, comparisons and integer operations, in the order written
 * here. The build forbids contraction into fused multiply-add. No function of the C library is called.
 *
 * Errors, in units in the last place of the result: below 0.52 for fm_log, fm_log1p, fm_log2, fm_exp, fm_exp2, fm_expm1
 * and fm_pow; below 0.53 for fm_sin, fm_cos, fm_tan, fm_atan and fm_asin. Results that a double holds are exact.
 * Special arguments have the results of C99's annex F. tests/core/test_elementary_errors.py compares with exact
 * arithmetic.
 *
 * Each function keeps its leading terms as double-doubles, high + low, and rounds their sum once. What is left to
 * rounding errors is smaller than the result by a factor of 2^7 or more: the rest of a table's interval.
 *
 * fm_log2_of_rank is rounded correctly for whole numbers up to 2^20: discounts of ranks are made from it.
 *
 * A core (..._core) takes ordinary arguments only and has no branch, so loops over it are vectorized. On other arguments
 * it reads no memory beyond its tables, and its result is not used.
 */
#ifndef FASTMETRICS_NUMERIC_ELEMENTARY_H
#define FASTMETRICS_NUMERIC_ELEMENTARY_H

#include "numeric/angles.h"
#include "numeric/exponentials.h"
#include "numeric/logarithms.h"
#include "numeric/powers.h"
#include "numeric/vector_math.h"

/* Loops: out[i] = FUNCTION(values[i]), for any values; out may be values. CORE is the function of ordinary arguments. */
#define FM_ELEMENTWISE(NAME, IS_ORDINARY, CORE, FUNCTION)                                                              \
    FM_WIDE static int NAME##_block(const double* values, ptrdiff_t n, double* restrict out) {                         \
        int64_t ordinary = 0;                                                                                          \
        ptrdiff_t i;                                                                                                   \
        for (i = 0; i < n; i++) {                                                                                      \
            double x = values[i];                                                                                      \
            ordinary += (int64_t)IS_ORDINARY(x);                                                                       \
            out[i] = CORE(x);                                                                                          \
        }                                                                                                              \
        return ordinary != n;                                                                                          \
    }                                                                                                                  \
    static inline void NAME(const double* values, ptrdiff_t n, double* out) {                                          \
        enum { BLOCK = 256 };                                                                                          \
        double results[BLOCK];                                                                                         \
        ptrdiff_t start, i;                                                                                            \
        for (start = 0; start < n; start += BLOCK) {                                                                   \
            ptrdiff_t length = n - start < BLOCK ? n - start : BLOCK;                                                  \
            if (NAME##_block(values + start, length, results))                                                         \
                for (i = 0; i < length; i++)                                                                           \
                    if (!IS_ORDINARY(values[start + i])) results[i] = FUNCTION(values[start + i]);                     \
            memcpy(out + start, results, (size_t)length * sizeof(double));                                             \
        }                                                                                                              \
    }

FM_ELEMENTWISE(fm_logs, FM_IS_POSITIVE_NORMAL, fm_log_core, fm_log)
FM_ELEMENTWISE(fm_log1ps, FM_IS_ABOVE_MINUS_ONE, fm_log1p_core, fm_log1p)
FM_ELEMENTWISE(fm_log2s, FM_IS_POSITIVE_NORMAL, fm_log2_core, fm_log2)
FM_ELEMENTWISE(fm_exps, FM_HAS_NORMAL_EXP, fm_exp_core, fm_exp)
FM_ELEMENTWISE(fm_exp2s, FM_HAS_NORMAL_EXP2, fm_exp2_core, fm_exp2)
FM_ELEMENTWISE(fm_expm1s, FM_HAS_NORMAL_EXPM1, fm_expm1_core, fm_expm1)
FM_ELEMENTWISE(fm_sins, FM_IS_SMALL_ANGLE, fm_sin_core, fm_sin)
FM_ELEMENTWISE(fm_cosines, FM_IS_SMALL_ANGLE, fm_cos_core, fm_cos)
FM_ELEMENTWISE(fm_arcsines, FM_IS_SINE, fm_asin_core, fm_asin)
FM_ELEMENTWISE(fm_arctangents, FM_IS_SMALL_TANGENT, fm_atan_core, fm_atan)

static inline void fm_tangents(const double* values, ptrdiff_t n, double* out) {
    ptrdiff_t i;
    for (i = 0; i < n; i++) out[i] = fm_tan(values[i]);
}

#endif
