"""WordNet's files for tests, and NLTK's reader of them."""

import os
import shutil
import sys
import warnings
from functools import cache
from pathlib import Path

import pytest

from fastmetrics.metrics.text.tokens.wordnet import FILES, open_wordnet
from oracles.text import wordnet as oracle

REQUIRED = os.environ.get("FASTMETRICS_REQUIRE_WORDNET") == "1"


@cache
def installed_wordnet():
    """Return the folder of WordNet's files. If there is none, skip the test, or fail if WordNet is required."""
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
    """Copy WordNet's files to a folder. They are not linked, because NLTK follows no links."""
    for name in FILES:
        shutil.copyfile(installed_wordnet() / name, folder / name)
    return folder


def copy_nltk_wordnet(folder):
    """Copy WordNet's files to a folder, with one more file that NLTK's reader needs."""
    copy_wordnet(folder)
    numbers = [oracle.PART_NUMBERS[name.partition(".")[0]] for name in oracle.LEXNAMES]
    rows = zip(oracle.LEXNAMES, numbers, strict=True)
    (folder / "lexnames").write_text("".join(f"{i:02d}\t{name}\t{part}\n" for i, (name, part) in enumerate(rows)))
    return folder


def nltk_wordnet(folder):
    """Return NLTK's reader of a copy of the installed WordNet in `folder`, which is empty before."""
    reader = pytest.importorskip("nltk.corpus.reader.wordnet").WordNetCorpusReader

    class Reader(reader):
        def map_wn(self, version="wordnet"):
            """Skip the maps for other languages, whose files are not installed."""

    # NLTK reads files in its data folders only.
    sys.modules["nltk"].data.path.append(str(folder))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Reader(str(copy_nltk_wordnet(folder)), None)


def write_wordnet(folder, synsets, exceptions=""):
    """Write a WordNet of nouns. Synsets are tuples of words."""
    data, offsets = "  1 licence\n", {}
    for words in synsets:
        for word in words:
            offsets.setdefault(word, []).append(len(data))
        fields = " ".join(f"{word} 0" for word in words)
        data += f"{len(data):08d} 05 n {len(words):02x} {fields} 000 | a gloss\n"
    index = "".join(
        f"{word} n {len(own)} 0 {len(own)} 0 {' '.join(f'{offset:08d}' for offset in own)}  \n"
        for word, own in sorted(offsets.items())
    )
    contents = dict.fromkeys(FILES, "") | {"data.noun": data, "index.noun": index, "noun.exc": exceptions}
    for name, text in contents.items():
        (folder / name).write_text(text)
    return folder
