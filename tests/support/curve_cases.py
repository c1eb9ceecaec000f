"""Labeled scores for the tests of curves: small cases by hypothesis, and large cases of every kind of score."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from fastmetrics._core.columns.row_blocks import SERIAL_ROWS
from support import strategies

LARGE_ROWS = 200_003  # the fewest, in round numbers, with two blocks and with more buckets than one range has
# Numbers of rows: the short kernel, one range, the largest single range, the smallest case with two ranges, buckets.
SIZES = [1024, 1025, 5000, SERIAL_ROWS, SERIAL_ROWS + 1, LARGE_ROWS]


@st.composite
def weighted_scores(draw, both_classes=True, max_size=25):
    """(y_true, y_score, weights): no weights, integers with zeros, floats, or floats that are far apart."""
    y_true, y_score = draw(strategies.labeled_scores(both_classes=both_classes, max_size=max_size))
    kind = draw(st.sampled_from(["none", "integers", "reals", "far apart"]))
    if kind == "none":
        return y_true, y_score, None
    value = {
        "integers": st.integers(0, 5),
        "reals": st.one_of(st.just(0.0), st.floats(0.001, 10.0)),
        # The greatest and the lowest weight are more bits apart than int64 has.
        "far apart": st.sampled_from([0.0, 2.0**-60, 1.0, 3.0, 2.0**40 + 1]),
    }[kind]
    weights = np.array(draw(st.lists(value, min_size=len(y_true), max_size=len(y_true))), np.float64)
    weights[:2] = 2.0**-60 if kind == "far apart" else 1.0
    return y_true, y_score, weights


def assert_rates(found, expected, weights, atol=0):
    """Two rates and the thresholds of a curve: exact for integer weights, nearly exact for others."""
    assert_same(found[2], expected[2])
    for rates, exact in zip(found[:2], expected[:2], strict=True):
        np.testing.assert_allclose(rates, exact, rtol=1e-15, atol=atol)
        if weights is None or (weights == np.round(weights)).all():
            assert_same(rates, exact)


def make_scores(kind, rows, seed=0, dtype="float64"):
    """Scores of many rows; each kind fills the buckets in a different way."""
    generator = np.random.default_rng(seed)
    uniform = generator.random(rows)
    values = {
        "shuffled": uniform,
        "sorted": np.sort(uniform),
        "descending": np.sort(uniform)[::-1].copy(),
        "tied": np.round(uniform, 2),
        "two scores": np.round(uniform),
        "constant": np.full(rows, 0.25),
        # Nearly all scores are close together; a few make the range wide.
        "clustered": np.where(uniform < 0.999, 1.0 + uniform * 1e-9, generator.standard_normal(rows) * 1e30),
        "one heavy tie": np.where(uniform < 0.7, 0.5, generator.random(rows)),
        "infinities": np.select([uniform < 0.05, uniform > 0.95], [-np.inf, np.inf], np.round(uniform, 3)),
        "zeros of both signs": np.where(uniform < 0.5, np.where(uniform < 0.25, 0.0, -0.0), np.round(uniform - 0.7, 4)),
    }[kind]
    return values.astype(dtype)


KINDS = [
    "shuffled", "sorted", "descending", "tied", "two scores", "constant", "clustered", "one heavy tie", "infinities",
    "zeros of both signs",
]  # fmt: skip
# Few positives, or most rows. Shuffled and tied scores have both; of the other kinds, every second one has each.
SHARES = (0.03, 0.9)
KINDS_AND_SHARES = [
    *((kind, share) for kind in ("shuffled", "tied") for share in SHARES),
    *((kind, SHARES[number % 2]) for number, kind in enumerate(KINDS) if kind not in ("shuffled", "tied")),
]


def make_labels(rows, share, seed=1):
    """Labels with this share of positives; both classes are present."""
    labels = (np.random.default_rng(seed).random(rows) < share).astype(np.int8)
    labels[:2] = [1, 0]
    return labels


def make_case(kind, rows, share, dtype="float64"):
    """Correlated (y_true, y_score)."""
    scores = make_scores(kind, rows, dtype=dtype)
    ranks = np.argsort(np.argsort(scores, kind="stable"), kind="stable") / rows
    labels = (np.random.default_rng(2).random(rows) < 2 * share * ranks).astype(np.int8)
    labels[:2] = [1, 0]
    return labels, scores


def counts_by_score(y_true, y_score):
    """(thresholds, false positives, true positives) at every distinct score, descending, by a plain sort."""
    order = np.argsort(-y_score.astype(np.float64), kind="stable")
    scores, labels = y_score[order].astype(np.float64) + 0.0, np.asarray(y_true)[order].astype(np.int64)
    last = np.flatnonzero(np.append(scores[1:] != scores[:-1], True))
    tps = np.cumsum(labels)[last]
    return scores[last], last + 1 - tps, tps


def as_floats(values):
    """Fractions as floats, each rounded once; None becomes NaN."""
    return np.array([np.nan if value is None else float(value) for value in values])



def assert_same(values, expected):
    """Assert that arrays, or tuples of arrays and numbers, are exactly equal."""
    if isinstance(values, tuple):
        assert len(values) == len(expected)
        for value, expected_value in zip(values, expected, strict=True):
            assert_same(value, expected_value)
        return
    np.testing.assert_array_equal(values, expected)


def as_fractions(weights):
    """Weights as fractions; None stays None."""
    return None if weights is None else [Fraction(weight) for weight in weights.tolist()]


def finite_ranks(scores):
    """Dense ranks: the same order and ties, without infinities, which scikit-learn does not accept."""
    return np.unique(scores.astype(np.float64), return_inverse=True)[1].astype(np.float64)


def other_forms(function, y_true, y_score, **options):
    """The results for the same rows in other forms: code path, threads, row order, types, layout."""
    order = np.random.default_rng(len(y_true)).permutation(len(y_true))
    return {
        "large kernel": getattr(function, "__wrapped__", function)(y_true, y_score, **options),
        "threads": function(y_true, y_score, n_threads=3, **options),
        "shuffled": function(y_true[order], y_score[order], **options),
        "lists": function(y_true.tolist(), y_score, **options),
        "float labels": function(y_true.astype(np.float32), y_score, **options),
        "signed labels": function(2 * y_true.astype(np.int64) - 1, y_score, **options),
        "strided": function(np.repeat(y_true, 2)[::2], np.repeat(y_score, 2)[::2], **options),
        "positive label": function(y_true, y_score, pos_label=1, **options),
        "weights of one": function(y_true, y_score, sample_weight=np.ones(len(y_true)), **options),
    }


def ordering_infinities(function):
    """The function as it is, and with `allow_infinite=True` for infinite scores: finite ones take their usual path."""

    def call(y_true, y_score, **options):
        has_infinite = bool(np.isinf(np.asarray(y_score, np.float64)).any())
        return function(y_true, y_score, **options, **({"allow_infinite": True} if has_infinite else {}))

    if hasattr(function, "__wrapped__"):
        call.__wrapped__ = ordering_infinities(function.__wrapped__)
    return call
