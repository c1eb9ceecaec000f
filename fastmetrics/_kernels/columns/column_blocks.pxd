"""A column that is stored in blocks, for kernels that read its blocks where they are, and memory of results."""

from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.exc cimport PyErr_Format
from libc.stdint cimport uint64_t


cdef class ColumnBlocks:
    cdef list arrays                # they keep the memory
    cdef readonly Py_ssize_t n_blocks
    cdef readonly Py_ssize_t item_bytes
    cdef readonly bint are_writable
    cdef const void** starts        # the first element of each block
    cdef Py_ssize_t* lengths        # elements of each block
    cdef int check(self, const char* name, Py_ssize_t n_blocks, Py_ssize_t item_bytes) except -1


cdef inline void* memory_of(object array, Py_ssize_t n, Py_ssize_t item_bytes) except? NULL:
    """The first element of a contiguous array that a kernel writes; it has at least n elements of this width.

    The caller keeps the array.
    """
    cdef Py_buffer view
    cdef bint fits
    cdef void* start
    PyObject_GetBuffer(array, &view, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)
    fits = view.itemsize == item_bytes and view.len >= n * item_bytes
    start = view.buf
    PyBuffer_Release(&view)
    if not fits:
        PyErr_Format(ValueError, b"a result has less than %zd elements of %zd bytes", n, item_bytes)
    return start


cdef inline uint64_t* words_of(list kept, object allocate, str name, Py_ssize_t n) except? NULL:
    """Working memory of n words of 64 bits, from `allocate(name, dtype, length)`; the list keeps it."""
    array = allocate(name, "u8", n)
    kept.append(array)
    return <uint64_t*>memory_of(array, n, 8)
