"""Values compared bit by bit, and failures that say what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.named_tuples import NamedTuple


class DoesNotApply(Exception):  # noqa: N818 - no error
    """A check says why it has nothing to check."""


class Check(NamedTuple):
    """The name of a check, and a function without arguments that raises AssertionError if the check fails.

    The function returns what it did: the number of cases, and why others were not checked.
    """

    name: str
    run: Callable[[], Passed]


class Passed(NamedTuple):
    """A check that passed: its name, the promise, the number of cases, and why the others were not checked."""

    name: str
    promise: str
    cases: int
    left_out: str = ""


class PassedChecks(tuple[Passed, ...]):
    """The checks that a metric or function passed, one `Passed` each; printed as a table."""

    subject: str

    def __repr__(self) -> str:
        done = [check for check in self if check.cases]
        lines = [f"{self.subject} passed {len(done)} checks in {sum(check.cases for check in done)} cases"]
        width = max((len(check.name) for check in self), default=0)
        lines += [f"  {check.name:<{width}}  {check.cases:>3}  {check.promise}" for check in done]
        lines += [f"  {check.name:<{width}}    -  not checked: {check.left_out}" for check in self if not check.cases]
        return "\n".join(lines)


def make_checks(
    subject: str,
    functions: Sequence[Callable[[Any], None]],
    cases: Callable[[], Any],
    shorter: Callable[[Any, str], Iterator[tuple[Any, str]]] | None = None,
    what: str = "",
) -> Iterator[Check]:
    """A check for each function; it is called with every case. Cases are made when a check runs.

    A case that fails is tried with fewer rows: `shorter` yields such cases, each with its rows in words.
    """

    def bind(function: Callable[[Any], None]) -> Callable[[], Passed]:
        def run() -> Passed:
            count, left_out = 0, ""
            for case in cases():
                try:
                    function(case)
                    count += 1
                except DoesNotApply as reason:
                    left_out = str(reason)
                except Exception as error:
                    found = failure(function, case, error)
                    raise AssertionError(f"{subject}: check {function.__name__} failed for {case}: {found}") from error
            promise = (function.__doc__ or "").partition("\n")[0].rstrip(".")
            return Passed(function.__name__ + what, promise, count, left_out or "it has no such case")

        return run

    def failure(function: Callable[[Any], None], case: Any, error: Exception) -> str:
        """What failed, with the first rows of the sample log that are enough for it."""
        for few, rows in shorter(case, function.__name__) if shorter else ():
            try:
                function(few)
            except Exception as smaller:  # noqa: BLE001 - another error is no smaller case of this one
                if type(smaller) is type(error):
                    return f"{words_of(smaller)}; {rows}"
        return words_of(error)

    for function in functions:
        yield Check(function.__name__, bind(function))


def words_of(error: Exception) -> str:
    return str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"


def run_all(subject: str, checks: Iterator[Check]) -> PassedChecks:
    """Run all checks, and return what they did; raise one AssertionError that has the failures of all."""
    failures, passed = [], []
    for _, run in checks:
        try:
            passed.append(run())
        except AssertionError as error:
            failures.append(error)
    if failures:
        lines = "\n".join(map(str, failures))
        raise AssertionError(f"{subject} fails {len(failures)} checks:\n{lines}") from failures[0]
    done = PassedChecks(passed)
    done.subject = subject
    return done


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
