"""The kinds of columns: what the values of a role are. A metric declares a kind for each of its roles.

A kind says what is allowed, in data only: `_core/columns/role_columns.py` reads columns of each kind. Kinds are equal
if they allow the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

__all__ = [
    "Binary", "Category", "ClassLabel", "ClassNumber", "Distribution", "Key", "Kind", "LabelSet", "NonNegative",
    "Positive", "Probability", "Real", "Text", "Vector",
]  # fmt: skip


class Kind:
    """What the values of a column are.

    Parameters
    ----------
    column : str, optional
        The column that is read if the caller names none.

    Attributes
    ----------
    noun : str
        The values in messages: "metrics of numbers".
    is_numeric : bool
        Are values numbers that exchanges move and kernels read?
    has_long_values : bool
        Are values long, or lists? Batches then have fewer rows.
    has_vectors : bool
        Are values lists of numbers, of one length in all rows?
    shares_columns : bool
        May metrics read a column of labels or scores together with metrics of other such kinds?
    takes_lists : bool
        May a row have a list of values?
    takes_weights : bool
        May rows have weights?
    """

    __slots__ = ("column",)
    noun: ClassVar[str] = "values"
    is_numeric: ClassVar[bool] = True
    has_long_values: ClassVar[bool] = False
    has_vectors: ClassVar[bool] = False
    shares_columns: ClassVar[bool] = True
    takes_lists: ClassVar[bool] = False
    takes_weights: ClassVar[bool] = True

    def __init__(self, *, column: str | None = None) -> None:
        self.column = column

    def with_arguments(self, arguments: Mapping[str, Any]) -> Kind:
        """The kind for a metric with these arguments, if they say more about the column."""
        return self

    def general(self) -> Kind:
        """The kind of columns that metrics of this kind may share with others: of probabilities, scores of classes."""
        return self

    def fields(self) -> tuple[Any, ...]:
        names = dict.fromkeys(name for cls in type(self).__mro__ for name in getattr(cls, "__slots__", ()))
        return tuple(getattr(self, name) for name in names)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Kind) and other.fields() == self.fields()

    def __hash__(self) -> int:
        return hash((type(self), self.fields()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Binary(Kind):
    """Two classes: 0 and 1 of any integer, bool or float type, or -1 and +1."""

    __slots__ = ()
    noun = "classes"


class Real(Kind):
    """Numbers. They are finite; `finite=False` also allows infinity, as scores do."""

    __slots__ = ("finite",)
    noun = "numbers"
    low: ClassVar[float] = -math.inf
    high: ClassVar[float] = math.inf
    allows_low: ClassVar[bool] = True
    wanted: ClassVar[str] = "numbers must be finite"

    def __init__(self, finite: bool = True, *, column: str | None = None) -> None:
        super().__init__(column=column)
        self.finite = finite


class NonNegative(Real):
    """Finite numbers of at least 0."""

    __slots__ = ()
    low = 0.0
    wanted = "numbers must not be negative"


class Positive(Real):
    """Finite numbers above 0."""

    __slots__ = ()
    low = 0.0
    allows_low = False
    wanted = "numbers must be greater than 0"


class Probability(Real):
    """Numbers from 0 to 1."""

    __slots__ = ()
    low = 0.0
    high = 1.0
    wanted = "probabilities must lie between 0 and 1"


class Vector(Real):
    """Several finite numbers in every row, as many in all rows: a column of lists, or several columns of numbers."""

    __slots__ = ()
    noun = "vectors"
    has_vectors = True
    takes_lists = True
    shares_columns = False


class ClassScores(Vector):
    """The score of every class, greater for one that is more likely: any finite numbers."""

    __slots__ = ()
    noun = "probabilities of classes"


class Distribution(ClassScores):
    """The probability of every class: from 0 to 1, with sum 1 in every row."""

    __slots__ = ()
    low = 0.0
    high = 1.0
    wanted = "probabilities must lie between 0 and 1"

    def general(self) -> Kind:
        return ClassScores(column=self.column)


class ClassNumber(Kind):
    """Labels of classes of any type but fractions, read as the number of their class.

    `labels` are the labels of the classes in their order, as a metric's parameter `labels` has them. None: labels are
    the numbers.
    """

    __slots__ = ("labels",)
    noun = "classes with probabilities"
    shares_columns = False

    def __init__(self, labels: tuple[Any, ...] | None = None, *, column: str | None = None) -> None:
        super().__init__(column=column)
        self.labels = labels

    def with_arguments(self, arguments: Mapping[str, Any]) -> ClassNumber:
        return ClassNumber(arguments.get("labels"), column=self.column)


class Key(Kind):
    """Keys of items or users, which are only compared: integers and dates; in metrics of groups also texts."""

    __slots__ = ()
    noun = "keys"


class Category(Kind):
    """Labels of any type, for instance the classes of a partition or predicted classes."""

    __slots__ = ()
    noun = "partitions"
    is_numeric = False
    shares_columns = False
    takes_weights = False


class ClassLabel(Category):
    """Labels of classes of any type but fractions, or lists of them: sets of labels.

    True labels and predicted ones are compared with each other.
    """

    __slots__ = ()
    noun = "predicted labels"
    takes_lists = True
    takes_weights = True


class LabelSet(ClassLabel):
    """Sets of labels of any type but fractions: lists."""

    __slots__ = ()
    noun = "sets of labels"


class Text(Kind):
    """Texts; `lists=True` also allows several texts in a row."""

    __slots__ = ("lists",)
    noun = "text"
    is_numeric = False
    shares_columns = False
    has_long_values = True
    takes_weights = False

    def __init__(self, lists: bool = False, *, column: str | None = None) -> None:
        super().__init__(column=column)
        self.lists = lists


LABEL_ROLE, SCORE_ROLE, PREDICTION_ROLE, PROBABILITIES_ROLE = "label", "score", "prediction", "probabilities"
GROUP_ROLE = "group"  # the role of the keys by which the hash exchange brings rows together
ITEM_ROLE = "item"  # the role of the keys by which rows of a group are joined with a truth table
MODEL_ROLES = SCORE_ROLE, PREDICTION_ROLE, PROBABILITIES_ROLE  # a column, or columns, of every model
SCORES = Real(finite=False)
Roles = Mapping[str, Kind]

# The roles of most metrics: a label and a score, which is a number.
CLASSES: Roles = MappingProxyType({LABEL_ROLE: Binary(), SCORE_ROLE: SCORES})
NUMBERS: Roles = MappingProxyType({LABEL_ROLE: Real(), SCORE_ROLE: SCORES})
GRADES: Roles = MappingProxyType({LABEL_ROLE: NonNegative(), SCORE_ROLE: SCORES})
SIGNED_GRADES = NUMBERS
TEXTS: Roles = MappingProxyType(
    {LABEL_ROLE: Text(lists=True, column="reference"), SCORE_ROLE: Text(column="hypothesis")}
)
PARTITIONS: Roles = MappingProxyType({LABEL_ROLE: Category(column="label"), SCORE_ROLE: Category(column="cluster")})
PREDICTIONS: Roles = MappingProxyType({LABEL_ROLE: ClassLabel(), PREDICTION_ROLE: ClassLabel()})
PROBABILITIES: Roles = MappingProxyType({LABEL_ROLE: ClassNumber(), PROBABILITIES_ROLE: Distribution()})
CLASS_SCORES: Roles = MappingProxyType({LABEL_ROLE: ClassNumber(), PROBABILITIES_ROLE: ClassScores()})
