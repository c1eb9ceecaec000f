"""Logs of short texts in several scripts, and the values of public functions for their columns."""

import random
from typing import Any

from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.registry import parse
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
