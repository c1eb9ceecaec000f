"""TER: the edits of words that turn a translation into its reference, with sacrebleu's (Tercom's) search and scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns.row_blocks import Scratch
from fastmetrics._core.state import Fields, ManySums, Sums, exact_sum
from fastmetrics._kernels.numeric import sums as kernel_sums
from fastmetrics._kernels.text import ter as kernels
from fastmetrics.metrics.text.inputs.argument_forms import segments_from_sentence, segments_from_streams
from fastmetrics.metrics.text.inputs.segments import TextBlock
from fastmetrics.metrics.text.text_metric import (
    BlockCounter,
    ScoresManySums,
    TextMetric,
    TextScore,
    Tokenizing,
    check_flags,
    join_signature,
    score_function,
)
from fastmetrics.metrics.text.tokens.word_encoder import PRETOKENIZED, WordEncoder

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike

__all__ = ["TerScore", "corpus_ter", "sentence_ter"]

to_segments = segments_from_streams


class TerScore(TextScore):
    """A translation edit rate: a float, with the quantities it was computed from.

    Attributes
    ----------
    score : float
        100 times the edits per word of the reference. 0 is perfect; there is no upper bound.
    num_edits : int
        The number of edits in all segments.
    ref_length : float
        The sum over segments of the mean length of the segment's references, in words.
    signature : str
        The options that reproduce the score, in sacrebleu's format.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> score = fm.corpus_ter(["the cat sat on the mat"], [["the cat sat on a mat"]])
    >>> round(float(score), 2), score.num_edits, score.ref_length
    (16.67, 1, 6.0)
    """

    num_edits: int
    ref_length: float
    signature: str

    def __str__(self) -> str:
        return f"TER = {self.score:.2f}"


FIELDS = Fields("edits", exact_sum("length"))


@dataclass(frozen=True)
class Ter(ScoresManySums, Tokenizing, TextMetric[TerScore]):
    """TER with its options, checked."""

    tokenize: str
    normalized: bool
    no_punct: bool
    asian_support: bool
    case_sensitive: bool

    @property
    def columns(self) -> tuple[str, ...]:
        return ("edits", "ref_words", "references")

    @property
    def lowercase(self) -> bool:
        return not self.case_sensitive

    def new_counter(self) -> BlockCounter:
        encoder = WordEncoder(PRETOKENIZED if self.tokenize == PRETOKENIZED else "none")
        scratch = Scratch()
        normalizer = None
        if self.normalized or self.no_punct:
            from fastmetrics.metrics.text.tokens.ter_normalizer import Normalizer

            normalizer = Normalizer(self.normalized, self.no_punct, self.asian_support)

        def count(block: Any, out: np.ndarray) -> None:
            if normalizer is not None:
                if not isinstance(block, TextBlock):
                    raise TypeError(
                        "normalized and no_punct change texts: hypotheses must be strings, not lists of tokens"
                    )
                block = normalizer.normalize_block(block)
            words = encoder.encode(block)
            edits = scratch.array("edits", np.int32, kernels.scratch_size(words.text_tokens))
            kernels.count_edits(words.ids, words.text_tokens, words.segments, edits, out)

        return count

    @property
    def fields(self) -> Fields:
        return FIELDS

    def add(self, sums: Sums, counts: np.ndarray) -> None:
        edits, words, references = counts.T
        sums.add_count("edits", edits.sum())
        kernel_sums.sum_values(words / references, None, sums.sum_of("length"))

    def score(self, sums: Sums, n_references: int) -> TerScore:
        edits = sums.count("edits")
        length = exact.divide(sums.integer("length"), 1 << exact.EXPONENT)
        rate = edits / length if length > 0 else float(edits > 0)
        return TerScore(100 * rate, edits, length, self.signature(n_references))

    def many_scores(self, states: ManySums) -> np.ndarray:
        edits, lengths = states.counts_of("edits"), states.number("length").rounded()
        with np.errstate(divide="ignore", invalid="ignore"):
            scores: np.ndarray = 100 * np.where(lengths == 0, edits > 0, edits / lengths)
        return scores

    def signature(self, n_references: int) -> str:
        flags = {"norm": self.normalized, "punct": not self.no_punct, "asian": self.asian_support}
        return join_signature(
            {
                "nrefs": n_references,
                "case": "mixed" if self.case_sensitive else "lc",
                "tok": self.tokenize,
                **{name: "yes" if flag else "no" for name, flag in flags.items()},
            }
        )


def make_metric(
    *,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> Ter:
    """Check the options and return the metric; ValueError if an option is not valid."""
    check_flags(normalized=normalized, no_punct=no_punct, asian_support=asian_support, case_sensitive=case_sensitive)
    return Ter("tercom", bool(normalized), bool(no_punct), bool(asian_support), bool(case_sensitive))


@score_function(make_metric, segments_from_streams)
def corpus_ter(
    hypotheses: ArrayLike,
    references: ArrayLike,
    *,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
    n_threads: int | None = None,
) -> TerScore:
    """Translation edit rate of a corpus: the edits that turn hypotheses into references, per word of the references.

    TER = 100 sum(edits) / sum(mean words of the segment's references). An edit inserts, deletes or replaces a word, or
    shifts a run of up to 10 words. If a segment has several references, the one with the fewest edits counts. The
    search is Tercom's, with its limits, as in sacrebleu; so are the scores.

    Parameters
    ----------
    hypotheses : list of str, or list of lists of tokens
        One text per segment; or one list of tokens, str or int, which is used without tokenizing.

        Strings are lower-cased unless `case_sensitive`.
    references : list of lists
        Streams of references, each as long as `hypotheses`; None if a segment has no reference in a stream. A flat list
        is one stream.
    normalized : bool
        Apply Tercom's normalization: replace XML entities, join lines, separate ASCII punctuation from words.
    no_punct : bool
        Remove . , ? : ; ! " ( ).
    asian_support : bool
        With `normalized`, also separate Chinese characters and CJK punctuation; with `no_punct`, also remove CJK
        punctuation. It has no effect without one of them.
    case_sensitive : bool
        Compare texts with their case. By default they are lower-cased.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    TerScore
        A float with `score`, `num_edits`, `ref_length`, `signature`.

    Raises
    ------
    ValueError
        Different numbers of segments, no reference for a segment, a lone surrogate, an option out of range.
    TypeError
        A segment that is not a text.

    Notes
    -----
    If all references are empty, the score is 100 if there are edits, else 0. An empty hypothesis has as many edits as
    its reference has words. With `normalized`, references are normalized twice, as in sacrebleu: "John's." becomes
    three words in a reference, two in a hypothesis. The sum of mean lengths is exact and rounded once. If segments have
    several references, sacrebleu's sum may differ in its last bits.

    Limits of the search: a beam of 25, shifts of at most 50 places, and 1000 shifts for a pair of texts.

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


@score_function(make_metric, segments_from_sentence)
def sentence_ter(
    hypothesis: str | ArrayLike,
    references: str | ArrayLike,
    *,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> TerScore:
    """Translation edit rate of one segment, scored as a corpus of one segment.

    Parameters
    ----------
    hypothesis : str or list of tokens
        The text, or its tokens.
    references : str, list of str, list of tokens or list of lists of tokens
        One reference or several.
    normalized : bool
        Apply Tercom's normalization: replace XML entities, join lines, separate ASCII punctuation from words.
    no_punct : bool
        Remove . , ? : ; ! " ( ).
    asian_support : bool
        With `normalized`, also separate Chinese characters and CJK punctuation; with `no_punct`, also remove CJK
        punctuation. It has no effect without one of them.
    case_sensitive : bool
        Compare texts with their case. By default they are lower-cased.

    Returns
    -------
    TerScore

    Raises
    ------
    ValueError, TypeError
        As `corpus_ter`.

    Notes
    -----
    If all references are empty, the score is 100 if there are edits, else 0.

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
