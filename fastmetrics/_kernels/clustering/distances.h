/* Distances between rows, summed by cluster; each SIMD lane is one pair of rows (layout and bounds: distances.pyx).
 *
 * The coordinates of a pair are added in an order that depends only on their number. So neither the position of a pair
 * in a tile nor the width of the registers changes its distance. The same loops are compiled for several register
 * widths (distance_widths.h), with the same IEEE operations (no fused multiply-add: the build sets -ffp-contract=off).
 */
#ifndef FASTMETRICS_DISTANCES_H
#define FASTMETRICS_DISTANCES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "numeric/vector_math.h"

#define FM_ROWS 8
#define FM_PANEL_F32 32
#define FM_PANEL_F64 16

enum { FM_PLAIN = 0, FM_ROOT = 1, FM_ABSOLUTE = 2 };

/* Constants that split a distance x into two words: high = (x + first) - first, low = ((x - high) + second) - second.
 * */
typedef struct {
    double first, second;
} fm_words;

/* Rows in slots, ordered by cluster; each cluster's run starts at a panel. Sums: [run of the other strip][length]. */
typedef struct {
    ptrdiff_t length, n_runs;
    const int64_t *rows, *run_starts, *run_lengths;
    double *high, *low;
} fm_strip;

/* Rows whose mean distances to the clusters are computed, one cluster after the other. */
typedef struct {
    ptrdiff_t length;
    const int64_t* clusters;
    double *high, *low, *own_sums, *nearest_means;
} fm_means;

/* Finish the sums of a cluster of `size` rows: its own rows keep the sum, other rows the mean if it is the least. */
static inline void fm_finish_cluster(
    const fm_means* strip, ptrdiff_t start, ptrdiff_t length, int64_t cluster, int64_t size
) {
    ptrdiff_t j;
    for (j = start; j < start + length; j++) {
        double sum = strip->high[j] + strip->low[j];
        double mean = sum / (double)size;
        double nearest = strip->nearest_means[j];
        int is_own = strip->clusters[j] == cluster;
        strip->own_sums[j] = is_own ? sum : strip->own_sums[j];
        strip->nearest_means[j] = is_own | (mean >= nearest) ? nearest : mean;
        strip->high[j] = 0;
        strip->low[j] = 0;
    }
}

#define FM_PACK(NAME, TYPE)                                                                                              \
    /* Copy rows to columns of a block [dims][width]; columns with rows[i] < 0 or from n on are 0. */                    \
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

/* The greatest and the least distance of a row. The result is NaN or infinite if any distance is. */
#define FM_EXTREMES(NAME, TYPE)                                                                                          \
    FM_WIDE static double NAME(const TYPE* row, ptrdiff_t n, double* least) {                                            \
        TYPE high[FM_LANES], low[FM_LANES], invalid[FM_LANES];                                                           \
        ptrdiff_t i;                                                                                                     \
        int lane;                                                                                                        \
        for (lane = 0; lane < FM_LANES; lane++) {                                                                        \
            high[lane] = low[lane] = row[0];                                                                             \
            invalid[lane] = 0;                                                                                           \
        }                                                                                                                \
        for (i = 0; i + FM_LANES <= n; i += FM_LANES)                                                                    \
            for (lane = 0; lane < FM_LANES; lane++) {                                                                    \
                TYPE x = row[i + lane];                                                                                  \
                high[lane] = x > high[lane] ? x : high[lane];                                                            \
                low[lane] = x < low[lane] ? x : low[lane];                                                               \
                invalid[lane] += x - x;                                                                                  \
            }                                                                                                            \
        for (; i < n; i++) {                                                                                             \
            high[0] = row[i] > high[0] ? row[i] : high[0];                                                               \
            low[0] = row[i] < low[0] ? row[i] : low[0];                                                                  \
            invalid[0] += row[i] - row[i];                                                                               \
        }                                                                                                                \
        for (lane = 1; lane < FM_LANES; lane++) {                                                                        \
            high[0] = high[lane] > high[0] ? high[lane] : high[0];                                                       \
            low[0] = low[lane] < low[0] ? low[lane] : low[0];                                                            \
            invalid[0] += invalid[lane];                                                                                 \
        }                                                                                                                \
        *least = (double)low[0];                                                                                         \
        return (double)high[0] + (double)invalid[0];                                                                     \
    }

FM_EXTREMES(fm_extremes_f32, float)
FM_EXTREMES(fm_extremes_f64, double)

/* The sum of row[columns[i]], split into words. */
#define FM_ADD_COLUMNS(NAME, TYPE)                                                                                       \
    FM_WIDE static double NAME(const TYPE* row, const int64_t* columns, ptrdiff_t n, const fm_words* words) {            \
        double first = words->first, second = words->second, tail, tail_leading;                                         \
        double high[FM_LANES], low[FM_LANES];                                                                            \
        ptrdiff_t i;                                                                                                     \
        int lane;                                                                                                        \
        for (lane = 0; lane < FM_LANES; lane++) high[lane] = low[lane] = 0;                                              \
        for (i = 0; i + FM_LANES <= n; i += FM_LANES)                                                                    \
            for (lane = 0; lane < FM_LANES; lane++) {                                                                    \
                double value = (double)row[columns[i + lane]];                                                           \
                double leading = (value + first) - first;                                                                \
                high[lane] += leading;                                                                                   \
                low[lane] += ((value - leading) + second) - second;                                                      \
            }                                                                                                            \
        for (; i < n; i++) {                                                                                             \
            tail = (double)row[columns[i]];                                                                              \
            tail_leading = (tail + first) - first;                                                                       \
            high[0] += tail_leading;                                                                                     \
            low[0] += ((tail - tail_leading) + second) - second;                                                         \
        }                                                                                                                \
        for (lane = 1; lane < FM_LANES; lane++) {                                                                        \
            high[0] += high[lane];                                                                                       \
            low[0] += low[lane];                                                                                         \
        }                                                                                                                \
        return high[0] + low[0];                                                                                         \
    }

FM_ADD_COLUMNS(fm_add_columns_f32, float)
FM_ADD_COLUMNS(fm_add_columns_f64, double)

/* Distances from what two rows share: size + sizes[j] - 2 row[j]. Returns how many are below `least_share` of the sum. */
FM_WIDE static double fm_unshared(double* row, ptrdiff_t n, const double* sizes, double size, double least_share) {
    double few[FM_LANES];
    ptrdiff_t i;
    int lane;
    for (lane = 0; lane < FM_LANES; lane++) few[lane] = 0;
    for (i = 0; i + FM_LANES <= n; i += FM_LANES)
        for (lane = 0; lane < FM_LANES; lane++) {
            double both = size + sizes[i + lane], left = both - 2 * row[i + lane];
            few[lane] += left < least_share * both ? 1.0 : 0.0;
            row[i + lane] = left;
        }
    for (; i < n; i++) {
        row[i] = size + sizes[i] - 2 * row[i];
        few[0] += row[i] < least_share * (size + sizes[i]) ? 1.0 : 0.0;
    }
    for (lane = 1; lane < FM_LANES; lane++) few[0] += few[lane];
    return few[0];
}

FM_WIDE static void fm_square_roots(double* row, ptrdiff_t n) {
    ptrdiff_t i;
    for (i = 0; i < n; i++) row[i] = sqrt(row[i]);
}

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
#include "clustering/distance_widths.h"
#undef FM_FLOATS
#include "clustering/distance_widths.h"

#if defined(FM_WIDER)
static int fm_widest_registers(void) {
    return __builtin_cpu_supports("x86-64-v4") ? 2 : __builtin_cpu_supports("x86-64-v3") ? 1 : 0;
}
#define FM_BY_WIDTH(NAME, TYPE, WIDTH, ...)                                                                              \
    ((WIDTH) == 2 ? NAME##_##TYPE##_v4(__VA_ARGS__) : (WIDTH) == 1 ? NAME##_##TYPE##_v3(__VA_ARGS__)                     \
                                                                   : NAME##_##TYPE##_v1(__VA_ARGS__))
#else
static int fm_widest_registers(void) { return 0; }
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

static void fm_tile_distances_f64(
    int width, const double* pack, const double* panel, ptrdiff_t dims, int kind, ptrdiff_t n_rows, ptrdiff_t n_lanes,
    ptrdiff_t stride, double* out
) {
    FM_BY_WIDTH(fm_tile_distances, f64, width, pack, panel, dims, kind, n_rows, n_lanes, stride, out);
}

#endif
