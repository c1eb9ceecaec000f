"""Significance tests without scipy: the error names the command to type; tests that do not need scipy work."""

import subprocess
import sys
from pathlib import Path

import fastmetrics

PROBE = """
import sys
sys.path.append({here!r})
sys.modules["scipy"] = None
import fastmetrics as fm
for call in (
    lambda: fm.chi2_test([3, 7]),
    lambda: fm.mcnemar_test(3, 7),
    lambda: fm.paired_t_test([1.0, 2.0, 4.0]),
    lambda: fm.tukey_hsd([1.0, 2.0], [3.0, 5.0]),
):
    try:
        call()
    except ImportError as error:
        print(error)
print(round(fm.chi2_test([3, 7], ci=None).pvalue, 4), fm.holm([0.5]).tolist(), fm.wilcoxon([1.0, 2.0, 4.0]).pvalue)
print(round(fm.two_proportion_test(130, 1000, 100, 1000).pvalue, 5), fm.wilcoxon([1.0, 2.0, 4.0] * 30).pvalue > 0)
"""


def test_error_names_the_command(tmp_path):
    here = str(Path(fastmetrics.__file__).resolve().parents[1])
    run = subprocess.run(
        [sys.executable, "-c", PROBE.format(here=here)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[:-2] == ["a significance test needs scipy: pip install 'fastmetrics-engine[stats]'"] * 4
    assert lines[-2:] == ["0.2059 [0.5] 0.25", "0.03549 True"]
