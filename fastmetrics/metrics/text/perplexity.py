"""How surprised a language model is: negative log-likelihood and perplexity, from the log-probabilities of tokens."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from fastmetrics._core import exact, inputs
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.rows import BLOCK_ROWS
from fastmetrics._core.undefined import UndefinedMetricWarning, warn_undefined
from fastmetrics._kernels import likelihoods, sums
from fastmetrics.metrics.text.log_probs import Tokens, read_tokens

__all__ = ["perplexity", "token_nll"]

BASES = ("e", 2, 10)
LEVELS = ("token", "sequence")
EMPTY = ("nan", "skip", "raise")
NO_TOKEN = "there is no token"


@overload
def token_nll(
    log_probs: Any,
    *,
    mask: Any = None,
    offsets: Any = None,
    level: str = "token",
    base: Any = "e",
    reduction: Literal["none"],
    empty: str = "nan",
    n_threads: int | None = None,
) -> NDArray[np.float64]: ...
@overload
def token_nll(
    log_probs: Any,
    *,
    mask: Any = None,
    offsets: Any = None,
    level: str = "token",
    base: Any = "e",
    reduction: Literal["mean", "sum"] = "mean",
    empty: str = "nan",
    n_threads: int | None = None,
) -> float: ...
def token_nll(
    log_probs: Any,
    *,
    mask: Any = None,
    offsets: Any = None,
    level: str = "token",
    base: Any = "e",
    reduction: str = "mean",
    empty: str = "nan",
    n_threads: int | None = None,
) -> float | NDArray[np.float64]:
    """Negative log-likelihood of sequences of tokens, from the log-probability of each.

    ``level="token"``: NLL = -(1/N) sum_t log p_t over the N tokens of all sequences. ``level="sequence"``: the mean
    over sequences of their own means, so that short sequences weigh as much as long ones. Logarithms are natural, the
    unit is the nat, whatever the base of those given; perplexity is the exponential. Divided by log(2), it is in bits.

    Parameters
    ----------
    log_probs : sequence of sequences, array of shape (n_tokens,) or (n_sequences, n_tokens)
        What the model gave to each token, at most 0: lists or arrays of any lengths, an Arrow or polars column of lists
        (not copied), one flat column, cut by `offsets` where it holds several sequences, or a padded matrix.
    mask : as `log_probs`, optional
        Which tokens count, True or 1; what stands elsewhere is not looked at.
    offsets : array-like of shape (n_sequences + 1,), optional
        Sequence i of a flat column is ``log_probs[offsets[i]:offsets[i + 1]]``.
    level : {"token", "sequence"}
        What is averaged over.
    base : {"e", 2, 10}
        The base of the logarithms given.
    reduction : {"mean", "sum", "none"}
        The mean or the sum over tokens or over sequences, or the value of each: of every token that counts, in
        their order, or the mean of every sequence.
    empty : {"nan", "skip", "raise"}
        For ``level="sequence"``: what a sequence without a token that counts does, for it has no mean. The result is
        NaN with a warning that names it, it is left out, or it is an error.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float or array of float64
        At least 0; infinite where a token has log-probability -inf. An array for ``reduction="none"``; a sequence
        without tokens is NaN in it.

    Raises
    ------
    ValueError
        A log-probability above 0 or NaN (sequence and token are named), a mask of another shape, offsets that fall, no
        sequence at all.
    TypeError
        Something that is no number.

    Notes
    -----
    Sums are exact and rounded once, of float32 too, so they depend on neither the order of the tokens nor padding,
    batches or threads. Without any token the mean is NaN, with an UndefinedMetricWarning, and the sum 0.

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
    inputs.check_option(reduction, "reduction", ("mean", "sum", "none"))
    check_level(level, empty)
    check_base(base)
    nats = 1.0 if base == "e" else math.log(base)
    threads = count_threads(n_threads)
    tokens = read_tokens(log_probs, mask, offsets)
    if level == "sequence":
        means = checked_means(tokens, empty, threads, "token_nll")
        if reduction == "none":
            return means * nats
        means = means[~np.isnan(means)] if empty == "skip" else means
        return mean_or_sum(means, reduction == "mean", "token_nll") * nats
    if reduction == "none":
        return terms(tokens) * nats
    state, n_tokens = total(tokens, threads)
    if reduction == "sum":
        return exact.to_float(state) * nats
    return quotient(state, n_tokens, "token_nll") * nats


def perplexity(
    log_probs: Any,
    *,
    mask: Any = None,
    offsets: Any = None,
    level: str = "token",
    base: Any = "e",
    empty: str = "nan",
    n_threads: int | None = None,
) -> float:
    """Perplexity of a language model on sequences of tokens: between how many words it is as good as guessing.

    ``level="token"``: PPL = b^(-(1/N) sum_t log_b p_t) over the N tokens of all sequences. ``level="sequence"``: the
    mean over sequences of b^(mean NLL of the sequence), as tools print it that score texts one by one; it is at least
    as large as one very unlikely text makes it. F. Jelinek, R. L. Mercer, L. R. Bahl, J. K. Baker (1977), Perplexity -
    a measure of the difficulty of speech recognition tasks.

    Parameters
    ----------
    log_probs : sequence of sequences, array of shape (n_tokens,) or (n_sequences, n_tokens)
        What the model gave to each token, at most 0: lists or arrays of any lengths, an Arrow or polars column of lists
        (not copied), one flat column, cut by `offsets` where it holds several sequences, or a padded matrix.
    mask : as `log_probs`, optional
        Which tokens count, True or 1; what stands elsewhere is not looked at.
    offsets : array-like of shape (n_sequences + 1,), optional
        Sequence i of a flat column is ``log_probs[offsets[i]:offsets[i + 1]]``.
    level : {"token", "sequence"}
        Of all tokens together, or the mean of the sequences' own.
    base : {"e", 2, 10}
        The base of the logarithms given. Perplexity itself has none: the same model has the same one.
    empty : {"nan", "skip", "raise"}
        For ``level="sequence"``: what a sequence without a token that counts does, for it has no perplexity. The result
        is NaN with a warning that names it, it is left out, or it is an error.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        At least 1; infinite where a token has log-probability -inf, or where it is beyond the largest float. NaN with
        an UndefinedMetricWarning where no token counts.

    Raises
    ------
    ValueError
        A log-probability above 0 or NaN (sequence and token are named), a mask of another shape, offsets that fall, no
        sequence at all.
    TypeError
        Something that is no number.

    Notes
    -----
    The sum in the exponent is exact and rounded once: it depends on neither the order of the tokens nor padding,
    batches or threads, and float32 log-probabilities lose nothing however many there are.

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
    tokens = read_tokens(log_probs, mask, offsets)
    if level == "token":
        return power(quotient(*total(tokens, threads), "perplexity"))
    means = checked_means(tokens, empty, threads, "perplexity").tolist()
    if empty == "skip":
        means = [mean for mean in means if mean == mean]
    return mean_or_sum(np.array([power(mean) for mean in means]), True, "perplexity")


def check_level(level: str, empty: str) -> None:
    inputs.check_option(level, "level", LEVELS)
    inputs.check_option(empty, "empty", EMPTY)
    if level == "token" and empty != "nan":
        raise inputs.OptionError(f"empty={empty!r} is for level='sequence': to level='token' it means nothing")


def check_base(base: Any) -> None:
    if isinstance(base, bool) or not isinstance(base, (str, int)) or base not in BASES:
        raise inputs.OptionError(f"base must be one of {', '.join(map(repr, BASES))}; found {base!r}")


def power_of(base: Any) -> Callable[[float], float]:
    """base ** x; infinite beyond the largest float."""
    check_base(base)

    def power(x: float) -> float:
        try:
            return math.exp(x) if isinstance(base, str) else float(base) ** x
        except OverflowError:
            return math.inf

    return power


def total(tokens: Tokens, n_threads: int) -> tuple[np.ndarray, int]:
    """The exact sum of -log p over all tokens that count, and how many these are."""
    first, last = int(tokens.bounds[0]), int(tokens.bounds[-1])
    starts = range(first, last, BLOCK_ROWS)
    parts: list[tuple[np.ndarray, np.ndarray]] = []

    def make_worker() -> Callable[[int], None]:
        state, found = exact.new_states(), np.zeros(2, np.int64)
        parts.append((state, found))

        def add(unit: int) -> None:
            rows = slice(starts[unit], min(starts[unit] + BLOCK_ROWS, last))
            likelihoods.add_log_probs(
                tokens.values[rows], None if tokens.mask is None else tokens.mask[rows], state, found
            )

        return add

    for_each(len(starts), make_worker, n_threads)
    state, found = exact.new_states(), np.zeros(2, np.int64)
    for own_state, own_found in parts:
        exact.merge_states(state, own_state)
        found += own_found
    if found[1]:
        tokens.refuse()
    return state, int(found[0])


def terms(tokens: Tokens) -> NDArray[np.float64]:
    """-log p of every token that counts."""
    first, last = int(tokens.bounds[0]), int(tokens.bounds[-1])
    values = tokens.values[first:last]
    if tokens.mask is not None:
        values = values[tokens.mask[first:last] != 0]
    if not (values <= 0).all():
        tokens.refuse()
    # From 0, so that certainty is 0 and not -0.
    return 0.0 - values.astype(np.float64)


def quotient(state: np.ndarray, count: int, metric: str) -> float:
    """The exact sum by the count, rounded once."""
    if count == 0:
        return warn_undefined(metric, NO_TOKEN, stacklevel=4)
    if not exact.is_finite(state):
        return exact.to_float(state)
    return exact.divide(exact.to_integer(state), count << exact.EXPONENT)


def checked_means(tokens: Tokens, empty: str, n_threads: int, metric: str) -> NDArray[np.float64]:
    """The mean of every sequence, NaN of one without tokens, of which it is said what was asked for."""
    means = sequence_means(tokens, n_threads)
    bare = np.flatnonzero(np.isnan(means))
    if bare.shape[0] and empty != "skip":
        others = f" and {bare.shape[0] - 1:,} more" if bare.shape[0] > 1 else ""
        reason = f"sequence {bare[0]}{others} without a token that counts"
        if empty == "raise":
            raise ValueError(f"log_probs has {reason}")
        import warnings

        warnings.warn(
            f"{metric} is undefined: {reason}; the result is NaN. empty='skip' leaves such sequences out",
            UndefinedMetricWarning,
            stacklevel=3,
        )
    return means


def sequence_means(tokens: Tokens, n_threads: int) -> NDArray[np.float64]:
    bounds = tokens.bounds
    n_sequences = bounds.shape[0] - 1
    means = np.empty(n_sequences)
    # Units of about a block of tokens, and of no more sequences than that: empty ones take time, too.
    steps = np.arange(bounds[0], bounds[-1], BLOCK_ROWS)
    cuts = np.unique(
        np.concatenate((np.searchsorted(bounds, steps), np.arange(0, n_sequences, BLOCK_ROWS), [0, n_sequences]))
    )
    cuts = cuts[cuts <= n_sequences]
    found = np.zeros((max(1, cuts.shape[0] - 1), 2), np.int64)

    def make_worker() -> Callable[[int], None]:
        def measure(unit: int) -> None:
            start, stop = int(cuts[unit]), int(cuts[unit + 1])
            uncertain = np.empty(stop - start, np.int64)
            n_uncertain = likelihoods.sequence_means(
                tokens.values, tokens.mask, bounds[start : stop + 1], means[start:stop], uncertain, found[unit]
            )
            for sequence in uncertain[:n_uncertain].tolist():
                means[start + sequence] = mean_of_one(tokens, start + sequence)

        return measure

    for_each(cuts.shape[0] - 1, make_worker, n_threads)
    if found[:, 1].any():
        tokens.refuse()
    return means


def mean_of_one(tokens: Tokens, sequence: int) -> float:
    """By Python's integers, where the kernel could not tell which way to round."""
    rows = slice(int(tokens.bounds[sequence]), int(tokens.bounds[sequence + 1]))
    state, found = exact.new_states(), np.zeros(2, np.int64)
    likelihoods.add_log_probs(tokens.values[rows], None if tokens.mask is None else tokens.mask[rows], state, found)
    return exact.divide(exact.to_integer(state), int(found[0]) << exact.EXPONENT)


def mean_or_sum(values: NDArray[np.float64], as_mean: bool, metric: str) -> float:
    """Over sequences; the order does not matter here either."""
    if as_mean and values.shape[0] == 0:
        return warn_undefined(metric, "no sequence has a token that counts", stacklevel=4)
    state = exact.new_states()
    sums.sum_values(values, None, state)
    return quotient(state, values.shape[0], metric) if as_mean else exact.to_float(state)
