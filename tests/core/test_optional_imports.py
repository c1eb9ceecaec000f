"""A package that is missing or too old ends in an error that says what to type, at the entry point that needs it."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

import fastmetrics as fm
from fastmetrics._core.optional_imports import EXTRAS, LEAST_VERSIONS, import_extra, version_key
from support.cases import assert_raises, each_case

PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
LOG = {"y": [0, 1, 1, 0], "s": [0.1, 0.9, 0.4, 0.3], "t": [0.2, 0.1, 0.4, 0.3]}
COLUMNS = {"label": "y", "score": "s"}


@pytest.mark.skipif(not PYPROJECT.is_file(), reason="no pyproject.toml beside the tests")
def test_versions_are_those_of_pyproject():
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    own = {"all", "test", "bench", "release", "docs"}
    extras = project["optional-dependencies"]
    texts = {*project["dependencies"], *(text for name in extras.keys() - own for text in extras[name])}
    declared = sorted(tuple(without_extras(text).split(">=")) for text in texts)
    assert declared == sorted(LEAST_VERSIONS.items())
    for package in LEAST_VERSIONS.keys() - {"numpy"}:
        named = map(without_extras, extras[EXTRAS.get(package, package)])
        assert f"{package}>={LEAST_VERSIONS[package]}" in named
    repeated = {text for name in own & extras.keys() for text in extras[name] if ">=" in text}
    for package, _, least in (text.partition(">=") for text in repeated):
        if package in LEAST_VERSIONS:
            assert least == LEAST_VERSIONS[package], package


def without_extras(requirement):
    return re.sub(r"\[.*\]", "", requirement)


def old(package):
    least = LEAST_VERSIONS[package]
    extra = EXTRAS.get(package, package)
    return rf"needs {package} {least} or later; 0\.9\.1 is installed: pip install 'fastmetrics-engine\[{extra}\]'"


@each_case("package", ["polars", "pandas", "duckdb"])
def test_frames_of_a_package_that_is_too_old(package, monkeypatch):
    module = pytest.importorskip(package)
    if package == "duckdb":
        pytest.importorskip("pandas")
        frames = [module.sql("select 1 as y, 0.5 as s, 0.5 as t union all select 0, 0.25, 0.5")]
    else:
        frames = [module.DataFrame(LOG)]
        if package == "polars":
            frames.append(module.DataFrame(LOG).lazy())
    monkeypatch.setattr(module, "__version__", "0.9.1")
    for frame in frames:
        message = f"reading a {type(frame).__name__} {old(package)}"
        assert_raises(ImportError, message, fm.evaluate, frame, "auc", **COLUMNS)
        assert_raises(ImportError, message, fm.compare, frame, "auc", label="y", score=["s", "t"])
        assert_raises(ImportError, message, fm.Accumulator("auc", **COLUMNS).update, frame)


def test_pyarrow_that_is_too_old(monkeypatch):
    monkeypatch.setattr(pytest.importorskip("pyarrow"), "__version__", "0.9.1")
    assert_raises(ImportError, f"reading data {old('pyarrow')}", fm.evaluate, LOG, "auc", **COLUMNS)


@each_case("package", [name for name in LEAST_VERSIONS if name != "numpy"])
def test_modules_of_a_package_that_is_too_old(package, monkeypatch):
    module = pytest.importorskip(package)
    monkeypatch.setattr(module, "__version__", "0.9.1", raising=False)
    if LEAST_VERSIONS[package].startswith("0."):
        monkeypatch.setattr(module, "__version__", "0.0.1", raising=False)
    with pytest.raises(ImportError, match=rf"a test needs {package} {LEAST_VERSIONS[package]} or later; 0\."):
        import_extra(package, "a test")


def test_a_package_that_cannot_be_imported(monkeypatch):
    """An old pyarrow fails beside a new NumPy: the version is the reason."""
    old_package = type(sys)("polars")
    old_package.__version__ = "0.9.1"
    monkeypatch.setitem(sys.modules, "polars", old_package)
    monkeypatch.setitem(sys.modules, "polars.nothing", None)
    assert_raises(ImportError, f"a test {old('polars')}", import_extra, "polars.nothing", "a test")
    monkeypatch.setitem(sys.modules, "scipy.spatial.distance", None)
    message = r"a test needs scipy: pip install 'fastmetrics-engine\[stats\]'"
    assert_raises(ImportError, message, import_extra, "scipy.spatial.distance", "a test")


def test_versions_are_compared_as_numbers():
    assert version_key("2.0") == version_key("2.0.0") < version_key("2.0.1") < version_key("2.10.0rc1")
    assert version_key("26.0.0.dev3+local") == version_key("26")
