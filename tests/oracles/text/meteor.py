"""METEOR by its definition, by enumeration: S. Banerjee, A. Lavie, ACL workshop 2005, with the parameters of A. Lavie,
A. Agarwal, WMT 2007; and NLTK's greedy alignment.

"If more than one subset of unigram mappings is a largest one, METEOR selects that set that has the least number of
unigram mapping crosses", stage after stage. What the papers leave open is ours: mappings of earlier stages count among
those that are crossed, then the fewest chunks decide, then how far to the left words are matched, the first word first.
"""

from itertools import combinations, pairwise

NONE = float("inf")


def align(hypothesis, reference, stages, greedy=False):
    """Pairs of places. A stage is (change, matches): what becomes of the words left over, and which of them match."""
    links = {}
    hypothesis, reference = list(hypothesis), list(reference)
    for change, matches in stages:
        taken = set(links.values())
        left = [place for place in range(len(hypothesis)) if place not in links]
        open_places = [place for place in range(len(reference)) if place not in taken]
        for place in left:
            hypothesis[place] = change(hypothesis[place])
        for place in open_places:
            reference[place] = change(reference[place])
        edges = {i: [j for j in open_places if matches(hypothesis[i], reference[j])] for i in left}
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
    taken = {j for _, j in links}
    for j in edges[first]:
        if j not in taken:
            yield from all_matchings(others, edges, (*links, (first, j)))
    yield from all_matchings(others, edges, links)


def cost(links, fixed, words):
    everything = sorted([*links, *fixed.items()])
    places = dict(links)
    return -len(links), crossings(everything), chunks(everything), [places.get(i, NONE) for i in words]


def crossings(links):
    return sum((one[0] - other[0]) * (one[1] - other[1]) < 0 for one, other in combinations(links, 2))


def chunks(links):
    neighbours = sum(b == (a[0] + 1, a[1] + 1) for a, b in pairwise(links))
    return len(links) - neighbours


def score(matches, n_chunks, length, reference, alpha=0.9, beta=3.0, gamma=0.5):
    if not matches:
        return 0.0
    precision, recall = matches / length, matches / reference
    mean = (precision * recall) / (alpha * precision + (1 - alpha) * recall)
    return (1 - gamma * (n_chunks / matches) ** beta) * mean
