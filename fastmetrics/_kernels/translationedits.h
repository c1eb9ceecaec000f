/* Translation edits (Snover et al., 2006): words inserted, deleted, replaced, and shifts of up to 10 words, at 1 each.
 *
 * The search is Tercom's as sacrebleu has it, with all of its limits, since its answer depends on them: edit distances
 * along a beam around the diagonal, greedy shifts of words that match the reference and are wrong where they stand, the
 * best by (edits saved, length, place, target), and no shift any more once 1000 were tried.
 *
 * Row i of a matrix are the distances of the first i words of the hypothesis; only the beam is kept, so memory grows
 * with the words, not with their product. A shift changes the words between two places: rows before it are those of the
 * unshifted words, and as soon as a row behind it differs from theirs by the same number everywhere, so do all others.
 * Cells out of reach count as a great distance; where one is in a row, rows only run along where they are equal. */
#ifndef FASTMETRICS_TRANSLATIONEDITS_H
#define FASTMETRICS_TRANSLATIONEDITS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    FM_MOST_SHIFTED = 10,       /* words of a shift */
    FM_FARTHEST_SHIFT = 50,     /* places between hypothesis and reference */
    FM_BEAM = 25,
    FM_MOST_CANDIDATES = 1000
};

static const int32_t fm_unreached = 1 << 30;

typedef struct {
    const int32_t* reference;
    int32_t* hypothesis;
    int64_t n_reference;
    int64_t n_hypothesis;
    double ratio;               /* of the lengths: the diagonal's slope */
    int64_t beam;
    int64_t stride;
    int32_t* rows;              /* of the hypothesis as it stands, `stride` a row, each from its beam's beginning */
    int32_t* one;               /* two whole rows, a place before the first column */
    int32_t* other;
    int32_t* shifted;           /* the hypothesis with a shift */
    int32_t* align;             /* for each word of the reference the hypothesis' word before its end */
    int32_t* hypothesis_errors; /* how many of the words before a place are wrong */
    int32_t* reference_errors;
} fm_edits;

/* How many numbers of memory texts of so many words take, and any that are shorter. Of rows: a beam is at most ratio / 2 +
 * FM_BEAM + 1, so a stride is at most ratio + 2 FM_BEAM + 4, and n_hypothesis + 1 of these, the ratio being n_reference /
 * n_hypothesis, are at most (2 FM_BEAM + 4) (n_hypothesis + 1) + 2 n_reference. */
static int64_t fm_edits_room(int64_t n_hypothesis, int64_t n_reference) {
    int64_t rows = (2 * FM_BEAM + 6) * (n_hypothesis + 1) + 2 * n_reference;
    return rows + 3 * (n_hypothesis + 1) + 5 * (n_reference + 4);
}

static inline int64_t fm_diagonal(const fm_edits* own, int64_t row) { return (int64_t)floor((double)row * own->ratio); }

static inline int64_t fm_beam_first(const fm_edits* own, int64_t row) {
    int64_t first = fm_diagonal(own, row) - own->beam;
    return first > 0 ? first : 0;
}

static inline int64_t fm_beam_stop(const fm_edits* own, int64_t row) {
    int64_t stop = fm_diagonal(own, row) + own->beam;
    return row == own->n_hypothesis || stop > own->n_reference + 1 ? own->n_reference + 1 : stop;
}

/* The row behind `before`, with what the next one will look at beside its beam. */
static inline void fm_next_row(const fm_edits* own, int64_t row, int32_t word, const int32_t* before, int32_t* after) {
    int64_t first = fm_beam_first(own, row);
    int64_t stop = fm_beam_stop(own, row);
    int64_t j = first;
    int32_t left = fm_unreached;
    after[first - 1] = fm_unreached;
    if (!first) {
        left = after[0] = before[0] < fm_unreached ? before[0] + 1 : fm_unreached;
        j = 1;
    }
    for (; j < stop; j++) {
        int32_t through = before[j - 1] + (own->reference[j - 1] != word);
        int32_t above = before[j] + 1;
        int32_t least = through < above ? through : above;
        least = least < fm_unreached ? least : fm_unreached;
        left = left + 1 < least ? left + 1 : least;
        after[j] = left;
    }
    if (row < own->n_hypothesis) {
        stop = fm_beam_stop(own, row + 1);
        for (; j < stop; j++) after[j] = fm_unreached;
    }
}

/* A row of the hypothesis as it stands, whole. */
static inline void fm_load_row(const fm_edits* own, int64_t row, int32_t* out) {
    int64_t first = fm_beam_first(own, row);
    int64_t stop = fm_beam_stop(own, row);
    int64_t j;
    if (!row) {
        for (j = 0; j <= own->n_reference; j++) out[j] = (int32_t)j;
        return;
    }
    if (first) out[first - 1] = fm_unreached;
    memcpy(out + first, own->rows + row * own->stride, (size_t)(stop - first) * sizeof(int32_t));
    if (row < own->n_hypothesis)
        for (j = stop; j < fm_beam_stop(own, row + 1); j++) out[j] = fm_unreached;
}

/* Fills the rows behind `row`. */
static void fm_fill_rows(fm_edits* own, int64_t row) {
    int32_t* before = own->one;
    int32_t* after = own->other;
    fm_load_row(own, row, before);
    while (row++ < own->n_hypothesis) {
        int64_t first = fm_beam_first(own, row);
        int64_t stop = fm_beam_stop(own, row);
        int32_t* swapped = before;
        fm_next_row(own, row, own->hypothesis[row - 1], before, after);
        memcpy(own->rows + row * own->stride, after + first, (size_t)(stop - first) * sizeof(int32_t));
        before = after;
        after = swapped;
    }
}

static inline int32_t fm_distance(const fm_edits* own, int64_t row, int64_t column) {
    int64_t first;
    if (!row) return (int32_t)column;
    first = fm_beam_first(own, row);
    if (column < first || column >= fm_beam_stop(own, row)) return fm_unreached;
    return own->rows[row * own->stride + column - first];
}

/* Aligns reference and hypothesis by the way to the last cell: of ways that cost the same a match or substitution, else
 * a word of the hypothesis left out, else one of the reference. */
static void fm_align(fm_edits* own) {
    int64_t i = own->n_hypothesis;
    int64_t j = own->n_reference;
    while (i > 0 || j > 0) {
        int32_t here = fm_distance(own, i, j);
        int wrong = i > 0 && j > 0 ? own->hypothesis[i - 1] != own->reference[j - 1] : 1;
        if (i > 0 && j > 0 && here == fm_distance(own, i - 1, j - 1) + wrong) {
            own->align[j - 1] = (int32_t)(i - 1);
            own->hypothesis_errors[i--] = wrong;
            own->reference_errors[j--] = wrong;
        } else if (i > 0 && (j == 0 || here == fm_distance(own, i - 1, j) + 1)) {
            own->hypothesis_errors[i--] = 1;
        } else {
            own->align[j - 1] = (int32_t)(i - 1);
            own->reference_errors[j--] = 1;
        }
    }
    own->hypothesis_errors[0] = own->reference_errors[0] = 0;
    for (i = 1; i <= own->n_hypothesis; i++) own->hypothesis_errors[i] += own->hypothesis_errors[i - 1];
    for (j = 1; j <= own->n_reference; j++) own->reference_errors[j] += own->reference_errors[j - 1];
}

typedef struct {
    int64_t saved;
    int64_t length;
    int64_t start;
    int64_t target;
    int64_t first;              /* words from here on to `stop` are others after the shift */
    int64_t stop;
} fm_shift;

/* Writes the words between first and stop as they stand after the shift. */
static void fm_move(const fm_edits* own, fm_shift* shift, int32_t* out) {
    const int32_t* words = own->hypothesis;
    int64_t end = shift->start + shift->length;
    int64_t moved;              /* words that make place */
    const size_t width = sizeof(int32_t);
    if (shift->target < shift->start) {
        shift->first = shift->target;
        shift->stop = end;
        moved = shift->start - shift->target;
        memcpy(out + shift->target, words + shift->start, (size_t)shift->length * width);
        memcpy(out + shift->target + shift->length, words + shift->target, (size_t)moved * width);
        return;
    }
    /* A target inside the shifted words counts from their end. */
    shift->stop = shift->target > end ? shift->target : shift->length + shift->target;
    if (shift->stop > own->n_hypothesis) shift->stop = own->n_hypothesis;
    shift->first = shift->start;
    moved = shift->stop - end;
    memcpy(out + shift->start, words + end, (size_t)moved * width);
    memcpy(out + shift->start + moved, words + shift->start, (size_t)shift->length * width);
}

/* Is a row everywhere as far ahead of another as at its beginning? So will be those behind them, for the same words. */
static inline int fm_runs_along(const int32_t* row, const int32_t* other, int64_t n) {
    int32_t ahead = row[0] - other[0];
    int32_t apart = 0;
    int64_t j;
    for (j = 0; j < n; j++) apart |= (row[j] - other[j]) ^ ahead;
    return !apart;
}

/* The distance after a shift. */
static int32_t fm_shifted_distance(const fm_edits* own, fm_shift* shift) {
    int32_t* before = own->one;
    int32_t* after = own->other;
    int32_t unshifted = fm_distance(own, own->n_hypothesis, own->n_reference);
    int64_t row;
    fm_move(own, shift, own->shifted);
    row = shift->first;
    while (row < shift->stop && own->shifted[row] == own->hypothesis[row]) row++;
    if (row == shift->stop) return unshifted;
    fm_load_row(own, row, before);
    while (row++ < own->n_hypothesis) {
        int32_t* swapped = before;
        int32_t word = row <= shift->stop ? own->shifted[row - 1] : own->hypothesis[row - 1];
        fm_next_row(own, row, word, before, after);
        if (row >= shift->stop) {
            int64_t first = fm_beam_first(own, row);
            const int32_t* other = own->rows + row * own->stride;
            if (fm_runs_along(after + first, other, fm_beam_stop(own, row) - first))
                return unshifted + after[first] - other[0];
        }
        before = after;
        after = swapped;
    }
    return before[own->n_reference];
}

static inline int fm_is_better(const fm_shift* one, const fm_shift* other) {
    if (one->saved != other->saved) return one->saved > other->saved;
    if (one->length != other->length) return one->length > other->length;
    if (one->start != other->start) return one->start < other->start;
    return one->target < other->target;
}

/* Tries to shift the words from `start` on, which are those of the reference from `place` on, to each place before,
 * between and behind the words these are aligned with; returns how many shifts were tried. */
static int64_t fm_try_shifts(const fm_edits* own, int64_t start, int64_t place, int64_t length, fm_shift* best) {
    int32_t distance = fm_distance(own, own->n_hypothesis, own->n_reference);
    int64_t tried = 0;
    int64_t last = -1;
    int64_t offset;
    if (own->hypothesis_errors[start + length] == own->hypothesis_errors[start]) return 0;
    if (own->reference_errors[place + length] == own->reference_errors[place]) return 0;
    if (own->align[place] >= start && own->align[place] < start + length) return 0;
    for (offset = -1; offset < length; offset++) {
        fm_shift shift;
        shift.start = start;
        shift.length = length;
        shift.target = place + offset < 0 ? 0 : own->align[place + offset] + 1;
        if (shift.target == last) continue;
        last = shift.target;
        shift.saved = distance - fm_shifted_distance(own, &shift);
        if (!best->length || fm_is_better(&shift, best)) *best = shift;
        tried++;
    }
    return tried;
}

/* Looks for the best shift; `tried` counts on. */
static fm_shift fm_best_shift(const fm_edits* own, int64_t* tried) {
    fm_shift best = {0, 0, 0, 0, 0, 0};
    int64_t i, j, stop, length, now;
    for (i = 0; i < own->n_hypothesis; i++) {
        j = i > FM_FARTHEST_SHIFT ? i - FM_FARTHEST_SHIFT : 0;
        stop = i + FM_FARTHEST_SHIFT + 1 < own->n_reference ? i + FM_FARTHEST_SHIFT + 1 : own->n_reference;
        for (; j < stop; j++) {
            for (length = 1; length <= FM_MOST_SHIFTED; length++) {
                if (i + length > own->n_hypothesis || j + length > own->n_reference) break;
                if (own->hypothesis[i + length - 1] != own->reference[j + length - 1]) break;
                now = fm_try_shifts(own, i, j, length, &best);
                *tried += now;
                if (now && *tried >= FM_MOST_CANDIDATES) return best;
            }
        }
    }
    return best;
}

/* Lays out memory for a pair of texts. */
static void fm_edits_begin(
    fm_edits* own, const int64_t* hypothesis, int64_t n_hypothesis, const int64_t* reference, int64_t n_reference,
    int32_t* room
) {
    int64_t i;
    int32_t* words = room + n_hypothesis + 1;
    own->n_hypothesis = n_hypothesis;
    own->n_reference = n_reference;
    own->ratio = n_hypothesis ? (double)n_reference / (double)n_hypothesis : 1.0;
    own->beam = FM_BEAM < own->ratio / 2 ? (int64_t)ceil(own->ratio / 2 + FM_BEAM) : FM_BEAM;
    own->stride = 2 * own->beam + 2;
    if (own->stride > n_reference + 1) own->stride = n_reference + 1;
    own->hypothesis = room;
    own->reference = words;
    for (i = 0; i < n_hypothesis; i++) room[i] = (int32_t)hypothesis[i];
    for (i = 0; i < n_reference; i++) words[i] = (int32_t)reference[i];
    own->align = words + n_reference + 1;
    own->reference_errors = own->align + n_reference + 1;
    own->one = own->reference_errors + n_reference + 2;
    own->other = own->one + n_reference + 3;
    own->hypothesis_errors = own->other + n_reference + 2;
    own->shifted = own->hypothesis_errors + n_hypothesis + 1;
    own->rows = own->shifted + n_hypothesis + 1;
}

/* The least edits that turn a hypothesis into a reference, as far as this search finds them. */
static int64_t fm_translation_edits(
    const int64_t* hypothesis, int64_t n_hypothesis, const int64_t* reference, int64_t n_reference, int32_t* room
) {
    fm_edits own;
    int64_t shifts = 0;
    int64_t tried = 0;
    int64_t i;
    if (!n_reference) return n_hypothesis;
    fm_edits_begin(&own, hypothesis, n_hypothesis, reference, n_reference, room);
    fm_fill_rows(&own, 0);
    for (;;) {
        fm_shift best;
        fm_align(&own);
        best = fm_best_shift(&own, &tried);
        if (tried >= FM_MOST_CANDIDATES || best.saved <= 0) break;
        shifts++;
        fm_move(&own, &best, own.shifted);
        for (i = best.first; i < best.stop; i++) own.hypothesis[i] = own.shifted[i];
        fm_fill_rows(&own, best.first);
    }
    return shifts + fm_distance(&own, n_hypothesis, n_reference);
}

#endif
