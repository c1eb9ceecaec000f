"""Timing of one pair: assert that both results are equal, then run both sides in turns: ours, theirs, ours, theirs.

Other processes may slow the machine for a while. With turns, they slow both sides. The ratio is that of the medians.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.machine import OtherWork
from bench.workloads import ROWS_PER_USER

Call = Callable[[], Any]

OURS_ROUNDS = 6
MOST_SECONDS = 8  # of the turns of a peer: one that takes longer has one turn


class Timing:
    """The fixture `timing`: times one pair with pytest-benchmark and records the result in its `extra_info`."""

    def __init__(self, benchmark: Any, rows: int) -> None:
        self.benchmark = benchmark
        self.rows = rows

    def measure(
        self,
        work: str,
        ours: Call,
        *,
        unit: str | None = None,
        rounds: int = OURS_ROUNDS,
        calls: int = 1,
        reported: bool = False,
        note: str | None = None,
    ) -> None:
        """Measure fastmetrics without a peer.

        unit: of the measurement that the call returns, if it is not a time in seconds.
        calls: per round.
        reported: the call returns its own measurement, which replaces its time.
        """
        self.record_pair(work, "fastmetrics", note, unit)
        our_times = TimedCall(ours, calls, reported)
        other_work = OtherWork()
        self.benchmark.pedantic(our_times, rounds=rounds, warmup_rounds=1)
        self.benchmark.extra_info |= {"ours": our_times.summary(skip=1), "cores_of_others": other_work.cores()}

    def compare(
        self,
        work: str,
        ours: Call,
        peer: str,
        theirs: Call,
        *,
        within: float | None,
        expected: object = None,
        rounds: int = 3,
        ours_rounds: int = OURS_ROUNDS,
        calls: int = 1,
        reported: bool = False,
        scale: float = 1.0,
        note: str | None = None,
        settle: float = 0.0,
    ) -> None:
        """Time fastmetrics and a peer in turns.

        within: largest relative difference of the two results; None: nothing is compared.
        expected: the result that theirs must return, if it is not that of ours.
        calls, reported: as in `measure`.
        scale: factor on the time of theirs, if it does a part of the work only.
        settle: seconds to wait before our turn, if threads of the peer keep spinning after it has returned.
        """
        if within is not None:
            start = time.perf_counter()
            found = theirs()
            rounds = max(1, min(rounds, int(MOST_SECONDS / (time.perf_counter() - start))))
            assert_close(found, ours() if expected is None else expected, within)
        if note is None and scale != 1.0:
            note = f"extrapolated: the other side did a part of the work, and its time was multiplied by {scale:g}"
        self.record_pair(work, peer, note)
        our_times, peer_times = TimedCall(ours, calls, reported), TimedCall(theirs, calls, reported, scale)
        other_work = OtherWork()
        ours_per_round = -(-ours_rounds // rounds)

        def our_turn() -> None:
            time.sleep(settle)
            for _ in range(ours_per_round):
                our_times()

        self.benchmark.pedantic(peer_times, setup=our_turn, rounds=rounds)
        self.benchmark.extra_info |= {"ours": our_times.summary(), "peer": peer_times.summary()}
        self.benchmark.extra_info["cores_of_others"] = other_work.cores()

    def record_pair(self, work: str, contestant: str, note: str | None, unit: str | None = None) -> None:
        work = work.format(rows=format_count(self.rows), users=format_count(self.rows // ROWS_PER_USER))
        self.benchmark.group = work
        self.benchmark.extra_info |= {"work": work, "contestant": contestant, "note": note, "unit": unit}


def assert_close(theirs: Any, ours: Any, within: float) -> None:
    """Assert that two results agree; tuples are compared item by item."""
    if isinstance(theirs, tuple):
        assert len(theirs) == len(ours)
        for their_item, our_item in zip(theirs, ours, strict=True):
            assert_close(their_item, our_item, within)
    elif theirs is None or isinstance(theirs, str):
        assert theirs == ours
    else:
        np.testing.assert_allclose(theirs, ours, rtol=within, atol=0.0)


class TimedCall:
    """A call that records its time, or the measurement that it returns."""

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
            result = call()
        seconds = time.perf_counter() - start
        self.measured.append(result if self.reported else seconds * self.scale / len(self.calls))

    def summary(self, skip: int = 0) -> dict[str, float]:
        measured = self.measured[skip:]
        return {
            "median": statistics.median(measured), "min": min(measured), "max": max(measured), "rounds": len(measured)
        }  # fmt: skip


def format_count(rows: int) -> str:
    """A number of rows in short: 10M, 200k, 100."""
    for size, letter in ((1_000_000, "M"), (1000, "k")):
        if rows >= size:
            return f"{rows / size:.3g}{letter}"
    return str(rows)
