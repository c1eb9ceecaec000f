"""Many cases in one test: every case runs, and the failure names all that failed. Calls that raise an error."""

import functools
import inspect
import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import pytest

from fastmetrics._core.undefined import UndefinedMetricWarning

FAILURES = (Exception, pytest.fail.Exception)


class Case(NamedTuple):
    name: str
    arguments: dict[str, Any]


def each_case(names: str | Sequence[str], values: Iterable[Any], ids: Any = None) -> Callable[[Any], Any]:
    """As `pytest.mark.parametrize`, but all values run in one test, which costs much less than a test for each.

    On a class it holds for every test of the class. Two of them give the product. A test that asks for `monkeypatch`
    or `tmp_path` has a fresh one for each case.
    """
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    cases = [named_case(names, value, number, ids) for number, value in enumerate(values)]

    def decorate(test: Any) -> Any:
        if isinstance(test, type):
            for name in [name for name in vars(test) if name.startswith("test_")]:
                setattr(test, name, decorate(vars(test)[name]))
            return test
        one_case, inner_cases = getattr(test, "looped", (test, [Case("", {})]))
        product = [
            Case("-".join(filter(None, (inner.name, outer.name))), {**outer.arguments, **inner.arguments})
            for outer in cases
            for inner in inner_cases
        ]

        @functools.wraps(test)
        def loop(*args: Any, **fixtures: Any) -> None:
            run_cases(functools.partial(one_case, *args), product, fixtures)

        parameters = [own for name, own in inspect.signature(test).parameters.items() if name not in names]
        loop.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        loop.looped = one_case, product  # type: ignore[attr-defined]
        return loop

    return decorate


def run_cases(test: Callable[..., None], cases: Sequence[Case], fixtures: dict[str, Any]) -> None:
    """Run all cases; raise one error with all failures if there are any, skip if all cases skip."""
    failures, reasons = [], []
    for number, case in enumerate(cases):
        try:
            with pytest.MonkeyPatch.context() as monkeypatch:
                test(**case.arguments, **fresh(fixtures, monkeypatch, number))
        except pytest.skip.Exception as reason:
            reasons.append(str(reason))
        except FAILURES as failure:
            failure.add_note(f"case: {case.name}")
            failures.append((case.name, failure))
    if failures:
        named = ", ".join(name for name, _ in failures)
        raise BaseExceptionGroup(f"{len(failures)} of {len(cases)} cases failed: {named}", [own for _, own in failures])
    if len(reasons) == len(cases):
        pytest.skip(reasons[0] if reasons else "there is no case")


class ChecksOfNames:
    """Checks of functions or metrics, by name. A name has one test, which runs all of its checks.

    `@checks.of(names)` stands above a function that takes a name; `pytest -k NAME` still finds the tests of one name.
    """

    def __init__(self) -> None:
        self.cases: dict[str, list[Case]] = {}

    @property
    def names(self) -> list[str]:
        return list(self.cases)

    def of(self, names: Iterable[str]) -> Callable[[Any], Any]:
        def add(check: Any) -> Any:
            for name in names:
                cases = self.cases.setdefault(name, [])
                cases.append(Case(check.__name__, {"check": functools.partial(check, name=name)}))
            return check

        return add

    def run(self, name: str) -> None:
        """Run all checks of a name; the failure says which failed."""
        run_cases(lambda check: check(), self.cases[name], {})


def fresh(fixtures: dict[str, Any], monkeypatch: pytest.MonkeyPatch, number: int) -> dict[str, Any]:
    """The fixtures of one case."""
    own = dict(fixtures)
    if "monkeypatch" in own:
        own["monkeypatch"] = monkeypatch
    if "tmp_path" in own:
        own["tmp_path"] = fixtures["tmp_path"] / str(number)
        own["tmp_path"].mkdir()
    return own


def named_case(names: Sequence[str], value: Any, number: int, ids: Any) -> Case:
    """A case with the name that pytest would give."""
    chosen = None
    if hasattr(value, "values") and hasattr(value, "marks"):  # pytest.param
        if value.marks:
            raise TypeError("a case of a loop has no marks")
        chosen, value = value.id, value.values if len(names) > 1 else value.values[0]
    values = list(value) if len(names) > 1 else [value]
    if len(values) != len(names):
        raise ValueError(f"{len(values)} values for {names}")
    arguments = dict(zip(names, values, strict=True))
    if chosen is None and ids is not None and not callable(ids):
        chosen = list(ids)[number]
    words = [word_of(own, f"{name}{number}", ids) for name, own in arguments.items()]
    return Case(str(chosen) if chosen is not None else "-".join(words), arguments)


def word_of(value: Any, otherwise: str, ids: Any) -> str:
    if callable(ids) and (word := ids(value)) is not None:
        return str(word)
    if isinstance(value, (str, int, float, bool, type(None))):
        return str(value)
    name = getattr(value, "__name__", None)
    return name if isinstance(name, str) else otherwise


def assert_raises(
    error: type[Exception] | tuple[type[Exception], ...],
    message: str,
    function: Callable[..., Any],
    /,
    *arguments: Any,
    **options: Any,
) -> None:
    """The call raises such an error; the regular expression `message` is found in its text."""
    with pytest.raises(error, match=message):
        function(*arguments, **options)


def assert_undefined(message: str, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> None:
    """The value is NaN, with an UndefinedMetricWarning whose text has the regular expression, if there is one."""
    with pytest.warns(UndefinedMetricWarning, match=message or None):
        assert math.isnan(function(*arguments, **options))


def without_warnings(function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any:
    """The result of a call whose warnings for users are ignored, such as that the value is undefined."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return function(*arguments, **options)
