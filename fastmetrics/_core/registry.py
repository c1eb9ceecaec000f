"""The one list of metrics: names, parameters, exchanges, statistics.

Metric strings, tests, docs and benchmarks read it. A module registers a metric with the `metric` decorator on the
function that finalises it. Metric strings look like "auc", "gauc(weight=pairs)" or "ndcg(gain=exp2)@10". `parse`
reads literals only, and `repr` returns the canonical string.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar

from fastmetrics._core.group_stat import STAT_DEFAULTS, check_group_values, read_stat
from fastmetrics._core.immutable import EMPTY
from fastmetrics._core.kinds import (
    CLASSES,
    LABEL_ROLE,
    SCORE_ROLE,
    Kind,
    Roles,
)
from fastmetrics._core.metric_spec import (
    CUTOFF,
    DIRECTIONS,
    EXCHANGES,
    REQUIRED,
    Exchange,
    IntervalSpec,
    MetricSpec,
)
from fastmetrics._core.metric_strings import METRIC_STRING, format_columns, format_value, read_columns, read_keywords
from fastmetrics._core.statistic import TINY_WEIGHTS, Statistic, SumStatistic, Value
from fastmetrics._core.suggestions import MOST_SUGGESTED, ask_for, close_matches, suggest
from fastmetrics._core.types.metric_names import MetricNames
from fastmetrics._version import __version__

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike

__all__ = ["Metric", "describe_metrics", "list_metrics"]

# What the signature of a metric says that does not read scores, by target.
COLUMNS_OF_TARGET = {"prediction": "of:predictions", "probabilities": "of:probabilities"}
GROUP_ROLE = "group"  # the role of the keys by which the hash exchange brings rows together
Finaliser = TypeVar("Finaliser", bound=Callable[..., Value | float])
RESERVED_ROLES = (GROUP_ROLE, "weight", "by", "unit")  # every metric may have these columns
NEGATED = "neg_"  # begins the names of scikit-learn's scorers of losses


METRIC_PACKAGES: list[str] = []  # packages whose modules register metrics; fastmetrics/__init__.py fills the list
_specs: dict[str, MetricSpec] = {}
# Normalised names and aliases, those that may have a cutoff with "@k" (a metric with an optional cutoff has both).
_spec_of_spelling: dict[str, MetricSpec] = {}
# By string and roles of a model's columns: the metrics of the last calls, which are used again.
_parsed: dict[tuple[str, tuple[str, ...]], Metric] = {}
MOST_PARSED = 1000


def known_specs() -> dict[str, MetricSpec]:
    """All metrics by name. The first call imports every module of the packages of metrics."""
    for package in METRIC_PACKAGES:
        import_modules(package)
    return _specs


PLUGIN_GROUP = "fastmetrics_metrics"  # the group of entry points by which packages name modules with metrics


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
    interval: IntervalSpec | None = None,
    variants: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    near_names: Mapping[str, str] = EMPTY,
    added: tuple[str, ...] = (),
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
        spec = MetricSpec(
            name + suffix, summary, family_of(finalise.__module__), Exchange(exchange), parameters or {}, checks or {},
            (lambda: (statistics,)) if isinstance(statistics, Statistic) else statistics, finalise,
            function, undefined, default, cutoff, roles, direction, interval, variants,
            tuple(alias + suffix for alias in aliases), near_names, (), added,
        )  # fmt: skip
        add_spec(spec)
        return finalise

    return register


def add_spec(spec: MetricSpec) -> None:
    """Register a metric. A name or an alias that has a meaning already is an error."""
    names = spec.base_name, *(alias.removesuffix(CUTOFF) for alias in spec.aliases)
    spellings = {spelling: own for own in names for spelling in spellings_of(own, spec.cutoff)}
    for spelling, own in spellings.items():
        check_spelling(spec, own, _spec_of_spelling.get(spelling))
    _spec_of_spelling.update(dict.fromkeys(spellings, spec))
    _specs[spec.name] = spec
    forget_parsed()


def replace_spec(spec: MetricSpec) -> None:
    """Register a metric that may be registered already, by the same module."""
    earlier = known_specs().get(spec.name)
    if earlier is not None and earlier.finalise.__module__ == spec.finalise.__module__:
        for spelling in [spelling for spelling, own in _spec_of_spelling.items() if own is earlier]:
            del _spec_of_spelling[spelling]
        del _specs[spec.name]
    add_spec(spec)


def forget_parsed() -> None:
    """Let every metric string be read again: another dict, for a thread may just be filling this one."""
    global _parsed
    _parsed = {}


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
) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Register the decorated finaliser as another form of metric `name`: of other columns of a model than scores.

    A metric string means it if it names such a column, or a parameter that only this form has; or if the caller has
    such a column and none of an earlier role in `MODEL_ROLES` for which the metric has a form. `has_function`: the
    metric's function computes this form too.
    """

    def register(finalise: Callable[..., Value]) -> Callable[..., Value]:
        spec = _specs[name]
        form = spec._replace(
            roles=roles, statistics=statistics, undefined=undefined, parameters=parameters or {}, checks=checks or {},
            variants=variants, finalise=finalise, interval=None, default=default, other_forms=(), added=(),
            summary=(finalise.__doc__ or "").strip().partition("\n")[0],
            function=spec.function if has_function else None,
        )  # fmt: skip
        new = spec._replace(other_forms=(*spec.other_forms, form))
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


class Metric(metaclass=MetricNames):
    """A metric with its options and columns: what a metric string means.

    It stands wherever a metric string may. ``Metric.ndcg(k=10, gain="exp2")`` is "ndcg(gain=exp2)@10": every metric is
    a method of its name, and its options are keywords that editors complete and type checkers check. `repr` is the
    metric string. Two metrics are equal if they mean the same: it does not matter whether defaults are written out.
    A metric is never changed, and those of the last calls are used again. So what every call asks for is computed once.

    Attributes
    ----------
    spec : MetricSpec
        The entry of `describe_metrics`.
    arguments : dict
        All options with their values.
    k : int or None
        The cutoff.
    columns : dict
        The columns that it names itself, by role.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.Metric.ndcg(k=10, gain="exp2")
    ndcg(gain=exp2)@10
    >>> log = {"click": [1, 0, 0, 1], "pctr": [0.9, 0.3, 0.4, 0.8], "user": ["ann", "ann", "bob", "bob"]}
    >>> report = fm.evaluate(log, [fm.Metric.auc(), fm.Metric.hr(k=1)], label="click", score="pctr", group="user")
    >>> report[fm.Metric.hr(k=1)], report["hr@1"]
    (1.0, 1.0)
    """

    def __init__(
        self,
        spec: MetricSpec,
        arguments: dict[str, Any],
        k: int | None = None,
        columns: dict[str, tuple[str, ...]] | None = None,
        shown: frozenset[str] = frozenset(),
    ) -> None:
        """`columns` are those that the metric string names itself, by role. `repr` writes the arguments in `shown`."""
        self.spec = spec
        given = {name: arguments[name] for name in STAT_DEFAULTS if name in arguments and name not in spec.parameters}
        of_groups, self.group_stat = read_stat(given)
        own = {name: value for name, value in arguments.items() if name not in given}
        self.arguments = spec.parameters | own | of_groups
        self.k = k
        self.columns = columns or {}
        self.shown = shown
        self.roles = {role: kind.with_arguments(self.arguments) for role, kind in spec.roles.items()}

    @classmethod
    def of_name(cls, name: str, k: int | None = None, **options: Any) -> Metric:
        """The metric of a name, also of a plugin, with its options and columns.

        Parameters
        ----------
        name : str
            A name or an alias, without "@k".
        k : int, optional
            The cutoff.
        **options : object
            What stands in the parentheses of a metric string.

        Returns
        -------
        Metric

        Examples
        --------
        >>> import fastmetrics as fm
        >>> fm.Metric.of_name("gauc", weight="pairs")
        gauc(weight=pairs)
        """
        if k is not None and (isinstance(k, bool) or not isinstance(k, SupportsIndex) or int(k) < 1):
            raise ValueError(f"k of metric {name!r} must be an integer of at least 1; found {k!r}")
        written = ", ".join(f"{option}={format_value(value)}" for option, value in options.items())
        return parse(name + (f"({written})" if written else "") + ("" if k is None else f"@{int(k)}"))

    @classmethod
    def names(cls) -> list[str]:
        """The names of all metrics, without "@k": those of its methods."""
        load_plugins()
        return sorted({spec.base_name for spec in known_specs().values()})

    @classmethod
    def constructor(cls, name: str) -> Callable[..., Metric]:
        """The method of a metric."""
        known = cls.names()
        if name not in known:
            raise AttributeError(f"{cls.__name__} has no metric {name!r}; {suggest(name, known)}", name=name, obj=cls)
        specs = [spec for spec in known_specs().values() if spec.base_name == name]

        def make(*, k: int | None = None, **options: Any) -> Metric:
            return cls.of_name(name, k, **options)

        make.__name__, make.__qualname__ = name, f"{cls.__qualname__}.{name}"
        make.__doc__ = " ".join(spec.summary for spec in specs)
        return make

    @cached_property
    def _identity(self) -> tuple[Any, ...]:
        columns = tuple(sorted(self.columns.items()))
        return (self.spec.name, self.spec.model_role, tuple(self.arguments.items()), self.k, columns)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Metric) and self._identity == other._identity)

    def __hash__(self) -> int:
        return hash(self._identity)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled, and copied, as its text and the role by which its form was chosen."""
        return parse, (repr(self), (self.spec.model_role,))

    def __repr__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        defaults = STAT_DEFAULTS | self.spec.parameters
        changed = [
            f"{name}={format_value(value)}"
            for name, value in self.arguments.items()
            if value != defaults[name] or name in self.shown
        ]
        changed += [f"{role}={format_columns(names)}" for role, names in self.columns.items()]
        parameters = f"({', '.join(changed)})" if changed else ""
        return self.spec.base_name + parameters + (f"@{self.k}" if self.k is not None else "")

    @property
    def direction(self) -> str:
        """Which of two values is better."""
        return self.spec.direction if self.group_stat is None else self.group_stat.direction(self.spec.direction)

    @cached_property
    def other_roles(self) -> tuple[str, ...]:
        """The roles beside the label and the column of the model."""
        return tuple(role for role in self.spec.roles if role not in (LABEL_ROLE, self.spec.model_role))

    @cached_property
    def _mean_statistics(self) -> tuple[Any, ...]:
        return tuple(self.spec.statistics(**self._all_arguments()))

    @cached_property
    def _statistics(self) -> tuple[Any, ...]:
        statistics = self._mean_statistics
        return statistics if self.group_stat is None else (*statistics, statistics[0].values_statistic())

    def mean_statistics(self) -> tuple[Any, ...]:
        """The statistics without those that `stat=` needs."""
        return self._mean_statistics

    def statistics(self) -> tuple[Any, ...]:
        return self._statistics

    def finalise(self, *states: Any) -> Value:
        """The value. With `stat=`, the last state has the values of groups; where the mean is undefined, it is too."""
        if self.group_stat is None:
            return self._finalise_mean(*states)
        *states_of_mean, values = states
        mean = self._finalise_mean(*states_of_mean)
        return mean if mean.reason else mean._replace(value=self.group_stat.value(values))

    def _finalise_mean(self, *states: Any) -> Value:
        value = self.spec.finalise(self._all_arguments(), *states)
        if isinstance(value, Value):
            for number, statistic in self._weighing_statistics:
                if value.reason is None and statistic.has_tiny_weights(states[number]):
                    return Value(float("nan"), value.coverage, TINY_WEIGHTS)
            return value
        return Value(float(value), {}, self.spec.undefined if value != value else None)

    @cached_property
    def _weighing_statistics(self) -> tuple[tuple[int, SumStatistic], ...]:
        """The statistics of rows that sum weights, with their numbers."""
        statistics = enumerate(self._mean_statistics if self.spec.exchange == "none" else ())
        return tuple((number, own) for number, own in statistics if isinstance(own, SumStatistic) and own.weights_place)

    def interval_statistics(self) -> tuple[Any, ...]:
        """The statistics of its interval without resampling; none where it has no such interval."""
        return () if self.spec.interval is None else self.spec.interval.statistics(**self._all_arguments())

    def find_interval(self, level: float, *states: Any) -> tuple[float, float, float] | str:
        """The low end, the high end and the standard error, or a text that says why there is no interval."""
        if self.spec.interval is None:
            raise ValueError(f"metric {self!r} has no interval without resampling")
        return self.spec.interval.find(self._all_arguments(), level, *states)

    def compare_rows(
        self, level: float, labels: ArrayLike, first: ArrayLike, second: ArrayLike, n_threads: int
    ) -> tuple[float, float, float, float] | str:
        """The two ends, the standard error and the p-value of a difference, or a text that says why there are none."""
        if self.spec.interval is None:
            raise ValueError(f"metric {self!r} has no interval without resampling")
        return self.spec.interval.compare(self._all_arguments(), level, labels, first, second, n_threads)

    def _all_arguments(self) -> dict[str, Any]:
        """The parameters of the spec, and the cutoff: a dict that the metric's functions may change."""
        return self._spec_arguments.copy()

    @cached_property
    def _spec_arguments(self) -> dict[str, Any]:
        arguments = {name: self.arguments[name] for name in self.spec.parameters}
        return arguments | {"k": self.k} if self.spec.cutoff else arguments

    @cached_property
    def _signature_start(self) -> str:
        """What a signature says of the metric itself."""
        parts = [self.spec.base_name + (f"@{self.k}" if self.k is not None else "")]
        parts += [
            f"{name}:{format_value(value)}"
            for name, value in self.arguments.items()
            if name not in self.spec.added or value != self.spec.parameters[name]
        ]
        parts += [f"{role}:{format_columns(names)}" for role, names in self.columns.items()]
        if self.spec.target in COLUMNS_OF_TARGET:
            parts.append(COLUMNS_OF_TARGET[self.spec.target])
        return "|".join(parts)

    def signature(self, coverage: dict[str, Any], weight: str | None = None, approximate: bool = False) -> str:
        """Everything that is needed to reproduce the number. `weight` is the column of row weights."""
        parts = [self._signature_start]
        if weight is not None:
            parts.append(f"weight:{weight}")
        if approximate:
            parts.append("approximate:interval")
        if "groups" in coverage:
            parts.append(f"groups:{coverage['groups']}")
        return "|".join([*parts, f"v:{__version__}"])


def list_metrics() -> list[str]:
    """The names of all metrics that `evaluate` and the command line can compute.

    Returns
    -------
    list of str
        Sorted names, without parameters. Names of metrics that need a cutoff end with "@k".

    Examples
    --------
    >>> import fastmetrics as fm
    >>> "gauc" in fm.list_metrics()
    True
    """
    load_plugins()
    return sorted(known_specs())


def describe_metrics() -> list[MetricSpec]:
    """The entry of every metric: name, summary, family, exchange, parameters with defaults, function.

    Returns
    -------
    list of MetricSpec
        Sorted by name.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> [spec.exchange for spec in fm.describe_metrics() if spec.name == "auc"]
    ['range']
    """
    load_plugins()
    specs = known_specs()
    return [specs[name] for name in sorted(specs)]


def parse(text: str | Metric, model_roles: Sequence[str] = (SCORE_ROLE,)) -> Metric:
    """Read a metric string.

    Parameters
    ----------
    text : str or Metric
        A name, then parameters in parentheses as literals or bare words, then a cutoff after "@".
    model_roles : sequence of str
        The roles of a model's columns that the caller has: if the text fits several forms of a metric, the form of the
        first such role is meant.

    Returns
    -------
    Metric

    Raises
    ------
    ValueError
        The name or a parameter is unknown (the error suggests similar ones), a value is not a literal or not allowed,
        or a cutoff is missing or not allowed.

    Examples
    --------
    >>> import fastmetrics
    >>> from fastmetrics._core.registry import parse
    >>> parse("gauc( weight = 'pairs' )")
    gauc(weight=pairs)
    """
    if isinstance(text, Metric):
        return text if len(text.spec.forms) == 1 else parse(repr(text), model_roles)
    if not isinstance(text, str):
        raise ValueError(explain_syntax(text))
    parsed = _parsed
    asked = (str(text), tuple(model_roles))
    metric = parsed.get(asked)
    if metric is None:
        match = re.fullmatch(METRIC_STRING, text)
        if match is None:
            raise ValueError(explain_syntax(text))
        name, inside, cutoff = match.groups()
        known_specs()  # registers metrics at the first call
        parsed = _parsed
        metric = read_metric(str(text), find_spec(name, cutoff), name, inside or "", cutoff, model_roles)
        if len(parsed) >= MOST_PARSED:
            parsed.clear()
        parsed[asked] = metric
    return metric


def explain_syntax(text: object) -> str:
    return f"{text!r} is not a metric string; write name, name(parameter=value) or name@10"


def read_metric(
    text: str, spec: MetricSpec, name: str, inside: str, cutoff: str | None, model_roles: Sequence[str]
) -> Metric:
    """The metric of a string that has been divided into its name, what stands in parentheses, and its cutoff."""
    k = int(cutoff) if cutoff is not None else None
    if k == 0:
        raise ValueError(f"the cutoff of {name!r} must be at least 1; found @0")
    keywords = read_keywords(inside, text)
    fitting = [form for form in spec.forms if set(keywords) <= {*parameters_of(form), *column_roles(form)}]
    form = choose_form(fitting or [spec], model_roles)
    arguments = read_arguments(form, spec, keywords, text)
    columns = {role: arguments.pop(role) for role in column_roles(form) if role in arguments}
    # Without these words the text would mean another form.
    shown = arguments if form is not choose_form(spec.forms, model_roles) else ()
    metric = Metric(form, arguments, k, columns, frozenset(shown))
    if metric.group_stat is not None:
        check_group_values(repr(metric), metric.mean_statistics())
    return metric


def choose_form(forms: Sequence[MetricSpec], model_roles: Sequence[str]) -> MetricSpec:
    """The form for the first of these roles, else the first form."""
    by_role = {form.model_role: form for form in forms}
    return next((by_role[role] for role in model_roles if role in by_role), forms[0])


def find_spec(name: str, cutoff: str | None) -> MetricSpec:
    """The metric of this name or alias. "name" and "name@k" may be two different metrics."""
    known_specs()
    spelling = normalise(name)
    wanted = spelling if cutoff is None else spelling + CUTOFF
    spec = _spec_of_spelling.get(wanted)
    if spec is None:
        load_plugins()
        spec = _spec_of_spelling.get(wanted)
    if spec is None:
        raise ValueError(explain_unknown(name, spelling, cutoff))
    return spec


def explain_unknown(name: str, spelling: str, cutoff: str | None) -> str:
    """The error of a name that no metric has, or none with such a cutoff: it says what to type."""
    near_names = {near: advice for spec in _specs.values() for near, advice in spec.near_names.items()}
    for near in [spelling] if cutoff is None else [spelling + CUTOFF, spelling]:
        if near in near_names:
            return f"unknown metric {name!r}: {near_names[near]}"
    if cutoff is None and spelling + CUTOFF in _spec_of_spelling:
        return f"metric {name!r} needs a cutoff: write {name}@10"
    if cutoff is not None and spelling in _spec_of_spelling:
        return f"metric {name!r} takes no cutoff; found @{cutoff}"
    negated = _spec_of_spelling.get(spelling.removeprefix(NEGATED))
    if negated is not None:
        return f"unknown metric {name!r}: write {negated.base_name} ({negated.direction}), which is not negated"
    return f"unknown metric {name!r}; {suggest_metric(spelling)}"


def suggest_metric(spelling: str) -> str:
    """The metrics with a similar name or alias as a question, or the names of all."""
    near = close_matches(spelling, [known.removesuffix(CUTOFF) for known in _spec_of_spelling])
    similar: dict[str, str] = {}  # by metric: the name or alias that is nearest
    for base_name in near:
        for known in (base_name, base_name + CUTOFF):
            if known not in _spec_of_spelling:
                continue
            spec = _spec_of_spelling[known]
            names = [own for own in (spec.name, *spec.aliases) if normalise(own.removesuffix(CUTOFF)) == base_name]
            similar.setdefault(spec.name, names[0])
    return ask_for(list(similar.values())[:MOST_SUGGESTED], sorted(_specs))


def column_roles(spec: MetricSpec) -> list[str]:
    """The roles whose columns a metric string may name."""
    return [*spec.roles, *((GROUP_ROLE,) if spec.exchange == "hash" else ())]


def may_be_several(form: MetricSpec, role: str) -> bool:
    """May a role be several columns? Those of a key, and the probabilities of a model."""
    return role == GROUP_ROLE or (role == form.model_role and form.roles[role].has_vectors)


def parameters_of(spec: MetricSpec) -> list[str]:
    """The parameters that a metric string may have: those of groups are the same for all metrics of groups."""
    of_groups = [name for name in STAT_DEFAULTS if spec.exchange == "hash" and name not in spec.parameters]
    return [*spec.parameters, *of_groups]


def read_arguments(form: MetricSpec, spec: MetricSpec, keywords: dict[str, ast.expr], text: str) -> dict[str, Any]:
    """The arguments of a form of a metric, checked: parameters, and columns by role."""
    arguments: dict[str, Any] = {}
    roles = column_roles(form)
    for name, written in keywords.items():
        if name not in parameters_of(form) and name not in roles:
            words = (word for own in spec.forms for word in (*parameters_of(own), *column_roles(own)))
            known = list(dict.fromkeys(words))
            advice = spec.near_names.get(f"{spec.base_name}({name})")
            advice = advice or (suggest(name, known) if known else "it has none")
            if name in known:
                *others, last = [word for word in keywords if word in known]
                kinds = "scores, predicted labels or probabilities"
                advice = f"{', '.join(others)} and {last} are of different columns: {kinds}"
            raise ValueError(f"metric {spec.name!r} has no parameter {name!r}; {advice}")
        try:
            value = ast.literal_eval(written)
        except ValueError:
            raise ValueError(f"{name} in {text!r} must be a literal") from None
        if name in roles:
            value = read_columns(name, value, text, may_be_several(form, name))
        else:
            value = tuple(value) if isinstance(value, list) else value
            check_argument(form, name, value)
        arguments[name] = value
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
