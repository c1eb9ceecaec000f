/* Precisions at the scores of positives for 64 replicates at once. replicate_batch.h describes rows and weights. */
#ifndef FASTMETRICS_RESAMPLING_PRECISION_BATCH_H
#define FASTMETRICS_RESAMPLING_PRECISION_BATCH_H

#include "resampling/replicate_batch.h"

/* A term is a tie's positives times tps / (tps + fps), rounded after each operation; the sum of the terms is exact.
 * state has 64 numbers each: false and true positives so far, and the sum in three words, in units of 2^-20, 2^-52 and
 * 2^-84. A replicate has fewer than 2^32 rows, so a term is 0 or at least 2^-32, and a multiple of 2^-84.
 */

static inline void fm_add_precision(int64_t positives, int64_t* state, int replicate) {
    if (positives) {
        double tps = (double)state[FM_REPLICATES + replicate], rows = tps + (double)state[replicate];
        double term = (double)positives * (tps / rows), remainder;
        int64_t whole = (int64_t)(term * 0x1p20);
        remainder = (term - (double)whole * 0x1p-20) * 0x1p52;
        state[2 * FM_REPLICATES + replicate] += whole;
        whole = (int64_t)remainder;
        state[3 * FM_REPLICATES + replicate] += whole;
        state[4 * FM_REPLICATES + replicate] += (int64_t)((remainder - (double)whole) * 0x1p32);
    }
}

static void fm_add_tied_precisions(
    const int64_t* negatives, const int64_t* positives, const int64_t* totals, int64_t* state
) {
    int replicate;
    (void)totals;
    for (replicate = 0; replicate < FM_REPLICATES; replicate++) {
        state[replicate] += negatives[replicate];
        state[FM_REPLICATES + replicate] += positives[replicate];
        fm_add_precision(positives[replicate], state, replicate);
    }
}

#if FM_HAS_VECTORS
#define FM_PENDING_TIES 64 /* ties that are collected before they are added */
#define FM_TIES_PER_FLUSH (1 << 20) /* the words of 2^-52 and 2^-84 stay below 2^53 units: exact */
typedef struct {
    fm_bytes positives[FM_PENDING_TIES]; /* positives of a tie */
    fm_shorts negatives[FM_PENDING_TIES][2]; /* above this tie, below the last: even replicates, odd ones */
} fm_pending_ties;

typedef struct {
    fm_reals tps[8], all[8], high[8], middle[8], low[8];
} fm_precision_sums;

static void fm_load_precisions(const int64_t* state, fm_precision_sums* sums) {
    int replicate;
    memset(sums, 0, sizeof(*sums));
    for (replicate = 0; replicate < FM_REPLICATES; replicate++) {
        double tps = (double)state[FM_REPLICATES + replicate], all = tps + (double)state[replicate];
        memcpy((char*)&sums->tps[replicate & 7] + 8 * (replicate >> 3), &tps, 8);
        memcpy((char*)&sums->all[replicate & 7] + 8 * (replicate >> 3), &all, 8);
    }
}

static void fm_store_precisions(const fm_precision_sums* sums, int64_t* state) {
    int replicate;
    for (replicate = 0; replicate < FM_REPLICATES; replicate++) {
        double tps, all, high, middle, low;
        memcpy(&tps, (const char*)&sums->tps[replicate & 7] + 8 * (replicate >> 3), 8);
        memcpy(&all, (const char*)&sums->all[replicate & 7] + 8 * (replicate >> 3), 8);
        memcpy(&high, (const char*)&sums->high[replicate & 7] + 8 * (replicate >> 3), 8);
        memcpy(&middle, (const char*)&sums->middle[replicate & 7] + 8 * (replicate >> 3), 8);
        memcpy(&low, (const char*)&sums->low[replicate & 7] + 8 * (replicate >> 3), 8);
        state[replicate] = (int64_t)(all - tps);
        state[FM_REPLICATES + replicate] = (int64_t)tps;
        state[2 * FM_REPLICATES + replicate] += (int64_t)(high * 0x1p20);
        state[3 * FM_REPLICATES + replicate] += (int64_t)(middle * 0x1p52);
        state[4 * FM_REPLICATES + replicate] += (int64_t)(low * 0x1p84);
    }
}

FM_WIDE static void fm_add_pending_precisions(const fm_pending_ties* ties, int n, fm_precision_sums* sums) {
    const fm_reals magic = {0x1p52, 0x1p52, 0x1p52, 0x1p52, 0x1p52, 0x1p52, 0x1p52, 0x1p52};
    int j, k;
    for (j = 0; j < 8; j++) {
        fm_reals tps = sums->tps[j], all = sums->all[j];
        fm_reals high = sums->high[j], middle = sums->middle[j], low = sums->low[j];
        for (k = 0; k < n; k++) {
            /* An integer below 2^52 in the low bits of the double 2^52 is their sum. */
            fm_longs positive_bits = FM_LONGS_OF(ties->positives[k], j);
            fm_longs negative_bits = ((fm_longs)ties->negatives[k][j & 1] >> (16 * (j >> 1))) & 0xFFFF;
            fm_reals positives = (fm_reals)(positive_bits | (fm_longs)magic) - magic;
            fm_reals negatives = (fm_reals)(negative_bits | (fm_longs)magic) - magic;
            fm_reals divisor, term, whole;
            tps += positives;
            all += positives + negatives;
            /* If there are no rows yet, 0 is divided by any number. */
            divisor = (fm_reals)FM_SELECT((fm_longs)(all > 0.0), (fm_longs)all, (fm_longs)magic);
            term = positives * (tps / divisor);
            whole = (term + 0x1.8p32) - 0x1.8p32;
            high += whole;
            term -= whole;
            whole = (term + 1.5) - 1.5;
            middle += whole;
            low += term - whole;
        }
        sums->tps[j] = tps;
        sums->all[j] = all;
        sums->high[j] = high;
        sums->middle[j] = middle;
        sums->low[j] = low;
    }
}

FM_WIDE static void fm_sweep_precisions(
    const uint16_t* codes, ptrdiff_t n, const uint8_t* weights, int max_weight, int64_t* state
) {
    const ptrdiff_t byte_rows = 255 / max_weight, max_pending_rows = 65535 / max_weight;
    fm_pending_ties ties;
    fm_precision_sums sums;
    fm_shorts even = {0}, odd = {0};
    ptrdiff_t i = 0, pending_rows = 0, added = 0;
    int n_ties = 0;
    fm_load_precisions(state, &sums);
    while (i < n) {
        /* One tie, or as many of its rows as bytes can count. Ties of negatives only may be counted together. */
        ptrdiff_t first = i, last = n - i < byte_rows ? n : i + byte_rows;
        fm_bytes sum = {0}, sum_positive = {0};
        int has_positives = 0;
        while (i < last) {
            fm_bytes weight = FM_WEIGHTS_OF(codes[i]);
            sum += weight;
            if (codes[i] & FM_POSITIVE) {
                sum_positive += weight;
                has_positives = 1;
            }
            i++;
            if ((codes[i - 1] & FM_LAST_OF_TIE) && has_positives) break;
        }
        if (!(codes[i - 1] & FM_LAST_OF_TIE)) {
            /* The tie continues: a long tie is counted as a whole, after the rows before it. */
            ptrdiff_t begin = i - 1, end = i;
            while (begin > first && !(codes[begin - 1] & FM_LAST_OF_TIE)) begin--;
            while (!(codes[end - 1] & FM_LAST_OF_TIE)) end++;
            if (begin > first) {
                /* Only negatives are before it: a tie with a positive would have ended the group. */
                ptrdiff_t k;
                memset(&sum, 0, sizeof(sum));
                memset(&sum_positive, 0, sizeof(sum_positive));
                has_positives = 0;
                for (k = first; k < begin; k++) sum += FM_WEIGHTS_OF(codes[k]);
                i = begin;
            } else {
                int64_t class_counts[2 * FM_REPLICATES] = {0};
                ties.positives[n_ties] = sum_positive ^ sum_positive;
                ties.negatives[n_ties][0] = even;
                ties.negatives[n_ties][1] = odd;
                fm_add_pending_precisions(&ties, n_ties + 1, &sums);
                fm_store_precisions(&sums, state);
                n_ties = 0;
                added = pending_rows = 0;
                even ^= even;
                odd ^= odd;
                fm_count_classes(codes + begin, end - begin, weights, max_weight, class_counts, class_counts + FM_REPLICATES);
                fm_add_tied_precisions(class_counts, class_counts + FM_REPLICATES, NULL, state);
                fm_load_precisions(state, &sums);
                i = end;
                continue;
            }
        }
        sum -= sum_positive;
        even += (fm_shorts)sum & 0xFF;
        odd += (fm_shorts)sum >> 8;
        pending_rows += i - first;
        if (!has_positives && pending_rows + byte_rows <= max_pending_rows && i < n) continue;
        ties.positives[n_ties] = sum_positive;
        ties.negatives[n_ties][0] = even;
        ties.negatives[n_ties][1] = odd;
        even ^= even;
        odd ^= odd;
        pending_rows = 0;
        n_ties++;
        if (n_ties == FM_PENDING_TIES) {
            fm_add_pending_precisions(&ties, n_ties, &sums);
            added += n_ties;
            n_ties = 0;
            if (added >= FM_TIES_PER_FLUSH) {
                fm_store_precisions(&sums, state);
                fm_load_precisions(state, &sums);
                added = 0;
            }
        }
    }
    fm_add_pending_precisions(&ties, n_ties, &sums);
    fm_store_precisions(&sums, state);
}
#else
static void fm_sweep_precisions(
    const uint16_t* codes, ptrdiff_t n, const uint8_t* weights, int max_weight, int64_t* state
) {
    fm_sweep_ties(codes, n, weights, max_weight, NULL, state, fm_add_tied_precisions);
}
#endif

#endif
