"""Write docs/benchmarks.md, docs/speed.svg and the README's table from bench/results.json; none is edited by hand.

    python -m bench             measures everything, and writes them
    python -m bench.render      writes them from what was measured

`bench/results.json` is one run of all bench files, with its machine and versions. If there are several runs, or files
that were not measured, the page says so; if several runs have the same pair, the last one is used.
"""

import json
import math
import re
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results.json"
DOCUMENT = ROOT / "docs" / "benchmarks.md"
CHART = ROOT / "docs" / "speed.svg"
README = ROOT / "README.md"
OPENING, CLOSING = "<!-- benchmarks -->", "<!-- /benchmarks -->"

FULL_ROWS = 10_000_000
DISTURBANCE = 0.2  # mean number of cores that other processes kept busy; a larger number is noted below the table

# Title and bench files of a section.
SECTIONS = {
    "Scores and curves": "bench/curves",
    "Probabilities": "bench/probability",
    "Labels": "bench/classification",
    "Numbers": "bench/regression",
    "Users, ranked lists, runs": "bench/ranking",
    "Clusters": "bench/clustering",
    "Boxes and masks": "bench/detection",
    "Texts": "bench/text",
    "Significance": "bench/significance",
    "Logs": "bench/engine",
    "Spark": "bench/spark",
    "Functions on 100 rows": "bench/engine/test_small.py",
}

# Rows of the README and bars of the chart: how the work begins, and the peer. The fastest peer of a work is among them.
MAIN_ROWS = (
    ("`roc_auc_score`, 10M float32 scores, 5% positives", "scikit-learn"),
    ("`roc_auc_score`, 10M float32 scores, 5% positives", "polars `rank`"),
    ("`log_loss`, 10M float64", "scikit-learn"),
    ("`gauc_score`, 10M rows, 1M users", "polars, users without a click left out first"),
    ("`evaluate` of auc, gauc, logloss, ne, copc", "DuckDB SQL"),
    ("`ndcg_score` k=10, 10M rows, lists of about 100 (int64 ids, shuffled), clicks", "polars, by sorting"),
    ("`evaluate_ranking` of dicts of dicts", "pytrec_eval"),
    ("`adjusted_rand_score`, 10M int64 labels", "scikit-learn"),
    ("`evaluate`, ari and nmi of 10M rows in Parquet, 100 x 100 labels, integers", "polars, formulas"),
    ("`coco_map`, 5k images, 500k detections, dicts", "faster-coco-eval"),
    ("`corpus_bleu`, 13a, 20k segments", "sacrebleu"),
    ("`rouge_score`, 1, 2 and L, 20k pairs of 25 words", "rouge-score"),
)

Record = dict[str, Any]
Run = dict[str, Any]

HOW = """\
Each row is one pair, run in one process in turns: ours, theirs, ours, theirs. Where both compute the same values, these
are compared before the first turn: AUC and losses within a relative 1e-12; GAUC, NDCG of long tables and SQL within
1e-9; string ids against int64 ids with `==`. A pair that differs is not timed. Times are medians of the turns. `12x`
means that the other took twelve times as long as fastmetrics; `1.5x the time` means that fastmetrics took longer. Some
rows compare two ways to use fastmetrics.

Both sides use their default number of threads unless the row names another. The data of a peer (a polars frame, a
DuckDB table) are made before the timing starts. The queries are in [`bench/peers.py`](../bench/peers.py), each written
in the fastest way we found. Columns are made by [`bench/workloads.py`](../bench/workloads.py). The Parquet log is
written by `fastmetrics sample-log`, in row groups of a million. Texts are made by
[`bench/texts.py`](../bench/texts.py); the line caches of sacrebleu's tokenizers are cleared before every turn.

Times with the smallest and the largest are in [`bench/results.json`](../bench/results.json). To measure all of it
again, in a clone, on a machine that does nothing else:

```bash
pip install -e '.[bench]'
python -m bench
```

This takes about 45 minutes on two cores and needs Java. `python -m bench --rows 100000 --results /tmp/quick.json` makes
a quick run.
"""


def main() -> None:
    for path, text in rendered().items():
        path.write_text(text, encoding="utf-8")


def rendered() -> dict[Path, str]:
    """The files and their text."""
    runs = newest_only(read_runs())
    rows = main_rows(runs)
    readme = with_table(README.read_text(encoding="utf-8"), readme_table(rows))
    return {DOCUMENT: document(runs), CHART: chart(rows), README: readme}


def read_runs(path: Path = RESULTS) -> list[Run]:
    found: list[Run] = json.loads(path.read_text(encoding="utf-8"))["runs"]
    return found


def missing_files(runs: list[Run]) -> list[str]:
    """The bench files of which no run has a row."""
    measured = {record["file"] for run in runs for record in run["benchmarks"]}
    files = (path.relative_to(ROOT).as_posix() for path in (ROOT / "bench").rglob("test_*.py"))
    return sorted(file for file in files if file not in measured)


def warnings_of(runs: list[Run]) -> list[str]:
    """What keeps these numbers from being one run of everything, as paragraphs of the page."""
    lines = []
    if len(runs) > 1:
        days = sorted(run["date"][:10] for run in runs)
        lines.append(
            f"**These are {len(runs)} runs** from {days[0]} to {days[-1]}, not one: rows of different machines or "
            "versions cannot be compared with each other."
        )
    if (rows := {run["rows"] for run in runs}) != {FULL_ROWS}:
        counts = ", ".join(f"{count:,}" for count in sorted(rows))
        lines.append(f"**This is a quick run**: its large workloads have {counts} rows.")
    if missing := missing_files(runs):
        lines.append(f"**Not measured**: {', '.join(f'`{file}`' for file in missing)}.")
    return [text for line in lines for text in (line, "")]


def newest_only(runs: list[Run]) -> list[Run]:
    """The runs, oldest first, without the pairs that a later run has measured again."""
    seen: set[tuple[str, ...]] = set()
    kept = []
    for run in sorted(runs, key=lambda run: run["date"], reverse=True):
        records = {pair(record): record for record in run["benchmarks"] if pair(record) not in seen}
        seen |= set(records)
        kept.append(run | {"benchmarks": list(records.values())})
    return kept[::-1]


def pair(record: Record) -> tuple[str, ...]:
    return record["file"], record["work"], record["contestant"]


# ----------------------------------------------------------------------------------------------------------- the page


def document(runs: list[Run]) -> str:
    machines = list(dict.fromkeys(map(describe_run, runs)))
    numbered = [(machines.index(describe_run(run)) + 1, record) for run in runs for record in run["benchmarks"]]
    lines = ["# Benchmarks", "", "Written by `python -m bench`; do not edit.", "", *warnings_of(runs), HOW]
    lines += ["Machines and versions, by the number in the last column:", ""]
    lines += [*(f"{number}. {machine}" for number, machine in enumerate(machines, start=1)), ""]
    numbered.sort(key=lambda row: row[1]["file"])
    for title, files in SECTIONS.items():
        chosen = [(number, record) for number, record in numbered if files_of_section(record) == files]
        if chosen:
            lines += [f"## {title}", "", f"`pytest {files}`", "", *table(chosen), "", *notes(chosen)]
    return "\n".join(lines).rstrip("\n") + "\n"


def files_of_section(record: Record) -> str:
    """The folder of the record's file, or the file itself if it is a section of its own."""
    return max((files for files in SECTIONS.values() if record["file"].startswith(files)), key=len)


def describe_run(run: Run) -> str:
    machine, versions = run["machine"], dict(run["versions"])
    ours, python = versions.pop("fastmetrics"), versions.pop("python")
    memory = f", {machine['memory_gb']:.0f} GB" if machine["memory_gb"] else ""
    others = ", ".join(f"{name} {number}" for name, number in versions.items() if name != "pytest-benchmark")
    where = f"{machine['cpu']}, {machine['cores']} cores{memory}, {machine['system']}"
    return f"fastmetrics {ours} on {run['date'][:10]}: {where}; Python {python}, {others}."


def table(rows: list[tuple[int, Record]]) -> list[str]:
    """A line for every pair, and for what was measured of fastmetrics alone."""
    with_peer = {record["work"] for _, record in rows if record["peer"]}
    lines = ["| work | fastmetrics | beside | its time | ratio | machine |", "|---|--:|---|--:|--:|--:|"]
    previous = None
    for number, record in rows:
        if record["peer"] or record["work"] not in with_peer:
            work = "″" if record["work"] == previous else record["work"]
            lines.append(f"| {' | '.join([work, *format_values(record), str(number)])} |")
            previous = record["work"]
    return lines


def notes(rows: list[tuple[int, Record]]) -> list[str]:
    lines = []
    for _, record in rows:
        busy = record["cores_of_others"] or 0.0
        found = [record["note"]] if record["note"] else []
        if busy > DISTURBANCE:
            found.append(f"other processes used {busy:.1f} cores meanwhile, so these times are too long")
        lines += [f"- {record['work']}, {record['contestant']}: {note}." for note in found]
    return [*lines, ""] if lines else []


def format_values(record: Record) -> list[str]:
    """The cells of our value, the peer's name, the peer's value and the ratio."""
    ours = record["ours"]["median"]
    if record["peer"] is None:
        unit = record["unit"]
        return [f"{significant(ours)} {unit}" if unit else duration(ours), "", "", ""]
    estimated = "about " if record["note"] and record["note"].startswith("extrapolated") else ""
    return [duration(ours), record["contestant"], estimated + duration(record["peer"]["median"]), ratio_text(record)]


def ratio(record: Record) -> float:
    return float(record["peer"]["median"] / record["ours"]["median"])


def ratio_text(record: Record) -> str:
    times_faster = ratio(record)
    return f"{1 / times_faster:.2f}x the time" if times_faster < 1 else f"{significant(times_faster)}x"


# ----------------------------------------------------------------------------------------------- README and the chart


def main_rows(runs: list[Run]) -> list[Record]:
    records = [record for run in runs for record in run["benchmarks"]]
    return [
        next(record for record in records if record["work"].startswith(work) and record["contestant"] == peer)
        for work, peer in MAIN_ROWS
    ]


def readme_table(records: list[Record]) -> str:
    """Cells without spaces around them: the README has a limit of words, and a bar between spaces counts as one."""
    lines = ["|work|ours|peer|its time|ratio|", "|---|--:|---|--:|--:|"]
    for record in records:
        ours, peer, theirs, times_faster = format_values(record)
        lines.append(f"|{record['work']}|{ours}|{peer}|{theirs}|{times_faster}|")
    return "\n".join(lines)


def with_table(text: str, lines: str) -> str:
    """The README with the text between the two marks replaced."""
    if text.count(OPENING) != 1 or text.count(CLOSING) != 1 or text.index(OPENING) > text.index(CLOSING):
        raise ValueError(f"{README} must have the lines {OPENING} and {CLOSING}, once each and in this order")
    before, after = text.partition(OPENING)[0], text.partition(CLOSING)[2]
    return f"{before}{OPENING}\n{lines}\n{CLOSING}{after}"


LEFT, DECADE, BAR = 380, 150, 22  # width of the names, width of a factor of ten, height of a row

STYLE = """\
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .axis { fill: #59636e } line { stroke: #d1d9e0 } rect { fill: #1f5fa8 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .axis { fill: #9198a1 } line { stroke: #3d444d } rect { fill: #6cb0f5 }
  }"""


def chart(records: list[Record]) -> str:
    """Horizontal bars of the ratios on a logarithmic axis from 1, the longest first."""
    records = sorted(records, key=ratio, reverse=True)
    decades = math.ceil(math.log10(ratio(records[0])))
    bottom, width = 30 + BAR * len(records), LEFT + DECADE * decades + 30
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 24}" width="{width}" role="img">',
        "<title>Time of a peer divided by the time of fastmetrics, on a logarithmic axis</title>",
        f"<style>\n{STYLE}\n</style>",
        '<text class="axis" x="0" y="14">time of the peer / time of fastmetrics (logarithmic)</text>',
    ]
    for decade in range(decades + 1):
        x = LEFT + DECADE * decade
        lines.append(f'<line x1="{x}" x2="{x}" y1="24" y2="{bottom}"/>')
        lines.append(f'<text class="axis" x="{x}" y="{bottom + 16}" text-anchor="middle">{10**decade:,}x</text>')
    for row, record in enumerate(records):
        y = 28 + BAR * row
        length = DECADE * math.log10(ratio(record))
        lines.append(f'<text x="{LEFT - 8}" y="{y + 13}" text-anchor="end">{escape(bar_name(record))}</text>')
        lines.append(f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR - 6}"/>')
        lines.append(f'<text x="{LEFT + length + 6:.1f}" y="{y + 13}">{ratio_text(record)}</text>')
    return "\n".join([*lines, "</svg>\n"])


def bar_name(record: Record) -> str:
    """The function, the metrics if the function is `evaluate`, and the peer."""
    found = re.match(r"`([\w.]+)`(?:(?: of|,) ([a-z, ]+?)(?= on| of))?", record["work"])
    function, metrics = found.groups() if found else (record["work"], None)
    what = f"{function} of {metrics}" if metrics else function
    return f"{what} / {record['contestant'].partition(',')[0]}".replace("`", "")


# ------------------------------------------------------------------------------------------------------------ numbers


def duration(seconds: float) -> str:
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{significant(seconds / size)} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def significant(number: float) -> str:
    """A number with three significant digits: 1.2, 23.4, 867, 12,300."""
    if number < 100:
        return f"{number:.3g}"
    return f"{float(f'{number:.3g}'):,.0f}"


if __name__ == "__main__":
    main()
