/* Find the fields of a text line, and parse eight decimal digits at once.
 *
 * Bytes are compared 16 at a time with SSE2, which every x86-64 processor has; elsewhere one by one. Up to 64 bytes
 * beyond the given position are read: the caller provides that many readable bytes after the text, with a newline among
 * them.
 */
#ifndef FASTMETRICS_FORMATS_TREC_SCAN_H
#define FASTMETRICS_FORMATS_TREC_SCAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "numeric/bit_count.h"

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define FM_HAS_SSE2 1
#endif

/* The characters of C's isspace: the space, and tab to carriage return. */
static inline int fm_is_blank(uint8_t byte) { return byte == ' ' || (uint8_t)(byte - 9) < 5; }

#if defined(FM_HAS_SSE2)
/* The first blank at or after `text`. */
static inline const uint8_t* fm_field_end(const uint8_t* text) {
    const __m128i space = _mm_set1_epi8(' ');
    /* Bytes 9 to 13 become 123 to 127, the greatest signed bytes. No other byte becomes one of these. */
    const __m128i shift = _mm_set1_epi8(114);
    const __m128i below = _mm_set1_epi8(122);
    for (;;) {
        __m128i bytes = _mm_loadu_si128((const __m128i*)text);
        __m128i blank = _mm_or_si128(_mm_cmpeq_epi8(bytes, space), _mm_cmpgt_epi8(_mm_add_epi8(bytes, shift), below));
        unsigned int mask = (unsigned int)_mm_movemask_epi8(blank);
        if (mask) return text + fm_first_bit(mask);
        text += 16;
    }
}

/* Find the changes between fields and blanks in a line of at most 64 bytes. changes[0] is the end of the first field,
 * changes[1] the start of the second field, and so on, n_changes in all. Returns the index of the newline, or -1 if the
 * line is longer, begins with a blank, or has more or fewer changes.
 *
 * All 64 bytes are compared first, so that no load depends on a result. */
static inline int fm_line_changes(const uint8_t* line, int n_changes, int* changes) {
    const __m128i space = _mm_set1_epi8(' ');
    const __m128i newline = _mm_set1_epi8('\n');
    const __m128i shift = _mm_set1_epi8(114);
    const __m128i below = _mm_set1_epi8(122);
    uint64_t blanks = 0;
    uint64_t newlines = 0;
    int i, end;
    for (i = 0; i < 4; i++) {
        __m128i bytes = _mm_loadu_si128((const __m128i*)(line + 16 * i));
        __m128i blank = _mm_or_si128(_mm_cmpeq_epi8(bytes, space), _mm_cmpgt_epi8(_mm_add_epi8(bytes, shift), below));
        blanks |= (uint64_t)(unsigned int)_mm_movemask_epi8(blank) << (16 * i);
        newlines |= (uint64_t)(unsigned int)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, newline)) << (16 * i);
    }
    if (!newlines) return -1;
    end = fm_first_bit(newlines);
    blanks ^= blanks << 1;
    blanks &= newlines ^ (newlines - 1); /* keep the bits up to the newline, including it */
    for (i = 0; i < n_changes; i++) {
        if (!blanks) return -1;
        changes[i] = fm_first_bit(blanks);
        blanks &= blanks - 1;
    }
    return blanks ? -1 : end;
}

/* The number of newlines among n bytes. */
static inline int64_t fm_count_newlines(const uint8_t* text, int64_t n) {
    const __m128i newline = _mm_set1_epi8('\n');
    const __m128i zero = _mm_setzero_si128();
    int64_t found = 0;
    int64_t i = 0;
    while (n - i >= 16) {
        /* Each byte of `counts` holds up to 255. */
        int64_t stop = n - i >= 255 * 16 ? i + 255 * 16 : i + (n - i) / 16 * 16;
        __m128i counts = zero;
        __m128i sums;
        for (; i < stop; i += 16)
            counts = _mm_sub_epi8(counts, _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i*)(text + i)), newline));
        sums = _mm_sad_epu8(counts, zero);
        found += _mm_cvtsi128_si32(sums) + _mm_cvtsi128_si32(_mm_srli_si128(sums, 8));
    }
    for (; i < n; i++) found += text[i] == '\n';
    return found;
}
#else
static inline const uint8_t* fm_field_end(const uint8_t* text) {
    while (!fm_is_blank(*text)) text++;
    return text;
}

static inline int fm_line_changes(const uint8_t* line, int n_changes, int* changes) {
    (void)line;
    (void)n_changes;
    (void)changes;
    return -1;
}

static inline int64_t fm_count_newlines(const uint8_t* text, int64_t n) {
    int64_t found = 0;
    int64_t i;
    for (i = 0; i < n; i++) found += text[i] == '\n';
    return found;
}
#endif

/* Whether two texts of this length are the same. Reads at least 8 bytes of each. */
static inline int fm_same_name(const uint8_t* one, const uint8_t* other, int64_t length) {
    uint64_t first, second;
    if (length > 8) return memcmp(one, other, (size_t)length) == 0;
    memcpy(&first, one, 8);
    memcpy(&second, other, 8);
    if (first == second) return 1;
    return memcmp(one, other, (size_t)length) == 0;
}

#if defined(_MSC_VER) || (defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
/* The number that eight digits represent, or -1 if one of the eight bytes is not a digit. */
static inline int64_t fm_parse_eight_digits(const uint8_t* text) {
    uint64_t word;
    memcpy(&word, text, 8);
    if (((word & 0xF0F0F0F0F0F0F0F0u) | (((word + 0x0606060606060606u) & 0xF0F0F0F0F0F0F0F0u) >> 4)) !=
        0x3333333333333333u)
        return -1;
    word -= 0x3030303030303030u;
    word = word * 10 + (word >> 8);
    return (int64_t)((((word & 0x000000FF000000FFu) * 0x000F424000000064u) +
                      (((word >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u)) >> 32);
}
#else
static inline int64_t fm_parse_eight_digits(const uint8_t* text) {
    int64_t value = 0;
    int i;
    for (i = 0; i < 8; i++) {
        if ((uint8_t)(text[i] - '0') > 9) return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}
#endif

#endif
