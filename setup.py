"""Builds the kernels: every .pyx below fastmetrics/ is found by glob, so a new kernel needs no edit here.

Switches (environment variables, set to 1):

FASTMETRICS_DEBUG      bounds checks, wraparound checks and -O1, for hunting a bad index
FASTMETRICS_SANITIZE   AddressSanitizer and UndefinedBehaviorSanitizer (gcc, clang)
"""

import os
import sys
import sysconfig
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel

ROOT = Path(__file__).parent
SHARED_UTILITY = "fastmetrics._kernels._cyutility"

DEBUG = os.environ.get("FASTMETRICS_DEBUG") == "1"
SANITIZE = os.environ.get("FASTMETRICS_SANITIZE") == "1"
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
# A free-threaded CPython has no stable ABI; everywhere else one wheel serves 3.11 and later.
LIMITED_API = sys.implementation.name == "cpython" and not FREE_THREADED

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": DEBUG,
    "initializedcheck": DEBUG,
    "cdivision": True,
    "freethreading_compatible": True,
    "embedsignature": True,
}


def compiler_arguments() -> tuple[list[str], list[str]]:
    """Flags for the compiler and the linker. No -march (a wheel runs on every CPU), no fast-math, no fused
    multiply-add: a result must not depend on the machine that computed it."""
    if sys.platform == "win32":
        return (["/Od"] if DEBUG else ["/O2", "/fp:precise"]), []
    compile_args = ["-O1", "-g"] if DEBUG else ["-O3"]
    compile_args += ["-ffp-contract=off", "-fno-math-errno", "-Wno-unused-function"]
    link_args = []
    if SANITIZE:
        flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-g"]
        compile_args += flags
        link_args += flags
    return compile_args, link_args


def extension(name: str, sources: list[str]) -> Extension:
    compile_args, link_args = compiler_arguments()
    return Extension(
        name,
        sources,
        extra_compile_args=compile_args,
        extra_link_args=link_args,
        define_macros=[("Py_LIMITED_API", "0x030B0000")] if LIMITED_API else [],
        py_limited_api=LIMITED_API,
    )


def kernel_extensions() -> list[Extension]:
    os.chdir(ROOT)
    sources = sorted(Path("fastmetrics").glob("**/*.pyx"))
    extensions = [extension(".".join(path.with_suffix("").parts), [path.as_posix()]) for path in sources]
    # Memoryview support is compiled once and imported by every kernel; Cython writes this module's source itself.
    extensions.append(extension(SHARED_UTILITY, []))
    return cythonize(extensions, compiler_directives=DIRECTIVES, shared_utility_qualified_name=SHARED_UTILITY)


class BdistWheel(bdist_wheel):
    def finalize_options(self) -> None:
        if LIMITED_API:
            self.py_limited_api = "cp311"
        super().finalize_options()


setup(
    ext_modules=kernel_extensions(),
    cmdclass={"bdist_wheel": BdistWheel},
    # One compiler a kernel: the kernels know nothing of each other.
    options={"build_ext": {"parallel": os.cpu_count() or 1}},
)
