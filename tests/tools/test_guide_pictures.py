"""The pictures of the guides are those that their script makes, small, and stand in a guide."""

import runpy
from pathlib import Path

import pytest

pytest.importorskip("typer")

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "pictures"


def test_the_pictures_are_those_of_the_script():
    made = runpy.run_path(str(ROOT / "tools" / "guide_pictures.py"))["pictures"]()
    assert {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()} == made
    assert max(len(text.encode()) for text in made.values()) < 60_000


def test_every_picture_of_the_docs_stands_in_a_page():
    pages = "".join(path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *ROOT.glob("docs/*.md")])
    shown = [path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.svg")]
    assert len(shown) > 4
    assert [name for name in shown if f"]({name})" not in pages and f'src="docs/{name}"' not in pages] == []
