/* Double-doubles, numbers of more precision than a double: unevaluated sums high + low, with |low| at most about an ulp
 * of high. */
#ifndef FASTMETRICS_NUMERIC_DOUBLE_DOUBLE_H
#define FASTMETRICS_NUMERIC_DOUBLE_DOUBLE_H

#include <stdint.h>
#include <string.h>

#include "numeric/two_product.h"

typedef struct {
    double high, low;
} fm_double_double;

FM_INLINE uint64_t fm_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, 8);
    return bits;
}

FM_INLINE double fm_double(uint64_t bits) {
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

/* a + b with its rounding error, for |a| >= |b| or a = 0. */
FM_INLINE fm_double_double fm_fast_sum(double a, double b) {
    fm_double_double sum;
    sum.high = a + b;
    sum.low = b - (sum.high - a);
    return sum;
}

/* a + b with its rounding error (D. E. Knuth). */
FM_INLINE fm_double_double fm_two_sum(double a, double b) {
    fm_double_double sum;
    double part;
    sum.high = a + b;
    part = sum.high - a;
    sum.low = (a - (sum.high - part)) + (b - part);
    return sum;
}

FM_INLINE fm_double_double fm_two_product(double a, double b) {
    fm_double_double product;
    product.high = a * b;
    product.low = fm_product_error(a, b, product.high);
    return product;
}

/* (a.high + a.low) / (b.high + b.low) */
FM_INLINE fm_double_double fm_double_double_quotient(fm_double_double a, fm_double_double b) {
    fm_double_double quotient, product;
    quotient.high = a.high / b.high;
    product = fm_two_product(quotient.high, b.high);
    quotient.low = (((a.high - product.high) - product.low) + (a.low - quotient.high * b.low)) / b.high;
    return quotient;
}

#endif
