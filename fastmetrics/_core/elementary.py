"""Elementary functions whose bits are the same on every machine, for whatever enters a value, an interval or a p.

The functions of NumPy and of the C library have other last bits on another processor or system. These are built from
additions, multiplications, divisions and square roots (`_kernels/numeric/elementary.h`). Errors are below 0.52 units in
the last place, of sines, cosines, tangents, arcsines and arctangents below 0.53.

An array gives a float64 array of its shape, anything else a float. Special arguments have the values of C99 and NumPy,
without a warning: log(0) is -inf, log(-1) is NaN.
"""

from collections.abc import Callable
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from fastmetrics._kernels.numeric import elementary

Number = float | int
Values = NDArray[Any]
Results = NDArray[np.float64]


class Function(Protocol):
    """A function of one number, or of every value of an array."""

    @overload
    def __call__(self, x: Number, /) -> float: ...
    @overload
    def __call__(self, x: Values, /) -> Results: ...


def by_kernels(of_number: Callable[[Number], float], of_array: Callable[[Results, Results], None]) -> Function:
    """The function whose kernels take one number, and the values of an array with the memory of the results."""

    def compute(x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            return of_number(x)
        out = np.empty(x.shape)
        of_array(np.ascontiguousarray(x, np.float64).reshape(-1), out.reshape(-1))
        return out

    return compute


log = by_kernels(elementary.log_of, elementary.log)
log1p = by_kernels(elementary.log1p_of, elementary.log1p)  # log(1 + x)
log2 = by_kernels(elementary.log2_of, elementary.log2)
exp = by_kernels(elementary.exp_of, elementary.exp)
exp2 = by_kernels(elementary.exp2_of, elementary.exp2)  # 2^x
expm1 = by_kernels(elementary.expm1_of, elementary.expm1)  # e^x - 1
sin = by_kernels(elementary.sin_of, elementary.sin)  # of radians, as the next two
cos = by_kernels(elementary.cos_of, elementary.cos)
tan = by_kernels(elementary.tan_of, elementary.tan)
arcsin = by_kernels(elementary.arcsin_of, elementary.arcsin)  # the angle in [-pi/2, pi/2]
arctan = by_kernels(elementary.arctan_of, elementary.arctan)  # the angle in (-pi/2, pi/2)


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
    values, exponents = (np.asarray(one, np.float64) for one in (x, y))
    if values.ndim:
        values = np.ascontiguousarray(np.broadcast_to(values, shape))
    if exponents.ndim:
        exponents = np.ascontiguousarray(np.broadcast_to(exponents, shape))
    out = np.empty(shape)
    elementary.power(values.reshape(-1), exponents.reshape(-1), out.reshape(-1))
    return out
