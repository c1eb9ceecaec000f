"""A copy of the package whose kernels take the processor for one with SSE2 alone, to compare the bits of results.

On x86-64 Linux, gcc compiles a loop marked FM_WIDE for SSE2, AVX2 and AVX-512. One of them is chosen when the module is
loaded, by the instruction `cpuid`. In the copy, `cpuid` is replaced by `xor eax, eax`, as if the processor had nothing
to say. Nothing is compiled again.
"""

import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from architecture.sources import PACKAGE

CPUID, NOTHING_TO_SAY = b"\x0f\xa2", b"\x31\xc0"
INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\s+cpuid\b", re.MULTILINE)


def copy_with_narrow_registers(folder: Path) -> Path:
    """Copy the package below `folder`, which then comes first in PYTHONPATH. Skips where kernels have one version."""
    disassembler = shutil.which("objdump")
    if sys.platform != "linux" or disassembler is None:
        pytest.skip("needs Linux and objdump")
    copy = folder / PACKAGE.name
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("*.c", "*.pyx", "*.pxd", "*.h", "__pycache__"))
    if not sum(patched(path, disassembler) for path in copy.rglob("*.so")):
        pytest.skip("kernels of this build have one version")
    return folder


def patched(path: Path, disassembler: str) -> bool:
    """Replace `cpuid` in a module. Returns whether it was there."""
    data = bytearray(path.read_bytes())
    if CPUID not in data:
        return False
    start, offset = text_section(data)
    listing = subprocess.run(
        [disassembler, "-d", "-j", ".text", "--no-show-raw-insn", str(path)], check=True, capture_output=True, text=True
    ).stdout
    places = [int(address, 16) - start + offset for address in INSTRUCTION.findall(listing)]
    for place in places:
        assert data[place : place + 2] == CPUID, path
        data[place : place + 2] = NOTHING_TO_SAY
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
