"""The columns of scores whose rows are sent to ranges: one of each model, or one for each class of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import LABEL, SCORE, names_of, score_name, vector_name
from fastmetrics._core.exchange.class_ranges import OfClasses, OverClasses, split_problems
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.engine.plan.plan_parts import PlanPart


class ScoreColumn(NamedTuple):
    """The scores of a model; the probabilities of one class; or those of all classes, one after the other.

    Labels of one class's column are numbers of classes; of all classes, 1 where the class is that of the row.
    """

    model: int
    classes: tuple[int, ...] = ()
    all_classes: bool = False

    def stored_names(self) -> list[str]:
        """The stored columns that have the scores."""
        name = score_name(self.model)
        return [vector_name(name, number) for number in self.classes] if self.classes else [name]

    def select(self, stored: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The columns of the rows, with the scores as the first and only column of scores."""
        scores = [stored[name] for name in self.stored_names()]
        others = set(names_of(stored, SCORE))
        columns = {name: column for name, column in stored.items() if name not in others}
        if self.all_classes:
            labels = set(names_of(stored, LABEL))
            columns = {
                name: np.concatenate([(column == number).view(np.uint8) for number in self.classes])
                if name in labels else np.tile(column, len(self.classes))
                for name, column in columns.items()
            }  # fmt: skip
        return columns | {score_name(0): np.concatenate(scores) if len(scores) > 1 else scores[0]}

    def is_positive(self, labels: np.ndarray) -> np.ndarray:
        """Which rows of the column are positive, by its labels."""
        return labels == self.classes[0] if self.classes and not self.all_classes else labels

    def has(self, statistic: Any) -> bool:
        """Does a statistic of the range exchange read the column?"""
        if not isinstance(statistic, OfClasses):
            return not self.classes
        positive = statistic.problem.positive
        return self.all_classes if positive is None else not self.all_classes and self.classes == (positive,)


def score_columns(part: PlanPart, n_classes: int) -> list[ScoreColumn]:
    """The columns of a part of a plan whose rows go to ranges; `n_classes` is 0 if models have no probabilities."""
    statistics = part.plan.statistics["range"]
    models = range(len(part.names.scores))
    if not part.plan.has_vectors:
        return [ScoreColumn(model) for model in models] if statistics else []
    classes = tuple(range(n_classes))
    positives = {part.problem.positive for part in split_problems(statistics, n_classes)}
    columns = [ScoreColumn(model, (number,)) for model in models for number in classes if number in positives]
    return columns + [ScoreColumn(model, classes, True) for model in models if None in positives]


def read_statistics(statistics: Sequence[Any], n_classes: int) -> list[Any]:
    """The statistics with those over several classes split into their problems."""
    parts = split_problems(statistics, n_classes)
    return [own for own in statistics if not isinstance(own, OverClasses)] + parts
