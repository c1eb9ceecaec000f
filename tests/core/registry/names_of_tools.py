"""Every name that other tools have for a metric: the metric string that it means, or what the error says to type.

A text is the metric string that the name means. `Line` is a refusal whose text holds a line to type; the number of the
tool is another one. `NONE` is a number that the library does not have: the error names no metric.
"""

import math
from collections.abc import Callable
from typing import NamedTuple


class Line(NamedTuple):
    """A line that an error says to type: a metric string, or a function ("fm.name")."""

    text: str


class Shared(NamedTuple):
    """A name that is also ours, or another tool's, and of another number in this tool.

    It is accepted as `text`; the tool's number is `of` the value of `line`, or of no line where that is None.
    """

    text: str
    line: str | None
    of: Callable[[float], float] = lambda value: value


def percent(value: float) -> float:
    return 100 * value


def one_less(value: float) -> float:
    return 1 - value


def bits(value: float) -> float:
    return value / math.log(2)


def sum_of_rows(value: float) -> float:
    return 160 * value


NONE = None
OTHER_TREC = (
    "gm_map", "infAP", "11pt_avg", "set_P", "set_recall", "set_relative_P", "set_map", "set_F", "num_ret", "num_rel",
    "num_rel_ret", "num_nonrel_judged_ret", "num_q", "runid", "Rndcg", "ndcg_rel", "G", "binG", "utility",
    "relative_P", "relative_P_5", "Rprec_mult", "Rprec_mult_0.20", "relstring", "gm_bpref", "iprec_at_recall",
    "iprec_at_recall_0.10", "unj_5", "yaap",
)  # fmt: skip

# sklearn.metrics.get_scorer_names(), version 1.9
SCIKIT_LEARN = {
    "accuracy": "accuracy",
    "adjusted_mutual_info_score": "ami",
    "adjusted_rand_score": "ari",
    "average_precision": "ap",
    "balanced_accuracy": "balanced_accuracy",
    "completeness_score": "completeness",
    "d2_absolute_error_score": "d2_absolute_error",
    "d2_brier_score": Line("fm.d2_brier_score"),
    "d2_log_loss_score": Line("fm.d2_log_loss_score"),
    "explained_variance": "explained_variance",
    **{
        f"{name}{suffix}": f"{name}{option}"
        for name in ("f1", "jaccard", "precision", "recall")
        for suffix, option in {
            "": "",
            "_macro": "(average=macro)",
            "_micro": "(average=micro)",
            "_samples": "(average=samples)",
            "_weighted": "(average=weighted)",
        }.items()
    },
    "fowlkes_mallows_score": "fowlkes_mallows",
    "homogeneity_score": "homogeneity",
    "matthews_corrcoef": "mcc",
    "mutual_info_score": "mutual_info",
    "neg_brier_score": Line("brier"),
    "neg_log_loss": Line("logloss"),
    "neg_max_error": Line("max_error"),
    "neg_mean_absolute_error": Line("mae"),
    "neg_mean_absolute_percentage_error": Line("mape"),
    "neg_mean_gamma_deviance": Line("gamma_deviance"),
    "neg_mean_poisson_deviance": Line("poisson_deviance"),
    "neg_mean_squared_error": Line("mse"),
    "neg_mean_squared_log_error": Line("msle"),
    "neg_median_absolute_error": Line("median_ae"),
    "neg_negative_likelihood_ratio": Line("fm.class_likelihood_ratios"),
    "neg_root_mean_squared_error": Line("rmse"),
    "neg_root_mean_squared_log_error": Line("rmsle"),
    "normalized_mutual_info_score": "nmi",
    "positive_likelihood_ratio": Line("fm.class_likelihood_ratios"),
    "r2": "r2",
    "rand_score": "rand",
    "roc_auc": "auc",
    "roc_auc_ovo": "auc(multi_class=ovo)",
    "roc_auc_ovo_weighted": "auc(multi_class=ovo, average=weighted)",
    "roc_auc_ovr": "auc(multi_class=ovr)",
    "roc_auc_ovr_weighted": "auc(multi_class=ovr, average=weighted)",
    "top_k_accuracy": Line("top_k_accuracy@10"),
    "v_measure_score": "v_measure",
}
# https://xgboost.readthedocs.io/en/stable/parameter.html: eval_metric. Its NDCG has gains of 2^grade - 1.
XGBOOST = {
    "rmse": "rmse", "rmsle": "rmsle", "mae": "mae", "mape": "mape", "mphe": NONE, "logloss": "logloss",
    "error": Line("accuracy"), "error@0.7": Line("accuracy"), "merror": Line("accuracy"), "mlogloss": Line("logloss"),
    "auc": "auc", "aucpr": Line("ap"), "pre": Line("pre@10"), "pre@5": "p@5",
    "ndcg": Shared("ndcg", "ndcg(gain=exp2, empty=one)"),
    "ndcg@10": Shared("ndcg@10", "ndcg(gain=exp2, empty=one)@10"), "ndcg@10-": "ndcg(gain=exp2)@10",
    "map": Shared("map", "map(empty=one)"), "map@5": Shared("map@5", "map(empty=one)@5"),
    "map@5-": "map@5", "ndcg-": "ndcg(gain=exp2)", "map-": "map",
    "poisson-nloglik": Line("poisson_deviance"), "gamma-nloglik": Line("gamma_deviance"),
    "gamma-deviance": "gamma_deviance", "tweedie-nloglik@1.5": Line("tweedie_deviance(power=1.5)"),
    "cox-nloglik": NONE, "aft-nloglik": NONE, "interval-regression-accuracy": Line("accuracy"),
    "quantile": Line("pinball(alpha=0.9)"), "expectile": NONE, "ams@0.15": NONE,
}  # fmt: skip
# https://lightgbm.readthedocs.io/en/latest/Parameters.html#metric-parameters. Its NDCG has gains of 2^grade - 1.
LIGHTGBM = {
    "l1": "mae", "mean_absolute_error": "mae", "mae": "mae", "regression_l1": "mae", "l2": "mse", "mse": "mse",
    "mean_squared_error": "mse", "regression_l2": "mse", "rmse": "rmse", "root_mean_squared_error": "rmse",
    "l2_root": "rmse", "quantile": Line("pinball(alpha=0.9)"), "mape": Shared("mape", None),
    "mean_absolute_percentage_error": Shared("mape", None), "huber": NONE, "fair": NONE,
    "poisson": Line("poisson_deviance"),
    "gamma": Line("gamma_deviance"), "gamma_deviance": Shared("gamma_deviance", "gamma_deviance", sum_of_rows),
    "tweedie": Line("tweedie_deviance(power=1.5)"),
    "ndcg": Shared("ndcg", "ndcg(gain=exp2, empty=one)"),
    "ndcg@3": Shared("ndcg@3", "ndcg(gain=exp2, empty=one)@3"), "lambdarank": Line("ndcg(gain=exp2)"),
    "rank_xendcg": Line("ndcg(gain=exp2)"),
    "map": Shared("map", "map(empty=one)"), "map@3": Shared("map@3", "map(empty=one)@3"),
    "mean_average_precision": Shared("map", "map(empty=one)"), "auc": "auc", "average_precision": "ap",
    "r2": "r2", "binary_logloss": "logloss", "binary": Line("logloss"), "binary_error": Line("accuracy"),
    "auc_mu": Line("auc(multi_class=ovo)"), "multi_logloss": Line("logloss"), "multiclass": Line("logloss"),
    "softmax": Line("logloss"), "multi_error": Line("accuracy"), "multi_error@5": Line("top_k_accuracy@5"),
    "cross_entropy": "logloss", "xentropy": "logloss", "kullback_leibler": Line("logloss"), "kldiv": Line("logloss"),
}  # fmt: skip
# https://catboost.ai/docs/en/concepts/loss-functions
CATBOOST = {
    "RMSE": "rmse", "Logloss": "logloss", "CrossEntropy": "logloss", "MAE": "mae", "MAPE": Shared("mape", None),
    "R2": "r2",
    "MSLE": "msle", "MedianAbsoluteError": "median_ae", "Quantile": Line("pinball(alpha=0.9)"),
    "Poisson": Line("poisson_deviance"), "SMAPE": Line("mape"), "Tweedie": Line("tweedie_deviance(power=1.5)"),
    "Huber": NONE, "Lq": NONE, "Expectile": NONE, "FairLoss": NONE, "LogLinQuantile": NONE,
    "MultiClass": Line("logloss"), "MultiClassOneVsAll": Line("logloss"), "MultiLogloss": Line("logloss"),
    "MultiCrossEntropy": Line("logloss"), "MultiRMSE": Line("rmse"), "Precision": "precision", "Recall": "recall",
    "F": Line("fbeta(beta=2)"), "F:beta=2": Line("fbeta(beta=2)"), "F1": "f1",
    "TotalF1": Line("f1(average=weighted)"),
    "BalancedAccuracy": "balanced_accuracy", "BalancedErrorRate": Line("balanced_accuracy"), "MCC": "mcc",
    "Accuracy": "accuracy", "CtrFactor": Line("copc"), "AUC": "auc", "AUC:type=Ranking": Line("auc"),
    "QueryAUC": Line("gauc"), "NormalizedGini": Line("auc"), "BrierScore": "brier",
    "HingeLoss": Line("fm.hinge_loss"), "HammingLoss": "hamming", "ZeroOneLoss": Line("accuracy"), "Kappa": "kappa",
    "WKappa": Line("kappa(weights=quadratic)"), "PRAUC": Line("ap"), "NumErrors": Line("accuracy"),
    "QueryRMSE": Line("rmse"), "QueryCrossEntropy": Line("logloss"), "QuerySoftMax": NONE, "PFound": NONE,
    "NDCG": Shared("ndcg", "ndcg(empty=one)"), "NDCG:top=5": Line("ndcg@5"),
    "NDCG:top=5;type=Exp": Line("ndcg(gain=exp2)@5"), "DCG": "dcg",
    "FilteredDCG": Line("dcg"), "PrecisionAt": Line("precision@10"), "PrecisionAt:top=5": Line("p@5"),
    "RecallAt:top=5": Line("recall@5"), "MAP": "map", "MAP:top=5": Line("map@5"), "ERR": Shared("err", None),
    "MRR": "mrr",
    "MRR:top=5": Line("mrr@5"), "PairAccuracy": Line("gauc(weight=pairs)"), "PairLogit": NONE, "YetiRank": NONE,
    "Cox": NONE, "LogLikelihoodOfPrediction": NONE, "AverageGain": NONE,
}  # fmt: skip
# https://keras.io/api/metrics, classes and the names of their instances
KERAS = {
    "accuracy": "accuracy", "acc": "accuracy", "binary_accuracy": "accuracy", "BinaryAccuracy": "accuracy",
    "categorical_accuracy": Line("accuracy"), "sparse_categorical_accuracy": Line("accuracy"),
    "SparseCategoricalAccuracy": Line("accuracy"), "top_k_categorical_accuracy": Line("top_k_accuracy@10"),
    "TopKCategoricalAccuracy": Line("top_k_accuracy@10"),
    "sparse_top_k_categorical_accuracy": Line("top_k_accuracy@10"), "AUC": "auc", "auc_1": Line("auc@1"),
    "auc_2": Line("auc"), "precision_1": Line("precision"), "recall_1": "recall@1", "Precision": "precision",
    "Recall": "recall", "TruePositives": Line("fm.confusion_matrix"), "false_negatives": Line("fm.confusion_matrix"),
    "PrecisionAtRecall": Line("fm.precision_recall_curve"), "RecallAtPrecision": Line("fm.precision_recall_curve"),
    "SensitivityAtSpecificity": Line("fm.roc_curve"), "SpecificityAtSensitivity": Line("fm.roc_curve"),
    "MeanSquaredError": "mse", "mse": "mse", "MSE": "mse", "RootMeanSquaredError": "rmse", "MeanAbsoluteError": "mae",
    "MeanAbsolutePercentageError": Shared("mape", "mape", percent), "MeanSquaredLogarithmicError": "msle",
    "CosineSimilarity": NONE,
    "LogCoshError": NONE, "R2Score": "r2", "F1Score": "f1", "FBetaScore": "fbeta", "BinaryCrossentropy": "logloss",
    "binary_crossentropy": "logloss", "CategoricalCrossentropy": Line("logloss"),
    "SparseCategoricalCrossentropy": Line("logloss"), "KLDivergence": Line("logloss"),
    "Poisson": Line("poisson_deviance"), "Hinge": Line("fm.hinge_loss"), "SquaredHinge": NONE,
    "CategoricalHinge": NONE, "IoU": Line("jaccard"), "BinaryIoU": Line("jaccard"),
    "MeanIoU": Line("jaccard(average=macro)"), "PearsonCorrelation": Line("xauc"), "val_auc": Line("auc"),
    "val_binary_accuracy": Line("accuracy"), "val_loss": NONE, "loss": NONE, "Sum": NONE,
}  # fmt: skip
# mlflow.models.evaluate, mlflow.sklearn.autolog, mlflow.metrics
MLFLOW = {
    "accuracy_score": "accuracy", "f1_score": "f1", "precision_score": "precision", "recall_score": "recall",
    "log_loss": "logloss", "roc_auc": "auc", "precision_recall_auc": Line("ap"),
    "true_negatives": Line("fm.confusion_matrix"), "false_positives": Line("fm.confusion_matrix"),
    "mean_absolute_error": "mae", "mean_squared_error": "mse", "root_mean_squared_error": "rmse",
    "sum_on_target": NONE, "mean_on_target": Line("ctr"), "r2_score": "r2", "max_error": "max_error",
    "mean_absolute_percentage_error": "mape", "example_count": NONE, "score": NONE, "rouge1": "rouge1",
    "rouge2": "rouge2", "rougeL": "rougeL", "rougeLsum": "rougeLsum", "bleu": Shared("bleu", None),
    "exact_match": Line("accuracy"),
    "token_count": NONE, "toxicity": NONE, "flesch_kincaid_grade_level": NONE, "precision_at_k": Line("precision@10"),
    "recall_at_k": Line("recall@10"), "ndcg_at_k": Line("ndcg@10"),
    "precision_at_3": Shared("p@3", "p(short_list=n)@3"), "recall_at_3": "recall@3",
    "ndcg_at_3": Shared("ndcg@3", None), "training_roc_auc": Line("auc"), "training_f1_score": Line("f1"),
    "training_log_loss": Line("logloss"), "training_score": NONE, "latency": NONE,
}  # fmt: skip
# torchrec.metrics.metrics_config.RecMetricEnum
TORCHREC = {
    "ne": "ne", "ne_positive": Line("ne"), "log_loss": Shared("logloss", "logloss", bits),
    "logloss": Shared("logloss", "logloss", bits), "ctr": "ctr", "auc": "auc", "auprc": Line("ap"),
    "rauc": Line("xauc"), "calibration": Line("pcoc"), "mse": "mse", "mae": "mae", "rmse": "rmse",
    "accuracy": "accuracy", "ndcg": Shared("ndcg", "ndcg", one_less), "xauc": Shared("xauc", None),
    "precision": "precision", "recall": "recall",
    "multiclass_recall": Line("recall(average=macro)"), "recall_session_level": Line("recall@10"),
    "precision_session_level": Line("p@10"), "serving_ne": Line("ne"), "serving_calibration": Line("pcoc"),
    "cali_free_ne": Line("ne"), "unweighted_ne": Line("ne"), "segmented_ne": Line("ne"), "nmse": Line("r2"),
    "hindsight_target_pr": NONE, "weighted_avg": NONE, "tower_qps": NONE, "scalar": NONE, "output": NONE,
    "grouped_auc": "gauc(weight=uniform, single_class=half)",
}  # fmt: skip
# https://lightning.ai/docs/torchmetrics, classes and functions
TORCHMETRICS = {
    "AUROC": "auc", "BinaryAUROC": "auc", "binary_auroc": "auc", "MulticlassAUROC": Line("auc(average=macro)"),
    "AveragePrecision": "ap", "BinaryAveragePrecision": "ap", "Accuracy": "accuracy", "BinaryAccuracy": "accuracy",
    "MulticlassAccuracy": Line("balanced_accuracy"), "F1Score": "f1", "BinaryF1Score": "f1",
    "binary_f1_score": "f1", "MulticlassF1Score": Line("f1(average=macro)"),
    "MultilabelF1Score": Line("f1(average=macro)"), "multiclass_f1_score": Line("f1(average=macro)"),
    "FBetaScore": "fbeta", "CalibrationError": Line("ece"), "BinaryCalibrationError": Line("ece"),
    "CohenKappa": "kappa", "BinaryCohenKappa": "kappa", "ConfusionMatrix": Line("fm.confusion_matrix"),
    "ExactMatch": Line("accuracy"), "EER": Shared("eer", "eer(method=mean)"), "BinaryEER": "eer(method=mean)",
    "HammingDistance": Line("hamming"),
    "HingeLoss": Line("fm.hinge_loss"), "JaccardIndex": "jaccard", "BinaryJaccardIndex": "jaccard",
    "BinaryPrecision": "precision", "BinaryRecall": "recall",
    "BinaryFBetaScore": "fbeta", "Dice": "f1",
    "MatthewsCorrCoef": "mcc", "BinaryMatthewsCorrCoef": "mcc",
    "NegativePredictiveValue": Line("precision(pos_label=0)"), "Precision": "precision", "Recall": "recall",
    "Specificity": "specificity", "BinarySpecificity": "specificity", "StatScores": NONE, "RetrievalMAP": "map",
    "RetrievalMRR": "mrr", "RetrievalNormalizedDCG": "ndcg", "RetrievalPrecision": Line("precision@10"),
    "RetrievalRecall": Line("recall@10"), "RetrievalHitRate": Line("hit_rate@10"), "RetrievalRPrecision": "rprec",
    "RetrievalAUROC": Line("gauc(weight=uniform)"), "RetrievalFallOut": Line("p@10"),
    "retrieval_average_precision": Line("map"), "retrieval_normalized_dcg": "ndcg", "MeanAbsoluteError": "mae",
    "MeanSquaredError": "mse", "MeanSquaredLogError": "msle", "MeanAbsolutePercentageError": "mape",
    "SymmetricMeanAbsolutePercentageError": Line("mape"), "WeightedMeanAbsolutePercentageError": Line("mae"),
    "PearsonCorrCoef": Line("xauc"), "SpearmanCorrCoef": Line("xauc"), "KendallRankCorrCoef": Line("xauc"),
    "R2Score": "r2", "ExplainedVariance": "explained_variance", "TweedieDevianceScore": "tweedie_deviance",
    "CriticalSuccessIndex": "jaccard", "MinkowskiDistance": NONE, "CosineSimilarity": NONE,
    "BLEUScore": Line("bleu(tokenize=none, smooth=none)"),
    "SacreBLEUScore": Line("bleu(smooth=none)"), "CHRFScore": Line("chrf(word_order=2, eps_smoothing=True)"),
    "ROUGEScore": Line("rouge1"), "TranslationEditRate": Line("ter"),
    "WordErrorRate": Line("ter"), "Perplexity": Line("fm.perplexity"), "AdjustedRandScore": "ari",
    "AdjustedMutualInfoScore": "ami", "CalinskiHarabaszScore": Line("fm.calinski_harabasz_score"),
    "CompletenessScore": "completeness", "DaviesBouldinScore": Line("fm.davies_bouldin_score"),
    "FowlkesMallowsIndex": Line("fowlkes_mallows"), "HomogeneityScore": "homogeneity",
    "MutualInfoScore": "mutual_info",
    "NormalizedMutualInfoScore": "nmi", "RandScore": "rand", "VMeasureScore": "v_measure",
}  # fmt: skip
# https://www.tensorflow.org/tfx/model_analysis/api_docs/python/tfma/metrics
TFMA = {
    "AUC": "auc", "AUCPrecisionRecall": Line("ap"), "BinaryAccuracy": "accuracy", "BinaryCrossEntropy": "logloss",
    "Calibration": Line("copc"), "MeanLabel": Line("ctr"), "MeanPrediction": NONE, "ExampleCount": NONE,
    "NDCG": Shared("ndcg", "ndcg(empty=skip)"), "Precision": "precision", "Recall": "recall",
    "Specificity": "specificity", "TPR": "recall",
    "TNR": "specificity", "PPV": "precision", "NPV": Line("precision(pos_label=0)"), "FPR": Line("specificity"),
    "FNR": Line("recall"), "MissRate": Line("recall"), "FallOut": Line("specificity"), "F1Score": "f1",
    "BalancedAccuracy": "balanced_accuracy", "MatthewsCorrelationCoefficient": "mcc",
    "FowlkesMallowsIndex": Line("fowlkes_mallows"), "Informedness": Line("balanced_accuracy(adjusted=True)"),
    "Prevalence": Line("ctr"), "ThreatScore": "jaccard", "MeanAbsoluteError": "mae",
    "SpearmanCorrelation": Line("xauc"), "TruePositives": Line("fm.confusion_matrix"),
    "TP": Line("fm.confusion_matrix"),
    "CoefficientOfDiscrimination": NONE, "MinLabelPosition": NONE, "DiagnosticOddsRatio": NONE,
}  # fmt: skip
# pytrec_eval.supported_measures, and the names in trec_eval's output
TREC_EVAL = {
    "map": "map", "Rprec": "rprec", "bpref": "bpref", "recip_rank": "mrr", "P": Line("P@10"), "P_10": "p@10",
    "P.10": "p@10", "P@10": "p@10", "recall": Shared("recall", None), "recall_10": "recall@10",
    "recall.10": "recall@10",
    "success": Line("success@10"), "success_1": "hr@1", "success.5": "hr@5", "ndcg": "ndcg",
    "ndcg_cut": Line("ndcg@10"), "ndcg_cut_10": "ndcg@10", "ndcg_cut.10": "ndcg@10",
    "map_cut": Line("map(normalize=relevant)@10"), "map_cut_3": "map(normalize=relevant)@3",
    "map_cut.3": "map(normalize=relevant)@3", "rbp.0.95": "rbp(p=0.95)", "dcg": "dcg", "ideal_dcg": "idcg",
    **{name: Line("fm.evaluate_trec") for name in OTHER_TREC},
}  # fmt: skip
# https://amenra.github.io/ranx/metrics
RANX = {
    "hits": Line("hr@10"), "hits@5": Line("hr@5"), "hit_rate": Line("hit_rate@10"), "hit_rate@5": "hr@5",
    "precision": Shared("precision", None), "precision@5": "p@5", "recall": Shared("recall", None),
    "recall@5": "recall@5", "f1": Shared("f1", None),
    "f1@5": "f1@5", "r-precision": "rprec", "mrr": "mrr", "mrr@5": "mrr@5", "map": "map",
    "map@5": Shared("map@5", "map(normalize=relevant)@5"),
    "dcg": "dcg", "dcg@5": "dcg@5", "dcg_burges": Line("dcg(gain=exp2)"), "ndcg": "ndcg", "ndcg@5": "ndcg@5",
    "ndcg_burges": Line("ndcg(gain=exp2)"), "ndcg_burges@5": Line("ndcg(gain=exp2)"), "bpref": "bpref",
    "rbp.95": "rbp(p=0.95)", "rbp.8": "rbp", "map@10-l2": Line("map(relevance_level=2)@10"),
}  # fmt: skip
# What people type, of no tool.
TYPED = {
    "RocAuc": "auc", "ROC_AUC": "auc", "roc-auc": "auc", "rocauc": "auc", "LogLoss": "logloss", "NDCG@10": "ndcg@10",
    "ndcg10": "ndcg@10", "hr10": "hr@10", "HitRate@5": "hr@5", "recall_at_10": "recall@10",
    "recall@k": Line("recall@10"),
    "recall_at_k@20": "recall@20", "recall_at_k@k": Line("recall_at_k@10"), "mean_reciprocal_rank_at_10": "mrr@10",
    "lift@10%": "lift", "lift@2.5%": "lift(q=0.025)", "lift@0.05": "lift(q=0.05)", "lift@10": Line("lift@10%"),
    "lift_10": Line("lift@10%"), "precision@10%": Line("precision"), "ndcg@10(gain=exp2)": "ndcg(gain=exp2)@10",
    "ndcg_10(gain=exp2)": "ndcg(gain=exp2)@10", "macro_f1": "f1(average=macro)", "f1-macro": "f1(average=macro)",
    "F1_Macro": "f1(average=macro)", "top_5_accuracy": "top_k_accuracy@5", "top5_accuracy": "top_k_accuracy@5",
    "top-1": Line("top_k_accuracy@1"), "acc@5": Line("top_k_accuracy@5"), "AP@5": Line("map@5"), "mAP@5": "map@5",
    "bleu_4": Line("bleu(max_order=4)"), "bleu-1": Line("bleu(max_order=1)"), "rouge_1": "rouge1",
    "ROUGE-L": "rougeL",
    "chrF++": Line("chrf(word_order=2)"), "pr_auc": Line("ap"), "PRC": Line("ap"), "auc_pr": Line("ap"), "psi": NONE,
    "pearson": Line("xauc"), "exact_match": Line("accuracy"), "gini": Line("auc"), "auc_roc_score": "auc",
    "kappa_score": "kappa", "neg_f1_macro": Line("f1(average=macro)"), "test_ndcg@5": Line("ndcg@5"),
    "mean_ndcg@5": Line("ndcg@5"), "ndgc@5": Line("ndcg@5"), "uauc": Line("gauc(weight=uniform)"), "wer": Line("ter"),
    "silhouette": Line("fm.silhouette_score"), "wilcoxon": Line("fm.wilcoxon"), "channel.feed/auc": Line("auc"),
    "nll": Line("logloss"), "neg_log_likelihood": Line("logloss"), "cross_entropy_loss": Line("logloss"),
    "bacc": Line("balanced_accuracy"), "balanced_acc": Line("balanced_accuracy"),
    "bal_acc": Line("balanced_accuracy"),
    "qwk": Line("kappa(weights=quadratic)"), "quadratic_kappa": Line("kappa(weights=quadratic)"),
    "youden": Line("balanced_accuracy(adjusted=True)"), "ks_stat": Line("ks"), "wuauc": Line("gauc"),
    "f0.5": Line("fbeta(beta=0.5)"),
    "F0.5": Line("fbeta(beta=0.5)"), "f0.5_score": Line("fbeta(beta=0.5)"), "wmape": Line("mae"),
    "ace": Line("ece"),
    "far": Line("fm.far_frr_curve"), "FRR": Line("fm.far_frr_curve"), "nist": Line("fm.corpus_nist"),
    "spearmanr": Line("xauc"),
    "pearsonr": Line("xauc"), "kendalltau": Line("xauc"), "auuc": NONE, "tpr_at_fpr": Line("fm.roc_curve"),
}  # fmt: skip

TOOLS = {
    "scikit-learn": SCIKIT_LEARN, "XGBoost": XGBOOST, "LightGBM": LIGHTGBM, "CatBoost": CATBOOST, "Keras": KERAS,
    "MLflow": MLFLOW, "TorchRec": TORCHREC, "torchmetrics": TORCHMETRICS, "TFMA": TFMA, "trec_eval": TREC_EVAL,
    "ranx": RANX, "typed": TYPED,
}  # fmt: skip
