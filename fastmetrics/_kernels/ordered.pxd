"""Floats as unsigned integers that sort the same way.

A float's bits, with the sign bit flipped for positives and all bits flipped for negatives, order as unsigned integers
exactly as the floats do. Adding +0.0 first turns -0.0 into 0.0, so the two tie. Infinities keep their places at the
ends. NaN has no place: callers reject it in the same pass (`x != x`).
"""

from libc.stdint cimport uint32_t, uint64_t

cdef extern from *:
    """
    #include <string.h>
    #include <stdint.h>
    static inline uint32_t fm_ordered_f32(float x) {
        uint32_t bits;
        x += 0.0f;
        memcpy(&bits, &x, 4);
        return bits ^ ((uint32_t)(-(int32_t)(bits >> 31)) | UINT32_C(0x80000000));
    }
    static inline uint64_t fm_ordered_f64(double x) {
        uint64_t bits;
        x += 0.0;
        memcpy(&bits, &x, 8);
        return bits ^ ((uint64_t)(-(int64_t)(bits >> 63)) | UINT64_C(0x8000000000000000));
    }
    """
    uint32_t ordered_f32 "fm_ordered_f32"(float x) noexcept nogil
    uint64_t ordered_f64 "fm_ordered_f64"(double x) noexcept nogil
