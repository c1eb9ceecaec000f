"""roc_auc_interval and delong_test against the definition in fractions; undefined results, and errors."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.exact import divide_root
from fastmetrics._core.score_statistics.delong_placements import (
    NO_WEIGHTS,
    Placements,
    PlacementSums,
    placement_variance,
)
from fastmetrics._core.score_statistics.row_placements import place_models, sum_models
from fastmetrics.metrics.significance.delong import clustered_variance, sum_groups
from oracles.significance import delong as oracle
from support.cases import assert_raises, each_case

# 43 patients of DeLong, DeLong and Clarke-Pearson (1988) without missing tests, as the example "Comparing Receiver
# Operating Characteristic Curves" of SAS's PROC LOGISTIC gives them: albumin, total protein, K-G score, and the event.
OVARIAN = """
3.0 5.8 10 0 3.2 6.3 5 1 3.9 6.8 3 1 2.8 4.8 6 0 3.2 5.8 3 1 0.9 4.0 5 0 2.5 5.7 8 0 1.6 5.6 5 1 3.8 5.7 5 1 3.7 6.7 6 1
3.2 5.4 4 1 3.8 6.6 6 1 4.1 6.6 5 1 3.6 5.7 5 1 4.3 7.0 4 1 3.6 6.7 4 0 2.3 4.4 6 1 4.2 7.6 4 0 4.0 6.6 6 0 3.5 5.8 6 1
3.8 6.8 7 1 3.0 4.7 8 0 4.5 7.4 5 1 3.7 7.4 5 1 3.1 6.6 6 1 4.1 8.2 6 1 4.3 7.0 5 1 4.3 6.5 4 1 3.2 5.1 5 1 2.6 4.7 6 1
3.3 6.8 6 0 1.7 4.0 7 0 3.7 6.1 5 1 3.3 6.3 7 1 4.2 7.7 6 1 3.5 6.2 5 1 2.9 5.7 9 0 2.1 4.8 7 1 2.8 6.2 8 0 4.0 7.0 7 1
3.3 5.7 6 1 3.7 6.9 5 1 3.6 6.6 5 1
"""
EDGES = [-math.inf, -1.5, -0.0, 0.0, 5e-324, 1.0, 1.0 + 2**-52, 2.0, math.inf]


def root(variance):
    """The square root, rounded once."""
    return divide_root(variance.numerator, variance.denominator)


def make_log(seed, rows, share=0.3, decimals=None, dtype=np.float64):
    generator = np.random.default_rng(seed)
    labels = (generator.random(rows) < share).astype(np.int64)
    common = generator.normal(size=rows) + labels
    one, two = (common + generator.normal(size=rows) for _ in range(2))
    if decimals is not None:
        one, two = one.round(decimals), two.round(decimals)
    return labels, one.astype(dtype), two.astype(dtype), generator.integers(0, max(2, rows // 5), rows)


@st.composite
def rows_of_two_models(draw):
    """A few rows, at least two of each class, with ties, edge values and groups."""
    n = draw(st.integers(0, 14))
    labels = draw(st.permutations([0, 0, 1, 1, *draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))]))
    rows = len(labels)
    values = st.one_of(st.sampled_from(EDGES), st.integers(-3, 3).map(float))
    one, two = (draw(st.lists(values, min_size=rows, max_size=rows)) for _ in range(2))
    return list(labels), one, two, draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows))


def groups_suffice(labels, groups):
    return all(len({group for group, own in zip(groups, labels, strict=True) if own == label}) > 1 for label in (0, 1))


class TestAgainstTheDefinition:
    @given(rows_of_two_models())
    def test_interval(self, log):
        labels, scores, _, groups = log
        found = fm.roc_auc_interval(labels, scores)
        assert found.auc == float(oracle.area(labels, scores)) == fm.roc_auc_score(labels, scores, allow_infinite=True)
        assert found.standard_error == root(oracle.covariance(labels, scores, scores))
        assume(groups_suffice(labels, groups))
        expected = oracle.clustered_covariance(labels, scores, scores, groups)
        assume(expected >= 0)
        found = fm.roc_auc_interval(labels, scores, groups=groups)
        assert (found.standard_error, found.n_groups) == (root(expected), len(set(groups)))

    @given(rows_of_two_models(), st.booleans())
    def test_test(self, log, clustered):
        labels, one, two, groups = log
        if clustered:
            assume(groups_suffice(labels, groups))
        expected = oracle.variance_of_difference(labels, one, two, groups if clustered else None)
        difference = oracle.area(labels, one) - oracle.area(labels, two)
        assume(expected > 0)
        found = fm.delong_test(labels, one, two, groups=groups if clustered else None)
        assert found.effect_size == float(difference)
        assert abs(found.statistic) == root(difference**2 / expected)
        assert math.copysign(1, found.statistic) == (1 if difference >= 0 else -1)
        assert found.pvalue == pytest.approx(math.erfc(abs(found.statistic) / math.sqrt(2)), rel=1e-12)
        assert found.n == (len(set(groups)) if clustered else len(labels))
        assert found.estimate("AUC of score_b").value == float(oracle.area(labels, two))

    def test_integers_and_float32(self):
        labels, one, two, _ = make_log(1, 60, decimals=0)
        expected = fm.delong_test(labels, one, two)
        for dtype in (np.int8, np.int64, np.float32, np.float16):
            assert fm.delong_test(labels.astype(bool), one.astype(dtype), two.astype(dtype)) == expected
        assert fm.delong_test(labels * 2 - 1, one, two.tolist()) == expected
        assert fm.delong_test(np.where(labels, "yes", "no"), one, two, pos_label="yes") == expected

    def test_published_example(self):
        """Areas, standard errors, and the contrasts with the K-G score, as printed by PROC LOGISTIC."""
        albumin, protein, kg, event = np.array(OVARIAN.split(), float).reshape(-1, 4).T
        event = event.astype(int)
        printed = {"albumin": (0.7366, 0.0927), "kg": (0.7258, 0.1028), "protein": (0.6478, 0.1000)}
        for (area, error), scores in zip(printed.values(), (albumin, 10 - kg, protein), strict=True):
            found = fm.roc_auc_interval(event, scores)
            assert (round(found.auc, 4), round(found.standard_error, 4)) == (area, error)
        for scores, printed_test in ((albumin, (0.0108, 0.0127, 0.9102)), (protein, (-0.0780, 0.5554, 0.4561))):
            found = fm.delong_test(event, scores, 10 - kg)
            assert (round(found.effect_size, 4), round(found.statistic**2, 4), round(found.pvalue, 4)) == printed_test
        assert [round(end, 4) for end in fm.delong_test(event, albumin, 10 - kg).interval] == [-0.1761, 0.1976]


def midranks(values):
    order = np.argsort(values)
    ordered = values[order]
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    last = np.concatenate((first[1:], [len(values)]))
    out = np.empty(len(values))
    out[order] = np.repeat((first + last + 1) / 2, last - first)
    return out


def by_midranks(labels, one, two):
    """The difference of the areas and its variance, in float64 by the method of Sun and Xu."""
    positives = labels == 1
    m, n = positives.sum(), (~positives).sum()
    v10, v01 = [], []
    for scores in (one, two):
        own, others = scores[positives], scores[~positives]
        together = midranks(np.concatenate((own, others)))
        v10.append((together[:m] - midranks(own)) / n)
        v01.append(1 - (together[m:] - midranks(others)) / m)
    d10, d01 = v10[0] - v10[1], v01[0] - v01[1]
    return d10.mean(), d10.var(ddof=1) / m + d01.var(ddof=1) / n


class TestLargeColumns:
    """Several blocks and buckets: more than one range, ties across blocks, and either class rare."""

    @each_case(
        ("share", "decimals", "dtype"),
        [(0.02, None, np.float64), (0.5, 2, np.float32), (0.9, None, np.float32), (0.3, 0, np.float64)],
    )
    def test_against_midranks(self, share, decimals, dtype):
        labels, one, two, _ = make_log(2, 300_000, share, decimals, dtype)
        found = fm.delong_test(labels, one, two)
        difference, variance = by_midranks(labels, one, two)
        assert math.isclose(found.effect_size, difference, rel_tol=1e-9)
        assert math.isclose(found.statistic, difference / math.sqrt(variance), rel_tol=1e-9)
        assert found.effect_size == pytest.approx(
            fm.roc_auc_score(labels, one) - fm.roc_auc_score(labels, two), abs=1e-15
        )

    @pytest.mark.parametrize("share", [0.02, 0.6])
    def test_rows_in_order_and_sweep_agree(self, share):
        """Placements by row and placements of merged ranges have the same integer sums."""
        labels, one, _, _ = make_log(3, 300_000, share, 3)
        decoded = labels.astype(np.uint8)
        models = place_models(decoded, {"y_score": one}, 2)
        from fastmetrics._core.exchange.sorted_rows import OrderedRows

        assert OrderedRows(decoded, one).sweep(Placements()) == [sum_models(decoded, models, 2).differences]

    def test_crowded_scores(self):
        """Nearly all scores in a small part of their range: cells that contain many keys."""
        labels, one, two, _ = make_log(4, 200_000, 0.4)
        one = np.where(np.abs(one) < 2, 1 + one * 1e-12, one)
        two = np.exp(20 * two)
        found = fm.delong_test(labels, one, two)
        difference, variance = by_midranks(labels, one, two)
        assert math.isclose(found.statistic, difference / math.sqrt(variance), rel_tol=1e-9)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_few_different_scores(self, dtype):
        """A hash table numbers the distinct scores; thousands of new scores in the last rows exceed its size."""
        labels, one, two, _ = make_log(17, 100_000, 0.4, 1, dtype)
        one[:2] = -0.0, 0.0
        for other in (two, np.where(np.arange(100_000) < 80_000, two, np.arange(100_000)).astype(dtype)):
            found = fm.delong_test(labels, one, other)
            difference, variance = by_midranks(labels, one, other)
            assert math.isclose(found.effect_size, difference, rel_tol=1e-9)
            assert math.isclose(found.statistic, difference / math.sqrt(variance), rel_tol=1e-9)
            for rows in (labels == 0, labels == 1):
                with pytest.warns(fm.UndefinedMetricWarning):
                    fm.delong_test(labels[rows], one[rows], other[rows])
        two[-3] = math.nan
        assert_raises(ValueError, "score_b has NaN at row 99997", fm.delong_test, labels, one, two)

    @pytest.mark.parametrize("grouped", [False, True])
    def test_order_and_threads(self, grouped):
        labels, one, two, groups = make_log(5, 200_000, decimals=2)
        options = {"groups": groups} if grouped else {}
        expected = fm.delong_test(labels, one, two, **options), fm.roc_auc_interval(labels, one, **options)
        order = np.random.default_rng(6).permutation(len(labels))
        if grouped:
            options = {"groups": groups[order]}
        for n_threads in (1, 3):
            moved = labels[order], one[order], two[order]
            assert fm.delong_test(*moved, n_threads=n_threads, **options) == expected[0]
            assert fm.roc_auc_interval(*moved[:2], n_threads=n_threads, **options) == expected[1]

    def test_swapped_models_and_classes(self):
        labels, one, two, groups = make_log(7, 100_000, decimals=1)
        for options in ({}, {"groups": groups}):
            found = fm.delong_test(labels, one, two, **options)
            swapped = fm.delong_test(labels, two, one, **options)
            assert (swapped.statistic, swapped.pvalue) == (-found.statistic, found.pvalue)
            turned = fm.delong_test(1 - labels, -one, -two, **options)
            assert (turned.statistic, turned.interval) == (found.statistic, found.interval)


class TestRanges:
    """Merged states of score ranges do not depend on the cuts."""

    @given(rows_of_two_models(), st.lists(st.sampled_from(EDGES), max_size=3))
    def test_merged_ranges(self, log, cuts):
        labels, scores, _, _ = log
        bounds = [-math.inf, *sorted(cuts)]
        statistic = Placements()
        merged = statistic.empty()
        for low, high in zip(bounds, [*bounds[1:], None], strict=True):
            range_rows = [
                (label, score)
                for label, score in zip(labels, scores, strict=True)
                if score >= low and (high is None or score < high)
            ]
            merged = statistic.merge(placement_sums(range_rows), merged, None)
        assert merged == placement_sums(list(zip(labels, scores, strict=True)))
        assert standard_error(merged) == root(oracle.covariance(labels, scores, scores))

    def test_sweep(self):
        from fastmetrics._core.exchange.sorted_rows import OrderedRows

        for seed in range(20):
            labels, scores, _, _ = make_log(seed, 40, decimals=seed % 2)
            (found,) = OrderedRows(labels.astype(np.uint8), scores).sweep(Placements())
            assert found == placement_sums(list(zip(labels.tolist(), scores.tolist(), strict=True)))

    def test_weights_raise(self):
        from fastmetrics._core.exchange.sorted_rows import OrderedRows

        with pytest.raises(ValueError, match=NO_WEIGHTS):
            OrderedRows(np.array([0, 1], np.uint8), np.array([0.1, 0.2]), [1.0, 2.0]).sweep(Placements())

    def test_no_overflow(self):
        """10^12 rows of each class in two ranges: integers of any size."""
        big = 10**12
        low, high = PlacementSums(big, 0, 0, 0, 0), PlacementSums(0, big, 0, 0, 0)
        merged = Placements().merge(high, low, None)
        assert merged == PlacementSums(big, big, 2 * big**2, 4 * big**3, 4 * big**3)
        assert placement_variance(merged).square_root == 0.0


def placement_sums(rows):
    """The state by its definition."""
    positives, negatives = ([score for label, score in rows if label == own] for own in (1, 0))
    positive_placements = [sum(2 * (x > y) + (x == y) for y in negatives) for x in positives]
    negative_placements = [sum(2 * (x > y) + (x == y) for x in positives) for y in negatives]
    squares = [sum(value**2 for value in own) for own in (positive_placements, negative_placements)]
    return PlacementSums(len(negatives), len(positives), sum(positive_placements), *squares)


def standard_error(sums):
    return placement_variance(sums).square_root


class TestGroups:
    def test_one_group_per_row_equals_no_groups(self):
        labels, one, two, _ = make_log(8, 500)
        found = fm.delong_test(labels, one, two, groups=np.arange(500))
        plain = fm.delong_test(labels, one, two)
        assert (found.statistic, found.pvalue, found.interval) == (plain.statistic, plain.pvalue, plain.interval)
        assert "clustered" in found.method

    def test_keys_of_any_type(self):
        pyarrow = pytest.importorskip("pyarrow")
        labels, one, two, groups = make_log(9, 500)
        expected = fm.delong_test(labels, one, two, groups=groups)
        names = [f"user {number}" for number in groups]
        kinds = [
            groups.astype(np.int32), groups.astype(np.uint64) + 2**60, names, np.array(names), np.array(names, object),
            pyarrow.array(names), pyarrow.array(names).dictionary_encode(), pyarrow.array(groups),
        ]  # fmt: skip
        for kind in kinds:
            assert fm.delong_test(labels, one, two, groups=kind) == expected

    def test_repeated_rows_add_no_information(self):
        """Ten copies of every row in one cluster: the standard error of the rows without copies, not a third of it."""
        labels, one, _, _ = make_log(10, 2000)
        alone = fm.roc_auc_interval(labels, one).standard_error
        repeated = [np.repeat(own, 10) for own in (labels, one)]
        clustered = fm.roc_auc_interval(*repeated, groups=np.repeat(np.arange(2000), 10)).standard_error
        assert math.isclose(clustered, alone, rel_tol=1e-12)
        assert fm.roc_auc_interval(*repeated).standard_error < 0.4 * alone

    def test_large_sums(self):
        """Products of sums near 2^62 are added in 128 bits."""
        table = np.array([[5, 7, 2**61, -(2**61)], [9, 2, -(2**60), 2**61], [1, 1, 3, -4]], np.int64)
        found = clustered_variance(PlacementSums(15, 10, 0, 0, 0), table)
        n, m = 15, 10
        deviations = [(m * int(d), n * int(e)) for _, _, e, d in table.tolist()]
        expected = sum(3 * d * d * n * n * 4 + 3 * e * e * m * m * 4 + 2 * 3 * d * e * m * n * 4 for d, e in deviations)
        assert (found.numerator, found.denominator) == (expected, 4 * m**4 * n**4 * 8)

    def test_sums_by_group(self):
        labels, one, two, groups = make_log(11, 400)
        decoded = labels.astype(np.uint8)
        models = place_models(decoded, {"score_a": one, "score_b": two}, 1)
        table = sum_groups(decoded, models, groups, int(groups.max()) + 1)
        wins = sum_models(decoded, models, 1).differences.wins
        assert table.sum(0).tolist() == [(labels == 0).sum(), labels.sum(), wins, wins]


class TestUndefined:
    def test_identical_scores(self):
        labels, one, _, _ = make_log(12, 100)
        for other in (one, 3 * one):  # only the order matters
            found = fm.delong_test(labels, one, other, alternative="greater")
            assert (found.statistic, found.pvalue, found.effect_size, found.interval) == (0.0, 1.0, 0.0, (0.0, 0.0))
            assert found.method == "DeLong's test: no row differs, so p is 1"

    @each_case(
        ("labels", "reason"),
        [
            ([0, 0, 0], "there is no positive row"),
            ([1, 1, 1], "there is no negative row"),
            ([0, 1, 0], "there is only one positive row, so the variance is unknown"),
            ([0, 1, 1], "there is only one negative row, so the variance is unknown"),
        ],
    )
    @each_case("groups", [None, [0, 1, 2]])
    def test_too_few_rows(self, labels, reason, groups):
        with pytest.warns(fm.UndefinedMetricWarning, match=reason) as record:
            found = fm.roc_auc_interval(labels, [0.1, 0.4, 0.3], groups=groups)
        assert record[0].filename == __file__
        assert math.isnan(found.ci_low)
        assert math.isnan(found.ci_high)
        assert math.isnan(found.standard_error)
        assert math.isnan(found.auc) == (len(set(labels)) == 1)
        with pytest.warns(fm.UndefinedMetricWarning, match=reason) as record:
            test = fm.delong_test(labels, [0.1, 0.4, 0.3], [0.3, 0.4, 0.1], groups=groups)
        assert record[0].filename == __file__
        assert math.isnan(test.statistic)
        assert math.isnan(test.pvalue)
        assert test.interval is None

    def test_too_few_groups(self):
        for labels, what in (([0, 0, 1, 1], "positive"), ([1, 1, 0, 0], "negative")):
            with pytest.warns(fm.UndefinedMetricWarning, match=f"only one group has {what} rows"):
                fm.roc_auc_interval(labels, [1, 2, 3, 4], groups=[0, 1, 2, 2])

    def test_perfect_separation(self):
        labels, scores = [0, 0, 1, 1], [1, 2, 3, 4]
        found = fm.roc_auc_interval(labels, scores)
        assert (found.auc, found.ci_low, found.ci_high, found.standard_error) == (1.0, 1.0, 1.0, 0.0)
        with pytest.warns(fm.UndefinedMetricWarning, match="no logit"):
            found = fm.roc_auc_interval(labels, scores, method="logit")
        assert (found.auc, found.standard_error) == (1.0, 0.0)
        assert math.isnan(found.ci_low)
        assert math.isnan(found.ci_high)
        with pytest.warns(fm.UndefinedMetricWarning, match="the variance is 0"):
            test = fm.delong_test(labels, scores, scores[::-1])
        assert test.effect_size == 1.0
        assert math.isnan(test.pvalue)


class TestIntervals:
    def test_logit(self):
        labels, one, _, _ = make_log(13, 300)
        found, plain = (fm.roc_auc_interval(labels, one, ci=0.9, method=method) for method in ("logit", "delong"))
        z = 1.6448536269514722
        center = math.log(found.auc / (1 - found.auc))
        reach = z * found.standard_error / (found.auc * (1 - found.auc))
        for end, expected in ((found.ci_low, center - reach), (found.ci_high, center + reach)):
            assert math.isclose(math.log(end / (1 - end)), expected, rel_tol=1e-12)
        assert math.isclose(plain.ci_high, plain.auc + z * plain.standard_error, rel_tol=1e-15)
        assert (found.auc, found.level, found.standard_error) == (plain.auc, 0.9, plain.standard_error)

    def test_clipped_to_the_unit_interval(self):
        assert fm.roc_auc_interval([0, 1, 0, 1, 1], [1, 2, 3, 4, 5]).ci_high == 1.0
        assert fm.roc_auc_interval([1, 0, 1, 0, 0], [1, 2, 3, 4, 5]).ci_low == 0.0

    def test_alternatives_and_tails(self):
        labels, one, two, _ = make_log(14, 6000)
        both, less, greater = (
            fm.delong_test(labels, one, -two, alternative=name) for name in ("two-sided", "less", "greater")
        )
        assert both.statistic == less.statistic == greater.statistic > 20
        assert 0 < both.pvalue < 1e-80
        assert (greater.pvalue, less.pvalue) == (both.pvalue / 2, 1.0)
        assert both.interval == greater.interval

    def test_no_interval_expected(self):
        assert fm.delong_test([0, 0, 1, 1], [1, 3, 2, 4], [1, 2, 3, 4], ci=None).interval is None


class TestBadInput:
    @each_case("ci", [0, 1, -0.5, 1.5, 95, math.nan, "0.95", [0.95]])
    def test_level(self, ci):
        assert_raises((ValueError, TypeError), "ci must be", fm.roc_auc_interval, [0, 1], [0, 1], ci=ci)
        assert_raises((ValueError, TypeError), "ci must be", fm.delong_test, [0, 1], [0, 1], [1, 0], ci=ci)

    def test_options(self):
        assert_raises(
            ValueError, "alternative must be", fm.delong_test, [0, 1], [0, 1], [1, 0], alternative="different"
        )
        assert_raises(ValueError, "method must be", fm.roc_auc_interval, [0, 1], [0, 1], method="bootstrap")
        assert_raises(ValueError, "ci must be", fm.roc_auc_interval, [0, 1], [0, 1], ci=None)
        assert_raises(ValueError, "n_threads must be", fm.delong_test, [0, 1], [0, 1], [1, 0], n_threads=0)

    def test_columns(self):
        assert_raises(
            ValueError, "score_b has NaN at row 1", fm.delong_test, [0, 1, 0, 1], [1, 2, 3, 4], [1, math.nan, 3, 4]
        )
        assert_raises(
            ValueError, "y_true has 4 rows but score_b has 3", fm.delong_test, [0, 1, 0, 1], [1, 2, 3, 4], [1, 2, 3]
        )
        assert_raises(ValueError, "y_true has 2 at row 1", fm.delong_test, [0, 2, 0, 1], [1, 2, 3, 4], [1, 2, 3, 4])
        assert_raises(
            ValueError, "y_true has 4 rows but groups has 3",
            fm.roc_auc_interval, [0, 1, 0, 1], [1, 2, 3, 4], groups=[1, 2, 3],
        )
        assert_raises(ValueError, "NaN at row 2", fm.roc_auc_interval, [0, 1, 0, 1], [1, 2, math.nan, 4])
        assert_raises(
            TypeError, "groups has dtype complex128",
            fm.roc_auc_interval, [0, 1, 0, 1], [1, 2, 3, 4], groups=np.array([1j, 2j, 3j, 4j]),
        )

    def test_no_rows(self):
        assert_raises(ValueError, "empty", fm.delong_test, [], [], [])
