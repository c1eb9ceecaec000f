"""`python -m fastmetrics.selfcheck`: the command `fastmetrics selfcheck`, without the extra `cli`."""

import argparse
import json
import sys

from fastmetrics.selfcheck.checks import run_selfcheck
from fastmetrics.selfcheck.report_text import report_lines
from fastmetrics.selfcheck.standard_streams import checked_streams, flush

INTERRUPTED = 130


def main() -> int:
    """Run the checks and return the exit code: 0 passed, 1 failed or not written, 2 wrong usage."""
    with checked_streams():
        try:
            code = check_and_print()
        except SystemExit as stop:  # argparse wrote its help, or that the usage is wrong
            code = int(stop.code or 0)
        except KeyboardInterrupt:
            code = INTERRUPTED
        return code or flush()


def check_and_print() -> int:
    parser = argparse.ArgumentParser(prog="python -m fastmetrics.selfcheck", description=__doc__)
    seed_help = "draws other rows for the definitions; default 0"
    parser.add_argument("--seed", type=int, default=0, metavar="N", help=seed_help)
    parser.add_argument("--json", action="store_true", help="write the report as JSON")
    options = parser.parse_args()
    report = run_selfcheck(options.seed)
    lines = [json.dumps(report.to_dict(), indent=2)] if options.json else report_lines(report)
    try:
        sys.stdout.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return int(bool(report.failures))


if __name__ == "__main__":
    sys.exit(main())
