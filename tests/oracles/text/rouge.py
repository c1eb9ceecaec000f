"""ROUGE in plain Python, from its definition.

C.-Y. Lin, "ROUGE: a package for automatic evaluation of summaries", ACL workshop Text Summarization Branches Out, 2004:
sections 2 (ROUGE-N), 3.1 (ROUGE-L) and 3.2 (summary level). Which of several longest common subsequences is taken, and
that no word matches twice, is not in the paper: it is as in rouge-score.
"""

import re
from bisect import bisect_left
from collections import Counter


def default_tokens(text):
    return re.findall("[a-z0-9]+", text.lower())


def sentences(text):
    return [line for line in text.split("\n") if line]


def ngrams(tokens, order):
    return Counter(zip(*(tokens[start:] for start in range(order)), strict=False))


def lcs_table(rows, columns):
    """table[i, j]: the length of a longest common subsequence of the first i rows and the first j columns."""
    table = {(i, j): 0 for i in range(len(rows) + 1) for j in range(len(columns) + 1)}
    for i, own in enumerate(rows, 1):
        for j, other in enumerate(columns, 1):
            table[i, j] = table[i - 1, j - 1] + 1 if own == other else max(table[i - 1, j], table[i, j - 1])
    return table


def common_length(rows, columns):
    """The length of a longest common subsequence of long texts that have little in common.

    J. W. Hunt, T. G. Szymanski, "A fast algorithm for computing longest common subsequences", CACM 20 (1977): of all
    common subsequences so far of each length, the least last column.
    """
    places = {}
    for column, token in enumerate(columns):
        places.setdefault(token, []).append(column)
    least = []
    for token in rows:
        for column in reversed(places.get(token, [])):
            place = bisect_left(least, column)
            least[place : place + 1] = [column]
    return len(least)


def traced_rows(rows, columns):
    """The rows of one longest common subsequence: a match is taken; else the row goes, unless that loses more."""
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
    """Summary level: both are lists of sentences, which are lists of tokens."""
    left = Counter(token for sentence in hypothesis for token in sentence)
    matches = 0
    for sentence in reference:
        rows = set().union(*(traced_rows(sentence, other) for other in hypothesis))
        for token in (sentence[row] for row in sorted(rows)):
            if left[token]:
                left[token] -= 1
                matches += 1
    return matches


def values(matches, n_hypothesis, n_reference, beta=1.0):
    """Precision, recall and F."""
    precision = matches / max(n_hypothesis, 1)
    recall = matches / max(n_reference, 1)
    if not matches:
        return precision, recall, 0.0
    return precision, recall, (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def rouge(hypothesis, reference, kind, tokens_of=default_tokens, beta=1.0):
    """Precision, recall and F of one pair of texts."""
    if kind == "rougeLsum":
        own, other = ([tokens_of(sentence) for sentence in sentences(text)] for text in (hypothesis, reference))
        return values(union_matches(own, other), sum(map(len, own)), sum(map(len, other)), beta)
    own, other = tokens_of(hypothesis), tokens_of(reference)
    if kind == "rougeL":
        return values(lcs_table(other, own)[len(other), len(own)], len(own), len(other), beta)
    order = int(kind.removeprefix("rouge"))
    grams, other_grams = ngrams(own, order), ngrams(other, order)
    return values((grams & other_grams).total(), grams.total(), other_grams.total(), beta)
