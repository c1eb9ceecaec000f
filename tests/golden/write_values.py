"""Write the values of all cases: files/values_*.json, one case a line.

A value that changes is named in the changelog, with the reason.

Run it from the folder `tests`: python -m golden.write_values
"""

from golden import engine_cases, metric_values
from golden.encoding import outcome, write
from golden.function_cases import function_cases
from golden.object_cases import object_cases


def write_values() -> None:
    write("values_of_functions.json", {name: outcome(call) for name, call in function_cases().items()})
    write("values_of_objects.json", {name: outcome(call) for name, call in object_cases().items()})
    cases = engine_cases.engine_cases()
    reports = {name: engine_cases.encode_report(engine_cases.evaluated(case)) for name, case in cases.items()}
    write("values_of_evaluate.json", reports)
    values = {name: value() for name, value in metric_values.value_cases().items()}
    write("values_of_metrics.json", {"log": metric_values.log_digest(), **values})


if __name__ == "__main__":
    write_values()
