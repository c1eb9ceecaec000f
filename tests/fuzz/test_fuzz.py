"""Random cases of every target, for ten minutes in all, and some seeds that always run.

`pytest tests/fuzz -m fuzz` takes new seeds each time; FASTMETRICS_FUZZ_SECONDS changes the ten minutes. The seed of a
failure is printed with the command that repeats it. Once mended, it is added to seeds.json.
"""

import faulthandler
import json
import os
import random
import time
from pathlib import Path

import pytest

from support.hostile.fuzz_targets import TARGETS, run_case

SEEDS = json.loads((Path(__file__).parent / "seeds.json").read_text())
SECONDS = float(os.environ.get("FASTMETRICS_FUZZ_SECONDS", "600"))
LONGEST_CASE = 60  # seconds: a case that takes longer hangs, and the process ends with its place


def run_seed(target: str, seed: int, folder: Path) -> None:
    try:
        run_case(target, seed, folder)
    except Exception as error:
        error.add_note(f"repeat it: PYTHONPATH=tests python -m support.hostile.fuzz_targets {target} {seed}")
        raise


@pytest.mark.fuzz
@pytest.mark.parametrize("target", TARGETS)
def test_new_seeds(target, tmp_path):
    end = time.monotonic() + SECONDS / len(TARGETS)
    try:
        while time.monotonic() < end:
            faulthandler.dump_traceback_later(LONGEST_CASE, exit=True)
            run_seed(target, random.SystemRandom().getrandbits(48), tmp_path)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.mark.parametrize("target", TARGETS)
def test_kept_seeds(target, tmp_path):
    for seed in SEEDS[target]:
        run_seed(target, seed, tmp_path)
