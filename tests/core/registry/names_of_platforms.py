"""Names that platforms, libraries of recommendation and packages of R have for a metric, as names_of_tools.py has them.

Where a tool is not installed its definition is that of its documentation or source.
"""

from core.registry.names_of_answers import NONE, Line, Shared, percent

# https://docs.evidentlyai.com/metrics/all_metrics; MAPE is in percent.
EVIDENTLY = {
    "Accuracy": "accuracy", "Precision": "precision", "Recall": "recall", "F1Score": "f1", "TPR": "recall",
    "TNR": "specificity", "FPR": Line("specificity"), "FNR": Line("recall"), "RocAuc": "auc", "LogLoss": "logloss",
    "PrecisionTopK": Line("precision@10"), "RecallTopK": Line("recall@10"), "FBetaTopK": Line("f1@10"),
    "HitRate": Line("HitRate@10"), "MAE": "mae", "RMSE": "rmse", "MAPE": Shared("mape", "mape", percent),
    "MeanError": Line("bias"), "AbsMaxError": Line("max_error"), "abs_error_max": Line("max_error"),
    "R2Score": "r2", "F1ByLabel": Line("fm.classification_report"),
    "PrecisionByLabel": Line("fm.classification_report"), "Personalization": NONE, "Diversity": NONE,
    "Novelty": NONE, "Serendipity": NONE, "ScoreDistribution": NONE, "PopularityBias": NONE, "ItemBias": NONE,
}  # fmt: skip
# https://huggingface.co/evaluate-metric, and the names that transformers' Trainer logs
HUGGING_FACE = {
    "accuracy": "accuracy", "f1": "f1", "precision": "precision", "recall": "recall", "roc_auc": "auc",
    "matthews_correlation": "mcc", "mse": "mse", "mae": "mae", "mape": "mape", "smape": Line("mape"),
    "r_squared": "r2", "pearsonr": Line("xauc"), "spearmanr": Line("xauc"), "sacrebleu": "bleu",
    "google_bleu": NONE, "nist_mt": Line("fm.corpus_nist"), "chrf": "chrf", "ter": "ter", "meteor": "meteor",
    "rouge": Line("rouge1"), "rouge1": "rouge1", "rougeL": "rougeL", "rougeLsum": "rougeLsum",
    "exact_match": Line("accuracy"), "perplexity": Line("fm.perplexity"), "brier_score": "brier", "mase": NONE,
    "wer": Line("ter"), "cer": NONE, "bertscore": NONE, "squad": NONE, "eval_loss": NONE,
    "eval_accuracy": Line("accuracy"), "eval_f1": Line("f1"), "eval_rouge1": Line("rouge1"),
    "confusion_matrix": Line("fm.confusion_matrix"), "mean_iou": Line("jaccard(average=macro)"),
}  # fmt: skip
# pyspark.ml.evaluation, pyspark.mllib.evaluation, version 4.3; its f1 is that of all classes, weighted.
SPARK = {
    "areaUnderROC": "auc", "areaUnderPR": Line("ap"), "f1": Shared("f1", "f1(average=weighted)"),
    "accuracy": "accuracy", "weightedPrecision": "precision(average=weighted)",
    "weightedRecall": "recall(average=weighted)", "weightedTruePositiveRate": "recall(average=weighted)",
    "weightedFMeasure": "f1(average=weighted)", "weightedFalsePositiveRate": Line("specificity"),
    "truePositiveRateByLabel": Line("fm.classification_report"), "logLoss": "logloss", "hammingLoss": "hamming",
    "precisionByLabel": Line("fm.classification_report"), "rmse": "rmse", "mse": "mse", "r2": "r2", "mae": "mae",
    "explainedVariance": Shared("explained_variance", None), "meanAveragePrecision": "map",
    "meanAveragePrecisionAtK": Line("mean_average_precision@10"), "precisionAtK": Line("precision@10"),
    "ndcgAt(10)": Line("ndcg@10"), "precisionAt(5)": Line("precision@5"), "subsetAccuracy": Line("accuracy"),
    "meanAbsoluteError": "mae", "rootMeanSquaredError": "rmse", "meanSquaredError": "mse",
    "silhouette": Line("fm.silhouette_score"), "var": NONE,
}  # fmt: skip
# https://docs.h2o.ai/h2o/latest-stable/h2o-docs/performance-and-prediction.html; err is 1 - accuracy.
H2O = {
    "auc": "auc", "aucpr": Line("ap"), "logloss": "logloss", "mean_per_class_error": Line("balanced_accuracy"),
    "mean_per_class_accuracy": Line("balanced_accuracy"), "rmse": "rmse", "mse": "mse", "mae": "mae",
    "rmsle": "rmsle", "mean_residual_deviance": Line("mse"), "gini": Line("auc"), "r2": "r2",
    "lift_top_group": Line("lift@1%"), "misclassification": Line("accuracy"), "hit_ratio": Line("hit_ratio@10"),
    "max_f1": Line("fm.metric_at_thresholds"), "max_mcc": Line("fm.metric_at_thresholds"),
    "max_accuracy": Line("fm.metric_at_thresholds"), "f0point5": Line("fbeta(beta=0.5)"),
    "F0point5": Line("fbeta(beta=0.5)"), "F2": Line("fbeta(beta=2)"), "pr_auc": Line("ap"), "AIC": NONE,
    "null_deviance": NONE, "err": Shared("err", None),
}  # fmt: skip
# https://pycaret.gitbook.io/docs/get-started/functions: columns of its tables
PYCARET = {
    "Accuracy": "accuracy", "AUC": "auc", "Recall": "recall", "Prec.": "precision", "F1": "f1", "Kappa": "kappa",
    "MCC": "mcc", "R2": "r2", "RMSLE": "rmsle", "MAPE": "mape", "MASE": NONE, "RMSSE": NONE, "SMAPE": Line("mape"),
    "Silhouette": Line("fm.silhouette_score"), "Calinski-Harabasz": Line("fm.calinski_harabasz_score"),
    "Davies-Bouldin": Line("fm.davies_bouldin_score"), "Homogeneity": "homogeneity",
}  # fmt: skip
# Names of trackers: a word for the rows before a slash, a colon or an underscore
TRACKERS = {
    "val/auc": Line("auc"), "train/loss": NONE, "val/ndcg@10": Line("ndcg@10"), "eval/f1": Line("f1"),
    "test/accuracy": Line("accuracy"), "best_val_auc": Line("auc"), "best_valid_ndcg@5": Line("ndcg@5"),
    "max_val_f1": Line("f1"),
    "epoch_loss": NONE,
    "train/f1_macro": Line("f1_macro"), "val/neg_log_loss": Line("logloss"), "metrics/accuracy": Line("accuracy"),
}  # fmt: skip
# Names of libraries of recommendation. RecBole's GAUC weighs users by positives; implicit, surprise, recommenders.
RECOMMENDATION = {
    "fcp": NONE, "test_rmse": Line("rmse"), "precision_at_k": Line("precision@10"),
    "mean_average_precision_at_k": Line("mean_average_precision@10"), "AUC_at_k": Line("auc@10"),
    "Recall@10": "recall@10", "MRR@10": "mrr@10", "Hit@10": "hr@10", "Precision@10": "p@10",
    "GAUC": Shared("gauc", "gauc(weight=positives)"), "ItemCoverage": NONE, "itemcoverage@10": NONE,
    "ShannonEntropy": NONE, "GiniIndex": NONE, "giniindex@10": NONE, "AveragePopularity": NONE,
    "TailPercentage": NONE, "rsquared": "r2", "exp_var": Line("explained_variance"), "map_at_k": Line("map@10"),
    "r_precision_at_k": Line("r_precision"), "catalog_coverage": NONE, "distributional_coverage": NONE,
    "mean_auc": Line("gauc(weight=uniform)"), "group_auc": Line("gauc(weight=uniform)"), "wauc": Line("gauc"),
    "mean_mrr": Line("mrr"), "hit@5": "hr@5", "HR": Line("HR@10"), "LAUC": Line("auc@10"), "MAR": NONE,
    "nDCGRendle2020": Line("ndcg(gain=binary)@10"), "EFD": NONE, "ARP": NONE, "SEntropy": NONE, "SRecall": NONE,
    "precision_at_10": "p@10", "ndcg_at_10": "ndcg@10", "map_at_10": "map@10", "mrr_at_10": "mrr@10",
    "AvgPrecisionAt(10)": Line("map@10"), "avg_precision_at_10": Line("map@10"), "RecallAt(10)": Line("recall@10"),
    "NDCGAt(10)": Line("ndcg@10"), "eval_/next-item/ndcg_at_10": Line("ndcg_at_10"),
}  # fmt: skip
# _rank_eval, and the evaluation of data frame analytics; its DCG has gains of 2^grade - 1.
ELASTICSEARCH = {
    "precision": Shared("precision", "p@10"), "recall": Shared("recall", "recall@10"),
    "mean_reciprocal_rank": Shared("mrr", "mrr@10"), "dcg": Shared("dcg", "dcg(gain=exp2)@10"),
    "expected_reciprocal_rank": Shared("err", None), "auc_roc": "auc", "mean_squared_error": "mse",
    "r_squared": "r2", "msle": "msle", "huber": NONE, "NDCG@10": "ndcg@10", "Precision@10": "p@10",
    "coverage@10": NONE, "multiclass_confusion_matrix": Line("fm.confusion_matrix"),
}  # fmt: skip
# https://yardstick.tidymodels.org/reference; mape is in percent. caret: summaries of classes, postResample
R_PACKAGES = {
    "roc_auc": "auc", "pr_auc": Line("ap"), "kap": Line("kappa"), "mn_log_loss": Line("logloss"), "f_meas": "f1",
    "sens": Line("recall"), "spec": Line("specificity"), "ppv": "precision", "npv": Line("precision(pos_label=0)"),
    "bal_accuracy": Line("balanced_accuracy"), "j_index": Line("balanced_accuracy(adjusted=True)"),
    "detection_prevalence": NONE, "gain_capture": Line("auc"), "brier_class": Line("brier"),
    "classification_cost": NONE, "rsq": Line("r2"), "rsq_trad": Line("r2"),
    "mape": Shared("mape", "mape", percent), "mase": NONE, "ccc": NONE, "iic": NONE, "huber_loss": NONE,
    "mpe": Line("bias"), "msd": Line("bias"), "rpd": NONE, "poisson_log_loss": Line("poisson_deviance"),
    "roc_aunp": Line("auc(multi_class=ovr, average=weighted)"), "roc_aunu": Line("auc(multi_class=ovr)"),
    "sensitivity": "recall", "specificity": "specificity", "roc_auc_survival": NONE, "brier_survival": NONE,
    "concordance_survival": NONE, "ROC": Line("auc"), "Sens": Line("recall"), "Spec": Line("specificity"),
    "Rsquared": Shared("r2", None), "prAUC": Line("ap"), "Mean_F1": Line("f1(average=macro)"),
    "Mean_Sensitivity": Line("recall(average=macro)"), "Mean_Precision": Line("precision(average=macro)"),
    "Mean_Balanced_Accuracy": Line("balanced_accuracy"), "NoInformationRate": NONE,
    "Pos_Pred_Value": Line("precision"), "Neg_Pred_Value": Line("precision(pos_label=0)"),
    "Mean_Neg_Pred_Value": Line("precision(pos_label=0)"),
}  # fmt: skip
# vw's progress and --loss_function; ML.EVALUATE of BigQuery; SageMaker's built-in algorithms and Autopilot; Vertex AI
CLOUDS = {
    "average_loss": NONE, "squared": Line("mse"), "logistic": Line("logloss"), "hinge": Line("fm.hinge_loss"),
    "best_constant": NONE, "davies_bouldin_index": Line("fm.davies_bouldin_score"), "mean_squared_distance": NONE,
    "average_rank": NONE, "median_absolute_error": "median_ae", "mean_squared_log_error": "msle",
    "normalized_discounted_cumulative_gain": "ndcg", "mean_average_precision": "map",
    "validation:auc": Line("auc"), "validation:rmse": Line("rmse"), "train:logloss": Line("logloss"),
    "validation:f1_binary": Line("f1"), "validation:merror": Line("accuracy"), "test:RMSE": Line("rmse"),
    "validation:objective_loss:final": NONE, "BinaryF1": "f1", "MacroF1": "f1(average=macro)",
    "objective_loss": NONE, "binary_classification_accuracy": Line("accuracy"),
    "classification_accuracy": Line("accuracy"), "multiclass_top_k_accuracy": Line("top_k_accuracy@10"),
    "precision_at_target_recall": Line("fm.precision_recall_curve"), "wQL": Line("pinball(alpha=0.9)"),
    "Average_wQL": NONE, "WAPE": Line("mae"), "auPrc": Line("ap"), "auRoc": "auc", "logLoss": "logloss",
    "f1ScoreMicro": "f1(average=micro)", "minimize-log-loss": Line("logloss"), "maximize-au-roc": Line("auc"),
    "maximize-au-prc": Line("ap"), "maximize-precision-at-recall": Line("fm.precision_recall_curve"),
    "minimize-rmse": Line("rmse"), "minimize-mae": Line("mae"), "minimize-rmsle": Line("rmsle"),
    "rootMeanSquaredError": "rmse", "meanAbsolutePercentageError": Shared("mape", "mape", percent),
    "rSquared": Shared("r2", None), "rouge_l_sum": "rougeLsum",
    "root_mean_squared_percentage_error": NONE,
}  # fmt: skip

PLATFORMS = {
    "Evidently": EVIDENTLY, "Hugging Face": HUGGING_FACE, "Spark": SPARK, "H2O": H2O, "PyCaret": PYCARET,
    "trackers": TRACKERS, "RecBole": RECOMMENDATION, "Elasticsearch": ELASTICSEARCH, "yardstick": R_PACKAGES,
    "Vertex AI": CLOUDS,
}  # fmt: skip
