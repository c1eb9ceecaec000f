"""METEOR: an F-score of words matched by form, stem or synonym, less a penalty for scattered matches."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns import validation
from fastmetrics._core.state import Fields, ManySums, Sums, exact_sum
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels.numeric.sums import sum_values
from fastmetrics._kernels.text import meteor_alignment as kernel
from fastmetrics.metrics.text.inputs.argument_forms import segments_from_parallel, sentence_of_words
from fastmetrics.metrics.text.text_metric import (
    BlockCounter,
    ScoresManySums,
    TextMetric,
    TextScore,
    Tokenizing,
    check_number,
    check_tokenizer,
    join_signature,
    score_function,
)
from fastmetrics.metrics.text.tokens.meteor_vocabulary import MeteorVocabulary
from fastmetrics.metrics.text.tokens.wordnet import open_wordnet

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike
    from fastmetrics._core.types.options import MeteorAlignment, MeteorAverage, MeteorModule, Tokenizer

__all__ = ["MeteorScore", "corpus_meteor", "sentence_meteor"]

STAGES = {"exact": kernel.EXACT, "stem": kernel.STEM, "synonym": kernel.SYNONYM}
ALIGNMENTS = ("fewest_crossings", "nltk")
AVERAGES = ("segment", "corpus")

to_segments = segments_from_parallel


class MeteorScore(TextScore):
    """A METEOR score: a float, with the quantities it was computed from.

    Attributes
    ----------
    score : float
        0 to 1: `segment_score` or `corpus_score`, as chosen by `average`.
    segment_score : float
        The mean of the segments' scores.
    corpus_score : float
        The score of the summed matches, chunks and lengths of all segments.
    precision, recall, fragmentation : float
        Over all segments: matches / sys_len, matches / ref_len and chunks / matches.
    matches, chunks : int
        The number of matched words, and of runs of them that are adjacent in both texts.
    sys_len, ref_len : int
        The number of words of the hypotheses, and of the best-scoring reference of each segment.
    signature : str
        The options that reproduce the score.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> score = fm.corpus_meteor(["the cat sat on the mat"], [["the cat sat on a mat"]], modules=("exact", "stem"))
    >>> round(float(score), 4)
    0.8067
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


COLUMNS = ("matches", "chunks", "sys_len", "ref_len")
FIELDS = Fields(*COLUMNS, "segments", exact_sum("scores"))


@dataclass(frozen=True)
class Meteor(ScoresManySums, Tokenizing, TextMetric[MeteorScore]):
    """METEOR with its options, checked."""

    modules: tuple[str, ...]
    alpha: float
    beta: float
    gamma: float
    alignment: str
    average: str
    tokenize: str
    lowercase: bool
    wordnet: str | None  # the folder or zip file: a path can be pickled, an open WordNet cannot

    @property
    def columns(self) -> tuple[str, ...]:
        return COLUMNS

    def new_counter(self) -> BlockCounter:
        return MeteorCounter(self).count

    @property
    def fields(self) -> Fields:
        return FIELDS

    def add(self, sums: Sums, counts: np.ndarray) -> None:
        for name, total in zip(COLUMNS, counts.sum(axis=0), strict=True):
            sums.add_count(name, total)
        sums.add_count("segments", len(counts))
        sum_values(self.score_rows(counts), None, sums.sum_of("scores"))

    def score_rows(self, counts: np.ndarray) -> np.ndarray:
        """Return the score of every row of statistics."""
        scores = np.empty(len(counts), np.float64)
        kernel.score_rows(np.ascontiguousarray(counts), self.alpha, self.beta, self.gamma, scores)
        return scores

    def score(self, sums: Sums, n_references: int) -> MeteorScore:
        (matches, chunks, sys_len, ref_len), n_segments = map(sums.count, COLUMNS), sums.count("segments")
        if n_segments:
            mean = exact.divide(sums.integer("scores"), n_segments << exact.EXPONENT)
        else:
            mean = warn_undefined("meteor", "there are no segments")
        pooled = float(self.score_rows(np.array([[matches, chunks, sys_len, ref_len]]))[0]) if n_segments else mean
        return MeteorScore(
            mean if self.average == "segment" else pooled, mean, pooled, ratio(matches, sys_len),
            ratio(matches, ref_len), ratio(chunks, matches), matches, chunks, sys_len, ref_len,
            self.signature(n_references),
        )  # fmt: skip

    def many_scores(self, states: ManySums) -> np.ndarray:
        segments = states.number("segments")
        if self.average == "segment":
            return exact.quotients(states.number("scores"), segments)
        pooled = self.score_rows(np.stack([states.counts_of(name) for name in COLUMNS], axis=1))
        pooled[segments.are_zero] = np.nan
        return pooled

    def signature(self, n_references: int) -> str:
        fields = {
            "nrefs": n_references,
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
            fields["wordnet"] = open_wordnet(self.wordnet).version
        return join_signature(fields)


def ratio(numerator: int, denominator: int) -> float:
    return numerator / denominator if denominator else 0.0


class MeteorCounter:
    """One thread's vocabulary and aligner."""

    def __init__(self, metric: Meteor) -> None:
        modules = metric.modules
        self.metric = metric
        self.vocabulary = MeteorVocabulary(metric.tokenize, metric.lowercase, "stem" in modules)
        self.generation = self.vocabulary.generation
        # After the stage "stem", the stage "synonym" looks up stems, as in NLTK.
        self.synonyms_of_stems = "stem" in modules and modules.index("stem") < (*modules, "synonym").index("synonym")
        wordnet = open_wordnet(metric.wordnet).tables if metric.wordnet is not None else None
        self.aligner = kernel.Aligner([STAGES[name] for name in modules], metric.alignment == "nltk", wordnet)

    def count(self, block: Any, out: np.ndarray) -> None:
        vocabulary, metric = self.vocabulary, self.metric
        ids, text_tokens = vocabulary.encode(block)
        if vocabulary.generation != self.generation:
            self.generation = vocabulary.generation
            self.aligner.clear_words()
        forms = vocabulary.stems if self.synonyms_of_stems else vocabulary.words
        queries = forms if self.synonyms_of_stems or metric.lowercase else vocabulary.lower
        self.aligner.count(
            ids, text_tokens, block.segments, vocabulary.stem_ids[: vocabulary.words.size], forms.arrays(),
            queries.arrays(), metric.alpha, metric.beta, metric.gamma, out,
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
    """Check the options and return the metric; ValueError or TypeError if an option is not valid."""
    if isinstance(modules, str) or not isinstance(modules, Iterable):
        raise TypeError(f'modules must be a sequence of names, such as ("exact", "stem"); found {modules!r}')
    modules = tuple(modules)
    for module in modules:
        validation.check_option(module, "modules", tuple(STAGES))
    if not modules or len(set(modules)) < len(modules):
        raise ValueError(f"modules must name at least one stage, and each only once; found {modules!r}")
    alpha, gamma = float(check_number(alpha, "alpha", 1.0)), float(check_number(gamma, "gamma", 1.0))
    beta = float(check_number(beta, "beta"))
    validation.check_option(alignment, "alignment", ALIGNMENTS)
    validation.check_option(average, "average", AVERAGES)
    check_tokenizer(tokenize)
    validation.check_flag(lowercase, "lowercase")
    source = open_wordnet(wordnet).source if "synonym" in modules else None
    return Meteor(modules, alpha, beta, gamma, alignment, average, tokenize, lowercase, source)


@score_function(make_metric, segments_from_parallel)
def corpus_meteor(
    hypotheses: ArrayLike,
    references: ArrayLike,
    *,
    modules: Sequence[MeteorModule] = ("exact", "stem", "synonym"),
    alpha: float = 0.9,
    beta: float = 3.0,
    gamma: float = 0.5,
    alignment: MeteorAlignment = "fewest_crossings",
    average: MeteorAverage = "segment",
    tokenize: Tokenizer = "none",
    lowercase: bool = True,
    wordnet: str | os.PathLike[str] | None = None,
    n_threads: int | None = None,
) -> MeteorScore:
    """METEOR of a corpus: an F-score of words matched by form, stem or synonym, less a penalty for scattered matches.

    A segment's score is (1 - gamma (chunks / matches)^beta) P R / (alpha P + (1 - alpha) R). P and R are the matches
    divided by the words of the hypothesis and of the reference. A chunk is a run of matches that are adjacent in both
    texts. With the same alignment, scores are equal to those of NLTK's `meteor_score`.

    Parameters
    ----------
    hypotheses : list of str, or list of lists of str
        One text per segment; or one list of words, which is used without tokenizing.
    references : list of str, or list of lists of str
        One reference, or a list of references, per hypothesis. The reference with the best score counts.
    modules : sequence of {"exact", "stem", "synonym"}
        The stages, in their order: they match equal words, words of the same Porter stem, and words of one synset of
        WordNet. Each stage uses the words that the stages before left unmatched. After "stem", synonyms are looked up
        for stems, as in NLTK; ("exact", "synonym", "stem") looks them up for words.
    alpha : float
        The weight of precision relative to recall in their harmonic mean, 0 to 1.
    beta, gamma : float
        beta: the exponent of the penalty, at least 0. gamma: the greatest penalty, 0 to 1.
    alignment : {"fewest_crossings", "nltk"}
        How to choose among several possible matchings. "fewest_crossings": the one with the fewest crossing matches, as
        METEOR is defined. "nltk": always the last word with the last possible one, as NLTK does.
    average : {"segment", "corpus"}
        "segment": the mean of the scores of the segments. "corpus": the score of the summed matches, chunks and
        lengths.
    tokenize : {"none", "13a", "intl", "char", "zh"}
        How texts become words. "none": split at white space. The others are sacrebleu's tokenizers; see `tokenize`.
    lowercase : bool
        Compare words in lower case.
    wordnet : path, optional
        WordNet's folder. None searches the variable WNSEARCHDIR, the folders of NLTK's data and /usr/share/wordnet.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    MeteorScore
        A float with `score`, `segment_score`, `corpus_score`, `precision`, `recall`, `fragmentation`, `matches`,
        `chunks`, `sys_len`, `ref_len`, `signature`.

    Raises
    ------
    FileNotFoundError
        `modules` has "synonym" but WordNet was not found. `modules=("exact", "stem")` needs no WordNet.
    ValueError
        Different numbers of segments, no reference for a segment, a lone surrogate, an option out of range.
    TypeError
        A segment that is not a text, a token that is not a string.

    Notes
    -----
    If no word of a segment matches, as in an empty one, its score is 0.

    Each stage finds a maximum matching. Ties are resolved in this order: the fewest crossings, including those with
    matches of earlier stages; the fewest chunks; then the matches farthest to the left, first word first. Matches of
    equal words never cross each other, so there is a choice only for words that occur more often on one side.

    The search is exact unless more than 1,024 partial matchings (fewer in long texts: 65,536 steps) are open at a time;
    then only the best are continued. It was exact for all 9,012 segments of three systems of WMT 2017. If more than
    4,096 words of the hypothesis or 1,024 words of the reference have a choice, each word takes the best match given
    those decided before it, and a word with more than a million possible pairs is matched in order. The matching is
    still a maximum one, except among more than 64 words that are synonyms of some, but not all, of each other.

    With `alignment="nltk"`, segment scores are equal to NLTK's, to the last bit.

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


@score_function(make_metric, sentence_of_words)
def sentence_meteor(
    hypothesis: str | ArrayLike,
    references: str | ArrayLike,
    *,
    modules: Sequence[MeteorModule] = ("exact", "stem", "synonym"),
    alpha: float = 0.9,
    beta: float = 3.0,
    gamma: float = 0.5,
    alignment: MeteorAlignment = "fewest_crossings",
    tokenize: Tokenizer = "none",
    lowercase: bool = True,
    wordnet: str | os.PathLike[str] | None = None,
) -> MeteorScore:
    """METEOR of one segment. If it has several references, the one with the best score counts.

    Parameters
    ----------
    hypothesis : str or list of str
        The text, or its words.
    references : str, list of str, or list of lists of str
        One reference or several.
    modules : sequence of {"exact", "stem", "synonym"}
        The stages, in their order: they match equal words, words of the same Porter stem, and words of one synset of
        WordNet. Each stage uses the words that the stages before left unmatched. After "stem", synonyms are looked up
        for stems, as in NLTK; ("exact", "synonym", "stem") looks them up for words.
    alpha : float
        The weight of precision relative to recall in their harmonic mean, 0 to 1.
    beta, gamma : float
        beta: the exponent of the penalty, at least 0. gamma: the greatest penalty, 0 to 1.
    alignment : {"fewest_crossings", "nltk"}
        How to choose among several possible matchings. "fewest_crossings": the one with the fewest crossing matches, as
        METEOR is defined. "nltk": always the last word with the last possible one, as NLTK does.
    tokenize : {"none", "13a", "intl", "char", "zh"}
        How texts become words. "none": split at white space. The others are sacrebleu's tokenizers; see `tokenize`.
    lowercase : bool
        Compare words in lower case.
    wordnet : path, optional
        WordNet's folder. None searches the variable WNSEARCHDIR, the folders of NLTK's data and /usr/share/wordnet.

    Returns
    -------
    MeteorScore

    Raises
    ------
    FileNotFoundError, ValueError, TypeError
        As `corpus_meteor`.

    Notes
    -----
    If no word matches, as for an empty hypothesis, the score is 0.

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
