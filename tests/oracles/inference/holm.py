"""S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979."""


def holm_levels(pvalues, alpha):
    """(is it rejected?, the share of alpha it was compared with) for each p-value.

    Those behind the first that is not rejected have its share; equal p-values are compared with that of their first.
    """
    m, found, stopped = len(pvalues), {}, None
    for j, p in enumerate(sorted(pvalues)):
        if p in found:
            continue
        share = alpha / (m - j) if stopped is None else stopped
        is_rejected = stopped is None and p < share
        if not is_rejected:
            stopped = share
        found[p] = (is_rejected, share)
    return [found[p] for p in pvalues]


def distance_change(d, s):
    """|y| - |x| where d = y - x and s = x + y."""
    x, y = (s - d) / 2, (s + d) / 2
    return abs(y) - abs(x)
