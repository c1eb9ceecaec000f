"""How other tools write the names of metrics: rules that lead from what was typed to names that the registry has.

"precision_at_10", "NDCG.10", "P_10" and "map_cut_10" have a cutoff in their names, "f1_macro" and "roc_auc_ovr" an
option, "RocAuc" capitals in place of underscores. A rule reads one such habit. `other_spellings` applies them one after
another, the fewest first, so that "NDCG_at_10" and "BinaryF1Score" are read too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from fastmetrics._core.metric_spec import CUTOFF
from fastmetrics._core.named_tuples import NamedTuple

# A name that may be of another tool, options, and what may stand behind "@".
ANY_SPELLING = r"(?s)\s*(\w[\w.:;=~ +-]*?)\s*(?:\((.*)\))?\s*(?:@\s*([0-9.]+\s*%?|k)-?)?\s*(?:-l([0-9]+))?\s*"
ANY_CUTOFF = "k"  # stands for a number
AVERAGES = "macro|micro|weighted|samples"
MULTI_CLASS = "ovr|ovo"
OF_TWO_CLASSES, OF_GROUPS = "binary_", "retrieval_"  # begin names of torchmetrics, TFMA and Keras
MOST_RULES = 4  # applied to one name
SHARES = ("q", "p")  # options of metrics that take a share in place of a cutoff


class Spelling(NamedTuple):
    """A metric string in parts.

    Attributes
    ----------
    name : str
    options : tuple of str
        What stands in the parentheses, and options that its name had.
    cutoff : str or None
        What stands behind "@", or the number that its name had.
    is_numbered : bool
        Had the name the number behind an underscore, as Keras writes the second metric of a name?
    of_groups : bool
        Is the name that of a metric of ranked lists?
    """

    name: str
    options: tuple[str, ...] = ()
    cutoff: str | None = None
    is_numbered: bool = False
    of_groups: bool = False

    @property
    def inside(self) -> str:
        return ", ".join(self.options)

    @property
    def key(self) -> str:
        """The name as it is looked up, with "@k" if it has a cutoff."""
        return key_of(self.name) + ("" if self.cutoff is None else CUTOFF)

    def of(self, name: str, *options: str) -> Spelling:
        """The same metric by another name, with further options."""
        return self._replace(name=name, options=(*self.options, *options))


def key_of(name: str) -> str:
    """A name without what makes no difference: case, hyphens, and underscores, other than those before a number."""
    return re.sub(r"_(?![0-9])", "", name.lower().replace("-", "_").replace(" ", "_"))


def snake_name(name: str) -> str:
    """Words in small letters, with underscores between them."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"[\s_-]+", "_", words).lower()


def snake_case(spelling: Spelling) -> Iterator[Spelling]:
    """ "MeanSquaredError" is "mean_squared_error"."""
    name = snake_name(spelling.name)
    if name != spelling.name:
        yield spelling.of(name)


def with_cutoff(spelling: Spelling) -> Iterator[Spelling]:
    """ "recall_at_10", "recall_top_10", "recall.10", "recall_10", "recall10" are "recall@10"; a cut is trec_eval's."""
    if spelling.cutoff is not None:
        return
    match = re.fullmatch(r"(.*?\w)(_at_|_top_|_at_top_|_cut[_.])([0-9]+)", spelling.name, re.IGNORECASE)
    match = match or re.fullmatch(r"(.*?[a-z])(_?\.|_)?([0-9]+)", spelling.name, re.IGNORECASE)
    if match is not None:
        name, between, number = match.groups()
        name += "_cut" if (between or "").lower().startswith("_cut") else ""
        yield Spelling(name, spelling.options, number, between in (None, "_"))


def with_any_cutoff(spelling: Spelling) -> Iterator[Spelling]:
    """ "ndcg_at_k@10" is "ndcg@10", and "ndcg_at_k" and "ndcg_top_k" lack their cutoff."""
    match = re.fullmatch(r"(.+)_(?:at|top)(_k)?", spelling.name.lower())
    if match is not None:
        yield spelling.of(match[1])._replace(cutoff=spelling.cutoff or ANY_CUTOFF)


def with_inner_cutoff(spelling: Spelling) -> Iterator[Spelling]:
    """ "top_5_accuracy" is "top_k_accuracy@5"."""
    match = re.fullmatch(r"([a-z_]+?)_?([0-9]+)(_[a-z_]+)", spelling.name.lower())
    if match is not None and spelling.cutoff is None:
        yield Spelling(f"{match[1]}_k{match[3]}", spelling.options, match[2])


def with_share(spelling: Spelling) -> Iterator[Spelling]:
    """ "lift@10%" and "lift@0.1" are "lift(q=0.1)", and "rbp@0.8" and "rbp.8", as ranx writes it, "rbp(p=0.8)"."""
    cutoff, name = spelling.cutoff or "", spelling.name
    if cutoff.endswith("%"):
        from decimal import Decimal, InvalidOperation  # a slow import

        try:
            digits = f"{Decimal(cutoff.rstrip('% ')).scaleb(-2).normalize():f}"
        except InvalidOperation:
            return
    elif match := re.fullmatch(r"0?\.([0-9]+)", cutoff):
        digits = f"0.{match[1]}"
    elif match := re.fullmatch(r"(.*?[A-Za-z])(?:_p=0|_0)?\.(?:0\.)?([0-9]+)", name):
        name, digits = match[1], f"0.{match[2]}"
    else:
        return
    for option in SHARES:
        yield spelling.of(name, f"{option}={digits}")._replace(cutoff=None)


def with_average(spelling: Spelling) -> Iterator[Spelling]:
    """ "f1_macro" is "f1(average=macro)", and "roc_auc_ovo_weighted" is "auc(multi_class=ovo, average=weighted)"."""
    match = re.fullmatch(rf"(?:({AVERAGES})_)?(.+?)(?:_({AVERAGES}))?", spelling.name.lower())
    if match is not None and (match[1] or match[3]):
        yield spelling.of(match[2], f"average={match[1] or match[3]}")
    match = re.fullmatch(rf"(.+?)_({MULTI_CLASS})", spelling.name.lower())
    if match is not None:
        yield spelling.of(match[1], f"multi_class={match[2]}")


def without_optional_words(spelling: Spelling) -> Iterator[Spelling]:
    """ "binary_f1" and "f1_binary" are "f1", "retrieval_map" and "map_score" are "map"."""
    name = spelling.name.lower()
    if name.startswith(OF_TWO_CLASSES):
        yield spelling.of(name.removeprefix(OF_TWO_CLASSES))
    if name.endswith("_binary"):
        yield spelling.of(name.removesuffix("_binary"))
    if name.startswith(OF_GROUPS):
        yield spelling.of(name.removeprefix(OF_GROUPS))._replace(of_groups=True)
    if name.endswith("_score"):
        yield spelling.of(name.removesuffix("_score"))


def of_flat_name(spelling: Spelling) -> Iterator[Spelling]:
    """ "ndcg.gain_exp2_at_10", as `to_metrics` writes it, is "ndcg(gain=exp2)@10"."""
    match = re.fullmatch(r"([\w-]+)\.([a-z].*?)(?:_at_([0-9]+))?", spelling.name)
    if match is not None and not spelling.options and spelling.cutoff is None:
        yield Spelling(match[1], (f"{FLAT}{match[2]}",), match[3])


FLAT = "."  # begins options as flat names have them: they are read once the metric's parameters are known
RULES: tuple[Callable[[Spelling], Iterator[Spelling]], ...] = (
    snake_case, with_share, with_cutoff, with_any_cutoff, with_inner_cutoff, with_average, without_optional_words,
    of_flat_name,
)  # fmt: skip


def other_spellings(typed: Spelling) -> Iterator[Spelling]:
    """What was typed, then what the rules make of it: those that one rule makes, two, and so on; each once."""
    found = {typed: None}
    newest = [typed]
    yield typed
    for _ in range(MOST_RULES):
        made = [new for spelling in newest for rule in RULES for new in rule(spelling)]
        newest = [new for new in dict.fromkeys(made) if new not in found]
        found.update(dict.fromkeys(newest))
        yield from newest


def read_flat_options(flat: str, words: list[str]) -> str:
    """The options of a flat name, "gain_exp2.ties_docid", as a metric string has them; `words` are known options."""
    names = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    parts = re.split(rf"(?:^|\.)({names})([_.])", flat) if words else [flat]
    if parts[0] or len(parts) < 4:
        return ""
    options = []
    for name, sign, value in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        is_number = re.fullmatch(r"-?[0-9.]+(e-?[0-9]+)?|p[0-9]+\.[0-9]+", value)
        members = [value] if is_number and sign == "_" else value.split(".")
        is_list = sign == "." or len(members) > 1
        options.append(f"{name}=[{', '.join(map(quoted, members))}]" if is_list else f"{name}={quoted(value)}")
    return ", ".join(options)


def quoted(value: str) -> str:
    """A value of a flat name as a literal."""
    return value if re.fullmatch(r"-?[0-9.]+(e-?[0-9]+)?|True|False|None", value) else repr(value)


def signature_options(facts: list[str], words: list[str]) -> str:
    """The options that begin the facts of a signature, as a metric string has them; `words` are the known options.

    Each stands once, so that a second "weight" is the column of weights.
    """
    options: dict[str, str] = {}
    for fact in facts:
        word, colon, value = fact.partition(":")
        if not colon or word not in words or word in options:
            break
        options[word] = value
    return ", ".join(f"{word}={value}" for word, value in options.items())
