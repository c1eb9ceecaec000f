"""Results find their renderers by name, and nothing below `fastmetrics.reporting` imports it."""

import subprocess
import sys
from importlib import import_module

from fastmetrics._core.upper_layers import RENDERERS, render
from support.cases import assert_raises, each_case


@each_case("rendering", sorted(RENDERERS))
def test_every_renderer_is_a_function_of_reporting(rendering):
    module, _, function = RENDERERS[rendering].partition(":")
    assert module.startswith("fastmetrics.reporting.")
    assert callable(getattr(import_module(module), function))


def test_arguments_reach_the_renderer():
    assert render("aligned lines", [["a", "1"], ["bb", "20"]], left=()) == [" a   1", "bb  20"]


def test_an_unknown_renderer_is_an_error():
    assert_raises(KeyError, "no such thing", render, "no such thing")


def test_a_result_loads_its_renderer_when_it_is_printed():
    code = (
        "import sys; from fastmetrics import Report, Result\n"
        "report = Report([Result('auc', 'a', {}, 0.5, 's', {'rows': 2})], rows=2, version='0')\n"
        "assert not any(name.startswith('fastmetrics.reporting') for name in sys.modules)\n"
        "print(report)\n"
        "assert 'fastmetrics.reporting.report_table' in sys.modules\n"
        "assert not {'rich', 'pandas', 'pyarrow', 'matplotlib'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "auc     0.50000"
