"""Sizes as people write them, and the available memory, read from trees of files like those of real systems."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmetrics._core.exchange import memory_size
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.memory_size import available_memory, default_memory_limit, format_size, parse_size
from support.cases import assert_raises, each_case

KIB, MIB, GIB, TIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40

# ---------------------------------------------------------------------------------------------------- sizes as text


@each_case(
    ("value", "size"),
    [
        ("2GiB", 2 * GIB),
        ("512 MB", 512 * 10**6),
        ("1.5gib", 3 * GIB // 2),
        ("9000000", 9_000_000),
        ("9000000 b", 9_000_000),
        ("6400 KiB", 6400 * KIB),
        ("2000kB", 2_000_000),
        ("2G", 2 * GIB),
        ("2Gi", 2 * GIB),
        ("3m", 3 * MIB),
        ("1.25TB", 125 * 10**10),
        (" 1\tTiB ", TIB),
        ("2.0000005 MB", 2_000_000),
        ("1.1 TiB", 11 * TIB // 10),
        ("9007199254740993", 2**53 + 1),
        (MIB, MIB),
        (np.int64(3 * GIB), 3 * GIB),
        (np.uint32(MIB), MIB),
    ],
)
def test_parse_size(value, size):
    found = parse_size(value, "memory_limit")
    assert found == size
    assert type(found) is int


def test_none_stays_none():
    assert parse_size(None, "memory_limit") is None


@each_case(
    "text",
    ["", "GiB", "2 gigs", "-2GiB", "2 GiB GiB", "1,5 GiB", "1e9", "nan", "2iB", "2PB", ".5GiB", "٢GiB", "1" * 5000],
)
def test_invalid_text(text):
    assert_raises(
        ValueError, r"^memory_limit must be a number of bytes, or a number with .*='2GiB'",
        parse_size, text, "memory_limit",
    )


@each_case("value", [2e9, True, np.True_, b"2GiB", [2], np.float64(2e9), object])
def test_invalid_types(value):
    assert_raises(
        TypeError, r"^cache must be a number of bytes .* of type \w+; .* cache='2GiB'", parse_size, value, "cache"
    )


@each_case("value", [0, -1, MIB - 1, "0", "1MB", "1023.9 KiB", np.int8(100)])
def test_less_than_a_mebibyte(value):
    assert_raises(
        ValueError, r"^memory_limit must be at least 1 MiB \(1048576 bytes\); found .*'2GiB'",
        parse_size, value, "memory_limit",
    )


@each_case(
    ("n", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (KIB, "1 KiB"),
        (3 * GIB // 2, "1.5 GiB"),
        (2 * GIB, "2 GiB"),
        (GIB - 1, "1 GiB"),
        (MIB - KIB, "1023 KiB"),
        (TIB - GIB, "1023 GiB"),
        (5000 * TIB, "5000 TiB"),
    ],
)
def test_format_size(n, text):
    assert format_size(n) == text


@given(st.integers(MIB, 1000 * TIB))
def test_a_formatted_size_is_read_back(n):
    text = format_size(n)
    assert not text.startswith("1024")
    assert abs(parse_size(text, "size") - n) <= n / 20
    assert parse_size(f"{n} b", "size") == parse_size(n, "size") == n


# ------------------------------------------------------------------------------------------------ available memory

MACHINE = 16 * GIB


def write_tree(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")


@pytest.fixture
def system(tmp_path):
    """A function that writes the files of a system and returns the available memory."""

    def ask(own_groups="", machine=MACHINE, **groups):
        proc = {"proc/self/cgroup": own_groups}
        if machine is not None:
            meminfo = f"MemTotal: {64 * GIB // KIB} kB\nMemFree: 1 kB\nMemAvailable: {machine // KIB} kB\nCached: 7 kB"
            proc["proc/meminfo"] = meminfo
        write_tree(tmp_path, proc | {f"cgroup/{name}": text for name, text in groups.pop("files", {}).items()})
        return available_memory(str(tmp_path / "proc"), str(tmp_path / "cgroup"))

    return ask


def version_2(group, limit, used=0, inactive=0, **more):
    files = {
        "memory.max": limit,
        "memory.current": used,
        "memory.stat": f"anon {used}\nnot_inactive_file 5\ninactive_anon 3\ninactive_file {inactive}\nactive_file 9",
    }
    return {f"{group}/{name}": text for name, text in (files | more).items()}


def version_1(group, limit, used=0, inactive=0):
    files = {
        "memory.limit_in_bytes": limit,
        "memory.usage_in_bytes": used,
        "memory.stat": f"cache 5\ninactive_file 1\ntotal_inactive_anon 3\ntotal_inactive_file {inactive}",
    }
    return {f"memory/{group}/{name}": text for name, text in files.items()}


def test_a_machine_without_groups(system):
    assert system() == MACHINE


@pytest.mark.parametrize("version", [1, 2])
def test_a_group_with_a_limit(system, version):
    own, write = {1: ("7:cpu,cpuacct:/x\n4:memory:/jobs/me\n0::/", version_1), 2: ("0::/jobs/me", version_2)}[version]
    assert system(own, files=write("jobs/me", 3 * GIB, 2 * GIB, GIB // 2)) == 3 * GIB // 2
    # A limit above the memory of the machine, and a use above the limit.
    assert system(own, files=write("jobs/me", 300 * GIB, 2 * GIB)) == MACHINE
    assert system(own, files=write("jobs/me", GIB, 2 * GIB)) == 0
    # The cache may be counted later than the use.
    assert system(own, files=write("jobs/me", 3 * GIB, GIB, 2 * GIB)) == 3 * GIB


@pytest.mark.parametrize("version", [1, 2])
def test_a_limit_of_a_parent_group(system, version):
    own, write = {1: ("4:memory:/jobs/team/me", version_1), 2: ("0::/jobs/team/me", version_2)}[version]
    no_limit = {1: 9223372036854771712, 2: "max"}[version]
    files = write("jobs", 2 * GIB, GIB) | write("jobs/team", no_limit) | write("jobs/team/me", 4 * GIB, GIB)
    assert system(own, files=files) == GIB
    assert system(own, files=write("jobs", no_limit)) == 3 * GIB


@each_case("version", [1, 2])
@each_case("path", ["/kubepods/pod1/abc", "/../../abc", "/"])
def test_a_container_sees_its_group_as_the_root(system, version, path):
    own, write = {1: (f"4:memory:{path}", version_1), 2: (f"0::{path}", version_2)}[version]
    assert system(own, files=write(".", 2 * GIB, GIB)) == GIB


def test_sibling_groups_are_ignored(system):
    files = version_2("jobs/me", "max") | version_2("jobs/other", GIB) | version_1("jobs/other", GIB)
    assert system("0::/jobs/me\n3:cpu:/jobs/other", files=files) == MACHINE


def test_a_path_does_not_leave_the_mount(system, tmp_path):
    write_tree(tmp_path, {"memory.max": GIB})
    assert system("0::/../", files={"unified/x": ""}) == MACHINE


def test_both_versions_together(system):
    files = version_1("a", 3 * GIB) | version_2("unified/b", 2 * GIB)
    assert system("4:memory:/a\n0::/b", files=files) == 2 * GIB
    assert system("4:memory:/a\n0::/", files=files) == 3 * GIB


def test_memory_high(system):
    assert system("0::/a", files=version_2("a", 4 * GIB, GIB, **{"memory.high": 3 * GIB})) == 2 * GIB
    assert system("0::/a", files=version_2("a", "max", GIB, **{"memory.high": "max"})) == MACHINE


def test_unreadable_files_set_no_limit(system, tmp_path):
    # A folder in place of the file cannot be read, not even by root.
    (tmp_path / "cgroup" / "a" / "memory.max").mkdir(parents=True)
    assert system("0::/a\nnonsense\n\n:::", files={"memory.max": "many", "memory.high": ""}) == MACHINE
    assert system("0::/b", files={"b/memory.max": 2 * GIB}) == 2 * GIB


def test_an_unknown_machine_with_and_without_limits(system, monkeypatch):
    monkeypatch.setattr(memory_size, "machine_memory", lambda _: None)
    assert system("0::/a", machine=None, files=version_2("a", 2 * GIB)) == 2 * GIB
    assert system("", machine=None) == memory_size.UNKNOWN_MEMORY == 4 * GIB
    assert system("4:memory:/a", machine=None, files=version_1("a", 9223372036854771712)) == 4 * GIB


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has its own call")
def test_a_machine_without_meminfo(system, monkeypatch):
    assert system(machine=None) == memory_size.physical_memory() > MIB
    pages = {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 16384}
    monkeypatch.setattr(memory_size.os, "sysconf", pages.__getitem__)
    assert system(machine=None) == 16_384_000
    pages["SC_PHYS_PAGES"] = -1
    assert system(machine=None) == 4 * GIB
    monkeypatch.delattr(memory_size.os, "sysconf")
    assert system(machine=None) == 4 * GIB


def test_the_default_is_half_and_at_least_64_mib(system, tmp_path):
    system("0::/a", files=version_2("a", 3 * GIB, GIB))
    folders = str(tmp_path / "proc"), str(tmp_path / "cgroup")
    assert default_memory_limit(*folders) == GIB
    system("0::/a", files=version_2("a", GIB, GIB))
    assert default_memory_limit(*folders) == 64 * MIB


def test_the_real_system():
    assert 0 < available_memory() < 1 << 50
    assert default_memory_limit() >= 64 * MIB


ADDRESS_SPACE_PROBE = """
import resource
from fastmetrics._core.exchange.memory_size import available_memory
size = [int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmSize:")][0] << 10
resource.setrlimit(resource.RLIMIT_AS, (size + (300 << 20), resource.RLIM_INFINITY))
# No control groups, so that only this limit counts.
left = available_memory(cgroups="/nowhere")
assert 200 << 20 <= left <= 300 << 20, left
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and a limit that is enforced")
def test_an_address_space_limit():
    if available_memory() < 400 * MIB:
        pytest.skip("too little memory to see the limit")
    run = subprocess.run([sys.executable, "-c", ADDRESS_SPACE_PROBE], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_states_that_cannot_spill_have_a_part_of_their_own():
    """Blocks of rows take what they may before the classes of a log are known: the classes still fit."""
    budget = MemoryBudget(1 << 20, None, 1)
    assert budget.try_reserve(1 << 19)  # blocks
    assert not budget.try_reserve(1)
    assert budget.reserve_state(1 << 18)
    assert budget.reserve_state(1 << 18)
    assert not budget.reserve_state(1)
    budget.release_state(1 << 18)
    assert budget.reserve_state(1 << 18)
    budget.release_state(1 << 19)
    assert not budget.try_reserve(1)
    budget.release(1 << 19)
    assert budget.try_reserve(1 << 19)
