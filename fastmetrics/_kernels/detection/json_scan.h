/* A scanner of JSON for files that are mostly arrays of flat objects.
 *
 * It reads the common forms and rejects everything else. NULL means that the text is not JSON, or that it has
 * something this scanner does not read (NaN, nesting deeper than 64, numbers of hundreds of digits). The caller then
 * uses Python's json module, so this scanner never explains an error.
 *
 * There is no bounds check: the text ends with at least 64 zero bytes, which occur nowhere in JSON.
 */
#ifndef FASTMETRICS_JSON_SCAN_H
#define FASTMETRICS_JSON_SCAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "formats/decimals.h"
#include "formats/trec_scan.h" /* eight digits at once, FM_HAS_SSE2, fm_first_bit */

#define FM_LONGEST_NUMBER 300
#define FM_DEEPEST 64

/* Kinds of fields, and what they store in a row of 8-byte cells. */
#define FM_INTEGER 0 /* one int64 */
#define FM_NUMBER 1  /* one double */
#define FM_BOX 2     /* four doubles */
#define FM_SPAN 3    /* start and stop of the value in the text */

typedef struct {
    const uint8_t* name;
    int64_t length;
    int64_t kind;
    int64_t cell;
} FmField;

typedef struct {
    const uint8_t* base;
    int64_t* cells;
    int64_t n_cells; /* of one row */
    uint64_t* seen;  /* for each row a bit for each field that it has */
    int64_t* hard;   /* numbers that Python has to read: cell, start, stop */
    int64_t n_hard;
    int wide; /* 1 if the text has bytes that are not ASCII */
} FmRows;

static inline const uint8_t* fm_skip_space(const uint8_t* text) {
    while (*text == ' ' || *text == '\n' || *text == '\r' || *text == '\t') text++;
    return text;
}

/* The first quote, backslash or control character. Sets `wide` if bytes before it are not ASCII. */
static inline const uint8_t* fm_plain_text_end(const uint8_t* text, int* wide) {
#if defined(FM_HAS_SSE2)
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i last_control = _mm_set1_epi8(0x1f);
    for (;;) {
        __m128i bytes = _mm_loadu_si128((const __m128i*)text);
        __m128i ends = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash));
        unsigned int mask, high = (unsigned int)_mm_movemask_epi8(bytes);
        ends = _mm_or_si128(ends, _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes));
        mask = (unsigned int)_mm_movemask_epi8(ends);
        if (mask) {
            int index = fm_first_bit(mask);
            if (high & ((1u << index) - 1)) *wide = 1;
            return text + index;
        }
        if (high) *wide = 1;
        text += 16;
    }
#else
    while (*text != '"' && *text != '\\' && *text > 0x1f) {
        if (*text & 0x80) *wide = 1;
        text++;
    }
    return text;
#endif
}

static inline int fm_is_hexadecimal(uint8_t byte) {
    return (uint8_t)(byte - '0') < 10 || (uint8_t)((byte | 0x20) - 'a') < 6;
}

/* The end of the string whose opening quote is just before `text`. Sets `escaped` if it has a backslash. */
static inline const uint8_t* fm_skip_string(const uint8_t* text, int* wide, int* escaped) {
    for (;;) {
        text = fm_plain_text_end(text, wide);
        if (*text == '"') return text + 1;
        if (*text != '\\') return NULL;
        *escaped = 1;
        switch (text[1]) {
            case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't':
                text += 2;
                break;
            case 'u':
                if (!(fm_is_hexadecimal(text[2]) && fm_is_hexadecimal(text[3]) && fm_is_hexadecimal(text[4]) &&
                      fm_is_hexadecimal(text[5])))
                    return NULL;
                text += 6;
                break;
            default:
                return NULL;
        }
    }
}

static inline int fm_is_digit(uint8_t byte) { return (uint8_t)(byte - '0') < 10; }

/* Reads a number. Returns 0 if it is not one that this scanner reads, 1 if `value` is set, 2 if Python's float() has to
   read it; `end` is set for 1 and 2. */
static inline int fm_read_number(const uint8_t* text, const uint8_t** end, double* value) {
    const uint8_t* start = text;
    const uint8_t* first;
    uint64_t digits = 0;
    int64_t n_digits, zeros = 0, exponent = 0, eight;
    int negative = *text == '-', whole = 1;
    text += negative;
    first = text;
    if (*text == '0') {
        text++;
        zeros = 1;
    } else {
        while (fm_is_digit(*text)) digits = digits * 10 + (uint64_t)(*text++ - '0');
        if (text == first) return 0;
    }
    n_digits = text - first;
    if (*text == '.') {
        const uint8_t* fraction = ++text;
        whole = 0;
        if (!digits)
            while (*text == '0') text++;
        zeros += text - fraction;
        while ((eight = fm_parse_eight_digits(text)) >= 0) {
            digits = digits * 100000000 + (uint64_t)eight;
            text += 8;
        }
        while (fm_is_digit(*text)) digits = digits * 10 + (uint64_t)(*text++ - '0');
        if (text == fraction) return 0;
        n_digits += text - fraction;
        exponent = fraction - text;
    }
    if ((*text | 0x20) == 'e') {
        int64_t scale = 0;
        int below = 0;
        whole = 0;
        text++;
        if (*text == '+' || *text == '-') below = *text++ == '-';
        if (!fm_is_digit(*text)) return 0;
        while (fm_is_digit(*text)) {
            if (scale < 100000) scale = scale * 10 + (*text - '0');
            text++;
        }
        exponent += below ? -scale : scale;
    }
    if (text - start > FM_LONGEST_NUMBER) return 0;
    *end = text;
    if (n_digits - zeros > FM_MAX_DIGITS) return whole ? 0 : 2;
    if (!fm_decimal_value(digits, exponent, value)) return 2;
    if (negative && !(whole && !digits)) *value = -*value; /* -0 is an integer, and integers have no signed zero */
    return 1;
}

/* Reads an integer of at most 18 digits; returns 0 if there is none. */
static inline int fm_read_integer(const uint8_t* text, const uint8_t** end, int64_t* value) {
    int negative = *text == '-';
    const uint8_t* first;
    int64_t number = 0;
    text += negative;
    first = text;
    while (fm_is_digit(*text)) {
        if (text - first == 18) return 0;
        number = number * 10 + (*text++ - '0');
    }
    if (text == first || (*first == '0' && text - first > 1)) return 0;
    if (*text == '.' || (*text | 0x20) == 'e') return 0;
    *value = negative ? -number : number;
    *end = text;
    return 1;
}

/* The end of a number whose value is not needed. */
static inline const uint8_t* fm_skip_number(const uint8_t* text) {
    const uint8_t* start = text;
    const uint8_t* first;
    text += *text == '-';
    first = text;
    while (fm_is_digit(*text)) text++;
    if (text == first || (*first == '0' && text - first > 1)) return NULL;
    if (*text == '.') {
        first = ++text;
        while (fm_is_digit(*text)) text++;
        if (text == first) return NULL;
    }
    if ((*text | 0x20) == 'e') {
        text++;
        text += *text == '+' || *text == '-';
        first = text;
        while (fm_is_digit(*text)) text++;
        if (text == first) return NULL;
    }
    return text - start > FM_LONGEST_NUMBER ? NULL : text;
}

/* The end of the value of any kind that begins at `text`. */
static const uint8_t* fm_skip_value(const uint8_t* text, int* wide) {
    uint64_t objects = 0; /* one bit for each level, the innermost is the lowest bit */
    int depth = 0, escaped = 0;
value:
    switch (*text) {
        case '"':
            text = fm_skip_string(text + 1, wide, &escaped);
            break;
        case '{':
        case '[': {
            uint8_t closing = (uint8_t)(*text + 2); /* '}' and ']' come two after '{' and '[' in ASCII */
            if (depth == FM_DEEPEST) return NULL;
            objects = objects << 1 | (uint64_t)(*text == '{');
            depth++;
            text = fm_skip_space(text + 1);
            if (*text == closing) goto close;
            if (objects & 1) goto key;
            goto value;
        }
        case 't':
            text = memcmp(text, "true", 4) ? NULL : text + 4;
            break;
        case 'f':
            text = memcmp(text, "false", 5) ? NULL : text + 5;
            break;
        case 'n':
            text = memcmp(text, "null", 4) ? NULL : text + 4;
            break;
        default:
            text = fm_skip_number(text);
    }
after:
    if (!text || !depth) return text;
    text = fm_skip_space(text);
    if (*text == ',') {
        text = fm_skip_space(text + 1);
        if (objects & 1) goto key;
        goto value;
    }
    if (*text != ((objects & 1) ? '}' : ']')) return NULL;
close:
    objects >>= 1;
    depth--;
    text++;
    goto after;
key:
    if (*text != '"') return NULL;
    text = fm_skip_string(text + 1, wide, &escaped);
    if (!text) return NULL;
    text = fm_skip_space(text);
    if (*text != ':') return NULL;
    text = fm_skip_space(text + 1);
    goto value;
}

/* Reads a number into a cell. */
static inline const uint8_t* fm_number_cell(const uint8_t* text, FmRows* rows, int64_t* cell) {
    const uint8_t* end;
    double value = 0.0;
    int read = fm_read_number(text, &end, &value);
    if (!read) return NULL;
    if (read == 2) {
        int64_t* hard = rows->hard + 3 * rows->n_hard++;
        hard[0] = cell - rows->cells;
        hard[1] = text - rows->base;
        hard[2] = end - rows->base;
    }
    memcpy(cell, &value, 8);
    return end;
}

static inline const uint8_t* fm_field_value(const uint8_t* text, FmRows* rows, int64_t kind, int64_t* cell) {
    const uint8_t* end;
    int i;
    switch (kind) {
        case FM_INTEGER:
            return fm_read_integer(text, &end, cell) ? end : NULL;
        case FM_NUMBER:
            return fm_number_cell(text, rows, cell);
        case FM_BOX:
            if (*text != '[') return NULL;
            for (i = 0; i < 4; i++) {
                text = fm_number_cell(fm_skip_space(text + 1), rows, cell + i);
                if (!text) return NULL;
                text = fm_skip_space(text);
                if (*text != (i < 3 ? ',' : ']')) return NULL;
            }
            return text + 1;
        default:
            end = fm_skip_value(text, &rows->wide);
            cell[0] = text - rows->base;
            cell[1] = end ? end - rows->base : 0;
            return end;
    }
}

/* Reads one object into one row; `text` is its opening brace. A repeated field is left to the json module. */
static inline const uint8_t* fm_row(
    const uint8_t* text, FmRows* rows, const FmField* fields, int64_t n_fields, int64_t row) {
    int64_t next = 0, i;
    uint64_t seen = 0;
    if (*text != '{') return NULL;
    text = fm_skip_space(text + 1);
    while (*text != '}') {
        const uint8_t* name = text + 1;
        int64_t length, tries;
        int escaped = 0;
        if (*text != '"') return NULL;
        text = fm_skip_string(name, &rows->wide, &escaped);
        if (!text || escaped) return NULL;
        length = text - 1 - name;
        text = fm_skip_space(text);
        if (*text != ':') return NULL;
        text = fm_skip_space(text + 1);
        /* The objects of a file nearly always have the same order of fields: the next field is tried first. */
        for (i = next, tries = 0; tries < n_fields; tries++) {
            if (fields[i].length == length && memcmp(fields[i].name, name, (size_t)length) == 0) break;
            i = i + 1 == n_fields ? 0 : i + 1;
        }
        if (tries == n_fields) {
            text = fm_skip_value(text, &rows->wide);
        } else {
            next = i + 1 == n_fields ? 0 : i + 1;
            if (seen >> i & 1) return NULL;
            seen |= (uint64_t)1 << i;
            text = fm_field_value(text, rows, fields[i].kind, rows->cells + row * rows->n_cells + fields[i].cell);
        }
        if (!text) return NULL;
        text = fm_skip_space(text);
        if (*text == ',') {
            text = fm_skip_space(text + 1);
            if (*text != '"') return NULL;
        } else if (*text != '}') {
            return NULL;
        }
    }
    rows->seen[row] = seen;
    return text + 1;
}

#endif
