"""ir_measures' tests of its providers pytrec_eval, ranx and gdeval.

What the providers call is replaced: `pytrec_eval.RelevanceEvaluator`, the functions of `ranx.metrics`, and the Perl
program gdeval. Other providers compute measures that fastmetrics does not have. The source distribution lacks the file
`tests/base.py`, which most tests need, so the tests come from the repository.
"""

import importlib
from collections.abc import Iterator
from typing import Any

from tools.conformance.adaptors import ranx, trec_eval
from tools.conformance.suite import Calls, Suite

GDEVAL_DIGITS = 5  # gdeval prints so many


def gdeval_values(self: Any, run: Any) -> Iterator[Any]:
    """ERR and NDCG as gdeval prints them; of equal scores, the greater item id comes first."""
    import ir_measures

    import fastmetrics as fm

    qrels: dict[str, dict[str, int]] = {}
    for row in self.qrels:
        qrels.setdefault(row.query_id, {})[row.doc_id] = row.relevance
    retrieved = ir_measures.util.RunConverter(run).as_dict_of_dict()
    run_of_judged = {query: items for query, items in retrieved.items() if query in qrels}
    for cutoff, *measures in self.invocations:
        names = [f"ndcg(gain=exp2)@{cutoff}", f"err(max_grade=4)@{cutoff}"]
        if not run_of_judged:
            continue
        found = fm.evaluate_ranking(qrels, run_of_judged, names, ties="docid", missing="drop").per_query
        for name, measure in zip(names, measures, strict=True):
            for query, value in zip(found["query"], found[name], strict=True) if measure is not None else ():
                yield ir_measures.Metric(query_id=str(query), measure=measure, value=round(float(value), GDEVAL_DIGITS))


def replace(calls: Calls) -> int:
    provider = importlib.import_module("ir_measures.providers.gdeval_provider")
    number = trec_eval.replace(calls) + ranx.replace(calls)
    return number + calls.replace(provider.GdevalEvaluator, "_iter_calc", gdeval_values)


SUITE = Suite(
    library="ir_measures",
    source="git",
    repository="https://github.com/terrierteam/ir_measures",
    files=("tests/test_pytrec_eval.py", "tests/test_ranx.py", "tests/test_gdeval.py", "tests/test_measures.py"),
    # ranx asks for texts of pandas 2; `tests/test_measures.py` asks for cwl-eval.
    requirements=(
        "ir-measures==0.4.3",
        "pytrec_eval-terrier==0.5.11",
        "ranx==0.3.21",
        "cwl-eval==1.0.12",
        "pandas<3",
        "pytest",
    ),
    replace=replace,
)
