"""`python -m tools.conformance NAME`."""

import sys

from tools.conformance.run import main

sys.exit(main())
