"""The values of many replicates at once are those that finalizers find one by one."""

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core import exact
from fastmetrics._core.registry import list_metrics, parse
from fastmetrics._core.state import ManySums
from fastmetrics.engine.scan import intervals
from fastmetrics.metrics.classification.fixed_threshold import ThresholdCounts
from fastmetrics.testing.metric_cases import CLASS_COLUMNS, GRADE_COLUMNS, NUMBER_COLUMNS
from support.cases import each_case
from support.registry_cases import ALL_CASES

CASES = [case for case in ALL_CASES if case.parsed.has_many and case.spec.exchange != "range"]
NUMERIC = (CLASS_COLUMNS, NUMBER_COLUMNS, GRADE_COLUMNS)
EXAMPLES = sorted({case.metric for case in CASES if case.columns in NUMERIC})
REPLICATES = 70
STATES = 300


@pytest.fixture
def checked(monkeypatch):
    """Whenever an interval is made: the metric, and how many of its values were found at once."""
    found = []

    def finalize_both_ways(metric, replicates, n_replicates):
        found_at_once = intervals.find_many_values(metric, replicates)
        states = zip(*(own.states() for own in replicates), strict=True)
        one_by_one = np.array([metric.finalize(*own).value for own in states])
        if found_at_once is not None:
            at_once, asked = found_at_once
            assert np.array_equal(at_once[~asked], one_by_one[~asked], equal_nan=True), metric
            found.append((str(metric), int((~asked).sum())))
        values = original(metric, replicates, n_replicates)
        assert np.array_equal(values, one_by_one, equal_nan=True)
        return values

    original = intervals.finalize_metric
    monkeypatch.setattr(intervals, "finalize_metric", finalize_both_ways)
    return found


def make_log(kind, n=400):
    random = np.random.default_rng(len(kind))
    log = {
        "label": random.integers(0, 2, n),
        "score": random.random(n),
        "unit": random.integers(0, 60, n),
        "weight": random.uniform(0.1, 3.1, n),
    }
    if kind == "one class":
        log["label"][:] = 0
    if kind == "tiny weights":
        log["weight"] *= 1e-300
    if kind == "great weights":
        log["weight"] *= 1e290
    if kind == "perfect":
        log["score"] = log["label"].astype(np.float64)
    if kind == "few rows":
        log = {name: column[:3] for name, column in log.items()}
    return log


def evaluate(log, metrics, **options):
    """Metrics of numbers read positive ones, which deviances need."""
    columns = {"label": "label", "score": "score", "group": "unit", "unit": "unit"}
    of_numbers = [name for name in metrics if parse(name).spec.target == "real"]
    positive = log | {"label": log["label"] + 1.0, "score": log["score"] + 1.0}
    for names, own in ((of_numbers, positive), ([name for name in metrics if name not in of_numbers], log)):
        if names:
            fm.evaluate(own, names, **columns, ci=0.9, replicates=REPLICATES, **options)


def test_metrics_of_sums_have_it():
    """All but tables of labels, order statistics and maxima."""
    specs = [spec for spec in list_metrics().values() if spec.exchange != "range"]
    of_partitions = {spec.name for spec in specs if spec.target == "partition"}
    assert {spec.name for spec in specs if spec.many is None} == of_partitions | {"hamming", "max_error"}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_metrics_have_the_values_of_their_finalizers(case, checked):
    """Also of texts, sets of labels and probabilities of classes."""
    for weight in (None, "weight") if case.takes_weights() else (None,):
        checked.clear()
        columns = {} if weight is None else {"weight": weight}
        case.evaluate(case.log, ci=0.9, replicates=REPLICATES, unit="group", **columns)
        assert checked == [(str(case.parsed), REPLICATES)]


def many_states(statistic, states):
    return ManySums(statistic.fields, *(np.stack([own.arrays()[part] for own in states]) for part in range(2)))


def find_both_ways(name, states):
    """The values at once, and one by one, of the states of each statistic."""
    metric = parse(name)
    at_once, asked = metric.finalize_many(*map(many_states, metric.statistics(), states))
    one_by_one = np.array([metric.finalize(*own).value for own in zip(*states, strict=True)])
    assert np.array_equal(at_once[~asked], one_by_one[~asked], equal_nan=True), name
    return at_once, one_by_one


OF_CELLS = sorted({case.metric for case in CASES if isinstance(case.parsed.statistics()[0], ThresholdCounts)})


@each_case("most", [2, 1000, 10**7, 10**12])
@each_case("is_weighted", [False, True])
def test_values_of_four_cells(most, is_weighted):
    random = np.random.default_rng(most)
    for name in (*OF_CELLS, "fbeta(beta=0)", "fbeta(beta=0.7)"):
        (statistic,) = parse(name).statistics()
        states = [statistic.empty() for _ in range(STATES)]
        for state in states:
            state.counts_of("rows")[:] = random.integers(0, most, 4)
            if is_weighted:
                state.set_flag("weighted")
                for sums in state.sums_of("weight"):
                    sums[:] = exact.sum_state(most * random.random(random.integers(0, 4)), None)
        at_once, one_by_one = find_both_ways(name, [states])
        assert np.array_equal(np.isnan(at_once), np.isnan(one_by_one)), name


@each_case("name", ["d2_tweedie(power=1)", "d2_pinball(alpha=0.9)", "d2_absolute_error"])
def test_values_of_losses_compared_with_a_constant(name):
    random = np.random.default_rng(0)
    (statistic,) = parse(name).statistics()
    states = [statistic.empty() for _ in range(STATES)]
    for rows, state in enumerate(states):
        state.add_count("rows", rows)
        for field in ("losses", "losses of the constant"):
            state.sum_of(field)[:] = exact.sum_state(random.random(rows), None)
    at_once, one_by_one = find_both_ways(name, [states])
    assert np.array_equal(np.isnan(at_once), np.isnan(one_by_one))


@each_case("kind", ["usual", "one class", "perfect", "few rows"])
def test_values_are_those_of_finalizers(kind, checked):
    checked.clear()
    evaluate(make_log(kind), EXAMPLES)
    assert {name for name, _ in checked} == {str(parse(name)) for name in EXAMPLES}
    if kind == "usual":
        assert [name for name, n in checked if n < REPLICATES] == []


@each_case("kind", ["usual", "tiny weights", "great weights", "perfect"])
def test_values_of_weighted_rows(kind, checked):
    checked.clear()
    metrics = [name for name in EXAMPLES if parse(name).spec.exchange == "none"]
    evaluate(make_log(kind), metrics, weight="weight")
    assert len(checked) == len(metrics)
    assert (kind == "usual") <= all(n == REPLICATES for _, n in checked)


def test_values_of_slices(checked):
    log = make_log("usual")
    evaluate(log | {"slice": log["unit"] % 3}, ["logloss", "rmse", "gauc"], by="slice")
    assert len(checked) == 3 * 4


def test_finalizers_are_not_asked_for_entropies_of_one_class():
    counts, terms = parse("ne").statistics()
    states = [[own.empty() for _ in range(9)] for own in (counts, terms)]
    for rows, (of_counts, of_terms) in enumerate(zip(*states, strict=True)):
        of_counts.add_count("rows", rows)
        of_counts.add_count("positives", rows % 3 * (rows // 2))
        of_terms.sum_of("terms")[:] = exact.sum_state(np.full(rows, 0.7), None)
    values, asked = parse("ne").finalize_many(*map(many_states, (counts, terms), states))
    assert not asked.any()
    assert np.flatnonzero(~np.isnan(values)).tolist() == [4, 5, 7]
    _, asked = parse("ne(base_rate=0.3)").finalize_many(*map(many_states, (counts, terms), states))
    assert np.flatnonzero(asked).tolist() == [0]


def test_metrics_without_it_are_refused():
    with pytest.raises(ValueError, match="one value at a time"):
        parse("max_error").finalize_many()
