/* The loops of distances.h for one type of coordinate and one width of registers: distancewidths.h includes this once
 * for each.
 *
 * It sets FM_REAL (float or double), FM_T(name) (the name with a suffix of its own), FM_PANEL, FM_TILE_LANES
 * (coordinates in a register), FM_TILE_ROWS and FM_TILE_VECTORS (a tile that fits the registers) and FM_SUM_LANES
 * (doubles in a register); distances.h sets FM_VECTORS where the compiler has vector types. Without them a lane is a
 * scalar.
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

/* Sums over `dims` coordinates of a term of the difference, for FM_ROWS rows against the FM_PANEL rows of a panel, each in
 * a lane of its own. The order of the additions is fixed: terms in fours, ((t0 + t1) + (t2 + t3)), fours one after the
 * other, and what remains as the last of them. */
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
                        const FM_T(fm_values)* near = (const FM_T(fm_values)*)(y + j * FM_TILE_LANES);                   \
                        FM_T(fm_values) y0 = near[0], y1 = near[FM_PANEL / FM_TILE_LANES];                               \
                        FM_T(fm_values) y2 = near[2 * FM_PANEL / FM_TILE_LANES], y3 = near[3 * FM_PANEL / FM_TILE_LANES]; \
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

/* Distances of FM_ROWS rows from the rows of a panel. Floats are summed a few dimensions at a time, these sums in double.
 *
 * With u = 2^-24, a float's term carries 3 roundings (a square) or 1, its four 2, and `step` terms step / 4 - 1 more: at
 * most 12 u for 32 squares under a root (half of it is left then, and 1.5 u of the conversion and the root come on top),
 * 6 u for 8 squares, 6 u for 16 magnitudes. A silhouette is off by twice as much at most: below 1e-6. */
static inline void FM_T(fm_tile)(const FM_REAL* pack, const FM_REAL* panel, ptrdiff_t dims, int kind, double* out) {
    FM_REAL part[FM_ROWS * FM_PANEL] FM_ALIGNED;
    ptrdiff_t step = sizeof(FM_REAL) == 8 ? dims : kind == FM_ROOT ? 32 : kind == FM_ABSOLUTE ? 16 : 8;
    ptrdiff_t dim, length;
    int t;
    for (dim = 0; dim < dims; dim += step) {
        length = dims - dim < step ? dims - dim : step;
        if (kind == FM_ABSOLUTE)
            FM_T(fm_tile_magnitudes)(pack + dim * FM_ROWS, panel + dim * FM_PANEL, length, part);
        else
            FM_T(fm_tile_squares)(pack + dim * FM_ROWS, panel + dim * FM_PANEL, length, part);
        if (dim + length < dims || dim) {
            if (dim)
                for (t = 0; t < FM_ROWS * FM_PANEL; t++) out[t] += (double)part[t];
            else
                for (t = 0; t < FM_ROWS * FM_PANEL; t++) out[t] = (double)part[t];
        }
    }
    if (dims <= step) {
        if (kind == FM_ROOT)
            for (t = 0; t < FM_ROWS * FM_PANEL; t++) out[t] = (double)FM_SQRT(part[t]);
        else
            for (t = 0; t < FM_ROWS * FM_PANEL; t++) out[t] = (double)part[t];
    } else if (kind == FM_ROOT)
        for (t = 0; t < FM_ROWS * FM_PANEL; t++) out[t] = (double)FM_SQRT((FM_REAL)out[t]);
}

/* Add distances, in two words, to the sums of the panel's rows (columns of a tile) and, unless NULL, to those of the
 * tile's own rows, which have FM_SUM_LANES partial sums each. */
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
            FM_T(fm_sums)* own = (FM_T(fm_sums)*)(rows + 2 * i * FM_SUM_LANES);
            FM_T(fm_sums) own_high = own[0], own_low = own[1];
            FM_UNROLL
            for (g = 0; g < FM_PANEL / FM_SUM_LANES; g++) {
                FM_T(fm_sums) x = *(const FM_T(fm_sums)*)(distances + i * FM_PANEL + g * FM_SUM_LANES);
                FM_T(fm_sums) part = (x + first) - first;
                highs[g] += part;
                own_high += part;
                part = ((x - part) + second) - second;
                lows[g] += part;
                own_low += part;
            }
            own[0] = own_high;
            own[1] = own_low;
        }
    else
        for (i = 0; i < n_rows; i++) {
            FM_UNROLL
            for (g = 0; g < FM_PANEL / FM_SUM_LANES; g++) {
                FM_T(fm_sums) x = *(const FM_T(fm_sums)*)(distances + i * FM_PANEL + g * FM_SUM_LANES);
                FM_T(fm_sums) part = (x + first) - first;
                highs[g] += part;
                part = ((x - part) + second) - second;
                lows[g] += part;
            }
        }
    FM_UNROLL
    for (g = 0; g < FM_PANEL / FM_SUM_LANES; g++) {
        *(FM_T(fm_sums)*)(high + g * FM_SUM_LANES) = highs[g];
        *(FM_T(fm_sums)*)(low + g * FM_SUM_LANES) = lows[g];
    }
}

/* Every pair of two strips once (distances.pyx tells the layout). */
static void FM_T(fm_pair_sums)(
    const FM_REAL* x, ptrdiff_t dims, int kind, const fm_words* words, const fm_strip* left, const fm_strip* right,
    int same, const FM_REAL* panels, FM_REAL* pack
) {
    double distances[FM_ROWS * FM_PANEL] FM_ALIGNED;
    double own[FM_ROWS * 2 * FM_SUM_LANES] FM_ALIGNED;
    ptrdiff_t a, b, start, place, n_rows, stop, i, lane;
    for (a = 0; a < left->n_runs; a++)
        for (start = 0; start < left->filled[a]; start += FM_ROWS) {
            n_rows = left->filled[a] - start < FM_ROWS ? left->filled[a] - start : FM_ROWS;
            FM_PACK_ROWS(x, dims, left->rows + left->bounds[a] + start, n_rows, FM_ROWS, pack);
            for (b = same ? a : 0; b < right->n_runs; b++) {
                double* high = right->high + a * right->length;
                double* low = right->low + a * right->length;
                place = right->bounds[b];
                stop = right->bounds[b] + right->filled[b];
                if (same && a == b) {
                    /* The panel the rows stand in themselves: both orders of each pair are there. */
                    place += start / FM_PANEL * FM_PANEL;
                    FM_T(fm_tile)(pack, panels + place * dims, dims, kind, distances);
                    FM_T(fm_add)(distances, n_rows, words, high + place, low + place, NULL);
                    place += FM_PANEL;
                }
                memset(own, 0, sizeof own);
                for (; place < stop; place += FM_PANEL) {
                    FM_T(fm_tile)(pack, panels + place * dims, dims, kind, distances);
                    if (stop - place < FM_PANEL)
                        for (i = 0; i < FM_ROWS; i++)
                            for (lane = stop - place; lane < FM_PANEL; lane++) distances[i * FM_PANEL + lane] = 0;
                    FM_T(fm_add)(distances, n_rows, words, high + place, low + place, own);
                }
                for (i = 0; i < n_rows; i++)
                    for (lane = 0; lane < FM_SUM_LANES; lane++) {
                        left->high[b * left->length + left->bounds[a] + start + i] += own[2 * i * FM_SUM_LANES + lane];
                        left->low[b * left->length + left->bounds[a] + start + i] += own[(2 * i + 1) * FM_SUM_LANES + lane];
                    }
            }
        }
}

/* All rows against the rows of one strip: mean distances, cluster by cluster, with sums of one cluster at a time. */
static void FM_T(fm_strip_means)(
    const FM_REAL* x, ptrdiff_t dims, int kind, const fm_words* words, const int64_t* rows, const int64_t* ends,
    ptrdiff_t n_rows, const fm_means* strip, const FM_REAL* panels, FM_REAL* pack
) {
    double distances[FM_ROWS * FM_PANEL] FM_ALIGNED;
    ptrdiff_t start, length, place, from, to, cluster = 0, last;
    for (start = 0; start < n_rows; start += FM_ROWS) {
        length = n_rows - start < FM_ROWS ? n_rows - start : FM_ROWS;
        FM_PACK_ROWS(x, dims, rows + start, length, FM_ROWS, pack);
        last = cluster;
        for (place = 0; place < strip->length; place += FM_PANEL) {
            last = cluster;
            FM_T(fm_tile)(pack, panels + place * dims, dims, kind, distances);
            for (from = 0; from < length; from = to) {
                to = ends[last] - start < length ? ends[last] - start : length;
                FM_T(fm_add)(
                    distances + from * FM_PANEL, to - from, words, strip->high + place, strip->low + place, NULL);
                if (ends[last] - start <= length) {
                    fm_close_cluster(strip, place, FM_PANEL, last, ends[last] - (last ? ends[last - 1] : 0));
                    last++;
                }
            }
        }
        cluster = last;
    }
}

/* Distances of up to FM_ROWS rows from those of a panel: out[i * stride + lane]. */
static void FM_T(fm_spread)(
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
