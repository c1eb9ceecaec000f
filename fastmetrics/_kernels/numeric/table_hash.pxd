"""Hashes of the tables in memory, which depend on random words of the process (table_hash.h).

A kernel calls `use_table_seeds` with the array of table_seeds.py when it is loaded.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyObject_GetBuffer
from libc.stdint cimport int64_t, uint8_t, uint64_t


cdef extern from "numeric/table_hash.h":
    void set_table_seeds "fm_use_table_seeds"(const void* seeds) noexcept nogil
    uint64_t table_hash "fm_table_hash"(uint64_t key) noexcept nogil
    uint64_t table_seed "fm_table_seed"(int number) noexcept nogil
    uint64_t table_hash_pair "fm_table_hash_pair"(uint64_t first, uint64_t second) noexcept nogil
    uint64_t table_hash_bytes "fm_table_hash_bytes"(const uint8_t* data, int64_t length) noexcept nogil


cdef inline int use_table_seeds(object seeds) except -1:
    """Read the seeds where they are. Their buffer is not released: an array with a buffer in use cannot be moved."""
    cdef Py_buffer view
    PyObject_GetBuffer(seeds, &view, PyBUF_SIMPLE)
    set_table_seeds(view.buf)
    return 0
