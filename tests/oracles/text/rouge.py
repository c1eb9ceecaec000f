"""ROUGE in plain Python, from its definition.

C.-Y. Lin, "ROUGE: a package for automatic evaluation of summaries", ACL workshop Text Summarization Branches Out, 2004:
sections 2 (ROUGE-N), 3.1 (ROUGE-L) and 3.2 (summary level). The paper does not say which of several longest common
subsequences to use, nor that no word matches twice: both are as in rouge-score.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence


def default_tokens(text):
    return re.findall("[a-z0-9]+", text.lower())


def sentences(text):
    return [line for line in text.split("\n") if line]


def ngrams(tokens, order):
    return Counter(zip(*(tokens[start:] for start in range(order)), strict=False))


def lcs_table(rows: Sequence[str], columns: Sequence[str]) -> dict[tuple[int, int], int]:
    """Return table[i, j]: the length of a longest common subsequence of the first i rows and the first j columns."""
    table = {(i, j): 0 for i in range(len(rows) + 1) for j in range(len(columns) + 1)}
    for i, row in enumerate(rows, 1):
        for j, column in enumerate(columns, 1):
            table[i, j] = table[i - 1, j - 1] + 1 if row == column else max(table[i - 1, j], table[i, j - 1])
    return table


def common_length(rows, columns):
    """Return the length of a longest common subsequence; fast for long texts that have few words in common.

    J. W. Hunt, T. G. Szymanski, "A fast algorithm for computing longest common subsequences", CACM 20 (1977):
    smallest_ends[k] is the smallest last column of the common subsequences of length k + 1 found so far.
    """
    columns_of = {}
    for column, token in enumerate(columns):
        columns_of.setdefault(token, []).append(column)
    smallest_ends = []
    for token in rows:
        for column in reversed(columns_of.get(token, [])):
            index = bisect_left(smallest_ends, column)
            smallest_ends[index : index + 1] = [column]
    return len(smallest_ends)


def traced_rows(rows, columns):
    """Return the rows of one longest common subsequence, traced back from the ends.

    Equal words match. Otherwise a row is skipped, unless skipping a column keeps a longer subsequence.
    """
    table = lcs_table(rows, columns)
    i, j, found = len(rows), len(columns), set()
    while i and j:
        if rows[i - 1] == columns[j - 1]:
            i, j = i - 1, j - 1
            found.add(i)
        elif table[i, j - 1] > table[i - 1, j]:
            j -= 1
        else:
            i -= 1
    return found


def union_matches(hypothesis, reference):
    """Return the matches of ROUGE-Lsum. Both arguments are lists of sentences, which are lists of tokens."""
    available = Counter(token for sentence in hypothesis for token in sentence)
    matches = 0
    for sentence in reference:
        rows = set().union(*(traced_rows(sentence, other) for other in hypothesis))
        for token in (sentence[row] for row in sorted(rows)):
            if available[token]:
                available[token] -= 1
                matches += 1
    return matches


def values(matches: int, n_hypothesis: int, n_reference: int, beta: float = 1.0) -> tuple[float, float, float]:
    """Return precision, recall and F."""
    precision = matches / max(n_hypothesis, 1)
    recall = matches / max(n_reference, 1)
    if not matches:
        return precision, recall, 0.0
    return precision, recall, (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def rouge(hypothesis, reference, kind, tokens_of=default_tokens, beta=1.0):
    """Return precision, recall and F of one pair of texts."""
    if kind == "rougeLsum":
        ours, theirs = ([tokens_of(sentence) for sentence in sentences(text)] for text in (hypothesis, reference))
        return values(union_matches(ours, theirs), sum(map(len, ours)), sum(map(len, theirs)), beta)
    ours, theirs = tokens_of(hypothesis), tokens_of(reference)
    if kind == "rougeL":
        return values(lcs_table(theirs, ours)[len(theirs), len(ours)], len(ours), len(theirs), beta)
    order = int(kind.removeprefix("rouge"))
    our_ngrams, their_ngrams = ngrams(ours, order), ngrams(theirs, order)
    return values((our_ngrams & their_ngrams).total(), our_ngrams.total(), their_ngrams.total(), beta)
