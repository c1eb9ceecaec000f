"""A check, and the outcome of checks by family."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from fastmetrics._core.named_tuples import NamedTuple

CheckFunction = Callable[[random.Random], object]


class SelfCheck(NamedTuple):
    """A check: the family it counts for, its name, and what it does; it raises AssertionError if it fails."""

    family: str
    name: str
    run: CheckFunction


def without_seed(run: Callable[[], object]) -> CheckFunction:
    """A check that draws nothing."""
    return lambda _: run()


class FamilyOutcome(NamedTuple):
    """The checks of a family: how many there were, their seconds, and what failed, by name."""

    family: str
    checks: int
    seconds: float
    failures: dict[str, str]


class SelfCheckReport(NamedTuple):
    """The outcome of all checks."""

    seed: int
    families: list[FamilyOutcome]
    skipped: dict[str, str]

    @property
    def failures(self) -> dict[str, str]:
        return {name: text for family in self.families for name, text in family.failures.items()}

    def to_dict(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "families": [family._asdict() for family in self.families],
            "skipped": self.skipped,
            "passed": not self.failures,
        }
