"""``fastmetrics trec``: trec_eval's output on real files, tables, errors, exit codes."""

import csv
import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest

from oracles.ranking import trec as oracle
from support.cases import each_case
from support.command_line import assert_refused, run, run_subprocess

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pyarrow")

OURS = oracle.Options(rounding="0.9")
MEASURES = (*oracle.OFFICIAL, *oracle.MORE, *oracle.FURTHER)
# trec_eval's order, which differs from the oracle's lists of further measures.
ORDER = (
    *oracle.OFFICIAL, "relstring", "recall", "infAP", "Rprec_mult", "utility", "binG", "G", "dcg", "ideal_dcg", "ndcg",
    "ndcg_rel", "Rndcg", "ndcg_cut", "map_cut", "success", "yaap", "rbp", "rbp_resid", "unj",
)  # fmt: skip
SUMMARY_ONLY = ("num_q", "gm_map")


def make(seed: int, n_queries: int = 25, n_items: int = 40) -> tuple[oracle.Run, oracle.Qrels]:
    """A run and judgments; scores have few values, so many items tie."""
    generator = np.random.default_rng(seed)
    scores, qrels = {}, {}
    for query in map(str, (400 + generator.permutation(n_queries)).tolist()):
        names = [f"FT{number}-{number % 7}" for number in generator.permutation(n_items * 9)[:n_items].tolist()]
        judged, retrieved = generator.random(n_items) < 0.5, generator.random(n_items) < 0.7
        points, relevance = generator.integers(0, 12, n_items) / 4, generator.integers(-1, 4, n_items)
        scores[query] = {name: float(points[i]) for i, name in enumerate(names) if retrieved[i]}
        qrels[query] = {name: int(relevance[i]) for i, name in enumerate(names) if judged[i]}
    return scores, qrels


def write_run(path: Path, scores: oracle.Run, tag: str) -> Path:
    lines = [f"{query} Q0 {item} 0 {score} {tag}\n" for query, rows in scores.items() for item, score in rows.items()]
    text = "".join(lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def write_qrels(path: Path, qrels: oracle.Qrels) -> Path:
    rows = [f"{query} 0 {item} {grade}\n" for query, grades in qrels.items() for item, grade in grades.items()]
    path.write_text("".join(rows), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path):
    """Two runs; one of them lacks a query of the judgments and has another that is not judged."""
    scores, qrels = make(1)
    write_qrels(tmp_path / "qrels.txt", qrels)
    write_run(tmp_path / "bm25.run", scores, "BM25")
    other, _ = make(2)
    del other["402"]
    other["999"] = {"x": 1.0}
    write_run(tmp_path / "dense.run.gz", other, "dense")
    return tmp_path, {"BM25": scores, "dense": other}, qrels


def format_value(name, value):
    if name == "relstring":
        return f"'{value}'"
    return str(int(value)) if name in oracle.COUNTS else f"{float(value):6.4f}"


def as_trec_eval(tag, scores, qrels, options=OURS, complete=False, per_query=False, summary=True):
    """The output of trec_eval with the oracle's values: %-22s, a tab, the topic, a tab, the value."""
    lines = []
    order = oracle.names(ORDER)
    if per_query:
        for topic, values in oracle.by_topic(scores, qrels, MEASURES, options, complete).items():
            shown = [name for name in order if name not in SUMMARY_ONLY]
            lines += [f"{name:<22}\t{topic}\t{format_value(name, values[name])}\n" for name in shown]
    if summary:
        values = oracle.summary(scores, qrels, MEASURES, options, complete)
        lines.append(f"{'runid':<22}\tall\t{tag}\n")
        lines += [f"{name:<22}\tall\t{format_value(name, values[name])}\n" for name in order if name != "relstring"]
    return "".join(lines)


NAMES = [part for name in ("runid", *MEASURES) for part in ("-m", name)]


@each_case(
    ("arguments", "options", "shown"),
    [
        ([], OURS, {}),
        (["-q"], OURS, {"per_query": True}),
        (["-qn"], OURS, {"per_query": True, "summary": False}),
        (["-qnc", "-N1000"], OURS, {"per_query": True, "summary": False}),
        (["-c", "-l2"], OURS._replace(level=2), {}),
        (
            ["-q", "-c", "-M7", "-l2", "-J"],
            OURS._replace(level=2, max_retrieved=7, judged_only=True),
            {"per_query": True},
        ),
        (["--level", "3", "--max-per-query", "3"], OURS._replace(level=3, max_retrieved=3), {}),
    ],
)
@pytest.mark.parametrize("name", ["bm25.run", "dense.run.gz"])
def test_one_run_is_printed_as_by_trec_eval(files, arguments, options, shown, name):
    folder, runs, qrels = files
    tag = "BM25" if name == "bm25.run" else "dense"
    done = run("trec", "qrels.txt", name, *NAMES, *arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    complete = any("c" in argument for argument in arguments)
    assert done.stdout == as_trec_eval(tag, runs[tag], qrels, options, complete=complete, **shown)


def test_the_bindings_give_the_same_text(files):
    """trec_eval's own code, as far as its bindings reach: every query, and means of them added in their order."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    folder, runs, qrels = files
    theirs = pytrec_eval.RelevanceEvaluator(qrels, set(pytrec_eval.supported_measures)).evaluate(runs["BM25"])
    done = run("trec", "qrels.txt", "bm25.run", "-q", "-m", "all_trec", folder=folder)
    names = []
    for line in done.stdout.splitlines():
        name, topic, value = line.split("\t")
        name = name.rstrip()
        if topic != "all":
            names += [name] if topic == "400" else []
            if name == "relstring":
                assert len(value) == 12  # the bindings have no texts
                continue
            wanted = theirs[topic][name]
        elif name in names:
            total = 0.0
            for each in sorted(theirs):
                total += theirs[each][name]
            wanted = total if name.startswith("num_") else total / len(theirs)
        else:
            continue
        assert value == (str(int(wanted)) if name.startswith("num_") else f"{wanted:6.4f}"), line
    assert len(names) > 85


def test_a_subprocess_has_the_same_output(files):
    folder, _, _ = files
    for arguments, code in (
        (["dense.run.gz", "-q", "-m", "all_trec"], 0),
        (["bm25.run", "-m", "mapp"], 2),
        (["no"], 1),
    ):
        done, in_process = (call("trec", "qrels.txt", *arguments, folder=folder) for call in (run_subprocess, run))
        assert done.returncode == in_process.returncode == code
        assert done.stdout == in_process.stdout
        assert ("error: there is no file no" in done.stderr) == (code == 1)


def test_parameters_and_size_of_the_collection(files):
    folder, _, _ = files
    measures = ["utility.0,0,0,1", "ndcg.1=3,2=9,3=4.5", "relstring_3"]
    arguments = [part for measure in measures for part in ("-m", measure)]
    done = run("trec", "qrels.txt", "bm25.run", "-q", "-N", "100000", "-R", "qrels", *arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    names = ["relstring_3", "utility_0,0,0,1", "ndcg_1=3,2=9,3=4.5"]
    assert [name for name, topic, _ in lines if topic == "400"] == [f"{name:<22}" for name in names]
    assert [name for name, topic, _ in lines if topic == "all"] == [f"{name:<22}" for name in names[1:]]
    assert all(float(value) > 99_900 for name, _, value in lines if name.startswith("utility"))


def test_official_measures_are_the_default(files):
    folder, _, _ = files
    plain = run("trec", "qrels.txt", "bm25.run", folder=folder)
    assert plain.stdout == run("trec", "qrels.txt", "bm25.run", "-m", "official", folder=folder).stdout
    names = [line.split("\t")[0].rstrip() for line in plain.stdout.splitlines()]
    assert names == ["runid", *oracle.names(oracle.OFFICIAL)]
    assert plain.stderr == ""


def test_unmatched_queries_have_warnings(files):
    folder, _, _ = files
    done = run("trec", "qrels.txt", "dense.run.gz", "-m", "map", folder=folder)
    assert done.stderr.splitlines() == [
        "warning: dense.run.gz lacks 1 query (402) of qrels.txt, not in the means; type -c to count them as 0",
        "warning: dense.run.gz has 1 query (999) that qrels.txt does not have: left out",
    ]
    done = run("trec", "qrels.txt", "dense.run.gz", "-m", "map", "-c", folder=folder)
    assert len(done.stderr.splitlines()) == 1


def test_several_runs_make_a_table(files):
    folder, runs, qrels = files
    values = {tag: oracle.summary(scores, qrels, ("map", "num_ret", "P"), OURS) for tag, scores in runs.items()}
    wanted = [["metric", "BM25", "dense"]] + [
        [name, *(format_value(name, values[tag][name]).strip() for tag in runs)] for name in ("num_ret", "map", "P_5")
    ]
    arguments = ["trec", "qrels.txt", "bm25.run", "dense.run.gz", "-m", "num_ret", "-m", "map", "-m", "P.5"]
    plain = run(*arguments, folder=folder)
    assert plain.returncode == 0
    assert [line.split() for line in plain.stdout.splitlines()] == wanted
    assert len({len(line) for line in plain.stdout.splitlines()}) == 1
    digits = list(csv.reader(run(*arguments, "--format", "csv", folder=folder).stdout.splitlines()))
    assert digits[:2] == wanted[:2]
    assert [[f"{float(cell):.4f}" for cell in row[1:]] for row in digits[2:]] == [row[1:] for row in wanted[2:]]
    marked = run(*arguments, "--format", "markdown", folder=folder).stdout.splitlines()
    assert [re.split(r" *\| *", line)[1:-1] for line in (marked[0], *marked[2:])] == wanted
    assert re.fullmatch(r"\| -+ \| -+: \| -+: \|", marked[1])


def test_a_missing_query_is_an_empty_cell(files):
    folder, _, _ = files
    done = run("trec", "qrels.txt", "bm25.run", "dense.run.gz", "-q", "-m", "num_ret", "--format", "csv", folder=folder)
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert [row["topic"] for row in rows] == [*sorted(str(400 + place) for place in range(25)), "all"]
    lacking = next(row for row in rows if row["topic"] == "402")
    assert lacking["dense"] == ""
    assert int(lacking["BM25"]) > 0


def test_json_has_all_digits(files):
    folder, runs, qrels = files
    done = run("trec", "qrels.txt", "bm25.run", "dense.run.gz", "-q", "-m", "map", "--format", "json", folder=folder)
    document = json.loads(done.stdout)
    assert document["schema"] == 1
    for tag, scores in runs.items():
        wanted = oracle.by_topic(scores, qrels, ("map",), OURS)
        queries = document["runs"][tag]["queries"]
        assert set(queries) == set(wanted)
        assert all(np.isclose(queries[query]["map"], float(wanted[query]["map"]), rtol=1e-14) for query in wanted)
        assert document["runs"][tag]["all"].keys() == {"map"}


def test_runs_of_one_tag_are_named_by_their_files(files):
    folder, runs, _ = files
    for name in ("a.run", "b.run"):
        write_run(folder / name, runs["BM25"], "same")
    (folder / "inner").mkdir()
    write_run(folder / "inner" / "a.run", runs["BM25"], "same")
    heads = [
        run("trec", "qrels.txt", *paths, "-m", "map", folder=folder).stdout.splitlines()[0].split()[1:]
        for paths in (["inner/a.run", "b.run"], ["a.run", "inner/a.run"])
    ]
    assert heads == [["a.run", "b.run"], ["a.run", "inner/a.run"]]


# ------------------------------------------------------------------------------------------------------------ bad input


@each_case(
    ("arguments", "code", "message"),
    [
        (["-m", "ndgc"], 2, "unknown metric 'ndgc'; nearest: ndcg"),
        (["-m", "P.0"], 2, "cutoffs of 'P' must be whole numbers of at least 1"),
        (["-n"], 2, "add -q"),
        (["-R", "prefs"], 2, "judgments in trec_eval's format 'prefs' are not read, only 'qrels'"),
        (["-T", "other"], 2, "runs in trec_eval's format 'other' are not read, only 'trec_results'"),
        (["-Z", "means"], 2, "trec_eval's z-scores are not available"),
        (["-m", "all_prefs"], 2, "trec_eval's 'all_prefs' needs preferences (-R prefs, -R qrels_prefs)"),
        (["-m", "utility.1,0,0,1"], 1, "the fourth parameter of 'utility' needs the size of the collection"),
        (["-l", "0"], 2, "Invalid value for '-l' / '--level'"),
        (["-M", "0"], 2, "Invalid value for '-M' / '--max-per-query'"),
        (["dense.run.gz", "--format", "trec"], 2, "type --format table, csv, markdown or json"),
        (["no.run"], 1, "error: there is no file no.run"),
        (["emptyy.run"], 1, "error: there is no file emptyy.run; did you mean empty.run?"),
        (["qrels.txt"], 1, "error: qrels.txt, line 1: 4 fields where 6 are wanted"),
        (["empty.run"], 1, "error: empty.run is empty: it has no lines to read"),
        (["bad.run"], 1, "error: bad.run, line 2: the score 'x' is not a number: 'q Q0 d 1 x t'"),
        (["cut.run"], 1, "error: cut.run ends too early: its gzip data is truncated"),
        (["other.run"], 1, "error: other.run and qrels.txt have no query in common"),
        (["twice.run"], 1, "error: twice.run has item 'd' twice in query '400'"),
    ],
)
def test_errors_name_the_problem(files, arguments, code, message):
    folder, _, _ = files
    (folder / "empty.run").touch()
    (folder / "bad.run").write_text("q Q0 d 1 1 t\nq Q0 d 1 x t\n")
    (folder / "cut.run").write_bytes((folder / "dense.run.gz").read_bytes()[:200])
    (folder / "other.run").write_text("q Q0 d 1 1 t\n")
    (folder / "twice.run").write_text("400 Q0 d 1 1 t\n400 Q0 d 1 2 t\n")
    done = run("trec", "qrels.txt", "bm25.run", *arguments, folder=folder)
    assert_refused(done, code, message)


def test_help_has_examples_that_work(files):
    folder, _, _ = files
    done = run("trec", "--help", folder=folder)
    assert done.returncode == 0
    typed = [line.split()[1:] for line in done.stdout.partition("Examples")[2].splitlines() if line.strip()]
    assert len(typed) >= 4
    for name in ("dense.run", "rerank.run", "bm25.run.gz"):
        (folder / name).write_bytes((folder / "bm25.run").read_bytes())
    for arguments in typed:
        words = [word for word in arguments[: arguments.index(">") if ">" in arguments else None] if word != "*.run"]
        words += ["bm25.run"] * ("*.run" in arguments)
        done = run(*words, folder=folder)
        assert done.returncode == 0, (words, done.stderr)


# ------------------------------------------------------------------------------------------------------------ real data


@pytest.fixture(scope="module")
def visit_files(visits, tmp_path_factory):
    """Every fourth visitor of a site as a run and judgments; scores are float32, as trec_eval 9 compares them."""
    folder = tmp_path_factory.mktemp("visits")
    chosen = {name: column[visits["user_id"] % 4 == 0] for name, column in visits.items()}
    users, pages, labels = (chosen[name].tolist() for name in ("user_id", "item_id", "label"))
    scores = chosen["score"].astype(np.float32).astype(np.float64).tolist()
    rows = list(zip(users, pages, scores, labels, strict=True))
    (folder / "qrels").write_text("".join(f"{user} 0 p{page} {label}\n" for user, page, _, label in rows))
    (folder / "run").write_text("".join(f"{user} Q0 p{page} 1 {score!r} visits\n" for user, page, score, _ in rows))
    return folder, rows


def test_visits_have_the_numbers_of_the_bindings(visit_files):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    folder, rows = visit_files
    scores: dict[str, dict[str, float]] = {}
    labels: dict[str, dict[str, int]] = {}
    for user, page, score, label in rows:
        scores.setdefault(str(user), {})[f"p{page}"] = score
        labels.setdefault(str(user), {})[f"p{page}"] = label
    measures = {"map", "ndcg", "ndcg_cut.10", "recip_rank", "P.5", "recall.20", "bpref", "Rprec", "success.1"}
    theirs = pytrec_eval.RelevanceEvaluator(labels, measures).evaluate(scores)
    arguments = [part for measure in measures for part in ("-m", measure)]
    done = run_subprocess("trec", "qrels", "run", "-q", *arguments, folder=folder)
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert {(topic, name.rstrip()): value for name, topic, value in lines if topic != "all"} == {
        (topic, name): f"{value:6.4f}" for topic, values in theirs.items() for name, value in values.items()
    }
    for name, topic, value in lines:
        if topic == "all":
            column = [theirs[each][name.rstrip()] for each in sorted(theirs)]
            assert value == f"{sum(column[1:], start=column[0]) / len(column):6.4f}"
