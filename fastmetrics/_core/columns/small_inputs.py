"""The guard of calls on few rows: two NumPy arrays and usual options need one kernel call and no other check.

`@small_inputs(kernel)` stands above a function of two columns. The kernel is called first. It returns the result, or
None for columns that it cannot read and for values that need an error or a warning; then the function runs. Both give
the same bits. A kernel is a function of `_kernels`, or a small function around one.

The guard checks `n_threads`, if the function has this option, and answers whatever the number of threads is.

The guard is compiled with the parameters of the function (`_core/calls/compiled_functions.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from fastmetrics._core.calls.compiled_functions import IS_WRONG_CALL, Function, compile_like, passed_on, refusal
from fastmetrics._core.parallel import count_threads

MAX_LIST = 1 << 12
NO_ROWS: np.ndarray = np.empty(0)

CHECK_THREADS = "if n_threads is not None: count_threads(n_threads)"
BODY = """\
    {check}
    if {is_small}:
        value = kernel({small_arguments})
        if value is not None:
            return value
{refusal}    return function({arguments})
"""


def small_inputs(
    kernel: Callable[..., Any], *constants: Any, lists: bool = False, max_rows: int | None = None
) -> Callable[[Function], Function]:
    """Return a decorator: calls on two small arrays are answered by `kernel(first, second, *constants, **options)`.

    Parameters
    ----------
    kernel : callable
        Its keyword-only parameters are the options that it takes. If any other option is not the default of the
        decorated function, the kernel is not called.
    *constants : object
        Further positional arguments of the kernel.
    lists : bool
        Short lists become arrays first, also those among the options of the kernel. Otherwise both columns must be of
        the type ndarray; a subclass may hide a mask.
    max_rows : int, optional
        The most values in the first column (not with `lists`). None: the kernel counts the rows before it does more.
    """

    def decorate(function: Function) -> Function:
        return compile_guard(function, kernel, constants, lists, max_rows)

    return decorate


def compile_guard(
    function: Function, kernel: Callable[..., Any], constants: tuple[Any, ...], lists: bool, max_rows: int | None
) -> Function:
    """Return a function with the parameters of `function` that calls the kernel first."""
    parameters = signature(function).parameters
    columns, options = list(parameters)[:2], list(parameters)[2:]
    taken = [name for name in options if name in (getattr(kernel, "__kwdefaults__", None) or ())]
    usual = {f"usual_{name}": parameters[name].default for name in options}
    fixed = {f"constant_{number}": constant for number, constant in enumerate(constants)}
    # None stands in the source itself, where the interpreter compares it fastest.
    conditions = [
        f"{name} is {None if usual[f'usual_{name}'] is None else f'usual_{name}'}"
        for name in options
        if name not in (*taken, "n_threads")
    ]
    column, option = "{0}", "{0}={0}"
    if lists:
        column = "{0} if type({0}) is ndarray else read_list({0})"
        option = "{0}={0} if {0} is None or type({0}) is ndarray else read_list({0})"
    else:
        conditions = [f"type({name}) is ndarray" for name in columns] + conditions
    if max_rows is not None:
        conditions.append(f"{columns[0]}.size <= {max_rows}")
    body = BODY.format(
        check=CHECK_THREADS if "n_threads" in options else "",
        is_small=" and ".join([f"not ({IS_WRONG_CALL})", *conditions]),
        small_arguments=", ".join([*map(column.format, columns), *fixed, *map(option.format, taken)]),
        refusal=refusal(function),
        arguments=passed_on(function),
    )
    names = {"function": function, "kernel": kernel, **usual, **fixed}
    names |= {"ndarray": np.ndarray, "read_list": read_list, "count_threads": count_threads}
    return compile_like(function, body, "small inputs of", names)


def read_list(values: Any) -> np.ndarray:
    """A short list as an array. Anything else, and a list without a common type, is an array that no kernel reads."""
    if type(values) is not list or len(values) > MAX_LIST:
        return NO_ROWS
    try:
        return np.array(values)
    except ValueError:
        return NO_ROWS
