"""The one table of words for parameters: what other tools, and older habits, call what has another name here.

Keywords of Python and options of the command line are answered from it, with the names that the function or the
command has: `groups` is `group=` of `evaluate`, `--groups` is `--group`, and `group` is `groups=` of `gauc_score`.
"""

from __future__ import annotations

from collections.abc import Iterable

# The names of an idea in fastmetrics, and other words for it. A name is a word for the others of its idea.
IDEAS = {
    "by": "slice slices slice_by slice_column slice_columns group_by groupby segment segments segment_by split "
    "split_by breakdown dimensions",
    "where": "filter filters query condition only row_filter",
    "label y_true labels_true": "labels target targets y truth ground_truth click clicked actual actuals y_test "
    "true_labels",
    "score y_score": "scores y_scores model models pred_score pred_scores decision_function y_prob y_proba prob proba "
    "y_pred_proba",
    "prediction y_pred labels_pred": "predictions pred preds predicted y_hat yhat pred_labels forecast",
    "probabilities y_proba": "y_prob y_probs y_probas probability proba probas prob probs y_pred_proba",
    "y_true": "references",
    "group groups": "user users user_id user_ids query_id query_ids qid qids session sessions key keys group_id "
    "group_ids group_col",
    "groups offsets": "group_sizes lengths sizes",
    "weight sample_weight": "weights w sample_weights case_weights importance",
    "metrics metric types m": "measure measures eval_metric eval_metrics scoring scorer scorers",
    "item items": "item_id item_ids doc_id doc_ids docno docnos document documents",
    "k": "top_k topk cutoff at_k top_n topn n_top max_rank",
    "threads n_threads n_processes": "jobs n_jobs num_threads nthreads nthread thread_count workers n_workers "
    "num_workers n_cpus cpus processes",
    "memory_limit": "memory max_memory mem ram",
    "spill_dir": "tmp tmp_dir temp_dir tempdir temp_folder",
    "n_partitions": "partitions num_partitions npartitions shuffle_partitions",
    "progress": "verbose progress_bar show_progress tqdm",
    "ci level": "confidence confidence_level conf_level confidence_interval interval intervals alpha",
    "ci_method": "interval_method method bootstrap_method",
    "replicates interval_replicates": "bootstrap n_bootstrap n_bootstraps n_boot n_resamples resamples n_replicates "
    "iterations n_permutations",
    "seed random_state": "random_seed rng",
    "unit": "units cluster clusters cluster_by cluster_col resample_by resampling_unit",
    "baseline": "control reference base",
    "against": "other_log previous_log reference_log baseline_log",
    "correction": "multiple_testing adjust adjustment p_adjust",
    "margin": "tolerance epsilon rope",
    "alternative": "tail sides two_sided",
    "test": "method statistic stat_test significance",
    "curves": "plots draw",
    "tasks": "task heads",
    "roles": "columns_of_roles other_columns",
    "min_rows": "min_size min_count min_samples",
    "on_invalid": "drop_na dropna on_error skip_invalid nan_policy skipna ignore_nan",
    "missing_columns": "on_missing fill_missing",
    "time_zone": "timezone tz",
    "filesystem": "fs file_system",
    "storage_options": "fs_options storage_option",
    "format_options": "read_options csv_options",
    "format input_format": "file_format file_type filetype format_in",
    "before": "old reference_report",
    "after": "new candidate",
    # Parameters of functions.
    "labels": "classes class_names class_labels categories",
    "pos_label": "positive_label positive_class pos",
    "average": "averaging avg",
    "zero_division": "zero_div",
    "n_bins": "bins num_bins nbins n_buckets buckets",
    "strategy": "binning bin_strategy",
    "norm": "power_norm",
    "max_fpr": "max_fp max_false_positive_rate fpr_limit",
    "relevance_level": "relevance_threshold rel_level min_rel relevant_from",
    "gain": "gains gain_type",
    "empty": "empty_groups empty_target_action",
    "ties": "ignore_ties tie_break",
    "eps": "epsilon clip",
    "sampling_rate": "negative_sampling_rate downsampling_rate",
    "multioutput": "multi_output",
    "hypotheses hypothesis": "predictions prediction preds candidates candidate systems translations translation sys",
    "references": "refs ref reference targets target",
    "lowercase": "lower lc do_lower_case",
    "tokenize tokenizer": "tok tokenization",
    "smooth": "smooth_method smoothing smoothing_function",
    "max_order": "max_ngram_order max_n n_gram ngram_order",
    "stem": "use_stemmer stemmer",
    "types": "rouge_types rouge_keys",
    "char_order": "n_char_order char_ngram_order",
    "word_order": "n_word_order word_ngram_order",
    "ground_truth": "gt annotations coco_gt target targets",
    "detections": "dt preds predictions results coco_dt",
    "iou_type": "ioutype task_type",
    "iou_thresholds": "iou_thrs iou_thrs_list thresholds",
    "max_detections": "max_dets max_detection_thresholds",
    "relevant": "actual truth ground_truth y_true targets",
    "recommended": "recommendations predicted predictions y_pred",
    "qrels": "qrel judgments judgements",
    "runs run": "results rankings ranking systems",
    "per_query": "by_query query_level queries",
    "statistics": "statistic stats",
    "parameters": "params options",
    "direction": "greater_is_better higher_is_better maximize",
    "aliases": "alias other_names",
    # Options of commands.
    "output path": "out output_file save write file filename file_name html csv parquet to report export",
    "fail_if": "gate gates assert fail_on fail_under fail_below threshold check",
    "quiet": "silent no_progress",
    "sort metric": "sort_by order_by key",
    "plugin": "plugins import module",
    "digits": "precision decimals round ndigits",
    "width": "precision decimals round digits",
    "json": "as_json",
    "delimiter": "sep separator delim field_separator",
    "format": "style layout output_format",
    "compare": "significance test",
    "rows": "n_rows number size n",
    "no_clobber": "no_overwrite keep_existing",
    "force": "overwrite replace",
}
# Where none of these is meant: the column of a model may be of scores, of predicted labels or of probabilities.
OF_MODELS = "score prediction probabilities y_score y_pred y_proba pred_decision labels_pred"
ALSO_OF_MODELS = "scores predictions y_prob pred preds predicted y_hat prob proba probas probs"


def meant(word: str, known: Iterable[str]) -> list[str]:
    """The known names that a word means."""
    known, word = list(known), word.lower()
    found = [name for idea, words in IDEAS.items() if word in f"{idea} {words}".split() for name in idea.split()]
    if not set(found) & set(known) and word in f"{OF_MODELS} {ALSO_OF_MODELS}".split():
        found = OF_MODELS.split()
    return [name for name in dict.fromkeys(found) if name in known and name != word]


def ask_meant(word: str, known: Iterable[str]) -> str:
    """The end of an error: which of the known names is meant; empty if none is."""
    near = meant(word, known)
    return f"; did you mean {' or '.join(f'{name}=' for name in near)}?" if near else ""
