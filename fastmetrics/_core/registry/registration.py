"""The one list of metrics: names, parameters, exchanges, statistics.

Metric strings, tests, docs and benchmarks read it. A module registers a metric with the `metric` decorator on the
function that finalises it. `find_spec` looks a name up, or says which names are like it.
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

Finaliser = TypeVar("Finaliser", bound=Callable[..., Value | float])
RESERVED_ROLES = (GROUP_ROLE, "weight", "by", "unit")  # every metric may have these columns
PLUGIN_GROUP = "fastmetrics_metrics"  # the group of entry points by which packages name modules with metrics
_specs: dict[str, MetricSpec] = {}
# Normalised names and aliases, those that may have a cutoff with "@k" (a metric with an optional cutoff has both).
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
) -> Callable[[Finaliser], Finaliser]:
    """Register the decorated finaliser as metric `name`. The first line of its docstring is the summary.

    `statistics` may also be one statistic, if the metric has no parameters. A finaliser may return a float; NaN then
    has the reason `undefined`.

    With cutoff="required" the metric is registered as "name@k": another metric may have the name without a cutoff.
    Aliases are written without "@k". A name or an alias that has a meaning already is an error. The parameters are
    those of `MetricSpec`.
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

    def register(finalise: Finaliser) -> Finaliser:
        summary = (finalise.__doc__ or "").strip().partition("\n")[0]
        if not is_own(finalise.__module__):
            known_specs()  # a name that the library has is refused here, not there
            if isinstance(statistics, Statistic):
                check_statistic(name, exchange, statistics)
        spec = MetricSpec(
            name + suffix, summary, family_of(finalise.__module__), exchange, parameters or {}, checks or {},
            (lambda: (statistics,)) if isinstance(statistics, Statistic) else statistics, finalise,
            function, undefined, default, cutoff, roles, direction, scale, no_interval, interval, variants,
            tuple(alias + suffix for alias in aliases), option_aliases, near_names, (), many, influence,
        )  # fmt: skip
        add_spec(spec)
        return finalise

    return register


def add_spec(spec: MetricSpec) -> None:
    """Register a metric. A name or an alias that has a meaning already is an error."""
    names = spec.base_name, *(alias.removesuffix(CUTOFF) for alias in spec.aliases)
    spellings = {spelling: own for own in names for spelling in spellings_of(own, spec.cutoff)}
    for alias in spec.option_aliases:
        spellings[normalise(alias)] = alias.removesuffix(CUTOFF)
    for spelling, own in spellings.items():
        check_spelling(spec, own, _spec_of_spelling.get(spelling))
    _spec_of_spelling.update(dict.fromkeys(spellings, spec))
    _spelling_of_key.update({key_of(spelling): spelling for spelling in spellings})
    options = {normalise(alias): (own,) for alias, own in spec.option_aliases.items() if own}
    _options_of_spelling.update(options)
    _specs[spec.name] = spec
    forget_parsed()


def own_metrics_with(statistic: Statistic) -> list[str]:
    """The names of the metrics outside of the library that have a statistic of this type, for errors."""
    found = []
    for spec in _specs.values():
        if not is_own(spec.finalise.__module__):
            try:
                own = spec.statistics(**spec.parameters)
            except Exception:  # noqa: BLE001 - parameters may have no default that the statistic takes
                continue
            found += [spec.name] if statistic in own else []
    return found


def replace_spec(spec: MetricSpec) -> None:
    """Register a metric that may be registered already, by the same module."""
    earlier = known_specs().get(spec.name)
    if earlier is not None and earlier.finalise.__module__ == spec.finalise.__module__:
        for spelling in [spelling for spelling, own in _spec_of_spelling.items() if own is earlier]:
            del _spec_of_spelling[spelling]
        del _specs[spec.name]
    add_spec(spec)


def form_of(name: str, place: int) -> MetricSpec:
    return known_specs()[name].forms[place]


def reduce_spec(spec: MetricSpec) -> Any:
    """Pickles and copies have the name of a metric of the library, whose functions they need not hold."""
    if not is_own(spec.finalise.__module__):
        return object.__reduce_ex__(spec, 2)  # another process may not have it
    forms = known_specs()[spec.name].forms
    return form_of, (spec.name, next(place for place, form in enumerate(forms) if form is spec))


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
    """Register the decorated finaliser as another form of metric `name`: of other columns of a model than scores.

    A metric string means it if it names such a column, or a parameter that only this form has; or if the caller has
    such a column and none of an earlier role in `MODEL_ROLES` for which the metric has a form. `has_function`: the
    metric's function computes this form too.
    """

    def register(finalise: Callable[..., Value]) -> Callable[..., Value]:
        spec = _specs[name]
        form = replace(
            spec, roles=roles, statistics=statistics, undefined=undefined, parameters=parameters or {},
            checks=checks or {}, variants=variants, finalise=finalise, interval=None, default=default,
            other_forms=(), many=many, influence=influence, summary=(finalise.__doc__ or "").strip().partition("\n")[0],
            function=spec.function if has_function else None,
        )  # fmt: skip
        new = replace(spec, other_forms=(*spec.other_forms, form))
        _specs[name] = new
        _spec_of_spelling.update({spelling: new for spelling, known in _spec_of_spelling.items() if known is spec})
        forget_parsed()
        return finalise

    return register


def normalise(name: str) -> str:
    """A name as it is looked up: neither case counts, nor hyphen or underscore."""
    return name.lower().replace("-", "_")


def spellings_of(name: str, cutoff: bool | str) -> list[str]:
    """What a metric string may look like: with a cutoff, without, or both."""
    without = [] if cutoff == REQUIRED else [normalise(name)]
    return without + ([normalise(name) + CUTOFF] if cutoff else [])


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
    spelling = normalise(name) + suffix
    if spelling not in _spec_of_spelling:
        spelling = _spelling_of_key.get(key_of(name) + suffix, "")
    spec = _spec_of_spelling.get(spelling)
    return None if spec is None else (spec, _options_of_spelling.get(spelling, ()))


def metrics_by_name() -> dict[str, list[tuple[MetricSpec, str]]]:
    """The metrics of every name and alias, normalised, each with the name as it is written."""
    found: dict[str, list[tuple[MetricSpec, str]]] = {}
    for spec in _specs.values():
        for name in (spec.base_name, *(alias.removesuffix(CUTOFF) for alias in spec.aliases)):
            found.setdefault(normalise(name), []).append((spec, name))
    return found
