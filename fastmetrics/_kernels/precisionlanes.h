/* Precisions at the scores of positives, for 64 replicates side by side: rows, weights and words as in scorelanes.h. */
#ifndef FASTMETRICS_PRECISIONLANES_H
#define FASTMETRICS_PRECISIONLANES_H

#include "scorelanes.h"

/* A term is a tie's positives times tps / (tps + fps), rounded after either operation; the sum of terms is exact. state: 64
 * each of false and true positives so far, and of the sum in three words: multiples of 2^-20, 2^-52 and 2^-84. All rows of
 * a lane together are below 2^32: a term is then 0 or at least 2^-32, a multiple of 2^-84.
 */

static inline void fm_precision_lane(int64_t own, int64_t* state, int lane) {
    if (own) {
        double tps = (double)state[FM_ABREAST + lane], all = tps + (double)state[lane];
        double term = (double)own * (tps / all), rest;
        int64_t whole = (int64_t)(term * 0x1p20);
        rest = (term - (double)whole * 0x1p-20) * 0x1p52;
        state[2 * FM_ABREAST + lane] += whole;
        whole = (int64_t)rest;
        state[3 * FM_ABREAST + lane] += whole;
        state[4 * FM_ABREAST + lane] += (int64_t)((rest - (double)whole) * 0x1p32);
    }
}

static void fm_precisions_tie(const int64_t* negatives, const int64_t* positives, int64_t* state) {
    int lane;
    for (lane = 0; lane < FM_ABREAST; lane++) {
        state[lane] += negatives[lane];
        state[FM_ABREAST + lane] += positives[lane];
        fm_precision_lane(positives[lane], state, lane);
    }
}

static void fm_precisions_plain(const uint16_t* codes, ptrdiff_t n, const uint8_t* weights, int most, int plain, int64_t* state) {
    ptrdiff_t first = 0, i;
    for (i = 0; i < n; i++) {
        if (codes[i] & FM_LAST) {
            int64_t own[2 * FM_ABREAST] = {0};
            fm_count(codes + first, i + 1 - first, weights, most, plain, own, own + FM_ABREAST);
            fm_precisions_tie(own, own + FM_ABREAST, state);
            first = i + 1;
        }
    }
}

#if FM_HAS_VECTORS
#define FM_STEPS 64          /* that wait until there are enough of them */
#define FM_MANY_STEPS (1 << 20) /* words of 2^-52 and 2^-84 stay exact: below 2^53 units */
typedef struct {
    fm_bytes own[FM_STEPS];       /* positives of a tie */
    fm_shorts negatives[FM_STEPS][2]; /* above them and below the last: of even lanes, of odd ones */
} fm_precision_steps;

typedef struct {
    fm_reals tps[8], all[8], high[8], middle[8], low[8];
} fm_precision_sums;

static void fm_precisions_begin(const int64_t* state, fm_precision_sums* sums) {
    int lane;
    memset(sums, 0, sizeof(*sums));
    for (lane = 0; lane < FM_ABREAST; lane++) {
        double tps = (double)state[FM_ABREAST + lane], all = tps + (double)state[lane];
        memcpy((char*)&sums->tps[lane & 7] + 8 * (lane >> 3), &tps, 8);
        memcpy((char*)&sums->all[lane & 7] + 8 * (lane >> 3), &all, 8);
    }
}

static void fm_precisions_end(const fm_precision_sums* sums, int64_t* state) {
    int lane;
    for (lane = 0; lane < FM_ABREAST; lane++) {
        double tps, all, high, middle, low;
        memcpy(&tps, (const char*)&sums->tps[lane & 7] + 8 * (lane >> 3), 8);
        memcpy(&all, (const char*)&sums->all[lane & 7] + 8 * (lane >> 3), 8);
        memcpy(&high, (const char*)&sums->high[lane & 7] + 8 * (lane >> 3), 8);
        memcpy(&middle, (const char*)&sums->middle[lane & 7] + 8 * (lane >> 3), 8);
        memcpy(&low, (const char*)&sums->low[lane & 7] + 8 * (lane >> 3), 8);
        state[lane] = (int64_t)(all - tps);
        state[FM_ABREAST + lane] = (int64_t)tps;
        state[2 * FM_ABREAST + lane] += (int64_t)(high * 0x1p20);
        state[3 * FM_ABREAST + lane] += (int64_t)(middle * 0x1p52);
        state[4 * FM_ABREAST + lane] += (int64_t)(low * 0x1p84);
    }
}

FM_WIDE static void fm_precisions_add(const fm_precision_steps* steps, int n, fm_precision_sums* sums) {
    const fm_reals magic = {0x1p52, 0x1p52, 0x1p52, 0x1p52, 0x1p52, 0x1p52, 0x1p52, 0x1p52};
    int j, k;
    for (j = 0; j < 8; j++) {
        fm_reals tps = sums->tps[j], all = sums->all[j];
        fm_reals high = sums->high[j], middle = sums->middle[j], low = sums->low[j];
        for (k = 0; k < n; k++) {
            /* A whole number below 2^52 beneath the bits of 2^52 is their sum. */
            fm_longs own_bits = FM_LONGS_OF(steps->own[k], j);
            fm_longs others_bits = ((fm_longs)steps->negatives[k][j & 1] >> (16 * (j >> 1))) & 0xFFFF;
            fm_reals own = (fm_reals)(own_bits | (fm_longs)magic) - magic;
            fm_reals others = (fm_reals)(others_bits | (fm_longs)magic) - magic;
            fm_reals divisor, term, whole;
            tps += own;
            all += own + others;
            divisor = (fm_reals)FM_CHOSEN((fm_longs)(all > 0.0), (fm_longs)all, (fm_longs)magic); /* no rows yet: 0 / anything */
            term = own * (tps / divisor);
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

FM_WIDE static void fm_precisions_wide(
    const uint16_t* codes, ptrdiff_t n, const uint8_t* weights, int most, int64_t* state
) {
    const ptrdiff_t group = 255 / most, waiting_rows = 65535 / most;
    fm_precision_steps steps;
    fm_precision_sums sums;
    fm_shorts even = {0}, odd = {0};
    ptrdiff_t i = 0, waiting = 0, added = 0;
    int n_steps = 0;
    fm_precisions_begin(state, &sums);
    while (i < n) {
        /* One tie, or rows of it that bytes can count: many negatives of other ties may follow each other. */
        ptrdiff_t first = i, last = n - i < group ? n : i + group;
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
            if ((codes[i - 1] & FM_LAST) && has_positives) break;
        }
        if (!(codes[i - 1] & FM_LAST)) {
            /* Rows of a tie that goes on: if it is long it is counted as a whole. What is before it goes first. */
            ptrdiff_t begin = i - 1, end = i;
            while (begin > first && !(codes[begin - 1] & FM_LAST)) begin--;
            while (!(codes[end - 1] & FM_LAST)) end++;
            if (begin > first) {
                /* Only negatives are before it: a positive would have ended the group with its tie. */
                ptrdiff_t k;
                memset(&sum, 0, sizeof(sum));
                memset(&sum_positive, 0, sizeof(sum_positive));
                has_positives = 0;
                for (k = first; k < begin; k++) sum += FM_WEIGHTS_OF(codes[k]);
                i = begin;
            } else {
                int64_t own[2 * FM_ABREAST] = {0};
                steps.own[n_steps] = sum_positive ^ sum_positive;
                steps.negatives[n_steps][0] = even;
                steps.negatives[n_steps][1] = odd;
                fm_precisions_add(&steps, n_steps + 1, &sums);
                fm_precisions_end(&sums, state);
                n_steps = 0;
                added = waiting = 0;
                even ^= even;
                odd ^= odd;
                fm_count_wide(codes + begin, end - begin, weights, most, own, own + FM_ABREAST);
                fm_precisions_tie(own, own + FM_ABREAST, state);
                fm_precisions_begin(state, &sums);
                i = end;
                continue;
            }
        }
        sum -= sum_positive;
        even += (fm_shorts)sum & 0xFF;
        odd += (fm_shorts)sum >> 8;
        waiting += i - first;
        if (!has_positives && waiting + group <= waiting_rows && i < n) continue;
        steps.own[n_steps] = sum_positive;
        steps.negatives[n_steps][0] = even;
        steps.negatives[n_steps][1] = odd;
        even ^= even;
        odd ^= odd;
        waiting = 0;
        n_steps++;
        if (n_steps == FM_STEPS) {
            fm_precisions_add(&steps, n_steps, &sums);
            added += n_steps;
            n_steps = 0;
            if (added >= FM_MANY_STEPS) {
                fm_precisions_end(&sums, state);
                fm_precisions_begin(state, &sums);
                added = 0;
            }
        }
    }
    fm_precisions_add(&steps, n_steps, &sums);
    fm_precisions_end(&sums, state);
}
#endif

static void fm_precisions(
    const uint16_t* codes, ptrdiff_t n, const uint8_t* weights, int most, int plain, int64_t* state
) {
#if FM_HAS_VECTORS
    if (!plain) {
        fm_precisions_wide(codes, n, weights, most, state);
        return;
    }
#endif
    fm_precisions_plain(codes, n, weights, most, plain, state);
}

#endif
