"""Words: the field's own. Words that once had a private meaning here do not come back, in code or in prose."""

import re
from pathlib import Path

import pytest

from architecture.sources import PACKAGE, ROOT, listed, relative
from support.cases import each_case

pytestmark = pytest.mark.skipif(not PACKAGE.is_dir(), reason=f"no sources to read: {PACKAGE} is not a directory")

SUFFIXES = {".py", ".pyi", ".pyx", ".pxd", ".h", ".md", ".toml", ".yml"}
# The changelog tells what was; this file names the words.
NOT_READ = ("CHANGELOG.md", "tests/architecture/test_words.py", "bench/results.json")

# What a word meant here -> the pattern that finds it. The field's word stands in the key.
PRIVATE_WORDS = {
    "door: say entry point": r"\bdoors?\b|(?<![a-z])Doors?\b",
    # "floor" is also the name of a rounding, and of a smoothing of BLEU.
    "floor: say layer": r"\b(?:[Aa] |the |\d )floors?\b(?!\()|\bfloors\b|\bFLOORS\b",
    "room: say package, memory budget, scratch or capacity": r"\b[Rr]ooms?\b(?! for\b)|\b\w+_rooms?\b|\brooms?_\w+",
    "house: say architecture": r"\bhouse\b(?! prices)",
    "lot: say unit bucket": r"(?<!\ba )\blots?\b|\blots?_|_lots?\b|\bLot[A-Z]\w*|\bLots\b",
    "giant: say large": r"giant|Giant",
    "abreast: say replicates per batch": r"\b[Aa]breast\b|\bABREAST\b",
    "falling order: say descending": r"\bfalling (?:order|score|scores)\b|[Ff]alling_?[Oo]rder|FallingRows",
    "steps of a sweep: say threshold sweep": r"\bStepMaker\b|\bSteps\b|\bsteps_of_tie\b|\bStepRows\b",
    "alone: say non-numeric target": r"\bALONE\b|\bis_alone\b",
    "spell: say format": r"\bspelt\b|\bspells?\b(?!ing)|\bspelled\b",
    "unit: what is resampled; say chunk for what a thread does at a time": r"\b[Uu]nits? of work\b",
}
# Names that stood for ideas the field has words for; see the changelog.
OLD_NAMES = (
    "OfPairs|OneByOne|OnlyLots|LotTable|GroupPlan|KeptSlots|GiantList|HeldRows|PairLanes|ExtremeLanes|CrossingLanes|"
    "PrecisionLanes|LaneWeights|LaneTotals|take_arrays|give_back|as_given|plain_sums|present_rows|"
    "ranksum|rankmath|ranktable|listmeans|labelranks|boxpairs|boxgroups|fallingorder|lanebits|widesums"
)


# Every pattern finds one of these in lower case; lines without any, nearly all, need not be searched for each.
STEMS = re.compile(
    "door|floor|room|house|lot|giant|abreast|falling|stepmaker|steps|steprows|alone|spel|unit|" + OLD_NAMES.lower()
)


def private_words(text: str) -> list[str]:
    """Complaints about words with a private meaning, with their lines."""
    complaints = []
    for number, line in enumerate(text.splitlines(), 1):
        if STEMS.search(line.lower()):
            for meaning, pattern in [*PRIVATE_WORDS.items(), ("an old name", rf"\b(?:{OLD_NAMES})\b")]:
                complaints += [f"line {number}: {match[0]!r} ({meaning})" for match in re.finditer(pattern, line)]
    return complaints


def files_to_read() -> list[Path]:
    folders = ("fastmetrics", "tests", "bench", "docs", "examples", "tools")
    found = [path for folder in folders for path in (ROOT / folder).rglob("*")] + list(ROOT.glob("*.*"))
    found = [path for path in found if path.suffix in SUFFIXES and path.is_file()]
    return sorted(path for path in found if not relative(path).startswith(NOT_READ))


def test_no_word_has_a_private_meaning():
    complaints = [
        f"{relative(path)}, {complaint}"
        for path in files_to_read()
        for complaint in private_words(path.read_text(encoding="utf-8"))
    ]
    assert not complaints, listed(complaints)


@each_case(
    "text",
    [
        "every door of the engine",
        "imports climb a floor",
        "room.give_back(3)",
        "n_lots = 5",
        "class Lots:",
        "drawn by lot",
        "a giant group",
        "TestGiantLists",
        "in falling order",
        "as it is spelt",
        "a unit of work",
        "from fastmetrics._kernels import ranksum",
    ],
)
def test_private_word_is_found(text):
    assert private_words(text)


@each_case(
    "text",
    [
        "np.floor(x)",
        "floor(x)",
        "floor division",
        "a lot of rows",
        "room for n rows",
        "the plot",
        "allotted",
        "bedrooms",
        "spelling",
    ],
)
def test_ordinary_word_is_allowed(text):
    assert not private_words(text)


# American spelling in pages and code: comments and names too.
BRITISH = re.compile(
    r"\b(?:behaviours?|catalogues?|cent(?:re|res|red)|colour\w*|favour\w*|neighbour\w*|judgements?|labelled"
    r"|travell\w+|(?:maxim|minim|optim|normal|final|recogn|regular|standard|synchron|initial|uninitial|vector|random"
    r"|organ|general|serial|summar|special|token|material|quant|discret|linear|penal|real|util|visual|emphas)"
    r"is(?:e|ed|es|er|ers|ing|ation|ations)|analys(?:e|ed|es|ing))\b",
    re.IGNORECASE,
)
# Texts of others: words of WordNet, numbers of benchmarks by their names, words that people type.
NOT_OURS = (
    "CHANGELOG.md",
    "fastmetrics/metrics/text/tokens/wordnet.py",
    "docs/benchmarks.md",
    "fastmetrics/_core/calls/words.py",
)


def british_words(text: str) -> list[str]:
    """Words of a page or of code in British spelling; a word of a name is one too."""
    return [found[0] for found in BRITISH.finditer(re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", text))]


def test_text_has_one_spelling():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    code = [path for path in PACKAGE.rglob("*.*") if path.suffix in SUFFIXES]
    complaints = []
    for path in [*pages, *code]:
        if relative(path) not in NOT_OURS:
            complaints += [f"{relative(path)}: {word}" for word in british_words(path.read_text(encoding="utf-8"))]
    assert not complaints, listed(complaints)


@each_case("text", ["the finaliser", "Neighbouring rows", "its centre", "colour", "finalise_auc", "Normaliser"])
def test_british_spelling_is_found(text):
    assert british_words(text)


@each_case("text", ["the finalizer", "finalize_auc", "color", "analysis", "precise", "raises", "promised"])
def test_american_spelling_is_allowed(text):
    assert not british_words(text)
