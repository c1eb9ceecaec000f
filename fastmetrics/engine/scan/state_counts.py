"""The rows of every slice, as states and stored rows tell them: states of version 0.1 have no counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastmetrics._core.columns.row_blocks import LABEL, SLICE, RowBlock, label_name
from fastmetrics.engine.scan.additive_states import AdditiveStates
from fastmetrics.engine.scan.scan import Scan
from fastmetrics.engine.scan.slice_counts import RowCount, SliceCounts


def find_counts(
    scan: Scan, additive: AdditiveStates, histograms: Mapping[tuple[int, int | None], Any]
) -> SliceCounts | None:
    """The counts of all slices; None if neither rows nor states tell them."""
    n_labels = len(scan.names.labels) if scan.plan.label_kinds.binary else 0
    if scan.range_store().n_blocks:
        return count_stored_rows(scan, n_labels)
    found = histogram_counts(scan, histograms) if histograms else state_counts(additive, n_labels)
    if not found:
        return None
    counts = SliceCounts(n_labels)
    for slice_number, count in found.items():
        counts.add_count(slice_number, count)
        if slice_number is not None:
            counts.add_count(None, count)
    return counts


def count_stored_rows(scan: Scan, n_labels: int) -> SliceCounts:
    """The counts of rows that an exchange keeps."""
    counts = SliceCounts(n_labels)
    store = scan.range_store()
    names = [label_name(number) for number in range(n_labels)]
    wanted = [name for name in store.types if name == SLICE or name in names]
    others = [name for name in store.types if not name.startswith(LABEL)][:1] if not wanted else []
    for reader in store.block_readers(wanted + others):
        columns = reader.load()
        counts.add(RowBlock(tuple(columns[name] for name in names), (), None, columns.get(SLICE), others=columns))
    return counts


def histogram_counts(scan: Scan, histograms: Mapping[tuple[int, int | None], Any]) -> dict[int | None, RowCount]:
    """The counts that histograms of scores have: one pair of columns for each label is enough."""
    found: dict[int | None, list[int]] = {}
    pairs = {pair.label: number for number, pair in enumerate(scan.score_label_pairs)}
    slice_numbers = {number for _, number in histograms}
    for slice_number in slice_numbers:
        by_label = [histograms[number, slice_number].counts.sum(0).tolist() for _, number in sorted(pairs.items())]
        found[slice_number] = [sum(by_label[0]), *(positives for _, positives in by_label)]
    return {number: RowCount(rows, tuple(positives)) for number, (rows, *positives) in found.items()}


def state_counts(additive: AdditiveStates, n_labels: int) -> dict[int | None, RowCount]:
    """The counts of states that know their rows: of a statistic of classes, or of one without classes."""
    pairs = {pair.label: number for number, pair in enumerate(additive.score_label_pairs)}
    for statistic in additive.statistics:
        slice_numbers = dict.fromkeys(number for own, _, number in additive.sums if own == statistic)
        if n_labels and hasattr(statistic, "class_rows"):
            return {
                number: RowCount(by_label[0][0], tuple(positives for _, positives in by_label))
                for number in slice_numbers
                for by_label in [
                    [statistic.class_rows(additive.sums[statistic, pair, number]) for _, pair in sorted(pairs.items())]
                ]
            }
        if not n_labels and statistic.new().n_rows is not None:
            pair = next(iter(pairs.values()))
            return {number: RowCount(additive.sums[statistic, pair, number].n_rows or 0) for number in slice_numbers}
    return {}
