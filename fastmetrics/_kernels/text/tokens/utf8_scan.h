/* Decodes UTF-8 and searches lone surrogates, by loops that compilers vectorize. */

#ifndef FASTMETRICS_TEXT_TOKENS_UTF8_SCAN_H
#define FASTMETRICS_TEXT_TOKENS_UTF8_SCAN_H

#include <stdint.h>
#include <string.h>

/* Prefetches memory that is needed soon. */
static inline void fm_prefetch(const void *memory)
{
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(memory);
#else
    (void)memory;
#endif
}

static inline int fm_has_surrogate(const uint32_t *points, int64_t n)
{
    uint32_t any = 0;
    int64_t i;
    for (i = 0; i < n; i++)
        any |= (uint32_t)((points[i] & 0xFFFFF800u) == 0xD800u);
    return any != 0;
}

static inline int fm_is_continuation(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

/* Decodes n bytes of UTF-8. Returns the number of code points, or -1 for invalid UTF-8: a stray or missing continuation
   byte, an overlong form, a surrogate, or a code point above U+10FFFF. `points` has room for n numbers. */
static int64_t fm_decode_utf8(const uint8_t *text, int64_t n, uint32_t *points)
{
    const uint8_t *stop = text + n;
    uint32_t *out = points;
    uint32_t point;
    while (text < stop) {
        while (stop - text >= 8) {
            uint64_t eight;
            int i;
            memcpy(&eight, text, 8);
            if (eight & 0x8080808080808080u)
                break;
            for (i = 0; i < 8; i++)
                out[i] = text[i];
            out += 8;
            text += 8;
        }
        if (text == stop)
            break;
        if (text[0] < 0x80) {
            *out++ = *text++;
        } else if (text[0] < 0xC2) {
            return -1;
        } else if (text[0] < 0xE0) {
            if (stop - text < 2 || !fm_is_continuation(text[1]))
                return -1;
            *out++ = ((uint32_t)(text[0] & 0x1F) << 6) | (text[1] & 0x3F);
            text += 2;
        } else if (text[0] < 0xF0) {
            if (stop - text < 3 || !fm_is_continuation(text[1]) || !fm_is_continuation(text[2]))
                return -1;
            point = ((uint32_t)(text[0] & 0x0F) << 12) | ((uint32_t)(text[1] & 0x3F) << 6) | (text[2] & 0x3F);
            if (point < 0x800 || (point & 0xFFFFF800u) == 0xD800u)
                return -1;
            *out++ = point;
            text += 3;
        } else {
            if (text[0] > 0xF4 || stop - text < 4 || !fm_is_continuation(text[1]) || !fm_is_continuation(text[2]) ||
                !fm_is_continuation(text[3]))
                return -1;
            point = ((uint32_t)(text[0] & 0x07) << 18) | ((uint32_t)(text[1] & 0x3F) << 12) |
                    ((uint32_t)(text[2] & 0x3F) << 6) | (text[3] & 0x3F);
            if (point < 0x10000 || point > 0x10FFFF)
                return -1;
            *out++ = point;
            text += 4;
        }
    }
    return out - points;
}

#endif
