"""Which page of the repository stands where on the site.

A page of `docs/` that no section names is added to the section "More". So a new page needs no edit here, unless it
belongs elsewhere.
"""

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import NamedTuple

from documentation import ROOT


class Section(NamedTuple):
    """A folder of the site: the page that opens it, and the others, in order."""

    folder: str
    index: str
    pages: tuple[str, ...]


# Name of a guide -> how the list beside the pages calls it.
GUIDES = {
    "ctr": "Click logs", "ranking": "Ranked lists", "recommendation": "Recommendations", "significance": "Significance",
    "inputs": "Files, tables, streams", "expressions": "Filters and expressions", "jobs": "Scoring jobs",
    "spark": "Spark", "distributed": "Other engines",
    "training": "Training loops", "integrations": "Other tools", "cli": "Command line",
    "text": "Text", "detection": "Detection",
    "clustering": "Clustering", "reports": "Reports and plots", "sklearn": "In place of scikit-learn",
    "trec": "trec_eval's measures", "types": "Types", "extending": "Metrics of your own",
}  # fmt: skip
# The site has another page in its place.
LEFT_OUT = {"docs/functions.md": "reference/index.md", "README.md": "index.md"}
OTHERS = {
    "tools/documentation/home.md": "index.md", "docs/tutorial.md": "tutorial.md", "docs/recipes.md": "recipes.md",
    "docs/benchmarks.md": "benchmarks.md", "docs/definitions.md": "reference/definitions.md",
}  # fmt: skip
OF_PROJECT = ("CHANGELOG.md", "CONTRIBUTING.md")


def sections() -> list[Section]:
    """The sections whose pages are files of the repository; the index of the last one is generated."""
    guides = existing(f"docs/{name}.md" for name in GUIDES)
    internals = [page for page in listed("docs/internals") if not page.endswith("/README.md")]
    placed = {*guides, *LEFT_OUT, *OTHERS, "docs/README.md", "docs/architecture.md"}
    more = [page for page in listed("docs") if page not in placed]
    return [
        Section("guides", "docs/README.md", tuple(guides)),
        Section("internals", "docs/internals/README.md", ("docs/architecture.md", *internals)),
        Section("more", "", (*more, *OF_PROJECT)),
    ]


def places() -> dict[str, str]:
    """Path in the repository -> path in the sources of the site."""
    found = LEFT_OUT | {page: OTHERS[page] for page in existing(OTHERS)}
    for section in sections():
        if section.index:
            found[section.index] = f"{section.folder}/index.md"
        found |= {page: f"{section.folder}/{PurePosixPath(page).name.lower()}" for page in section.pages}
    return found


def existing(pages: Iterable[str]) -> list[str]:
    return [page for page in pages if (ROOT / page).is_file()]


def listed(folder: str) -> list[str]:
    return [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / folder).glob("*.md"))]
