"""ROUGE: what summaries and their references have in common, with rouge-score's numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastmetrics._core import exact, inputs
from fastmetrics._core.statistic import Sums
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels import sums as kernel_sums
from fastmetrics._kernels.subsequences import OverlapCounter, take_best
from fastmetrics._version import __version__
from fastmetrics.metrics.text.rouge_words import TOKENIZERS, OwnReader, OwnTokenizer, TextReader, TokenReader
from fastmetrics.metrics.text.segments import VARIABLE, TextBlock, read_parallel
from fastmetrics.metrics.text.statistics import count_segments, prepared
from fastmetrics.metrics.text.words import GIVEN

__all__ = ["RougeResult", "RougeScore", "rouge_score"]

WHOLE, BY_SENTENCE = "rougeL", "rougeLsum"
ORDERS = {f"rouge{order}": order for order in range(1, 10)}
TYPES = (*ORDERS, WHOLE, BY_SENTENCE)
DEFAULT_TYPES = ("rouge1", "rouge2", WHOLE, BY_SENTENCE)
PARTS = ("overlap", "hypothesis", "reference")
VALUES = ("precision", "recall", "fmeasure")

read = read_parallel


class RougeScore:
    """Precision, recall and F of one type of ROUGE.

    Attributes
    ----------
    precision, recall, fmeasure : float
        The means over all pairs, 0 to 1: sums are exact, and rounded once.
    precisions, recalls, fmeasures : ndarray of float64
        The values of every pair, in the order given; AttributeError where only sums are known.
    """

    __slots__ = ("fmeasure", "pairs", "precision", "recall")

    def __init__(self, means: Iterable[float], pairs: np.ndarray | None = None) -> None:
        self.precision, self.recall, self.fmeasure = means
        self.pairs = pairs

    @property
    def precisions(self) -> NDArray[np.float64]:
        return self.of_pairs(0)

    @property
    def recalls(self) -> NDArray[np.float64]:
        return self.of_pairs(1)

    @property
    def fmeasures(self) -> NDArray[np.float64]:
        return self.of_pairs(2)

    def of_pairs(self, value: int) -> NDArray[np.float64]:
        if self.pairs is None:
            raise AttributeError("values of single pairs are not kept in sums: rouge_score has them")
        values: NDArray[np.float64] = self.pairs[value]
        return values

    def __iter__(self) -> Iterator[float]:
        """Precision, recall and F."""
        return iter((self.precision, self.recall, self.fmeasure))

    def __repr__(self) -> str:
        return f"RougeScore(precision={self.precision!r}, recall={self.recall!r}, fmeasure={self.fmeasure!r})"


class RougeResult(Mapping[str, RougeScore]):
    """The scores of every type of ROUGE that was asked for: ``result["rouge1"].fmeasure``.

    Attributes
    ----------
    n_pairs : int
        How many hypotheses.
    signature : str
        What is needed to compute the numbers again.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> result = fm.rouge_score(["the cat sat", "a dog"], ["the cat sat down", "the dog"], ["rouge1", "rougeL"])
    >>> result["rouge1"].precision, result["rouge1"].precisions
    (0.75, array([1. , 0.5]))
    >>> print(result)
    ROUGE of 2 pairs: precision, recall, F
    rouge1     0.7500 0.6250 0.6786
    rougeL     0.7500 0.6250 0.6786
    """

    def __init__(self, scores: Mapping[str, RougeScore], n_pairs: int, signature: str) -> None:
        self.by_type = dict(scores)
        self.n_pairs = n_pairs
        self.signature = signature

    @property
    def score(self) -> float:
        """The mean F of the first type."""
        return next(iter(self.by_type.values())).fmeasure

    def __float__(self) -> float:
        return self.score

    def __getitem__(self, name: str) -> RougeScore:
        if name not in self.by_type:
            raise KeyError(f"no type {name!r}; this result has {', '.join(self.by_type)}")
        return self.by_type[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_type)

    def __len__(self) -> int:
        return len(self.by_type)

    def __repr__(self) -> str:
        values = ", ".join(f"{name} {own.fmeasure:.4f}" for name, own in self.by_type.items())
        return f"RougeResult({values}; F of {self.n_pairs:,} pairs)"

    def __str__(self) -> str:
        lines = [f"ROUGE of {self.n_pairs:,} pairs: precision, recall, F"]
        for name, own in self.by_type.items():
            lines.append(f"{name:<10} {own.precision:.4f} {own.recall:.4f} {own.fmeasure:.4f}")
        return "\n".join(lines)


class Rouge(NamedTuple):
    """The metric with its options, checked."""

    types: tuple[str, ...]
    kinds: tuple[str, ...]  # the types in the order of their columns
    stem: bool
    tokenize: str | OwnTokenizer
    multi: str
    beta: float
    n_kept: int = 1  # of how many references there are statistics: of 1, the best, or of all

    @property
    def name(self) -> str:
        return "rouge"

    @property
    def lowercase(self) -> bool:
        """The default tokenizer makes letters small itself."""
        return self.tokenize == "unicode"

    @property
    def columns(self) -> tuple[str, ...]:
        """The integers of a segment: for each reference that is kept, and each type, three."""
        ends = [""] if self.n_kept == 1 else [f"_{number}" for number in range(self.n_kept)]
        return tuple(f"{name}_{part}{end}" for end in ends for name in self.kinds for part in PARTS)

    def new_counter(self) -> RougeCounter:
        return RougeCounter(self)

    def new(self) -> Sums:
        return Sums(1, len(VALUES) * len(self.kinds))

    def add(self, sums: Sums, counts: np.ndarray) -> None:
        self.add_values(sums, self.values(counts))

    def values(self, counts: np.ndarray) -> np.ndarray:
        """Precision, recall and F of rows of statistics, [kind, value, row]: the operations of rouge-score."""
        rows = counts.reshape(len(counts) * self.n_kept, len(self.kinds), len(PARTS))
        values = np.empty((len(self.kinds), len(VALUES), len(rows)))
        values[:, :2] = (rows[:, :, :1] / np.maximum(rows[:, :, 1:], 1)).transpose(1, 2, 0)
        values[:, 2] = f_measure(values[:, 0], values[:, 1], self.beta)
        if self.n_kept == 1:
            return values
        by_reference = values.reshape(*values.shape[:2], len(counts), self.n_kept)
        return mean_of_references(by_reference, rows[:, 0, 0].reshape(len(counts), self.n_kept))

    def add_values(self, sums: Sums, values: np.ndarray) -> None:
        sums.counts += values.shape[-1]
        for state, own in zip(sums.exact, np.ascontiguousarray(values).reshape(len(sums.exact), -1), strict=True):
            kernel_sums.sum_values(own, None, state)

    def score(self, sums: Sums, n_references: int) -> RougeResult:
        return self.result(self.means(sums), sums.count(0), n_references)

    def score_of(self, values: np.ndarray, n_references: int) -> RougeResult:
        """The result of the values of all pairs."""
        n_pairs = values.shape[-1]
        if n_pairs == 1:
            return self.result(values.ravel().tolist(), 1, n_references, values)
        sums = self.new()
        self.add_values(sums, values)
        return self.result(self.means(sums), n_pairs, n_references, values)

    def means(self, sums: Sums) -> list[float]:
        """Of every kind its values' exact sums, divided."""
        n_pairs = sums.count(0)
        if not n_pairs:
            return [warn_undefined("rouge_score", "there are no pairs", stacklevel=4)] * len(sums.exact)
        return [exact.divide(sums.integer(index), n_pairs << exact.EXPONENT) for index in range(len(sums.exact))]

    def result(
        self, means: list[float], n_pairs: int, n_references: int, values: np.ndarray | None = None
    ) -> RougeResult:
        scores = {}
        for name in self.types:
            kind = self.kinds.index(name)
            scores[name] = RougeScore(means[3 * kind : 3 * kind + 3], None if values is None else values[kind])
        return RougeResult(scores, n_pairs, self.signature(n_references))

    def signature(self, n_references: int) -> str:
        parts = {
            "types": ",".join(self.types),
            "nrefs": "var" if n_references == VARIABLE else n_references,
            "multi": self.multi,
            "stem": "yes" if self.stem else "no",
            "tok": self.tokenize,
            "beta": repr(self.beta).removesuffix(".0"),
            "version": f"fastmetrics-{__version__}",
        }
        return "|".join(f"{name}:{value}" for name, value in parts.items())


class RougeCounter:
    """One thread's words and tables."""

    def __init__(self, metric: Rouge) -> None:
        self.beta = metric.beta
        self.n_kept = metric.n_kept
        self.n_columns = len(metric.kinds) * len(PARTS)
        self.orders = np.array([ORDERS[name] for name in metric.kinds if name in ORDERS], np.int64)
        self.whole = WHOLE in metric.types
        self.by_sentence = BY_SENTENCE in metric.types
        self.overlaps = OverlapCounter()
        self.stem = metric.stem
        self.given = TokenReader()
        self.own: TextReader | OwnReader | TokenReader = self.given
        if isinstance(metric.tokenize, OwnTokenizer):
            self.own = OwnReader(metric.tokenize)
        elif metric.tokenize != GIVEN:
            self.own = TextReader(metric.tokenize, metric.stem)

    def count(self, block: Any, out: np.ndarray) -> None:
        """The statistics of every segment: of several references those of the greatest F, type by type, or all."""
        n_references = int(block.segments[-1] - block.segments[0]) - len(out)
        if n_references == len(out) and self.n_kept == 1:
            self.count_pairs(block, out)
            return
        pairs = np.empty((n_references, self.n_columns), np.int64)
        self.count_pairs(block, pairs)
        if self.n_kept == 1:
            take_best(pairs, block.segments, self.beta, out)
            return
        out[:] = -1
        present = np.arange(self.n_kept) < np.diff(block.segments)[:, None] - 1
        out.reshape(len(out), self.n_kept, -1)[present] = pairs

    def count_pairs(self, block: Any, out: np.ndarray) -> None:
        """The statistics of every reference."""
        reader = self.own
        if not isinstance(block, TextBlock):
            if self.stem:
                raise ValueError("stem=True is for texts: tokens that are given are taken as they are")
            reader = self.given
        if isinstance(reader, OwnReader) and self.by_sentence:
            # Its tokens of a text need not be those of the sentences.
            if self.n_columns > len(PARTS):
                texts = np.empty((len(out), self.n_columns - len(PARTS)), np.int64)
                self.overlaps.count(*reader.read(block, False), self.orders, self.whole, False, texts)
                out[:, : -len(PARTS)] = texts
            union = np.empty((len(out), len(PARTS)), np.int64)
            self.overlaps.count(*reader.read(block, True), self.orders[:0], False, True, union)
            out[:, -len(PARTS) :] = union
            return
        self.overlaps.count(*reader.read(block, self.by_sentence), self.orders, self.whole, self.by_sentence, out)


def f_measure(precision: np.ndarray, recall: np.ndarray, beta: float) -> np.ndarray:
    """The weighted harmonic mean; 0 where both are 0."""
    square = beta * beta
    divisor = square * precision + recall
    values: np.ndarray = (1 + square) * precision * recall / np.where(divisor > 0, divisor, 1.0)
    return values


def mean_of_references(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Means over references of [kind, value, row, reference]; counts[row, reference] are -1 of absent ones.

    Sums are taken from the least value on, so the order of references does not matter.
    """
    absent = counts < 0
    values = np.sort(np.where(absent, 0.0, values), axis=-1)
    total: np.ndarray = values[..., 0].copy()
    for place in range(1, values.shape[-1]):
        total += values[..., place]
    total /= values.shape[-1] - np.count_nonzero(absent, axis=1)
    return total


def check_types(types: Any) -> tuple[str, ...]:
    """The types asked for, each once."""
    if not isinstance(types, Iterable):
        raise TypeError(f"types must be a name, such as 'rouge1', or a sequence of names; found {types!r}")
    names = (types,) if isinstance(types, str) else tuple(types)
    if not names:
        raise ValueError("types is empty: name at least one, for example 'rouge1'")
    for name in names:
        if not isinstance(name, str) or name not in TYPES:
            raise inputs.OptionError(f"types must be of {', '.join(TYPES)}; found {name!r}")
    return tuple(dict.fromkeys(names))


def check_options(types: Any, stem: Any, tokenizer: Any, multi: Any, beta: Any) -> Rouge:
    """The metric of these options; ValueError or TypeError where they have no meaning."""
    names = check_types(types)
    inputs.check_flag(stem, "stem")
    if callable(tokenizer):
        if stem:
            raise ValueError("stem=True is for tokenizer='default' or 'unicode': one of your own stems itself")
        tokenizer = OwnTokenizer(tokenizer)
    elif not isinstance(tokenizer, str) or tokenizer not in TOKENIZERS:
        raise inputs.OptionError(f"tokenizer must be 'default', 'unicode' or a function; found {tokenizer!r}")
    inputs.check_option(multi, "multi", ("best", "mean"))
    is_number = isinstance(beta, (int, float, np.integer, np.floating)) and not isinstance(beta, bool)
    if not is_number or not (beta > 0 and math.isfinite(float(beta) * float(beta))):
        raise ValueError(f"beta must be a finite number above 0; found {beta!r}")
    kinds = tuple(name for name in TYPES if name in names)
    return Rouge(names, kinds, bool(stem), tokenizer, multi, float(beta))


def make_metric(
    *,
    types: Any = DEFAULT_TYPES,
    stem: bool = False,
    tokenizer: Any = "default",
    multi: str = "best",
    beta: float = 1.0,
) -> Rouge:
    """The metric whose statistics are integers: those of the best reference."""
    metric = check_options(types, stem, tokenizer, multi, beta)
    if multi != "best":
        raise ValueError("multi='mean' is a mean of ratios, without integer statistics: call rouge_score")
    return metric


def rouge_score(
    hypotheses: Any,
    references: Any,
    types: Any = DEFAULT_TYPES,
    *,
    stem: bool = False,
    tokenizer: str | Callable[[str], list[str]] = "default",
    multi: str = "best",
    beta: float = 1.0,
    n_threads: int | None = None,
) -> RougeResult:
    """ROUGE: the overlap of summaries with their references, as precision, recall and F, and their means over pairs.

    ROUGE-N counts common n-grams, each as often as it occurs in both; ROUGE-L the words of a longest common
    subsequence; ROUGE-Lsum, for every sentence of the reference, the union of its longest common subsequences with all
    sentences of the hypothesis. P = common / in the hypothesis, R = common / in the reference,
    F = (1 + beta^2) P R / (beta^2 P + R). Numbers are those of rouge-score, bit by bit.

    Parameters
    ----------
    hypotheses : list of str
        A summary each; or lists of tokens, str or int, which are then taken as they are.
    references : list of str, or list of lists of str
        The reference of every hypothesis, or its references.
    types : sequence of str
        "rouge1" to "rouge9", "rougeL", "rougeLsum".
    stem : bool
        Compare Porter stems (NLTK's default mode) of words of more than three letters.
    tokenizer : {"default", "unicode"} or callable
        - "default": runs of a-z and 0-9 of the text in lower case. A text in another script has no words, and its
          scores are 0.
        - "unicode": runs of letters, marks and numbers of any script, in lower case; see `tokenize`.
        - a function from a str to its tokens, a list of str. It is called for every text, and for "rougeLsum" for every
          sentence.
    multi : {"best", "mean"}
        Of several references: for each type the one with the greatest F, the first of equal ones; or the mean over
        references of precision, recall and F.
    beta : float
        How many times as much recall counts as precision in F.
    n_threads : int, optional
        Threads to use; the result does not depend on it.

    Returns
    -------
    RougeResult
        A mapping: ``result["rougeL"]`` has `precision`, `recall`, `fmeasure` (means over pairs), and `precisions`,
        `recalls`, `fmeasures` (arrays, a value for every pair); ``result.signature`` says how they came about.

    Raises
    ------
    ValueError
        Different numbers of hypotheses and references, a hypothesis without reference, a lone surrogate, no pairs, an
        option out of range.
    TypeError
        Something is no text, or a tokenizer does not return a list of strings.

    Notes
    -----
    A hypothesis or reference without words, or too short for an n-gram, has precision, recall and F 0. Sentences are
    lines: "\\n" ends them; lists of tokens are one sentence each. Of several longest common subsequences of sentences,
    ROUGE-Lsum takes the one that rouge-score finds, going back from the ends: a common word is taken; else a word
    of the hypothesis is left out if that loses nothing and leaving out one of the reference would, else one of the
    reference. No word of the hypothesis matches twice.

    References
    ----------
    C.-Y. Lin, ROUGE: a package for automatic evaluation of summaries, ACL workshop Text Summarization Branches Out,
    2004. M. F. Porter, An algorithm for suffix stripping, Program 14(3), 1980.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> result = fm.rouge_score(["The cat was sitting."], ["The cats sat on the mat."], ["rouge1", "rougeL"], stem=True)
    >>> result["rouge1"].precision, round(result["rouge1"].recall, 4), round(result["rouge1"].fmeasure, 4)
    (0.5, 0.3333, 0.4)
    >>> fm.rouge_score(["Привет, мир"], ["привет мир!"], "rouge2")["rouge2"].fmeasure
    0.0
    >>> fm.rouge_score(["Привет, мир"], ["привет мир!"], "rouge2", tokenizer="unicode")["rouge2"].fmeasure
    1.0
    """
    segments = read_parallel(hypotheses, references)
    metric: Rouge = prepared(check_options(types, stem, tokenizer, multi, beta), segments)
    if multi == "mean":
        metric = metric._replace(n_kept=len(segments.streams) - 1)
    return metric.score_of(metric.values(count_segments(metric, segments, n_threads)), segments.n_references)
