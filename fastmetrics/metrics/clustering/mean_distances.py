"""How far each row is from the rows of its own cluster and of the nearest other: what silhouettes are made of.

Rows are placed cluster by cluster and cut into strips; a unit of work is a pair of strips. Where sums for every row and
cluster fit BUDGET, every pair of rows is measured once and counts for both (`Symmetric`); else a strip meets all rows,
one cluster after the other, and nothing is kept but the strip's own answers (`OneSided`). Sums are exact, so that
neither strips nor threads show in the result (distances.pyx). Rows for which their two words are too short are measured
again (`refine`).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fastmetrics._core.parallel import for_each
from fastmetrics._kernels import distances as kernel

BUDGET = 96 << 20  # bytes of sums
WIDTH = kernel.widest()
STRIP_WORK = 1 << 28  # coordinates compared in a unit of work: a few hundredths of a second
LONGEST_STRIP = 4096
ONE_SIDED_WORK = 1 << 34  # the same where a strip meets all rows, so that an interrupt does not wait for long
SHORTEST_STRIP = 256
SERIAL_WORK = 1 << 22  # below this, one thread is faster than two
PADDED = 1.3  # places for each row from which on it is cheaper to measure pairs twice
FEW_ROWS = 256  # up to so many, sorting pairs out takes longer than measuring them twice

Progress = Callable[[int, int], object] | None


class Clusters(NamedTuple):
    """Rows by cluster: `order` names the rows of cluster after cluster, `codes` the cluster of each row."""

    codes: np.ndarray
    order: np.ndarray
    sizes: np.ndarray
    ends: np.ndarray


class Means(NamedTuple):
    """For every row, the sum of distances to its own cluster, and the least mean distance from another."""

    own: np.ndarray
    best: np.ndarray

    def near(self, clusters: Clusters) -> np.ndarray:
        """The mean distance to the other rows of the own cluster; 0 where there are none."""
        others = np.maximum(clusters.sizes - 1, 1)
        return np.asarray(self.own / others[clusters.codes])


class Strip(NamedTuple):
    """Neighbouring places: rows (-1: none), where runs of a cluster start and how many rows they have."""

    start: int
    rows: np.ndarray
    first_cluster: int
    bounds: np.ndarray
    filled: np.ndarray

    @property
    def places(self) -> slice:
        return slice(self.start, self.start + self.rows.shape[0])

    @property
    def clusters(self) -> slice:
        return slice(self.first_cluster, self.first_cluster + self.filled.shape[0])


def by_cluster(codes: np.ndarray, n_clusters: int) -> Clusters:
    sizes, ends = np.zeros(n_clusters, np.int64), np.empty(n_clusters, np.int64)
    order = np.empty(codes.shape[0], np.int64)
    kernel.sort_rows(codes, sizes, ends, order)
    return Clusters(codes, order, sizes, ends)


def aligned(shape: tuple[int, ...], dtype: np.dtype | type) -> np.ndarray:
    """Zeros that start at a multiple of 64 bytes."""
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.zeros(n_bytes + 64, np.uint8)
    start = -memory.__array_interface__["data"][0] % 64
    return memory[start : start + n_bytes].view(dtype).reshape(shape)


def panel_of(x: np.ndarray) -> int:
    return kernel.PANEL_F32 if x.dtype == np.float32 else kernel.PANEL_F64


class Space(NamedTuple):
    """Rows of coordinates, how their distance is measured, and a bound on all distances."""

    x: np.ndarray
    kind: int
    greatest: float


def box_bound(kind: int, low: np.ndarray, high: np.ndarray) -> float:
    """A bound on the distance of any two rows between `low` and `high`; more than rounding can add to one."""
    spans = high.astype(np.float64) - low.astype(np.float64)
    if kind == kernel.ABSOLUTE:
        bound = math.fsum(spans.tolist())
    elif kind == kernel.ROOT:
        bound = math.hypot(*spans.tolist())
    else:
        bound = math.fsum((spans * spans).tolist())
    return bound * (1 + 1e-5)


def mean_distances(space: Space, clusters: Clusters, n_threads: int, progress: Progress = None) -> Means:
    """Means of all rows."""
    rows, dims = space.x.shape
    if rows * rows * dims < SERIAL_WORK:
        n_threads = 1
    panel = panel_of(space.x)
    padded = -(-clusters.sizes // panel) * panel
    n_places = int(padded.sum())
    sums = 16 * n_places * clusters.sizes.shape[0]
    fits = rows > FEW_ROWS and sums <= BUDGET and n_places <= max(PADDED * rows, 2 * LONGEST_STRIP)
    work = Symmetric(space, clusters, padded, n_threads) if fits else OneSided(space, clusters, n_threads)
    run(work.n_units, work.make_worker, n_threads, progress)
    return refine(space, clusters, work.means(), n_threads)


def run(n_units: int, make_worker: Callable[[], Callable[[int], None]], n_threads: int, progress: Progress) -> None:
    """for_each, and `progress` called with (units done, units) by the thread that called."""
    if progress is None:
        for_each(n_units, make_worker, n_threads)
        return
    caller = threading.get_ident()
    done: list[int] = []

    def make_counting() -> Callable[[int], None]:
        worker = make_worker()

        def work(unit: int) -> None:
            worker(unit)
            done.append(unit)
            if threading.get_ident() == caller and len(done) < n_units:
                progress(len(done), n_units)

        return work

    for_each(n_units, make_counting, n_threads)
    progress(n_units, n_units)


def strip_length(dims: int, n_places: int, panel: int, n_threads: int) -> int:
    """Places of a strip: units that take neither too long nor too short a time, and enough of them for the threads."""
    wanted = math.isqrt(STRIP_WORK // dims) if dims < STRIP_WORK else 1
    if n_threads > 1:
        wanted = min(wanted, n_places // (4 * math.isqrt(n_threads) + 1))
    return max(panel, min(wanted, LONGEST_STRIP, n_places) // panel * panel)


class Symmetric:
    """Every pair of rows once, and sums for all rows and clusters: (2 words, clusters, places)."""

    def __init__(self, space: Space, clusters: Clusters, padded: np.ndarray, n_threads: int) -> None:
        self.space = space
        self.clusters = clusters
        self.most = int(clusters.sizes.max())
        starts = np.cumsum(padded) - padded
        n_places = int(padded.sum())
        self.rows = np.full(n_places, -1, np.int64)
        shifts = starts - (clusters.ends - clusters.sizes)
        places = np.arange(clusters.order.shape[0]) + np.repeat(shifts, clusters.sizes)
        self.rows[places] = clusters.order
        self.places = places
        self.cluster_of = np.repeat(np.arange(padded.shape[0]), padded)
        self.sums = np.zeros((2, padded.shape[0], n_places))
        self.length = strip_length(space.x.shape[1], n_places, panel_of(space.x), n_threads)
        self.strips = [self.cut(start, starts) for start in range(0, n_places, self.length)]
        self.pairs = [(i, j) for i in range(len(self.strips)) for j in range(i, len(self.strips))]
        self.n_units = len(self.pairs)
        self.lock = threading.Lock()

    def cut(self, start: int, starts: np.ndarray) -> Strip:
        stop = min(start + self.length, self.rows.shape[0])
        first, last = self.cluster_of[start], self.cluster_of[stop - 1]
        bounds = np.maximum(starts[first : last + 1] - start, 0)
        ends = np.minimum(starts + self.clusters.sizes, stop)[first : last + 1] - start
        return Strip(start, self.rows[start:stop], int(first), bounds, ends - bounds)

    def make_worker(self) -> Callable[[int], None]:
        x, kind, greatest = self.space
        panels = aligned((self.length * x.shape[1],), x.dtype)
        pack = aligned((kernel.ROWS * x.shape[1],), x.dtype)

        def work(unit: int) -> None:
            left, right = (self.strips[number] for number in self.pairs[unit])
            same = left is right
            ahead = aligned((2, left.filled.shape[0], right.rows.shape[0]), np.float64)
            back = ahead if same else aligned((2, right.filled.shape[0], left.rows.shape[0]), np.float64)
            kernel.pair_sums(
                x, kind, greatest, self.most, left.rows, left.bounds, left.filled, back,
                right.rows, right.bounds, right.filled, ahead, same, panels, pack, WIDTH,
            )  # fmt: skip
            with self.lock:
                self.sums[:, left.clusters, right.places] += ahead
                if not same:
                    self.sums[:, right.clusters, left.places] += back

        return work

    def means(self) -> Means:
        n_places = self.rows.shape[0]
        own = np.zeros(n_places)
        best = np.full(n_places, np.inf)
        kernel.close_clusters(self.sums, self.clusters.sizes, self.cluster_of, 0, n_places, own, best)
        means = Means(np.empty(self.places.shape[0]), np.empty(self.places.shape[0]))
        for of_rows, of_places in zip(means, (own, best), strict=True):
            of_rows[self.clusters.order] = of_places[self.places]
        return means


class OneSided:
    """Strips against all rows; nothing is kept but the answers."""

    def __init__(self, space: Space, clusters: Clusters, n_threads: int) -> None:
        self.space = space
        self.clusters = clusters
        self.most = int(clusters.sizes.max())
        rows = clusters.order.shape[0]
        panel = panel_of(space.x)
        self.length = strip_length(space.x.shape[1], -(-rows // panel) * panel, panel, n_threads * n_threads)
        longest = ONE_SIDED_WORK // (rows * space.x.shape[1])
        self.length = min(self.length, max(longest, SHORTEST_STRIP) // panel * panel)
        self.n_units = -(-rows // self.length)
        self.found = Means(np.empty(rows), np.empty(rows))

    def make_worker(self) -> Callable[[int], None]:
        x, kind, greatest = self.space
        panel = panel_of(x)
        panels = aligned((self.length * x.shape[1],), x.dtype)
        pack = aligned((kernel.ROWS * x.shape[1],), x.dtype)
        codes, order, _, ends = self.clusters

        def work(unit: int) -> None:
            rows = order[unit * self.length : (unit + 1) * self.length]
            n_places = -(-rows.shape[0] // panel) * panel
            places = np.full(n_places, -1, np.int64)
            places[: rows.shape[0]] = rows
            own, best = np.empty(n_places), np.full(n_places, np.inf)
            sums = aligned((2, n_places), np.float64)
            kernel.strip_means(
                x, kind, greatest, self.most, order, ends, places, codes[places], sums, own, best, panels, pack, WIDTH
            )
            self.found.own[rows] = own[: rows.shape[0]]
            self.found.best[rows] = best[: rows.shape[0]]

        return work

    def means(self) -> Means:
        return self.found


def smallest_share(most: int) -> float:
    """What two words are good for: a mean of `most` below this part of the greatest distance may be off by 2**-46."""
    return math.ldexp(1.0, 2 * max(2, (most - 1).bit_length()) - 59)


def refine(space: Space, clusters: Clusters, means: Means, n_threads: int) -> Means:
    """Measure rows again whose distances are small beside the greatest, with sums that are rounded once.

    Floats are measured in double then: squares of small differences would be lost.
    """
    x, kind, greatest = space
    share = smallest_share(int(clusters.sizes.max()))
    if x.dtype == np.float32:
        share = max(share, 2.0**-40 if kind == kernel.PLAIN else 2.0**-20)
    answers = np.maximum(means.near(clusters), means.best)
    if greatest == 0 or answers.min() >= share * greatest:
        return means
    again = np.flatnonzero(answers < share * greatest)
    x = x.astype(np.float64, copy=False)

    def make_worker() -> Callable[[int], None]:
        panels = aligned((kernel.PANEL_F64 * x.shape[1],), np.float64)
        pack = aligned((kernel.ROWS * x.shape[1],), np.float64)
        distances = np.empty((kernel.ROWS, x.shape[0]))

        def work(unit: int) -> None:
            rows = again[unit * kernel.ROWS : (unit + 1) * kernel.ROWS]
            own, best = np.zeros(rows.shape[0]), np.full(rows.shape[0], np.inf)
            kernel.exact_means(
                x, kind, clusters.order, clusters.ends, rows, clusters.codes[rows], own, best, panels, pack,
                distances, WIDTH,
            )  # fmt: skip
            means.own[rows] = own
            means.best[rows] = best

        return work

    for_each(-(-again.shape[0] // kernel.ROWS), make_worker, n_threads)
    return means
