"""One word for one idea in public names: functions, methods, fields of results, metric strings and commands."""

import inspect
from collections.abc import Iterator

import pytest

import fastmetrics as fm
import fastmetrics.dask
import fastmetrics.extend
import fastmetrics.ray
import fastmetrics.spark
import fastmetrics.testing
from fastmetrics._core.registry import known_specs
from support.cases import each_case

# The word of each idea, and other words for it, everywhere.
EVERYWHERE = {
    "n_threads": "n_jobs num_threads nthreads threads workers n_workers num_workers jobs",
    "n_processes": "num_processes nprocs",
    "seed": "random_state random_seed rng",
    "replicates": "n_replicates n_resamples resamples n_bootstrap n_bootstraps n_boot iterations n_iterations",
    "ci": "confidence confidence_level conf_level",
    "n_bins": "bins num_bins nbins",
    "k": "top_k topk cutoffs k_max at",
    "metrics": "measures scorers scoring",
    "pos_label": "positive_label positive_class",
    "relevance_level": "rel_level min_relevance relevance_threshold",
    "y_true": "y_labels y_label",
    "y_score": "y_scores",
    "y_pred": "y_preds preds",
    "y_proba": "y_prob y_probs y_probas proba probas",
    "sample_weight": "sample_weights row_weights query_weights user_weights",
    "groups": "group_ids group_keys user_ids query_ids qid",
    "unit": "cluster clusters cluster_by",
    "by": "slice_by group_by breakdown",
    "where": "filter filters row_filter",
    "memory_limit": "max_memory mem_limit memory",
    "spill_dir": "tmp_dir temp_dir tmpdir",
    "ci_method": "interval_method",
    "correction": "multiple_testing adjust",
    "alternative": "tail tails sided",
    "per_query": "by_query",
    "result": "compute finalize_result",
    "reset": "clear",
    "n_positives": "n_pos num_positives",
    "n_negatives": "n_neg num_negatives",
    "pvalue": "p_value pval",
    "standard_error": "stderr std_error se",
    "higher": "upper high_range",
}
# Functions over arrays have several values of a role; questions about logs name its column.
OF_ARRAYS = {
    "sample_weight": "weight weights", "groups": "group group_id", "items": "item item_ids",
    "y_score": "score scores", "y_pred": "prediction predictions", "y_true": "label truth",
}  # fmt: skip
OF_LOGS = {
    "weight": "weights sample_weight", "group": "groups", "item": "items", "label": "labels y_true",
    "score": "scores y_score", "prediction": "predictions y_pred", "probabilities": "probability y_proba y_prob",
    "metrics": "metric", "unit": "units", "by": "slices segments", "data": "df dataset frame dataframe log table",
}  # fmt: skip
LOGS = ("evaluate", "compare", "Accumulator", "Evaluation", "Task", "TrainingMetrics.update")
# Names of (place, word) that stay, each for a reason.
RUN_COLUMNS = "the name of a column of a run, beside query and item"
EXCEPTIONS = {
    ("silhouette_score", "random_state"): "scikit-learn's word",
    ("calibration_curve", "y_prob"): "scikit-learn's word",
    ("cohen_kappa_score", "weights"): "scikit-learn's word",
    ("corpus_bleu", "weights"): "NLTK's word: weights of n-grams",
    ("sentence_bleu", "weights"): "NLTK's word: weights of n-grams",
    ("gauc_score", "weight"): "how groups are weighted, as in gauc(weight=pairs)",
    ("Report", "bins"): "the edges of bins, not their number",
    ("Comparison", "bins"): "the edges of bins, not their number",
    ("TextComparison", "bins"): "the edges of bins, not their number",
    ("sample_size", "label"): "which result, as in comparison.difference",
    ("evaluate_ranking", "item"): RUN_COLUMNS,
    ("evaluate_ranking", "score"): RUN_COLUMNS,
    ("compare_runs", "item"): RUN_COLUMNS,
    ("compare_runs", "score"): RUN_COLUMNS,
}


def public_functions() -> Iterator[tuple[str, object]]:
    """The public functions, and the classes, by name."""
    modules = (fm, fastmetrics.spark, fastmetrics.ray, fastmetrics.dask, fastmetrics.extend, fastmetrics.testing)
    for module in modules:
        start = module.__name__.removeprefix("fastmetrics").lstrip(".")
        for name in module.__all__:
            yield f"{start}.{name}".lstrip("."), getattr(module, name)


def parameters_of(function: object) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


def public_words() -> Iterator[tuple[str, str]]:
    """Each place with a word that stands in it: a parameter, a method, a field, a parameter of a metric string."""
    for name, public in public_functions():
        if callable(public):
            yield from ((name, word) for word in parameters_of(public))
        if inspect.isclass(public) and public.__module__.startswith("fastmetrics"):
            for word in dir(public):
                if not word.startswith("_"):
                    yield name, word
                    yield from ((f"{name}.{word}", own) for own in parameters_of(getattr(public, word)))
    for spec in known_specs().values():
        for form in spec.forms:
            yield from ((f"metric {spec.name}", word) for word in (*form.parameters, *form.roles))


def other_words(place: str) -> dict[str, str]:
    """The words that must not stand in a place, each with the one to use."""
    name = place.rpartition(".")[2] if place.partition(".")[0] in ("spark", "ray", "dask") else place
    tables = [EVERYWHERE]
    if name in LOGS:
        tables.append(OF_LOGS)
    elif name in fm.__all__ and inspect.isfunction(getattr(fm, name)):
        tables.append(OF_ARRAYS)
    return {word: own for table in tables for own, words in table.items() for word in words.split()}


def wrong_words(words: Iterator[tuple[str, str]]) -> list[str]:
    return sorted(
        {
            f"{place}: {word} is {other_words(place)[word]}"
            for place, word in words
            if word in other_words(place) and (place, word) not in EXCEPTIONS
        }
    )


def test_public_names_have_one_word_for_one_idea():
    assert wrong_words(public_words()) == []


def test_exceptions_are_of_names_that_exist():
    assert EXCEPTIONS.keys() - set(public_words()) == set()
    known = {word for own, words in EVERYWHERE.items() for word in words.split()}
    assert not known & EVERYWHERE.keys()


@each_case(
    ("place", "word", "own"),
    [
        ("compare", "scores", "score"), ("spark.compare", "predictions", "prediction"), ("evaluate", "df", "data"),
        ("roc_auc_score", "weight", "sample_weight"), ("gauc_score", "group", "groups"),
        ("Result", "n_pos", "n_positives"),
        ("metric ece", "bins", "n_bins"), ("TrainingMetrics", "compute", "result"), ("copc", "y_prob", "y_proba"),
    ],
)  # fmt: skip
def test_another_word_is_found(place, word, own):
    assert wrong_words(iter([(place, word)])) == [f"{place}: {word} is {own}"]


def test_words_of_scikit_learn_stay():
    """Where scikit-learn has the function, its words stand; fastmetrics may have more, and copies no switches."""
    metrics = pytest.importorskip("sklearn.metrics")
    calibration = pytest.importorskip("sklearn.calibration")
    words = {word for own, words in (EVERYWHERE | OF_ARRAYS).items() for word in (own, *words.split())}
    for name, public in public_functions():
        theirs = getattr(metrics, name, None) or getattr(calibration, name, None)
        if inspect.isfunction(public) and inspect.isfunction(theirs):
            missing = set(parameters_of(theirs)) & words - set(parameters_of(public))
            assert not missing, f"{name} has not {missing}"


def test_commands_have_one_word_for_one_idea():
    typer = pytest.importorskip("typer")
    from fastmetrics.cli.app import app

    commands = typer.main.get_command(app).commands
    flags = {(name, flag) for name, command in commands.items() for own in command.params for flag in own.opts}
    words = [(place, flag.lstrip("-").replace("-", "_")) for place, flag in flags if flag.startswith("--")]
    assert len(words) > 100
    also = {"threads", "metric"}  # short for n_threads, and beside --metrics
    assert wrong_words(own for own in words if own[1] not in also) == []
