"""BLEU: clipped n-gram precision of translations, with sacrebleu's tokenizers, smoothings and numbers."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.statistic import Sums
from fastmetrics._kernels.ngrams import NgramCounter
from fastmetrics._version import __version__
from fastmetrics.metrics.text.options import check_order, check_tokenizer
from fastmetrics.metrics.text.scores import TextScore
from fastmetrics.metrics.text.segments import VARIABLE, read_sentence, read_streams
from fastmetrics.metrics.text.statistics import score_corpus
from fastmetrics.metrics.text.words import WordReader

__all__ = ["BleuScore", "corpus_bleu", "sentence_bleu"]

# The values that smoothings take when none is given (Chen and Cherry, 2014); None: the smoothing takes none.
SMOOTHINGS: dict[str, float | None] = {"none": None, "floor": 0.1, "add-k": 1.0, "exp": None}
DEFAULT_ORDER = 4
LOG_OF_ZERO = -9999999999.0  # exp of it is 0, whatever it is divided by

read = read_streams


class BleuScore(TextScore):
    """A BLEU score, a float, and what it is made of.

    Attributes
    ----------
    score : float
        0 to 100.
    counts, totals : tuple of int
        Matching n-grams and n-grams of the hypotheses, by order.
    precisions : tuple of float
        100 times the (smoothed) precisions, by order.
    bp : float
        The brevity penalty, 0 to 1.
    sys_len, ref_len : int
        Tokens of the hypotheses and of their closest references.
    signature : str
        What is needed to compute the number again, in sacrebleu's format.
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
        """Tokens of the hypotheses by those of the references; 0 without any of the latter."""
        return self.sys_len / self.ref_len if self.ref_len else 0.0

    def __str__(self) -> str:
        precisions = "/".join(f"{own:.1f}" for own in self.precisions)
        return (
            f"BLEU = {self.score:.2f} {precisions} (BP = {self.bp:.3f} ratio = {self.ratio:.3f} "
            f"hyp_len = {self.sys_len} ref_len = {self.ref_len})"
        )


class Bleu(NamedTuple):
    """The metric with its options, checked."""

    tokenize: str
    smooth: str
    smooth_value: float | None
    lowercase: bool
    max_order: int
    effective_order: bool
    weights: tuple[float, ...] | None

    @property
    def name(self) -> str:
        return "bleu"

    @property
    def columns(self) -> tuple[str, ...]:
        orders = range(1, self.max_order + 1)
        return ("sys_len", "ref_len", *(f"correct_{n}" for n in orders), *(f"total_{n}" for n in orders))

    def new_counter(self) -> BleuCounter:
        return BleuCounter(self)

    def new(self) -> Sums:
        return Sums(2 + 2 * self.max_order, 0)

    def add(self, sums: Sums, counts: np.ndarray) -> None:
        sums.counts += counts.sum(axis=0)

    def score(self, sums: Sums, n_references: int) -> BleuScore:
        sys_len, ref_len, *both = sums.counts.tolist()
        correct, totals = both[: self.max_order], both[self.max_order :]
        penalty = brevity_penalty(sys_len, ref_len)
        precisions, order = self.precisions(correct, totals)
        value = 0.0
        if any(correct):
            value = penalty * math.exp(self.mean_log(precisions, order))
        return BleuScore(
            value, tuple(correct), tuple(totals), tuple(precisions), penalty, sys_len, ref_len,
            self.signature(n_references),
        )  # fmt: skip

    def scores_of_sums(self, sums: np.ndarray) -> np.ndarray:
        """The score of every row of sums, int64[n, columns]: what `score` makes of each, without its parts."""
        order = self.max_order
        out = np.empty(len(sums))
        # Where every order has matches nothing is smoothed, and all orders count.
        plain = (sums[:, 2:] > 0).all(axis=1) & (self.weights is None and self.smooth != "add-k")
        rows = np.flatnonzero(plain)
        percents = 100.0 * sums[rows, 2 : 2 + order] / sums[rows, 2 + order :]
        for row, own, (sys_len, ref_len) in zip(
            rows.tolist(), percents.tolist(), sums[rows, :2].tolist(), strict=True
        ):
            out[row] = brevity_penalty(sys_len, ref_len) * math.exp(sum(map(math.log, own)) / order)
        state = self.new()
        for row in np.flatnonzero(~plain).tolist():
            state.counts[:] = sums[row]
            out[row] = self.score(state, 1).score
        return out

    def precisions(self, correct: list[int], totals: list[int]) -> tuple[list[float], int]:
        """100 times the smoothed precisions, and how many of the orders count."""
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
        """The weighted mean of the logarithms of the orders that count."""
        logs = [math.log(own) if own > 0 else LOG_OF_ZERO for own in precisions[:order]]
        if self.weights is None:
            return sum(logs) / order
        weights = self.weights[:order]
        present = sum(weights)
        if not present:
            return LOG_OF_ZERO
        used = sum(weight * log for weight, log in zip(weights, logs, strict=True) if weight)
        # Logarithms are of percentages: weights that do not add up to 1 are those of precisions in 0..1.
        scale = math.log(100.0) * (1.0 - present)
        return used / present if order < self.max_order else used + scale

    def signature(self, n_references: int) -> str:
        smooth = self.smooth if self.smooth_value is None else f"{self.smooth}[{self.smooth_value:.2f}]"
        parts = {
            "nrefs": "var" if n_references == VARIABLE else n_references,
            "case": "lc" if self.lowercase else "mixed",
            "eff": "yes" if self.effective_order else "no",
            "tok": self.tokenize,
            "smooth": smooth,
        }
        if self.max_order != DEFAULT_ORDER:
            parts["order"] = self.max_order
        if self.weights is not None:
            parts["weights"] = ",".join(map(repr, self.weights))
        parts["version"] = f"fastmetrics-{__version__}"
        return "|".join(f"{name}:{value}" for name, value in parts.items())


class BleuCounter:
    """One thread's tokenizer, vocabulary and table of n-grams."""

    def __init__(self, metric: Bleu) -> None:
        self.metric = metric
        self.words = WordReader(metric.tokenize)
        self.ngrams = NgramCounter()

    def count(self, block: Any, out: np.ndarray) -> None:
        words = self.words.read(block)
        self.ngrams.count(words.ids, words.text_tokens, words.segments, self.metric.max_order, out)


def brevity_penalty(sys_len: int, ref_len: int) -> float:
    """1 for output that is long enough, exp(1 - ref_len / sys_len) for shorter one, 0 for none."""
    if sys_len >= ref_len:
        return 1.0
    return math.exp(1 - ref_len / sys_len) if sys_len else 0.0


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


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
    """The metric of these options; ValueError or TypeError where they have no meaning."""
    check_tokenizer(tokenize)
    inputs.check_option(smooth, "smooth", tuple(SMOOTHINGS))
    max_order = check_order(max_order, "max_order")
    default = SMOOTHINGS[smooth]
    if smooth_value is not None:
        if default is None:
            raise ValueError(f"smooth={smooth!r} takes no smooth_value; found {smooth_value!r}")
        if not (is_number(smooth_value) and math.isfinite(smooth_value) and smooth_value >= 0):
            raise ValueError(f"smooth_value must be a finite number of at least 0; found {smooth_value!r}")
        default = float(smooth_value)
    for flag, name in ((lowercase, "lowercase"), (effective_order, "effective_order")):
        inputs.check_flag(flag, name)
    if weights is not None:
        given = weights
        try:
            weights = tuple(float(weight) for weight in given)
        except (TypeError, ValueError):
            raise TypeError(f"weights must be a sequence of numbers, one for each order; found {given!r}") from None
        if len(weights) != max_order:
            raise ValueError(f"weights must be one for each order up to max_order={max_order}; found {len(weights)}")
        if not all(math.isfinite(weight) and weight >= 0 for weight in weights) or not any(weights):
            raise ValueError(f"weights must be finite and at least 0, one of them above; found {weights}")
    return Bleu(tokenize, smooth, default, lowercase, max_order, effective_order, weights)


def corpus_bleu(
    hypotheses: Any,
    references: Any,
    *,
    tokenize: str = "13a",
    smooth: str = "exp",
    smooth_value: float | None = None,
    lowercase: bool = False,
    max_order: int = DEFAULT_ORDER,
    effective_order: bool = False,
    weights: Any = None,
    n_threads: int | None = None,
) -> BleuScore:
    """BLEU of a corpus: the geometric mean of clipped n-gram precisions, times a penalty for brevity.

    BLEU = 100 BP exp(sum_n w_n log p_n), where p_n is the share of the hypotheses' n-grams that match a reference, each
    at most as often as it occurs in any one reference of its segment, w_n = 1 / `max_order`, and BP is 1, or
    exp(1 - r / c) where the hypotheses' c tokens are fewer than the r tokens of the closest references. Numbers are
    sacrebleu's.

    Parameters
    ----------
    hypotheses : list of str, or list of lists of tokens
        A text for every segment; or its tokens, str or int, which are then taken as they are.
    references : list of lists
        Streams of references, each as long as `hypotheses`; None where a segment has no reference in a stream. A flat
        list is one stream.
    tokenize : {"13a", "intl", "char", "zh", "none"}
        mteval-v13a's tokenizer, the international one of mteval-v14, characters, Chinese characters and 13a for what
        is between them, or white space alone.
    smooth : {"exp", "floor", "add-k", "none"}
        What becomes of orders without a match: 1/2, 1/4, ... of a match; `smooth_value` of one; `smooth_value` matches
        and n-grams more in all orders above the first; nothing, so that the score is 0.
    smooth_value : float, optional
        0.1 for "floor", 1 for "add-k".
    lowercase : bool
        Compare lower-cased texts.
    max_order : int
        The longest n-grams that count, 1 to 255.
    effective_order : bool
        Leave out orders for which the hypotheses are too short.
    weights : sequence of float, optional
        w_n for each order; where `effective_order` leaves orders out, those that remain are scaled up to 1.
    n_threads : int, optional
        Threads to use; the result does not depend on it.

    Returns
    -------
    BleuScore
        A float with `score`, `counts`, `totals`, `precisions`, `bp`, `sys_len`, `ref_len`, `ratio`, `signature`.

    Raises
    ------
    ValueError
        Different numbers of segments, no reference for a segment, a lone surrogate, an option out of range.
    TypeError
        A segment that is no text.

    Notes
    -----
    Without any match the score is 0, also for an empty hypothesis.

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
    metric = make_metric(
        tokenize=tokenize, smooth=smooth, smooth_value=smooth_value, lowercase=lowercase, max_order=max_order,
        effective_order=effective_order, weights=weights,
    )  # fmt: skip
    result: BleuScore = score_corpus(metric, read_streams(hypotheses, references), n_threads)
    return result


def sentence_bleu(
    hypothesis: Any,
    references: Any,
    *,
    tokenize: str = "13a",
    smooth: str = "exp",
    smooth_value: float | None = None,
    lowercase: bool = False,
    max_order: int = DEFAULT_ORDER,
    effective_order: bool = True,
    weights: Any = None,
) -> BleuScore:
    """BLEU of one segment: that of a corpus which holds nothing else.

    Orders longer than the hypothesis are left out by default, as in sacrebleu's `sentence_bleu`.

    Parameters
    ----------
    hypothesis : str or list of tokens
        The text, or its tokens.
    references : str, list of str, list of tokens or list of lists of tokens
        One reference or several.
    tokenize, smooth, smooth_value, lowercase, max_order, effective_order, weights
        As for `corpus_bleu`.

    Returns
    -------
    BleuScore

    Raises
    ------
    ValueError, TypeError
        As `corpus_bleu`.

    Notes
    -----
    Without any match the score is 0, also for an empty hypothesis.

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
    metric = make_metric(
        tokenize=tokenize, smooth=smooth, smooth_value=smooth_value, lowercase=lowercase, max_order=max_order,
        effective_order=effective_order, weights=weights,
    )  # fmt: skip
    result: BleuScore = score_corpus(metric, read_sentence(hypothesis, references), 1)
    return result
