"""Texts cut into tokens: the tokenizers of sacrebleu (none, 13a, intl, char, zh) and two of ROUGE.

All take the texts of a block, code points one after the other with `offsets`, and write the code points of the tokens,
where each token begins (and where the last one ends), and of every text which tokens are its own: token_points,
token_starts, text_tokens, with room for len(points), len(points) + 1 and len(offsets) numbers. tokenscan.h has the
rules.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t

cdef extern from "tokenscan.h":
    ctypedef struct Tokens "fm_tokens":
        uint32_t* points
        int64_t* starts
        int64_t n_points
        int64_t n_tokens
        int64_t open
    void none "fm_split_none"(const uint32_t*, const int64_t*, int64_t, Tokens*, int64_t*) noexcept nogil
    void thirteen_a "fm_split_13a"(const uint32_t*, const int64_t*, int64_t, Tokens*, int64_t*) noexcept nogil
    void intl "fm_split_intl"(const uint32_t*, const int64_t*, int64_t, Tokens*, int64_t*) noexcept nogil
    void char_ "fm_split_char"(const uint32_t*, const int64_t*, int64_t, Tokens*, int64_t*) noexcept nogil
    void zh "fm_split_zh"(const uint32_t*, const int64_t*, int64_t, Tokens*, int64_t*) noexcept nogil
    void alphanumeric "fm_split_alphanumeric"(
        const uint32_t*, const int64_t*, int64_t, Tokens*, int64_t*) noexcept nogil
    void unicode_ "fm_split_unicode"(const uint32_t*, const int64_t*, int64_t, Tokens*, int64_t*) noexcept nogil
    int class_of "fm_unicode_class"(uint32_t point) noexcept nogil
    const char* FM_UNICODE_VERSION

ctypedef void (*splitter)(
    const uint32_t* points, const int64_t* offsets, int64_t n, Tokens* tokens, int64_t* text_tokens
) noexcept nogil

# The version of Unicode whose categories these are.
UNICODE_VERSION = FM_UNICODE_VERSION.decode()
# Numbered as `classify` writes them.
CLASSES = ("other", "letter", "solo", "number", "solo number", "mark", "punctuation", "symbol", "space")


cdef int split(
    splitter rule, const uint32_t[::1] points, const int64_t[::1] offsets,
    uint32_t[::1] token_points, int64_t[::1] token_starts, int64_t[::1] text_tokens
) except -1:
    cdef int64_t n = offsets.shape[0] - 1
    cdef Tokens tokens
    cdef int64_t n_points
    cdef uint32_t nothing = 0
    cdef const uint32_t* text = &nothing
    if n < 0:
        raise ValueError("offsets is empty")
    n_points = offsets[n] - offsets[0]
    if offsets[0] < 0 or offsets[n] > points.shape[0]:
        raise ValueError("offsets reach beyond points")
    if token_points.shape[0] < n_points or token_starts.shape[0] < n_points + 1 or text_tokens.shape[0] < n + 1:
        raise ValueError("no room for the tokens")
    if points.shape[0]:
        text = &points[0]
    tokens.points = &token_points[0] if token_points.shape[0] else NULL
    tokens.starts = &token_starts[0]
    tokens.n_points = 0
    tokens.n_tokens = 0
    tokens.open = 0
    with nogil:
        rule(text, &offsets[0], n, &tokens, &text_tokens[0])
    return 0


def split_none(
    const uint32_t[::1] points, const int64_t[::1] offsets,
    uint32_t[::1] token_points, int64_t[::1] token_starts, int64_t[::1] text_tokens
):
    """At white space, as str.split()."""
    split(none, points, offsets, token_points, token_starts, text_tokens)


def split_13a(
    const uint32_t[::1] points, const int64_t[::1] offsets,
    uint32_t[::1] token_points, int64_t[::1] token_starts, int64_t[::1] text_tokens
):
    """As mteval-v13a."""
    split(thirteen_a, points, offsets, token_points, token_starts, text_tokens)


def split_intl(
    const uint32_t[::1] points, const int64_t[::1] offsets,
    uint32_t[::1] token_points, int64_t[::1] token_starts, int64_t[::1] text_tokens
):
    """As mteval-v14 with international tokenization."""
    split(intl, points, offsets, token_points, token_starts, text_tokens)


def split_char(
    const uint32_t[::1] points, const int64_t[::1] offsets,
    uint32_t[::1] token_points, int64_t[::1] token_starts, int64_t[::1] text_tokens
):
    """Every character but white space."""
    split(char_, points, offsets, token_points, token_starts, text_tokens)


def split_zh(
    const uint32_t[::1] points, const int64_t[::1] offsets,
    uint32_t[::1] token_points, int64_t[::1] token_starts, int64_t[::1] text_tokens
):
    """Every Chinese character; the rest by 13a's expressions."""
    split(zh, points, offsets, token_points, token_starts, text_tokens)


def split_alphanumeric(
    const uint32_t[::1] points, const int64_t[::1] offsets,
    uint32_t[::1] token_points, int64_t[::1] token_starts, int64_t[::1] text_tokens
):
    """Runs of [a-z0-9] of the text in lower case, as rouge-score."""
    split(alphanumeric, points, offsets, token_points, token_starts, text_tokens)


def split_unicode(
    const uint32_t[::1] points, const int64_t[::1] offsets,
    uint32_t[::1] token_points, int64_t[::1] token_starts, int64_t[::1] text_tokens
):
    """Runs of letters, marks and numbers; single letters of scripts without spaces."""
    split(unicode_, points, offsets, token_points, token_starts, text_tokens)


def classify(const uint32_t[::1] points, uint8_t[::1] out):
    """The class of every code point, numbered as CLASSES."""
    cdef Py_ssize_t i
    cdef Py_ssize_t n = points.shape[0]
    if out.shape[0] < n:
        raise ValueError("no room for the classes")
    with nogil:
        for i in range(n):
            out[i] = class_of(points[i])
