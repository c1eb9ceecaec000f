"""`Metric` and its methods: the same metrics as metric strings, with the same errors."""

import copy
import pickle

import pytest

import fastmetrics as fm
from fastmetrics._core.registry import parse
from support.cases import each_case

LOG = {"click": [1, 0, 0, 1], "pctr": [0.9, 0.3, 0.4, 0.2], "user": ["ann", "ann", "bob", "bob"]}


@each_case(
    ("metric", "text"),
    [
        (fm.Metric.auc(), "auc"),
        (fm.Metric.auc(k=3), "auc@3"),
        (fm.Metric.ndcg(k=10, gain="exp2"), "ndcg(gain=exp2)@10"),
        (
            fm.Metric.gauc(weight="pairs", group=["user", "day of week"]),
            "gauc(weight=pairs, group=['user', 'day of week'])",
        ),
        (fm.Metric.ndcg(k=3, stat="p99.9"), "ndcg(stat=p99.9)@3"),
        (fm.Metric.meteor(modules=["exact"]), "meteor(modules=['exact'])"),
        (fm.Metric.ap(labels=["a", "b"]), "ap(labels=['a', 'b'])"),
        (fm.Metric.of_name("HR", k=1), "hr@1"),
    ],
)
def test_metric_is_that_of_its_string(metric, text):
    assert metric == parse(text)
    assert parse(repr(metric)) == metric
    assert pickle.loads(pickle.dumps(metric)) == metric == copy.deepcopy(metric)


def test_every_metric_has_a_method():
    names = {spec.base_name for spec in fm.list_metrics().values()}
    assert names <= set(dir(fm.Metric))
    for spec in fm.list_metrics().values():
        make = getattr(fm.Metric, spec.base_name)
        assert spec.summary in make.__doc__
        assert make(**({"k": 2} if spec.cutoff == "required" else {})).spec.base_name == spec.base_name


@each_case(
    ("make", "error", "message"),
    [
        (lambda: fm.Metric.ndgc(k=3), AttributeError, "no metric 'ndgc'; did you mean 'ndcg'"),
        (lambda: fm.Metric.hr(), ValueError, "needs a cutoff"),
        (lambda: fm.Metric.ndcg(k=0), ValueError, "k of metric 'ndcg' must be an integer of at least 1; found 0"),
        (lambda: fm.Metric.ndcg(k=True), ValueError, "found True"),
        (lambda: fm.Metric.ndcg(k=2.0), ValueError, "found 2.0"),
        (lambda: fm.Metric.ndcg(gian="exp2"), ValueError, "did you mean 'gain'"),
        (lambda: fm.Metric.ndcg(gain="exp3"), ValueError, "must be one of linear, exp2, binary"),
    ],
)
def test_wrong_metric_is_an_error(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    "inside", ["topk=3", "k=3", "cutoff=3", "top_n = 3", "3", "topk=3, average=micro", "average=micro, k=3"]
)
@pytest.mark.parametrize("name", ["hr", "hit_rate"])
def test_the_cutoff_to_write_is_the_number_that_was_typed(name, inside):
    with pytest.raises(ValueError, match=f"^metric '{name}' needs a cutoff: write {name}@3$"):
        parse(f"{name}({inside})")


@pytest.mark.parametrize("inside", ["", "topk=0", f"topk={10**30}", "topk=3.5", "other=3"])
def test_what_is_no_cutoff_is_not_advised(inside):
    with pytest.raises(ValueError, match=r"needs a cutoff: write hr@10$"):
        parse(f"hr({inside})")


def test_metrics_stand_where_strings_may():
    gauc, of_pairs = fm.Metric.gauc(), fm.Metric.gauc(weight="pairs")
    columns = {"label": "click", "score": "pctr", "group": "user"}
    report = fm.evaluate(LOG, [gauc, "auc"], **columns)
    assert gauc in report
    assert of_pairs not in report
    assert report[gauc] == report["gauc"] == fm.evaluate(LOG, gauc, **columns)["gauc"]
    with pytest.raises(KeyError, match="no gauc"):
        report[of_pairs]
