"""The comparison of both libraries: everything that a caller sees of a call."""

import inspect
import math
from typing import Any

import numpy as np

from support.parity.cases import Call, Outcome, ours, run, theirs

# Errors that the peer raises by accident: a list without .shape, a missing column.
ACCIDENTS = (AttributeError, IndexError, KeyError, AssertionError, ZeroDivisionError, OverflowError, UnboundLocalError)
# Warnings of NumPy inside the peer. fastmetrics gives none of them.
NOISE = {"RuntimeWarning", "DeprecationWarning", "ComplexWarning"}
NARROW = ("float16", "float32")


def dtype_of(value: Any) -> str:
    """Return the name of the dtype, also for pandas and polars; empty if there is none."""
    return str(getattr(value, "dtype", getattr(value, "type", ""))).lower().removesuffix("[pyarrow]")


def has_type(call: Call, *kinds: str) -> bool:
    return any(dtype_of(value) in kinds for value in (*call.args, *call.options.values()))


def tolerance(call: Call) -> tuple[float, float]:
    """Return (relative, absolute). The peer computes narrow floats in their own type, fastmetrics in float64."""
    if has_type(call, "float16", "halffloat"):
        return 2e-2, 2e-2
    return (5e-5, 5e-5) if has_type(call, "float32", "float") else (1e-12, 1e-12)


def compare(mine: Outcome, other: Outcome, near: tuple[float, float] = (1e-12, 1e-12)) -> list[str]:
    """Return complaints: differences that a caller would notice after changing the import."""
    if other.error is not None:
        return compare_errors(mine, other.error)
    if mine.error is not None:
        return ["an error, where there is a value"]
    complaints = compare_values(mine.value, other.value, near, "the value")
    expected = [name for name in other.warned if name not in NOISE]
    if list(mine.warned) != expected:
        complaints.append(f"warnings {list(mine.warned)}, not {expected}")
    return complaints


# Texts of errors that an operator raises on a value of the wrong type. The peer did not choose the error's type.
OPERATORS = (
    "not supported between instances of",
    "unsupported operand type",
    "numpy boolean subtract",
    "Axis must be specified when shapes of a and weights differ",
)


def is_accident(error: Exception) -> bool:
    """Whether the peer failed by accident instead of rejecting. Then both an error and a value of ours are right."""
    foreign = type(error).__module__.startswith(("numpy", "polars", "pyarrow", "pandas"))
    return foreign or isinstance(error, ACCIDENTS)


def compare_errors(mine: Outcome, error: Exception) -> list[str]:
    ordinary = isinstance(mine.error, (ValueError, TypeError, type(error)))
    if is_accident(error):
        return [] if mine.error is None or ordinary else [f"{type(mine.error).__name__}, where there is an accident"]
    if mine.error is None:
        return ["a value, where there is an error"]
    if any(text in str(error) for text in OPERATORS):
        return [] if ordinary else [f"the error is a {type(mine.error).__name__}"]
    kinds = [kind for kind in (ValueError, TypeError, NotImplementedError) if isinstance(error, kind)]
    missed = [kind.__name__ for kind in kinds if not isinstance(mine.error, kind)]
    complaints = [f"the error is not a {name}" for name in missed]
    if not kinds:
        complaints.append(f"the peer's error is a {type(error).__name__}: no rule for it")
    return complaints


def compare_values(mine: Any, other: Any, near: tuple[float, float], where: str) -> list[str]:
    if type(mine) is not type(other) and not (isinstance(mine, tuple) and type(other) is tuple):
        return [f"{where} is of type {type(mine).__name__}, not {type(other).__name__}"]
    if isinstance(other, (tuple, list)):
        if len(mine) != len(other):
            return [f"{where} has {len(mine)} items, not {len(other)}"]
        pairs = enumerate(zip(mine, other, strict=True))
        return [text for place, two in pairs for text in compare_values(*two, near, f"{where}[{place}]")]
    if isinstance(other, dict):
        if list(mine) != list(other) or [type(key) for key in mine] != [type(key) for key in other]:
            return [f"{where} has keys {list(mine)}, not {list(other)}"]
        return [text for key in other for text in compare_values(mine[key], other[key], near, f"{where}[{key!r}]")]
    if isinstance(other, np.ndarray):
        if (mine.dtype, mine.shape) != (other.dtype, other.shape):
            return [f"{where} is {mine.dtype}{mine.shape}, not {other.dtype}{other.shape}"]
        if other.dtype.kind in "fc":
            same = np.isclose(mine, other, *near, equal_nan=True)
        else:
            same = mine == other
        return [] if same.all() else [f"{where} differs in {np.count_nonzero(~same)} places"]
    if isinstance(other, (float, np.floating)):
        same = math.isclose(mine, other, rel_tol=near[0], abs_tol=near[1]) or (mine != mine and other != other)
        return [] if same else [f"{where} is {mine!r}, not {other!r}"]
    return [] if mine == other else [f"{where} is {mine!r}, not {other!r}"]


def missing_argument_name(call: Call, error: Exception) -> list[str]:
    """Return a complaint if the message of our error names no argument or option."""
    names = inspect.signature(ours(call.name)).parameters
    return [] if any(name in str(error) for name in names) else [f"the message names no argument: {error}"]


def compare_libraries(call: Call, near: tuple[float, float] | None = None) -> tuple[Outcome, Outcome, list[str]]:
    """Call both libraries. Return both outcomes and all complaints, also about intended differences."""
    mine, other = run(ours(call.name), call), run(theirs(call.name), call)
    complaints = compare(mine, other, tolerance(call) if near is None else near)
    if mine.error is not None:
        complaints += missing_argument_name(call, mine.error)
    return mine, other, complaints
