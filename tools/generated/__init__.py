"""What `tools/generate.py` writes: a module for each kind of generated file, with a function `outputs()`.

`outputs()` returns the text of each file, by its path. Modules here may import `fastmetrics`: it is the checkout's own.
Start with `public_names.py`.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "fastmetrics"
