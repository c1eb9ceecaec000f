"""Elementary functions against exact arithmetic, and with the registers of other processors."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from fastmetrics._core import elementary
from fastmetrics._kernels.ranking import ranked_lists
from support.cases import each_case
from support.machines.narrow_registers import copy_with_narrow_registers

mpmath = pytest.importorskip("mpmath")

N = 84_000  # arguments of each of twelve functions: a million
ANGLES = ("sin", "cos", "tan", "arcsin", "arctan")
BOUNDS = {name: 0.53 if name in ANGLES else 0.52 for name in (*ANGLES, "log", "log1p", "log2", "exp", "exp2", "expm1")}
EXACT = {
    "log": mpmath.log, "log1p": mpmath.log1p, "log2": lambda x: mpmath.log(x) / mpmath.log(2), "exp": mpmath.exp,
    "exp2": lambda x: mpmath.power(2, x), "expm1": mpmath.expm1, "sin": mpmath.sin, "cos": mpmath.cos,
    "tan": mpmath.tan, "arcsin": mpmath.asin, "arctan": mpmath.atan, "power": mpmath.power,
}  # fmt: skip


def arguments(name: str) -> np.ndarray:
    """Of all sizes, near what the function has its zeros at, at the borders of intervals, and hard to round."""
    rng = np.random.default_rng(len(name))
    signs = rng.choice([-1.0, 1.0], N)
    small = signs * np.exp(rng.uniform(-700, 0, N))
    borders = np.arange(1, 1025) / 512
    beside = np.concatenate([borders, np.nextafter(borders, 0), np.nextafter(borders, 3)])
    tiny = np.ldexp(1.0, -np.arange(20, 70))
    tiny = np.concatenate([tiny, -tiny, 3 * tiny, -3 * tiny])
    by_name = {
        "log": (
            np.exp(rng.uniform(-745, 709, N)),
            rng.uniform(0.5, 2, N),
            1 + rng.uniform(-0.01, 0.01, N),
            beside,
            1 + tiny,
        ),
        "log1p": (
            small[small > -1],
            rng.uniform(-0.9, 3, N),
            np.expm1(rng.uniform(-36, 700, N)),
            beside - 1,
            beside,
            tiny,
        ),
        "exp": (rng.uniform(-746, 709.7, N), rng.uniform(-1, 1, N), small, (beside * 128) * np.log(2) / 256, tiny),
        "exp2": (rng.uniform(-1075, 1024, N), rng.uniform(-1, 1, N), small, beside * 4 + 1 / 256, tiny),
        "expm1": (rng.uniform(-60, 709.7, N), rng.uniform(-1, 1, N), small, (beside * 128) * np.log(2) / 256, tiny),
        "arcsin": (rng.uniform(-1, 1, N), small, 1 - np.exp(rng.uniform(-36, -1, N)), beside[beside <= 1], tiny),
        "arctan": (rng.uniform(-4, 4, N), small, 1 / small[np.abs(small) > 1e-300], beside, tiny),
    }
    by_name["log2"] = by_name["log"]
    quarters = np.arange(1, 3000) * (np.pi / 4)
    angles = (
        rng.uniform(-4, 4, N),
        rng.uniform(-1e6, 1e6, N),
        small,
        1 / small[np.abs(small) > 1e-300],
        quarters,
        tiny,
    )
    nearest_to_quarters = float.fromhex("0x1.6ac5b262ca1ffp+849")  # to a multiple of pi / 2, of all doubles
    of_angles = [nearest_to_quarters] if name in ("sin", "cos", "tan") else []
    parts = (*by_name.get(name, angles), [0.5, 1.0, *of_angles])
    values = np.concatenate([rng.choice(part, min(len(part), N // 3), replace=False) for part in parts[::-1]])
    return np.resize(values, N)


def exact_errors(name: str, found: np.ndarray, *columns: np.ndarray) -> list[float]:
    """The distances to the exact values, in units in the last place."""
    errors = []
    for value, row in zip(found.tolist(), zip(*(column.tolist() for column in columns), strict=True), strict=True):
        with mpmath.workprec(1400 if name in ANGLES else 200):
            exact = EXACT[name](*map(mpmath.mpf, row))
            errors.append(float(abs(mpmath.mpf(value) - exact) / np.spacing(max(abs(float(exact)), 2.0**-1022))))
    return errors


def suspicious(name: str, found: np.ndarray, *columns: np.ndarray) -> np.ndarray:
    """The rows of the greatest errors by long doubles, and some others; without long doubles, others alone."""
    others = np.random.default_rng(2).choice(len(found), 400)
    if np.finfo(np.longdouble).nmant < 63:
        return others
    with np.errstate(all="ignore"):
        near = getattr(np, name)(*(column.astype(np.longdouble) for column in columns))
        errors = np.abs(found - near) / np.spacing(np.maximum(np.abs(near.astype(np.float64)), 2.0**-1022))
    errors = np.where(np.isfinite(errors), errors, np.inf)
    return np.concatenate([others, np.argsort(errors)[-200:]])


@each_case("name", BOUNDS)
def test_errors(name):
    values = arguments(name)
    found = getattr(elementary, name)(values)
    rows = suspicious(name, found, values)
    assert max(exact_errors(name, found[rows], values[rows])) < BOUNDS[name]


def pairs() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    x = np.concatenate([
        np.exp(rng.uniform(-5, 5, N // 4)), rng.uniform(0.9, 1.1, N // 4), np.exp(rng.uniform(-700, 700, N // 4)),
        1 + np.exp(rng.uniform(-36, -5, N // 4)) * rng.choice([-1, 1], N // 4),
    ])  # fmt: skip
    return x, rng.uniform(-744, 709, len(x)) / np.log(x)


def test_errors_of_powers():
    x, y = pairs()
    found = elementary.power(x, y)
    rows = suspicious("power", found, x, y)
    assert max(exact_errors("power", found[rows], x[rows], y[rows])) < 0.52


@pytest.mark.slow
@each_case("name", BOUNDS)
def test_errors_of_all_arguments(name):
    values = arguments(name)
    assert max(exact_errors(name, getattr(elementary, name)(values), values)) < BOUNDS[name]


@pytest.mark.slow
def test_errors_of_all_powers():
    x, y = pairs()
    assert max(exact_errors("power", elementary.power(x, y), x, y)) < 0.52


def test_discounts_of_ranks_are_rounded_correctly():
    n = 2**20
    weights = ranked_lists.RankWeights(2.0, n, n).weights
    if np.finfo(np.longdouble).nmant < 63:
        rows = np.random.default_rng(0).choice(n, 2000)
    else:
        exact = np.log2(np.arange(2, n + 2).astype(np.longdouble))
        nearest = exact.astype(np.float64)
        unsure = np.abs(np.abs(exact - nearest) / np.spacing(nearest) - 0.5) < 0.002
        assert (weights[~unsure] == 1 / nearest[~unsure]).all()
        rows = np.flatnonzero(unsure)
    with mpmath.workprec(200):
        assert [1 / float(mpmath.log(int(row) + 2) / mpmath.log(2)) for row in rows] == weights[rows].tolist()


PRINT_HASHES = """
import sys
import numpy as np
from core.test_elementary_errors import hashes
print(*hashes())
"""


def hashes() -> list[str]:
    results = [getattr(elementary, name)(arguments(name)) for name in BOUNDS]
    x, y = pairs()
    results += [elementary.power(x, y), elementary.power(x, 0.7), elementary.power(2.5, y)]
    return [hashlib.sha256(result.tobytes()).hexdigest() for result in results]


@each_case("level", ["SSE2", "AVX2"])
def test_same_bits_with_narrow_registers(tmp_path, level):
    folder = copy_with_narrow_registers(tmp_path, level)
    paths = os.pathsep.join([str(folder), *sys.path])
    command = [sys.executable, "-P", "-c", PRINT_HASHES]
    run = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths})
    assert run.stdout.split() == hashes()


@each_case("name", BOUNDS)
def test_same_bits_in_every_lane(name):
    function = getattr(elementary, name)
    values = arguments(name)[:64]
    for start in range(17):
        assert function(values[start:]).tolist() == [function(value) for value in values[start:].tolist()]


def test_powers_have_the_same_bits_alone():
    x, y = (np.append(column[::60], [0.0, 2.0, 5e-324, np.inf]) for column in pairs())
    assert elementary.power(x, y).tolist() == [
        elementary.power(*row) for row in zip(x.tolist(), y.tolist(), strict=True)
    ]
    for exponent in (0.3, 0.0, -2.0, 1e-30, 1e300):
        assert elementary.power(x, exponent).tolist() == [elementary.power(value, exponent) for value in x.tolist()]
    for base in (2.5, 1.0, 0.0, -3.0, 5e-324, np.inf):
        found, alone = elementary.power(base, y), [elementary.power(base, value) for value in y.tolist()]
        np.testing.assert_array_equal(found, alone)
