# Written by tools/generate.py from tests/oracles/text/rouge.py.
"""ROUGE in plain Python, from its definition.

C.-Y. Lin, "ROUGE: a package for automatic evaluation of summaries", ACL workshop Text Summarization Branches Out, 2004:
sections 2 (ROUGE-N), 3.1 (ROUGE-L) and 3.2 (summary level). The paper does not say which of several longest common
subsequences to use, nor that no word matches twice: both are as in rouge-score.
"""

from collections.abc import Sequence


def lcs_table(rows: Sequence[str], columns: Sequence[str]) -> dict[tuple[int, int], int]:
    """Return table[i, j]: the length of a longest common subsequence of the first i rows and the first j columns."""
    table = {(i, j): 0 for i in range(len(rows) + 1) for j in range(len(columns) + 1)}
    for i, row in enumerate(rows, 1):
        for j, column in enumerate(columns, 1):
            table[i, j] = table[i - 1, j - 1] + 1 if row == column else max(table[i - 1, j], table[i, j - 1])
    return table


def values(matches: int, n_hypothesis: int, n_reference: int, beta: float = 1.0) -> tuple[float, float, float]:
    """Return precision, recall and F."""
    precision = matches / max(n_hypothesis, 1)
    recall = matches / max(n_reference, 1)
    if not matches:
        return precision, recall, 0.0
    return precision, recall, (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
