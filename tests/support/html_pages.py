"""Parsed pages, rules of accessibility, and reports to make pages of."""

import re
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np

import fastmetrics as fm
from fastmetrics._core.plot import Bars, Line, Plot
from fastmetrics.engine.results.report import Report, attach_plots
from fastmetrics.engine.results.result import Result

VOID = {"meta", "link", "br", "hr", "img", "input", "col", "base"}
HOSTILE = [
    "<script>alert(1)</script>",
    "</script><b>",
    "</style><img src=x onerror=alert(1)>",
    "\"quoted\" 'twice' & <i>",
    "--><!--",
    "x" * 3000,
    "имя 名前 🙂 \u202e\u0000\n\t",
    "javascript:alert(1)",
    "",
]


class Element:
    """A tag with its attributes, parents and text."""

    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent, self.children, self.texts = tag, attributes, parent, [], []

    def __getitem__(self, name):
        return self.attributes.get(name)

    def all(self, *tags):
        for child in self.children:
            if child.tag in tags:
                yield child
            yield from child.all(*tags)

    def text(self):
        return "".join(part if isinstance(part, str) else part.text() for part in self.texts)

    def inside(self, *tags):
        return self.tag in tags or (self.parent is not None and self.parent.inside(*tags))


class Page(HTMLParser):
    """The page as a tree; tags that are not closed in order are an error."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.root = self.here = Element("page", {}, None)
        self.feed(html)
        self.close()
        assert self.here is self.root, f"<{self.here.tag}> is not closed"

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), f"an attribute twice: {self.get_starttag_text()}"
        element = Element(tag, dict(attributes), self.here)
        self.here.children.append(element)
        self.here.texts.append(element)
        if tag not in VOID:
            self.here = element

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.here.tag == tag, f"</{tag}> closes <{self.here.tag}>"
        self.here = self.here.parent

    def handle_data(self, text):
        self.here.texts.append(text)

    def all(self, *tags):
        return list(self.root.all(*tags))

    def one(self, tag):
        (element,) = self.all(tag)
        return element

    def elements(self):
        waiting = [self.root]
        while waiting:
            element = waiting.pop()
            yield element
            waiting += element.children

    def identified(self, ident):
        (element,) = (own for own in self.elements() if own["id"] == ident)
        return element


def named_by(page, element):
    """The name that a screen reader gives to an element."""
    if element["aria-label"]:
        return element["aria-label"]
    if element["aria-labelledby"]:
        idents = element["aria-labelledby"].split()
        return " ".join(own.text() for own in page.elements() if own["id"] in idents)
    return element.text()


def complaints(html):
    """Broken rules of accessibility, as far as the page shows them."""
    page = Page(html)
    found = []

    def rule(broken, text, element=None):
        if broken:
            found.append(text if element is None else f"{text}: <{element.tag} {element.attributes}>")

    rule(not page.one("html")["lang"], "no lang")
    rule(not page.one("title").text().strip() if len(page.all("title")) == 1 else False, "no title")
    names = {own["name"]: own["content"] for own in page.all("meta")}
    rule("width=device-width" not in (names.get("viewport") or ""), "no viewport")
    rule(re.search(r"user-scalable=no|maximum-scale", names.get("viewport") or ""), "zoom is forbidden")
    rule(len(page.all("main")) != 1, "not one main")
    levels = [int(own.tag[1]) for own in page.all("h1", "h2", "h3", "h4", "h5", "h6")]
    rule(levels[:1] != [1] or levels.count(1) != 1, "not one h1, first")
    rule(any(b - a > 1 for a, b in pairwise(levels)), "a level of headings is left out")
    idents = [own["id"] for own in page.elements() if own["id"] is not None]
    rule(len(idents) != len(set(idents)), "an id twice")
    for own in page.elements():
        for name in ("aria-labelledby", "aria-describedby"):
            rule(any(ident not in idents for ident in (own[name] or "").split()), f"{name} leads nowhere", own)
        rule(own["href"] is not None and own["href"][1:] not in idents, "a link leads nowhere", own)
        rule(own["tabindex"] is not None and int(own["tabindex"]) > 0, "positive tabindex", own)
        rule(any(name.startswith("on") for name in own.attributes), "a script in an attribute", own)
        rule(own["role"] in ("region", "img") and not named_by(page, own).strip(), "without a name", own)
        rule(own["tabindex"] == "0" and not own["role"], "takes the focus and has no role", own)
    for own in page.all("svg"):
        drawn = own["role"] == "img" and {"title", "desc"} <= {child.tag for child in own.children}
        rule(not drawn and own["aria-hidden"] != "true", "a plot without words", own)
    rule(any(own["alt"] is None for own in page.all("img")), "an image without alt")
    for own in page.all("th"):
        rule(own["scope"] not in ("col", "row", "colgroup", "rowgroup"), "th without scope", own)
        rule(not own.text().strip() and own["scope"] != "col", "an empty th", own)
    for own in page.all("table"):
        rule([child.tag for child in own.children][:1] != ["caption"], "a table without a caption", own)
        rule(not next(own.all("caption")).text().strip(), "an empty caption", own)
    for own in page.all("button"):
        rule(not named_by(page, own).strip(), "a button without a name", own)
        rule(own["type"] != "button", "a button that submits", own)
        rule(own.inside("th") and own.parent["aria-sort"] is None, "a button that sorts without aria-sort", own)
    rule(any(not named_by(page, own).strip() for own in page.all("a")), "a link without a name")
    return found


def plots(names=("a", "b"), band=True):
    """A plot of every kind."""
    share = np.linspace(0, 1, 50)
    lines, rates, marks, bars = [], [], [], []
    for place, name in enumerate(names):
        y = share ** (0.3 + 0.2 * place)
        ends = (np.clip(y - 0.03, 0, 1), np.clip(y + 0.03, 0, 1)) if band else (None, None)
        lines.append(Line(name, share, y, *ends, note="AUC 0.7312"))
        rates.append(Line(name, np.linspace(0.01, 0.9, 30), np.linspace(0.8, 0.02, 30)))
        marks.append(Line(name, share[::5], y[::5], markers=True))
        bars.append(Bars(name, np.linspace(0, 1, 11), np.arange(10) / (45 + place)))
    chance = Line("chance", np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    return {
        "roc": Plot("roc", "ROC curve", "False positive rate", "True positive rate", tuple(lines), (), chance),
        "det": Plot("det", "DET", "False positives", "False negatives", tuple(rates), scale="normal"),
        "calibration": Plot("calibration", "Calibration", "Predicted", "Observed", tuple(marks), summary="Wide."),
        "bars": Plot("bars", "AUC inside groups", "AUC", "Share", bars=tuple(bars)),
    }


def result(metric="auc", score="a", value=0.75, *, slice=None, interval=None, reason=None, coverage=None, label="y"):  # noqa: A002
    ci = "" if interval is None else "|ci:0.95|method:bootstrap|replicates:1000|seed:0|unit:user"
    signature = f"{metric}|v:{fm.__version__}{ci}"
    return Result(
        metric, score, slice or {}, value, signature, {"rows": 10} if coverage is None else coverage, reason,
        label=label, interval=interval,
    )  # fmt: skip


def report(results, drawn=None, missing=None, **options):
    columns = {"label": "y", "score": tuple(dict.fromkeys(own.score for own in results))}
    made = Report(results, **{"rows": 10, "columns": columns, "version": fm.__version__, "seconds": 0.25} | options)
    return attach_plots(made, drawn or {}, missing or {})


def full_report():
    """Two models, three metrics, slices, intervals, an undefined value, every plot."""
    nan = float("nan")
    results = []
    for part in ({}, {"day": 1}, {"day": 2}, {"day": 10}):
        for place, score in enumerate("ab"):
            value = 0.7 + place / 10 + len(results) / 1000
            results.append(result("auc", score, value, slice=part, interval=(value - 0.01, value + 0.02)))
            results.append(result("logloss", score, 0.3 + place, slice=part))
            none = {"reason": "only one class is present"} if part == {"day": 2} else {}
            results.append(result("ne", score, nan if none else 1.5, slice=part, **none))
    return report(results, plots(), {"lift": "scores are no probabilities"}, dropped={"null in a": 3})


def luminance(color: str) -> float:
    """Relative luminance of an sRGB color (WCAG 2.2)."""
    channels = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast of two colors, 1 to 21 (WCAG 2.2)."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)
