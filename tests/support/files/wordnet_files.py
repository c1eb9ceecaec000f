"""The WordNet that tests read, and NLTK's reader of it."""

import os
import shutil
import sys
import warnings
from functools import cache
from pathlib import Path

import pytest

from fastmetrics.metrics.text.wordnet import FILES, open_wordnet
from oracles import wordnet as oracle

REQUIRED = os.environ.get("FASTMETRICS_REQUIRE_WORDNET") == "1"


@cache
def installed_wordnet():
    """The folder of WordNet's files; skips the test where there is none, unless it is required."""
    try:
        source = open_wordnet().source
    except FileNotFoundError as error:
        if REQUIRED:
            raise
        pytest.skip(f"no WordNet: {error}")
    if source.endswith(".zip"):
        pytest.skip("tests of WordNet need its files unpacked")
    return Path(source)


def copy_wordnet(folder):
    """WordNet's files in a folder: copies, for NLTK follows no links."""
    for name in FILES:
        shutil.copyfile(installed_wordnet() / name, folder / name)
    return folder


def nltk_files(folder):
    """The same with the file that NLTK asks for besides."""
    copy_wordnet(folder)
    numbers = [oracle.PART_NUMBERS[name.partition(".")[0]] for name in oracle.LEXNAMES]
    rows = zip(oracle.LEXNAMES, numbers, strict=True)
    (folder / "lexnames").write_text("".join(f"{i:02d}\t{name}\t{part}\n" for i, (name, part) in enumerate(rows)))
    return folder


def nltk_wordnet(folder):
    """NLTK's reader of the installed WordNet; `folder` is an empty one for what it needs besides."""
    reader = pytest.importorskip("nltk.corpus.reader.wordnet").WordNetCorpusReader

    class Reader(reader):
        def map_wn(self, version="wordnet"):
            """Other languages: not asked for here, and their files are not there."""

    # NLTK reads from its data folders alone.
    sys.modules["nltk"].data.path.append(str(folder))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Reader(str(nltk_files(folder)), None)


def write_wordnet(folder, synsets, exceptions=""):
    """A WordNet of nouns: tuples of words that stand in a synset together."""
    data, places = "  1 licence\n", {}
    for words in synsets:
        for word in words:
            places.setdefault(word, []).append(len(data))
        fields = " ".join(f"{word} 0" for word in words)
        data += f"{len(data):08d} 05 n {len(words):02x} {fields} 000 | a gloss\n"
    index = "".join(
        f"{word} n {len(own)} 0 {len(own)} 0 {' '.join(f'{place:08d}' for place in own)}  \n"
        for word, own in sorted(places.items())
    )
    contents = dict.fromkeys(FILES, "") | {"data.noun": data, "index.noun": index, "noun.exc": exceptions}
    for name, text in contents.items():
        (folder / name).write_text(text)
    return folder
