"""Registers the text metrics, so that the engine can compute them from columns of texts.

The statistic `TextCounts` applies a text metric (see `text_metric.py`) to rows. Its state is that of the text metric,
with the number of rows appended. A registered metric computes its value from the state as its public function does.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import NonNumericRows
from fastmetrics._core.columns.text_columns import TextRows
from fastmetrics._core.immutable import EMPTY
from fastmetrics._core.kinds import TEXTS
from fastmetrics._core.registry import metric
from fastmetrics._core.state import Fields, ManySums, Sums
from fastmetrics._core.statistic import ColumnStatistic, NotesLostWords, Value
from fastmetrics.metrics.text.inputs.segments import VARIABLE, TextBlock
from fastmetrics.metrics.text.text_metric import BlockCounter, FindsLostWords, TextMetric, check_order
from fastmetrics.metrics.text.tokens.tokenizers import TOKENIZERS

NO_ROWS = "no rows"
LOST_WORDS = "rows_without_words"  # in the coverage: of texts in which only another tokenizer finds words


class TextCounts(NotesLostWords, ColumnStatistic):
    """The state of a text metric over rows: its own fields, then the number of rows.

    Of a metric that finds lost words, one more count is the number of rows that have such.
    """

    __slots__ = ("counters", "fields", "metric", "name")

    def __init__(self, name: str, text_metric: TextMetric[Any]) -> None:
        self.name = name
        self.metric = text_metric
        lost = ["rows without words"] if isinstance(text_metric, FindsLostWords) else []
        self.fields = Fields(*text_metric.fields.fields, "rows", *lost)
        # A pool of idle counters: a thread uses one for a batch and returns it, so that its vocabulary is kept.
        self.counters: deque[BlockCounter] = deque()

    def attributes(self) -> tuple[Any, ...]:
        return self.name, self.metric

    def __reduce__(self) -> tuple[Any, ...]:
        return TextCounts, self.attributes()

    def empty(self) -> Sums:
        return Sums(self.fields)

    def metric_state(self, sums: Sums) -> Sums:
        """The text metric's part of a state, as views of its arrays."""
        own = self.metric.empty()
        return own.with_memory(sums.counts[: own.fields.n_counts], sums.exact)

    def rows_without_words(self, state: Sums) -> int:
        return state.count("rows without words") if isinstance(self.metric, FindsLostWords) else 0

    def note_on_words(self, state: Sums) -> str | None:
        rows = self.rows_without_words(state)
        if not rows:
            return None
        return (
            f"the tokenizer finds no word in a text of {rows:,} row{'' if rows == 1 else 's'}, and such a text matches "
            "nothing: it has words of a-z and 0-9 only; for other scripts write rouge1(tokenizer=unicode)"
        )

    def coverage(self, sums: Sums) -> dict[str, Any]:
        lost = self.rows_without_words(sums)
        return {"rows": sums.count("rows"), **({LOST_WORDS: lost} if lost else {})}

    def count_rows(self, rows: NonNumericRows) -> np.ndarray:
        try:
            count = self.counters.popleft()
        except IndexError:
            count = self.metric.new_counter()
        n_columns, metric = len(self.metric.columns), self.metric
        counts = np.zeros((rows.score.rows, n_columns + isinstance(metric, FindsLostWords)), np.int64)
        texts = TextRows(rows.label, rows.score, rows.first_row, rows.name, rows.label_name, rows.row_numbers)
        for block in texts.blocks(lowercase=metric.lowercase):
            texts_of_block = TextBlock(block.points, block.offsets, block.segments)
            own = counts[block.first_row : block.first_row + block.segments.shape[0] - 1]
            if not isinstance(metric, FindsLostWords):
                count(texts_of_block, own)
                continue
            block_counts = np.empty((own.shape[0], n_columns), np.int64)
            count(texts_of_block, block_counts)
            own[:, :-1] = block_counts
            own[metric.rows_without_words(texts_of_block, block_counts), -1] = 1
        self.counters.append(count)
        return counts

    def add(self, sums: Sums, counts: np.ndarray) -> None:
        sums.add_count("rows", counts.shape[0])
        if isinstance(self.metric, FindsLostWords):
            sums.add_count("rows without words", counts[:, -1].sum())
            counts = np.ascontiguousarray(counts[:, :-1])
        self.metric.add(self.metric_state(sums), counts)


def register(
    name: str,
    summary: str,
    function: str,
    checks: dict[str, Any],
    *,
    module: str | None = None,
    score_options: dict[str, Any] | None = None,
    fixed_options: dict[str, Any] | None = None,
    value_of: Callable[[Any], tuple[float, dict[str, Any]]] = lambda result: (float(result), {}),
    many_values: Callable[[Any, ManySums], np.ndarray] = lambda text_metric, states: text_metric.many_scores(states),
    direction: str = "maximize",
    scale: str = "mean",
    variants: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    near_names: Mapping[str, str] = EMPTY,
) -> None:
    """Register a text metric by the name of its public function, and of its module unless that is the metric's name.

    `score_options` are parameters that affect the score but not the counted statistics, each with an arbitrary value
    for counting: metrics that differ only in them share one statistic. `fixed_options` are implied by the metric's
    name. `value_of` returns the value, and further entries of the coverage, from the text metric's result;
    `many_values` the values of many states.
    """
    source = import_module(f"fastmetrics.metrics.text.{module or name}")
    implied = fixed_options or {}

    def statistics(**options: Any) -> tuple[TextCounts]:
        source.make_metric(**options, **implied)
        return (TextCounts(module or name, source.make_metric(**(options | (score_options or {})), **implied)),)

    def finalize(options: dict[str, Any], state: Sums) -> Value:
        (statistic,) = statistics(**options)
        coverage = statistic.coverage(state)
        if not coverage["rows"]:
            return Value(math.nan, coverage, NO_ROWS)
        text_metric = source.make_metric(**options, **implied)
        value, details = value_of(text_metric.score(statistic.metric_state(state), VARIABLE))
        return Value(value, coverage | details)

    def many(options: dict[str, Any], states: ManySums) -> np.ndarray:
        values = many_values(source.make_metric(**options, **implied), states)
        values[states.counts_of("rows") == 0] = np.nan
        return values

    finalize.__doc__ = summary
    metric(
        name,
        exchange="none",
        roles=TEXTS,
        statistics=statistics,
        function=getattr(source, function),
        undefined=NO_ROWS,
        parameters={parameter: source.make_metric.__kwdefaults__[parameter] for parameter in checks},
        checks=checks,
        default=False,
        direction=direction,
        scale=scale,
        variants=variants,
        aliases=aliases,
        near_names=near_names,
        many=many,
    )(finalize)


FLAGS = (True, False)


def check_order_from(least: int) -> Callable[[Any], None]:
    """Return a check that a parameter is an n-gram length of at least `least`."""

    def check(value: Any) -> None:
        check_order(value, "the order of n-grams", least)

    return check


def check_number(value: Any) -> None:
    """Raise ValueError unless the value is a number; `make_metric` checks its range."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"a number is needed; found {value!r}")


def check_smooth_value(value: Any) -> None:
    """Raise ValueError unless the value is a number or None."""
    if value is not None:
        check_number(value)


def bleu_value(result: Any) -> tuple[float, dict[str, Any]]:
    precisions = "/".join(f"{precision:.1f}" for precision in result.precisions)
    lengths = {"sys_len": result.sys_len, "ref_len": result.ref_len}
    return result.score, {"precisions": precisions, "brevity_penalty": result.bp, **lengths}


register(
    "bleu",
    "BLEU of a corpus, 0 to 100: clipped n-gram precisions and a brevity penalty, as sacrebleu's.",
    "corpus_bleu",
    {
        "tokenize": TOKENIZERS,
        "smooth": ("exp", "floor", "add-k", "none"),
        "smooth_value": check_smooth_value,
        "lowercase": FLAGS,
        "max_order": check_order_from(1),
        "effective_order": FLAGS,
    },
    score_options={"smooth": "exp", "smooth_value": None, "effective_order": False},
    value_of=bleu_value,
    variants=(
        "bleu(lowercase=True, smooth=floor, max_order=2)",
        "bleu(tokenize=intl, effective_order=True, smooth='add-k', smooth_value=0.5)",
        "bleu(tokenize=zh)",
        "bleu(tokenize=char, smooth=none)",
    ),
    scale="percentage",
    aliases=("corpus_bleu", "sacrebleu"),
    near_names={"sentence_bleu": "the mean over sentences is another number than 'bleu', which is that of the corpus"},
)

register(
    "chrf",
    "chrF of a corpus, 0 to 100: the F-score of character n-grams, of words too with word_order=2 (chrF++).",
    "corpus_chrf",
    {
        "char_order": check_order_from(0),
        "word_order": check_order_from(0),
        "beta": check_number,
        "lowercase": FLAGS,
        "whitespace": FLAGS,
        "eps_smoothing": FLAGS,
    },
    variants=(
        "chrf(word_order=2, lowercase=True)",
        "chrf(char_order=2, beta=0.5, whitespace=True, eps_smoothing=True)",
    ),
    scale="percentage",
    aliases=("corpus_chrf", "chrf2"),  # sacrebleu names it by its beta
    near_names=dict.fromkeys(("chrfpp", "chrf_plus_plus"), "write chrf(word_order=2)"),
)


def check_modules(value: Any) -> None:
    """Raise ValueError unless the value is a tuple."""
    if not isinstance(value, tuple):
        raise ValueError(f"modules must be a tuple of names, such as ('exact', 'stem'); found {value!r}")


def meteor_value(result: Any) -> tuple[float, dict[str, Any]]:
    names = ("precision", "recall", "fragmentation", "sys_len", "ref_len")
    return result.score, {name: getattr(result, name) for name in names}


register(
    "meteor",
    "METEOR, the mean over rows: words matched by form, stem and synonym, less a penalty for scattered matches.",
    "corpus_meteor",
    {
        "modules": check_modules,
        "alpha": check_number,
        "beta": check_number,
        "gamma": check_number,
        "alignment": ("fewest_crossings", "nltk"),
        "average": ("segment", "corpus"),
        "tokenize": TOKENIZERS,
        "lowercase": FLAGS,
    },
    score_options={"average": "segment"},
    value_of=meteor_value,
    variants=(
        "meteor(modules=('exact', 'stem'), average=corpus)",
        "meteor(modules=('exact',), alignment=nltk, lowercase=False, tokenize=zh, gamma=0.25)",
    ),
    aliases=("corpus_meteor",),
)

register(
    "ter",
    "Translation edit rate of a corpus: 100 edits a word of the references, shifts among them, as sacrebleu's.",
    "corpus_ter",
    {
        "normalized": FLAGS,
        "no_punct": FLAGS,
        "asian_support": FLAGS,
        "case_sensitive": FLAGS,
    },
    value_of=lambda result: (result.score, {"num_edits": result.num_edits, "ref_length": result.ref_length}),
    direction="minimize",
    scale="ratio",
    variants=("ter(normalized=True, no_punct=True, asian_support=True)", "ter(case_sensitive=True)"),
    aliases=("corpus_ter",),
)


def rouge_value(rouge_type: str) -> Callable[[Any], tuple[float, dict[str, Any]]]:
    """Return the `value_of` of a type of ROUGE: its mean F, with precision and recall in the coverage."""

    def value_of(result: Any) -> tuple[float, dict[str, Any]]:
        score = result[rouge_type]
        return score.fmeasure, {"precision": score.precision, "recall": score.recall}

    return value_of


def rouge_values(text_metric: Any, states: ManySums, rouge_type: str) -> np.ndarray:
    """The mean F of a type of ROUGE, of many states."""
    values: np.ndarray = text_metric.many_means(states, rouge_type)
    return values


# A summary and a variant of each type.
ROUGE = {
    "rouge1": ("ROUGE-1: words in common", "rouge1(stem=True)"),
    "rouge2": ("ROUGE-2: pairs of neighboring words in common", "rouge2(tokenizer=unicode)"),
    "rougeL": ("ROUGE-L: the longest common subsequence of words", "rougeL(stem=True, beta=2)"),
    "rougeLsum": (
        "ROUGE-Lsum: the union of longest common subsequences for each line of the reference",
        "rougeLsum(tokenizer=unicode, stem=True)",
    ),
}
# These types share one statistic: they are often requested together, and one pass over the words counts all of them.
SHARED_TYPES = ("rouge1", "rouge2", "rougeL")


def _spellings_of(rouge_type: str, *parts: str) -> list[str]:
    """What texts are measured by in other tools, "rouge_1_f" or "rouge1_fmeasure", without what makes no difference."""
    return [spelling + part for part in parts for spelling in (rouge_type.replace("rouge", "rouge_"), rouge_type)]


for _type, (_summary, _variant) in ROUGE.items():
    register(
        _type,
        f"{_summary}; the mean F over rows, as rouge-score's, of several references the best.",
        "rouge_score",
        {
            "stem": FLAGS,
            "tokenizer": ("default", "unicode"),
            "beta": check_number,
        },
        module="rouge",
        fixed_options={"types": SHARED_TYPES if _type in SHARED_TYPES else (_type,)},
        value_of=rouge_value(_type),
        many_values=partial(rouge_values, rouge_type=_type),
        variants=(_variant,),
        aliases=tuple(_spellings_of(_type, "_f", "_f1", "_fmeasure", ""))[:-1],
        near_names={"rouge": f"name the type: {', '.join(map(repr, ROUGE))}"}
        | dict.fromkeys(
            _spellings_of(_type, "_p", "_r", "_precision", "_recall"),
            f"{_type!r} is the mean F; fm.rouge_score(hypotheses, references) also has precision and recall",
        ),
    )
