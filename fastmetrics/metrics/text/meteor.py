"""METEOR: words matched by form, stem and meaning, weighed for how much is matched and how scattered it is."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from fastmetrics._core import exact, inputs
from fastmetrics._core.statistic import Sums
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels import alignment as kernel
from fastmetrics._kernels.sums import sum_values
from fastmetrics._version import __version__
from fastmetrics.metrics.text.lexicon import Lexicon
from fastmetrics.metrics.text.options import check_tokenizer
from fastmetrics.metrics.text.scores import TextScore
from fastmetrics.metrics.text.segments import VARIABLE, read_parallel, read_sentence
from fastmetrics.metrics.text.statistics import score_corpus
from fastmetrics.metrics.text.wordnet import open_wordnet

__all__ = ["MeteorScore", "corpus_meteor", "sentence_meteor"]

STAGES = {"exact": kernel.EXACT, "stem": kernel.STEM, "synonym": kernel.SYNONYM}
ALIGNMENTS = ("fewest_crossings", "nltk")
AVERAGES = ("segment", "corpus")

read = read_parallel


class MeteorScore(TextScore):
    """A METEOR score, a float, and what it is made of.

    Attributes
    ----------
    score : float
        0 to 1: `segment_score` or `corpus_score`, as `average` says.
    segment_score : float
        The mean of the segments' scores.
    corpus_score : float
        The score of all matches, chunks and lengths together.
    precision, recall, fragmentation : float
        Of all segments together: matches by words of the hypotheses, by words of the references, and chunks by matches.
    matches, chunks : int
        Words matched, and runs of them that stand side by side in both texts.
    sys_len, ref_len : int
        Words of the hypotheses, and of the reference with the best score of each segment.
    signature : str
        What is needed to compute the number again.
    """

    segment_score: float
    corpus_score: float
    precision: float
    recall: float
    fragmentation: float
    matches: int
    chunks: int
    sys_len: int
    ref_len: int
    signature: str

    def __str__(self) -> str:
        return (
            f"METEOR = {self.score:.4f} (P = {self.precision:.4f} R = {self.recall:.4f} "
            f"fragmentation = {self.fragmentation:.4f} matches = {self.matches} chunks = {self.chunks} "
            f"hyp_len = {self.sys_len} ref_len = {self.ref_len})"
        )


class Meteor(NamedTuple):
    """The metric with its options, checked."""

    modules: tuple[str, ...]
    alpha: float
    beta: float
    gamma: float
    alignment: str
    average: str
    tokenize: str
    lowercase: bool
    wordnet: str | None  # where it was found, so that a metric can travel

    @property
    def name(self) -> str:
        return "meteor"

    @property
    def columns(self) -> tuple[str, ...]:
        return ("matches", "chunks", "sys_len", "ref_len")

    def new_counter(self) -> MeteorCounter:
        return MeteorCounter(self)

    def new(self) -> Sums:
        return Sums(kernel.COLUMNS + 1, 1)

    def add(self, sums: Sums, counts: np.ndarray) -> None:
        sums.counts[: kernel.COLUMNS] += counts.sum(axis=0)
        sums.counts[kernel.COLUMNS] += len(counts)
        sum_values(self.score_rows(counts), None, sums.exact[0])

    def score_rows(self, counts: np.ndarray) -> np.ndarray:
        """The score of every segment."""
        scores = np.empty(len(counts), np.float64)
        kernel.score_rows(np.ascontiguousarray(counts), self.alpha, self.beta, self.gamma, scores)
        return scores

    def score(self, sums: Sums, n_references: int) -> MeteorScore:
        matches, chunks, sys_len, ref_len, n_segments = sums.counts.tolist()
        if n_segments:
            mean = exact.divide(sums.integer(0), n_segments << exact.EXPONENT)
        else:
            mean = warn_undefined("meteor", "there are no segments")
        together = float(self.score_rows(sums.counts[None, : kernel.COLUMNS])[0]) if n_segments else mean
        return MeteorScore(
            mean if self.average == "segment" else together, mean, together, ratio(matches, sys_len),
            ratio(matches, ref_len), ratio(chunks, matches), matches, chunks, sys_len, ref_len,
            self.signature(n_references),
        )  # fmt: skip

    def signature(self, n_references: int) -> str:
        parts = {
            "nrefs": "var" if n_references == VARIABLE else n_references,
            "case": "lc" if self.lowercase else "mixed",
            "tok": self.tokenize,
            "modules": "+".join(self.modules),
            "align": self.alignment,
            "avg": self.average,
            "alpha": self.alpha,
            "beta": self.beta,
            "gamma": self.gamma,
        }
        if self.wordnet is not None:
            parts["wordnet"] = open_wordnet(self.wordnet).version
        parts["version"] = f"fastmetrics-{__version__}"
        return "|".join(f"{name}:{value}" for name, value in parts.items())


def ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


class MeteorCounter:
    """One thread's words and alignments."""

    def __init__(self, metric: Meteor) -> None:
        modules = metric.modules
        self.metric = metric
        self.lexicon = Lexicon(metric.tokenize, metric.lowercase, "stem" in modules)
        self.generation = self.lexicon.generation
        # What synonyms are asked of: what the stage before them leaves over.
        self.of_stems = "stem" in modules and modules.index("stem") < (*modules, "synonym").index("synonym")
        wordnet = open_wordnet(metric.wordnet).tables if metric.wordnet is not None else None
        self.aligner = kernel.Aligner([STAGES[name] for name in modules], metric.alignment == "nltk", wordnet)

    def count(self, block: Any, out: np.ndarray) -> None:
        ids, text_tokens = self.lexicon.read(block)
        if self.lexicon.generation != self.generation:
            self.generation = self.lexicon.generation
            self.aligner.forget()
        lexicon, metric = self.lexicon, self.metric
        forms = lexicon.stems if self.of_stems else lexicon.words
        queries = forms if self.of_stems or metric.lowercase else lexicon.lower
        self.aligner.count(
            ids, text_tokens, block.segments, lexicon.stem_of[: lexicon.words.size], forms.take(), queries.take(),
            metric.alpha, metric.beta, metric.gamma, out,
        )  # fmt: skip


def make_metric(
    *,
    modules: Sequence[str] = tuple(STAGES),
    alpha: float = 0.9,
    beta: float = 3.0,
    gamma: float = 0.5,
    alignment: str = "fewest_crossings",
    average: str = "segment",
    tokenize: str = "none",
    lowercase: bool = True,
    wordnet: str | os.PathLike[str] | None = None,
) -> Meteor:
    """The metric of these options; ValueError or TypeError where they have no meaning."""
    if isinstance(modules, str) or not isinstance(modules, Iterable):
        raise TypeError(f'modules must be a sequence of names, such as ("exact", "stem"); found {modules!r}')
    modules = tuple(modules)
    for module in modules:
        inputs.check_option(module, "modules", tuple(STAGES))
    if not modules or len(set(modules)) < len(modules):
        raise ValueError(f"modules must name one stage or more, each once; found {modules!r}")
    alpha = check_weight(alpha, "alpha", 1.0)
    beta = check_weight(beta, "beta", math.inf)
    gamma = check_weight(gamma, "gamma", 1.0)
    inputs.check_option(alignment, "alignment", ALIGNMENTS)
    inputs.check_option(average, "average", AVERAGES)
    check_tokenizer(tokenize)
    inputs.check_flag(lowercase, "lowercase")
    source = open_wordnet(wordnet).source if "synonym" in modules else None
    return Meteor(modules, alpha, beta, gamma, alignment, average, tokenize, lowercase, source)


def check_weight(value: Any, name: str, most: float) -> float:
    bound = f"a finite number of at least 0{'' if most == math.inf else f' and at most {most:g}'}"
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} must be {bound}; found {value!r}")
    if not (math.isfinite(value) and 0 <= value <= most):
        raise ValueError(f"{name} must be {bound}; found {value!r}")
    return float(value)


def corpus_meteor(
    hypotheses: Any,
    references: Any,
    *,
    modules: Sequence[str] = ("exact", "stem", "synonym"),
    alpha: float = 0.9,
    beta: float = 3.0,
    gamma: float = 0.5,
    alignment: Literal["fewest_crossings", "nltk"] = "fewest_crossings",
    average: Literal["segment", "corpus"] = "segment",
    tokenize: str = "none",
    lowercase: bool = True,
    wordnet: str | os.PathLike[str] | None = None,
    n_threads: int | None = None,
) -> MeteorScore:
    """METEOR of a corpus: how many words match, by form, stem or meaning, less a penalty for scattered matches.

    A segment's score is (1 - gamma (chunks / matches)^beta) P R / (alpha P + (1 - alpha) R), where P and R are matches
    by words of the hypothesis and of the reference, and chunks are runs of matches that stand side by side in both.
    Numbers are those of NLTK's `meteor_score`, for the same alignment.

    Parameters
    ----------
    hypotheses : list of str, or list of lists of str
        A text for every segment; or its words, which are then taken as they are.
    references : list of str, or list of lists of str
        For every hypothesis a reference, or a list of them, of which the one with the best score counts.
    modules : sequence of {"exact", "stem", "synonym"}
        The stages, in their order: words are matched with equal words, with words of the same Porter stem, with a word
        of a synset of WordNet. Each stage looks at what the ones before leave over. Behind "stem" a synonym is one of
        stems, as in NLTK; ("exact", "synonym", "stem") asks for those of words.
    alpha : float
        The weight of precision beside recall in their harmonic mean, 0 to 1.
    beta, gamma : float
        The penalty's exponent, at least 0, and its greatest value, 0 to 1.
    alignment : {"fewest_crossings", "nltk"}
        Where words may be matched in several ways: such that the fewest matches cross, as the metric is defined; or the
        last word with the last, whatever they cross, as NLTK does.
    average : {"segment", "corpus"}
        The mean of the segments' scores, or the score of all matches, chunks and lengths together.
    tokenize : {"none", "13a", "intl", "char", "zh"}
        What words are: what stands between white space, or what one of sacrebleu's tokenizers says.
    lowercase : bool
        Compare words in lower case.
    wordnet : path, optional
        WordNet's folder. None looks at the variable WNSEARCHDIR, the folders of NLTK's data and /usr/share/wordnet.
    n_threads : int, optional
        Threads to use; the result does not depend on it.

    Returns
    -------
    MeteorScore
        A float with `score`, `segment_score`, `corpus_score`, `precision`, `recall`, `fragmentation`, `matches`,
        `chunks`, `sys_len`, `ref_len`, `signature`.

    Raises
    ------
    FileNotFoundError
        Synonyms are asked for, and there is no WordNet: `modules=("exact", "stem")` works without.
    ValueError
        Different numbers of segments, no reference for a segment, a lone surrogate, an option out of range.
    TypeError
        A segment that is no text, a token that is no string.

    Notes
    -----
    A segment without a match scores 0, so also an empty one.

    Each stage takes a largest matching; among these one with the fewest crossings, with matches of earlier stages
    counted too, for they stay; among these one with the fewest chunks; then the one whose words, from left to right,
    are matched farthest to the left. Matches of one word never cross each other, so only words that one side has more
    often leave a choice. It is decided exactly, as for all of 9,012 segments of three systems of WMT 2017, unless more
    than 1,024 ways (fewer in long texts: 65,536 steps) are open at a time; then the most promising go on. Where
    more than 4,096 words of the hypothesis or 1,024 of the reference are open, each word takes what is best beside
    those that are settled, and one with more than a million possible pairs is matched in order. A largest matching it
    is in any case, but for more than 64 words that are synonyms of some and not of all of each other.

    With `alignment="nltk"` a segment scores what NLTK says, bit by bit.

    References
    ----------
    S. Banerjee, A. Lavie, METEOR: an automatic metric for MT evaluation with improved correlation with human judgments,
    ACL workshop 2005. A. Lavie, A. Agarwal, METEOR: an automatic metric for MT evaluation with high levels of
    correlation with human judgments, WMT 2007.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> hypotheses = ["It is a guide to action which ensures that the military always obeys the commands of the party"]
    >>> references = ["It is a guide to action that ensures that the military will forever heed Party commands"]
    >>> print(fm.corpus_meteor(hypotheses, references, modules=("exact", "stem")))
    METEOR = 0.7270 (P = 0.6667 R = 0.7500 fragmentation = 0.3333 matches = 12 chunks = 4 hyp_len = 18 ref_len = 16)
    >>> both = fm.corpus_meteor(["the cats sat", "no"], [["the cat sat", "a cat"], "no"], modules=("exact", "stem"))
    >>> round(both.segment_score, 4), round(both.corpus_score, 4), both.fragmentation
    (0.7407, 0.9375, 0.5)
    """
    metric = make_metric(
        modules=modules, alpha=alpha, beta=beta, gamma=gamma, alignment=alignment, average=average, tokenize=tokenize,
        lowercase=lowercase, wordnet=wordnet,
    )  # fmt: skip
    result: MeteorScore = score_corpus(metric, read_parallel(hypotheses, references), n_threads)
    return result


def sentence_meteor(
    hypothesis: Any,
    references: Any,
    *,
    modules: Sequence[str] = ("exact", "stem", "synonym"),
    alpha: float = 0.9,
    beta: float = 3.0,
    gamma: float = 0.5,
    alignment: Literal["fewest_crossings", "nltk"] = "fewest_crossings",
    tokenize: str = "none",
    lowercase: bool = True,
    wordnet: str | os.PathLike[str] | None = None,
) -> MeteorScore:
    """METEOR of one segment; its best reference counts.

    Parameters
    ----------
    hypothesis : str or list of str
        The text, or its words.
    references : str, list of str, or list of lists of str
        One reference or several.
    modules, alpha, beta, gamma, alignment, tokenize, lowercase, wordnet
        As for `corpus_meteor`.

    Returns
    -------
    MeteorScore

    Raises
    ------
    FileNotFoundError, ValueError, TypeError
        As `corpus_meteor`.

    Notes
    -----
    Without any match the score is 0, also for an empty hypothesis.

    References
    ----------
    S. Banerjee, A. Lavie, ACL workshop 2005.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.sentence_meteor("the cat sat", ["a dog", "the cat sat"], modules=("exact",)).score
    0.9814814814814815
    >>> fm.sentence_meteor("jumps over", ["he jumped", "over he jumped"], modules=("exact", "stem")).chunks
    2
    """
    metric = make_metric(
        modules=modules, alpha=alpha, beta=beta, gamma=gamma, alignment=alignment, tokenize=tokenize,
        lowercase=lowercase, wordnet=wordnet,
    )  # fmt: skip
    result: MeteorScore = score_corpus(metric, read_sentence(hypothesis, references), 1)
    return result
