"""Columns of labels: their type as scikit-learn determines it, and their encoding, in every container."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmetrics._core.columns import categorical, class_labels
from fastmetrics._kernels.columns import column_checks
from fastmetrics._kernels.columns import label_encoding as kernel
from support import label_containers
from support.cases import assert_raises, each_case
from support.label_containers import NUMBERS, TEXTS, WORDS, words
from support.peers import pandas, peer, polars

CODES = np.array([2, 0, 2, 5, 1, 1, 0, 9, 2])


def type_of_target(values):
    with np.errstate(invalid="ignore"):
        return peer("sklearn.utils.multiclass").type_of_target(values)


class TestTypeOfTarget:
    @each_case(
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
        assert class_labels.type_of_target(array, "y") == type_of_target(array)

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
        assert class_labels.type_of_target(array, "y") == type_of_target(array)

    @each_case(
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
    def test_errors_have_the_types_of_scikit_learn(self, values, error, message):
        assert_raises(error, message, class_labels.type_of_target, values, "y")
        with pytest.raises(error):
            type_of_target(values)


class TestPairs:
    @each_case("other", NUMBERS)
    @each_case("one", ["int64", "float32", "list", "pandas Int64"])
    def test_numbers_in_any_container(self, one, other):
        pair = label_containers.encode_label_pair(NUMBERS[one](CODES), NUMBERS[other](CODES[::-1].copy()))
        assert (pair.kind, pair.rows, pair.weights) == ("multiclass", len(CODES), None)
        assert pair.classes.tolist() == [0, 1, 2, 5, 9]
        assert pair.classes[pair.true].tolist() == CODES.tolist()
        assert pair.classes[pair.pred].tolist() == CODES[::-1].tolist()

    @each_case("other", TEXTS)
    @each_case("one", ["U", "object", "arrow dictionary"])
    def test_texts_in_any_container(self, one, other):
        pair = label_containers.encode_label_pair(TEXTS[one](CODES), TEXTS[other](CODES[::-1].copy()))
        assert pair.classes.tolist() == sorted(WORDS[[0, 1, 2, 5, 9]].tolist())
        assert pair.classes[pair.true].tolist() == words(CODES).tolist()
        assert pair.classes[pair.pred].tolist() == words(CODES[::-1]).tolist()

    @given(label_containers.pairs())
    def test_like_scikit_learn(self, case):
        first, second, true, pred = case
        pair = label_containers.encode_label_pair(first, second)
        unique = sorted({*true.tolist(), *pred.tolist()})
        assert (pair.classes.tolist(), pair.kind) == (unique, "binary" if len(unique) < 3 else "multiclass")
        assert pair.true.dtype == pair.pred.dtype == np.int64
        assert [unique[code] for code in pair.true.tolist()] == true.tolist()
        assert [unique[code] for code in pair.pred.tolist()] == pred.tolist()

    @each_case(
        ("one", "other"),
        [
            ("bool", "int64"), ("int64", "bool"), ("int8", "int32"), ("uint8", "int8"), ("int64", "float32"),
            ("float32", "float64"), ("bool", "bool"), ("uint64", "uint8"), ("float16", "float16"),
        ],
    )  # fmt: skip
    @each_case("extra", [0, 1])
    def test_classes_have_the_dtype_of_scikit_learn(self, one, other, extra):
        true, pred = np.array([0, 1], one), np.array([0, 1 + extra], other)
        wanted = peer("sklearn.utils.multiclass").unique_labels(true, pred)
        found = label_containers.encode_label_pair(true, pred).classes
        assert found.tolist() == wanted.tolist()
        if one != "float16":
            assert found.dtype == wanted.dtype

    def test_different_64_bit_integers_are_different_labels(self):
        """2**53 and 2**53 + 1 are equal as doubles; 2**64 - 1 and -1 have the same bits."""
        true, pred = np.array([2**53, 2**53 + 1]), np.array([2**53 + 1, 2**53])
        pair = label_containers.encode_label_pair(true, pred)
        assert (pair.true.tolist(), pair.pred.tolist()) == ([0, 1], [1, 0])
        pair = label_containers.encode_label_pair(np.array([2**64 - 1, 1], np.uint64), np.array([-1, 1]))
        assert pair.classes.tolist() == [-1, 1, 2**64 - 1]
        assert (pair.true.tolist(), pair.pred.tolist()) == ([2, 1], [0, 1])

    def test_indicators(self):
        sparse = peer("scipy.sparse")
        true, pred = np.array([[0, 2, 0], [2, 2, 0]]), np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
        for one in (true, true.tolist(), sparse.csr_matrix(true), sparse.coo_array(true), pandas().DataFrame(true)):
            pair = label_containers.encode_label_pair(one, pred)
            assert (pair.kind, pair.classes.tolist(), pair.rows) == ("multilabel-indicator", [0, 1, 2], 2)
            assert pair.true.dtype == np.uint8
            assert pair.true.flags.c_contiguous
            assert pair.true.tolist() == [[0, 1, 0], [1, 1, 0]]
            assert pair.pred.tolist() == [[0, 1, 1], [1, 0, 0]]

    @each_case(
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
            (np.array([Decimal(1), Decimal(2)], object), [1, 2], ValueError, "found unknown and binary"),
            (np.array([None, "a"], object), ["a", "b"], TypeError, "found unknown and binary"),
        ],
    )  # fmt: skip
    def test_errors(self, true, pred, error, message):
        assert_raises(error, message, label_containers.encode_label_pair, true, pred)
        with pytest.raises(error), np.errstate(invalid="ignore"):
            peer("sklearn.metrics").accuracy_score(true, pred)

    def test_nulls_in_text_are_errors_that_name_the_row(self):
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
            assert_raises(
                (ValueError, TypeError), r"y_pred has .*(null|None|NaN)",
                label_containers.encode_label_pair, ["a", "b"], column,
            )

    def test_weights(self):
        assert label_containers.encode_label_pair([1, 2], [1, 1], [1, 0]).weights.tolist() == [1.0, 0.0]
        for bad in ([0, 0], [1], [1, -1], [1, np.nan], [[1], [2]], ["a", "b"], 2.0, "ab"):
            assert_raises(ValueError, "sample_weight", label_containers.encode_label_pair, [1, 2], [1, 1], bad)


class TestEncoding:
    @each_case("rows", [1, 127, 128, 129, 511, 513, 5000])
    @each_case("spread", [1, 1000, 10**12])
    def test_many_labels(self, rows, spread):
        """As many labels as rows, so that tables grow. Labels that are far apart are hashed."""
        values = np.random.default_rng(rows).permutation(rows) * spread - 5
        values = np.concatenate([values, values[:50]])
        for labels in (values, values.astype(str)):
            codes, classes = class_labels.encode_labels(labels)
            wanted = np.unique(labels, return_inverse=True)
            assert classes.tolist() == wanted[0].tolist()
            assert codes.tolist() == wanted[1].tolist()

    def test_labels_in_one_slot(self):
        """Different integers have different hashes; these have the same slot in the first table of 256 slots."""
        values = np.arange(100_000, dtype=np.int64)
        hashes = np.empty(100_000, np.uint64)
        kernel.hash_integers(values, hashes)
        colliding = values[(hashes & np.uint64(255)) == 7][:100] * 1
        assert len(colliding) == 100
        column = np.concatenate([colliding, colliding[::-1], [2**50]])
        codes, classes = class_labels.encode_labels(column)
        assert classes[codes].tolist() == column.tolist()
        assert len(classes) == 101

    def test_texts_with_equal_hashes_are_different_labels(self):
        """All 64 bits of the two hashes are equal (the pair was found by search), so the texts must be compared."""
        one = "xxabxxcd"
        other = "xx\u05df\ua88bxx\U000aacf8\U000955eb"
        codes, classes = class_labels.encode_labels(np.array([one, other, other, one, "", one]))
        assert classes.tolist() == ["", one, other]
        assert codes.tolist() == [1, 2, 2, 1, 0, 1]

    @each_case("width", [1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33])
    def test_texts_that_differ_in_one_character(self, width):
        """Each text differs from the first one at another position, for every width."""
        texts = ["x" * width, *("x" * i + "y" + "x" * (width - i - 1) for i in range(width)), "x" * (width - 1), ""]
        column = np.array(texts * 2)
        codes, classes = class_labels.encode_labels(column)
        assert len(classes) == len(set(texts))
        assert classes[codes].tolist() == column.tolist()

    def test_objects_that_end_with_a_null_character(self):
        """NumPy's fixed-width text would cut it off, so such labels stay Python strings."""
        pair = label_containers.encode_label_pair(np.array(["a", "a\0"], object), np.array(["a\0", "a"], object))
        assert pair.classes.tolist() == ["a", "a\0"]
        assert (pair.true.tolist(), pair.pred.tolist()) == ([0, 1], [1, 0])

    def test_equal_texts_of_different_objects(self):
        column = np.array(["".join(["a", "b"]) for _ in range(3)] + [np.str_("ab")], object)
        assert class_labels.encode_labels(column)[0].tolist() == [0, 0, 0, 0]

    @each_case("low", [-(2**63), -3, 0, 2**63 - 300])
    def test_ranges_with_and_without_gaps(self, low):
        for values in ([0, 1, 2], [0, 2], [255, 0], [7], [0, 255, 1]):
            column = np.array([low + value for value in values])
            codes, classes = class_labels.encode_labels(column)
            assert classes[codes].tolist() == column.tolist()
            assert classes.tolist() == sorted(column.tolist())

    def test_every_byte(self):
        for dtype in (np.uint8, np.int8):
            column = np.arange(256).astype(dtype)
            codes, classes = class_labels.encode_labels(column)
            assert classes.dtype == dtype
            assert classes[codes].tolist() == column.tolist()

    def test_labels_argument(self):
        codes, classes = class_labels.encode_labels(["b", "a"], ["c", "b", "a"])
        assert (codes.tolist(), classes.tolist()) == ([1, 0], ["a", "b", "c"])
        assert class_labels.encode_labels([3.0, 1.0], [1, 2, 3])[0].tolist() == [2, 0]
        assert_raises(
            ValueError, "y has 7 at row 1, which is not among labels", class_labels.encode_labels, [1, 7], [1, 2], "y"
        )
        assert_raises(
            ValueError, "y_true has 'a' at row 0, which is not among labels", class_labels.encode_labels, ["a"], [1, 2]
        )
        assert_raises(ValueError, "labels is empty", class_labels.encode_labels, [1], [])
        assert_raises(ValueError, "one column of labels; found continuous", class_labels.encode_labels, [0.5])
        assert_raises(ValueError, "y_true is empty", class_labels.encode_labels, [])

    def test_dates(self):
        days = np.array(["2024-02-01", "2024-01-01", "2024-02-01"], "datetime64[D]")
        codes, classes = class_labels.encode_labels(days)
        assert codes.tolist() == [1, 0, 1]
        assert classes.dtype == days.dtype

    def test_read_only_columns(self):
        column = np.array([0, 1, 2, 1])
        column.flags.writeable = False
        codes, _ = class_labels.encode_labels(column)
        assert codes.tolist() == [0, 1, 2, 1]


class TestPositiveMask:
    @each_case("dtype", ["bool", *label_containers.INTEGERS, *label_containers.FLOATS])
    @each_case("rows", [1, 63, 1024, 1025, 3000])
    def test_zero_and_one_of_any_type(self, dtype, rows):
        true = np.random.default_rng(rows).integers(0, 2, rows)
        mask = class_labels.positive_mask(true.astype(dtype))
        assert (mask.dtype, mask.tolist()) == (np.uint8, true.tolist())
        if dtype in ("int8", "int64", "float32", "float64"):
            assert class_labels.positive_mask((2 * true - 1).astype(dtype)).tolist() == true.tolist()

    @given(st.lists(st.sampled_from([-1, 0, 1, 2]), min_size=1, max_size=5), st.sampled_from(["int64", "int8", "f8"]))
    def test_which_labels_need_a_pos_label(self, values, dtype):
        check = peer("sklearn.utils.validation")._check_pos_label_consistency
        column = np.array(values, dtype)
        try:
            check(None, column)
        except ValueError:
            assert_raises(ValueError, "pos_label is not given", class_labels.positive_mask, column)
        else:
            assert class_labels.positive_mask(column).tolist() == [int(value == 1) for value in values]

    @each_case(
        "column",
        [["a", "b"], np.array(["a"], object), pa.array(["1", "0"]), np.array([2**64 - 1, 1], np.uint64), [0, 256]],
    )
    def test_an_error_names_other_labels(self, column):
        assert_raises(ValueError, r"y has labels .* pos_label", class_labels.positive_mask, column, name="y")

    def test_pos_label(self):
        assert class_labels.positive_mask([1, 2, 3, 2], 2).tolist() == [0, 1, 0, 1]
        assert class_labels.positive_mask([1.0, 2.0], 2).tolist() == [0, 1]
        assert class_labels.positive_mask([True, False], True).tolist() == [1, 0]
        assert class_labels.positive_mask([1, 2], 7).tolist() == [0, 0]
        assert class_labels.positive_mask([1, 2], "1").tolist() == [0, 0]
        assert class_labels.positive_mask(["1", "2"], 1).tolist() == [0, 0]
        for name, form in TEXTS.items():
            assert class_labels.positive_mask(form(CODES), "a b").tolist() == (CODES == 2).astype(int).tolist(), name

    def test_nan_and_empty_and_matrices(self):
        for pos_label in (None, 1):
            assert_raises(
                ValueError, "y_true has NaN at row 1", class_labels.positive_mask, np.array([0.0, np.nan]), pos_label
            )
            assert_raises(ValueError, "y_true is empty", class_labels.positive_mask, [], pos_label)
            assert_raises(ValueError, "one dimension", class_labels.positive_mask, [[0, 1], [1, 0]], pos_label)


def test_label_kinds_have_the_bits_of_column_checks():
    out = np.empty(1, np.uint8)
    bits = {
        0: column_checks.SAW_ZERO,
        1: column_checks.SAW_ONE,
        -1: column_checks.SAW_MINUS_ONE,
        5: column_checks.SAW_OTHER,
    }
    for value, bit in bits.items():
        for dtype in ("int8", "int64", "float64"):
            seen = kernel.mark_positive(np.array([value], dtype), out)
            assert seen == bit or (seen & bit and bit == column_checks.SAW_OTHER)
    assert kernel.mark_positive(np.array([0.5]), out) & column_checks.SAW_OTHER
    assert kernel.mark_positive(np.array(["a"]), out) == -1


def test_columns_without_a_fast_path():
    assert categorical.encode_text_column([1, 2], "y") is None
    assert categorical.encode_text_column(pandas().Series([1, 2]), "y") is None
    assert categorical.encode_text_column(polars().Series([1, 2]), "y") is None
    assert categorical.encode_text_column(pa.array([1, 2]), "y") is None
