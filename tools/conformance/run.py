"""Run the tests of another library with the functions of fastmetrics in place of its own.

The tests are fetched from the library's public package or repository, into a temporary folder, with a virtual
environment for what they need. A test counts if it calls a replaced function; with --plain nothing is replaced,
which shows the tests that fail by themselves. Errors and warnings are compared by kind: their texts are fastmetrics'
own, which name the argument and the row. With --texts the library's text is compared too.

Exit status: 0 if no test fails but those that the adaptor explains, otherwise 1.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:] = [str(ROOT), *(path for path in sys.path if Path(path or ".").resolve() != Path(__file__).parent)]

from tools.conformance import counting, sources  # noqa: E402
from tools.conformance.suite import Suite  # noqa: E402

NAMES = ("sklearn", "sacrebleu", "ir_measures", "ranx", "trec_eval", "pycocotools", "faster_coco_eval")
RESULTS = Path(__file__).with_name("results.json")
EXAMPLES = """examples:
  python tools/conformance/run.py sacrebleu
  python tools/conformance/run.py ranx --source ~/src/ranx             a checkout of yours
  python tools/conformance/run.py sklearn --here -k ndcg               in the running environment
  python tools/conformance/run.py sklearn --here --show test_ranking   also the reports of failures
"""


def load(name: str) -> Suite:
    suite: Suite = import_module(f"tools.conformance.adaptors.{name}").SUITE
    return suite


def run_here(name: str, options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run the tests in this process; what happened, as a dict."""
    suite = load(name)
    files = options.only or suite.files
    choice = counting.Choice(files, options.words, options.show, options.plain, options.texts)
    started = time.perf_counter()
    plugin = counting.run_tests(suite, folder, choice)
    outcomes = {kind: plugin.outcomes.get(kind, {}) for kind in ("passed", "failed", "skipped")}
    seconds = round(time.perf_counter() - started)
    return {"version": suite.version(), "outcomes": outcomes, "others": plugin.other_tests, "seconds": seconds}


def run_elsewhere(name: str, arguments: list[str], options: argparse.Namespace, temporary: Path) -> dict[str, Any]:
    """Run the tests in an environment of their own."""
    suite = load(name)
    python = sources.make_environment(suite, temporary)
    if options.source is None and suite.source != "installed":
        arguments = [*arguments, "--source", str(sources.find_tests(suite, temporary))]
    report = temporary / "report.json"
    command = [str(python), str(Path(__file__)), *arguments, "--here", "--report", str(report)]
    subprocess.run(command, cwd=temporary)
    if not report.is_file():
        raise SystemExit(f"the tests of {name} did not run")
    found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return found


def explanation(suite: Suite, test: str) -> str:
    """Why the adaptor says that a test fails; empty if it does not."""
    return next((why for name, why in suite.explained.items() if test.partition("[")[0].endswith(f"::{name}")), "")


def summarize(name: str, found: dict[str, Any]) -> dict[str, Any]:
    """What is stored of a run: counts, and the reasons of failures and skips."""
    suite, outcomes = load(name), found["outcomes"]
    failures = Counter(explanation(suite, test) or f"not explained: {test}" for test in outcomes["failed"])
    return {
        "library": f"{suite.library} {found['version']}",
        "source": suite.source,
        "repository": suite.repository,
        **{kind: len(outcomes[kind]) for kind in ("passed", "failed", "skipped")},
        "failures": dict(sorted(failures.items())),
        "skips": dict(sorted(Counter(outcomes["skipped"].values()).items())),
        "seconds": found["seconds"],
    }


def show(name: str, found: dict[str, Any]) -> bool:
    """Print the outcome; is every failure explained?"""
    suite, outcomes = load(name), found["outcomes"]
    for test, reason in outcomes["failed"].items():
        print("failed:", test, "|", explanation(suite, test) or reason)
    for reason, number in Counter(outcomes["skipped"].values()).items():
        print(f"skipped: {number} | {reason}")
    passed, failed, skipped = (len(outcomes[kind]) for kind in ("passed", "failed", "skipped"))
    unexplained = [test for test in outcomes["failed"] if not explanation(suite, test)]
    print(
        f"{passed} passed, {failed} failed ({failed - len(unexplained)} explained), {skipped} skipped; "
        f"{found['others']} tests call nothing that was replaced; {found['seconds']} s"
    )
    return passed > 0 and not unexplained


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=NAMES, help="the suite")
    parser.add_argument("--source", type=Path, metavar="PATH", help="a folder with the library's tests: do not fetch")
    parser.add_argument("--here", action="store_true", help="use the running environment; make none")
    parser.add_argument("--only", nargs="+", metavar="FILE", help="files or folders, in place of the suite's")
    parser.add_argument("-k", dest="words", default="", metavar="WORDS", help="tests, as pytest's -k chooses them")
    parser.add_argument("--show", default="", metavar="WORDS", help="tests to run with the reports of their failures")
    parser.add_argument("--plain", action="store_true", help="replace nothing")
    parser.add_argument("--texts", action="store_true", help="compare the texts of errors and warnings too")
    parser.add_argument("--record", action="store_true", help=f"write the counts into {RESULTS.name}")
    parser.add_argument("--report", type=Path, metavar="FILE", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main() -> int:
    arguments = sys.argv[1:]
    options = parse(arguments)
    if options.source is not None:
        options.source = options.source.expanduser().resolve()
    with tempfile.TemporaryDirectory(prefix="fastmetrics-conformance-") as folder:
        temporary = Path(folder)
        if options.here:
            tests = options.source or sources.find_tests(load(options.name), temporary)
            found = run_here(options.name, options, tests)
        else:
            arguments = [own for own in arguments if own != "--record"]
            found = run_elsewhere(options.name, arguments, options, temporary)
    if options.report is not None:
        options.report.write_text(json.dumps(found), encoding="utf-8")
        return 0
    passes = show(options.name, found)
    if options.record:
        results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
        results[options.name] = summarize(options.name, found)
        ordered = {name: results[name] for name in NAMES if name in results}
        RESULTS.write_text(json.dumps(ordered, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    return int(not passes)


if __name__ == "__main__":
    sys.exit(main())
