"""chrF and chrF++: F-scores of character and word n-grams, with sacrebleu's numbers."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.statistic import Sums
from fastmetrics._kernels import charngrams
from fastmetrics._version import __version__
from fastmetrics.metrics.text.matching import MatchMemory, table_size
from fastmetrics.metrics.text.options import check_order
from fastmetrics.metrics.text.scores import TextScore
from fastmetrics.metrics.text.segments import VARIABLE, TextBlock, read_sentence, read_streams
from fastmetrics.metrics.text.statistics import score_corpus

__all__ = ["ChrfScore", "corpus_chrf", "sentence_chrf"]

CHAR_ORDER = 6
BETA = 2
SMALLEST = 1e-16  # what eps_smoothing takes for a precision or recall that has no n-grams

read = read_streams


class ChrfScore(TextScore):
    """A chrF score, a float, and what it is made of.

    Attributes
    ----------
    score : float
        0 to 100.
    char_order, word_order : int
        The longest n-grams of characters and of words.
    beta : int or float
        How much recall weighs.
    statistics : tuple of int
        For every order, characters then words: n-grams of the hypotheses, of the references, and of both.
    signature : str
        What is needed to compute the number again, in sacrebleu's format.
    """

    char_order: int
    word_order: int
    beta: float
    statistics: tuple[int, ...]
    signature: str

    @property
    def name(self) -> str:
        """chrF2, chrF2++: the beta, and a plus for each order of words."""
        return f"chrF{self.beta}{'+' * self.word_order}"

    def __str__(self) -> str:
        return f"{self.name} = {self.score:.2f}"


class Chrf(NamedTuple):
    """The metric with its options, checked."""

    char_order: int
    word_order: int
    beta: float
    lowercase: bool
    whitespace: bool
    eps_smoothing: bool

    @property
    def name(self) -> str:
        return "chrf"

    @property
    def columns(self) -> tuple[str, ...]:
        return column_names(self.char_order, self.word_order)

    def new_counter(self) -> ChrfCounter:
        return ChrfCounter(self)

    def new(self) -> Sums:
        return Sums(3 * (self.char_order + self.word_order), 0)

    def add(self, sums: Sums, counts: np.ndarray) -> None:
        sums.counts += counts.sum(axis=0)

    def score(self, sums: Sums, n_references: int) -> ChrfScore:
        statistics = tuple(sums.counts.tolist())
        return ChrfScore(
            self.f_score(statistics), self.char_order, self.word_order, self.beta, statistics,
            self.signature(n_references),
        )  # fmt: skip

    def f_score(self, statistics: tuple[int, ...]) -> float:
        """The operations and their order are sacrebleu's, so the last bit is, too."""
        factor = self.beta**2
        score = precisions = recalls = 0.0
        effective = 0
        for place in range(0, len(statistics), 3):
            n_hypothesis, n_reference, n_match = statistics[place : place + 3]
            precision = n_match / n_hypothesis if n_hypothesis else SMALLEST
            recall = n_match / n_reference if n_reference else SMALLEST
            below = factor * precision + recall
            score += (1 + factor) * precision * recall / below if below > 0 else SMALLEST
            if n_hypothesis and n_reference:
                precisions += precision
                recalls += recall
                effective += 1
        if self.eps_smoothing:
            return 100 * score / (self.char_order + self.word_order)
        if effective:
            precisions /= effective
            recalls /= effective
        if not precisions + recalls:
            return 0.0
        return 100 * ((1 + factor) * precisions * recalls / (factor * precisions + recalls))

    def scores_of_sums(self, sums: np.ndarray) -> np.ndarray:
        """The score of every row of sums, int64[n, columns]: the operations of `f_score`, in its order."""
        factor = self.beta**2
        n = len(sums)
        score, precisions, recalls, effective = (np.zeros(n) for _ in range(4))
        with np.errstate(divide="ignore", invalid="ignore"):
            for place in range(0, sums.shape[1], 3):
                n_hypothesis, n_reference, n_match = sums.T[place : place + 3]
                precision = np.where(n_hypothesis > 0, n_match / n_hypothesis, SMALLEST)
                recall = np.where(n_reference > 0, n_match / n_reference, SMALLEST)
                below = factor * precision + recall
                score += np.where(below > 0, (1 + factor) * precision * recall / below, SMALLEST)
                both = (n_hypothesis > 0) & (n_reference > 0)
                precisions += np.where(both, precision, 0.0)
                recalls += np.where(both, recall, 0.0)
                effective += both
            if self.eps_smoothing:
                return 100 * score / (self.char_order + self.word_order)
            present = np.maximum(effective, 1)
            precisions /= present
            recalls /= present
            values = 100 * ((1 + factor) * precisions * recalls / (factor * precisions + recalls))
        return np.where(precisions + recalls > 0, values, 0.0)

    def signature(self, n_references: int) -> str:
        parts = {
            "nrefs": "var" if n_references == VARIABLE else n_references,
            "case": "lc" if self.lowercase else "mixed",
            "eff": "no" if self.eps_smoothing else "yes",
            "nc": self.char_order,
            "nw": self.word_order,
            "space": "yes" if self.whitespace else "no",
            "version": f"fastmetrics-{__version__}",
        }
        return "|".join(f"{name}:{value}" for name, value in parts.items())


@lru_cache
def column_names(char_order: int, word_order: int) -> tuple[str, ...]:
    orders = [f"char_{n}" for n in range(1, char_order + 1)] + [f"word_{n}" for n in range(1, word_order + 1)]
    return tuple(f"{what}_{order}" for order in orders for what in ("hypothesis", "reference", "match"))


class ChrfCounter:
    """One thread's memory."""

    def __init__(self, metric: Chrf) -> None:
        self.metric = metric
        self.memory = MatchMemory()

    def count(self, block: Any, out: np.ndarray) -> None:
        if not isinstance(block, TextBlock):
            raise TypeError("chrF looks at characters: hypotheses and references must be strings, not lists of tokens")
        metric = self.metric
        longest = int(np.diff(block.offsets).max(initial=0))
        size, n_words = (table_size(longest), longest) if metric.word_order else (0, 0)
        take = self.memory.scratch.take
        charngrams.count_ngrams(
            block.points, block.offsets, block.segments, metric.char_order, metric.word_order, metric.whitespace,
            float(metric.beta**2), metric.eps_smoothing,
            *self.memory.reserve(longest, max(longest, int(block.points.max(initial=0)))),
            take("symbols", np.uint32, 4 * longest), take("words", np.uint64, size),
            take("word_spans", np.int64, 2 * n_words).reshape(2, -1),
            *self.memory.reserve_tables(longest, max(metric.char_order, metric.word_order)), out,
        )  # fmt: skip


def check_beta(value: Any) -> float:
    """A finite number of at least 0, as Python has it: it stands in the name of the score."""
    beta: Any = value.item() if isinstance(value, np.number) else value
    if isinstance(beta, bool) or not isinstance(beta, (int, float)) or not (math.isfinite(beta) and beta >= 0):
        raise ValueError(f"beta must be a finite number of at least 0; found {value!r}")
    return beta


def make_metric(
    *,
    char_order: int = CHAR_ORDER,
    word_order: int = 0,
    beta: float = BETA,
    lowercase: bool = False,
    whitespace: bool = False,
    eps_smoothing: bool = False,
) -> Chrf:
    """The metric of these options; ValueError or TypeError where they have no meaning."""
    char_order = check_order(char_order, "char_order", 0)
    word_order = check_order(word_order, "word_order", 0)
    if not char_order + word_order:
        raise ValueError("char_order and word_order are both 0: there is nothing to compare")
    beta = check_beta(beta)
    flags = {"lowercase": lowercase, "whitespace": whitespace, "eps_smoothing": eps_smoothing}
    for name, flag in flags.items():
        inputs.check_flag(flag, name)
    return Chrf(char_order, word_order, beta, lowercase, whitespace, eps_smoothing)


def corpus_chrf(
    hypotheses: Any,
    references: Any,
    *,
    char_order: int = CHAR_ORDER,
    word_order: int = 0,
    beta: float = BETA,
    lowercase: bool = False,
    whitespace: bool = False,
    eps_smoothing: bool = False,
    n_threads: int | None = None,
) -> ChrfScore:
    """chrF of a corpus, chrF++ with `word_order=2`: the F-score of character (and word) n-grams.

    chrF = 100 (1 + beta^2) P R / (beta^2 P + R), where P and R are the means over all orders of n-gram precision and
    recall, their counts added over the corpus. Orders for which either side has no n-gram are left out. Numbers are
    sacrebleu's, to the last bit.

    Parameters
    ----------
    hypotheses : list of str
        A text for every segment.
    references : list of lists of str
        Streams of references, each as long as `hypotheses`; None where a segment has no reference in a stream. A flat
        list is one stream. Of several references that of the best score of the segment counts, of equal ones the first.
    char_order : int
        The longest n-grams of characters, 0 to 255.
    word_order : int
        The longest n-grams of words, 0 to 255; 2 is chrF++. Words stand between white space; a mark of ASCII
        punctuation at the end of a word, or else at its beginning, is a word of its own.
    beta : int or float
        How many times more recall weighs than precision.
    lowercase : bool
        Compare lower-cased texts.
    whitespace : bool
        White space counts among the characters.
    eps_smoothing : bool
        The mean of the F-scores of all orders, where 1e-16 stands for what is undefined (chrF++.py, Moses, NLTK).
    n_threads : int, optional
        Threads to use; the result does not depend on it.

    Returns
    -------
    ChrfScore
        A float with `score`, `name`, `char_order`, `word_order`, `beta`, `statistics`, `signature`.

    Raises
    ------
    ValueError
        Different numbers of segments, no reference for a segment, a lone surrogate, an option out of range.
    TypeError
        A segment that is no string.

    Notes
    -----
    Without any match the score is 0, also for empty texts.

    References
    ----------
    M. Popović, chrF: character n-gram F-score for automatic MT evaluation, WMT 2015. M. Popović, chrF++: words helping
    character n-grams, WMT 2017.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> hypotheses = ["The dog bit the man.", "It was not unexpected."]
    >>> references = [["The dog had bit the man.", "No one was surprised."], ["The dog bit a man.", None]]
    >>> print(fm.corpus_chrf(hypotheses, references))
    chrF2 = 42.47
    >>> score = fm.corpus_chrf(hypotheses, references, word_order=2)
    >>> score.name, round(score.score, 2)
    ('chrF2++', 45.43)
    """
    metric = make_metric(
        char_order=char_order, word_order=word_order, beta=beta, lowercase=lowercase, whitespace=whitespace,
        eps_smoothing=eps_smoothing,
    )  # fmt: skip
    result: ChrfScore = score_corpus(metric, read_streams(hypotheses, references), n_threads)
    return result


def sentence_chrf(
    hypothesis: Any,
    references: Any,
    *,
    char_order: int = CHAR_ORDER,
    word_order: int = 0,
    beta: float = BETA,
    lowercase: bool = False,
    whitespace: bool = False,
    eps_smoothing: bool = False,
) -> ChrfScore:
    """chrF of one segment: that of a corpus which holds nothing else.

    Parameters
    ----------
    hypothesis : str
        The text.
    references : str or list of str
        One reference or several.
    char_order, word_order, beta, lowercase, whitespace, eps_smoothing
        As for `corpus_chrf`.

    Returns
    -------
    ChrfScore

    Raises
    ------
    ValueError, TypeError
        As `corpus_chrf`.

    Notes
    -----
    Without any match the score is 0, also for empty texts.

    References
    ----------
    M. Popović, WMT 2015 and WMT 2017.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.sentence_chrf("The cat sat.", ["The cat sat down.", "A cat sat."]).score, 2)
    74.06
    >>> fm.sentence_chrf("кот", "кот спал", char_order=2).statistics
    (3, 7, 3, 2, 6, 2)
    """
    metric = make_metric(
        char_order=char_order, word_order=word_order, beta=beta, lowercase=lowercase, whitespace=whitespace,
        eps_smoothing=eps_smoothing,
    )  # fmt: skip
    result: ChrfScore = score_corpus(metric, read_sentence(hypothesis, references), 1)
    return result
