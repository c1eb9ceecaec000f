"""The Comparison object: lookup, printing, writing, immutability."""

from __future__ import annotations

import json
import math
import pickle

import pytest

from fastmetrics._core.comparison.comparison import Comparison
from fastmetrics._core.comparison.difference import Difference
from support.cases import assert_raises, each_case


def comparison_of(**options):
    return Comparison(
        [
            Difference("auc", "a", "b", 0.5, 0.75, pvalue=0.01, interval=(0.2, 0.3), won=3, lost=1, tied=0, n_units=4,
                       verdict_interval=(0.2, 0.3), verdict_level=0.95),
            Difference("ndcg@10", "a", "b", 0.5, 0.25, pvalue=0.5),
            Difference("ndcg@10", "a", "c", 0.5, math.nan, reason="no query"),
            Difference("auc", "a", "b", 0.5, 0.5, slice={"country": "NL"}, pvalue=1),
        ],
        **{"level": 0.95, "correction": "holm", "unit": "user_id", "version": "1.0", "seconds": 0.5} | options,
    )


def test_a_difference_is_found_by_its_metric():
    comparison = comparison_of()
    assert len(comparison) == 4
    assert [one.metric for one in comparison][:2] == ["auc", "ndcg@10"]
    assert comparison.difference("auc") is comparison.difference("auc", slice={})
    assert comparison.difference("auc").difference == 0.25
    assert comparison.difference("ndcg(gain=linear)@10", other="b").pvalue == 0.5
    assert "ndcg(gain=linear)@10" in comparison
    assert "map" not in comparison
    assert 3 not in comparison
    assert Comparison([comparison.differences[0]])["auc"].won == 3


@each_case(
    ("options", "message"),
    [
        ({"metric": "ndcg@11"}, r"no 'ndcg@11' in this comparison; did you mean 'ndcg@10'\?"),
        ({"metric": "ndcg@10"}, r"2 differences for 'ndcg@10': choose with .*other=\.\.\.\): other='b'; other='c'"),
        ({"metric": "auc", "slice": {"country": "DE"}}, r"no difference .*slice=\{\}; slice=\{'country': 'NL'\}"),
        ({"metric": "auc", "other": "z"}, "no difference for 'auc'"),
    ],
)
def test_a_failed_lookup_lists_the_choices(options, message):
    assert_raises(KeyError, message, comparison_of().difference, **options)


def test_a_comparison_is_immutable_and_equal_by_content():
    comparison = comparison_of()
    assert comparison == comparison_of(seconds=None)
    assert hash(comparison) == hash(comparison_of(seconds=7.0))
    assert comparison != comparison_of(level=0.9)
    assert comparison != 3
    assert pickle.loads(pickle.dumps(comparison)) == comparison
    for target in (comparison, comparison.differences[0]):
        with pytest.raises(AttributeError, match="cannot be changed"):
            target.version = 1
    assert comparison.differences[1].replace(pvalue=0.25).pvalue == 0.25
    assert "metric='auc'" in repr(comparison.differences[0])


def test_writing():
    comparison = comparison_of()
    found = json.loads(comparison.to_json())
    assert found == comparison.to_dict()
    assert found["differences"][2]["other_value"] is None
    assert found["differences"][2]["reason"] == "no query"
    assert (found["differences"][0]["ci_low"], found["differences"][0]["ci_high"]) == (0.2, 0.3)
    table = comparison.to_arrow()
    assert table["ci_low"].to_pylist() == [0.2, None, None, None]
    assert table["won"].to_pylist() == [3, None, None, None]
    frame = comparison.to_pandas()
    assert list(frame.columns) == table.column_names
    assert (frame["won"][0], frame["country"][3], frame["sliced_by"][3]) == (3, "NL", "country")
    assert frame["ci_high"].isna().tolist() == [False, True, True, True]


def test_printing():
    text = str(comparison_of())
    lines = text.split("\n")
    assert lines[0].startswith("cannot tell b from a: auc +0.25")
    assert "fastmetrics 1.0: 4 differences, paired by user_id, decided together by Holm's method" in text
    header, first = (line.split() for line in lines[lines.index("") + 1 :][:2])
    assert header[:4] == ["metric", "country", "baseline", "other"]
    assert first[:8] == ["auc", "(all)", "a", "b", "0.5", "0.75", "+0.25", "cannot"]
    assert first[9:] == ["[+0.2,", "+0.3]", "95%", "0.01", "3", "1", "0"]
    assert "undefined" in text
    page = comparison_of()._repr_html_()
    assert page.count("<tr>") == 5
    assert "[+0.2, +0.3]" in page
    assert "1 more rows" in Comparison([comparison_of().differences[0]] * 1001)._repr_html_()


def test_an_empty_comparison():
    assert "metric" in str(Comparison([])).splitlines()
    assert Comparison([]).to_arrow().num_rows == 0
    assert len(Comparison([]).to_pandas()) == 0


def test_columns_are_named_after_two_models():
    first = Difference(
        "auc", "old", "new", 0.5, 0.75, pvalue=0.01, adjusted_pvalue=0.02, label="click", verdict="better"
    )  # fmt: skip
    second = first.replace(metric="ap", adjusted_pvalue=0.5, verdict="cannot tell")
    comparison = Comparison(
        [first, second], level=0.95, correction="holm", unit="user_id", version="1.0", rows=1200,
        dropped={"null or NaN score": 3}, columns={"label": "click", "score": ("old", "new")}, notes=["odd"],
    )  # fmt: skip
    assert str(comparison).split("\n") == [
        "new is better: auc +0.250 (p 0.01)",
        "cannot tell new from old: ap +0.250 (p 0.01)",
        "",
        "metric  old   new  difference  verdict         p  adjusted p",
        "auc     0.5  0.75       +0.25  better       0.01        0.02",
        "ap      0.5  0.75       +0.25  cannot tell  0.01         0.5",
        "fastmetrics 1.0: 1,200 rows read, 3 dropped (null or NaN score: 3)",
        "label click; score old, new",
        "2 differences, paired by user_id, decided together by Holm's method: all rows, and each set of slices",
        "odd",
    ]
    found = comparison.to_dict()
    assert (found["rows"], found["dropped"]) == (1200, {"null or NaN score": 3})
    assert found["columns"] == {"label": "click", "score": ["old", "new"]}
    assert comparison != Comparison(comparison.differences, level=0.95, correction="holm", version="1.0")
