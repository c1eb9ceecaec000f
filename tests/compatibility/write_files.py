"""Write what version 0.1 wrote to files: states of accumulators, documents of reports, and the output of commands.

It was run on version 0.1, and what it wrote is a promise: every later version reads these states and says the same of
them. Files and entries are never written again, only new ones are added.

Run it from the folder `tests`: python -m compatibility.write_files
"""

import gzip
import json
import os
import tempfile
from pathlib import Path

from compatibility import commands, states
from compatibility.encoding import FOLDER, extend
from compatibility.engine_cases import engine_cases, evaluated
from compatibility.object_cases import COMPARISONS, compared

# Evaluations whose whole document is stored, beside those of the states.
REPORTS = ["binary: slices", "binary: normal intervals of slices", "graded: plain", "real: weights", "text: plain"]
REPORTS += ["partition: slices", "binary: one class"]


def write() -> None:
    folder = FOLDER / "files" / "states"
    folder.mkdir(parents=True, exist_ok=True)
    for name in states.STATES:
        path = folder / f"{name}.gz"
        if not path.exists():
            path.write_bytes(gzip.compress(states.make(name).to_bytes(), mtime=0))
    extend("results_of_states.json", {name: states.result_of(states.make(name)) for name in states.STATES})
    cases = engine_cases()
    extend("reports.json", {name: json.loads(evaluated(cases[name]).to_json()) for name in REPORTS})
    extend("comparisons.json", {name: json.loads(compared(name).to_json()) for name in COMPARISONS})
    os.environ["COLUMNS"] = commands.COLUMNS
    with tempfile.TemporaryDirectory() as inputs:
        commands.write_inputs(Path(inputs))
        done = {name: commands.run(name, Path(inputs)) for name in commands.COMMANDS}
    extend("commands.json", {name: {"code": own.code, "output": own.output.split("\n")} for name, own in done.items()})


if __name__ == "__main__":
    write()
