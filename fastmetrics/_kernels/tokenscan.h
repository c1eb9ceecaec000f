/* A text's tokens, in one pass over its code points.
 *
 * sacrebleu's tokenizers put spaces around what they separate, by regular expressions one after the other, and split at
 * white space. What these do together, each to what the one before left, one pass can tell:
 *
 * - A symbol is always a token.
 * - A mark ("." and "," to 13a, all punctuation to intl) is separated where no number stands before it ([^0-9][.,]), or
 *   none behind it ([.,][^0-9]). The first of these expressions takes a run of marks in pairs, because a mark that was
 *   one's "no number" cannot be the next one's: from the character before the run on where that is no number, else from
 *   the first mark on. So every mark of a run becomes a token but the last where it is left over (an even number of
 *   marks behind a word, an odd one behind a number) and a number follows: it then begins that number's token ("1...2"
 *   ends in ".2"), and a single one behind a number joins both ("1.2").
 * - What has no neighbour, at the ends of a line, matches neither expression, as if a number stood there; 13a alone
 *   puts spaces there.
 * - A hyphen right behind a digit is a token.
 *
 * Numbers are 0 to 9 except for intl. `text` and `out` may be one array where `out` is not ahead: as much is written as
 * was read, at most, and what is read again, the character before a mark, is overwritten by itself only.
 */
#ifndef FASTMETRICS_TOKENSCAN_H
#define FASTMETRICS_TOKENSCAN_H

#include "unicodeclasses.h"

#include <stdint.h>
#include <string.h>

#if defined(_MSC_VER)
#define FM_INLINE static __forceinline
#else
#define FM_INLINE static inline __attribute__((always_inline))
#endif

/* Tokenizers by rules. */
enum { FM_13A, FM_ZH, FM_INTL };

/* What a character is to them; those up to FM_DIGIT make words. */
enum { FM_WORD, FM_DIGIT, FM_BLANK, FM_ALONE, FM_RUN, FM_HYPHEN };

/* Of ASCII. 13a and zh: FM_ALONE is [{-~[-` -&(-+:-@/] without the space. */
static const uint8_t fm_western[128] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2,
    2, 3, 3, 3, 3, 3, 3, 0, 3, 3, 3, 3, 4, 5, 4, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3,
    3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 3, 3, 3, 3,
    3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 3, 3, 3, 0,
};

/* intl: punctuation is FM_RUN, symbols are FM_ALONE. */
static const uint8_t fm_international[128] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2,
    2, 4, 4, 4, 3, 4, 4, 4, 4, 4, 4, 3, 4, 4, 4, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4, 4, 3, 3, 3, 4,
    4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 4, 4, 3, 4,
    3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 3, 4, 3, 0,
};

/* What str.split() splits at. */
FM_INLINE int fm_is_space(uint32_t c) {
    if (c <= 0x20) return c == 0x20 || c - 9 < 5 || c - 0x1c < 4;
    if (c < 0x85) return 0;
    return c == 0x85 || c == 0xa0 || c == 0x1680 || c - 0x2000 < 11 || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

/* What sacrebleu's zh sets apart: its ranges, of which two were meant for other planes. Python compares the strings
 * "\u20000" and "\u2a6d6", two characters each, with one character: U+2001 to U+2A6D. */
FM_INLINE int fm_is_chinese(uint32_t c) {
    if (c < 0x2001) return 0;
    if (c <= 0x2a6d) return 1;
    if (c < 0x4e00)
        return c - 0x2e80 < 0x80 || c - 0x2f00 < 0xe0 || c - 0x2ff0 < 0x50 || c - 0x3100 < 0x30 || c - 0x31a0 < 0x20 ||
               c - 0x31c0 < 0x30 || c - 0x3200 < 0x200 || (c >= 0x3400 && c <= 0x4db5);
    if (c <= 0x9fbb) return 1;
    if (c < 0xf900 || c > 0xffef) return 0;
    if (c <= 0xfa2d || c >= 0xff00) return 1;
    return c - 0xfa30 < 0x3b || c - 0xfa70 < 0x6a || c - 0xfe10 < 0x10 || c - 0xfe30 < 0x20;
}

static const uint8_t fm_international_class[9] = {
    FM_WORD, FM_WORD, FM_WORD, FM_DIGIT, FM_DIGIT, FM_WORD, FM_RUN, FM_ALONE, FM_BLANK,
};

FM_INLINE int fm_kind(int rules, uint32_t c) {
    if (c < 128) return rules == FM_INTL ? fm_international[c] : fm_western[c];
    if (rules == FM_INTL) return fm_international_class[fm_unicode_class(c)];
    if (fm_is_space(c)) return FM_BLANK;
    if (rules == FM_ZH && fm_is_chinese(c)) return FM_ALONE;
    return FM_WORD;
}

/* Where something stands that 13a replaces before it separates anything: an entity, "<skipped>", or a hyphen at the end
 * of a line. Only looked at where one of their first characters was found. */
FM_INLINE int fm_is_replaced(const uint32_t* text, int64_t at, int64_t n) {
    uint32_t c = text[at];
    uint32_t next = at + 1 < n ? text[at + 1] : 0;
    if (c == '&') return next == 'q' || next == 'a' || next == 'l' || next == 'g';
    if (c == '<') return next == 's';
    return c == '-' && next == '\n';
}

typedef struct {
    uint32_t* points;       /* of tokens, one after the other */
    int64_t* starts;        /* where they begin */
    int64_t n_points;
    int64_t n_tokens;
} fm_tokens;

/* Adds the tokens of a text to `tokens`; 0, and nothing added, where 13a has to replace something first (`replaced`
 * says that it has). */
FM_INLINE int fm_separate(int rules, const uint32_t* text, int64_t n, int replaced, fm_tokens* tokens) {
    uint32_t* out = tokens->points;
    int64_t* starts = tokens->starts;
    int64_t o = tokens->n_points;
    int64_t t = tokens->n_tokens;
    int64_t i = 0;
    int64_t run, j;
    int open = 0;
    int kind, before, behind, left;
    while (i < n) {
        uint32_t c = text[i];
        kind = fm_kind(rules, c);
        if (kind == FM_HYPHEN) {
            if (rules == FM_13A && !replaced && fm_is_replaced(text, i, n)) return 0;
            kind = i && fm_kind(rules, text[i - 1]) == FM_DIGIT ? FM_ALONE : FM_WORD;
        }
        if (kind <= FM_DIGIT) {
            starts[t] = o;
            t += !open;
            open = 1;
            do {
                out[o++] = c;
                if (++i == n) break;
                c = text[i];
            } while (fm_kind(rules, c) <= FM_DIGIT);
        } else if (kind == FM_BLANK) {
            open = 0;
            i++;
        } else if (kind == FM_ALONE) {
            if (rules == FM_13A && !replaced && fm_is_replaced(text, i, n)) return 0;
            starts[t++] = o;
            out[o++] = c;
            open = 0;
            i++;
        } else {
            before = i ? fm_kind(rules, text[i - 1]) == FM_DIGIT : rules != FM_13A;
            for (run = 1; i + run < n && fm_kind(rules, text[i + run]) == FM_RUN; run++) {}
            behind = i + run < n ? fm_kind(rules, text[i + run]) == FM_DIGIT : rules != FM_13A;
            left = behind && (run & 1) == before;
            if (left && before && run == 1) {
                starts[t] = o;
                t += !open;
                out[o++] = c;
            } else {
                for (j = 0; j < run; j++) {
                    starts[t++] = o;
                    out[o++] = text[i + j];
                }
            }
            open = left;
            i += run;
        }
    }
    tokens->n_points = o;
    tokens->n_tokens = t;
    return 1;
}

/* Copies a text without a word in it, or with the word's replacement (one character, or none: 0); returns the length.
 * Copies onto itself. */
static int64_t fm_replace(uint32_t* out, int64_t n, const char* word, uint32_t replacement) {
    int64_t length = (int64_t)strlen(word);
    int64_t i = 0;
    int64_t o = 0;
    int64_t j;
    while (i < n) {
        for (j = 0; j < length && i + j < n && out[i + j] == (uint32_t)(unsigned char)word[j]; j++) {}
        if (j == length) {
            i += length;
            if (replacement) out[o++] = replacement;
        } else {
            out[o++] = out[i++];
        }
    }
    return o;
}

/* A text of 13a that holds something to replace: in this order, each in what the one before left. */
static void fm_separate_replaced(const uint32_t* text, int64_t n, uint32_t* room, fm_tokens* tokens) {
    memmove(room, text, (size_t)n * sizeof(uint32_t));
    n = fm_replace(room, n, "<skipped>", 0);
    n = fm_replace(room, n, "-\n", 0);
    n = fm_replace(room, n, "&quot;", '"');
    n = fm_replace(room, n, "&amp;", '&');
    n = fm_replace(room, n, "&lt;", '<');
    n = fm_replace(room, n, "&gt;", '>');
    fm_separate(FM_13A, room, n, 1, tokens);
}

/* Of all texts. `tokens->points` has room for all points, and so text i, prepared, fits at offsets[i] - offsets[0]: no
 * token of it comes to lie behind what was read. */
FM_INLINE void fm_separate_all(
    int rules, const uint32_t* points, const int64_t* offsets, int64_t n, fm_tokens* tokens, int64_t* text_tokens
) {
    int64_t i, start, stop;
    for (i = 0; i < n; i++) {
        start = offsets[i];
        stop = offsets[i + 1];
        text_tokens[i] = tokens->n_tokens;
        while (stop > start && fm_is_space(points[stop - 1])) stop--;
        if (rules == FM_ZH)
            while (start < stop && fm_is_space(points[start])) start++;
        if (!fm_separate(rules, points + start, stop - start, 0, tokens))
            fm_separate_replaced(points + start, stop - start, tokens->points + (start - offsets[0]), tokens);
    }
    text_tokens[n] = tokens->n_tokens;
    tokens->starts[tokens->n_tokens] = tokens->n_points;
}

static void fm_split_13a(const uint32_t* points, const int64_t* offsets, int64_t n, fm_tokens* tokens, int64_t* ends) {
    fm_separate_all(FM_13A, points, offsets, n, tokens, ends);
}

static void fm_split_zh(const uint32_t* points, const int64_t* offsets, int64_t n, fm_tokens* tokens, int64_t* ends) {
    fm_separate_all(FM_ZH, points, offsets, n, tokens, ends);
}

static void fm_split_intl(const uint32_t* points, const int64_t* offsets, int64_t n, fm_tokens* tokens, int64_t* ends) {
    fm_separate_all(FM_INTL, points, offsets, n, tokens, ends);
}

/* Splits at white space. */
static void fm_split_none(const uint32_t* points, const int64_t* offsets, int64_t n, fm_tokens* tokens, int64_t* ends) {
    int64_t o = 0;
    int64_t t = 0;
    int64_t i, at;
    for (i = 0; i < n; i++) {
        at = offsets[i];
        ends[i] = t;
        for (;;) {
            while (at < offsets[i + 1] && fm_is_space(points[at])) at++;
            if (at == offsets[i + 1]) break;
            tokens->starts[t++] = o;
            while (at < offsets[i + 1] && !fm_is_space(points[at])) tokens->points[o++] = points[at++];
        }
    }
    ends[n] = t;
    tokens->starts[t] = o;
}

/* Every character but white space is a token. */
static void fm_split_char(const uint32_t* points, const int64_t* offsets, int64_t n, fm_tokens* tokens, int64_t* ends) {
    int64_t t = 0;
    int64_t i, at;
    for (i = 0; i < n; i++) {
        ends[i] = t;
        for (at = offsets[i]; at < offsets[i + 1]; at++) {
            tokens->points[t] = points[at];
            tokens->starts[t] = t;
            t += !fm_is_space(points[at]);
        }
    }
    ends[n] = t;
    tokens->starts[t] = t;
}

/* The character of [a-z0-9] that str.lower() makes of c, else 0. Outside ASCII two become such: the Kelvin sign, and the
 * capital i with a dot above (followed by the dot, which is none). `dotted` says that a token ends behind it. */
FM_INLINE uint32_t fm_alphanumeric(uint32_t c, int* dotted) {
    if (c - 'a' < 26 || c - '0' < 10) return c;
    if (c - 'A' < 26) return c + 32;
    if (c == 0x212a) return 'k';
    if (c == 0x130) {
        *dotted = 1;
        return 'i';
    }
    return 0;
}

/* rouge-score's: runs of [a-z0-9] of the text in lower case. */
static void fm_split_alphanumeric(
    const uint32_t* points, const int64_t* offsets, int64_t n, fm_tokens* tokens, int64_t* ends
) {
    int64_t o = 0;
    int64_t t = 0;
    int64_t i, at;
    for (i = 0; i < n; i++) {
        int open = 0;
        ends[i] = t;
        for (at = offsets[i]; at < offsets[i + 1]; at++) {
            int dotted = 0;
            uint32_t c = fm_alphanumeric(points[at], &dotted);
            if (c) {
                tokens->starts[t] = o;
                t += !open;
                tokens->points[o++] = c;
                open = !dotted;
            } else {
                open = 0;
            }
        }
    }
    ends[n] = t;
    tokens->starts[t] = o;
}

/* Runs of letters, marks and numbers; a letter of a script without spaces is a token, with the marks behind it. */
static void fm_split_unicode(
    const uint32_t* points, const int64_t* offsets, int64_t n, fm_tokens* tokens, int64_t* ends
) {
    enum { NONE, RUN, SINGLE };     /* the token that the next character may join */
    int64_t o = 0;
    int64_t t = 0;
    int64_t i, at;
    for (i = 0; i < n; i++) {
        int open = NONE;
        ends[i] = t;
        for (at = offsets[i]; at < offsets[i + 1]; at++) {
            uint32_t c = points[at];
            int kind = fm_unicode_class(c);
            if (kind == FM_OTHER || kind > FM_MARK) {
                open = NONE;
                continue;
            }
            tokens->starts[t] = o;
            tokens->points[o++] = c;
            if (kind == FM_SOLO || kind == FM_SOLO_NUMBER) {
                t++;
                open = SINGLE;
            } else if (kind != FM_MARK) {
                t += open != RUN;
                open = RUN;
            } else if (open == NONE) {
                t++;
                open = RUN;
            }
        }
    }
    ends[n] = t;
    tokens->starts[t] = o;
}

#endif
