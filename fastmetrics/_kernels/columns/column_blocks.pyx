"""A column that is stored in blocks: one contiguous array after the other.

Kernels read the blocks where they are. The object keeps the arrays alive, and knows their lengths and the width of
their elements: whoever reads rows of a block checks that it has them.
"""

from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.exc cimport PyErr_Format
from libc.stdlib cimport free, malloc


cdef class ColumnBlocks:
    """The blocks of a column, whose elements have one width; `writable` blocks are results of a kernel."""

    def __cinit__(self, list arrays not None, bint writable=False):
        cdef Py_ssize_t block, item_bytes
        cdef Py_buffer view
        cdef int flags = PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE if writable else PyBUF_C_CONTIGUOUS
        self.arrays = list(arrays)
        self.are_writable = writable
        self.n_blocks = len(self.arrays)
        self.starts = <const void**>malloc(<size_t>(self.n_blocks + 1) * sizeof(void*))
        self.lengths = <Py_ssize_t*>malloc(<size_t>(self.n_blocks + 1) * sizeof(Py_ssize_t))
        if self.starts == NULL or self.lengths == NULL:
            raise MemoryError
        for block in range(self.n_blocks):
            PyObject_GetBuffer(self.arrays[block], &view, flags)
            item_bytes = view.itemsize
            self.starts[block] = view.buf
            self.lengths[block] = view.len // item_bytes
            PyBuffer_Release(&view)
            if block and item_bytes != self.item_bytes:
                raise ValueError(
                    f"block {block} of a column has elements of {item_bytes} bytes, block 0 of {self.item_bytes}")
            self.item_bytes = item_bytes

    def __dealloc__(self):
        free(self.starts)
        free(self.lengths)

    cdef int check(self, const char* name, Py_ssize_t n_blocks, Py_ssize_t item_bytes) except -1:
        """Raise ValueError unless the column has so many blocks, with elements of this width."""
        if self.n_blocks != n_blocks or (n_blocks and self.item_bytes != item_bytes):
            PyErr_Format(
                ValueError, b"%s has %zd blocks of elements of %zd bytes, not %zd of %zd bytes", name, self.n_blocks,
                self.item_bytes, n_blocks, item_bytes)
        return 0
