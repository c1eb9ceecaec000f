"""METEOR by its definition, by enumeration, and NLTK's greedy alignment.

S. Banerjee, A. Lavie, ACL workshop 2005, with the parameters of A. Lavie, A. Agarwal, WMT 2007. "If more than one
subset of unigram mappings is a largest one, METEOR selects that set that has the least number of unigram mapping
crosses", stage after stage. The papers leave three rules open, which we define: crossings with mappings of earlier
stages count; then the fewest chunks decide; then the matches farthest to the left, first word first.
"""

from itertools import combinations, pairwise

UNMATCHED = float("inf")  # sorts after every position


def align(hypothesis, reference, stages, greedy=False):
    """Return matched pairs of positions.

    A stage is a pair of functions: one changes the words left unmatched, the other says whether two of them match.
    """
    links = {}
    hypothesis, reference = list(hypothesis), list(reference)
    for change, matches in stages:
        matched = set(links.values())
        open_words = [i for i in range(len(hypothesis)) if i not in links]
        open_references = [j for j in range(len(reference)) if j not in matched]
        for i in open_words:
            hypothesis[i] = change(hypothesis[i])
        for j in open_references:
            reference[j] = change(reference[j])
        edges = {i: [j for j in open_references if matches(hypothesis[i], reference[j])] for i in open_words}
        links.update(last_with_last(edges) if greedy else fewest_crossings(edges, links))
    return sorted(links.items())


def last_with_last(edges):
    links = {}
    for i in sorted(edges, reverse=True):
        free = [j for j in edges[i] if j not in links.values()]
        if free:
            links[i] = max(free)
    return links


def fewest_crossings(edges, fixed):
    best = min(all_matchings(sorted(edges), edges, ()), key=lambda links: cost(links, fixed, sorted(edges)))
    return dict(best)


def all_matchings(words, edges, links):
    if not words:
        yield links
        return
    first, *others = words
    matched = {j for _, j in links}
    for j in edges[first]:
        if j not in matched:
            yield from all_matchings(others, edges, (*links, (first, j)))
    yield from all_matchings(others, edges, links)


def cost(links, fixed, words):
    all_links = sorted([*links, *fixed.items()])
    targets = dict(links)
    return -len(links), crossings(all_links), chunks(all_links), [targets.get(i, UNMATCHED) for i in words]


def crossings(links):
    return sum((one[0] - other[0]) * (one[1] - other[1]) < 0 for one, other in combinations(links, 2))


def chunks(links):
    neighbors = sum(b == (a[0] + 1, a[1] + 1) for a, b in pairwise(links))
    return len(links) - neighbors


def score(matches, n_chunks, length, reference, alpha=0.9, beta=3.0, gamma=0.5):
    if not matches:
        return 0.0
    precision, recall = matches / length, matches / reference
    mean = (precision * recall) / (alpha * precision + (1 - alpha) * recall)
    return (1 - gamma * (n_chunks / matches) ** beta) * mean
