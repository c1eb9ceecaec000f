"""Metrics of one partition of points, from their definitions.

P. Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of cluster analysis", J. Computational
and Applied Mathematics 20, 1987; T. Calinski, J. Harabasz, "A dendrite method for cluster analysis", Communications in
Statistics 3, 1974; D. Davies, D. Bouldin, "A cluster separation measure", IEEE Transactions on Pattern Analysis and
Machine Intelligence 1, 1979. Points are lists of floats. Sums use math.fsum and are rounded once.
"""

import math
from collections.abc import Callable, Hashable, Sequence

Point = Sequence[float]
Labels = Sequence[Hashable]


def squared(one: Point, other: Point) -> float:
    return math.fsum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def euclidean(one: Point, other: Point) -> float:
    return math.dist(one, other)


def manhattan(one: Point, other: Point) -> float:
    return math.fsum(abs(a - b) for a, b in zip(one, other, strict=True))


def cosine(one: Point, other: Point) -> float:
    """1 - cos, from the distance of two unit vectors; 1 from a point at the origin, 0 from the point itself."""
    if one is other:
        return 0.0
    lengths = math.hypot(*one), math.hypot(*other)
    if 0 in lengths:
        return 1.0
    return squared([a / lengths[0] for a in one], [b / lengths[1] for b in other]) / 2


DISTANCES: dict[str, Callable[[Point, Point], float]] = {
    "euclidean": euclidean, "sqeuclidean": squared, "manhattan": manhattan, "cosine": cosine,
}  # fmt: skip


def distances(points: Sequence[Point], metric: str) -> list[list[float]]:
    measure = DISTANCES[metric]
    return [[measure(one, other) for other in points] for one in points]


def members(labels: Labels) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = {}
    for row, label in enumerate(labels):
        found.setdefault(label, []).append(row)
    return found


def silhouettes(matrix: Sequence[Sequence[float]], labels: Labels) -> list[float]:
    clusters = members(labels)
    answers = []
    for row, label in enumerate(labels):
        others = [other for other in clusters[label] if other != row]
        if not others:
            answers.append(0.0)
            continue
        own = math.fsum(matrix[row][other] for other in others) / len(others)
        nearest = min(
            math.fsum(matrix[row][other] for other in rows) / len(rows)
            for cluster, rows in clusters.items()
            if cluster != label
        )
        greatest = max(own, nearest)
        answers.append((nearest - own) / greatest if greatest else 0.0)
    return answers


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def center(points: Sequence[Point]) -> list[float]:
    return [mean(column) for column in zip(*points, strict=True)]


def by_cluster(points: Sequence[Point], labels: Labels) -> list[list[Point]]:
    return [[points[row] for row in rows] for rows in members(labels).values()]


def calinski_harabasz(points: Sequence[Point], labels: Labels) -> float:
    clusters = by_cluster(points, labels)
    middle = center(points)
    within = math.fsum(squared(point, center(cluster)) for cluster in clusters for point in cluster)
    between = math.fsum(len(cluster) * squared(center(cluster), middle) for cluster in clusters)
    if within == 0:
        return 1.0
    return (between / (len(clusters) - 1)) / (within / (len(points) - len(clusters)))


def davies_bouldin(points: Sequence[Point], labels: Labels) -> float:
    clusters = by_cluster(points, labels)
    centers = [center(cluster) for cluster in clusters]
    widths = [
        mean([euclidean(point, middle) for point in cluster]) for cluster, middle in zip(clusters, centers, strict=True)
    ]
    apart = [[euclidean(one, other) for other in centers] for one in centers]
    if max(widths) <= 1e-8 or max(map(max, apart)) <= 1e-8:
        return 0.0
    return mean(
        [
            max((widths[i] + widths[j]) / apart[i][j] if apart[i][j] else 0.0 for j in range(len(clusters)))
            for i in range(len(clusters))
        ]
    )
