"""Write what Sphinx reads: the pages of the repository with their links changed, and the generated pages.

Links between pages work on GitHub as they stand; here they are changed to the places on the site. A link to a file
that is no page leads to the repository.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from documentation import REPOSITORY, ROOT, catalogue, charts, commands, diagrams, pages, reference

FENCE = re.compile(r"^(```+).*?^\1$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?P<text>\[[^\[\]]*\])\((?!https?:|mailto:|#)(?P<path>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
PICTURES = (".png", ".svg")
MORE = "# More\n\nWhat changed, how to contribute, and pages that belong to no other section:\n\n"


def write(folder: Path) -> None:
    """Write the sources into the folder. A file that stays as it was keeps its time, so Sphinx does not read it."""
    contents = dict(files())
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in contents:
            path.unlink()
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_bytes() != content:
            path.write_bytes(content)


def files() -> Iterator[tuple[str, bytes]]:
    """Path in the folder of sources, and what stands there."""
    places = pages.places()
    pictures: set[Path] = set()
    contents = {section.index: toctree(section, places) for section in pages.sections()}
    for own, place in places.items():
        if own not in pages.LEFT_OUT:
            text = (ROOT / own).read_text(encoding="utf-8") + contents.get(own, "")
            text = diagrams.replace(change_links(text, own, places, pictures))
            yield place, (charts.add(text) if own == "docs/benchmarks.md" else text).encode()
    more = next(section for section in pages.sections() if not section.index)
    # Sphinx fills in the titles.
    listed = "".join(f"- []({posixpath.relpath(places[page], more.folder)})\n" for page in more.pages)
    yield "more/index.md", (MORE + listed + contents[""]).encode()
    for generated in (reference, catalogue, commands):
        for place, text in generated.pages():
            yield place, text.encode()
    for path in pictures:
        yield f"pictures/{path.name}", path.read_bytes()


def toctree(section: pages.Section, places: dict[str, str]) -> str:
    names = (posixpath.relpath(places[page], section.folder).removesuffix(".md") for page in section.pages)
    return toctree_of(f"{pages.GUIDES[name]} <{name}>" if name in pages.GUIDES else name for name in names)


def toctree_of(names: Iterable[str]) -> str:
    lines = "\n".join(names)
    return f"\n```{{toctree}}\n:hidden:\n\n{lines}\n```\n"


def change_links(text: str, own: str, places: dict[str, str], pictures: set[Path]) -> str:
    """The text of a page with its links changed, outside of code."""
    place = places[own]

    def change(match: re.Match[str]) -> str:
        target = (ROOT / own).parent.joinpath(match["path"]).resolve()
        name = target.relative_to(ROOT).as_posix()
        if target.suffix in PICTURES:
            pictures.add(target)
        elif name not in places:
            return f"{match['text']}({REPOSITORY}/{'tree' if target.is_dir() else 'blob'}/main/{name})"
        to = places.get(name, f"pictures/{target.name}")
        # A link that shows the name of the file shows the title of the page here: Sphinx fills in an empty text.
        text = "[]" if match["text"] == f"[{match['path']}]" else match["text"]
        return f"{text}({posixpath.relpath(to, posixpath.dirname(place))}{match['anchor'] or ''})"

    parts, last = [], 0
    for fence in FENCE.finditer(text):
        parts += [LINK.sub(change, text[last : fence.start()]), fence[0]]
        last = fence.end()
    return "".join([*parts, LINK.sub(change, text[last:])])
