"""Written by tools/generate.py from the registry: the metrics as methods of `Metric`."""

from collections.abc import Sequence
from typing import Any, Literal, TypeVar, overload

from fastmetrics._core.types.arrays import (
    Label,
)
from fastmetrics._core.types.options import (
    BaseRate, Clipping, MeteorModule, ZeroDivision,
)

OfMetric = TypeVar("OfMetric")

class MetricNames(type):
    @overload
    def accuracy(
        cls: type[OfMetric], *, threshold: float = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    @overload
    def accuracy(
        cls: type[OfMetric], *, label: str = ..., prediction: str = ...,
    ) -> OfMetric: ...
    def ami(
        cls: type[OfMetric], *, average_method: Literal["arithmetic", "geometric", "min", "max"] = ...,
        label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    @overload
    def ap(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    @overload
    def ap(
        cls: type[OfMetric], *, labels: Sequence[Label] | None = ...,
        average: Literal["macro", "weighted", "micro"] = ..., label: str = ...,
        probabilities: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    def ari(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    @overload
    def auc(
        cls: type[OfMetric], *, max_fpr: float | None = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    @overload
    def auc(
        cls: type[OfMetric], *, labels: Sequence[Label] | None = ..., multi_class: Literal["ovr", "ovo"] = ...,
        average: Literal["macro", "weighted", "micro"] = ..., label: str = ...,
        probabilities: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    @overload
    def auc(
        cls: type[OfMetric], *, k: int, relevance_level: float = ...,
        ties: Literal["average", "optimistic", "pessimistic"] = ...,
        empty: Literal["zero", "skip", "one", "nan", "raise"] = ..., stat: str = ...,
        rule: Literal["linear", "lower", "higher"] = ..., at: float | None = ..., label: str = ..., score: str = ...,
        group: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    @overload
    def balanced_accuracy(
        cls: type[OfMetric], *, threshold: float = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    @overload
    def balanced_accuracy(
        cls: type[OfMetric], *, adjusted: bool = ..., label: str = ..., prediction: str = ...,
    ) -> OfMetric: ...
    def best_threshold(
        cls: type[OfMetric], *,
        metric: Literal["f1", "fbeta", "accuracy", "balanced_accuracy", "youden", "gmean", "mcc", "jaccard"] = ...,
        beta: float = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def bias(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def bleu(
        cls: type[OfMetric], *, tokenize: Literal["13a", "intl", "char", "zh", "none"] = ...,
        smooth: Literal["exp", "floor", "add-k", "none"] = ..., smooth_value: float | None = ...,
        lowercase: bool = ..., max_order: int = ..., effective_order: bool = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def bpref(
        cls: type[OfMetric], *, relevance_level: float = ...,
        ties: Literal["average", "optimistic", "pessimistic"] = ...,
        empty: Literal["zero", "skip", "one", "nan", "raise"] = ..., stat: str = ...,
        rule: Literal["linear", "lower", "higher"] = ..., at: float | None = ..., label: str = ..., score: str = ...,
        group: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    @overload
    def brier(
        cls: type[OfMetric], *, sampling_rate: float | None = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    @overload
    def brier(
        cls: type[OfMetric], *, labels: Sequence[Label] | None = ..., scale_by_half: Literal["auto"] | bool = ...,
        label: str = ..., probabilities: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    def cg(
        cls: type[OfMetric], *, k: int | None = ..., gain: Literal["linear", "exp2", "binary"] = ...,
        relevance_level: float = ..., ties: Literal["average", "optimistic", "pessimistic"] = ..., stat: str = ...,
        rule: Literal["linear", "lower", "higher"] = ..., at: float | None = ..., label: str = ..., score: str = ...,
        group: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    def chrf(
        cls: type[OfMetric], *, char_order: int = ..., word_order: int = ..., beta: float = ..., lowercase: bool = ...,
        whitespace: bool = ..., eps_smoothing: bool = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def completeness(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def copc(
        cls: type[OfMetric], *, sampling_rate: float | None = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def coverage_error(
        cls: type[OfMetric], *, labels: Sequence[Label] | None = ..., label: str = ...,
        score: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    def ctr(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def d2_absolute_error(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def d2_pinball(
        cls: type[OfMetric], *, alpha: float = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def d2_tweedie(
        cls: type[OfMetric], *, power: float = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def dcg(
        cls: type[OfMetric], *, k: int | None = ..., gain: Literal["linear", "exp2", "binary"] = ...,
        relevance_level: float = ..., ties: Literal["average", "optimistic", "pessimistic"] = ..., stat: str = ...,
        rule: Literal["linear", "lower", "higher"] = ..., at: float | None = ..., label: str = ..., score: str = ...,
        group: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    @overload
    def ece(
        cls: type[OfMetric], *, n_bins: int = ..., norm: Literal["l1", "l2", "max"] = ...,
        sampling_rate: float | None = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    @overload
    def ece(
        cls: type[OfMetric], *, labels: Sequence[Label] | None = ..., n_bins: float = ...,
        norm: Literal["l1", "l2", "max"] = ..., label: str = ..., probabilities: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    def eer(
        cls: type[OfMetric], *, method: Literal["interpolate", "mean", "max", "convex_hull"] = ..., label: str = ...,
        score: str = ...,
    ) -> OfMetric: ...
    def err(
        cls: type[OfMetric], *, k: int | None = ..., max_grade: float = ..., relevance_level: float = ...,
        ties: Literal["average", "optimistic", "pessimistic"] = ...,
        empty: Literal["zero", "skip", "one", "nan", "raise"] = ..., stat: str = ...,
        rule: Literal["linear", "lower", "higher"] = ..., at: float | None = ..., label: str = ..., score: str = ...,
        group: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    def explained_variance(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    @overload
    def f1(
        cls: type[OfMetric], *, threshold: float = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    @overload
    def f1(
        cls: type[OfMetric], *, average: Literal["binary", "micro", "macro", "weighted", "samples"] = ...,
        labels: Sequence[Label] | None = ..., pos_label: Label = ..., zero_division: ZeroDivision = ...,
        macro: Literal["mean_of_f", "f_of_means"] = ..., label: str = ..., prediction: str = ...,
    ) -> OfMetric: ...
    @overload
    def f1(
        cls: type[OfMetric], *, k: int, short_list: Literal["k", "n"] = ..., relevance_level: float = ...,
        ties: Literal["average", "optimistic", "pessimistic"] = ...,
        empty: Literal["zero", "skip", "one", "nan", "raise"] = ..., stat: str = ...,
        rule: Literal["linear", "lower", "higher"] = ..., at: float | None = ..., label: str = ..., score: str = ...,
        group: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    @overload
    def fbeta(
        cls: type[OfMetric], *, beta: float = ..., threshold: float = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    @overload
    def fbeta(
        cls: type[OfMetric], *, average: Literal["binary", "micro", "macro", "weighted", "samples"] = ...,
        labels: Sequence[Label] | None = ..., pos_label: Label = ..., zero_division: ZeroDivision = ...,
        macro: Literal["mean_of_f", "f_of_means"] = ..., beta: float = ..., label: str = ..., prediction: str = ...,
    ) -> OfMetric: ...
    def fowlkes_mallows(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def gamma_deviance(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def gauc(
        cls: type[OfMetric], *, weight: Literal["impressions", "uniform", "positives", "pairs", "weights"] = ...,
        single_class: Literal["skip", "half", "nan", "raise"] = ..., stat: str = ...,
        rule: Literal["linear", "lower", "higher"] = ..., at: float | None = ..., label: str = ..., score: str = ...,
        group: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    @overload
    def gmean(
        cls: type[OfMetric], *, threshold: float = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    @overload
    def gmean(
        cls: type[OfMetric], *, labels: Sequence[Label] | None = ..., correction: float = ...,
        zero_division: ZeroDivision = ..., label: str = ..., prediction: str = ...,
    ) -> OfMetric: ...
    def hamming(
        cls: type[OfMetric], *, labels: Sequence[Label] | None = ..., label: str = ..., prediction: str = ...,
    ) -> OfMetric: ...
    def homogeneity(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def hr(
        cls: type[OfMetric], *, k: int, average: Literal["group", "micro"] = ..., relevance_level: float = ...,
        ties: Literal["average", "optimistic", "pessimistic"] = ...,
        empty: Literal["zero", "skip", "one", "nan", "raise"] = ..., stat: str = ...,
        rule: Literal["linear", "lower", "higher"] = ..., at: float | None = ..., label: str = ..., score: str = ...,
        group: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    def idcg(
        cls: type[OfMetric], *, k: int | None = ..., gain: Literal["linear", "exp2", "binary"] = ...,
        ideal: Literal["judged", "k"] = ..., relevance_level: float = ...,
        ties: Literal["average", "optimistic", "pessimistic"] = ..., stat: str = ...,
        rule: Literal["linear", "lower", "higher"] = ..., at: float | None = ..., label: str = ..., score: str = ...,
        group: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    @overload
    def jaccard(
        cls: type[OfMetric], *, threshold: float = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    @overload
    def jaccard(
        cls: type[OfMetric], *, average: Literal["binary", "micro", "macro", "weighted", "samples"] = ...,
        labels: Sequence[Label] | None = ..., pos_label: Label = ..., zero_division: ZeroDivision = ...,
        label: str = ..., prediction: str = ...,
    ) -> OfMetric: ...
    @overload
    def kappa(
        cls: type[OfMetric], *, threshold: float = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    @overload
    def kappa(
        cls: type[OfMetric], *, weights: Literal["linear", "quadratic"] | None = ..., label: str = ...,
        prediction: str = ...,
    ) -> OfMetric: ...
    def ks(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def lift(
        cls: type[OfMetric], *, q: float = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    @overload
    def logloss(
        cls: type[OfMetric], *, eps: Clipping = ..., sampling_rate: float | None = ..., label: str = ...,
        score: str = ...,
    ) -> OfMetric: ...
    @overload
    def logloss(
        cls: type[OfMetric], *, labels: Sequence[Label] | None = ..., eps: Clipping = ..., label: str = ...,
        probabilities: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    def lrap(
        cls: type[OfMetric], *, labels: Sequence[Label] | None = ..., label: str = ...,
        score: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    def mae(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def map(
        cls: type[OfMetric], *, k: int | None = ..., normalize: Literal["min", "relevant", "k", "hits"] = ...,
        relevance_level: float = ..., ties: Literal["average", "optimistic", "pessimistic"] = ...,
        empty: Literal["zero", "skip", "one", "nan", "raise"] = ..., stat: str = ...,
        rule: Literal["linear", "lower", "higher"] = ..., at: float | None = ..., label: str = ..., score: str = ...,
        group: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    def mape(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def max_error(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    @overload
    def mcc(
        cls: type[OfMetric], *, threshold: float = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    @overload
    def mcc(
        cls: type[OfMetric], *, label: str = ..., prediction: str = ...,
    ) -> OfMetric: ...
    def median_ae(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def meteor(
        cls: type[OfMetric], *, modules: Sequence[MeteorModule] = ..., alpha: float = ..., beta: float = ...,
        gamma: float = ..., alignment: Literal["fewest_crossings", "nltk"] = ...,
        average: Literal["segment", "corpus"] = ..., tokenize: Literal["13a", "intl", "char", "zh", "none"] = ...,
        lowercase: bool = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def mind_mrr(
        cls: type[OfMetric], *, k: int | None = ..., relevance_level: float = ...,
        ties: Literal["average", "optimistic", "pessimistic"] = ...,
        empty: Literal["zero", "skip", "one", "nan", "raise"] = ..., stat: str = ...,
        rule: Literal["linear", "lower", "higher"] = ..., at: float | None = ..., label: str = ..., score: str = ...,
        group: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    def mrr(
        cls: type[OfMetric], *, k: int | None = ..., relevance_level: float = ...,
        ties: Literal["average", "optimistic", "pessimistic"] = ...,
        empty: Literal["zero", "skip", "one", "nan", "raise"] = ..., stat: str = ...,
        rule: Literal["linear", "lower", "higher"] = ..., at: float | None = ..., label: str = ..., score: str = ...,
        group: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    def mse(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def msle(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def mutual_info(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def ndcg(
        cls: type[OfMetric], *, k: int | None = ..., gain: Literal["linear", "exp2", "binary"] = ...,
        ideal: Literal["judged", "k"] = ..., relevance_level: float = ...,
        ties: Literal["average", "optimistic", "pessimistic"] = ...,
        empty: Literal["zero", "skip", "one", "nan", "raise"] = ..., stat: str = ...,
        rule: Literal["linear", "lower", "higher"] = ..., at: float | None = ..., label: str = ..., score: str = ...,
        group: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    def ne(
        cls: type[OfMetric], *, base_rate: BaseRate = ..., eps: Clipping = ..., sampling_rate: float | None = ...,
        label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def nmi(
        cls: type[OfMetric], *, average_method: Literal["arithmetic", "geometric", "min", "max"] = ...,
        label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def p(
        cls: type[OfMetric], *, k: int, short_list: Literal["k", "n"] = ..., relevance_level: float = ...,
        ties: Literal["average", "optimistic", "pessimistic"] = ...,
        empty: Literal["zero", "skip", "one", "nan", "raise"] = ..., stat: str = ...,
        rule: Literal["linear", "lower", "higher"] = ..., at: float | None = ..., label: str = ..., score: str = ...,
        group: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    def pair_jaccard(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def partial_auc(
        cls: type[OfMetric], *, max_fpr: float | None = ..., standardize: bool = ..., label: str = ...,
        score: str = ...,
    ) -> OfMetric: ...
    def pcoc(
        cls: type[OfMetric], *, sampling_rate: float | None = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def pinball(
        cls: type[OfMetric], *, alpha: float = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def poisson_deviance(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    @overload
    def precision(
        cls: type[OfMetric], *, threshold: float = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    @overload
    def precision(
        cls: type[OfMetric], *, average: Literal["binary", "micro", "macro", "weighted", "samples"] = ...,
        labels: Sequence[Label] | None = ..., pos_label: Label = ..., zero_division: ZeroDivision = ...,
        label: str = ..., prediction: str = ...,
    ) -> OfMetric: ...
    def purity(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def r2(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def rand(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def ranking_loss(
        cls: type[OfMetric], *, labels: Sequence[Label] | None = ..., label: str = ...,
        score: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    def rbp(
        cls: type[OfMetric], *, k: int | None = ..., p: float = ..., gain: Literal["linear", "exp2", "binary"] = ...,
        relevance_level: float = ..., ties: Literal["average", "optimistic", "pessimistic"] = ...,
        empty: Literal["zero", "skip", "one", "nan", "raise"] = ..., stat: str = ...,
        rule: Literal["linear", "lower", "higher"] = ..., at: float | None = ..., label: str = ..., score: str = ...,
        group: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    @overload
    def recall(
        cls: type[OfMetric], *, threshold: float = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    @overload
    def recall(
        cls: type[OfMetric], *, average: Literal["binary", "micro", "macro", "weighted", "samples"] = ...,
        labels: Sequence[Label] | None = ..., pos_label: Label = ..., zero_division: ZeroDivision = ...,
        label: str = ..., prediction: str = ...,
    ) -> OfMetric: ...
    @overload
    def recall(
        cls: type[OfMetric], *, k: int, relevance_level: float = ...,
        ties: Literal["average", "optimistic", "pessimistic"] = ...,
        empty: Literal["zero", "skip", "one", "nan", "raise"] = ..., stat: str = ...,
        rule: Literal["linear", "lower", "higher"] = ..., at: float | None = ..., label: str = ..., score: str = ...,
        group: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    def rmse(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def rmsle(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def rouge1(
        cls: type[OfMetric], *, stem: bool = ..., tokenizer: Literal["default", "unicode"] = ..., beta: float = ...,
        label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def rouge2(
        cls: type[OfMetric], *, stem: bool = ..., tokenizer: Literal["default", "unicode"] = ..., beta: float = ...,
        label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def rougeL(
        cls: type[OfMetric], *, stem: bool = ..., tokenizer: Literal["default", "unicode"] = ..., beta: float = ...,
        label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def rougeLsum(
        cls: type[OfMetric], *, stem: bool = ..., tokenizer: Literal["default", "unicode"] = ..., beta: float = ...,
        label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def rprec(
        cls: type[OfMetric], *, relevance_level: float = ...,
        ties: Literal["average", "optimistic", "pessimistic"] = ...,
        empty: Literal["zero", "skip", "one", "nan", "raise"] = ..., stat: str = ...,
        rule: Literal["linear", "lower", "higher"] = ..., at: float | None = ..., label: str = ..., score: str = ...,
        group: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    @overload
    def specificity(
        cls: type[OfMetric], *, threshold: float = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    @overload
    def specificity(
        cls: type[OfMetric], *, average: Literal["binary", "micro", "macro", "weighted", "samples"] = ...,
        labels: Sequence[Label] | None = ..., pos_label: Label = ..., zero_division: ZeroDivision = ...,
        label: str = ..., prediction: str = ...,
    ) -> OfMetric: ...
    def ter(
        cls: type[OfMetric], *, normalized: bool = ..., no_punct: bool = ..., asian_support: bool = ...,
        case_sensitive: bool = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def top_k_accuracy(
        cls: type[OfMetric], *, k: int, labels: Sequence[Label] | None = ..., label: str = ...,
        probabilities: str | Sequence[str] = ...,
    ) -> OfMetric: ...
    def tweedie_deviance(
        cls: type[OfMetric], *, power: float = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def v_measure(
        cls: type[OfMetric], *, beta: float = ..., label: str = ..., score: str = ...,
    ) -> OfMetric: ...
    def xauc(
        cls: type[OfMetric], *, label: str = ..., score: str = ...,
    ) -> OfMetric: ...
