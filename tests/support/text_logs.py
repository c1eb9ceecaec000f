"""Logs of short texts in several scripts, values of public functions for their columns, and a statistic of texts."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.columns.row_blocks import NonNumericRows
from fastmetrics._core.columns.text_columns import TextRows
from fastmetrics._core.registry import parse
from fastmetrics._core.state import Fields, Sums
from fastmetrics._core.statistic import ColumnStatistic
from fastmetrics.testing.sample_logs import text_columns as text_columns
from support.registry_cases import TEXT


@st.composite
def corpora(draw: st.DrawFn, texts: Any, missing: bool = True) -> tuple[list[Any], list[list[Any]]]:
    """Hypotheses and streams of references: every segment has one; of others, some may be None."""
    size = draw(st.integers(1, 5))
    hypotheses = draw(st.lists(texts, min_size=size, max_size=size))
    first = draw(st.lists(st.one_of(texts, st.sampled_from(hypotheses)), min_size=size, max_size=size))
    others = st.lists(st.one_of(texts, st.none()) if missing else texts, min_size=size, max_size=size)
    return hypotheses, [first, *draw(st.lists(others, max_size=2))]


def select_rows(log: dict[str, list[Any]], mask: list[bool]) -> dict[str, list[Any]]:
    """The rows of a log where the mask is true."""
    return {name: [value for value, keep in zip(column, mask, strict=True) if keep] for name, column in log.items()}


def more_references(references: Any, seed: int = 0) -> list[list[str | None]]:
    """Return a list of references per row: one or more texts, sometimes with a None among them."""
    chance = random.Random(seed)
    texts = list(map(str, references))
    return [[text, *(chance.choice([*texts[:50], None]) for _ in range(chance.randrange(3)))] for text in texts]


def function_value(metric: str, log: dict[str, Any], label: str = "reference", score: str = "hypothesis") -> float:
    """Return the value of a metric string, computed by its public function."""
    parsed = parse(metric)
    name, options = parsed.spec.name, dict(parsed.arguments)
    hypotheses, references = list(map(str, log[score])), list(log[label])
    if name.startswith("rouge"):
        return fm.rouge_score(hypotheses, references, [name], **options)[name].fmeasure
    if not isinstance(references[0], str) and name != "meteor":
        most = max(map(len, references))
        references = [[row[number] if number < len(row) else None for row in references] for number in range(most)]
    return float(parsed.spec.function(hypotheses, references, **options))


def text_metrics() -> list[str]:
    """Return every registered text metric, with default options and with others."""
    return TEXT


def has_wordnet() -> bool:
    """Whether WordNet is installed; METEOR needs it by default."""
    try:
        fm.sentence_meteor("a", "a")
    except FileNotFoundError:
        return False
    return True


class EqualTexts(ColumnStatistic):
    """How many hypotheses are one of their references; the code points of hypotheses and of references."""

    __slots__ = ("fold",)

    def __init__(self, fold: bool) -> None:
        self.fold = fold

    def empty(self) -> Sums:
        return Sums(Fields("rows", "equal", "code points", "code points of references"))

    def count_rows(self, rows: NonNumericRows) -> np.ndarray:
        rows = TextRows(*rows[: len(TextRows._fields)])
        counts = []
        for block in rows.blocks():
            assert block.first_row == len(counts)
            found = ["".join(map(chr, block.points[start:stop])) for start, stop in pairs(block.offsets)]
            for first, last in pairs(block.segments):
                hypothesis, *references = found[first:last]
                assert references
                if self.fold:
                    hypothesis, references = hypothesis.casefold(), [text.casefold() for text in references]
                counts.append([1, hypothesis in references, len(hypothesis), sum(map(len, references))])
        assert len(counts) == rows.rows
        return np.array(counts, np.int64)

    def add(self, state: Sums, counts: np.ndarray) -> None:
        state.counts += counts.sum(axis=0)


def pairs(bounds: np.ndarray) -> Iterator[tuple[int, int]]:
    """The beginnings and ends between bounds."""
    return zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
