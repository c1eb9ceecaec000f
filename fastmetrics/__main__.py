"""``python -m fastmetrics`` is the command ``fastmetrics``."""

import sys

from fastmetrics.cli import main

if __name__ == "__main__":
    sys.exit(main())
