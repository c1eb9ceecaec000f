"""Freeze the numbers of other tools under their own names: `python numbers_of_tools.py TOOL ...` writes tools.json.

Each tool needs an environment of its own; the log is made here. Scores and amounts are multiples of 1/256, which
float32 holds, no score is 0.5, and scores of a group do not tie: tools order ties, and place rows at a threshold, in
different ways. A kind says which columns were read (`test_frozen_numbers.py` has them).
"""

import json
import sys
from importlib.metadata import distribution, version
from pathlib import Path

import numpy as np

ROWS, GROUPS, CLASSES = 160, 12, 3
FILE = Path(__file__).with_name("tools.json")
HYPOTHESES = [
    "the cat sat on the mat", "a dog runs in the park today", "we saw two birds near the old oak",
    "numbers of this tool are not the numbers of that one",
]  # fmt: skip
REFERENCES = [
    "the cat is on the mat", "the dog ran in the park", "we saw two small birds near the old oak",
    "the numbers of this tool are other numbers than those of that one",
]  # fmt: skip
RELEVANT = [["a", "b"], ["c"], ["d", "e", "f", "g"], ["h"]]
RECOMMENDED = [["x", "a", "y", "b"], ["c", "x", "y"], ["e", "x", "d", "y", "f"], ["x", "y", "z"]]
# A score at the threshold: these tools count it as negative.
HALF = {"label": [1, 0, 1, 0], "score": [0.5, 0.5, 0.75, 0.25]}
SHORT = [["x", "a"], ["c"], ["e", "d"], ["x", "y"]]


def make_log():
    random = np.random.default_rng(5)
    group = np.sort(random.integers(0, GROUPS, ROWS))
    group[:2], group[-2:] = 0, GROUPS - 1
    score = random.choice(np.delete(np.arange(1, 255), 127), ROWS, replace=False) / 256.0
    label = (random.random(ROWS) < score).astype(np.int64)
    grade = np.minimum(random.integers(0, 4, ROWS), 3) * label
    few = np.flatnonzero(group == 2)[2:]
    without = np.concatenate([np.flatnonzero(group == 1), few])  # a list without a relevant row, and one with two
    label[without], grade[without] = 0, 0
    label[np.flatnonzero(group == 2)[:2]], grade[np.flatnonzero(group == 2)[:2]] = 1, 3
    kind = random.integers(0, CLASSES, ROWS)
    predicted = np.where(random.random(ROWS) < 0.6, kind, random.integers(0, CLASSES, ROWS))
    amount = random.choice(np.arange(16, 4096), ROWS, replace=False) / 256.0
    forecast = np.round(amount * random.uniform(0.5, 1.5, ROWS) * 256) / 256
    weight = random.integers(1, 9, ROWS) / 4.0
    return {
        "label": label, "score": score, "grade": grade, "group": group, "kind": kind, "predicted": predicted,
        "amount": amount, "forecast": forecast, "weight": weight,
    }  # fmt: skip


def lists(log, column):
    return [log[column][log["group"] == group] for group in np.unique(log["group"])]


def catboost(log):
    from catboost.utils import eval_metric

    odds = np.log(log["score"] / (1 - log["score"]))
    rows = {
        "binary": (log["label"], odds, "Logloss CrossEntropy Precision Recall F1 BalancedAccuracy MCC Accuracy AUC"
                   " BrierScore Kappa"),
        "classes": (log["label"], odds, "HammingLoss"),
        "numbers": (log["amount"], log["forecast"], "RMSE MAE MAPE R2 MSLE MedianAbsoluteError"),
        "grades": (log["grade"], log["score"], "NDCG DCG"),
        "lists": (log["label"], log["score"], "MAP MRR ERR"),
    }  # fmt: skip
    found = {kind: {} for kind in (*rows, "weighted binary", "weighted numbers")}
    for kind, (true, score, names) in rows.items():
        for name in names.split():
            group = log["group"] if kind in ("grades", "lists") else None
            found[kind][name] = eval_metric(true, score, name, group_id=group)[0]
            if group is None and name not in ("MedianAbsoluteError", "Kappa", "HammingLoss"):
                own = eval_metric(true, score, name, weight=log["weight"])[0]
                found[f"weighted {kind}"][name] = own
    half = np.array(HALF["score"])
    found["half"] = {"Recall": eval_metric(HALF["label"], np.log(half / (1 - half)), "Recall")[0]}
    return found


def lightgbm(log):
    """A model of one constant tree, whose starting scores are the scores of the log."""
    import lightgbm as package

    odds = np.log(log["score"] / (1 - log["score"]))
    sizes = [len(own) for own in lists(log, "group")]
    asked = {
        "binary": ("binary", "label", odds, "auc binary_logloss average_precision cross_entropy xentropy"),
        "numbers": ("regression", "amount", log["forecast"], "l1 mean_absolute_error mae regression_l1 l2 mse"
                    " mean_squared_error regression_l2 rmse root_mean_squared_error l2_root mape"
                    " mean_absolute_percentage_error r2 gamma_deviance"),
        "grades": ("lambdarank", "grade", odds, "ndcg ndcg@3"),
        "lists": ("lambdarank", "label", odds, "map map@3 mean_average_precision"),
    }  # fmt: skip
    found = {}
    for kind, (objective, label, start, names) in asked.items():
        group = sizes if objective == "lambdarank" else None
        found[kind] = {}
        for name in names.split():
            rows = package.Dataset(np.zeros((ROWS, 1)), log[label], group=group, init_score=start)
            results: dict = {}
            metric, _, cutoff = name.partition("@")
            options = {"objective": objective, "metric": metric, "eval_at": int(cutoff or 1000), "verbosity": -1}
            options |= {"boost_from_average": False, "learning_rate": 1e-300}
            package.train(options, rows, 1, valid_sets=[rows], valid_names=["all"],
                          callbacks=[package.record_evaluation(results)])  # fmt: skip
            ((value,),) = results["all"].values()
            found[kind][name] = float(value)
    return found


def xgboost(log):
    import xgboost as package

    odds = np.log(log["score"] / (1 - log["score"]))
    sizes = [len(own) for own in lists(log, "group")]
    asked = {
        "binary": ("binary:logistic", "label", odds, "auc logloss"),
        "numbers": ("reg:squarederror", "amount", log["forecast"], "rmse rmsle mae mape gamma-deviance"),
        "grades": ("rank:ndcg", "grade", odds, "ndcg ndcg@10 ndcg@10- ndcg-"),
        "lists": ("rank:ndcg", "label", odds, "map map@5 map@5- map- pre@5"),
    }
    found = {}
    for kind, (objective, label, start, names) in asked.items():
        rows = package.DMatrix(np.zeros((ROWS, 1)), log[label], base_margin=start)
        if objective.startswith("rank"):
            rows.set_group(sizes)
        found[kind] = {}
        for name in names.split():
            results: dict = {}
            options = {"objective": objective, "eval_metric": name, "eta": 0, "verbosity": 0}
            package.train(options, rows, 1, evals=[(rows, "all")], evals_result=results, verbose_eval=False)
            ((value,),) = results["all"].values()
            found[kind][name] = float(value)
    return found


def keras(log):
    import keras.metrics

    binary = ("accuracy acc binary_accuracy BinaryAccuracy AUC Precision Recall F1Score FBetaScore BinaryCrossentropy"
              " binary_crossentropy")  # fmt: skip
    numbers = ("MeanSquaredError mse MSE RootMeanSquaredError MeanAbsoluteError MeanAbsolutePercentageError"
               " MeanSquaredLogarithmicError R2Score")  # fmt: skip
    options = {"F1Score": {"threshold": 0.5}, "FBetaScore": {"threshold": 0.5}}
    short = {"accuracy": "BinaryAccuracy", "acc": "BinaryAccuracy"}  # `compile` chooses it for a column of 0 and 1
    found = {kind: {} for kind in ("binary", "numbers", "weighted binary", "weighted numbers")}
    asked = (("binary", binary, "label", "score"), ("numbers", numbers, "amount", "forecast"))
    for kind, names, true, own in asked:
        for name in names.split():
            for weight in (None, log["weight"]):
                wanted = short.get(name, name)
                known = keras.metrics.get(wanted)
                metric = type(known)(**options[name]) if name in options else known
                metric.update_state(log[true].reshape(-1, 1).astype("float32"), log[own].reshape(-1, 1), weight)
                value = float(np.asarray(metric.result().detach().cpu()).reshape(-1)[0])
                found[kind if weight is None else f"weighted {kind}"][name] = value
    metric = keras.metrics.Recall()
    metric.update_state(HALF["label"], HALF["score"])
    return found | {"half": {"Recall": float(metric.result())}}


def torchmetrics(log):
    import torch
    import torchmetrics as tm
    from torchmetrics import clustering, functional, retrieval, text

    def column(name):
        return torch.from_numpy(log[name])

    found = {kind: {} for kind in ("binary", "numbers", "grades", "lists", "clusters", "texts")}
    both = "AUROC AveragePrecision Accuracy F1Score CohenKappa EER JaccardIndex MatthewsCorrCoef Precision Recall"
    for name in f"{both} Specificity FBetaScore".split():
        options = {"beta": 1.0} if name == "FBetaScore" else {}
        own = getattr(tm.classification, f"Binary{name}")
        if name == "EER":
            found["binary"]["EER"] = functional.classification.eer(column("score"), column("label"), task="binary")
        else:
            found["binary"][name] = getattr(tm, name)(task="binary", **options)(column("score"), column("label"))
        found["binary"][f"Binary{name}"] = own(**options)(column("score"), column("label"))
    found["binary"]["binary_auroc"] = functional.classification.binary_auroc(column("score"), column("label"))
    found["binary"]["binary_f1_score"] = functional.classification.binary_f1_score(column("score"), column("label"))
    found["binary"]["CriticalSuccessIndex"] = tm.CriticalSuccessIndex(0.5)(column("score"), column("label"))
    if hasattr(tm, "Dice"):
        found["binary"]["Dice"] = tm.Dice(average="micro", ignore_index=0)(column("score"), column("label"))
    numbers = ("MeanAbsoluteError MeanSquaredError MeanSquaredLogError MeanAbsolutePercentageError R2Score"
               " ExplainedVariance TweedieDevianceScore")  # fmt: skip
    for name in numbers.split():
        found["numbers"][name] = getattr(tm, name)()(column("forecast"), column("amount"))
    for name in ("RetrievalMAP", "RetrievalMRR", "RetrievalRPrecision"):
        metric = getattr(retrieval, name)()
        found["lists"][name] = metric(column("score").float(), column("label"), indexes=column("group"))
    ndcg = retrieval.RetrievalNormalizedDCG()(column("score").float(), column("grade"), indexes=column("group"))
    found["grades"]["RetrievalNormalizedDCG"] = found["grades"]["retrieval_normalized_dcg"] = ndcg
    partitions = ("AdjustedRandScore AdjustedMutualInfoScore CompletenessScore FowlkesMallowsIndex HomogeneityScore"
                  " MutualInfoScore NormalizedMutualInfoScore RandScore VMeasureScore")  # fmt: skip
    for name in partitions.split():
        found["clusters"][name] = getattr(clustering, name)()(column("predicted"), column("kind"))
    references = [[own] for own in REFERENCES]
    for name in ("BLEUScore", "SacreBLEUScore", "CHRFScore", "TranslationEditRate"):
        found["texts"][name] = getattr(text, name)()(HYPOTHESES, references)
    half = tm.Recall(task="binary")(torch.tensor(HALF["score"]), torch.tensor(HALF["label"]))
    found["half"] = {"Recall": half}
    return {kind: {name: float(value) for name, value in own.items()} for kind, own in found.items()}


def torchrec(log):
    import types
    from unittest.mock import MagicMock

    import torch

    # Its metrics need no kernels of graphics processors, which its package imports.
    sys.modules["torchrec"] = types.ModuleType("torchrec")
    sys.modules["torchrec"].__path__ = [str(distribution("torchrec").locate_file("torchrec"))]
    without = ("", ".types", ".collective_utils", ".logging_utils", ".logging_handlers", ".logger", ".utils")
    sys.modules.update({f"torchrec.distributed{name}": MagicMock() for name in without})
    from torchrec.metrics import accuracy, auc, ctr, mae, mse, ndcg, ne, precision, recall, xauc
    from torchrec.metrics.metrics_config import DefaultTaskInfo

    def value_of(metric, wanted, score, label, weight, **options):
        rows = {"predictions": score, "labels": label, "weights": weight}
        rows = {name: {"DefaultTask": torch.from_numpy(np.array(own)).double()} for name, own in rows.items()}
        own = metric(world_size=1, my_rank=0, batch_size=ROWS, tasks=[DefaultTaskInfo], window_size=ROWS, **options)
        more = {}
        if options:
            key = options.get("session_key", "grouping_keys")
            more = {"required_inputs": {key: torch.from_numpy(log["group"])}}
        own.update(**rows, **more)
        reports = own._metrics_computations[0]._compute()  # `compute` wants an older torchmetrics
        value, *_ = [one.value for one in reports if one.name.value == wanted]  # the window has all rows
        return float(value)

    ones = np.ones(ROWS)
    found = {kind: {} for kind in ("binary", "numbers", "grades", "weighted binary", "weighted numbers", "lists")}
    binary = {
        "ne": ne.NEMetric, "ctr": ctr.CTRMetric, "auc": auc.AUCMetric, "accuracy": accuracy.AccuracyMetric,
        "precision": precision.PrecisionMetric, "recall": recall.RecallMetric,
    }  # fmt: skip
    numbers = {"mse": mse.MSEMetric, "rmse": mse.MSEMetric, "mae": mae.MAEMetric, "xauc": xauc.XAUCMetric}
    for kind, own, score, label in (("binary", binary, "score", "label"), ("numbers", numbers, "forecast", "amount")):
        for name, metric in own.items():
            for weight, prefix in ((ones, ""), (log["weight"], "weighted ")):
                found[prefix + kind][name] = value_of(metric, name, log[score], log[label], weight)
    found["binary"]["log_loss"] = value_of(
        ne.NEMetric, "logloss", log["score"], log["label"], ones, include_logloss=True
    )
    found["binary"]["logloss"] = found["binary"]["log_loss"]
    found["grades"]["ndcg"] = value_of(
        ndcg.NDCGMetric, "ndcg", log["score"], log["grade"], ones, session_key="session_id"
    )
    found["lists"]["grouped_auc"] = value_of(
        auc.AUCMetric, "grouped_auc", log["score"], log["label"], ones, grouped_auc=True
    )
    return found


def spark(log):
    from pyspark.ml.evaluation import BinaryClassificationEvaluator, MulticlassClassificationEvaluator
    from pyspark.ml.functions import array_to_vector
    from pyspark.mllib.evaluation import RankingMetrics, RegressionMetrics
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import array, col

    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    rows = zip(*(log[name].tolist() for name in ("kind", "predicted", "label", "score")), strict=True)
    frame = session.createDataFrame(list(rows), ["kind", "predicted", "label", "score"])
    for name in ("kind", "predicted", "label"):
        frame = frame.withColumn(name, col(name).cast("double"))
    frame = frame.withColumn("probability", array_to_vector(array(1 - col("score"), col("score"))))
    found = {kind: {} for kind in ("kinds", "binary", "numbers", "recommendations")}
    names = "f1 accuracy weightedPrecision weightedRecall weightedTruePositiveRate weightedFMeasure hammingLoss"
    for name in names.split():
        evaluator = MulticlassClassificationEvaluator(labelCol="kind", predictionCol="predicted", metricName=name)
        found["kinds"][name] = evaluator.evaluate(frame)
    evaluator = MulticlassClassificationEvaluator(labelCol="label", predictionCol="label", metricName="logLoss")
    found["binary"]["logLoss"] = evaluator.evaluate(frame)
    evaluator = BinaryClassificationEvaluator(labelCol="label", rawPredictionCol="score", metricName="areaUnderROC")
    found["binary"]["areaUnderROC"] = evaluator.evaluate(frame)
    pairs = zip(log["forecast"].tolist(), log["amount"].tolist(), strict=True)
    numbers = RegressionMetrics(session.sparkContext.parallelize(list(pairs)))
    names = "explainedVariance meanAbsoluteError meanSquaredError rootMeanSquaredError r2"
    for name in names.split():
        found["numbers"][name] = getattr(numbers, name)
    found["numbers"] |= {"rmse": numbers.rootMeanSquaredError, "mse": numbers.meanSquaredError}
    found["numbers"] |= {"mae": numbers.meanAbsoluteError}
    lists = session.sparkContext.parallelize(list(zip(RECOMMENDED, RELEVANT, strict=True)))
    found["recommendations"]["meanAveragePrecision"] = RankingMetrics(lists).meanAveragePrecision
    session.stop()
    return found


def mlflow(log):
    import mlflow.metrics
    import pandas as pd
    from mlflow.models.evaluation.evaluators import classifier, regressor
    from sklearn.metrics import roc_auc_score

    score = log["score"]
    values = classifier._get_binary_classifier_metrics(
        y_true=log["label"], y_pred=score > 0.5, y_proba=np.column_stack([1 - score, score]), labels=[0, 1],
        pos_label=1, sample_weights=None,
    )  # fmt: skip
    values["roc_auc"] = roc_auc_score(log["label"], score)  # as it does for the curve that it draws
    names = "accuracy_score f1_score precision_score recall_score log_loss roc_auc"
    found = {"binary": {name: float(values[name]) for name in names.split()}}
    values = regressor._get_regressor_metrics(log["amount"], log["forecast"], None)
    names = ("mean_absolute_error mean_squared_error root_mean_squared_error r2_score max_error"
             " mean_absolute_percentage_error")  # fmt: skip
    found["numbers"] = {name: float(values[name]) for name in names.split()}
    for kind, recommended in (("recommendations", RECOMMENDED), ("short", SHORT)):
        found[kind] = {}
        for name in ("precision_at_k", "recall_at_k", "ndcg_at_k"):
            own = getattr(mlflow.metrics, name)(3).eval_fn(pd.Series(recommended), pd.Series(RELEVANT))
            found[kind][name.replace("_k", "_3")] = float(own.aggregate_results["mean"])
    return found


def tfma(log):
    import pandas as pd
    from tensorflow_model_analysis.api.model_eval_lib import analyze_raw_data
    from tensorflow_model_analysis.proto import config_pb2 as package

    def values_of(frame, names, **options):
        metrics = [package.MetricConfig(class_name=name, config=own) for name, own in names.items()]
        config = package.EvalConfig(
            model_specs=[package.ModelSpec(label_key="label", prediction_key="prediction", **options.pop("model", {}))],
            metrics_specs=[package.MetricsSpec(metrics=metrics, **options)], slicing_specs=[package.SlicingSpec()],
        )  # fmt: skip
        ((_, found),) = analyze_raw_data(frame, config).slicing_metrics
        (values,) = [sub for output in found.values() for sub in output.values()]
        return values

    binary = ("AUC BinaryAccuracy BinaryCrossEntropy Precision Recall Specificity TPR TNR PPV F1Score BalancedAccuracy"
              " MatthewsCorrelationCoefficient FowlkesMallowsIndex ThreatScore")  # fmt: skip
    frame = pd.DataFrame({"label": log["label"].astype(float), "prediction": log["score"], "weight": log["weight"]})
    named = {name: json.dumps({"name": name}) for name in binary.split()}
    found = {"binary": values_of(frame, named)}
    found["weighted binary"] = values_of(frame, named, model={"example_weight_key": "weight"})
    frame = pd.DataFrame({"label": [float(own) for own in HALF["label"]], "prediction": HALF["score"]})
    found["half"] = values_of(frame, {"Recall": '{"name": "Recall"}'})
    frame = pd.DataFrame({"label": log["amount"], "prediction": log["forecast"]})
    found["numbers"] = values_of(frame, {"MeanAbsoluteError": '{"name": "MeanAbsoluteError"}'})
    frame = pd.DataFrame({"label": log["grade"].astype(float), "prediction": log["score"]})
    frame["grade"], frame["group"] = log["grade"], log["group"]
    ndcg = {"NDCG": json.dumps({"name": "NDCG", "gain_key": "grade", "top_k_list": [1000]})}
    found["grades"] = values_of(frame, ndcg, query_key="group")
    return {kind: {name: only(own[name]) for name in own} for kind, own in found.items()}


def only(value):
    """The number in a message of one field."""
    return float(next(iter(value.values()))) if isinstance(value, dict) else float(value)


TOOLS = {
    "CatBoost": (catboost, "catboost", 1e-6), "Keras": (keras, "keras", 1e-6),
    "MLflow": (mlflow, "mlflow-skinny", 1e-12),
    "TorchRec": (torchrec, "torchrec", 1e-6), "torchmetrics": (torchmetrics, "torchmetrics", 1e-6),
    "XGBoost": (xgboost, "xgboost-cpu", 1e-5), "LightGBM": (lightgbm, "lightgbm", 1e-6),
    "Spark": (spark, "pyspark", 1e-12), "TFMA": (tfma, "tensorflow-model-analysis", 1e-6),
}  # fmt: skip


def main():
    frozen = json.loads(FILE.read_text()) if FILE.exists() else {}
    log = make_log()
    frozen["log"] = {name: column.tolist() for name, column in log.items()}
    frozen["half"] = HALF
    frozen["texts"] = {"hypotheses": HYPOTHESES, "references": REFERENCES}
    frozen["lists"] = {"relevant": RELEVANT, "recommendations": RECOMMENDED, "short": SHORT}
    for name in sys.argv[1:]:
        function, package, tolerance = TOOLS[name]
        made_with = f"{package} {version(package)}"
        frozen[name] = {"made with": made_with, "tolerance": tolerance, "numbers": function(log)}
    lines = []
    for name, values in frozen.items():
        own = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in values.items()]
        lines.append(f" {json.dumps(name)}: {{\n" + ",\n".join(own) + "\n }")
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
