"""Tokenizers: those of sacrebleu (none, 13a, intl, char, zh) and two for ROUGE (alphanumeric, unicode).

`split` takes the texts of a block: their code points, and their `offsets`. It writes three arrays:
token_points : the code points of the tokens; room for len(points) numbers
token_starts : the start of each token, and the end of the last one; room for len(points) + 1 numbers
text_tokens : text i has the tokens text_tokens[i]:text_tokens[i + 1]; room for len(offsets) numbers
tokenizer_scan.h has the rules.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from fastmetrics._kernels.numeric.length_checks cimport need_offsets

cdef extern from "text/tokens/tokenizer_scan.h":
    ctypedef struct Tokens "fm_tokens":
        uint32_t* points
        int64_t* starts
        int64_t n_points
        int64_t n_tokens
        int64_t last_kind
    void split_texts "fm_split"(
        int tokenizer, const uint32_t* points, const int64_t* offsets, int64_t n, Tokens* tokens, int64_t* text_tokens
    ) noexcept nogil
    int class_of "fm_unicode_class"(uint32_t point) noexcept nogil
    const char* FM_UNICODE_VERSION

# The tokenizers, by the number that `split` takes. none: white space, like str.split(). 13a: mteval-v13a. intl:
# mteval-v14 with international tokenization. char: every character except white space. zh: every Chinese character, the
# rest by the expressions of 13a. alphanumeric: the runs of [a-z0-9] in the lower-cased text, like rouge-score. unicode:
# the runs of letters, marks and numbers, and the single letters of scripts without spaces.
TOKENIZERS = ("13a", "zh", "intl", "none", "char", "alphanumeric", "unicode")
cdef int N_TOKENIZERS = len(TOKENIZERS)
# The version of Unicode of the character classes.
UNICODE_VERSION = FM_UNICODE_VERSION.decode()
# Names of the classes, by the number that `classify` writes.
CLASSES = ("other", "letter", "unspaced letter", "number", "unspaced number", "mark", "punctuation", "symbol", "space")


def split(
    int tokenizer, const uint32_t[::1] points, const int64_t[::1] offsets, uint32_t[::1] token_points,
    int64_t[::1] token_starts, int64_t[::1] text_tokens
):
    """Split the texts of a block into tokens; TOKENIZERS[tokenizer] is the name of the rules."""
    cdef int64_t n = offsets.shape[0] - 1
    cdef Tokens tokens
    cdef int64_t n_points
    cdef uint32_t no_point = 0
    cdef const uint32_t* text = &no_point
    if n < 0:
        raise ValueError("offsets is empty")
    n_points = offsets[n] - offsets[0]
    if not 0 <= tokenizer < N_TOKENIZERS:
        raise ValueError(f"no tokenizer has number {tokenizer}")
    need_offsets(b"offsets", &offsets[0], n + 1, points.shape[0])
    if token_points.shape[0] < n_points or token_starts.shape[0] < n_points + 1 or text_tokens.shape[0] < n + 1:
        raise ValueError("token_points, token_starts or text_tokens is too short")
    if points.shape[0]:
        text = &points[0]
    tokens.points = &token_points[0] if token_points.shape[0] else NULL
    tokens.starts = &token_starts[0]
    tokens.n_points = 0
    tokens.n_tokens = 0
    tokens.last_kind = 0
    with nogil:
        split_texts(tokenizer, text, &offsets[0], n, &tokens, &text_tokens[0])


def classify(const uint32_t[::1] points, uint8_t[::1] out):
    """Write the class of every code point, an index of CLASSES: tests compare the compiled table with Unicode's."""
    cdef Py_ssize_t i
    cdef Py_ssize_t n = points.shape[0]
    if out.shape[0] < n:
        raise ValueError("out is shorter than points")
    with nogil:
        for i in range(n):
            out[i] = class_of(points[i])
