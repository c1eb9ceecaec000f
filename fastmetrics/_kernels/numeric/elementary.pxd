"""Elementary functions of fixed operations, for kernels: elementary.h has their definitions and errors."""

cdef extern from "numeric/elementary.h":
    ctypedef struct fm_double_double:
        pass
    fm_double_double fm_split_of(double x) noexcept nogil
    double fm_power_of_split(fm_double_double split, double y) noexcept nogil
    double fm_log(double x) noexcept nogil
    double fm_log1p(double x) noexcept nogil
    double fm_log2(double x) noexcept nogil
    double fm_log2_of_rank(double rank) noexcept nogil
    double fm_exp(double x) noexcept nogil
    double fm_exp2(double x) noexcept nogil
    double fm_expm1(double x) noexcept nogil
    double fm_pow(double x, double y) noexcept nogil
    double fm_sin(double x) noexcept nogil
    double fm_cos(double x) noexcept nogil
    double fm_tan(double x) noexcept nogil
    double fm_asin(double x) noexcept nogil
    double fm_atan(double x) noexcept nogil

    void fm_logs(const double* values, Py_ssize_t n, double* out) noexcept nogil
    void fm_log1ps(const double* values, Py_ssize_t n, double* out) noexcept nogil
    void fm_log2s(const double* values, Py_ssize_t n, double* out) noexcept nogil
    void fm_exps(const double* values, Py_ssize_t n, double* out) noexcept nogil
    void fm_exp2s(const double* values, Py_ssize_t n, double* out) noexcept nogil
    void fm_expm1s(const double* values, Py_ssize_t n, double* out) noexcept nogil
    void fm_sins(const double* values, Py_ssize_t n, double* out) noexcept nogil
    void fm_cosines(const double* values, Py_ssize_t n, double* out) noexcept nogil
    void fm_tangents(const double* values, Py_ssize_t n, double* out) noexcept nogil
    void fm_arcsines(const double* values, Py_ssize_t n, double* out) noexcept nogil
    void fm_arctangents(const double* values, Py_ssize_t n, double* out) noexcept nogil
    void fm_powers_of_pairs(const double* values, const double* exponents, Py_ssize_t n, double* out) noexcept nogil
    void fm_powers_of(const double* values, double exponent, Py_ssize_t n, double* out) noexcept nogil
    void fm_powers_with_base(double x, const double* exponents, Py_ssize_t n, double* out) noexcept nogil
