"""The values of named options. A test compares each with the docstrings of its functions and with the checks.

A number beside a name is part of the type: `"auto"` or a float.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

# --- averages --------------------------------------------------------------------------------------------------------
Average: TypeAlias = Literal["binary", "micro", "macro", "samples", "weighted"]
MulticlassAverage: TypeAlias = Literal["multiclass", "binary", "micro", "macro", "samples", "weighted"]
ScoreAverage: TypeAlias = Literal["macro", "micro", "weighted", "samples"]
HitAverage: TypeAlias = Literal["group", "micro"]
MeteorAverage: TypeAlias = Literal["segment", "corpus"]
AverageMethod: TypeAlias = Literal["min", "geometric", "arithmetic", "max"]
MultiOutput: TypeAlias = Literal["uniform_average", "raw_values"]
VarianceOutput: TypeAlias = Literal["uniform_average", "raw_values", "variance_weighted"]
MeanOutput: TypeAlias = Literal["uniform_average"]
MeanOrWeightedOutput: TypeAlias = Literal["uniform_average", "variance_weighted"]
RawOutput: TypeAlias = Literal["raw_values"]
Reduction: TypeAlias = Literal["mean", "sum"]
TokenReduction: TypeAlias = Literal["mean", "sum", "none"]

# --- classes ---------------------------------------------------------------------------------------------------------
MultiClass: TypeAlias = Literal["raise", "ovr", "ovo"]
MacroF: TypeAlias = Literal["mean_of_f", "f_of_means"]
ZeroDivision: TypeAlias = Literal["warn"] | float
KappaWeights: TypeAlias = Literal["linear", "quadratic"]
Exchange: TypeAlias = Literal["none", "range", "hash"]
Normalize: TypeAlias = Literal["true", "pred", "all"]
WarnFor: TypeAlias = Literal["precision", "recall", "f-score"]
ThresholdMetric: TypeAlias = Literal[
    "f1", "fbeta", "accuracy", "balanced_accuracy", "youden", "gmean", "mcc", "jaccard"
]  # fmt: skip
EerMethod: TypeAlias = Literal["interpolate", "mean", "max", "convex_hull"]

# --- probabilities ---------------------------------------------------------------------------------------------------
Binning: TypeAlias = Literal["uniform", "quantile"]
Norm: TypeAlias = Literal["l1", "l2", "max"]
ProbabilityKind: TypeAlias = Literal["prob", "log_prob"]
Clipping: TypeAlias = Literal["auto"] | float
BaseRate: TypeAlias = Literal["sample"] | float
ScaleByHalf: TypeAlias = Literal["auto"] | bool

# --- ranked lists ----------------------------------------------------------------------------------------------------
Ties: TypeAlias = Literal["average", "docid", "stable", "optimistic", "pessimistic"]
Empty: TypeAlias = Literal["zero", "skip", "one", "nan", "raise"]
Gain: TypeAlias = Literal["linear", "exp2", "binary"]
Ideal: TypeAlias = Literal["judged", "k"]
ShortList: TypeAlias = Literal["k", "n"]
PrecisionSum: TypeAlias = Literal["min", "relevant", "k", "hits"]
GroupWeight: TypeAlias = Literal["impressions", "uniform", "positives", "pairs", "weights"]
SingleClass: TypeAlias = Literal["skip", "half", "nan", "raise"]
Missing: TypeAlias = Literal["zero", "drop", "raise"]

# --- texts -----------------------------------------------------------------------------------------------------------
Tokenizer: TypeAlias = Literal["13a", "intl", "char", "zh", "none"]
AnyTokenizer: TypeAlias = Literal["13a", "intl", "char", "zh", "none", "alphanumeric", "unicode"]
RougeTokenizer: TypeAlias = Literal["default", "unicode"]
RougeReference: TypeAlias = Literal["best", "mean"]
Smoothing: TypeAlias = Literal["exp", "floor", "add-k", "none"]
MeteorModule: TypeAlias = Literal["exact", "stem", "synonym"]
MeteorAlignment: TypeAlias = Literal["fewest_crossings", "nltk"]
NistInformation: TypeAlias = Literal["mteval", "formula"]
TextMetricName: TypeAlias = Literal["bleu", "chrf", "meteor", "nist", "rouge", "ter"]
TextTest: TypeAlias = Literal["bootstrap", "randomization"]
Level: TypeAlias = Literal["token", "sequence"]
LogBase: TypeAlias = Literal["e", 2, 10]
EmptySequence: TypeAlias = Literal["nan", "skip", "raise"]

# --- boxes and masks -------------------------------------------------------------------------------------------------
Box: TypeAlias = Literal["xyxy", "xywh"]
IouType: TypeAlias = Literal["bbox", "segm"]
Interpolation: TypeAlias = Literal["area", "voc11"]
Difficult: TypeAlias = Literal["ignore", "count"]

# --- distances -------------------------------------------------------------------------------------------------------
Distance: TypeAlias = Literal[
    "euclidean", "l2", "sqeuclidean", "manhattan", "cityblock", "l1", "cosine", "precomputed"
]  # fmt: skip

# --- tests and intervals ---------------------------------------------------------------------------------------------
Alternative: TypeAlias = Literal["two-sided", "less", "greater"]
Correction: TypeAlias = Literal["holm", "benjamini-hochberg", "none"]
IntervalMethod: TypeAlias = Literal["linearized", "bootstrap", "normal", "delong", "anytime"]
ProportionInterval: TypeAlias = Literal["newcombe", "wald"]
AucIntervalMethod: TypeAlias = Literal["delong", "logit"]
McNemarMethod: TypeAlias = Literal["exact", "mid-p", "chi2"]
WilcoxonMethod: TypeAlias = Literal["auto", "exact", "asymptotic"]
ZeroMethod: TypeAlias = Literal["wilcox", "pratt", "zsplit"]
RunTest: TypeAlias = Literal["sign-flip", "t"]

# --- logs and reports ------------------------------------------------------------------------------------------------
OnInvalid: TypeAlias = Literal["raise", "drop"]
MissingColumns: TypeAlias = Literal["raise", "null"]
Format: TypeAlias = Literal[
    "csv", "tsv", "jsonl", "parquet", "orc", "arrow", "json", "ndjson", "feather", "ipc", "tab"
]  # fmt: skip
PlotName: TypeAlias = Literal["roc", "pr", "det", "lift", "calibration", "gauc-histogram", "confusion-matrix"]
