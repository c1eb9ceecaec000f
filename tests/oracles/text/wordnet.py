"""WordNet's synonyms by the documented formats: wndb(5WN), and morphy(7WN) for base forms, with NLTK's suffixes.

`LEXNAMES` are the names of lexicographer files of lexnames(5WN). NLTK's reader needs a file of them, which Debian's
package does not have.
"""

from pathlib import Path

PARTS = ("noun", "verb", "adj", "adv")
SUFFIXES = {
    "noun": (
        ("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"),
        ("men", "man"), ("ies", "y"),
    ),
    "verb": (
        ("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}  # fmt: skip
LEXNAMES = (
    "adj.all", "adj.pert", "adv.all", "noun.Tops", "noun.act", "noun.animal", "noun.artifact", "noun.attribute",
    "noun.body", "noun.cognition", "noun.communication", "noun.event", "noun.feeling", "noun.food", "noun.group",
    "noun.location", "noun.motive", "noun.object", "noun.person", "noun.phenomenon", "noun.plant", "noun.possession",
    "noun.process", "noun.quantity", "noun.relation", "noun.shape", "noun.state", "noun.substance", "noun.time",
    "verb.body", "verb.change", "verb.cognition", "verb.communication", "verb.competition", "verb.consumption",
    "verb.contact", "verb.creation", "verb.emotion", "verb.motion", "verb.perception", "verb.possession",
    "verb.social", "verb.stative", "verb.weather", "adj.ppl",
)  # fmt: skip
PART_NUMBERS = {"noun": 1, "verb": 2, "adj": 3, "adv": 4}


class WordNet:
    """All of WordNet, read into dicts."""

    def __init__(self, folder):
        folder = Path(folder)
        self.synsets, self.exceptions, self.names = {}, {}, {}
        for part in PARTS:
            self.synsets[part] = dict(map(index_entry, entries(folder / f"index.{part}")))
            self.names[part] = dict(map(data_entry, entries(folder / f"data.{part}")))
            lines = map(str.split, (folder / f"{part}.exc").read_text("utf-8").splitlines())
            self.exceptions[part] = {words[0]: words[1:] for words in lines}

    def words(self):
        return sorted(set().union(*self.synsets.values()))

    def inflected(self):
        return sorted(set().union(*self.exceptions.values()))

    def lemma_names(self, word):
        word = word.lower()
        found = set()
        for part in PARTS:
            forms = self.exceptions[part].get(word)
            if forms is None:
                forms = [word[: -len(old)] + new for old, new in SUFFIXES[part] if word.endswith(old)]
            for form in [word, *forms]:
                for offset in self.synsets[part].get(form, []):
                    found.update(self.names[part][offset])
        return {name for name in found if "_" not in name}


def entries(path):
    return (line for line in path.read_text("utf-8").split("\n") if line and not line.startswith(" "))


def index_entry(line):
    fields = line.split()
    return fields[0], list(map(int, fields[-int(fields[2]) :]))


def data_entry(line):
    fields = line.split()
    names = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
    return int(fields[0]), [name[: name.rindex("(")] if name.endswith(")") else name for name in names]
