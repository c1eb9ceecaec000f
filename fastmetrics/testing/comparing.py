"""Values compared bit by bit, and failures that say what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.named_tuples import NamedTuple


class Check(NamedTuple):
    """The name of a check, and a function without arguments that raises AssertionError if the check fails."""

    name: str
    run: Callable[[], None]


def make_checks(subject: str, functions: Sequence[Callable[[Any], None]], cases: Callable[[], Any]) -> Iterator[Check]:
    """A check for each function; it is called with every case. Cases are made when a check runs."""

    def bind(function: Callable[[Any], None]) -> Callable[[], None]:
        def run() -> None:
            for case in cases():
                try:
                    function(case)
                except Exception as error:
                    found = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
                    raise AssertionError(f"{subject}: check {function.__name__} failed for {case}: {found}") from error

        return run

    for function in functions:
        yield Check(function.__name__, bind(function))


def run_all(subject: str, checks: Iterator[Check]) -> None:
    """Run all checks; raise one AssertionError that has the failures of all."""
    failures = []
    for _, run in checks:
        try:
            run()
        except AssertionError as error:
            failures.append(error)
    if failures:
        lines = "\n".join(map(str, failures))
        raise AssertionError(f"{subject} fails {len(failures)} checks:\n{lines}") from failures[0]


def require(condition: object, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def require_equal(expected: Any, found: Any, what: str) -> None:
    """Two values have the same bits."""
    one, other = bits(expected), bits(found)
    if one != other:
        raise AssertionError(f"{what}: {first_difference(one, other)}")


def bits(value: Any) -> Any:
    """A value in a form in which two values are equal only if all bits are."""
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, np.ndarray):
        # The dtype may depend on the dtype of the input; the numbers do not.
        if value.dtype.kind in "biuf":
            numbers = value.astype(np.float64)
            numbers[np.isnan(numbers)] = np.nan
            return [value.shape, numbers.tobytes()]
        return [value.shape, [bits(item) for item in value.ravel().tolist()]]
    if isinstance(value, (tuple, list)):
        return [bits(item) for item in value]
    if isinstance(value, dict):
        return {key: bits(item) for key, item in value.items()}
    if value is None or isinstance(value, (int, str)):
        return value
    return {name: bits(getattr(value, name)) for name in attribute_names(value)}


def attribute_names(value: Any) -> list[str]:
    """The attributes of a result, those of its base classes among them."""
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    names = [*slots, *getattr(value, "__dict__", ())]
    if not names:
        raise TypeError(f"cannot compare values of type {type(value).__name__}: it has no attributes")
    return names


def first_difference(expected: Any, found: Any, path: str = "") -> str:
    """Where two values of `bits` differ first, and how."""
    if isinstance(expected, dict) and isinstance(found, dict) and expected.keys() == found.keys():
        pairs = [(f"{path}.{key}", expected[key], found[key]) for key in expected]
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = [(f"{path}[{i}]", *pair) for i, pair in enumerate(zip(expected, found, strict=True))]
    elif isinstance(expected, bytes) and isinstance(found, bytes) and len(expected) == len(found):
        one, other = (bits(np.frombuffer(numbers).tolist()) for numbers in (expected, found))
        return first_difference(one, other, path)
    else:
        at = f" at {path}" if path else ""
        return f"expected {readable(expected)}, found {readable(found)}{at}"
    return next(first_difference(one, other, where) for where, one, other in pairs if one != other)


def readable(value: Any) -> Any:
    """A value of `bits` as people read it."""
    is_hexadecimal = isinstance(value, str) and value.lstrip("-").startswith(("0x", "nan", "inf"))
    return float.fromhex(value) if is_hexadecimal else repr(value)


def require_error(call: Callable[[], Any], *words: object) -> None:
    """The call raises ValueError or TypeError, and the message has every word."""
    try:
        value = call()
    except (ValueError, TypeError) as error:
        missing = [word for word in words if str(word) not in str(error)]
        require(not missing, f"the error does not name {missing}: {error}")
        return
    raise AssertionError(f"expected an error that names {list(words)}, found the value {value!r}")
