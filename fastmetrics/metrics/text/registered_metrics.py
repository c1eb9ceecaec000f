"""Metrics of text in the registry: what the engine counts in columns of texts, and the values it makes of it.

A statistic here is a metric of text (see statistics.py) at work on rows: its state holds the integers that the metric
adds up, and the number of rows. A metric's value is made of it by the same code as that of its function.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from fastmetrics._core.registry import metric
from fastmetrics._core.rows import ColumnPair
from fastmetrics._core.statistic import Statistic, Sums, Value
from fastmetrics._core.texts import TextRows
from fastmetrics.metrics.text.options import check_order
from fastmetrics.metrics.text.segments import VARIABLE, TextBlock
from fastmetrics.metrics.text.statistics import Counter, TextMetric
from fastmetrics.metrics.text.tokenizers import TOKENIZERS

NO_ROWS = "no rows"


class TextCounts(Statistic):
    """The statistics of a metric of text, added up over rows; the last count is that of rows."""

    __slots__ = ("counters", "metric", "name")

    def __init__(self, name: str, text_metric: TextMetric) -> None:
        self.name = name
        self.metric = text_metric
        # A thread takes one, or makes one, and brings it back: what it knows of words is worth keeping.
        self.counters: deque[Counter] = deque()

    def fields(self) -> tuple[Any, ...]:
        return self.name, self.metric

    def __reduce__(self) -> tuple[Any, ...]:
        return TextCounts, self.fields()

    def new(self) -> Sums:
        sums = self.metric.new()
        sums.counts = np.zeros(sums.counts.shape[0] + 1, np.int64)
        return sums

    def own(self, sums: Sums) -> Sums:
        """The metric's part of a state, in the same memory."""
        own = Sums(0, 0)
        own.counts, own.exact = sums.counts[:-1], sums.exact
        return own

    def count_rows(self, rows: ColumnPair) -> np.ndarray:
        try:
            counter = self.counters.popleft()
        except IndexError:
            counter = self.metric.new_counter()
        counts = np.empty((rows.score.rows, len(self.metric.columns)), np.int64)
        for block in TextRows(*rows).blocks(lowercase=getattr(self.metric, "lowercase", False)):
            own = counts[block.first_row : block.first_row + block.segments.shape[0] - 1]
            counter.count(TextBlock(block.points, block.offsets, block.segments), own)
        self.counters.append(counter)
        return counts

    def add(self, sums: Sums, counts: np.ndarray) -> None:
        self.metric.add(self.own(sums), counts)
        sums.counts[-1] += counts.shape[0]


Parameters = dict[str, tuple[Any, Any]]  # default, and what is allowed: values, or a function that checks one


def enter(
    name: str,
    summary: str,
    function: str,
    parameters: Parameters,
    *,
    module: str | None = None,
    judging: dict[str, Any] | None = None,
    given: dict[str, Any] | None = None,
    read: Callable[[Any], tuple[float, dict[str, Any]]] = lambda result: (float(result), {}),
    best: str = "highest",
) -> None:
    """Enter a metric of text by the name of its function and of the module that makes it.

    `judging` are parameters that only its value depends on, with a value that is as good as any for counting: metrics
    that differ in nothing else count together. `given` are options that its name implies. `read` takes the value and
    what else is to be told from the metric's result.
    """
    source = import_module(f"fastmetrics.metrics.text.{module or name}")
    implied = given or {}

    def statistics(**options: Any) -> tuple[TextCounts]:
        source.make_metric(**options, **implied)
        return (TextCounts(module or name, source.make_metric(**(options | (judging or {})), **implied)),)

    def finalise(options: dict[str, Any], state: Sums) -> Value:
        (counted,) = statistics(**options)
        coverage: dict[str, Any] = {"rows": state.count(-1)}
        if not coverage["rows"]:
            return Value(math.nan, coverage, NO_ROWS)
        value, more = read(source.make_metric(**options, **implied).score(counted.own(state), VARIABLE))
        return Value(value, coverage | more)

    finalise.__doc__ = summary
    metric(
        name,
        exchange="none",
        target="text",
        statistics=statistics,
        function=getattr(source, function),
        undefined=NO_ROWS,
        parameters={own: default for own, (default, _) in parameters.items()},
        checks={own: allowed for own, (_, allowed) in parameters.items()},
        default=False,
        best=best,
    )(finalise)


FLAGS = (True, False)


def order_from(least: int) -> Callable[[Any], None]:
    """A check of the length of n-grams, as a parameter's."""

    def check(value: Any) -> None:
        check_order(value, "the order of n-grams", least)

    return check


def check_number(value: Any) -> None:
    """A number, as a parameter's value; which ones mean something the metric says."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"a number is needed; found {value!r}")


def check_smooth_value(value: Any) -> None:
    """A number or None."""
    if value is not None:
        check_number(value)


def read_bleu(result: Any) -> tuple[float, dict[str, Any]]:
    precisions = "/".join(f"{own:.1f}" for own in result.precisions)
    lengths = {"sys_len": result.sys_len, "ref_len": result.ref_len}
    return result.score, {"precisions": precisions, "brevity_penalty": result.bp, **lengths}


enter(
    "bleu",
    "BLEU of a corpus, 0 to 100: clipped n-gram precisions and a brevity penalty, as sacrebleu's.",
    "corpus_bleu",
    {
        "tokenize": ("13a", tuple(TOKENIZERS)),
        "smooth": ("exp", ("exp", "floor", "add-k", "none")),
        "smooth_value": (None, check_smooth_value),
        "lowercase": (False, FLAGS),
        "max_order": (4, order_from(1)),
        "effective_order": (False, FLAGS),
    },
    judging={"smooth": "exp", "smooth_value": None, "effective_order": False},
    read=read_bleu,
)

enter(
    "chrf",
    "chrF of a corpus, 0 to 100: the F-score of character n-grams, of words too with word_order=2 (chrF++).",
    "corpus_chrf",
    {
        "char_order": (6, order_from(0)),
        "word_order": (0, order_from(0)),
        "beta": (2, check_number),
        "lowercase": (False, FLAGS),
        "whitespace": (False, FLAGS),
        "eps_smoothing": (False, FLAGS),
    },
)


def check_modules(value: Any) -> None:
    """A tuple, which a metric string can hold."""
    if not isinstance(value, tuple):
        raise ValueError(f"modules must be a tuple of names, such as ('exact', 'stem'); found {value!r}")


def read_meteor(result: Any) -> tuple[float, dict[str, Any]]:
    names = ("precision", "recall", "fragmentation", "sys_len", "ref_len")
    return result.score, {name: getattr(result, name) for name in names}


enter(
    "meteor",
    "METEOR, the mean over rows: words matched by form, stem and synonym, less a penalty for scattered matches.",
    "corpus_meteor",
    {
        "modules": (("exact", "stem", "synonym"), check_modules),
        "alpha": (0.9, check_number),
        "beta": (3.0, check_number),
        "gamma": (0.5, check_number),
        "alignment": ("fewest_crossings", ("fewest_crossings", "nltk")),
        "average": ("segment", ("segment", "corpus")),
        "tokenize": ("none", tuple(TOKENIZERS)),
        "lowercase": (True, FLAGS),
    },
    judging={"average": "segment"},
    read=read_meteor,
)

enter(
    "ter",
    "Translation edit rate of a corpus: 100 edits a word of the references, shifts among them, as sacrebleu's.",
    "corpus_ter",
    {
        "normalized": (False, FLAGS),
        "no_punct": (False, FLAGS),
        "asian_support": (False, FLAGS),
        "case_sensitive": (False, FLAGS),
    },
    read=lambda result: (result.score, {"num_edits": result.num_edits, "ref_length": result.ref_length}),
    best="lowest",
)


def read_rouge(kind: str) -> Callable[[Any], tuple[float, dict[str, Any]]]:
    """The mean F of a type; precision and recall are told beside it."""

    def read(result: Any) -> tuple[float, dict[str, Any]]:
        score = result[kind]
        return score.fmeasure, {"precision": score.precision, "recall": score.recall}

    return read


ROUGE = {
    "rouge1": "ROUGE-1: words in common",
    "rouge2": "ROUGE-2: pairs of neighbouring words in common",
    "rougeL": "ROUGE-L: the longest common subsequence of words",
    "rougeLsum": "ROUGE-Lsum: the union of longest common subsequences for each line of the reference",
}
# Those of whole texts are counted together: they are mostly wanted together, and one look at the words serves all.
WHOLE_TEXTS = ("rouge1", "rouge2", "rougeL")

for _kind, _meaning in ROUGE.items():
    enter(
        _kind,
        f"{_meaning}; the mean F over rows, as rouge-score's, of several references the best.",
        "rouge_score",
        {
            "stem": (False, FLAGS),
            "tokenizer": ("default", ("default", "unicode")),
            "beta": (1.0, check_number),
        },
        module="rouge",
        given={"types": WHOLE_TEXTS if _kind in WHOLE_TEXTS else (_kind,)},
        read=read_rouge(_kind),
    )
