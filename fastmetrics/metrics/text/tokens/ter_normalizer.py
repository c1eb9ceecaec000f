"""Tercom's normalization of texts, an option of TER. It is rarely used, so it runs in Python, one text at a time."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

from fastmetrics.metrics.text.inputs.segments import TextBlock

ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
# ASCII punctuation except the apostrophe, the hyphen, the full stop and the comma, which occur in words and numbers.
PUNCTUATION = r"[{-~\[-` -&(-+:-@/]"
# Substitutions in their order. Full stops and commas between digits stay.
SUBSTITUTIONS = (
    (rf"({PUNCTUATION})", r" \1 "),
    (r"'s ", " 's "),
    (r"([^0-9])([.,])", r"\1 \2 "),
    (r"([.,])([^0-9])", r" \1 \2"),
    (r"([0-9])-", r"\1 - "),
)
LATIN_PUNCTUATION = '[.,?:;!"()]'
CJK_PUNCTUATION = "\u3001\u3002\u3008-\u3011\u3014-\u301f\uff61-\uff65\u30fb"
FULL_WIDTH_PUNCTUATION = "\uff0e\uff0c\uff1f\uff1a\uff1b\uff01\uff02\uff08\uff09"
# Ideographs, strokes, radicals, compatibility forms. Kana are not split, as in Tercom: its patterns for kana match only
# lines without any other character, but every line begins with a space by then.
CJK = "\u4e00-\u9fff\u3400-\u4dbf\u31c0-\u31ef\u2e80-\u2eff\u3300-\u33ff\uf900-\ufaff\ufe30-\ufe4f\u3200-\u3f22"


class Normalizer:
    """Normalizes texts as Tercom does, with its options."""

    def __init__(self, normalized: bool, no_punct: bool, asian_support: bool) -> None:
        substitutions = list(SUBSTITUTIONS) if normalized else []
        if normalized and asian_support:
            substitutions.append((f"([{CJK}{CJK_PUNCTUATION}{FULL_WIDTH_PUNCTUATION}])", r" \1 "))
        if no_punct:
            substitutions.append((LATIN_PUNCTUATION, ""))
            if asian_support:
                substitutions.append((f"[{CJK_PUNCTUATION}{FULL_WIDTH_PUNCTUATION}]", ""))
        self.normalized = normalized
        self.substitutions = [(re.compile(pattern), replacement) for pattern, replacement in substitutions]

    def normalize(self, text: str) -> str:
        """Return one text normalized. It was lower-cased before, if it has to be."""
        text = text.rstrip()
        if self.normalized and text:
            text = text.replace("\n-", "").replace("\n", " ")
            for entity, character in ENTITIES:
                text = text.replace(entity, character)
            text = f" {text} "
        for pattern, replacement in self.substitutions:
            text = pattern.sub(replacement, text)
        return text

    def normalize_block(self, block: TextBlock) -> TextBlock:
        """Return a block of normalized texts. References are normalized twice, as in sacrebleu.

        The second pass has an effect: "'s " is split from a word only if a space follows it. In "John's." the full stop
        follows, and the first pass splits that off; the second pass then splits "'s". Hypotheses keep "John's".
        """
        offsets = block.offsets.tolist()
        text = block.points[: offsets[-1]].astype("<u4").tobytes().decode("utf-32-le")
        texts = [self.normalize(text[start:stop]) for start, stop in pairwise(offsets)]
        if self.normalized:
            hypotheses = set(block.segments[:-1].tolist())
            for index, normalized in enumerate(texts):
                if index not in hypotheses:
                    texts[index] = self.normalize(" ".join(normalized.split()))
        points = np.frombuffer("".join(texts).encode("utf-32-le"), "<u4").astype(np.uint32)
        return TextBlock(points, np.cumsum([0, *map(len, texts)], dtype=np.int64), block.segments)
