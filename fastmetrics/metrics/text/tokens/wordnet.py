"""WordNet's files and the synonyms in them, which METEOR matches.

fastmetrics does not ship WordNet. Its files come with Debian's `wordnet-base`, with NLTK's data, or from Princeton. The
first use searches for them and maps them into memory, where they stay until the process ends.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.text.tokens import wordnet as kernel

PARTS_OF_SPEECH = ("noun", "verb", "adj", "adv")
FILES = tuple(
    pattern.format(part) for pattern in ("index.{}", "data.{}", "{}.exc") for part in PARTS_OF_SPEECH
)  # in the order that the kernel expects
SYSTEM_FOLDERS = (
    "/usr/share/wordnet",
    "/usr/share/wordnet-3.0",
    "/usr/share/wordnet/dict",
    "/usr/local/share/wordnet",
    "/usr/local/WordNet-3.0/dict",
    "/usr/local/WordNet-3.1/dict",
    "/opt/homebrew/share/wordnet/dict",
)
INSTALL_HELP = (
    "install it (Debian and Ubuntu: apt-get install wordnet-base; with NLTK: nltk.download('wordnet')), or pass the "
    "folder that has index.noun and data.noun as wordnet=... or WNSEARCHDIR=...; "
    'modules=("exact", "stem") needs no WordNet'
)
VERSION_BYTES = 4096  # data files begin with the licence, which names the version


class WordNet(NamedTuple):
    """An open WordNet: its tables, the folder or zip file it was read from, and its version."""

    tables: kernel.WordNet
    source: str
    version: str

    def lemma_names(self, word: str) -> set[str]:
        """Return the words of all synsets of a word and its base forms, without collocations.

        >>> from fastmetrics.metrics.text.tokens.wordnet import open_wordnet  # doctest: +SKIP
        >>> sorted(open_wordnet().lemma_names("guides"))[:3]  # doctest: +SKIP
        ['channelise', 'channelize', 'conduct']
        """
        return {name.decode() for name in self.tables.lemma_names(word.lower().encode("utf-8", "surrogatepass"))}


def open_wordnet(path: str | os.PathLike[str] | None = None) -> WordNet:
    """Open WordNet from a folder (or NLTK's wordnet.zip), or from one of the usual folders.

    Searched in this order: `path`, the environment variable WNSEARCHDIR, the folders of NLTK's data, the system's
    folders. FileNotFoundError if none has it.
    """
    if path is None and os.environ.get("WNSEARCHDIR"):
        folder, name = os.environ["WNSEARCHDIR"], "WNSEARCHDIR"
    elif path is None:
        return open_source(find_wordnet())
    elif isinstance(path, (str, os.PathLike)):
        folder, name = os.fspath(path), "wordnet"
    else:
        raise TypeError(f"wordnet must be the path of a folder, or None; found {path!r}")
    source = next((own for own in (folder, os.path.join(folder, "dict")) if has_wordnet(own)), None)
    if source is None:
        raise FileNotFoundError(f"{name}={folder!r} has no WordNet (no file index.noun): {INSTALL_HELP}")
    return open_source(os.path.abspath(source))


def has_wordnet(source: str) -> bool:
    """Whether a path is a zip file, or a folder with an index file."""
    if source.endswith(".zip"):
        return os.path.isfile(source)
    return os.path.isfile(os.path.join(source, "index.noun"))


def find_wordnet() -> str:
    """Return the first of the usual folders and zip files that has WordNet."""
    for source in candidate_sources():
        if has_wordnet(source):
            return source
    raise FileNotFoundError(f"WordNet was not found: {INSTALL_HELP}")


def candidate_sources() -> Iterator[str]:
    for folder in nltk_data_folders():
        for version in ("wordnet", "wordnet.zip"):
            yield os.path.join(folder, "corpora", version)
    yield from SYSTEM_FOLDERS


def nltk_data_folders() -> Iterator[str]:
    """Yield the folders in which NLTK searches for its data."""
    yield from filter(None, os.environ.get("NLTK_DATA", "").split(os.pathsep))
    if os.path.expanduser("~/") != "~/":
        yield os.path.expanduser("~/nltk_data")
    for folder in ("nltk_data", os.path.join("share", "nltk_data"), os.path.join("lib", "nltk_data")):
        yield os.path.join(sys.prefix, folder)
    if sys.platform == "win32":
        if "APPDATA" in os.environ:
            yield os.path.join(os.environ["APPDATA"], "nltk_data")
        yield from (r"C:\nltk_data", r"D:\nltk_data", r"E:\nltk_data")
    else:
        for root in ("/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib"):
            yield f"{root}/nltk_data"


@lru_cache(maxsize=8)
def open_source(source: str) -> WordNet:
    """Open the WordNet of a folder or zip file."""
    files = read_zip(source) if source.endswith(".zip") else [map_file(source, name) for name in FILES]
    try:
        tables = kernel.WordNet(files)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None
    return WordNet(tables, source, parse_version(bytes(files[FILES.index("data.adj")][:VERSION_BYTES])))


def map_file(folder: str, name: str) -> Any:
    import mmap

    path = os.path.join(folder, name)
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                return b""
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} is missing from this WordNet: {INSTALL_HELP}") from None


def read_zip(path: str) -> list[bytes]:
    """Return the files in NLTK's wordnet.zip, which NLTK's downloader does not unpack."""
    import zipfile

    with zipfile.ZipFile(path) as archive:
        members = {name.rpartition("/")[2]: name for name in archive.namelist()}
        missing = next((name for name in FILES if name not in members), None)
        if missing is not None:
            raise FileNotFoundError(f"{path} has no {missing}: {INSTALL_HELP}")
        return [archive.read(members[name]) for name in FILES]


def parse_version(licence: bytes) -> str:
    """Return the number in a line such as "WordNet 3.0 Copyright 2006", or "unknown"."""
    words = licence.split()
    for word, number, after in zip(words, words[1:], words[2:], strict=False):
        if word.lower() == b"wordnet" and after == b"Copyright":
            return number.decode("ascii", "replace")
    return "unknown"
