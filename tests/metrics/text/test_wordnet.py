"""The reader of WordNet: the same synonyms as the oracle and NLTK, search for the files, and damaged files."""

import os
import shutil
import string
import subprocess
import sys
import zipfile
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastmetrics._kernels.text.tokens import wordnet as kernel
from fastmetrics.metrics.text.tokens import wordnet
from fastmetrics.metrics.text.tokens.wordnet import FILES, open_wordnet
from oracles.text import wordnet as oracle
from support.cases import assert_raises, each_case
from support.files.wordnet_files import copy_wordnet, installed_wordnet, nltk_wordnet

pytestmark = pytest.mark.wordnet

ENDINGS = ("", "s", "es", "ed", "ing", "er", "est", "ies", "men", "ses", "ves", "xes", "zes", "ches", "shes")


@pytest.fixture(scope="module")
def ours():
    installed_wordnet()
    return open_wordnet()


@cache
def read_oracle():
    return oracle.WordNet(installed_wordnet())


@pytest.fixture(scope="module")
def expected():
    return read_oracle()


@pytest.fixture(scope="module")
def nltk_reader(tmp_path_factory):
    return nltk_wordnet(tmp_path_factory.mktemp("nltk_wordnet"))


def nltk_names(reader, word):
    names = {lemma.name() for synset in reader.synsets(word) for lemma in synset.lemmas()}
    return {name for name in names if "_" not in name}


def test_all_words(ours, expected):
    words = [*expected.words(), *expected.inflected()]
    assert len(words) > 150_000
    assert [word for word in words if ours.lemma_names(word) != expected.lemma_names(word)] == []


def test_inflected_words(ours, expected):
    words = [word + ending for word in expected.words()[::37] for ending in ENDINGS]
    words += [word[:-2] + ending for word in expected.words()[::101] for ending in ENDINGS]
    assert [word for word in words if ours.lemma_names(word) != expected.lemma_names(word)] == []


def test_words_in_nltk(ours, expected, nltk_reader):
    words = expected.words()[::291] + expected.inflected()[::27] + [word + "s" for word in expected.words()[::933]]
    words += ["Guides", "PARIS", "paris", "", " ", "s", "men", "galore", "'s", "ice_cream", "ice cream", "dog n"]
    words += ["Ärzte", "naïve", "\u212a"]
    assert [word for word in words if ours.lemma_names(word) != nltk_names(nltk_reader, word)] == []


@settings(max_examples=100)
@given(st.text(max_size=12) | st.text(string.ascii_lowercase, max_size=6))
def test_any_text(word):
    installed_wordnet()
    assert open_wordnet().lemma_names(word) == read_oracle().lemma_names(word)


def test_names_keep_their_capitals_but_not_their_markers(ours):
    assert "Paris" in ours.lemma_names("paris")
    assert ours.lemma_names("galore") == {"galore", "abounding"}
    assert "mouse" in ours.lemma_names("mice")


def test_long_and_odd_words_have_no_synonyms(ours):
    for word in ("x" * 10_000, "\ud800", "dog\x00", "dog\n", "\t", "a" * 500 + "s", "𝒹ℴℊ" * 200):
        assert ours.lemma_names(word) == set()


# --------------------------------------------------------------------------------------------- the search for the files


@pytest.fixture
def without_wordnet(monkeypatch, tmp_path):
    """No WordNet is installed; returns an empty folder."""
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    monkeypatch.delenv("NLTK_DATA", raising=False)
    monkeypatch.setattr(wordnet, "SYSTEM_FOLDERS", ())
    monkeypatch.setattr(wordnet, "nltk_data_folders", lambda: iter([str(tmp_path / "nltk_data")]))
    return tmp_path


def test_the_error_says_what_to_install(without_wordnet):
    assert_raises(FileNotFoundError, r"apt-get install wordnet-base.*WNSEARCHDIR.*\"exact\", \"stem\"", open_wordnet)


def test_a_path_without_wordnet_is_an_error(without_wordnet, monkeypatch):
    assert_raises(FileNotFoundError, r"wordnet='.*' has no WordNet", open_wordnet, without_wordnet)
    monkeypatch.setenv("WNSEARCHDIR", str(without_wordnet / "absent"))
    assert_raises(FileNotFoundError, r"WNSEARCHDIR='.*absent' has no WordNet", open_wordnet)


def test_folders_in_their_order(without_wordnet, monkeypatch):
    folders = {}
    for name in ("path", "variable", "nltk_data/corpora/wordnet", "system"):
        folders[name] = without_wordnet / name
        folders[name].mkdir(parents=True)
        copy_wordnet(folders[name])
    monkeypatch.setattr(wordnet, "SYSTEM_FOLDERS", (str(folders["system"]),))
    assert open_wordnet().source == str(folders["nltk_data/corpora/wordnet"])
    shutil.rmtree(without_wordnet / "nltk_data")
    assert open_wordnet().source == str(folders["system"])
    monkeypatch.setenv("WNSEARCHDIR", str(folders["variable"]))
    assert open_wordnet().source == str(folders["variable"])
    assert open_wordnet(folders["path"]).source == str(folders["path"])


def test_the_folder_above_dict_is_accepted(without_wordnet):
    (without_wordnet / "dict").mkdir()
    copy_wordnet(without_wordnet / "dict")
    assert open_wordnet(str(without_wordnet)).source == str(without_wordnet / "dict")


def test_nltk_data_variable(monkeypatch, tmp_path):
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    (tmp_path / "corpora" / "wordnet").mkdir(parents=True)
    copy_wordnet(tmp_path / "corpora" / "wordnet")
    monkeypatch.setenv("NLTK_DATA", f"/absent{os.pathsep}{tmp_path}")
    assert open_wordnet().source == str(tmp_path / "corpora" / "wordnet")


def test_the_zip_file_of_nltk(without_wordnet, ours):
    (without_wordnet / "nltk_data" / "corpora").mkdir(parents=True)
    with zipfile.ZipFile(without_wordnet / "nltk_data" / "corpora" / "wordnet.zip", "w") as archive:
        for name in FILES:
            archive.write(installed_wordnet() / name, f"wordnet/{name}")
    packed = open_wordnet()
    assert packed.source.endswith("wordnet.zip")
    assert packed.version == ours.version == "3.0"
    assert packed.lemma_names("guides") == ours.lemma_names("guides")
    with zipfile.ZipFile(without_wordnet / "other.zip", "w") as archive:
        archive.write(installed_wordnet() / "index.noun", "wordnet/index.noun")
    assert_raises(FileNotFoundError, r"other\.zip has no index\.verb", open_wordnet, without_wordnet / "other.zip")


def test_missing_file(without_wordnet):
    copy_wordnet(without_wordnet)
    (without_wordnet / "verb.exc").unlink()
    assert_raises(FileNotFoundError, r"verb\.exc is missing", open_wordnet, without_wordnet)


def test_nothing_is_read_at_import():
    code = "import sys, fastmetrics.metrics.text.tokens.wordnet; assert not {'mmap', 'zipfile'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


# ---------------------------------------------------------------------------------------------------- damaged files

SMALL = {
    "index.noun": b"  1 licence\ncat n 1 0 1 0 00000012  \ndog n 1 2 @ ~ 1 0 00000012  \n",
    "data.noun": b"  1 licence\n00000012 05 n 03 dog 0 cat(p) 1 big_dog 0 000 | a pet\n",
}


def open_small(**changed):
    contents = {**dict.fromkeys(FILES, b""), **SMALL, **changed}
    return kernel.WordNet([contents[name] for name in FILES])


def test_small_files():
    assert set(open_small().lemma_names(b"dogs")) == {b"dog", b"cat"}
    assert open_small().lemma_names(b"dog n") == []
    assert open_small(**{"noun.exc": b"dogz dog cat"}).lemma_names(b"dogz") == [b"dog", b"cat"]
    assert open_small(**{"noun.exc": b"dogs absent\n"}).lemma_names(b"dogs") == []
    assert kernel.WordNet([b""] * 12).lemma_names(b"dog") == []


@pytest.mark.parametrize("name", ["index.noun", "data.noun"])
def test_truncated_files_are_errors_and_never_overrun(name):
    for length in range(len(SMALL[name])):
        try:
            names = open_small(**{name: SMALL[name][:length]}).lemma_names(b"dog")
        except ValueError as error:
            assert "damaged" in str(error)  # noqa: PT017 - an error or a correct result
        else:
            assert all(any(full.startswith(found) for full in (b"dog", b"cat(", b"big_")) for found in names)


@each_case(
    "line",
    [
        b"dog", b"dog n x", b"dog n 1 0 1 0 00000099", b"dog n 1 0 1 0 00000013", b"dog n 1 99 1 0 00000012",
        b"dog n 0 0 0 0",
    ],
)
def test_index_lines_with_bad_offsets(line):
    assert_raises(ValueError, "damaged", open_small(**{"index.noun": line}).lemma_names, b"dog")


@given(st.binary(max_size=200), st.binary(max_size=200), st.sampled_from(sorted(SMALL)))
def test_any_bytes_give_names_or_an_error(before, after, name):
    try:
        open_small(**{name: before + SMALL[name] + after, "noun.exc": after}).lemma_names(b"dogs")
    except ValueError as error:
        assert "damaged" in str(error) or "500 bytes" in str(error)  # noqa: PT017


def test_files_that_are_not_wordnet():
    assert_raises(ValueError, "500 bytes", open_small, **{"index.adv": b"x" * 1000})
    assert_raises(ValueError, "12 files", kernel.WordNet, [b""])
