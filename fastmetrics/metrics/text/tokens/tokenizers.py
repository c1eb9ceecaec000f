"""`tokenize`, and the native tokenizers by name: five of sacrebleu and two of ROUGE."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, overload

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.row_blocks import Scratch
from fastmetrics._kernels.text.tokens import tokenizers as kernels

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike
    from fastmetrics._core.types.options import AnyTokenizer

__all__ = ["tokenize"]

# sacrebleu's tokenizers: the values of the option `tokenize`.
TOKENIZERS = ("13a", "intl", "char", "zh", "none")
# ROUGE's tokenizers. "alphanumeric" lower-cases texts itself; "unicode" expects them in lower case.
ROUGE_TOKENIZERS = ("alphanumeric", "unicode")
ALL_TOKENIZERS = TOKENIZERS + ROUGE_TOKENIZERS


class Tokenizer:
    """One thread's tokenizer. Every call reuses the arrays that the call before returned."""

    def __init__(self, name: str) -> None:
        self.number = kernels.TOKENIZERS.index(name)
        self.scratch = Scratch()

    def split(self, points: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Tokenize a block's texts; return token_points, token_starts and text_tokens.

        Text i has the tokens text_tokens[i] to text_tokens[i + 1]. Token t has the code points
        token_points[token_starts[t] : token_starts[t + 1]]. The first two arrays have unused items at their ends.
        """
        n_points = int(offsets[-1] - offsets[0])
        token_points = self.scratch.array("points", np.uint32, n_points)
        token_starts = self.scratch.array("starts", np.int64, n_points + 1)
        text_tokens = self.scratch.array("tokens", np.int64, len(offsets))
        kernels.split(self.number, points, offsets, token_points, token_starts, text_tokens)
        return token_points, token_starts, text_tokens


@overload
def tokenize(
    text: str, tokenizer: AnyTokenizer = ..., *, lowercase: bool = ...,
) -> list[str]: ...  # fmt: skip
@overload
def tokenize(
    text: ArrayLike, tokenizer: AnyTokenizer = ..., *, lowercase: bool = ...,
) -> list[list[str]]: ...  # fmt: skip
@answers_unknown
def tokenize(
    text: str | ArrayLike, tokenizer: AnyTokenizer = "13a", *, lowercase: bool = False
) -> list[str] | list[list[str]]:
    """Split a text, or every text of a list, into tokens, as the text metrics do.

    A tokenizer inserts spaces around punctuation and other characters; then the text is split at white space.

    Parameters
    ----------
    text : str or list of str
        One text, or several.
    tokenizer : {"13a", "intl", "char", "zh", "none", "alphanumeric", "unicode"}
        - "13a": ASCII punctuation marks and symbols become tokens. "." and "," stay between digits; "-" becomes a token
          only after a digit. XML entities are replaced; "<skipped>" and hyphens at the end of a line are dropped
          (mteval-v13a).
        - "intl": Unicode punctuation marks and symbols become tokens. Punctuation stays between numbers (mteval-v14).
        - "zh": every Chinese character is a token; text between them is tokenized as by "13a".
        - "char": every character except white space is a token.
        - "none": texts are split at white space only.
        - "alphanumeric": runs of a-z and 0-9 of the lower-cased text, as in the original ROUGE; the rest is dropped.
        - "unicode": runs of letters, marks and numbers of any script, of the lower-cased text. In a script without
          spaces between words (Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar) every letter is a token, with the
          marks that follow it.
    lowercase : bool
        Lower-case the text first. "alphanumeric" and "unicode" always do.

    Returns
    -------
    list of str, or list of lists of str
        The tokens of the text, or of every text.

    Raises
    ------
    TypeError
        An item is not a string; the message names it.
    ValueError
        An unknown tokenizer.

    Notes
    -----
    The first five return the same tokens as sacrebleu 2.6, including its peculiarities: with "13a", "1...2" ends in
    ".2"; with "intl", a full stop after a number at the end of a line stays with the number; with "zh", every character
    from U+2001 to U+2A6D counts as Chinese. Character categories are those of Unicode 18.

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
    validation.check_option(tokenizer, "tokenizer", ALL_TOKENIZERS)
    validation.check_flag(lowercase, "lowercase")
    if isinstance(text, str):
        return split_texts([text], tokenizer, lowercase)[0]
    if not isinstance(text, (list, tuple)):
        raise TypeError(f"text must be a string or a list of strings; found {type(text).__name__}")
    for index, item in enumerate(text):
        if not isinstance(item, str):
            raise TypeError(f"text[{index}] must be a string; found {type(item).__name__}")
    return split_texts(list(text), tokenizer, lowercase)


def split_texts(texts: list[str], tokenizer: str, lowercase: bool) -> list[list[str]]:
    """Return the tokens of every text."""
    if lowercase or tokenizer == "unicode":
        texts = [text.lower() for text in texts]
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    # Lone surrogates are allowed here: they are tokenized like other characters.
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32)
    token_points, token_starts, text_tokens = Tokenizer(tokenizer).split(points, offsets)
    n_tokens = int(text_tokens[-1])
    starts = token_starts[: n_tokens + 1]
    # Tokens contain no space. With a space after each token, one str.split per text makes the strings.
    spaced = np.full(int(starts[-1]) + n_tokens, ord(" "), "<u4")
    is_token_point = np.ones(len(spaced), bool)
    is_token_point[starts[1:] + np.arange(n_tokens)] = False
    spaced[is_token_point] = token_points[: starts[-1]]
    joined = spaced.tobytes().decode("utf-32-le", "surrogatepass")
    bounds = (starts[text_tokens] + text_tokens).tolist()
    return [joined[start : stop - 1].split(" ") if start < stop else [] for start, stop in pairwise(bounds)]
