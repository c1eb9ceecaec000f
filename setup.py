"""Build the kernels. Every .pyx file below fastmetrics/ is found by glob: a new kernel needs no edit here.

    pip install -e .                          editable install, kernels beside their sources
    python setup.py build_ext --inplace       the kernels alone

Kernels are built in parallel. A kernel is built again when one of the files that it includes or cimports is newer than
its module, or when the flags have changed. `build/kernel_flags.json` records the flags of the last build.

Switches (environment variables, set to 1; unset means a release build: no checks, no debug information):

FASTMETRICS_DEBUG      bounds checks, wraparound checks, -O1 and -g, to find a wrong index
FASTMETRICS_SANITIZE   AddressSanitizer and UndefinedBehaviorSanitizer (gcc, clang)
"""

import gc
import gzip
import json
import os
import re
import sys
import sysconfig
import tarfile
from functools import cache
from pathlib import Path

import Cython
from Cython.Build import cythonize
from Cython.Compiler import Options
from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

ROOT = Path(__file__).parent
KERNELS = Path("fastmetrics/_kernels")
SHARED_UTILITY = "fastmetrics._kernels._cyutility"
FLAGS_FILE = Path("build/kernel_flags.json")

DEBUG = os.environ.get("FASTMETRICS_DEBUG") == "1"
SANITIZE = os.environ.get("FASTMETRICS_SANITIZE") == "1"
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
# A free-threaded CPython has no stable ABI; everywhere else one wheel serves 3.11 and later.
LIMITED_API = sys.implementation.name == "cpython" and not FREE_THREADED
N_JOBS = os.cpu_count() or 1
# gcc's -O2 with the vectorizer of -O3 makes kernels of five sixths of the size that are as fast. These gain by -O3.
GAIN_BY_O3 = {
    f"fastmetrics._kernels.{name}"
    for name in (
        "clustering.dispersion", "clustering.label_cells", "formats.trec_files", "ranking.ranked_lists",
        "resampling.poisson_weights", "resampling.score_replicates", "resampling.segment_sums",
        "resampling.weighted_replicates", "text.bleu_ngrams", "text.chrf_ngrams", "text.rouge",
        "text.tokens.text_blocks", "text.tokens.tokenizers", "text.tokens.vocabulary",
    )
}  # fmt: skip
# Archives carry this date in place of the time of the build. A zip file cannot hold an earlier one than 1980-01-01.
EPOCH = int(os.environ.setdefault("SOURCE_DATE_EPOCH", "315532800"))

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": DEBUG,
    "initializedcheck": DEBUG,
    "cdivision": True,
    "freethreading_compatible": True,
    # Kernels are plain built-in functions: smaller, and called as fast.
    "binding": False,
    # Objects of kernels hold memory and are not pickled: Python says so by itself.
    "auto_pickle": False,
}
# Docstrings of kernels are read in their sources. In the modules they would be a fiftieth of the package.
Options.docstrings = False

INCLUDE = re.compile(r"""^\s*(?:\#\s*include|include|cdef\s+extern\s+from)\s+["']([^"'\n]+)["']""", re.MULTILINE)
CIMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+cimport|cimport\s+([\w.]+))\b", re.MULTILINE)


def is_gcc() -> bool:
    """gcc on Linux. Other compilers have other names for what a vectorizer may cost."""
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or ""
    return sys.platform == "linux" and "clang" not in compiler


def compiler_arguments(name: str = "") -> tuple[list[str], list[str]]:
    """Flags for the compiler and the linker, of one kernel or of most.

    No -march (a wheel runs on every CPU), no fast-math, no fused multiply-add: a result must not depend on the machine
    that computed it.
    """
    if sys.platform == "win32":
        return (["/Od"] if DEBUG else ["/O2", "/fp:precise"]), []
    # CPython's own flags contain -g. Debug information would be three quarters of a kernel's size; -g0 comes later
    # on the command line and removes it.
    if DEBUG:
        compile_args = ["-O1", "-g"]
    elif is_gcc() and name not in GAIN_BY_O3:
        compile_args = ["-O2", "-fvect-cost-model=dynamic", "-g0"]
    else:
        compile_args = ["-O3", "-g0"]
    compile_args += ["-ffp-contract=off", "-fno-math-errno", "-Wno-unused-function"]
    # A short loop takes up to half as long again if it lies across two lines of the instruction cache.
    compile_args += ["-falign-functions=32", "-falign-loops=32"]
    # Symbols and unwind tables are needed by debuggers and profilers alone (C has no exceptions); without them a kernel
    # is a tenth smaller. Code and constants in one segment save a page of padding in each kernel, and calls of Python
    # without a table of jumps a kilobyte.
    link_args = []
    if sys.platform == "linux" and not (DEBUG or SANITIZE):
        compile_args += ["-fno-asynchronous-unwind-tables", "-fno-plt"]
        link_args.append("-Wl,-s,-z,noseparate-code")
    if SANITIZE:
        flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-g"]
        compile_args += flags
        link_args += flags
    return compile_args, link_args


@cache
def files_named_in(path: Path) -> frozenset[Path]:
    """Files of the package that `path` includes or cimports, and a kernel's own .pxd file."""
    text = path.read_text(encoding="utf-8")
    candidates = [folder / name for name in INCLUDE.findall(text) for folder in (path.parent, KERNELS)]
    candidates += [
        Path(*(absolute or plain).split(".")).with_suffix(".pxd") for absolute, plain in CIMPORT.findall(text)
    ]
    if path.suffix == ".pyx":
        candidates.append(path.with_suffix(".pxd"))
    return frozenset(candidate for candidate in candidates if candidate.is_file())


def dependencies(source: Path) -> list[str]:
    """All files that a kernel is built from, apart from its own source. Headers are followed, too.

    cythonize() would list the headers named in .pyx and .pxd files alone, and by names that are not relative to the
    working folder: every kernel would look out of date.
    """
    found: set[Path] = set()
    waiting = [source]
    while waiting:
        new = files_named_in(waiting.pop()) - found
        found |= new
        waiting += new
    return sorted(path.as_posix() for path in found)


def extension(name: str, sources: list[str]) -> Extension:
    compile_args, link_args = compiler_arguments(name)
    return Extension(
        name,
        sources,
        extra_compile_args=compile_args,
        extra_link_args=link_args,
        # Headers of another family are included by their path: "numeric/vector_math.h".
        include_dirs=[KERNELS.as_posix()],
        define_macros=[("Py_LIMITED_API", "0x030B0000")] if LIMITED_API else [],
        py_limited_api=LIMITED_API,
    )


def record_flags() -> None:
    """Write FLAGS_FILE if the flags or Cython's version differ from those of the last build.

    Every kernel depends on this file, so a build with other flags builds all kernels.
    """
    compile_args, link_args = compiler_arguments()
    compiler = {name: os.environ.get(name, "") for name in ("CC", "CFLAGS", "CPPFLAGS", "LDFLAGS")}
    flags = {"compiler": compiler, "compile": compile_args, "link": link_args, "directives": DIRECTIVES}
    flags["cython"] = Cython.__version__
    flags["-O3"] = sorted(GAIN_BY_O3)
    text = json.dumps(flags, indent=1) + "\n"
    if not FLAGS_FILE.is_file() or FLAGS_FILE.read_text(encoding="utf-8") != text:
        FLAGS_FILE.parent.mkdir(parents=True, exist_ok=True)
        FLAGS_FILE.write_text(text, encoding="utf-8")


def is_current(source: Path) -> bool:
    """Was the kernel's C file written after the last change of the flags and of every file it is made from?

    cythonize() would also look at the .pxd files of Cython and NumPy. pip installs those anew for every isolated
    build, so every kernel would look out of date.
    """
    c_file = source.with_suffix(".c")
    origins = [FLAGS_FILE]
    if source.is_file():  # the shared utility has none
        origins += [source, *map(Path, dependencies(source))]
    return c_file.is_file() and all(path.stat().st_mtime <= c_file.stat().st_mtime for path in origins)


def kernel_extensions() -> list[Extension]:
    os.chdir(ROOT)
    record_flags()
    sources = sorted(Path("fastmetrics").glob("**/*.pyx"))
    current = {source for source in sources if is_current(source)}
    names = {source: ".".join(source.with_suffix("").parts) for source in sources}
    extensions = [extension(names[source], [source.with_suffix(".c").as_posix()]) for source in current]
    stale = [extension(names[source], [source.as_posix()]) for source in sources if source not in current]
    # Memoryview support is compiled once and imported by every kernel; Cython writes this module's source itself.
    utility = Path(*SHARED_UTILITY.split(".")).with_suffix(".pyx")
    if is_current(utility):
        extensions.append(extension(SHARED_UTILITY, [utility.with_suffix(".c").as_posix()]))
    else:
        stale.append(extension(SHARED_UTILITY, []))
    if stale:
        # Cython makes millions of objects that live to its end: looking for garbage would take a third of its time.
        gc.disable()
        extensions += cythonize(
            stale,
            compiler_directives=DIRECTIVES,
            shared_utility_qualified_name=SHARED_UTILITY,
            nthreads=N_JOBS,
            force=True,
        )
        gc.enable()
    for built in extensions:
        source = Path(*built.name.split(".")).with_suffix(".pyx")
        built.depends = [FLAGS_FILE.as_posix()] + (dependencies(source) if source.is_file() else [])
    return sorted(extensions, key=lambda built: built.name)


class BuildExt(build_ext):
    """An in-place build writes a module where it is used, and leaves it alone if it is up to date.

    setuptools would build all modules in a folder that is empty or temporary, and copy them.
    """

    def run(self) -> None:
        if self.inplace:
            self.build_lib = os.curdir
        super().run()

    def copy_extensions_to_source(self) -> None:
        """Nothing to copy: the modules are there."""


class BdistWheel(bdist_wheel):
    """A wheel for the stable ABI, with the same bytes from every folder, at every time, under every umask."""

    def finalize_options(self) -> None:
        if LIMITED_API:
            self.py_limited_api = "cp311"
        super().finalize_options()

    def write_wheelfile(self, wheelfile_base: str, *args: str) -> None:
        """The last step before all files are packed. setuptools sorts them and reads the date itself."""
        super().write_wheelfile(wheelfile_base, *args)
        for path in Path(self.bdist_dir).rglob("*"):
            path.chmod(0o755 if path.is_dir() or path.suffix == ".so" else 0o644)


class Sdist(sdist):
    """An archive of the sources with the same bytes from every folder, at every time, for every user."""

    def make_archive(
        self,
        base_name: str,
        format: str,  # noqa: A002, the name of setuptools
        root_dir: str | None = None,
        base_dir: str | None = None,
        owner: str | None = None,
        group: str | None = None,
    ) -> str:
        if format != "gztar" or root_dir is not None:
            return super().make_archive(base_name, format, root_dir, base_dir, owner, group)
        archive = f"{base_name}.tar.gz"
        Path(archive).parent.mkdir(parents=True, exist_ok=True)
        with (
            open(archive, "wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=EPOCH) as compressed,
            tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as tar,
        ):
            for path in sorted(path for path in Path(base_dir).rglob("*") if path.is_file()):
                tar.add(path, path.as_posix(), filter=anonymous)
        return archive


def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """A member without user, time and umask."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = EPOCH
    member.mode = 0o644
    return member


# What reads the sources alone compiles nothing.
WITHOUT_KERNELS = sys.argv[1:2] in (["egg_info"], ["sdist"])

setup(
    ext_modules=[] if WITHOUT_KERNELS else kernel_extensions(),
    cmdclass={"bdist_wheel": BdistWheel, "build_ext": BuildExt, "sdist": Sdist},
    options={"build_ext": {"parallel": N_JOBS}},
)
