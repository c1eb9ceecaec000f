"""The page on the architecture is short, and its pictures show the packages that there are."""

import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import fastmetrics as fm
from architecture.layers import LAYERS, entry_of, height_of

PAGE = Path(__file__).resolve().parents[2] / "docs/architecture.md"

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="no docs beside the tests")


@pytest.fixture(scope="module")
def page():
    return PAGE.read_text(encoding="utf-8")


def picture(page, name):
    return re.search(rf"<!-- {name} -->\n```mermaid\n(.*?)```", page, re.DOTALL)[1]


def entry(node):
    """The entry of the layers that a node of the picture shows."""
    inner = [name for layer in LAYERS for name in layer if name.rpartition(".")[2] == node and name.count(".") < 2]
    inner.sort(key=lambda name: name.startswith("_kernels."))
    return {"entry": "cli", "core": "_core", "kernels": "_kernels"}.get(node) or inner[0]


def test_is_short(page):
    assert len(page.split()) <= 2300


def test_every_package_is_in_the_picture_and_in_the_table(page):
    drawn = picture(page, "packages")
    packages = {name for layer in LAYERS for name in layer if name and not name.startswith(("_kernels", "_version"))}
    single = "engine.evaluation.options"  # a module below its package: plans have its names
    packages = {name for name in packages - {single} if not name.startswith(("metrics.", "__main__"))}
    for name in packages:
        assert f"<b>{name.rpartition('.')[2]}</b>" in drawn, name
    table = page.partition("| package | what it is for |")[2].partition("\n\n")[0]
    for name in packages - {"_core", "engine", "metrics"}:
        path = name.replace(".", "/")
        assert f"`{path}/`" in table or f"`{path}.py`" in table, name


def test_arrows_go_down(page):
    chains = re.sub(r"\[.*?\]|-- \".*?\" ", "", picture(page, "packages")).splitlines()
    arrows = [pair for line in chains for pair in pairwise(line.split("-->"))]
    assert len(arrows) >= 12
    for above, below in arrows:
        upper, lower = (f"fastmetrics.{entry(node.strip())}" for node in (above, below))
        assert entry_of(upper) != entry_of(lower)
        assert height_of(upper) > height_of(lower), (above, below)


def test_the_way_of_a_row_is_drawn(page):
    assert "block store" in picture(page, "row")


def test_the_way_of_gauc_is_that_of_the_code(page, tmp_path):
    """Every function of the picture is called, in this order."""
    drawn = re.findall(r'\["([\w.]+)[^"]*<br><i>([\w/]+\.py)</i>"\]', picture(page, "gauc"))
    assert len(drawn) == 18
    path = tmp_path / "clicks.csv"
    path.write_text("click,pctr,user_id\n1,0.5,1\n0,0.25,1\n", encoding="utf-8")
    called: dict[tuple[str, str], None] = {}

    def record(frame, event, argument):
        if event == "call":
            called.setdefault((frame.f_code.co_qualname, frame.f_code.co_filename.rpartition("/fastmetrics/")[2]))

    sys.setprofile(record)
    try:
        fm.evaluate(path, ["gauc"], label="click", score="pctr", group="user_id", n_threads=1)
    finally:
        sys.setprofile(None)
    places = [list(called).index(own) for own in drawn]
    assert places == sorted(places)
