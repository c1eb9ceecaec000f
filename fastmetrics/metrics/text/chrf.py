"""chrF and chrF++: F-scores of character and word n-grams, with sacrebleu's scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.state import Field, Fields, ManySums, Sums
from fastmetrics._kernels.text import chrf_ngrams
from fastmetrics.metrics.text.inputs.argument_forms import segments_from_sentence, segments_from_streams
from fastmetrics.metrics.text.inputs.segments import TextBlock
from fastmetrics.metrics.text.text_metric import (
    BlockCounter,
    ScoresManySums,
    TextMetric,
    TextScore,
    check_flags,
    check_number,
    check_order,
    join_signature,
    score_function,
)

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike

__all__ = ["ChrfScore", "corpus_chrf", "sentence_chrf"]

CHAR_ORDER = 6
BETA = 2
MOST_BETA = 1e154  # its square is a float
EPSILON = 1e-16  # with eps_smoothing, the precision or recall of an order without n-grams

to_segments = segments_from_streams


class ChrfScore(TextScore):
    """A chrF score: a float, with the quantities it was computed from.

    Attributes
    ----------
    score : float
        0 to 100.
    char_order, word_order : int
        The lengths of the longest n-grams of characters and of words.
    beta : int or float
        The weight of recall relative to precision.
    statistics : tuple of int
        For every order, of characters, then of words: n-grams of the hypotheses, of the references, and of both.
    signature : str
        The options that reproduce the score, in sacrebleu's format.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> score = fm.corpus_chrf(["the cat sat on the mat"], [["the cat sat on a mat"]])
    >>> round(float(score), 2), score.char_order, score.word_order
    (72.08, 6, 0)
    """

    char_order: int
    word_order: int
    beta: float
    statistics: tuple[int, ...]
    signature: str

    @property
    def name(self) -> str:
        """The name with beta and one plus per word order, such as chrF2 or chrF2++."""
        return f"chrF{self.beta}{'+' * self.word_order}"

    def __str__(self) -> str:
        return f"{self.name} = {self.score:.2f}"


@cache
def fields_of_orders(orders: int) -> Fields:
    """For each order: the n-grams of hypotheses, of references, and matches."""
    return Fields(Field("n-grams", length=3 * orders))


@dataclass(frozen=True)
class Chrf(ScoresManySums, TextMetric[ChrfScore]):
    """chrF with its options, checked."""

    char_order: int
    word_order: int
    beta: float
    lowercase: bool
    whitespace: bool
    eps_smoothing: bool

    @property
    def columns(self) -> tuple[str, ...]:
        return column_names(self.char_order, self.word_order)

    def new_counter(self) -> BlockCounter:
        counter = chrf_ngrams.ChrfCounter(
            self.char_order, self.word_order, self.whitespace, float(self.beta * self.beta), self.eps_smoothing
        )

        def count(block: Any, out: np.ndarray) -> None:
            if not isinstance(block, TextBlock):
                raise TypeError(
                    "chrF compares characters: hypotheses and references must be strings, not lists of tokens"
                )
            counter.count(block.points, block.offsets, block.segments, out)

        return count

    @property
    def fields(self) -> Fields:
        return fields_of_orders(self.char_order + self.word_order)

    def score(self, sums: Sums, n_references: int) -> ChrfScore:
        statistics = tuple(sums.counts.tolist())
        return ChrfScore(
            self.f_score(statistics), self.char_order, self.word_order, self.beta, statistics,
            self.signature(n_references),
        )  # fmt: skip

    def f_score(self, statistics: tuple[int, ...]) -> float:
        """Compute the score with sacrebleu's operations in their order, so that it is equal to the last bit."""
        factor = self.beta * self.beta
        score = precisions = recalls = 0.0
        effective = 0
        for column in range(0, len(statistics), 3):
            n_hypothesis, n_reference, n_match = statistics[column : column + 3]
            precision = n_match / n_hypothesis if n_hypothesis else EPSILON
            recall = n_match / n_reference if n_reference else EPSILON
            denominator = factor * precision + recall
            score += (1 + factor) * precision * recall / denominator if denominator > 0 else EPSILON
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

    def many_scores(self, states: ManySums) -> np.ndarray:
        """The score of every state, with the operations of `f_score` in its order."""
        factor, sums = self.beta * self.beta, states.counts_of("n-grams")
        n = len(sums)
        score, precisions, recalls, effective = (np.zeros(n) for _ in range(4))
        with np.errstate(divide="ignore", invalid="ignore"):
            for column in range(0, sums.shape[1], 3):
                n_hypothesis, n_reference, n_match = sums.T[column : column + 3]
                precision = np.where(n_hypothesis > 0, n_match / n_hypothesis, EPSILON)
                recall = np.where(n_reference > 0, n_match / n_reference, EPSILON)
                denominator = factor * precision + recall
                score += np.where(denominator > 0, (1 + factor) * precision * recall / denominator, EPSILON)
                is_effective = (n_hypothesis > 0) & (n_reference > 0)
                precisions += np.where(is_effective, precision, 0.0)
                recalls += np.where(is_effective, recall, 0.0)
                effective += is_effective
            if self.eps_smoothing:
                return 100 * score / (self.char_order + self.word_order)
            n_effective = np.maximum(effective, 1)
            precisions /= n_effective
            recalls /= n_effective
            values = 100 * ((1 + factor) * precisions * recalls / (factor * precisions + recalls))
        return np.where(precisions + recalls > 0, values, 0.0)

    def signature(self, n_references: int) -> str:
        return join_signature(
            {
                "nrefs": n_references,
                "case": "lc" if self.lowercase else "mixed",
                "eff": "no" if self.eps_smoothing else "yes",
                "nc": self.char_order,
                "nw": self.word_order,
                "space": "yes" if self.whitespace else "no",
            }
        )


@lru_cache
def column_names(char_order: int, word_order: int) -> tuple[str, ...]:
    orders = [f"char_{n}" for n in range(1, char_order + 1)] + [f"word_{n}" for n in range(1, word_order + 1)]
    return tuple(f"{count}_{order}" for order in orders for count in ("hypothesis", "reference", "match"))


def make_metric(
    *,
    char_order: int = CHAR_ORDER,
    word_order: int = 0,
    beta: float = BETA,
    lowercase: bool = False,
    whitespace: bool = False,
    eps_smoothing: bool = False,
) -> Chrf:
    """Check the options and return the metric; ValueError or TypeError if an option is not valid."""
    char_order = check_order(char_order, "char_order", 0)
    word_order = check_order(word_order, "word_order", 0)
    if not char_order + word_order:
        raise ValueError("char_order and word_order are both 0; at least one must be above 0")
    beta = check_number(beta, "beta", MOST_BETA)
    check_flags(lowercase=lowercase, whitespace=whitespace, eps_smoothing=eps_smoothing)
    return Chrf(char_order, word_order, beta, lowercase, whitespace, eps_smoothing)


@score_function(make_metric, segments_from_streams)
def corpus_chrf(
    hypotheses: ArrayLike,
    references: ArrayLike,
    *,
    char_order: int = CHAR_ORDER,
    word_order: int = 0,
    beta: float = BETA,
    lowercase: bool = False,
    whitespace: bool = False,
    eps_smoothing: bool = False,
    n_threads: int | None = None,
) -> ChrfScore:
    """chrF of a corpus, or chrF++ with `word_order=2`: the F-score of character (and word) n-grams.

    chrF = 100 (1 + beta^2) P R / (beta^2 P + R), where P and R are the means over all orders of n-gram precision and
    recall. Counts are added over the corpus. Orders for which either side has no n-gram are left out. Scores are equal
    to sacrebleu's, to the last bit.

    Parameters
    ----------
    hypotheses : list of str
        One text per segment.
    references : list of lists
        Streams of references, each as long as `hypotheses`; None if a segment has no reference in a stream. A flat list
        is one stream.

        If a segment has several references, the one with the best score counts, the first of equal ones.
    char_order : int
        The length of the longest n-grams of characters, 0 to 255.
    word_order : int
        The length of the longest n-grams of words, 0 to 255; 2 is chrF++. Words are separated by white space. An ASCII
        punctuation mark at the end of a word, or else at its beginning, is a word of its own.
    beta : int or float
        The weight of recall relative to precision.
    lowercase : bool
        Compare lower-cased texts.
    whitespace : bool
        Count white space as characters.
    eps_smoothing : bool
        Return the mean of the F-scores of all orders, with 1e-16 for undefined ones, as chrF++.py, Moses and NLTK do.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    ChrfScore
        A float with `score`, `name`, `char_order`, `word_order`, `beta`, `statistics`, `signature`.

    Raises
    ------
    ValueError
        Different numbers of segments, no reference for a segment, a lone surrogate, an option out of range.
    TypeError
        A segment that is not a string.

    Notes
    -----
    If no n-gram matches, as for empty texts, the score is 0.

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


@score_function(make_metric, segments_from_sentence)
def sentence_chrf(
    hypothesis: str,
    references: str | ArrayLike,
    *,
    char_order: int = CHAR_ORDER,
    word_order: int = 0,
    beta: float = BETA,
    lowercase: bool = False,
    whitespace: bool = False,
    eps_smoothing: bool = False,
) -> ChrfScore:
    """chrF of one segment, scored as a corpus of one segment.

    Parameters
    ----------
    hypothesis : str
        The text.
    references : str or list of str
        One reference or several.
    char_order : int
        The length of the longest n-grams of characters, 0 to 255.
    word_order : int
        The length of the longest n-grams of words, 0 to 255; 2 is chrF++. Words are separated by white space. An ASCII
        punctuation mark at the end of a word, or else at its beginning, is a word of its own.
    beta : int or float
        The weight of recall relative to precision.
    lowercase : bool
        Compare lower-cased texts.
    whitespace : bool
        Count white space as characters.
    eps_smoothing : bool
        Return the mean of the F-scores of all orders, with 1e-16 for undefined ones, as chrF++.py, Moses and NLTK do.

    Returns
    -------
    ChrfScore

    Raises
    ------
    ValueError, TypeError
        As `corpus_chrf`.

    Notes
    -----
    If no n-gram matches, as for empty texts, the score is 0.

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
