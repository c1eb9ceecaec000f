"""Hashes of the tables in memory, which depend on random words of the process (table_hash.h).

A kernel calls `use_table_seeds` with the address of table_seeds.py when it is loaded.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t, uintptr_t


cdef extern from "numeric/table_hash.h":
    void use_table_seeds "fm_use_table_seeds"(uintptr_t address) noexcept nogil
    uint64_t table_hash "fm_table_hash"(uint64_t key) noexcept nogil
    uint64_t table_seed "fm_table_seed"(int number) noexcept nogil
    uint64_t table_hash_pair "fm_table_hash_pair"(uint64_t first, uint64_t second) noexcept nogil
    uint64_t table_hash_bytes "fm_table_hash_bytes"(const uint8_t* data, int64_t length) noexcept nogil
