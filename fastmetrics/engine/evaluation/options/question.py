"""The options of a question. An entry is all that a new one needs."""

from fastmetrics.engine.evaluation.options.option import (
    ACCUMULATOR,
    BASELINE,
    CHOICE,
    COLUMN,
    COLUMNS,
    COMPARE,
    COMPARISONS,
    COUNT,
    COUNTED_ROWS,
    DASK_COMPARE,
    DELONG_TEST,
    DISTRIBUTED,
    EVALUATE,
    FILTER,
    FLAG,
    LEVEL,
    MARGINS,
    MASKS,
    METRICS,
    MODELS,
    NATIVE_EXPRESSIONS,
    OF_VALUES,
    ON_CLUSTERS,
    ON_SPARK,
    QUANTILES,
    RAY_COMPARE,
    ROLES,
    ROWS,
    SEED,
    SIZE,
    SLICES,
    SPARK_COMPARE,
    STORED,
    TASKS,
    TRAINING,
    TRUTH,
    UNITS,
    ZONE,
    Option,
    Refusal,
)

OTHER_ROLES = "Columns of other roles, for metrics that read them: `list_metrics` has the roles of each metric."

OPTIONS = (
    Option(
        "metrics",
        METRICS,
        "sequence of str, or str",
        'Metric strings such as "auc", "gauc(weight=pairs)", or public functions, `roc_auc_score`. A string is split '
        "at commas. None: the default metrics of the columns that are given, as on the command line. "
        '`list_metrics` lists them all. A metric string may name its own columns, "rmse(label=minutes, '
        'score=forecast)" or "ndcg(group=[user,day])@10": metrics of different columns, kinds and groups '
        "share one scan. A metric by group takes another statistic of the groups than their mean: "
        '"ndcg(stat=p10)@10", also min, max, and "stat=below, at=0.5" for the share of groups below 0.5; the '
        "`rule` of quantiles is linear, lower or higher.",
        of_tasks=True,
        help=(
            "See `fastmetrics list`; NAME(parameter=value) sets a parameter. May be repeated. Default: those of "
            "--fail-if, or else the usual ones for labels 0/1, with --group also those by group; to compare, "
            "those of them that have a better direction."
        ),
        flags=("--metrics", "--metric", "-m"),
        metavar="NAME,...",
    ),
    Option(
        "label",
        COLUMNS,
        "str or list of str",
        "The column of labels: 0 and 1 (any integer, bool or float type), or -1 and +1. Other metrics read "
        'other labels; `list_metrics` has the target of each. Target "real": any finite numbers. Target '
        '"graded": finite numbers that are not negative. Together with metrics of classes, both read only 0 '
        'and 1. Target "text": the column of references, by default "reference"; strings, or lists of strings '
        'if rows have several references (a null in a list is a missing reference). Target "partition": the '
        'column of classes, by default "label"; integers, strings, dates or any other labels. With several '
        "columns, every score is evaluated against every label.",
        of_tasks=True,
        help=(
            "The column of labels: 0/1, -1/+1 or bool; any numbers for regression, grades of rankings, classes; "
            "the references of texts (default: column reference); the classes of clusterings (default: column "
            "label). May be repeated: every score is compared with every label."
        ),
    ),
    Option(
        "score",
        COLUMNS,
        "str or list of str",
        "The column of scores; metrics of probabilities read probabilities in [0, 1]. Several models are "
        'evaluated in one scan, in which every user is looked up once. Target "text": the column of '
        'hypotheses, strings; by default "hypothesis". Target "partition": the column of clusters, labels of '
        'any type; by default "cluster". Metrics of these two targets take no weights. Together with metrics '
        "of other targets, either has to name its columns in the metric string.",
        of_tasks=True,
        help=(
            "The column of predictions; the hypotheses of texts (default: column hypothesis), the clusters of "
            "clusterings (default: column cluster). May be repeated, for several models."
        ),
    ),
    Option(
        "prediction",
        COLUMNS,
        "str or list of str",
        "The column of predicted labels, of the type of the labels: integers, strings, booleans or dates. "
        "Metrics such as accuracy, f1 and kappa are then of predicted labels, any number of classes. Several "
        "models are evaluated in one scan. If there are scores too, a metric is of predictions if its string "
        'says so, such as "accuracy(prediction=pred)" or "f1(average=macro)".',
        of_tasks=True,
        help=(
            "The column of predicted labels, of the type of the labels: integers, strings or dates, any "
            "number of classes. May be repeated, for several models."
        ),
    ),
    Option(
        "probabilities",
        MODELS,
        "str or list of str",
        "The probability of every class: a column of lists, or a list of columns, one for each class. They "
        "lie in [0, 1] and sum to 1 in every row, to within 1e-8 and the greatest of: the square root of the "
        "epsilon of their type (float64 1.5e-8, float32 3.5e-4, float16 0.03); 5e-7 for each class, as "
        "rounding to six digits leaves; 2**-7 in rows that have only the digits of bfloat16, and 2**-10 in "
        "those of float16. They are used as they are, and a sum that is not 1 is noted in the report. For ap "
        "and top_k_accuracy they may be any scores. Metrics such as logloss, brier, auc, ap, ece and "
        "top_k_accuracy are then of several classes, and labels of any type; the parameter `labels` names the "
        'classes in the order of the probabilities, "logloss(labels=[ant, bee, cat])". Without it, labels are '
        "the numbers 0, 1, 2 and so on. A list of lists of columns has several models. With `score` or "
        "`prediction`, a metric is of probabilities if its string says so, such as "
        '"logloss(probabilities=probs)".',
        of_tasks=True,
        help=(
            "The probabilities of several classes: a column of lists, or the columns of the classes, "
            "separated by commas. May be repeated, for several models."
        ),
        metavar="COLUMN,...",
    ),
    Option(
        "group",
        COLUMNS,
        "str or list of str",
        "The column of group (user) keys: integers, strings, booleans, dates, times, decimals, bytes or "
        'floats; -0.0 is 0.0. Several columns are one key, ``["user_id", "session_id"]``: rows with equal '
        "values in all of them are one group. Metrics that are computed inside groups need it, and intervals "
        "resample by it; others do not read it.",
        of_tasks=True,
        help=(
            "The column of group keys, such as users or queries: integers, strings, dates, times or floats. "
            "May be repeated, for keys of several columns."
        ),
    ),
    Option(
        "weight",
        COLUMN,
        "str",
        "The column of row weights, from 0 to 1e300; a row of weight zero is left out.",
        of_tasks=True,
        help="The column of row weights.",
    ),
    Option(
        "item",
        COLUMN,
        "str",
        OTHER_ROLES,
        of_tasks=True,
        flags=(),  # --role has it
    ),
    Option(
        "treatment",
        COLUMN,
        "str",
        OTHER_ROLES,
        of_tasks=True,
        flags=(),  # --role has it
    ),
    Option(
        "propensity",
        COLUMN,
        "str",
        OTHER_ROLES,
        of_tasks=True,
        flags=(),  # --role has it
    ),
    Option(
        "roles",
        ROLES,
        "dict of str and str",
        'Columns of any other role, such as ``{"reward": "revenue"}``. Metrics of your own may have any '
        "roles: `fastmetrics.extend`.",
        of_tasks=True,
        help=(
            "The column of another role that a metric reads, such as reward=revenue; see `fastmetrics list`. "
            "May be repeated."
        ),
        flags=("--role",),
        metavar="ROLE=COLUMN",
    ),
    Option(
        "truth_columns",
        TRUTH,
        "dict of str and str",
        'The columns of the truth table by role, ``{"label": "rating", "group": "user", "item": "movie"}``: which '
        "items of every group are relevant, with their grades. Rows of the log are joined with it by `group` and "
        "`item`, so that metrics of ranked lists also know the items that the log does not show. Groups and items "
        "have the names of the log by default, and without a label every item of the table is relevant. The table "
        "is `truth` of a run.",
        help="A column of --truth, by its role: label, group or item. May be repeated.",
        metavar="ROLE=COLUMN",
        flags=("--truth-column",),
    ),
    Option(
        "where",
        FILTER,
        "str, expression or mask",
        "Which rows are evaluated: a condition in SQL, such as ``\"clicked = 1 and country in ('DE', 'FR')\"``; an "
        "expression of polars or pyarrow; or a mask, a boolean for each row of the log in the order of its rows. "
        "Rows for which it is false or null are left out before anything else is checked. Wherever a column "
        'is named, an expression of columns may stand too, such as ``score="p_ctr * p_cvr"`` or '
        '``score=pl.col("p_ctr") * pl.col("p_cvr")``: '
        "docs/expressions.md has the grammar.",
        of_tasks=True,
        help=(
            "Which rows are evaluated: a condition in SQL, such as \"clicked = 1 and country in ('DE', 'FR')\". "
            "Rows for which it is false or null are left out. Wherever a column is named, an expression may "
            "stand too."
        ),
        refusals=(
            Refusal(
                (*ON_SPARK, STORED),
                "{entry_point} cannot run {found}: write it in SQL, such as where=\"clicked = 1\" or "
                'score="p_ctr * p_cvr"',
                NATIVE_EXPRESSIONS,
                TypeError,
            ),
            Refusal(
                (ACCUMULATOR, *ON_CLUSTERS, DISTRIBUTED, STORED),
                "{entry_point} does not number the rows of a log, which where=<{found}> needs: keep the mask in a "
                'column of the log and name it, such as where="kept"',
                MASKS,
                TypeError,
            ),
        ),
        metavar="CONDITION",
    ),
    Option(
        "by",
        SLICES,
        "str, list of str or list of lists",
        "Columns whose values divide the rows into slices (numbers, strings, booleans or dates; at most "
        "10,000 combinations). Every metric is computed for every slice and for all rows. Nulls are a slice, "
        'None, and so are NaN. A list of lists has grouping sets, ``[["channel"], ["channel", "day"]]``: the '
        'slices of each, in one scan, at most 10,000 of each set. ``"cut(price, [0, 10])"`` makes slices of '
        'numbers by intervals that are closed on the left, the first and the last without end; ``"qcut(price, '
        '10)"`` has as many rows in each as ties allow: edge i of n is the least value that i of n parts of '
        "the rows do not exceed, and the log is read once more for the edges. Slices take memory beyond the "
        "limit: some kilobytes per slice for every label, score and thread.",
        help=(
            "A slice for every value of the column, beside all rows. May be repeated, for every combination of values."
        ),
        refusals=(
            Refusal(
                (ACCUMULATOR, *ON_CLUSTERS, DISTRIBUTED),
                "by: {found.title!r} needs all rows before the first is divided, which {entry_point} does not have: "
                'give the edges, by="cut({found.column}, [...])"; report.bins of fastmetrics.evaluate has those of a '
                "log",
                QUANTILES,
            ),
        ),
        metavar="COLUMN",
    ),
    Option(
        "min_rows",
        COUNT,
        "int",
        "Slices of fewer rows have no results; `small_slices` of the report counts them and their rows.",
        default=0,
        help="Leave out slices of fewer rows; they are counted.",
        least=0,
    ),
    Option(
        "on_invalid",
        CHOICE,
        '{"raise", "drop"}',
        "For a null or NaN in a column that is read: raise an error that names the row, or drop the row and count it.",
        default="raise",
        choices=("raise", "drop"),
        help="A null or NaN in a column that is read: raise an error, or drop the row and count it.",
    ),
    Option(
        "time_zone",
        ZONE,
        "str",
        'The zone in which expressions count days and hours, such as "Asia/Tokyo" or "+09:00": `date_trunc`, '
        "`extract`, casts to dates and timestamps, and texts beside times. Timestamps without a zone are then "
        "instants in UTC. By default those of a zone are in their own zone, and those without one are as they "
        "are written; those of Spark are in UTC.",
        help=(
            "The zone in which expressions count days and hours, such as Asia/Tokyo. Timestamps without a "
            "zone are then in UTC. Default: the zone of a column."
        ),
        metavar="NAME",
    ),
    Option(
        "tasks",
        TASKS,
        "dict of str and Task",
        'Several questions of one log, answered in one scan: ``{"ctr": Task(label="click", score="pctr"), '
        '"cvr": ...}``. What a task does not name is that of the call. Every `Result` has the name of its '
        "`task`.",
        help=(
            "A question of the log with columns of its own: 'cvr: label=conversion; score=pcvr'. What it does "
            "not name is that of the other options. May be repeated: all tasks share one reading."
        ),
        flags=("--task",),
        metavar="TASK",
    ),
    Option(
        "ci",
        LEVEL,
        "float",
        "The level of the intervals, between 0 and 1, such as 0.95. Every `Result` then has an `interval` and "
        "a `standard_error`. If there is no interval (fewer than two units, or more than one replicate in "
        'twenty undefined), `coverage["interval"]` has the reason.',
        entry_points=OF_VALUES,
        refusals=(
            Refusal(
                (ACCUMULATOR,), "an {entry_point} has no intervals for metrics {found}; use evaluate", COUNTED_ROWS
            ),
        ),
    ),
    Option(
        "ci_method",
        CHOICE,
        '{"linearized", "bootstrap", "normal", "delong", "anytime"}',
        '"linearized": what leaving each unit out changes gives the standard error, and Student\'s distribution '
        'the interval, without a seed. "bootstrap": percentiles of the replicates. "normal": the value plus and '
        'minus normal quantiles times the standard deviation of the replicates. "delong": DeLong\'s variance, for '
        'the AUC of independent rows. "anytime": linearized, for a log that grows and is looked at again and again: '
        "all its intervals together hold at the level. By default linearized where a metric has it, else the "
        "bootstrap; with `replicates` or `seed` the bootstrap. Signatures name the method.",
        entry_points=OF_VALUES,
        choices=("linearized", "bootstrap", "normal", "delong", "anytime"),
        help=(
            "What leaving each unit out changes, percentiles of resampled values, their standard error, or DeLong's "
            "formula (for AUC); anytime: linearized, for a growing log that is looked at repeatedly. Default: "
            "linearized where a metric has it, else the bootstrap; with --replicates or "
            "--seed the bootstrap."
        ),
        refusals=(
            Refusal(
                (SPARK_COMPARE, RAY_COMPARE, DASK_COMPARE),
                "{entry_point} has no ci_method='delong', which reads the rows of both models in one place; "
                "'bootstrap' and 'normal' resample units",
                DELONG_TEST,
            ),
        ),
    ),
    Option(
        "replicates",
        COUNT,
        "int",
        "Number of bootstrap replicates, at least 1. In each, a unit counts Poisson(1) times. All replicates "
        "are computed in one pass, except those of AUC, average precision, KS and EER of rows with `weight`: "
        "they take as long as that many evaluations. By default 1,000, if there are any.",
        help="How many times units are resampled. Default: 1,000, for metrics of the bootstrap.",
        least=1,
    ),
    Option(
        "seed",
        SEED,
        "int",
        "From 0 to 2**64 - 1. Weights depend only on the seed, the replicate and the unit's key, so intervals "
        "are the same for any order of rows and any number of threads.",
        help="Another seed draws other samples. Default: 0.",
        least=0,
    ),
    Option(
        "unit",
        UNITS,
        "str or list of str",
        "The column of resampling units, such as users or days: the rows of a unit are resampled together. By "
        'default the group, if there is one, else every row by itself, which is also the meaning of "row". '
        "Rows are identified by their number in the log. Every group has to be inside one unit. If users have "
        "several rows, resample users, not rows: rows of one user are alike, and intervals would be too "
        "narrow.",
        help=(
            "The resampling unit: a column as for groups, which may be repeated, or 'row'. Default: the "
            "group, otherwise rows."
        ),
        refusals=(
            Refusal(
                (ACCUMULATOR, *ON_CLUSTERS, DISTRIBUTED),
                "rows of batches and partitions have no places in a log, so {entry_point} cannot resample them one by "
                "one: name a column whose values are the units, unit=...",
                ROWS,
            ),
        ),
    ),
    Option(
        "curves",
        FLAG,
        "bool",
        "Also collect the data of `Report.plot` and `Report.pictures`: ROC, precision and recall, DET, lift, "
        "calibration and, with `group`, how AUC differs between groups; every score column is a line. Plots "
        "are of all rows, not of slices, and need metrics of classes; `Report.missing_pictures` has the "
        "reasons why plots are missing.",
        default=False,
        entry_points=(EVALUATE,),
        flags=(),  # --output FILE.html asks for them
        refusals=(
            Refusal(
                (COMPARE, ACCUMULATOR, *ON_CLUSTERS, DISTRIBUTED),
                "{entry_point} has no curves={found}; evaluate draws plots, of rows on one machine",
            ),
        ),
    ),
    Option(
        "approximate",
        FLAG,
        "bool",
        "Keep scores in histograms over their ordered bits, of at most `state_size` for every label, score "
        "and slice. The value of a metric of global order is then the midpoint of `Result.interval`, which "
        "contains the exact value. Metrics without an exchange stay exact. Group metrics, and weights with "
        "metrics of global order, are errors.",
        default=False,
        entry_points=(ACCUMULATOR, TRAINING),
        flags=(),
        refusals=(
            Refusal(
                (EVALUATE, COMPARE, *ON_CLUSTERS, DISTRIBUTED),
                "{entry_point} has no approximate={found}; an Accumulator has it; evaluate is exact within its memory "
                "limit",
            ),
        ),
    ),
    Option(
        "state_size",
        SIZE,
        "int or str",
        'Bytes, or text such as "4MiB", for the histogram of an approximate state. Larger states give '
        "narrower intervals.",
        default="4MiB",
        entry_points=(ACCUMULATOR, TRAINING),
        flags=(),
    ),
    Option(
        "baseline",
        BASELINE,
        "str",
        "The score column (or the columns) of the model that all others are compared with, by default the first. With "
        '"rest", every slice of one model is compared with the rest of the rows, by contributions of the same units.',
        entry_points=COMPARISONS,
    ),
    Option(
        "margin",
        MARGINS,
        "dict of str and float",
        'The least difference that matters, by metric: ``{"auc": 0.001, "logloss": 0.0005}``. A model is then better '
        "or worse only beyond the margin, and may be equal within it or not worse than it.",
        entry_points=COMPARISONS,
        metavar="METRIC=VALUE",
        help="The least difference that matters of a metric, such as auc=0.001. May be repeated.",
    ),
    Option(
        "correction",
        CHOICE,
        '{"holm", "benjamini-hochberg", "none"} or None',
        "How p-values are adjusted for the number of differences, in each family: all rows, and each grouping set, of "
        "each task. Holm's method controls the probability of any false discovery; it decides every verdict. The "
        'method of Benjamini and Hochberg controls the share of false discoveries, and only adjusts p-values. "none": '
        "every difference is tested by itself.",
        default="holm",
        entry_points=(*COMPARISONS, "compare_runs", "compare_texts"),
        choices=("holm", "benjamini-hochberg", "none"),
    ),
)
