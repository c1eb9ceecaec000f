"""Approximate states: bounded size, and intervals that always contain the exact value."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.registry import parse
from fastmetrics._core.score_statistics.score_histogram import BIN_BYTES
from fastmetrics._core.statistic import Bounded
from fastmetrics.engine.evaluation import values
from oracles import histogram as oracle
from support import strategies
from support.cases import assert_raises, each_case
from support.registry_cases import JOINT_METRICS
from support.states.accumulators import with_other_source

COLUMNS = {"label": "y", "score": "s"}
SPECS = {spec.name: spec for spec in fm.list_metrics().values()}
# A statistic without bounds has no approximate states.
BY_SCORE = [
    name
    for name, spec in SPECS.items()
    if spec.exchange == "range" and all(isinstance(own, Bounded) for own in parse(name).statistics())
]
ADDITIVE = [metric for metric in JOINT_METRICS if parse(metric).spec.exchange == "none"]
BY_GROUP = [metric for metric in JOINT_METRICS if parse(metric).spec.exchange == "hash"]
EXACT = {"auc": oracle.auc, "ks": oracle.ks, "eer": oracle.eer}
ROUNDED = {"ap": oracle.ap}  # each term is rounded
HEADER_BYTES = 4096  # bytes of a state without slices beside its histogram: names, sums, shapes


@pytest.fixture(autouse=True)
def any_state_size(monkeypatch):
    """Allow histograms of a single bin, which few rows fill."""
    monkeypatch.setattr(values, "SMALLEST_STATE", BIN_BYTES)


def new(metrics=BY_SCORE, capacity=None, **options):
    if capacity is not None:
        options["state_size"] = capacity * BIN_BYTES
    return fm.Accumulator(metrics, **{**COLUMNS, "approximate": True, "n_threads": 1, **options})


def filled(log, metrics=BY_SCORE, capacity=None, **options):
    state = new(metrics, capacity, **options)
    state.update(log)
    return state


def evaluate(log, metrics=BY_SCORE, **options):
    return fm.evaluate(log, metrics, **{**COLUMNS, **options})


def rows_of(log, start, stop):
    return {name: column[start:stop] for name, column in log.items()}


def bins_of(state, view=0, number=None):
    """The histogram of a state: shift, prefixes, counts."""
    histogram = state._state.parts[0].histograms[view, number]
    return histogram.shift, histogram.prefixes.tobytes(), histogram.counts.tobytes()


def rounded(bound):
    return bound.numerator / bound.denominator


@pytest.mark.parametrize("method", ["mean", "max"])
def test_metrics_without_a_certified_interval_are_refused(method):
    assert_raises(ValueError, rf"eer\(method={method}\) has no certified interval", new, [f"eer(method={method})"])


@given(strategies.labeled_scores(min_size=2, max_size=60), st.integers(1, 30))
def test_the_interval_of_the_convex_hull(case, capacity):
    log = dict(zip(COLUMNS.values(), case, strict=True))
    metric = "eer(method=convex_hull)"
    check_contains(filled(log, [metric], capacity).result(), evaluate(log, [metric]))


def test_every_metric_of_score_order_has_an_oracle():
    assert set(BY_SCORE) == {*EXACT, *ROUNDED}


def check_contains(report, exact):
    """Intervals contain evaluate's values, and values are their midpoints."""
    for result, other in zip(report, exact, strict=True):
        assert (result.metric, result.slice, result.label, result.score) == (
            other.metric, other.slice, other.label, other.score
        )  # fmt: skip
        assert result.reason == other.reason
        assert result.coverage == {key: own for key, own in other.coverage.items() if key != "threshold"}
        if other.reason is not None:
            assert math.isnan(result.value)
            assert result.interval is None
            continue
        low, high = result.interval
        assert 0 <= low <= other.value <= high <= 1
        assert result.value == low + (high - low) / 2
        assert low <= result.value <= high
        assert "|approximate:interval|" in result.signature
        assert result.signature.replace("|approximate:interval", "") == other.signature


# ------------------------------------------------------------------------------------------------------- the oracle


def test_the_oracle_on_small_examples():
    assert set(oracle.orders(1, 1)) == {((1, 1),), ((1, 0), (0, 1)), ((0, 1), (1, 0))}
    assert list(oracle.orders(0, 0)) == [()]
    assert len(set(oracle.orders(2, 2))) == len(list(oracle.orders(2, 2))) == 26
    assert oracle.auc([(1, 0), (0, 1)]) == 1
    assert oracle.auc([(1, 1)]) == Fraction(1, 2)
    assert oracle.auc([(1, 0), (1, 1), (0, 1)]) == Fraction(7, 8)
    assert oracle.ks([(1, 0), (1, 1), (0, 1)]) == Fraction(1, 2)
    assert oracle.bounds([(1, 1)], False, oracle.auc) == (0, 1)
    assert oracle.bounds([(1, 1)], True, oracle.auc) == (Fraction(1, 2), Fraction(1, 2))
    assert oracle.bounds([(2, 0)], False, oracle.auc) is None


@given(strategies.labeled_scores())
def test_the_oracle_is_the_function_if_every_score_has_a_bin(case):
    labels, scores = case
    shift, bins = oracle.bins(labels, scores, scores.dtype.name, 1000)
    assert shift == 0
    ties = [own[1:] for own in bins]
    assert rounded(oracle.auc(ties)) == fm.roc_auc_score(labels, scores, allow_infinite=True)
    assert rounded(oracle.ks(ties)) == fm.ks_statistic(labels, scores)


# ------------------------------------------------------------------------------------------------- bins and bounds


@given(strategies.labeled_scores(min_size=1, both_classes=False), st.integers(1, 8))
def test_bins_depend_on_the_scores_only(case, capacity):
    labels, scores = case
    found = filled({"y": labels, "s": scores}, capacity=capacity)._state.parts[0].histograms[0, None]
    shift, bins = oracle.bins(labels, scores, scores.dtype.name, capacity)
    assert (found.shift, found.prefixes.tolist()) == (shift, [own[0] for own in bins])
    assert found.counts.tolist() == [[own[1], own[2]] for own in bins]


@given(strategies.labeled_scores(min_size=2, max_size=7), st.integers(1, 4))
def test_the_interval_is_that_of_all_orders(case, capacity):
    labels, scores = case
    shift, bins = oracle.bins(labels, scores, scores.dtype.name, capacity)
    counts = [own[1:] for own in bins]
    assume(shift == 0 or oracle.n_orders(counts) <= 2000)
    report = filled({"y": labels, "s": scores}, capacity=capacity).result()
    for metric, value in EXACT.items():
        assert report.result(metric).interval == tuple(map(rounded, oracle.bounds(counts, shift == 0, value)))
    for metric, value in ROUNDED.items():
        expected = tuple(map(rounded, oracle.bounds(counts, shift == 0, value)))
        assert report.result(metric).interval == pytest.approx(expected, abs=1e-11)
    check_contains(report, evaluate({"y": labels, "s": scores}))


@each_case("labels", list(itertools.product((0, 1), repeat=6)), ids=lambda own: "".join(map(str, own)))
def test_the_interval_of_two_bins(labels):
    """Two bins of three scores, with every combination of labels."""
    log = {"y": list(labels), "s": [1.0, 1.25, 1.5, 2.0, 2.5, 3.0]}
    shift, bins = oracle.bins(log["y"], log["s"], "float64", 2)
    assert shift > 0
    assert len(bins) == 2
    report = filled(log, capacity=2).result()
    for metric, value in EXACT.items():
        expected = oracle.bounds([own[1:] for own in bins], False, value)
        assert report.result(metric).interval == (expected and tuple(map(rounded, expected)))


@given(strategies.labeled_scores(min_size=1, max_size=60, both_classes=False), st.integers(1, 30))
def test_the_interval_contains_the_exact_value(case, capacity):
    labels, scores = case
    log = {"y": labels, "s": scores}
    report, exact = filled(log, capacity=capacity).result(), evaluate(log)
    check_contains(report, exact)
    if len(np.unique(scores)) <= capacity:
        for result, other in zip(report, exact, strict=True):
            assert result.interval in (None, (other.value, other.value))


@pytest.mark.parametrize("dtype", strategies.SCORE_DTYPES)
@pytest.mark.parametrize(
    "scores",
    {
        "infinities": [math.inf, -math.inf, math.inf, 0.0, -math.inf, 1.0],
        "zeros": [0.0, -0.0, 0.0, -0.0, 1.0, -1.0],
        "negative": [-1.0, -2.0, -1.5, -1.5, -1e-30, -1e30],
        "constant": [0.5] * 6,
        "neighbors": [1.0, 1.0000001, 1.0000002, 1.0000004, 1.0000005, 1.0000006],
    }.values(),
    ids=["infinities", "zeros", "negative", "constant", "neighbors"],
)
def test_scores_of_every_kind(scores, dtype):
    log = {"y": [1, 0, 0, 1, 1, 0], "s": np.array(scores, dtype)}
    for capacity in range(1, 8):
        report, exact = filled(log, capacity=capacity).result(), evaluate(log)
        check_contains(report, exact)
        if len(set(log["s"].tolist())) <= capacity:
            assert [own.interval for own in report] == [(own.value, own.value) for own in exact]
    report = filled(log, capacity=1).result()
    if len(set(log["s"].tolist())) > 1:
        assert [report.result(metric).interval for metric in EXACT] == [(0.0, 1.0)] * len(EXACT)
        assert [report[metric] for metric in EXACT] == [0.5] * len(EXACT)


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_is_undefined(label):
    log = {"y": [label] * 5, "s": [0.1, 0.2, 0.3, 0.4, 0.5]}
    report = filled(log, capacity=2).result()
    check_contains(report, evaluate(log))
    for result in report:
        if label == 1 and result.metric in ROUNDED:
            assert result.value == 1.0  # precision needs no negative row
            continue
        assert math.isnan(result.value)
        assert result.interval is None
        assert "no positive" in result.reason or "no negative" in result.reason
        assert "approximate" not in result.signature


def test_few_scores_are_exact():
    log = strategies.click_log(5000, seed=1, levels=150)
    log = {"y": log["label"], "s": log["prob"]}
    report = filled(log, state_size=4096).result()
    exact = evaluate(log)
    assert [own.value for own in report] == [own.value for own in exact]
    assert [own.interval for own in report] == [(own.value, own.value) for own in exact]
    assert report["auc"] == fm.roc_auc_score(log["y"], log["s"], allow_infinite=True)


# ------------------------------------------------------------------------------------------------ order and merging


@given(strategies.labeled_scores(min_size=1, both_classes=False), st.integers(1, 12), st.data())
def test_any_tree_gives_the_same_bins(case, capacity, data):
    labels, scores = case
    whole = filled({"y": labels, "s": scores}, capacity=capacity)
    leaf_of_row = np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(labels), max_size=len(labels))))
    states = []
    for leaf in range(5):
        states.append(new(capacity=capacity))
        rows = np.flatnonzero(leaf_of_row == leaf)
        rows = np.array(data.draw(st.permutations(rows.tolist())), np.int64)
        for piece in np.array_split(rows, data.draw(st.integers(1, 3))):
            if len(piece):
                states[-1].update({"y": labels[piece], "s": scores[piece]})
    while len(states) > 1:
        into = states.pop(data.draw(st.integers(0, len(states) - 1)))
        other = states.pop(data.draw(st.integers(0, len(states) - 1)))
        before = other.to_bytes()
        states.append(fm.Accumulator.from_bytes(into.to_bytes()).merge(other))
        assert other.to_bytes() == before
    assert bins_of(states[0]) == bins_of(whole)
    assert states[0].result() == whole.result()


def test_states_travel_exactly():
    log = strategies.click_log(3000, seed=2, levels=None)
    state = filled({"y": log["label"], "s": log["prob"]}, [*BY_SCORE, *ADDITIVE], state_size=4096)
    data = state.to_bytes()
    again = fm.Accumulator.from_bytes(data)
    assert again.evaluation.approximate
    assert again._state.options.n_bins == state._state.options.n_bins == 4096 // BIN_BYTES
    assert again.to_bytes() == data
    assert again.result() == state.result()
    assert again.copy().to_bytes() == data


def test_copies_and_merges_share_nothing_that_changes():
    log = strategies.click_log(3000, seed=2, levels=None)
    log = {"y": log["label"], "s": log["prob"]}
    state = filled(rows_of(log, 0, 1000), state_size=4096)
    before = state.to_bytes()
    copied = state.copy()
    copied.update(rows_of(log, 1000, 2000))
    copied.merge(with_other_source(copied))
    new(state_size=4096).merge(state).update(rows_of(log, 1000, 3000))
    state.result()
    assert state.to_bytes() == before


def test_the_same_rows_twice():
    log = strategies.click_log(3000, seed=2, levels=None)
    log = {"y": log["label"], "s": log["prob"]}
    state = filled(log, state_size=4096)
    twice = {name: np.concatenate((own, own)) for name, own in log.items()}
    assert state.merge(with_other_source(state)).result() == filled(twice, state_size=4096).result()


def test_other_sizes_do_not_merge():
    with pytest.raises(ValueError, match="questions do not merge: state_size is 4096 here, 8192 there"):
        new(state_size=4096).merge(new(state_size=8192))
    words = "questions do not merge: approximate is True here, False there"
    assert_raises(ValueError, words, new().merge, new(approximate=False))


# ---------------------------------------------------------------------------------------------------- size and width


def widths(report):
    return [own.interval[1] - own.interval[0] for own in report]


@given(strategies.labeled_scores(min_size=2, max_size=60))
def test_a_larger_state_is_never_wider(case):
    labels, scores = case
    previous = None
    for capacity in range(1, 40, 3):
        report = filled({"y": labels, "s": scores}, capacity=capacity).result()
        if previous is not None:
            for result, other in zip(report, previous, strict=True):
                assert other.interval[0] <= result.interval[0] <= result.interval[1] <= other.interval[1]
        previous = report


def test_smaller_states_are_wider():
    log = strategies.click_log(50_000, seed=3, levels=None)
    log = {"y": log["label"], "s": log["prob"]}
    found = [widths(filled(log, state_size=size).result()) for size in (4096, 1 << 14, 1 << 16, 1 << 18)]
    for wider, narrower in itertools.pairwise(found):
        for metric, one, other in zip(BY_SCORE, wider, narrower, strict=True):
            assert one >= (2 * other if metric in ("auc", "ks") else other), metric
    assert max(found[-1]) < 5e-3


def test_the_state_does_not_grow_with_the_rows():
    sizes = []
    state = new([*BY_SCORE, *ADDITIVE], state_size=1 << 16)
    for number in range(12):
        log = strategies.click_log(20_000, seed=number, levels=None)
        state.update({"y": log["label"], "s": log["prob"]})
        sizes.append(len(state.to_bytes()))
        assert not state._state.parts[0].waiting
        assert not state._state.parts[0].range_store().blocks_in_memory
    additive = len(new(ADDITIVE).to_bytes()) + len(filled({"y": log["label"], "s": log["prob"]}, ADDITIVE).to_bytes())
    assert max(sizes) <= (1 << 16) + additive + HEADER_BYTES
    assert state.rows == 240_000


def ctr_log(kind, dtype, rows=1_000_000):
    """A log of 0.1% clicks, with the probabilities of a model that is nearly right."""
    generator = np.random.default_rng(7)
    if kind == "lognormal":
        probability = np.clip(np.exp(generator.normal(-7.4, 1.0, rows)), 1e-5, 0.1)
    else:
        probability = 1 / (1 + np.exp(7.4 - 1.0 * generator.normal(0.0, 1.0, rows)))
    label = (generator.random(rows) < probability).astype(np.int8)
    assert 0.0005 < label.mean() < 0.002
    return {"y": label, "s": (probability * generator.lognormal(0, 0.1, rows)).astype(dtype)}


@pytest.mark.parametrize(("kind", "dtype"), [("lognormal", "float32"), ("logit-normal", "float64")])
def test_a_log_of_rare_clicks(kind, dtype):
    log = ctr_log(kind, dtype)
    state = filled(log, state_size="4MiB")
    report = state.result()
    check_contains(report, evaluate(log))
    width = dict(zip(BY_SCORE, widths(report), strict=True))
    assert 0 < width["auc"] < 1e-4
    assert max(width.values()) < 1e-3
    assert len(state.to_bytes()) <= (4 << 20) + HEADER_BYTES
    assert state._state.parts[0].histograms[0, None].prefixes.shape[0] > 50_000


# -------------------------------------------------------------------------------------------------- beside the bins


def test_metrics_without_an_exchange_stay_exact():
    log = strategies.click_log(5000, seed=4, levels=None)
    log = {"y": log["label"], "s": log["prob"], "by": log["group"] % 3, "w": np.linspace(0.0, 3.0, 5000)}
    metrics = [*ADDITIVE, *BY_SCORE]
    state = new(metrics, state_size=4096, by="by")
    for start in range(0, 5000, 700):
        state.update(rows_of(log, start, start + 700))
    for result, other in zip(state.result(), evaluate(log, metrics, by="by"), strict=True):
        if result.metric in ADDITIVE:
            assert result == other
            assert result.interval is None
        else:
            assert result.interval[0] <= other.value <= result.interval[1]
    assert filled(log, ADDITIVE, weight="w").result() == evaluate(log, ADDITIVE, weight="w")


@each_case("metric", BY_GROUP)
def test_metrics_inside_groups_are_refused(metric):
    assert_raises(
        ValueError, r"approximate=True: metric .*is computed inside groups and needs every row",
        new, ["auc", metric], group="g",
    )


@each_case("metric", BY_SCORE)
def test_weighted_rows_are_refused(metric):
    assert_raises(
        ValueError, rf"approximate=True: metric {metric} has no certified interval for weighted",
        new, ["logloss", metric], weight="w",
    )


def test_a_group_column_that_no_metric_needs_is_not_read():
    assert filled({"y": [0, 1], "s": [0.1, 0.2]}, group="g").result()["auc"] == 1.0


def test_every_slice_has_its_own_interval():
    log = strategies.click_log(6000, seed=5, levels=None)
    log = {"y": log["label"], "s": log["prob"], "city": np.array(["ulm", "köln", "rom"])[log["group"] % 3]}
    log["y"][log["city"] == "rom"] = 0
    parts = [filled(rows_of(log, start, start + 1000), state_size=4096, by="city") for start in range(0, 6000, 1000)]
    state = new(state_size=4096, by="city")
    for number in (3, 0, 5, 1, 4, 2):
        state.merge(parts[number])
    report = state.result()
    check_contains(report, evaluate(log, by="city"))
    assert state.result() == report
    for city in ("ulm", "köln", "rom"):
        own = {name: column[log["city"] == city] for name, column in log.items()}
        alone = filled(own, state_size=4096).result()
        for metric in BY_SCORE:
            of_slice = report.result(metric, slice={"city": city})
            assert (of_slice.interval, of_slice.reason) == (alone.result(metric).interval, alone.result(metric).reason)
    whole = filled(log, state_size=4096).result()
    for metric in BY_SCORE:
        assert report.result(metric, slice={}).interval == whole.result(metric).interval


def test_several_scores_and_labels():
    log = strategies.click_log(3000, seed=6, levels=None)
    log = {"y": log["label"], "z": log["group"] % 2, "s": log["prob"], "t": log["score"].astype(np.float32)}
    options = {"label": ["y", "z"], "score": ["s", "t"]}
    parts = [filled(rows_of(log, start, start + 1000), state_size=4096, **options) for start in (0, 1000, 2000)]
    report = parts[2].merge(parts[0]).merge(parts[1]).result()
    check_contains(report, evaluate(log, **options))
    assert len({own.interval for own in report}) == 4 * len(BY_SCORE)


def test_dropped_rows_and_refused_rows():
    log = {"y": [0, 1, 1, 0], "s": [0.1, None, 0.5, 0.7]}
    state = filled(log, on_invalid="drop")
    check_contains(state.result(), evaluate(log, on_invalid="drop"))
    assert state.result().rows == 4
    state = filled({"y": [0, 1], "s": [0.1, 0.2]}, [*BY_SCORE, "logloss"])
    before = state.to_bytes()
    assert_raises(ValueError, r"'s' has 1.5 at row 1\b", state.update, {"y": [0, 1], "s": [0.1, 1.5]})
    assert_raises(ValueError, r"'s' has a null at row 1\b", state.update, log)
    assert state.to_bytes() == before


def test_the_interval_is_in_every_form_of_the_report():
    log = strategies.click_log(3000, seed=2, levels=None)
    report = filled({"y": log["label"], "s": log["prob"]}, [*BY_SCORE, "logloss"], state_size=4096).result()
    results = report.to_dict()["results"]
    found = {own["metric"]: (own["ci_low"], own["ci_high"]) if "ci_low" in own else None for own in results}
    assert found == {own.metric: own.interval for own in report}
    assert found["logloss"] is None
    assert found["auc"][0] < found["auc"][1]
