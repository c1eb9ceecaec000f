/* Masks as runs: text to runs, polygons to runs, boxes, pixels, and what two masks share.

A mask of height x width pixels is a row of counts, column after column from the left, each column from the top: pixels
outside, inside, outside, ... A place is the number of pixels before it, x * height + y; places and counts have 32 bits,
so a mask has at most FM_MOST_PIXELS. */

#ifndef FASTMETRICS_MASKS_H
#define FASTMETRICS_MASKS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FM_MOST_PIXELS 4294967295LL
/* Of a polygon's coordinates: five times as much and the difference of two such numbers still have 32 bits. */
#define FM_LARGEST_COORDINATE 1e8
#define FM_MOST_DIGITS 8 /* five bits each: any difference of two counts has seven */

enum { FM_FINE, FM_BAD_CHARACTER, FM_CUT_SHORT, FM_BAD_COUNT, FM_BAD_TOTAL };

/* ---- Compressed counts: digits of five bits and a bit that says whether another follows, as characters from '0' to
   'o', the lowest first; the last one's highest bit is the sign. From the fourth on, what is written is the difference
   to the count two before. */

/* How many counts the text has: characters without the bit that another follows. */
static inline int64_t fm_count_numbers(const char *text, int64_t length) {
    int64_t total = 0;
    while (length > 0) {
        int64_t n = length < 128 ? length : 128;
        uint8_t lasts = 0;
        for (int64_t i = 0; i < n; i++) lasts += ((uint8_t)(text[i] - '0') & 32) == 0;
        total += lasts;
        text += n;
        length -= n;
    }
    return total;
}

/* Are all characters from '0' to 'o', and is the last one the last of a number? */
static inline int fm_is_text_fine(const char *text, int64_t length) {
    uint8_t seen = 0;
    for (int64_t i = 0; i < length; i++) seen |= (uint8_t)(text[i] - '0');
    return seen < 64 && (length == 0 || !((text[length - 1] - '0') & 32));
}

/* Where a text is not fine: FM_CUT_SHORT or FM_BAD_CHARACTER (of too many for one number, the first), and the place. */
static inline int fm_find_bad_text(const char *text, int64_t length, int64_t *place) {
    int64_t digits = 0;
    for (int64_t at = 0; at < length; at++) {
        uint8_t digit = (uint8_t)(text[at] - '0');
        if (digit > 63 || digits == FM_MOST_DIGITS) {
            *place = at;
            return FM_BAD_CHARACTER;
        }
        digits = (digit & 32) ? digits + 1 : 0;
    }
    *place = length;
    return FM_CUT_SHORT;
}

/* Eight digits of five bits each as one number of 40 bits; the bits above them are dropped. */
static inline uint64_t fm_join_digits(uint64_t word) {
    word = (word & 0x001F001F001F001FULL) | ((word & 0x1F001F001F001F00ULL) >> 3);
    word = (word & 0x000003FF000003FFULL) | ((word & 0x03FF000003FF0000ULL) >> 6);
    return (word & 0xFFFFFULL) | ((word & 0x000FFFFF00000000ULL) >> 12);
}

/* Eight characters as a word, the first in its lowest byte. */
static inline uint64_t fm_characters(const char *text) {
    uint64_t word;
    memcpy(&word, text, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word - 0x3030303030303030ULL;
}

/* A bit for each of eight characters: is it the last of a number? */
static inline uint64_t fm_lasts(const char *text) {
    return (((~fm_characters(text) & 0x2020202020202020ULL) >> 5) * 0x0102040810204080ULL) >> 56;
}

static inline int fm_lowest_bit(uint64_t word) {
#if defined(__GNUC__)
    return __builtin_ctzll(word);
#else
    int place = 0;
    while (!(word & 1)) {
        word >>= 1;
        place++;
    }
    return place;
#endif
}

/* The number of `digits` characters, at most eight. */
static inline int64_t fm_read_number(const char *text, int64_t digits) {
    int unused = (int)(64 - 5 * digits);
    return (int64_t)(fm_join_digits(fm_characters(text)) << unused) >> unused;
}

/* Where counts go wrong: the first that is negative or too large, else their sum. */
static inline int fm_find_bad_count(const char *text, int64_t length, int64_t *detail) {
    int64_t counts[3] = {0, 0, 0}, total = 0, n = 0, start = 0;
    for (int64_t at = 0; at < length; at++) {
        if ((text[at] - '0') & 32) continue;
        char digits[8] = {'0', '0', '0', '0', '0', '0', '0', '0'};
        memcpy(digits, text + start, (size_t)(at + 1 - start));
        int64_t value = fm_read_number(digits, at + 1 - start) + (n > 2 ? counts[(n - 2) % 3] : 0);
        start = at + 1;
        if (value < 0 || value > FM_MOST_PIXELS) {
            *detail = value;
            return FM_BAD_COUNT;
        }
        counts[n++ % 3] = value;
        total += value;
    }
    *detail = total;
    return FM_BAD_TOTAL;
}

/* Counts of a text, whose sum is to be `pixels`; FM_FINE, or what is wrong: detail is then the place in the text, the
   count, or the sum. The ends of all numbers in 64 characters are found first, so that no number waits for the one
   before; the last eight characters are read in a copy. */
static inline int fm_read_counts(const char *text, int64_t length, int64_t pixels, uint32_t *counts, int64_t *detail) {
    char tail[16];
    int64_t start = 0, n = 0;
    uint64_t before = 0, last = 0, total = 0, seen = 0; /* what is out of range wraps around, and is found at the end */
    if (!fm_is_text_fine(text, length)) return fm_find_bad_text(text, length, detail);
    int64_t n_tail = length >= 8 ? 8 : length > 0 ? length : 0, copied = length - n_tail;
    memset(tail, 'P', sizeof(tail)); /* 'P' is no number's last digit */
    memcpy(tail, text + copied, (size_t)n_tail);
    for (int64_t base = 0; base < length; base += 64) {
        uint64_t ends = 0;
        for (int64_t k = 0; k < 64 && base + k < length; k += 8) {
            ends |= fm_lasts(base + k + 8 <= length ? text + base + k : tail + (base + k - copied)) << k;
        }
        for (; ends; ends &= ends - 1) {
            int64_t end = base + fm_lowest_bit(ends) + 1, digits = end - start;
            if (digits > FM_MOST_DIGITS) return fm_find_bad_text(text, length, detail);
            const char *from = start + 8 <= length ? text + start : tail + (start - copied);
            uint64_t value = (uint64_t)fm_read_number(from, digits);
            if (n > 2) value += before;
            before = last;
            last = value;
            counts[n++] = (uint32_t)value;
            seen |= value;
            total += value;
            start = end;
        }
    }
    *detail = (int64_t)total;
    return (seen >> 32) || (int64_t)total != pixels ? fm_find_bad_count(text, length, detail) : FM_FINE;
}

/* The text of counts, or its length where text is NULL. */
static inline int64_t fm_write_counts(const uint32_t *counts, int64_t n, char *text) {
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t value = (int64_t)counts[i] - (i > 2 ? (int64_t)counts[i - 2] : 0);
        int more;
        do {
            int digit = (int)(value & 31);
            value = (value - digit) / 32;
            more = value != ((digit & 16) ? -1 : 0);
            if (text) text[at] = (char)('0' + digit + (more ? 32 : 0));
            at++;
        } while (more);
    }
    return at;
}

/* ---- What is asked of one mask. */

typedef struct {
    int64_t area;
    int64_t first, end; /* places: of the first pixel inside, behind the last one; both 0 where there is none */
    int64_t top, bottom; /* rows: of the highest pixel, below the lowest */
    int64_t left; /* the column of the first pixel where every column from there on has one run of its own, else -1 */
} fm_extent;

/* The extent of a mask; into ends, unless it is NULL, the place where each run ends. */
static inline fm_extent fm_measure(const uint32_t *counts, int64_t n, int64_t height, uint32_t *ends) {
    fm_extent extent = {0, 0, 0, height, 0, -1};
    int64_t place = 0, column = 0; /* column: the place where it begins */
    int64_t stray = 0, next = 0;   /* runs that are not within the column after that of the run before */
    for (int64_t i = 0; i < n; i += 2) {
        place += counts[i];
        if (ends) ends[i] = (uint32_t)place;
        if (i + 1 == n) break;
        int64_t count = counts[i + 1], end = place + count;
        if (ends) ends[i + 1] = (uint32_t)end;
        if (count) {
            if (place - column >= height) {
                column += height;
                if (place - column >= height) column = place - place % height;
            }
            if (extent.area == 0) {
                extent.first = place;
                stray = i != 0;
                next = column;
            }
            stray |= (column ^ next) | (end - column > height);
            next = column + height;
            extent.area += count;
            extent.end = end;
            if (end - column > height) {
                extent.top = 0;
                extent.bottom = height;
            } else {
                int64_t top = place - column, bottom = end - column;
                extent.top = top < extent.top ? top : extent.top;
                extent.bottom = bottom > extent.bottom ? bottom : extent.bottom;
            }
        }
        stray |= count == 0;
        place = end;
    }
    if (extent.area == 0) {
        extent.top = 0;
    } else if (!stray) {
        extent.left = extent.first / height;
    }
    return extent;
}

static inline void fm_box(const fm_extent *extent, int64_t height, double *box) {
    if (extent->area == 0) {
        box[0] = box[1] = box[2] = box[3] = 0;
        return;
    }
    int64_t left = extent->first / height, right = (extent->end - 1) / height;
    box[0] = (double)left;
    box[1] = (double)extent->top;
    box[2] = (double)(right - left + 1);
    box[3] = (double)(extent->bottom - extent->top);
}

/* ---- Pixels, column after column. */

static inline void fm_fill_pixels(const uint32_t *counts, int64_t n, uint8_t *pixels) {
    for (int64_t i = 0; i < n; i++) {
        memset(pixels, (int)(i & 1), counts[i]);
        pixels += counts[i];
    }
}

/* How many counts pixels have; -1 if one is neither 0 nor 1. */
static inline int64_t fm_count_runs(const uint8_t *pixels, int64_t n) {
    int64_t total = 1 + (n > 0 && pixels[0]), i = 1;
    uint8_t seen = n > 0 ? pixels[0] : 0;
    while (i < n) {
        int64_t stop = n - i < 128 ? n : i + 128;
        uint8_t changes = 0;
        for (; i < stop; i++) {
            changes += pixels[i] != pixels[i - 1];
            seen |= pixels[i];
        }
        total += changes;
    }
    return seen > 1 ? -1 : total;
}

static inline void fm_runs_of_pixels(const uint8_t *pixels, int64_t n, uint32_t *counts) {
    int64_t start = 0, at = 0, n_counts = 0;
    uint8_t value = 0;
    while (at < n) {
        uint64_t word, wanted = value ? 0x0101010101010101ULL : 0;
        while (at + 8 <= n && (memcpy(&word, pixels + at, 8), word == wanted)) at += 8;
        while (at < n && pixels[at] == value) at++;
        if (at == n) break;
        counts[n_counts++] = (uint32_t)(at - start);
        start = at;
        value ^= 1;
    }
    counts[n_counts] = (uint32_t)(n - start);
}

/* ---- Two masks: pixels inside both. Each is a row of intervals, pairs of places [begin, end). */

/* The first interval that ends behind the place. */
static inline int64_t fm_first_behind(const uint32_t *intervals, int64_t n, int64_t place) {
    int64_t low = 0;
    while (n > 0) {
        int64_t half = n >> 1;
        if (intervals[2 * (low + half) + 1] <= place) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return low;
}

static inline int64_t fm_shared_pixels(
    const uint32_t *first, int64_t n_first, const uint32_t *second, int64_t n_second, int64_t begin, int64_t end
) {
    int64_t i = fm_first_behind(first, n_first, begin), j = fm_first_behind(second, n_second, begin), total = 0;
    while (i < n_first && j < n_second) {
        int64_t low_first = first[2 * i], end_first = first[2 * i + 1];
        int64_t low_second = second[2 * j], end_second = second[2 * j + 1];
        int64_t low = low_first > low_second ? low_first : low_second;
        int64_t high = end_first < end_second ? end_first : end_second;
        if (low >= end) break;
        total += high > low ? high - low : 0;
        i += end_first <= end_second;
        j += end_second <= end_first;
    }
    return total;
}

/* The same where every column has one run: interval k of a mask is that of its column left + k. */
static inline int64_t fm_shared_of_columns(
    const uint32_t *first, int64_t n_first, int64_t first_left, const uint32_t *second, int64_t n_second,
    int64_t second_left
) {
    int64_t left = first_left > second_left ? first_left : second_left, total = 0;
    int64_t first_end = first_left + n_first, second_end = second_left + n_second;
    int64_t n = (first_end < second_end ? first_end : second_end) - left;
    first += 2 * (left - first_left);
    second += 2 * (left - second_left);
    for (int64_t k = 0; k < n; k++) {
        int64_t low_first = first[2 * k], low_second = second[2 * k];
        int64_t end_first = first[2 * k + 1], end_second = second[2 * k + 1];
        int64_t shared = (end_first < end_second ? end_first : end_second)
            - (low_first > low_second ? low_first : low_second);
        total += shared > 0 ? shared : 0;
    }
    return total;
}

/* ---- Polygons.

pycocotools draws a polygon's edges on a grid five times as fine, one point a step along an edge's longer side, and
takes those steps that pass the middle of a column of pixels: there the boundary is at the upper of the step's two
points. Between two of a column's boundaries, from the top, pixels are inside. Here only these steps are computed, each with the
same operations on doubles as if all were walked; so columns outside the image cost nothing. Column x's middle is
between 5 x + 2 and 5 x + 3 of the fine grid. */

/* Rounds towards zero after adding one half, for negative numbers too: that is how the points lie. */
static inline int64_t fm_fine(double coordinate) {
    return (int64_t)(5.0 * coordinate + 0.5);
}

/* The columns whose middle is passed between two fine x coordinates: first to last, none if last < first. */
static inline void fm_columns_passed(int64_t from, int64_t to, int64_t width, int64_t *first, int64_t *last) {
    int64_t low = from < to ? from : to, high = from < to ? to : from;
    *first = low <= 2 ? 0 : (low + 2) / 5;
    *last = high < 3 ? -1 : (high - 3) / 5;
    if (*last > width - 1) *last = width - 1;
}

/* How many boundaries a polygon of n points has in an image. */
static inline int64_t fm_count_boundaries(const double *points, int64_t n, int64_t width) {
    int64_t total = 0, from, to, first, last;
    if (n == 0) return 0;
    from = fm_fine(points[2 * (n - 1)]);
    for (int64_t i = 0; i < n; i++) {
        to = fm_fine(points[2 * i]);
        fm_columns_passed(from, to, width, &first, &last);
        if (last >= first) total += last - first + 1;
        from = to;
    }
    return total;
}

static inline uint32_t fm_boundary(int64_t column, int64_t fine_y, int64_t height) {
    int64_t y = fine_y <= 2 ? 0 : (fine_y + 2) / 5;
    return (uint32_t)(column * height + (y < height ? y : height));
}

/* The places of one edge's boundaries, by rising column, into places and columns; returns how many. */
static inline int64_t fm_edge(
    int64_t from_x, int64_t from_y, int64_t to_x, int64_t to_y, int64_t height, int64_t width,
    uint32_t *places, uint32_t *columns
) {
    int64_t first, last, n = 0;
    fm_columns_passed(from_x, to_x, width, &first, &last);
    if (last < first) return 0;
    int64_t across = from_x < to_x ? to_x - from_x : from_x - to_x;
    int64_t down = from_y < to_y ? to_y - from_y : from_y - to_y;
    if (across >= down ? from_x > to_x : from_y > to_y) {
        int64_t swap = from_x;
        from_x = to_x;
        to_x = swap;
        swap = from_y;
        from_y = to_y;
        to_y = swap;
    }
    if (across >= down) {
        double slope = (double)(to_y - from_y) / (double)across;
        int64_t upper = slope >= 0 ? 2 : 3; /* which of a step's two points is the upper one */
        for (int64_t x = first; x <= last; x++, n++) {
            double y = (double)from_y + slope * (double)(5 * x + upper - from_x) + 0.5;
            places[n] = fm_boundary(x, (int64_t)y, height);
            columns[n] = (uint32_t)x;
        }
        return n;
    }
    double slope = (double)(to_x - from_x) / (double)down;
    int rising = slope > 0;
    for (int64_t x = first; x <= last; x++, n++) {
        /* The first step whose point is beyond the middle: near where the line is, then by its own arithmetic. */
        double beyond = (double)(5 * x + 3);
        double near = (beyond - 0.5 - (double)from_x) / slope;
        int64_t step = near < 1 ? 1 : near > (double)down ? down : (int64_t)near;
        while (step > 1 && (((double)from_x + slope * (double)(step - 1) + 0.5) >= beyond) == rising) step--;
        while (step < down && (((double)from_x + slope * (double)step + 0.5) >= beyond) != rising) step++;
        places[n] = fm_boundary(x, from_y + step - 1, height);
        columns[n] = (uint32_t)x;
    }
    return n;
}

/* Room for the most boundaries of one mask: five rows of that length, heads with two more. */
typedef struct {
    uint32_t *places, *columns, *sorted, *joined, *other;
    int64_t *heads;
} fm_drawing;

static inline int fm_compare_places(const void *first, const void *second) {
    uint32_t a = *(const uint32_t *)first, b = *(const uint32_t *)second;
    return (a > b) - (a < b);
}

static inline void fm_sort_places(uint32_t *places, int64_t n) {
    if (n > 64) {
        qsort(places, (size_t)n, sizeof(uint32_t), fm_compare_places);
        return;
    }
    for (int64_t i = 1; i < n; i++) {
        uint32_t place = places[i];
        int64_t j = i;
        for (; j > 0 && places[j - 1] > place; j--) places[j] = places[j - 1];
        places[j] = place;
    }
}

/* The places where one polygon's pixels begin and end, rising, each once, into drawing->sorted; returns how many.
   Boundaries at the same place cancel in pairs; one at the image's end changes nothing. */
static inline int64_t fm_draw(
    const double *points, int64_t n_points, int64_t height, int64_t width, fm_drawing *drawing
) {
    uint32_t *places = drawing->places, *columns = drawing->columns, *sorted = drawing->sorted;
    int64_t *heads = drawing->heads;
    int64_t n = 0, low = width, high = -1, kept = 0;
    int64_t from_x = fm_fine(points[2 * (n_points - 1)]), from_y = fm_fine(points[2 * (n_points - 1) + 1]);
    for (int64_t i = 0; i < n_points; i++) {
        int64_t to_x = fm_fine(points[2 * i]), to_y = fm_fine(points[2 * i + 1]);
        int64_t more = fm_edge(from_x, from_y, to_x, to_y, height, width, places + n, columns + n);
        if (more) {
            if (columns[n] < low) low = columns[n];
            if (columns[n + more - 1] > high) high = columns[n + more - 1];
        }
        n += more;
        from_x = to_x;
        from_y = to_y;
    }
    if (n == 0) return 0;
    /* A closed line passes every column between its outermost ones, so there are no more columns than boundaries. */
    memset(heads, 0, (size_t)(high - low + 2) * sizeof(int64_t));
    for (int64_t i = 0; i < n; i++) heads[columns[i] - low + 1]++;
    for (int64_t x = 0; x < high - low; x++) heads[x + 1] += heads[x];
    for (int64_t i = 0; i < n; i++) sorted[heads[columns[i] - low]++] = places[i];
    int64_t start = 0;
    for (int64_t x = 0; x <= high - low; x++) {
        fm_sort_places(sorted + start, heads[x] - start);
        start = heads[x];
    }
    for (int64_t i = 0; i < n; i++) {
        if (kept > 0 && sorted[kept - 1] == sorted[i]) {
            kept--;
        } else {
            sorted[kept++] = sorted[i];
        }
    }
    if (kept > 0 && (int64_t)sorted[kept - 1] == height * width) kept--;
    return kept;
}

/* Begins and ends of what is inside either of two; returns how many. */
static inline int64_t fm_join(
    const uint32_t *first, int64_t n_first, const uint32_t *second, int64_t n_second, uint32_t *out
) {
    int64_t i = 0, j = 0, n = 0;
    int inside = 0;
    while (i < n_first || j < n_second) {
        int64_t next_first = i < n_first ? first[i] : FM_MOST_PIXELS + 1;
        int64_t next_second = j < n_second ? second[j] : FM_MOST_PIXELS + 1;
        int64_t next = next_first < next_second ? next_first : next_second;
        i += next_first == next;
        j += next_second == next;
        int now = (int)((i | j) & 1);
        if (now != inside) {
            out[n++] = (uint32_t)next;
            inside = now;
        }
    }
    return n;
}

/* Counts of the union of polygons, the p-th with points starts[p] to starts[p + 1] (pairs of doubles); how many. */
static inline int64_t fm_polygons(
    const double *points, const int64_t *starts, int64_t n_polygons, int64_t height, int64_t width, fm_drawing *drawing,
    uint32_t *counts
) {
    int64_t n = 0;
    uint32_t *joined = drawing->joined, *other = drawing->other;
    for (int64_t p = 0; p < n_polygons; p++) {
        int64_t n_drawn = fm_draw(points + 2 * starts[p], starts[p + 1] - starts[p], height, width, drawing);
        if (p == 0) {
            memcpy(joined, drawing->sorted, (size_t)n_drawn * sizeof(uint32_t));
            n = n_drawn;
        } else if (n_drawn) {
            n = fm_join(joined, n, drawing->sorted, n_drawn, other);
            uint32_t *swap = joined;
            joined = other;
            other = swap;
        }
    }
    uint32_t before = 0;
    for (int64_t i = 0; i < n; i++) {
        counts[i] = joined[i] - before;
        before = joined[i];
    }
    counts[n] = (uint32_t)(height * width - before);
    return n + 1;
}

#endif
