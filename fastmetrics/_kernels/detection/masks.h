/* Masks in run-length encoding: read from text, polygons and pixels; areas, boxes, and the intersection of two masks.

A mask of height x width pixels is a list of counts: the lengths of its runs of pixels outside, inside, outside, ...
Pixels are in column order, columns from the left, each column from the top. A position is the number of pixels before
a pixel, x * height + y. Positions and counts have 32 bits, so a mask has at most FM_MOST_PIXELS pixels. */

#ifndef FASTMETRICS_MASKS_H
#define FASTMETRICS_MASKS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "numeric/bit_count.h"

#define FM_MOST_PIXELS 4294967295LL
/* The largest coordinate of a polygon: five times its value and the difference of two such values have 32 bits. */
#define FM_LARGEST_COORDINATE 1e8
#define FM_MAX_DIGITS 8 /* of five bits each; a difference of two counts needs seven */

enum { FM_VALID, FM_BAD_CHARACTER, FM_CUT_SHORT, FM_BAD_COUNT, FM_BAD_TOTAL };

/* ---- Compressed counts. A number is written as digits of five bits, the lowest digit first, in characters from '0' to
   'o'. A sixth bit is set if another digit follows. The highest bit of the last digit is the sign. The first three
   counts are written as they are, each later one as the difference to the count two before it. */

/* The number of counts in the text: characters without the bit for another digit. */
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

/* Whether all characters are from '0' to 'o', and the last one ends a number. */
static inline int fm_is_valid_text(const char *text, int64_t length) {
    uint8_t seen = 0;
    for (int64_t i = 0; i < length; i++) seen |= (uint8_t)(text[i] - '0');
    return seen < 64 && (length == 0 || !((text[length - 1] - '0') & 32));
}

/* The error of a bad text: FM_CUT_SHORT, or FM_BAD_CHARACTER (also for the first digit too many), and its position. */
static inline int fm_find_bad_text(const char *text, int64_t length, int64_t *position) {
    int64_t digits = 0;
    for (int64_t at = 0; at < length; at++) {
        uint8_t digit = (uint8_t)(text[at] - '0');
        if (digit > 63 || digits == FM_MAX_DIGITS) {
            *position = at;
            return FM_BAD_CHARACTER;
        }
        digits = (digit & 32) ? digits + 1 : 0;
    }
    *position = length;
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

/* One bit for each of eight characters: 1 if it is the last of a number. */
static inline uint64_t fm_last_digits(const char *text) {
    return (((~fm_characters(text) & 0x2020202020202020ULL) >> 5) * 0x0102040810204080ULL) >> 56;
}

/* The number that `digits` characters encode, at most eight of them. */
static inline int64_t fm_read_number(const char *text, int64_t digits) {
    int unused = (int)(64 - 5 * digits);
    return (int64_t)(fm_join_digits(fm_characters(text)) << unused) >> unused;
}

/* The error of bad counts: the first count that is negative or too large, else the sum of all. */
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

/* Reads the counts of a text; their sum must be `pixels`. Returns FM_VALID or an error; detail is then the position in
   the text, the count, or the sum. The ends of all numbers in 64 characters are found first, so numbers can be decoded
   independently of each other. The last eight characters are read from a copy. */
static inline int fm_read_counts(const char *text, int64_t length, int64_t pixels, uint32_t *counts, int64_t *detail) {
    char tail[16];
    int64_t start = 0, n = 0;
    uint64_t before = 0, last = 0, total = 0, seen = 0; /* out of range wraps around, found at the end */
    if (!fm_is_valid_text(text, length)) return fm_find_bad_text(text, length, detail);
    int64_t n_tail = length >= 8 ? 8 : length > 0 ? length : 0, copied = length - n_tail;
    memset(tail, 'P', sizeof(tail)); /* 'P' is never the last digit of a number */
    memcpy(tail, text + copied, (size_t)n_tail);
    for (int64_t base = 0; base < length; base += 64) {
        uint64_t ends = 0;
        for (int64_t k = 0; k < 64 && base + k < length; k += 8) {
            ends |= fm_last_digits(base + k + 8 <= length ? text + base + k : tail + (base + k - copied)) << k;
        }
        for (; ends; ends &= ends - 1) {
            int64_t end = base + fm_first_bit(ends) + 1, digits = end - start;
            if (digits > FM_MAX_DIGITS) return fm_find_bad_text(text, length, detail);
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
    return (seen >> 32) || (int64_t)total != pixels ? fm_find_bad_count(text, length, detail) : FM_VALID;
}

/* Writes the first `capacity` characters of the text of counts. Returns the length of the text. */
static inline int64_t fm_write_counts(const uint32_t *counts, int64_t n, char *text, int64_t capacity) {
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t value = (int64_t)counts[i] - (i > 2 ? (int64_t)counts[i - 2] : 0);
        int more;
        do {
            int digit = (int)(value & 31);
            value = (value - digit) / 32;
            more = value != ((digit & 16) ? -1 : 0);
            if (at < capacity) text[at] = (char)('0' + digit + (more ? 32 : 0));
            at++;
        } while (more);
    }
    return at;
}

/* ---- Area and bounding box of one mask. */

typedef struct {
    int64_t area;
    int64_t first, end; /* positions of the first pixel inside and after the last one; both 0 for an empty mask */
    int64_t top, bottom; /* rows of the highest pixel and below the lowest one */
    int64_t left; /* column of the first pixel if each column up to the last has exactly one run, else -1 */
} fm_extent;

/* The extent of a mask. Writes the position where each run ends into `ends`, unless it is NULL. */
static inline fm_extent fm_measure(const uint32_t *counts, int64_t n, int64_t height, uint32_t *ends) {
    fm_extent extent = {0, 0, 0, height, 0, -1};
    int64_t position = 0, column = 0; /* column: the position where it begins */
    /* irregular: some run is not inside the column that follows the column of the run before. */
    int64_t irregular = 0, next = 0;
    for (int64_t i = 0; i < n; i += 2) {
        position += counts[i];
        if (ends) ends[i] = (uint32_t)position;
        if (i + 1 == n) break;
        int64_t count = counts[i + 1], end = position + count;
        if (ends) ends[i + 1] = (uint32_t)end;
        if (count) {
            if (position - column >= height) {
                column += height;
                if (position - column >= height) column = position - position % height;
            }
            if (extent.area == 0) {
                extent.first = position;
                irregular = i != 0;
                next = column;
            }
            irregular |= (column ^ next) | (end - column > height);
            next = column + height;
            extent.area += count;
            extent.end = end;
            if (end - column > height) {
                extent.top = 0;
                extent.bottom = height;
            } else {
                int64_t top = position - column, bottom = end - column;
                extent.top = top < extent.top ? top : extent.top;
                extent.bottom = bottom > extent.bottom ? bottom : extent.bottom;
            }
        }
        irregular |= count == 0;
        position = end;
    }
    if (extent.area == 0) {
        extent.top = 0;
    } else if (!irregular) {
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

/* ---- Pixels, in column order. */

static inline void fm_fill_pixels(const uint32_t *counts, int64_t n, uint8_t *pixels) {
    for (int64_t i = 0; i < n; i++) {
        memset(pixels, (int)(i & 1), counts[i]);
        pixels += counts[i];
    }
}

/* The number of counts of the pixels; -1 if a pixel is neither 0 nor 1. */
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

/* Writes the counts of the pixels. Returns 0 if they are more than `capacity`, or if a pixel is neither 0 nor 1. */
static inline int fm_runs_of_pixels(const uint8_t *pixels, int64_t n, uint32_t *counts, int64_t capacity) {
    int64_t start = 0, at = 0, n_counts = 0;
    uint8_t value = 0;
    while (at < n) {
        uint64_t word, wanted = value ? 0x0101010101010101ULL : 0;
        while (at + 8 <= n && (memcpy(&word, pixels + at, 8), word == wanted)) at += 8;
        while (at < n && pixels[at] == value) at++;
        if (at == n) break;
        if (n_counts + 1 >= capacity) return 0;
        counts[n_counts++] = (uint32_t)(at - start);
        start = at;
        value ^= 1;
    }
    counts[n_counts] = (uint32_t)(n - start);
    return 1;
}

/* ---- The intersection of two masks. Each mask is a list of intervals, pairs of positions [begin, end). */

/* The first interval that ends after the position. */
static inline int64_t fm_first_after(const uint32_t *intervals, int64_t n, int64_t position) {
    int64_t low = 0;
    while (n > 0) {
        int64_t half = n >> 1;
        if (intervals[2 * (low + half) + 1] <= position) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return low;
}

static inline int64_t fm_intersection(
    const uint32_t *first, int64_t n_first, const uint32_t *second, int64_t n_second, int64_t begin, int64_t end
) {
    int64_t i = fm_first_after(first, n_first, begin), j = fm_first_after(second, n_second, begin), total = 0;
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

/* The same if every column has one run: interval k of a mask is in its column left + k. */
static inline int64_t fm_intersection_by_column(
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
        int64_t intersection = (end_first < end_second ? end_first : end_second)
            - (low_first > low_second ? low_first : low_second);
        total += intersection > 0 ? intersection : 0;
    }
    return total;
}

/* ---- Polygons.

pycocotools draws the edges of a polygon on a grid five times as fine as the pixels, one point for each step along the
longer side of an edge. A step that crosses the middle of a column of pixels gives a boundary, at the upper of the two
points of the step. In each column, pixels between the first and second boundary from the top are inside, and so on.
This code computes only the steps that give boundaries, with the same operations on doubles, so columns outside the
image cost nothing. The middle of column x is between 5 x + 2 and 5 x + 3 of the fine grid. */

/* Rounds towards zero after adding one half, also for negative numbers, as pycocotools does. */
static inline int64_t fm_fine(double coordinate) {
    return (int64_t)(5.0 * coordinate + 0.5);
}

/* The columns whose middle is between two fine x coordinates: first to last, none if last < first. */
static inline void fm_columns_crossed(int64_t from, int64_t to, int64_t width, int64_t *first, int64_t *last) {
    int64_t low = from < to ? from : to, high = from < to ? to : from;
    *first = low <= 2 ? 0 : (low + 2) / 5;
    *last = high < 3 ? -1 : (high - 3) / 5;
    if (*last > width - 1) *last = width - 1;
}

/* The number of boundaries of a polygon of n points in an image. */
static inline int64_t fm_count_boundaries(const double *points, int64_t n, int64_t width) {
    int64_t total = 0, from, to, first, last;
    if (n == 0) return 0;
    from = fm_fine(points[2 * (n - 1)]);
    for (int64_t i = 0; i < n; i++) {
        to = fm_fine(points[2 * i]);
        fm_columns_crossed(from, to, width, &first, &last);
        if (last >= first) total += last - first + 1;
        from = to;
    }
    return total;
}

static inline uint32_t fm_boundary(int64_t column, int64_t fine_y, int64_t height) {
    int64_t y = fine_y <= 2 ? 0 : (fine_y + 2) / 5;
    return (uint32_t)(column * height + (y < height ? y : height));
}

/* Writes the positions and columns of the boundaries of one edge, by ascending column; returns their number. */
static inline int64_t fm_edge(
    int64_t from_x, int64_t from_y, int64_t to_x, int64_t to_y, int64_t height, int64_t width,
    uint32_t *positions, uint32_t *columns
) {
    int64_t first, last, n = 0;
    fm_columns_crossed(from_x, to_x, width, &first, &last);
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
        int64_t upper = slope >= 0 ? 2 : 3; /* selects the upper of the two points of a step */
        for (int64_t x = first; x <= last; x++, n++) {
            double y = (double)from_y + slope * (double)(5 * x + upper - from_x) + 0.5;
            positions[n] = fm_boundary(x, (int64_t)y, height);
            columns[n] = (uint32_t)x;
        }
        return n;
    }
    double slope = (double)(to_x - from_x) / (double)down;
    int rising = slope > 0;
    for (int64_t x = first; x <= last; x++, n++) {
        /* The first step whose point is beyond the middle: estimated from the slope, then corrected with the points. */
        double beyond = (double)(5 * x + 3);
        double near = (beyond - 0.5 - (double)from_x) / slope;
        int64_t step = near < 1 ? 1 : near > (double)down ? down : (int64_t)near;
        while (step > 1 && (((double)from_x + slope * (double)(step - 1) + 0.5) >= beyond) == rising) step--;
        while (step < down && (((double)from_x + slope * (double)step + 0.5) >= beyond) != rising) step++;
        positions[n] = fm_boundary(x, from_y + step - 1, height);
        columns[n] = (uint32_t)x;
    }
    return n;
}

/* Scratch memory for the boundaries of one mask: five arrays of their largest number, column_starts with two more. */
typedef struct {
    uint32_t *positions, *columns, *sorted, *joined, *other;
    int64_t *column_starts;
} fm_scratch;

static inline int fm_compare_positions(const void *first, const void *second) {
    uint32_t a = *(const uint32_t *)first, b = *(const uint32_t *)second;
    return (a > b) - (a < b);
}

static inline void fm_sort_positions(uint32_t *positions, int64_t n) {
    if (n > 64) {
        qsort(positions, (size_t)n, sizeof(uint32_t), fm_compare_positions);
        return;
    }
    for (int64_t i = 1; i < n; i++) {
        uint32_t position = positions[i];
        int64_t j = i;
        for (; j > 0 && positions[j - 1] > position; j--) positions[j] = positions[j - 1];
        positions[j] = position;
    }
}

/* Writes the positions where the pixels of one polygon begin and end into scratch->sorted, ascending and all different;
   returns their number. Two boundaries at the same position cancel. One at the end of the image has no effect. */
static inline int64_t fm_draw(
    const double *points, int64_t n_points, int64_t height, int64_t width, fm_scratch *scratch
) {
    uint32_t *positions = scratch->positions, *columns = scratch->columns, *sorted = scratch->sorted;
    int64_t *column_starts = scratch->column_starts;
    int64_t n = 0, low = width, high = -1, kept = 0;
    int64_t from_x = fm_fine(points[2 * (n_points - 1)]), from_y = fm_fine(points[2 * (n_points - 1) + 1]);
    for (int64_t i = 0; i < n_points; i++) {
        int64_t to_x = fm_fine(points[2 * i]), to_y = fm_fine(points[2 * i + 1]);
        int64_t more = fm_edge(from_x, from_y, to_x, to_y, height, width, positions + n, columns + n);
        if (more) {
            if (columns[n] < low) low = columns[n];
            if (columns[n + more - 1] > high) high = columns[n + more - 1];
        }
        n += more;
        from_x = to_x;
        from_y = to_y;
    }
    if (n == 0) return 0;
    /* A closed line crosses every column between its outermost ones, so there are no more columns than boundaries. */
    memset(column_starts, 0, (size_t)(high - low + 2) * sizeof(int64_t));
    for (int64_t i = 0; i < n; i++) column_starts[columns[i] - low + 1]++;
    for (int64_t x = 0; x < high - low; x++) column_starts[x + 1] += column_starts[x];
    for (int64_t i = 0; i < n; i++) sorted[column_starts[columns[i] - low]++] = positions[i];
    int64_t start = 0;
    for (int64_t x = 0; x <= high - low; x++) {
        fm_sort_positions(sorted + start, column_starts[x] - start);
        start = column_starts[x];
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

/* Writes the begins and ends of the union of two lists of intervals; returns their number. */
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

/* Writes the counts of the union of polygons; polygon p has points starts[p] to starts[p + 1] (pairs of doubles).
   Returns the number of counts. */
static inline int64_t fm_polygons(
    const double *points, const int64_t *starts, int64_t n_polygons, int64_t height, int64_t width, fm_scratch *scratch,
    uint32_t *counts
) {
    int64_t n = 0;
    uint32_t *joined = scratch->joined, *other = scratch->other;
    for (int64_t p = 0; p < n_polygons; p++) {
        int64_t n_drawn = fm_draw(points + 2 * starts[p], starts[p + 1] - starts[p], height, width, scratch);
        if (p == 0) {
            memcpy(joined, scratch->sorted, (size_t)n_drawn * sizeof(uint32_t));
            n = n_drawn;
        } else if (n_drawn) {
            n = fm_join(joined, n, scratch->sorted, n_drawn, other);
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
