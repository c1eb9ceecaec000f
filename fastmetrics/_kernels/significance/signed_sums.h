/* Sums of 64 numbers with random signs, replicate by replicate; the same bits whatever the registers are.

   Replicate r of a sequence that starts at `start` takes word r of SplitMix64 (S. Vigna): bit i of it is set where
   number i keeps its sign. Narrow: a table of 256 sums for each byte of the word. Wide (AVX-512): a table of 16 sums for each
   four bits stands in two registers, and one permutation looks it up for eight replicates. */
#ifndef FASTMETRICS_SIGNEDSUMS_H
#define FASTMETRICS_SIGNEDSUMS_H

#include <stddef.h>
#include <stdint.h>

#define FM_STEP UINT64_C(0x9E3779B97F4A7C15)
#define FM_FIRST_FACTOR UINT64_C(0xBF58476D1CE4E5B9)
#define FM_SECOND_FACTOR UINT64_C(0x94D049BB133111EB)

static inline uint64_t fm_mixed(uint64_t word) {
    word = (word ^ (word >> 30)) * FM_FIRST_FACTOR;
    word = (word ^ (word >> 27)) * FM_SECOND_FACTOR;
    return word ^ (word >> 31);
}

/* The 2^width signed sums of `width` numbers, of which only the first n are there. */
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

static void fm_add_flipped_narrow(
    const int64_t* values, ptrdiff_t n_values, uint64_t start, int64_t first, ptrdiff_t n, int64_t* tables, int64_t* out
) {
    uint64_t state = start + (uint64_t)first * FM_STEP;
    fm_fill_tables(values, n_values, 8, tables);
    for (ptrdiff_t r = 0; r < n; r++) {
        state += FM_STEP;
        out[r] += fm_signed_sum(tables, fm_mixed(state));
    }
}

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#include <immintrin.h>

#define FM_WIDE_SIGNS __attribute__((target("arch=x86-64-v4,prefer-vector-width=512")))
#define FM_VECTORS_AT_ONCE 4

FM_WIDE_SIGNS static inline __m512i fm_mixed_wide(__m512i word) {
    word = _mm512_xor_si512(word, _mm512_srli_epi64(word, 30));
    word = _mm512_mullo_epi64(word, _mm512_set1_epi64((long long)FM_FIRST_FACTOR));
    word = _mm512_xor_si512(word, _mm512_srli_epi64(word, 27));
    word = _mm512_mullo_epi64(word, _mm512_set1_epi64((long long)FM_SECOND_FACTOR));
    return _mm512_xor_si512(word, _mm512_srli_epi64(word, 31));
}

FM_WIDE_SIGNS static void fm_add_flipped_wide(
    const int64_t* values, ptrdiff_t n_values, uint64_t start, int64_t first, ptrdiff_t n, int64_t* tables, int64_t* out
) {
    const __m512i lanes = _mm512_setr_epi64(1, 2, 3, 4, 5, 6, 7, 8);
    const __m512i step = _mm512_set1_epi64((long long)FM_STEP);
    const __m512i stride = _mm512_set1_epi64((long long)(8 * FM_STEP));
    __m512i state = _mm512_add_epi64(
        _mm512_set1_epi64((long long)(start + (uint64_t)first * FM_STEP)), _mm512_mullo_epi64(lanes, step)
    );
    ptrdiff_t r = 0;
    fm_fill_tables(values, n_values, 4, tables);
    for (; r + 8 * FM_VECTORS_AT_ONCE <= n; r += 8 * FM_VECTORS_AT_ONCE) {
        __m512i word[FM_VECTORS_AT_ONCE], sum[FM_VECTORS_AT_ONCE];
        for (int v = 0; v < FM_VECTORS_AT_ONCE; v++) {
            word[v] = fm_mixed_wide(state);
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
        __m512i word = fm_mixed_wide(state), sum = _mm512_maskz_loadu_epi64(present, out + r);
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
#define fm_add_flipped_wide fm_add_flipped_narrow
static int fm_has_wide_signs(void) { return 0; }
#endif

#endif
