"""What this machine and this installation have, as data and as text. It needs neither typer nor rich nor pyarrow."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

import fastmetrics
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import DISTRIBUTION, install_command, version_key

# What each extra is for, in the order of the list. Extras that are not here are for the project's own work.
PURPOSES = {
    "": "functions",
    "arrow": "evaluate, compare: logs in files and tables",
    "cli": "the command line",
    "stats": "exact p-values, distances of sparse rows",
    "plot": "report.plot",
    "pandas": "pandas data frames",
    "polars": "polars data frames",
    "duckdb": "results of DuckDB",
    "lake": "Delta Lake, Iceberg",
    "spark": "evaluation on Spark",
    "ray": "evaluation on Ray",
    "dask": "evaluation on Dask",
}
VECTOR_INSTRUCTIONS = ("x86-64 baseline, or another processor", "AVX2", "AVX-512")
# As packages state it: pyarrow>=16; extra == "arrow"
REQUIREMENT = re.compile(
    r"""(?P<name>[\w.-]+)(?:\[[^\]]*\])?\s*(?:>=(?P<least>[\d.]+))?[^;]*(?:;.*extra == ['"](?P<extra>\w+)['"])?"""
)
READS_WORDNET = "corpus_meteor"
LEAST_JAVA = 17
JAVA_SECONDS = 10
OK, MISSING, TOO_OLD = "ok", "missing", "too old"


class Requirement(NamedTuple):
    """A package that an extra needs, in a version of at least `least`. The functions' own have no extra."""

    package: str
    least: str
    extra: str


class Part(NamedTuple):
    """Something that fastmetrics needs or can use. `get` is what to type for it."""

    name: str
    used_for: str
    needs: str
    found: str | None
    status: str
    get: str


def describe_environment() -> dict[str, Any]:
    """Versions, processors, memory, and every part that an entry point needs, as types of JSON."""
    from fastmetrics._core.exchange.memory_size import available_memory, default_memory_limit
    from fastmetrics._core.parallel import count_threads
    from fastmetrics._kernels.clustering.distances import widest_registers

    folder = tempfile.gettempdir()
    parts = [*package_parts(), java_part(), wordnet_part()]
    return {
        "installed_in": str(Path(__file__).resolve().parents[2]),
        "python": platform.python_version(),
        "executable": sys.executable,
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "cpus": os.cpu_count(),
        "threads": count_threads(None),
        "vector_instructions": VECTOR_INSTRUCTIONS[widest_registers()],
        "available_memory": available_memory(),
        "memory_limit": default_memory_limit(),
        "temporary_folder": folder,
        "temporary_space": shutil.disk_usage(folder).free,
        "parts": [part._asdict() for part in parts],
    }


def package_parts() -> list[Part]:
    """The packages of the functions and of each extra; once, where several extras ask for the same version."""
    parts: dict[tuple[str, str], Part] = {}
    try:
        requirements = read_requirements()
    except metadata.PackageNotFoundError:  # the folder of the sources is on the path
        get = "pip install . in the folder of the sources"
        return [Part(DISTRIBUTION, "the list of packages", "", None, MISSING, get)]
    for requirement in sorted(requirements, key=lambda one: list(PURPOSES).index(one.extra)):
        parts.setdefault((requirement.package, requirement.least), package_part(requirement))
    return list(parts.values())


def read_requirements() -> list[Requirement]:
    """What the installed fastmetrics asks for, of the extras that users choose."""
    texts = metadata.requires(DISTRIBUTION) or []
    found = [match for text in texts if (match := REQUIREMENT.match(text)) is not None]
    requirements = [Requirement(match["name"], match["least"] or "0", match["extra"] or "") for match in found]
    return [one for one in requirements if one.extra in PURPOSES and one.package != DISTRIBUTION]


def package_part(requirement: Requirement) -> Part:
    package, least, extra = requirement
    try:
        found = metadata.version(package)
    except metadata.PackageNotFoundError:
        found = None
    status = MISSING if found is None else OK if version_key(found) >= version_key(least) else TOO_OLD
    get = install_command(extra) if extra else f"pip install '{package}>={least}'"
    return Part(package, PURPOSES[extra], f">={least}", found, status, get)


def java_part() -> Part:
    """The Java that Spark would start."""
    home = os.environ.get("JAVA_HOME")
    executable = shutil.which("java", path=os.path.join(home, "bin")) if home else shutil.which("java")
    found = None if executable is None else java_version(executable)
    number = re.match(r"(?:1\.)?(\d+)", found or "")
    status = MISSING if number is None else OK if int(number[1]) >= LEAST_JAVA else TOO_OLD
    return Part("Java", PURPOSES["spark"], f">={LEAST_JAVA}", found, status, "apt-get install openjdk-17-jre-headless")


def java_version(executable: str) -> str | None:
    """The version that a Java prints; None if it does not run."""
    try:
        done = subprocess.run([executable, "-version"], capture_output=True, text=True, timeout=JAVA_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "([^"]+)"', done.stderr + done.stdout)
    return match[1] if match else None


def wordnet_part() -> Part:
    """The WordNet that METEOR would read."""
    try:
        signature = getattr(fastmetrics, READS_WORDNET)(["cat"], ["cat"]).signature
    except (OSError, ValueError):
        signature = ""
    version = re.search(r"wordnet:([^|]+)", signature)
    found = version[1] if version else None
    status = MISSING if found is None else OK
    return Part("WordNet", "synonyms of METEOR", "", found, status, "apt-get install wordnet-base")


def environment_lines(environment: dict[str, Any]) -> list[str]:
    """The text of `fastmetrics doctor`."""
    from fastmetrics._core.exchange.memory_size import format_size
    from fastmetrics.reporting.text_tables import aligned_lines

    memory, limit = format_size(environment["available_memory"]), format_size(environment["memory_limit"])
    space = format_size(environment["temporary_space"])
    facts = [
        ("fastmetrics", fastmetrics.__version__, f"in {environment['installed_in']}"),
        ("Python", environment["python"], environment["executable"]),
        ("system", environment["system"], f"vector instructions: {environment['vector_instructions']}"),
        ("threads", str(environment["threads"]), f"of {environment['cpus']} CPUs"),
        ("memory", f"{memory} available", f"evaluate keeps at most {limit} of rows"),
        ("disk", f"{space} free", f"for rows beyond it, in {environment['temporary_folder']}"),
    ]
    parts = [Part(**part) for part in environment["parts"]]
    table = [("part", "found", "needs", "status", "used for")]
    table += [(part.name, part.found or "-", part.needs or "-", part.status, part.used_for) for part in parts]
    lines = [*aligned_lines(facts, range(3)), "", *aligned_lines(table, range(5)), ""]
    wanting = [part for part in parts if part.status != OK]
    if not wanting:
        return [*lines, "Nothing is missing."]
    lines.append("Functions need NumPy alone. For the rest, type what you want to use:")
    return lines + aligned_lines([(f"  {part.name}", part.get) for part in wanting], range(2))
