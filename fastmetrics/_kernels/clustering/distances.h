/* Distances of rows from rows, summed by cluster, with lanes across pairs (distances.pyx tells layout and bounds).
 *
 * A lane is one pair: its coordinates are added in an order that depends on their number alone, so neither the place of
 * a pair in a tile nor the width of the registers changes a bit of its distance. The same loops are compiled for several
 * widths (distancewidths.h), with the same IEEE operations (no fused multiply-add: the build says -ffp-contract=off).
 */
#ifndef FASTMETRICS_DISTANCES_H
#define FASTMETRICS_DISTANCES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "vectormath.h"

#define FM_ROWS 8
#define FM_PANEL_F32 32
#define FM_PANEL_F64 16

enum { FM_PLAIN = 0, FM_ROOT = 1, FM_ABSOLUTE = 2 };

/* Where a distance is cut in two: x = (x + first) - first and a rest, cut by `second` again. */
typedef struct {
    double first, second;
} fm_words;

/* Rows side by side, sorted by cluster; each run of a cluster starts at a panel. Sums: [run of the other strip][length]. */
typedef struct {
    ptrdiff_t length, n_runs;
    const int64_t *rows, *bounds, *filled;
    double *high, *low;
} fm_strip;

/* Rows whose mean distances from one cluster after the other are wanted. */
typedef struct {
    ptrdiff_t length;
    const int64_t* clusters;
    double *high, *low, *own, *best;
} fm_means;

/* A cluster of `size` rows is summed up: the sum where it is the row's own, else the mean if it is the least. */
static inline void fm_close_cluster(
    const fm_means* strip, ptrdiff_t place, ptrdiff_t length, int64_t cluster, int64_t size
) {
    ptrdiff_t j;
    for (j = place; j < place + length; j++) {
        double sum = strip->high[j] + strip->low[j];
        double mean = sum / (double)size;
        double best = strip->best[j];
        int is_own = strip->clusters[j] == cluster;
        strip->own[j] = is_own ? sum : strip->own[j];
        strip->best[j] = is_own | (mean >= best) ? best : mean;
        strip->high[j] = 0;
        strip->low[j] = 0;
    }
}

#define FM_PACK(NAME, TYPE)                                                                                              \
    /* Rows into the columns of a block [dims][width]; rows[i] < 0 and what is beyond n give zeros. */                   \
    static inline void NAME(                                                                                             \
        const TYPE* x, ptrdiff_t dims, const int64_t* rows, ptrdiff_t n, ptrdiff_t width, TYPE* out) {                   \
        ptrdiff_t i, dim;                                                                                                \
        for (i = 0; i < width; i++) {                                                                                    \
            const TYPE* row = x + (i < n && rows[i] >= 0 ? rows[i] : 0) * dims;                                          \
            if (i < n && rows[i] >= 0)                                                                                   \
                for (dim = 0; dim < dims; dim++) out[dim * width + i] = row[dim];                                        \
            else                                                                                                         \
                for (dim = 0; dim < dims; dim++) out[dim * width + i] = 0;                                               \
        }                                                                                                                \
    }

FM_PACK(fm_pack_f32, float)
FM_PACK(fm_pack_f64, double)

/* Of a row of distances: the greatest and the least; the result is NaN or infinite if any is. */
#define FM_EXTREMES(NAME, TYPE)                                                                                          \
    FM_WIDE static double NAME(const TYPE* row, ptrdiff_t n, double* least) {                                            \
        TYPE high[FM_LANES], low[FM_LANES], odd[FM_LANES];                                                               \
        ptrdiff_t i;                                                                                                     \
        int lane;                                                                                                        \
        for (lane = 0; lane < FM_LANES; lane++) {                                                                        \
            high[lane] = low[lane] = row[0];                                                                             \
            odd[lane] = 0;                                                                                               \
        }                                                                                                                \
        for (i = 0; i + FM_LANES <= n; i += FM_LANES)                                                                    \
            for (lane = 0; lane < FM_LANES; lane++) {                                                                    \
                TYPE x = row[i + lane];                                                                                  \
                high[lane] = x > high[lane] ? x : high[lane];                                                            \
                low[lane] = x < low[lane] ? x : low[lane];                                                               \
                odd[lane] += x - x;                                                                                      \
            }                                                                                                            \
        for (; i < n; i++) {                                                                                             \
            high[0] = row[i] > high[0] ? row[i] : high[0];                                                               \
            low[0] = row[i] < low[0] ? row[i] : low[0];                                                                  \
            odd[0] += row[i] - row[i];                                                                                   \
        }                                                                                                                \
        for (lane = 1; lane < FM_LANES; lane++) {                                                                        \
            high[0] = high[lane] > high[0] ? high[lane] : high[0];                                                       \
            low[0] = low[lane] < low[0] ? low[lane] : low[0];                                                            \
            odd[0] += odd[lane];                                                                                         \
        }                                                                                                                \
        *least = (double)low[0];                                                                                         \
        return (double)high[0] + (double)odd[0];                                                                         \
    }

FM_EXTREMES(fm_extremes_f32, float)
FM_EXTREMES(fm_extremes_f64, double)

/* The sum of row[places[i]], cut into words. */
#define FM_ADD_PLACES(NAME, TYPE)                                                                                        \
    FM_WIDE static double NAME(const TYPE* row, const int64_t* places, ptrdiff_t n, const fm_words* words) {             \
        double first = words->first, second = words->second, x, part;                                                    \
        double high[FM_LANES], low[FM_LANES];                                                                            \
        ptrdiff_t i;                                                                                                     \
        int lane;                                                                                                        \
        for (lane = 0; lane < FM_LANES; lane++) high[lane] = low[lane] = 0;                                              \
        for (i = 0; i + FM_LANES <= n; i += FM_LANES)                                                                    \
            for (lane = 0; lane < FM_LANES; lane++) {                                                                    \
                double value = (double)row[places[i + lane]];                                                            \
                double cut = (value + first) - first;                                                                    \
                high[lane] += cut;                                                                                       \
                low[lane] += ((value - cut) + second) - second;                                                          \
            }                                                                                                            \
        for (; i < n; i++) {                                                                                             \
            x = (double)row[places[i]];                                                                                  \
            part = (x + first) - first;                                                                                  \
            high[0] += part;                                                                                             \
            low[0] += ((x - part) + second) - second;                                                                    \
        }                                                                                                                \
        for (lane = 1; lane < FM_LANES; lane++) {                                                                        \
            high[0] += high[lane];                                                                                       \
            low[0] += low[lane];                                                                                         \
        }                                                                                                                \
        return high[0] + low[0];                                                                                         \
    }

FM_ADD_PLACES(fm_add_places_f32, float)
FM_ADD_PLACES(fm_add_places_f64, double)

#define FM_SQUARE(X) ((X) * (X))

#if defined(__GNUC__) && !defined(__clang__)
#define FM_VECTORS
#define FM_UNROLL _Pragma("GCC unroll 16")
#define FM_ALIGNED __attribute__((aligned(64)))
#else
#define FM_UNROLL
#define FM_ALIGNED
#endif

#define FM_PASTE(NAME, SUFFIX) NAME##_##SUFFIX
#define FM_NAMED(NAME, SUFFIX) FM_PASTE(NAME, SUFFIX)
#define FM_T(NAME) FM_NAMED(NAME, FM_SUFFIX)

#define FM_FLOATS
#include "distancewidths.h"
#undef FM_FLOATS
#include "distancewidths.h"

#if defined(FM_WIDER)
static int fm_widest(void) {
    return __builtin_cpu_supports("x86-64-v4") ? 2 : __builtin_cpu_supports("x86-64-v3") ? 1 : 0;
}
#define FM_BY_WIDTH(NAME, TYPE, WIDTH, ...)                                                                              \
    ((WIDTH) == 2 ? NAME##_##TYPE##_v4(__VA_ARGS__) : (WIDTH) == 1 ? NAME##_##TYPE##_v3(__VA_ARGS__)                     \
                                                                   : NAME##_##TYPE##_v1(__VA_ARGS__))
#else
static int fm_widest(void) { return 0; }
#define FM_BY_WIDTH(NAME, TYPE, WIDTH, ...) NAME##_##TYPE##_v1(__VA_ARGS__)
#endif

#define FM_ENTRIES(TYPE, REAL)                                                                                           \
    static void fm_pair_sums_##TYPE(                                                                                     \
        int width, const REAL* x, ptrdiff_t dims, int kind, const fm_words* words, const fm_strip* left,                 \
        const fm_strip* right, int same, const REAL* panels, REAL* pack) {                                               \
        FM_BY_WIDTH(fm_pair_sums, TYPE, width, x, dims, kind, words, left, right, same, panels, pack);                   \
    }                                                                                                                    \
    static void fm_strip_means_##TYPE(                                                                                   \
        int width, const REAL* x, ptrdiff_t dims, int kind, const fm_words* words, const int64_t* rows,                  \
        const int64_t* ends, ptrdiff_t n_rows, const fm_means* strip, const REAL* panels, REAL* pack) {                  \
        FM_BY_WIDTH(fm_strip_means, TYPE, width, x, dims, kind, words, rows, ends, n_rows, strip, panels, pack);         \
    }

FM_ENTRIES(f32, float)
FM_ENTRIES(f64, double)

static void fm_spread_f64(
    int width, const double* pack, const double* panel, ptrdiff_t dims, int kind, ptrdiff_t n_rows, ptrdiff_t n_lanes,
    ptrdiff_t stride, double* out
) {
    FM_BY_WIDTH(fm_spread, f64, width, pack, panel, dims, kind, n_rows, n_lanes, stride, out);
}

#endif
