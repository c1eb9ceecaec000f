/* Translation edits (Snover et al., 2006): inserted, deleted and replaced words, and shifts of up to 10 words, each
 * with cost 1.
 *
 * The search is Tercom's as in sacrebleu, with all its limits, because the result depends on them. Edit distances are
 * computed along a beam around the diagonal. Shifts are greedy: the shifted words match words of the reference and are
 * wrong at their position. The best shift is the greatest by (edits saved, length, -start, -target). After 1000
 * candidates no further shift is made.
 *
 * Row i of the matrix has the distances of the first i words of the hypothesis. Only the beam is stored, so memory
 * grows with the number of words, not with the product. A shift changes the words between two positions. The rows
 * before them are those of the unshifted words. If a later row differs from the unshifted one by the same number
 * everywhere, so do all rows after it. A cell outside the beam has a very large distance; if a row has one, two rows
 * differ by a constant only if they are equal. */
#ifndef FASTMETRICS_TEXT_TER_SEARCH_H
#define FASTMETRICS_TEXT_TER_SEARCH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    FM_MAX_SHIFT_LENGTH = 10,   /* words in a shift */
    FM_MAX_SHIFT_DISTANCE = 50, /* positions between hypothesis and reference */
    FM_MIN_BEAM = 25,
    FM_MAX_CANDIDATES = 1000
};

static const int32_t fm_unreachable = 1 << 30;

typedef struct {
    const int32_t* reference;
    int32_t* hypothesis;
    int64_t n_reference;
    int64_t n_hypothesis;
    double ratio;               /* n_reference / n_hypothesis: the slope of the diagonal */
    int64_t beam;
    int64_t stride;
    int32_t* rows;              /* rows of the current hypothesis, `stride` numbers each, from the beam's start */
    int32_t* row_buffer;        /* two full rows, with one cell before the first column */
    int32_t* other_row_buffer;
    int32_t* shifted;           /* the hypothesis after a shift */
    int32_t* alignment;         /* for each word of the reference, the word of the hypothesis it is aligned with */
    int32_t* hypothesis_errors; /* how many of the words before a position are wrong */
    int32_t* reference_errors;
} fm_ter_search;

/* Returns how many numbers of memory texts of these lengths, or shorter ones, need. The beam is at most ratio / 2 +
 * FM_MIN_BEAM + 1, so the stride is at most ratio + 2 FM_MIN_BEAM + 4. With ratio = n_reference / n_hypothesis, the
 * n_hypothesis + 1 rows have at most (2 FM_MIN_BEAM + 4) (n_hypothesis + 1) + 2 n_reference numbers. */
static int64_t fm_ter_scratch_size(int64_t n_hypothesis, int64_t n_reference) {
    int64_t rows = (2 * FM_MIN_BEAM + 6) * (n_hypothesis + 1) + 2 * n_reference;
    return rows + 3 * (n_hypothesis + 1) + 5 * (n_reference + 4);
}

static inline int64_t fm_diagonal(const fm_ter_search* search, int64_t row) {
    return (int64_t)floor((double)row * search->ratio);
}

static inline int64_t fm_beam_first(const fm_ter_search* search, int64_t row) {
    int64_t first = fm_diagonal(search, row) - search->beam;
    return first > 0 ? first : 0;
}

static inline int64_t fm_beam_stop(const fm_ter_search* search, int64_t row) {
    int64_t stop = fm_diagonal(search, row) + search->beam;
    return row == search->n_hypothesis || stop > search->n_reference + 1 ? search->n_reference + 1 : stop;
}

/* Computes the row after `before`, with the cells beside its beam that the next row reads. */
static inline void fm_next_row(
    const fm_ter_search* search, int64_t row, int32_t word, const int32_t* before, int32_t* after
) {
    int64_t first = fm_beam_first(search, row);
    int64_t stop = fm_beam_stop(search, row);
    int64_t j = first;
    int32_t left = fm_unreachable;
    after[first - 1] = fm_unreachable;
    if (!first) {
        left = after[0] = before[0] < fm_unreachable ? before[0] + 1 : fm_unreachable;
        j = 1;
    }
    for (; j < stop; j++) {
        int32_t diagonal = before[j - 1] + (search->reference[j - 1] != word);
        int32_t above = before[j] + 1;
        int32_t lowest = diagonal < above ? diagonal : above;
        lowest = lowest < fm_unreachable ? lowest : fm_unreachable;
        left = left + 1 < lowest ? left + 1 : lowest;
        after[j] = left;
    }
    if (row < search->n_hypothesis) {
        stop = fm_beam_stop(search, row + 1);
        for (; j < stop; j++) after[j] = fm_unreachable;
    }
}

/* Copies a stored row of the current hypothesis, with the cells beside its beam. */
static inline void fm_load_row(const fm_ter_search* search, int64_t row, int32_t* out) {
    int64_t first = fm_beam_first(search, row);
    int64_t stop = fm_beam_stop(search, row);
    int64_t j;
    if (!row) {
        for (j = 0; j <= search->n_reference; j++) out[j] = (int32_t)j;
        return;
    }
    if (first) out[first - 1] = fm_unreachable;
    memcpy(out + first, search->rows + row * search->stride, (size_t)(stop - first) * sizeof(int32_t));
    if (row < search->n_hypothesis)
        for (j = stop; j < fm_beam_stop(search, row + 1); j++) out[j] = fm_unreachable;
}

/* Computes and stores the rows after `row`. */
static void fm_fill_rows(fm_ter_search* search, int64_t row) {
    int32_t* before = search->row_buffer;
    int32_t* after = search->other_row_buffer;
    fm_load_row(search, row, before);
    while (row++ < search->n_hypothesis) {
        int64_t first = fm_beam_first(search, row);
        int64_t stop = fm_beam_stop(search, row);
        int32_t* swapped = before;
        fm_next_row(search, row, search->hypothesis[row - 1], before, after);
        memcpy(search->rows + row * search->stride, after + first, (size_t)(stop - first) * sizeof(int32_t));
        before = after;
        after = swapped;
    }
}

static inline int32_t fm_distance(const fm_ter_search* search, int64_t row, int64_t column) {
    int64_t first;
    if (!row) return (int32_t)column;
    first = fm_beam_first(search, row);
    if (column < first || column >= fm_beam_stop(search, row)) return fm_unreachable;
    return search->rows[row * search->stride + column - first];
}

/* Aligns reference and hypothesis by a path to the last cell. Of steps with equal cost, a match or substitution is
 * preferred, then a skipped word of the hypothesis, then a skipped word of the reference. */
static void fm_align_words(fm_ter_search* search) {
    int64_t i = search->n_hypothesis;
    int64_t j = search->n_reference;
    while (i > 0 || j > 0) {
        int32_t here = fm_distance(search, i, j);
        int wrong = i > 0 && j > 0 ? search->hypothesis[i - 1] != search->reference[j - 1] : 1;
        if (i > 0 && j > 0 && here == fm_distance(search, i - 1, j - 1) + wrong) {
            search->alignment[j - 1] = (int32_t)(i - 1);
            search->hypothesis_errors[i--] = wrong;
            search->reference_errors[j--] = wrong;
        } else if (i > 0 && (j == 0 || here == fm_distance(search, i - 1, j) + 1)) {
            search->hypothesis_errors[i--] = 1;
        } else {
            search->alignment[j - 1] = (int32_t)(i - 1);
            search->reference_errors[j--] = 1;
        }
    }
    search->hypothesis_errors[0] = search->reference_errors[0] = 0;
    for (i = 1; i <= search->n_hypothesis; i++) search->hypothesis_errors[i] += search->hypothesis_errors[i - 1];
    for (j = 1; j <= search->n_reference; j++) search->reference_errors[j] += search->reference_errors[j - 1];
}

typedef struct {
    int64_t n_saved;
    int64_t length;
    int64_t start;
    int64_t target;
    int64_t first;              /* the words from here to `stop` change with the shift */
    int64_t stop;
} fm_shift;

/* Writes the words between `first` and `stop` in their order after the shift. */
static void fm_apply_shift(const fm_ter_search* search, fm_shift* shift, int32_t* out) {
    const int32_t* words = search->hypothesis;
    int64_t end = shift->start + shift->length;
    int64_t n_passed;           /* number of words that the shifted ones pass */
    const size_t width = sizeof(int32_t);
    if (shift->target < shift->start) {
        shift->first = shift->target;
        shift->stop = end;
        n_passed = shift->start - shift->target;
        memcpy(out + shift->target, words + shift->start, (size_t)shift->length * width);
        memcpy(out + shift->target + shift->length, words + shift->target, (size_t)n_passed * width);
        return;
    }
    /* A target inside the shifted words is counted from their end. */
    shift->stop = shift->target > end ? shift->target : shift->length + shift->target;
    if (shift->stop > search->n_hypothesis) shift->stop = search->n_hypothesis;
    shift->first = shift->start;
    n_passed = shift->stop - end;
    memcpy(out + shift->start, words + end, (size_t)n_passed * width);
    memcpy(out + shift->start + n_passed, words + shift->start, (size_t)shift->length * width);
}

/* Returns whether two rows differ by the same number everywhere. Then the rows after them do, for equal words. */
static inline int fm_differs_by_constant(const int32_t* row, const int32_t* unshifted, int64_t n) {
    int32_t difference = row[0] - unshifted[0];
    int32_t deviation = 0;
    int64_t j;
    for (j = 0; j < n; j++) deviation |= (row[j] - unshifted[j]) ^ difference;
    return !deviation;
}

/* Returns the edit distance after a shift. */
static int32_t fm_shifted_distance(const fm_ter_search* search, fm_shift* shift) {
    int32_t* before = search->row_buffer;
    int32_t* after = search->other_row_buffer;
    int32_t unshifted = fm_distance(search, search->n_hypothesis, search->n_reference);
    int64_t row;
    fm_apply_shift(search, shift, search->shifted);
    row = shift->first;
    while (row < shift->stop && search->shifted[row] == search->hypothesis[row]) row++;
    if (row == shift->stop) return unshifted;
    fm_load_row(search, row, before);
    while (row++ < search->n_hypothesis) {
        int32_t* swapped = before;
        int32_t word = row <= shift->stop ? search->shifted[row - 1] : search->hypothesis[row - 1];
        fm_next_row(search, row, word, before, after);
        if (row >= shift->stop) {
            int64_t first = fm_beam_first(search, row);
            const int32_t* other_row_buffer = search->rows + row * search->stride;
            if (fm_differs_by_constant(after + first, other_row_buffer, fm_beam_stop(search, row) - first))
                return unshifted + after[first] - other_row_buffer[0];
        }
        before = after;
        after = swapped;
    }
    return before[search->n_reference];
}

static inline int fm_is_better(const fm_shift* shift, const fm_shift* best) {
    if (shift->n_saved != best->n_saved) return shift->n_saved > best->n_saved;
    if (shift->length != best->length) return shift->length > best->length;
    if (shift->start != best->start) return shift->start < best->start;
    return shift->target < best->target;
}

/* Tries to shift the `length` words from `start` on. They equal the words of the reference from `reference_start` on.
 * Targets are the positions before, between and after the words that these are aligned with. Returns how many shifts
 * were tried. */
static int64_t fm_try_shifts(
    const fm_ter_search* search, int64_t start, int64_t reference_start, int64_t length, fm_shift* best
) {
    int32_t distance = fm_distance(search, search->n_hypothesis, search->n_reference);
    int64_t n_tried = 0;
    int64_t last_target = -1;
    int64_t offset;
    if (search->hypothesis_errors[start + length] == search->hypothesis_errors[start]) return 0;
    if (search->reference_errors[reference_start + length] == search->reference_errors[reference_start]) return 0;
    if (search->alignment[reference_start] >= start && search->alignment[reference_start] < start + length) return 0;
    for (offset = -1; offset < length; offset++) {
        fm_shift shift;
        shift.start = start;
        shift.length = length;
        shift.target = reference_start + offset < 0 ? 0 : search->alignment[reference_start + offset] + 1;
        if (shift.target == last_target) continue;
        last_target = shift.target;
        shift.n_saved = distance - fm_shifted_distance(search, &shift);
        if (!best->length || fm_is_better(&shift, best)) *best = shift;
        n_tried++;
    }
    return n_tried;
}

/* Returns the best shift, and adds the number of candidates to n_tried. */
static fm_shift fm_best_shift(const fm_ter_search* search, int64_t* n_tried) {
    fm_shift best = {0, 0, 0, 0, 0, 0};
    int64_t i, j, stop, length, n_new;
    for (i = 0; i < search->n_hypothesis; i++) {
        j = i > FM_MAX_SHIFT_DISTANCE ? i - FM_MAX_SHIFT_DISTANCE : 0;
        stop = i + FM_MAX_SHIFT_DISTANCE + 1 < search->n_reference ? i + FM_MAX_SHIFT_DISTANCE + 1
                                                                   : search->n_reference;
        for (; j < stop; j++) {
            for (length = 1; length <= FM_MAX_SHIFT_LENGTH; length++) {
                if (i + length > search->n_hypothesis || j + length > search->n_reference) break;
                if (search->hypothesis[i + length - 1] != search->reference[j + length - 1]) break;
                n_new = fm_try_shifts(search, i, j, length, &best);
                *n_tried += n_new;
                if (n_new && *n_tried >= FM_MAX_CANDIDATES) return best;
            }
        }
    }
    return best;
}

/* Divides the scratch memory for a pair of texts. */
static void fm_init_search(
    fm_ter_search* search, const int64_t* hypothesis, int64_t n_hypothesis, const int64_t* reference,
    int64_t n_reference, int32_t* scratch
) {
    int64_t i;
    int32_t* reference_words = scratch + n_hypothesis + 1;
    search->n_hypothesis = n_hypothesis;
    search->n_reference = n_reference;
    search->ratio = n_hypothesis ? (double)n_reference / (double)n_hypothesis : 1.0;
    search->beam = FM_MIN_BEAM < search->ratio / 2 ? (int64_t)ceil(search->ratio / 2 + FM_MIN_BEAM) : FM_MIN_BEAM;
    search->stride = 2 * search->beam + 2;
    if (search->stride > n_reference + 1) search->stride = n_reference + 1;
    search->hypothesis = scratch;
    search->reference = reference_words;
    for (i = 0; i < n_hypothesis; i++) scratch[i] = (int32_t)hypothesis[i];
    for (i = 0; i < n_reference; i++) reference_words[i] = (int32_t)reference[i];
    search->alignment = reference_words + n_reference + 1;
    search->reference_errors = search->alignment + n_reference + 1;
    search->row_buffer = search->reference_errors + n_reference + 2;
    search->other_row_buffer = search->row_buffer + n_reference + 3;
    search->hypothesis_errors = search->other_row_buffer + n_reference + 2;
    search->shifted = search->hypothesis_errors + n_hypothesis + 1;
    search->rows = search->shifted + n_hypothesis + 1;
}

/* Returns the fewest edits from a hypothesis to a reference that this search finds. */
static int64_t fm_count_edits(
    const int64_t* hypothesis, int64_t n_hypothesis, const int64_t* reference, int64_t n_reference, int32_t* scratch
) {
    fm_ter_search search;
    int64_t shifts = 0;
    int64_t n_tried = 0;
    int64_t i;
    if (!n_reference) return n_hypothesis;
    fm_init_search(&search, hypothesis, n_hypothesis, reference, n_reference, scratch);
    fm_fill_rows(&search, 0);
    for (;;) {
        fm_shift best;
        fm_align_words(&search);
        best = fm_best_shift(&search, &n_tried);
        if (n_tried >= FM_MAX_CANDIDATES || best.n_saved <= 0) break;
        shifts++;
        fm_apply_shift(&search, &best, search.shifted);
        for (i = best.first; i < best.stop; i++) search.hypothesis[i] = search.shifted[i];
        fm_fill_rows(&search, best.first);
    }
    return shifts + fm_distance(&search, n_hypothesis, n_reference);
}

#endif
