/* Vectorized loops that count scores reaching a threshold (vector_math.h explains FM_WIDE). */
#ifndef FASTMETRICS_LABEL_RANK_COUNTS_H
#define FASTMETRICS_LABEL_RANK_COUNTS_H

#include <float.h>

#include "numeric/vector_math.h"

/* counts[j] = how many of the n scores are at least thresholds[j]. COUNT is as wide as TYPE, so that a comparison and its
 * counter use the same lane of a register. Blocks of 2^20 scores keep 32-bit counters from overflowing.
 */
#define FM_COUNT_REACHED(NAME, TYPE, COUNT)                                                                             \
    FM_WIDE static void NAME(                                                                                           \
        const TYPE* scores, ptrdiff_t n, const TYPE* thresholds, ptrdiff_t n_thresholds, int64_t* counts) {             \
        ptrdiff_t start, stop, i, j;                                                                                    \
        for (j = 0; j < n_thresholds; j++) counts[j] = 0;                                                               \
        for (start = 0; start < n; start = stop) {                                                                      \
            stop = n - start < (1 << 20) ? n : start + (1 << 20);                                                       \
            for (j = 0; j < n_thresholds; j++) {                                                                        \
                const TYPE threshold = thresholds[j];                                                                   \
                COUNT reached = 0;                                                                                      \
                for (i = start; i < stop; i++) reached += scores[i] >= threshold;                                       \
                counts[j] += reached;                                                                                   \
            }                                                                                                           \
        }                                                                                                               \
    }

FM_COUNT_REACHED(fm_count_reached_f32, float, int32_t)
FM_COUNT_REACHED(fm_count_reached_f64, double, int64_t)

/* How many labels are 1. Returns whether no score is NaN, or infinite unless that is allowed. */
#define FM_COUNT_RELEVANT(NAME, TYPE, COUNT, GREATEST)                                                                  \
    FM_WIDE static int NAME(                                                                                            \
        const TYPE* scores, const uint8_t* labels, ptrdiff_t n, int allow_infinite, int64_t* n_relevant) {              \
        const TYPE greatest = allow_infinite ? (TYPE)HUGE_VAL : GREATEST;                                               \
        int64_t relevant = 0;                                                                                           \
        COUNT bad = 0;                                                                                                  \
        ptrdiff_t start, stop, i;                                                                                       \
        for (start = 0; start < n; start = stop) {                                                                      \
            uint8_t sum = 0;                                                                                            \
            stop = n - start < 240 ? n : start + 240;                                                                   \
            for (i = start; i < stop; i++) sum += labels[i];                                                            \
            relevant += sum;                                                                                            \
        }                                                                                                               \
        for (i = 0; i < n; i++) bad |= (COUNT)!((scores[i] <= greatest) & (scores[i] >= -greatest));                    \
        *n_relevant = relevant;                                                                                         \
        return bad == 0;                                                                                                \
    }

FM_COUNT_RELEVANT(fm_count_relevant_f32, float, int32_t, FLT_MAX)
FM_COUNT_RELEVANT(fm_count_relevant_f64, double, int64_t, DBL_MAX)

/* The least score whose label is 1; infinity if there is none. Those scores are copied together first, without branches. */
#define FM_LEAST_RELEVANT(NAME, TYPE)                                                                                   \
    FM_WIDE static TYPE NAME(const TYPE* scores, const uint8_t* labels, ptrdiff_t n) {                                  \
        TYPE few[257], least = (TYPE)HUGE_VAL;                                                                          \
        ptrdiff_t start, stop, i, found;                                                                                \
        for (start = 0; start < n; start = stop) {                                                                      \
            stop = n - start < 256 ? n : start + 256;                                                                   \
            found = 0;                                                                                                  \
            for (i = start; i < stop; i++) {                                                                            \
                few[found] = scores[i];                                                                                 \
                found += labels[i];                                                                                     \
            }                                                                                                           \
            for (i = 0; i < found; i++) least = few[i] < least ? few[i] : least;                                        \
        }                                                                                                               \
        return least;                                                                                                   \
    }

FM_LEAST_RELEVANT(fm_least_relevant_f32, float)
FM_LEAST_RELEVANT(fm_least_relevant_f64, double)

#endif
