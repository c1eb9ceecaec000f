"""Memory that grows. It belongs to an extension class, which frees it in __dealloc__."""

from libc.stdlib cimport realloc


cdef inline void* reallocate(void* memory, size_t n_bytes) except NULL:
    """realloc() that raises MemoryError; the old memory then stays valid."""
    memory = realloc(memory, n_bytes)
    if memory == NULL:
        raise MemoryError
    return memory
