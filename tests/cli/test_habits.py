"""The habits of all commands, each for every command, in processes: a pipe and a terminal."""

import json
import os
import re
import subprocess
import sys
from functools import cache

import pytest

from fastmetrics._core.calls.words import IDEAS
from support.cases import each_case
from support.command_line import environment, open_terminal, plain, run, until_closed
from support.files.command_files import write_command_files
from support.types.public_calls import PUBLIC, parameters_of

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

LOG = "log.csv --label click --score old"
# Words with which each command has a result.
COMMANDS = {
    "evaluate": f"{LOG} -m auc",
    "compare": f"{LOG} --score new -m auc --ci-method delong",
    "trec": "qrels.txt run.txt",
    "coco": "instances.json detections.json",
    "voc": "voc results",
    "bleu": "reference.txt -i system.txt",
    "chrf": "reference.txt -i system.txt",
    "nist": "reference.txt -i system.txt",
    "ter": "reference.txt -i system.txt",
    "rouge": "reference.txt -i system.txt",
    "meteor": "--modules exact reference.txt -i system.txt",
    "demo": "--rows 300",
    "sample-log": "sample.parquet --rows 100 --force",
    "doctor": "",
    "selfcheck": "",
    "list": "",
}
WRITING = {name: words for name, words in COMMANDS.items() if name != "sample-log"}
MORE = {  # other ways to call them
    "trec": "qrels.txt run.txt -q",
    "trec --compare": "qrels.txt run.txt other.txt -m map",
    "coco": "instances.json detections.json --per-class",
    "bleu": "reference.txt -i system.txt -sl",
    "rouge": "reference.txt -i system.txt system.txt -m rouge1,rougeL",
    "list": "ndcg auc",
}
SUFFIXES = (".json", ".html", ".csv", ".parquet", ".md")
# The command line, with a self-check of three checks in place of all.
PROGRAM = """
import sys
from fastmetrics.cli import main
if "selfcheck" in sys.argv:
    from fastmetrics.selfcheck import checks
    some, skipped = checks.all_checks()
    checks.all_checks = lambda: (some[:3], skipped)
sys.exit(main(sys.argv[1:]))
"""


@cache
def commands_of_the_program():
    from typer.main import get_command

    from fastmetrics.cli.app import app

    return dict(get_command(app).commands)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = write_command_files(tmp_path_factory.mktemp("habits"))
    (folder / "other.txt").write_text("1 Q0 a 1 2.0 other\n1 Q0 b 2 1.0 other\n2 Q0 a 1 1.0 other\n")
    table = pa.table({"click": [0, 1, 1, 0] * 30, "p": [0.1, 0.6, 0.4, 0.3] * 30, "part": ["a"] * 60 + ["b"] * 60})
    pq.write_table(table, folder / "parts.parquet")
    return folder


@pytest.fixture(autouse=True)
def few_checks(monkeypatch):
    """A self-check of three checks in this process too."""
    from fastmetrics.selfcheck import checks

    some, skipped = checks.all_checks()
    monkeypatch.setattr(checks, "all_checks", lambda: (some[:3], skipped))


def in_a_pipe(words, folder):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], cwd=folder, env=environment(), stdin=subprocess.DEVNULL,
        capture_output=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def in_process(words, folder):
    done = run(*words, folder=folder)
    return done.returncode, done.stdout, done.stderr


def on_a_terminal(words, folder):
    """The exit code, standard output and standard error of a process whose standard error is a terminal."""
    ours, theirs = open_terminal(120)
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words], cwd=folder, env=environment(TERM="xterm-256color"),
        stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, encoding="utf-8",
    )  # fmt: skip
    os.close(theirs)
    screen = b"".join(until_closed(ours)).decode("utf-8")
    out, _ = process.communicate(timeout=120)
    os.close(ours)
    return process.returncode, out, plain(screen)


def typed(command, words=""):
    return [*command.split(), *words.split()]


def test_all_commands_are_called():
    assert set(COMMANDS) == set(commands_of_the_program())


# ------------------------------------------------------------------------------------------------------------- outputs


@pytest.mark.parametrize("command", COMMANDS)
def test_json_is_a_flag_and_alone_on_standard_output(folder, command):
    code, out, errors = in_a_pipe(typed(command, f"--json {COMMANDS[command]}"), folder)
    assert code == 0, errors
    document = json.loads(out)
    assert (document["schema"], "version" in document) == (1, True)
    assert not errors or command == "sample-log"
    code, out, screen = on_a_terminal(typed(command, f"{COMMANDS[command]} --json --quiet"), folder)
    assert (code, screen) == (0, "")
    assert set(json.loads(out)) == set(document)


@each_case(("command", "words"), [*WRITING.items(), *MORE.items()])
def test_files_by_their_suffix(folder, command, words):
    names = [f"out{suffix}" for suffix in SUFFIXES]
    options = " ".join(f"-o {name}" for name in names)
    line = typed(command, f"{words} {options}")
    for _ in range(2):  # results are replaced
        code, out, errors = in_process(line, folder)
        assert code == 0, errors
        assert [line for line in errors.splitlines() if line.startswith("wrote")] == [f"wrote {own}" for own in names]
        assert out
    assert in_process([*line, "--quiet"], folder) == (0, "", "")
    assert json.loads((folder / "out.json").read_text())["schema"] == 1
    assert (folder / "out.html").read_text().startswith("<!DOCTYPE html>")
    rows = (folder / "out.csv").read_text().splitlines()
    table = pq.read_table(folder / "out.parquet")
    assert rows[0].split(",")[0] == table.column_names[0]
    assert 0 < table.num_rows <= len(rows) - 1
    assert (folder / "out.md").read_text().startswith("| ")
    for name in names:
        (folder / name).unlink()


@each_case("command", WRITING)
@each_case("name", ["out.txt", "out", "out.xlsx", "-", "out.htm"])
def test_an_unknown_suffix_lists_those_that_are_known(folder, command, name):
    done = run(*typed(command, f"{COMMANDS[command]} -o"), name, folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    wanted = "type --json" if name == "-" else ".json, .html, .csv, .parquet or .md"
    assert wanted in done.stderr
    assert done.stderr.startswith("error: Invalid value for --output: ")
    assert done.stderr.count("\n") == 1


@each_case("command", WRITING)
def test_no_clobber_and_inputs(folder, command):
    (folder / "old.csv").write_text("mine")
    done = run(*typed(command, f"{COMMANDS[command]} --no-clobber -o old.csv"), folder=folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: old.csv exists")
    assert (folder / "old.csv").read_text() == "mine"
    (folder / "old.csv").unlink()


@each_case(("command", "output"), [
    ("evaluate", "log.csv"), ("compare", "log.csv"), ("coco", "instances.json"), ("coco", "detections.json"),
    ("voc", "results/new.csv"),
])  # fmt: skip
def test_an_output_is_no_input(folder, command, output):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done = run(*typed(command, f"{COMMANDS[command]} -o {output}"), folder=folder)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "Invalid value for --output" in done.stderr
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_messages_of_sample_log_and_demo(folder):
    words = typed("sample-log", "sample.parquet --rows 100 --force")
    code, out, errors = in_a_pipe(words, folder)
    assert (code, out) == (0, "")
    assert re.match(r"wrote sample\.parquet: 100 rows", errors)
    assert in_a_pipe([*words, "-q"], folder) == (0, "", "")
    code, out, errors = in_a_pipe(typed("demo", "--rows 100 --keep kept.parquet"), folder)
    assert (code, errors) == (0, "wrote kept.parquet\n")
    (folder / "kept.parquet").unlink()


@each_case("command", COMMANDS)
def test_quiet_has_the_letter_q_and_metrics_m(command):
    letters = {name: own for own in commands_of_the_program()[command].params for name in own.opts}
    assert letters["--quiet"].name == "quiet"
    if command == "trec":
        assert (letters["-q"].name, letters["-m"].name) == ("per_query", "metrics")
        return
    assert letters["-q"].name == "quiet"
    assert "-m" not in letters or letters["-m"].name in ("metrics", "types")
    assert ("-m" in letters) == (command in ("evaluate", "compare", "rouge"))



@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ("doctor", "list")])
def test_long_work_shows_progress_on_a_terminal(folder, command):
    code, out, screen = on_a_terminal(typed(command, f"{COMMANDS[command]}"), folder)
    assert code == 0, screen
    assert out or command == "sample-log"
    words = {"selfcheck": " ...", "coco": "evaluating", "voc": "evaluating"}
    assert words.get(command, "rows") in screen


# -------------------------------------------------------------------------------------------------------------- errors

WRONG = {  # what is wrong, in every command
    "an unknown option": ("--nonsense", "there is no option --nonsense"),
    "an option of another tool": ("--verbosity", "there is no option --verbosity"),
    "a value that is missing": ("--output", "--output needs a value"),
    "an option as a value": ("--output --json", "--output needs a value, and --json is the next option"),
    "a flag with a value": ("--json=yes", "--json"),
    "a file of no kind": ("--output out.txt", "must end in .json, .html, .csv, .parquet or .md"),
}
WRONG_SAMPLE_LOG = {
    "a value that is missing": ("--rows", "--rows needs a value"),
    "an option as a value": ("--rows --json", "--rows needs a value, and --json is the next option"),
    "a bad number": ("--items many", "Invalid value for '--items'"),
    "given twice": ("--seed 1 --seed 2", "it is given twice"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_errors_of_usage_are_one_line_in_a_pipe_and_a_box_on_a_terminal(folder, command):
    cases = WRONG_SAMPLE_LOG if command == "sample-log" else WRONG
    for place, (words, message) in enumerate(cases.values()):
        line = typed(command, f"{COMMANDS[command]} {words}")
        done = run(*line, folder=folder)
        assert (done.returncode, done.stdout) == (2, ""), (words, done.stderr)
        assert re.fullmatch(r"error: .*\n", done.stderr), done.stderr
        assert message in done.stderr
        if place == 0:
            code, out, errors = in_a_pipe(line, folder)
            assert (code, out, errors) == (2, "", done.stderr)
            code, out, screen = on_a_terminal(line, folder)
            assert (code, out) == (2, "")
            boxed = " ".join(re.sub(r"[│╭╮╰╯─]", " ", screen).split())
            assert "Usage: " in boxed
            assert " ".join(done.stderr.removeprefix("error: ").split()) in boxed


def test_errors_of_the_program_itself(folder):
    for words, message in (
        ("evalute", "No such command 'evalute'. Did you mean 'evaluate'?"), ("--versoin", "did you mean --version?"),
        ("--nothing", "--help lists them"),
    ):
        code, out, errors = in_a_pipe(words.split(), folder)
        assert (code, out) == (2, "")
        assert re.fullmatch(r"error: .*\n", errors)
        assert message in errors


@each_case("name", ["-V", "--version"])
def test_the_version_has_a_letter(folder, name):
    import fastmetrics

    assert in_a_pipe([name], folder) == (0, f"fastmetrics {fastmetrics.__version__}\n", "")


@each_case("command", COMMANDS)
def test_an_option_never_takes_the_next_one(folder, command):
    """Every option that has a value, before each of the others, by all of their names."""
    options = [own for own in commands_of_the_program()[command].params if own.param_type_name == "option"]
    names = [name for own in options for name in (*own.opts, *own.secondary_opts)]
    valued = [name for own in options if not own.is_flag for name in own.opts]
    assert valued or command == "doctor"
    start = typed(command, COMMANDS[command])
    for name in valued:
        for following in ("--json", "--", "--unknown", *names):
            assert not checked([*start[1:], name, following, "p"], command), (name, following)
        assert not checked([*start[1:], name], command)
        assert checked([*start[1:], name, "p"], command)
    for name in valued[:2] + valued[-2:]:
        done = run(*start, name, folder=folder)
        assert (done.returncode, done.stderr) == (2, f"error: {name} needs a value\n")
        done = run(*start, name, "--json", "p", folder=folder)
        assert (done.returncode, done.stderr) == (2, f"error: {name} needs a value, and --json is the next option\n")


def checked(words, command="evaluate"):
    """Whether the words pass the check of values."""
    from fastmetrics.cli.command import UsageError, check_values

    try:
        check_values(commands_of_the_program()[command].params, words, None)
    except UsageError:
        return False
    return True


@each_case("value", ["-1", "-0.5", "-.5", "-1e-3", "-inf", "-", "-loss", "-p * 2", "--x > 2", "", "x"])
def test_values_that_begin_with_a_dash_stay(value):
    assert checked(["log.csv", "--score", value])
    assert checked(["log.csv", f"--score={value}"])
    assert checked(["log.csv", "-m", value])
    assert checked(["a", "-w", value], "bleu")
    assert checked(["a", "-bw", value], "bleu")


def test_what_looks_like_an_option_is_written_behind_a_sign(folder):
    assert not checked(["log.csv", "--score", "--loss"])
    assert checked(["log.csv", "--score=--loss"])
    assert checked(["log.csv", "--", "--score", "--json"])
    assert not checked(["a", "-bw", "-sl"], "bleu")
    words = typed("evaluate", "log.csv --label click --score=-old -m auc --json")
    code, out, _ = in_a_pipe(words, folder)
    assert (code, json.loads(out)["results"][0]["value"]) == (0, 0.25)


@each_case("command", ["trec", "coco", "voc", "bleu", "demo", "sample-log", "selfcheck", "list", "evaluate"])
def test_what_is_given_twice_is_wrong_usage(folder, command):
    from typer.core import TyperOption

    for own in commands_of_the_program()[command].params:
        if isinstance(own, TyperOption) and not own.is_flag and not own.multiple and not own.hidden:
            name = own.opts[0]
            done = run(*typed(command, COMMANDS[command]), name, "1", name, "2", folder=folder)
            assert (done.returncode, done.stdout) == (2, "")
            assert "it is given twice, and has one value" in done.stderr or "Invalid value" in done.stderr


@each_case(("command", "option", "meant"), [
    ("evaluate", "--slice", "--by"), ("evaluate", "--slices", "--by"), ("evaluate", "--group-by", "--by"),
    ("evaluate", "--filter", "--where"), ("evaluate", "--target", "--label"), ("evaluate", "--y_true", "--label"),
    ("evaluate", "--model", "--score"), ("evaluate", "--y-pred", "--prediction"), ("evaluate", "--groups", "--group"),
    ("evaluate", "--sample-weight", "--weight"), ("evaluate", "--n-jobs", "--threads"),
    ("evaluate", "--n_bootstrap", "--replicates"), ("evaluate", "--random-state", "--seed"),
    ("evaluate", "--html", "-o report.html"), ("compare", "--csv", "-o report.csv"),
    ("trec", "--html", "-o report.html"),
    ("compare", "--control", "--baseline"), ("compare", "--assert", "--fail-if"), ("trec", "--measure", "--metrics"),
    ("trec", "--significance", "--compare"), ("bleu", "--silent", "--quiet"), ("coco", "--jobs", "--threads"),
    ("list", "--module", "--plugin"), ("evaluate", "--lable", "--label"), ("doctor", "--as-json", "--json"),
    ("voc", "--iou", "--iou-threshold"), ("evaluate", "--ci-m", "--ci-method"),
])  # fmt: skip
def test_unknown_options_are_answered_by_the_one_that_is_meant(folder, command, option, meant):
    done = run(command, option, folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(rf"error: there is no option {option}; .*{re.escape(meant)}.*\n", done.stderr), done.stderr


@each_case(("command", "line"), [
    ("coco", "t.json f.json --iou-type mask"), ("bleu", "ref.txt -tok intll"), ("bleu", "ref.txt -w x"),
])  # fmt: skip
def test_a_bad_value_is_told_without_words_of_libraries(folder, command, line):
    done = run(command, *line.split(), folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Invalid value for" in done.stderr
    assert "Value error" not in done.stderr


def test_names_of_the_table_of_words_exist():
    """Of Python or of a command: a name that is gone answers nothing."""
    from fastmetrics.cli.near_options import parameter_of

    parameters = [own for command in commands_of_the_program().values() for own in command.params]
    options = {parameter_of(name) for own in parameters for name in own.opts}
    known = options.union(*map(parameters_of, PUBLIC.values()))
    assert {name for idea in IDEAS for name in idea.split()} - known == set()


def test_json_with_a_file_says_what_to_type(folder):
    done = run(*typed("evaluate", f"{LOG} --json report.json"), folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "to write it type -o report.json" in done.stderr


# -------------------------------------------------------------------------------------------------------------- gates


def gate(folder, command, text, *words):
    scores = ["--score", "p", "--score", "click"] if command == "compare" else ["--score", "p"]
    words = ["parts.parquet", "--label", "click", *scores, *words, "--fail-if", text]
    return in_process([command, *words], folder)


@each_case(("text", "code", "said"), [
    ("auc < 0.7", 0, "passed: --fail-if 'auc < 0.7'\n"), ("auc<0.7", 0, "passed: --fail-if 'auc<0.7'\n"),
    ("auc < 1.01", 3, "failed: --fail-if 'auc < 1.01': auc is 1.0\n"), ("auc >= 1", 3, "auc is 1.0"),
    ("auc > 1", 0, "passed"), ("auc <= 1e0", 3, "auc is 1.0"), ("logloss > -1", 3, "logloss is"),
    ("auc < 101%", 3, "auc is 1.0"), ("gauc < 0.5", 2, "--group"), ("auc = 0.7", 2, "cannot read"),
    ("auc drops 0.1", 2, "changes are gates of compare"), ("auk < 0.7", 2, "did you mean 'auc'"),
    ("auc < 0.7 significantly", 2, "add --ci 95"), ("auc < 0.7 in any slice", 2, "add --by COLUMN"),
])  # fmt: skip
def test_gates_of_values(folder, text, code, said):
    found, out, errors = gate(folder, "evaluate", text)
    assert found == code, errors
    assert said in errors
    assert errors.count("\n") == 1
    assert bool(out) == (code != 2)


@each_case("command", ["evaluate", "compare"])
def test_gates_say_whether_slices_were_looked_at(folder, command):
    text = {"evaluate": "auc < 0.1", "compare": "auc drops 0.05"}[command]
    slices = ["--by", "part", "-m", "auc"]
    passed = f"passed: --fail-if {text!r}"
    assert gate(folder, command, text, "-m", "auc")[::2] == (0, f"{passed}\n")
    unseen = "(all rows; slices were not looked at: add 'in any slice')"
    assert gate(folder, command, text, *slices)[::2] == (0, f"{passed} {unseen}\n")
    wide = f"{text} in any slice"
    assert gate(folder, command, wide, *slices)[::2] == (0, f"passed: --fail-if {wide!r} (all rows and 2 slices)\n")
    assert gate(folder, command, text, *slices, "-q") == (0, "", "")


def test_an_undefined_value_fails_a_gate(folder):
    rows = {"click": [1, 1, 0, 1], "p": [0.1, 0.2, 0.3, 0.4], "part": list("aabb")}
    pq.write_table(pa.table(rows), folder / "one.parquet")
    words = ["evaluate", "one.parquet", "--label", "click", "--score", "p", "--by", "part", "-m", "auc"]
    code, _, errors = in_a_pipe([*words, "--fail-if", "auc < 0.1 in any slice"], folder)
    assert code == 3
    assert "auc [part=a] cannot be tested: there is no negative row" in errors


def test_a_significant_gate_reads_the_interval(folder):
    level = ["--ci", "95", "-m", "logloss"]
    code, _, errors = gate(folder, "evaluate", "logloss > 0.01 significantly", *level)
    assert code == 3
    assert re.search(r"logloss is [\d.]+, from [\d.]+ to [\d.]+\n", errors)
    value = float(re.search(r"is ([\d.]+),", errors)[1])
    assert gate(folder, "evaluate", f"logloss < {value + 1e-6}", *level)[0] == 3
    assert gate(folder, "evaluate", f"logloss < {value + 1e-6} significantly", *level)[0] == 0


@each_case("condition", ['part = "a"', "part = a", 'part in ("a", "b")', 'part <> "it\'s"'])
def test_texts_in_conditions_have_single_quotes(folder, condition):
    words = ["evaluate", "parts.parquet", "--label", "click", "--score", "p", "--where", condition]
    code, out, errors = in_process(words, folder)
    assert (code, out) == (1, "")
    assert re.fullmatch(r"error: .*a text has single quotes: '(a|it''s)'.*\n", errors), errors


READ_FROM_STANDARD_INPUT = (
    ("coco - detections.json", "instances.json"), ("coco instances.json -", "detections.json"),
    ("trec - run.txt", "qrels.txt"), ("trec qrels.txt -", "run.txt"),
    ("trec qrels.txt - other.txt -m map --compare", "run.txt"), ("bleu reference.txt -i -", "system.txt"),
    ("evaluate - --input-format csv --label click --score old -m auc", "log.csv"),
)  # fmt: skip


@each_case(("line", "file"), READ_FROM_STANDARD_INPUT)
def test_a_sign_stands_for_standard_input(folder, line, file):
    words = [sys.executable, "-m", "fastmetrics", *line.split(), "--json"]
    with (folder / file).open("rb") as stream:
        done = subprocess.run(words, stdin=stream, capture_output=True, cwd=folder, text=True, check=False)
    assert done.returncode == 0, done.stderr
    named = line.replace("evaluate - --input-format csv", f"evaluate {file}").replace("-i -", f"-i {file}")
    named = " ".join(file if word == "-" else word for word in named.split())
    wanted = run(*named.split(), "--json", folder=folder)
    numbers = r"[:\[,] (-?\d[\d.e-]*)"
    assert re.findall(numbers, done.stdout) == re.findall(numbers, wanted.stdout)


@each_case(
    "line",
    ["coco instances.json -", "trec qrels.txt -", "bleu reference.txt -i -", "evaluate - --label click --score old"],
)
def test_a_terminal_is_no_input(folder, line):
    done = run(*line.split(), folder=folder)
    assert done.returncode == 2
    assert "standard input is a terminal" in done.stderr or "no system output" in done.stderr, done.stderr


@each_case("line", ["coco - -", "trec - -", "bleu - -i -", "voc - results", "voc voc -"])
def test_standard_input_is_one_file(folder, line):
    done = run(*line.split(), folder=folder, standard_input=b"{}")
    assert done.returncode == 2
    assert "standard input" in done.stderr, done.stderr


def test_a_letter_of_the_format_is_that_of_all_commands():
    for name, command in commands_of_the_program().items():
        for own in command.params:
            if "--format" in own.opts:
                assert "-f" in own.opts, name
