"""The documentation site: it builds without a warning, no link is broken, and Chromium shows every page.

`pytest tests/docs -m site` builds it, in a few minutes. The tests without the marker check the checks.
"""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fastmetrics as fm

ROOT = Path(__file__).resolve().parents[2]
REQUIRED = os.environ.get("FASTMETRICS_REQUIRE_CHROMIUM") == "1"

pytestmark = pytest.mark.skipif(
    Path(fm.__file__).parents[1] != ROOT or not (ROOT / "tools").is_dir(), reason="not a checkout with built kernels"
)


@pytest.fixture
def tool(monkeypatch):
    """Import a module of tools/documentation."""
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.syspath_prepend(ROOT / "tools")
    return lambda name: importlib.import_module(f"documentation.{name}")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as users build it."""
    for package in ("sphinx", "pydata_sphinx_theme", "numpydoc", "myst_parser", "sphinx_copybutton", "sphinx_design"):
        pytest.importorskip(package)
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, ROOT / "tools" / "build_site.py"]
    options = ["--output", folder / "site", "--sources", folder / "sources"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    return folder / "site"


@pytest.fixture
def looks(tool):
    found = tool("looks")
    if tool("browser").CHROMIUM is None and not REQUIRED:
        pytest.skip("no chromium: apt-get install chromium (FASTMETRICS_REQUIRE_CHROMIUM=1)")
    return found


@pytest.mark.site
def test_no_link_is_broken(site, tool):
    links = tool("links")
    assert len(links.pages(site)) > 250
    assert links.complaints(site) == []


@pytest.mark.site
def test_every_public_name_has_a_page_with_a_signature_and_its_source(site, tool):
    families = tool("reference").families()
    repository = importlib.import_module("documentation").REPOSITORY
    for family in families:
        for name in family.names:
            text = (site / "reference" / family.folder / f"{name}.html").read_text(encoding="utf-8")
            assert f'id="{family.module}.{name}"' in text, name
            assert f"{repository}/blob/main/fastmetrics/" in text, name


@pytest.mark.site
def test_every_metric_has_an_entry(site):
    text = "".join(path.read_text(encoding="utf-8") for path in (site / "reference" / "metrics").glob("*.html"))
    missing = [own.name for own in fm.list_metrics().values() if f">{own.name}<" not in text]
    assert missing == []


@pytest.mark.site
def test_every_page_on_a_phone_and_on_a_screen(site, tool, looks):
    """No page is wider than the screen, no script fails, and nothing is asked from another server."""
    names = [page.relative_to(site).as_posix() for page in tool("links").pages(site)]
    seen = list(looks.look(site, names))
    assert len(seen) == 2 * len(names)
    assert [own for own in seen if own.complaints] == []


@pytest.mark.site
def test_search_finds_gauc(site, tool, looks):
    with tool("browser").open_page() as page:
        found = looks.search(page, site, "gauc")
        assert page.complaints() == []
        assert looks.search(page, site, "qqxzy") == []
    for wanted in ("reference/ranking/gauc_score.html", "reference/metrics/ranking.html", "guides/ctr.html"):
        assert any(link.startswith(wanted) for link in found), (wanted, found)


def test_broken_links_are_found(tmp_path, tool):
    links = tool("links")
    (tmp_path / "a.html").write_text(
        '<h1 id="top-of-a">A</h1><a href="b.html">b</a> <a href="b.html#there">there</a> <a href="b.html#gone">gone</a>'
        '<a href="#top-of-a">a</a><a href="missing.html">missing</a><img src="missing.png">'
        '<a href="../out.html">out</a>'
        '<a href="https://example.org/x#y">elsewhere</a><a href="mailto:ndcg@10">ndcg@10</a>',
        encoding="utf-8",
    )
    (tmp_path / "b.html").write_text('<p id="there">B</p>', encoding="utf-8")
    assert links.complaints(tmp_path) == [
        "a.html: ../out.html: leaves the site",
        "a.html: b.html#gone: no such anchor",
        "a.html: mailto:ndcg@10: an address of mail, which no page has",
        "a.html: missing.html: no such file",
        "a.html: missing.png: no such file",
    ]


@pytest.mark.browser
def test_pages_that_are_too_wide_and_scripts_that_fail_are_found(tmp_path, looks):
    page = '<meta name="viewport" content="width=device-width"><main><div style="width:%dpx">x</div></main>%s'
    (tmp_path / "wide.html").write_text(page % (500, ""), encoding="utf-8")
    (tmp_path / "fails.html").write_text(page % (300, "<script>undefinedName()</script>"), encoding="utf-8")
    (tmp_path / "asks.html").write_text(page % (300, '<img src="https://example.org/x.png">'), encoding="utf-8")
    (tmp_path / "good.html").write_text(page % (300, ""), encoding="utf-8")
    names = ["wide.html", "fails.html", "asks.html", "good.html"]
    seen = {(own.page, own.width): own.complaints for own in looks.look(tmp_path, names)}
    assert "wider than 360 px" in seen["wide.html", 360][0]
    assert seen["wide.html", 1280] == ()
    assert "undefinedName" in seen["fails.html", 360][0]
    assert "a request to https://example.org/x.png" in seen["asks.html", 1280]
    assert seen["good.html", 360] == seen["good.html", 1280] == ()


def test_links_are_changed_outside_of_code_only(tool):
    sources = tool("sources")
    places = {"docs/a.md": "guides/a.md", "docs/b.md": "b.md"}
    pictures = set()
    of_files = "[bench](../bench/peers.py), [curves](../bench/curves), [x](https://example.org)"
    text = f"[b](b.md#part) is [b.md](b.md), ![r](report.png), {of_files}\n\n```text\n[b](b.md)\n```\n[own](#part)\n"
    changed = sources.change_links(text, "docs/a.md", places, pictures)
    repository = importlib.import_module("documentation").REPOSITORY
    assert changed.splitlines()[0] == (
        "[b](../b.md#part) is [](../b.md), ![r](../pictures/report.png), "
        f"[bench]({repository}/blob/main/bench/peers.py), [curves]({repository}/tree/main/bench/curves), "
        "[x](https://example.org)"
    )
    assert changed.splitlines()[1:] == text.splitlines()[1:]
    assert pictures == {ROOT / "docs" / "report.png"}


@pytest.mark.parametrize(
    ("line", "escaped"),
    [
        ("sum |a - b| / n_.", r"sum \|a - b\| / n\_."),
        ("``a | b_`` and `c_`", "``a | b_`` and `c_`"),
        ("w_g AUC_g, x_", r"w_g AUC_g, x\_"),
    ],
)
def test_formulas_are_escaped(tool, line, escaped):
    assert tool("docstrings").escape(line) == escaped


def test_flowchart_has_its_boxes_and_arrows(tool):
    chart = 'flowchart TD\n    one["<b>One</b><br>first"] -- "goes" --> two\n    one --> three\n'
    text = tool("diagrams").replace(f"a\n```mermaid\n{chart}```\nb\n")
    assert re.findall(r">([^<>]+)</text>", text) == ["goes", "One", "first", "two", "three"]
    assert text.count('class="arrow"') == 2
