"""Memory sizes as people write them, and the memory that the system still gives this process.

A container's limit is in its control group, not in /proc/meminfo. A batch system often limits the address space. So all
limits are read, and the least one counts. A file that cannot be read sets no limit: a limit that is too large makes a
run slow, an error would end it.
"""

from __future__ import annotations

import operator
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from fastmetrics._core.named_tuples import NamedTuple

SMALLEST_LIMIT = 1 << 20
SMALLEST_DEFAULT = 64 << 20
UNKNOWN_MEMORY = 4 << 30
# The kernel writes "no limit" as a number near 2**63 too, rounded to pages of whatever size.
NO_LIMIT = 1 << 60

PREFIXES = ("", "k", "m", "g", "t")
BINARY_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def parse_size(value: int | str | None, name: str) -> int | None:
    """The bytes of a size: an integer, or text such as "2GiB", "512 MB" or "900000". None stays None.

    KB, MB, GB and TB are powers of 1000; KiB, MiB, GiB and TiB are powers of 1024. Short forms without the B, "2G" and
    "2Gi", are powers of 1024, as Java, Docker and GNU tools read "2G". Case and spaces do not matter, and a fraction of
    a byte is dropped. `name` is the argument's name in errors: TypeError for values of other types, ValueError for text
    that cannot be read and for sizes below 1 MiB.
    """
    if value is None:
        return None
    size = parse_text(value, name) if isinstance(value, str) else parse_integer(value, name)
    if size < SMALLEST_LIMIT:
        raise ValueError(
            f"{name} must be at least {format_size(SMALLEST_LIMIT)} ({SMALLEST_LIMIT} bytes); found {value!r}; "
            f"write for example {name}='2GiB'"
        )
    return size


def parse_integer(value: Any, name: str) -> int:
    """The bytes of an integer of any type, including NumPy's. True is not accepted."""
    size: int | None = None
    if not isinstance(value, (bool, np.bool)):
        with suppress(TypeError):
            size = operator.index(value)
    if size is not None:
        return size
    raise TypeError(
        f"{name} must be a number of bytes or text with a unit; found {value!r} of type {type(value).__name__}; "
        f"write for example {name}='2GiB'"
    )


def parse_text(text: str, name: str) -> int:
    """The bytes of a size as text. The arithmetic is in integers, so that no digit is lost."""
    # The number of digits is bounded: with some thousands, int() raises an error that does not name the argument.
    pattern = r"\s*([0-9]{1,99})(?:\.([0-9]{1,99}))?\s*(?:([kmgt]?)(b?)|([kmgt])ib?)\s*"
    match = re.fullmatch(pattern, text, flags=re.IGNORECASE)
    if match is None:
        raise ValueError(
            f"{name} must be a number of bytes, or a number with one of the units KB, MB, GB, TB, KiB, MiB, GiB, TiB; "
            f"found {text!r}; write for example {name}='2GiB'"
        )
    whole, fraction, prefix, byte, binary_prefix = (group or "" for group in match.groups())
    base = 1000 if prefix and byte else 1024
    unit: int = base ** PREFIXES.index((prefix or binary_prefix).lower())
    return int(whole + fraction) * unit // int(10 ** len(fraction))


def format_size(n: int) -> str:
    """A number of bytes as text, in powers of 1024 with at most one decimal: 1.5 GiB."""
    power = 0
    tenths = n * 10
    while tenths >= 10240 and power + 1 < len(BINARY_UNITS):
        power += 1
        # Rounded before the comparison, so that the largest number of KiB is 1023.9 and never 1024.
        tenths = (n * 10 + (1 << (10 * power - 1))) >> (10 * power)
    whole, tenth = divmod(tenths, 10)
    return f"{whole}.{tenth} {BINARY_UNITS[power]}" if tenth else f"{whole} {BINARY_UNITS[power]}"


def default_memory_limit(proc: str = "/proc", cgroups: str = "/sys/fs/cgroup") -> int:
    """Half of the available memory, at least 64 MiB. The rest is for the caller's arrays and other processes."""
    return max(SMALLEST_DEFAULT, available_memory(proc, cgroups) // 2)


def available_memory(proc: str = "/proc", cgroups: str = "/sys/fs/cgroup") -> int:
    """The bytes that this process can still use before it swaps, gets no more memory or is killed.

    The least of three: the memory that the machine has available, the memory left in each control group of the process
    (versions 1 and 2, with all parent groups), and the address space left (`ulimit -v`). 4 GiB if nothing is known.

    `proc` and `cgroups` are the folders in which the system publishes its state; tests use others.
    """
    remaining = [machine_memory(proc), address_space_left(proc), *groups_left(proc, cgroups)]
    return max(0, min((n_bytes for n_bytes in remaining if n_bytes is not None), default=UNKNOWN_MEMORY))


def machine_memory(proc: str) -> int | None:
    """The available memory of the machine if the system reports it, otherwise all its memory."""
    available = read_field(f"{proc}/meminfo", "MemAvailable:")
    if available is not None:
        return available
    if sys.platform == "win32":
        return windows_memory()
    else:
        return physical_memory()


def physical_memory() -> int | None:
    """All memory of the machine, for systems without a call that reports free memory (macOS)."""
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
    return size if size > 0 else None


def windows_memory() -> int | None:
    """The free physical memory, but at most what the process may still commit."""
    if sys.platform == "win32":
        import ctypes

        class MemoryStatus(ctypes.Structure):
            _fields_ = (
                ("length", ctypes.c_ulong),
                ("load", ctypes.c_ulong),
                *((name, ctypes.c_ulonglong) for name in ("physical", "physical_free", "commit", "commit_free")),
                *((name, ctypes.c_ulonglong) for name in ("virtual", "virtual_free", "extended_free")),
            )

        status = MemoryStatus(length=ctypes.sizeof(MemoryStatus))
        if ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
            return min(int(status.physical_free), int(status.commit_free))
    return None


def address_space_left(proc: str) -> int | None:
    """The address-space limit minus the mapped address space; None without a limit."""
    if sys.platform == "win32":
        return None
    else:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY or limit >= NO_LIMIT:
            return None
        return limit - (read_field(f"{proc}/self/status", "VmSize:") or 0)


class GroupFiles(NamedTuple):
    """The files in which a control group of one version publishes its limits, its use and its reclaimable cache."""

    limits: tuple[str, ...]
    usage: str
    reclaimable: str


# Above memory.high, memory is still given, but the kernel slows the process down until it is below again.
VERSION_1 = GroupFiles(("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_inactive_file")
VERSION_2 = GroupFiles(("memory.max", "memory.high"), "memory.current", "inactive_file")


def groups_left(proc: str, cgroups: str) -> Iterator[int]:
    """The memory left in each control group of this process that has a limit."""
    for line in read_lines(f"{proc}/self/cgroup"):
        hierarchy, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if "memory" in controllers.split(","):
            mounts, files = [f"{cgroups}/memory"], VERSION_1
        elif hierarchy == "0" and not controllers:
            mounts, files = [cgroups, f"{cgroups}/unified"], VERSION_2
        else:
            continue
        for mount in mounts:
            for folder in group_folders(mount, path):
                left = group_left(folder, files)
                if left is not None:
                    yield left


def group_folders(mount: str, path: str) -> Iterator[str]:
    """The folder of the mount's root group and of every group down to the process's own.

    In a container the path is often that of the host, while the mount has only the container's group: then only the
    root exists, and it is the right group. Outside of a namespace paths begin with "/..", a group that this process
    cannot see.
    """
    folder = mount
    yield folder
    for name in path.split("/"):
        if name == "..":
            return
        if name:
            folder = f"{folder}/{name}"
            yield folder


def group_left(folder: str, files: GroupFiles) -> int | None:
    """A group's limit minus its use without reclaimable file cache; None without a limit."""
    limits = [read_number(f"{folder}/{limit}") for limit in files.limits]
    limit = min((limit for limit in limits if limit is not None and limit < NO_LIMIT), default=None)
    if limit is None:
        return None
    usage = read_number(f"{folder}/{files.usage}") or 0
    reclaimable = read_field(f"{folder}/memory.stat", files.reclaimable) or 0
    return limit - max(0, usage - reclaimable)


def read_lines(path: str) -> list[str]:
    """The lines of a small system file; none if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read().splitlines()
    except OSError:
        return []


def read_number(path: str) -> int | None:
    """The number in a file of one line; None if it has no number, for instance "max"."""
    return parse_number("".join(read_lines(path)[:1]).split())


def read_field(path: str, field: str) -> int | None:
    """The number after a field's name, in bytes. A "kB" of the kernel is 1024 bytes."""
    for line in read_lines(path):
        words = line.split()
        if words and words[0] == field:
            return parse_number(words[1:])
    return None


def parse_number(words: list[str]) -> int | None:
    """The bytes of a number with an optional unit; None if there is no number."""
    if not words or not words[0].isdecimal():
        return None
    return int(words[0]) * (1024 if words[1:] == ["kB"] else 1)
