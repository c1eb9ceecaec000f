"""NIST: n-gram matches of translations, weighted by their information, as mteval-v13a computes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.elementary import exp, log
from fastmetrics._core.state import Field, Fields, Sums
from fastmetrics._kernels.text import nist as kernels
from fastmetrics.metrics.text.inputs.argument_forms import segments_from_parallel, sentence_of_words
from fastmetrics.metrics.text.inputs.segments import Segments
from fastmetrics.metrics.text.nist_statistics import count_corpus
from fastmetrics.metrics.text.text_metric import (
    CorpusMetric,
    TextScore,
    Tokenizing,
    check_order,
    check_tokenizer,
    join_signature,
    score_function,
)

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike
    from fastmetrics._core.types.options import NistInformation, Tokenizer

__all__ = ["NistScore", "corpus_nist", "sentence_nist"]

DEFAULT_ORDER = 5
INFORMATIONS = ("mteval", "formula")
# log(2) / log(3/2)^2: the penalty is 1/2 for hypotheses of 2/3 of the references' length.
BETA = 4.216173616831698

to_segments = segments_from_parallel


class NistScore(TextScore):
    """A NIST score: a float, with the quantities it was computed from.

    Attributes
    ----------
    score : float
        At least 0, in bits; the last of `cumulative`.
    individual : tuple of float
        Per order, the information of the matches divided by the hypotheses' n-grams, times the penalty.
    cumulative : tuple of float
        The cumulative sums of `individual`: the scores with each maximal order.
    counts, totals : tuple of int
        The number of matching n-grams, and of n-grams of the hypotheses, per order.
    bp : float
        The penalty for short hypotheses, 0 to 1.
    sys_len : int
        The number of words of the hypotheses.
    ref_len : float
        The sum over segments of the mean length of the segment's references, in words.
    signature : str
        The options that reproduce the score.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> score = fm.corpus_nist(["the cat sat on the mat"], [["the cat sat on a mat"]])
    >>> round(float(score), 4)
    2.1541
    """

    individual: tuple[float, ...]
    cumulative: tuple[float, ...]
    counts: tuple[int, ...]
    totals: tuple[int, ...]
    bp: float
    sys_len: int
    ref_len: float
    signature: str

    def __str__(self) -> str:
        return f"NIST = {self.score:.4f}"


BY_ORDER = ("correct", "total", "information", "information_low")  # counts of every order


@dataclass(frozen=True)
class Nist(CorpusMetric[NistScore], Tokenizing):
    """NIST with its options, checked."""

    tokenize: str
    lower_ascii: bool
    max_order: int
    information: str
    weights: int = 0  # a fingerprint of the references, for statistics by segment: their weights must be the same

    @property
    def lowercase(self) -> bool:
        """Texts are loaded with their case: only ASCII letters are lower-cased, after the tokenizer."""
        return False

    @property
    def columns(self) -> tuple[str, ...]:
        """`ref_len` is REFERENCE_UNIT times the mean number of words.

        The information of an order is 2**-25 times its column `information`, plus 2**-57 times `information_low`.
        """
        orders = range(1, self.max_order + 1)
        return ("sys_len", "ref_len", *(f"{name}_{n}" for name in BY_ORDER for n in orders))

    def new_counter(self) -> NoReturn:
        raise TypeError(
            "NIST's weights depend on the references of the whole corpus: call corpus_nist or segment_statistics with "
            "all segments; batches cannot be scored"
        )

    def count_corpus(self, source: Segments, n_threads: int | None, by_segment: bool) -> tuple[Nist, np.ndarray]:
        counts, weights = count_corpus(self, source, n_threads, by_segment)
        return replace(self, weights=weights), counts

    @property
    def fields(self) -> Fields:
        arrays = (Field(name, length=self.max_order) for name in BY_ORDER)
        return Fields("sys_len", "ref_len", *arrays)

    def score(self, sums: Sums, n_references: int) -> NistScore:
        sys_len, order = sums.count("sys_len"), self.max_order
        correct, totals, high, low = (tuple(sums.counts_of(name).tolist()) for name in BY_ORDER)
        ref_len = sums.count("ref_len") / kernels.REFERENCE_UNIT
        penalty = length_penalty(sys_len, ref_len)
        cumulative, individual = [], []
        score = 0.0
        for n in range(order):
            # An integer, the information in units of 2**-57 bits, is divided by an integer: one rounding.
            precision = ((high[n] << 32) + low[n]) / (max(totals[n], 1) << kernels.WEIGHT_BITS)
            score += precision
            individual.append(precision * penalty)
            cumulative.append(score * penalty)
        return NistScore(
            cumulative[-1], tuple(individual), tuple(cumulative), correct, totals, penalty, sys_len, ref_len,
            self.signature(n_references),
        )  # fmt: skip

    def signature(self, n_references: int) -> str:
        return join_signature(
            {
                "nrefs": n_references,
                "case": "lc" if self.lower_ascii else "mixed",
                "tok": self.tokenize,
                "order": self.max_order,
                "info": self.information,
            }
        )


def length_penalty(sys_len: int, ref_len: float) -> float:
    """Return 1 if the hypotheses are as long as the mean references, else exp(-beta log^2(ratio)); 0 if empty."""
    if sys_len >= ref_len:
        return 1.0
    if sys_len == 0:
        return 0.0
    ratio = log(sys_len / ref_len)
    return exp(-BETA * ratio * ratio)


def make_metric(
    *,
    max_order: int = DEFAULT_ORDER,
    tokenize: str = "13a",
    lowercase: bool = False,
    information: str = "mteval",
) -> Nist:
    """Check the options and return the metric; ValueError or TypeError if an option is not valid."""
    check_tokenizer(tokenize)
    max_order = check_order(max_order, "max_order", most=kernels.N_ORDERS)
    validation.check_flag(lowercase, "lowercase")
    validation.check_option(information, "information", INFORMATIONS)
    return Nist(tokenize, lowercase, max_order, information)


@score_function(make_metric, segments_from_parallel)
def corpus_nist(
    hypotheses: ArrayLike,
    references: ArrayLike,
    *,
    max_order: int = DEFAULT_ORDER,
    tokenize: Tokenizer = "13a",
    lowercase: bool = False,
    information: NistInformation = "mteval",
    n_threads: int | None = None,
) -> NistScore:
    """NIST of a corpus: the information of matching n-grams divided by the hypotheses' n-grams, summed over orders.

    NIST = BP sum_n (sum of Info over matches of length n) / (n-grams of the hypotheses).
    Info(w_1...w_n) = log2(count(w_1...w_(n-1)) / count(w_1...w_n)), counted in all references; for single words the
    numerator is the number of all words. An n-gram matches at most as often as it occurs in one reference of its
    segment. BP = exp(-beta log^2 min(1, c / r)), where the hypotheses have c words, the references have r words on
    average, and beta is such that BP is 1/2 for c / r = 2/3. Scores are equal to mteval-v13a's.

    Parameters
    ----------
    hypotheses : list of str, or list of lists of tokens
        One text per segment; or one list of tokens, str or int, which is used without tokenizing.
    references : list
        One reference, or a list of references, per segment.
    max_order : int
        The length of the longest n-grams, 1 to 16.
    tokenize : {"13a", "intl", "char", "zh", "none"}
        "13a": the tokenizer of mteval-v13a. "intl": the international one of mteval-v14. "char": characters. "zh":
        Chinese characters, with 13a between them. "none": white space only. See `tokenize`.
    lowercase : bool
        Lower-case A-Z and no other letters, as mteval does without its option -c. False is mteval -c.
    information : {"mteval", "formula"}
        "mteval": a pair of words that begins with the word "0" has the weight of the second word alone, as in
        mteval-v13a, in which "0" is false (Perl). "formula": it has the weight of other pairs.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    NistScore
        A float with `score`, `individual`, `cumulative`, `counts`, `totals`, `bp`, `sys_len`, `ref_len`,
        `signature`.

    Raises
    ------
    ValueError
        Different numbers of segments, no reference for a segment, a lone surrogate, an option out of range.
    TypeError
        A segment that is not a text.

    Notes
    -----
    If no n-gram matches, as for an empty hypothesis, the score is 0. Segments may have different numbers of references,
    unlike in mteval; the lengths are then averaged per segment. NLTK uses only the best reference, with its length.

    Weights are integers in units of 2^-57 bits and sums are exact, so the score depends neither on the order of
    segments nor on threads. `segment_statistics("nist", ...)` returns the statistics by segment with the weights of the
    whole corpus, so that subsets and bootstrap samples of it can be scored. Statistics with weights of different
    references cannot be added: this is an error.

    References
    ----------
    G. Doddington, Automatic evaluation of machine translation quality using n-gram co-occurrence statistics, HLT 2002.
    NIST, mteval-v13a.pl.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> hypotheses = ["The dog bit the man.", "It was not unexpected."]
    >>> references = [["The dog had bit the man.", "The dog bit a man."], "No one was surprised."]
    >>> print(fm.corpus_nist(hypotheses, references))
    NIST = 2.7232
    >>> fm.corpus_nist(hypotheses, references, max_order=2).counts
    (8, 5)
    """


@score_function(make_metric, sentence_of_words)
def sentence_nist(
    hypothesis: str | ArrayLike,
    references: str | ArrayLike,
    *,
    max_order: int = DEFAULT_ORDER,
    tokenize: Tokenizer = "13a",
    lowercase: bool = False,
    information: NistInformation = "mteval",
) -> NistScore:
    """NIST of one segment, scored as a corpus of one segment: weights come from its own references.

    Parameters
    ----------
    hypothesis : str or list of tokens
        The text, or its tokens.
    references : str, list of str, list of tokens or list of lists of tokens
        One reference or several.
    max_order : int
        The length of the longest n-grams, 1 to 16.
    tokenize : {"13a", "intl", "char", "zh", "none"}
        "13a": the tokenizer of mteval-v13a. "intl": the international one of mteval-v14. "char": characters. "zh":
        Chinese characters, with 13a between them. "none": white space only. See `tokenize`.
    lowercase : bool
        Lower-case A-Z and no other letters, as mteval does without its option -c. False is mteval -c.
    information : {"mteval", "formula"}
        "mteval": a pair of words that begins with the word "0" has the weight of the second word alone, as in
        mteval-v13a, in which "0" is false (Perl). "formula": it has the weight of other pairs.

    Returns
    -------
    NistScore

    Raises
    ------
    ValueError, TypeError
        As `corpus_nist`.

    Notes
    -----
    If no n-gram matches, as for an empty hypothesis, the score is 0. To score segments with the weights of a whole
    corpus, use `segment_statistics("nist", ...).scores()`.

    References
    ----------
    G. Doddington, HLT 2002.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.sentence_nist("the cat sat on the mat", "the cat sat on a mat").score, 4)
    2.1541
    """
