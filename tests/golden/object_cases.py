"""Calls of the public functions of texts, runs, files, boxes, masks, points and samples, and of the public classes."""

import contextlib
import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import fastmetrics as fm
from golden import data
from golden.run_cases import RANKED, in_files, of_runs

Cases = dict[str, Callable[[], Any]]
RANKED += ["err", "rbp", "cg@2", "dcg", "idcg", "auc@3", "mind_mrr"]


def object_cases() -> Cases:
    return (
        of_samples()
        | of_points()
        | of_boxes()
        | of_runs()
        | of_texts()
        | of_likelihoods()
        | of_score_order()
        | of_comparisons()
        | of_tables()
        | of_spellings()
        | {"auc": lambda: fm.auc([0.0, 0.25, 0.5, 1.0], [0.0, 0.5, 0.625, 1.0])}
        | {"auc of falling x": lambda: fm.auc(np.array([3, 2, 1]), np.array([1, 2, 4]))}
        | {"entropy": lambda: fm.entropy(["a", "b", "b", "", "a", "b"])}
        | {"expected_mutual_information": lambda: fm.expected_mutual_information(np.array([[5, 2], [1, 9]]), 17)}
        | {"metric_at_thresholds": lambda: fm.metric_at_thresholds([0, 1, 1], [0.25, 0.5, 0.125], fm.f1_score)}
    )


def of_samples() -> Cases:
    log = data.click_log(50, 3)
    a, b = log["target"], log["forecast"]
    small, other = a[:9], b[:9]
    label, first, second, group = log["label"], log["prob"], log["second"], log["group"]
    right, also = log["label"] == log["pred"], log["other"] == log["pred"]
    table = np.array([[10, 20, 7], [30, 25, 9]])
    p = [0.01, 0.04, 0.03, 0.5, 0.005, 0.04]
    sides = ("two-sided", "less", "greater")
    cases: Cases = {
        "benjamini_hochberg": lambda: fm.benjamini_hochberg(p),
        "benjamini_hochberg of nothing": lambda: fm.benjamini_hochberg([]),
        "holm": lambda: fm.holm(p),
        "holm of an array": lambda: fm.holm(np.array(p)[::2]),
        "chi2_test of counts": lambda: fm.chi2_test([3, 7], [5, 5]),
        "chi2_test of equal counts": lambda: fm.chi2_test([3, 7, 11], ddof=1),
        "chi2_test of a table": lambda: fm.chi2_test(table),
        "chi2_test of two by two": lambda: fm.chi2_test(table[:, :2]),
        "chi2_test without correction": lambda: fm.chi2_test(table[:, :2], correction=False, ci=None),
        "mcnemar_test of columns": lambda: fm.mcnemar_test(right, also),
        "two_proportion_test of zero": lambda: fm.two_proportion_test(0, 10, 0, 12),
        "tukey_hsd": lambda: fm.tukey_hsd({"a": a[:20], "b": b[:20], "c": a[20:40]}),
        "tukey_hsd of samples": lambda: fm.tukey_hsd(a[:20], b[:15], ci=0.9),
        "tukey_hsd of pairs": lambda: fm.tukey_hsd(a, b, first * 30, paired=True),
        "sign_flip_test of few": lambda: fm.sign_flip_test(small, other),
        "sign_flip_test with weights": lambda: fm.sign_flip_test(
            a - b, sample_weight=log["weight"], replicates=200, seed=3
        ),
        "paired_t_test of differences": lambda: fm.paired_t_test(a - b, ci=None),
        "paired_t_test of equal samples": lambda: fm.paired_t_test(a, a),
        "wilcoxon of differences": lambda: fm.wilcoxon(a - b),
        "delong_test of groups": lambda: fm.delong_test(label, first, second, groups=group),
        "delong_test of one class": lambda: fm.delong_test(label * 0, first, second),
        "roc_auc_interval of groups": lambda: fm.roc_auc_interval(label, first, groups=group),
    }
    for method in ("exact", "mid-p", "chi2"):
        cases[f"mcnemar_test {method}"] = lambda method=method: fm.mcnemar_test([[59, 6], [16, 80]], method=method)
    for method in ("exact", "asymptotic", "auto"):
        for zeros in ("wilcox", "pratt", "zsplit"):
            cases[f"wilcoxon {method} {zeros}"] = lambda method=method, zeros=zeros: fm.wilcoxon(
                np.round(small), np.round(other), method=method, zero_method=zeros, correction=True
            )
    for method in ("newcombe", "wald"):
        cases[f"two_proportion_test {method}"] = lambda method=method: fm.two_proportion_test(
            130, 1000, 100, 900, ci_method=method
        )
    for method in ("delong", "logit"):
        cases[f"roc_auc_interval {method}"] = lambda method=method: fm.roc_auc_interval(label, first, method=method)
    for side in sides:
        cases |= {
            f"paired_t_test {side}": lambda side=side: fm.paired_t_test(a, b, alternative=side),
            f"wilcoxon {side}": lambda side=side: fm.wilcoxon(a, b, alternative=side),
            f"sign_flip_test {side}": lambda side=side: fm.sign_flip_test(a, b, alternative=side, replicates=300),
            f"delong_test {side}": lambda side=side: fm.delong_test(label, first, second, alternative=side),
            f"two_proportion_test {side}": lambda side=side: fm.two_proportion_test(9, 30, 4, 28, alternative=side),
        }
    return cases


def of_points() -> Cases:
    points, clusters = data.points()
    one = np.zeros(len(clusters), dtype=int)
    cases: Cases = {}
    for name in ("calinski_harabasz_score", "davies_bouldin_score", "silhouette_samples", "silhouette_score"):
        function = getattr(fm, name)
        cases |= {
            name: lambda function=function: function(points, clusters),
            f"{name} of float32": lambda function=function: function(points.astype(np.float32), clusters),
            f"{name} of lists": lambda function=function: function(points.tolist(), list(map(str, clusters))),
            f"{name} of one cluster": lambda function=function: function(points, one),
        }
    for metric in ("manhattan", "cosine", "sqeuclidean"):
        cases[f"silhouette_samples {metric}"] = lambda metric=metric: fm.silhouette_samples(
            points, clusters, metric=metric
        )
    cases["silhouette_score of a sample"] = lambda: fm.silhouette_score(
        points, clusters, sample_size=30, random_state=0
    )
    return cases


def of_boxes() -> Cases:
    truth, found = data.coco()
    images, names = {row["id"] for row in truth["images"][:3]}, [1, 2]
    ground, detected = data.voc()
    nothing = {name: column[:0] for name, column in detected.items()}
    boxes, others = ground["box"][:8], detected["box"][:6]
    pixels = data.masks()
    runs = lambda: fm.encode_masks(pixels)  # noqa: E731
    corners = [[data.polygon([1.0, 2.0, 5.0, 6.0])], [data.polygon([0.0, 0.5, 7.25, 3.0])]]
    cases: Cases = {
        "coco_map": lambda: fm.coco_map(truth, found),
        "coco_map of masks": lambda: fm.coco_map(truth, found_masks(truth), iou_type="segm"),
        "coco_map of other options": lambda: fm.coco_map(
            truth, found, iou_thresholds=[0.5, 0.7], max_detections=(1, 5, 20), class_agnostic=True
        ),
        "coco_map of some": lambda: fm.coco_map(truth, found, images=sorted(images), categories=names),
        "coco_map without detections": lambda: fm.coco_map(truth, []),
        "coco_map of columns": lambda: fm.coco_map(*as_columns(truth, found)),
        "CocoResult.to_dict": lambda: fm.coco_map(truth, found).to_dict(),
        "COCO and COCOeval": lambda: printed_evaluation(truth, found, "bbox"),
        "COCO and COCOeval of masks": lambda: printed_evaluation(truth, found_masks(truth), "segm"),
        "voc_map": lambda: fm.voc_map(ground, detected),
        "voc_map voc11": lambda: fm.voc_map(ground, detected, interpolation="voc11"),
        "voc_map counting": lambda: fm.voc_map(ground, detected, difficult="count", iou_threshold=0.3),
        "voc_map of some": lambda: fm.voc_map(ground, detected, categories=["car"], images=["000001", "000002"]),
        "voc_map without detections": lambda: fm.voc_map(ground, nothing),
        "VocResult.to_dict": lambda: fm.voc_map(ground, detected).to_dict(),
        "box_iou": lambda: fm.box_iou(boxes, others),
        "box_iou of pixels": lambda: fm.box_iou(boxes.tolist(), others.tolist(), pixel_boxes=True),
        "box_iou of widths": lambda: fm.box_iou(boxes, others, box="xywh"),
        "box_iou of crowds": lambda: fm.box_iou(boxes, others, crowd=np.arange(6) % 2 == 0),
        "encode_masks": runs,
        "encode_masks of lists": lambda: fm.encode_masks(pixels, compressed=False),
        "encode_masks of polygons": lambda: fm.encode_masks(corners, size=(12, 9), compressed=False),
        "decode_masks": lambda: fm.decode_masks(runs()),
        "decode_masks of polygons": lambda: fm.decode_masks(corners, size=(12, 9)),
        "mask_areas": lambda: fm.mask_areas(runs()),
        "mask_iou": lambda: fm.mask_iou(runs(), fm.encode_masks(pixels[::-1])),
        "mask_iou of crowds": lambda: fm.mask_iou(runs(), runs(), crowd=[True, False, True, False]),
    }
    return cases


def found_masks(truth: Any) -> Any:
    """Detections that are masks near those of the annotations."""
    scores = data.integers(len(truth["annotations"]), 700, 40) / 64.0
    return [
        {
            "image_id": row["image_id"],
            "category_id": row["category_id"],
            "segmentation": fm.encode_masks([[data.polygon([side + 1.0 for side in row["bbox"]])]], size=(260, 260))[0],
            "score": float(score),
        }
        for row, score in zip(truth["annotations"], scores, strict=True)
    ]


def as_columns(truth: Any, found: Any) -> tuple[data.Columns, data.Columns]:
    names = {"image": "image_id", "category": "category_id", "box": "bbox"}
    rows = truth["annotations"]
    ground = {column: np.array([row[key] for row in rows]) for column, key in names.items()}
    detected = {column: np.array([row[key] for row in found]) for column, key in names.items()}
    return ground, detected | {"score": np.array([row["score"] for row in found])}


def printed_evaluation(truth: Any, found: Any, iou_type: str) -> Any:
    with contextlib.redirect_stdout(io.StringIO()) as printed, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "truth.json"
        path.write_text(json.dumps(truth), encoding="utf-8", newline="\n")
        objects = fm.COCO(str(path))
        evaluation = fm.COCOeval(objects, objects.loadRes(found), iou_type)
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    lines = [line for line in printed.getvalue().splitlines() if "=" in line and "(" in line and "t=" not in line]
    arrays = {name: evaluation.eval[name] for name in ("precision", "recall", "scores", "counts")}
    ids = {"images": objects.getImgIds(catIds=[1]), "annotations": objects.getAnnIds(imgIds=[1, 2], iscrowd=False)}
    return {"lines": lines, "stats": evaluation.stats, **arrays, **ids, "categories": objects.getCatIds()}


TEXT_OPTIONS: dict[str, list[dict[str, Any]]] = {
    "bleu": [
        {},
        {"lowercase": True, "smooth": "floor", "max_order": 2},
        {"tokenize": "intl", "effective_order": True, "smooth": "add-k", "smooth_value": 0.5},
        {"tokenize": "zh"},
        {"tokenize": "char", "smooth": "none"},
        {"weights": [0.5, 0.25, 0.125, 0.125]},
    ],
    "chrf": [
        {},
        {"word_order": 2, "lowercase": True},
        {"char_order": 2, "beta": 0.5, "whitespace": True, "eps_smoothing": True},
    ],
    "meteor": [
        {"modules": ("exact", "stem")},
        {"modules": ("exact",), "alignment": "nltk", "lowercase": False, "tokenize": "zh", "gamma": 0.25},
    ],
    "nist": [{}, {"max_order": 3, "tokenize": "intl", "lowercase": True}],
    "ter": [{}, {"normalized": True, "no_punct": True, "asian_support": True}, {"case_sensitive": True}],
}


def of_texts() -> Cases:
    log = data.text_columns(40)
    good, worse, references = (list(map(str, log[name])) for name in ("hypothesis", "worse", "reference"))
    several = [references, [*references[5:], *references[:5]]]
    uneven = [references, [text if place % 3 else None for place, text in enumerate(several[1])]]
    lists = [list(own) for own in zip(*several, strict=True)]
    uneven_lists = [[text for text in own if text is not None] for own in zip(*uneven, strict=True)]
    cases: Cases = {}
    for name, choices in TEXT_OPTIONS.items():
        corpus, sentence = getattr(fm, f"corpus_{name}"), getattr(fm, f"sentence_{name}")
        # Some take lists of references, others streams.
        many, missing = (several, uneven) if name in ("bleu", "chrf", "ter") else (lists, uneven_lists)
        for options in choices:
            own = {key: value for key, value in options.items() if key != "average"}
            cases |= {
                f"corpus_{name} {options}": lambda f=corpus, o=options: f(good, references, **o),
                f"corpus_{name} of several {options}": lambda f=corpus, o=options, s=many: f(good, s, **o),
                f"sentence_{name} {options}": lambda f=sentence, o=own: [
                    f(one, [two], **o) for one, two in zip(good[:12], references[:12], strict=True)
                ],
                f"segment_statistics {name} {options}": lambda n=name, o=options: fm.segment_statistics(
                    n, good, references, **o
                ),
            }
        cases[f"corpus_{name} of uneven"] = lambda f=corpus, o=choices[0], s=missing: f(good, s, **o)
        cases[f"corpus_{name} of empty texts"] = lambda f=corpus, o=choices[0]: f(["", ""], ["", "a b"], **o)
        cases[f"corpus_{name} of nothing"] = lambda f=corpus, o=choices[0]: f([], [], **o)
    cases["corpus_meteor of the corpus"] = lambda: fm.corpus_meteor(
        good, references, modules=("exact", "stem"), average="corpus"
    )
    for options in ({}, {"stem": True}, {"tokenizer": "unicode"}, {"stem": True, "beta": 2.0}):
        cases[f"rouge_score {options}"] = lambda o=options: fm.rouge_score(good, references, **o)
        cases[f"rouge_score of several {options}"] = lambda o=options: fm.rouge_score(
            good, lists, ["rouge1", "rougeL"], multi="mean", **o
        )
    for tokenizer in ("13a", "intl", "char", "zh", "none"):
        cases[f"tokenize {tokenizer}"] = lambda t=tokenizer: [fm.tokenize(text, t) for text in references]
        cases[f"tokenize lowercase {tokenizer}"] = lambda t=tokenizer: fm.tokenize(references, t, lowercase=True)
    systems = {"first": good, "second": worse}
    for method in ("bootstrap", "randomization"):
        cases[f"compare_texts {method}"] = lambda m=method: fm.compare_texts(
            systems, references, test=m, replicates=50, interval_replicates=20 if m == "randomization" else 0
        )
    cases["compare_texts of more"] = lambda: fm.compare_texts(
        systems, several, ["ter", "bleu", "chrf"], replicates=40, correction="holm", baseline="second"
    )
    cases["compare_texts systems"] = lambda: fm.compare_texts(systems, references, replicates=20).systems
    cases["read_segments"] = lambda: list(fm.read_segments(io.BytesIO("\n".join(references).encode()), name="x"))
    cases["read_segments of a file"] = lambda: in_text_file(references)
    return cases


def in_text_file(texts: list[str]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts"
        path.write_text("\n".join(texts) + "\n", encoding="utf-8", newline="\n")
        found = fm.read_segments(path)
        return [len(found), found[3], list(found[5:9])]


def of_likelihoods() -> Cases:
    values = -(data.integers(40, 800, 64) + 1) / 16.0
    mask = data.integers(40, 801, 4) > 0
    offsets = np.array([0, 7, 7, 30, 40])
    ragged = [values[:5].tolist(), [], values[5:9].tolist()]
    cases: Cases = {}
    for level in ("token", "sequence"):
        cases |= {
            f"perplexity {level}": lambda level=level: fm.perplexity(ragged, level=level),
            f"perplexity {level} by offsets": lambda level=level: fm.perplexity(
                values, mask=mask, offsets=offsets, level=level, base=2
            ),
            f"perplexity {level} of a matrix": lambda level=level: fm.perplexity(
                values.reshape(5, 8).astype(np.float32), mask=mask.reshape(5, 8), level=level
            ),
        }
        for reduction in ("mean", "sum", "none"):
            empty = "skip" if level == "sequence" else "nan"
            options = {"level": level, "reduction": reduction, "empty": empty}
            cases[f"token_nll {level} {reduction}"] = lambda options=options: fm.token_nll(
                values, mask=mask, offsets=offsets, **options
            )
    cases["perplexity of nothing"] = lambda: fm.perplexity([[]])
    cases["token_nll of nothing"] = lambda: fm.token_nll([[], [-1.0]], level="sequence", base=10)
    return cases


def of_score_order() -> Cases:
    log = data.click_log(70, 5)
    cases: Cases = {}
    methods: dict[str, dict[str, Any]] = {
        "average_precision_score": {}, "best_threshold": {"metric": "mcc"}, "det_curve": {}, "equal_error_rate": {},
        "far_frr_curve": {}, "ks_statistic": {}, "lift_curve": {}, "partial_auc_score": {"max_fpr": 0.2},
        "precision_recall_curve": {}, "roc_auc_score": {}, "roc_curve": {},
    }  # fmt: skip
    for weight in (None, "weight"):
        for name, options in methods.items():
            cases[f"ScoreOrder.{name} {weight}"] = lambda weight=weight, name=name, options=options: getattr(
                fm.ScoreOrder(log["label"], log["score"], sample_weight=None if weight is None else log[weight]), name
            )(**options)
    return cases


BASE: dict[str, Any] = {"score": ["prob", "second"], "label": "label", "replicates": 30, "seed": 2}
MODELS = ["auc", "logloss", "gauc", "ndcg@3"]
COMPARISONS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "units": (MODELS, {"group": "group"}),
    "rows": (["auc", "logloss", "ece", "ap"], {"unit": "row"}),
    "slices": (["auc", "brier"], {"group": "group", "by": "by", "correction": "benjamini-hochberg"}),
    "weights": (["auc", "logloss"], {"unit": "group", "weight": "whole", "ci": 0.9}),
    "normal": (["auc", "mcc"], {"unit": "group", "ci_method": "normal", "correction": None}),
    "numbers": (["rmse", "mae", "r2"], {"label": "target", "score": ["forecast", "score"], "unit": "day"}),
    "little memory": (MODELS, {"group": "group", "memory_limit": "1MiB"}),
    "three": (["auc"], {"score": ["prob", "second", "score"], "unit": "group", "baseline": "second"}),
    "delong": (["auc"], {"ci_method": "delong", "unit": "row", "replicates": None, "seed": None}),
}


def compared(name: str) -> fm.Comparison:
    metrics, options = COMPARISONS[name]
    return fm.compare(data.click_log(160, 6), metrics, **{**BASE, **options})


def of_comparisons() -> Cases:
    return {f"compare {name}": lambda name=name: compared(name) for name in COMPARISONS}


def of_tables() -> Cases:
    """Results as tables of Arrow, and by their accessors."""
    log = data.click_log(90, 8)
    columns: dict[str, Any] = {"label": "label", "score": ["prob", "second"], "group": "group", "by": ["by", "day"]}

    def report() -> fm.Report:
        return fm.evaluate(log, ["auc", "gauc", "ndcg@3"], **columns)

    def by_group(name: str, *roles: str) -> Any:
        return getattr(fm, name)(*(log[role] for role in roles), log["group"]).to_arrow().to_pydict()

    order = fm.ScoreOrder(log["label"], log["score"])
    found = {"score": "second", "slice": {"day": 1, "by": "ulm"}}
    return {
        "Report.to_arrow": lambda: report().to_arrow().to_pydict(),
        "Report.value": lambda: report().value("ndcg@3", **found),
        "Report.result": lambda: report().result("gauc", **found).to_dict(),
        "Report.slices": lambda: report().slices(),
        "Report of one value": lambda: fm.evaluate(log, "auc", label="label", score="prob")["auc"],
        "Comparison.to_arrow": lambda: compared("slices").to_arrow().to_pydict(),
        "Comparison.difference": lambda: compared("units").difference("gauc").to_dict(),
        "GroupTable.to_arrow": lambda: by_group("auc_by_group", "label", "score"),
        "ErrorTable.to_arrow": lambda: by_group("errors_by_group", "target", "forecast"),
        "RankingTable.to_dict": lambda: fm.ranking_by_group(
            log["grade"], log["score"], log["group"], ["map"]
        ).to_dict(),
        "TrecResult.to_arrow": lambda: in_files(
            lambda folder: fm.evaluate_trec(folder / "qrels", folder / "run", "map").to_arrow().to_pydict()
        ),
        "ScoreOrder": lambda: [order.rows, order.positives],
    }


def of_spellings() -> Cases:
    """What metric strings are called after they were read; strings that are no metrics."""
    spellings = [
        " auc ", "gauc( weight = 'pairs' )", 'gauc(weight="pairs")', "gauc(weight=pairs,single_class=half)",
        "gauc(single_class=half, weight=pairs)", "gauc(weight=impressions)", "ndcg @ 10", "ndcg(gain=exp2)@3",
        "ndcg@03", "ece(n_bins=15)", "ece(bins = 7,norm=max)", "f1", "f1@2", "fbeta(beta=2)", "fbeta(beta=2.0)", "p@5",
        "map", "map@5",
        "brier(sampling_rate=None)", "p", "auc@2", "AUC", "nothing", "auc()", "ndcg@0", "gauc(weight=nothing)",
        "gauc(nothing=1)", "gauc(weight=pairs, weight=pairs)", "logloss@3", "gauc(pairs)", "ndcg@10(gain=exp2)", "",
    ]  # fmt: skip
    log = data.click_log(30, 1)

    def read(text: str) -> list[str]:
        return [own.metric for own in fm.evaluate(log, [text], label="label", score="prob", group="group")]

    cases: Cases = {f"metric {text!r}": lambda text=text: read(text) for text in spellings}
    cases["metric of two spellings"] = lambda: [
        own.metric for own in fm.evaluate(log, ["logloss", "ece(n_bins=15)"], label="label", score="prob")
    ]
    return cases
