/* The Porter stemmer with the extensions that NLTK has by default, on words of code points, in place.
 *
 * M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, pp. 130-137; the rules beyond the paper are
 * those of NLTK's PorterStemmer (mode NLTK_EXTENSIONS). Words are in lower case. Every character that is neither a
 * vowel nor y is a consonant: digits, symbols and letters of other scripts too.
 *
 * No step makes a word longer, so the stem replaces its word in place. A rule replaces a suffix by one that is not
 * longer. The only exception is step 1b, which can add one letter, after it has removed "ed" or "ing". No stem of a
 * word is empty: after a rule the word has a vowel (1b) or a measure above 0 (2 to 5), or it had three or more letters,
 * of which step 1a leaves at least one.
 *
 * Time is linear in the length. Whether a letter is a consonant depends only on the letters before it, so one pass from
 * the left is enough for a run of y.
 */
#ifndef FASTMETRICS_TEXT_TOKENS_PORTER_STEMMER_H
#define FASTMETRICS_TEXT_TOKENS_PORTER_STEMMER_H

#include <stdint.h>
#include <string.h>

typedef struct {
    const char* suffix;
    const char* replacement;
    int64_t length;             /* length of the suffix */
    int64_t new_length;
    int64_t n_measured;         /* letters of the suffix that are included in the measure */
} fm_stem_rule;

#define FM_STEM_RULE(suffix, replacement) {suffix, replacement, sizeof(suffix) - 1, sizeof(replacement) - 1, 0}

static inline int fm_is_vowel(uint32_t point) {
    return point == 'a' || point == 'e' || point == 'i' || point == 'o' || point == 'u';
}

/* Returns whether a letter is a consonant, given whether the letter before it is. For the first letter pass 0. */
static inline int fm_is_consonant_after(uint32_t point, int before) {
    return point == 'y' ? !before : !fm_is_vowel(point);
}

/* Returns whether the letter at `position` is a consonant. */
static inline int fm_is_consonant(const uint32_t* word, int64_t position) {
    int64_t first = position;
    int consonant;
    if (word[position] != 'y') return !fm_is_vowel(word[position]);
    while (first > 0 && word[first] == 'y') first--;
    consonant = fm_is_consonant_after(word[first], 0);
    return consonant ^ (int)((position - first) & 1);
}

/* Returns how many vowels are followed by a consonant; 2 means two or more. */
static inline int fm_stem_measure(const uint32_t* word, int64_t n) {
    int64_t position;
    int before = 0;
    int measure = 0;
    if (n) before = fm_is_consonant_after(word[0], 0);
    for (position = 1; position < n; position++) {
        int consonant = fm_is_consonant_after(word[position], before);
        if (consonant && !before && ++measure == 2) return 2;
        before = consonant;
    }
    return measure;
}

static inline int fm_has_stem_vowel(const uint32_t* word, int64_t n) {
    int64_t position;
    int before = 0;
    for (position = 0; position < n; position++) {
        before = fm_is_consonant_after(word[position], before);
        if (!before) return 1;
    }
    return 0;
}

static inline int fm_has_suffix(const uint32_t* word, int64_t n, const char* suffix, int64_t length) {
    int64_t position;
    if (n < length) return 0;
    for (position = length - 1; position >= 0; position--) {
        if (word[n - length + position] != (unsigned char)suffix[position]) return 0;
    }
    return 1;
}

#define FM_HAS_SUFFIX(word, n, suffix) fm_has_suffix(word, n, suffix, (int64_t)sizeof(suffix) - 1)

static inline int64_t fm_write_letters(uint32_t* word, int64_t n, const char* letters, int64_t length) {
    int64_t position;
    for (position = 0; position < length; position++) word[n + position] = (unsigned char)letters[position];
    return n + length;
}

/* The first rule whose suffix the word has is applied if what is left of the word has a greater measure than `least`;
 * whether it is or not, no other rule is looked at. */
static inline int64_t fm_apply_stem_rules(
    uint32_t* word, int64_t n, const fm_stem_rule* rules, int n_rules, int least) {
    int position;
    for (position = 0; position < n_rules; position++) {
        const fm_stem_rule* rule = rules + position;
        if (!fm_has_suffix(word, n, rule->suffix, rule->length)) continue;
        if (fm_stem_measure(word, n - rule->length + rule->n_measured) <= least) return n;
        return fm_write_letters(word, n - rule->length, rule->replacement, rule->new_length);
    }
    return n;
}

/* Returns whether a word ends with consonant, vowel, consonant (not w, x or y), or is one vowel and one consonant. */
static inline int fm_ends_short(const uint32_t* word, int64_t n) {
    if (n == 2) return !fm_is_consonant(word, 0) && fm_is_consonant(word, 1);
    if (n < 3 || word[n - 1] == 'w' || word[n - 1] == 'x' || word[n - 1] == 'y') return 0;
    return fm_is_consonant(word, n - 3) && !fm_is_consonant(word, n - 2) && fm_is_consonant(word, n - 1);
}

/* Step 1a: plurals. */
static inline int64_t fm_stem_step_1a(const uint32_t* word, int64_t n) {
    if (n == 0 || word[n - 1] != 's') return n;
    if (FM_HAS_SUFFIX(word, n, "ies")) return n == 4 ? n - 1 : n - 2;
    if (FM_HAS_SUFFIX(word, n, "sses")) return n - 2;
    return FM_HAS_SUFFIX(word, n, "ss") ? n : n - 1;
}

/* Step 1b: past tenses and participles. */
static inline int64_t fm_stem_step_1b(uint32_t* word, int64_t n) {
    uint32_t last;
    if (FM_HAS_SUFFIX(word, n, "ied")) return n == 4 ? n - 1 : n - 2;
    if (FM_HAS_SUFFIX(word, n, "eed")) return fm_stem_measure(word, n - 3) > 0 ? n - 1 : n;
    if (FM_HAS_SUFFIX(word, n, "ed") && fm_has_stem_vowel(word, n - 2)) n -= 2;
    else if (FM_HAS_SUFFIX(word, n, "ing") && fm_has_stem_vowel(word, n - 3)) n -= 3;
    else return n;
    last = word[n - 1];
    if (FM_HAS_SUFFIX(word, n, "at") || FM_HAS_SUFFIX(word, n, "bl") || FM_HAS_SUFFIX(word, n, "iz")) {
        return fm_write_letters(word, n, "e", 1);
    }
    if (n >= 2 && last == word[n - 2] && fm_is_consonant(word, n - 1)) {
        return last == 'l' || last == 's' || last == 'z' ? n : n - 1;
    }
    /* NLTK writes the rule of double consonants as a suffix "*d", and so also matches that suffix literally. */
    if (FM_HAS_SUFFIX(word, n, "*d")) {
        word[n - 2] = 'd';
        return n - 1;
    }
    if (fm_stem_measure(word, n) == 1 && fm_ends_short(word, n)) return fm_write_letters(word, n, "e", 1);
    return n;
}

/* Step 2: double suffixes become single ones. */
static inline int64_t fm_stem_step_2(uint32_t* word, int64_t n) {
    static const fm_stem_rule rules[] = {
        FM_STEM_RULE("ational", "ate"), FM_STEM_RULE("tional", "tion"), FM_STEM_RULE("enci", "ence"),
        FM_STEM_RULE("anci", "ance"), FM_STEM_RULE("izer", "ize"), FM_STEM_RULE("bli", "ble"),
        FM_STEM_RULE("alli", "al"), FM_STEM_RULE("entli", "ent"), FM_STEM_RULE("eli", "e"),
        FM_STEM_RULE("ousli", "ous"), FM_STEM_RULE("ization", "ize"), FM_STEM_RULE("ation", "ate"),
        FM_STEM_RULE("ator", "ate"), FM_STEM_RULE("alism", "al"), FM_STEM_RULE("iveness", "ive"),
        FM_STEM_RULE("fulness", "ful"), FM_STEM_RULE("ousness", "ous"), FM_STEM_RULE("aliti", "al"),
        FM_STEM_RULE("iviti", "ive"), FM_STEM_RULE("biliti", "ble"), FM_STEM_RULE("fulli", "ful"),
        {"logi", "log", 4, 3, 1},
    };
    const int n_rules = (int)(sizeof(rules) / sizeof(rules[0]));
    if (FM_HAS_SUFFIX(word, n, "alli") && fm_stem_measure(word, n - 4) > 0) n -= 2;
    return fm_apply_stem_rules(word, n, rules, n_rules, 0);
}

static inline int64_t fm_stem_step_3(uint32_t* word, int64_t n) {
    static const fm_stem_rule rules[] = {
        FM_STEM_RULE("icate", "ic"), FM_STEM_RULE("ative", ""), FM_STEM_RULE("alize", "al"),
        FM_STEM_RULE("iciti", "ic"), FM_STEM_RULE("ical", "ic"), FM_STEM_RULE("ful", ""), FM_STEM_RULE("ness", ""),
    };
    return fm_apply_stem_rules(word, n, rules, (int)(sizeof(rules) / sizeof(rules[0])), 0);
}

/* Step 4: the remaining suffixes. */
static inline int64_t fm_stem_step_4(uint32_t* word, int64_t n) {
    static const fm_stem_rule rules[] = {
        FM_STEM_RULE("al", ""), FM_STEM_RULE("ance", ""), FM_STEM_RULE("ence", ""), FM_STEM_RULE("er", ""),
        FM_STEM_RULE("ic", ""), FM_STEM_RULE("able", ""), FM_STEM_RULE("ible", ""), FM_STEM_RULE("ant", ""),
        FM_STEM_RULE("ement", ""), FM_STEM_RULE("ment", ""), FM_STEM_RULE("ent", ""), FM_STEM_RULE("ou", ""),
        FM_STEM_RULE("ism", ""), FM_STEM_RULE("ate", ""), FM_STEM_RULE("iti", ""), FM_STEM_RULE("ous", ""),
        FM_STEM_RULE("ive", ""), FM_STEM_RULE("ize", ""),
    };
    if (FM_HAS_SUFFIX(word, n, "ion")) {
        if (n < 4 || (word[n - 4] != 's' && word[n - 4] != 't')) return n;
        return fm_stem_measure(word, n - 3) > 1 ? n - 3 : n;
    }
    return fm_apply_stem_rules(word, n, rules, (int)(sizeof(rules) / sizeof(rules[0])), 1);
}

/* Step 5: a final e, and a final double l. */
static inline int64_t fm_stem_step_5(const uint32_t* word, int64_t n) {
    int measure;
    if (n && word[n - 1] == 'e') {
        measure = fm_stem_measure(word, n - 1);
        if (measure > 1 || (measure == 1 && !fm_ends_short(word, n - 1))) n--;
    }
    if (FM_HAS_SUFFIX(word, n, "ll") && fm_stem_measure(word, n - 1) > 1) n--;
    return n;
}

/* Replaces an irregular form by its stem. Returns the length of the stem, or 0 for all other words. */
static inline int64_t fm_irregular_stem(uint32_t* word, int64_t n) {
    static const fm_stem_rule forms[] = {
        FM_STEM_RULE("sky", "sky"), FM_STEM_RULE("skies", "sky"), FM_STEM_RULE("dying", "die"),
        FM_STEM_RULE("lying", "lie"), FM_STEM_RULE("tying", "tie"), FM_STEM_RULE("news", "news"),
        FM_STEM_RULE("innings", "inning"), FM_STEM_RULE("inning", "inning"), FM_STEM_RULE("outings", "outing"),
        FM_STEM_RULE("outing", "outing"), FM_STEM_RULE("cannings", "canning"), FM_STEM_RULE("canning", "canning"),
        FM_STEM_RULE("howe", "howe"), FM_STEM_RULE("proceed", "proceed"), FM_STEM_RULE("exceed", "exceed"),
        FM_STEM_RULE("succeed", "succeed"),
    };
    int position;
    if (n > 8) return 0;
    for (position = 0; position < (int)(sizeof(forms) / sizeof(forms[0])); position++) {
        if (n == forms[position].length && fm_has_suffix(word, n, forms[position].suffix, n)) {
            return fm_write_letters(word, 0, forms[position].replacement, forms[position].new_length);
        }
    }
    return 0;
}

/* Stems a word of n letters in place. Returns the length of the stem. */
static inline int64_t fm_stem_word(uint32_t* word, int64_t n) {
    int64_t irregular;
    if (n <= 2) return n;
    irregular = fm_irregular_stem(word, n);
    if (irregular) return irregular;
    n = fm_stem_step_1a(word, n);
    n = fm_stem_step_1b(word, n);
    if (n > 2 && word[n - 1] == 'y' && fm_is_consonant(word, n - 2)) word[n - 1] = 'i';
    n = fm_stem_step_2(word, n);
    n = fm_stem_step_3(word, n);
    n = fm_stem_step_4(word, n);
    return fm_stem_step_5(word, n);
}

#endif
