# Written by tools/generate.py from python_numbers.pyx.

from typing import Any

import numpy as np

def read_numbers(values: list[Any]) -> np.ndarray | None: ...
