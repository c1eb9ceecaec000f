/* Tokenizers: the tokens of a text in one pass over its code points.
 *
 * sacrebleu's tokenizers apply regular expressions, one after the other, that put spaces around tokens. Then they split
 * at white space. One pass gives the same result by these rules:
 *
 * - A symbol is always a token.
 * - A mark ("." and "," in 13a, all punctuation in intl) is separated if the character before it is not a number
 *   ([^0-9][.,]), or if the character after it is not a number ([.,][^0-9]). The first expression consumes a run of
 *   marks in pairs, because a mark that was the [^0-9] of one match cannot be that of the next one. The pairs begin at
 *   the character before the run if that is not a number, else at the first mark. So every mark of a run becomes a
 *   token, with one exception: the last mark, if it has no pair (an even number of marks after a word, an odd number
 *   after a number) and a number follows. This mark begins the token of that number ("1...2" ends with ".2"). If it is
 *   the only mark of the run, it joins both numbers ("1.2").
 * - A mark at the start or end of a text has no neighbor there and matches neither expression, as if a number were
 *   there. Only 13a adds spaces at both ends.
 * - A hyphen directly after a digit is a token.
 *
 * Numbers are 0 to 9, except in intl. The input and output arrays can be the same if the output is not ahead of the
 * input: never more is written than was read, and the only character read twice, the one before a mark, has not been
 * changed.
 */
#ifndef FASTMETRICS_TEXT_TOKENS_TOKENIZER_SCAN_H
#define FASTMETRICS_TEXT_TOKENS_TOKENIZER_SCAN_H

#include "text/tokens/unicode_classes.h"

#include <stdint.h>
#include <string.h>

#if defined(_MSC_VER)
#define FM_INLINE static __forceinline
#else
#define FM_INLINE static inline __attribute__((always_inline))
#endif

/* The sets of rules. */
enum { FM_13A, FM_ZH, FM_INTL, FM_NONE, FM_CHAR, FM_ALPHANUMERIC, FM_UNICODE };

/* Kinds of characters. Bits: the character is part of a word (1), it is a separate token (2), it is copied (4). Kinds
 * from FM_RUN on depend on the neighboring characters. */
enum {
    FM_BLANK = 0,
    FM_WORD = 5,
    FM_SINGLE = 6,
    FM_RUN = 16,                    /* a mark, one of a run of marks */
    FM_HYPHEN = 32,                 /* depends on the character before it */
    FM_REPLACED = 64 | FM_SINGLE    /* may begin a text that 13a replaces */
};

/* Kinds of ASCII for 13a and zh. FM_SINGLE is [{-~[-` -&(-+:-@/] without the space; & and < are FM_REPLACED. */
static const uint8_t fm_13a_kinds[128] = {
     5,  5,  5,  5,  5,  5,  5,  5,  5,  0,  0,  0,  0,  0,  5,  5,  5,  5,  5,  5,
     5,  5,  5,  5,  5,  5,  5,  5,  0,  0,  0,  0,  0,  6,  6,  6,  6,  6, 70,  5,
     6,  6,  6,  6, 16, 32, 16,  6,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  6,  6,
    70,  6,  6,  6,  6,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,
     5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  6,  6,  6,  6,  6,  6,  5,  5,  5,
     5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,
     5,  5,  5,  6,  6,  6,  6,  5,
};

/* Kinds of ASCII for intl: punctuation is FM_RUN, symbols are FM_SINGLE. */
static const uint8_t fm_intl_kinds[128] = {
     5,  5,  5,  5,  5,  5,  5,  5,  5,  0,  0,  0,  0,  0,  5,  5,  5,  5,  5,  5,
     5,  5,  5,  5,  5,  5,  5,  5,  0,  0,  0,  0,  0, 16, 16, 16,  6, 16, 16, 16,
    16, 16, 16,  6, 16, 16, 16, 16,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5, 16, 16,
     6,  6,  6, 16, 16,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,
     5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5, 16, 16, 16,  6, 16,  6,  5,  5,  5,
     5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,
     5,  5,  5, 16,  6, 16,  6,  5,
};

/* Kinds of ASCII for splitting at white space. */
static const uint8_t fm_space_kinds[128] = {
    5, 5, 5, 5, 5, 5, 5, 5, 5, 0, 0, 0, 0, 0, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 0, 0, 0, 0,
    0, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
    5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
    5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
};

/* str.lower() of ASCII where that is in [a-z0-9], else 0. */
static const uint8_t fm_lower_alphanumeric[128] = {
     0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
     0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
     0,  0,  0,  0,  0,  0,  0,  0, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57,  0,  0,
     0,  0,  0,  0,  0, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111,
    112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122,  0,  0,  0,  0,  0,  0, 97, 98, 99,
    100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119,
    120, 121, 122,  0,  0,  0,  0,  0,
};

/* Returns whether str.split() splits at a character. */
FM_INLINE int fm_is_space(uint32_t c) {
    if (c < 128) return !fm_space_kinds[c];
    if (c < 0x85) return 0;
    return c == 0x85 || c == 0xa0 || c == 0x1680 || c - 0x2000 < 11 || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

/* Returns whether sacrebleu's zh separates a character. Its ranges are copied, with an error of one of them: it is
 * written as the strings "\u20000" and "\u2a6d6", which are two characters each in Python. A comparison of one
 * character with them gives the range U+2001 to U+2A6D. */
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

static const uint8_t fm_intl_class_kinds[9] = {
    FM_WORD, FM_WORD, FM_WORD, FM_WORD, FM_WORD, FM_WORD, FM_RUN, FM_SINGLE, FM_BLANK,
};

FM_INLINE const uint8_t* fm_ascii_kinds(int rules) {
    return rules == FM_NONE ? fm_space_kinds : rules == FM_INTL ? fm_intl_kinds : fm_13a_kinds;
}

FM_INLINE int fm_kind(int rules, uint32_t c) {
    if (c < 128) return fm_ascii_kinds(rules)[c];
    if (rules == FM_INTL) return fm_intl_class_kinds[fm_unicode_class(c)];
    if (fm_is_space(c)) return FM_BLANK;
    if (rules == FM_ZH && fm_is_chinese(c)) return FM_SINGLE;
    return FM_WORD;
}

FM_INLINE int fm_is_number(int rules, uint32_t c) {
    int unicode_class;
    if (c < 128 || rules != FM_INTL) return c - '0' < 10;
    unicode_class = fm_unicode_class(c);
    return unicode_class == FM_NUMBER || unicode_class == FM_UNSPACED_NUMBER;
}

/* Returns whether a text that 13a replaces first may begin here: an entity, "<skipped>", or a hyphen at the end of a
 * line. It is called only for their first characters. */
FM_INLINE int fm_is_replaced(const uint32_t* text, int64_t i, int64_t n) {
    uint32_t c = text[i];
    uint32_t next = i + 1 < n ? text[i + 1] : 0;
    if (c == '&') return next == 'q' || next == 'a' || next == 'l' || next == 'g';
    if (c == '<') return next == 's';
    return c == '-' && next == '\n';
}

typedef struct {
    uint32_t* points;       /* code points of the tokens, one after the other */
    int64_t* starts;        /* start of each token */
    int64_t n_points;
    int64_t n_tokens;
    int64_t last_kind;      /* kind of the last character; after FM_WORD the word continues */
} fm_tokens;

/* Adds a character as FM_WORD, FM_SINGLE or FM_BLANK. There is no branch, because the ends of words are not
 * predictable. A blank is written too, and overwritten by the next character. */
FM_INLINE void fm_add(fm_tokens* tokens, uint32_t c, int64_t kind) {
    tokens->points[tokens->n_points] = c;
    tokens->starts[tokens->n_tokens] = tokens->n_points;
    tokens->n_points += kind >> 2;
    tokens->n_tokens += (kind >> 1 | (kind & ~tokens->last_kind)) & 1;
    tokens->last_kind = kind;
}

/* Adds ASCII characters from `i` on, up to n or the first one that is not ASCII or depends on neighbors. Returns its
 * index. */
FM_INLINE int64_t fm_add_ascii(const uint8_t* kinds, const uint32_t* text, int64_t i, int64_t n, fm_tokens* tokens) {
    uint32_t* points = tokens->points;
    int64_t* starts = tokens->starts;
    uint64_t n_points = (uint64_t)tokens->n_points;
    uint64_t n_tokens = (uint64_t)tokens->n_tokens;
    uint64_t no_word = ~(uint64_t)tokens->last_kind;
    for (; i < n; i++) {
        uint32_t c = text[i];
        uint64_t kind;
        if (c >= 128) break;
        kind = kinds[c];
        if (kind >= FM_RUN) break;
        points[n_points] = c;
        starts[n_tokens] = (int64_t)n_points;
        n_points += kind >> 2;
        n_tokens += ((kind & no_word) | kind >> 1) & 1;
        no_word = ~kind;
    }
    tokens->n_points = (int64_t)n_points;
    tokens->n_tokens = (int64_t)n_tokens;
    tokens->last_kind = (int64_t)~no_word;
    return i;
}

/* Adds the run of marks that begins at `start`. Returns its length. */
FM_INLINE int64_t fm_add_run(int rules, const uint32_t* text, int64_t start, int64_t n, fm_tokens* tokens) {
    int number_before = start ? fm_is_number(rules, text[start - 1]) : rules != FM_13A;
    int64_t run = 1;
    int64_t i;
    int number_after, last_unpaired;
    while (start + run < n && fm_kind(rules, text[start + run]) == FM_RUN) run++;
    number_after = start + run < n ? fm_is_number(rules, text[start + run]) : rules != FM_13A;
    last_unpaired = number_after && (run & 1) == number_before;
    if (!number_before) tokens->last_kind = FM_BLANK;
    for (i = 0; i < run - last_unpaired; i++) fm_add(tokens, text[start + i], FM_SINGLE);
    if (last_unpaired) fm_add(tokens, text[start + i], FM_WORD);
    return run;
}

/* Adds the tokens of a text to `out`. If 13a must replace something first, and `replaced` is 0, returns 0 and adds
 * nothing. */
FM_INLINE int fm_tokenize(int rules, const uint32_t* text, int64_t n, int replaced, fm_tokens* out) {
    fm_tokens tokens = *out;
    int64_t i = 0;
    tokens.last_kind = FM_BLANK;
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
            kind = kind == FM_HYPHEN && !(i && fm_is_number(rules, text[i - 1])) ? FM_WORD : FM_SINGLE;
        }
        fm_add(&tokens, c, kind);
        i++;
    }
    *out = tokens;
    return 1;
}

/* Replaces a word in a text, in place, by one character, or removes it if the replacement is 0. Returns the
 * new length. */
static int64_t fm_replace(uint32_t* out, int64_t n, const char* word, uint32_t replacement) {
    int64_t length = (int64_t)strlen(word);
    int64_t i = 0;
    int64_t out_length = 0;
    int64_t j;
    while (i < n) {
        for (j = 0; j < length && i + j < n && out[i + j] == (uint32_t)(unsigned char)word[j]; j++) {}
        if (j == length) {
            i += length;
            if (replacement) out[out_length++] = replacement;
        } else {
            out[out_length++] = out[i++];
        }
    }
    return out_length;
}

/* Tokenizes a text by 13a after its replacements. Each one is applied to the result of the one before. */
static void fm_tokenize_replaced(const uint32_t* text, int64_t n, uint32_t* scratch, fm_tokens* tokens) {
    memmove(scratch, text, (size_t)n * sizeof(uint32_t));
    n = fm_replace(scratch, n, "<skipped>", 0);
    n = fm_replace(scratch, n, "-\n", 0);
    n = fm_replace(scratch, n, "&quot;", '"');
    n = fm_replace(scratch, n, "&amp;", '&');
    n = fm_replace(scratch, n, "&lt;", '<');
    n = fm_replace(scratch, n, "&gt;", '>');
    fm_tokenize(FM_13A, scratch, n, 1, tokens);
}

/* Tokenizes all texts. tokens->points has room for all code points, so text i after replacements fits there at
 * offsets[i] - offsets[0]. Its tokens never overwrite characters that have not been read. */
FM_INLINE void fm_tokenize_texts(
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
        if (!fm_tokenize(rules, points + start, stop - start, 0, tokens))
            fm_tokenize_replaced(points + start, stop - start, tokens->points + (start - offsets[0]), tokens);
    }
    text_tokens[n] = tokens->n_tokens;
    tokens->starts[tokens->n_tokens] = tokens->n_points;
}

/* Makes a token of every character except white space. */
static void fm_tokenize_char(
    const uint32_t* points, const int64_t* offsets, int64_t n, fm_tokens* tokens, int64_t* text_tokens
) {
    uint32_t* out = tokens->points;
    int64_t n_tokens = 0;
    int64_t i, j;
    for (i = 0; i < n; i++) {
        text_tokens[i] = n_tokens;
        for (j = offsets[i]; j < offsets[i + 1]; j++) {
            out[n_tokens] = points[j];
            n_tokens += !fm_is_space(points[j]);
        }
    }
    text_tokens[n] = n_tokens;
    for (i = 0; i <= n_tokens; i++) tokens->starts[i] = i;
}

/* Finds the runs of [a-z0-9] in the lower-cased text, like rouge-score. Outside ASCII, lower-casing gives such letters
 * for two characters: the Kelvin sign, and the capital I with a dot, which becomes an i and a combining dot. */
static void fm_tokenize_alphanumeric(
    const uint32_t* points, const int64_t* offsets, int64_t n, fm_tokens* tokens, int64_t* text_tokens
) {
    fm_tokens local = *tokens;
    int64_t i, j;
    for (i = 0; i < n; i++) {
        text_tokens[i] = local.n_tokens;
        local.last_kind = FM_BLANK;
        for (j = offsets[i]; j < offsets[i + 1]; j++) {
            uint32_t c = points[j];
            uint32_t lower = c < 128 ? fm_lower_alphanumeric[c] : c == 0x212a ? 'k' : c == 0x130 ? 'i' : 0;
            fm_add(&local, lower, FM_WORD & -(lower != 0));
            if (c == 0x130) local.last_kind = FM_BLANK;
        }
    }
    text_tokens[n] = local.n_tokens;
    local.starts[local.n_tokens] = local.n_points;
}

/* Finds the runs of letters, marks and numbers. A letter of a script without spaces is a token, with the marks after
 * it. */
static void fm_tokenize_unicode(
    const uint32_t* points, const int64_t* offsets, int64_t n, fm_tokens* tokens, int64_t* text_tokens
) {
    static const uint8_t kinds[9] = {
        FM_BLANK, FM_WORD, FM_SINGLE, FM_WORD, FM_SINGLE, FM_WORD, FM_BLANK, FM_BLANK, FM_BLANK,
    };
    fm_tokens local = *tokens;
    int64_t i, j;
    for (i = 0; i < n; i++) {
        text_tokens[i] = local.n_tokens;
        local.last_kind = FM_BLANK;
        for (j = offsets[i]; j < offsets[i + 1]; j++) {
            uint32_t c = points[j];
            int kind = FM_BLANK;
            if (c < 128) {
                kind = FM_WORD & -(fm_lower_alphanumeric[c] != 0);
            } else {
                int unicode_class = fm_unicode_class(c);
                if (unicode_class == FM_MARK && local.last_kind == FM_SINGLE) {
                    local.points[local.n_points++] = c;
                    continue;
                }
                kind = kinds[unicode_class];
            }
            fm_add(&local, c, kind);
        }
    }
    text_tokens[n] = local.n_tokens;
    local.starts[local.n_tokens] = local.n_points;
}

/* Every tokenizer, each compiled for its own rules. */
static void fm_split(
    int tokenizer, const uint32_t* points, const int64_t* offsets, int64_t n, fm_tokens* tokens, int64_t* text_tokens
) {
    switch (tokenizer) {
        case FM_13A: fm_tokenize_texts(FM_13A, points, offsets, n, tokens, text_tokens); break;
        case FM_ZH: fm_tokenize_texts(FM_ZH, points, offsets, n, tokens, text_tokens); break;
        case FM_INTL: fm_tokenize_texts(FM_INTL, points, offsets, n, tokens, text_tokens); break;
        case FM_NONE: fm_tokenize_texts(FM_NONE, points, offsets, n, tokens, text_tokens); break;
        case FM_CHAR: fm_tokenize_char(points, offsets, n, tokens, text_tokens); break;
        case FM_ALPHANUMERIC: fm_tokenize_alphanumeric(points, offsets, n, tokens, text_tokens); break;
        default: fm_tokenize_unicode(points, offsets, n, tokens, text_tokens);
    }
}

#endif
