"""Every numeric option of every metric string and function takes any number: it computes, or a ValueError names it.

No value is too large for an error message: neither OverflowError nor MemoryError, which say nothing of the option.
"""

import inspect
import warnings
from contextlib import suppress

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core.registry import known_specs, parse
from support.cases import assert_raises, each_case
from support.function_cases import FUNCTIONS, PUBLIC

HUGE = 99999999999999999999
WRITTEN = [
    str(HUGE), f"-{HUGE}", str(2**63 - 1), str(2**63), str(2**64), str(2**31), "-1", "0", "1e400", "-1e400", "1e308",
    "5e-324", "-0.0", "1.5", "True", "False", "None", f"1{'0' * 400}", f"(1, {HUGE})", "1e400j", "nan", "'nan'", "()",
]  # fmt: skip
NUMBERS = [
    HUGE, -HUGE, 2**63 - 1, 2**63, 2**31, -1, 0, 10**400, -(10**400), 1e308, 5e-324, -0.0, 1.5, float("inf"),
    float("-inf"), float("nan"), True, False, None, np.True_, np.int8(2), np.uint64(2**63), np.float32(0.5),
    np.float64("inf"), np.float64("nan"), complex(1, 1), "abc", (), [1, HUGE],
]  # fmt: skip
GREATEST = "must be at most 9223372036854775807"
OTHER_OPTIONS = {"n_threads", "sample_weight", "labels", "weights", "test", "method"}


def check(call, *arguments, **options):
    """The call has a value, or raises a ValueError or a TypeError."""
    with warnings.catch_warnings(), suppress(ValueError, TypeError):
        warnings.simplefilter("ignore")
        call(*arguments, **options)


SPECS = {spec.name: spec for spec in known_specs().values()}


@each_case("name", sorted(SPECS))
def test_metric_strings(name):
    """What is written is a metric with its statistics, or a ValueError."""
    for form in SPECS[name].forms:
        cutoff = "@2" if form.cutoff else ""
        texts = [f"{form.base_name}({own}={value}){cutoff}" for own in form.parameters for value in WRITTEN]
        texts += [f"{form.base_name}@{value}" for value in WRITTEN if form.cutoff]
        for text in texts:
            with suppress(ValueError, FileNotFoundError):  # METEOR where there is no WordNet
                metric = parse(text, (form.model_role,))
                metric.statistics()
                metric.interval_statistics()


@each_case("text", ["hr@{}", "ndcg(gain=exp2)@{}", "p@{}", "auc@{}", "mrr@{}"])
@each_case("k", [2**63, HUGE, "9" * 5000, "0" * 50 + str(HUGE)])
def test_a_cutoff_that_is_too_large_names_the_largest(text, k):
    log = {"y": [0, 1], "s": [0.1, 0.2], "g": [1, 1]}
    name = text.partition("@")[0].partition("(")[0]
    wanted = f"the cutoff of '{name}' {GREATEST}"
    assert_raises(ValueError, wanted, parse, text.format(k))
    assert_raises(ValueError, wanted, fm.evaluate, log, text.format(k), label="y", score="s", group="g")
    assert_raises(ValueError, wanted, fm.Accumulator, [text.format(k)], label="y", score="s", group="g")
    largest = text.format(2**63 - 1)
    assert fm.evaluate(log, largest, label="y", score="s", group="g").results[0].value > 0


@each_case("k", [2**63, HUGE, np.uint64(2**63), 10**400])
def test_a_cutoff_of_a_function(k):
    for name, case in FUNCTIONS.items():
        if "k" in inspect.signature(PUBLIC[name]).parameters and case.grouped:
            log = {"label": [0, 1], "score": [0.1, 0.2], "prob": [0.1, 0.2], "group": [1, 1]}
            assert_raises(ValueError, f"k {GREATEST}", case.call, log, **{**case.required, "k": k})
    assert_raises(ValueError, f"k of metric 'hr' {GREATEST}", fm.Metric.hr, k=k)


def test_the_command_line_names_the_largest(tmp_path):
    from support.command_line import run

    pytest.importorskip("typer")
    (tmp_path / "log.csv").write_text("y,s,g\n0,0.1,1\n1,0.2,1\n")
    words = ["--label", "y", "--score", "s", "--group", "g", "-m", f"hr@{HUGE}"]
    done = run("evaluate", "log.csv", *words, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "must be at most" in done.stderr
    assert str(2**63 - 1) in done.stderr


@pytest.fixture(scope="module")
def log():
    generator = np.random.default_rng(0)
    return {
        "label": np.array([0, 1] * 12), "score": generator.random(24), "prob": generator.random(24),
        "group": np.repeat(np.arange(6), 4), "pred": np.array([0, 1, 1] * 8), "target": generator.random(24) + 1,
        "forecast": generator.random(24) + 1,
    }  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_rows(name, log):
    case = FUNCTIONS[name]
    for option in inspect.signature(PUBLIC[name]).parameters.values():
        if option.kind is option.KEYWORD_ONLY and option.name not in OTHER_OPTIONS:
            for value in NUMBERS:
                check(case.call, log, **{**case.required, option.name: value})


TEXTS = (["the cat sat"], ["the cat is"])
POINTS = (np.arange(12.0).reshape(6, 2), [0, 0, 0, 1, 1, 1])
PARTITIONS = ([0, 0, 1, 1], [0, 1, 1, 1])
SAMPLES = ([1.0, 2.0, 3.5, 1.0], [0.5, 1.0, 3.0, 2.0])
OTHER_FUNCTIONS = {
    "corpus_bleu": TEXTS, "corpus_chrf": TEXTS, "corpus_nist": TEXTS, "corpus_ter": TEXTS, "rouge_score": TEXTS,
    "sentence_bleu": (TEXTS[0][0], TEXTS[1][0]), "sentence_chrf": (TEXTS[0][0], TEXTS[1][0]),
    "completeness_score": PARTITIONS, "contingency_matrix": PARTITIONS, "v_measure_score": PARTITIONS,
    "homogeneity_completeness_v_measure": PARTITIONS, "silhouette_score": POINTS, "silhouette_samples": POINTS,
    "mcnemar_test": (3, 5), "paired_t_test": SAMPLES, "wilcoxon": SAMPLES, "chi2_test": ([3, 5],),
    "two_proportion_test": (3, 9, 4, 9), "delong_test": ([0, 1, 0, 1], *SAMPLES), "holm": ([0.5, 0.1],),
    "benjamini_hochberg": ([0.5, 0.1],), "tukey_hsd": SAMPLES, "evaluate_ranking": ({"q": {"d": 1.0}}, {"q": {"d": 1}}),
    "top_k_accuracy_score": ([0, 1, 2], np.eye(3)), "fbeta_score": ([0, 1], [1, 1]),
}  # fmt: skip


@each_case(("name", "arguments"), list(OTHER_FUNCTIONS.items()))
def test_other_functions(name, arguments):
    function = PUBLIC[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function(*arguments, **({"metrics": "map"} if name == "evaluate_ranking" else {}), **required(function))
    for option in inspect.signature(function).parameters.values():
        if option.kind is option.KEYWORD_ONLY and option.name not in OTHER_OPTIONS:
            for value in NUMBERS:
                options = {**required(function), option.name: value}
                if name == "evaluate_ranking":
                    options = {"metrics": "map", **options}
                check(function, *arguments, **options)


def required(function):
    return {"beta": 1.0} if function.__name__ == "fbeta_score" else {}
