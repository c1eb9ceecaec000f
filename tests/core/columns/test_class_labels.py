"""What a column of labels is, and how it is numbered: against scikit-learn's judgement, in every container."""

import labelled
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled import NUMBERS, TEXTS, WORDS, words
from peers import pandas, peer, polars

from fastmetrics._core import coding, labels
from fastmetrics._kernels import columns
from fastmetrics._kernels import labels as kernel

CODES = np.array([2, 0, 2, 5, 1, 1, 0, 9, 2])


def type_of_target(values):
    with np.errstate(invalid="ignore"):
        return peer("sklearn.utils.multiclass").type_of_target(values)


class TestKindOfTarget:
    @pytest.mark.parametrize(
        "values",
        [
            [1, 2], [1, 2, 3], [True, False], [1.0, 2.0], [1.0, 2.0, 3.0], [0.5, 1.0], [1e300, 1.0], [2.0**63, 1.0],
            [-(2.0**63), 1.0], ["a"], ["a", "b"], ["a", "b", "c"], [[1], [2], [3]], [["a"], ["b"]], [[1, 2], [2, 1]],
            [[0, 1], [1, 1]], [[1, 2], [3, 1]], [[0.0, 1.0], [1.0, 1.0]], [[0.5, 1.0], [1.0, 1.0]], [[1.5, 2], [3, 1]],
            [["a", "b"], ["b", "a"]], [[1, 1]], [[True, False], [True, True]], [[[1]]], [], [[]], [[], []], [-1, 1],
        ],
    )  # fmt: skip
    def test_like_scikit_learn(self, values):
        array = np.asarray(values)
        assert labels.kind_of_target(array, "y") == type_of_target(array)

    @given(
        st.lists(st.lists(st.sampled_from([0, 1, 2, 0.5, -1, 1e20]), min_size=2, max_size=2), min_size=1, max_size=4),
        st.sampled_from(["matrix", "column", "flat"]),
        st.sampled_from(["float64", "float32", "int64", "bool", "object", "U10"]),
    )
    def test_like_scikit_learn_for_any_array(self, rows, shape, dtype):
        array = np.array(rows)
        array = array if shape == "matrix" else array.reshape(-1, 1) if shape == "column" else array.ravel()
        with np.errstate(invalid="ignore"):
            array = array.astype(dtype)
        assert labels.kind_of_target(array, "y") == type_of_target(array)

    @pytest.mark.parametrize(
        ("values", "error", "message"),
        [
            (np.array([0.0, 1.0, np.nan]), ValueError, "y has NaN at row 2"),
            (np.array([0.5, np.inf]), ValueError, "y has inf at row 1"),
            (np.array([[0.0, 1.0], [-np.inf, 1.0]]), ValueError, "y has -inf at row 1"),
            (np.array([b"a"]), TypeError, "y has labels of bytes"),
            (np.array([b"a"], object), TypeError, "y has labels of bytes"),
            (np.array([1j]), ValueError, "y has dtype complex128"),
            (np.array(["a", None], object), TypeError, "y has None at row 1 beside text"),
            (np.array(["a", "b", 3], object), TypeError, "y has 3 at row 2 beside text"),
            (np.array(["a", np.nan], object), TypeError, "y has NaN at row 1 beside text"),
        ],
    )
    def test_errors_are_of_the_same_type(self, values, error, message):
        with pytest.raises(error, match=message):
            labels.kind_of_target(values, "y")
        with pytest.raises(error):
            type_of_target(values)


class TestPairs:
    @pytest.mark.parametrize("other", NUMBERS)
    @pytest.mark.parametrize("one", ["int64", "float32", "list", "pandas Int64"])
    def test_numbers_in_any_container(self, one, other):
        pair = labels.pair_labels(NUMBERS[one](CODES), NUMBERS[other](CODES[::-1].copy()))
        assert (pair.kind, pair.rows, pair.weights) == ("multiclass", len(CODES), None)
        assert pair.classes.tolist() == [0, 1, 2, 5, 9]
        assert pair.classes[pair.true].tolist() == CODES.tolist()
        assert pair.classes[pair.pred].tolist() == CODES[::-1].tolist()

    @pytest.mark.parametrize("other", TEXTS)
    @pytest.mark.parametrize("one", ["U", "object", "arrow dictionary"])
    def test_texts_in_any_container(self, one, other):
        pair = labels.pair_labels(TEXTS[one](CODES), TEXTS[other](CODES[::-1].copy()))
        assert pair.classes.tolist() == sorted(WORDS[[0, 1, 2, 5, 9]].tolist())
        assert pair.classes[pair.true].tolist() == words(CODES).tolist()
        assert pair.classes[pair.pred].tolist() == words(CODES[::-1]).tolist()

    @given(labelled.pairs())
    def test_like_scikit_learn(self, case):
        first, second, true, pred = case
        pair = labels.pair_labels(first, second)
        unique = sorted({*true.tolist(), *pred.tolist()})
        assert pair.classes.tolist() == unique
        assert pair.kind == ("binary" if len(unique) < 3 else "multiclass")
        assert pair.true.dtype == pair.pred.dtype == np.int64
        assert [unique[code] for code in pair.true.tolist()] == true.tolist()
        assert [unique[code] for code in pair.pred.tolist()] == pred.tolist()

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("bool", "int64"), ("int64", "bool"), ("int8", "int32"), ("uint8", "int8"), ("int64", "float32"),
            ("float32", "float64"), ("bool", "bool"), ("uint64", "uint8"), ("float16", "float16"),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("extra", [0, 1])
    def test_the_type_of_the_classes_is_scikit_learns(self, one, other, extra):
        true, pred = np.array([0, 1], one), np.array([0, 1 + extra], other)
        unique_labels = peer("sklearn.utils.multiclass").unique_labels
        wanted = unique_labels(true, pred)
        found = labels.pair_labels(true, pred).classes
        assert found.tolist() == wanted.tolist()
        if one != "float16":
            assert found.dtype == wanted.dtype

    def test_integers_of_64_bits_are_not_joined(self):
        """2**53 and 2**53 + 1 are one double, 2**64 - 1 and -1 the same bits."""
        true, pred = np.array([2**53, 2**53 + 1]), np.array([2**53 + 1, 2**53])
        pair = labels.pair_labels(true, pred)
        assert (pair.true.tolist(), pair.pred.tolist()) == ([0, 1], [1, 0])
        pair = labels.pair_labels(np.array([2**64 - 1, 1], np.uint64), np.array([-1, 1]))
        assert pair.classes.tolist() == [-1, 1, 2**64 - 1]
        assert (pair.true.tolist(), pair.pred.tolist()) == ([2, 1], [0, 1])

    def test_indicators(self):
        sparse = peer("scipy.sparse")
        true, pred = np.array([[0, 2, 0], [2, 2, 0]]), np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
        for one in (true, true.tolist(), sparse.csr_matrix(true), sparse.coo_array(true), pandas().DataFrame(true)):
            pair = labels.pair_labels(one, pred)
            assert (pair.kind, pair.classes.tolist(), pair.rows) == ("multilabel-indicator", [0, 1, 2], 2)
            assert pair.true.dtype == np.uint8
            assert pair.true.flags.c_contiguous
            assert pair.true.tolist() == [[0, 1, 0], [1, 1, 0]]
            assert pair.pred.tolist() == [[0, 1, 1], [1, 0, 0]]

    @pytest.mark.parametrize(
        ("true", "pred", "error", "message"),
        [
            ([], [], ValueError, "y_true is empty"),
            ([1, 2], [1], ValueError, "y_true has 2 rows but y_pred has 1"),
            ([0.5, 1], [1, 0], ValueError, "found continuous and binary"),
            ([1, 0, 2], [1, 0.5, 1], ValueError, "found multiclass and continuous"),
            ([0.5, 1], [1, 0.5], ValueError, "found continuous targets"),
            ([[1, 2], [3, 1]], [[1, 2], [3, 1]], ValueError, "found multiclass-multioutput targets"),
            ([[1, 0]], [1], ValueError, "found multilabel-indicator and binary"),
            ([[1, 0]], [[1, 0, 1]], ValueError, "y_true has 2 columns of labels but y_pred has 3"),
            ([[[1]]], [[[1]]], ValueError, "found unknown targets"),
            (["a"], [1], ValueError, "labels must all be numbers or all be text"),
            ([1], ["a"], ValueError, "labels must all be numbers or all be text"),
            ([1, 0], [1, np.nan], ValueError, "y_pred has NaN at row 1"),
            (None, [1], TypeError, "y_true must be an array of labels; found NoneType"),
            ("ab", "ab", ValueError, "y_true must be an array of labels; found str"),
            (1, 1, TypeError, "found int"),
            ({1, 2}, [1, 2], ValueError, "in the order of the rows; found a set"),
            ([[1], [2, 3]], [[1], [2, 3]], ValueError, "rows of different lengths"),
            (np.array([1, 2], object), [1, 2], ValueError, "found unknown and binary"),
            (np.array([None, "a"], object), ["a", "b"], TypeError, "found unknown and binary"),
        ],
    )  # fmt: skip
    def test_what_is_refused(self, true, pred, error, message):
        with pytest.raises(error, match=message):
            labels.pair_labels(true, pred)
        with pytest.raises(error), np.errstate(invalid="ignore"):
            peer("sklearn.metrics").accuracy_score(true, pred)

    def test_nulls_in_text_are_refused_with_their_row(self):
        columns_with_nulls = [
            pa.array(["a", None]),
            pa.chunked_array([["a"], [None]]),
            pa.array(["a", None]).dictionary_encode(),
            pa.DictionaryArray.from_arrays([0, 1], ["a", None]),
            pandas().Series(["a", None]),
            pandas().Series(["a", None], dtype="string[python]"),
            pandas().Series(["a", None], dtype="category"),
            pandas().Series(["a", None], dtype=object),
            polars().Series(["a", None]),
            polars().Series(["a", None], dtype=polars().Categorical),
        ]
        for column in columns_with_nulls:
            with pytest.raises((ValueError, TypeError), match=r"y_pred has .*(null|None|NaN)"):
                labels.pair_labels(["a", "b"], column)

    def test_weights(self):
        pair = labels.pair_labels([1, 2], [1, 1], [1, 0])
        assert pair.weights.tolist() == [1.0, 0.0]
        for bad in ([0, 0], [1], [1, -1], [1, np.nan], [[1], [2]], ["a", "b"], 2.0, "ab"):
            with pytest.raises(ValueError, match="sample_weight"):
                labels.pair_labels([1, 2], [1, 1], bad)


class TestNumbering:
    @pytest.mark.parametrize("rows", [1, 127, 128, 129, 511, 513, 5000])
    @pytest.mark.parametrize("spread", [1, 1000, 10**12])
    def test_many_labels(self, rows, spread):
        """As many as rows, so that tables grow; far apart they are hashed."""
        generator = np.random.default_rng(rows)
        values = generator.permutation(rows) * spread - 5
        values = np.concatenate([values, values[:50]])
        codes, classes = labels.code_labels(values)
        wanted = np.unique(values, return_inverse=True)
        assert classes.tolist() == wanted[0].tolist()
        assert codes.tolist() == wanted[1].tolist()
        text = values.astype(str)
        codes, classes = labels.code_labels(text)
        wanted = np.unique(text, return_inverse=True)
        assert classes.tolist() == wanted[0].tolist()
        assert codes.tolist() == wanted[1].tolist()

    def test_labels_that_meet_in_one_slot(self):
        """Equal hashes of integers cannot be, equal slots are forced: the first table has 256."""
        values = np.arange(100_000, dtype=np.int64)
        hashes = np.empty(100_000, np.uint64)
        kernel.hash_integers(values, hashes)
        meeting = values[(hashes & np.uint64(255)) == 7][:100] * 1
        assert len(meeting) == 100
        column = np.concatenate([meeting, meeting[::-1], [2**50]])
        codes, classes = labels.code_labels(column)
        assert classes[codes].tolist() == column.tolist()
        assert len(classes) == 101

    def test_texts_of_one_hash_are_two_labels(self):
        """A pair found by search: all 64 bits of their hashes are equal, so only the comparison tells them apart."""
        one = "xxabxxcd"
        other = "xx\u05df\ua88bxx\U000aacf8\U000955eb"
        codes, classes = labels.code_labels(np.array([one, other, other, one, "", one]))
        assert classes.tolist() == ["", one, other]
        assert codes.tolist() == [1, 2, 2, 1, 0, 1]

    @pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33])
    def test_texts_that_differ_in_one_place(self, width):
        """Every position counts, whatever the width: each text differs from the first in one character."""
        texts = ["x" * width, *("x" * i + "y" + "x" * (width - i - 1) for i in range(width)), "x" * (width - 1), ""]
        column = np.array(texts * 2)
        codes, classes = labels.code_labels(column)
        assert len(classes) == len(set(texts))
        assert classes[codes].tolist() == column.tolist()

    def test_objects_that_end_with_a_null_character(self):
        """NumPy's fixed text would cut it off: such labels stay Python strings."""
        pair = labels.pair_labels(np.array(["a", "a\0"], object), np.array(["a\0", "a"], object))
        assert pair.classes.tolist() == ["a", "a\0"]
        assert (pair.true.tolist(), pair.pred.tolist()) == ([0, 1], [1, 0])

    def test_equal_texts_of_different_objects(self):
        column = np.array(["".join(["a", "b"]) for _ in range(3)] + [np.str_("ab")], object)
        assert labels.code_labels(column)[0].tolist() == [0, 0, 0, 0]

    @pytest.mark.parametrize("low", [-(2**63), -3, 0, 2**63 - 300])
    def test_ranges_with_and_without_gaps(self, low):
        for values in ([0, 1, 2], [0, 2], [255, 0], [7], [0, 255, 1]):
            column = np.array([low + value for value in values])
            codes, classes = labels.code_labels(column)
            assert classes[codes].tolist() == column.tolist()
            assert classes.tolist() == sorted(column.tolist())

    def test_every_byte(self):
        for dtype in (np.uint8, np.int8):
            column = np.arange(256).astype(dtype)
            codes, classes = labels.code_labels(column)
            assert classes.dtype == dtype
            assert classes[codes].tolist() == column.tolist()

    def test_given_labels(self):
        assert [part.tolist() for part in labels.code_labels(["b", "a"], ["c", "b", "a"])] == [[1, 0], ["a", "b", "c"]]
        assert labels.code_labels([3.0, 1.0], [1, 2, 3])[0].tolist() == [2, 0]
        with pytest.raises(ValueError, match="y has 7 at row 1, which is not among labels"):
            labels.code_labels([1, 7], [1, 2], "y")
        with pytest.raises(ValueError, match="y_true has 'a' at row 0, which is not among labels"):
            labels.code_labels(["a"], [1, 2])
        with pytest.raises(ValueError, match="labels is empty"):
            labels.code_labels([1], [])
        with pytest.raises(ValueError, match="one column of labels; found continuous"):
            labels.code_labels([0.5])
        with pytest.raises(ValueError, match="y_true is empty"):
            labels.code_labels([])

    def test_dates(self):
        days = np.array(["2024-02-01", "2024-01-01", "2024-02-01"], "datetime64[D]")
        codes, classes = labels.code_labels(days)
        assert codes.tolist() == [1, 0, 1]
        assert classes.dtype == days.dtype

    def test_columns_are_only_read(self):
        column = np.array([0, 1, 2, 1])
        column.flags.writeable = False
        codes, _ = labels.code_labels(column)
        assert codes.tolist() == [0, 1, 2, 1]


class TestPositiveMask:
    @pytest.mark.parametrize("dtype", ["bool", *labelled.INTEGERS, *labelled.FLOATS])
    @pytest.mark.parametrize("rows", [1, 63, 1024, 1025, 3000])
    def test_zero_and_one_of_any_type(self, dtype, rows):
        true = np.random.default_rng(rows).integers(0, 2, rows)
        mask = labels.positive_mask(true.astype(dtype))
        assert mask.dtype == np.uint8
        assert mask.tolist() == true.tolist()
        if dtype in ("int8", "int64", "float32", "float64"):
            assert labels.positive_mask((2 * true - 1).astype(dtype)).tolist() == true.tolist()

    @given(st.lists(st.sampled_from([-1, 0, 1, 2]), min_size=1, max_size=5), st.sampled_from(["int64", "int8", "f8"]))
    def test_which_labels_need_a_pos_label(self, values, dtype):
        check = peer("sklearn.utils.validation")._check_pos_label_consistency
        column = np.array(values, dtype)
        try:
            check(None, column)
        except ValueError:
            with pytest.raises(ValueError, match="pos_label is not given"):
                labels.positive_mask(column)
        else:
            assert labels.positive_mask(column).tolist() == [int(value == 1) for value in values]

    @pytest.mark.parametrize(
        "column",
        [["a", "b"], np.array(["a"], object), pa.array(["1", "0"]), np.array([2**64 - 1, 1], np.uint64), [0, 256]],
    )
    def test_other_labels_are_named(self, column):
        with pytest.raises(ValueError, match=r"y has labels .* pos_label"):
            labels.positive_mask(column, name="y")

    def test_the_label_given(self):
        assert labels.positive_mask([1, 2, 3, 2], 2).tolist() == [0, 1, 0, 1]
        assert labels.positive_mask([1.0, 2.0], 2).tolist() == [0, 1]
        assert labels.positive_mask([True, False], True).tolist() == [1, 0]
        assert labels.positive_mask([1, 2], 7).tolist() == [0, 0]
        assert labels.positive_mask([1, 2], "1").tolist() == [0, 0]
        assert labels.positive_mask(["1", "2"], 1).tolist() == [0, 0]
        for name, form in TEXTS.items():
            assert labels.positive_mask(form(CODES), "a b").tolist() == (CODES == 2).astype(int).tolist(), name

    def test_nan_and_empty_and_matrices(self):
        for pos_label in (None, 1):
            with pytest.raises(ValueError, match="y_true has NaN at row 1"):
                labels.positive_mask(np.array([0.0, np.nan]), pos_label)
            with pytest.raises(ValueError, match="y_true is empty"):
                labels.positive_mask([], pos_label)
            with pytest.raises(ValueError, match="one dimension"):
                labels.positive_mask([[0, 1], [1, 0]], pos_label)


def test_the_bits_of_what_was_seen_are_those_of_columns():
    out = np.empty(1, np.uint8)
    bits = {0: columns.SAW_ZERO, 1: columns.SAW_ONE, -1: columns.SAW_MINUS_ONE, 5: columns.SAW_OTHER}
    for value, bit in bits.items():
        for dtype in ("int8", "int64", "float64"):
            seen = kernel.mark_positive(np.array([value], dtype), out)
            assert seen == bit or (seen & bit and bit == columns.SAW_OTHER)
    assert kernel.mark_positive(np.array([0.5]), out) & columns.SAW_OTHER
    assert kernel.mark_positive(np.array(["a"]), out) == -1


def test_a_text_column_without_arrow_is_read_through_numpy():
    assert coding.text_column([1, 2], "y") is None
    assert coding.text_column(pandas().Series([1, 2]), "y") is None
    assert coding.text_column(polars().Series([1, 2]), "y") is None
    assert coding.text_column(pa.array([1, 2]), "y") is None
