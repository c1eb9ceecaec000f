"""What `tools/build_site.py` is made of: sources of the site, generated pages, the configuration of Sphinx, checks.

`pages.py` says which page stands where, `sources.py` writes what Sphinx reads, `conf.py` configures it, and `links.py`
and `looks.py` check what it wrote. Modules here may import `fastmetrics`: it is the checkout's own. Only
`build_site.py`, and tests, import them. Start with `pages.py`.
"""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Repository"]
