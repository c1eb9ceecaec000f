"""Keys that are floats from 2**53 on have a note: they may have been integers of which several became one float."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import fastmetrics as fm
from support.cases import each_case
from support.peers import pandas

LOG = {"y": [1, 0, 1, 0], "s": [0.4, 0.3, 0.2, 0.1]}
NAMES = {"label": "y", "score": "s"}
KEYS = {"group": "gauc", "unit": "ctr", "by": "ctr"}


def report_of(log, role, **options):
    metrics = [KEYS[role]]
    return fm.evaluate(log, metrics, **NAMES, **{role: "id"}, **({"ci": 0.9} if role == "unit" else {}), **options)


@each_case("role", KEYS)
def test_wide_floats_have_a_note(tmp_path, role):
    wide = pandas().DataFrame({**LOG, "id": [2.0**53, 2.0**53, -(2.0**60), -(2.0**60)]})
    pq.write_table(pa.Table.from_pandas(wide), tmp_path / "log.parquet")
    for log in (wide, wide.to_dict("list"), str(tmp_path / "log.parquet")):
        report = report_of(log, role)
        assert report.results[-1].coverage["float_keys"] == "id"
        assert "id: keys are floats from 2**53 on" in str(report)
        assert "float_keys" in report.to_json()


@each_case("role", KEYS)
@each_case("ids", [np.array([2.0**53 - 1, 1.5, 0.0, -3.0]), np.array([2**53 + 1, 2**53, 1, 2])], ids=["small", "int"])
def test_other_keys_have_none(ids, role):
    report = report_of({**LOG, "id": ids.tolist()}, role)
    assert all("float_keys" not in result.coverage for result in report)
    assert "floats from 2**53" not in str(report)


def test_each_column_of_a_key_is_named_and_accumulators_merge_the_note():
    log = {**LOG, "id": [2.0**53] * 4, "session": [1, 1, 2, 2], "other": [-(2.0**54)] * 4}
    options = {**NAMES, "group": ["session", "other", "id"]}
    assert fm.evaluate(log, ["gauc"], **options).results[0].coverage["float_keys"] == "id, other"
    one, other = (fm.Accumulator(["gauc"], **options) for _ in range(2))
    one.update({**log, "id": [1.0] * 4, "other": [1.0] * 4})
    other.update(log)
    one.merge(fm.Accumulator.from_bytes(other.to_bytes()))
    assert one.result().results[0].coverage["float_keys"] == "id, other"
