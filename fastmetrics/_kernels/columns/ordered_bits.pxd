"""Sort keys: unsigned integers that sort in the same order as floats.

Take a float's bits; flip the sign bit of positive numbers and all bits of negative numbers. The results compare as
unsigned integers exactly as the floats do. Adding +0.0 first turns -0.0 into 0.0, so the two tie. Infinities are the
first and the last. NaN has no position: callers reject it in the same pass (`x != x`).
"""

from libc.stdint cimport uint32_t, uint64_t

ctypedef fused score_t:
    float
    double

cdef extern from *:
    """
    #include <string.h>
    #include <stdint.h>
    static inline uint32_t fm_sort_key_f32(float x) {
        uint32_t bits;
        x += 0.0f;
        memcpy(&bits, &x, 4);
        return bits ^ ((uint32_t)(-(int32_t)(bits >> 31)) | UINT32_C(0x80000000));
    }
    static inline uint64_t fm_sort_key_f64(double x) {
        uint64_t bits;
        x += 0.0;
        memcpy(&bits, &x, 8);
        return bits ^ ((uint64_t)(-(int64_t)(bits >> 63)) | UINT64_C(0x8000000000000000));
    }
    static inline double fm_score_of_key_f32(uint64_t key) {
        uint32_t bits = (uint32_t)key;
        float x;
        bits ^= (uint32_t)((int32_t)(bits >> 31) - 1) | UINT32_C(0x80000000);
        memcpy(&x, &bits, 4);
        return x;
    }
    static inline double fm_score_of_key_f64(uint64_t key) {
        double x;
        key ^= (uint64_t)((int64_t)(key >> 63) - 1) | UINT64_C(0x8000000000000000);
        memcpy(&x, &key, 8);
        return x;
    }
    """
    uint32_t sort_key_f32 "fm_sort_key_f32"(float x) noexcept nogil
    uint64_t sort_key_f64 "fm_sort_key_f64"(double x) noexcept nogil
    double score_of_key_f32 "fm_score_of_key_f32"(uint64_t key) noexcept nogil
    double score_of_key_f64 "fm_score_of_key_f64"(uint64_t key) noexcept nogil


cdef inline uint64_t sort_key(score_t score) noexcept nogil:
    """The key of a score; for float in the low 32 bits."""
    if score_t is float:
        return sort_key_f32(score)
    else:
        return sort_key_f64(score)
