"""Release notes, lowest versions and the citation: each follows from one place, and a difference is an error."""

import runpy
import tomllib
from pathlib import Path

import pytest

import fastmetrics as fm

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not (ROOT / "CITATION.cff").is_file(), reason="no repository beside the tests")


@pytest.fixture(scope="module")
def notes():
    return runpy.run_path(str(ROOT / "tools/release_notes.py"))


@pytest.fixture
def repository(tmp_path):
    """A small repository of version 1.2.0."""
    (tmp_path / "fastmetrics").mkdir()
    (tmp_path / "fastmetrics/_version.py").write_text('__version__ = "1.2.0"\n')
    (tmp_path / "CITATION.cff").write_text("cff-version: 1.2.0\nversion: 1.2.0\n")
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [Unreleased]\n\n- later\n\n## [1.2.0] - 2026-12-01\n\n### New\n\n"
        "- [a page](docs/reports.md#plots), [a site](https://example.org)\n\n## [1.1.0] - 2026-11-01\n\n- before\n"
    )
    return tmp_path


def test_notes_are_the_section_of_the_version(notes, repository):
    url = notes["REPOSITORY"]
    expected = f"### New\n\n- [a page]({url}/blob/v1.2.0/docs/reports.md#plots), [a site](https://example.org)\n"
    assert notes["notes"](repository) == notes["notes"](repository, "v1.2.0") == expected


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("fastmetrics/_version.py", "1.2.0", "1.3.0", "the tag is v1.2.0; fastmetrics/_version.py says 1.3.0"),
        ("CITATION.cff", "version: 1.2.0\n", "version: 1.1.0\n", "CITATION.cff has version"),
        ("CHANGELOG.md", "## [1.2.0]", "## [1.2.1]", r"no section \[1.2.0\]; it has Unreleased, 1.2.1"),
        ("CHANGELOG.md", "2026-12-01", "unreleased", "has the date 'unreleased'; a day such as"),
    ],
)
def test_a_difference_stops_the_release(notes, repository, file, old, new, message):
    path = repository / file
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(notes["ReleaseError"], match=message):
        notes["notes"](repository, "v1.2.0")


def test_this_version_has_notes(notes):
    """All but the date, which the day of the release brings."""
    assert notes["version_of_package"](ROOT) == notes["version_of_citation"](ROOT) == fm.__version__
    assert "### " in notes["notes"](ROOT)


def test_there_is_one_address_of_the_repository(notes):
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    assert urls["Repository"] == notes["REPOSITORY"]
    assert f"repository-code: {notes['REPOSITORY']}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def lowest():
    return runpy.run_path(str(ROOT / "tools/lowest_versions.py"))


def test_the_files_of_lowest_versions_are_current(lowest):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name, text in lowest["outputs"](project).items():
        message = "type python tools/lowest_versions.py"
        assert (ROOT / "tests/lowest" / name).read_text(encoding="utf-8") == text, message


def test_lowest_versions(lowest):
    extras = {"arrow": ["pyarrow>=16"], "lake": ["pyarrow>=18", "other[sql]>=0.9.1"]}
    project = {"dependencies": ["numpy>=2.0"], "optional-dependencies": extras}
    assert lowest["lowest"](project, ("arrow", "lake")) == {"numpy": "2.0", "pyarrow": "18", "other": "0.9.1"}
    project["dependencies"] = ["numpy"]
    with pytest.raises(SystemExit, match="'numpy' is not of the form name>=version"):
        lowest["lowest"](project, ("arrow",))


def test_every_extra_of_users_is_tried(lowest):
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    tried = {extra for group in lowest["EXTRAS"].values() for extra in group}
    assert tried == extras.keys() - {"all", "test", "bench", "release", "docs"}
