"""The one list of metrics: names, parameters, exchange, statistics.

Exports, metric strings, tests, docs and benches read it. A family adds a metric with the `metric` decorator on
the function that finalises it. Metric strings look like "auc", "gauc(weight=pairs)", "ndcg(gain=exp2)@10"; `parse`
reads literals only and `repr` gives the canonical string back.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from fastmetrics._core.statistic import Value
from fastmetrics._version import __version__

EXCHANGES = ("none", "score", "group")
TARGETS = ("binary", "real", "graded", "text", "partition")
# Their metrics go without those of others: what they take are no numbers.
ALONE = ("text", "partition")
REQUIRED = "required"
BEST = ("highest", "lowest", "one", "zero", "none")
CUTOFF = "@k"  # ends the names of metrics that need a cutoff
# Compiled at first use: an import has nothing to parse.
METRIC_STRING = r"(?s)\s*([A-Za-z_][A-Za-z0-9_]*)\s*(?:\((.*)\))?\s*(?:@\s*([0-9]+))?\s*"
WORD = r"[A-Za-z_][A-Za-z0-9_]*"
BARE_WORD = r"(=\s*)([A-Za-z_][A-Za-z0-9_]*)(?=\s*(?:,|$))"
LITERAL_WORDS = ("True", "False", "None")


class IntervalSpec(NamedTuple):
    """How an interval of a metric comes from states, where rows are independent of each other: nothing is drawn again.

    `statistics(**parameters)` gives the statistics, of the metric's exchange; `find(parameters, level, *states)` the
    interval's low and high end and the standard error, or a text that says why there is none. `method` is what
    `ci_method` calls it. `compare(parameters, level, labels, first, second, n_threads)` gives the ends, the standard
    error and the two-sided p-value of the second model's value less the first's, from columns of rows; or a text.
    """

    method: str
    statistics: Callable[..., tuple[Any, ...]]
    find: Callable[..., tuple[float, float, float] | str]
    compare: Callable[..., tuple[float, float, float, float] | str]


class MetricSpec(NamedTuple):
    """A metric as the engine sees it.

    `statistics(**parameters)` gives the statistics it needs; `finalise(parameters, *states)` the Value. `check` maps a
    parameter to a function that raises ValueError for a value out of range; a tuple in its place lists the allowed
    values. `target` tells what labels are: of two classes ("binary"), any finite number ("real"), grades of the rows
    of a group ("graded"), none below zero unless `negative_grades`, reference texts beside scores that are texts too
    ("text"), or labels of any type beside scores that are labels too ("partition"). `cutoff` tells whether name@k may
    be asked for (True), has to be ("required"), or neither. `best` tells which value of two is better: the "highest",
    the "lowest", the nearest to "one" or "zero", or "none" where the value says nothing about a model.
    """

    name: str
    summary: str
    family: str
    exchange: str
    parameters: dict[str, Any]
    checks: dict[str, Any]
    statistics: Callable[..., tuple[Any, ...]]
    finalise: Callable[..., Value]
    function: Callable[..., Any] | None
    undefined: str
    default: bool
    cutoff: bool | str
    target: str
    negative_grades: bool
    best: str
    interval: IntervalSpec | None = None

    @property
    def word(self) -> str:
        """The name as metric strings begin: where a cutoff is required, `name` ends with "@k"."""
        return self.name.removesuffix(CUTOFF)

    @property
    def example(self) -> str:
        """The shortest string that asks for it."""
        return f"{self.word}@10" if self.cutoff == REQUIRED else self.name


FAMILIES: list[str] = []  # modules that enter their metrics when they are imported; the package's own file names them
PAGES: dict[str, str] = {}  # what may be shown as a page -> the module that makes it, above; named where families are
_specs: dict[str, MetricSpec] = {}


def known_specs() -> dict[str, MetricSpec]:
    """All metrics by name; families that nobody has used so far are imported."""
    for family in FAMILIES:
        import_module(family)
    return _specs


def metric(
    name: str,
    *,
    exchange: str,
    statistics: Callable[..., tuple[Any, ...]],
    function: Callable[..., Any] | None,
    undefined: str,
    parameters: dict[str, Any] | None = None,
    checks: dict[str, Any] | None = None,
    default: bool = True,
    cutoff: bool | str = False,
    target: str = "binary",
    negative_grades: bool = False,
    best: str = "highest",
    interval: IntervalSpec | None = None,
) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Enter the decorated finaliser as metric `name`; its docstring's first line is the summary.

    With cutoff="required" it is entered as "name@k", for another metric may have the name without a cutoff.
    """
    if exchange not in EXCHANGES:
        raise ValueError(f"exchange must be one of {EXCHANGES}; found {exchange!r}")
    if target not in TARGETS:
        raise ValueError(f"target must be one of {TARGETS}; found {target!r}")
    if target == "real" and exchange != "none":
        raise ValueError("target 'real' goes without an exchange: what they move are classes and grades")
    if target in ALONE and exchange != "none":
        raise ValueError(f"target {target!r} goes without an exchange: what they move are numbers")
    if target == "graded" and exchange != "group":
        raise ValueError("target 'graded' goes with the exchange by group alone: grades are compared inside groups")
    if cutoff not in (False, True, REQUIRED):
        raise ValueError(f"cutoff must be False, True or {REQUIRED!r}; found {cutoff!r}")
    if best not in BEST:
        raise ValueError(f"best must be one of {BEST}; found {best!r}")
    entry = name + CUTOFF if cutoff == REQUIRED else name

    def enter(finalise: Callable[..., Value]) -> Callable[..., Value]:
        with_cutoff = _specs.get(name) if cutoff == REQUIRED else _specs.get(name + CUTOFF)
        if entry in _specs or (cutoff and with_cutoff is not None and with_cutoff.cutoff):
            raise ValueError(f"metric {entry!r} is registered twice")
        summary = (finalise.__doc__ or "").strip().partition("\n")[0]
        family = finalise.__module__.split(".")[2]
        _specs[entry] = MetricSpec(
            entry, summary, family, exchange, parameters or {}, checks or {}, statistics, finalise, function, undefined,
            default, cutoff, target, negative_grades, best, interval,
        )  # fmt: skip
        return finalise

    return enter


class Metric:
    """A metric with its parameters: what a metric string means.

    Equal and hashed by meaning, so defaults may be spelt out or not.
    """

    __slots__ = ("arguments", "k", "spec")

    def __init__(self, spec: MetricSpec, arguments: dict[str, Any], k: int | None = None) -> None:
        self.spec = spec
        self.arguments = spec.parameters | arguments
        self.k = k

    def _identity(self) -> tuple[Any, ...]:
        return (self.spec.name, tuple(self.arguments.items()), self.k)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Metric) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __repr__(self) -> str:
        given = [
            f"{name}={spell(value)}" for name, value in self.arguments.items() if value != self.spec.parameters[name]
        ]
        return (
            self.spec.word + (f"({', '.join(given)})" if given else "") + (f"@{self.k}" if self.k is not None else "")
        )

    def statistics(self) -> tuple[Any, ...]:
        return self.spec.statistics(**self._all_arguments())

    def finalise(self, *states: Any) -> Value:
        return self.spec.finalise(self._all_arguments(), *states)

    def interval_statistics(self) -> tuple[Any, ...]:
        """What its interval comes from, where it has one without resampling."""
        return () if self.spec.interval is None else self.spec.interval.statistics(**self._all_arguments())

    def find_interval(self, level: float, *states: Any) -> tuple[float, float, float] | str:
        """Low and high end, and the standard error; or why there is no interval."""
        if self.spec.interval is None:
            raise ValueError(f"metric {self!r} has no interval without resampling")
        return self.spec.interval.find(self._all_arguments(), level, *states)

    def compare_rows(
        self, level: float, labels: Any, first: Any, second: Any, n_threads: int
    ) -> tuple[float, float, float, float] | str:
        """Low and high end, standard error and p-value of a difference; or why there are none."""
        if self.spec.interval is None:
            raise ValueError(f"metric {self!r} has no interval without resampling")
        return self.spec.interval.compare(self._all_arguments(), level, labels, first, second, n_threads)

    def _all_arguments(self) -> dict[str, Any]:
        return self.arguments | {"k": self.k} if self.spec.cutoff else self.arguments

    def signature(self, coverage: dict[str, Any], weight: str | None = None, approximate: bool = False) -> str:
        """Everything needed to compute the number again; `weight` is the column of row weights."""
        parts = [self.spec.word + (f"@{self.k}" if self.k is not None else "")]
        parts += [f"{name}:{spell(value)}" for name, value in self.arguments.items()]
        if weight is not None:
            parts.append(f"weight:{weight}")
        if approximate:
            parts.append("approximate:interval")
        if "groups" in coverage:
            parts.append(f"groups:{coverage['groups']}")
        return "|".join([*parts, f"v:{__version__}"])


def spell(value: Any) -> str:
    """A parameter's value as a metric string writes it: words without quotes."""
    return value if isinstance(value, str) and re.fullmatch(WORD, value) and value not in LITERAL_WORDS else repr(value)


def list_metrics() -> list[str]:
    """The names of all metrics that `evaluate` and the command line know.

    Returns
    -------
    list of str
        Sorted names, without parameters; those that need a cutoff end with "@k".

    Examples
    --------
    >>> import fastmetrics as fm
    >>> "gauc" in fm.list_metrics()
    True
    """
    return sorted(known_specs())


def describe_metrics() -> list[MetricSpec]:
    """Every metric's entry: name, summary, family, exchange, parameters with defaults, function.

    Returns
    -------
    list of MetricSpec
        Sorted by name.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> [spec.exchange for spec in fm.describe_metrics() if spec.name == "auc"]
    ['score']
    """
    specs = known_specs()
    return [specs[name] for name in sorted(specs)]


def parse(text: str | Metric) -> Metric:
    """Read a metric string.

    Parameters
    ----------
    text : str or Metric
        A name, parameters as literals or bare words in parentheses, a cutoff after "@".

    Returns
    -------
    Metric

    Raises
    ------
    ValueError
        An unknown name or parameter (the nearest known ones are named), a value that is no literal or not allowed, a
        cutoff that is missing or not taken.

    Examples
    --------
    >>> import fastmetrics
    >>> from fastmetrics._core.registry import parse
    >>> parse("gauc( weight = 'pairs' )")
    gauc(weight=pairs)
    """
    if isinstance(text, Metric):
        return text
    match = re.fullmatch(METRIC_STRING, text) if isinstance(text, str) else None
    if match is None:
        raise ValueError(f"{text!r} is no metric; write name, name(parameter=value) or name@10")
    name, inside, cutoff = match.groups()
    spec = find_spec(name, cutoff)
    k = int(cutoff) if cutoff is not None else None
    if k == 0:
        raise ValueError(f"the cutoff of {name!r} must be at least 1; found @0")
    return Metric(spec, read_arguments(spec, inside or "", text), k)


def find_spec(name: str, cutoff: str | None) -> MetricSpec:
    """The metric of a name: with a cutoff and without one it may be two."""
    specs = known_specs()
    without, needing = specs.get(name), specs.get(name + CUTOFF)
    if without is None and needing is None:
        raise ValueError(f"unknown metric {name!r}; {nearest(name, sorted(specs))}")
    if cutoff is None:
        if without is None:
            raise ValueError(f"metric {name!r} needs a cutoff: write {name}@10")
        return without
    spec = needing or without
    if spec is None or not spec.cutoff:
        raise ValueError(f"metric {name!r} takes no cutoff; found @{cutoff}")
    return spec


def quote(word: str) -> str:
    return word if word in LITERAL_WORDS else repr(word)


def read_arguments(spec: MetricSpec, inside: str, text: str) -> dict[str, Any]:
    # Bare words are strings, Python's keywords ("raise") among them.
    inside = re.sub(BARE_WORD, lambda found: found[1] + quote(found[2]), inside)
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
    except SyntaxError:
        call = None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
        raise ValueError(f"cannot read the parameters of {text!r}; write them as name=value")
    arguments: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg in arguments:
            raise ValueError(f"{keyword.arg} is given twice in {text!r}")
        if keyword.arg not in spec.parameters:
            known = list(spec.parameters)
            advice = nearest(str(keyword.arg), known) if known else "it takes none"
            raise ValueError(f"metric {spec.name!r} has no parameter {keyword.arg!r}; {advice}")
        try:
            value = ast.literal_eval(keyword.value)
        except ValueError:
            raise ValueError(f"{keyword.arg} in {text!r} must be a literal") from None
        check_argument(spec, keyword.arg, value)
        arguments[keyword.arg] = value
    return arguments


def check_argument(spec: MetricSpec, name: str, value: Any) -> None:
    check = spec.checks.get(name)
    if isinstance(check, tuple):
        if value not in check:
            raise ValueError(
                f"{name} of metric {spec.name!r} must be one of {', '.join(map(str, check))}; found {value!r}"
            )
    elif check is not None:
        check(value)


def nearest(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    words = get_close_matches(name, [own.removesuffix(CUTOFF) for own in known], n=3, cutoff=0.5)
    close = [own for word in dict.fromkeys(words) for own in known if own.removesuffix(CUTOFF) == word]
    return f"did you mean {' or '.join(map(repr, close))}?" if close else f"known: {', '.join(known)}"
