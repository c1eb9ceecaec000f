"""The resolver of names: those of other tools, what the library writes, and errors whose lines can be typed."""

import re

import pytest
from core.registry.names_of_tools import NONE, TOOLS, Shared
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.kinds import MODEL_ROLES, PROBABILITIES_ROLE, SCORE_ROLE
from fastmetrics._core.metric_strings import GREATEST_CUTOFF
from fastmetrics._core.registry import known_specs, parse
from fastmetrics._core.results.flat_names import metric_name
from fastmetrics.metrics.ranking.runs.trec_measures import TREC_MEASURES
from support.cases import assert_raises, each_case
from support.peers import peer

EVERY_NAME = [(tool, name, answer) for tool, names in TOOLS.items() for name, answer in names.items()]
LISTED = "list_metrics()"


def lines_in(message, name):
    """The metric strings that a message says to type: those in quotes, and what stands behind "write"."""
    rest = message.replace(repr(name), "", 1).replace(repr(re.split("[@(]", name)[0]), "", 1)
    return [*re.findall(r"'([^']+)'", rest), *re.findall(r"write ([\w@]+(?:\([^)]*\)(?:@\d+)?)?)", rest)]


def forms(text):
    """What a metric string means, whatever columns a model has."""
    return [parse(text, (role,)) for role in MODEL_ROLES]


def refusal(name):
    with pytest.raises(ValueError, match=r"metric|not a") as caught:
        parse(name, MODEL_ROLES)
    return str(caught.value)


@each_case(("tool", "name", "answer"), EVERY_NAME)
def test_name_is_accepted_or_answered(tool, name, answer):
    if isinstance(answer, str | Shared):
        assert forms(name) == forms(answer if isinstance(answer, str) else answer.text)
        return
    message = refusal(name)
    if answer is NONE:
        assert lines_in(message, name) == []
        return
    if answer.text.startswith("fm."):
        assert callable(getattr(fm, answer.text.removeprefix("fm.")))
        assert re.search(rf"{re.escape(answer.text)}\b", message)
        return
    assert answer.text in lines_in(message, name), message
    parse(answer.text, MODEL_ROLES)


def test_tables_are_whole():
    """They hold every name of the tools that are installed."""
    import sklearn.metrics

    assert set(sklearn.metrics.get_scorer_names()) <= set(TOOLS["scikit-learn"])
    named = {name.split("_0")[0] for name in TOOLS["trec_eval"]}
    assert set(TREC_MEASURES) - {"rbp", "rbp_resid", "unj"} <= named
    measures = peer("pytrec_eval").supported_measures
    assert set(measures) <= named


NAMES = sorted({name for spec in known_specs().values() for name in (spec.name, *spec.aliases)})
LETTERS = "abcdefghijklmnopqrstuvwxyz_0123456789@.%-"


@st.composite
def names_with_edits(draw):
    """A name, or a part of a name and another one, with some signs put in, left out or replaced, and a cutoff."""
    name = draw(st.sampled_from(NAMES)).removesuffix("@k")
    if draw(st.booleans()):
        name = draw(
            st.sampled_from(["{}_{}", "{}{}", "mean_{0}", "{0}_macro", "neg_{0}", "{0}_at", "Multiclass{0}"])
        ).format(name, draw(st.sampled_from(NAMES)).removesuffix("@k"))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(name)))
        name = name[:place] + draw(st.sampled_from(["", *LETTERS])) + name[place + draw(st.integers(0, 1)) :]
    return name + draw(st.sampled_from(["", "@7", "@k", "_7", "_at_7", ".7", "_at_k", "@7%", "(gain=exp2)@7", "@0"]))


@given(names_with_edits())
def test_every_line_of_an_error_can_be_typed(name):
    try:
        metric = parse(name, MODEL_ROLES)
    except ValueError as error:
        message = str(error)
        suggested = re.findall(r"'([^']+)'", message.partition("did you mean")[2])
        written = re.findall(r"(?:write '?)([\w@]+(?:\([^)]*\))?(?:@\d+)?)", message.removeprefix(repr(name)))
        for line in suggested + [own for own in written if own != "name" and "syntax" not in own]:
            if "is not a metric string" in message:
                continue
            parse(line, MODEL_ROLES)
            assert not line.endswith("@k")
            numbers = re.findall(r"@(\d+)$", line)
            typed = [own.lstrip("0") for own in re.findall(r"\d+", name)]
            assert not numbers or numbers[0] == "10" or numbers[0] in typed
    else:
        assert forms(repr(metric)) is not None
        assert metric.k is None or 1 <= metric.k <= GREATEST_CUTOFF


@each_case(
    ("typed", "suggested"),
    [
        ("ndgc@7", "'ndcg@7'"),
        ("recal@7", "'recall@7'"),
        ("ndgc(gain=exp2)@7", "'ndcg(gain=exp2)@7'"),
        ("ndgc(nothing=1)@7", "'ndcg@7'"),
        ("preciison_at_7", "'precision@7'"),
        ("average_precision@7", "'map@7'"),
        ("ap_at_7", "'map@7'"),
        ("hitrat", "'hit_rate@10'"),
        ("gaux", "'gauc'"),
        ("auk", "'auc'"),
    ],
)
def test_suggestions_have_the_number_that_was_typed(typed, suggested):
    assert suggested in refusal(typed)


@each_case("name", ["psi", "pearson", "spearman", "exact_match", "huber", "novelty", "wer", "iou", "psnr", "fid"])
def test_short_names_need_a_short_distance(name):
    assert "did you mean" not in refusal(name)


PARTS = st.sampled_from(["", "_", "-", " "])
CASES = st.sampled_from([str, str.upper, str.lower, str.title])


@given(st.sampled_from(["1", "2", "L", "Lsum"]), PARTS, PARTS, CASES, st.sampled_from(["", "f", "f1", "fmeasure"]))
def test_rouge_has_one_meaning(part, between, then, case, figure):
    """The number of rouge-score's `rouge1`, py-rouge's "rouge-1" and of others is a type, in whatever spelling."""
    name = f"rouge{between}{part}" + (f"{then or '_'}{figure}" if figure else "")
    assert forms(case(name)) == forms(f"rouge{part}")
    assert "fm.rouge_score" in refusal(f"rouge{between}{part}_recall")


@given(st.integers(1, 9), st.sampled_from(["", "_", "-", "@", ".", "_at_"]), CASES)
def test_orders_of_bleu_are_options(order, between, case):
    """COCO's "Bleu_4" and others count sequences of up to n words: never a cutoff."""
    message = refusal(case("bleu") + f"{between}{order}")
    assert f"'bleu(max_order={order})'" in message
    parse(f"bleu(max_order={order})", MODEL_ROLES)


@each_case(
    "text",
    sorted(
        {
            text
            for spec in known_specs().values()
            for text in (spec.example, *(variant for form in spec.forms for variant in form.variants))
        }
    ),
)
def test_what_the_library_writes_it_reads(text):
    """Metric strings with all options, signatures, and names for trackers."""
    for role in MODEL_ROLES:
        metric = parse(text, (role,))
        assert parse(repr(metric), (role,)) == metric
        assert parse(metric.full_text, (role,)) == metric
        assert parse(metric.signature({"groups": 3}, weight="w"), MODEL_ROLES) == metric
        assert parse(metric_name(repr(metric)), (role,)) == metric


def test_numbers_are_read_without_their_n():
    for role in (SCORE_ROLE, PROBABILITIES_ROLE):
        assert parse("ece(bins=4, norm=max)", (role,)) == parse("ece(n_bins=4, norm=max)", (role,))
    assert repr(parse("ece(bins=4)")) == "ece(n_bins=4)"
    assert_raises(ValueError, "n_bins is given twice in 'ece", parse, "ece(bins=4, n_bins=4)")
    assert_raises(ValueError, "n_bins must be an integer from 1", parse, "ece(bins=0)")
    assert_raises(ValueError, "metric 'f1' has no parameter 'bins'", parse, "f1(bins=3)")


def test_names_of_reports_are_read():
    log = {"y": [1, 0, 1, 0], "p": [0.9, 0.3, 0.4, 0.6], "u": [1, 1, 2, 2]}
    metrics = ["auc", "ndcg(gain=exp2)@2", "ndcg@2", "lift(q=0.5)", "gauc(weight=pairs)", "hr(group=u)@1", "f1@1"]
    report = fm.evaluate(log, metrics, label="y", score="p", group="u")
    again = fm.evaluate(log, list(report.to_metrics()), label="y", score="p", group="u")
    assert again.to_metrics() == report.to_metrics()
    by_signature = fm.evaluate(log, [result.signature for result in report], label="y", score="p", group="u")
    assert by_signature.to_metrics() == report.to_metrics()


@each_case(
    ("name", "advice"),
    [
        ("gauc", ": fm.gauc_score; in a metric list: 'gauc'$"),
        ("ne", ": fm.normalized_entropy; in a metric list: 'ne'$"),
        ("bias", "; in a metric list: 'bias'$"),
        ("roc_auc", ": fm.roc_auc_score; in a metric list: 'auc'$"),
        ("precision_at_10", r": fm.precision_at_k; in a metric list: 'p@10'$"),
        ("roc_auc_scor", r"; did you mean 'roc_auc_score'\?$"),
        ("nothing_like_it", "attribute 'nothing_like_it'$"),
        ("_repr_html_", "attribute '_repr_html_'$"),
    ],
)
def test_a_name_that_is_no_function_is_answered(name, advice):
    with pytest.raises(AttributeError, match=f"module 'fastmetrics' has no .*{advice}"):
        getattr(fm, name)


def test_every_metric_names_its_function():
    for spec in fm.list_metrics().values():
        if spec.base_name in fm.__all__:
            continue
        with pytest.raises(AttributeError, match="in a metric list") as caught:
            getattr(fm, spec.base_name)
        other = f"{spec.base_name}@10" in str(caught.value) or spec.cutoff != "required"  # f1 is also that of all rows
        if spec.function is not None and other:
            assert f"fm.{spec.function.__name__}; in a metric list: '{spec.example}'" in str(caught.value)


def test_the_area_under_points_is_that_of_scikit_learn():
    assert fm.auc([0, 1, 2], [0, 1, 1]) == 1.5
