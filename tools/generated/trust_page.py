"""The table of other libraries' tests in docs/trust.md, from the counts that tools/conformance/results.json stores."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generated import ROOT

PAGE = ROOT / "docs" / "trust.md"
RESULTS = ROOT / "tools" / "conformance" / "results.json"
SECTION = re.compile(r"(<!-- suites -->\n).*?(<!-- /suites -->)", re.DOTALL)
OFTEN = 100  # skips for one reason are shown
SOURCES = {"installed": "the installed package", "sdist": "its source distribution", "git": "its repository"}


def outputs() -> dict[Path, str]:
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    section = "\n".join([*table(results), "", *reasons(results)])
    text = PAGE.read_text(encoding="utf-8")
    return {PAGE: SECTION.sub(lambda found: f"{found[1]}{section}\n{found[2]}", text)}


def table(results: dict[str, Any]) -> Iterator[str]:
    yield "| suite | library | tests from | passed | failed | skipped |"
    yield "|---|---|---|--:|--:|--:|"
    for name, own in results.items():
        source = SOURCES[own["source"]]
        if own["source"] == "git":
            source = f"[{source}]({own['repository']})"
        counts = " | ".join(f"{own[kind]:,}" for kind in ("passed", "failed", "skipped"))
        yield f"| `{name}` | {own['library']} | {source} | {counts} |"


def reasons(results: dict[str, Any]) -> Iterator[str]:
    yield "Why tests fail or are skipped:"
    yield ""
    for name, own in results.items():
        for reason, number in own["failures"].items():
            yield f"- `{name}`, {number} failed: {reason}."
        often = {reason: number for reason, number in own["skips"].items() if number >= OFTEN}
        for reason, number in often.items():
            yield f"- `{name}`, {number} skipped: {reason.rstrip('.')}."
        if rest := own["skipped"] - sum(often.values()):
            yield f"- `{name}`, {rest} skipped for other reasons: `tools/conformance/results.json` has them."
