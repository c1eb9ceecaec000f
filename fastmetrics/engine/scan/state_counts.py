"""The rows of every slice, as states and stored rows tell them: states of version 0.1 have no counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastmetrics._core.columns.row_blocks import LABEL, SLICE, RowBlock, label_name, slice_code_name
from fastmetrics.engine.input.grouping_sets import GroupingSets
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
    has_sets = isinstance(scan.slices, GroupingSets)  # states are only kept of the slices of some sets
    found = histogram_counts(scan, histograms) if histograms else {} if has_sets else state_counts(additive, n_labels)
    if not found:
        return None
    counts = SliceCounts(n_labels)
    sets = scan.slices if isinstance(scan.slices, GroupingSets) else None
    in_first = None if sets is None else sets.set_of_slices() == 0
    for slice_number, count in found.items():
        counts.add_count(slice_number, count)
        if slice_number is not None and (in_first is None or in_first[slice_number]):
            counts.add_count(None, count)
    return counts


def count_stored_rows(scan: Scan, n_labels: int) -> SliceCounts:
    """The counts of rows that an exchange keeps."""
    counts = SliceCounts(n_labels)
    store = scan.range_store()
    names = [label_name(number) for number in range(n_labels)]
    sets = scan.slices if isinstance(scan.slices, GroupingSets) else None
    codes = [] if sets is None else [slice_code_name(number) for number in range(len(sets.columns))]
    wanted = [name for name in store.types if name in ([SLICE] if sets is None else codes) or name in names]
    others = [name for name in store.types if not name.startswith(LABEL)][:1] if not wanted else []
    for reader in store.block_readers(wanted + others):
        columns = reader.load()
        labels = tuple(columns[name] for name in names)
        counts.add(RowBlock(labels, (), None, None if sets is not None else columns.get(SLICE), others=columns))
        if sets is not None:
            for slices, numbers in sets.number_all([columns[name] for name in codes]):
                counts.add_slices(slices, labels, numbers)
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
