"""What is proposed: similar names for an unknown one, the public names of a module, functions for labels of classes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

MOST_SUGGESTED = 3
# Of the package; they are listed once they were imported.
PUBLIC_MODULES = ("dask", "distributed", "extend", "ray", "spark", "testing")


def suggest(name: str, known: list[str]) -> str:
    """The known names that are similar to `name` as a question, or all of them."""
    return ask_for(close_matches(name, known)[:MOST_SUGGESTED], known)


def close_matches(name: str, known: Iterable[str], cutoff: float = 0.5) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(name, list(dict.fromkeys(known)), n=10, cutoff=cutoff)


def ask_for(similar: list[str], known: Iterable[str] = ()) -> str:
    return f"did you mean {' or '.join(map(repr, similar))}?" if similar else f"known: {', '.join(known)}"


# The most letters that may be wrong in a name, by its length: a name of three letters with one other is another name.
WRONG_LETTERS = ((3, 0), (6, 1), (10, 2), (100, 3))
LEAST_PART, LEAST_BEGINNING = 3, 5  # letters


def similar_words(word: str, known: Iterable[str]) -> list[str]:
    """The known words that `word` may mean, the nearest first.

    Few letters are wrong, or whole parts between underscores are those of a known word, or one begins with it.
    """
    ranked = []
    for own in known:
        plain, other = word.replace("_", ""), own.replace("_", "")
        shorter = min(len(plain), len(other))
        most = next((number for length, number in WRONG_LETTERS if shorter <= length), 0)
        distance = edit_distance(plain, other, max(most, 1))
        same = next((place for place, (a, b) in enumerate(zip(plain, other, strict=False)) if a != b), shorter)
        is_slip = (
            distance == 1 and shorter > 2 and (sorted(plain) == sorted(other) or len(plain) != len(other) or same > 1)
        )
        is_part = len(own) >= LEAST_PART and f"_{own}_" in f"_{word}_"
        if distance <= most or is_slip:
            ranked.append((distance, -same, -len(own), own))
        elif is_part or (len(word) >= LEAST_BEGINNING and own.startswith(f"{word}_")):
            ranked.append((len(word), 0, -len(own) if is_part else len(own), own))
    return [own for *_, own in sorted(ranked)]


def edit_distance(one: str, other: str, most: int) -> int:
    """How many letters have to be put in, left out, replaced, or swapped with the next; above `most`, `most` + 1."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        new = [row]
        for column, own in enumerate(other, 1):
            cost = min(last[column] + 1, new[-1] + 1, last[column - 1] + (letter != own))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == own:
                cost = min(cost, before[column - 2] + 1)
            new.append(cost)
        if min(new) > most:
            return most + 1
        before, last = last, new
    return last[-1]


def list_public(namespace: dict[str, Any]) -> Callable[[], list[str]]:
    """The `__dir__` of a public module with these globals: what editors and notebooks complete."""

    def names() -> list[str]:
        special = (name for name in namespace if name.startswith("__") and name.endswith("__"))
        modules = (name for name in PUBLIC_MODULES if name in namespace)
        return sorted({*namespace["__all__"], *special, *modules})

    return names


def advice_for_classes(label: Any) -> str:
    """What functions take for labels of more than two classes; empty if a label is no class, such as 0.5 or 'NaN'."""
    if isinstance(label, str) or not math.isfinite(label) or label % 1 != 0:
        return ""
    return (
        ". For one class against the rest pass np.asarray(y_true) == CLASS; labels of more classes go with predictions "
        "to accuracy_score or f1_score, with probabilities to log_loss or roc_auc_score(multi_class='ovr')"
    )
