"""holm and benjamini_hochberg: definitions, statsmodels, published numbers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from oracles.significance import significance as oracle
from support.cases import assert_raises, each_case

PVALUES = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.05, 1.0])), max_size=12)
BOTH = {"holm": ("holm", fm.holm, oracle.holm), "bh": ("fdr_bh", fm.benjamini_hochberg, oracle.benjamini_hochberg)}


@pytest.mark.parametrize("name", BOTH)
@given(pvalues=PVALUES)
def test_is_its_definition(name, pvalues):
    _, correct, slow = BOTH[name]
    assert correct(pvalues).tolist() == pytest.approx(slow(pvalues), rel=1e-15, abs=0)


@pytest.mark.parametrize("name", BOTH)
def test_is_statsmodels(name):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    method, correct, _ = BOTH[name]
    for seed in range(20):
        pvalues = np.random.default_rng(seed).random(1 + seed) ** 3
        assert correct(pvalues) == pytest.approx(multitest.multipletests(pvalues, method=method)[1], rel=1e-14)


def test_published_numbers():
    """Y. Benjamini, Y. Hochberg, 1995, section 3.2: four of fifteen are significant at 0.05, three with Bonferroni."""
    pvalues = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590,
        1.0000,
    ]  # fmt: skip
    assert (fm.benjamini_hochberg(pvalues) <= 0.05).sum() == 4
    assert (fm.holm(pvalues) <= 0.05).sum() == 3


@pytest.mark.parametrize("name", BOTH)
class TestBoth:
    def test_nan_does_not_count(self, name):
        correct = BOTH[name][1]
        found = correct([0.02, math.nan, 0.01, math.nan])
        assert found[[0, 2]].tolist() == correct([0.02, 0.01]).tolist()
        assert np.isnan(found[[1, 3]]).all()
        assert np.isnan(correct([math.nan])).all()

    def test_any_order_and_nothing(self, name):
        correct = BOTH[name][1]
        pvalues = np.array([0.2, 0.01, 0.01, 0.5, 0.04])
        before = pvalues.copy()
        order = [3, 1, 4, 0, 2]
        assert correct(pvalues[order]).tolist() == correct(pvalues)[order].tolist()
        assert (pvalues == before).all()
        assert correct([]).tolist() == []

    @each_case(
        ("pvalues", "words"),
        [([0.1, 1.5], "pvalues has 1.5 at row 1"), ([-0.1], "must lie between 0 and 1"), ([[0.1]], "one dimension")],
    )
    def test_errors(self, name, pvalues, words):
        assert_raises(ValueError, words, BOTH[name][1], pvalues)
