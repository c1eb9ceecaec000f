"""Flowcharts of Mermaid as SVG: the site needs neither a network nor a script for them.

The part of Mermaid that the pages use: `flowchart TD`, nodes with texts, chains of arrows with labels, and subgraphs
with `direction LR`. A layer has the nodes whose longest way from a source has the same length.
"""

import re
from collections import defaultdict
from html import escape
from typing import NamedTuple

BLOCK = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SUBGRAPH = re.compile(r'subgraph (\w+)\["(.*)"\]')
NODE = re.compile(r'\s*(\w+)(?:\["(.*?)"\])?\s*')
ARROW = re.compile(r'(?:-- "(.*?)" )?-->')
CHARACTER, LINE, PADDING, GAP, DROP = 6.8, 18, 10, 22, 42
ASIDE = 90  # beside the boxes, for arrows that skip a layer
TAG = re.compile(r"<[^>]+>")


class Box(NamedTuple):
    """A node, or a subgraph with what is in it; width and height, and its parts at their places."""

    width: float
    height: float
    parts: tuple[str, ...]


class Chart:
    """Nodes and arrows of one level, and the charts of its subgraphs."""

    def __init__(self, title: str = "", direction: str = "TD") -> None:
        self.title, self.direction = title, direction
        self.nodes: dict[str, str] = {}
        self.arrows: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.charts: dict[str, Chart] = {}

    def layers(self) -> list[list[str]]:
        names = [*self.nodes, *self.charts]
        depth = dict.fromkeys(names, 0)
        for _ in names:
            for above, below in self.arrows:
                depth[below] = max(depth[below], depth[above] + 1)
        return [[name for name in names if depth[name] == level] for level in range(max(depth.values()) + 1)]


def replace(text: str) -> str:
    """The text of a page with its flowcharts drawn."""
    return BLOCK.sub(lambda match: f"```{{raw}} html\n{draw(match[1])}\n```", text)


def draw(source: str) -> str:
    box = layout(parse(source))
    head = f'<svg viewBox="0 0 {box.width:.0f} {box.height:.0f}" width="{box.width:.0f}" role="img">'
    arrow = '<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    marker = f'<defs>{arrow}<path d="M0,0 L8,4 L0,8 z"/></marker></defs>'
    return f'<div class="diagram">{head}{marker}{"".join(box.parts)}</svg></div>'


def parse(source: str) -> Chart:
    open_charts = [Chart()]
    outermost = open_charts[0]
    home: dict[str, Chart] = {}
    for line in map(str.strip, source.splitlines()[1:]):
        chart = open_charts[-1]
        if found := SUBGRAPH.match(line):
            open_charts.append(Chart(found[2]))
            outermost.charts[found[1]] = open_charts[-1]
            home[found[1]] = outermost
        elif line == "end":
            open_charts.pop()
        elif line.startswith("direction "):
            chart.direction = line.split()[1]
        elif line:
            add_chain(line, chart, home)
    return outermost


def add_chain(line: str, chart: Chart, home: dict[str, Chart]) -> None:
    """The nodes and arrows of a line such as `a["text"] -- "label" --> b --> c`."""
    labels = [match[1] for match in ARROW.finditer(line)]
    names = []
    for part in re.split(r'(?:-- ".*?" )?-->', line):
        name, text = NODE.fullmatch(part).groups()
        if name not in home:
            home[name] = chart
            chart.nodes[name] = text or name
        elif text:
            home[name].nodes[name] = text
        names.append(name)
    for above, below, label in zip(names, names[1:], labels, strict=False):
        home[above].arrows[above, below] += [label] if label else []


def node_box(text: str) -> Box:
    lines = text.split("<br>")
    width = max(len(TAG.sub("", line)) for line in lines) * CHARACTER + 2 * PADDING
    height = len(lines) * LINE + PADDING
    written = [
        f'<text x="{width / 2:.0f}" y="{PADDING / 2 + 13 + number * LINE}" text-anchor="middle"'
        f"{' class=' + chr(34) + 'strong' + chr(34) if '<b>' in line else ''}>{escape(TAG.sub('', line))}</text>"
        for number, line in enumerate(lines)
    ]
    return Box(width, height, (f'<rect width="{width:.0f}" height="{height}" rx="6"/>', *written))


def layout(chart: Chart) -> Box:
    """The boxes of a chart by layers, from top to bottom or from left to right, and the arrows between them."""
    boxes = {name: node_box(text) for name, text in chart.nodes.items()}
    boxes |= {name: framed(layout(own), own.title) for name, own in chart.charts.items()}
    down = chart.direction == "TD"
    layers = chart.layers()
    across = [sum(along(boxes[name], not down) for name in layer) + GAP * (len(layer) - 1) for layer in layers]
    places: dict[str, tuple[float, float]] = {}
    skipping = down and any(skips(layers, arrow) for arrow in chart.arrows)
    side = ASIDE if skipping else 0
    position = 0.0
    for layer, length in zip(layers, across, strict=True):
        thickness = max(along(boxes[name], down) for name in layer)
        offset = side + (max(across) - length) / 2
        for name in layer:
            start = position + (thickness - along(boxes[name], down)) / 2
            places[name] = (offset, start) if down else (start, offset)
            offset += along(boxes[name], not down) + GAP
        labels = max((len(own) for arrow, own in chart.arrows.items() if arrow[0] in layer), default=0)
        position += thickness + (DROP + max(0, labels - 1) * LINE if down else GAP + 6)
    parts = [moved(boxes[name], x, y) for name, (x, y) in places.items()]
    arrows = [arrow_parts(pair, labels, boxes, places, layers, down) for pair, labels in chart.arrows.items()]
    size = (2 * side + max(across), position - DROP) if down else (position - GAP - 6, max(across))
    return Box(size[0], size[1], (*(part for own in arrows for part in own), *parts))


def along(box: Box, down: bool) -> float:
    return box.height if down else box.width


def skips(layers: list[list[str]], arrow: tuple[str, str]) -> bool:
    above, below = (next(level for level, layer in enumerate(layers) if name in layer) for name in arrow)
    return below - above > 1


def arrow_parts(pair, labels, boxes, places, layers, down):
    """The line of an arrow and its labels. An arrow that skips a layer goes around it."""
    (x, y), (to_x, to_y) = places[pair[0]], places[pair[1]]
    box, to_box = boxes[pair[0]], boxes[pair[1]]
    if not down:
        middle, to_middle = y + box.height / 2, to_y + to_box.height / 2
        return [f'<path class="arrow" d="M{x + box.width:.0f},{middle:.0f} L{to_x:.0f},{to_middle:.0f}"/>']
    start, end = (x + box.width / 2, y + box.height), (to_x + to_box.width / 2, to_y)
    if skips(layers, pair):
        right = start[0] > end[0]
        turn = max(x + box.width, to_x + to_box.width) + ASIDE / 2 if right else min(x, to_x) - ASIDE / 2
        start_x, end_x = (x + box.width, to_x + to_box.width) if right else (x, to_x)
        path = f"M{start_x:.0f},{y + box.height / 2:.0f} H{turn:.0f} V{to_y + to_box.height / 2:.0f} H{end_x:.0f}"
        text_x, text_y = turn + 6, y + box.height + DROP / 2
    else:
        path = f"M{start[0]:.0f},{start[1]:.0f} L{end[0]:.0f},{end[1]:.0f}"
        text_x, text_y = (start[0] + end[0]) / 2 + 8, (start[1] + end[1]) / 2 + 4
    text_y -= (len(labels) - 1) * LINE / 2
    written = [
        f'<text class="label" x="{text_x:.0f}" y="{text_y + number * LINE:.0f}">{escape(label)}</text>'
        for number, label in enumerate(labels)
    ]
    return [f'<path class="arrow" d="{path}"/>', *written]


def framed(box: Box, title: str) -> Box:
    """A subgraph: its boxes in a frame, below its title."""
    plain = TAG.sub("", title)
    width, height = max(box.width, len(plain) * CHARACTER) + 2 * PADDING, box.height + LINE + 2 * PADDING
    frame = f'<rect class="frame" width="{width:.0f}" height="{height:.0f}" rx="8"/>'
    head = f'<text x="{PADDING}" y="{PADDING + 8}">{escape(plain)}</text>'
    return Box(width, height, (frame, head, moved(box, (width - box.width) / 2, PADDING + LINE)))


def moved(box: Box, x: float, y: float) -> str:
    return f'<g transform="translate({x:.0f},{y:.0f})">{"".join(box.parts)}</g>'
