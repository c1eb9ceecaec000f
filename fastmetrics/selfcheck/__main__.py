"""`python -m fastmetrics.selfcheck`: the command `fastmetrics selfcheck`, without the extra `cli`."""

import argparse
import json
import sys

from fastmetrics.selfcheck.checks import run_selfcheck
from fastmetrics.selfcheck.report_text import report_lines


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fastmetrics.selfcheck", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="draws other rows; default 0")
    parser.add_argument("--json", action="store_true", help="write the report as JSON")
    options = parser.parse_args()
    report = run_selfcheck(options.seed)
    lines = [json.dumps(report.to_dict(), indent=2)] if options.json else report_lines(report)
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return int(bool(report.failures))


if __name__ == "__main__":
    sys.exit(main())
