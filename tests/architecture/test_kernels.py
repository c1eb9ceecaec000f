"""Kernels: loops run without the interpreter's lock, calls can be read, no stub is left of one that is gone."""

import re

import pytest

from architecture.sources import (
    PACKAGE,
    complaints_over,
    listed,
    relative,
    source_files,
    without_comments,
)
from support.cases import each_case

pytestmark = pytest.mark.skipif(not PACKAGE.is_dir(), reason=f"no sources to read: {PACKAGE} is not a directory")

CDEF_FUNCTION = re.compile(
    r"^(?P<indent>[ \t]*)c(?:p)?def[ \t]+(?!class\b|extern\b|struct\b|union\b|enum\b|packed\b|cppclass\b)"
    r"(?P<head>[^\n(=]*?)\b(?P<name>\w+)[ \t]*(?:\[[^\]\n]*\][ \t]*)?\((?P<arguments>[^()]*(?:\([^()]*\)[^()]*)*)\)"
    r"(?P<tail>[^\n:=]*):",
    flags=re.MULTILINE,
)


def loops_that_hold_the_gil(text: str) -> list[str]:
    """A cdef function with a loop is a kernel's core: `noexcept nogil`."""
    text = without_comments(text)
    complaints = []
    for match in CDEF_FUNCTION.finditer(text):
        body = indented_block(text[match.end() :], len(match["indent"].expandtabs()))
        has_loop = re.search(r"^[ \t]*(?:for|while)\b", body, flags=re.MULTILINE)
        if has_loop and not re.search(r"\bnoexcept\s+nogil\b", match["tail"]):
            line = text.count("\n", 0, match.start()) + 1
            complaints.append(f"line {line}: {match['name']} has a loop and is not `noexcept nogil`")
    return complaints


def indented_block(text: str, indent: int) -> str:
    """The rest of the line and the following lines that are indented deeper than `indent`."""
    first, *rest = text.split("\n")
    block = [first]
    for line in rest:
        if line.strip() and len(line.expandtabs()) - len(line.expandtabs().lstrip()) <= indent:
            break
        block.append(line)
    return "\n".join(block)


def test_every_stub_has_a_kernel():
    stubs = source_files("fastmetrics/_kernels", suffixes={".pyi"})
    orphans = [relative(p) for p in stubs if not p.with_suffix(".pyx").is_file()]
    assert not orphans, f"stubs of nothing: {orphans}"


def test_kernel_loops_run_without_the_gil():
    files = source_files("fastmetrics/_kernels", suffixes={".pyx", ".pxd"})
    complaints = complaints_over(files, loops_that_hold_the_gil)
    assert not complaints, listed(complaints)


HOLDS_THE_GIL = {
    "plain": "cdef void f(int n):\n    for i in range(n):\n        pass\n",
    "nogil alone": "cdef int f(int n) nogil:\n    while n:\n        n -= 1\n    return n\n",
    "noexcept alone": "cdef inline int f(int n) noexcept:\n\n    # a comment\n    for i in range(n): pass\n",
    "many lines": "cdef void f(\n    const double[::1] x,\n    int n,\n) noexcept:\n    while n: n -= 1\n",
    "method": "cdef class A:\n    cdef void f(self) noexcept:\n        for i in range(3):\n            pass\n",
    "cpdef": "cpdef void f(int n):\n    for i in range(n):\n        pass\n",
    "in a string": 'cdef void f(int n):\n    """noexcept nogil"""\n    for i in range(n):\n        pass\n',
    "pointer": "cdef double* f(int n):\n    for i in range(n):\n        pass\n",
    "fused": "cdef floating f(floating[::1] x) except -1:\n    for i in range(3):\n        pass\n",
    "except clause with a call": "cdef int f(int n) except? -1 nogil:\n    for i in range(n):\n        pass\n",
}


@each_case("text", HOLDS_THE_GIL.values(), ids=HOLDS_THE_GIL.keys())
def test_loop_that_holds_the_gil_is_found(text):
    assert len(loops_that_hold_the_gil("cdef int x = 3\n\n" + text)) == 1


@each_case(
    "text",
    [
        "cdef inline void f(const double[::1] x, int n) noexcept nogil:\n    for i in range(n):\n        pass\n",
        "cdef void f(\n    int n,\n    double (*g)(double) noexcept nogil,\n) noexcept nogil:\n    while n: n -= 1\n",
        "cdef int f(int n):\n    return n\n\ndef g(n):\n    for i in range(n):\n        pass\n",
        "cdef extern from 'x.h':\n    void f(int n)\ncdef struct A:\n    int x\ncdef enum: B = (1)\n",
        "cdef int f(int n):\n    # for the reader\n    return forward(n)\n",
    ],
)
def test_kernel_core_is_allowed(text):
    assert not loops_that_hold_the_gil(text)


MOST_ARGUMENTS = 12
# A function with more arguments, and files that make a pointer of a number: each with its reason.
POINTERS_OF_NUMBERS = {
    "exchange/group_table.pxd": "the slot of a long text in a key column has the address of its bytes",
    "exchange/hash_partition.pyx": "the slot of a long text in a key column has the address of its bytes",
    "resampling/score_replicates.pyx": "blocks of the range exchange",
    "sweep/mann_whitney.pyx": "blocks of the range exchange",
    "sweep/threshold_sweep.pyx": "blocks of the range exchange",
    "sweep/weighted_sweep.pyx": "blocks of the range exchange",
}
PYTHON_FUNCTION = re.compile(r"^[ \t]*(?:cp)?def[ \t]+(?P<name>\w+)[ \t]*\(", flags=re.MULTILINE)


def arguments_of_functions(text: str) -> list[tuple[str, int]]:
    """The functions and methods that Python calls, and how many arguments each has beside `self`."""
    text = without_comments(text)
    found = []
    for match in PYTHON_FUNCTION.finditer(text):
        depth, parts = 1, [""]
        for character in text[match.end() :]:
            depth += (character in "([{") - (character in ")]}")
            if depth == 0:
                break
            parts = [*parts, ""] if character == "," and depth == 1 else [*parts[:-1], parts[-1] + character]
        named = [part.strip() for part in parts if part.strip() not in ("", "*", "/", "self")]
        found.append((match["name"], len(named)))
    return found


def pointers_of_numbers(text: str) -> list[str]:
    """Casts of a number to a pointer, and numbers that Python passes as addresses."""
    text = without_comments(text)
    casts = re.findall(r"<[^<>\n]*\*[ \t]*>[ \t]*<(?:uintptr_t|size_t|uint64_t)>[^\n]*", text)
    return casts + re.findall(r"^[ \t]*(?:cp)?def[ \t]+\w+[ \t]*\([^)]*\buintptr_t\b[^)]*\)", text, flags=re.MULTILINE)


def kernel_name(path):
    return path.relative_to(PACKAGE / "_kernels").as_posix()


def test_kernels_have_few_arguments():
    """What belongs together is an object, which holds its memory and checks its lengths."""
    complaints = [
        f"{kernel_name(path)}: {name} has {n} arguments; at most {MOST_ARGUMENTS}"
        for path in source_files("fastmetrics/_kernels", suffixes={".pyx"})
        for name, n in arguments_of_functions(path.read_text(encoding="utf-8"))
        if n > MOST_ARGUMENTS
    ]
    assert not complaints, listed(complaints)


def test_no_address_goes_through_python():
    """Kernels get objects that keep the memory alive (columns/column_blocks.pyx)."""
    complaints = [
        f"{kernel_name(path)}: {line.strip()}"
        for path in source_files("fastmetrics/_kernels", suffixes={".pyx", ".pxd"})
        if kernel_name(path) not in POINTERS_OF_NUMBERS
        for line in pointers_of_numbers(path.read_text(encoding="utf-8"))
    ]
    assert not complaints, listed(complaints)


def test_arguments_are_counted():
    text = "def f(int a, const double[:, ::1] b, c=(1, 2)):\n    pass\n"
    text += "cdef class A:\n    def g(self, int a,\n        b,\n    ):\n"
    assert arguments_of_functions(text) == [("f", 3), ("g", 2)]
    assert arguments_of_functions("def f():\n    pass\n") == [("f", 0)]


@each_case("text", ["x = <const double*><uintptr_t>blocks[i]\n", "def f(uintptr_t address):\n    pass\n"])
def test_pointer_of_a_number_is_found(text):
    assert len(pointers_of_numbers(text)) == 1
    assert not pointers_of_numbers("cdef uint64_t f(void* p):\n    return <uint64_t><uintptr_t>p\n")
