"""Mutual information and its variants: equal to the definitions in sixty digits, and to scikit-learn to 1e-12."""

import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics.metrics.clustering import mutual_info, v_measure
from fastmetrics.metrics.clustering.contingency import Contingency, count_contingency
from oracles.clustering import clustering_information as oracle
from support.cases import assert_raises, each_case
from support.peers import peer, scikit_learn

AVERAGES = ["min", "geometric", "arithmetic", "max"]
SCORES = [
    "mutual_info_score", "normalized_mutual_info_score", "adjusted_mutual_info_score", "homogeneity_score",
    "completeness_score", "v_measure_score",
]  # fmt: skip
FEW_ULPS = 4e-15  # the error of a sum of terms with errors of one or two units in the last place


@st.composite
def partitions(draw, most=60):
    """Two columns of labels: random columns or merged classes, with many or few clusters."""
    n = draw(st.integers(1, most))
    labels = st.integers(0, draw(st.integers(0, n)))
    first = draw(st.lists(labels, min_size=n, max_size=n))
    labels = st.integers(0, draw(st.integers(0, n)))
    second = draw(st.one_of(st.lists(labels, min_size=n, max_size=n), st.just([label // 2 for label in first])))
    return first, second


def is_close(value, exact, tolerance=FEW_ULPS):
    """Is the relative error small, also for tiny values?"""
    return abs(Decimal(value) - exact) <= Decimal(tolerance) * abs(exact)


def table_of(cells):
    """The Contingency of {(class, cluster): rows}."""
    rows, columns = (np.array([pair[side] for pair in cells], np.int64) for side in (0, 1))
    counts = np.array(list(cells.values()), np.int64)
    sums = [np.zeros(int(codes.max()) + 1, np.int64) for codes in (rows, columns)]
    for codes, margin in zip((rows, columns), sums, strict=True):
        np.add.at(margin, codes, counts)
    names = [np.arange(len(margin)) for margin in sums]
    return Contingency(rows, columns, counts, *sums, sum(cells.values()), *names)


def shuffled(table, random):
    """The same table with cells in another order and other codes of classes and clusters."""
    order = random.permutation(len(table.counts))
    new_rows, new_columns = random.permutation(len(table.row_sums)), random.permutation(len(table.column_sums))
    row_sums, column_sums = np.empty_like(table.row_sums), np.empty_like(table.column_sums)
    row_sums[new_rows], column_sums[new_columns] = table.row_sums, table.column_sums
    return table._replace(
        rows=new_rows[table.rows][order], columns=new_columns[table.columns][order], counts=table.counts[order],
        row_sums=row_sums, column_sums=column_sums,
    )  # fmt: skip


def all_scores(table, n_threads=None):
    scores = [mutual_info.compute_information(table, n_threads).mutual]
    for average in AVERAGES:
        scores.append(mutual_info.normalized_mutual_info(table, average, n_threads))
        scores.append(mutual_info.adjusted_mutual_info(table, average, n_threads))
    return [*scores, *v_measure.homogeneity_completeness_v(table, 0.5, n_threads)]


def expected_of_sizes(a, b, n):
    """The expected mutual information of one class of a rows and one cluster of b rows."""
    table = Contingency(*[np.zeros(0, np.int64)] * 3, np.array([a]), np.array([b]), n, np.zeros(1), np.zeros(1))
    return mutual_info.expected_information(table)


class TestAgainstTheDefinitions:
    @given(partitions())
    def test_information_and_entropies(self, columns):
        cells = oracle.cells_of(*columns)
        found = mutual_info.compute_information(count_contingency(*columns))
        assert is_close(found.class_entropy, oracle.entropy(oracle.sizes(cells, 0).values()))
        assert is_close(found.cluster_entropy, oracle.entropy(oracle.sizes(cells, 1).values()))
        mutual = oracle.mutual_information(cells)
        assert fm.mutual_info_score(*columns) == found.mutual
        # For independent partitions the sum of the definition is 0 except for its last digits.
        assert is_close(found.mutual, mutual) or (abs(mutual) < oracle.LEAST and found.mutual == 0)

    @given(partitions(), st.sampled_from(AVERAGES))
    def test_normalized(self, columns, average):
        exact = oracle.normalized_mutual_information(oracle.cells_of(*columns), average)
        found = fm.normalized_mutual_info_score(*columns, average_method=average)
        assert abs(Decimal(found) - exact) < Decimal("3e-15")
        assert 0 <= found <= 1

    @given(partitions(40), st.sampled_from(AVERAGES))
    def test_adjusted(self, columns, average):
        cells = oracle.cells_of(*columns)
        exact = oracle.adjusted_mutual_information(cells, average)
        found = fm.adjusted_mutual_info_score(*columns, average_method=average)
        if exact is None:
            assert found == 1  # 0 / 0
            return
        a, b = (list(oracle.sizes(cells, side).values()) for side in (0, 1))
        divisor = oracle.average(oracle.entropy(a), oracle.entropy(b), average)
        divisor -= oracle.expected_mutual_information(a, b)
        assert abs(Decimal(found) - exact) < Decimal("1e-14") * max(1, abs(exact)) / max(divisor, Decimal("1e-12"))
        assert found <= 1

    @given(partitions(), st.sampled_from([0, 0.25, 1, 3]))
    def test_homogeneity_completeness_v(self, columns, beta):
        exact = oracle.homogeneity_completeness_v(oracle.cells_of(*columns), beta)
        found = fm.homogeneity_completeness_v_measure(*columns, beta=beta)
        for value, right in zip(found, exact, strict=True):
            assert abs(Decimal(value) - right) < Decimal("4e-15")
            assert 0 <= value <= 1 + 4e-16
        assert (found[0], found[1]) == (fm.homogeneity_score(*columns), fm.completeness_score(*columns))
        assert found[2] == fm.v_measure_score(*columns, beta=beta)


class TestExpectation:
    @given(st.integers(1, 400), st.data())
    def test_small_sizes(self, n, data):
        a, b = data.draw(st.integers(1, n)), data.draw(st.integers(1, n))
        exact = oracle.expected_of_pair(a, b, n)
        found = expected_of_sizes(a, b, n)
        assert is_close(found, exact) or (abs(exact) < oracle.LEAST and found == 0)

    @each_case(
        ("a", "b", "n"),
        [
            (20_000, 20_001, 10**6),  # on both sides of the mean from which moments are used
            (20_000, 19_999, 10**6),
            (640, 624, 1000),
            (640, 626, 1000),
            (800, 400, 801),
            (99_990, 410, 10**5),
            (10**6 - 1, 500, 10**6),
            (10**6 - 1, 399, 10**6),
            (10**6, 3 * 10**7, 3 * 10**9),
            (10**9, 10**6, 10**15),
            (10**15 - 10, 950, 10**15),
            (10**9 + 7, 9 * 10**8, 10**18),
            (2**62, 1, 2**63 - 1),
            (2**62, 1000, 2**63 - 1),
        ],
    )
    def test_large_sizes(self, a, b, n):
        assert is_close(expected_of_sizes(a, b, n), oracle.expected_of_large_pair(a, b, n))
        assert expected_of_sizes(b, a, n) == expected_of_sizes(a, b, n)

    def test_large_margins_take_no_longer(self):
        """Half of 2^63 rows each: there are 2^31 relevant counts near the mean, too many to add them one by one."""
        n = 2**63 - 1
        # For such large means E is half the variance divided by the mean and by n: (n - a)(n - b) / (2 n n (n - 1)).
        exact = Fraction((n - 2**62) ** 2, 2 * n * n * (n - 1))
        assert math.isclose(expected_of_sizes(2**62, 2**62, n), exact, rel_tol=1e-14)

    def test_both_versions_of_the_oracle_agree(self):
        for a, b, n in [(5, 7, 20), (60, 30, 100), (90, 80, 100), (1, 1, 2), (40, 40, 40)]:
            assert abs(oracle.expected_of_pair(a, b, n) - oracle.expected_of_large_pair(a, b, n)) < oracle.LEAST

    def test_scikit_learn_adds_logarithms_of_factorials(self):
        """Its terms are near 10^5 and nearly cancel, so it loses as many digits."""
        expected = peer("sklearn.metrics.cluster._expected_mutual_info_fast").expected_mutual_information
        matrix = np.array([[6000, 4000], [4000, 6000]])
        exact = oracle.expected_mutual_information([10_000, 10_000], [10_000, 10_000], oracle.expected_of_large_pair)
        assert is_close(mutual_info.expected_information(mutual_info.table_from_matrix(matrix)), exact)
        assert not is_close(expected(matrix, 20_000), exact, 1e-12)

    @given(partitions(30))
    def test_equal_sizes_are_computed_once(self, columns):
        table = count_contingency(*columns)
        sizes_and_counts = mutual_info.distinct_sizes(table.row_sums, mutual_info.FEW_PAIRS + 1)
        assert dict(zip(*(array.tolist() for array in sizes_and_counts), strict=True)) == {
            size: table.row_sums.tolist().count(size) for size in table.row_sums.tolist()
        }


def test_expectation_of_many_pairs_is_the_sum_over_pairs(monkeypatch):
    random = np.random.default_rng(5)
    n = 150
    sizes = [np.unique(random.integers(0, parts, n), return_counts=True)[1] for parts in (30, 40)]
    table = Contingency(*[np.zeros(0, np.int64)] * 3, *sizes, n, *sizes)
    exact = oracle.expected_mutual_information(sizes[0].tolist(), sizes[1].tolist())
    found = mutual_info.expected_information(table)
    assert is_close(found, exact)
    monkeypatch.setattr(mutual_info, "CHUNK_PAIRS", 7)
    for n_threads in (1, 3):
        assert mutual_info.expected_information(table, n_threads) == found


class TestAgainstScikitLearn:

    @each_case("rows", [1000, 20_000])
    @each_case("share", [0.0, 0.5])
    def test_many_rows(self, rows, share):
        random = np.random.default_rng(rows)
        first = random.integers(0, 12, rows)
        second = np.where(random.random(rows) < share, first // 2, random.geometric(0.3, rows))
        for name in SCORES:
            right = getattr(scikit_learn(), name)(first, second)
            assert math.isclose(getattr(fm, name)(first, second), right, rel_tol=1e-12, abs_tol=1e-12), name

    @each_case(
        ("first", "second"),
        [([0], [5]), ([0, 0], [1, 1]), ([0, 0, 0], [1, 2, 3]), ([1, 2, 3], [4, 4, 4]), ([], [])],
        ids=["one row", "one part", "one class", "one cluster", "no rows"],
    )
    def test_special_cases(self, first, second):
        for name in SCORES[1:]:
            assert getattr(fm, name)(first, second) == getattr(scikit_learn(), name)(first, second), name

    def test_tiny_mutual_information_is_accurate(self):
        """In scikit-learn terms below 2^-52 become 0, and the other terms cancel."""
        theirs = scikit_learn().mutual_info_score
        cells = {(0, 0): 10**6 + 1, (0, 1): 10**6, (1, 0): 10**6, (1, 1): 10**6}
        exact = oracle.mutual_information(cells)
        matrix = [[cells[0, 0], cells[0, 1]], [cells[1, 0], cells[1, 1]]]
        assert is_close(fm.mutual_info_score(None, None, contingency=matrix), exact)
        assert not is_close(theirs(None, None, contingency=matrix), exact, 1e-3)

    def test_products_of_counts_beyond_int64(self):
        """The product a_i b_j of three thousand million rows overflows int64 in scikit-learn."""
        matrix = [[4 * 10**9, 10**9], [10**9, 3 * 10**9]]
        cells = {(i, j): matrix[i][j] for i in (0, 1) for j in (0, 1)}
        assert is_close(fm.mutual_info_score(None, None, contingency=matrix), oracle.mutual_information(cells))

    def test_one_row_per_class_is_exact(self):
        theirs = scikit_learn().adjusted_mutual_info_score
        columns = list(range(6)), [0, 0, 1, 1, 2, 2]
        assert fm.adjusted_mutual_info_score(*columns) == 0 != theirs(*columns)
        assert fm.adjusted_mutual_info_score(*columns, average_method="min") == 1
        assert abs(theirs(*columns)) < 1e-12


class TestCounts:
    @each_case(
        "cells",
        [
            {(0, 0): 10**9, (0, 1): 3, (1, 0): 7, (1, 1): 2 * 10**9, (2, 1): 1},
            {(0, 0): 15 * 10**8, (0, 1): 15 * 10**8 + 1, (1, 0): 15 * 10**8, (1, 1): 15 * 10**8 - 1},
            {(0, 0): 3 * 10**9, (1, 1): 1, (1, 0): 1},
            {(0, 0): 2**62, (0, 1): 2**61, (1, 0): 2**60, (1, 1): 2**60 - 1},
            {(0, 0): 2**62, (1, 1): 2**62 - 2, (1, 0): 1},
            {(0, 0): 2**62, (1, 1): 1, (1, 0): 1, (0, 1): 1},
        ],
        ids=["skewed", "independent", "outliers", "large", "nearly equal", "one part"],
    )
    def test_huge(self, cells):
        table = table_of(cells)
        exact = oracle.mutual_information(cells)
        of_sizes = [oracle.entropy(oracle.sizes(cells, side).values()) for side in (0, 1)]
        found = mutual_info.compute_information(table)
        assert is_close(found.mutual, exact)
        assert is_close(found.class_entropy, of_sizes[0])
        assert is_close(found.cluster_entropy, of_sizes[1])
        h, c, _ = v_measure.homogeneity_completeness_v(table)
        assert is_close(h, oracle.quotient(exact, of_sizes[0]))
        assert is_close(c, oracle.quotient(exact, of_sizes[1]))
        assert found.mutual <= min(found.class_entropy, found.cluster_entropy)
        expected = mutual_info.expected_information(table)
        adjusted = (exact - Decimal(expected)) / (sum(of_sizes) / 2 - Decimal(expected))
        assert abs(Decimal(mutual_info.adjusted_mutual_info(table)) - adjusted) < Decimal("1e-14")

    def test_independent_partitions_have_no_mutual_information(self):
        for unit in (1, 10**3, 10**9):
            cells = {(i, j): unit * (i + 1) * (j + 2) for i in range(7) for j in range(5)}
            assert mutual_info.compute_information(table_of(cells)).mutual == 0

    def test_more_rows_than_int64(self):
        table = table_of({(0, 0): 2**62, (0, 1): 1, (1, 0): 1, (1, 1): 2**62})
        for score in (mutual_info.compute_information, mutual_info.adjusted_mutual_info):
            assert_raises(OverflowError, r"9223372036854775810 rows; at most 2\*\*63 - 1", score, table)

    def test_no_rows(self):
        table = count_contingency([], [])
        assert math.isnan(mutual_info.compute_information(table).mutual)
        assert math.isnan(mutual_info.expected_information(table))
        assert mutual_info.adjusted_mutual_info(table) == 1
        assert_raises(ValueError, "labels_true is empty", fm.mutual_info_score, [], [])


class TestProperties:
    @given(partitions(), st.randoms(use_true_random=False))
    def test_nothing_depends_on_order_or_names(self, columns, random):
        scores = all_scores(count_contingency(*columns))
        rows = list(zip(*columns, strict=True))
        random.shuffle(rows)
        renamed = [[f"class {7 - label}" for label, _ in rows], [-3 * label for _, label in rows]]
        assert all_scores(count_contingency(*renamed)) == scores
        assert all_scores(shuffled(count_contingency(*columns), np.random.default_rng(len(rows)))) == scores

    def test_nothing_depends_on_threads(self, monkeypatch):
        random = np.random.default_rng(3)
        table = count_contingency(random.geometric(0.02, 5000), random.geometric(0.05, 5000))
        scores = all_scores(table)
        monkeypatch.setattr(mutual_info, "CHUNK_CELLS", 100)
        monkeypatch.setattr(mutual_info, "CHUNK_PAIRS", 50)
        for n_threads in (1, 2, 5):
            assert all_scores(shuffled(table, random), n_threads) == scores

    @given(partitions(), st.sampled_from(AVERAGES))
    def test_symmetric(self, columns, average):
        first, second = columns
        for name in SCORES[:3]:
            options = {} if name == "mutual_info_score" else {"average_method": average}
            assert getattr(fm, name)(first, second, **options) == getattr(fm, name)(second, first, **options)
        assert fm.homogeneity_score(first, second) == fm.completeness_score(second, first)

    @given(partitions(), st.sampled_from(AVERAGES))
    def test_equal_partitions(self, columns, average):
        labels = columns[0]
        other = [(7 * label) % 61 for label in labels]
        assert fm.normalized_mutual_info_score(labels, other, average_method=average) == 1
        assert fm.adjusted_mutual_info_score(labels, other, average_method=average) == 1
        assert fm.homogeneity_completeness_v_measure(labels, other)[:2] == (1, 1)
        assert fm.v_measure_score(labels, other) == 1

    @given(st.lists(st.integers(0, 20), min_size=2, max_size=60))
    def test_clusters_inside_classes(self, labels):
        """If clusters are subsets of classes, homogeneity is exactly 1; if classes are subsets, completeness is."""
        coarse = [label // 3 for label in labels]
        assert fm.homogeneity_score(coarse, labels) == 1 == fm.completeness_score(labels, coarse)

    def test_random_partitions_have_an_adjusted_value_near_zero(self):
        random = np.random.default_rng(0)
        assert abs(fm.adjusted_mutual_info_score(random.integers(0, 9, 5000), random.integers(0, 9, 5000))) < 0.005
        assert fm.adjusted_mutual_info_score([0, 0, 1, 1], [0, 1, 0, 1]) < 0


class TestContingency:
    MATRIX = (3, 0, 1), (0, 0, 0), (2, 5, 0)
    VALUE = fm.mutual_info_score([0] * 4 + [2] * 7, [0] * 3 + [2] + [0] * 2 + [1] * 5)

    @each_case("dtype", ["i1", "u1", "i4", "u4", "i8", "u8", "f4", "f8", ">i8"])
    def test_dense(self, dtype):
        assert fm.mutual_info_score(None, None, contingency=np.array(self.MATRIX, dtype)) == self.VALUE
        assert fm.mutual_info_score([1], None, contingency=np.array(self.MATRIX, dtype).T) == self.VALUE
        assert fm.mutual_info_score(None, None, contingency=np.array([[True, False], [False, True]])) == math.log(2)

    @each_case("kind", ["csr_matrix", "csc_array", "coo_matrix", "lil_matrix"])
    def test_sparse(self, kind):
        matrix = getattr(peer("scipy.sparse"), kind)(np.array(self.MATRIX))
        assert fm.mutual_info_score(None, None, contingency=matrix) == self.VALUE

    def test_sparse_matrix_with_duplicate_cells(self):
        rows, columns, counts = [0, 0, 0, 2, 2, 1], [0, 0, 2, 0, 1, 1], [1, 2, 1, 2, 5, 0]
        matrix = peer("scipy.sparse").coo_matrix((counts, (rows, columns)))
        assert fm.mutual_info_score(None, None, contingency=matrix) == self.VALUE
        assert matrix.nnz == 6  # unchanged

    @each_case(
        ("matrix", "message"),
        [
            ([1, 2], "matrix of counts; found 1 dimension"),
            ([[1, 2], [-3, 4]], r"found -3 in row 1, column 0"),
            ([[1, 2], [3, 4.5]], r"found 4.5 in row 1, column 1"),
            ([[1, math.nan]], r"found nan in row 0, column 1"),
            ([[1, 1e30]], r"found 1e\+30 in row 0, column 1"),
            ([["a", "b"]], "matrix of counts; found <U1"),
            ([[0, 0]], "has no rows"),
            (np.zeros((0, 0)), "has no rows"),
        ],
    )
    def test_invalid_counts(self, matrix, message):
        assert_raises(ValueError, message, fm.mutual_info_score, None, None, contingency=matrix)

    def test_sum_of_counts_beyond_int64(self):
        assert_raises(
            OverflowError, "9223372036854775808 rows",
            fm.mutual_info_score, None, None, contingency=[[2**62, 0], [0, 2**62]],
        )
        assert_raises(
            ValueError, "18446744073709551615 in row 0, column 1",
            fm.mutual_info_score, None, None, contingency=np.array([[1, 2**64 - 1]], np.uint64),
        )


class TestArguments:
    def test_kinds_of_labels_may_differ(self):
        assert fm.mutual_info_score(["a", "b", "a", "b"], [1, 2, 1, 2]) == math.log(2)

    @pytest.mark.parametrize("name", SCORES)
    def test_lengths(self, name):
        assert_raises(ValueError, "labels_true", getattr(fm, name), [0, 1, 1], [0, 1])

    @pytest.mark.parametrize("name", SCORES)
    def test_threads(self, name):
        assert_raises(
            ValueError, "n_threads must be an integer", getattr(fm, name), [0, 1], [0, 1], n_threads=0
        )
        assert getattr(fm, name)([0, 1, 1], [0, 1, 0], n_threads=2) == getattr(fm, name)([0, 1, 1], [0, 1, 0])

    @pytest.mark.parametrize("name", SCORES[1:3])
    def test_average(self, name):
        for average in ("mean", None, 1):
            with pytest.raises((ValueError, TypeError), match="average_method must be one of 'min', 'geometric'"):
                getattr(fm, name)([0, 1], [0, 1], average_method=average)

    def test_beta(self):
        for beta in (-1, math.nan, math.inf, "1", None):
            assert_raises(
                (ValueError, TypeError), "beta must be a number of at least 0",
                fm.v_measure_score, [0, 1], [0, 1], beta=beta,
            )
        assert fm.v_measure_score([0, 0], [0, 1], beta=0) == 0


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_entropy_of_labels(labels):
    found = fm.entropy(labels)
    assert is_close(found, oracle.entropy(Counter(labels).values()))
    for same in (np.array(labels) + 0.5, [f"c{label}" for label in labels], np.array(labels) * 10**15, labels[::-1]):
        assert fm.entropy(same) == found


def test_entropy_is_that_of_scikit_learn():
    theirs = peer("sklearn.metrics.cluster._supervised")._entropy
    for labels in ([], [1, 1, 1], [0, 0, 42.0], np.random.default_rng(0).integers(0, 50, 1000)):
        assert fm.entropy(labels) == pytest.approx(theirs(labels), rel=1e-14)


def test_expected_mutual_information_of_a_table():
    theirs = peer("sklearn.metrics.cluster").expected_mutual_information
    table = np.random.default_rng(0).integers(0, 9, (5, 7))
    n = int(table.sum())
    found = fm.expected_mutual_information(table, n)
    assert is_close(found, oracle.expected_mutual_information(table.sum(1).tolist(), table.sum(0).tolist()))
    sparse = peer("scipy.sparse").csr_matrix(table)
    assert found == pytest.approx(theirs(sparse, n), rel=1e-12)
    assert fm.expected_mutual_information(sparse, n, n_threads=2) == found
    assert fm.expected_mutual_information([[70000]], 70000) == 0
    assert_raises(ValueError, "n_samples must be the sum", fm.expected_mutual_information, table, n + 1)
    assert_raises(ValueError, "whole counts", fm.expected_mutual_information, [[-1, 2]], 1)
