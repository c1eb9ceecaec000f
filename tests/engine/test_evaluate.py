"""evaluate gives exact results for any order of rows, reasons for undefined values, and counts of rows."""

import itertools
import math

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest

import fastmetrics as fm
from support.cases import assert_raises, each_case
from support.engine_cases import (
    GLOBAL_METRICS,
    METRICS,
    comparable,
    evaluate,
    expected_of,
    log_of,
    parquet_files,
    table_of,
    values_of,
)
from support.peers import pandas


class TestOrderFree:
    @each_case("rows", [2, 63, 64, 65, 1000, 131_073])
    def test_batches_of_any_size(self, rows):
        log = log_of(rows)
        expected = comparable(evaluate(log))
        for size in (1, 7, 64, 1000, 65_536, rows):
            if rows / size < 5000:
                assert comparable(evaluate(table_of(log).to_reader(max_chunksize=size))) == expected, size

    def test_uneven_chunks_and_empty_ones(self):
        log = log_of(20_000)
        table = table_of(log)
        cuts = [0, 0, 1, 1, 2, 65, 130, 5000, 5000, 19_999, 20_000, 20_000]
        pieces = [table.slice(start, stop - start) for start, stop in itertools.pairwise(cuts)]
        assert comparable(evaluate(pa.concat_tables(pieces))) == comparable(evaluate(log))

    @pytest.mark.parametrize("rows", [65, 5000, 300_000])
    def test_any_row_order_and_thread_count(self, rows):
        log = log_of(rows, users=max(2, rows // 20))
        expected = comparable(evaluate(log, n_threads=1))
        for n_threads in (2, 3, 7, None):
            order = np.random.default_rng(n_threads).permutation(rows)
            moved = {name: column[order] for name, column in log.items()}
            assert comparable(evaluate(moved, n_threads=n_threads)) == expected, n_threads
        assert {result["metric"]: result["value"] for result in expected["results"]} == expected_of(log)

    def test_any_order_of_files(self, tmp_path):
        parts = parquet_files(log_of(5000), tmp_path)
        expected = comparable(evaluate(parts))
        assert comparable(evaluate(parts[::-1])) == expected
        assert comparable(evaluate([str(part) for part in parts])) == expected

    def test_any_order_and_choice_of_metrics(self):
        log = log_of(2000)
        together = {result.metric: result for result in evaluate(log)}
        for metric in reversed(METRICS):
            (alone,) = evaluate(log, [metric])
            assert alone == together[alone.metric]

    @pytest.mark.parametrize("layout", ["strided", "byte-swapped"])
    def test_any_memory_layout_of_arrays(self, layout):
        log = log_of(3000)
        changes = {
            "strided": lambda column: np.repeat(column, 2)[::2],
            "byte-swapped": lambda column: column.astype(column.dtype.newbyteorder()),
        }
        moved = {name: changes[layout](column) for name, column in log.items()}
        assert comparable(evaluate(moved)) == comparable(evaluate(log))

    def test_one_user_in_several_files_is_one_user(self, tmp_path):
        first = {"click": [1], "pctr": [0.9], "user_id": [5]}
        for name, part in (("a", first), ("b", {"click": [0], "pctr": [0.1], "user_id": [5]})):
            pyarrow.parquet.write_table(pa.table(part), tmp_path / f"{name}.parquet")
        report = evaluate(tmp_path, ["gauc"])
        assert report["gauc"] == 1.0
        (result,) = report
        assert result.coverage["groups"] == 1


class TestWeights:
    @pytest.mark.parametrize("rows", [100, 20_000])
    def test_weights(self, rows):
        log = log_of(rows)
        log["w"] = np.random.default_rng(0).integers(0, 4, rows).astype(np.float64)
        metrics = ["auc", "logloss", "ne", "brier", "copc", "ece", "gauc(weight=weights)", "ctr"]
        report = evaluate(log, metrics, weight="w")
        y_true, y_proba, weight = log["click"], log["pctr"], log["w"]
        assert values_of(report, metrics) == {
            "auc": fm.roc_auc_score(y_true, y_proba, sample_weight=weight),
            "logloss": fm.log_loss(y_true, y_proba, sample_weight=weight),
            "ne": fm.normalized_entropy(y_true, y_proba, sample_weight=weight),
            "brier": fm.brier_score_loss(y_true, y_proba, sample_weight=weight),
            "copc": fm.copc(y_true, y_proba, sample_weight=weight),
            "ece": fm.expected_calibration_error(y_true, y_proba, sample_weight=weight),
            "gauc(weight=weights)": fm.gauc_score(
                y_true, y_proba, log["user_id"], weight="weights", sample_weight=weight
            ),
            "ctr": weight[y_true == 1].sum() / weight.sum(),
        }

    def test_a_negative_weight_is_refused_with_its_row(self):
        log = {**log_of(100), "w": np.ones(100)}
        log["w"][77] = -2.0
        assert_raises(ValueError, r"'?w'?.*-2.*row 77", evaluate, log, ["auc"], weight="w")


class TestUndefined:
    @pytest.mark.parametrize(("label", "words"), [(0, "no positive"), (1, "no negative")])
    def test_one_class(self, label, words):
        report = evaluate({**log_of(10), "click": np.full(10, label)}, ["auc", "ks", "ne"])
        assert all(math.isnan(result.value) for result in report)
        assert all(words in result.reason for result in report.results[:2])
        assert "one class" in report.results[2].reason
        results = report.to_dict()["results"]
        assert [result["value"] for result in results] == [None] * 3
        assert [result["reason"] for result in results] == [result.reason for result in report]

    def test_every_group_of_one_class(self):
        log = {"click": [1, 1, 0, 0, 0], "pctr": [0.1, 0.2, 0.3, 0.4, 0.5], "user_id": [1, 1, 2, 2, 3]}
        (result,) = evaluate(log, ["gauc"])
        assert math.isnan(result.value)
        assert "no group has both classes" in result.reason
        assert (result.coverage["groups"], result.coverage["groups_used"]) == (3, 0)
        assert result.coverage["groups_left_out"] == {"one class: no positive": 2, "one class: no negative": 1}
        assert result.coverage["rows_left_out"] == {"one class: no positive": 3, "one class: no negative": 2}

    def test_nothing_clicked_and_nothing_predicted(self):
        (result,) = evaluate({"click": [0, 1], "pctr": [0.0, 0.0], "user_id": [1, 2]}, ["copc"])
        assert math.isnan(result.value)
        assert result.reason

    def test_single_class_policies(self):
        log = {"click": [1, 0, 0], "pctr": [0.9, 0.1, 0.5], "user_id": [1, 1, 2]}
        report = evaluate(log, ["gauc", "gauc(single_class=half)", "gauc(single_class=nan)"])
        assert (report["gauc"], report["gauc(single_class=half)"]) == (1.0, 2.5 / 3)
        assert math.isnan(report["gauc(single_class=nan)"])
        assert_raises(ValueError, "one class", evaluate, log, ["gauc(single_class=raise)"])


class TestCoverage:
    def test_groups_used_and_left_out(self):
        log = {
            "click": [1, 0, 1, 1, 0, 0, 0],
            "pctr": [0.9, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7],
            "user_id": ["a", "a", "b", "b", "c", "c", "d"],
        }
        (result,) = evaluate(log, ["gauc"])
        assert (result.coverage["rows"], result.coverage["groups"]) == (2, 4)
        assert result.coverage["groups_used"] == 1
        assert result.coverage["groups_left_out"] == {"one class: no positive": 2, "one class: no negative": 1}
        assert result.coverage["rows_left_out"] == {"one class: no positive": 3, "one class: no negative": 2}

    def test_rows_clipped_by_log_loss(self):
        log = {"click": [0, 1, 0, 1], "pctr": [0.0, 0.5, 1.0, 1.0], "user_id": [1, 1, 1, 1]}
        (result,) = evaluate(log, ["logloss"])
        assert (result.coverage["rows"], result.coverage["rows_clipped"]) == (4, 3)

    def test_rows_of_every_metric(self):
        report = evaluate(log_of(1000))
        assert report.rows == 1000
        assert all(result.coverage["rows"] == 1000 for result in report if result.metric in GLOBAL_METRICS)


class TestReport:
    def test_signatures_have_version_and_options(self):
        report = evaluate(log_of(500))
        assert len({result.signature for result in report}) == len(METRICS)
        for result in report:
            assert result.signature.split("|")[0].split("(")[0] == result.metric.split("(")[0]
            assert result.signature.endswith(f"v:{fm.__version__}")
            assert "threads" not in result.signature
        by_metric = {result.metric: result.signature for result in report}
        assert "weight:pairs" in by_metric["gauc(weight=pairs)"]
        assert "single_class:skip" in by_metric["gauc"]
        assert "|n_bins:15" in by_metric["ece"]

    def test_any_spelling_finds_the_value(self):
        report = evaluate(log_of(500), ["gauc(weight=pairs)", "ece(n_bins=15)"])
        assert report["gauc( weight = 'pairs' )"] == report["gauc(weight=pairs)"]
        assert report["ece"] == report["ece(n_bins=15)"]
        with pytest.raises(KeyError, match="gauc"):
            report["gauc"]

    def test_progress_is_reported(self):
        calls = []
        evaluate(table_of(log_of(100_000)), progress=lambda *arguments: calls.append(arguments))
        assert {stage for stage, _, _ in calls} <= {"scan", "resolve"}
        scanned = [done for stage, done, _ in calls if stage == "scan"]
        assert scanned == sorted(scanned)
        assert scanned[-1] == 100_000
        assert {total for stage, _, total in calls if stage == "scan"} == {100_000}

    @pytest.mark.parametrize("options", [{}, {"by": "day"}])
    def test_progress_of_resampling_is_reported(self, options):
        calls = []
        log = {**log_of(20_000), "day": np.arange(20_000) % 3}
        asked = {"label": "click", "score": "pctr", "group": "user_id", "ci": 0.9, "replicates": 20, "n_threads": 1}
        fm.evaluate(log, "auc,gauc,logloss", progress=lambda *own: calls.append(own), **asked, **options)
        assert list(dict.fromkeys(stage for stage, _, _ in calls)) == ["scan", "resolve", "resample"]
        reported = [done for stage, done, _ in calls if stage == "resample"]
        assert reported == sorted(reported)
        assert (reported[0], reported[-1]) == (0, 20_000)
        assert len(set(reported)) > 5

    def test_an_error_in_progress_is_not_swallowed(self):
        def stop(*arguments):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            evaluate(table_of(log_of(1000)), progress=stop)

    def test_the_report_has_columns_and_rows(self):
        report = evaluate(log_of(500), ["auc"])
        assert dict(report.columns) == {"label": "click", "score": "pctr", "group": "user_id"}
        content = report.to_dict()
        assert (content["schema"], content["rows"], content["version"]) == (1, 500, fm.__version__)
        assert (content["results"][0]["score"], content["results"][0]["slice"]) == ("pctr", {})


class TestRealData:
    def test_microsoft_web_visits(self, visits_path, visits):
        """The reference values of the data's README, from one scan of the file."""
        report = fm.evaluate(
            visits_path, ["auc", "gauc", "gauc(weight=uniform)"], label="label", score="score", group="user_id"
        )
        assert math.isclose(report["auc"], 0.9600813796015879, rel_tol=1e-14)
        assert math.isclose(report["gauc"], 0.9642351182117777, rel_tol=1e-14)
        assert math.isclose(report["gauc(weight=uniform)"], 0.9642085405188081, rel_tol=1e-14)
        assert report["auc"] == fm.roc_auc_score(visits["label"], visits["score"])
        assert report.rows == 980_067

    def test_open_bandit_impressions_from_four_files(self, data_folder):
        """Real CSV logs: `click` against the logged propensity, grouped by a hashed user feature."""
        paths = sorted((data_folder / "obd").glob("*.csv.gz"))
        metrics = ["auc", "logloss", "ne", "copc", "brier", "ctr", "gauc"]
        columns = {"label": "click", "score": "propensity_score", "group": "user_feature_0"}
        report = fm.evaluate(paths, metrics, **columns)
        log = pandas().concat([pandas().read_csv(path) for path in paths], ignore_index=True)
        case = log["click"].to_numpy(), log["propensity_score"].to_numpy()
        assert (report.rows, report["auc"]) == (40_000, fm.roc_auc_score(*case))
        assert (report["logloss"], report["copc"]) == (fm.log_loss(*case), fm.copc(*case))
        assert report["ctr"] == 207 / 40_000
        assert report["gauc"] == fm.gauc_score(*case, log["user_feature_0"].tolist())
