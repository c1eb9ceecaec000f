"""Significance tests need NumPy alone: their results are the same where SciPy is not installed."""

import subprocess
import sys
from pathlib import Path

import fastmetrics as fm

PROBE = """
import sys
sys.path.append({here!r})
sys.modules["scipy"] = None
import fastmetrics as fm
"""
CALLS = """[
    fm.chi2_test([3, 7]), fm.chi2_test([[30, 20], [10, 40]]), fm.mcnemar_test(3, 7),
    fm.mcnemar_test(3, 7, method="chi2"), fm.paired_t_test([1.0, 2.0, 4.0]), fm.holm([0.5]).tolist(),
    fm.tukey_hsd([1.0, 2.0], [3.0, 5.0], [2.0, 9.0]),
    fm.wilcoxon([1.0, 2.0, 4.0]), fm.wilcoxon([1.0, 2.0, 4.0] * 30), fm.two_proportion_test(130, 1000, 100, 1000),
    fm.sign_flip_test([1.0, 2.0, 4.0]), fm.delong_test([0, 1, 0, 1], [0.1, 0.4, 0.3, 0.2], [0.1, 0.4, 0.2, 0.3]),
]"""


def test_results_need_no_scipy(tmp_path):
    here = str(Path(fm.__file__).resolve().parents[1])
    code = PROBE.format(here=here) + f"print({CALLS})"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == repr(eval(CALLS))
