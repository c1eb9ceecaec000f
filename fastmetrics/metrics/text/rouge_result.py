"""The results of ROUGE: `RougeScore` of one type, `RougeResult` of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.immutable import equal_contents
from fastmetrics._core.results.table_columns import TableColumn
from fastmetrics._core.results.table_rows import NamedValues

__all__ = ["RougeResult", "RougeScore"]

VALUES = ("precision", "recall", "fmeasure")


class RougeScore:
    """Precision, recall and F of one type of ROUGE.

    Attributes
    ----------
    precision, recall, fmeasure : float
        The means over all pairs, 0 to 1. Their sums are exact and rounded once.
    precisions, recalls, fmeasures : ndarray of float64
        The value of every pair, in the order of the arguments. AttributeError if the score was computed from sums.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> result = fm.rouge_score(["the cat sat"], ["a cat sat down"], ["rouge1"])
    >>> result["rouge1"]
    RougeScore(precision=0.6666666666666666, recall=0.5, fmeasure=0.5714285714285715)
    """

    __slots__ = ("fmeasure", "pairs", "precision", "recall")

    def __init__(self, means: Iterable[float], pairs: np.ndarray | None = None) -> None:
        self.precision, self.recall, self.fmeasure = means
        self.pairs = pairs

    @property
    def precisions(self) -> NDArray[np.float64]:
        return self.of_pairs(0)

    @property
    def recalls(self) -> NDArray[np.float64]:
        return self.of_pairs(1)

    @property
    def fmeasures(self) -> NDArray[np.float64]:
        return self.of_pairs(2)

    @answers_unknown
    def of_pairs(self, index: int) -> NDArray[np.float64]:
        """The precision (0), recall (1) or F (2) of every pair."""
        if self.pairs is None:
            raise AttributeError("a score computed from sums has no values of single pairs; call rouge_score for them")
        values: NDArray[np.float64] = self.pairs[index]
        return values

    def _content(self) -> tuple[Any, ...]:
        return tuple(self), self.pairs if self.pairs is None else self.pairs.tolist()

    def __eq__(self, other: object) -> bool:
        return equal_contents(self._content(), other._content()) if isinstance(other, RougeScore) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __iter__(self) -> Iterator[float]:
        """Precision, recall and F."""
        return iter((self.precision, self.recall, self.fmeasure))

    def __repr__(self) -> str:
        return f"RougeScore(precision={self.precision!r}, recall={self.recall!r}, fmeasure={self.fmeasure!r})"


class RougeResult(NamedValues[RougeScore]):
    """The score of every requested type of ROUGE, such as ``result["rouge1"].fmeasure``.

    Attributes
    ----------
    n_pairs : int
        The number of hypotheses.
    signature : str
        The options that reproduce the scores.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> result = fm.rouge_score(["the cat sat", "a dog"], ["the cat sat down", "the dog"], ["rouge1", "rougeL"])
    >>> result["rouge1"].precision, result["rouge1"].precisions
    (0.75, array([1. , 0.5]))
    >>> print(result)
    ROUGE of 2 pairs: precision, recall, F
    rouge1     0.7500 0.6250 0.6786
    rougeL     0.7500 0.6250 0.6786
    """

    def __init__(self, scores: Mapping[str, RougeScore], n_pairs: int, signature: str) -> None:
        self.by_type = dict(scores)
        self.n_pairs = n_pairs
        self.signature = signature

    @property
    def score(self) -> float:
        """The mean F of the first type."""
        return next(iter(self.by_type.values())).fmeasure

    def __float__(self) -> float:
        return self.score

    def _named(self) -> dict[str, RougeScore]:
        return self.by_type

    def _table_columns(self) -> list[TableColumn]:
        scores = list(self.by_type.values())
        numbers = (TableColumn(name, "number", [getattr(score, name) for score in scores]) for name in VALUES)
        return [TableColumn("type", "text", list(self.by_type)), *numbers]

    def _content(self) -> tuple[Any, ...]:
        return [score._content() for score in self.by_type.values()], list(self.by_type), self.n_pairs, self.signature

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Precision, recall and F of every type.

        Returns
        -------
        dict of str to dict
        """
        return {name: dict(zip(VALUES, score, strict=True)) for name, score in self.by_type.items()}

    def __repr__(self) -> str:
        values = ", ".join(f"{name} {score.fmeasure:.4f}" for name, score in self.by_type.items())
        return f"RougeResult({values}; F of {self.n_pairs:,} pair{'s' * (self.n_pairs != 1)})"

    def __str__(self) -> str:
        lines = [f"ROUGE of {self.n_pairs:,} pair{'s' * (self.n_pairs != 1)}: precision, recall, F"]
        for name, score in self.by_type.items():
            lines.append(f"{name:<10} {score.precision:.4f} {score.recall:.4f} {score.fmeasure:.4f}")
        return "\n".join(lines)
