/* Extremes of D = (positives so far) * all negatives - (negatives so far) * all positives, for 64 replicates at once.
 *
 * state has 64 numbers each: D, its maximum and its minimum. totals are all negatives and all positives, together fewer
 * than 2^32, so D stays below 2^62. Between the ends of runs D is monotonic.
 */
#ifndef FASTMETRICS_RESAMPLING_EXTREMES_BATCH_H
#define FASTMETRICS_RESAMPLING_EXTREMES_BATCH_H

#include "resampling/run_batch.h"

#if FM_HAS_VECTORS
typedef struct {
    fm_longs difference[8], greatest[8], least[8], all_negatives[8], all_positives[8];
} fm_extremes;

FM_INLINED void fm_add_extremes(const fm_run* runs, int n, void* sums) {
    fm_extremes* own = (fm_extremes*)sums;
    int j, k;
    for (j = 0; j < 8; j++) {
        const fm_longs all_negatives = own->all_negatives[j], all_positives = own->all_positives[j];
        fm_longs difference = own->difference[j], greatest = own->greatest[j], least = own->least[j];
        for (k = 0; k < n; k++) {
            difference -= FM_LONGS_OF_COUNTS(runs[k].above, j) * all_positives;
            least = FM_SELECT(difference < least, difference, least);
            difference += FM_LONGS_OF_COUNTS(runs[k].positives, j) * all_negatives;
            if (runs[k].has_tied) {
                difference -= FM_LONGS_OF_COUNTS(runs[k].tied, j) * all_positives;
                least = FM_SELECT(difference < least, difference, least);
            }
            greatest = FM_SELECT(difference > greatest, difference, greatest);
        }
        own->difference[j] = difference;
        own->greatest[j] = greatest;
        own->least[j] = least;
    }
}

static void fm_add_long_extremes(const int64_t* negatives, const int64_t* positives, void* sums) {
    fm_extremes* own = (fm_extremes*)sums;
    fm_longs tied[8], tied_positives[8];
    int j;
    fm_spread_replicates(negatives, tied);
    fm_spread_replicates(positives, tied_positives);
    for (j = 0; j < 8; j++) {
        fm_longs difference = own->difference[j] + tied_positives[j] * own->all_negatives[j];
        difference -= tied[j] * own->all_positives[j];
        own->difference[j] = difference;
        own->greatest[j] = FM_SELECT(difference > own->greatest[j], difference, own->greatest[j]);
        own->least[j] = FM_SELECT(difference < own->least[j], difference, own->least[j]);
    }
}

FM_WIDE static void fm_sweep_extremes(
    const uint16_t* codes, ptrdiff_t n, const uint8_t* weights, int max_weight, const int64_t* totals, int64_t* state
) {
    fm_extremes own;
    fm_spread_replicates(state, own.difference);
    fm_spread_replicates(state + FM_REPLICATES, own.greatest);
    fm_spread_replicates(state + 2 * FM_REPLICATES, own.least);
    fm_spread_replicates(totals, own.all_negatives);
    fm_spread_replicates(totals + FM_REPLICATES, own.all_positives);
    fm_sweep_runs(codes, n, weights, max_weight, FM_CUT_CLASSES, fm_add_extremes, fm_add_long_extremes, &own);
    fm_gather_replicates(own.difference, state);
    fm_gather_replicates(own.greatest, state + FM_REPLICATES);
    fm_gather_replicates(own.least, state + 2 * FM_REPLICATES);
}
#else
static void fm_add_tied_extremes(
    const int64_t* negatives, const int64_t* positives, const int64_t* totals, int64_t* state
) {
    int replicate;
    for (replicate = 0; replicate < FM_REPLICATES; replicate++) {
        int64_t difference = state[replicate] + positives[replicate] * totals[replicate]
            - negatives[replicate] * totals[FM_REPLICATES + replicate];
        state[replicate] = difference;
        if (difference > state[FM_REPLICATES + replicate]) state[FM_REPLICATES + replicate] = difference;
        if (difference < state[2 * FM_REPLICATES + replicate]) state[2 * FM_REPLICATES + replicate] = difference;
    }
}

static void fm_sweep_extremes(
    const uint16_t* codes, ptrdiff_t n, const uint8_t* weights, int max_weight, const int64_t* totals, int64_t* state
) {
    fm_sweep_ties(codes, n, weights, max_weight, totals, state, fm_add_tied_extremes);
}
#endif

#endif
