"""Turn the JSON of benchmarks into docs/benchmarks.md and the README's table; neither is edited by hand.

python -m bench.render [RESULTS.json ...]

Every file of bench/results is one run of some of the bench files; a pair that stands in several is taken from the last.
"""

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
DOCUMENT = ROOT / "docs" / "benchmarks.md"
README = ROOT / "README.md"
OPENING, CLOSING = "<!-- benchmarks -->", "<!-- /benchmarks -->"

DISTURBANCE = 0.2  # cores kept busy by other processes; more, and a row says so

Record = dict[str, Any]
Run = dict[str, Any]

HOW = """\
Every pair is run in one process, in turns: ours, theirs, ours, theirs. Before the first turn both answers are compared:
AUC and losses within a relative 1e-12, GAUC, NDCG of long tables and SQL within 1e-9, string ids against int64 ids with
`==`; a pair that differs is not timed. Times are medians of the turns, and a ratio is that of the two medians. Both
sides use their default number of threads where the row does not say otherwise. What a peer needs to own (a polars
frame, a table of DuckDB) is made before the clock starts. The queries are in [`bench/peers.py`](../bench/peers.py): of
several ways to write one, the fastest we found. Columns are made by [`bench/workloads.py`](../bench/workloads.py); the
Parquet log is the one that `fastmetrics sample-log` writes, in row groups of a million. Texts are made by
[`bench/texts.py`](../bench/texts.py); sacrebleu's tokenizers, which remember lines, forget them before every turn.
"""

AGAIN = """\
```bash
pip install -e '.[bench]'
pytest bench/test_rankings.py --benchmark-json=bench/results/ranking.json
python -m bench.render
```

A run of all files (`pytest bench`) takes most of an hour; `--rows 1000000` makes a quick one. The figures above, with
their smallest and largest, are in [`bench/results`](../bench/results).
"""


def main(arguments: list[str]) -> None:
    paths = [Path(argument) for argument in arguments] or sorted(RESULTS.glob("*.json"))
    runs = newest_only([json.loads(path.read_text(encoding="utf-8")) for path in paths])
    DOCUMENT.write_text(document(runs), encoding="utf-8")
    README.write_text(with_table(README.read_text(encoding="utf-8"), readme_table(runs)), encoding="utf-8")


def newest_only(runs: list[Run]) -> list[Run]:
    """The runs, oldest first, without the pairs that a later one measured again."""
    found: set[tuple[str, str]] = set()
    kept = []
    for run in sorted(runs, key=lambda run: run["date"], reverse=True):
        own = [record for record in run["benchmarks"] if (record["test"], record["work"]) not in found]
        found |= {(record["test"], record["work"]) for record in own}
        kept.append(run | {"benchmarks": own})
    return kept[::-1]


# ------------------------------------------------------------------------------------------------------ the two texts


def document(runs: list[Run]) -> str:
    lines = ["# Benchmarks", "", "Written by `python -m bench.render`; do not edit.", "", HOW]
    for number, run in enumerate(runs, start=1):
        lines += [f"## Run {number}", "", about(run), "", *sections(run)]
    return "\n".join([*lines, "## Run it again", "", AGAIN])


def sections(run: Run) -> list[str]:
    """The tables of one run, and what disturbed it."""
    records = [record for record in run["benchmarks"] if has_something_to_say(record)]
    bounded = [record for record in records if record["target"]]
    others = [record for record in records if not record["target"]]
    disturbed = [work_elsewhere(record) for record in records if (record.get("cores_of_others") or 0.0) > DISTURBANCE]
    notes = [f"- {record['work']}, {record['contestant']}: {record['note']}." for record in records if record["note"]]
    lines = []
    if bounded:
        lines += ["### With a target", "", *table(bounded, target=True), ""]
    if notes or disturbed:
        lines += [*notes, *disturbed, ""]
    if others:
        lines += ["### More", "", *table(others, target=False), ""]
    return lines


def readme_table(runs: list[Run]) -> str:
    bounded = [record for run in runs for record in run["benchmarks"] if record["target"] and not is_short(record)]
    source = "[docs/benchmarks.md](docs/benchmarks.md)"
    where = " ".join(dict.fromkeys(map(about, runs)))
    more = f"How it was measured, and more rows, each function on 100 rows among them: {source}."
    return "\n".join([*table(bounded, target=True), "", f"{where} {more}"])


def is_short(record: Record) -> bool:
    """One of the many functions on a hundred rows, beside scikit-learn."""
    return bool(record["test"].startswith("test_beside_scikit_learn"))


def with_table(text: str, lines: str) -> str:
    """The README with the text between the two marks replaced."""
    if text.count(OPENING) != 1 or text.count(CLOSING) != 1 or text.index(OPENING) > text.index(CLOSING):
        raise ValueError(f"{README} must have the lines {OPENING} and {CLOSING}, once each and in this order")
    before, after = text.partition(OPENING)[0], text.partition(CLOSING)[2]
    return f"{before}{OPENING}\n{lines}\n{CLOSING}{after}"


def about(run: Run) -> str:
    machine, versions = run["machine"], dict(run["versions"])
    ours, python = versions.pop("fastmetrics"), versions.pop("python")
    memory = f", {machine['memory_gb']:.0f} GB" if machine["memory_gb"] else ""
    others = ", ".join(f"{name} {number}" for name, number in versions.items() if name != "pytest-benchmark")
    where = f"{machine['cpu']}, {machine['cores']} cores{memory}, {machine['system']}"
    return f"fastmetrics {ours} on {run['date'][:10]}: {where}; Python {python}, {others}."


# ------------------------------------------------------------------------------------------------------------- tables


def has_something_to_say(record: Record) -> bool:
    """Ours alone is a row of its own only where it has a bound; beside a peer it stands in the peer's row."""
    return record["peer"] is not None or record["target"] is not None


def work_elsewhere(record: Record) -> str:
    busy = f"other processes kept {record['cores_of_others']:.1f} cores busy meanwhile, so these times are too long"
    return f"- {record['work']}, {record['contestant']}: {busy}."


def table(records: list[Record], *, target: bool) -> list[str]:
    heads = ["work", "fastmetrics", "peer", "its time", "ratio", *(["target", "met"] if target else [])]
    lines = [heads, ["---", "---:", "---", "---:", "---:", *["---"] * (len(heads) - 5)]]
    said = None
    for record in records:
        cells = [record["work"] if record["work"] != said else "″", *figures(record)]
        if target:
            cells += [bound(record), "yes" if met(record) else "**no**"]
        lines.append(cells)
        said = record["work"]
    return ["| " + " | ".join(line) + " |" for line in lines]


def figures(record: Record) -> list[str]:
    """Ours, the peer's name, theirs, the ratio."""
    ours = record["ours"]["median"]
    if record["peer"] is None:
        amounts = {"bytes a row": f"{ours:.1f} bytes a row", "MiB": f"{ours:.0f} MiB"}
        return [amounts.get(record["target"]["of"]) or duration(ours), "", "", ""]
    theirs = record["peer"]["median"]
    estimated = "about " if record["note"] and record["note"].startswith("extrapolated") else ""
    return [duration(ours), record["contestant"], estimated + duration(theirs), ratio_text(record)]


def ratio_text(record: Record) -> str:
    ours, theirs = record["ours"]["median"], record["peer"]["median"]
    slower = record["target"]["of"] == "time" if record["target"] else ours > theirs
    return f"{ours / theirs:.2f}x the time" if slower else f"{significant(theirs / ours)}x"


def measured(record: Record) -> float:
    """The quantity that the target bounds."""
    ours = record["ours"]["median"]
    of = record["target"]["of"]
    if of == "speed":
        return record["peer"]["median"] / ours
    return ours / record["peer"]["median"] if of == "time" else ours


def met(record: Record) -> bool:
    limit = record["target"]["limit"]
    return measured(record) >= limit if record["target"]["kind"] == "at least" else measured(record) <= limit


def bound(record: Record) -> str:
    kind, limit, of = (record["target"][key] for key in ("kind", "limit", "of"))
    quantity = {"speed": f"{limit:g}x", "time": f"{limit:g}x the time", "bytes a row": f"{limit:g} bytes a row"}
    quantity["MiB"] = f"{limit:g} MiB"
    return f"{kind} {duration(limit) if of == 'seconds' else quantity[of]}"


def duration(seconds: float) -> str:
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{significant(seconds / size)} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def significant(number: float) -> str:
    """Three digits, and no more than one after the point: 1.2, 23.4, 867, 12,300."""
    if number < 100:
        return f"{number:.3g}"
    return f"{float(f'{number:.3g}'):,.0f}"


if __name__ == "__main__":
    main(sys.argv[1:])
