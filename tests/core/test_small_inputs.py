"""The guard for small inputs: which calls a kernel answers; all others run the function, with the same bits."""

import inspect
import pickle
import traceback

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics.metrics.classification import accuracy, cohen_kappa, confusion_matrix, label_counts
from support.cases import assert_raises, each_case

ROWS = 100
RNG = np.random.default_rng(5)
LABELS, SCORES, WEIGHTS = RNG.integers(0, 2, ROWS), RNG.integers(1, 16, ROWS) / 16, RNG.integers(1, 9, ROWS) / 4


class Subclass(np.ndarray):
    """May mean anything, as a masked array does."""


def is_guarded(function):
    return inspect.isfunction(function) and function.__code__.co_filename.startswith("<small inputs of ")


PUBLIC = {name: getattr(fm, name) for name in fm.__all__ if is_guarded(getattr(fm, name))}
SHARED = {
    "count_matrix": confusion_matrix.count_matrix,
    "count_classes": label_counts.count_classes,
    "count_class_margins": confusion_matrix.count_class_margins,
    "count_matching_rows": accuracy.count_matching_rows,
    "count_disagreements": cohen_kappa.count_disagreements,
}
GUARDED = PUBLIC | SHARED
# Labels and probabilities, by name of the second column; lists and weights are read too.
LOSSES = {"brier_score_loss", "copc", "d2_brier_score", "d2_log_loss_score", "log_loss", "normalized_entropy", "pcoc"}
CURVES = {
    "average_precision_score", "det_curve", "equal_error_rate", "ks_statistic", "precision_recall_curve",
    "roc_auc_score", "roc_curve",
}  # fmt: skip
BINS = {"calibration_curve", "expected_calibration_error"}
MATRICES = {"coverage_error", "label_ranking_average_precision_score", "label_ranking_loss"}
CLASSES = {*SHARED, "hamming_loss"}
REGRESSION = GUARDED.keys() - LOSSES - CURVES - BINS - MATRICES - CLASSES
FAMILIES = {"losses": LOSSES, "curves": CURVES, "bins": BINS, "matrices": MATRICES, "classes": CLASSES}
ALL = {"losses", "curves", "bins", "matrices", "classes", "regression"}


def family(name):
    return next((key for key, names in FAMILIES.items() if name in names), "regression")


def columns(name, rows=ROWS):
    labels, scores = np.resize(LABELS, rows), np.resize(SCORES, rows)
    if name in MATRICES:
        return labels.reshape(-1, 4), scores.reshape(-1, 4)
    if name in CLASSES:
        return labels, np.resize(LABELS[::-1], rows)
    return (labels + 1 if name in REGRESSION else labels), scores


def strided(array):
    return np.repeat(array, 2, axis=0)[::2]


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


# What is done to both columns (or options), and the families whose kernel still answers.
VARIATIONS = {
    "as they are": (lambda y, s: (y, s), {}, ALL),
    "read-only": (lambda y, s: (read_only(y), read_only(s)), {}, ALL),
    "float32": (lambda y, s: (y, s.astype(np.float32)), {}, ALL),
    "labels of one byte": (lambda y, s: (y.astype(np.int8), s), {}, ALL),
    "float16": (lambda y, s: (y, s.astype(np.float16)), {}, set()),
    "byte order": (lambda y, s: (y, s.astype(s.dtype.newbyteorder())), {}, set()),
    "strides": (lambda y, s: (strided(y), strided(s)), {}, {"regression"}),
    "subclass": (lambda y, s: (y.view(Subclass), s), {}, set()),
    "subclass second": (lambda y, s: (y, s.view(Subclass)), {}, set()),
    "lists": (lambda y, s: (y.tolist(), s.tolist()), {}, {"losses"}),
    "tuples": (lambda y, s: (tuple(y.tolist()), tuple(s.tolist())), {}, set()),
    "n_threads": (lambda y, s: (y, s), {"n_threads": 1}, ALL),
    "weights": (lambda y, s: (y, s), {"sample_weight": WEIGHTS}, {"losses"}),
    "list of weights": (lambda y, s: (y, s), {"sample_weight": WEIGHTS.tolist()}, {"losses"}),
    "weights of a subclass": (lambda y, s: (y, s), {"sample_weight": WEIGHTS.view(Subclass)}, set()),
}


def bits(value):
    """A result as something that compares by bits."""
    if isinstance(value, tuple):
        return type(value), tuple(map(bits, value))
    if hasattr(value, "threshold"):
        return type(value), bits(float(value)), bits(value.threshold)
    array = np.asarray(value)
    return array.dtype.str, array.shape, array.tolist() if array.dtype.hasobject else array.tobytes()


def call(monkeypatch, function, *args, **options):
    """The result, and whether the function itself ran."""
    calls = []

    def spy(*args, **options):
        calls.append(args)
        return function.__wrapped__(*args, **options)

    monkeypatch.setitem(function.__globals__, "function", spy)
    return function(*args, **options), bool(calls)


def test_every_guarded_function_is_in_a_family():
    assert all(names <= GUARDED.keys() for names in FAMILIES.values())
    assert len(GUARDED) == 42
    assert len(REGRESSION) == 17


@each_case("name", GUARDED)
class TestGuardedFunctions:
    def test_the_kernel_answers_what_it_should_with_the_same_bits(self, name, monkeypatch):
        function = GUARDED[name]
        for variation, (change, options, families) in VARIATIONS.items():
            if not options.keys() <= inspect.signature(function).parameters.keys():
                continue
            own_columns = change(*columns(name))
            if "sample_weight" in options:
                options = {"sample_weight": options["sample_weight"][: len(own_columns[0])]}
            result, ran = call(monkeypatch, function, *own_columns, **options)
            assert ran == (family(name) not in families), variation
            assert bits(result) == bits(function.__wrapped__(*own_columns, **options)), variation

    def test_columns_by_name(self, name, monkeypatch):
        function, own_columns = GUARDED[name], columns(name)
        names = list(inspect.signature(function).parameters)[:2]
        result, ran = call(monkeypatch, function, **dict(zip(names, own_columns, strict=True)))
        assert not ran
        assert bits(result) == bits(function(*own_columns))

    def test_many_rows(self, name, monkeypatch):
        rows = 1028 if name in CURVES else 1 << 17
        own_columns = columns(name, rows)
        result, ran = call(monkeypatch, GUARDED[name], *own_columns)
        assert ran
        assert bits(result) == bits(GUARDED[name].__wrapped__(*own_columns))

    def test_bad_columns_are_errors_of_the_function(self, name):
        first, second = columns(name)
        for own_columns in ((first, np.full(second.shape, np.nan)), (first, second[:-1])):
            assert_raises(ValueError, r"NaN|rows|lengths|continuous", GUARDED[name], *own_columns)

    def test_it_looks_like_the_function(self, name):
        function = GUARDED[name]
        assert inspect.signature(function) == inspect.signature(function.__wrapped__)
        assert (inspect.unwrap(function).__kwdefaults__ or {}).items() <= (function.__kwdefaults__ or {}).items()
        assert (function.__doc__, function.__name__) == (function.__wrapped__.__doc__, name)
        assert pickle.loads(pickle.dumps(function)) is function
        assert f"def {name}(" in inspect.getsource(function)


# ------------------------------------------------------------------------------------------------------ the decorator

SMALL, GENERAL = "the kernel", "the function"
A, B = np.zeros(3), np.ones(3)


def kernel(first, second, *, level=2):
    return None if level == 0 else SMALL


@small_inputs(kernel)
def guarded(y_true, y_score, way="usual", *, level=2, sample_weight=None, flag=True):
    return GENERAL


@pytest.mark.parametrize("options", [{}, {"level": 7}, {"way": "usual"}, {"flag": True, "sample_weight": None}])
def test_usual_options(options):
    assert guarded(A, B, **options) == SMALL


@pytest.mark.parametrize("options", [{"way": "other"}, {"flag": 1}, {"sample_weight": A}, {"level": 0}])
def test_other_options(options):
    assert guarded(A, B, **options) == GENERAL


def test_the_number_of_threads_is_checked_and_does_not_choose_the_path():
    @small_inputs(lambda first, second: SMALL)
    def function(first, second, *, n_threads=None):
        return GENERAL

    assert function(A, B, n_threads=1) == function(A, B, n_threads=8) == function(A, B) == SMALL
    for wrong in (0, -2, 1.5, "2", True):
        with pytest.raises(ValueError, match="n_threads must be an integer of at least 1"):
            function(A, B, n_threads=wrong)


def test_options_by_position():
    assert guarded(A, B, "usual") == SMALL
    assert guarded(A, B, "other") == GENERAL
    assert_raises(TypeError, r"guarded\(\) takes from 2 to 3 positional arguments", guarded, A, B, "usual", 2)
    assert_raises(TypeError, r"guarded\(\) missing 1 required positional argument: 'y_score'", guarded, A)


def test_constants_and_the_greatest_number_of_rows():
    @small_inputs(lambda first, second, *constants: constants, 1, "two", max_rows=3)
    def function(first, second):
        return GENERAL

    assert function(A, B) == (1, "two")
    assert function(np.zeros(4), np.ones(4)) == GENERAL


def test_lists():
    @small_inputs(lambda first, second, *, sample_weight=None: (first, second, sample_weight), lists=True)
    def function(first, second, *, sample_weight=None):
        return GENERAL

    first, second, weights = function([1, 2], A, sample_weight=[3, 4])
    assert (first.tolist(), weights.tolist()) == ([1, 2], [3, 4])
    assert second is A
    assert function(A, B)[2] is None
    for unread in (None, (1, 2), [[1], [2, 3]], [0] * 5000):
        assert function(unread, A)[0].shape == (0,)


def test_a_traceback_has_both_lines_and_the_function_by_its_name():
    with pytest.raises(ValueError, match="NaN") as caught:
        fm.roc_auc_score(LABELS, SCORES * np.nan)
    frames = traceback.extract_tb(caught.tb)[1:3]
    assert [frame.name for frame in frames] == ["roc_auc_score", "roc_auc_score"]
    assert frames[0].line.startswith("return function(y_true, y_score,")
