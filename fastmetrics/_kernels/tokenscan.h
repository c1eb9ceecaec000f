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
enum { FM_13A, FM_ZH, FM_INTL, FM_NONE };

/* What a character is to them. Bits say that it belongs to a word (1), that it is a token of its own (2), that it is
 * kept (4); from FM_RUN on something else has to be looked at first. */
enum {
    FM_BLANK = 0,
    FM_WORD = 5,
    FM_ALONE = 6,
    FM_RUN = 16,                    /* a mark: one of a run */
    FM_HYPHEN = 32,                 /* what stands before it decides */
    FM_REPLACED = 64 | FM_ALONE     /* something to be replaced may begin here */
};

/* Of ASCII. 13a and zh: FM_ALONE is [{-~[-` -&(-+:-@/] without the space, and with FM_REPLACED for & and <. */
static const uint8_t fm_western[128] = {
     5,  5,  5,  5,  5,  5,  5,  5,  5,  0,  0,  0,  0,  0,  5,  5,  5,  5,  5,  5,
     5,  5,  5,  5,  5,  5,  5,  5,  0,  0,  0,  0,  0,  6,  6,  6,  6,  6, 70,  5,
     6,  6,  6,  6, 16, 32, 16,  6,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  6,  6,
    70,  6,  6,  6,  6,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,
     5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  6,  6,  6,  6,  6,  6,  5,  5,  5,
     5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,
     5,  5,  5,  6,  6,  6,  6,  5,
};

/* intl: punctuation is FM_RUN, symbols are FM_ALONE. */
static const uint8_t fm_international[128] = {
     5,  5,  5,  5,  5,  5,  5,  5,  5,  0,  0,  0,  0,  0,  5,  5,  5,  5,  5,  5,
     5,  5,  5,  5,  5,  5,  5,  5,  0,  0,  0,  0,  0, 16, 16, 16,  6, 16, 16, 16,
    16, 16, 16,  6, 16, 16, 16, 16,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5, 16, 16,
     6,  6,  6, 16, 16,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,
     5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5, 16, 16, 16,  6, 16,  6,  5,  5,  5,
     5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,
     5,  5,  5, 16,  6, 16,  6,  5,
};

static const uint8_t fm_spaces[128] = {
    5, 5, 5, 5, 5, 5, 5, 5, 5, 0, 0, 0, 0, 0, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 0, 0, 0, 0,
    0, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
    5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
    5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
};

/* The characters of [a-z0-9] that str.lower() makes of ASCII. */
static const uint8_t fm_alphanumeric[128] = {
     0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
     0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
     0,  0,  0,  0,  0,  0,  0,  0, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57,  0,  0,
     0,  0,  0,  0,  0, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111,
    112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122,  0,  0,  0,  0,  0,  0, 97, 98, 99,
    100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119,
    120, 121, 122,  0,  0,  0,  0,  0,
};

/* What str.split() splits at. */
FM_INLINE int fm_is_space(uint32_t c) {
    if (c < 128) return !fm_spaces[c];
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
    FM_WORD, FM_WORD, FM_WORD, FM_WORD, FM_WORD, FM_WORD, FM_RUN, FM_ALONE, FM_BLANK,
};

FM_INLINE const uint8_t* fm_ascii_kinds(int rules) {
    return rules == FM_NONE ? fm_spaces : rules == FM_INTL ? fm_international : fm_western;
}

FM_INLINE int fm_kind(int rules, uint32_t c) {
    if (c < 128) return fm_ascii_kinds(rules)[c];
    if (rules == FM_INTL) return fm_international_class[fm_unicode_class(c)];
    if (fm_is_space(c)) return FM_BLANK;
    if (rules == FM_ZH && fm_is_chinese(c)) return FM_ALONE;
    return FM_WORD;
}

FM_INLINE int fm_is_number(int rules, uint32_t c) {
    int found;
    if (c < 128 || rules != FM_INTL) return c - '0' < 10;
    found = fm_unicode_class(c);
    return found == FM_NUMBER || found == FM_SOLO_NUMBER;
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
    int64_t open;           /* the kind of the last character: a word goes on behind FM_WORD */
} fm_tokens;

/* Adds a character as FM_WORD, FM_ALONE or FM_BLANK, without a branch: words end where nobody can foresee it. What is
 * no token is written too, and written over. */
FM_INLINE void fm_add(fm_tokens* tokens, uint32_t c, int64_t kind) {
    tokens->points[tokens->n_points] = c;
    tokens->starts[tokens->n_tokens] = tokens->n_points;
    tokens->n_points += kind >> 2;
    tokens->n_tokens += (kind >> 1 | (kind & ~tokens->open)) & 1;
    tokens->open = kind;
}

/* Adds characters of ASCII from `at` on, up to `n` or the first that needs another look; returns where. */
FM_INLINE int64_t fm_add_ascii(const uint8_t* kinds, const uint32_t* text, int64_t at, int64_t n, fm_tokens* tokens) {
    uint32_t* points = tokens->points;
    int64_t* starts = tokens->starts;
    uint64_t o = (uint64_t)tokens->n_points;
    uint64_t t = (uint64_t)tokens->n_tokens;
    uint64_t no_word = ~(uint64_t)tokens->open;
    for (; at < n; at++) {
        uint32_t c = text[at];
        uint64_t kind;
        if (c >= 128) break;
        kind = kinds[c];
        if (kind >= FM_RUN) break;
        points[o] = c;
        starts[t] = (int64_t)o;
        o += kind >> 2;
        t += ((kind & no_word) | kind >> 1) & 1;
        no_word = ~kind;
    }
    tokens->n_points = (int64_t)o;
    tokens->n_tokens = (int64_t)t;
    tokens->open = (int64_t)~no_word;
    return at;
}

/* Adds the run of marks that begins at `at`; returns its length. */
FM_INLINE int64_t fm_add_run(int rules, const uint32_t* text, int64_t at, int64_t n, fm_tokens* tokens) {
    int before = at ? fm_is_number(rules, text[at - 1]) : rules != FM_13A;
    int64_t run = 1;
    int64_t i;
    int behind, left;
    while (at + run < n && fm_kind(rules, text[at + run]) == FM_RUN) run++;
    behind = at + run < n ? fm_is_number(rules, text[at + run]) : rules != FM_13A;
    left = behind && (run & 1) == before;
    if (!before) tokens->open = FM_BLANK;
    for (i = 0; i < run - left; i++) fm_add(tokens, text[at + i], FM_ALONE);
    if (left) fm_add(tokens, text[at + i], FM_WORD);
    return run;
}

/* Adds the tokens of a text to `all`; 0, and nothing added, where 13a has to replace something first (`replaced` says
 * that it has). */
FM_INLINE int fm_separate(int rules, const uint32_t* text, int64_t n, int replaced, fm_tokens* all) {
    fm_tokens tokens = *all;
    int64_t i = 0;
    tokens.open = FM_BLANK;
    for (;;) {
        uint32_t c;
        int kind;
        i = fm_add_ascii(fm_ascii_kinds(rules), text, i, n, &tokens);
        if (i == n) break;
        c = text[i];
        kind = fm_kind(rules, c);
        if (kind >= FM_RUN) {
            if (kind == FM_RUN) {
                i += fm_add_run(rules, text, i, n, &tokens);
                continue;
            }
            if (rules == FM_13A && !replaced && fm_is_replaced(text, i, n)) return 0;
            kind = kind == FM_HYPHEN && !(i && fm_is_number(rules, text[i - 1])) ? FM_WORD : FM_ALONE;
        }
        fm_add(&tokens, c, kind);
        i++;
    }
    *all = tokens;
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

static void fm_split_none(const uint32_t* points, const int64_t* offsets, int64_t n, fm_tokens* tokens, int64_t* ends) {
    fm_separate_all(FM_NONE, points, offsets, n, tokens, ends);
}

/* Every character but white space is a token. */
static void fm_split_char(const uint32_t* points, const int64_t* offsets, int64_t n, fm_tokens* tokens, int64_t* ends) {
    uint32_t* out = tokens->points;
    int64_t t = 0;
    int64_t i, at;
    for (i = 0; i < n; i++) {
        ends[i] = t;
        for (at = offsets[i]; at < offsets[i + 1]; at++) {
            out[t] = points[at];
            t += !fm_is_space(points[at]);
        }
    }
    ends[n] = t;
    for (i = 0; i <= t; i++) tokens->starts[i] = i;
}

/* rouge-score's: runs of [a-z0-9] of the text in lower case. Outside ASCII two characters become such: the Kelvin sign,
 * and the capital i with a dot above, followed by the dot, which is none. */
static void fm_split_alphanumeric(
    const uint32_t* points, const int64_t* offsets, int64_t n, fm_tokens* tokens, int64_t* ends
) {
    fm_tokens own = *tokens;
    int64_t i, at;
    for (i = 0; i < n; i++) {
        ends[i] = own.n_tokens;
        own.open = FM_BLANK;
        for (at = offsets[i]; at < offsets[i + 1]; at++) {
            uint32_t c = points[at];
            uint32_t small = c < 128 ? fm_alphanumeric[c] : c == 0x212a ? 'k' : c == 0x130 ? 'i' : 0;
            fm_add(&own, small, FM_WORD & -(small != 0));
            if (c == 0x130) own.open = FM_BLANK;
        }
    }
    ends[n] = own.n_tokens;
    own.starts[own.n_tokens] = own.n_points;
}

/* Runs of letters, marks and numbers; a letter of a script without spaces is a token, with the marks behind it: those
 * join FM_ALONE. */
static void fm_split_unicode(
    const uint32_t* points, const int64_t* offsets, int64_t n, fm_tokens* tokens, int64_t* ends
) {
    static const uint8_t kinds[9] = {
        FM_BLANK, FM_WORD, FM_ALONE, FM_WORD, FM_ALONE, FM_WORD, FM_BLANK, FM_BLANK, FM_BLANK,
    };
    fm_tokens own = *tokens;
    int64_t i, at;
    for (i = 0; i < n; i++) {
        ends[i] = own.n_tokens;
        own.open = FM_BLANK;
        for (at = offsets[i]; at < offsets[i + 1]; at++) {
            uint32_t c = points[at];
            int kind = FM_BLANK;
            if (c < 128) {
                kind = FM_WORD & -(fm_alphanumeric[c] != 0);
            } else {
                int found = fm_unicode_class(c);
                if (found == FM_MARK && own.open == FM_ALONE) {
                    own.points[own.n_points++] = c;
                    continue;
                }
                kind = kinds[found];
            }
            fm_add(&own, c, kind);
        }
    }
    ends[n] = own.n_tokens;
    own.starts[own.n_tokens] = own.n_points;
}

#endif
