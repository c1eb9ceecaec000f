"""Detections matched with objects, and precision at levels of recall.

A *criterion* is an IoU threshold in an area range: criterion = area * n_thresholds + threshold. At most 64 criteria are
evaluated together, so the criteria of a detection are the bits of one 64-bit word. Callers with more criteria split
them: criteria do not depend on each other.

Detections are matched greedily by descending score. Under each criterion a detection matches the free object with the
highest IoU (the last of equal ones) at or above the threshold. Objects that count come before objects that are ignored
under the criterion (outside the area range, or marked as ignored). A crowd can be matched any number of times. An
object that is matched under one criterion is still free under the others. So a detection scans its candidates once, by
descending IoU, and each candidate is matched under all criteria that are still open.

Counts are int64. A group has fewer than 2^31 rows.
"""

from cpython.exc cimport PyErr_Format
from libc.math cimport ceil
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc

from fastmetrics._kernels.detection.image_category_groups cimport GroupedRows
from fastmetrics._kernels.exchange.radix_sort_descending cimport KeyedRow, descending_key, sort_rows_descending
from fastmetrics._kernels.numeric.length_checks cimport need_length, need_offsets, need_range

cdef extern from "detection/bit_transpose.h":
    int bits_set "fm_bit_count"(uint64_t word) noexcept nogil
    int first_bit "fm_first_bit"(uint64_t word) noexcept nogil
    void transpose_bits "fm_transpose_bits"(uint64_t* words) noexcept nogil

cdef enum:
    WORD_BITS = 64

cdef double SPACING = 2.220446049250313e-16     # numpy.spacing(1)

MAX_CRITERIA = WORD_BITS


cdef struct Candidate:
    double iou
    int64_t index               # of the object in its group
    uint64_t reached            # criteria whose threshold the IoU reaches


cdef struct CriteriaBits:
    const double* thresholds
    const double* ranges        # lowest and highest area of each range
    Py_ssize_t n_thresholds
    Py_ssize_t n_areas
    double lowest_threshold
    uint64_t all_bits
    uint64_t area_bits          # bit area * n_thresholds for each area: times bits of thresholds gives criteria


cdef class Criteria:
    """IoU thresholds and area ranges (lowest and highest), at most MAX_CRITERIA together."""

    cdef const double[::1] thresholds
    cdef const double[:, ::1] ranges
    cdef CriteriaBits bits

    def __cinit__(self, const double[::1] thresholds not None, const double[:, ::1] ranges not None):
        cdef Py_ssize_t i
        cdef Py_ssize_t n_thresholds = thresholds.shape[0]
        if not 1 <= n_thresholds * ranges.shape[0] <= WORD_BITS or ranges.shape[1] != 2:
            raise ValueError(f"{n_thresholds} thresholds in {ranges.shape[0]} areas: at most {WORD_BITS} criteria")
        self.thresholds, self.ranges = thresholds, ranges
        self.bits.thresholds = &thresholds[0]
        self.bits.ranges = &ranges[0, 0]
        self.bits.n_thresholds = n_thresholds
        self.bits.n_areas = ranges.shape[0]
        self.bits.lowest_threshold = thresholds[0]
        for i in range(self.bits.n_areas):
            self.bits.area_bits |= <uint64_t>1 << (i * n_thresholds)
        for i in range(1, n_thresholds):
            self.bits.lowest_threshold = min(self.bits.lowest_threshold, thresholds[i])
        self.bits.all_bits = self.bits.area_bits * first_area_criteria(&self.bits)


cdef inline uint64_t first_area_criteria(const CriteriaBits* criteria) noexcept nogil:
    """The criteria of the first area range."""
    if criteria.n_thresholds == WORD_BITS:
        return <uint64_t>-1
    return (<uint64_t>1 << criteria.n_thresholds) - 1


cdef inline uint64_t criteria_without_area(const CriteriaBits* criteria, double area) noexcept nogil:
    """The criteria whose area range does not contain the area."""
    cdef uint64_t bits = 0
    cdef Py_ssize_t i
    for i in range(criteria.n_areas):
        if area < criteria.ranges[2 * i] or area > criteria.ranges[2 * i + 1]:
            bits |= first_area_criteria(criteria) << (i * criteria.n_thresholds)
    return bits


cdef inline uint64_t criteria_reached(const CriteriaBits* criteria, double iou) noexcept nogil:
    """The criteria whose threshold the IoU reaches."""
    cdef uint64_t bits = 0
    cdef Py_ssize_t i
    for i in range(criteria.n_thresholds):
        bits |= <uint64_t>(iou >= criteria.thresholds[i]) << i
    return bits * criteria.area_bits


cdef inline Py_ssize_t find_candidates(
    const CriteriaBits* criteria, const double* ious, Py_ssize_t n_truth, Candidate* candidates
) noexcept nogil:
    """The objects that reach the lowest threshold, by descending IoU; of equal ones the last comes first."""
    cdef Py_ssize_t i, j, n = 0
    cdef double iou
    for i in range(n_truth):
        iou = ious[i]
        if iou < criteria.lowest_threshold:
            continue
        j = n
        n += 1
        while j > 0 and candidates[j - 1].iou <= iou:
            candidates[j] = candidates[j - 1]
            j -= 1
        candidates[j].iou = iou
        candidates[j].index = i
        candidates[j].reached = criteria_reached(criteria, iou)
    return n


cdef inline void store_match(
    uint64_t new_matches, Py_ssize_t n_thresholds, int32_t* truth_of_detection, Py_ssize_t detection_stride,
    int32_t truth, int32_t* detection_of_truth, Py_ssize_t truth_stride, int32_t detection
) noexcept nogil:
    """Write the two rows of a match at [area * stride + threshold] of both tables, for all criteria of the match."""
    cdef int criterion
    cdef Py_ssize_t area, threshold
    while new_matches:
        criterion = first_bit(new_matches)
        area, threshold = criterion // n_thresholds, criterion % n_thresholds
        truth_of_detection[area * detection_stride + threshold] = truth
        detection_of_truth[area * truth_stride + threshold] = detection
        new_matches &= new_matches - 1


cdef class ObjectColumns:
    """The area of every object, and whether it is a crowd or ignored."""

    cdef const double[::1] areas
    cdef const uint8_t[::1] crowd
    cdef const uint8_t[::1] ignore

    def __cinit__(
        self, const double[::1] areas not None, const uint8_t[::1] crowd not None, const uint8_t[::1] ignore not None
    ):
        need_length(b"crowd", crowd.shape[0], areas.shape[0])
        need_length(b"ignore", ignore.shape[0], areas.shape[0])
        self.areas, self.crowd, self.ignore = areas, crowd, ignore


cdef int check_places(
    const char* name, int32_t[:, :, :] table, Py_ssize_t n_rows, const CriteriaBits* criteria
) except -1:
    """Raise ValueError unless a table of matches has a place for every row, area and threshold, the last contiguous."""
    need_length(name, table.shape[0], n_rows)
    if table.shape[1] != criteria.n_areas or table.shape[2] != criteria.n_thresholds or (
            table.strides[2] != sizeof(int32_t)):
        PyErr_Format(
            ValueError, b"%s has no contiguous places for %zd areas of %zd thresholds", name, criteria.n_areas,
            criteria.n_thresholds)
    return 0


def match_groups(
    Py_ssize_t first, Py_ssize_t last, GroupedRows groups not None, const double[::1] ious,
    ObjectColumns objects not None, const double[::1] detection_areas, Criteria own_criteria not None,
    uint64_t[::1] matched, uint64_t[::1] ignored, int32_t[:, :, :] truth_of_detection,
    int32_t[:, :, :] detection_of_truth
):
    """Find the criteria under which each detection of groups first..last is matched, and under which it is ignored.

    A detection is ignored if it matches an ignored object, or if it matches none and its own area is outside the range.
    If truth_of_detection [detection, area, threshold] and detection_of_truth [object, area, threshold] have rows, they
    receive the matches as indices in the group. The caller fills them with -1. Their last axis is contiguous. Their
    first axis is that of detection_rows and truth_rows of the groups.
    """
    cdef Py_ssize_t group, n_truth, n_detections, d, t, detection, n, candidate
    cdef uint64_t unmatched, new_matches, all_matched, ignored_matches
    cdef CriteriaBits criteria = own_criteria.bits
    cdef uint64_t* used
    cdef uint64_t* counted
    cdef Candidate* candidates
    cdef bint store_rows = truth_of_detection.shape[0] > 0 or detection_of_truth.shape[0] > 0
    cdef Py_ssize_t detection_stride = truth_of_detection.strides[1] // sizeof(int32_t)
    cdef Py_ssize_t truth_stride = detection_of_truth.strides[1] // sizeof(int32_t)
    cdef int64_t row
    groups.check(first, last, objects.areas.shape[0], detection_areas.shape[0], ious.shape[0])
    if first >= last:
        return
    need_length(b"matched", min(matched.shape[0], ignored.shape[0]), groups.detection_starts[last])
    if store_rows:
        check_places(b"truth_of_detection", truth_of_detection, groups.detection_starts[last], &criteria)
        check_places(b"detection_of_truth", detection_of_truth, groups.truth_starts[last], &criteria)
    used = <uint64_t*>malloc(<size_t>(5 * groups.most_truth + 1) * sizeof(uint64_t))
    if used == NULL:
        raise MemoryError
    with nogil:
        for group in range(first, last):
            n_truth = groups.truth_starts[group + 1] - groups.truth_starts[group]
            n_detections = groups.detection_starts[group + 1] - groups.detection_starts[group]
            counted = used + n_truth
            candidates = <Candidate*>(counted + n_truth)
            for t in range(n_truth):
                row = groups.truth_rows[groups.truth_starts[group] + t]
                used[t] = 0
                counted[t] = (
                    0 if objects.ignore[row] or objects.crowd[row]
                    else criteria.all_bits & ~criteria_without_area(&criteria, objects.areas[row])
                )
            for d in range(n_detections):
                detection = groups.detection_starts[group] + d
                n = 0
                if n_truth:
                    n = find_candidates(&criteria, &ious[groups.iou_starts[group] + d * n_truth], n_truth, candidates)
                all_matched = 0
                ignored_matches = 0
                unmatched = criteria.all_bits
                for t in range(n):
                    candidate = candidates[t].index
                    new_matches = unmatched & candidates[t].reached & counted[candidate] & ~used[candidate]
                    used[candidate] |= new_matches
                    unmatched ^= new_matches
                    all_matched |= new_matches
                    if store_rows:
                        store_match(
                            new_matches, criteria.n_thresholds, &truth_of_detection[detection, 0, 0], detection_stride,
                            <int32_t>candidate, &detection_of_truth[groups.truth_starts[group] + candidate, 0, 0],
                            truth_stride, <int32_t>d)
                for t in range(n):
                    candidate = candidates[t].index
                    new_matches = unmatched & candidates[t].reached & ~counted[candidate]
                    if not objects.crowd[groups.truth_rows[groups.truth_starts[group] + candidate]]:
                        new_matches &= ~used[candidate]
                    used[candidate] |= new_matches
                    unmatched ^= new_matches
                    ignored_matches |= new_matches
                    if store_rows:
                        store_match(
                            new_matches, criteria.n_thresholds, &truth_of_detection[detection, 0, 0], detection_stride,
                            <int32_t>candidate, &detection_of_truth[groups.truth_starts[group] + candidate, 0, 0],
                            truth_stride, <int32_t>d)
                all_matched |= ignored_matches
                matched[detection] = all_matched
                ignored[detection] = ignored_matches
                if all_matched != criteria.all_bits:
                    row = groups.detection_rows[detection]
                    ignored[detection] |= criteria_without_area(&criteria, detection_areas[row]) & ~all_matched
        free(used)


cdef inline int64_t hits_needed(double recall, int64_t n_truth) noexcept nogil:
    """The smallest number of hits with hits / n_truth, as a float, at or above the recall; n_truth + 1 if none is."""
    cdef int64_t hits
    if not recall > 0:
        return 0
    if recall > 1:
        return n_truth + 1
    hits = <int64_t>ceil(recall * <double>n_truth)
    while hits > 0 and <double>(hits - 1) / <double>n_truth >= recall:
        hits -= 1
    while hits <= n_truth and <double>hits / <double>n_truth < recall:
        hits += 1
    return hits


cdef inline Py_ssize_t precision_at_hits(
    const uint64_t* hit, const uint64_t* counted, const int64_t* n_unmatched, Py_ssize_t n_blocks, Py_ssize_t n_areas,
    Py_ssize_t area, Py_ssize_t criterion, double* precisions, int64_t* positions
) noexcept nogil:
    """Fill the precision at each hit of a criterion and the hit's position; return the number of hits.

    Precision is then made non-increasing, from the last hit to the first. hit and counted have one word for each
    criterion of a block of 64 detections that are matched under some criterion. n_unmatched[i * n_areas + area] is the
    number of counted detections before the i-th of these that are matched under no criterion.
    """
    cdef Py_ssize_t block, i, hits = 0
    cdef int64_t counted_before = 0
    cdef uint64_t hits_left, block_counted
    cdef int bit
    cdef double best = 0
    for block in range(n_blocks):
        hits_left = hit[block * WORD_BITS + criterion]
        block_counted = counted[block * WORD_BITS + criterion]
        while hits_left:
            bit = first_bit(hits_left)
            i = block * WORD_BITS + bit
            # The mask has all bits up to `bit`. For bit 63 the shift gives 0, and 0 - 1 has all 64 bits.
            precisions[hits] = <double>(
                n_unmatched[i * n_areas + area] + counted_before
                + bits_set(block_counted & ((<uint64_t>2 << bit) - 1))
            )
            positions[hits] = i
            hits += 1
            hits_left &= hits_left - 1
        counted_before += bits_set(block_counted)
    for i in range(hits):
        precisions[i] = <double>(i + 1) / (precisions[i] + SPACING)
    for i in range(hits - 1, -1, -1):
        if precisions[i] > best:
            best = precisions[i]
        precisions[i] = best
    return hits


cdef struct RecallLevels:
    const double* recalls
    int64_t* needed             # hits for each level
    Py_ssize_t n
    const double* scores
    const int64_t* rows         # row in `scores` of each detection that is matched under some criterion
    double top_score


cdef inline void fill_recall_levels(
    const RecallLevels* levels, const double* precisions, const int64_t* positions, Py_ssize_t hits,
    bint has_detections, double* precision, double* score_at
) noexcept nogil:
    """Precision and score at each level of recall, until one is not reached; 0 from there on."""
    cdef Py_ssize_t r, stop = 0
    cdef int64_t needed
    if has_detections:
        while stop < levels.n and levels.needed[stop] <= hits:
            needed = levels.needed[stop]
            if needed <= 0:
                precision[stop] = precisions[0] if hits else 0
                score_at[stop] = levels.top_score
            else:
                precision[stop] = precisions[needed - 1]
                score_at[stop] = levels.scores[levels.rows[positions[needed - 1]]]
            stop += 1
    for r in range(stop, levels.n):
        precision[r] = 0
        score_at[r] = 0


cdef inline Py_ssize_t transpose_blocks(uint64_t* words, Py_ssize_t n) noexcept nogil:
    """Transpose words in blocks of 64, the last filled up with zeros; return the number of blocks."""
    cdef Py_ssize_t block, i
    cdef Py_ssize_t n_blocks = (n + WORD_BITS - 1) // WORD_BITS
    for i in range(n, n_blocks * WORD_BITS):
        words[i] = 0
    for block in range(n_blocks):
        transpose_bits(words + block * WORD_BITS)
    return n_blocks


cdef class RankedDetections:
    """Detections sorted by category (`starts`), image and descending score, with their ranks in their image."""

    cdef const int64_t[::1] starts
    cdef const double[::1] scores
    cdef const int32_t[::1] ranks

    def __cinit__(
        self, const int64_t[::1] starts not None, const double[::1] scores not None, const int32_t[::1] ranks not None
    ):
        need_length(b"starts", starts.shape[0], 1)
        need_offsets(b"starts", &starts[0], starts.shape[0], min(scores.shape[0], ranks.shape[0]))
        self.starts, self.scores, self.ranks = starts, scores, ranks


cdef class RecallTables:
    """Results by category, area, max detections and threshold: the final recall; with a last, contiguous axis of recall
    levels precision and score. Where a category has no object that counts, they are `undefined`."""

    cdef double[:, :, :, :, :] precision
    cdef double[:, :, :, :] recall
    cdef double[:, :, :, :, :] score_at
    cdef double undefined

    def __cinit__(
        self, double[:, :, :, :, :] precision not None, double[:, :, :, :] recall not None,
        double[:, :, :, :, :] score_at not None, double undefined
    ):
        cdef Py_ssize_t axis
        for axis in range(4):
            if not precision.shape[axis] == score_at.shape[axis] == recall.shape[axis]:
                raise ValueError(f"tables of recall differ in the length of axis {axis}")
        if precision.shape[4] != score_at.shape[4] or (precision.shape[4] > 1 and not (
                precision.strides[4] == score_at.strides[4] == sizeof(double))):
            raise ValueError("precision and score need one contiguous axis of recall levels")
        self.precision, self.recall, self.score_at, self.undefined = precision, recall, score_at, undefined


def accumulate(
    Py_ssize_t first, Py_ssize_t last, RankedDetections detections not None, const uint64_t[::1] matched,
    const uint64_t[::1] ignored, const int64_t[:, ::1] n_truth, const double[::1] recalls,
    const int64_t[::1] max_detections, Py_ssize_t n_thresholds, RecallTables tables not None
):
    """Fill precision and score at levels of recall, and the final recall, of the categories first..last.

    n_truth [category, area] is the number of objects that count. Recall levels are filled in order until one is not
    reached.
    """
    cdef Py_ssize_t category, n, n_matched, n_blocks, i, j, a, m, t, r, hits, kept, kept_before
    cdef Py_ssize_t n_areas = n_truth.shape[1]
    cdef Py_ssize_t n_recalls = recalls.shape[0]
    cdef int64_t max_rank
    cdef int64_t counts[WORD_BITS]
    cdef RecallLevels levels
    cdef KeyedRow* order
    cdef uint64_t ignored_bits
    cdef uint64_t* words
    cdef uint64_t* hit
    cdef uint64_t* counted
    cdef int64_t* matched_rows
    cdef int64_t* n_unmatched
    cdef int64_t* positions
    cdef double* precisions
    cdef Py_ssize_t n_maxima = max_detections.shape[0]
    cdef double undefined = tables.undefined
    cdef double[:, :, :, :, :] precision = tables.precision
    cdef double[:, :, :, :] recall = tables.recall
    cdef double[:, :, :, :, :] score_at = tables.score_at
    need_range(first, last, detections.starts.shape[0] - 1)
    if first >= last or n_recalls == 0:
        return
    need_length(b"matched", min(matched.shape[0], ignored.shape[0]), detections.starts[last])
    need_length(b"n_truth", n_truth.shape[0], last)
    if n_thresholds < 0 or n_areas * n_thresholds > WORD_BITS or recall.shape[0] < last or (
            recall.shape[1] != n_areas or recall.shape[2] != n_maxima or recall.shape[3] != n_thresholds
            or precision.shape[4] != n_recalls):
        raise ValueError(f"no results for {n_areas} areas, {n_maxima} maxima, {n_thresholds} thresholds")
    n = 0
    for category in range(first, last):
        n = max(n, detections.starts[category + 1] - detections.starts[category])
    levels.needed = <int64_t*>malloc(
        <size_t>((9 + n_areas) * n + n_recalls + 2 * WORD_BITS + 2) * sizeof(int64_t))
    if levels.needed == NULL:
        raise MemoryError
    with nogil:
        levels.recalls = &recalls[0]
        levels.n = n_recalls
        levels.scores = &detections.scores[0] if detections.scores.shape[0] else NULL
        for category in range(first, last):
            n = detections.starts[category + 1] - detections.starts[category]
            order = <KeyedRow*>(levels.needed + n_recalls)
            hit = <uint64_t*>(order + 2 * n)
            counted = hit + n + WORD_BITS
            matched_rows = <int64_t*>(counted + n + WORD_BITS)
            precisions = <double*>(matched_rows + n)
            positions = <int64_t*>(precisions + n + 1)
            n_unmatched = positions + n + 1
            for i in range(n):
                order[i].key = descending_key(detections.scores[detections.starts[category] + i])
                order[i].row = detections.starts[category] + i
            sort_rows_descending(order, order + n, n)
            # The bits are gathered once, into the memory that the sort does not need any more.
            words = <uint64_t*>(order + n)
            for i in range(n):
                j = order[i].row
                words[2 * i] = matched[j]
                words[2 * i + 1] = ignored[j]
                order[i].key = <uint64_t>detections.ranks[j]
            levels.rows = matched_rows
            levels.top_score = detections.scores[order[0].row] if n else 0
            kept_before = -1
            for m in range(n_maxima):
                max_rank = max_detections[m]
                kept = 0
                n_matched = 0
                for a in range(n_areas):
                    counts[a] = 0
                for i in range(n):
                    if <int64_t>order[i].key >= max_rank:
                        continue
                    kept += 1
                    ignored_bits = words[2 * i + 1]
                    if words[2 * i]:
                        matched_rows[n_matched] = order[i].row
                        hit[n_matched] = words[2 * i] & ~ignored_bits
                        counted[n_matched] = ~ignored_bits
                        for a in range(n_areas):
                            n_unmatched[n_matched * n_areas + a] = counts[a]
                        n_matched += 1
                    else:
                        for a in range(n_areas):
                            counts[a] += ~(ignored_bits >> (a * n_thresholds)) & 1
                if kept == kept_before:
                    # The same detections as with the previous maximum.
                    for a in range(n_areas):
                        for t in range(n_thresholds):
                            recall[category, a, m, t] = recall[category, a, m - 1, t]
                            for r in range(n_recalls):
                                precision[category, a, m, t, r] = precision[category, a, m - 1, t, r]
                                score_at[category, a, m, t, r] = score_at[category, a, m - 1, t, r]
                    continue
                kept_before = kept
                n_blocks = transpose_blocks(hit, n_matched)
                transpose_blocks(counted, n_matched)
                for a in range(n_areas):
                    if n_truth[category, a] == 0:
                        for t in range(n_thresholds):
                            recall[category, a, m, t] = undefined
                            for r in range(n_recalls):
                                precision[category, a, m, t, r] = undefined
                                score_at[category, a, m, t, r] = undefined
                        continue
                    for r in range(n_recalls):
                        levels.needed[r] = hits_needed(recalls[r], n_truth[category, a])
                    for t in range(n_thresholds):
                        hits = precision_at_hits(
                            hit, counted, n_unmatched, n_blocks, n_areas, a, a * n_thresholds + t, precisions, positions
                        )
                        recall[category, a, m, t] = <double>hits / <double>n_truth[category, a]
                        fill_recall_levels(
                            &levels, precisions, positions, hits, kept > 0, &precision[category, a, m, t, 0],
                            &score_at[category, a, m, t, 0]
                        )
        free(levels.needed)
