"""BLEU: clipped n-gram precisions of translations, with sacrebleu's tokenizers, smoothings and scores."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.elementary import exp, log
from fastmetrics._core.state import Field, Fields, ManySums, Sums
from fastmetrics._kernels.text.bleu_ngrams import NgramCounter
from fastmetrics.metrics.text.inputs.argument_forms import segments_from_streams, sentence_of_words
from fastmetrics.metrics.text.text_metric import (
    BlockCounter,
    ScoresManySums,
    TextMetric,
    TextScore,
    Tokenizing,
    check_flags,
    check_number,
    check_order,
    check_tokenizer,
    join_signature,
    score_function,
)
from fastmetrics.metrics.text.tokens.word_encoder import WordEncoder

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, NumericArrayLike
    from fastmetrics._core.types.options import Smoothing, Tokenizer

__all__ = ["BleuScore", "corpus_bleu", "sentence_bleu"]

# Default values of smooth_value (Chen and Cherry, 2014); None: the smoothing has no value.
SMOOTHINGS: dict[str, float | None] = {"none": None, "floor": 0.1, "add-k": 1.0, "exp": None}
DEFAULT_ORDER = 4
LOG_OF_ZERO = -9999999999.0  # its exp is 0, also after a division by the number of orders

to_segments = segments_from_streams


class BleuScore(TextScore):
    """A BLEU score: a float, with the quantities it was computed from.

    Attributes
    ----------
    score : float
        0 to 100.
    counts, totals : tuple of int
        The number of matching n-grams, and of n-grams of the hypotheses, per order.
    precisions : tuple of float
        100 times the (smoothed) precisions, per order.
    bp : float
        The brevity penalty, 0 to 1.
    sys_len, ref_len : int
        The number of tokens of the hypotheses, and of their closest references.
    signature : str
        The options that reproduce the score, in sacrebleu's format.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> score = fm.corpus_bleu(["the cat sat on the mat"], [["the cat sat on a mat"]])
    >>> round(float(score), 2), score.counts, score.sys_len
    (53.73, (5, 3, 2, 1), 6)
    """

    counts: tuple[int, ...]
    totals: tuple[int, ...]
    precisions: tuple[float, ...]
    bp: float
    sys_len: int
    ref_len: int
    signature: str

    @property
    def ratio(self) -> float:
        """sys_len / ref_len; 0 if the references have no tokens."""
        return self.sys_len / self.ref_len if self.ref_len else 0.0

    def __str__(self) -> str:
        precisions = "/".join(f"{precision:.1f}" for precision in self.precisions)
        return (
            f"BLEU = {self.score:.2f} {precisions} (BP = {self.bp:.3f} ratio = {self.ratio:.3f} "
            f"hyp_len = {self.sys_len} ref_len = {self.ref_len})"
        )


@cache
def fields_of_order(max_order: int) -> Fields:
    return Fields("sys_len", "ref_len", Field("correct", length=max_order), Field("total", length=max_order))


@cache
def columns_of_order(max_order: int) -> tuple[str, ...]:
    orders = range(1, max_order + 1)
    return ("sys_len", "ref_len", *(f"correct_{n}" for n in orders), *(f"total_{n}" for n in orders))


@dataclass(frozen=True)
class Bleu(ScoresManySums, Tokenizing, TextMetric[BleuScore]):
    """BLEU with its options, checked."""

    tokenize: str
    smooth: str
    smooth_value: float | None
    lowercase: bool
    max_order: int
    effective_order: bool
    weights: tuple[float, ...] | None

    @property
    def columns(self) -> tuple[str, ...]:
        return columns_of_order(self.max_order)

    def new_counter(self) -> BlockCounter:
        encoder, ngrams = WordEncoder(self.tokenize), NgramCounter()

        def count(block: Any, out: np.ndarray) -> None:
            words = encoder.encode(block)
            ngrams.count(words.ids, words.text_tokens, words.segments, self.max_order, out)

        return count

    @property
    def fields(self) -> Fields:
        return fields_of_order(self.max_order)

    def score(self, sums: Sums, n_references: int) -> BleuScore:
        sys_len, ref_len = sums.count("sys_len"), sums.count("ref_len")
        correct, totals = sums.counts_of("correct").tolist(), sums.counts_of("total").tolist()
        penalty = brevity_penalty(sys_len, ref_len)
        precisions, order = self.precisions(correct, totals)
        value = 0.0
        if any(correct):
            value = penalty * exp(self.mean_log(precisions, order))
        return BleuScore(
            value, tuple(correct), tuple(totals), tuple(precisions), penalty, sys_len, ref_len,
            self.signature(n_references),
        )  # fmt: skip

    def many_scores(self, states: ManySums) -> np.ndarray:
        if self.weights is not None:
            return np.full(states.counts.shape[0], np.nan)
        sys_lens, ref_lens = states.counts_of("sys_len"), states.counts_of("ref_len")
        correct = states.counts_of("correct")
        precisions, orders = self.many_precisions(correct, states.counts_of("total"))
        counted = np.arange(self.max_order)[:, None] < orders
        logs = log(np.where(precisions > 0, precisions, 1.0))
        logs = np.where(counted, np.where(precisions > 0, logs, LOG_OF_ZERO), 0.0)
        shorter = np.maximum(sys_lens, 1)
        penalties = np.where(sys_lens >= ref_lens, 1.0, np.where(sys_lens > 0, exp(1.0 - ref_lens / shorter), 0.0))
        return np.where(correct.any(axis=1), penalties * exp(added_up(logs) / orders), 0.0)

    def many_precisions(self, correct: np.ndarray, totals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As `precisions`, of many states: an array for each order, and the number of orders that count."""
        precisions = np.zeros(correct.T.shape)
        orders, halving = np.full(len(correct), self.max_order), np.ones(len(correct))
        present = np.ones(len(correct), bool)
        for index in range(self.max_order):
            added = (self.smooth_value or 0) if self.smooth == "add-k" and index else 0
            matches, possible = correct[:, index] + added, totals[:, index] + added
            present &= possible != 0
            possible = np.where(present, possible, 1)
            if self.effective_order:
                orders[present] = index + 1
            smoothed: Any = 0.0
            if self.smooth == "exp":
                halving[present & (matches == 0)] *= 2
                smoothed = 100.0 / (halving * possible)
            elif self.smooth == "floor":
                smoothed = 100.0 * (self.smooth_value or 0) / possible
            precisions[index] = np.where(present, np.where(matches != 0, 100.0 * matches / possible, smoothed), 0.0)
        return precisions, orders

    def precisions(self, correct: list[int], totals: list[int]) -> tuple[list[float], int]:
        """Return 100 times the smoothed precisions, and the number of orders that count."""
        precisions = [0.0] * self.max_order
        if not any(correct):
            return precisions, self.max_order
        order, halving = self.max_order, 1.0
        for index in range(self.max_order):
            matches: float = correct[index]
            possible: float = totals[index]
            if self.smooth == "add-k" and index:
                matches += self.smooth_value or 0
                possible += self.smooth_value or 0
            if possible == 0:
                break
            if self.effective_order:
                order = index + 1
            if matches:
                precisions[index] = 100.0 * matches / possible
            elif self.smooth == "exp":
                halving *= 2
                precisions[index] = 100.0 / (halving * possible)
            elif self.smooth == "floor":
                precisions[index] = 100.0 * (self.smooth_value or 0) / possible
        return precisions, order

    def mean_log(self, precisions: list[float], order: int) -> float:
        """Return the weighted mean of the logarithms of the precisions that count."""
        logs = [log(precision) if precision > 0 else LOG_OF_ZERO for precision in precisions[:order]]
        if self.weights is None:
            return float(added_up(logs) / order)
        weights = self.weights[:order]
        total_weight: float = added_up(weights)
        if not total_weight:
            return LOG_OF_ZERO
        weighted_sum: float = added_up(weight * one for weight, one in zip(weights, logs, strict=True) if weight)
        # Precisions are percentages, but weights apply to precisions in 0..1. It matters if they do not add up to 1.
        scale = log(100.0) * (1.0 - total_weight)
        return weighted_sum / total_weight if order < self.max_order else weighted_sum + scale

    def signature(self, n_references: int) -> str:
        smooth = self.smooth if self.smooth_value is None else f"{self.smooth}[{self.smooth_value:.2f}]"
        fields = {
            "nrefs": n_references,
            "case": "lc" if self.lowercase else "mixed",
            "eff": "yes" if self.effective_order else "no",
            "tok": self.tokenize,
            "smooth": smooth,
        }
        if self.max_order != DEFAULT_ORDER:
            fields["order"] = self.max_order
        if self.weights is not None:
            fields["weights"] = ",".join(map(repr, self.weights))
        return join_signature(fields)


def added_up(values: Iterable[Any]) -> Any:
    """The sum of numbers or arrays, one after the other: what `sum` does depends on the version of Python."""
    total = 0.0
    for value in values:
        total = total + value
    return total


def brevity_penalty(sys_len: int, ref_len: int) -> float:
    """Return 1 if the hypotheses are as long as the references, else exp(1 - ref_len / sys_len); 0 if empty."""
    if sys_len >= ref_len:
        return 1.0
    return exp(1 - ref_len / sys_len) if sys_len else 0.0


def make_metric(
    *,
    tokenize: str = "13a",
    smooth: str = "exp",
    smooth_value: float | None = None,
    lowercase: bool = False,
    max_order: int = DEFAULT_ORDER,
    effective_order: bool = False,
    weights: Any = None,
) -> Bleu:
    """Check the options and return the metric; ValueError or TypeError if an option is not valid."""
    check_tokenizer(tokenize)
    validation.check_option(smooth, "smooth", tuple(SMOOTHINGS))
    max_order = check_order(max_order, "max_order")
    default = SMOOTHINGS[smooth]
    if smooth_value is not None:
        if default is None:
            raise ValueError(f"smooth={smooth!r} takes no smooth_value; found {smooth_value!r}")
        default = float(check_number(smooth_value, "smooth_value"))
    check_flags(lowercase=lowercase, effective_order=effective_order)
    if weights is not None:
        argument = weights
        try:
            weights = tuple(float(weight) for weight in argument)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"weights must be a sequence of numbers, one for each order; found {argument!r}") from None
        if len(weights) != max_order:
            raise ValueError(f"weights must have one number per order, max_order={max_order}; found {len(weights)}")
        if not all(math.isfinite(weight) and weight >= 0 for weight in weights) or not any(weights):
            raise ValueError(f"weights must be finite, 0 or more, and not all 0; found {weights}")
    return Bleu(tokenize, smooth, default, lowercase, max_order, effective_order, weights)


@score_function(make_metric, segments_from_streams)
def corpus_bleu(
    hypotheses: ArrayLike,
    references: ArrayLike,
    *,
    tokenize: Tokenizer = "13a",
    smooth: Smoothing = "exp",
    smooth_value: float | None = None,
    lowercase: bool = False,
    max_order: int = DEFAULT_ORDER,
    effective_order: bool = False,
    weights: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> BleuScore:
    """BLEU of a corpus: the geometric mean of clipped n-gram precisions, times a brevity penalty.

    BLEU = 100 BP exp(sum_n w_n log p_n). p_n is the share of the hypotheses' n-grams that match a reference; an n-gram
    matches at most as often as it occurs in one reference of its segment. w_n is 1 / `max_order`, unless `weights` are
    given. BP is 1 or, if the hypotheses have c tokens and the closest references (of two equally close ones, the
    shorter) r > c, exp(1 - r / c). Scores are equal to sacrebleu's.

    Parameters
    ----------
    hypotheses : list of str, or list of lists of tokens
        One text per segment; or one list of tokens, str or int, which is used without tokenizing.
    references : list of lists
        Streams of references, each as long as `hypotheses`; None if a segment has no reference in a stream. A flat list
        is one stream.
    tokenize : {"13a", "intl", "char", "zh", "none"}
        "13a": the tokenizer of mteval-v13a. "intl": the international one of mteval-v14. "char": characters. "zh":
        Chinese characters, with 13a between them. "none": white space only. See `tokenize`.
    smooth : {"exp", "floor", "add-k", "none"}
        What to count for orders without a match. "exp": 1/2, 1/4, ... of a match. "floor": `smooth_value` of a match.
        "add-k": add `smooth_value` to the matches and n-grams of all orders above the first. "none": nothing, so the
        score is 0.
    smooth_value : float, optional
        The default is 0.1 for "floor" and 1 for "add-k".
    lowercase : bool
        Compare lower-cased texts.
    max_order : int
        The length of the longest n-grams, 1 to 255.
    effective_order : bool
        Leave out orders for which the hypotheses are too short.
    weights : sequence of float, optional
        w_n for each order. If `effective_order` leaves orders out, the other weights are scaled to the sum 1.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    BleuScore
        A float with `score`, `counts`, `totals`, `precisions`, `bp`, `sys_len`, `ref_len`, `ratio`, `signature`.

    Raises
    ------
    ValueError
        Different numbers of segments, no reference for a segment, a lone surrogate, an option out of range.
    TypeError
        A segment that is not a text.

    Notes
    -----
    If no n-gram matches, as for an empty hypothesis, the score is 0.

    References
    ----------
    K. Papineni, S. Roukos, T. Ward, W.-J. Zhu, BLEU: a method for automatic evaluation of machine translation, ACL
    2002. M. Post, A call for clarity in reporting BLEU scores, WMT 2018.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> hypotheses = ["The dog bit the man.", "It was not unexpected.", "The man bit him first."]
    >>> references = [
    ...     ["The dog bit the man.", "It was not unexpected.", "The man bit him first."],
    ...     ["The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."],
    ... ]
    >>> print(fm.corpus_bleu(hypotheses, references))
    BLEU = 100.00 100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.000 hyp_len = 17 ref_len = 17)
    >>> round(fm.corpus_bleu(["the the the the"], ["the cat is on the mat"], smooth="floor").score, 2)
    5.8
    """


@score_function(make_metric, sentence_of_words)
def sentence_bleu(
    hypothesis: str | ArrayLike,
    references: str | ArrayLike,
    *,
    tokenize: Tokenizer = "13a",
    smooth: Smoothing = "exp",
    smooth_value: float | None = None,
    lowercase: bool = False,
    max_order: int = DEFAULT_ORDER,
    effective_order: bool = True,
    weights: NumericArrayLike | None = None,
) -> BleuScore:
    """BLEU of one segment, scored as a corpus of one segment.

    The formula is that of `corpus_bleu`. By default, orders longer than the hypothesis are left out, as in sacrebleu's
    `sentence_bleu`.

    Parameters
    ----------
    hypothesis : str or list of tokens
        The text, or its tokens.
    references : str, list of str, list of tokens or list of lists of tokens
        One reference or several.
    tokenize : {"13a", "intl", "char", "zh", "none"}
        "13a": the tokenizer of mteval-v13a. "intl": the international one of mteval-v14. "char": characters. "zh":
        Chinese characters, with 13a between them. "none": white space only. See `tokenize`.
    smooth : {"exp", "floor", "add-k", "none"}
        What to count for orders without a match. "exp": 1/2, 1/4, ... of a match. "floor": `smooth_value` of a match.
        "add-k": add `smooth_value` to the matches and n-grams of all orders above the first. "none": nothing, so the
        score is 0.
    smooth_value : float, optional
        The default is 0.1 for "floor" and 1 for "add-k".
    lowercase : bool
        Compare lower-cased texts.
    max_order : int
        The length of the longest n-grams, 1 to 255.
    effective_order : bool
        Leave out orders for which the hypotheses are too short.
    weights : sequence of float, optional
        w_n for each order. If `effective_order` leaves orders out, the other weights are scaled to the sum 1.

    Returns
    -------
    BleuScore

    Raises
    ------
    ValueError, TypeError
        As `corpus_bleu`.

    Notes
    -----
    If no n-gram matches, as for an empty hypothesis, the score is 0.

    References
    ----------
    K. Papineni et al., ACL 2002.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.sentence_bleu("The cat sat.", ["The cat sat down.", "A cat sat."]).score, 2)
    84.09
    >>> fm.sentence_bleu("The cat sat on a mat.", "The cat sat on the mat.").counts
    (6, 4, 2, 1)
    """
