"""The configuration of Sphinx. `build_site.py` puts the checkout and `tools/` onto the path first."""

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

import fastmetrics as fm
from documentation import REPOSITORY, ROOT
from documentation.docstrings import escape_formulas

project = "fastmetrics"
author = "The fastmetrics developers"
copyright = f"{author}, BSD-3-Clause"  # noqa: A001
version = release = fm.__version__
extensions = [
    "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.linkcode", "numpydoc", "myst_parser",
    "sphinx_copybutton", "sphinx_design",
]  # fmt: skip
html_theme = "pydata_sphinx_theme"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_title = "fastmetrics"
# Pages without a section have no list beside them.
html_sidebars: dict[str, list[str]] = {"index": [], "tutorial": [], "recipes": [], "benchmarks": []}
html_show_sourcelink = False
html_copy_source = False
default_role = "code"
smartquotes = False
autosummary_generate = False
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
nitpicky = True
html_theme_options = {
    "collapse_navigation": True,
    "icon_links": [{"name": "Repository", "url": REPOSITORY, "icon": "fa-brands fa-github"}],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
}


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """The lines of a public name in the repository; None for what is no function, class or method."""
    value: Any = import_module(info["module"])
    for name in info["fullname"].split("."):
        value = getattr(value, name, None)
    try:
        value = inspect.unwrap(getattr(value, "fget", None) or value)
        path, (lines, first) = inspect.getsourcefile(value), inspect.getsourcelines(value)
    except (TypeError, OSError):
        return None
    name = Path(path or "").relative_to(ROOT).as_posix()
    return f"{REPOSITORY}/blob/main/{name}#L{first}-L{first + len(lines) - 1}"


def skip_members_of_python(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Python's own texts: the numbers of a named tuple's fields, and the methods that all errors have."""
    is_field = str(getattr(member, "__doc__", "")).startswith("Alias for field number")
    return True if is_field or name in ("add_note", "with_traceback") else None


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", escape_formulas, priority=100)
    app.connect("autodoc-skip-member", skip_members_of_python)
