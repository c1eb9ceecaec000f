"""NIST: n-gram matches of translations, each worth what it tells, as mteval-v13a computes it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, NoReturn

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.statistic import Sums
from fastmetrics._kernels import nist as kernels
from fastmetrics._version import __version__
from fastmetrics.metrics.text.nist_corpus import count_corpus
from fastmetrics.metrics.text.options import check_order, check_tokenizer
from fastmetrics.metrics.text.scores import TextScore
from fastmetrics.metrics.text.segments import VARIABLE, read_parallel, read_sentence
from fastmetrics.metrics.text.statistics import Progress, Source, score_corpus

__all__ = ["NistScore", "corpus_nist", "sentence_nist"]

DEFAULT_ORDER = 5
INFORMATIONS = ("mteval", "formula")
# The penalty is 1/2 for output of 2/3 of the references' length.
BETA = -math.log(0.5) / math.log(1.5) / math.log(1.5)

read = read_parallel


class NistScore(TextScore):
    """A NIST score, a float, and what it is made of.

    Attributes
    ----------
    score : float
        At least 0, in bits; the last of `cumulative`.
    individual : tuple of float
        By order, the information of the matches for each n-gram of the hypotheses, times the penalty.
    cumulative : tuple of float
        By order, the sums of these: the scores of lesser orders.
    counts, totals : tuple of int
        Matching n-grams and n-grams of the hypotheses, by order.
    bp : float
        The penalty for short output, 0 to 1.
    sys_len : int
        Words of the hypotheses.
    ref_len : float
        Words of the references, the mean of those of a segment.
    signature : str
        What is needed to compute the number again.
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


class Nist(NamedTuple):
    """The metric with its options, checked."""

    tokenize: str
    lower_ascii: bool
    max_order: int
    information: str
    weights: int = 0  # of statistics by segment: tells weights of some references from those of others

    @property
    def name(self) -> str:
        return "nist"

    @property
    def lowercase(self) -> bool:
        """Texts are asked for as they are: only ASCII is lower-cased, behind the tokenizer."""
        return False

    @property
    def columns(self) -> tuple[str, ...]:
        """`ref_len` is REFERENCE_UNIT times the mean words; information is 2**-25 and 2**-57 times its two columns."""
        orders = range(1, self.max_order + 1)
        names = ("correct", "total", "information", "information_low")
        return ("sys_len", "ref_len", *(f"{name}_{n}" for name in names for n in orders))

    def new_counter(self) -> NoReturn:
        raise TypeError(
            "NIST weighs n-grams by the references of the whole corpus: use corpus_nist, or segment_statistics, on all "
            "segments; single batches have no weights"
        )

    def count_corpus(
        self, source: Source, n_threads: int | None, by_segment: bool, progress: Progress | None = None
    ) -> tuple[Nist, np.ndarray]:
        counts, weights = count_corpus(self, source, n_threads, by_segment, progress)
        return self._replace(weights=weights), counts

    def new(self) -> Sums:
        return Sums(2 + 4 * self.max_order, 0)

    def add(self, sums: Sums, counts: np.ndarray) -> None:
        sums.counts += counts.sum(axis=0)

    def score(self, sums: Sums, n_references: int) -> NistScore:
        sys_len, scaled, *rest = sums.counts.tolist()
        order = self.max_order
        correct, totals, high, low = (tuple(rest[start : start + order]) for start in range(0, 4 * order, order))
        ref_len = scaled / kernels.REFERENCE_UNIT
        penalty = length_penalty(sys_len, ref_len)
        cumulative, individual = [], []
        score = 0.0
        for n in range(order):
            # A whole number of 2**-57 bits by a whole number: one rounding.
            precision = ((high[n] << 32) + low[n]) / (max(totals[n], 1) << kernels.WEIGHT_BITS)
            score += precision
            individual.append(precision * penalty)
            cumulative.append(score * penalty)
        return NistScore(
            cumulative[-1], tuple(individual), tuple(cumulative), correct, totals, penalty, sys_len, ref_len,
            self.signature(n_references),
        )  # fmt: skip

    def signature(self, n_references: int) -> str:
        parts = {
            "nrefs": "var" if n_references == VARIABLE else n_references,
            "case": "lc" if self.lower_ascii else "mixed",
            "tok": self.tokenize,
            "order": self.max_order,
            "info": self.information,
            "version": f"fastmetrics-{__version__}",
        }
        return "|".join(f"{name}:{value}" for name, value in parts.items())


def length_penalty(sys_len: int, ref_len: float) -> float:
    """exp(-beta log^2(ratio)) of output shorter than the mean reference, else 1; 0 for none."""
    if sys_len >= ref_len:
        return 1.0
    if sys_len == 0:
        return 0.0
    log = math.log(sys_len / ref_len)
    return math.exp(-BETA * log * log)


def make_metric(
    *,
    max_order: int = DEFAULT_ORDER,
    tokenize: str = "13a",
    lowercase: bool = False,
    information: str = "mteval",
) -> Nist:
    """The metric of these options; ValueError or TypeError where they have no meaning."""
    check_tokenizer(tokenize)
    max_order = check_order(max_order, "max_order", most=kernels.N_ORDERS)
    inputs.check_flag(lowercase, "lowercase")
    inputs.check_option(information, "information", INFORMATIONS)
    return Nist(tokenize, lowercase, max_order, information)


def corpus_nist(
    hypotheses: Any,
    references: Any,
    *,
    max_order: int = DEFAULT_ORDER,
    tokenize: str = "13a",
    lowercase: bool = False,
    information: str = "mteval",
    n_threads: int | None = None,
) -> NistScore:
    """NIST of a corpus: the information of matching n-grams for each n-gram of the hypotheses, summed over orders.

    NIST = BP sum_n (sum of Info over matches of length n) / (n-grams of the hypotheses), where
    Info(w_1...w_n) = log2(count(w_1...w_(n-1)) / count(w_1...w_n)), counted in all references (of single words: all
    words / count), an n-gram matches at most as often as in any one reference of its segment, and
    BP = exp(-beta log^2 min(1, c / r)) of c hypothesis words and r words of references on average, beta such that BP
    is 1/2 at 2/3. Numbers are those of mteval-v13a.

    Parameters
    ----------
    hypotheses : list of str, or list of lists of tokens
        A text for every segment; or its tokens, str or int, which are then taken as they are.
    references : list
        For every segment a reference, or a list of references.
    max_order : int
        The longest n-grams that count, 1 to 16.
    tokenize : {"13a", "intl", "char", "zh", "none"}
        As for `corpus_bleu`; mteval-v13a's is "13a".
    lowercase : bool
        Make A-Z small, and no other letters: mteval without its option -c. (False is mteval -c.)
    information : {"mteval", "formula"}
        mteval-v13a weighs a pair of words whose first is the word "0" as if nothing stood before the second, by all
        words / count, since to Perl "0" is false. "formula" weighs it like others.
    n_threads : int, optional
        Threads to use; the result does not depend on it.

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
        A segment that is no text.

    Notes
    -----
    Without any match the score is 0, also for an empty hypothesis. Segments may have different numbers of references,
    which mteval does not know: their lengths are averaged by segment.

    Weights are whole numbers of 2^-57 bits and sums are exact, so that the score depends on neither the order of
    segments nor threads. `segment_statistics("nist", ...)` has them by segment, weighed by all references given:
    bootstrap samples and parts of that corpus can be scored, with the corpus's weights. Statistics with weights of
    different references do not add up: an error.

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
    metric = make_metric(max_order=max_order, tokenize=tokenize, lowercase=lowercase, information=information)
    result: NistScore = score_corpus(metric, read_parallel(hypotheses, references), n_threads)
    return result


def sentence_nist(
    hypothesis: Any,
    references: Any,
    *,
    max_order: int = DEFAULT_ORDER,
    tokenize: str = "13a",
    lowercase: bool = False,
    information: str = "mteval",
) -> NistScore:
    """NIST of one segment: that of a corpus which holds nothing else, so its weights come from its own references.

    Parameters
    ----------
    hypothesis : str or list of tokens
        The text, or its tokens.
    references : str, list of str, list of tokens or list of lists of tokens
        One reference or several.
    max_order, tokenize, lowercase, information
        As for `corpus_nist`.

    Returns
    -------
    NistScore

    Raises
    ------
    ValueError, TypeError
        As `corpus_nist`.

    Notes
    -----
    Without any match the score is 0, also for an empty hypothesis. For weights of a whole corpus take
    `segment_statistics("nist", ...).scores()`.

    References
    ----------
    G. Doddington, HLT 2002.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.sentence_nist("the cat sat on the mat", "the cat sat on a mat").score, 4)
    2.1541
    """
    metric = make_metric(max_order=max_order, tokenize=tokenize, lowercase=lowercase, information=information)
    result: NistScore = score_corpus(metric, read_sentence(hypothesis, references), 1)
    return result
