"""Files that version 0.1 wrote: every later version reads them and finds in them what 0.1 found.

From 0.1 on this is a promise. The stored states are compressed to keep them small; below that they are the bytes of
`Accumulator.to_bytes`.
"""

import gzip
import json

import pytest

import fastmetrics as fm
from compatibility import states, write_files
from compatibility.encoding import FOLDER, read, text_of, without_version, without_wording
from compatibility.engine_cases import engine_cases, evaluated
from compatibility.object_cases import COMPARISONS, compared
from support.cases import each_case

RESULTS = read("results_of_states.json")
REPORTS = read("reports.json")
COMPARED = read("comparisons.json")


def stored(name):
    return gzip.decompress((FOLDER / "files" / "states" / f"{name}.gz").read_bytes())


def comparable(document):
    """A document as text, without run time, version and the words of explanations."""
    return without_version(text_of(without_wording(document)))


@each_case("name", states.STATES)
class TestEveryState:
    def test_it_is_read(self, name):
        state = fm.Accumulator.from_bytes(stored(name))
        assert comparable(states.result_of(state)) == comparable(RESULTS[name])

    def test_the_same_rows_give_the_same_result(self, name):
        assert comparable(states.result_of(states.make(name))) == comparable(RESULTS[name])

    def test_the_same_rows_give_the_same_bytes(self, name):
        """Format, header (without the version) and every array."""
        assert states.content(states.make(name).to_bytes()) == states.content(stored(name))

    def test_what_was_read_is_written_again(self, name):
        again = fm.Accumulator.from_bytes(stored(name)).to_bytes()
        assert states.content(again) == states.content(stored(name))

    def test_it_merges_with_new_states(self, name):
        old, new = fm.Accumulator.from_bytes(stored(name)), states.make(name)
        other = states.make(name, seed=22)
        assert comparable(states.result_of(old.merge(other))) == comparable(states.result_of(new.merge(other)))

    def test_new_states_merge_with_it(self, name):
        old, new = states.make(name, seed=22), states.make(name, seed=22)
        old.merge(fm.Accumulator.from_bytes(stored(name)))
        new.merge(states.make(name))
        assert comparable(states.result_of(old)) == comparable(states.result_of(new))

    def test_it_takes_more_rows(self, name):
        _, _, rows, change = states.STATES[name]
        results = []
        for state in (fm.Accumulator.from_bytes(stored(name)), states.make(name)):
            state.update(states.state_log(max(rows, 5), change, seed=23))
            results.append(comparable(states.result_of(state)))
        assert results[0] == results[1]


@pytest.mark.parametrize("name", write_files.REPORTS)
def test_documents_of_reports(name):
    document = json.loads(evaluated(engine_cases()[name]).to_json())
    if "notes" not in REPORTS[name]:
        document.pop("notes", None)  # 0.1 says nothing of texts without words
    assert comparable(document) == comparable(REPORTS[name])
    assert document.keys() == REPORTS[name].keys()


@pytest.mark.parametrize("name", COMPARISONS)
def test_documents_of_comparisons(name):
    document = json.loads(compared(name).to_json())
    assert comparable(document) == comparable(COMPARED[name])
    assert document.keys() == COMPARED[name].keys()


def test_every_stored_file_is_used():
    names = {path.name for path in (FOLDER / "files" / "states").iterdir()}
    assert names == {f"{name}.gz" for name in states.STATES}
    assert RESULTS.keys() == states.STATES.keys()
    assert REPORTS.keys() == set(write_files.REPORTS)
    assert COMPARED.keys() == COMPARISONS.keys()
