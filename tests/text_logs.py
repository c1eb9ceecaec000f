"""Logs of texts, short and in several scripts, and what the public functions say of their columns."""

import random
from typing import Any

import numpy as np

import fastmetrics as fm
from fastmetrics._core.registry import parse

SUBJECTS = ["The cat", "Der Hund", "Кошка", "他", "A naïve Über-dog", "It's", "x", "The U.S.", "İstanbul"]
VERBS = ["sat", "SITS", "сидит", "坐在", "was sitting", "runs,", "ran ,", "cats running", "ΣΟΦΟΣ"]
ENDS = ["on the mat.", "auf der Matte!", "垫子上。", "at 3.50 (or so)", "", "again and again and again", "🐈"]


def text_columns(rows: int, seed: int = 0) -> dict[str, Any]:
    """References, and hypotheses of two systems that are like them or not, some empty."""
    chance = random.Random(seed)

    def sentence() -> str:
        return chance.choice("  \n").join(map(chance.choice, (SUBJECTS, VERBS, ENDS)))

    references = [sentence() for _ in range(rows)]
    hypotheses = []
    for text in references:
        words = text.split()
        words[chance.randrange(len(words))] = chance.choice(ENDS)
        hypotheses.append(chance.choice([text, " ".join(words), " ".join(words), " ".join(words[1:]), sentence()]))
    worse = [chance.choice([text, sentence(), ""]) for text in hypotheses]
    return {"reference": np.array(references), "hypothesis": np.array(hypotheses), "worse": np.array(worse)}


def more_references(references: Any, seed: int = 0) -> list[list[str | None]]:
    """Lists of references for a column: some have one, some more, some a null among them."""
    chance = random.Random(seed)
    known = list(map(str, references))
    return [[text, *(chance.choice([*known[:50], None]) for _ in range(chance.randrange(3)))] for text in known]


def function_value(metric: str, log: dict[str, Any], label: str = "reference", score: str = "hypothesis") -> float:
    """What the metric's public function says, with the options of its string."""
    own = parse(metric)
    hypotheses, references = list(map(str, log[score])), list(log[label])
    options = dict(own.arguments)
    if own.spec.name.startswith("rouge"):
        return fm.rouge_score(hypotheses, references, [own.spec.name], **options)[own.spec.name].fmeasure
    if not isinstance(references[0], str) and own.spec.name != "meteor":
        most = max(map(len, references))
        references = [[own[place] if place < len(own) else None for own in references] for place in range(most)]
    return float(own.spec.function(hypotheses, references, **options))


def text_metrics() -> list[str]:
    """Every registered metric of text, by default and otherwise."""
    names = [spec.name for spec in fm.describe_metrics() if spec.target == "text"]
    if not has_wordnet():
        names.remove("meteor")
    return names + VARIANTS


def has_wordnet() -> bool:
    """Is there a WordNet? Without one METEOR's default says what to install."""
    try:
        fm.sentence_meteor("a", "a")
    except FileNotFoundError:
        return False
    return True


# Options beside the defaults.
VARIANTS = [
    "bleu(lowercase=True, smooth=floor, max_order=2)",
    "bleu(tokenize=intl, effective_order=True, smooth='add-k', smooth_value=0.5)",
    "bleu(tokenize=zh)",
    "bleu(tokenize=char, smooth=none)",
    "chrf(word_order=2, lowercase=True)",
    "chrf(char_order=2, beta=0.5, whitespace=True, eps_smoothing=True)",
    "meteor(modules=('exact', 'stem'), average=corpus)",
    "meteor(modules=('exact',), alignment=nltk, lowercase=False, tokenize=zh, gamma=0.25)",
    "rouge1(stem=True)",
    "rouge2(tokenizer=unicode)",
    "rougeL(stem=True, beta=2)",
    "rougeLsum(tokenizer=unicode, stem=True)",
    "ter(normalized=True, no_punct=True, asian_support=True)",
    "ter(case_sensitive=True)",
]
