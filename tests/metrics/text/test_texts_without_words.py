"""Texts with letters in which ROUGE's tokenizer finds no word: a warning says so, and what it says to type works."""

import pickle
import re
import warnings

import numpy as np
import pytest

import fastmetrics as fm
from support.cases import each_case
from support.states.accumulators import with_other_source

TEXTS = {"Thai": "สวัสดีครับ ทุกคน", "Chinese": "今天天气很好", "Greek": "καλημέρα κόσμε", "digits": "٣٤"}
TYPE = "use tokenizer='unicode'"


def messages(call):
    """What a call warns of, and what it returns."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = call()
    return [str(warning.message) for warning in caught], value


def assert_warned(call, *patterns):
    """A call warns once; the value that it returns."""
    found, value = messages(call)
    assert len(found) == 1, found
    for pattern in patterns:
        assert re.search(pattern, found[0]), found[0]
    return value


@each_case("text", TEXTS.values())
@each_case("types", [["rouge1"], ["rougeL", "rougeLsum"], ["rouge2"]])
@each_case("multi", ["best", "mean"])
def test_rouge_says_that_it_found_no_word(text, types, multi):
    for _ in range(2):
        found = assert_warned(
            lambda: fm.rouge_score([text], ["a cat"], types=types, multi=multi), TYPE, "a text of row 0,"
        )
        assert found[types[0]].fmeasure == 0.0
    hypotheses = ["a cat"] * 3000
    references = ["a cat\nsat", text, f"{text}\n{text}"] * 1000
    found = assert_warned(
        lambda: fm.rouge_score(hypotheses, references, types=types, multi=multi, n_threads=2), "of row 1,"
    )
    several = [["a cat", "a dog"], [text, text], [text, text]]
    assert_warned(lambda: fm.rouge_score(["a cat"] * 3, several, types=types, multi=multi), "of row 1,")


@each_case("text", TEXTS.values())
def test_statistics_say_it_too(text):
    statistics = assert_warned(lambda: fm.segment_statistics("rouge", ["a", text], ["a", text]), TYPE, "of row 1,")
    assert statistics.counts[:, 1].tolist() == [1, 0]
    assert messages(statistics.score)[0] == []


@each_case("text", ["", "  ", "...", "?!", "2 + 2", "naïve café", "— €", "今天 2024", "\n\n", "😀"])
def test_texts_without_lost_letters_have_no_warning(text):
    hypotheses, references = ["a cat", text], [text, "a cat\n今天"]
    assert messages(lambda: fm.rouge_score(hypotheses, references))[0] == []


@each_case("text", TEXTS.values())
def test_tokens_and_other_tokenizers_have_no_warning(text):
    assert messages(lambda: fm.rouge_score([[text]], [[text]]))[0] == []
    assert messages(lambda: fm.rouge_score([text], [text], tokenizer=str.split))[0] == []
    found, result = messages(lambda: fm.rouge_score([text], [text], "rouge1", tokenizer="unicode"))
    assert found == []
    assert np.isclose(result["rouge1"].fmeasure, 1)


NOTE = "rouge1, rougeL, hypothesis: the tokenizer finds no word in a text of 2 rows, "


def assert_noted(result, *, times=1):
    """The note of a report or comparison, and what it says to type."""
    notes = [note for note in result.notes if "finds no word" in note]
    assert len(notes) == 1
    assert notes[0].startswith(NOTE.replace("2 rows", f"{2 * times} rows"))
    assert "rouge1(tokenizer=unicode)" in notes[0]
    assert notes[0] in str(result)


@each_case("text", TEXTS.values())
def test_logs_have_a_note(text):
    pytest.importorskip("pyarrow")
    log = {
        "reference": ["the cat", text, text, "a dog"], "hypothesis": ["the cat", text, "a", "a cat"],
        "day": [1, 2, 2, 1], "id": [1, 2, 3, 4],
    }  # fmt: skip
    metrics, columns = ["rouge1", "rougeL", "bleu"], {"label": "reference", "score": "hypothesis"}
    for options in ({}, {"by": "day"}, {"n_threads": 2}, {"ci": 0.9, "unit": "id"}):
        report = fm.evaluate(log, metrics, **columns, **options)
        assert_noted(report)
        assert "finds no word" in report.to_html()
        assert report.to_dict()["notes"] == list(report.notes)
        assert report.result("rouge1", slice={}).coverage["rows_without_words"] == 2
    assert fm.evaluate(log, "rouge1(tokenizer=unicode)", **columns).notes == ()
    first, second = (fm.Accumulator(metrics, **columns, by="day") for _ in range(2))
    for state in (first, second):
        state.update(log)
    first.merge(fm.Accumulator.from_bytes(second.to_bytes())).merge(with_other_source(pickle.loads(pickle.dumps(second))))
    assert_noted(first.result(), times=3)
    both = {"label": "reference", "score": ["hypothesis", "reference"], "unit": "id", "replicates": 20}
    compared = fm.compare(log, ["rouge1", "rougeL"], **both)
    assert [note.startswith("rouge1, rougeL, ") for note in compared.notes if "finds no word" in note] == [True, True]


@each_case("text", ["", "...", "2 + 2", "naïve café", "今天 2024", "😀"])
def test_logs_without_lost_letters_have_no_note(text):
    pytest.importorskip("pyarrow")
    log = {"reference": ["a cat", text], "hypothesis": [text, "a cat\n今天"]}
    report = fm.evaluate(log, ["rouge1", "rougeLsum", "bleu", "chrf", "ter"], label="reference", score="hypothesis")
    assert report.notes == ()
    assert "rows_without_words" not in report.result("rouge1").coverage
