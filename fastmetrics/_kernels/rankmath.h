/* How many of `many` lie above, and tie with, each of a few scores: plain comparisons, which fill wide registers.
 *
 * Counts are added to what stands in `above` and `tied`. n_many is at most 2^31 - 1 (float) or any (double): the inner
 * counters are as wide as the scores, so that a register holds as many of both.
 */
#ifndef FASTMETRICS_RANKMATH_H
#define FASTMETRICS_RANKMATH_H

#include "vectormath.h"

#define FM_COUNT_ABOVE(NAME, TYPE, COUNTER)                                                                              \
    FM_WIDE static void NAME(                                                                                            \
        const TYPE* few, ptrdiff_t n_few, const TYPE* many, ptrdiff_t n_many, int64_t* above, int64_t* tied) {           \
        ptrdiff_t i, j;                                                                                                  \
        for (i = 0; i < n_few; i++) {                                                                                    \
            TYPE score = few[i];                                                                                         \
            COUNTER greater = 0, as_great = 0;                                                                           \
            for (j = 0; j < n_many; j++) {                                                                               \
                greater += many[j] > score;                                                                              \
                as_great += many[j] >= score;                                                                            \
            }                                                                                                            \
            above[i] += greater;                                                                                         \
            tied[i] += as_great - greater;                                                                               \
        }                                                                                                                \
    }

FM_COUNT_ABOVE(fm_count_above_f32, float, int32_t)
FM_COUNT_ABOVE(fm_count_above_f64, double, int64_t)

#endif
