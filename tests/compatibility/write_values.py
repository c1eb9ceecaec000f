"""Write the values of all cases: files/values_*.json, one case a line.

It was run on version 0.1, and what it wrote is a promise: entries are never written again, only new ones are added.

Run it from the folder `tests`: python -m compatibility.write_values
"""

from compatibility import engine_cases
from compatibility.encoding import extend, outcome
from compatibility.function_cases import function_cases
from compatibility.object_cases import object_cases


def write() -> None:
    extend("values_of_functions.json", {name: outcome(call) for name, call in function_cases().items()})
    extend("values_of_objects.json", {name: outcome(call) for name, call in object_cases().items()})
    cases = engine_cases.engine_cases()
    reports = {name: engine_cases.encode_report(engine_cases.evaluated(case)) for name, case in cases.items()}
    extend("values_of_evaluate.json", reports)
    extend("options_of_metrics.json", engine_cases.refusals())


if __name__ == "__main__":
    write()
