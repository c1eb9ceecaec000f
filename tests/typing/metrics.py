"""Types of the metric functions, as a type checker reveals them. Read by mypy, never run."""

from typing import Any, reveal_type

import numpy as np
from numpy.typing import NDArray

import fastmetrics as fm

labels = [0, 1, 1, 0]
scores = np.array([0.1, 0.9, 0.4, 0.3], np.float32)
users = ["ann", "bob", "ann", "bob"]
weights: NDArray[np.float64] = np.ones(4)

revealed: list[object] = [
    reveal_type(fm.roc_auc_score(labels, scores)),  # reveals: float
    reveal_type(fm.roc_auc_score(labels, scores, sample_weight=weights, max_fpr=0.5, n_threads=2)),  # reveals: float
    reveal_type(fm.roc_auc_score(users, [[0.2, 0.8]] * 4, average="weighted", multi_class="ovo")),  # reveals: float
]
areas: NDArray[np.float64] = fm.roc_auc_score(users, [[0.2, 0.8]] * 4, average=None, multi_class="ovr")
areas = fm.average_precision_score([[0, 1], [1, 0]], [[0.2, 0.8]] * 2, average=None)
revealed = [
    reveal_type(fm.ks_statistic(labels, scores)),  # reveals: float
    reveal_type(fm.partial_auc_score(labels, scores, max_fpr=0.1, standardize=True)),  # reveals: float
    reveal_type(fm.average_precision_score(labels, scores, pos_label=1)),  # reveals: float
    reveal_type(fm.equal_error_rate(labels, scores, method="mean").threshold),  # reveals: float
    reveal_type(fm.best_threshold(labels, scores, metric="f1").threshold),  # reveals: float
    reveal_type(fm.auc([0.0, 1.0], [0.0, 1.0])),  # reveals: float
]
order = fm.ScoreOrder(labels, scores, n_threads=2)
reveal_type(order.roc_auc_score(max_fpr=0.5))  # reveals: float
best: fm.BestThreshold = order.best_threshold(metric="mcc")
crossing: fm.EqualErrorRate = order.equal_error_rate()
curves: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = [
    fm.roc_curve(labels, scores, drop_intermediate=False),
    fm.precision_recall_curve(labels, scores),
    fm.det_curve(labels, scores),
    fm.far_frr_curve(labels, scores),
    fm.lift_curve(labels, scores),
    fm.confusion_matrix_at_thresholds(labels, scores)[2:],
]
values_and_thresholds: tuple[NDArray[Any], NDArray[Any]] = fm.metric_at_thresholds(labels, scores, fm.accuracy_score)
revealed = [
    reveal_type(fm.log_loss(labels, scores, normalize=False, eps=1e-7)),  # reveals: float
    reveal_type(fm.log_loss(["a", "b", "b", "a"], scores, labels=["a", "b"], sampling_rate=0.1)),  # reveals: float
    reveal_type(fm.d2_log_loss_score(labels, scores)),  # reveals: float
    reveal_type(fm.hinge_loss(labels, scores)),  # reveals: float
    reveal_type(fm.clipped_rows(labels, scores, eps=1e-3)),  # reveals: int
    reveal_type(fm.brier_score_loss(labels, scores, scale_by_half=True)),  # reveals: float
    reveal_type(fm.d2_brier_score(labels, scores, pos_label=1)),  # reveals: float
    reveal_type(fm.negative_log_likelihood(scores, kind="prob", reduction="sum")),  # reveals: float
    reveal_type(fm.normalized_entropy(labels, scores, base_rate=0.05)),  # reveals: float
    reveal_type(fm.copc(labels, scores)),  # reveals: float
    reveal_type(fm.pcoc(labels, scores)),  # reveals: float
    reveal_type(fm.expected_calibration_error(labels, scores, n_bins=10, strategy="quantile")),  # reveals: float
]
prob_true, prob_pred = fm.calibration_curve(labels, scores, n_bins=3, strategy="quantile")
rates: list[NDArray[Any]] = [prob_true, prob_pred]
revealed = [
    reveal_type(fm.coverage_error([[0, 1]], [[0.2, 0.8]], n_threads=1)),  # reveals: float
    reveal_type(fm.label_ranking_average_precision_score([[0, 1]], [[0.2, 0.8]])),  # reveals: float
    reveal_type(fm.label_ranking_loss([[0, 1]], [[0.2, 0.8]], sample_weight=[1])),  # reveals: float
    reveal_type(fm.gauc_score(labels, scores, users, weight="pairs")),  # reveals: float
    reveal_type(fm.ndcg_score(labels, scores, users, k=10)),  # reveals: float
    reveal_type(fm.dcg_score(labels, scores, log_base=2, ignore_ties=True)),  # reveals: float
    reveal_type(fm.ideal_dcg(labels, scores, offsets=[0, 2])),  # reveals: float
    reveal_type(fm.cumulative_gain(labels, scores, users, k=[1, 2])),  # reveals: NDArray[float64]
    reveal_type(fm.mean_average_precision(labels, scores, users, normalize="relevant")),  # reveals: float
    reveal_type(fm.average_precision_at_k(labels, scores, users, k=3)),  # reveals: float
    reveal_type(fm.mean_reciprocal_rank(labels, scores, users, ties="docid", items=users)),  # reveals: float
    reveal_type(fm.mind_mrr(labels, scores, users)),  # reveals: float
    reveal_type(fm.expected_reciprocal_rank(labels, scores, users, max_grade=3)),  # reveals: float
    reveal_type(fm.rank_biased_precision(labels, scores, users, p=0.9)),  # reveals: float
    reveal_type(fm.hit_rate(labels, scores, users, k=1, average="micro")),  # reveals: float
    reveal_type(fm.precision_at_k(labels, scores, users, k=1, short_list="n")),  # reveals: float
    reveal_type(fm.recall_at_k(labels, scores, users, k=1, empty="skip")),  # reveals: float
    reveal_type(fm.f1_at_k(labels, scores, users, k=1)),  # reveals: float
    reveal_type(fm.r_precision(labels, scores, users, relevance_level=2)),  # reveals: float
    reveal_type(fm.bpref(labels, scores, users)),  # reveals: float
    reveal_type(fm.auc_at_k(labels, scores, users, k=2)),  # reveals: float
    reveal_type(fm.ranking_by_group(labels, scores, users, ["ndcg@10"])),  # reveals: RankingTable
]

revealed = [
    reveal_type(fm.accuracy_score(labels, labels, normalize=False)),  # reveals: float
    reveal_type(fm.zero_one_loss(labels, labels, sample_weight=weights)),  # reveals: float
    reveal_type(fm.hamming_loss([[0, 1]], [[1, 1]])),  # reveals: float
    reveal_type(fm.balanced_accuracy_score(labels, labels, adjusted=True)),  # reveals: float
    reveal_type(fm.matthews_corrcoef(labels, labels, n_threads=2)),  # reveals: float
    reveal_type(fm.cohen_kappa_score(labels, labels, weights="linear", replace_undefined_by=0.0)),  # reveals: float
    reveal_type(fm.top_k_accuracy_score(labels, scores, k=1)),  # reveals: float
]
matrices: list[NDArray[Any]] = [
    fm.confusion_matrix(["a", "b"], ["a", "a"], labels=["b", "a"], normalize="true"),
    fm.multilabel_confusion_matrix(labels, labels, samplewise=False),
]
revealed = [
    reveal_type(fm.precision_score(labels, labels)),  # reveals: float
    reveal_type(fm.recall_score(labels, labels, average="macro", zero_division=1)),  # reveals: float
    reveal_type(fm.f1_score(labels, labels, pos_label="yes", sample_weight=weights)),  # reveals: float
    reveal_type(fm.f1_score(labels, labels, average="macro", macro="f_of_means")),  # reveals: float
    reveal_type(fm.fbeta_score(labels, labels, beta=0.5, labels=[1])),  # reveals: float
    reveal_type(fm.adjusted_mutual_info_score(labels, labels)),  # reveals: float
    reveal_type(fm.completeness_score(labels, labels)),  # reveals: float
    reveal_type(fm.homogeneity_completeness_v_measure(labels, labels)),  # reveals: tuple[float, float, float]
    reveal_type(fm.homogeneity_score(labels, labels)),  # reveals: float
    reveal_type(fm.mutual_info_score(labels, labels)),  # reveals: float
    reveal_type(fm.normalized_mutual_info_score(labels, labels)),  # reveals: float
    reveal_type(fm.v_measure_score(labels, labels)),  # reveals: float
    reveal_type(fm.jaccard_score(labels, labels, n_threads=1)),  # reveals: float
    reveal_type(fm.specificity_score(labels, labels)),  # reveals: float
    reveal_type(fm.geometric_mean_score(labels, labels, correction=0.001)),  # reveals: float
    reveal_type(fm.class_likelihood_ratios(labels, labels, replace_undefined_by=1.0)),  # reveals: tuple[float, float]
    reveal_type(fm.classification_report(labels, labels, digits=3)),  # reveals: str
    reveal_type(fm.classification_report(labels, labels, output_dict=True)),  # reveals: dict[str, Any]
    reveal_type(fm.precision_recall_fscore_support(labels, labels, average="micro")[2]),  # reveals: float
]
per_label: list[NDArray[np.float64]] = [
    fm.precision_score(labels, labels, average=None),
    fm.recall_score(labels, labels, average=None),
    fm.f1_score(labels, labels, average=None),
    fm.fbeta_score(labels, labels, beta=2, average=None),
    fm.jaccard_score(labels, labels, average=None),
    fm.specificity_score(labels, labels, average=None),
    fm.geometric_mean_score(labels, labels, average=None),
    *fm.precision_recall_fscore_support(labels, labels)[:3],
]

run = fm.read_run("bm25.run")
revealed = [
    reveal_type(run),  # reveals: TrecRun
    reveal_type(run.tag),  # reveals: str
]
qrels = fm.read_qrels("qrels.txt.gz", n_threads=2)
reveal_type(qrels)  # reveals: TrecQrels
columns_of_files: list[NDArray[Any]] = [run.score, qrels.relevance, run.query.starts]

result = fm.evaluate_trec(qrels, "bm25.run", ["map", "P.5,10"], relevance_level=2, complete=True)
revealed = [
    reveal_type(result),  # reveals: TrecResult
    reveal_type(result["map"]),  # reveals: float | int | str
    reveal_type(result.to_dict()),  # reveals: dict[str, dict[str, float | int | str | None]]
]
measure_names: tuple[str, ...] = fm.trec_metric_names("official")

ranked = fm.evaluate_ranking({"q": {"d": 1}}, {"q": {"d": 0.5}}, ["map", "mrr"], ties="docid", sample_weight={"q": 2.0})
revealed = [
    reveal_type(ranked),  # reveals: RankingResult
    reveal_type(ranked["map"]),  # reveals: float
    reveal_type(dict(ranked)),  # reveals: dict[Any, float]
    reveal_type(ranked.per_query),  # reveals: RankingTable
    reveal_type(ranked.signature("map")),  # reveals: str
]
recommended: fm.RankingResult = fm.evaluate_recommendations([{1}], [[1, 2]], "hr@1", padding=-1)

table = fm.auc_by_group(labels, scores, users)
revealed = [
    reveal_type(table),  # reveals: GroupTable
    reveal_type(len(table)),  # reveals: int
]
columns: list[NDArray[Any]] = [table.group, table.auc, table.n, table.n_positives]

targets = [1.5, 2.0, 0.5, 3.0]
errors: fm.ErrorTable = fm.errors_by_group(targets, scores, users)
reveal_type(errors)  # reveals: ErrorTable
columns = [errors.group, errors.n, errors.bias, errors.mse, errors.mae]
revealed = [
    reveal_type(fm.xauc(targets, scores, sample_weight=weights)),  # reveals: float
    reveal_type(fm.max_error(targets, scores, n_threads=1)),  # reveals: float
    reveal_type(fm.mean_tweedie_deviance(targets, scores, power=3)),  # reveals: float
    reveal_type(fm.mean_poisson_deviance(targets, scores, sample_weight=weights)),  # reveals: float
    reveal_type(fm.mean_gamma_deviance(targets, scores)),  # reveals: float
    reveal_type(fm.d2_tweedie_score(targets, scores, power=1.5)),  # reveals: float
]
# A number, or with "raw_values" an array of one for each output.
error: float = fm.mean_squared_error(targets, scores, sample_weight=weights)
error = fm.root_mean_squared_error(targets, scores)
error = fm.mean_absolute_error(targets, scores, multioutput=[0.5, 0.5])
error = fm.mean_absolute_percentage_error(targets, scores)
error = fm.mean_squared_log_error(targets, scores)
error = fm.root_mean_squared_log_error(targets, scores)
error = fm.median_absolute_error(targets, scores, sample_weight=weights)
error = fm.mean_pinball_loss(targets, scores, alpha=0.9)
error = fm.explained_variance_score(targets, scores)
error = fm.d2_absolute_error_score(targets, scores)
error = fm.d2_pinball_score(targets, scores, alpha=0.1)
per_output: NDArray[np.float64] = fm.r2_score(targets, scores, multioutput="raw_values", force_finite=False)

bleu = fm.corpus_bleu(["a b"], ["a c"])
revealed = [
    reveal_type(bleu.score),  # reveals: float
    reveal_type(bleu.precisions),  # reveals: tuple[float, ...]
]
bleu_of_one: fm.BleuScore = fm.sentence_bleu("a b", ["a c", "b"])
chrf = fm.corpus_chrf(["a b"], [["a c"], [None]], word_order=2)
revealed = [
    reveal_type(chrf.score),  # reveals: float
    reveal_type(chrf.statistics),  # reveals: tuple[int, ...]
]
chrf_of_one: fm.ChrfScore = fm.sentence_chrf("a b", ["a c", "b"])
meteor = fm.corpus_meteor(["a b"], [["a c", "b"]], modules=("exact", "stem"))
revealed = [
    reveal_type(meteor.score),  # reveals: float
    reveal_type(meteor.chunks),  # reveals: int
]
meteor_of_one: fm.MeteorScore = fm.sentence_meteor("a b", ["a c", "b"], alignment="nltk")
nist = fm.corpus_nist(["a b"], [["a c", "a"]], lowercase=True)
reveal_type(nist.cumulative)  # reveals: tuple[float, ...]
nist_of_one: fm.NistScore = fm.sentence_nist("a b", ["a c", "b"])
statistics: fm.SegmentStatistics = fm.segment_statistics("bleu", ["a b"], ["a c"])
rouge: fm.RougeResult = fm.rouge_score(["a b"], ["a c"], ["rouge1", "rougeL"])
revealed = [
    reveal_type(rouge["rouge1"]),  # reveals: RougeScore
    reveal_type(rouge["rouge1"].fmeasure),  # reveals: float
    reveal_type(rouge["rouge1"].fmeasures),  # reveals: NDArray[float64]
]
ter = fm.corpus_ter(["a b"], ["a c"], normalized=True)
reveal_type(ter.num_edits)  # reveals: int
ter_of_one: fm.TerScore = fm.sentence_ter("a b", ["a c", "b"])
revealed = [
    reveal_type(fm.tokenize("a b")),  # reveals: list[str]
    reveal_type(fm.tokenize(["a b"], "intl")),  # reveals: list[list[str]]
    reveal_type(fm.perplexity([[-1.0, -2.0], [-3.0]], base=2, level="sequence")),  # reveals: float
    reveal_type(fm.token_nll(scores, offsets=[0, 2], reduction="sum")),  # reveals: float
]
per_sequence = fm.token_nll(scores, level="sequence", reduction="none")
reveal_type(per_sequence)  # reveals: NDArray[float64]

revealed = [
    reveal_type(fm.read_segments("output.txt")),  # reveals: TextFile
    reveal_type(fm.read_segments("output.txt")[0]),  # reveals: str
]

revealed = [
    reveal_type(fm.contingency_matrix(labels, labels, n_threads=1)),  # reveals: NDArray[int64]
    reveal_type(fm.pair_confusion_matrix(labels, labels)),  # reveals: NDArray[int64]
    reveal_type(fm.rand_score(labels, labels)),  # reveals: float
    reveal_type(fm.adjusted_rand_score(labels, labels, n_threads=1)),  # reveals: float
    reveal_type(fm.fowlkes_mallows_score(labels, labels)),  # reveals: float
    reveal_type(fm.pair_jaccard_score(labels, labels)),  # reveals: float
    reveal_type(fm.purity_score(labels, labels)),  # reveals: float
    reveal_type(fm.entropy(labels)),  # reveals: float
    reveal_type(fm.expected_mutual_information([[1, 2], [0, 3]], 6)),  # reveals: float
    reveal_type(fm.jaccard_distance({1, 2}, {2})),  # reveals: float
]
points = [[0.0], [1.0], [4.0], [6.0]]
revealed = [
    reveal_type(fm.silhouette_samples(points, labels)),  # reveals: NDArray[float64]
    reveal_type(fm.silhouette_score(points, labels, sample_size=3, random_state=0)),  # reveals: float
    reveal_type(fm.calinski_harabasz_score(points, labels)),  # reveals: float
    reveal_type(fm.davies_bouldin_score(points, labels)),  # reveals: float
]
found_map = fm.coco_map({"image": [1], "category": [1], "box": [[0, 0, 2, 2]]}, "found.json")
revealed = [
    reveal_type(found_map),  # reveals: CocoResult
    reveal_type(found_map.map_50),  # reveals: float
    reveal_type(found_map.per_class),  # reveals: CategoryTable
    reveal_type(found_map["mar_100"]),  # reveals: float
]

overlaps = fm.box_iou([[0, 0, 2, 2]], [[1, 1, 2, 2]], box="xywh", crowd=[0])
reveal_type(overlaps)  # reveals: NDArray[float64]
voc = fm.voc_map("VOC2007/Annotations", "results", interpolation="voc11", images="test.txt")
revealed = [
    reveal_type(voc),  # reveals: VocResult
    reveal_type(voc.map),  # reveals: float
    reveal_type(voc.per_class["car"].ap),  # reveals: float
]

pixels = np.ones((1, 2, 3), np.uint8)
revealed = [
    reveal_type(fm.encode_masks(pixels)),  # reveals: list[dict[str, Any]]
    reveal_type(fm.decode_masks([{"size": [2, 3], "counts": [6]}])),  # reveals: NDArray[uint8]
    reveal_type(fm.mask_areas(pixels)),  # reveals: NDArray[int64]
    reveal_type(fm.mask_iou(pixels, pixels, crowd=[False])),  # reveals: NDArray[float64]
]

fit: fm.SignificanceResult = fm.chi2_test([3, 7], [5, 5])
odds: fm.Estimate = fm.Estimate("odds ratio", 1.5, (0.5, 4.5))
revealed = [
    reveal_type(fit.pvalue),  # reveals: float
    reveal_type(fit.interval),  # reveals: tuple[float, float] | None
]
for one in fit.estimates:
    reveal_type(one.interval)  # reveals: tuple[float, float] | None
revealed = [
    reveal_type(fm.two_proportion_test(3, 10, 5, 10).estimate("lift").interval),  # reveals: tuple[float, float] | None
    reveal_type(fm.mcnemar_test(3, 9, method="mid-p").effect_size),  # reveals: float
    reveal_type(fm.paired_t_test([1.0, 2.0], [3.0, 5.0]).n),  # reveals: int
    reveal_type(fm.wilcoxon([1.0, 2.0], [3.0, 5.0]).method),  # reveals: str
]
tukey: fm.TukeyResult = fm.tukey_hsd([1.0, 2.0], [3.0, 5.0], paired=True)
revealed = [
    reveal_type(tukey.pair(0, 1).pvalue),  # reveals: float
    reveal_type(fm.holm([0.01, 0.04])),  # reveals: NDArray[float64]
    reveal_type(fm.benjamini_hochberg([0.01, 0.04])),  # reveals: NDArray[float64]
]

runs = fm.compare_runs({"q": {"d": 1}}, {"a": {"q": {"d": 0.5}}, "b": {"q": {"e": 0.5}}}, "map", test=fm.sign_flip_test)
reveal_type(runs["map"].pvalue)  # reveals: float
systems: fm.TextComparison = fm.compare_texts({"a": ["x y"], "b": ["x z"]}, ["x y"], ["bleu", "chrf"])
reveal_type(systems["bleu"].interval)  # reveals: tuple[float, float] | None
of_system: fm.SystemScore = systems.systems["a"]["bleu"]
reveal_type(of_system.score)  # reveals: float
flips: fm.SignificanceResult = fm.sign_flip_test([0.3, 0.2], [0.1, 0.4], sample_weight=[1, 2])

listed: fm.MetricTable = fm.list_metrics(family="ranking", exchange="hash")
entry: fm.MetricSpec = listed["ndcg@10"]
revealed = [
    reveal_type(fm.list_metrics()),  # reveals: MetricTable
    reveal_type(list(listed)),  # reveals: list[str]
    reveal_type(listed.rows),  # reveals: tuple[TableRow, ...]
    reveal_type(listed.rows[0].metric),  # reveals: Any
    reveal_type(listed.to_dict()),  # reveals: dict[str, dict[str, str]]
    reveal_type(entry.roles),  # reveals: Mapping[str, Kind]
]
for spec in fm.list_metrics().values():
    reveal_type(spec.name)  # reveals: str
    reveal_type(spec.parameters)  # reveals: dict[str, Any]

# Wrong calls are errors: under --strict an ignore that nothing needs is itself an error.
fm.roc_auc_score(labels)  # type: ignore[call-overload]
fm.roc_auc_score(labels, scores, n_threads="2")  # type: ignore[call-overload]
fm.gauc_score(labels, scores)  # type: ignore[call-arg]
fm.expected_calibration_error(labels, scores, n_bins=0.5)  # type: ignore[arg-type]
fm.fbeta_score(labels, labels)  # type: ignore[call-overload]
fm.f1_score(labels, labels, average=3)  # type: ignore[call-overload]
fm.roc_auc(labels, scores)  # type: ignore[attr-defined]
fm.accuracy_score(labels, labels, True)  # type: ignore[call-arg]
fm.top_k_accuracy_score(labels, scores, k="2")  # type: ignore[arg-type]

coco = fm.COCO("instances.json")
revealed = [
    reveal_type(coco.loadRes("detections.json")),  # reveals: COCO
    reveal_type(coco.getAnnIds(imgIds=[1], iscrowd=False)),  # reveals: list[Any]
]
evaluation = fm.COCOeval(coco, coco.loadRes([]), "bbox")
reveal_type(evaluation.evaluate())  # reveals: None
area: fm.AucInterval = fm.roc_auc_interval(labels, scores, groups=users, method="logit")
reveal_type(area.standard_error)  # reveals: float
models: fm.SignificanceResult = fm.delong_test(labels, scores, scores, alternative="greater", ci=None)
