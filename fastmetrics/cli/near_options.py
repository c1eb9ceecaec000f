"""What is answered to an unknown option: the option that is meant, by other tools' words or by its spelling."""

from collections.abc import Sequence

from fastmetrics._core.suggestions import close_matches

# The options, and words for them in other tools. An answer names an option only if the command has it.
WORDS = {
    "--by": "slice slices slice-by slice-column group-by groupby segment segments segment-by split split-by breakdown",
    "--where": "filter query condition only row-filter",
    "--label": "labels target targets y y-true truth ground-truth click clicked",
    "--score": "scores y-score model models pred-score",
    "--prediction": "predictions pred y-pred predicted",
    "--probabilities": "probability proba probas prob probs y-proba y-prob",
    "--group": "groups user users user-id query-id qid session key",
    "--weight": "weights sample-weight sample-weights",
    "--metrics": "metric measure measures eval-metric scoring types",
    "-m": "metric metrics measure measures",
    "--output": "out output-file save write file html csv parquet to report export",
    "--threads": "jobs n-jobs n-threads num-threads nthreads workers n-workers cpus processes",
    "--replicates": "bootstrap n-bootstrap n-boot n-resamples resamples iterations",
    "--seed": "random-state random-seed rng",
    "--ci": "confidence confidence-level confidence-interval interval intervals level alpha",
    "--unit": "units cluster cluster-by resample-by resampling-unit",
    "--fail-if": "gate gates assert fail-on fail-under fail-below threshold check",
    "--baseline": "control reference base against",
    "--quiet": "silent no-progress",
    "--min-rows": "min-size min-count min-samples",
    "--on-invalid": "drop-na dropna on-error skip-invalid",
    "--input-format": "file-format format-in",
    "--memory-limit": "memory max-memory mem",
    "--spill-dir": "tmp tmp-dir temp-dir tempdir",
    "--sort": "sort-by order-by",
    "--margin": "tolerance epsilon",
    "--per-query": "by-query queries",
    "--plugin": "plugins import module",
    "--digits": "precision decimals round",
    "--width": "precision decimals round digits",
    "--json": "as-json",
    "--format": "style layout output-format",
    "--compare": "significance test",
    "--rows": "n-rows number size n",
    "--no-clobber": "no-overwrite keep-existing",
    "--force": "overwrite replace",
}  # fmt: skip
MOST = 3
WITH_FILES = {"html", "csv", "parquet"}


def answer_to_unknown(option: str, known: Sequence[str], command: str) -> str:
    """The message for an option that the command does not have."""
    word = option.lstrip("-").replace("_", "-").lower()
    meant = [name for name, words in WORDS.items() if name in known and word in words.split()]
    if "--output" in meant and word in WITH_FILES:
        return f"there is no option {option}; to write a file type -o report.{word}"
    near = meant or [name for name in close_matches(option, known, cutoff=0.6) if name.startswith("--")]
    if near:
        return f"there is no option {option}; did you mean {' or '.join(near[:MOST])}?"
    return f"there is no option {option}; {command} --help lists them"
