"""Confusion matrices: equal to the definitions and to scikit-learn, in any order of rows and with any threads."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.columns import row_blocks
from fastmetrics._kernels.classification import label_counts as kernel
from fastmetrics._kernels.classification import label_weights as weight_kernel
from fastmetrics.metrics.classification import label_counts as counting
from oracles import classification as oracle
from support import label_containers
from support.cases import assert_raises, each_case, without_warnings
from support.peers import check_parity, peer, scikit_learn


def confusion_matrix(*arguments, **options):
    return without_warnings(fm.confusion_matrix, *arguments, **options)


def as_floats(table):
    return [[float(cell) for cell in row] for row in table]



@st.composite
def selected_labels(draw, true, pred):
    """None, or some labels in any order with unknown labels between them; at least one is true."""
    if draw(st.booleans()):
        return None
    unknown = ["nowhere"] if isinstance(true.tolist()[0], str) else [98, 99]
    pool = sorted({*true.tolist(), *pred.tolist()})
    order = draw(st.permutations([*pool, *unknown]))
    kept = order[: draw(st.integers(1, len(order)))]
    return kept if set(kept) & set(true.tolist()) else [*kept, true.tolist()[0]]


class TestConfusionMatrix:
    @given(label_containers.pairs(), st.data())
    def test_the_definition(self, case, data):
        first, second, true, pred = case
        labels = data.draw(selected_labels(true, pred))
        weights = data.draw(label_containers.weights(len(true)))
        order = oracle.classes_of(true.tolist(), pred.tolist()) if labels is None else labels
        counted = None if weights is None else weights.tolist()
        expected = oracle.cells(true.tolist(), pred.tolist(), order, counted)
        found = confusion_matrix(first, second, labels=labels, sample_weight=weights)
        assert found.tolist() == as_floats(expected)
        assert found.dtype == (np.int64 if weights is None or weights.dtype.kind == "i" else np.float64)

    @each_case("dtype", ["int64", "int8", "float64", "U5", "object"])
    @each_case("rows", [1, 3, 4, 5, 63, 1023, 1024, 1025, 2049, 70_000])
    @each_case("n_labels", [1, 2, 3, 17, 100])
    def test_sizes_around_blocks_and_chunks(self, rows, n_labels, dtype):
        true, pred = np.random.default_rng(rows + n_labels).integers(0, n_labels, (2, rows))
        classes, codes = np.unique(np.concatenate([true, pred]), return_inverse=True)
        table = np.zeros((len(classes), len(classes)), np.int64)
        np.add.at(table, (codes[:rows], codes[rows:]), 1)
        if dtype in ("U5", "object"):
            order = np.argsort(classes.astype(str))
            table = table[np.ix_(order, order)]
            first, second = true.astype(str).astype(dtype), pred.astype(str).astype(dtype)
        else:
            first, second = true.astype(dtype), pred.astype(dtype)
        for n_threads in (None, 3):
            np.testing.assert_array_equal(confusion_matrix(first, second, n_threads=n_threads), table)

    @pytest.mark.parametrize("weighted", [False, True])
    def test_any_row_order_and_any_number_of_threads(self, weighted, monkeypatch):
        monkeypatch.setattr(counting, "CHUNK_ROWS", 1000)
        monkeypatch.setattr(row_blocks, "SERIAL_ROWS", 1)
        monkeypatch.setattr(counting, "LOOK_AHEAD", kernel.BLOCK_ROWS)
        generator = np.random.default_rng(3)
        rows = 66_000
        for spread in (1, 37, 10**15):
            true, pred = generator.integers(-40, 40, (2, rows)) * spread
            weights = generator.lognormal(0, 9, rows) if weighted else None
            expected = fm.confusion_matrix(true, pred, sample_weight=weights, n_threads=1)
            assert expected.sum() == pytest.approx(weights.sum() if weighted else rows, rel=1e-12)
            for order in (np.argsort(true), np.argsort(-pred), generator.permutation(rows)):
                for n_threads in (1, 2, 5):
                    moved = None if weights is None else weights[order]
                    found = fm.confusion_matrix(true[order], pred[order], sample_weight=moved, n_threads=n_threads)
                    assert found.tobytes() == expected.tobytes()

    def test_ranges_that_grow_both_ways(self, monkeypatch):
        """Labels leave the range of the table on both sides, by little and by much. It is extended or given up."""
        monkeypatch.setattr(counting, "LOOK_AHEAD", kernel.BLOCK_ROWS)
        for labels in ([0, 1, 5, -1, 300], [0, -300, 300, 1500], [5, 2000, -30], [0, 10**6], [2**62, -(2**62)]):
            column = np.repeat(labels, 70_000 // len(labels))
            check_parity("confusion_matrix", column, np.roll(column, 1))

    @pytest.mark.parametrize("labels_of_type", ["int64", "float32", "bool"])
    def test_columns_of_two_types(self, labels_of_type):
        check_parity("confusion_matrix", np.array([0, 1, 1, 0, 1]).astype(labels_of_type), np.array([1, 1, 0, 0, 2]))

    @each_case("labels", [[1, 1], [0, 1, 0], [2, 2, 0], ["b", "a", "b"]])
    def test_the_last_position_of_a_repeated_label_counts(self, labels):
        true, pred = np.array([0, 1, 1, 2, 0]), np.array([0, 1, 0, 2, 1])
        if labels[0] == "b":
            true, pred = np.array(["a", "b", "c"])[true], np.array(["a", "b", "c"])[pred]
        for weights in (None, np.arange(5), np.arange(5) + 0.5):
            check_parity("confusion_matrix", true, pred, labels=labels, sample_weight=weights)

    def test_more_labels_than_a_table_holds(self):
        generator = np.random.default_rng(0)
        true, pred = generator.integers(0, 2500, (2, 5000))
        labels = np.unique(true)[[5, 3, 1000]]
        for options in ({}, {"sample_weight": generator.random(5000)}, {"labels": labels}):
            check_parity("confusion_matrix", true, pred, **options)
        assert fm.confusion_matrix(true.astype(str), pred.astype(str)).sum() == 5000

    def test_weighted_cells_are_rounded_once(self):
        """In floats, adding 0.1 ten times does not give 1, and adding 1 to 1e16 has no effect. Exact sums are right."""
        true, pred = np.zeros(10, int), np.ones(10, int)
        assert fm.confusion_matrix(true, pred, sample_weight=np.full(10, 0.1))[0, 1] == float(10 * Fraction(0.1))
        weights = np.array([1e16, *[1.0] * 9])
        assert fm.confusion_matrix(true, pred, sample_weight=weights)[0, 1] == 1e16 + 9 - 1
        assert float(Fraction(10**16) + 9) == 1e16 + 8

    def test_one_label_warns(self):
        for options in ({}, {"normalize": "all"}, {"sample_weight": [1, 2]}):
            with pytest.warns(UserWarning, match="only one label"):
                assert fm.confusion_matrix([3, 3], [3, 3], **options).shape == (1, 1)
        with pytest.warns(UserWarning, match="only one label"):
            assert fm.confusion_matrix([3, 1], [3, 3], labels=[3]).tolist() == [[1]]

    def test_integers_beyond_one_type(self):
        """scikit-learn compares uint64 with int64 as doubles and miscounts the last row."""
        true, pred = np.array([2**64 - 1, 1], np.uint64), np.array([1, -1], np.int64)
        assert fm.confusion_matrix(true, pred).tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
        true = np.array([2**64 - 1, 2**64 - 2, 5], np.uint64)
        assert fm.confusion_matrix(true, true[::-1]).tolist() == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]

    def test_integer_weights_are_added_as_integers(self):
        found = fm.confusion_matrix([0, 0, 1], [1, 1, 1], sample_weight=np.array([2**53, 1, 1]))
        assert found.tolist() == [[0, 2**53 + 1], [0, 1]]

    @each_case(
        ("options", "error", "message"),
        [
            ({"labels": [5, 6]}, ValueError, "labels must contain a label that occurs in y_true"),
            ({"labels": [2]}, ValueError, "labels must contain a label that occurs in y_true"),
            ({"labels": []}, ValueError, "labels is empty"),
            ({"labels": 1}, ValueError, "labels must be an array"),
            ({"labels": [[1, 0]]}, TypeError, "labels must have one dimension"),
            ({"normalize": "rows"}, ValueError, "normalize must be one of 'true', 'pred', 'all'"),
            ({"normalize": True}, TypeError, "normalize must be one of"),
            ({"sample_weight": [1, 2]}, ValueError, "y_true has 3 rows but sample_weight has 2"),
            ({"sample_weight": [0, 0, 0]}, ValueError, "zero at every row"),
            ({"sample_weight": [1, np.nan, 1]}, ValueError, "sample_weight has nan at row 1"),
            ({"sample_weight": [[1], [1], [1]]}, ValueError, "sample_weight must have one dimension"),
        ],
    )
    def test_bad_options(self, options, error, message):
        assert_raises(error, message, fm.confusion_matrix, [0, 1, 1], [1, 2, 1], **options)
        check_parity("confusion_matrix", [0, 1, 1], [1, 2, 1], **options)
        assert_raises(ValueError, "n_threads", fm.confusion_matrix, [0, 1, 1], [1, 2, 1], n_threads=0)

    def test_labels_of_another_kind_are_an_error(self):
        """scikit-learn finds '1' among [1, 0] and returns zeros."""
        assert_raises(
            ValueError, "labels must contain a label that occurs in y_true",
            fm.confusion_matrix, [1, 0], [1, 1], labels=["1", "0"],
        )

    def test_multilabel_input_has_no_single_matrix(self):
        for indicators in ([[1, 0], [0, 1]], peer("scipy.sparse").csr_matrix([[1, 0], [0, 1]])):
            assert_raises(
                ValueError, r"y_true .*must have one label per row", fm.confusion_matrix, indicators, indicators
            )


def two_by_two(counts):
    return np.stack([counts.tn, counts.fp, counts.fn, counts.tp], axis=1).reshape(-1, 2, 2)


class TestCountClasses:
    @given(label_containers.pairs(), st.data())
    def test_the_definition(self, case, data):
        first, second, true, pred = case
        labels = data.draw(selected_labels(true, pred))
        weights = data.draw(label_containers.weights(len(true)))
        classes = oracle.classes_of(true.tolist(), pred.tolist())
        counted = None if weights is None else weights.tolist()
        found = counting.count_classes(first, second, labels=labels, sample_weight=weights)
        order = classes if labels is None else labels
        assert (found.classes.tolist(), found.present.tolist()) == (list(order), classes)
        assert (found.kind, found.rows) == ("binary" if len(classes) < 3 else "multiclass", len(true))
        assert found.any_right == any(
            t == p and (counted is None or counted[row]) for row, (t, p) in enumerate(zip(true, pred, strict=True))
        )
        for place, label in enumerate(order):
            expected = oracle.counts_of(true.tolist(), pred.tolist(), label, counted)
            assert [float(count) for count in expected] == [
                found.tp[place], found.fp[place], found.fn[place], found.tn[place],
            ]  # fmt: skip
        assert found.tp.dtype == found.tn.dtype == (np.int64 if weights is None else np.float64)

    @each_case("n_labels", [1, 2, 63, 64, 65, 1500, 5000])
    @each_case("spread", [1, 10**14])
    @each_case("n_threads", [1, 3])
    def test_many_labels(self, n_labels, spread, n_threads, monkeypatch):
        monkeypatch.setattr(counting, "CHUNK_ROWS", 5000)
        monkeypatch.setattr(row_blocks, "SERIAL_ROWS", 1)
        generator = np.random.default_rng(n_labels)
        true, pred = generator.integers(0, n_labels, (2, 20_000)) * spread
        for weight in (None, generator.integers(0, 9, 20_000)):
            theirs = scikit_learn().multilabel_confusion_matrix(true, pred, sample_weight=weight)
            ours = counting.count_classes(true, pred, sample_weight=weight, n_threads=n_threads)
            assert (two_by_two(ours) == theirs).all()
            text = counting.count_classes(true.astype(str), pred.astype(str), sample_weight=weight, n_threads=n_threads)
            order = np.argsort(np.unique(np.concatenate([true, pred])).astype(str))
            assert (two_by_two(text) == theirs[order]).all()

    @each_case("rows", [6, 70_000])
    @each_case(
        ("one", "other"),
        [("bool", "int8"), ("int8", "uint8"), ("bool", "bool"), ("int32", "float32"), ("int8", "int64")],
    )
    def test_the_type_of_the_classes(self, one, other, rows):
        """The type of y_true if it has all classes, else a type for both columns."""
        unique_labels = peer("sklearn.utils.multiclass").unique_labels
        for first, second in (([0, 1], [0, 1]), ([0, 0], [0, 1]), ([0, 1], [1, 1]), ([1, 1], [0, 0])):
            true, pred = np.resize(first, rows).astype(one), np.resize(second, rows).astype(other)
            assert counting.count_classes(true, pred).classes.dtype == unique_labels(true, pred).dtype

    def test_rows_around_the_limit_of_the_short_kernel(self):
        """The kernel for short columns takes up to 65,536 rows."""
        for rows in (65_535, 65_536, 65_537):
            true, pred = np.random.default_rng(rows).integers(0, 5, (2, rows))
            found = counting.count_classes(true, pred)
            assert (two_by_two(found) == scikit_learn().multilabel_confusion_matrix(true, pred)).all()
            assert found.classes.tolist() == [0, 1, 2, 3, 4]


class TestMultilabel:

    def test_weights_of_indicators_are_rounded_once(self):
        generator = np.random.default_rng(0)
        true, pred = generator.integers(0, 2, (2, 300, 4))
        weights = generator.lognormal(0, 20, 300)
        found = counting.count_classes(true, pred, sample_weight=weights)
        for column in range(4):
            expected = oracle.counts_of(true[:, column].tolist(), pred[:, column].tolist(), 1, weights.tolist())
            assert [float(count) for count in expected] == [counts[column] for counts in found[:4]]

    @each_case("rows", [1, 999, 1000, 1001, 3500])
    def test_chunks_of_indicators(self, rows, monkeypatch):
        monkeypatch.setattr(counting, "CHUNK_ROWS", 1000)
        monkeypatch.setattr(row_blocks, "SERIAL_ROWS", 1)
        true, pred = np.random.default_rng(rows).integers(0, 2, (2, rows, 3))
        for samplewise in (False, True):
            theirs = scikit_learn().multilabel_confusion_matrix(true, pred, samplewise=samplewise)
            for n_threads in (1, 3):
                ours = fm.multilabel_confusion_matrix(true, pred, samplewise=samplewise, n_threads=n_threads)
                np.testing.assert_array_equal(ours, theirs)

    def test_counts_are_floats_if_no_row_is_correct(self):
        for options in ({}, {"labels": [1]}):
            check_parity("multilabel_confusion_matrix", [0, 1], [1, 0], **options)
        check_parity("multilabel_confusion_matrix", [0, 1, 2], [1, 0, 2], labels=[1])

    @each_case(
        ("true", "pred", "options", "message"),
        [
            ([0, 1], [1, 1], {"samplewise": True}, "one column per label"),
            ([0, 1], [1, 1], {"samplewise": 1}, "samplewise must be True or False"),
            ([[0, 1]], [[1, 1]], {"labels": [2]}, r"column numbers in \[0, 2\) .* found 2"),
            ([[0, 1]], [[1, 1]], {"labels": [-1]}, r"column numbers in \[0, 2\) .* found -1"),
            ([[0, 1]], [[1, 1]], {"labels": ["a"]}, "column numbers"),
            ([[0, 1]], [1], {}, "of one kind"),
        ],
    )
    def test_bad_options(self, true, pred, options, message):
        assert_raises(ValueError, message, fm.multilabel_confusion_matrix, true, pred, **options)


class TestKernels:
    @each_case("dtype", ["bool", *label_containers.INTEGERS])
    @each_case("rows", [1, 7, 8, 63, 64, 65, 16_320, 16_321, 40_000])
    def test_count_binary(self, dtype, rows):
        """16,320 rows fill the byte counters of the SIMD lanes, which must be emptied in time."""
        for share in (0.3, 1.0, 0.0):
            true, pred = (np.random.default_rng(rows).random((2, rows)) < share).astype(dtype)
            expected = np.bincount(2 * true.astype(int) + pred.astype(int), minlength=4).tolist()
            assert list(kernel.count_binary(true, pred)) == expected
            if rows > 8:
                expected = np.bincount(2 * true[3:7].astype(int) + pred[3:7].astype(int), minlength=4).tolist()
                assert list(kernel.count_binary(true, pred, 3, 7)) == expected

    def test_count_binary_rejects_other_columns(self):
        zeros = np.zeros(100, np.int8)
        for place in (0, 50, 63, 64, 99):
            for value in (2, -1, 127):
                other = zeros.copy()
                other[place] = value
                assert kernel.count_binary(zeros, other) is None
                assert kernel.count_binary(other, zeros) is None
        for other in (zeros.astype(float), zeros.astype(int), zeros[:50], zeros[::2], zeros.astype(">i2"), zeros[:0]):
            assert kernel.count_binary(zeros, other) is None
            assert kernel.count_binary(other[:0], other[:0]) is None
        assert kernel.count_binary([0], [1]) is None

    @each_case("one", ["bool", *label_containers.INTEGERS, "float32", "float64"])
    @each_case("other", ["uint8", "int16", "int64", "float32", "float64"])
    def test_count_equal(self, one, other):
        generator = np.random.default_rng(1)
        for rows in (1, 63, 1023, 1024, 1025, 70_000):
            true, pred = generator.integers(0, 2, (2, rows))
            assert kernel.count_equal(true.astype(one), pred.astype(other)) == (true == pred).sum()
            assert kernel.count_equal(true.astype(one), true.astype(other)) == rows
            assert kernel.count_equal(true.astype(one), true.astype(one)) == rows

    @each_case("dtype", ["float32", "float64"])
    @each_case("value", [0.5, np.nan, np.inf, -np.inf, 2.0**63, 1e30, -1e30, 1e-40])
    def test_fractions_are_found_anywhere(self, dtype, value):
        for place in (0, 1023, 1024, 2999):
            column = np.zeros(3000, dtype)
            column[place] = value
            whole = np.zeros(3000, dtype)
            for pair in ((column, whole), (whole, column)):
                assert kernel.count_equal(*pair) == -1
                assert kernel.count_equal(*(column.astype(np.float64) for column in pair)) == -1
                assert kernel.label_range(*pair, 0, 3000) is None
                assert not kernel.mark_equal(*pair, np.empty(3000, np.uint8))
                assert kernel.small_matrix(*pair, np.empty(4096, np.int64)) == -1

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_whole_floats_of_any_size(self, dtype):
        """Values around the size at which the kernel uses another conversion."""
        near = 2.0 ** np.array([21, 22, 23, 24, 31, 50, 51, 52, 53, 62])
        values = np.concatenate([near, -near, near - 1, near + 1, [-(2.0**63), 0.0, -0.0]]).astype(dtype)
        values = values[values == np.trunc(values)]
        for value in values:
            column = np.full(3, value)
            assert kernel.label_range(column, column, 0, 3) == (int(value), int(value))
        assert kernel.label_range(values, values, 0, len(values)) == (int(values.min()), int(values.max()))

    def test_small_tables_end_where_labels_are_far_apart(self):
        out = np.empty(kernel.FEW_LABELS**2, np.int64)
        for low in (0, -5, 2**63 - 64, -(2**63)):
            column = np.array([low, low + 63])
            assert kernel.small_matrix(column, column, out) == 2
            assert out[:4].tolist() == [1, 0, 0, 1]
        assert kernel.small_matrix(np.array([0, 64]), np.array([0, 1]), out) == -1
        assert kernel.small_matrix(np.array([-(2**63), 2**63 - 1]), np.array([0, 1]), out) == -1

    def test_sums_of_runs_are_rounded_once(self):
        generator = np.random.default_rng(5)
        lengths = [0, 1, 2, 63, 64, 65, 2047, 2048, 2049, 5000]
        for scale in (1.0, 1e-310, 1e290):
            runs = [np.abs(generator.normal(0, 1, n) * 10.0 ** generator.integers(-9, 9, n)) * scale for n in lengths]
            runs.append(np.array([1.0, 2.0**-53, 2.0**-53]))
            runs.append(np.array([1.0, 2.0**-53]))
            runs.append(np.array([1.0, 2.0**-53, 5e-324]))
            runs.append(np.array([5e-324, 5e-324, 5e-324]))
            # The last bit decides a tie in any limb.
            ties = [(place, bit) for place in (0, 9, 31) for bit in range(54, 160)]
            runs += [np.array([2.0**place, 2.0 ** (place - 53), 2.0**-bit]) for place, bit in ties]
            starts = np.cumsum([0, *map(len, runs)])
            out = np.empty(len(runs))
            weight_kernel.sum_runs(np.concatenate(runs), starts, out)
            assert out.tolist() == [float(sum(map(Fraction, run.tolist()))) for run in runs]

    def test_a_thousand_times_a_thousand_weighted_classes_take_little_memory(self):
        import tracemalloc

        generator = np.random.default_rng(0)
        true, pred = generator.integers(0, 1000, (2, 100_000))
        weights = generator.random(100_000)
        tracemalloc.start()
        found = fm.confusion_matrix(true, pred, sample_weight=weights)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found.sum() == pytest.approx(weights.sum())
        assert peak < 4 * found.nbytes


def test_a_pair_of_labels_counts_what_the_matrix_counts():
    pair = label_containers.encode_label_pair(["b", "a", "b"], ["b", "c", "a"])
    table = np.zeros((3, 3), int)
    np.add.at(table, (pair.true, pair.pred), 1)
    assert table.tolist() == fm.confusion_matrix(["b", "a", "b"], ["b", "c", "a"]).tolist()
