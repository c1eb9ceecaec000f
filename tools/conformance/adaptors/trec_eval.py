"""pytrec_eval's tests, which compare with files that trec_eval wrote, and with values worked out by hand.

`pytrec_eval.RelevanceEvaluator` is replaced. The folder needs pytrec_eval's `tests/` and trec_eval's `test/` below
`trec_eval/`, as `git clone --recurse-submodules` makes them; neither is in a package on PyPI.
"""

import math
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tools.conformance.suite import Calls, Suite

Values = dict[str, dict[str, float]]
SETS_OF_MEASURES = ("all_trec", "official", "set")
# Measures of pytrec_eval with a parameter, which stands after the last underscore, or after a point.
WITH_PARAMETERS = (
    "iprec_at_recall", "map_cut", "ndcg_cut", "P", "recall", "relative_P", "Rprec_mult", "set_F", "success",
)  # fmt: skip
ADDED_QUERY = "\N{UNIT SEPARATOR}"  # in both files, so that neither is empty
# Sets of measures with the geometric mean of one.
WITH_GEOMETRIC_MEAN = {"map": {"official", "all_trec", "gm_map"}, "bpref": {"all_trec", "gm_bpref"}}
SMALLEST_MEAN = 1e-5  # trec_eval's geometric means take smaller values for it


def measure_name(name: str) -> str:
    """A measure as trec_eval names it: ndcg_cut_5 is ndcg_cut.5."""
    for base in WITH_PARAMETERS:
        parameter = name[len(base) + 1 :]
        if name.startswith((f"{base}_", f"{base}.")) and parameter.replace(".", "").replace(",", "").isdigit():
            return f"{base}.{parameter}"
    return name


def named_values(measures: Iterable[str], values: Mapping[str, Any]) -> dict[str, float]:
    """The values of a query by pytrec_eval's names, with what trec_eval prints in its summary only."""
    found = {"set_F" if name.startswith("set_F") else name: 0.0 if name == "relstring" else float(value)
             for name, value in values.items()}  # fmt: skip
    of_every_query = {"runid": 0.0, "num_q": 1.0}
    found |= {name: own for name, own in of_every_query.items() if not {*SETS_OF_MEASURES, name}.isdisjoint(measures)}
    for name in ("map", "bpref"):
        if name in values and not WITH_GEOMETRIC_MEAN[name].isdisjoint(measures):
            found[f"gm_{name}"] = math.log(max(values[name], SMALLEST_MEAN))
    return found


class RelevanceEvaluator:
    """pytrec_eval's class: judgments, measures, and their values for each query of a run."""

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: int = 0,
    ) -> None:
        self.qrels = query_relevance
        self.measures = sorted({measure_name(name) for name in measures})
        self.options = {"relevance_level": relevance_level, "judged_only": bool(judged_docs_only_flag)}

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> Values:
        import fastmetrics as fm

        qrels = {query: self.qrels[query] for query in scores if query in self.qrels}
        lines = [f"{query} 0 {item} {grade}" for query in qrels for item, grade in qrels[query].items()]
        rows = [f"{query} Q0 {item} 0 {score!r} run" for query in qrels for item, score in scores[query].items()]
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder, name) for name in ("qrels", "run")]
            paths[0].write_text("\n".join([*lines, f"{ADDED_QUERY} 0 item 1\n"]), encoding="utf-8")
            paths[1].write_text("\n".join([*rows, f"{ADDED_QUERY} Q0 item 0 1 run\n"]), encoding="utf-8")
            found = fm.evaluate_trec(*paths, self.measures, complete=True, **self.options)
        names = [name for name in found.per_query.keys() if name != "query"]  # noqa: SIM118  iteration gives rows
        return {
            query: named_values(self.measures, {name: found.per_query[name][row] for name in names})
            for row, query in enumerate(found.queries)
            if query != ADDED_QUERY
        }


def replace(calls: Calls) -> int:
    import pytrec_eval

    if not calls.plain:
        pytrec_eval.RelevanceEvaluator = RelevanceEvaluator
    return calls.replace(pytrec_eval.RelevanceEvaluator, "evaluate", RelevanceEvaluator.evaluate)


SUITE = Suite(
    library="pytrec_eval-terrier",
    source="git",
    repository="https://github.com/cvangysel/pytrec_eval",
    files=("tests/pytrec_eval_tests.py",),
    requirements=("pytrec_eval-terrier==0.5.11", "pytest"),
    replace=replace,
)
