"""What statistics of rows have to know of the ranges of a cluster's partition."""

from types import SimpleNamespace

import numpy as np

from fastmetrics._core.columns.row_blocks import Output, RowBlock
from fastmetrics.engine.partitions.range_cuts import count_rows_of_ranges
from fastmetrics.extend import ScoreRangeStatistic


class DistinctScores(ScoreRangeStatistic):
    """The number of distinct scores."""

    def summary(self, columns):
        assert (np.diff(columns.score) <= 0).all()
        return len(columns.starts)

    def state(self, columns, above, total):
        return len(columns.starts)

    def merge(self, higher, lower):
        return higher + lower


def test_a_summary_reads_sorted_rows():
    scores = np.array([0.25, 0.75, 0.5, 0.25, 0.0, 1.0, 0.75])
    block = RowBlock((np.zeros(7, np.uint8),), (scores,), None)
    scan = SimpleNamespace(outputs=[Output(0, 0)])
    found = count_rows_of_ranges(scan, [DistinctScores()], [(None, block)], [[0.5, 2.0]])
    assert found == {(DistinctScores(), 0, 0, None): {0: 2, 1: 3}}
