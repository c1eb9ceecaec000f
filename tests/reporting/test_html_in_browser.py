"""Pages in headless Chromium, without a network: plots are drawn, tables sort, nothing is wider than a phone."""

import json
import os
import re
import shutil
import subprocess

import numpy as np
import pytest

from fastmetrics.reporting.page_style import DARK, LIGHT
from support import html_pages

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
REQUIRED = os.environ.get("FASTMETRICS_REQUIRE_CHROMIUM") == "1"
FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
    "--force-color-profile=srgb", "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND",
]  # fmt: skip
SECONDS = 60
WINDOW = "--window-size=1200,3200"

MISSING = "no chromium: apt-get install chromium (FASTMETRICS_REQUIRE_CHROMIUM=1)"
pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None and not REQUIRED, reason=MISSING)]

# Appended to a page under test: runs a function and writes its result into the page.
PROBE = """<script>
(function () {
  function answer() { %s }
  var said = document.createElement("pre");
  said.id = "probe";
  said.textContent = JSON.stringify(answer());
  document.body.appendChild(said);
})();
</script>"""

BOXES = """
  return Array.from(document.querySelectorAll("svg.plot")).map(function (own) {
    var box = own.getBoundingClientRect();
    return [box.left + scrollX, box.top + scrollY, box.width, box.height];
  });
"""
WIDTHS = """
  var inside = Array.from(document.querySelectorAll("body *")).filter(function (own) {
    return !own.closest(".box") && !own.closest("svg") && own.getBoundingClientRect().right > innerWidth + 0.5;
  });
  return [innerWidth, document.documentElement.scrollWidth, inside.map(function (own) { return own.outerHTML; })];
"""
SORTED = """
  var table = document.querySelector("table.sortable"), steps = [];
  function look(head) {
    var body = table.tBodies[table.tBodies.length - 1];
    steps.push([
      head.getAttribute("aria-sort"), table.querySelectorAll("[aria-sort]:not([aria-sort=none])").length,
      Array.from(body.rows).filter(function (row) { return row.className !== "whole"; }).map(function (row) {
        return row.cells[head.cellIndex].innerText.split("\\n")[0].trim();
      }),
      document.getElementById("sorted").textContent
    ]);
  }
  [0, 0, 5, 5].forEach(function (place) {
    var button = table.tHead.querySelectorAll("button")[place];
    button.focus();
    if (document.activeElement !== button) { steps.push("no focus"); }
    button.click();
    look(button.closest("th"));
  });
  return steps;
"""


def browse(folder, *arguments):
    command = [CHROMIUM or "chromium", *FLAGS, f"--user-data-dir={folder / 'profile'}", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=SECONDS, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return done.stdout


def write_page(folder, html, question=None):
    """Write the page to a file. A question is a script, so the page's security policy is removed."""
    if question is not None:
        html = re.sub(r"<meta http-equiv=[^>]*>", "", html).replace("</body>", f"{PROBE % question}</body>")
    path = folder / "page.html"
    path.write_text(html, encoding="utf-8")
    return path.as_uri()


def ask_page(folder, html, question, *options):
    dumped = browse(folder, *options, "--dump-dom", write_page(folder, html, question))
    return json.loads(html_pages.Page(re.search(r'<pre id="probe">.*?</pre>', dumped, re.DOTALL)[0]).one("pre").text())


def take_screenshot(folder, html, *options):
    """A screenshot as rows, columns and three bytes of color."""
    image = pytest.importorskip("matplotlib.image")
    path = folder / "page.png"
    browse(folder, *options, f"--screenshot={path}", write_page(folder, html))
    return np.round(image.imread(path)[..., :3] * 255).astype(int)


def rgb(color):
    return [int(color[start : start + 2], 16) for start in (1, 3, 5)]


def count_near(pixels, color, distance=24):
    return int((np.abs(pixels - rgb(color)).max(axis=-1) <= distance).sum())


@pytest.fixture(scope="module")
def html():
    return html_pages.full_report().to_html()


@pytest.fixture(scope="module")
def boxes(html, tmp_path_factory):
    return ask_page(tmp_path_factory.mktemp("boxes"), html, BOXES, WINDOW)


@pytest.mark.parametrize(("scheme", "palette"), [(1, LIGHT), (0, DARK)], ids=["light", "dark"])
def test_plots_are_drawn(tmp_path, html, boxes, scheme, palette):
    pixels = take_screenshot(tmp_path, html, WINDOW, f"--blink-settings=preferredColorScheme={scheme}")
    assert pixels[5, 5].tolist() == rgb(palette.paper)
    assert len(boxes) == 4
    for left, top, width, height in boxes:
        assert width > 300
        inside = pixels[int(top) : int(top + height), int(left) : int(left + width)]
        assert inside.shape[:2] == (int(top + height) - int(top), int(left + width) - int(left))
        assert count_near(inside, palette.paper) > inside.shape[0] * inside.shape[1] / 3
        # Two models as lines or bars; bars are not opaque, so their color is only near.
        mixed = [blend(color, palette.paper, 0.72) for color in palette.series[:2]]
        for color, softer in zip(palette.series[:2], mixed, strict=True):
            assert count_near(inside, color) + count_near(inside, softer, 12) > 150
        assert count_near(inside, palette.series[2]) == 0
        assert count_near(inside, palette.muted, 40) > 50


def blend(color, ground, share):
    mixed = (round(share * a + (1 - share) * b) for a, b in zip(rgb(color), rgb(ground), strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def test_the_page_is_not_wider_than_the_screen(tmp_path):
    """In frames of several widths, because a window of Chromium cannot be as narrow as a phone."""
    wide = [
        html_pages.result("auc", "a" * 300, 0.5, interval=(0.4, 0.6)),
        html_pages.result("auc", "b", 0.6, reason="x" * 300),
    ]
    sliced = [
        html_pages.result(f"metric{i}", score, 0.5, slice={"d" * 100: "v" * 100}) for i in range(20) for score in "ab"
    ]
    html = html_pages.report([*wide, *sliced], html_pages.plots(("a" * 300, "b")), {"p" * 200: "r" * 200}).to_html()
    page = write_page(tmp_path, html, f"parent.postMessage((function () {{ {WIDTHS} }})(), '*'); return 0;")
    screens = [320, 390, 1200]
    frame = f'height="800" frameborder="0" src="{page}"></iframe>'
    frames = "".join(f'<iframe width="{width}" {frame}' for width in screens)
    collect = f"""<body><script>var found = []; onmessage = function (event) {{
      found.push(event.data);
      if (found.length < {len(screens)}) {{ return; }}
      document.body.innerHTML = "";
      document.body.appendChild(document.createElement("pre")).textContent = JSON.stringify(found);
    }};</script>{frames}"""
    (tmp_path / "frames.html").write_text(collect, encoding="utf-8")
    options = ["--window-size=1600,900", "--virtual-time-budget=3000", "--dump-dom"]
    dumped = browse(tmp_path, *options, (tmp_path / "frames.html").as_uri())
    found = json.loads(re.search(r"<pre>(.*?)</pre>", dumped, re.DOTALL)[1])
    assert sorted(width for width, _, _ in found) == screens
    for width, scrolled, outside in found:
        assert scrolled == width, outside
        assert outside == []


def test_slices_sort(tmp_path, html):
    steps = ask_page(tmp_path, html, SORTED)
    assert [step[0] for step in steps] == ["ascending", "descending", "descending", "ascending"]
    assert [step[1] for step in steps] == [1, 1, 1, 1]
    assert steps[0][2] == ["1", "1", "2", "2", "10", "10"]
    assert steps[1][2] == ["10", "10", "2", "2", "1", "1"]
    for step in steps[2:]:
        assert [text.startswith("undefined") for text in step[2]] == [False] * 4 + [True] * 2
    assert steps[0][3] == "Sorted by day, ascending."


CHOSEN = """
  function seen(selector) {
    return Array.from(document.querySelectorAll(selector)).filter(function (own) { return own.offsetWidth > 0; });
  }
  function look() {
    var heads = seen("table.sortable thead th").map(function (own) { return own.innerText.trim(); });
    var cells = new Set(Array.from(document.querySelectorAll("table.sortable tbody tr:not(.whole)")).map(
      function (row) { return Array.from(row.cells).filter(function (cell) { return !cell.hidden; }).length; }));
    var bodies = seen("tbody[data-metric]").map(function (own) { return own.getAttribute("data-metric"); });
    return [bodies, heads, Array.from(cells)];
  }
  var boxes = Array.from(document.querySelectorAll(".choice input")), steps = [look()];
  boxes[0].click();
  steps.push(look());
  document.querySelector("[data-choose=none]").click();
  steps.push(look());
  document.querySelector("[data-choose=all]").click();
  steps.push(look());
  return [boxes.map(function (box) { return box.value; }), steps];
"""


def test_a_reader_chooses_metrics(tmp_path, html):
    metrics, (first, without_one, none, again) = ask_page(tmp_path, html, CHOSEN)
    assert first[0] == metrics
    assert len(metrics) > 1
    assert without_one[0] == metrics[1:]
    assert [name for name in first[1] if name not in without_one[1]] == metrics[:1]
    assert without_one[2] == [first[2][0] - 1]
    assert none[0] == []
    assert not set(metrics) & set(none[1])
    assert again == first


STAYING = """
  var table = document.querySelector("table.sortable"), box = table.parentElement;
  table.querySelectorAll("thead th.n").forEach(function (head) { head.style.minWidth = "900px"; });
  window.dispatchEvent(new Event("resize"));
  box.scrollLeft = 600;
  var left = box.getBoundingClientRect().left;
  return Array.from(table.querySelectorAll("tbody tr:last-child .stay")).map(function (cell) {
    return [cell.innerText.trim(), Math.round(cell.getBoundingClientRect().left - left)];
  });
"""


def test_the_first_columns_stay_in_sight(tmp_path, html):
    staying = ask_page(tmp_path, html, STAYING)
    assert len(staying) == 2
    assert staying[0][1] == 0
    assert staying[1][1] > 0


def test_scripts_of_the_page_run_and_others_do_not(tmp_path, html):
    other = html.replace("</body>", '<script>document.title = "taken over"</script></body>')
    dumped = browse(tmp_path, "--dump-dom", write_page(tmp_path, other))
    assert "sortable sorts" in dumped
    assert "<title>a, b against y</title>" in dumped


def test_print_is_light_and_whole(tmp_path, html):
    path = tmp_path / "page.pdf"
    browse(tmp_path, "--blink-settings=preferredColorScheme=0", f"--print-to-pdf={path}", write_page(tmp_path, html))
    assert path.read_bytes().startswith(b"%PDF")
