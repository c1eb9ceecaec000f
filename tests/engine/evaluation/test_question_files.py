"""Questions in files: what is written is read again, a version fixes all defaults, and errors name the line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.registry import parse
from fastmetrics._core.registry.registration import known_specs
from fastmetrics.engine.evaluation.options import OPTIONS
from support.cases import assert_raises, each_case

ROOT = Path(__file__).resolve().parents[3]
DEFAULTS = ROOT / "tests" / "golden" / "files" / "defaults_of_schema_1.json"
START = 'schema = 1\nmetrics = ["auc"]\nlabel = "y"\nscore = "p"\n'

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(str.strip)
QUESTIONS = st.fixed_dictionaries(
    {"metrics": st.lists(st.sampled_from(["auc", "logloss", "gauc(weight=pairs)", "ndcg@10"]), min_size=1)},
    optional={
        "label": st.one_of(NAMES, st.lists(NAMES, min_size=1)),
        "weight": NAMES,
        "where": NAMES,
        "by": st.one_of(NAMES, st.lists(NAMES, min_size=1), st.lists(st.lists(NAMES, min_size=1), min_size=1)),
        "min_rows": st.integers(0, 2**40),
        "ci": st.floats(0.001, 0.999),
        "seed": st.integers(0, 2**64 - 1),
        "replicates": st.integers(1, 2**31 - 1),
        "on_invalid": st.sampled_from(["raise", "drop"]),
        "curves": st.booleans(),
        "time_zone": st.sampled_from(["Asia/Tokyo", "+09:00"]),
        "tasks": st.dictionaries(NAMES, st.builds(fm.Task, label=NAMES, where=NAMES), min_size=1),
    },
)


def question(options):
    """A question; drawn names of expressions may be unreadable, which no file is asked about."""
    try:
        return fm.Evaluation(**({"label": "y", "score": "p", "group": "g"} | options))
    except (ValueError, TypeError):
        return None


@given(QUESTIONS)
def test_what_is_written_is_read_again(options):
    own = question(options)
    if own is not None:
        assert fm.Evaluation.from_toml(own.to_toml()) == own
        assert fm.Evaluation.from_dict(own.to_dict()) == own
        assert fm.Evaluation.from_dict(json.loads(json.dumps(own.to_dict(), allow_nan=False))) == own


@given(QUESTIONS)
def test_the_schema_accepts_what_is_written(options):
    jsonschema = pytest.importorskip("jsonschema")
    own = question(options)
    if own is not None:
        schema = json.loads((ROOT / "docs" / "evaluation.schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(schema).validate(own.to_dict())


def test_the_schema_refuses_what_is_refused():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "docs" / "evaluation.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    good = fm.Evaluation("auc", label="y", score="p").to_dict()
    for change in ({"schema": 2}, {"lable": "y"}, {"ci": 95}, {"on_invalid": "skip"}, {"tasks": {"a": {"ci": 0.9}}}):
        assert not validator.is_valid(good | change), change


def forms():
    for spec in known_specs().values():
        for form in spec.forms:
            yield form.base_name + ("@3" if form.cutoff else ""), form.model_role


def test_full_metric_strings_mean_the_same():
    for name, role in forms():
        metric = parse(name, (role,) if role else ())
        again = parse(metric.full_text, (role,) if role else ())
        assert again == metric, metric.full_text
        assert again.full_text == metric.full_text


def defaults():
    """The defaults of all options, and of all parameters of metrics."""
    options = {option.name: option.default for option in OPTIONS}
    metrics = {f"{name} of {role}": parse(name, (role,) if role else ()).full_text for name, role in forms()}
    return {"options": options, "metrics": dict(sorted(metrics.items()))}


def test_a_version_fixes_every_default():
    """A changed default needs a new schema: a stored question must mean the same.

    The file of a schema is changed for new metrics and options only.
    """
    stored = json.loads(DEFAULTS.read_text(encoding="utf-8"))
    found = defaults()
    for part, own in stored.items():
        pairs = {name: (value, found[part].get(name)) for name, value in own.items()}
        changed = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
        assert not changed, f"schema 1 has other defaults: {changed}"
        new = sorted(found[part].keys() - own.keys())
        assert not new, f"type python tools/generate.py: {DEFAULTS.relative_to(ROOT)} has no defaults of {new}"


@each_case(
    ("text", "words"),
    [
        (START + 'lable = "y"\n', "line 5: there is no option 'lable'; did you mean 'label'"),
        ('metrics = "auc"\n', "the question has no schema: begin with schema = 1"),
        ("schema = 2\n", "line 1: schema 2 is not known: this version reads 1"),
        ("schema = true\n", "line 1: schema True is not known"),
        ("schema = 1\nmetrics\n", "the question is not TOML: .*line 2"),
        ('schema = 1\nmetrics = ["auc", "auk"]\n', "line 2: unknown metric 'auk'; did you mean 'auc'"),
        (START + "ci = 95\n", "line 5: ci must be a number between 0 and 1"),
        (START + 'on_invalid = "skip"\n', "line 5: on_invalid must be one of 'raise', 'drop'"),
        (START + "min_rows = -1\n", "line 5: min_rows must be an integer of at least 0; found -1"),
        (START + "weight = 1.5\n", "line 5: weight must be the name of a column; found 1.5"),
        (START + "tasks = 3\n", "line 5: tasks is a table of tasks by name; found 3"),
        (START + '[tasks.ctr]\nlabel = "z"\nsocre = "q"\n', "line 7: task 'ctr': there is no option 'socre'; did you"),
        (START + "[tasks]\nctr.label = 0.5\n", "line 6: task 'ctr': label must be the name of a column"),
        (START + '[tasks."a b"]\nci = 0.9\n', "line 6: task 'a b': there is no option 'ci'"),
        (START + "[tasks]\nctr = 1\n", "line 6: task 'ctr' is a table of options; found 1"),
        (START + '[plugins]\nsnups = {module = "a"}\n', "line 6: .*'snups' of module 'a', which is not imported"),
        (START + "[plugins.snups]\n", "line 5: plugin 'snups' has no module"),
        (START + "[seed]\n", "line 5: seed must be an integer"),
        (START + 'tasks = {ctr = {lable = "z"}}\n', "line 5: task 'ctr': there is no option 'lable'; did you mean"),
        (START + 'where = """\n\nseed = 1\n"""\nseed = 0.5\n', "line 9: seed must be an integer"),
        ('schema = 1\nlabel = "y"\nmetrics = [\n  "auc",  # of all\n  "auk",\n]\n', "line 3: unknown metric 'auk'"),
        ('schema = 1\nlabel = "y"\n\n# the zone\n"time_zone" = "Mars"\n', "line 5: time_zone"),
        ('schema = 1\nmetrics = "auc"\nlabel = "a\u2028b"\nci = 2\n', "line 4: ci must be"),
    ],
)
def test_errors_name_the_line(text, words):
    assert_raises(ValueError, words, fm.Evaluation.from_toml, text)


@each_case("content", [None, [], "schema = 1", 3])
def test_a_dict_is_needed(content):
    assert_raises(TypeError, "a question is a dict of options", fm.Evaluation.from_dict, content)


def test_a_file_is_read_by_the_caller(tmp_path):
    own = fm.Evaluation("auc", label="y", score="p")
    path = tmp_path / "question.toml"
    assert own.to_toml(path) == path.read_text(encoding="utf-8")
    assert fm.Evaluation.from_toml(path.read_text(encoding="utf-8")) == own
    assert_raises(TypeError, "from_toml reads a text; found", fm.Evaluation.from_toml, path)


PLUGIN = """
from fastmetrics.extend import Positive, Real, RowStatistic, divide, metric

__version__ = "1.2"


class Weights(RowStatistic):
    __slots__ = ()
    sums = ("reward", "weight")

    def terms(self, columns):
        ratio = columns.target / columns.propensity
        return {"reward": ratio * columns.reward, "weight": ratio}


@metric(
    "snips", exchange="none", statistics=Weights(), undefined="no row",
    roles={"reward": Real(), "propensity": Positive(), "target": Positive()},
)
def snips(parameters, sums):
    'The reward of another policy.'
    return divide(sums["reward"], sums["weight"])
"""
ASK = """
import fastmetrics as fm, my_metrics

columns = {"roles": {"target": "q", "reward": "r"}, "propensity": "p"}
own = fm.Evaluation("snips", **columns)
assert own == fm.Evaluation("snips", roles={"reward": "r", "propensity": "p", "target": "q"})
assert own == eval(repr(own), {"Evaluation": fm.Evaluation})
assert own != fm.Evaluation("snips", roles={"reward": "other", "propensity": "p", "target": "q"})
log = {"r": [1.0, 2.0], "p": [0.5, 0.25], "q": [0.5, 0.5]}
assert fm.Evaluation.from_toml(own.to_toml()).run(log) == fm.evaluate(log, "snips", **columns)
print(own.to_toml())
"""


def test_metrics_of_a_plugin_name_their_module(tmp_path):
    """In a process of their own: registered metrics stay registered."""
    (tmp_path / "my_metrics.py").write_text(PLUGIN, encoding="utf-8")
    done = python(ASK, tmp_path)
    assert done.returncode == 0, done.stderr
    assert '[plugins.snips]\nmodule = "my_metrics"\nversion = "1.2"' in done.stdout
    refused = python(f"import fastmetrics as fm\nfm.Evaluation.from_toml({done.stdout!r})", tmp_path)
    assert "'snips' of module 'my_metrics', which is not imported; type: import my_metrics" in refused.stderr


def python(code, folder):
    words = [sys.executable, "-c", code]
    return subprocess.run(words, capture_output=True, text=True, cwd=folder, check=False)
