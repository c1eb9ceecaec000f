"""``fastmetrics bleu``, ``chrf``, ``nist``, ``ter``, ``rouge`` and ``meteor``: sacrebleu's output, tables, errors."""

import csv
import gzip
import json
import re
import subprocess
import sys

import pytest

import fastmetrics as fm
from support.cases import each_case
from support.command_line import assert_refused, run, run_subprocess
from support.peers import peer
from support.text_logs import has_wordnet

pytest.importorskip("typer")
pytest.importorskip("rich")

VERSION = re.compile(r"version:[^ |]+")

COMMANDS = ["bleu", "chrf", "nist", "ter", "rouge", "meteor"]
REFERENCE = ["The dog bit the man.", "It was not unexpected.", "The man bit him first.", "Ünlü söz, yeter."]
OTHER = ["The dog had bit the man.", "No one was surprised.", "The man had bitten the dog.", "Yeter artık."]
GOOD = ["The dog bit the man.", "It was not surprising.", "The man had just bitten him.", "Ünlü söz, yeter."]
BAD = ["Dog man.", "", "A man bites him first.", "Bu ünlü bir söz."]


def lines_of(*texts: str) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


@pytest.fixture
def folder(tmp_path):
    for name, lines in (("ref.txt", REFERENCE), ("other.txt", OTHER), ("good.txt", GOOD), ("bad.txt", BAD)):
        (tmp_path / name).write_bytes(lines_of(*lines))
    (tmp_path / "good.txt.gz").write_bytes(gzip.compress(lines_of(*GOOD)))
    return tmp_path


def without_version(text: str) -> str:
    return VERSION.sub("version:", text)


# ------------------------------------------------------------------------------------------------------------- output


def test_one_system_is_printed_as_by_sacrebleu(folder):
    sacrebleu = peer("sacrebleu")
    for references, streams in ((["ref.txt"], [REFERENCE]), (["ref.txt", "other.txt"], [REFERENCE, OTHER])):
        for name, lines in (("good.txt", GOOD), ("bad.txt", BAD)):
            metric = sacrebleu.metrics.BLEU()
            wanted = metric.corpus_score(lines, streams).format(1, False, metric.get_signature().format())
            done = run("bleu", *references, "-i", name, folder=folder)
            assert done.returncode == 0, done.stderr
            assert without_version(done.stdout) == without_version(wanted) + "\n"
            assert done.stderr == ""
            piped = run("bleu", *references, folder=folder, standard_input=lines_of(*lines))
            assert piped.stdout == done.stdout


@pytest.mark.parametrize("words", [[], ["-cw", "2", "-w", "3"], ["-lc", "--whitespace", "--beta", "3", "-cc", "4"]])
def test_chrf_is_printed_as_by_sacrebleu(folder, words):
    sacrebleu = peer("sacrebleu")
    options = {"word_order": 2} if "-cw" in words else {}
    if "-lc" in words:
        options = {"lowercase": True, "whitespace": True, "beta": 3, "char_order": 4}
    digits = 3 if "-w" in words else 1
    for name, lines in (("good.txt", GOOD), ("bad.txt", BAD)):
        metric = sacrebleu.metrics.CHRF(**options)
        whole = metric.corpus_score(lines, [REFERENCE, OTHER])
        each = [metric.sentence_score(own, list(pair)) for own, *pair in zip(lines, REFERENCE, OTHER, strict=True)]
        signature = metric.get_signature().format()
        for more, results in ((["-sl"], each), ([], [whole])):
            done = run("chrf", "ref.txt", "other.txt", "-i", name, *words, *more, folder=folder)
            wanted = "".join(f"{own.format(digits, False, signature)}\n" for own in results)
            assert without_version(done.stdout) == without_version(wanted)


def test_rouge_has_a_line_for_every_type(folder):
    result = fm.rouge_score(BAD, REFERENCE, tokenizer="unicode")
    done = run("rouge", "ref.txt", "-i", "bad.txt", "--tokenizer", "unicode", folder=folder)
    assert done.returncode == 0, done.stderr
    signature = result.signature.partition("|")[2]
    assert done.stdout.splitlines() == [
        f"{name}|{signature} = {own.fmeasure:.4f} (P = {own.precision:.4f} R = {own.recall:.4f})"
        for name, own in result.items()
    ]
    words = ["-m", "rougeL,rouge1", "--stem", "--multi", "mean", "--beta", "2"]
    result = fm.rouge_score(
        BAD, list(zip(REFERENCE, OTHER, strict=True)), ["rougeL", "rouge1"], stem=True, multi="mean", beta=2.0
    )
    short = run("rouge", "ref.txt", "other.txt", "-i", "bad.txt", *words, "-b", "-w", "9", folder=folder)
    assert short.stdout.split() == [f"{result[name].fmeasure:.9f}" for name in ("rougeL", "rouge1")]
    document = json.loads(
        run("rouge", "ref.txt", "other.txt", "-i", "bad.txt", *words, "-f", "json", folder=folder).stdout
    )
    (system,) = document["systems"]
    assert (system["rouge1"], system["rouge1_R"]) == (result["rouge1"].fmeasure, result["rouge1"].recall)


def test_rouge_of_pairs_and_of_systems(folder):
    done = run("rouge", "ref.txt", "-i", "bad.txt", "good.txt", "-m", "rouge1 rougeL", folder=folder)
    lines = [line.replace("*", "").split() for line in done.stdout.splitlines()]
    wanted = [fm.rouge_score(lines, REFERENCE, ["rouge1", "rougeL"]) for lines in (BAD, GOOD)]
    rows = [[f"{own.fmeasure:.4f}" for own in dict(result).values()] for result in wanted]
    assert lines[:3] == [["system", "rouge1", "rougeL"], ["bad.txt", *rows[0]], ["good.txt", *rows[1]]]
    pairs = run("rouge", "ref.txt", "-i", "bad.txt", "-sl", "-m", "rouge1,rougeL", "-f", "csv", folder=folder).stdout
    table = list(csv.DictReader(pairs.splitlines()))
    for name in ("rouge1", "rougeL"):
        assert [float(row[name]) for row in table] == wanted[0][name].fmeasures.tolist()
    words = ["-sl", "-m", "rouge1,rougeL", "-f", "csv"]
    several = run("rouge", "ref.txt", "-i", "bad.txt", "good.txt", *words, folder=folder)
    heads = ["segment", "bad.txt rouge1", "bad.txt rougeL", "good.txt rouge1", "good.txt rougeL"]
    assert next(csv.reader(several.stdout.splitlines())) == heads


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {}),
        (["--case-sensitive", "--no-punct"], {"case_sensitive": True, "no_punct": True}),
        (["--normalized", "--asian-support"], {"normalized": True, "asian_support": True}),
    ],
)
def test_ter_is_printed_as_by_sacrebleu(folder, words, options):
    sacrebleu = peer("sacrebleu")
    for name, lines in (("good.txt", GOOD), ("bad.txt", BAD)):
        metric = sacrebleu.metrics.TER(**options)
        whole = metric.corpus_score(lines, [REFERENCE, OTHER])
        each = [metric.sentence_score(own, list(pair)) for own, *pair in zip(lines, REFERENCE, OTHER, strict=True)]
        signature = metric.get_signature().format()
        for more, results in ((["-sl"], each), ([], [whole])):
            done = run("ter", "ref.txt", "other.txt", "-i", name, *words, *more, folder=folder)
            wanted = "".join(f"{own.format(1, False, signature)}\n" for own in results)
            assert without_version(done.stdout) == without_version(wanted)


def test_the_lowest_error_rate_is_the_best(folder):
    done = run("ter", "ref.txt", "-i", "bad.txt", "good.txt", "other.txt", folder=folder).stdout.splitlines()
    values = {line.split()[0]: line.split()[1] for line in done[1:4]}
    assert [name for name, value in values.items() if value.endswith("*")] == ["good.txt"]
    rates = {name: float(value.rstrip("*")) for name, value in values.items()}
    assert min(rates, key=rates.get) == "good.txt"


def test_nist_has_the_numbers_of_its_function(folder):
    options = {"tokenize": "intl", "lowercase": True, "max_order": 3, "information": "formula"}
    words = ["-tok", "intl", "-lc", "--max-order", "3", "--information", "formula"]
    results = [fm.corpus_nist(lines, list(zip(REFERENCE, OTHER, strict=True)), **options) for lines in (GOOD, BAD)]
    done = run("nist", "ref.txt", "other.txt", "-i", "good.txt", *words, folder=folder)
    assert done.stdout == f"NIST|{results[0].signature} = {results[0].score:.4f}\n"
    table = run("nist", "ref.txt", "other.txt", "-i", "good.txt", "bad.txt", *words, "-f", "csv", folder=folder).stdout
    rows = list(csv.DictReader(table.splitlines()))
    assert [float(row["NIST"]) for row in rows] == [own.score for own in results]
    assert [float(row["n2"]) for row in rows] == [own.individual[1] for own in results]
    segments = run("nist", "ref.txt", "-i", "bad.txt", "-sl", "-b", "-w", "6", folder=folder).stdout.split()
    assert segments == [f"{own:.6f}" for own in fm.segment_statistics("nist", BAD, REFERENCE).scores().tolist()]


def test_meteor_has_the_numbers_of_its_function(folder):
    options = {"modules": ("exact", "stem"), "tokenize": "13a", "alignment": "nltk", "lowercase": False, "alpha": 0.8}
    words = ["--modules", "exact,stem", "-tok", "13a", "--alignment", "nltk", "--no-lowercase", "--alpha", "0.8"]
    results = [fm.corpus_meteor(lines, REFERENCE, **options) for lines in (GOOD, BAD)]
    done = run("meteor", "ref.txt", "-i", "good.txt", *words, folder=folder)
    assert done.stdout == str(results[0]).replace("METEOR", f"METEOR|{results[0].signature}", 1) + "\n"
    table = run("meteor", "ref.txt", "-i", "good.txt", "bad.txt", *words, "-f", "csv", folder=folder).stdout
    rows = list(csv.DictReader(table.splitlines()))
    assert [float(row["METEOR"]) for row in rows] == [own.score for own in results]
    assert [int(row["chunks"]) for row in rows] == [own.chunks for own in results]
    segments = run("meteor", "ref.txt", "-i", "bad.txt", *words, "-sl", "-b", "-w", "6", folder=folder).stdout.split()
    each = [fm.sentence_meteor(line, reference, **options) for line, reference in zip(BAD, REFERENCE, strict=True)]
    assert segments == [f"{float(own):.6f}" for own in each]


def test_only_the_score(folder):
    value = fm.corpus_bleu(GOOD, [REFERENCE]).score
    assert run("bleu", "ref.txt", "-i", "good.txt", "-b", folder=folder).stdout == f"{value:.1f}\n"
    assert run("bleu", "ref.txt", "-i", "good.txt", "-b", "-w", 6, folder=folder).stdout == f"{value:.6f}\n"
    both = run("bleu", "ref.txt", "-i", "good.txt", "bad.txt", "-bw2", folder=folder).stdout.split()
    assert both == [f"{fm.corpus_bleu(lines, [REFERENCE]).score:.2f}" for lines in (GOOD, BAD)]


@each_case(
    ("words", "options"),
    [
        (["-lc"], {"lowercase": True}),
        (["--lowercase", "--tokenize", "none"], {"lowercase": True, "tokenize": "none"}),
        (["-tok", "char"], {"tokenize": "char"}),
        (["--tokenize=intl"], {"tokenize": "intl"}),
        (["-s", "floor"], {"smooth": "floor"}),
        (["--smooth", "add-k", "-sv", "0.5"], {"smooth": "add-k", "smooth_value": 0.5}),
        (["--max-order", "2"], {"max_order": 2}),
        (["--max-order", "6", "--effective-order"], {"max_order": 6, "effective_order": True}),
        (["--max-order", "2", "--weights", "0.25,0.75"], {"max_order": 2, "weights": (0.25, 0.75)}),
        (["--threads", "1"], {"n_threads": 1}),
    ],
)
def test_options_are_those_of_the_function(folder, words, options):
    done = run("bleu", "ref.txt", "other.txt", *words, "-i", "bad.txt", "-f", "json", folder=folder)
    assert done.returncode == 0, done.stderr
    result = fm.corpus_bleu(BAD, [REFERENCE, OTHER], **options)
    document = json.loads(done.stdout)
    assert document["signature"] == result.signature
    (system,) = document["systems"]
    assert system["score"] == result.score
    assert [system[f"p{order}"] for order in range(1, len(result.precisions) + 1)] == list(result.precisions)
    assert (system["bp"], system["sys_len"], system["ref_len"]) == (result.bp, result.sys_len, result.ref_len)


def test_segments_are_printed_as_by_sacrebleu(folder):
    metric = peer("sacrebleu").metrics.BLEU(effective_order=True)
    for name, lines in (("good.txt", GOOD), ("bad.txt", BAD)):
        scores = [metric.sentence_score(line, [reference]) for line, reference in zip(lines, REFERENCE, strict=True)]
        signature = metric.get_signature().format()
        done = run("bleu", "ref.txt", "-i", name, "-sl", folder=folder)
        wanted = [score.format(1, False, signature) for score in scores]
        assert without_version(done.stdout).splitlines() == list(map(without_version, wanted))
        short = run("bleu", "ref.txt", "-i", name, "-sl", "-b", "-w", "3", folder=folder)
        assert short.stdout.split() == [f"{score.score:.3f}" for score in scores]


def test_several_systems_make_a_table(folder):
    arguments = ["bleu", "ref.txt", "-i", "bad.txt", "good.txt.gz", "other.txt"]
    results = [fm.corpus_bleu(lines, [REFERENCE]) for lines in (BAD, GOOD, OTHER)]
    assert max(results, key=float) is results[1]
    header = ["system", "BLEU", "p1", "p2", "p3", "p4", "bp", "ratio", "sys_len", "ref_len"]
    rows = [
        [name, f"{own.score:.1f}", *(f"{value:.1f}" for value in own.precisions), f"{own.bp:.3f}", f"{own.ratio:.3f}",
         str(own.sys_len), str(own.ref_len)]
        for name, own in zip(["bad.txt", "good.txt.gz", "other.txt"], results, strict=True)
    ]  # fmt: skip
    plain = run(*arguments, folder=folder)
    assert plain.returncode == 0, plain.stderr
    *table, blank, signature = plain.stdout.splitlines()
    assert (blank, signature) == ("", results[0].signature)
    assert [line.replace("*", "").split() for line in table] == [header, *rows]
    assert [line.count("*") for line in table] == [0, 0, 1, 0]
    assert len({len(line) for line in table}) == 1
    marked = run(*arguments, "--format", "markdown", folder=folder).stdout.splitlines()
    cells = [re.split(r" *\| *", line)[1:-1] for line in marked[:-2]]
    assert re.fullmatch(r"\| -+ (\| -+: )+\|", marked[1])
    rows[1][1] = f"**{rows[1][1]}**"
    assert [cells[0], *cells[2:]] == [header, *rows]
    comma = list(csv.DictReader(run(*arguments, "-f", "csv", folder=folder).stdout.splitlines()))
    assert [float(row["BLEU"]) for row in comma] == [own.score for own in results]
    assert [int(row["ref_len"]) for row in comma] == [own.ref_len for own in results]
    assert {row["signature"] for row in comma} == {results[0].signature}
    document = json.loads(run(*arguments, "-f", "json", folder=folder).stdout)
    assert [system["score"] for system in document["systems"]] == [own.score for own in results]
    assert (document["schema"], document["metric"], document["version"]) == (1, "bleu", fm.__version__)


def test_segments_of_several_systems(folder):
    arguments = ["bleu", "ref.txt", "-i", "bad.txt", "good.txt", "-sl"]
    wanted = [
        [fm.sentence_bleu(line, reference).score for line, reference in zip(lines, REFERENCE, strict=True)]
        for lines in (BAD, GOOD)
    ]
    lines = run(*arguments, folder=folder).stdout.splitlines()
    assert lines[0].split() == ["segment", "bad.txt", "good.txt"]
    shown = [[f"{first:.1f}", f"{second:.1f}"] for first, second in zip(*wanted, strict=True)]
    assert [line.split() for line in lines[1:]] == [[str(number), *row] for number, row in enumerate(shown, 1)]
    comma = list(csv.DictReader(run(*arguments, "-f", "csv", folder=folder).stdout.splitlines()))
    assert [[float(row[name]) for row in comma] for name in ("bad.txt", "good.txt")] == wanted
    document = json.loads(run(*arguments, "-f", "json", folder=folder).stdout)
    assert [[own["score"] for own in system["segments"]] for system in document["systems"]] == wanted
    one = run(*arguments[:4], "-sl", "-f", "markdown", folder=folder).stdout.splitlines()
    assert one[0].split() == ["|", "segment", "|", "BLEU", "|"]


def test_systems_of_one_name_are_named_by_their_paths(folder):
    (folder / "inner").mkdir()
    (folder / "inner" / "good.txt").write_bytes(lines_of(*BAD))
    done = run("bleu", "ref.txt", "-i", "good.txt", "inner/good.txt", folder=folder)
    assert [line.split()[0] for line in done.stdout.splitlines()[1:3]] == ["good.txt", "inner/good.txt"]


def test_standard_input_is_one_of_the_systems(folder):
    piped = gzip.compress(lines_of(*BAD))
    done = run("bleu", "ref.txt", "-i", "good.txt", "-", "-b", folder=folder, standard_input=piped)
    assert done.stdout == run("bleu", "ref.txt", "-i", "good.txt", "bad.txt", "-b", folder=folder).stdout


def test_a_subprocess_has_the_same_output(folder):
    for arguments, text, code in (
        (["ref.txt"], lines_of(*GOOD), 0),
        (["no.txt"], lines_of(*GOOD), 1),
    ):
        done, in_process = (
            call("bleu", *arguments, folder=folder, standard_input=text) for call in (run_subprocess, run)
        )
        assert done.returncode == in_process.returncode == code
        assert (done.stdout, done.stderr) == (in_process.stdout, in_process.stderr)


def test_a_redirected_file_is_read_in_place(folder):
    with open(folder / "good.txt", "rb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "fastmetrics", "bleu", "ref.txt", "-b", "-w", "3"],
            cwd=folder, stdin=file, capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
    assert done.stdout == f"{fm.corpus_bleu(GOOD, [REFERENCE]).score:.3f}\n"


# ------------------------------------------------------------------------------------------------- warnings and errors


def test_output_that_looks_tokenized_has_a_warning(folder):
    (folder / "many.txt").write_bytes(lines_of(*["some words"] * 300))
    (folder / "tokens.txt").write_bytes(lines_of(*["some words ."] * 101, *["good."] * 199))
    done = run("bleu", "many.txt", "-i", "tokens.txt", folder=folder)
    assert done.stderr.startswith("warning: 101 of the first 300 lines of tokens.txt end in a full stop after a blank")
    for words in (["-q"], ["-tok", "none"]):
        assert run("bleu", "many.txt", "-i", "tokens.txt", *words, folder=folder).stderr == ""
    (folder / "tokens.txt").write_bytes(lines_of(*["some words ."] * 100, *["good."] * 200))
    assert run("bleu", "many.txt", "-i", "tokens.txt", folder=folder).stderr == ""


@each_case(
    ("arguments", "code", "message"),
    [
        ([], 2, "name the references: "),
        (["-i", "good.txt"], 2, "name the references before -i: "),
        (["-i", "ref.txt", "good.txt"], 2, "bleu REF... -i HYP..."),
        (["ref.txt"], 2, "no system output: type"),
        (["ref.txt", "-i"], 2, "-i needs a value"),
        (["ref.txt", "-", "-i", "-"], 2, "standard input can be only one of the files"),
        (["ref.txt", "-i", "good.txt", "-tok", "14a"], 2, "'14a' is not one of '13a', 'intl', 'char', 'zh', 'none'"),
        (["ref.txt", "-i", "good.txt", "--max-order", "0"], 2, "--max-order"),
        (["ref.txt", "-i", "good.txt", "-f", "latex"], 2, "'latex' is not one of 'text', 'csv', 'markdown', 'json'"),
        (["ref.txt", "-i", "good.txt", "--weights", "a,b"], 2, "type numbers separated by commas; found 'a,b'"),
        (["ref.txt", "-i", "good.txt", "--weights", "1"], 1, "error: weights must have one number per order"),
        (["ref.txt", "-i", "good.txt", "-sv", "1"], 1, "error: smooth='exp' takes no smooth_value"),
        (["ref.txt", "-i", "no.txt"], 1, "error: there is no file no.txt"),
        (["short.txt", "-i", "good.txt"], 1, "must have the same number of lines: good.txt has 4, short.txt has 1"),
        (["ref.txt", "-i", "empty.txt"], 1, "error: empty.txt is empty: it has no lines to read"),
        (["empty.txt", "-i", "empty.txt"], 1, "error: empty.txt is empty: it has no lines to read"),
        (["ref.txt", "-i", "latin.txt"], 1, "error: latin.txt, line 4, byte 1: 0xdc is not valid UTF-8"),
        (["cut.gz", "-i", "good.txt"], 1, "error: cut.gz ends too early: its gzip data is truncated"),
    ],
    ids=str,
)
def test_errors_name_the_problem(folder, arguments, code, message):
    (folder / "short.txt").write_text("one\n")
    (folder / "empty.txt").touch()
    (folder / "latin.txt").write_bytes("\n".join(REFERENCE).encode("latin-1"))
    (folder / "cut.gz").write_bytes((folder / "good.txt.gz").read_bytes()[:60])
    done = run("bleu", *arguments, folder=folder)
    assert_refused(done, code, message)


def test_help_has_examples_that_work(folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    for name in ("ref1.txt", "ref2.txt", "ref2.txt.gz", "system.txt", "first.txt", "second.txt", "third.txt"):
        (folder / name).write_bytes((folder / "ref.txt").read_bytes())
    for command in COMMANDS if has_wordnet() else [name for name in COMMANDS if name != "meteor"]:
        done = run(command, "--help", folder=folder)
        assert done.returncode == 0
        typed = [line.split()[1:] for line in done.stdout.partition("Examples")[2].splitlines() if line.strip()]
        assert len(typed) >= 2
        for words in typed:
            assert words[0] == command
            text = (folder / words[words.index("<") + 1]).read_bytes() if "<" in words else None
            ends = [words.index(mark) for mark in "<>" if mark in words]
            done = run(*words[: min(ends, default=None)], folder=folder, standard_input=text)
            assert done.returncode == 0, (words, done.stderr)


# ------------------------------------------------------------------------------------------------------------ real data


def test_wmt_has_the_numbers_of_sacrebleus_command_line(wmt, tmp_path):
    """Subprocesses of both programs with the same options."""
    peer("sacrebleu")
    (tmp_path / "ref.txt").write_bytes(lines_of(*wmt.reference))
    lines = next(iter(wmt.systems.values()))
    (tmp_path / "hyp.txt").write_bytes(lines_of(*lines))
    for words in (["-sl", "-f", "text"], ["-tok", "intl", "-lc", "-s", "floor", "-b", "-w", "3"]):
        theirs = subprocess.run(
            [sys.executable, "-m", "sacrebleu", "ref.txt", "-i", "hyp.txt", *words],
            cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", timeout=120, check=True,
        )  # fmt: skip
        done = run("bleu", "ref.txt", "-i", "hyp.txt", *words, folder=tmp_path)
        assert without_version(done.stdout) == without_version(theirs.stdout)
        assert done.stdout.count("\n") == (len(lines) if "-sl" in words else 1)
