"""Sums of integer rows over many samples of the rows: bootstrap samples and random halves.

Rows are int64 in panels of eight columns, panel[row, 8]. A row of a panel is one cache line, and its sum stays in
registers. The caller must prevent overflow: sums stay below 2**63.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t

from fastmetrics._kernels.numeric.length_checks cimport need_below, need_length

cdef enum:
    N_COLUMNS = 8
    GROUP_ROWS = 8
    TABLE_ROWS = 256
    ROWS_AT_ONCE = 64  # of which a column is added

PANEL_COLUMNS = N_COLUMNS
SUM_TABLE_ROWS = TABLE_ROWS


cdef void add_sampled_rows(const int64_t* panel, const int64_t* samples, Py_ssize_t n, int64_t* out) noexcept nogil:
    cdef int64_t sums[N_COLUMNS]
    cdef const int64_t* row
    cdef Py_ssize_t i, c
    for c in range(N_COLUMNS):
        sums[c] = 0
    for i in range(n):
        row = panel + N_COLUMNS * samples[i]
        for c in range(N_COLUMNS):
            sums[c] += row[c]
    for c in range(N_COLUMNS):
        out[c] = sums[c]


cdef void fill_table(const int64_t* rows, Py_ssize_t n, int64_t* table) noexcept nogil:
    """The sums of all 256 subsets of up to 8 rows. Bit i of the index is set if row i is in the subset."""
    cdef Py_ssize_t i, j, c
    cdef int64_t* above
    for c in range(N_COLUMNS):
        table[c] = 0
    for i in range(n):
        above = table + (N_COLUMNS << i)
        for j in range(1 << i):
            for c in range(N_COLUMNS):
                above[N_COLUMNS * j + c] = table[N_COLUMNS * j + c] + rows[N_COLUMNS * i + c]


cdef void add_table_rows(
    const int64_t* table, const uint8_t* masks, Py_ssize_t stride, Py_ssize_t n, int64_t* out
) noexcept nogil:
    cdef const int64_t* row
    cdef Py_ssize_t r, c
    for r in range(n):
        row = table + N_COLUMNS * masks[r * stride]
        for c in range(N_COLUMNS):
            out[N_COLUMNS * r + c] += row[c]


def sum_sampled_rows(const int64_t[:, ::1] panel, const int64_t[:, ::1] samples, int64_t[:, ::1] out):
    """out[r] = the sum of the panel's rows samples[r, :]."""
    cdef Py_ssize_t r
    cdef Py_ssize_t n = samples.shape[1]
    if panel.shape[0] == 0 or n == 0 or panel.shape[1] != N_COLUMNS or out.shape[1] != N_COLUMNS:
        raise ValueError("a panel needs at least one row and exactly eight columns")
    need_length(b"out", out.shape[0], samples.shape[0])
    if samples.shape[0]:
        need_below(b"samples", &samples[0, 0], samples.shape[0] * n, panel.shape[0])
    with nogil:
        for r in range(samples.shape[0]):
            add_sampled_rows(&panel[0, 0], &samples[r, 0], n, &out[r, 0])


def sum_masked_rows(
    const int64_t[:, ::1] panel, const uint8_t[:, ::1] masks, int64_t[:, ::1] table, int64_t[:, ::1] out
):
    """out[r] += the sum of the panel's rows whose bit is set in masks[r]. Row 8 g + i is bit i of masks[r, g].

    Bits beyond the last row are 0. `table` is scratch of 256 rows.
    """
    cdef Py_ssize_t group
    cdef Py_ssize_t n = panel.shape[0]
    cdef Py_ssize_t n_groups = (n + GROUP_ROWS - 1) // GROUP_ROWS
    if n == 0 or masks.shape[0] == 0 or panel.shape[1] != N_COLUMNS or out.shape[1] != N_COLUMNS:
        raise ValueError("a panel needs at least one row and exactly eight columns")
    if masks.shape[1] != n_groups or table.shape[0] < TABLE_ROWS or table.shape[1] != N_COLUMNS:
        raise ValueError("masks need a bit for every row, and the table needs 256 rows")
    need_length(b"out", out.shape[0], masks.shape[0])
    with nogil:
        for group in range(n_groups):
            fill_table(
                &panel[GROUP_ROWS * group, 0], min(<Py_ssize_t>GROUP_ROWS, n - GROUP_ROWS * group), &table[0, 0]
            )
            add_table_rows(&table[0, 0], &masks[0, group], n_groups, masks.shape[0], &out[0, 0])


def add_at(const int64_t[:, ::1] values, const int32_t[::1] places, const int64_t[::1] rows, int64_t[:, ::1] sums):
    """Add values[i, k] to sums[rows[k], places[i]]. Several i may have one place."""
    cdef Py_ssize_t i, k, stop, start = 0, n = values.shape[0], n_columns = values.shape[1]
    cdef int64_t* own
    need_length(b"places", places.shape[0], n)
    need_length(b"rows", rows.shape[0], n_columns)
    if not n or not n_columns:
        return
    need_below(b"places", &places[0], n, sums.shape[1])
    need_below(b"rows", &rows[0], n_columns, sums.shape[0])
    with nogil:
        while start < n:
            stop = min(n, start + <Py_ssize_t>ROWS_AT_ONCE)
            for k in range(n_columns):
                own = &sums[rows[k], 0]
                for i in range(start, stop):
                    own[places[i]] += values[i, k]
            start = stop
