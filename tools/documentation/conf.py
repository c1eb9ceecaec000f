"""The configuration of Sphinx. `build_site.py` puts the checkout and `tools/` onto the path first."""

import re
from typing import Any

import fastmetrics as fm
from documentation.docstrings import escape_formulas
from documentation.reference import families

project = "fastmetrics"
author = "The fastmetrics developers"
copyright = f"{author}, BSD-3-Clause"  # noqa: A001
version = release = fm.__version__
extensions = [
    "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.viewcode", "numpydoc", "myst_parser",
    "sphinx_copybutton", "sphinx_design",
]  # fmt: skip
html_theme = "pydata_sphinx_theme"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_title = "fastmetrics"
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
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
}


MODULES = {family.folder: family.module for family in families()}
BACK = re.compile(r'(href="[^"]*/reference/(\w+)/\w+\.html)#fastmetrics\.(?:(?:extend|spark|testing)\.)?')


def mend_links_to_documentation(app: Any, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """viewcode takes all names of a source for those of one public module, which its links back name."""
    if name.startswith("_modules/"):
        context["body"] = BACK.sub(lambda match: f"{match[1]}#{MODULES[match[2]]}.", context["body"])


def setup(app: Any) -> None:
    app.connect("html-page-context", mend_links_to_documentation)
    app.connect("autodoc-process-docstring", escape_formulas, priority=100)
