/* The sums of weighted rows for 64 replicates at once.
 *
 * A row is a code (replicate_batch.h), of which FM_LAST_OF_TIE is not read, and the limbs of its weight: n_limbs
 * integers below 2^32 as doubles, the lowest first. sums has the limbs of the negatives and of the positives, four of
 * each, and every limb has 64 numbers. A limb times the weight of a unit bucket is below 2^40, so the sums of
 * FM_SUMMED_ROWS rows stay below 2^53: exact, fused or not.
 */
#ifndef FASTMETRICS_RESAMPLING_WEIGHTED_BATCH_H
#define FASTMETRICS_RESAMPLING_WEIGHTED_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "resampling/replicate_batch.h"

#define FM_LIMBS 4
#define FM_SUMMED_ROWS (1 << 13)

FM_WIDE static void fm_add_weighted_rows(
    const uint16_t* codes, const double* limbs, ptrdiff_t n, int n_limbs, const uint8_t* weights, double* sums
) {
    ptrdiff_t i;
    int limb, replicate;
    for (i = 0; i < n; i++) {
        const uint8_t* row_weights = weights + (ptrdiff_t)(codes[i] & FM_UNIT_BUCKET) * FM_REPLICATES;
        double* class_sums = sums + (codes[i] & FM_POSITIVE ? FM_LIMBS * FM_REPLICATES : 0);
        double times[FM_REPLICATES];
        for (replicate = 0; replicate < FM_REPLICATES; replicate++) times[replicate] = (double)row_weights[replicate];
        for (limb = 0; limb < n_limbs; limb++) {
            const double value = limbs[i * FM_LIMBS + limb];
            double* limb_sums = class_sums + limb * FM_REPLICATES;
            for (replicate = 0; replicate < FM_REPLICATES; replicate++) limb_sums[replicate] += value * times[replicate];
        }
    }
}

#endif
