"""Internal links of the built site: each leads to a file, and each anchor to an element."""

import re
from functools import cache
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINKED = re.compile(r"""<(?:a|link|script|img|iframe|source)\b[^>]*?\s(?:href|src)=(?:"([^"]*)"|'([^']*)')""")
NAMED = re.compile(r"""\s(?:id|name)=(?:"([^"]*)"|'([^']*)')""")


def pages(site: Path) -> list[Path]:
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.relative_to(site).parts)


def complaints(site: Path) -> list[str]:
    """A line for each internal link that leads nowhere."""
    return [
        f"{page.relative_to(site).as_posix()}: {own}: {reason}"
        for page in pages(site)
        for own in sorted(links(page))
        if (reason := broken(site, page, own))
    ]


def links(page: Path) -> set[str]:
    return {unescape(one or other) for one, other in LINKED.findall(page.read_text(encoding="utf-8"))}


def broken(site: Path, page: Path, link: str) -> str | None:
    """Why the link does not lead where it should; None if it does, or if it leads to another site."""
    parts = urlsplit(link)
    if parts.scheme == "mailto":
        return "an address of mail, which no page has"
    if parts.scheme or parts.netloc:
        return None
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_relative_to(site):
        return "leaves the site"
    if not target.is_file():
        return "no such file"
    if parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in anchors(target):
        return "no such anchor"
    return None


@cache
def anchors(page: Path) -> frozenset[str]:
    text = page.read_text(encoding="utf-8")
    return frozenset({unescape(one or other) for one, other in NAMED.findall(text)} | {"", "top"})
