"""Tercom's normalisation of texts, which TER takes when asked for: rare, so in Python, a text at a time."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

from fastmetrics.metrics.text.segments import TextBlock

ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
# Punctuation of ASCII but the apostrophe, the hyphen, and what stands in numbers.
MARK = r"[{-~\[-` -&(-+:-@/]"
# Marks between digits stay; each of these steps reads what the one before wrote.
STEPS = (
    (rf"({MARK})", r" \1 "),
    (r"'s ", " 's "),
    (r"([^0-9])([.,])", r"\1 \2 "),
    (r"([.,])([^0-9])", r" \1 \2"),
    (r"([0-9])-", r"\1 - "),
)
LATIN_PUNCTUATION = '[.,?:;!"()]'
CJK_PUNCTUATION = "\u3001\u3002\u3008-\u3011\u3014-\u301f\uff61-\uff65\u30fb"
FULL_WIDTH_PUNCTUATION = "\uff0e\uff0c\uff1f\uff1a\uff1b\uff01\uff02\uff08\uff09"
# Ideographs, strokes, radicals, compatibility forms. Kana stay together: the expressions that were to part them look
# for a line of nothing else, and lines begin with a space by then.
CJK = "\u4e00-\u9fff\u3400-\u4dbf\u31c0-\u31ef\u2e80-\u2eff\u3300-\u33ff\uf900-\ufaff\ufe30-\ufe4f\u3200-\u3f22"


class Normaliser:
    """Texts as Tercom sees them."""

    def __init__(self, normalized: bool, no_punct: bool, asian_support: bool) -> None:
        steps = list(STEPS) if normalized else []
        if normalized and asian_support:
            steps.append((f"([{CJK}{CJK_PUNCTUATION}{FULL_WIDTH_PUNCTUATION}])", r" \1 "))
        if no_punct:
            steps.append((LATIN_PUNCTUATION, ""))
            if asian_support:
                steps.append((f"[{CJK_PUNCTUATION}{FULL_WIDTH_PUNCTUATION}]", ""))
        self.normalized = normalized
        self.steps = [(re.compile(pattern), replacement) for pattern, replacement in steps]

    def normalise(self, text: str) -> str:
        """One text, in lower case where it is to be."""
        text = text.rstrip()
        if self.normalized and text:
            text = text.replace("\n-", "").replace("\n", " ")
            for entity, character in ENTITIES:
                text = text.replace(entity, character)
            text = f" {text} "
        for pattern, replacement in self.steps:
            text = pattern.sub(replacement, text)
        return text

    def block(self, block: TextBlock) -> TextBlock:
        """A block of normalised texts: references twice, as sacrebleu takes them.

        What parts the s of "John's." a second time only, for its full stop is in the way at first, then is parted from
        it in references alone.
        """
        offsets = block.offsets.tolist()
        text = block.points[: offsets[-1]].astype("<u4").tobytes().decode("utf-32-le")
        texts = [self.normalise(text[start:stop]) for start, stop in pairwise(offsets)]
        if self.normalized:
            hypotheses = set(block.segments[:-1].tolist())
            for place, own in enumerate(texts):
                if place not in hypotheses:
                    texts[place] = self.normalise(" ".join(own.split()))
        joined = np.frombuffer("".join(texts).encode("utf-32-le"), "<u4").astype(np.uint32)
        ends = np.zeros(len(offsets), np.int64)
        np.cumsum([len(text) for text in texts], out=ends[1:])
        return TextBlock(joined, ends, block.segments)
