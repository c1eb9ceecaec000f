"""Memory of a kernel's own that grows, for classes that free it in __dealloc__."""

from libc.stdlib cimport realloc


cdef inline void* resized(void* memory, size_t n_bytes) except NULL:
    """`memory` with room for n_bytes, the first of which are as before; MemoryError leaves it as it is."""
    memory = realloc(memory, n_bytes)
    if memory == NULL:
        raise MemoryError
    return memory
