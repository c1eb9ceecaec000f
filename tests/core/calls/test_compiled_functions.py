"""Functions without a body: they look and fail as if they were written by hand, and each has a decorator."""

import ast
import inspect
import pickle
import traceback
from pathlib import Path

import fastmetrics as fm
from fastmetrics._core.calls.compiled_functions import computed_by
from support.cases import assert_raises, each_case

METRICS = Path(fm.__file__).parent / "metrics"
DECORATORS = {"computed_by", "list_function", "list_metric", "mean_error", "score_function"}


@computed_by(lambda *args, **options: (args, options))
def declared(first, second=2, *, third, fourth=None):
    """What it does."""


def is_declared(function):
    return inspect.isfunction(function) and function.__code__.co_filename.startswith("<call of ")


PUBLIC = {name: getattr(fm, name) for name in fm.__all__}
DECLARED = {name for name, own in PUBLIC.items() if is_declared(inspect.unwrap(own, stop=is_declared))}


def test_all_arguments_are_passed_on():
    assert declared(1, third=3) == ((1, 2), {"third": 3, "fourth": None})
    assert declared(second=5, first=4, fourth=7, third=6) == ((4, 5), {"third": 6, "fourth": 7})


WRONG_CALLS = {
    r"declared\(\) missing 1 required positional argument: 'first'": lambda: declared(third=3),
    r"declared\(\) takes from 1 to 2 positional arguments but": lambda: declared(1, 2, 3, third=3),
    r"declared\(\) has no argument 'fifth'; it has first, second, third, fourth": lambda: declared(1, third=3, fifth=5),
    r"declared\(\) missing 1 required keyword-only argument: 'third'": lambda: declared(1),
}


@each_case("text", WRONG_CALLS)
def test_wrong_arguments_are_errors_of_the_function(text):
    assert_raises(TypeError, text, WRONG_CALLS[text])


def test_it_looks_like_the_function():
    assert str(inspect.signature(declared)) == "(first, second=2, *, third, fourth=None)"
    assert (declared.__name__, declared.__doc__, declared.__module__) == ("declared", "What it does.", __name__)
    assert declared.__kwdefaults__["fourth"] is None
    assert pickle.loads(pickle.dumps(declared)) is declared
    assert "def declared(first, second=2" in inspect.getsource(declared)


def test_tracebacks_show_the_call():
    def fail(first):
        raise ArithmeticError(first)

    @computed_by(fail)
    def calls(first):
        """Fails."""

    try:
        calls(1)
    except ArithmeticError:
        assert "return compute(first)" in traceback.format_exc()


def test_metrics_are_declared():
    assert {"ndcg_score", "recall_at_k", "mean_poisson_deviance", "f1_score", "corpus_bleu"} <= DECLARED


def test_every_function_without_a_body_has_a_decorator():
    """The type checker is told to let bodies be empty."""
    found = set()
    for path in METRICS.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and len(node.body) == 1 and ast.get_docstring(node) is not None:
                names = {own.id for one in node.decorator_list for own in ast.walk(one) if isinstance(own, ast.Name)}
                assert names & DECORATORS, f"{path}: {node.name}"
                found.add(node.name)
    assert found == DECLARED
