"""One comparison: assert that both sides say the same, then time them in turns, ours, theirs, ours, theirs.

Turns matter on a machine that is not ours alone: what slows one side for a while slows the other too. A ratio is
that of the two medians.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bench.machine import OtherWork
from bench.workloads import ROWS_PER_USER

Call = Callable[[], Any]

OURS_ROUNDS = 6


@dataclass(frozen=True)
class Target:
    """A bound of the project's speed table: on a ratio, or on a quantity of ours alone."""

    kind: str
    limit: float
    of: str


def at_least(times_faster: float) -> Target:
    """Theirs / ours."""
    return Target("at least", times_faster, "speed")


def at_most(times_the_time: float) -> Target:
    """Ours / theirs."""
    return Target("at most", times_the_time, "time")


def at_most_seconds(seconds: float) -> Target:
    return Target("at most", seconds, "seconds")


def at_most_bytes(bytes_a_row: float) -> Target:
    return Target("at most", bytes_a_row, "bytes a row")


def at_most_mebibytes(mebibytes: float) -> Target:
    return Target("at most", mebibytes, "MiB")


class Race:
    """The fixture `race`: times one pair through pytest-benchmark and leaves the pair's story in its `extra_info`."""

    def __init__(self, benchmark: Any, rows: int) -> None:
        self.benchmark = benchmark
        self.rows = rows

    def alone(
        self,
        work: str,
        ours: Call,
        *,
        target: Target | None = None,
        rounds: int = OURS_ROUNDS,
        calls: int = 1,
        reported: bool = False,
        note: str | None = None,
    ) -> None:
        """Measure ours without a peer. calls: per round. reported: the call returns what it measured itself."""
        self.enter(work, "fastmetrics", target, note)
        mine = Times(ours, calls, reported)
        others_at_work = OtherWork()
        self.benchmark.pedantic(mine, rounds=rounds, warmup_rounds=1)
        self.benchmark.extra_info |= {"ours": mine.summary(skip=1), "cores_of_others": others_at_work.cores()}

    def against(
        self,
        work: str,
        ours: Call,
        peer: str,
        theirs: Call,
        *,
        within: float | None,
        expected: object = None,
        target: Target | None = None,
        rounds: int = 3,
        ours_rounds: int = OURS_ROUNDS,
        calls: int = 1,
        reported: bool = False,
        scale: float = 1.0,
        note: str | None = None,
        settle: float = 0.0,
    ) -> None:
        """Time ours and theirs in turns.

        within: relative difference allowed between both answers; None where there is none to compare.
        expected: what theirs must answer, where it is not what ours answers.
        scale: theirs does a part of the work only; its time is multiplied.
        settle: seconds to wait before our turn, where threads of the peer's library spin on after it has answered.
        """
        if within is not None:
            compare(theirs(), ours() if expected is None else expected, within)
        self.enter(work, peer, target, note)
        mine, peers = Times(ours, calls, reported), Times(theirs, calls, reported, scale)
        others_at_work = OtherWork()
        ours_per_round = -(-ours_rounds // rounds)

        def our_turn() -> None:
            time.sleep(settle)
            for _ in range(ours_per_round):
                mine()

        self.benchmark.pedantic(peers, setup=our_turn, rounds=rounds)
        self.benchmark.extra_info |= {"ours": mine.summary(), "peer": peers.summary()}
        self.benchmark.extra_info["cores_of_others"] = others_at_work.cores()

    def enter(self, work: str, contestant: str, target: Target | None, note: str | None) -> None:
        work = work.format(rows=count(self.rows), users=count(self.rows // ROWS_PER_USER))
        self.benchmark.group = work
        self.benchmark.extra_info |= {"work": work, "contestant": contestant, "note": note}
        self.benchmark.extra_info["target"] = None if target is None else asdict(target)


def compare(theirs: Any, ours: Any, within: float) -> None:
    """Both answers say the same; a tuple of arrays, part by part."""
    if isinstance(theirs, tuple):
        assert len(theirs) == len(ours)
        for one, other in zip(theirs, ours, strict=True):
            compare(one, other, within)
    elif theirs is None or isinstance(theirs, str):
        assert theirs == ours
    else:
        np.testing.assert_allclose(theirs, ours, rtol=within, atol=0.0)


class Times:
    """A call that remembers how long it took each time."""

    def __init__(self, call: Call, calls: int = 1, reported: bool = False, scale: float = 1.0) -> None:
        self.call = call
        self.calls = range(calls)
        self.reported = reported
        self.scale = scale
        self.measured: list[float] = []

    def __call__(self) -> None:
        call = self.call
        start = time.perf_counter()
        for _ in self.calls:
            answer = call()
        seconds = time.perf_counter() - start
        self.measured.append(answer if self.reported else seconds * self.scale / len(self.calls))

    def summary(self, skip: int = 0) -> dict[str, float]:
        measured = self.measured[skip:]
        return {
            "median": statistics.median(measured), "min": min(measured), "max": max(measured), "rounds": len(measured)
        }  # fmt: skip


def count(rows: int) -> str:
    """10M, 200k, 100."""
    for size, letter in ((1_000_000, "M"), (1000, "k")):
        if rows >= size:
            return f"{rows / size:.3g}{letter}"
    return str(rows)
