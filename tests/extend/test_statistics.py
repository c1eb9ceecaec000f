"""What the bases of statistics promise, and what `check_metric` says of metrics that break their promises."""

import pickle

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics import extend
from fastmetrics._core.registry import parse
from fastmetrics.extend import (
    Binary,
    Columns,
    GroupStatistic,
    Real,
    RowStatistic,
    ScoreRangeStatistic,
    cumulative_sums,
    divide,
    exact_sum,
    finalize_group_mean,
    metric,
    row_mean,
)
from fastmetrics.testing import check_metric
from support.cases import assert_raises, each_case
from support.extend.worked_examples import contents, make_log
from support.registry_cases import own_metrics

CLICK = {"click": Binary()}
SCORE = {"score": Real()}
REWARD = {"score": Real(), "reward": Real()}


class Sums(RowStatistic):
    """Terms of clicks; `mistake` says which are wrong."""

    __slots__ = ("mistake",)
    sums = ("clicks", "rows")

    def __init__(self, mistake=None):
        self.mistake = mistake

    def update(self, state, rows):
        super().update(state, rows._replace(weights=None) if self.mistake == "weights ignored" else rows)

    def terms(self, columns):
        numbers = np.arange(columns.rows)
        clicks = {
            None: lambda: columns.click,
            "weights ignored": lambda: columns.click,
            "order of rows": lambda: columns.click * numbers,
            "part of a batch": lambda: columns.click / columns.rows,
            "other names": lambda: columns.click,
            "infinite": lambda: np.where(numbers == 3, np.inf, columns.click),
            "wrong shape": lambda: columns.click[:-1],
            "no such role": lambda: columns.clicks,
        }[self.mistake]()
        name = "click" if self.mistake == "other names" else "clicks"
        return {name: clicks, "rows": np.ones(columns.rows)}


class Ratio(RowStatistic):
    """Clicks by reward, which is infinite for a reward of 0."""

    __slots__ = ()
    sums = ("clicks", "rows")

    def terms(self, columns):
        return {"clicks": columns.click / columns.reward, "rows": np.ones(columns.rows)}


class Ranges(ScoreRangeStatistic):
    """The number of rows; `mistake` says what is wrong."""

    __slots__ = ("mistake",)

    def __init__(self, mistake=None):
        self.mistake = mistake

    def state(self, columns, above, total):
        return int(cumulative_sums(columns, np.ones(columns.rows, bool))[-1])

    def merge(self, higher, lower):
        return max(higher, lower) if self.mistake == "wrong merge" else higher + lower

    def empty(self):
        return 0


class Best(GroupStatistic):
    """The greatest reward of a group, group by group; none of a group whose first row has a negative reward."""

    __slots__ = ()

    def value(self, group):
        return np.nan if group.reward[0] < 0 else group.reward.max()


class FastBest(GroupStatistic):
    """The same, of many groups at once."""

    __slots__ = ()

    def values(self, groups):
        best = np.maximum.reduceat(groups.reward, groups.starts)
        return np.where(groups.reward[groups.starts] < 0, np.nan, best)


class Unseeded(GroupStatistic):
    """A value that has nothing to do with the rows."""

    __slots__ = ()

    def value(self, group):
        return np.random.random()  # noqa: NPY002


def register(name, statistic, roles):
    exchange = {Sums: "none", Ratio: "none", Ranges: "range"}.get(type(statistic), "hash")

    @metric(name, exchange=exchange, statistics=statistic, roles=roles, direction="none")
    def finalize(parameters, state):
        """A metric of a test."""
        if exchange == "hash":
            return finalize_group_mean(state, "negative", "no group has a value")
        return divide(state["clicks"], state["rows"]) if exchange == "none" else divide(state, 1)


def test_right_metrics_pass():
    register("own_rows", Sums(), CLICK)
    register("own_groups", Best(), REWARD)
    check_metric("own_rows")
    check_metric("own_groups")


@each_case(
    "name, statistic, roles, check, message",
    [
        ("own_order", Sums("order of rows"), CLICK, "row_order", "another order of rows"),
        ("own_batch", Sums("part of a batch"), CLICK, "accumulators", "merged accumulators"),
        ("own_weights", Sums("weights ignored"), CLICK, "repeated_rows", "with integer weights"),
        ("own_random", Unseeded(), REWARD, "row_order", "another order of rows"),
        ("own_merge", Ranges("wrong merge"), SCORE, "memory_limit", "memory_limit='1MiB'"),
        ("own_names", Sums("other names"), CLICK, "row_order", "terms of Sums.* must be those of clicks, rows"),
        ("own_infinite", Sums("infinite"), CLICK, "row_order", "clicks of Sums.* is inf at row 3: terms are finite"),
        ("own_role", Sums("no such role"), CLICK, "row_order", "the metric declares no role 'clicks'; it has click"),
    ],
)
def test_a_wrong_metric_is_named_with_what_fails(name, statistic, roles, check, message):
    register(name, statistic, roles)
    assert_raises(AssertionError, rf"(?s){name} fails.*{name}: check {check} failed.*{message}", check_metric, name)


def test_a_class_without_a_method_that_it_needs_is_an_error():
    class NoMerge(ScoreRangeStatistic):
        def state(self, columns, above, total):
            return 0

    class NoTerms(RowStatistic):
        sums = ("clicks",)

    for cls, method in ((NoMerge, "merge"), (NoTerms, "terms")):
        assert_raises(TypeError, f"abstract class {cls.__name__} .*{method}", cls)


def test_evaluate_says_what_is_wrong_with_terms():
    log = {"clicked": np.ones(10, int), "weight": np.arange(10.0)}
    for mistake, error, message in (
        ("other names", ValueError, "metric own_other_names: terms of Sums.* must be those of clicks, rows; found"),
        ("infinite", ValueError, r"clicks of Sums\('infinite'\) is inf at row 3: terms are finite"),
        ("no such role", AttributeError, "the metric declares no role 'clicks'; it has click"),
        ("wrong shape", ValueError, r"metric own_wrong_shape: term 'clicks' .* shape \(9,\) for 10 rows"),
    ):
        name = "own_" + mistake.replace(" ", "_")
        register(name, Sums(mistake), CLICK)
        assert_raises(error, message, fm.evaluate, log, [name], roles={"click": "clicked"})
    # Rows of weight zero are left out before; the row is that of the log.
    assert_raises(
        ValueError, "is inf at row 4", fm.evaluate, log, ["own_infinite"], roles={"click": "clicked"}, weight="weight"
    )


WRONG_TERMS = {
    "sum": (lambda x: (x * 1.0).sum(), "the number 3.5"),
    "python sum": (lambda x: float(x.sum()), "the number 3.5"),
    "one": (lambda x: 1, "the number 1"),
    "no dimension": (lambda x: np.asarray(x.max()), "the number 2.5"),
    "too few": (lambda x: x[1:], r"an array of shape \(1,\)"),
    "too many": (lambda x: np.append(x, x), r"an array of shape \(4,\)"),
    "a matrix": (lambda x: np.column_stack([x, x]), r"an array of shape \(2, 2\)"),
    "sum in a list": (lambda x: [x.sum()], r"an array of shape \(1,\)"),
}


@each_case("mistake", WRONG_TERMS)
def test_terms_have_one_value_for_each_row(mistake):
    """A sum would be added once for every row: 4000 for 1000."""
    wrong, found = WRONG_TERMS[mistake]
    name = "own_" + mistake.replace(" ", "_")
    row_mean(name, roles={"x": Real()})(lambda columns: wrong(columns.x))
    message = rf"metric {name}: term 'numerator' .* must be an array with one value for each row; found {found}"
    assert_raises(ValueError, message, fm.evaluate, {"x": [1.0, 2.5]}, [name], roles={"x": "x"})
    if "number" in found:  # also where a batch has one row, in which the sum is right
        assert_raises(ValueError, "found the number .* for 1 row", fm.evaluate, {"x": [1.0]}, [name], roles={"x": "x"})
    assert_raises(AssertionError, f"{name} fails", check_metric, name)


def test_a_number_in_the_denominator_is_an_error():
    row_mean("own_pair", roles={"x": Real()})(lambda columns: (columns.x, columns.rows))
    message = "metric own_pair: term 'denominator' .* found the number 2"
    assert_raises(ValueError, message, fm.evaluate, {"x": [1.0, 2.0]}, "own_pair(x=x)")


class WrongGroups(GroupStatistic):
    """`mistake` is a function that returns something else than a value for each group."""

    __slots__ = ("mistake",)

    def __init__(self, mistake):
        self.mistake = mistake

    def values(self, groups):
        return self.mistake(groups)


class WrongValue(WrongGroups):
    def values(self, groups):
        return GroupStatistic.values(self, groups)

    def value(self, group):
        return self.mistake(group)


@each_case(
    "statistic, message",
    [
        (WrongGroups(lambda own: own.reward.max()), "one value for each group; found the number .* for 2 groups"),
        (WrongGroups(lambda own: own.reward), r"one value for each group; found an array of shape \(3,\)"),
        (WrongValue(lambda own: own.reward), r"must be one number for a group; found an array of shape \([12],\)"),
        (WrongValue(lambda own: own.reward[:1]), r"must be one number for a group; found an array of shape \(1,\)"),
    ],
)
def test_values_have_one_number_for_each_group(statistic, message):
    with own_metrics():
        register("own_wrong_groups", statistic, REWARD)
        raises_for_groups(message)


def raises_for_groups(message):
    log = {"score": [1.0, 2.0, 3.0], "user": [1, 1, 2], "gain": [1.0, 2.0, 5.0]}
    options = {"score": "score", "group": "user", "roles": {"reward": "gain"}, "n_threads": 1}
    message = f"metric own_wrong_groups: .*{message}"
    assert_raises(ValueError, message, fm.evaluate, log, ["own_wrong_groups"], **options)


def test_what_is_counted_has_a_value_for_each_row():
    rows = Columns({"score": np.array([3.0, 2.0, 2.0])}, None, np.array([0, 1]))
    for counted in (True, [True, False]):
        assert_raises(ValueError, "counted must have one value for each of 3 rows", cumulative_sums, rows, counted)


def test_a_mean_over_rows_is_a_function():
    """It has intervals, weights and slices; `many` finds the values of all units as the finalizer does."""

    @row_mean("own_mean", roles={"x": Real()})
    def mean(columns):
        """A mean."""
        return columns.x

    @row_mean("own_ratio", roles={"x": Real(), "y": Real()}, undefined="no y")
    def ratio(columns):
        """A ratio of sums."""
        return columns.x, columns.y

    log = make_log(400) | {"x": np.arange(400.0), "y": np.arange(400.0) % 3}
    asked, columns = ["own_mean", "own_ratio"], {"x": "x", "y": "y"}
    report = fm.evaluate(log, asked, roles=columns, by="hour", weight="weight", ci=0.95, unit="user")
    weights = log["weight"]
    assert report["own_mean"] == divide(exact_sum(weights * log["x"]), exact_sum(weights))
    assert report["own_ratio"] == divide(exact_sum(weights * log["x"]), exact_sum(weights * log["y"]))
    assert all(row.interval[0] < row.value < row.interval[1] for row in report if not row.slice)
    assert fm.evaluate({"x": [1.0], "y": [0.0]}, "own_ratio", roles=columns).results[0].reason == "no y"
    assert (mean.__name__, parse("own_mean").spec.summary) == ("mean", "A mean.")
    for name in asked:
        check_metric(name)


def test_what_was_checked_is_listed():
    register("own_listed", Sums(), CLICK)
    done = check_metric("own_listed")
    lines = str(done).splitlines()
    checks, cases = sum(own.cases > 0 for own in done), sum(own.cases for own in done)
    assert lines[0] == f"own_listed passed {checks} checks in {cases} cases"
    listed = [" ".join(line.split()) for line in lines]
    assert "row_order 1 The same rows in another order give the same report" in listed
    assert "row_order, with weights 1 The same rows in another order give the same report" in listed
    assert "direction - not checked: it reads other columns than labels and scores" in listed
    assert len(lines) == len(done) + 1
    assert {own.name for own in done} >= {"intervals", "slices", "accumulators", "threads", "scale"}


def test_a_failure_names_the_rows_that_are_enough():
    register("own_order", Sums("order of rows"), CLICK)
    message = r"check row_order failed.*; the first \d+ rows of the sample log are enough: binary_0 \[[01, ]+\]"
    assert_raises(AssertionError, message, check_metric, "own_order")


def test_terms_are_made_for_some_rows_at_a_time():
    register("own_blocks", Sums(), CLICK)
    clicked = np.random.default_rng(0).integers(0, 2, 2 * extend.TERM_ROWS + 1)
    options = {"roles": {"click": "clicked"}, "weight": "weight", "n_threads": 1}
    weight = np.arange(len(clicked)) % 3 + 0.5
    report = fm.evaluate({"clicked": clicked, "weight": weight}, ["own_blocks"], **options)
    assert report["own_blocks"] == (clicked * weight).sum() / weight.sum()
    bad_row = extend.TERM_ROWS + 7
    log = {"clicked": np.ones(len(clicked)), "reward": np.where(np.arange(len(clicked)) == bad_row, 0.0, 1.0)}
    register("own_ratio", Ratio(), REWARD | CLICK)
    options = {"roles": {"click": "clicked", "reward": "reward"}, "score": "reward", "n_threads": 1}
    message = rf"clicks of Ratio\(\) is inf at row {bad_row}: terms"
    assert_raises(ValueError, message, fm.evaluate, log, "own_ratio", **options)


def test_value_and_values_are_the_same():
    register("own_groups", Best(), REWARD)
    register("own_fast", FastBest(), REWARD)
    log = make_log(3000)
    asked = {"score": "score", "group": "user", "roles": {"reward": "revenue"}}
    for options in ({}, {"by": "hour"}, {"weight": "weight"}, {"memory_limit": "1MiB", "n_threads": 2}):
        report = fm.evaluate(log, ["own_groups", "own_fast"], **asked, **options)
        one, many = ([own[1:] for own in contents(report) if own[0] == name] for name in ("own_groups", "own_fast"))
        assert one == many
        assert all("negative" in own.coverage["groups_left_out"] for own in report)


def test_groups_are_those_of_the_log_in_order_of_scores():
    """The plain loop gives the same mean."""
    register("own_groups", Best(), REWARD)
    log = make_log(500)
    log["score"] = np.random.default_rng(3).random(500)  # no ties
    found = fm.evaluate(log, ["own_groups"], score="score", group="user", roles={"reward": "revenue"})["own_groups"]
    best = []
    for user in np.unique(log["user"]):
        rows = log["user"] == user
        if log["revenue"][rows][np.argmax(log["score"][rows])] >= 0:
            best.append(log["revenue"][rows].max())
    assert found == divide(exact_sum(best), exact_sum([len(best)]))
    asked = ["own_groups(stat=p25, rule=higher)", "own_groups(stat=max)"]
    report = fm.evaluate(log, asked, score="score", group="user", roles={"reward": "revenue"})
    assert [result.value for result in report] == [np.percentile(best, 25, method="higher"), max(best)]


class Powers(RowStatistic):
    """The sum of a power of a column; the class has no `__slots__`."""

    sums = ("total", "rows")

    def __init__(self, power):
        self.power = power

    def terms(self, columns):
        return {"total": columns.amount**self.power, "rows": np.ones(columns.rows)}


def test_statistics_with_other_parameters_are_others():
    """Also those of a class without `__slots__`: they are not computed once for both."""

    @metric(
        "own_power", exchange="none", statistics=lambda power: (Powers(power),), roles={"amount": Real()},
        parameters={"power": 1.0}, direction="none",
    )  # fmt: skip
    def finalize(parameters, state):
        """A mean of powers."""
        return divide(state["total"], state["rows"])

    assert Powers(1.0) == pickle.loads(pickle.dumps(Powers(1.0))) != Powers(2.0)
    assert Sums("a") == pickle.loads(pickle.dumps(Sums("a"))) != Sums("b")
    report = fm.evaluate({"x": [1.0, 3.0]}, ["own_power", "own_power(power=2.0)"], roles={"amount": "x"})
    assert [own.value for own in report] == [2.0, 5.0]


def test_columns():
    columns = Columns({"score": np.array([3.0, 2.0, 2.0, 1.0])}, np.array([1.0, 0.5, 2.0, 1.0]), np.array([0, 1, 3]))
    assert columns.rows == 4
    assert columns.select(columns.score == 2.0).weights.tolist() == [0.5, 2.0]
    weighted = cumulative_sums(columns, [True, True, False, True])
    assert [divide(own, exact_sum([1.0])) for own in weighted.tolist()] == [1.0, 1.5, 2.5]
    plain = Columns(columns.by_role, None, columns.starts)
    assert cumulative_sums(plain, [True, True, False, True]).tolist() == [1, 2, 3]
    assert_raises(ValueError, "columns have no starts", cumulative_sums, plain.select([0]), [True])
    with pytest.raises(AttributeError, match="the metric declares no role 'label'; it has score"):
        columns.label  # noqa: B018


def test_statistics_are_equal_by_the_slots_of_their_bases_too():
    class Other(Sums):
        __slots__ = ()

    assert Other("other names") == Other("other names")
    assert Other("other names") != Other("infinite")
    assert hash(Other(None)) != hash(Other("infinite"))
    assert Other(None) != Sums(None)
