"""evaluate_trec and trec_metric_names against an oracle of trec_eval's sources and against its bindings."""

import gzip
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics.metrics.ranking.runs.trec_measures import MEASURE_SETS, OTHER_FORMATS, TREC_MEASURES
from oracles.ranking import trec as oracle
from oracles.ranking import trec_further
from support.cases import assert_raises, each_case

MEASURES = (*oracle.OFFICIAL, *oracle.MORE, *oracle.FURTHER)
# We round iprec_at_recall as version 9 does, and compare scores as version 10 does.
OURS = oracle.Options(rounding="0.9")
# Measures of the bindings that have no value for a query, or no text.
ABSENT = {"runid", "num_q", "relstring"}

items = st.sampled_from(["d1", "d2", "d10", "d3", "D1", "é", "長い", "d1-", "x" * 40])
queries = st.sampled_from(["1", "10", "2", "q", "Q", "é"])
scores = st.one_of(st.integers(-2, 2).map(float), st.floats(-1e6, 1e6))
runs = st.dictionaries(queries, st.dictionaries(items, scores, min_size=1), min_size=1)
grades = st.dictionaries(queries, st.dictionaries(items, st.integers(-1, 3), min_size=1), min_size=1)


def write(folder, run, qrels):
    """Write both files, with the rows of queries mixed."""
    run_rows = [(query, item, score) for query, rows in run.items() for item, score in rows.items()]
    qrels_rows = [(query, item, grade) for query, rows in qrels.items() for item, grade in rows.items()]
    paths = folder / "qrels", folder / "run"
    paths[0].write_text("".join(f"{query} 0 {item} {grade}\n" for query, item, grade in qrels_rows[::-1]), "utf-8")
    paths[1].write_text("".join(f"{query}\tQ0 {item} 1 {score!r} us\n" for query, item, score in run_rows), "utf-8")
    return paths


def mixed(rows):
    return rows[::2] + rows[1::2]


def same(value, wanted):
    if isinstance(wanted, str):
        return value == wanted
    return math.isclose(value, float(wanted), rel_tol=1e-12, abs_tol=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    runs, grades, st.integers(1, 3), st.sampled_from([None, 1, 2, 3, 100]), st.booleans(), st.booleans(),
)  # fmt: skip
def test_values_are_those_of_the_oracle(tmp_path_factory, run, qrels, level, most, judged_only, complete):
    paths = write(tmp_path_factory.mktemp("files"), run, qrels)
    options = OURS._replace(level=level, max_retrieved=most, judged_only=judged_only)
    call = {"relevance_level": level, "max_per_query": most, "judged_only": judged_only, "complete": complete}
    if not set(run) & set(qrels):
        assert_raises(ValueError, "no query in common", fm.evaluate_trec, *paths, MEASURES, **call)
        return
    result = fm.evaluate_trec(*paths, MEASURES, **call)
    wanted = oracle.by_topic(run, qrels, MEASURES, options, complete)
    assert result.queries == tuple(sorted(wanted, key=str.encode))
    for place, query in enumerate(result.queries):
        for name, values in result.values_of_queries().items():
            assert same(values[place], wanted[query][name]), (query, name)
    in_all = oracle.summary(run, qrels, MEASURES, options, complete)
    assert set(result.summary) == set(in_all)
    for name, value in in_all.items():
        assert same(result[name], value), name
    assert set(result.missing) == set(qrels) - set(run)
    assert set(result.unjudged) == set(run) - set(qrels)


def random_files(folder, seed, n_queries=40, n_items=60):
    """A run with many ties and its judgments. Scores are exact as 32-bit floats, which trec_eval 9 compares."""
    generator = np.random.default_rng(seed)
    run, qrels = {}, {}
    for query in map(str, generator.permutation(n_queries)):
        names = [f"D{number}" for number in generator.permutation(n_items * 10)[:n_items].tolist()]
        judged, retrieved = generator.random(n_items) < 0.4, generator.random(n_items) < 0.6
        points, relevance = generator.integers(0, 20, n_items) / 8, generator.integers(-1, 4, n_items)
        run[query] = {name: float(points[i]) for i, name in enumerate(names) if retrieved[i]}
        qrels[query] = {name: int(relevance[i]) for i, name in enumerate(names) if judged[i]}
    del run["3"], qrels["5"]
    return run, qrels, write(folder, run, qrels)


@pytest.mark.parametrize("level", [1, 2])
def test_values_and_means_are_those_of_the_bindings_bit_for_bit_where_they_can_be(tmp_path, level):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    run, qrels, paths = random_files(tmp_path, level)
    names = [name for name in pytrec_eval.supported_measures if name not in ABSENT]
    theirs = pytrec_eval.RelevanceEvaluator(qrels, names, relevance_level=level).evaluate(run)
    result = fm.evaluate_trec(*paths, "all_trec", relevance_level=level)
    assert set(result.queries) == set(theirs)
    ours = result.to_dict()
    for query, values in theirs.items():
        for name in result.values_of_queries():
            if name == "relstring":
                continue
            if name.startswith(("ndcg", "bpref", "set", "11pt", "infAP", "Rndcg", "G", "binG")):
                assert same(ours[query][name], values[name]), (query, name)
            else:
                assert ours[query][name] == values[name], (query, name)
    for name in set(result.values_of_queries()) - {"relstring"}:
        column = [theirs[query][name] for query in sorted(theirs)]
        assert same(result[name], sum(column) if name.startswith("num") else sum(column) / len(column)), name
    logarithms = [math.log(max(theirs[query]["map"], 1e-5)) for query in sorted(theirs)]
    assert same(result["gm_map"], pytrec_eval.compute_aggregated_measure("gm_map", logarithms))


def rounded_means(hits):
    """The mean of P_1000 with 4 decimals: added one after the other as in C, and by pairwise summation."""
    in_order = 0.0
    for n in hits:
        in_order += n / 1000
    return f"{in_order / len(hits):.4f}", f"{(np.array(hits) / 1000).sum() / len(hits):.4f}"


def test_means_are_added_one_after_the_other(tmp_path):
    """If a mean is halfway between two numbers of four decimals, the rounding of the sum decides which one is shown."""
    generator = np.random.default_rng(0)
    draws = (generator.integers(0, 10, 40).tolist() for _ in range(10_000))
    hits = next(draw for draw in draws if len(set(rounded_means(draw))) == 2)
    run = {f"q{query:02d}": {f"d{item}": 1.0 for item in range(10)} for query in range(40)}
    qrels = {f"q{query:02d}": {f"d{item}": int(item < n) for item in range(10)} for query, n in enumerate(hits)}
    result = fm.evaluate_trec(*write(tmp_path, run, qrels), "P.1000")
    assert str(result) == f"P_1000                \tall\t{rounded_means(hits)[0]}"


def test_order_of_lines_threads_and_compression_change_nothing(tmp_path):
    _, _, paths = random_files(tmp_path, 9)
    lines = list(fm.evaluate_trec(*paths, "all_trec").lines(per_query=True))
    for path in paths:
        path.write_bytes(gzip.compress("\n".join(mixed(path.read_text("utf-8").splitlines())).encode()))
    for n_threads in (1, 2, 5):
        assert list(fm.evaluate_trec(*paths, "all_trec", n_threads=n_threads).lines(per_query=True)) == lines


def test_files_that_were_read_are_taken_too(tmp_path):
    _, _, (qrels, run) = random_files(tmp_path, 11)
    wanted = str(fm.evaluate_trec(qrels, run))
    judgments = fm.read_qrels(qrels)
    for _ in range(2):
        assert str(fm.evaluate_trec(judgments, run)) == wanted
        assert str(fm.evaluate_trec(judgments, fm.read_run(run))) == wanted


def test_a_query_or_measure_of_summaries_only(tmp_path):
    _, _, paths = random_files(tmp_path, 2)
    result = fm.evaluate_trec(*paths, ["runid", "num_q", "gm_map"])
    assert list(result.lines(per_query=True, summary=False)) == []
    assert list(result.summary) == ["runid", "num_q", "gm_map"]
    assert result["runid"] == result.runid == "us"
    assert result["num_q"] == 38
    assert fm.evaluate_trec(*paths, "num_q", complete=True)["num_q"] == 39


def test_types_and_texts_of_a_result(tmp_path):
    pa = pytest.importorskip("pyarrow")
    _, _, paths = random_files(tmp_path, 4)
    result = fm.evaluate_trec(*paths, ["num_ret", "map"])
    assert repr(result) == "TrecResult('us', 38 queries, 2 values)"
    assert isinstance(result["num_ret"], int)
    assert isinstance(result["map"], float)
    assert result.per_query["num_ret"].dtype == np.int64
    table = result.per_query.to_arrow()
    assert table.schema == pa.schema({"query": pa.string(), "num_ret": pa.int64(), "map": pa.float64()})
    assert table["query"].to_pylist() == list(result.queries)
    with pytest.raises(KeyError, match="no 'P_5' in this TrecResult; it has num_ret, map"):
        result["P_5"]


# ---------------------------------------------------------------------------------------------------------------- names


def test_official_measures_are_shown_in_trec_evals_order():
    names = oracle.names(oracle.OFFICIAL)
    assert fm.trec_metric_names() == fm.trec_metric_names("official") == ("runid", *names)


@each_case(
    ("measures", "names"),
    [
        ("map", ["map"]),
        (["success", "P.10,5"], ["P_5", "P_10", "success_1", "success_5", "success_10"]),
        (["P.5", "P.10", "P.5"], ["P_5", "P_10"]),
        (["P", "P.7"], ["P_7"]),
        (["official", "P.3"], [*oracle.names(oracle.OFFICIAL[:-1]), "P_3"]),
        ("iprec_at_recall..10,.20,.25", ["iprec_at_recall_0.10", "iprec_at_recall_0.20", "iprec_at_recall_0.25"]),
        (["ndcg_cut_10", "P_5", "iprec_at_recall_0.50"], ["iprec_at_recall_0.50", "P_5", "ndcg_cut_10"]),
        ("utility.2,-1,0,0", ["utility_2,-1,0,0"]),
        ("11pt_avg..25,.5,.75", ["11pt_avg_.25,.5,.75"]),
        ("set_F.0.5", ["set_F_0.5"]),
        ("relstring.20", ["relstring_20"]),
        ("Rprec_mult.5.0,0.2,0.35", ["Rprec_mult_0.20", "Rprec_mult_0.35", "Rprec_mult_5.00"]),
        ("ndcg.1=3,2=9,4=4.5", ["ndcg_1=3,2=9,4=4.5"]),
        (["unj", "rbp.p=0.8"], ["rbp_p=0.8", "unj_5", "unj_10", "unj_20"]),
        ("utility.1,2,3,4", ["utility_1,2,3,4"]),
    ],
)
def test_names_and_parameters(measures, names):
    names = ["runid", *names] if measures == ["official", "P.3"] else names
    assert fm.trec_metric_names(measures) == tuple(names)


def test_all_trec_is_that_of_trec_eval_9():
    names = fm.trec_metric_names("all_trec")
    assert len(set(names)) == len(names)
    of_version_10 = {"dcg", "ideal_dcg", "rbp", "rbp_resid", "unj_5", "unj_10", "unj_20"}
    assert set(oracle.names(MEASURES)) - set(names) == of_version_10 | {"yaap"}
    assert set(fm.trec_metric_names("set")) < set(names)


def test_every_name_of_the_output_is_a_measure():
    parameters = [
        "ndcg.1=3,2=9", "ndcg_rel.1=.5", "Rndcg.3=0", "G.1=2", "dcg.1=2", "ideal_dcg.0=1", "utility.2,-1,0.5,0",
        "11pt_avg..25,.5,.75", "set_F.0.5", "relstring.20", "rbp.p=.8", "rbp_resid.p=0.95",
    ]  # fmt: skip
    for measures in (list(TREC_MEASURES), parameters):
        names = fm.trec_metric_names(measures)
        assert fm.trec_metric_names(names) == names
        for name in names:
            assert fm.trec_metric_names(name) == (name,)


def docs_page():
    page = Path(__file__).resolve().parents[3] / "docs" / "trec.md"
    if not page.is_file():
        pytest.skip("no docs beside the tests")
    return page.read_text("utf-8")


def rows_of_the_docs():
    """The rows of the table in the docs: the name of the measure, and its metric string or nothing."""
    return re.findall(r"^\| `(\w+)` \| [^|]* \| (?:`(.*?)`)? *\| .* \|$", docs_page(), flags=re.MULTILINE)


def test_the_docs_list_every_measure_in_order():
    assert [name for name, _ in rows_of_the_docs()] == list(TREC_MEASURES)


# Those of trec_eval's file measures.c, and its sets of measures.
OF_TREC_EVAL = """
    runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P relstring recall infAP
    gm_bpref Rprec_mult utility 11pt_avg binG G dcg ideal_dcg ndcg ndcg_rel Rndcg ndcg_cut map_cut relative_P success
    set_P set_relative_P set_recall set_map set_F num_nonrel_judged_ret prefs_num_prefs_poss prefs_num_prefs_ful
    prefs_num_prefs_ful_ret prefs_simp prefs_pair prefs_avgjg prefs_avgjg_Rnonrel prefs_simp_ret prefs_pair_ret
    prefs_avgjg_ret prefs_avgjg_Rnonrel_ret prefs_simp_imp prefs_pair_imp prefs_avgjg_imp map_avgjg P_avgjg
    Rprec_mult_avgjg yaap rbp rbp_resid unj official set all_trec all_prefs prefs qrels_jg
"""


def test_what_trec_eval_has_is_here_or_is_listed_as_absent():
    page = docs_page()
    table = page[page.index("| absent | needs |") : page.index("Preferences and several judges")]
    absent = re.findall(r"`(\w+)`", table)
    assert absent == list(OTHER_FORMATS)
    assert {*absent, *TREC_MEASURES, *MEASURE_SETS} == set(OF_TREC_EVAL.split())
    for name in absent:
        for asked in (name, f"{name}.5", f"{name}_5"):
            assert_raises(ValueError, f"trec_eval's '{name}.*' needs ", fm.trec_metric_names, asked)


@each_case("complete", [False, True])
@each_case("level", [1, 2])
def test_metric_strings_of_the_docs_have_the_same_values(tmp_path, level, complete):
    _, _, (qrels, run) = random_files(tmp_path, 21)
    strings = {(f"{name}_5" if "@k" in text else name): text.replace("@k", "@5") for name, text in rows_of_the_docs()}
    strings = {name: text for name, text in strings.items() if text}
    assert len(strings) == 12
    ours = fm.evaluate_ranking(
        qrels, run, list(strings.values()), ties="docid", missing="zero" if complete else "drop", relevance_level=level
    )
    result = fm.evaluate_trec(qrels, run, list(strings), relevance_level=level, complete=complete)
    for name, text in strings.items():
        assert same(ours[text], result[name]), name


@each_case(
    ("measure", "problem"),
    [
        ("mapp", r"unknown metric 'mapp'; nearest: map"),
        ("prefs", r"trec_eval's 'prefs' needs preferences \(-R prefs, -R qrels_prefs\), which fastmetrics does not"),
        ("prefs_simp_imp", r"trec_eval's 'prefs_simp_imp' needs preferences"),
        ("P_avgjg.5", r"trec_eval's 'P_avgjg' needs groups of judgments \(-R qrels_jg\)"),
        ("ndcg_cutt", r"unknown metric 'ndcg_cutt'; nearest: ndcg_cut"),
        ("relstring.1.5", r"the parameter of 'relstring' must be one whole number of at least 1; found '1\.5'"),
        ("relstring_0", r"the parameter of 'relstring' must be one whole number of at least 1; found '0'"),
        ("Rprec_mult.-1", r"multiples of 'Rprec_mult' must be at least 0"),
        ("ndcg.1", r"parameters of 'ndcg' must be gains of relevances, such as 1=3,2=9\.5, .*; found '1'"),
        ("Rndcg.1=3,", r"parameters of 'Rndcg' must be gains of relevances"),
        ("G.-1=3", r"parameters of 'G' must be gains of relevances"),
        ("infAP.5", r"the metric 'infAP' takes no parameters here"),
        ("rbp.0.8", r"the parameter of 'rbp' must be p=, a number between 0 and 1; found '0\.8'"),
        ("rbp_resid.p=1", r"the parameter of 'rbp_resid' must be p=, a number between 0 and 1"),
        ("unj.0", r"cutoffs of 'unj' must be whole numbers"),
        ("P.", r"'P\.' has no parameters behind the point"),
        ("P.0", r"cutoffs of 'P' must be whole numbers of at least 1; found '0'"),
        ("P.-5", r"cutoffs of 'P' must be whole numbers"),
        ("P.5,,10", r"cutoffs of 'P' must be whole numbers"),
        ("ndcg_cut.23.4", r"cutoffs of 'ndcg_cut' must be whole numbers"),
        ("map.5", r"the metric 'map' takes no parameters here; found 'map\.5'"),
        ("official.5", r"unknown metric 'official\.5'"),
        ("iprec_at_recall.1.5", r"recalls of 'iprec_at_recall' must lie between 0 and 1"),
        ("iprec_at_recall.x", r"parameters of 'iprec_at_recall' must be numbers"),
        ("utility.1,2", r"'utility' takes 4 numbers; found '1,2'"),
        ("set_F.1,2", r"'set_F' takes 1 number; found"),
        ([], r"metrics is empty"),
    ],
)
def test_invalid_measures(tmp_path, measure, problem):
    assert_raises(ValueError, problem, fm.trec_metric_names, measure)
    with pytest.raises(ValueError, match=problem):  # before any file is looked for
        fm.evaluate_trec(tmp_path / "no", tmp_path / "such", measure)


def test_utility_needs_the_size_of_the_collection(tmp_path):
    paths = write(tmp_path, {"q": {"a": 2.0, "x": 1.0}}, {"q": {"a": 1, "b": 1}})
    assert_raises(
        ValueError, r"fourth parameter of 'utility' needs the size of the collection: pass collection_size \(-N\)",
        fm.evaluate_trec, *paths, "utility.1,2,3,4",
    )
    result = fm.evaluate_trec(*paths, "utility.1,2,3,4", collection_size=100)
    assert result["utility_1,2,3,4"] == 1 + 2 + 3 + 4 * 97


@settings(max_examples=40, deadline=None)
@given(
    runs, grades, st.dictionaries(st.integers(0, 4), st.integers(-2, 9), min_size=1), st.integers(1, 3),
    st.floats(0.01, 0.99), st.lists(st.integers(-3, 3), min_size=4, max_size=4),
)  # fmt: skip
def test_parameters_are_those_of_the_oracle(tmp_path_factory, run, qrels, gains, level, p, factors):
    """`complete`, so that lists may be empty."""
    query = next(iter(qrels))
    run = {query: {"d1": 1.0}} | run
    paths = write(tmp_path_factory.mktemp("files"), run, qrels)
    text = ",".join(f"{grade}={gain}" for grade, gain in gains.items())
    utility = ",".join(map(str, factors))
    call = {
        f"ndcg_{text}": lambda topic: trec_further.ndcg(*topic, gains),
        f"dcg_{text}": lambda topic: trec_further.dcg(topic.ranked, gains),
        f"ideal_dcg_{text}": lambda topic: trec_further.ideal_dcg(*topic, gains),
        f"ndcg_rel_{text}": lambda topic: trec_further.ndcg_at_relevant(*topic, gains),
        f"Rndcg_{text}": lambda topic: trec_further.ndcg_at_levels(*topic, level, gains),
        f"rbp_p={p:.4f}": lambda topic: trec_further.rank_biased_precision(*topic, round(p, 4)),
        f"rbp_resid_p={p:.4f}": lambda topic: trec_further.rank_biased_residual(topic.ranked, round(p, 4)),
        f"utility_{utility}": lambda topic: trec_further.utility(*topic, level, factors, 50) if topic.ranked else 0,
        "relstring_3": lambda topic: trec_further.relstring(topic.ranked, 3),
        "unj_2": lambda topic: trec_further.unjudged_share(topic.ranked, 2),
        "Rprec_mult_1.50": lambda topic: trec_further.precision_at_multiple(*topic, level, 1.5),
    }
    result = fm.evaluate_trec(*paths, list(call), relevance_level=level, complete=True, collection_size=50)
    for name, compute in call.items():
        for query, value in zip(result.queries, result.per_query[name].tolist(), strict=True):
            topic = oracle.topic_of(run.get(query, {}), qrels[query])
            assert same(value, compute(topic)), (name, query)


def test_a_relstring_has_no_summary(tmp_path):
    run = {"q": {"a": 2.0, "x": 1.0, "b": 0.5, "c": 0.0}}
    paths = write(tmp_path, run, {"q": {"a": 10, "b": -3, "c": 2}, "r": {"a": 1}})
    result = fm.evaluate_trec(*paths, ["relstring", "num_rel"], complete=True, relevance_level=2)
    assert result.per_query["relstring"].tolist() == [">-.2", ""]
    assert list(result.keys()) == ["num_rel"]
    assert list(result.lines(per_query=True)) == [
        "num_rel               \tq\t2", "relstring             \tq\t'>-.2'",
        "num_rel               \tr\t0", "relstring             \tr\t''", "num_rel               \tall\t3",
    ]  # fmt: skip
    assert result.to_dict() == {"q": {"num_rel": 2, "relstring": ">-.2"}, "r": {"num_rel": 0, "relstring": ""}}


def test_a_result_is_a_mapping(tmp_path):
    _, _, paths = random_files(tmp_path, 3)
    result = fm.evaluate_trec(*paths, ["num_ret", "map"])
    assert "map" in result
    assert "P_5" not in result
    assert list(result.keys()) == ["num_ret", "map"]
    assert len(result) == 2
    assert dict(result) == {**result} == result.summary
    assert list(result.keys()) == [row.measure for row in result]


def test_a_measure_is_a_string():
    message = "metrics must be a list of metric strings; found 5, of type int, at place 1"
    assert_raises(TypeError, message, fm.trec_metric_names, ["map", 5])


def test_parameters_of_set_measures_by_hand(tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 1\nq 0 c 1\nq 0 d 1\n")
    (tmp_path / "run").write_text("q Q0 a 1 9 t\nq Q0 x 2 8 t\nq Q0 b 3 7 t\nq Q0 y 4 6 t\nq Q0 z 5 5 t\n")
    result = fm.evaluate_trec(tmp_path / "qrels", tmp_path / "run", ["utility.2,-1,0.5,0", "set_F.3", "relative_P.3"])
    assert result["utility_2,-1,0.5,0"] == 2 * 2 - 3 + 0.5 * 2
    assert same(result["set_F_3"], 4 * 0.4 * 0.5 / (3 * 0.4 + 0.5))
    assert result["relative_P_3"] == 2 / 3


# ------------------------------------------------------------------------------------------------------------ bad input


@each_case("option", ["relevance_level", "max_per_query", "collection_size"])
@each_case("value", [0, -1, 1.5, True, "1"])
def test_options_are_checked(tmp_path, option, value):
    _, _, paths = random_files(tmp_path, 0)
    assert_raises(
        ValueError, f"{option} must be a whole number of at least 1; found", fm.evaluate_trec, *paths, **{option: value}
    )


def test_an_item_twice_in_a_query_is_named(tmp_path):
    _, _, (qrels, run) = random_files(tmp_path, 0)
    line = run.read_text("utf-8").splitlines()[7]
    query, _, item, *_ = line.split()
    with run.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    assert_raises(ValueError, f"run has item '{item}' twice in query '{query}'", fm.evaluate_trec, qrels, run)
    with qrels.open("a", encoding="utf-8") as file:
        file.write("9 0 twice 1\n9 0 twice 0\n")
    run.write_text("9 Q0 a 1 1 t\n")
    assert_raises(ValueError, "qrels has item 'twice' twice in query '9'", fm.evaluate_trec, qrels, run)


def test_exchanged_files_are_recognized(tmp_path):
    _, _, (qrels, run) = random_files(tmp_path, 0)
    assert_raises(
        ValueError, r"run, line 1: 6 fields where 4 are wanted .*; 6 are those of a run: ", fm.evaluate_trec, run, qrels
    )
    assert_raises(
        ValueError, r"qrels, line 1: 4 fields where 6 are wanted .*; 4 are those of qrels: ",
        fm.evaluate_trec, qrels, qrels,
    )
