"""Perplexity and token NLL in all forms of input, against sums of fractions."""

import math
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics.metrics.text.inputs.log_probs import read_log_probs
from oracles.text import perplexity as oracle
from support.cases import assert_raises, assert_undefined, each_case
from support.peers import pandas, polars

WITH_EMPTY = [[-1.0, -2.0], [], [-6.0, -0.0, -1.5]]


@st.composite
def sequences(draw, min_tokens=0):
    """Ragged lists of float32 or float64 values, some empty, some hundreds of tokens long; with the width in bits."""
    width = draw(st.sampled_from([32, 64]))
    value = st.one_of(
        st.sampled_from([0.0, -0.0, -math.inf, -1e-30, -700.0]),
        st.floats(-50.0, 0.0, width=width),
        st.floats(max_value=0.0, allow_nan=False, width=width),
    )
    lengths = draw(st.lists(st.sampled_from([min_tokens, 1, 2, 31, 32, 33, 64, 300]), min_size=1, max_size=5))
    pool = np.array(draw(st.lists(value, min_size=1, max_size=30)), f"f{width // 8}").tolist()
    generator = np.random.default_rng(draw(st.integers(0, 99)))
    return [[pool[index] for index in generator.integers(0, len(pool), length)] for length in lengths], width


def check(found, expected, base="e"):
    if expected is None:
        assert math.isnan(found)
    elif math.isinf(expected) or base == "e":
        assert found == expected
    else:
        assert found == pytest.approx(expected, rel=1e-15)


@pytest.mark.filterwarnings("ignore::fastmetrics.UndefinedMetricWarning")
@given(sequences(), st.sampled_from(["e", 2, 10]))
def test_every_form_of_input_equals_the_definition(case, base):
    ragged, width = case
    dtype = np.float32 if width == 32 else np.float64
    flat = np.array([value for sequence in ragged for value in sequence], dtype)
    offsets = np.cumsum([0, *map(len, ragged)])
    longest = max(map(len, ragged))
    matrix, mask = np.full((len(ragged), longest), np.nan, dtype), np.zeros((len(ragged), longest), bool)
    for row, sequence in enumerate(ragged):
        matrix[row, : len(sequence)], mask[row, : len(sequence)] = sequence, True
    forms = [
        ((ragged,), {}),
        (([np.array(sequence, dtype) for sequence in ragged],), {}),
        ((flat,), {"offsets": offsets}),
        ((matrix,), {"mask": mask}),
        ((pa.array(ragged, pa.list_(pa.float32() if width == 32 else pa.float64())),), {}),
    ]
    for arguments, options in forms:
        for level in ("token", "sequence"):
            found = fm.perplexity(*arguments, level=level, base=base, **options)
            check(found, oracle.perplexity(ragged, level, base), base)
        check(fm.token_nll(*arguments, **options), oracle.mean(oracle.tokens_of(ragged)))
        means = fm.token_nll(*arguments, level="sequence", reduction="none", **options)
        expected = [math.nan if mean is None else mean for mean in oracle.sequence_means(ragged)]
        np.testing.assert_array_equal(means, expected)
        assert fm.token_nll(*arguments, reduction="none", **options).tolist() == oracle.tokens_of(ragged)


@given(sequences(min_tokens=1))
def test_reductions_agree_with_each_other(case):
    ragged, _ = case
    tokens = fm.token_nll(ragged, reduction="none").tolist()
    means = fm.token_nll(ragged, level="sequence", reduction="none").tolist()
    assert fm.token_nll(ragged, level="sequence") == oracle.mean(means)
    try:
        total = math.fsum(tokens)
    except OverflowError:
        total = math.inf
    assert fm.token_nll(ragged, reduction="sum") == total


def test_values_by_hand():
    assert fm.perplexity([math.log(0.25)] * 7) == pytest.approx(4.0, rel=1e-15)
    assert fm.perplexity([[-2.0] * 3, [-2.0]], base=2) == 4.0
    assert fm.perplexity([[-1.0], [-3.0]], base=10, level="sequence") == 505.0
    assert fm.token_nll([[-1.0], [-3.0]], base=2) == 2 * math.log(2)
    assert fm.token_nll([[0.0, -0.0]], reduction="none").tobytes() == np.zeros(2).tobytes()


def test_the_mean_of_perplexities_is_not_the_perplexity_of_the_mean():
    ragged = [[-1.0], [-3.0, -3.0, -3.0]]
    assert fm.perplexity(ragged, base=2) == 2.0**2.5
    assert fm.perplexity(ragged, base=2, level="sequence") == 5.0


def test_many_float32_lose_nothing():
    """A float32 sum of so many ones would stop at 2**24. The mean is still 1."""
    values = np.full((1 << 24) + 3, -1.0, np.float32)
    assert fm.token_nll(values) == 1.0
    assert fm.token_nll(values, reduction="sum") == (1 << 24) + 3
    values[-1] = -math.inf
    assert fm.perplexity(values) == math.inf


@pytest.mark.parametrize("level", ["token", "sequence"])
def test_neither_order_nor_threads_nor_padding_matter(level):
    generator = np.random.default_rng(5)
    lengths = generator.integers(1, 40, 20_000)
    flat = -generator.exponential(3.0, lengths.sum()).astype(np.float32)
    ragged = np.split(flat, np.cumsum(lengths)[:-1])
    expected = fm.perplexity(ragged, level=level)
    reordered = [ragged[i][::-1] for i in generator.permutation(len(ragged)).tolist()]
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    matrix, mask = np.full((len(ragged), 41), 7.0, np.float32), np.zeros((len(ragged), 41), np.int64)
    for row, sequence in enumerate(ragged):
        matrix[row, 41 - len(sequence) :], mask[row, 41 - len(sequence) :] = sequence, 1
    for n_threads in (1, 2, 5):
        assert fm.perplexity(reordered, level=level, n_threads=n_threads) == expected
        assert fm.perplexity(flat, offsets=offsets, level=level, n_threads=n_threads) == expected
        assert fm.perplexity(matrix, mask=mask, level=level, n_threads=n_threads) == expected
        assert fm.perplexity(np.asfortranarray(matrix), mask=mask, level=level) == expected


def test_forms_of_one_sequence():
    frames = (lambda values: pandas().Series(values), lambda values: polars().Series(values))
    for container in (list, tuple, np.array, pa.array, *frames):
        assert fm.token_nll(container([-1.0, -2.0, -4.5])) == 2.5
        assert fm.token_nll(container([-1, -2, -3])) == 2.0
    assert fm.token_nll(np.array([-1.0, -2.0], np.float16)) == 1.5
    assert fm.token_nll([-1.0, -2.0, 9.0], mask=[True, True, False]) == 1.5


def test_views_of_lists():
    views = pa.array([[-1.0, -2.0], [], [-3.0]], pa.list_view(pa.float64()))
    assert fm.token_nll(views) == 2.0
    assert fm.token_nll(views[1:]) == 3.0
    assert fm.token_nll(pa.chunked_array([views, views[2:]])) == 2.25
    offsets, sizes = pa.array([2, 0], pa.int32()), pa.array([1, 2], pa.int32())
    backwards = pa.ListViewArray.from_arrays(offsets, sizes, pa.array([-1.0, -2.0, -3.0]))
    assert fm.token_nll(backwards, level="sequence", reduction="none").tolist() == [3.0, 1.5]


def test_forms_of_several_sequences():
    with_empty = [[-1.0, -2.0], [], [-6.0]]
    for container in (
        tuple,
        pa.array,
        lambda lists: pa.array(lists, pa.large_list(pa.float32())),
        lambda lists: pa.array([[9.0], *lists, [9.0]])[1:-1],
        lambda lists: pa.chunked_array([[lists[0]], lists[1:]]),
        lambda lists: pandas().Series(lists),
        lambda lists: polars().Series(lists),
        lambda lists: [np.array(sequence, np.float32) for sequence in lists],
        lambda lists: [lists[0], tuple(lists[1]), np.array(lists[2], np.float16)],
    ):
        assert fm.token_nll(container(with_empty)) == 3.0
        assert fm.token_nll(container(with_empty), mask=[[1, 0], [], [1]]) == 3.5
        assert fm.token_nll(container(with_empty), mask=pa.array([[True, False], [], [True]])) == 3.5
    fixed = pa.array([[9.0, 9.0], [-1.0, -2.0], [-3.0, -4.0]], pa.list_(pa.float64(), 2))[1:]
    assert fm.token_nll(fixed, level="sequence", reduction="none").tolist() == [1.5, 3.5]


def test_arrow_lists_are_not_copied():
    column = pa.array([[-1.0, -2.0], [-3.0]])
    assert np.shares_memory(read_log_probs(column, None, None).values, column.values.to_numpy())


# -------------------------------------------------------------------------------------------------------- undefined


def test_sequences_without_tokens():
    assert fm.token_nll(WITH_EMPTY) == 10.5 / 5
    with pytest.warns(fm.UndefinedMetricWarning, match="undefined: sequence 1 without a token that counts; the result"):
        assert math.isnan(fm.perplexity(WITH_EMPTY, level="sequence"))
    with pytest.warns(fm.UndefinedMetricWarning, match="sequence 0 and 1 more"):
        assert math.isnan(fm.token_nll([[-1.0], [], [-2.0]], mask=[[0], [], [1]], level="sequence"))
    assert fm.token_nll(WITH_EMPTY, level="sequence", empty="skip") == 2.0
    assert fm.token_nll(WITH_EMPTY, level="sequence", empty="skip", reduction="sum") == 4.0
    means = fm.token_nll(WITH_EMPTY, level="sequence", empty="skip", reduction="none")
    np.testing.assert_array_equal(means, [1.5, math.nan, 2.5])
    assert fm.perplexity(WITH_EMPTY, level="sequence", empty="skip") == (math.exp(1.5) + math.exp(2.5)) / 2
    assert_raises(
        ValueError, "log_probs has sequence 1 without a token that counts",
        fm.perplexity, WITH_EMPTY, level="sequence", empty="raise",
    )


@pytest.mark.parametrize(("values", "options"), [([[], []], {}), ([[-1.0, -2.0]], {"mask": [[0, 0]]})])
def test_no_token_at_all(values, options):
    for function in (fm.perplexity, fm.token_nll):
        with pytest.warns(fm.UndefinedMetricWarning, match="there is no token") as caught:
            assert math.isnan(function(values, **options))
        assert caught[0].filename == __file__
        assert_undefined("no sequence has a token", function, values, level="sequence", empty="skip", **options)
    assert fm.token_nll(values, reduction="sum", **options) == 0.0


def test_no_probability_is_infinite():
    for level in ("token", "sequence"):
        assert fm.perplexity([[-1.0, -math.inf], [-1.0]], level=level) == math.inf
        assert fm.perplexity([[-800.0], [-1.0]], level=level, base=10) == math.inf or level == "token"
    assert fm.token_nll([[-1.0, -math.inf], [-1.0]], level="sequence", reduction="none").tolist() == [math.inf, 1.0]
    assert fm.perplexity([[-math.inf, -1.0]], mask=[[0, 1]]) == math.e


# -------------------------------------------------------------------------------------------------------- bad input


@each_case(
    ("values", "options", "message"),
    [
        ([[-1.0], [-1.0, 0.25]], {}, "log_probs[1][1] is 0.25, but log-probabilities are at most 0; pass np.log"),
        ([[-1.0], [-1.0, 2.5]], {}, "log_probs[1][1] is 2.5, but log-probabilities are at most 0"),
        ([[-1.0], [math.nan]], {}, "log_probs[1][0] is NaN; mask tokens that have no log-probability"),
        ([[-1.0], [math.inf]], {}, "log_probs[1][0] is inf"),
        ([-1.0, 0.5], {}, "log_probs[1] is 0.5"),
        ([-1.0, -1.0, 0.5], {"offsets": [0, 1, 1, 3]}, "log_probs[2] (sequence 2, token 1) is 0.5"),
        (np.array([[-1.0, 0.5]]), {"mask": [[1, 1]]}, "log_probs[0][1] is 0.5"),
        (pa.array([[7.0], [-1.0], [0.5]])[1:], {}, "log_probs[1][0] is 0.5"),
        ([[None, -1.0]], {}, "log_probs[0][0] is None: a number is needed"),
        ([[-1.0], ["a"]], {}, "log_probs[1][0] is 'a': a number is needed"),
        ([[-1.0], [[-1.0]]], {}, "log_probs[1][0] is [-1.0]: a number is needed"),
        ([[-1.0], None], {}, "log_probs[1] is None: a sequence of numbers is needed"),
        ([[-1.0], "ab"], {}, "log_probs[1] is 'ab': a sequence of numbers is needed"),
        ([-1.0, None], {}, "log_probs[1] is None: a number is needed"),
        (pa.array([[-1.0], None]), {}, "log_probs[1] is null"),
        (pa.array([[-1.0], [-1.0, None]]), {}, "log_probs[1][1] is null"),
        (np.zeros((2, 3, 4)), {}, "one or two dimensions; found shape (2, 3, 4)"),
        ("text", {}, "log_probs must be an array of rows; found str"),
        (None, {}, "log_probs must be an array of rows; found NoneType"),
        ([], {}, "log_probs is empty: at least one sequence is needed"),
        (np.empty(0), {}, "log_probs is empty"),
        (np.empty((0, 3)), {}, "log_probs is empty"),
        ([[-1.0]], {"mask": [[1], [1]]}, "mask has 2 sequences but log_probs has 1"),
        ([[-1.0], [-2.0]], {"mask": [[1], [1, 1]]}, "mask[1] has 2 tokens but log_probs[1] has 1"),
        (np.zeros((2, 3)), {"mask": np.ones((2, 2), bool)}, "mask[0] has 2 tokens but log_probs[0] has 3"),
        ([-1.0, -1.0], {"mask": [True]}, "mask has 1 tokens but log_probs has 2"),
        ([[-1.0, -1.0]], {"mask": [[1, 2]]}, "mask[0][1] is 2: a mask holds True and False, or 1 and 0"),
        ([[-1.0]], {"mask": [[0.5]]}, "mask must hold True and False, or 1 and 0; found float64"),
        ([-1.0, -1.0], {"offsets": [0, 2, 1, 2]}, "offsets must not decrease; offsets[2] is 1 after 2"),
        ([-1.0, -1.0], {"offsets": [0, 3]}, "offsets must go from 0 to 2, the number of tokens of log_probs; found 0"),
        ([-1.0, -1.0], {"offsets": [1, 2]}, "offsets must go from 0 to 2"),
        ([-1.0, -1.0], {"offsets": [0.0, 2.0]}, "offsets must be integers in one dimension"),
        ([[-1.0]], {"offsets": [0, 1]}, "log_probs must have one dimension if offsets are given"),
        ([-1.0], {"level": "word"}, "level must be one of 'token', 'sequence'; found 'word'"),
        ([-1.0], {"base": 3}, "base must be one of 'e', 2, 10; found 3"),
        ([-1.0], {"base": True}, "base must be one of"),
        ([-1.0], {"empty": "zero", "level": "sequence"}, "empty must be one of"),
        ([-1.0], {"empty": "skip"}, "empty='skip' needs level='sequence'"),
        ([-1.0], {"n_threads": 0}, "n_threads must be"),
    ],
    ids=str,
)
def test_errors(values, options, message):
    for function in (fm.perplexity, fm.token_nll, partial(fm.token_nll, reduction="none")):
        with pytest.raises((ValueError, TypeError)) as caught:
            function(values, **options)
        assert message in str(caught.value)


def test_masked_values_are_ignored():
    assert fm.token_nll([[-1.0, math.nan], [5.0, -3.0]], mask=[[1, 0], [0, 1]]) == 2.0
    assert fm.token_nll([[-1.0, math.nan], [5.0, -3.0]], mask=[[1, 0], [0, 1]], reduction="none").tolist() == [1.0, 3.0]


def test_errors_name_the_first_bad_token_with_any_number_of_threads():
    values = np.full(500_000, -1.0, np.float32)
    values[[131_082, 400_000]] = 0.5
    offsets = np.arange(0, 500_001, 10)
    for n_threads in (1, 3):
        for level in ("token", "sequence"):
            assert_raises(
                ValueError, r"log_probs\[131082\] \(sequence 13108, token 2\) is 0\.5",
                fm.perplexity, values, offsets=offsets, level=level, n_threads=n_threads,
            )


def test_inputs_are_not_written_to():
    values, mask = np.array([[-1.0, -2.0]]), np.array([[1, 0]])
    for array in (values, mask):
        array.flags.writeable = False
    assert fm.token_nll(values, mask=mask) == 1.0


def test_unknown_reduction():
    assert_raises(
        ValueError, "reduction must be one of 'mean', 'sum', 'none'; found 'max'", fm.token_nll, [-1.0], reduction="max"
    )
