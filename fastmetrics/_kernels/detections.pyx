"""Detections matched with objects, and what follows from it: precision at levels of recall.

A *lane* is an IoU threshold in an area range; lane = area * n_thresholds + threshold, at most 64 of them, so that all
lanes of a detection are bits of one word. Callers with more cut them up: lanes do not know of each other.

Detections take objects greedily by falling score. In every lane a detection takes the free object it overlaps most (of
equal ones the last) at or above the threshold: one that counts, else one that is ignored in the lane (out of the area
range, or marked). A crowd is never used up. What is taken in one lane is taken there alone, so a detection looks at its
candidates once, best first, and each is taken in all the lanes at once that still want it.

Counts are int64; a group has fewer than 2^31 rows.
"""

from libc.math cimport ceil
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from fastmetrics._kernels.fallingorder cimport Keyed, falling_key, sort_falling

cdef extern from "lanebits.h":
    int bits_set "fm_bits_set"(uint64_t word) noexcept nogil
    int first_bit "fm_first_bit"(uint64_t word) noexcept nogil
    void turn_bits "fm_turn_bits"(uint64_t* words) noexcept nogil

cdef enum:
    LANES = 64                  # bits of a word

cdef double SPACING = 2.220446049250313e-16     # numpy.spacing(1)

MOST_LANES = LANES


cdef struct Candidate:
    double overlap
    int64_t place               # in the group
    uint64_t reached            # lanes whose threshold the overlap reaches


cdef struct Lanes:
    const double* thresholds
    const double* ranges        # least and greatest area of each
    Py_ssize_t n_thresholds
    Py_ssize_t n_areas
    double lowest               # threshold
    uint64_t every
    uint64_t spread             # a one for every area: times bits of thresholds gives lanes


cdef inline Lanes lanes_of(const double[::1] thresholds, const double[:, ::1] ranges) noexcept nogil:
    cdef Lanes lanes
    cdef Py_ssize_t i
    lanes.thresholds = &thresholds[0]
    lanes.ranges = &ranges[0, 0]
    lanes.n_thresholds = thresholds.shape[0]
    lanes.n_areas = ranges.shape[0]
    lanes.lowest = thresholds[0]
    lanes.spread = 0
    for i in range(lanes.n_areas):
        lanes.spread |= <uint64_t>1 << (i * lanes.n_thresholds)
    for i in range(1, lanes.n_thresholds):
        if thresholds[i] < lanes.lowest:
            lanes.lowest = thresholds[i]
    lanes.every = lanes.spread * of_thresholds(&lanes)
    return lanes


cdef inline uint64_t of_thresholds(const Lanes* lanes) noexcept nogil:
    """The lanes of the first area."""
    if lanes.n_thresholds == LANES:
        return <uint64_t>-1
    return (<uint64_t>1 << lanes.n_thresholds) - 1


cdef inline uint64_t outside(const Lanes* lanes, double area) noexcept nogil:
    """The lanes whose area range does not have the area."""
    cdef uint64_t bits = 0
    cdef Py_ssize_t i
    for i in range(lanes.n_areas):
        if area < lanes.ranges[2 * i] or area > lanes.ranges[2 * i + 1]:
            bits |= of_thresholds(lanes) << (i * lanes.n_thresholds)
    return bits


cdef inline uint64_t reached(const Lanes* lanes, double overlap) noexcept nogil:
    """The lanes whose threshold the overlap reaches."""
    cdef uint64_t bits = 0
    cdef Py_ssize_t i
    for i in range(lanes.n_thresholds):
        bits |= <uint64_t>(overlap >= lanes.thresholds[i]) << i
    return bits * lanes.spread


cdef inline Py_ssize_t find_candidates(
    const Lanes* lanes, const double* overlaps, Py_ssize_t n_truth, Candidate* candidates
) noexcept nogil:
    """The objects that are overlapped enough for any lane, the most overlapped first, of equal ones the last."""
    cdef Py_ssize_t i, j, n = 0
    cdef double overlap
    for i in range(n_truth):
        overlap = overlaps[i]
        if overlap < lanes.lowest:
            continue
        j = n
        n += 1
        while j > 0 and candidates[j - 1].overlap <= overlap:
            candidates[j] = candidates[j - 1]
            j -= 1
        candidates[j].overlap = overlap
        candidates[j].place = i
        candidates[j].reached = reached(lanes, overlap)
    return n


cdef inline void note_rows(
    uint64_t claimed, Py_ssize_t n_thresholds, int32_t* found, Py_ssize_t stride, int32_t value
) noexcept nogil:
    """found[area * stride + threshold] = value for all lanes in `claimed`."""
    cdef int lane
    while claimed:
        lane = first_bit(claimed)
        found[(lane // n_thresholds) * stride + lane % n_thresholds] = value
        claimed &= claimed - 1


def match_groups(
    Py_ssize_t first, Py_ssize_t last, const int64_t[::1] truth_starts, const int64_t[::1] truth_rows,
    const int64_t[::1] found_starts, const int64_t[::1] found_rows, const int64_t[::1] overlap_starts,
    const double[::1] overlaps, const double[::1] truth_areas, const uint8_t[::1] crowd, const uint8_t[::1] ignore,
    const double[::1] found_areas, const double[::1] thresholds, const double[:, ::1] ranges, uint64_t[::1] matched,
    uint64_t[::1] ignored, uint64_t[::1] scratch, int32_t[:, :, :] truth_of, int32_t[:, :, :] found_of
):
    """The lanes in which each detection of the groups first..last is matched, and in which it is ignored.

    A detection is ignored where it matches an ignored object, or none while its own area is out of the range. Where
    truth_of [detection, area, threshold] and found_of [object, area, threshold] have rows they become places in the
    group (callers fill them with -1); their last axis is contiguous, their first is that of found_rows and truth_rows.
    scratch has five elements for each object of the largest group.
    """
    cdef Py_ssize_t group, n_truth, n_found, d, t, p, n, q
    cdef uint64_t free, claimed, hit, passed
    cdef Lanes lanes
    cdef uint64_t* taken
    cdef uint64_t* regular
    cdef Candidate* candidates
    cdef bint with_rows = truth_of.shape[0] > 0 or found_of.shape[0] > 0
    cdef Py_ssize_t truth_stride = truth_of.strides[1] // sizeof(int32_t)
    cdef Py_ssize_t found_stride = found_of.strides[1] // sizeof(int32_t)
    cdef int64_t row
    if first >= last:
        return
    with nogil:
        lanes = lanes_of(thresholds, ranges)
        taken = &scratch[0]
        for group in range(first, last):
            n_truth = truth_starts[group + 1] - truth_starts[group]
            n_found = found_starts[group + 1] - found_starts[group]
            regular = taken + n_truth
            candidates = <Candidate*>(regular + n_truth)
            for t in range(n_truth):
                row = truth_rows[truth_starts[group] + t]
                taken[t] = 0
                regular[t] = 0 if ignore[row] or crowd[row] else lanes.every & ~outside(&lanes, truth_areas[row])
            for d in range(n_found):
                p = found_starts[group] + d
                n = 0
                if n_truth:
                    n = find_candidates(&lanes, &overlaps[overlap_starts[group] + d * n_truth], n_truth, candidates)
                hit = 0
                passed = 0
                free = lanes.every
                for t in range(n):
                    q = candidates[t].place
                    claimed = free & candidates[t].reached & regular[q] & ~taken[q]
                    taken[q] |= claimed
                    free ^= claimed
                    hit |= claimed
                    if with_rows and claimed:
                        note_rows(claimed, lanes.n_thresholds, &truth_of[p, 0, 0], truth_stride, <int32_t>q)
                        note_rows(
                            claimed, lanes.n_thresholds, &found_of[truth_starts[group] + q, 0, 0], found_stride,
                            <int32_t>d
                        )
                for t in range(n):
                    q = candidates[t].place
                    claimed = free & candidates[t].reached & ~regular[q]
                    if not crowd[truth_rows[truth_starts[group] + q]]:
                        claimed &= ~taken[q]
                    taken[q] |= claimed
                    free ^= claimed
                    passed |= claimed
                    if with_rows and claimed:
                        note_rows(claimed, lanes.n_thresholds, &truth_of[p, 0, 0], truth_stride, <int32_t>q)
                        note_rows(
                            claimed, lanes.n_thresholds, &found_of[truth_starts[group] + q, 0, 0], found_stride,
                            <int32_t>d
                        )
                hit |= passed
                matched[p] = hit
                ignored[p] = passed
                if hit != lanes.every:
                    ignored[p] |= outside(&lanes, found_areas[found_rows[p]]) & ~hit


cdef inline int64_t hits_needed(double recall, int64_t n_truth) noexcept nogil:
    """The fewest hits of n_truth objects whose share, as a float, is at least the recall; n_truth + 1 if none is."""
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


cdef inline Py_ssize_t walk_lane(
    const uint64_t* hit, const uint64_t* counted, const int64_t* plain, Py_ssize_t n_blocks, Py_ssize_t n_areas,
    Py_ssize_t area, Py_ssize_t lane, double* precisions, int64_t* places
) noexcept nogil:
    """Precision at every hit of a lane, made to fall from the last hit on; places are those of the hits. How many hits.

    hit and counted have a word for each lane of a block of 64 detections; plain[i * n_areas + area] detections that are
    matched nowhere count in the area before the i-th of these.
    """
    cdef Py_ssize_t block, i, hits = 0
    cdef int64_t others = 0
    cdef uint64_t left, all_counted
    cdef int place
    cdef double best = 0
    for block in range(n_blocks):
        left = hit[block * LANES + lane]
        all_counted = counted[block * LANES + lane]
        while left:
            place = first_bit(left)
            i = block * LANES + place
            # Those up to this one and itself; where it is the last of the block the shift leaves 0, and 0 - 1 is all.
            precisions[hits] = <double>(
                plain[i * n_areas + area] + others + bits_set(all_counted & ((<uint64_t>2 << place) - 1))
            )
            places[hits] = i
            hits += 1
            left &= left - 1
        others += bits_set(all_counted)
    for i in range(hits):
        precisions[i] = <double>(i + 1) / (precisions[i] + SPACING)
    for i in range(hits - 1, -1, -1):
        if precisions[i] > best:
            best = precisions[i]
        precisions[i] = best
    return hits


cdef struct Level:
    const double* recalls
    int64_t* needed             # hits for each recall
    Py_ssize_t n
    const double* scores
    const int64_t* some         # where the scores of the walk's detections are
    double top                  # score


cdef inline void fill_lane(
    const Level* level, const double* precisions, const int64_t* places, Py_ssize_t hits, bint some, double* precision,
    double* score_at
) noexcept nogil:
    """Precision and score at each level of recall, until one is not reached; 0 from there on."""
    cdef Py_ssize_t r, stop = 0
    cdef int64_t need
    if some:
        while stop < level.n and level.needed[stop] <= hits:
            need = level.needed[stop]
            if need <= 0:
                precision[stop] = precisions[0] if hits else 0
                score_at[stop] = level.top
            else:
                precision[stop] = precisions[need - 1]
                score_at[stop] = level.scores[level.some[places[need - 1]]]
            stop += 1
    for r in range(stop, level.n):
        precision[r] = 0
        score_at[r] = 0


cdef inline Py_ssize_t turn_blocks(uint64_t* words, Py_ssize_t n) noexcept nogil:
    """Turn words in blocks of 64, of which the last is filled up with zeros; returns how many blocks."""
    cdef Py_ssize_t block, i
    cdef Py_ssize_t n_blocks = (n + LANES - 1) // LANES
    for i in range(n, n_blocks * LANES):
        words[i] = 0
    for block in range(n_blocks):
        turn_bits(words + block * LANES)
    return n_blocks


def accumulate(
    Py_ssize_t first, Py_ssize_t last, const int64_t[::1] starts, const double[::1] scores, const int32_t[::1] ranks,
    const uint64_t[::1] matched, const uint64_t[::1] ignored, const int64_t[:, ::1] n_truth,
    const double[::1] recalls, const int64_t[::1] most_detections, Py_ssize_t n_thresholds, double undefined,
    double[:, :, :, :, :] precision, double[:, :, :, :] recall, double[:, :, :, :, :] score_at, uint64_t[::1] scratch
):
    """Precision and score at levels of recall, and the recall reached, of the categories first..last.

    Detections stand by category (`starts`), image and falling score; ranks are their places among those of their image.
    n_truth [category, area] are objects that count; where there are none, results are `undefined`. These are [category,
    area, most detections, threshold], with recalls as a last axis, which is contiguous. Levels of recall are looked for
    in their order until one is not reached. scratch has 9 + areas elements for each detection of the largest category,
    one for each recall, and 2 * 64 + 2.
    """
    cdef Py_ssize_t category, n, n_some, n_blocks, i, j, a, m, t, r, hits, kept, kept_before
    cdef Py_ssize_t n_areas = n_truth.shape[1]
    cdef Py_ssize_t n_recalls = recalls.shape[0]
    cdef int64_t most
    cdef int64_t counts[LANES]
    cdef Level level
    cdef Keyed* order
    cdef uint64_t passed
    cdef uint64_t* words
    cdef uint64_t* hit
    cdef uint64_t* counted
    cdef int64_t* some
    cdef int64_t* plain
    cdef int64_t* places
    cdef double* precisions
    if first >= last or n_recalls == 0:
        return
    with nogil:
        level.recalls = &recalls[0]
        level.needed = <int64_t*>&scratch[0]
        level.n = n_recalls
        level.scores = &scores[0] if scores.shape[0] else NULL
        for category in range(first, last):
            n = starts[category + 1] - starts[category]
            order = <Keyed*>(level.needed + n_recalls)
            hit = <uint64_t*>(order + 2 * n)
            counted = hit + n + LANES
            some = <int64_t*>(counted + n + LANES)
            precisions = <double*>(some + n)
            places = <int64_t*>(precisions + n + 1)
            plain = places + n + 1
            for i in range(n):
                order[i].key = falling_key(scores[starts[category] + i])
                order[i].row = starts[category] + i
            sort_falling(order, order + n, n)
            # Gathered once for all that follows, where the sort has no more use for its memory.
            words = <uint64_t*>(order + n)
            for i in range(n):
                j = order[i].row
                words[2 * i] = matched[j]
                words[2 * i + 1] = ignored[j]
                order[i].key = <uint64_t>ranks[j]
            level.some = some
            level.top = scores[order[0].row] if n else 0
            kept_before = -1
            for m in range(most_detections.shape[0]):
                most = most_detections[m]
                kept = 0
                n_some = 0
                for a in range(n_areas):
                    counts[a] = 0
                for i in range(n):
                    if <int64_t>order[i].key >= most:
                        continue
                    kept += 1
                    passed = words[2 * i + 1]
                    if words[2 * i]:
                        some[n_some] = order[i].row
                        hit[n_some] = words[2 * i] & ~passed
                        counted[n_some] = ~passed
                        for a in range(n_areas):
                            plain[n_some * n_areas + a] = counts[a]
                        n_some += 1
                    else:
                        for a in range(n_areas):
                            counts[a] += ~(passed >> (a * n_thresholds)) & 1
                if kept == kept_before:
                    # No more detections than before: the same ones.
                    for a in range(n_areas):
                        for t in range(n_thresholds):
                            recall[category, a, m, t] = recall[category, a, m - 1, t]
                            for r in range(n_recalls):
                                precision[category, a, m, t, r] = precision[category, a, m - 1, t, r]
                                score_at[category, a, m, t, r] = score_at[category, a, m - 1, t, r]
                    continue
                kept_before = kept
                n_blocks = turn_blocks(hit, n_some)
                turn_blocks(counted, n_some)
                for a in range(n_areas):
                    if n_truth[category, a] == 0:
                        for t in range(n_thresholds):
                            recall[category, a, m, t] = undefined
                            for r in range(n_recalls):
                                precision[category, a, m, t, r] = undefined
                                score_at[category, a, m, t, r] = undefined
                        continue
                    for r in range(n_recalls):
                        level.needed[r] = hits_needed(recalls[r], n_truth[category, a])
                    for t in range(n_thresholds):
                        hits = walk_lane(
                            hit, counted, plain, n_blocks, n_areas, a, a * n_thresholds + t, precisions, places
                        )
                        recall[category, a, m, t] = <double>hits / <double>n_truth[category, a]
                        fill_lane(
                            &level, precisions, places, hits, kept > 0, &precision[category, a, m, t, 0],
                            &score_at[category, a, m, t, 0]
                        )
