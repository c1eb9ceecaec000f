"""Tokenizers by name: those of sacrebleu and two of ROUGE, in native code."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, overload

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.rows import Scratch
from fastmetrics._kernels import tokenizers as kernels

__all__ = ["tokenize"]

# sacrebleu's, which metrics of words take.
TOKENIZERS = {
    "13a": kernels.split_13a,
    "intl": kernels.split_intl,
    "char": kernels.split_char,
    "zh": kernels.split_zh,
    "none": kernels.split_none,
}
# ROUGE's. The first makes letters small itself; the second takes texts in lower case.
ROUGE_TOKENIZERS = {"alphanumeric": kernels.split_alphanumeric, "unicode": kernels.split_unicode}
ALL_TOKENIZERS = {**TOKENIZERS, **ROUGE_TOKENIZERS}


class Tokenizer:
    """One thread's tokenizer: the arrays it returns are those of its last call, used again."""

    def __init__(self, name: str) -> None:
        self.rule = ALL_TOKENIZERS[name]
        self.scratch = Scratch()

    def split(self, points: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """token_points, token_starts and text_tokens of a block's texts; the first two are longer than what is used.

        Text i has the tokens text_tokens[i] to text_tokens[i + 1]; token t has the code points
        token_points[token_starts[t] : token_starts[t + 1]].
        """
        n_points = int(offsets[-1] - offsets[0])
        token_points = self.scratch.take("points", np.uint32, n_points)
        token_starts = self.scratch.take("starts", np.int64, n_points + 1)
        text_tokens = self.scratch.take("tokens", np.int64, len(offsets))
        self.rule(points, offsets, token_points, token_starts, text_tokens)
        return token_points, token_starts, text_tokens


@overload
def tokenize(text: str, tokenizer: str = "13a", *, lowercase: bool = False) -> list[str]: ...
@overload
def tokenize(
    text: list[str] | tuple[str, ...], tokenizer: str = "13a", *, lowercase: bool = False
) -> list[list[str]]: ...
def tokenize(text: Any, tokenizer: str = "13a", *, lowercase: bool = False) -> list[str] | list[list[str]]:
    """The tokens of a text, or of every text of a list, as the metrics of text see them.

    A token is what stands between white space once the tokenizer has separated what it separates.

    Parameters
    ----------
    text : str or list of str
        One text, or several.
    tokenizer : {"13a", "intl", "char", "zh", "none", "alphanumeric", "unicode"}
        - "13a": punctuation and symbols of ASCII are tokens, "." and "," not between digits, "-" behind a digit only.
          XML entities are replaced, "<skipped>" and hyphens at the end of a line are dropped (mteval-v13a).
        - "intl": all punctuation and all symbols of Unicode are tokens, punctuation not between numbers (mteval-v14).
        - "zh": Chinese characters are tokens, what is between them is separated as by 13a.
        - "char": every character but white space.
        - "none": white space alone.
        - "alphanumeric": runs of a-z and 0-9 of the text in lower case, as ROUGE's original; the rest is dropped.
        - "unicode": runs of letters, marks and numbers of any script, of the text in lower case. A letter of a script
          without spaces between words (Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar) is a token of its own, with
          the marks that follow it.
    lowercase : bool
        Take the text in lower case. "alphanumeric" and "unicode" always do.

    Returns
    -------
    list of str, or list of lists of str
        The tokens of the text, or those of every text.

    Raises
    ------
    TypeError
        Something is no text; the message says where.
    ValueError
        An unknown tokenizer.

    Notes
    -----
    The first five are those of sacrebleu 2.6, token by token, its peculiarities included: with "13a", "1...2" ends in
    ".2"; with "intl", a dot behind a number at the end of a line stays with it; with "zh", every character from U+2001
    to U+2A6D is taken for Chinese. Categories are those of Unicode 18.

    References
    ----------
    NIST, mteval-v13a.pl and mteval-v14.pl. M. Post, A call for clarity in reporting BLEU scores, WMT 2018. C.-Y. Lin,
    ROUGE: a package for automatic evaluation of summaries, 2004.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.tokenize("It costs $1,000.50 (or so), Mr. O'Neil.")
    ['It', 'costs', '$', '1,000.50', '(', 'or', 'so', ')', ',', 'Mr', '.', "O'Neil", '.']
    >>> fm.tokenize(["«Да», 5%!", "我有3.5元。"], "intl")
    [['«', 'Да', '»', ',', '5', '%', '!'], ['我有3.5元', '。']]
    >>> fm.tokenize("Ein Tag in 東京, x²", "unicode")
    ['ein', 'tag', 'in', '東', '京', 'x²']
    """
    inputs.check_option(tokenizer, "tokenizer", tuple(ALL_TOKENIZERS))
    inputs.check_flag(lowercase, "lowercase")
    if isinstance(text, str):
        return split_texts([text], tokenizer, lowercase)[0]
    if not isinstance(text, (list, tuple)):
        raise TypeError(f"text must be a string or a list of strings; found {type(text).__name__}")
    for place, one in enumerate(text):
        if not isinstance(one, str):
            raise TypeError(f"text[{place}] must be a string; found {type(one).__name__}")
    return split_texts(list(text), tokenizer, lowercase)


def split_texts(texts: list[str], tokenizer: str, lowercase: bool) -> list[list[str]]:
    """The tokens of texts that are strings."""
    if lowercase or tokenizer == "unicode":
        texts = [text.lower() for text in texts]
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    # Lone surrogates are characters like others here.
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32)
    token_points, token_starts, text_tokens = Tokenizer(tokenizer).split(points, offsets)
    n_tokens = int(text_tokens[-1])
    starts = token_starts[: n_tokens + 1]
    # No token holds a space: with one behind each, Python splits them at once.
    spaced = np.full(int(starts[-1]) + n_tokens, ord(" "), "<u4")
    of_tokens = np.ones(len(spaced), bool)
    of_tokens[starts[1:] + np.arange(n_tokens)] = False
    spaced[of_tokens] = token_points[: starts[-1]]
    joined = spaced.tobytes().decode("utf-32-le", "surrogatepass")
    bounds = (starts[text_tokens] + text_tokens).tolist()
    return [joined[start : stop - 1].split(" ") if start < stop else [] for start, stop in pairwise(bounds)]
