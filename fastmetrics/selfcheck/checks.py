"""Runs all checks, family by family."""

from __future__ import annotations

import random
import time
import traceback
from collections.abc import Callable, Iterable

from fastmetrics._core.optional_imports import install_command
from fastmetrics.selfcheck.outcomes import FamilyOutcome, SelfCheck, SelfCheckReport
from fastmetrics.selfcheck.same_bits import function_checks, metric_checks
from fastmetrics.selfcheck.values import value_checks


def all_checks() -> tuple[list[SelfCheck], dict[str, str]]:
    """The checks that can run here, and why others cannot."""
    checks = [*value_checks(), *function_checks()]
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return checks, {"engine": f"evaluate needs pyarrow, which is not installed; {install_command('arrow')}"}
    return [*checks, *metric_checks()], {}


def run_selfcheck(seed: int = 0, note: Callable[[str], None] | None = None) -> SelfCheckReport:
    """Run all checks; `note` is called with the name of each family before its checks."""
    checks, skipped = all_checks()
    families = list(dict.fromkeys(check.family for check in checks))
    outcomes = []
    for family in families:
        if note is not None:
            note(family)
        outcomes.append(run_family(family, (check for check in checks if check.family == family), seed))
    return SelfCheckReport(seed, outcomes, skipped)


def run_family(family: str, checks: Iterable[SelfCheck], seed: int) -> FamilyOutcome:
    failures, number, started = {}, 0, time.perf_counter()
    for check in checks:
        number += 1
        try:
            check.run(random.Random(f"{seed} {check.name}"))
        except AssertionError as error:
            failures[check.name] = str(error)
        except Exception as error:  # noqa: BLE001 - whatever a broken kernel raises, the others are still checked
            place = traceback.extract_tb(error.__traceback__)[-1]
            failures[check.name] = f"{type(error).__name__}: {error} ({place.name}, line {place.lineno})"
    return FamilyOutcome(family, number, round(time.perf_counter() - started, 3), failures)
