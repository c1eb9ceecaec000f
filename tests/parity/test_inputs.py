"""Inputs: rows in any container give what scikit-learn gives for NumPy; what is no column is refused as there."""

import numpy as np
import pytest

from support.cases import each_case
from support.parity.cases import (
    CURVES,
    EVERYTHING,
    LABEL_RANKING,
    LABELS,
    PROBABILITIES,
    REGRESSION,
    Call,
    ours,
    present,
    run,
    theirs,
)
from support.parity.comparer import compare, missing_argument_name
from support.parity.differences import check

RNG = np.random.default_rng(31)
ROWS = 24
WEIGHTS = RNG.integers(1, 5, ROWS)
CLASSES = np.array([0, 1, 2, 1, 0, 2] * 4)
BINARY = np.array([0, 1, 1, 0, 1, 0] * 4)
GUESSES = np.array([0, 1, 1, 1, 0, 0, 1, 0] * 3)
SHARES = RNG.multinomial(8, [0.3, 0.3, 0.4], ROWS) / 8
VALUES = RNG.integers(1, 40, (ROWS, 2)) / 8
SETS = RNG.integers(0, 2, (ROWS, 3))
SINGLE = ["max_error", "mean_gamma_deviance", "mean_poisson_deviance", "mean_tweedie_deviance", "d2_tweedie_score"]

# One plain call of every function: what the containers are filled with.
PLAIN = {name: ([CLASSES, np.roll(CLASSES, 5)], {}) for name in LABELS}
PLAIN |= {name: ([BINARY, SHARES[:, 0]], {}) for name in [*CURVES, *PROBABILITIES]}
PLAIN |= {name: ([VALUES[:, 0], VALUES[:, 1]], {}) for name in REGRESSION}
PLAIN |= {"top_k_accuracy_score": ([CLASSES, SHARES], {}), "auc": ([np.sort(SHARES[:, 0]), SHARES[:, 1]], {})}
PLAIN |= {name: ([SETS, SHARES], {}) for name in LABEL_RANKING}
PLAIN["class_likelihood_ratios"] = ([BINARY, GUESSES], {})
for set_wise in ("f1_score", "jaccard_score", "precision_score", "recall_score"):
    PLAIN[set_wise][1]["average"] = "macro"
PLAIN["fbeta_score"][1].update(average="macro", beta=2)
UNWEIGHTED = {"auc", "calibration_curve", "max_error"}


def plain(name):
    """(arguments, options) of a plain call, weighted where the function takes weights."""
    args, options = PLAIN[name]
    return list(args), options | ({} if name in UNWEIGHTED else {"sample_weight": WEIGHTS})


def bare(name):
    """(arguments, options) of a plain call without weights."""
    args, options = PLAIN[name]
    return list(args), options


class OnlyArray:
    """What a tensor of another library offers: the array protocol and nothing else."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


def strided(values):
    wide = np.zeros((2 * values.shape[0], *values.shape[1:]), values.dtype)
    wide[::2] = values
    return wide[::2]


def read_only(values):
    values = values.copy()
    values.flags.writeable = False
    return values


NUMPY = {
    "reversed memory": lambda v: v[::-1].copy()[::-1],
    "strided": strided,
    "column of a table": lambda v: np.column_stack([v, v])[:, 0] if v.ndim == 1 else np.asfortranarray(v),
    "read-only": read_only,
    "byte-swapped": lambda v: v.astype(v.dtype.newbyteorder()),
    "unaligned": lambda v: np.frombuffer(b"x" + v.tobytes(), dtype=np.uint8)[1:].view(v.dtype).reshape(v.shape),
    "subclass": lambda v: np.ma.masked_array(v),
    "memory map like": lambda v: v.view(np.memmap),
    "list": lambda v: v.tolist(),
    "tuple": lambda v: tuple(map(tuple, v.tolist())) if v.ndim == 2 else tuple(v.tolist()),
    "list of scalars": list,
    "array protocol": OnlyArray,
}


def pandas_kinds():
    pd = pytest.importorskip("pandas")
    odd = list(range(100, 100 + ROWS))[::-1]

    def series(values, **options):
        return pd.DataFrame(values, index=odd) if values.ndim == 2 else pd.Series(values, index=odd, **options)

    def typed(kinds):
        def convert(values):
            return series(values) if values.ndim == 2 else series(values).astype(kinds[values.dtype.kind])

        return convert

    return {
        "pandas": series,
        "pandas nullable": typed({"i": "Int64", "f": "Float64", "O": "string", "U": "string", "b": "boolean"}),
        "pandas arrow": typed(
            {"i": "int64[pyarrow]", "f": "double[pyarrow]", "U": "string[pyarrow]", "b": "bool[pyarrow]"}
        ),
        "pandas categorical": typed(dict.fromkeys("ifUb", "category")),
        "pandas one column": lambda v: pd.DataFrame({"a": v}, index=odd) if v.ndim == 1 else series(v),
        "pandas index": lambda v: pd.Index(v) if v.ndim == 1 else series(v),
        "pandas array": lambda v: series(v).array if v.ndim == 1 else series(v),
    }


def polars_kinds():
    pl = pytest.importorskip("polars")

    def frame(values):
        return pl.DataFrame(values) if values.ndim == 2 else pl.Series(values.tolist())

    def chunked(values):
        return frame(values) if values.ndim == 2 else pl.concat([frame(values[:5]), frame(values[5:])], rechunk=False)

    return {"polars": frame, "polars chunked": chunked}


def arrow_kinds():
    pa = pytest.importorskip("pyarrow")

    def array(values):
        return values if values.ndim == 2 else pa.array(values.tolist())

    def chunked(values):
        own = array(values)
        return own if values.ndim == 2 else pa.chunked_array([own[:7], own[:0], own[7:]])

    def sliced(values):
        return values if values.ndim == 2 else pa.array([*values[:3].tolist(), *values.tolist()])[3:]

    def dictionary(values):
        return values if values.ndim == 2 else array(values).dictionary_encode()

    def once(values):
        return values if values.ndim == 2 else pa.chunked_array([array(values)])

    return {
        "arrow": array,
        "arrow chunked": chunked,
        "arrow one chunk": once,
        "arrow sliced": sliced,
        "arrow dictionary": dictionary,
    }


def kinds():
    return NUMPY | pandas_kinds() | polars_kinds() | arrow_kinds()


def compare_containers(name, args, options):
    """Complaints about every container of the arguments, beside the peer's answer on plain arrays."""
    expected = run(theirs(name), Call(name, tuple(args), options))
    assert expected.error is None
    complaints = []
    for kind, convert in kinds().items():
        # Weights must have one dimension; columns are raveled elsewhere.
        changed = {} if kind == "pandas one column" else options
        moved = options | {key: convert(value) for key, value in changed.items() if np.size(value) == ROWS}
        mine = run(ours(name), Call(name, tuple(convert(value) for value in args), moved))
        complaints += [f"{kind}: {text}; {mine}" for text in compare(mine, expected)]
    return complaints


@each_case("name", present(EVERYTHING))
def test_any_container_of_numbers(name):
    complaints = compare_containers(name, *plain(name))
    assert not complaints, "\n".join(["", *complaints])


@each_case("name", present([*LABELS, "top_k_accuracy_score", "log_loss", "brier_score_loss"]))
def test_any_container_of_texts(name):
    args, options = plain(name)
    texts = np.array(["no", "Yes", "yes"])
    args[0] = texts[args[0]]
    if name in LABELS:
        args[1] = texts[args[1]]
    if name == "brier_score_loss":
        options = options | {"pos_label": "Yes"}
    if name in ("confusion_matrix", "f1_score", "multilabel_confusion_matrix", "classification_report"):
        options = options | {"labels": np.array(["no", "yes", "Yes"])}
    complaints = compare_containers(name, args, options)
    assert not complaints, "\n".join(["", *complaints])


@each_case("name", present([*LABELS, *CURVES, *PROBABILITIES]))
def test_any_container_of_bools(name):
    args, options = plain(name)
    args = [args[0] > 0, args[1] > 0 if name in LABELS else args[1]]
    complaints = compare_containers(name, args, options)
    assert not complaints, "\n".join(["", *complaints])


@each_case("name", present(REGRESSION))
def test_any_container_of_tables(name):
    if name in SINGLE:
        return
    _, options = plain(name)
    complaints = compare_containers(name, [VALUES, VALUES[::-1].copy()], options)
    assert not complaints, "\n".join(["", *complaints])


@each_case("name", present(EVERYTHING))
def test_columns_of_one(name):
    """A table of one column is a column wherever scikit-learn ravels it."""
    args, options = plain(name)
    for place in range(2):
        moved = list(args)
        if moved[place].ndim == 1:
            moved[place] = moved[place].reshape(-1, 1)
        check(name, *moved, **options)
    check(name, *[value.reshape(len(value), -1) for value in args], **options)


# ------------------------------------------------------------------------------------------------------ errors


def refused(name, *args, says=(), **options):
    """As the peer refuses it, and our message says what is to blame."""
    check(name, *args, **options)
    call = Call(name, args, options)
    error = run(ours(name), call).error
    assert error is not None, f"{call}: no error"
    assert not missing_argument_name(call, error)
    assert not says or any(word in str(error) for word in says), f"{says} not in: {error}"


def names_of(name):
    """The names of the first two arguments."""
    import inspect

    return list(inspect.signature(theirs(name)).parameters)[:2]


@each_case("name", present(EVERYTHING))
class TestRefused:
    def test_lengths_that_differ(self, name):
        args, options = plain(name)
        says = names_of(name)
        refused(name, args[0][:-1], args[1], says=says, **options)
        refused(name, args[0], args[1][:-1], says=says, **options)
        if "sample_weight" in options:
            refused(name, *args, **{**options, "sample_weight": options["sample_weight"][1:]}, says=["sample_weight"])

    def test_no_rows(self, name):
        args, options = bare(name)
        check(name, args[0][:0], args[1][:0], **options)
        check(name, [], [], **options)

    def test_none(self, name):
        args, options = bare(name)
        refused(name, None, args[1], says=names_of(name)[:1], **options)
        refused(name, args[0], None, says=names_of(name)[1:], **options)

    def test_one_number(self, name):
        args, options = bare(name)
        refused(name, 1, args[1], says=names_of(name)[:1], **options)
        refused(name, args[0], 0.5, says=names_of(name)[1:], **options)

    def test_a_text(self, name):
        args, options = bare(name)
        refused(name, "labels", args[1], says=names_of(name)[:1], **options)
        refused(name, args[0], "scores", says=names_of(name)[1:], **options)

    @each_case("bad", [float("nan"), float("inf"), -float("inf")])
    def test_what_is_not_finite(self, name, bad):
        args, options = bare(name)
        for place in range(2):
            moved = [value.astype(np.float64) for value in args]
            moved[place][3] = bad
            check(name, *moved, **options)

    @each_case("bad", [float("nan"), float("inf"), -1.0])
    def test_weights_that_are_none(self, name, bad):
        args, options = plain(name)
        if "sample_weight" in options:
            weight = options["sample_weight"].astype(np.float64)
            weight[2] = bad
            check(name, *args, **{**options, "sample_weight": weight})

    def test_weights_of_zero(self, name):
        args, options = plain(name)
        if "sample_weight" in options:
            check(name, *args, **{**options, "sample_weight": np.zeros(ROWS)})
            check(name, *args, **{**options, "sample_weight": np.zeros(ROWS, np.int64)})

    def test_weights_of_another_shape_or_type(self, name):
        args, options = plain(name)
        if "sample_weight" in options:
            weight = options["sample_weight"]
            for bad in (weight.reshape(-1, 1), np.column_stack([weight, weight]), ["a"] * ROWS, "balanced", 2.0):
                check(name, *args, **{**options, "sample_weight": bad})

    def test_too_many_dimensions(self, name):
        args, options = bare(name)
        for place in range(2):
            moved = list(args)
            moved[place] = np.zeros((ROWS, 2, 2))
            refused(name, *moved, **options)
            moved[place] = np.zeros((ROWS, 3))
            check(name, *moved, **options)
        check(name, *[np.zeros((ROWS, 2, 2))] * 2, **options)
        check(name, *[value.reshape(1, -1) for value in args], **options)
        check(name, np.float64(1), np.float64(1), **options)

    def test_texts_for_numbers(self, name):
        args, options = bare(name)
        texts = np.array([f"t{value}" for value in range(ROWS)])
        check(name, args[0], texts, **options)
        check(name, args[0], texts.astype(object), **options)
        check(name, texts, args[1], **options)

    def test_nothing_in_a_row(self, name):
        args, options = bare(name)
        for place in range(2):
            moved = [value.astype(object) for value in args]
            moved[place][1] = None
            check(name, *moved, **options)
            check(name, *[value.tolist() for value in moved], **options)

    def test_complex_bytes_and_dates(self, name):
        args, options = bare(name)
        for bad in (args[1].astype(complex), np.array([b"a", b"b"] * 12), np.array(["2020-01-01"] * 24, "M8[D]")):
            check(name, args[0], bad, **options)
            check(name, bad, args[1], **options)

    def test_an_option_nobody_knows(self, name):
        args, options = bare(name)
        refused_call = run(ours(name), Call(name, tuple(args), {**options, "unknown_option": 1}))
        assert isinstance(refused_call.error, TypeError)
        assert "unknown_option" in str(refused_call.error)


@each_case("name", present(EVERYTHING))
def test_nulls_are_refused_and_named(name):
    """scikit-learn makes NaN of them and refuses that; here the row is named."""
    args, options = bare(name)
    pd, pl, pa = (pytest.importorskip(peer) for peer in ("pandas", "polars", "pyarrow"))
    for place in range(2):
        if args[place].ndim == 1:
            values = args[place].tolist()
            values[4] = None
            for make in (
                pl.Series,
                pa.array,
                lambda v: pa.chunked_array([v]),
                pd.array,
                lambda v: pd.Series(v, dtype=object),
            ):
                moved = list(args)
                moved[place] = make(values)
                mine = run(ours(name), Call(name, tuple(moved), options))
                assert isinstance(mine.error, (ValueError, TypeError)), f"{moved[place]!r}: {mine}"
                assert names_of(name)[place] in str(mine.error)


# --------------------------------------------------------------------------------------------- options, wrong ones

WRONG = {
    "average": ["nobody", 1, True, ["macro"]],
    "normalize": ["nobody", 2.5, None],
    "zero_division": ["nobody", 2, -1, None, 0.5],
    "beta": [-1, "one", None, float("nan")],
    "pos_label": [[1], {}],
    "labels": [3, "abc", []],
    "samplewise": ["yes", None],
    "adjusted": ["yes", None],
    "weights": ["cubic", 1],
    "replace_undefined_by": [2.0, "nan", None, {"LR+": 0.5, "LR-": 0.5}, {"LR+": 2.0}, {"LR+": 2.0, "LR-": 2.0}],
    "digits": [-1, "two", 1.5, None],
    "output_dict": ["yes", None],
    "target_names": ["abc", 3],
    "warn_for": ["precision", None],
    "k": [0, -1, 1.5, "one", None],
    "max_fpr": [0, -0.5, 1.5, "half", float("nan")],
    "multi_class": ["nobody", None],
    "drop_intermediate": ["yes", None],
    "scale_by_half": ["half", None],
    "n_bins": [0, -1, 1.5, "two", None],
    "strategy": ["nobody", None],
    "multioutput": ["nobody", [1.0], [[1.0]], 3, "variance_weighted", None],
    "force_finite": ["yes", None],
    "alpha": [-0.1, 1.1, "half", None, float("nan")],
    "power": [0.5, 0.999, "one", None, float("nan")],
}  # fmt: skip


def wrong_options():
    import inspect

    for name in present(EVERYTHING):
        for option in inspect.signature(theirs(name)).parameters:
            for value in WRONG.get(option, []):
                yield pytest.param(name, option, value, id=f"{name}-{option}-{value}")


@each_case(("name", "option", "value"), list(wrong_options()))
def test_wrong_option(name, option, value):
    args, options = plain(name)
    check(name, *args, **{**options, option: value})
    error = run(ours(name), Call(name, tuple(args), {**options, option: value})).error
    assert error is None or option in str(error), f"{option} is not named: {error}"


# ------------------------------------------------------------------------------------------- labels, wrong ones


@each_case("name", present([*LABELS, *CURVES, *PROBABILITIES, "top_k_accuracy_score"]))
class TestWrongLabels:
    def test_numbers_beside_texts(self, name):
        _, options = plain(name)
        texts = np.array(["a", "b"] * 12)
        if name in LABELS:
            check(name, texts, GUESSES, **options)
            check(name, GUESSES, texts, **options)
            check(name, ["a", 1] * 12, GUESSES, **options)
            check(name, np.array(["a", 1] * 12, dtype=object), texts, **options)
        else:
            check(name, ["a", 1] * 12, PLAIN[name][0][1], **options)
            check(name, np.array(["a", 1] * 12, dtype=object), PLAIN[name][0][1], **options)

    def test_real_numbers_are_no_labels(self, name):
        args, options = plain(name)
        check(name, VALUES[:, 0], args[1], **options)
        if name in LABELS:
            check(name, args[0], VALUES[:, 0], **options)
            check(name, VALUES[:, 0], VALUES[:, 0], **options)

    def test_several_classes_where_two_are_meant(self, name):
        args, options = plain(name)
        check(name, CLASSES, args[1], **options)
        if name in LABELS:
            check(name, CLASSES, CLASSES, **{**options, "average": "binary"} if "average" in options else options)

    def test_objects_that_are_numbers(self, name):
        """scikit-learn knows no type of such labels; here they are the numbers."""
        args, options = plain(name)
        objects = [args[0].astype(object), args[1].astype(object) if name in LABELS else args[1]]
        with pytest.raises((ValueError, TypeError)):
            theirs(name)(*objects, **options)
        np.testing.assert_equal(ours(name)(*objects, **options), ours(name)(*args, **options))

    def test_lists_of_lists(self, name):
        args, options = plain(name)
        check(name, [[1, 2], [3]] * 12, args[1], **options)
        check(name, [[1, 2, 3], [3, 4, 1]] * 12, args[1], **options)


@each_case("name", present(LABELS))
def test_shapes_of_indicators_that_do_not_match(name):
    sparse = pytest.importorskip("scipy.sparse")
    options = PLAIN[name][1]
    wide, narrow = np.array([[0, 1, 1], [1, 0, 0]]), np.array([[0, 1], [1, 0]])
    for make in (np.asarray, sparse.csr_array):
        check(name, make(wide), make(narrow), **options)
        check(name, make(wide), make(wide[:1]), **options)
        check(name, make(wide), np.array([1, 0]), **options)
        check(name, np.array([1, 0]), make(wide), **options)
        check(name, make(wide * 2 + 1), make(wide), **options)
        check(name, make(wide[:0]), make(wide[:0]), **options)
    check(name, sparse.csr_array(wide), narrow, **options)
    check(name, sparse.csr_array(np.array([[0], [1]])), np.array([0, 1]), **options)


@each_case("name", present([*CURVES, *PROBABILITIES, *REGRESSION, "auc", "top_k_accuracy_score"]))
def test_sparse_matrices_where_they_have_no_meaning(name):
    sparse = pytest.importorskip("scipy.sparse")
    args, options = bare(name)
    refused(name, args[0], sparse.csr_array(args[1].reshape(ROWS, -1)), **options)
    refused(name, sparse.csr_array(args[0].reshape(ROWS, -1)), args[1], **options)
