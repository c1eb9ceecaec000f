"""Kernels refuse what does not fit: lengths, ranges of rows, and numbers that say where to read or write."""

import numpy as np
import pytest

from fastmetrics._core.columns.row_blocks import UnpooledScratch
from fastmetrics._kernels.classification import label_counts, label_weights
from fastmetrics._kernels.clustering import distances
from fastmetrics._kernels.columns import delta_packing, label_encoding
from fastmetrics._kernels.columns.column_blocks import ColumnBlocks
from fastmetrics._kernels.columns.text_codes import TextCodes
from fastmetrics._kernels.detection import coco_dicts, coco_json, image_category_groups, masks, matching, voc_matching
from fastmetrics._kernels.exchange import hash_partition, slice_cells, slice_rows, tuple_keys
from fastmetrics._kernels.exchange.key_counts import KeyHashTable
from fastmetrics._kernels.exchange.partition_groups import PartitionedRows, PartitionGroups
from fastmetrics._kernels.formats import csv_quotes, trec_files
from fastmetrics._kernels.numeric import elementary, sums
from fastmetrics._kernels.ranking import grouped_auc, list_means, ranked_lists, run_qrels_join
from fastmetrics._kernels.regression import grouped_errors
from fastmetrics._kernels.resampling import poisson_weights
from fastmetrics._kernels.significance import delong_placements
from fastmetrics._kernels.sweep import curve_points
from fastmetrics._kernels.text import chrf_ngrams, meteor_alignment, nist
from fastmetrics._kernels.text.ngram_matcher import NgramMatcher
from fastmetrics._kernels.text.tokens import arrow_text_rows, stemmer, tokenizers
from fastmetrics._kernels.text.tokens.vocabulary import Vocabulary
from support.cases import each_case

NEWLINES = np.full(99, 10, np.uint8)
allocate = UnpooledScratch().array
NO_BYTES, NO_ROWS = np.empty(0, np.uint8), np.empty(0, np.int64)
ONE, TWO = np.array([0, 1]), np.array([0, 2])


def zeros(*shape, dtype="i8"):
    return np.zeros(shape, dtype)


def blocks(*dtypes, rows=4):
    return [ColumnBlocks([np.zeros(rows, dtype)]) for dtype in dtypes]


def rows_of(offsets=((0, 2, 4),), label="u1", score="f8", weights=None, slices=None, rows=4):
    hashes, labels, scores = blocks("u8", label, score, rows=rows)
    return PartitionedRows(np.array(offsets, np.int32), hashes, None, None, [labels], [scores], weights, slices)


def groups_of(most=4, outputs=((0, 0),), **options):
    return PartitionGroups(rows_of(**options), most, allocate, list(outputs))


def lists_of(offsets=TWO, order=None, **options):
    columns = {"scores": zeros(2, dtype="f8"), "grades": zeros(2, dtype="u1")} | options
    return ranked_lists.ListColumns(columns["scores"], columns["grades"], offsets, zeros(0, dtype="f8"), NO_ROWS, order)


def parse_lines(data, n_rows):
    spans = zeros(5, n_rows)
    trec_files.parse_lines(
        data, 0, len(data) - trec_files.PADDING, 0, *spans[:2], spans[2], *spans[3:], zeros(n_rows),
        zeros(trec_files.N_STATE),
    )  # fmt: skip


def measures_of(kind=1, k=0, ideal=0):
    return ranked_lists.Measures(np.array([[kind, k, 0, ideal, 0]]), np.ones((1, 2)))


def measure(lists=None, ties=0, ranks=10, stop=1, values=1, **options):
    ranked_lists.measure_lists(
        lists or lists_of(), measures_of(**options), ranked_lists.RankWeights(2.0, ranks, 100), ties, 0.0, 9.0, False,
        0, stop, np.empty((values, 1)), zeros(1, ranked_lists.N_COUNTS),
    )  # fmt: skip


def join(spans=((0, 1, 0, 1),), judged=None, unretrieved=1):
    items = run_qrels_join.ItemColumn(zeros(1))
    run_qrels_join.join(
        items, judged or items, zeros(1, dtype="f8"), np.array(spans), zeros(1), 0, 1, np.empty(1),
        np.empty(unretrieved), zeros(1), zeros(1, 2),
    )  # fmt: skip


def ordered_groups():
    groups = groups_of()
    ordered = slice_cells.OrderedGroups(groups, blocks("u2"), allocate)
    ordered.order(0, 2)
    return groups, ordered


def count_cells(numbers, n_slices):
    groups, ordered = ordered_groups()
    slice_cells.SliceCellCounter(groups, allocate).count(ordered, np.array(numbers, np.uint16), n_slices, None)


def grouped(truth_rows=(0,), iou_starts=(0, 1)):
    return image_category_groups.GroupedRows(ONE, np.array(truth_rows), ONE, zeros(1), np.array(iou_starts))


def match_groups(**options):
    objects = matching.ObjectColumns(np.ones(1), zeros(1, dtype="u1"), zeros(1, dtype="u1"))
    criteria = matching.Criteria(np.array([0.5]), np.array([[0.0, 9.0]]))
    bits, no_matches = zeros(1, dtype="u8"), np.empty((0, 1, 1), np.int32)
    matching.match_groups(
        0, 1, grouped(**options), np.ones(1), objects, np.ones(1), criteria, bits, bits, no_matches, no_matches
    )


def points(rows=(0, 1), sums_of_slots=None):
    space = distances.PointDistances(np.zeros((2, 3)), distances.ROOT, 1.0, 2, 0)
    memory = distances.TileMemory(space, distances.PANEL_F64)
    slots = np.full(distances.PANEL_F64, -1)
    slots[: len(rows)] = rows
    strip = distances.PointStrip(slots, zeros(1), np.array([len(rows)]))
    distances.pair_sums(space, strip, sums_of_slots, strip, sums_of_slots, memory)


WRONG = {
    "blocks of two widths": lambda: ColumnBlocks([zeros(2), zeros(2, dtype="u1")]),
    "partitions beyond the rows": lambda: rows_of(offsets=((0, 2, 5),)),
    "partitions that fall": lambda: rows_of(offsets=((0, 3, 2),)),
    "an output of no columns": lambda: groups_of(outputs=[(0, 1)]),
    "a score of bytes": lambda: groups_of(score="u1"),
    "no such partition": lambda: groups_of().find(2),
    "no slices": lambda: groups_of().find(0, True),
    "too many rows for the groups": lambda: groups_of(most=1).find(0),
    "pairs of grades": lambda: grouped_auc.GroupPairCounter(groups_of(label="f8"), allocate),
    "pairs of no partition": lambda: grouped_auc.GroupPairCounter(groups_of(), allocate).count(0, 3),
    "errors of one column": lambda: grouped_errors.GroupErrors(groups_of(), allocate),
    "gauc of too few words": lambda: grouped_auc.auc_terms(
        zeros(1, 2), zeros(1, dtype="u8"), np.empty(0), 0, False, None, zeros(1, 2, 3), zeros(1, 6)
    ),
    "means beyond the lists": lambda: list_means.mean_terms(
        np.ones(2), np.empty(0), True, 0.0, np.array([0, 3]), zeros(1, 2, sums.STATE_SIZE), zeros(1, 2)
    ),
    "grouped by measures of too few ranks": lambda: ranked_lists.GroupMeasurer(
        groups_of(), measures_of(), ranked_lists.RankWeights(2.0, 1, 1), 0, allocate
    ),
    "an unknown measure": lambda: measures_of(kind=99),
    "a negative cutoff": lambda: measures_of(k=-1),
    "lists beyond the rows": lambda: lists_of(offsets=np.array([0, 3])),
    "lists that fall": lambda: lists_of(offsets=np.array([0, 2, 1, 2])),
    "scores of integers": lambda: lists_of(scores=zeros(2)),
    "too few keys": lambda: lists_of(order=zeros(1, dtype="u8")),
    "texts beyond the data": lambda: lists_of(order=(NO_BYTES, zeros(2), np.ones(2, np.int64))),
    "no such list": lambda: measure(stop=2),
    "no place for a measure": lambda: measure(values=0),
    "ties by items without items": lambda: measure(ties=5),
    "no such rule for ties": lambda: measure(ties=7),
    "weights of too few ranks": lambda: measure(ranks=1),
    "weights up to a cutoff": lambda: measure(k=1000, ideal=1),
    "a list beyond the run": lambda: join(spans=((0, 2, 0, 1),)),
    "no place for unretrieved items": lambda: join(unretrieved=0),
    "items of two kinds": lambda: join(judged=run_qrels_join.ItemColumn(zeros(1, dtype="u1"), zeros(1), zeros(1))),
    "items beyond the data": lambda: run_qrels_join.ItemColumn(NO_BYTES, zeros(1), np.ones(1, np.int64)),
    "segments of no query": lambda: run_qrels_join.sort_by_query(zeros(1), 1, np.ones(1, np.int64), zeros(2), zeros(1)),
    "a slice that is not there": lambda: count_cells([0, 1, 2, 0], 2),
    "too few numbers of slices": lambda: count_cells([0], 2),
    "a bucket that is not there": lambda: slice_rows.order_bucket(
        *blocks("u8"), [], zeros(1, 3, dtype="i4"), 1, zeros(3, 4, dtype="u8"), zeros(4, dtype="u2"),
        zeros(0, 4, dtype="u2"), zeros(4, dtype="u4"),
    ),
    "numbers beyond the pairs": lambda: slice_rows.add_ordered(
        zeros(1, dtype="u4"), np.ones(1, np.uint16), 0, zeros(1, slice_rows.N_FIELDS)
    ),
    "a row of no partition": lambda: hash_partition.partition_block(
        np.full(2, 2**63, np.uint64), 62, 0, zeros(3, dtype="i4"), zeros(2, dtype="u4")
    ),
    "too few destinations": lambda: hash_partition.partition_block(
        zeros(2, dtype="u8"), 62, 0, zeros(3, dtype="i4"), zeros(1, dtype="u4")
    ),
    "segments beyond a block": lambda: hash_partition.scatter_segments(
        *blocks("u8"), np.array([3]), np.array([2]), zeros(2, dtype="u4"), zeros(2, dtype="u8")
    ),
    "segments to be ordered beyond a block": lambda: hash_partition.order_segments(
        *blocks("u8"), np.array([3]), np.array([2]), 0, 0, zeros(2, dtype="u4"), zeros(2, dtype="u4")
    ),
    "too few destinations of an order": lambda: hash_partition.order_segments(
        *blocks("u8"), np.array([0]), np.array([2]), 0, 0, zeros(2, dtype="u4"), zeros(1, dtype="u4")
    ),
    "too few words of an order": lambda: hash_partition.order_segments(
        *blocks("u8"), np.array([0]), np.array([2]), 0, 0, zeros(1, dtype="u4"), zeros(2, dtype="u4")
    ),
    "more rows than an order has": lambda: hash_partition.order_segments(
        ColumnBlocks([zeros(1 + 2**21, dtype="u8")]), np.array([0]), np.array([1 + 2**21]), 0, 0,
        zeros(1 + 2**21, dtype="u4"), zeros(1 + 2**21, dtype="u4"),
    ),
    "destinations beyond the result": lambda: hash_partition.scatter(
        zeros(2, dtype="u8"), np.array([0, 2], np.uint32), zeros(2, dtype="u8")
    ),
    "slices beyond their starts": lambda: hash_partition.order_by_slice(
        np.array([0, 2], np.uint16), zeros(3), zeros(2, dtype="u4")
    ),
    "texts beyond their bytes": lambda: hash_partition.make_text_slots(
        NO_BYTES, np.array([0, 20]), *zeros(3, 1, dtype="u8"), zeros(1)
    ),
    "tuples of too few rows": lambda: tuple_keys.encode_tuples(
        np.array([tuple_keys.INT64], np.uint8), blocks("i8", rows=1), [None], zeros(3), zeros(99, dtype="u1")
    ),
    "unit buckets beyond their starts": lambda: poisson_weights.order_by_unit_bucket(
        np.array([2], np.int32), zeros(3), zeros(1, dtype="u4")
    ),
    "sums of no number": lambda: sums.add_by_number(np.ones(1), np.array([-1], np.int32), zeros(1, sums.STATE_SIZE)),
    "counts of no number": lambda: sums.count_by_number(np.array([3], np.int32), None, zeros(3, 1)),
    "numbers of other lengths": lambda: sums.add_numbers(np.zeros((3, 2)), np.zeros((3, 4)), 1.0, np.zeros((3, 4))),
    "products of too few parts": lambda: sums.multiply_numbers(np.zeros((3, 2)), np.zeros((3, 2)), np.zeros((2, 2))),
    "quotients of two parts": lambda: sums.round_quotients(np.zeros((2, 2)), np.zeros((3, 2)), np.zeros(2)),
    "numbers to round into less": lambda: sums.round_numbers(np.zeros((3, 2)), np.zeros(1)[:0]),
    "limbs without units": lambda: sums.load_limbs(zeros(2, 3), np.ones(2), np.zeros((3, 2))),
    "a sum that states do not have": lambda: sums.load_numbers(zeros(2, 1, sums.STATE_SIZE), 1, np.zeros((3, 2))),
    "a sum of too few words": lambda: sums.sum_values(np.ones(1), None, zeros(3)),
    "no place for a logarithm": lambda: elementary.log(np.ones(2), np.empty(1)),
    "margins of no code": lambda: label_counts.count_margins(np.array([3]), zeros(1), 0, 1, zeros(3, 3)),
    "weights of no cell": lambda: label_weights.order_weights(
        np.array([2]), None, 0, np.ones(1), zeros(4), np.empty(1)
    ),
    "deltas that are longer than the memory": lambda: delta_packing.pack_deltas(
        ColumnBlocks([np.arange(9)]), zeros(9, dtype="u1")
    ),
    "a label beyond the table": lambda: label_encoding.mark_labels(np.array([9]), 0, 1, 0, zeros(3, dtype="u1")),
    "a table that is full": lambda: label_encoding.encode_integers(
        zeros(1), 0, 1, zeros(4, dtype="i4"), zeros(4), 0, zeros(1, dtype="i4")
    ),
    "points beyond a range": lambda: curve_points.CurveRange(zeros(2, dtype="u8"), 0, 2, 3),
    "points beyond the result": lambda: curve_points.CurveRange(zeros(2, dtype="u8"), 0, 1, 2).write(
        curve_points.COUNTS, 0, 0, 1, 1, np.empty(1), np.empty(1), np.empty(1), 1, 1
    ),
    "placements of no bucket": lambda: delong_placements.bucket_placements(
        *blocks("u8"), ColumnBlocks([zeros(4, dtype="u4")], True), zeros(1, 3, dtype="i4"), 1, 0, 0,
        *zeros(2, 5, dtype="u8"), zeros(delong_placements.TABLE_ENTRIES, dtype="u4"), zeros(20, dtype="u4"),
    ),
    "matrices of no pairs": lambda: grouped(iou_starts=(0, 2)),
    "an object that is not there": lambda: match_groups(truth_rows=(1,)),
    "too many criteria": lambda: matching.Criteria(np.ones(65), np.array([[0.0, 9.0]])),
    "detections that are not there": lambda: voc_matching.match(
        zeros(5, 1, dtype="f8"), zeros(1), zeros(1, dtype="u1"), 0, 1, zeros(1, 5, dtype="f8"), zeros(1), np.array([1]),
        0.5, 0.0, zeros(1, dtype="u1"), zeros(1, dtype="i1"),
    ),
    "masks beyond their counts": lambda: masks.MaskColumns(zeros(1, dtype="u4"), TWO, zeros(1, 2)),
    "a point that is not there": lambda: points(rows=(0, 2), sums_of_slots=np.zeros((2, 1, distances.PANEL_F64))),
    "sums of no slots": lambda: points(sums_of_slots=np.zeros((2, 1, 1))),
    "clusters beyond their sizes": lambda: distances.sort_rows(np.array([2]), zeros(2), zeros(2), zeros(1)),
    "texts beyond their points": lambda: chrf_ngrams.ChrfCounter(6, 0, False, 4.0, False).count(
        zeros(1, dtype="u4"), np.array([0, 1, 3]), TWO, zeros(1, 18)
    ),
    "too many orders": lambda: chrf_ngrams.ChrfCounter(600, 0, False, 4.0, False),
    "a segment without a reference": lambda: nist.match_segments(
        zeros(1), ONE, ONE, 2, NgramMatcher(), zeros(1, dtype="u4"), zeros(2), zeros(1, dtype="u4"),
        zeros(1, dtype="u2"), zeros(1, 6),
    ),
    "a text that is no part of its column": lambda: arrow_text_rows.decode_rows(
        *[arrow_text_rows.TextSpans(NO_BYTES, zeros(1), np.array([5]))] * 2, None, None, 0, zeros(9, dtype="u4"),
        zeros(3), zeros(2), zeros(4),
    ),
    "words beyond their points": lambda: Vocabulary().number(zeros(1, dtype="u4"), TWO, 1, zeros(1)),
    "words that were never numbered": lambda: Vocabulary().copy_words(3, zeros(1, dtype="u4"), zeros(1)),
    "no such tokenizer": lambda: tokenizers.split(
        7, zeros(1, dtype="u4"), ONE, zeros(1, dtype="u4"), zeros(2), zeros(2)
    ),
    "stems of falling offsets": lambda: stemmer.stem_words(
        zeros(2, dtype="u4"), np.array([2, 0, 2]), 0, 2, zeros(2, dtype="u4"), zeros(3)
    ),
    "a code of no text": lambda: TextCodes().encode(NO_BYTES, zeros(1), np.array([3]), zeros(1)),
    "an entry beyond its text": lambda: KeyHashTable(1, 3).add_entries(
        np.array([[0, 99, 5, 1]], np.uint64), zeros(20, dtype="u1"), 0
    ),
    "quotes without a place": lambda: csv_quotes.find_end_of_rows(NEWLINES, 0, 34, 44, -1, zeros(2)),
    "a line without an end": lambda: parse_lines(np.full(99, 65, np.uint8), 1),
    "lines without rows": lambda: parse_lines(np.frombuffer(b"a 0 b 1\n" * 20, np.uint8), 2),
    "a score beyond its line": lambda: trec_files.finish_scores(NEWLINES, np.array([3]), np.array([np.nan])),
    "text without zeros behind it": lambda: coco_json.skip_space(NEWLINES, 0),
    "cells of other fields": lambda: coco_json.read_rows(
        zeros(99, dtype="u1"), 0, np.frombuffer(b"id", np.uint8), np.array([2]), np.array([coco_json.BOX]),
        zeros(1, 3), zeros(1, dtype="u8"), zeros(99, 3), zeros(coco_json.N_STATE),
    ),
    "numbers of no column": lambda: coco_dicts.read_rows(
        [{"a": 1}], 0, ["a"], [], [], zeros(0, 1), np.zeros((0, 1)), np.zeros((0, 1, 4)), zeros(1, dtype="u8")
    ),
    "no place for runs": lambda: masks.runs_of_pixels(np.array([0, 1, 0], np.uint8), zeros(2, dtype="u4")),
    "a pixel that is neither 0 nor 1": lambda: masks.runs_of_pixels(np.array([2], np.uint8), zeros(9, dtype="u4")),
    "pixels beyond the mask": lambda: masks.fill_pixels(
        np.array([9], np.uint32), ONE, 4, zeros(4, dtype="u1"), 0, 1
    ),
    "a mask without a height": lambda: masks.measure(
        np.array([1, 3], np.uint32), TWO, zeros(1, 2), zeros(1), np.empty((1, 4)), 0, 1
    ),
    "no place for a polygon": lambda: masks.draw(
        np.array([0.0, 0, 9, 0, 9, 9]), np.array([0, 3]), ONE, np.array([[9, 9]]), ONE, zeros(1, dtype="u4"), zeros(1),
        0, 1,
    ),
    "counts that overlap": lambda: masks.close_gaps(zeros(4, dtype="u4"), zeros(3), np.array([2, 2])),
    "words without stems": lambda: meteor_alignment.Aligner([meteor_alignment.STEM], False).count(
        zeros(2), np.arange(3), TWO, np.array([7]), (zeros(1, dtype="u4"), ONE), (zeros(1, dtype="u4"), ONE), 0.9, 3.0,
        0.5, zeros(1, 4),
    ),
}  # fmt: skip


@each_case("name", WRONG)
def test_arguments_that_do_not_fit(name):
    with pytest.raises(ValueError, match=r"\w"):
        WRONG[name]()


def test_starts_that_were_used_before():
    """Memory that a kernel counts in is cleared by the kernel."""
    starts, order = np.array([5, 70_000, -3]), np.empty(3, np.uint32)
    poisson_weights.order_by_unit_bucket(np.array([1, 0, 1], np.int32), starts, order)
    assert (starts.tolist(), order.tolist()) == ([0, 1, 3], [1, 0, 2])


def test_blocks_outlive_their_list():
    """A column keeps its arrays, whoever else forgets them."""
    hashes = np.arange(4, dtype=np.uint64)
    column = ColumnBlocks([hashes.copy()])
    out = np.empty(4, np.uint64)
    hash_partition.scatter_segments(column, zeros(1), np.array([4]), np.arange(4, dtype=np.uint32)[::-1].copy(), out)
    assert out.tolist() == [3, 2, 1, 0]
