"""Copies of the package whose kernels take the processor for one with narrower registers, to compare bits of results.

On x86-64 Linux, gcc compiles a loop marked FM_WIDE for SSE2, AVX2 and AVX-512. One of them is chosen when the module is
loaded, by the instructions `cpuid`, for what the processor has, and `xgetbv`, for what the system saves. For SSE2,
`cpuid` is replaced by `xor eax, eax`, as if the processor had nothing to say; for AVX2, `xgetbv` by `mov al, 7`, as if
the system saved the registers of AVX2 alone. Nothing is compiled again.
"""

import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from architecture.sources import PACKAGE

# By level: the instruction's name and bytes, and the bytes that take its place.
REPLACED = {
    "SSE2": ("cpuid", b"\x0f\xa2", b"\x31\xc0"),
    "AVX2": ("xgetbv", b"\x0f\x01\xd0", b"\xb0\x07\x90"),
}


def copy_with_narrow_registers(folder: Path, level: str = "SSE2") -> Path:
    """Copy the package below `folder`, which then comes first in PYTHONPATH. Skips where kernels have one version."""
    disassembler = shutil.which("objdump")
    if sys.platform != "linux" or disassembler is None:
        pytest.skip("needs Linux and objdump")
    copy = folder / PACKAGE.name
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("*.c", "*.pyx", "*.pxd", "*.h", "__pycache__"))
    if not sum(patched(path, disassembler, *REPLACED[level]) for path in copy.rglob("*.so")):
        pytest.skip("kernels of this build have one version")
    return folder


def patched(path: Path, disassembler: str, name: str, instruction: bytes, other: bytes) -> bool:
    """Replace an instruction in a module. Returns whether it was there."""
    data = bytearray(path.read_bytes())
    if instruction not in data:
        return False
    start, offset = text_section(data)
    listing = subprocess.run(
        [disassembler, "-d", "-j", ".text", "--no-show-raw-insn", str(path)], check=True, capture_output=True, text=True
    ).stdout
    addresses = re.findall(rf"^ *([0-9a-f]+):\s+{name}\b", listing, re.MULTILINE)
    places = [int(address, 16) - start + offset for address in addresses]
    for place in places:
        assert data[place : place + len(instruction)] == instruction, path
        data[place : place + len(other)] = other
    path.write_bytes(data)
    return bool(places)


def text_section(data: bytes | bytearray) -> tuple[int, int]:
    """The address of the section .text of a 64-bit ELF file, and its place in the file."""
    (headers_start,) = struct.unpack_from("<Q", data, 0x28)
    header_size, n_sections, names_index = struct.unpack_from("<3H", data, 0x3A)
    headers = [struct.unpack_from("<2I4Q", data, headers_start + i * header_size) for i in range(n_sections)]
    names = headers[names_index][4]
    for name, _, _, address, offset, _ in headers:
        if data[names + name :].startswith(b".text\0"):
            return address, offset
    raise ValueError("no section .text")
