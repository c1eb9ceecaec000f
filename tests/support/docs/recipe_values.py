"""The peers' values for the lines of docs/recipes.md, by section, in the order of the page."""

import io
import math
from contextlib import redirect_stdout
from fractions import Fraction

import numpy as np
import sklearn.metrics as sk
from scipy import optimize, stats
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

from oracles.text import meteor, nist

TIED_LABEL, TIED_SCORE = [0, 1, 1, 0, 0, 1, 1], [0.3, 0.5, 0.5, 0.5, 0.5, 0.7, 0.8]
FOUR_LABEL, FOUR_SCORE = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
ERROR_LABEL, ERROR_SCORE = [1, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.4, 0.3]
KIND = [0, 1, 2, 2, 0]
SHARES = [[0.5, 0.3, 0.2], [0.2, 0.4, 0.4], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6], [0.3, 0.4, 0.3]]
CURVE_LABEL, CURVE_SCORE = [1, 0, 1, 0, 1], [0.9, 0.9, 0.7, 0.5, 0.5]
TRUE, GUESS, MISSED = [0, 0, 0, 1, 1, 2], [0, 1, 1, 1, 1, 2], [0, 0, 1, 1, 1, 0]
CLICK, PCTR = [1, 0, 0, 0], [0.5, 0.25, 0.2, 0.1]
WATCHED, PREDICTED = [[30.0, 2.0], [5.0, 4.0], [10.0, 8.0]], [[28.0, 2.0], [9.0, 4.5], [12.0, 7.0]]


def positives_and_negatives(label, score):
    label, score = np.array(label), np.array(score)
    return score[label == 1], score[label == 0]


def equal_rate_by_root():
    """The point of the interpolated ROC curve at which FNR = FPR, as it is usually found with SciPy."""
    fpr, tpr, _ = sk.roc_curve(ERROR_LABEL, ERROR_SCORE, drop_intermediate=False)
    return optimize.brentq(lambda x: 1 - x - np.interp(x, fpr, tpr), 0, 0.49)


def nearest_point():
    """FPR, FNR and threshold at the least distance of the rates: (1/2, 1/3) at 0.7, between (0, 1/3) and (1/2, 0)."""
    fpr, fnr, thresholds = sk.det_curve(ERROR_LABEL, ERROR_SCORE)
    at = int(np.argmin(np.abs(fpr - fnr)))
    return fpr[at], fnr[at], thresholds[at]


def binned_area(label, score, thresholds):
    """The trapezoid over the points (share of negatives above, share of positives above) of given thresholds."""
    positives, negatives = positives_and_negatives(label, score)
    tpr = [np.mean(positives > threshold) for threshold in thresholds]
    return -np.trapezoid(tpr, [np.mean(negatives > threshold) for threshold in thresholds])


KERAS_THRESHOLDS = [-1e-7, *(index / 199 for index in range(1, 199)), 1 + 1e-7]

# Users of the page: AUC, impressions, clicks, pairs. dan has no click.
ANN, BOB, CID = (Fraction(2, 3), 4, 1, 3), (Fraction(1), 3, 2, 2), (Fraction(1, 2), 2, 1, 1)


def weighted_by_rows():
    """Every class against the rest wins 6, 2.5 and 4.5 of 6, 4 and 6 pairs; the classes have 2, 1 and 2 rows."""
    return (2 * Fraction(6, 6) + Fraction(5, 8) + 2 * Fraction(9, 12)) / 5


def mean_of_users(weight, users=(ANN, BOB, CID), halves=0):
    """The weighted mean of the users' AUC; the weight is column 1, 2 or 3 of a user, or 1 if `weight` is None."""
    weighed = [(auc, 1 if weight is None else columns[weight - 1]) for auc, *columns in users]
    above = sum(auc * size for auc, size in weighed) + Fraction(halves, 2)
    return above / (sum(size for _, size in weighed) + halves)


def clipped(eps):
    """The log loss of a click at probability `eps` and no click at one half."""
    return (-math.log(eps) + math.log(2)) / 2


def corrected(p, rate):
    """The odds times the rate: a model of a share of the negatives has odds that are too high by its inverse."""
    odds = rate * p / (1 - p)
    return odds / (1 + odds)


def entropy(rate):
    return -rate * math.log(rate) - (1 - rate) * math.log(1 - rate)


def recalls(guess):
    return sk.recall_score(TRUE, guess, average=None)


def specificities(guess):
    cells = sk.multilabel_confusion_matrix(TRUE, guess)
    return cells[:, 0, 0] / cells[:, 0].sum(axis=1)


def f_of_means():
    precision, recall, _, _ = sk.precision_recall_fscore_support(TRUE, GUESS)
    return 2 * precision.mean() * recall.mean() / (precision.mean() + recall.mean())


# Grades of the page's queries from the first row to the last, and the best order of every query.
QUERIES = [[3, 0, 2, 0, 1], [0, 1, 0, 0], [0]]
SCORES = [[0.9, 0.8, 0.7, 0.6, 0.5], [0.9, 0.7, 0.5, 0.4], [0.8]]


def binary(grades):
    return [min(grade, 1) for grade in grades]


def exp2(grades):
    return [2**grade - 1 for grade in grades]


def dcg_of(gains):
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def ndcg_of(grades, k, gain=list, ideal=None):
    """NDCG at k, or None if the ideal DCG is 0."""
    best = dcg_of(ideal or sorted(gain(grades), reverse=True)[:k])
    return dcg_of(gain(grades)[:k]) / best if any(grades) else None


def precisions_of(grades, k=None):
    """The precision at every hit among the first k."""
    hits = [rank for rank, grade in enumerate(grades[:k], start=1) if grade]
    return [Fraction(number, rank) for number, rank in enumerate(hits, start=1)]


def mean_of_queries(value, empty=0):
    """The mean over queries of a value of their grades. `empty` replaces None; if it is None, the query is left out."""
    values = [empty if value(grades) is None else value(grades) for grades in QUERIES]
    kept = [own for own in values if own is not None]
    return sum(kept) / len(kept)


def mean_precision(divisor, empty=0, k=2):
    """The mean of AP@k; `divisor` is a function of R and the hits."""

    def value(grades):
        relevant, precisions = sum(binary(grades)), precisions_of(grades, k)
        return sum(precisions) / (divisor(relevant, len(precisions)) or 1) if relevant else None

    return mean_of_queries(value, empty)


def ranked():
    """Values of the lines on ranked lists, by the definitions of the peers; the page names the peers."""
    return [
        mean_of_queries(lambda grades: ndcg_of(grades, 3)),
        mean_of_queries(lambda grades: ndcg_of(grades, 3, exp2), empty=1),
        mean_of_queries(lambda grades: ndcg_of(grades, 3, exp2)),
        mean_of_queries(lambda grades: ndcg_of(grades, 3, binary)),
        mean_of_queries(lambda grades: ndcg_of(grades, 3, binary), empty=None),
        mean_of_queries(lambda grades: ndcg_of(grades, 3, binary, [1, 1, 1]), empty=None),
        mean_precision(lambda relevant, hits: relevant, k=None),
        mean_precision(lambda relevant, hits: relevant),
        mean_precision(lambda relevant, hits: min(2, relevant)),
        mean_precision(lambda relevant, hits: min(2, relevant), empty=None),
        mean_precision(lambda relevant, hits: min(2, relevant), empty=1),
        mean_precision(lambda relevant, hits: 2, empty=None),
        mean_precision(lambda relevant, hits: hits),
        (Fraction(3, 5) + Fraction(1, 5)) / 3,
        (Fraction(3, 5) + Fraction(1, 4)) / 3,
        (Fraction(1, 3) + 1) / 3,
        Fraction(1, 3),
        Fraction(1, 4),
        (1 + Fraction(1, 2)) / 3,
        ((1 + Fraction(1, 3) + Fraction(1, 5)) / 3 + Fraction(1, 2)) / 3,
        # q1: above its relevant rows are 0, 1 and 2 of two irrelevant ones; q2: 1 of three, and R is 1.
        ((1 + (1 - Fraction(1, 2)) + 0) / 3 + 0) / 3,
        (Fraction(2, 3) + 0) / 3,
        # q1: relevant at 1, 3 and 5, others at 2 and 4: of 6 pairs the first wins 2, 2 are lost, 2 tie below rank 2.
        (Fraction(2 * 1 + 2 * Fraction(1, 2), 6) + (0 + 2) / Fraction(3)) / 2,
        # A tie: each of three rows is first as often as the others; c is the greatest; the first row is not relevant.
        Fraction(1, 3),
        1,
        0,
    ]


RUN = {"q1": {"d1": 0.9, "d2": 0.8, "d3": 0.8}, "q2": {"d1": 0.5, "d4": 0.4}}
QRELS = {"q1": {"d1": 1, "d3": 2, "d9": 1}, "q2": {"d4": 1}, "q3": {"d1": 1}}


def trec_mean(measure, by_hand, level=1):
    """pytrec_eval's mean over its queries, or the value of its definition."""
    try:
        import pytrec_eval
    except ImportError:
        return by_hand
    topics = pytrec_eval.RelevanceEvaluator(QRELS, {measure}, relevance_level=level).evaluate(RUN)
    return np.mean([next(iter(values.values())) for values in topics.values()])


def of_runs():
    """q1 is d1, d3, d2 by trec_eval's rule (relevances 1 2 0, and 1 not retrieved), q2 is d1, d4 (0 1)."""
    second = 1 / math.log2(3)
    return [
        trec_mean("map", Fraction(1, 2) * (Fraction(2, 3) + Fraction(1, 2))),
        Fraction(1, 3) * (Fraction(2, 3) + Fraction(1, 2)),
        trec_mean("map_cut.2", Fraction(1, 2) * (Fraction(2, 3) + Fraction(1, 2))),
        trec_mean("ndcg_cut.2", ((1 + 2 * second) / (2 + second) + second) / 2),
        trec_mean("recip_rank", Fraction(1, 4), level=2),
        # ranx 0.3.21 gives these of a run in which d3 scores less than d2: q1 is d1, d2, d3.
        Fraction(1, 2) * (Fraction(1, 3) + Fraction(1, 2)),
        (1 / (3 + second) + second) / 2,
        # One hit at rank 1 of four relevant items, one at rank 3 of one: 1/3 and 1/3.
        Fraction(1, 3),
    ]


def of_pycocotools():
    """AP and AP50 of the cups on the page, or by definition: recalls of 0, 0.01 ... 0.33, at 8 of 10 IoU thresholds."""
    try:
        from pycocotools.coco import COCO
        from pycocotools.cocoeval import COCOeval
    except ImportError:
        return [Fraction(8, 10) * Fraction(34, 101), Fraction(34, 101)]
    with redirect_stdout(io.StringIO()):
        truth = COCO()
        boxes = [(1, [0, 0, 9, 9]), (1, [20, 0, 9, 9]), (2, [0, 0, 9, 9])]
        truth.dataset = {
            "images": [{"id": 1}, {"id": 2}],
            "categories": [{"id": 1}],
            "annotations": [
                {"id": number, "image_id": image, "category_id": 1, "bbox": box, "area": 81, "iscrowd": 0}
                for number, (image, box) in enumerate(boxes, start=1)
            ],
        }
        truth.createIndex()
        found = [(1, [0, 0, 9, 8], 0.9), (1, [20, 0, 9, 4], 0.8), (1, [0, 1, 9, 8], 0.7), (2, [0, 0, 9, 4.4], 0.6)]
        results = truth.loadRes(
            [{"image_id": image, "category_id": 1, "bbox": box, "score": score} for image, box, score in found]
        )
        evaluation = COCOeval(truth, results, "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return [round(value, 12) for value in evaluation.stats[:2].tolist()]


def of_detection():
    """VOC's by hand: recall and precision after each of four detections."""
    return [
        *of_pycocotools(),
        # An IoU of 60 / 100 is at least 3 of the ten thresholds, and 2 of them as float32 numbers.
        np.count_nonzero(np.linspace(0.5, 0.95, 10) <= 60 / 100) / 10,
        np.count_nonzero(np.linspace(0.5, 0.95, 10).astype(np.float32).astype(float) <= 60 / 100) / 10,
        # Hit, hit, miss, hit of three: 1/3 at 1, 1/3 at 1, 1/3 at 3/4.
        round((1 + 1 + 3 / 4) / 3, 12),
        round((7 * 1 + 4 * 3 / 4) / 11, 12),
        # The second has an IoU of 50 / 100: hit, miss, miss, hit.
        round((1 + 2 / 4) / 3, 12),
        # 36 / 81 and 39.6 / 81: one hit.
        round(1 / 3, 12),
    ]


def of_nltk():
    """NLTK's BLEU of the segment on the page."""
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    hypothesis, *references = map(str.split, [
        "it is to insure the troops forever hearing the activity guidebook that party direct",
        "it is a guide to action that ensures that the military will forever heed party commands",
        "it is the practical guide for the army always to heed the directions of the party",
    ])  # fmt: skip
    methods = [getattr(SmoothingFunction(), f"method{number}") for number in (0, 1, 2, 3, 4, 5, 7)]
    smoothed = [sentence_bleu(references, hypothesis, smoothing_function=method) for method in methods]
    assert smoothed[0] < 1e-150
    weighted = sentence_bleu(references, hypothesis, weights=(0.5, 0.5))
    return [0.0, *(round(value, 12) for value in [*smoothed[1:], weighted])]


class WithoutSynonyms:
    """The part of WordNet's interface that NLTK's METEOR uses."""

    def synsets(self, word):
        return []


def of_meteor():
    """METEOR of the pair on the page: NLTK's, and that of the definition."""
    from nltk.stem.porter import PorterStemmer
    from nltk.translate.meteor_score import meteor_score

    hypothesis = "the military always obeys the commands of the party"
    reference = "the military will forever heed party commands"
    hypothesis, reference = hypothesis.split(" "), reference.split(" ")
    stages = [(change, lambda one, other: one == other) for change in (str, PorterStemmer().stem)]
    links = meteor.align(hypothesis, reference, stages)
    defined = meteor.score(len(links), meteor.chunks(links), len(hypothesis), len(reference))
    return [meteor_score([reference], hypothesis, wordnet=WithoutSynonyms()), defined]


def of_rouge_score():
    """rouge-score's numbers of the summary on the page."""
    from rouge_score.rouge_scorer import RougeScorer

    summary, reference, other = (
        "a dog slept\nthe cats were running home", "the cat ran home\nthe dogs slept",
        "the cats were running\nthe dog was sleeping",
    )  # fmt: skip

    def of_one(name, **options):
        return RougeScorer([name], **options).score(reference, summary)[name].fmeasure

    scorer = RougeScorer(["rouge2"])
    mean = sum(scorer.score(one, summary)["rouge2"].fmeasure for one in (reference, other)) / 2
    best = scorer.score_multi([reference, other], summary)["rouge2"].fmeasure
    values = [of_one("rougeL"), of_one("rougeLsum"), of_one("rouge1", use_stemmer=True), best, mean]
    return [round(value, 12) for value in values]


def of_chrf_and_nist():
    """NLTK's numbers of the texts on the page, and mteval-v13a's."""
    from nltk.translate.chrf_score import corpus_chrf, sentence_chrf
    from nltk.translate.nist_score import corpus_nist, sentence_nist

    guide, saying = "the 0 cat sat on the 0 mat", "the 0 cat sat on the mat with the 0 cat"
    words = guide.split(" "), saying.split(" ")
    # mteval-v13a.pl's functions with -c and all digits give 2.42329026351767.
    (of_mteval,) = nist.corpus([words[0]], [[words[1]]])[-1:]
    values = [
        sentence_chrf(saying, guide),
        corpus_chrf([saying, "a mat"], [guide, "the mat"]),
        sentence_nist([words[1], ["the", "cat", "sat", "on", "a", "mat"]], words[0]),
        corpus_nist([[words[1]]], [words[0]]),
        of_mteval,
    ]
    return [round(value, 12) for value in values]


def informations():
    """Values of the species and clusters on the page. Clusters are whole species, so their MI is their own entropy."""
    species, cluster = ["cat", "cat", "dog", "dog", "dog", "owl"], [1, 1, 2, 2, 2, 2]
    means = "arithmetic", "geometric", "arithmetic", "max"
    scores = sk.normalized_mutual_info_score, sk.adjusted_mutual_info_score
    for number, mean in enumerate(means):
        yield scores[number // 2](species, cluster, average_method=mean)
    of_species, of_clusters = stats.entropy([2, 3, 1], base=2), stats.entropy([2, 4], base=2)
    yield from (of_clusters, of_clusters / of_species)


def peers():
    """The sections, each with the values of its lines in order."""
    one_class = {"scikit-learn": sk.roc_auc_score([1, 1], [0.2, 0.9]), "LightGBM": 1, "TorchRec": 0.5, "CatBoost": 0}
    fpr, fnr, threshold = nearest_point()
    precision, recall, _ = sk.precision_recall_curve(CURVE_LABEL, CURVE_SCORE)
    positives, negatives = positives_and_negatives(TIED_LABEL, TIED_SCORE)
    click, pctr = np.array(CLICK), np.array(PCTR)
    loss = sk.log_loss(click, pctr)
    first, guessed = np.array(WATCHED)[:, 0], np.array(PREDICTED)[:, 0]
    small = np.array([0.001, 0.002, 0.003, 0.004])
    return {
        "Scores that tie": [
            sk.roc_auc_score(TIED_LABEL, TIED_SCORE),
            2 * Fraction(10, 12) - 1,
            stats.mannwhitneyu(positives, negatives).statistic,
            stats.ks_2samp(positives, negatives).statistic,
        ],
        "One class only": [*one_class.values(), sk.average_precision_score([0, 0], [0.2, 0.9])],
        "A part of the ROC curve": [
            sk.roc_auc_score(FOUR_LABEL, FOUR_SCORE, max_fpr=0.5),
            # One positive is above both negatives and one below the first of them: TPR is 1/2 up to FPR 1/2.
            Fraction(1, 2) * Fraction(1, 2),
        ],
        "More than two classes": [
            sk.roc_auc_score(KIND, SHARES, multi_class="ovr"),
            weighted_by_rows(),
            sk.roc_auc_score(KIND, SHARES, multi_class="ovo"),
            sk.roc_auc_score(KIND, SHARES, multi_class="ovr", average="micro"),
        ],
        "Equal error rate": [
            equal_rate_by_root(),
            (fpr + fnr) / 2,
            max(fpr, fnr),
            # Vertices of the hull around the crossing, as (FPR, FNR): (0, 1/3) and (1/2, 0). 1/3 - 2/3 x = x.
            Fraction(1, 5),
            threshold,
        ],
        "Average precision, and areas under the precision-recall curve": [
            sk.average_precision_score(CURVE_LABEL, CURVE_SCORE),
            sk.auc(recall, precision),
            # (recall, precision) at 0.9, 0.7 and 0.5: (1/3, 1/2) (2/3, 2/3) (1, 3/5), and (0, 1/2) before.
            # pyspark 4.3.0 gives 0.5722222222222222.
            Fraction(1, 3) * (Fraction(1, 2) + Fraction(7, 6) / 2 + Fraction(19, 15) / 2),
        ],
        "Binned curves": [sk.roc_auc_score([0, 0, 1, 1], small), binned_area([0, 0, 1, 1], small, KERAS_THRESHOLDS)],
        "GAUC: the weight of a user": [
            mean_of_users(1),
            mean_of_users(None),
            mean_of_users(2),
            mean_of_users(3),
            mean_of_users(None, halves=1),
            mean_of_users(None, users=(ANN, BOB)),
            [0.667, 1.0, 0.5, math.nan],
        ],
        "Ranked lists: NDCG, MAP, MRR and others at k": ranked(),
        "Log loss at probabilities 0 and 1": [
            sk.log_loss([1, 0], np.array([0.0, 0.5])),
            # For float32 and float16, scikit-learn also computes in that type: see the separate test below.
            clipped(2**-23),
            clipped(2**-10),
            clipped(1e-15),
            clipped(1e-16),
            math.inf,
            sk.log_loss([0, 1, 2], [[0.5, 0.25, 0.25]] * 3) / 3,
        ],
        "Normalized entropy": [loss / entropy(0.25), loss / entropy(0.2)],
        "Calibration": [
            pctr.sum() / click.sum(),
            click.sum() / pctr.sum(),
            [part.tolist() for part in calibration_curve(click, pctr, n_bins=4)],
            # The first bin has mean 1/4 and no positive (2 rows), the second 2.05/3 and only positives (3 rows).
            # torchmetrics' documentation has 0.29, 0.2918 and 0.3167.
            (2 * 0.25 + 3 * (1 - 2.05 / 3)) / 5,
            math.sqrt((2 * 0.25**2 + 3 * (1 - 2.05 / 3) ** 2) / 5),
            1 - 2.05 / 3,
        ],
        "Models trained on a share of the negatives": [
            pctr.sum() / click.sum(),
            corrected(pctr, 0.1).sum() / click.sum(),
            sk.log_loss(click, corrected(pctr, 0.1)),
        ],
        # At least 0.5: the rows of 0.9, 0.5 and 0.5, two of them positive. Above: one row, and three of four are right.
        "A score equal to the threshold": [Fraction(2, 3), Fraction(3, 4)],
        "Macro F, specificity, G-mean": [
            sk.f1_score(TRUE, GUESS, average="macro"),
            f_of_means(),
            sk.accuracy_score(TRUE, GUESS),
            sk.matthews_corrcoef(TRUE, GUESS),
            sk.balanced_accuracy_score(TRUE, MISSED),
            specificities(GUESS).mean(),
            stats.gmean(recalls(GUESS)),
            math.sqrt(recalls(GUESS).mean() * specificities(GUESS).mean()),
            0,
            stats.gmean(np.where(recalls(MISSED) == 0, 0.001, recalls(MISSED))),
        ],
        "Information of partitions": [round(value, 12) for value in informations()],
        "Errors of numbers": [
            sk.root_mean_squared_error(first, guessed),
            sk.root_mean_squared_error(WATCHED, PREDICTED),
            math.sqrt(np.mean((np.array(WATCHED) - PREDICTED) ** 2)),
            sk.mean_absolute_percentage_error(first, guessed),
            sk.r2_score(first, guessed),
        ],
        # Of ten pairs one has equal targets, one tied scores, and one (10 and 5, at 0.3 and 0.4) is out of order.
        "The order of numbers": [
            Fraction(15, 18),
            stats.somersd([10.0, 30.0, 20.0, 5.0, 5.0], [0.3, 0.9, 0.9, 0.4, 0.1]).statistic,
        ],
        "A run and its judgments": of_runs(),
        "Wilcoxon's test of pairs that mostly do not differ": [
            stats.wilcoxon([0] * 9 + [1, 2, 3, 4, 5]).pvalue,
            stats.wilcoxon([1, 2, 3, 4, 5]).pvalue,
        ],
        "BLEU of one segment: NLTK's smoothings": of_nltk(),
        "METEOR: alignment of repeated words": of_meteor(),
        "ROUGE of one summary": of_rouge_score(),
        "chrF and NIST beside NLTK": of_chrf_and_nist(),
        "Detections: mAP of each library": of_detection(),
        "scikit-learn's scorers, searches and displays": of_scorers_and_displays(),
    }


def of_scorers_and_displays():
    """scikit-learn alone: its scorers by name, a search for each, and displays that compute their numbers."""
    features, target = make_classification(n_samples=200, random_state=0)
    model = LogisticRegression().fit(features, target)
    decision = model.decision_function(features)
    by_auc, by_loss = (
        GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, scoring=scoring, cv=3).fit(features, target)
        for scoring in ("roc_auc", "neg_log_loss")
    )
    values = [
        sk.get_scorer("roc_auc")(model, features, target),
        sk.get_scorer("neg_log_loss")(model, features, target),
        cross_val_score(LogisticRegression(), features, target, scoring="roc_auc", cv=3),
        by_auc.best_score_,
        by_loss.cv_results_["mean_test_score"],
        sk.roc_auc_score(target, decision),
        sk.average_precision_score(target, decision),
        sk.det_curve(target, decision)[0][[0, -1]],
        sk.confusion_matrix(target, model.predict(features)),
    ]
    return [np.round(value, 12) for value in values]
