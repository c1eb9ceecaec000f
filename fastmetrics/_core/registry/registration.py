"""The one list of metrics: names, parameters, exchanges, statistics.

Metric strings, tests, docs and benchmarks read it. A module registers a metric with the `metric` decorator on the
function that finalizes it. `find_spec` looks a name up, or says which names are like it.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.immutable import EMPTY
from fastmetrics._core.kinds import CLASSES, GROUP_ROLE, Kind, Roles
from fastmetrics._core.metric_spec import (
    CUTOFF,
    DIRECTIONS,
    EXCHANGES,
    REQUIRED,
    SCALES,
    IntervalSpec,
    MetricSpec,
)
from fastmetrics._core.registry.spellings import key_of
from fastmetrics._core.registry.statistics import check_statistic
from fastmetrics._core.statistic import Statistic, Value
from fastmetrics._core.upper_layers import METRIC_PACKAGES

Finalizer = TypeVar("Finalizer", bound=Callable[..., Value | float])
RESERVED_ROLES = (GROUP_ROLE, "weight", "by", "unit")  # every metric may have these columns
PLUGIN_GROUP = "fastmetrics_metrics"  # the group of entry points by which packages name modules with metrics
_specs: dict[str, MetricSpec] = {}
# Normalized names and aliases, those that may have a cutoff with "@k" (a metric with an optional cutoff has both).
_spec_of_spelling: dict[str, MetricSpec] = {}
_options_of_spelling: dict[str, tuple[str, ...]] = {}  # of aliases that mean options
_spelling_of_key: dict[str, str] = {}  # without what makes no difference
# By string and roles of a model's columns: the `Metric`s of the last calls, which `parse` uses again.
parsed_metrics: dict[tuple[str, tuple[str, ...]], Any] = {}


def known_specs() -> dict[str, MetricSpec]:
    """All metrics by name. The first call imports every module of the packages of metrics."""
    for package in METRIC_PACKAGES:
        import_modules(package)
    return _specs


@cache
def load_plugins() -> None:
    """Import the modules that installed packages name in the group of entry points PLUGIN_GROUP."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=PLUGIN_GROUP):
        import_plugin(entry.value.partition(":")[0], f"entry point {entry.name!r}")


def import_plugin(module: str, named_by: str) -> None:
    """Import a module that registers metrics. An error names the module and what named it."""
    try:
        import_module(module)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ImportError(f"{named_by}: module {module!r} with metrics cannot be imported ({reason})") from error


@cache
def import_modules(package: str) -> None:
    from pkgutil import walk_packages  # a slow import

    for module in walk_packages(import_module(package).__path__, f"{package}."):
        import_module(module.name)


@answers_unknown
def metric(
    name: str,
    *,
    exchange: str,
    statistics: Statistic | Callable[..., tuple[Any, ...]],
    function: Callable[..., Any] | None = None,
    undefined: str = "0 / 0",
    parameters: dict[str, Any] | None = None,
    checks: dict[str, Any] | None = None,
    default: bool = True,
    cutoff: bool | str = False,
    roles: Roles = CLASSES,
    direction: str = "maximize",
    scale: str | Callable[..., str] = "real",
    no_interval: str | None = None,
    interval: IntervalSpec | None = None,
    variants: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    option_aliases: Mapping[str, str] = EMPTY,
    near_names: Mapping[str, str] = EMPTY,
    many: Callable[..., Any] | None = None,
    influence: Callable[..., Any] | None = None,
) -> Callable[[Finalizer], Finalizer]:
    """Register a metric: a decorator of the function that makes its value from the states of its statistics.

    The decorated function is ``finalize(parameters, *states)``: `parameters` is a dict of the options of the metric
    string, `states` are those of `statistics`, in their order. It returns a float, or a `Value`. The first line of its
    docstring is the summary of the metric. The entry is a `fastmetrics.MetricSpec` of `fastmetrics.list_metrics`.

    Parameters
    ----------
    name : str
        What metric strings begin with. Neither case nor "-" and "_" make a difference.
    exchange : {"none", "range", "hash"}
        Which rows have to meet. "none": no rows; statistics are a `RowStatistic`. "range": rows with neighboring
        scores, `ScoreRangeStatistic`. "hash": the rows of a group, `GroupStatistic` or `GroupKeyStatistic`.
    statistics : statistic or callable
        One statistic; or a function of the parameters, ``statistics(**parameters)``, that returns a tuple of them.
    function : callable, optional
        A function of arrays with the same number: it may stand in lists of metrics, and `fastmetrics.testing` compares
        the two.
    undefined : str
        When the metric is undefined, in words: the reason of every NaN that is returned as a float.
    parameters : dict of str, optional
        The options of metric strings with their defaults: ``{"power": 1.0}`` for "name(power=2)".
    checks : dict, optional
        Parameter -> a tuple of the allowed values, or a function of a value that raises ValueError if it is out of
        range. A parameter without a check may be any literal.
    default : bool
        Is it evaluated when no metrics are named and its columns are given?
    cutoff : {False, True, "required"}
        May metric strings end with "@k"? The parameters then have "k". "required": they must, the metric is registered
        as "name@k", and another one may have the name without a cutoff.
    roles : mapping of str to Kind, optional
        The columns that it reads, by role, each with its kind: ``{"reward": Real()}``. By default labels and scores,
        ``{"label": Binary(), "score": Real()}``. The words "group", "weight", "by", "unit" and those of parameters are
        no roles.
    direction : {"maximize", "minimize", "closest_to_one", "closest_to_zero", "none"}
        Which of two values is better; "none" where the value says nothing about a model.
    scale : {"share", "mean", "percentage", "correlation", "explained", "ratio", "nonnegative", "real"} or callable
        The numbers that the value may be, which intervals do not leave: "share" and "mean" are in [0, 1], "percentage"
        in [0, 100], "correlation" in [-1, 1], "explained" at most 1, "ratio" and "nonnegative" at least 0, "real" any.
        Intervals of a "share" are symmetric on the logit scale, those of a "ratio" on the logarithmic one. Where
        options change it, a function of the parameters that returns the word.
    no_interval : str, optional
        The reason why no interval of the metric is valid, by whatever method.
    interval : IntervalSpec, optional
        An interval from the states themselves, of independent rows; `ci_method` "delong" asks for it.
    variants : tuple of str
        Metric strings with other parameters than the defaults, which `fastmetrics.testing` checks too.
    aliases : tuple of str
        Other names of the same number, without "@k".
    option_aliases : mapping of str to str
        Names of the metric with options: ``{"name_macro": "average=macro"}``. They end with "@k" where they need one.
    near_names : mapping of str to str
        Names of other numbers that people may type for this metric, each with a sentence that says what to type.
    many : callable, optional
        ``many(parameters, *states)``: the values of many states at once, each statistic's as a `ManySums`; the bits of
        the finalizer, or NaN where it has to be asked. Or a pair: these values, and a mask of those that are certainly
        undefined, for which it is not asked. Linearized intervals take less time with it.
    influence : callable, optional
        ``influence(**parameters)``: what rows add to the value to first order, for linearized intervals of metrics
        whose states are no sums. A `ScoreInfluence`, a `ClassesInfluence` or a `PairInfluence`; `BinErrors`, if an
        interval has to allow for the noise of bins; a text with the reason why there is no such interval; or None.

    Returns
    -------
    callable
        The decorator, which returns the function as it is.

    Raises
    ------
    ValueError
        An option has another value than those above, the name or an alias is that of another metric, a role is a word
        with another meaning, or a kind does not fit the exchange.
    TypeError
        A role has no kind, or a statistic is not one of the exchange.

    Examples
    --------
    >>> import numpy as np
    >>> import fastmetrics as fm
    >>> from fastmetrics.extend import Real, RowStatistic, divide, metric
    >>> class Powers(RowStatistic):
    ...     'The sum of the absolute errors to a power, and the number of rows.'
    ...
    ...     __slots__ = ("power",)
    ...     sums = ("errors", "rows")
    ...
    ...     def __init__(self, power):
    ...         self.power = power
    ...
    ...     def terms(self, columns):
    ...         return {"errors": abs(columns.label - columns.score) ** self.power, "rows": np.ones(columns.rows)}
    >>> @metric(
    ...     "power_error", exchange="none", statistics=lambda power: (Powers(power),), parameters={"power": 1.0},
    ...     checks={"power": (1.0, 2.0, 4.0)}, roles={"label": Real(), "score": Real()}, direction="minimize",
    ...     scale="nonnegative", variants=("power_error(power=2)",),
    ... )
    ... def power_error(parameters, sums):
    ...     'The mean of a power of the absolute errors.'
    ...     return divide(sums["errors"], sums["rows"])
    >>> log = {"price": [3.0, 5.0], "guess": [1.0, 4.0]}
    >>> report = fm.evaluate(log, "power_error, power_error(power=2)", label="price", score="guess")
    >>> report["power_error"], report["power_error(power=2)"]
    (1.5, 2.5)
    """
    for option, value, allowed in (
        ("exchange", exchange, EXCHANGES),
        ("direction", direction, DIRECTIONS),
        ("scale", "real" if callable(scale) else scale, tuple(SCALES)),
    ):
        if value not in allowed:
            raise ValueError(f"{option} must be one of {allowed}; found {value!r}")
    for role, kind in roles.items():
        if not isinstance(kind, Kind):
            raise TypeError(f"role {role!r} of metric {name!r} must have a kind, such as Real(); found {kind!r}")
        if role in (parameters or {}) or role in RESERVED_ROLES or not (role.isascii() and role.isidentifier()):
            raise ValueError(f"metric {name!r} cannot have a role {role!r}: the word has another meaning")
        if exchange != "none" and not kind.is_numeric:
            raise ValueError(f"metric {name!r} needs exchange 'none': exchanges move numbers, and {role!r} is {kind!r}")
        if exchange != "none" and kind.has_vectors:
            raise ValueError(f"metric {name!r} needs exchange 'none': role {role!r} has several numbers in a row")
    if cutoff not in (False, True, REQUIRED):
        raise ValueError(f"cutoff must be False, True or {REQUIRED!r}; found {cutoff!r}")
    suffix = CUTOFF if cutoff == REQUIRED else ""

    def register(finalize: Finalizer) -> Finalizer:
        summary = (finalize.__doc__ or "").strip().partition("\n")[0]
        if not is_own(finalize.__module__):
            known_specs()  # a name that the library has is refused here, not there
            if isinstance(statistics, Statistic):
                check_statistic(name, exchange, statistics)
        spec = MetricSpec(
            name + suffix, summary, family_of(finalize.__module__), exchange, parameters or {}, checks or {},
            (lambda: (statistics,)) if isinstance(statistics, Statistic) else statistics, finalize,
            function, undefined, default, cutoff, roles, direction, scale, no_interval, interval, variants,
            tuple(alias + suffix for alias in aliases), option_aliases, near_names, (), many, influence,
        )  # fmt: skip
        add_spec(spec)
        return finalize

    return register


def add_spec(spec: MetricSpec) -> None:
    """Register a metric. A name or an alias that has a meaning already is an error."""
    names = spec.base_name, *(alias.removesuffix(CUTOFF) for alias in spec.aliases)
    spellings = {spelling: own for own in names for spelling in spellings_of(own, spec.cutoff)}
    for alias in spec.option_aliases:
        spellings[normalize(alias)] = alias.removesuffix(CUTOFF)
    for spelling, own in spellings.items():
        check_spelling(spec, own, _spec_of_spelling.get(spelling))
    _spec_of_spelling.update(dict.fromkeys(spellings, spec))
    _spelling_of_key.update({key_of(spelling): spelling for spelling in spellings})
    options = {normalize(alias): (own,) for alias, own in spec.option_aliases.items() if own}
    _options_of_spelling.update(options)
    _specs[spec.name] = spec
    forget_parsed()


def own_metrics_with(statistic: Statistic) -> list[str]:
    """The names of the metrics outside of the library that have a statistic of this type, for errors."""
    found = []
    for spec in _specs.values():
        if not is_own(spec.finalize.__module__):
            try:
                own = spec.statistics(**spec.parameters)
            except Exception:  # noqa: BLE001 - parameters may have no default that the statistic takes
                continue
            found += [spec.name] if statistic in own else []
    return found


def replace_spec(spec: MetricSpec) -> None:
    """Register a metric that may be registered already, by the same module."""
    earlier = known_specs().get(spec.name)
    if earlier is not None and earlier.finalize.__module__ == spec.finalize.__module__:
        for spelling in [spelling for spelling, own in _spec_of_spelling.items() if own is earlier]:
            del _spec_of_spelling[spelling]
        del _specs[spec.name]
    add_spec(spec)


def form_of(name: str, place: int, modules: tuple[str, ...]) -> MetricSpec:
    """A form of a metric. A worker imports the modules of its forms alone, if these are where it is registered."""
    for module in modules:
        import_module(module)
    if name not in _specs or len(_specs[name].forms) < len(modules):
        known_specs()
    return _specs[name].forms[place]


def reduce_spec(spec: MetricSpec) -> Any:
    """Pickles and copies have the name of a metric of the library, whose functions they need not hold."""
    if not is_own(spec.finalize.__module__):
        return object.__reduce_ex__(spec, 2)  # another process may not have it
    forms = known_specs()[spec.name].forms
    modules = tuple(form.finalize.__module__ for form in forms)
    return form_of, (spec.name, next(place for place, form in enumerate(forms) if form is spec), modules)


copyreg.pickle(MetricSpec, reduce_spec)


def forget_parsed() -> None:
    """Let every metric string be read again: another dict, for a thread may just be filling this one."""
    global parsed_metrics
    parsed_metrics = {}


def is_own(module: str) -> bool:
    """Does the module belong to a package of the library?"""
    return any(module.startswith(f"{package}.") for package in METRIC_PACKAGES)


def family_of(module: str) -> str:
    """The package of `fastmetrics.metrics` that a module belongs to; other modules are families of their own."""
    package = next((package for package in METRIC_PACKAGES if module.startswith(f"{package}.")), None)
    return module if package is None else module.removeprefix(f"{package}.").partition(".")[0]


def metric_form(
    name: str,
    *,
    roles: Roles,
    statistics: Callable[..., tuple[Any, ...]],
    undefined: str,
    parameters: dict[str, Any] | None = None,
    checks: dict[str, Any] | None = None,
    variants: tuple[str, ...] = (),
    default: bool = False,
    has_function: bool = True,
    many: Callable[..., Any] | None = None,
    influence: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Register the decorated finalizer as another form of metric `name`: of other columns of a model than scores.

    A metric string means it if it names such a column, or a parameter that only this form has; or if the caller has
    such a column and none of an earlier role in `MODEL_ROLES` for which the metric has a form. `has_function`: the
    metric's function computes this form too.
    """

    def register(finalize: Callable[..., Value]) -> Callable[..., Value]:
        spec = _specs[name]
        form = replace(
            spec, roles=roles, statistics=statistics, undefined=undefined, parameters=parameters or {},
            checks=checks or {}, variants=variants, finalize=finalize, interval=None, default=default,
            other_forms=(), many=many, influence=influence, summary=(finalize.__doc__ or "").strip().partition("\n")[0],
            function=spec.function if has_function else None,
        )  # fmt: skip
        new = replace(spec, other_forms=(*spec.other_forms, form))
        _specs[name] = new
        _spec_of_spelling.update({spelling: new for spelling, known in _spec_of_spelling.items() if known is spec})
        forget_parsed()
        return finalize

    return register


def normalize(name: str) -> str:
    """A name as it is looked up: neither case counts, nor hyphen or underscore."""
    return name.lower().replace("-", "_")


def spellings_of(name: str, cutoff: bool | str) -> list[str]:
    """What a metric string may look like: with a cutoff, without, or both."""
    without = [] if cutoff == REQUIRED else [normalize(name)]
    return without + ([normalize(name) + CUTOFF] if cutoff else [])


def check_spelling(spec: MetricSpec, name: str, other: MetricSpec | None) -> None:
    """Raise if a name or an alias of a new metric is already that of another metric."""
    if other is None:
        return
    if name == spec.base_name == other.base_name:
        raise ValueError(f"metric {spec.name!r} is registered twice")
    raise ValueError(f"metric {spec.name!r} cannot be called {name!r}: that is metric {other.name!r}")


def find_spelling(name: str, has_cutoff: bool) -> tuple[MetricSpec, tuple[str, ...]] | None:
    """The metric of this name or alias, and the options that the alias means. "name" and "name@k" may differ."""
    suffix = CUTOFF if has_cutoff else ""
    spelling = normalize(name) + suffix
    if spelling not in _spec_of_spelling:
        spelling = _spelling_of_key.get(key_of(name) + suffix, "")
    spec = _spec_of_spelling.get(spelling)
    return None if spec is None else (spec, _options_of_spelling.get(spelling, ()))


def metrics_by_name() -> dict[str, list[tuple[MetricSpec, str]]]:
    """The metrics of every name and alias, normalized, each with the name as it is written."""
    found: dict[str, list[tuple[MetricSpec, str]]] = {}
    for spec in _specs.values():
        for name in (spec.base_name, *(alias.removesuffix(CUTOFF) for alias in spec.aliases)):
            found.setdefault(normalize(name), []).append((spec, name))
    return found
