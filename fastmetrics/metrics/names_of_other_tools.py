"""Names that other tools have for numbers which no metric string computes: what to type in their place.

Names of the same number are aliases of its metric; those of a number next to it stand beside the metric, as its
`near_names`. Here are the rest, by tool. Every line in quotes can be typed.
"""

from fastmetrics._core.registry import explain_names

ERROR_RATE = "it is 1 - accuracy; write 'accuracy'"
OF_CLASSES = "for labels of several classes write 'logloss', with probabilities= the columns of the classes"
ARG_MAX = "write 'accuracy', with prediction= the class of the greatest probability"
TOP_K = "write 'top_k_accuracy@10', with probabilities= the columns of the classes"
STEPS = "its trapezoids join the points of the curve by straight lines; write 'ap', the area by steps"
EXPONENTIAL = "its gains are 2^grade - 1; write 'ndcg(gain=exp2)'"
COUNTS = "it is a count, which fm.confusion_matrix has; shares of rows are 'precision', 'recall' and 'specificity'"
CURVE_POINT = "it is a point of a curve: fm.precision_recall_curve has the precision and the recall of every threshold"
ROC_POINT = "it is a point of a curve: fm.roc_curve has 1 - specificity and the sensitivity of every threshold"
NE = "'ne' is the normalized entropy of the scores as they are"
RATIOS = "fm.class_likelihood_ratios(y_true, y_pred) has both likelihood ratios"
ERROR_RATES = "fm.far_frr_curve has both error rates of every threshold; 'eer' is where they are equal"
CLASS_ZERO = "it is the precision of class 0; write 'precision(pos_label=0)', with prediction="
NO_CORRELATION = "there is no correlation coefficient; 'xauc' is the share of pairs in the right order"

XGBOOST = {
    "error": ERROR_RATE,
    "merror": f"{ERROR_RATE}, with prediction=",
    "mlogloss": OF_CLASSES,
    "aucpr": STEPS,
    "poisson_nloglik": "it differs from the deviance by terms of the labels alone; write 'poisson_deviance'",
    "gamma_nloglik": "it differs from the deviance by terms of the labels alone; write 'gamma_deviance'",
    "tweedie_nloglik": "it differs from the deviance by terms of the labels; write 'tweedie_deviance(power=1.5)'",
    "quantile": "write 'pinball(alpha=0.9)', with the quantile that the model predicts",
    "ams": "the approximate median significance is not computed",
}
LIGHTGBM = {
    "binary_error": ERROR_RATE,
    "binary": "write 'logloss'",
    "multi_logloss": OF_CLASSES,
    "multiclass": OF_CLASSES,
    "softmax": OF_CLASSES,
    "multi_error": f"{ERROR_RATE}, with prediction=",
    "multi_error@k": f"it is 1 - top-k accuracy; {TOP_K}",
    "auc_mu": "it weighs pairs of classes in its own way; 'auc(multi_class=ovo)' is the mean over pairs of classes",
    "kullback_leibler": "for labels of 0 and 1 it is the log loss; write 'logloss'",
    "kldiv": "for labels of 0 and 1 it is the log loss; write 'logloss'",
    "lambdarank": EXPONENTIAL,
    "rank_xendcg": EXPONENTIAL,
    "poisson": "it differs from the deviance by terms of the labels alone; write 'poisson_deviance'",
    "gamma": "it differs from the deviance by terms of the labels alone; write 'gamma_deviance'",
    "tweedie": "it differs from the deviance by terms of the labels; write 'tweedie_deviance(power=1.5)'",
}
CATBOOST = {
    "multi_class": OF_CLASSES,
    "multi_class_one_vs_all": OF_CLASSES,
    "f": "write 'fbeta(beta=2)', with the beta that you mean",
    "total_f1": "its mean over classes is weighted by their rows; write 'f1(average=weighted)', with prediction=",
    "balanced_error_rate": "it is 1 - balanced accuracy; write 'balanced_accuracy'",
    "normalized_gini": "it is 2 * auc - 1; write 'auc'",
    "query_auc": "the area inside groups is 'gauc', whose weight= says how groups count",
    "wkappa": "write 'kappa(weights=quadratic)', with prediction=",
    "num_errors": ERROR_RATE,
    "query_rmse": "it takes the mean error of each group out; 'rmse' does not",
    "query_cross_entropy": "it shifts the scores of each group; 'logloss' is that of the scores as they are",
    "ctr_factor": "it is clicks over predicted clicks; write 'copc'",
    "pair_accuracy": "the share of pairs in the right order inside groups is 'gauc(weight=pairs)'",
}
KERAS = {
    "categorical_accuracy": ARG_MAX,
    "sparse_categorical_accuracy": ARG_MAX,
    "top_k_categorical_accuracy": TOP_K,
    "sparse_top_k_categorical_accuracy": TOP_K,
    "top@k": TOP_K,
    "acc@k": TOP_K,
    "accuracy@k": TOP_K,
    "categorical_crossentropy": OF_CLASSES,
    "sparse_categorical_crossentropy": OF_CLASSES,
    "kl_divergence": "for labels of 0 and 1 it is the log loss; write 'logloss'",
    "precision_at_recall": CURVE_POINT,
    "recall_at_precision": CURVE_POINT,
    "sensitivity_at_specificity": ROC_POINT,
    "specificity_at_sensitivity": ROC_POINT,
    "iou": "of two classes it is the Jaccard index; write 'jaccard'",
    "binary_iou": "of two classes it is the Jaccard index; write 'jaccard'",
    "mean_iou": "write 'jaccard(average=macro)', with prediction=",
    "prc": STEPS,
    **dict.fromkeys((f"{truth}_{sign}s" for truth in ("true", "false") for sign in ("positive", "negative")), COUNTS),
    **dict.fromkeys(("tp", "fp", "tn", "fn"), COUNTS),
}
MLFLOW = {
    "precision_recall_auc": STEPS,
    "exact_match": "it is the accuracy of whole texts; write 'accuracy', with prediction= the answers",
    "mean_on_target": "the mean of labels of 0 and 1 is 'ctr'",
}
TORCHREC = {
    "rauc": "the share of pairs in the right order is 'xauc'",
    "ne_positive": f"it is that of positive rows alone, with the entropy of all; {NE}",
    "cali_free_ne": f"it divides out the calibration; {NE}",
    "unweighted_ne": "write 'ne', without weight=",
    "serving_ne": "write 'ne'",
    "segmented_ne": "write 'ne', with by= the column of segments",
    "serving_calibration": "it is predicted clicks over clicks; write 'pcoc'",
    "nmse": "it is over the error of a constant prediction, as 1 - 'r2' is; 'mse' is not",
    "recall_session_level": "with the group of sessions it is 'recall@10', the cutoff being yours",
    "precision_session_level": "with the group of sessions it is 'p@10', the cutoff being yours",
}
TORCHMETRICS = {
    "calibration_error": "write 'ece'",
    "multiclass_accuracy": "its mean over classes is 'balanced_accuracy', the share of right rows 'accuracy'",
    "negative_predictive_value": CLASS_ZERO,
    "npv": CLASS_ZERO,
    "symmetric_mean_absolute_percentage_error": "it divides by label and prediction, 'mape' by the label",
    "weighted_mean_absolute_percentage_error": "it is the mean absolute error over the mean label; write 'mae'",
    "wape": "it is the mean absolute error over the mean label; write 'mae'",
    "retrieval_average_precision": "write 'map'",
    "retrieval_auroc": "the area inside groups, each counted alike, is 'gauc(weight=uniform)'",
    "retrieval_fall_out": "there is no fall-out of ranked lists; 'p@10' is the share of relevant rows",
    "bleu_score": "there it is a share of 1 without smoothing; write 'bleu(tokenize=none, smooth=none)', in percent",
    "sacre_bleu_score": "there it is a share of 1 without smoothing; write 'bleu(smooth=none)', in percent",
    "chrf_score": "there it is a share of 1; write 'chrf(word_order=2, eps_smoothing=True)', in percent",
    "translation_edit_rate": "there it is a share of 1, by a search of its own; 'ter' is sacrebleu's, in percent",
    "word_error_rate": "it has no shifts; 'ter' has them",
    "wer": "it has no shifts; 'ter' has them",
    "pearson": NO_CORRELATION,
    "pearson_corr_coef": NO_CORRELATION,
    "spearman": NO_CORRELATION,
    "spearman_corr_coef": NO_CORRELATION,
    "kendall": NO_CORRELATION,
    "kendall_rank_corr_coef": NO_CORRELATION,
}
TFMA = {
    "fowlkes_mallows_index": "of two partitions it is 'fowlkes_mallows'; of two classes it is the geometric mean of"
    " 'precision' and 'recall'",
    "auc_precision_recall": STEPS,
    "mean_label": "the mean of labels of 0 and 1 is 'ctr'",
    "prevalence": "the share of positive rows is 'ctr'",
    "informedness": "it is 2 * balanced accuracy - 1; write 'balanced_accuracy(adjusted=True)', with prediction=",
    "spearman_correlation": NO_CORRELATION,
    "pearson_correlation": NO_CORRELATION,
}
SCIKIT_LEARN = {"positive_likelihood_ratio": RATIOS, "negative_likelihood_ratio": RATIOS}
SACREBLEU = {
    "bleu@k": "write 'bleu(max_order={k})' for sequences of up to {k} words; in 'bleu' they are 4",
    "chrf@k": "write 'chrf(beta={k})', where the number is its beta; in 'chrf' it is 2",
    **dict.fromkeys(("chrf++", "chrf2++"), "write 'chrf(word_order=2)'"),
}
OF_NO_TOOL = {
    "nll": "the mean negative log-likelihood of labels of 0 and 1 is the log loss; write 'logloss'",
    "negative_log_likelihood": "its mean for labels of 0 and 1 is the log loss; write 'logloss'",
    "neg_log_likelihood": "its mean for labels of 0 and 1 is the log loss; write 'logloss'",
    "cross_entropy_loss": "for labels of 0 and 1 write 'logloss'",
    "bal_acc": "write 'balanced_accuracy'",
    "bacc": "write 'balanced_accuracy'",
    "balanced_acc": "write 'balanced_accuracy'",
    "qwk": "write 'kappa(weights=quadratic)', with prediction=",
    "quadratic_kappa": "write 'kappa(weights=quadratic)', with prediction=",
    "quadratic_weighted_kappa": "write 'kappa(weights=quadratic)', with prediction=",
    "weighted_kappa": "write 'kappa(weights=quadratic)' or 'kappa(weights=linear)', with prediction=",
    "youden": "it is 2 * balanced accuracy - 1; write 'balanced_accuracy(adjusted=True)', with prediction=",
    "youden_j": "it is 2 * balanced accuracy - 1; write 'balanced_accuracy(adjusted=True)', with prediction=",
    "ks_stat": "write 'ks'",
    "ks_2samp": "write 'ks'",
    "kstest": "write 'ks'",
    "top_k": TOP_K,
    "wuauc": "users weighed by impressions are the default of 'gauc'",
    "wgauc": "users weighed by impressions are the default of 'gauc'",
    "wmape": "it is the mean absolute error over the mean label; write 'mae'",
    "rae": "it is over the error of a constant prediction, as 1 - 'd2_absolute_error' is",
    "rse": "it is over the error of a constant prediction, as 1 - 'r2' is",
    "far": ERROR_RATES,
    "frr": ERROR_RATES,
    "false_acceptance_rate": ERROR_RATES,
    "false_rejection_rate": ERROR_RATES,
    "tar": ERROR_RATES,
    "nist": "it is no metric of a log, but a function of texts: fm.corpus_nist",
    "wilcoxon_signed_rank": "it is a test of two models: fm.wilcoxon",
    "recall_at_fpr": ROC_POINT,
    "tpr_at_fpr": ROC_POINT,
    "auuc": "there is no metric of uplift",
    "ace": "its bins have equal numbers of rows; those of 'ece' have equal widths",
    **dict.fromkeys(("spearmanr", "spearman_r", "spearman_rho", "rank_correlation"), NO_CORRELATION),
    **dict.fromkeys(("pearsonr", "pearson_r", "pcc", "corr", "correlation", "pearson_correlation"), NO_CORRELATION),
    **dict.fromkeys(("kendalltau", "kendall_tau", "tau", "kendall_tau_b"), NO_CORRELATION),
}
H2O = {
    "mean_per_class_error": "it is 1 - balanced accuracy; write 'balanced_accuracy', with prediction=",
    "mean_per_class_accuracy": "write 'balanced_accuracy', with prediction=",
    "mean_per_class_recall": "write 'balanced_accuracy', with prediction=",
    "misclassification": ERROR_RATE,
    "misclassification_rate": ERROR_RATE,
    "mean_residual_deviance": "of the normal distribution it is 'mse'; 'tweedie_deviance' has others",
    "lift_top_group": "its group is the first 1 % of rows: write 'lift@1%'",
    "f0point5": "write 'fbeta(beta=0.5)'",
}
R_PACKAGES = {
    "kap": "write 'kappa'",
    "mn_log_loss": "write 'logloss', for several classes with probabilities= their columns",
    "sens": "write 'recall'",
    "spec": "write 'specificity'",
    "bal_accuracy": "write 'balanced_accuracy'",
    "j_index": "it is 2 * balanced accuracy - 1; write 'balanced_accuracy(adjusted=True)', with prediction=",
    "gain_capture": "it is 2 * auc - 1; write 'auc'",
    "brier_class": "write 'brier'",
    "rsq": "it is the squared correlation; 'r2' is 1 - the share of the squared error",
    "rsq_trad": "write 'r2'",
    "mpe": "there is no mean percentage error; 'bias' is the mean error",
    "msd": "it is the mean of label - prediction, and 'bias' that of prediction - label",
    "poisson_log_loss": "it differs from the deviance by terms of the labels alone; write 'poisson_deviance'",
    "roc_aunu": "write 'auc(multi_class=ovr)', with probabilities=",
    "roc_aunp": "write 'auc(multi_class=ovr, average=weighted)', with probabilities=",
    "roc": "the area under it is 'auc'; fm.roc_curve has its points",
    "pos_pred_value": "write 'precision'",
    "neg_pred_value": CLASS_ZERO,
    **dict.fromkeys(("roc_auc_survival", "brier_survival", "concordance_survival"), "survival times have no metric"),
}
PLATFORMS = {
    "mean_error": "the mean of prediction - label is 'bias'",
    "abs_max_error": "write 'max_error'",
    "abs_error_max": "write 'max_error'",
    "fbeta@k": "of ranked lists there is the F1: write 'f1@10'",
    "subset_accuracy": "it is the accuracy of sets of labels; write 'accuracy'",
    "classification_accuracy": "write 'accuracy'",
    "squared": "write 'mse'",
    "logistic": "write 'logloss'",
    "precision_at_target_recall": CURVE_POINT,
    "wql": "the weighted quantile loss is over the sum of the labels; write 'pinball(alpha=0.9)'",
    "nist_mt": "it is no metric of a log, but a function of texts: fm.corpus_nist",
    "google_bleu": "it is of sentences, with the smaller of precision and recall, which no metric has",
    **dict.fromkeys(("mase", "rmsse"), "there is no error over that of a naive forecast"),
    "cer": "there is no error rate of characters",
}
RECOMMENDATION = {
    "wauc": "users weighed by impressions are the default of 'gauc'",
    "lauc": "the area of the first items of a list is 'auc@10'",
    "exp_var": "write 'explained_variance'",
    "ndcg_rendle2020": "relevant rows gain 1: write 'ndcg(gain=binary)@10'",
    "mar": "there is no mean average recall",
    "arp": "there is no measure of popularity",
    "popularity_bias": "there is no measure of popularity",
    "item_bias": "there is no measure of items over all lists",
    **dict.fromkeys(("gini_index", "s_entropy", "s_recall", "coverage"), "there is no measure of items over all lists"),
}
TREC_EVAL = {
    "ndcg_cut": "it is one of a cutoff; write 'ndcg@10'",
    "map_cut": "it is one of a cutoff; write 'map(normalize=relevant)@10'",
}

for names in (
    XGBOOST, LIGHTGBM, CATBOOST, KERAS, MLFLOW, TORCHREC, TORCHMETRICS, TFMA, SCIKIT_LEARN, SACREBLEU, TREC_EVAL, H2O,
    R_PACKAGES, PLATFORMS, RECOMMENDATION, OF_NO_TOOL,
):  # fmt: skip
    explain_names(names)
