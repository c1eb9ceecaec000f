"""After the scan: the exchanges are resolved, and every statistic has its final state."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.by_group import GroupExchange, reduce_groups
from fastmetrics._core.by_score import bucket_blocks
from fastmetrics._core.rows import Rows
from fastmetrics.engine.feed import Progress
from fastmetrics.engine.plan import Plan
from fastmetrics.engine.scan import Scan


def resolve(scan: Scan, n_threads: int, progress: Progress | None) -> dict[Any, Any]:
    """The states of all statistics, exchange by exchange."""
    plan = scan.plan
    states = scan.additive_states()
    scan.workers.clear()
    scan.idle.clear()
    steps = int(plan.needs("group")) + int(plan.needs("score"))
    done = 0

    def step() -> None:
        if progress is not None:
            progress("resolve", done * scan.kept // steps if steps else scan.kept, scan.kept)

    step()
    if scan.kept == 0:
        # Only rows of weight zero: every metric says so itself.
        states |= {statistic: statistic.empty() for statistic in plan.statistics["score"]}
        states |= {statistic: statistic.new() for statistic in plan.statistics["group"]}
        return states
    spare: list[np.ndarray] = []
    if scan.exchange is not None:
        states |= resolve_groups(plan, scan.exchange, n_threads)
        scan.blocks = [block.rows for block in scan.exchange.blocks]
        spare = [block.hashes for block in scan.exchange.blocks]
        scan.exchange = None
        done += 1
        step()
    if plan.needs("score"):
        states |= resolve_scores(plan, scan.blocks, spare, n_threads)
        done += 1
    step()
    return states


def resolve_groups(plan: Plan, exchange: GroupExchange, n_threads: int) -> dict[Any, Any]:
    layout = exchange.layout()
    states: dict[Any, Any] = {}
    by_table: dict[Any, list[Any]] = {}
    for statistic in plan.statistics["group"]:
        by_table.setdefault(statistic.table, []).append(statistic)
    for statistics in by_table.values():
        states.update(zip(statistics, reduce_groups(layout, statistics, n_threads), strict=True))
    return states


def resolve_scores(plan: Plan, blocks: list[Rows], spare: list[np.ndarray], n_threads: int) -> dict[Any, Any]:
    statistics = plan.statistics["score"]
    if blocks[0].weights is None:
        buckets = bucket_blocks(blocks, spare, n_threads)
        return {statistic: statistic.resolve(buckets, n_threads) for statistic in statistics}
    labels = np.concatenate([block.labels for block in blocks])
    scores = np.concatenate([block.scores for block in blocks])
    weights = np.concatenate([block.weights for block in blocks if block.weights is not None])
    return {statistic: statistic.resolve_weighted(labels, scores, weights) for statistic in statistics}
