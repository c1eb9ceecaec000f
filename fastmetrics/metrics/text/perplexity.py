"""Negative log-likelihood and perplexity of a language model, from the log-probabilities of tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from fastmetrics._core import elementary, exact
from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.row_blocks import BLOCK_ROWS
from fastmetrics._core.elementary import exp, log
from fastmetrics._core.parallel import accumulate, count_threads, for_each
from fastmetrics._core.state import Fields, Sums, exact_sum
from fastmetrics._core.undefined import UndefinedMetricWarning, warn_undefined, warn_user
from fastmetrics._kernels.numeric.sums import sum_values
from fastmetrics._kernels.probability import likelihoods
from fastmetrics.metrics.text.inputs.log_probs import TokenLogProbs, read_log_probs

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Floats, NumericArrayLike
    from fastmetrics._core.types.options import EmptySequence, Level, LogBase, Reduction, TokenReduction

__all__ = ["perplexity", "token_nll"]

BASES = ("e", 2, 10)
LEVELS = ("token", "sequence")
EMPTY_RULES = ("nan", "skip", "raise")
NO_TOKEN = "there is no token"


@overload
def token_nll(
    log_probs: NumericArrayLike, *, mask: ArrayLike | None = ..., offsets: NumericArrayLike | None = ...,
    level: Level = ..., base: LogBase = ..., reduction: Reduction = ..., empty: EmptySequence = ...,
    n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@overload
def token_nll(
    log_probs: NumericArrayLike, *, mask: ArrayLike | None = ..., offsets: NumericArrayLike | None = ...,
    level: Level = ..., base: LogBase = ..., reduction: Literal['none'], empty: EmptySequence = ...,
    n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@answers_unknown
def token_nll(
    log_probs: NumericArrayLike,
    *,
    mask: ArrayLike | None = None,
    offsets: NumericArrayLike | None = None,
    level: Level = "token",
    base: LogBase = "e",
    reduction: TokenReduction = "mean",
    empty: EmptySequence = "nan",
    n_threads: int | None = None,
) -> float | NDArray[np.float64]:
    """Negative log-likelihood of sequences of tokens, from the log-probability of each token.

    ``level="token"``: NLL = -(1/N) sum_t log p_t over the N tokens of all sequences. ``level="sequence"``: the mean of
    the sequences' means, so that short sequences weigh as much as long ones. The result is in nats for every `base`, so
    its exponential is the perplexity. Divide it by log(2) for bits.

    Parameters
    ----------
    log_probs : sequence of sequences, array of shape (n_tokens,) or (n_sequences, n_tokens)
        The model's log-probability of each token, at most 0: lists or arrays of any lengths, an Arrow or polars column
        of lists (not copied), one flat column, divided by `offsets` if it has several sequences, or a padded matrix.
    mask : as `log_probs`, optional
        True or 1 for tokens that count. The values of other tokens are ignored.
    offsets : array-like of shape (n_sequences + 1,), optional
        Sequence i of a flat column is ``log_probs[offsets[i]:offsets[i + 1]]``.
    level : {"token", "sequence"}
        "token": average over all tokens. "sequence": average over the means of sequences.
    base : {"e", 2, 10}
        The base of the logarithms in `log_probs`.
    reduction : {"mean", "sum", "none"}
        "mean": the mean. "sum": the sum. "none": an array of the values of all tokens that count, or of the means of
        all sequences.
    empty : {"nan", "skip", "raise"}
        For ``level="sequence"``: a sequence without a token that counts, which has no value. "nan": return NaN with a
        warning that names the sequence. "skip": leave the sequence out. "raise": raise an error.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float or array of float64
        At least 0; infinite if a token has log-probability -inf. An array for ``reduction="none"``, with NaN for a
        sequence without tokens.

    Raises
    ------
    ValueError
        A log-probability above 0 or NaN (the message names sequence and token), a mask of another shape, decreasing
        offsets, no sequence.
    TypeError
        A value that is not a number.

    Notes
    -----
    Sums are exact and rounded once, also of float32 values, so they do not depend on the order of tokens, padding,
    batches or threads. If no token counts, the mean is NaN, with an UndefinedMetricWarning, and the sum is 0.

    `negative_log_likelihood` is for events with weights, from probabilities or their natural logarithms.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.token_nll([[-1.0, -2.0], [-6.0]])
    3.0
    >>> fm.token_nll([[-1.0, -2.0], [-6.0]], level="sequence")
    3.75
    >>> fm.token_nll([[-1.0, -2.0], [-6.0, 0.0]], mask=[[1, 1], [1, 0]], reduction="sum")
    9.0
    >>> fm.token_nll([[-1.0, -2.0], [-6.0]], level="sequence", reduction="none")
    array([1.5, 6. ])
    """
    validation.check_option(reduction, "reduction", ("mean", "sum", "none"))
    check_level(level, empty)
    check_base(base)
    nats = 1.0 if base == "e" else log(base)
    threads = count_threads(n_threads)
    tokens = read_log_probs(log_probs, mask, offsets)
    if level == "sequence":
        means = means_of_sequences(tokens, empty, threads, "token_nll")
        if reduction == "none":
            return means * nats
        means = means[~np.isnan(means)] if empty == "skip" else means
        return mean_or_sum(means, reduction == "mean", "token_nll") * nats
    if reduction == "none":
        return token_values(tokens) * nats
    state, n_tokens = sum_nll(tokens, threads)
    if reduction == "sum":
        return exact.to_float(state) * nats
    return exact_mean(state, n_tokens, "token_nll") * nats


@answers_unknown
def perplexity(
    log_probs: NumericArrayLike,
    *,
    mask: ArrayLike | None = None,
    offsets: NumericArrayLike | None = None,
    level: Level = "token",
    base: LogBase = "e",
    empty: EmptySequence = "nan",
    n_threads: int | None = None,
) -> float:
    """Perplexity of a language model on sequences of tokens: the exponential of the mean negative log-likelihood.

    A perplexity of k means that the model predicts as well as guessing uniformly among k tokens. ``level="token"``:
    PPL = b^(-(1/N) sum_t log_b p_t) over the N tokens of all sequences. ``level="sequence"``: the mean over sequences
    of b^(mean NLL of the sequence), as printed by tools that score texts one by one; one unlikely text can dominate it.
    F. Jelinek, R. L. Mercer, L. R. Bahl, J. K. Baker (1977), Perplexity - a measure of the difficulty of speech
    recognition tasks.

    Parameters
    ----------
    log_probs : sequence of sequences, array of shape (n_tokens,) or (n_sequences, n_tokens)
        The model's log-probability of each token, at most 0: lists or arrays of any lengths, an Arrow or polars column
        of lists (not copied), one flat column, divided by `offsets` if it has several sequences, or a padded matrix.
    mask : as `log_probs`, optional
        True or 1 for tokens that count. The values of other tokens are ignored.
    offsets : array-like of shape (n_sequences + 1,), optional
        Sequence i of a flat column is ``log_probs[offsets[i]:offsets[i + 1]]``.
    level : {"token", "sequence"}
        "token": the perplexity of all tokens together. "sequence": the mean of the perplexities of sequences.
    base : {"e", 2, 10}
        The base of the logarithms in `log_probs`.

        Perplexity does not depend on the base.
    empty : {"nan", "skip", "raise"}
        For ``level="sequence"``: a sequence without a token that counts, which has no value. "nan": return NaN with a
        warning that names the sequence. "skip": leave the sequence out. "raise": raise an error.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        At least 1; infinite if a token has log-probability -inf, or if the value exceeds the largest float. NaN with an
        UndefinedMetricWarning if no token counts.

    Raises
    ------
    ValueError
        A log-probability above 0 or NaN (the message names sequence and token), a mask of another shape, decreasing
        offsets, no sequence.
    TypeError
        A value that is not a number.

    Notes
    -----
    The sum in the exponent is exact and rounded once. It does not depend on the order of tokens, padding, batches or
    threads, and float32 log-probabilities lose no precision, however many there are.

    Examples
    --------
    >>> import math
    >>> import fastmetrics as fm
    >>> fm.perplexity([[math.log(0.5), math.log(0.25)], [math.log(0.125)]])
    4.0
    >>> fm.perplexity([[-1.0, -2.0], [-3.0]], base=2)
    4.0
    >>> fm.perplexity([[-1.0, -1.0], [-3.0]], base=2, level="sequence")
    5.0
    """
    check_level(level, empty)
    power = power_of(base)
    threads = count_threads(n_threads)
    tokens = read_log_probs(log_probs, mask, offsets)
    if level == "token":
        return power(exact_mean(*sum_nll(tokens, threads), "perplexity"))
    means = means_of_sequences(tokens, empty, threads, "perplexity").tolist()
    if empty == "skip":
        means = [mean for mean in means if mean == mean]
    return mean_or_sum(np.array([power(mean) for mean in means]), True, "perplexity")


def check_level(level: str, empty: str) -> None:
    validation.check_option(level, "level", LEVELS)
    validation.check_option(empty, "empty", EMPTY_RULES)
    if level == "token" and empty != "nan":
        raise validation.OptionError(f"empty={empty!r} needs level='sequence'; it has no effect with level='token'")


def check_base(base: Any) -> None:
    if isinstance(base, bool) or not isinstance(base, (str, int)) or base not in BASES:
        raise validation.OptionError(f"base must be one of {', '.join(map(repr, BASES))}; found {base!r}")


def power_of(base: Any) -> Callable[[float], float]:
    """Return the function x -> base ** x, which is infinite beyond the largest float."""
    check_base(base)

    def power(x: float) -> float:
        return exp(x) if isinstance(base, str) else elementary.power(float(base), x)

    return power


def sum_nll(tokens: TokenLogProbs, n_threads: int) -> tuple[np.ndarray, int]:
    """Return the exact sum of -log p over all tokens that count, and their number."""
    first, last = int(tokens.bounds[0]), int(tokens.bounds[-1])
    starts = range(first, last, BLOCK_ROWS)

    def add_block(state: Sums, block: int) -> None:
        add_tokens(tokens, slice(starts[block], min(starts[block] + BLOCK_ROWS, last)), state)

    total = new_nll_sums()
    for state in accumulate(len(starts), new_nll_sums, add_block, n_threads):
        total.merge(state)
    if total.count("invalid tokens"):
        tokens.raise_invalid()
    return total.sum_of("terms"), total.count("tokens")


def new_nll_sums() -> Sums:
    """The state of a sum of -log p."""
    return Sums(NLL_FIELDS)


NLL_FIELDS = Fields("tokens", "invalid tokens", exact_sum("terms"))


def add_tokens(tokens: TokenLogProbs, rows: slice, sums: Sums) -> None:
    """Add -log p of these tokens to the sums."""
    mask = None if tokens.mask is None else tokens.mask[rows]
    likelihoods.add_log_probs(tokens.values[rows], mask, sums.sum_of("terms"), sums.counts)


def token_values(tokens: TokenLogProbs) -> NDArray[np.float64]:
    """Return -log p of every token that counts."""
    first, last = int(tokens.bounds[0]), int(tokens.bounds[-1])
    values = tokens.values[first:last]
    if tokens.mask is not None:
        values = values[tokens.mask[first:last] != 0]
    if not (values <= 0).all():
        tokens.raise_invalid()
    # Subtract from 0: negating 0 would give -0.0.
    return 0.0 - values.astype(np.float64)


def exact_mean(state: np.ndarray, count: int, metric: str) -> float:
    """Return the exact sum divided by the count, rounded once."""
    if count == 0:
        return warn_undefined(metric, NO_TOKEN)
    if not exact.is_finite(state):
        return exact.to_float(state)
    return exact.divide(exact.to_integer(state), count << exact.EXPONENT)


def means_of_sequences(tokens: TokenLogProbs, empty: str, n_threads: int, metric: str) -> NDArray[np.float64]:
    """Return the mean of every sequence, NaN for one without tokens; warn or raise for those as `empty` demands."""
    means = sequence_means(tokens, n_threads)
    empty_sequences = np.flatnonzero(np.isnan(means))
    if empty_sequences.shape[0] and empty != "skip":
        others = f" and {empty_sequences.shape[0] - 1:,} more" if empty_sequences.shape[0] > 1 else ""
        reason = f"sequence {empty_sequences[0]}{others} without a token that counts"
        if empty == "raise":
            raise ValueError(f"log_probs has {reason}")
        message = f"{metric} is undefined: {reason}; the result is NaN. empty='skip' leaves such sequences out"
        warn_user(message, UndefinedMetricWarning)
    return means


def sequence_means(tokens: TokenLogProbs, n_threads: int) -> NDArray[np.float64]:
    bounds = tokens.bounds
    n_sequences = bounds.shape[0] - 1
    means = np.empty(n_sequences)
    # A block has about BLOCK_ROWS tokens and at most BLOCK_ROWS sequences, as empty sequences take time, too.
    token_starts = np.arange(bounds[0], bounds[-1], BLOCK_ROWS)
    sequence_starts = np.arange(0, n_sequences, BLOCK_ROWS)
    block_bounds = np.unique(np.concatenate((np.searchsorted(bounds, token_starts), sequence_starts, [0, n_sequences])))
    block_bounds = block_bounds[block_bounds <= n_sequences]
    counts = np.zeros((max(1, block_bounds.shape[0] - 1), 2), np.int64)  # of tokens, of invalid ones

    def average_block(block: int) -> None:
        start, stop = int(block_bounds[block]), int(block_bounds[block + 1])
        uncertain = np.empty(stop - start, np.int64)
        n_uncertain = likelihoods.sequence_means(
            tokens.values, tokens.mask, bounds[start : stop + 1], means[start:stop], uncertain, counts[block]
        )
        for sequence in uncertain[:n_uncertain].tolist():
            means[start + sequence] = exact_sequence_mean(tokens, start + sequence)

    for_each(block_bounds.shape[0] - 1, lambda: average_block, n_threads)
    if counts[:, 1].any():
        tokens.raise_invalid()
    return means


def exact_sequence_mean(tokens: TokenLogProbs, sequence: int) -> float:
    """Return the mean of a sequence by Python's integers, if the kernel could not decide how to round it."""
    rows = slice(int(tokens.bounds[sequence]), int(tokens.bounds[sequence + 1]))
    sums = new_nll_sums()
    add_tokens(tokens, rows, sums)
    return exact.divide(sums.integer("terms"), sums.count("tokens") << exact.EXPONENT)


def mean_or_sum(values: NDArray[np.float64], as_mean: bool, metric: str) -> float:
    """Return the mean or the sum of values of sequences, exact and rounded once."""
    if as_mean and values.shape[0] == 0:
        return warn_undefined(metric, "no sequence has a token that counts")
    state = exact.new_states()
    sum_values(values, None, state)
    return exact_mean(state, values.shape[0], metric) if as_mean else exact.to_float(state)
