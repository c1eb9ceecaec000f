"""Rows of buckets and of groups in the order of their scores, and the pairs of their slices, beside plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmetrics._core.columns.row_blocks import UnpooledScratch
from fastmetrics._core.exchange.range_exchange import ordered_keys
from fastmetrics._kernels.columns.column_blocks import ColumnBlocks
from fastmetrics._kernels.exchange import slice_cells, slice_rows
from fastmetrics._kernels.exchange.partition_groups import PartitionedRows, PartitionGroups
from support.cases import each_case

ROW = (1 << 30) - 1
TIED = 1 << 30
POSITIVE = 1 << 31


def order_bucket(blocks, dtype):
    """The words and the codes of the second of three buckets; `blocks` are scores and labels."""
    random = np.random.default_rng(1)
    keys, codes, offsets = [], [], []
    for scores, labels in blocks:
        # A row is before the bucket, and one behind it.
        order = np.argsort(labels, kind="stable")
        inside = ordered_keys(np.asarray(scores, dtype)[order])
        keys.append(np.concatenate(([0], inside, [1])).astype(inside.dtype))
        codes.append(random.integers(0, 60_000, (2, len(inside) + 2)).astype(np.uint16))
        n_negatives = len(labels) - int(np.sum(labels))
        offsets.append([0, 1, 1, 1 + n_negatives, 1 + len(labels), 2 + len(labels), 2 + len(labels)])
    rows = sum(len(labels) for _, labels in blocks)
    found_codes, ordered = np.zeros((2, rows), np.uint16), np.zeros(rows, np.uint32)
    code_columns = [ColumnBlocks([own[column] for own in codes]) for column in range(2)]
    n = slice_rows.order_bucket(
        ColumnBlocks(keys), code_columns, np.array(offsets, np.int32), 1, np.zeros((3, max(1, rows)), np.uint64),
        np.zeros(max(1, rows), np.uint16), found_codes, ordered,
    )  # fmt: skip
    assert n == rows
    spans = [(own, codes_of, *span[2:5]) for own, codes_of, span in zip(keys, codes, offsets, strict=True)]
    gathered = [np.concatenate([own[start:stop] for own, _, start, stop, _ in spans])]
    gathered += [np.concatenate([own[start:stop] for own, _, _, start, stop in spans])]
    codes_of_class = [np.concatenate([codes_of[:, start:stop] for _, codes_of, start, stop, _ in spans], axis=1)]
    codes_of_class += [np.concatenate([codes_of[:, start:stop] for _, codes_of, _, start, stop in spans], axis=1)]
    return ordered, found_codes, gathered, np.concatenate(codes_of_class, axis=1)


def assert_ordered(blocks, dtype="float64"):
    ordered, codes, (negatives, positives), expected_codes = order_bucket(blocks, dtype)
    keys = np.concatenate((negatives, positives))
    classes = np.arange(len(keys)) >= len(negatives)
    expected = np.lexsort((np.arange(len(keys)), classes, keys))
    assert (ordered & ROW).tolist() == expected.tolist()
    assert ((ordered & POSITIVE) > 0).tolist() == classes[expected].tolist()
    in_order = keys[expected]
    assert ((ordered & TIED) > 0).tolist() == [False, *(in_order[1:] == in_order[:-1])][: len(keys)]
    assert np.array_equal(codes, expected_codes[:, expected])


SCORES = st.lists(
    st.tuples(
        st.one_of(
            st.floats(allow_nan=False, width=32),
            st.sampled_from([0.0, -0.0, 5e-324, 0.5, 1.0, float("inf"), float("-inf")]),
            st.floats(0.5, 0.5000000001),
        ),
        st.booleans(),
    ),
    max_size=60,
)


class TestBuckets:
    @given(st.lists(SCORES, min_size=1, max_size=3), st.sampled_from(["float64", "float32"]))
    def test_any_rows(self, blocks, dtype):
        assert_ordered([([score for score, _ in own], [label for _, label in own]) for own in blocks], dtype)

    @each_case("scores", ["uniform", "ties", "dense", "dense and far", "all magnitudes", "one", "neighbors"])
    @each_case("dtype", ["float64", "float32"])
    def test_many_rows(self, scores, dtype):
        random = np.random.default_rng(2)
        rows = 20_000
        drawn = {
            "uniform": random.random(rows) / 1000 + 0.5,
            "ties": random.integers(0, 300, rows) / 300,
            "dense": 0.25 + random.integers(0, 5000, rows) * 2.0**-53,
            # One row of another magnitude: the upper bits separate none of the others.
            "dense and far": np.append(0.25 + random.random(rows - 1) * 2.0**-30, -1e300),
            "all magnitudes": np.exp(random.uniform(-700, 700, rows)),
            "one": np.full(rows, 0.1),
            "neighbors": 1 + random.integers(0, 2, rows) * 2.0**-52,
        }[scores]
        with np.errstate(over="ignore"):
            drawn = drawn.astype(dtype)
        labels = random.random(rows) < 0.3
        assert_ordered([(drawn[:7000], labels[:7000]), (drawn[7000:], labels[7000:])], dtype)

    def test_an_empty_bucket(self):
        ordered, codes, _, _ = order_bucket([([], [])], "float64")
        assert not ordered.size
        assert not codes.size


def pairs_of_slices(groups, numbers, n_slices):
    """Twice the pairs won of every slice of every group, by a loop over all pairs."""
    found = {}
    for group, (scores, labels) in enumerate(groups):
        for number in range(n_slices):
            own = [
                (score, label) for score, label, of_row in zip(scores, labels, numbers[group], strict=True)
                if of_row == number
            ]  # fmt: skip
            if own:
                wins = sum(
                    2 * (positive > negative) + (positive == negative)
                    for positive, is_positive in own if is_positive
                    for negative, is_other in own if not is_other
                )  # fmt: skip
                found[group, number] = (len(own) - sum(label for _, label in own), sum(label for _, label in own), wins)
    return found


def without_pairs(cells, n_slices):
    """By slice: the cells without positives, those without negatives, and the rows of both kinds."""
    found = np.zeros((n_slices, 4), np.int64)
    for (_, number), (negatives, positives, _) in cells.items():
        if not negatives or not positives:
            found[number] += (not positives, not negatives, negatives * (not positives), positives * (not negatives))
    return found.tolist()


def count_pairs(groups, numbers, n_slices, dtype, only_pairs=False):
    """The same by the kernels, and the counts of the cells that are not listed."""
    random = np.random.default_rng(3)
    keys = np.repeat(np.arange(1, len(groups) + 1, dtype=np.uint64) << np.uint64(40), [len(own[0]) for own in groups])
    order = random.permutation(len(keys))
    scores = np.concatenate([np.asarray(own[0], dtype) for own in groups])[order].copy()
    labels = np.concatenate([np.asarray(own[1], np.uint8) for own in groups])[order].copy()
    codes = np.concatenate([np.asarray(own, np.uint16) for own in numbers])[order].copy()
    hashes = keys[order].copy()
    rows = len(keys)
    columns = [ColumnBlocks([column]) for column in (hashes, labels, scores, codes)]
    own_rows = PartitionedRows(
        np.array([[0, rows]], np.int32), columns[0], None, None, [columns[1]], [columns[2]], None, None
    )
    allocate = UnpooledScratch().array
    found_groups = PartitionGroups(own_rows, rows, allocate, [(0, 0)])
    ordered = slice_cells.OrderedGroups(found_groups, [columns[3]], allocate)
    ordered.order(0, 1)
    assert (ordered.n_groups, ordered.n_rows) == (len(groups), rows)
    one_class = np.zeros((1, n_slices if only_pairs else 0, 4), np.int64)
    counter = slice_cells.SliceCellCounter(found_groups, allocate)
    first, end = counter.count(ordered, ordered.codes[0], n_slices, one_class if only_pairs else None)
    cells = {
        (int(counter.hashes[cell] >> np.uint64(40)) - 1, number): (
            *counter.class_counts[0, cell].tolist(), int(counter.wins[0, cell]),
        )
        for number, (start, stop) in enumerate(zip(first[:-1].tolist(), end[:-1].tolist(), strict=True))
        for cell in range(start, stop)
    }  # fmt: skip
    return cells, one_class[0].tolist()


def check_pairs(groups, numbers, n_slices, dtype):
    """Check the kernels: with all cells, and with those that have pairs."""
    expected = pairs_of_slices(groups, numbers, n_slices)
    assert count_pairs(groups, numbers, n_slices, dtype) == (expected, [])
    with_pairs = {key: cell for key, cell in expected.items() if cell[0] and cell[1]}
    counted = without_pairs(expected, n_slices)
    assert count_pairs(groups, numbers, n_slices, dtype, only_pairs=True) == (with_pairs, counted)


class TestGroups:
    @given(
        st.lists(
            st.lists(
                st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0]), st.booleans(), st.integers(0, 2)),
                min_size=1, max_size=40,
            ),
            min_size=1, max_size=6,
        ),
        st.sampled_from(["float64", "float32"]),
    )  # fmt: skip
    def test_any_rows(self, drawn, dtype):
        groups = [([row[0] for row in own], [row[1] for row in own]) for own in drawn]
        numbers = [[row[2] for row in own] for own in drawn]
        check_pairs(groups, numbers, 3, dtype)

    @pytest.mark.parametrize("n_positives", [0, 1, 2, 7, 8, 9, 30, 59, 60])
    @pytest.mark.parametrize("n_values", [1, 3, 1000])
    def test_few_and_many_positives(self, n_positives, n_values):
        random = np.random.default_rng(n_positives)
        groups, numbers = [], []
        for _ in range(20):
            scores = random.integers(0, n_values, 60) / n_values
            groups.append((scores.tolist(), (random.permutation(60) < n_positives).tolist()))
            numbers.append(random.integers(0, 4, 60).tolist())
        check_pairs(groups, numbers, 4, "float64")


class TestPairs:
    @pytest.mark.parametrize("n_slices", [1, 5])
    def test_rows_in_two_calls(self, n_slices):
        random = np.random.default_rng(4)
        scores = np.sort(random.integers(0, 50, 400))
        labels = random.random(400) < 0.4
        order = np.lexsort((labels, scores))
        scores, labels = scores[order], labels[order]
        numbers = random.integers(0, n_slices, 400).astype(np.uint16)
        tied = np.append(False, scores[1:] == scores[:-1])
        words = np.arange(400, dtype=np.uint32) | labels.astype(np.uint32) << 31 | tied.astype(np.uint32) << 30
        pairs = np.zeros((n_slices, slice_rows.N_FIELDS), np.int64)
        middle = int(np.flatnonzero(~tied)[20])  # a run of equal scores is never cut
        run = slice_rows.add_ordered(words[:middle], numbers[:middle], 0, pairs)
        assert slice_rows.add_ordered(words[middle:], numbers[middle:], run, pairs) == len(np.unique(scores))
        expected = pairs_of_slices([(scores.tolist(), labels.tolist())], [numbers.tolist()], n_slices)
        found = pairs[:, [slice_rows.NEGATIVES, slice_rows.POSITIVES, slice_rows.WINS]].tolist()
        assert {(0, number): tuple(own) for number, own in enumerate(found)} == expected


class TestFirstRows:
    def test_codes_inside_and_outside(self):
        first_rows = np.empty(4, np.int64)
        slice_rows.find_first_rows(np.array([2, 0, 2, 7, -1, 0, 3]), first_rows)
        assert first_rows.tolist() == [1, -1, 0, 6]
