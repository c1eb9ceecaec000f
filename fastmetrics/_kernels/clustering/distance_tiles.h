/* The loops of distances.h for one type of coordinate and one register width. distance_widths.h includes this file once
 * for each combination.
 *
 * It defines FM_REAL (float or double), FM_T(name) (the name with a suffix for the combination), FM_PANEL,
 * FM_TILE_LANES (coordinates per register), FM_TILE_ROWS and FM_TILE_VECTORS (a tile that fits in the registers) and
 * FM_SUM_LANES (doubles per register). distances.h defines FM_VECTORS if the compiler has vector types. Without them a
 * lane is a scalar.
 */
#ifdef FM_VECTORS
typedef FM_REAL FM_T(fm_values) __attribute__((vector_size(FM_TILE_LANES * sizeof(FM_REAL)), may_alias));
typedef FM_INTEGER FM_T(fm_bits) __attribute__((vector_size(FM_TILE_LANES * sizeof(FM_REAL)), may_alias));
typedef double FM_T(fm_sums) __attribute__((vector_size(FM_SUM_LANES * 8), may_alias));
#define FM_MAGNITUDE(X) ((FM_T(fm_values))((FM_T(fm_bits))(X) & FM_ALL_BUT_SIGN))
#else
typedef FM_REAL FM_T(fm_values);
typedef double FM_T(fm_sums);
#define FM_MAGNITUDE(X) ((FM_REAL)fabs(X))
#endif

/* Sums over `dims` coordinates of a term of the difference, for FM_ROWS rows against the FM_PANEL rows of a panel; each
 * pair has its own lane. The order of the additions is fixed: groups of four terms, ((t0 + t1) + (t2 + t3)), are added
 * one after the other, and the remaining terms last. */
#define FM_TILE(NAME, TERM)                                                                                              \
    static inline void FM_T(NAME)(const FM_REAL* pack, const FM_REAL* panel, ptrdiff_t dims, FM_REAL* out) {             \
        ptrdiff_t row, lane, dim;                                                                                        \
        int i, j, m;                                                                                                     \
        for (row = 0; row < FM_ROWS; row += FM_TILE_ROWS)                                                                \
            for (lane = 0; lane < FM_PANEL; lane += FM_TILE_LANES * FM_TILE_VECTORS) {                                   \
                const FM_REAL* x = pack + row;                                                                           \
                const FM_REAL* y = panel + lane;                                                                         \
                FM_T(fm_values) sums[FM_TILE_ROWS][FM_TILE_VECTORS];                                                     \
                FM_UNROLL                                                                                                \
                for (i = 0; i < FM_TILE_ROWS; i++)                                                                       \
                    FM_UNROLL                                                                                            \
                    for (j = 0; j < FM_TILE_VECTORS; j++) sums[i][j] = (FM_T(fm_values)){0};                             \
                for (dim = 0; dim + 4 <= dims; dim += 4, x += 4 * FM_ROWS, y += 4 * FM_PANEL) {                          \
                    FM_UNROLL                                                                                            \
                    for (j = 0; j < FM_TILE_VECTORS; j++) {                                                              \
                        const FM_T(fm_values)* y_row = (const FM_T(fm_values)*)(y + j * FM_TILE_LANES);                  \
                        FM_T(fm_values) y0 = y_row[0], y1 = y_row[FM_PANEL / FM_TILE_LANES];                             \
                        FM_T(fm_values) y2 = y_row[2 * FM_PANEL / FM_TILE_LANES], y3 = y_row[3 * FM_PANEL / FM_TILE_LANES]; \
                        FM_UNROLL                                                                                        \
                        for (i = 0; i < FM_TILE_ROWS; i++) {                                                             \
                            FM_T(fm_values) d0 = y0 - x[i], d1 = y1 - x[FM_ROWS + i];                                    \
                            FM_T(fm_values) d2 = y2 - x[2 * FM_ROWS + i], d3 = y3 - x[3 * FM_ROWS + i];                  \
                            sums[i][j] += (TERM(d0) + TERM(d1)) + (TERM(d2) + TERM(d3));                                 \
                        }                                                                                                \
                    }                                                                                                    \
                }                                                                                                        \
                if (dim < dims)                                                                                          \
                    FM_UNROLL                                                                                            \
                    for (i = 0; i < FM_TILE_ROWS; i++)                                                                   \
                        FM_UNROLL                                                                                        \
                        for (j = 0; j < FM_TILE_VECTORS; j++) {                                                          \
                            FM_T(fm_values) last = (FM_T(fm_values)){0};                                                 \
                            for (m = 0; m < dims - dim; m++) {                                                           \
                                FM_T(fm_values) d =                                                                      \
                                    *(const FM_T(fm_values)*)(y + m * FM_PANEL + j * FM_TILE_LANES) - x[m * FM_ROWS + i]; \
                                last += TERM(d);                                                                         \
                            }                                                                                            \
                            sums[i][j] += last;                                                                          \
                        }                                                                                                \
                FM_UNROLL                                                                                                \
                for (i = 0; i < FM_TILE_ROWS; i++)                                                                       \
                    FM_UNROLL                                                                                            \
                    for (j = 0; j < FM_TILE_VECTORS; j++)                                                                \
                        *(FM_T(fm_values)*)(out + (row + i) * FM_PANEL + lane + j * FM_TILE_LANES) = sums[i][j];         \
            }                                                                                                            \
    }

FM_TILE(fm_tile_squares, FM_SQUARE)
FM_TILE(fm_tile_magnitudes, FM_MAGNITUDE)

/* Distances of FM_ROWS rows from the rows of a panel. float terms are summed for `step` dimensions at a time, and these
 * sums are added in double.
 *
 * With u = 2^-24, a float term has 3 roundings (a square) or 1 (a magnitude), its group of four has 2, and the sum of
 * `step` terms has step / 4 - 1 more. The error is at most 12 u for 32 squares under a root (the root halves it, and
 * the conversion and the root add 1.5 u), 6 u for 8 squares, and 6 u for 16 magnitudes. The error of a silhouette is at
 * most twice as large: below 1e-6. */
static inline void FM_T(fm_tile)(const FM_REAL* pack, const FM_REAL* panel, ptrdiff_t dims, int kind, double* out) {
    FM_REAL partial[FM_ROWS * FM_PANEL] FM_ALIGNED;
    ptrdiff_t step = sizeof(FM_REAL) == 8 ? dims : kind == FM_ROOT ? 32 : kind == FM_ABSOLUTE ? 16 : 8;
    ptrdiff_t dim, length;
    int t;
    for (dim = 0; dim < dims; dim += step) {
        length = dims - dim < step ? dims - dim : step;
        if (kind == FM_ABSOLUTE)
            FM_T(fm_tile_magnitudes)(pack + dim * FM_ROWS, panel + dim * FM_PANEL, length, partial);
        else
            FM_T(fm_tile_squares)(pack + dim * FM_ROWS, panel + dim * FM_PANEL, length, partial);
        if (dim + length < dims || dim) {
            if (dim)
                for (t = 0; t < FM_ROWS * FM_PANEL; t++) out[t] += (double)partial[t];
            else
                for (t = 0; t < FM_ROWS * FM_PANEL; t++) out[t] = (double)partial[t];
        }
    }
    if (dims <= step) {
        if (kind == FM_ROOT)
            for (t = 0; t < FM_ROWS * FM_PANEL; t++) out[t] = (double)FM_SQRT(partial[t]);
        else
            for (t = 0; t < FM_ROWS * FM_PANEL; t++) out[t] = (double)partial[t];
    } else if (kind == FM_ROOT)
        for (t = 0; t < FM_ROWS * FM_PANEL; t++) out[t] = (double)FM_SQRT((FM_REAL)out[t]);
}

/* Add distances, in two words, to the sums of the rows of the panel (columns of a tile) and, unless `rows` is NULL, to
 * those of the rows of the tile, which have FM_SUM_LANES partial sums each. */
static inline void FM_T(fm_add)(
    const double* distances, ptrdiff_t n_rows, const fm_words* words, double* high, double* low, double* rows
) {
    FM_T(fm_sums) highs[FM_PANEL / FM_SUM_LANES], lows[FM_PANEL / FM_SUM_LANES];
    double first = words->first, second = words->second;
    ptrdiff_t i;
    int g;
    FM_UNROLL
    for (g = 0; g < FM_PANEL / FM_SUM_LANES; g++) {
        highs[g] = *(const FM_T(fm_sums)*)(high + g * FM_SUM_LANES);
        lows[g] = *(const FM_T(fm_sums)*)(low + g * FM_SUM_LANES);
    }
    if (rows)
        for (i = 0; i < n_rows; i++) {
            FM_T(fm_sums)* row_sums = (FM_T(fm_sums)*)(rows + 2 * i * FM_SUM_LANES);
            FM_T(fm_sums) row_high = row_sums[0], row_low = row_sums[1];
            FM_UNROLL
            for (g = 0; g < FM_PANEL / FM_SUM_LANES; g++) {
                FM_T(fm_sums) x = *(const FM_T(fm_sums)*)(distances + i * FM_PANEL + g * FM_SUM_LANES);
                FM_T(fm_sums) leading = (x + first) - first;
                highs[g] += leading;
                row_high += leading;
                leading = ((x - leading) + second) - second;
                lows[g] += leading;
                row_low += leading;
            }
            row_sums[0] = row_high;
            row_sums[1] = row_low;
        }
    else
        for (i = 0; i < n_rows; i++) {
            FM_UNROLL
            for (g = 0; g < FM_PANEL / FM_SUM_LANES; g++) {
                FM_T(fm_sums) x = *(const FM_T(fm_sums)*)(distances + i * FM_PANEL + g * FM_SUM_LANES);
                FM_T(fm_sums) leading = (x + first) - first;
                highs[g] += leading;
                leading = ((x - leading) + second) - second;
                lows[g] += leading;
            }
        }
    FM_UNROLL
    for (g = 0; g < FM_PANEL / FM_SUM_LANES; g++) {
        *(FM_T(fm_sums)*)(high + g * FM_SUM_LANES) = highs[g];
        *(FM_T(fm_sums)*)(low + g * FM_SUM_LANES) = lows[g];
    }
}

/* Measure each pair of rows of two strips once (layout: distances.pyx). */
static void FM_T(fm_pair_sums)(
    const FM_REAL* x, ptrdiff_t dims, int kind, const fm_words* words, const fm_strip* left, const fm_strip* right,
    int same, const FM_REAL* panels, FM_REAL* pack
) {
    double distances[FM_ROWS * FM_PANEL] FM_ALIGNED;
    double row_sums[FM_ROWS * 2 * FM_SUM_LANES] FM_ALIGNED;
    ptrdiff_t a, b, start, slot, n_rows, stop, i, lane; /* a, b: runs of the left and of the right strip */
    for (a = 0; a < left->n_runs; a++)
        for (start = 0; start < left->run_lengths[a]; start += FM_ROWS) {
            n_rows = left->run_lengths[a] - start < FM_ROWS ? left->run_lengths[a] - start : FM_ROWS;
            FM_PACK_ROWS(x, dims, left->rows + left->run_starts[a] + start, n_rows, FM_ROWS, pack);
            for (b = same ? a : 0; b < right->n_runs; b++) {
                double* high = right->high + a * right->length;
                double* low = right->low + a * right->length;
                slot = right->run_starts[b];
                stop = right->run_starts[b] + right->run_lengths[b];
                if (same && a == b) {
                    /* The panel that contains the rows themselves has both orders of each pair. */
                    slot += start / FM_PANEL * FM_PANEL;
                    FM_T(fm_tile)(pack, panels + slot * dims, dims, kind, distances);
                    FM_T(fm_add)(distances, n_rows, words, high + slot, low + slot, NULL);
                    slot += FM_PANEL;
                }
                memset(row_sums, 0, sizeof row_sums);
                for (; slot < stop; slot += FM_PANEL) {
                    FM_T(fm_tile)(pack, panels + slot * dims, dims, kind, distances);
                    if (stop - slot < FM_PANEL)
                        for (i = 0; i < FM_ROWS; i++)
                            for (lane = stop - slot; lane < FM_PANEL; lane++) distances[i * FM_PANEL + lane] = 0;
                    FM_T(fm_add)(distances, n_rows, words, high + slot, low + slot, row_sums);
                }
                for (i = 0; i < n_rows; i++)
                    for (lane = 0; lane < FM_SUM_LANES; lane++) {
                        left->high[b * left->length + left->run_starts[a] + start + i] +=
                            row_sums[2 * i * FM_SUM_LANES + lane];
                        left->low[b * left->length + left->run_starts[a] + start + i] +=
                            row_sums[(2 * i + 1) * FM_SUM_LANES + lane];
                    }
            }
        }
}

/* Mean distances of the rows of one strip to all clusters, with the sums of one cluster at a time. */
static void FM_T(fm_strip_means)(
    const FM_REAL* x, ptrdiff_t dims, int kind, const fm_words* words, const int64_t* rows, const int64_t* ends,
    ptrdiff_t n_rows, const fm_means* strip, const FM_REAL* panels, FM_REAL* pack
) {
    double distances[FM_ROWS * FM_PANEL] FM_ALIGNED;
    ptrdiff_t start, length, slot, from, to, cluster = 0, last;
    for (start = 0; start < n_rows; start += FM_ROWS) {
        length = n_rows - start < FM_ROWS ? n_rows - start : FM_ROWS;
        FM_PACK_ROWS(x, dims, rows + start, length, FM_ROWS, pack);
        last = cluster;
        for (slot = 0; slot < strip->length; slot += FM_PANEL) {
            last = cluster;
            FM_T(fm_tile)(pack, panels + slot * dims, dims, kind, distances);
            for (from = 0; from < length; from = to) {
                to = ends[last] - start < length ? ends[last] - start : length;
                FM_T(fm_add)(
                    distances + from * FM_PANEL, to - from, words, strip->high + slot, strip->low + slot, NULL);
                if (ends[last] - start <= length) {
                    fm_finish_cluster(strip, slot, FM_PANEL, last, ends[last] - (last ? ends[last - 1] : 0));
                    last++;
                }
            }
        }
        cluster = last;
    }
}

/* Distances of up to FM_ROWS rows from those of a panel: out[i * stride + lane]. */
static void FM_T(fm_tile_distances)(
    const FM_REAL* pack, const FM_REAL* panel, ptrdiff_t dims, int kind, ptrdiff_t n_rows, ptrdiff_t n_lanes,
    ptrdiff_t stride, double* out
) {
    double distances[FM_ROWS * FM_PANEL] FM_ALIGNED;
    ptrdiff_t i;
    FM_T(fm_tile)(pack, panel, dims, kind, distances);
    for (i = 0; i < n_rows; i++) memcpy(out + i * stride, distances + i * FM_PANEL, (size_t)n_lanes * sizeof(double));
}

#undef FM_MAGNITUDE
#undef FM_TILE
