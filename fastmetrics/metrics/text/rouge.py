"""ROUGE: n-grams and subsequences of words that summaries share with their references, with rouge-score's scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.state import Fields, ManySums, Sums, exact_sum
from fastmetrics._core.undefined import warn_undefined, warn_user
from fastmetrics._kernels.numeric import sums as kernel_sums
from fastmetrics._kernels.text.rouge import OverlapCounter, select_best
from fastmetrics.metrics.text.inputs.argument_forms import segments_from_parallel
from fastmetrics.metrics.text.inputs.segments import Segments, TextBlock
from fastmetrics.metrics.text.rouge_result import VALUES, RougeResult, RougeScore
from fastmetrics.metrics.text.text_metric import (
    BlockCounter,
    FindsLostWords,
    TextMetric,
    Tokenizing,
    count_segments,
    join_signature,
    prepare_metric,
)
from fastmetrics.metrics.text.tokens.rouge_words import (
    TOKENIZERS,
    CallableEncoder,
    CallableTokenizer,
    RougeTextEncoder,
    TokenListEncoder,
    first_row_without_words,
    segments_without_words,
)
from fastmetrics.metrics.text.tokens.word_encoder import PRETOKENIZED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastmetrics._core.types.arrays import ArrayLike
    from fastmetrics._core.types.options import RougeReference, RougeTokenizer

__all__ = ["rouge_score"]

ROUGE_L, ROUGE_LSUM = "rougeL", "rougeLsum"
ORDERS = {f"rouge{order}": order for order in range(1, 10)}
TYPES = (*ORDERS, ROUGE_L, ROUGE_LSUM)
DEFAULT_TYPES = ("rouge1", "rouge2", ROUGE_L, ROUGE_LSUM)
COUNTS = ("overlap", "hypothesis", "reference")

to_segments = segments_from_parallel


@cache
def fields_of_types(n_types: int) -> Fields:
    """Of each type the sums of precision, recall and F."""
    return Fields("pairs", exact_sum("values", len(VALUES) * n_types))


@dataclass(frozen=True)
class Rouge(FindsLostWords, Tokenizing, TextMetric[RougeResult]):
    """ROUGE with its options, checked."""

    types: tuple[str, ...]
    column_types: tuple[str, ...]  # the types in the order of their columns
    stem: bool
    tokenize: str | CallableTokenizer
    multi: str
    beta: float
    n_counted: int = 1  # references with statistics: 1 for the best one, or all

    @property
    def lowercase(self) -> bool:
        """The default tokenizer lower-cases texts itself."""
        return self.tokenize == "unicode"

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of a segment's statistics: three for each type of each counted reference."""
        suffixes = [""] if self.n_counted == 1 else [f"_{number}" for number in range(self.n_counted)]
        return tuple(f"{name}_{count}{suffix}" for suffix in suffixes for name in self.column_types for count in COUNTS)

    def new_counter(self) -> BlockCounter:
        return RougeCounter(self).count

    @property
    def fields(self) -> Fields:
        return fields_of_types(len(self.column_types))

    def add(self, sums: Sums, counts: np.ndarray) -> None:
        self.add_values(sums, self.values(counts))

    def values(self, counts: np.ndarray) -> np.ndarray:
        """Return precision, recall and F of rows of statistics, [type, value, row], with rouge-score's operations."""
        rows = counts.reshape(len(counts) * self.n_counted, len(self.column_types), len(COUNTS))
        values = np.empty((len(self.column_types), len(VALUES), len(rows)))
        values[:, :2] = (rows[:, :, :1] / np.maximum(rows[:, :, 1:], 1)).transpose(1, 2, 0)
        values[:, 2] = f_measure(values[:, 0], values[:, 1], self.beta)
        if self.n_counted == 1:
            return values
        by_reference = values.reshape(*values.shape[:2], len(counts), self.n_counted)
        return mean_of_references(by_reference, rows[:, 0, 0].reshape(len(counts), self.n_counted))

    def add_values(self, sums: Sums, values: np.ndarray) -> None:
        sums.add_count("pairs", values.shape[-1])
        columns = np.ascontiguousarray(values).reshape(len(sums.exact), -1)
        for state, column in zip(sums.exact, columns, strict=True):
            kernel_sums.sum_values(column, None, state)

    def score(self, sums: Sums, n_references: int) -> RougeResult:
        return self.result(self.means(sums), sums.count("pairs"), n_references)

    def score_of(self, values: np.ndarray, n_references: int) -> RougeResult:
        """Return the result for the values of all pairs."""
        n_pairs = values.shape[-1]
        if n_pairs == 1:
            return self.result(values.ravel().tolist(), 1, n_references, values)
        sums = self.empty()
        self.add_values(sums, values)
        return self.result(self.means(sums), n_pairs, n_references, values)

    def rows_without_words(self, block: TextBlock, counts: np.ndarray) -> np.ndarray:
        """The rows of a block with a text that has words for tokenizer="unicode" only."""
        if self.tokenize != "default" or counts[:, 1 : len(COUNTS)].all():
            return np.zeros(0, np.int64)
        return segments_without_words(block)

    def warn_of_lost_words(self, counts: np.ndarray, segments: Segments) -> None:
        """Warn if a text has words for tokenizer="unicode" only. Only blocks with a count of 0 are read again."""
        has_words = counts.reshape(len(counts) * self.n_counted, -1)[:, 1 : len(COUNTS)]
        if self.tokenize != "default" or has_words.all():
            return
        rows = np.flatnonzero(~has_words.all(axis=1)) // self.n_counted
        row = first_row_without_words(segments, np.unique(rows // segments.block_size).tolist())
        if row is not None:
            warn_user(
                f"ROUGE finds no word in a text of row {row}, and such a text matches nothing: tokenizer='default' has "
                "words of a-z and 0-9 only. For other scripts use tokenizer='unicode' (--tokenizer unicode on the "
                "command line)",
                UserWarning,
            )

    def means(self, sums: Sums) -> list[float]:
        """Return the mean precision, recall and F of every type, from their exact sums."""
        n_pairs = sums.count("pairs")
        if not n_pairs:
            return [warn_undefined("rouge_score", "there are no pairs")] * len(sums.exact)
        whole = n_pairs << exact.EXPONENT
        return [exact.divide(sums.integer("values", index), whole) for index in range(len(sums.exact))]

    def many_means(self, states: ManySums, rouge_type: str) -> np.ndarray:
        """The mean F of a type of many states."""
        index = len(VALUES) * self.column_types.index(rouge_type) + VALUES.index("fmeasure")
        return exact.quotients(states.number("values", index), states.number("pairs"))

    def result(
        self, means: list[float], n_pairs: int, n_references: int, values: np.ndarray | None = None
    ) -> RougeResult:
        scores = {}
        for name in self.types:
            index = self.column_types.index(name)
            scores[name] = RougeScore(means[3 * index : 3 * index + 3], None if values is None else values[index])
        return RougeResult(scores, n_pairs, self.signature(n_references))

    def signature(self, n_references: int) -> str:
        return join_signature(
            {
                "types": ",".join(self.types),
                "nrefs": n_references,
                "multi": self.multi,
                "stem": "yes" if self.stem else "no",
                "tok": self.tokenize,
                "beta": repr(self.beta).removesuffix(".0"),
            }
        )


class RougeCounter:
    """One thread's encoders and tables."""

    def __init__(self, metric: Rouge) -> None:
        self.beta = metric.beta
        self.n_counted = metric.n_counted
        self.n_columns = len(metric.column_types) * len(COUNTS)
        self.orders = np.array([ORDERS[name] for name in metric.column_types if name in ORDERS], np.int64)
        self.has_rouge_l = ROUGE_L in metric.types
        self.has_rouge_lsum = ROUGE_LSUM in metric.types
        self.overlaps = OverlapCounter()
        self.stem = metric.stem
        self.token_encoder = TokenListEncoder()
        self.text_encoder: RougeTextEncoder | CallableEncoder | TokenListEncoder = self.token_encoder
        if isinstance(metric.tokenize, CallableTokenizer):
            self.text_encoder = CallableEncoder(metric.tokenize)
        elif metric.tokenize != PRETOKENIZED:
            self.text_encoder = RougeTextEncoder(metric.tokenize, metric.stem)

    def count(self, block: Any, out: np.ndarray) -> None:
        """Fill `out` with the statistics of every segment, of its best reference by F for each type, or of all."""
        n_references = int(block.segments[-1] - block.segments[0]) - len(out)
        if n_references == len(out) and self.n_counted == 1:
            self.count_pairs(block, out)
            return
        pairs = np.empty((n_references, self.n_columns), np.int64)
        self.count_pairs(block, pairs)
        if self.n_counted == 1:
            select_best(pairs, block.segments, self.beta, out)
            return
        out[:] = -1
        is_present = np.arange(self.n_counted) < np.diff(block.segments)[:, None] - 1
        out.reshape(len(out), self.n_counted, -1)[is_present] = pairs

    def count_pairs(self, block: Any, out: np.ndarray) -> None:
        """Fill `out` with the statistics of every reference."""
        encoder = self.text_encoder
        if not isinstance(block, TextBlock):
            if self.stem:
                raise ValueError("stem=True needs texts; lists of tokens are not stemmed")
            encoder = self.token_encoder
        if isinstance(encoder, CallableEncoder) and self.has_rouge_lsum:
            # The caller's tokenizer may split a text otherwise than its sentences, so both are tokenized.
            if self.n_columns > len(COUNTS):
                texts = np.empty((len(out), self.n_columns - len(COUNTS)), np.int64)
                self.overlaps.count(*encoder.encode(block, False), self.orders, self.has_rouge_l, False, texts)
                out[:, : -len(COUNTS)] = texts
            union = np.empty((len(out), len(COUNTS)), np.int64)
            self.overlaps.count(*encoder.encode(block, True), self.orders[:0], False, True, union)
            out[:, -len(COUNTS) :] = union
            return
        by_sentence = self.has_rouge_lsum
        self.overlaps.count(*encoder.encode(block, by_sentence), self.orders, self.has_rouge_l, by_sentence, out)


def f_measure(precision: np.ndarray, recall: np.ndarray, beta: float) -> np.ndarray:
    """Return the weighted harmonic mean of precision and recall; 0 if both are 0."""
    square = beta * beta
    divisor = square * precision + recall
    values: np.ndarray = (1 + square) * precision * recall / np.where(divisor > 0, divisor, 1.0)
    return values


def mean_of_references(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return means over references of values[type, value, row, reference]; counts[row, reference] is -1 if absent.

    Values are added in ascending order, so the result does not depend on the order of references.
    """
    absent = counts < 0
    values = np.sort(np.where(absent, 0.0, values), axis=-1)
    total: np.ndarray = values[..., 0].copy()
    for reference in range(1, values.shape[-1]):
        total += values[..., reference]
    total /= values.shape[-1] - np.count_nonzero(absent, axis=1)
    return total


def check_types(types: Any) -> tuple[str, ...]:
    """Return the requested types without duplicates."""
    if not isinstance(types, Iterable):
        raise TypeError(f"types must be a name, such as 'rouge1', or a sequence of names; found {types!r}")
    names = (types,) if isinstance(types, str) else tuple(types)
    if not names:
        raise ValueError("types is empty: name at least one, for example 'rouge1'")
    for name in names:
        if not isinstance(name, str) or name not in TYPES:
            raise validation.OptionError(f"types must be among {', '.join(TYPES)}; found {name!r}")
    return tuple(dict.fromkeys(names))


def check_options(types: Any, stem: Any, tokenizer: Any, multi: Any, beta: Any) -> Rouge:
    """Check the options and return the metric; ValueError or TypeError if an option is not valid."""
    names = check_types(types)
    validation.check_flag(stem, "stem")
    if callable(tokenizer):
        if stem:
            raise ValueError("stem=True needs tokenizer='default' or 'unicode'; stem in your own tokenizer instead")
        tokenizer = CallableTokenizer(tokenizer)
    elif not isinstance(tokenizer, str) or tokenizer not in TOKENIZERS:
        raise validation.OptionError(f"tokenizer must be 'default', 'unicode' or a function; found {tokenizer!r}")
    validation.check_option(multi, "multi", ("best", "mean"))
    number = validation.check_number(
        beta, "beta", "a finite number above 0", lambda beta: beta > 0 and math.isfinite(beta * beta)
    )
    column_types = tuple(name for name in TYPES if name in names)
    return Rouge(names, column_types, bool(stem), tokenizer, multi, number)


def make_metric(
    *,
    types: Any = DEFAULT_TYPES,
    stem: bool = False,
    tokenizer: Any = "default",
    multi: str = "best",
    beta: float = 1.0,
) -> Rouge:
    """Return the metric with integer statistics, which are those of the best reference."""
    metric = check_options(types, stem, tokenizer, multi, beta)
    if multi != "best":
        raise ValueError("multi='mean' averages ratios and has no integer statistics; call rouge_score instead")
    return metric


@answers_unknown
def rouge_score(
    hypotheses: ArrayLike,
    references: ArrayLike,
    types: str | Sequence[str] = DEFAULT_TYPES,
    *,
    stem: bool = False,
    tokenizer: RougeTokenizer | Callable[[str], list[str]] = "default",
    multi: RougeReference = "best",
    beta: float = 1.0,
    n_threads: int | None = None,
) -> RougeResult:
    """ROUGE: the overlap of summaries with their references, as precision, recall and F, with means over pairs.

    ROUGE-N counts common n-grams, each as often as both texts have it. ROUGE-L counts the words of a longest common
    subsequence. ROUGE-Lsum counts, for every sentence of the reference, the union of its longest common subsequences
    with all sentences of the hypothesis. P = common / in the hypothesis, R = common / in the reference,
    F = (1 + beta^2) P R / (beta^2 P + R). Scores are equal to rouge-score's, to the last bit.

    Parameters
    ----------
    hypotheses : list of str
        One summary each; or lists of tokens, str or int, which are used without tokenizing.
    references : list of str, or list of lists of str
        One reference, or a list of references, per hypothesis.
    types : sequence of str
        "rouge1" to "rouge9", "rougeL", "rougeLsum".
    stem : bool
        Compare Porter stems (NLTK's default mode) of words of more than three letters.
    tokenizer : {"default", "unicode"} or callable
        - "default": runs of a-z and 0-9 of the lower-cased text. A text in another script has no words, so its scores
          are 0, with a UserWarning.
        - "unicode": runs of letters, marks and numbers of any script, in lower case; see `tokenize`.
        - a function from a str to its tokens, a list of str. It is called for every text, and for "rougeLsum" for every
          sentence.
    multi : {"best", "mean"}
        If a hypothesis has several references: for each type, use the one with the greatest F, the first of equal ones;
        or use the means of precision, recall and F over the references.
    beta : float
        The weight of recall relative to precision in F.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    RougeResult
        A mapping: ``result["rougeL"]`` has `precision`, `recall`, `fmeasure` (means over pairs), and `precisions`,
        `recalls`, `fmeasures` (arrays, one value per pair); ``result.signature`` holds the options.

    Raises
    ------
    ValueError
        Different numbers of hypotheses and references, a hypothesis without reference, a lone surrogate, no pairs, an
        option out of range.
    TypeError
        An item is not a text, or a tokenizer does not return a list of strings.

    Notes
    -----
    If a hypothesis or reference has no words, or too few for an n-gram, its precision, recall and F are 0. Sentences
    end at "\\n"; a list of tokens is one sentence. If sentences have several longest common subsequences, ROUGE-Lsum
    uses the one that rouge-score finds. It goes from the ends of both sentences to their beginnings: equal words match;
    otherwise a word of the hypothesis is skipped if this keeps the length while skipping a word of the reference would
    not, else a word of the reference is skipped. No word of the hypothesis matches twice.

    References
    ----------
    C.-Y. Lin, ROUGE: a package for automatic evaluation of summaries, ACL workshop Text Summarization Branches Out,
    2004. M. F. Porter, An algorithm for suffix stripping, Program 14(3), 1980.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> result = fm.rouge_score(["The cat was sitting."], ["The cats sat on the mat."], ["rouge1", "rougeL"], stem=True)
    >>> result["rouge1"].precision, round(result["rouge1"].recall, 4), round(result["rouge1"].fmeasure, 4)
    (0.5, 0.3333, 0.4)
    >>> fm.rouge_score(["Привет, мир"], ["привет мир!"], "rouge2", tokenizer="unicode")["rouge2"].fmeasure
    1.0
    """
    segments = segments_from_parallel(hypotheses, references)
    metric: Rouge = prepare_metric(check_options(types, stem, tokenizer, multi, beta), segments)
    if multi == "mean":
        metric = replace(metric, n_counted=len(segments.streams) - 1)
    counts = count_segments(metric, segments, n_threads)
    metric.warn_of_lost_words(counts, segments)
    return metric.score_of(metric.values(counts), segments.n_references)
