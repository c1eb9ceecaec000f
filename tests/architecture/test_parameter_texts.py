"""Texts of shared parameters are written into docstrings; what a function says of its own is kept."""

import pytest

from architecture.sources import ROOT

SOURCE = '''
def mrr(y_true, *, k=None, weights=None, n_threads=1):
    """The mean.

    Parameters
    ----------
    y_true
    k : int
        An old text
        of two lines.

        Its own paragraph.
    weights : array-like
        Its own words.
    n_threads : float
        Another.

    Returns
    -------
    float
    """
'''
WRITTEN = '''
def mrr(y_true, *, k=None, weights=None, n_threads=1):
    """The mean.

    Parameters
    ----------
    y_true : array-like
        Grades.
    k : int, optional
        The cutoff.

        Its own paragraph.
    weights : array-like
        Its own words.
    n_threads : int
        Number of threads.

    Returns
    -------
    float
    """
'''
TEXTS = """
n_threads = { type = "int", text = "Number of threads." }
[y_true]
type = "array-like"
text = "Labels."
grades = { for = ["metrics.ranking"], text = "Grades." }
[k]
own = ["top_k"]
cutoff = { for = ["mrr"], type = "int", text = "The cutoff." }
other = { for = ["metrics.ranking"], type = "int", text = "Not this one." }
[weights]
type = "array-like"
text = "Not this one."
own = ["mrr"]
"""


def test_shared_texts_are_written_and_own_texts_are_kept(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    tool = pytest.importorskip("generated.parameter_texts", reason="not a checkout")
    (tmp_path / "texts.toml").write_text(TEXTS)
    texts = tool.read_texts(tmp_path / "texts.toml")
    for source in (SOURCE, WRITTEN):
        lines = source.split("\n")
        assert tool.rewrite(lines, tool.find_entries(lines, "metrics.ranking.mrr", texts)) == WRITTEN
    # A module may ask for the texts of another function than those of its own place.
    assert "Labels." in written(tool, texts, "copc")
    assert "Grades." in written(tool, texts, "ndcg_score")
    with pytest.raises(SystemExit, match="PARAMETERS_AS = 'no_function' is no public function"):
        written(tool, texts, "no_function")


def written(tool, texts, function):
    lines = f'PARAMETERS_AS = "{function}"\n{SOURCE}'.split("\n")
    return tool.rewrite(lines, tool.find_entries(lines, "metrics.ranking.mrr", texts))
