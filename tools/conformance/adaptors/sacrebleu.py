"""sacrebleu's tests: BLEU, chrF and TER of corpora and sentences, BLEU of counts, and the paired tests.

Tests of data sets (they download) and of sacrebleu's own tokenizer objects call nothing that is replaced.
"""

from typing import Any

import numpy as np

from tools.conformance.suite import Calls, Suite


def bleu_options(metric: Any) -> dict[str, Any]:
    smooth = metric.smooth_method
    # sacrebleu accepts a value that "exp" and "none" do not use; here it is an error.
    value = metric.smooth_value if smooth in ("floor", "add-k") else None
    return {
        "tokenize": metric.tokenizer.signature(),
        "smooth": smooth,
        "smooth_value": value,
        "lowercase": metric.lowercase,
        "max_order": metric.max_ngram_order,
        "effective_order": metric.effective_order,
    }


def chrf_options(metric: Any) -> dict[str, Any]:
    names = ("char_order", "word_order", "beta", "lowercase", "whitespace", "eps_smoothing")
    return {name: getattr(metric, name) for name in names}


def ter_options(metric: Any) -> dict[str, Any]:
    return {name: getattr(metric, name) for name in ("normalized", "no_punct", "asian_support", "case_sensitive")}


def corpus(function: Any, options_of: Any) -> Any:
    def corpus_score(self: Any, hypotheses: Any, references: Any, n_bootstrap: int = 1) -> Any:
        streams = list(map(list, references)) if references is not None else self.references
        return function(list(hypotheses), streams, **options_of(self))

    return corpus_score


def sentence(function: Any, options_of: Any) -> Any:
    def sentence_score(self: Any, hypothesis: str, references: Any) -> Any:
        return function(hypothesis, list(references), **options_of(self))

    return sentence_score


def compute_bleu(
    correct: list[int], total: list[int], sys_len: int, ref_len: int, smooth_method: str = "none", **options: Any
) -> Any:
    """BLEU of counts."""
    from sacrebleu.metrics import BLEUScore

    from fastmetrics.metrics.text.bleu import make_metric

    value = options.get("smooth_value") if smooth_method in ("floor", "add-k") else None
    order, effective = options.get("max_ngram_order", len(correct)), options.get("effective_order", False)
    metric = make_metric(smooth=smooth_method, smooth_value=value, max_order=order, effective_order=effective)
    counts = {"sys_len": sys_len, "ref_len": ref_len}
    counts |= {f"correct_{n}": number for n, number in enumerate(correct, 1)}
    counts |= {f"total_{n}": number for n, number in enumerate(total, 1)}
    sums = metric.empty()
    metric.add(sums, np.array([[counts[name] for name in metric.columns]], np.int64))
    score = metric.score(sums, 1)
    # sacrebleu's paired tests ask for the name of the score.
    return BLEUScore(score.score, correct, total, score.precisions, score.bp, sys_len, ref_len)


def paired_test(references_of: dict[int, Any]) -> Any:
    def call(self: Any) -> Any:
        from sacrebleu.significance import Result

        import fastmetrics as fm

        (name, metric), *others = self.metrics.items()
        if others or name != "BLEU":
            raise NotImplementedError("the tests compare BLEU")
        systems = {system: list(texts) for system, texts in self.named_systems}
        options = bleu_options(metric)
        text = f"bleu(tokenize={options['tokenize']})"
        references = self.references if self.references is not None else references_of[id(metric)]
        found = fm.compare_texts(
            systems,
            [list(stream) for stream in references],
            text,
            test={"bs": "bootstrap", "ar": "randomization"}[self.test_type],
            replicates=self.n_samples,
            seed=self._seed,
        )
        by_system = {difference.other: difference for difference in found}
        rows: list[Any] = []
        for system in systems:
            p_value = by_system[system].pvalue if system in by_system else None
            rows.append(Result(found.systems[system][text].score, p_value))
        return self._signatures, {"System": list(systems), name: rows}

    return call


def replace(calls: Calls) -> int:
    import sacrebleu.metrics as theirs
    from sacrebleu.significance import PairedTest

    import fastmetrics as fm

    references_of: dict[int, Any] = {}
    make = theirs.BLEU.__init__

    def keep_references(self: Any, *args: Any, **options: Any) -> None:
        make(self, *args, **options)
        references_of[id(self)] = options.get("references")

    theirs.BLEU.__init__ = keep_references
    number = 0
    for kind, whole, single, options_of in (
        (theirs.BLEU, fm.corpus_bleu, fm.sentence_bleu, bleu_options),
        (theirs.CHRF, fm.corpus_chrf, fm.sentence_chrf, chrf_options),
        (theirs.TER, fm.corpus_ter, fm.sentence_ter, ter_options),
    ):
        number += calls.replace(kind, "corpus_score", corpus(whole, options_of))
        number += calls.replace(kind, "sentence_score", sentence(single, options_of))
    theirs.BLEU.compute_bleu = staticmethod(calls.counted(theirs.BLEU.compute_bleu, compute_bleu))
    return number + 1 + calls.replace(PairedTest, "__call__", paired_test(references_of))


SUITE = Suite(
    library="sacrebleu",
    source="sdist",
    repository="https://github.com/mjpost/sacrebleu",
    files=(
        "test/test_bleu.py",
        "test/test_chrf.py",
        "test/test_sentence_bleu.py",
        "test/test_significance.py",
        "test/test_ter.py",
        "test/test_tokenizer_ter.py",
    ),
    requirements=("sacrebleu==2.6.0", "pytest"),
    replace=replace,
    explained={"test_statistics": "`counts` and `totals` are tuples here, lists in sacrebleu; the numbers are equal"},
)
