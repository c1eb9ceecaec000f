"""An unknown keyword of any public call is answered with the one that is meant, from one table of words."""

import inspect
import pickle
import re
from importlib import import_module

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.calls.words import IDEAS, meant
from fastmetrics._core.registry import parse
from fastmetrics.engine.evaluation.options import RUN_OPTIONS
from support.cases import assert_raises, each_case
from support.types.public_calls import CONSTRUCTED, PUBLIC, parameters_of, takes_any_keyword

WORDS = list(dict.fromkeys(word for idea, words in IDEAS.items() for word in f"{idea} {words}".split()))
ASKED = {name: call for name, call in PUBLIC.items() if not takes_any_keyword(call)}
LOG = {"y": [0, 1], "s": [0.2, 0.8]}


def error_of(call, *own, **options):
    """The error of a call with nothing but these options, and the object of a method."""
    with pytest.raises(TypeError) as caught:
        call(*own, **options)
    return str(caught.value)


def parameters_known(call):
    """Those that can be named."""
    parameters = inspect.signature(call).parameters
    named = (name for name, own in parameters.items() if own.kind is not own.VAR_POSITIONAL)
    return [name for name in named if name not in ("self", "cls")]


def object_of(name):
    """An object of the class whose method this is, without content."""
    is_method = "self" in parameters_of(PUBLIC[name])
    return [object.__new__(getattr(fm, name.partition(".")[0]))] if is_method else []


def test_nearly_all_calls_are_asked():
    assert len(ASKED) > 200
    assert PUBLIC.keys() - ASKED.keys() == {
        "Difference.replace", "Evaluation.replace", "Evaluation.run", "distributed.processes.evaluate",
        "segment_statistics", "silhouette_samples", "silhouette_score",
    }  # fmt: skip


@each_case("name", ASKED)
def test_every_word_is_answered_with_the_argument_that_is_meant(name):
    call, known = ASKED[name], parameters_known(ASKED[name])
    for word in WORDS:
        if word in known:
            continue
        text, near = error_of(call, *object_of(name), **{word: None}), meant(word, known)
        assert text.startswith(f"{name}() has no argument {word!r}; "), text
        if near:
            assert text.endswith("did you mean " + " or ".join(f"{own}=" for own in near[:3]) + "?"), text
        else:
            answers = r"did you mean \w+=|help\(fastmetrics\.[\w.]+\) lists|write '.*'$|type fm\.compare_reports\("
            assert re.search(answers, text), text


@each_case("name", ASKED)
def test_what_is_not_in_the_table_is_answered_by_its_spelling_or_by_where_help_is(name):
    call = ASKED[name]
    known = parameters_known(call)
    text = error_of(call, *object_of(name), qwxyz=None)
    assert text == f"{name}() has no argument 'qwxyz'; help(fastmetrics.{name}) lists them", text
    for own in known:
        slip = own[:-1] + own[-1] * 2
        if len(own) > 5 and slip not in known and not meant(slip, known):
            assert f"did you mean {own}=" in error_of(call, *object_of(name), **{slip: None}), slip


@each_case("name", ASKED)
def test_all_unknown_keywords_of_a_call_are_answered_at_once(name):
    call, known = ASKED[name], parameters_known(ASKED[name])
    words = [word for word in ("groups", "qwxyz", "weights", "n_jobs") if word not in known]
    text = error_of(call, *object_of(name), **dict.fromkeys(words))
    assert text.startswith(f"{name}() has no arguments {', '.join(map(repr, words))}; "), text
    assert text.endswith(f"; help(fastmetrics.{name}) lists them"), text
    for word in words:
        alone = error_of(call, *object_of(name), **{word: None})
        answer = alone.removeprefix(f"{name}() has no argument {word!r}; ")
        assert answer.startswith("help(") or f"; {word!r}: {answer}; " in text, text


@each_case(
    ("name", "option", "refusal"),
    [
        (name, option, refusal)
        for option in RUN_OPTIONS
        for refusal in option.refusals
        for name in refusal.entry_points
    ],
)
def test_options_that_an_entry_point_lacks_are_answered_with_the_reason(name, option, refusal):
    for word in (option.name, *next(words.split() for idea, words in IDEAS.items() if option.name in idea.split())):
        text = error_of(PUBLIC[name], **{word: None})
        assert text == f"{name}() has no argument {word!r}; {refusal.text.format(entry_point=name)}", text


def test_words_mean_one_another():
    assert meant("groups", ["group", "score"]) == ["group"]
    assert meant("group", ["groups"]) == ["groups"]
    assert meant("Weights", ["sample_weight"]) == ["sample_weight"]
    assert meant("group", ["group"]) == []
    for idea, words in IDEAS.items():
        assert not set(idea.split()) & set(words.split()), idea


@each_case(("call", "options", "meant_by"), [
    (fm.evaluate, {"groups": "u"}, "group="), (fm.evaluate, {"n_jobs": 2}, "n_threads="),
    (fm.evaluate, {"filter": "y = 1"}, "where="), (fm.evaluate, {"slice_by": "c"}, "by="),
    (fm.evaluate, {"random_state": 1}, "seed="), (fm.evaluate, {"sample_weight": "w"}, "weight="),
    (fm.evaluate, {"y_true": "y"}, "label="), (fm.evaluate, {"y_prob": "p"}, "score= or probabilities="),
    (fm.roc_auc_score, {"weights": "w"}, "sample_weight="), (fm.roc_auc_score, {"y_pred": [1]}, "y_score="),
    (fm.accuracy_score, {"y_score": [1]}, "y_pred="), (fm.ndcg_score, {"top_k": 3}, "k="),
    (fm.ndcg_score, {"n_jobs": 3}, "n_threads="), (fm.gauc_score, {"group": [1]}, "groups="),
    (fm.calibration_curve, {"bins": 5}, "n_bins="), (fm.evaluate_trec, {"measures": "map"}, "metrics="),
    (fm.evaluate_ranking, {"top_k": 3}, None), (fm.rouge_score, {"rouge_types": ["rouge1"]}, "types="),
    (fm.coco_map, {"iou_thrs": [0.5]}, "iou_thresholds="),
])  # fmt: skip
def test_what_people_type(call, options, meant_by):
    text = error_of(call, **options)
    if meant_by is None:
        assert text.endswith("write 'ndcg@10'")
    else:
        assert text.endswith(f"did you mean {meant_by}?"), text


@each_case(("word", "line"), [
    ("top_k", "ndcg@10"), ("k", "ndcg@10"), ("average", "(average="), ("bins", "ece("), ("beta", "beta="),
])  # fmt: skip
def test_parameters_of_metrics_stand_in_metric_strings(word, line):
    for call in (fm.evaluate, fm.compare, fm.Evaluation, fm.Accumulator, fm.TrainingMetrics):
        text = error_of(call, **{word: 3})
        assert line in text
        found = re.search(r"write '(.*)'$", text)
        assert parse(found[1])


QUESTION = fm.Evaluation("auc", label="y", score="s")


@each_case(("call", "options", "meant_by"), [
    (QUESTION.replace, {"groups": "u"}, "group="),
    (lambda **own: QUESTION.run(LOG, **own), {"n_jobs": 2}, "n_threads="),
    (lambda **own: fm.segment_statistics("bleu", ["a"], ["a"], **own), {"tok": "13a"}, "tokenize="),
    (lambda **own: fm.segment_statistics("bleu", ["a"], ["a"], **own), {"n_jobs": 2}, "n_threads="),
    (lambda **own: fm.silhouette_score([[1], [2], [4]], [0, 0, 1], **own), {"seed": 2}, "random_state="),
])  # fmt: skip
def test_calls_that_pass_keywords_on_answer_too(call, options, meant_by):
    assert error_of(call, **options).endswith(f"; did you mean {meant_by}?")


@each_case(("text", "answer"), [
    ("auc(max_fp=0.1)", "did you mean 'max_fpr'?"), ("ndcg(top_k=20)", "write 'ndcg@20'"),
    ("ndcg(k=5)", "write 'ndcg@5'"), ("recall(cutoff=5)", "write 'recall@5'"), ("ndcg(topk=x)", "write 'ndcg@10'"),
    ("f1(averaging=macro)", "did you mean 'average'?"), ("gauc(groups=u)", "did you mean 'group'?"),
    ("logloss(y_true=y)", "did you mean 'label'?"), ("auc(sample_weight=w)", "the whole question, weight="),
    ("auc(weight=w)", "the whole question, weight="), ("logloss(k=3)", "known: "),
    ("hr(topk=3)@10", "write 'hr@3'"), ("auc(foo=1)", "known: max_fpr, "),
])  # fmt: skip
def test_parameters_in_metric_strings_are_answered_from_the_same_table(text, answer):
    with pytest.raises(ValueError, match="has no parameter") as caught:
        parse(text)
    assert answer in str(caught.value)


def test_errors_of_the_function_stay():
    """Other wrong calls, and TypeErrors from inside, also of keywords of another function."""
    assert_raises(TypeError, r"roc_auc_score\(\) missing 1 required positional argument: 'y_score'",
                  fm.roc_auc_score, [1])  # fmt: skip
    assert_raises(TypeError, r"roc_auc_score\(\) takes 2 positional arguments but 3 were given",
                  fm.roc_auc_score, [1], [1], [1])  # fmt: skip
    assert_raises(TypeError, r"evaluate\(\) missing 1 required positional argument: 'data'", fm.evaluate)

    def inside():
        raise TypeError("inside() got an unexpected keyword argument 'groups'")

    @answers_unknown
    def outside(*, call, group=None):
        call()

    assert_raises(TypeError, r"^inside\(\) got an unexpected", outside, call=inside)
    assert_raises(TypeError, r"^(?!outside\(\) has no)", outside, call=lambda: inside(groups=1))
    assert_raises(TypeError, r"has no argument 'groups'; did you mean group=\?", outside, call=None, groups=1)
    with pytest.raises(TypeError, match="takes any keyword"):
        answers_unknown(lambda **options: None)


@each_case("name", ASKED)
def test_calls_look_as_they_are_written(name):
    call = ASKED[name]
    if call in CONSTRUCTED:
        call = call.__init__
    written = inspect.unwrap(call)
    own = inspect.signature(call).parameters
    expected = inspect.signature(written).parameters
    assert [(one.name, one.kind, one.default) for one in own.values()] == [
        (one.name, one.kind, one.default) for one in expected.values() if inspect.isfunction(call) or one.name != "cls"
    ]
    assert (call.__doc__, call.__qualname__, call.__module__) == (
        written.__doc__, written.__qualname__, written.__module__
    )  # fmt: skip
    if inspect.isfunction(call) and "." not in name:
        assert pickle.loads(pickle.dumps(call)) is call


def test_the_answer_reads_no_data():
    class Never:
        def __array__(self, *arguments, **options):
            raise AssertionError("it was read")

    assert "did you mean sample_weight=?" in error_of(fm.roc_auc_score, Never(), Never(), weights=1)
    assert np.isclose(fm.roc_auc_score(LOG["y"], LOG["s"]), 1.0)


@each_case("engine", ["spark", "ray", "dask"])
def test_another_log_is_no_baseline(engine):
    """`baseline` is one of the models or slices of one log; an engine that cannot read two logs must not propose it."""
    text = error_of(import_module(f"fastmetrics.{engine}").compare, against={"y": [1]})
    assert "'against'" in text
    assert "baseline" not in text
