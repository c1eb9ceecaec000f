/* Find a byte that is probably near, and count line breaks.
 *
 * Quotes of CSV stand a few bytes from each other: a call of memchr would cost more than the search. So 16 bytes are
 * compared at a time with SSE2, which every x86-64 processor has; far bytes, and all elsewhere, are found by memchr.
 */
#ifndef FASTMETRICS_FORMATS_CSV_SCAN_H
#define FASTMETRICS_FORMATS_CSV_SCAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "numeric/bit_count.h"

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define FM_NEAR_BYTES 64
#endif

/* The place of the next such byte from `place` on; `size` if there is none. */
static inline ptrdiff_t fm_find_byte(const uint8_t* data, ptrdiff_t place, ptrdiff_t size, int byte) {
    const uint8_t* found;
#if defined(FM_NEAR_BYTES)
    const __m128i wanted = _mm_set1_epi8((char)byte);
    const ptrdiff_t far = place + FM_NEAR_BYTES;
    while (place + 16 <= size && place < far) {
        __m128i bytes = _mm_loadu_si128((const __m128i*)(data + place));
        unsigned int mask = (unsigned int)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted));
        if (mask) return place + fm_first_bit(mask);
        place += 16;
    }
#endif
    if (place >= size) return size;
    found = (const uint8_t*)memchr(data + place, byte, (size_t)(size - place));
    return found == NULL ? size : found - data;
}

/* The place of the next quote from `place` on, `size` if there is none. `*lines` is not 0 if a newline stands before it. */
static inline ptrdiff_t fm_find_quote(const uint8_t* data, ptrdiff_t place, ptrdiff_t size, int quote, int* lines) {
    ptrdiff_t found;
#if defined(FM_NEAR_BYTES)
    const __m128i wanted = _mm_set1_epi8((char)quote), newline = _mm_set1_epi8('\n');
    const ptrdiff_t far = place + FM_NEAR_BYTES;
    while (place + 16 <= size && place < far) {
        __m128i bytes = _mm_loadu_si128((const __m128i*)(data + place));
        unsigned int mask = (unsigned int)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted));
        unsigned int breaks = (unsigned int)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, newline));
        /* All bits below the lowest one of `mask`; all bits if it has none. */
        *lines |= (int)(breaks & (mask - 1u) & ~mask);
        if (mask) return place + fm_first_bit(mask);
        place += 16;
    }
#endif
    found = fm_find_byte(data, place, size, quote);
    *lines |= fm_find_byte(data, place, found, '\n') < found;
    return found;
}

/* How many lines end: with \n, with \r, or with both. Counts of 128 bytes fit a byte, so the compiler adds 16 at once. */
static inline ptrdiff_t fm_count_line_breaks(const uint8_t* data, ptrdiff_t size) {
    ptrdiff_t count = 0, place = 0, stop;
    while (place < size - 1) {
        uint8_t part = 0;
        stop = place + 128 < size - 1 ? place + 128 : size - 1;
        for (; place < stop; place++)
            part += (uint8_t)((data[place] == '\n') | ((data[place] == '\r') & (data[place + 1] != '\n')));
        count += part;
    }
    return count + (size > 0 && (data[size - 1] == '\n' || data[size - 1] == '\r'));
}

#endif
