/* Sums of 64 numbers with random signs, one sum per replicate. Both versions return the same sums.
 *
 * Replicate r of a sequence that starts at `start` uses word r of SplitMix64 (S. Vigna). Bit i of the word is set if
 * number i keeps its sign. The narrow version has a table of 256 sums for each byte of the word. The wide version
 * (AVX-512) has a table of 16 sums for every four bits in two registers, and one permutation looks it up for eight
 * replicates. */
#ifndef FASTMETRICS_SIGNIFICANCE_SIGNED_SUMS_H
#define FASTMETRICS_SIGNIFICANCE_SIGNED_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "numeric/splitmix64.h"

/* The 2^width signed sums of `width` numbers. Numbers from the n-th on are 0. */
static void fm_fill_table(const int64_t* values, ptrdiff_t n, int width, int64_t* table) {
    table[0] = 0;
    for (int i = 0; i < width; i++) {
        int64_t value = i < n ? values[i] : 0;
        for (ptrdiff_t j = 0; j < (ptrdiff_t)1 << i; j++) {
            table[((ptrdiff_t)1 << i) + j] = table[j] + value;
            table[j] -= value;
        }
    }
}

static void fm_fill_tables(const int64_t* values, ptrdiff_t n, int width, int64_t* tables) {
    for (int first = 0; first < 64; first += width) {
        ptrdiff_t start = first < n ? first : n;
        fm_fill_table(values + start, n - start, width, tables + (first / width) * ((ptrdiff_t)1 << width));
    }
}

static inline int64_t fm_signed_sum(const int64_t* t, uint64_t word) {
    return ((t[word & 255] + t[256 + ((word >> 8) & 255)])
            + (t[512 + ((word >> 16) & 255)] + t[768 + ((word >> 24) & 255)]))
        + ((t[1024 + ((word >> 32) & 255)] + t[1280 + ((word >> 40) & 255)])
            + (t[1536 + ((word >> 48) & 255)] + t[1792 + (word >> 56)]));
}

static void fm_add_sign_flips_narrow(
    const int64_t* values, ptrdiff_t n_values, uint64_t start, int64_t first, ptrdiff_t n, int64_t* tables, int64_t* out
) {
    uint64_t state = start + (uint64_t)first * FM_SPLITMIX64_INCREMENT;
    fm_fill_tables(values, n_values, 8, tables);
    for (ptrdiff_t r = 0; r < n; r++) {
        state += FM_SPLITMIX64_INCREMENT;
        out[r] += fm_signed_sum(tables, fm_splitmix64_mix(state));
    }
}

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#include <immintrin.h>

#define FM_WIDE_SIGNS __attribute__((target("arch=x86-64-v4,prefer-vector-width=512")))
#define FM_VECTORS_AT_ONCE 4

FM_WIDE_SIGNS static inline __m512i fm_splitmix64_mix_wide(__m512i word) {
    word = _mm512_xor_si512(word, _mm512_srli_epi64(word, 30));
    word = _mm512_mullo_epi64(word, _mm512_set1_epi64((long long)FM_FIRST_FACTOR));
    word = _mm512_xor_si512(word, _mm512_srli_epi64(word, 27));
    word = _mm512_mullo_epi64(word, _mm512_set1_epi64((long long)FM_SECOND_FACTOR));
    return _mm512_xor_si512(word, _mm512_srli_epi64(word, 31));
}

FM_WIDE_SIGNS static void fm_add_sign_flips_wide(
    const int64_t* values, ptrdiff_t n_values, uint64_t start, int64_t first, ptrdiff_t n, int64_t* tables, int64_t* out
) {
    const __m512i lane_numbers = _mm512_setr_epi64(1, 2, 3, 4, 5, 6, 7, 8);
    const __m512i increment = _mm512_set1_epi64((long long)FM_SPLITMIX64_INCREMENT);
    const __m512i stride = _mm512_set1_epi64((long long)(8 * FM_SPLITMIX64_INCREMENT));
    __m512i state = _mm512_add_epi64(
        _mm512_set1_epi64((long long)(start + (uint64_t)first * FM_SPLITMIX64_INCREMENT)),
        _mm512_mullo_epi64(lane_numbers, increment)
    );
    ptrdiff_t r = 0;
    fm_fill_tables(values, n_values, 4, tables);
    for (; r + 8 * FM_VECTORS_AT_ONCE <= n; r += 8 * FM_VECTORS_AT_ONCE) {
        __m512i word[FM_VECTORS_AT_ONCE], sum[FM_VECTORS_AT_ONCE];
        for (int v = 0; v < FM_VECTORS_AT_ONCE; v++) {
            word[v] = fm_splitmix64_mix_wide(state);
            state = _mm512_add_epi64(state, stride);
            sum[v] = _mm512_loadu_si512(out + r + 8 * v);
        }
#pragma GCC unroll 16
        for (int group = 0; group < 16; group++) {
            __m512i low = _mm512_loadu_si512(tables + 16 * group), high = _mm512_loadu_si512(tables + 16 * group + 8);
            for (int v = 0; v < FM_VECTORS_AT_ONCE; v++) {
                sum[v] = _mm512_add_epi64(sum[v], _mm512_permutex2var_epi64(low, word[v], high));
                word[v] = _mm512_srli_epi64(word[v], 4);
            }
        }
        for (int v = 0; v < FM_VECTORS_AT_ONCE; v++) {
            _mm512_storeu_si512(out + r + 8 * v, sum[v]);
        }
    }
    for (; r < n; r += 8) {
        __mmask8 present = n - r < 8 ? (__mmask8)((1 << (n - r)) - 1) : (__mmask8)255;
        __m512i word = fm_splitmix64_mix_wide(state), sum = _mm512_maskz_loadu_epi64(present, out + r);
        state = _mm512_add_epi64(state, stride);
        for (int group = 0; group < 16; group++) {
            __m512i low = _mm512_loadu_si512(tables + 16 * group), high = _mm512_loadu_si512(tables + 16 * group + 8);
            sum = _mm512_add_epi64(sum, _mm512_permutex2var_epi64(low, word, high));
            word = _mm512_srli_epi64(word, 4);
        }
        _mm512_mask_storeu_epi64(out + r, present, sum);
    }
}

static int fm_has_wide_signs(void) { return __builtin_cpu_supports("x86-64-v4") != 0; }
#else
#define fm_add_sign_flips_wide fm_add_sign_flips_narrow
static int fm_has_wide_signs(void) { return 0; }
#endif

#endif
