"""Pictures of a log: which ones its plan and columns allow, what they add to the scan, and how they are made of it.

Pictures are of all rows: slices have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from fastmetrics._core.group_runs import GroupPlan, reduce_groups
from fastmetrics._core.picture import Picture
from fastmetrics._core.pictures import Model, NoPictureError, PictureSpec, known_pictures
from fastmetrics._core.replicates import LotStates, RowPlan, Sampled, Weights, sample_rows
from fastmetrics._core.rows import View
from fastmetrics.engine.columns import ColumnNames
from fastmetrics.engine.intervals import Replicates
from fastmetrics.engine.plan import Plan, first_of
from fastmetrics.engine.report import Report, Result
from fastmetrics.engine.resolve import States
from fastmetrics.engine.scan import Scan


class PicturePlan(NamedTuple):
    """The pictures to make, and why the others are not made."""

    wanted: tuple[PictureSpec, ...]
    missing: dict[str, str]

    def added_to(self, plan: Plan) -> Plan:
        """The plan with what the pictures need of the scan."""
        groups = [own for spec in self.wanted if spec.exchange == "group" for own in spec.statistics]
        whole = [own for spec in self.wanted if spec.exchange == "none" for own in spec.statistics]
        statistics = plan.statistics | {"group": tuple(dict.fromkeys([*plan.statistics["group"], *groups]))}
        return plan._replace(statistics=statistics, whole=tuple(dict.fromkeys(whole)))


def plan_pictures(plan: Plan, names: ColumnNames) -> PicturePlan:
    """Which pictures of the registry a plan has labels, groups and weights for."""
    wanted, missing = [], {}
    for name, spec in known_pictures().items():
        reason = why_not(spec, plan, names)
        if reason is None:
            wanted.append(spec)
        else:
            missing[name] = reason
    return PicturePlan(tuple(wanted), missing)


def why_not(spec: PictureSpec, plan: Plan, names: ColumnNames) -> str | None:
    if not plan.targets.binary:
        return f"no metric of classes was asked for, but {first_of(plan.metrics)}"
    if spec.exchange == "group" and names.group is None:
        return "it is made of groups: say which column has their keys, group=..."
    if names.weight is not None and not spec.weighted:
        return f"it counts rows, and these have weights ({names.weight!r})"
    return None


Bands = dict[tuple[str, int], np.ndarray]  # by picture and number of the view


def sample_pictures(
    scan: Scan, wanted: PicturePlan, states: States, drawn: Replicates, n_threads: int
) -> Bands:
    """The counts of all replicates of what pictures have bands of; the units are those of the intervals."""
    units, bands = scan.units, Bands()
    if drawn.lots.n_units < 2:
        return bands
    weights = Weights(drawn.lots, drawn.resampling.seed, drawn.resampling.replicates)

    def new_states(statistics: Sequence[Any]) -> LotStates:
        return LotStates(statistics, weights, drawn.units_of)

    exchange = scan.exchange if scan.exchange is units or drawn.units_of is not None else None
    sampled: dict[Any, Sampled] = {}
    chosen: dict[tuple[str, int], Any] = {}
    for number, view in enumerate(scan.views):
        of_rows: dict[Any, None] = {}
        for spec in wanted.wanted:
            if spec.exchange == "none" and scan.names.weight is not None:
                continue  # counts of rows know no weights of theirs
            own = chosen[spec.name, number] = spec.resampled(*states.of(spec.statistics, number, None))
            if spec.exchange == "none":
                of_rows[own] = None
        if of_rows and units is not None:
            # Each view has thresholds of its own, so they are sampled one by one.
            found = sample_rows(units.store, RowPlan(list(of_rows), [view], 0), weights, n_threads)
            sampled |= {(own, number, None): counts for (own, _, _), counts in found.items()}
    of_groups = list(dict.fromkeys(own for own in chosen.values() if hasattr(own, "table")))
    if of_groups and exchange is not None:
        sampled |= reduce_groups(exchange, GroupPlan(of_groups, scan.views, False, new_states), n_threads)
    for (name, number), own in chosen.items():
        if (own, number, None) in sampled:
            bands[name, number] = sampled[own, number, None].counts()
    return bands


def add_pictures(
    report: Report, wanted: PicturePlan, views: Sequence[View], states: States, bands: Bands, level: float
) -> Report:
    """The report with the pictures that can be made; the others have a reason."""
    pictures: dict[str, Picture] = {}
    missing = dict(wanted.missing)
    scores, labels = (as_names(report.columns[role]) for role in ("score", "label"))
    for spec in wanted.wanted:
        models = []
        for number, view in enumerate(views):
            score, label = scores[view.score], labels[view.label]
            name = score if len(labels) == 1 else f"{score}, {label}"
            note = note_of(spec, report.results, score, label)
            drawn = bands.get((spec.name, number))
            models.append(Model(name, tuple(states.of(spec.statistics, number, None)), note, drawn, level))
        try:
            pictures[spec.name] = spec.make(models)
        except NoPictureError as why:
            missing[spec.name] = str(why)
    return report.with_pictures(pictures, {name: missing[name] for name in known_pictures() if name in missing})


def models_of(pictures: Mapping[str, Picture]) -> list[str]:
    """The models of all pictures: one that is not in each of them keeps its place, hence its color."""
    parts = [[line.name for line in own.lines] + [bars.name for bars in own.bars] for own in pictures.values()]
    return list(dict.fromkeys(name for own in sorted(parts, key=len, reverse=True) for name in own))


def as_names(columns: str | Sequence[str]) -> tuple[str, ...]:
    return (columns,) if isinstance(columns, str) else tuple(columns)


def note_of(spec: PictureSpec, results: Sequence[Result], score: str, label: str) -> str:
    """The values of the metrics that the picture's legend may tell, as the report has them."""
    notes = []
    for metric, word in spec.notes:
        own = [
            result
            for result in results
            if not result.slice
            and result.score == score
            and result.label == label
            and (result.metric == metric or result.metric.startswith((f"{metric}(", f"{metric}@")))
        ]
        if own:
            found = min(own, key=lambda result: (result.metric != metric, result.metric))
            called = word if found.metric == metric else f"{word}{found.metric[len(metric) :]}"
            within = "" if found.interval is None else " [{:.4f}, {:.4f}]".format(*found.interval)
            notes.append(f"{called} {found.value:.4f}{within}")
    return ", ".join(notes)


def refuse_name(name: Any, pictures: Mapping[str, Picture], missing: Mapping[str, str]) -> NoReturn:
    """The error for a picture that a report does not have: what to type instead."""
    if not pictures and not missing:
        raise ValueError(
            "this report has no pictures: ask for them by evaluate(..., curves=True); reports of accumulators and of "
            "Spark have none"
        )
    has = ", ".join(map(repr, pictures)) or "none"
    if name in missing:
        raise ValueError(f"no picture {name!r}: {missing[name]}; this report has {has}")
    known = ", ".join(map(repr, [*pictures, *missing]))
    raise ValueError(f"no picture is called {name!r}; known are {known}, and this report has {has}")
