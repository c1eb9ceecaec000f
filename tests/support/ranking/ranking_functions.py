"""The public functions of ranked lists by name, with their measure and their options."""

from typing import NamedTuple

GAINS = ("linear", "exp2", "binary")


class Function(NamedTuple):
    """A function: the oracle's name of its measure, its options with their values, and which parameters it has."""

    measure: str
    options: dict[str, tuple] = {}  # noqa: RUF012
    cutoff: bool = True
    needs_cutoff: bool = False
    has_empty: bool = True


FUNCTIONS = {
    "auc_at_k": Function("auc", needs_cutoff=True),
    "average_precision_at_k": Function("map", {"normalize": ("min", "relevant", "k", "hits")}, needs_cutoff=True),
    "bpref": Function("bpref", cutoff=False),
    "cumulative_gain": Function("cg", {"gain": GAINS}, has_empty=False),
    "dcg_score": Function("dcg", {"gain": GAINS, "log_base": (2, 10, 1.5)}, has_empty=False),
    "expected_reciprocal_rank": Function("err", {"max_grade": (4, 5)}),
    "f1_at_k": Function("f1", {"short_list": ("k", "n")}, needs_cutoff=True),
    "hit_rate": Function("hr", needs_cutoff=True),
    "ideal_dcg": Function("idcg", {"gain": GAINS}, has_empty=False),
    "mean_average_precision": Function("map", {"normalize": ("min", "relevant", "k", "hits")}),
    "mean_reciprocal_rank": Function("mrr"),
    "mind_mrr": Function("mind_mrr"),
    "ndcg_score": Function("ndcg", {"gain": GAINS}),
    "precision_at_k": Function("p", {"short_list": ("k", "n")}, needs_cutoff=True),
    "r_precision": Function("rprec", cutoff=False),
    "rank_biased_precision": Function("rbp", {"gain": GAINS, "p": (0.8, 0.5, 0.99)}),
    "recall_at_k": Function("recall", needs_cutoff=True),
}
