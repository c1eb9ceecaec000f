"""The style sheet of pages with its colors, and the script that sorts their tables. Both are part of the page.

The colors are for light and dark screens. Every text has a contrast of at least 4.5 (WCAG 2.2, AA).
"""

from __future__ import annotations

from fastmetrics._core.named_tuples import NamedTuple


class Palette(NamedTuple):
    """Colors as #rrggbb: `ink` and `muted` are texts on `paper` and `panel`, `series` are lines and names of models."""

    paper: str
    panel: str
    ink: str
    muted: str
    rule: str
    grid: str
    link: str
    good: str
    warn: str
    series: tuple[str, ...]


LIGHT = Palette(
    paper="#fdfdfb",
    panel="#f4f4ef",
    ink="#1c2127",
    muted="#59616b",
    rule="#d9d9d1",
    grid="#e9e9e3",
    link="#1c5a9c",
    good="#1b6b4c",
    warn="#8f4a00",
    series=("#1c5a9c", "#b1450b", "#19714f", "#85388c", "#6d5c00", "#b02250", "#2d6675", "#55595f"),
)
DARK = Palette(
    paper="#14171b",
    panel="#1c2026",
    ink="#e8e9ea",
    muted="#a5adb7",
    rule="#3a4048",
    grid="#282d34",
    link="#86b8f2",
    good="#6fd0a3",
    warn="#f0b35e",
    series=("#7db4f2", "#f39a5c", "#62cfa1", "#d79adf", "#d3bd4f", "#f58cab", "#84c3d3", "#b8bec6"),
)

RULES = """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.55 ui-sans-serif,system-ui,-apple-system,"Segoe UI",
Roboto,"Helvetica Neue","Liberation Sans",Arial,sans-serif;font-variant-numeric:lining-nums tabular-nums}
header,main,footer{max-width:66rem;margin:0 auto;padding:0 clamp(1rem,4vw,2.5rem)}
header{padding-top:clamp(1.75rem,5vw,3.5rem)}
h1,h2{font-family:"Iowan Old Style","Palatino Linotype",Palatino,"Source Serif 4","Liberation Serif",Georgia,serif;
font-weight:600;line-height:1.2;letter-spacing:-.005em;overflow-wrap:anywhere;text-wrap:balance}
h1{font-size:clamp(1.75rem,4.5vw,2.6rem);margin:.35rem 0 .6rem}
h2{font-size:1.5rem;margin:3.2rem 0 .3rem;padding-top:1rem;border-top:1px solid var(--rule)}
h3{font-size:1rem;font-weight:600;margin:0 0 .3rem;overflow-wrap:anywhere}
p{margin:.4rem 0 .8rem;max-width:46rem;overflow-wrap:anywhere}
li{overflow-wrap:anywhere}
.eyebrow{margin:0;color:var(--muted);font-size:.82rem;letter-spacing:.09em;text-transform:uppercase}
.lead{font-size:1.1rem}
.muted,caption,figcaption,footer{color:var(--muted)}
a{color:var(--link);text-underline-offset:.2em;text-decoration-thickness:1px}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:2px}
code,.name{font-family:ui-monospace,"SF Mono","Cascadia Mono",Menlo,Consolas,"Liberation Mono",monospace;
font-size:.92em}
.name{overflow-wrap:anywhere}
nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1.4rem;margin:1.4rem 0 0;padding:0;list-style:none}
nav a{display:inline-block;padding:.25rem 0}
.choice{display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:1rem 0 0;padding:0;border:0;font-size:.9rem}
.choice legend{color:var(--muted);font-size:.8rem;padding:0}
.choice button{all:unset;cursor:pointer;color:var(--link);text-decoration:underline;text-underline-offset:.2em}
.choice button:focus-visible{outline:2px solid var(--link);outline-offset:2px}
[hidden]{display:none!important}
.facts{display:flex;flex-wrap:wrap;gap:.9rem 2.2rem;margin:1.5rem 0 0;
padding:.9rem 0 0;border-top:1px solid var(--rule)}
.facts>div{min-width:0;max-width:22rem}
.facts dt{color:var(--muted);font-size:.8rem}
.facts dd{margin:0;overflow-wrap:anywhere}
.box{position:relative;overflow-x:auto;margin:.8rem 0 0;
background:linear-gradient(to right,var(--paper) 30%,transparent) left/2rem 100% local no-repeat,
linear-gradient(to left,var(--paper) 30%,transparent) right/2rem 100% local no-repeat,
linear-gradient(to right,var(--grid),transparent) left/.6rem 100% scroll no-repeat,
linear-gradient(to left,var(--grid),transparent) right/.6rem 100% scroll no-repeat}
.box.tall{max-height:80vh;overflow-y:auto}
.box.tall thead th{position:sticky;top:0;z-index:1;background:var(--paper);box-shadow:0 1px 0 var(--ink)}
table{border-collapse:collapse;width:100%;font-size:.95rem}
caption{caption-side:top;text-align:left;font-size:.92rem;padding:0 0 .7rem}
.wide{display:block;position:sticky;left:0;max-width:min(46rem,calc(100vw - 2.2rem));white-space:normal}
th,td{padding:.45rem .9rem .45rem 0;text-align:left;vertical-align:baseline;border-bottom:1px solid var(--rule);
font-weight:400}
th:last-child,td:last-child{padding-right:0}
thead th{border-bottom:1px solid var(--ink);font-size:.84rem;font-weight:600;vertical-align:bottom;white-space:nowrap}
tbody th{font-weight:400;max-width:22rem}
tbody th.metric{min-width:10rem}
tbody.group tr:not(:last-child)>*{border-bottom-color:var(--grid)}
tr.over .wide{max-width:min(60rem,calc(100vw - 2.2rem))}
tbody.group tr.over>th{padding-top:1rem;border-bottom:0;max-width:none}
tbody.group tr:last-child>*{padding-bottom:.8rem}
.metric .name{font-size:.95rem;font-weight:600}
tbody td .what,tr:not(.over)>.metric .what{max-width:19rem}
tr:not(.over)>.metric .name{display:block}
tr.over .what{display:inline;margin-left:.7em}
.metric .what{display:block;color:var(--muted);font-size:.82rem;line-height:1.4}
.n{text-align:right;white-space:nowrap}
th.n button{text-align:right}
.value{font-weight:600}
.undefined{color:var(--warn)}
.why{color:var(--muted);font-size:.86rem;overflow-wrap:anywhere}
.tag{display:inline-block;border:1px solid currentColor;border-radius:1em;padding:0 .5em;font-size:.74rem;
line-height:1.35;color:var(--good);vertical-align:.1em;white-space:nowrap}
.tag.plain{color:var(--muted)}
.key{display:inline-block;width:.72em;height:.72em;border-radius:50%;background:currentColor;margin-right:.45em}
.model{white-space:nowrap;max-width:16rem;overflow:hidden;text-overflow:ellipsis}
.drawn{width:42%;min-width:10rem;padding-left:.6rem}
.whiskers{display:inline-block;vertical-align:middle;width:100%;height:24px;overflow:visible}
.whiskers .span{stroke:currentColor;stroke-width:2.4;stroke-linecap:round;fill:none}
.whiskers .dot{fill:currentColor}
.whiskers.good{color:var(--good)}
.whiskers.bad{color:var(--warn)}
.whiskers.unclear{color:var(--muted)}
.whiskers .track{stroke:var(--rule);fill:none}
.whiskers .zero{stroke:var(--muted);stroke-dasharray:3 2;fill:none}
.ends{display:flex;justify-content:space-between;font-size:.74rem;color:var(--muted);line-height:1.2}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,25rem),1fr));gap:2rem 2.5rem;
margin:1.2rem 0 0;align-items:start}
figure{margin:0;min-width:0;max-width:36rem}
figcaption{font-size:.9rem;margin-top:.4rem;overflow-wrap:anywhere}
.plot{display:block;width:100%;height:auto}
.plot text{fill:var(--ink);font-size:12.5px;font-family:inherit}
.plot .tick{fill:var(--muted);font-size:12px}
.plot .axis-label{fill:var(--ink)}
.plot .note{fill:var(--muted)}
.plot .grid{stroke:var(--grid);fill:none}
.plot .axis{stroke:var(--muted);fill:none}
.plot .line{stroke:currentColor;stroke-width:2;stroke-linejoin:round;fill:none}
.plot .band{fill:currentColor;fill-opacity:.17;stroke:currentColor;stroke-opacity:.25;stroke-width:.7}
.plot .error{stroke:currentColor;stroke-width:1.3;stroke-opacity:.75;fill:none}
.plot .marker{fill:currentColor}
.plot .bar{fill:currentColor;fill-opacity:.72}
.plot .whisker{stroke:var(--ink);stroke-width:1.1;fill:none}
.plot .reference{stroke:var(--muted);stroke-dasharray:5 4;fill:none}
.bars{min-width:7.5rem}
.bars .bar{display:block;position:relative;height:.32rem;margin-top:.22rem;background:var(--grid);border-radius:2px}
.bars .bar i{position:absolute;top:0;bottom:0;background:var(--muted);border-radius:2px}
.bars .bar.both::after{content:"";position:absolute;left:50%;top:-.16rem;bottom:-.16rem;
border-left:1px solid var(--ink)}
.tag.worse{color:var(--warn)}
.tag.better::before{content:"\\25B2  ";content:"\\25B2  " / ""}
.tag.worse::before{content:"\\25BC  ";content:"\\25BC  " / ""}
.fate{display:flex;height:.32rem;margin-top:.25rem;min-width:6rem;gap:1px}
.fate i{display:block;background:var(--good)}
.fate .tied{background:var(--rule)}
.fate .lost{background:var(--warn)}
.forest{width:34%;min-width:9rem;padding-left:.6rem}
tr.whole th,tr.whole td{background:var(--panel)}
.sortable tbody th{white-space:nowrap}
.sortable .stay{position:sticky;z-index:1;background:var(--paper)}
.sortable tr.whole .stay{background:var(--panel)}
.sortable thead .stay{z-index:2}
th button{all:unset;cursor:default;white-space:nowrap}
.sorts th button{cursor:pointer}
.sorts th button:hover{text-decoration:underline;text-underline-offset:.25em}
.sorts th button:focus-visible{outline:2px solid var(--link);outline-offset:2px}
.sorts th button::after{content:"\\2195";content:"\\2195" / "";color:var(--muted);padding-left:.3em;font-weight:400}
.sorts th[aria-sort=ascending] button::after{content:"\\2191";content:"\\2191" / "";color:var(--ink)}
.sorts th[aria-sort=descending] button::after{content:"\\2193";content:"\\2193" / "";color:var(--ink)}
.signatures{margin:.8rem 0 0;padding:0;list-style:none}
.signatures li{padding:.5rem 0;border-bottom:1px solid var(--rule);overflow-wrap:anywhere}
.signatures code{user-select:all;-webkit-user-select:all}
.signatures .for{display:block;color:var(--muted);font-size:.84rem}
.stands{margin:0;padding:0;list-style:none;max-width:46rem}
ol.muted,ul.muted{font-size:.92rem;margin:.2rem 0 0;padding-left:1.3rem;max-width:46rem}
p.muted{font-size:.92rem;margin:1rem 0 0}
.stands li+li{margin-top:.15rem}
footer{margin-top:3.5rem;padding-top:1rem;padding-bottom:3rem;font-size:.86rem}
.away{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media (max-width:40rem){
th,td{padding-right:.7rem}
table{font-size:.9rem}
.drawn{min-width:8.5rem}
tbody th.metric{min-width:8.5rem}
h2{margin-top:2.4rem}
}
@media (prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}
@media (forced-colors:active){.key,.bars .bar i{forced-color-adjust:none}}
@media print{
@page{margin:16mm 14mm}
html{font-size:11.5px}
body{background:#fff}
.sortable .n,.sortable .n .why{white-space:normal}
.value,.model{white-space:nowrap}
.bars{min-width:0}
header,main,footer{max-width:none;padding-left:0;padding-right:0}
header{padding-top:0}
nav,.choice,.sorts th button::after{display:none}
.box,.box.tall{overflow:visible;max-height:none}
.box.tall thead th{position:static}
h2{margin-top:1.6rem;break-after:avoid}
h3,caption{break-after:avoid}
figure,tr,.facts{break-inside:avoid}
.figures{grid-template-columns:1fr 1fr;gap:1.2rem}
thead{display:table-header-group}
.box{background:none}
.wide{position:static}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
"""

SCRIPT = """
"use strict";
var choice = document.querySelector(".choice");
function choose() {
  // Rows and columns of metrics whose box is empty are hidden.
  var shown = {};
  choice.querySelectorAll("input").forEach(function (box) { shown[box.value] = box.checked; });
  document.querySelectorAll("tbody[data-metric]").forEach(function (body) {
    body.hidden = shown[body.getAttribute("data-metric")] === false;
  });
  document.querySelectorAll("table.sortable").forEach(function (table) {
    var heads = Array.from(table.tHead.rows[0].cells);
    Array.from(table.rows).forEach(function (row) {
      var place = 0;
      Array.from(row.cells).forEach(function (cell) {
        cell.hidden = cell.colSpan === 1 && shown[heads[place].getAttribute("data-name")] === false;
        place += cell.colSpan;
      });
    });
    stay(table);
  });
}
if (choice) {
  choice.hidden = false;
  choice.addEventListener("change", choose);
  choice.querySelectorAll("button").forEach(function (button) {
    button.addEventListener("click", function () {
      var all = button.getAttribute("data-choose") === "all";
      choice.querySelectorAll("input").forEach(function (box) { box.checked = all; });
      choose();
    });
  });
}
function stay(table) {
  // The first columns stay in sight when the table scrolls sideways, unless they would fill half of its box.
  var count = Number(table.getAttribute("data-stay")), left = 0, lefts = [];
  Array.from(table.tHead.rows[0].cells).slice(0, count).forEach(function (cell) {
    lefts.push(left);
    left += cell.getBoundingClientRect().width;
  });
  var fits = left < table.parentElement.clientWidth / 2;
  Array.from(table.rows).forEach(function (row) {
    var place = 0;
    Array.from(row.cells).forEach(function (cell) {
      if (place < count && cell.colSpan <= count) {
        cell.classList.toggle("stay", fits);
        cell.style.left = fits ? lefts[place] + "px" : "";
      }
      place += cell.colSpan;
    });
  });
}
document.querySelectorAll("table.sortable").forEach(function (table) {
  var said = document.getElementById(table.getAttribute("aria-describedby"));
  table.classList.add("sorts");
  stay(table);
  window.addEventListener("resize", function () { stay(table); });
  function key(row, place) {
    var text = row.cells[place].getAttribute("data-key");
    return text === null ? row.cells[place].textContent : text === "" ? null : Number(text);
  }
  table.tHead.querySelectorAll("button").forEach(function (button) {
    var head = button.closest("th"), place = head.cellIndex;
    button.addEventListener("click", function () {
      var was = head.getAttribute("aria-sort");
      var down = was === "ascending" || (was === "none" && head.classList.contains("n"));
      table.tHead.querySelectorAll("[aria-sort]").forEach(function (other) {
        other.setAttribute("aria-sort", "none");
      });
      if (was === "descending" && head.classList.contains("n")) { down = false; }
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      Array.from(table.tBodies).forEach(function (body) {
        var sorted = Array.from(body.rows).filter(function (row) { return !row.matches(".over,.whole"); });
        var rows = sorted.map(function (row) { return [key(row, place), row]; });
        rows.sort(function (a, b) {
          if (a[0] === null || b[0] === null) { return (a[0] === null) - (b[0] === null); }
          var order = typeof a[0] === "number" ? a[0] - b[0] : a[0].localeCompare(b[0], undefined, {numeric: true});
          return down ? -order : order;
        });
        rows.forEach(function (pair) { body.appendChild(pair[1]); });
      });
      if (said) { said.textContent = "Sorted by " + button.textContent + (down ? ", descending." : ", ascending."); }
    });
  });
});
"""


def properties(palette: Palette) -> str:
    """The palette as CSS custom properties."""
    fields = palette._asdict()
    series = fields.pop("series")
    colors = [f"--{name}:{value}" for name, value in fields.items()]
    return ";".join([*colors, *(f"--s{number}:{value}" for number, value in enumerate(series, 1))])


def style_sheet() -> str:
    """The rules with both palettes. Print is light, and so is a screen without a preference."""
    series = "".join(f".s{number}{{color:var(--s{number})}}" for number in range(1, len(LIGHT.series) + 1))
    return (
        f":root{{color-scheme:light dark;{properties(LIGHT)}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{properties(DARK)}}}}}{series}{RULES}"
    )


def script_hash() -> str:
    """The hash of the script for the page's security policy, which allows no other script."""
    import base64
    import hashlib

    return "sha256-" + base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
