"""Logs of shown items, and truth tables with the grades of the items of every user."""

import numpy as np
import pyarrow as pa

# Our metric string, the oracle's name and options.
MEASURES = [
    ("ndcg@5", "ndcg", {"k": 5}),
    ("ndcg(gain=exp2)@3", "ndcg", {"k": 3, "gain": "exp2"}),
    ("map(normalize=relevant)", "map", {"normalize": "relevant"}),
    ("mrr", "mrr", {}),
    ("hr@3", "hr", {"k": 3}),
    ("p@5", "p", {"k": 5}),
    ("recall@5", "recall", {"k": 5}),
    ("f1@4", "f1", {"k": 4}),
    ("rprec", "rprec", {}),
    ("bpref", "bpref", {}),
]
METRICS = [name for name, _, _ in MEASURES]
COLUMNS = {"score": "score", "group": "user", "item": "item"}
TRUTH = {"label": "grade"}


def random_tables(seed, n_users=60, most_items=12, texts=False, distinct=6):
    """A log with ties, in any order, and a truth table with items of grade 0 and items that are not shown.

    Some users of the log have no truth, and some of the truth no rows. Country and weight are those of a user.
    """
    rng = np.random.default_rng(seed)
    shown, judged = [], []
    for user in range(n_users):
        items = rng.permutation(40)[: rng.integers(1, most_items)]
        shown += [(user, item, rng.integers(0, distinct) / 4) for item in items]
        if user % 7:
            there = user + n_users * (user % 11 == 10)
            judged += [(there, item, rng.integers(0, 4)) for item in rng.permutation(40)[: rng.integers(1, 8)]]
    shown, judged = (np.array(rng.permutation(np.array(own, float))) for own in (shown, judged))
    user = shown[:, 0].astype(np.int64)
    log = pa.table({
        "user": user, "item": shown[:, 1].astype(np.int64), "score": shown[:, 2],
        "country": pa.array(np.array(["nl", "de", "fr"])[user % 3]), "weight": 1.0 + user % 4,
    })  # fmt: skip
    truth = pa.table({name: judged[:, place].astype(np.int64) for place, name in enumerate(("user", "item", "grade"))})
    return (with_text_keys(log), with_text_keys(truth)) if texts else (log, truth)


def with_text_keys(table):
    """The same rows; users and items are texts, of which some are longer than others."""
    for place, name in enumerate(("user", "item")):
        texts = [f"{name} {'of a long name ' * (key % 3)}{key}" for key in table[name].to_pylist()]
        table = table.set_column(place, name, pa.array(texts))
    return table
