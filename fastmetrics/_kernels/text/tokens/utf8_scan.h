/* UTF-8 to code points, and a look for lone surrogates: loops that a compiler makes wide. */

#ifndef FASTMETRICS_TEXTSCAN_H
#define FASTMETRICS_TEXTSCAN_H

#include <stdint.h>
#include <string.h>

/* Ask for memory that will be needed soon. */
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
    uint32_t found = 0;
    int64_t i;
    for (i = 0; i < n; i++)
        found |= (uint32_t)((points[i] & 0xFFFFF800u) == 0xD800u);
    return found != 0;
}

static inline int fm_is_continuation(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

/* Code points of n bytes of UTF-8; returns how many, or -1: a stray or missing continuation byte, a form longer than
   needed, a surrogate, or more than U+10FFFF. `points` has room for n. */
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
