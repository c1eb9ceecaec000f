"""Verdicts: the first that holds, one Holm in each family, and an interval that says the same."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmetrics._core.comparison.multiple_testing import holm
from fastmetrics._core.inference.difference_tests import Change, DistanceChange, two_sided_pvalue
from fastmetrics._core.inference.errors import ErrorEstimate
from fastmetrics._core.inference.intervals import find_interval
from fastmetrics._core.inference.verdicts import CANNOT_TELL, ComparedLine, claims_of, find_verdicts
from oracles.inference.holm import distance_change, holm_levels
from support.cases import each_case

DIRECTIONS = ("maximize", "minimize", "closest_to_one", "closest_to_zero", "none")


def change_of(value, size=0.001, n_units=1000):
    return Change(value, ErrorEstimate(size, n_units - 1.0, n_units, n_units))


def verdict(change, direction="maximize", margin=None, level=0.95, **options):
    return find_verdicts([ComparedLine(change, direction, margin, **options)], level)[0]


@each_case(
    ("value", "margin", "up", "down", "neither"),
    [
        (0.01, None, "better", "worse", "different"),
        (0.001, None, "cannot tell", "cannot tell", "cannot tell"),
        (0.01, 0.002, "better", "worse", "different"),
        (0.0001, 0.005, *["equal within the margin"] * 3),
        (0.0035, 0.005, "better within the margin", "worse within the margin", "different within the margin"),
        (0.0015, 0.0025, "not worse than the margin", "cannot tell", "cannot tell"),
        (0.0, 0.001, *["cannot tell"] * 3),
    ],
)
def test_the_first_that_holds(value, margin, up, down, neither):
    assert verdict(change_of(value), "maximize", margin).verdict == up
    assert verdict(change_of(-value), "maximize", margin).verdict == down
    assert verdict(change_of(-value), "minimize", margin).verdict == up
    assert verdict(change_of(value), "minimize", margin).verdict == down
    assert verdict(change_of(value), "none", margin).verdict == neither
    assert verdict(change_of(-value), "none", margin).verdict == neither


def test_only_worse_beyond_the_margin_is_worse():
    assert verdict(change_of(-0.01)).is_worse
    assert verdict(change_of(-0.01), margin=0.002).is_worse
    assert not verdict(change_of(-0.0035), margin=0.005).is_worse
    assert not verdict(change_of(0.01)).is_worse
    assert not verdict(change_of(0.01), "none").is_worse


def test_identical_columns_are_equal_and_no_tests():
    same, other = ComparedLine(change_of(0.0, 0.0), "maximize", is_identical=True), ComparedLine(change_of(0.1), "none")
    found = find_verdicts([same, other, same], 0.95)
    assert found[0][:5] == ("equal", 1.0, 0.0, 1.0, None)
    assert found[0].interval == (None, "the columns are identical")
    assert found[1].level == 0.95


def test_no_error_no_verdict():
    missing = Change(0.5, ErrorEstimate(math.nan, math.nan, 1, 1))
    found = find_verdicts([ComparedLine(missing, "maximize", 0.1), ComparedLine(change_of(0.1), "maximize")], 0.95)
    assert found[0].verdict == "cannot tell"
    assert math.isnan(found[0].pvalue)
    assert math.isnan(found[0].adjusted_pvalue)
    assert found[0].interval == (None, "too few units: 1, and an interval needs at least 2")
    assert found[1].level == 0.95  # a line without a p-value is no test


def test_four_users_that_agree_cannot_tell():
    found = verdict(change_of(0.2, 0.0, 4))
    assert (found.verdict, found.pvalue, found.interval.ends) == ("cannot tell", 0.125, None)
    found = verdict(change_of(0.2, 0.01, 4))
    assert (found.verdict, found.pvalue, found.interval.ends) == ("cannot tell", 0.125, None)
    assert verdict(change_of(0.2, 0.0, 4), level=0.8).verdict == "better"


def test_a_clear_difference_is_clear_among_many_lines():
    """24 standard errors, among 54 lines of which no other differs."""
    lines = [ComparedLine(change_of(0.031, 0.0013, 20_000), "maximize")]
    lines += [ComparedLine(change_of(0.0005 * (i % 3 - 1), 0.001), "maximize") for i in range(53)]
    found = find_verdicts(lines, 0.95)
    assert found[0].verdict == "better"
    assert found[0].level == pytest.approx(1 - 0.05 / 54)
    assert found[0].adjusted_pvalue < 1e-100
    assert {one.verdict for one in found[1:]} == {"cannot tell"}
    assert {one.level for one in found[1:]} == {1 - 0.05 / 53}


def test_families_are_corrected_apart():
    lines = [ComparedLine(change_of(0.003), "maximize", family=("country", number // 10)) for number in range(20)]
    alone = find_verdicts([ComparedLine(change_of(0.003), "maximize", family="all")], 0.95)
    found = find_verdicts([*lines, ComparedLine(change_of(0.003), "maximize", family="all")], 0.95)
    assert found[-1] == alone[0]
    assert found[0].adjusted_pvalue == pytest.approx(10 * alone[0].pvalue)


changes = st.builds(
    change_of, st.floats(-0.01, 0.01).map(lambda value: round(value, 4)), st.sampled_from([0.0, 1e-4, 1e-3, 3e-3]),
    st.sampled_from([2, 4, 7, 12, 1000]),
)  # fmt: skip


@st.composite
def compared_lines(draw):
    direction, change = draw(st.sampled_from(DIRECTIONS)), draw(changes)
    if direction.startswith("closest"):
        total = draw(changes)
        change = DistanceChange(distance_change(change.value, total.value), change, total)
    margin = draw(st.sampled_from([None, 0.0, 5e-4, 2e-3, 0.01]))
    return ComparedLine(change, direction, margin, draw(st.integers(0, 9)) == 0, draw(st.integers(0, 2)))


families = st.lists(compared_lines(), max_size=12)
levels = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.999])


@given(families, levels)
def test_the_interval_says_what_the_verdict_says(lines, level):
    for line, found in zip(lines, find_verdicts(lines, level), strict=True):
        if found.interval.ends is None:
            assert found.interval.reason
            continue
        low, high = found.interval.ends
        word = found.verdict
        leaves_out_zero = low > 0 or high < 0
        if word in (CANNOT_TELL, "not worse than the margin"):
            assert not leaves_out_zero
        elif word != "equal within the margin":
            assert leaves_out_zero
        if line.margin and word != "equal":
            slack = 1e-9 * line.margin
            is_beyond = low > line.margin - slack or high < -line.margin + slack
            is_within = -line.margin - slack < low and high < line.margin + slack
            if word in ("better", "worse", "different"):
                assert is_beyond
            if word == "equal within the margin":
                assert is_within
            if word == "not worse than the margin":
                assert low > -line.margin - slack if line.direction == "maximize" else high < line.margin + slack


@given(families, levels)
def test_verdicts_are_those_of_holm(lines, level):
    found = find_verdicts(lines, level)
    alpha = round(1 - level, 15)
    for family in range(3):
        own = [number for number, line in enumerate(lines) if line.family == family and not line.is_identical]
        claims = {number: claims_of(lines[number], two_sided_pvalue(lines[number].change)) for number in own}
        pvalues = [p.probability for number in own for p in claims[number].values()]
        rejected = iter(holm_levels(pvalues, alpha))
        adjusted = iter(holm(pvalues).tolist())
        for number in own:
            decisions = {word: (*next(rejected), next(adjusted)) for word in claims[number]}
            shown = next((word for word, decision in decisions.items() if decision[0]), CANNOT_TELL)
            assert found[number].verdict == shown
            of_zero = next(w for w, p in claims[number].items() if p == two_sided_pvalue(lines[number].change))
            decisive = of_zero if shown == CANNOT_TELL else shown
            assert found[number].level == pytest.approx(1 - decisions[decisive][1], abs=1e-12)
            assert found[number].adjusted_pvalue == pytest.approx(decisions[of_zero][2], rel=1e-12)


@given(families, st.randoms(use_true_random=False))
def test_the_order_of_lines_does_not_matter(lines, shuffle):
    order = list(range(len(lines)))
    shuffle.shuffle(order)
    found = find_verdicts([lines[number] for number in order], 0.9)
    assert found == [find_verdicts(lines, 0.9)[number] for number in order]


def test_a_wrong_verdict_is_rare():
    """Families of 20 lines without a difference: at most 5 % have a verdict of one."""
    generator = random.Random(5)
    wrong = 0
    for _ in range(400):
        lines = [ComparedLine(change_of(generator.gauss(0, 0.001)), "maximize", 0.002) for _ in range(20)]
        wrong += any(one.verdict.startswith(("better", "worse")) for one in find_verdicts(lines, 0.95))
    assert wrong / 400 < 0.08


def test_one_line_without_a_margin_has_the_usual_interval():
    found, change = verdict(change_of(0.0005)), change_of(0.0005)
    assert found.level == 0.95
    assert found.interval == find_interval(change.value, change.error, "real", 0.95)
