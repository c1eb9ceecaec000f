/* Precisions at the scores of positives for 64 replicates at once. replicate_batch.h describes rows and weights. */
#ifndef FASTMETRICS_RESAMPLING_PRECISION_BATCH_H
#define FASTMETRICS_RESAMPLING_PRECISION_BATCH_H

#include "resampling/run_batch.h"

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
#define FM_RUNS_PER_FLUSH (1 << 20) /* the words of 2^-52 and 2^-84 stay below 2^53 units: exact */
#define FM_CALLS_PER_FLUSH (1 << 15) /* of at most 65535 positives each: so does the word of 2^-20 */
typedef struct {
    fm_reals tps[8], all[8], high[8], middle[8], low[8];
    int64_t* state;
    int n_runs, n_calls; /* since the state has the sums */
} fm_precision_sums;

static void fm_load_precisions(int64_t* state, fm_precision_sums* sums) {
    int replicate;
    memset(sums, 0, sizeof(*sums));
    sums->state = state;
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

FM_INLINED void fm_add_precisions(const fm_run* runs, int n, void* own) {
    const fm_reals magic = {0x1p52, 0x1p52, 0x1p52, 0x1p52, 0x1p52, 0x1p52, 0x1p52, 0x1p52};
    fm_precision_sums* sums = (fm_precision_sums*)own;
    int j, k;
    if (sums->n_runs > FM_RUNS_PER_FLUSH || sums->n_calls == FM_CALLS_PER_FLUSH) {
        fm_store_precisions(sums, sums->state);
        fm_load_precisions(sums->state, sums);
    }
    sums->n_runs += n;
    sums->n_calls++;
    for (j = 0; j < 8; j++) {
        fm_reals tps = sums->tps[j], all = sums->all[j];
        fm_reals high = sums->high[j], middle = sums->middle[j], low = sums->low[j];
        for (k = 0; k < n; k++) {
            /* An integer below 2^52 in the low bits of the double 2^52 is their sum. */
            fm_longs positive_bits = FM_LONGS_OF_COUNTS(runs[k].positives, j);
            fm_longs negative_bits = FM_LONGS_OF_COUNTS(runs[k].above, j);
            fm_reals positives = (fm_reals)(positive_bits | (fm_longs)magic) - magic, divisor, term, whole;
            tps += positives;
            all += positives + ((fm_reals)(negative_bits | (fm_longs)magic) - magic);
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

static void fm_add_long_precisions(const int64_t* negatives, const int64_t* positives, void* own) {
    fm_precision_sums* sums = (fm_precision_sums*)own;
    fm_store_precisions(sums, sums->state);
    fm_add_tied_precisions(negatives, positives, NULL, sums->state);
    fm_load_precisions(sums->state, sums);
}

FM_WIDE static void fm_sweep_precisions(
    const uint16_t* codes, ptrdiff_t n, const uint8_t* weights, int max_weight, int64_t* state
) {
    fm_precision_sums sums;
    fm_load_precisions(state, &sums);
    fm_sweep_runs(codes, n, weights, max_weight, FM_CUT_POSITIVES, fm_add_precisions, fm_add_long_precisions, &sums);
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
