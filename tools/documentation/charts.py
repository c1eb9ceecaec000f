"""The bars on the page of benchmarks: how many times longer the other side takes, from bench/results.json.

A bar is a piece of HTML whose length is a share of the width, so it fits on a phone and into a dark page.
"""

import math
from html import escape

from bench import render


def add(page: str) -> str:
    """The page of benchmarks with a chart below the command of each section."""
    runs = render.newest_only(render.read_runs())
    records = [record for run in runs for record in run["benchmarks"] if record["peer"]]
    for title, files in render.SECTIONS.items():
        chosen = [record for record in records if render.files_of_section(record) == files]
        command = f"`pytest {files}`\n"
        if chosen and f"## {title}\n\n{command}" in page:
            page = page.replace(f"## {title}\n\n{command}", f"## {title}\n\n{command}\n{chart(chosen)}\n")
    return page


def chart(records: list[render.Record]) -> str:
    """Bars from 1 on a logarithmic axis, the longest first. Bars of slower rows have another color."""
    ordered = sorted(records, key=render.ratio, reverse=True)
    longest = max(1.0, *(abs(math.log10(render.ratio(record))) for record in ordered))
    bars = "".join(bar(record, longest) for record in ordered)
    head = "Time of the other side divided by the time of fastmetrics, on a logarithmic axis from 1"
    return f'```{{raw}} html\n<figure class="bars"><figcaption>{head}</figcaption>\n{bars}</figure>\n```\n'


def bar(record: render.Record, longest: float) -> str:
    ratio = render.ratio(record)
    length = 100 * abs(math.log10(ratio)) / longest
    kind = "slower" if ratio < 1 else "faster"
    name = escape(f"{record['work']} / {record['contestant']}".replace("`", ""))
    return (
        f'<div class="row"><span class="name">{name}</span><span class="track"><span class="{kind}" '
        f'style="width:{length:.1f}%"></span></span><span class="ratio">{render.ratio_text(record)}</span></div>\n'
    )
