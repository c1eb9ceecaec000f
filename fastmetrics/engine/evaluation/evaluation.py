"""`Evaluation`: a question that can be stored, compared, and asked again of another log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import unwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.immutable import Immutable
from fastmetrics._core.kinds import ITEM_ROLE, LABEL_ROLE
from fastmetrics._core.registry import Metrics
from fastmetrics._core.upper_layers import ask
from fastmetrics.engine.evaluation.options import BY_NAME, OF_TASKS, OPTIONS
from fastmetrics.engine.evaluation.refusals import refuse
from fastmetrics.engine.evaluation.values import DEFAULTS, canonical_values
from fastmetrics.engine.plan.row_filters import read_filter
from fastmetrics.engine.plan.tasks import IntervalArguments, PlannedTask, Task, plan_tasks, show, unchanged

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ColumnName, Log
    from fastmetrics._core.types.options import Correction, IntervalMethod, OnInvalid
    from fastmetrics.distributed.plan import DistributedPlan
    from fastmetrics.engine.results.report import Report

    Columns = str | tuple[str, ...] | None

__all__ = ["Evaluation"]


class Evaluation(Immutable):
    """A question: everything that defines the numbers, without the data, the machine and the threads.

    ``evaluate(log, evaluation)``, ``compare(log, evaluation)``, ``Accumulator(evaluation)`` and
    ``fastmetrics.spark.evaluate(df, evaluation)`` ask it. Two evaluations are equal if they ask the same, in whatever
    spelling: "roc_auc_score" is "auc", a list of one column is this column. An evaluation is never changed; `replace`
    makes another one.

    Parameters
    ----------
    metrics : sequence of str, or str, optional
        Metric strings such as "auc", "gauc(weight=pairs)", or public functions, `roc_auc_score`. A string is split at
        commas. None: the default metrics of the columns that are given, as on the command line. `list_metrics` lists
        them all. A metric string may name its own columns, "rmse(label=minutes, score=forecast)" or
        "ndcg(group=[user,day])@10": metrics of different columns, kinds and groups share one scan. A metric by group
        takes another statistic of the groups than their mean: "ndcg(stat=p10)@10", also min, max, and "stat=below,
        at=0.5" for the share of groups below 0.5; the `rule` of quantiles is linear, lower or higher.
    label : str or list of str, optional
        The column of labels: 0 and 1 (any integer, bool or float type), or -1 and +1. Other metrics read other labels;
        `list_metrics` has the target of each. Target "real": any finite numbers. Target "graded": finite numbers that
        are not negative. Together with metrics of classes, both read only 0 and 1. Target "text": the column of
        references, by default "reference"; strings, or lists of strings if rows have several references (a null in a
        list is a missing reference). Target "partition": the column of classes, by default "label"; integers, strings,
        dates or any other labels. With several columns, every score is evaluated against every label.
    score : str or list of str, optional
        The column of scores; metrics of probabilities read probabilities in [0, 1]. Several models are evaluated in one
        scan, in which every user is looked up once. Target "text": the column of hypotheses, strings; by default
        "hypothesis". Target "partition": the column of clusters, labels of any type; by default "cluster". Metrics of
        these two targets take no weights. Together with metrics of other targets, either has to name its columns in the
        metric string.
    group : str or list of str, optional
        The column of group (user) keys: integers, strings, booleans, dates, times, decimals, bytes or floats; -0.0 is
        0.0. Several columns are one key, ``["user_id", "session_id"]``: rows with equal values in all of them are one
        group. Metrics that are computed inside groups need it, and intervals resample by it; others do not read it.
    weight : str, optional
        The column of row weights, from 0 to 1e300; a row of weight zero is left out.
    where : str, expression or mask, optional
        Which rows are evaluated: a condition in SQL, such as ``"clicked = 1 and country in ('DE', 'FR')"``; an
        expression of polars or pyarrow; or a mask, a boolean for each row of the log in the order of its rows. Rows for
        which it is false or null are left out before anything else is checked. Wherever a column is named, an
        expression of columns may stand too, such as ``score="p_ctr * p_cvr"`` or ``score=pl.col("p_ctr") *
        pl.col("p_cvr")``: docs/expressions.md has the grammar.
    min_rows : int
        Slices of fewer rows have no results; `small_slices` of the report counts them and their rows.
    by : str, list of str or list of lists, optional
        Columns whose values divide the rows into slices (numbers, strings, booleans or dates; at most 10,000
        combinations). Every metric is computed for every slice and for all rows. Nulls are a slice, None, and so are
        NaN. A list of lists has grouping sets, ``[["channel"], ["channel", "day"]]``: the slices of each, in one scan,
        at most 10,000 of each set. ``"cut(price, [0, 10])"`` makes slices of numbers by intervals that are closed on
        the left, the first and the last without end; ``"qcut(price, 10)"`` has as many rows in each as ties allow: edge
        i of n is the least value that i of n parts of the rows do not exceed, and the log is read once more for the
        edges. Slices take memory beyond the limit: some kilobytes per slice for every label, score and thread.
    on_invalid : {"raise", "drop"}
        For a null or NaN in a column that is read: raise an error that names the row, or drop the row and count it.
    ci : float, optional
        The level of the intervals, between 0 and 1, such as 0.95. Every `Result` then has an `interval` and a
        `standard_error`. If there is no interval (fewer than two units, or more than one replicate in twenty
        undefined), `coverage["interval"]` has the reason.
    ci_method : {"linearized", "bootstrap", "normal", "delong", "anytime"}, optional
        "linearized": what leaving each unit out changes gives the standard error, and Student's distribution the
        interval, without a seed. "bootstrap": percentiles of the replicates. "normal": the value plus and minus normal
        quantiles times the standard deviation of the replicates. "delong": DeLong's variance, for the AUC of
        independent rows. "anytime": linearized, for a log that grows and is looked at again and again: all its
        intervals together hold at the level. By default linearized where a metric has it, else the bootstrap; with
        `replicates` or `seed` the bootstrap. Signatures name the method.
    replicates : int, optional
        Number of bootstrap replicates, at least 1. In each, a unit counts Poisson(1) times. All replicates are computed
        in one pass, except those of AUC, average precision, KS and EER of rows with `weight`: they take as long as that
        many evaluations. By default 1,000, if there are any.
    seed : int, optional
        From 0 to 2**64 - 1. Weights depend only on the seed, the replicate and the unit's key, so intervals are the
        same for any order of rows and any number of threads.
    unit : str or list of str, optional
        The column of resampling units, such as users or days: the rows of a unit are resampled together. By default the
        group, if there is one, else every row by itself, which is also the meaning of "row". Rows are identified by
        their number in the log. Every group has to be inside one unit. If users have several rows, resample users, not
        rows: rows of one user are alike, and intervals would be too narrow.
    curves : bool
        Also collect the data of `Report.plot` and `Report.pictures`: ROC, precision and recall, DET, lift, calibration
        and, with `group`, how AUC differs between groups; every score column is a line. Plots are of all rows, not of
        slices, and need metrics of classes; `Report.missing_pictures` has the reasons why plots are missing.
    item, treatment, propensity : str, optional
        Columns of other roles, for metrics that read them: `list_metrics` has the roles of each metric.
    prediction : str or list of str, optional
        The column of predicted labels, of the type of the labels: integers, strings, booleans or dates. Metrics such as
        accuracy, f1 and kappa are then of predicted labels, any number of classes. Several models are evaluated in one
        scan. If there are scores too, a metric is of predictions if its string says so, such as
        "accuracy(prediction=pred)" or "f1(average=macro)".
    probabilities : str or list of str, optional
        The probability of every class: a column of lists, or a list of columns, one for each class. They lie in [0, 1]
        and sum to 1 in every row, to within 1e-8 and the greatest of: the square root of the epsilon of their type
        (float64 1.5e-8, float32 3.5e-4, float16 0.03); 5e-7 for each class, as rounding to six digits leaves; 2**-7 in
        rows that have only the digits of bfloat16, and 2**-10 in those of float16. They are used as they are, and a sum
        that is not 1 is noted in the report. For ap and top_k_accuracy they may be any scores. Metrics such as logloss,
        brier, auc, ap, ece and top_k_accuracy are then of several classes, and labels of any type; the parameter
        `labels` names the classes in the order of the probabilities, "logloss(labels=[ant, bee, cat])". Without it,
        labels are the numbers 0, 1, 2 and so on. A list of lists of columns has several models. With `score` or
        `prediction`, a metric is of probabilities if its string says so, such as "logloss(probabilities=probs)".
    roles : dict of str and str, optional
        Columns of any other role, such as ``{"reward": "revenue"}``. Metrics of your own may have any roles:
        `fastmetrics.extend`.
    time_zone : str, optional
        The zone in which expressions count days and hours, such as "Asia/Tokyo" or "+09:00": `date_trunc`, `extract`,
        casts to dates and timestamps, and texts beside times. Timestamps without a zone are then instants in UTC. By
        default those of a zone are in their own zone, and those without one are as they are written; those of Spark are
        in UTC.
    tasks : dict of str and Task, optional
        Several questions of one log, answered in one scan: ``{"ctr": Task(label="click", score="pctr"), "cvr": ...}``.
        What a task does not name is that of the call. Every `Result` has the name of its `task`.
    approximate : bool
        Keep scores in histograms over their ordered bits, of at most `state_size` for every label, score and slice. The
        value of a metric of global order is then the midpoint of `Result.interval`, which contains the exact value.
        Metrics without an exchange stay exact. Group metrics, and weights with metrics of global order, are errors.
    state_size : int or str
        Bytes, or text such as "4MiB", for the histogram of an approximate state. Larger states give narrower intervals.
    baseline : str, optional
        The score column (or the columns) of the model that all others are compared with, by default the first. With
        "rest", every slice of one model is compared with the rest of the rows, by contributions of the same units.
    correction : {"holm", "benjamini-hochberg", "none"} or None
        How p-values are adjusted for the number of differences, in each family: all rows, and each grouping set, of
        each task. Holm's method controls the probability of any false discovery; it decides every verdict. The method
        of Benjamini and Hochberg controls the share of false discoveries, and only adjusts p-values. "none": every
        difference is tested by itself.
    margin : dict of str and float, optional
        The least difference that matters, by metric: ``{"auc": 0.001, "logloss": 0.0005}``. A model is then better or
        worse only beyond the margin, and may be equal within it or not worse than it.
    truth_columns : dict of str and str, optional
        The columns of the truth table by role, ``{"label": "rating", "group": "user", "item": "movie"}``: which items
        of every group are relevant, with their grades. Rows of the log are joined with it by `group` and `item`, so
        that metrics of ranked lists also know the items that the log does not show. Groups and items have the names of
        the log by default, and without a label every item of the table is relevant. The table is `truth` of a run.

    Attributes
    ----------
    metrics : tuple of str or None
        Metric strings in their shortest form; None if every task has its own.
    label, score, group, ... : object
        Every parameter under its name. Several columns are a tuple.

    Raises
    ------
    ValueError, TypeError
        What `evaluate` would say of the question before it reads a log.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> question = fm.Evaluation(["auc", "logloss"], label="click", score="pctr")
    >>> question
    Evaluation(['auc', 'logloss'], label='click', score='pctr')
    >>> monday = {"click": [1, 0, 0, 1], "pctr": [0.9, 0.3, 0.8, 0.2]}
    >>> question.run(monday)["auc"]
    0.5
    >>> fm.Evaluation.from_toml(question.to_toml()) == question
    True
    """

    __slots__ = tuple(option.name for option in OPTIONS)

    metrics: tuple[str, ...] | None
    label: Columns
    score: Columns
    prediction: Columns
    probabilities: str | tuple[tuple[str, ...], ...] | None
    group: Columns
    weight: str | None
    item: str | None
    treatment: str | None
    propensity: str | None
    roles: Mapping[str, str] | None
    where: object
    by: Columns | tuple[tuple[str, ...], ...]
    min_rows: int
    on_invalid: OnInvalid
    time_zone: str | None
    tasks: Mapping[str, Task] | None
    ci: float | None
    ci_method: IntervalMethod | None
    replicates: int | None
    seed: int | None
    unit: Columns
    curves: bool
    approximate: bool
    state_size: int
    baseline: Columns
    correction: Correction
    margin: Mapping[str, float] | None
    truth_columns: Mapping[str, ColumnName] | None

    @answers_unknown
    def __init__(
        self,
        metrics: Metrics | None = None,
        *,
        label: ColumnName | Sequence[ColumnName] | None = None,
        score: ColumnName | Sequence[ColumnName] | None = None,
        group: ColumnName | Sequence[ColumnName] | None = None,
        weight: ColumnName | None = None,
        where: object = None,
        min_rows: int = 0,
        by: ColumnName | Sequence[ColumnName] | Sequence[Sequence[ColumnName]] | None = None,
        on_invalid: OnInvalid = "raise",
        ci: float | None = None,
        ci_method: IntervalMethod | None = None,
        replicates: int | None = None,
        seed: int | None = None,
        unit: ColumnName | Sequence[ColumnName] | None = None,
        curves: bool = False,
        item: ColumnName | None = None,
        treatment: ColumnName | None = None,
        propensity: ColumnName | None = None,
        prediction: ColumnName | Sequence[ColumnName] | None = None,
        probabilities: ColumnName | Sequence[ColumnName] | Sequence[Sequence[ColumnName]] | None = None,
        roles: Mapping[str, ColumnName] | None = None,
        time_zone: str | None = None,
        tasks: Mapping[str, Task] | None = None,
        approximate: bool = False,
        state_size: int | str = "4MiB",
        baseline: ColumnName | Sequence[ColumnName] | None = None,
        correction: Correction | None = "holm",
        margin: Mapping[str, float] | None = None,
        truth_columns: Mapping[str, ColumnName] | None = None,
    ) -> None:
        given = locals()
        self._set(**canonical_values({name: given[name] for name in BY_NAME}))
        self.planned_tasks()  # it has the errors of the question

    @classmethod
    @answers_unknown
    def of_call(cls, arguments: Mapping[str, Any], *, compared: bool = False) -> Self:
        """The question of a call of an entry point, which plans it itself; see `canonical_values`."""
        new = object.__new__(cls)
        new._set(**canonical_values(arguments, compared=compared))
        return new

    @answers_unknown
    def planned_tasks(self, prepare: Callable[[Task], Task] = unchanged) -> list[PlannedTask]:
        """The tasks of the question, resolved to statistics and columns; see `plan_tasks`."""
        call = Task(**{option.name: getattr(self, option.name) for option in OF_TASKS})
        intervals = IntervalArguments(self.ci, self.ci_method, self.replicates, self.seed, self.unit)
        return plan_tasks(call, self.tasks, self.by, intervals, prepare, self.truth_columns)

    @answers_unknown
    def plan_for(self, entry_point: str, prepare: Callable[[Task], Task] = unchanged) -> list[PlannedTask]:
        """The tasks of the question; what the entry point cannot do is an error."""
        planned = self.planned_tasks(prepare)
        refuse(entry_point, self.options(), planned)
        return planned

    @answers_unknown
    def plan(self, targets: int = 1) -> DistributedPlan:
        """The question as steps for an engine that moves rows itself: `fastmetrics.distributed`, which is provisional.

        Parameters
        ----------
        targets : int
            Into how many places rows are moved, if some have to meet.

        Returns
        -------
        DistributedPlan

        Raises
        ------
        ValueError
            Plots, approximate values, quantiles as slices, or rows as resampling units.
        """
        plan: DistributedPlan = ask("plan", self, targets)
        return plan

    def replace(self, **changes: Any) -> Evaluation:
        """The same question with other options.

        Parameters
        ----------
        **changes : object
            Parameters of `Evaluation`.

        Returns
        -------
        Evaluation

        Examples
        --------
        >>> import fastmetrics as fm
        >>> fm.Evaluation("auc", label="click", score="pctr").replace(by="channel", weight="w")
        Evaluation(['auc'], label='click', score='pctr', weight='w', by='channel')
        """
        return Evaluation(**(self.options() | changes))

    def run(self, data: Log, **options: Any) -> Report:
        """The report of a log: ``evaluate(data, self, **options)``.

        Parameters
        ----------
        data : path, table, frame or dict
            As for `evaluate`.
        **options : object
            How the log is read, and with which threads and memory: the options of `evaluate` that change no number.

        Returns
        -------
        Report
        """
        report: Report = ask("evaluate", data, self, **options)
        return report

    def to_dict(self) -> dict[str, Any]:
        """The question as plain Python with types of JSON only; options at their default are left out.

        Metric strings have all their parameters, and "schema" is the version of this layout: it fixes every default, so
        that a stored question means the same when a default changes.

        Raises
        ------
        TypeError
            The filter is an expression of pyarrow or polars: files hold filters in SQL.
        """
        from fastmetrics.engine.evaluation.question_files import question_to_dict

        return question_to_dict(self)

    @answers_unknown
    def to_toml(self, path: str | Path | None = None) -> str:
        """The question as TOML, the form of `to_dict`.

        Parameters
        ----------
        path : str or Path, optional
            A file to write it to as well. It is written completely or not at all.

        Returns
        -------
        str
            TOML.
        """
        from fastmetrics.engine.evaluation.question_files import question_to_toml

        text = question_to_toml(self)
        if path is not None:
            from fastmetrics._core.results.output_files import write_text

            write_text(text, path)
        return text

    @classmethod
    @answers_unknown
    def from_dict(cls, content: Mapping[str, Any]) -> Evaluation:
        """The question that `to_dict` wrote.

        Raises
        ------
        ValueError
            Another schema, an unknown key (the message has near ones), a value that its option cannot have, a metric of
            a module that is not imported.
        """
        from fastmetrics.engine.evaluation.question_files import options_of_dict

        return Evaluation(**options_of_dict(content))

    @classmethod
    @answers_unknown
    def from_toml(cls, text: str) -> Evaluation:
        """The question of a text in TOML, written by `to_toml` or by hand.

        Parameters
        ----------
        text : str
            The text, not the name of a file: ``Evaluation.from_toml(Path("question.toml").read_text())``.

        Raises
        ------
        ValueError
            As `from_dict`; the message names the line.

        Examples
        --------
        >>> import fastmetrics as fm
        >>> lines = ["schema = 1", 'metrics = ["auc"]', 'label = "click"', 'score = "pctr"']
        >>> fm.Evaluation.from_toml("\\n".join(lines))
        Evaluation(['auc'], label='click', score='pctr')
        """
        from fastmetrics.engine.evaluation.question_files import options_of_toml

        return Evaluation(**options_of_toml(text))

    def options(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        content = {name: getattr(self, name) for name in BY_NAME}
        changed = (name for name, value in content.items() if value is not DEFAULTS[name])
        # A filter may be an expression of another library, which compares to an expression.
        return {name: content[name] for name in changed if name == "where" or content[name] != DEFAULTS[name]}

    def _content(self) -> tuple[object, ...]:
        values = {name: getattr(self, name) for name in self.__slots__} | {"where": read_filter(self.where)}
        return tuple(values.values())

    def __hash__(self) -> int:
        return hash((self.metrics, self.label, self.score, self.group, self.by, self.unit, self.ci))

    def __repr__(self) -> str:
        options = self.options()
        metrics = options.pop("metrics", None)
        written = [] if metrics is None else [repr(list(metrics))]
        written += [f"{name}={show(value)}" for name, value in options.items()]
        return f"Evaluation({', '.join(written)})"


def question_of_call(
    function: Callable[..., Any], arguments: Mapping[str, Any], *, compared: bool = False
) -> Evaluation:
    """The question that the arguments of an entry point ask, or the one that stands in place of the metrics.

    `compared` as for `canonical_values`.
    """
    question = arguments["metrics"]
    if not isinstance(question, Evaluation):
        given = with_truth_columns({name: arguments[name] for name in BY_NAME if name in arguments}, arguments)
        return Evaluation.of_call(given, compared=compared)
    for name, default in (unwrap(function).__kwdefaults__ or {}).items():
        if name in BY_NAME and differs(arguments[name], default):
            raise TypeError(
                f"{name}= is a part of the question, which is given: say evaluation.replace({name}=...)"
            )
    return question


def with_truth_columns(given: dict[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a call. Those that have a truth table and name no columns of it mean its label."""
    if arguments.get("truth") is None or given["truth_columns"] is not None:
        return given
    label, item = given[LABEL_ROLE], given[ITEM_ROLE] or (given["roles"] or {}).get(ITEM_ROLE)
    if item is None:
        raise ValueError("truth is joined with the log by group and item: name the column of items, item=...")
    labels = [label] if isinstance(label, str) else list(label or ())
    if len(labels) > 1:
        raise ValueError(f"truth has one column of labels; found label={label!r}")
    columns = {ITEM_ROLE: item} | ({LABEL_ROLE: labels[0]} if labels else {})
    return given | {"truth_columns": columns, LABEL_ROLE: None}


def differs(value: Any, default: Any) -> bool:
    """Is a value another than the default? Arrays and expressions of other libraries are."""
    if value is default:
        return False
    compared = value != default
    return compared if isinstance(compared, bool) else True


def check_same_question(mine: Evaluation, theirs: Evaluation) -> None:
    """States of different questions do not merge; the error shows what differs."""
    for name in BY_NAME:
        here, there = (getattr(own, name) for own in (mine, theirs))
        if name == "where":
            here, there = read_filter(here), read_filter(there)
        if here != there:
            texts = [show(getattr(own, name)) for own in (mine, theirs)]
            found = f"{texts[0]} here, {texts[1]} there" if texts[0] != texts[1] else "an expression of its own in each"
            raise ValueError(f"states of different questions do not merge: {name} is {found}")
