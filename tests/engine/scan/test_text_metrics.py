"""Registered metrics of text in the engine equal their functions, to the last bit: values, options and coverage."""

import pickle
import random

import pyarrow as pa
import pytest

import fastmetrics as fm
from fastmetrics.engine.plan.metric_plan import make_plan
from support import text_logs
from support.cases import assert_raises
from support.registry_cases import own_metrics
from support.states import toy_engine
from support.states.accumulators import pieces

TEXT = text_logs.text_metrics()


@pytest.fixture(scope="module")
def texts_log():
    columns = text_logs.text_columns(600, seed=2)
    return {name: column.tolist() for name, column in columns.items()} | {
        "several": text_logs.more_references(columns["reference"]),
        "domain": random.Random(3).choices(["news", "web"], k=600),
    }


class TestRegistered:
    """Every registered metric of text equals its function, to the last bit."""

    @pytest.mark.parametrize("metric", TEXT)
    def test_systems_references_and_slices(self, texts_log, metric):
        scores, labels = ["hypothesis", "worse"], ["reference", "several"]
        report = fm.evaluate(texts_log, metric, label=labels, score=scores, by="domain")
        for where in report.slices():
            mask = [all(texts_log[name][row] == value for name, value in where.items()) for row in range(600)]
            selected = text_logs.select_rows(texts_log, mask)
            for label in labels:
                for score in scores:
                    result = report.result(metric, label=label, score=score, slice=where)
                    assert result.value == text_logs.function_value(metric, selected, label, score)
                    assert result.coverage["rows"] == sum(mask)

    def test_metrics_together_equal_single_metrics(self, texts_log):
        report = fm.evaluate(texts_log, TEXT, label="several", by="domain")
        for metric in TEXT:
            alone = fm.evaluate(texts_log, metric, label="several", by="domain")
            assert [result for result in report if result.metric == alone.results[0].metric] == list(alone)

    def test_equal_statistics_are_counted_once(self):
        for names, n_statistics in (
            ("bleu,bleu(smooth=floor),bleu(effective_order=True),bleu(smooth='add-k',smooth_value=2)", 1),
            ("rouge1,rouge2,rougeL", 1),
            ("rouge1,rouge1(stem=True),rougeLsum", 3),
            ("bleu,bleu(lowercase=True),bleu(max_order=2)", 3),
            ("meteor(modules=('exact',)),meteor(modules=('exact',),average=corpus)", 1),
        ):
            assert len(make_plan(names).statistics["none"]) == n_statistics

    def test_several_systems_of_real_translations(self, wmt):
        log = {"reference": wmt.reference[:300]} | {name: own[:300] for name, own in wmt.systems.items()}
        report = fm.evaluate(log, "bleu,chrf", score=list(wmt.systems))
        for name in wmt.systems:
            assert report.value("bleu", score=name) == fm.corpus_bleu(log[name], log["reference"]).score
            assert report.value("chrf", score=name) == fm.corpus_chrf(log[name], log["reference"]).score

    def test_coverage_and_signature(self, texts_log):
        report = fm.evaluate(texts_log, "bleu,rouge2(stem=True)")
        result = fm.corpus_bleu(texts_log["hypothesis"], texts_log["reference"])
        coverage = report.result("bleu").coverage
        assert coverage["brevity_penalty"] == result.bp
        assert (coverage["sys_len"], coverage["ref_len"]) == (result.sys_len, result.ref_len)
        assert f" {coverage['precisions']} " in str(result)
        result = fm.rouge_score(texts_log["hypothesis"], texts_log["reference"], ["rouge2"], stem=True)["rouge2"]
        coverage = report.result("rouge2(stem=True)").coverage
        assert (coverage["precision"], coverage["recall"]) == (result.precision, result.recall)

    @pytest.mark.parametrize(
        ("metric", "message"),
        [
            ("bleu(tokenize=14b)", "tokenize"),
            ("bleu(smooth=most)", "smooth of metric 'bleu' must be one of exp, floor"),
            ("bleu(smooth_value=0.5)", "smooth='exp' takes no smooth_value"),
            ("bleu(smooth=floor, smooth_value='0.1')", "a number is needed; found '0.1'"),
            ("bleu(max_order=0)", "from 1 to 255; found 0"),
            ("bleu(lowercase=1)", "lowercase must be True or False; found 1"),
            ("chrf(char_order=0)", "both 0"),
            ("chrf(beta=[1])", r"a number is needed; found \(1,\)"),
            ("chrf(beta=True)", "a number is needed; found True"),
            ("rouge1(beta=0)", "beta must be"),
            ("meteor(modules=exact)", "modules must be a tuple of names, such as"),
            ("meteor(modules=('exact', 'form'))", "modules must be one of 'exact', 'stem', 'synonym'; found 'form'"),
            ("meteor(modules=('exact',), alpha=2)", "alpha must be"),
            ("rouge1(tokenizer=own)", "tokenizer of metric 'rouge1' must be one of default, unicode"),
            ("rouge3", "unknown metric 'rouge3': name the type: 'rouge1'"),
            ("bleu@4", "for sequences of up to 4 words"),
            ("meteor@4", "takes no cutoff"),
        ],
    )
    def test_bad_parameters(self, metric, message):
        assert_raises(ValueError, message, fm.evaluate, {"hypothesis": ["a"], "reference": ["a"]}, metric)

    def test_the_vocabulary_of_a_thread_is_kept(self, texts_log, monkeypatch):
        made = []
        (statistic,) = make_plan("bleu").statistics["none"]
        new_counter = type(statistic.metric).new_counter
        monkeypatch.setattr(
            type(statistic.metric), "new_counter", lambda metric: made.append(metric) or new_counter(metric)
        )
        with own_metrics():  # the statistics of earlier calls, which have their counters, are forgotten
            state = fm.Accumulator(["bleu"])
        for piece in pieces(texts_log, 100):
            state.update(piece)
        assert len(made) == 1
        assert state.result()["bleu"] == text_logs.function_value("bleu", texts_log)

    def test_statistics_can_be_pickled(self):
        for metric in TEXT:
            (statistic,) = make_plan(metric).statistics["none"]
            assert pickle.loads(pickle.dumps(statistic)) == statistic
            assert hash(pickle.loads(pickle.dumps(statistic))) == hash(statistic)

    def test_metrics_with_equal_options_are_different(self):
        """Options are tuples, and equal ones may belong to different metrics."""
        statistics = [statistic for metric in TEXT for statistic in make_plan(metric).statistics["none"]]
        for first in statistics:
            for second in statistics:
                assert first != second or first.name == second.name

    def test_partitions_with_other_statistics_are_refused(self, texts_log):
        """For example, of an executor that finds another WordNet than the driver."""
        table = pa.table({name: texts_log[name] for name in ("hypothesis", "reference")})
        plans = [fm.Evaluation(own).plan() for own in ("bleu", "bleu(max_order=3)")]
        (state,) = toy_engine.states_of_sources(plans[0], [[table]])
        with pytest.raises(ValueError, match=r"partition was counted by .*max_order=4.*; here there are .*max_order=3"):
            plans[1].decide([state.summary(plans[0].first)])

    def test_an_undefined_slice_has_a_reason(self, texts_log):
        state = fm.Accumulator(["bleu"], by="domain", on_invalid="drop")
        state.update({"hypothesis": ["a", "b"], "reference": ["a", None], "domain": ["x", "y"]})
        assert [result.slice for result in state.result()] == [{}, {"domain": "x"}]
