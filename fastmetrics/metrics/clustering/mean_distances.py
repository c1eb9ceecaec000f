"""Mean distances of each row to its own cluster and to the nearest other cluster: the statistic of silhouettes.

Rows are ordered by cluster and divided into strips; a chunk of work is a pair of strips. If the sums for every row and
cluster fit in MAX_SUM_BYTES, each pair of rows is measured once and added for both rows (`SymmetricSums`). Otherwise
each strip is compared with all rows, one cluster after the other, and only the results of the strip are stored
(`OneSidedSums`). Sums are exact, so the result depends neither on strips nor on threads (see distances.pyx). Rows whose
distances are too small for the two words of a sum are measured again (`refine_small_means`).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

import numpy as np

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import for_each
from fastmetrics._kernels.clustering import distances as kernel
from fastmetrics.metrics.clustering.cluster_points import RowsByCluster

MAX_SUM_BYTES = 96 << 20
REGISTER_WIDTH = kernel.widest_registers()
STRIP_WORK = 1 << 28  # pairs of coordinates in a chunk of work: a few hundredths of a second
LONGEST_STRIP = 4096
ONE_SIDED_WORK = 1 << 34  # the same for a strip against all rows: the longest wait of an interrupt
SHORTEST_STRIP = 256
SERIAL_WORK = 1 << 22  # below this, one thread is faster than two
MAX_PADDING = 1.3  # slots per row; above this number measuring pairs twice is cheaper
SMALL_INPUT_ROWS = 256  # up to this number measuring pairs twice is cheaper

Progress = Callable[[int, int], object] | None


class MeanDistances(NamedTuple):
    """For every row, the sum of distances to its own cluster, and the mean distance to the nearest other cluster."""

    own_sum: np.ndarray
    nearest_mean: np.ndarray

    def own_mean(self, clusters: RowsByCluster) -> np.ndarray:
        """The mean distance to the other rows of the own cluster; 0 if there are none."""
        others = np.maximum(clusters.sizes - 1, 1)
        return np.asarray(self.own_sum / others[clusters.codes])


class RowStrip(NamedTuple):
    """Consecutive slots with runs of clusters, as the kernel reads them."""

    of_kernel: kernel.PointStrip
    slots: slice
    clusters: slice


def aligned_zeros(shape: tuple[int, ...], dtype: np.dtype | type) -> np.ndarray:
    """An array of zeros that starts at a multiple of 64 bytes."""
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.zeros(n_bytes + 64, np.uint8)
    start = -memory.__array_interface__["data"][0] % 64
    return memory[start : start + n_bytes].view(dtype).reshape(shape)


def panel_length(x: np.ndarray) -> int:
    return kernel.PANEL_F32 if x.dtype == np.float32 else kernel.PANEL_F64


class MetricSpace(NamedTuple):
    """Points, the kind of distance, and an upper bound of all distances."""

    x: np.ndarray
    kind: int
    max_distance: float

    def distances(self, clusters: RowsByCluster) -> kernel.PointDistances:
        """What the kernel reads."""
        return kernel.PointDistances(*self, int(clusters.sizes.max()), REGISTER_WIDTH)


def distance_bound(kind: int, low: np.ndarray, high: np.ndarray) -> float:
    """An upper bound of the distance of any two rows between `low` and `high`, rounding included."""
    spans = high.astype(np.float64) - low.astype(np.float64)
    if kind == kernel.ABSOLUTE:
        bound = math.fsum(spans.tolist())
    elif kind == kernel.ROOT:
        bound = math.sqrt(math.fsum((spans * spans).tolist()))
    else:
        bound = math.fsum((spans * spans).tolist())
    return bound * (1 + 1e-5)


def mean_distances(
    space: MetricSpace, clusters: RowsByCluster, n_threads: int, progress: Progress = None
) -> MeanDistances:
    """The mean distances of all rows."""
    rows, dims = space.x.shape
    if rows * rows * dims < SERIAL_WORK:
        n_threads = 1
    panel = panel_length(space.x)
    padded = -(-clusters.sizes // panel) * panel
    n_slots = int(padded.sum())
    sum_bytes = 16 * n_slots * clusters.sizes.shape[0]
    is_compact = n_slots <= max(MAX_PADDING * rows, 2 * LONGEST_STRIP)
    fits = rows > SMALL_INPUT_ROWS and sum_bytes <= MAX_SUM_BYTES and is_compact
    work = SymmetricSums(space, clusters, padded, n_threads) if fits else OneSidedSums(space, clusters, n_threads)
    run_chunks(work.n_chunks, work.make_worker, n_threads, progress)
    return refine_small_means(space, clusters, work.means(), n_threads)


def run_chunks(
    n_chunks: int, make_worker: Callable[[], Callable[[int], None]], n_threads: int, progress: Progress
) -> None:
    """for_each, with calls of progress(chunks done, all chunks) in the calling thread."""
    if progress is None:
        for_each(n_chunks, make_worker, n_threads)
        return
    caller = threading.get_ident()
    done: list[int] = []

    def make_counting() -> Callable[[int], None]:
        worker = make_worker()

        def work(chunk: int) -> None:
            worker(chunk)
            done.append(chunk)
            if threading.get_ident() == caller and len(done) < n_chunks:
                progress(len(done), n_chunks)

        return work

    for_each(n_chunks, make_counting, n_threads)
    progress(n_chunks, n_chunks)


def strip_length(dims: int, n_slots: int, panel: int, n_threads: int) -> int:
    """The slots of a strip: chunks should be neither too long nor too short, and enough for all threads."""
    length = math.isqrt(STRIP_WORK // dims) if dims < STRIP_WORK else 1
    if n_threads > 1:
        length = min(length, n_slots // (4 * math.isqrt(n_threads) + 1))
    return max(panel, min(length, LONGEST_STRIP, n_slots) // panel * panel)


class SymmetricSums:
    """Measures each pair of rows once, with sums for all clusters and slots: (2 words, clusters, slots).

    Each cluster is padded to whole panels; empty slots have row -1.
    """

    def __init__(self, space: MetricSpace, clusters: RowsByCluster, padded: np.ndarray, n_threads: int) -> None:
        self.distances = space.distances(clusters)
        self.clusters = clusters
        starts = np.cumsum(padded) - padded
        n_slots = int(padded.sum())
        self.rows = np.full(n_slots, -1, np.int64)
        shifts = starts - (clusters.ends - clusters.sizes)
        slots = np.arange(clusters.order.shape[0]) + np.repeat(shifts, clusters.sizes)
        self.rows[slots] = clusters.order
        self.slots = slots
        self.cluster_of = np.repeat(np.arange(padded.shape[0]), padded)
        self.sums = np.zeros((2, padded.shape[0], n_slots))
        self.length = strip_length(space.x.shape[1], n_slots, panel_length(space.x), n_threads)
        self.strips = [self.make_strip(start, starts) for start in range(0, n_slots, self.length)]
        self.pairs = [(i, j) for i in range(len(self.strips)) for j in range(i, len(self.strips))]
        self.n_chunks = len(self.pairs)
        self.lock = threading.Lock()

    def make_strip(self, start: int, starts: np.ndarray) -> RowStrip:
        stop = min(start + self.length, self.rows.shape[0])
        first, last = self.cluster_of[start], self.cluster_of[stop - 1]
        run_starts = np.maximum(starts[first : last + 1] - start, 0)
        run_ends = np.minimum(starts + self.clusters.sizes, stop)[first : last + 1] - start
        strip = kernel.PointStrip(self.rows[start:stop], run_starts, run_ends - run_starts)
        return RowStrip(strip, slice(start, stop), slice(int(first), int(last) + 1))

    def make_worker(self) -> Callable[[int], None]:
        memory = kernel.TileMemory(self.distances, self.length)

        def work(chunk: int) -> None:
            left, right = (self.strips[number] for number in self.pairs[chunk])
            right_sums = left_sums = self.new_sums(left, right)
            if left is not right:
                left_sums = self.new_sums(right, left)
            kernel.pair_sums(self.distances, left.of_kernel, left_sums, right.of_kernel, right_sums, memory)
            with self.lock:
                self.sums[:, left.clusters, right.slots] += right_sums
                if left is not right:
                    self.sums[:, right.clusters, left.slots] += left_sums

        return work

    @staticmethod
    def new_sums(of_clusters: RowStrip, of_slots: RowStrip) -> np.ndarray:
        """Two words for every cluster of one strip and every slot of the other."""
        n_clusters = of_clusters.clusters.stop - of_clusters.clusters.start
        return aligned_zeros((2, n_clusters, of_slots.slots.stop - of_slots.slots.start), np.float64)

    def means(self) -> MeanDistances:
        n_slots = self.rows.shape[0]
        own_sums = np.zeros(n_slots)
        nearest_means = np.full(n_slots, np.inf)
        kernel.close_clusters(self.sums, self.clusters.sizes, self.cluster_of, 0, n_slots, own_sums, nearest_means)
        means = MeanDistances(np.empty(self.slots.shape[0]), np.empty(self.slots.shape[0]))
        for row_values, slot_values in zip(means, (own_sums, nearest_means), strict=True):
            row_values[self.clusters.order] = slot_values[self.slots]
        return means


class OneSidedSums:
    """Measures each strip against all rows, so each pair twice; only the results are stored."""

    def __init__(self, space: MetricSpace, clusters: RowsByCluster, n_threads: int) -> None:
        self.distances = space.distances(clusters)
        self.panel = panel_length(space.x)
        self.clusters = clusters
        rows = clusters.order.shape[0]
        panel = self.panel
        self.length = strip_length(space.x.shape[1], -(-rows // panel) * panel, panel, n_threads * n_threads)
        longest = ONE_SIDED_WORK // (rows * space.x.shape[1])
        self.length = min(self.length, max(longest, SHORTEST_STRIP) // panel * panel)
        self.n_chunks = -(-rows // self.length)
        self.results = MeanDistances(np.empty(rows), np.empty(rows))

    def make_worker(self) -> Callable[[int], None]:
        memory = kernel.TileMemory(self.distances, self.length)
        codes, order, _, ends = self.clusters

        def work(chunk: int) -> None:
            rows = order[chunk * self.length : (chunk + 1) * self.length]
            n_slots = -(-rows.shape[0] // self.panel) * self.panel
            slots = np.full(n_slots, -1, np.int64)
            slots[: rows.shape[0]] = rows
            own_sums, nearest_means = np.empty((2, n_slots))
            sums = aligned_zeros((2, n_slots), np.float64)
            kernel.strip_means(self.distances, order, ends, slots, codes[slots], sums, own_sums, nearest_means, memory)
            self.results.own_sum[rows] = own_sums[: rows.shape[0]]
            self.results.nearest_mean[rows] = nearest_means[: rows.shape[0]]

        return work

    def means(self) -> MeanDistances:
        return self.results


def least_accurate_share(max_size: int) -> float:
    """The accuracy limit: a mean of `max_size` distances below this share of the largest may be off by 2**-46."""
    return math.ldexp(1.0, 2 * max(2, (max_size - 1).bit_length()) - 59)


def refine_small_means(
    space: MetricSpace, clusters: RowsByCluster, means: MeanDistances, n_threads: int
) -> MeanDistances:
    """Measure rows again whose distances are small compared with the largest, with sums that are rounded once.

    float32 points are measured in float64 here, because squares of small differences would underflow.
    """
    x, kind, max_distance = space
    share = least_accurate_share(int(clusters.sizes.max()))
    if x.dtype == np.float32:
        share = max(share, 2.0**-40 if kind == kernel.PLAIN else 2.0**-20)
    larger_means = np.maximum(means.own_mean(clusters), means.nearest_mean)
    if max_distance == 0 or larger_means.min() >= share * max_distance:
        return means
    inaccurate = np.flatnonzero(larger_means < share * max_distance)
    distances = MetricSpace(x.astype(np.float64, copy=False), kind, max_distance).distances(clusters)

    def make_worker() -> Callable[[int], None]:
        memory = kernel.TileMemory(distances, kernel.PANEL_F64)
        between = np.empty((kernel.ROWS, x.shape[0]))

        def work(chunk: int) -> None:
            rows = inaccurate[chunk * kernel.ROWS : (chunk + 1) * kernel.ROWS]
            own_sums, nearest_means = np.empty((2, rows.shape[0]))
            kernel.exact_means(
                distances, clusters.order, clusters.ends, rows, clusters.codes[rows], own_sums, nearest_means, memory,
                between,
            )  # fmt: skip
            means.own_sum[rows] = own_sums
            means.nearest_mean[rows] = nearest_means

        return work

    for_each(-(-inaccurate.shape[0] // kernel.ROWS), make_worker, n_threads)
    return means
