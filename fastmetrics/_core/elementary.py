"""Elementary functions whose bits are the same on every machine, for whatever enters a value, an interval or a p.

The functions of NumPy and of the C library have other last bits on another processor or system. These are built from
additions, multiplications, divisions and square roots (`_kernels/numeric/elementary.h`). Errors are below 0.52 units in
the last place, of sines, cosines, tangents, arcsines and arctangents below 0.53.

An array gives a float64 array of its shape, anything else a float. Special arguments have the values of C99 and NumPy,
without a warning: log(0) is -inf, log(-1) is NaN.
"""

from collections.abc import Callable
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from fastmetrics._kernels.numeric import elementary

Number = float | int
Values = NDArray[Any]
Results = NDArray[np.float64]


@overload
def log(x: Number) -> float: ...
@overload
def log(x: Values) -> Results: ...
def log(x: Number | Values) -> float | Results:
    """The natural logarithm of every value."""
    return elementary.log_of(x) if not isinstance(x, np.ndarray) else _filled(elementary.log, x)


@overload
def log1p(x: Number) -> float: ...
@overload
def log1p(x: Values) -> Results: ...
def log1p(x: Number | Values) -> float | Results:
    """log(1 + x) of every value x."""
    return elementary.log1p_of(x) if not isinstance(x, np.ndarray) else _filled(elementary.log1p, x)


@overload
def log2(x: Number) -> float: ...
@overload
def log2(x: Values) -> Results: ...
def log2(x: Number | Values) -> float | Results:
    """The binary logarithm of every value."""
    return elementary.log2_of(x) if not isinstance(x, np.ndarray) else _filled(elementary.log2, x)


@overload
def exp(x: Number) -> float: ...
@overload
def exp(x: Values) -> Results: ...
def exp(x: Number | Values) -> float | Results:
    """e^x of every value x."""
    return elementary.exp_of(x) if not isinstance(x, np.ndarray) else _filled(elementary.exp, x)


@overload
def exp2(x: Number) -> float: ...
@overload
def exp2(x: Values) -> Results: ...
def exp2(x: Number | Values) -> float | Results:
    """2^x of every value x."""
    return elementary.exp2_of(x) if not isinstance(x, np.ndarray) else _filled(elementary.exp2, x)


@overload
def expm1(x: Number) -> float: ...
@overload
def expm1(x: Values) -> Results: ...
def expm1(x: Number | Values) -> float | Results:
    """e^x - 1 of every value x."""
    return elementary.expm1_of(x) if not isinstance(x, np.ndarray) else _filled(elementary.expm1, x)


@overload
def sin(x: Number) -> float: ...
@overload
def sin(x: Values) -> Results: ...
def sin(x: Number | Values) -> float | Results:
    """The sine of every value, in radians."""
    return elementary.sin_of(x) if not isinstance(x, np.ndarray) else _filled(elementary.sin, x)


@overload
def cos(x: Number) -> float: ...
@overload
def cos(x: Values) -> Results: ...
def cos(x: Number | Values) -> float | Results:
    """The cosine of every value, in radians."""
    return elementary.cos_of(x) if not isinstance(x, np.ndarray) else _filled(elementary.cos, x)


@overload
def tan(x: Number) -> float: ...
@overload
def tan(x: Values) -> Results: ...
def tan(x: Number | Values) -> float | Results:
    """The tangent of every value, in radians."""
    return elementary.tan_of(x) if not isinstance(x, np.ndarray) else _filled(elementary.tan, x)


@overload
def arcsin(x: Number) -> float: ...
@overload
def arcsin(x: Values) -> Results: ...
def arcsin(x: Number | Values) -> float | Results:
    """The angle in [-pi/2, pi/2] of every sine."""
    return elementary.arcsin_of(x) if not isinstance(x, np.ndarray) else _filled(elementary.arcsin, x)


@overload
def arctan(x: Number) -> float: ...
@overload
def arctan(x: Values) -> Results: ...
def arctan(x: Number | Values) -> float | Results:
    """The angle in (-pi/2, pi/2) of every tangent."""
    return elementary.arctan_of(x) if not isinstance(x, np.ndarray) else _filled(elementary.arctan, x)


@overload
def power(x: Number, y: Number) -> float: ...
@overload
def power(x: Values, y: Number | Values) -> Results: ...
@overload
def power(x: Number, y: Values) -> Results: ...
def power(x: Number | Values, y: Number | Values) -> float | Results:
    """x^y of every pair of values, which are broadcast."""
    if not isinstance(x, np.ndarray) and not isinstance(y, np.ndarray):
        return elementary.power_of(x, y)
    shape = np.broadcast_shapes(np.shape(x), np.shape(y))
    values, exponents = (_as_float64(one) for one in (x, y))
    if values.ndim:
        values = np.ascontiguousarray(np.broadcast_to(values, shape))
    if exponents.ndim:
        exponents = np.ascontiguousarray(np.broadcast_to(exponents, shape))
    out = np.empty(shape)
    elementary.power(values.reshape(-1), exponents.reshape(-1), out.reshape(-1))
    return out


def _as_float64(x: Number | Values) -> Results:
    return np.asarray(x, np.float64)


def _filled(kernel: Callable[[Results, Results], None], x: Values) -> Results:
    values = np.ascontiguousarray(x, np.float64).reshape(x.shape)
    out = np.empty(x.shape)
    kernel(values.reshape(-1), out.reshape(-1))
    return out
