"""Elementary functions of columns and of numbers, with the same bits on every machine (elementary.h has their errors).

A function that ends in `_of` is that of one number. The others fill `out`, which may be the same memory as the values.
"""

from fastmetrics._kernels.numeric.elementary cimport (
    fm_asin, fm_atan, fm_cos, fm_exp, fm_exp2, fm_expm1, fm_log, fm_log1p, fm_log2, fm_pow, fm_sin, fm_tan, fm_arcsines,
    fm_arctangents, fm_cosines, fm_exp2s, fm_expm1s, fm_exps, fm_log1ps, fm_log2s, fm_logs, fm_powers_of,
    fm_powers_of_pairs, fm_powers_with_base, fm_sins, fm_tangents,
)
from fastmetrics._kernels.numeric.length_checks cimport need_length

ctypedef void (*loop_t)(const double* values, Py_ssize_t n, double* out) noexcept nogil


cdef int fill(loop_t loop, const double[::1] values, double[::1] out) except -1:
    need_length(b"out", out.shape[0], values.shape[0])
    if values.shape[0]:
        with nogil:
            loop(&values[0], values.shape[0], &out[0])
    return 0


def log(const double[::1] values, double[::1] out):
    """The natural logarithm of every value."""
    fill(fm_logs, values, out)


def log_of(double x) -> float:
    return fm_log(x)


def log1p(const double[::1] values, double[::1] out):
    """log(1 + x) of every value x."""
    fill(fm_log1ps, values, out)


def log1p_of(double x) -> float:
    return fm_log1p(x)


def log2(const double[::1] values, double[::1] out):
    """The binary logarithm of every value."""
    fill(fm_log2s, values, out)


def log2_of(double x) -> float:
    return fm_log2(x)


def exp(const double[::1] values, double[::1] out):
    """e^x of every value x."""
    fill(fm_exps, values, out)


def exp_of(double x) -> float:
    return fm_exp(x)


def exp2(const double[::1] values, double[::1] out):
    """2^x of every value x."""
    fill(fm_exp2s, values, out)


def exp2_of(double x) -> float:
    return fm_exp2(x)


def expm1(const double[::1] values, double[::1] out):
    """e^x - 1 of every value x."""
    fill(fm_expm1s, values, out)


def expm1_of(double x) -> float:
    return fm_expm1(x)


def sin(const double[::1] values, double[::1] out):
    """The sine of every value, in radians."""
    fill(fm_sins, values, out)


def sin_of(double x) -> float:
    return fm_sin(x)


def cos(const double[::1] values, double[::1] out):
    """The cosine of every value, in radians."""
    fill(fm_cosines, values, out)


def cos_of(double x) -> float:
    return fm_cos(x)


def tan(const double[::1] values, double[::1] out):
    """The tangent of every value, in radians."""
    fill(fm_tangents, values, out)


def tan_of(double x) -> float:
    return fm_tan(x)


def arcsin(const double[::1] values, double[::1] out):
    """The angle in [-pi/2, pi/2] of every sine."""
    fill(fm_arcsines, values, out)


def arcsin_of(double x) -> float:
    return fm_asin(x)


def arctan(const double[::1] values, double[::1] out):
    """The angle in (-pi/2, pi/2) of every tangent."""
    fill(fm_arctangents, values, out)


def arctan_of(double x) -> float:
    return fm_atan(x)


def power(const double[::1] values, const double[::1] exponents, double[::1] out):
    """values[i]^exponents[i]. One value or one exponent is that of all."""
    if values.shape[0] != 1:
        need_length(b"values", values.shape[0], out.shape[0])
    if exponents.shape[0] != 1:
        need_length(b"exponents", exponents.shape[0], out.shape[0])
    if not out.shape[0]:
        return
    with nogil:
        if exponents.shape[0] == 1:
            fm_powers_of(&values[0], exponents[0], out.shape[0], &out[0])
        elif values.shape[0] == 1:
            fm_powers_with_base(values[0], &exponents[0], out.shape[0], &out[0])
        else:
            fm_powers_of_pairs(&values[0], &exponents[0], out.shape[0], &out[0])


def power_of(double x, double y) -> float:
    return fm_pow(x, y)
