/* Runs of rows in descending order of score, for 64 replicates at once. replicate_batch.h describes rows and weights.
 *
 * A run has the negatives of scores without positives, then the positives of one score (FM_CUT_POSITIVES), or of several
 * if none of them ties with a negative (FM_CUT_CLASSES). Negatives that tie with positives are in `tied`, or with
 * FM_CUT_POSITIVES in `above`; a run may also have no positives. Counts have 16 bits, so all runs that wait have at most
 * 65535 / max_weight rows together. A tie with positives that has more is counted in 64 bits.
 *
 * A statistic is a consumer of runs, and of long ties. fm_sweep_runs is inlined into its sweep, with the consumer.
 */
#ifndef FASTMETRICS_RESAMPLING_RUN_BATCH_H
#define FASTMETRICS_RESAMPLING_RUN_BATCH_H

#include "resampling/replicate_batch.h"

#if FM_HAS_VECTORS
#define FM_CUT_CLASSES 0
#define FM_CUT_POSITIVES 1
#define FM_PENDING_RUNS 32 /* that wait for a consumer: they stay in the first cache */
#define FM_INLINED static inline __attribute__((always_inline))

typedef struct {
    fm_shorts above[2], tied[2], positives[2]; /* even replicates, odd ones; `tied` is only set if `has_tied` */
    int has_tied;
} fm_run;

/* Replicate 8 i + j is element i of vector j, because counts are taken out of 64 bits by shifts. */
static void fm_spread_replicates(const int64_t* values, fm_longs* eight) {
    int replicate;
    for (replicate = 0; replicate < FM_REPLICATES; replicate++)
        memcpy((char*)&eight[replicate & 7] + 8 * (replicate >> 3), &values[replicate], 8);
}

static void fm_gather_replicates(const fm_longs* eight, int64_t* values) {
    int replicate;
    for (replicate = 0; replicate < FM_REPLICATES; replicate++)
        memcpy(&values[replicate], (const char*)&eight[replicate & 7] + 8 * (replicate >> 3), 8);
}

/* C has no conditional operator for vectors. MASK has all ones or all zeros per element. */
#define FM_SELECT(MASK, ONE, OTHER) (((MASK) & (ONE)) | (~(MASK) & (OTHER)))

/* Element i is the count of replicate 8 i + j. */
#define FM_LONGS_OF_COUNTS(COUNTS, J) (((fm_longs)(COUNTS)[(J) & 1] >> (16 * ((J) >> 1))) & 0xFFFF)

typedef void (*fm_add_runs)(const fm_run* runs, int n, void* sums);
typedef void (*fm_add_long_tie)(const int64_t* negatives, const int64_t* positives, void* sums);

#define FM_WIDEN(EVEN, ODD, BYTES)                                                                                     \
    do {                                                                                                               \
        EVEN += (fm_shorts)(BYTES) & 0xFF;                                                                             \
        ODD += (fm_shorts)(BYTES) >> 8;                                                                                \
    } while (0)

/* Is the row a score of its own, of this class? */
#define FM_IS_ALONE(CODE, CLASS) (((CODE) & (FM_POSITIVE | FM_LAST_OF_TIE)) == ((CLASS) | FM_LAST_OF_TIE))

/* Add the weights of rows up to `stop` while they are scores of their own, in groups that bytes can count. */
#define FM_ADD_ALONE(CLASS, MOST, EVEN, ODD)                                                                           \
    do {                                                                                                               \
        ptrdiff_t end_ = stop - i < (MOST) ? stop : i + (MOST);                                                        \
        fm_bytes sum_ = {0};                                                                                           \
        do sum_ += FM_WEIGHTS_OF(codes[i]);                                                                            \
        while (++i < end_ && FM_IS_ALONE(codes[i], CLASS));                                                            \
        FM_WIDEN(EVEN, ODD, sum_);                                                                                     \
    } while (0)

FM_INLINED void fm_sweep_runs(
    const uint16_t* codes, ptrdiff_t n, const uint8_t* weights, int max_weight, int cut,
    fm_add_runs add_runs, fm_add_long_tie add_long_tie, void* sums
) {
    const ptrdiff_t byte_rows = 255 / max_weight, short_rows = 65535 / max_weight;
    fm_run runs[FM_PENDING_RUNS];
    ptrdiff_t i = 0, rows = 0; /* of the runs that wait */
    int n_runs = 0;
    while (i < n) {
        fm_shorts above_even = {0}, above_odd = {0}, even = {0}, odd = {0};
        ptrdiff_t first = i, stop, end, tie = 0;
        fm_run* run;
        int has_tie = 0;
        if (n_runs == FM_PENDING_RUNS || rows >= short_rows) {
            add_runs(runs, n_runs, sums);
            n_runs = 0;
            rows = 0;
        }
        run = &runs[n_runs];
        run->has_tied = 0;
        stop = n - i < short_rows - rows ? n : i + short_rows - rows;
        while (i < stop && !has_tie) {
            if (FM_IS_ALONE(codes[i], 0)) {
                FM_ADD_ALONE(0, byte_rows, above_even, above_odd);
                continue;
            }
            if (codes[i] & FM_LAST_OF_TIE) break;
            {
                fm_bytes sum = {0}, sum_positive = {0};
                for (tie = i, end = stop - i < byte_rows ? stop : i + byte_rows; tie < end;) {
                    fm_bytes weight = FM_WEIGHTS_OF(codes[tie]);
                    sum += weight;
                    sum_positive += weight & FM_IS_POSITIVE(codes[tie]);
                    if (codes[tie++] & FM_LAST_OF_TIE) break;
                }
                if (codes[tie - 1] & FM_LAST_OF_TIE) { /* most ties fit into bytes */
                    sum -= sum_positive;
                    has_tie = codes[tie - 1] & FM_POSITIVE; /* inside a tie negatives come first */
                    if (has_tie) FM_WIDEN(even, odd, sum_positive);
                    if (has_tie && cut == FM_CUT_CLASSES) {
                        run->has_tied = !(codes[i] & FM_POSITIVE);
                        run->tied[0] = (fm_shorts)sum & 0xFF;
                        run->tied[1] = (fm_shorts)sum >> 8;
                    } else {
                        FM_WIDEN(above_even, above_odd, sum);
                    }
                    i = tie;
                    continue;
                }
            }
            while (!(codes[tie] & FM_LAST_OF_TIE)) tie++;
            has_tie = codes[tie++] & FM_POSITIVE;
            for (end = tie < stop ? tie : stop; i < end && !has_tie;) { /* a tie of negatives may be cut */
                ptrdiff_t last = end - i < byte_rows ? end : i + byte_rows;
                fm_bytes sum = {0};
                for (; i < last; i++) sum += FM_WEIGHTS_OF(codes[i]);
                FM_WIDEN(above_even, above_odd, sum);
            }
        }
        if (has_tie && i < tie && tie <= stop) {
            fm_shorts tied_even = {0}, tied_odd = {0};
            run->has_tied = cut == FM_CUT_CLASSES && !(codes[i] & FM_POSITIVE);
            while (i < tie) {
                fm_bytes sum = {0}, sum_positive = {0};
                for (end = tie - i < byte_rows ? tie : i + byte_rows; i < end; i++) {
                    fm_bytes weight = FM_WEIGHTS_OF(codes[i]);
                    sum += weight;
                    sum_positive += weight & FM_IS_POSITIVE(codes[i]);
                }
                sum -= sum_positive;
                if (cut == FM_CUT_CLASSES) FM_WIDEN(tied_even, tied_odd, sum);
                else FM_WIDEN(above_even, above_odd, sum);
                FM_WIDEN(even, odd, sum_positive);
            }
            run->tied[0] = tied_even;
            run->tied[1] = tied_odd;
        }
        while (!has_tie && i < stop && FM_IS_ALONE(codes[i], FM_POSITIVE)) {
            FM_ADD_ALONE(FM_POSITIVE, cut == FM_CUT_CLASSES ? byte_rows : 1, even, odd);
            if (cut == FM_CUT_POSITIVES) break;
        }
        run->above[0] = above_even;
        run->above[1] = above_odd;
        run->positives[0] = even;
        run->positives[1] = odd;
        n_runs++;
        rows += i - first;
        if (has_tie && tie > stop) { /* the tie does not fit: it comes next, alone if it is long */
            add_runs(runs, n_runs, sums);
            n_runs = 0;
            rows = 0;
            if (tie - i > short_rows) {
                int64_t counts[2 * FM_REPLICATES] = {0};
                fm_count_classes(codes + i, tie - i, weights, max_weight, counts, counts + FM_REPLICATES);
                add_long_tie(counts, counts + FM_REPLICATES, sums);
                i = tie;
            }
        }
    }
    if (n_runs) add_runs(runs, n_runs, sums);
}
#endif

#endif
