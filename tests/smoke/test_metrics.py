"""Every metric string through `evaluate`, on one small log for each kind of columns.

The value is that of the public function of the same definition, which the tables of the families hold to numbers.
"""

import pytest

import fastmetrics as fm

from .cases import plain

pytestmark = pytest.mark.smoke

CLICKS = {
    "label": [1, 0, 1, 0, 0, 1],
    "score": [0.75, 0.25, 0.5, 0.5, 0.125, 0.25],
    "group": ["ann", "ann", "ann", "bob", "bob", "bob"],
}
RELEVANCE = {"label": [0, 2, 0, 1, 1, 0, 0], "score": [4, 3, 2, 1, 3, 2, 1], "group": [1, 1, 1, 1, 2, 2, 2]}
NUMBERS = {"label": [3.0, 1.0, 4.0, 2.0], "score": [3.0, 1.0, 5.0, 3.0]}
PARTITIONS = {"label": ["cat", "cat", "dog", "dog", "dog", "owl"], "cluster": [1, 1, 2, 2, 1, 3]}
LABELS = {"label": ["a", "b", "b", "c"], "prediction": ["a", "b", "c", "a"]}
TAGS = {"label": [[0, 2], [1], []], "score": [[0.5, 0.25, 0.75], [0.5, 0.5, 0.125], [1.0, 0.0, 2.0]]}
TEXTS = {
    "reference": ["the cat is on the mat", "he went home"],
    "hypothesis": ["the cat sat on the mat", "he went to his home"],
}

PREDICTED = [int(score >= 0.5) for score in CLICKS["score"]]
EXACT = ("exact",)


def of_predictions(function, **options):
    return function(CLICKS["label"], PREDICTED, **options)


def of_scores(function, **options):
    return function(CLICKS["label"], CLICKS["score"], **options)


def of_lists(function, **options):
    return function(RELEVANCE["label"], RELEVANCE["score"], RELEVANCE["group"], **options)


def of_sets(function):
    return function([[number in row for number in range(3)] for row in TAGS["label"]], TAGS["score"])


def of_numbers(function, **options):
    return function(NUMBERS["label"], NUMBERS["score"], **options)


def of_partitions(function, **options):
    return function(PARTITIONS["label"], PARTITIONS["cluster"], **options)


def of_texts(function, **options):
    return function(TEXTS["hypothesis"], TEXTS["reference"], **options)


# A metric needs a line if no CHECKED_VALUES stand beside its function (test_stated_values.py).
# The name in `list_metrics()`: the metric string, and a call that gives its value.
BINARY = {
    "accuracy": ("accuracy", lambda: of_predictions(fm.accuracy_score)),
    "balanced_accuracy": ("balanced_accuracy", lambda: of_predictions(fm.balanced_accuracy_score)),
    "f1": ("f1", lambda: of_predictions(fm.f1_score)),
    "fbeta": ("fbeta(beta=2)", lambda: of_predictions(fm.fbeta_score, beta=2)),
    "gmean": ("gmean", lambda: of_predictions(fm.geometric_mean_score)),
    "jaccard": ("jaccard", lambda: of_predictions(fm.jaccard_score)),
    "kappa": ("kappa", lambda: of_predictions(fm.cohen_kappa_score)),
    "mcc": ("mcc", lambda: of_predictions(fm.matthews_corrcoef)),
    "partial_auc": ("partial_auc(max_fpr=0.5)", lambda: of_scores(fm.partial_auc_score, max_fpr=0.5)),
    "precision": ("precision", lambda: of_predictions(fm.precision_score)),
    "recall": ("recall", lambda: of_predictions(fm.recall_score)),
    "specificity": ("specificity", lambda: of_predictions(fm.specificity_score)),
    "ap": ("ap", lambda: of_scores(fm.average_precision_score)),
    "auc": ("auc", lambda: of_scores(fm.roc_auc_score)),
    "best_threshold": ("best_threshold", lambda: of_scores(fm.best_threshold)),
    "eer": ("eer", lambda: of_scores(fm.equal_error_rate)),
    "ks": ("ks", lambda: of_scores(fm.ks_statistic)),
    "brier": ("brier", lambda: of_scores(fm.brier_score_loss)),
    "ctr": ("ctr", lambda: 3 / 6),
    "logloss": ("logloss", lambda: of_scores(fm.log_loss)),
    "ne": ("ne", lambda: of_scores(fm.normalized_entropy)),
    "ece": ("ece(n_bins=3)", lambda: of_scores(fm.expected_calibration_error, n_bins=3)),
    "gauc": ("gauc", lambda: of_scores(fm.gauc_score, groups=CLICKS["group"])),
}
GRADED = {
    "auc@k": ("auc@2", lambda: of_lists(fm.auc_at_k, k=2)),
    "bpref": ("bpref", lambda: of_lists(fm.bpref)),
    "cg": ("cg@2", lambda: of_lists(fm.cumulative_gain, k=2)),
    "dcg": ("dcg@2", lambda: of_lists(fm.dcg_score, k=2)),
    "err": ("err", lambda: of_lists(fm.expected_reciprocal_rank)),
    "f1@k": ("f1@2", lambda: of_lists(fm.f1_at_k, k=2)),
    "hr@k": ("hr@1", lambda: of_lists(fm.hit_rate, k=1)),
    "idcg": ("idcg@2", lambda: of_lists(fm.ideal_dcg, k=2)),
    "map": ("map", lambda: of_lists(fm.mean_average_precision)),
    "mind_mrr": ("mind_mrr", lambda: of_lists(fm.mind_mrr)),
    "mrr": ("mrr", lambda: of_lists(fm.mean_reciprocal_rank)),
    "ndcg": ("ndcg(gain=exp2)@2", lambda: of_lists(fm.ndcg_score, gain="exp2", k=2)),
    "p@k": ("p@2", lambda: of_lists(fm.precision_at_k, k=2)),
    "rbp": ("rbp(p=0.5)", lambda: of_lists(fm.rank_biased_precision, p=0.5)),
    "recall@k": ("recall@2", lambda: of_lists(fm.recall_at_k, k=2)),
    "rprec": ("rprec", lambda: of_lists(fm.r_precision)),
}
REAL = {
    "bias": ("bias", lambda: (1 + 1) / 4),
    "d2_absolute_error": ("d2_absolute_error", lambda: of_numbers(fm.d2_absolute_error_score)),
    "d2_pinball": ("d2_pinball(alpha=0.25)", lambda: of_numbers(fm.d2_pinball_score, alpha=0.25)),
    "d2_tweedie": ("d2_tweedie(power=1)", lambda: of_numbers(fm.d2_tweedie_score, power=1)),
    "gamma_deviance": ("gamma_deviance", lambda: of_numbers(fm.mean_gamma_deviance)),
    "mae": ("mae", lambda: of_numbers(fm.mean_absolute_error)),
    "max_error": ("max_error", lambda: of_numbers(fm.max_error)),
    "median_ae": ("median_ae", lambda: of_numbers(fm.median_absolute_error)),
    "mape": ("mape", lambda: of_numbers(fm.mean_absolute_percentage_error)),
    "mse": ("mse", lambda: of_numbers(fm.mean_squared_error)),
    "msle": ("msle", lambda: of_numbers(fm.mean_squared_log_error)),
    "pinball": ("pinball(alpha=0.25)", lambda: of_numbers(fm.mean_pinball_loss, alpha=0.25)),
    "poisson_deviance": ("poisson_deviance", lambda: of_numbers(fm.mean_poisson_deviance)),
    "explained_variance": ("explained_variance", lambda: of_numbers(fm.explained_variance_score)),
    "r2": ("r2", lambda: of_numbers(fm.r2_score)),
    "rmse": ("rmse", lambda: of_numbers(fm.root_mean_squared_error)),
    "rmsle": ("rmsle", lambda: of_numbers(fm.root_mean_squared_log_error)),
    "xauc": ("xauc", lambda: of_numbers(fm.xauc)),
    "tweedie_deviance": ("tweedie_deviance(power=1)", lambda: of_numbers(fm.mean_tweedie_deviance, power=1)),
}
PARTITION = {
    "ami": ("ami", lambda: of_partitions(fm.adjusted_mutual_info_score)),
    "ari": ("ari", lambda: of_partitions(fm.adjusted_rand_score)),
    "completeness": ("completeness", lambda: of_partitions(fm.completeness_score)),
    "fowlkes_mallows": ("fowlkes_mallows", lambda: of_partitions(fm.fowlkes_mallows_score)),
    "homogeneity": ("homogeneity", lambda: of_partitions(fm.homogeneity_score)),
    "mutual_info": ("mutual_info", lambda: of_partitions(fm.mutual_info_score)),
    "nmi": ("nmi", lambda: of_partitions(fm.normalized_mutual_info_score)),
    "pair_jaccard": ("pair_jaccard", lambda: of_partitions(fm.pair_jaccard_score)),
    "purity": ("purity", lambda: of_partitions(fm.purity_score)),
    "rand": ("rand", lambda: of_partitions(fm.rand_score)),
    "v_measure": ("v_measure(beta=0.5)", lambda: of_partitions(fm.v_measure_score, beta=0.5)),
}
SETS = {
    "lrap": ("lrap", lambda: of_sets(fm.label_ranking_average_precision_score)),
    "ranking_loss": ("ranking_loss", lambda: of_sets(fm.label_ranking_loss)),
    "coverage_error": ("coverage_error", lambda: of_sets(fm.coverage_error)),
}
PREDICTION = {
    "hamming": ("hamming", lambda: fm.hamming_loss(LABELS["label"], LABELS["prediction"])),
}
TEXT = {
    "bleu": ("bleu", lambda: of_texts(fm.corpus_bleu).score),
    "chrf": ("chrf(word_order=2)", lambda: of_texts(fm.corpus_chrf, word_order=2).score),
    "meteor": (f"meteor(modules={EXACT})", lambda: of_texts(fm.corpus_meteor, modules=EXACT).score),
    "ter": ("ter", lambda: of_texts(fm.corpus_ter).score),
    "rouge1": ("rouge1", lambda: of_texts(fm.rouge_score)["rouge1"].fmeasure),
    "rouge2": ("rouge2", lambda: of_texts(fm.rouge_score)["rouge2"].fmeasure),
    "rougeL": ("rougeL", lambda: of_texts(fm.rouge_score)["rougeL"].fmeasure),
    "rougeLsum": ("rougeLsum", lambda: of_texts(fm.rouge_score)["rougeLsum"].fmeasure),
}

ANIMALS = {"class": [0, 1, 2, 1], "chance": [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]}
CLASSES = {
    "top_k_accuracy@k": (
        "top_k_accuracy@2", lambda: fm.top_k_accuracy_score(ANIMALS["class"], ANIMALS["chance"], k=2),
    ),
}  # fmt: skip

COLUMNS = {"label": "label", "score": "score"}
KINDS = [
    (CLICKS, {**COLUMNS, "group": "group"}, BINARY),
    (RELEVANCE, {**COLUMNS, "group": "group"}, GRADED),
    (NUMBERS, COLUMNS, REAL),
    (PARTITIONS, {}, PARTITION),
    (TAGS, COLUMNS, SETS),
    (LABELS, {"label": "label", "prediction": "prediction"}, PREDICTION),
    (TEXTS, {}, TEXT),
    (ANIMALS, {"label": "class", "probabilities": "chance"}, CLASSES),
]
CASES = [
    pytest.param(log, columns, metric, expected, id=name)
    for log, columns, metrics in KINDS
    for name, (metric, expected) in metrics.items()
]
NAMES = [name for _, _, metrics in KINDS for name in metrics]


@pytest.mark.parametrize(("log", "columns", "metric", "expected"), CASES)
def test_value(log, columns, metric, expected):
    assert [result.value for result in fm.evaluate(log, [metric], **columns).results] == [plain(expected())]
