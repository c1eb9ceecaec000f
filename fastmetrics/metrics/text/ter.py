"""TER: how many edits of words make a reference of a translation, with sacrebleu's (Tercom's) search and numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import exact, inputs
from fastmetrics._core.rows import Scratch
from fastmetrics._core.statistic import Sums
from fastmetrics._kernels import edits as kernels
from fastmetrics._kernels import sums as kernel_sums
from fastmetrics._version import __version__
from fastmetrics.metrics.text.scores import TextScore
from fastmetrics.metrics.text.segments import VARIABLE, TextBlock, read_sentence, read_streams
from fastmetrics.metrics.text.statistics import score_corpus
from fastmetrics.metrics.text.words import GIVEN, WordReader

__all__ = ["TerScore", "corpus_ter", "sentence_ter"]

read = read_streams


class TerScore(TextScore):
    """A translation edit rate, a float, and what it is made of.

    Attributes
    ----------
    score : float
        100 edits a word of the reference; 0 is perfect, and there is no upper bound.
    num_edits : int
        Edits, over all segments.
    ref_length : float
        Words of the references: over all segments, the mean length of the segment's references.
    signature : str
        What is needed to compute the number again, in sacrebleu's format.
    """

    num_edits: int
    ref_length: float
    signature: str

    def __str__(self) -> str:
        return f"TER = {self.score:.2f}"


class Ter(NamedTuple):
    """The metric with its options, checked."""

    tokenize: str
    normalized: bool
    no_punct: bool
    asian_support: bool
    case_sensitive: bool

    @property
    def name(self) -> str:
        return "ter"

    @property
    def columns(self) -> tuple[str, ...]:
        return ("edits", "ref_words", "references")

    @property
    def lowercase(self) -> bool:
        return not self.case_sensitive

    def new_counter(self) -> TerCounter:
        return TerCounter(self)

    def new(self) -> Sums:
        return Sums(1, 1)

    def add(self, sums: Sums, counts: np.ndarray) -> None:
        edits, words, references = counts.T
        sums.counts[0] += edits.sum()
        kernel_sums.sum_values(words / references, None, sums.exact[0])

    def score(self, sums: Sums, n_references: int) -> TerScore:
        edits = sums.count(0)
        length = exact.divide(sums.integer(0), 1 << exact.EXPONENT)
        rate = edits / length if length > 0 else float(edits > 0)
        return TerScore(100 * rate, edits, length, self.signature(n_references))

    def scores_of_sums(self, sums: np.ndarray) -> np.ndarray:
        """The score of every row of sums of states, int64[n, 1 + limbs]: what `score` makes of each."""
        limbs = np.flatnonzero(sums[:, 1 : 1 + exact.LIMBS].any(axis=0))
        places = [32 * limb for limb in limbs.tolist()]
        out = np.empty(len(sums))
        for row, (edits, *parts) in enumerate(sums[:, [0, *(1 + limbs)]].tolist()):
            whole = sum(part << place for part, place in zip(parts, places, strict=True))
            length = exact.divide(whole, 1 << exact.EXPONENT)
            out[row] = 100 * (edits / length if length > 0 else float(edits > 0))
        return out

    def signature(self, n_references: int) -> str:
        flags = {"norm": self.normalized, "punct": not self.no_punct, "asian": self.asian_support}
        parts = {
            "nrefs": "var" if n_references == VARIABLE else n_references,
            "case": "mixed" if self.case_sensitive else "lc",
            "tok": self.tokenize,
            **{name: "yes" if flag else "no" for name, flag in flags.items()},
            "version": f"fastmetrics-{__version__}",
        }
        return "|".join(f"{name}:{value}" for name, value in parts.items())


class TerCounter:
    """One thread's tokenizer, vocabulary and memory."""

    def __init__(self, metric: Ter) -> None:
        self.words = WordReader(GIVEN if metric.tokenize == GIVEN else "none")
        self.scratch = Scratch()
        self.normaliser = None
        if metric.normalized or metric.no_punct:
            from fastmetrics.metrics.text.tercom import Normaliser

            self.normaliser = Normaliser(metric.normalized, metric.no_punct, metric.asian_support)

    def count(self, block: Any, out: np.ndarray) -> None:
        if self.normaliser is not None:
            if not isinstance(block, TextBlock):
                raise TypeError("normalized and no_punct change texts: hypotheses must be strings, not lists of tokens")
            block = self.normaliser.block(block)
        words = self.words.read(block)
        room = self.scratch.take("edits", np.int32, kernels.room_for(words.text_tokens))
        kernels.count_edits(words.ids, words.text_tokens, words.segments, room, out)


def make_metric(
    *,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> Ter:
    """The metric of these options; ValueError where they have no meaning."""
    flags = {
        "normalized": normalized, "no_punct": no_punct, "asian_support": asian_support,
        "case_sensitive": case_sensitive,
    }  # fmt: skip
    for name, flag in flags.items():
        inputs.check_flag(flag, name)
    return Ter("tercom", bool(normalized), bool(no_punct), bool(asian_support), bool(case_sensitive))


def corpus_ter(
    hypotheses: Any,
    references: Any,
    *,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
    n_threads: int | None = None,
) -> TerScore:
    """Translation edit rate of a corpus: the edits that turn hypotheses into references, by the references' words.

    TER = 100 sum(edits) / sum(mean words of the segment's references). An edit inserts, deletes or replaces a word, or
    shifts a run of up to 10 words to another place. Of several references that with the fewest edits counts. The search
    is Tercom's, with its limits, as sacrebleu has it, and so are the numbers.

    Parameters
    ----------
    hypotheses : list of str, or list of lists of tokens
        A text for every segment; or its tokens, str or int, which are then taken as they are, but for their case.
    references : list of lists
        Streams of references, each as long as `hypotheses`; None where a segment has no reference in a stream. A flat
        list is one stream.
    normalized : bool
        Tercom's normalisation: XML entities, line ends, punctuation of ASCII apart from words.
    no_punct : bool
        Leave out . , ? : ; ! " ( ).
    asian_support : bool
        `normalized` also sets Chinese characters and CJK punctuation apart, `no_punct` also leaves that out. Without
        either it changes nothing.
    case_sensitive : bool
        Compare texts as they are; else in lower case.
    n_threads : int, optional
        Threads to use; the result does not depend on it.

    Returns
    -------
    TerScore
        A float with `score`, `num_edits`, `ref_length`, `signature`.

    Raises
    ------
    ValueError
        Different numbers of segments, no reference for a segment, a lone surrogate, an option out of range.
    TypeError
        A segment that is no text.

    Notes
    -----
    Where all references are empty the score is 100 if there are edits, else 0. An empty hypothesis has as many edits as
    its reference has words. With `normalized`, references are normalised twice, as sacrebleu has it: "John's." becomes
    three words in a reference, two in a hypothesis. The sum of mean lengths is exact and rounded once; where segments
    have several references, sacrebleu's may differ in its last bits.

    References
    ----------
    M. Snover, B. Dorr, R. Schwartz, L. Micciulla, J. Makhoul, A study of translation edit rate with targeted human
    annotation, AMTA 2006.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> hypotheses = ["the cat on the mat sat", "a dog barks"]
    >>> references = [["the cat sat on the mat", "the dog barked"], ["a cat sat on the mat", None]]
    >>> score = fm.corpus_ter(hypotheses, references)
    >>> print(score, score.num_edits, score.ref_length)
    TER = 33.33 3 9.0
    """
    metric = make_metric(
        normalized=normalized, no_punct=no_punct, asian_support=asian_support, case_sensitive=case_sensitive
    )
    result: TerScore = score_corpus(metric, read_streams(hypotheses, references), n_threads)
    return result


def sentence_ter(
    hypothesis: Any,
    references: Any,
    *,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> TerScore:
    """Translation edit rate of one segment: that of a corpus which holds nothing else.

    Parameters
    ----------
    hypothesis : str or list of tokens
        The text, or its tokens.
    references : str, list of str, list of tokens or list of lists of tokens
        One reference or several.
    normalized, no_punct, asian_support, case_sensitive : bool
        As for `corpus_ter`.

    Returns
    -------
    TerScore

    Raises
    ------
    ValueError, TypeError
        As `corpus_ter`.

    Notes
    -----
    Where all references are empty the score is 100 if there are edits, else 0.

    References
    ----------
    M. Snover et al., AMTA 2006.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.sentence_ter("on the mat sat the cat", "The cat sat on the mat").num_edits
    2
    >>> fm.sentence_ter("on the mat, the cat sat", "the cat sat on the mat", no_punct=True).num_edits
    1
    """
    metric = make_metric(
        normalized=normalized, no_punct=no_punct, asian_support=asian_support, case_sensitive=case_sensitive
    )
    result: TerScore = score_corpus(metric, read_sentence(hypothesis, references), 1)
    return result
