"""The text of docs/inference.md: the counts of `coverage.json` as tables.

python -m bench.significance.coverage_page
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

RESULTS = Path(__file__).with_name("coverage.json")
PAGE = Path(__file__).parents[2] / "docs" / "inference.md"
LEAST_LOGS = 200  # with an interval, of a figure that is shown
LEAST, MOST, LARGEST_SIZE = 93.0, 97.5, 7.0
ENOUGH_UNITS, ENOUGH_GROUPS = 10, 20
USERS = (20, 200, 20_000)
BEST, RESAMPLED_BEST = "best", "best-bootstrap"  # of best thresholds
METHODS = ("linearized", "rows", "bootstrap", BEST, RESAMPLED_BEST)
METRICS = ("ctr", "copc", "logloss", "ne", "rmse", "f1", "auc", "ap", "ks", "gauc", "ndcg@5", "ece")
OF_GROUPS = ("gauc", "ndcg@5")
OF_BEST = ("f1", "mcc", "gmean", "accuracy", "youden")  # at their best thresholds
TESTED = METRICS[1:-1]  # CTR is the same number for all models, and ECE is counted of one
COUNTS = ("logs", "intervals", "below", "above", "tests", "rejected")

START = """\
# How often intervals contain the truth

Written by `python -m bench.significance.simulated_coverage --logs 4000`: it simulates logs, counts, and writes this
page. The counts are in `bench/significance/coverage.json`; every run adds to them.

## The method

- The contribution of a unit (a user, a day) to a value is what leaving the unit out changes. The sum of the squares of
  contributions gives the standard error, whatever the rows of one unit have in common.
- The interval is Student's: of areas and shares on the scale of log odds, of positive ratios on that of logarithms.
  Few or uneven units have few degrees of freedom: 2 (sum e²)² / sum e⁴ - 1 of the contributions e, and at most one less
  than the units that count; for scores these are the fewer of units with positives and with negatives.
- A value in [0, 1] at a bound, or with fewer than 8 units that count, has Clopper and Pearson's interval of a share. It
  is wider than needed, and says so.
- The intervals of KS and of best thresholds are moved by their bias, and the lower end of ECE allows for the noise of
  its bins.
- The difference of two models has the differences of their contributions. Its p-value is never below 2^(1 - U) for U
  units.

[significance.md](significance.md#intervals-of-any-metric) says which metrics have it.

## The simulated logs

Clicks have a rate of 0.5, 5 or 50 %. Users have 10 to 30 rows each (even), or 1 to 500 (Zipf: shares of sizes fall as
size^-1.5), drawn anew in every log. Rows are independent, or correlated within users in clicks and in the errors of
scores. Two models have errors of the same distribution, so every difference is 0 in truth. F1 has the threshold of
twice the click rate, at most 0.5. ECE is that of the true chances of clicks, and 0 in truth. The other true values are
integrals over the distribution of rows; of GAUC and NDCG@5, means of logs with a million users that are not among the
simulated ones.

The aim is 4,000 logs of each kind. The tables say how many there are yet; kinds of fewer than 200 are left out.

In all tables, "±" is the error of the simulation: one standard error of a figure of 95 % (of 5 %) with so many logs.
Logs without an interval, which say why, are left out of a figure; "–" stands where fewer than 200 have one. Figures in
brackets are of logs with too few units to promise anything: a median of less than 10 users with positives or with
negatives; GAUC: of less than 20 users with both.
"""
COVERAGE = """
## Coverage of 95 % intervals

In percent. Bold: outside of 93 to 97.5.
"""
MISSES = """
### Figures that miss

Of {shown} figures without brackets, {inside} are within 93 to 97.5, and {near} outside by at most two standard errors
of the simulation. These are outside by more:

| metric | users | CTR | sizes | rows | coverage | why |
| --- | --: | --: | --- | --- | --: | --- |
"""
RULES = """
The rule of degrees of freedom was chosen so: in 600 logs of each kind with 20 and 200 users, it left 11 of 208 figures
outside of 93 to 97.5, and no test above 7 %. 3 (sum e²)² / sum e⁴, which suits normal contributions of equal units,
left 26 figures outside, and 6 tests above 7 %. The price: with 20 users who are alike, intervals are about 3 % wider.

No interval knows what a log lacks. Where a few rows or users have most of the loss, most logs have too few of them: MSE
and RMSE of targets and errors that are lognormal covered about 90 % with 20 users (MAE 93), log loss and Brier score
92 % with 120 users whose effects on the log odds have Student's distribution with 4 degrees of freedom. The truth was
above nearly all intervals that missed.
"""
SIZE = """
## Size of 5 % tests

In percent: how often p is at most 0.05 for two models that are equal in truth. Bold: above 7. Tests of COPC compare the
distances from 1, and have a lower size by design.
"""
SIZES = """
Of {shown} figures without brackets, {inside} are at most 7, {near} above by at most two standard errors of the
simulation, and {clear} above by more.
"""
OTHERS = """
## Beside it: rows as units, and the bootstrap

Coverage in logs of the same kinds. "rows" is `unit="row"`, which is wrong where the rows of a user are alike. It knows
no means over groups. "bootstrap" is `ci_method="bootstrap"` with 500 replicates of users.
"""


BEST_THRESHOLDS = """
## Best thresholds

Coverage of `best_threshold(metric=...)`, in logs of the same kinds: the greatest value of all thresholds, which is
biased upwards, beside the value of the best threshold of the distribution. The linearized interval stands around the
value less its bias, which halves of the users show: each at the other half's threshold. With few positives, MCC and
accuracy are covered more often than meant: the greatest value varies less than that of one threshold.
"""
RESAMPLED = """
Beside it, `ci_method="bootstrap"` with 300 replicates of users, whose percentiles add a bias of their own:
"""


class Figure(NamedTuple):
    """The counts of one metric, method and kind of log, and whether it has enough units."""

    counts: dict[str, int]
    enough: bool

    def coverage(self) -> float:
        return 100 * (1 - (self.counts["below"] + self.counts["above"]) / self.counts["intervals"])

    def size(self) -> float:
        return 100 * self.counts["rejected"] / self.counts["tests"]

    def show_coverage(self) -> str:
        return self.show(self.coverage(), self.misses()) if self.counts["intervals"] >= LEAST_LOGS else "–"

    def show_size(self) -> str:
        return self.show(self.size(), self.is_too_large()) if self.counts["tests"] >= LEAST_LOGS else "–"

    def show(self, value: float, misses: bool) -> str:
        return f"({value:.1f})" if not self.enough else f"**{value:.1f}**" if misses else f"{value:.1f}"

    def is_promised(self, counted: str) -> bool:
        """Has it enough units, and enough simulated intervals or tests?"""
        return self.enough and self.counts[counted] >= LEAST_LOGS

    def misses(self) -> bool:
        return not LEAST <= self.coverage() <= MOST

    def clearly_misses(self) -> bool:
        """Is the coverage outside of the bounds by more than two standard errors of the simulation?"""
        bound = LEAST if self.coverage() < LEAST else MOST
        return self.misses() and is_beyond(self.coverage(), bound, self.counts["intervals"])

    def is_too_large(self) -> bool:
        return self.size() > LARGEST_SIZE

    def is_clearly_too_large(self) -> bool:
        return self.is_too_large() and is_beyond(self.size(), LARGEST_SIZE, self.counts["tests"])


def is_beyond(percent: float, bound: float, n: int) -> bool:
    """Is a share of n farther from a bound than two standard errors?"""
    return abs(percent - bound) > 2 * math.sqrt(bound * (100 - bound) / n)


def list_kinds(results: dict[str, Any], method: str) -> Iterator[tuple[int, str, dict[str, Figure]]]:
    """Users, kind of log, and figures by metric."""
    for users in USERS:
        for key, cell in results["cells"].items():
            own_method, own_users, kind = key.split(" ", 2)
            if (own_method, own_users) == (method, str(users)):
                units = results["units"][f"{users} {kind}"]
                yield (
                    users,
                    kind,
                    {
                        metric: Figure(dict(zip(COUNTS, counts, strict=True)), has_enough(metric, units))
                        for metric, counts in cell["counts"].items()
                    },
                )


def has_enough(metric: str, units: dict[str, float]) -> bool:
    if metric == "gauc":
        return units["both"] >= ENOUGH_GROUPS
    return min(units["positive"], units["negative"]) >= ENOUGH_UNITS


def describe(users: int, kind: str) -> str:
    ctr, sizes, rows = kind.split()
    return f"{users:,} | {100 * float(ctr):g} % | {sizes} | {rows}"


def make_table(
    results: dict[str, Any], method: str, metrics: Sequence[str], show: Callable[[Figure], str]
) -> Iterator[str]:
    """A row for each kind of log that was simulated often enough, a column for each metric."""
    yield f"| users | CTR | sizes | rows | logs | ± | {' | '.join(metrics)} |"
    yield "| --: | --: | --- | --- | --: | --: |" + " --: |" * len(metrics)
    for users, kind, figures in list_kinds(results, method):
        logs = figures[metrics[0]].counts["logs"]
        if logs >= LEAST_LOGS:
            own = " | ".join(show(figures[metric]) for metric in metrics)
            yield f"| {describe(users, kind)} | {logs:,} | {100 * math.sqrt(0.95 * 0.05 / logs):.1f} | {own} |"


def list_misses(results: dict[str, Any]) -> Iterator[str]:
    """How many figures miss, and a table of those that clearly miss, with the reasons."""
    found = [
        (metric, users, kind, figure)
        for users, kind, figures in list_kinds(results, "linearized")
        for metric, figure in figures.items()
        if figure.is_promised("intervals")
    ]
    n_outside = sum(figure.misses() for *_, figure in found)
    clear = [one for one in found if one[-1].clearly_misses()]
    yield MISSES.format(shown=len(found), inside=len(found) - n_outside, near=n_outside - len(clear)).rstrip()
    for metric, users, kind, figure in clear:
        why = find_reason(metric, users)
        yield f"| {metric} | {describe(users, kind)} | {figure.coverage():.1f} | {why} |"


def find_reason(metric: str, users: int) -> str:
    if metric == "ece":
        return "its truth is 0, which only the lower end can miss: 97.5 % is meant"
    if metric in OF_GROUPS and users == max(USERS):
        return "few logs, and the true value has an error itself, 0.14 of a standard error of such a log"
    return "not known"


def count_sizes(results: dict[str, Any]) -> str:
    """How many tests reject too often."""
    found = [
        figure
        for _, _, figures in list_kinds(results, "linearized")
        for metric, figure in figures.items()
        if metric in TESTED and figure.is_promised("tests")
    ]
    large, clear = (sum(map(is_one, found)) for is_one in (Figure.is_too_large, Figure.is_clearly_too_large))
    return SIZES.format(shown=len(found), inside=len(found) - large, near=large - clear, clear=clear)


def page_of(results: dict[str, Any]) -> str:
    """The text of the page."""
    coverage, size = Figure.show_coverage, Figure.show_size
    lines = [START, COVERAGE, *make_table(results, "linearized", METRICS, coverage), *list_misses(results), RULES]
    lines += [SIZE, *make_table(results, "linearized", TESTED, size), count_sizes(results), OTHERS]
    for method in ("rows", "bootstrap"):
        metrics = [metric for metric in METRICS if method != "rows" or metric not in OF_GROUPS]
        lines += [f"### {method}\n", *make_table(results, method, metrics, coverage), ""]
    lines += [BEST_THRESHOLDS, *make_table(results, BEST, OF_BEST, coverage)]
    lines += [RESAMPLED, *make_table(results, RESAMPLED_BEST, OF_BEST[:3], coverage)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page_of(json.loads(RESULTS.read_text("utf-8"))), encoding="utf-8")
