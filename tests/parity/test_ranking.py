"""Discounted gains of matrices: scikit-learn's dcg_score and ndcg_score, with every option, in any container."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.cases import each_case
from support.parity import strategies
from support.parity.cases import GRADED, ours, present, theirs
from support.parity.differences import check

RNG = np.random.default_rng(0)
GRADES = RNG.integers(0, 4, (6, 5))
SCORES = np.round(RNG.random((6, 5)), 1)
WEIGHTS = RNG.integers(1, 4, 6)


@pytest.mark.parametrize("name", present(GRADED))
def test_their_parameters_mean_the_same(name):
    """Ours come between theirs: they are keyword-only but for the columns."""
    wanted, found = (inspect.signature(side(name)).parameters for side in (theirs, ours))
    for option, parameter in wanted.items():
        assert found[option].default == parameter.default
        assert found[option].kind == parameter.kind


@pytest.mark.parametrize("name", present(GRADED))
@given(data=st.data())
def test_matrices_of_grades(name, data):
    draw = data.draw
    rows, width = draw(st.sampled_from([1, 2, 3, 30])), draw(st.sampled_from([2, 3, 5, 16, 17, 100]))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    levels = draw(st.sampled_from([1, 2, 5]))
    kind = draw(st.sampled_from(["int64", "uint8", "float64", "float32"]))
    grades = rng.integers(0, levels + 1, (rows, width)).astype(kind)
    if draw(st.integers(0, 3)) == 0:
        grades = grades.astype(np.float64) + rng.integers(-1 if name == "dcg_score" else 0, 2, grades.shape) / 2
    scores = strategies.floats_between(draw, -1.0, 1.0, rows * width, draw(st.sampled_from([None, 1, 4])))
    scores = scores.reshape(rows, width).astype(draw(st.sampled_from(["float64", "float64", "float32", "float16"])))
    options = {"sample_weight": draw(strategies.weights(rows))} if draw(st.booleans()) else {}
    if draw(st.booleans()):
        options["k"] = draw(st.sampled_from([None, 1, 2, 5, 1000, np.int64(3)]))
    if draw(st.booleans()):
        options["ignore_ties"] = draw(st.booleans())
    if name == "dcg_score" and draw(st.booleans()):
        options["log_base"] = draw(st.sampled_from([2, 10, 1.5, np.e]))
    # Their sums run over rows in float64, discounts of a base other than 2 are quotients of logarithms.
    check(name, grades, scores, near=(1e-9, 1e-12), **options)


@pytest.mark.parametrize("name", present(GRADED))
class TestInputs:
    def test_containers(self, name):
        pd, pl, pa = (pytest.importorskip(peer) for peer in ("pandas", "polars", "pyarrow"))
        check(name, pd.DataFrame(GRADES), pd.DataFrame(SCORES))
        check(name, pl.DataFrame(GRADES), pl.DataFrame(SCORES))
        check(name, *[pa.table([pa.array(column) for column in own.T], list("abcde")) for own in (GRADES, SCORES)])
        check(name, GRADES.tolist(), SCORES.tolist(), sample_weight=WEIGHTS.tolist())
        check(name, np.asfortranarray(GRADES), np.asfortranarray(SCORES))
        check(name, GRADES.astype(">i8"), SCORES.astype(">f8"))
        check(name, GRADES[:, ::-1], SCORES[:, ::-1])
        check(name, GRADES > 1, SCORES)
        check(name, GRADES, (SCORES * 10).astype(np.int64))
        check(name, GRADES.astype(object), SCORES.astype(object))

    def test_what_is_refused(self, name):
        for grades in (GRADES[0], GRADES[:5], GRADES[:, :4], GRADES[..., None], GRADES.astype(str), GRADES + 0j):
            check(name, grades, SCORES)
        for grades in (None, 1, "a"):
            check(name, grades, SCORES)
        for scores in (SCORES[0], SCORES[:5], SCORES[:, :4], SCORES.astype(str), None, 0.5, "a"):
            check(name, GRADES, scores)
        for bad in (float("nan"), float("inf"), -float("inf"), -1.0):
            for place in range(2):
                moved = [GRADES.astype(np.float64), SCORES.copy()]
                moved[place][3, 2] = bad
                check(name, *moved)
        check(name, [], [])
        check(name, np.zeros((0, 3)), np.zeros((0, 3)))
        check(name, [[1, 2], [1]], [[1, 2], [1]])
        check(name, GRADES[:, :1], SCORES[:, :1])

    def test_labels_of_two_kinds(self, name):
        """Matrices of two values are labels to them, and fine."""
        for grades in ([[0, 1], [1, 0]], [[0, 5], [5, 0]], [[0.5, 1], [1, 0]], [[0, 0], [0, 0]]):
            check(name, np.array(grades), SCORES[:2, :2])

    @each_case("k", [0, -1, 1.5, "a", True, False])
    def test_cutoffs(self, name, k):
        check(name, GRADES, SCORES, k=k)

    @each_case("ignore_ties", ["yes", None, 1])
    def test_flags(self, name, ignore_ties):
        check(name, GRADES, SCORES, ignore_ties=ignore_ties)

    @each_case(
        "weight", [np.zeros(6), -WEIGHTS, WEIGHTS[:-1], WEIGHTS[:, None], "balanced", 2.0, ["a"] * 6, WEIGHTS * np.nan]
    )
    def test_weights(self, name, weight):
        check(name, GRADES, SCORES, sample_weight=weight)


@each_case("log_base", [0, 1, -1, "a", None])
def test_bases(log_base):
    check("dcg_score", GRADES, SCORES, log_base=log_base)
