/* The register widths for which distance_tiles.h is compiled. distances.h includes this file once for each type.
 *
 * x86-64-v4 has 32 registers of 64 bytes, and a tile is 8 rows by 2 registers. With 16 registers it is 4 rows by 2.
 */
#ifdef FM_FLOATS
#define FM_REAL float
#define FM_INTEGER int32_t
#define FM_ALL_BUT_SIGN 0x7fffffff
#define FM_PANEL FM_PANEL_F32
#define FM_SQRT sqrtf
#define FM_TYPE f32
#define FM_PACK_ROWS fm_pack_f32
#else
#define FM_REAL double
#define FM_INTEGER int64_t
#define FM_ALL_BUT_SIGN INT64_C(0x7fffffffffffffff)
#define FM_PANEL FM_PANEL_F64
#define FM_SQRT sqrt
#define FM_TYPE f64
#define FM_PACK_ROWS fm_pack_f64
#endif

#define FM_SUFFIX FM_NAMED(FM_TYPE, v1)
#ifdef FM_VECTORS
#define FM_TILE_LANES ((int)(16 / sizeof(FM_REAL)))
#define FM_SUM_LANES 2
#else
#define FM_TILE_LANES 1
#define FM_SUM_LANES 1
#endif
#define FM_TILE_ROWS 4
#define FM_TILE_VECTORS 2
#include "clustering/distance_tiles.h"
#undef FM_SUFFIX
#undef FM_TILE_LANES
#undef FM_SUM_LANES

#if defined(FM_VECTORS) && __GNUC__ >= 12 && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define FM_WIDER
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
#define FM_SUFFIX FM_NAMED(FM_TYPE, v3)
#define FM_TILE_LANES ((int)(32 / sizeof(FM_REAL)))
#define FM_SUM_LANES 4
#include "clustering/distance_tiles.h"
#undef FM_SUFFIX
#undef FM_TILE_LANES
#undef FM_SUM_LANES
#undef FM_TILE_ROWS
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4,prefer-vector-width=512")
#define FM_SUFFIX FM_NAMED(FM_TYPE, v4)
#define FM_TILE_LANES ((int)(64 / sizeof(FM_REAL)))
#define FM_SUM_LANES 8
#define FM_TILE_ROWS 8
#include "clustering/distance_tiles.h"
#undef FM_SUFFIX
#undef FM_TILE_LANES
#undef FM_SUM_LANES
#pragma GCC pop_options
#endif

#undef FM_TILE_ROWS
#undef FM_TILE_VECTORS
#undef FM_REAL
#undef FM_INTEGER
#undef FM_ALL_BUT_SIGN
#undef FM_PANEL
#undef FM_SQRT
#undef FM_TYPE
#undef FM_PACK_ROWS
