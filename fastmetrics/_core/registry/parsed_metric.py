"""`Metric`: a metric with its options and columns, and `parse`, which reads one from a metric string.

Metric strings look like "auc", "gauc(weight=pairs)" or "ndcg(gain=exp2)@10". `parse` reads literals only, and `repr`
returns the canonical string.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.group_stat import STAT_DEFAULTS, check_group_values, read_stat
from fastmetrics._core.kinds import LABEL_ROLE, PREDICTION_ROLE, PROBABILITIES_ROLE, SCORE_ROLE
from fastmetrics._core.metric_spec import MetricSpec
from fastmetrics._core.metric_strings import GREATEST_CUTOFF, format_columns, format_value, read_keywords
from fastmetrics._core.option_numbers import integer_value
from fastmetrics._core.registry import registration
from fastmetrics._core.registry.arguments import (
    choose_form,
    column_roles,
    parameters_of,
    read_arguments,
    with_full_names,
)
from fastmetrics._core.registry.registration import is_own, known_specs, load_plugins
from fastmetrics._core.registry.resolver import Resolved, explain_syntax, resolve
from fastmetrics._core.registry.statistics import check_statistic
from fastmetrics._core.statistic import TINY_WEIGHTS, AdditiveStatistic, Value
from fastmetrics._core.suggestions import suggest
from fastmetrics._core.types.metric_names import MetricNames
from fastmetrics._version import __version__

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike

__all__ = ["Metric"]

# What the signature of a metric says that does not read scores.
COLUMNS_OF_TARGET = {"prediction": PREDICTION_ROLE, "probabilities": PROBABILITIES_ROLE}
FACT_OF_ROLE = {PREDICTION_ROLE: "of:predictions", PROBABILITIES_ROLE: "of:probabilities"}
MOST_PARSED = 1000
MOST_SHOWN_DIGITS = 40


class Metric(metaclass=MetricNames):
    """A metric with its options and columns: what a metric string means.

    It stands wherever a metric string may. ``Metric.ndcg(k=10, gain="exp2")`` is "ndcg(gain=exp2)@10": every metric is
    a method of its name, and its options are keywords that editors complete and type checkers check. `repr` is the
    metric string. Two metrics are equal if they mean the same: it does not matter whether defaults are written out.
    A metric is never changed, and those of the last calls are used again. So what every call asks for is computed once.

    Attributes
    ----------
    spec : MetricSpec
        The entry of the metric, as `list_metrics` has it.
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
        written: frozenset[str] = frozenset(),
    ) -> None:
        """`columns` are those that the metric string names itself, by role. `repr` writes the arguments in `shown`.

        `written` are the arguments that the string has, or that its name means.
        """
        self.spec = spec
        given = {name: arguments[name] for name in STAT_DEFAULTS if name in arguments and name not in spec.parameters}
        of_groups, self.group_stat = read_stat(given)
        own = {name: value for name, value in arguments.items() if name not in given}
        self.arguments = spec.parameters | own | of_groups
        self.k = k
        self.columns = columns or {}
        self.shown = shown
        self.written = written
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
        cutoff = integer_value(k)
        if k is not None and (cutoff is None or cutoff < 1):
            raise ValueError(f"k of metric {name!r} must be an integer of at least 1; found {k!r}")
        written = ", ".join(f"{option}={format_value(value)}" for option, value in options.items())
        if cutoff is not None and cutoff > GREATEST_CUTOFF:
            raise ValueError(f"k of metric {name!r} must be at most {GREATEST_CUTOFF}")
        return parse(name + (f"({written})" if written else "") + ("" if cutoff is None else f"@{cutoff}"))

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
        """Ours are pickled, and copied, by their entry; others as a text, which imports all metrics, and a role."""
        if not registration.is_own(self.spec.finalize.__module__):
            return parse, (repr(self), (self.spec.model_role,))
        return Metric, (self.spec, self.arguments, self.k, self.columns, self.shown, self.written)

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

    @cached_property
    def full_text(self) -> str:
        """The metric string with all options and columns: it means the same when a default changes."""
        written = [f"{name}={format_value(own)}" for name, own in self.arguments.items() if own is not None]
        written += [f"{role}={format_columns(names)}" for role, names in self.columns.items()]
        parameters = f"({', '.join(written)})" if written else ""
        return self.spec.base_name + parameters + (f"@{self.k}" if self.k is not None else "")

    @property
    def direction(self) -> str:
        """Which of two values is better."""
        return self.spec.direction if self.group_stat is None else self.group_stat.direction(self.spec.direction)

    @cached_property
    def scale(self) -> str:
        """The name in `SCALES` of the numbers that it may have and of the scale of its intervals."""
        own = self.spec.scale
        name = own if isinstance(own, str) else own(**self._all_arguments())
        return name if self.group_stat is None else self.group_stat.scale(name)

    @property
    def no_interval(self) -> str | None:
        """The reason why no interval is valid; None if there may be one."""
        return self.spec.no_interval if self.group_stat is None else self.group_stat.no_interval

    @cached_property
    def other_roles(self) -> tuple[str, ...]:
        """The roles beside the label and the column of the model."""
        return tuple(role for role in self.spec.roles if role not in (LABEL_ROLE, self.spec.model_role))

    @cached_property
    def _mean_statistics(self) -> tuple[Any, ...]:
        statistics = tuple(self.spec.statistics(**self._all_arguments()))
        if not is_own(self.spec.finalize.__module__):
            for statistic in statistics:
                check_statistic(self.spec.name, self.spec.exchange, statistic)
        return statistics

    @cached_property
    def _statistics(self) -> tuple[Any, ...]:
        statistics = self._mean_statistics
        return statistics if self.group_stat is None else (*statistics, statistics[0].values_statistic())

    def mean_statistics(self) -> tuple[Any, ...]:
        """The statistics without those that `stat=` needs."""
        return self._mean_statistics

    def statistics(self) -> tuple[Any, ...]:
        return self._statistics

    def finalize(self, *states: Any) -> Value:
        """The value. With `stat=`, the last state has the values of groups; where the mean is undefined, it is too."""
        if self.group_stat is None:
            return self._finalize_mean(*states)
        *states_of_mean, values = states
        mean = self._finalize_mean(*states_of_mean)
        return mean if mean.reason else mean._replace(value=self.group_stat.value(values))

    @property
    def has_many(self) -> bool:
        """Can the values of many states be found at once?"""
        return self.spec.many is not None and self.group_stat is None

    def finalize_many(self, *states: Any) -> tuple[np.ndarray, np.ndarray]:
        """The values of many states, and a mask of those that `finalize` has to be asked for; `has_many` is true."""
        if self.spec.many is None:
            raise ValueError(f"metric {self!r} finds one value at a time")
        found = self.spec.many(self._all_arguments(), *states)
        values, undefined = found if isinstance(found, tuple) else (found, False)
        return values, np.isnan(values) & np.logical_not(undefined)

    @cached_property
    def influence(self) -> Any:
        """What units add to the value, where states alone do not say it: see `MetricSpec.influence`."""
        if self.spec.influence is None or self.group_stat is not None:
            return None
        return self.spec.influence(**self._all_arguments())

    def _finalize_mean(self, *states: Any) -> Value:
        value = self.spec.finalize(self._all_arguments(), *states)
        if isinstance(value, Value):
            for number, statistic in self._weighing_statistics:
                if value.reason is None and statistic.has_tiny_weights(states[number]):
                    return Value(float("nan"), value.coverage, TINY_WEIGHTS)
            return value
        return Value(float(value), {}, self.spec.undefined if value != value else None)

    @cached_property
    def _weighing_statistics(self) -> list[tuple[int, AdditiveStatistic]]:
        """The statistics of rows that sum weights, with their numbers."""
        statistics = enumerate(self._mean_statistics if self.spec.exchange == "none" else ())
        additive = ((number, own) for number, own in statistics if isinstance(own, AdditiveStatistic))
        return [(number, own) for number, own in additive if own.sums_weights]

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
            if value is not None  # an option that is not used
        ]
        parts += [f"{role}:{format_columns(names)}" for role, names in self.columns.items()]
        if self.spec.target in COLUMNS_OF_TARGET:
            parts.append(FACT_OF_ROLE[COLUMNS_OF_TARGET[self.spec.target]])
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
    parsed = registration.parsed_metrics
    asked = (str(text), tuple(model_roles))
    metric = parsed.get(asked)
    if metric is None:
        of_signature = [role for role, fact in FACT_OF_ROLE.items() if f"|{fact}|" in text]
        metric = read_metric(str(text), resolve(text), of_signature or model_roles)
        parsed = registration.parsed_metrics  # another dict if metrics were registered
        if len(parsed) >= MOST_PARSED:
            parsed.clear()
        parsed[asked] = metric
    return metric


def read_cutoff(name: str, cutoff: str) -> int:
    """The cutoff as a number that kernels can hold."""
    digits = cutoff.lstrip("0")
    # Python does not read integers of thousands of digits.
    if len(digits) > len(str(GREATEST_CUTOFF)) or int(digits or 0) > GREATEST_CUTOFF:
        found = cutoff if len(cutoff) <= MOST_SHOWN_DIGITS else f"{len(cutoff)} digits"
        raise ValueError(f"the cutoff of {name!r} must be at most {GREATEST_CUTOFF}; found @{found}")
    if not digits:
        raise ValueError(f"the cutoff of {name!r} must be at least 1; found @{cutoff}")
    return int(digits)


def read_metric(text: str, resolved: Resolved, model_roles: Sequence[str]) -> Metric:
    """The metric of a string whose name has been looked up."""
    spec, name, inside, cutoff = resolved
    k = None if cutoff is None else read_cutoff(name, cutoff)
    keywords = with_full_names(read_keywords(inside, text), spec, text)
    fitting = [form for form in spec.forms if set(keywords) <= {*parameters_of(form), *column_roles(form)}]
    form = choose_form(fitting or [spec], model_roles)
    arguments = read_arguments(form, spec, keywords, text)
    columns = {role: arguments.pop(role) for role in column_roles(form) if role in arguments}
    # Without these words the text would mean another form.
    shown = arguments if form is not choose_form(spec.forms, model_roles) else ()
    metric = Metric(form, arguments, k, columns, frozenset(shown), frozenset(arguments))
    if metric.group_stat is not None:
        check_group_values(repr(metric), metric.mean_statistics())
    return metric
