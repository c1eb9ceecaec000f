"""The entry of a metric in the registry: what it reads, which rows have to meet, and in what forms it exists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.kinds import (
    LABEL_ROLE,
    MODEL_ROLES,
    PREDICTION_ROLE,
    PROBABILITIES_ROLE,
    Binary,
    Category,
    ClassLabel,
    ClassNumber,
    Kind,
    LabelSet,
    NonNegative,
    Roles,
    Text,
)
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.statistic import Value

__all__ = ["MetricSpec"]

# What labels may be, in one word.
TARGETS = ("binary", "real", "graded", "text", "partition", "prediction", "probabilities", "sets")
TARGET_OF_KIND: dict[type[Kind], str] = {
    Binary: "binary", Text: "text", Category: "partition", ClassLabel: "prediction", ClassNumber: "probabilities",
    LabelSet: "sets",
}  # fmt: skip
REQUIRED = "required"
INFINITY = float("inf")
DIRECTIONS = ("maximize", "minimize", "closest_to_one", "closest_to_zero", "none")
CUTOFF = "@k"  # ends the names of metrics that need a cutoff
# Which rows have to meet in one partition: none, those with neighboring scores, or those of a group.
EXCHANGES = ("none", "range", "hash")


class Scale(NamedTuple):
    """The numbers that a metric may have, and on which scale its intervals are made.

    Attributes
    ----------
    name : str
        Its name in `SCALES`.
    low, high : float
        The least and the greatest number: no interval leaves them.
    transform : str
        "plain", "log" or "logit": intervals are symmetric about the value, its logarithm or its log odds.
    """

    name: str
    low: float
    high: float
    transform: str = "plain"

    def cut(self, low: float, high: float) -> tuple[float, float]:
        """Both ends of an interval, within the numbers that there are."""
        return min(max(low, self.low), self.high), max(min(high, self.high), self.low)

    def size_of(self, value: float) -> float:
        """The size of the numbers that a value is made from, which their rounding is relative to.

        Values that may be below 0 and have a greatest number are differences from that number.
        """
        return max(abs(value), self.high) if self.low < 0 and self.high < INFINITY else abs(value)


SCALES = {
    scale.name: scale
    for scale in (
        Scale("share", 0.0, 1.0, "logit"),  # shares of rows or pairs, areas, and what is made from such
        Scale("mean", 0.0, 1.0),  # means over groups or rows of values in [0, 1]
        Scale("percentage", 0.0, 100.0),
        Scale("correlation", -1.0, 1.0),
        Scale("explained", -INFINITY, 1.0),  # shares of a variance or a loss, and agreement beyond chance
        Scale("ratio", 0.0, INFINITY, "log"),  # losses, errors and quotients, which are compared by their ratio
        Scale("nonnegative", 0.0, INFINITY),
        Scale("real", -INFINITY, INFINITY),
    )
}


class ScoreInfluence(NamedTuple):
    """What the rows of a metric of the order of scores add to its value.

    Attributes
    ----------
    of_classes : callable
        From the `ClassMasses` of scores to what a row of each class of scores adds to the value to first order:
        float64[n_classes, 2], for negatives relative to the weight of all negatives, and for positives to that of all
        positives.
    crossed : callable or None
        For a value that is the greatest of all thresholds: from the masses of two halves of the units, float64[2,
        n_classes] each, to the mean value of each half at the other half's threshold.
    interval : callable or None
        The interval of such a value, from it, the crossed one, the error with its degrees of freedom, and the level.
    """

    of_classes: Callable[[Any], Any]
    crossed: Callable[[Any, Any], float] | None = None
    interval: Callable[[float, float, Any, float], Any] | None = None


class ClassesInfluence(NamedTuple):
    """What the rows of a metric over several classes add to its value.

    Attributes
    ----------
    of_problem : ScoreInfluence
        What they add to each problem of two classes.
    combine : callable
        `combine(states, found)` returns the contributions to the value from the states of the problems and
        the contributions to these (None where a problem has no rows).
    """

    of_problem: ScoreInfluence
    combine: Callable[..., Any]


class PairInfluence(NamedTuple):
    """What the rows of a share of pairs add to its value.

    `of_cells(masses)` returns two arrays of the shape of `masses`, the weights of cells of classes of targets and of
    scores, both ascending: what a row of each cell adds to the value to first order, and its share of the pairs.
    """

    of_cells: Callable[[Any], tuple[Any, Any]]


class BinErrors(NamedTuple):
    """The signed errors of bins whose sizes a metric adds up: `find(*states)` has a row for each of many states."""

    find: Callable[..., Any]


class IntervalSpec(NamedTuple):
    """How to compute an interval of a metric from states, without resampling. Rows are assumed independent.

    Attributes
    ----------
    method : str
        The value of `ci_method` that asks for it.
    statistics : callable
        `statistics(**parameters)` returns the statistics, which have the exchange of the metric; none if there is no
        such interval for these parameters.
    find : callable
        `find(parameters, level, *states)` returns the low end, the high end and the standard error, or a text that
        says why there is no interval.
    compare : callable
        `compare(parameters, level, labels, first, second, n_threads)` reads columns of rows. It returns the two ends,
        the standard error and the two-sided p-value of the second model's value minus the first's, or a text.
    """

    method: str
    statistics: Callable[..., tuple[Any, ...]]
    find: Callable[..., tuple[float, float, float] | str]
    compare: Callable[..., tuple[float, float, float, float] | str]


@dataclass(frozen=True, eq=False, repr=False)
class MetricSpec:
    """The entry of a metric in the registry: ``fm.list_metrics()["gauc"]``, ``fm.Metric.gauc().spec``.

    Every parameter of `fastmetrics.extend.metric` is an attribute of the same name; its values stand there. Entries are
    never changed; a pickle of one that the library has is its name.

    Attributes
    ----------
    name : str
        The name; it ends with "@k" where a cutoff is required.
    summary : str
        One line.
    family : str
        The package of `fastmetrics.metrics` that has it; of a metric of your own, its module.
    exchange : str
        Which rows have to meet: "none", "range" (neighboring scores) or "hash" (the rows of a group).
    parameters : dict
        Parameters with their defaults.
    roles : mapping of str to Kind
        The columns that the metric reads, by role, with the kind of each. The keys of groups and the weights of rows
        are not among them.
    direction : str
        Which of two values is better: "maximize", "minimize", "closest_to_one", "closest_to_zero", or "none".
    undefined : str
        When the metric is undefined, in words.
    aliases : tuple of str
        Other names of the same number. They end with "@k" where the name does.
    function : callable or None
        The public function that computes the same number.
    finalize : callable
        `finalize(parameters, *states)` returns the value.
    other_forms : tuple of MetricSpec
        The entries of the same metric for other columns of a model than scores: predicted labels, or probabilities of
        several classes.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> spec = fm.list_metrics()["ndcg@10"]
    >>> spec.family, spec.exchange, spec.target, spec.direction, spec.parameters["gain"]
    ('ranking', 'hash', 'graded', 'maximize', 'linear')
    """

    name: str
    summary: str
    family: str
    exchange: str
    parameters: dict[str, Any]
    checks: dict[str, Any]
    statistics: Callable[..., tuple[Any, ...]]
    finalize: Callable[..., Value | float]
    function: Callable[..., Any] | None
    undefined: str
    default: bool
    cutoff: bool | str
    roles: Roles
    direction: str
    scale: str | Callable[..., str]
    no_interval: str | None
    interval: IntervalSpec | None
    variants: tuple[str, ...]
    aliases: tuple[str, ...]
    option_aliases: Mapping[str, str]
    near_names: Mapping[str, str]
    other_forms: tuple[MetricSpec, ...]
    many: Callable[..., Any] | None
    influence: Callable[..., Any] | None

    def __repr__(self) -> str:
        return f"<MetricSpec {self.name}>"

    @cached_property
    def model_role(self) -> str | None:
        """The role of the columns that every model has: "score", "prediction" or "probabilities"; None if none."""
        return next((role for role in MODEL_ROLES if role in self.roles), None)

    @cached_property
    def forms(self) -> tuple[MetricSpec, ...]:
        """This entry and those of the same metric for other columns of a model."""
        return (self, *self.other_forms)

    @answers_unknown
    def other_form(self, model_role: str) -> MetricSpec | None:
        """The entry of the same metric for another role of a model's columns."""
        return next((form for form in self.other_forms if form.model_role == model_role), None)

    @property
    def of_predictions(self) -> MetricSpec | None:
        """The entry of the same metric for predicted labels in place of scores."""
        return self.other_form(PREDICTION_ROLE)

    @property
    def of_probabilities(self) -> MetricSpec | None:
        """The entry of the same metric for probabilities of several classes in place of scores."""
        return self.other_form(PROBABILITIES_ROLE)

    @cached_property
    def target(self) -> str:
        """The kind of labels in one word.

        Two classes ("binary"), any finite number ("real"), relevance grades of the rows of a group ("graded"),
        reference texts beside hypothesis texts ("text"), labels of any type beside clusters ("partition"), beside
        predicted labels ("prediction") or beside a probability for each class ("probabilities"), or sets of labels
        beside a score for each label ("sets"); "columns" if the metric has no label.
        """
        label = self.roles.get(LABEL_ROLE)
        if label is None:
            return "columns"
        target = TARGET_OF_KIND.get(type(label))
        if target is None:
            target = "graded" if self.exchange == "hash" else "real"
        return target

    @property
    def negative_grades(self) -> bool:
        """May grades be negative?"""
        return self.target == "graded" and not isinstance(self.roles[LABEL_ROLE], NonNegative)

    @cached_property
    def base_name(self) -> str:
        """The name without "@k": metric strings begin with it."""
        return self.name.removesuffix(CUTOFF)

    @property
    def example(self) -> str:
        """The shortest metric string that asks for it."""
        return f"{self.base_name}@10" if self.cutoff == REQUIRED else self.name
