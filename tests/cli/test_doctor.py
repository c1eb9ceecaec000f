"""`fastmetrics doctor`: it says what is there, what is missing and what to type, with and without the extra `cli`."""

import json
import os
import re
import stat
import sys

import pytest

import fastmetrics as fm
from fastmetrics._core.optional_imports import DISTRIBUTION, EXTRAS, LEAST_VERSIONS
from fastmetrics.cli import main
from fastmetrics.cli.installation import environment

pytest.importorskip("typer")


def status_of(package, least, monkeypatch, found):
    monkeypatch.setattr(environment.metadata, "version", lambda name: found)
    return environment.package_part(environment.Requirement(package, least, "arrow")).status


@pytest.fixture
def wants_little(monkeypatch):
    """The packages that are asked for are numpy, and one that nobody has."""
    extras = ['nobody-has-this>=3.1; extra == "plot"', 'pytest>=8; extra == "test"', f"{DISTRIBUTION}[arrow]"]
    texts = ["numpy>=2.0", *extras]
    monkeypatch.setattr(environment.metadata, "requires", lambda name: texts)


def test_it_names_what_is_missing_and_what_to_type(wants_little, capsys):
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert f"fastmetrics  {fm.__version__}" in text
    lines = {line.split()[0]: line.split() for line in text.splitlines() if line.strip()}
    assert lines["numpy"][2:4] == [">=2.0", "ok"]
    assert "nobody-has-this  -" in text
    assert "nobody-has-this  pip install 'fastmetrics-engine[plot]'" in text
    assert "pytest" not in text


def test_json_has_the_same_parts(wants_little, capsys):
    assert main(["doctor", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {part["name"]: part["status"] for part in document["parts"]}.items() >= {
        "numpy": "ok", "nobody-has-this": "missing",
    }.items()  # fmt: skip
    assert document["threads"] == len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else True
    assert 0 < document["memory_limit"] <= document["available_memory"]


def test_extras_of_the_package_are_those_of_the_purposes():
    try:
        asked = {requirement.extra for requirement in environment.read_requirements()}
    except environment.metadata.PackageNotFoundError:
        pytest.skip(f"{DISTRIBUTION} is not installed: the folder of the sources is on the path")
    assert {"", "arrow", "cli", "stats", "plot", "spark"} <= asked <= set(environment.PURPOSES)


def test_it_says_what_is_too_old(monkeypatch, capsys):
    """For each package that pyproject.toml asks for, one by one."""
    versions = environment.metadata.version
    for package, least in LEAST_VERSIONS.items():
        extra = "" if package == "numpy" else EXTRAS.get(package, package)
        command = f"pip install 'fastmetrics-engine[{extra}]'" if extra else "pip install 'numpy>=2.0'"
        parts = [environment.Requirement(package, least, extra)]
        monkeypatch.setattr(environment, "read_requirements", lambda own=parts: own)
        monkeypatch.setattr(environment.metadata, "version", lambda name, own=package: "0.0.9" if name == own else None)
        assert main(["doctor"]) == 0
        text = capsys.readouterr().out
        line = next(line.split() for line in text.splitlines() if line.startswith(package))
        assert line[1:5] == ["0.0.9", f">={least}", "too", "old"]
        assert re.search(rf"{re.escape(package)} +{re.escape(command)}", text)
    monkeypatch.setattr(environment.metadata, "version", versions)


def test_commands_say_what_is_too_old(monkeypatch, capsys):
    """Where a package of the extra is so old that a command cannot start, or fails."""
    from fastmetrics.cli import app

    def run(arguments):
        raise TypeError("an argument that this version does not know")

    monkeypatch.setattr(app, "run", run)
    with pytest.raises(TypeError, match="does not know"):
        main(["list"])
    found = environment.metadata.version
    monkeypatch.setattr(environment.metadata, "version", lambda name: "0.9.0" if name == "typer" else found(name))
    assert main(["list"]) == 1
    message = "error: this needs typer 0.20 or later, and 0.9.0 is installed; type: pip install"
    assert capsys.readouterr().err == f"{message} 'fastmetrics-engine[cli]'\n"
    monkeypatch.setattr(environment, "read_requirements", lambda: [environment.Requirement("typer", "0.20", "cli")])
    assert main(["doctor"]) == 0
    assert "too old" in capsys.readouterr().out


def test_it_works_without_the_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "typer", None)
    for name in [name for name in sys.modules if name.startswith("fastmetrics.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    assert main(["doctor"]) == 0
    assert f"fastmetrics  {fm.__version__}" in capsys.readouterr().out
    assert main(["doctor", "--json"]) == 1
    assert "pip install 'fastmetrics-engine[cli]'" in capsys.readouterr().err


def test_versions_are_compared_as_numbers(monkeypatch):
    assert status_of("pyarrow", "16", monkeypatch, "9.0.1") == "too old"
    assert status_of("pyarrow", "16.0.0", monkeypatch, "16") == "ok"
    assert status_of("pyarrow", "2.10", monkeypatch, "2.9rc1") == "too old"
    assert status_of("pyarrow", "2.10", monkeypatch, "2.10.0.dev3+local") == "ok"


@pytest.mark.skipif(os.name == "nt", reason="a Java is a shell script here")
@pytest.mark.parametrize(
    ("script", "found", "status"),
    [
        ("echo 'openjdk version \"21.0.2\" 2024' >&2", "21.0.2", "ok"),
        ("echo 'java version \"1.8.0_402\"' >&2", "1.8.0_402", "too old"),
        ("exit 3", None, "missing"),
    ],
)
def test_java_is_asked_for_its_version(script, found, status, tmp_path, monkeypatch):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    part = environment.java_part()
    assert (part.found, part.status) == (found, status)


def test_sources_that_are_not_installed(monkeypatch):
    def fail(name):
        raise environment.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(environment.metadata, "requires", fail)
    (part,) = environment.package_parts()
    assert (part.name, part.status) == (DISTRIBUTION, "missing")


def test_no_wordnet(monkeypatch, tmp_path):
    monkeypatch.setenv("WNSEARCHDIR", str(tmp_path))
    part = environment.wordnet_part()
    assert (part.found, part.status, part.get) == (None, "missing", "apt-get install wordnet-base")
