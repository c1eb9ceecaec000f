"""The warning of undefined metrics: who catches or filters scikit-learn's catches ours."""

import pickle
import subprocess
import sys
import warnings

import pytest

import fastmetrics as fm

pytestmark = pytest.mark.peers
ONE_CLASS = ([1, 1], [0.1, 0.2])

# In a process of its own: fastmetrics is there first, and warns before scikit-learn is imported.
FASTMETRICS_FIRST = """
import pickle, sys, warnings
import fastmetrics as fm

with warnings.catch_warnings(record=True) as before:
    warnings.simplefilter("always")
    fm.roc_auc_score([1, 1], [0.1, 0.2])
assert [warning.category for warning in before] == [fm.UndefinedMetricWarning]
stored = pickle.dumps(before[0].message)
assert "sklearn" not in sys.modules

from sklearn.exceptions import UndefinedMetricWarning

warnings.simplefilter("error")
warnings.simplefilter("ignore", UndefinedMetricWarning)
fm.roc_auc_score([1, 1], [0.1, 0.2])
assert isinstance(before[0].message, UndefinedMetricWarning)
assert type(pickle.loads(stored)) is fm.UndefinedMetricWarning
"""


@pytest.fixture
def theirs():
    return pytest.importorskip("sklearn.exceptions").UndefinedMetricWarning


def test_scikit_learn_is_imported_later(theirs):
    done = subprocess.run([sys.executable, "-c", FASTMETRICS_FIRST], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_filters_with_either_class(theirs):
    for category in (theirs, fm.UndefinedMetricWarning):
        with warnings.catch_warnings():
            warnings.filterwarnings("error", category=category)
            with pytest.raises(category, match="roc_auc_score is undefined") as raised:
                fm.roc_auc_score(*ONE_CLASS)
        assert type(raised.value) is fm.UndefinedMetricWarning
        with pytest.warns(category, match="roc_auc_score is undefined"):
            fm.roc_auc_score(*ONE_CLASS)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", category=category)
            fm.roc_auc_score(*ONE_CLASS)


def test_a_filter_of_ours_leaves_theirs(theirs):
    """Their warnings are no kind of ours."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", fm.UndefinedMetricWarning)
        warnings.warn("theirs", theirs, stacklevel=1)
    assert [warning.category for warning in caught] == [theirs]


def test_the_class_stays_the_same(theirs):
    with pytest.warns(theirs) as caught:
        fm.roc_auc_score(*ONE_CLASS)
    message = caught[0].message
    assert type(message) is fm.UndefinedMetricWarning
    copy = pickle.loads(pickle.dumps(message))
    assert (type(copy), copy.args) == (type(message), message.args)


def test_a_half_imported_scikit_learn(monkeypatch):
    """Another thread imports scikit-learn: its module of exceptions is there, and still empty."""
    monkeypatch.setitem(sys.modules, "sklearn.exceptions", type(sys)("sklearn.exceptions"))
    with pytest.warns(fm.UndefinedMetricWarning):
        fm.roc_auc_score(*ONE_CLASS)
