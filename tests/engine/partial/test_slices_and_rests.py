"""compare(baseline="rest"): every slice of one model beside the rest of the rows."""

import pickle

import numpy as np
import pytest

import fastmetrics as fm
from oracles.inference.errors import error_by_leaving_out
from support.cases import assert_raises, each_case

COLUMNS = {"label": "click", "group": "user"}
SMOOTH = ["logloss", "ne", "brier", "accuracy", "ctr", "copc", "gauc", "gauc(weight=pairs)", "ndcg@3", "mrr"]


def make_log(rows=900, users=30, seed=3):
    """Users are in several channels, and more alike within themselves."""
    rng = np.random.default_rng(seed)
    user = rng.integers(0, users, rows)
    rate = 1 / (1 + np.exp(-rng.normal(size=users)[user] - rng.normal(size=rows)))
    return {
        "click": (rng.random(rows) < rate).astype(np.int64),
        "p": np.clip(rate * np.exp(rng.normal(size=rows) * 0.4), 0.001, 0.999),
        "user": user,
        "weight": 0.5 + (user % 7) / 3,
        "channel": np.array(["mail", "search", "web"])[rng.integers(0, 3, rows)],
        "day": rng.integers(0, 2, rows),
    }


def compare(log, metrics, *, by="channel", **options):
    return fm.compare(log, metrics, score=["p"], by=by, baseline="rest", **(COLUMNS | options))


def select(log, rows):
    return {name: column[rows] for name, column in log.items()}


def evaluate(log, metric, rows, **options):
    return fm.evaluate(select(log, rows), metric, score="p", **(COLUMNS | options))[metric]


@pytest.mark.parametrize("weight", [None, "weight"])
def test_values_and_errors_are_those_of_leaving_every_user_out_of_both(weight):
    log = make_log()
    mail = log["channel"] == "mail"
    comparison = compare(log, SMOOTH, weight=weight)
    assert len(comparison) == 3 * len(SMOOTH)
    for metric in SMOOTH:
        one = comparison.difference(metric, slice={"channel": "mail"})
        assert (one.baseline, one.other, one.n_units, one.won) == ("rest", "p", 30, None)
        assert one.other_value == evaluate(log, metric, mail, weight=weight)
        assert one.baseline_value == evaluate(log, metric, ~mail, weight=weight)

        def difference(rows, metric=metric):
            of_mail, of_rest = (evaluate(log, metric, rows & own, weight=weight) for own in (mail, ~mail))
            return of_mail - of_rest

        assert one.standard_error == pytest.approx(error_by_leaving_out(difference, log["user"]), rel=1e-9)


@each_case("metric, tolerance", [("auc", 0.02), ("ap", 0.08), ("partial_auc(max_fpr=0.3)", 0.08)])
def test_the_order_of_scores_is_so_to_first_order(metric, tolerance):
    log = make_log(3_000, 60)
    web = log["channel"] == "web"
    one = compare(log, metric).difference(metric, slice={"channel": "web"})
    error = error_by_leaving_out(
        lambda rows: evaluate(log, metric, rows & web) - evaluate(log, metric, rows & ~web), log["user"]
    )
    assert one.difference == pytest.approx(evaluate(log, metric, web) - evaluate(log, metric, ~web), abs=1e-15)
    assert one.standard_error == pytest.approx(error, rel=tolerance)


def test_users_in_both_are_no_independent_samples():
    """Users who are alike in both make the difference more certain than that of two independent slices."""
    log = make_log(4_000, 40)
    one = compare(log, "ctr").difference("ctr", slice={"channel": "mail"})
    mail = log["channel"] == "mail"
    errors = [
        fm.evaluate(select(log, rows), "ctr", score="p", **COLUMNS, ci=0.95).result("ctr").standard_error
        for rows in (mail, ~mail)
    ]
    assert one.standard_error < 0.7 * np.hypot(*errors)


@pytest.mark.parametrize("options", [{"replicates": 400}, {"ci_method": "normal", "replicates": 400}, {}])
def test_replicates_resample_the_users_of_both(options):
    log = make_log(2_000, 60)
    mail = {"channel": "mail"}
    found = compare(log, ["logloss", "auc", "gauc", "eer"], **options)
    assert found.difference("eer", slice=mail).interval is not None
    linearized = compare(log, ["logloss", "auc", "gauc"])
    for one in linearized:
        same = found.difference(one.metric, slice=one.slice)
        assert same.standard_error == pytest.approx(one.standard_error, rel=0.2)


def test_every_grouping_set_has_its_own_rests_and_family():
    log = make_log()
    both = compare(log, ["logloss", "auc", "gauc"], by=[["channel"], ["day"], ["channel", "day"]])
    alone = [compare(log, ["logloss", "auc", "gauc"], by=by) for by in ("channel", "day", ["channel", "day"])]
    assert len(both) == sum(map(len, alone)) == 3 * (3 + 2 + 6)
    for one in (one for own in alone for one in own):
        same = both.difference(one.metric, slice=one.slice)
        assert (same.baseline_value, same.other_value) == (one.baseline_value, one.other_value)
        assert same.pvalue == pytest.approx(one.pvalue, rel=1e-9)
        assert same.adjusted_pvalue == pytest.approx(one.adjusted_pvalue, rel=1e-9)


def test_the_same_rows_have_the_same_bits(tmp_path):
    log = make_log(5_000, 300)
    metrics = ["logloss", "auc", "gauc", "ece", "ks"]
    found = compare(log, metrics)
    order = np.random.default_rng(1).permutation(5_000)
    assert compare(select(log, order), metrics, n_threads=1) == found
    assert compare([select(log, order[:700]), select(log, order[700:])], metrics, n_threads=2) == found
    assert compare(log, metrics, memory_limit="64MiB", spill_dir=tmp_path) == found
    assert pickle.loads(pickle.dumps(found)) == found


def test_text_labels_of_classes_and_partitions_have_rests_too():
    rng = np.random.default_rng(4)
    classes = np.array(["a", "b", "c"])
    log = {
        "label": classes[rng.integers(0, 3, 300)],
        "found": classes[rng.integers(0, 3, 300)],
        "user": rng.integers(0, 25, 300),
        "channel": rng.integers(0, 3, 300),
    }
    for metric, column in (("ari", "score"), ("kappa", "prediction")):
        asked = {"label": "label", "unit": "user"}
        names = {column: ["found"]}
        one = fm.compare(log, metric, **names, by="channel", baseline="rest", **asked).difference(
            metric, slice={"channel": 1}
        )

        def value(rows, metric=metric, column=column):
            return fm.evaluate(select(log, rows), metric, label="label", **{column: "found"})[metric]

        def difference(rows, value=value):
            inside = log["channel"] == 1
            return value(rows & inside) - value(rows & ~inside)

        assert one.difference == difference(log["user"] >= 0)
        assert one.standard_error == pytest.approx(error_by_leaving_out(difference, log["user"]), rel=1e-9)


def test_a_slice_that_is_all_rows_has_no_rest():
    (one,) = compare(make_log() | {"channel": np.full(900, "mail")}, "logloss")
    assert np.isnan(one.difference)
    assert one.verdict == "cannot tell"
    assert one.reason.startswith("rest: ")


def test_rows_with_null_and_small_slices():
    log = make_log() | {"channel": [None, "mail", "web"] * 299 + ["web", "rare", "rare"]}
    comparison = compare(log, "logloss", min_rows=10)
    assert {one.slice["channel"] for one in comparison} == {None, "mail", "web"}
    assert comparison.small_slices == {"min_rows": 10, "slices": 1, "rows": 2}


def test_intervals_hold_and_tests_reject_as_often_as_they_say():
    """Channels do not differ: of 400 logs about 5 % have an interval without 0. Users who are in both would hide."""
    outside = {"ctr": 0, "logloss": 0}
    n_logs = 250
    for seed in range(n_logs):
        comparison = compare(make_log(600, 60, seed), list(outside), correction=None)
        for metric in outside:
            low, high = comparison.difference(metric, slice={"channel": "mail"}).interval
            outside[metric] += not low <= 0 <= high
    assert all(0.015 * n_logs <= count <= 0.085 * n_logs for count in outside.values()), outside


def test_a_question_in_a_file_asks_it_again():
    log = make_log()
    found = compare(log, ["logloss", "auc"])
    assert found.evaluation.baseline == "rest"
    assert fm.compare(log, found.evaluation) == found
    assert fm.compare(log, fm.Evaluation.from_toml(found.evaluation.to_toml())) == found


@each_case(
    "options, message",
    [
        ({"by": None}, "baseline='rest' compares slices with the rest of the rows: name their columns, by=..."),
        ({"ci_method": "delong", "group": None}, "ci_method='delong' compares two scores of the same rows"),
        ({"baseline": None}, "One model is compared by slices: by=..., baseline='rest'"),
        ({"score": ["p", "weight"]}, "baseline must be one of the columns of score, 'p', 'weight'; found 'rest'"),
    ],
)
def test_what_cannot_be_asked(options, message):
    asked = COLUMNS | {"score": ["p"], "by": "channel", "baseline": "rest"} | options
    assert_raises(ValueError, message, fm.compare, make_log(), "auc", **asked)


def test_too_many_slices_are_an_error():
    log = make_log(1_200) | {"channel": np.arange(1_200)}
    assert_raises(ValueError, "makes 1,200 slices; at most 1,000 are compared with the rest", compare, log, "logloss")


def two_days(users=60, seed=0, change=0.0):
    """Every user is there on both days, and much alike; the second day's log loss may be worse."""
    rng = np.random.default_rng(seed)
    user = np.tile(np.repeat(np.arange(users), 8), 2)
    appeal = rng.normal(size=users)[user] * 1.5
    day = np.repeat(["1", "2"], user.shape[0] // 2)
    return {
        "click": (rng.random(user.shape[0]) < 1 / (1 + np.exp(-appeal))).astype(np.int8),
        "p": np.where(day == "2", 0.5 + change, 0.5) + rng.uniform(-0.2, 0.2, user.shape[0]),
        "user": user,
        "day": day,
    }


def test_two_slices_are_one_test_from_both_sides():
    comparison = compare(two_days(change=0.2), ["logloss", "ctr"], by="day")
    for metric in ("logloss", "ctr"):
        first, second = (comparison.difference(metric, slice={"day": day}) for day in "12")
        assert (first.baseline_value, first.other_value) == (second.other_value, second.baseline_value)
        assert first.difference == -second.difference
        assert (first.pvalue, first.adjusted_pvalue) == (second.pvalue, second.adjusted_pvalue)
        assert first.adjusted_pvalue <= 2 * first.pvalue  # a family has two lines, not four
        assert {first.verdict, second.verdict} in ({"better", "worse"}, {"cannot tell"}, {"different"})


def test_two_logs_that_share_users_are_compared_user_by_user():
    """Of 200 pairs of equal days about 5 % of intervals leave out 0; those of independent logs hardly ever do."""
    question = fm.Evaluation("ctr", score="p", ci=0.95, **COLUMNS)
    paired, independent, widths = 0, 0, []
    for seed in range(200):
        log = two_days(seed=seed)
        one = compare(log, "ctr", by="day").difference("ctr", slice={"day": "2"})
        reports = [question.run(select(log, log["day"] == day)) for day in "12"]
        other = fm.compare_reports(*reports)["ctr"]
        assert one.difference == pytest.approx(other.difference, abs=1e-15)
        paired += one.pvalue < 0.05
        independent += other.pvalue < 0.05
        widths.append(one.standard_error / other.standard_error)
    assert 3 <= paired <= 19
    assert independent <= 2
    assert np.mean(widths) < 0.7
