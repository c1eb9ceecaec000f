/* Binary labels of any numeric type to 0 or 1, and the kinds of labels seen (see FM_DECODE_LABELS in vector_math.h). */
#ifndef FASTMETRICS_COLUMNS_BINARY_LABELS_H
#define FASTMETRICS_COLUMNS_BINARY_LABELS_H

#include "numeric/vector_math.h"

/* As FM_DECODE_LABELS, for labels of floating type. */
#define FM_DECODE_FLOAT_LABELS(NAME, TYPE)                                                                             \
    FM_WIDE static int NAME(const TYPE* labels, ptrdiff_t n, uint8_t* out) {                                           \
        int zeros = 0, ones = 0, minus_ones = 0;                                                                       \
        ptrdiff_t i;                                                                                                   \
        for (i = 0; i < n; i++) {                                                                                      \
            out[i] = labels[i] == 1;                                                                                   \
            zeros += labels[i] == 0;                                                                                   \
            ones += labels[i] == 1;                                                                                    \
            minus_ones += labels[i] == -1;                                                                             \
        }                                                                                                              \
        return (zeros > 0) | (ones > 0) << 1 | (minus_ones > 0) << 2 | (zeros + ones + minus_ones < n) << 3;           \
    }

FM_DECODE_FLOAT_LABELS(fm_decode_labels_f32, float)
FM_DECODE_FLOAT_LABELS(fm_decode_labels_f64, double)

/* The labels of a column by its format letter in the buffer protocol. Returns 0 for an unsupported letter. */
static int fm_decode_labels(char letter, const void* labels, ptrdiff_t n, uint8_t* out) {
    switch (letter) {
        case '?':
        case 'B': return fm_decode_labels_u8((const uint8_t*)labels, n, out);
        case 'b': return fm_decode_labels_i8((const int8_t*)labels, n, out);
        case 'h': return fm_decode_labels_i16((const int16_t*)labels, n, out);
        case 'H': return fm_decode_labels_u16((const uint16_t*)labels, n, out);
        case 'i': return fm_decode_labels_i32((const int32_t*)labels, n, out);
        case 'I': return fm_decode_labels_u32((const uint32_t*)labels, n, out);
        case 'l': return sizeof(long) == 8 ? fm_decode_labels_i64((const int64_t*)labels, n, out)
                                           : fm_decode_labels_i32((const int32_t*)labels, n, out);
        case 'L': return sizeof(long) == 8 ? fm_decode_labels_u64((const uint64_t*)labels, n, out)
                                           : fm_decode_labels_u32((const uint32_t*)labels, n, out);
        case 'q': return fm_decode_labels_i64((const int64_t*)labels, n, out);
        case 'Q': return fm_decode_labels_u64((const uint64_t*)labels, n, out);
        case 'f': return fm_decode_labels_f32((const float*)labels, n, out);
        case 'd': return fm_decode_labels_f64((const double*)labels, n, out);
        default: return 0;
    }
}

#endif
