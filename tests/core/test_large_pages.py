"""Arrays in large pages: apart from each other, aligned, of any size."""

import numpy as np

from fastmetrics._core.columns.row_blocks import ALIGNED_BYTES, SLAB_BYTES, LargePages, Scratch
from fastmetrics._core.exchange.weighted_sweep import new_columns


def address(array):
    return array.__array_interface__["data"][0]


def test_arrays_do_not_overlap():
    pages = LargePages()
    lengths = [3, 0, 1 << 16, 5, SLAB_BYTES // 4, SLAB_BYTES, 7]
    arrays = [pages.array(np.float64, length) for length in lengths]
    for number, (array, length) in enumerate(zip(arrays, lengths, strict=True)):
        assert array.shape == (length,)
        assert address(array) % ALIGNED_BYTES == 0 or not length
        array[:] = number
    assert all((array == number).all() for number, array in enumerate(arrays))


def test_scratch_of_large_pages_grows():
    scratch = Scratch(LargePages())
    small = scratch.array("keys", np.uint32, 10)
    assert address(scratch.array("keys", np.uint8, 30)) == address(small)
    large = scratch.array("keys", np.uint64, 1 << 20)
    other = scratch.array("weights", np.float64, 1 << 20)
    large[:], other[:] = 1, 2.0
    assert large.min() == large.max() == 1


def test_results_keep_little_more_than_their_columns():
    for rows in (100_000, 400_000):
        columns = new_columns(rows, 3)
        kept = {id(column.base): column.base.nbytes for column in columns}
        assert len(kept) == 1
        assert sum(kept.values()) <= max(1 << 22, 24 * rows + (1 << 21) + 3 * ALIGNED_BYTES)
