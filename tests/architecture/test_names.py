"""Names: a class name stands once, and a metric is found in a file of the name people search for."""

import ast
import inspect
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest

from architecture.sources import PACKAGE, listed, read, relative, source_files

pytestmark = pytest.mark.skipif(not PACKAGE.is_dir(), reason=f"no sources to read: {PACKAGE} is not a directory")

# Words of a function's name that say little about which metric it is.
COMMON_WORDS = {"score", "error", "loss", "mean", "at", "k", "by", "curve", "label", "and", "of", "sentence", "corpus"}
# Files of several metrics that share one statistic, and files known by another name of the metric.
ALSO_CALLED = {
    "average_precision_at_k": "mean_average_precision",
    "benjamini_hochberg": "multiple_testing",
    "clipped_rows": "log_loss",
    "completeness_score": "v_measure",
    "coverage_error": "label_ranking",
    "cumulative_gain": "dcg",
    "equal_error_rate": "eer",
    "expected_reciprocal_rank": "err",
    "explained_variance_score": "r2_score",
    "f1_at_k": "precision_at_k",
    "f1_score": "precision_recall_fscore",
    "fbeta_score": "precision_recall_fscore",
    "holm": "multiple_testing",
    "homogeneity_score": "v_measure",
    "ideal_dcg": "dcg",
    "mean_reciprocal_rank": "mrr",
    "pcoc": "copc",
    "rank_biased_precision": "rbp",
    "read_qrels": "trec_files",
    "read_run": "trec_files",
    "read_segments": "segment_files",
    "recall_at_k": "precision_at_k",
    "roc_auc_interval": "delong",
    "token_nll": "perplexity",
    "tokenize": "tokenizers",
    "zero_one_loss": "accuracy",
}


FOUND = """
import sys
sys.path.append(sys.argv[1])
import fastmetrics as fm
from fastmetrics._core import registry, upper_layers
assert "auc" in fm.list_metrics()
upper_layers.METRIC_PACKAGES.append("sample.metrics")
assert "sample.metrics.family.zulu" not in sys.modules
assert "zulu" in fm.list_metrics()
assert registry.parse("zulu").spec.family == "family"
"""
ZULU = """
from fastmetrics._core.registry import metric

@metric("zulu", exchange="none", statistics=lambda: (), function=None, undefined="never")
def finalize(parameters):
    ...
"""


def classes_defined_twice(sources: Mapping[str, str]) -> list[str]:
    """Names of classes that stand in two files, or twice in one."""
    places = defaultdict(list)
    for name, text in sources.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{name}:{node.lineno}")
    return [f"class {name}: {', '.join(found)}" for name, found in sorted(places.items()) if len(found) > 1]


def is_found_by_name(function: str, stem: str) -> bool:
    """Does a file's name tell that the function is there? They share a word that is not in every name."""
    if ALSO_CALLED.get(function) == stem:
        return True
    words = set(re.findall(r"[a-z]+[0-9]*", function.lower()))
    names = set(re.findall(r"[a-z]+[0-9]*", stem.lower()))
    return function == stem or bool((words - COMMON_WORDS) & (names - COMMON_WORDS)) or stem in function


def test_a_class_name_stands_once():
    sources = {relative(path): read(path) for path in source_files("fastmetrics", suffixes={".py"})}
    complaints = classes_defined_twice(sources)
    assert not complaints, listed(complaints)


def test_a_metric_is_in_a_file_of_its_name():
    import fastmetrics as fm

    complaints = []
    for name in fm.__all__:
        function = getattr(fm, name)
        module = getattr(function, "__module__", "")
        if not inspect.isfunction(inspect.unwrap(function)) or not module.startswith("fastmetrics.metrics."):
            continue
        path = Path(inspect.getfile(inspect.unwrap(function)))
        if not is_found_by_name(name, path.stem):
            complaints.append(f"{name} is defined in {relative(path)}: nobody would search there")
    assert not complaints, listed(complaints)


@pytest.mark.parametrize("name", ["mrr", "bpref", "ks", "dcg", "xauc", "gauc", "auc", "eer", "ndcg"])
def test_the_well_known_metrics_have_files(name):
    assert list((PACKAGE / "metrics").glob(f"*/{name}.py")), f"no metrics/<family>/{name}.py"


def test_a_module_of_a_new_family_is_found(tmp_path):
    """No list names it; it is imported when the registry is asked."""
    family = tmp_path / "sample" / "metrics" / "family"
    family.mkdir(parents=True)
    for folder in (family, family.parent, family.parent.parent):
        (folder / "__init__.py").touch()
    (family / "zulu.py").write_text(ZULU, encoding="utf-8")
    run = subprocess.run([sys.executable, "-c", FOUND, str(tmp_path)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_second_class_of_a_name_is_found():
    assert classes_defined_twice({"a.py": "class A: ...", "b.py": "def f():\n    class A: ..."})
    assert not classes_defined_twice({"a.py": "class A: ...", "b.py": "class B: ..."})


def test_hidden_metric_is_found():
    assert not is_found_by_name("bpref", "preference")
    assert not is_found_by_name("xauc", "concordance")
    assert not is_found_by_name("mean_reciprocal_rank", "early")
    assert is_found_by_name("mean_squared_error", "mean_squared_error")
    assert is_found_by_name("mean_reciprocal_rank", "mrr")
