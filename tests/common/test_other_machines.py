"""The same bits on other machines: another processor, another C library and another BLAS, each put in its place.

A child process computes all metrics of the registry with their intervals, and all values that tests/golden
stores. NumPy's functions for wide registers are switched off, so that it asks the C library; a preloaded library moves
every result of that by one unit in the last place; OpenBLAS takes the kernel of another processor; our own kernels take
their versions for narrower registers.
"""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fastmetrics._kernels.clustering.distances import widest_registers
from fastmetrics.testing.sample_logs import sample_log
from support.cases import each_case
from support.machines.narrow_registers import copy_with_narrow_registers

MACHINES = Path(__file__).resolve().parents[1] / "support" / "machines"
SOURCE = MACHINES / "moved_libm.c"
PATHS = os.pathsep.join([str(MACHINES.parents[1]), str(MACHINES.parents[2])])  # of tests, and of the library
ROWS = 2000
LEVELS = ("SSE2", "AVX2", "AVX-512")  # the place is what `widest_registers()` returns
PATIENCE = 300  # seconds; generous, for a busy machine


def switchable_features():
    """What NumPy chooses by this processor, and can do without."""
    core = np._core if hasattr(np, "_core") else np.core
    umath = core._multiarray_umath
    return [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__.get(name)]


def other_libm(folder):
    """The library that moves results, compiled."""
    library = folder / "moved_libm.so"
    command = [
        "gcc",
        "-shared",
        "-fPIC",
        "-O1",
        "-fno-builtin",
        "-o",
        library,
        MACHINES / "moved_libm.c",
        "-lm",
        "-ldl",
    ]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"needs gcc, which compiles another C library: {error}")
    return str(library)


class Machines:
    """The values of each machine, computed once."""

    def __init__(self, folder):
        self.folder = folder
        self.log = folder / "log.pickle"
        self.log.write_bytes(pickle.dumps(sample_log(ROWS)))
        self.found = {}

    def environment(self, name):
        narrow = {"NPY_DISABLE_CPU_FEATURES": ",".join(switchable_features())}
        if name == "this":
            return {}
        if name == "narrow":
            return narrow
        if name == "other libm":
            return {**narrow, "LD_PRELOAD": other_libm(self.folder)}
        if name in LEVELS:
            copy = copy_with_narrow_registers(self.folder / name, name)
            return {"PYTHONPATH": os.pathsep.join([str(copy), PATHS])}
        return {"OPENBLAS_CORETYPE": "Prescott"}

    def __getitem__(self, name):
        if name not in self.found:
            # Constants such as 2.0**-52 are computed by the compiler: what another library makes of them is not kept.
            options = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": PATHS, **self.environment(name)}
            command = [sys.executable, str(MACHINES / "values.py"), str(self.log)]
            run = subprocess.run(
                command, env={**os.environ, **options}, capture_output=True, text=True, timeout=PATIENCE, check=False
            )
            assert run.returncode == 0, run.stderr
            self.found[name] = json.loads(run.stdout)
        return self.found[name]


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    return Machines(tmp_path_factory.mktemp("machines"))


def differences(one, other):
    assert one.keys() == other.keys()
    return {name: (value, other[name]) for name, value in one.items() if value != other[name]}


def test_all_values_are_there(machines):
    values = machines["this"]["values"]
    assert len(values) > 2500
    failed = [name for name, value in values.items() if name.startswith(("evaluate ", "power(")) and "'error'" in value]
    assert failed == []
    assert sum("'error'" not in value for name, value in values.items() if name.startswith("interval ")) > 50


@pytest.mark.skipif(not switchable_features(), reason="NumPy has one version of its functions for this processor")
def test_narrow_registers(machines):
    assert differences(machines["this"]["values"], machines["narrow"]["values"]) == {}


@pytest.mark.skipif(sys.platform != "linux", reason="a library is put before the C library's by Linux's LD_PRELOAD")
def test_another_c_library(machines):
    other = machines["other libm"]
    mine = machines["narrow"] if switchable_features() else machines["this"]
    assert not {*other["platform"]["libm"]} & {*mine["platform"]["libm"]}, "the other library is not used"
    assert all(a != b for a, b in zip(other["platform"]["numpy"], mine["platform"]["numpy"], strict=True))
    assert differences(machines["this"]["values"], other["values"]) == {}


@pytest.mark.skipif(
    "AVX2" not in str(switchable_features()) and "X86_V3" not in switchable_features(), reason="no AVX2"
)
def test_another_blas(machines):
    other = machines["other BLAS"]
    if other["platform"]["blas"] == machines["this"]["platform"]["blas"]:
        pytest.skip("NumPy's BLAS has no other kernel")
    assert differences(machines["this"]["values"], other["values"]) == {}


@pytest.mark.slow
@pytest.mark.skipif(widest_registers() == 0, reason="kernels have no wider registers than SSE2's here")
@each_case("level", LEVELS[: widest_registers()])
def test_kernels_of_narrower_registers(machines, level):
    other = machines[level]
    assert other["platform"] == {**machines["this"]["platform"], "registers": LEVELS.index(level)}
    assert differences(machines["this"]["values"], other["values"]) == {}
