"""Plots of logs: points of the exact curves for any order of rows, confidence bands, reasons for missing plots."""

import pickle

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core import exact
from fastmetrics._core.columns.row_blocks import Rows
from fastmetrics._core.plot import Line
from fastmetrics._core.registry.plot_registry import (
    MAX_POINTS,
    TOLERANCE,
    ModelStates,
    NoPlotError,
    known_plots,
    simplified_points,
)
from fastmetrics._core.score_statistics.score_histogram import ScoreHistogram
from fastmetrics.metrics.calibration.calibration_plot import ReliabilityBins, joined_bin_cells
from support.cases import assert_raises, each_case
from support.results.plotted_logs import NAMES, make_log, report_of


def pairs(x, y):
    return set(zip(x.tolist(), y.tolist(), strict=True))


LOGS = [make_log(6), make_log(40, 3), make_log(500, 1, ties=10), make_log(3000, 2)]
LOGS.append({"y": np.array([0, 1, 1, 0]), "a": np.array([-np.inf, np.inf, 0.0, -0.0])})


@each_case("log", LOGS, ids=lambda log: len(log["y"]))
def test_points_are_points_of_the_exact_curves(log):
    y, a = log["y"], log["a"]
    found = {name: own.lines[0] for name, own in report_of(log).pictures.items() if own.lines}
    fpr, tpr, _ = fm.roc_curve(y, a, drop_intermediate=False, allow_infinite=True)
    assert pairs(found["roc"].x, found["roc"].y) <= pairs(fpr, tpr)
    precision, recall, _ = fm.precision_recall_curve(y, a, allow_infinite=True)
    line = found["pr"]
    # Corners of the step function: the recall before a threshold with the precision at it.
    corners = pairs(np.append(0.0, recall[-2::-1])[:-1], precision[-2::-1])
    assert pairs(line.x, line.y) <= pairs(recall, precision) | corners
    share, lift, _ = fm.lift_curve(y, a)
    line = found["lift"]
    # Inside tied rows the positives are spread evenly, so lift follows hyperbolas.
    at = np.maximum(line.x, share[0])
    expected = np.interp(at, np.append(0.0, share), np.append(0.0, share * lift)) / at
    assert line.y == pytest.approx(expected, rel=1e-9)
    fpr, fnr, _ = fm.det_curve(y, a, allow_infinite=True)
    if "det" in found:
        own = pairs(np.round(found["det"].x, 12), np.round(found["det"].y, 12))
        assert own <= pairs(np.round(fpr, 12), np.round(fnr, 12))


@each_case("log", LOGS, ids=lambda log: len(log["y"]))
def test_dropped_points_are_close_to_the_line(log):
    line = report_of(log).pictures["roc"].lines[0]
    fpr, tpr, _ = fm.roc_curve(log["y"], log["a"], drop_intermediate=False, allow_infinite=True)
    ends = np.array([line.x, line.y]).T
    for point in np.array([fpr, tpr]).T:
        start, way = ends[:-1], np.diff(ends, axis=0)
        along = np.clip(((point - start) * way).sum(1) / np.maximum((way**2).sum(1), 1e-300), 0, 1)
        # 3000 rows have more points than a line may have.
        assert np.hypot(*(start + along[:, None] * way - point).T).min() <= 2 * TOLERANCE


def test_many_close_scores_are_distinguished():
    rng = np.random.default_rng(7)
    n = 200_000
    a = np.concatenate([100 + rng.normal(size=n - 4) / 50, [-1e30, 1e30, 1e-30, -1e-300]])
    y = (rng.random(n) < 1 / (1 + np.exp(np.clip(-50 * (a - 100), -50, 50)))).astype(int)
    line = report_of({"y": y, "a": a}).pictures["roc"].lines[0]
    fpr, tpr, _ = fm.roc_curve(y, a, drop_intermediate=False, allow_infinite=True)
    assert len(line.x) <= MAX_POINTS
    assert np.abs(np.interp(fpr, line.x, line.y) - tpr).max() < 0.005
    assert pairs(line.x, line.y) <= pairs(fpr, tpr)


def test_any_order_of_rows_threads_and_batches_gives_the_same_plots():
    import pyarrow as pa

    log = make_log(30_000, 4)
    first = report_of(log, "auc,gauc,ece", ["a", "b"], group="user")
    order = np.random.default_rng(5).permutation(30_000)
    table = pa.table({name: column[order] for name, column in log.items()})
    batches = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=777))
    again = report_of(batches, "auc,gauc,ece", ["a", "b"], group="user", n_threads=2)
    assert list(first.pictures) == NAMES
    assert first == again
    changed = {**log, "a": np.where(log["user"] == 0, 1 - log["a"], log["a"])}
    assert first != report_of(changed, "auc,gauc,ece", ["a", "b"], group="user")
    # The types of the columns do not matter if the numbers are equal.
    single = log["a"].astype(np.float32)
    assert report_of({**log, "a": single}).pictures["roc"].lines[0].x.tolist() == (
        report_of({**log, "a": single.astype(np.float64)}).pictures["roc"].lines[0].x.tolist()
    )


def test_slices_have_no_plots_and_change_none():
    log = make_log(2000, 6)
    log["day"] = np.arange(2000) % 3
    whole = report_of(log, "auc,gauc", group="user")
    sliced = report_of(log, "auc,gauc", group="user", by="day")
    for name in whole.pictures:
        assert repr(whole.pictures[name]) == repr(sliced.pictures[name])


def test_every_model_is_a_line_with_the_values_of_the_report():
    report = report_of(make_log(400), "auc,ap,eer,gauc(weight=pairs),ece", ["a", "b"], group="user")
    assert [line.name for line in report.pictures["roc"].lines] == ["a", "b"]
    assert report.pictures["roc"].lines[1].note == f"AUC {report.value('auc', score='b'):.4f}"
    note = report.pictures["gauc-histogram"].bars[0].note
    assert note == f"GAUC(weight=pairs) {report.value('gauc(weight=pairs)', score='a'):.4f}"
    assert report.pictures["calibration"].lines[0].note.startswith("ECE 0.")
    assert report.pictures["lift"].lines[0].note == ""
    log = make_log(400) | {"z": make_log(400, 9)["y"]}
    two = fm.evaluate(log, "auc", label=["y", "z"], score=["a", "b"], curves=True)
    assert [line.name for line in two.pictures["roc"].lines] == ["a, y", "b, y", "a, z", "b, z"]


def test_calibration_bins_cover_all_probabilities():
    log = make_log(5000, 8)
    log["a"] = log["a"] ** 6  # most of them are near 0
    line = report_of(log).pictures["calibration"].lines[0]
    assert line.markers
    assert 10 <= len(line.x) <= 12
    assert (np.diff(line.x) > 0).all()
    assert line.x[1] < np.median(log["a"])
    assert np.count_nonzero(line.x > 0.25) >= 3
    state = ReliabilityBins().empty()
    ReliabilityBins().update(state, Rows(log["y"].astype(np.uint8), log["a"], None))
    cells = joined_bin_cells(state)
    place = np.searchsorted(cells.edges, log["a"], side="right")
    for number in range(cells.n_cells):
        assert line.x[number] == pytest.approx(log["a"][place == number].mean(), rel=1e-12)
        assert line.y[number] == pytest.approx(log["y"][place == number].mean(), rel=1e-12)


def test_axes_of_low_rates_are_logarithmic():
    log = make_log(5000, 8)
    assert report_of(log).pictures["calibration"].scale == "linear"
    log["a"] = log["a"] ** 4 / 8
    drawn = report_of(log).pictures["calibration"]
    assert drawn.scale == "log"
    assert 0 < drawn.x_range[0] <= drawn.lines[0].x.min()
    assert drawn.x_range == drawn.y_range == tuple(drawn.reference.x.tolist())
    assert "logarithmic" in drawn.caption
    assert "lower edge" in drawn.caption


def test_fine_bins_of_probabilities_are_the_same_with_weights_and_without():
    statistic = ReliabilityBins()
    ends = np.concatenate([statistic.edges, np.nextafter(statistic.edges, 2), np.nextafter(statistic.edges, -1)])
    p = np.concatenate([ends, [0.0, 5e-324, 1e-9, 0.5, 1.0, 1 - 2**-53], np.random.default_rng(0).random(500)])
    y = (np.arange(len(p)) % 3 == 0).astype(np.uint8)
    plain, weighted = statistic.empty(), statistic.empty()
    statistic.update(plain, Rows(y, p, None))
    statistic.update(weighted, Rows(y, p, np.ones(len(p))))
    assert statistic.rows_per_bin(plain).tolist() == statistic.rows_per_bin(weighted).tolist()
    assert plain.counts[-2 * statistic.n_bins :].sum() > 0
    for one, two in zip(statistic.bin_sums(plain), statistic.bin_sums(weighted), strict=True):
        assert [value >> 52 for value in one[:2]] == [value >> exact.EXPONENT for value in two[:2]]
        assert one[2] / 2**52 == pytest.approx(two[2] / 2**exact.EXPONENT, abs=len(p) * 2.0**-53)
    expected = np.bincount(np.searchsorted(statistic.edges, p), minlength=610)
    assert statistic.rows_per_bin(plain).tolist() == expected.tolist()


def test_calibration_of_few_rows_is_the_rows():
    line = report_of({"y": [0, 1, 1], "a": [0.125, 0.5, 1.0]}, "logloss").pictures["calibration"].lines[0]
    assert (line.x.tolist(), line.y.tolist()) == ([0.125, 0.5, 1.0], [0.0, 1.0, 1.0])


def test_auc_of_groups_is_counted_in_bins():
    log = make_log(4000, 10)
    bars = report_of(log, "gauc", group="user").pictures["gauc-histogram"].bars[0]
    auc = fm.auc_by_group(log["y"], log["a"], log["user"]).auc
    auc = auc[~np.isnan(auc)]
    counts, _ = np.histogram(auc, bars.edges)
    assert bars.heights.tolist() == (counts / counts.sum()).tolist()


@each_case(
    ("log", "options", "name", "reason"),
    [
        (make_log(50) | {"a": np.arange(50.0)}, {}, "calibration", "score column 'a' has values outside"),
        (make_log(50), {}, "gauc-histogram", "group=..."),
        ({"y": [1, 1], "a": [0.5, 0.25]}, {"metrics": "ctr"}, "roc", "there is no negative row"),
        ({"y": [1, 0], "a": [0.5, 0.25]}, {}, "det", "at no threshold"),
        (make_log(50) | {"w": np.ones(50)}, {"weight": "w"}, "lift", "these have weights ('w')"),
        (make_log(50), {"metrics": "rmse"}, "roc", "no metric of classes was asked for, but rmse"),
        ({"y": [1, 1], "a": [0.5, 0.25], "g": [1, 1]}, {"metrics": "ctr", "group": "g"}, "gauc-histogram", "no group"),
    ],
)
def test_a_missing_plot_has_a_reason(log, options, name, reason):
    report = report_of(log, **{"metrics": "auc" if len(log["y"]) > 2 else "ctr", **options})
    assert name not in report.pictures
    assert reason in report.missing_pictures[name]
    assert sorted([*report.pictures, *report.missing_pictures]) == sorted(NAMES)
    assert_raises(ValueError, f"no plot '{name}': ", report.plot, name)


def test_weights_of_rows_count_in_calibration():
    log = {"y": [0, 1, 1, 0], "a": [0.125, 0.125, 1.0, 1.0], "w": [1.0, 3.0, 2.0, 0.0]}
    line = report_of(log, "logloss", weight="w").pictures["calibration"].lines[0]
    assert (line.x.tolist(), line.y.tolist()) == ([0.125, 1.0], [0.75, 1.0])


def test_a_model_without_a_curve_leaves_the_others():
    report = report_of(make_log(60) | {"b": np.linspace(-3, 3, 60)}, "auc", ["a", "b"])
    assert [line.name for line in report.pictures["calibration"].lines] == ["a"]
    assert [line.name for line in report.pictures["roc"].lines] == ["a", "b"]


def test_a_report_with_plots_is_equal_after_pickling():
    report = report_of(make_log(300), "auc,gauc", group="user")
    back = pickle.loads(pickle.dumps(report))
    assert back == report
    assert hash(back) == hash(report)
    assert back.pictures["roc"].lines[0].x.tolist() == report.pictures["roc"].lines[0].x.tolist()
    with pytest.raises(TypeError, match="cannot be changed"):
        report.pictures["roc"] = None
    plain = fm.evaluate(make_log(300), "auc,gauc", label="y", score="a", group="user")
    assert plain != report
    assert plain.results == report.results
    assert "plots" not in report.to_dict()


def test_simplified_lines_keep_their_ends_and_at_most_the_allowed_points():
    x = np.linspace(0, 1, 5000)
    kept = simplified_points(x, np.random.default_rng(0).random(5000))
    assert (kept[0], kept[-1], len(kept)) == (0, 4999, MAX_POINTS)
    assert simplified_points(x, x).tolist() == [0, 4999]
    assert simplified_points(x[:1], x[:1]).tolist() == [0]


def replicates_of(spec, log, n):
    """The state of all rows, the band counts of logs with rows repeated by Poisson weights, and these weights."""
    y, a = log["y"].astype(np.uint8), log["a"]
    (statistic,) = spec.statistics
    whole = statistic.empty()
    statistic.update(whole, Rows(y, a, None))
    resampled = spec.band_statistic(whole)
    weights = np.random.default_rng(1).poisson(1.0, (n, len(y)))
    counts = []
    for own in weights:
        state = resampled.empty()
        resampled.update(state, Rows(np.repeat(y, own), np.repeat(a, own), None))
        counts.append(state.counts)
    return whole, np.array(counts), weights


def assert_same_curve(line, plain):
    """A line with a band has the points of the line without, and more on long straight stretches."""
    assert pairs(plain.x, plain.y) <= pairs(line.x, line.y)
    added = ~np.isin(line.x, plain.x)
    assert added.sum() < 130
    assert line.y[added] == pytest.approx(np.interp(line.x[added], plain.x, plain.y), abs=1e-12)


def test_a_band_covers_a_long_straight_stretch():
    """A tenth of the positives have the highest scores: among the first of them every replicate has precision 1."""
    rng = np.random.default_rng(8)
    y = (rng.random(2000) < 0.3).astype(int)
    log = {"y": y, "a": np.where((y == 1) & (rng.random(2000) < 0.2), 1 + rng.random(2000), rng.random(2000))}
    spec = known_plots()["pr"]
    whole, counts, _ = replicates_of(spec, log, 200)
    line = spec.make([ModelStates("a", (whole,), "", counts, 0.9)]).lines[0]
    first = (line.x > 0) & (line.x < 0.1)
    assert first.sum() >= 5
    assert (line.low[first] == 1).all()


def test_a_single_point_has_a_marker():
    log = {"y": np.array([0, 1, 1, 0]), "a": np.array([0.1, 0.9, 0.4, 0.6])}
    (line,) = report_of(log).pictures["det"].lines
    assert (line.x.tolist(), line.y.tolist(), line.markers) == ([0.5], [0.5], True)
    (line,) = report_of({"y": np.array([0, 1, 0]), "a": np.full(3, 0.5)}).pictures["lift"].lines
    assert (line.x[0], line.x[-1]) == (0, 1)
    assert line.y == pytest.approx(1)


def test_lift_of_ties_is_not_a_straight_line():
    y = np.array([0, 1, 0, 0, 1])
    (line,) = report_of({"y": y, "a": y * 1.0}).pictures["lift"].lines
    assert line.y == pytest.approx(np.minimum(2.5, 1 / np.maximum(line.x, 0.1)))
    assert np.diff(line.x).max() < 0.45


@pytest.mark.parametrize("name", ["roc", "pr", "det", "lift", "calibration"])
def test_bands_contain_the_curve_and_most_replicates(name):
    log = make_log(1500, 11)
    spec = known_plots()[name]
    whole, counts, _ = replicates_of(spec, log, 200)
    line = spec.make([ModelStates("a", (whole,), "", counts, 0.9)]).lines[0]
    plain = spec.make([ModelStates("a", (whole,))]).lines[0]
    assert plain.low is None
    assert_same_curve(line, plain)
    assert (line.low <= line.y).all()
    assert (line.high >= line.y).all()
    assert (line.high - line.low).max() > 0.01


@pytest.mark.parametrize("name", ["roc", "pr", "det", "lift", "calibration"])
@each_case("log", [make_log(800, 16), make_log(800, 16, ties=16), make_log(9000, 17), make_log(3)])
def test_the_band_of_the_log_itself_is_the_curve(name, log):
    """Cells have exactly the rows of the curve's bins: a score at an edge is counted on the same side."""
    spec = known_plots()[name]
    whole, _, _ = replicates_of(spec, log, 0)
    state = spec.band_statistic(whole).empty()
    spec.band_statistic(whole).update(state, Rows(log["y"].astype(np.uint8), log["a"], None))
    try:
        line = spec.make([ModelStates("a", (whole,), "", np.array([state.counts] * 3), 0.5)]).lines[0]
    except NoPlotError:
        assert len(log["y"]) == 3
        return
    assert (line.low.tolist(), line.high.tolist()) == (line.y.tolist(), line.y.tolist())


def test_the_band_of_a_roc_curve_is_that_of_resampled_logs():
    log = make_log(1500, 11)
    spec = known_plots()["roc"]
    whole, counts, weights = replicates_of(spec, log, 300)
    line = spec.make([ModelStates("a", (whole,), "", counts, 0.9)]).lines[0]
    at = np.linspace(0.05, 0.9, 30)
    tpr = []
    for own in weights:
        x, y, _ = fm.roc_curve(np.repeat(log["y"], own), np.repeat(log["a"], own), allow_infinite=True)
        tpr.append(np.interp(at, x, y))
    low, high = np.quantile(tpr, [0.05, 0.95], axis=0)
    assert np.abs(np.interp(at, line.x, line.low) - low).max() < 0.02
    assert np.abs(np.interp(at, line.x, line.high) - high).max() < 0.02


def test_with_intervals_there_are_bands_from_the_same_units():
    log = make_log(3000, 13)
    options = {"group": "user", "ci": 0.9, "replicates": 60, "seed": 3}
    report = report_of(log, "gauc,ece,logloss", ["a", "b"], **options)
    order = np.random.default_rng(2).permutation(3000)
    again = report_of({k: v[order] for k, v in log.items()}, "gauc,ece,logloss", ["a", "b"], n_threads=2, **options)
    assert report == again
    plain = report_of(log, "gauc,ece,logloss", ["a", "b"], group="user")
    for name, plot in report.pictures.items():
        bare = plain.pictures[name]
        for part, without in zip(plot.lines + plot.bars, bare.lines + bare.bars, strict=True):
            y = part.y if isinstance(part, Line) else part.heights
            if isinstance(part, Line):
                assert_same_curve(part, without)
            else:
                assert y.tolist() == without.heights.tolist()
            assert without.low is None
            assert (part.low <= y).all() if isinstance(part, Line) else (part.low <= part.high).all()
            assert (part.high > part.low).any()
    low, high = report.result("gauc", score="a").interval
    assert report.pictures["gauc-histogram"].bars[0].note == f"GAUC {report.value('gauc', score='a'):.4f} " + (
        f"[{low:.4f}, {high:.4f}]"
    )
    assert pickle.loads(pickle.dumps(report)) == report
    assert report_of(log, "gauc,ece", "a", **options | {"seed": 4}) != report_of(log, "gauc,ece", "a", **options)


def test_bands_of_the_share_of_groups_are_those_of_resampled_groups():
    log = make_log(6000, 14)
    bars = report_of(log, "gauc", group="user", ci=0.9, replicates=400).pictures["gauc-histogram"].bars[0]
    auc = fm.auc_by_group(log["y"], log["a"], log["user"]).auc
    bins = np.minimum((auc[~np.isnan(auc)] * 20).astype(int), 19)
    weights = np.random.default_rng(0).poisson(1.0, (400, len(bins)))
    shares = np.array([np.bincount(bins, own, 20) / own.sum() for own in weights])
    low, high = np.quantile(shares, [0.05, 0.95], axis=0)
    assert np.abs(bars.low - low).max() < 0.02
    assert np.abs(bars.high - high).max() < 0.02


@pytest.mark.parametrize(
    ("metrics", "options", "banded"),
    [
        ("logloss", {}, NAMES[:5]),
        ("logloss", {"unit": "row"}, NAMES[:5]),
        ("logloss", {"unit": "day"}, NAMES[:5]),
        ("logloss", {"unit": "day", "by": "day"}, NAMES[:5]),
        ("logloss", {"group": "user"}, NAMES),
        ("logloss", {"group": "user", "unit": "row"}, NAMES[:5]),  # rows of a group are not resampled together
        ("logloss", {"group": "user", "unit": "day"}, NAMES[:5]),
        ("gauc", {"group": "user", "unit": "city"}, NAMES),
        ("logloss,gauc", {"group": "user", "unit": "city"}, NAMES),
        ("logloss", {"group": "user", "weight": "w"}, ["gauc-histogram"]),
        ("logloss", {"unit": "day", "weight": "w"}, []),
        ("gauc", {"group": "user", "unit": "city", "weight": "w"}, ["gauc-histogram"]),
    ],
)
def test_which_plots_have_bands(metrics, options, banded):
    log = make_log(500, 15)
    log |= {"day": np.arange(500) % 30, "w": np.ones(500), "city": log["user"] % 7}
    report = report_of(log, metrics, ci=0.95, replicates=20, **options)
    parts = {name: (own.lines + own.bars)[0] for name, own in report.pictures.items()}
    assert [name for name, part in parts.items() if part.low is not None] == banded


def test_scores_in_bins_merge_to_the_same_bins():
    (statistic,) = known_plots()["roc"].statistics
    rng = np.random.default_rng(3)
    scores, labels = rng.normal(size=20_000), rng.integers(0, 2, 20_000).astype(np.uint8)
    whole, merged = statistic.empty(), statistic.empty()
    statistic.update(whole, Rows(labels, scores, None))
    for part in np.array_split(np.arange(20_000)[::-1], 7):
        own = statistic.empty()
        statistic.update(own, Rows(labels[part], scores[part], None))
        merged.merge(own)
    assert isinstance(whole, ScoreHistogram)
    assert merged.prefixes.tolist() == whole.prefixes.tolist()
    assert merged.counts.tolist() == whole.counts.tolist()
